//! Bringing a drive into a state without spending its time.

use super::collector::Policy;
use super::ftl::{Ftl, Timeless};
use crate::memory::NONE;
use crate::theory;
use drivelab_core::inside::Inside;
use drivelab_stats::{Domain, Permutation, Random};

/// Units ahead for which memory is asked while a drive is filled at random.
const AHEAD: usize = 16;
/// Passes of random writes that bring a drive to its steady state where no law is known.
const PASSES_TO_STEADY: u32 = 3;

impl Ftl {
    /// Writes every unit once, in order.
    pub fn fill(&mut self) {
        for logical in 0..self.layout().logical_units {
            self.write(&mut Timeless, logical);
        }
        self.forget();
    }

    /// Writes every unit once, in an order drawn from `seed`.
    pub fn fill_at_random(&mut self, seed: u64) {
        let order = Permutation::new(u64::from(self.layout().logical_units), seed);
        for index in 0..order.len() {
            if index + (AHEAD as u64) < order.len() {
                self.prefetch(order.at(index + AHEAD as u64) as u32);
            }
            self.write(&mut Timeless, order.at(index) as u32);
        }
        self.forget();
    }

    /// Writes `units` units at random addresses.
    pub fn write_at_random(&mut self, units: u64, seed: u64) {
        let mut random = Random::new(seed);
        let logical_units = u64::from(self.layout().logical_units);
        let mut ahead = [0u32; AHEAD];
        for slot in &mut ahead {
            *slot = random.below(logical_units) as u32;
        }
        for index in 0..units {
            let slot = &mut ahead[index as usize % AHEAD];
            let logical = std::mem::replace(slot, random.below(logical_units) as u32);
            let next = *slot;
            self.prefetch(next);
            self.write(&mut Timeless, logical);
        }
        self.forget();
    }

    /// Trims every unit.
    pub fn trim_all(&mut self) {
        for logical in 0..self.layout().logical_units {
            if logical.is_multiple_of(AHEAD as u32) {
                (0..AHEAD as u32).for_each(|ahead| self.prefetch(logical + AHEAD as u32 + ahead));
            }
            self.trim(logical);
        }
        self.forget();
    }

    /// The steady state under uniform random writes: placed from the stationary law where the
    /// collector has one (greedy, FIFO), else written.
    pub fn steady(&mut self, seed: u64) {
        let layout = self.layout();
        let b = layout.block_units;
        let closed = layout.blocks - layout.high_blocks + 1;
        let mut random = Random::new(Domain::Steady.seed(seed, 1));
        let counts = match layout.policy {
            Policy::Greedy => greedy_counts(layout.spare(), b, closed, &mut random),
            Policy::Fifo => fifo_counts(layout.spare(), b, closed, &mut random),
            _ => {
                let units = u64::from(layout.logical_units) * u64::from(PASSES_TO_STEADY);
                self.fill();
                return self.write_at_random(units, seed);
            }
        };
        let counts = with_sum(counts, u64::from(self.layout().logical_units), b, &mut random);
        self.place(&counts, seed, &mut random);
        self.forget();
    }

    /// Fills closed blocks, oldest first, with so many valid units each, at random places and from
    /// random addresses.
    fn place(&mut self, counts: &[u32], seed: u64, random: &mut Random) {
        let block_units = self.layout().block_units;
        let order = Permutation::new(u64::from(self.layout().logical_units), seed);
        let mut index = 0;
        for count in counts {
            let mut frontier = self.open(0);
            let mut left = *count;
            for place in 0..block_units {
                let unit = frontier.next;
                frontier.next += 1;
                if random.below(u64::from(block_units - place)) >= u64::from(left) {
                    self.reverse.set(unit, NONE);
                    continue;
                }
                left -= 1;
                if index + (AHEAD as u64) < order.len() {
                    self.prefetch(order.at(index + AHEAD as u64) as u32);
                }
                self.map(order.at(index) as u32, unit, frontier.block);
                index += 1;
            }
            self.close(frontier);
        }
        debug_assert_eq!(index, order.len());
    }

    /// Forgets what was counted so far.
    fn forget(&mut self) {
        *self.counts_mut() = Inside::default();
    }
}

fn greedy_counts(spare: f64, block_units: u32, blocks: u32, random: &mut Random) -> Vec<u32> {
    let law = theory::greedy_law(spare, block_units);
    let weight = |units: u32| match units {
        units if units == law.victim_units => law.share / f64::from(units),
        units => 1.0 / f64::from(units),
    };
    let mut sums = Vec::with_capacity(block_units as usize);
    let mut sum = 0.0;
    for units in law.victim_units..=block_units {
        sum += weight(units);
        sums.push(sum);
    }
    (0..blocks)
        .map(|_| {
            let drawn = random.unit_f64() * sum;
            let place = sums.partition_point(|sum| *sum < drawn);
            (law.victim_units + place as u32).min(block_units)
        })
        .collect()
}

fn fifo_counts(spare: f64, block_units: u32, blocks: u32, random: &mut Random) -> Vec<u32> {
    let amplification = theory::fifo(spare);
    let rate = (1.0 + spare) / amplification;
    (0..blocks)
        .map(|place| {
            // The first is the oldest.
            let age = 1.0 - (f64::from(place) + 0.5) / f64::from(blocks);
            let valid = libm::exp(-rate * age);
            (0..block_units).filter(|_| random.unit_f64() < valid).count() as u32
        })
        .collect()
}

/// Changes counts here and there by one, until they hold `units` together.
fn with_sum(mut counts: Vec<u32>, units: u64, block_units: u32, random: &mut Random) -> Vec<u32> {
    let mut sum: u64 = counts.iter().map(|count| u64::from(*count)).sum();
    while sum != units {
        let place = random.below(counts.len() as u64) as usize;
        let count = &mut counts[place];
        if sum < units && *count < block_units {
            *count += 1;
            sum += 1;
        } else if sum > units && *count > 0 {
            *count -= 1;
            sum -= 1;
        }
    }
    counts
}

//! Bringing a drive into a state without spending its time.

use super::collector::Policy;
use super::ftl::{Ftl, Timeless};
use super::layout::Layout;
use super::origin::{Origin, Valid};
use crate::attendant::Attendant;
use crate::memory::NONE;
use crate::theory;
use drivelab_core::inside::Inside;
use drivelab_stats::{Domain, Permutation, Random};

/// Units ahead for which memory is asked while a drive is filled at random.
const AHEAD: usize = 16;
/// Passes of random writes that bring a drive to its steady state where no law is known.
const PASSES_TO_STEADY: u64 = 3;
/// Units written between two words on how far it is.
const TOLD_EVERY_UNITS: u64 = 1 << 20;
/// Of the rule by which places are drawn: what was kept under another is not used.
const PLACED_VERSION: u32 = 1;

impl Ftl {
    /// Writes every unit once, in order.
    pub fn fill(&mut self) {
        if self.is_placed_in_order(None) {
            return self.write_down();
        }
        for logical in 0..self.layout().logical_units {
            self.write(&mut Timeless, logical);
        }
        self.forget();
    }

    /// Writes every unit once, in an order drawn from `seed`.
    pub fn fill_at_random(&mut self, seed: u64) {
        let order = Permutation::new(u64::from(self.layout().logical_units), seed);
        if self.is_placed_in_order(Some(&order)) {
            return self.write_down();
        }
        for index in 0..order.len() {
            if index + (AHEAD as u64) < order.len() {
                self.prefetch(order.at(index + AHEAD as u64) as u32);
            }
            self.write(&mut Timeless, order.at(index) as u32);
        }
        self.forget();
    }

    /// Fills a new drive without writing its map, if no block has to be collected for that.
    fn is_placed_in_order(&mut self, order: Option<&Permutation>) -> bool {
        let Layout { logical_units, block_units, blocks, high_blocks, .. } = *self.layout();
        let left_blocks = blocks.saturating_sub(logical_units.div_ceil(block_units));
        if !self.is_new() || left_blocks < high_blocks {
            return false;
        }
        let mut left = logical_units;
        while left > 0 {
            self.close(self.host);
            self.host = self.open(0);
            let units = left.min(block_units);
            self.blocks.valid[self.host.block as usize] = units;
            self.host.next += units;
            left -= units;
        }
        #[cfg(test)]
        {
            let (written, contents) = &mut self.contents;
            contents[..logical_units as usize].fill(*written);
        }
        self.mapped = logical_units;
        self.origin = Some(Box::new(Origin::new(None, order.cloned(), logical_units)));
        true
    }

    /// Nothing was written yet.
    fn is_new(&self) -> bool {
        self.allocation.is_none()
            && self.mapped == 0
            && self.host.block == NONE
            && self.blocks.erasures == 0
    }

    /// Writes `units` units at random addresses.
    pub fn write_at_random(&mut self, units: u64, seed: u64) {
        self.write_at_random_for(units, seed, &mut ());
    }

    /// The same while somebody waits.
    pub fn write_at_random_for(&mut self, units: u64, seed: u64, attendant: &mut dyn Attendant) {
        let mut random = Random::new(seed);
        let logical_units = u64::from(self.layout().logical_units);
        let mut ahead = [0u32; AHEAD];
        for slot in &mut ahead {
            *slot = random.below(logical_units) as u32;
        }
        for index in 0..units {
            if index.is_multiple_of(TOLD_EVERY_UNITS) {
                attendant.progress(index as f64 / units as f64);
            }
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
        self.steady_for(seed, &mut ());
    }

    /// The same while somebody waits.
    pub fn steady_for(&mut self, seed: u64, attendant: &mut dyn Attendant) {
        let units = u64::from(self.layout().logical_units);
        if !self.is_new() || !matches!(self.layout().policy, Policy::Greedy | Policy::Fifo) {
            self.fill();
            return self.write_at_random_for(units * PASSES_TO_STEADY, seed, attendant);
        }
        let key = format!("placed {PLACED_VERSION} {seed} {:?}", self.layout());
        let is_of_this = |valid: &Valid| self.can_hold(valid);
        let kept = attendant.kept(&key).and_then(|bytes| Valid::read(&bytes)).filter(is_of_this);
        let valid = kept.unwrap_or_else(|| {
            let valid = Valid::new(self.drawn_places(seed, attendant));
            attendant.keep(&key, &valid.bytes());
            valid
        });
        self.place(valid, seed);
        self.write_down();
        self.forget();
    }

    /// Closed blocks in the steady state.
    fn closed_blocks(&self) -> u32 {
        let layout = self.layout();
        layout.blocks - layout.high_blocks + 1
    }

    /// Whether this many places of that many blocks can be those of this drive.
    fn can_hold(&self, valid: &Valid) -> bool {
        let layout = self.layout();
        let units = self.closed_blocks() as usize * layout.block_units as usize;
        valid.words().len() == units.div_ceil(64) && valid.count() == layout.logical_units
    }

    /// Which units of the closed blocks, oldest first, hold data: a bit each.
    fn drawn_places(&self, seed: u64, attendant: &mut dyn Attendant) -> Vec<u64> {
        let layout = self.layout();
        let (b, closed) = (layout.block_units, self.closed_blocks());
        let mut random = Random::new(Domain::Steady.seed(seed, 1));
        let counts = match layout.policy {
            Policy::Fifo => fifo_counts(layout.spare(), b, closed, &mut random),
            _ => greedy_counts(layout.spare(), b, closed, &mut random),
        };
        let counts = with_sum(counts, u64::from(layout.logical_units), b, &mut random);
        let mut words = vec![0u64; (closed as usize * b as usize).div_ceil(64)];
        let mut unit = 0;
        for (block, count) in counts.into_iter().enumerate() {
            attendant.progress(block as f64 / f64::from(closed));
            let mut left = count;
            for place in 0..b {
                if random.below(u64::from(b - place)) < u64::from(left) {
                    left -= 1;
                    words[unit / 64] |= 1 << (unit % 64);
                }
                unit += 1;
            }
        }
        words
    }

    /// Closes blocks that hold data in these units, from random addresses.
    fn place(&mut self, valid: Valid, seed: u64) {
        let Layout { logical_units, block_units, .. } = *self.layout();
        for block in 0..self.closed_blocks() {
            let frontier = self.open(0);
            debug_assert_eq!(frontier.block, block, "a new drive opens its blocks in order");
            let first = block * block_units;
            self.blocks.valid[block as usize] = valid.count_in(first, first + block_units);
            self.close(frontier);
        }
        self.mapped = logical_units;
        let order = Permutation::new(u64::from(logical_units), seed);
        self.origin = Some(Box::new(Origin::new(Some(valid), Some(order), logical_units)));
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

#[cfg(test)]
mod tests;

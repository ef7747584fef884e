//! Popularity by laws that generators of load have brought into use, scattered over the region.

use crate::queue::Trouble;
use drivelab_stats::{Permutation, Random};

/// Uniform draws whose sum is the bell.
const DRAWS: u32 = 12;

/// Some slots are drawn more often than others.
#[derive(Debug, Clone)]
pub(super) struct Skewed {
    law: Law,
    slots: u64,
    scatter: Permutation,
}

#[derive(Debug, Clone, Copy)]
enum Law {
    /// A uniform number to this power is the share of the region.
    SelfSimilar { power: f64 },
    /// The sum of twelve uniform numbers, moved by one more that is so wide.
    Bell { plateau: f64 },
}

impl Skewed {
    /// A share `skew` of the slots gets all but that share of the accesses.
    pub(super) fn self_similar(
        skew: f64,
        slots: u64,
        scatter: Permutation,
    ) -> Result<Self, Trouble> {
        if !(skew > 0.0 && skew < 1.0) {
            return Err(Trouble::usage("skew must lie between 0 and 1"));
        }
        // So that a share of `skew` is reached by 1 - skew.
        let law = Law::SelfSimilar { power: libm::log(skew) / libm::log(1.0 - skew) };
        Ok(Skewed { law, slots, scatter })
    }

    /// A bell over the slots, moved by a uniform draw over `plateau` of them.
    pub(super) fn bell(plateau: f64, slots: u64, scatter: Permutation) -> Result<Self, Trouble> {
        if !(0.0..=0.5).contains(&plateau) {
            return Err(Trouble::usage("plateau must lie between 0 and 0.5"));
        }
        Ok(Skewed { law: Law::Bell { plateau }, slots, scatter })
    }

    /// The next slot.
    pub(super) fn next(&self, random: &mut Random) -> u64 {
        let share = match self.law {
            Law::SelfSimilar { power } => libm::pow(random.unit_f64(), power),
            Law::Bell { plateau } => {
                let sum: f64 = (0..DRAWS).map(|_| random.unit_f64()).sum();
                let moved = (random.unit_f64() - 0.5) * plateau;
                let share = sum / f64::from(DRAWS) + moved;
                share - libm::floor(share)
            }
        };
        let rank = (share * self.slots as f64) as u64;
        self.scatter.at(rank.min(self.slots - 1))
    }
}

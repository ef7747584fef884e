//! How often a page must be sensed: more where the block is worn, and more again where the data has
//! lain for long.

use super::parameters::Parameters;
use crate::memory::NONE;
use drivelab_core::op::Time;

const DAY_NS: f64 = 86_400e9;

/// What decides the tries of a read.
#[derive(Debug, Clone)]
pub struct Retries {
    /// More tries by erase of the block.
    by_erase: f64,
    /// More tries by erase of the block and day that the data has lain.
    by_erase_and_day: f64,
    /// How long what was written before the beginning had lain then.
    lain_days: f64,
}

impl Retries {
    /// `None` where every read succeeds at once.
    pub fn new(parameters: &Parameters) -> Option<Self> {
        let by_erase =
            |retries: u32| f64::from(retries) / f64::from(parameters.endurance_cycles.max(1));
        let by_rest = by_erase(parameters.retention_retries);
        (parameters.read_retries + parameters.retention_retries > 0).then(|| Retries {
            by_erase: by_erase(parameters.read_retries),
            by_erase_and_day: by_rest / f64::from(parameters.retention_days.max(1)),
            lain_days: f64::from(parameters.lain_days),
        })
    }

    /// Whether it matters when a block was written.
    pub fn knows_age(&self) -> bool {
        self.by_erase_and_day > 0.0
    }

    /// Tries at `at` of a block with `erases` erases, last programmed `written_s` seconds after the
    /// beginning; [`NONE`]: before it.
    #[inline]
    pub fn tries(&self, at: Time, erases: u32, written_s: u32) -> u32 {
        let now_days = at as f64 / DAY_NS;
        let age_days = match written_s {
            NONE => self.lain_days + now_days,
            written_s => now_days - f64::from(written_s) * 1e9 / DAY_NS,
        };
        let by_erase = self.by_erase + self.by_erase_and_day * age_days.max(0.0);
        1 + (f64::from(erases) * by_erase) as u32
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn tries_grow_with_wear_and_with_rest() {
        let retries =
            Retries { by_erase: 0.003, by_erase_and_day: 0.002 / 365.0, lain_days: 365.0 };
        assert_eq!(retries.tries(0, 0, NONE), 1);
        assert_eq!(retries.tries(0, 1000, 0), 4);
        assert_eq!(retries.tries(0, 1001, NONE), 6);
        let year = (365.0 * DAY_NS) as Time;
        assert_eq!(retries.tries(year, 1001, NONE), 8);
        // Written again a year ago, but for a second.
        assert_eq!(retries.tries(year, 1001, 1), 1 + (3.003 + 1.999) as u32);
    }
}

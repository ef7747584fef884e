//! How long a stream went without a completion, and how often.

use super::grade::FREEZE_NS;
use crate::experiment::order::{is_complete, since_break};
use drivelab_core::run::{Run, StepRun};
use drivelab_core::summary::{Summary, window};
use drivelab_stats::{Estimate, event_rate};

/// The waits of one stream in one repetition.
#[derive(Debug, Clone, Default, PartialEq)]
struct Repetition {
    seconds: f64,
    /// Lengths of those that are listed.
    waits_ns: Vec<u64>,
    /// Nanoseconds of the window that lie in freezes.
    frozen_ns: u64,
    longest_ns: u64,
}

/// The waits of one stream of a cell, over its sound repetitions.
#[derive(Debug, Clone, Default, PartialEq)]
pub struct Waits {
    repetitions: Vec<Repetition>,
}

impl Waits {
    /// Of the sound and complete repetitions of a cell; of its first stream, which has one worker.
    pub fn of(run: &Run, summary: &Summary, name: &str) -> Self {
        let is_sound = |step: &&StepRun| {
            let judged = summary.steps.iter().find(|known| known.step == step.begin.step);
            judged.is_some_and(|known| known.valid != Some(false))
        };
        let steps = since_break(run).iter().filter(|step| step.begin.name == name);
        let sound = steps.filter(|step| is_complete(step)).filter(is_sound);
        Waits { repetitions: sound.filter_map(Repetition::of).collect() }
    }

    pub fn is_empty(&self) -> bool {
        self.repetitions.is_empty()
    }

    /// Time that was watched.
    pub fn seconds(&self) -> f64 {
        self.repetitions.iter().map(|one| one.seconds).sum()
    }

    /// Waits of at least this length.
    pub fn count(&self, least_ns: u64) -> u64 {
        self.repetitions.iter().map(|one| one.count(least_ns)).sum()
    }

    /// The longest; shorter ones than are listed count, too.
    pub fn longest_ns(&self) -> Option<u64> {
        self.repetitions.iter().map(|one| one.longest_ns).max()
    }

    /// Freezes a minute.
    pub fn a_minute(&self) -> Option<Estimate> {
        let counted = self.repetitions.iter().map(|one| (one.count(FREEZE_NS), one.seconds));
        let a_second = event_rate(&counted.collect::<Vec<_>>())?;
        Some(Estimate {
            value: a_second.value * 60.0,
            low: a_second.low.map(|low| low * 60.0),
            high: a_second.high.map(|high| high * 60.0),
            n: a_second.n,
        })
    }

    /// The share of the time that passed in freezes.
    pub fn share(&self) -> Option<Estimate> {
        let frozen = |one: &Repetition| (one.frozen_ns as f64 / 1e9, one.seconds);
        let share = Estimate::rate_of(&self.repetitions.iter().map(frozen).collect::<Vec<_>>())?;
        let bounded = |end: f64| end.clamp(0.0, 1.0);
        Some(Estimate { low: share.low.map(bounded), high: share.high.map(bounded), ..share })
    }
}

impl Repetition {
    fn of(step: &StepRun) -> Option<Self> {
        let window = window(step, 0)?;
        let tallies = || step.tallies.iter().filter(|tally| tally.stream == 0 && !tally.ramp);
        let gaps = || tallies().flat_map(|tally| &tally.gaps);
        let in_window = |gap: &drivelab_core::tally::Gap| {
            gap.to.min(window.to).saturating_sub(gap.from.max(window.from))
        };
        let freezes = gaps().filter(|gap| gap.to.saturating_sub(gap.from) >= FREEZE_NS);
        Some(Repetition {
            seconds: window.seconds()?,
            waits_ns: gaps().map(|gap| gap.to.saturating_sub(gap.from)).collect(),
            frozen_ns: freezes.map(in_window).sum(),
            longest_ns: tallies().map(|tally| tally.gap_ns_max).max()?,
        })
    }

    fn count(&self, least_ns: u64) -> u64 {
        self.waits_ns.iter().filter(|wait| **wait >= least_ns).count() as u64
    }
}

#[cfg(test)]
mod tests {
    use super::super::grade::{Grade, LONG_NS};
    use super::*;

    /// Five repetitions of 12 s, of which the first had these waits.
    fn waits(listed_ms: &[u64]) -> Waits {
        let one = |waits_ns: Vec<u64>| Repetition {
            seconds: 12.0,
            frozen_ns: waits_ns.iter().filter(|wait| **wait >= FREEZE_NS).sum(),
            longest_ns: waits_ns.iter().copied().max().unwrap_or(400_000),
            waits_ns,
        };
        let first = one(listed_ms.iter().map(|ms| ms * 1_000_000).collect());
        Waits { repetitions: [vec![first], vec![one(Vec::new()); 4]].concat() }
    }

    #[test]
    fn the_grade_is_the_first_rule_that_holds() {
        for (listed_ms, grade) in [
            (&[][..], Grade::A),
            (&[10], Grade::B),
            (&[99, 50, 12], Grade::B),
            (&[100], Grade::D),
            (&[999], Grade::D),
            (&[1000], Grade::E),
            (&[100; 10], Grade::E),
            (&[499; 12], Grade::E),
            (&[501; 12], Grade::F),
        ] {
            assert_eq!(Grade::of(&waits(listed_ms)), grade, "{listed_ms:?}");
        }
        let mut long = waits(&[100]);
        long.repetitions.iter_mut().for_each(|one| one.seconds = 60.0);
        assert_eq!(Grade::of(&long), Grade::C, "one in five minutes");
    }

    #[test]
    fn waits_are_counted_by_length_and_by_time() {
        let found = waits(&[20, 150, 1100]);
        let counts = [10_000_000, FREEZE_NS, LONG_NS].map(|least| found.count(least));
        assert_eq!(counts, [3, 2, 1]);
        assert_eq!(found.longest_ns(), Some(1_100_000_000));
        assert_eq!(found.a_minute().unwrap().value, 2.0);
        assert!((found.share().unwrap().value - 1.25 / 60.0).abs() < 1e-12);
        assert_eq!(found.share().unwrap().low, Some(0.0), "an interval of a share stays one");
        let none = waits(&[]);
        assert_eq!((none.count(0), none.longest_ns()), (0, Some(400_000)));
        assert!((none.a_minute().unwrap().high.unwrap() - 3.6889).abs() < 1e-3);
    }
}

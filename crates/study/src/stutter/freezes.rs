//! How long a stream went without a completion, and how often.

use super::grade::FREEZE_NS;
use crate::experiment::order::{is_complete, since_break};
use drivelab_core::findings::{Timeline, TimelineRow};
use drivelab_core::run::{Run, StepRun};
use drivelab_core::summary::{Summary, window};
use drivelab_stats::{Estimate, event_rate};

/// The waits of one stream in one repetition.
#[derive(Debug, Clone, Default, PartialEq)]
struct Repetition {
    seconds: f64,
    /// Lengths of those that are listed.
    waits_ns: Vec<u64>,
    /// When they began and ended, from the begin of the window, and how many are not listed.
    times: Vec<(u64, u64)>,
    unlisted: u64,
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

    /// When the waits were, a row for each repetition.
    pub fn timeline(&self, grade: &str) -> Timeline {
        let row = |(index, one): (usize, &Repetition)| TimelineRow {
            label: format!("repetition {}", index + 1),
            length_ns: (one.seconds * 1e9) as u64,
            times: one.times.clone(),
            unlisted: one.unlisted,
        };
        Timeline {
            title: "When one reader waited while others wrote".into(),
            note:
                "Each row is one repetition. A mark of full height is a freeze, a wait of 100 ms \
                   or longer, as long as it lasted; a low one is a wait of 10 ms or longer. The \
                   grade follows from how often and how long."
                    .into(),
            grade: grade.into(),
            bad_from_ns: FREEZE_NS,
            rows: self.repetitions.iter().enumerate().map(row).collect(),
        }
    }

    /// The same waits as often over this many times the time.
    pub fn stretched(&self, times: usize) -> Self {
        let all = self.repetitions.iter().cycle();
        let repetitions = all.take(times * self.repetitions.len()).cloned().collect();
        Waits { repetitions }
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

    /// The share of the time that passed in freezes, with the interval of a ratio estimator
    /// (Cochran 1977, 2.11): not on the logarithm, since none of the time is a share too.
    pub fn share(&self) -> Option<Estimate> {
        let frozen = |one: &Repetition| one.frozen_ns as f64 / 1e9;
        let all: f64 = self.repetitions.iter().map(frozen).sum();
        let mean_seconds = self.seconds() / self.repetitions.len() as f64;
        let share = all / self.seconds();
        let spread = |one: &Repetition| share + (frozen(one) - share * one.seconds) / mean_seconds;
        let share = Estimate::mean_of(&self.repetitions.iter().map(spread).collect::<Vec<_>>())?;
        let bounded = |end: f64| end.clamp(0.0, 1.0);
        Some(Estimate { low: share.low.map(bounded), high: share.high.map(bounded), ..share })
    }
}

impl Repetition {
    /// Watched is the time in which the first stream had an operation in flight or its next one
    /// due, and the writer next to it, if there is one, had not come to its end.
    fn of(step: &StepRun) -> Option<Self> {
        let mut window = window(step, 0)?;
        if step.plan.streams.len() > 1 {
            let writer = drivelab_core::summary::window(step, 1)?;
            window.to = window.to.min(writer.to);
        }
        let seconds = window.to.saturating_sub(window.from) as f64 / 1e9;
        let tallies = || step.tallies.iter().filter(|tally| tally.stream == 0 && !tally.ramp);
        let gaps = || tallies().flat_map(|tally| &tally.gaps).filter(|gap| gap.from < window.to);
        let in_window = |gap: &drivelab_core::tally::Gap| {
            gap.to.min(window.to).saturating_sub(gap.from.max(window.from))
        };
        let freezes = gaps().filter(|gap| gap.to.saturating_sub(gap.from) >= FREEZE_NS);
        (seconds > 0.0).then_some(())?;
        let from_begin = |gap: &drivelab_core::tally::Gap| {
            let of_window = |time: u64| time.clamp(window.from, window.to) - window.from;
            (of_window(gap.from), of_window(gap.to))
        };
        let mut times: Vec<(u64, u64)> = gaps().map(from_begin).collect();
        times.sort_unstable();
        Some(Repetition {
            seconds,
            times,
            unlisted: tallies().map(|tally| tally.gaps_unlisted).sum(),
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
    use super::super::grade::{Grade, LONG_NS, NONE_SECONDS, Open, graded};
    use super::*;

    /// Five repetitions of this many seconds, over which these waits are spread.
    fn waits(seconds: f64, listed_ms: &[u64]) -> Waits {
        let one = |waits_ns: Vec<u64>| Repetition {
            seconds,
            frozen_ns: waits_ns.iter().filter(|wait| **wait >= FREEZE_NS).sum(),
            longest_ns: waits_ns.iter().copied().max().unwrap_or(400_000),
            waits_ns,
            ..Repetition::default()
        };
        let of = |number: usize| {
            let those = listed_ms.iter().skip(number).step_by(5);
            one(those.map(|ms| ms * 1_000_000).collect())
        };
        Waits { repetitions: (0..5).map(of).collect() }
    }

    #[test]
    fn the_grade_is_the_first_rule_that_holds() {
        for (listed_ms, grade) in [
            (&[][..], Grade::A),
            (&[10], Grade::B),
            (&[99, 50, 12], Grade::B),
            (&[100], Grade::B),
            (&[999], Grade::B),
            (&[999; 2], Grade::D),
            (&[100; 3], Grade::C),
            (&[1999], Grade::D),
            (&[100; 30], Grade::D),
            (&[501; 12], Grade::E),
            (&[499; 36], Grade::E),
            (&[501; 36], Grade::F),
        ] {
            assert_eq!(Grade::of(&waits(36.0, listed_ms)), grade, "{listed_ms:?}");
        }
    }

    #[test]
    fn without_enough_time_there_is_no_grade() {
        // Poisson: none in T leaves less than one a minute (one-sided 95 %) from 179.7 s on.
        for (seconds, is_enough) in [(0.002, false), (9.0, false), (35.9, false), (36.0, true)] {
            let judged = graded(&waits(seconds, &[]));
            assert_eq!(judged.is_ok(), is_enough, "{seconds}: {judged:?}");
        }
        let open = graded(&waits(0.25, &[])).unwrap_err();
        assert_eq!(open, Open { watched: 1.25, needed: Some(NONE_SECONDS) });
        // What freezes all the time needs no three minutes.
        assert_eq!(graded(&waits(1.2, &[780, 800, 810, 790, 820])).unwrap(), Grade::F);
        // Of equal shares it is not known how far they spread: no time would tell.
        let open = graded(&waits(1.2, &[800; 5])).unwrap_err();
        assert_eq!(open, Open { watched: 6.0, needed: None });
        // One freeze in 5 s: by chance, or twelve a minute.
        let open = graded(&waits(1.0, &[300])).unwrap_err();
        assert!((10.0..600.0).contains(&open.needed.unwrap()), "{open:?}");
        assert_eq!(graded(&waits(36.0, &[300; 3])), Ok(Grade::C));
    }

    #[test]
    fn waits_are_counted_by_length_and_by_time() {
        let found = waits(12.0, &[20, 150, 1100]);
        let counts = [10_000_000, FREEZE_NS, LONG_NS].map(|least| found.count(least));
        assert_eq!(counts, [3, 2, 1]);
        assert_eq!(found.longest_ns(), Some(1_100_000_000));
        assert_eq!(found.a_minute().unwrap().value, 2.0);
        assert!((found.share().unwrap().value - 1.25 / 60.0).abs() < 1e-12);
        assert_eq!(found.share().unwrap().low, Some(0.0), "an interval of a share stays one");
        let none = waits(12.0, &[]);
        assert_eq!((none.count(0), none.longest_ns()), (0, Some(400_000)));
        assert!((none.a_minute().unwrap().high.unwrap() - 3.6889).abs() < 1e-3);
    }
}

//! Rates by interval, as fio samples them.

use super::figures::Samples;
use drivelab_core::op::{SECOND, Time};
use drivelab_core::tally::Tally;

/// What one kind did in each whole interval of one worker.
#[derive(Debug, Clone, Default, PartialEq)]
pub struct Course {
    /// Bytes a second.
    pub bytes: Vec<u64>,
    /// Operations a second.
    pub operations: Vec<u64>,
}

/// The course of what counts, bytes and operations, in the measured window of a worker. An interval
/// in which nothing completed counts with 0, and the last one only if nearly all of it was there: a
/// worker that waits for its next request to be due ends before the time does.
pub fn course(
    tallies: &[&Tally],
    of: impl Fn(&Tally) -> (u64, u64),
    interval_ns: Time,
    closed: Time,
) -> Course {
    let mut course = Course::default();
    let Some(from) = tallies.iter().map(|tally| tally.from).min() else { return course };
    let mut covered_ns: Time = 0;
    for tally in tallies {
        let span = tally.to.saturating_sub(tally.from);
        covered_ns = covered_ns.saturating_add(span);
        if span == 0 || span < interval_ns / 10 * 9 {
            continue;
        }
        let (bytes, operations) = of(tally);
        course.bytes.push(per_second_of(bytes, span));
        course.operations.push(per_second_of(operations, span));
    }
    let silent_ns = closed.saturating_sub(from).saturating_sub(covered_ns);
    for _ in 0..silent_ns / interval_ns.max(1) {
        course.bytes.push(0);
        course.operations.push(0);
    }
    course
}

/// `amount` in a span, for each second.
pub fn per_second_of(amount: u64, span_ns: Time) -> u64 {
    let rate = u128::from(amount) * u128::from(SECOND) / u128::from(span_ns.max(1));
    u64::try_from(rate).unwrap_or(u64::MAX)
}

/// What the samples of one worker in one direction come to.
pub fn summary(values: impl Iterator<Item = u64> + Clone) -> Samples {
    let count = values.clone().count() as u64;
    let (Some(min), Some(max)) = (values.clone().min(), values.clone().max()) else {
        return Samples::default();
    };
    let mean = values.clone().map(|value| value as f64).sum::<f64>() / count as f64;
    let squares: f64 = values.map(|value| (value as f64 - mean).powi(2)).sum();
    let deviation = (squares / count.saturating_sub(1).max(1) as f64).sqrt();
    Samples { count, min, max, mean, deviation }
}

/// Workers or directions together: as fio does it, their extremes and means are added up, and their
/// deviations are pooled without what their means differ by.
pub fn together(one: Samples, other: Samples) -> Samples {
    if one.count == 0 || other.count == 0 {
        return if one.count == 0 { other } else { one };
    }
    let squares = |samples: Samples| {
        samples.deviation * samples.deviation * samples.count.saturating_sub(1) as f64
    };
    let count = one.count + other.count;
    Samples {
        count,
        min: one.min + other.min,
        max: one.max + other.max,
        mean: one.mean + other.mean,
        deviation: ((squares(one) + squares(other)) / (count - 1).max(1) as f64).sqrt(),
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use drivelab_core::op::Action;
    use drivelab_core::tally::Keep;

    fn tally(from: Time, to: Time, operations: u64) -> Tally {
        let keep = Keep::default();
        let mut tally = Tally::new(0, 0, 0, &[Action::Read], keep);
        (tally.from, tally.to) = (from, to);
        tally.kinds[0].ops = operations;
        tally.kinds[0].bytes = operations * 2048;
        tally
    }

    fn of(kind: Action) -> impl Fn(&Tally) -> (u64, u64) {
        move |tally| {
            let found = tally.kinds.iter().find(|entry| entry.kind == kind);
            found.map_or((0, 0), |entry| (entry.bytes, entry.ops))
        }
    }

    #[test]
    fn whole_intervals_are_samples_and_empty_ones_too() {
        let half = SECOND / 2;
        let tallies = [
            tally(half, 2 * half, 10),
            tally(3 * half, 4 * half, 30),
            tally(4 * half, 4 * half + 7, 1),
        ];
        let all: Vec<&Tally> = tallies.iter().collect();
        let found = course(&all, of(Action::Read), half, 4 * half + 7);
        assert_eq!(found.operations, [20, 60, 0]);
        assert_eq!(found.bytes, [40_960, 122_880, 0]);
        assert_eq!(course(&all, of(Action::Write), half, 4 * half + 7).operations, [0, 0, 0]);
        // A worker that waits for its next request ends a little before the time does.
        let short = [tally(0, half, 10), tally(half, 2 * half - half / 50, 10)];
        let short: Vec<&Tally> = short.iter().collect();
        assert_eq!(course(&short, of(Action::Read), half, 2 * half).operations, [20, 20]);
        assert_eq!(course(&[], of(Action::Read), half, 4 * half), Course::default());
    }

    /// Two directions of one run of fio, and what it printed of both together.
    #[test]
    fn samples_come_together_as_fio_adds_them() {
        let read = Samples {
            count: 3,
            min: 16_111,
            max: 25_001,
            mean: 20_994.666_667,
            deviation: 4_509.468_964,
        };
        let write = Samples {
            count: 3,
            min: 15_984,
            max: 24_485,
            mean: 21_097.666_667,
            deviation: 4_505.765_233,
        };
        let both = together(read, write);
        assert_eq!((both.count, both.min, both.max), (6, 32_095, 49_486));
        assert!((both.mean - 42_092.333_333).abs() < 1e-4);
        assert!((both.deviation - 4_031.735_639).abs() < 1e-4);
        assert_eq!(together(Samples::default(), write), write);
        assert_eq!(together(read, Samples::default()), read);
        assert_eq!(summary([].into_iter()), Samples::default());
    }
}

//! Latencies: what the histograms hold as what fio prints of them.
//!
//! fio times three things of an operation: submission, completion from then on, and both together.
//! A run holds each in a histogram; runs of old lack the second one.

use super::bins::Bins;
use super::figures::{BOUNDS, Percentiles, Spread, Timed};
use drivelab_stats::Histogram;

/// From this share of the whole on, submission is the operation.
pub const SUBMISSION_SHARE: f64 = 0.5;
/// Places in [`Spread`]: two times ten bounds, and twelve.
const PLACES: usize = 32;

/// Latencies of the operations of one kind, of one worker or of many.
#[derive(Debug, Clone, Default)]
pub struct Latencies {
    /// Submission; absent where the call is the operation.
    submission: Option<Histogram>,
    /// Completion.
    completion: Completion,
    /// Total latency: submission and completion.
    total: Histogram,
}

/// Completion latencies, as far as they follow from the other two.
#[derive(Debug, Clone, Default)]
struct Completion {
    count: u64,
    min: u64,
    max: u64,
    mean: f64,
    /// Sum of squares around the mean.
    squares: f64,
    bins: Bins,
    places: [u64; PLACES],
}

impl Latencies {
    /// Those of operations that took `total`, of which `submission` went into submitting, and
    /// `rest` was left then, where that was kept.
    pub fn of(total: &Histogram, submission: Option<&Histogram>, rest: Option<&Histogram>) -> Self {
        let submission = submission.filter(|it| it.count() == total.count());
        let rest = rest.filter(|it| submission.is_some() && it.count() == total.count());
        Latencies {
            completion: rest.map_or_else(|| completion(total, submission), kept),
            submission: submission.cloned(),
            total: total.clone(),
        }
    }

    /// Those of requests of one priority, whose submission is not told apart.
    pub fn of_priority(total: &Histogram, rest: Option<&Histogram>) -> Self {
        let rest = rest.filter(|it| it.count() == total.count());
        Latencies {
            completion: rest.map_or_else(|| completion(total, None), kept),
            submission: None,
            total: total.clone(),
        }
    }

    /// Adds those of `other`.
    pub fn merge(&mut self, other: &Latencies) {
        if let Some(other) = &other.submission {
            self.submission.get_or_insert_with(Histogram::new).merge(other);
        }
        self.completion.merge(&other.completion);
        self.total.merge(&other.total);
    }

    /// Submission latency as it is printed.
    pub fn submission(&self, percentiles: &Percentiles) -> Timed {
        let submission = self.submission.as_ref();
        submission.map(|it| timed(it, percentiles, percentiles.submission)).unwrap_or_default()
    }

    /// Both together as they are printed.
    pub fn total(&self, percentiles: &Percentiles) -> Timed {
        timed(&self.total, percentiles, percentiles.total)
    }

    /// Completion latency as it is printed.
    pub fn completion(&self, percentiles: &Percentiles) -> Timed {
        let Completion { count, min, max, mean, squares, bins, .. } = &self.completion;
        let degrees = count.saturating_sub(1).max(1) as f64;
        Timed {
            count: *count,
            min: *min,
            max: *max,
            mean: *mean,
            deviation: (squares / degrees).sqrt(),
            percentiles: listed(bins, percentiles, percentiles.completion && *count > 0),
            bins: bins.clone(),
        }
    }

    /// How completion latencies are spread, in percent of `all` operations.
    pub fn spread(&self, all: u64) -> Spread {
        let share = |at: usize| self.completion.places[at] as f64 * 100.0 / all.max(1) as f64;
        Spread {
            ns: std::array::from_fn(share),
            us: std::array::from_fn(|at| share(at + 10)),
            ms: std::array::from_fn(|at| share(at + 20)),
        }
    }
}

/// A histogram as it is printed, with the percentiles of the list if `shown`.
pub fn timed(histogram: &Histogram, percentiles: &Percentiles, shown: bool) -> Timed {
    let mut bins = Bins::default();
    each(histogram, |latency_ns, count| bins.add(latency_ns, count));
    Timed {
        count: histogram.count(),
        min: histogram.min(),
        max: histogram.max(),
        mean: histogram.mean().unwrap_or(0.0),
        deviation: histogram.standard_deviation().unwrap_or(0.0),
        percentiles: listed(&bins, percentiles, shown && !histogram.is_empty()),
        bins,
    }
}

/// Each bucket as its smallest latency that was there, with its count.
fn each(histogram: &Histogram, mut take: impl FnMut(u64, u64)) {
    let least = histogram.min();
    histogram.iter_nonzero().for_each(|(low, _, count)| take(low.max(least), count));
}

fn listed(bins: &Bins, percentiles: &Percentiles, shown: bool) -> Vec<(f64, u64)> {
    let each = percentiles.list.iter().filter(|_| shown);
    each.map(|percent| (*percent, bins.percentile(*percent))).collect()
}

/// Where in [`Spread`] a latency counts.
fn place_of(latency_ns: u64) -> usize {
    let below = |unit: u64| BOUNDS.iter().position(|bound| latency_ns < bound * unit);
    let found = below(1).or_else(|| Some(10 + below(1_000)?));
    let found = found.or_else(|| Some(20 + below(1_000_000)?));
    found.unwrap_or(if latency_ns < 2_000_000_000 { 30 } else { 31 })
}

/// Share of `total` that went into submitting.
pub fn submission_share(total: &Histogram, submission: &Histogram) -> f64 {
    submission.sum() as f64 / total.sum().max(1) as f64
}

/// What was left after submission, where it was kept.
fn kept(rest: &Histogram) -> Completion {
    let mut found = Completion::default();
    each(rest, |latency_ns, count| found.add(latency_ns, count));
    let deviation = rest.standard_deviation().unwrap_or(0.0);
    found.squares = deviation * deviation * rest.count().saturating_sub(1) as f64;
    (found.min, found.max) = (rest.min(), rest.max());
    found.mean = rest.mean().unwrap_or(0.0);
    found
}

/// What of `total` was left after submission, where that was not kept.
///
/// The mean is exact. Where submission is the smaller part, each is taken for that of the whole
/// less the mean submission, so that what is shown has that mean. Where it is the larger part, the
/// slow ones were slow in submitting: both are put side by side in order of size. Submission is
/// part of the whole, so neither gives less than nothing.
fn completion(total: &Histogram, submission: Option<&Histogram>) -> Completion {
    let mut found = Completion::default();
    let spent = submission.map_or(0, Histogram::sum);
    match submission {
        Some(submission) if submission_share(total, submission) > SUBMISSION_SHARE => {
            let min = total.min().saturating_sub(submission.min());
            let max = total.max().saturating_sub(submission.max()).max(min);
            side_by_side(total, submission, |latency_ns, count| {
                found.add(latency_ns.clamp(min, max), count);
            });
            (found.min, found.max) = (min, max);
        }
        _ => {
            let less_ns = spent / u128::from(total.count().max(1));
            let less_ns = u64::try_from(less_ns).unwrap_or(0);
            each(total, |latency_ns, count| found.add(latency_ns.saturating_sub(less_ns), count));
            found.min = total.min().saturating_sub(less_ns);
            found.max = total.max().saturating_sub(less_ns);
            let deviation = total.standard_deviation().unwrap_or(0.0);
            found.squares = deviation * deviation * total.count().saturating_sub(1) as f64;
        }
    }
    found.count = total.count();
    found.mean = total.sum().saturating_sub(spent) as f64 / total.count().max(1) as f64;
    found
}

/// The differences of two histograms of equal count, smallest with smallest.
fn side_by_side(total: &Histogram, part: &Histogram, mut each: impl FnMut(u64, u64)) {
    let mut parts = part.iter_nonzero();
    let (mut part_ns, mut left) = (0, 0);
    for (low, _, mut count) in total.iter_nonzero() {
        while count > 0 {
            if left == 0 {
                let Some((low, _, count)) = parts.next() else { return };
                (part_ns, left) = (low, count);
            }
            let both = count.min(left);
            each(low.saturating_sub(part_ns), both);
            count -= both;
            left -= both;
        }
    }
}

impl Completion {
    /// Counts `count` latencies, and how far they lie from the mean so far.
    fn add(&mut self, latency_ns: u64, count: u64) {
        let before = self.count as f64;
        self.count += count;
        let away = latency_ns as f64 - self.mean;
        self.squares += away * away * before * count as f64 / self.count as f64;
        self.mean += away * count as f64 / self.count as f64;
        self.bins.add(latency_ns, count);
        self.places[place_of(latency_ns)] += count;
    }

    fn merge(&mut self, other: &Completion) {
        if other.count == 0 {
            return;
        }
        let first = self.count == 0;
        let (mine, theirs) = (self.count as f64, other.count as f64);
        let away = other.mean - self.mean;
        self.count += other.count;
        self.squares += other.squares + away * away * mine * theirs / self.count as f64;
        self.mean += away * theirs / self.count as f64;
        self.min = if first { other.min } else { self.min.min(other.min) };
        self.max = self.max.max(other.max);
        self.bins.merge(&other.bins);
        for (mine, theirs) in self.places.iter_mut().zip(&other.places) {
            *mine += theirs;
        }
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    fn histogram(values: &[u64]) -> Histogram {
        let mut histogram = Histogram::new();
        values.iter().for_each(|value| histogram.record(*value));
        histogram
    }

    fn percentiles() -> Percentiles {
        Percentiles { list: vec![50.0, 100.0], completion: true, ..Percentiles::default() }
    }

    #[test]
    fn without_submission_completion_is_the_whole() {
        let total = histogram(&[100, 120, 140]);
        let latencies = Latencies::of(&total, None, None);
        assert_eq!(latencies.submission(&percentiles()), Timed::default());
        let found = latencies.completion(&percentiles());
        assert_eq!(found, timed(&total, &percentiles(), true));
        assert_eq!(found.percentiles, [(50.0, 120), (100.0, 141)]);
    }

    #[test]
    fn completions_that_were_kept_are_shown_as_they_were() {
        // The slowest to submit is not the slowest of all.
        let (total, submission, rest) =
            ([1000, 1100, 1200, 1900], [10, 20, 700, 30], [990, 1080, 500, 1870]);
        let submission = histogram(&submission);
        let of = |rest| Latencies::of(&histogram(&total), Some(&submission), Some(rest));
        let rest = histogram(&rest);
        let found = of(&rest).completion(&percentiles());
        assert_eq!(found, timed(&rest, &percentiles(), true));
        assert_eq!((found.count, found.min, found.max, found.mean), (4, 500, 1870, 1110.0));
        let spread = of(&rest).spread(4);
        assert_eq!((spread.ns[8], spread.ns[9], spread.us[0]), (25.0, 25.0, 50.0));
        // One that is not of these operations is left alone.
        let other = histogram(&[5]);
        assert_eq!(of(&other).completion(&percentiles()).min, 1000 - 190);
    }

    #[test]
    fn completions_shown_have_the_mean_that_is_left() {
        let (total, submission) = ([1000, 1100, 1200, 1900], [10, 20, 30, 400]);
        let latencies = Latencies::of(&histogram(&total), Some(&histogram(&submission)), None);
        let found = latencies.completion(&percentiles());
        assert_eq!((found.count, found.min, found.max), (4, 885, 1785));
        assert_eq!(found.mean, (5200.0 - 460.0) / 4.0);
        let shown: f64 = found.bins.iter().map(|(ns, count)| ns as f64 * count as f64).sum();
        assert!((shown / 4.0 / found.mean - 1.0).abs() < 0.01, "{found:?}");
        assert_eq!(found.percentiles, [(50.0, 988), (100.0, 1784)]);
        let expected = histogram(&total).standard_deviation().unwrap();
        assert!((found.deviation - expected).abs() < 1e-9);
    }

    #[test]
    fn where_submission_is_the_most_the_longest_are_paired() {
        let (total, submission) = ([1000, 1100, 1900], [980, 1070, 1860]);
        let latencies = Latencies::of(&histogram(&total), Some(&histogram(&submission)), None);
        let found = latencies.completion(&percentiles());
        assert_eq!((found.count, found.min, found.max, found.mean), (3, 20, 40, 30.0));
        assert_eq!(found.bins.iter().collect::<Vec<_>>(), [(20, 1), (30, 1), (40, 1)]);
        assert!((found.deviation - 10.0).abs() < 1e-9);
        let spread = latencies.spread(4);
        assert_eq!((spread.ns[4], spread.ns[3], spread.ns[2]), (75.0, 0.0, 0.0));
    }

    #[test]
    fn parts_merged_are_the_whole() {
        let parts: [&[u64]; 3] = [&[100, 300, 500], &[], &[50_000, 70, 80, 90]];
        let mut merged = Latencies::default();
        for part in parts {
            merged.merge(&Latencies::of(&histogram(part), None, None));
        }
        let whole = Latencies::of(&histogram(&parts.concat()), None, None);
        let (merged, whole) = (merged.completion(&percentiles()), whole.completion(&percentiles()));
        assert_eq!((merged.count, merged.min, merged.max), (7, 70, 50_000));
        assert!((merged.mean - whole.mean).abs() < 1e-6, "{merged:?}");
        assert!((merged.deviation - whole.deviation).abs() < 1e-6, "{merged:?}");
        assert_eq!((merged.bins, merged.percentiles), (whole.bins, whole.percentiles));
    }

    #[test]
    fn bounds_of_the_spread_are_open_above() {
        for (latency_ns, place) in [
            (0, 0),
            (1, 0),
            (2, 1),
            (999, 9),
            (1_000, 10),
            (1_999, 10),
            (2_000, 11),
            (999_999, 19),
            (1_000_000, 20),
            (999_999_999, 29),
            (1_000_000_000, 30),
            (2_000_000_000, 31),
        ] {
            assert_eq!(place_of(latency_ns), place, "{latency_ns}");
        }
    }
}

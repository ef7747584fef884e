//! Where a series changes, what recurs in it.

use crate::data::{NoAnswer, average, enough, is_constant};
use crate::descriptive::Description;
use crate::welch::Welch;

/// Values that a segment has at least.
const SEGMENT_MIN: usize = 2;

/// A place where a series changes.
#[derive(Clone, Copy, Debug, PartialEq)]
pub struct ChangePoint {
    /// Index of the first value behind it.
    pub at: usize,
    /// Matteson and James's statistic there.
    pub q: f64,
    /// p-value of a comparison of the two sides; `None` where neither side has any spread.
    pub p: Option<f64>,
}

/// The divergence of the two sides of each split of a series (Matteson and James 2014, with α = 1):
/// index of the first value behind the split, and statistic.
///
/// # Errors
/// Fewer than four values, or one that is not finite.
pub fn divergences(series: &[f64]) -> Result<Vec<(usize, f64)>, NoAnswer> {
    enough(series, 2 * SEGMENT_MIN)?;
    let n = series.len();
    let distance = |a: usize, b: usize| (series[a] - series[b]).abs();
    // Sums of distances within the left side, within the right side, and in all.
    let mut left = 0.0;
    let mut right: f64 =
        (0..n).flat_map(|a| (a + 1..n).map(move |b| (a, b))).map(|(a, b)| distance(a, b)).sum();
    let all = right;
    let mut found = Vec::with_capacity(n);
    for moved in 0..n - SEGMENT_MIN {
        left += (0..moved).map(|other| distance(other, moved)).sum::<f64>();
        right -= (moved + 1..n).map(|other| distance(other, moved)).sum::<f64>();
        let (x, y) = ((moved + 1) as f64, (n - moved - 1) as f64);
        if moved + 1 < SEGMENT_MIN {
            continue;
        }
        let between = all - left - right;
        let within = |sum: f64, count: f64| sum / (count * (count - 1.0) / 2.0);
        let spread = 2.0 * between / (x * y) - within(left, x) - within(right, y);
        found.push((moved + 1, x * y / (x + y) * spread));
    }
    Ok(found)
}

/// The split where the two sides differ most.
///
/// # Errors
/// As [`divergences`].
pub fn strongest_change(series: &[f64]) -> Result<ChangePoint, NoAnswer> {
    let all = divergences(series)?;
    let first = all[0];
    let (at, q) = all.into_iter().fold(first, |best, one| if one.1 > best.1 { one } else { best });
    let p = Welch::of(&series[..at], &series[at..]).ok().map(|welch| welch.p());
    Ok(ChangePoint { at, q, p })
}

/// All places where a series changes, in order: each segment is split at its strongest change while
/// Student's p-value of the two sides, times the splits that were possible and the segments so far,
/// is below `level` (the hierarchical search of E-divisive with a t test instead of permutations,
/// as in Apache Otava; the best of several splits is paid for). `p` of each is this product.
///
/// # Errors
/// As [`divergences`].
pub fn changes(series: &[f64], level: f64) -> Result<Vec<ChangePoint>, NoAnswer> {
    enough(series, 2 * SEGMENT_MIN)?;
    let mut found: Vec<ChangePoint> = Vec::new();
    let mut open = vec![(0, series.len())];
    while let Some((from, to)) = open.pop() {
        let segment = &series[from..to];
        let Ok(change) = strongest_change(segment) else { continue };
        let (left, right) = segment.split_at(change.at);
        let tests = ((found.len() + 1) * (segment.len() + 1 - 2 * SEGMENT_MIN)) as f64;
        let p = Welch::pooled(left, right).ok().map(|student| (student.p() * tests).min(1.0));
        // Two constants that differ are a change without noise.
        let constants = !is_constant(&[series[from], series[to - 1]]);
        let is_sure = p.map_or(constants, |p| p < level);
        if is_sure {
            let at = from + change.at;
            found.push(ChangePoint { at, p, ..change });
            open.extend([(from, at), (at, to)]);
        }
    }
    found.sort_by_key(|change| change.at);
    Ok(found)
}

/// One step in a series: two levels and where the first ends.
#[derive(Clone, Copy, Debug, PartialEq)]
pub struct Knee {
    /// Values before it.
    pub split: usize,
    /// Squared distances from the two levels, together.
    pub squares: f64,
    /// Mean before.
    pub left: f64,
    /// Mean behind.
    pub right: f64,
}

/// The step that leaves the least squared distances: the end of a cache, say.
///
/// # Errors
/// Fewer than two values, or one that is not finite.
///
/// ```
/// let rates = [90.0, 91.0, 89.0, 90.0, 30.0, 31.0, 29.0];
/// let knee = drivelab_stats::knee(&rates)?;
/// assert_eq!((knee.split, knee.left, knee.right), (4, 90.0, 30.0));
/// # Ok::<(), drivelab_stats::NoAnswer>(())
/// ```
pub fn knee(series: &[f64]) -> Result<Knee, NoAnswer> {
    enough(series, 2)?;
    let squares = |side: &[f64]| {
        let mean = average(side);
        side.iter().map(|value| (value - mean).powi(2)).sum::<f64>()
    };
    let at = |split: usize| {
        let (left, right) = series.split_at(split);
        let squares = squares(left) + squares(right);
        Knee { split, squares, left: average(left), right: average(right) }
    };
    let first = at(1);
    Ok((2..series.len()).map(at).fold(
        first,
        |best, one| {
            if one.squares < best.squares { one } else { best }
        },
    ))
}

/// Something that recurs.
#[derive(Clone, Debug, PartialEq)]
pub struct Period {
    /// What lies above this is a spike.
    pub threshold: f64,
    /// Indices of the spikes.
    pub spikes: Vec<usize>,
    /// The distance that occurs most often between spikes, the shortest of several; 1 is none.
    pub length: Option<usize>,
    /// Share of the distances that have this length.
    pub share: f64,
}

/// How often spikes recur: what lies five scaled median deviations above the median.
///
/// # Errors
/// Fewer than two values, or one that is not finite.
pub fn period(series: &[f64]) -> Result<Period, NoAnswer> {
    enough(series, 2)?;
    let description = Description::of(series)?;
    let threshold = description.median + 5.0 * description.mad_scaled();
    let spikes: Vec<usize> = (0..series.len()).filter(|index| series[*index] > threshold).collect();
    let mut gaps: Vec<usize> =
        spikes.windows(2).map(|pair| pair[1] - pair[0]).filter(|gap| *gap > 1).collect();
    gaps.sort_unstable();
    let most = gaps.chunk_by(|a, b| a == b).rev().max_by_key(|group| group.len());
    let share = most.map_or(0.0, |group| group.len() as f64 / gaps.len() as f64);
    Ok(Period { threshold, length: most.map(|group| group[0]), share, spikes })
}

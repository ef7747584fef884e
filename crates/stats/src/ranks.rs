//! Comparisons that use only the order of values: Mann-Whitney, Hodges-Lehmann,
//! Kolmogorov-Smirnov.

use crate::data::{NoAnswer, binomial_coefficient, enough, logarithms, possible, sorted};
use crate::descriptive::quantile_sorted;
use crate::estimate::normal_upper_tail;

/// Pairs up to which the null distribution is computed exactly.
const EXACT_PAIRS_MAX: usize = 40_000;
/// Quantiles that stand for a larger sample.
const QUANTILES: usize = 200;

/// Mann and Whitney's test (1947) that one sample tends to be larger.
#[derive(Clone, Copy, Debug, PartialEq)]
pub struct MannWhitney {
    /// Pairs in which `y` is larger; a tie counts half.
    pub u: f64,
    /// Two-sided p-value, never 0: exact without ties, else by the normal approximation with its
    /// corrections for ties and continuity.
    pub p: f64,
    /// Whether `p` is exact.
    pub is_exact: bool,
}

/// Compares `x` (before) and `y` (after).
///
/// # Errors
/// An empty sample, a value that is not finite, or all values of both equal.
pub fn mann_whitney(x: &[f64], y: &[f64]) -> Result<MannWhitney, NoAnswer> {
    enough(x, 1)?;
    enough(y, 1)?;
    let (below, tied) = count_pairs(x, y);
    let u = below as f64 + tied as f64 / 2.0;
    let pairs = x.len() * y.len();
    let ties = tie_sum(x, y);
    if ties == 0.0 && pairs <= EXACT_PAIRS_MAX {
        let less = below.min(pairs - below);
        let p = 2.0 * null_at_most(x.len(), y.len(), less);
        return Ok(MannWhitney { u, p: possible(p), is_exact: true });
    }
    let all = (x.len() + y.len()) as f64;
    let variance = pairs as f64 / 12.0 * (all + 1.0 - ties / (all * (all - 1.0)));
    if variance <= 0.0 {
        return Err(NoAnswer::Constant);
    }
    let off = ((u - pairs as f64 / 2.0).abs() - 0.5).max(0.0);
    let p = 2.0 * normal_upper_tail(off / variance.sqrt());
    Ok(MannWhitney { u, p: possible(p), is_exact: false })
}

/// Pairs in which `y` is larger, and pairs of equals.
fn count_pairs(x: &[f64], y: &[f64]) -> (usize, usize) {
    let x = sorted(x);
    let (mut below, mut tied) = (0, 0);
    for value in y {
        let less = x.partition_point(|other| other < value);
        below += less;
        tied += x.partition_point(|other| other <= value) - less;
    }
    (below, tied)
}

/// Σ(t³ − t) over groups of t equal values of both samples.
fn tie_sum(x: &[f64], y: &[f64]) -> f64 {
    let all = sorted(&[x, y].concat());
    let groups = all.chunk_by(|a, b| a == b).map(|group| group.len() as f64);
    groups.map(|count| count * count * count - count).sum()
}

/// P(U ≤ `u`) of samples of `m` and `n` values without ties, by the product of Gaussian
/// polynomials: the generating function is Π (1 − q^(n+i)) / (1 − q^i), i = 1…m.
fn null_at_most(m: usize, n: usize, u: usize) -> f64 {
    let mut ways = vec![0.0; u + 1];
    ways[0] = 1.0;
    for i in 1..=m {
        for at in (n + i..=u).rev() {
            ways[at] -= ways[at - n - i];
        }
        for at in i..=u {
            ways[at] += ways[at - i];
        }
    }
    ways.iter().sum::<f64>() / binomial_coefficient(m + n, m)
}

/// A shift from `x` to `y` by Hodges and Lehmann (1963).
#[derive(Clone, Copy, Debug, PartialEq)]
pub struct Shift {
    /// The median of all differences.
    pub value: f64,
    /// Its interval; `None` where no interval of these many values reaches the level.
    pub interval: Option<(f64, f64)>,
    /// Rank of its low end among the differences, from 1; 0 without interval.
    pub rank: usize,
    /// How often such intervals hold the truth.
    pub coverage: f64,
}

/// The shift from `x` to `y` with the interval of at least `level` that the null distribution of
/// Mann and Whitney's U gives. Of more than 40,000 pairs, 200 quantiles a side stand for the data.
///
/// # Errors
/// An empty sample or a value that is not finite.
pub fn hodges_lehmann(x: &[f64], y: &[f64], level: f64) -> Result<Shift, NoAnswer> {
    enough(x, 1)?;
    enough(y, 1)?;
    let pairs = x.len() * y.len();
    if pairs > EXACT_PAIRS_MAX {
        return hodges_lehmann(&thinned(x), &thinned(y), level);
    }
    let mut differences: Vec<f64> =
        y.iter().flat_map(|after| x.iter().map(move |before| after - before)).collect();
    differences.sort_by(f64::total_cmp);
    let tail = (1.0 - level) / 2.0;
    let at_most = |u: usize| null_at_most(x.len(), y.len(), u);
    // The first rank whose tail is too heavy, by halving.
    let (mut rank, mut beyond) = (0, pairs / 2);
    while rank < beyond {
        let middle = (rank + beyond) / 2;
        match at_most(middle) <= tail {
            true => rank = middle + 1,
            false => beyond = middle,
        }
    }
    let interval = (rank > 0).then(|| (differences[rank - 1], differences[pairs - rank]));
    let coverage = if rank > 0 { 1.0 - 2.0 * at_most(rank - 1) } else { 1.0 };
    Ok(Shift { value: quantile_sorted(&differences, 0.5), interval, rank, coverage })
}

/// Equally spaced quantiles of a sample that is too large to be compared pair by pair.
fn thinned(values: &[f64]) -> Vec<f64> {
    let ordered = sorted(values);
    let count = QUANTILES;
    if ordered.len() <= count {
        return ordered;
    }
    (0..count).map(|i| quantile_sorted(&ordered, (i as f64 + 0.5) / count as f64)).collect()
}

/// The same on logarithms: value, interval and coverage of a ratio `y/x`.
///
/// # Errors
/// As [`hodges_lehmann`], and a value that is not above zero.
pub fn hodges_lehmann_ratio(x: &[f64], y: &[f64], level: f64) -> Result<Shift, NoAnswer> {
    let shift = hodges_lehmann(&logarithms(x)?, &logarithms(y)?, level)?;
    Ok(Shift {
        value: libm::exp(shift.value),
        interval: shift.interval.map(|(low, high)| (libm::exp(low), libm::exp(high))),
        ..shift
    })
}

/// The largest distance between two distributions, and the exact p-value of one as large by chance
/// (Kolmogorov 1933, Smirnov 1939; counted over lattice paths as by Hodges 1957).
///
/// # Errors
/// An empty sample or a value that is not finite.
pub fn kolmogorov_smirnov(x: &[f64], y: &[f64]) -> Result<(f64, f64), NoAnswer> {
    enough(x, 1)?;
    enough(y, 1)?;
    let (x, y) = (sorted(x), sorted(y));
    let (m, n) = (x.len(), y.len());
    let apart = |i: usize, j: usize| (i * n).abs_diff(j * m);
    let both = x.iter().chain(&y).map(|value| {
        let below = |values: &[f64]| values.partition_point(|other| other <= value);
        apart(below(&x), below(&y))
    });
    let largest = both.max().unwrap_or(0);
    // How likely a path to (i, j) has been as far apart, from the paths to its two predecessors.
    let mut reached = vec![0.0; n + 1];
    for i in 0..=m {
        for j in 0..=n {
            let steps = (i + j) as f64;
            let from_left = if j > 0 { reached[j - 1] * j as f64 / steps } else { 0.0 };
            let from_below = if i > 0 { reached[j] * i as f64 / steps } else { 0.0 };
            reached[j] = if apart(i, j) >= largest { 1.0 } else { from_left + from_below };
        }
    }
    Ok((largest as f64 / (m * n) as f64, possible(reached[n])))
}

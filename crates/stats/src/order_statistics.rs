//! Quantiles with intervals that assume nothing of the distribution.

use crate::data::{NoAnswer, enough, sorted};
use crate::estimate::normal_quantile;
use statrs::distribution::{Binomial, DiscreteCDF};
use statrs::function::beta::beta_reg;

/// Ranks, from 1, of the order statistics between which a quantile lies.
#[derive(Clone, Copy, Debug, PartialEq)]
pub struct Ranks {
    /// Rank of the low end.
    pub low: u64,
    /// Rank of the high end.
    pub high: u64,
    /// How often such an interval holds the truth.
    pub coverage: f64,
}

/// The ranks between which the quantile `share` of `n` independent values lies with at least
/// `level`, neither tail being heavier than half of the rest (David and Nagaraja 2003, §7.1).
/// `None` where `n` is too small for any such interval; see
/// [`samples_needed`](crate::samples_needed).
pub fn quantile_ranks(n: u64, share: f64, level: f64) -> Option<Ranks> {
    let below = Binomial::new(share, n).ok()?;
    let tail = (1.0 - level) / 2.0;
    // P(X < low) ≤ tail, as large as possible.
    let first = below.inverse_cdf(tail);
    let low = if below.cdf(first) <= tail { first + 1 } else { first };
    // P(X ≥ high) ≤ tail, as small as possible.
    let last = below.inverse_cdf(1.0 - tail);
    let high = if last > 0 && below.sf(last - 1) <= tail { last } else { last + 1 };
    let coverage = below.sf(low.checked_sub(1)?) - if high <= n { below.sf(high - 1) } else { 0.0 };
    (low >= 1 && high <= n).then_some(Ranks { low, high, coverage })
}

/// The same by the normal approximation (Le Boudec 2010, §2.2): ranks that may lie outside 1…n,
/// where there is no such interval.
pub fn quantile_ranks_normal(n: u64, share: f64, level: f64) -> (i64, i64) {
    let middle = n as f64 * share;
    let reach = normal_quantile(0.5 + level / 2.0) * (middle * (1.0 - share)).sqrt();
    ((middle - reach).floor() as i64, (middle + reach).ceil() as i64 + 1)
}

/// The interval of the quantile `share` of `values` at `level` or more.
///
/// # Errors
/// Too few values for an interval, or one that is not finite.
///
/// ```
/// use drivelab_stats::quantile_interval;
///
/// let values: Vec<f64> = (1..=99).map(f64::from).collect();
/// let (low, high) = quantile_interval(&values, 0.5, 0.95)?;
/// assert!(low < 50.0 && 50.0 < high);
/// assert!(quantile_interval(&values[..5], 0.5, 0.95).is_err(), "six are needed");
/// # Ok::<(), drivelab_stats::NoAnswer>(())
/// ```
pub fn quantile_interval(values: &[f64], share: f64, level: f64) -> Result<(f64, f64), NoAnswer> {
    enough(values, 1)?;
    // Both tails must be light enough: the likelier side needs most.
    let likelier = share.max(1.0 - share).clamp(f64::MIN_POSITIVE, 1.0 - f64::EPSILON);
    let needed = (libm::log((1.0 - level) / 2.0) / libm::log(likelier)).ceil() as usize;
    let ranks = quantile_ranks(values.len() as u64, share, level)
        .ok_or(NoAnswer::TooFew { needed, got: values.len() })?;
    let ordered = sorted(values);
    Ok((ordered[ranks.low as usize - 1], ordered[ranks.high as usize - 1]))
}

/// The fewest values whose greatest is an upper bound of the quantile `share` with 95 %
/// confidence: `ln 0.05 / ln share`.
pub fn samples_needed_one_sided(share: f64) -> u64 {
    if !(share > 0.0 && share < 1.0) {
        return u64::MAX;
    }
    (libm::log(0.05) / libm::log(share)).ceil() as u64
}

/// The standard error of the quantile `share` of `values` (Maritz and Jarrett 1978).
///
/// # Errors
/// Fewer than two values, one that is not finite, or a share so far out that there is no weight.
pub fn maritz_jarrett(values: &[f64], share: f64) -> Result<f64, NoAnswer> {
    enough(values, 2)?;
    let n = values.len() as f64;
    let middle = (n * share + 0.5).floor();
    let (a, b) = (middle - 1.0, n - middle);
    if a <= 0.0 || b <= 0.0 {
        return Err(NoAnswer::TooFew { needed: values.len() + 1, got: values.len() });
    }
    // Around a centre, so that no large squares are subtracted from each other.
    let centre = crate::data::average(values);
    let centred: Vec<f64> = values.iter().map(|value| value - centre).collect();
    let (first, second) = weighted(&centred, a, b, |value| (value, value * value));
    Ok((second - first * first).max(0.0).sqrt())
}

/// The quantile `share` of `values` as a weighted mean of all of them (Harrell and Davis 1982):
/// smoother than an order statistic.
///
/// # Errors
/// No values, one that is not finite, or a share that is not strictly between 0 and 1.
pub fn harrell_davis(values: &[f64], share: f64) -> Result<f64, NoAnswer> {
    enough(values, 1)?;
    if !(share > 0.0 && share < 1.0) {
        return Err(NoAnswer::NotFinite);
    }
    let next = values.len() as f64 + 1.0;
    Ok(weighted(values, next * share, next * (1.0 - share), |value| (value, 0.0)).0)
}

/// Sums over the ordered values, weighted by a beta distribution over their ranks.
fn weighted(values: &[f64], a: f64, b: f64, of: impl Fn(f64) -> (f64, f64)) -> (f64, f64) {
    let n = values.len() as f64;
    let (mut before, mut sums) = (0.0, (0.0, 0.0));
    for (value, rank) in sorted(values).into_iter().zip(1..) {
        let upto = beta_reg(a, b, (f64::from(rank) / n).min(1.0));
        let (first, second) = of(value);
        sums = (sums.0 + (upto - before) * first, sums.1 + (upto - before) * second);
        before = upto;
    }
    sums
}

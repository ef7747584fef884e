//! Series in time: memory of the past, warm-up, drift.

use crate::data::{NoAnswer, average, enough, is_constant, possible};
use crate::descriptive::quantile;
use crate::estimate::normal_upper_tail;

/// Autocorrelation of lags 0 to `lag_max`, with the divisor n at every lag.
///
/// # Errors
/// Fewer than two values, one that is not finite, or all equal.
pub fn autocorrelation(series: &[f64], lag_max: usize) -> Result<Vec<f64>, NoAnswer> {
    enough(series, 2)?;
    if is_constant(series) {
        return Err(NoAnswer::Constant);
    }
    let mean = average(series);
    let off: Vec<f64> = series.iter().map(|value| value - mean).collect();
    let product = |lag: usize| off.iter().zip(&off[lag..]).map(|(a, b)| a * b).sum::<f64>();
    let whole = product(0);
    Ok((0..=lag_max.min(series.len() - 1)).map(|lag| product(lag) / whole).collect())
}

/// Von Neumann's ratio (1941): about 2 where neighbours do not know of each other.
///
/// # Errors
/// Fewer than two values, one that is not finite, or all equal.
pub fn von_neumann(series: &[f64]) -> Result<f64, NoAnswer> {
    enough(series, 2)?;
    if is_constant(series) {
        return Err(NoAnswer::Constant);
    }
    let mean = average(series);
    let steps: f64 = series.windows(2).map(|pair| (pair[1] - pair[0]).powi(2)).sum();
    Ok(steps / series.iter().map(|value| (value - mean).powi(2)).sum::<f64>())
}

/// Where a series has warmed up.
#[derive(Clone, Debug, PartialEq)]
pub struct WarmUp {
    /// Batches of the series.
    pub batches: usize,
    /// Batches to leave out.
    pub batches_cut: usize,
    /// Values to leave out.
    pub values_cut: usize,
    /// The statistic for each number of batches left out, from 0 to half of them.
    pub statistic: Vec<f64>,
    /// Mean of what remains; a rest that fills no batch is left out at the end.
    pub mean: f64,
    /// The least statistic lies at half of the series: it had not settled, and must go on.
    pub is_unsettled: bool,
}

/// Where the warm-up of a series ends, by the marginal standard error rule on batches of
/// `batch_length` (MSER-5 with 5; White, Cobb and Spratt 2000).
///
/// # Errors
/// Fewer than two batches, or a value that is not finite.
pub fn warm_up(series: &[f64], batch_length: usize) -> Result<WarmUp, NoAnswer> {
    enough(series, 2 * batch_length.max(1))?;
    let means: Vec<f64> = series.chunks_exact(batch_length.max(1)).map(average).collect();
    let count = means.len();
    let statistic: Vec<f64> = (0..=count / 2).map(|cut| marginal_error(&means[cut..])).collect();
    let least = statistic.iter().copied().fold(f64::INFINITY, f64::min);
    let batches_cut = statistic.iter().position(|value| *value == least).unwrap_or(0);
    Ok(WarmUp {
        batches: count,
        batches_cut,
        values_cut: batches_cut * batch_length.max(1),
        mean: average(&means[batches_cut..]),
        is_unsettled: batches_cut == count / 2,
        statistic,
    })
}

fn marginal_error(means: &[f64]) -> f64 {
    let mean = average(means);
    let squares: f64 = means.iter().map(|value| (value - mean).powi(2)).sum();
    squares / (means.len() as f64).powi(2)
}

/// A trend over the order of measurement.
#[derive(Clone, Copy, Debug, PartialEq)]
pub struct Trend {
    /// Pairs that rise less pairs that fall.
    pub s: f64,
    /// Variance of `s` without a trend.
    pub variance: f64,
    /// Standardised `s`, corrected for continuity.
    pub z: f64,
    /// Two-sided p-value; never 0.
    pub p: f64,
    /// Median of all slopes between two values, in the unit of the data per step (Theil 1950, Sen
    /// 1968).
    pub slope: f64,
}

/// Mann and Kendall's test of a trend (1945, 1975), with the correction for ties. Looks at all
/// pairs: meant for rounds and repetitions, not for the I/Os of a run.
///
/// # Errors
/// Fewer than three values, one that is not finite, or all equal.
pub fn trend(series: &[f64]) -> Result<Trend, NoAnswer> {
    enough(series, 3)?;
    let n = series.len();
    let pairs = || (0..n).flat_map(|a| (a + 1..n).map(move |b| (a, b)));
    let sign = |a: f64, b: f64| f64::from(i8::from(b > a) - i8::from(b < a));
    let s: f64 = pairs().map(|(a, b)| sign(series[a], series[b])).sum();
    let slopes: Vec<f64> = pairs().map(|(a, b)| (series[b] - series[a]) / (b - a) as f64).collect();
    let weight = |n: f64| n * (n - 1.0) * (2.0 * n + 5.0);
    let ordered = crate::data::sorted(series);
    let ties: f64 = ordered.chunk_by(|a, b| a == b).map(|group| weight(group.len() as f64)).sum();
    let variance = (weight(n as f64) - ties) / 18.0;
    if variance <= 0.0 {
        return Err(NoAnswer::Constant);
    }
    let z = (s.abs() - 1.0).max(0.0) * s.signum() / variance.sqrt();
    let p = possible(2.0 * normal_upper_tail(z.abs()));
    Ok(Trend { s, variance, z, p, slope: quantile(&slopes, 0.5)? })
}

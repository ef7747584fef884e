//! The mean of a correlated series, with an interval that admits the correlation.
//!
//! Samples of one run (say, IOPS per second) depend on their predecessors, so the plain interval
//! is too narrow: twice for the lag-1 correlation 0.6. Means of long enough batches do not.

use serde::{Deserialize, Serialize};

use crate::data::variance;
use crate::estimate::{Estimate, mean, student_t};
use crate::series::von_neumann;

const BATCHES_MIN: usize = 10;
const BATCHES_MAX: usize = 30;

/// The one-sided 5 % point of the normal distribution.
const NORMAL_UPPER_5_PERCENT: f64 = 1.644_853_626_951_472_7;

/// The mean of a series by the method of batch means. Lengths are in samples.
#[derive(Clone, Copy, Debug, PartialEq, Serialize, Deserialize)]
pub struct BatchMeans {
    /// Mean of the whole series, in its unit.
    pub mean: f64,
    /// Lower end of the 95 % interval; `None` when the data give none.
    pub low: Option<f64>,
    /// Upper end of the 95 % interval; `None` when the data give none.
    pub high: Option<f64>,
    /// The number of independent samples that the series is worth, at most its length; `None`
    /// when there is no interval.
    pub effective_sample_size: Option<f64>,
    /// Length of the series.
    pub samples: u64,
    /// Number of batches; 0 when the series is too short for 10.
    pub batches: u64,
    /// Samples per batch. What does not fill a batch is left out at the beginning of the series,
    /// where a rest of warm-up would be; only the mean has it.
    pub batch_length: u64,
    /// Von Neumann's ratio of the batch means: 2 when they are independent, below when neighbours
    /// are alike; `None` without batches or when they are all equal.
    pub von_neumann_ratio: Option<f64>,
}

impl BatchMeans {
    /// The mean with its interval; `n` is the number of batches, the independent repeats.
    pub fn estimate(&self) -> Estimate {
        Estimate { value: self.mean, low: self.low, high: self.high, n: self.batches }
    }
}

/// The mean of `series`, in time order, with batches as short as independence allows.
///
/// Begins with at most 30 batches and lengthens them until von Neumann's ratio of the batch means
/// no longer shows correlation (Fishman 1978; see [`BatchMeans::von_neumann_ratio`]). There is no
/// interval when fewer than 10 batches are possible, when 10 batches are still correlated, or when
/// all batch means are equal. `None` when `series` is empty or not finite.
pub fn batch_means(series: &[f64]) -> Option<BatchMeans> {
    let longest = series.len() / BATCHES_MIN;
    let shortest = series.len().div_ceil(BATCHES_MAX);
    if longest == 0 {
        return batch_means_of_length(series, 0);
    }
    let mut result = batch_means_of_length(series, shortest)?;
    for batch_length in shortest + 1..=longest {
        if result.is_independent() {
            return Some(result);
        }
        result = batch_means_of_length(series, batch_length)?;
    }
    if !result.is_independent() {
        (result.low, result.high, result.effective_sample_size) = (None, None, None);
    }
    Some(result)
}

/// The mean of `series` with batches of `batch_length` samples, whatever their correlation.
///
/// `mean ± t(k−1) · s_b/√k` for k batches, and the effective sample size `n·s²/(b·s_b²)` (Law &
/// Kelton). Without interval when there are fewer than two batches or when their means are equal.
/// `None` when `series` is empty or not finite.
pub fn batch_means_of_length(series: &[f64], batch_length: usize) -> Option<BatchMeans> {
    let total_mean = mean(series)?;
    let batches = series.len().checked_div(batch_length).unwrap_or(0);
    let filled = &series[series.len() - batches * batch_length..];
    let means: Vec<f64> = filled.chunks_exact(batch_length.max(1)).filter_map(mean).collect();
    let spread = Estimate::mean_of(&means);
    let mut result = BatchMeans {
        mean: total_mean,
        low: None,
        high: None,
        effective_sample_size: None,
        samples: series.len() as u64,
        batches: batches as u64,
        batch_length: batch_length as u64,
        von_neumann_ratio: None,
    };
    // The interval of the batch means decides whether they differ by more than rounding.
    let Some((low, high)) = spread.and_then(|spread| spread.low.zip(spread.high)) else {
        return Some(result);
    };
    let quantile = student_t(batches as f64 - 1.0)?;
    let half_width = (high - low) / 2.0;
    let batch_variance = (half_width / quantile).powi(2) * batches as f64;
    let samples = series.len() as f64;
    let worth = samples * variance(series) / (batch_length as f64 * batch_variance);
    result.low = Some(total_mean - half_width);
    result.high = Some(total_mean + half_width);
    result.effective_sample_size = Some(worth.min(samples));
    result.von_neumann_ratio = von_neumann(&means).ok();
    Some(result)
}

impl BatchMeans {
    /// Whether 2 lies within reach of the ratio: under independence `1 − ratio/2` is about normal
    /// with variance `(k−2)/(k²−1)` (Young 1941). One-sided, because alternating batches only make
    /// the interval wider than needed.
    fn is_independent(&self) -> bool {
        let Some(ratio) = self.von_neumann_ratio else { return true };
        let batches = self.batches as f64;
        let deviation = ((batches - 2.0) / (batches * batches - 1.0)).sqrt();
        1.0 - ratio / 2.0 <= NORMAL_UPPER_5_PERCENT * deviation
    }
}

/// The number of independent samples that `series`, in time order, is worth: at most its length.
///
/// `n/τ` with `τ = 2·ΣΓ − 1`, where Γ are the sums of neighbouring autocorrelations (divisor n),
/// made monotone, up to the first that is not positive (Geyer 1992). `None` when the series is
/// shorter than 4, constant or not finite.
pub fn effective_sample_size_geyer(series: &[f64]) -> Option<f64> {
    let center = mean(series)?;
    let deviations: Vec<f64> = series.iter().map(|value| value - center).collect();
    let lagged = |lag: usize| -> f64 {
        deviations.iter().zip(&deviations[lag..]).map(|(early, late)| early * late).sum()
    };
    let total = lagged(0);
    let is_constant = total <= (8.0 * f64::EPSILON * center).powi(2) * series.len() as f64;
    if series.len() < 4 || is_constant {
        return None;
    }
    let (mut sum, mut bound) = (0.0, f64::INFINITY);
    for pair in 0..series.len() / 2 {
        let gamma = (lagged(2 * pair) + lagged(2 * pair + 1)) / total;
        if gamma <= 0.0 {
            break;
        }
        bound = gamma.min(bound);
        sum += bound;
    }
    let tau = (2.0 * sum - 1.0).max(1.0);
    Some(series.len() as f64 / tau)
}

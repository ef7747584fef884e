//! What a sample is like: centre, spread, quartiles, fences.

use crate::data::{NoAnswer, average, enough, is_constant, sorted, variance};
use crate::estimate::student_t_at;

/// Makes the median absolute deviation of normal data equal to its standard deviation.
const MAD_TO_DEVIATION: f64 = 1.482_602_218_505_602;

/// A description of a sample. All in the unit of the data but `cv`, a share of the mean.
#[derive(Clone, Copy, Debug, PartialEq)]
pub struct Description {
    /// How many values.
    pub n: usize,
    /// Arithmetic mean.
    pub mean: f64,
    /// Standard deviation with n − 1; `None` for one value.
    pub deviation: Option<f64>,
    /// Least.
    pub min: f64,
    /// First quartile, like all quantiles here of Hyndman and Fan's type 7 (1996).
    pub q1: f64,
    /// Median.
    pub median: f64,
    /// Third quartile.
    pub q3: f64,
    /// Greatest.
    pub max: f64,
    /// Median of the absolute distances from the median.
    pub mad: f64,
    /// Geometric mean; `None` unless all values are above zero.
    pub geometric_mean: Option<f64>,
    /// Harmonic mean; `None` unless all values are above zero.
    pub harmonic_mean: Option<f64>,
}

impl Description {
    /// Describes `values`.
    ///
    /// # Errors
    /// No values, or one that is not finite.
    pub fn of(values: &[f64]) -> Result<Self, NoAnswer> {
        enough(values, 1)?;
        let ordered = sorted(values);
        let median = quantile_sorted(&ordered, 0.5);
        let distances: Vec<f64> = values.iter().map(|value| (value - median).abs()).collect();
        let n = values.len();
        let logs = crate::data::logarithms(values).ok();
        let inverses = || values.iter().map(|value| 1.0 / value).sum::<f64>();
        Ok(Self {
            n,
            mean: average(values),
            deviation: (n > 1).then(|| variance(values).sqrt()),
            min: ordered[0],
            q1: quantile_sorted(&ordered, 0.25),
            median,
            q3: quantile_sorted(&ordered, 0.75),
            max: ordered[n - 1],
            mad: quantile_sorted(&sorted(&distances), 0.5),
            harmonic_mean: logs.is_some().then(|| n as f64 / inverses()),
            geometric_mean: logs.map(|logs| libm::exp(average(&logs))),
        })
    }

    /// Coefficient of variation: deviation by mean.
    pub fn cv(&self) -> Option<f64> {
        self.deviation.filter(|_| self.mean != 0.0).map(|deviation| deviation / self.mean.abs())
    }

    /// Standard error of the mean.
    pub fn standard_error(&self) -> Option<f64> {
        self.deviation.map(|deviation| deviation / (self.n as f64).sqrt())
    }

    /// The median absolute deviation, scaled to be the standard deviation of normal data.
    pub fn mad_scaled(&self) -> f64 {
        self.mad * MAD_TO_DEVIATION
    }

    /// What lies outside is an outlier: quartiles ∓ `reach` times their distance (Tukey 1977; 1.5
    /// for mild, 3 for severe).
    pub fn fences(&self, reach: f64) -> (f64, f64) {
        let between = self.q3 - self.q1;
        (self.q1 - reach * between, self.q3 + reach * between)
    }
}

/// The quantile `share` of `values`, linear between neighbours (Hyndman and Fan's type 7).
///
/// # Errors
/// No values, or one that is not finite.
pub fn quantile(values: &[f64], share: f64) -> Result<f64, NoAnswer> {
    enough(values, 1)?;
    Ok(quantile_sorted(&sorted(values), share))
}

pub(crate) fn quantile_sorted(ordered: &[f64], share: f64) -> f64 {
    let position = share.clamp(0.0, 1.0) * (ordered.len() - 1) as f64;
    let below = position as usize;
    let above = (below + 1).min(ordered.len() - 1);
    ordered[below] + (position - below as f64) * (ordered[above] - ordered[below])
}

/// Student's interval of the mean at `level` (0.95: 95 %), as low and high end.
///
/// # Errors
/// Fewer than two values, one that is not finite, or all equal.
pub fn mean_interval(values: &[f64], level: f64) -> Result<(f64, f64), NoAnswer> {
    enough(values, 2)?;
    if is_constant(values) {
        return Err(NoAnswer::Constant);
    }
    let n = values.len() as f64;
    let half_width = student_t_at(n - 1.0, level) * (variance(values) / n).sqrt();
    Ok((average(values) - half_width, average(values) + half_width))
}

//! What data must be like before anything is said of them.

use std::fmt;

/// Why numbers give no answer.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum NoAnswer {
    /// Fewer values than the method can work with.
    TooFew {
        /// The least that it needs.
        needed: usize,
        /// What there was.
        got: usize,
    },
    /// A value is NaN or infinite.
    NotFinite,
    /// A value is zero or negative where its logarithm is needed.
    NotPositive,
    /// All values are equal, so that nothing is known of how they vary.
    Constant,
    /// The denominator of a ratio may be zero: its interval has no end.
    Unbounded,
}

impl fmt::Display for NoAnswer {
    fn fmt(&self, text: &mut fmt::Formatter<'_>) -> fmt::Result {
        match self {
            Self::TooFew { needed, got } => {
                write!(text, "{got} values, and at least {needed} are needed")
            }
            Self::NotFinite => text.write_str("a value is not a finite number"),
            Self::NotPositive => text.write_str("a value is not above zero, so it has no ratio"),
            Self::Constant => text.write_str("all values are equal, so their noise is unknown"),
            Self::Unbounded => {
                text.write_str("the baseline is not clearly above zero, so no ratio is bounded")
            }
        }
    }
}

impl std::error::Error for NoAnswer {}

/// At least `needed` values, all finite.
pub(crate) fn enough(values: &[f64], needed: usize) -> Result<(), NoAnswer> {
    if values.len() < needed {
        return Err(NoAnswer::TooFew { needed, got: values.len() });
    }
    match values.iter().all(|value| value.is_finite()) {
        true => Ok(()),
        false => Err(NoAnswer::NotFinite),
    }
}

/// Natural logarithms of values that are all above zero.
pub(crate) fn logarithms(values: &[f64]) -> Result<Vec<f64>, NoAnswer> {
    enough(values, 1)?;
    match values.iter().all(|value| *value > 0.0) {
        true => Ok(values.iter().map(|value| libm::log(*value)).collect()),
        false => Err(NoAnswer::NotPositive),
    }
}

pub(crate) fn sorted(values: &[f64]) -> Vec<f64> {
    let mut sorted = values.to_vec();
    sorted.sort_by(f64::total_cmp);
    sorted
}

/// The arithmetic mean of values that are there.
pub(crate) fn average(values: &[f64]) -> f64 {
    values.iter().sum::<f64>() / values.len() as f64
}

/// The variance with n − 1.
pub(crate) fn variance(values: &[f64]) -> f64 {
    let mean = average(values);
    let squares: f64 = values.iter().map(|value| (value - mean) * (value - mean)).sum();
    squares / (values.len() as f64 - 1.0)
}

/// Whether values differ by no more than rounding does.
pub(crate) fn is_constant(values: &[f64]) -> bool {
    let (low, high) = values
        .iter()
        .fold((f64::INFINITY, f64::NEG_INFINITY), |(low, high), x| (low.min(*x), high.max(*x)));
    high - low <= 16.0 * f64::EPSILON * low.abs().max(high.abs())
}

/// A probability that is never exactly zero: "impossible" is no finding.
pub(crate) fn possible(probability: f64) -> f64 {
    probability.clamp(f64::MIN_POSITIVE, 1.0)
}

/// C(n, k) in floating point; infinite beyond its range.
pub(crate) fn binomial_coefficient(n: usize, k: usize) -> f64 {
    let k = k.min(n - k);
    (0..k).fold(1.0, |product, i| product * (n - i) as f64 / (i + 1) as f64)
}

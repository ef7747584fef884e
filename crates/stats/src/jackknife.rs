//! Intervals of figures that are formed of several cells, such as a ratio of ratios.

use crate::data::NoAnswer;
use crate::estimate::{Estimate, student_t};

/// What one repetition counted: times, operations, whatever the figure is formed of.
pub type Counts = Vec<f64>;

/// A figure of the sums of several samples of repetitions, with its 95 % interval.
///
/// The samples are independent of each other, and so are the repetitions of each. Every repetition
/// is left out once (Tukey 1958; several samples: Arvesen 1969), and the variances of the samples
/// add up with Satterthwaite's degrees of freedom (1946). A figure is not formed of the repetitions
/// and averaged: where one holds few rare events, that would not be the figure of the whole.
/// The interval of a positive figure is laid on its logarithm (delta method).
/// Without interval where a sample has fewer than two repetitions, or where all are equal.
///
/// # Errors
/// An empty sample, samples of uneven counts, or a figure that is not finite, whole or with one
/// repetition left out.
pub fn jackknife(
    samples: &[&[Counts]],
    figure: impl Fn(&[Counts]) -> f64,
) -> Result<Estimate, NoAnswer> {
    let (estimate, half_width) = with_half_width(samples, figure)?;
    // A positive figure lies as far from either end as a factor: it cannot be negative.
    let end = |sign: f64| {
        half_width.map(|half| match estimate.value > 0.0 {
            true => estimate.value * libm::exp(sign * half / estimate.value),
            false => estimate.value + sign * half,
        })
    };
    Ok(Estimate { low: end(-1.0), high: end(1.0), ..estimate })
}

/// The same for a figure that is a difference and can have either sign: its interval lies equally
/// far to both sides, and may hold 0.
///
/// # Errors
/// As [`jackknife`].
pub fn jackknife_difference(
    samples: &[&[Counts]],
    figure: impl Fn(&[Counts]) -> f64,
) -> Result<Estimate, NoAnswer> {
    let (estimate, half_width) = with_half_width(samples, figure)?;
    let end = |sign: f64| half_width.map(|half| estimate.value + sign * half);
    Ok(Estimate { low: end(-1.0), high: end(1.0), ..estimate })
}

/// The figure, and half the width of its interval where it has one.
fn with_half_width(
    samples: &[&[Counts]],
    figure: impl Fn(&[Counts]) -> f64,
) -> Result<(Estimate, Option<f64>), NoAnswer> {
    let sums: Vec<Counts> = samples.iter().map(|sample| sum(sample)).collect::<Result<_, _>>()?;
    let finite = |value: f64| if value.is_finite() { Ok(value) } else { Err(NoAnswer::NotFinite) };
    let value = finite(figure(&sums))?;
    let n = samples.iter().map(|sample| sample.len()).min().unwrap_or(0) as u64;
    if n < 2 {
        return Ok((Estimate::point(value, n), None));
    }
    let (mut variance, mut squares) = (0.0, 0.0);
    for (place, sample) in samples.iter().enumerate() {
        let without = |left_out: &Counts| {
            let mut sums = sums.clone();
            sums[place].iter_mut().zip(left_out).for_each(|(sum, count)| *sum -= count);
            finite(figure(&sums))
        };
        let values: Vec<f64> = sample.iter().map(without).collect::<Result<_, _>>()?;
        let freedom = values.len() as f64 - 1.0;
        let mean = values.iter().sum::<f64>() / values.len() as f64;
        let spread: f64 = values.iter().map(|value| (value - mean) * (value - mean)).sum();
        let of_sample = spread * freedom / values.len() as f64;
        variance += of_sample;
        squares += of_sample * of_sample / freedom;
    }
    let error = variance.sqrt();
    // Equal repetitions leave differences of rounding.
    if error <= 1e-12 * value.abs() || squares <= 0.0 {
        return Ok((Estimate::point(value, n), None));
    }
    let freedom = (variance * variance / squares).max(1.0);
    let half_width = student_t(freedom).map(|quantile| quantile * error);
    Ok((Estimate::point(value, n), half_width))
}

fn sum(sample: &[Counts]) -> Result<Counts, NoAnswer> {
    let Some(first) = sample.first() else { return Err(NoAnswer::TooFew { needed: 1, got: 0 }) };
    if sample.iter().any(|counts| counts.len() != first.len()) {
        return Err(NoAnswer::NotFinite);
    }
    let column = |place: usize| sample.iter().map(|counts| counts[place]).sum();
    Ok((0..first.len()).map(column).collect())
}

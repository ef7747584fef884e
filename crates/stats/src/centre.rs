//! One number for several repetitions, in a form that can be compared.

use crate::data::NoAnswer;

/// Repetitions given as `(count, seconds)`, as one positive number each, whose geometric mean is
/// the centre: all counts by all seconds. They vary as the logarithm of the centre does when each
/// repetition is left out once (the jackknife's pseudo-values, Tukey 1958, moved to that mean), or
/// by the delta method where all but one counted nothing. With equal times and little noise they
/// are the rates.
///
/// So a comparison of their logarithms ([`crate::judge`]) is one of the centres themselves. Times
/// are skewed, and the rarest p-values of skewed values come out too small: families of 37 cells
/// without a change, of 20 repetitions with 60 % of noise, held a false alarm in 6.9 of 100. So the
/// spread is widened by a sixteenth of the noise squared (by simulation): 2.7 % there, and 0.06 %
/// where noise is 10 %.
///
/// # Errors
/// No repetition, a number that is not finite, a negative count, a time that is not positive, or
/// nothing counted at all.
pub fn centred(repeats: &[(f64, f64)]) -> Result<Vec<f64>, NoAnswer> {
    if repeats.is_empty() {
        return Err(NoAnswer::TooFew { needed: 1, got: 0 });
    }
    let (count, seconds) = repeats.iter().fold((0.0, 0.0), |(c, s), it| (c + it.0, s + it.1));
    let rate = count / seconds;
    if !rate.is_finite() {
        return Err(NoAnswer::NotFinite);
    }
    if rate <= 0.0 || repeats.iter().any(|it| it.0 < 0.0 || it.1 <= 0.0) {
        return Err(NoAnswer::NotPositive);
    }
    let n = repeats.len() as f64;
    let without = |it: &(f64, f64)| (count - it.0) / (seconds - it.1);
    let is_one = |it: &(f64, f64)| count - it.0 <= 1e-9 * count || seconds - it.1 <= 0.0;
    let off: Vec<f64> = match repeats.iter().any(is_one) {
        true => repeats.iter().map(|it| (it.0 - rate * it.1) * n / count).collect(),
        false => repeats.iter().map(|it| -(n - 1.0) * libm::log(without(it) / rate)).collect(),
    };
    let mean = crate::data::average(&off);
    let spread: f64 = off.iter().map(|off| (off - mean).powi(2)).sum::<f64>() / n;
    let skewed = 1.0 + spread / 16.0;
    Ok(off.iter().map(|off| rate * libm::exp(skewed * (off - mean))).collect())
}

/// `values`, one of each repetition, moved together so that their geometric mean is `centre`: for
/// figures such as percentiles, whose centre is formed of what all repetitions recorded.
///
/// # Errors
/// No value, or one, or a centre, that is not finite and above zero.
pub fn centred_at(values: &[f64], centre: f64) -> Result<Vec<f64>, NoAnswer> {
    let logs = crate::data::logarithms(values)?;
    let centre = crate::data::logarithms(&[centre])?[0];
    let mean = crate::data::average(&logs);
    Ok(logs.iter().map(|log| libm::exp(log - mean + centre)).collect())
}

//! How often something happens in a minute, from how often it was seen to happen.

use crate::estimate::Estimate;
use statrs::distribution::{ContinuousCDF, Gamma};

/// The exact 95 % interval of the mean of a Poisson count (Garwood 1936): its low end from the
/// gamma distribution of shape `count`, its high end from that of shape `count + 1`. The count may
/// be a fraction, as of events that come in clumps.
///
/// ```
/// // Nothing was seen: that is no proof of nothing.
/// let (low, high) = drivelab_stats::poisson_interval(0.0);
/// assert_eq!(low, 0.0);
/// assert!((3.68..3.70).contains(&high));
/// ```
pub fn poisson_interval(count: f64) -> (f64, f64) {
    let quantile = |shape: f64, share: f64| {
        let gamma = Gamma::new(shape, 1.0);
        gamma.map_or(f64::NAN, |gamma| gamma.inverse_cdf(share))
    };
    let low = if count > 0.0 { quantile(count, 0.025) } else { 0.0 };
    (low, quantile(count.max(0.0) + 1.0, 0.975))
}

/// Events a second, from repetitions given as `(events, seconds)`.
///
/// The interval is the exact one of a Poisson count where the repetitions vary as such counts do.
/// Where they vary more, events come in clumps, and it is that of as many clumps as vary so much:
/// count and time are divided by the dispersion, Pearson's χ² by its degrees of freedom
/// (McCullagh and Nelder 1989, §6.2.3). `None` without repetitions or time.
pub fn event_rate(repetitions: &[(u64, f64)]) -> Option<Estimate> {
    let seconds: f64 = repetitions.iter().map(|(_, seconds)| seconds).sum();
    let is_time = repetitions.iter().all(|(_, seconds)| *seconds > 0.0 && seconds.is_finite());
    if repetitions.is_empty() || !is_time {
        return None;
    }
    let events: u64 = repetitions.iter().map(|(events, _)| events).sum();
    let rate = events as f64 / seconds;
    let clump = dispersion(repetitions, rate).max(1.0);
    let (low, high) = poisson_interval(events as f64 / clump);
    let scale = clump / seconds;
    Some(Estimate {
        value: rate,
        low: Some(low * scale),
        high: Some(high * scale),
        n: repetitions.len() as u64,
    })
}

/// Pearson's χ² by its degrees of freedom; 1 where there are none.
fn dispersion(repetitions: &[(u64, f64)], rate: f64) -> f64 {
    let freedom = repetitions.len() as f64 - 1.0;
    if freedom < 1.0 || rate <= 0.0 {
        return 1.0;
    }
    let squares = repetitions.iter().map(|(events, seconds)| {
        let expected = rate * seconds;
        (*events as f64 - expected) * (*events as f64 - expected) / expected
    });
    squares.sum::<f64>() / freedom
}

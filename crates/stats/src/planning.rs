//! How many repetitions an answer takes.

use crate::data::{NoAnswer, average, enough, variance};
use crate::descriptive::mean_interval;
use crate::estimate::{normal_quantile, student_t_at};

/// Repetitions below which no plan goes.
const REPETITIONS_MIN: f64 = 5.0;
/// The power that plans are made for.
const POWER: f64 = 0.8;

/// Repetitions until the interval of a mean reaches `share` of it to each side, with the normal
/// quantile `z` (Jain 1991, §13.9).
pub fn repetitions_for_mean(mean: f64, deviation: f64, share: f64, z: f64) -> u64 {
    whole(libm::pow(z * deviation / (share * mean), 2.0), 1.0)
}

/// Repetitions a side to see a change by the share `delta` with a power of 80 %, where values vary
/// by `cv` (coefficient of variation), on the scale of logarithms and at the two-sided level
/// `alpha`.
pub fn repetitions_to_detect(cv: f64, delta: f64, alpha: f64) -> u64 {
    let z = normal_quantile(1.0 - alpha / 2.0) + normal_quantile(POWER);
    whole(2.0 * libm::pow(z * cv / libm::log1p(delta), 2.0), REPETITIONS_MIN)
}

/// Repetitions a side to show at the one-sided level `alpha` that nothing changed by more than the
/// share `delta`, with a power of 80 % where nothing did.
pub fn repetitions_for_equivalence(cv: f64, delta: f64, alpha: f64) -> u64 {
    let z = normal_quantile(1.0 - alpha) + normal_quantile(1.0 - (1.0 - POWER) / 2.0);
    whole(2.0 * libm::pow(z * cv / -libm::log1p(-delta), 2.0), REPETITIONS_MIN)
}

fn whole(count: f64, least: f64) -> u64 {
    // Beyond exact numbers nobody waits.
    count.ceil().clamp(least, 9e15) as u64
}

/// Half of the interval of the mean as a share of the mean, after each value from the third on:
/// what a sequential experiment looks at. The look is at a width, never at a p-value.
///
/// # Errors
/// A value that is not finite, or fewer than three.
pub fn half_widths(values: &[f64], level: f64) -> Result<Vec<Option<f64>>, NoAnswer> {
    enough(values, 3)?;
    let upto = |n: usize| {
        let (low, high) = mean_interval(&values[..n], level).ok()?;
        Some((high - low) / 2.0 / average(&values[..n]).abs())
    };
    Ok((3..=values.len()).map(upto).collect())
}

/// After how many values, `n_min` at least, the interval of the mean is as narrow as `target`, a
/// share of the mean to each side; `None`: not yet.
///
/// # Errors
/// As [`half_widths`].
pub fn stops_at(values: &[f64], target: f64, n_min: usize) -> Result<Option<usize>, NoAnswer> {
    let widths = half_widths(values, 0.95)?;
    let enough = |(n, width): (usize, Option<f64>)| {
        (n >= n_min && width.is_some_and(|width| width <= target)).then_some(n)
    };
    Ok((3..).zip(widths).find_map(enough))
}

/// Repetitions on two levels: rounds within cycles (Kalibera and Jones 2013).
#[derive(Clone, Copy, Debug, PartialEq)]
pub struct TwoLevels {
    /// Mean of everything.
    pub mean: f64,
    /// Its 95 % interval, from the means of the cycles alone.
    pub low: f64,
    /// Upper end of the 95 % interval.
    pub high: f64,
    /// Variance of rounds within a cycle.
    pub within: f64,
    /// Variance of the means of cycles.
    pub of_means: f64,
    /// Variance of cycles themselves, what rounds cannot explain; it may come out below zero.
    pub between: f64,
}

impl TwoLevels {
    /// Analyses cycles of equally many rounds.
    ///
    /// # Errors
    /// Fewer than two cycles, cycles of fewer than two or of unequally many rounds, or a value that
    /// is not finite.
    pub fn of(cycles: &[Vec<f64>]) -> Result<Self, NoAnswer> {
        if cycles.len() < 2 {
            return Err(NoAnswer::TooFew { needed: 2, got: cycles.len() });
        }
        let rounds = cycles[0].len();
        for cycle in cycles {
            enough(cycle, rounds.max(2))?;
            if cycle.len() > rounds {
                return Err(NoAnswer::TooFew { needed: cycle.len(), got: rounds });
            }
        }
        let means: Vec<f64> = cycles.iter().map(|cycle| average(cycle)).collect();
        let variances: Vec<f64> = cycles.iter().map(|cycle| variance(cycle)).collect();
        let (within, of_means) = (average(&variances), variance(&means));
        let mean = average(&means);
        let count = means.len() as f64;
        let half_width = student_t_at(count - 1.0, 0.95) * (of_means / count).sqrt();
        let between = of_means - within / rounds as f64;
        let (low, high) = (mean - half_width, mean + half_width);
        Ok(Self { mean, low, high, within, of_means, between })
    }

    /// Rounds a cycle that give the narrowest interval for the time, where a round costs
    /// `round_seconds` and a cycle `cycle_seconds` besides; `None` where cycles do not differ.
    pub fn best_rounds(&self, round_seconds: f64, cycle_seconds: f64) -> Option<u64> {
        (self.between > 0.0).then(|| {
            let rounds = (cycle_seconds / round_seconds * self.within / self.between).sqrt();
            whole(rounds, 1.0)
        })
    }
}

//! Whether a drive has reached a steady state: the criterion of SNIA's performance test
//! specification.

use crate::data::{NoAnswer, average, enough};

/// Rounds of a measurement window.
pub const WINDOW_ROUNDS: usize = 5;
/// Least and greatest of a window may differ by this share of its mean.
pub const RANGE_MAX: f64 = 0.20;
/// The best line may change over a window by this share of its mean.
pub const SLOPE_MAX: f64 = 0.10;

/// One measurement window, judged by PTS 2.0.2, section 2.1.24. Rounds are counted from 1.
#[derive(Clone, Copy, Debug, PartialEq)]
pub struct Window {
    /// The round that ends it.
    pub last_round: usize,
    /// Mean of its rounds.
    pub mean: f64,
    /// Greatest less least.
    pub range: f64,
    /// Slope of the best line, per round.
    pub slope: f64,
    /// Value of that line at round 0.
    pub intercept: f64,
    /// What that line changes over the window.
    pub slope_excursion: f64,
    /// Correlation of value and round; `None` when all values are equal.
    pub correlation: Option<f64>,
}

impl Window {
    /// Judges `values`, the first of which belongs to `first_round`.
    ///
    /// # Errors
    /// Fewer than two values, or one that is not finite.
    pub fn of(values: &[f64], first_round: usize) -> Result<Self, NoAnswer> {
        enough(values, 2)?;
        let mean = average(values);
        let rounds = values.len() as f64;
        let middle = first_round as f64 + (rounds - 1.0) / 2.0;
        let off = |index: usize| (first_round + index) as f64 - middle;
        let indexed = || values.iter().enumerate();
        let across: f64 = indexed().map(|(index, _)| off(index).powi(2)).sum();
        let together: f64 = indexed().map(|(index, value)| off(index) * (value - mean)).sum();
        let squares: f64 = values.iter().map(|value| (value - mean).powi(2)).sum();
        let slope = together / across;
        let least = values.iter().copied().fold(f64::INFINITY, f64::min);
        let greatest = values.iter().copied().fold(f64::NEG_INFINITY, f64::max);
        Ok(Self {
            last_round: first_round + values.len() - 1,
            mean,
            range: greatest - least,
            slope,
            intercept: mean - slope * middle,
            slope_excursion: slope.abs() * (rounds - 1.0),
            correlation: (greatest > least).then(|| together / (across * squares).sqrt()),
        })
    }

    /// The largest range that is allowed.
    pub fn range_allowed(&self) -> f64 {
        RANGE_MAX * self.mean
    }

    /// The largest change of the best line that is allowed.
    pub fn slope_excursion_allowed(&self) -> f64 {
        SLOPE_MAX * self.mean
    }

    /// Whether the range is within what is allowed; exactly at the limit it is.
    pub fn is_range_met(&self) -> bool {
        self.range <= self.range_allowed()
    }

    /// Whether the change of the best line is within what is allowed.
    pub fn is_slope_met(&self) -> bool {
        self.slope_excursion <= self.slope_excursion_allowed()
    }

    /// Whether both are.
    pub fn is_steady(&self) -> bool {
        self.is_range_met() && self.is_slope_met()
    }
}

/// The windows of a series of rounds, the first of which is round 1.
///
/// # Errors
/// Fewer rounds than a window has, or a value that is not finite.
pub fn windows(rounds: &[f64]) -> Result<Vec<Window>, NoAnswer> {
    enough(rounds, WINDOW_ROUNDS)?;
    let starts = rounds.windows(WINDOW_ROUNDS).zip(1..);
    starts.map(|(values, first_round)| Window::of(values, first_round)).collect()
}

/// The first round at which all `variables` are steady in the same window.
///
/// # Errors
/// As [`windows`], for any of them.
pub fn first_steady_round(variables: &[&[f64]]) -> Result<Option<usize>, NoAnswer> {
    let all: Vec<Vec<Window>> =
        variables.iter().map(|rounds| windows(rounds)).collect::<Result<_, _>>()?;
    let rounds = all.iter().map(Vec::len).min().unwrap_or(0);
    let steady = (0..rounds).find(|index| all.iter().all(|windows| windows[*index].is_steady()));
    Ok(steady.map(|index| index + WINDOW_ROUNDS))
}

/// What fio's two criteria would look at on the same values, as shares of the mean: the largest
/// distance from the mean, and the slope from one value to the next. Neither is SNIA's.
///
/// # Errors
/// As [`Window::of`].
pub fn fio_criteria(values: &[f64]) -> Result<(f64, f64), NoAnswer> {
    let window = Window::of(values, 1)?;
    let farthest = values.iter().map(|value| (value - window.mean).abs()).fold(0.0, f64::max);
    Ok((farthest / window.mean, window.slope / window.mean))
}

//! The mean of a series in time, with an interval that admits what the series remembers; or the
//! reason why it has none.
//!
//! Rates of neighbouring seconds depend on each other, so the plain interval is too narrow. What
//! counts for a mean is how much the series moves slowly, which its lowest frequencies show.

use crate::data::{average, is_constant};
use crate::descriptive::Description;
use crate::estimate::{Estimate, student_t};
use crate::series::autocorrelation;
use serde::{Deserialize, Serialize};

/// Values below which nothing can be said of how they depend on each other.
const VALUES_MIN: usize = 20;
/// Independent values that the series must be worth.
const WORTH_MIN: f64 = 10.0;
/// A step or a trend this sure is believed. By simulation: white series of 30 to 300 have one in
/// less than 2.5 of 100, series that remember half of each value in less than 6.
const SURE: f64 = 4.1;
/// A level has at least this many values.
const LEVEL_MIN: usize = 3;
/// A change by less than this share of the mean widens the interval and forbids none.
const SMALL: f64 = 0.01;
/// More cosines and lags would cost time and tell nothing.
const COSINES_MAX: usize = 60;
const LAGS_MAX: usize = 400;
/// What lies this many scaled median deviations off is of another kind.
const RARE: f64 = 7.0;
/// So few values of another kind tell nothing of how often they come.
const RARE_MIN: usize = 7;

/// Why a series in time has no interval. Places count values from 0.
#[derive(Clone, Copy, Debug, PartialEq, Serialize, Deserialize)]
#[serde(tag = "code", rename_all = "snake_case")]
pub enum NoInterval {
    /// Too few values.
    TooShort {
        /// Number of values.
        values: usize,
    },
    /// All values are equal.
    Equal,
    /// Each value depends on those before it for too long.
    Depends {
        /// How many independent ones they are worth.
        worth: f64,
    },
    /// A few values of another kind, such as stalls, decide the mean.
    Rare {
        /// Number of these values.
        values: usize,
    },
    /// It has two levels.
    Step {
        /// First value of the second level.
        at: usize,
        /// Mean before it.
        before: f64,
        /// Mean from there on.
        after: f64,
    },
    /// It rises or falls throughout.
    Trend {
        /// Where its line begins.
        from: f64,
        /// Value at the end of the line.
        to: f64,
    },
    /// Its level changes more than once, and not in a pattern that recurs often enough.
    Changes,
    /// The interval would be wider than a factor of 1.5: the values say nothing of their mean.
    NotRepeatable,
}

/// The mean of a series and what is known of it.
#[derive(Clone, Copy, Debug, PartialEq, Serialize, Deserialize)]
pub struct OverTime {
    /// The mean with its interval; `n` is one more than the degrees of freedom.
    pub estimate: Estimate,
    /// Why there is no interval; `None` where there is one.
    pub why: Option<NoInterval>,
}

/// The mean of `series`, positive values in time order, one an interval of equal length.
///
/// The long-run variance is the mean square of the first K cosines of the series, and the interval
/// that of Student's t with K degrees of freedom (Müller 2007; K = 0.4·n^(2/3), Lazarus, Lewis,
/// Stock and Watson 2018), but not less than what an autoregression of order 1 gives, its memory
/// corrected for the bias of short series (Kendall 1954), unless a period shorter than a quarter of
/// the series explains that memory. Refused are series worth fewer than ten independent values,
/// steps, trends, and means that a few rare values decide; a step or trend of less than 1 % only
/// widens the interval. `None` when `series` is empty or not finite.
///
/// ```
/// use drivelab_stats::{NoInterval, Random, over_time};
///
/// let mut random = Random::new(1);
/// let mut level = |mean: f64| mean + random.unit_f64();
/// let steady: Vec<f64> = (0..100).map(|_| level(50.0)).collect();
/// assert!(over_time(&steady).expect("a mean").estimate.low.is_some());
///
/// // A write cliff has a mean, and no interval that would mean anything.
/// let cliff: Vec<f64> = (0..100).map(|at| level(if at < 40 { 90.0 } else { 30.0 })).collect();
/// let refused = over_time(&cliff).expect("a mean").why;
/// assert!(matches!(refused, Some(NoInterval::Step { at: 40, .. })));
/// ```
pub fn over_time(series: &[f64]) -> Option<OverTime> {
    let mean = crate::estimate::mean(series)?;
    let n = series.len();
    let refused = |why| Some(OverTime { estimate: Estimate::point(mean, 1), why: Some(why) });
    if n > 1 && is_constant(series) {
        return refused(NoInterval::Equal);
    }
    let change = (n >= 2 * LEVEL_MIN).then(|| Change::of(series)).flatten();
    let slight = match change.filter(|change| change.sure > SURE) {
        Some(change) if change.size() > SMALL * mean.abs() => return refused(change.why(series)),
        other => other.map_or(0.0, |change| change.size() / 2.0),
    };
    if n < VALUES_MIN {
        return refused(NoInterval::TooShort { values: n });
    }
    let rare = rare(series);
    if (1..RARE_MIN).contains(&rare) {
        return refused(NoInterval::Rare { values: rare });
    }
    let off: Vec<f64> = series.iter().map(|value| value - mean).collect();
    let memory = memory(&off, 1.0);
    let worth = n as f64 * (1.0 - memory) / (1.0 + memory);
    let recurs = recurs_often(series);
    if worth < WORTH_MIN && !recurs {
        return refused(NoInterval::Depends { worth: worth.max(1.0) });
    }
    let freedom = cosines(n);
    let mut variance = slow_variance(&off, freedom);
    if !recurs && memory > 0.0 {
        let whole = off.iter().map(|off| off * off).sum::<f64>() / (n as f64 - 1.0);
        variance = variance.max(whole * (1.0 + memory) / (1.0 - memory));
    }
    let quantile = student_t(freedom as f64)?;
    let half_width = (quantile * (variance / n as f64).sqrt()).max(slight);
    let estimate = Estimate::on_logarithm(mean, half_width, freedom as u64 + 1);
    let why = estimate.low.is_none().then_some(NoInterval::NotRepeatable);
    Some(OverTime { estimate, why })
}

/// How many cosines count as slow.
fn cosines(n: usize) -> usize {
    ((0.4 * libm::pow(n as f64, 2.0 / 3.0)).round() as usize).clamp(4, COSINES_MAX)
}

/// Mean square of the first `count` cosines, each of unit length.
fn slow_variance(off: &[f64], count: usize) -> f64 {
    let n = off.len() as f64;
    let square = |order: usize| {
        let turn = std::f64::consts::PI * order as f64 / n;
        let sum: f64 =
            (0..).zip(off).map(|(at, off)| off * libm::cos(turn * (f64::from(at) + 0.5))).sum();
        sum * sum * 2.0 / n
    };
    (1..=count).map(square).sum::<f64>() / count as f64
}

/// Correlation of neighbours, corrected for its bias where `fitted` numbers were fitted before
/// (Kendall 1954: n − 1 by 1 + 3φ for a mean).
fn memory(off: &[f64], fitted: f64) -> f64 {
    let n = off.len() as f64;
    let whole: f64 = off.iter().map(|off| off * off).sum();
    if whole <= 0.0 {
        return 0.0;
    }
    let lagged: f64 = off.windows(2).map(|pair| pair[0] * pair[1]).sum();
    let corrected = (n * lagged / whole + fitted) / (n - 2.0 - fitted).max(1.0);
    corrected.clamp(-0.95, 0.98)
}

/// Whether it goes down and up again with a period of less than a quarter of the series.
fn recurs_often(series: &[f64]) -> bool {
    let longest = (series.len() / 4).min(LAGS_MAX);
    let Ok(all) = autocorrelation(series, longest) else { return false };
    let Some(down) = all.iter().position(|value| *value < -0.2) else { return false };
    all[down..].iter().any(|value| *value > 0.45)
}

/// Values that are of another kind than the rest.
fn rare(series: &[f64]) -> usize {
    let Ok(description) = Description::of(series) else { return 0 };
    let (middle, usual) = (description.median, description.mad_scaled());
    let least = RARE * usual.max(0.001 * middle.abs());
    series.iter().filter(|value| (**value - middle).abs() > least).count()
}

/// The step or the line that explains most of a series.
#[derive(Clone, Copy, Debug)]
struct Change {
    /// First value behind the step; `None`: a line.
    at: Option<usize>,
    from: f64,
    to: f64,
    /// Its size by its standard error, with what is left as noise that remembers.
    sure: f64,
}

impl Change {
    fn of(series: &[f64]) -> Option<Self> {
        let step = Self::step(series)?;
        let line = Self::line(series);
        Some(if line.sure > step.sure { line } else { step })
    }

    fn size(&self) -> f64 {
        (self.to - self.from).abs()
    }

    fn step(series: &[f64]) -> Option<Self> {
        let n = series.len();
        let total: f64 = series.iter().sum();
        let mut before: f64 = series[..LEVEL_MIN - 1].iter().sum();
        let mut best: Option<(f64, usize)> = None;
        for at in LEVEL_MIN..=n - LEVEL_MIN {
            before += series[at - 1];
            let (x, y) = (at as f64, (n - at) as f64);
            let explained = (before / x - (total - before) / y).powi(2) * x * y / (x + y);
            if best.is_none_or(|(most, _)| explained > most) {
                best = Some((explained, at));
            }
        }
        let (explained, at) = best?;
        let (from, to) = (average(&series[..at]), average(&series[at..]));
        let left = series.iter().enumerate();
        let off: Vec<f64> = left.map(|(i, x)| x - if i < at { from } else { to }).collect();
        Some(Change { at: Some(at), from, to, sure: explained.sqrt() / noise(&off, from) })
    }

    fn line(series: &[f64]) -> Self {
        let n = series.len() as f64;
        let (mean, middle) = (average(series), (n - 1.0) / 2.0);
        let places = || (0..series.len()).map(|at| at as f64 - middle);
        let squares: f64 = places().map(|place| place * place).sum();
        let slope =
            places().zip(series).map(|(place, x)| place * (x - mean)).sum::<f64>() / squares;
        let off: Vec<f64> =
            places().zip(series).map(|(place, x)| x - mean - slope * place).collect();
        let sure = slope.abs() * squares.sqrt() / noise(&off, mean);
        let (from, to) = (mean - slope * middle, mean + slope * middle);
        Change { at: None, from, to, sure }
    }

    fn why(&self, series: &[f64]) -> NoInterval {
        let Some(at) = self.at else { return NoInterval::Trend { from: self.from, to: self.to } };
        let moves = |part: &[f64]| {
            let change = (part.len() >= 4 * LEVEL_MIN).then(|| Change::of(part)).flatten();
            change.is_some_and(|it| it.sure > SURE && it.size() > self.size() / 3.0)
        };
        match moves(&series[..at]) || moves(&series[at..]) {
            true => NoInterval::Changes,
            false => NoInterval::Step { at, before: self.from, after: self.to },
        }
    }
}

/// Deviation of what is left over, as a mean of many would show it: with its memory.
fn noise(off: &[f64], scale: f64) -> f64 {
    let squares: f64 = off.iter().map(|off| off * off).sum();
    let plain = (squares / (off.len() as f64 - 2.0)).sqrt();
    let memory = memory(off, 2.0).max(0.0);
    let with_memory = plain * ((1.0 + memory) / (1.0 - memory)).sqrt();
    with_memory.max(16.0 * f64::EPSILON * scale.abs()).max(f64::MIN_POSITIVE)
}

//! A number that carries its uncertainty: the only form in which a rate leaves this crate.

use schemars::JsonSchema;
use serde::{Deserialize, Serialize};
use statrs::distribution::{ContinuousCDF, Normal, StudentsT};

/// The level of every interval of this crate: 95 %, two-sided.
const UPPER_TAIL: f64 = 0.975;

/// How far an interval may reach either way, as a factor. A wider one says nothing but that what
/// was repeated did not repeat itself.
pub const FACTOR_MAX: f64 = 1.5;

/// A value with its 95 % interval.
///
/// `low` and `high` are either both there or both `None`. `None` means "the data say nothing about
/// the uncertainty", never "there is none": fewer than two repeats, or repeats that are all equal.
/// Equal repeats are a rate limit, a coarse counter, or a simulation with one seed; a width of 0
/// would claim a certainty that they do not give, and would make every difference significant.
#[derive(Clone, Copy, Debug, PartialEq, Serialize, Deserialize, JsonSchema)]
pub struct Estimate {
    /// The point estimate, in the unit of the data.
    pub value: f64,
    /// Lower end of the 95 % interval, in the same unit.
    pub low: Option<f64>,
    /// Upper end of the 95 % interval, in the same unit.
    pub high: Option<f64>,
    /// Number of independent repeats that the estimate rests on.
    pub n: u64,
}

impl Estimate {
    /// A value without an interval, from `n` repeats.
    pub fn point(value: f64, n: u64) -> Self {
        Self { value, low: None, high: None, n }
    }

    /// The arithmetic mean with its Student-t interval `mean ± t(n−1) · s/√n` (Student 1908).
    ///
    /// Without interval below two values, and when all are equal (see [`Estimate`]). `None` when
    /// `values` is empty or holds NaN or an infinity.
    pub fn mean_of(values: &[f64]) -> Option<Self> {
        let mean = mean(values)?;
        let residuals = values.iter().map(|value| value - mean);
        Some(Self::with_spread(mean, residuals, values.len() as u64))
    }

    /// The rate of repeats given as `(count, seconds)`: total count by total seconds.
    ///
    /// A long repeat weighs more than a short one, which is the weighted harmonic mean of the rates
    /// (Hoefler & Belli 2015, rule 3). The interval is that of the ratio estimator, `t(n−1) ·
    /// √(Σ(c − R·s)²/(n(n−1))) / s̄` (Cochran 1977, §2.11), on the logarithm of the rate, see
    /// [`Estimate::on_logarithm`]. `None` when `repeats` is empty, when a number is not
    /// finite, a count negative, or a duration not positive.
    ///
    /// ```
    /// use drivelab_stats::Estimate;
    ///
    /// // Two short repetitions and a long one: all operations by all seconds.
    /// let rate = Estimate::rate_of(&[(100.0, 1.0), (110.0, 1.0), (820.0, 8.0)]).expect("a rate");
    /// assert!((rate.value - 103.0).abs() < 1e-9);
    /// assert_eq!(rate.n, 3);
    /// ```
    pub fn rate_of(repeats: &[(f64, f64)]) -> Option<Self> {
        let usable = |&(count, seconds): &(f64, f64)| count >= 0.0 && seconds > 0.0;
        if !repeats.iter().all(usable) {
            return None;
        }
        let counts: Vec<f64> = repeats.iter().map(|repeat| repeat.0).collect();
        let seconds: Vec<f64> = repeats.iter().map(|repeat| repeat.1).collect();
        let mean_seconds = mean(&seconds)?;
        let rate = mean(&counts)? / mean_seconds;
        if !rate.is_finite() {
            return None;
        }
        let residuals = repeats.iter().map(|(count, time)| (count - rate * time) / mean_seconds);
        Some(Self::with_spread(rate, residuals, repeats.len() as u64).of_positive())
    }

    /// The arithmetic mean of positive values with its interval on the logarithm, see
    /// [`Estimate::on_logarithm`]. `None` as [`Estimate::mean_of`].
    pub fn positive_mean_of(values: &[f64]) -> Option<Self> {
        Some(Self::mean_of(values)?.of_positive())
    }

    /// The geometric mean of positive values, with the t interval of their logarithms. `None` when
    /// `values` is empty or one is not finite and above zero. Without interval as any other, and
    /// beyond a factor of 1.5.
    pub fn centre_of(values: &[f64]) -> Option<Self> {
        let logs = crate::data::logarithms(values).ok()?;
        let spread = Self::mean_of(&logs)?;
        let value = libm::exp(spread.value);
        Some(match spread.low {
            Some(low) => Self::on_logarithm(value, value * (spread.value - low), spread.n),
            None => Self::point(value, spread.n),
        })
    }

    /// The same width, laid on the logarithm.
    fn of_positive(self) -> Self {
        match self.low {
            Some(low) => Self::on_logarithm(self.value, self.value - low, self.n),
            None => self,
        }
    }

    /// Whether the values differ by more than a mean can stand for: there are several, they are
    /// not alike, and there is no interval.
    pub fn is_not_repeatable(values: &[f64], estimate: &Estimate) -> bool {
        estimate.low.is_none() && values.len() > 1 && !crate::data::is_constant(values)
    }

    /// A positive `value` whose 95 % interval reaches `half_width` to each side, laid on the
    /// logarithm: `value · e^(± half_width/value)`, which is the delta method and never leaves what
    /// is positive. Without interval where that is wider than a factor of 1.5.
    pub fn on_logarithm(value: f64, half_width: f64, n: u64) -> Self {
        let share = half_width / value;
        let is_narrow = share > 0.0 && share <= libm::log(FACTOR_MAX);
        match value > 0.0 && is_narrow {
            true => {
                let (low, high) = (value * libm::exp(-share), value * libm::exp(share));
                Self { value, low: Some(low), high: Some(high), n }
            }
            false => Self::point(value, n),
        }
    }

    /// Half the width of the interval as a share of the value; `None` without interval or at 0.
    pub fn relative_half_width(&self) -> Option<f64> {
        let half_width = (self.high? - self.low?) / 2.0;
        (self.value != 0.0).then(|| half_width / self.value.abs())
    }

    /// `value` with the t interval of `n` residuals, or without one when they are only rounding.
    fn with_spread(value: f64, residuals: impl Iterator<Item = f64>, n: u64) -> Self {
        let squares: f64 = residuals.map(|residual| residual * residual).sum();
        let freedom = n as f64 - 1.0;
        let deviation = (squares / freedom.max(1.0)).sqrt();
        // Equal numbers leave residuals of units in the last place of their mean: of one more for
        // each that was added up.
        let is_rounding = deviation <= (8.0 + n as f64) * f64::EPSILON * value.abs();
        let half_width = match student_t(freedom) {
            Some(quantile) if !is_rounding => quantile * deviation / (n as f64).sqrt(),
            _ => return Self::point(value, n),
        };
        Self { value, low: Some(value - half_width), high: Some(value + half_width), n }
    }
}

/// The 97.5 % quantile of Student's t; `None` unless `freedom` is at least 1.
pub(crate) fn student_t(freedom: f64) -> Option<f64> {
    if freedom < 1.0 {
        return None;
    }
    StudentsT::new(0.0, 1.0, freedom).ok().map(|student| student.inverse_cdf(UPPER_TAIL))
}

/// The quantile of Student's t between whose negative and which a share `level` lies.
pub(crate) fn student_t_at(freedom: f64, level: f64) -> f64 {
    let student = StudentsT::new(0.0, 1.0, freedom.max(f64::MIN_POSITIVE));
    student.map_or(f64::NAN, |student| student.inverse_cdf(0.5 + level / 2.0))
}

/// P(T ≤ `t`) of Student's t.
pub(crate) fn student_lower_tail(t: f64, freedom: f64) -> f64 {
    StudentsT::new(0.0, 1.0, freedom.max(f64::MIN_POSITIVE)).map_or(f64::NAN, |it| it.cdf(t))
}

/// P(Z ≤ `z`) of the standard normal.
pub(crate) fn normal_lower_tail(z: f64) -> f64 {
    Normal::standard().cdf(z)
}

/// P(Z > `z`) of the standard normal.
pub(crate) fn normal_upper_tail(z: f64) -> f64 {
    Normal::standard().sf(z)
}

/// The quantile of the standard normal.
pub(crate) fn normal_quantile(share: f64) -> f64 {
    Normal::standard().inverse_cdf(share)
}

/// The mean; `None` when empty or not finite.
pub(crate) fn mean(values: &[f64]) -> Option<f64> {
    let mean = values.iter().sum::<f64>() / values.len() as f64;
    mean.is_finite().then_some(mean)
}

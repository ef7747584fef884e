//! Two samples with unequal spread: by how much they differ, and whether that is sure.

use crate::data::{NoAnswer, average, enough, is_constant, logarithms, possible, variance};
use crate::estimate::{student_lower_tail, student_t_at};

/// Welch's comparison of two means, `y − x`.
///
/// Welch 1947; the freedom is Satterthwaite's.
#[derive(Clone, Copy, Debug, PartialEq)]
pub struct Welch {
    /// Mean of `y` less mean of `x`.
    pub difference: f64,
    /// Its standard error.
    pub standard_error: f64,
    /// Degrees of freedom.
    pub freedom: f64,
}

impl Welch {
    /// Compares the means of `x` (before) and `y` (after).
    ///
    /// # Errors
    /// Fewer than two values in a sample, one that is not finite, or no spread in either sample: of
    /// two constants it cannot be said how sure a difference is.
    pub fn of(x: &[f64], y: &[f64]) -> Result<Self, NoAnswer> {
        enough(x, 2)?;
        enough(y, 2)?;
        if is_constant(x) && is_constant(y) {
            return Err(NoAnswer::Constant);
        }
        let (nx, ny) = (x.len() as f64, y.len() as f64);
        let (of_x, of_y) = (variance(x) / nx, variance(y) / ny);
        let both = of_x + of_y;
        let share = of_x / both;
        let freedom = 1.0 / (share * share / (nx - 1.0) + (1.0 - share).powi(2) / (ny - 1.0));
        if !freedom.is_finite() {
            return Err(NoAnswer::NotFinite);
        }
        let difference = average(y) - average(x);
        Ok(Self { difference, standard_error: both.sqrt(), freedom })
    }

    /// Student's comparison: both samples are taken to have one variance, which all values together
    /// estimate. Unlike [`Welch::of`] it keeps its level where one sample has two values.
    ///
    /// # Errors
    /// As [`Welch::of`].
    pub fn pooled(x: &[f64], y: &[f64]) -> Result<Self, NoAnswer> {
        enough(x, 2)?;
        enough(y, 2)?;
        if is_constant(x) && is_constant(y) {
            return Err(NoAnswer::Constant);
        }
        let (nx, ny) = (x.len() as f64, y.len() as f64);
        let freedom = nx + ny - 2.0;
        let squares = variance(x) * (nx - 1.0) + variance(y) * (ny - 1.0);
        let standard_error = (squares / freedom * (1.0 / nx + 1.0 / ny)).sqrt();
        if !standard_error.is_finite() || standard_error == 0.0 {
            return Err(NoAnswer::NotFinite);
        }
        Ok(Self { difference: average(y) - average(x), standard_error, freedom })
    }

    /// The same on natural logarithms, where a difference is the logarithm of a ratio of geometric
    /// means: scale-free and symmetric.
    ///
    /// # Errors
    /// As [`Welch::of`], and a value that is not above zero.
    pub fn of_logarithms(x: &[f64], y: &[f64]) -> Result<Self, NoAnswer> {
        enough(x, 2)?;
        enough(y, 2)?;
        Self::of(&logarithms(x)?, &logarithms(y)?)
    }

    /// The same of values each of which remembers the share `memory` of the one before: they are
    /// worth (1 − memory)/(1 + memory) of as many independent ones.
    pub(crate) fn of_dependent(&self, memory: f64) -> Self {
        let worth = (1.0 - memory) / (1.0 + memory);
        Self {
            standard_error: self.standard_error / worth.sqrt(),
            freedom: (self.freedom * worth).max(1.0),
            ..*self
        }
    }

    /// The test statistic.
    pub fn t(&self) -> f64 {
        self.difference / self.standard_error
    }

    /// The two-sided p-value; never 0.
    pub fn p(&self) -> f64 {
        possible(2.0 * student_lower_tail(-self.t().abs(), self.freedom))
    }

    /// The interval of the difference at `level`.
    pub fn interval(&self, level: f64) -> (f64, f64) {
        let half_width = student_t_at(self.freedom, level) * self.standard_error;
        (self.difference - half_width, self.difference + half_width)
    }
}

/// Two one-sided tests: whether the difference lies within a band around zero.
///
/// Schuirmann 1987. Passing is evidence of absence, which a large p-value is not.
#[derive(Clone, Copy, Debug, PartialEq)]
pub struct Equivalence {
    /// Statistic against the lower end of the band.
    pub t_lower: f64,
    /// Statistic against the upper end.
    pub t_upper: f64,
    /// That the difference lies below the band.
    pub p_lower: f64,
    /// That it lies above.
    pub p_upper: f64,
}

impl Equivalence {
    /// Whether the logarithm of a ratio lies within `[ln(1 − delta), −ln(1 − delta)]`.
    pub fn of_ratio(logs: &Welch, delta: f64) -> Self {
        let edge = libm::log1p(-delta);
        let t_lower = (logs.difference - edge) / logs.standard_error;
        let t_upper = (logs.difference + edge) / logs.standard_error;
        Self {
            t_lower,
            t_upper,
            p_lower: possible(student_lower_tail(-t_lower, logs.freedom)),
            p_upper: possible(student_lower_tail(t_upper, logs.freedom)),
        }
    }

    /// The p-value of both tests together.
    pub fn p(&self) -> f64 {
        self.p_lower.max(self.p_upper)
    }
}

/// The band within which a ratio counts as unchanged, `[1 − delta, 1/(1 − delta)]`.
pub fn ratio_band(delta: f64) -> (f64, f64) {
    (1.0 - delta, 1.0 / (1.0 - delta))
}

/// The ratio of arithmetic means `y/x` and its interval at `level` (Fieller 1954, in the form of
/// Kalibera and Jones 2013): value, low, high.
///
/// # Errors
/// Fewer than two values in a sample, one that is not finite, or [`NoAnswer::Unbounded`] where the
/// mean of `x` may be zero.
pub fn fieller(x: &[f64], y: &[f64], level: f64) -> Result<(f64, f64, f64), NoAnswer> {
    enough(x, 2)?;
    enough(y, 2)?;
    let spread = |values: &[f64]| {
        let n = values.len() as f64;
        student_t_at(n - 1.0, level).powi(2) * variance(values) / n
    };
    let (mean_x, mean_y) = (average(x), average(y));
    let below = mean_x * mean_x - spread(x);
    if below <= 0.0 {
        return Err(NoAnswer::Unbounded);
    }
    let above = mean_y * mean_y - spread(y);
    let product = mean_x * mean_y;
    let root = (product * product - below * above).max(0.0).sqrt();
    Ok((mean_y / mean_x, (product - root) / below, (product + root) / below))
}

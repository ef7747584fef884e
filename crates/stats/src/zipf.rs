//! Zipf-distributed ranks: a few blocks get most of the accesses.

use crate::random::Random;

/// Ranks and their halves are exact in `f64` up to here.
const RANKS_MAX: u64 = 1 << 48;

/// Draws ranks 0 to n − 1, rank k with a probability proportional to `(k + 1)^-theta`.
///
/// Rejection-inversion (Hörmann & Derflinger 1996): no table, and constant time for any n. On
/// `libm`, so that a seed gives the same ranks on every machine.
#[derive(Clone, Copy, Debug, PartialEq)]
pub struct Zipf {
    n: u64,
    theta: f64,
    /// The integral of the density up to the edge left of rank 1, of which it takes just 1.
    left: f64,
    /// The integral of the density up to the edge right of rank n.
    right: f64,
    /// A rank at most this far right of the drawn point is accepted without looking.
    sure: f64,
}

impl Zipf {
    /// A distribution over `n` ranks. Theta 0 is uniform, 1 the classical law.
    ///
    /// `None` unless `n` is from 1 to 2^48 and `theta` from 0 to below 5.
    ///
    /// ```
    /// use drivelab_stats::{Random, Zipf};
    ///
    /// let law = Zipf::new(1_000, 1.0).expect("in range");
    /// let mut random = Random::new(1);
    /// let first = (0..10_000).filter(|_| law.sample(&mut random) == 0).count();
    /// // 1/H(1000) = 13.4 % of all draws.
    /// assert!((1_200..1_500).contains(&first));
    /// ```
    pub fn new(n: u64, theta: f64) -> Option<Self> {
        if n == 0 || n > RANKS_MAX || !(0.0..5.0).contains(&theta) {
            return None;
        }
        Some(Self {
            n,
            theta,
            left: integral(1.5, theta) - 1.0,
            right: integral(n as f64 + 0.5, theta),
            sure: 2.0 - inverse_integral(integral(2.5, theta) - density(2.0, theta), theta),
        })
    }

    /// Draws a rank from 0, the most likely, to n − 1.
    pub fn sample(&self, random: &mut Random) -> u64 {
        loop {
            let area = self.right + random.unit_f64() * (self.left - self.right);
            let point = inverse_integral(area, self.theta);
            let nearest = ((point + 0.5) as u64).clamp(1, self.n);
            let rank = nearest as f64;
            if rank - point <= self.sure
                || area >= integral(rank + 0.5, self.theta) - density(rank, self.theta)
            {
                return nearest - 1;
            }
        }
    }
}

/// `x^-theta`.
fn density(x: f64, theta: f64) -> f64 {
    libm::exp(-theta * libm::log(x))
}

/// The integral of the density from 1 to x: `(x^(1−theta) − 1)/(1 − theta)`, or `ln x` at 1.
fn integral(x: f64, theta: f64) -> f64 {
    let logarithm = libm::log(x);
    let power = (1.0 - theta) * logarithm;
    if power == 0.0 { logarithm } else { logarithm * (libm::expm1(power) / power) }
}

/// The x at which [`integral`] is `area`.
fn inverse_integral(area: f64, theta: f64) -> f64 {
    // Rounding may put the far end of the area just below −1, where the logarithm ends.
    let scaled = ((1.0 - theta) * area).max(-1.0);
    let logarithm = if scaled == 0.0 { area } else { area * (libm::log1p(scaled) / scaled) };
    libm::exp(logarithm)
}

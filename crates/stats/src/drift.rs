//! Whether what was repeated stood still: a trend that is sure, and large enough to matter.

use crate::data::{enough, is_constant, logarithms, possible};
use crate::series::trend;
use serde::{Deserialize, Serialize};

/// Repetitions below which no trend can be told from chance.
const REPETITIONS_MIN: usize = 5;
/// The level of the test: of a hundred cells that stand still at most two are said to drift.
const LEVEL: f64 = 0.02;
/// How many bands a drift must cross: less harms a comparison less than noise does.
const BANDS: f64 = 3.0;

/// A trend over repetitions that makes their mean a mean of different things.
#[derive(Clone, Copy, Debug, PartialEq, Serialize, Deserialize)]
pub struct Drift {
    /// How often chance alone would order the values so (Mann-Kendall, exact without ties).
    pub p: f64,
    /// Last by first, along Sen's slope of the logarithms.
    pub ratio: f64,
}

/// The drift of `values`, given in the order in which they were measured; `delta` is the band
/// within which they count as unchanged. `None`: no drift was found, which below five values
/// says nothing at all.
///
/// Mann and Kendall's test of a trend at 2 %, and Sen's slope over all repetitions crosses three
/// bands. The null distribution is exact where no values are equal: the approximation by the normal
/// one gives 0.028 to five values that rise throughout, which is 2/120.
pub fn drift(values: &[f64], delta: f64) -> Option<Drift> {
    enough(values, REPETITIONS_MIN).ok().filter(|()| !is_constant(values))?;
    let logs = logarithms(values).ok()?;
    let found = trend(&logs).ok()?;
    let p = exact_p(values, found.s).unwrap_or(found.p);
    let along = found.slope * (values.len() - 1) as f64;
    let is_large = along.abs() > BANDS * -libm::log1p(-delta);
    (p <= LEVEL && is_large).then(|| Drift { p, ratio: libm::exp(along) })
}

/// P(|S| ≥ |`s`|) over all orders of the values; `None` where some are equal.
fn exact_p(values: &[f64], s: f64) -> Option<f64> {
    let ordered = crate::data::sorted(values);
    if ordered.windows(2).any(|pair| pair[0] == pair[1]) {
        return None;
    }
    let pairs = values.len() * (values.len() - 1) / 2;
    // Orders with this many inversions at most are as far from none as `s`.
    let inversions = ((pairs as f64 - s.abs()) / 2.0).round() as usize;
    Some(possible(2.0 * orders_within(values.len(), inversions)))
}

/// The share of all orders of `n` values that have at most `most` inversions: the k-th value to be
/// put in its place passes 0 to k − 1 others, each as likely (Kendall 1938).
fn orders_within(n: usize, most: usize) -> f64 {
    let mut shares = vec![0.0; most + 1];
    shares[0] = 1.0;
    for places in 2..=n {
        let (mut passed, mut next) = (0.0, vec![0.0; most + 1]);
        for at in 0..=most {
            passed += shares[at];
            if at >= places {
                passed -= shares[at - places];
            }
            next[at] = passed / places as f64;
        }
        shares = next;
    }
    shares.iter().sum()
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn five_values_that_fall_throughout_drift() {
        // Sequential reads between random writes, as `check` once measured them.
        let spoilt = [5419.0, 2364.0, 1690.0, 1652.0, 1578.0];
        let found = drift(&spoilt, 0.05).unwrap();
        assert!((found.p - 2.0 / 120.0).abs() < 1e-12, "{found:?}");
        assert!((0.2..0.5).contains(&found.ratio), "{found:?}");
        assert_eq!(drift(&spoilt[..4], 0.05), None, "four can prove nothing");
        assert_eq!(drift(&[5.0; 9], 0.05), None);
    }

    #[test]
    fn a_drift_that_is_small_beside_the_band_is_none() {
        let slight: Vec<f64> = (0..9).map(|at| 1000.0 - 15.0 * f64::from(at)).collect();
        assert_eq!(drift(&slight, 0.05), None);
        assert!(drift(&slight, 0.02).is_some());
    }

    #[test]
    fn the_null_distribution_is_exact() {
        // Of the 24 orders of four, 1, 3, 5 and 6 have 0, 1, 2 and 3 inversions.
        for (most, orders) in [(0, 1.0), (1, 4.0), (2, 9.0), (3, 15.0), (6, 24.0)] {
            assert!((orders_within(4, most) - orders / 24.0).abs() < 1e-12, "{most}");
        }
    }
}

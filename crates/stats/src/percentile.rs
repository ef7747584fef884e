//! Which percentiles a number of samples can support at all.

use crate::histogram::Histogram;

/// The confidence that the interval between the extremes must reach.
const CONFIDENCE: f64 = 0.95;

/// The smallest n for which the extremes of n independent samples enclose the quantile `p` with
/// 95 % confidence: `1 − p^n − (1−p)^n ≥ 0.95` (order statistics; Le Boudec 2010, §2.2).
///
/// With fewer samples no distribution-free interval exists, and the quantile must not be printed.
/// `u64::MAX` when `p` is not strictly between 0 and 1.
///
/// ```
/// use drivelab_stats::samples_needed;
///
/// assert_eq!(samples_needed(0.5), 6);
/// assert_eq!(samples_needed(0.99), 299);
/// assert_eq!(samples_needed(1.0), u64::MAX);
/// ```
pub fn samples_needed(p: f64) -> u64 {
    if !(p > 0.0 && p < 1.0) {
        return u64::MAX;
    }
    let confidence = |n: u64| 1.0 - libm::pow(p, n as f64) - libm::pow(1.0 - p, n as f64);
    // The likelier side alone needs this many; the other side adds at most a few.
    let likelier = p.max(1.0 - p);
    let least = libm::log(1.0 - CONFIDENCE) / libm::log(likelier);
    let mut n = (least as u64).saturating_sub(1).max(1);
    while confidence(n) < CONFIDENCE && n < u64::MAX {
        n += 1;
    }
    n
}

/// Whether `n` samples support the quantile `p`; see [`samples_needed`].
pub fn supported(p: f64, n: u64) -> bool {
    n >= samples_needed(p)
}

/// The quantile `p` in ns, or `None` when the histogram holds too few values to support it.
pub fn supported_quantile(histogram: &Histogram, p: f64) -> Option<u64> {
    supported(p, histogram.count()).then(|| histogram.value_at_quantile(p))
}

//! fio's buckets of latencies: 64 of 1 ns each, then 64 for each doubling, the last at about 17 s.
//!
//! The layout is that of the `bins` objects of json+ (keys are middles of buckets) and of the
//! percentiles, which are such middles too.

use std::collections::BTreeMap;

/// Buckets that a doubling is cut into.
const PARTS_BITS: u32 = 6;
/// Doublings that have buckets of their own; what is longer counts in the last bucket.
const DOUBLINGS: u32 = 28;

/// As what a percent is multiplied by to be a whole number.
const TWO_TO_64: f64 = 18_446_744_073_709_551_616.0;

/// Latencies counted in fio's buckets.
#[derive(Debug, Clone, Default, PartialEq)]
pub struct Bins {
    /// Middle of each bucket that is not empty, in nanoseconds, with its count.
    counts: BTreeMap<u64, u64>,
}

/// The middle of the bucket that holds `latency_ns`.
pub fn middle_of(latency_ns: u64) -> u64 {
    let parts = 1_u64 << PARTS_BITS;
    if latency_ns < 2 * parts {
        return latency_ns;
    }
    let doubling = (latency_ns.ilog2() - PARTS_BITS).min(DOUBLINGS - 1);
    let first = latency_ns >> doubling;
    // Beyond the last doubling all is in its last bucket.
    let first = first.min(2 * parts - 1);
    (first << doubling) + (1 << doubling) / 2
}

impl Bins {
    /// Counts `count` latencies of `latency_ns`.
    pub fn add(&mut self, latency_ns: u64, count: u64) {
        self.add_middle(middle_of(latency_ns), count);
    }

    /// The same by the middle of their bucket.
    pub fn add_middle(&mut self, middle_ns: u64, count: u64) {
        *self.counts.entry(middle_ns).or_insert(0) += count;
    }

    /// Adds those of `other`.
    pub fn merge(&mut self, other: &Bins) {
        for (middle, count) in &other.counts {
            self.add_middle(*middle, *count);
        }
    }

    /// Number of values in the histogram.
    fn count(&self) -> u64 {
        self.counts.values().sum()
    }

    /// Middles and counts of the buckets that are not empty, shortest first.
    pub fn iter(&self) -> impl Iterator<Item = (u64, u64)> + '_ {
        self.counts.iter().map(|(middle, count)| (*middle, *count))
    }

    /// The middle of the bucket in which the count first reaches this share of all, in percent.
    pub fn percentile(&self, percent: f64) -> u64 {
        // Exactly: 99.95 is a little more than that, and 1999 of 2000 do not reach it.
        let wanted = (percent * TWO_TO_64) as u128 * u128::from(self.count());
        let mut seen = 0;
        let reached = self.iter().find(|(_, count)| {
            seen += u128::from(*count);
            (seen * 100) << 64 >= wanted
        });
        reached.or(self.iter().last()).map_or(0, |(middle, _)| middle)
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn each_latency_has_the_bucket_that_fio_puts_it_into() {
        for (latency_ns, middle) in [
            (0, 0),
            (127, 127),
            (128, 129),
            (129, 129),
            (1031, 1032),
            (869_824, 872_448),
            (17_179_869_183, 17_112_760_320),
            (60_000_000_000, 17_112_760_320),
            (u64::MAX, 17_112_760_320),
        ] {
            assert_eq!(middle_of(latency_ns), middle, "{latency_ns}");
        }
    }

    #[test]
    fn a_percentile_is_reached_exactly() {
        let mut bins = Bins::default();
        assert_eq!(bins.percentile(50.0), 0);
        bins.add(10, 1);
        bins.add(20, 1998);
        bins.add(30, 1);
        assert_eq!((bins.percentile(0.0), bins.percentile(0.04)), (10, 10));
        assert_eq!((bins.percentile(0.06), bins.percentile(99.94)), (20, 20));
        assert_eq!((bins.percentile(99.95), bins.percentile(100.0)), (30, 30));
    }
}

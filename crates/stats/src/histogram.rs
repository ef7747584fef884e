//! A latency histogram with the bucket layout of HdrHistogram and exact moments next to it.
//!
//! The recorder runs once per I/O on the measuring thread, hence a flat array and an index without
//! branches. The layout is HdrHistogram's (lowest 1, highest 1 h in ns, 3 significant digits), so
//! that other tools read the stored histograms.

use serde::{Deserialize, Deserializer, Serialize, Serializer, de};

use crate::v2::{self, DecodeError, HIGHEST_TRACKABLE_NS};

/// Values below 2^11 have a bucket each; every octave above has 2^10 buckets.
const SUB_BUCKET_BITS: u32 = 11;
const HALF_COUNT: u64 = 1 << (SUB_BUCKET_BITS - 1);

/// Up to the bucket of 1 h, laid out as HdrHistogram does: an index beyond is a larger value.
pub(crate) const BUCKET_COUNT: usize = index_of(HIGHEST_TRACKABLE_NS) + 1;

/// A thin histogram of more buckets becomes a flat array before more is added: each time costs as
/// many steps as it has buckets.
const THIN_MAX: usize = 256;

/// Counts of latencies in ns by size, with exact count, extremes, sum and sum of squares.
///
/// A bucket is at most 2^-10 of its values wide, so a quantile is at most 0.1 % above the exact
/// one (Tene, HdrHistogram). Merging is exact: parts merged equal the histogram of their union,
/// the moments included, because all sums are integers. Sums stop at their maximum instead of
/// wrapping; no recording reaches it.
///
/// A histogram that is recorded into is a flat array of 264 KiB. A copy, or one that was read
/// back, holds only its buckets that are not empty, until something is recorded into it.
pub struct Histogram {
    /// All buckets, or none: then `thin` has those that are not empty.
    counts: Box<[u64]>,
    thin: Box<[(u16, u64)]>,
    count: u64,
    /// `u64::MAX` when empty, so that recording needs no branch.
    min: u64,
    max: u64,
    sum: u128,
    sum_squares: u128,
}

/// What a histogram knows exactly, next to its buckets. All 0 when it is empty.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq)]
pub struct Extremes {
    /// Number of recorded values.
    pub count: u64,
    /// Smallest recorded value, ns.
    pub min: u64,
    /// Largest recorded value, ns, above 1 h too.
    pub max: u64,
    /// Sum of the recorded values, ns.
    pub sum: u128,
    /// Sum of the squares of the recorded values, ns².
    pub sum_squares: u128,
}

/// The bucket of `value`; there is none for values far above 1 h.
#[inline]
const fn index_of(value: u64) -> usize {
    // Setting the low bits puts all values below 2^11 in octave 0 without a branch.
    let octave = u64::BITS - SUB_BUCKET_BITS - (value | (2 * HALF_COUNT - 1)).leading_zeros();
    (((octave as u64) << (SUB_BUCKET_BITS - 1)) + (value >> octave)) as usize
}

#[inline]
fn clamped_index_of(value: u64) -> usize {
    index_of(value.min(HIGHEST_TRACKABLE_NS))
}

/// The smallest and the largest value of bucket `index`.
fn range_of(index: usize) -> (u64, u64) {
    let index = index as u64;
    if index < 2 * HALF_COUNT {
        return (index, index);
    }
    let octave = index / HALF_COUNT - 1;
    let low = (index % HALF_COUNT + HALF_COUNT) << octave;
    (low, low + (1 << octave) - 1)
}

/// The cells of both, ascending.
fn joined(mine: &[(u16, u64)], other: impl Iterator<Item = (usize, u64)>) -> Box<[(u16, u64)]> {
    let mut mine = mine.iter().copied().peekable();
    let mut all = Vec::with_capacity(mine.len());
    for (index, count) in other {
        let index = index as u16;
        while let Some(smaller) = mine.next_if(|(known, _)| *known < index) {
            all.push(smaller);
        }
        let equal = mine.next_if(|(known, _)| *known == index).map_or(0, |(_, count)| count);
        all.push((index, count.saturating_add(equal)));
    }
    all.extend(mine);
    all.into_boxed_slice()
}

impl Clone for Histogram {
    /// A thin copy: a run that keeps thousands of intervals needs the memory of what they hold.
    fn clone(&self) -> Self {
        let thin = self.cells().map(|(index, count)| (index as u16, count)).collect();
        Self { counts: Box::default(), thin, ..*self }
    }
}

impl PartialEq for Histogram {
    fn eq(&self, other: &Self) -> bool {
        self.extremes() == other.extremes() && self.cells().eq(other.cells())
    }
}

impl Eq for Histogram {}

impl Default for Histogram {
    fn default() -> Self {
        Self::new()
    }
}

impl std::fmt::Debug for Histogram {
    /// Prints the exact moments: 33,000 counters would bury every failed assertion.
    fn fmt(&self, formatter: &mut std::fmt::Formatter<'_>) -> std::fmt::Result {
        formatter.debug_tuple("Histogram").field(&self.extremes()).finish()
    }
}

impl Histogram {
    /// An empty histogram. Its 264 KiB are reserved here; see [`Histogram::prefault`].
    pub fn new() -> Self {
        Self {
            counts: vec![0; BUCKET_COUNT].into_boxed_slice(),
            thin: Box::default(),
            count: 0,
            min: u64::MAX,
            max: 0,
            sum: 0,
            sum_squares: 0,
        }
    }

    /// An empty histogram that takes no memory: for sums of little, such as those of an interval.
    pub fn thin() -> Self {
        let (counts, thin) = (Box::default(), Box::default());
        Self { counts, thin, count: 0, min: u64::MAX, max: 0, sum: 0, sum_squares: 0 }
    }

    /// Writes the memory of an empty histogram once, so that no first use of a page falls into a
    /// measurement. Does nothing to a histogram that holds values.
    pub fn prefault(&mut self) {
        if self.is_empty() {
            // An opaque zero: the compiler would drop writing zeros over fresh zeros.
            self.counts.fill(std::hint::black_box(0));
        }
    }

    /// Counts one value, in ns. Values above 1 h count in the bucket of 1 h; count, extremes and
    /// sums stay exact.
    #[inline]
    pub fn record(&mut self, value_ns: u64) {
        // No bucket: above 1 h, or a thin copy.
        match self.counts.get_mut(index_of(value_ns)) {
            Some(cell) => *cell += 1,
            None => return self.record_beyond(value_ns),
        }
        self.count += 1;
        // Branches that are almost never taken cost less than two stores each time.
        if value_ns < self.min {
            self.min = value_ns;
        }
        if value_ns > self.max {
            self.max = value_ns;
        }
        // Values up to 2^42 need 2^44 records to fill 128 bits of squares.
        let wide = u128::from(value_ns);
        self.sum += wide;
        self.sum_squares += wide * wide;
    }

    #[cold]
    #[inline(never)]
    fn record_beyond(&mut self, value_ns: u64) {
        self.record_n(value_ns, 1);
    }

    /// Counts a value of a closed loop, and those that an open loop with one request every
    /// `interval_ns` would have measured while it waited: `value − interval`, `value − 2 interval`
    /// … down to the interval (Tene's correction of coordinated omission). An estimate: label it.
    pub fn record_corrected(&mut self, value_ns: u64, interval_ns: u64) {
        self.record(value_ns);
        let mut missing_ns = value_ns.saturating_sub(interval_ns);
        while interval_ns > 0 && missing_ns >= interval_ns {
            self.record(missing_ns);
            missing_ns -= interval_ns;
        }
    }

    /// Counts `n` values of `value_ns` each; equals `n` calls of [`Histogram::record`].
    pub fn record_n(&mut self, value_ns: u64, n: u64) {
        if n == 0 {
            return;
        }
        self.thicken();
        let cell = &mut self.counts[clamped_index_of(value_ns)];
        *cell = cell.saturating_add(n);
        let wide = u128::from(value_ns);
        let many = u128::from(n);
        self.count = self.count.saturating_add(n);
        self.min = self.min.min(value_ns);
        self.max = self.max.max(value_ns);
        self.sum = self.sum.saturating_add(wide * many);
        self.sum_squares = self.sum_squares.saturating_add((wide * wide).saturating_mul(many));
    }

    /// Adds all values of `other`; exact. A thin histogram stays thin while it holds little.
    pub fn merge(&mut self, other: &Histogram) {
        if self.counts.is_empty() && self.thin.len() <= THIN_MAX {
            self.thin = joined(&self.thin, other.cells());
        } else {
            self.thicken();
            for (index, count) in other.cells() {
                let into = &mut self.counts[index];
                *into = into.saturating_add(count);
            }
        }
        self.count = self.count.saturating_add(other.count);
        self.min = self.min.min(other.min);
        self.max = self.max.max(other.max);
        self.sum = self.sum.saturating_add(other.sum);
        self.sum_squares = self.sum_squares.saturating_add(other.sum_squares);
    }

    /// Empties the histogram; writes only the buckets between the extremes.
    pub fn clear(&mut self) {
        self.thicken();
        if let Some((first, last)) = self.touched() {
            self.counts[first..=last].fill(0);
        }
        (self.count, self.min, self.max, self.sum, self.sum_squares) = (0, u64::MAX, 0, 0, 0);
    }

    /// Whether nothing was recorded.
    pub fn is_empty(&self) -> bool {
        self.count == 0
    }

    /// Number of recorded values.
    pub fn count(&self) -> u64 {
        self.count
    }

    /// Smallest recorded value in ns, exact; 0 when empty.
    pub fn min(&self) -> u64 {
        if self.is_empty() { 0 } else { self.min }
    }

    /// Largest recorded value in ns, exact, above 1 h too; 0 when empty.
    pub fn max(&self) -> u64 {
        self.max
    }

    /// Sum of the recorded values in ns, exact.
    pub fn sum(&self) -> u128 {
        self.sum
    }

    /// Everything that is known exactly.
    pub fn extremes(&self) -> Extremes {
        Extremes {
            count: self.count,
            min: self.min(),
            max: self.max,
            sum: self.sum,
            sum_squares: self.sum_squares,
        }
    }

    /// Arithmetic mean in ns, from the exact sum; `None` when empty.
    pub fn mean(&self) -> Option<f64> {
        (!self.is_empty()).then(|| self.sum as f64 / self.count as f64)
    }

    /// Standard deviation of the values in ns (divisor n − 1). `None` below two values, and when
    /// values of centuries have filled the sum of squares.
    pub fn standard_deviation(&self) -> Option<f64> {
        if self.count < 2 {
            return None;
        }
        let (shifted, rest) = self.squares_around_whole_mean()?;
        let (count, rest) = (self.count as f64, rest as f64);
        Some(((shifted as f64 - rest * (rest / count)).max(0.0) / (count - 1.0)).sqrt())
    }

    /// `Σ(x − w)²` and `Σx − nw`, where w is the whole part of the mean: in integers, so that large
    /// latencies with a small spread do not cancel. `None` when empty or when 128 bits are too few.
    fn squares_around_whole_mean(&self) -> Option<(u128, u128)> {
        let count = u128::from(self.count);
        let whole = self.sum.checked_div(count)?;
        let rest = self.sum % count;
        // Σ(x − w)² = Σx² − w(2Σx − nw) = Σx² − w(Σx + r), where Σx = nw + r.
        let product = whole.checked_mul(self.sum.checked_add(rest)?)?;
        Some((self.sum_squares.checked_sub(product)?, rest))
    }

    /// The value in ns below or at which the share `quantile` (0 to 1) of all values lies.
    ///
    /// HdrHistogram's convention: the largest value of the bucket that holds the value of rank
    /// `ceil(quantile · count)`, but never above the exact maximum. Hence never below the exact
    /// order statistic, and at most 0.1 % above it (up to 1 h). 0 and less, or NaN, gives the exact
    /// minimum; 1 and more the exact maximum; an empty histogram 0.
    pub fn value_at_quantile(&self, quantile: f64) -> u64 {
        if self.is_empty() {
            return 0;
        }
        if quantile.is_nan() || quantile <= 0.0 {
            return self.min();
        }
        let rank = rank_of(quantile, self.count);
        let last = clamped_index_of(self.max);
        let mut seen = 0_u64;
        for (index, count) in self.cells() {
            seen = seen.saturating_add(count);
            if seen >= rank && index < last {
                return range_of(index).1;
            }
        }
        self.max
    }

    /// Number of values above `value_ns`: those in the buckets above the one that holds it, hence
    /// exact at bucket edges and otherwise at most the values of one bucket too few; at least 1
    /// when the exact maximum is above.
    pub fn count_above(&self, value_ns: u64) -> u64 {
        if value_ns >= self.max {
            return 0;
        }
        if value_ns < self.min {
            return self.count;
        }
        let from = clamped_index_of(value_ns) + 1;
        let above = self.cells().filter(|(index, _)| *index >= from);
        above.fold(0_u64, |total, (_, count)| total.saturating_add(count)).max(1)
    }

    /// The buckets that hold values, in ascending order, as `(low, high, count)`: the smallest and
    /// the largest value in ns that the bucket is for, and the number of values in it.
    pub fn iter_nonzero(&self) -> impl Iterator<Item = (u64, u64, u64)> + '_ {
        self.cells().map(|(index, count)| {
            let (low, high) = range_of(index);
            (low, high, count)
        })
    }

    /// The buckets that are not empty, ascending, with their counts.
    fn cells(&self) -> impl Iterator<Item = (usize, u64)> + '_ {
        let (first, dense) = match self.touched() {
            Some((first, last)) => (first, self.counts.get(first..=last).unwrap_or_default()),
            None => (0, &self.counts[..0]),
        };
        let dense = (first..).zip(dense).map(|(index, count)| (index, *count));
        let thin = self.thin.iter().map(|(index, count)| (usize::from(*index), *count));
        dense.filter(|(_, count)| *count > 0).chain(thin)
    }

    /// Makes room for all buckets, if this is a thin copy.
    fn thicken(&mut self) {
        if self.counts.is_empty() {
            self.counts = vec![0; BUCKET_COUNT].into_boxed_slice();
            for (index, count) in std::mem::take(&mut self.thin) {
                self.counts[usize::from(index)] = count;
            }
        }
    }

    /// The buckets in HdrHistogram's V2 encoding (not compressed), as base64.
    ///
    /// Any HdrHistogram library reads it; the exact extremes are not in it, see
    /// [`Histogram::extremes`].
    pub fn to_v2_base64(&self) -> String {
        let used = self.touched().map_or(1, |(_, last)| last + 1);
        if !self.counts.is_empty() {
            return v2::encode(&self.counts[..used]);
        }
        let mut counts = vec![0; used];
        self.cells().for_each(|(index, count)| counts[index] = count);
        v2::encode(&counts)
    }

    /// Reads what [`Histogram::to_v2_base64`] and [`Histogram::extremes`] gave.
    ///
    /// # Errors
    /// When the text is not base64, not V2 with exactly this layout, or when `exact` contradicts
    /// the buckets. Never panics and never allocates by a length that the text claims.
    pub fn from_v2_base64(text: &str, exact: Extremes) -> Result<Self, DecodeError> {
        let mut histogram = Self::new();
        let decoded = v2::decode(text, &mut histogram.counts)?;
        if decoded.count != exact.count {
            return Err(DecodeError::Contradiction("count"));
        }
        if decoded.count == 0 {
            return match exact == Extremes::default() {
                true => Ok(Self::thin()),
                false => Err(DecodeError::Contradiction("extremes of an empty histogram")),
            };
        }
        histogram.count = exact.count;
        histogram.min = exact.min;
        histogram.max = exact.max;
        histogram.sum = exact.sum;
        histogram.sum_squares = exact.sum_squares;
        // Every loop here goes from the bucket of the minimum to that of the maximum.
        if histogram.touched() != Some((decoded.first, decoded.last)) {
            return Err(DecodeError::Contradiction("minimum or maximum"));
        }
        histogram.check_sums()?;
        Ok(histogram.clone())
    }

    /// Whether the sums can come from values that lie in the buckets.
    fn check_sums(&self) -> Result<(), DecodeError> {
        let (mut least, mut most) = (0_u128, 0_u128);
        for (low, high, count) in self.iter_nonzero() {
            let top = if high >= HIGHEST_TRACKABLE_NS { self.max } else { high };
            least += u128::from(low.max(self.min)) * u128::from(count);
            most += u128::from(top.min(self.max)) * u128::from(count);
        }
        if !(least..=most).contains(&self.sum) {
            return Err(DecodeError::Contradiction("sum"));
        }
        let squares_most = self.sum.saturating_mul(u128::from(self.max));
        let is_full = self.sum_squares == u128::MAX;
        let is_enough = is_full || self.squares_around_whole_mean().is_some();
        if self.sum_squares > squares_most || !is_enough {
            return Err(DecodeError::Contradiction("sum of squares"));
        }
        Ok(())
    }

    /// The first and the last bucket that hold values.
    fn touched(&self) -> Option<(usize, usize)> {
        (!self.is_empty()).then(|| (clamped_index_of(self.min), clamped_index_of(self.max)))
    }
}

/// `ceil(quantile · count)`, between 1 and `count`, as if `quantile` were the decimal that was
/// meant: 0.07 · 100 is 7.000000000000001 in floating point, and its rank is 7.
fn rank_of(quantile: f64, count: u64) -> u64 {
    let product = quantile * count as f64;
    let nearest = product.round();
    let rounding = 2.0 * f64::EPSILON * product;
    let rank = if (product - nearest).abs() <= rounding { nearest } else { product.ceil() };
    (rank as u64).clamp(1, count)
}

/// The stored form. The sums are decimal strings: they exceed what JSON numbers carry exactly.
#[derive(Serialize, Deserialize)]
struct Stored {
    count: u64,
    min: u64,
    max: u64,
    sum: Decimal,
    sum_squares: Decimal,
    v2: String,
}

struct Decimal(u128);

impl Serialize for Decimal {
    fn serialize<S: Serializer>(&self, serializer: S) -> Result<S::Ok, S::Error> {
        serializer.collect_str(&self.0)
    }
}

impl<'de> Deserialize<'de> for Decimal {
    fn deserialize<D: Deserializer<'de>>(deserializer: D) -> Result<Self, D::Error> {
        let text = String::deserialize(deserializer)?;
        text.parse().map(Decimal).map_err(de::Error::custom)
    }
}

impl Serialize for Histogram {
    /// An object `{count, min, max, sum, sum_squares, v2}`; times in ns, sums as decimal strings.
    fn serialize<S: Serializer>(&self, serializer: S) -> Result<S::Ok, S::Error> {
        let Extremes { count, min, max, sum, sum_squares } = self.extremes();
        let (sum, sum_squares) = (Decimal(sum), Decimal(sum_squares));
        Stored { count, min, max, sum, sum_squares, v2: self.to_v2_base64() }.serialize(serializer)
    }
}

impl<'de> Deserialize<'de> for Histogram {
    fn deserialize<D: Deserializer<'de>>(deserializer: D) -> Result<Self, D::Error> {
        let Stored { count, min, max, sum, sum_squares, v2 } = Stored::deserialize(deserializer)?;
        let exact = Extremes { count, min, max, sum: sum.0, sum_squares: sum_squares.0 };
        Histogram::from_v2_base64(&v2, exact).map_err(de::Error::custom)
    }
}

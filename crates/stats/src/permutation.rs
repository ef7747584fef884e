//! A random order of 0..n that needs no memory and can be entered anywhere.
//!
//! Writing each block once in random order, split over workers, needs the i-th element of a
//! permutation without the elements before it. Linear congruential orders do that too, but their
//! low bits repeat with a short period, which walks the channels of an SSD in turn.

const ROUNDS: usize = 4;

/// A permutation of 0..n, one for each key.
///
/// A Feistel network of four rounds on the exact bit width of n (the halves differ by a bit when
/// the width is odd), with cycle walking: values beyond n are put through again, less than twice on
/// average (Black & Rogaway 2002).
///
/// ```
/// use drivelab_stats::Permutation;
///
/// let order = Permutation::new(1000, 7);
/// let mut seen: Vec<u64> = (0..order.len()).map(|index| order.at(index)).collect();
/// assert_ne!(seen[..3], [0, 1, 2]);
/// seen.sort_unstable();
/// assert!(seen.into_iter().eq(0..1000), "each once");
/// ```
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct Permutation {
    n: u64,
    low_bits: u32,
    low_mask: u64,
    high_mask: u64,
    keys: [u64; ROUNDS],
}

impl Permutation {
    /// The permutation of 0..`n` that belongs to `key`.
    pub fn new(n: u64, key: u64) -> Self {
        let width = u64::BITS - n.saturating_sub(1).leading_zeros();
        let high_bits = width / 2;
        let low_bits = width - high_bits;
        let mut state = key;
        let keys = std::array::from_fn(|_| crate::splitmix64(&mut state));
        let mask = |bits: u32| (1_u64 << bits) - 1;
        Self { n, low_bits, low_mask: mask(low_bits), high_mask: mask(high_bits), keys }
    }

    /// The number of elements.
    pub fn len(&self) -> u64 {
        self.n
    }

    /// Whether there are no elements.
    pub fn is_empty(&self) -> bool {
        self.n == 0
    }

    /// The element at `index`: every number below n comes at exactly one index below n.
    ///
    /// # Panics
    /// When `index` is not below n, where the walk might never end.
    #[inline]
    pub fn at(&self, index: u64) -> u64 {
        assert!(index < self.n, "index {index} is outside of a permutation of {}", self.n);
        let mut value = self.scramble(index);
        while value >= self.n {
            value = self.scramble(value);
        }
        value
    }

    /// The index of an element: what [`Permutation::at`] is asked for it.
    ///
    /// # Panics
    /// When `element` is not below n.
    ///
    /// ```
    /// let order = drivelab_stats::Permutation::new(1000, 7);
    /// assert!((0..1000).all(|index| order.index_of(order.at(index)) == index));
    /// ```
    #[inline]
    pub fn index_of(&self, element: u64) -> u64 {
        assert!(element < self.n, "{element} is not an element of a permutation of {}", self.n);
        let mut value = self.unscramble(element);
        while value >= self.n {
            value = self.unscramble(value);
        }
        value
    }

    #[inline]
    fn unscramble(&self, value: u64) -> u64 {
        let mut low = value & self.low_mask;
        let mut high = value >> self.low_bits;
        for pair in self.keys.rchunks_exact(2) {
            low ^= mix(high, pair[1]) & self.low_mask;
            high ^= mix(low, pair[0]) & self.high_mask;
        }
        high << self.low_bits | low
    }

    #[inline]
    fn scramble(&self, value: u64) -> u64 {
        let mut low = value & self.low_mask;
        let mut high = value >> self.low_bits;
        for pair in self.keys.chunks_exact(2) {
            high ^= mix(low, pair[0]) & self.high_mask;
            low ^= mix(high, pair[1]) & self.low_mask;
        }
        high << self.low_bits | low
    }
}

/// The upper half of multiply, shift, multiply (the constant is that of degski's 64-bit mixer).
///
/// One multiplication is not enough: consecutive halves then give a linear sequence, and with some
/// keys four rounds leave a correlation of 0.3 between neighbours.
#[inline]
fn mix(half: u64, key: u64) -> u64 {
    let hash = (half ^ key).wrapping_mul(0xd6e8_feb8_6659_fd93);
    (hash ^ (hash >> 32)).wrapping_mul(0xd6e8_feb8_6659_fd93) >> 32
}

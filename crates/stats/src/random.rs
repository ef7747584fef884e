//! Random numbers that are the same on every machine and for ever.
//!
//! A stored seed must reproduce every offset years later, so everything that turns raw numbers
//! into variates is written here, on `libm`, and pinned by tests.

use rand_xoshiro::{
    Xoshiro256PlusPlus,
    rand_core::{Rng, SeedableRng},
};

/// Advances `state` and returns the next number of splitmix64 (Steele, Lea & Flood 2014).
pub fn splitmix64(state: &mut u64) -> u64 {
    *state = state.wrapping_add(0x9e37_79b9_7f4a_7c15);
    let mut mixed = *state;
    mixed = (mixed ^ (mixed >> 30)).wrapping_mul(0xbf58_476d_1ce4_e5b9);
    mixed = (mixed ^ (mixed >> 27)).wrapping_mul(0x94d0_49bb_1331_11eb);
    mixed ^ (mixed >> 31)
}

/// The seed of one worker of one stream, from the seed of the run.
///
/// A chain of splitmix64 steps: with two of the arguments fixed, no two values of the third give
/// the same seed.
pub fn derive(seed: u64, stream: u64, worker: u64) -> u64 {
    let mut state = seed;
    let mut of_stream = splitmix64(&mut state) ^ stream;
    let mut of_worker = splitmix64(&mut of_stream) ^ worker;
    splitmix64(&mut of_worker)
}

/// What random numbers are for. Each has a stream of its own: that two things are drawn alike by
/// chance of a shared tag is a defect that nobody sees.
///
/// The tags are words in ASCII and never change: runs of before must come out the same.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
#[repr(u64)]
pub enum Domain {
    /// The cells of the battery of `accept`, in turn.
    AcceptOrder = 0x6163_6365_7074,
    /// Which address, which kind and which size, of one worker.
    Addresses = 0x61_6464_7265,
    /// When operations arrive.
    Arrivals = 0x61_7272_6976,
    /// The cells of the battery of `check`, in turn.
    CheckOrder = 0x63_6865_636b,
    /// Victims of collection that are drawn.
    Collection = 0x63_6f6c_6c65,
    /// What is written.
    Content = 0x63_6f6e_7465,
    /// A simulated drive.
    Drive = 0x64_7269_7665,
    /// One of several files that are visited in turn.
    File = 0x6669_6c65,
    /// The drives of a simulated array.
    Members = 0x6d_656d_6265,
    /// A simulated network.
    Network = 0x6e_6574,
    /// How a simulated drive's times wander from run to run.
    Noise = 0x6e_6f69_7365,
    /// A sequence of operations that a plan fixes.
    PlanOrder = 0x6f_7264_6572,
    /// A permutation of places, each once.
    Places = 0x0072_6465_7221,
    /// Which requests have a priority of their own.
    Priorities = 0x7072_696f,
    /// Operations of before, again in another order.
    Replay = 0x7265_706c_6179,
    /// Places where the rounds of a study begin, in turn.
    RoundPlaces = 0x70_6c61_6365,
    /// Blocks that are read to see what they hold.
    Sample = 0x73_616d_706c,
    /// When planted stalls begin.
    Stalls = 0x73_7461_6c6c,
    /// What a simulated drive holds in its steady state.
    Steady = 0x73_7465_6164,
    /// The steps of a study, in turn.
    StudyOrder = 0x6f72_6465_7273,
}

impl Domain {
    /// The seed of number `index` of this domain, from the seed of the run.
    pub fn seed(self, seed: u64, index: u64) -> u64 {
        derive(seed, self as u64, index)
    }
}

/// A xoshiro256++ generator (Blackman & Vigna 2021), seeded by splitmix64.
///
/// ```
/// use drivelab_stats::{Random, derive};
///
/// let draw = |worker| Random::new(derive(42, 0, worker)).below(1_000_000);
/// assert_eq!(draw(3), draw(3), "a seed gives the same numbers for ever");
/// assert_ne!(draw(3), draw(4), "each worker has its own");
/// ```
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct Random {
    generator: Xoshiro256PlusPlus,
}

impl Random {
    /// A generator whose four words of state are the first four numbers of splitmix64 from `seed`.
    pub fn new(seed: u64) -> Self {
        let mut state = seed;
        let mut bytes = [0; 32];
        for word in bytes.chunks_exact_mut(8) {
            word.copy_from_slice(&splitmix64(&mut state).to_le_bytes());
        }
        Self { generator: Xoshiro256PlusPlus::from_seed(bytes) }
    }

    /// The next 64 random bits.
    #[inline]
    pub fn next_u64(&mut self) -> u64 {
        self.generator.next_u64()
    }

    /// A number below `n`, every one equally likely: multiply and shift, with rejection of the
    /// surplus (Lemire 2019). 0 when `n` is 0.
    #[inline]
    pub fn below(&mut self, n: u64) -> u64 {
        let mut product = u128::from(self.next_u64()) * u128::from(n);
        if low_half(product) < n {
            let surplus = n.wrapping_neg() % n;
            while low_half(product) < surplus {
                product = u128::from(self.next_u64()) * u128::from(n);
            }
        }
        high_half(product)
    }

    /// A number in [0, 1): one of the multiples of 2^-53, every one equally likely.
    #[inline]
    pub fn unit_f64(&mut self) -> f64 {
        (self.next_u64() >> 11) as f64 * (1.0 / (1_u64 << 53) as f64)
    }

    /// An exponentially distributed number with the given mean, in the unit of the mean, by
    /// inversion: `−mean · ln(1 − u)`. At most 36.8 times the mean, as `u` has 53 bits.
    #[inline]
    pub fn exponential(&mut self, mean: f64) -> f64 {
        -mean * libm::log(1.0 - self.unit_f64())
    }

    /// A normally distributed number of mean 0 and standard deviation 1 (Box & Muller 1958), of
    /// which the second of each pair is left.
    #[inline]
    pub fn normal(&mut self) -> f64 {
        let length = libm::sqrt(-2.0 * libm::log(1.0 - self.unit_f64()));
        length * libm::cos(std::f64::consts::TAU * self.unit_f64())
    }
}

#[inline]
fn low_half(product: u128) -> u64 {
    product as u64
}

#[inline]
fn high_half(product: u128) -> u64 {
    (product >> 64) as u64
}

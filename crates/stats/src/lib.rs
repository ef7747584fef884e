//! Histograms, estimates with intervals, permutations and random numbers for drivelab.
//!
//! Pure arithmetic: nothing here reads a clock, a file or the environment, so equal inputs give
//! equal outputs for ever. Every formula names its source.

#![forbid(unsafe_code)]

mod batch_means;
mod estimate;
mod histogram;
mod percentile;
mod permutation;
mod random;
mod v2;
mod zipf;

pub use batch_means::{
    BatchMeans, batch_means, batch_means_of_length, effective_sample_size_geyer,
};
pub use estimate::Estimate;
pub use histogram::{Extremes, HIGHEST_TRACKABLE_NS, Histogram};
pub use percentile::{samples_needed, supported, supported_quantile};
pub use permutation::Permutation;
pub use random::{Random, derive, splitmix64};
pub use v2::DecodeError;
pub use zipf::Zipf;

//! Statistics for measurements: estimates with intervals, comparisons, series, verdicts; and the
//! histograms, permutations and random numbers that measuring takes.
//!
//! Pure arithmetic: nothing here reads a clock, a file or the environment, so equal inputs give
//! equal outputs for ever. Every formula names its source. Samples are slices in the unit of the
//! data; shares and levels lie between 0 and 1; data that cannot give an answer give a [`NoAnswer`]
//! and never a p-value of 0 or a NaN.
//!
//! Latencies go into a histogram, and a percentile comes out only where the sample supports it:
//!
//! ```
//! use drivelab_stats::{Histogram, samples_needed, supported_quantile};
//!
//! let mut latencies = Histogram::new();
//! for microseconds in 1..=10_000 {
//!     latencies.record(microseconds * 1_000);
//! }
//! let p99 = supported_quantile(&latencies, 0.99).expect("10,000 values support it");
//! assert!((9_900_000..=9_910_000).contains(&p99), "exact to 0.1 %: {p99} ns");
//! // The slowest in 10,000 takes more than 10,000 values.
//! assert_eq!(supported_quantile(&latencies, 0.9999), None);
//! assert!(samples_needed(0.9999) > 10_000);
//! ```
//!
//! Repetitions give an estimate with its interval, and two sets of them a verdict:
//!
//! ```
//! use drivelab_stats::{Estimate, Pair, Verdict, judge};
//!
//! let before = [100.0, 101.0, 99.0, 100.5, 99.5];
//! let after = [79.0, 80.5, 80.0, 81.0, 79.5];
//! let rate = Estimate::mean_of(&before).expect("there are values");
//! assert!(rate.low.expect("they differ") < 100.0 && rate.high.expect("likewise") > 100.0);
//! // Equal repetitions say nothing about how far they would stray.
//! assert_eq!(Estimate::mean_of(&[80.0; 5]).expect("a mean").low, None);
//!
//! let pair = Pair { before: &before, after: &after, delta: 0.05 };
//! let judged = judge(&[pair])?[0];
//! assert_eq!(judged.verdict, Verdict::Changed);
//! assert!((0.79..0.81).contains(&judged.ratio.value));
//! # Ok::<(), drivelab_stats::NoAnswer>(())
//! ```

#![forbid(unsafe_code)]

mod batch_means;
mod centre;
mod change_points;
mod counting;
mod data;
mod descriptive;
mod drift;
mod estimate;
mod family;
mod histogram;
mod jackknife;
mod order_statistics;
mod over_time;
mod percentile;
mod permutation;
mod planning;
mod queueing;
mod random;
mod ranks;
mod resampling;
mod series;
pub mod steady;
mod v2;
mod verdict;
mod welch;
mod zipf;

pub use batch_means::{
    BatchMeans, batch_means, batch_means_of_length, effective_sample_size_geyer,
};
pub use centre::{centred, centred_at};
pub use change_points::{
    ChangePoint, Knee, Period, changes, divergences, knee, period, strongest_change,
};
pub use counting::{event_rate, poisson_interval};
pub use data::NoAnswer;
pub use descriptive::{Description, mean_interval, quantile};
pub use drift::{Drift, drift};
pub use estimate::Estimate;
pub use family::{any_false_alarm, benjamini_hochberg, false_alarms_of_error_bars, holm};
pub use histogram::{Extremes, Histogram};
pub use jackknife::{Counts, jackknife, jackknife_difference};
pub use order_statistics::{
    Ranks, harrell_davis, maritz_jarrett, quantile_interval, quantile_ranks, quantile_ranks_normal,
    samples_needed_one_sided,
};
pub use over_time::{NoInterval, OverTime, over_time};
pub use percentile::{samples_needed, supported, supported_quantile};
pub use permutation::Permutation;
pub use planning::{
    TwoLevels, half_widths, repetitions_for_equivalence, repetitions_for_mean,
    repetitions_to_detect, stops_at,
};
pub use queueing::{Mixture, operations_in_flight};
pub use random::{Domain, Random, derive, splitmix64};
pub use ranks::{
    MannWhitney, Shift, hodges_lehmann, hodges_lehmann_ratio, kolmogorov_smirnov, mann_whitney,
};
pub use resampling::{PermutationTest, cluster_bootstrap, least_permutation_p, permutation_test};
pub use series::{Trend, WarmUp, autocorrelation, trend, von_neumann, warm_up};
pub use v2::{DecodeError, HIGHEST_TRACKABLE_NS};
pub use verdict::{Judged, Open, Pair, Ratio, Test, Verdict, judge, judge_ordered};
pub use welch::{Equivalence, Welch, fieller, ratio_band};
pub use zipf::Zipf;

//! Claims about a drive and what a run said of them; `drivelab-study` judges, reports print.

use drivelab_stats::Estimate;
use serde::{Deserialize, Serialize};

/// What a claim is about. Latencies are service times in nanoseconds.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Serialize, Deserialize)]
#[serde(rename_all = "snake_case")]
pub enum Metric {
    /// Operations a second.
    Iops,
    /// Bytes a second.
    BandwidthBytesPerS,
    /// Mean latency.
    MeanNs,
    /// Median latency.
    P50Ns,
    /// 90th percentile.
    P90Ns,
    /// 99th percentile.
    P99Ns,
    /// 99.9th percentile.
    #[serde(rename = "p99_9_ns")]
    P999Ns,
    /// 99.99th percentile.
    #[serde(rename = "p99_99_ns")]
    P9999Ns,
    /// Largest latency.
    MaxNs,
}

impl Metric {
    /// The figure in words for people.
    pub fn words(self) -> &'static str {
        match self {
            Metric::Iops => "IOPS",
            Metric::BandwidthBytesPerS => "bandwidth",
            Metric::MeanNs => "mean latency",
            Metric::P50Ns => "p50 latency",
            Metric::P90Ns => "p90 latency",
            Metric::P99Ns => "p99 latency",
            Metric::P999Ns => "p99.9 latency",
            Metric::P9999Ns => "p99.99 latency",
            Metric::MaxNs => "max latency",
        }
    }

    /// The quantile, for percentiles.
    pub fn quantile(self) -> Option<f64> {
        match self {
            Metric::P50Ns => Some(0.5),
            Metric::P90Ns => Some(0.9),
            Metric::P99Ns => Some(0.99),
            Metric::P999Ns => Some(0.999),
            Metric::P9999Ns => Some(0.9999),
            _ => None,
        }
    }
}

/// Whether a claim holds.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Serialize)]
pub enum Answer {
    /// The interval lies wholly on the good side.
    #[serde(rename = "met")]
    Met,
    /// The interval lies wholly on the bad side.
    #[serde(rename = "not met")]
    NotMet,
    /// Neither, or the number cannot be believed.
    #[serde(rename = "cannot tell")]
    CannotTell,
}

impl Answer {
    /// The words in tables.
    pub fn words(self) -> &'static str {
        match self {
            Answer::Met => "met",
            Answer::NotMet => "not met",
            Answer::CannotTell => "cannot tell",
        }
    }
}

/// One claim with its answer.
#[derive(Debug, Clone, PartialEq, Serialize)]
pub struct JudgedClaim {
    /// Its name.
    pub name: String,
    /// What it is about.
    pub metric: Metric,
    /// The figure must not be below this.
    pub at_least: Option<f64>,
    /// The figure must not be above this.
    pub at_most: Option<f64>,
    /// What was measured; `None` where the data give no figure.
    pub estimate: Option<Estimate>,
    /// Whether it holds.
    pub answer: Answer,
    /// Why the answer is not plain `met`; empty where it is.
    pub why: String,
}

//! Claims about a drive and what a run said of them; `drivelab-study` judges, reports print.

use drivelab_stats::Estimate;
use schemars::JsonSchema;
use serde::{Deserialize, Serialize};

/// What a claim is about. Latencies are service times in nanoseconds.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Serialize, Deserialize, JsonSchema)]
#[serde(rename_all = "snake_case")]
#[schemars(rename = "ClaimMetric")]
pub enum Metric {
    /// Operations a second.
    Iops,
    /// Bytes a second.
    #[serde(alias = "bandwidth")]
    BandwidthBytesPerS,
    /// Mean latency.
    #[serde(alias = "mean")]
    MeanNs,
    /// Median latency.
    #[serde(alias = "p50")]
    P50Ns,
    /// 90th percentile.
    #[serde(alias = "p90")]
    P90Ns,
    /// 99th percentile.
    #[serde(alias = "p99")]
    P99Ns,
    /// 99.9th percentile.
    #[serde(rename = "p99_9_ns", alias = "p99_9", alias = "p99.9")]
    P999Ns,
    /// 99.99th percentile.
    #[serde(rename = "p99_99_ns", alias = "p99_99", alias = "p99.99")]
    P9999Ns,
    /// Largest latency.
    #[serde(alias = "max")]
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
#[derive(Debug, Clone, Copy, PartialEq, Eq, Serialize, Deserialize, JsonSchema)]
#[schemars(rename = "ClaimAnswer")]
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
#[derive(Debug, Clone, PartialEq, Serialize, Deserialize, JsonSchema)]
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

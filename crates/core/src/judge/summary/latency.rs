//! Latencies of a cell: over its repetitions, and of all of them together.

use super::Latency;
use drivelab_stats::Estimate;
use schemars::JsonSchema;
use serde::Serialize;

/// Figures of the I/Os of all repetitions together, as in [`MergedLatency`], each with the interval
/// that follows from the spread of the repetitions. `None` where the I/Os cannot support it.
#[derive(Debug, Clone, Default, PartialEq, Serialize, JsonSchema)]
pub struct LatencyEstimates {
    /// Smallest.
    pub min: Option<Estimate>,
    /// Arithmetic mean.
    pub mean: Option<Estimate>,
    /// Largest.
    pub max: Option<Estimate>,
    /// Median.
    pub p50: Option<Estimate>,
    /// 90th percentile.
    pub p90: Option<Estimate>,
    /// 99th percentile.
    pub p99: Option<Estimate>,
    /// 99.9th percentile.
    pub p99_9: Option<Estimate>,
    /// 99.99th percentile.
    pub p99_99: Option<Estimate>,
}

/// Latencies of the I/Os of all repetitions together.
#[derive(Debug, Clone, Default, PartialEq, Serialize, JsonSchema)]
pub struct MergedLatency {
    /// Issued → submitting call returned.
    pub submit_ns: Option<Latency>,
    /// Issued → completed.
    pub service_ns: Option<Latency>,
    /// Due → completed.
    pub response_ns: Option<Latency>,
    /// First write since the last flush issued → flush completed.
    #[serde(skip_serializing_if = "Option::is_none")]
    pub commit_ns: Option<Latency>,
}

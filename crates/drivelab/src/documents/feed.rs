//! What a feed says while a run lasts.

use drivelab_core::op::Action;
use drivelab_core::plan::Role;
use drivelab_core::summary::Latency;
use schemars::JsonSchema;
use serde::Serialize;
use std::collections::BTreeMap;

/// One interval of one stream, all of its workers together.
#[derive(Debug, Clone, PartialEq, Serialize, JsonSchema)]
pub struct FeedInterval {
    /// Run ID.
    pub run: String,
    /// Number of the executed step, from 0.
    pub step: u32,
    /// Its name; steps of one name are repetitions of one cell.
    pub name: String,
    /// Why the step is done. Only `measure` steps are results.
    pub role: Role,
    /// Which repetition of its name, from 1.
    pub repetition: u32,
    /// Which stream of the step, from 0.
    pub stream: u32,
    /// Beginning, in nanoseconds since time zero of the run.
    pub from_ns: u64,
    /// End.
    pub to_ns: u64,
    /// Part of the ramp: not in any result.
    pub ramp: bool,
    /// Cut off, longer than an interval, or not of all workers: its rates are not comparable.
    pub partial: bool,
    /// Workers that are in it.
    pub workers: u32,
    /// The kinds that it issued.
    #[serde(flatten)]
    pub kinds: BTreeMap<Action, FeedKind>,
}

/// One kind of operation in one interval.
#[derive(Debug, Clone, Default, PartialEq, Serialize, JsonSchema)]
pub struct FeedKind {
    /// Completions without error.
    pub ops: u64,
    /// Bytes they moved.
    pub bytes: u64,
    /// Completions with error.
    pub errors: u64,
    /// Completions a second: the rates of the workers together.
    pub ops_per_s: f64,
    /// Bytes a second, likewise.
    pub bytes_per_s: f64,
    /// Issued to completed; null where nothing completed.
    pub service_ns: Option<Latency>,
    /// Due to completed; null in a closed loop.
    pub response_ns: Option<Latency>,
}

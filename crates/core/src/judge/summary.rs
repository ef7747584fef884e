//! A run turned into numbers: pure, and the only place where rates are formed.
//!
//! [`summarise`] recomputes every figure from the run alone, so the terminal, the report and
//! `--json` cannot disagree. A [`Summary`] serialises to the JSON object that scripts rely on.

mod cells;
mod drifts;
mod drive;
mod gaps;
mod latency;
mod load;
mod series;
pub(crate) mod streams;
mod suspicion;
#[cfg(test)]
mod tests;

use crate::findings::Findings;
use crate::health_change::{HealthChange, changes};
use crate::inside::Inside;
use crate::op::{Action, Errno, Time};
use crate::plan::{IoPriority, Role};
use crate::quantity::counted;
use crate::record::{DeviceCounters, Warning};
use crate::rounds;
use crate::run::Run;
use crate::tally::{Gap, Mismatch, Slow};
use crate::truth::{self, Judgement};
use crate::verified::Verified;
use drivelab_stats::{Estimate, Histogram, supported_quantile};
use schemars::JsonSchema;
use serde::Serialize;
use std::collections::BTreeMap;

pub use cells::summarise_cell;
pub use drifts::Drifting;
pub use gaps::stream_gaps;
pub use latency::{LatencyEstimates, MergedLatency};
pub use load::Load;
pub use series::{Point, series};
pub use streams::{LatencyKind, Window, cell_histogram, histogram, window};
pub use suspicion::{Suspicion, suspicions};

/// Number of the JSON schema; it grows when a reader must know.
pub const SCHEMA: u32 = 1;

/// A whole run in numbers.
#[derive(Debug, Clone, PartialEq, Serialize, JsonSchema)]
pub struct Summary {
    /// [`SCHEMA`].
    pub schema: u32,
    /// Run ID.
    pub run: String,
    /// The target as typed.
    pub target: String,
    /// The seed of the run.
    pub seed: u64,
    /// Everything planned was done.
    pub complete: bool,
    /// Why it is not complete; `None` where it is, or where nobody could say (killed).
    pub incomplete: Option<String>,
    /// Version of drivelab.
    pub version: String,
    /// `check`, `run` …
    pub command: String,
    /// Wall-clock time of the beginning, RFC 3339, UTC.
    pub started_at: String,
    /// What the run was called (`--tag`).
    pub tag: Option<String>,
    /// One entry for each executed step.
    pub steps: Vec<StepSummary>,
    /// One entry for each name of a measuring step, over its repetitions.
    pub cells: Vec<CellSummary>,
    /// What the drives counted of themselves meanwhile; absent where none was asked.
    #[serde(skip_serializing_if = "Vec::is_empty")]
    pub health: Vec<HealthChange>,
    /// What a reader of the numbers must know.
    pub warnings: Vec<Warning>,
    /// What was concluded, if anything was.
    pub findings: Option<Findings>,
}

/// Why a step is not valid.
#[derive(Debug, Clone, PartialEq, Eq, Serialize, JsonSchema)]
pub struct Reason {
    /// A word for machines.
    pub code: String,
    /// A sentence.
    pub text: String,
}

/// One repetition of a step.
#[derive(Debug, Clone, PartialEq, Serialize, JsonSchema)]
pub struct StepSummary {
    /// Number of the executed step, from 0.
    pub step: u32,
    /// Its name.
    pub name: String,
    /// Its role.
    pub role: Role,
    /// Which repetition of its name, from 1.
    pub repetition: u32,
    /// State of the drive before it.
    pub state: String,
    /// The truth guard's word; `None`: not checked.
    pub valid: Option<bool>,
    /// What speaks against it.
    pub reasons: Vec<Reason>,
    /// What a reader should know, and what takes nothing from the numbers.
    pub notes: Vec<Reason>,
    /// What could not be checked, and why.
    pub unchecked: Vec<Reason>,
    /// Why it ended early, if it did.
    pub incomplete: Option<String>,
    /// Its streams.
    pub streams: Vec<StreamSummary>,
    /// What the kernel counted meanwhile.
    pub devices: Vec<DeviceCounters>,
    /// Wrong stamps, the first hundred.
    pub mismatches: Vec<Mismatch>,
    /// What a simulated drive did; `None` on a real one.
    pub drive: Option<DriveSummary>,
}

/// What a simulated drive did inside.
#[derive(Debug, Clone, PartialEq, Serialize, JsonSchema)]
pub struct DriveSummary {
    /// Units programmed by unit written, over the last full pass (the drive's bytes written
    /// once), or over the whole step where it wrote less; `None` where nothing was programmed.
    pub write_amplification: Option<f64>,
    /// How many passes that is taken over; below 1 where the step wrote less than one.
    pub passes: Option<f64>,
    /// Units programmed by unit written since the drive was made.
    pub write_amplification_total: Option<f64>,
    /// Share of the time of all dies or arms that was spent for the host and in the background.
    pub utilisation: Option<f64>,
    /// Days until the cells are worn out at this rate and amplification, with even wear; `None`
    /// where nothing was written or the cells are not known.
    pub lifetime_days: Option<f64>,
    /// Counts of the step, and levels at its end.
    #[serde(flatten)]
    pub inside: Inside,
}

/// Counts and rates of one kind, or of several together.
#[derive(Debug, Clone, Default, PartialEq, Serialize, JsonSchema)]
pub struct Rates {
    /// Completions without error in the measured window.
    pub ops: u64,
    /// Bytes they moved.
    pub bytes: u64,
    /// Completions with error.
    pub errors: u64,
    /// Completions a second; `None` without a window.
    pub iops: Option<Estimate>,
    /// Bytes a second; `None` without a window, or where the kind moves none.
    pub bandwidth_bytes_per_s: Option<Estimate>,
    /// Why these rates have no interval, where more than one value was there to form one of.
    pub no_interval: Option<Reason>,
}

/// How often one errno came.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Serialize, JsonSchema)]
pub struct ErrorCount {
    /// The errno; 0 stands for those beyond what a tally tells apart.
    pub errno: Errno,
    /// How often.
    pub count: u64,
}

/// One stream of one step.
#[derive(Debug, Clone, PartialEq, Serialize, JsonSchema)]
pub struct StreamSummary {
    /// What it was told to do.
    #[serde(flatten)]
    pub load: Load,
    /// Beginning of the measured window, in nanoseconds since the testbed began, as the times of
    /// gaps and slow I/Os are; `None` when nothing was measured.
    pub measured_from_ns: Option<Time>,
    /// Length of the measured window in seconds; `None` when nothing was measured.
    pub seconds: Option<f64>,
    /// The kinds it issued.
    #[serde(flatten)]
    pub kinds: BTreeMap<Action, KindSummary>,
    /// All kinds but flush together.
    pub total: Rates,
    /// CPU time of the workers by I/Os issued, ramp included and without that of waiting for others
    /// of their group; `None` where unknown.
    pub engine_cpu_ns_per_op: Option<f64>,
    /// Mean operations in flight at submission, per worker.
    pub depth_reached: Option<f64>,
    /// Share of their time that its workers waited for others of their group.
    #[serde(skip_serializing_if = "Option::is_none")]
    pub waited_share: Option<f64>,
    /// Times in which no worker had a completion.
    pub gaps: Gaps,
    /// The slowest I/Os of the window, slowest first, at most [`SLOWEST_SHOWN`].
    pub slowest: Vec<Slow>,
    /// Open loop: most operations of one worker that were due and not issued.
    pub backlog: Option<u64>,
    /// Open loop: how late operations were issued.
    pub lateness: Option<Lateness>,
    /// Stamps checked.
    pub verified: u64,
    /// Stamps that were wrong or missing.
    pub mismatched: u64,
    /// Of these, blocks without any stamp.
    pub unstamped: u64,
    /// Mean I/Os carried by one submitting call; `None` where not counted.
    pub ops_per_submit_call: Option<f64>,
}

/// How many of the slowest I/Os a summary lists.
pub const SLOWEST_SHOWN: usize = 20;

/// How late an open loop issued, in nanoseconds.
#[derive(Debug, Clone, Copy, PartialEq, Serialize, JsonSchema)]
pub struct Lateness {
    /// Mean of issued − due.
    pub mean_ns: f64,
    /// Largest issued − due.
    pub max_ns: u64,
}

/// Stream-wide times without a completion.
#[derive(Debug, Clone, Default, PartialEq, Eq, Serialize, JsonSchema)]
pub struct Gaps {
    /// Gaps are listed from this length on.
    pub over_ns: u64,
    /// How many; `None` when a worker had more than its list can hold and others ran next to it.
    pub count: Option<u64>,
    /// The longest; shorter than `over_ns` only where one worker ran. `None`: shorter than
    /// `over_ns`, or unknown.
    pub longest_ns: Option<u64>,
    /// In order of time; the longest thousand.
    pub list: Vec<Gap>,
}

/// One kind in one stream of one step.
#[derive(Debug, Clone, Default, PartialEq, Serialize, JsonSchema)]
pub struct KindSummary {
    /// Seconds that its rate counts by; `None`: it has no rate.
    #[serde(skip)]
    pub seconds: Option<f64>,
    /// Counts and rates.
    #[serde(flatten)]
    pub rates: Rates,
    /// The errors by errno, most frequent first.
    pub errors_by_errno: Vec<ErrorCount>,
    /// Issued → submitting call returned; `None` where the call is the I/O.
    pub submit_ns: Option<Latency>,
    /// Issued → completed.
    pub service_ns: Option<Latency>,
    /// Due → completed; `None` in a closed loop.
    pub response_ns: Option<Latency>,
    /// Of flushes: first write since the last flush issued → flush completed. Only where there is
    /// a flush after each write or several, and one operation at a time.
    #[serde(skip_serializing_if = "Option::is_none")]
    pub commit_ns: Option<Latency>,
    /// By priority, where requests have their own.
    #[serde(skip_serializing_if = "Vec::is_empty")]
    pub priorities: Vec<PrioritySummary>,
}

/// The requests of one kind and one priority.
#[derive(Debug, Clone, PartialEq, Serialize, JsonSchema)]
pub struct PrioritySummary {
    /// Which one; `None`: that of a thread that has none.
    pub priority: Option<IoPriority>,
    /// Issued → completed.
    pub service_ns: Latency,
}

/// Latencies of recorded I/Os in nanoseconds. A percentile that the sample cannot support is
/// `None`.
#[derive(Debug, Clone, Copy, PartialEq, Serialize, JsonSchema)]
pub struct Latency {
    /// I/Os recorded.
    pub count: u64,
    /// Smallest, exact.
    pub min: u64,
    /// Arithmetic mean, exact.
    pub mean: f64,
    /// Largest, exact.
    pub max: u64,
    /// Median; at most 0.1 % above the exact one, as all percentiles.
    pub p50: Option<u64>,
    /// 90th percentile.
    pub p90: Option<u64>,
    /// 99th percentile.
    pub p99: Option<u64>,
    /// 99.9th percentile.
    pub p99_9: Option<u64>,
    /// 99.99th percentile.
    pub p99_99: Option<u64>,
}

impl Latency {
    /// The latencies in a histogram; `None` when it is empty.
    pub fn of(histogram: &Histogram) -> Option<Self> {
        Some(Latency {
            count: histogram.count(),
            min: histogram.min(),
            mean: histogram.mean()?,
            max: histogram.max(),
            p50: supported_quantile(histogram, 0.5),
            p90: supported_quantile(histogram, 0.9),
            p99: supported_quantile(histogram, 0.99),
            p99_9: supported_quantile(histogram, 0.999),
            p99_99: supported_quantile(histogram, 0.9999),
        })
    }
}

/// One cell: a name over its repetitions.
#[derive(Debug, Clone, PartialEq, Serialize, JsonSchema)]
pub struct CellSummary {
    /// The name its steps share.
    pub name: String,
    /// Repetitions that the estimates rest on.
    pub repetitions: u32,
    /// Repetitions that ended early. They are left out unless there is no other.
    pub incomplete: u32,
    /// Repetitions left out because the truth guard suspects them.
    pub suspect: u32,
    /// Numbers of the executed steps that the estimates rest on.
    pub steps: Vec<u32>,
    /// State of the drive before the first repetition.
    pub state: String,
    /// The truth guard's word over the repetitions used; `None`: not checked.
    pub valid: Option<bool>,
    /// What speaks against it, each once.
    pub reasons: Vec<Reason>,
    /// What rose or fell over the repetitions; such a cell enters no comparison.
    pub drifts: Vec<Drifting>,
    /// What a reader should know, each once.
    pub notes: Vec<Reason>,
    /// What could not be checked, each once.
    pub unchecked: Vec<Reason>,
    /// Its streams.
    pub streams: Vec<CellStream>,
}

/// One stream of a cell.
#[derive(Debug, Clone, PartialEq, Serialize, JsonSchema)]
pub struct CellStream {
    /// What it was told to do.
    #[serde(flatten)]
    pub load: Load,
    /// Measured seconds of all repetitions together.
    pub seconds: f64,
    /// The kinds it issued.
    #[serde(flatten)]
    pub kinds: BTreeMap<Action, CellKind>,
    /// All kinds but flush together.
    pub total: Rates,
    /// CPU time by I/O, over the repetitions.
    pub engine_cpu_ns_per_op: Option<Estimate>,
    /// Mean operations in flight at submission, per worker.
    pub depth_reached: Option<Estimate>,
    /// Gaps of all repetitions together; `None` when one of them is unknown.
    pub gap_count: Option<u64>,
    /// The longest gap of all repetitions, where known.
    pub gap_ns_longest: Option<u64>,
    /// Gaps count from this length on.
    pub gap_over_ns: u64,
}

/// One kind in one stream of a cell. Counts are sums over repetitions.
#[derive(Debug, Clone, Default, PartialEq, Serialize, JsonSchema)]
pub struct CellKind {
    /// Counts and rates; the intervals come from the repetitions, or from within the only one.
    #[serde(flatten)]
    pub rates: Rates,
    /// Estimates over repetitions, submit latency.
    pub submit_ns: Option<LatencyEstimates>,
    /// Estimates over repetitions, service latency.
    pub service_ns: Option<LatencyEstimates>,
    /// Estimates over repetitions, response latency.
    pub response_ns: Option<LatencyEstimates>,
    /// Estimates over repetitions, latency of whole commits.
    #[serde(skip_serializing_if = "Option::is_none")]
    pub commit_ns: Option<LatencyEstimates>,
    /// The I/Os of all repetitions in one histogram.
    pub merged: MergedLatency,
}

/// The numbers of a run. Pure: equal runs give equal summaries.
pub fn summarise(run: &Run) -> Summary {
    let complete = run.complete();
    let steps: Vec<StepSummary> = (0..run.steps.len()).map(|at| summarise_step(run, at)).collect();
    Summary {
        schema: SCHEMA,
        run: run.begin.run.clone(),
        target: run.begin.target.clone(),
        seed: run.begin.seed,
        complete,
        incomplete: run.end.as_ref().and_then(|end| end.reason.clone()),
        version: run.begin.version.clone(),
        command: run.begin.command.clone(),
        started_at: run.begin.started_at.clone(),
        tag: run.begin.tag.clone(),
        cells: cells::in_order(cells::cells(run, &steps), run.findings.as_ref()),
        steps,
        health: changes(&run.health),
        warnings: run.warnings.clone(),
        findings: run.findings.clone(),
    }
}

fn summarise_step(run: &Run, index: usize) -> StepSummary {
    let step = &run.steps[index];
    let end = step.end.as_ref();
    let incomplete = match end {
        Some(end) => end.incomplete.clone(),
        None => Some("the run ended inside this step".to_owned()),
    };
    let streams: Vec<StreamSummary> = (0..step.plan.streams.len())
        .map(|stream| streams::summarise_stream(step, stream as u32))
        .collect();
    let Judgement { valid, reasons, mut notes, unchecked } = truth::judge(run, step, &streams);
    notes.extend(rounds::outcome(run, index).map(|text| Reason { code: "rounds".into(), text }));
    notes.extend(end.and_then(|end| end.found).map(|found| Reason {
        code: "found".into(),
        text: format!("{} of {} match", found.matched, counted(found.total, "file")),
    }));
    StepSummary {
        step: step.begin.step,
        name: step.begin.name.clone(),
        role: step.begin.role,
        repetition: step.begin.repetition,
        state: step.begin.state.clone(),
        valid,
        reasons,
        notes,
        unchecked,
        incomplete,
        streams,
        devices: end.map_or_else(Vec::new, |end| end.devices.clone()),
        mismatches: end
            .filter(|_| Verified::of(run, step).wrong() > 0)
            .map_or_else(Vec::new, |end| end.mismatches.clone()),
        drive: drive::summarise_drive(run, step),
    }
}

/// Nanoseconds as seconds.
fn seconds(nanoseconds: Time) -> f64 {
    nanoseconds as f64 / 1e9
}

//! The append-only stream that a run writes, one record a line, and nothing else.

use crate::anatomy::{Anatomy, Piece, Requests};
use crate::facts::Facts;
use crate::findings::Findings;
use crate::health_log::HealthReading;
use crate::inside::{Inside, InsideInterval};
use crate::ledger::Ledger;
use crate::observed::Observed;
use crate::plan::{Found, Plan, Role, SettingChange};
use crate::study::{Established, StudyOptions};
use crate::tally::{Mismatch, Phase, Slow, Tally};
use crate::units::is_default;
use schemars::JsonSchema;
use serde::{Deserialize, Serialize};
use std::collections::BTreeSet;

/// Number of the run file format; it grows when a reader must know.
pub const FORMAT: u32 = 1;

/// One line of a run file.
#[derive(Debug, Clone, PartialEq, Serialize, Deserialize)]
#[serde(tag = "record", rename_all = "snake_case")]
pub enum Record {
    /// First line.
    Begin(Box<Begin>),
    /// What will be done; a study may append several.
    Plan {
        /// The plan.
        plan: Plan,
    },
    /// A step (one repetition) begins.
    StepBegin(StepBegin),
    /// One worker's interval.
    Tally(Box<Tally>),
    /// What went on inside a simulated drive in one interval.
    Inside(Box<InsideInterval>),
    /// Where the time of a step's I/Os went.
    Anatomy(Box<Anatomy>),
    /// The I/Os of a worker whose stream keeps each by itself.
    Requests(Box<Requests>),
    /// A step has ended.
    StepEnd(Box<StepEnd>),
    /// A state that a study proved the drive to be in.
    Established(Established),
    /// A run that was broken off goes on from here.
    Resumed(Resumed),
    /// What the drives below the target said of their health.
    Health(Box<HealthReading>),
    /// Something a reader of the numbers must know.
    Warning(Warning),
    /// What was concluded.
    Judged {
        /// The conclusions.
        findings: Box<Findings>,
    },
    /// Last line; a run without it is incomplete.
    End(End),
}

/// The surroundings of a run.
#[derive(Debug, Clone, Default, PartialEq, Serialize, Deserialize)]
pub struct Begin {
    /// [`FORMAT`] of the writer.
    pub format: u32,
    /// Version of drivelab.
    pub version: String,
    /// Run ID.
    pub run: String,
    /// Wall-clock time of the beginning, RFC 3339, UTC.
    pub started_at: String,
    /// `check`, `run` …
    pub command: String,
    /// The command line as typed.
    pub arguments: Vec<String>,
    /// The target as typed.
    pub target: String,
    /// The seed of the run.
    pub seed: u64,
    /// How time was read.
    pub clock: ClockFacts,
    /// Target and machine.
    pub facts: Facts,
    /// The directory in which it was typed: what a target without a path of its own means.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub directory: Option<String>,
    /// State of the drive before the first step, where it was known.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub state: Option<String>,
    /// What the run was called, where it was given a name (`--tag`).
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub tag: Option<String>,
    /// The processes that shared the work, where there were several.
    #[serde(default, skip_serializing_if = "Vec::is_empty")]
    pub processes: Vec<ProcessFacts>,
    /// The study, with what was asked of it; it is what a resumed run goes on with.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub study: Option<StudyOptions>,
}

impl Begin {
    /// The machines whose processes shared the work, by name; empty where there was one process.
    pub fn machines(&self) -> BTreeSet<&str> {
        self.processes.iter().map(|process| process.host.as_str()).collect()
    }
}

/// One of several processes that share the work of a run.
#[derive(Debug, Clone, Default, PartialEq, Eq, Serialize, Deserialize)]
pub struct ProcessFacts {
    /// Its number, from 0.
    pub rank: u32,
    /// Its machine.
    pub host: String,
    /// What its clock was ahead of the first one's; taken out of all its times.
    pub clock_ahead_ns: i64,
    /// What that may be wrong by: half of the quickest way there and back.
    pub clock_skew_ns: u64,
}

/// A run that was broken off goes on.
#[derive(Debug, Clone, PartialEq, Eq, Serialize, Deserialize)]
pub struct Resumed {
    /// Wall-clock time, RFC 3339, UTC; absent in virtual time.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub at: Option<String>,
    /// Steps that stay as they were recorded.
    pub steps: u32,
    /// State of the drive, as far as it is still known.
    pub state: String,
    /// Why it is no longer the recorded one, if it is not.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub because: Option<String>,
}

/// How time was read.
#[derive(Debug, Clone, Default, PartialEq, Serialize, Deserialize)]
pub struct ClockFacts {
    /// `tsc`, `monotonic` or `virtual`.
    pub source: String,
    /// Why this one.
    pub reason: String,
    /// Disagreement with CLOCK_MONOTONIC in parts per million, where measured.
    pub disagreement_ppm: Option<f64>,
    /// Cost of one reading in nanoseconds, where measured.
    pub read_ns: Option<f64>,
    /// CLOCK_MONOTONIC at time zero of all stamps of the run; absent in virtual time.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub monotonic_zero_ns: Option<u64>,
}

/// A step begins.
#[derive(Debug, Clone, PartialEq, Serialize, Deserialize)]
pub struct StepBegin {
    /// Number of the executed step, from 0.
    pub step: u32,
    /// Index of the step in its plan.
    pub plan_step: u32,
    /// Index of the plan in the run.
    pub plan: u32,
    /// Which repetition of its name, from 1.
    pub repetition: u32,
    /// Its name.
    pub name: String,
    /// Its role.
    pub role: Role,
    /// State of the drive before it.
    pub state: String,
    /// What the kernel really did: the flags of the open files, one entry a stream.
    #[serde(default, skip_serializing_if = "Vec::is_empty")]
    pub opened: Vec<String>,
}

/// A step has ended.
#[derive(Debug, Clone, Default, PartialEq, Serialize, Deserialize)]
pub struct StepEnd {
    /// Number of the executed step.
    pub step: u32,
    /// One for each worker.
    pub phases: Vec<Phase>,
    /// The slowest I/Os of the step, slowest first.
    pub slowest: Vec<Slow>,
    /// Wrong stamps, the first hundred.
    #[serde(default, skip_serializing_if = "Vec::is_empty")]
    pub mismatches: Vec<Mismatch>,
    /// What the kernel counted meanwhile, one entry a block device of the target.
    #[serde(default, skip_serializing_if = "Vec::is_empty")]
    pub devices: Vec<DeviceCounters>,
    /// What was seen around it; absent in virtual time.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub observed: Option<Observed>,
    /// What went on inside a simulated drive during the step.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub inside: Option<Inside>,
    /// The same since the drive was made.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub inside_total: Option<Inside>,
    /// How long an act took; absent in virtual time and where streams ran.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub act_ns: Option<u64>,
    /// Where the files lay on the device when it was unmounted: the pieces of each. Empty where
    /// that is not known, or where what was read there was not what the files held.
    #[serde(default, skip_serializing_if = "Vec::is_empty")]
    pub places: Vec<Vec<Piece>>,
    /// What an act set, with what it was before.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub set: Option<SettingChange>,
    /// What looking for files came to.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub found: Option<Found>,
    /// What the target has been through, this step included.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub ledger: Option<Ledger>,
    /// Why it ended early, if it did.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub incomplete: Option<String>,
}

/// What the kernel counted on one device during a step.
#[derive(Debug, Clone, Default, PartialEq, Serialize, Deserialize, JsonSchema)]
pub struct DeviceCounters {
    /// Kernel name.
    pub name: String,
    /// Reads completed.
    pub reads: u64,
    /// Bytes read.
    pub read_bytes: u64,
    /// Writes completed.
    pub writes: u64,
    /// Bytes written.
    pub written_bytes: u64,
    /// Bytes discarded.
    pub discarded_bytes: u64,
    /// Flushes completed.
    pub flushes: u64,
    /// Milliseconds during which at least one request was in flight.
    pub busy_ms: u64,
    /// `major:minor`.
    #[serde(default, skip_serializing_if = "String::is_empty")]
    pub number: String,
    /// Requests merged into others before they were issued.
    #[serde(default)]
    pub merges: u64,
    /// Milliseconds that all requests spent in the queue and the drive together.
    #[serde(default)]
    pub queue_ms: u64,
    /// The part of `merges` that were writes.
    #[serde(default, skip_serializing_if = "is_default")]
    pub write_merges: u64,
    /// The part of `queue_ms` that writes spent.
    #[serde(default, skip_serializing_if = "is_default")]
    pub write_ms: u64,
    /// The kernel does not count this device (`queue/iostats` is 0, or nothing was ever counted):
    /// the zeros above are no evidence.
    #[serde(default, skip_serializing_if = "std::ops::Not::not")]
    pub uncounted: bool,
}

/// Something a reader of the numbers must know. Data, not text on a terminal.
#[derive(Debug, Clone, PartialEq, Eq, Serialize, Deserialize, JsonSchema)]
pub struct Warning {
    /// A word for machines (`rate_not_kept`).
    pub code: String,
    /// What is so, in a sentence.
    pub text: String,
    /// What to do about it.
    pub advice: String,
    /// The executed step it is about.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub step: Option<u32>,
}

/// The end of a run.
#[derive(Debug, Clone, PartialEq, Eq, Serialize, Deserialize)]
pub struct End {
    /// Everything planned was done.
    pub complete: bool,
    /// The exit status.
    pub status: u8,
    /// Why it is not complete.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub reason: Option<String>,
}

//! The experiment as plain data: what will be done, in which order, with which seed.
//!
//! A plan holds everything that decides which I/O is issued. It is TOML on disk, JSON in a run
//! file, and both are one text: flat tables of keys, of which unknown ones are errors. A stream is
//! flat only there ([`StreamText`]); here a key that its order does not read cannot exist.

pub mod passes;
pub mod plan_text;
pub mod study;
pub mod validate;
mod words;

mod act;
mod arrival;
mod data;
mod dedupe;
mod engine;
mod file;
mod flow;
mod interval;
mod level;
mod pattern;
mod queue_setting;
mod rate_min;
mod request;
mod spelling;
mod step;
mod stream;
mod stream_text;
mod threads;
mod until;
mod weights;
mod window;
mod zoned;

pub use act::{Act, FileSystem, Find, Found, Mount, Purge, Stripe, Switch};
pub use arrival::{Arrival, Think};
pub use data::Data;
pub use dedupe::{Dedupe, DedupeShare};
pub use engine::{Calls, Engine, EngineTraits};
pub use file::PlanFile;
pub use flow::Flow;
pub use interval::Interval;
pub use level::{Level, Rate, Unevenness};
pub use pattern::{Jump, Names, Pattern, PatternName, Sequence};
pub use queue_setting::{QueueSetting, SettingChange};
pub use rate_min::{BelowRate, RateMin};
pub use request::Request;
pub use spelling::numbered;
pub use stream::{REQUESTS_MAX, STAMP_UNIT_BYTES, Stream};
pub use stream_text::{Contradiction, StreamText};
pub use threads::{IoClass, IoPriority, MemoryMode, MemoryPolicy, RequestPriority, ThreadSettings};
pub use until::Until;
pub use weights::{KindShares, Mix, WeightedSize, Zone};
pub use window::Window;
pub use zoned::Zoned;

use crate::units::{Span, is_default};
use schemars::JsonSchema;
use serde::{Deserialize, Serialize};

/// A whole experiment.
#[derive(Debug, Clone, Default, PartialEq, Serialize, Deserialize, JsonSchema)]
#[serde(deny_unknown_fields, default)]
pub struct Plan {
    /// What a reader should call it.
    pub title: String,
    /// Everything random derives from it.
    pub seed: u64,
    /// Length of the recording intervals, 10 ms to 60 s.
    #[serde(skip_serializing_if = "Interval::is_default")]
    pub interval: Interval,
    /// The data files by name, where names matter; the target is then the directory they are in.
    #[serde(skip_serializing_if = "Vec::is_empty")]
    pub files: Vec<PlanFile>,
    /// Executed in this order.
    pub steps: Vec<Step>,
}

/// Why a step is done. Only `measure` steps are results.
#[derive(Debug, Clone, Copy, Default, PartialEq, Eq, Serialize, Deserialize, JsonSchema)]
#[serde(rename_all = "kebab-case")]
pub enum Role {
    /// Lays out data; its speed is no result.
    Prepare,
    /// Brings the drive into a known state.
    Precondition,
    /// Wears or disorders the drive on purpose.
    Torture,
    /// The result.
    #[default]
    Measure,
    /// Leaves the drive alone.
    Idle,
}

/// One step: streams that run together, or one act without I/O.
#[derive(Debug, Clone, Default, PartialEq, Serialize, Deserialize, JsonSchema)]
#[serde(deny_unknown_fields, default)]
pub struct Step {
    /// Name; steps of one name are repetitions of one cell.
    pub name: String,
    /// Why it is done.
    pub role: Role,
    /// Something other than I/O; then `streams` is empty.
    #[serde(skip_serializing_if = "Option::is_none")]
    pub act: Option<Act>,
    /// Runs before the measurement begins and is left out of it.
    #[serde(skip_serializing_if = "is_default")]
    pub ramp: Span,
    /// When the step ends.
    pub until: Until,
    /// How often the step is done, each time as a repetition of its own.
    pub repeat: u32,
    /// CPUs the workers may use (`0-3,8`); empty: any.
    #[serde(skip_serializing_if = "String::is_empty")]
    pub cpus: String,
    /// The kernel's tracer watches the drive meanwhile, and the first I/Os are broken down.
    #[serde(skip_serializing_if = "std::ops::Not::not")]
    pub trace: bool,
    /// What runs, together.
    pub streams: Vec<Stream>,
}

/// Whether the page cache is bypassed.
#[derive(Debug, Clone, Copy, Default, PartialEq, Eq, Serialize, Deserialize, JsonSchema)]
#[serde(rename_all = "snake_case")]
pub enum IoMode {
    /// O_DIRECT.
    #[default]
    Direct,
    /// Through the page cache.
    Buffered,
}

/// When data must be durable; orthogonal to [`IoMode`].
#[derive(Debug, Clone, Copy, Default, PartialEq, Eq)]
pub enum Sync {
    /// Never asked for.
    #[default]
    None,
    /// O_DSYNC: each write.
    Dsync,
    /// fsync after every n writes of a worker; its other operations stay in flight meanwhile.
    Fsync(u32),
    /// fdatasync after every n writes of a worker, likewise.
    Fdatasync(u32),
    /// One fsync a worker at the end.
    End,
}

/// Whether the time of fsync counts.
#[derive(Debug, Clone, Copy, Default, PartialEq, Eq, Serialize, Deserialize, JsonSchema)]
#[serde(rename_all = "snake_case")]
pub enum SyncTiming {
    /// It does.
    #[default]
    Inside,
    /// It is taken out of the measured time.
    Outside,
}

/// Where the opposite-direction request after each completion goes.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Serialize, Deserialize, JsonSchema)]
#[serde(rename_all = "snake_case")]
pub enum Reply {
    /// To the address that just completed.
    Same,
    /// To the address after it.
    Next,
}

/// Whether workers have their own part.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Serialize, Deserialize, JsonSchema)]
#[serde(rename_all = "snake_case")]
pub enum Sharing {
    /// All use the same; one pass is its bytes, issued by all of them together.
    Shared,
    /// Each has its own.
    Disjoint,
    /// Each goes over all of it by itself; one pass is its bytes, issued by each.
    Whole,
}

/// One file for all workers, or one each.
#[derive(Debug, Clone, Copy, Default, PartialEq, Eq, Serialize, Deserialize, JsonSchema)]
#[serde(rename_all = "snake_case")]
pub enum Files {
    /// All workers use one file (N-1).
    #[default]
    One,
    /// Each worker has a file of its own (N-N).
    Each,
}

/// What written blocks hold.
#[derive(Debug, Clone, Copy, Default, PartialEq, Eq)]
pub enum Content {
    /// Incompressible, never the same twice.
    #[default]
    Random,
    /// This share in percent is compressible (zero), the rest random.
    Compressible(u32),
    /// Zeros.
    Zero,
    /// Words of eight bytes that count up from this number in each request, with the number of the
    /// worker whose part it is in their upper half: what IOR and mdtest write, and check.
    Counting(i32),
}

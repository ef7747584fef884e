//! What fio would know at the end of a run: the figures that all of its layouts print.

use super::bins::Bins;
use super::steady::Steady;
use crate::fio::{Direction, Unified};
use std::fmt;

/// Everything that is printed of a run.
#[derive(Debug, Clone, Default, PartialEq)]
pub struct Report {
    /// Milliseconds since 1970 at which it is printed.
    pub now_ms: u64,
    /// Options of `[global]`, as typed.
    pub global: Vec<(String, String)>,
    /// What each job, or all jobs of a group together, came to.
    pub blocks: Vec<Block>,
    /// The drives below.
    pub disks: Vec<Disk>,
    /// What drivelab has to say of it, for readers of JSON.
    pub said: Option<Said>,
}

/// What the figures of a run really are, where fio has no place for it.
#[derive(Debug, Clone, Default, PartialEq)]
pub struct Said {
    /// The run file.
    pub run: String,
    /// What speaks against figures, by the step that they are of.
    pub suspect: Vec<String>,
    /// What a reader should know.
    pub notes: Vec<String>,
}

/// One job, or the jobs of a group together.
#[derive(Debug, Clone, Default, PartialEq)]
pub struct Block {
    /// Name of the (first) job.
    pub name: String,
    /// Its description, if it has one.
    pub description: Option<String>,
    /// Its options as typed.
    pub options: Vec<(String, String)>,
    /// The reporting group.
    pub group: u32,
    /// Jobs that are together in it.
    pub jobs: u32,
    /// What ended it.
    pub error: Option<Failure>,
    /// Errors are counted and printed.
    pub counts_errors: bool,
    /// Operations that failed.
    pub errors: u64,
    /// Number of the process.
    pub process: u32,
    /// Seconds since the beginning of all, begun ones counted.
    pub elapsed_s: u64,
    /// Whether the directions are one.
    pub unified: Unified,
    /// Reads, writes and trims.
    pub sides: [Side; 3],
    /// All three together, where that is asked for.
    pub mixed: Side,
    /// fsync and its like.
    pub sync: Timed,
    /// Milliseconds that the jobs ran, added up.
    pub job_runtime_ms: u64,
    /// Share of it in percent that the processor spent in the program.
    pub user_percent: f64,
    /// The same in the kernel.
    pub system_percent: f64,
    /// Context switches.
    pub switches: u64,
    /// Page faults, those that waited for a drive and those that did not.
    pub faults: (u64, u64),
    /// Share of operations in percent by operations in flight: 1, 2, 4, 8, 16, 32, 64 and more.
    pub depths: [f64; 7],
    /// Share of submitting calls by operations they carry: 0, 4, 8, 16, 32, 64, more.
    pub submitted: [f64; 7],
    /// The shares of reaping calls by the number of completions each returned.
    pub completed: [f64; 7],
    /// Which percentiles are printed.
    pub percentiles: Percentiles,
    /// Share of operations in percent by completion latency.
    pub spread: Spread,
    /// Operations issued: reads, writes, trims and syncs.
    pub issued: [u64; 4],
    /// What became of `steadystate=`.
    pub steady: Option<Steady>,
    /// `iodepth=`.
    pub depth: u32,
    /// Whether sizes are in 1000 bytes rather than in 1024.
    pub is_decimal: bool,
    /// Whether rates are in bits.
    pub is_bits: bool,
}

/// Which percentiles are printed.
#[derive(Debug, Clone, Default, PartialEq)]
pub struct Percentiles {
    /// In percent, ascending.
    pub list: Vec<f64>,
    /// Those of submission latency.
    pub submission: bool,
    /// Those of completion latency.
    pub completion: bool,
    /// Those of both together.
    pub total: bool,
}

/// Where fio notices the error of an operation.
pub const OF_OPERATION: &str = "io_u error";

/// What ended a job.
#[derive(Debug, Clone, Default, PartialEq, Eq)]
pub struct Failure {
    /// The number of the error.
    pub errno: i32,
    /// Where it was noticed, in fio's words.
    pub function: &'static str,
    /// The error in words, as strerror(3) gives it.
    pub words: String,
}

impl Block {
    /// The first of the errors of its operations, with its words.
    pub fn first_error(&self) -> (i32, &str) {
        match self.error.as_ref().filter(|failure| failure.function == OF_OPERATION) {
            Some(failure) => (failure.errno, failure.words.as_str()),
            None => (0, "Success"),
        }
    }
}

/// One direction.
#[derive(Debug, Clone, Default, PartialEq)]
pub struct Side {
    /// Bytes moved.
    pub bytes: u64,
    /// Milliseconds it ran.
    pub runtime_ms: u64,
    /// Operations, failed ones too.
    pub operations: u64,
    /// Submission latency.
    pub submission: Timed,
    /// Completion latency.
    pub completion: Timed,
    /// Total latency: submission and completion.
    pub total: Timed,
    /// Total latency where its percentiles are printed, else completion latency, of each priority
    /// that requests had; empty where they all had one.
    pub priorities: Vec<OfPriority>,
    /// KiB a second, by interval.
    pub bandwidth: Samples,
    /// Share of the group's rate in percent.
    pub share_percent: f64,
    /// Operations a second, by interval.
    pub iops: Samples,
}

/// The latencies of requests of one priority.
#[derive(Debug, Clone, Default, PartialEq)]
pub struct OfPriority {
    /// The kernel's number of its class.
    pub class: u16,
    /// The level in the class.
    pub level: u16,
    /// The hint to the drive; fio 3.33 knows none.
    pub hint: u16,
    /// Their latencies.
    pub timed: Timed,
}

/// Latencies in nanoseconds.
#[derive(Debug, Clone, Default, PartialEq)]
pub struct Timed {
    /// Number of samples.
    pub count: u64,
    /// Smallest.
    pub min: u64,
    /// Largest.
    pub max: u64,
    /// Mean.
    pub mean: f64,
    /// Standard deviation.
    pub deviation: f64,
    /// The percentiles that are printed, in percent, with their latencies.
    pub percentiles: Vec<(f64, u64)>,
    /// The buckets that json+ prints.
    pub bins: Bins,
}

/// What intervals had in them.
#[derive(Debug, Clone, Copy, Default, PartialEq)]
pub struct Samples {
    /// Number of samples.
    pub count: u64,
    /// Smallest.
    pub min: u64,
    /// Largest.
    pub max: u64,
    /// Mean.
    pub mean: f64,
    /// Standard deviation.
    pub deviation: f64,
}

/// Shares of operations in percent, by completion latency below each bound.
#[derive(Debug, Clone, Copy, Default, PartialEq)]
pub struct Spread {
    /// Below 2, 4, 10, 20, 50, 100, 250, 500, 750 and 1000 ns.
    pub ns: [f64; 10],
    /// The same in microseconds.
    pub us: [f64; 10],
    /// The same in milliseconds, then below 2 s, and longer.
    pub ms: [f64; 12],
}

/// A drive below.
#[derive(Debug, Clone, Default, PartialEq)]
pub struct Disk {
    /// Kernel name.
    pub name: String,
    /// Reads and writes.
    pub operations: [u64; 2],
    /// Those merged into others.
    pub merges: [u64; 2],
    /// Milliseconds that they spent.
    pub ticks: [u64; 2],
    /// Time in the queue of all requests.
    pub in_queue: u64,
    /// Share of the time in percent in which one was in flight.
    pub used_percent: f64,
}

/// The bounds of [`Spread`] in each of its units.
pub const BOUNDS: [u64; 10] = [2, 4, 10, 20, 50, 100, 250, 500, 750, 1000];

/// All directions, in fio's order.
pub const DIRECTIONS: [Direction; 3] = [Direction::Read, Direction::Write, Direction::Trim];

/// The word of a direction.
pub fn word(direction: Direction) -> &'static str {
    match direction {
        Direction::Read => "read",
        Direction::Write => "write",
        Direction::Trim => "trim",
    }
}

impl OfPriority {
    /// Those of the priority with this number of the kernel's.
    pub fn of(number: u16, timed: Timed) -> OfPriority {
        OfPriority { class: number >> 13, level: number & 7, hint: number >> 3 & 1023, timed }
    }
}

impl fmt::Display for OfPriority {
    fn fmt(&self, to: &mut fmt::Formatter<'_>) -> fmt::Result {
        write!(to, "{}/{}", self.class, self.level)?;
        if self.hint > 0 { write!(to, "/{}", self.hint) } else { Ok(()) }
    }
}

impl Side {
    /// Bytes a second.
    pub fn bytes_per_s(&self) -> u64 {
        per_second(self.bytes, self.runtime_ms)
    }

    /// Operations a second.
    pub fn operations_per_s(&self) -> f64 {
        match self.runtime_ms {
            0 => 0.0,
            runtime_ms => self.operations as f64 * 1000.0 / runtime_ms as f64,
        }
    }
}

/// `amount` in `ms` milliseconds, for each second.
pub fn per_second(amount: u64, ms: u64) -> u64 {
    if ms == 0 {
        return 0;
    }
    u64::try_from(u128::from(amount) * 1000 / u128::from(ms)).unwrap_or(u64::MAX)
}

impl Block {
    /// The directions under which it is printed, with their words.
    pub fn shown(&self) -> Vec<(&'static str, &Side)> {
        let each = || DIRECTIONS.iter().zip(&self.sides).map(|(way, side)| (word(*way), side));
        match self.unified {
            Unified::None => each().collect(),
            Unified::Mixed => vec![("mixed", &self.mixed)],
            Unified::Both => each().chain([("mixed", &self.mixed)]).collect(),
        }
    }
}

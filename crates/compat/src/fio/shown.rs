//! What the output needs of a line: which jobs there are, and what of the plan each of them is.

use super::settings::LogLines;
use drivelab_core::op::Action;
use drivelab_core::tally::KindTally;

/// A layout of the output.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub enum Format {
    /// For people.
    Normal,
    /// Semicolons.
    Terse,
    /// JSON.
    Json,
    /// JSON with all buckets of the latencies.
    JsonPlus,
}

/// What a job does, as fio names it.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub enum Direction {
    /// `read`, `randread`.
    Read,
    /// `write`, `randwrite`.
    Write,
    /// `trim`, `randtrim`.
    Trim,
}

/// A whole line, or the job files that it names.
#[derive(Debug, Clone, PartialEq)]
pub struct Line {
    /// Layouts, in the order in which they are printed.
    pub formats: Vec<Format>,
    /// Version of the terse layout: 2 to 5.
    pub terse_version: u8,
    /// `--output=`: results go there instead of to the terminal.
    pub output: Option<String>,
    /// `--debug=random`: the numbers that the orders of jobs follow from come first.
    pub shows_orders: bool,
    /// Options of `[global]`, as typed; one without a value has an empty one.
    pub global: Vec<(String, String)>,
    /// Jobs in order; clones of one job are one section.
    pub sections: Vec<Section>,
}

/// One job with its clones.
#[derive(Debug, Clone, Default, PartialEq)]
pub struct Section {
    /// Its name.
    pub name: String,
    /// Its description, if it has one.
    pub description: Option<String>,
    /// Its options as typed, in order, without those of `[global]`; with its name where that was
    /// typed as an option. One without a value has an empty one.
    pub given: Vec<(String, String)>,
    /// The reporting group, from 0.
    pub group: u32,
    /// Its clones are reported as one.
    pub group_reporting: bool,
    /// Index of the step of the plan that is its result.
    pub step: usize,
    /// Index of its stream in that step.
    pub stream: u32,
    /// Clones: workers of the stream.
    pub clones: u32,
    /// Index of the step in which what was written is read back, and of its stream there.
    pub verify: Option<(usize, u32)>,
    /// `rw=` in fio's own word.
    pub rw: String,
    /// Smallest and largest request in bytes, of reads, writes and trims.
    pub sizes: [(u64, u64); 3],
    /// `ioengine=` in fio's own word.
    pub ioengine: String,
    /// `iodepth=`.
    pub iodepth: u32,
    /// Threads rather than processes were asked for.
    pub thread: bool,
    /// `ramp_time=` in seconds.
    pub ramp_s: f64,
    /// What is laid out before: how often it is said, how many files each time, and their bytes.
    pub laid_out: Option<(u32, u32, u64)>,
    /// Percentiles that are printed, in percent.
    pub percentiles: Vec<f64>,
    /// Percentiles of completion latency are printed.
    pub clat_percentiles: bool,
    /// Percentiles of the whole latency are printed.
    pub lat_percentiles: bool,
    /// Percentiles of submission latency are printed.
    pub slat_percentiles: bool,
    /// Reads, writes and trims are reported as one (`mixed`), next to each other (`both`), or each.
    pub unified: Unified,
    /// Logs of the course of time, by `write_bw_log=` and the like.
    pub logs: Vec<Log>,
    /// `write_iolog=`: where, and the name of the job's file in it.
    pub iolog: Option<(String, String)>,
    /// `unit_base=`: 1 where rates are in bits; 8, or 0: bytes.
    pub unit_base: u32,
    /// `kb_base=`: 1000 where sizes go by thousands; 1024, or 0: by 1024.
    pub kb_base: u32,
    /// Figures that are left out: `disable_slat`, `disable_clat`, `disable_lat`; `gtod_reduce`
    /// leaves out all three.
    pub without: Without,
    /// Errors are counted and printed (`continue_on_error`).
    pub counts_errors: bool,
    /// It is of names: as how many requests each operation counts, in the direction of `rw`.
    pub names: Option<u64>,
}

impl Section {
    /// Whether fio looks at the drives below: where its engine says that it needs none, it does
    /// not.
    pub(super) fn shows_disks(&self) -> bool {
        !matches!(self.ioengine.as_str(), "filecreate" | "dircreate" | "dirstat" | "dirdelete")
    }

    /// Whether operations of a kind count in this direction.
    pub(super) fn counts(&self, kind: Action, direction: Action) -> bool {
        let of_names = if self.rw.contains("write") { Action::Write } else { Action::Read };
        match self.names {
            None => kind == direction,
            Some(_) => kind.is_metadata() && direction == of_names,
        }
    }

    /// Bytes and requests that what was done of a kind counts: on names no byte is moved, and fio
    /// counts what it would have moved.
    pub(super) fn counted(&self, entry: &KindTally) -> (u64, u64) {
        let Some(requests) = self.names else { return (entry.bytes, entry.ops) };
        let requests = entry.ops.saturating_mul(requests);
        let bytes = self.sizes[usize::from(self.rw.contains("write"))].0;
        (requests.saturating_mul(bytes), requests)
    }
}

/// Figures that a job is told to leave out.
#[derive(Debug, Clone, Copy, Default, PartialEq, Eq)]
pub struct Without {
    /// Submission latency.
    pub submission: bool,
    /// Completion latency, its percentiles and its distribution.
    pub completion: bool,
    /// Whether the total latency (submission and completion) is shown.
    pub total: bool,
}

/// `unified_rw_reporting=`.
#[derive(Debug, Clone, Copy, Default, PartialEq, Eq)]
pub enum Unified {
    /// Each direction for itself.
    #[default]
    None,
    /// All as one, called mixed.
    Mixed,
    /// Both ways.
    Both,
}

/// What a log holds.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub enum Logged {
    /// KiB a second.
    Bandwidth,
    /// Operations a second.
    Iops,
    /// Nanoseconds, total.
    Latency,
    /// Nanoseconds, completion.
    CompletionLatency,
    /// Nanoseconds, submission.
    SubmissionLatency,
}

/// A log that a job writes.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct Log {
    /// What.
    pub logged: Logged,
    /// The file's name up to `_bw.1.log`.
    pub prefix: String,
    /// What its lines stand for.
    pub lines: LogLines,
    /// One file for each clone.
    pub per_job: bool,
}

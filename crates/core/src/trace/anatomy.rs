//! Where the time of an I/O goes between the program and the drive: the same I/Os, seen by the
//! program's own stamps and by the kernel's tracer.
//!
//! ```text
//! issued ──submit──► Q ──queue──► D ──device──► C ──wake-up──► completed
//! ```
//!
//! *Submit* is what lies before the block layer: the system call, the file system, limits of
//! control groups. *Queue* is the block layer with its scheduler, *device* everything below the
//! driver's door, *wake-up* the way back: interrupt, completion, scheduler, the reaping call.

mod pairing;
#[cfg(test)]
mod tests;

pub use pairing::{Piece, dissect};

use crate::op::{Action, Time};
use crate::stages::KindStages;
use drivelab_stats::Histogram;
use serde::{Deserialize, Serialize};

/// A part of an I/O's time.
#[derive(Debug, Clone, Copy, PartialEq, Eq, PartialOrd, Ord)]
pub enum Segment {
    /// Issued by the program → handed to the block layer.
    Submit,
    /// Handed to the block layer → handed to the driver.
    Queue,
    /// Handed to the driver → done.
    Device,
    /// Done → the program has it.
    WakeUp,
}

impl Segment {
    /// In the order of time.
    pub const ALL: [Segment; 4] =
        [Segment::Submit, Segment::Queue, Segment::Device, Segment::WakeUp];

    /// Its name.
    pub fn word(self) -> &'static str {
        match self {
            Segment::Submit => "submit",
            Segment::Queue => "kernel queue",
            Segment::Device => "device",
            Segment::WakeUp => "wake-up",
        }
    }
}

/// One I/O as the program saw it.
#[derive(Debug, Clone, Copy, Default, PartialEq, Eq, Serialize, Deserialize)]
#[serde(from = "Row", into = "Row")]
pub struct Stamped {
    /// Read just before the system call that carried it.
    pub issued: Time,
    /// Read just after that call.
    pub submitted: Time,
    /// Read just after the call that returned it.
    pub completed: Time,
    /// First byte on the target; of a name its number.
    pub offset: u64,
    /// Bytes; of a name none.
    pub bytes: u32,
    /// What it did.
    pub action: Action,
    /// Its priority in the kernel's number; 0 where neither it nor its thread was given one, and
    /// where the stream gives none to its requests.
    pub priority: u16,
}

/// An I/O as a run file has it: issued, submitted, completed, offset, bytes, action, and its
/// priority where it has its own.
#[derive(Serialize, Deserialize)]
#[serde(untagged)]
enum Row {
    Plain((Time, Time, Time, u64, u32, Action)),
    OfPriority((Time, Time, Time, u64, u32, Action, u16)),
}

impl From<Row> for Stamped {
    fn from(row: Row) -> Self {
        let ((issued, submitted, completed, offset, bytes, action), priority) = match row {
            Row::Plain(plain) => (plain, 0),
            Row::OfPriority((issued, submitted, completed, offset, bytes, action, priority)) => {
                ((issued, submitted, completed, offset, bytes, action), priority)
            }
        };
        Stamped { issued, submitted, completed, offset, bytes, action, priority }
    }
}

impl From<Stamped> for Row {
    fn from(it: Stamped) -> Self {
        let Stamped { issued, submitted, completed, offset, bytes, action, priority } = it;
        match priority {
            0 => Row::Plain((issued, submitted, completed, offset, bytes, action)),
            _ => Row::OfPriority((issued, submitted, completed, offset, bytes, action, priority)),
        }
    }
}

/// The I/Os of one worker, each by itself, in the order in which they completed.
#[derive(Debug, Clone, Default, PartialEq, Serialize, Deserialize)]
pub struct Requests {
    /// Number of the executed step.
    pub step: u32,
    /// Stream within the step.
    pub stream: u32,
    /// Worker within the stream.
    pub worker: u32,
    /// After the ramp, up to as many as there was room for.
    pub all: Vec<Stamped>,
    /// Later ones, which are counted and not kept.
    pub left_out: u64,
}

/// One I/O broken down; times in nanoseconds.
#[derive(Debug, Clone, Copy, Default, PartialEq, Eq, Serialize, Deserialize)]
pub struct Dissected {
    /// When it was issued.
    pub issued: Time,
    /// First byte on the target.
    pub offset: u64,
    /// Issued → completed, by the program's own stamps.
    pub total_ns: u64,
    /// Its parts, in the order of [`Segment::ALL`].
    pub segments_ns: [u64; 4],
}

/// All I/Os of one kind that were broken down.
#[derive(Debug, Clone, PartialEq, Serialize, Deserialize)]
pub struct KindAnatomy {
    /// Read or write.
    pub kind: Action,
    /// Issued → completed.
    pub total: Histogram,
    /// Parts of the same I/Os, in the order of [`Segment::ALL`].
    pub segments: [Histogram; 4],
    /// Sum of |parts − total| over all of them: clocks that disagree show here.
    pub unaccounted_ns: u64,
    /// The slowest thousandth, at least [`SLOWEST_MIN`], slowest first.
    pub slowest: Vec<Dissected>,
}

/// The fewest slow I/Os that are kept one by one.
pub const SLOWEST_MIN: usize = 20;

/// What the tracer said of one step.
#[derive(Debug, Clone, Default, PartialEq, Serialize, Deserialize)]
#[serde(default)]
pub struct Anatomy {
    /// Number of the executed step.
    pub step: u32,
    /// Why nothing was traced, where nothing was, with the way out.
    #[serde(skip_serializing_if = "Option::is_none")]
    pub refused: Option<String>,
    /// The disk that was traced.
    pub device: String,
    /// By kind of I/O.
    pub kinds: Vec<KindAnatomy>,
    /// By kind of I/O, on a simulated drive.
    #[serde(skip_serializing_if = "Vec::is_empty")]
    pub stages: Vec<KindStages>,
    /// Events read.
    pub events: u64,
    /// Events that were overwritten before they were read.
    pub missed: u64,
    /// More were overwritten than were counted.
    #[serde(skip_serializing_if = "std::ops::Not::not")]
    pub missed_more: bool,
    /// I/Os of the program, after the ramp, that have stamps of their own.
    pub stamped: u64,
    /// I/Os that found no room for their stamps.
    pub unstamped: u64,
    /// Dropped: another I/O was on the same sectors at the same time.
    pub ambiguous: u64,
    /// Dropped: not all of its events are in the trace.
    pub unpaired: u64,
    /// Dropped: where it lies on the disk is not known, or it lies in several places.
    pub unmapped: u64,
    /// I/Os that were cut, requests that joined, and requests that were taken back.
    pub splits: u64,
    /// Merges.
    pub merges: u64,
    /// Requests that the driver gave back.
    pub requeues: u64,
}

impl Anatomy {
    /// Nothing was traced, for this reason.
    pub fn refused(step: u32, why: impl Into<String>) -> Self {
        Anatomy { step, refused: Some(why.into()), ..Anatomy::default() }
    }

    /// I/Os that were broken down.
    pub fn dissected(&self) -> u64 {
        self.kinds.iter().map(|kind| kind.total.count()).sum()
    }
}

impl KindAnatomy {
    fn new(kind: Action) -> Self {
        KindAnatomy {
            kind,
            total: Histogram::new(),
            segments: std::array::from_fn(|_| Histogram::new()),
            unaccounted_ns: 0,
            slowest: Vec::new(),
        }
    }

    /// Adds another step of the same cell.
    pub fn merge(&mut self, other: &KindAnatomy) {
        self.total.merge(&other.total);
        for (mine, theirs) in self.segments.iter_mut().zip(&other.segments) {
            mine.merge(theirs);
        }
        self.unaccounted_ns += other.unaccounted_ns;
        self.slowest.extend_from_slice(&other.slowest);
        self.slowest.sort_by_key(|io| (std::cmp::Reverse(io.total_ns), io.issued));
    }

    fn add(&mut self, io: &Dissected) {
        self.total.record(io.total_ns);
        for (histogram, ns) in self.segments.iter_mut().zip(io.segments_ns) {
            histogram.record(ns);
        }
        let sum: u64 = io.segments_ns.iter().sum();
        self.unaccounted_ns += sum.abs_diff(io.total_ns);
    }
}

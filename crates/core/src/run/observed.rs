//! What was seen around a step, next to its own tallies: the evidence of the truth guard.
//!
//! `drivelab-io` looks, the run file stores, [`crate::truth`] judges. What could not be seen is
//! absent, and is listed as not checked.

use crate::op::Time;
use crate::units::is_default;
use serde::{Deserialize, Serialize};

/// Everything seen around one step.
#[derive(Debug, Clone, Default, PartialEq, Serialize, Deserialize)]
#[serde(default)]
pub struct Observed {
    /// Length of the step on the wall clock, from count to count, in nanoseconds.
    pub span_ns: u64,
    /// A few blocks, looked at before a step that reads.
    #[serde(skip_serializing_if = "Option::is_none")]
    pub blocks: Option<BlockSample>,
    /// How the file system maps the region of a file, before the step.
    #[serde(skip_serializing_if = "Option::is_none")]
    pub extents: Option<Extents>,
    /// Bytes of the region, where all goes to one file or device.
    #[serde(skip_serializing_if = "Option::is_none")]
    pub region_bytes: Option<u64>,
    /// Of these, what the page cache held before a step that reads through it.
    #[serde(skip_serializing_if = "Option::is_none")]
    pub cached_bytes: Option<u64>,
    /// What the kernel booked on this process.
    #[serde(skip_serializing_if = "Option::is_none")]
    pub process: Option<ProcessBytes>,
    /// CPU quotas of our control groups that took effect; `None`: no group could be read.
    #[serde(skip_serializing_if = "Option::is_none")]
    pub cpu_throttled: Option<CpuThrottle>,
    /// Limits of our control groups on the devices of the target.
    #[serde(skip_serializing_if = "Vec::is_empty")]
    pub io_limits: Vec<IoLimit>,
    /// Time in which tasks waited for a resource.
    #[serde(skip_serializing_if = "Vec::is_empty")]
    pub pressure: Vec<PressureSpan>,
    /// Share of all CPU time that the hypervisor gave to others.
    #[serde(skip_serializing_if = "Option::is_none")]
    pub steal_share: Option<f64>,
    /// Most kernel threads of io_uring that served requests of ours out of line.
    #[serde(skip_serializing_if = "Option::is_none")]
    pub io_workers: Option<u32>,
    /// How far the clock of the stamps had strayed from CLOCK_MONOTONIC by the end, in
    /// nanoseconds.
    #[serde(skip_serializing_if = "Option::is_none")]
    pub clock_strayed_ns: Option<i64>,
    /// Temperatures of the drives, about once a second.
    #[serde(skip_serializing_if = "Vec::is_empty")]
    pub temperatures: Vec<Temperature>,
    /// What the kernel counted of the devices meanwhile, about once a second.
    #[serde(skip_serializing_if = "Vec::is_empty")]
    pub counted: Vec<Counted>,
    /// Links that changed between the beginning and the end.
    #[serde(skip_serializing_if = "Vec::is_empty")]
    pub link_changes: Vec<LinkChange>,
}

/// Blocks of 4 KiB at random places of the region, read past the page cache.
#[derive(Debug, Clone, Copy, Default, PartialEq, Eq, Serialize, Deserialize)]
pub struct BlockSample {
    /// Looked at.
    pub seen: u64,
    /// Held only zeros.
    pub zeros: u64,
    /// Held one other byte throughout, as erased flash gives 255.
    #[serde(default)]
    pub repeated: u64,
    /// Carried a stamp of their own address.
    #[serde(default)]
    pub stamped: u64,
}

/// Bytes of a region of a file, by how they are mapped (FIEMAP).
#[derive(Debug, Clone, Copy, Default, PartialEq, Eq, Serialize, Deserialize)]
pub struct Extents {
    /// Written and on the drive.
    pub written_bytes: u64,
    /// Allocated and never written: reads give zeros without the drive.
    pub unwritten_bytes: u64,
    /// Not allocated at all.
    pub hole_bytes: u64,
    /// Number of extents.
    pub count: u64,
    /// Number of zones, where the region is of a zoned drive: what lies behind their write
    /// pointers is unwritten.
    #[serde(default, skip_serializing_if = "is_default")]
    pub zones: u64,
    /// Of the written bytes, those that another file or another place of this one has too: to
    /// overwrite them the file system puts the new data elsewhere.
    #[serde(default, skip_serializing_if = "is_default")]
    pub shared_bytes: u64,
    /// Of the written bytes, those on blocks of the drive that an earlier part of the region lies
    /// on already.
    #[serde(default, skip_serializing_if = "is_default")]
    pub repeated_bytes: u64,
}

/// Bytes that the kernel booked on this process (`/proc/self/io`).
#[derive(Debug, Clone, Copy, Default, PartialEq, Eq, Serialize, Deserialize)]
pub struct ProcessBytes {
    /// Fetched from block devices.
    pub read_bytes: u64,
    /// Sent to block devices, or made dirty in the page cache.
    pub written_bytes: u64,
}

/// How often the CPU quota of a control group stopped its members.
#[derive(Debug, Clone, Copy, Default, PartialEq, Eq, Serialize, Deserialize)]
pub struct CpuThrottle {
    /// Periods in which it stopped them.
    pub periods: u64,
    /// For how long in all, in microseconds.
    pub stopped_us: u64,
}

/// One limit on one device.
#[derive(Debug, Clone, Default, PartialEq, Eq, Serialize, Deserialize)]
pub struct IoLimit {
    /// `major:minor`.
    pub device: String,
    /// What is limited.
    pub what: LimitedRate,
    /// Most of it a second.
    pub per_second: u64,
    /// The group that has the limit.
    pub group: String,
}

/// What a limit is about.
#[derive(Debug, Clone, Copy, Default, PartialEq, Eq, Serialize, Deserialize)]
#[serde(rename_all = "snake_case")]
pub enum LimitedRate {
    /// Bytes read.
    #[default]
    ReadBytes,
    /// Bytes written.
    WrittenBytes,
    /// Reads.
    Reads,
    /// Writes.
    Writes,
}

/// Time in which tasks waited for one resource (PSI).
#[derive(Debug, Clone, Default, PartialEq, Eq, Serialize, Deserialize)]
pub struct PressureSpan {
    /// `cpu`, `io`, `memory`, with `cgroup ` before it for our own control group's.
    pub resource: String,
    /// Some task waited, in microseconds.
    pub some_us: u64,
    /// All tasks waited, in microseconds.
    pub full_us: u64,
}

/// One reading of one sensor.
#[derive(Debug, Clone, Default, PartialEq, Serialize, Deserialize)]
pub struct Temperature {
    /// Kernel name of the drive.
    pub device: String,
    /// When, on the clock of the stamps.
    pub at: Time,
    /// Degrees Celsius.
    pub celsius: f64,
    /// The drive's own warning threshold, if it tells.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub celsius_max: Option<f64>,
}

/// What the kernel counted of one device between two looks (kernel document
/// `Documentation/block/stat.rst`).
#[derive(Debug, Clone, Default, PartialEq, Eq, Serialize, Deserialize)]
pub struct Counted {
    /// Kernel name.
    pub device: String,
    /// The earlier look, on the clock of the stamps.
    pub from: Time,
    /// The later one.
    pub to: Time,
    /// Reads completed.
    pub reads: u64,
    /// Bytes that they read.
    pub read_bytes: u64,
    /// Time that they spent in the queue and the drive, added up, in milliseconds.
    pub read_ms: u64,
    /// Writes completed.
    pub writes: u64,
    /// Bytes that they wrote.
    pub written_bytes: u64,
    /// Time that they spent, in milliseconds.
    pub write_ms: u64,
    /// Time in which at least one request was in flight, in milliseconds.
    pub busy_ms: u64,
}

impl Counted {
    fn with(self, next: &Counted) -> Counted {
        Counted {
            device: self.device,
            from: self.from,
            to: next.to,
            reads: self.reads + next.reads,
            read_bytes: self.read_bytes + next.read_bytes,
            read_ms: self.read_ms + next.read_ms,
            writes: self.writes + next.writes,
            written_bytes: self.written_bytes + next.written_bytes,
            write_ms: self.write_ms + next.write_ms,
            busy_ms: self.busy_ms + next.busy_ms,
        }
    }

    /// Half as many, each over two of the looks; nothing that was counted is lost.
    pub fn in_pairs(all: Vec<Counted>) -> Vec<Counted> {
        let mut open: Vec<Counted> = Vec::new();
        let mut pairs = Vec::with_capacity(all.len() / 2 + 1);
        for one in all {
            match open.iter().position(|other| other.device == one.device) {
                Some(place) => pairs.push(open.remove(place).with(&one)),
                None => open.push(one),
            }
        }
        pairs.extend(open);
        pairs
    }
}

/// A link that is not what it was.
#[derive(Debug, Clone, Default, PartialEq, Eq, Serialize, Deserialize)]
pub struct LinkChange {
    /// Kernel name of the drive.
    pub device: String,
    /// Before the step.
    pub before: String,
    /// After it.
    pub after: String,
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn pairs_lose_nothing_that_was_counted() {
        let one = |device: &str, at: u64| Counted {
            device: device.into(),
            from: at,
            to: at + 1,
            reads: at,
            busy_ms: 1,
            ..Counted::default()
        };
        let all = vec![one("a", 0), one("b", 0), one("a", 1), one("b", 1), one("a", 2)];
        let pairs = Counted::in_pairs(all);
        let told =
            pairs.iter().map(|it| (it.device.as_str(), it.from, it.to, it.reads, it.busy_ms));
        assert_eq!(
            told.collect::<Vec<_>>(),
            [("a", 0, 2, 1, 2), ("b", 0, 2, 1, 2), ("a", 2, 3, 2, 1)]
        );
    }
}

//! What is seen of a machine before a measurement, and what it says about its fitness to measure.
//!
//! `drivelab-io` looks, `drivelab-study` judges, reports print. What could not be seen is absent.

use crate::facts::Facts;
use crate::observed::{PressureSpan, Temperature};
use crate::record::ClockFacts;
use drivelab_stats::Estimate;
use schemars::JsonSchema;
use serde::Serialize;

/// How much a finding matters.
#[derive(Debug, Clone, Copy, PartialEq, Eq, PartialOrd, Ord, Serialize, JsonSchema)]
#[serde(rename_all = "snake_case")]
pub enum Severity {
    /// As it should be.
    Fine,
    /// Worth knowing.
    Note,
    /// Could not be found out.
    Unknown,
    /// A measurement here may be misread.
    Warning,
    /// A measurement here would be wrong.
    Bad,
}

impl Severity {
    /// The word in tables.
    pub fn word(self) -> &'static str {
        match self {
            Severity::Fine => "fine",
            Severity::Note => "note",
            Severity::Unknown => "unknown",
            Severity::Warning => "warning",
            Severity::Bad => "bad",
        }
    }
}

/// One question to the machine, and its answer.
#[derive(Debug, Clone, PartialEq, Eq, Serialize, JsonSchema)]
pub struct Check {
    /// A few words.
    pub name: String,
    /// How much it matters.
    pub severity: Severity,
    /// What was found, with its figure; where unknown, why.
    pub found: String,
    /// What to do, where not fine.
    pub advice: Option<String>,
}

/// Whether the page cache can be bypassed on the target.
#[derive(Debug, Clone, Default, PartialEq, Eq)]
pub enum Direct {
    /// It can.
    Works {
        /// Alignment of memory and offset in bytes, where the kernel says it.
        align: Option<(u32, u32)>,
    },
    /// The file system says no.
    Refused,
    /// There was nothing to ask.
    #[default]
    NotAsked,
}

/// One array that is being rebuilt or checked.
#[derive(Debug, Clone, Default, PartialEq, Eq)]
pub struct Resync {
    /// Kernel name.
    pub device: String,
    /// What it does: `resync`, `check` …
    pub action: String,
}

/// What one device did while drivelab did nothing.
#[derive(Debug, Clone, Default, PartialEq, Eq)]
pub struct IdleDevice {
    /// Kernel name.
    pub name: String,
    /// Bytes read and written.
    pub bytes: u64,
    /// Milliseconds with at least one request in flight.
    pub busy_ms: u64,
    /// The kernel does not count this device: the zeros above say nothing.
    pub uncounted: bool,
}

/// A span in which drivelab did nothing but count.
#[derive(Debug, Clone, Default, PartialEq)]
pub struct Idle {
    /// Its length in nanoseconds.
    pub span_ns: u64,
    /// Devices below the target.
    pub devices: Vec<IdleDevice>,
    /// Time in which tasks waited for a resource; empty where the kernel does not count it.
    pub pressure: Vec<PressureSpan>,
    /// Share of all CPU time that the hypervisor gave to others; `None` where not counted.
    pub steal_share: Option<f64>,
}

/// Settings that save power.
#[derive(Debug, Clone, Default, PartialEq, Eq)]
pub struct Power {
    /// Names and states of batteries; empty: none is known.
    pub batteries: Vec<(String, String)>,
    /// The active policy of PCI Express.
    pub pcie_policy: Option<String>,
    /// Longest wake-up of an NVMe drive that the kernel lets it sleep for, in microseconds.
    pub nvme_sleep_us_max: Option<u64>,
    /// Policies of the SATA links of the target's drives, by kernel name.
    pub sata_policies: Vec<(String, String)>,
    /// Exit latency of the deepest sleep of CPU 0 that is allowed, in microseconds.
    pub cpu_exit_us_max: Option<u64>,
    /// Whether the CPUs may go faster than their nominal frequency.
    pub boost: Option<bool>,
}

/// What was measured of this machine's own restlessness.
#[derive(Debug, Clone, Copy, Default, PartialEq, Serialize, JsonSchema)]
pub struct Noise {
    /// CPU that was used.
    pub cpu: usize,
    /// Length of the loop of clock readings in seconds.
    pub seconds: f64,
    /// Longest time between two readings, in nanoseconds.
    pub pause_ns_longest: u64,
    /// Times between two readings of more than 100 µs.
    pub pauses_over_100_us: u64,
    /// Sleeps of 1 ms.
    pub wake_ups: u64,
    /// How much too late half of them ended, in nanoseconds.
    pub wake_up_late_ns_median: u64,
    /// How much too late the worst ended, in nanoseconds.
    pub wake_up_late_ns_max: u64,
}

/// Everything seen.
#[derive(Debug, Clone, Default, PartialEq)]
pub struct Observations {
    /// Target and machine.
    pub facts: Facts,
    /// Whether the page cache can be bypassed.
    pub direct: Direct,
    /// A kernel thread of ext4 is still writing inode tables; `None`: kernel threads are hidden.
    pub is_initialising: Option<bool>,
    /// Arrays at work of their own.
    pub resyncs: Vec<Resync>,
    /// A span in which we did nothing.
    pub idle: Option<Idle>,
    /// Temperatures of the target's drives now.
    pub temperatures: Vec<Temperature>,
    /// Settings that save power.
    pub power: Power,
    /// CPUs of each NUMA node.
    pub nodes: Vec<(i32, Vec<usize>)>,
    /// CPUs that drivelab may use.
    pub cpus_allowed: Vec<usize>,
    /// Memory that can be used without swapping, in bytes.
    pub memory_available_bytes: Option<u64>,
    /// How time is read.
    pub clock: ClockFacts,
    /// Smallest difference between two readings that is not 0, in nanoseconds.
    pub clock_step_ns: Option<u64>,
    /// Operations a second that the generator reaches without a drive.
    pub ceiling: Option<Estimate>,
    /// Pauses and late wake-ups.
    pub noise: Option<Noise>,
    /// Scratch in the list of what is ours that is still there.
    pub leftovers: Vec<String>,
    /// Settings that killed runs have left changed, in words.
    pub settings_left: Vec<String>,
}

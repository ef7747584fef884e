//! What the kernel counted: per block device, for this process, and pressure on the machine.
//!
//! Read before and after a step; the difference is compared with what the program issued. All of
//! it is readable without privileges.

mod paths;

use std::io;
use std::path::Path;

use serde::{Deserialize, Serialize};

use crate::system::{DeviceNumber, System, read_number, read_text};

/// Bytes of a sector in `/sys/block/X/stat`, whatever the drive's own sector is
/// (kernel document `Documentation/block/stat.rst`).
const SECTOR_BYTES: u64 = 512;

/// Everything counted at one moment, or the difference of two moments.
#[derive(Debug, Clone, Default, PartialEq, Eq, Serialize, Deserialize)]
pub struct Snapshot {
    /// The devices asked for, in that order; one that is gone is left out.
    pub devices: Vec<DeviceCounters>,
    /// This process; `None` where the kernel does not count it.
    pub process: Option<ProcessCounters>,
    /// Pressure stall totals of the machine and of our control group.
    pub pressure: Vec<Pressure>,
}

/// Counters of one block device (kernel document `Documentation/block/stat.rst`).
#[derive(Debug, Clone, Default, PartialEq, Eq, Serialize, Deserialize)]
pub struct DeviceCounters {
    /// Kernel name.
    pub name: String,
    /// `major:minor`.
    pub number: String,
    /// Reads completed.
    pub read_ops: u64,
    /// Reads merged with others before they were issued.
    pub read_merges: u64,
    /// Bytes read.
    pub read_bytes: u64,
    /// Time all reads spent in the queue and the drive, in milliseconds.
    pub read_time_ms: u64,
    /// Writes completed.
    pub write_ops: u64,
    /// Writes merged.
    pub write_merges: u64,
    /// Bytes written.
    pub write_bytes: u64,
    /// Time all writes spent, in milliseconds.
    pub write_time_ms: u64,
    /// Requests issued and not completed at this moment (of two: the later).
    pub in_flight: u64,
    /// Time in which at least one request was in flight, in milliseconds.
    pub busy_time_ms: u64,
    /// Time of all requests together, in milliseconds.
    pub queue_time_ms: u64,
    /// Discards completed (Linux 4.18 and later).
    pub discard_ops: u64,
    /// Discards merged.
    pub discard_merges: u64,
    /// Bytes discarded.
    pub discard_bytes: u64,
    /// Time all discards spent, in milliseconds.
    pub discard_time_ms: u64,
    /// Cache flushes completed (Linux 5.5 and later; of the whole disk only).
    pub flush_ops: u64,
    /// Time all flushes spent, in milliseconds.
    pub flush_time_ms: u64,
    /// `queue/iostats` is 0: nothing is counted (of two moments: at one of them).
    #[serde(default)]
    pub switched_off: bool,
    /// Nothing was ever counted: a device that nobody has used, or one that some kernels do not
    /// count (NVMe multipath).
    #[serde(default)]
    pub blank: bool,
}

/// Counters of this process (`/proc/self/io`; kernel document `filesystems/proc.rst`, 3.3).
#[derive(Debug, Clone, Copy, Default, PartialEq, Eq, Serialize, Deserialize)]
pub struct ProcessCounters {
    /// Bytes asked for by reading system calls, from the cache or not.
    pub read_call_bytes: u64,
    /// Bytes handed to writing system calls.
    pub write_call_bytes: u64,
    /// Reading system calls.
    pub read_calls: u64,
    /// Writing system calls.
    pub write_calls: u64,
    /// Bytes really fetched from a block device on our account.
    pub device_read_bytes: u64,
    /// Bytes really sent to a block device on our account.
    pub device_write_bytes: u64,
    /// Dirty bytes that were dropped before they were written.
    pub cancelled_write_bytes: u64,
}

/// One pressure stall file (kernel document `Documentation/accounting/psi.rst`).
#[derive(Debug, Clone, Default, PartialEq, Eq, Serialize, Deserialize)]
pub struct Pressure {
    /// `cpu`, `io`, `memory`, with `cgroup ` before it for our own control group's.
    pub resource: String,
    /// Time in which some task waited, in microseconds.
    pub some_us: u64,
    /// Time in which all tasks waited, in microseconds.
    pub full_us: u64,
}

/// Reads all counters now.
///
/// # Errors
/// When the counters of a device that exists have an unknown form.
pub fn snapshot(system: &System, devices: &[DeviceNumber]) -> io::Result<Snapshot> {
    let devices = self::devices(system, devices)?;
    Ok(Snapshot { devices, process: process(system), pressure: pressure(system) })
}

/// Reads the counters of devices alone; one that is gone is left out.
///
/// # Errors
/// As [`snapshot`].
pub fn devices(system: &System, devices: &[DeviceNumber]) -> io::Result<Vec<DeviceCounters>> {
    devices.iter().filter_map(|number| device(system, *number).transpose()).collect()
}

impl Snapshot {
    /// What was counted since `earlier`. A device that is missing in either is left out; a
    /// counter that ran backwards (the device was replaced) counts as 0.
    pub fn since(&self, earlier: &Snapshot) -> Snapshot {
        let devices = self.devices.iter().filter_map(|later| {
            let before = earlier.devices.iter().find(|before| before.number == later.number)?;
            Some(later.since(before))
        });
        let pressure = self.pressure.iter().filter_map(|later| {
            let before = earlier.pressure.iter().find(|p| p.resource == later.resource)?;
            Some(Pressure {
                resource: later.resource.clone(),
                some_us: later.some_us.saturating_sub(before.some_us),
                full_us: later.full_us.saturating_sub(before.full_us),
            })
        });
        let process = match (self.process, earlier.process) {
            (Some(later), Some(before)) => Some(later.since(&before)),
            _ => None,
        };
        Snapshot { devices: devices.collect(), process, pressure: pressure.collect() }
    }
}

impl DeviceCounters {
    /// What was counted since `earlier`; a counter that ran backwards counts as 0.
    pub fn since(&self, earlier: &DeviceCounters) -> DeviceCounters {
        let less = u64::saturating_sub;
        DeviceCounters {
            name: self.name.clone(),
            number: self.number.clone(),
            read_ops: less(self.read_ops, earlier.read_ops),
            read_merges: less(self.read_merges, earlier.read_merges),
            read_bytes: less(self.read_bytes, earlier.read_bytes),
            read_time_ms: less(self.read_time_ms, earlier.read_time_ms),
            write_ops: less(self.write_ops, earlier.write_ops),
            write_merges: less(self.write_merges, earlier.write_merges),
            write_bytes: less(self.write_bytes, earlier.write_bytes),
            write_time_ms: less(self.write_time_ms, earlier.write_time_ms),
            in_flight: self.in_flight,
            busy_time_ms: less(self.busy_time_ms, earlier.busy_time_ms),
            queue_time_ms: less(self.queue_time_ms, earlier.queue_time_ms),
            discard_ops: less(self.discard_ops, earlier.discard_ops),
            discard_merges: less(self.discard_merges, earlier.discard_merges),
            discard_bytes: less(self.discard_bytes, earlier.discard_bytes),
            discard_time_ms: less(self.discard_time_ms, earlier.discard_time_ms),
            flush_ops: less(self.flush_ops, earlier.flush_ops),
            flush_time_ms: less(self.flush_time_ms, earlier.flush_time_ms),
            switched_off: self.switched_off || earlier.switched_off,
            blank: self.blank,
        }
    }

    /// Whether zeros in these counters say nothing of what the device did.
    pub fn is_uncounted(&self) -> bool {
        self.switched_off || self.blank
    }
}

impl ProcessCounters {
    fn since(&self, earlier: &ProcessCounters) -> ProcessCounters {
        let less = u64::saturating_sub;
        ProcessCounters {
            read_call_bytes: less(self.read_call_bytes, earlier.read_call_bytes),
            write_call_bytes: less(self.write_call_bytes, earlier.write_call_bytes),
            read_calls: less(self.read_calls, earlier.read_calls),
            write_calls: less(self.write_calls, earlier.write_calls),
            device_read_bytes: less(self.device_read_bytes, earlier.device_read_bytes),
            device_write_bytes: less(self.device_write_bytes, earlier.device_write_bytes),
            cancelled_write_bytes: less(self.cancelled_write_bytes, earlier.cancelled_write_bytes),
        }
    }
}

/// The counters of one device; `None` when it is gone.
fn device(system: &System, number: DeviceNumber) -> io::Result<Option<DeviceCounters>> {
    let directory = system.sysfs.join("dev/block").join(number.to_string());
    let Some(text) = read_text(&directory.join("stat")) else { return Ok(None) };
    let fields: Option<Vec<u64>> = text.split_whitespace().map(|word| word.parse().ok()).collect();
    let fields = fields.filter(|fields| fields.len() >= 11).ok_or_else(|| {
        io::Error::new(io::ErrorKind::InvalidData, format!("stat of device {number}: {text}"))
    })?;
    let real = std::fs::canonicalize(&directory)?;
    let is_switched_off = is_switched_off(&real);
    let is_blank = |fields: &[u64]| fields.iter().all(|count| *count == 0);
    let on_paths = if is_switched_off || is_blank(&fields) { paths::counted(&real) } else { None };
    let switched_off = is_switched_off && on_paths.is_none();
    let fields = on_paths.unwrap_or(fields);
    // Older kernels end after 11 (no discards) or 15 fields (no flushes).
    let field = |index: usize| fields.get(index).copied().unwrap_or(0);
    let name = real.file_name().unwrap_or_default().to_string_lossy().into_owned();
    Ok(Some(DeviceCounters {
        name,
        number: number.to_string(),
        read_ops: field(0),
        read_merges: field(1),
        read_bytes: field(2).saturating_mul(SECTOR_BYTES),
        read_time_ms: field(3),
        write_ops: field(4),
        write_merges: field(5),
        write_bytes: field(6).saturating_mul(SECTOR_BYTES),
        write_time_ms: field(7),
        in_flight: field(8),
        busy_time_ms: field(9),
        queue_time_ms: field(10),
        discard_ops: field(11),
        discard_merges: field(12),
        discard_bytes: field(13).saturating_mul(SECTOR_BYTES),
        discard_time_ms: field(14),
        flush_ops: field(15),
        flush_time_ms: field(16),
        switched_off,
        blank: is_blank(&fields),
    }))
}

/// Whether the queue of a device, or of the disk of a partition, counts nothing
/// (kernel document `Documentation/ABI/stable/sysfs-block`).
fn is_switched_off(directory: &Path) -> bool {
    let disk = match directory.join("partition").exists() {
        true => directory.parent().unwrap_or(directory),
        false => directory,
    };
    read_number::<u8>(&disk.join("queue/iostats")) == Some(0)
}

fn process(system: &System) -> Option<ProcessCounters> {
    let text = read_text(&system.procfs.join("self/io"))?;
    let value = |key: &str| {
        let mut pairs = text.lines().filter_map(|line| line.split_once(": "));
        pairs.find(|(name, _)| *name == key).and_then(|(_, value)| value.parse().ok())
    };
    Some(ProcessCounters {
        read_call_bytes: value("rchar")?,
        write_call_bytes: value("wchar")?,
        read_calls: value("syscr")?,
        write_calls: value("syscw")?,
        device_read_bytes: value("read_bytes")?,
        device_write_bytes: value("write_bytes")?,
        cancelled_write_bytes: value("cancelled_write_bytes")?,
    })
}

fn pressure(system: &System) -> Vec<Pressure> {
    let mut places = vec![(system.procfs.join("pressure"), "", "")];
    if let Some(group) = crate::facts::own_group(system) {
        places.push((group, "cgroup ", ".pressure"));
    }
    let mut found = Vec::new();
    for (directory, before, after) in places {
        for resource in ["cpu", "io", "memory"] {
            let Some(text) = read_text(&directory.join(format!("{resource}{after}"))) else {
                continue;
            };
            let total = |kind: &str| {
                let line = text.lines().find(|line| line.starts_with(kind))?;
                line.split_once("total=")?.1.trim().parse().ok()
            };
            found.push(Pressure {
                resource: format!("{before}{resource}"),
                some_us: total("some").unwrap_or(0),
                full_us: total("full").unwrap_or(0),
            });
        }
    }
    found
}

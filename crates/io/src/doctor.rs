//! What `doctor` looks at: everything that can be seen of target and machine before a run.
//!
//! Nothing is written and no setting is changed; what cannot be read stays unknown.

mod direct;
mod noise;
mod power;

pub use direct::direct;
pub use noise::{clock_step_ns, noise};

use crate::counters::{self, Snapshot};
use crate::facts;
use crate::identity::Identity;
use crate::scratch::{Entry, ScratchList};
use crate::system::{DeviceNumber, System, names_in, read_text};
use crate::{cpus, sensors};
use drivelab_core::facts::Facts;
use drivelab_core::fitness::{Idle, IdleDevice, Observations, Resync};
use drivelab_core::observed::PressureSpan;
use std::path::Path;
use std::time::{Duration, Instant};

/// Everything that sysfs, procfs and the target tell at once; what must be measured is left out.
pub fn look(system: &System, path: &Path, facts: Facts) -> Observations {
    let devices = facts::devices_below(system, path);
    Observations {
        direct: direct(system, path, &facts.target),
        is_initialising: is_initialising(system),
        resyncs: resyncs(system),
        temperatures: sensors::temperatures(system, &devices),
        power: power::power(system, &facts.target.devices),
        nodes: nodes(system),
        cpus_allowed: cpus_allowed(system),
        memory_available_bytes: memory_available(system),
        facts,
        ..Observations::default()
    }
}

/// Counts for `span` while drivelab does nothing.
pub fn idle(system: &System, devices: &[DeviceNumber], span: Duration) -> Idle {
    let begin = Instant::now();
    let before = Moment::now(system, devices);
    std::thread::sleep(span);
    let after = Moment::now(system, devices);
    after.since(&before, begin.elapsed())
}

struct Moment {
    counted: Snapshot,
    stolen: Option<(u64, u64)>,
}

impl Moment {
    fn now(system: &System, devices: &[DeviceNumber]) -> Moment {
        Moment {
            counted: counters::snapshot(system, devices).unwrap_or_default(),
            stolen: sensors::stolen_and_all(system),
        }
    }

    fn since(&self, before: &Moment, span: Duration) -> Idle {
        let counted = self.counted.since(&before.counted);
        let devices = counted.devices.into_iter().map(|device| IdleDevice {
            bytes: device.read_bytes + device.write_bytes + device.discard_bytes,
            busy_ms: device.busy_time_ms,
            uncounted: device.is_uncounted(),
            name: device.name,
        });
        let pressure = counted.pressure.into_iter().map(|span| PressureSpan {
            resource: span.resource,
            some_us: span.some_us,
            full_us: span.full_us,
        });
        let steal_share = self.stolen.zip(before.stolen).map(|(now, before)| {
            let all = now.1.saturating_sub(before.1).max(1);
            now.0.saturating_sub(before.0) as f64 / all as f64
        });
        Idle {
            span_ns: u64::try_from(span.as_nanos()).unwrap_or(u64::MAX),
            devices: devices.collect(),
            pressure: pressure.collect(),
            steal_share,
        }
    }
}

/// Scratch that stands in the list, is no run's wish to keep, and is still where it was made.
pub fn leftovers(list: &ScratchList) -> Vec<String> {
    let entries = list.entries().unwrap_or_default();
    let is_there = |entry: &&Entry| {
        let Ok(file) = rustix::fs::open(
            entry.path(),
            rustix::fs::OFlags::PATH | rustix::fs::OFlags::NOFOLLOW | rustix::fs::OFlags::CLOEXEC,
            rustix::fs::Mode::empty(),
        ) else {
            return false;
        };
        !entry.keep && Identity::of(&file).is_ok_and(|found| found == entry.identity)
    };
    entries.iter().filter(is_there).map(|entry| entry.path.clone()).collect()
}

/// Whether ext4 still writes inode tables in the background; `None` where kernel threads cannot
/// be seen (a process namespace of our own, or `hidepid`).
fn is_initialising(system: &System) -> Option<bool> {
    let name = |process: &str| read_text(&system.procfs.join(process).join("comm"));
    // The parent of all kernel threads is process 2 (kernel source: rest_init).
    name("2").filter(|name| name == "kthreadd")?;
    let processes = names_in(&system.procfs);
    let mut numbers = processes.iter().filter(|name| name.bytes().all(|b| b.is_ascii_digit()));
    Some(numbers.any(|process| name(process).is_some_and(|name| name == "ext4lazyinit")))
}

/// Arrays that do something of their own (kernel document `Documentation/admin-guide/md.rst`).
fn resyncs(system: &System) -> Vec<Resync> {
    let class = system.sysfs.join("class/block");
    let busy = |device: String| {
        let action = read_text(&class.join(&device).join("md/sync_action"))?;
        (action != "idle" && action != "frozen").then_some(Resync { device, action })
    };
    names_in(&class).into_iter().filter_map(busy).collect()
}

/// The CPUs of each NUMA node.
fn nodes(system: &System) -> Vec<(i32, Vec<usize>)> {
    let root = system.sysfs.join("devices/system/node");
    let node = |name: &String| {
        let number: i32 = name.strip_prefix("node")?.parse().ok()?;
        Some((number, list(&read_text(&root.join(name).join("cpulist"))?)))
    };
    names_in(&root).iter().filter_map(node).collect()
}

fn list(text: &str) -> Vec<usize> {
    cpus::parse(text).unwrap_or_default()
}

fn cpus_allowed(system: &System) -> Vec<usize> {
    if system.is_live() {
        return cpus::allowed();
    }
    let status = read_text(&system.procfs.join("self/status")).unwrap_or_default();
    let line = status.lines().find_map(|line| line.strip_prefix("Cpus_allowed_list:"));
    line.map(|text| list(text.trim())).unwrap_or_default()
}

fn memory_available(system: &System) -> Option<u64> {
    let text = read_text(&system.procfs.join("meminfo"))?;
    let line = text.lines().find_map(|line| line.strip_prefix("MemAvailable:"))?;
    let kib: u64 = line.split_whitespace().next()?.parse().ok()?;
    kib.checked_mul(1024)
}

#[cfg(test)]
mod tests;

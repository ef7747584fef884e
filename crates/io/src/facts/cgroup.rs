//! Limits of our own control groups that bound I/O, CPU or memory, ours and every ancestor's.
//!
//! Kernel documents `Documentation/admin-guide/cgroup-v2.rst` and `.../cgroup-v1/`.

use std::path::{Path, PathBuf};

use drivelab_core::observed::{CpuThrottle, IoLimit, LimitedRate};

use super::mounts::{self, Mount};
use crate::system::{System, read_text};

/// Files of version 2 and the value that means "no limit" (a line beginning with it).
const VERSION_2: [(&str, &str); 5] = [
    ("io.max", "\0"),
    ("io.latency", "\0"),
    ("cpu.max", "max"),
    ("memory.max", "max"),
    ("memory.high", "max"),
];

/// Files of version 1: controller, file, kind of value.
const VERSION_1: [(&str, &str); 6] = [
    ("blkio", "blkio.throttle.read_bps_device"),
    ("blkio", "blkio.throttle.write_bps_device"),
    ("blkio", "blkio.throttle.read_iops_device"),
    ("blkio", "blkio.throttle.write_iops_device"),
    ("cpu", "cpu.cfs_quota_us"),
    ("memory", "memory.limit_in_bytes"),
];

/// "No limit" of version 1 is the largest page-aligned `i64`, written out.
const MEMORY_UNLIMITED: u64 = 1 << 60;

/// All limits as `FILE VALUE in GROUP`, from our own group up to the root.
pub(super) fn limits(system: &System) -> Vec<String> {
    let Some(text) = read_text(&system.procfs.join("self/cgroup")) else { return Vec::new() };
    let mounts = mounts::read(system).unwrap_or_default();
    let mut found = Vec::new();
    for line in text.lines() {
        let mut parts = line.splitn(3, ':');
        let (Some(_), Some(controllers), Some(group)) = (parts.next(), parts.next(), parts.next())
        else {
            continue;
        };
        match controllers {
            "" => version_2(system, &mounts, group, &mut found),
            names if names.starts_with("name=") => {}
            names => version_1(system, &mounts, names, group, &mut found),
        }
    }
    found
}

fn version_2(system: &System, mounts: &[Mount], group: &str, found: &mut Vec<String>) {
    let Some(mount) = mounts.iter().find(|mount| mount.kind == "cgroup2") else { return };
    for (directory, name) in upwards(system, mount, group) {
        for (file, unlimited) in VERSION_2 {
            let Some(text) = read_text(&directory.join(file)) else { continue };
            let limiting = text.lines().filter(|line| !line.starts_with(unlimited));
            found.extend(limiting.map(|line| format!("{file} {line} in {name}")));
        }
    }
}

fn version_1(system: &System, mounts: &[Mount], names: &str, group: &str, found: &mut Vec<String>) {
    for controller in names.split(',') {
        let has = |mount: &&Mount| {
            mount.kind == "cgroup" && mount.super_options.split(',').any(|o| o == controller)
        };
        let Some(mount) = mounts.iter().find(has) else { continue };
        for (directory, name) in upwards(system, mount, group) {
            for (_, file) in VERSION_1.iter().filter(|(owner, _)| *owner == controller) {
                let Some(text) = read_text(&directory.join(file)) else { continue };
                let limiting = text.lines().filter(|line| limits_something(file, line));
                for line in limiting {
                    let period = match *file {
                        "cpu.cfs_quota_us" => read_text(&directory.join("cpu.cfs_period_us"))
                            .map(|text| format!(" of {text}"))
                            .unwrap_or_default(),
                        _ => String::new(),
                    };
                    found.push(format!("{file} {line}{period} in {name}"));
                }
            }
        }
    }
}

fn limits_something(file: &str, line: &str) -> bool {
    match file {
        "cpu.cfs_quota_us" => line.parse::<i64>().is_ok_and(|quota| quota > 0),
        "memory.limit_in_bytes" => line.parse::<u64>().is_ok_and(|n| n < MEMORY_UNLIMITED),
        _ => !line.is_empty(),
    }
}

/// The directories of a group and of all its ancestors that are visible here, nearest first.
fn upwards(system: &System, mount: &Mount, group: &str) -> Vec<(PathBuf, String)> {
    let top = match mount.mount_point.strip_prefix("/sys") {
        Ok(below) => system.sysfs.join(below),
        Err(_) => mount.mount_point.clone(),
    };
    // In a container a part of the tree may be mounted: what is above it cannot be seen.
    let group = Path::new(group);
    let below = group.strip_prefix(&mount.root).unwrap_or(group);
    let below = below.strip_prefix("/").unwrap_or(below);
    let mut all = Vec::new();
    for part in below.ancestors() {
        all.push((top.join(part), Path::new("/").join(part).display().to_string()));
    }
    all
}

/// Limits on the I/O of single devices, ours and our ancestors'.
pub fn io_limits(system: &System) -> Vec<IoLimit> {
    limits(system).iter().flat_map(|line| io_limits_of(line)).collect()
}

/// The limits in one line as [`limits`] writes it.
fn io_limits_of(line: &str) -> Vec<IoLimit> {
    let Some((rest, group)) = line.rsplit_once(" in ") else { return Vec::new() };
    let mut words = rest.split_whitespace();
    let (Some(file), Some(device)) = (words.next(), words.next()) else { return Vec::new() };
    let limit = |what: LimitedRate, value: &str| {
        let per_second = value.parse().ok().filter(|value| *value > 0)?;
        Some(IoLimit { device: device.to_owned(), what, per_second, group: group.to_owned() })
    };
    let of_version_1 = [
        ("blkio.throttle.read_bps_device", LimitedRate::ReadBytes),
        ("blkio.throttle.write_bps_device", LimitedRate::WrittenBytes),
        ("blkio.throttle.read_iops_device", LimitedRate::Reads),
        ("blkio.throttle.write_iops_device", LimitedRate::Writes),
    ];
    if let Some((_, what)) = of_version_1.iter().find(|(name, _)| *name == file) {
        return words.next().and_then(|value| limit(*what, value)).into_iter().collect();
    }
    if file != "io.max" {
        return Vec::new();
    }
    let of_version_2 = |word: &str| {
        let (key, value) = word.split_once('=')?;
        let what = match key {
            "rbps" => LimitedRate::ReadBytes,
            "wbps" => LimitedRate::WrittenBytes,
            "riops" => LimitedRate::Reads,
            "wiops" => LimitedRate::Writes,
            _ => return None,
        };
        limit(what, value)
    };
    words.filter_map(of_version_2).collect()
}

/// How often and for how long the CPU quotas of our groups have stopped their members so far;
/// `None` where no group tells.
pub fn cpu_throttled(system: &System) -> Option<CpuThrottle> {
    let text = read_text(&system.procfs.join("self/cgroup"))?;
    let mounts = mounts::read(system).ok()?;
    let mut total: Option<CpuThrottle> = None;
    for line in text.lines() {
        let mut parts = line.splitn(3, ':').skip(1);
        let (Some(controllers), Some(group)) = (parts.next(), parts.next()) else { continue };
        let has = |mount: &&Mount| match controllers {
            "" => mount.kind == "cgroup2",
            names => {
                let ours = |option: &str| option == "cpu" && names.split(',').any(|n| n == "cpu");
                mount.kind == "cgroup" && mount.super_options.split(',').any(ours)
            }
        };
        let Some(mount) = mounts.iter().find(has) else { continue };
        for (directory, _) in upwards(system, mount, group) {
            let Some(text) = read_text(&directory.join("cpu.stat")) else { continue };
            let Some(found) = throttle_of(&text) else { continue };
            let total = total.get_or_insert_default();
            total.periods += found.periods;
            total.stopped_us += found.stopped_us;
        }
    }
    total
}

/// Version 1 counts nanoseconds (`throttled_time`), version 2 microseconds (`throttled_usec`).
fn throttle_of(text: &str) -> Option<CpuThrottle> {
    let value = |key: &str| {
        let mut pairs = text.lines().filter_map(|line| line.split_once(' '));
        pairs.find(|(name, _)| *name == key).and_then(|(_, value)| value.trim().parse().ok())
    };
    let nanoseconds: Option<u64> = value("throttled_time");
    let stopped_us = nanoseconds.map(|ns| ns / 1000).or_else(|| value("throttled_usec"))?;
    Some(CpuThrottle { periods: value("nr_throttled")?, stopped_us })
}

/// The directory of our own version 2 group.
pub(crate) fn own_group(system: &System) -> Option<PathBuf> {
    let text = read_text(&system.procfs.join("self/cgroup"))?;
    let group = text.lines().find_map(|line| line.strip_prefix("0::"))?;
    let mounts = mounts::read(system).ok()?;
    let mount = mounts.iter().find(|mount| mount.kind == "cgroup2")?;
    upwards(system, mount, group).into_iter().next().map(|(directory, _)| directory)
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn limits_of_both_versions_are_read() {
        let one = io_limits_of("blkio.throttle.read_bps_device 7:0 8388608 in /box");
        let expected = IoLimit {
            device: "7:0".into(),
            what: LimitedRate::ReadBytes,
            per_second: 8_388_608,
            group: "/box".into(),
        };
        assert_eq!(one, [expected]);
        let two = io_limits_of("io.max 8:16 rbps=2097152 wbps=max riops=max wiops=120 in /a/b");
        let said: Vec<_> = two.iter().map(|limit| (limit.what, limit.per_second)).collect();
        assert_eq!(said, [(LimitedRate::ReadBytes, 2_097_152), (LimitedRate::Writes, 120)]);
        assert_eq!(io_limits_of("cpu.max 50000 100000 in /a"), []);
    }

    #[test]
    fn throttled_time_has_the_unit_of_its_version() {
        let one = "nr_periods 10\nnr_throttled 4\nthrottled_time 350000000\n";
        let two = "usage_usec 9\nnr_periods 10\nnr_throttled 4\nthrottled_usec 350000\n";
        let expected = Some(CpuThrottle { periods: 4, stopped_us: 350_000 });
        assert_eq!((throttle_of(one), throttle_of(two)), (expected, expected));
        assert_eq!(throttle_of("usage_usec 9\n"), None);
    }
}

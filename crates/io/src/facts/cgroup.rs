//! Limits of our own control groups that bound I/O, CPU or memory, ours and every ancestor's.
//!
//! Kernel documents `Documentation/admin-guide/cgroup-v2.rst` and `.../cgroup-v1/`.

use std::path::{Path, PathBuf};

use super::mounts::{self, Mount};
use super::{System, read_text};

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

/// The directory of our own version 2 group.
pub(crate) fn own_group(system: &System) -> Option<PathBuf> {
    let text = read_text(&system.procfs.join("self/cgroup"))?;
    let group = text.lines().find_map(|line| line.strip_prefix("0::"))?;
    let mounts = mounts::read(system).ok()?;
    let mount = mounts.iter().find(|mount| mount.kind == "cgroup2")?;
    upwards(system, mount, group).into_iter().next().map(|(directory, _)| directory)
}

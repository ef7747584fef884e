//! Facts of target and machine in groups; what is not known is said to be unknown.

use drivelab_core::facts::{
    DeviceFacts, Facts, FilesystemFacts, HostFacts, TargetFacts, WearFacts,
};
use drivelab_core::record::{Begin, ProcessFacts};
use drivelab_core::run::Run;
use std::collections::BTreeSet;

use crate::units;
use crate::view::block::Table;
use crate::view::headline;
use crate::view::namespace;

/// A title and what stands under it.
pub(crate) type Group = (String, Vec<(&'static str, String)>);

/// Everything known, hazards included: target, file system, devices downwards, machine.
pub(crate) fn groups(facts: &Facts) -> Vec<Group> {
    let mut groups = vec![target(&facts.target)];
    groups.extend(facts.target.filesystem.as_ref().map(filesystem));
    groups.extend(facts.target.devices.iter().map(device));
    groups.push(host(&facts.host));
    groups.into_iter().map(|(title, rows)| (title, unknown_last(rows))).collect()
}

/// What is unknown in one row: a line for each would bury what is known.
fn unknown_last(rows: Vec<(&'static str, String)>) -> Vec<(&'static str, String)> {
    let is_unknown = |row: &(&str, String)| row.1.is_empty() || row.1 == units::UNKNOWN;
    let (unknown, mut known): (Vec<_>, Vec<_>) = rows.into_iter().partition(is_unknown);
    if !unknown.is_empty() {
        let names: Vec<&str> = unknown.iter().map(|(name, _)| *name).collect();
        known.push((units::UNKNOWN, names.join(", ")));
    }
    known
}

/// How the run was measured: its clock, and how targets were opened.
pub(crate) fn measurement(run: &Run) -> Group {
    let clock = &run.begin.clock;
    let mut how = vec![clock.source.clone()];
    how.extend(
        clock
            .disagreement_ppm
            .filter(|ppm| ppm.is_finite())
            .map(|ppm| format!("{ppm:.2} ppm from CLOCK_MONOTONIC")),
    );
    how.extend(clock.read_ns.map(|cost| format!("{} a reading", units::time(cost))));
    if !clock.reason.is_empty() {
        how.push(clock.reason.clone());
    }
    how.retain(|part| !part.is_empty());
    let how = if how.is_empty() { units::UNKNOWN.to_owned() } else { how.join("; ") };
    let opened: BTreeSet<&String> = run.steps.iter().flat_map(|step| &step.begin.opened).collect();
    let opened = opened.into_iter().filter(|flags| !flags.trim().is_empty());
    let rows = std::iter::once(("clock", how)).chain(opened.map(|it| ("opened", it.clone())));
    ("measurement".to_owned(), rows.collect())
}

/// Who shared the work, where there were several.
pub(crate) fn processes(begin: &Begin) -> Option<Table> {
    let line = headline::processes(begin)?;
    let mut table = Table::headed(["process#", "machine", "clock ahead by#", "may be wrong by#"]);
    table.title = format!("{line}. The offset of each clock is removed from all times.");
    let row = |process: &ProcessFacts| {
        let (ahead, wrong) = match process.rank {
            0 => ("the clock of all times".to_owned(), String::new()),
            _ => (
                units::time(process.clock_ahead_ns as f64),
                units::time(process.clock_skew_ns as f64),
            ),
        };
        vec![process.rank.to_string(), process.host.clone(), ahead, wrong]
    };
    table.rows = begin.processes.iter().map(row).collect();
    Some(table)
}

fn known<T: ToString>(value: &Option<T>) -> String {
    value.as_ref().map_or(units::UNKNOWN.to_owned(), T::to_string)
}

fn size(bytes: Option<u64>) -> String {
    let both = |bytes| format!("{} ({} bytes)", units::capacity(bytes), units::count(bytes));
    bytes.map_or(units::UNKNOWN.to_owned(), both)
}

fn yes_no(value: bool) -> String {
    if value { "yes" } else { "no" }.to_owned()
}

fn target(target: &TargetFacts) -> Group {
    use drivelab_core::facts::TargetKind;
    let kind = match target.kind {
        TargetKind::File => "file",
        TargetKind::Directory => "directory",
        TargetKind::BlockDevice => "block device",
        TargetKind::Simulated => "simulated drive",
        TargetKind::Nothing => "no drive",
    };
    let mut rows = vec![("path", target.path.clone()), ("kind", kind.to_owned())];
    let what = if target.kind == TargetKind::Directory { "free" } else { "size" };
    rows.push((what, size(target.bytes)));
    rows.extend(target.differences.iter().map(|sentence| ("differs", sentence.clone())));
    rows.extend(target.unknown.iter().map(|sentence| ("not known", sentence.clone())));
    ("target".to_owned(), rows)
}

fn filesystem(filesystem: &FilesystemFacts) -> Group {
    let direct = match filesystem.direct_io_align {
        None => units::UNKNOWN.to_owned(),
        Some((0, 0)) => "not supported".to_owned(),
        Some((memory, offset)) => {
            format!("memory to {memory} bytes, offsets to {offset} bytes")
        }
    };
    let mut rows = vec![
        ("kind", filesystem.kind.clone()),
        ("source", filesystem.source.clone()),
        ("mounted at", filesystem.mount_point.clone()),
        ("options", filesystem.options.clone()),
        ("size", size(filesystem.total_bytes)),
        ("free", size(filesystem.free_bytes)),
        ("direct I/O aligns", direct),
    ];
    for (is_so, name) in [
        (filesystem.memory_backed, "is in memory"),
        (filesystem.network, "over the network"),
        (filesystem.compressing, "compresses"),
    ] {
        if is_so {
            rows.push((name, yes_no(true)));
        }
    }
    rows.extend(filesystem.hazard.iter().map(|hazard| ("hazard", hazard.clone())));
    ("file system".to_owned(), rows)
}

fn device(device: &DeviceFacts) -> Group {
    let block = |bytes: &Option<u32>| {
        bytes.map_or(units::UNKNOWN.to_owned(), |bytes| format!("{bytes} bytes"))
    };
    let link = match (&device.link, &device.link_max) {
        (Some(link), Some(most)) if link != most => format!("{link}, could be {most}"),
        (link, _) => known(link),
    };
    let kib = |value: Option<u32>| {
        value.map_or(units::UNKNOWN.to_owned(), |kib| units::size(u64::from(kib) * 1024))
    };
    let discard = match device.discard_max_bytes {
        None => units::UNKNOWN.to_owned(),
        Some(0) => "not supported".to_owned(),
        Some(most) => format!("up to {} at a time", units::size(most)),
    };
    let mut rows = vec![
        ("model", known(&device.model)),
        ("serial", known(&device.serial)),
        ("firmware", known(&device.firmware)),
        ("size", size(device.bytes)),
        ("transport", known(&device.transport)),
        ("link", link),
        ("logical sector", block(&device.logical_block_bytes)),
        ("physical sector", block(&device.physical_block_bytes)),
        ("rotational", device.rotational.map_or(units::UNKNOWN.to_owned(), yes_no)),
        ("scheduler", known(&device.scheduler)),
        ("queue requests", known(&device.queue_requests)),
        ("largest request", kib(device.max_sectors_kib)),
        ("read-ahead", kib(device.read_ahead_kib)),
        ("rq_affinity", known(&device.rq_affinity)),
        ("write cache (kernel)", known(&device.write_cache)),
        ("discard", discard),
        ("NUMA node", known(&device.numa_node)),
    ];
    for (name, list) in [
        ("signatures", &device.signatures),
        ("mounted at", &device.mounted_at),
        ("used by", &device.holders),
        ("built on", &device.members),
    ] {
        if !list.is_empty() {
            rows.push((name, list.join(", ")));
        }
    }
    rows.extend(device.form_factor.iter().map(|form| ("form factor", form.clone())));
    rows.extend(
        device.drive_write_cache.map(|it| ("write cache, says the drive", it.word().into())),
    );
    rows.extend(device.nvme.iter().flat_map(namespace::rows));
    rows.extend(device.wear.as_ref().and_then(wear));
    rows.extend(device.backing_file.iter().map(|file| ("backing file", file.clone())));
    (format!("{} {}", device.layer, device.name), rows)
}

/// Life used and bytes written, as far as the drive tells.
fn wear(wear: &WearFacts) -> Option<(&'static str, String)> {
    let used = wear.used_percent.map(|used| format!("{used} % used"));
    let written = wear.written_bytes.map(|bytes| format!("{} written", units::capacity(bytes)));
    let text = match (used, written) {
        (Some(used), Some(written)) => format!("{used} after {written}"),
        (used, written) => used.or(written)?,
    };
    Some(("wear", text))
}

fn host(host: &HostFacts) -> Group {
    let mut rows = vec![
        ("name", known(&host.hostname)),
        ("kernel", known(&host.kernel)),
        ("CPU", known(&host.cpu_model)),
        ("CPUs allowed", known(&host.cpus_allowed)),
        ("CPUs online", known(&host.cpus_online)),
        ("governor", known(&host.governor)),
        ("memory", host.memory_bytes.map_or(units::UNKNOWN.to_owned(), units::size)),
        ("clock source", known(&host.clocksource)),
        ("virtualisation", known(&host.virtualisation)),
    ];
    if !host.cgroup_limits.is_empty() {
        rows.push(("cgroup limits", host.cgroup_limits.join(", ")));
    }
    ("machine".to_owned(), rows)
}

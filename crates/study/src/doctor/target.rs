//! The target, its file system, and the devices below it.

use super::{Checks, Finding};
use drivelab_core::facts::{DeviceFacts, FilesystemFacts, TargetFacts, TargetKind, WearFacts};
use drivelab_core::fitness::{Direct, Observations, Severity};
use drivelab_core::quantity::{capacity, percent, time};

/// A file system that is fuller than this fragments what is written.
const FULL_SHARE: f64 = 0.9;
/// The largest requests of `check`.
const REQUEST_KIB: u32 = 1024;
/// Pieces smaller than this cost a drive of its sequential rate.
const PIECE_KIB: u32 = 128;
/// The deepest queue of `check`.
const DEPTH: u32 = 32;
/// More read-ahead than the kernel's usual.
const READ_AHEAD_KIB: u32 = 128;
/// Flash is addressed in units of at least this, whatever sector it claims.
const ALIGN_BYTES: u64 = 4096;
/// Layers without a request queue of their own.
const STACKED: [&str; 5] = ["lvm", "crypt", "dm", "md", "bcache"];
const NOT_SHOWN: &str = "the kernel does not show it";

/// What is asked of each disk.
type Question = fn(&DeviceFacts) -> Finding;

impl Checks {
    /// Page cache and file system.
    pub(super) fn target(&mut self, seen: &Observations) {
        self.direct(&seen.direct, &seen.facts.target);
        if seen.facts.target.kind == TargetKind::BlockDevice {
            self.fine("file system", "none: a block device");
            return;
        }
        let Some(filesystem) = &seen.facts.target.filesystem else {
            return self.unknown("file system", "no mount covers the target");
        };
        self.filesystem(filesystem);
        self.free_space(filesystem);
        if filesystem.kind == "ext4" {
            self.initialising(seen.is_initialising);
        }
    }

    fn direct(&mut self, direct: &Direct, target: &TargetFacts) {
        let name = "direct I/O";
        match direct {
            Direct::Works { align: Some((memory, offset)) } => self.fine(
                name,
                format!("works; memory on {memory} B, offsets on multiples of {offset} B"),
            ),
            Direct::Works { align: None } => self.fine(name, "works; alignment not reported"),
            Direct::Refused => self.bad(
                name,
                "the file system has none: the page cache answers",
                "Measure a directory on another file system, or the device itself.",
            ),
            Direct::NotAsked => {
                let place = target.path.as_str();
                self.unknown(name, format!("no readable file near {place} to query"));
            }
        }
    }

    fn filesystem(&mut self, filesystem: &FilesystemFacts) {
        let name = "file system";
        let Some(hazard) = &filesystem.hazard else {
            let FilesystemFacts { kind, source, .. } = filesystem;
            return self.fine(name, format!("{kind} on {source}"));
        };
        let advice = "The figures will be those of what is named here.";
        match filesystem.memory_backed {
            true => self.bad(name, hazard.clone(), advice),
            false => self.warning(name, hazard.clone(), advice),
        }
    }

    fn free_space(&mut self, filesystem: &FilesystemFacts) {
        let name = "free space";
        let (Some(total), Some(free)) = (filesystem.total_bytes, filesystem.free_bytes) else {
            return self.unknown(name, "the file system does not report its size");
        };
        let full = 1.0 - free as f64 / total.max(1) as f64;
        let found = format!("{} of {} free for this user", capacity(free), capacity(total));
        match full > FULL_SHARE {
            true => self.warning(
                name,
                format!("{found}: {} is used", percent(full)),
                "A file system this full breaks new files into pieces; make room first.",
            ),
            false => self.fine(name, found),
        }
    }

    fn initialising(&mut self, is_initialising: Option<bool>) {
        let name = "lazy initialisation";
        match is_initialising {
            None => self.unknown(name, "kernel threads cannot be seen from here"),
            Some(false) => self.fine(name, "no ext4lazyinit is running"),
            Some(true) => self.warning(
                name,
                "ext4lazyinit is running: the kernel writes inode tables meanwhile",
                "Wait until it ends, or mount once with init_itable=0.",
            ),
        }
    }

    /// Every device below the target.
    pub(super) fn devices(&mut self, target: &TargetFacts) {
        if target.devices.is_empty() {
            let filesystem = target.filesystem.as_ref();
            let reason = match filesystem {
                Some(found) if found.memory_backed => "none: the target is in memory",
                Some(found) if found.network => "they are on the other side of the network",
                _ => "no block device is known below the target",
            };
            return self.unknown("devices", reason);
        }
        let layers: Vec<&DeviceFacts> =
            target.devices.iter().filter(|device| is_layer(device)).collect();
        match layers.is_empty() {
            true => self.fine("layers", "none between the target and its disk"),
            false => {
                let names: Vec<String> = layers
                    .iter()
                    .map(|device| format!("{} ({})", device.name, device.layer))
                    .collect();
                self.note(
                    "layers",
                    names.join(", "),
                    "What is measured is the stack; measure a member to know the disk.",
                );
            }
        }
        self.queues(target);
        self.together("alignment", target.devices.iter().filter_map(of(alignment)));
        self.together("virtual disk", target.devices.iter().filter_map(of(virtuality)));
        self.unknown("drive state", "nothing records what was written to the drive before");
        let disks = target.devices.iter().filter(|device| device.layer == "disk");
        self.together("health", disks.map(|disk| (disk.name.clone(), health(disk))));
    }

    fn queues(&mut self, target: &TargetFacts) {
        let questions: [(&str, Question); 9] = [
            ("scheduler", scheduler),
            ("merging", merging),
            ("request size", request_size),
            ("queue slots", queue_slots),
            ("write cache", write_cache),
            ("writeback throttle", writeback_throttle),
            ("read-ahead", read_ahead),
            ("completion CPU", completion_cpu),
            ("link", link),
        ];
        let disks = || {
            let has_queue = |device: &&DeviceFacts| {
                device.layer != "partition" && !STACKED.contains(&device.layer.as_str())
            };
            target.devices.iter().filter(has_queue)
        };
        for (name, question) in questions {
            self.together(name, disks().map(|disk| (disk.name.clone(), question(disk))));
        }
    }
}

fn of(
    question: fn(&DeviceFacts) -> Option<Finding>,
) -> impl Fn(&DeviceFacts) -> Option<(String, Finding)> {
    move |device| Some((device.name.clone(), question(device)?))
}

fn is_layer(device: &DeviceFacts) -> bool {
    !matches!(device.layer.as_str(), "disk" | "partition" | "")
}

/// What the drive says of itself.
fn health(device: &DeviceFacts) -> Finding {
    let Some(wear) = &device.wear else {
        let reason = device.wear_unknown.as_ref().map(|reason| format!(": {reason}"));
        let what = "the drive's own log (SMART) could not be read";
        return (Severity::Unknown, format!("{what}{}", reason.unwrap_or_default()), "");
    };
    let warnings = wear.warnings();
    if !warnings.is_empty() {
        return (
            Severity::Bad,
            format!("the drive warns: {}", warnings.join("; ")),
            "Save what it holds and replace it: figures measured now are those of a failing drive.",
        );
    }
    let cautions = wear.cautions();
    let mut said: Vec<String> = well(wear);
    if cautions.is_empty() && wear.tests_itself() {
        said.push("it is testing itself".to_owned());
        let advice = "Wait until its test has ended; `drivelab health` says how far it is.";
        return (Severity::Warning, said.join("; "), advice);
    }
    if cautions.is_empty() {
        return match (wear.failing, wear.used_percent) {
            (None, None) => {
                (Severity::Unknown, "the drive does not say whether it fails".into(), "")
            }
            _ => fine(said.join(", ")),
        };
    }
    said.extend(cautions);
    (Severity::Warning, said.join("; "), care(wear))
}

/// What speaks for the drive.
fn well(wear: &WearFacts) -> Vec<String> {
    let used = wear.used_percent.filter(|used| *used < 100);
    let words = [
        used.map(|used| format!("{used} % of its rated endurance used")),
        wear.spare_percent.map(|spare| format!("{spare} % of its spare left")),
        wear.failing.map(|_| "it says of itself that it does not fail".to_owned()),
    ];
    words.into_iter().flatten().collect()
}

/// What to do about a drive that does not warn, and yet is not as it should be.
fn care(wear: &WearFacts) -> &'static str {
    let counts = [wear.media_errors, wear.pending_sectors, wear.unreadable_sectors];
    let has_lost = counts.into_iter().flatten().any(|count| count > 0);
    let farm = wear.farm.as_ref();
    let is_set_back = farm.is_some_and(|it| it.apart(wear.power_on_hours).is_some());
    match (has_lost || wear.self_test_failed == Some(true), wear.used_percent) {
        (true, _) => "Save what it holds; a drive that loses data once loses more.",
        (false, Some(100..)) => {
            "It is beyond what its maker warrants; watch its spare and its errors."
        }
        _ if farm.is_some_and(|it| it.helium_lost == Some(true)) => {
            "Save what it holds and replace it: it is made to work in helium."
        }
        _ if is_set_back => {
            "Ask who sold it, and as what: it is at least as old as the larger count."
        }
        (false, _) => "Damaged transfers are sent again, which takes time: change the cable.",
    }
}

fn fine(found: impl Into<String>) -> Finding {
    (Severity::Fine, found.into(), "")
}

fn unknown() -> Finding {
    (Severity::Unknown, NOT_SHOWN.into(), "")
}

fn scheduler(device: &DeviceFacts) -> Finding {
    match device.scheduler.as_deref() {
        None => unknown(),
        Some("none") => fine("none"),
        Some(name) => (
            Severity::Note,
            format!("{name} reorders and merges requests"),
            "Compare only runs under one scheduler; none shows the drive most plainly.",
        ),
    }
}

fn merging(device: &DeviceFacts) -> Finding {
    match device.nomerges {
        None => unknown(),
        Some(0) => fine("neighbouring requests may be merged, as usual"),
        Some(level) => (
            Severity::Note,
            format!("nomerges is {level}: neighbouring requests stay apart"),
            "Small sequential I/O is slower than elsewhere; 0 is usual.",
        ),
    }
}

fn request_size(device: &DeviceFacts) -> Finding {
    match device.max_sectors_kib {
        None => unknown(),
        Some(most) if most < PIECE_KIB => (
            Severity::Warning,
            format!("requests above {most} KiB are split; check uses {REQUEST_KIB} KiB"),
            "Raise queue/max_sectors_kb, or use smaller requests.",
        ),
        Some(most) if most < REQUEST_KIB => (
            Severity::Note,
            format!("requests above {most} KiB are split; check uses {REQUEST_KIB} KiB"),
            "Keep requests below it, or read their latency as that of several.",
        ),
        Some(most) => fine(format!("up to {most} KiB in one piece")),
    }
}

fn queue_slots(device: &DeviceFacts) -> Finding {
    match device.queue_requests {
        None => unknown(),
        Some(slots) if slots < DEPTH => (
            Severity::Warning,
            format!("{slots} requests fit: a depth of {DEPTH} waits outside of the drive"),
            "Raise queue/nr_requests, or use no more depth than that.",
        ),
        Some(slots) => fine(format!("{slots} requests fit")),
    }
}

fn write_cache(device: &DeviceFacts) -> Finding {
    match device.write_cache.as_deref() {
        None => unknown(),
        Some("write back") => (
            Severity::Note,
            "write back: a write is done before it is durable (the kernel's view)".into(),
            "Read write latencies as those of the cache; --sync fsync:1 asks for durable ones.",
        ),
        Some(mode) => fine(format!("{mode} (the kernel's view)")),
    }
}

fn writeback_throttle(device: &DeviceFacts) -> Finding {
    match device.writeback_throttle_us {
        None => unknown(),
        Some(0) => fine("off"),
        Some(target_us) => (
            Severity::Warning,
            format!(
                "buffered writes are held back to keep reads below {}",
                time(target_us as f64 * 1e3)
            ),
            "Direct I/O is not touched; for buffered writes write 0 to queue/wbt_lat_usec.",
        ),
    }
}

fn read_ahead(device: &DeviceFacts) -> Finding {
    match device.read_ahead_kib {
        None => unknown(),
        Some(size) if size > READ_AHEAD_KIB => (
            Severity::Note,
            format!("{size} KiB: buffered sequential reads fetch more than was asked for"),
            "Direct I/O is not touched.",
        ),
        Some(size) => fine(format!("{size} KiB")),
    }
}

fn completion_cpu(device: &DeviceFacts) -> Finding {
    match device.rq_affinity {
        None => unknown(),
        Some(0) => (
            Severity::Note,
            "requests complete on any CPU (rq_affinity 0)".into(),
            "1 lets a CPU near the issuing one complete them, which is usual.",
        ),
        Some(1) => fine("requests complete near the CPU that issued them"),
        Some(_) => fine("requests complete on the CPU that issued them"),
    }
}

fn link(device: &DeviceFacts) -> Finding {
    match (&device.link, &device.link_max) {
        (Some(link), Some(most)) if link != most => (
            Severity::Warning,
            format!("{link}, while both sides could do {most}"),
            "Look at slot, cable and power saving; bandwidth is bounded by the link.",
        ),
        (Some(link), Some(_)) => fine(format!("{link}, the fastest that both sides can do")),
        (Some(link), None) => {
            (Severity::Unknown, format!("{link}; the kernel does not show what it could be"), "")
        }
        (None, _) => {
            let transport = device.transport.as_deref().unwrap_or("an unknown bus");
            (Severity::Unknown, format!("{transport} reports no link"), "")
        }
    }
}

/// Partitions that begin in the middle of a physical block.
fn alignment(device: &DeviceFacts) -> Option<Finding> {
    let unit = u64::from(device.physical_block_bytes.unwrap_or(512)).max(ALIGN_BYTES);
    let shift = device.alignment_offset.unwrap_or(0);
    let start = device.start_bytes.filter(|_| device.layer == "partition");
    let advice = "Every block spans two blocks of the drive; let the partition begin at 1 MiB.";
    if shift != 0 {
        let found = format!("misses the physical blocks by {shift} B");
        return Some((Severity::Warning, found, advice));
    }
    Some(match start? {
        start if !start.is_multiple_of(unit) => {
            let found = format!("begins at byte {start}, not a multiple of {unit}");
            (Severity::Warning, found, advice)
        }
        start => fine(format!("begins at byte {start}, a multiple of {unit}")),
    })
}

/// Disks that someone else makes up.
fn virtuality(device: &DeviceFacts) -> Option<Finding> {
    let by_bus = matches!(device.transport.as_deref(), Some("virtio" | "virtio-scsi" | "xen"));
    let marks = ["Amazon", "QEMU", "Virtual", "VMware", "VBOX", "PersistentDisk", "Alibaba"];
    let model = device.model.as_deref().unwrap_or_default();
    if device.layer != "disk" || !(by_bus || marks.iter().any(|mark| model.contains(mark))) {
        return None;
    }
    let spins = match device.rotational {
        Some(true) => "says that it spins",
        Some(false) => "says that it does not spin",
        None => "does not say whether it spins",
    };
    Some((
        Severity::Warning,
        format!("emulated by the host, and {spins}, which proves nothing"),
        "The host's cache, other guests and credits may answer; repeat at other hours.",
    ))
}

#[cfg(test)]
mod tests {
    use super::*;
    use drivelab_core::facts::FarmFacts;

    #[test]
    fn advice_is_for_what_is_wrong() {
        let hours = |own, helium_lost| {
            let farm = FarmFacts { power_on_hours: own, helium_lost, ..FarmFacts::default() };
            let power_on_hours = Some(12);
            WearFacts { farm: Some(farm), power_on_hours, ..WearFacts::default() }
        };
        let begins = |wear: &WearFacts, words| assert!(care(wear).starts_with(words), "{wear:?}");
        begins(&hours(Some(15_442), None), "Ask who sold it");
        begins(&hours(Some(15_442), Some(true)), "Save what it holds and replace it");
        begins(&WearFacts { media_errors: Some(1), ..hours(Some(15_442), None) }, "Save what it");
        begins(&WearFacts { used_percent: Some(101), ..WearFacts::default() }, "It is beyond");
        for cable in [WearFacts::default(), hours(Some(12), Some(false)), hours(None, None)] {
            begins(&WearFacts { link_errors: Some(5000), ..cable }, "Damaged transfers");
        }
    }
}

//! `drivelab list` and `drivelab runs`.

use drivelab_core::facts::{DeviceFacts, FilesystemFacts};
use drivelab_core::well::{DriveHealth, names};

use crate::text::{Flush, columns, columns_without, hanging, printable};
use crate::units;

/// The column that only root can fill.
const HEALTH: usize = 8;
/// Columns that a narrow screen does without, the first of them first: firmware, serial, transport,
/// rotates, model.
const WITHOUT: [&[usize]; 5] = [&[7], &[6], &[4], &[3], &[5]];

/// Devices, then file systems, each with what makes it unfit or dangerous to measure.
pub fn device_list(devices: &[DeviceFacts], filesystems: &[FilesystemFacts]) -> String {
    let mut text = String::new();
    let left = Flush::Left;
    if !devices.is_empty() {
        let mut heads = vec![
            "device",
            "size",
            "layer",
            "rotates",
            "transport",
            "model",
            "serial",
            "firmware",
            "health",
            "in use",
        ];
        let mut rows = vec![heads.iter().map(|head| (*head).to_owned()).collect()];
        rows.extend(devices.iter().map(device_row));
        let mut flush = vec![left; heads.len()];
        flush[1] = Flush::Right;
        // Without rights no drive was asked.
        if devices.iter().all(|device| device.wear.is_none()) {
            heads.remove(HEALTH);
            flush.remove(HEALTH);
            rows.iter_mut().for_each(|row: &mut Vec<String>| drop(row.remove(HEALTH)));
        }
        let (table, gone) = columns_without(&rows, &flush, 0, &WITHOUT);
        text.push_str(&table);
        if !gone.is_empty() {
            let names: Vec<&str> = gone.iter().map(|column| heads[*column]).collect();
            let words = format!("Not shown in this width: {}; --json has all.", names.join(", "));
            text.push_str(&hanging("", &words, 0));
        }
    }
    if !filesystems.is_empty() {
        let heads = ["mounted at", "kind", "free", "of", "source"];
        let mut rows = vec![heads.map(str::to_owned).to_vec()];
        rows.extend(filesystems.iter().map(filesystem_row));
        if !text.is_empty() {
            text.push('\n');
        }
        text.push_str(&columns(&rows, &[left, left, Flush::Right, Flush::Right, left], 0));
        for filesystem in filesystems {
            if let Some(hazard) = &filesystem.hazard {
                let words = printable(&format!("{}: {hazard}", filesystem.mount_point));
                text.push_str(&hanging("Beware", &words, 9));
            }
        }
    }
    if text.is_empty() {
        text.push_str("no block device and no file system can be seen from here\n");
    }
    text
}

fn known(value: &Option<String>) -> String {
    printable(value.as_deref().unwrap_or(units::UNKNOWN))
}

fn device_row(device: &DeviceFacts) -> Vec<String> {
    // A partition has the model of its disk, which stands above it.
    let of_disk = |value: &Option<String>| match device.layer.as_str() {
        "partition" if value.is_none() => String::new(),
        _ => known(value),
    };
    let name = match device.layer.as_str() {
        "partition" => format!("  /dev/{}", device.name),
        _ => format!("/dev/{}", device.name),
    };
    let mut uses = Vec::new();
    uses.extend(device.mounted_at.iter().map(|place| format!("mounted at {place}")));
    uses.extend(device.holders.iter().map(|holder| format!("used by {holder}")));
    if !device.signatures.is_empty() {
        uses.push(format!("holds {}", device.signatures.join(", ")));
    }
    if device.read_only == Some(true) {
        uses.push("read-only".to_owned());
    }
    uses.extend(device.zones.iter().map(|zones| format!("{} zones", zones.model)));
    if let [_, ..] = device.paths.as_slice() {
        uses.push(units::counted(device.paths.len() as u64, "path"));
    }
    if matches!(device.transport.as_deref(), Some("memory" | "null_blk")) {
        uses.push("memory, not a drive".to_owned());
    }
    let names = names(device);
    vec![
        printable(&name),
        device.bytes.map_or(units::UNKNOWN.to_owned(), units::capacity),
        printable(&device.layer),
        rotates(device),
        of_disk(&device.transport),
        of_disk(&names.model),
        of_disk(&names.serial),
        of_disk(&names.firmware),
        health(device),
        printable(&uses.join("; ")),
    ]
}

/// How a drive is by what it says of itself, what it has used of its life, and how warm it is.
fn health(device: &DeviceFacts) -> String {
    let Some(wear) = &device.wear else {
        return if device.layer == "disk" { units::UNKNOWN.to_owned() } else { String::new() };
    };
    let state = DriveHealth::of(device, None).state.word().to_owned();
    let used = wear.used_percent.map(|used| format!("{used} % used"));
    let temperature = wear.temperature_c.map(|degrees| format!("{degrees} °C"));
    let told: Vec<String> = [Some(state), used, temperature].into_iter().flatten().collect();
    printable(&told.join(", "))
}

/// What `queue/rotational` says, as the kernel guesses it or was told; a partition has no queue.
fn rotates(device: &DeviceFacts) -> String {
    match device.rotational {
        Some(true) => "yes".to_owned(),
        Some(false) => "no".to_owned(),
        None if device.layer == "partition" => String::new(),
        None => units::UNKNOWN.to_owned(),
    }
}

fn filesystem_row(filesystem: &FilesystemFacts) -> Vec<String> {
    let size = |bytes: Option<u64>| bytes.map_or(units::UNKNOWN.to_owned(), units::capacity);
    vec![
        printable(&filesystem.mount_point),
        printable(&filesystem.kind),
        size(filesystem.free_bytes),
        size(filesystem.total_bytes),
        printable(&filesystem.source),
    ]
}

/// One run of the history.
#[derive(Debug, Clone, Default, PartialEq)]
pub struct RunRow {
    /// Run ID.
    pub run: String,
    /// Wall-clock time of the beginning, RFC 3339, UTC.
    pub started_at: String,
    /// `check`, `run` …
    pub command: String,
    /// The target as typed.
    pub target: String,
    /// What it was called.
    pub tag: Option<String>,
    /// Everything planned was done.
    pub complete: bool,
    /// Measuring steps that ended.
    pub steps: usize,
    /// Why the file could not be read, if so.
    pub unreadable: Option<String>,
}

/// The history, in the order given.
pub fn runs_table(runs: &[RunRow]) -> String {
    if runs.is_empty() {
        return "no runs yet; `drivelab check` makes one\n".to_owned();
    }
    let target = if runs.iter().any(|run| run.tag.is_some()) { "target (tag)" } else { "target" };
    let heads = ["run", "started (UTC)", "command", "steps", "state", target];
    let mut rows = vec![heads.map(str::to_owned).to_vec()];
    rows.extend(runs.iter().map(|run| {
        let state = match (&run.unreadable, run.complete) {
            (Some(why), _) => format!("unreadable: {why}"),
            (None, true) => "complete".to_owned(),
            (None, false) => "INCOMPLETE".to_owned(),
        };
        let cells = [&run.run, &run.started_at, &run.command, &run.steps.to_string(), &state];
        let mut row: Vec<String> = cells.into_iter().map(|cell| printable(cell)).collect();
        row.push(printable(&match &run.tag {
            Some(tag) => format!("{} ({tag})", run.target),
            None => run.target.clone(),
        }));
        row
    }));
    let left = Flush::Left;
    // The name of a run says when it began.
    columns_without(&rows, &[left, left, left, Flush::Right, left, left], 0, &[&[1]]).0
}

//! What every block device has, by lsblk, blockdev, blkid and the kernel's files.

use super::witness::Witness;
use crate::support::binary::must;
use serde_json::Value;
use std::fs;
use std::path::Path;
use std::process::Command;

/// Settings that the kernel shows in one file each, and no tool but for printing it.
const SETTINGS: [(&str, &str); 9] = [
    ("max_sectors_kib", "queue/max_sectors_kb"),
    ("rq_affinity", "queue/rq_affinity"),
    ("nomerges", "queue/nomerges"),
    ("writeback_throttle_us", "queue/wbt_lat_usec"),
    ("minimum_io_bytes", "queue/minimum_io_size"),
    ("optimal_io_bytes", "queue/optimal_io_size"),
    ("alignment_offset", "alignment_offset"),
    ("discard_granularity_bytes", "queue/discard_granularity"),
    ("discard_max_bytes", "queue/discard_max_bytes"),
];

/// What lsblk tells of a device and what it is called there.
const COLUMNS: [(&str, &str); 14] = [
    ("number", "maj:min"),
    ("bytes", "size"),
    ("logical_block_bytes", "log-sec"),
    ("physical_block_bytes", "phy-sec"),
    ("minimum_io_bytes", "min-io"),
    ("optimal_io_bytes", "opt-io"),
    ("alignment_offset", "alignment"),
    ("rotational", "rota"),
    ("read_only", "ro"),
    ("queue_requests", "rq-size"),
    ("read_ahead_kib", "ra"),
    ("discard_granularity_bytes", "disc-gran"),
    ("discard_max_bytes", "disc-max"),
    ("name", "kname"),
];

const ZONES: [(&str, &str); 6] = [
    ("zones.model", "zoned"),
    ("zones.zone_bytes", "zone-sz"),
    ("zones.zones", "zone-nr"),
    ("zones.open_max", "zone-omax"),
    ("zones.active_max", "zone-amax"),
    ("zones.append_bytes_max", "zone-app"),
];

/// A device of any kind, whole or a part; `row` is what lsblk tells of it.
pub fn device(witness: &mut Witness, node: &str, row: &Value) {
    for (path, column) in COLUMNS {
        witness.equal(path, row[column].clone(), "lsblk");
    }
    let zoned = row["zoned"] != "none";
    for (path, column) in ZONES.into_iter().filter(|_| zoned) {
        witness.equal(path, row[column].clone(), "lsblk");
    }
    by_blockdev(witness, node);
    let kernel = row["kname"].as_str().expect("a name").to_owned();
    let own = fs::canonicalize(Path::new("/sys/class/block").join(&kernel)).expect("a device");
    let disk = if own.join("partition").exists() { own.join("..") } else { own.clone() };
    for (path, file) in SETTINGS {
        let at = if file.starts_with("queue/") { disk.join(file) } else { own.join(file) };
        let number = fs::read_to_string(at).ok().and_then(|text| text.trim().parse::<i64>().ok());
        witness.equal(path, number, file);
    }
    let text = |file: &str| fs::read_to_string(disk.join(file)).unwrap_or_default();
    // A drive of several paths has no scheduler of its own, which lsblk leaves out.
    let active = row["sched"].as_str().map_or_else(|| text("queue/scheduler"), str::to_owned);
    witness.equal("scheduler", active.trim(), "lsblk");
    let offered = text("queue/scheduler").replace(['[', ']'], "");
    let offered: Vec<&str> = offered.split_whitespace().collect();
    witness.equal("schedulers", offered, "queue/scheduler");
    witness.equal("polls", text("queue/io_poll").trim() == "1", "queue/io_poll");
    content(witness, node, &kernel, row);
}

/// What lsblk tells of a device, and of what lies over it.
pub fn by_lsblk(node: &str) -> Value {
    let said = must("lsblk", ["--json", "--bytes", "--output-all", node]);
    let json: Value = serde_json::from_str(&said).expect("lsblk prints JSON");
    json["blockdevices"][0].clone()
}

/// The kernel's answers to calls on the open device, each in a line: a program takes longer to
/// start in the guest than to answer.
fn by_blockdev(witness: &mut Witness, node: &str) {
    let asked = [
        ("bytes", "--getsize64", 1.0),
        ("logical_block_bytes", "--getss", 1.0),
        ("physical_block_bytes", "--getpbsz", 1.0),
        ("minimum_io_bytes", "--getiomin", 1.0),
        ("optimal_io_bytes", "--getioopt", 1.0),
        ("alignment_offset", "--getalignoff", 1.0),
        ("max_sectors_kib", "--getmaxsect", 0.5),
        ("read_ahead_kib", "--getra", 0.5),
    ];
    let options = asked.iter().map(|(_, option, _)| *option);
    let said = must("blockdev", options.chain(["--getro", node]));
    let numbers: Vec<f64> =
        said.lines().map(|line| line.trim().parse().expect("a number")).collect();
    let [numbers @ .., read_only] = numbers.as_slice() else { panic!("no line in {said:?}") };
    assert_eq!(numbers.len(), asked.len(), "{said}");
    for ((path, option, unit), number) in asked.into_iter().zip(numbers) {
        witness.equal(path, (number * unit) as i64, &format!("blockdev {option}"));
    }
    witness.equal("read_only", *read_only == 1.0, "blockdev --getro");
}

/// What lies on it and over it, and where it is mounted.
fn content(witness: &mut Witness, node: &str, kernel: &str, row: &Value) {
    let output = Command::new("blkid").args(["--probe", "--output=export", node]).output();
    let said = String::from_utf8(output.expect("blkid starts").stdout).expect("UTF-8");
    let value = |key: &str| {
        said.lines().find_map(|line| line.strip_prefix(key)).map(|it| match it {
            "LVM2_member" => "lvm2",
            "linux_raid_member" => "md",
            other => other,
        })
    };
    let mut found: Vec<&str> = ["TYPE=", "PTTYPE="].into_iter().filter_map(value).collect();
    found.sort_unstable();
    witness.equal("signatures", found, "blkid");
    let points = row["mountpoints"].as_array().expect("a list").iter();
    // lsblk has swap there, too.
    let points = points.filter(|point| point.is_string() && **point != "[SWAP]").cloned();
    witness.equal("mounted_at", points.collect::<Vec<_>>(), "lsblk");
    let above = row["children"].as_array().cloned().unwrap_or_default();
    let mut above: Vec<&str> = above
        .iter()
        .filter(|child| child["type"] != "part")
        .filter_map(|child| child["kname"].as_str())
        .collect();
    above.sort_unstable();
    witness.equal("holders", above, "lsblk");
    let said = must("lsblk", ["--json", "--inverse", "--output", "NAME,KNAME,TYPE", node]);
    let json: Value = serde_json::from_str(&said).expect("JSON");
    let below = json["blockdevices"][0]["children"].as_array().cloned().unwrap_or_default();
    let mut below: Vec<&str> = below.iter().filter_map(|child| child["kname"].as_str()).collect();
    below.sort_unstable();
    let kind = row["type"].as_str().expect("a type");
    match kind {
        "part" => {
            let start = row["start"].as_u64().expect("a start") * 512;
            witness.equal("start_bytes", start, "lsblk");
            witness.equal("members", Vec::<Value>::new(), "a partition is part of its disk");
        }
        "loop" => {
            let file = must("losetup", ["--noheadings", "--output=BACK-FILE", node]);
            witness.equal("backing_file", file.trim(), "losetup");
            witness.equal("transport", "loop", "lsblk");
        }
        _ => witness.equal("members", below, "lsblk"),
    }
    let layer = match kind {
        "part" => "partition",
        "raid1" => "md",
        kind => kind,
    };
    witness.equal("layer", layer, "lsblk");
    if kind == "raid1" {
        witness.equal("layer_name", "raid1", "lsblk");
    } else if kernel.starts_with("dm-") {
        let name = must("dmsetup", ["info", "--columns", "--noheadings", "-o", "name", node]);
        witness.equal("layer_name", name.trim(), "dmsetup");
    }
}

/// The zones of a drive, as blkzone reports them.
pub fn zones(witness: &mut Witness, node: &str) {
    let report = must("blkzone", ["report", node]);
    let rows: Vec<&str> = report.lines().filter(|line| line.contains("start:")).collect();
    let of = |row: &str, key: &str| {
        super::witness::number_after(row, key).unwrap_or_else(|| panic!("no {key} in {row}"))
    };
    let ordered: Vec<&&str> = rows.iter().filter(|row| !row.contains("CONVENTIONAL")).collect();
    let count = |codes: &[&str]| {
        let has = |row: &&&&str| codes.iter().any(|code| row.contains(&format!("({code})")));
        ordered.iter().filter(has).count() as u64
    };
    witness.equal("zones.zones", rows.len() as u64, "blkzone");
    witness.equal("zones.zone_bytes", of(rows[0], "len") * 512, "blkzone");
    let smallest = ordered.iter().map(|row| of(row, "cap") * 512).min();
    witness.equal("zones.capacity_bytes", smallest, "blkzone");
    let first = ordered.iter().map(|row| of(row, "start") * 512).min();
    witness.equal("zones.ordered_from_bytes", first, "blkzone");
    witness.equal("zones.conventional", (rows.len() - ordered.len()) as u64, "blkzone");
    witness.equal("zones.empty", count(&["em"]), "blkzone");
    witness.equal("zones.partly_written", count(&["oi", "oe", "cl"]), "blkzone");
    witness.equal("zones.full", count(&["fu"]), "blkzone");
    witness.equal("zones.unusable", count(&["ro", "of"]), "blkzone");
}

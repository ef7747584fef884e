//! Zones of drives that take writes only in order: QEMU's NVMe namespace, and null_blk with two
//! conventional zones.

use super::measured::good;
use crate::guest::{PATIENCE, node};
use crate::support::binary::{Laboratory, must};
use serde_json::Value;
use std::fs;
use std::sync::OnceLock;

const MIB: u64 = 1 << 20;

/// A zone as the kernel's own tool tells it (blkzone of util-linux): its first byte, the bytes
/// before its pointer, and its condition.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct Told {
    start: u64,
    written: u64,
    condition: String,
}

pub fn told(node: &str) -> Vec<Told> {
    let text = must("blkzone", ["report", node]);
    let number = |line: &str, key: &str| {
        let rest = line.split_once(key).unwrap_or_else(|| panic!("{key} in {line}")).1;
        let digits = rest.trim_start().trim_start_matches("0x");
        let end = digits.find(|it: char| !it.is_ascii_hexdigit()).unwrap_or(digits.len());
        u64::from_str_radix(&digits[..end], 16).unwrap() * 512
    };
    let condition = |line: &str| {
        let rest = line.split_once("zcond:").and_then(|(_, rest)| rest.split_once('('));
        rest.and_then(|(_, rest)| rest.split_once(')')).expect("a condition").0.to_owned()
    };
    let of = |line: &str| Told {
        start: number(line, "start:"),
        written: number(line, "wptr"),
        condition: condition(line),
    };
    text.lines().filter(|line| line.contains("start:")).map(of).collect()
}

fn conditions(node: &str, condition: &str) -> usize {
    told(node).iter().filter(|zone| zone.condition == condition).count()
}

/// null_blk with 16 zones of 16 MiB, of which the first two are conventional, and of the others at
/// most four are open; it keeps what is written.
fn null_blk() -> &'static str {
    static MADE: OnceLock<()> = OnceLock::new();
    MADE.get_or_init(|| {
        made("zoned0", &[("size", "256"), ("zone_size", "16"), ("zone_nr_conv", "2")])
    });
    "/dev/zoned0"
}

/// A zoned null_blk of this name that keeps at most four zones open, with these settings of its
/// own.
fn made(name: &str, own: &[(&str, &str)]) {
    let config = "/sys/kernel/config";
    must("sh", ["-c", &format!("mountpoint -q {config} || mount -t configfs configfs {config}")]);
    let directory = format!("{config}/nullb/{name}");
    fs::create_dir_all(&directory).unwrap();
    let all =
        [("blocksize", "4096"), ("memory_backed", "1"), ("zoned", "1"), ("zone_max_open", "4")];
    for (key, value) in all.iter().chain(own).chain(&[("power", "1")]) {
        fs::write(format!("{directory}/{key}"), value).unwrap_or_else(|e| panic!("{key}: {e}"));
    }
}

fn stream(json: &Value) -> &Value {
    &json["steps"].as_array().expect("steps").last().expect("a step")["streams"][0]
}

fn reasons(json: &Value) -> String {
    let steps = json["steps"].as_array().expect("steps");
    steps.last().expect("a step")["reasons"].to_string()
}

/// Zones are written in order behind a reset of each, and hold what was written; nothing outside of
/// the region is touched.
pub fn written() {
    for (node, from, capacity) in [(node("zones"), 0, 12 * MIB), (null_blk().into(), 2, 16 * MIB)] {
        let laboratory = Laboratory::new();
        let token = laboratory.token(&node);
        let before = told(&node);
        let offset = (from * 16 * MIB).to_string();
        let place = ["--offset", &offset, "--length", "64MiB", "--bs", "128k", "--json"];
        let line = [
            "run",
            &node,
            "--rw",
            "write",
            "--workers",
            "2",
            "--passes",
            "1",
            "--stamp",
            "--seed",
            "7",
        ];
        let refused = laboratory.run([&line[..], &place].concat(), PATIENCE).expect_status(3);
        assert!(refused.stderr.contains("--erase"), "{refused:?}");
        assert_eq!(told(&node), before, "{node} was touched without its token");
        for _ in 0..2 {
            let all = [&line[..], &place, &["--erase", &token]].concat();
            let json = good(laboratory.run(all, PATIENCE)).json();
            let stream = stream(&json);
            assert_eq!(stream["write"]["bytes"], 4 * capacity, "{node}: {stream}");
            assert_eq!(stream["reset"]["ops"], 4, "{node}: {stream}");
            assert!(stream["reset"]["service_ns"]["min"].as_u64() > Some(0), "{node}: {stream}");
            assert_eq!(stream["total"]["ops"], stream["write"]["ops"], "{node}: {stream}");
            for (at, (zone, was)) in told(&node).iter().zip(&before).enumerate() {
                let is_ours = (from as usize..from as usize + 4).contains(&at);
                assert_eq!(zone.condition == "fu", is_ours, "{node} zone {at}: {zone:?}");
                assert!(is_ours || zone == was, "{node} zone {at}: {was:?} → {zone:?}");
            }
        }
        let line = [
            "run",
            &node,
            "--rw",
            "read",
            "--workers",
            "2",
            "--passes",
            "1",
            "--verify",
            "--seed",
            "7",
        ];
        let json = laboratory.run([&line[..], &place].concat(), PATIENCE).json();
        let stream = stream(&json);
        assert_eq!(stream["verified"], 4 * capacity / 4096, "{node}: {stream}");
        assert_eq!(stream["mismatched"], 0, "{node}: {stream}");
        let line = ["run", &node, "--rw", "randread", "--operations", "300"];
        let json = laboratory.run([&line[..], &place].concat(), PATIENCE).json();
        assert!(!reasons(&json).contains("never written"), "{node}: {}", reasons(&json));
        let json = laboratory.run([&line[..], &["--json"]].concat(), PATIENCE).json();
        assert!(reasons(&json).contains("behind the write pointers"), "{node}: {}", reasons(&json));
    }
}

/// The same by NVMe commands to the namespace itself, read back through the kernel's block layer.
pub fn by_commands() {
    let node = node("zones");
    let laboratory = Laboratory::new();
    let token = laboratory.token(&node);
    let place = ["--length", "64MiB", "--bs", "128k", "--passes", "1", "--seed", "9", "--json"];
    let line = ["run", &node, "--rw", "write", "--workers", "2", "--stamp", "--erase", &token];
    let engine = ["--engine", "io_uring_cmd"];
    let json = laboratory.run([&line[..], &place, &engine].concat(), PATIENCE).json();
    let stream = stream(&json);
    assert_eq!((&stream["write"]["ops"], &stream["reset"]["ops"]), (&384.into(), &4.into()));
    // The drive counts them, and the kernel does not: that says nothing of other writers.
    assert!(json["health"][0]["written_bytes"].as_u64() > Some(40 * MIB), "{}", json["health"]);
    assert!(!json.to_string().contains("counted_more"), "{}", json["health"]);
    assert_eq!(told(&node).iter().take(4).filter(|zone| zone.condition == "fu").count(), 4);
    let line = ["run", &node, "--rw", "read", "--workers", "2", "--verify"];
    let json = laboratory.run([&line[..], &place].concat(), PATIENCE).json();
    let stream = self::stream(&json);
    assert_eq!((&stream["verified"], &stream["mismatched"]), (&12_288.into(), &0.into()));
}

/// Several appends to a zone are in flight; each zone of the region is full of them afterwards.
pub fn appended() {
    let node = node("zones");
    let laboratory = Laboratory::new();
    let token = laboratory.token(&node);
    let most =
        fs::read_to_string(node.replace("/dev", "/sys/block") + "/queue/zone_append_max_bytes");
    let most: u64 = most.unwrap().trim().parse().unwrap();
    let too_long = (2 * most).to_string();
    let line = ["run", &node, "--rw", "write", "--depth", "8", "--length", "64MiB", "--seed", "9"];
    let line = [&line[..], &["--passes", "1", "--zone-append", "--erase", &token]].concat();
    let engine = ["--engine", "io_uring_cmd"];
    let before = told(&node);
    let refused: [(&[&str], &str); 3] = [
        (&["--engine", "io_uring"], "only an NVMe command appends to a zone"),
        (&["--engine", "io_uring_cmd", "--stamp"], "the drive chooses where an append lands"),
        (&["--engine", "io_uring_cmd", "--bs", &too_long], "takes appends of at most"),
    ];
    for (words, said) in refused {
        let outcome = laboratory.run([&line[..], words].concat(), PATIENCE).expect_status(2);
        assert!(outcome.stderr.contains(said), "{words:?}: {outcome:?}");
    }
    assert_eq!(told(&node), before, "nothing is written by what is refused");
    let text = laboratory.run([&line[..], &["--bs", "128k"], &engine].concat(), PATIENCE).stdout;
    let words = text.split_whitespace().collect::<Vec<_>>().join(" ");
    assert!(words.contains("over the first 12 MiB of each 16 MiB, by zone append"), "{text}");
    for bs in ["16k", "192k"] {
        let words = ["--workers", "2", "--bs", bs, "--json"];
        let json = laboratory.run([&line[..], &words, &engine].concat(), PATIENCE).json();
        let stream = stream(&json);
        assert_eq!(stream["write"]["bytes"], 4 * 12 * MIB, "{stream}");
        assert_eq!(stream["reset"]["ops"], 4, "{stream}");
        assert_eq!(stream["write"]["errors"].as_u64().unwrap_or(0), 0, "{stream}");
        assert!(stream["depth_reached"].as_f64() > Some(2.0), "several are in flight: {stream}");
        assert_eq!(told(&node).iter().take(4).filter(|zone| zone.condition == "fu").count(), 4);
        assert_eq!(told(&node)[4..], before[4..], "nothing outside of the region is touched");
    }
}

/// A line of fio's over zones writes and reads what fio itself does.
pub fn of_fio() {
    let node = node("zones");
    let laboratory = Laboratory::new();
    let token = laboratory.token(&node);
    let name = format!("--filename={node}");
    let line = ["--name=z", &name, "--bs=128k", "--direct=1", "--zonemode=zbd", "--size=64m"];
    let of_job = |text: &str| -> Value {
        let begin = text.find('{').expect("JSON");
        let json: Value = serde_json::from_str(&text[begin..]).expect("JSON");
        json["jobs"][0].clone()
    };
    let full = || told(&node).iter().take(4).filter(|zone| zone.condition == "fu").count();
    for (rw, own) in [("write", &["--erase", &token][..]), ("read", &[])] {
        let load = [format!("--rw={rw}"), "--output-format=json".into()];
        let load: Vec<&str> = load.iter().map(String::as_str).collect();
        must("blkzone", if rw == "write" { vec!["reset", &node] } else { vec!["report", &node] });
        let theirs = of_job(&must("fio", [&line[..], &load].concat()));
        let found = full();
        must("blkzone", if rw == "write" { vec!["reset", &node] } else { vec!["report", &node] });
        let words = [&["fio"], &line[..], &load, own].concat();
        let outcome = laboratory.run(words, PATIENCE);
        let ours = of_job(&outcome.stdout);
        let bytes = |job: &Value| job[rw]["io_bytes"].clone();
        assert_eq!(bytes(&ours), bytes(&theirs), "{rw}: {outcome:?} {theirs}");
        assert_eq!(full(), found, "{rw}");
    }
    let refused = ["fio", "--name=z", &name, "--rw=randwrite", "--bs=128k", "--zonemode=zbd"];
    let outcome = laboratory.run([&refused[..], &["--size=64m"]].concat(), PATIENCE);
    assert_eq!(outcome.status, Some(1), "{outcome:?}");
    assert!(outcome.stderr.contains("write in order"), "{outcome:?}");
}

/// What a zoned drive cannot do is refused before anything; zones that an earlier step left open do
/// not stand in the way of a later one.
pub fn bounded() {
    for (node, most) in [(node("zones"), 8), (null_blk().into(), 4)] {
        let laboratory = Laboratory::new();
        let token = laboratory.token(&node);
        let before = told(&node);
        let workers = (most + 1).to_string();
        let refused: [(&[&str], &str); 5] = [
            (&["--rw", "write", "--workers", &workers], "open, and"),
            (&["--rw", "randwrite"], "a zone takes writes only in order"),
            (&["--rw", "write", "--depth", "4"], "one write at a time"),
            (&["--rw", "write", "--bs", "5MiB"], "whole number of requests"),
            (&["--rw", "randtrim"], "zones are reset, not trimmed"),
        ];
        for (words, said) in refused {
            let line = [&["run", &node], words, &["--operations", "1", "--erase", &token]].concat();
            let outcome = laboratory.run(line, PATIENCE).expect_status(2);
            assert!(outcome.stderr.contains(said), "{words:?}: {outcome:?}");
        }
        let line = ["study", "trim", &node, "--quick", "--erase", &token];
        let outcome = laboratory.run(line, PATIENCE).expect_status(2);
        assert!(outcome.stderr.contains("zoned drive"), "{outcome:?}");
        assert_eq!(told(&node), before, "{node}");
        for workers in [most, most - 1, most] {
            let workers = workers.to_string();
            let line = ["run", &node, "--rw", "write", "--bs", "64k", "--operations", "40"];
            let all = [&line[..], &["--workers", &workers, "--erase", &token]].concat();
            let outcome = laboratory.run(all, PATIENCE);
            assert!(matches!(outcome.status, Some(0 | 4)), "{node} x{workers}: {outcome:?}");
            assert!(!outcome.stderr.contains("failed"), "{node} x{workers}: {outcome:?}");
        }
        assert!(conditions(&node, "oi") + conditions(&node, "cl") > 0, "{:?}", told(&node));
    }
}

/// The facts are those of the kernel's own tool.
pub fn facts() {
    let nodes = [(node("zones"), 0), (null_blk().to_owned(), 2)];
    let json = Laboratory::new().run(["list", "--json"], PATIENCE).expect_status(0).json();
    for (node, conventional) in nodes {
        let name = node.trim_start_matches("/dev/");
        let mut devices = json["devices"].as_array().expect("devices").iter();
        let zones = &devices.find(|device| device["name"] == name).expect("the device")["zones"];
        let count = |condition: &str| conditions(&node, condition) as u64;
        assert_eq!(zones["conventional"], conventional, "{zones}");
        assert_eq!(zones["empty"], count("em"), "{zones}");
        assert_eq!(zones["full"], count("fu"), "{zones}");
        assert_eq!(zones["partly_written"], count("oi") + count("oe") + count("cl"), "{zones}");
        assert_eq!(zones["ordered_from_bytes"], conventional * 16 * MIB, "{zones}");
    }
}

/// Planted drives: one serves each request in 3 ms, so that four zones write four times as fast as
/// one; of the other all zones share 16 MB/s, so that several win nothing.
pub fn studied() {
    let small = [("size", "64"), ("zone_size", "2")];
    let slow = [("irqmode", "2"), ("completion_nsec", "3000000")];
    made("zoned1", &[&small[..], &slow].concat());
    made("zoned2", &[&small[..], &[("mbps", "16")]].concat());
    let gains = "Several zones at once write faster than one: 4 zones write ";
    let none = "Several zones at once write no faster than one by";
    for (node, said) in [("/dev/zoned1", gains), ("/dev/zoned2", none)] {
        let laboratory = Laboratory::new();
        let token = laboratory.token(node);
        let line = ["study", "zones", node, "--quick", "--seed", "7", "--json", "--erase", &token];
        let json = laboratory.run(line, PATIENCE * 2).json();
        let findings = &json["findings"];
        let verdict = findings["verdict"].to_string();
        // On a machine that is busy with others the noise may be too large to call them equal; it
        // is never called a gain.
        let undecided = findings["unknown"].to_string().contains("zones at once write faster");
        assert!(verdict.contains(said) || (said == none && undecided), "{node}: {findings}");
        assert!(said == gains || !verdict.contains(gains), "{node}: {findings}");
        assert!(verdict.contains("mptying a full zone takes"), "{node}: {findings}");
        let figures = findings["figures"].as_array().expect("figures");
        let value = |name: &str| {
            let found = figures.iter().find(|figure| figure["name"] == name);
            found
                .and_then(|it| it["estimate"]["value"].as_f64())
                .unwrap_or_else(|| panic!("{name}: {figures:?}"))
        };
        let ratio = value("write, 4 zones open") / value("write, 1 zone open");
        let expected = if said == gains { 3.0..5.5 } else { 0.8..1.25 };
        assert!(expected.contains(&ratio), "{node}: {ratio}: {findings}");
    }
    let outcome = Laboratory::new().run(["study", "zones", &node("first"), "--quick"], PATIENCE);
    let outcome = outcome.expect_status(2);
    assert!(outcome.stderr.contains("needs a drive whose zones"), "{outcome:?}");
}

/// A newcomer's first line: what can be measured is, and the rest is said not to be known.
pub fn checked() {
    let node = node("zones");
    let laboratory = Laboratory::new();
    let token = laboratory.token(&node);
    let line = ["check", &node, "--time", "40s", "--seed", "7"];
    laboratory.run(line, PATIENCE).expect_status(3);
    let outcome = laboratory.run([&line[..], &["--erase", &token]].concat(), PATIENCE);
    assert!(matches!(outcome.status, Some(0 | 4)), "{outcome:?}");
    let outcome = laboratory.run(["report", "--json"], PATIENCE);
    let json = outcome.json();
    let cells = json["cells"].as_array().expect("cells");
    let names: Vec<&str> = cells.iter().filter_map(|cell| cell["name"].as_str()).collect();
    for name in [
        "sequential read 1 MiB",
        "sequential read 1 MiB qd1",
        "sequential write 1 MiB qd1",
        "random read",
        "random read qd1",
    ] {
        assert!(names.contains(&name), "{name}: {names:?}");
    }
    assert!(!names.contains(&"random write"), "{names:?}");
    assert!(!json.to_string().contains("never written"), "{json}");
    let unknown = json["findings"]["unknown"].to_string();
    assert!(unknown.contains("How it takes random writes"), "{unknown}");
}

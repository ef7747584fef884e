//! What is known of a drive before it is used, held against the drives' own tools.

use crate::guest::{PATIENCE, kernel_name, node, sysfs};
use crate::support::binary::{Laboratory, kind_of, must};
use serde_json::Value;

/// All drives but the ones whose names no tool knows.
const NAMES: [&str; 10] =
    ["first", "second", "coarse", "zones", "paths", "sata", "scsi", "virtio", "stick", "card"];

fn list() -> Value {
    Laboratory::new().run(["list", "--json"], PATIENCE).expect_status(0).json()
}

/// What `list` knows of a drive.
#[track_caller]
pub fn of(list: &Value, name: &str) -> Value {
    let kernel = kernel_name(name);
    let devices = list["devices"].as_array().expect("devices");
    let found = devices.iter().find(|device| device["name"] == kernel);
    found.unwrap_or_else(|| panic!("{kernel} is not in {list}")).clone()
}

/// D8, D12: zones, paths and memory are told in the table.
pub fn listed() {
    must("modprobe", ["-r", "null_blk"]);
    must("modprobe", ["null_blk", "nr_devices=1", "gb=1"]);
    let said = Laboratory::new().run(["list"], PATIENCE).expect_status(0).stdout;
    let line = |kernel: &str| {
        let line = said.lines().find(|line| line.starts_with(&format!("/dev/{kernel} ")));
        line.unwrap_or_else(|| panic!("no {kernel} in {said}")).to_owned()
    };
    let told = |kernel: &str, words: &str| {
        let line = line(kernel);
        assert!(line.contains(words), "{words:?} is not in {line:?}");
    };
    told("nullb0", "memory, not a drive");
    told(&kernel_name("zones"), "host-managed zones");
    told(&kernel_name("paths"), "2 paths");
    assert!(!line(&kernel_name("first")).contains("memory"));
    must("modprobe", ["-r", "null_blk"]);
}

/// Sizes, blocks, names and rotation as lsblk, nvme-cli and smartctl have them.
pub fn equal() {
    let list = list();
    let columns = "NAME,SIZE,LOG-SEC,PHY-SEC,ROTA,RO,SCHED,RQ-SIZE,RA,ZONED,WWN,MODEL,SERIAL";
    let theirs = must("lsblk", ["--json", "--bytes", "--nodeps", "--output", columns]);
    let theirs: Value = serde_json::from_str(&theirs).expect("lsblk prints JSON");
    let mut compared = 0;
    for name in NAMES {
        let (ours, kernel) = (of(&list, name), kernel_name(name));
        let rows = theirs["blockdevices"].as_array().expect("rows");
        let row = rows.iter().find(|row| row["name"] == kernel).expect("a row");
        let pairs = [
            ("bytes", "size"),
            ("logical_block_bytes", "log-sec"),
            ("physical_block_bytes", "phy-sec"),
            ("rotational", "rota"),
            ("read_only", "ro"),
            ("queue_requests", "rq-size"),
            ("read_ahead_kib", "ra"),
        ];
        for (our, their) in pairs {
            assert_eq!(ours[our], row[their], "{name}: {our}: {ours} against {row}");
            compared += 1;
        }
        let zoned = ours["zones"]["model"].as_str().unwrap_or("none");
        assert_eq!(Some(zoned), row["zoned"].as_str(), "{name}: {ours}");
        assert_eq!(ours["zones"].is_object(), name == "zones", "{ours}");
        compared += 1;
    }
    assert_eq!(compared, NAMES.len() * 8);
    nvme(&list);
    by_smartctl(&list);
}

fn nvme(list: &Value) {
    for name in ["first", "second", "coarse", "zones", "paths"] {
        let ours = of(list, name);
        let node = node(name);
        let said = must("nvme", ["id-ctrl", &node, "--output-format=json"]);
        let theirs: Value = serde_json::from_str(&said).expect("JSON");
        let text = |value: &Value| value.as_str().unwrap_or("").trim().to_owned();
        assert_eq!(text(&ours["serial"]), text(&theirs["sn"]), "{name}");
        assert_eq!(text(&ours["model"]), text(&theirs["mn"]), "{name}");
        assert_eq!(text(&ours["firmware"]), text(&theirs["fr"]), "{name}");
        assert_eq!(ours["namespace"].to_string(), sysfs(name, "nsid"), "{name}");
        assert_eq!(ours["world_wide_name"], Value::from(sysfs(name, "wwid")), "{name}");
    }
    let paths = of(list, "paths");
    assert_eq!(paths["paths"].as_array().map(Vec::len), Some(2), "{paths}");
    assert_eq!(paths["path_policy"], "numa", "{paths}");
    let zones = of(list, "zones");
    let of_zones = |name: &str| zones["zones"][name].as_u64();
    assert_eq!(of_zones("zone_bytes"), Some(16 << 20), "{zones}");
    assert_eq!((of_zones("open_max"), of_zones("active_max")), (Some(8), Some(12)), "{zones}");
}

fn by_smartctl(list: &Value) {
    for name in ["first", "sata", "scsi"] {
        let ours = of(list, name);
        let output = std::process::Command::new("smartctl")
            .args(["--json", "--info", &node(name)])
            .output()
            .expect("smartctl starts");
        let theirs: Value = serde_json::from_slice(&output.stdout).expect("JSON");
        let serial = &theirs["serial_number"];
        assert_eq!(&ours["serial"], serial, "{name}: {ours} against {theirs}");
        assert_eq!(ours["bytes"], theirs["user_capacity"]["bytes"], "{name}");
        assert_eq!(ours["logical_block_bytes"], theirs["logical_block_size"], "{name}");
    }
}

/// D1: native multipath of this kernel counts on the paths, not on the drive.
pub fn paths() {
    let node = node("paths");
    let laboratory = Laboratory::new();
    let token = laboratory.token(&node);
    let line = ["run", &node, "--rw", "write", "--bs", "128k", "--operations", "512", "--json"];
    let mut outcomes = Vec::new();
    outcomes.push(laboratory.run([&line[..], &["--erase", &token]].concat(), PATIENCE));
    let line = ["run", &node, "--rw", "randread", "--bs", "4k", "--size", "64m", "--json"];
    outcomes.push(laboratory.run([&line[..], &["--operations", "2000"]].concat(), PATIENCE));
    for outcome in outcomes {
        let json = outcome.json();
        let step = json["steps"].as_array().expect("steps").last().expect("a step").clone();
        assert_ne!(step["valid"], false, "{step}");
        assert_ne!(outcome.status, Some(4), "{outcome:?}");
    }
}

/// Every drive answers; what is verified was there.
pub fn measured() {
    for name in NAMES {
        let node = node(name);
        let laboratory = Laboratory::new();
        let line =
            ["run", &node, "--rw", "randread", "--bs", "4k", "--operations", "200", "--json"];
        let outcome = laboratory.run(line, PATIENCE);
        assert!(matches!(outcome.status, Some(0 | 1 | 4)), "{name}: {outcome:?}");
        assert_eq!(kind_of(&outcome.json(), "read")["ops"], 200, "{name}");
        assert!(!outcome.stdout.contains("of nothing"), "{outcome:?}");
    }
}

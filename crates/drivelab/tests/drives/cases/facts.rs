//! What is known of a drive before it is used, held against the drives' own tools.

use super::purges::with_scripted;
use crate::guest::{PATIENCE, by_two, kernel_name, node, sysfs};
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
    for name in ["first", "second", "coarse", "zones", "paths"] {
        namespace(&of(list, name)["nvme"], &node(name));
    }
    let paths = of(list, "paths");
    assert_eq!(paths["paths"].as_array().map(Vec::len), Some(2), "{paths}");
    assert_eq!(paths["path_policy"], "numa", "{paths}");
    let zones = of(list, "zones");
    let of_zones = |name: &str| zones["zones"][name].as_u64();
    assert_eq!(of_zones("zone_bytes"), Some(16 << 20), "{zones}");
    assert_eq!((of_zones("open_max"), of_zones("active_max")), (Some(8), Some(12)), "{zones}");
}

fn by_nvme(words: &[&str]) -> Value {
    let said = must("nvme", [words, &["--output-format=json"]].concat());
    serde_json::from_str(&said).expect("JSON")
}

/// What a drive says of a namespace, as nvme-cli reads it.
pub fn namespace(ours: &Value, node: &str) {
    let theirs = by_nvme(&["id-ns", node]);
    let controller = by_nvme(&["id-ctrl", node]);
    let number = |from: &Value, word: &str| {
        from[word].as_u64().unwrap_or_else(|| panic!("no {word} in {from}"))
    };
    for word in ["eui64", "nguid"] {
        let their = theirs[word].as_str().expect("an identifier").replace('-', "");
        let their = Some(their).filter(|digits| digits.bytes().any(|digit| digit != b'0'));
        assert_eq!(ours[word].as_str(), their.as_deref(), "{word}: {ours} {theirs}");
    }
    let formats = ours["block_formats"].as_array().expect("formats");
    let rows = theirs["lbafs"].as_array().expect("formats");
    assert_eq!(formats.len(), rows.len(), "{ours} {theirs}");
    let in_use = number(&theirs, "flbas") & 0xf;
    for (index, (our, their)) in formats.iter().zip(rows).enumerate() {
        assert_eq!(our["number"], index, "{ours} {theirs}");
        assert_eq!(our["data_bytes"], 1u64 << number(their, "ds"), "{ours} {theirs}");
        assert_eq!(our["metadata_bytes"], their["ms"], "{ours} {theirs}");
        let words = ["best", "better", "good", "degraded"];
        assert_eq!(our["performance"], words[number(their, "rp") as usize], "{ours} {theirs}");
        assert_eq!(our["is_in_use"], index as u64 == in_use, "{ours} {theirs}");
    }
    assert_eq!(ours["protection_type"], number(&theirs, "dps") & 7, "{ours} {theirs}");
    let block = 1u64 << number(&rows[in_use as usize], "ds");
    let is_of_namespace = number(&theirs, "nsfeat") & 2 != 0;
    let atomic = &ours["atomic_writes"];
    assert_eq!(atomic["is_of_namespace"], is_of_namespace, "{ours} {theirs}");
    for (our, own, of_all) in
        [("write_bytes", "nawun", "awun"), ("power_fail_write_bytes", "nawupf", "awupf")]
    {
        let blocks = match number(&theirs, own) {
            blocks if is_of_namespace && blocks > 0 => blocks,
            _ => number(&controller, of_all),
        };
        assert_eq!(atomic[our], (blocks + 1) * block, "{our}: {ours} {theirs} {controller}");
    }
    let places_data = number(&controller, "ctratt") >> 19 & 1 == 1;
    assert_eq!(ours["places_data"], places_data, "{ours} {controller}");
    let apst = match number(&controller, "apsta") & 1 {
        0 => "absent",
        _ => {
            let said = must("nvme", ["get-feature", node, "--feature-id=0x0c"]);
            let (_, value) = said.split_once("value:").expect("a value");
            let value = value.split_whitespace().next().expect("a number");
            let value = u64::from_str_radix(value.trim_start_matches("0x"), 16);
            if value.expect("a number") & 1 == 1 { "on" } else { "off" }
        }
    };
    assert_eq!(ours["apst"], apst, "{ours} {controller}");
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

/// What QEMU's drives do not have: sleep by itself, which is turned off and on, placement of data,
/// atomic writes of a namespace.
pub fn of_scripted() {
    with_scripted(&["is_rich=1"], |node| {
        for value in ["0", "1"] {
            let words = ["set-feature", node, "--feature-id=0x0c", "--data-len=256", "--value"];
            let zeros = std::env::temp_dir().join("zeros");
            std::fs::write(&zeros, [0; 256]).expect("a file");
            let data = format!("--data={}", zeros.display());
            must("nvme", [&words[..], &[value, &data]].concat());
            let list = list();
            let devices = list["devices"].as_array().expect("devices");
            let found = devices.iter().find(|it| node.strip_prefix("/dev/") == it["name"].as_str());
            let ours = &found.expect("it is listed")["nvme"];
            namespace(ours, node);
            assert_eq!(ours["apst"], if value == "1" { "on" } else { "off" }, "{ours}");
            assert_eq!(ours["places_data"], true, "{ours}");
            assert_eq!(ours["atomic_writes"]["boundary_bytes"], 64 * 512, "{ours}");
            assert_eq!(ours["nguid"], "5a".repeat(16), "{ours}");
        }
    });
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
        // Which of the two controllers counts what is not told.
        let change = &json["health"][0];
        assert!(change["written_bytes"].is_number(), "{change}");
        assert_eq!(change["kernel_written_bytes"], Value::Null, "{change}");
    }
}

/// Every drive answers; what is verified was there.
pub fn measured() {
    by_two(&NAMES, |name| {
        let node = node(name);
        let laboratory = Laboratory::new();
        let line =
            ["run", &node, "--rw", "randread", "--bs", "4k", "--operations", "200", "--json"];
        let outcome = laboratory.run(line, PATIENCE);
        assert!(matches!(outcome.status, Some(0 | 1 | 4)), "{name}: {outcome:?}");
        assert_eq!(kind_of(&outcome.json(), "read")["ops"], 200, "{name}");
        assert!(!outcome.stdout.contains("of nothing"), "{outcome:?}");
    });
}

//! What a drive says of itself, as it says it.

use super::facts::same_errors;
use super::purges::with_scripted;
use crate::guest::{PATIENCE, kernel_name, node, set_property, wait_until};
use crate::support::binary::{Laboratory, must};
use serde_json::{Value, json};
use std::process::Command;
use std::time::Instant;

fn checks<const COUNT: usize>(node: &str, names: [&str; COUNT]) -> [Value; COUNT] {
    let json = Laboratory::new().run(["doctor", node, "--json"], PATIENCE).json();
    let checks = json["checks"].as_array().expect("checks");
    let of = |name| checks.iter().find(|check| check["name"] == name);
    names.map(|name| of(name).expect("a check of that name").clone())
}

fn check(node: &str, name: &str) -> Value {
    let [found] = checks(node, [name]);
    found
}

/// D7, D10: what the log holds (the facts are held against it elsewhere) in words; APST as Identify
/// has it.
pub fn told() {
    let node = node("first");
    let [health, power] = checks(&node, ["health", "NVMe power"]);
    assert!(health["found"].as_str().unwrap().contains("% of its rated endurance"), "{health}");
    assert_eq!(power["severity"], "fine", "QEMU's drive has one power state: {power}");
}

/// What smartctl reads.
pub fn smartctl(node: &str) -> Value {
    let output = std::process::Command::new("smartctl")
        .args(["--json", "--all", node])
        .output()
        .expect("smartctl starts");
    serde_json::from_slice(&output.stdout).expect("JSON")
}

/// The health of one drive.
pub fn health_of(node: &str) -> Value {
    let json = Laboratory::new().run(["health", node, "--json"], PATIENCE).json();
    json["drives"][0].clone()
}

/// smartctl is asked too: of a drive that drivelab understands it reads the same, of another it
/// stands in, and one that does not end holds nobody up.
pub fn second_witness() {
    for (name, told) in [("sata", "hours"), ("first", "percent used")] {
        let drive = health_of(&node(name));
        let second = &drive["second"];
        assert!(second["source"].as_str().is_some_and(|it| it.starts_with("smartctl ")), "{drive}");
        assert_eq!((&second["is_alone"], &second["otherwise"]), (&false.into(), &json!([])));
        let same = second["same"].as_array().expect("a list");
        assert!(same.contains(&told.into()), "{name}: {drive}");
    }
    let node = node("virtio");
    let silent = health_of(&node);
    assert_eq!((&silent["state"], &silent["second"]), (&"unknown".into(), &Value::Null));
    let json = r#"{"smartctl": {"version": [7, 3]}, "smart_status": {"passed": false},
        "power_on_time": {"hours": 4321}}"#;
    let with_script = |script: &str| {
        let directory = tempfile::tempdir().expect("a directory");
        let path = directory.path().join("smartctl");
        std::fs::write(&path, format!("#!/bin/sh\n{script}\n")).expect("a script");
        must("chmod", ["755", path.to_str().expect("a path")]);
        let search = std::env::var("PATH").expect("PATH");
        let begin = Instant::now();
        let output = Command::new(env!("CARGO_BIN_EXE_drivelab"))
            .args(["health", &node, "--json"])
            .env("PATH", format!("{}:{search}", directory.path().display()))
            .output()
            .expect("it starts");
        let all: Value = serde_json::from_slice(&output.stdout).expect("JSON");
        (all["drives"][0].clone(), begin.elapsed())
    };
    let (drive, _) = with_script(&format!("echo '{json}'"));
    assert_eq!(
        (&drive["state"], &drive["wear"]["power_on_hours"]),
        (&"failing".into(), &4321.into())
    );
    assert_eq!(drive["second"]["is_alone"], true, "{drive}");
    let (drive, took) = with_script("exec sleep 300");
    assert_eq!(drive["state"], "unknown", "{drive}");
    assert!(took.as_secs() < 60, "{took:?}");
}

/// M1: SATA drives are read by SMART, SCSI drives by their log pages, as smartctl has it.
pub fn of_disks() {
    let node = node("sata");
    let (drive, theirs) = (health_of(&node), smartctl(&node));
    let ours = &drive["wear"];
    assert_eq!(ours["power_on_hours"], theirs["power_on_time"]["hours"], "{ours} {theirs}");
    assert_eq!(ours["temperature_c"], theirs["temperature"]["current"], "{ours} {theirs}");
    let passed = theirs["smart_status"]["passed"].as_bool().expect("a status");
    assert_eq!(ours["failing"], !passed, "{ours} {theirs}");
    let table = theirs["ata_smart_attributes"]["table"].as_array().expect("attributes");
    let raw = |number: u64| table.iter().find(|row| row["id"] == number).map(|row| &row["raw"]);
    let reallocated = raw(5).expect("QEMU's drive has attribute 5");
    assert_eq!(ours["reallocated_sectors"], reallocated["value"], "{ours} {theirs}");
    assert_eq!(drive["state"], "well", "{drive}");
    for (our, their) in
        [("model", "model_name"), ("serial", "serial_number"), ("firmware", "firmware_version")]
    {
        assert_eq!(drive[our], theirs[their], "{our}: {drive} {theirs}");
    }
    assert_eq!(ours["written_bytes"], Value::Null, "QEMU's drive does not count it");
    let health = check(&node, "health");
    assert_eq!(health["severity"], "fine", "{health}");

    must("modprobe", ["scsi_debug", "dev_size_mb=8"]);
    let debug = || {
        let blocks = std::fs::read_dir("/sys/block").expect("sysfs").flatten();
        let mut paths = blocks.map(|entry| entry.path());
        let model = |path: &std::path::Path| std::fs::read_to_string(path.join("device/model"));
        let path = paths.find(|it| model(it).is_ok_and(|it| it.trim() == "scsi_debug"))?;
        Some(format!("/dev/{}", path.file_name()?.to_string_lossy()))
    };
    wait_until("scsi_debug has a drive", || debug().is_some());
    let node = debug().expect("a drive");
    let (drive, theirs) = (health_of(&node), smartctl(&node));
    must("modprobe", ["-r", "scsi_debug"]);
    let ours = &drive["wear"];
    assert_eq!(ours["temperature_c"], theirs["temperature"]["current"], "{drive} {theirs}");
    let passed = theirs["smart_status"]["passed"].as_bool().expect("a status");
    assert_eq!(ours["failing"], !passed, "{drive} {theirs}");
}

/// Drives without a log of their health say why, and one screen shows all.
pub fn on_one_screen() {
    for name in ["scsi", "stick", "virtio", "card"] {
        let drive = health_of(&node(name));
        assert_eq!((&drive["state"], &drive["wear"]), (&"unknown".into(), &Value::Null), "{drive}");
        assert!(drive["unknown"].as_str().is_some_and(|it| it.len() > 10), "{name}: {drive}");
    }
    let laboratory = Laboratory::new();
    let said = laboratory.run(["health"], PATIENCE).expect_status(0).stdout;
    for serial in ["DLNVME01", "DLPATHS1", "DLSATA01", "DLSCSI01", "DLVIRT01"] {
        assert!(said.contains(&format!("serial {serial}")), "{serial} is not in {said}");
    }
    let metrics = laboratory.run(["health", "--openmetrics"], PATIENCE).expect_status(0).stdout;
    let kernel = kernel_name("sata");
    let sample = format!("drivelab_drive_warns{{device=\"{kernel}\",serial=\"DLSATA01\"}} 0");
    assert!(metrics.lines().any(|line| line == sample), "{metrics}");
    let begins = ["# TYPE ", "# UNIT ", "# HELP ", "# EOF", "drivelab_drive_"];
    let is_whole = |line: &str| begins.iter().any(|begin| line.starts_with(begin));
    assert!(metrics.lines().all(is_whole), "{metrics}");
    laboratory.run(["health", &node("virtio")], PATIENCE).expect_status(4);
    set_property("nvme", "smart_critical_warning", 4);
    let said = laboratory.run(["health", &node("first")], PATIENCE).expect_status(1).stdout;
    set_property("nvme", "smart_critical_warning", 0);
    assert!(said.contains("failing: its reliability is degraded"), "{said}");
}

/// M2: a warning of the drive is bad news for what is measured on it, and gone when it is.
pub fn warns() {
    let node = node("first");
    set_property("nvme", "smart_critical_warning", 4);
    let health = check(&node, "health");
    assert_eq!(health["severity"], "bad", "{health}");
    set_property("nvme", "smart_critical_warning", 0);
    assert_eq!(health_of(&node)["state"], "well");
    let worn = ["spare_percent=5", "spare_threshold_percent=10", "used_percent=101"];
    with_scripted(&worn, |node| {
        let health = check(node, "health");
        assert_eq!(health["severity"], "bad", "{health}");
        assert!(health["found"].as_str().unwrap().contains("5 %"), "{health}");
    });
    with_scripted(&["media_errors=2"], |node| {
        let health = check(node, "health");
        assert_eq!(health["severity"], "warning", "{health}");
        assert!(health["found"].as_str().unwrap().contains('2'), "{health}");
    });
}

/// A run of so many bytes on a drive, and what it says of it in JSON.
fn run_of(laboratory: &Laboratory, node: &str, rw: &str, mib: u64) -> Value {
    let token = laboratory.token(node);
    let size = format!("{mib}MiB");
    let line = ["run", node, "--rw", rw, "--bs", "64KiB", "--size", &size, "--json"];
    laboratory.run([&line[..], &["--erase", &token]].concat(), PATIENCE).json()
}

/// A run says what the drive counted: exactly what was written, in whole units.
pub fn counted() {
    const UNIT: u64 = 512_000;
    let node = node("second");
    let units = || {
        let said = must("nvme", ["smart-log", &node, "--output-format=json"]);
        let theirs: Value = serde_json::from_str(&said).expect("JSON");
        let text = theirs["data_units_written"].to_string();
        text.trim_matches('"').parse::<u64>().expect("a number")
    };
    let before = units();
    let json = run_of(&Laboratory::new(), &node, "write", 32);
    let change = &json["health"][0];
    let grown = units() - before;
    assert_eq!(change["written_bytes"], grown * UNIT, "{change}");
    let sent = change["kernel_written_bytes"].as_u64().expect("nothing was in flight");
    assert!((sent / UNIT..=sent / UNIT + 1).contains(&grown), "{change}");
    let moved = json["steps"][0]["devices"][0]["written_bytes"].as_u64().expect("counted");
    assert!(moved >= 32 << 20, "{change}");
    // What came before may have left a unit half full.
    assert!((moved / UNIT..=moved / UNIT + 1).contains(&grown), "{grown} units of {moved} bytes");
    assert_eq!(change["write_amplification"], Value::Null, "QEMU's drive does not count its flash");
    assert_eq!(change["events"].as_array().map(Vec::len), Some(0), "{change}");
}

/// What a drive writes to its flash, and what it counts of errors while it is measured.
pub fn changed() {
    with_scripted(&["flash_percent=250"], |node| {
        let laboratory = Laboratory::new();
        let json = run_of(&laboratory, node, "write", 60);
        let change = &json["health"][0];
        let of = |word: &str| change["write_amplification"][word].as_f64().expect("a number");
        assert!(of("low") <= 2.5 && 2.5 <= of("high"), "{change}");
        assert!((of("value") - 2.5).abs() < 0.05, "{change}");
        assert_eq!(change["flash_written_from"], "OCP log C0h");
        let said = laboratory.run(["report", "last", "--markdown", "-"], PATIENCE).stdout;
        assert!(said.contains("write amplification"), "{said}");
    });
    with_scripted(&["reads_until_errors=300"], |node| {
        let laboratory = Laboratory::new();
        run_of(&laboratory, node, "write", 60);
        let outcome = laboratory.run(["run", node, "--rw", "randread", "--time", "5s"], PATIENCE);
        assert_eq!(outcome.status, Some(4), "{outcome:?}");
        let words = "failed 2 times to read or write data, by its own count";
        let said = outcome.stdout.split_whitespace().collect::<Vec<_>>().join(" ");
        assert!(said.contains(words), "{said}");
    });
}

/// A drive that counts more or less of what hosts write than the kernel sent it; an honest one.
pub fn disagrees() {
    for (percent, codes) in [(50, vec!["counted_less"]), (100, vec![]), (300, vec!["counted_more"])]
    {
        with_scripted(&[&format!("counted_percent={percent}")], |node| {
            let json = run_of(&Laboratory::new(), node, "write", 32);
            let events = json["health"][0]["events"].as_array().expect("events");
            let found: Vec<&Value> = events.iter().map(|event| &event["code"]).collect();
            assert_eq!(found, codes, "{percent} %: {}", json["health"]);
            let notes = json["steps"][0]["notes"].as_array().expect("notes");
            let is_noted = |note: &&Value| note["code"].as_str().is_some_and(|it| codes == [it]);
            assert_eq!(notes.iter().filter(is_noted).count(), codes.len(), "{notes:?}");
        });
    }
}

/// The error log of a drive that has noted errors, equal to what nvme-cli reads of it; and what it
/// notes within a run.
pub fn errors() {
    with_scripted(&["errors=20"], |node| {
        let drive = health_of(node);
        let ours = drive["wear"]["errors"].as_array().expect("errors");
        assert_eq!(ours.len(), 8, "{ours:?}");
        same_errors(ours, node);
        assert_eq!(drive["state"], "well", "a drive that notes errors is not ill: {drive}");
    });
    with_scripted(&["reads_until_errors=300", "errors=7"], |node| {
        let laboratory = Laboratory::new();
        let line = ["run", node, "--rw", "randread", "--bs", "4k", "--time", "5s", "--json"];
        let json = laboratory.run(line, PATIENCE).json();
        let change = &json["health"][0];
        let numbers: Vec<&Value> =
            change["errors"].as_array().expect("errors").iter().map(|it| &it["number"]).collect();
        assert_eq!(numbers, [9, 8], "{change}");
        let said = laboratory.run(["report", "last"], PATIENCE).stdout;
        let said = said.split_whitespace().collect::<Vec<_>>().join(" ");
        let words = "noted 2 errors in its log, the newest: data that could not be read (281h) at \
                     block 1009 of namespace 1";
        assert!(said.contains(words), "{said}");
    });
}

/// A drive is had to test itself, and what it finds is told; SATA by the kernel's own way.
pub fn tests_itself() {
    let test = |node: &str, kind: &str| {
        Laboratory::new().run(["health", node, "--self-test", kind], PATIENCE)
    };
    with_scripted(&[], |node| {
        let outcome = test(node, "short").expect_status(0);
        assert!(outcome.stdout.contains("the last short one found nothing wrong"), "{outcome:?}");
    });
    with_scripted(&["self_test_fails=1"], |node| {
        let outcome = test(node, "long").expect_status(1);
        assert!(outcome.stdout.contains("the last long one found something wrong"), "{outcome:?}");
        assert!(outcome.stdout.contains("to be watched"), "{outcome:?}");
    });
    let outcome = test(&node("first"), "short");
    outcome.expect_plain_words();
    assert_eq!(outcome.status, Some(2), "QEMU's drive has no self-test: {outcome:?}");
    let sata = node("sata");
    let outcome = test(&sata, "short");
    let theirs = smartctl(&sata);
    let tests = &theirs["ata_smart_self_test_log"]["standard"]["table"];
    assert_eq!(tests[0]["type"]["string"], "Short offline", "{outcome:?} {theirs}");
    assert!(outcome.stdout.contains("the last short one found nothing wrong"), "{outcome:?}");
}

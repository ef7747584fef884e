//! `study fs` on a loop device: a file system that it makes, and one that is mounted. Nothing of
//! either may be left, however a run ends.

use crate::support::binary::{Laboratory, must};
use crate::support::loop_device::LoopDevice;
use crate::support::machine::{Mount, is_unavailable, require_root};
use serde_json::Value;
use std::path::Path;
use std::time::{Duration, Instant};

const LIMIT: Duration = Duration::from_secs(240);
const BYTES: u64 = 512 << 20;

fn drive() -> (tempfile::NamedTempFile, LoopDevice) {
    let file = tempfile::Builder::new().prefix("fs-drive-").tempfile().unwrap();
    file.as_file().set_len(BYTES).unwrap();
    let device = LoopDevice::attach_with(file.path(), &["--direct-io=on"]);
    (file, device)
}

fn line<'a>(device: &'a str, more: &[&'a str]) -> Vec<&'a str> {
    let study = ["study", "fs", device, "--quick", "--time", "60s", "--seed", "5", "--json"];
    [&study[..], more].concat()
}

/// What a run says in the end that went all the way.
fn complete(laboratory: &Laboratory, asked: &[&str]) -> Value {
    let outcome = laboratory.run(asked, LIMIT);
    let json: Value = serde_json::from_str(&outcome.stdout).unwrap();
    assert_eq!(json["complete"], true, "{}", outcome.stderr);
    json
}

/// Asks for a file system on the device, is refused for what that would erase, and confirms it.
fn erased(laboratory: &Laboratory, device: &str, asked: &[&str]) -> Value {
    let refused = laboratory.run(asked, LIMIT).expect_status(3);
    let object: Value = serde_json::from_str(&refused.stdout).unwrap();
    assert_eq!(object["error"]["code"], "refused", "{object}");
    let token = laboratory.token(device);
    complete(laboratory, &[asked, &["--erase", &token]].concat())
}

fn kind_on(device: &Path) -> String {
    let arguments = ["-p", "-o", "value", "-s", "TYPE", device.to_str().unwrap()];
    must("blkid", arguments).trim().to_string()
}

/// Whether anybody on this machine has it mounted.
fn is_mounted(number: &str) -> bool {
    let processes = std::fs::read_dir("/proc").unwrap().flatten();
    let tables = processes.map(|process| process.path().join("mountinfo"));
    let number = format!(" {number} ");
    tables.flat_map(std::fs::read_to_string).any(|table| table.contains(&number))
}

fn steps<'a>(json: &'a Value, name: &str) -> Vec<&'a Value> {
    json["steps"].as_array().unwrap().iter().filter(|step| step["name"] == name).collect()
}

fn cells(json: &Value) -> Vec<&str> {
    let cells = json["findings"]["comparison"]["cells"].as_array().unwrap();
    cells.iter().map(|cell| cell["name"].as_str().unwrap()).collect()
}

#[test]
fn both_sides_are_measured_on_a_file_system_that_it_made() {
    let test = "both_sides_are_measured_on_a_file_system_that_it_made";
    if is_unavailable(test) {
        return;
    }
    require_root(test);
    let laboratory = Laboratory::new();
    let (_file, device) = drive();
    let path = device.path().to_str().unwrap();
    for kind in ["xfs", "ext4"] {
        let json = erased(&laboratory, path, &line(path, &["--mkfs", kind]));
        assert_eq!(kind_on(device.path()), kind);
        assert!(!is_mounted(&device.number()), "{kind} stays mounted");
        for name in ["sequential read, raw", "random write, raw", "random write, a file each"] {
            let found = steps(&json, name);
            assert_eq!(found.len(), 5, "{kind}: {name}");
            assert!(found.iter().all(|step| !step["streams"][0].is_null()));
        }
        let found = cells(&json);
        // What was suspect on a busy machine is listed there too.
        let unknown = json["findings"]["unknown"].to_string();
        let is_cut = unknown.contains("What writing into new space costs: the time");
        assert_eq!(found.len(), if is_cut { 6 } else { 7 }, "{kind}: {found:?}");
        assert_eq!(found.contains(&"first write"), !is_cut, "{found:?}");
        let other = &json["findings"]["not_applicable"];
        assert!(other.as_array().is_none_or(Vec::is_empty), "{kind}: {other}");
    }
}

#[test]
fn ext4_is_made_with_the_stripes_that_were_asked_for() {
    let test = "ext4_is_made_with_the_stripes_that_were_asked_for";
    if is_unavailable(test) {
        return;
    }
    require_root(test);
    let laboratory = Laboratory::new();
    let (_file, device) = drive();
    let path = device.path().to_str().unwrap();
    let stripes = ["--mkfs", "ext4", "--stripe-width", "32", "--stride", "16"];
    let xfs = ["--mkfs", "xfs", "--stripe-width", "32"];
    let refused = laboratory.run(line(path, &xfs), LIMIT).expect_status(2);
    assert!(refused.stderr.contains("su=,sw="), "{}", refused.stderr);
    // With an even seed the last file system made has the stripes.
    let study = ["study", "fs", path, "--quick", "--time", "60s", "--seed", "4", "--json"];
    let json = erased(&laboratory, path, &[&study[..], &stripes].concat());
    assert_eq!(cells(&json).len(), 5, "{json}");
    for side in ["plain", "striped"] {
        assert_eq!(steps(&json, &format!("first write, {side}")).len(), 5, "{side}");
    }
    let told = must("dumpe2fs", ["-h", path]);
    let value = |name: &str| {
        let line = told.lines().find(|line| line.starts_with(name)).unwrap_or_default();
        line.split_whitespace().last().unwrap_or_default().to_string()
    };
    assert_eq!((value("RAID stride"), value("RAID stripe width")), ("16".into(), "32".into()));
    assert!(!is_mounted(&device.number()), "it stays mounted");
}

/// An array of two loop devices in strips of 64 KiB, stopped when dropped.
struct Raid {
    path: &'static str,
    _members: [(tempfile::NamedTempFile, LoopDevice); 2],
}

impl Raid {
    fn of_two() -> Raid {
        let members = [drive(), drive()];
        let path = "/dev/md/drivelab-test";
        let make = ["--create", path, "--run", "--level=0", "--chunk=64", "--raid-devices=2"];
        let devices = members.iter().map(|(_, device)| device.path().to_str().unwrap());
        must("mdadm", make.into_iter().chain(devices));
        Raid { path, _members: members }
    }
}

impl Drop for Raid {
    fn drop(&mut self) {
        let stopped = std::process::Command::new("mdadm").args(["--stop", self.path]).status();
        if !stopped.is_ok_and(|status| status.success()) {
            eprintln!("could not stop {}", self.path);
        }
    }
}

#[test]
fn stripes_are_compared_with_none_on_a_raid() {
    let test = "stripes_are_compared_with_none_on_a_raid";
    if is_unavailable(test) {
        return;
    }
    require_root(test);
    let laboratory = Laboratory::new();
    let raid = Raid::of_two();
    let token = laboratory.token(raid.path);
    // Two members that hold data, strips of 16 blocks.
    let stripes = ["--mkfs", "ext4", "--stride", "16", "--stripe-width", "32", "--erase", &token];
    let outcome = laboratory.run(line(raid.path, &stripes), LIMIT);
    let json: Value = serde_json::from_str(&outcome.stdout).unwrap();
    assert_eq!(json["complete"], true, "{}", outcome.stderr);
    assert_eq!(cells(&json).len(), 5, "{json}");
}

#[test]
fn a_file_system_that_is_there_is_used_and_left_as_it_was() {
    let test = "a_file_system_that_is_there_is_used_and_left_as_it_was";
    if is_unavailable(test) {
        return;
    }
    require_root(test);
    let laboratory = Laboratory::new();
    let (_file, device) = drive();
    let path = device.path().to_str().unwrap();
    must("mkfs.ext4", ["-q", "-F", path]);
    let mount = Mount::new(&[path]);
    std::fs::write(mount.join("theirs"), "stays").unwrap();
    let directory = mount.path().to_str().unwrap();
    let outcome = laboratory.run(line(path, &["--mkfs", "ext4", "--erase", "any"]), LIMIT);
    assert!(outcome.expect_status(3).stderr.contains("is mounted at"));
    let json = complete(&laboratory, &line(path, &["--mount", directory]));
    assert_eq!(steps(&json, "random read, raw").len(), 5, "reading needs no leave");
    assert!(steps(&json, "random write, raw").is_empty(), "the device is not ours");
    let other = json["findings"]["not_applicable"][0]["text"].as_str().unwrap();
    assert!(other.contains("so drivelab does not write it"), "{other}");
    let names: Vec<_> = std::fs::read_dir(directory).unwrap().flatten().collect();
    assert_eq!(names.len(), 2, "theirs and lost+found: {names:?}");
    assert_eq!(std::fs::read_to_string(mount.join("theirs")).unwrap(), "stays");
    let wrong = laboratory.run(line(path, &["--mount", "/dev/shm"]), LIMIT).expect_status(2);
    assert!(wrong.stderr.contains("is not on /dev/"), "{}", wrong.stderr);
}

#[test]
fn nothing_stays_mounted_of_a_run_that_was_broken_off() {
    let test = "nothing_stays_mounted_of_a_run_that_was_broken_off";
    if is_unavailable(test) {
        return;
    }
    require_root(test);
    let laboratory = Laboratory::new();
    let (_file, device) = drive();
    let path = device.path().to_str().unwrap();
    for (signal, status) in [("INT", Some(130)), ("KILL", None)] {
        let token = laboratory.token(path);
        let asked = line(path, &["--mkfs", "ext4", "--erase", &token]);
        let mut running = laboratory.start(asked);
        let begin = Instant::now();
        while !is_mounted(&device.number()) {
            assert!(begin.elapsed() < LIMIT, "never mounted: {}", running.so_far());
            std::thread::sleep(Duration::from_millis(20));
        }
        must("kill", ["-s", signal, &running.id().to_string()]);
        assert!(running.wait(LIMIT), "no end: {}", running.so_far());
        let outcome = running.finish();
        assert_eq!(outcome.status, status, "{signal}: {}", outcome.stderr);
        let begin = Instant::now();
        while is_mounted(&device.number()) {
            assert!(begin.elapsed() < Duration::from_secs(20), "{signal}: it stays mounted");
            std::thread::sleep(Duration::from_millis(20));
        }
    }
    // And the device is free for the next run.
    let token = laboratory.token(path);
    complete(&laboratory, &line(path, &["--mkfs", "ext4", "--erase", &token]));
}

//! What lies below a target and can pass for a drive: queues that count nothing, blocks that are
//! shared or there many times, memory behind read-ahead, loop devices over memory.

use crate::support::binary::{Laboratory, Outcome, must};
use crate::support::loop_device::LoopDevice;
use crate::support::machine::{Mount, alone, is_unavailable, require_root};
use crate::support::neighbours::judge;
use serde_json::Value;
use std::fs::File;
use std::path::{Path, PathBuf};
use std::time::Duration;

const PATIENCE: Duration = Duration::from_secs(60);
/// No other test gets this one: its queue counts nothing meanwhile.
const UNCOUNTED: &str = "/dev/loop78";

/// The switch of a queue's counters, put back when dropped.
struct Switch(PathBuf);

impl Switch {
    fn off(device: &LoopDevice) -> Switch {
        let switch = Switch(format!("/sys/block/{}/queue/iostats", device.name()).into());
        std::fs::write(&switch.0, "0").expect("a queue that counts nothing");
        switch
    }
}

impl Drop for Switch {
    fn drop(&mut self) {
        std::fs::write(&self.0, "1").ok();
    }
}

/// Whether the test is left out here, which the list of what is unavailable must say.
fn is_left_out(test: &str) -> bool {
    if is_unavailable(test) {
        return true;
    }
    require_root(test);
    false
}

/// Bytes that do not compress, the same each time.
fn noise(length: usize) -> Vec<u8> {
    let mut random = drivelab_stats::Random::new(1);
    (0..length / 8).flat_map(|_| random.next_u64().to_le_bytes()).collect()
}

/// The measured step of a run.
fn measured(outcome: &Outcome) -> Value {
    let json = outcome.json();
    let steps = json["steps"].as_array().expect("steps");
    steps.iter().rfind(|step| step["role"] == "measure").expect("a measured step").clone()
}

fn codes(step: &Value) -> Vec<String> {
    let reasons = step["reasons"].as_array().expect("a list of reasons");
    reasons.iter().map(|reason| reason["code"].as_str().expect("a code").to_string()).collect()
}

fn text(path: &Path) -> &str {
    path.to_str().expect("UTF-8")
}

/// An XFS that can share blocks, on a loop device over a file of a real file system.
struct Xfs {
    mount: Mount,
    _device: LoopDevice,
    _directory: tempfile::TempDir,
}

impl Xfs {
    fn new() -> Xfs {
        let directory = tempfile::tempdir_in(env!("CARGO_TARGET_TMPDIR")).expect("a directory");
        let backing = directory.path().join("drive");
        File::create(&backing).and_then(|file| file.set_len(512 << 20)).expect("a backing file");
        let device = LoopDevice::attach_with(&backing, &["--direct-io=on"]);
        must("mkfs.xfs", ["-q", "-m", "reflink=1", text(device.path())]);
        let mount = Mount::new(&[text(device.path())]);
        Xfs { mount, _device: device, _directory: directory }
    }

    /// A file of noise on the drive.
    fn file(&self, name: &str, bytes: usize) -> PathBuf {
        let path = self.mount.join(name);
        std::fs::write(&path, noise(bytes)).expect("a filled file");
        must("sync", ["-f", text(&path)]);
        path
    }
}

const RANDOM: [&str; 10] =
    ["--rw", "randread", "--bs", "4k", "--engine", "psync", "--rate", "1000", "--runtime", "1"];

#[test]
fn overwriting_what_is_shared_is_noticed() {
    let name = "overwriting_what_is_shared_is_noticed";
    if is_left_out(name) {
        return;
    }
    let _alone = alone();
    judge(name, || {
        let disk = Xfs::new();
        let (file, copy) = (disk.mount.join("data"), disk.mount.join("copy"));
        let laboratory = Laboratory::new();
        let lay =
            ["run", text(&file), "--size", "64m", "--rw", "write", "--bs", "1m", "--passes", "1"];
        laboratory.run(lay.into_iter().chain(["--keep"]), PATIENCE).expect_status(0);
        let overwrite = || {
            let line = ["run", text(&file), "--rw", "randwrite", "--bs", "4k", "--rate", "1000"];
            let rest = ["--engine", "psync", "--runtime", "1", "--json"];
            laboratory.run(line.into_iter().chain(rest), PATIENCE)
        };
        let own = codes(&measured(&overwrite()));
        assert!(!own.contains(&"shared_extents".to_string()), "{own:?}");
        must("cp", ["--reflink=always", text(&file), text(&copy)]);
        let outcome = overwrite().expect_status(4);
        let found = codes(&measured(&outcome));
        assert!(found.contains(&"shared_extents".to_string()), "{found:?}");
        // Data that somebody else has too can be read as well as any.
        let read = ["run", text(&file)].into_iter().chain(RANDOM).chain(["--json"]);
        let found = codes(&measured(&laboratory.run(read, PATIENCE)));
        assert!(!found.iter().any(|code| code.ends_with("_extents")), "{found:?}");
    });
}

#[test]
fn the_same_blocks_again_and_again_are_noticed() {
    let name = "the_same_blocks_again_and_again_are_noticed";
    if is_left_out(name) {
        return;
    }
    let _alone = alone();
    judge(name, || {
        let disk = Xfs::new();
        let one = disk.file("one", 1 << 20);
        let file = disk.mount.join("again");
        let clones: Vec<String> = (0..96)
            .flat_map(|at| ["-c".to_string(), format!("reflink {} 0 {}m 1m", text(&one), at)])
            .collect();
        let line = ["-f"].into_iter().chain(clones.iter().map(String::as_str));
        must("xfs_io", line.chain([text(&file)]));
        must("sync", ["-f", text(&file)]);
        let read = |file: &Path| {
            let line = ["run", text(file)].into_iter().chain(RANDOM).chain(["--json"]);
            Laboratory::new().run(line, PATIENCE)
        };
        let outcome = read(&file).expect_status(4);
        let step = measured(&outcome);
        assert!(codes(&step).contains(&"repeated_extents".to_string()), "{step}");
        let reasons = step["reasons"].to_string();
        assert!(reasons.contains("96 MiB of the region lie on 1 MiB"), "{reasons}");
        let honest = disk.file("honest", 96 << 20);
        let found = codes(&measured(&read(&honest)));
        assert!(!found.iter().any(|code| code.ends_with("_extents")), "{found:?}");
    });
}

#[test]
fn memory_that_read_ahead_hides_is_noticed() {
    let name = "memory_that_read_ahead_hides_is_noticed";
    if is_left_out(name) {
        return;
    }
    let _alone = alone();
    judge(name, || {
        let disk = Xfs::new();
        let file = disk.file("data", 96 << 20);
        let laboratory = Laboratory::new();
        let run = |operations: &str| {
            let line = ["run", text(&file), "--rw", "randread", "--bs", "4k", "--engine", "mmap"];
            let rest = ["--operations", operations, "--json"];
            laboratory.run(line.into_iter().chain(rest), PATIENCE)
        };
        let drop = || {
            let line = format!("of={}", text(&file));
            must(
                "dd",
                [&line, "oflag=nocache", "conv=notrunc,fdatasync", "count=0", "status=none"],
            );
        };
        // Two fifths are in memory, and each miss brings up to 128 KiB: bytes enough reach memory.
        drop();
        let from = format!("if={}", text(&file));
        must("dd", [&from, "of=/dev/null", "bs=1M", "count=40", "status=none"]);
        let outcome = run("600").expect_status(4);
        let found = codes(&measured(&outcome));
        assert!(found.contains(&"cached_before".to_string()), "{found:?}");
        // Nothing is there at first, but what came with others answers more and more.
        drop();
        let outcome = run("6000").expect_status(4);
        let found = codes(&measured(&outcome));
        assert!(found.contains(&"not_from_device".to_string()), "{found:?}");
    });
}

#[test]
fn a_loop_device_over_memory_is_not_valid() {
    let name = "a_loop_device_over_memory_is_not_valid";
    if is_left_out(name) {
        return;
    }
    let _alone = alone();
    judge(name, assert_memory_is_not_valid);
}

fn assert_memory_is_not_valid() {
    let memory = Mount::tmpfs(500);
    let backing = memory.join("drive");
    std::fs::write(&backing, noise(360 << 20)).expect("a backing file");
    let device = LoopDevice::attach(&backing);
    let read = |path: &Path| {
        let line = ["run", text(path)].into_iter().chain(RANDOM);
        let said = Laboratory::new().run(line.clone(), PATIENCE).expect_status(0);
        assert!(said.stdout.contains("a file in memory"), "{}", said.stdout);
        let outcome = Laboratory::new().run(line.chain(["--json"]), PATIENCE).expect_status(0);
        let step = measured(&outcome);
        assert_eq!((&step["valid"], codes(&step)), (&Value::Null, vec![]), "{step}");
    };
    read(device.path());
    // Whatever stands on it, and under whatever name: a file system, and a file that is deleted.
    must("mkfs.xfs", ["-q", "-f", text(device.path())]);
    std::fs::remove_file(&backing).expect("removed");
    let upper = Mount::new(&[text(device.path())]);
    let file = upper.join("data");
    std::fs::write(&file, noise(64 << 20)).expect("a filled file");
    must("sync", ["-f", text(&file)]);
    read(&file);
    let on_file = LoopDevice::attach_with(&file, &["--direct-io=on"]);
    read(on_file.path());
}

#[test]
fn a_queue_that_counts_nothing_is_not_evidence() {
    let name = "a_queue_that_counts_nothing_is_not_evidence";
    if is_left_out(name) {
        return;
    }
    let _alone = alone();
    judge(name, assert_uncounted_is_no_evidence);
}

fn assert_uncounted_is_no_evidence() {
    let memory = Mount::tmpfs(100);
    let backing = memory.join("drive");
    std::fs::write(&backing, noise(64 << 20)).expect("a backing file");
    let device = LoopDevice::attach_as(UNCOUNTED, &backing, &[]);
    let path = device.path().to_str().expect("UTF-8");
    let line: Vec<&str> = ["run", path].into_iter().chain(RANDOM).collect();
    let counted = Laboratory::new();
    counted.run(line.clone(), PATIENCE).expect_status(0);
    let end = counted.only_run().last_step().end.clone().expect("an end");
    assert!(end.devices[0].reads > 100 && !end.devices[0].uncounted, "{:?}", end.devices);
    let _switch = Switch::off(&device);
    let laboratory = Laboratory::new();
    let outcome = laboratory.run([&line[..], &["--json"]].concat(), PATIENCE).expect_status(0);
    let json = outcome.json();
    let step = json["steps"].as_array().and_then(|steps| steps.last()).expect("a step");
    assert_eq!(step["valid"], serde_json::Value::Null, "{step}");
    assert_eq!(step["reasons"].as_array().map(Vec::len), Some(0), "{step}");
    // Zeros are not drawn as a quiet drive either.
    let run = laboratory.only_run();
    let end = run.last_step().end.as_ref().expect("an end");
    let counted = &end.observed.as_ref().expect("what was observed").counted;
    assert!(counted.iter().all(|look| look.device != device.name()), "{counted:?}");

    // A person is told; `doctor` does not call unseen load fine; `watch` refuses to print zeros.
    let said = laboratory.run(line, PATIENCE).expect_status(0);
    assert!(said.stdout.contains("keeps no I/O counters for loop78"), "{}", said.stdout);
    let doctor = laboratory.run(["doctor", path, "--json"], PATIENCE).json();
    let checks = doctor["checks"].as_array().expect("checks");
    let foreign = checks.iter().find(|check| check["name"] == "foreign load").expect("a check");
    assert_eq!(foreign["severity"], "unknown", "{foreign}");
    let watched = laboratory.run(["watch", path, "--count", "1"], PATIENCE).expect_status(0);
    assert!(watched.stdout.contains("no counters"), "{}", watched.stdout);
    let json = laboratory.run(["watch", path, "--count", "1", "--json"], PATIENCE);
    let line = json.stdout.lines().next().expect("a line");
    let line: serde_json::Value = serde_json::from_str(line).expect("JSON");
    assert_eq!((&line["counted"], &line["device"]), (&false.into(), &device.name().into()));

    // Nor of a file on it: zeros are no sign that memory answered, or kept what was written.
    must("mkfs.ext4", ["-q", "-F", path]);
    let upper = Mount::new(&[path]);
    let here = Laboratory::new();
    for load in [&["--rw", "randread"], &["--rw", "randwrite"]] {
        let line =
            ["run", text(upper.path()), "--size", "16m", "--bs", "4k", "--runtime", "1", "--json"];
        let step = measured(&here.run(line.iter().chain(load), PATIENCE).expect_status(0));
        assert_eq!((&step["valid"], codes(&step)), (&Value::Null, vec![]), "{step}");
    }
}

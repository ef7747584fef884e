//! `drivelab doctor` on machines whose faults are planted, and `--clean` after a killed run.

use crate::cli_user::{Said, User};
use crate::support;
use crate::support::loop_device::LoopDevice;
use crate::support::machine::{Mount, alone, is_unavailable, require_root};
use serde_json::Value;
use std::path::{Path, PathBuf};
use std::process::{Child, Command, Stdio};
use std::time::{Duration, Instant};

/// Longer than this it may not take.
const LIMIT: Duration = Duration::from_secs(20);

const LONG: [&str; 10] =
    ["run", ".", "--rw", "randread", "--size", "8MiB", "--io", "buffered", "--runtime", "60"];

fn doctor(user: &User, target: &str) -> (Option<i32>, Value) {
    let begin = Instant::now();
    let said = user.types(&["doctor", target, "--json"]);
    assert!(begin.elapsed() < LIMIT, "it took {:?}", begin.elapsed());
    assert!(matches!(said.status, Some(0 | 1)), "{}\n{}", said.out, said.err);
    (said.status, said.json())
}

/// Severities and findings of one check.
fn findings<'a>(json: &'a Value, name: &str) -> Vec<(&'a str, &'a str)> {
    let checks = json["checks"].as_array().unwrap();
    let of = checks.iter().filter(|check| check["name"] == name);
    of.map(|check| (check["severity"].as_str().unwrap(), check["found"].as_str().unwrap()))
        .collect()
}

#[track_caller]
fn assert_severity(json: &Value, name: &str, severity: &str, says: &str) {
    let found = findings(json, name);
    let is_so = found.iter().any(|(word, text)| *word == severity && text.contains(says));
    assert!(is_so, "`{name}` is not {severity} ({says}): {found:?}");
}

#[test]
fn every_check_has_its_words_and_the_measured_figures_are_possible() {
    let _alone = alone();
    let user = User::new();
    user.write("a file", "x");
    let (status, json) = doctor(&user, ".");
    assert_eq!((&json["schema"], &json["target"]), (&1.into(), &".".into()));
    let checks = json["checks"].as_array().unwrap();
    assert!(checks.len() > 15, "{checks:?}");
    let words = ["fine", "note", "unknown", "warning", "bad"];
    for check in checks {
        let severity = check["severity"].as_str().unwrap();
        assert!(words.contains(&severity), "{check}");
        assert!(!check["found"].as_str().unwrap().is_empty(), "{check}");
        let is_advised = matches!(severity, "note" | "warning" | "bad");
        assert_eq!(check["advice"].is_string(), is_advised, "{check}");
    }
    let is_bad = checks.iter().any(|check| check["severity"] == "bad");
    assert_eq!(status, Some(i32::from(is_bad)), "the status follows from the checks");
    assert!(json["ceiling_iops"]["value"].as_f64().unwrap() > 50_000.0, "{json}");
    let noise = &json["noise"];
    assert!((2.0..3.0).contains(&noise["seconds"].as_f64().unwrap()), "{noise}");
    assert!(noise["wake_ups"].as_u64().unwrap() > 100, "{noise}");
    let longest = noise["pause_ns_longest"].as_u64().unwrap();
    assert_eq!(longest > 100_000, noise["pauses_over_100_us"].as_u64().unwrap() > 0, "{noise}");
    assert_severity(&json, "leftovers", "fine", "none");
    assert_eq!(user.listing(), ["a file"], "doctor writes nothing");
    assert!(!user.runs().exists(), "doctor keeps no run");
}

#[test]
fn a_target_that_is_not_there_is_a_usage_error() {
    let user = User::new();
    user.types(&["doctor", "nowhere"]).refused(2, "there is no file or directory `nowhere`");
    user.types(&["doctor", ".", "--clean"]).refused(2, "--clean");
}

#[test]
fn memory_is_no_drive() {
    if is_unavailable("memory_is_no_drive") {
        return;
    }
    require_root("memory_is_no_drive");
    let _alone = alone();
    let memory = Mount::tmpfs(16);
    let user = User::new();
    let path = memory.path().to_str().unwrap();
    let (status, json) = doctor(&user, path);
    assert_eq!(status, Some(1));
    assert_severity(&json, "file system", "bad", "tmpfs: this measures memory");
    assert!(json["verdict"].as_str().unwrap().starts_with("not fit to measure: file system"));
    // Filled to more than nine tenths.
    std::fs::write(memory.join("much"), vec![1; 15 << 20]).unwrap();
    let said = user.types(&["doctor", path]).status(1);
    let line = said.out.lines().find(|line| line.contains("free space")).unwrap();
    assert!(line.starts_with("  warning  free space"), "{line}");
    assert!(said.out.contains("\nVerdict  not fit to measure: file system;"), "{}", said.out);
}

/// Reads a device without pause until it is dropped.
struct ForeignReader(Child);

impl ForeignReader {
    fn of(device: &Path) -> ForeignReader {
        let script = "exec 2>/dev/null; \
            while dd if=\"$0\" of=/dev/null bs=64k iflag=direct; do :; done";
        let mut shell = Command::new("sh");
        shell.arg("-c").arg(script).arg(device).stdin(Stdio::null());
        ForeignReader(shell.spawn().unwrap())
    }
}

impl Drop for ForeignReader {
    fn drop(&mut self) {
        self.0.kill().ok();
        self.0.wait().ok();
    }
}

/// A control group with a limit on the reads of one device; removed when dropped.
struct Limited {
    group: PathBuf,
}

impl Limited {
    fn reads(device: &str) -> Limited {
        let v1 = Path::new("/sys/fs/cgroup/blkio");
        let is_v1 = v1.join("cgroup.procs").exists();
        let root = if is_v1 { v1 } else { Path::new("/sys/fs/cgroup") };
        let (file, line) = match is_v1 {
            true => ("blkio.throttle.read_iops_device", format!("{device} 123")),
            false => ("io.max", format!("{device} riops=123")),
        };
        if !is_v1 {
            std::fs::write(root.join("cgroup.subtree_control"), "+io").expect("the io controller");
        }
        let group = root.join(format!("drivelab-test-doctor-{}", std::process::id()));
        std::fs::create_dir(&group).expect("a control group: needs root");
        std::fs::write(group.join(file), line).expect("a limit");
        Limited { group }
    }
}

impl Drop for Limited {
    fn drop(&mut self) {
        std::fs::remove_dir(&self.group).ok();
    }
}

#[test]
fn a_foreign_reader_and_a_quota_are_found_and_a_quiet_device_is_fine() {
    let name = "a_foreign_reader_and_a_quota_are_found_and_a_quiet_device_is_fine";
    if is_unavailable(name) {
        return;
    }
    require_root(name);
    let _alone = alone();
    let memory = Mount::tmpfs(80);
    let backing = memory.join("drive");
    std::fs::write(&backing, vec![0x5a; 64 << 20]).unwrap();
    let device = LoopDevice::attach(&backing);
    let path = device.path().to_str().unwrap();
    let user = User::new();
    let (_, quiet) = doctor(&user, path);
    assert_severity(&quiet, "foreign load", "fine", device.name());
    assert_severity(&quiet, "I/O quota", "fine", "none");
    assert_severity(&quiet, "direct I/O", "fine", "works");
    assert_severity(&quiet, "layers", "note", device.name());
    let reader = ForeignReader::of(device.path());
    let (status, busy) = doctor(&user, path);
    drop(reader);
    assert_eq!(status, Some(1), "{busy}");
    assert_severity(&busy, "foreign load", "bad", device.name());
    let limited = Limited::reads(&device.number());
    let mut laboratory = support::binary::Laboratory::new();
    laboratory.join_group(&limited.group);
    let outcome = laboratory.run(["doctor", path, "--json"], LIMIT).expect_status(1);
    assert_severity(&outcome.json(), "I/O quota", "bad", "123");
}

/// Starts a run and waits until its scratch file is there and it measures.
fn measuring(user: &User) -> Child {
    let mut child = user.starts(&LONG);
    let begin = Instant::now();
    let measures = |path: PathBuf| {
        let text = std::fs::read_to_string(path);
        text.is_ok_and(|text| text.contains("\"record\":\"step_begin\",\"step\":2,"))
    };
    while begin.elapsed() < Duration::from_secs(60) {
        let entries = std::fs::read_dir(user.runs()).into_iter().flatten();
        if entries.map(|entry| entry.unwrap().path()).any(measures) {
            return child;
        }
        std::thread::sleep(Duration::from_millis(20));
    }
    child.kill().unwrap();
    child.wait().unwrap();
    panic!("the run does not begin to measure");
}

#[test]
fn clean_removes_what_a_killed_run_left_and_nothing_else() {
    let _alone = alone();
    let user = User::new();
    let said = user.types(&["doctor", "--clean"]).fine();
    assert!(said.out.contains("nothing to clean"), "{}", said.out);
    let foreign = user.write("drivelab-foreign.dat", "not ours");
    let mut child = measuring(&user);
    let scratch: Vec<String> =
        user.listing().into_iter().filter(|name| name != "drivelab-foreign.dat").collect();
    assert_eq!(scratch.len(), 1, "{scratch:?}");
    // A run that is alive keeps its file.
    let alive = user.types(&["doctor", "--clean"]).fine();
    assert!(alive.out.starts_with("in use   "), "{}", alive.out);
    assert_eq!(user.listing().len(), 2);
    child.kill().unwrap();
    child.wait().unwrap();
    let (_, seen) = doctor(&user, ".");
    assert_severity(&seen, "leftovers", "note", &scratch[0]);
    assert_eq!(user.listing().len(), 2, "doctor without --clean removes nothing");
    let cleaned = user.types(&["doctor", "--clean", "--json"]).fine().json();
    let removed = cleaned["removed"].as_array().unwrap();
    assert_eq!(removed.len(), 1, "{cleaned}");
    assert!(removed[0].as_str().unwrap().ends_with(&scratch[0]), "{cleaned}");
    assert_eq!(user.listing(), ["drivelab-foreign.dat"]);
    assert_eq!(std::fs::read_to_string(foreign).unwrap(), "not ours");
    let again: Said = user.types(&["doctor", "--clean"]).fine();
    assert!(again.out.contains("nothing to clean"), "{}", again.out);
}

#[test]
fn clean_leaves_a_file_that_took_the_name_of_scratch() {
    let _alone = alone();
    let user = User::new();
    let mut child = measuring(&user);
    let scratch = user.listing().remove(0);
    child.kill().unwrap();
    child.wait().unwrap();
    std::fs::remove_file(user.work().join(&scratch)).unwrap();
    let other = user.write(&scratch, "mine");
    let said = user.types(&["doctor", "--clean"]).status(1);
    assert!(said.out.starts_with("left     "), "{}", said.out);
    assert!(said.out.contains("not ours"), "{}", said.out);
    assert_eq!(std::fs::read_to_string(other).unwrap(), "mine");
}

//! What a killed run left set on a drive is told and put back, on that drive and no other.

use crate::guest::{PATIENCE, node, sysfs, wait_until};
use crate::support::binary::{Laboratory, Running, must};
use rustix::process::{Pid, Signal, kill_process};
use serde_json::Value;
use std::fs;

fn kill(running: &mut Running) {
    let pid = Pid::from_raw(i32::try_from(running.id()).unwrap()).unwrap();
    kill_process(pid, Signal::KILL).unwrap();
    assert!(running.wait(PATIENCE), "it was killed");
}

fn has_cache(node: &str) -> bool {
    let said = must("nvme", ["get-feature", node, "-f", "6"]);
    said.trim_end().ends_with('1')
}

fn check(json: &Value, name: &str) -> Value {
    let checks = json["checks"].as_array().expect("checks");
    checks.iter().find(|check| check["name"] == name).expect("a check of that name").clone()
}

/// D4: doctor lists it, `--clean` puts it back, and then it is not listed.
pub fn write_cache() {
    let node = node("coarse");
    assert!(has_cache(&node), "QEMU's drive has its cache on");
    let laboratory = Laboratory::new();
    let token = laboratory.token(&node);
    let line = ["study", "pts-iops", &node, "--quick", "--write-cache", "off", "--purge", "none"];
    let mut running = laboratory.start([&line[..], &["--erase", &token]].concat());
    wait_until("the cache is off", || running.has_ended() || !has_cache(&node));
    assert!(!running.has_ended(), "{:?}", running.finish());
    kill(&mut running);
    assert!(!has_cache(&node), "nobody was left to put it back");

    let doctor = || laboratory.run(["doctor", &node, "--json"], PATIENCE).json();
    let told = check(&doctor(), "settings");
    assert_eq!(told["severity"], "warning", "{told}");
    assert!(told["found"].as_str().unwrap().contains("write cache"), "{told}");
    let cleaned = laboratory.run(["doctor", "--clean"], PATIENCE).expect_status(0);
    assert!(cleaned.stdout.contains("write cache"), "{cleaned:?}");
    assert!(has_cache(&node), "it is on again");
    assert_eq!(check(&doctor(), "settings")["severity"], "fine");
}

/// D2: namespaces of one drive share its serial number and may have one size.
pub fn scheduler() {
    for (mine, other) in [("first", "second"), ("second", "first")] {
        let node = node(mine);
        let queue = "queue/scheduler";
        let before = (sysfs(mine, queue), sysfs(other, queue));
        let laboratory = Laboratory::new();
        let token = laboratory.token(&node);
        let line = ["study", "tune", &node, "--quick", "--erase", &token];
        let mut running = laboratory.start(line);
        wait_until("another scheduler is set", || {
            running.has_ended() || sysfs(mine, queue) != before.0
        });
        assert!(!running.has_ended(), "{:?}", running.finish());
        kill(&mut running);
        assert_ne!(sysfs(mine, queue), before.0, "nobody was left to put it back");
        let cleaned = laboratory.run(["doctor", "--clean"], PATIENCE).expect_status(0);
        assert!(cleaned.stdout.contains(mine_name(&node)), "{cleaned:?}");
        assert_eq!((sysfs(mine, queue), sysfs(other, queue)), before, "{cleaned:?}");
        let notes = laboratory.data().join("drivelab/settings");
        let left = fs::read_dir(&notes).map(|files| files.count()).unwrap_or(0);
        assert_eq!(left, 0, "the note is gone: {notes:?}");
    }
}

fn mine_name(node: &str) -> &str {
    node.trim_start_matches("/dev/")
}

//! What a killed run left set on a drive is told and put back, on that drive and no other.

use super::purges::planned_act;
use crate::guest::{PATIENCE, kernel_name, node, sysfs, wait_until};
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

/// What `doctor` lists of settings, it knows from these.
fn notes_in(laboratory: &Laboratory) -> usize {
    fs::read_dir(laboratory.data().join("drivelab/settings")).map_or(0, |files| files.count())
}

/// D4: doctor lists it, `--clean` puts it back, and then it is not listed.
pub fn write_cache() {
    turned_off(|laboratory, node| planned_act(laboratory, node, "write-cache = \"off\""));
}

/// The same of a study, which looks at the machine first.
pub fn of_study() {
    turned_off(|laboratory, node| {
        let token = laboratory.token(node);
        let line = ["study", "pts-iops", node, "--quick", "--write-cache", "off"];
        laboratory.start([&line[..], &["--purge", "none", "--erase", &token]].concat())
    });
}

fn turned_off(start: impl FnOnce(&Laboratory, &str) -> Running) {
    let node = node("coarse");
    assert!(has_cache(&node), "QEMU's drive has its cache on");
    let laboratory = Laboratory::new();
    let mut running = start(&laboratory, &node);
    wait_until("the cache is off", || running.has_ended() || !has_cache(&node));
    assert!(!running.has_ended(), "{:?}", running.finish());
    kill(&mut running);
    assert!(!has_cache(&node), "nobody was left to put it back");
    assert_eq!(notes_in(&laboratory), 1);

    let doctor = || laboratory.run(["doctor", &node, "--json"], PATIENCE).json();
    let told = check(&doctor(), "settings");
    assert_eq!(told["severity"], "warning", "{told}");
    assert!(told["found"].as_str().unwrap().contains("write cache"), "{told}");
    let cleaned = laboratory.run(["doctor", "--clean"], PATIENCE).expect_status(0);
    assert!(cleaned.stdout.contains("write cache"), "{cleaned:?}");
    assert!(has_cache(&node), "it is on again");
    assert_eq!(notes_in(&laboratory), 0, "the note is gone");
    assert_eq!(check(&doctor(), "settings")["severity"], "fine");
}

/// D2: namespaces of one drive share its serial number and may have one size. Both are changed and
/// left so, and each is put back by the notes of its own run, which leaves the other as it is.
pub fn scheduler() {
    const QUEUE: &str = "queue/scheduler";
    let names = ["first", "second"];
    let now = || names.map(|name| sysfs(name, QUEUE));
    let before = now();
    let mut tuned = names.map(|name| {
        let laboratory = Laboratory::new();
        let node = node(name);
        let token = laboratory.token(&node);
        let running = laboratory.start(["study", "tune", &node, "--quick", "--erase", &token]);
        (laboratory, running)
    });
    // Each is killed as soon as its drive is changed, whichever comes first.
    let mut is_killed = [false; 2];
    wait_until("other schedulers are set", || {
        for (at, (_, running)) in tuned.iter_mut().enumerate() {
            if is_killed[at] {
                continue;
            }
            assert!(!running.has_ended(), "{}", running.so_far());
            if now()[at] != before[at] {
                kill(running);
                is_killed[at] = true;
            }
        }
        is_killed == [true; 2]
    });
    let left = now();
    assert!(left[0] != before[0] && left[1] != before[1], "nobody was left to put them back");
    for (at, (laboratory, _)) in tuned.iter().enumerate() {
        let cleaned = laboratory.run(["doctor", "--clean"], PATIENCE).expect_status(0);
        assert!(cleaned.stdout.contains(&kernel_name(names[at])), "{cleaned:?}");
        let other = if at == 0 { &left[1] } else { &before[0] };
        assert_eq!(now()[at], before[at], "{cleaned:?}");
        assert_eq!(&now()[1 - at], other, "{cleaned:?}");
        assert_eq!(notes_in(laboratory), 0, "the note is gone");
    }
}

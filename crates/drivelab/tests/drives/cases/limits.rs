//! Limits of the kernel's control groups, version 2.

use crate::guest::{PATIENCE, node, sysfs};
use crate::support::binary::{Laboratory, kind_of};
use std::fs;
use std::path::Path;

const ROOT: &str = "/sys/fs/cgroup";
const LIMIT_PER_S: f64 = 100.0;

/// What `io.max` allows is what is measured, and it is said whose limit that is.
pub fn io_max() {
    let root = Path::new(ROOT);
    fs::write(root.join("cgroup.subtree_control"), "+io").expect("the io controller");
    let group = root.join("held");
    fs::create_dir(&group).expect("a control group");
    let device = sysfs("coarse", "dev");
    fs::write(group.join("io.max"), format!("{device} riops={LIMIT_PER_S}")).expect("a limit");
    let enter = |group: &Path| fs::write(group.join("cgroup.procs"), "0").expect("a move");

    let laboratory = Laboratory::new();
    let node = node("coarse");
    let line = ["run", &node, "--rw", "randread", "--bs", "4k", "--depth", "4", "--json"];
    let line = [&line[..], &["--ramp", "1s", "--runtime", "12s"]].concat();
    enter(&group);
    let outcome = laboratory.run(&line, PATIENCE);
    enter(root);
    fs::remove_dir(&group).expect("the group is empty again");

    assert_eq!(outcome.status, Some(4), "{outcome:?}");
    let json = outcome.json();
    let iops = kind_of(&json, "read")["iops"]["value"].as_f64().unwrap();
    assert!((iops / LIMIT_PER_S - 1.0).abs() < 0.1, "{iops} IOPS: {json}");
    let step = json["steps"].as_array().unwrap().last().unwrap();
    let reasons = step["reasons"].as_array().unwrap();
    let told = reasons.iter().find(|reason| reason["code"] == "io_quota");
    let told = told.unwrap_or_else(|| panic!("the limit is not named: {step}"));
    assert!(told["text"].as_str().unwrap().contains("held allows 100 IOPS"), "{told}");
}

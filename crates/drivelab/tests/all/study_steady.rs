//! `study steady`, against simulated drives whose steady state and whose limits are known.

use crate::cli_user::{User, figure, said, true_steady_iops};
use serde_json::Value;

fn study(user: &User, target: &str, more: &[&str]) -> Value {
    ended(user, target, more, 0)
}

fn ended(user: &User, target: &str, more: &[&str], status: i32) -> Value {
    let line = [&["study", "steady", target, "--seed", "7", "--json"], more].concat();
    user.types(&line).status(status).json()
}

#[test]
fn random_writes_are_measured_where_the_drive_has_settled() {
    let user = User::new();
    for spare in ["0.28", "0.12"] {
        let target = format!("sim:textbook,capacity=512MiB,spare={spare}");
        let json = study(&user, &target, &["--time", "3m"]);
        let steady = figure(&json, "random write qd32");
        let truth = true_steady_iops(&user, &target);
        assert!((steady / truth - 1.0).abs() < 0.05, "{target}: {steady} of {truth}");
        assert!(said(&json, "verdict").contains("was in its steady state"), "{target}");
        let layout = json["steps"].as_array().unwrap().iter();
        let layout = layout.filter(|step| step["name"] == "fill").collect::<Vec<_>>();
        assert!(layout.iter().all(|step| step["role"] == "prepare"), "layout is no result");
    }
}

#[test]
fn a_budget_that_does_not_suffice_is_said() {
    let user = User::new();
    let target = "sim:textbook,capacity=512MiB";
    // What was asked, the steady state, is not answered.
    let json = ended(&user, target, &["--budget", "2GiB", "--time", "3m"], 4);
    assert!(said(&json, "unknown").contains("steady state"), "{}", said(&json, "unknown"));
    assert!(!said(&json, "verdict").contains("was in its steady state"));
    let line = ["study", "steady", target, "--budget", "200MiB"];
    user.types(&line).refused(2, "is too small for");
}

/// Of a drive that is too large for the budget a part is used, and no more than that is said.
#[test]
fn a_large_drive_is_measured_in_its_first_bytes() {
    let user = User::new();
    let limits = ["--budget", "2GiB", "--time", "3m"];
    let json = ended(&user, "sim:textbook,capacity=2GiB", &limits, 4);
    assert!(said(&json, "unknown").contains("only the first 512 MiB of 2 GiB were written"));
    let text = std::fs::read_to_string(user.last_run()).unwrap();
    let records: Vec<Value> =
        text.lines().map(|line| serde_json::from_str::<Value>(line).unwrap()).collect();
    let of = |kind: &'static str| records.iter().filter(move |it| it["record"] == kind);
    for step in of("plan").flat_map(|it| it["plan"]["steps"].as_array().unwrap()) {
        assert_eq!(step["streams"][0]["length"], "512MiB", "{step}");
    }
    assert_eq!(of("established").count(), 0, "the state of a part is not the drive's");
}

#[test]
fn workers_and_depth_are_the_same_to_a_drive_and_said_to_be() {
    let user = User::new();
    let json = study(&user, "sim:x25-e,capacity=512MiB", &["--quick"]);
    let reads = "Random read: eight workers with one operation each reach the same as one worker";
    assert!(said(&json, "verdict").contains(reads), "{}", said(&json, "verdict"));
    let cells = json["findings"]["comparison"]["cells"].as_array().unwrap();
    assert_eq!(cells.len(), 2, "no several files here");
    let other = json["findings"]["not_applicable"].as_array().unwrap();
    assert_eq!(other[0]["text"], "a simulated drive has no files");
}

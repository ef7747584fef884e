//! `study fs` on simulated drives: a cost of the file system that was planted, and none.

use crate::cli_user::{User, figure, said};
use serde_json::Value;

const DRIVE: &str = "sim:textbook,capacity=256MiB";

fn study(user: &User, target: &str) -> Value {
    let line = ["study", "fs", target, "--quick", "--time", "30s", "--seed", "7", "--json"];
    user.types(&line).fine().json()
}

/// Verdict and ratio of one comparison.
fn compared(json: &Value, name: &str) -> (String, f64) {
    let cells = json["findings"]["comparison"]["cells"].as_array().unwrap();
    let cell = cells.iter().find(|cell| cell["name"] == name).unwrap();
    (cell["verdict"].as_str().unwrap().to_string(), cell["ratio"]["value"].as_f64().unwrap())
}

#[test]
fn time_that_the_file_system_takes_is_found_with_its_size() {
    let user = User::new();
    // Four workers that spend 50 us on each operation reach 80,000 a second and no more.
    let json = study(&user, &format!("{DRIVE},file_system_ns=50000"));
    let raw = figure(&json, "random read, raw");
    let bound = 4.0 * 1e9 / 50_000.0;
    assert!(raw > 1.2 * bound, "the drive alone is faster: {raw}");
    let (verdict, ratio) = compared(&json, "random read");
    assert_eq!(verdict, "changed");
    assert!((ratio / (bound / raw) - 1.0).abs() < 0.03, "{ratio} of {raw}, expected {bound}");
    let text = said(&json, "verdict");
    assert!(text.contains("The file system takes, against the same blocks"), "{text}");
    assert!(text.contains(&format!("random read -{:.0} % [", (1.0 - ratio) * 100.0)), "{text}");
    let steps = json["steps"].as_array().unwrap();
    let layout = steps.iter().filter(|step| step["name"] == "layout").collect::<Vec<_>>();
    assert!(!layout.is_empty() && layout.iter().all(|step| step["role"] == "prepare"));
}

#[test]
fn writes_of_a_journal_are_found() {
    let user = User::new();
    let json = study(&user, &format!("{DRIVE},journal=1"));
    let (verdict, ratio) = compared(&json, "random write");
    assert_eq!(verdict, "changed");
    assert!(ratio < 0.8, "each write is two: {ratio}");
    assert_eq!(compared(&json, "sequential read").0, "equivalent", "reads have no journal");
    assert_ne!(compared(&json, "random read").0, "changed");
}

#[test]
fn where_it_takes_nothing_nothing_is_found() {
    let user = User::new();
    // A drive without a file system has nothing to show, and nothing is said of it.
    let line = ["study", "fs", DRIVE, "--quick", "--time", "30s", "--seed", "7", "--json"];
    let json = user.types(&line).status(4).json();
    assert!(json["findings"]["comparison"].is_null(), "{json}");
    assert_eq!(said(&json, "verdict"), "");
    assert!(said(&json, "unknown").contains("both sides are the same drive"));
    let other = json["findings"]["not_applicable"].as_array().unwrap();
    assert!(other[0]["text"].as_str().unwrap().contains("has no files"));
}

#[test]
fn what_was_typed_wrongly_is_answered_with_the_way_out() {
    let user = User::new();
    let work = user.work().display().to_string();
    for (line, says) in [
        (vec!["study", "fs", &work], "name the device"),
        (vec!["study", "fs", &work, "--mkfs", "xfs"], "is not one; name the device"),
        (vec!["study", "fs", DRIVE, "--mount", &work], "leave it out for a simulated drive"),
        (vec!["study", "steady", DRIVE, "--mkfs", "xfs"], "--mkfs is for the study `fs`"),
        (vec!["study", "fs", DRIVE, "--budget", "100MiB"], "too small for `fs`"),
        (vec!["study", "fs", "sim:textbook,journal=2"], "from 0 to 1"),
    ] {
        user.types(&line).refused(2, says);
    }
}

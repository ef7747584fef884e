//! `stride` on simulated arrays whose strips are known, and on drives that have none.

use crate::cli_user::{User, said};
use serde_json::Value;

fn stride(target: &str, more: &[&str]) -> Value {
    let line = [&["study", "stride", target, "--quick", "--seed", "7", "--json"], more].concat();
    User::new().types(&line).fine().json()
}

/// Strips and members, and the row that the strides of 1 MiB at most must show.
#[test]
fn the_row_that_was_planted_is_found() {
    for (drive, strip_kib, members, row) in [
        ("sas-raid10", 64, 6, "192 KiB"),
        ("sas-raid10", 128, 8, "512 KiB"),
        ("sas-raid5", 128, 8, "1 MiB"),
        ("sas-raid5", 64, 5, "320 KiB"),
    ] {
        let strip_bytes = strip_kib << 10;
        let target = format!("sim:{drive},strip_bytes={strip_bytes},members={members}");
        let verdict = said(&stride(&target, &[]), "verdict");
        let told = format!("after {row} or a multiple of it");
        assert!(verdict.contains(&told), "{target}: {verdict}");
    }
}

#[test]
fn a_drive_of_one_part_has_no_row() {
    let verdict = said(&stride("sim:gp3", &[]), "verdict");
    assert!(verdict.starts_with("No stride slows random reads"), "{verdict}");
    // One disk serves so few that little can be told, and nothing untrue.
    let line = ["study", "stride", "sim:momentus-7200", "--quick", "--seed", "7", "--json"];
    let ended = User::new().types(&line);
    assert!(matches!(ended.status, Some(0 | 4)), "{}", ended.err);
    let verdict = said(&ended.json(), "verdict");
    assert!(verdict.is_empty() || verdict.starts_with("No stride"), "{verdict}");
}

#[test]
fn what_has_no_strides_is_refused_with_the_way_out() {
    let user = User::new();
    user.types(&["study", "stride", "."]).refused(2, "name the block device");
    let small = ["study", "stride", "sim:textbook,capacity=64MiB", "--quick", "--budget", "100M"];
    user.types(&small).refused(2, "give at least 1GiB");
}

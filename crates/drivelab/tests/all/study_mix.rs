//! `study mix` on simulated drives: interference that was planted, and drives that have none.

use crate::cli_user::{User, estimate, figure, said};
use serde_json::Value;

fn table<'a>(json: &'a Value, title: &str) -> &'a Value {
    let tables = json["findings"]["tables"].as_array().unwrap();
    let found = tables.iter().find(|table| table["title"].as_str().unwrap().starts_with(title));
    found.unwrap_or_else(|| panic!("no table {title}"))
}

/// Operations of a kind in all repetitions of a cell, and their mean latency.
fn latency(json: &Value, cell: &str, kind: &str) -> (f64, f64) {
    let steps = json["steps"].as_array().unwrap().iter().filter(|step| step["name"] == cell);
    let (mut ops, mut spent) = (0.0, 0.0);
    for step in steps {
        let kind = &step["streams"][0][kind];
        let count = kind["ops"].as_f64().unwrap();
        ops += count;
        spent += count * kind["service_ns"]["mean"].as_f64().unwrap();
    }
    (ops, spent / ops)
}

#[test]
fn writes_that_block_readers_are_found_with_their_size() {
    let user = User::new();
    // Programs of 5 ms on 64 dies: alone, writes share them; a read behind one waits for it.
    let slow = "sim:textbook,capacity=256MiB,buffer_bytes=1048576,program_ns=5000000";
    let line = ["study", "mix", slow, "--quick", "--seed", "7", "--json"];
    let json = user.types(&line).status(1).json();
    let beware = said(&json, "beware");
    assert!(beware.contains("Writes block readers far beyond their own time"), "{beware}");
    assert!(beware.contains("at 1 % of random writes"), "{beware}");
    assert!(said(&json, "suspect").lines().all(|line| !line.contains("reads alone")));
    let factor = estimate(&json, "interference F, 1 % random writes");
    assert!(factor["low"].as_f64().unwrap() > 5.0, "{factor}");
    // The same cost, counted another way: what the writes took, and what reads took beyond theirs.
    let (_, alone) = latency(&json, "reads alone qd1", "read");
    let (reads, read) = latency(&json, "1 % random writes qd1", "read");
    let (writes, write) = latency(&json, "1 % random writes qd1", "write");
    let expected = (write + (read - alone) * reads / writes) / alone;
    let cost = figure(&json, "one write costs, 1 % random writes");
    assert!((cost / expected - 1.0).abs() < 0.02, "{cost}, by latencies {expected}");
    assert!(cost > 20.0 && read > 1.3 * alone, "{cost}, {read} by {alone}");
}

#[test]
fn where_nothing_blocks_nothing_is_found() {
    let user = User::new();
    for (target, says) in [
        // Short programs on many dies: a read seldom meets one.
        (
            "sim:textbook,capacity=256MiB,buffer_bytes=1048576",
            "hold readers up, though too little to matter at this share",
        ),
        // One command at a time, and every merge paid by the write that causes it: costs add up.
        (
            "sim:pqi,capacity=256MiB,log_blocks=24,buffer_flush=none,buffer_bytes=0,\
             buffer_group_bytes=0",
            "do not disturb reads beyond their own time",
        ),
    ] {
        let line = ["study", "mix", target, "--quick", "--seed", "7", "--json"];
        let json = user.types(&line).fine().json();
        assert_eq!(said(&json, "beware"), "", "{target}");
        let verdict = said(&json, "verdict");
        assert!(verdict.contains(&format!("Random writes {says}")), "{verdict}");
        let efficiency = figure(&json, "efficiency, 1 % random writes");
        assert!((efficiency - 1.0).abs() < 0.05, "{target}: {efficiency}");
        if target.starts_with("sim:pqi") {
            let alone = figure(&json, "reads alone qd1") / figure(&json, "random writes alone qd1");
            assert!(alone > 3.0, "{target}: a write alone is worth {alone} reads");
            let rows = table(&json, "What a write costs among reads")["rows"].as_array().unwrap();
            let row = rows.iter().find(|row| row[0] == "10 % random writes qd1").unwrap();
            let factor = row[5].as_f64().unwrap();
            assert!((0.75..1.25).contains(&factor), "{target}: {row}");
        }
    }
}

#[test]
fn each_round_has_every_cell_once_in_an_order_of_its_own() {
    let user = User::new();
    let target = "sim:textbook,capacity=64MiB";
    let line = ["study", "mix", target, "--seed", "3", "--time", "60s", "--json"];
    let json = user.types(&[&line[..], &["--budget", "2GiB"]].concat());
    let json = serde_json::from_str::<Value>(&json.out).unwrap();
    let steps = json["steps"].as_array().unwrap();
    let names: Vec<&str> = steps.iter().map(|step| step["name"].as_str().unwrap()).collect();
    assert_eq!(names[..2], ["fill", "warm-up, random write"]);
    let rounds: Vec<&[&str]> = names[2..].chunks(15).collect();
    assert_eq!(rounds.len(), 10);
    assert!(rounds[0] != rounds[1]);
    for round in rounds {
        let mut sorted = round.to_vec();
        sorted.sort_unstable();
        sorted.dedup();
        assert_eq!(sorted.len(), 15, "{round:?}");
    }
    let written: u64 =
        steps.iter().map(|step| step["streams"][0]["write"]["bytes"].as_u64().unwrap_or(0)).sum();
    assert!(written <= 2 << 30, "{written}");
    let rows = table(&json, "What a write costs among reads")["rows"].as_array().unwrap();
    assert_eq!(rows.len(), 12);
    assert_eq!(rows[0][0], "0.1 % random writes qd1");
}

#[test]
fn nonsense_is_refused_in_one_sentence() {
    let user = User::new();
    let small = "sim:textbook,capacity=256MiB";
    let line = ["study", "mix", small, "--budget", "64MiB"];
    user.types(&line).refused(2, "give at least 256MiB");
    user.types(&["study", "mix", small, "--time", "1s"]).refused(2, "too short for any study");
    user.types(&["study", "mix", small, "--time", "12s"]).refused(2, "give at least 15s");
}

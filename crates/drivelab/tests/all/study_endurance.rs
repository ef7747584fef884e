//! `study endurance`: wear and days, against simulated flash whose programs are counted.

use crate::cli_user::{User, figure, said};
use serde_json::Value;

const DRIVE: &str = "sim:textbook,capacity=512MiB,endurance_cycles=3000";

fn study(user: &User, target: &str, more: &[&str]) -> Value {
    let line = [&["study", "endurance", target, "--seed", "7", "--json"], more].concat();
    let said = user.types(&line);
    assert!(matches!(said.status, Some(0 | 1 | 4)), "{}", said.err);
    said.json()
}

const RANDOM: &str = "write amplification, random write, 4 KiB";

/// The write amplification of a drive that the model itself put into its steady state.
fn truth(user: &User, target: &str) -> f64 {
    let target = format!("{target},state=steady");
    let load = ["--rw", "randwrite", "--bs", "4k", "--depth", "32", "--passes", "8"];
    let line = [&["run", &target, "--seed", "9", "--json"], &load[..]].concat();
    let json = user.types(&line).fine().json();
    json["steps"][0]["drive"]["write_amplification"].as_f64().unwrap()
}

#[test]
fn what_random_writes_cost_is_found_for_every_spare() {
    let mut all = Vec::new();
    for (spare, collector) in [("0.28", "greedy"), ("0.12", "greedy"), ("0.28", "fifo")] {
        let user = User::new();
        let target = format!("{DRIVE},spare={spare},collector={collector}");
        let json = study(&user, &target, &[]);
        let (found, truth) = (figure(&json, RANDOM), truth(&user, &target));
        assert!((found / truth - 1.0).abs() < 0.03, "{target}: {found} of {truth}");
        let days = figure(&json, "days of life, random write, 4 KiB");
        let facts = std::fs::read_to_string(user.last_run()).unwrap();
        let begin: Value = serde_json::from_str(facts.lines().next().unwrap()).unwrap();
        let flash = &begin["facts"]["target"]["simulated"]["flash"];
        let bytes = flash["bytes"].as_f64().unwrap();
        let expected = bytes * 3000.0 / found / (512.0 * 1024.0 * 1024.0);
        assert!((days / expected - 1.0).abs() < 1e-9, "{days} of {expected}");
        all.push(found);
    }
    assert!(all[1] > 1.5 * all[0], "less spare flash wears faster: {all:?}");
}

#[test]
fn writes_in_order_are_not_amplified() {
    let user = User::new();
    let json = study(&user, DRIVE, &["--per-day", "1GiB"]);
    let order = figure(&json, "write amplification, sequential write, 128 KiB");
    assert!((order - 1.0).abs() < 0.03, "{order}");
    assert!(figure(&json, RANDOM) > 1.5);
    assert_eq!(said(&json, "suspect"), "", "programs and erases agree");
    assert!(said(&json, "verdict").contains("1.07 GB a day leave it"), "{}", json["findings"]);
    assert!(said(&json, "unknown").contains("without power"));
}

#[test]
fn more_bits_a_cell_leave_less_life() {
    let user = User::new();
    let drives =
        [1, 2, 3, 4].map(|bits| format!("sim:textbook,capacity=256MiB,bits_per_cell={bits}"));
    let mut line = vec!["study", "endurance"];
    line.extend(drives.iter().map(String::as_str));
    line.extend(["--quick", "--seed", "7", "--per-day", "1GB", "--json"]);
    let json = user.types(&line).fine().json();
    let tables = json["findings"]["tables"].as_array().expect("tables");
    let ladder = tables.iter().find(|it| it["title"] == "Kinds of cells").expect("a ladder");
    let rows = ladder["rows"].as_array().expect("rows");
    assert_eq!(rows.len(), 4);
    let kinds: Vec<&str> = rows.iter().filter_map(|row| row[1].as_str()).collect();
    assert_eq!(kinds, ["SLC, 1 bit", "MLC, 2 bits", "TLC, 3 bits", "QLC, 4 bits"]);
    let number = |row: usize, column: usize| rows[row][column].as_f64().expect("a number");
    for row in 0..4 {
        assert_eq!(number(row, 2), 2f64.powi(row as i32 + 1), "voltages");
        // One drive under one load: life is in proportion to the cycles.
        let by_cycles = number(row, 9) / number(row, 6) / (number(0, 9) / number(0, 6));
        assert!((by_cycles - 1.0).abs() < 0.02, "{ladder}");
    }
    let picture = &json["findings"]["pictures"][0];
    assert_eq!(picture["lines"].as_array().expect("lines").len(), 2, "{picture}");
    let said = said(&json, "verdict");
    assert!(said.contains("From 1 to 4 bits a cell"), "{said}");
    // Drives whose cells nobody described have no ladder.
    let line = ["study", "endurance", DRIVE, "sim:textbook,capacity=256MiB", "--quick", "--json"];
    let json = user.types(&line).fine().json();
    assert!(
        json["findings"]["tables"]
            .as_array()
            .is_none_or(|all| { all.iter().all(|table| table["title"] != "Kinds of cells") })
    );
}

#[test]
fn what_is_not_known_is_not_invented() {
    let user = User::new();
    // No cycles: amplification, and no days.
    let json = study(&user, "sim:textbook,capacity=256MiB", &[]);
    assert!(figure(&json, RANDOM) > 1.0);
    assert!(!said(&json, "verdict").contains("days"), "{}", json["findings"]);
    assert_eq!(json["findings"]["not_applicable"][0]["cell"], "days of life");
    // No flash: nothing wears.
    let line = ["study", "endurance", "sim:momentus-7200,capacity=256MiB", "--json"];
    let json = user.types(&line).status(4).json();
    assert!(said(&json, "unknown").contains("nothing in this drive wears out"));
    // A budget for a part of it.
    let small = "sim:textbook,capacity=1GiB,endurance_cycles=3000";
    user.types(&["study", "endurance", small, "--budget", "2GiB"]).refused(2, "at least 6GiB");
    let said = user.types(&["study", "endurance", "."]).refused(2, "needs a whole drive");
    assert!(said.err.contains("--rated 600TB --per-day 40GB"), "{}", said.err);
    user.types(&["study", "endurance", DRIVE, "--per-day", "0"]).refused(2, "lasts for ever");
    assert_eq!(user.listing(), [""; 0], "scratch was left behind");
}

#[test]
fn a_promise_is_divided_without_a_drive() {
    let user = User::new();
    let divide = |more: &[&str]| {
        let line = [&["study", "endurance", "--json"], more].concat();
        user.types(&line).fine().json()
    };
    for target in [&[][..], &["."]] {
        let days =
            |words: &[&str]| figure(&divide(&[target, words].concat()), "days of the promise");
        assert_eq!(days(&["--rated", "600TiB", "--per-day", "843GiB"]).round(), 729.0);
        assert_eq!(days(&["--rated", "600TB", "--per-day", "2TB"]), 300.0);
    }
    let said = user.types(&["study", "endurance", "--rated", "600TiB", "--per-day", "843GiB"]);
    let text = said.fine().out.split_whitespace().collect::<Vec<_>>().join(" ");
    assert!(text.contains("905 GB a day leave it 729 days (2.00 years)"), "{text}");
    assert!(text.contains("that needs the drive"), "{text}");
    // Nothing was measured, and nothing is kept.
    assert_eq!((user.listing(), user.runs().exists()), (vec![], false));
    let refused = |line: &[&str], says: &str| {
        user.types(&[&["study"], line].concat()).refused(2, says);
    };
    refused(&["endurance", "--rated", "600TB"], "TARGET");
    refused(&["endurance", "--per-day", "2TB"], "TARGET");
    refused(&["endurance", "--rated", "0", "--per-day", "2TB"], "--rated 0 promises nothing");
    refused(&["endurance", "--rated", "6TB", "--per-day", "0"], "lasts for ever");
    refused(&["endurance", "none", "--rated", "6TB", "--per-day", "1TB"], "no file or directory");
    refused(&["wsat", "--rated", "6TB", "--per-day", "1TB"], "--per-day is for the study");
}

//! `study modes`: who answered, against a simulated host whose memory is known.

use crate::cli_user::{User, said};
use serde_json::Value;

fn study(user: &User, target: &str, more: &[&str]) -> Value {
    let line = [&["study", "modes", target, "--quick", "--seed", "7", "--json"], more].concat();
    let said = user.types(&line);
    assert!(matches!(said.status, Some(0 | 1 | 4)), "{}", said.err);
    said.json()
}

/// What reached the drive: mean.
fn reached(json: &Value, cell: &str) -> f64 {
    let name = format!("reached the drive: {cell}");
    let figures = json["findings"]["figures"].as_array().unwrap();
    let found = figures.iter().find(|figure| figure["name"] == name.as_str());
    found.unwrap_or_else(|| panic!("no {name}"))["estimate"]["value"].as_f64().unwrap()
}

#[test]
fn memory_that_holds_everything_answers_everything() {
    let user = User::new();
    let json = study(&user, "sim:textbook,capacity=256MiB,page_cache=512MiB", &[]);
    assert!(reached(&json, "random read qd1, buffered") < 0.01, "{}", json["findings"]);
    assert!(reached(&json, "random write qd1, buffered") < 0.2, "{}", json["findings"]);
    for cell in [
        "random read qd32, direct",
        "random write qd1, direct",
        "random write qd32, direct + dsync",
        "random write qd1, buffered + dsync",
    ] {
        assert!((reached(&json, cell) - 1.0).abs() < 0.02, "{cell}: {}", reached(&json, cell));
    }
    let verdict = said(&json, "verdict");
    assert!(verdict.contains("was answered by RAM"), "{verdict}");
    assert!(verdict.contains("reached the drive whole"), "{verdict}");
    let cells = json["findings"]["comparison"]["cells"].as_array().unwrap();
    let read = cells.iter().find(|cell| cell["name"] == "random read qd1").unwrap();
    assert_eq!(read["verdict"], "changed");
    assert!(read["ratio"]["value"].as_f64().unwrap() > 5.0, "{read}");
}

#[test]
fn memory_that_holds_next_to_nothing_answers_next_to_nothing() {
    let user = User::new();
    let json = study(&user, "sim:textbook,capacity=2GiB,page_cache=16MiB", &[]);
    // 16 MiB of the 1 GiB that is read.
    let kept = 1.0 - reached(&json, "random read qd32, buffered");
    assert!(kept < 0.03, "{kept}");
    assert!(!said(&json, "verdict").contains("Buffered random read qd1: 9"));
    assert_eq!(said(&json, "beware"), "");
}

#[test]
fn a_share_of_memory_answers_its_share() {
    let user = User::new();
    let json = study(&user, "sim:textbook,capacity=1GiB,page_cache=256MiB", &[]);
    let kept = 1.0 - reached(&json, "random read qd32, buffered");
    assert!((kept - 0.25).abs() < 0.03, "a quarter fits: {kept}");
}

#[test]
fn a_host_of_which_no_page_cache_is_named_has_one() {
    let user = User::new();
    let json = study(&user, "sim:textbook,capacity=1GiB", &[]);
    let kept = 1.0 - reached(&json, "random read qd32, buffered");
    assert!((kept - 0.25).abs() < 0.03, "256 MiB of 1 GiB: {kept}");
    let deviations = json["findings"]["deviations"].to_string();
    assert!(deviations.contains("a page cache of 256 MiB"), "{deviations}");
}

#[test]
fn a_file_here_is_told_with_its_flags() {
    let user = User::new();
    let more = ["--size", "64MiB", "--time", "36s"];
    let json = study(&user, ".", &more);
    let rows = json["findings"]["tables"][0]["rows"].as_array().unwrap().clone();
    let flags = |cell: &str| {
        rows.iter().find(|row| row[0] == cell).map(|row| row[1].as_str().unwrap().to_string())
    };
    let buffered = flags("random write qd1, buffered + dsync").unwrap();
    assert!(buffered.contains("dsync") && !buffered.contains("direct"), "{buffered}");
    // Where the file system has direct I/O, it is in force.
    if let Some(direct) = flags("random write qd1, direct + dsync") {
        assert!(direct.contains("direct") && direct.contains("dsync"), "{direct}");
    }
    assert_eq!(user.listing(), [""; 0], "scratch was left behind");
}

/// The table of the article: kinds of storage in columns; and why buffered is the slower way.
#[test]
fn the_table_of_the_article_and_its_puzzle() {
    let user = User::new();
    let drives = ["nvme-tlc", "sata-mlc", "essd"];
    // The quota of a volume follows its size.
    let small = |drive: &str| if drive == "essd" { "" } else { ",capacity=8GiB" };
    let targets = drives.map(|drive| format!("sim:{drive}{}", small(drive)));
    let line = ["study", "modes", "--article", "--quick", "--seed", "7", "--json"];
    let line = [&line[..], &targets.each_ref().map(String::as_str)].concat();
    let json = user.types(&line).fine().json();
    let table = &json["findings"]["tables"][0];
    let heads: Vec<&str> =
        table["heads"].as_array().unwrap().iter().map(|it| it["name"].as_str().unwrap()).collect();
    assert_eq!(heads, ["mode", "nvme-tlc", "sata-mlc", "essd"]);
    let rows = table["rows"].as_array().unwrap();
    let rate = |row: &str, drive: usize| {
        let found = rows.iter().find(|it| it[0] == row).unwrap_or_else(|| panic!("no {row}"));
        found[1 + drive].as_f64().unwrap()
    };
    for (at, drive) in drives.iter().enumerate() {
        for kind in ["reads", "writes"] {
            let [direct, buffered] =
                ["direct", "buffered"].map(|mode| rate(&format!("{kind}, {mode}"), at));
            assert!(direct > buffered, "{drive} {kind}: {direct} direct, {buffered} buffered");
        }
        let share = rate("reads, direct", at) / rate("writes, direct", at);
        assert!((share / (70.0 / 30.0) - 1.0).abs() < 0.1, "{drive}: {share} reads by writes");
    }
    let verdict = said(&json, "verdict");
    assert_eq!(verdict.matches("Buffered reads went one after the other").count(), 3, "{verdict}");
}

/// Where memory holds everything, or the drive does one at a time anyway, the depth is no cause.
#[test]
fn the_puzzle_has_no_answer_where_its_cause_is_not_there() {
    let user = User::new();
    let in_memory = study(&user, "sim:textbook,capacity=64MiB,page_cache=512MiB", &["--article"]);
    let verdict = said(&in_memory, "verdict");
    assert!(!verdict.contains("went one after the other"), "{verdict}");
    // One channel of flash, and no rows that a depth of writes fills: it is worth next to nothing.
    let pqi = "sim:pqi,capacity=1GiB,buffer_group_bytes=4096,page_cache=64MiB";
    let serial = study(&user, pqi, &["--article"]);
    let verdict = said(&serial, "verdict");
    assert!(!verdict.contains("went one after the other"), "{verdict}");
}

//! `study patterns` on simulated drives: effects that were planted, and drives without them.

use crate::cli_user::{User, said};
use serde_json::Value;

const COLUMNS: [&str; 4] = ["random read", "sequential read", "random write", "sequential write"];

fn study(user: &User, target: &str) -> Value {
    let line = ["study", "patterns", target, "--quick", "--seed", "7", "--json"];
    let said = user.types(&line);
    assert!(matches!(said.status, Some(0 | 1)), "{target}: {}", said.err);
    said.json()
}

/// Ratio and verdict of one field of the map.
fn field(json: &Value, row: &str, column: &str) -> (f64, String) {
    let map = &json["findings"]["heat_maps"][0];
    assert_eq!(map["columns"].as_array().unwrap().len(), COLUMNS.len());
    let rows = map["rows"].as_array().unwrap();
    let found = rows.iter().find(|known| known["name"] == row);
    let found = found.unwrap_or_else(|| panic!("no {row} in {map}"));
    let place = COLUMNS.iter().position(|known| *known == column).unwrap();
    let cell = &found["cells"][place];
    let value = cell["ratio"]["value"].as_f64();
    let value = value.unwrap_or_else(|| panic!("nothing at {row}, {column}: {found}"));
    (value, cell["verdict"].as_str().unwrap().to_string())
}

#[track_caller]
fn is_changed(json: &Value, row: &str, column: &str, (low, high): (f64, f64)) {
    let (ratio, verdict) = field(json, row, column);
    assert_eq!(verdict, "changed", "{row}, {column}: {ratio}");
    assert!((low..=high).contains(&ratio), "{row}, {column}: {ratio}");
}

#[track_caller]
fn is_same(json: &Value, row: &str, column: &str) {
    let (ratio, verdict) = field(json, row, column);
    let same = ["equivalent", "identical", "changed_negligible"].contains(&verdict.as_str());
    assert!(same && (0.95..1.053).contains(&ratio), "{row}, {column}: {ratio} {verdict}");
}

/// One die that takes one command at a time: nothing runs next to anything else.
const ONE_DIE: &str = "sim:textbook,capacity=256MiB,channels=1,dies_per_channel=1,queue_depth=1,\
                       buffer_bytes=65536,pages_per_block=64";
/// 64 dies, and writes that end when the flash holds them: no buffer that could hide anything.
const NO_BUFFER: &str = "sim:textbook,capacity=256MiB,early_completion=false";

#[test]
fn the_mapping_unit_is_felt_where_it_is_crossed() {
    let user = User::new();
    let json = study(&user, ONE_DIE);
    // Two units are read and programmed where one was: half the rate.
    is_changed(&json, "4 KiB, shifted by 512 B", "random write", (0.40, 0.52));
    let (reads, verdict) = field(&json, "4 KiB, shifted by 512 B", "random read");
    assert!((0.52..0.56).contains(&reads), "50 µs twice, 5 µs once: {reads} {verdict}");
    let beware = said(&json, "beware");
    assert!(beware.contains("4 KiB that are not aligned to 4 KiB"), "{beware}");
    // A small write reads what it does not replace, in parallel to nothing.
    let json = study(&user, NO_BUFFER);
    is_changed(&json, "4 KiB requests", "random write", (1.20, 1.30));
    // The same drive with a map of single sectors has nothing to read back or to cross.
    let fine = format!("{NO_BUFFER},map_unit_bytes=512,page_bytes=512");
    let json = study(&user, &fine);
    is_same(&json, "4 KiB, shifted by 512 B", "random write");
    assert_eq!(said(&json, "beware"), "");
    for column in COLUMNS {
        is_same(&json, "aligned on 4 KiB", column);
    }
}

#[test]
fn pauses_and_bursts_help_where_something_can_use_them() {
    let user = User::new();
    let json = study(&user, ONE_DIE);
    // A buffer of 16 pages and a die that collects: it clears them in the pause.
    let (pause, verdict) = field(&json, "pause of 1 ms", "random write");
    assert!(pause > 5.0 && verdict == "changed", "{pause} {verdict}");
    is_same(&json, "pause of 1 ms", "random read");
    is_same(&json, "bursts of 5", "random read");
    assert!(said(&json, "verdict").contains("Random writes after a pause of 1 ms"));
    let json = study(&user, NO_BUFFER);
    is_same(&json, "pause of 1 ms", "random write");
    is_same(&json, "pause of 1 ms", "random read");
    // Five reads on 64 dies: 55 µs together, and longer where two meet.
    is_changed(&json, "bursts of 5", "random read", (4.0, 5.0));
    is_same(&json, "bursts of 5, pause of 1 ms", "random read");
    assert!(said(&json, "verdict").contains("in bursts of 5"), "{}", said(&json, "verdict"));
}

#[test]
fn memories_are_felt_by_what_comes_back() {
    let user = User::new();
    let json = study(&user, NO_BUFFER);
    is_same(&json, "64 addresses again", "random read");
    is_same(&json, "50 % jumps", "sequential read");
    is_same(&json, "1 % random writes", "random read");
    let json = study(&user, &format!("{NO_BUFFER},read_cache_bytes=1048576"));
    let (again, verdict) = field(&json, "64 addresses again", "random read");
    assert!(again > 5.0 && verdict == "changed", "{again} {verdict}");
    let verdict = said(&json, "verdict");
    assert!(verdict.contains("of the same 64 addresses"), "{verdict}");
}

#[test]
fn writes_that_block_readers_are_told() {
    let user = User::new();
    let slow = "sim:textbook,capacity=256MiB,buffer_bytes=1048576,program_ns=5000000";
    let json = study(&user, slow);
    is_changed(&json, "1 % random writes", "random read", (0.4, 0.8));
    let beware = said(&json, "beware");
    assert!(beware.contains("Random reads with 1 % sequential writes"), "the worst: {beware}");
    assert_eq!(beware.matches("Random reads with").count(), 1, "{beware}");
}

#[test]
fn all_of_it_fits_what_was_allowed() {
    let user = User::new();
    let small = "sim:textbook,capacity=64MiB";
    let line = ["study", "patterns", small, "--seed", "3", "--quick", "--json"];
    let said = user.types(&[&line[..], &["--budget", "1GiB", "--time", "30s"]].concat());
    let json = said.json();
    let steps = json["steps"].as_array().unwrap();
    let (mut written, mut seconds) = (0, 0.0);
    for step in steps {
        written += step["streams"][0]["write"]["bytes"].as_u64().unwrap_or(0);
        seconds += step["streams"][0]["seconds"].as_f64().unwrap_or(0.0);
    }
    assert!(written <= 1 << 30, "{written}");
    assert!(seconds <= 30.5, "{seconds}");
    assert_eq!(steps.len() % 5, 2, "fill, warm-up, and five rounds: {}", steps.len());
    let rows = json["findings"]["heat_maps"][0]["rows"].as_array().unwrap();
    assert_eq!(rows.len(), 21);
    user.types(&["study", "patterns", small, "--time", "12s"]).refused(2, "give at least");
    user.types(&["study", "patterns", small, "--budget", "64MiB"]).refused(2, "at least 256MiB");
}

/// A round begins anywhere; what lies behind that place may fit into a cache.
#[test]
fn a_cache_does_not_answer_for_what_goes_in_order() {
    let user = User::new();
    let rate = |cache: u64| {
        let target = format!("sim:textbook,capacity=256MiB,state=filled,read_cache_bytes={cache}");
        let json = study(&user, &target);
        let cells = json["cells"].as_array().unwrap().clone();
        let cell = cells.iter().find(|cell| cell["name"] == "sequential read, 4 KiB requests");
        let rate = cell.unwrap()["streams"][0]["read"]["iops"].clone();
        rate["value"].as_f64().unwrap()
    };
    let (without, with) = (rate(0), rate(32 << 20));
    assert!((with / without - 1.0).abs() < 0.05, "{without} without, {with} with a cache");
}

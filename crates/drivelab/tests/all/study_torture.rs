//! `torture` on simulated drives that lose a share of their speed that is known, or none.

use crate::cli_user::{User, said};
use serde_json::Value;

/// The quick study of a drive of 512 MiB; its status says whether something was lost.
fn torture(user: &User, target: &str, status: i32, more: &[&str]) -> Value {
    let line = [&["study", "torture", target, "--quick", "--seed", "7", "--json"], more].concat();
    user.types(&line).status(status).json()
}

fn cell(json: &Value, name: &str) -> Value {
    let cells = json["findings"]["comparison"]["cells"].as_array().unwrap();
    cells.iter().find(|cell| cell["name"] == name).unwrap().clone()
}

/// The share of its time that the steps of a cell spent on the planted cause, from the records of
/// the inside.
fn planted(user: &User, step_name: &str) -> f64 {
    let text = std::fs::read_to_string(user.last_run()).unwrap();
    let records = text.lines().map(|line| serde_json::from_str::<Value>(line).unwrap());
    let (mut wanted, mut extra_ns, mut spent_ns) = (Vec::new(), 0, 0);
    for record in records {
        match record["record"].as_str().unwrap() {
            "step_begin" if record["name"] == step_name => wanted.push(record["step"].clone()),
            "inside" if wanted.contains(&record["step"]) => {
                extra_ns += record["inside"]["fragmentation_ns"].as_u64().unwrap_or(0);
                spent_ns += record["to"].as_u64().unwrap() - record["from"].as_u64().unwrap();
            }
            _ => {}
        }
    }
    assert!(spent_ns > 0, "{step_name}");
    extra_ns as f64 / spent_ns as f64
}

const READS: [&str; 4] =
    ["random read 4 MiB", "backward read 4 MiB", "strided read 4 MiB", "random read IOPS 32 KiB"];

#[test]
fn a_planted_loss_is_found_with_its_size_and_its_cause() {
    for percent in [5, 15, 25] {
        let user = User::new();
        let target = format!("sim:textbook,capacity=512MiB,fragmentation=0.{percent:02}");
        // A band of 2 % so that 5 % lies outside it.
        let json = torture(&user, &target, 1, &["--band", "2%"]);
        for name in READS {
            let truth = planted(&user, &format!("{name}, after"));
            assert!((truth - f64::from(percent) / 100.0).abs() < 0.01, "{name}: {truth}");
            assert_eq!(planted(&user, &format!("{name}, before")), 0.0);
            let found = cell(&json, name);
            let ratio = &found["ratio"];
            let value = ratio["value"].as_f64().unwrap();
            assert!((value - (1.0 - truth)).abs() < 0.02, "{name}: {found} of {truth}");
            if let (Some(low), Some(high)) = (ratio["low"].as_f64(), ratio["high"].as_f64()) {
                let rounding = 0.005;
                assert!(
                    low - rounding <= 1.0 - truth && 1.0 - truth <= high + rounding,
                    "{name}: {found} of {truth}"
                );
            }
        }
        assert!(said(&json, "verdict").contains("the map is in pieces"), "{}", json["findings"]);
        let bars = json["findings"]["bars"].as_array().unwrap();
        let figure = bars.iter().find(|figure| figure["title"] == "strided read").unwrap();
        let values = &figure["groups"][0]["values"];
        let drawn = values[1][0].as_f64().unwrap() / values[0][0].as_f64().unwrap();
        let judged = cell(&json, "strided read 4 MiB")["ratio"]["value"].as_f64().unwrap();
        assert!((drawn - judged).abs() < 0.001, "{figure}: the figure shows what was judged");
        let beware = said(&json, "beware");
        assert!(beware.contains("The torture slowed the drive on this cycle"), "{beware}");
    }
}

#[test]
fn a_torture_that_does_nothing_leaves_all_cells_the_same() {
    for target in ["sim:textbook,capacity=512MiB,fragmentation=0", "sim:gp3,capacity=512MiB"] {
        let user = User::new();
        let json = torture(&user, target, 0, &[]);
        let verdict = said(&json, "verdict");
        assert!(
            verdict
                .contains("changed nothing on this cycle: all 8 cells are the same within 5.0 %"),
            "{target}: {}",
            json["findings"]
        );
        assert!(!verdict.contains("Cause of"), "{verdict}");
        assert!(said(&json, "unknown").contains("Whether another torture would do the same"));
    }
}

#[test]
fn what_a_trim_brings_back_is_told() {
    let user = User::new();
    let target = "sim:textbook,capacity=512MiB,fragmentation=0.25";
    let json = torture(&user, target, 1, &["--legs", "idle,trim"]);
    let verdict = said(&json, "verdict");
    assert!(verdict.contains("Leaving the drive alone for 30s brought 0 of 4"), "{verdict}");
    assert!(verdict.contains("Trimming all of it brought 4 of 4"), "{verdict}");
    let deaf = format!("{target},honours_trim=false");
    let json = torture(&user, &deaf, 1, &["--legs", "trim"]);
    let verdict = said(&json, "verdict");
    assert!(verdict.contains("Trimming all of it brought 0 of 4"), "{verdict}");
}

#[test]
fn cycles_are_the_unit() {
    let user = User::new();
    let json =
        torture(&user, "sim:textbook,capacity=512MiB,fragmentation=0.25", 1, &["--cycles", "2"]);
    let comparison = &json["findings"]["comparison"];
    assert_eq!(comparison["is_by_run"], true);
    let found = cell(&json, READS[0]);
    assert_eq!(found["n"], serde_json::json!([2, 2]));
    let value = found["ratio"]["value"].as_f64().unwrap();
    assert!((value - 0.75).abs() < 0.02, "the second cycle began anew: {found}");
}

#[test]
fn the_forecast_is_the_article_s() {
    let user = User::new();
    let line = ["study", "torture", "sim:x25-e", "--full", "--dry-run"];
    let said = user.types_with(&line, &[("COLUMNS", "160")]).fine().out;
    assert!(said.contains("# 11,275 GiB of data writes"), "{said}");
    assert!(said.contains("2 batteries of 77 cells, 10 repetitions each"), "{said}");
}

#[test]
fn all_of_the_article_is_told_beside_its_drive() {
    let user = User::new();
    let target = "sim:x25-e,capacity=256MiB";
    let line = ["study", "torture", target, "--seed", "7", "--json"];
    let said_all = user.types(&line);
    assert!(matches!(said_all.status, Some(0 | 1)), "{}", said_all.err);
    let json = said_all.json();
    let tables = json["findings"]["tables"].as_array().unwrap();
    let beside = tables.iter().find(|it| it["title"].as_str().unwrap().contains("X25-E")).unwrap();
    let rows = beside["rows"].as_array().unwrap();
    assert_eq!(rows.len(), 77, "names too, by the model of a file system");
    let words: Vec<&str> = rows.iter().map(|row| row[4].as_str().unwrap()).collect();
    assert!(words.iter().all(|word| word.is_empty()), "a smaller drive is another: {words:?}");
    assert!(beside["note"].as_str().unwrap().contains("changed by capacity=256MiB"), "{beside}");
    assert!(!json["findings"]["verdict"].to_string().contains("published"));
    let gains = rows.iter().filter(|row| row[1].as_str().unwrap().starts_with('+')).count();
    assert_eq!(gains, 5, "random reads of 32 and 64 KiB, and stat by 1, 2 and 4 workers");
    let warnings = json["warnings"].to_string();
    assert!(warnings.contains("names_are_modelled"), "{warnings}");
    let missing = json["findings"]["not_applicable"].as_array().map_or(0, Vec::len);
    assert_eq!(missing, 0, "{}", json["findings"]["not_applicable"]);
    assert_eq!(json["findings"].get("suspect"), None, "{}", json["findings"]["suspect"]);
}

#[test]
fn a_directory_is_tortured_within_its_budget() {
    let user = User::new();
    let line = ["study", "torture", ".", "--quick", "--size", "256MiB", "--seed", "3", "--json"];
    let found = user.types(&line);
    assert!(matches!(found.status, Some(0 | 1 | 4)), "{}", found.err);
    let json = found.json();
    let torture = |word: &str| -> u64 {
        let steps = json["steps"].as_array().unwrap().iter();
        let mine = steps.filter(|step| step["role"] == "torture");
        mine.map(|step| step["streams"][0][word]["bytes"].as_u64().unwrap_or(0)).sum()
    };
    assert!(torture("write") > 300 << 20 && torture("write") == torture("read"));
    assert_eq!(json["findings"]["comparison"]["cells"].as_array().unwrap().len(), 8);
    assert_eq!(user.listing(), [""; 0], "scratch was left behind");
    let unknown = said(&json, "unknown");
    assert!(unknown.contains("a real drive does not report"), "{unknown}");
}

#[test]
fn nonsense_is_refused_in_one_sentence() {
    let user = User::new();
    let small = "sim:textbook,capacity=512MiB";
    for (line, says) in [
        (&["study", "torture", small, "--legs", "fire"][..], "`fire` is not a recovery"),
        (&["study", "torture", ".", "--size", "1GiB", "--legs", "trim"], "needs a whole drive"),
        (&["study", "torture", small, "--legs", "purge"], "--purge nvme-format"),
        (&["study", "torture", small, "--cycles", "0"], "--cycles"),
        (&["study", "wsat", small, "--cycles", "2"], "--cycles is for the study `torture`"),
        (&["study", "torture", small, "--budget", "100MiB"], "leave `torture` no room"),
        (&["study", "torture", "sim:textbook,fragmentation=2"], "at most 0.95"),
        (&["study", "torture", "sim:textbook,fragmentation=x"], "is not a number"),
    ] {
        user.types(line).refused(2, says);
    }
}

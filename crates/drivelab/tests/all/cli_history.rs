//! What is kept of runs: tags, pruning, the history of a drive, intervals and histograms as CSV.

use crate::cli_user::User;
use std::collections::BTreeMap;

const LOAD: [&str; 8] = ["--rw", "randread", "--bs", "4k", "--runtime", "300ms", "--repeat", "3"];

fn runs(user: &User, target: &str, options: &[&str]) {
    let line = [&["run", target][..], &LOAD, options].concat();
    user.types(&line).fine();
}

/// The rows of a CSV without quotes, as maps from column to value.
fn rows(text: &str) -> Vec<BTreeMap<String, String>> {
    let mut lines = text.split_terminator("\r\n");
    let heads: Vec<String> = lines.next().unwrap().split(',').map(String::from).collect();
    lines
        .map(|line| heads.iter().cloned().zip(line.split(',').map(String::from)).collect())
        .collect()
}

#[test]
fn a_planted_change_of_a_drive_is_dated_and_a_level_history_is_level() {
    let user = User::new();
    // Chips that read more slowly from the fifth run on; the target is the same as typed.
    let profile = concat!(env!("CARGO_MANIFEST_DIR"), "/../../profiles/textbook.toml");
    let profile = std::fs::read_to_string(profile).unwrap();
    for run in 1..=8 {
        let read_ns = if run > 4 { "60_000" } else { "50_000" };
        assert!(profile.contains("read_ns = { value = 50_000"));
        let changed = profile.replacen(
            "read_ns = { value = 50_000",
            &format!("read_ns = {{ value = {read_ns}"),
            1,
        );
        user.write("mine.toml", changed);
        let (seed, tag) = (run.to_string(), format!("number {run}"));
        runs(&user, "sim:./mine.toml,state=filled", &["--seed", &seed, "--tag", &tag]);
    }
    let history = user.types(&["history", "sim:./mine.toml,state=filled", "--json"]).fine().json();
    let lines = history["history"]["lines"].as_array().unwrap();
    let iops = lines.iter().find(|line| line["metric"] == "iops").unwrap();
    assert_eq!(iops["points"].as_array().unwrap().len(), 8);
    let changes = iops["changes"].as_array().unwrap();
    assert_eq!(changes.len(), 1, "{iops}");
    assert_eq!(changes[0]["at"], 4);
    let ratio = changes[0]["after"].as_f64().unwrap() / changes[0]["before"].as_f64().unwrap();
    assert!((0.80..0.95).contains(&ratio), "{ratio}");
    let shown = user.types(&["history", "sim:./mine.toml,state=filled"]).fine().out;
    assert!(shown.contains("\"number 5\"") && shown.contains("IOPS of randread"), "{shown}");
    assert!(shown.lines().all(|line| line.chars().count() <= 100), "{shown}");
    let drives = user.types(&["history", "--json"]).fine().json();
    assert_eq!(
        (&drives["drives"][0]["drive"], &drives["drives"][0]["runs"]),
        (&"sim:./mine.toml,state=filled".into(), &8.into())
    );
    user.types(&["history", "S123"]).refused(2, "no run is kept here of a drive `S123`");
}

#[test]
fn the_runs_of_a_tag_are_one_side_of_a_comparison() {
    let user = User::new();
    let one = |tag: &str, spare: &str, seed: u32| {
        let target = format!("sim:textbook,state=filled,read_ns={spare}");
        runs(&user, &target, &["--seed", &seed.to_string(), "--tag", tag]);
    };
    for seed in 1..=5 {
        one("firmware A", "50_000", seed);
        one("firmware B", "80_000", seed);
    }
    let said = user.types(&["compare", "firmware A", "firmware B", "--json"]).status(1).json();
    let cell = &said["cells"][0];
    assert_eq!(cell["n"], serde_json::json!([5, 5]), "each run of a tag is one value: {cell}");
    assert!(cell["ratio"]["value"].as_f64().unwrap() < 0.95, "{cell}");
    user.types(&["report", "firmware A"]).refused(2, "5 runs have the tag `firmware A`");
    let shown = user.types(&["history", "sim:textbook,state=filled,read_ns=50_000"]).fine().out;
    assert!(shown.contains("Tag      firmware A: 5 runs, "), "{shown}");
}

#[test]
fn pruning_leaves_what_has_a_tag_and_the_latest() {
    let user = User::new();
    for tag in [None, Some("before firmware 5B2Q"), None, None] {
        let options: Vec<&str> = tag.map_or(vec![], |tag| vec!["--tag", tag]);
        runs(&user, "sim:textbook,state=filled", &options);
    }
    let ids = |user: &User| -> Vec<String> {
        let json = user.types(&["runs", "--json"]).fine().json();
        let runs = json["runs"].as_array().unwrap();
        runs.iter().map(|run| run["run"].as_str().unwrap().to_string()).collect()
    };
    let before = ids(&user);
    let tagged = user.types(&["runs", "--tag", "5B2Q", "--json"]).fine().json();
    assert_eq!(tagged["runs"].as_array().unwrap().len(), 1);
    assert_eq!(tagged["runs"][0]["tag"], "before firmware 5B2Q");
    let kept = tagged["runs"][0]["run"].as_str().unwrap().to_string();
    let last = user.types(&["report", "last", "--json"]).fine().json()["run"]
        .as_str()
        .unwrap()
        .to_string();
    user.types(&["runs", "prune"]).refused(2, "needs to know what to keep");
    let dry = user.types(&["runs", "prune", "--max", "1k", "--dry-run"]).fine().out;
    assert!(dry.contains("2 of 4 runs would be removed"), "{dry}");
    assert_eq!(ids(&user), before);
    assert!(
        user.types(&["runs", "prune", "--keep", "1d"]).fine().out.contains("0 of 4 runs removed")
    );
    let gone = user.types(&["runs", "prune", "--max", "1k", "--json"]).fine().json();
    assert_eq!((&gone["runs_left"], gone["removed"].as_array().unwrap().len()), (&2.into(), 2));
    let mut stay = vec![kept, last];
    stay.sort();
    let mut left = ids(&user);
    left.sort();
    assert_eq!(left, stay);
}

#[test]
fn intervals_and_histograms_add_up_to_the_summary() {
    let user = User::new();
    runs(&user, "sim:textbook,state=filled", &["--seed", "3"]);
    let list = user.types(&["history"]).fine().out;
    assert!(list.contains("  ·  1 run, 20") && !list.contains(" to 20"), "{list}");
    let json = user.types(&["report", "last", "--json"]).fine().json();
    user.types(&["report", "last", "--series", "s.csv", "--histograms", "h.csv"]).fine();
    let series = rows(&std::fs::read_to_string(user.work().join("s.csv")).unwrap());
    let buckets = rows(&std::fs::read_to_string(user.work().join("h.csv")).unwrap());
    for step in json["steps"].as_array().unwrap() {
        let number = step["step"].to_string();
        let of = |row: &&BTreeMap<String, String>| row["step"] == number;
        for kind in ["read", "write"] {
            let Some(found) = step["streams"][0].get(kind) else { continue };
            let sum = |rows: &[BTreeMap<String, String>], column: &str, latency: Option<&str>| {
                let picked = rows.iter().filter(of).filter(|row| row["kind"] == kind);
                let picked = picked.filter(|row| latency.is_none_or(|one| row["latency"] == one));
                let picked = picked.filter(|row| row.get("ramp").is_none_or(|ramp| ramp == "0"));
                picked.map(|row| row[column].parse::<f64>().unwrap()).sum::<f64>()
            };
            let ops = found["ops"].as_f64().unwrap();
            assert!((sum(&series, "operations", None) - ops).abs() < 1e-6 * ops);
            assert_eq!(sum(&buckets, "count", Some("service")), ops);
        }
    }
    let p99 = json["cells"][0]["streams"][0]["read"]["service_ns"]["max"].as_u64();
    let largest = series.iter().filter_map(|row| row["service_max_ns"].parse::<u64>().ok()).max();
    assert!(p99.is_none() || largest >= p99);
}

/// Figures of files are not those of the drive below them, and a run that was killed has none.
#[test]
fn what_lies_on_one_drive_is_kept_apart_and_a_killed_run_is_left_out() {
    let user = User::new();
    for _ in 0..3 {
        runs(&user, "file.bin", &["--size", "4m"]);
    }
    let last = user.types(&["report", "last", "--json"]).fine().json();
    let last = user.runs().join(format!("{}.jsonl", last["run"].as_str().unwrap()));
    let text = std::fs::read_to_string(&last).unwrap();
    let (rest, end) = text.trim_end().rsplit_once('\n').unwrap();
    assert!(end.contains("\"record\":\"end\""), "{end}");
    std::fs::write(&last, format!("{rest}\n")).unwrap();
    let shown = user.types(&["history", "file.bin", "--json"]).fine().json();
    let history = &shown["history"];
    assert_eq!((&history["runs"], &history["incomplete"]), (&2.into(), &1.into()), "{history}");
    let on = history["lines"][0]["on"].as_str().unwrap();
    assert!(on.starts_with("files on ") && on.contains(" at /"), "{on}");
    let text = user.types(&["history", "file.bin"]).fine().out;
    assert!(text.contains("run, files on "), "{text}");
    let text = text.split_whitespace().collect::<Vec<_>>().join(" ");
    assert!(text.contains("1 run that did not come to its end was left out."), "{text}");
}

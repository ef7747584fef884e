//! What others can read while a run lasts: `--feed` and `--openmetrics`.

use crate::cli_user::User;
use serde_json::Value;
use std::time::Duration;

const DRIVE: &str = "sim:textbook,capacity=256MiB,state=filled";
const LOAD: [&str; 8] = ["--rw", "randrw", "--mix", "70:30", "--depth", "8", "--workers", "2"];

fn lines(text: &str) -> Vec<Value> {
    text.lines().map(|line| serde_json::from_str(line).expect(line)).collect()
}

fn sum(lines: &[Value], kind: &str, what: &str) -> u64 {
    lines.iter().filter_map(|line| line[kind][what].as_u64()).sum()
}

#[test]
fn a_feed_adds_up_to_the_result_and_is_what_its_schema_says() {
    let user = User::new();
    let rest = ["--runtime", "1s", "--interval", "100ms", "--seed", "7", "--feed", "f.jsonl"];
    let line = [&["run", DRIVE][..], &LOAD, &rest, &["--repeat", "2", "--json"]].concat();
    let result = user.types(&line).fine().json();
    let lines = lines(&std::fs::read_to_string(user.work().join("f.jsonl")).unwrap());
    assert!((20..=22).contains(&lines.len()), "{}", lines.len());
    let schema = user.types(&["schema", "feed"]).fine().json();
    let validator = jsonschema::draft202012::new(&schema).unwrap();
    for line in &lines {
        assert!(validator.is_valid(line), "{line}");
        assert_eq!(line["run"], result["run"]);
    }
    assert!(!validator.is_valid(&serde_json::json!({ "schema": 1, "run": 7 })));
    for kind in ["read", "write"] {
        for what in ["ops", "bytes"] {
            let of_result = &result["cells"][0]["streams"][0][kind][what];
            assert_eq!(sum(&lines, kind, what), of_result.as_u64().unwrap(), "{kind} {what}");
        }
    }
    let whole: Vec<&Value> = lines.iter().filter(|line| line["partial"] == false).collect();
    assert!(whole.len() >= 18, "{}", whole.len());
    for line in whole {
        assert_eq!(line["workers"], 2);
        let (ops, rate) = (&line["read"]["ops"], &line["read"]["ops_per_s"]);
        let ratio = rate.as_f64().unwrap() / (10.0 * ops.as_f64().unwrap());
        assert!((0.99..=1.01).contains(&ratio), "{line}");
    }
    let again = user.types(&line).fine().json();
    let text = std::fs::read_to_string(user.work().join("f.jsonl")).unwrap();
    assert!(text.contains(again["run"].as_str().unwrap()), "our own feed is replaced");
    assert!(!text.contains(result["run"].as_str().unwrap()));
}

#[test]
fn a_feed_on_stdout_is_all_that_stands_there() {
    let user = User::new();
    let line = [&["run", DRIVE][..], &LOAD, &["--runtime", "1s", "--feed", "-"]].concat();
    let said = user.types(&line).fine();
    assert!(!lines(&said.out).is_empty());
    assert!(said.err.contains("IOPS") && said.err.contains("Run "), "{}", said.err);
    let both = [&line[..], &["--json"]].concat();
    user.types(&both).refused(2, "--feed - and --json both print JSON on stdout");
    let check = ["check", DRIVE, "--time", "10s", "--feed", "-"];
    assert!(lines(&user.types(&check).out).len() > 10);
    let study = ["study", "wsat", "sim:textbook,capacity=64MiB", "--quick", "--feed", "-"];
    assert!(lines(&user.types(&study).out).len() > 10);
    let several = ["study", "rank", DRIVE, "sim:x25-m", "--feed", "-"];
    user.types(&several).refused(2, "for a study of one target");
}

/// What the text must be by OpenMetrics 1.0, as far as it is used here.
fn is_open_metrics(text: &str) {
    assert!(text.ends_with("\n# EOF\n"), "{text}");
    let (mut family, mut is_counter) = (String::new(), false);
    let mut seen = std::collections::BTreeSet::new();
    for line in text.lines().take_while(|line| *line != "# EOF") {
        if let Some(rest) = line.strip_prefix("# TYPE ") {
            let (name, kind) = rest.split_once(' ').unwrap();
            assert!(matches!(kind, "gauge" | "counter"), "{line}");
            assert!(seen.insert(name.to_owned()), "a family is told twice: {line}");
            (family, is_counter) = (name.to_owned(), kind == "counter");
        } else if let Some(rest) = line.strip_prefix("# UNIT ") {
            let (name, unit) = rest.split_once(' ').unwrap();
            assert!(name == family && name.ends_with(&format!("_{unit}")), "{line}");
        } else if let Some(rest) = line.strip_prefix("# HELP ") {
            assert!(rest.starts_with(&format!("{family} ")), "{line}");
        } else {
            let (name, rest) = line.split_once('{').unwrap();
            let suffix = if is_counter { "_total" } else { "" };
            assert_eq!(name, format!("{family}{suffix}"), "{line}");
            let (_, value) = rest.rsplit_once("} ").unwrap();
            assert!(value.parse::<f64>().unwrap().is_finite(), "{line}");
        }
    }
    assert!(seen.len() >= 10, "{seen:?}");
}

#[test]
fn metrics_are_there_while_it_runs_and_replaced_only_where_they_are_ours() {
    let user = User::new();
    let path = user.work().join("drivelab.prom");
    let load = ["--rw", "randread", "--size", "16MiB", "--runtime", "3s", "--interval", "200ms"];
    let line = [&["run", "."][..], &load, &["--openmetrics", "drivelab.prom"]].concat();
    let mut child = user.starts(&line);
    let mut running = String::new();
    while child.try_wait().unwrap().is_none() {
        // A file that is replaced is there whole, at every moment.
        if let Ok(text) = std::fs::read_to_string(&path) {
            is_open_metrics(&text);
            if text.contains("drivelab_operations_per_second{") {
                running = text;
            }
        }
        std::thread::sleep(Duration::from_millis(5));
    }
    assert!(running.contains("drivelab_service_p99_seconds{"), "{running}");
    let text = std::fs::read_to_string(&path).unwrap();
    is_open_metrics(&text);
    let ended = |text: &str| {
        text.lines().any(|it| it.starts_with("drivelab_running{") && it.ends_with(" 0"))
    };
    assert!(ended(&text) && !ended(&running), "{text}");
    assert_eq!(user.listing(), ["drivelab.prom"], "no file is left beside it");
    let line = ["run", DRIVE, "--rw", "randread", "--openmetrics", "drivelab.prom"];
    let line = [&line[..], &["--runtime", "1s"]].concat();
    user.types(&line).fine();
    user.write("drivelab.prom", text.replace("drivelab_running", "my_own"));
    user.types(&line).refused(3, "is not an unchanged file of metrics of drivelab");
    assert!(std::fs::read_to_string(&path).unwrap().contains("my_own"));
    user.write("notes", "mine");
    let feed = ["run", DRIVE, "--rw", "randread", "--runtime", "1s", "--feed", "notes"];
    user.types(&feed).refused(3, "is not an unchanged feed of drivelab");
}

#[test]
fn names_in_labels_cannot_break_the_text() {
    let user = User::new();
    user.write(
        "a\"b.toml",
        std::fs::read(concat!(env!("CARGO_MANIFEST_DIR"), "/../../profiles/textbook.toml"))
            .unwrap(),
    );
    let line = ["run", "sim:./a\"b.toml,state=filled", "--rw", "randread", "--runtime", "1s"];
    user.types(&[&line[..], &["--openmetrics", "m.prom"]].concat()).fine();
    let text = std::fs::read_to_string(user.work().join("m.prom")).unwrap();
    is_open_metrics(&text);
    assert!(text.contains("sim:./a\\\"b.toml"), "{text}");
}

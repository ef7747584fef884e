//! One p99 for one cell: whatever prints it, it is that of all I/Os of its valid repetitions.

use crate::cli_user::User;
use std::collections::BTreeMap;

const DRIVE: &str = "sim:x25-e,capacity=1GiB,state=filled";

/// Lines of a check, and whose p99 they show.
const ROWS: [(&str, &str, &str); 9] = [
    ("SEQ1M  Q8T1", "sequential read 1 MiB", "read"),
    ("SEQ1M  Q8T1", "sequential write 1 MiB", "write"),
    ("RND4K  Q32T1", "random read", "read"),
    ("RND4K  Q32T1", "random write", "write"),
    ("RND4K  Q1T1", "random read qd1", "read"),
    ("RND4K  Q1T1", "random write qd1", "write"),
    ("70/30  Q32T1", "mix 70/30", "read"),
    ("70/30  Q32T1", "mix 70/30", "write"),
    ("4K and fsync", "fsync", "flush"),
];

/// A time as all reports spell it.
fn spelt(ns: f64) -> String {
    let (value, unit) = match ns {
        ns if ns >= 1e9 => (ns / 1e9, "s"),
        ns if ns >= 1e6 => (ns / 1e6, "ms"),
        ns if ns >= 1e3 => (ns / 1e3, "µs"),
        ns => (ns, "ns"),
    };
    let places = match value {
        value if value >= 100.0 => 0,
        value if value >= 10.0 => 1,
        _ => 2,
    };
    format!("{value:.places$} {unit}")
}

/// What the histograms of the repetitions say: the I/Os of all of them in one.
fn of_histograms(text: &str, cell: &str, kind: &str) -> u64 {
    let mut buckets: BTreeMap<u64, u64> = BTreeMap::new();
    let mut lines = text.split_terminator("\r\n");
    let heads: Vec<&str> = lines.next().unwrap().split(',').collect();
    let column = |name: &str| heads.iter().position(|head| *head == name).unwrap();
    for line in lines {
        let words: Vec<&str> = line.split(',').collect();
        let is_asked = words[column("cell")] == cell && words[column("kind")] == kind;
        if is_asked && words[column("latency")] == "service" {
            *buckets.entry(words[column("high_ns")].parse().unwrap()).or_default() +=
                words[column("count")].parse::<u64>().unwrap();
        }
    }
    let all: u64 = buckets.values().sum();
    let mut below = 0;
    let found = buckets.iter().find(|(_, count)| {
        below += **count;
        below as f64 >= 0.99 * all as f64
    });
    *found.unwrap().0
}

#[test]
fn every_output_of_a_cell_has_the_same_p99() {
    let user = User::new();
    let load = ["--rw", "randrw", "--mix", "70:30", "--depth", "8", "--runtime", "2s"];
    user.types(&[&["run", DRIVE][..], &load, &["--repeat", "5", "--seed", "7"]].concat()).fine();
    let files =
        ["--csv", "c.csv", "--markdown", "m.md", "--histograms", "h.csv", "--out", "p.html"];
    let json = user.types(&[&["report", "last", "--json"][..], &files].concat()).fine().json();
    let read = |name: &str| std::fs::read_to_string(user.work().join(name)).unwrap();
    let cell = json["cells"][0]["name"].as_str().unwrap();
    let csv = read("c.csv");
    let mut rows = csv.split_terminator("\r\n").map(|line| line.split(',').collect::<Vec<_>>());
    let heads = rows.next().unwrap();
    let column = |name: &str| heads.iter().position(|head| *head == name).unwrap();
    let rows: Vec<Vec<&str>> = rows.collect();
    let each = json["steps"].as_array().unwrap();
    for kind in ["read", "write"] {
        let of_cell = &json["cells"][0]["streams"][0][kind];
        let p99 = of_cell["service_ns"]["p99"]["value"].as_f64().unwrap();
        let repetitions: Vec<f64> = each
            .iter()
            .map(|step| step["streams"][0][kind]["service_ns"]["p99"].as_f64().unwrap())
            .collect();
        let mean = repetitions.iter().sum::<f64>() / repetitions.len() as f64;
        println!("{kind}: {p99}, repetitions {repetitions:?}, their mean {mean}");
        assert_eq!(of_cell["merged"]["service_ns"]["p99"].as_f64(), Some(p99), "{kind}");
        assert_eq!(of_histograms(&read("h.csv"), cell, kind) as f64, p99, "{kind}, histograms");
        let row = rows.iter().find(|row| row[column("kind")] == kind).unwrap();
        let in_csv: Vec<(&str, f64)> = heads
            .iter()
            .zip(row)
            .filter(|(head, _)| head.starts_with("service") && head.ends_with("p99_ns"))
            .map(|(head, value)| (*head, value.parse().unwrap()))
            .collect();
        assert!(!in_csv.is_empty() && in_csv.iter().all(|(_, it)| *it == p99), "{in_csv:?}");
        let word = spelt(p99);
        for name in ["m.md", "p.html"] {
            assert!(read(name).contains(&word), "{name} has no p99 {word} of {kind}");
        }
    }
    let iops = user.types(&["compare", "last", "last", "--metric", "p99", "--json"]).json();
    assert!(iops["cells"].as_array().unwrap().iter().all(|cell| cell["ratio"]["value"] == 1.0));
}

/// `check` prints one p99 a line; it is that of the JSON, of the page and of the Markdown.
#[test]
fn the_lines_of_check_have_the_p99_of_its_json() {
    let user = User::new();
    let text = user.types(&["check", DRIVE, "--time", "30s", "--seed", "7", "--out", "p.html"]).out;
    let json = user.types(&["report", "last", "--json", "--markdown", "m.md"]).json();
    let read = |name: &str| std::fs::read_to_string(user.work().join(name)).unwrap();
    let (page, markdown) = (read("p.html"), read("m.md"));
    let cells = json["cells"].as_array().unwrap();
    let mut held = 0;
    for (label, name, kind) in ROWS {
        let line = text.lines().find(|line| line.trim_start().starts_with(label));
        let line = line.unwrap_or_else(|| panic!("no {label} in {text}"));
        let cell = cells.iter().find(|cell| cell["name"] == name).unwrap();
        // A durable write lasts until its flush is over.
        let latency = if kind == "flush" { "commit_ns" } else { "service_ns" };
        let Some(p99) = cell["streams"][0][kind][latency]["p99"]["value"].as_f64() else {
            assert!(line.contains("too few"), "{name}: {line}");
            continue;
        };
        let shown = spelt(p99);
        assert!(line.contains(&shown), "{name}: {shown} is not in {line}");
        assert!(page.contains(&shown) && markdown.contains(&shown), "{name}: {shown}");
        held += 1;
    }
    assert!(held >= 5, "{held} lines: {text}");
}

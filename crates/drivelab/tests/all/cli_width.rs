//! What is printed fits a terminal of 80, 100 and 131 columns, and no word is cut in two.

use crate::cli_user::User;
use std::collections::HashSet;

/// Widths that people have, the last one of an old printer.
const WIDTHS: [&str; 3] = ["80", "100", "131"];
/// The widest that tables are set: the words there are whole.
const WIDEST: &str = "160";
/// A table that a narrow terminal cannot hold is set as a list.
const LIST_MARKS: [&str; 2] = ["-", "·"];

const STUDIES: [&str; 20] = [
    "aa",
    "wsat",
    "trim",
    "rank",
    "patterns",
    "mix",
    "under",
    "steady",
    "fs",
    "stride",
    "stutter",
    "apps",
    "modes",
    "endurance",
    "files",
    "ior",
    "meta",
    "torture",
    "anatomy",
    "tune",
];

/// What a line of the program prints at a width, on stdout and stderr.
fn at(user: &User, line: &[&str], columns: &str, locale: &str) -> String {
    let said = user.types_with(line, &[("COLUMNS", columns), ("LC_ALL", locale)]);
    assert!(matches!(said.status, Some(0..=4)), "{}: {:?} {}", said.line, said.status, said.err);
    assert!(!said.err.contains("panicked"), "{}: {}", said.line, said.err);
    format!("{}{}", said.out, said.err)
}

fn words(text: &str) -> HashSet<&str> {
    text.split_whitespace().collect()
}

/// Prints a line that says the same each time at all widths.
#[track_caller]
fn fits(user: &User, line: &[&str]) {
    let wide = at(user, line, WIDEST, "C.UTF-8");
    let whole = words(&wide);
    assert!(!whole.is_empty(), "{line:?} prints nothing");
    for columns in WIDTHS {
        let limit: usize = columns.parse().unwrap();
        let text = at(user, line, columns, "C.UTF-8");
        for printed in text.lines() {
            let width = printed.chars().count();
            assert!(width <= limit, "{line:?} at {columns}, {width} wide:\n{printed}\n{text}");
        }
        // A drawing has another scale where it has less room.
        let is_drawn = |word: &str| word.chars().all(|c| "├─●┤┊◂▸".contains(c));
        let is_cut = |word: &&&str| !LIST_MARKS.contains(*word) && !is_drawn(word);
        let cut: Vec<&str> = words(&text).difference(&whole).filter(is_cut).copied().collect();
        assert!(cut.is_empty(), "{line:?} at {columns}: cut in two: {cut:?}\n{text}\n{wide}");
    }
    let plain = at(user, line, "80", "C");
    assert!(plain.is_ascii(), "{line:?} under LC_ALL=C: {plain}");
}

#[test]
fn help_fits_every_terminal() {
    let user = User::new();
    fits(&user, &["help"]);
    for command in [
        "check",
        "doctor",
        "accept",
        "study",
        "resume",
        "run",
        "compare",
        "report",
        "runs",
        "history",
        "list",
        "watch",
        "sim",
        "schema",
        "completions",
        "man",
    ] {
        fits(&user, &["help", command]);
    }
    for command in ["list", "show", "sweep"] {
        fits(&user, &["help", "sim", command]);
    }
    for study in STUDIES {
        fits(&user, &["study", study, "--help"]);
    }
    for [tool, asks] in [
        ["fio", "--help"],
        ["iozone", "-h"],
        ["ior", "-h"],
        ["mdtest", "-h"],
        ["metarates", "-h"],
        ["iostat", "--help"],
        ["iometer", "--help"],
    ] {
        fits(&user, &[tool, asks]);
    }
}

/// What a program reads is not set for a screen.
#[test]
fn metrics_of_health_have_a_line_each() {
    let user = User::new();
    let metrics = at(&user, &["health", "--openmetrics"], "80", "C.UTF-8");
    assert!(metrics.ends_with("# EOF\n"), "{metrics}");
    let begins = ["# TYPE ", "# UNIT ", "# HELP ", "# EOF", "drivelab_drive_"];
    let is_whole = |line: &str| begins.iter().any(|begin| line.starts_with(begin));
    assert!(metrics.lines().all(is_whole), "{metrics}");
}

#[test]
fn refusals_and_lists_fit_every_terminal() {
    let user = User::new();
    let lines: [&[&str]; 15] = [
        &["check", "nowhere/at/all"],
        &["check", ".", "--for", "gaming"],
        &["check", "--depth=3"],
        &["run", "sim:nothing", "--rw", "read"],
        &["run", ".", "--rw", "sideways"],
        &["run", "sim:textbook", "--rw", "read", "--bs", "0"],
        &["study", "nothing", "."],
        &["study", "wsat", "sim:textbook,capacity=7"],
        &["compare", "a", "b"],
        &["report", "nothing"],
        &["runs"],
        &["health"],
        &["sim", "list"],
        &["sim", "show", "textbook"],
        &["study", "wsat", "sim:textbook", "--dry-run", "--seed", "5"],
    ];
    for line in lines {
        fits(&user, line);
    }
}

#[test]
fn results_fit_every_terminal() {
    let user = User::new();
    let small = "sim:textbook,capacity=256MiB";
    let mut lines: Vec<Vec<&str>> = vec![
        vec!["check", small],
        vec!["check", "sim:x25-m"],
        vec!["run", small, "--rw", "randread", "--bs", "4k", "--runtime", "5"],
        vec!["run", small, "--rw", "randrw", "--bs", "4k", "--depth", "8", "--runtime", "5"],
    ];
    for study in ["aa", "wsat", "trim", "mix", "under", "stride", "stutter", "anatomy", "torture"] {
        lines.push(vec!["study", study, small, "--quick"]);
    }
    lines.push(vec![
        "study",
        "rank",
        small,
        "sim:textbook,capacity=256MiB,read_ns=90000",
        "--quick",
    ]);
    let mut runs = Vec::new();
    for line in &lines {
        let seeded = [&line[..], &["--seed", "5"]].concat();
        at(&user, &seeded, "80", "C.UTF-8");
        let run = user.last_run();
        runs.push(run.file_stem().unwrap().to_str().unwrap().to_owned());
    }
    for run in &runs {
        fits(&user, &["runs", run]);
    }
    fits(&user, &["runs"]);
    fits(&user, &["history", small]);
    fits(&user, &["compare", &runs[2], &runs[2]]);
}

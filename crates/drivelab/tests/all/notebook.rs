//! docs/NOTEBOOK.md is run as it stands, and `--openmetrics` read by Prometheus' own parser, by the
//! Python that `scripts/install-test-needs` sets up.

use crate::cli_user::User;
use crate::support::neighbours::not_judged;
use std::path::Path;
use std::process::{Command, Output};

/// Where the script installs it: next to the directory that cargo gives to tests.
const PYTHON: &str = concat!(env!("CARGO_TARGET_TMPDIR"), "/../notebook/bin/python3");
const PAGE: &str = concat!(env!("CARGO_MANIFEST_DIR"), "/../../docs/NOTEBOOK.md");

fn is_there(test: &str) -> bool {
    let is_there = Path::new(PYTHON).exists();
    if !is_there {
        not_judged(test, "pandas and duckdb are not installed: scripts/install-test-needs");
    }
    is_there
}

fn runs(user: &User, program: &str) -> Output {
    user.write("program.py", program);
    let mut python = Command::new(PYTHON);
    python.arg("program.py").current_dir(user.work()).env("PYTHONUTF8", "1");
    python.env("HOME", user.work()).output().unwrap()
}

fn told(output: &Output) -> String {
    let text = |bytes: &[u8]| String::from_utf8_lossy(bytes).into_owned();
    format!("{}\n{}", text(&output.stdout), text(&output.stderr))
}

/// The blocks of the page that are fenced with this word.
fn blocks(page: &str, word: &str) -> Vec<String> {
    let fence = format!("```{word}\n");
    let block = |rest: &str| rest.split("\n```").next().unwrap().to_owned() + "\n";
    page.split(&fence).skip(1).map(block).collect()
}

#[test]
fn the_notebook_page_runs_on_what_its_lines_make() {
    if !is_there("the_notebook_page_runs_on_what_its_lines_make") {
        return;
    }
    let page = std::fs::read_to_string(PAGE).unwrap();
    let user = User::new();
    let made = page.split("```\n").nth(1).unwrap();
    assert_eq!(made.lines().count(), 2, "{made}");
    for line in made.lines() {
        let (line, into) = line.split_once(" > ").map_or((line, None), |(a, b)| (a, Some(b)));
        let words: Vec<&str> = line.split_whitespace().skip(1).collect();
        let said = user.types(&words).fine();
        into.map(|name| user.write(name, said.out));
    }
    let python = blocks(&page, "python");
    assert!(python.len() >= 7, "{}", python.len());
    let begin = format!("RUN_FILE = {:?}\n", user.last_run());
    let program = begin + &python.concat();
    let output = runs(&user, &program);
    assert!(output.status.success(), "{}", told(&output));
    let text = told(&output);
    for piece in ["p99 of reads", "took less than 200 µs", "step_begin"] {
        assert!(text.contains(piece), "{piece}: {text}");
    }
    // The page's own checks are able to fail.
    let wrong = program.replace("0.99 * merged", "0.5 * merged");
    assert_ne!(wrong, program);
    assert!(told(&runs(&user, &wrong)).contains("AssertionError"));
}

#[test]
fn the_parser_of_prometheus_takes_the_metrics() {
    if !is_there("the_parser_of_prometheus_takes_the_metrics") {
        return;
    }
    let user = User::new();
    let drive = "sim:textbook,capacity=256MiB,state=filled";
    let load = ["--rw", "randrw", "--mix", "70:30", "--runtime", "1s"];
    user.types(&[&["run", drive][..], &load, &["--openmetrics", "m.prom"]].concat()).fine();
    let program = "\
from prometheus_client.openmetrics.parser import text_string_to_metric_families as strict
from prometheus_client.parser import text_string_to_metric_families as of_node_exporter
text = open('m.prom').read()
families = {family.name: family for family in strict(text)}
reads = [s for s in families['drivelab_operations'].samples if s.labels['kind'] == 'read']
print(families['drivelab_operations'].type, len(reads), reads[0].value > 0)
print(len(list(of_node_exporter(text))) > 5)
try:
    list(strict(text.replace('# EOF\\n', '')))
except ValueError:
    print('refused')
";
    let output = runs(&user, program);
    assert_eq!(told(&output).trim(), "counter 1 True\nTrue\nrefused");
}

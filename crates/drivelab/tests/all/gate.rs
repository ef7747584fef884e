//! The gate of docs/GATE.md: the very step of its workflow, on runs whose speed is planted.

use crate::cli_user::User;
use std::process::Command;

const WORKFLOW: &str = concat!(env!("CARGO_MANIFEST_DIR"), "/../../docs/gate/github.yml");
const PROFILE: &str = concat!(env!("CARGO_MANIFEST_DIR"), "/../../profiles/textbook.toml");

/// The lines of the step of this name.
fn step(name: &str) -> String {
    let text = std::fs::read_to_string(WORKFLOW).unwrap();
    let of = text.split(&format!("- name: {name}\n")).nth(1).unwrap();
    let lines = of.lines().skip_while(|line| !line.contains("run: |")).skip(1);
    let block = lines.take_while(|line| line.starts_with("          "));
    block.map(|line| line[10..].to_owned() + "\n").collect()
}

fn measures(user: &User, read_ns: &str, into: &str, repeat: &str) {
    let profile = std::fs::read_to_string(PROFILE).unwrap();
    let planted = profile.replacen(
        "read_ns = { value = 50_000",
        &format!("read_ns = {{ value = {read_ns}"),
        1,
    );
    user.write("mine.toml", planted);
    let line = ["run", "sim:./mine.toml,capacity=256MiB,state=filled", "--rw", "randread"];
    let rest =
        ["--bs", "4k", "--depth", "16", "--runtime", "300ms", "--repeat", repeat, "--runs", into];
    let seed = read_ns.replace('_', "");
    let said = user.types(&[&line[..], &rest, &["--seed", &seed]].concat());
    assert!(matches!(said.status, Some(0 | 4)), "{}", said.err);
}

/// Exit status, what the job says, its summary.
fn judged(after_ns: &str, repeat: &str) -> (Option<i32>, String, String) {
    let user = User::new();
    measures(&user, "50_000", "baseline", repeat);
    measures(&user, after_ns, "now", repeat);
    let summary = user.write("summary.md", "");
    let program = std::path::Path::new(env!("CARGO_BIN_EXE_drivelab")).parent().unwrap();
    let path = format!("{}:{}", program.display(), std::env::var("PATH").unwrap());
    let output = Command::new("bash")
        .args(["-e", "-c", &step("Compare")])
        .current_dir(user.work())
        .env("PATH", path)
        .env("GITHUB_STEP_SUMMARY", &summary)
        .env("XDG_DATA_HOME", user.work())
        .output()
        .unwrap();
    let errors = String::from_utf8_lossy(&output.stderr);
    let said = String::from_utf8(output.stdout).unwrap() + &errors;
    (output.status.code(), said, std::fs::read_to_string(summary).unwrap())
}

#[test]
fn a_drive_that_is_as_fast_passes() {
    let (status, said, summary) = judged("50_000", "6");
    assert_eq!((status, said.as_str()), (Some(0), ""), "{summary}");
    assert!(summary.starts_with("**Gate** "), "{summary}");
    assert!(summary.contains("passed: every cell is within 5 %"), "{summary}");
}

#[test]
fn a_slower_drive_fails_and_its_cell_is_named() {
    let (status, said, summary) = judged("70_000", "6");
    assert_eq!(status, Some(1), "{said} {summary}");
    assert!(said.starts_with("::error::"), "{said}");
    assert!(summary.contains("not passed: slower by more than 5 %"), "{summary}");
    assert!(summary.contains("| slower |"), "{summary}");
}

#[test]
fn where_it_cannot_tell_it_warns_and_passes() {
    let (status, said, summary) = judged("52_000", "1");
    assert_eq!(status, Some(0), "{said} {summary}");
    assert!(said.starts_with("::warning::cannot tell"), "{said}");
    assert!(summary.contains("cannot tell"), "{summary}");
}

#[test]
fn a_baseline_that_is_not_there_fails() {
    let user = User::new();
    measures(&user, "50_000", "now", "2");
    let line = ["compare", "--baseline", "none.jsonl", "--max-slowdown", "5%", "last"];
    user.types(&[&line[..], &["--runs", "now", "--markdown", "-"]].concat())
        .refused(2, "none.jsonl");
    let both = ["compare", "last", "last", "--runs", "now", "--markdown", "-", "--json"];
    user.types(&both).refused(2, "--markdown - and --json");
    user.write("mine.md", "mine");
    let theirs = ["compare", "last", "last", "--runs", "now", "--markdown", "mine.md"];
    user.types(&theirs).refused(3, "is not an unchanged Markdown of drivelab");
}

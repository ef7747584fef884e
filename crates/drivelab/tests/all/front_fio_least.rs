//! `rate_min`, `rate_iops_min` and `ratecycle`, here and in fio: who falls below, when, and what is
//! said of it.

use serde_json::Value;
use std::path::Path;
use std::process::{Command, Output};

const OURS: [&str; 3] = [env!("CARGO_BIN_EXE_drivelab"), "fio", "--notes=none"];
const THEIRS: [&str; 1] = ["fio"];
/// Requests to nothing, looked at after two seconds and then ten times a second.
const LOAD: &str = "--ioengine=null --size=1g --time_based --runtime=4 --ratecycle=100";

fn ran(program: &[&str], line: &str) -> Output {
    let home = tempfile::tempdir().unwrap();
    let mut command = Command::new(program[0]);
    command.args(&program[1..]).args(line.split(' ')).current_dir(home.path());
    in_home(&mut command, home.path()).output().unwrap()
}

fn in_home<'a>(command: &'a mut Command, home: &Path) -> &'a mut Command {
    command.env("XDG_DATA_HOME", home.join("home")).env_remove("DRIVELAB_NOTES")
}

fn text(bytes: &[u8]) -> String {
    String::from_utf8_lossy(bytes).into_owned()
}

/// What is printed, its status, and the error and the runtime of each job.
fn jobs(program: &[&str], line: &str) -> (Output, Vec<(u64, u64)>) {
    let output = ran(program, &format!("--output-format=json {line}"));
    let stdout = text(&output.stdout);
    // What fio says of a job that failed comes before its JSON.
    let begin = if program == &THEIRS[..] { stdout.find('{').unwrap() } else { 0 };
    let json: Value = serde_json::from_str(&stdout[begin..]).unwrap();
    let number = |value: &Value| value.as_u64().unwrap();
    let job = |job: &Value| (number(&job["error"]), number(&job["read"]["runtime"]));
    let jobs = json["jobs"].as_array().unwrap().iter().map(job).collect();
    (output, jobs)
}

/// Numbers that no two runs have in common.
fn without_numbers(text: &str) -> String {
    let mut is_counted = false;
    let mut plain = String::new();
    for letter in text.chars() {
        if !(is_counted && letter.is_ascii_digit()) {
            plain.push(if letter.is_ascii_digit() { '0' } else { letter });
        }
        is_counted = letter.is_ascii_digit();
    }
    plain.replace("file:backend.c:0", "file:drivelab:0")
}

#[test]
fn a_job_that_is_too_slow_fails_and_the_others_go_on() {
    let line = format!("{LOAD} --name=a --rate_min=1t --name=b");
    let mut said = Vec::new();
    for program in [&OURS[..], &THEIRS] {
        let (output, jobs) = jobs(program, &line);
        assert_eq!(output.status.code(), Some(1), "{program:?}");
        let [(5, short), (0, whole)] = jobs[..] else { panic!("{program:?}: {jobs:?}") };
        assert!((2050..2600).contains(&short), "{program:?}: {short} ms");
        assert!((3950..4400).contains(&whole), "{program:?}: {whole} ms");
        let stderr = text(&output.stderr);
        assert!(stderr.starts_with("a: rate_min=1099511627776B/s not met, got "), "{stderr}");
        let all = stderr + text(&output.stdout).split('{').next().unwrap_or_default();
        let lines = all.lines().filter(|line| !line.is_empty()).map(without_numbers);
        said.push(lines.collect::<Vec<_>>());
    }
    assert_eq!(said[0], said[1]);
}

#[test]
fn each_clone_and_each_direction_is_told() {
    let line = format!(
        "{LOAD} --name=a --rw=randrw --numjobs=2 --rate_iops_min=2000000000,1 --group_reporting"
    );
    for program in [&OURS[..], &THEIRS] {
        let output = ran(program, &line);
        let (stdout, stderr) = (text(&output.stdout), text(&output.stderr));
        assert_eq!(output.status.code(), Some(2), "{program:?}: {stderr}");
        let told = stderr.matches("a: rate_iops_min=2000000000 not met, got ").count();
        assert_eq!((told, stderr.matches("not met").count()), (2, 2), "{program:?}: {stderr}");
        assert_eq!(stderr.matches(" IOPS\n").count(), 2, "{program:?}: {stderr}");
        let failed = ", func=check_min_rate, error=Input/output error";
        assert_eq!(stdout.matches(failed).count(), 3, "{program:?}: {stdout}");
        let job = "a: (groupid=0, jobs=2): err= 5 (file:";
        assert!(stdout.contains(job), "{program:?}: {stdout}");
    }
}

#[test]
fn a_rate_that_is_kept_changes_nothing() {
    let slow = "--ioengine=null --size=1g --time_based --runtime=3 --ratecycle=200 --thinktime=1ms";
    for least in ["--rate_iops_min=10", "--ratemin=10k", "--rate_min=,1t", "--rate_min=0"] {
        let line = format!("{slow} --name=a {least}");
        let (output, jobs) = jobs(&OURS, &line);
        assert_eq!((output.status.code(), jobs[0].0), (Some(0), 0), "{least}");
        assert!((2950..3300).contains(&jobs[0].1), "{least}: {jobs:?}");
    }
    // An error of operations is none of a rate.
    let line = format!("{LOAD} --name=a --rate_min=1t --continue_on_error=all");
    for program in [&OURS[..], &THEIRS] {
        let stdout = text(&ran(program, &line).stdout);
        let errors = "     errors    : total=0, first_error=0/<Success>";
        let counts = program == &THEIRS[..] || stdout.contains("errors    :");
        assert!(!counts || stdout.contains(errors), "{program:?}: {stdout}");
    }
}

#[test]
fn what_fio_refuses_is_refused_in_its_words() {
    for (more, words) in [
        ("--rate_min=1m --rate_iops_min=1", "fio: rate and rate_iops are mutually exclusive"),
        ("--rate=1m --rate_min=2m", "fio: minimum rate exceeds rate, ddir 0"),
        ("--rate_iops=10 --rate_iops_min=20", "fio: minimum rate exceeds rate, ddir 0"),
    ] {
        for program in [&OURS[..], &THEIRS] {
            let output = ran(program, &format!("{LOAD} --name=a {more}"));
            let said = text(&output.stderr) + &text(&output.stdout);
            assert_eq!(output.status.code(), Some(1), "{program:?} {more}: {said}");
            assert!(said.contains(words), "{program:?} {more}: {said}");
        }
    }
    for (more, words) in [
        ("--rw=randrw --rate=8m", "of a mix with rate"),
        ("--exitall_on_error", "exitall_on_error with rate_min"),
        ("--rw=write --verify=crc32c", "with verify"),
        ("--ioengine=filecreate", "rate_min and rate_iops_min with ioengine=filecreate"),
    ] {
        let output = ran(&OURS, &format!("{LOAD} --name=a --rate_min=1m {more}"));
        let said = text(&output.stderr);
        assert_eq!(output.status.code(), Some(1), "{more}: {said}");
        assert!(said.contains(words), "{more}: {said}");
    }
}

#[test]
fn a_load_that_lost_workers_is_suspect() {
    let home = tempfile::tempdir().unwrap();
    let plan = r#"
        title = "least"
        [[steps]]
        name = "reads"
        until.elapsed = "3s"
        until.rate_min = { of = "bytes", read = 1000000000000000, every = "100ms" }
        [[steps.streams]]
        engine = "null"
        workers = WORKERS
    "#;
    for (workers, is_suspect) in [("2", true), ("1", false)] {
        std::fs::write(home.path().join("plan.toml"), plan.replace("WORKERS", workers)).unwrap();
        let output = Command::new(OURS[0])
            .args(["run", "plan.toml", "."])
            .current_dir(home.path())
            .env("XDG_DATA_HOME", home.path().join("home"))
            .output()
            .unwrap();
        // Lines are broken where the page ends.
        let said = text(&output.stdout);
        let said = said.split_whitespace().collect::<Vec<_>>().join(" ");
        assert!(said.contains("worker 0 of `reads` was ended early by `rate_min`"), "{said}");
        assert!(said.contains("reads at ") && said.contains(" of 1000 TB/s"), "{said}");
        assert_eq!(said.contains("`rate_min` ended 2 of 2 workers"), is_suspect, "{said}");
    }
}

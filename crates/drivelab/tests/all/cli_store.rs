//! Run files: found again, readable whatever happened, and never the reason to lose a result.

use crate::cli_user::{Said, User};
use rustix::process::{Pid, Signal, kill_process};
use std::path::PathBuf;
use std::process::Child;
use std::time::{Duration, Instant};

const LONG: [&str; 10] =
    ["run", ".", "--rw", "randread", "--size", "8MiB", "--io", "buffered", "--runtime", "60"];

fn quick(user: &User) -> Said {
    let line = ["run", ".", "--size", "8MiB", "--io", "buffered", "--operations", "300"];
    user.types(&line).fine()
}

/// Waits until a run file holds `text`.
fn await_record(user: &User, text: &str) -> PathBuf {
    let begin = Instant::now();
    while begin.elapsed() < Duration::from_secs(60) {
        let entries = std::fs::read_dir(user.runs()).into_iter().flatten();
        for path in entries.map(|entry| entry.unwrap().path()) {
            if std::fs::read_to_string(&path).is_ok_and(|content| content.contains(text)) {
                return path;
            }
        }
        std::thread::sleep(Duration::from_millis(20));
    }
    panic!("no run file holds {text}");
}

fn said(child: Child) -> Said {
    Said::of(&LONG, child.wait_with_output().unwrap())
}

#[test]
fn a_run_that_was_killed_is_readable_and_its_scratch_removed_later() {
    let user = User::new();
    let mut child = user.starts(&LONG);
    let path = await_record(&user, "\"record\":\"step_begin\",\"step\":2,");
    child.kill().unwrap();
    child.wait().unwrap();
    assert_eq!(user.listing().len(), 1, "the scratch file of the killed run");
    let text = user.types(&["runs", "last"]).fine();
    assert!(text.out.contains("lay out"), "{}", text.out);
    let json = user.types(&["report", path.to_str().unwrap(), "--json"]).fine().json();
    assert_eq!(json["complete"], false);
    assert_eq!(json["steps"].as_array().unwrap().last().unwrap()["name"], "randread 4k qd1");
    let table = user.types(&["runs"]).fine();
    assert!(table.out.contains("INCOMPLETE"), "{}", table.out);
    let next = quick(&user);
    assert!(next.err.contains("left by a run that was killed"), "{}", next.err);
    assert_eq!(user.listing(), [""; 0]);
}

#[test]
fn ctrl_c_keeps_what_was_measured() {
    let user = User::new();
    let child = user.starts(&[&LONG[..], &["--json", "--interval", "100ms"]].concat());
    await_record(&user, "\"record\":\"step_begin\",\"step\":2,");
    std::thread::sleep(Duration::from_millis(500));
    let begin = Instant::now();
    kill_process(Pid::from_child(&child), Signal::INT).unwrap();
    let said = said(child).status(130);
    assert!(begin.elapsed() < Duration::from_secs(10), "it took {:?}", begin.elapsed());
    let json = said.json();
    assert_eq!((&json["complete"], &json["incomplete"]), (&false.into(), &"interrupted".into()));
    let step = json["steps"].as_array().unwrap().last().unwrap();
    assert!(step["streams"][0]["read"]["ops"].as_u64().unwrap() > 0, "{step}");
    assert!(said.err.contains("interrupted"), "{}", said.err);
    assert_eq!(user.listing(), [""; 0], "scratch was left behind");
}

#[test]
fn a_torn_file_is_read_up_to_the_tear() {
    let user = User::new();
    quick(&user);
    let id = user.types(&["runs", "--json"]).fine().json()["runs"][0]["run"].clone();
    let path = user.runs().join(format!("{}.jsonl", id.as_str().unwrap()));
    let whole = std::fs::read(&path).unwrap();
    for cut in [whole.len() - 1, whole.len() - 20, whole.len() / 2, whole.len() / 3] {
        user.write("torn.jsonl", &whole[..cut]);
        let json = user.types(&["report", "torn.jsonl", "--json"]).fine().json();
        assert_eq!(json["run"], id);
        assert!(json["complete"] == false || cut == whole.len() - 1);
    }
    user.types(&["report", "torn.jsonl"]).fine();
    let page = format!("drivelab-{}.html", id.as_str().unwrap());
    assert!(user.listing().contains(&page), "{:?}", user.listing());
}

#[test]
fn files_that_are_no_runs_have_a_line_number() {
    let user = User::new();
    user.write("prose.jsonl", "hello\n");
    user.types(&["report", "prose.jsonl"]).refused(2, "prose.jsonl line 1, column 1: not a record");
    user.write("empty.jsonl", "");
    user.types(&["report", "empty.jsonl"]).refused(2, "is empty");
    user.write("bytes.jsonl", [0xff, 0, 0x0a, 0xff]);
    user.types(&["report", "bytes.jsonl"]).refused(2, "bytes.jsonl line 1");
    quick(&user);
    let id = user.types(&["runs", "--json"]).fine().json()["runs"][0]["run"].clone();
    let path = user.runs().join(format!("{}.jsonl", id.as_str().unwrap()));
    let text = std::fs::read_to_string(path).unwrap().replacen("\n{", "\n[", 1);
    user.write("middle.jsonl", text);
    user.types(&["report", "middle.jsonl"]).refused(2, "middle.jsonl line 2");
    user.types(&["report", "nothing"]).refused(2, "`nothing` is not a run");
    user.types(&["report", "20200101-000000-abcd"]).refused(2, "there is no run 2020");
}

#[test]
fn a_report_replaces_nothing_but_a_report() {
    let user = User::new();
    quick(&user);
    let precious = user.write("precious.txt", "do not lose me");
    user.types(&["report", "--out", "precious.txt"]).status(3);
    let run = ["run", ".", "--size", "8MiB", "--io", "buffered", "--out", "precious.txt"];
    user.types(&run).refused(3, "precious.txt exists and is not an unchanged report of drivelab");
    assert_eq!(std::fs::read_to_string(precious).unwrap(), "do not lose me");
    user.types(&["report", "--out", "page.html"]).fine();
    user.types(&["report", "--out", "page.html"]).fine();
    user.types(&["report", "--out", "/dev/null"]).status(3);
}

#[test]
fn neither_an_empty_file_nor_a_clock_that_was_wrong_is_the_last_run() {
    let user = User::new();
    quick(&user);
    let id = user.types(&["runs", "--json"]).fine().json()["runs"][0]["run"].clone();
    let id = id.as_str().unwrap();
    let here = user.runs().join(format!("{id}.jsonl"));
    let whole = std::fs::read(&here).unwrap();
    std::fs::write(user.runs().join("29991231-235959-ffff.jsonl"), &whole).unwrap();
    let second: String = id.chars().take(15).collect();
    for (name, bytes) in [("ffff", &b""[..]), ("fffe", &whole[..100])] {
        std::fs::write(user.runs().join(format!("{second}-{name}.jsonl")), bytes).unwrap();
    }
    let json = user.types(&["report", "last", "--json"]).fine().json();
    assert_eq!(json["run"], id);
    let table = user.types(&["runs", "last"]).fine();
    assert!(table.out.contains("8 MiB") || table.out.contains("lay out"), "{}", table.out);
    // With nothing else there it is better than nothing.
    std::fs::remove_file(here).unwrap();
    user.types(&["report", "last", "--json"]).fine();
}

#[test]
fn a_run_file_that_is_removed_meanwhile_is_said() {
    let user = User::new();
    let line = [&LONG[..9], &["3", "--json"]].concat();
    let child = user.starts(&line);
    await_record(&user, "\"record\":\"step_begin\",\"step\":2,");
    std::fs::remove_dir_all(user.runs()).unwrap();
    let said = Said::of(&line, child.wait_with_output().unwrap()).fine();
    let warnings = said.json()["warnings"].to_string();
    assert!(warnings.contains("it was removed or moved while the run lasted"), "{warnings}");
}

#[test]
fn input_without_an_end_is_refused() {
    let user = User::new();
    for (line, says) in [
        (&["run", "/dev/zero", "."][..], "it is larger than 16 MiB"),
        (&["check", "sim:/dev/zero"], "it is larger than 16 MiB"),
        (&["accept", "/dev/zero", "."], "it is larger than 16 MiB"),
        (&["run", "--trace", "/dev/zero", "sim:x25-m"], "it is larger than 256 MiB"),
        (&["run", "--replay", "/dev/zero", "sim:x25-m"], "it is larger than 256 MiB"),
        (&["sim", "show", "/dev/zero"], "it is larger than 16 MiB"),
        (&["check", "sim:textbook,capacity=1GiB,capacity=2GiB"], "capacity= is given twice"),
    ] {
        user.types(line).refused(2, says);
    }
}

#[test]
fn a_limit_of_file_sizes_is_an_error_and_no_death() {
    let user = User::new();
    let program = env!("CARGO_BIN_EXE_drivelab");
    let line = "run . --size 64MiB --rw write --bs 1MiB --io buffered --runtime 5";
    let mut command = std::process::Command::new("bash");
    command.arg("-c").arg(format!("ulimit -f 16384; exec {program} {line}"));
    command.current_dir(user.work());
    command.env("XDG_DATA_HOME", user.runs().parent().unwrap().parent().unwrap());
    let output = command.output().unwrap();
    assert!(matches!(output.status.code(), Some(2 | 4)), "{output:?}");
    let said = String::from_utf8_lossy(&output.stderr);
    assert!(
        said.to_lowercase().contains("file too large") || said.contains("no file of"),
        "{said}"
    );
    assert_eq!(user.listing(), [""; 0]);
}

#[test]
fn the_history_of_a_new_home_is_empty() {
    let user = User::new();
    let said = user.types(&["runs"]).fine();
    assert!(said.out.contains("no runs yet"), "{}", said.out);
    user.types(&["report"]).refused(2, "there are no runs");
    assert!(!user.runs().exists(), "looking made something");
}

#[test]
fn a_store_that_cannot_be_written_loses_no_result() {
    let user = User::new();
    let line = ["run", ".", "--size", "8MiB", "--io", "buffered", "--operations", "300"];
    let said = user.types(&[&line[..], &["--runs", "/proc/nowhere", "--json"]].concat()).fine();
    let json = said.json();
    assert!(json["steps"].as_array().unwrap().len() >= 2);
    let codes: Vec<&str> =
        json["warnings"].as_array().unwrap().iter().filter_map(|w| w["code"].as_str()).collect();
    assert!(codes.contains(&"run_file_not_written"), "{codes:?}");
}

#[test]
fn two_runs_on_one_target_do_not_meet() {
    let user = User::new();
    let line = |time: &'static str| {
        [
            "run",
            "one.dat",
            "--size",
            "8MiB",
            "--rw",
            "randwrite",
            "--io",
            "buffered",
            "--keep",
            "--runtime",
            time,
        ]
    };
    user.types(&line("100ms")).fine();
    let first = user.starts(&line("20"));
    let begin = Instant::now();
    await_two_runs(&user);
    user.types(&line("100ms")).refused(3, "another run is using");
    assert!(begin.elapsed() < Duration::from_secs(15));
    kill_process(Pid::from_child(&first), Signal::TERM).unwrap();
    said(first).status(143);
}

fn await_two_runs(user: &User) {
    let count = || std::fs::read_dir(user.runs()).map_or(0, Iterator::count);
    while count() < 2 {
        std::thread::sleep(Duration::from_millis(20));
    }
}

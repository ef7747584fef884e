//! A study that was broken off goes on where it was, and says so where it cannot.

use crate::cli_user::User;
use drivelab_stats::Random;
use rustix::process::{Pid, Signal, kill_process};
use std::time::{Duration, Instant};

/// Everything behind the first line, which names the run and the day.
fn body(text: &[u8]) -> &[u8] {
    let first = text.iter().position(|byte| *byte == b'\n').unwrap();
    &text[first..]
}

fn whole(line: &[&str]) -> (Vec<u8>, Option<i32>, Duration) {
    let user = User::new();
    let begin = Instant::now();
    let said = user.types(line);
    let took = begin.elapsed();
    (std::fs::read(user.last_run()).unwrap(), said.status, took)
}

/// Kills the study at a random moment, resumes it until it is over, and compares.
fn killed_and_resumed(line: &[&str], kills: u32, random: &mut Random) {
    let (expected, status, took) = whole(line);
    let user = User::new();
    let mut resumed = 0;
    let mut child = user.starts(line);
    for _ in 0..kills {
        let share = random.below(1000) as f64 / 1000.0;
        std::thread::sleep(took.mul_f64(share / f64::from(kills)));
        child.kill().unwrap();
        child.wait().unwrap();
        let is_begun = std::fs::read_dir(user.runs()).is_ok_and(|files| files.count() > 0)
            && std::fs::metadata(user.last_run()).unwrap().len() > 0;
        if !is_begun {
            child = user.starts(line);
            continue;
        }
        resumed += 1;
        child = user.starts(&["resume", "last", "--json"]);
    }
    let output = child.wait_with_output().unwrap();
    let errors = String::from_utf8_lossy(&output.stderr);
    let found = std::fs::read(user.last_run()).unwrap();
    if errors.contains("is complete") {
        assert_eq!(body(&found), body(&expected), "{line:?}");
        return;
    }
    assert_eq!(output.status.code(), status, "{line:?}: {errors}");
    assert!(
        body(&found) == body(&expected),
        "{line:?} comes out otherwise, resumed {resumed} times"
    );
}

#[test]
fn a_killed_study_ends_as_if_nothing_had_happened() {
    let mut random = Random::new(0x6b69_6c6c);
    for (name, target) in [
        ("wsat", "sim:textbook,capacity=256MiB"),
        ("aa", "sim:textbook,capacity=128MiB"),
        ("trim", "sim:textbook,capacity=256MiB"),
        ("pts-lat", "sim:textbook,capacity=128MiB"),
        ("pts-tp", "sim:textbook,capacity=128MiB"),
    ] {
        let line = ["study", name, target, "--seed", "7", "--quick", "--json"];
        killed_and_resumed(&line, 2, &mut random);
    }
    let bounds = ["--seed", "7", "--time", "60s", "--budget", "2GiB", "--json"];
    let check = [&["check", "sim:textbook,capacity=1GiB"][..], &bounds].concat();
    killed_and_resumed(&check, 2, &mut random);
    let place = tempfile::tempdir().unwrap();
    let spec = place.path().join("spec.toml");
    let claim = "[[claim]]\nname = \"writes\"\nmetric = \"iops\"\nat_least = 1\n\
                 rw = \"randwrite\"\nseconds = 20\n";
    std::fs::write(&spec, claim).unwrap();
    let target = "sim:textbook,capacity=256MiB";
    let accept = ["accept", spec.to_str().unwrap(), target, "--seed", "7", "--json"];
    killed_and_resumed(&accept, 2, &mut random);
}

/// Starts a study and waits until this many steps have ended in its run file.
fn broken_off(user: &User, line: &[&str], steps: usize, signal: Signal) {
    let child = user.starts(line);
    let begin = Instant::now();
    loop {
        assert!(begin.elapsed() < Duration::from_secs(120), "no {steps} steps in two minutes");
        std::thread::sleep(Duration::from_millis(50));
        let Ok(mut files) = std::fs::read_dir(user.runs()) else { continue };
        let Some(Ok(file)) = files.next() else { continue };
        let text = std::fs::read_to_string(file.path()).unwrap_or_default();
        if text.matches("\"record\":\"step_end\"").count() >= steps {
            break;
        }
    }
    kill_process(Pid::from_child(&child), signal).unwrap();
    child.wait_with_output().unwrap();
}

const ON_A_FILE: [&str; 11] =
    ["study", "aa", ".", "--quick", "--size", "64MiB", "--time", "20s", "--seed", "3", "--json"];

#[test]
fn on_a_file_the_state_is_brought_about_again() {
    for signal in [Signal::KILL, Signal::INT] {
        let user = User::new();
        broken_off(&user, &ON_A_FILE, 8, signal);
        let said = user.types(&["resume", "last", "--json"]);
        assert!(matches!(said.status, Some(0 | 1 | 4)), "{}", said.err);
        let json = said.json();
        assert_eq!(json["complete"], true, "{}", said.err);
        let names = || json["steps"].as_array().unwrap().iter();
        let fills = names().filter(|step| step["name"] == "fill").count();
        assert_eq!(fills, 2, "the scratch file was created again");
        for cell in ["random read qd1 A", "sequential write B"] {
            let of_cell = names().filter(|step| step["name"] == cell);
            let done = of_cell.filter(|step| step["incomplete"].is_null()).count();
            assert_eq!(done, 6, "{cell}: what was measured stays, what was missing is added");
        }
        let warnings = json["warnings"].as_array().unwrap();
        let told = warnings.iter().find(|warning| warning["code"] == "resumed").unwrap();
        assert!(told["text"].as_str().unwrap().contains("the scratch file was created again"));
        let names = user.listing();
        assert_eq!(names, [""; 0], "scratch was left behind");
    }
}

#[test]
fn a_check_on_a_file_goes_on() {
    let user = User::new();
    let line = ["check", ".", "--budget", "512MiB", "--time", "20s", "--seed", "3", "--json"];
    broken_off(&user, &line, 12, Signal::KILL);
    let json = user.types(&["resume", "last", "--json"]).json();
    assert_eq!(json["complete"], true);
    let steps = || json["steps"].as_array().unwrap().iter();
    assert_eq!(steps().filter(|step| step["name"] == "layout").count(), 2);
    let after = "sequential read 1 MiB after random writes";
    for cell in ["sequential read 1 MiB", "random write", "fsync", after] {
        let of_cell = steps().filter(|step| step["name"] == cell);
        let done = of_cell.filter(|step| step["incomplete"].is_null()).count();
        assert_eq!(done, 5, "{cell}: what was measured stays, what was missing is added");
    }
    let is_written = |step: &&serde_json::Value| step["streams"][0]["write"]["bytes"].is_u64();
    let written = steps()
        .filter(is_written)
        .map(|step| step["streams"][0]["write"]["bytes"].as_u64().unwrap());
    assert!(written.sum::<u64>() <= 512 << 20, "the budget is of the whole check");
    assert_eq!(user.listing(), [""; 0], "scratch was left behind");
}

#[test]
fn what_cannot_go_on_is_refused() {
    let user = User::new();
    user.types(&["resume"]).refused(2, "there are no runs");
    let line = ["study", "wsat", "sim:textbook,capacity=128MiB", "--seed", "1", "--quick"];
    user.types(&line).fine();
    user.types(&["resume", "last"]).refused(2, "is complete");
    let text = std::fs::read_to_string(user.last_run()).unwrap();
    let lines: Vec<&str> = text.lines().collect();
    let half = lines[..lines.len() / 2].join("\n");
    let begin = |from: &str, to: &str| half.replacen(from, to, 1);
    let cases = [
        (begin("\"format\":1", "\"format\":99"), "has format 99"),
        (
            begin(
                "\"target\":\"sim:textbook,capacity=128",
                "\"target\":\"sim:textbook,capacity=256",
            ),
            "is not what this run began with",
        ),
        (begin("\"name\":\"wsat\"", "\"name\":\"wsatt\""), "there is no study `wsatt`"),
        (
            begin("\"inside_total\":{\"host_units\":", "\"inside_total\":{\"host_units\":1"),
            "differs from its recording",
        ),
        ("nonsense\n".into(), "line 1"),
        (String::new(), "is empty"),
    ];
    for (content, says) in cases {
        let path = user.write("broken.jsonl", content);
        let said = user.types(&["resume", path.to_str().unwrap()]).status(2);
        assert!(said.err.contains(says), "wanted {says}: {}", said.err);
    }
    let path = user.write("cut.jsonl", &half[..half.len() - 7]);
    user.types(&["resume", path.to_str().unwrap(), "--json"]).fine();
    let run = ["run", ".", "--rw", "randread", "--size", "8MiB", "--io", "buffered"];
    user.types(&[&run[..], &["--operations", "10"]].concat()).fine();
    let other = std::fs::read_to_string(user.last_run()).unwrap();
    let cut = other.lines().next().unwrap().to_string() + "\n";
    let path = user.write("other.jsonl", cut);
    user.types(&["resume", path.to_str().unwrap()])
        .refused(2, "only a study, a check or an acceptance can be resumed");
}

#[test]
fn a_run_that_still_goes_on_is_left_alone() {
    let user = User::new();
    let child = user.starts(&ON_A_FILE);
    let begin = Instant::now();
    while std::fs::read_dir(user.runs()).map_or(0, Iterator::count) == 0 {
        assert!(begin.elapsed() < Duration::from_secs(60));
        std::thread::sleep(Duration::from_millis(20));
    }
    std::thread::sleep(Duration::from_millis(500));
    user.types(&["resume", "last"]).refused(2, "this run is still going on");
    kill_process(Pid::from_child(&child), Signal::INT).unwrap();
    child.wait_with_output().unwrap();
}

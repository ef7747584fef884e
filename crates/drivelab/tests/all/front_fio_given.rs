//! What options of fio's jobs ask for: beginnings, ends, places. Counts and times, here and in fio;
//! and what a program that calls `fio` finds on stderr.

use crate::issued::{Issued, Kind, Place};
use serde_json::Value;
use std::path::Path;
use std::process::{Command, Output};
use std::time::{Duration, Instant};

const OURS: [&str; 3] = [env!("CARGO_BIN_EXE_drivelab"), "fio", "--notes=none"];
const THEIRS: [&str; 1] = ["fio"];
/// Jobs that issue a hundred requests a second, to nothing.
const PACED: &str = "--ioengine=null --size=1g --rate_iops=100 --time_based";

fn ran(program: &[&str], words: &[&str], home: &Path) -> Output {
    let mut command = Command::new(program[0]);
    command.args(&program[1..]).args(words).current_dir(home);
    command.env("XDG_DATA_HOME", home.join("home")).env_remove("DRIVELAB_NOTES").output().unwrap()
}

/// Jobs in JSON, and how long the line took.
fn jobs(program: &[&str], line: &str) -> (Vec<Value>, Duration) {
    let home = tempfile::tempdir().unwrap();
    let begin = Instant::now();
    let words: Vec<&str> = ["--output-format=json"].into_iter().chain(line.split(' ')).collect();
    let output = ran(program, &words, home.path());
    assert!(output.status.success(), "{line}: {}", String::from_utf8_lossy(&output.stderr));
    let json: Value = serde_json::from_slice(&output.stdout).unwrap();
    (json["jobs"].as_array().unwrap().clone(), begin.elapsed())
}

/// Reads of each job.
fn reads(jobs: &[Value]) -> Vec<u64> {
    jobs.iter().map(|job| job["read"]["total_ios"].as_u64().unwrap()).collect()
}

fn near(count: u64, wanted: u64) -> bool {
    count.abs_diff(wanted) <= wanted / 10 + 2
}

#[test]
fn a_job_that_begins_later_is_measured_from_then() {
    let line = format!("{PACED} --runtime=1 --name=a --name=b --startdelay=1");
    for program in [&OURS[..], &THEIRS] {
        let (jobs, took) = jobs(program, &line);
        assert!(reads(&jobs).iter().all(|count| near(*count, 100)), "{:?}", reads(&jobs));
        let runtime_ms = jobs[1]["read"]["runtime"].as_u64().unwrap();
        assert!(near(runtime_ms, 1000), "{program:?}: {runtime_ms} ms");
        assert!(took >= Duration::from_millis(1900), "{program:?}: {took:?}");
    }
}

#[test]
fn the_end_of_one_ends_all_that_run() {
    let line = format!("{PACED} --name=a --runtime=1 --exitall --name=b --runtime=4");
    for program in [&OURS[..], &THEIRS] {
        let (jobs, _) = jobs(program, &line);
        assert!(reads(&jobs).iter().all(|count| near(*count, 100)), "{:?}", reads(&jobs));
    }
    // Who follows them runs all the same.
    let line = format!("{line} --name=c --stonewall --runtime=1");
    for program in [&OURS[..], &THEIRS] {
        let (jobs, _) = jobs(program, &line);
        assert!(near(reads(&jobs)[2], 100), "{:?}", reads(&jobs));
    }
}

#[test]
fn who_waits_for_another_begins_when_it_has_ended() {
    let line = format!("{PACED} --runtime=1 --name=a --name=b --wait_for=a");
    for program in [&OURS[..], &THEIRS] {
        let (jobs, took) = jobs(program, &line);
        assert!(reads(&jobs).iter().all(|count| near(*count, 100)), "{:?}", reads(&jobs));
        assert_eq!(jobs[1]["groupid"], 0, "{program:?}");
        assert!(took >= Duration::from_millis(1900), "{program:?}: {took:?}");
    }
}

#[test]
fn what_is_not_there_is_as_large_as_it_is_said_to_be() {
    let line = "--name=a --ioengine=null --size=3t --number_ios=1000 --rw=randread --offset=1t";
    for program in [&OURS[..], &THEIRS] {
        assert_eq!(reads(&jobs(program, line).0), [1000], "{program:?}");
    }
}

/// Share of the requests of one direction that do not follow the one before them.
fn jumps(place: &Place, kind: Kind) -> f64 {
    let own = place.data().into_iter().flatten().filter(|one| one.kind == kind);
    let all: Vec<Issued> = own.filter(|one| one.bytes == 4096).collect();
    let jumps = all.windows(2).filter(|pair| pair[0].offset + 4096 != pair[1].offset).count();
    jumps as f64 / (all.len() - 1) as f64
}

#[test]
fn each_direction_has_its_own_share_of_jumps() {
    let words = ["--name=a", "--rw=randrw", "--size=8m", "--percentage_random=0,25,0"];
    for program in [&OURS[..], &THEIRS] {
        let place = Place::after(program, &words);
        assert_eq!(place.status, 0, "{}", place.stderr);
        let (read, write) = (jumps(&place, Kind::Read), jumps(&place, Kind::Write));
        assert!(read < 0.02, "{program:?}: {read} of the reads jump");
        assert!((write - 0.25).abs() < 0.06, "{program:?}: {write} of the writes jump");
    }
}

#[test]
fn a_share_of_a_file_is_of_what_jobs_before_lay_out() {
    let line = "--name=a --filename=f --rw=read --size=1m --name=b --filename=f --stonewall \
                --rw=read --size=50% --name=c --filename=f --stonewall --rw=read --offset=75%";
    for program in [&OURS[..], &THEIRS] {
        assert_eq!(reads(&jobs(program, line).0), [256, 128, 64], "{program:?}");
    }
}

#[test]
fn a_line_of_semicolons_comes_on_top_of_the_rest() {
    let home = tempfile::tempdir().unwrap();
    let words = ["--name=a", "--size=64k", "--rw=read", "--append-terse"];
    for program in [&OURS[..], &THEIRS] {
        let printed = String::from_utf8(ran(program, &words, home.path()).stdout).unwrap();
        assert!(printed.lines().any(|line| line.starts_with("3;fio-3.33;a;0;0;")), "{printed}");
        assert!(printed.contains("Run status group 0 (all jobs):"), "{printed}");
    }
}

/// Programs that wrap fio take whatever is on stderr for an error.
#[test]
fn under_its_own_name_notes_are_in_the_run_file_and_in_json() {
    let home = tempfile::tempdir().unwrap();
    let link = home.path().join("fio");
    std::os::unix::fs::symlink(env!("CARGO_BIN_EXE_drivelab"), &link).unwrap();
    let program = [link.to_str().unwrap()];
    let words = ["--name=a", "--size=1m", "--rw=read", "--output-format=json", "--max-jobs=9"];
    let output = ran(&program, &words, home.path());
    assert_eq!(String::from_utf8_lossy(&output.stderr), "");
    let json: Value = serde_json::from_slice(&output.stdout).unwrap();
    let printed = String::from_utf8(output.stdout).unwrap();
    assert!(printed.find("\"drivelab\" : {") > printed.find("\"jobs\" : ["), "{printed}");
    let notes = json["drivelab"]["notes"].as_array().unwrap();
    let tells = |what: &str| notes.iter().any(|note| note.as_str().unwrap().contains(what));
    assert!(tells("Add direct=1") && tells("--max-jobs"), "{notes:?}");
    let run = json["drivelab"]["run"].as_str().unwrap();
    assert!(home.path().join(format!("home/drivelab/runs/{run}.jsonl")).is_file(), "{run}");

    let command = |name: &str, value: &str| {
        let mut command = Command::new(&link);
        let home = home.path();
        command.args(words).current_dir(home).env("XDG_DATA_HOME", home.join("home"));
        String::from_utf8(command.env(name, value).output().unwrap().stderr).unwrap()
    };
    let said = command("DRIVELAB_NOTES", "stderr");
    assert!(said.contains("note: --max-jobs"), "{said}");
    // What is suspect there is marked as such in JSON.
    let is_suspect = !json["drivelab"]["suspect"].as_array().unwrap().is_empty();
    assert_eq!(said.contains("suspect"), is_suspect, "{said}");
    // A refusal is an error, and is where errors are.
    let output = ran(&program, &["--name=a", "--size=1m", "--uid=1"], home.path());
    assert!(String::from_utf8_lossy(&output.stderr).contains("--uid"));
    assert_eq!(output.status.code(), Some(1));
}

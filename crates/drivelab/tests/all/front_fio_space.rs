//! `ioengine=falloc` and `ftruncate`: the calls that are made, here and in fio, by strace, and what
//! is refused.

use serde_json::Value;
use std::path::Path;
use std::process::{Command, Output};

const DRIVELAB: &str = env!("CARGO_BIN_EXE_drivelab");
const OURS: [&str; 3] = [DRIVELAB, "fio", "--notes=none"];
const THEIRS: [&str; 1] = ["fio"];
const SIZE: u64 = 64 << 10;

/// What was done to a file: the call with its flags, and from where.
type Done = (String, u64);

fn in_home(command: &mut Command, home: &Path) -> Output {
    command.current_dir(home).env("XDG_DATA_HOME", home.join("home"));
    command.env_remove("DRIVELAB_NOTES").output().unwrap()
}

fn ran(program: &[&str], words: &[&str], home: &Path) -> Output {
    in_home(Command::new(program[0]).args(&program[1..]).args(words), home)
}

fn text(bytes: &[u8]) -> String {
    String::from_utf8_lossy(bytes).into_owned()
}

/// Runs a line in an empty directory; what it did there but for the making of its file, which is
/// as long as it will be.
fn calls(program: &[&str], line: &str, home: &Path) -> Vec<Done> {
    let trace = home.join("trace");
    let mut command = Command::new("strace");
    command.args(["-f", "-o"]).arg(&trace).args(["-e", "trace=fallocate,ftruncate"]);
    let output = in_home(command.args(program).args(line.split(' ')), home);
    assert!(output.status.success(), "{program:?} {line}: {}", text(&output.stderr));
    std::fs::read_to_string(trace).unwrap().lines().filter_map(done).collect()
}

/// `12 fallocate(6, FALLOC_FL_KEEP_SIZE, 8192, 4096) = 0`, `12 ftruncate(6, 8192) = 0`.
fn done(line: &str) -> Option<Done> {
    let (_, call) = line.split_once(' ')?;
    let (name, rest) = call.trim_start().split_once('(')?;
    let words: Vec<&str> = rest.split_once(')')?.0.split(", ").collect();
    match (name, words.as_slice()) {
        ("fallocate", [_, flags, offset, bytes]) if *bytes != SIZE.to_string() => {
            Some((format!("{flags} {bytes}"), offset.parse().ok()?))
        }
        ("ftruncate", [_, end]) => {
            let end: u64 = end.parse().ok()?;
            (end < SIZE).then_some(("ftruncate".to_owned(), end))
        }
        _ => None,
    }
}

fn sorted(mut calls: Vec<Done>) -> Vec<Done> {
    calls.sort();
    calls
}

#[test]
fn each_direction_of_falloc_is_the_call_that_fio_makes() {
    for (rw, count) in
        [("read", 16), ("randread", 16), ("write", 16), ("randwrite", 16), ("randtrim", 16)]
    {
        let line = format!("--name=a --ioengine=falloc --rw={rw} --size=64k --bs=4k");
        let made = [&OURS[..], &THEIRS].map(|program| {
            let home = tempfile::tempdir().unwrap();
            let calls = calls(program, &line, home.path());
            assert_eq!(std::fs::metadata(home.path().join("a.0.0")).unwrap().len(), SIZE, "{rw}");
            calls
        });
        assert_eq!(made[0].len(), count, "{rw}: {:?}", made[0]);
        let [ours, theirs] = match rw.starts_with("rand") {
            // Each goes once through all blocks, in an order of its own.
            true => made.map(sorted),
            false => made,
        };
        assert_eq!(ours, theirs, "{rw}");
    }
    // Blocks that are trimmed before they are written, and a mix, whose directions are drawn.
    for (rw, kinds) in [("trimwrite", 2), ("randrw", 2)] {
        let line = format!("--name=a --ioengine=falloc --rw={rw} --size=64k --bs=4k");
        let made = [&OURS[..], &THEIRS].map(|program| {
            let home = tempfile::tempdir().unwrap();
            let mut calls = sorted(calls(program, &line, home.path()));
            let mut flags: Vec<String> = calls.iter().map(|(flags, _)| flags.clone()).collect();
            flags.dedup();
            assert_eq!(flags.len(), kinds, "{program:?} {rw}: {flags:?}");
            if rw == "randrw" {
                calls.iter_mut().for_each(|(flags, _)| flags.clear());
            }
            sorted(calls)
        });
        assert_eq!(made[0], made[1], "{rw}");
    }
}

#[test]
fn writes_of_ftruncate_set_the_end_of_the_file() {
    for rw in ["write", "randwrite"] {
        let line = format!("--name=a --ioengine=ftruncate --rw={rw} --size=64k --bs=4k --direct=1");
        let made = [&OURS[..], &THEIRS].map(|program| {
            let home = tempfile::tempdir().unwrap();
            let calls = calls(program, &line, home.path());
            let last = calls.last().map(|(_, end)| *end).unwrap();
            let bytes = std::fs::metadata(home.path().join("a.0.0")).unwrap().len();
            assert_eq!(bytes, last, "{program:?} {rw}");
            calls
        });
        let [ours, theirs] = if rw == "write" { made } else { made.map(sorted) };
        assert_eq!((ours.len(), &ours), (16, &theirs), "{rw}");
    }
}

/// A file that is set aside and punched at once, and then written and read; one that is cut and
/// grows.
const FRAGMENTS: &str = "[global]\nioengine=falloc\nfilename=f\nsize=1m\nruntime=1\n\
    group_reporting\n[room]\nstonewall\ntime_based\nrw=randwrite\nbssplit=4k/20:32k/80\n[holes]\n\
    time_based\nrw=randtrim\nbs=4k\nnumjobs=2\n[after]\nstonewall\nioengine=libaio\niodepth=8\n\
    direct=1\nrw=write\nbs=64k\n[reads]\nstonewall\nioengine=sync\nrw=read\nbs=64k\n";
const ENDS: &str = "[global]\nioengine=ftruncate\nfilename=t\nsize=1028k\nstonewall\nruntime=1s\n\
    time_based\ndirect=1\n[in order]\nrw=write\n[at random]\nrw=randwrite\nnorandommap\n";

#[test]
fn job_files_of_both_run_to_their_end() {
    for (file, jobs) in [(FRAGMENTS, 3), (ENDS, 2)] {
        for program in [&OURS[..], &THEIRS] {
            let home = tempfile::tempdir().unwrap();
            std::fs::write(home.path().join("jobs.fio"), file).unwrap();
            let output = ran(program, &["--output-format=json", "jobs.fio"], home.path());
            assert!(output.status.success(), "{program:?}: {}", text(&output.stderr));
            let json: Value = serde_json::from_slice(&output.stdout).unwrap();
            let found = json["jobs"].as_array().unwrap();
            assert_eq!(found.len(), jobs, "{program:?}");
            for job in found {
                let (name, error) = (&job["jobname"], &job["error"]);
                let ios = ["read", "write", "trim"].map(|kind| job[kind]["total_ios"].as_u64());
                let sum: u64 = ios.into_iter().flatten().sum();
                assert!(*error == 0 && sum > 0, "{program:?} {name}: {ios:?}");
            }
            if file == FRAGMENTS {
                let ios = |job: usize, kind: &str| found[job][kind]["total_ios"].as_u64().unwrap();
                assert!(ios(0, "write") > 100 && ios(0, "trim") > 100, "{program:?}");
                assert_eq!((ios(1, "write"), ios(2, "read")), (16, 16), "{program:?}");
            }
        }
    }
}

#[test]
fn what_they_cannot_do_is_refused_before_anything_is_written() {
    let home = tempfile::tempdir().unwrap();
    let falloc = "--name=a --ioengine=falloc --size=64k";
    let ftruncate = "--name=a --ioengine=ftruncate --size=64k";
    for (line, words) in [
        (format!("{falloc} --rw=write --verify=crc32c"), "verify with ioengine=falloc"),
        (format!("{falloc} --rw=write --sync=1"), "sync with ioengine=falloc"),
        (format!("{falloc} --rw=write --fsync=4"), "fsync and fdatasync with ioengine=falloc"),
        (format!("{ftruncate} --rw=write --fdatasync=8"), "fdatasync with ioengine=ftruncate"),
        (format!("{falloc} --rw=read --readonly"), "read-only mode"),
        (format!("{falloc} --rw=write --filename=sim:textbook"), "falloc changes a file by itself"),
        (format!("{ftruncate} --rw=read"), "ioengine=ftruncate knows writes alone"),
        (format!("{ftruncate} --rw=randtrim"), "ioengine=ftruncate knows writes alone"),
        (format!("{ftruncate} --rw=randrw"), "ioengine=ftruncate knows writes alone"),
    ] {
        let output = ran(&OURS, &line.split(' ').collect::<Vec<_>>(), home.path());
        let said = text(&output.stderr);
        assert_eq!(output.status.code(), Some(1), "{line}: {said}");
        assert!(said.contains(words), "{line}: {said}");
        assert!(!home.path().join("a.0.0").exists(), "{line}");
    }
    // Room of somebody else's file is not for a read to take.
    std::fs::write(home.path().join("theirs"), vec![7; 64 << 10]).unwrap();
    let line = "--name=a --ioengine=falloc --rw=read --filename=theirs";
    let output = ran(&OURS, &line.split(' ').collect::<Vec<_>>(), home.path());
    assert!(!output.status.success(), "{}", text(&output.stdout));
    let line = "--name=a --ioengine=psync --rw=read --filename=theirs";
    let output = ran(&OURS, &line.split(' ').collect::<Vec<_>>(), home.path());
    assert!(output.status.success(), "{}", text(&output.stderr));
}

#[test]
fn what_is_measured_is_said() {
    let home = tempfile::tempdir().unwrap();
    let line = "--name=a --ioengine=falloc --rw=write --size=64k --bs=4k --direct=1";
    let output = ran(&[DRIVELAB, "fio"], &line.split(' ').collect::<Vec<_>>(), home.path());
    let said = text(&output.stderr);
    assert!(output.status.success(), "{said}");
    for words in ["No data is moved", "without data there is nothing that could bypass"] {
        assert!(said.contains(words), "{said}");
    }
    for words in ["page cache: ", "the rate is that of the page cache", "find a place for each"] {
        assert!(!said.contains(words), "{said}");
    }
}

#[test]
fn the_engines_have_names_of_their_own_here() {
    let home = tempfile::tempdir().unwrap();
    let run = |words: &str| {
        let words: Vec<&str> = words.split(' ').collect();
        ran(&[DRIVELAB, "run"], &words, home.path())
    };
    for (engine, rw) in [("falloc", "read"), ("falloc", "randwrite"), ("ftruncate", "write")] {
        let line = format!("f-{engine}-{rw} --engine {engine} --rw {rw} --size 1m --operations 64");
        let output = run(&format!("{line} --json"));
        assert!(output.status.success(), "{line}: {}", text(&output.stderr));
        let stdout = text(&output.stdout);
        assert!(stdout.contains("moves no data"), "{line}: {stdout}");
        assert!(!stdout.contains("\"valid\": true"), "{line}: {stdout}");
    }
    for (line, words) in [
        ("f --engine ftruncate --rw read --size 1m", "ftruncate knows writes alone"),
        ("f --engine falloc --rw write --io direct --size 1m", "say io = buffered"),
        ("f --engine falloc --rw write --stamp --size 1m", "the falloc engine moves no data"),
        ("sim:textbook --engine falloc --rw write", "falloc changes a file by itself"),
    ] {
        let output = run(line);
        let said = text(&output.stderr);
        assert!(!output.status.success() && said.contains(words), "{line}: {said}");
        assert!(!home.path().join("f").exists(), "{line}");
    }
}

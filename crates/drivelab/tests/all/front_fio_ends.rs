//! When fio's lines end, and what they read back then, against fio itself and on simulated drives.

use crate::fio_lines::{OURS, THEIRS, place, printed};
use crate::issued::{Kind, Place};
use std::collections::BTreeMap;

/// What each prints of a line in an empty directory.
fn ours(line: &str) -> String {
    printed(&OURS, line, place().path())
}

fn theirs(line: &str) -> String {
    printed(&THEIRS, line, place().path())
}

/// Random writes on an empty simulated drive: fast for two seconds, then slower and slower, and
/// level, but for some noise, after about twenty.
fn on_flash(more: &str) -> serde_json::Value {
    let line = format!(
        "--name=a --filename=sim:textbook,capacity=2GiB --rw=randwrite --norandommap --bs=4k \
         --iodepth=32 --ioengine=libaio --direct=1 --time_based --output-format=json {more}"
    );
    let json: serde_json::Value = serde_json::from_str(&ours(&line)).unwrap();
    json["jobs"][0].clone()
}

#[test]
fn a_rate_that_settles_ends_a_job() {
    let job = on_flash("--runtime=600 --ss=iops:2% --ss_dur=8");
    let steady = &job["steadystate"];
    assert_eq!(steady["attained"], 1);
    assert_eq!(steady["ss"], "iops:2.000000%");
    let runtime_ms = job["write"]["runtime"].as_u64().unwrap();
    assert!((12_000..40_000).contains(&runtime_ms), "{runtime_ms}");
    // Eight seconds, and all of them within the limit.
    let seconds: Vec<f64> =
        steady["data"]["iops"].as_array().unwrap().iter().map(|it| it.as_f64().unwrap()).collect();
    let mean = seconds.iter().sum::<f64>() / 8.0;
    assert_eq!(seconds.len(), 8);
    assert!(seconds.iter().all(|iops| (iops / mean - 1.0).abs() < 0.02), "{seconds:?}");
    let criterion: f64 =
        steady["criterion"].as_str().unwrap().trim_end_matches('%').parse().unwrap();
    assert!(criterion < 2.0 && criterion > 0.0, "{criterion}");
    // The same in every run: time is virtual.
    assert_eq!(on_flash("--runtime=600 --ss=iops:2% --ss_dur=8")["steadystate"], *steady);
}

#[test]
fn noise_is_not_steady_and_the_runtime_ends_the_job() {
    let job = on_flash("--runtime=30 --ss=iops:0.001% --ss_dur=5");
    assert_eq!(job["steadystate"]["attained"], 0);
    let runtime_ms = job["write"]["runtime"].as_u64().unwrap();
    assert!((30_000..30_100).contains(&runtime_ms), "{runtime_ms}");
    assert_eq!(job["steadystate"]["data"]["bw"].as_array().unwrap().len(), 5);
}

#[test]
fn the_slope_of_what_still_falls_is_not_level() {
    // Falling by per cents a second for its first ten seconds.
    let job = on_flash("--runtime=10 --ss=bw_slope:1% --ss_dur=6");
    assert_eq!(job["steadystate"]["attained"], 0);
    let slope = job["steadystate"]["slope"].as_f64().unwrap();
    assert!(slope < 0.0, "{slope}");
    let job = on_flash("--runtime=600 --ss=bw_slope:1% --ss_dur=6");
    assert_eq!(job["steadystate"]["attained"], 1);
}

#[test]
fn without_a_duration_nothing_is_judged() {
    let job = on_flash("--runtime=3 --ss=iops:50%");
    assert!(job.get("steadystate").is_none(), "{job}");
}

/// Keys, in order, and what is printed under them where it does not depend on the drive.
fn shape(json: &str) -> Vec<String> {
    let from = json.find("\"steadystate\" : {").unwrap();
    let to = from + json[from..].find("\n    }").unwrap();
    let lines = json[from..to].lines().map(str::trim);
    let fixed = ["\"ss\"", "\"duration\"", "\"attained\""];
    let shown = |line: &str| match fixed.iter().any(|key| line.starts_with(key)) {
        true => line.to_owned(),
        false => line.chars().filter(|letter| !letter.is_ascii_digit()).collect(),
    };
    lines.map(shown).collect()
}

#[test]
fn fio_and_drivelab_print_the_same_of_it() {
    // Far from any limit in both directions, whatever this machine is busy with.
    let job = "--name=a --size=1m --rw=randread --bs=4k --time_based --thinktime=2000 --runtime=9 \
               --invalidate=0 --output-format=normal,json";
    for ss in ["--ss=iops:90% --ss_dur=3", "--ss=bw_slope:0 --ss_dur=4 --runtime=2"] {
        let line = format!("{job} {ss}");
        let (ours, theirs) = (ours(&line), theirs(&line));
        assert_eq!(shape(&ours), shape(&theirs), "{ss}");
        let line_of = |text: &str| {
            let line = text.lines().find(|line| line.starts_with("  steadystate")).unwrap();
            line.chars().filter(|letter| !letter.is_ascii_digit()).collect::<String>()
        };
        assert_eq!(line_of(&ours), line_of(&theirs), "{ss}");
    }
}

/// What a program does with a mix of `operations` that is verified: how many of them are writes.
fn read_back(program: &[&str], line: &str, operations: usize) -> usize {
    let words: Vec<&str> = line.split_whitespace().collect();
    let place = Place::after(program, &words);
    assert_eq!(place.status, 0, "{program:?} {line}: {}", place.stderr);
    let all: Vec<(Kind, u64, u64)> =
        place.data().into_iter().flatten().map(|one| (one.kind, one.offset, one.bytes)).collect();
    let (mix, verified) = all.split_at(operations);
    let places = |of: &[(Kind, u64, u64)], kind| -> Vec<(u64, u64)> {
        of.iter().filter(|one| one.0 == kind).map(|one| (one.1, one.2)).collect()
    };
    let written = places(mix, Kind::Write);
    assert_eq!(places(verified, Kind::Read), written, "{program:?} {line}");
    assert_eq!(verified.len(), written.len(), "{program:?} {line}");
    written.len()
}

#[test]
fn what_a_mix_has_written_is_read_back_in_that_order() {
    for (line, operations) in [
        ("--name=a --rw=rw --bs=4k --size=512k --verify=crc32c", 128),
        ("--name=a --rw=randrw --bs=4k --size=512k --verify=md5", 128),
        ("--name=a --rw=randrw --rwmixread=80 --bs=8k --size=1m --verify=crc32c", 128),
        ("--name=a --rw=randrw --bs=4k --size=512k --io_size=256k --verify=sha256", 64),
        ("--name=a --rw=randrw --bs=4k --size=512k --number_ios=90 --verify=crc32c", 90),
    ] {
        let theirs = read_back(&["fio"], line, operations);
        let ours = read_back(&[env!("CARGO_BIN_EXE_drivelab"), "fio"], line, operations);
        // Two draws of as many operations: five deviations of their difference.
        let share = if line.contains("rwmixread=80") { 0.2 } else { 0.5 };
        let allowed = 5.0 * (2.0 * operations as f64 * share * (1.0 - share)).sqrt();
        assert!(ours.abs_diff(theirs) as f64 <= allowed, "{line}: {ours} of us, {theirs} of fio");
    }
}

/// As the tests of fio 3.42 ask; 3.33 writes one pass only.
#[test]
fn what_goes_round_is_read_back_once() {
    for (line, written, read) in [
        ("--rw=write --io_size=128k", 8, 4),
        ("--rw=randwrite --io_size=96k", 6, 4),
        ("--rw=write --io_size=48k", 3, 3),
        ("--rw=write --loops=2", 8, 8),
    ] {
        let line = format!("--name=a --bs=16k --size=64k --verify=crc32c {line}");
        let words: Vec<&str> = line.split_whitespace().collect();
        let place = Place::after(&[env!("CARGO_BIN_EXE_drivelab"), "fio"], &words);
        assert_eq!(place.status, 0, "{line}: {}", place.stderr);
        let all: Vec<Kind> = place.data().into_iter().flatten().map(|one| one.kind).collect();
        let count = |kind| all.iter().filter(|one| **one == kind).count();
        assert_eq!((count(Kind::Write), count(Kind::Read)), (written, read), "{line}");
    }
}

#[test]
fn a_mix_without_verify_is_not_read_back() {
    let line = "--name=a --rw=randrw --bs=4k --size=256k --verify=crc32c --do_verify=0";
    for program in [&["fio"][..], &[env!("CARGO_BIN_EXE_drivelab"), "fio"]] {
        let words: Vec<&str> = line.split_whitespace().collect();
        assert_eq!(Place::after(program, &words).data().into_iter().flatten().count(), 64);
    }
}

/// Shares of the accesses that the most popular blocks have: of this many of 1024.
fn popular(program: &[&str], line: &str) -> [f64; 6] {
    let words: Vec<&str> = line.split_whitespace().collect();
    let place = Place::after(program, &words);
    assert_eq!(place.status, 0, "{program:?} {line}: {}", place.stderr);
    let mut counts: BTreeMap<u64, u64> = BTreeMap::new();
    for one in place.data().into_iter().flatten() {
        *counts.entry(one.offset).or_default() += 1;
    }
    let mut counts: Vec<u64> = counts.into_values().collect();
    counts.sort_unstable_by(|one, other| other.cmp(one));
    let all: u64 = counts.iter().sum();
    assert_eq!(all, 16_384, "{program:?} {line}");
    let share = |blocks: usize| counts.iter().take(blocks).sum::<u64>() as f64 / all as f64;
    [1, 10, 50, 100, 200, 512].map(share)
}

#[test]
fn popularity_is_that_of_fio() {
    for law in ["pareto:0.2", "pareto:0.4", "pareto:0.9", "normal:10", "normal:90"] {
        let line = format!(
            "--name=a --rw=randread --bs=4k --size=4m --io_size=64m --invalidate=0 \
             --random_distribution={law}"
        );
        let theirs = popular(&["fio"], &line);
        let ours = popular(&[env!("CARGO_BIN_EXE_drivelab"), "fio"], &line);
        // Five deviations of the difference of two shares of 16384 draws.
        let apart = ours.iter().zip(theirs).map(|(one, other)| (one - other).abs());
        assert!(apart.fold(0.0, f64::max) < 0.02, "{law}: {ours:?} of us, {theirs:?} of fio");
    }
}

#[test]
fn runs_of_a_random_order_are_as_long_as_fio_has_them() {
    for program in [&["fio"][..], &[env!("CARGO_BIN_EXE_drivelab"), "fio"]] {
        let line = ["--name=a", "--rw=randread:8", "--bs=4k", "--size=4m", "--invalidate=0"];
        let place = Place::after(program, &line);
        assert_eq!(place.status, 0, "{program:?}: {}", place.stderr);
        let blocks: Vec<u64> =
            place.data().into_iter().flatten().map(|one| one.offset / 4096).collect();
        assert_eq!(blocks.len(), 1024, "{program:?}");
        let mut jumps = 0;
        for (at, pair) in (1..).zip(blocks.windows(2)) {
            let goes_on = pair[1] == pair[0] + 1;
            jumps += usize::from(!goes_on);
            assert!(goes_on || at % 8 == 0 || pair[0] == 1023, "{program:?}: {pair:?} at {at}");
        }
        assert!((120..=140).contains(&jumps), "{program:?}: {jumps}");
    }
}

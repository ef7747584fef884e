//! fio's lines on our engine next to fio itself: the layout of its JSON, what both report of a load
//! that is held, and what becomes of blocks that are not what was written.

use crate::support::loop_device::LoopDevice;
use crate::support::machine::alone;
use crate::support::neighbours::judge;
use serde_json::Value;
use std::collections::BTreeMap;
use std::os::unix::fs::FileExt;
use std::path::{Path, PathBuf};
use std::process::Command;

const DRIVELAB: [&str; 2] = [env!("CARGO_BIN_EXE_drivelab"), "fio"];
const FIO: [&str; 1] = ["fio"];

/// What a program did with a line.
struct Ran {
    status: i32,
    stdout: String,
    stderr: String,
}

/// A directory to work in, and next to it what drivelab knows of its own files.
struct Place(tempfile::TempDir);

impl Place {
    fn empty() -> Place {
        let place = Place(tempfile::tempdir_in(env!("CARGO_TARGET_TMPDIR")).unwrap());
        std::fs::create_dir(place.work()).unwrap();
        place
    }

    fn work(&self) -> PathBuf {
        self.0.path().join("work")
    }

    fn home(&self) -> PathBuf {
        self.0.path().join("home")
    }
}

/// Runs a line in a place.
fn ran(program: &[&str], line: &str, place: &Place) -> Ran {
    let output = Command::new(program[0])
        .args(&program[1..])
        .args(line.split_whitespace())
        .current_dir(place.work())
        .env("XDG_DATA_HOME", place.home())
        .output()
        .unwrap();
    Ran {
        status: output.status.code().unwrap_or(-1),
        stdout: String::from_utf8(output.stdout).unwrap(),
        stderr: String::from_utf8_lossy(&output.stderr).into_owned(),
    }
}

/// Names and sizes of what is in a directory; fio's own notes of what it has verified aside, and of
/// logs only the names, as their figures differ.
fn files(place: &Place) -> BTreeMap<String, u64> {
    let entries = std::fs::read_dir(place.work()).unwrap().map(|entry| entry.unwrap());
    entries
        .map(|entry| (entry.file_name().to_string_lossy().into_owned(), entry))
        .filter(|(name, _)| !name.ends_with("-verify.state"))
        .map(|(name, entry)| {
            let is_log = name.ends_with(".log");
            (name, if is_log { 0 } else { entry.metadata().unwrap().len() })
        })
        .collect()
}

/// The JSON in what was printed, as it stands there.
fn json_text(ran: &Ran) -> &str {
    let begin = ran.stdout.find("{\n").unwrap_or_else(|| panic!("{}{}", ran.stdout, ran.stderr));
    &ran.stdout[begin..]
}

/// A value's type: a float by its decimals, as fio prints them.
fn kind_of(value: &str) -> String {
    let digits = value.trim_start_matches('-');
    match value {
        _ if value.starts_with('"') => "text".into(),
        _ if !digits.is_empty() && digits.bytes().all(|byte| byte.is_ascii_digit()) => {
            "whole".into()
        }
        _ => match digits.split_once('.') {
            Some((_, decimals)) => format!("float of {} decimals", decimals.len()),
            None => value.to_owned(),
        },
    }
}

/// The lines of a JSON text with the types of their values in place of these: keys in their order,
/// and how deep they lie. Of the bins of json+ there are as many as latencies that occurred: they
/// stand as one line, whose keys and values are whole.
fn shape(text: &str) -> Vec<String> {
    let mut shape: Vec<String> = Vec::new();
    for line in text.trim_end().lines() {
        let line = line.trim_end().trim_end_matches(',');
        let Some((key, value)) = line.split_once(" : ") else {
            shape.push(line.to_owned());
            continue;
        };
        let name = key.trim().trim_matches('"');
        let is_bin = !name.is_empty() && name.bytes().all(|byte| byte.is_ascii_digit());
        let told = match is_bin {
            true => format!("{} : {}", "a bin", kind_of(value)),
            false => format!("{key} : {}", kind_of(value)),
        };
        if !(is_bin && shape.last() == Some(&told)) {
            shape.push(told);
        }
    }
    shape
}

/// What drivelab adds to fio's JSON: one key after all of fio's, taken off here.
fn without_ours(mut found: Vec<String>) -> Vec<String> {
    let at = found.iter().position(|line| line == "  \"drivelab\" : {").expect("what was found");
    let ours = found.split_off(at);
    assert_eq!(ours[1].trim(), "\"run\" : text", "{ours:?}");
    assert_eq!(ours[ours.len() - 2..], ["  }", "}"], "{ours:?}");
    found.push("}".into());
    found
}

/// Both JSON texts have the same keys in the same order, with values of the same types, and the
/// same files are left behind.
fn same_shape(line: &str) {
    let places = [Place::empty(), Place::empty()];
    let line = format!("{line} --output-format=json{}", if line.ends_with('+') { "+" } else { "" });
    let line = line.replace(" +", "");
    let theirs = ran(&FIO, &line, &places[0]);
    let ours = ran(&DRIVELAB, &line, &places[1]);
    assert_eq!((theirs.status, ours.status), (0, 0), "{line}\n{}{}", theirs.stderr, ours.stderr);
    let (expected, found) = (shape(json_text(&theirs)), without_ours(shape(json_text(&ours))));
    let differ = expected.iter().zip(&found).position(|(theirs, ours)| theirs != ours);
    if let Some(at) = differ {
        let near = at.saturating_sub(5)..at + 3;
        panic!(
            "{line}: line {at}\n fio:\n{}\n ours:\n{}",
            expected[near.start..near.end.min(expected.len())].join("\n"),
            found[near.start..near.end.min(found.len())].join("\n")
        );
    }
    assert_eq!(found.len(), expected.len(), "{line}");
    assert_eq!(files(&places[1]), files(&places[0]), "{line}");
}

/// There is no difference that would have to be excused here.
#[test]
fn json_has_the_same_keys_in_the_same_order_with_the_same_types() {
    let _alone = alone();
    for line in [
        "--name=a --rw=read --size=1m",
        "--name=a --rw=randwrite --size=1m --bs=16k",
        "--name=a --rw=randrw --rwmixread=70 --size=1m",
        "--name=a --rw=read --size=1m --name=b --rw=write --size=1m",
        "--name=a --rw=read --size=1m --name=b --stonewall --rw=write --size=1m",
        "--name=a --rw=read --size=1m --numjobs=3",
        "--name=a --rw=read --size=1m --numjobs=3 --group_reporting",
        "--rw=read --size=1m --group_reporting --name=a --name=b",
        "--description=words --name=a --rw=read --size=1m",
        "--rw=read --size=1m --name=global --bs=8k --name=a",
        "--name=a --rw=write --size=256k --fsync=4",
        "--name=a --rw=randrw --size=256k --unified_rw_reporting=1",
        "--name=a --rw=randrw --size=256k --unified_rw_reporting=both",
        "--name=a --rw=randwrite --size=256k --verify=crc32c",
        "--name=a --rw=randread --size=1m --direct=1 --ioengine=libaio --iodepth=4",
    ] {
        same_shape(line);
    }
}

#[test]
fn json_of_latencies_has_the_same_keys() {
    let _alone = alone();
    for line in [
        "--name=a --rw=randrw --size=1m +",
        "--name=a --rw=write --size=256k --fsync=4 +",
        "--name=a --rw=read --size=1m --lat_percentiles=1 --clat_percentiles=0 +",
        "--name=a --rw=read --size=1m --percentile_list=50:99:99.9",
        "--name=a --rw=read --size=1m --numjobs=2 --lat_percentiles=1 --slat_percentiles=1",
        "--name=a --rw=read --size=1m --clat_percentiles=0",
        "--name=a --rw=read --size=1m --disable_lat=1",
        "--name=a --rw=read --size=1m --disable_clat=1",
        "--name=a --rw=read --size=1m --disable_slat=1",
        "--name=a --rw=read --size=1m --gtod_reduce=1",
    ] {
        same_shape(line);
    }
}

#[test]
fn json_of_held_loads_and_logged_ones_has_the_same_keys_and_the_same_logs_beside_it() {
    let _alone = alone();
    for line in [
        "--name=a --rw=read --size=2m --bs=4k --rate_iops=1000",
        "--name=a --rw=write --size=1m --rate=4m",
        "--name=a --rw=write --size=64k --runtime=1 --time_based --write_bw_log=l \
         --write_iops_log=l --write_lat_log=l --log_avg_msec=100",
        "--name=a --rw=read --size=64k --numjobs=2 --runtime=1 --time_based --write_bw_log=l \
         --log_avg_msec=100",
    ] {
        same_shape(line);
    }
}

fn read_back(ran: &Ran) -> Value {
    serde_json::from_str(json_text(ran)).unwrap()
}

/// What a JSON says of a side of its first job.
fn figure(json: &Value, side: &str, key: &str) -> f64 {
    json["jobs"][0][side][key].as_f64().unwrap()
}

/// Two figures are within 2 % of each other.
fn within_two_percent(what: &str, one: f64, other: f64) {
    let ratio = one / other;
    println!("{what}: {one:.2} and {other:.2}, {:+.3} %", 100.0 * (ratio - 1.0));
    assert!((ratio - 1.0).abs() <= 0.02, "{what}: {one} and {other}");
}

#[test]
fn a_load_that_is_held_is_reported_alike() {
    let _alone = alone();
    judge("a_load_that_is_held_is_reported_alike", || {
        for (options, side, operations_per_s, block_bytes) in [
            ("--rw=randread --bs=4k --rate_iops=500", "read", 500.0, 4096.0),
            ("--rw=randwrite --bs=16k --rate_iops=250", "write", 250.0, 16_384.0),
            ("--rw=read --bs=64k --rate=8m", "read", 128.0, 65_536.0),
            (
                "--rw=randread --bs=4k --rate_iops=300 --numjobs=2 --group_reporting",
                "read",
                600.0,
                4096.0,
            ),
        ] {
            let line = format!(
                "--name=a {options} --size=32m --runtime=4 --time_based --output-format=json"
            );
            let place = Place::empty();
            let both = [&FIO[..], &DRIVELAB[..]].map(|program| {
                let ran = ran(program, &line, &place);
                assert_eq!(ran.status, 0, "{line}: {}", ran.stderr);
                // Each lays out its own file.
                for name in files(&place).keys() {
                    std::fs::remove_file(place.work().join(name)).unwrap();
                }
                read_back(&ran)
            });
            for (key, asked) in
                [("iops", operations_per_s), ("bw_bytes", operations_per_s * block_bytes)]
            {
                let [theirs, ours] = both.each_ref().map(|json| figure(json, side, key));
                within_two_percent(&format!("{options}, {key}: ours and asked"), ours, asked);
                within_two_percent(&format!("{options}, {key}: fio and asked"), theirs, asked);
                within_two_percent(&format!("{options}, {key}: ours and fio"), ours, theirs);
            }
        }
    });
}

/// Each side's operations and bytes.
fn amounts(json: &Value) -> Vec<(u64, u64)> {
    let jobs = json["jobs"].as_array().unwrap();
    let of = |job: &Value, side: &str| {
        let whole = |key: &str| job[side][key].as_u64().unwrap();
        (whole("total_ios"), whole("io_bytes"))
    };
    jobs.iter().flat_map(|job| ["read", "write", "trim"].map(|side| of(job, side))).collect()
}

#[test]
fn what_was_moved_and_left_behind_is_the_same() {
    let _alone = alone();
    for line in [
        "--name=a --rw=write --bs=16k --size=60000",
        "--name=a --rw=randwrite --bs=4k --size=1m --numjobs=2",
        "--name=a --rw=randread --bs=8k --size=96k --nrfiles=3 --loops=2",
        "--name=a --rw=write --bs=4k --size=256k --verify=md5",
        "--name=a --rw=randwrite --bs=4k --size=256k --verify=crc32c --name=b --stonewall \
         --rw=read --bs=32k --size=1m",
        "--name=a --rw=write --bs=32k --size=64k --io_size=256k --filename=one",
    ] {
        let line = format!("{line} --output-format=json");
        let places = [Place::empty(), Place::empty()];
        let theirs = ran(&FIO, &line, &places[0]);
        let ours = ran(&DRIVELAB, &line, &places[1]);
        assert_eq!((theirs.status, ours.status), (0, 0), "{line}: {}", ours.stderr);
        assert_eq!(amounts(&read_back(&ours)), amounts(&read_back(&theirs)), "{line}");
        assert_eq!(files(&places[1]), files(&places[0]), "{line}");
    }
}

/// Destroys a byte in the middle of a block of 4 KiB.
fn destroy(file: &Path, block: usize) {
    let mut bytes = std::fs::read(file).unwrap();
    let at = block * 4096 + 2000;
    bytes[at] = !bytes[at];
    // In place: a file that is made again is another one.
    let file = std::fs::File::options().write(true).open(file).unwrap();
    file.write_all_at(&bytes[at..=at], at as u64).unwrap();
}

/// Status and the `error` of the first job.
fn ended(program: &[&str], line: &str, place: &Place) -> (i32, i64) {
    let ran = ran(program, line, place);
    (ran.status, read_back(&ran)["jobs"][0]["error"].as_i64().unwrap())
}

#[test]
fn one_byte_that_is_not_what_was_written_is_an_error_as_in_fio() {
    let _alone = alone();
    const EILSEQ: i64 = 84;
    for (order, method) in [("", "crc32c"), ("rand", "md5"), ("rand", "crc32c")] {
        let common = format!("--name=a --filename=f --bs=4k --size=256k --verify={method}");
        let write = format!("{common} --rw={order}write --output-format=json");
        let read = format!("{common} --rw={order}read --output-format=json");
        for program in [&FIO[..], &DRIVELAB[..]] {
            let place = Place::empty();
            let here = &place;
            assert_eq!(ended(program, &write, here), (0, 0), "{program:?} {write}");
            assert_eq!(ended(program, &read, here), (0, 0), "{program:?} {read}");
            destroy(&place.work().join("f"), 5);
            assert_eq!(ended(program, &read, here), (1, EILSEQ), "{program:?} {read}");
            // Made again it is well again; drivelab leaves alone what somebody has changed.
            std::fs::remove_file(place.work().join("f")).unwrap();
            assert_eq!(ended(program, &write, here), (0, 0), "{program:?} {write}");
            assert_eq!(ended(program, &read, here), (0, 0), "{program:?} {read}");
        }
    }
}

#[test]
fn all_is_read_where_fio_ends_at_the_first_wrong_block() {
    let _alone = alone();
    for more in ["", " --verify_fatal=1"] {
        let common = "--name=a --filename=f --bs=4k --size=256k --verify=crc32c";
        let read = format!("{common} --rw=read{more}");
        let [theirs, ours] = [&FIO[..], &DRIVELAB[..]].map(|program| {
            let place = Place::empty();
            assert_eq!(ran(program, &format!("{common} --rw=write"), &place).status, 0);
            [5, 9].into_iter().for_each(|block| destroy(&place.work().join("f"), block));
            ran(program, &read, &place)
        });
        assert_eq!((theirs.status, ours.status), (1, 1));
        assert!(theirs.stdout.contains("issued rwts: total=6,0,0,0"), "{}", theirs.stdout);
        assert!(ours.stdout.contains("issued rwts: total=64,0,0,0"), "{}", ours.stdout);
        let says = "note: All was read, and 2 blocks of it are not what was written";
        assert!(ours.stderr.contains(says), "{}", ours.stderr);
    }
}

#[test]
fn cached_pages_are_dropped_before_each_pass_as_in_fio() {
    let _alone = alone();
    const PASS: u64 = 64 << 20;
    for (load, passes) in [
        ("--rw=read --bs=64k --loops=3 --ioengine=psync", 3),
        ("--rw=randread --bs=16k --loops=3 --ioengine=libaio --iodepth=4", 3),
        ("--rw=read --bs=64k --loops=2 --ioengine=mmap", 1),
    ] {
        // What the device itself has counted tells how often it was asked for each block.
        let read = [&FIO[..], &DRIVELAB[..]].map(|program| {
            let place = Place::empty();
            let below = place.work().join("below");
            std::fs::write(&below, vec![7; usize::try_from(PASS).unwrap()]).unwrap();
            let device = LoopDevice::attach(&below);
            let name = device.path().display();
            let line = format!("--name=a --filename={name} --readonly --size=64m {load}");
            let before = device.counters().read_bytes;
            let ran = ran(program, &line, &place);
            assert_eq!(ran.status, 0, "{program:?} {line}: {}", ran.stderr);
            device.counters().read_bytes - before
        });
        // Others look at a new device too (udev, and the guard of drivelab): a few blocks.
        let expected = passes * PASS..passes * PASS + PASS / 2;
        assert!(read.iter().all(|bytes| expected.contains(bytes)), "{load}: {read:?}");
    }
}

#[test]
fn what_fio_itself_has_written_is_not_called_corrupt() {
    let _alone = alone();
    for method in ["crc32c", "md5", "meta"] {
        let place = Place::empty();
        let common = format!("--name=a --filename=f --bs=4k --size=256k --verify={method}");
        assert_eq!(ran(&FIO, &format!("{common} --rw=write"), &place).status, 0);
        let ours = ran(&DRIVELAB, &format!("{common} --rw=read"), &place);
        assert!(!ours.stderr.contains("not what was written"), "{}", ours.stderr);
        assert!(!ours.stdout.contains("err=84"), "{}", ours.stdout);
        assert!(ours.stderr.contains("cannot tell whether the data is intact"), "{}", ours.stderr);
        assert_ne!(ours.status, 0, "what was not verified is no success");
        // Of drivelab's own data a block that lost its stamp is still wrong.
        let own = Place::empty();
        assert_eq!(ran(&DRIVELAB, &format!("{common} --rw=write"), &own).status, 0);
        let file = std::fs::File::options().write(true).open(own.work().join("f")).unwrap();
        file.write_all_at(&[0; 4096], 8192).unwrap();
        let ours = ran(&DRIVELAB, &format!("{common} --rw=read"), &own);
        assert!(ours.stderr.contains("1 of 64 blocks read are not what was written"));
    }
}

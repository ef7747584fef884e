//! `drivelab watch`, compared with I/O whose amount is known.

use crate::support::binary::{Laboratory, must};
use crate::support::loop_device::LoopDevice;
use crate::support::machine::{Mount, alone, is_unavailable, require_root};
use crate::support::neighbours::judge;
use serde_json::Value;
use std::time::Duration;

const PATIENCE: Duration = Duration::from_secs(30);
const BYTES: u64 = 32 << 20;
const REQUEST: u64 = 64 << 10;

/// A loop device in memory whose blocks all differ.
fn drive() -> (Mount, LoopDevice) {
    let memory = Mount::tmpfs(80);
    let backing = memory.join("backing");
    let bytes: Vec<u8> = (0..64 << 20).map(|at: u32| (at / 4096) as u8 ^ at as u8).collect();
    std::fs::write(&backing, bytes).expect("a backing file");
    let device = LoopDevice::attach(&backing);
    (memory, device)
}

#[test]
fn watch_sees_every_byte_that_is_read_meanwhile() {
    let name = "watch_sees_every_byte_that_is_read_meanwhile";
    if is_unavailable(name) {
        return;
    }
    require_root(name);
    let _alone = alone();
    judge(name, assert_every_byte_is_seen);
}

fn assert_every_byte_is_seen() {
    let (_memory, device) = drive();
    let path = device.path().to_str().expect("UTF-8");
    let laboratory = Laboratory::new();
    let line = ["watch", path, "--every", "200ms", "--count", "15", "--json", "--trace"];
    let mut watch = laboratory.start(line);
    // It looks, and its tracer traces, once it has printed its first line.
    while watch.printed().is_empty() && !watch.has_ended() {
        std::thread::sleep(Duration::from_millis(5));
    }
    let input = format!("if={path}");
    let (size, count) = (format!("bs={REQUEST}"), format!("count={}", BYTES / REQUEST));
    must("dd", [input.as_str(), "of=/dev/null", &size, &count, "iflag=direct", "status=none"]);
    assert!(watch.wait(PATIENCE), "{}", watch.so_far());
    let outcome = watch.finish().expect_status(0);
    let lines: Vec<Value> =
        outcome.stdout.lines().map(|line| serde_json::from_str(line).expect("JSON")).collect();
    assert_eq!(lines.len(), 15, "{}", outcome.stdout);
    let (mut bytes, mut reads, mut before) = (0.0, 0.0, 0.0);
    let mut traced = 0;
    for line in &lines {
        assert_eq!(line["device"], device.name());
        let at = line["at_seconds"].as_f64().expect("a time");
        let of = |key: &str| line["read"][key].as_f64().expect("a rate");
        bytes += of("bytes_per_second") * (at - before);
        reads += of("per_second") * (at - before);
        before = at;
        let served = &line["read"]["served"];
        assert_eq!(line.get("events_lost"), None, "{line}");
        let Some(count) = served["count"].as_u64() else { continue };
        traced += count;
        let ns = |key: &str| served[key].as_f64();
        let max = ns("max_ns").expect("the longest");
        assert!(max > 0.0 && ns("p50_ns").is_none_or(|p50| p50 <= max), "{line}");
        assert!(ns("p99_ns").is_none() || count >= 100, "{line}");
    }
    // Only what was under way between two looks is not seen from end to end.
    let all = BYTES / REQUEST;
    assert!(traced <= all && traced + 16 >= all, "{traced} of {all}");
    assert!((bytes / BYTES as f64 - 1.0).abs() < 0.01, "{bytes} of {BYTES}");
    assert!((reads / (BYTES / REQUEST) as f64 - 1.0).abs() < 0.01, "{reads} reads");
    let last = lines.last().expect("lines");
    assert_eq!(last["read"]["mean_ns"], Value::Null, "nothing is read any more: {last}");
}

#[test]
fn a_run_holds_what_was_counted_meanwhile_and_its_page_draws_it() {
    let name = "a_run_holds_what_was_counted_meanwhile_and_its_page_draws_it";
    if is_unavailable(name) {
        return;
    }
    require_root(name);
    let _alone = alone();
    judge(name, assert_what_was_counted_is_drawn);
}

fn assert_what_was_counted_is_drawn() {
    let (_memory, device) = drive();
    let path = device.path().to_str().expect("UTF-8");
    let laboratory = Laboratory::new();
    let line = ["run", path, "--rw", "randread", "--bs", "16k", "--rate", "2000", "--runtime", "5"];
    laboratory.run(line, PATIENCE).expect_status(0);
    let run = laboratory.only_run();
    let end = run.last_step().end.as_ref().expect("an end");
    let observed = end.observed.as_ref().expect("what was observed");
    let looks: Vec<_> =
        observed.counted.iter().filter(|look| look.device == device.name()).collect();
    assert!((3..=6).contains(&looks.len()), "{looks:?}");
    assert!(looks.windows(2).all(|pair| pair[0].to == pair[1].from), "{looks:?}");
    let bytes: u64 = looks.iter().map(|look| look.read_bytes).sum();
    let all = end.devices.iter().find(|it| it.name == device.name()).expect("the device");
    assert!(bytes <= all.read_bytes && bytes * 10 >= all.read_bytes * 7, "{bytes} of {all:?}");
    let steady = &looks[1];
    let rate = steady.read_bytes as f64 / (steady.to - steady.from) as f64 * 1e9;
    assert!((rate / (2000.0 * 16384.0) - 1.0).abs() < 0.2, "{rate} bytes a second");
    let page = laboratory.data().join("page.html");
    let line = ["report", "last", "--out", page.to_str().expect("UTF-8")];
    laboratory.run(line, PATIENCE).expect_status(0);
    let page = std::fs::read_to_string(page).expect("a page");
    assert!(page.contains("requests in queue and drive, kernel"));
    assert!(page.contains(&format!("{} reads", device.name())));
}

#[test]
fn what_cannot_be_watched_is_refused_with_the_way_out() {
    let laboratory = Laboratory::new();
    let says = |line: &[&str], words: &str| {
        let outcome = laboratory.run(line, PATIENCE).expect_status(2);
        assert!(outcome.stderr.contains(words), "{}", outcome.stderr);
        outcome.expect_plain_words();
    };
    says(&["watch", "/proc", "--count", "1"], "no block device below /proc");
    says(&["watch", "/nowhere", "--count", "1"], "/nowhere is not there");
    says(&["watch", "/", "--every", "1ms"], "Give 100ms to 1h");
}

//! `drivelab watch`, held against I/O whose amount is known.

mod support;

use serde_json::Value;
use std::time::Duration;
use support::binary::{Laboratory, must};
use support::loop_device::LoopDevice;
use support::machine::{Mount, alone, is_unavailable, require_root};

const PATIENCE: Duration = Duration::from_secs(30);
const BYTES: u64 = 32 << 20;
const REQUEST: u64 = 64 << 10;

#[test]
fn watch_sees_every_byte_that_is_read_meanwhile() {
    let name = "watch_sees_every_byte_that_is_read_meanwhile";
    if is_unavailable(name) {
        return;
    }
    require_root(name);
    let _alone = alone();
    let memory = Mount::tmpfs(80);
    let backing = memory.join("backing");
    std::fs::write(&backing, vec![7; 64 << 20]).expect("a backing file");
    let device = LoopDevice::attach(&backing);
    let path = device.path().to_str().expect("UTF-8");
    let laboratory = Laboratory::new();
    let line = ["watch", path, "--every", "200ms", "--count", "15", "--json"];
    let mut watch = laboratory.start(line);
    std::thread::sleep(Duration::from_millis(700));
    let input = format!("if={path}");
    let (size, count) = (format!("bs={REQUEST}"), format!("count={}", BYTES / REQUEST));
    must("dd", [input.as_str(), "of=/dev/null", &size, &count, "iflag=direct", "status=none"]);
    assert!(watch.wait(PATIENCE), "{}", watch.so_far());
    let outcome = watch.finish().expect_status(0);
    let lines: Vec<Value> =
        outcome.stdout.lines().map(|line| serde_json::from_str(line).expect("JSON")).collect();
    assert_eq!(lines.len(), 15, "{}", outcome.stdout);
    let (mut bytes, mut reads, mut before) = (0.0, 0.0, 0.0);
    for line in &lines {
        assert_eq!(line["device"], device.name());
        let at = line["at_seconds"].as_f64().expect("a time");
        let of = |key: &str| line["read"][key].as_f64().expect("a rate");
        bytes += of("bytes_per_second") * (at - before);
        reads += of("per_second") * (at - before);
        before = at;
    }
    assert!((bytes / BYTES as f64 - 1.0).abs() < 0.01, "{bytes} of {BYTES}");
    assert!((reads / (BYTES / REQUEST) as f64 - 1.0).abs() < 0.01, "{reads} reads");
    let last = lines.last().expect("lines");
    assert_eq!(last["read"]["mean_ns"], Value::Null, "nothing is read any more: {last}");
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

//! `run --trace`: what was recorded is issued again, in its order and at its times.

use crate::cli_user::User;
use serde_json::Value;

const FULL: &str = "sim:x25-e,capacity=1GiB,state=filled";

/// 201 requests, one every 5 ms: two reads of 4 KiB for each write of 16 KiB, and a flush.
fn iolog() -> String {
    let mut text = "fio version 3 iolog\n0 disk add\n10 disk open\n".to_string();
    for number in 0..200u64 {
        let (action, bytes) = if number % 3 == 2 { ("write", 16384) } else { ("read", 4096) };
        let (at, offset) = (20 + 5000 * number, (number * 7919 % 60_000) * 16384);
        text.push_str(&format!("{at} disk {action} {offset} {bytes}\n"));
    }
    text + "1000020 disk datasync 0 0\n1000030 disk close\n"
}

fn stream(json: &Value) -> &Value {
    assert_eq!(json["steps"].as_array().unwrap().len(), 1);
    &json["steps"][0]["streams"][0]
}

/// Operations, bytes and seconds of a replay.
fn moved(stream: &Value) -> [u64; 5] {
    let of = |kind: &str, figure: &str| stream[kind][figure].as_u64().unwrap();
    [
        of("read", "ops"),
        of("read", "bytes"),
        of("write", "ops"),
        of("write", "bytes"),
        of("flush", "ops"),
    ]
}

const WHOLE: [u64; 5] = [134, 134 * 4096, 66, 66 * 16384, 1];

#[test]
fn a_trace_comes_at_its_own_times_or_as_many_times_as_fast() {
    let user = User::new();
    user.write("t.log", iolog());
    for (pace, from, to) in [("1", 0.99, 1.01), ("2.0", 0.49, 0.51), ("0.5", 1.99, 2.01)] {
        let line = ["run", "--trace", "t.log", "--pace", pace, FULL, "--seed", "7", "--json"];
        let json = user.types(&line).fine().json();
        let stream = stream(&json);
        assert_eq!(moved(stream), WHOLE, "pace {pace}");
        let seconds = stream["seconds"].as_f64().unwrap();
        assert!((from..to).contains(&seconds), "pace {pace} took {seconds} s");
        // From when each was due, which nothing delayed here.
        let response = &stream["read"]["response_ns"];
        assert!(response["max"].as_f64().unwrap() < 1e6, "{response}");
    }
    let line = ["run", "--trace", "t.log", "--pace", "max", FULL, "--seed", "7", "--json"];
    let json = user.types(&line).fine().json();
    let stream = stream(&json);
    assert_eq!(moved(stream), WHOLE);
    assert!(stream["seconds"].as_f64().unwrap() < 0.2, "{}", stream["seconds"]);
    assert!(stream["read"]["response_ns"].is_null(), "a closed loop has none");
}

#[test]
fn a_drive_that_is_too_slow_falls_behind_and_it_shows() {
    let user = User::new();
    user.write("t.log", iolog());
    let slow = "sim:ocz-core,state=random-filled";
    let line = ["run", "--trace", "t.log", slow, "--seed", "7", "--json"];
    let json = user.types(&line).fine().json();
    let stream = stream(&json);
    assert_eq!(moved(stream), WHOLE, "late, but all of them");
    assert!(stream["seconds"].as_f64().unwrap() > 5.0, "66 merges of a quarter of a second");
    let of = |which: &str| stream["read"][which]["max"].as_f64().unwrap();
    assert!(of("response_ns") > 2.0 * of("service_ns"), "waiting counts: {stream}");
}

#[test]
fn what_is_written_lies_where_the_trace_says() {
    let user = User::new();
    let how = ["--io", "buffered", "--engine", "psync", "--depth", "1", "--keep", "--seed", "1"];
    let replay = |text: &str, more: &[&str]| {
        user.write("t.log", format!("fio version 2 iolog\n{text}"));
        user.types(&[&["run", "--trace", "t.log", "./data"], &how[..], more].concat()).fine();
        std::fs::read(user.work().join("data")).unwrap()
    };
    let before = replay("f write 0 4096\n", &["--size", "1MiB"]);
    let after = replay("f write 8192 4096\nf write 65536 8192\nf write 4096 4096\n", &[]);
    for (number, (before, after)) in before.chunks(4096).zip(after.chunks(4096)).enumerate() {
        assert_eq!(before != after, [1, 2, 16, 17].contains(&number), "block {number}");
    }
}

#[test]
fn the_plan_of_a_trace_is_a_plan() {
    let user = User::new();
    user.write("t.log", iolog());
    let line = ["run", "--trace", "t.log", FULL, "--seed", "7"];
    let text = user.types(&[&line[..], &["--dry-run"]].concat()).fine().out;
    assert!(text.contains("writes at most 1056 KiB"), "{}", text.lines().next().unwrap());
    assert!(text.contains("\"0 read 0 4096\""), "{text}");
    user.write("plan.toml", &text);
    let by_plan = user.types(&["run", "plan.toml", FULL, "--json"]).fine().json();
    let by_trace = user.types(&[&line[..], &["--json"]].concat()).fine().json();
    assert_eq!(stream(&by_plan)["read"], stream(&by_trace)["read"]);
}

#[test]
fn a_trace_that_does_not_fit_is_refused_with_the_way_out() {
    let user = User::new();
    user.write("t.log", iolog());
    user.write("bad.log", "fio version 3 iolog\n0 disk read 0 4096\n7 disk read 4096\n");
    user.write("untimed.log", "fio version 2 iolog\ndisk read 0 4096\n");
    user.write("odd.log", "fio version 3 iolog\n0 disk read 100 4096\n");
    user.write("no.log", "what is this\n");
    for (line, says) in [
        (&["run", "--trace", "bad.log", FULL][..], "bad.log line 3: `read` needs an offset"),
        (&["run", "--trace", "no.log", FULL], "no.log byte 0: neither an iolog"),
        (&["run", "--trace", "none.log", FULL], "cannot read none.log"),
        (&["run", "--trace", "untimed.log", "--pace", "1", FULL], "has no times"),
        (&["run", "--trace", "odd.log", FULL], "a request at byte 100"),
        (&["run", "--trace", "t.log", ".", "--size", "64MiB"], "use a target of"),
        (&["run", "--trace", "t.log", "--pace", "0", FULL], "a factor above 0"),
        (&["run", "--pace", "1", FULL], "--trace"),
        (&["run", "--trace", "t.log", "--rw", "read", FULL], "cannot be used with"),
    ] {
        user.types(line).refused(2, says);
    }
    assert_eq!(user.listing().len(), 5, "scratch was left behind");
}

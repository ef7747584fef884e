//! Requests of fio's lines that have a priority of their own, against fio itself.

use crate::fio_lines::{OURS, THEIRS, jobs, place, printed};
use serde_json::Value;
use std::collections::BTreeMap;
use std::path::Path;

const EPERM: u64 = 1;

/// As root, without the right to realtime priorities.
const BOUND: [&str; 2] = ["setpriv", "--bounding-set=-sys_nice,-sys_admin"];

#[test]
fn the_kernel_gets_the_priority_of_each_request() {
    // Only who may ask for realtime gets it, and best effort may be asked for by all.
    for engine in ["libaio", "io_uring"] {
        for (class, error) in [(1, EPERM), (2, 0)] {
            let line = format!(
                "--name=a --rw=randread --size=64k --direct=1 --ioengine={engine} --iodepth=2 \
                 --cmdprio_percentage=100 --cmdprio_class={class}"
            );
            for program in [&OURS[..], &THEIRS] {
                let place = place();
                let bound: Vec<&str> = BOUND.iter().chain(program).copied().collect();
                // What is read is laid out before, with all rights.
                jobs(program, &line, place.path());
                let found = jobs(&bound, &line, place.path());
                assert_eq!(found[0]["error"], error, "{program:?} {line}");
            }
        }
    }
}

/// How often each direction had each priority in a log of single requests.
fn logged(program: &[&str], line: &str) -> BTreeMap<(String, String), u64> {
    let place = place();
    printed(program, line, place.path());
    let log = std::fs::read_to_string(place.path().join("l_clat.1.log")).unwrap();
    let mut counts = BTreeMap::new();
    for line in log.lines() {
        let words: Vec<&str> = line.split(", ").collect();
        *counts.entry((words[2].to_owned(), words[5].to_owned())).or_insert(0) += 1;
    }
    counts
}

/// Shares of a direction's requests in percent, by priority.
fn shares(counts: &BTreeMap<(String, String), u64>) -> BTreeMap<(String, String), f64> {
    let all = |way: &str| -> u64 {
        counts.iter().filter(|((of, _), _)| of == way).map(|(_, count)| count).sum()
    };
    let share = |(key, count): (&(String, String), &u64)| {
        (key.clone(), *count as f64 * 100.0 / all(&key.0) as f64)
    };
    counts.iter().map(share).collect()
}

#[test]
fn requests_have_priorities_in_the_shares_that_fio_gives_them() {
    let common = "--name=a --rw=randrw --size=16m --direct=1 --iodepth=4 --write_lat_log=l \
                  --log_prio=1 --log_offset=1";
    for (more, kinds) in [
        ("--bs=4k --ioengine=libaio --cmdprio_percentage=30", 4),
        ("--bs=4k --ioengine=io_uring --cmdprio_percentage=30,0 --cmdprio_class=3", 3),
        ("--bs=4k --ioengine=libaio --cmdprio_percentage=0,60 --cmdprio=2,5 --prio=3", 3),
        ("--bs=4k --ioengine=io_uring --cmdprio_percentage=100 --cmdprio_class=2,3", 2),
        (
            "--bssplit=4k/50:8k/50 --ioengine=libaio --prioclass=2 --prio=7 \
             --cmdprio_bssplit=4k/25/1/1:4k/75/3/8:8k/0,8k/40/0/2",
            5,
        ),
        ("--bssplit=4k/50:8k/50 --ioengine=io_uring --cmdprio_bssplit=8k/50 --cmdprio_class=3", 4),
    ] {
        let line = format!("{common} {more}");
        let [ours, theirs] = [&OURS[..], &THEIRS].map(|program| shares(&logged(program, &line)));
        assert_eq!(ours.keys().collect::<Vec<_>>(), theirs.keys().collect::<Vec<_>>(), "{more}");
        assert_eq!(ours.len(), kinds, "{more}: {ours:?}");
        for (key, share) in &ours {
            assert!((share - theirs[key]).abs() < 8.0, "{more}: {ours:?} {theirs:?}");
        }
    }
}

/// Latencies by priority, as they are in JSON: how many samples of each.
fn by_priority(side: &Value, latency: &str) -> Vec<(u64, u64, u64)> {
    let list = side["prios"].as_array().map(Vec::as_slice).unwrap_or_default();
    let count = |it: &Value| it[latency]["N"].as_u64().unwrap();
    let number = |it: &Value, key: &str| it[key].as_u64().unwrap();
    list.iter().map(|it| (number(it, "prioclass"), number(it, "prio"), count(it))).collect()
}

#[test]
fn each_priority_has_its_own_latencies_and_they_come_to_all() {
    let line = "--name=a --rw=randrw --size=8m --bs=4k --direct=1 --ioengine=libaio --iodepth=4 \
                --cmdprio_percentage=40";
    for (more, latency, kept) in [
        ("", "clat_ns", 2),
        ("--lat_percentiles=1", "lat_ns", 2),
        ("--slat_percentiles=1 --clat_percentiles=0", "clat_ns", 2),
        ("--prioclass=1 --prio=0", "clat_ns", 0),
        ("--numjobs=2 --group_reporting", "clat_ns", 2),
    ] {
        let line = format!("{line} {more}");
        for program in [&OURS[..], &THEIRS] {
            let found = jobs(program, &line, place().path());
            assert_eq!(found.len(), 1, "{line}");
            for way in ["read", "write"] {
                let side = &found[0][way];
                let each = by_priority(side, latency);
                let known = [(0, 0), (1, 0)];
                let keys: Vec<(u64, u64)> = each.iter().map(|it| (it.0, it.1)).collect();
                assert_eq!(keys, known[..kept], "{program:?} {line} {way}");
                if kept > 0 {
                    let all: u64 = each.iter().map(|it| it.2).sum();
                    assert_eq!(side[latency]["N"].as_u64(), Some(all), "{program:?} {line}");
                }
            }
            assert!(found[0]["trim"].get("prios").is_none());
        }
    }
}

/// Each direction's rows: class, level and number of samples.
type Rows = Vec<(u64, u64, u64)>;

#[test]
fn jobs_together_have_rows_of_all_their_requests() {
    let common = "--size=2m --bs=4k --direct=1 --ioengine=libaio --iodepth=4 --group_reporting";
    let own = "--cmdprio_percentage=30 --cmdprio_class=2 --cmdprio=3";
    for (first, second, keys) in [
        (own, "", vec![(0, 0), (2, 3)]),
        (own, "--prioclass=2 --prio=6", vec![(0, 0), (2, 3), (2, 6)]),
        ("--prio=1", "--prio=7", vec![(2, 1), (2, 7)]),
        ("--prio=1", "--prio=1", vec![]),
    ] {
        let line =
            format!("{common} --name=a --rw=randread {first} --name=b --rw=randread {second}");
        for program in [&OURS[..], &THEIRS] {
            let found = jobs(program, &line, place().path());
            let mut rows: Rows = by_priority(&found[0]["read"], "clat_ns");
            rows.sort_unstable();
            let found_keys: Vec<(u64, u64)> = rows.iter().map(|row| (row.0, row.1)).collect();
            assert_eq!(found_keys, keys, "{program:?} {line}");
            let all: u64 = rows.iter().map(|row| row.2).sum();
            assert_eq!(all, if keys.is_empty() { 0 } else { 1024 }, "{program:?} {line}");
        }
    }
}

#[test]
fn what_is_read_back_and_what_is_not_timed_has_no_rows() {
    let common = "--name=a --size=1m --bs=4k --direct=1 --ioengine=libaio --iodepth=4 \
                  --cmdprio_percentage=30 --cmdprio_class=2";
    for more in ["--rw=write --verify=md5", "--rw=randread --disable_clat=1"] {
        let line = format!("{common} {more}");
        for program in [&OURS[..], &THEIRS] {
            let found = jobs(program, &line, place().path());
            assert_eq!(found[0]["read"]["total_ios"], 256, "{program:?} {line}");
            let rows: Rows = by_priority(&found[0]["read"], "clat_ns");
            assert_eq!(rows, [], "{program:?} {line}");
        }
    }
}

#[test]
fn hints_tell_rows_of_one_level_apart() {
    let line = "--name=a --rw=randread --size=1m --bs=4k --direct=1 --ioengine=libaio \
                --cmdprio_bssplit=4k/30/2/3/1:4k/40/2/3/2";
    let found = jobs(&OURS, line, place().path());
    let rows = found[0]["read"]["prios"].as_array().unwrap();
    let hints: Vec<Option<u64>> = rows.iter().map(|row| row["priohint"].as_u64()).collect();
    assert_eq!(hints, [None, Some(1), Some(2)]);
    let text = printed(&OURS, line, place().path());
    assert!(text.contains("clat prio 2/3/1 (") && text.contains("clat prio 0/0 ("), "{text}");
}

fn refused(line: &str, place: &Path) -> String {
    let output = std::process::Command::new(OURS[0])
        .args(&OURS[1..])
        .args(line.split_whitespace())
        .current_dir(place)
        .output()
        .unwrap();
    assert_eq!(output.status.code(), Some(1), "{line}");
    String::from_utf8(output.stderr).unwrap()
}

#[test]
fn priorities_that_cannot_be_are_refused_before_anything_is_written() {
    let place = place();
    let line = "--name=a --rw=randwrite --size=1m --bs=4k --direct=1";
    for (more, says) in [
        ("--ioengine=psync --cmdprio_percentage=5", "ioengine=psync carry no priority"),
        ("--ioengine=libaio --cmdprio_percentage=5 --cmdprio_bssplit=4k/5", "mutually exclusive"),
        ("--ioengine=libaio --cmdprio_percentage=101", "from 0 to 100"),
        ("--ioengine=libaio --cmdprio=8", "0, the highest, to 7"),
        ("--ioengine=libaio --cmdprio_class=0", "1 (realtime)"),
        ("--ioengine=libaio --cmdprio_hint=1024", "to 1023"),
        ("--ioengine=libaio --cmdprio_bssplit=4k/10/1", "SIZE/PERCENT"),
        ("--ioengine=libaio --cmdprio_bssplit=4k/60:4k/41", "at most 100 percent"),
    ] {
        let said = refused(&format!("{line} {more}"), place.path());
        assert!(said.contains(says), "{more}: {said}");
        assert_eq!(std::fs::read_dir(place.path()).unwrap().count(), 0, "{more}");
    }
}

#[test]
fn a_report_tells_the_latencies_of_each_priority_of_a_plan() {
    let place = place();
    let plan = place.path().join("plan.toml");
    let text = r#"
        title = "priorities"
        [[steps]]
        name = "mixed"
        until = { operations = 4000 }
        [[steps.streams]]
        engine = "io_uring"
        pattern = "uniform"
        mix = { read = 70, write = 30 }
        depth = 4
        request_priorities = [
            { action = "read", percent = 20, priority = { class = "realtime" } },
            { action = "read", percent = 30, priority = { class = "idle", level = 2 } },
            { action = "write", percent = 100, priority = { class = "best-effort", level = 1 } },
        ]
    "#;
    std::fs::write(&plan, text).unwrap();
    let run = |more: &[&str]| {
        let output = std::process::Command::new(OURS[0])
            .args(["run", plan.to_str().unwrap(), ".", "--size", "8M"])
            .args(more)
            .current_dir(place.path())
            .env("XDG_DATA_HOME", place.path().join("home"))
            .output()
            .unwrap();
        String::from_utf8(output.stdout).unwrap()
    };
    let json: Value = serde_json::from_str(&run(&["--json"])).unwrap();
    let steps = json["steps"].as_array().unwrap();
    let stream = &steps.iter().find(|step| step["name"] == "mixed").unwrap()["streams"][0];
    let figures = |kind: &str| -> Vec<(Value, u64)> {
        let list = stream[kind]["priorities"].as_array().unwrap().iter();
        list.map(|it| (it["priority"].clone(), it["service_ns"]["count"].as_u64().unwrap()))
            .collect()
    };
    let priority = |class: &str, level: u8| serde_json::json!({"class": class, "level": level});
    let (reads, writes) = (figures("read"), figures("write"));
    let known: Vec<&Value> = reads.iter().map(|it| &it.0).collect();
    assert_eq!(known, [&Value::Null, &priority("realtime", 0), &priority("idle", 2)]);
    let all = stream["read"]["ops"].as_u64().unwrap();
    assert_eq!(reads.iter().map(|it| it.1).sum::<u64>(), all);
    for ((_, count), share) in reads.iter().zip([0.5, 0.2, 0.3]) {
        assert!((*count as f64 / all as f64 - share).abs() < 0.05, "{reads:?}");
    }
    assert_eq!(writes, [(priority("best-effort", 1), stream["write"]["ops"].as_u64().unwrap())]);
    // What all writes have needs no row of its own.
    let text = run(&[]);
    for row in ["read, no priority", "read, realtime 0", "read, idle 2", "write service"] {
        assert!(text.contains(row), "{row}: {text}");
    }
    assert!(!text.contains("write, best effort"), "{text}");
}

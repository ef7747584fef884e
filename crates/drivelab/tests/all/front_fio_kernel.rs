//! What fio's lines tell the kernel, what their blocks hold and in which order they come, against
//! fio itself where it can.

use crate::fio_lines::{OURS, THEIRS, place, printed};
use std::collections::HashSet;
use std::path::Path;
use std::process::{Command, Stdio};
use std::time::{Duration, Instant};

/// The priority in a log's first line.
fn logged(program: &[&str], more: &str) -> String {
    let place = place();
    let line = format!("--name=a --rw=write --size=16k --write_lat_log=l {more}");
    printed(program, &line, place.path());
    let log = std::fs::read_to_string(place.path().join("l_clat.1.log")).unwrap();
    log.lines().next().unwrap().split(", ").nth(4).unwrap().to_owned()
}

#[test]
fn logs_have_the_priority_that_fio_writes() {
    for (more, wanted) in [
        ("--prio=3", "0"),
        ("--prio=3 --log_prio=1", "0x4003"),
        ("--prioclass=3 --log_prio=1", "0x6000"),
        ("--nice=3 --log_prio=1", "0x0000"),
    ] {
        assert_eq!(logged(&OURS, more), wanted, "{more}");
        assert_eq!(logged(&THEIRS, more), wanted, "{more}");
    }
}

/// The nice values of a program's threads that do I/O.
fn nice_values(process: u32) -> HashSet<String> {
    let tasks = std::fs::read_dir(format!("/proc/{process}/task"));
    let nice = |path: std::path::PathBuf| -> Option<String> {
        let stat = std::fs::read_to_string(path.join("stat")).ok()?;
        // Names may hold blanks and brackets; the nice value is the 17th word behind them.
        stat.rsplit_once(')')?.1.split_whitespace().nth(16).map(str::to_owned)
    };
    tasks.into_iter().flatten().flatten().filter_map(|task| nice(task.path())).collect()
}

#[test]
fn the_thread_that_does_the_job_is_nice_and_no_other() {
    let place = place();
    let home = tempfile::tempdir().unwrap();
    let line =
        "--name=a --rw=randread --size=1m --runtime=60 --time_based --nice=7 --numa_cpu_nodes=0";
    let mut child = Command::new(OURS[0])
        .arg(OURS[1])
        .args(line.split_whitespace())
        .current_dir(place.path())
        .env("XDG_DATA_HOME", home.path())
        .stdout(Stdio::null())
        .stderr(Stdio::null())
        .spawn()
        .unwrap();
    let begun = Instant::now();
    let wanted: HashSet<String> = ["0", "7"].map(str::to_owned).into();
    let mut found = HashSet::new();
    while found != wanted && begun.elapsed() < Duration::from_secs(50) {
        found = nice_values(child.id());
        std::thread::sleep(Duration::from_millis(20));
    }
    let _ = child.kill();
    let _ = child.wait();
    assert_eq!(found, wanted);
}

/// Different blocks of 4 KiB in files.
fn different(place: &Path, names: &[&str]) -> usize {
    let blocks = |name: &&str| {
        let bytes = std::fs::read(place.join(name)).unwrap();
        bytes.chunks(4096).map(<[u8]>::to_vec).collect::<Vec<_>>()
    };
    names.iter().flat_map(blocks).collect::<HashSet<_>>().len()
}

#[test]
fn as_many_blocks_repeat_others_as_with_fio() {
    for (more, least, most) in [
        ("--dedupe_percentage=0", 4096, 4096),
        ("--dedupe_percentage=30", 2700, 3040),
        ("--dedupe_percentage=100", 1, 2),
        ("--dedupe_percentage=50 --buffer_compress_percentage=50", 1900, 2200),
        (
            "--dedupe_percentage=50 --dedupe_mode=working_set --dedupe_working_set_percentage=50 \
             --dedupe_global=1",
            1900,
            2250,
        ),
    ] {
        for program in [OURS.as_slice(), &THEIRS] {
            let place = place();
            let line = format!(
                "--name=a --rw=write --bs=4k --size=8m --numjobs=2 --refill_buffers=1 {more}"
            );
            printed(program, &line, place.path());
            let mut count = different(place.path(), &["a.0.0", "a.1.0"]);
            if more.ends_with("=100") {
                // Each job of its own.
                count = different(place.path(), &["a.0.0"]);
            }
            assert!((least..=most).contains(&count), "{program:?} {more}: {count}");
        }
    }
}

/// The places of the requests of a line, in order.
fn places_of(line: &str) -> Vec<u64> {
    let place = place();
    printed(&OURS, &format!("{line} --write_iolog=io"), place.path());
    let log = std::fs::read_to_string(place.path().join("io")).unwrap();
    let place_of = |line: &str| {
        let mut words = line.split_whitespace().skip_while(|word| *word != "read");
        words.nth(1)?.parse().ok()
    };
    log.lines().filter_map(place_of).collect()
}

#[test]
fn blocks_come_in_the_order_of_the_list() {
    let line = "--name=a --rw=randread --bs=4k --size=48k --io_size=24k \
                --random_distribution=sequence:2,0,1";
    assert_eq!(places_of(line), [2, 0, 1, 2, 0, 1].map(|block| block * 4096));
    let strided = format!("{line} --random_sequence_stride=1");
    assert_eq!(places_of(&strided), [2, 0, 1, 5, 3, 4].map(|block| block * 4096));
}

#[test]
fn a_latency_that_settles_ends_a_job() {
    let place = place();
    let line = "--name=a --filename=sim:textbook,capacity=2GiB --rw=randread --bs=4k --direct=1 \
                --time_based --runtime=600 --ss=lat:5% --ss_dur=8 --ss_interval=2 \
                --output-format=json";
    let json: serde_json::Value =
        serde_json::from_str(&printed(&OURS, line, place.path())).unwrap();
    let steady = &json["jobs"][0]["steadystate"];
    assert_eq!((&steady["ss"], &steady["duration"]), (&"lat:5.000000%".into(), &8.into()));
    assert_eq!(steady["attained"], 1);
    let latencies = steady["data"]["lat_ns"].as_array().unwrap();
    let mean = steady["data"]["lat_mean"].as_u64().unwrap();
    assert_eq!(latencies.len(), 4, "one each two seconds");
    let of_job = json["jobs"][0]["read"]["lat_ns"]["mean"].as_f64().unwrap();
    assert!((mean as f64 / of_job - 1.0).abs() < 0.01, "{mean} and {of_job}");
    // Rates are those of a second.
    let iops = steady["data"]["iops_mean"].as_f64().unwrap();
    assert!((iops * mean as f64 / 1e9 - 1.0).abs() < 0.02, "{iops} a second of {mean} ns each");
}

/// Few drives can; of the others each engine says so.
#[test]
fn atomic_writes_are_done_or_said_not_to_be_supported() {
    for engine in ["libaio", "io_uring", "pvsync2"] {
        let place = place();
        let line =
            format!("--name=a --rw=write --size=64k --direct=1 --atomic=1 --ioengine={engine}");
        let home = tempfile::tempdir().unwrap();
        let output = Command::new(OURS[0])
            .args(&OURS[1..])
            .args(line.split(' '))
            .current_dir(place.path())
            .env("XDG_DATA_HOME", home.path())
            .output()
            .unwrap();
        let said = String::from_utf8_lossy(&output.stderr);
        let is_told = said.contains("Operation not supported") && said.contains("leave ");
        assert!(output.status.success() || is_told, "{engine}: {said}");
    }
}

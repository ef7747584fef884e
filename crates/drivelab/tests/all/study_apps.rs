//! `apps`, from the typed line to what each user feels, on simulated drives.

use crate::cli_user::{User, figure, said};
use serde_json::Value;

fn quick(user: &User, target: &str, status: i32) -> Value {
    let line = ["study", "apps", target, "--quick", "--seed", "7", "--json"];
    user.types(&line).status(status).json()
}

fn cell<'a>(json: &'a Value, name: &str) -> &'a Value {
    json["cells"].as_array().unwrap().iter().find(|cell| cell["name"] == name).unwrap()
}

#[test]
fn a_drive_that_cannot_keep_up_with_a_film_is_found_out() {
    let user = User::new();
    let json = quick(&user, "sim:ocz-core,state=filled", 1);
    let beware = said(&json, "beware");
    assert!(beware.contains("It cannot record one film while another plays"), "{beware}");
    assert!(!said(&json, "verdict").contains("Media:"));
    assert!(figure(&json, "media, bytes a second") < 0.9 * 16e6);
    // Pieces that come ever later have waited for longer than any one operation takes.
    assert!(figure(&json, "media, longest") > 1e9);
    assert!(figure(&json, "desktop, longest") > 100e6, "merges of a quarter of a second");
}

#[test]
fn a_drive_that_can_is_not_accused() {
    let user = User::new();
    let json = quick(&user, "sim:x25-e,capacity=1GiB", 0);
    assert_eq!(said(&json, "beware"), "");
    let verdict = said(&json, "verdict");
    assert!(verdict.contains("one film is recorded while another plays, 16.0 MB/s"), "{verdict}");
    assert!(verdict.contains("nobody notices"), "{verdict}");
    let rate = figure(&json, "media, bytes a second");
    assert!((rate / 16e6 - 1.0).abs() < 0.01, "{rate}");
    let longest = figure(&json, "media, longest");
    let play = &cell(&json, "media")["streams"][0];
    assert_eq!(play["name"], "play");
    assert!(play["read"]["merged"]["response_ns"]["max"].as_f64().unwrap() <= longest);
}

#[test]
fn the_loads_are_what_they_are_said_to_be() {
    let user = User::new();
    let json = quick(&user, "sim:momentus-7200", 0);
    // A commit on a disk that turns 120 times a second waits for its place to come round.
    let commits = figure(&json, "log");
    assert!((112.0..=120.5).contains(&commits), "{commits}");
    let database = &cell(&json, "database")["streams"][0];
    let ops = |kind: &str| database[kind]["ops"].as_f64().unwrap();
    let share = ops("read") / (ops("read") + ops("write"));
    assert!((share - 0.67).abs() < 0.03, "{share} of {}", ops("read"));
    let bytes = database["read"]["bytes"].as_f64().unwrap();
    assert!((bytes / ops("read") - 8192.0).abs() < 1e-6);
    let seconds = database["seconds"].as_f64().unwrap();
    assert!(seconds > 15.0, "{seconds} s of the database");
    let rate = (ops("read") + ops("write")) / seconds;
    assert!((figure(&json, "database") / rate - 1.0).abs() < 0.001, "{rate} a second");
    // Bursts of four and a rest: no more than 20 a second.
    let desktop = &cell(&json, "desktop")["streams"];
    for (stream, kinds) in [(0, &["read", "write"][..]), (1, &["write"])] {
        let rate = |kind: &&str| desktop[stream][*kind]["iops"]["value"].as_f64().unwrap();
        let rate: f64 = kinds.iter().map(rate).sum();
        assert!((10.0..=21.5).contains(&rate), "{rate} of stream {stream}");
    }
    let scan = &cell(&json, "scan")["streams"][0]["read"];
    assert_eq!(scan["bandwidth_bytes_per_s"]["value"].as_f64().unwrap(), figure(&json, "scan"));
    let tables = json["findings"]["tables"].as_array().unwrap();
    let sources = tables.iter().find(|table| table["title"] == "What the loads are").unwrap();
    for row in sources["rows"].as_array().unwrap() {
        assert!(row[2].as_str().unwrap().len() > 20, "no source: {row}");
    }
    assert_eq!(sources["rows"].as_array().unwrap().len(), 12);
}

/// Shares of reads and bytes of a request, from all that was issued, whichever stream it was of.
#[test]
fn the_models_issue_the_shares_and_sizes_they_are_described_by() {
    let user = User::new();
    let json = quick(&user, "sim:nvme-tlc,capacity=2GiB", 0);
    let done = |stream: &Value, kind: &str, of: &str| stream[kind][of].as_f64().unwrap_or(0.0);
    let both = |stream: &Value, of: &str| done(stream, "read", of) + done(stream, "write", of);
    for (name, share, off, kibibytes) in [
        ("boot", 0.85, 0.01, 18.4),
        ("program start", 0.87, 0.01, 23.44),
        ("gaming load", 0.99, 0.002, 17.44),
        ("video creation", 0.54, 0.02, 64.0),
        ("virus scan", 0.995, 0.002, 22.0),
        // 84 of 64 KiB and 16 of 16 KiB.
        ("photo import", 0.84, 0.02, 56.32),
        ("media centre", 2.0 / 3.0, 0.01, 128.0),
    ] {
        let streams = cell(&json, name)["streams"].as_array().unwrap();
        let sum = |of: &dyn Fn(&Value) -> f64| streams.iter().map(of).sum::<f64>();
        let ops = sum(&|stream| both(stream, "ops"));
        let found = sum(&|stream| done(stream, "read", "ops")) / ops;
        assert!((found - share).abs() < off, "{name}: {found} are reads");
        let mean = sum(&|stream| both(stream, "bytes")) / ops / 1024.0;
        assert!((mean / kibibytes - 1.0).abs() < 0.03, "{name}: {mean} KiB");
    }
    // A piece of a film at each set time, whatever the drive does.
    let film = 9.8e6 / 8.0;
    for stream in cell(&json, "media centre")["streams"].as_array().unwrap() {
        let kind = if stream["name"] == "record" { "write" } else { "read" };
        let rate = stream[kind]["bandwidth_bytes_per_s"]["value"].as_f64().unwrap();
        assert!((rate / film - 1.0).abs() < 0.03, "{rate}");
    }
    // No rests: the fixed work at the rate of all requests.
    let start = &cell(&json, "program start")["streams"][0];
    let rate = ["read", "write"].map(|kind| start[kind]["iops"]["value"].as_f64().unwrap());
    let seconds = figure(&json, "program start") / 1e9;
    assert!((seconds * (rate[0] + rate[1]) / 5407.0 - 1.0).abs() < 1e-6, "{seconds} s");
}

/// A film is written for as long as the other is read, where what may be written ends it.
#[test]
fn streams_of_one_load_run_together_to_the_end_however_little_may_be_written() {
    let user = User::new();
    let line = ["study", "apps", "sim:nvme-tlc,capacity=2GiB", "--quick", "--budget", "5GiB"];
    let json = user.types(&[&line[..], &["--seed", "7", "--json"]].concat()).status(0).json();
    let mut ended_by_bytes = 0;
    for name in ["desktop", "video creation", "photo import", "media", "media centre"] {
        let streams = cell(&json, name)["streams"].as_array().unwrap();
        let seconds = streams.iter().map(|stream| stream["seconds"].as_f64().unwrap());
        let all: Vec<f64> = seconds.collect();
        let [least, most] = [f64::min, f64::max].map(|of| all.iter().copied().reduce(of).unwrap());
        assert!(least > 0.95 * most, "{name}: {all:?}");
        ended_by_bytes += u32::from(most < 24.0);
    }
    assert!(ended_by_bytes > 0, "five times five seconds each: nothing was bounded");
}

#[test]
fn a_file_is_served_and_nonsense_is_refused() {
    let user = User::new();
    let bounds = ["--quick", "--budget", "512MiB", "--time", "30s", "--size", "64MiB"];
    let line = [&["study", "apps", ".", "--seed", "7", "--json"], &bounds[..]].concat();
    let answer = user.types(&line);
    assert!(matches!(answer.status, Some(0 | 1 | 4)), "{}", answer.err);
    let json = answer.json();
    let steps = json["steps"].as_array().unwrap();
    let written: u64 = steps
        .iter()
        .flat_map(|step| step["streams"].as_array().unwrap())
        .map(|stream| stream["write"]["bytes"].as_u64().unwrap_or(0))
        .sum();
    assert!((64 << 20..=512 << 20).contains(&written), "{written}");
    assert_eq!(steps.len(), 2 + 5 * 12 * 2, "all loads, five times, each settled in");
    assert!(said(&json, "deviations").contains("A file, not a drive"));
    assert_eq!(user.listing(), [""; 0], "scratch was left behind");
    user.types(&[&line[..5], &["--budget", "100MiB"]].concat()).refused(2, "small for `apps`");
}

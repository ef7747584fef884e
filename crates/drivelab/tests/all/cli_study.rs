//! Studies, from the typed line to the verdict, on simulated drives whose insides are known.

use crate::cli_user::{User, figure, said, true_steady_iops};
use serde_json::Value;

const GIB: f64 = (1u64 << 30) as f64;

fn study(user: &User, name: &str, target: &str, more: &[&str]) -> Value {
    let line = [&["study", name, target, "--seed", "7", "--json"], more].concat();
    user.types(&line).fine().json()
}

/// Bytes that the host had written before the drive first had to collect.
fn first_collection_bytes(user: &User) -> f64 {
    let path = user.last_run();
    let text = std::fs::read_to_string(path).unwrap();
    let mut units = 0;
    for line in text.lines().filter(|line| line.starts_with("{\"record\":\"inside\"")) {
        let inside = serde_json::from_str::<Value>(line).unwrap()["inside"].clone();
        units += inside["host_units"].as_u64().unwrap_or(0);
        if inside["collection_units"].as_u64().unwrap_or(0) > 0 {
            return units as f64 * 4096.0;
        }
    }
    panic!("it never collected");
}

#[test]
fn wsat_finds_the_cliff_and_what_is_left() {
    for (spare, collector) in [("0.28", "greedy"), ("0.12", "fifo"), ("0.20", "random")] {
        let user = User::new();
        let target = format!("sim:textbook,capacity=1GiB,spare={spare},collector={collector}");
        let json = study(&user, "wsat", &target, &[]);
        let cliff = figure(&json, "cliff after");
        let truth = first_collection_bytes(&user);
        assert!((cliff / truth - 1.0).abs() < 0.03, "{target}: cliff {cliff} of {truth}");
        let steady = figure(&json, "steady state");
        let truth = true_steady_iops(&user, &target);
        assert!((steady / truth - 1.0).abs() < 0.03, "{target}: steady {steady} of {truth}");
        assert!(said(&json, "verdict").contains("The write cliff comes after"));
        assert_eq!(json["findings"]["beware"].as_array().unwrap().len(), 0, "{target}");
        let watched: Vec<&Value> =
            json["steps"].as_array().unwrap().iter().filter(|it| it["role"] == "measure").collect();
        assert_eq!(watched.len(), 6, "first, and five that watch");
        assert!(watched[1..].iter().all(|step| step["state"] == "random-steady"));
    }
}

fn written_bytes(json: &Value) -> u64 {
    let steps = json["steps"].as_array().unwrap().iter();
    steps.map(|step| step["streams"][0]["write"]["bytes"].as_u64().unwrap_or(0)).sum()
}

#[test]
fn a_rate_that_the_host_bounds_is_not_settled_before_its_cliff() {
    // The controller lets 18.2k IOPS through, level to the last digit, while the spare lasts.
    let user = User::new();
    let target = "sim:x25-m,capacity=4GiB";
    let json = study(&user, "wsat", target, &[]);
    let (steady, truth) = (figure(&json, "steady state"), true_steady_iops(&user, target));
    assert!((steady / truth - 1.0).abs() < 0.05, "steady {steady} of {truth}");
    let verdict = said(&json, "verdict");
    assert!(!verdict.contains("cliff comes after"), "it is hidden by the bound: {verdict}");
    let unknown = said(&json, "unknown");
    assert!(unknown.contains("Where the drive began to collect: before"), "{unknown}");
    let fell = figure(&json, "falls after") / (4.0 * GIB);
    assert!((2.0..6.0).contains(&fell), "searched beyond two capacities: {fell}");
}

#[test]
fn wsat_takes_six_capacities_and_is_quick() {
    for seed in ["1", "2", "3", "4", "5", "6", "7", "8"] {
        let user = User::new();
        let target = "sim:textbook,capacity=1GiB";
        let line = ["study", "wsat", target, "--quick", "--seed", seed, "--json"];
        let json = user.types(&line).fine().json();
        let capacities = written_bytes(&json) as f64 / GIB;
        assert!(capacities <= 6.0, "seed {seed}: {capacities} capacities");
        assert!(figure(&json, "steady state") > 0.0, "seed {seed}");
    }
}

#[test]
fn an_early_fall_has_candidates_and_no_cause() {
    // A write of 4 KiB takes a unit of 16 KiB: the flash is used up at a third of the capacity.
    let user = User::new();
    let target = "sim:textbook,capacity=1GiB,page_bytes=16384,map_unit_bytes=16384";
    let line = ["study", "wsat", target, "--seed", "1", "--json"];
    let json = user.types(&line).json();
    let verdict = said(&json, "verdict");
    assert!(!verdict.contains("a cache was full"), "{verdict}");
    assert_eq!(verdict.matches("The rate falls after").count(), 1, "it falls on and on: {verdict}");
    let unknown = said(&json, "unknown");
    assert_eq!(unknown.matches("distinguish them").count(), 1, "{unknown}");
    assert!(!verdict.contains("cliff"), "{verdict}");
}

#[test]
fn wsat_says_what_it_did_not_reach() {
    let user = User::new();
    let more = ["--budget", "600MiB", "--json", "--seed", "1"];
    let line = [&["study", "wsat", "sim:textbook,capacity=1GiB"], &more[..]].concat();
    let json = user.types(&line).status(4).json();
    let unknown = said(&json, "unknown");
    assert!(unknown.contains("Where the write cliff is"), "{unknown}");
    assert!(unknown.contains("What is left in the steady state"), "{unknown}");
    assert!(said(&json, "verdict").contains("It was not shown to have settled"), "{json}");
    let written: u64 = json["steps"]
        .as_array()
        .unwrap()
        .iter()
        .map(|step| step["streams"][0]["write"]["bytes"].as_u64().unwrap_or(0))
        .sum();
    assert!(written <= 600 << 20, "{written}");
    assert!(written as f64 > 0.3 * GIB, "{written}");
}

#[test]
fn trim_tells_a_drive_that_works_from_one_that_ignores_it() {
    let user = User::new();
    let works = study(&user, "trim", "sim:textbook,capacity=512MiB", &[]);
    assert!(said(&works, "verdict").contains("TRIM works"), "{works}");
    assert!(figure(&works, "of fresh") > 0.95);
    let before = figure(&works, "random write, before TRIM");
    assert!(before < 0.5 * figure(&works, "random write, fresh"));
    let trimmed = works["steps"]
        .as_array()
        .unwrap()
        .iter()
        .find(|step| step["name"] == "random write, after TRIM");
    assert_eq!(trimmed.unwrap()["state"], "unknown", "reads and a warm-up came before");
    let target = "sim:textbook,capacity=512MiB,honours_trim=false";
    let line = ["study", "trim", target, "--seed", "7", "--json"];
    let ignored = user.types(&line).status(1).json();
    assert!(said(&ignored, "beware").contains("accepted and ignored"), "{ignored}");
    assert!(!said(&ignored, "verdict").contains("TRIM works"));
}

#[test]
fn aa_finds_nothing_where_nothing_is() {
    let user = User::new();
    let json = study(&user, "aa", "sim:textbook,capacity=256MiB", &["--quick"]);
    assert_eq!(figure(&json, "cells found different"), 0.0);
    let comparison = &json["findings"]["comparison"];
    assert_eq!(comparison["cells"].as_array().unwrap().len(), 4);
    assert_eq!(comparison["delta"], 0.05);
    let names: Vec<&str> =
        json["steps"].as_array().unwrap().iter().map(|it| it["name"].as_str().unwrap()).collect();
    assert_eq!(names[0], "fill");
    assert_eq!(names[1], "control first");
    assert_eq!(*names.last().unwrap(), "control last");
    let middle = names.iter().position(|name| *name == "control middle").unwrap();
    assert!((24..=36).contains(&middle), "{middle}");
    let rounds: Vec<&[&str]> = names[6..middle].chunks(8).collect();
    assert!(rounds[0] != rounds[1], "each round has an order of its own");
    for round in rounds {
        let mut sorted = round.to_vec();
        sorted.sort_unstable();
        sorted.dedup();
        assert_eq!(sorted.len(), 8, "every cell once a round: {round:?}");
    }
}

#[test]
fn snia_tests_reach_their_window_and_say_what_they_are() {
    let user = User::new();
    let json = study(&user, "pts-lat", "sim:textbook,capacity=512MiB", &["--quick"]);
    assert!(said(&json, "verdict").contains("Steady by SNIA's criterion in rounds"));
    let deviations = said(&json, "deviations");
    assert!(deviations.contains("PTS-derived, not PTS"), "{deviations}");
    let matrix = &json["findings"]["tables"][0];
    assert_eq!(
        (matrix["heads"].as_array().unwrap().len(), &matrix["heads"][1]["unit"]),
        (4, &"ns".into())
    );
    assert_eq!(matrix["rows"].as_array().unwrap().len(), 3);
    assert!(matrix["rows"][0][1].as_f64().unwrap() > 0.0, "{matrix}");
    let json = study(&user, "pts-tp", "sim:textbook,capacity=512MiB", &["--quick"]);
    let names: Vec<&Value> =
        json["steps"].as_array().unwrap().iter().map(|it| &it["name"]).collect();
    for name in ["precondition 128 KiB", "empty", "precondition 1 MiB"] {
        assert!(names.iter().any(|known| **known == name), "{name} of {names:?}");
    }
    let rows = json["findings"]["tables"][0]["rows"].as_array().unwrap().len();
    assert_eq!(rows, 4, "{}", json["findings"]["tables"]);
}

#[test]
fn the_client_profile_is_three_quarters_of_the_drive() {
    let user = User::new();
    let target = "sim:textbook,capacity=512MiB";
    let json = study(&user, "pts-iops", target, &["--quick", "--profile", "client"]);
    assert!(said(&json, "verdict").contains("(client profile)"), "{}", json["findings"]);
    let deviations = said(&json, "deviations");
    assert!(!deviations.contains("active range"), "{deviations}");
    assert!(deviations.contains("asks for on here"), "{deviations}");
    let steps = json["steps"].as_array().unwrap();
    let named = |name: &str| steps.iter().find(|step| step["name"] == name).unwrap();
    let before = &named("precondition 128 KiB")["streams"][0];
    assert_eq!(before["write"]["bytes"], 2 * 512 * 1024 * 1024u64, "twice the drive");
    let cell = &named("R/W 0/100 4 KiB")["streams"][0];
    assert_eq!((&cell["workers"], &cell["depth"]), (&2.into(), &16.into()), "{cell}");
    let plans = std::fs::read_to_string(user.last_run()).unwrap();
    assert!(plans.contains("\"length\":\"384MiB\""));
    let servers = study(&user, "pts-iops", target, &["--quick"]);
    assert!(said(&servers, "deviations").contains("asks for off here"));
}

#[test]
fn a_matrix_is_complete_in_the_order_of_the_specification() {
    let user = User::new();
    // A disk has few operations to simulate in an hour.
    let disk = "sim:momentus-7200,capacity=256MiB";
    let line = ["study", "pts-iops", disk, "--full", "--seed", "1"];
    let first = user.types(&[&line[..], &["--dry-run"]].concat()).fine().out;
    assert!(first.contains("precondition 128 KiB") && first.contains("passes = 2"), "{first}");
    let time = ["--time", "3h", "--json"];
    let json = user.types(&[&line[..], &time[..]].concat());
    let json: Value = serde_json::from_str(&json.out).unwrap();
    let names: Vec<&str> =
        json["steps"].as_array().unwrap().iter().map(|it| it["name"].as_str().unwrap()).collect();
    assert_eq!(names[0], "precondition 128 KiB");
    assert_eq!((names[1], names[2]), ("R/W 100/0 1 MiB", "R/W 100/0 128 KiB"));
    assert_eq!((names[8], names[9]), ("R/W 100/0 512 B", "R/W 95/5 1 MiB"));
    assert_eq!((names[56], names[57]), ("R/W 0/100 512 B", "R/W 100/0 1 MiB"));
}

#[test]
fn budgets_are_kept_and_told_before() {
    let user = User::new();
    for name in ["aa", "wsat", "trim", "pts-iops", "pts-tp", "pts-lat", "modes", "endurance"] {
        let budget = ["--quick", "--budget", "1GiB", "--time", "30s", "--seed", "3"];
        let line = [&["study", name, "sim:textbook,capacity=128MiB"], &budget[..]].concat();
        let forecast = user.types(&[&line[..], &["--dry-run"]].concat()).fine().out;
        assert!(forecast.contains("at most 30s of virtual time and 1 GiB written"), "{forecast}");
        let said = user.types(&[&line[..], &["--json"]].concat());
        assert!(matches!(said.status, Some(0 | 1 | 4)), "{name}: {}", said.err);
        let json = said.json();
        let (mut written, mut seconds) = (0, 0.0);
        for step in json["steps"].as_array().unwrap() {
            let stream = &step["streams"][0];
            written += stream["write"]["bytes"].as_u64().unwrap_or(0);
            seconds += stream["seconds"].as_f64().unwrap_or(0.0);
        }
        assert!(written <= 1 << 30, "{name} wrote {written}");
        assert!(seconds <= 30.5, "{name} took {seconds} s");
    }
    // Of a mix some draws write more than its share.
    let target = "sim:x25-m,capacity=8GiB,seed=466";
    let line = ["check", target, "--budget", "4GiB", "--time", "15m", "--seed", "349", "--json"];
    let json = user.types(&line).json();
    let steps = json["steps"].as_array().unwrap().iter().flat_map(|it| it["streams"].as_array());
    let written = |stream: &Value| stream["write"]["bytes"].as_u64().unwrap_or(0);
    let written: u64 = steps.flatten().map(written).sum();
    assert!((3 << 30..=4 << 30).contains(&written), "check wrote {written}");
}

#[test]
fn slow_drives_keep_the_time_too() {
    let user = User::new();
    for (name, target) in [
        ("trim", "sim:momentus-7200,capacity=512MiB"),
        ("trim", "sim:zhou-ocz,capacity=512MiB"),
        ("wsat", "sim:momentus-7200,capacity=512MiB"),
        ("pts-lat", "sim:momentus-7200,capacity=512MiB"),
    ] {
        let said = user.types(&["study", name, target, "--quick", "--seed", "3", "--json"]);
        let json = said.json();
        let steps = json["steps"].as_array().unwrap();
        let seconds: f64 =
            steps.iter().filter_map(|step| step["streams"][0]["seconds"].as_f64()).sum();
        assert!(seconds <= 303.0, "{name} on {target} took {seconds} s");
        assert!(matches!(said.status, Some(0 | 4)), "{name} on {target}: {}", json["findings"]);
    }
}

#[test]
fn nothing_is_said_that_was_not_seen() {
    let user = User::new();
    let study = |words: &[&str]| {
        let said = user.types(&[&["study"], words, &["--seed", "3", "--json"]].concat());
        (said.status.unwrap(), said.json())
    };
    // A volume that is held at its rate shows nothing of a TRIM.
    let (status, json) = study(&["trim", "sim:gp2,capacity=512MiB", "--quick"]);
    assert_eq!(status, 4, "{}", json["findings"]);
    assert!(said(&json, "unknown").contains("had lost nothing"), "{}", json["findings"]);
    // A drive with so much spare flash falls by a quarter only.
    let (status, json) =
        study(&["trim", "sim:textbook,capacity=512MiB,spare=1.0,honours_trim=false"]);
    assert_eq!(status, 1, "{}", json["findings"]);
    // A discard is no proof of an empty drive.
    let full = "sim:textbook,capacity=512MiB,state=random-filled,honours_trim=false";
    let (_, json) = study(&["wsat", full]);
    assert!(!said(&json, "verdict").contains("The write cliff"), "{}", json["findings"]);
    assert!(said(&json, "unknown").contains("nothing proves that this one was empty"));
    // Nor was the cause measured, so that all candidates are told.
    let why =
        ["Why it falls so early", "A cache may", "a quota", "Nothing here distinguishes them"];
    assert!(why.iter().all(|words| said(&json, "unknown").contains(words)), "{json}");
    // Preconditioning that the clock cut short is none.
    let (status, json) =
        study(&["pts-tp", "sim:zhou-hdd,capacity=8GiB", "--quick", "--time", "30s"]);
    assert_eq!(status, 4, "{}", json["findings"]);
    assert_eq!(said(&json, "verdict"), "");
    // What is shortened says so, whatever it was called.
    let short = ["--full", "--time", "3000s", "--budget", "2GiB"];
    let (_, json) = study(&[&["pts-lat", "sim:textbook,capacity=64MiB"], &short[..]].concat());
    let steady = said(&json, "verdict").contains("Steady");
    assert!(!steady || said(&json, "deviations").contains("PTS-derived"), "{}", json["findings"]);
    // Noise is no bad finding.
    for seed in ["1", "2", "3"] {
        let line = ["study", "pts-iops", "sim:zhou-hdd,capacity=512MiB", "--quick", "--seed", seed];
        let found = user.types(&line);
        assert_eq!(found.status, Some(0), "seed {seed}: {}", found.out);
    }
}

#[test]
fn nonsense_is_refused_in_one_sentence() {
    let user = User::new();
    let small = "sim:textbook,capacity=256MiB";
    for (line, says) in [
        (&["study", "wsatt", small][..], "there are aa, wsat, trim"),
        (&["study", "wsat", small, "--quick", "--full"], "cannot be used with"),
        (&["study", "wsat", small, "--budget", "1MiB"], "a budget of 1MiB is too small"),
        (&["study", "aa", small, "--budget", "300MiB"], "--budget 512MiB"),
        (&["study", "trim", small, "--budget", "1MiB"], "too small for `trim`"),
        (&["study", "pts-tp", small, "--budget", "64MiB"], "preconditioning alone writes"),
        (&["study", "pts-iops", small, "--quick", "--budget", "30MiB"], "an active range of"),
        (&["study", "pts-iops", small, "--quick", "--budget", "1"], "an active range of"),
        (&["study", "wsat", small, "--time", "1s"], "too short for any study"),
        (&["study", "wsat", small, "--band", "0"], "--band"),
        (&["study", "wsat", small, "--purge", "fire"], "--purge fire is not known"),
        (&["study", "trim", "."], "`trim` needs a whole drive"),
        (&["study", "pts-tp", small, "--write-cache", "off"], "a simulated drive has none"),
        (&["study", "pts-tp", ".", "--write-cache", "on"], "this is a file; leave it out"),
        (&["study", "wsat", small, "--write-cache", "on"], "is for the studies `pts-iops`, "),
        (&["study", "wsat", small, "--profile", "client"], "is for the studies `pts-iops`, "),
        (&["study", "wsat", small, "--per-day", "1GB"], "is for the study `endurance`"),
        (&["study", "pts-tp", small, "--profile", "home"], "invalid value 'home'"),
        (&["study", "wsat", ".", "--size", "1MiB"], "is too small for"),
        (&["study", "wsat", small, "--size", "1GiB"], "--size is for a file"),
    ] {
        user.types(line).refused(2, says);
    }
    // More of a drive's life than a hundredth is taken only where the bytes were named.
    let wears = ["study", "wsat", ".", "--size", "64MiB", "--rated", "100GB"];
    user.types(&wears).refused(3, "of the drive's rated endurance of 100 GB (as --rated says)");
    let told = user.types(&[&wears[..], &["--dry-run"]].concat()).fine().out;
    assert!(told.contains("of its rated endurance of 100 GB"), "{told}");
    assert_eq!(user.listing(), [""; 0], "scratch was left behind");
    let disk = ["study", "wsat", "sim:momentus-7200,capacity=256MiB,state=filled"];
    let said = user.types(&[&disk[..], &["--purge", "nvme-format"]].concat()).status(2);
    assert!(said.err.contains("no command that purges it"), "{}", said.err);
}

#[test]
fn a_load_is_measured_once_it_is_steady() {
    let user = User::new();
    let target = "sim:textbook,capacity=512MiB,spare=0.28";
    let load = ["--rw", "randwrite", "--depth", "32", "--passes", "4", "--seed", "3"];
    let line = [&["run", target, "--json", "--precondition", "10m"], &load[..]].concat();
    let json = user.types(&line).fine().json();
    let steps = json["steps"].as_array().unwrap();
    let measured = steps.last().unwrap();
    assert_eq!(
        (measured["role"].as_str(), &measured["state"]),
        (Some("measure"), &"random-steady".into())
    );
    let iops = measured["streams"][0]["write"]["iops"]["value"].as_f64().unwrap();
    let truth = true_steady_iops(&user, target);
    assert!((iops / truth - 1.0).abs() < 0.02, "{iops} of {truth}");
    let rounds = &steps[..steps.len() - 1];
    assert!(rounds.iter().all(|step| step["role"] == "precondition"));
    let said =
        |step: &Value| step["notes"].as_array().unwrap().iter().any(|it| it["code"] == "rounds");
    assert_eq!(rounds.iter().filter(|step| said(step)).count(), 1, "the last round says it");
    // The same load without it meets the empty drive.
    let line = [&["run", target, "--json"], &load[..]].concat();
    let fresh = user.types(&line).fine().json();
    let iops = fresh["steps"][0]["streams"][0]["write"]["iops"]["value"].as_f64().unwrap();
    assert!(iops > 1.1 * truth, "{iops} of {truth}");
}

#[test]
fn a_load_that_never_settles_says_so() {
    let user = User::new();
    let target = "sim:textbook,capacity=512MiB";
    let load = ["--rw", "randwrite", "--depth", "32", "--passes", "1", "--seed", "3"];
    let line = [&["run", target, "--precondition", "1s"], &load[..]].concat();
    let text = user.types(&line).fine().out;
    let text = text.split_whitespace().collect::<Vec<_>>().join(" ");
    assert!(
        text.contains("was not steady when its other bound was reached: only 5 rounds were done"),
        "{text}"
    );
    let line = [&["run", target, "--precondition", "1s", "--rate", "10"], &load[..]].concat();
    user.types(&line).refused(2, "always steady");
}

/// The latency of a commit is that of its flush: a claim on it is met and missed around what the
/// same line of `run` measures.
#[test]
fn a_commit_is_accepted_by_its_flush() {
    let user = User::new();
    let target = "sim:sata-mlc,state=filled";
    let line = ["run", target, "--rw", "write", "--bs", "4k", "--engine", "psync", "--seed", "3"];
    let more = ["--sync", "fdatasync:1", "--runtime", "5s", "--json"];
    let json = user.types(&[&line[..], &more].concat()).fine().json();
    let flush = &json["cells"][0]["streams"][0]["flush"]["service_ns"]["merged"]["service_ns"];
    let flush = if flush.is_null() {
        json["steps"][0]["streams"][0]["flush"]["service_ns"].clone()
    } else {
        flush.clone()
    };
    let p99_ns = flush["p99"].as_u64().unwrap();
    assert!(p99_ns > 100_000, "{flush}");
    let claim = |name: &str, share: u64| {
        format!(
            "[[claim]]\nname = \"{name}\"\nmetric = \"p99\"\nat_most = {}\nrw = \"write\"\n\
             sync = \"fdatasync:1\"\nof = \"flush\"\nseconds = 2\n",
            p99_ns * share / 100
        )
    };
    user.write("commit.toml", claim("easy", 150) + &claim("hard", 70));
    let said = user.types(&["accept", "commit.toml", target, "--seed", "3", "--json"]);
    assert_eq!(said.status, Some(1), "{}", said.err);
    let json = said.json();
    let answers: Vec<&str> = json["claims"]
        .as_array()
        .unwrap()
        .iter()
        .map(|claim| claim["answer"].as_str().unwrap())
        .collect();
    assert_eq!(answers, ["met", "not met"], "{}", json["claims"]);
}

#[test]
fn a_purge_of_a_directory_is_refused_and_not_left_out() {
    let user = User::new();
    let line = ["study", "wsat", ".", "--quick", "--purge", "nvme-sanitize"];
    user.types(&line).refused(2, "--purge nvme-sanitize empties a whole drive");
    assert_eq!(user.listing(), [""; 0]);
}

/// A rate that sinks only after the history was looked at for a fall is not the host's.
#[test]
fn a_fall_that_came_later_is_blamed_on_nobody() {
    let user = User::new();
    let json = |target: &str| {
        // Room for two capacities of search, the fill and the settling, and not for more.
        let line = ["study", "wsat", target, "--seed", "7", "--budget", "6GiB", "--json"];
        user.types(&line).json()
    };
    let unknown = said(&json("sim:x25-m,capacity=1GiB"), "unknown");
    assert!(unknown.contains("It fell later, in the random writes after"), "{unknown}");
    assert!(!unknown.contains("such as the host or the link"), "{unknown}");
    // A drive that its link holds below what its flash can do for ever does not fall.
    let held = "sim:textbook,capacity=512MiB,spare=1.0,link_bytes_per_s=20MB/s";
    let unknown = said(&json(held), "unknown");
    assert!(unknown.contains("such as the host or the link"), "{unknown}");
    assert!(!unknown.contains("It fell later"), "{unknown}");
}

/// What each run warns of is said of several, too.
#[test]
fn several_targets_keep_their_warnings() {
    let user = User::new();
    let line = ["study", "rank", "sim:x25-e", "sim:x25-m,capacity=1GiB", "--quick", "--seed", "7"];
    let text = user.types(&line).fine().out;
    let text = text.split_whitespace().collect::<Vec<_>>().join(" ");
    assert!(text.contains("Warning this is `x25-m` scaled to 1 GiB"), "{text}");
    assert!(!text.contains("this is `x25-e` scaled"), "{text}");
}

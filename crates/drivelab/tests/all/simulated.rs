//! Whole commands on simulated drives.

use serde_json::Value;
use std::path::{Path, PathBuf};
use std::process::{Command, Output};

struct User {
    home: tempfile::TempDir,
}

impl User {
    fn new() -> User {
        User { home: tempfile::tempdir().unwrap() }
    }

    fn types(&self, arguments: &[&str]) -> Output {
        Command::new(env!("CARGO_BIN_EXE_drivelab"))
            .args(arguments)
            .current_dir(self.home.path())
            .env("XDG_DATA_HOME", self.home.path().join("data"))
            .output()
            .unwrap()
    }

    fn json(&self, arguments: &[&str]) -> Value {
        let output = self.types(arguments);
        let text = String::from_utf8(output.stdout).unwrap();
        let errors = String::from_utf8_lossy(&output.stderr).into_owned();
        serde_json::from_str(&text).unwrap_or_else(|error| panic!("{error}: {text}{errors}"))
    }

    /// What a command that is refused says, with its status.
    fn refused(&self, arguments: &[&str]) -> (i32, String) {
        let output = self.types(arguments);
        assert!(output.stdout.is_empty(), "{}", String::from_utf8_lossy(&output.stdout));
        (output.status.code().unwrap(), String::from_utf8(output.stderr).unwrap())
    }

    fn run_files(&self) -> Vec<PathBuf> {
        let mut files: Vec<PathBuf> =
            std::fs::read_dir(self.home.path().join("data/drivelab/runs"))
                .unwrap()
                .map(|entry| entry.unwrap().path())
                .filter(|path| path.extension().is_some_and(|extension| extension == "jsonl"))
                .collect();
        files.sort();
        files
    }
}

const STEADY: &str = "sim:textbook,spare=0.28,collector=fifo,capacity=256MiB,state=steady";

const WRITES: [&str; 9] =
    ["--rw", "randwrite", "--bs", "4k", "--depth", "32", "--passes", "3", "--json"];

fn run_on<'a>(target: &'a str, load: &[&'a str]) -> Vec<&'a str> {
    let mut arguments = vec!["run", target, "--interval", "20ms"];
    arguments.extend(load);
    arguments
}

#[test]
fn amplification_of_the_last_pass_is_what_theory_says() {
    let user = User::new();
    let summary = user.json(&run_on(STEADY, &WRITES));
    let step = &summary["steps"][0];
    assert_eq!(step["valid"], true);
    assert_eq!(step["state"], "random-steady");
    let drive = &step["drive"];
    let found = drive["write_amplification"].as_f64().unwrap();
    // FIFO with a spare of 28 % (drivelab_sim::theory::fifo); 256 blocks, one pass.
    assert!((found / 2.481 - 1.0).abs() < 0.02, "{found}");
    assert!(drive["passes"].as_f64().unwrap() >= 1.0);
    assert!(drive["utilisation"].as_f64().unwrap() > 0.98);
    // What does not apply in virtual time is null.
    let write = &step["streams"][0]["write"];
    assert_eq!(step["streams"][0]["engine_cpu_ns_per_op"], Value::Null);
    assert_eq!((&write["submit_ns"], &write["response_ns"]), (&Value::Null, &Value::Null));
    assert_eq!(write["ops"], 3 * 65_536);
}

#[test]
fn equal_seeds_give_equal_records_after_the_first() {
    let user = User::new();
    let mut load = WRITES.to_vec();
    load.extend(["--seed", "7"]);
    user.json(&run_on(STEADY, &load));
    user.json(&run_on(STEADY, &load));
    let files = user.run_files();
    assert_eq!(files.len(), 2);
    let records = |path: &Path| {
        let text = std::fs::read_to_string(path).unwrap();
        let (_, rest) = text.split_once('\n').unwrap();
        assert!(rest.lines().count() > 10);
        rest.to_owned()
    };
    assert_eq!(records(&files[0]), records(&files[1]));
    let inside = records(&files[0]).lines().filter(|line| line.contains("\"inside\"")).count();
    assert!(inside > 5, "{inside}");
}

#[test]
fn reads_of_what_was_never_written_are_suspect() {
    let user = User::new();
    let target = "sim:textbook,capacity=256MiB";
    let output = user.types(&["run", target, "--rw", "randread", "--operations", "10000"]);
    assert_eq!(output.status.code(), Some(4));
    assert!(String::from_utf8_lossy(&output.stdout).contains("was never written"));
    let filled = "sim:textbook,capacity=256MiB,state=filled";
    let output = user.types(&["run", filled, "--rw", "randread", "--operations", "10000"]);
    assert_eq!(output.status.code(), Some(0), "{}", String::from_utf8_lossy(&output.stdout));
}

#[test]
fn check_doubts_that_the_rates_of_a_cloud_volume_last() {
    let user = User::new();
    let output = user.types(&["check", "sim:gp2", "--seed", "3"]);
    let text = String::from_utf8(output.stdout).unwrap();
    let text = text.split_whitespace().collect::<Vec<_>>().join(" ");
    assert!(text.contains("Like network volumes of a cloud ("), "{text}");
    let doubt = "Whether these rates last: a volume of a cloud may spend credits";
    assert!(text.contains(doubt), "{text}");
    let way = "`drivelab run sim:gp2 --rw randread --depth 32 --runtime 1h`";
    assert!(text.contains(way), "{text}");
}

#[test]
fn check_says_what_a_simulated_disk_is_good_for() {
    let user = User::new();
    let output = user.types(&["check", "sim:momentus-7200", "--seed", "3"]);
    let text = String::from_utf8(output.stdout).unwrap();
    assert_eq!(output.status.code(), Some(0), "{text}");
    assert!(text.contains("Poor for    desktop: random 4K read Q1"), "{text}");
    let text_in_one = text.split_whitespace().collect::<Vec<_>>().join(" ");
    assert!(text_in_one.contains("of its first tracks: the last carry about half"), "{text}");
    assert!(text.contains("Like        hard disks ("), "{text}");
    assert!(!text.contains("credits"), "{text}");
    assert!(text.contains("Each durable commit"), "{text}");
    let page = std::fs::read_dir(user.home.path())
        .unwrap()
        .map(|entry| entry.unwrap().path())
        .find(|path| path.extension().is_some_and(|extension| extension == "html"))
        .unwrap();
    let page = std::fs::read_to_string(page).unwrap();
    assert!(page.contains("Virtual time: no drive was touched."));
    assert!(page.contains("what the simulated drive did meanwhile"));
    assert!(page.len() < 300_000, "{}", page.len());
}

#[test]
fn writes_that_a_cache_takes_make_no_drive_good_for_backup() {
    let user = User::new();
    let output = user.types(&["check", "sim:sas-raid10", "--seed", "7"]);
    let text = String::from_utf8(output.stdout).unwrap();
    let words = text.split_whitespace().collect::<Vec<_>>().join(" ");
    assert!(!words.contains("Good for backup"), "{text}");
    assert!(words.contains("backup: sustained sequential write 2.00 GB/s (at most that"), "{text}");
    assert!(
        words.contains("sequential read Q1 38.1 MB/s (not repeatable: 5 repetitions from 21.0")
    );
}

#[test]
fn every_profile_is_listed_shown_and_runs() {
    let user = User::new();
    let listed = user.json(&["sim", "list", "--json"]);
    let listed = listed["simulated"].as_array().unwrap().clone();
    assert!(listed.len() >= 13);
    for drive in &listed {
        let name = drive["name"].as_str().unwrap();
        let shown = user.json(&["sim", "show", name, "--json"]);
        assert_eq!(shown["name"], *name);
        let sections = shown["parameters"].as_object().unwrap();
        let fitted = sections.values().flat_map(|section| section.as_object().unwrap().values());
        let fitted = fitted.filter(|parameter| parameter["status"] == "fitted").count();
        assert!(fitted <= 3, "{name} has {fitted} fitted parameters");
        // The maps of the large ones would take gigabytes.
        let target = match name {
            "pblaze5-c916" | "nvme-tlc" | "nvme-qlc" => format!("sim:{name},capacity=64GiB"),
            _ => format!("sim:{name}"),
        };
        let load = ["--rw", "randrw", "--bs", "4k", "--operations", "2000", "--json"];
        let ran = user.json(&run_on(&target, &load));
        assert_eq!(ran["complete"], true, "{name}");
        let stream = &ran["steps"][0]["streams"][0];
        assert_eq!(
            stream["read"]["ops"].as_u64().unwrap() + stream["write"]["ops"].as_u64().unwrap(),
            2000
        );
    }
}

#[test]
fn nonsense_is_refused_with_the_way_out() {
    let user = User::new();
    for (target, words) in [
        ("sim:textbok", "did you mean `textbook`?"),
        ("sim:", "drivelab sim list"),
        ("sim:textbook,spar=0.1", "did you mean `spare`?"),
        ("sim:textbook,spare", "is not key=value"),
        ("sim:textbook,spare=much", "is not a number"),
        ("sim:textbook,spare=0.0001", "spare"),
        ("sim:textbook,capacity=900TiB", "2^32"),
        ("sim:ocz-core,capacity=900TiB", "of memory"),
        ("sim:textbook,state=old", "known are fresh"),
        ("sim:textbook,state=aged", "only a plan ages a drive"),
        ("sim:textbook,page_cache=1MiB", "at least 16MiB"),
        ("sim:textbook,page_cache=90TiB", "of memory"),
        ("sim:x25-e,worn_cycles=200000", "at most endurance_cycles"),
        ("sim:x25-e,retention_retries=3", "both be given"),
        ("sim:textbook,collector=best", "greedy"),
        ("sim:momentus-7200,state=steady", "is not a flash drive"),
        ("sim:./missing.toml", "cannot read the profile"),
    ] {
        let reads = ["run", target, "--rw", "randread", "--operations", "10"];
        let (status, text) = user.refused(&reads);
        assert_eq!(status, 2, "{target}: {text}");
        assert!(text.contains(words), "{target}: {text}");
        assert!(text.lines().count() <= 4, "{target}: {text}");
    }
    for (load, words) in [
        (vec!["--engine", "mmap"], "page cache"),
        (vec!["--io", "buffered"], "page cache"),
        (vec!["--rw", "create"], ""),
    ] {
        let mut arguments = vec!["run", "sim:textbook,capacity=256MiB", "--operations", "10"];
        arguments.extend(load);
        let (status, text) = user.refused(&arguments);
        assert_eq!(status, 2, "{text}");
        assert!(text.contains(words), "{text}");
    }
}

#[test]
fn buffered_cells_need_a_page_cache_and_say_what_it_answered() {
    let user = User::new();
    let target = "sim:momentus-7200,state=filled,page_cache=256MiB";
    // One of 2,000 random reads meets an earlier one in a run of twenty: the seed is fixed.
    let load = ["--io", "buffered", "--rw", "randread", "--bs", "4k", "--seed", "1", "--json"];
    let run = |more: &[&str]| {
        let mut arguments = vec!["run", target];
        arguments.extend(load);
        arguments.extend(more);
        user.json(&arguments)["steps"][0].clone()
    };
    // Of the whole disk next to nothing is in memory; of 64 MiB read eight times over, most.
    let large = run(&["--operations", "2000"]);
    assert_eq!(
        (&large["valid"], large["drive"]["drive_read_bytes"].as_u64()),
        (&Value::Bool(true), Some(2000 * 4096))
    );
    let small = run(&["--length", "64MiB", "--operations", "131072"]);
    assert_eq!(small["valid"], false);
    assert_eq!(small["reasons"][0]["code"], "not_from_device");
    let rate = |step: &Value| step["streams"][0]["read"]["iops"]["value"].as_f64().unwrap();
    assert!(rate(&small) > 5.0 * rate(&large));
    // In order, read-ahead makes single blocks as fast as large ones.
    let mut sequential = vec!["run", target, "--engine", "stdio", "--rw", "read", "--bs", "4k"];
    sequential.extend(["--operations", "50000", "--json"]);
    let step = user.json(&sequential)["steps"][0].clone();
    let bandwidth = step["streams"][0]["read"]["bandwidth_bytes_per_s"]["value"].as_f64().unwrap();
    assert!(bandwidth > 40e6, "{bandwidth}");
    let sudden = ["run", target, "--io", "buffered", "--rw", "randwrite", "--bs", "4k"];
    let written = user.types(&[sudden.as_slice(), &["--operations", "5000"]].concat());
    assert_eq!(written.status.code(), Some(4));
    let text = String::from_utf8(written.stdout).unwrap();
    let words: Vec<&str> = text.split_whitespace().collect();
    assert!(words.join(" ").contains("the rest is still in the page cache"), "{text}");
    let kept = user
        .json(&[sudden.as_slice(), &["--operations", "5000", "--sync", "end", "--json"]].concat());
    assert_eq!(kept["steps"][0]["valid"], true, "{}", kept["steps"][0]["reasons"]);
}

#[test]
fn cells_last_as_long_as_the_load_lets_them() {
    let user = User::new();
    let target = "textbook,capacity=1GiB,endurance_cycles=1000";
    let shown = user.json(&["sim", "show", target, "--per-day", "1GiB", "--json"]);
    let derived = |name: &str| shown["derived"][name].as_f64().unwrap();
    let nominal = 1.0 + derived("spare_nominal");
    assert!((derived("lifetime_sequential_days") / (1000.0 * nominal) - 1.0).abs() < 1e-3);
    let random = derived("lifetime_sequential_days") / derived("write_amplification_expected");
    assert!((derived("lifetime_random_days") / random - 1.0).abs() < 1e-6);
    let (status, text) = user.refused(&["sim", "show", "gp2", "--per-day", "1GB"]);
    assert_eq!(status, 2);
    assert!(text.contains("no endurance_cycles"), "{text}");
    let run = format!("sim:{target},state=steady");
    let mut arguments = run_on(&run, &WRITES);
    arguments.extend(["--seed", "2"]);
    let step = user.json(&arguments)["steps"][0].clone();
    let days = step["drive"]["lifetime_days"].as_f64().unwrap();
    let bytes_a_day =
        step["streams"][0]["write"]["bandwidth_bytes_per_s"]["value"].as_f64().unwrap() * 86_400.0;
    let factor = step["drive"]["write_amplification"].as_f64().unwrap();
    let expected = 1000.0 * nominal * f64::from(1 << 30) / (factor * bytes_a_day);
    assert!((days / expected - 1.0).abs() < 0.02, "{days} {expected}");
}

#[test]
fn a_profile_file_is_read_as_a_whole() {
    let user = User::new();
    let shown = user.types(&["sim", "show", "gp3"]);
    assert_eq!(shown.status.code(), Some(0));
    let wrong = "name = \"mine\"\ntitle = \"mine\"\nkind = \"disk\"\nabout = \"\"\n\n[parameters]\n\
                 rotation_rpn = { value = 7200, source = \"\", status = \"spec\" }\n";
    std::fs::write(user.home.path().join("mine.toml"), wrong).unwrap();
    let reads = ["run", "sim:./mine.toml", "--rw", "read", "--operations", "1"];
    let (status, text) = user.refused(&reads);
    assert_eq!(status, 2);
    assert!(text.contains("mine.toml line 7, column 1") && text.contains("rotation_rpn"), "{text}");
    assert!(text.contains("^^^^"), "{text}");
}

#[test]
fn the_ready_plans_run() {
    let user = User::new();
    let plans = Path::new(env!("CARGO_MANIFEST_DIR")).join("../../plans");
    let mut count = 0;
    for entry in std::fs::read_dir(plans).unwrap() {
        let plan = entry.unwrap().path();
        let arguments = ["run", plan.to_str().unwrap(), "sim:textbook,capacity=256MiB", "--json"];
        let ran = user.json(&arguments);
        assert_eq!(ran["complete"], true, "{}", plan.display());
        assert!(!ran["cells"].as_array().unwrap().is_empty(), "{}", plan.display());
        count += 1;
    }
    assert!(count > 0);
}

/// What libaio asks of the page cache the kernel does before `io_submit` returns, one after the
/// other: a depth is no depth there, and a drive that could do 64 at once is slower than past it.
#[test]
fn libaio_through_the_page_cache_is_one_at_a_time() {
    let user = User::new();
    let iops = |engine: &str, depth: &str, direct: &str| {
        let json = user.json(&[
            "fio",
            "--name=a",
            "--filename=sim:nvme-tlc,page_cache=64MiB,capacity=8GiB",
            "--rw=randread",
            "--bs=4k",
            "--size=8G",
            "--number_ios=20000",
            "--output-format=json",
            &format!("--ioengine={engine}"),
            &format!("--iodepth={depth}"),
            &format!("--direct={direct}"),
        ]);
        json["jobs"][0]["read"]["iops"].as_f64().unwrap()
    };
    let one = iops("psync", "1", "0");
    let buffered = iops("libaio", "64", "0");
    let direct = iops("libaio", "64", "1");
    assert!((buffered / one - 1.0).abs() < 0.01, "{buffered} against {one} one at a time");
    assert!(direct > 5.0 * buffered, "{direct} past the cache, {buffered} through it");
}

#[test]
fn noise_is_asked_for_drawn_by_the_seed_and_no_change_where_it_is_none() {
    let user = User::new();
    let iops = |keys: &str| {
        let target = format!("sim:textbook,capacity=64MiB,state=filled{keys}");
        let load = ["--rw", "randread", "--runtime", "3", "--repeat", "4", "--seed", "3", "--json"];
        let json = user.json(&run_on(&target, &load));
        let steps = json["steps"].as_array().unwrap();
        let rate = |step: &Value| step["streams"][0]["read"]["iops"]["value"].as_f64().unwrap();
        steps.iter().map(rate).collect::<Vec<f64>>()
    };
    let plain = iops("");
    assert_eq!(iops(",noise=0%"), plain, "a pace of one");
    let noisy = iops(",noise=host:10%");
    assert_eq!(noisy, iops(",noise=host:10%"), "a seed draws the same noise for ever");
    assert_ne!(noisy, iops(",noise=host:10%,seed=2"));
    let spread = |rates: &[f64]| {
        let (low, high) = rates
            .iter()
            .fold((f64::MAX, 0_f64), |(low, high), rate| (low.min(*rate), high.max(*rate)));
        high / low - 1.0
    };
    assert!(spread(&plain) < 0.002, "{plain:?}");
    assert!((0.005..0.2).contains(&spread(&noisy)), "{noisy:?}");
}

/// A flash drive answers for what was never written without its flash, however it is read; a disk
/// reads its platters, and a volume says nothing of the sort.
#[test]
fn reads_of_what_was_never_written_are_suspect_on_every_flash_drive() {
    let user = User::new();
    let list = user.json(&["sim", "list", "--json"]);
    let (mut suspect, mut valid) = (0, Vec::new());
    for name in list["simulated"].as_array().unwrap().iter().map(|one| one["name"].as_str()) {
        let name = name.unwrap();
        for [rw, bs] in [["read", "128k"], ["read", "4k"], ["randread", "4k"]] {
            let load = ["--rw", rw, "--bs", bs, "--depth", "32", "--runtime", "100ms", "--json"];
            let judged = |target: &str| -> Vec<String> {
                let json = user.json(&[&["run", target][..], &load].concat());
                let reasons = json["steps"][0]["reasons"].as_array().unwrap();
                reasons.iter().map(|one| one["code"].as_str().unwrap().to_owned()).collect()
            };
            let never = judged(&format!("sim:{name}")).contains(&"unwritten_blocks".to_owned());
            let filled = judged(&format!("sim:{name},state=filled"));
            assert!(!filled.contains(&"unwritten_blocks".to_owned()), "{name} {rw} {bs}");
            match never {
                true => suspect += 1,
                false => valid.push(name.to_owned()),
            }
        }
    }
    valid.dedup();
    let no_flash = ["zhou-hdd", "momentus-7200", "sas-raid10", "sas-raid5", "san"];
    assert_eq!(valid, [&no_flash[..], &["gp2", "gp3", "essd"]].concat());
    assert!(suspect >= 36, "{suspect}");
}

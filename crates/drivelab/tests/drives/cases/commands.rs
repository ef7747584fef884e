//! The engine io_uring_cmd: NVMe commands to the character device of a namespace.

use super::measured::{good, last_step};
use crate::guest::{PATIENCE, asked, by_two, found, kernel_name, node, sysfs, wait_until};
use crate::support::binary::{Laboratory, Outcome, kind_of, must};
use serde_json::json;
use std::fs;

const ENGINE: [&str; 2] = ["--engine", "io_uring_cmd"];
const MIB: u64 = 1 << 20;

/// The character device of a namespace.
fn generic(name: &str) -> String {
    format!("/dev/{}", kernel_name(name).replace("nvme", "ng"))
}

/// The token that the refusal of a write by commands shows.
fn token(laboratory: &Laboratory, target: &str) -> String {
    let line = ["run", target, "--rw", "write", "--operations", "1"];
    let refused = laboratory.run([&line[..], &ENGINE].concat(), PATIENCE).expect_status(3);
    let mut words = refused.stderr.split_whitespace().skip_while(|word| *word != "--erase");
    words.nth(1).unwrap_or_else(|| panic!("no token in {}", refused.stderr)).to_owned()
}

/// What QEMU has counted of the drive behind a namespace.
fn by_qemu(drive: &str, counter: &str) -> u64 {
    let answers = asked(&[json!({"execute": "query-blockstats"})]);
    let all = answers[0]["return"].as_array().unwrap_or_else(|| panic!("{answers}"));
    let of = all.iter().find(|one| one["device"] == drive).unwrap_or_else(|| panic!("{answers}"));
    of["stats"][counter].as_u64().unwrap_or_else(|| panic!("{of}"))
}

/// The kernel counted nothing of it: that is said, and nothing is called wrong or proved.
fn expect_unchecked(outcome: &Outcome) {
    let step = last_step(outcome);
    assert_ne!(step["valid"], true, "{step}");
    let unchecked = step["unchecked"].as_array().expect("a list");
    let told = unchecked.iter().find(|reason| reason["code"] == "device_bytes");
    let told = told.unwrap_or_else(|| panic!("nothing on the counters: {step}"));
    assert!(told["text"].as_str().unwrap().contains("io_uring_cmd hands"), "{told}");
}

fn fine(laboratory: &Laboratory, line: &[&str]) -> Outcome {
    good(laboratory.run([line, &["--json"]].concat(), PATIENCE))
}

/// What is written one way is read the other way, by QEMU's own count in whole bytes, and no sooner
/// than a token names the block device of the same namespace.
pub fn both() {
    for (name, size) in [("first", "4k"), ("coarse", "64k"), ("paths", "4k")] {
        let (block, generic) = (node(name), generic(name));
        let laboratory = Laboratory::new();
        let token = token(&laboratory, &generic);
        assert_eq!(token, laboratory.token(&block), "{name}: one namespace has one token");
        let before = (by_qemu(name, "wr_bytes"), sysfs(name, "stat"));
        let load = ["--bs", size, "--depth", "8", "--length", "8m", "--passes", "1"];
        let load = [&load[..], &["--seed", "7"]].concat();
        let writes = ["run", &generic, "--rw", "write", "--stamp", "--erase", &token];
        let outcome = fine(&laboratory, &[&writes[..], &load, &ENGINE].concat());
        assert_eq!(kind_of(&outcome.json(), "write")["bytes"], 8 * MIB, "{outcome:?}");
        assert_eq!(by_qemu(name, "wr_bytes") - before.0, 8 * MIB, "{name}");
        expect_unchecked(&outcome);
        let written = |stat: &str| stat.split_whitespace().nth(4).map(str::to_owned);
        assert_eq!(written(&before.1), written(&sysfs(name, "stat")), "past the block layer");
        let reads = ["run", &block, "--rw", "read", "--verify"];
        for engine in [&["--engine", "io_uring"][..], &["--engine", "psync", "--depth", "1"]] {
            let load = load.iter().copied().filter(|word| engine.len() == 2 || *word != "--depth");
            let load: Vec<&str> = load.filter(|word| engine.len() == 2 || *word != "8").collect();
            fine(&laboratory, &[&reads[..], &load, engine].concat());
        }
        let buffered = ["--engine", "psync", "--io", "buffered"];
        let short = ["--bs", size, "--length", "8m", "--passes", "1", "--seed", "7"];
        fine(&laboratory, &[&reads[..], &short, &buffered].concat());
    }
    other_way("first", "4k", &["--engine", "io_uring", "--depth", "4"]);
    other_way("coarse", "64k", &["--engine", "psync", "--io", "buffered", "--sync", "end"]);
    durable_and_trimmed();
    in_one_run();
    let line = ["run", &generic("first"), "--rw", "randread", "--operations", "300"];
    let outcome = Laboratory::new().run([&line[..], &ENGINE].concat(), PATIENCE);
    assert!(matches!(outcome.status, Some(0 | 4)), "{outcome:?}");
    for said in ["without the commands of io_uring_cmd", "note        io_uring_cmd hands"] {
        assert!(outcome.stdout.contains(said), "{said}: {outcome:?}");
    }
}

/// While a run lasts, its device stays open, and the page cache with it: what is dirty there
/// reaches the drive before commands read, and what is stale is not read after they wrote.
fn in_one_run() {
    let block = node("coarse");
    let laboratory = Laboratory::new();
    let token = laboratory.token(&block);
    let step = |name: &str, engine: &str, kind: &str, mark: &str, pass: u32| {
        let io = if engine == "psync" { "buffered" } else { "direct" };
        format!(
            "[[steps]]\nname = \"{name}\"\nuntil = {{ passes = 1 }}\n\n[[steps.streams]]\n\
             engine = \"{engine}\"\nio = \"{io}\"\npattern = \"sequential\"\n\
             mix = {{ {kind} = 100 }}\nsize = \"64k\"\nlength = \"4m\"\n{mark} = true\n\
             pass = {pass}\n\n"
        )
    };
    let plan = [
        "seed = 3\n\n".to_owned(),
        step("cached writes", "psync", "write", "stamp", 1),
        step("commands read", "io_uring_cmd", "read", "verify", 1),
        step("cached reads", "psync", "read", "verify", 1),
        step("commands write", "io_uring_cmd", "write", "stamp", 5),
        step("cached reads again", "psync", "read", "verify", 5),
    ];
    let file = laboratory.data().join("plan.toml");
    fs::write(&file, plan.concat()).expect("a plan");
    let line = ["run", file.to_str().expect("UTF-8"), &block, "--erase", &token, "--json"];
    let outcome = laboratory.run(line, PATIENCE);
    let json = outcome.json();
    assert_eq!(json["complete"], true, "{outcome:?}");
    let steps = json["steps"].as_array().expect("steps");
    assert_eq!(steps.len(), 5, "{json}");
    for step in steps {
        let reasons = step["reasons"].to_string();
        let is_right = !["mismatches", "not_verified"].iter().any(|code| reasons.contains(code));
        assert!(is_right, "{}: {reasons}", step["name"]);
    }
}

/// What the block device wrote in this way, commands read.
fn other_way(name: &str, size: &str, way: &[&str]) {
    let (block, generic) = (node(name), generic(name));
    let laboratory = Laboratory::new();
    let load = ["--bs", size, "--length", "8m", "--passes", "1", "--seed", "8"];
    let token = laboratory.token(&block);
    let writes = ["run", &block, "--rw", "write", "--stamp", "--erase", &token];
    fine(&laboratory, &[&writes[..], &load, way].concat());
    let reads = ["run", &generic, "--rw", "randread", "--pattern", "permutation", "--verify"];
    let before = by_qemu(name, "rd_bytes");
    let more = [&ENGINE[..], &["--depth", "16"]].concat();
    let outcome = fine(&laboratory, &[&reads[..], &load, &more].concat());
    assert!(by_qemu(name, "rd_bytes") - before >= 8 * MIB, "{name}");
    expect_unchecked(&outcome);
    let told = outcome.json()["warnings"].to_string();
    assert!(told.contains("character_device"), "{told}");
    // The block device is as good a name of the namespace.
    for mode in ["--unregistered", "--sqpoll"] {
        let reads = ["run", &block, "--rw", "read", "--verify", mode];
        fine(&laboratory, &[&reads[..], &load, &more].concat());
    }
}

/// A line of fio's with this engine, which names the character device.
pub fn of_fio() {
    let generic = generic("coarse");
    let laboratory = Laboratory::new();
    let token = token(&laboratory, &generic);
    let target = format!("--filename={generic}");
    let line = ["fio", "--name=commands", &target, "--ioengine=io_uring_cmd", "--cmd_type=nvme"];
    let load = ["--rw=randwrite", "--bs=16k", "--iodepth=4", "--size=4m", "--erase", &token];
    let before = by_qemu("coarse", "wr_bytes");
    let outcome = laboratory.run([&line[..], &load].concat(), PATIENCE);
    assert!(matches!(outcome.status, Some(0)), "{outcome:?}");
    assert!(outcome.stdout.contains("ioengine=io_uring_cmd"), "{outcome:?}");
    assert_eq!(by_qemu("coarse", "wr_bytes") - before, 4 * MIB);
}

/// The commands that the kernel's driver was given meanwhile, in its tracer's words.
fn sent<T>(act: impl FnOnce() -> T) -> (T, String) {
    const TRACER: &str = "/sys/kernel/tracing";
    if !fs::exists(format!("{TRACER}/trace")).expect("sysfs") {
        must("mount", ["-t", "tracefs", "tracefs", TRACER]);
    }
    let set = |file: &str, text: &str| {
        fs::write(format!("{TRACER}/{file}"), text)
            .unwrap_or_else(|error| panic!("{file}: {error}"));
    };
    set("trace", "");
    set("events/nvme/nvme_setup_cmd/enable", "1");
    let done = act();
    set("events/nvme/nvme_setup_cmd/enable", "0");
    (done, fs::read_to_string(format!("{TRACER}/trace")).expect("a trace"))
}

fn count(sent: &str, command: &str) -> usize {
    sent.lines().filter(|line| line.contains(command)).count()
}

/// Flushes and trims are commands, too; a write that must be durable is one.
fn durable_and_trimmed() {
    let (block, generic) = (node("first"), generic("first"));
    let laboratory = Laboratory::new();
    let run = |words: &[&str]| {
        let token = token(&laboratory, &generic);
        let line = ["run", &generic, "--bs", "64k", "--passes", "1", "--erase", &token];
        fine(&laboratory, &[&line[..], &ENGINE, words].concat())
    };
    let writes = ["--rw", "write", "--length", "4m"];
    let (outcome, sent) = sent(|| run(&[&writes[..], &["--sync", "fsync:8"]].concat()));
    assert_eq!(kind_of(&outcome.json(), "flush")["ops"], 8, "{outcome:?}");
    assert_eq!(count(&sent, "nvme_cmd_flush"), 8, "{sent}");
    assert_eq!(count(&sent, "nvme_cmd_write "), 64, "{sent}");
    let durable = [&writes[..], &["--sync", "dsync", "--depth", "4"]].concat();
    let (_, sent) = self::sent(|| run(&durable));
    let forced = sent.lines().filter(|line| line.contains("nvme_cmd_write "));
    assert_eq!(forced.filter(|line| line.contains("ctrl=0x4000")).count(), 64, "{sent}");
    let held = |offset: u64| {
        let mut file = fs::File::open(&block).expect("the namespace");
        use std::io::{Read, Seek, SeekFrom};
        must("blockdev", ["--flushbufs", &block]);
        let mut bytes = vec![0; MIB as usize];
        file.seek(SeekFrom::Start(offset)).and_then(|_| file.read_exact(&mut bytes)).expect("read");
        bytes.iter().any(|byte| *byte != 0)
    };
    assert!(held(0) && held(3 * MIB));
    let trims = ["--rw", "randtrim", "--pattern", "permutation", "--depth", "8"];
    let outcome = run(&[&trims[..], &["--offset", "1m", "--length", "2m"]].concat());
    assert_eq!(kind_of(&outcome.json(), "trim")["bytes"], 2 * MIB, "{outcome:?}");
    assert!(!held(MIB) && !held(2 * MIB), "what was trimmed");
    assert!(held(0) && held(3 * MIB), "what lies next to it");
}

/// One sentence with the way out, and nothing written.
pub fn refused() {
    let laboratory = Laboratory::new();
    let (first, coarse) = (node("first"), node("coarse"));
    let generic = generic("first");
    let file = laboratory.data().join("file");
    fs::write(&file, [1; 8192]).expect("a file");
    let file = file.to_str().expect("UTF-8");
    let (sata, virtio, protected) = (node("sata"), node("virtio"), node("protected"));
    let wrong: [(&str, &[&str], &str); 9] = [
        (file, &[], "this target is a file"),
        (&sata, &[], "is not an NVMe namespace"),
        (&virtio, &[], "is not an NVMe namespace"),
        (&protected, &[], "8 bytes of metadata with protection information"),
        (&first, &["--bs", "1m"], "one NVMe command carries"),
        (&first, &["--bs", "1000"], "512-byte block"),
        (&coarse, &["--bs", "512"], "4096-byte block"),
        (&first, &["--io", "buffered"], "goes past the page cache"),
        ("sim:textbook", &[], "this target is a simulated drive"),
    ];
    by_two(&wrong, |(target, words, said)| {
        for kind in ["randread", "randwrite"] {
            let line = [&["run", *target, "--rw", kind, "--operations", "10"], &ENGINE[..], words];
            let outcome = laboratory.run(line.concat(), PATIENCE);
            // A file that is not ours, or a drive without its token, may be the first objection.
            let is_guarded = kind == "randwrite" && outcome.status == Some(3);
            let is_told = outcome.status == Some(2) && outcome.stderr.contains(said);
            assert!(is_guarded || is_told, "{target} {words:?}: {outcome:?}");
            if is_told {
                outcome.expect_plain_words();
            }
        }
    });
    let line = ["run", &generic, "--rw", "randread", "--operations", "10"];
    let outcome = laboratory.run(line, PATIENCE).expect_status(2);
    assert!(outcome.stderr.contains("add --engine io_uring_cmd, or name /dev/nvme"), "{outcome:?}");
    let dry = [&line[..], &ENGINE, &["--dry-run"]].concat();
    let outcome = laboratory.run(dry, PATIENCE).expect_status(0);
    assert!(outcome.stdout.contains("engine = \"io_uring_cmd\""), "{outcome:?}");
    assert_eq!(laboratory.run_files(), Vec::<std::path::PathBuf>::new());
    mounted();
}

/// A namespace in use is not written by its other name either.
fn mounted() {
    let (block, generic) = (node("second"), generic("second"));
    let laboratory = Laboratory::new();
    let free = token(&laboratory, &generic);
    must("mkfs.ext4", ["-q", "-F", &block]);
    let used = token(&laboratory, &generic);
    assert_ne!(free, used, "the token names what is on it");
    let place = laboratory.data().join("mounted");
    fs::create_dir(&place).expect("a directory");
    must("mount", [&block, place.to_str().expect("UTF-8")]);
    let before = by_qemu("second", "wr_bytes");
    for target in [&block, &generic] {
        for token in [&free, &used] {
            let line = ["run", target, "--rw", "randwrite", "--operations", "10", "--erase", token];
            let outcome = laboratory.run([&line[..], &ENGINE].concat(), PATIENCE).expect_status(3);
            assert!(outcome.stderr.contains("mounted"), "{outcome:?}");
        }
    }
    assert_eq!(by_qemu("second", "wr_bytes"), before);
    let line = ["run", &generic, "--rw", "randread", "--operations", "100"];
    fine(&laboratory, &[&line[..], &ENGINE].concat());
    must("umount", [&place]);
    let partition = format!("{block}p1");
    let table = "label: gpt\nsize=64MiB\n";
    let script = format!("printf '{table}' | sfdisk --quiet {block}");
    must("sh", ["-c", &script]);
    wait_until("the partition is there", || fs::metadata(&partition).is_ok());
    let line = ["run", &partition, "--rw", "randread", "--operations", "10"];
    let outcome = laboratory.run([&line[..], &ENGINE].concat(), PATIENCE).expect_status(2);
    assert!(outcome.stderr.contains("is a partition"), "{outcome:?}");
    assert!(outcome.stderr.contains(&block), "{outcome:?}");
    must("wipefs", ["--all", "--quiet", &block]);
    must("blockdev", ["--rereadpt", &block]);
}

/// The driver is given a queue that is polled, then none again.
pub fn polled() {
    let laboratory = Laboratory::new();
    let load = ["--rw", "randread", "--operations", "500", "--depth", "4", "--iopoll"];
    let run = || {
        let generic = generic("first");
        let line = [&["run", &generic], &load[..], &ENGINE].concat();
        let outcome = fine(&laboratory, &line);
        assert_eq!(kind_of(&outcome.json(), "read")["ops"], 500, "{outcome:?}");
        outcome.json()["warnings"].to_string().contains("not_polled")
    };
    assert!(run(), "by interrupt, which is told");
    let controller = fs::canonicalize(format!("/sys/block/{}/device/device", kernel_name("first")));
    let controller = controller.expect("the controller's place");
    let place = controller.file_name().expect("a name").to_string_lossy().into_owned();
    let queues = |count: &str| {
        fs::write("/sys/module/nvme/parameters/poll_queues", count).expect("a parameter");
        fs::write("/sys/bus/pci/drivers/nvme/unbind", &place).expect("the driver lets go");
        fs::write("/sys/bus/pci/drivers/nvme/bind", &place).expect("the driver takes it");
        wait_until("its namespaces are there", || {
            ["first", "second", "coarse", "zones", "protected"].iter().all(|it| found(it).is_some())
        });
    };
    queues("1");
    assert_eq!(sysfs("first", "queue/io_poll"), "1");
    let is_told = run();
    queues("0");
    assert!(!is_told, "polled");
}

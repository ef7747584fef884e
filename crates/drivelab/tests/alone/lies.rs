//! Numbers that a drive never delivered, each planted on purpose and noticed with its reason; and
//! an honest drive, which is never accused.

use crate::support::binary::{Laboratory, Outcome, must};
use crate::support::loop_device::LoopDevice;
use crate::support::machine::{Mount, alone, is_unavailable, require_root};
use crate::support::neighbours::{judge, not_judged};
use crate::support::stalling_file::{Schedule, StallingFile};
use crate::support::zram::Zram;
use serde_json::Value;
use std::fs::File;
use std::os::unix::fs::{FileExt, OpenOptionsExt};
use std::path::{Path, PathBuf};
use std::sync::atomic::{AtomicBool, Ordering};
use std::time::Duration;

const PATIENCE: Duration = Duration::from_secs(60);
const FILE_BYTES: u64 = 96 << 20;

/// Whether the test is left out here, which the list of what is unavailable must say.
fn is_left_out(test: &str) -> bool {
    if is_unavailable(test) {
        return true;
    }
    require_root(test);
    false
}

/// The measured step of a run.
fn measured(outcome: &Outcome) -> Value {
    let json = outcome.json();
    let steps = json["steps"].as_array().expect("steps");
    steps.iter().rfind(|step| step["role"] == "measure").expect("a measured step").clone()
}

fn codes(step: &Value, list: &str) -> Vec<String> {
    let reasons = step[list].as_array().expect("a list of reasons");
    reasons.iter().map(|reason| reason["code"].as_str().expect("a code").to_string()).collect()
}

/// The run is suspect for this reason, has no valid answer, and says so to a person.
fn assert_noticed(outcome: Outcome, code: &str) {
    let outcome = outcome.expect_status(4);
    let step = measured(&outcome);
    assert_eq!(step["valid"], false, "{step}");
    assert!(codes(&step, "reasons").iter().any(|one| one == code), "{code} in {}", step["reasons"]);
    assert!(outcome.stderr.contains("suspect"), "{}", outcome.stderr);
}

fn line<'a>(target: &'a str, options: &[&'a str]) -> Vec<&'a str> {
    let always = ["--json", "--runtime", "1"];
    ["run", target].into_iter().chain(options.iter().copied()).chain(always).collect()
}

/// A file system on a loop device in memory, and a filled file of ours in it.
struct Disk {
    mount: Mount,
    _device: LoopDevice,
    _memory: Mount,
}

impl Disk {
    fn ext4() -> Disk {
        let memory = Mount::tmpfs(400);
        let backing = memory.join("drive");
        File::create(&backing).and_then(|file| file.set_len(256 << 20)).expect("a backing file");
        let device = LoopDevice::attach(&backing);
        let path = device.path().to_str().expect("UTF-8").to_string();
        must("mkfs.ext4", ["-q", "-F", "-E", "lazy_itable_init=0,lazy_journal_init=0", &path]);
        let mount = Mount::new(&[&path]);
        Disk { mount, _device: device, _memory: memory }
    }

    fn file(&self, name: &str) -> PathBuf {
        self.mount.join(name)
    }
}

/// Bytes that do not compress, the same each time.
fn noise(length: usize) -> Vec<u8> {
    let mut random = drivelab_stats::Random::new(1);
    (0..length / 8).flat_map(|_| random.next_u64().to_le_bytes()).collect()
}

fn write_noise(path: &Path) {
    std::fs::write(path, noise(FILE_BYTES as usize)).expect("a filled file");
    must("sync", ["-f", path.to_str().expect("UTF-8")]);
}

#[test]
fn a_cached_read_is_noticed() {
    if is_left_out("a_cached_read_is_noticed") {
        return;
    }
    let _alone = alone();
    judge("a_cached_read_is_noticed", || {
        let disk = Disk::ext4();
        let file = disk.file("data");
        write_noise(&file);
        let options = ["--rw", "randread", "--bs", "4k", "--engine", "psync", "--io", "buffered"];
        let outcome =
            Laboratory::new().run(line(file.to_str().expect("UTF-8"), &options), PATIENCE);
        assert_noticed(outcome, "not_from_device");
    });
}

#[test]
fn a_sparse_file_and_one_only_allocated_are_noticed() {
    if is_left_out("a_sparse_file_and_one_only_allocated_are_noticed") {
        return;
    }
    let _alone = alone();
    judge("a_sparse_file_and_one_only_allocated_are_noticed", || {
        let disk = Disk::ext4();
        for (name, is_allocated) in [("sparse", false), ("allocated", true)] {
            let path = disk.file(name);
            let file = File::create(&path).expect("a file");
            file.set_len(64 << 20).expect("its size");
            if is_allocated {
                rustix::fs::fallocate(&file, rustix::fs::FallocateFlags::empty(), 0, 64 << 20)
                    .expect("room");
            }
            file.sync_all().expect("on the device");
            let options = ["--rw", "randread", "--bs", "4k", "--depth", "4"];
            let outcome =
                Laboratory::new().run(line(path.to_str().expect("UTF-8"), &options), PATIENCE);
            let found = measured(&outcome);
            assert_noticed(outcome, "unwritten_extents");
            let found = codes(&found, "reasons");
            assert!(found.contains(&"not_from_device".to_string()), "{name}: {found:?}");
            // Its zeros are in the page cache now, as what is written there would be.
            let buffered = [&options[..], &["--io", "buffered"]].concat();
            let read =
                || Laboratory::new().run(line(path.to_str().expect("UTF-8"), &buffered), PATIENCE);
            measured(&read());
            let again = codes(&measured(&read()), "reasons");
            assert!(again.iter().any(|code| code.starts_with("unwritten_")), "{name}: {again:?}");
        }
    });
}

/// A filled loop device in memory.
fn filled_device(memory: &Mount) -> LoopDevice {
    let backing = memory.join("drive");
    write_noise(&backing);
    LoopDevice::attach(&backing)
}

#[test]
fn trimmed_blocks_are_noticed() {
    if is_left_out("trimmed_blocks_are_noticed") {
        return;
    }
    let _alone = alone();
    judge("trimmed_blocks_are_noticed", || {
        let memory = Mount::tmpfs(200);
        let device = filled_device(&memory);
        let path = device.path().to_str().expect("UTF-8");
        let options = ["--rw", "randread", "--bs", "4k", "--depth", "4"];
        let read = || measured(&Laboratory::new().run(line(path, &options), PATIENCE));
        let before = codes(&read(), "reasons");
        assert!(!before.contains(&"unwritten_blocks".to_string()), "{before:?}");
        must("blkdiscard", ["--force", path]);
        assert_noticed(Laboratory::new().run(line(path, &options), PATIENCE), "unwritten_blocks");
    });
}

#[test]
fn a_foreign_writer_is_noticed() {
    if is_left_out("a_foreign_writer_is_noticed") {
        return;
    }
    let _alone = alone();
    judge("a_foreign_writer_is_noticed", || {
        let memory = Mount::tmpfs(200);
        let device = filled_device(&memory);
        let path = device.path().to_str().expect("UTF-8");
        let over = AtomicBool::new(false);
        let options = ["--rw", "randread", "--bs", "4k", "--depth", "4", "--rate", "5000"];
        let outcome = std::thread::scope(|scope| {
            scope.spawn(|| {
                let mut open = File::options();
                open.write(true).custom_flags(rustix::fs::OFlags::DSYNC.bits() as i32);
                let foreign = open.open(path).expect("the device");
                let data = noise(64 << 10);
                while !over.load(Ordering::Relaxed) {
                    foreign.write_all_at(&data, 1 << 20).expect("a foreign write");
                    std::thread::sleep(Duration::from_millis(2));
                }
            });
            let outcome = Laboratory::new().run(line(path, &options), PATIENCE);
            over.store(true, Ordering::Relaxed);
            outcome
        });
        assert_noticed(outcome, "other_io");
    });
}

/// A control group of version 1 or 2 whose members get 15 % of a CPU.
struct CpuQuota(PathBuf);

impl CpuQuota {
    fn new() -> CpuQuota {
        let v1 = Path::new("/sys/fs/cgroup/cpu");
        let is_v2 = !v1.join("cgroup.procs").exists();
        let root = if is_v2 { Path::new("/sys/fs/cgroup") } else { v1 };
        if is_v2 {
            std::fs::write(root.join("cgroup.subtree_control"), "+cpu").expect("cpu controller");
        }
        let group = root.join(format!("drivelab-test-quota-{}", std::process::id()));
        std::fs::create_dir(&group).expect("a control group: needs root");
        let (file, value) = match is_v2 {
            true => ("cpu.max", "15000 100000"),
            false => ("cpu.cfs_quota_us", "15000"),
        };
        std::fs::write(group.join(file), value).expect("a CPU quota");
        CpuQuota(group)
    }
}

impl Drop for CpuQuota {
    fn drop(&mut self) {
        if let Err(error) = std::fs::remove_dir(&self.0) {
            eprintln!("{} stays: {error}", self.0.display());
        }
    }
}

#[test]
fn a_cpu_quota_is_noticed() {
    if is_left_out("a_cpu_quota_is_noticed") {
        return;
    }
    let _alone = alone();
    judge("a_cpu_quota_is_noticed", || {
        let memory = Mount::tmpfs(200);
        let device = filled_device(&memory);
        let quota = CpuQuota::new();
        let mut laboratory = Laboratory::new();
        laboratory.join_group(&quota.0);
        let options = ["--rw", "randread", "--bs", "4k", "--depth", "4"];
        let outcome =
            laboratory.run(line(device.path().to_str().expect("UTF-8"), &options), PATIENCE);
        assert_noticed(outcome, "cpu_quota");
    });
}

/// No other test gets this one: a queue that was once made short stays uneven for the kernel's
/// throttling, even when its length is put back.
const SHORT_QUEUE: &str = "/dev/loop77";

#[test]
fn a_depth_that_the_device_never_had_is_noticed() {
    if is_left_out("a_depth_that_the_device_never_had_is_noticed") {
        return;
    }
    let _alone = alone();
    judge("a_depth_that_the_device_never_had_is_noticed", || {
        let file = StallingFile::mount(Schedule { servers: 4, ..Schedule::default() });
        let device = LoopDevice::attach_as(SHORT_QUEUE, &file.path(), &["--direct-io=on"]);
        let queue = format!("/sys/block/{}/queue", device.name());
        std::fs::write(format!("{queue}/scheduler"), "none").expect("no scheduler");
        std::fs::write(format!("{queue}/nr_requests"), "4").expect("a short queue");
        let options = ["--rw", "randread", "--bs", "4k", "--depth", "32"];
        let path = device.path().to_str().expect("UTF-8");
        assert_noticed(
            Laboratory::new().run(line(path, &options), PATIENCE),
            "depth_not_in_device",
        );
    });
}

#[test]
fn zeros_on_a_compressing_device_are_noticed() {
    if is_left_out("zeros_on_a_compressing_device_are_noticed") {
        return;
    }
    let _alone = alone();
    judge("zeros_on_a_compressing_device_are_noticed", || {
        let zram = Zram::new(64 << 20).expect("a zram device: needs root");
        let (laboratory, path) = (Laboratory::new(), zram.path());
        let token = laboratory.token(&path);
        let run = |content: &str| {
            let options =
                ["--rw", "randwrite", "--bs", "4k", "--erase", &token, "--content", content];
            laboratory.run(line(&path, &options), PATIENCE)
        };
        let honest = measured(&run("random"));
        assert!(!codes(&honest, "reasons").contains(&"compressible".to_string()), "{honest}");
        assert_noticed(run("zero"), "compressible");
    });
}

#[test]
fn workers_that_read_the_same_blocks_are_noticed() {
    if is_left_out("workers_that_read_the_same_blocks_are_noticed") {
        return;
    }
    let _alone = alone();
    judge("workers_that_read_the_same_blocks_are_noticed", || {
        let memory = Mount::tmpfs(200);
        let device = filled_device(&memory);
        let path = device.path().to_str().expect("UTF-8");
        let options = ["--rw", "read", "--bs", "64k", "--engine", "psync", "--workers", "8"];
        let run = |regions| {
            let line = line(path, &options).into_iter().chain(["--regions", regions]);
            Laboratory::new().run(line, PATIENCE)
        };
        let apart = codes(&measured(&run("disjoint")), "reasons");
        assert!(!apart.contains(&"same_blocks".to_string()), "{apart:?}");
        assert_noticed(run("shared"), "same_blocks");
    });
}

/// Tries of the control, and how many of them the machine may spoil.
const TRIES: usize = 50;
const VOID_MAX: usize = 25;
/// A try in which the hypervisor took more than this of the CPU time counts for nothing.
const STEAL_MAX: f64 = 0.05;

#[test]
fn an_honest_drive_is_never_accused() {
    if is_left_out("an_honest_drive_is_never_accused") {
        return;
    }
    let _alone = alone();
    judge("an_honest_drive_is_never_accused", assert_never_accused);
}

fn assert_never_accused() {
    let file = StallingFile::mount(Schedule::default());
    let device = LoopDevice::attach_with(&file.path(), &["--direct-io=on"]);
    let path = device.path().to_str().expect("UTF-8");
    let options = ["--rw", "randread", "--bs", "4k", "--depth", "4"];
    let (mut honest, mut void) = (0, 0);
    while honest < TRIES {
        let laboratory = Laboratory::new();
        let outcome = laboratory.run(line(path, &options), PATIENCE);
        let observed =
            laboratory.only_run().last_step().end.as_ref().and_then(|end| end.observed.clone());
        let steal = observed.and_then(|observed| observed.steal_share).unwrap_or(0.0);
        let step = measured(&outcome);
        if steal > STEAL_MAX {
            void += 1;
            println!("void: {:.1} % of the CPU time stolen; {}", steal * 100.0, step["reasons"]);
            if void > VOID_MAX {
                let why = format!(
                    "the hypervisor took the CPU in {void} tries; {honest} of {TRIES} were \
                     judged, and none was accused"
                );
                return not_judged("an_honest_drive_is_never_accused", &why);
            }
            continue;
        }
        honest += 1;
        assert_eq!(step["valid"], true, "try {honest}: {}", step["reasons"]);
        assert_eq!(outcome.status, Some(0), "try {honest}: {}", outcome.stderr);
    }
    println!("{honest} honest tries, {void} void");
}

//! A loop device that the kernel holds to a limit: the measured rate is that limit, and agrees
//! with what the kernel counted.

use crate::support;
use crate::support::binary::{Laboratory, kind_of};
use crate::support::loop_device::LoopDevice;
use crate::support::machine::{Mount, alone, is_unavailable, require_root};
use crate::support::neighbours::judge;
use std::path::{Path, PathBuf};
use std::time::Duration;

const RAMP_SECONDS: u64 = 2;
const RUNTIME_SECONDS: u64 = 12;
const TOLERANCE: f64 = 0.01;

/// A control group of our own that throttles; removed when dropped.
struct Throttle {
    group: PathBuf,
    is_v2: bool,
}

impl Throttle {
    /// A new group under the hierarchy that this kernel offers.
    fn new(name: &str) -> Throttle {
        let v1 = Path::new("/sys/fs/cgroup/blkio");
        let is_v2 = !v1.join("cgroup.procs").exists();
        let root = if is_v2 { Path::new("/sys/fs/cgroup") } else { v1 };
        if is_v2 {
            std::fs::write(root.join("cgroup.subtree_control"), "+io")
                .expect("the io controller of cgroup v2, or blkio of v1");
        }
        let group = root.join(format!("drivelab-test-{name}-{}", std::process::id()));
        std::fs::create_dir(&group).expect("a control group: needs root");
        Throttle { group, is_v2 }
    }

    /// Limits `device` (`major:minor`): `what` is `riops`, `wiops`, `rbps` or `wbps`.
    fn limit(&self, device: &str, what: &str, value: u64) {
        let (file, line) = match (self.is_v2, what) {
            (true, _) => ("io.max", format!("{device} {what}={value}")),
            (false, "riops") => ("blkio.throttle.read_iops_device", format!("{device} {value}")),
            (false, "wiops") => ("blkio.throttle.write_iops_device", format!("{device} {value}")),
            (false, "rbps") => ("blkio.throttle.read_bps_device", format!("{device} {value}")),
            (false, _) => ("blkio.throttle.write_bps_device", format!("{device} {value}")),
        };
        std::fs::write(self.group.join(file), line)
            .unwrap_or_else(|error| panic!("{file} in {}: {error}", self.group.display()));
    }
}

impl Drop for Throttle {
    fn drop(&mut self) {
        if let Err(error) = std::fs::remove_dir(&self.group) {
            eprintln!("{} stays: {error}", self.group.display());
        }
    }
}

struct Case {
    name: &'static str,
    limit: (&'static str, u64),
    options: &'static [&'static str],
    kind: &'static str,
    block_bytes: u64,
}

fn assert_limit_is_measured(case: &Case) {
    if is_unavailable(case.name) {
        return;
    }
    require_root(case.name);
    let _alone = alone();
    judge(case.name, || measure_limit(case));
}

fn measure_limit(case: &Case) {
    let memory = Mount::tmpfs(300);
    let backing = memory.join("drive");
    std::fs::write(&backing, vec![0x5a; 256 << 20]).expect("a backing file");
    let device = LoopDevice::attach(&backing);
    let path = device.path().to_str().expect("UTF-8");
    let throttle = Throttle::new(case.name);
    throttle.limit(&device.number(), case.limit.0, case.limit.1);
    let mut laboratory = Laboratory::new();
    laboratory.go_first();
    let erase = (case.kind == "write").then(|| laboratory.token(path));
    laboratory.join_group(&throttle.group);
    let (ramp, runtime) = (RAMP_SECONDS.to_string(), RUNTIME_SECONDS.to_string());
    let mut arguments = vec!["run", path, "--ramp", &ramp, "--runtime", &runtime, "--json"];
    arguments.extend(case.options);
    if let Some(erase) = &erase {
        arguments.extend(["--erase", erase]);
    }
    let before = device.counters();
    // The number is the limit's, and the run says so.
    let outcome = laboratory.run(arguments, Duration::from_secs(60)).expect_status(4);
    let counted = device.counters().since(before);
    let json = outcome.json();
    assert_eq!(json["steps"][0]["reasons"][0]["code"], "io_quota", "{}", json["steps"][0]);
    let measured = kind_of(&json, case.kind);
    let key = if case.limit.0.ends_with("iops") { "iops" } else { "bandwidth_bytes_per_s" };
    let value = measured[key]["value"].as_f64().expect("a rate");
    let limit = case.limit.1 as f64;
    let off = value / limit - 1.0;
    assert!(
        off.abs() <= TOLERANCE,
        "{}: {value} against a limit of {limit} ({off:+.4})",
        case.name
    );
    let files = laboratory.run_files();
    let file = support::binary::RunFile::read(files.last().expect("a run file"));
    assert_kernel_agrees(case, &file, counted);
}

/// What the run issued and what the kernel counted, in the run file and by this test.
fn assert_kernel_agrees(
    case: &Case,
    file: &support::binary::RunFile,
    counted: support::loop_device::Counters,
) {
    let end = file.last_step().end.as_ref().expect("the end of the step");
    let issued: u64 = end.phases.iter().map(|phase| phase.issued).sum();
    let device = end.devices.first().expect("the kernel's counters in the run file");
    let (seen, in_file) = match case.kind {
        "read" => (counted.read_bytes, device.read_bytes),
        _ => (counted.written_bytes, device.written_bytes),
    };
    let issued_bytes = issued * case.block_bytes;
    // Reads of signatures and stamps before the step are counted by this test alone.
    let extra = if case.kind == "read" { 8 << 20 } else { 0 };
    assert!(
        (issued_bytes..=issued_bytes + extra).contains(&seen),
        "{}: issued {issued_bytes} bytes, the kernel counted {seen}",
        case.name
    );
    let off = in_file as f64 / issued_bytes as f64 - 1.0;
    assert!(off.abs() <= 0.001, "{}: issued {issued_bytes}, counters {in_file}", case.name);
}

#[test]
fn read_operations_limit_is_measured() {
    assert_limit_is_measured(&Case {
        name: "read_operations_limit_is_measured",
        limit: ("riops", 2000),
        options: &["--engine", "io_uring", "--rw", "randread", "--bs", "4k", "--depth", "8"],
        kind: "read",
        block_bytes: 4096,
    });
}

/// fio's own count of reads on a limited device, and the one of the same line on our engine, by
/// turns: what the program reads before the start opens no budget that the step would spend.
#[test]
fn reads_before_the_start_add_nothing_to_a_limit() {
    let name = "reads_before_the_start_add_nothing_to_a_limit";
    if is_unavailable(name) {
        return;
    }
    require_root(name);
    let _alone = alone();
    judge(name, || {
        let memory = Mount::tmpfs(300);
        let backing = memory.join("drive");
        std::fs::write(&backing, vec![0x5a; 256 << 20]).expect("a backing file");
        let device = LoopDevice::attach(&backing);
        let throttle = Throttle::new(name);
        throttle.limit(&device.number(), "riops", 2000);
        for (load, in_flight) in [
            ("--rw=randread --iodepth=8 --ioengine=libaio", 8),
            ("--rw=read --iodepth=1 --ioengine=psync", 1),
            ("--rw=randread --iodepth=4 --ioengine=io_uring --numjobs=2", 8),
        ] {
            agrees_at_a_limit(load, 2 * 2000 + in_flight, &device, &throttle);
        }
    });
}

/// Other load on the CPUs takes reads away, from fio as from us: of some attempts one is within
/// 0.5 % of fio's. It adds none: no attempt may exceed what the limit lets pass.
fn agrees_at_a_limit(load: &str, most: u64, device: &LoopDevice, throttle: &Throttle) {
    let own = [env!("CARGO_BIN_EXE_drivelab"), "fio"];
    let mut seen = Vec::new();
    for _ in 0..5 {
        let theirs = reads_within_two_seconds(&["fio"], load, device, throttle);
        let ours = reads_within_two_seconds(&own, load, device, throttle);
        assert!(ours <= most + most / 200, "{load}: {ours} reads where {most} may pass");
        seen.push((theirs, ours));
        if (ours as f64 / theirs as f64 - 1.0).abs() <= 0.005 {
            return;
        }
    }
    panic!("{load}: reads of fio and of ours: {seen:?}");
}

/// Reads that a program reports of two seconds on a device in a control group.
fn reads_within_two_seconds(
    program: &[&str],
    load: &str,
    device: &LoopDevice,
    throttle: &Throttle,
) -> u64 {
    // The budget of the program before is gone.
    std::thread::sleep(Duration::from_millis(500));
    let data = tempfile::tempdir().expect("a directory");
    let line = format!(
        "--name=j --filename={} --readonly --direct=1 --bs=4k --runtime=2 --time_based \
         --group_reporting --output-format=json {load}",
        device.path().display()
    );
    let output = std::process::Command::new("sh")
        .args(["-c", "echo $$ > \"$0/cgroup.procs\" && exec nice -n -20 \"$@\""])
        .arg(&throttle.group)
        .args(program.iter().copied().chain(line.split_whitespace()))
        .env("XDG_DATA_HOME", data.path())
        .current_dir(data.path())
        .output()
        .expect("it starts");
    let text = String::from_utf8(output.stdout).expect("UTF-8");
    let json = text.find("{\n").map(|begin| &text[begin..]).unwrap_or_default();
    let json: serde_json::Value = serde_json::from_str(json).unwrap_or_else(|error| {
        panic!("{error}: {text}{}", String::from_utf8_lossy(&output.stderr))
    });
    json["jobs"][0]["read"]["total_ios"].as_u64().expect("a count")
}

#[test]
fn write_operations_limit_is_measured() {
    assert_limit_is_measured(&Case {
        name: "write_operations_limit_is_measured",
        limit: ("wiops", 1500),
        options: &["--engine", "libaio", "--rw", "randwrite", "--bs", "4k", "--depth", "8"],
        kind: "write",
        block_bytes: 4096,
    });
}

#[test]
fn read_bytes_limit_is_measured() {
    assert_limit_is_measured(&Case {
        name: "read_bytes_limit_is_measured",
        limit: ("rbps", 20 << 20),
        options: &["--engine", "io_uring", "--rw", "read", "--bs", "16k", "--depth", "8"],
        kind: "read",
        block_bytes: 16384,
    });
}

#[test]
fn write_bytes_limit_is_measured() {
    assert_limit_is_measured(&Case {
        name: "write_bytes_limit_is_measured",
        limit: ("wbps", 10 << 20),
        options: &["--engine", "libaio", "--rw", "write", "--bs", "16k", "--depth", "8"],
        kind: "write",
        block_bytes: 16384,
    });
}

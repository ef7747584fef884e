//! Where the time of an I/O goes: delays planted below the device and before its door are found
//! where they were planted.

use crate::support::binary::{Laboratory, RunFile};
use crate::support::loop_device::LoopDevice;
use crate::support::machine::{Mount, alone, is_unavailable, require_root};
use crate::support::neighbours::judge;
use crate::support::stalling_file::{Schedule, Served, StallingFile};
use drivelab_core::anatomy::{Anatomy, KindAnatomy, Segment};
use serde_json::Value;
use std::path::Path;
use std::time::Duration;

const PATIENCE: Duration = Duration::from_secs(60);
/// Both attributions hold within this share.
const TOLERANCE: f64 = 0.05;
/// No other test gets this one: its queue is made short.
const SHORT_QUEUE: &str = "/dev/loop78";
const QUEUE_REQUESTS: u32 = 4;
const WORKERS: u32 = 16;

fn is_left_out(test: &str) -> bool {
    if is_unavailable(test) {
        return true;
    }
    require_root(test);
    false
}

/// The tracer, whether this machine has mounted it or not.
fn tracer() -> Mount {
    Mount::new(&["-t", "tracefs", "nodev"])
}

/// Reads of a device with the tracer watching.
fn plan(laboratory: &Laboratory, workers: u32, seconds: u32) -> String {
    let path = laboratory.data().join("plan.toml");
    let text = format!(
        "seed = 1\n[[steps]]\nname = \"reads\"\ntrace = true\nramp = \"1s\"\n\
         until = {{ elapsed = \"{seconds}s\" }}\n\
         [[steps.streams]]\nengine = \"psync\"\npattern = \"uniform\"\nmix = {{ read = 100 }}\n\
         size = \"4k\"\nworkers = {workers}\n"
    );
    std::fs::write(&path, text).expect("a plan");
    path.to_str().expect("UTF-8").to_string()
}

struct Traced {
    file: RunFile,
}

impl Traced {
    /// Reads for some seconds and leaves no instance behind.
    fn run(device: &LoopDevice, workers: u32) -> Traced {
        let tracer = tracer();
        let mut laboratory = Laboratory::new();
        laboratory.go_first();
        let plan = plan(&laboratory, workers, 5);
        let path = device.path().to_str().expect("UTF-8");
        let outcome = laboratory.run(["run", &plan, path, "--json"], PATIENCE);
        assert!([Some(0), Some(4)].contains(&outcome.status), "{outcome:?}");
        assert_eq!(instances(tracer.path()), Vec::<String>::new());
        Traced { file: laboratory.only_run() }
    }

    fn anatomy(&self) -> &Anatomy {
        let anatomy = self.file.last_step().anatomy.as_ref().expect("a traced step");
        assert_eq!(anatomy.refused, None);
        anatomy
    }

    fn reads(&self) -> &KindAnatomy {
        let anatomy = self.anatomy();
        let kind = &anatomy.kinds[0];
        assert!(anatomy.dissected() * 100 >= anatomy.stamped * 95, "{anatomy:?}");
        let off = kind.unaccounted_ns as f64 / kind.total.sum() as f64;
        assert!(off <= 0.01, "the parts differ from the whole by {off}");
        kind
    }

    fn mean_ns(&self, segment: Segment) -> f64 {
        self.reads().segments[segment as usize].mean().expect("reads")
    }

    /// What the server did during the step.
    fn served(&self, drive: &StallingFile) -> Vec<Served> {
        let phases = &self.file.last_step().end.as_ref().expect("an end").phases;
        let from = self.file.monotonic_zero_ns() + phases[0].opened;
        drive.served().into_iter().filter(|request| request.read_at >= from).collect()
    }
}

/// Instances of ours in a tracefs.
fn instances(tracefs: &Path) -> Vec<String> {
    let entries = std::fs::read_dir(tracefs.join("instances")).expect("instances");
    let names = entries.map(|entry| entry.expect("one").file_name().to_string_lossy().into_owned());
    names.filter(|name| name.starts_with("drivelab-")).collect()
}

#[track_caller]
fn assert_near(what: &str, measured: f64, truth: f64) {
    let off = measured / truth - 1.0;
    eprintln!("{what}: {measured:.0} ns of {truth:.0} ns ({:+.2} %)", off * 100.0);
    assert!(off.abs() <= TOLERANCE, "{what}: {measured} ns, planted {truth} ns");
}

#[test]
fn a_delay_below_the_device_is_found_in_the_device() {
    if is_left_out("a_delay_below_the_device_is_found_in_the_device") {
        return;
    }
    let _alone = alone();
    judge("a_delay_below_the_device_is_found_in_the_device", || {
        let service = Duration::from_millis(50);
        let drive = StallingFile::mount(Schedule { service, ..Schedule::default() });
        let device = LoopDevice::attach_with(&drive.path(), &["--direct-io=on"]);
        let traced = Traced::run(&device, 1);
        let served = traced.served(&drive);
        let spans = served.iter().map(|request| request.answered - request.read_at);
        let mut spans: Vec<u64> = spans.collect();
        spans.sort_unstable();
        // Medians: a loop device's own thread waits for a CPU now and then, on a busy machine.
        let truth = spans[spans.len() / 2] as f64;
        assert!(truth >= 49.5e6, "the server's own log: {truth} ns");
        let device = &traced.reads().segments[Segment::Device as usize];
        assert_near("device", device.value_at_quantile(0.5) as f64, truth);
        let total = traced.reads().total.mean().expect("reads");
        assert_near("device of the whole", traced.mean_ns(Segment::Device), total);
    });
}

/// 16 readers, 4 requests, one after the other below: a read waits for 12 others before the door
/// and for 4, itself among them, behind it.
#[test]
fn a_delay_before_the_door_is_found_in_the_queue() {
    if is_left_out("a_delay_before_the_door_is_found_in_the_queue") {
        return;
    }
    let _alone = alone();
    judge("a_delay_before_the_door_is_found_in_the_queue", || {
        let service = Duration::from_millis(40);
        let drive = StallingFile::mount(Schedule { service, ..Schedule::default() });
        let device = LoopDevice::attach_as(SHORT_QUEUE, &drive.path(), &["--direct-io=on"]);
        let queue = format!("/sys/block/{}/queue", device.name());
        std::fs::write(format!("{queue}/scheduler"), "none").expect("no scheduler");
        let requests = QUEUE_REQUESTS.to_string();
        std::fs::write(format!("{queue}/nr_requests"), requests).expect("a short queue");
        let traced = Traced::run(&device, WORKERS);
        let served = traced.served(&drive);
        let (first, last) = (served[0].answered, served[served.len() - 1].answered);
        let spacing = (last - first) as f64 / (served.len() - 1) as f64;
        let waiting = f64::from(WORKERS - QUEUE_REQUESTS);
        assert_near("queue", traced.mean_ns(Segment::Queue), waiting * spacing);
        let behind = f64::from(QUEUE_REQUESTS);
        assert_near("device", traced.mean_ns(Segment::Device), behind * spacing);
    });
}

#[test]
fn what_a_killed_run_left_behind_is_removed_by_the_next() {
    if is_left_out("what_a_killed_run_left_behind_is_removed_by_the_next") {
        return;
    }
    let _alone = alone();
    let (tracer, memory) = (tracer(), Mount::tmpfs(80));
    let backing = memory.join("backing");
    std::fs::write(&backing, vec![7; 64 << 20]).expect("a backing file");
    let device = LoopDevice::attach(&backing);
    let path = device.path().to_str().expect("UTF-8");
    let laboratory = Laboratory::new();
    let long = plan(&laboratory, 1, 30);
    let mut killed = laboratory.start(["run", &long, path]);
    let began = killed.wait_for(PATIENCE, |_| !instances(tracer.path()).is_empty());
    assert!(began, "{}", killed.so_far());
    let left = instances(tracer.path());
    drop(killed);
    std::thread::sleep(Duration::from_millis(200));
    assert_eq!(instances(tracer.path()), left, "nobody else removes it");
    let short = plan(&laboratory, 1, 1);
    let outcome = laboratory.run(["run", &short, path], PATIENCE);
    assert!([Some(0), Some(4)].contains(&outcome.status), "{outcome:?}");
    assert_eq!(instances(tracer.path()), Vec::<String>::new());
}

#[test]
fn the_study_takes_reads_and_writes_apart() {
    if is_left_out("the_study_takes_reads_and_writes_apart") {
        return;
    }
    let _alone = alone();
    judge("the_study_takes_reads_and_writes_apart", assert_reads_and_writes_are_taken_apart);
}

/// The lines of the table of mounts that speak of the tracer.
fn said_of_tracefs() -> Vec<String> {
    let table = std::fs::read_to_string("/proc/self/mountinfo").expect("a table");
    table.lines().filter(|line| line.contains("tracefs")).map(String::from).collect()
}

fn assert_reads_and_writes_are_taken_apart() {
    // Nobody mounts the tracer here: where it is not mounted, the study does it for itself.
    let memory = Mount::tmpfs(160);
    let backing = memory.join("backing");
    std::fs::write(&backing, vec![7; 128 << 20]).expect("a backing file");
    let device = LoopDevice::attach(&backing);
    let path = device.path().to_str().expect("UTF-8");
    let before = said_of_tracefs();
    let laboratory = Laboratory::new();
    let token = laboratory.token(path);
    let page = laboratory.data().join("page.html");
    let line = ["study", "anatomy", path, "--quick", "--time", "45s", "--seed", "7", "--json"];
    let page_text = page.to_str().expect("UTF-8");
    let more = ["--erase", &token, "--out", page_text];
    let outcome = laboratory.run(line.into_iter().chain(more), Duration::from_secs(180));
    assert!([Some(0), Some(4)].contains(&outcome.status), "{outcome:?}");
    let json = outcome.json();
    let findings = &json["findings"];
    let said = findings["verdict"][0].as_str().expect("a verdict");
    assert!(said.contains("in the kernel's queue") && said.contains("in the device"), "{said}");
    let stack = &findings["stacks"][0];
    assert_eq!(stack["parts"].as_array().expect("parts").len(), 4);
    // A machine that is busy keeps no depth of 32, and says so; where depth 1 is missing, too, its
    // steps or the findings say what was wrong with it.
    let steps = json["steps"].as_array().expect("steps");
    let is_doubted = |label: &str| {
        let of = |step: &&Value| step["name"].as_str().is_some_and(|name| name.contains(label));
        let is_suspect = steps.iter().filter(of).any(|step| step["valid"] == false);
        is_suspect || findings["unknown"].to_string().contains(label)
    };
    let bars = stack["bars"].as_array().expect("bars");
    let labels: Vec<&str> = bars.iter().filter_map(|bar| bar["label"].as_str()).collect();
    for label in ["random read qd1", "random write qd1"] {
        assert!(labels.contains(&label) || is_doubted(label), "{label}: {findings}");
    }
    assert!(!labels.is_empty(), "{findings}");
    let figures = findings["figures"].as_array().expect("figures");
    let taxes: Vec<&Value> = figures
        .iter()
        .filter(|it| it["name"].as_str().is_some_and(|name| name.contains("tracing tax")))
        .collect();
    // Where a busy machine spoilt all that one side measured, the comparison names the cell.
    let alone_in = |side: &str, label: &str| {
        findings["comparison"][side].as_array().is_some_and(|names| names.contains(&label.into()))
    };
    for label in labels {
        let is_taxed = taxes.iter().any(|it| it["name"] == format!("{label}: tracing tax"));
        let is_alone = alone_in("only_before", label) || alone_in("only_after", label);
        assert!(is_taxed != is_alone, "{label}: {findings}");
    }
    assert!(taxes.iter().all(|tax| tax["estimate"]["low"].is_number()), "{taxes:?}");
    let text = std::fs::read_to_string(page).expect("a page");
    assert!(text.contains("Where the time goes") && text.contains("kernel queue"));
    assert_eq!(said_of_tracefs(), before, "what it mounted is gone, and nobody saw it");
}

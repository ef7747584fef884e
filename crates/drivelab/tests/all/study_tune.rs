//! `study tune`: a setting that costs is found, one that does not is not, and whatever was set is
//! put back, however the run ended.

use crate::cli_user::{User, said};
use crate::support;
use crate::support::binary::{Laboratory, Running};
use crate::support::loop_device::LoopDevice;
use crate::support::machine::{Mount, alone, is_unavailable, require_root};
use rustix::process::{Pid, Signal, kill_process};
use serde_json::Value;
use std::path::PathBuf;
use std::time::Duration;

const PATIENCE: Duration = Duration::from_secs(120);

fn study(target: &str) -> Value {
    let user = User::new();
    let said = user.types(&["study", "tune", target, "--quick", "--seed", "7", "--json"]);
    assert!(matches!(said.status, Some(0 | 1)), "{}", said.err);
    said.json()
}

fn cell<'a>(json: &'a Value, name: &str) -> &'a Value {
    let cells = json["findings"]["comparison"]["cells"].as_array().unwrap();
    cells.iter().find(|cell| cell["name"] == name).unwrap_or_else(|| panic!("no {name}"))
}

/// A read takes 57.8 µs there, and 30 µs more where they were planted.
#[test]
fn a_scheduler_that_costs_is_found_with_its_size() {
    let target = "sim:textbook,capacity=256MiB,setting_delay=scheduler:bfq:30us";
    finds_the_scheduler(&study(target));
    // Through every layer of the host.
    finds_the_scheduler(&study(&format!("{target},file_system_ns=0")));
}

fn finds_the_scheduler(json: &Value) {
    let one = cell(json, "random read 4K qd1, scheduler bfq");
    let plain = json["steps"].as_array().unwrap().iter();
    let mut plain = plain.filter(|step| step["name"] == "random read 4K qd1");
    let mean = &plain.next().unwrap()["streams"][0]["read"]["service_ns"]["mean"];
    let mean = mean.as_f64().unwrap();
    let planted = mean / (mean + 30_000.0);
    let found = one["ratio"]["value"].as_f64().unwrap();
    assert!((found / planted - 1.0).abs() < 0.01, "{found}, planted {planted}");
    let verdict = said(json, "verdict");
    assert!(verdict.contains("With scheduler bfq, random read 4K qd32 is slower"), "{verdict}");
    assert!(verdict.contains("Restored and read again: scheduler none"), "{verdict}");
    let cells = json["findings"]["comparison"]["cells"].as_array().unwrap();
    let others = cells.iter().filter(|cell| !cell["name"].as_str().unwrap().ends_with("bfq"));
    for other in others {
        let ratio = other["ratio"]["value"].as_f64().unwrap();
        assert!((ratio - 1.0).abs() < 0.05 && other["verdict"] != "changed", "{other}");
    }
    assert_eq!(said(json, "beware"), "");
}

#[test]
fn where_what_is_set_now_costs_every_other_value_is_faster() {
    let target = "sim:textbook,capacity=256MiB,page_cache=64MiB,setting_delay=rq_affinity:1:30us";
    let json = study(target);
    let beware = said(&json, "beware");
    for value in ["0", "2"] {
        let name = format!("random read 4K qd1, rq_affinity {value}");
        assert!(cell(&json, &name)["ratio"]["value"].as_f64().unwrap() > 1.3);
        let text = format!("With rq_affinity {value}, random read 4K qd32 is faster");
        assert!(beware.contains(&text), "{beware}");
    }
    let same = cell(&json, "random read 4K qd1, scheduler kyber");
    assert!((same["ratio"]["value"].as_f64().unwrap() - 1.0).abs() < 1e-9, "{same}");
}

#[test]
fn where_nothing_costs_nothing_is_found() {
    let json = study("sim:textbook,capacity=256MiB,page_cache=64MiB");
    let verdict = said(&json, "verdict");
    let all = "No setting of this simulated drive matters here: all 22 comparisons";
    assert!(verdict.contains(all), "{verdict} {}", said(&json, "unknown"));
    assert_eq!(said(&json, "beware") + &said(&json, "unknown"), "");
}

#[test]
fn a_target_without_a_queue_is_refused_with_the_way_out() {
    let user = User::new();
    let line = ["study", "tune", ".", "--quick", "--size", "64MiB"];
    user.types(&line).refused(2, "there is none below");
    let line = ["study", "tune", "sim:textbook,setting_delay=scheduler:cfq:1us"];
    user.types(&line).refused(2, "scheduler is one of none");
}

/// A loop device of its own over a file in memory, and what its queue is set to.
struct Bench {
    laboratory: Laboratory,
    device: LoopDevice,
    _memory: Mount,
}

const WATCHED: [&str; 4] = ["scheduler", "rq_affinity", "read_ahead_kb", "nr_requests"];

impl Bench {
    fn new() -> Bench {
        let memory = Mount::tmpfs(160);
        let backing = memory.join("backing");
        std::fs::write(&backing, vec![7; 128 << 20]).unwrap();
        let device = LoopDevice::attach(&backing);
        let bench = Bench { laboratory: Laboratory::new(), device, _memory: memory };
        // No value that the kernel would choose by itself.
        bench.set("scheduler", "mq-deadline");
        bench.set("nr_requests", "57");
        bench.set("rq_affinity", "0");
        bench.set("read_ahead_kb", "92");
        bench
    }

    fn file(&self, name: &str) -> PathBuf {
        PathBuf::from(format!("/sys/block/{}/queue/{name}", self.device.name()))
    }

    fn set(&self, name: &str, value: &str) {
        std::fs::write(self.file(name), value).unwrap();
    }

    fn now(&self) -> Vec<String> {
        WATCHED.map(|name| std::fs::read_to_string(self.file(name)).unwrap()).to_vec()
    }

    fn path(&self) -> &str {
        self.device.path().to_str().unwrap()
    }

    fn notes(&self) -> usize {
        let notes = std::fs::read_dir(self.laboratory.data().join("drivelab/settings"));
        notes.map_or(0, Iterator::count)
    }

    /// A plan that sets two things, waits, and reads.
    fn plan(&self, seconds: u32) -> String {
        let act = |setting: &str, value: &str| {
            let act = format!("{{ queue = {{ setting = \"{setting}\", value = \"{value}\" }} }}");
            format!("[[steps]]\nname = \"{setting}\"\nrole = \"prepare\"\nact = {act}\n")
        };
        let text = format!(
            "seed = 1\n{}{}[[steps]]\nname = \"reads\"\nuntil = {{ elapsed = \"{seconds}s\" }}\n\
             [[steps.streams]]\npattern = \"uniform\"\nmix = {{ read = 100 }}\n",
            act("scheduler", "bfq"),
            act("read_ahead_kb", "1024"),
        );
        let path = self.laboratory.data().join("plan.toml");
        std::fs::write(&path, text).unwrap();
        path.to_str().unwrap().to_string()
    }

    /// A run in which both are set.
    fn started(&self) -> Running {
        let plan = self.plan(60);
        let mut running = self.laboratory.start(["run", &plan, self.path()]);
        let before = self.now();
        let is_set = |now: &[String]| now[0].contains("[bfq]") && now[2] == "1024\n";
        assert!(!is_set(&before));
        let came = running.wait_for(PATIENCE, |_| is_set(&self.now()));
        assert!(came, "{:?}\n{}", self.now(), running.so_far());
        assert_eq!(self.notes(), 2);
        running
    }
}

fn is_left_out(test: &str) -> bool {
    if is_unavailable(test) {
        return true;
    }
    require_root(test);
    false
}

#[test]
fn a_plan_sets_reads_back_and_puts_back() {
    if is_left_out("a_plan_sets_reads_back_and_puts_back") {
        return;
    }
    let _alone = alone();
    let bench = Bench::new();
    let before = bench.now();
    let plan = bench.plan(1);
    let outcome = bench.laboratory.run(["run", &plan, bench.path()], PATIENCE);
    assert!([Some(0), Some(4)].contains(&outcome.status), "{outcome:?}");
    assert_eq!(bench.now(), before);
    assert_eq!(bench.notes(), 0);
    let run = bench.laboratory.only_run().run;
    let set = |at: usize| run.steps[at].end.as_ref().unwrap().set.clone().unwrap();
    assert_eq!((set(0).before.as_str(), set(0).after.as_str()), ("mq-deadline", "bfq"));
    assert_eq!((set(1).before.as_str(), set(1).after.as_str()), ("92", "1024"));
    assert_eq!(set(0).device, bench.device.name());
}

#[test]
fn ctrl_c_puts_everything_back() {
    if is_left_out("ctrl_c_puts_everything_back") {
        return;
    }
    let _alone = alone();
    let bench = Bench::new();
    let before = bench.now();
    let mut running = bench.started();
    let process = Pid::from_raw(running.id() as i32).unwrap();
    kill_process(process, Signal::INT).unwrap();
    assert!(running.wait(PATIENCE));
    running.finish().expect_status(130);
    assert_eq!(bench.now(), before);
    assert_eq!(bench.notes(), 0);
}

#[test]
fn a_killed_run_is_undone_by_the_next_one() {
    if is_left_out("a_killed_run_is_undone_by_the_next_one") {
        return;
    }
    let _alone = alone();
    let bench = Bench::new();
    let before = bench.now();
    let mut running = bench.started();
    kill_process(Pid::from_raw(running.id() as i32).unwrap(), Signal::KILL).unwrap();
    assert!(running.wait(PATIENCE));
    assert_ne!(bench.now(), before);
    assert_eq!(bench.notes(), 2, "the notes stay");
    let reads = ["run", bench.path(), "--rw", "randread", "--bs", "4k", "--runtime", "1"];
    let outcome = bench.laboratory.run(reads, PATIENCE);
    for words in ["scheduler of", "read_ahead_kb of", "which a killed run had changed"] {
        assert!(outcome.stderr.contains(words), "{}", outcome.stderr);
    }
    assert_eq!(bench.now(), before, "nr_requests with it");
    assert_eq!(bench.notes(), 0);
    let runs = bench.laboratory.run_files().into_iter();
    let mut runs = runs.map(|path| support::binary::RunFile::read(&path).run);
    let whole = runs.find(|run| run.end.is_some()).unwrap();
    let device = whole.begin.facts.target.devices.first().unwrap();
    let told = device.scheduler.clone().unwrap_or_default();
    assert!(before[0].contains(&format!("[{told}]")), "{told}: what it was measured with");
}

#[test]
fn what_the_kernel_does_not_take_is_said_and_nothing_is_left_changed() {
    if is_left_out("what_the_kernel_does_not_take_is_said_and_nothing_is_left_changed") {
        return;
    }
    let _alone = alone();
    let bench = Bench::new();
    let before = bench.now();
    let plan = bench.plan(1);
    let text = std::fs::read_to_string(&plan).unwrap().replace("\"bfq\"", "\"no-such-one\"");
    std::fs::write(&plan, text).unwrap();
    let outcome = bench.laboratory.run(["run", &plan, bench.path()], PATIENCE).expect_status(2);
    let says = "`no-such-one` cannot be written to";
    assert!(outcome.stderr.contains(says), "{}", outcome.stderr);
    assert!(outcome.stderr.contains("the kernel does not accept it here"), "{}", outcome.stderr);
    assert_eq!(outcome.stderr.matches("could not be set back").count(), 0);
    assert_eq!((bench.now(), bench.notes()), (before, 0));
}

//! Drives that go away, lose a path or are reset at random moments of whatever is done with them:
//! by hand, as often as is asked.

use crate::guest::{PATIENCE, found, kernel_name, node, say, sysfs, to_the_machine, wait_until};
use crate::support::binary::{Laboratory, Outcome, Running};
use rustix::process::{Pid, Signal, kill_process};
use serde_json::{Value, json};
use std::collections::BTreeMap;
use std::fs;
use std::panic::{AssertUnwindSafe, catch_unwind};
use std::path::PathBuf;
use std::time::Duration;

/// What is not taken away must go on for so long.
const GOES_ON: Duration = Duration::from_secs(4);

/// How many times; set by who asks for it.
pub const TIMES: &str = "DRIVES_SOAK";

/// Numbers that only look random: the same ones each time.
struct Dice(u64);

impl Dice {
    fn below(&mut self, limit: u64) -> u64 {
        self.0 ^= self.0 << 13;
        self.0 ^= self.0 >> 7;
        self.0 ^= self.0 << 17;
        (self.0 >> 11) % limit
    }
}

/// A purge that QEMU's NVMe does in a moment.
const FORMAT: &str = "nvme-format";

/// What happens to a drive.
#[derive(Clone, Copy, Debug, PartialEq, Eq, PartialOrd, Ord)]
enum Event {
    /// NVMe on PCIe, pulled out of its slot.
    Unplug,
    /// NVMe, its controller reset.
    Reset,
    /// One of two paths is lost.
    PathLost,
    /// SATA, taken off by the kernel.
    Removed,
}

const EVENTS: [Event; 4] = [Event::Unplug, Event::Reset, Event::PathLost, Event::Removed];

impl Event {
    fn drive(self) -> &'static str {
        match self {
            Event::Unplug | Event::Reset => "plugged",
            Event::PathLost => "paths",
            Event::Removed => "sata",
        }
    }

    fn happens(self) {
        match self {
            Event::Unplug => {
                to_the_machine(&[json!({"execute": "device_del", "arguments": {"id": "soak"}})]);
                wait_until("the drive is gone", || found("plugged").is_none());
            }
            Event::Reset => {
                let name = kernel_name("plugged");
                fs::write(format!("/sys/block/{name}/device/reset_controller"), "1").ok();
            }
            Event::PathLost => {
                let path = one_path().expect("a path that can be lost");
                fs::write(path.join("delete_controller"), "1")
                    .or_else(|_| fs::write(path.join("device/remove"), "1"))
                    .expect("a path is taken away");
            }
            Event::Removed => {
                let name = kernel_name("sata");
                fs::write(format!("/sys/block/{name}/device/delete"), "1").expect("it is removed");
            }
        }
    }

    /// Puts everything back.
    fn mended(self) {
        match self {
            Event::Unplug => {
                let device = json!({"driver": "nvme", "id": "soak", "serial": "DLSOAK01",
                                    "drive": "soak", "bus": "spare"});
                // The slot is free once the kernel has let go of the drive.
                wait_until("the slot is free", || {
                    let line = json!({"execute": "device_add", "arguments": device});
                    crate::guest::asked(&[line])[0].get("error").is_none()
                });
            }
            Event::Reset => {
                wait_until("the controller is back", || sysfs("plugged", "device/state") == "live")
            }
            Event::PathLost => fs::write("/sys/bus/pci/rescan", "1").expect("a look at the bus"),
            Event::Removed => {
                for host in fs::read_dir("/sys/class/scsi_host").expect("hosts").flatten() {
                    fs::write(host.path().join("scan"), "- - -").ok();
                }
            }
        }
        wait_until("the drive is back", || {
            found(self.drive()).is_some_and(|name| fs::metadata(format!("/dev/{name}")).is_ok())
        });
        if self == Event::PathLost {
            wait_until("both paths are back", || paths().len() == 2);
        }
    }
}

/// Controllers of the drive of two paths.
fn paths() -> Vec<PathBuf> {
    let all = fs::read_dir("/sys/class/nvme").expect("controllers").flatten();
    let is_one = |path: &PathBuf| {
        let serial = fs::read_to_string(path.join("serial")).unwrap_or_default();
        let state = fs::read_to_string(path.join("state")).unwrap_or_default();
        serial.trim() == "DLPATHS1" && state.trim() == "live"
    };
    all.map(|entry| entry.path()).filter(is_one).collect()
}

fn one_path() -> Option<PathBuf> {
    paths().into_iter().next()
}

/// A command on a drive, and whether it must have written.
fn command(dice: &mut Dice, event: Event, laboratory: &Laboratory, node: &str) -> Vec<String> {
    let words = |text: &str| text.split(' ').map(str::to_owned).collect::<Vec<_>>();
    let erase = || ["--erase".to_owned(), laboratory.token(node)];
    let engine = ["io_uring", "libaio", "psync", "mmap"][dice.below(4) as usize];
    let mut line = match dice.below(6) {
        0 => words(&format!("run {node} --rw randread --time 30s --engine {engine}")),
        1 => words(&format!("run {node} --rw randwrite --time 30s --engine {engine} --workers 4")),
        2 => words(&format!("check {node} --time 60s")),
        3 => words(&format!("study mix {node} --quick")),
        4 if event != Event::Removed => {
            words(&format!("study pts-iops {node} --quick --purge {FORMAT}"))
        }
        _ => words(&format!("study pts-iops {node} --quick --purge none")),
    };
    if !line.iter().any(|word| word == "randread") {
        line.extend(erase());
    }
    line
}

/// What must hold of each end: a status of the contract, plain words, a run file that reads.
fn judge(event: Event, line: &[String], laboratory: &Laboratory, outcome: &Outcome) {
    let said = format!("{event:?} in `{}`: {outcome:?}", line.join(" "));
    assert!(!outcome.stderr.contains("panicked"), "{said}");
    if matches!(outcome.status, Some(2 | 3)) {
        outcome.expect_plain_words();
    }
    // Gone before it was looked at: nobody knows that it was ever there.
    if outcome.status == Some(2) && laboratory.run_files().is_empty() {
        return assert!(outcome.stderr.contains("there is no"), "{said}");
    }
    let is_known = matches!(outcome.status, Some(0 | 1 | 3 | 4 | 130));
    assert!(is_known, "{said}");
    if matches!(event, Event::Unplug | Event::Removed) {
        assert_eq!(outcome.status, Some(4), "a drive that is gone has no result: {said}");
        let told = format!("{}{}", outcome.stdout, outcome.stderr);
        let told = told.split_whitespace().collect::<Vec<_>>().join(" ");
        let is_told = ["went away", "no longer there", "is gone", "has gone"];
        assert!(is_told.iter().any(|words| told.contains(words)), "{said}");
        assert!(!told.contains("file system is full"), "{said}");
    }
    for file in laboratory.run_files() {
        let file = file.display().to_string();
        let read = laboratory.run(["report", &file, "--markdown", "-"], PATIENCE);
        assert!(matches!(read.status, Some(0 | 4)), "{said}: {read:?}");
    }
}

/// Nothing is left: no process, no setting, no scratch.
fn nothing_left(event: Event, laboratory: &Laboratory) {
    let is_ours = |entry: &fs::DirEntry| {
        let name = fs::read_to_string(entry.path().join("comm")).unwrap_or_default();
        name.trim() == "drivelab"
    };
    let processes = fs::read_dir("/proc").expect("proc").flatten();
    assert_eq!(processes.filter(is_ours).count(), 0, "{event:?}");
    let json = laboratory.run(["doctor", "--json", "/dev/shm"], PATIENCE).json();
    let checks = json["checks"].as_array().expect("checks").clone();
    let left: Vec<Value> = checks
        .into_iter()
        .filter(|check| {
            ["settings", "leftovers"].contains(&check["name"].as_str().unwrap_or_default())
        })
        .filter(|check| check["severity"] != "fine")
        .collect();
    assert!(left.is_empty(), "{event:?}: {left:?}");
}

/// As often as is asked.
pub fn all() {
    let times: u64 = std::env::var(TIMES).map_or(3, |text| text.parse().expect("a number"));
    let mut dice = Dice(0x5eed_0021);
    let mut ends: BTreeMap<(Event, Option<i32>), u32> = BTreeMap::new();
    let mut wrong = 0;
    Event::Unplug.mended();
    for number in 0..times {
        let event = EVENTS[dice.below(EVENTS.len() as u64) as usize];
        let laboratory = Laboratory::new();
        let node = node(event.drive());
        let line = command(&mut dice, event, &laboratory, &node);
        let mut running: Running = laboratory.start(&line);
        let is_purge = line.iter().any(|word| word == FORMAT);
        let latest_ms = if is_purge { 2_000 } else { 20_000 };
        std::thread::sleep(Duration::from_millis(300 + dice.below(latest_ms)));
        let had_ended = running.has_ended();
        event.happens();
        if matches!(event, Event::Reset | Event::PathLost) && !running.wait(GOES_ON) {
            // It goes on, and then somebody has seen enough.
            let pid = Pid::from_raw(i32::try_from(running.id()).unwrap()).unwrap();
            kill_process(pid, Signal::INT).unwrap();
        }
        assert!(running.wait(PATIENCE), "{event:?} in {line:?}: no end: {}", running.stands_at());
        let outcome = running.finish();
        let last = outcome.stderr.lines().rfind(|line| line.starts_with("drivelab: "));
        let (typed, last) = (line.join(" "), last.unwrap_or_default());
        say(&format!("{number}: {event:?} in {typed}: {:?} {last}", outcome.status));
        assert!(!had_ended || outcome.status != Some(2), "not what was meant: {outcome:?}");
        if !had_ended {
            let is_right = AssertUnwindSafe(|| judge(event, &line, &laboratory, &outcome));
            wrong += u32::from(catch_unwind(is_right).is_err());
            *ends.entry((event, outcome.status)).or_default() += 1;
        }
        event.mended();
        nothing_left(event, &laboratory);
    }
    say(&format!("ends: {ends:?}"));
    assert_eq!(wrong, 0, "ends that were not as they should be");
}

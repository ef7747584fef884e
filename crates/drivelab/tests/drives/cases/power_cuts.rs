//! A drive with a volatile cache loses its power while drivelab writes durably to it. Whether what
//! was acknowledged as durable is there afterwards is read back by drivelab's stamps.

use crate::guest::{PATIENCE, say, wait_until};
use crate::nbd::cache::{BLOCK, SECTOR};
use crate::support::binary::{Laboratory, RunFile, must};
use drivelab_core::op::Action;
use drivelab_stats::Random;
use serde_json::Value;
use std::fs;
use std::os::unix::net::UnixStream;
use std::process::{Child, Command, Stdio};
use std::time::{Duration, SystemTime};

const NODE: &str = "/dev/nbd0";
const SOCKET: &str = "/run/nbd-socket";
const MEDIUM: &str = "/run/nbd-medium";
/// What is written: small enough for the memory of the guest, more than is written before a cut.
const BYTES: u64 = 64 << 20;
/// The load: blocks in order, each with a stamp. How they become durable is added.
const LOAD: [&str; 10] =
    ["--bs", "4k", "--passes", "1", "--seed", "11", "--engine", "psync", "--io", "direct"];
/// This many writes come before the earliest cut.
const WRITTEN: u64 = 100;

/// The drive, from a start of its server to the next cut.
struct Powered(Option<Child>);

impl Powered {
    fn on(mode: &str, words: &[&str]) -> Powered {
        fs::remove_file(SOCKET).ok();
        let program = std::env::current_exe().expect("this program");
        let mut command = Command::new(program);
        command.args(["serve-nbd", SOCKET, MEDIUM, mode]).args(words).stdin(Stdio::null());
        let powered = Powered(Some(command.spawn().expect("it starts")));
        wait_until("the drive listens", || UnixStream::connect(SOCKET).is_ok());
        must("modprobe", ["nbd", "nbds_max=1"]);
        must("nbd-client", ["-unix", SOCKET, NODE]);
        let sectors = (BYTES / SECTOR as u64).to_string();
        wait_until("the kernel knows the drive", || of_kernel("size") == sectors);
        assert_eq!(of_kernel("queue/write_cache"), "write back", "it is sent flushes");
        assert_eq!(of_kernel("queue/fua"), "1");
        powered
    }

    /// Cuts the power; the kernel gives up what it waits for.
    fn cut(&mut self) {
        let mut process = self.0.take().expect("it has power");
        process.kill().expect("SIGKILL");
        process.wait().expect("its end");
        must("nbd-client", ["-d", NODE]);
        wait_until("the kernel lets go", || of_kernel("size") == "0");
    }
}

impl Drop for Powered {
    fn drop(&mut self) {
        if self.0.is_some() {
            self.cut();
        }
    }
}

fn of_kernel(file: &str) -> String {
    let text = fs::read_to_string(format!("/sys/block/nbd0/{file}")).unwrap_or_default();
    text.trim().to_owned()
}

/// Writes that the kernel has seen to their end.
fn writes() -> u64 {
    of_kernel("stat").split_whitespace().nth(4).map_or(0, |text| text.parse().expect("a number"))
}

/// What came of a cut.
struct Cut {
    /// Blocks whose writes were acknowledged as durable: the first ones of the drive.
    durable: u64,
    /// Blocks that may have been written.
    written: u64,
    /// For each of these whether it is on the medium as a whole, by the medium itself.
    is_kept: Vec<bool>,
}

impl Cut {
    /// Writes with this promise (`--sync`) and cuts the power at a random moment.
    fn of(mode: &str, words: &[&str], sync: &str) -> Cut {
        let file = fs::File::create(MEDIUM).expect("a medium");
        file.set_len(BYTES).expect("a size");
        let mut drive = Powered::on(mode, words);
        let laboratory = Laboratory::new();
        let token = laboratory.token(NODE);
        let line = ["run", NODE, "--rw", "write", "--stamp", "--sync", sync, "--erase", &token];
        let line = [&line[..], &LOAD, &["--interval", "100ms"]].concat();
        let before = writes();
        let mut running = laboratory.start(line);
        wait_until("much is written", || running.has_ended() || writes() - before > WRITTEN);
        let now = SystemTime::now().duration_since(SystemTime::UNIX_EPOCH).expect("a clock");
        let wait_ms = 100 + Random::new(now.as_nanos() as u64).below(1500);
        std::thread::sleep(Duration::from_millis(wait_ms));
        assert!(!running.has_ended(), "it ended before the cut: {:?}", running.finish());
        drive.cut();
        assert!(running.wait(PATIENCE), "no end: {}", running.so_far());
        let outcome = running.finish();
        assert_eq!(outcome.status, Some(4), "{outcome:?}");
        outcome.expect_plain_words();
        let cut = Cut::told(&laboratory, sync);
        let (durable, written) = (cut.durable, cut.written);
        say(&format!("{mode}, {sync}, after {wait_ms} ms: {durable} of {written} blocks durable"));
        assert!(durable > 0 && written * BLOCK as u64 <= BYTES, "{outcome:?}");
        cut
    }

    /// What was acknowledged, as the run file has it.
    fn told(laboratory: &Laboratory, sync: &str) -> Cut {
        let run = RunFile::read(&laboratory.run_files()[0]).run;
        let tallies = run.steps.iter().flat_map(|step| &step.tallies);
        let ops = |wanted: Action| {
            let kinds = tallies.clone().flat_map(|tally| &tally.kinds);
            kinds.filter(|kind| kind.kind == wanted).map(|kind| kind.ops).sum::<u64>()
        };
        let writes = ops(Action::Write);
        let durable = match sync.split_once(':') {
            Some((_, every)) => ops(Action::Flush) * every.parse::<u64>().expect("a number"),
            None => writes,
        };
        // One more may have reached the drive and not been answered.
        let written = writes + 1;
        let medium = fs::read(MEDIUM).expect("the medium");
        let blocks = medium.chunks(BLOCK).take(written as usize);
        // Every sector that is written has a byte that is not zero.
        let is_there = |sector: &[u8]| sector.iter().any(|byte| *byte != 0);
        let is_kept = blocks.map(|block| block.chunks(SECTOR).all(is_there)).collect();
        Cut { durable, written, is_kept }
    }

    fn lost(&self, blocks: u64) -> u64 {
        self.is_kept[..blocks as usize].iter().filter(|is_kept| !**is_kept).count() as u64
    }

    /// What drivelab says of the first blocks, which must be what is on the medium.
    fn judged(&self, blocks: u64) -> Value {
        let laboratory = Laboratory::new();
        let length = (blocks * BLOCK as u64).to_string();
        let line = ["run", NODE, "--rw", "read", "--verify", "--length", &length, "--json"];
        let outcome = laboratory.run([&line[..], &LOAD].concat(), PATIENCE);
        let json = outcome.json();
        let step = json["steps"].as_array().and_then(|steps| steps.last()).expect("a step").clone();
        let stream = &step["streams"][0];
        let found = (&stream["verified"], &stream["mismatched"]);
        assert_eq!(found, (&blocks.into(), &self.lost(blocks).into()), "{outcome:?}");
        json
    }
}

fn has_reason(json: &Value, code: &str) -> bool {
    let steps = json["steps"].as_array().expect("steps");
    let mut reasons = steps.iter().filter_map(|step| step["reasons"].as_array()).flatten();
    reasons.any(|reason| reason["code"] == code)
}

/// Nothing that was acknowledged as durable is lost.
fn loses_nothing(sync: &str) {
    let cut = Cut::of("honest", &[], sync);
    assert_eq!(cut.lost(cut.durable), 0, "{sync}");
    let _drive = Powered::on("honest", &[]);
    let json = cut.judged(cut.durable);
    assert!(!has_reason(&json, "mismatches") && !has_reason(&json, "not_verified"), "{json}");
}

/// What was acknowledged and is lost is found, block by block.
fn loses_and_is_found(sync: &str) {
    let cut = Cut::of("lying", &["capacity=65536"], sync);
    assert!((1..cut.durable).contains(&cut.lost(cut.durable)), "{sync}");
    let _drive = Powered::on("lying", &[]);
    let json = cut.judged(cut.durable);
    assert!(has_reason(&json, "mismatches"), "{json}");
}

pub fn honest() {
    loses_nothing("fsync:8");
}

pub fn lying() {
    loses_and_is_found("fsync:8");
}

/// The same of both where each write is durable by itself (FUA).
pub fn both_by_fua() {
    loses_nothing("dsync");
    loses_and_is_found("dsync");
}

/// Where all is lost, the drive is as one that was never written: which of both cannot be told.
pub fn lying_wholly() {
    let cut = Cut::of("lying", &[], "fsync:8");
    assert_eq!(cut.lost(cut.durable), cut.durable);
    let _drive = Powered::on("lying", &[]);
    let json = cut.judged(cut.durable);
    assert!(has_reason(&json, "not_verified"), "{json}");
}

/// Later blocks are there and earlier ones are not, all of them after the last flush: that does not
/// make durable ones lost.
pub fn holed() {
    not_accused("holed", |cut| {
        let last = cut.is_kept.iter().rposition(|is_kept| *is_kept).expect("durable ones");
        cut.lost(last as u64) > 0
    });
}

/// Of blocks after the last flush a part is there: that does not either.
pub fn torn() {
    not_accused("torn", |cut| {
        let medium = fs::read(MEDIUM).expect("the medium");
        let mut blocks = medium.chunks(BLOCK).zip(&cut.is_kept);
        blocks.any(|(block, is_kept)| !is_kept && block.iter().any(|byte| *byte != 0))
    });
}

/// Cuts until what is to be tried is there, and judges each.
fn not_accused(mode: &str, is_planted: impl Fn(&Cut) -> bool) {
    for seed in 1..=5 {
        let cut = Cut::of(mode, &[&format!("seed={seed}")], "fsync:64");
        let is_planted = is_planted(&cut);
        assert_eq!(cut.lost(cut.durable), 0, "{mode}");
        let _drive = Powered::on("honest", &[]);
        let json = cut.judged(cut.durable);
        assert!(!has_reason(&json, "mismatches") && !has_reason(&json, "not_verified"), "{json}");
        if is_planted {
            let json = cut.judged(cut.written);
            assert!(has_reason(&json, "mismatches"), "what was not durable is not whole: {json}");
            return;
        }
    }
    panic!("{mode}: five cuts, and all came right after a flush");
}

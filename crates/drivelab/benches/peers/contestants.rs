//! The programs that are compared, and how each is started.

use crate::measure::{Sample, run};
use crate::setting::{BYTES, Setting};
use std::path::Path;
use std::process::Command;

/// Operations of one submitting and one reaping call where batches are equal.
pub const BATCH: u32 = 16;
/// Length of each run.
pub const SECONDS: u32 = 3;

/// What is done to which target.
#[derive(Clone, Debug)]
pub struct Job {
    pub target: String,
    /// Another file of that size, where drivelab writes to one that must be its own.
    pub target_of_others: String,
    /// `randread` or `randwrite`.
    pub rw: &'static str,
    pub engine: &'static str,
    pub depth: u32,
    /// More options of drivelab (the token of a device).
    pub consent: Vec<String>,
}

impl Job {
    fn is_direct(&self) -> bool {
        !matches!(self.engine, "mmap" | "null")
    }

    fn is_synchronous(&self) -> bool {
        matches!(self.engine, "psync" | "mmap")
    }
}

/// A program with its settings.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum Contestant {
    /// fio; `is_fixed`: with registered buffers and files.
    Fio { is_batched: bool, is_fixed: bool },
    /// drivelab run, everything recorded.
    Drivelab { is_batched: bool },
    /// drivelab's own loop without recording.
    Bare { is_batched: bool },
    /// fio's own loop without recording.
    BareFio { is_batched: bool },
}

/// Reads operations (if the program tells) and operations per second out of what it printed.
type Parse = fn(&str) -> Option<(Option<f64>, f64)>;

impl Contestant {
    /// Who, with the settings.
    pub fn name(self) -> String {
        let batch =
            |is_batched| if is_batched { format!(", batch {BATCH}") } else { String::new() };
        match self {
            Contestant::Fio { is_batched, is_fixed } => {
                let fixed = if is_fixed { ", registered" } else { "" };
                format!("fio{}{fixed}", batch(is_batched))
            }
            Contestant::Drivelab { is_batched } => format!("drivelab{}", batch(is_batched)),
            Contestant::Bare { is_batched } => format!("bare loop{}", batch(is_batched)),
            Contestant::BareFio { is_batched } => format!("t/io_uring{}", batch(is_batched)),
        }
    }

    /// One run.
    pub fn run(self, setting: &Setting, job: &Job, seconds: u32) -> Sample {
        let (command, parse): (Command, Parse) = match self {
            Contestant::Fio { is_batched, is_fixed } => {
                (fio(job, is_batched, is_fixed, seconds), parse_fio)
            }
            Contestant::Drivelab { is_batched } => {
                (drivelab("run", setting, job, is_batched, seconds), parse_drivelab)
            }
            Contestant::Bare { is_batched } => {
                (drivelab("bare", setting, job, is_batched, seconds), parse_bare)
            }
            Contestant::BareFio { .. } => {
                let program = setting.bare_fio.as_deref().expect("asked for only where it is");
                (bare_fio(program, job, seconds), parse_bare_fio)
            }
        };
        run(setting.cpu, command, parse)
    }
}

/// fio with what makes it fastest while it still records every latency.
fn fio(job: &Job, is_batched: bool, is_fixed: bool, seconds: u32) -> Command {
    let mut command = Command::new("fio");
    command.args(["--name=peer", "--thread", "--norandommap", "--randrepeat=0", "--time_based"]);
    // Scrambled buffers are far dearer for zram to compress, which is no matter of engines.
    command.args(["--bs=4k", "--scramble_buffers=0", "--output-format=json"]);
    command.arg(format!("--filename={}", job.target_of_others)).arg(format!("--rw={}", job.rw));
    command.arg(format!("--ioengine={}", job.engine)).arg(format!("--iodepth={}", job.depth));
    command.arg(format!("--runtime={seconds}")).arg(format!("--size={BYTES}"));
    command.arg(format!("--direct={}", u32::from(job.is_direct())));
    if is_batched {
        command.arg(format!("--iodepth_batch_submit={BATCH}"));
        command.arg(format!("--iodepth_batch_complete_min={BATCH}"));
        command.arg(format!("--iodepth_batch_complete_max={BATCH}"));
    }
    if is_fixed {
        command.args(["--fixedbufs", "--registerfiles"]);
    }
    command
}

fn parse_fio(text: &str) -> Option<(Option<f64>, f64)> {
    // Notes may stand before the object.
    let json: serde_json::Value = serde_json::from_str(&text[text.find('{')?..]).ok()?;
    let job = json["jobs"].get(0)?;
    let sides = [&job["read"], &job["write"]];
    let side = sides.into_iter().find(|side| side["total_ios"].as_u64() > Some(0))?;
    Some((Some(side["total_ios"].as_f64()?), side["iops"].as_f64()?))
}

fn drivelab(
    command_name: &str,
    setting: &Setting,
    job: &Job,
    is_batched: bool,
    seconds: u32,
) -> Command {
    let mut command = Command::new(env!("CARGO_BIN_EXE_drivelab"));
    command.env("XDG_DATA_HOME", setting.laboratory.data());
    command.args([command_name, &job.target, "--rw", job.rw, "--bs", "4k", "--json"]);
    command.args(["--engine", job.engine, "--depth", &job.depth.to_string()]);
    command.args(["--runtime", &seconds.to_string()]);
    if job.rw == "randwrite" {
        command.args(&job.consent);
    }
    if job.engine == "mmap" {
        command.args(["--io", "buffered"]);
    }
    if is_batched {
        let batch = BATCH.to_string();
        command.args(["--batch-submit", &batch, "--batch-complete", &batch]);
    }
    command
}

fn parse_drivelab(text: &str) -> Option<(Option<f64>, f64)> {
    let json: serde_json::Value = serde_json::from_str(text).ok()?;
    let stream = &json["steps"].get(0)?["streams"].get(0)?;
    let kind = ["read", "write"].into_iter().find_map(|kind| stream.get(kind))?;
    Some((Some(kind["ops"].as_f64()?), kind["iops"]["value"].as_f64()?))
}

fn parse_bare(text: &str) -> Option<(Option<f64>, f64)> {
    let json: serde_json::Value = serde_json::from_str(text).ok()?;
    let operations = json["ops"].as_f64()?;
    Some((Some(operations), operations / json["seconds"].as_f64()?))
}

/// fio's loop on the whole target, which is the region all others use.
fn bare_fio(program: &Path, job: &Job, seconds: u32) -> Command {
    let mut command = Command::new(program);
    command.args(["-b4096", "-p0", "-O1", "-R1"]).arg(format!("-r{}", seconds + 2));
    command.arg(format!("-d{}", job.depth));
    let batch = if job.is_synchronous() { 1 } else { BATCH };
    command.arg(format!("-s{batch}")).arg(format!("-c{batch}"));
    match job.engine {
        "libaio" => command.args(["-a1", "-B0", "-F0"]),
        "psync" => command.args(["-S1", "-B0", "-F0"]),
        _ => command.args(["-B1", "-F1"]),
    };
    command.arg(&job.target_of_others);
    command
}

/// The mean of the lines `IOPS=123456, …` or `IOPS=1.23M, …`, one a second, without the first,
/// in which it starts up. It does not say how many operations it did in all.
fn parse_bare_fio(text: &str) -> Option<(Option<f64>, f64)> {
    let values: Vec<f64> = text.lines().filter_map(iops_of_line).collect();
    let steady = values.get(1..)?;
    let mean = steady.iter().sum::<f64>() / steady.len() as f64;
    // All zero: built without the interface that was asked for.
    (mean > 0.0).then_some((None, mean))
}

fn iops_of_line(line: &str) -> Option<f64> {
    let word = line.strip_prefix("IOPS=")?.split(',').next()?;
    let (number, scale) = match word.strip_suffix(['K', 'M']) {
        Some(number) if word.ends_with('M') => (number, 1e6),
        Some(number) => (number, 1e3),
        None => (word, 1.0),
    };
    Some(number.parse::<f64>().ok()? * scale)
}

/// The faster of fio's variants for this job, by one short run each.
pub fn best_fio(setting: &Setting, job: &Job, is_batched: bool) -> Contestant {
    let plain = Contestant::Fio { is_batched, is_fixed: false };
    let fixed = Contestant::Fio { is_batched, is_fixed: true };
    if job.engine != "io_uring" {
        return plain;
    }
    let speed = |contestant: Contestant| contestant.run(setting, job, 2).iops;
    if speed(fixed) > speed(plain) { fixed } else { plain }
}

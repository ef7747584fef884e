//! The cells of the three tests, in the order that the specification fixes.

use super::SECOND_NS;
use crate::experiment::Setting;
use crate::experiment::order::is_complete;
use drivelab_core::op::Action;
use drivelab_core::plan::Pattern;
use drivelab_core::quantity::size;
use drivelab_core::run::StepRun;
use drivelab_core::study::{Profile, Scale};

/// Which test.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub enum Test {
    /// Section 7 of 2.0.2 by its contents: random, all mixes and sizes.
    Iops,
    /// In order, two sizes.
    Throughput,
    /// One operation at a time.
    Latency,
}

/// One load of the matrix.
#[derive(Debug, Clone, PartialEq)]
pub struct Cell {
    /// `R/W 65/35 64 KiB`.
    pub name: String,
    /// Percent of writes.
    pub writes: u32,
    /// Bytes of a request.
    pub size: u64,
    /// Random or in order.
    pub pattern: Pattern,
    /// Operations in flight, per worker.
    pub depth: u32,
    /// Workers.
    pub workers: u32,
}

/// Cells that share one preparation and are steady together.
#[derive(Debug, Clone, PartialEq)]
pub struct Section {
    /// Bytes of a request of the preconditioning.
    pub precondition_size: u64,
    /// One round, in order.
    pub cells: Vec<Cell>,
    /// Names of the cells that decide whether it is steady.
    pub tracked: Vec<String>,
    /// Sections that follow.
    pub later: u64,
    /// What runs once when it is, and how long.
    pub last: Option<(Cell, u64)>,
}

impl Section {
    /// Name of the preconditioning step.
    pub fn precondition(&self) -> String {
        format!("precondition {}", size(self.precondition_size))
    }
}

const KIB: u64 = 1024;
const MIXES: [u32; 7] = [0, 5, 35, 50, 65, 95, 100];
const SIZES: [u64; 8] =
    [1024 * KIB, 128 * KIB, 64 * KIB, 32 * KIB, 16 * KIB, 8 * KIB, 4 * KIB, KIB / 2];

impl Test {
    /// The figure that is tracked and reported.
    pub fn quantity(self) -> &'static str {
        match self {
            Test::Iops => "IOPS",
            Test::Throughput => "bytes a second",
            Test::Latency => "mean latency",
        }
    }

    /// Its sections, one after the other, each with a preparation of its own.
    pub fn sections(self, setting: &Setting<'_>) -> Vec<Section> {
        match self {
            Test::Iops => vec![iops(setting)],
            Test::Throughput => [128 * KIB, 1024 * KIB].map(throughput).to_vec(),
            Test::Latency => vec![latency(setting)],
        }
    }
}

/// Requests smaller than a block of the target cannot be issued.
pub fn least_bytes(setting: &Setting<'_>) -> u64 {
    let target = &setting.facts.target;
    let align = target.filesystem.as_ref().and_then(|found| found.direct_io_align);
    let sector = target.devices.first().and_then(|device| device.logical_block_bytes);
    align.map(|(_, offset)| u64::from(offset)).or(sector.map(u64::from)).unwrap_or(512).max(512)
}

fn random(writes: u32, bytes: u64, depth: u32, workers: u32) -> Cell {
    let name = format!("R/W {}/{writes} {}", 100 - writes, size(bytes));
    Cell { name, writes, size: bytes, pattern: Pattern::Uniform, depth, workers }
}

/// Mixes outside, sizes inside, as the specification nests them.
fn iops(setting: &Setting<'_>) -> Section {
    let is_quick = setting.options.scale == Scale::Quick;
    let (depth, workers) = match (setting.options.profile, is_quick) {
        (Profile::Client, _) => (16, 2),
        (Profile::Enterprise, true) => (32, 1),
        (Profile::Enterprise, false) => (32, 4),
    };
    let mixes: &[u32] = if is_quick { &[0, 35, 100] } else { &MIXES };
    let sizes: &[u64] = if is_quick { &[1024 * KIB, 64 * KIB, 4 * KIB] } else { &SIZES };
    let fits = |bytes: &&u64| **bytes >= least_bytes(setting);
    let cells = mixes
        .iter()
        .flat_map(|writes| {
            sizes.iter().filter(fits).map(|bytes| random(*writes, *bytes, depth, workers))
        })
        .collect();
    let tracked = [(100, 4 * KIB), (35, 64 * KIB), (0, 1024 * KIB)]
        .map(|(writes, bytes)| random(writes, bytes, depth, workers).name);
    Section { precondition_size: 128 * KIB, cells, tracked: tracked.to_vec(), later: 0, last: None }
}

fn throughput(bytes: u64) -> Section {
    let cell = |word: &str, writes| Cell {
        name: format!("sequential {word} {}", size(bytes)),
        writes,
        size: bytes,
        pattern: Pattern::SEQUENTIAL,
        depth: 32,
        workers: 1,
    };
    let cells = vec![cell("read", 0), cell("write", 100)];
    let tracked = vec![cells[1].name.clone()];
    let later = u64::from(bytes == 128 * KIB);
    Section { precondition_size: bytes, cells, tracked, later, last: None }
}

fn latency(setting: &Setting<'_>) -> Section {
    let sizes = [8 * KIB, 4 * KIB, KIB / 2];
    let fits = |bytes: &&u64| **bytes >= least_bytes(setting);
    let cells = [0, 35, 100]
        .iter()
        .flat_map(|writes| sizes.iter().filter(fits).map(|bytes| random(*writes, *bytes, 1, 1)))
        .collect();
    let tracked = vec![random(100, 4 * KIB, 1, 1).name];
    let seconds = match setting.options.scale {
        Scale::Quick => 20,
        Scale::Default => 300,
        Scale::Full => 1200,
    };
    let histogram =
        Cell { name: "histogram, random write 4 KiB".into(), ..random(100, 4 * KIB, 1, 1) };
    let last = Some((histogram, seconds * SECOND_NS));
    Section { precondition_size: 128 * KIB, cells, tracked, later: 0, last }
}

/// What could not be measured of the matrix, and why.
pub fn not_applicable(test: Test, setting: &Setting<'_>) -> Option<(String, String)> {
    let least = least_bytes(setting);
    (test != Test::Throughput && least > 512).then(|| {
        (
            format!("all cells of less than {}", size(least)),
            format!("this target moves at least {} at a time", size(least)),
        )
    })
}

/// The figure of each complete repetition of a cell, in order: operations or bytes a second, reads
/// and writes together, or the mean latency in nanoseconds; NaN where it has no sound one, so that
/// no window holds that round.
pub fn values(test: Test, steps: &[StepRun], name: &str) -> Vec<f64> {
    let of = |step: &StepRun| {
        let moves = |kind: Action| matches!(kind, Action::Read | Action::Write);
        let kinds = || {
            let all =
                step.tallies.iter().filter(|tally| !tally.ramp).flat_map(|tally| &tally.kinds);
            all.filter(|kind| moves(kind.kind))
        };
        let ops: u64 = kinds().map(|kind| kind.ops).sum();
        let bytes: u64 = kinds().map(|kind| kind.bytes).sum();
        let seconds = step.duration_ns() as f64 / 1e9;
        if ops == 0 || seconds <= 0.0 {
            return None;
        }
        Some(match test {
            Test::Iops => ops as f64 / seconds,
            Test::Throughput => bytes as f64 / seconds,
            Test::Latency => {
                let total: f64 =
                    kinds().map(|kind| kind.service.mean().unwrap_or(0.0) * kind.ops as f64).sum();
                total / ops as f64
            }
        })
    };
    let named = steps.iter().filter(|step| step.begin.name == name && is_complete(step));
    named.map(|step| of(step).unwrap_or(f64::NAN)).collect()
}

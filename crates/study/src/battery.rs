//! What the suites of old measure, as data: loads that follow each other, and what is read from
//! each. `files`, `ior`, `meta` and `torture` are made of these.
//!
//! Loads that mean something only behind each other (a second read behind a first) form a group;
//! the order of the groups is shuffled again in each round, as other studies do with cells.

mod brief;
pub mod ior;
pub mod iozone;
mod measured;
pub mod names;
mod rounds;
#[cfg(test)]
mod tests;

pub use brief::brief;
pub use measured::{
    Outcome, Quantity, advice, amount, change, estimate, matrix, outcome, sample, side, values,
    words,
};
pub use rounds::{cell_ns, interval_ns, one_round, rest};

use crate::experiment::Setting;
use crate::experiment::loads;
use crate::experiment::order::shuffle;
use drivelab_core::facts::TargetKind;
use drivelab_core::op::Action;
use drivelab_core::plan::{Act, Engine, IoMode, Role, Step, Stream, Sync, SyncTiming, Until};
use drivelab_core::units::{Size, Span};

/// Between groups a simulated drive rests, as a real one does while a file is opened: or the first
/// load of a group would pay for what the last left behind.
const REST: Span = Span(200_000_000);
pub(crate) const MEBIBYTE: u64 = 1 << 20;

/// One load; its steps are repetitions.
#[derive(Debug, Clone, PartialEq)]
pub struct Load {
    /// Name of its steps, before the label of a side.
    pub name: String,
    /// What is done before each repetition, outside the measurement.
    pub acts: Vec<Act>,
    /// What runs.
    pub stream: Stream,
    /// When it ends.
    pub until: Until,
}

/// One figure that is read from a load.
#[derive(Debug, Clone, PartialEq)]
pub struct Cell {
    /// What a reader calls it.
    pub name: String,
    /// The load it is read from.
    pub load: String,
    /// The kind of operation that counts.
    pub action: Action,
    /// What it is told in.
    pub quantity: Quantity,
    /// The test it belongs to, one row of a matrix.
    pub row: String,
    /// Its place in that row: a record size, or a number of workers.
    pub column: u64,
}

/// Loads that follow each other, and what is read from them.
#[derive(Debug, Clone, Default, PartialEq)]
pub struct Group {
    /// The loads, in the order in which they run.
    pub loads: Vec<Load>,
    /// What is read from them.
    pub cells: Vec<Cell>,
}

impl Load {
    /// Most bytes that one repetition writes.
    pub fn written_bytes(&self) -> u64 {
        if self.stream.mix.write == 0 || self.stream.is_metadata() {
            return 0;
        }
        let length = self.stream.length.map_or(0, |length| length.0);
        let files = match self.stream.files {
            drivelab_core::plan::Files::Each => u64::from(self.stream.workers),
            drivelab_core::plan::Files::One => 1,
        };
        length * files * self.until.passes.unwrap_or(1)
    }
}

/// All cells of groups, in the order in which they are read.
pub fn cells(groups: &[Group]) -> Vec<&Cell> {
    groups.iter().flat_map(|group| &group.cells).collect()
}

/// Bytes that one round of groups writes.
pub fn written_bytes(groups: &[Group]) -> u64 {
    groups.iter().flat_map(|group| &group.loads).map(Load::written_bytes).sum()
}

/// Loads of one round.
pub fn count(groups: &[Group]) -> u64 {
    groups.iter().map(|group| group.loads.len() as u64).sum()
}

/// The steps of one round, the groups in an order of its own; `label` follows each name.
pub fn round(setting: &Setting<'_>, groups: &[Group], number: u64, label: &str) -> Vec<Step> {
    let mut order: Vec<&Group> = groups.iter().collect();
    shuffle(&mut order, setting.options.seed, number);
    let of_group = |group: &Group| -> Vec<Step> {
        let rest = setting.is_simulated().then(|| of_act(Act::Idle(REST), label));
        let loads = group.loads.iter().flat_map(|load| steps(setting, load, label));
        rest.into_iter().chain(loads).collect()
    };
    order.into_iter().flat_map(of_group).collect()
}

fn steps(setting: &Setting<'_>, load: &Load, label: &str) -> Vec<Step> {
    let mut all: Vec<Step> = load.acts.iter().map(|act| of_act(act.clone(), label)).collect();
    let name = format!("{}{label}", load.name);
    all.push(loads::step(setting, &name, Role::Measure, load.until.clone(), load.stream.clone()));
    all
}

fn of_act(act: Act, label: &str) -> Step {
    let name = match act {
        Act::DropCaches => "drop the cache",
        Act::Idle(_) => "rest",
        _ => "discard blocks",
    };
    let name = format!("{name}{label}");
    let role = if matches!(act, Act::Idle(_)) { Role::Idle } else { Role::Prepare };
    Step { name, role, act: Some(act), repeat: 1, ..Step::default() }
}

/// The bytes that data loads work on, and how.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub struct Shape {
    /// Bytes of the file, or of the part of a drive that stands for it.
    pub file_bytes: u64,
    /// Whether it goes through the page cache of the host where the test does not say otherwise.
    pub is_cached: bool,
    /// Whether there is a page cache at all.
    pub has_cache: bool,
    /// Most time of one repetition; absent: as long as it takes.
    pub cell_ns: Option<u64>,
}

impl Shape {
    /// How loads go about on this target: past the page cache of a real host, through that of a
    /// simulated one.
    pub fn of(setting: &Setting<'_>, file_bytes: u64) -> Self {
        let simulated = setting.facts.target.simulated.as_ref();
        let has_cache =
            !setting.is_simulated() || simulated.is_some_and(|it| it.page_cache_bytes.is_some());
        let is_cached = match setting.is_simulated() {
            true => has_cache,
            false => loads::base(setting).io == IoMode::Buffered,
        };
        Shape { file_bytes, is_cached, has_cache, cell_ns: None }
    }

    /// One synchronous operation at a time, as these suites work.
    fn stream(&self, is_cached: bool) -> Stream {
        let io = if is_cached { IoMode::Buffered } else { IoMode::Direct };
        Stream {
            engine: Engine::Psync,
            io,
            length: Some(Size(self.file_bytes)),
            ..Stream::default()
        }
    }

    /// Once over the file, within the time of a cell.
    fn until(&self) -> Until {
        Until { passes: Some(1), elapsed: self.cell_ns.map(Span), ..Until::default() }
    }
}

/// What was written is on the drive before the next load begins; where it went through the page
/// cache, before its own time ends.
fn durable(stream: Stream) -> Stream {
    let sync_timing = match stream.io {
        IoMode::Buffered => SyncTiming::Inside,
        IoMode::Direct => SyncTiming::Outside,
    };
    match stream.mix.write {
        0 => stream,
        _ => Stream { sync: Sync::End, sync_timing, ..stream },
    }
}

/// The step that writes the first `bytes` once, in order, so that reads read what was written.
pub fn fill(setting: &Setting<'_>, name: &str, bytes: u64) -> Step {
    let stream = Stream {
        mix: drivelab_core::plan::Mix::WRITE,
        size: Size(MEBIBYTE),
        sync: Sync::End,
        stamp: true,
        length: Some(Size(bytes)),
        ..loads::deep(loads::base(setting), 8)
    };
    let until = Until { passes: Some(1), ..Until::default() };
    loads::step(setting, name, Role::Prepare, until, stream)
}

/// Whether blocks of the target can be given back and allocated again by a file system.
pub fn allocates(setting: &Setting<'_>) -> bool {
    let target = &setting.facts.target;
    let kind = target.filesystem.as_ref().map(|found| found.kind.as_str());
    !matches!(target.kind, TargetKind::BlockDevice | TargetKind::Simulated)
        && matches!(kind, Some("ext4" | "xfs" | "btrfs" | "tmpfs"))
}

/// Whether names can be made on the target: a simulated drive has a model of a file system.
pub fn has_names(setting: &Setting<'_>) -> bool {
    matches!(setting.facts.target.kind, TargetKind::Directory | TargetKind::Simulated)
}

/// Bytes of a simulated drive for each name of a load: its file system has an inode for 16 KiB, and
/// directories that rounds have made stay.
const BYTES_OF_NAME: u64 = 60 << 10;

/// Most names that a load may have.
pub fn names_most(setting: &Setting<'_>) -> u32 {
    match setting.is_simulated() {
        true => u32::try_from(setting.bytes() / BYTES_OF_NAME).unwrap_or(u32::MAX),
        false => u32::MAX,
    }
}

/// Workers of the loads that use several.
pub const WORKERS: u32 = 4;

/// Virtual time costs little: a battery may take this many times as long there.
pub const SIMULATED_TIMES: u64 = 24;

/// The page cache that stands before a simulated drive where its name asks for none: a quarter of
/// the target, and no more than the study wants. Without one the C library has nothing to go
/// through, and of what fits in it memory and drive could not both answer.
pub fn page_cache_bytes(most: u64, target_bytes: u64) -> u64 {
    (target_bytes / 4 / MEBIBYTE * MEBIBYTE).clamp(16 * MEBIBYTE, most)
}

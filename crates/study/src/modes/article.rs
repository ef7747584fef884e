//! `modes --article`: the table of an article, and the question it left open. A mixture of 70 %
//! reads at depth 64, direct and buffered: why is buffered the slower one?
//!
//! The answer rests on what is counted at the drive: reads in flight there. The same load one at a
//! time says whether a depth is worth anything on this drive at all.

mod judge;

pub(super) use judge::judge;

use super::{Mode, region, settle, why_not};
use crate::experiment::budget::{Left, whole};
use crate::experiment::order::{done, shuffle};
use crate::experiment::{Setting, loads, longest_ns, repetitions};
use drivelab_core::plan::{Engine, IoMode, Mix, Pattern, Plan, Role, Step, Stream, Until};
use drivelab_core::run::Run;
use drivelab_core::units::{Size, Span};

/// Percent of the operations that read.
const READS: u32 = 70;
/// Operations in flight.
const DEPTH: u32 = 64;
const SECOND_NS: u64 = 1_000_000_000;

/// One load.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
struct Cell {
    mode: Mode,
    depth: u32,
}

impl Cell {
    fn name(self) -> String {
        format!("{}, {}", load_name(self.depth), self.mode.word())
    }
}

fn load_name(depth: u32) -> String {
    format!("random {READS}/{} qd{depth}", 100 - READS)
}

/// What this target can serve, in the order it is to be read.
fn cells(setting: &Setting<'_>) -> Vec<Cell> {
    let modes = || [Mode::Direct, Mode::Buffered].into_iter();
    let served = |mode: &Mode| why_not(setting, *mode).is_none();
    let of_depth = |depth| modes().filter(served).map(move |mode| Cell { mode, depth });
    [DEPTH, 1].into_iter().flat_map(of_depth).collect()
}

/// The round that is missing, after the fill.
pub(super) fn next(setting: &Setting<'_>, run: &Run, left: &Left) -> Option<Plan> {
    let count = repetitions(setting.options.scale);
    let cells = cells(setting);
    let missing = |cell: &Cell| count.saturating_sub(done(&run.steps, &cell.name()));
    let all: usize = cells.iter().map(missing).sum();
    let most = cells.iter().map(missing).max().filter(|most| *most > 0)?;
    let mut round: Vec<Cell> = cells.into_iter().filter(|cell| missing(cell) == most).collect();
    shuffle(&mut round, setting.options.seed, (count - most) as u64);
    // Each cell has three steps.
    let each_ns = left.each(setting, 3 * all as u64, longest_ns(setting, 1));
    if each_ns < SECOND_NS / 100 || left.bytes < (1 << 20) {
        return None;
    }
    let bytes = left.bytes / (2 * all as u64);
    let steps = round.iter().flat_map(|cell| group(setting, *cell, each_ns, bytes)).collect();
    Some(loads::plan(setting, each_ns.min(SECOND_NS) / 10, steps))
}

/// A cell with what must come before it: memory as if nothing had been read, then the load itself,
/// unmeasured, so that no buffer of the drive and no empty page cache takes the first writes.
fn group(setting: &Setting<'_>, cell: Cell, each_ns: u64, write_bytes: u64) -> Vec<Step> {
    let stream = Stream {
        engine: Engine::Libaio,
        io: if cell.mode.is_direct() { IoMode::Direct } else { IoMode::Buffered },
        pattern: Pattern::Uniform,
        mix: Mix { read: READS, write: 100 - READS, trim: 0 },
        depth: cell.depth,
        length: Some(Size(region(setting))),
        ..Stream::default()
    };
    let bytes = whole(write_bytes / u64::from(100 - READS) * 100, stream.size.0);
    let until = Until { elapsed: Some(Span(each_ns)), bytes: Some(bytes), ..Until::default() };
    let measured = loads::step(setting, &cell.name(), Role::Measure, until, stream);
    vec![settle(), loads::running_in(&measured), measured]
}

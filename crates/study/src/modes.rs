//! `modes`: direct, buffered, dsync: who answers, the memory of this machine or the drive?
//!
//! Random reads and writes of 4 KiB, once for each way to open a file, one at a time and 32 at a
//! time. Next to each the bytes that reached the drive meanwhile are counted: what is missing of
//! those that were asked for, memory has answered.

mod article;
mod judge;

use crate::experiment::budget::{Left, whole};
use crate::experiment::order::{done, shuffle, since_break};
use crate::experiment::{
    Allowance, Needs, OwnOption, Setting, Study, impossible, loads, longest_ns, repetitions,
};
use drivelab_core::op::Action;
use drivelab_core::plan::{
    Act, Engine, IoMode, Mix, Pattern, Plan, Role, Step, Stream, Sync, Until,
};
use drivelab_core::run::Run;
use drivelab_core::sound::Rules;
use drivelab_core::study::Scale;
use drivelab_core::units::{Size, Span};

/// The study.
pub const STUDY: Study = Study {
    name: "modes",
    question: "Direct, buffered, dsync: who answers, this machine's memory or the drive?",
    allowance,
    objection,
    next,
    rules: Rules { is_series: false, is_finding: judge::is_finding },
    judge: |setting, run| match setting.options.article {
        true => article::judge(setting, run),
        false => judge::judge(setting, run),
    },
    options: &[OwnOption::Article],
    needs: Needs { page_cache: |_| Some(256 << 20), ..Needs::PLAIN },
    ..Study::PLAIN
};

const SECOND_NS: u64 = 1_000_000_000;
/// In virtual time memory answers millions of operations a second: a step takes this part of its
/// time.
const VIRTUAL_PART: u64 = 50;
/// Writes back and drops what the page cache holds, so that no cell pays for another.
const SETTLE: &str = "write back and drop pages";
/// Reads the region once through the page cache: what a buffered reader finds on a busy machine.
const WARM_UP: &str = "read into memory";
/// What the fill may take of the bytes.
const FILL_SHARE: u64 = 4;

/// How a file is opened.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
enum Mode {
    Direct,
    DirectDsync,
    Buffered,
    BufferedDsync,
}

impl Mode {
    const ALL: [Mode; 4] = [Mode::Direct, Mode::DirectDsync, Mode::Buffered, Mode::BufferedDsync];

    fn word(self) -> &'static str {
        match self {
            Mode::Direct => "direct",
            Mode::DirectDsync => "direct + dsync",
            Mode::Buffered => "buffered",
            Mode::BufferedDsync => "buffered + dsync",
        }
    }

    fn is_direct(self) -> bool {
        matches!(self, Mode::Direct | Mode::DirectDsync)
    }

    fn is_durable(self) -> bool {
        matches!(self, Mode::DirectDsync | Mode::BufferedDsync)
    }
}

/// One load.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
struct Cell {
    kind: Action,
    mode: Mode,
    depth: u32,
}

impl Cell {
    fn name(&self) -> String {
        format!("random {} qd{}, {}", self.kind.word(), self.depth, self.mode.word())
    }
}

/// What this target can serve, in the order it is to be read. Durability is the business of
/// writes.
fn cells(setting: &Setting<'_>) -> Vec<Cell> {
    let mut all = Vec::new();
    for kind in [Action::Read, Action::Write] {
        for depth in [1, 32] {
            let modes = Mode::ALL.into_iter();
            let modes = modes.filter(|mode| kind == Action::Write || !mode.is_durable());
            let modes = modes.filter(|mode| why_not(setting, *mode).is_none());
            all.extend(modes.map(|mode| Cell { kind, mode, depth }));
        }
    }
    all
}

/// Why this target cannot be opened so.
fn why_not(setting: &Setting<'_>, mode: Mode) -> Option<&'static str> {
    let target = &setting.facts.target;
    let filesystem = target.filesystem.as_ref();
    let has_pages = target.simulated.is_some_and(|known| known.page_cache_bytes.is_some());
    match mode.is_direct() {
        true if filesystem.and_then(|found| found.direct_io_align) == Some((0, 0)) => {
            Some("this file system has no direct I/O: all of its I/O is buffered")
        }
        false if setting.is_simulated() && !has_pages => {
            Some("this simulated host has no page cache; add page_cache=1GiB to the target")
        }
        _ => None,
    }
}

fn allowance(scale: Scale, bytes: u64) -> Allowance {
    let (minutes, budget) = match scale {
        Scale::Quick => (5, 10 << 30),
        Scale::Default => (20, bytes.saturating_mul(8).min(64 << 30)),
        Scale::Full => (120, bytes.saturating_mul(8)),
    };
    Allowance { time: Span(minutes * 60 * SECOND_NS), budget: Size(budget) }
}

/// The part of the target that is used: whatever lies beyond it would only fill memory.
fn region(setting: &Setting<'_>) -> u64 {
    let most = match setting.options.scale {
        Scale::Quick => 1 << 30,
        Scale::Default => 8 << 30,
        Scale::Full => u64::MAX,
    };
    let share = setting.options.budget.0 / FILL_SHARE;
    setting.bytes().min(most).min(share) / (1 << 20) * (1 << 20)
}

fn objection(setting: &Setting<'_>) -> Option<String> {
    let least = crate::experiment::BYTES_MIN;
    impossible(setting).or_else(|| {
        (region(setting) < least).then(|| {
            format!(
                "a budget of {} leaves {} to work on; give at least {}",
                setting.options.budget,
                Size(region(setting)),
                Size(FILL_SHARE * least)
            )
        })
    })
}

fn next(setting: &Setting<'_>, run: &Run) -> Option<Plan> {
    let left = Left::of(setting, run);
    let steps = since_break(run);
    if done(steps, loads::FILL) == 0 {
        let is_tried = steps.iter().any(|step| step.begin.name == loads::FILL);
        return (!is_tried).then(|| loads::plan(setting, SECOND_NS, vec![fill(setting, &left)]));
    }
    if setting.options.article {
        return article::next(setting, run, &left);
    }
    let count = repetitions(setting.options.scale);
    let cells = cells(setting);
    let missing = |cell: &Cell| count.saturating_sub(done(&run.steps, &cell.name()));
    let all: usize = cells.iter().map(missing).sum();
    // All cells once, then again: those that are furthest behind.
    let most = cells.iter().map(missing).max().filter(|most| *most > 0)?;
    let mut round: Vec<Cell> = cells.into_iter().filter(|cell| missing(cell) == most).collect();
    shuffle(&mut round, setting.options.seed, (count - most) as u64);
    // Each cell has one to three steps.
    let each_ns = left.each(setting, 3 * all as u64, longest_ns(setting, VIRTUAL_PART));
    if each_ns < SECOND_NS / 100 || left.bytes < (1 << 20) {
        return None;
    }
    let warm_up_ns = left.time_ns / (2 * all as u64);
    let share = Share { each_ns, warm_up_ns, bytes: left.bytes / all as u64 };
    let steps = round.iter().flat_map(|cell| group(setting, cell, &share)).collect();
    Some(loads::plan(setting, each_ns.min(SECOND_NS) / 10, steps))
}

fn fill(setting: &Setting<'_>, left: &Left) -> Step {
    let mut fill = loads::fill(setting, 1, left);
    fill.streams[0].length = Some(Size(region(setting)));
    fill.streams[0].size = Size(1 << 20);
    fill
}

/// What one cell may take.
struct Share {
    each_ns: u64,
    warm_up_ns: u64,
    bytes: u64,
}

/// Memory as if nothing had been read or written.
fn settle() -> Step {
    Step { name: SETTLE.into(), role: Role::Prepare, act: Some(Act::DropCaches), ..Step::default() }
}

/// A cell with what must come before it.
fn group(setting: &Setting<'_>, cell: &Cell, share: &Share) -> Vec<Step> {
    let stream = Stream {
        engine: Engine::IoUring,
        io: if cell.mode.is_direct() { IoMode::Direct } else { IoMode::Buffered },
        sync: if cell.mode.is_durable() { Sync::Dsync } else { Sync::None },
        length: Some(Size(region(setting))),
        ..Stream::default()
    };
    let warm_up = Stream { size: Size(1 << 20), mix: Mix::READ, ..stream.clone() };
    let elapsed = Some(Span(share.warm_up_ns));
    let once = Until { passes: Some(1), elapsed, ..Until::default() };
    let is_write = cell.kind == Action::Write;
    let measured = Stream {
        pattern: Pattern::Uniform,
        mix: if is_write { Mix::WRITE } else { Mix::READ },
        depth: cell.depth,
        ..stream
    };
    let bytes = is_write.then(|| whole(share.bytes, measured.size.0));
    let until = Until { elapsed: Some(Span(share.each_ns)), bytes, ..Until::default() };
    let mut steps = vec![settle()];
    if cell.kind == Action::Read && !cell.mode.is_direct() {
        steps.push(loads::step(setting, WARM_UP, Role::Prepare, once, warm_up));
    }
    steps.push(loads::step(setting, &cell.name(), Role::Measure, until, measured));
    steps
}

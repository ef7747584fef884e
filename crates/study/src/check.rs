//! `check`: what can this drive do, in three minutes, and what hurts?
//!
//! A scratch file is laid out first, bounded in time; the cells then run on what was laid out.
//! Cells in order have a part of it for themselves, which nothing writes but in order: a flash
//! drive reads what was written at random slower. What that costs is a cell of its own, behind all
//! others. Every other cell is repeated in shuffled order, so that a drift of the drive or the
//! machine falls on all of them alike. A write cell ends at its time or its bytes, whichever comes
//! first.

pub mod classes;
mod judge;
pub mod uses;
mod zoned;

pub use judge::judge;

use crate::experiment::order::{is_broken, missing, since_break};
use crate::experiment::{Allowance, Presentation, Setting, Study, budget};
use drivelab_core::facts::Facts;
use drivelab_core::plan::{
    Engine, Interval, IoMode, Mix, Pattern, Plan, Role, Step, Stream, Sync, Until,
};
use drivelab_core::run::{Run, StepRun};
use drivelab_core::study::StudyOptions;
use drivelab_core::units::{Size, Span};
use drivelab_core::uses::Row;
use drivelab_stats::{Domain, Random};

// Cells are called after their load, and are compared by name: one whose load changes needs another
// name. Where nothing is said the queue depth is that of the line which everyone compares.
const SEQUENTIAL_READ: &str = "sequential read 1 MiB";
const SEQUENTIAL_WRITE: &str = "sequential write 1 MiB";
const SEQUENTIAL_READ_ALONE: &str = "sequential read 1 MiB qd1";
const SEQUENTIAL_WRITE_ALONE: &str = "sequential write 1 MiB qd1";
const RANDOM_READ: &str = "random read";
const RANDOM_WRITE: &str = "random write";
const RANDOM_READ_ALONE: &str = "random read qd1";
const RANDOM_WRITE_ALONE: &str = "random write qd1";
const MIX: &str = "mix 70/30";
const FSYNC: &str = "fsync";
const STUTTER: &str = "stutter";
/// Sequential reads of what was written at random since.
const REWRITTEN_READ: &str = "sequential read 1 MiB after random writes";
/// Repetitions of each cell.
pub const REPETITIONS: u32 = 5;
/// Cells in the order of the report.
pub const CELLS: [&str; 12] = [
    SEQUENTIAL_READ,
    SEQUENTIAL_WRITE,
    SEQUENTIAL_READ_ALONE,
    SEQUENTIAL_WRITE_ALONE,
    RANDOM_READ,
    RANDOM_WRITE,
    RANDOM_READ_ALONE,
    RANDOM_WRITE_ALONE,
    MIX,
    FSYNC,
    REWRITTEN_READ,
    STUTTER,
];
/// Queue depth of sequential transfers in flight together, and of random ones.
const SEQUENTIAL_DEPTH: u32 = 8;
const RANDOM_DEPTH: u32 = 32;
/// Freezes are counted from this length on.
pub const FREEZE_NS: u64 = 100_000_000;
/// Fewer seconds of small random writes than this do not show that a drive never freezes.
const STUTTER_SECONDS_MIN: f64 = 10.0;

const MEBIBYTE: u64 = 1 << 20;
const SECOND_NS: u64 = 1_000_000_000;
const SCRATCH_BYTES_MIN: u64 = 64 * MEBIBYTE;
/// The layout may take this share of the whole time.
const LAYOUT_SHARE: f64 = 0.25;
/// Share of the remaining bytes that each write cell may issue in all its repetitions.
const WRITE_SHARES: [(&str, f64); 6] = [
    (SEQUENTIAL_WRITE, 0.24),
    (SEQUENTIAL_WRITE_ALONE, 0.16),
    (RANDOM_WRITE, 0.17),
    (RANDOM_WRITE_ALONE, 0.07),
    (FSYNC, 0.02),
    (STUTTER, 0.26),
];
/// What is left for the writes of the mix.
const MIX_SHARE: f64 = 0.08;

/// The study.
pub const STUDY: Study = Study {
    name: "check",
    question: "What can this drive do, and what hurts?",
    allowance: |_, _| Allowance { time: Span(180 * SECOND_NS), budget: Size(8 << 30) },
    objection: zoned::objection,
    next,
    judge: |setting, run| judge(setting.options, run),
    presentation: Presentation::Cells,
    ..Study::PLAIN
};

/// What is read side by side: the four lines that everyone compares, then drivelab's own.
fn rows() -> Vec<Row> {
    let row = |label: &str, read: Option<&str>, write: Option<&str>, is_standard| Row {
        label: label.into(),
        read: read.map(Into::into),
        write: write.map(Into::into),
        is_standard,
    };
    let four = |label, read, write| row(label, Some(read), Some(write), true);
    vec![
        four("SEQ1M  Q8T1", SEQUENTIAL_READ, SEQUENTIAL_WRITE),
        four("SEQ1M  Q1T1", SEQUENTIAL_READ_ALONE, SEQUENTIAL_WRITE_ALONE),
        four("RND4K  Q32T1", RANDOM_READ, RANDOM_WRITE),
        four("RND4K  Q1T1", RANDOM_READ_ALONE, RANDOM_WRITE_ALONE),
        row("70/30  Q32T1", Some(MIX), Some(MIX), false),
        row("4K and fsync", None, Some(FSYNC), false),
        row("after random", Some(REWRITTEN_READ), None, false),
        row("stutter Q8T1", None, Some(STUTTER), false),
    ]
}

/// Bytes of the scratch file: a quarter of the budget, and never so much that less than a tenth
/// of the file system stays free.
///
/// # Errors
/// Too little room for a check.
pub fn scratch_bytes(options: &StudyOptions, facts: &Facts) -> Result<u64, String> {
    let filesystem = facts.target.filesystem.as_ref();
    let room = filesystem.and_then(|fs| {
        let reserve = fs.total_bytes? / 10;
        Some(fs.free_bytes?.saturating_sub(reserve))
    });
    let wanted = options.budget.0 / 4;
    let bytes = wanted.min(room.unwrap_or(wanted)) / MEBIBYTE * MEBIBYTE;
    if bytes >= SCRATCH_BYTES_MIN {
        return Ok(bytes);
    }
    Err(match room {
        Some(room) if room < wanted => format!(
            "{} MiB are free here beyond the tenth that check leaves alone; it needs {} MiB. Make \
             room, or name another directory",
            room / MEBIBYTE,
            SCRATCH_BYTES_MIN / MEBIBYTE
        ),
        _ => format!(
            "a budget of {} is too small; check needs at least {} MiB, four times its smallest \
             scratch file",
            options.budget,
            4 * SCRATCH_BYTES_MIN / MEBIBYTE
        ),
    })
}

/// The next plan: first the layout, then what is missing of the cells on what was laid out.
fn next(setting: &Setting<'_>, so_far: &Run) -> Option<Plan> {
    let (options, facts) = (setting.options, setting.facts);
    let shape = zoned::shape(facts, setting.bytes()).filter(|_| !options.read_only);
    let all = if options.read_only {
        cells(options, facts, setting.bytes(), 0, false)
    } else {
        let laid = |step: &&StepRun| step.begin.role == Role::Prepare && step.end.is_some();
        let Some(step) = since_break(so_far).iter().find(laid) else {
            let bytes = layout_bytes(options, setting.is_drive(), setting.bytes());
            let mut plan = layout(options, facts, bytes);
            if let Some(shape) = &shape {
                zoned::laid_out(shape, zoned::zones(shape, bytes), &mut plan);
            }
            return Some(plan);
        };
        let bytes = laid_bytes(step);
        // What was laid out before the target was let go of took its time too.
        let spent_ns = so_far.steps.iter().filter(laid).map(spent_ns).sum();
        let of = |budget: Size| {
            let options = StudyOptions { budget, ..options.clone() };
            let mut plan = cells(&options, facts, bytes, spent_ns, true);
            if let Some(shape) = &shape {
                plan.steps.retain(|step| zoned::is_served(&step.name));
                zoned::placed(shape, bytes / shape.zoned.holds().max(1), &mut plan);
            }
            plan
        };
        let least = shape.map_or(MEBIBYTE, |shape| 2 * shape.zoned.holds());
        (bytes >= least).then(|| match is_broken(so_far) {
            true => of(budget_then(options, bytes, of(options.budget), so_far)),
            false => of(options.budget),
        })?
    };
    let steps = missing(all.steps, so_far);
    (!steps.is_empty()).then_some(Plan { steps, ..all })
}

/// A raw device is laid out up to a quarter of the budget, like a scratch file.
fn layout_bytes(options: &StudyOptions, device: bool, file_bytes: u64) -> u64 {
    if device { file_bytes.min(options.budget.0 / 4) / MEBIBYTE * MEBIBYTE } else { file_bytes }
}

/// Bytes from the start of the target that the layout really wrote.
pub fn laid_bytes(step: &StepRun) -> u64 {
    step.tallies.iter().map(|tally| tally.bytes()).sum::<u64>() / MEBIBYTE * MEBIBYTE
}

/// The budget for which what is still missing of `all` writes no more than is left of the whole.
fn budget_then(options: &StudyOptions, laid: u64, all: Plan, so_far: &Run) -> Size {
    let left = options.budget.0.saturating_sub(budget::written(&so_far.steps));
    let planned: u64 = missing(all.steps, so_far).iter().map(budget::planned).sum();
    let room = options.budget.0.saturating_sub(laid) as f64;
    let part = (left as f64 / planned.max(1) as f64).min(1.0);
    Size(laid + (room * part) as u64)
}

fn spent_ns(step: &StepRun) -> u64 {
    let phases = step.end.iter().flat_map(|end| &end.phases);
    phases.map(|phase| phase.closed - phase.opened).max().unwrap_or(0)
}

/// Where cells in order and where the others work: the first bytes, and those behind them. What
/// only reads finds the target as it is, and has all of it.
fn parts(region: u64, writes: bool) -> [(u64, u64); 2] {
    let ordered = region / 2 / MEBIBYTE * MEBIBYTE;
    match writes && ordered > 0 {
        true => [(0, ordered), (ordered, region - ordered)],
        false => [(0, region); 2],
    }
}

fn io_mode(facts: &Facts) -> IoMode {
    let align = facts.target.filesystem.as_ref().and_then(|fs| fs.direct_io_align);
    if align == Some((0, 0)) { IoMode::Buffered } else { IoMode::Direct }
}

fn layout(options: &StudyOptions, facts: &Facts, bytes: u64) -> Plan {
    let stream = Stream {
        io: io_mode(facts),
        sync: Sync::End,
        mix: Mix::WRITE,
        size: Size(MEBIBYTE),
        depth: if io_mode(facts) == IoMode::Direct { 8 } else { 1 },
        length: Some(Size(bytes)),
        stamp: true,
        ..engine_for(facts)
    };
    let share = (options.time.0 as f64 * LAYOUT_SHARE) as u64;
    let step = Step {
        name: "layout".into(),
        role: Role::Prepare,
        until: Until { elapsed: Some(Span(share)), passes: Some(1), ..Until::default() },
        repeat: 1,
        cpus: options.cpus.clone(),
        streams: vec![stream],
        ..Step::default()
    };
    plan(options, vec![step])
}

/// Buffered files are served synchronously whatever the engine; say so by using psync.
fn engine_for(facts: &Facts) -> Stream {
    let engine = match io_mode(facts) {
        IoMode::Direct => Engine::IoUring,
        IoMode::Buffered => Engine::Psync,
    };
    Stream { engine, io: io_mode(facts), ..Stream::default() }
}

fn plan(options: &StudyOptions, steps: Vec<Step>) -> Plan {
    let interval = Interval(Span(100_000_000));
    Plan { title: "check".into(), seed: options.seed, interval, steps, ..Plan::default() }
}

/// All cells, `REPETITIONS` times, each round in an order of its own.
fn cells(options: &StudyOptions, facts: &Facts, region: u64, spent_ns: u64, writes: bool) -> Plan {
    let room = options.budget.0.saturating_sub(if writes { region } else { 0 });
    // Half a second a step goes to setting up, and no more than a quarter of all; the rest is
    // shared, a double share for stutter.
    let is_last = |name: &&str| *name == REWRITTEN_READ;
    let is_done = |name: &&str| writes || (name.contains("read") && !is_last(name));
    let names: Vec<&str> = CELLS.into_iter().filter(is_done).collect();
    let shares = names.len() as u64 + u64::from(names.contains(&STUTTER));
    let steps_count = names.len() as u64 * u64::from(REPETITIONS);
    let time = options.time.0.saturating_sub(spent_ns);
    let between = (steps_count * SECOND_NS / 2).min(time / 4);
    let each = (time - between) / (shares * u64::from(REPETITIONS));
    let each = each.clamp(SECOND_NS / 10, 4 * SECOND_NS);
    let place = parts(region, writes);
    let mut steps = Vec::new();
    let mut random = Random::new(Domain::CheckOrder.seed(options.seed, 0));
    for _ in 0..REPETITIONS {
        let mut round: Vec<&str> = names.iter().copied().filter(|name| !is_last(name)).collect();
        for last in (1..round.len()).rev() {
            round.swap(last, random.below(last as u64 + 1) as usize);
        }
        steps.extend(round.into_iter().map(|name| cell(options, facts, name, &place, room, each)));
    }
    // Nothing is written between its repetitions, so that they read the same.
    let scattered = names.iter().filter(|name| is_last(name));
    let one = |name: &&str| cell(options, facts, name, &place, room, each);
    steps.extend(scattered.flat_map(|name| vec![one(name); REPETITIONS as usize]));
    plan(options, steps)
}

fn cell(
    options: &StudyOptions,
    facts: &Facts,
    name: &str,
    parts: &[(u64, u64); 2],
    room: u64,
    each: u64,
) -> Step {
    // Without direct I/O one is served at a time, whatever is asked for.
    let depth = |wanted: u32| if io_mode(facts) == IoMode::Direct { wanted } else { 1 };
    let is_ordered = name.starts_with("sequential") && name != REWRITTEN_READ;
    let (offset, length) = parts[usize::from(!is_ordered)];
    let base = Stream {
        offset: Size(offset),
        length: Some(Size(length)),
        pattern: Pattern::Uniform,
        gap_over: Span(FREEZE_NS),
        ..engine_for(facts)
    };
    let in_order = |depth, mix| Stream {
        pattern: Pattern::SEQUENTIAL,
        size: Size(MEBIBYTE),
        depth,
        mix,
        ..base.clone()
    };
    let write = Mix::WRITE;
    let stream = match name {
        SEQUENTIAL_READ | REWRITTEN_READ => in_order(depth(SEQUENTIAL_DEPTH), Mix::READ),
        SEQUENTIAL_WRITE => in_order(depth(SEQUENTIAL_DEPTH), write),
        SEQUENTIAL_READ_ALONE => in_order(1, Mix::READ),
        SEQUENTIAL_WRITE_ALONE => in_order(1, write),
        RANDOM_READ => Stream { depth: depth(RANDOM_DEPTH), ..base },
        RANDOM_WRITE => Stream { depth: depth(RANDOM_DEPTH), mix: write, ..base },
        RANDOM_WRITE_ALONE => Stream { mix: write, ..base },
        FSYNC => Stream { mix: write, sync: Sync::Fsync(1), ..base },
        MIX => {
            let mix = Mix { read: 70, write: 30, trim: 0 };
            Stream { depth: depth(RANDOM_DEPTH), mix, ..base }
        }
        STUTTER => Stream { depth: depth(8), mix: write, ..base },
        _ => base,
    };
    let share = WRITE_SHARES.iter().find(|(cell, _)| *cell == name).map(|(_, share)| *share);
    let share = share.or((name == MIX).then_some(MIX_SHARE / 0.3));
    let bytes = share.map(|share| (room as f64 * share) as u64 / u64::from(REPETITIONS));
    let bytes = bytes.map(|bytes| Size((bytes / stream.size.0).max(1) * stream.size.0));
    let elapsed = if name == STUTTER { 2 * each } else { each };
    Step {
        name: name.into(),
        until: Until { elapsed: Some(Span(elapsed)), bytes, ..Until::default() },
        repeat: 1,
        cpus: options.cpus.clone(),
        streams: vec![stream],
        ..Step::default()
    }
}

#[cfg(test)]
mod tests;

//! `steady`: what is left when the drive is no longer fresh, and what depth and workers make of it?
//!
//! What reviews of drives measure after preconditioning, in the order that they do it: written in
//! order, then sequential loads; written at random until settled, then random loads. Layout and
//! preconditioning are steps of their own and never results.

mod judge;
mod protocol;

use crate::battery;
use crate::experiment::budget::{Left, whole};
use crate::experiment::order::{done, missing, shuffle, since_break, unbroken};
use crate::experiment::rounds::{self, ROUND};
use crate::experiment::{Allowance, Needs, OwnOption, Setting, Study, impossible, loads, narrow};
use drivelab_core::facts::TargetKind;
use drivelab_core::plan::{
    Engine, Files, IoMode, Mix, Pattern, Plan, Role, Sharing, Step, Stream, Sync, Until,
};
use drivelab_core::run::Run;
use drivelab_core::study::{Established, Scale};
use drivelab_core::units::{Size, Span};

/// The study.
pub const STUDY: Study = Study {
    name: "steady",
    question: "What is left in the steady state, and what do depth and workers make of it?",
    allowance,
    objection,
    next,
    established,
    judge: judge::judge,
    needs: Needs { files: battery::WORKERS, ..Needs::PLAIN },
    options: &[OwnOption::Protocol],
    ..Study::PLAIN
};

const SECOND_NS: u64 = 1_000_000_000;
const REPETITIONS: u64 = 5;
/// Workers of the cells that have several, and files where each has its own.
pub const WORKERS: u32 = 4;
/// Operations outstanding in the cells that compare workers with depth.
const OUTSTANDING: u32 = 8;
/// Part of the time that the random preconditioning may take.
const SETTLING_PART: u64 = 2;
/// Part of the bytes that is kept for what is measured.
const MEASURED_PART: u64 = 4;
/// Times that the target is written in order first, which is what SNIA asks for.
const PASSES: u64 = 2;

/// One load.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
struct Cell {
    name: &'static str,
    reads: u32,
    load: Load,
}

/// How its requests are issued.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
enum Load {
    /// 128 KiB in order, this many at once.
    InOrder(u32),
    /// 4 KiB at random, this many at once by one worker.
    Deep(u32),
    /// 4 KiB at random, this many workers with one each.
    Workers(u32),
    /// The same in a file of their own each.
    FileEach,
    /// The same all in one file.
    OneFile,
    /// 4 KiB at random by workers that each have this many under way.
    Jobs { workers: u32, depth: u32, files: Files },
}

const fn cell(name: &'static str, reads: u32, load: Load) -> Cell {
    Cell { name, reads, load }
}

/// After the target was written in order.
const IN_ORDER: [Cell; 2] = [
    cell("sequential read", 100, Load::InOrder(32)),
    cell("sequential write", 0, Load::InOrder(32)),
];

/// The load by which a drive settles, measured once more as a cell.
const SETTLED_LOAD: &str = "random write qd32";

/// After it was written at random.
const AT_RANDOM: [Cell; 9] = [
    cell("random read qd1", 100, Load::Deep(1)),
    cell("random write qd1", 0, Load::Deep(1)),
    cell("random read qd32", 100, Load::Deep(32)),
    cell(SETTLED_LOAD, 0, Load::Deep(32)),
    cell("random 70/30 qd32", 70, Load::Deep(32)),
    cell("random read, 1 worker of 8", 100, Load::Deep(OUTSTANDING)),
    cell("random read, 8 workers of 1", 100, Load::Workers(OUTSTANDING)),
    cell("random write, 1 worker of 8", 0, Load::Deep(OUTSTANDING)),
    cell("random write, 8 workers of 1", 0, Load::Workers(OUTSTANDING)),
];

/// Only where there are several files.
const FILES: [Cell; 2] = [
    cell("random read, 4 workers in one file", 100, Load::OneFile),
    cell("random read, 4 workers, a file each", 100, Load::FileEach),
];

/// Whether each worker can have a file of its own.
fn has_files(setting: &Setting<'_>) -> bool {
    setting.facts.target.kind == TargetKind::Directory
}

fn in_order(setting: &Setting<'_>) -> [Cell; 2] {
    if protocol::is_asked(setting) { protocol::IN_ORDER } else { IN_ORDER }
}

fn at_random(setting: &Setting<'_>) -> Vec<Cell> {
    let (all, files): (&[Cell], &[Cell]) = match protocol::is_asked(setting) {
        true => (&protocol::AT_RANDOM, &protocol::FILES),
        false => (&AT_RANDOM, &FILES),
    };
    [all, if has_files(setting) { files } else { &[] }].concat()
}

fn allowance(scale: Scale, bytes: u64) -> Allowance {
    let (minutes, budget) = match scale {
        Scale::Quick => (5, 10 << 30),
        Scale::Default => (60, bytes.saturating_mul(16)),
        Scale::Full => (24 * 60, bytes.saturating_mul(32)),
    };
    Allowance { time: Span(minutes * 60 * SECOND_NS), budget: Size(budget) }
}

/// Files that the workers have between them.
fn files(setting: &Setting<'_>) -> u64 {
    if has_files(setting) { u64::from(WORKERS) } else { 1 }
}

/// How often the fill goes over everything: twice where a third of the bytes allows it.
fn passes(setting: &Setting<'_>) -> u64 {
    let third = setting.options.budget.0 / 3;
    (third / setting.bytes().saturating_mul(files(setting)).max(1)).clamp(1, PASSES)
}

fn objection(setting: &Setting<'_>) -> Option<String> {
    impossible(setting).or_else(|| narrow::objection(setting, files(setting)))
}

fn established(setting: &Setting<'_>, run: &Run) -> Option<Established> {
    let is_whole = narrow::narrowed(setting, files(setting)).is_none();
    is_whole.then(|| rounds::established(setting, run)).flatten()
}

fn next(setting: &Setting<'_>, run: &Run) -> Option<Plan> {
    narrow::next(setting, run, files(setting), next_of)
}

fn next_of(setting: &Setting<'_>, run: &Run) -> Option<Plan> {
    let left = Left::of(setting, run);
    let steps = since_break(run);
    if left.time_ns < SECOND_NS {
        return None;
    }
    if done(steps, loads::FILL) == 0 {
        let is_tried = steps.iter().any(|step| step.begin.name == loads::FILL);
        return (!is_tried).then(|| loads::plan(setting, SECOND_NS, vec![fill(setting, &left)]));
    }
    let in_order = missing(schedule(setting, run, &in_order(setting)), &unbroken(run));
    if !in_order.is_empty() {
        return Some(loads::plan(setting, SECOND_NS / 10, in_order));
    }
    if let Some(round) = round(setting, run, &left) {
        return Some(loads::plan(setting, rounds::interval_ns(setting, steps), vec![round]));
    }
    let at_random = missing(schedule(setting, run, &at_random(setting)), &unbroken(run));
    (!at_random.is_empty()).then(|| loads::plan(setting, SECOND_NS / 10, at_random))
}

fn fill(setting: &Setting<'_>, left: &Left) -> Step {
    let mut step = loads::fill(setting, passes(setting), left);
    step.until.elapsed = Some(Span((left.time_ns / 3).max(1)));
    if has_files(setting) {
        let stream = &mut step.streams[0];
        (stream.files, stream.workers, stream.depth) = (Files::Each, WORKERS, 2);
        stream.stamp = false;
        stream.sync = Sync::End;
    }
    step
}

/// The next round of random preconditioning; `None`: settled, or as far as time and bytes allow.
fn round(setting: &Setting<'_>, run: &Run, left: &Left) -> Option<Step> {
    let steps = since_break(run);
    let cells = at_random(setting);
    let is_measuring =
        steps.iter().any(|step| cells.iter().any(|cell| cell.name == step.begin.name));
    let known = rounds::rates(setting, steps, ROUND);
    // A round that the clock cut short is the last one.
    let is_short = done(steps, ROUND) > known.len();
    let kept_ns = setting.options.time.0 / SETTLING_PART / 2;
    let kept_bytes = setting.options.budget.0 / MEASURED_PART;
    let bytes = rounds::round_bytes(setting);
    let is_settled = rounds::is_whole(setting) && rounds::settled(setting, run).is_ok();
    let has_room = left.bytes > kept_bytes.saturating_add(bytes) && left.time_ns > kept_ns;
    let is_over = is_measuring || is_short || is_settled || !has_room;
    let limit = Left { time_ns: left.time_ns.saturating_sub(kept_ns), ..*left };
    (!is_over).then(|| rounds::write_step(setting, ROUND, Role::Precondition, bytes, &limit))
}

/// All repetitions of these cells, in an order shuffled again in each round.
fn schedule(setting: &Setting<'_>, run: &Run, cells: &[Cell]) -> Vec<Step> {
    let left = Left::of(setting, run);
    let known: Vec<Cell> = in_order(setting).into_iter().chain(at_random(setting)).collect();
    let writers = known.iter().filter(|cell| cell.reads < 100).count() as u64;
    let all = REPETITIONS * (known.len() as u64 + writers);
    let longest = match setting.options.scale {
        Scale::Quick => SECOND_NS,
        Scale::Default => 10 * SECOND_NS,
        Scale::Full => 60 * SECOND_NS,
    };
    // By what was asked and not by what is left: a study that goes on measures as before.
    let time = Left { time_ns: setting.options.time.0 / 4, ..left };
    let each_ns = time.each(setting, all, longest).max(SECOND_NS / 20);
    let write_bytes = setting.options.budget.0 / MEASURED_PART / (2 * writers * REPETITIONS);
    let mut steps = Vec::new();
    for round in 0..REPETITIONS {
        let mut cells = cells.to_vec();
        shuffle(&mut cells, setting.options.seed, round);
        for cell in cells {
            let step = one(setting, cell, each_ns, write_bytes);
            steps.extend(loads::settling(&step));
            steps.push(step);
        }
    }
    steps
}

fn one(setting: &Setting<'_>, cell: Cell, each_ns: u64, write_bytes: u64) -> Step {
    let mix = Mix { read: cell.reads, write: 100 - cell.reads, trim: 0 };
    let stream = stream(setting, cell.load, mix);
    let size = stream.size.0;
    let bytes = (mix.write > 0).then(|| whole(write_bytes, size));
    let until = Until { elapsed: Some(Span(each_ns)), bytes, ..Until::default() };
    loads::step(setting, cell.name, Role::Measure, until, stream)
}

fn stream(setting: &Setting<'_>, load: Load, mix: Mix) -> Stream {
    let base = loads::base(setting);
    let workers = |workers, files| Stream {
        engine: if base.io == IoMode::Direct { Engine::Psync } else { base.engine },
        pattern: Pattern::Uniform,
        mix,
        workers,
        files,
        regions: (files == Files::One).then_some(Sharing::Shared),
        ..base.clone()
    };
    match load {
        Load::InOrder(depth) => loads::deep(
            Stream { pattern: Pattern::SEQUENTIAL, size: Size(128 << 10), mix, ..base.clone() },
            depth,
        ),
        Load::Deep(depth) => loads::random(setting, mix, depth),
        Load::Workers(count) => workers(count, Files::One),
        Load::OneFile => workers(WORKERS, Files::One),
        Load::FileEach => workers(WORKERS, Files::Each),
        Load::Jobs { workers: count, depth, files } => {
            let engine = base.engine;
            loads::deep(Stream { engine, ..workers(count, files) }, depth)
        }
    }
}

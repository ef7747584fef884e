//! `trim`: does TRIM work, what does it cost, what does it give back?
//!
//! A drive in its steady state is measured, trimmed as a whole, and measured again. If it took the
//! TRIM, its collector has nothing to copy any more and reads find nothing to read.

mod judge;

use crate::experiment::budget::{Left, whole, written};
use crate::experiment::order::{done, since_break};
use crate::experiment::rounds::{self, ROUND};
use crate::experiment::{Allowance, Setting, Study, impossible, loads, too_small};
use drivelab_core::facts::TargetKind;
use drivelab_core::plan::{Act, Mix, Pattern, Plan, Role, Step, Stream, Until};
use drivelab_core::run::{Run, StepRun};
use drivelab_core::study::{Emptying, Scale};
use drivelab_core::units::{Size, Span};

/// The study.
pub const STUDY: Study = Study {
    name: "trim",
    question: "Does TRIM work, what does it cost, what does it give back?",
    allowance,
    objection,
    next,
    established: rounds::established,
    judge: judge::judge,
    ..Study::PLAIN
};

const FRESH: &str = "random write, fresh";
const WRITE_BEFORE: &str = "random write, before TRIM";
const WRITE_AFTER: &str = "random write, after TRIM";
const READ_BEFORE: &str = "random read, before TRIM";
const READ_AFTER: &str = "random read, after TRIM";
const TRIM: &str = "trim";
/// Writes that fill whatever takes them at the speed of memory …
const WARM_UP: &str = "warm-up";
/// … which is so much, or this part of a small drive.
const WARM_UP_BYTES: u64 = 64 << 20;
const WARM_UP_PART: u64 = 8;
/// Time of a step besides its I/O.
const BETWEEN_NS: u64 = 200_000_000;
const SECOND_NS: u64 = 1_000_000_000;
/// Each repetition writes this part of the drive, or less …
const WRITE_PART: u64 = 32;
/// … and all of them this part: far less than an emptied drive takes before it has to collect, so
/// that the last one finds what the first one found.
const ALL_PART: u64 = 8;
/// A read cell takes this long.
const READ_NS: u64 = SECOND_NS;
/// One TRIM covers at most this part of the drive.
const TRIM_PART: u64 = 16;
const MEBIBYTE: u64 = 1 << 20;

fn allowance(scale: Scale, bytes: u64) -> Allowance {
    let (minutes, budget) = match scale {
        Scale::Quick => (5, 10 << 30),
        Scale::Default => (60, bytes.saturating_mul(10)),
        Scale::Full => (12 * 60, bytes.saturating_mul(20)),
    };
    Allowance { time: Span(minutes * 60 * SECOND_NS), budget: Size(budget) }
}

fn objection(setting: &Setting<'_>) -> Option<String> {
    if !setting.is_drive() {
        let what = if setting.facts.target.kind == TargetKind::File { "a file" } else { "a path" };
        return Some(format!(
            "`trim` needs a whole drive, real or simulated, and this is {what}: the file system \
             decides what a file gives back. Name a block device"
        ));
    }
    let needed = 4 * setting.bytes() / TRIM_PART;
    impossible(setting).or_else(|| too_small(setting, Size(needed))).or_else(|| too_short(setting))
}

/// Why nothing would be trimmed in the time that a real drive is given, if so: what is measured
/// before and after it alone takes longer.
fn too_short(setting: &Setting<'_>) -> Option<String> {
    let least_ns = answer_ns(setting, &[]);
    let time = setting.options.time;
    (!setting.is_simulated() && time.0 <= least_ns).then(|| {
        format!(
            "{time} is too short for `trim` at this scale: what it measures before and after the \
             TRIM takes {}s, and the fill and the rounds before that take longer still; give a \
             larger --time, or --quick",
            least_ns.div_ceil(SECOND_NS)
        )
    })
}

/// Repetitions of each cell.
fn repetitions(setting: &Setting<'_>) -> usize {
    match setting.options.scale {
        Scale::Quick => 8,
        Scale::Default => 12,
        Scale::Full => 24,
    }
}

fn write_bytes(setting: &Setting<'_>) -> u64 {
    let repetitions = repetitions(setting) as u64 + 1;
    // Three times all repetitions and a warm-up, in less than half of the budget.
    let share = setting.options.budget.0 / (2 * 3 * repetitions);
    whole(
        (setting.bytes() / (ALL_PART * repetitions)).min(setting.bytes() / WRITE_PART).min(share),
        4096,
    )
    .0
}

/// Bytes of the writes before the first repetition.
fn warm_up_bytes(setting: &Setting<'_>) -> u64 {
    let affordable = setting.options.budget.0 / (2 * 3 * 4);
    let most = WARM_UP_BYTES.min(setting.bytes() / WARM_UP_PART).min(affordable);
    whole(write_bytes(setting).max(most), 4096).0
}

/// Bytes of all repetitions of a cell and what comes before them.
fn all_bytes(setting: &Setting<'_>) -> u64 {
    repetitions(setting) as u64 * write_bytes(setting) + warm_up_bytes(setting)
}

/// The time that the answer takes at most: reads and writes before and after the TRIM, the writes
/// as fast as the latest round was.
fn answer_ns(setting: &Setting<'_>, steps: &[StepRun]) -> u64 {
    let repetitions = repetitions(setting) as u64;
    let rate = rounds::rates(setting, steps, ROUND).last().copied();
    let write = rate.map_or((repetitions + 1) * SECOND_NS, |rate| {
        (all_bytes(setting) as f64 / 4096.0 / rate.max(1.0) * 1e9) as u64
    });
    let between = if setting.is_simulated() { 0 } else { BETWEEN_NS };
    2 * (repetitions * (READ_NS + between) + write + (repetitions + 1) * between)
}

/// All repetitions of a write cell, behind a warm-up.
fn writes(setting: &Setting<'_>, name: &str) -> Vec<Step> {
    let mut warm_up = Step { role: Role::Prepare, ..write(setting, WARM_UP) };
    warm_up.until.bytes = Some(Size(warm_up_bytes(setting)));
    std::iter::once(warm_up).chain(vec![write(setting, name); repetitions(setting)]).collect()
}

fn next(setting: &Setting<'_>, run: &Run) -> Option<Plan> {
    let left = Left::of(setting, run);
    let steps = since_break(run);
    let interval = rounds::interval_ns(setting, steps);
    if left.time_ns < SECOND_NS {
        return None;
    }
    if done(steps, TRIM) > 0 {
        let rest = after(setting, steps);
        return (!rest.is_empty()).then(|| loads::plan(setting, interval, bounded(rest, &left, 1)));
    }
    let is_tried = |name: &str| steps.iter().any(|step| step.begin.name == name);
    let state = run.ledger().state;
    let fresh = fresh(setting, run);
    if !fresh.is_empty() && !is_tried(FRESH) {
        return Some(loads::plan(setting, interval, bounded(fresh, &left, 4)));
    }
    if !["filled", "random-steady"].contains(&state.as_str())
        && !is_tried(loads::FILL)
        && !is_tried(ROUND)
    {
        return Some(loads::plan(setting, SECOND_NS, vec![filled(setting, &left)]));
    }
    if state != "random-steady" && is_worth_a_round(setting, run, &left) {
        let bytes = rounds::round_bytes(setting);
        let limit = Left { time_ns: round_limit_ns(setting, run), ..left };
        let round = rounds::write_step(setting, ROUND, Role::Precondition, bytes, &limit);
        return Some(loads::plan(setting, interval, vec![round]));
    }
    // Nothing is trimmed unless what must follow still fits.
    (left.time_ns > answer_ns(setting, steps) && left.bytes > 2 * all_bytes(setting))
        .then(|| loads::plan(setting, interval, bounded(before_and_trim(setting, steps), &left, 2)))
}

/// Lets all steps that measure share a part of the time that is left.
fn bounded(mut steps: Vec<Step>, left: &Left, part: u64) -> Vec<Step> {
    let share = left.time_ns / part / (steps.len() as u64).max(1);
    for step in steps.iter_mut().filter(|step| step.name != TRIM && step.act.is_none()) {
        let own = step.until.elapsed.map_or(share, |elapsed| elapsed.0.min(share));
        step.until.elapsed = Some(Span(own.max(1)));
    }
    steps
}

/// A drive of known emptiness is measured first: that is what TRIM could give back.
fn fresh(setting: &Setting<'_>, run: &Run) -> Vec<Step> {
    let is_fresh = run.ledger().state == "fresh";
    let purge = match setting.options.emptying {
        Emptying::Purge(_) if !is_fresh => loads::empty(setting),
        _ => None,
    };
    if !is_fresh && purge.is_none() {
        return Vec::new();
    }
    purge.into_iter().chain(writes(setting, FRESH)).collect()
}

/// As much of the drive as a third of the bytes allows.
fn filled(setting: &Setting<'_>, left: &Left) -> Step {
    let mut fill = loads::fill(setting, 1, left);
    fill.until.elapsed = Some(Span(left.time_ns / 3));
    if setting.bytes() > left.bytes / 3 {
        let size = fill.streams[0].size.0;
        fill.until.passes = None;
        fill.until.bytes = Some(whole(left.bytes / 3, size));
    }
    fill
}

fn is_worth_a_round(setting: &Setting<'_>, run: &Run, left: &Left) -> bool {
    let steps = since_break(run);
    let reserve = 2 * all_bytes(setting);
    let known = rounds::rates(setting, steps, ROUND);
    let is_short = done(steps, ROUND) > known.len();
    let has_bytes = left.bytes > rounds::round_bytes(setting) + reserve;
    !is_short && has_bytes && left.time_ns > round_limit_ns(setting, run) + reserve_ns(setting, run)
}

/// What must be left for the answer, with something for what goes slower than thought.
fn reserve_ns(setting: &Setting<'_>, run: &Run) -> u64 {
    answer_ns(setting, since_break(run)).saturating_mul(3) / 2
}

/// A round may take twice as long as the one before it.
fn round_limit_ns(setting: &Setting<'_>, run: &Run) -> u64 {
    let last = rounds::named(since_break(run), ROUND).last().map(|step| step.duration_ns());
    last.map_or(setting.options.time.0 / 4, |ns| ns.saturating_mul(2).max(SECOND_NS))
}

fn write(setting: &Setting<'_>, name: &str) -> Step {
    let until = Until {
        bytes: Some(Size(write_bytes(setting))),
        elapsed: Some(Span(60 * SECOND_NS)),
        ..Until::default()
    };
    loads::step(setting, name, Role::Measure, until, loads::random(setting, Mix::WRITE, 32))
}

/// Reads of what was written in order: where the fill ended early, the rest may hold nothing.
fn read(setting: &Setting<'_>, steps: &[StepRun], name: &str) -> Step {
    let until = Until { elapsed: Some(Span(READ_NS)), ..Until::default() };
    let fill = steps.iter().rfind(|step| step.begin.name == loads::FILL);
    let filled = fill.map_or(setting.bytes(), |fill| written(std::slice::from_ref(fill)));
    let length = (filled < setting.bytes()).then(|| whole(filled, 4096));
    let stream = Stream { length, ..loads::random(setting, Mix::READ, 1) };
    loads::step(setting, name, Role::Measure, until, stream)
}

/// What is measured in the steady state, and then the TRIM of everything.
fn before_and_trim(setting: &Setting<'_>, done: &[StepRun]) -> Vec<Step> {
    let mut steps = vec![read(setting, done, READ_BEFORE); repetitions(setting)];
    steps.extend(writes(setting, WRITE_BEFORE));
    let bytes = setting.bytes();
    // Equal pieces, so that one TRIM can be timed against the other.
    let largest = 1 << (bytes / TRIM_PART).max(1).ilog2();
    let piece = largest.min(1 << bytes.trailing_zeros()).clamp(4096, 1 << 30);
    if piece >= MEBIBYTE {
        let stream = Stream {
            pattern: Pattern::SEQUENTIAL,
            mix: Mix { read: 0, write: 0, trim: 100 },
            size: Size(piece),
            ..loads::base(setting)
        };
        let until = Until { passes: Some(1), ..Until::default() };
        steps.push(loads::step(setting, TRIM, Role::Measure, until, stream));
    } else {
        let act = Some(Act::Trim { offset: Size(0), length: None });
        steps.push(Step { name: TRIM.into(), act, ..Step::default() });
    }
    steps
}

fn after(setting: &Setting<'_>, steps: &[StepRun]) -> Vec<Step> {
    let is_done = |name| done(steps, name) > 0 || steps.iter().any(|it| it.begin.name == name);
    if is_done(READ_AFTER) || is_done(WRITE_AFTER) {
        return Vec::new();
    }
    let mut rest = vec![read(setting, steps, READ_AFTER); repetitions(setting)];
    rest.extend(writes(setting, WRITE_AFTER));
    rest
}

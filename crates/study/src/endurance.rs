//! `endurance`: how many days of life does a load leave the drive?
//!
//! On a simulated drive the flash itself is counted: two declared loads, in order and at random,
//! are written until they have settled, and what the flash programmed and erased for each byte
//! of the host gives the life of its cells. A real drive does not tell that; what it tells of its
//! own wear is taken instead, and nothing is written.

mod judge;
mod ladder;

pub use judge::by_promise;

use crate::experiment::budget::{Left, at_least, is_all_written, whole};
use crate::experiment::order::{done, since_break};
use crate::experiment::rounds::{self, ROUND};
use crate::experiment::{Allowance, OwnOption, Setting, Study, impossible, loads};
use drivelab_core::plan::{Act, Mix, Pattern, Plan, Role, Step, Stream, Until};
use drivelab_core::run::{Run, StepRun};
use drivelab_core::sound::Rules;
use drivelab_core::study::{Established, Scale};
use drivelab_core::units::{Size, Span};
use drivelab_stats::steady::TURN_ROUNDS;

/// The study.
pub const STUDY: Study = Study {
    name: "endurance",
    question: "How many days of life does a load leave the drive?",
    allowance,
    objection,
    next,
    established,
    rules: Rules::SERIES,
    judge: judge::judge,
    across: Some(ladder::across),
    quick_cost: Some("10 GiB written; nothing on a real drive"),
    options: &[OwnOption::PerDay],
    ..Study::PLAIN
};

const SECOND_NS: u64 = 1_000_000_000;
/// In order, before its figures count: one turn of the drive.
const ORDER_BEFORE: &str = "sequential write, until settled";
const ORDER: &str = "sequential write, 128 KiB";
const RANDOM: &str = "random write, 4 KiB";
/// A drive that cannot be counted is only asked.
const LOOK: &str = "look at the drive";
/// Rounds whose figures count: one turn of the drive.
const COUNTED: usize = TURN_ROUNDS;

fn allowance(scale: Scale, bytes: u64) -> Allowance {
    let (minutes, budget) = match scale {
        Scale::Quick => (5, 10 << 30),
        Scale::Default => (60, bytes.saturating_mul(12)),
        Scale::Full => (12 * 60, bytes.saturating_mul(40)),
    };
    Allowance { time: Span(minutes * 60 * SECOND_NS), budget: Size(budget) }
}

/// Whether what the flash does is counted: a simulated drive that has some.
fn is_counted(setting: &Setting<'_>) -> bool {
    setting.facts.target.simulated.is_some_and(|known| known.flash.is_some())
}

fn objection(setting: &Setting<'_>) -> Option<String> {
    if !setting.is_drive() {
        return Some(
            "`endurance` needs a whole drive, real or simulated: what a file system writes besides \
             a file wears the drive too. Name a block device, or divide its maker's promise by \
             what a day writes: --rated 600TB --per-day 40GB"
                .into(),
        );
    }
    if let Some(nonsense) = nonsense(setting) {
        return Some(nonsense);
    }
    let needed = setting.bytes().saturating_mul(6);
    let budget = setting.options.budget;
    impossible(setting).or_else(|| {
        (is_counted(setting) && budget.0 < needed).then(|| {
            format!(
                "`endurance` rewrites the drive several times: a budget of {budget} is too small \
                 here; give at least {}, or a simulated drive of less capacity",
                at_least(needed)
            )
        })
    })
}

/// What makes no sense whatever the target is.
fn nonsense(setting: &Setting<'_>) -> Option<String> {
    if setting.options.per_day.is_some_and(|bytes| bytes.0 == 0) {
        return Some("with --per-day 0 a drive lasts for ever; give what a day writes".into());
    }
    let promises_nothing = setting.options.rated.is_some_and(|bytes| bytes.0 == 0);
    promises_nothing.then(|| "--rated 0 promises nothing; give a size such as 600TB".into())
}

fn established(setting: &Setting<'_>, run: &Run) -> Option<Established> {
    is_counted(setting).then(|| rounds::established(setting, run)).flatten()
}

fn next(setting: &Setting<'_>, run: &Run) -> Option<Plan> {
    let left = Left::of(setting, run);
    let steps = since_break(run);
    let is_tried = |name: &str| steps.iter().any(|step| step.begin.name == name);
    if !is_counted(setting) {
        let act = Some(Act::Idle(Span(SECOND_NS)));
        let look = Step { name: LOOK.into(), role: Role::Idle, act, ..Step::default() };
        return (!is_tried(LOOK)).then(|| loads::plan(setting, SECOND_NS, vec![look]));
    }
    if left.time_ns < SECOND_NS || left.bytes < round_bytes(setting) {
        return None;
    }
    let interval = rounds::interval_ns(setting, steps);
    if !is_tried(ORDER) {
        return Some(loads::plan(setting, interval, in_order(setting, run, &left)));
    }
    let settles = settles(setting, run, &left);
    if done(steps, RANDOM) > 0 || is_tried(RANDOM) {
        return None;
    }
    let plan = |name, role, count: usize| {
        let share = Left { time_ns: left.time_ns / count as u64, ..left };
        let one = rounds::write_step(setting, name, role, round_bytes(setting), &share);
        loads::plan(setting, interval, vec![one; count])
    };
    match settles {
        Settles::Yes => Some(plan(RANDOM, Role::Measure, COUNTED)),
        Settles::NotYet => Some(plan(ROUND, Role::Precondition, 1)),
        Settles::NoMore => None,
    }
}

enum Settles {
    Yes,
    NotYet,
    /// What is left does not hold another round and what must follow.
    NoMore,
}

fn settles(setting: &Setting<'_>, run: &Run, left: &Left) -> Settles {
    let needed = round_bytes(setting) * COUNTED as u64;
    match run.ledger().state == "random-steady" && left.bytes >= needed {
        true => Settles::Yes,
        false if left.bytes > needed + round_bytes(setting) => Settles::NotYet,
        // Not settled, and said so: better than nothing.
        false if left.bytes >= needed => Settles::Yes,
        false => Settles::NoMore,
    }
}

/// An eighth of the drive.
fn round_bytes(setting: &Setting<'_>) -> u64 {
    rounds::round_bytes(setting)
}

/// The drive is filled, rewritten once in order, and rewritten once more in rounds that count.
fn in_order(setting: &Setting<'_>, run: &Run, left: &Left) -> Vec<Step> {
    let mut steps = Vec::new();
    if run.ledger().state != "filled" {
        steps.push(loads::fill(setting, 1, left));
    }
    let bytes = setting.bytes();
    let size = 1 << bytes.trailing_zeros().min((128u64 << 10).trailing_zeros());
    let stream = |offset: u64, length: u64| Stream {
        pattern: Pattern::SEQUENTIAL,
        mix: Mix::WRITE,
        size: Size(size),
        offset: Size(offset),
        length: Some(Size(length)),
        ..loads::deep(loads::base(setting), 32)
    };
    let step = |name, role, stream, part: u64| {
        let elapsed = Some(Span((left.time_ns / part).max(1)));
        let until = Until { passes: Some(1), elapsed, ..Until::default() };
        loads::step(setting, name, role, until, stream)
    };
    steps.push(step(ORDER_BEFORE, Role::Precondition, stream(0, bytes), 4));
    let eighth = whole(bytes / COUNTED as u64, size).0;
    steps.extend((0..COUNTED as u64).map(|part| {
        let offset = part * eighth;
        let stream = stream(offset, eighth.min(bytes - offset));
        step(ORDER, Role::Measure, stream, 4 * COUNTED as u64)
    }));
    steps
}

/// The counted rounds of a load: in order only where the drive was rewritten as a whole, because a
/// part that is rewritten again and again is another load.
fn counted<'a>(steps: &'a [StepRun], name: &str) -> Vec<&'a StepRun> {
    match name == ORDER && !is_rewritten(steps) {
        true => Vec::new(),
        false => rounds::named(steps, name),
    }
}

/// Whether the drive was filled and rewritten in order, none of it ended by the time.
fn is_rewritten(steps: &[StepRun]) -> bool {
    let random = [ROUND, RANDOM];
    let mut in_order = steps.iter().take_while(|step| !random.contains(&step.begin.name.as_str()));
    in_order.all(is_all_written) && done(steps, ORDER) == COUNTED
}

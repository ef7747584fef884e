//! `pts-iops`, `pts-tp`, `pts-lat`: the performance tests of SNIA's specification.
//!
//! Solid State Storage Performance Test Specification 2.0.2: purge, precondition with twice the
//! capacity in order, then rounds of all cells until five rounds in a row are steady, at most 25.
//! With `--full` a run follows it to the letter, as far as the target allows; smaller scales run
//! fewer or shorter cells and call themselves PTS-derived. Every deviation is listed.

mod judge;
mod matrix;

use crate::experiment::budget::{Left, at_least, whole, written};
use crate::experiment::order::{done, is_complete, since_break};
use crate::experiment::{
    Allowance, BYTES_MIN, OwnOption, Setting, Study, cache, impossible, loads, rounds,
};
use drivelab_core::findings::Findings;
use drivelab_core::plan::{Mix, Plan, Role, Step, Stream, Sync, Until};
use drivelab_core::run::{Run, StepRun};
use drivelab_core::sound::{Rules, Sound};
use drivelab_core::study::{Profile, Scale};
use drivelab_core::units::{Size, Span};
use drivelab_stats::steady::{Holder, WINDOW_ROUNDS, first_steady_round};
use matrix::{Cell, Section, Test};

/// Random reads and writes of all sizes.
pub const IOPS: Study = Study {
    name: "pts-iops",
    question: "How many IOPS in SNIA's steady state, by mix and size?",
    allowance: |scale, bytes| allowance(Test::Iops, scale, bytes),
    objection,
    next: |setting, run| next(Test::Iops, setting, run),
    rules: Rules::SERIES,
    judge: |setting, run| judge_as(Test::Iops, setting, run),
    options: &[OwnOption::Profile, OwnOption::WriteCache],
    ..Study::PLAIN
};

/// Sequential reads and writes.
pub const THROUGHPUT: Study = Study {
    name: "pts-tp",
    question: "What bandwidth in SNIA's steady state, read and written sequentially?",
    allowance: |scale, bytes| allowance(Test::Throughput, scale, bytes),
    objection,
    next: |setting, run| next(Test::Throughput, setting, run),
    rules: Rules::SERIES,
    judge: |setting, run| judge_as(Test::Throughput, setting, run),
    options: &[OwnOption::Profile, OwnOption::WriteCache],
    ..Study::PLAIN
};

/// Latency of one operation at a time.
pub const LATENCY: Study = Study {
    name: "pts-lat",
    question: "How long does an operation take in SNIA's steady state, and at worst?",
    allowance: |scale, bytes| allowance(Test::Latency, scale, bytes),
    objection,
    next: |setting, run| next(Test::Latency, setting, run),
    rules: Rules::SERIES,
    judge: |setting, run| judge_as(Test::Latency, setting, run),
    options: &[OwnOption::Profile, OwnOption::WriteCache],
    ..Study::PLAIN
};

const SECOND_NS: u64 = 1_000_000_000;
/// The specification gives up here.
const ROUNDS_MAX: usize = 25;
/// No cell is shorter.
const CELL_NS_MIN: u64 = SECOND_NS / 20;
/// What may be written is planned for this many rounds.
const ROUNDS_PLANNED: usize = 12;
/// Part of the budget that the active range of a quick run takes.
const QUICK_PART: u64 = 10;

fn judge_as(test: Test, setting: &Setting<'_>, run: &Sound<'_>) -> Findings {
    judge::judge(test, setting, run)
}

fn allowance(test: Test, scale: Scale, bytes: u64) -> Allowance {
    let hours = match (scale, test) {
        (Scale::Quick, _) => {
            return Allowance { time: Span(300 * SECOND_NS), budget: Size(10 << 30) };
        }
        (Scale::Default, _) => 3,
        (Scale::Full, Test::Iops) => 36,
        (Scale::Full, _) => 24,
    };
    // A cell of the whole test lasts a minute, however small the target is.
    let (passes, least) = if scale == Scale::Full { (400, 16 << 40) } else { (40, 64 << 30) };
    Allowance {
        time: Span(hours * 3600 * SECOND_NS),
        budget: Size(bytes.saturating_mul(passes).max(least)),
    }
}

fn objection(setting: &Setting<'_>) -> Option<String> {
    let budget = setting.options.budget.0;
    impossible(setting).or_else(|| {
        let needed = precondition_bytes(setting);
        if range(setting) < BYTES_MIN {
            let spare = if setting.options.profile == Profile::Client { 2 } else { 1 };
            return Some(format!(
                "a budget of {} leaves an active range of {}; give at least {}",
                Size(budget),
                Size(range(setting)),
                at_least(BYTES_MIN * QUICK_PART * spare)
            ));
        }
        (budget < needed.saturating_mul(2)).then(|| {
            format!(
                "preconditioning alone writes {}, and the budget is {}; give at least {}",
                at_least(needed),
                Size(budget),
                at_least(needed.saturating_mul(2))
            )
        })
    })
}

/// What counts as the drive: all of it, less for a quick run on a large one.
fn user_bytes(setting: &Setting<'_>) -> u64 {
    let bytes = setting.bytes();
    match setting.options.scale {
        Scale::Quick => bytes.min(setting.options.budget.0 / QUICK_PART) / (1 << 20) * (1 << 20),
        _ => bytes,
    }
}

/// Bytes of the active range: for clients three quarters of the drive.
fn range(setting: &Setting<'_>) -> u64 {
    let bytes = user_bytes(setting);
    match setting.options.profile {
        Profile::Enterprise => bytes,
        Profile::Client => bytes / 4 * 3 / (1 << 20) * (1 << 20),
    }
}

/// Twice what counts as the drive, into the active range.
fn precondition_bytes(setting: &Setting<'_>) -> u64 {
    2 * user_bytes(setting)
}

/// How long a cell runs: a minute, less in what is only derived from the specification.
fn cell_ns(test: Test, setting: &Setting<'_>) -> u64 {
    match (setting.options.scale, test) {
        (Scale::Full, _) => 60 * SECOND_NS,
        (Scale::Default, Test::Iops) => 10 * SECOND_NS,
        (Scale::Default, _) => 20 * SECOND_NS,
        // Nine or two cells, ten rounds or more, and what comes before and after them.
        (Scale::Quick, Test::Throughput) => 3 * SECOND_NS,
        (Scale::Quick, _) => 3 * SECOND_NS / 2,
    }
}

fn next(test: Test, setting: &Setting<'_>, run: &Run) -> Option<Plan> {
    let left = Left::of(setting, run);
    let steps = since_break(run);
    for section in test.sections(setting) {
        match in_section(test, &section, setting, run, steps, &left) {
            Next::Plan(plan) => return Some(*plan),
            Next::Over => {}
            Next::Stop => return None,
        }
    }
    None
}

enum Next {
    Plan(Box<Plan>),
    /// This section has its answer.
    Over,
    /// There is no time or room for more.
    Stop,
}

fn in_section(
    test: Test,
    section: &Section,
    setting: &Setting<'_>,
    run: &Run,
    steps: &[StepRun],
    left: &Left,
) -> Next {
    let is_begun = steps.iter().any(|step| step.begin.name == section.precondition());
    if !is_begun {
        return prepare(section, setting, run, left);
    }
    if !is_preconditioned(section, setting, steps) {
        return Next::Stop;
    }
    let done_rounds = rounds_done(section, steps);
    if steady_round(test, section, setting, steps).is_some() || done_rounds >= ROUNDS_MAX {
        return finish(section, setting, steps, left);
    }
    let one_ns = cell_ns_within(test, section, setting, run);
    let needed = one_ns.saturating_mul(section.cells.len() as u64);
    let writers = section.cells.iter().filter(|cell| cell.writes > 0).count().max(1) as u64;
    let largest = section.cells.iter().map(|cell| cell.size).max().unwrap_or(0);
    if left.time_ns < needed || left.bytes / writers < largest.max(1 << 20) {
        return finish(section, setting, steps, left);
    }
    let share = left.bytes / writers;
    let cells = section.cells.iter().map(|cell| cell_step(setting, cell, one_ns, share)).collect();
    Next::Plan(Box::new(loads::plan(setting, SECOND_NS.min(one_ns / 10), cells)))
}

/// Whether twice the active range was written: a preconditioning that the clock cut short is none.
fn is_preconditioned(section: &Section, setting: &Setting<'_>, steps: &[StepRun]) -> bool {
    let name = section.precondition();
    let step = steps.iter().rfind(|step| step.begin.name == name && is_complete(step));
    // Rounded to whole requests.
    step.is_some_and(|step| {
        written(std::slice::from_ref(step)) as f64 >= 0.99 * precondition_bytes(setting) as f64
    })
}

/// The time of a cell, the same in all rounds. Where bytes are short, all cells are shortened
/// alike: the ones that write may be as fast as the preconditioning was. With `--full` nothing is
/// shortened, and the run ends where the bytes do.
fn cell_ns_within(test: Test, section: &Section, setting: &Setting<'_>, run: &Run) -> u64 {
    let whole_ns = cell_ns(test, setting);
    let name = section.precondition();
    let before = run.steps.iter().rposition(|step| step.begin.name == name);
    let Some(before) = before.filter(|_| setting.options.scale != Scale::Full) else {
        return whole_ns;
    };
    let step = &run.steps[before];
    let spent = written(&run.steps[..=before]);
    let left = setting.options.budget.0.saturating_sub(spent);
    let later = section.later * (precondition_bytes(setting) + left / 3);
    let writes: u32 = section.cells.iter().map(|cell| cell.writes).sum();
    let cells = f64::from(writes) / 100.0 * ROUNDS_PLANNED as f64;
    let share = left.saturating_sub(later) as f64 / cells.max(1.0);
    let bytes = written(std::slice::from_ref(step)).max(1) as f64;
    let ns = share * step.duration_ns() as f64 / bytes;
    whole_ns.min((ns as u64).max(CELL_NS_MIN))
}

/// Purge, and twice the active range in order.
fn prepare(section: &Section, setting: &Setting<'_>, run: &Run, left: &Left) -> Next {
    let needed = precondition_bytes(setting);
    if left.bytes < needed || left.time_ns < SECOND_NS {
        return Next::Stop;
    }
    let is_clean = loads::is_empty(setting, run) && run.ledger().written_since_erase_bytes == 0;
    let mut steps: Vec<Step> = Vec::new();
    if !is_clean {
        steps.extend(loads::empty(setting));
    }
    // A purge may have set it back.
    steps.extend(cache::set(setting));
    let stream = Stream {
        mix: Mix::WRITE,
        size: Size(section.precondition_size),
        sync: Sync::End,
        stamp: true,
        length: Some(Size(range(setting))),
        ..loads::deep(loads::base(setting), 32)
    };
    let bytes = whole(needed, section.precondition_size);
    let (passes, bytes) = match setting.options.profile {
        Profile::Enterprise => (Some(2), None),
        Profile::Client => (None, Some(bytes)),
    };
    let elapsed = Some(Span(left.time_ns / 2));
    let until = Until { passes, bytes, elapsed, ..Until::default() };
    let name = section.precondition();
    steps.push(loads::step(setting, &name, Role::Precondition, until, stream));
    Next::Plan(Box::new(loads::plan(setting, SECOND_NS, steps)))
}

/// What follows the last round of a section, if anything does.
fn finish(section: &Section, setting: &Setting<'_>, steps: &[StepRun], left: &Left) -> Next {
    let Some((cell, ns)) = &section.last else { return Next::Over };
    let is_tried = steps.iter().any(|step| step.begin.name == cell.name);
    if is_tried || left.time_ns < SECOND_NS || left.bytes < (1 << 20) {
        return Next::Over;
    }
    let step = cell_step(setting, cell, (*ns).min(left.time_ns), left.bytes);
    Next::Plan(Box::new(loads::plan(setting, SECOND_NS, vec![step])))
}

fn cell_step(setting: &Setting<'_>, cell: &Cell, ns: u64, write_bytes: u64) -> Step {
    let stream = Stream {
        pattern: cell.pattern.clone(),
        mix: Mix { read: 100 - cell.writes, write: cell.writes, trim: 0 },
        size: Size(cell.size),
        workers: cell.workers,
        length: Some(Size(range(setting))),
        ..loads::deep(loads::base(setting), cell.depth)
    };
    let bytes = (cell.writes > 0).then(|| {
        let operations = operations_within(write_bytes / cell.size, f64::from(cell.writes) / 100.0);
        Size(operations.max(1) * cell.size)
    });
    let until = Until { elapsed: Some(Span(ns)), bytes, ..Until::default() };
    loads::step(setting, &cell.name, Role::Measure, until, stream)
}

/// How many operations, of which a `share` drawn at random writes, write no more than `writes`:
/// their mean and five standard deviations of the draws (binomial) come to as many.
fn operations_within(writes: u64, share: f64) -> u64 {
    let deviation = 5.0 * (1.0 - share).max(0.0).sqrt();
    let root = ((deviation * deviation + 4.0 * writes as f64).sqrt() - deviation) / 2.0;
    (root * root / share) as u64
}

/// Rounds of which every cell came to its end.
fn rounds_done(section: &Section, steps: &[StepRun]) -> usize {
    section.cells.iter().map(|cell| done(steps, &cell.name)).min().unwrap_or(0)
}

/// Part of a drive that its spare flash may be, at most.
const SPARE_PART: f64 = 0.5;

/// Bytes that must be written behind a preconditioning before a window may count: twice the range
/// filled it, and until the spare flash is used up what is written at random is as fast as the
/// host or the link allow, which is level.
fn spare_bytes(test: Test, setting: &Setting<'_>) -> f64 {
    let fill = precondition_bytes(setting) as f64;
    let at_random = match test {
        Test::Throughput => 0.0,
        Test::Iops | Test::Latency => SPARE_PART * user_bytes(setting) as f64,
    };
    // Of a drive that was filled in part the rest is spare too.
    let whole = match setting.is_drive() {
        true => setting.facts.target.bytes.unwrap_or(setting.bytes()),
        false => setting.bytes(),
    };
    (fill + at_random).max((1.0 + SPARE_PART) * whole as f64)
}

/// What was written since the preconditioning of a section began until its round of that number
/// had ended, in bytes.
fn written_until(section: &Section, steps: &[StepRun], round: usize) -> u64 {
    let name = section.precondition();
    let from = steps.iter().position(|step| step.begin.name == name).unwrap_or(0);
    let last = section.cells.iter().filter_map(|cell| {
        let mut its = steps.iter().enumerate().filter(|(_, step)| step.begin.name == cell.name);
        its.nth(round.checked_sub(1)?).map(|(at, _)| at)
    });
    let to = if round == 0 { from } else { last.max().unwrap_or(from) };
    written(&steps[from.min(to)..=to.min(steps.len().saturating_sub(1))])
}

/// The round after which spare flash has surely been used up, as far as there are rounds; 0: the
/// preconditioning did it.
fn spare_used(
    test: Test,
    section: &Section,
    setting: &Setting<'_>,
    steps: &[StepRun],
) -> Option<usize> {
    if steps.is_empty() || rounds::holder(setting) == Holder::Nothing {
        return Some(0);
    }
    let needed = 0.99 * spare_bytes(test, setting);
    (0..=rounds_done(section, steps))
        .find(|round| written_until(section, steps, *round) as f64 >= needed)
}

/// The first round at which all variables that are tracked are steady in one window, which begins
/// when no spare flash can be left.
fn steady_round(
    test: Test,
    section: &Section,
    setting: &Setting<'_>,
    steps: &[StepRun],
) -> Option<usize> {
    let rounds = rounds_done(section, steps);
    let before = spare_used(test, section, setting, steps)?;
    let tracked: Vec<Vec<f64>> = section
        .tracked
        .iter()
        .map(|name| {
            let mut values = matrix::values(test, steps, name);
            values.truncate(rounds);
            values.split_off(before.min(rounds))
        })
        .collect();
    let slices: Vec<&[f64]> = tracked.iter().map(Vec::as_slice).collect();
    if slices.is_empty() || slices.iter().any(|values| values.len() < WINDOW_ROUNDS) {
        return None;
    }
    first_steady_round(&slices).ok().flatten().map(|round| before + round)
}

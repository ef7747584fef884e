//! `accept`: does the drive keep what its data sheet claims?
//!
//! Every claim names a load and a limit. Loads that only read run first, then those that write in
//! order, then those that write at random, because each of the latter two can change the state of
//! the drive in which the former were to be measured. Within each of these parts every load is
//! repeated, each round in an order of its own.

mod judge;
mod limit;
mod spec;

pub use judge::{RULES, judge, judged};
pub use spec::{Claim, Kind, Spec, State, parse};

use crate::experiment::order::{is_complete, missing, since_break};
use crate::experiment::{Presentation, Setting, Study};
use drivelab_core::facts::Facts;
use drivelab_core::plan::{
    Engine, Interval, IoMode, Mix, Pattern, Plan, Role, Step, Stream, Sync, Until,
};
use drivelab_core::run::{Run, StepRun};
use drivelab_core::study::StudyOptions;
use drivelab_core::units::{Size, Span};
use drivelab_stats::{Domain, Random};

/// Repetitions of each load.
pub const REPETITIONS: u32 = 5;
/// The step that lays out a file which drivelab made.
const LAYOUT: &str = "lay out";
const SECOND_NS: u64 = 1_000_000_000;
/// Steps of at least this length are recorded second by second, shorter ones ten times finer.
const LONG_NS: u64 = 10 * SECOND_NS;
/// Requests of the layout are at most this large.
const LAYOUT_REQUEST_BYTES: u64 = 1 << 20;
const LAYOUT_DEPTH: u32 = 8;

/// The study.
pub const STUDY: Study = Study {
    name: "accept",
    question: "Does the drive keep what its data sheet claims?",
    objection: |setting| planned(setting).err(),
    next,
    rules: RULES,
    judge: |setting, run| judge(&claims(setting.options), run),
    presentation: Presentation::Claims,
    ..Study::PLAIN
};

/// The claims that the study was asked for; they were read before.
pub fn claims(options: &StudyOptions) -> Vec<Claim> {
    parse(&options.accept.spec, STUDY.name).map_or_else(|_| Vec::new(), |spec| spec.claims)
}

fn planned(setting: &Setting<'_>) -> Result<Plan, String> {
    let (options, facts) = (setting.options, setting.facts);
    let spec = parse(&options.accept.spec, STUDY.name).map_err(|error| error.to_string())?;
    plan(options, &spec, facts, options.accept.lays_out.then_some(options.bytes))
}

/// What is missing of all repetitions, on a file that was laid out since the target was opened.
fn next(setting: &Setting<'_>, so_far: &Run) -> Option<Plan> {
    let plan = planned(setting).ok()?;
    let (mut steps, loads): (Vec<Step>, Vec<Step>) =
        plan.steps.into_iter().partition(|step| step.role == Role::Prepare);
    let is_laid = |step: &StepRun| step.begin.role == Role::Prepare && is_complete(step);
    steps.retain(|_| !since_break(so_far).iter().any(is_laid));
    let loads = missing(loads, so_far);
    let is_done = loads.is_empty();
    steps.extend(loads);
    (!is_done).then_some(Plan { steps, ..plan })
}

/// The bytes of a file to be laid out first; `None` where the target is used as it is.
pub type LayoutBytes = Option<u64>;

/// What the claims need, in the order described above.
///
/// # Errors
/// The layout alone would write more than the budget.
pub fn plan(
    options: &StudyOptions,
    spec: &Spec,
    facts: &Facts,
    layout_bytes: LayoutBytes,
) -> Result<Plan, String> {
    let laid = layout_bytes.unwrap_or(0);
    if laid > options.budget.0 {
        return Err(format!(
            "laying out {} would write more than the budget of {}; give a smaller --size or a \
             larger --budget",
            Size(laid),
            options.budget
        ));
    }
    let loads = loads(&spec.claims);
    let writers = loads.iter().filter(|load| load.mix().write > 0).count() as u64;
    let room = (options.budget.0 - laid) / (writers * u64::from(REPETITIONS)).max(1);
    let io = io_mode(facts);
    let mut steps: Vec<Step> = Vec::new();
    steps.extend(layout_bytes.map(|bytes| layout(options, bytes, io)));
    let mut random = Random::new(Domain::AcceptOrder.seed(options.seed, 0));
    for harm in 0..=2 {
        let part: Vec<&Claim> = loads.iter().filter(|load| load.harm() == harm).collect();
        for _ in 0..REPETITIONS {
            let mut round = part.clone();
            for last in (1..round.len()).rev() {
                round.swap(last, random.below(last as u64 + 1) as usize);
            }
            steps.extend(round.into_iter().map(|load| step(options, load, io, room)));
        }
    }
    let shortest = loads.iter().map(|load| load.seconds.0).min().unwrap_or(0);
    let interval = if shortest >= LONG_NS { SECOND_NS } else { SECOND_NS / 10 };
    let title = spec.title.clone().unwrap_or_else(|| "accept".into());
    Ok(Plan {
        title,
        seed: options.seed,
        interval: Interval(Span(interval)),
        steps,
        ..Plan::default()
    })
}

/// Each different load once, as long as its longest claim asks, in the order of the claims.
fn loads(claims: &[Claim]) -> Vec<Claim> {
    let mut loads: Vec<Claim> = Vec::new();
    for claim in claims {
        match loads.iter_mut().find(|load| load.cell() == claim.cell()) {
            Some(load) => load.seconds = load.seconds.max(claim.seconds),
            None => loads.push(claim.clone()),
        }
    }
    loads
}

/// The cells of the claims, in their order, each once.
fn cells(claims: &[Claim]) -> Vec<String> {
    loads(claims).iter().map(Claim::cell).collect()
}

/// Direct wherever the file system does not say that it cannot.
fn io_mode(facts: &Facts) -> IoMode {
    let align = facts.target.filesystem.as_ref().and_then(|found| found.direct_io_align);
    if align == Some((0, 0)) { IoMode::Buffered } else { IoMode::Direct }
}

fn layout(options: &StudyOptions, bytes: u64, io: IoMode) -> Step {
    let size = 1 << bytes.trailing_zeros().min(LAYOUT_REQUEST_BYTES.trailing_zeros());
    let (engine, depth) = match io {
        IoMode::Direct => (Engine::IoUring, LAYOUT_DEPTH),
        IoMode::Buffered => (Engine::Psync, 1),
    };
    let stream = Stream {
        engine,
        io,
        sync: Sync::End,
        mix: Mix::WRITE,
        size: Size(size),
        depth,
        stamp: true,
        ..Stream::default()
    };
    Step {
        name: LAYOUT.into(),
        role: Role::Prepare,
        until: Until { passes: Some(1), ..Until::default() },
        repeat: 1,
        cpus: options.cpus.clone(),
        streams: vec![stream],
        ..Step::default()
    }
}

fn step(options: &StudyOptions, load: &Claim, io: IoMode, room: u64) -> Step {
    let mix = load.mix();
    let bytes = (mix.write > 0).then(|| Size((room / load.bs.0).max(1).saturating_mul(load.bs.0)));
    // One commit at a time is a write and an fsync, as databases call them.
    let is_commit = load.sync != Sync::None && load.depth == 1;
    let engine = if is_commit { Engine::Psync } else { Stream::default().engine };
    let stream = Stream {
        engine,
        io,
        pattern: if load.rw.is_random() { Pattern::Uniform } else { Pattern::SEQUENTIAL },
        mix,
        size: load.bs,
        depth: load.depth,
        workers: load.workers,
        sync: load.sync,
        ..Stream::default()
    };
    Step {
        name: load.cell(),
        until: Until { elapsed: Some(load.seconds), bytes, ..Until::default() },
        repeat: 1,
        cpus: options.cpus.clone(),
        streams: vec![stream],
        ..Step::default()
    }
}

#[cfg(test)]
mod tests;

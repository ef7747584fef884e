//! What the drive would have done next: everything that a run did, done again on the same drive,
//! and more behind it.

use super::case::{Case, Place, read};
use drivelab_core::plan::{Plan, Step};
use drivelab_core::plan_text;
use drivelab_core::run::{Run, StepRun};
use drivelab_core::units::{Size, Span};

/// Longest a replay may take on the real clock.
const LIMIT_S: u64 = 60;

/// The steps of a run as they were done, one repetition each.
pub fn performed(steps: &[StepRun]) -> Vec<Step> {
    let once = |step: &StepRun| Step { repeat: 1, ..step.plan.clone() };
    steps.iter().map(once).collect()
}

/// Does these steps on the drive of the case, from its beginning, with another seed.
pub fn replay(case: &Case, like: &Run, steps: Vec<Step>) -> Option<Run> {
    seeded(case, like, steps, like.begin.seed.wrapping_add(1))
}

/// Does these steps on the drive of the case, from its beginning.
pub fn seeded(case: &Case, like: &Run, steps: Vec<Step>, seed: u64) -> Option<Run> {
    let place = Place::of(&case.drive);
    let mut plan = Plan { steps, ..like.plans.first()?.clone() };
    plan.seed = seed;
    plan.interval = like.plans.iter().map(|plan| plan.interval).max_by_key(|it| it.0)?;
    std::fs::write(place.path().join("truth.toml"), plan_text::render(&plan)).ok()?;
    let words = ["run", "./truth.toml", &case.drive.target, "--json"].map(String::from);
    place.types(&words, LIMIT_S);
    read(&place.last_run()?).filter(|run| run.end.is_some())
}

/// The same load until this many bytes are issued, whatever the time.
pub fn for_bytes(step: &Step, bytes: u64) -> Step {
    let mut step = Step { repeat: 1, ..step.clone() };
    step.until = drivelab_core::plan::Until {
        bytes: Some(Size(bytes)),
        elapsed: Some(Span(40_000_000_000_000)),
        ..Default::default()
    };
    step
}

/// The same step this many times as long.
pub fn longer(step: &Step, times: u64) -> Step {
    let mut step = Step { repeat: 1, ..step.clone() };
    let streams = step.streams.iter_mut().filter_map(|stream| stream.until.as_mut());
    for until in streams.chain(std::iter::once(&mut step.until)) {
        until.elapsed = until.elapsed.map(|span| Span(span.0 * times));
        until.bytes = until.bytes.map(|bytes| Size(bytes.0 * times));
        until.operations = until.operations.map(|count| count * times);
        until.passes = until.passes.map(|count| count * times);
    }
    step
}

/// Bytes of a step and the rate at which it moved 4 KiB.
pub fn iops(step: &StepRun) -> f64 {
    let kinds = step.tallies.iter().flat_map(|tally| &tally.kinds);
    let ops: u64 = kinds.map(|kind| kind.ops).sum();
    ops as f64 / step.duration_ns().max(1) as f64 * 1e9
}

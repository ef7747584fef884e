//! In which order cells run, and which of them are still missing.

use drivelab_core::plan::Step;
use drivelab_core::run::{Run, StepRun};
use drivelab_stats::{Domain, Random};

/// Everything up to the last time that the drive was closed: what came before still counts as
/// measured, but nothing that must follow on it does.
pub fn since_break(run: &Run) -> &[StepRun] {
    let broken = run.resumptions.iter().rfind(|resumed| resumed.because.is_some());
    let from = broken.map_or(0, |resumed| resumed.steps as usize);
    &run.steps[from.min(run.steps.len())..]
}

/// The run without what came before the last time that the drive was closed.
pub fn unbroken(run: &Run) -> Run {
    let steps = since_break(run).to_vec();
    Run { steps, resumptions: Vec::new(), established: Vec::new(), ..run.clone() }
}

/// Whether the drive was closed while the study went on.
pub fn is_broken(run: &Run) -> bool {
    since_break(run).len() < run.steps.len()
}

/// Whether a step came to its end.
pub fn is_complete(step: &StepRun) -> bool {
    step.end.as_ref().is_some_and(|end| end.incomplete.is_none())
}

/// How many steps of this name came to their end.
pub fn done(steps: &[StepRun], name: &str) -> usize {
    steps.iter().filter(|step| step.begin.name == name && is_complete(step)).count()
}

/// What of a schedule is still missing: of each name, as many as were completed are left out, the
/// first ones first.
pub fn missing(schedule: Vec<Step>, run: &Run) -> Vec<Step> {
    let mut counted: std::collections::BTreeMap<String, usize> = std::collections::BTreeMap::new();
    let is_missing = |step: &Step| {
        let number = counted.entry(step.name.clone()).or_insert(0);
        *number += 1;
        *number > done(&run.steps, &step.name)
    };
    let mut is_missing = is_missing;
    schedule.into_iter().filter(|step| is_missing(step)).collect()
}

/// This many rounds of all of these, each in an order of its own.
pub fn in_rounds<T: Clone>(
    all: &[T],
    rounds: u64,
    seed: u64,
) -> impl Iterator<Item = T> + use<'_, T> {
    let round = move |number| {
        let mut round = all.to_vec();
        shuffle(&mut round, seed, number);
        round
    };
    (0..rounds).flat_map(round)
}

/// Shuffles in place, by the seed and a number of the caller's.
pub fn shuffle<T>(items: &mut [T], seed: u64, number: u64) {
    let mut random = Random::new(Domain::StudyOrder.seed(seed, number));
    for last in (1..items.len()).rev() {
        items.swap(last, random.below(last as u64 + 1) as usize);
    }
}

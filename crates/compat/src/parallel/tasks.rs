//! When the tasks of a step began and ended.

use drivelab_core::op::{Action, Time};
use drivelab_core::run::StepRun;
use drivelab_core::tally::Phase;

const SECOND_NS: f64 = 1e9;

/// The times of one task, in nanoseconds since the testbed began.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub(crate) struct Task {
    /// It began: with its first operation, because its files were open before, and because the
    /// time until a processor woke it up is none of the drive's.
    pub opened: Time,
    /// Its first operation was issued.
    pub first: Time,
    /// It was done, with what counts of its fsync.
    pub closed: Time,
}

/// The tasks of a step, in their order; none if it did not end.
pub(crate) fn of_step(step: &StepRun) -> Vec<Task> {
    phases(step).iter().map(task).collect()
}

/// Their phases, in the same order.
pub(crate) fn phases(step: &StepRun) -> Vec<Phase> {
    let mut phases: Vec<Phase> = step.end.iter().flat_map(|end| end.phases.clone()).collect();
    phases.sort_by_key(|phase| (phase.stream, phase.worker));
    phases
}

fn task(phase: &Phase) -> Task {
    let first = if phase.issued == 0 { phase.opened } else { phase.first };
    let first = first.max(phase.opened);
    Task { opened: first, first, closed: phase.closed.max(first) }
}

impl Task {
    /// From its first operation to its end, in seconds.
    pub fn seconds(&self) -> f64 {
        between(self.first, self.closed)
    }
}

/// Nanoseconds of time as seconds; 0 if the second comes first.
pub(crate) fn between(from: Time, to: Time) -> f64 {
    to.saturating_sub(from) as f64 / SECOND_NS
}

/// The earliest of one of their times.
pub(crate) fn earliest(tasks: &[Task], time: impl Fn(&Task) -> Time) -> Time {
    tasks.iter().map(time).min().unwrap_or(0)
}

/// The latest of one of their times.
pub(crate) fn latest(tasks: &[Task], time: impl Fn(&Task) -> Time) -> Time {
    tasks.iter().map(time).max().unwrap_or(0)
}

/// Bytes that a step read and wrote.
pub(crate) fn bytes_moved(step: &StepRun) -> u64 {
    let kinds = step.tallies.iter().flat_map(|tally| &tally.kinds);
    let moves = |kind: Action| matches!(kind, Action::Read | Action::Write);
    kinds.filter(|tally| moves(tally.kind)).map(|tally| tally.bytes).sum()
}

/// Operations that a step completed without error.
pub(crate) fn operations(step: &StepRun) -> u64 {
    step.tallies.iter().map(drivelab_core::tally::Tally::ops).sum()
}

/// A rate in this many seconds; 0 where no time passed.
pub(crate) fn per_second(amount: f64, seconds: f64) -> f64 {
    if seconds > 0.0 { amount / seconds } else { 0.0 }
}

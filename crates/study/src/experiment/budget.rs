//! What a study has used up, and what it still may.

use super::Setting;
use drivelab_core::ledger::Moved;
use drivelab_core::plan::Act;
use drivelab_core::run::{Run, StepRun};
use drivelab_core::units::Size;

/// Time between two steps: opening the target, looking around.
const BETWEEN_NS: u64 = 150_000_000;

/// What is left of time and bytes.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub struct Left {
    /// Nanoseconds.
    pub time_ns: u64,
    /// Bytes that may still be written.
    pub bytes: u64,
}

impl Left {
    /// What is left after `run`, whatever became of its steps.
    pub fn of(setting: &Setting<'_>, run: &Run) -> Self {
        let between = if setting.is_simulated() { 0 } else { BETWEEN_NS };
        let spent: u64 = run.steps.iter().map(|step| duration_ns(step) + between).sum();
        Left {
            time_ns: setting.options.time.0.saturating_sub(spent),
            bytes: setting.options.budget.0.saturating_sub(written(&run.steps)),
        }
    }

    /// How long each of `count` steps may take if they share what is left, after what lies between
    /// steps; at most `most_ns`.
    pub fn each(&self, setting: &Setting<'_>, count: u64, most_ns: u64) -> u64 {
        let between = if setting.is_simulated() { 0 } else { BETWEEN_NS };
        (self.time_ns / count.max(1)).saturating_sub(between).min(most_ns)
    }
}

/// Bytes that steps wrote.
pub fn written(steps: &[StepRun]) -> u64 {
    steps.iter().map(|step| Moved::of(&step.tallies).written_bytes).sum()
}

/// How long a step took, as far as its records say.
pub fn duration_ns(step: &StepRun) -> u64 {
    if let Some(Act::Idle(span)) = step.plan.act {
        return span.0;
    }
    let phases = || step.end.iter().flat_map(|end| &end.phases);
    let whole = phases()
        .map(|phase| phase.closed)
        .max()
        .zip(phases().map(|phase| phase.opened).min())
        .map(|(closed, opened)| closed.saturating_sub(opened));
    let recorded = || {
        let tallies = || step.tallies.iter();
        let to = tallies().map(|tally| tally.to).max()?;
        Some(to.saturating_sub(tallies().map(|tally| tally.from).min()?))
    };
    whole.or_else(recorded).unwrap_or(0)
}

/// Whole requests of `size` in `bytes`, at least one.
pub fn whole(bytes: u64, size: u64) -> Size {
    Size((bytes / size).max(1) * size)
}

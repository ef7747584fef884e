//! What a study has used up, and what it still may.

use super::Setting;
use drivelab_core::ledger::Moved;
use drivelab_core::plan::{Step, Stream};
use drivelab_core::run::{Run, StepRun};
use drivelab_core::units::Size;

/// Time between two steps of a real machine: opening the target, looking around.
pub const BETWEEN_NS: u64 = 150_000_000;

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
        let between = between_ns(setting);
        let spent: u64 = run.steps.iter().map(|step| step.duration_ns() + between).sum();
        Left {
            time_ns: setting.options.time.0.saturating_sub(spent),
            bytes: setting.options.budget.0.saturating_sub(written(&run.steps)),
        }
    }

    /// How long each of `count` steps may take if they share what is left, after what lies between
    /// steps; at most `most_ns`.
    pub fn each(&self, setting: &Setting<'_>, count: u64, most_ns: u64) -> u64 {
        let between = between_ns(setting);
        (self.time_ns / count.max(1)).saturating_sub(between).min(most_ns)
    }
}

/// The shortest step that a study of many cells measures.
pub const STEP_NS_MIN: u64 = 50_000_000;

/// Why this many steps do not fit the time, if they do not; the other half is for preparation.
pub fn too_short(setting: &Setting<'_>, steps: u64) -> Option<String> {
    let between = between_ns(setting);
    let needed = steps.saturating_mul(2 * (STEP_NS_MIN + between));
    let seconds = needed.div_ceil(1_000_000_000);
    (setting.options.time.0 < needed).then(|| {
        format!(
            "{} is too short for the {steps} steps of `{}` at this scale; give at least {seconds}s",
            setting.options.time, setting.options.name
        )
    })
}

/// Time that passes between two steps here.
pub fn between_ns(setting: &Setting<'_>) -> u64 {
    if setting.is_simulated() { 0 } else { BETWEEN_NS }
}

/// Bytes that steps wrote. Of a step that was killed nobody knows how far it came: it counts as
/// whole.
pub fn written(steps: &[StepRun]) -> u64 {
    let one = |step: &StepRun| {
        let recorded = Moved::of(&step.tallies).written_bytes;
        if step.end.is_some() { recorded } else { recorded.max(planned(&step.plan)) }
    };
    steps.iter().map(one).sum()
}

/// Whether a step wrote all that its plan bounds it to: one that its time ended did not.
pub fn is_all_written(step: &StepRun) -> bool {
    Moved::of(&step.tallies).written_bytes >= planned(&step.plan)
}

/// Bytes that a step may write, where its plan bounds them.
pub fn planned(step: &Step) -> u64 {
    let of = |stream: &Stream| {
        let length = stream.length.map_or(0, |length| length.0);
        let until = step.until_of(stream);
        let issued = until.bytes.map(|bytes| bytes.0);
        let issued = issued.or(until.passes.map(|passes| passes.saturating_mul(length)));
        let written = u128::from(issued.unwrap_or(0)) * u128::from(stream.mix.write);
        u64::try_from(written / u128::from(stream.mix.total().max(1))).unwrap_or(u64::MAX)
    };
    step.streams.iter().map(of).sum()
}

/// Whole requests of `size` in `bytes`, at least one.
pub fn whole(bytes: u64, size: u64) -> Size {
    Size((bytes / size).max(1) * size)
}

/// At least these bytes, as somebody would type them: whole gibibytes, mebibytes below one.
pub fn at_least(bytes: u64) -> Size {
    let unit = if bytes > 1 << 30 { 1 << 30 } else { 1 << 20 };
    Size(bytes.div_ceil(unit).saturating_mul(unit))
}

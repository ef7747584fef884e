//! The first bytes of a target that is too large to be written over twice, in the place of all.

use super::{Setting, too_small};
use drivelab_core::plan::Plan;
use drivelab_core::run::Run;
use drivelab_core::study::StudyOptions;
use drivelab_core::units::Size;

/// This part of the budget is filled and used.
const PART: u64 = 4;
const BYTES_MIN: u64 = 64 << 20;

/// The same study of the first bytes of each of this many files; `None`: all of it is used.
pub fn narrowed(setting: &Setting<'_>, files: u64) -> Option<StudyOptions> {
    let budget = setting.options.budget.0;
    let bytes = budget / PART / files.max(1) / BYTES_MIN * BYTES_MIN;
    (budget < setting.bytes().saturating_mul(files).saturating_mul(2))
        .then(|| StudyOptions { bytes, ..setting.options.clone() })
}

/// Why the budget does not even do for the first bytes.
pub fn objection(setting: &Setting<'_>, files: u64) -> Option<String> {
    let is_narrow = narrowed(setting, files).is_some_and(|options| options.bytes < BYTES_MIN);
    let least = Size(BYTES_MIN * PART * files.max(1));
    is_narrow.then(|| too_small(setting, least)).flatten()
}

/// What the study does next, on the part that it uses.
pub fn next(
    setting: &Setting<'_>,
    run: &Run,
    files: u64,
    next_of: impl Fn(&Setting<'_>, &Run) -> Option<Plan>,
) -> Option<Plan> {
    let Some(options) = narrowed(setting, files) else { return next_of(setting, run) };
    let mut plan = next_of(&Setting { options: &options, facts: setting.facts }, run)?;
    for stream in plan.steps.iter_mut().flat_map(|step| &mut step.streams) {
        stream.length = Some(Size(options.bytes));
    }
    Some(plan)
}

//! In what a ranking is less than it could be.

use super::region_bytes;
use crate::experiment::budget::written;
use crate::experiment::{Setting, region};
use drivelab_core::plan::Role;
use drivelab_core::run::Run;
use drivelab_core::units::Size;

/// What readers must know of the method, in whole sentences.
pub(super) fn of(setting: &Setting<'_>, run: &Run) -> Vec<String> {
    let Some(region) = region_bytes(setting, run) else { return Vec::new() };
    let mut said = Vec::new();
    if region < setting.bytes() {
        said.push(format!(
            "Only the first {} of {} were filled and used: a larger --budget or --time uses more. \
             A disk seeks less there, and a flash drive has as much spare flash as is unused.",
            Size(region),
            Size(setting.bytes())
        ));
    }
    said.extend(of_caches([run]));
    if !region::began_used(run) {
        said.push(
            "The drive was filled once and not brought to its steady state: writes may be faster \
             here than after hours (`drivelab study wsat`)."
                .into(),
        );
    }
    said
}

/// How much a cache may have taken of the writes of these runs.
pub(super) fn of_caches<'run>(runs: impl IntoIterator<Item = &'run Run>) -> Option<String> {
    let most = runs.into_iter().filter_map(most_written).max()?;
    Some(format!(
        "A repetition of a write wrote {} at most, after as much that was not measured: of a \
         drive whose cache takes that, the writes are those of its cache.",
        Size(most)
    ))
}

/// The most that one measured step wrote.
fn most_written(run: &Run) -> Option<u64> {
    let measured = run.steps.iter().filter(|step| step.begin.role == Role::Measure);
    measured.map(|step| written(std::slice::from_ref(step))).max().filter(|bytes| *bytes > 0)
}

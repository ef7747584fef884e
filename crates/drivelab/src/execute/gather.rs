//! What the drivers of a step leave behind.

use super::{MISMATCHES_MAX, Stop, trouble};
use crate::target_actions::TargetActions;
use drivelab_core::facts::TargetKind;
use drivelab_core::queue::Finished;
use drivelab_core::record::StepEnd;
use drivelab_core::tally::Slowest;

/// Puts it into the end of the step; says whether one failed or the drive has gone, and how many
/// operations were due and not issued.
pub fn gather(
    actions: &TargetActions,
    finished: Vec<Finished>,
    end: &mut StepEnd,
    target: TargetKind,
) -> (Option<Stop>, u64) {
    let has_failed = finished.iter().any(|it| it.driver.failure().is_some());
    let gone = has_failed.then(|| actions.gone_since()).flatten();
    let mut slowest = Slowest::new();
    let mut stop = None;
    let mut unissued = 0;
    for Finished { driver, phase } in finished {
        end.phases.push(phase);
        driver.slowest().into_iter().for_each(|slow| slowest.offer(slow));
        let room = MISMATCHES_MAX - end.mismatches.len();
        end.mismatches.extend(driver.mismatches().into_iter().take(room));
        unissued += driver.unissued();
        if let Some(failure) = driver.failure() {
            let stream = driver.stream();
            let trouble = trouble::of_failure(&failure, stream, target, gone.as_deref());
            stop.get_or_insert(Stop::Trouble(trouble));
        }
    }
    end.slowest = slowest.sorted();
    let unnoticed = |name: String| Stop::Trouble(trouble::went_unnoticed(&name));
    (stop.or_else(|| actions.gone().map(unnoticed)), unissued)
}

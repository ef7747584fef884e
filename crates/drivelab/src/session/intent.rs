//! What a plan is going to do to its target, for the guard.

use crate::target::ResolvedTarget;
use drivelab_core::plan::{Act, Plan, Step, Stream};
use drivelab_io::guard::Intent;

/// The strongest thing that the plan does to its data files or device. What goes to files in a
/// file system on the device is not done to the device itself.
pub fn intent_of(plan: &Plan, resolved: &ResolvedTarget) -> Intent {
    let mut is_mounted = false;
    let mut strongest = if resolved.creates() { Intent::Write } else { Intent::Read };
    for step in &plan.steps {
        match step.act {
            Some(Act::Mount(_)) => is_mounted = true,
            Some(Act::Unmount) => is_mounted = false,
            _ if is_mounted => {}
            _ => strongest = stronger(strongest, of_step(step)),
        }
    }
    strongest
}

/// Whether a stream works on data rather than on names.
pub fn is_data(stream: &Stream) -> bool {
    !stream.is_metadata()
}

fn of_step(step: &Step) -> Intent {
    let mut data = step.streams.iter().filter(|stream| is_data(stream));
    match step.act {
        Some(Act::Mkfs(_)) => Intent::Format,
        Some(Act::Trim { .. } | Act::Purge(_) | Act::WriteCache(_)) => Intent::Discard,
        _ if data.any(Stream::changes_data) => Intent::Write,
        _ => Intent::Read,
    }
}

fn stronger(one: Intent, other: Intent) -> Intent {
    let order = [Intent::Read, Intent::Discard, Intent::Write, Intent::Format];
    let place = |intent: &Intent| order.iter().position(|known| known == intent);
    [one, other].into_iter().max_by_key(place).unwrap_or(one)
}

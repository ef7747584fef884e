//! A battery in rounds, within time and bytes.

use super::{Group, count, round};
use crate::experiment::Setting;
use crate::experiment::budget::Left;
use crate::experiment::loads;
use crate::experiment::order::missing;
use drivelab_core::plan::{Plan, Role, Step};
use drivelab_core::run::Run;
use drivelab_core::study::Scale;

const SECOND_NS: u64 = 1_000_000_000;
/// Shorter cells say nothing.
const CELL_NS_MIN: u64 = SECOND_NS / 20;

/// Most time of one repetition where `loads` of them are still to come; `None`: as long as it
/// takes, where the method is followed to the letter. In virtual time there is more of it.
pub fn cell_ns(setting: &Setting<'_>, left: &Left, loads: u64) -> Option<u64> {
    let most_ns = match setting.options.scale {
        Scale::Quick => 2 * SECOND_NS,
        Scale::Default if setting.is_simulated() => 60 * SECOND_NS,
        Scale::Default => 5 * SECOND_NS,
        Scale::Full => return None,
    };
    // What is laid out again, or must end with an fsync, cannot be cut short.
    Some((left.each(setting, loads, 2 * most_ns) / 2).max(CELL_NS_MIN))
}

/// Intervals of recording: a battery needs none in virtual time, where a slow drive would have
/// millions of them.
pub fn interval_ns(setting: &Setting<'_>) -> u64 {
    if setting.is_simulated() { 60 * SECOND_NS } else { SECOND_NS / 10 }
}

/// What is missing of this many rounds, at most one round at a time; `None`: nothing, or no time.
pub fn rest(
    setting: &Setting<'_>,
    run: &Run,
    left: &Left,
    rounds: u64,
    groups: impl Fn(Option<u64>) -> Vec<Group>,
) -> Option<Plan> {
    let loads_all = rounds * count(&groups(None));
    let measured = run.steps.iter().filter(|step| step.begin.role == Role::Measure).count() as u64;
    let groups = groups(cell_ns(setting, left, loads_all.saturating_sub(measured).max(1)));
    let schedule = (0..rounds).flat_map(|number| round(setting, &groups, number, "")).collect();
    let rest = one_round(missing(schedule, run), &groups);
    (!rest.is_empty() && left.time_ns > 0).then(|| loads::plan(setting, interval_ns(setting), rest))
}

/// The first steps, as many as a round has loads.
pub fn one_round(steps: Vec<Step>, groups: &[Group]) -> Vec<Step> {
    let (most, mut loads) = (count(groups), 0);
    let is_within = |step: &Step| {
        let is_wanted = loads < most;
        loads += u64::from(step.role == Role::Measure);
        is_wanted
    };
    steps.into_iter().take_while(is_within).collect()
}

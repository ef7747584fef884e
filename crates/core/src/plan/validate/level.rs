//! Refuses levels that say nothing, or that cannot be watched.

use super::{HOUR, Problems};
use crate::op::SECOND;
use crate::plan::{Level, Plan, Rate, Step, Until};
use crate::units::Span;

/// One bound.
pub(super) fn validate_level(level: &Level, until: &Until, step: &Step, problems: &mut Problems) {
    problems.need(level.limit.is_finite() && level.limit >= 0.0, "until", || {
        format!("a limit of {} is out of range; use 0 or more", level.limit)
    });
    let hours = Span(24 * HOUR.0);
    problems.need((SECOND..=hours.0).contains(&level.window.0), "until", || {
        format!("a window of {} is out of range; use 1s to {hours}", level.window)
    });
    problems.need(level.after <= hours, "until", || {
        format!("`after` of {} is out of range; use at most {hours}", level.after)
    });
    problems.need(!until.steady, "until", || {
        "`steady` does rounds and `level` watches one long one; leave out one of them".to_string()
    });
    let moves_data = step.streams.iter().all(|stream| !stream.is_metadata());
    problems.need(moves_data || level.of == Rate::Operations, "until", || {
        "metadata actions move no bytes; watch their operations".to_string()
    });
}

/// Seconds are made of whole intervals.
pub(super) fn validate_interval(plan: &Plan, problems: &mut Problems) {
    let bounds = plan.steps.iter().flat_map(|step| {
        let own = step.streams.iter().filter_map(|stream| stream.until.as_ref());
        own.chain([&step.until])
    });
    let watches = bounds.into_iter().any(|until| until.level.is_some());
    let length = plan.interval.0.0.max(1);
    problems.need(!watches || SECOND.is_multiple_of(length), "interval", || {
        format!(
            "a level is judged by seconds, and the interval of {} does not divide them",
            plan.interval.0
        )
    });
}

/// Who is judged together is judged alike.
pub(super) fn validate_groups(step: &Step, problems: &mut Problems) {
    let levels = || step.streams.iter().filter_map(|stream| step.until_of(stream).level);
    let differs = |one: &Level| levels().any(|other| other.group == one.group && other != *one);
    let grouped = levels().filter(|level| level.group.is_some());
    problems.need(!grouped.into_iter().any(|level| differs(&level)), "until", || {
        "streams of one group are judged by one level; give each its own group".to_string()
    });
}

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
    let whole = (SECOND..=level.window.0).contains(&level.every.0)
        && level.every.0.is_multiple_of(SECOND)
        && (level.window.0 / SECOND * SECOND).is_multiple_of(level.every.0.max(1));
    problems.need(whole, "until", || {
        format!(
            "`every` of {} does not divide the window of {} into values of whole seconds",
            level.every, level.window
        )
    });
    problems.need(!until.steady, "until", || {
        "`steady` does rounds and `level` watches one long one; leave out one of them".to_string()
    });
    let moves_data = step.streams.iter().all(|stream| !stream.is_metadata());
    problems.need(moves_data || level.of == Rate::Operations, "until", || {
        "metadata actions move no bytes; watch their operations".to_string()
    });
}

/// Values are made of whole intervals.
pub(super) fn validate_interval(plan: &Plan, problems: &mut Problems) {
    let bounds = plan.steps.iter().flat_map(|step| {
        let own = step.streams.iter().filter_map(|stream| stream.until.as_ref());
        own.chain([&step.until])
    });
    let length = plan.interval.0.0.max(1);
    let is_judged_by = |until: &Until| until.level.map(|level| level.every);
    let mut seconds = bounds.into_iter().filter_map(is_judged_by);
    let undivided = seconds.find(|every| !every.0.is_multiple_of(length));
    problems.need(undivided.is_none(), "interval", || {
        format!(
            "a level is judged by values of {} each, and the interval of {} does not divide them",
            undivided.unwrap_or_default(),
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

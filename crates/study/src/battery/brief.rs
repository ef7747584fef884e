//! Tests that were over too soon: the method asks for more than a minute each.

use crate::experiment::Setting;
use drivelab_core::op::Action;
use drivelab_core::plan::Role;
use drivelab_core::quantity::digits;
use drivelab_core::record::Warning;
use drivelab_core::run::Run;
use drivelab_core::sound::{Rules, Sound};
use drivelab_core::study::Scale;
use drivelab_core::summary::{StepSummary, Summary};
use std::collections::BTreeMap;

/// What each test must last longer than.
const SECONDS_MIN: f64 = 60.0;
/// What makes no test, though it may be measured with one.
const NO_TEST: [Action; 2] = [Action::Flush, Action::Trim];

/// What a run that was to follow the method to the letter says of tests that were too short.
pub fn brief(setting: &Setting<'_>, run: &Run) -> Option<Warning> {
    if setting.options.scale != Scale::Full {
        return None;
    }
    let all = shortest(Sound::of(run, Rules::STRICT).summary());
    let mut brief: Vec<(&str, f64)> = all
        .iter()
        .filter(|(_, seconds)| **seconds <= SECONDS_MIN)
        .map(|(name, seconds)| (name.as_str(), *seconds))
        .collect();
    brief.sort_by(|a, b| a.1.total_cmp(&b.1));
    let (name, seconds) = *brief.first()?;
    Some(Warning {
        code: "brief_tests".into(),
        text: format!(
            "{} of {} valid tests did not take longer than {SECONDS_MIN:.0} s in each repetition, \
             which the method asks for: the shortest was `{name}`, {} s.",
            brief.len(),
            all.len(),
            digits(seconds)
        ),
        advice: "A very short test is easily disturbed: look at its interval. More files or a \
                 larger target (a larger --budget, if that was the limit) make tests longer."
            .into(),
        step: None,
    })
}

/// The shortest repetition of each test, in seconds.
fn shortest(summary: &Summary) -> BTreeMap<String, f64> {
    let mut shortest: BTreeMap<String, f64> = BTreeMap::new();
    let is_test = |step: &&StepSummary| step.role == Role::Measure && step.incomplete.is_none();
    for step in summary.steps.iter().filter(is_test) {
        let kinds = step.streams.iter().flat_map(|stream| &stream.kinds);
        let tests: Vec<(&Action, f64)> = kinds
            .filter(|(action, _)| !NO_TEST.contains(action))
            .filter_map(|(action, kind)| Some((action, kind.seconds?)))
            .collect();
        for (action, seconds) in &tests {
            let name = match tests.len() {
                1 => step.name.clone(),
                _ => format!("{}, {}", step.name, action.word()),
            };
            let known = shortest.entry(name).or_insert(f64::INFINITY);
            *known = known.min(*seconds);
        }
    }
    shortest
}

//! That nothing is fitted more often than a profile admits.

use super::*;
use drivelab_sim::profile::{EMBEDDED, Profile, Status};
use std::collections::BTreeMap;

/// Every figure with its profile.
fn figures() -> Vec<(&'static str, &'static Figure)> {
    let loads = DOCUMENTS.iter().flat_map(|document| document.loads);
    loads.flat_map(|load| load.figures.iter().map(|figure| (load.profile, figure))).collect()
}

fn status(profile: &Profile, key: &str) -> Option<Status> {
    let (section, key) = key.split_once('.').unwrap_or(("parameters", key));
    Some(profile.sections.get(section)?.get(key)?.status)
}

/// A complaint for each figure or parameter that breaks the rule.
fn complaints(figures: &[(&'static str, &'static Figure)]) -> Vec<String> {
    let mut wrong = Vec::new();
    let mut by_profile: BTreeMap<&str, Vec<&str>> = BTreeMap::new();
    for (name, figure) in figures {
        let Ok(profile) = Profile::embedded(name) else {
            wrong.push(format!("{name}: there is no such profile"));
            continue;
        };
        let what = format!("{name}, {}", figure.what);
        match figure.role {
            Role::Fitted(key) => {
                by_profile.entry(name).or_default().push(key);
                if status(&profile, key) != Some(Status::Fitted) {
                    wrong.push(format!("{what}: `{key}` is not marked as fitted"));
                }
            }
            Role::Given(key) if status(&profile, key).is_none() => {
                wrong.push(format!("{what}: there is no `{key}`"));
            }
            _ => {}
        }
    }
    for (name, mut keys) in by_profile {
        let fitted = Profile::embedded(name).map_or(0, |profile| profile.fitted());
        let count = keys.len();
        if count > fitted {
            wrong.push(format!("{name}: {count} figures are fitted by {fitted} parameters"));
        }
        keys.sort_unstable();
        keys.dedup();
        if keys.len() < count {
            wrong.push(format!("{name}: one parameter is said to have been fitted to two figures"));
        }
    }
    wrong
}

#[test]
fn no_profile_has_more_fitted_figures_than_fitted_parameters() {
    assert_eq!(complaints(&figures()), [] as [String; 0]);
}

#[test]
fn every_fitted_parameter_names_its_figure() {
    for (name, _) in EMBEDDED {
        let profile = Profile::embedded(name).unwrap();
        for (section, parameters) in &profile.sections {
            for (key, parameter) in parameters {
                let is_named = figures().iter().any(|(of, figure)| {
                    let full = format!("{section}.{key}");
                    of == name && matches!(figure.role, Role::Fitted(by) if by == key || by == full)
                });
                let is_fitted = parameter.status == Status::Fitted;
                assert!(!is_fitted || is_named, "{name}: no figure says that `{key}` was fitted");
            }
        }
    }
}

#[test]
fn a_second_figure_by_one_parameter_and_one_without_are_found() {
    static TWICE: Figure = predicted("p", "w", Published::Value(1.0), Tolerance::Order)
        .of_role(Role::Fitted("log_blocks"));
    static NEVER: Figure = predicted("p", "w", Published::Value(1.0), Tolerance::Order)
        .of_role(Role::Fitted("read_ns"));
    let twice = complaints(&[("samsung-slc", &TWICE), ("samsung-slc", &TWICE)]);
    assert_eq!(twice.len(), 2, "{twice:?}");
    let never = complaints(&[("textbook", &NEVER)]);
    assert!(never[0].contains("`read_ns` is not marked as fitted"), "{never:?}");
}

#[test]
fn figures_are_hit_from_both_sides_and_at_their_bounds() {
    let of = |published, tolerance| predicted("p", "w", published, tolerance);
    let rate = of(Published::Value(100.0), Tolerance::Share(0.1));
    assert!(rate.is_hit(90.0) && rate.is_hit(110.0) && !rate.is_hit(89.9) && !rate.is_hit(110.1));
    let over = of(Published::Over(100.0), Tolerance::Share(0.1));
    assert!(over.is_hit(100.0) && over.is_hit(110.0) && !over.is_hit(99.9) && !over.is_hit(111.0));
    let longest = of(Published::Value(100.0), Tolerance::Factor(2.0));
    assert!(longest.is_hit(50.0) && longest.is_hit(200.0) && !longest.is_hit(49.0));
    let lost = of(Published::Range(-15.0, -11.5), Tolerance::Points(5.0));
    assert!(lost.is_hit(-7.0) && lost.is_hit(-20.0) && !lost.is_hit(-6.0) && !lost.is_hit(12.0));
    let little = of(Published::Range(-3.5, -3.4), Tolerance::Points(5.0));
    assert!(little.is_hit(-1.5) && !little.is_hit(-0.5) && !little.is_hit(1.2));
    let none = of(Published::Range(0.0, 0.0), Tolerance::Points(5.0));
    assert!(none.is_hit(0.0) && none.is_hit(4.0) && !none.is_hit(-6.0));
    let order = of(Published::Over(1.0), Tolerance::Order);
    assert!(order.is_hit(1.2) && !order.is_hit(0.9));
}

//! Places by each load alone, and why the order over all loads is another one.

use super::{BAND, NAMES, rate, slower_by};
use crate::across::short;
use drivelab_core::findings::{Entry, Head, Table};
use drivelab_core::quantity::digits;
use drivelab_core::summary::Summary;

/// A target with its numbers.
type Target<'a> = (&'a str, &'a Summary);
/// The load of a database, which articles order drives by.
const MIXED: &str = "random 70/30 qd64";

/// Targets in the order of some loads, each with its place; who cannot be told apart shares one.
pub(super) fn order<'a>(targets: &[Target<'a>], names: &[&str]) -> Vec<(Target<'a>, usize)> {
    let speed = |target: &Target<'_>| -> f64 {
        names.iter().filter_map(|name| rate(target.1, name)).map(f64::ln).sum()
    };
    let mut sorted = targets.to_vec();
    sorted.sort_by(|one, other| speed(other).total_cmp(&speed(one)));
    let mut places: Vec<(Target<'a>, usize)> = Vec::new();
    for (at, target) in sorted.into_iter().enumerate() {
        let place = match places.last() {
            Some((before, place)) if !is_faster(before, &target, names) => *place,
            _ => at + 1,
        };
        places.push((target, place));
    }
    places
}

/// Whether one target is faster than another by more than the band, its whole interval.
fn is_faster(one: &Target<'_>, other: &Target<'_>, names: &[&str]) -> bool {
    slower_by(one.1, other.1, names).1 > 1.0 + BAND
}

/// `A > B ≈ C`.
fn words(order: &[(Target<'_>, usize)]) -> String {
    let mut text = String::new();
    for (at, ((target, _), place)) in order.iter().enumerate() {
        let is_shared = at > 0 && order[at - 1].1 == *place;
        text.push_str(match (at, is_shared) {
            (0, _) => "",
            (_, true) => " ≈ ",
            (_, false) => " > ",
        });
        text.push_str(target);
    }
    text
}

/// What single loads say next to the order over all of them; `targets` stand in that order.
pub(super) fn beside(targets: &[Target<'_>]) -> Vec<String> {
    let over_all = words(&order(targets, &NAMES));
    let alone = words(&order(targets, &[MIXED]));
    let mut said = Vec::new();
    let inverted = inversions(targets, MIXED);
    if alone == over_all {
        said.push(format!("By {MIXED} alone the order is the same."));
    } else if inverted.is_empty() {
        said.push(format!("By {MIXED} alone: {alone}."));
    } else {
        said.push(format!("By {MIXED} alone the order is another: {alone}."));
    }
    said.extend(inverted.iter().map(|(first, second)| why(first, second)));
    let others: Vec<&str> = NAMES
        .into_iter()
        .filter(|name| *name != MIXED && !inversions(targets, name).is_empty())
        .collect();
    if !others.is_empty() {
        said.push(format!("Some other orders, in Places by load, have {}.", others.join(", ")));
    }
    said
}

/// Pairs of which the first is before the second over all loads, and behind it by this one.
fn inversions<'a>(targets: &[Target<'a>], name: &str) -> Vec<(Target<'a>, Target<'a>)> {
    let mut found = Vec::new();
    for (at, first) in targets.iter().enumerate() {
        let behind = targets[at + 1..].iter().filter(|second| is_faster(second, first, &[name]));
        found.extend(behind.map(|second| (*first, *second)));
    }
    found
}

/// Which loads decide between two targets, the strongest first.
fn why(first: &Target<'_>, second: &Target<'_>) -> String {
    let faster = |one: &Target<'_>, other: &Target<'_>| {
        let mut found: Vec<(&str, f64)> = NAMES
            .into_iter()
            .filter(|name| is_faster(one, other, &[name]))
            .map(|name| (name, slower_by(one.1, other.1, &[name]).0))
            .collect();
        found.sort_by(|one, other| other.1.total_cmp(&one.1));
        let words = found.iter().map(|(name, times)| format!("{name} (× {})", digits(*times)));
        words.collect::<Vec<_>>().join(", ")
    };
    let (by, against) = (faster(first, second), faster(second, first));
    let is_told = is_faster(first, second, &NAMES);
    match (is_told, by.is_empty()) {
        (true, false) => format!(
            "{} is before {} over all loads by {by}; {} is the faster one in {against}.",
            first.0, second.0, second.0
        ),
        (_, false) => format!(
            "Over all loads {} and {} cannot be distinguished: the first is faster in {by}, the \
             second in {against}.",
            first.0, second.0
        ),
        (_, true) => format!("{} is faster than {} in {against}.", second.0, first.0),
    }
}

/// The place of each target by each load, a column a target in the order over all loads.
pub(super) fn table(targets: &[Target<'_>]) -> Table {
    let names = short(&targets.iter().map(|target| target.0).collect::<Vec<_>>());
    let row = |label: &str, loads: &[&str]| {
        let order = order(targets, loads);
        let place = |target: &Target<'_>| {
            let found = order.iter().find(|(known, _)| known.0 == target.0);
            let Some((_, place)) = found else { return Entry::Nothing };
            let is_shared = order.iter().filter(|(_, other)| other == place).count() > 1;
            Entry::Text(format!("{place}{}", if is_shared { " =" } else { "" }))
        };
        let places = targets.iter().map(place);
        std::iter::once(Entry::Text(label.into())).chain(places).collect()
    };
    let head = |name: &str| Head { name: name.into(), unit: None };
    let mut rows: Vec<Vec<Entry>> = NAMES.into_iter().map(|name| row(name, &[name])).collect();
    rows.push(row("all of them", &NAMES));
    Table {
        title: "Places by load".into(),
        note: "Targets that cannot be distinguished by more than 5 % share a place (=).".into(),
        heads: std::iter::once(head("load")).chain(names.iter().map(|name| head(name))).collect(),
        rows,
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::experiment::Setting;
    use crate::experiment::sample::play;
    use crate::experiment::tests::{options, simulated};
    use crate::rank::STUDY;
    use drivelab_core::summary::summarise;

    /// A target that does this many operations a second of the mixture, and of everything else.
    fn target(mixed: f64, others: f64) -> Summary {
        let (options, facts) = (options("rank"), simulated());
        let setting = Setting { options: &options, facts: &facts };
        let rate = |name: &str, at: u32| {
            let rate = if name == MIXED { mixed } else { others };
            rate * (1.0 + f64::from(at % 3) * 0.002)
        };
        summarise(&play(&STUDY, &setting, "fresh", &rate))
    }

    #[test]
    fn an_order_that_one_load_turns_round_is_told_with_what_decides() {
        let (array, cloud) = (target(3000.0, 10_000.0), target(5000.0, 5000.0));
        let said = beside(&[("array", &array), ("cloud", &cloud)]);
        assert_eq!(said[0], "By random 70/30 qd64 alone the order is another: cloud > array.");
        assert!(said[1].starts_with("array is before cloud over all loads by "), "{said:?}");
        let (by, against) = said[1].split_once("; cloud is the faster one in ").unwrap();
        assert!(by.contains("sequential read (× 2.0") && !by.contains(MIXED), "{by}");
        assert_eq!(against, "random 70/30 qd64 (× 1.67).");
        assert_eq!(said.len(), 2, "{said:?}");
        let rows = table(&[("array", &array), ("cloud", &cloud)]).rows;
        let row = |name: &str| rows.iter().find(|row| row[0] == Entry::Text(name.into())).unwrap();
        let places = |one: &str, other: &str| [one, other].map(|it| Entry::Text(it.into()));
        assert_eq!(row(MIXED)[1..], places("2", "1"));
        assert_eq!(row("all of them")[1..], places("1", "2"));
    }

    #[test]
    fn one_order_is_one_and_equals_share_a_place() {
        let (fast, slow) = (target(9000.0, 9000.0), target(5000.0, 5000.0));
        let said = beside(&[("fast", &fast), ("slow", &slow)]);
        assert_eq!(said, ["By random 70/30 qd64 alone the order is the same."]);
        let rows = table(&[("one", &fast), ("other", &target(9000.0, 9000.0))]).rows;
        assert!(rows.iter().all(|row| row[1] == Entry::Text("1 =".into())), "{rows:?}");
    }
}

//! The bars of several sides, place by place.

use drivelab_core::findings::{BarGroup, Bars};

use crate::view::amounts::{self, is_number};
use crate::view::chart::{Axis, Bar, Body, Chart, Hue, Table, Test, Unit};

/// This many groups are read out; the table has all.
const SAID_MAX: usize = 8;

/// The charts of all bars: the tests of one suite in one picture, and any other bars alone. Bars
/// of no length are left out.
pub fn suites(all: &[Bars]) -> Vec<Chart> {
    let mut suites: Vec<Vec<&Bars>> = Vec::new();
    for bars in all {
        let of_it = |suite: &&mut Vec<&Bars>| {
            !bars.benchmark.is_empty()
                && suite.first().is_some_and(|first| first.benchmark == bars.benchmark)
                && suite.first().is_some_and(|first| first.sides == bars.sides)
        };
        match suites.iter_mut().find(of_it) {
            Some(suite) => suite.push(bars),
            None => suites.push(vec![bars]),
        }
    }
    suites.iter().filter_map(|suite| suite_of(suite)).collect()
}

fn suite_of(suite: &[&Bars]) -> Option<Chart> {
    let (first, parts) = match suite {
        [] => return None,
        [alone] => return groups(alone),
        [first, ..] => (first, suite.iter().filter_map(|bars| drawn(bars)).collect::<Vec<_>>()),
    };
    let said: Vec<String> = parts.iter().map(|part| part.said()).collect();
    let heads = ["test".to_owned(), String::new()].into_iter().chain(first.sides.clone());
    let rows = parts.iter().flat_map(|part| {
        part.rows().into_iter().map(|row| [part.title.clone()].into_iter().chain(row).collect())
    });
    if parts.is_empty() {
        return None;
    }
    let table = Table { heads: heads.collect(), rows: rows.collect() };
    Some(Chart {
        title: first.benchmark.clone(),
        note: first.note.clone(),
        alt: format!(
            "{}, as bars, {}. {}.",
            first.benchmark,
            first.sides.join(" and "),
            said.join(". ")
        ),
        table,
        body: Body::Columns { sides: first.sides.clone(), tests: parts },
    })
}

/// The chart of bars in groups; `None` where no bar has a length.
pub fn groups(bars: &Bars) -> Option<Chart> {
    let part = drawn(bars)?;
    let heads = [String::new()].into_iter().chain(bars.sides.clone());
    Some(Chart {
        title: bars.title.clone(),
        note: bars.note.clone(),
        alt: format!("{}, as bars, {}.", bars.title, part.said_of(&bars.sides.join(" and "))),
        table: Table { heads: heads.collect(), rows: part.rows() },
        body: Body::Groups { axis: part.axis, sides: bars.sides.clone(), groups: part.groups },
    })
}

/// The bars of one test, ready to be drawn; `None` where none has a length.
fn drawn(bars: &Bars) -> Option<Test> {
    let groups: Vec<(String, Vec<Option<Bar>>)> =
        bars.groups.iter().map(|group| (group.label.clone(), of_group(bars, group))).collect();
    let drawn = groups.iter().flat_map(|(_, bars)| bars).flatten();
    let reach = |bar: &Bar| bar.interval.map_or(bar.value, |(_, high)| high);
    let to = drawn.map(reach).fold(0.0, f64::max);
    let axis = Axis {
        quantity: bars.quantity.clone(),
        unit: Unit::from(bars.unit),
        is_log: false,
        from: 0.0,
        to,
    };
    (to > 0.0).then(|| Test { title: bars.title.clone(), axis, groups })
}

impl Test {
    fn rows(&self) -> Vec<Vec<String>> {
        let text = |bar: &Option<Bar>| bar.as_ref().map_or("none".into(), |bar| bar.text.clone());
        let row = |(label, bars): &(String, Vec<Option<Bar>>)| {
            [label.clone()].into_iter().chain(bars.iter().map(text)).collect()
        };
        self.groups.iter().map(row).collect()
    }

    fn said(&self) -> String {
        self.said_of(&self.title)
    }

    fn said_of(&self, what: &str) -> String {
        let rows: Vec<String> =
            self.rows().iter().take(SAID_MAX).map(|row| row.join(", ")).collect();
        format!("{what}: {}", rows.join("; "))
    }
}

fn of_group(bars: &Bars, group: &BarGroup) -> Vec<Option<Bar>> {
    let side = |side: usize| -> Option<Bar> {
        let (mean, deviation) = (*group.values.get(side)?)?;
        (is_number(mean) && mean >= 0.0 && is_number(deviation)).then(|| Bar {
            label: format!("{}, {}", group.label, bars.sides[side]),
            value: mean,
            interval: (deviation > 0.0).then(|| ((mean - deviation).max(0.0), mean + deviation)),
            text: amounts::show(mean, bars.unit),
            is_suspect: false,
            hue: Hue::Series(side as u8),
        })
    };
    (0..bars.sides.len()).map(side).collect()
}

//! The bars of several sides, place by place.

use drivelab_core::findings::{BarGroup, Bars};

use crate::view::amounts::{self, is_number};
use crate::view::chart::{Axis, Bar, Body, Chart, Hue, Table, Unit};

/// So many groups are read out; the table has all.
const SAID_MAX: usize = 8;

/// The chart of bars in groups; `None` where no bar has a length.
pub fn groups(bars: &Bars) -> Option<Chart> {
    let groups: Vec<(String, Vec<Option<Bar>>)> =
        bars.groups.iter().map(|group| (group.label.clone(), of_group(bars, group))).collect();
    let drawn = || groups.iter().flat_map(|(_, bars)| bars).flatten();
    let reach = |bar: &Bar| bar.interval.map_or(bar.value, |(_, high)| high);
    let top = drawn().map(reach).fold(0.0, f64::max);
    if top <= 0.0 {
        return None;
    }
    let text = |bar: &Option<Bar>| bar.as_ref().map_or("none".into(), |bar| bar.text.clone());
    let row = |(label, bars): &(String, Vec<Option<Bar>>)| {
        [label.clone()].into_iter().chain(bars.iter().map(text)).collect::<Vec<String>>()
    };
    let said: Vec<String> =
        groups.iter().take(SAID_MAX).map(|group| row(group).join(", ")).collect();
    let heads = [String::new()].into_iter().chain(bars.sides.clone());
    Some(Chart {
        title: bars.title.clone(),
        note: bars.note.clone(),
        alt: format!("{}, as bars, {}: {}.", bars.title, bars.sides.join(" and "), said.join("; ")),
        table: Table { heads: heads.collect(), rows: groups.iter().map(row).collect() },
        body: Body::Groups {
            axis: Axis {
                quantity: bars.quantity.clone(),
                unit: Unit::from(bars.unit),
                is_log: false,
                from: 0.0,
                to: top,
            },
            sides: bars.sides.clone(),
            groups,
        },
    })
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

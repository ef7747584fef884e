//! Estimates of several sides, load by load, on logarithmic axes.

use drivelab_core::findings::{self, Dots};
use drivelab_stats::Estimate;

use crate::units;
use crate::view::amounts::{self, is_number};
use crate::view::chart::{Axis, Bar, Body, Chart, Hue, Table, Unit};

/// This many rows are read out; the table has all.
const SAID_MAX: usize = 8;

/// Rows of one quantity.
#[derive(Debug, Clone, PartialEq)]
pub struct DotPanel {
    /// The axis of the values; logarithmic.
    pub axis: Axis,
    /// The rows, from the top: their names and a mark for each side.
    pub rows: Vec<(String, Vec<Option<Bar>>)>,
}

/// The chart; `None` where no value can be drawn.
pub fn dots(dots: &Dots) -> Option<Chart> {
    let panels: Vec<DotPanel> =
        dots.panels.iter().filter_map(|panel| drawn(&dots.sides, panel)).collect();
    let all = || panels.iter().flat_map(|panel| &panel.rows);
    if panels.is_empty() {
        return None;
    }
    let row = |(label, marks): &(String, Vec<Option<Bar>>)| {
        let text = |bar: &Option<Bar>| bar.as_ref().map_or("none".into(), |bar| bar.text.clone());
        [label.clone()].into_iter().chain(marks.iter().map(text)).collect::<Vec<String>>()
    };
    let said: Vec<String> = all().take(SAID_MAX).map(|it| row(it).join(", ")).collect();
    let heads = [String::new()].into_iter().chain(dots.sides.clone()).collect();
    Some(Chart {
        title: dots.title.clone(),
        note: dots.note.clone(),
        alt: format!("{}, {}: {}.", dots.title, dots.sides.join(" and "), said.join("; ")),
        table: Table { heads, rows: all().map(row).collect() },
        body: Body::Dots { sides: dots.sides.clone(), panels },
    })
}

fn drawn(sides: &[String], panel: &findings::DotPanel) -> Option<DotPanel> {
    let rows: Vec<(String, Vec<Option<Bar>>)> = panel
        .rows
        .iter()
        .map(|row| {
            let mark = |(side, value): (usize, &Option<Estimate>)| {
                let estimate = value.filter(|it| is_number(it.value) && it.value > 0.0)?;
                let value = amounts::show(estimate.value, panel.unit);
                let text = format!("{value} {}", units::half_width(&estimate));
                Some(Bar {
                    label: format!("{}, {}", row.label, sides.get(side)?),
                    value: estimate.value,
                    interval: estimate.low.zip(estimate.high),
                    text: text.trim_end().to_owned(),
                    is_suspect: false,
                    hue: Hue::Series(side as u8),
                })
            };
            (row.label.clone(), row.values.iter().enumerate().map(mark).collect())
        })
        .collect();
    axis(&panel.quantity, Unit::from(panel.unit), rows.iter().flat_map(|(_, marks)| marks))
        .map(|axis| DotPanel { axis, rows })
}

/// The axis that holds all marks with their intervals.
pub(super) fn axis<'a>(
    quantity: &str,
    unit: Unit,
    marks: impl Iterator<Item = &'a Option<Bar>>,
) -> Option<Axis> {
    let ends = |bar: &Bar| {
        let (low, high) = bar.interval.unwrap_or((bar.value, bar.value));
        [low, bar.value, high]
    };
    Axis::around(quantity, unit, &marks.flatten().flat_map(ends).collect::<Vec<f64>>())
}

//! The figures: for each test the means and deviations before and after, over record sizes or
//! workers.

use super::phases::{after, before};
use crate::battery::{self, Cell, Quantity};
use crate::experiment::Setting;
use drivelab_core::findings::{Axis, Entry, Head, Line, LineKind, Picture, Table, Unit};
use drivelab_core::quantity::percent;
use drivelab_core::summary::Summary;
use drivelab_stats::Description;

/// Mean and deviation of a cell under a label, in its own quantity.
fn told(summary: &Summary, cell: &Cell, label: &str) -> Option<Description> {
    let scale = match cell.quantity {
        Quantity::Bytes(record) => record as f64,
        Quantity::Operations => 1.0,
    };
    let values: Vec<f64> =
        battery::values(summary, cell, label).into_iter().map(|it| it * scale).collect();
    Description::of(&values).ok()
}

/// All cells in numbers.
pub fn table(setting: &Setting<'_>, summary: &Summary, cells: &[&Cell]) -> Table {
    let cycles = setting.options.torture.cycles.max(1);
    let head = |name: &str| Head { name: name.into(), unit: None };
    let entry = |cell: &Cell, label: &str| {
        let Some(found) = told(summary, cell, label) else { return Entry::Nothing };
        let deviation = found.deviation.map_or("unknown".into(), |it| percent(it / found.mean));
        let n = battery::values(summary, cell, label).len();
        let mean = battery::amount(cell.quantity, found.mean);
        Entry::Text(format!("{mean} (deviation {deviation}, n {n})"))
    };
    let row = |cell: &&Cell| {
        vec![
            Entry::Text(cell.name.clone()),
            entry(cell, &before(cycles, 0)),
            entry(cell, &after(cycles, 0)),
        ]
    };
    Table {
        title: "Before and after".into(),
        note: if cycles > 1 { "Of the first cycle.".into() } else { String::new() },
        heads: ["cell", "before", "after"].map(head).to_vec(),
        rows: cells.iter().map(row).collect(),
    }
}

/// A picture for each test with several places.
pub fn pictures(setting: &Setting<'_>, summary: &Summary, cells: &[&Cell]) -> Vec<Picture> {
    let mut rows: Vec<String> = Vec::new();
    for cell in cells.iter().map(|cell| test(cell)) {
        if !rows.contains(&cell) {
            rows.push(cell);
        }
    }
    let of = |row: &String| {
        let mine: Vec<&Cell> = cells.iter().copied().filter(|cell| test(cell) == *row).collect();
        (mine.len() > 1).then(|| picture(setting, summary, row, &mine))
    };
    rows.iter().filter_map(of).collect()
}

/// The test of a cell: workers in one directory are places of it, one alone included.
fn test(cell: &Cell) -> String {
    cell.row.trim_end_matches(", one directory").into()
}

fn picture(setting: &Setting<'_>, summary: &Summary, row: &str, cells: &[&Cell]) -> Picture {
    let cycles = setting.options.torture.cycles.max(1);
    let mut lines = Vec::new();
    for (word, label) in [("before", before(cycles, 0)), ("after", after(cycles, 0))] {
        let points: Vec<(f64, f64, f64)> = cells
            .iter()
            .filter_map(|cell| {
                let found = told(summary, cell, &label)?;
                Some((cell.column as f64, found.mean, found.deviation.unwrap_or(0.0)))
            })
            .collect();
        let line = |label: String, kind, of: fn(&(f64, f64, f64)) -> f64| Line {
            label,
            kind,
            points: points.iter().map(|at| (at.0, of(at))).collect(),
        };
        lines.push(line(word.into(), LineKind::Measured, |at| at.1));
        let deviation = format!("deviation {word}");
        lines.push(line(deviation.clone(), LineKind::Limit, |at| at.1 - at.2));
        lines.push(line(deviation, LineKind::Limit, |at| at.1 + at.2));
    }
    let is_names = cells[0].action.is_metadata();
    let x = match is_names {
        true => Axis { quantity: "workers".into(), unit: Unit::Count },
        false => Axis { quantity: "record size".into(), unit: Unit::Bytes },
    };
    let (quantity, unit) = match cells[0].quantity {
        Quantity::Bytes(_) => ("bytes per second", Unit::BytesPerS),
        Quantity::Operations => ("operations per second", Unit::Iops),
    };
    Picture {
        title: row.into(),
        note: "Means before and after the torture, one standard deviation of a repetition to each \
               side. Overlap proves nothing: the verdicts are in the comparison."
            .into(),
        x,
        y: Axis { quantity: quantity.into(), unit },
        lines,
        marks: Vec::new(),
    }
}

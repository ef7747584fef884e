//! The figures: for each test the means and deviations before and after, over record sizes or
//! workers.

use super::phases::{after, before};
use crate::battery::{self, Cell, Quantity};
use crate::experiment::Setting;
use drivelab_core::findings::{BarGroup, Bars, Entry, Head, Table, Unit};
use drivelab_core::quantity::{percent, size};
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

/// A figure for each test, as the article drew them.
pub fn bars(setting: &Setting<'_>, summary: &Summary, cells: &[&Cell]) -> Vec<Bars> {
    let mut tests: Vec<String> = Vec::new();
    for name in cells.iter().map(|cell| test(cell)) {
        if !tests.contains(&name) {
            tests.push(name);
        }
    }
    let of = |(place, name): (usize, &String)| {
        let of_test = |cell: &&Cell| test(cell) == *name;
        let mut mine: Vec<&Cell> = cells.iter().copied().filter(of_test).collect();
        mine.sort_by_key(|cell| cell.column);
        figure(setting, summary, name, &mine, place == 0)
    };
    tests.iter().enumerate().map(of).collect()
}

/// The test of a cell: workers in one directory are places of it, one alone included.
fn test(cell: &Cell) -> String {
    cell.row.trim_end_matches(", one directory").into()
}

/// A cell's place in its test.
fn place(cell: &Cell) -> String {
    match (cell.action.is_metadata(), cell.column) {
        (true, 1) => "1 worker".into(),
        (true, workers) => format!("{workers} workers"),
        (false, record) => size(record),
    }
}

fn figure(
    setting: &Setting<'_>,
    summary: &Summary,
    name: &str,
    cells: &[&Cell],
    is_first: bool,
) -> Bars {
    let cycles = setting.options.torture.cycles.max(1);
    let labels = [before(cycles, 0), after(cycles, 0)];
    let value = |cell: &Cell, label: &String| {
        told(summary, cell, label).map(|found| (found.mean, found.deviation.unwrap_or(0.0)))
    };
    let group = |cell: &&Cell| BarGroup {
        label: place(cell),
        values: labels.iter().map(|label| value(cell, label)).collect(),
    };
    let (quantity, unit) = match cells[0].quantity {
        Quantity::Bytes(_) => ("bytes per second", Unit::BytesPerS),
        Quantity::Operations => ("IOPS", Unit::Iops),
    };
    let note = "Means before and after the torture; the thin line is one standard deviation of a \
                repetition to each side. Overlap proves nothing: the verdicts are in the \
                comparison.";
    let benchmark = match (cells[0].quantity, cells[0].action.is_metadata()) {
        (_, true) => "Metadata, as Metarates",
        (Quantity::Bytes(_), _) => "Throughput, as IOzone",
        (Quantity::Operations, _) => "Operations, as IOzone -O",
    };
    Bars {
        title: name.into(),
        benchmark: benchmark.into(),
        table: String::new(),
        // Said once it helps; said twenty times it is noise.
        note: if is_first { note.into() } else { String::new() },
        quantity: quantity.into(),
        unit,
        sides: ["before", "after"].map(String::from).to_vec(),
        groups: cells.iter().map(group).collect(),
    }
}

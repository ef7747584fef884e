//! From summaries to the values of cells.

use super::{Cell, Group, cells};
use crate::compare::Side;
use drivelab_core::comparison::{self, Metric, Sample};
use drivelab_core::findings::{Entry, Head, Table};
use drivelab_core::quantity;
use drivelab_core::study::Scale;
use drivelab_core::summary::{StepSummary, Summary};
use drivelab_stats::{Estimate, Verdict};

/// A larger ratio is said to be larger.
const RATIO_MAX: f64 = 1000.0;

/// What a cell is told in.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub enum Quantity {
    /// Bytes a second, of operations of this many bytes.
    Bytes(u64),
    /// Operations a second.
    Operations,
}

/// What a cell did in one step, and in how many seconds.
fn done(cell: &Cell, step: &StepSummary) -> Option<(f64, f64)> {
    let kind = step.streams.first()?.kinds.get(&cell.action)?;
    let is_whole = !cell.action.is_metadata() || kind.rates.errors == 0;
    let seconds = kind.seconds.filter(|seconds| is_whole && *seconds > 0.0)?;
    (kind.rates.ops > 0).then_some((kind.rates.ops as f64, seconds))
}

/// The repetitions of a cell that can be believed.
fn repetitions(summary: &Summary, cell: &Cell, label: &str) -> Vec<(f64, f64)> {
    let name = format!("{}{label}", cell.load);
    let is_sound = |step: &&StepSummary| {
        step.name == name && step.valid != Some(false) && step.incomplete.is_none()
    };
    summary.steps.iter().filter(is_sound).filter_map(|step| done(cell, step)).collect()
}

/// Operations a second of a cell, one value for each repetition that can be believed.
pub fn values(summary: &Summary, cell: &Cell, label: &str) -> Vec<f64> {
    let each = repetitions(summary, cell, label);
    each.into_iter().map(|(operations, seconds)| operations / seconds).collect()
}

/// The values of a cell for a comparison; `None`: it was not measured.
pub fn sample(summary: &Summary, cell: &Cell, label: &str) -> Option<Sample> {
    let name = format!("{}{label}", cell.load);
    let known = summary.cells.iter().find(|known| known.name == name)?;
    // Their geometric mean is all that the cell did by all the time it took.
    let values = drivelab_stats::centred(&repetitions(summary, cell, label))
        .unwrap_or_else(|_| values(summary, cell, label));
    let suspect = known.against();
    let name = cell.name.clone();
    (!values.is_empty() || suspect.is_some()).then_some(Sample {
        name,
        metric: Metric::Iops,
        values,
        is_ordered: false,
        suspect,
    })
}

/// One side of a comparison: the cells under a label.
pub fn side(summary: &Summary, groups: &[Group], label: &str, name: &str) -> Side {
    let samples = cells(groups).into_iter().filter_map(|cell| sample(summary, cell, label));
    Side { name: name.into(), samples: samples.collect(), facts: Vec::new(), is_by_run: false }
}

/// All that a cell did by all the time it took, in its own quantity, as its line in the report.
pub fn estimate(summary: &Summary, cell: &Cell, label: &str) -> Option<Estimate> {
    let scale = match cell.quantity {
        Quantity::Bytes(record) => record as f64,
        Quantity::Operations => 1.0,
    };
    let each = repetitions(summary, cell, label);
    let scaled: Vec<(f64, f64)> =
        each.into_iter().map(|(operations, seconds)| (operations * scale, seconds)).collect();
    Estimate::rate_of(&scaled)
}

/// A value in words.
pub fn amount(quantity: Quantity, value: f64) -> String {
    match quantity {
        Quantity::Bytes(_) => quantity::bandwidth(value),
        Quantity::Operations => quantity::operations(value),
    }
}

/// An estimate in words: `1.2 GB/s ± 3 %`.
pub fn words(quantity: Quantity, estimate: &Estimate) -> String {
    format!("{} {}", amount(quantity, estimate.value), quantity::half_width(estimate))
}

/// What may settle cells that the noise left open: five repetitions become ten without `--quick`.
pub fn advice<'a>(
    scale: Scale,
    mut open: impl Iterator<Item = &'a comparison::Cell>,
) -> &'static str {
    match scale == Scale::Quick && open.any(|cell| cell.needs_n.is_some_and(|n| n <= 10)) {
        true => "Without --quick there are ten repetitions instead of five.",
        false => "Repeat it while nothing else runs.",
    }
}

/// A change with its interval: `−13.4 %, −14.9 to −11.8`.
pub fn change(cell: &comparison::Cell) -> String {
    let signed = |ratio: f64| match ratio > RATIO_MAX {
        true => format!("over {:+.0}", 100.0 * (RATIO_MAX - 1.0)),
        false => format!("{:+.1}", 100.0 * (ratio - 1.0)).replace('-', "−"),
    };
    let Some(ratio) = cell.ratio else { return "unknown".into() };
    match ratio.low.zip(ratio.high) {
        Some((low, high)) => {
            format!("{} %, {} to {}", signed(ratio.value), signed(low), signed(high))
        }
        None if cell.n.0.min(cell.n.1) < 2 => {
            format!("{} %, by one value", signed(ratio.value))
        }
        None => format!("{} %, all values alike", signed(ratio.value)),
    }
}

/// Said below a table with such a figure.
const BARE: &str =
    "Without ±: its repetitions differ too much for an interval, or there is but one.";

/// Cells side by side: a line for each row, a column for each place.
pub fn matrix(
    summary: &Summary,
    title: &str,
    cells: &[&Cell],
    head: impl Fn(u64) -> String,
) -> Table {
    let (mut rows, mut columns): (Vec<&str>, Vec<u64>) = (Vec::new(), Vec::new());
    for cell in cells {
        if !rows.contains(&cell.row.as_str()) {
            rows.push(&cell.row);
        }
        if !columns.contains(&cell.column) {
            columns.push(cell.column);
        }
    }
    let told = |row: &str, column: u64| {
        let cell = cells.iter().find(|cell| cell.row == row && cell.column == column)?;
        Some((cell, estimate(summary, cell, "")?))
    };
    let entry = |row: &str, column: u64| {
        told(row, column).map_or(Entry::Nothing, |(cell, it)| {
            Entry::Text(match it.low {
                Some(_) => words(cell.quantity, &it),
                None => amount(cell.quantity, it.value),
            })
        })
    };
    let mut all = rows.iter().flat_map(|row| columns.iter().map(move |column| (*row, *column)));
    let has_bare = all.any(|(row, column)| told(row, column).is_some_and(|it| it.1.low.is_none()));
    let name = |name: String| Head { name, unit: None };
    let heads = [name("test".into())].into_iter().chain(columns.iter().map(|it| name(head(*it))));
    let line = |row: &&str| {
        let first = Entry::Text((*row).to_string());
        [first].into_iter().chain(columns.iter().map(|column| entry(row, *column))).collect()
    };
    Table {
        title: title.into(),
        note: if has_bare { BARE.into() } else { String::new() },
        heads: heads.collect(),
        rows: rows.iter().map(line).collect(),
    }
}

/// What a cell came to, for counting and telling.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub enum Outcome {
    /// By more than the band.
    Slower,
    /// By more than the band.
    Faster,
    /// Within the band.
    Same,
    /// Nothing can be told.
    Open,
}

/// Without noise the size alone decides.
pub fn outcome(cell: &comparison::Cell, delta: f64) -> Option<Outcome> {
    let edge = -(1.0 - delta).ln();
    let by_size = |gain: f64| match gain {
        gain if gain < -edge => Outcome::Slower,
        gain if gain > edge => Outcome::Faster,
        _ => Outcome::Same,
    };
    Some(match cell.verdict? {
        Verdict::Degenerate => by_size(cell.gain()),
        Verdict::Changed if cell.gain() < 0.0 => Outcome::Slower,
        Verdict::Changed => Outcome::Faster,
        Verdict::Identical | Verdict::Equivalent | Verdict::ChangedNegligible => Outcome::Same,
        Verdict::ChangedMaybeRelevant | Verdict::Inconclusive => Outcome::Open,
    })
}

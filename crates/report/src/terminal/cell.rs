//! One cell in one line, for who waits for the others.

use drivelab_core::summary::CellSummary;

use crate::text::printable;
use crate::units;
use crate::view::headline;

/// Name, rate with its interval, p99; where it cannot be believed, `SUSPECT` with the first reason.
pub fn cell_line(cell: &CellSummary) -> String {
    let rows = headline::rows(cell);
    let Some(row) = rows.first() else { return printable(&cell.name) };
    let mut text = format!("{}: {}", row.full_label(), row.rate());
    let margin = row.margin();
    if !margin.is_empty() {
        text.push_str(&format!(" {margin}"));
    }
    if let Some(p99) = row.latency.and_then(|latency| latency.p99) {
        text.push_str(&format!(", p99 {}", units::time(p99 as f64)));
    }
    if let (Some(false), Some(reason)) = (cell.valid, cell.reasons.first()) {
        text.push_str(&format!("; {}", reason.text));
    }
    printable(&text)
}

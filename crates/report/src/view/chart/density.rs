//! One stream over time as a heat map of its latencies, and its rate in each interval as dots.
//!
//! A percentile over time hides that there are two kinds of I/Os; the whole histogram of each
//! moment shows them as two bands.

use drivelab_core::op::Action;
use drivelab_core::run::Run;
use drivelab_core::summary::{CellSummary, Summary};
use drivelab_core::tally::Tally;
use drivelab_stats::Histogram;

use crate::units;
use crate::view::chart::bars::hue;
use crate::view::chart::spans::{Piece, spans};
use crate::view::chart::time::{self, pieces};
use crate::view::chart::{Axis, Body, Chart, Field, Panel, STRENGTH_MAX, Table, Unit};

/// Columns of time, at most.
const COLUMNS_MAX: usize = 120;
/// Rows in a decade of latency.
const ROWS_EACH_DECADE: f64 = 10.0;
/// Shares of the I/Os of a column from which a field is a shade stronger.
const SHARES: [f64; STRENGTH_MAX as usize - 1] = [0.001, 0.01, 0.05, 0.2];
/// Rows of numbers, about.
const NUMBERS_MAX: usize = 24;

/// Where the columns and rows of a map lie.
struct Grid {
    columns: Vec<(f64, f64)>,
    /// The number of the lowest row, in steps of the logarithm from 1 ns.
    lowest: i64,
    highest: i64,
}

/// The chart of one stream of a cell; `None` where no latency was recorded over at least two
/// intervals.
pub fn density(run: &Run, summary: &Summary, cell: &CellSummary, stream: usize) -> Option<Chart> {
    let number = u32::try_from(stream).ok()?;
    let kinds: Vec<Action> = cell.streams.get(stream)?.kinds.keys().copied().collect();
    let pieces = pieces(run, summary, &cell.name, number);
    let end = pieces.last()?.to;
    let mut panels = Vec::new();
    let mut rows = Vec::new();
    for kind in kinds.iter().copied().filter(|kind| !kind.goes_along() || kinds.len() == 1) {
        let found = columns(&pieces, number, kind, end);
        if found.len() > 1
            && let Some(panel) = panel(&found, kind, kinds.len() > 1)
        {
            rows.extend(numbers(&found, kind));
            panels.push(panel);
        }
    }
    if panels.is_empty() || end <= 0.0 {
        return None;
    }
    panels.push(time::rate_points(cell, stream, &pieces)?);
    let heads = ["time", "kind", "I/Os", "p50", "p99", "max"].map(str::to_owned).to_vec();
    let alt = format!(
        "Latency over time as a heat map, of {} in {}.",
        kinds.iter().map(|kind| format!("{}s", kind.word())).collect::<Vec<_>>().join(" and "),
        units::time(end * 1e9)
    );
    Some(Chart {
        title: "Latency over time".to_owned(),
        note: "Each column is a moment, and its fields are the latencies of the I/Os of that \
               moment: the stronger, the larger their share, in steps at 0.1, 1, 5 and 20 %. The \
               palest field can be a single I/O. Two bands are two ways through the drive; a \
               plume upwards is what waits. Below, a dot is the rate of one interval."
            .to_owned(),
        alt,
        body: Body::Lines {
            x: Axis {
                quantity: "seconds".to_owned(),
                unit: Unit::Seconds,
                is_log: false,
                from: 0.0,
                to: end,
            },
            panels,
            spans: spans(&pieces, number),
            seams: pieces.iter().skip(1).map(|piece| piece.from).collect(),
            stops: Vec::new(),
        },
        table: Table { heads, rows },
    })
}

/// The histograms of one kind by columns of time, those without an I/O left out.
fn columns(
    pieces: &[Piece<'_>],
    stream: u32,
    kind: Action,
    end: f64,
) -> Vec<((f64, f64), Histogram)> {
    let mut all = Vec::new();
    for piece in pieces {
        let of_stream = || piece.step.tallies.iter().filter(|tally| tally.stream == stream);
        let mut ends: Vec<u64> = of_stream().map(|tally| tally.to).collect();
        ends.sort_unstable();
        ends.dedup();
        // Workers end an interval a little apart: those are one.
        ends.dedup_by(|next, kept| piece.place(*next as f64) - piece.place(*kept as f64) < 1e-3);
        let room = COLUMNS_MAX as f64 * (piece.to - piece.from) / end;
        let each = ends.len().div_ceil((room as usize).max(1)).max(1);
        let mut from = piece.from;
        for chunk in ends.chunks(each) {
            let Some(last) = chunk.last() else { continue };
            // The last worker of an interval may be a little late.
            let to = piece.place(*last as f64 + 1e6).min(piece.to);
            let inside = |tally: &&Tally| {
                let middle =
                    f64::midpoint(piece.place(tally.from as f64), piece.place(tally.to as f64));
                middle >= from && middle < to
            };
            if let Some(merged) = merged(of_stream().filter(inside), kind) {
                all.push(((from, to), merged));
            }
            from = to;
        }
    }
    all
}

/// Response times where there are any, else service times, of several tallies.
fn merged<'a>(tallies: impl Iterator<Item = &'a Tally>, kind: Action) -> Option<Histogram> {
    let mut merged: Option<Histogram> = None;
    for tally in tallies.flat_map(|tally| &tally.kinds).filter(|tally| tally.kind == kind) {
        let part = tally.response.as_ref().unwrap_or(&tally.service);
        match &mut merged {
            Some(merged) => merged.merge(part),
            None => merged = Some(part.clone()),
        }
    }
    merged.filter(|histogram| !histogram.is_empty())
}

fn row_of(value_ns: f64) -> i64 {
    (value_ns.max(1.0).log10() * ROWS_EACH_DECADE).floor() as i64
}

fn edge(row: i64) -> f64 {
    10f64.powf(row as f64 / ROWS_EACH_DECADE)
}

fn panel(found: &[((f64, f64), Histogram)], kind: Action, is_named: bool) -> Option<Panel> {
    let lowest = found.iter().map(|(_, histogram)| row_of(histogram.min() as f64)).min()?;
    let highest = found.iter().map(|(_, histogram)| row_of(histogram.max() as f64)).max()?;
    let grid = Grid { columns: found.iter().map(|(at, _)| *at).collect(), lowest, highest };
    let rows = usize::try_from(grid.highest - grid.lowest + 1).ok()?;
    let mut fields = Vec::new();
    for (column, (_, histogram)) in grid.columns.iter().zip(found) {
        let mut counts = vec![0u64; rows];
        for (low, high, count) in histogram.iter_nonzero() {
            let middle = f64::midpoint(low as f64, high as f64);
            let row = row_of(middle).clamp(grid.lowest, grid.highest) - grid.lowest;
            counts[row as usize] += count;
        }
        for (row, count) in counts.into_iter().enumerate().filter(|(_, count)| *count > 0) {
            let share = count as f64 / histogram.count() as f64;
            let above = SHARES.iter().filter(|least| share >= **least).count();
            let row = grid.lowest + row as i64;
            fields.push(Field {
                x: *column,
                y: (edge(row), edge(row + 1)),
                hue: hue(Some(kind)),
                strength: above as u8 + 1,
            });
        }
    }
    let of = if is_named { format!("latency of {}s", kind.word()) } else { "latency".to_owned() };
    // A few rows alone would be a bar, not a picture.
    let more = (8 - (grid.highest - grid.lowest)).max(0) / 2;
    let y = Axis {
        quantity: of,
        unit: Unit::Nanoseconds,
        is_log: true,
        from: edge(grid.lowest - more),
        to: edge(grid.highest + 1 + more),
    };
    Some(Panel { y, lines: Vec::new(), points: Vec::new(), fields })
}

fn numbers(found: &[((f64, f64), Histogram)], kind: Action) -> Vec<Vec<String>> {
    let each = found.len().div_ceil(NUMBERS_MAX).max(1);
    let row = |chunk: &[((f64, f64), Histogram)]| {
        let mut all = Histogram::new();
        chunk.iter().for_each(|(_, part)| all.merge(part));
        let (from, to) = (chunk[0].0.0, chunk[chunk.len() - 1].0.1);
        let quantile = |share| {
            let value = drivelab_stats::supported_quantile(&all, share);
            value.map_or("too few I/Os".to_owned(), |value| units::time(value as f64))
        };
        vec![
            format!("{from:.2} to {to:.2} s"),
            format!("{}s", kind.word()),
            units::count(all.count()),
            quantile(0.5),
            quantile(0.99),
            units::time(all.max() as f64),
        ]
    };
    found.chunks(each).map(row).collect()
}

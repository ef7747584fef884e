//! How the latencies of one stream are spread.

use drivelab_core::run::Run;
use drivelab_core::summary::{CellSummary, LatencyKind, cell_histogram};
use drivelab_stats::{Histogram, supported, supported_quantile};

use crate::units;
use crate::view::chart::bars::hue;
use crate::view::chart::{Axis, Body, Chart, Hue, Line, Panel, Point, Stroke, Table, Unit};

/// Percentiles that are marked on the curve.
const MARKED: [(f64, &str); 5] =
    [(0.5, "p50"), (0.9, "p90"), (0.99, "p99"), (0.999, "p99.9"), (0.9999, "p99.99")];

/// What to see in a distribution.
const NOTE: &str = "The share of I/Os that took longer than a time: 10 % is p90, 1 % is p99. A \
                    step to the right is a second path through the drive. The line ends at the \
                    last percentile that the sample supports; the last dot is the slowest I/O.";
/// Columns of the curves of two sides.
const SIDES_COLUMNS: usize = 150;

/// The share of I/Os slower than a time, for every kind of one stream of a cell, out to the last
/// percentile that the sample supports. `None` when nothing was recorded.
pub fn latency_distribution(
    run: &Run,
    cell: &CellSummary,
    stream: usize,
    columns: usize,
) -> Option<Chart> {
    let summary = cell.streams.get(stream)?;
    let mut panel =
        Panel { y: share_axis(1.0), lines: Vec::new(), points: Vec::new(), fields: Vec::new() };
    let mut rows = Vec::new();
    let is_open = summary.load.rate.is_some();
    let service = if is_open { "service" } else { "" };
    for kind in summary.kinds.keys().copied() {
        for (latency, word) in
            [(LatencyKind::Response, "response"), (LatencyKind::Service, service)]
        {
            let merged = cell_histogram(run, &cell.steps, stream as u32, kind, latency);
            let Some(merged) = merged.filter(|histogram| !histogram.is_empty()) else { continue };
            let label = format!("{} {word}", kind.word()).trim_end().to_owned();
            let curve = slower(&merged, columns);
            panel.points.extend(marks(&label, hue(Some(kind)), &merged, &curve));
            rows.push(percentile_row(&label, &merged));
            let is_dashed = kind.goes_along() || (latency == LatencyKind::Service && is_open);
            let stroke = if is_dashed { Stroke::Dashed } else { Stroke::Solid };
            panel.lines.push(Line {
                label,
                hue: hue(Some(kind)),
                stroke,
                pieces: vec![curve],
                is_measured: true,
            });
        }
    }
    if panel.lines.is_empty() {
        return None;
    }
    let heads = ["kind", "I/Os", "p50", "p90", "p99", "p99.9", "p99.99", "max"];
    Some(chart_of(panel, Table { heads: heads.map(str::to_owned).to_vec(), rows }))
}

/// The latency of one kind of I/O on two sides, over each other; `None` where a side has none.
/// The sides are the merged histograms of each.
pub fn latency_of_sides(title: &str, sides: [(&str, &Histogram); 2]) -> Option<Chart> {
    if sides.iter().any(|(_, histogram)| histogram.is_empty()) {
        return None;
    }
    let mut panel =
        Panel { y: share_axis(1.0), lines: Vec::new(), points: Vec::new(), fields: Vec::new() };
    let mut rows = Vec::new();
    for ((name, histogram), stroke) in sides.into_iter().zip([Stroke::Dashed, Stroke::Solid]) {
        let hue = if stroke == Stroke::Dashed { Hue::Other } else { Hue::Read };
        let curve = slower(histogram, SIDES_COLUMNS);
        panel.points.extend(marks(name, hue, histogram, &curve));
        rows.push(percentile_row(name, histogram));
        let label = name.to_owned();
        panel.lines.push(Line { label, hue, stroke, pieces: vec![curve], is_measured: true });
    }
    let heads = ["side", "I/Os", "p50", "p90", "p99", "p99.9", "p99.99", "max"];
    let note =
        "The share of I/Os that took longer than a time. Further to the left is faster.".to_owned();
    let table = Table { heads: heads.map(str::to_owned).to_vec(), rows };
    Some(Chart { note, title: title.to_owned(), ..chart_of(panel, table) })
}

/// A distribution as a chart, its axes around the curves.
fn chart_of(mut panel: Panel, table: Table) -> Chart {
    let times = || panel.lines.iter().flat_map(|line| line.pieces.iter().flatten()).copied();
    let low = times().map(|point| point.0).fold(f64::INFINITY, f64::min).max(1.0);
    let high = panel.points.iter().map(|point| point.at.0).fold(low, f64::max);
    let to = (high * 1.2).max(low * 2.0);
    panel.y = share_axis(floor_decade(times().map(|point| point.1).fold(1.0, f64::min)));
    Chart {
        title: "Latency".to_owned(),
        note: NOTE.to_owned(),
        alt: alt(&table.rows),
        body: Body::Lines {
            x: Axis {
                quantity: "time of one I/O".to_owned(),
                unit: Unit::Nanoseconds,
                is_log: true,
                from: low * 0.9,
                to,
            },
            panels: vec![panel],
            spans: Vec::new(),
            seams: Vec::new(),
            stops: Vec::new(),
        },
        table,
    }
}

fn share_axis(least: f64) -> Axis {
    let quantity = "share of I/Os slower".to_owned();
    Axis { quantity, unit: Unit::Share, is_log: true, from: least, to: 1.0 }
}

/// The supported percentiles and the slowest, as points that tell their value.
fn marks(label: &str, hue: Hue, merged: &Histogram, curve: &[(f64, f64)]) -> Vec<Point> {
    let point = |at: (f64, f64), word: &str| Point {
        at,
        hue,
        label: format!("{label} {word}: {}", units::time(at.0)),
    };
    let mut points = Vec::new();
    let least = curve.last().map_or(1.0, |(_, share)| *share);
    for (p, word) in MARKED {
        // Beyond the end of the curve the percentile is the slowest I/O itself.
        if let Some(value) = supported_quantile(merged, p).filter(|_| 1.0 - p >= least) {
            points.push(point((value as f64, 1.0 - p), word));
        }
    }
    points.extend(curve.last().map(|(_, share)| point((merged.max() as f64, *share), "max")));
    points
}

fn alt(rows: &[Vec<String>]) -> String {
    let said: Vec<String> = rows
        .iter()
        .map(|row| format!("{}: p50 {}, p99 {}, max {}", row[0], row[2], row[4], row[7]))
        .collect();
    format!("How latency is spread. {}.", said.join("; "))
}

fn floor_decade(share: f64) -> f64 {
    10f64.powi((share.max(1e-12) * 1.000_001).log10().floor() as i32).min(0.1)
}

/// `(time, share of values above it)` at the edges of buckets, thinned to `columns` per decade
/// range, as far as the sample supports the percentile.
fn slower(histogram: &Histogram, columns: usize) -> Vec<(f64, f64)> {
    let count = histogram.count();
    let (least, most) = (histogram.min().max(1) as f64, histogram.max().max(2) as f64);
    let column_width = (most / least).ln().max(1e-9) / columns.max(1) as f64;
    let mut above = count;
    let mut curve = vec![(least, 1.0)];
    let mut last_column = -1.0;
    let mut pending = None;
    for (_, high, in_bucket) in histogram.iter_nonzero() {
        above = above.saturating_sub(in_bucket);
        let share = above as f64 / count as f64;
        let time = (high as f64).clamp(least, most);
        if above == 0 {
            // Up to the slowest itself the share is still the last one.
            let last = pending.or(curve.last().copied()).map_or(1.0, |(_, share)| share);
            pending = Some((time, last));
            break;
        }
        if share < 0.5 && !supported(1.0 - share, count) {
            break;
        }
        let column = ((time / least).ln() / column_width).floor();
        pending = Some((time, share));
        if column > last_column {
            curve.push((time, share));
            (last_column, pending) = (column, None);
        }
    }
    curve.extend(pending);
    curve
}

fn percentile_row(label: &str, histogram: &Histogram) -> Vec<String> {
    let mut row = vec![label.to_owned(), units::count(histogram.count())];
    for p in [0.5, 0.9, 0.99, 0.999, 0.9999] {
        let value = supported_quantile(histogram, p);
        row.push(value.map_or("too few I/Os".to_owned(), |value| units::time(value as f64)));
    }
    row.push(units::time(histogram.max() as f64));
    row
}

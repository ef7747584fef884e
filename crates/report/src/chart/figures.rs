//! From a run to its pictures.

use drivelab_core::op::Action;
use drivelab_core::plan::Role;
use drivelab_core::run::{Run, StepRun};
use drivelab_core::summary::{
    CellStream, CellSummary, LatencyKind, Summary, cell_histogram, series, window,
};
use drivelab_stats::{Histogram, supported};

use crate::chart::ticks::round_up;
use crate::chart::{
    Axis, Bar, Body, Chart, Hue, Line, Point, Span, Table, Unit, min_max_per_column,
};
use crate::headline::{self, Row};
use crate::units;

/// More shaded gaps than this are not drawn; the table of cells counts them all.
const SPANS_MAX: usize = 40;

/// The meaning of a kind.
fn hue(kind: Option<Action>) -> Hue {
    match kind {
        Some(Action::Read) => Hue::Read,
        Some(Action::Write) => Hue::Write,
        _ => Hue::Other,
    }
}

/// The cells as bars with error bars; one chart for bytes a second, one for operations a second,
/// those without cells left out.
pub fn bars(summary: &Summary) -> Vec<Chart> {
    let rows: Vec<Row<'_>> = summary.cells.iter().flat_map(headline::rows).collect();
    let (large, small): (Vec<_>, Vec<_>) = rows.into_iter().partition(Row::in_bytes);
    [(large, Unit::Bandwidth, "Bandwidth"), (small, Unit::Operations, "Operations per second")]
        .into_iter()
        .filter_map(|(rows, unit, title)| bar_chart(&rows, unit, title))
        .collect()
}

fn bar_chart(rows: &[Row<'_>], unit: Unit, title: &str) -> Option<Chart> {
    let bars: Vec<Bar> = rows.iter().filter_map(|row| bar(row, unit)).collect();
    let reach = |bar: &Bar| bar.interval.map_or(bar.value, |(_, high)| high.max(bar.value));
    let top = bars.iter().map(reach).fold(0.0, f64::max);
    if bars.is_empty() {
        return None;
    }
    let heads = ["cell", "rate", "95 % interval", "n"].map(str::to_owned).to_vec();
    let table_rows = rows.iter().filter_map(|row| bar_numbers(row, unit)).collect();
    let quantity = match unit {
        Unit::Bandwidth => "bytes per second",
        _ => "operations per second",
    };
    Some(Chart {
        title: title.to_owned(),
        note: "Longer is faster. The thin line is the 95 % interval; where it is missing, \
               the data give none."
            .to_owned(),
        body: Body::Bars {
            axis: Axis {
                quantity: quantity.to_owned(),
                unit,
                is_log: false,
                from: 0.0,
                to: if top > 0.0 { top } else { 1.0 },
            },
            bars,
        },
        table: Table { heads, rows: table_rows },
    })
}

fn bar_estimate(row: &Row<'_>, unit: Unit) -> Option<drivelab_stats::Estimate> {
    match unit {
        Unit::Bandwidth => row.rates.bandwidth_bytes_per_s,
        _ => row.rates.iops,
    }
}

fn bar(row: &Row<'_>, unit: Unit) -> Option<Bar> {
    let estimate = bar_estimate(row, unit).filter(|estimate| estimate.value.is_finite())?;
    Some(Bar {
        label: row.full_label(),
        value: estimate.value,
        interval: estimate.low.zip(estimate.high),
        text: format!("{} {}", row.rate(), units::half_width(&estimate)),
        hue: hue(row.kind),
    })
}

fn bar_numbers(row: &Row<'_>, unit: Unit) -> Option<Vec<String>> {
    let estimate = bar_estimate(row, unit)?;
    let scale = match unit {
        Unit::Bandwidth => units::bandwidth_scale(estimate.value),
        _ => units::operations_scale(estimate.value),
    };
    let interval = units::interval(&estimate, scale).unwrap_or_else(|| "none".to_owned());
    Some(vec![row.full_label(), row.rate(), interval, estimate.n.to_string()])
}

/// The repetitions of one name, whole ones and others, in order.
fn steps<'run>(run: &'run Run, cell: &str) -> Vec<&'run StepRun> {
    let of_cell = |step: &&StepRun| step.begin.role == Role::Measure && step.begin.name == cell;
    run.steps.iter().filter(of_cell).collect()
}

/// The throughput of one stream of a cell over time, repetitions one after the other, drawn for
/// `columns` pixels. `None` when nothing was recorded.
pub fn over_time(run: &Run, cell: &CellSummary, stream: usize, columns: usize) -> Option<Chart> {
    let summary = cell.streams.get(stream)?;
    let in_bytes = headline::rows(cell)
        .iter()
        .any(|row| std::ptr::eq(row.load, &summary.load) && row.in_bytes());
    let unit = if in_bytes { Unit::Bandwidth } else { Unit::Operations };
    let steps = steps(run, &cell.name);
    let (starts, end) = starts(&steps, stream as u32);
    let mut lines = Vec::new();
    for kind in shown_kinds(summary) {
        let pieces: Vec<Vec<(f64, f64)>> = steps
            .iter()
            .zip(&starts)
            .map(|(step, (origin, at))| {
                let points = series(step, stream as u32, Some(kind));
                // A cut-off interval is an accident of the end: its rate means little.
                let whole = points.iter().filter(|point| !point.partial || points.len() < 3);
                whole
                    .map(|point| {
                        let middle = point.from as f64 + (point.to - point.from) as f64 / 2.0;
                        let rate = if in_bytes { point.bytes_per_s } else { point.ops_per_s };
                        (at + (middle - *origin as f64) / 1e9, rate)
                    })
                    .collect()
            })
            .collect();
        let label = format!("{}s", kind.word());
        lines.push(Line { label, hue: hue(Some(kind)), is_dashed: false, pieces });
    }
    let top = lines.iter().flat_map(|line| line.pieces.iter().flatten()).map(|point| point.1);
    let top = top.filter(|value| value.is_finite()).fold(0.0, f64::max);
    if lines.iter().all(|line| line.pieces.iter().all(Vec::is_empty)) || end <= 0.0 {
        return None;
    }
    let table = time_table(&lines, unit, columns);
    for line in &mut lines {
        let share = |piece: &Vec<(f64, f64)>| match (piece.first(), piece.last()) {
            (Some(first), Some(last)) => (last.0 - first.0) / end,
            _ => 0.0,
        };
        for piece in &mut line.pieces {
            let columns = (share(piece) * columns as f64).ceil() as usize;
            *piece = min_max_per_column(piece, columns);
        }
    }
    Some(Chart {
        title: "Throughput over time".to_owned(),
        note: time_note(steps.len()),
        body: Body::Lines {
            x: axis("seconds", Unit::Seconds, false, 0.0, end),
            y: axis(quantity(unit), unit, false, 0.0, headroom(top)),
            lines,
            points: Vec::new(),
            spans: spans(&steps, stream as u32, &starts),
        },
        table,
    })
}

fn quantity(unit: Unit) -> &'static str {
    match unit {
        Unit::Bandwidth => "bytes per second",
        _ => "operations per second",
    }
}

fn time_note(repetitions: usize) -> String {
    let text = "A steady drive draws a flat line; a fall is a cache that ran full, housekeeping, \
                or heat.";
    match repetitions {
        0 | 1 => text.to_owned(),
        n => format!("{text} {n} repetitions, one after the other."),
    }
}

/// The next tick above, with a little room.
fn headroom(top: f64) -> f64 {
    let step = round_up(top / 4.0);
    ((top * 1.02 / step).ceil() * step).max(f64::MIN_POSITIVE)
}

fn axis(quantity: &str, unit: Unit, is_log: bool, from: f64, to: f64) -> Axis {
    Axis { quantity: quantity.to_owned(), unit, is_log, from, to }
}

/// Kinds worth a line: data and metadata, and flush only where it is all there is to see.
fn shown_kinds(stream: &CellStream) -> Vec<Action> {
    let all: Vec<Action> = stream.kinds.keys().copied().collect();
    let data: Vec<Action> = all.iter().copied().filter(|kind| *kind != Action::Flush).collect();
    if data.is_empty() { all } else { data }
}

/// For each step its first recorded time and where on the axis it begins in seconds; and the end.
fn starts(steps: &[&StepRun], stream: u32) -> (Vec<(u64, f64)>, f64) {
    let mut at = 0.0;
    let mut starts = Vec::new();
    for step in steps {
        let of_stream = || step.tallies.iter().filter(|tally| tally.stream == stream);
        let from = of_stream().map(|tally| tally.from).min().unwrap_or(0);
        let to = of_stream().map(|tally| tally.to).max().unwrap_or(from);
        starts.push((from, at));
        at += (to - from) as f64 / 1e9;
    }
    (starts, at)
}

/// Ramps and gaps, the longest gaps first.
fn spans(steps: &[&StepRun], stream: u32, starts: &[(u64, f64)]) -> Vec<Span> {
    let mut ramps = Vec::new();
    let mut gaps = Vec::new();
    for (step, (origin, at)) in steps.iter().zip(starts) {
        let place = |time: u64| at + (time as f64 - *origin as f64) / 1e9;
        let has_ramp = step.tallies.iter().any(|tally| tally.stream == stream && tally.ramp);
        if let Some(window) = window(step, stream).filter(|_| has_ramp) {
            let word = if ramps.is_empty() { "ramp" } else { "" }.to_owned();
            ramps.push(Span { from: *at, to: place(window.from), word, hue: Hue::Other });
        }
        for gap in drivelab_core::summary::stream_gaps(step, stream).list {
            let word = String::new();
            let (from, to) = (place(gap.from), place(gap.to));
            gaps.push(Span { from, to, word, hue: Hue::Warning });
        }
    }
    gaps.sort_by(|a, b| (b.to - b.from).total_cmp(&(a.to - a.from)));
    gaps.truncate(SPANS_MAX);
    if let Some(longest) = gaps.first_mut() {
        longest.word = "gap".to_owned();
    }
    ramps.extend(gaps);
    ramps
}

/// At most a row for four pixels; a row sums up several intervals by their lowest and highest.
fn time_table(lines: &[Line], unit: Unit, columns: usize) -> Table {
    let show = |value: f64| match unit {
        Unit::Bandwidth => units::bandwidth(value),
        _ => units::operations(value),
    };
    let rows_max = (columns / 16).max(5);
    let mut rows = Vec::new();
    for line in lines {
        let points: Vec<(f64, f64)> = line.pieces.iter().flatten().copied().collect();
        for part in points.chunks(points.len().div_ceil(rows_max).max(1)) {
            let low = part.iter().map(|point| point.1).fold(f64::INFINITY, f64::min);
            let high = part.iter().map(|point| point.1).fold(0.0, f64::max);
            let (first, last) = (part[0].0, part[part.len() - 1].0);
            let when = format!("{first:.2} to {last:.2} s");
            rows.push(vec![line.label.clone(), when, show(low), show(high)]);
        }
    }
    let heads = ["kind", "intervals around", "lowest", "highest"].map(str::to_owned).to_vec();
    Table { heads, rows }
}

/// The share of I/Os slower than a time, for every kind of one stream of a cell, out to the last
/// percentile that the sample supports. `None` when nothing was recorded.
pub fn latency_distribution(
    run: &Run,
    cell: &CellSummary,
    stream: usize,
    columns: usize,
) -> Option<Chart> {
    let summary = cell.streams.get(stream)?;
    let (mut lines, mut points, mut rows) = (Vec::new(), Vec::new(), Vec::new());
    let service = if summary.load.rate.is_some() { "service" } else { "" };
    for kind in summary.kinds.keys().copied() {
        for (latency, word) in
            [(LatencyKind::Response, "response"), (LatencyKind::Service, service)]
        {
            let merged = cell_histogram(run, &cell.name, stream as u32, kind, latency);
            let Some(merged) = merged.filter(|histogram| !histogram.is_empty()) else { continue };
            let label = format!("{} {word}", kind.word()).trim_end().to_owned();
            let curve = slower(&merged, columns);
            let is_dashed = kind == Action::Flush
                || (latency == LatencyKind::Service && summary.load.rate.is_some());
            if let Some((_, share)) = curve.last() {
                let at = (merged.max() as f64, *share);
                points.push(Point { at, hue: hue(Some(kind)), label: "max".to_owned() });
            }
            rows.push(percentile_row(&label, &merged));
            lines.push(Line { label, hue: hue(Some(kind)), is_dashed, pieces: vec![curve] });
        }
    }
    let times = || lines.iter().flat_map(|line| line.pieces.iter().flatten()).copied();
    let low = times().map(|point| point.0).fold(f64::INFINITY, f64::min).max(1.0);
    let high = points.iter().map(|point| point.at.0).fold(low, f64::max);
    let least = times().map(|point| point.1).fold(1.0, f64::min);
    if lines.is_empty() {
        return None;
    }
    let heads = ["kind", "I/Os", "p50", "p90", "p99", "p99.9", "p99.99", "max"];
    Some(Chart {
        title: "Latency".to_owned(),
        note: "The share of I/Os that took longer than a time: 10 % is p90, 1 % is p99. A step \
               to the right is a second way through the drive. It ends where the sample ends; \
               the dot is the slowest."
            .to_owned(),
        body: Body::Lines {
            x: axis(
                "time of one I/O",
                Unit::Nanoseconds,
                true,
                low * 0.9,
                (high * 1.2).max(low * 2.0),
            ),
            y: axis("share of I/Os slower", Unit::Share, true, floor_decade(least), 1.0),
            lines,
            points,
            spans: Vec::new(),
        },
        table: Table { heads: heads.map(str::to_owned).to_vec(), rows },
    })
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
        let value = drivelab_stats::supported_quantile(histogram, p);
        row.push(value.map_or("too few I/Os".to_owned(), |value| units::time(value as f64)));
    }
    row.push(units::time(histogram.max() as f64));
    row
}

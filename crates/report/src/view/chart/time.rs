//! One stream over time: throughput, latency and temperature over one axis.

use drivelab_core::op::Action;
use drivelab_core::plan::Role;
use drivelab_core::run::{Run, StepRun};
use drivelab_core::summary::{CellStream, CellSummary, Summary, series};

use crate::units;
use crate::view::chart::bars::{hue, quantity};
use crate::view::chart::inside;
use crate::view::chart::kernel::{self, LOOKS_MIN};
use crate::view::chart::spans::{Piece, spans};
use crate::view::chart::ticks::round_up;
use crate::view::chart::{
    Axis, Body, Chart, Hue, Line, Panel, Stop, Stroke, Table, Unit, min_max_per_column,
};
use crate::view::headline;

/// One interval of one kind.
#[derive(Clone, Copy)]
struct Sample {
    /// On the axis, in seconds.
    from: f64,
    to: f64,
    rate: f64,
    p50_ns: Option<u64>,
    p99_ns: Option<u64>,
    max_ns: Option<u64>,
}

/// All intervals of one kind, repetition by repetition.
struct Track {
    kind: Action,
    pieces: Vec<Vec<Sample>>,
}

/// One stream of a cell over time, repetitions one after the other, drawn for `columns` pixels.
/// `None` when nothing was recorded.
pub fn over_time(
    run: &Run,
    summary: &Summary,
    cell: &CellSummary,
    stream: usize,
    columns: usize,
) -> Option<Chart> {
    let of_stream = cell.streams.get(stream)?;
    let in_bytes = is_in_bytes(cell, of_stream);
    let unit = if in_bytes { Unit::Bandwidth } else { Unit::Operations };
    let pieces = pieces(run, summary, &cell.name, stream as u32);
    let end = pieces.last()?.to;
    let tracks: Vec<Track> = shown_kinds(of_stream)
        .into_iter()
        .map(|kind| track(&pieces, stream as u32, kind, in_bytes))
        .collect();
    if end <= 0.0 || tracks.iter().all(|track| track.pieces.iter().all(Vec::is_empty)) {
        return None;
    }
    let mut panels = vec![throughput(&tracks, unit)];
    panels.extend(latency(&tracks));
    let alt = alt(&panels);
    panels.iter_mut().for_each(|panel| thin(panel, end, columns));
    panels.extend(kernel::panels(&pieces));
    panels.extend(temperature(&pieces));
    panels.extend(inside::panels(&pieces));
    let buckets = buckets(&tracks, (columns / 16).max(5));
    Some(Chart {
        title: "Over time".to_owned(),
        note: note(&pieces),
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
            spans: spans(&pieces, stream as u32),
            seams: pieces.iter().skip(1).map(|piece| piece.from).collect(),
            stops: buckets.iter().map(|bucket| bucket.stop(unit)).collect(),
        },
        table: table(&buckets, unit),
    })
}

/// The rate of each interval of a stream as a dot, for another chart over the same axis of time.
pub(super) fn rate_points(
    cell: &CellSummary,
    stream: usize,
    pieces: &[Piece<'_>],
) -> Option<Panel> {
    let of_stream = cell.streams.get(stream)?;
    let in_bytes = is_in_bytes(cell, of_stream);
    let tracks: Vec<Track> = shown_kinds(of_stream)
        .into_iter()
        .map(|kind| track(pieces, stream as u32, kind, in_bytes))
        .collect();
    let unit = if in_bytes { Unit::Bandwidth } else { Unit::Operations };
    let mut panel = throughput(&tracks, unit);
    panel.lines.iter_mut().for_each(|line| line.stroke = Stroke::Points);
    Some(panel)
}

fn is_in_bytes(cell: &CellSummary, stream: &CellStream) -> bool {
    let rows = headline::rows(cell);
    rows.iter().any(|row| std::ptr::eq(row.load, &stream.load) && row.in_bytes())
}

/// The repetitions of one name, whole ones and others, one after the other.
pub(super) fn pieces<'run>(
    run: &'run Run,
    summary: &'run Summary,
    cell: &str,
    stream: u32,
) -> Vec<Piece<'run>> {
    let of_cell = |step: &&StepRun| step.begin.role == Role::Measure && step.begin.name == cell;
    let mut at = 0.0;
    let mut pieces = Vec::new();
    for step in run.steps.iter().filter(of_cell) {
        let of_stream = || step.tallies.iter().filter(|tally| tally.stream == stream);
        let origin = of_stream().map(|tally| tally.from).min().unwrap_or(0);
        let last = of_stream().map(|tally| tally.to).max().unwrap_or(origin);
        let to = at + (last - origin) as f64 / 1e9;
        let truth = summary.steps.iter().find(|known| known.step == step.begin.step);
        pieces.push(Piece { step, truth, origin, from: at, to });
        at = to;
    }
    pieces
}

/// Kinds worth a line: data and metadata, and flush only where it is all there is to see.
fn shown_kinds(stream: &CellStream) -> Vec<Action> {
    let all: Vec<Action> = stream.kinds.keys().copied().collect();
    let data: Vec<Action> = all.iter().copied().filter(|kind| !kind.goes_along()).collect();
    if data.is_empty() { all } else { data }
}

fn track(pieces: &[Piece<'_>], stream: u32, kind: Action, in_bytes: bool) -> Track {
    let of_piece = |piece: &Piece<'_>| {
        let points = series(piece.step, stream, Some(kind));
        // A cut-off interval is an accident of the end: its rate means little.
        let whole = points.iter().filter(|point| !point.partial || points.len() < 3);
        whole
            .map(|point| Sample {
                from: piece.place(point.from as f64),
                to: piece.place(point.to as f64),
                rate: if in_bytes { point.bytes_per_s } else { point.ops_per_s },
                p50_ns: point.p50,
                p99_ns: point.p99,
                max_ns: point.max,
            })
            .collect()
    };
    Track { kind, pieces: pieces.iter().map(of_piece).collect() }
}

fn line(
    track: &Track,
    label: String,
    stroke: Stroke,
    value: impl Fn(&Sample) -> Option<f64>,
) -> Line {
    let mut pieces = Vec::new();
    for piece in &track.pieces {
        // Where a value is not known the line breaks.
        for part in piece.split(|sample| value(sample).is_none()) {
            let place = |sample: &Sample| {
                let at = f64::midpoint(sample.from, sample.to);
                value(sample).filter(|value| value.is_finite()).map(|value| (at, value))
            };
            let part: Vec<(f64, f64)> = part.iter().filter_map(place).collect();
            pieces.extend(Some(part).filter(|part| !part.is_empty()));
        }
    }
    Line { label, hue: hue(Some(track.kind)), stroke, pieces, is_measured: true }
}

fn values(lines: &[Line]) -> impl Iterator<Item = f64> {
    lines.iter().flat_map(|line| line.pieces.iter().flatten()).map(|point| point.1)
}

fn throughput(tracks: &[Track], unit: Unit) -> Panel {
    let lines: Vec<Line> = tracks
        .iter()
        .map(|track| {
            let label = format!("{}s", track.kind.word());
            line(track, label, Stroke::Solid, |sample| Some(sample.rate))
        })
        .collect();
    let top = values(&lines).fold(0.0, f64::max);
    let y = Axis {
        quantity: quantity(unit).to_owned(),
        unit,
        is_log: false,
        from: 0.0,
        to: headroom(top),
    };
    Panel { y, lines, points: Vec::new(), fields: Vec::new() }
}

/// The next tick above, with a little room.
fn headroom(top: f64) -> f64 {
    let step = round_up(top / 4.0);
    ((top * 1.02 / step).ceil() * step).max(f64::MIN_POSITIVE)
}

/// Service times of each interval; `None` where none was recorded.
fn latency(tracks: &[Track]) -> Option<Panel> {
    let nanoseconds = |value: Option<u64>| value.map(|value| value as f64);
    let mut lines = Vec::new();
    for track in tracks {
        let label = |word: &str| match tracks.len() {
            1 => word.to_owned(),
            _ => format!("{} {word}", track.kind.word()),
        };
        lines.push(line(track, label("max"), Stroke::Dotted, |s| nanoseconds(s.max_ns)));
        lines.push(line(track, label("p99"), Stroke::Dashed, |s| nanoseconds(s.p99_ns)));
        lines.push(line(track, label("p50"), Stroke::Solid, |s| nanoseconds(s.p50_ns)));
    }
    lines.retain(|line| !line.pieces.is_empty());
    let low = values(&lines).fold(f64::INFINITY, f64::min).max(1.0);
    let high = values(&lines).fold(0.0, f64::max);
    if lines.is_empty() || high <= 0.0 {
        return None;
    }
    let y = Axis {
        quantity: "service time within an interval".to_owned(),
        unit: Unit::Nanoseconds,
        is_log: true,
        from: low * 0.8,
        to: (high * 1.25).max(low * 4.0),
    };
    Some(Panel { y, lines, points: Vec::new(), fields: Vec::new() })
}

/// The sensors of the drives, where they tell.
fn temperature(pieces: &[Piece<'_>]) -> Option<Panel> {
    let mut lines: Vec<Line> = Vec::new();
    let mut limit: Option<f64> = None;
    for piece in pieces {
        let observed = piece.step.end.as_ref().and_then(|end| end.observed.as_ref());
        let readings = observed.map_or(&[][..], |observed| &observed.temperatures);
        let mut devices: Vec<&str> = readings.iter().map(|one| one.device.as_str()).collect();
        devices.dedup();
        devices.sort_unstable();
        devices.dedup();
        for device in devices {
            let of_device = readings.iter().filter(|one| one.device == device);
            let points: Vec<(f64, f64)> = of_device
                .inspect(|one| limit = limit.or(one.celsius_max))
                .map(|one| (piece.place(one.at as f64).clamp(piece.from, piece.to), one.celsius))
                .filter(|(_, celsius)| celsius.is_finite())
                .collect();
            let label = format!("{device} °C");
            match lines.iter_mut().find(|line| line.label == label) {
                Some(line) => line.pieces.push(points),
                None => {
                    let (hue, stroke) = (Hue::Other, Stroke::Solid);
                    let pieces = vec![points];
                    lines.push(Line { label, hue, stroke, pieces, is_measured: true });
                }
            }
        }
    }
    let low = values(&lines).fold(f64::INFINITY, f64::min);
    let high = values(&lines).fold(f64::NEG_INFINITY, f64::max);
    if !low.is_finite() || !high.is_finite() {
        return None;
    }
    // The drive's own limit is drawn where it is near enough to matter.
    let limit = limit.filter(|limit| limit.is_finite() && *limit <= high + 15.0);
    if let (Some(limit), Some(last)) = (limit, pieces.last()) {
        lines.push(Line {
            label: "warning limit".to_owned(),
            hue: Hue::Warning,
            stroke: Stroke::Dashed,
            pieces: vec![vec![(0.0, limit), (last.to, limit)]],
            is_measured: false,
        });
    }
    let high = limit.map_or(high, |limit| limit.max(high));
    let y = Axis {
        quantity: "temperature".to_owned(),
        unit: Unit::Celsius,
        is_log: false,
        from: ((low - 2.0) / 5.0).floor() * 5.0,
        to: ((high + 2.0) / 5.0).ceil() * 5.0,
    };
    Some(Panel { y, lines, points: Vec::new(), fields: Vec::new() })
}

fn thin(panel: &mut Panel, end: f64, columns: usize) {
    for piece in panel.lines.iter_mut().flat_map(|line| &mut line.pieces) {
        let share = match (piece.first(), piece.last()) {
            (Some(first), Some(last)) => (last.0 - first.0) / end,
            _ => 0.0,
        };
        *piece = min_max_per_column(piece, (share * columns as f64).ceil() as usize);
    }
}

fn note(pieces: &[Piece<'_>]) -> String {
    let ends = || pieces.iter().filter_map(|piece| piece.step.end.as_ref());
    let has_temperature = ends()
        .filter_map(|end| end.observed.as_ref())
        .any(|observed| !observed.temperatures.is_empty());
    let repetitions = pieces.len();
    let mut text = "A steady drive draws flat lines; a fall is a cache that ran full, \
                    housekeeping, or heat."
        .to_owned();
    let looked = ends().filter_map(|end| end.observed.as_ref());
    if looked.into_iter().any(|observed| observed.counted.len() >= LOOKS_MIN) {
        text.push_str(
            " The panels of the kernel count the requests of all programs to the device, as iostat \
             does, about once a second, in long steps less often.",
        );
    }
    if has_temperature {
        text.push_str(" Temperatures are as the drive reports them.");
    }
    if ends().any(|end| end.inside.is_some()) {
        text.push_str(
            " Below is what the simulated drive did meanwhile: what it programmed for each unit \
             written, and how busy and how full it was.",
        );
    }
    if repetitions > 1 {
        text.push_str(&format!(" {repetitions} repetitions, one after the other."));
    }
    text
}

fn alt(panels: &[Panel]) -> String {
    let mut said = Vec::new();
    for panel in panels {
        for line in &panel.lines {
            let of_line = std::slice::from_ref(line);
            let low = values(of_line).fold(f64::INFINITY, f64::min);
            let high = values(of_line).fold(0.0, f64::max);
            if low.is_finite() {
                let (low, high) = (panel.y.unit.show(low), panel.y.unit.show(high));
                said.push(format!("{} {low} to {high}", line.label));
            }
        }
    }
    format!("Over time: {}.", said.join("; "))
}

/// Several intervals summed up.
struct Bucket {
    from: f64,
    to: f64,
    parts: Vec<Part>,
}

/// One kind in a bucket: the range of its rates and medians, its highest p99 and maximum.
struct Part {
    kind: Action,
    low: f64,
    high: f64,
    p50_ns: Option<u64>,
    p99_ns: Option<u64>,
    max_ns: Option<u64>,
}

fn buckets(tracks: &[Track], wanted: usize) -> Vec<Bucket> {
    let longest =
        tracks.iter().max_by_key(|track| track.pieces.iter().map(Vec::len).sum::<usize>());
    let Some(longest) = longest else { return Vec::new() };
    let count: usize = longest.pieces.iter().map(Vec::len).sum();
    let size = count.div_ceil(wanted).max(1);
    let mut buckets = Vec::new();
    for chunk in longest.pieces.iter().flat_map(|piece| piece.chunks(size)) {
        let (from, to) = (chunk[0].from, chunk[chunk.len() - 1].to);
        let parts = tracks.iter().filter_map(|track| part(track, from, to)).collect();
        buckets.push(Bucket { from, to, parts });
    }
    buckets
}

fn part(track: &Track, from: f64, to: f64) -> Option<Part> {
    let inside = |sample: &&Sample| {
        let middle = f64::midpoint(sample.from, sample.to);
        middle >= from && middle < to
    };
    let samples: Vec<&Sample> = track.pieces.iter().flatten().filter(inside).collect();
    let rates = || samples.iter().map(|sample| sample.rate).filter(|rate| rate.is_finite());
    let low = rates().fold(f64::INFINITY, f64::min);
    low.is_finite().then(|| Part {
        kind: track.kind,
        low,
        high: rates().fold(0.0, f64::max),
        p50_ns: samples.iter().filter_map(|sample| sample.p50_ns).max(),
        p99_ns: samples.iter().filter_map(|sample| sample.p99_ns).max(),
        max_ns: samples.iter().filter_map(|sample| sample.max_ns).max(),
    })
}

fn time_or_dash(value: Option<u64>) -> String {
    value.map_or("–".to_owned(), |value| units::time(value as f64))
}

impl Part {
    fn rates(&self, unit: Unit) -> String {
        let (low, high) = (unit.show(self.low), unit.show(self.high));
        if low == high { low } else { format!("{low} to {high}") }
    }
}

impl Bucket {
    fn when(&self) -> String {
        format!("{:.2} to {:.2} s", self.from, self.to)
    }

    fn stop(&self, unit: Unit) -> Stop {
        let mut tip = self.when();
        for part in &self.parts {
            let (kind, rates) = (part.kind.word(), part.rates(unit));
            tip.push_str(&format!("\n{kind}s {rates}"));
            let latencies = [("p50", part.p50_ns), ("p99", part.p99_ns), ("max", part.max_ns)];
            for (name, value) in latencies {
                if let Some(value) = value {
                    tip.push_str(&format!(", {name} {}", units::time(value as f64)));
                }
            }
        }
        Stop { from: self.from, to: self.to, tip }
    }
}

/// A row for each bucket and kind.
fn table(buckets: &[Bucket], unit: Unit) -> Table {
    let mut rows = Vec::new();
    for bucket in buckets {
        for part in &bucket.parts {
            let mut row = vec![bucket.when(), format!("{}s", part.kind.word()), part.rates(unit)];
            row.extend([part.p50_ns, part.p99_ns, part.max_ns].map(time_or_dash));
            rows.push(row);
        }
    }
    let heads = ["time", "kind", "rate", "highest p50", "highest p99", "max"];
    Table { heads: heads.map(str::to_owned).to_vec(), rows }
}

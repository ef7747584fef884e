//! What a simulated drive did inside, on the time axis of what was measured from outside.

use drivelab_core::inside::{Inside, InsideInterval};

use crate::view::chart::spans::Piece;
use crate::view::chart::{Axis, Hue, Line, Panel, Stroke, Unit};

/// A curve that is drawn where it is ever above nothing.
struct Curve {
    label: &'static str,
    hue: Hue,
    stroke: Stroke,
    value: fn(&InsideInterval) -> Option<f64>,
}

/// Copies that were made for each unit that the host wrote, by their cause.
const AMPLIFICATION: [Curve; 5] = [
    Curve {
        label: "all programs",
        hue: Hue::Write,
        stroke: Stroke::Solid,
        value: |interval| interval.inside.write_amplification(),
    },
    Curve {
        label: "collection",
        hue: Hue::Warning,
        stroke: Stroke::Dashed,
        value: |interval| by_host_unit(interval, interval.inside.collection_units),
    },
    Curve {
        label: "merges",
        hue: Hue::Warning,
        stroke: Stroke::Dashed,
        value: |interval| by_host_unit(interval, interval.inside.merge_units),
    },
    Curve {
        label: "folding",
        hue: Hue::Other,
        stroke: Stroke::Dashed,
        value: |interval| by_host_unit(interval, interval.inside.fold_units),
    },
    Curve {
        label: "padding, map, wear",
        hue: Hue::Other,
        stroke: Stroke::Dotted,
        value: |interval| {
            let Inside { padding_units, map_units, wear_units, .. } = interval.inside;
            by_host_unit(interval, padding_units + map_units + wear_units)
        },
    },
];

/// How full and how busy it was.
const LEVELS: [Curve; 4] = [
    Curve {
        label: "dies busy for the host",
        hue: Hue::Read,
        stroke: Stroke::Solid,
        value: |interval| busy(interval, interval.inside.host_busy_ns),
    },
    Curve {
        label: "dies busy in the background",
        hue: Hue::Warning,
        stroke: Stroke::Solid,
        value: |interval| busy(interval, interval.inside.background_busy_ns),
    },
    Curve {
        label: "buffer full",
        hue: Hue::Other,
        stroke: Stroke::Dashed,
        value: |interval| Some(interval.inside.buffer_fill),
    },
    Curve {
        label: "SLC cache full",
        hue: Hue::Other,
        stroke: Stroke::Dotted,
        value: |interval| Some(interval.inside.slc_fill),
    },
];

fn by_host_unit(interval: &InsideInterval, units: u64) -> Option<f64> {
    let host_units = interval.inside.host_units;
    (host_units > 0).then(|| units as f64 / host_units as f64)
}

fn busy(interval: &InsideInterval, busy_ns: u64) -> Option<f64> {
    let all_ns = interval.inside.servers as f64 * (interval.to - interval.from) as f64;
    (all_ns > 0.0).then(|| busy_ns as f64 / all_ns)
}

/// Panels below throughput and latency; none on a real drive.
pub(super) fn panels(pieces: &[Piece<'_>]) -> Vec<Panel> {
    let amplification = lines(pieces, &AMPLIFICATION);
    let levels = lines(pieces, &LEVELS);
    let axis = |quantity: &str, unit, to| Axis {
        quantity: quantity.to_owned(),
        unit,
        is_log: false,
        from: 0.0,
        to,
    };
    let top = |lines: &[Line]| {
        let points = lines.iter().flat_map(|line| line.pieces.iter().flatten());
        points.map(|point| point.1).fold(1.0, f64::max)
    };
    let mut panels = Vec::new();
    if !amplification.is_empty() {
        let y = axis("units programmed by unit written", Unit::Factor, top(&amplification) * 1.05);
        panels.push(Panel { y, lines: amplification, points: Vec::new(), fields: Vec::new() });
    }
    if !levels.is_empty() {
        let y = axis("inside the drive", Unit::Share, top(&levels).min(1.2));
        panels.push(Panel { y, lines: levels, points: Vec::new(), fields: Vec::new() });
    }
    panels
}

fn lines(pieces: &[Piece<'_>], curves: &[Curve]) -> Vec<Line> {
    let drawn = curves.iter().map(|curve| Line {
        label: curve.label.to_owned(),
        hue: curve.hue,
        stroke: curve.stroke,
        pieces: pieces.iter().map(|piece| points(piece, curve)).collect(),
        is_measured: true,
    });
    drawn
        .map(|mut line| {
            line.pieces.retain(|piece| !piece.is_empty());
            line
        })
        .filter(|line| line.pieces.iter().flatten().any(|(_, value)| *value > 0.0))
        .collect()
}

fn points(piece: &Piece<'_>, curve: &Curve) -> Vec<(f64, f64)> {
    let intervals = piece.step.insides.iter();
    intervals
        .filter_map(|interval| {
            let middle = f64::midpoint(interval.from as f64, interval.to as f64);
            let at = piece.place(middle).clamp(piece.from, piece.to);
            (curve.value)(interval).filter(|value| value.is_finite()).map(|value| (at, value))
        })
        .collect()
}

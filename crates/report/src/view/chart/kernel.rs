//! What the kernel counted of the devices meanwhile, on the time axis of what the program measured:
//! the figures of iostat.

use drivelab_core::observed::Counted;

use crate::view::chart::spans::Piece;
use crate::view::chart::ticks::round_up;
use crate::view::chart::{Axis, Hue, Line, Panel, Stroke, Unit};

/// Fewer looks than this at one repetition draw no curve.
pub(super) const LOOKS_MIN: usize = 3;
/// Of a stack of more devices than this only this many are drawn.
const DEVICES_MAX: usize = 4;

/// A curve of one device.
struct Curve {
    word: &'static str,
    hue: Hue,
    value: fn(&Counted) -> Option<f64>,
}

/// Panels below throughput and latency; none where nothing was counted, as on a simulated drive.
pub(super) fn panels(pieces: &[Piece<'_>]) -> Vec<Panel> {
    let devices = devices(pieces);
    let curve = |word, hue, value| Curve { word, hue, value };
    let rates: Vec<Curve> = match devices.len() {
        1 => vec![
            curve("reads", Hue::Read, |it| per_second(it, it.read_bytes)),
            curve("writes", Hue::Write, |it| per_second(it, it.written_bytes)),
        ],
        _ => vec![curve("", Hue::Other, |it| per_second(it, it.read_bytes + it.written_bytes))],
    };
    let times = [
        curve("read", Hue::Read, |it| mean_ns(it.read_ms, it.reads)),
        curve("write", Hue::Write, |it| mean_ns(it.write_ms, it.writes)),
    ];
    let queue = [curve("in flight", Hue::Other, |it| {
        let ms = it.to.saturating_sub(it.from) as f64 / 1e6;
        (ms > 0.0).then(|| (it.read_ms + it.write_ms) as f64 / ms)
    })];
    [
        ("bytes per second, kernel", Unit::Bandwidth, &rates[..]),
        ("mean time of a request, kernel", Unit::Nanoseconds, &times),
        ("requests in queue and drive, kernel", Unit::Count, &queue),
    ]
    .into_iter()
    .filter_map(|(quantity, unit, curves)| panel(pieces, &devices, quantity, unit, curves))
    .collect()
}

/// Kernel names, those with most bytes first.
fn devices<'run>(pieces: &[Piece<'run>]) -> Vec<&'run str> {
    let mut devices: Vec<(&str, u64)> = Vec::new();
    for one in pieces.iter().flat_map(looks) {
        let bytes = one.read_bytes + one.written_bytes;
        match devices.iter_mut().find(|(name, _)| *name == one.device) {
            Some(known) => known.1 += bytes,
            None => devices.push((&one.device, bytes)),
        }
    }
    devices.sort_by_key(|known| std::cmp::Reverse(known.1));
    devices.truncate(DEVICES_MAX);
    devices.into_iter().map(|known| known.0).collect()
}

fn looks<'run>(piece: &Piece<'run>) -> &'run [Counted] {
    let observed = piece.step.end.as_ref().and_then(|end| end.observed.as_ref());
    observed.map_or(&[][..], |observed| &observed.counted)
}

fn per_second(look: &Counted, bytes: u64) -> Option<f64> {
    let seconds = look.to.saturating_sub(look.from) as f64 / 1e9;
    (seconds > 0.0).then(|| bytes as f64 / seconds)
}

/// The kernel books whole milliseconds: of few requests nothing is known.
fn mean_ns(ms: u64, requests: u64) -> Option<f64> {
    (requests > 0 && ms > 0).then(|| ms as f64 * 1e6 / requests as f64)
}

fn panel(
    pieces: &[Piece<'_>],
    devices: &[&str],
    quantity: &str,
    unit: Unit,
    curves: &[Curve],
) -> Option<Panel> {
    let mut lines = Vec::new();
    for (place, device) in devices.iter().enumerate() {
        for curve in curves {
            let parts: Vec<_> = pieces.iter().map(|piece| points(piece, device, curve)).collect();
            let parts: Vec<_> = parts.into_iter().filter(|part| part.len() >= LOOKS_MIN).collect();
            if !parts.iter().flatten().any(|point| point.1 > 0.0) {
                continue;
            }
            lines.push(Line {
                label: format!("{device} {}", curve.word).trim_end().to_owned(),
                hue: if devices.len() == 1 { curve.hue } else { Hue::Series(place as u8) },
                stroke: if curve.hue == Hue::Read { Stroke::Dashed } else { Stroke::Solid },
                pieces: parts,
                is_measured: true,
            });
        }
    }
    let top = lines.iter().flat_map(|line| line.pieces.iter().flatten());
    let top = top.map(|point| point.1).fold(0.0, f64::max);
    let step = round_up(top / 4.0);
    let to = (top * 1.02 / step).ceil() * step;
    let y = Axis { quantity: quantity.to_owned(), unit, is_log: false, from: 0.0, to };
    (!lines.is_empty()).then_some(Panel { y, lines, points: Vec::new(), fields: Vec::new() })
}

fn points(piece: &Piece<'_>, device: &str, curve: &Curve) -> Vec<(f64, f64)> {
    let of_device = looks(piece).iter().filter(|look| look.device == device);
    let point = |look: &Counted| {
        let middle = f64::midpoint(look.from as f64, look.to as f64);
        let at = piece.place(middle).clamp(piece.from, piece.to);
        (curve.value)(look).filter(|value| value.is_finite()).map(|value| (at, value))
    };
    of_device.filter_map(point).collect()
}

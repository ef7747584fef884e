//! A picture of findings as a chart: its axes fitted, its curves told apart, its places marked.

use drivelab_core::findings::{self, LineKind, Mark, Picture};

use crate::view::amounts::is_number;
use crate::view::chart::ticks::round_up;
use crate::view::chart::{
    Axis, Body, Chart, Hue, Line, Panel, Point, Span, Stroke, Table, Unit, min_max_per_column,
};

/// Longer words are cut in the picture, which may be as narrow as a phone; the numbers below it
/// have them whole.
const WORD_CHARACTERS: usize = 38;
/// More places than this are not marked, more than that not in words.
const MARKS_MAX: usize = 100;
const MARKS_SAID_MAX: usize = 12;
/// A measured curve of so few points has a dot at each: between them nothing was measured.
const DOTS_MAX: usize = 24;
/// Times that differ by more than this factor, and rates of which a whole curve does, are drawn on
/// a logarithmic axis.
const WIDE_FACTOR: f64 = 30.0;
/// Sizes and counts that differ by more than this factor may be powers of two.
const POWERS_FACTOR: f64 = 16.0;
/// The hue of a curve's second fit, and of those behind it.
const SECOND_FIT: u8 = 6;
/// Columns of pixels that all curves together may fill, and one alone.
const COLUMNS_ALL: usize = 1200;
const COLUMNS_EACH: usize = 320;
/// Rows of numbers for each curve, about.
const ROWS_EACH: usize = 24;

/// The chart of a picture; `None` where it holds no point that can be drawn.
pub fn picture(picture: &Picture) -> Option<Chart> {
    let curves: Vec<Vec<Vec<(f64, f64)>>> =
        picture.lines.iter().map(|line| pieces(&line.points)).collect();
    let all = || curves.iter().flatten().flatten().copied();
    all().next()?;
    let marks: Vec<&Mark> =
        picture.marks.iter().filter(|mark| is_number(mark.x)).take(MARKS_MAX).collect();
    let xs: Vec<f64> = all().map(|at| at.0).chain(marks.iter().map(|mark| mark.x)).collect();
    let (x, by) = horizontal(&picture.x, &xs);
    let tops: Vec<f64> =
        curves.iter().map(|curve| ends_of(curve).1).filter(|top| top.is_finite()).collect();
    let y = vertical(&picture.y, ends(&all().map(|at| at.1).collect::<Vec<f64>>()), &tops);
    let fits = fits(&picture.lines);
    let hues = hues(&picture.lines, &fits);
    let columns = (COLUMNS_ALL / curves.len().max(1)).clamp(40, COLUMNS_EACH);
    let mut panel = Panel { y, lines: Vec::new(), points: Vec::new(), fields: Vec::new() };
    for (((line, pieces), hue), fit) in picture.lines.iter().zip(&curves).zip(hues).zip(fits) {
        let points = pieces.iter().flatten().count();
        if points == 0 {
            continue;
        }
        if line.kind == LineKind::Measured && points <= DOTS_MAX {
            let dot = |at: &(f64, f64)| dot(&line.label, (at.0 * by, at.1), hue, &x, &panel.y);
            let dots: Vec<Point> = pieces.iter().flatten().map(dot).collect();
            panel.points.extend(dots);
        }
        let thin = |piece: &Vec<(f64, f64)>| {
            let share = (columns * piece.len()).div_ceil(points);
            let thin = min_max_per_column(piece, share);
            thin.into_iter().map(|at| (at.0 * by, at.1)).collect()
        };
        let (label, pieces) = (shortened(&line.label), pieces.iter().map(thin).collect());
        let stroke = stroke(line.kind, fit);
        // Both bounds of a corridor are one thing, with one word in the legend.
        match panel.lines.last_mut() {
            Some(last)
                if stroke == Stroke::Dotted && last.stroke == stroke && last.label == label =>
            {
                last.pieces.extend::<Vec<_>>(pieces);
            }
            _ => {
                let is_measured = line.kind == LineKind::Measured;
                panel.lines.push(Line { label, hue, stroke, pieces, is_measured });
            }
        }
    }
    Some(Chart {
        title: picture.title.clone(),
        note: picture.note.clone(),
        alt: alt(picture, &curves),
        table: numbers(picture, &curves),
        body: Body::Lines {
            x,
            panels: vec![panel],
            spans: words(&marks, by),
            seams: marks.iter().map(|mark| mark.x * by).collect(),
            stops: Vec::new(),
        },
    })
}

/// A curve breaks where a number is none.
fn pieces(points: &[(f64, f64)]) -> Vec<Vec<(f64, f64)>> {
    let parts = points.split(|at| !(is_number(at.0) && is_number(at.1)));
    parts.filter(|part| !part.is_empty()).map(<[_]>::to_vec).collect()
}

fn ends(values: &[f64]) -> (f64, f64) {
    let low = values.iter().copied().fold(f64::INFINITY, f64::min);
    let high = values.iter().copied().fold(f64::NEG_INFINITY, f64::max);
    (low, high)
}

/// The least and the most of a curve.
fn ends_of(pieces: &[Vec<(f64, f64)>]) -> (f64, f64) {
    ends(&pieces.iter().flatten().map(|at| at.1).collect::<Vec<f64>>())
}

/// The horizontal axis, and the factor that brings a value into its unit.
fn horizontal(axis: &findings::Axis, xs: &[f64]) -> (Axis, f64) {
    let (low, high) = ends(xs);
    let is_log = is_by_powers(axis.unit, xs);
    // Seconds, because the page can widen an axis of time.
    let (unit, by) = match axis.unit {
        findings::Unit::Ns if high >= 1e9 && !is_log => (Unit::Seconds, 1e-9),
        unit => (unit.into(), 1.0),
    };
    let (from, to) = match (low, high) {
        (low, high) if low == high && low == 0.0 => (0.0, 1.0),
        (low, high) if low == high => (low - low.abs() / 2.0, low + low.abs() / 2.0),
        // What begins near zero begins at zero, but there is no round 0.
        (low, high) if low > 0.0 && low < high / 5.0 && !is_log && unit != Unit::Count => {
            (0.0, high)
        }
        ends => ends,
    };
    let quantity = shortened(&axis.quantity);
    (Axis { quantity, unit, is_log, from: from * by, to: to * by }, by)
}

/// Whether sizes of requests or depths of queues double from point to point.
fn is_by_powers(unit: findings::Unit, xs: &[f64]) -> bool {
    let (low, high) = ends(xs);
    let mut sorted = xs.to_vec();
    sorted.sort_by(f64::total_cmp);
    let middle = sorted.get(sorted.len() / 2).copied().unwrap_or(high);
    let is_counted = matches!(unit, findings::Unit::Bytes | findings::Unit::Count);
    is_counted && low >= 1.0 && high / low >= POWERS_FACTOR && middle <= high / 3.0
}

/// From zero, so that heights can be compared; only times, and counts such as days, may span
/// decades, and rates where a whole curve would lie on the axis.
fn vertical(axis: &findings::Axis, (low, high): (f64, f64), tops: &[f64]) -> Axis {
    let spans = match axis.unit {
        findings::Unit::Ns | findings::Unit::Count => high / low > WIDE_FACTOR,
        findings::Unit::Iops | findings::Unit::BytesPerS => high / ends(tops).0 > WIDE_FACTOR,
        _ => false,
    };
    let is_log = spans && low > 0.0;
    let step = round_up(low.abs().max(high.abs()) / 8.0);
    let (from, to) = match is_log {
        true => (low * 0.8, high * 1.25),
        false => {
            let from = (low.min(0.0) / step).floor() * step;
            let to = (high.max(0.0) * 1.02 / step).ceil() * step;
            (from, if to > from { to } else { from + 1.0 })
        }
    };
    Axis { quantity: shortened(&axis.quantity), unit: axis.unit.into(), is_log, from, to }
}

/// The how manieth fit of the curve before it each line is; 0 for other lines.
fn fits(lines: &[findings::Line]) -> Vec<u8> {
    let mut fits = 0u8;
    let number = |line: &findings::Line| {
        fits = if line.kind == LineKind::Fit { fits.saturating_add(1) } else { 0 };
        fits
    };
    lines.iter().map(number).collect()
}

/// Reads and writes keep their hue where it tells one measured curve from all others. A fit has
/// the hue of the curve before it, which it is drawn through, unless there is but one: on that it
/// would not be seen. A second fit of a curve has one of its own. A limit stands back.
fn hues(lines: &[findings::Line], fits: &[u8]) -> Vec<Hue> {
    let measured = || lines.iter().filter(|line| line.kind == LineKind::Measured);
    let mut before = Hue::Series(0);
    let mut series = 0;
    let mut hues = Vec::with_capacity(lines.len());
    for (line, fit) in lines.iter().zip(fits) {
        if line.kind == LineKind::Measured {
            let meaning = meaning(&line.label);
            let is_alone = || measured().filter(|one| self::meaning(&one.label) == meaning).count();
            before = match meaning {
                Some(hue) if is_alone() == 1 => hue,
                _ => {
                    series += 1;
                    Hue::Series(series - 1)
                }
            };
        }
        hues.push(match (line.kind, measured().count()) {
            (LineKind::Limit, _) => Hue::Other,
            (LineKind::Fit, _) if *fit > 1 => Hue::Series(SECOND_FIT),
            (LineKind::Fit, 1) if before == Hue::Series(0) => Hue::Series(1),
            (LineKind::Fit, 1) => Hue::Series(0),
            _ => before,
        });
    }
    hues
}

fn meaning(label: &str) -> Option<Hue> {
    let label = label.to_lowercase();
    match (label.contains("read"), label.contains("write")) {
        (true, false) => Some(Hue::Read),
        (false, true) => Some(Hue::Write),
        _ => None,
    }
}

fn stroke(kind: LineKind, fit: u8) -> Stroke {
    match kind {
        LineKind::Measured => Stroke::Solid,
        LineKind::Fit if fit > 1 => Stroke::DashDotted,
        LineKind::Fit => Stroke::Dashed,
        LineKind::Limit => Stroke::Dotted,
    }
}

fn dot(label: &str, at: (f64, f64), hue: Hue, x: &Axis, y: &Axis) -> Point {
    let label = format!("{label}: {} at {}", y.unit.show(at.1), x.unit.show(at.0));
    Point { at, hue, label }
}

/// The words of the places, each said once.
fn words(marks: &[&Mark], by: f64) -> Vec<Span> {
    let mut said: Vec<&str> = Vec::new();
    let mut spans = Vec::new();
    for mark in marks {
        if said.len() < MARKS_SAID_MAX && !said.contains(&mark.label.as_str()) {
            said.push(&mark.label);
            spans.push(Span {
                from: mark.x * by,
                to: mark.x * by,
                word: shortened(&mark.label),
                tip: mark.label.clone(),
                hue: Hue::Other,
            });
        }
    }
    spans
}

fn shortened(words: &str) -> String {
    match words.chars().count() > WORD_CHARACTERS {
        true => words.chars().take(WORD_CHARACTERS - 1).chain(['…']).collect(),
        false => words.to_owned(),
    }
}

fn alt(picture: &Picture, curves: &[Vec<Vec<(f64, f64)>>]) -> String {
    let unit = Unit::from(picture.y.unit);
    let mut said = Vec::new();
    for (line, pieces) in picture.lines.iter().zip(curves) {
        let (low, high) = ends_of(pieces);
        if low.is_finite() {
            let (low, high) = (unit.show(low), unit.show(high));
            said.push(match low == high {
                true => format!("{} {low}", line.label),
                false => format!("{} {low} to {high}", line.label),
            });
        }
    }
    format!("{}. {}: {}.", picture.title, picture.y.quantity, said.join("; "))
}

/// A row for each point of a short curve, and for the ends of each stretch of a long one.
fn numbers(picture: &Picture, curves: &[Vec<Vec<(f64, f64)>>]) -> Table {
    let (x, y) = (Unit::from(picture.x.unit), Unit::from(picture.y.unit));
    let mut rows = Vec::new();
    for mark in picture.marks.iter().filter(|mark| is_number(mark.x)).take(MARKS_MAX) {
        rows.push(vec![mark.label.clone(), x.show(mark.x), String::new()]);
    }
    for (line, pieces) in picture.lines.iter().zip(curves) {
        let points: Vec<(f64, f64)> = pieces.iter().flatten().copied().collect();
        for at in min_max_per_column(&points, ROWS_EACH / 2) {
            rows.push(vec![line.label.clone(), x.show(at.0), y.show(at.1)]);
        }
    }
    let heads = vec!["curve".to_owned(), picture.x.quantity.clone(), picture.y.quantity.clone()];
    Table { heads, rows }
}

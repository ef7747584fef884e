//! Bars in parts, as rows: the legend first, then the name and the sum above each bar.

use std::fmt::Write;

use crate::chart::{Axis, Layered, ticks};
use crate::html::escape;
use crate::svg::{SERIES, open, place, text};

const ROW: f64 = 34.0;
const LEGEND: f64 = 18.0;
/// Room that a character of the legend takes at most, and its patch with what lies around it.
const CHARACTER: f64 = 6.2;
const PATCH: f64 = 24.0;

pub(super) fn draw(
    alt: &str,
    axis: &Axis,
    parts: &[String],
    bars: &[Layered],
    width: f64,
) -> String {
    let places = legend_places(parts, width);
    let rows = places.last().map_or(0.0, |(_, y)| y + LEGEND) + 4.0;
    let height = rows + bars.len() as f64 * ROW + 26.0;
    let mut out = open(alt, width, height, "");
    let at = |value: f64| 2.0 + axis.share(value) * (width - 4.0);
    for ((part, (x, y)), class) in parts.iter().zip(&places).zip(SERIES.iter().cycle()) {
        let (left, top) = (place(*x), place(y + 4.0));
        let _ = write!(
            out,
            "<rect x=\"{left}\" y=\"{top}\" width=\"12\" height=\"10\" class=\"{class} bar\"/>"
        );
        text(&mut out, x + 16.0, y + 13.0, "on", part);
    }
    let marks = ticks(axis, if width > 500.0 { 6 } else { 4 });
    for tick in &marks {
        let x = place(at(tick.at));
        let (top, bottom) = (place(rows), place(height - 20.0));
        let _ = write!(out, "<path d=\"M{x} {top}V{bottom}\" class=\"grid\"/>");
    }
    for (index, bar) in bars.iter().enumerate() {
        row(&mut out, bar, rows + index as f64 * ROW, width, &at);
    }
    for tick in &marks {
        let x = at(tick.at);
        let (x, class) = match () {
            () if x < 20.0 => (2.0, ""),
            () if x > width - 20.0 => (width - 2.0, "end"),
            () => (x, "mid"),
        };
        text(&mut out, x, height - 6.0, class, &tick.label);
    }
    out.push_str("</svg>");
    out
}

/// Where each name of the legend begins; a row that is full is followed by another.
fn legend_places(parts: &[String], width: f64) -> Vec<(f64, f64)> {
    let (mut x, mut y) = (2.0, 0.0);
    let mut places = Vec::with_capacity(parts.len());
    for part in parts {
        let room = PATCH + part.chars().count() as f64 * CHARACTER;
        if x > 2.0 && x + room > width {
            (x, y) = (2.0, y + LEGEND);
        }
        places.push((x, y));
        x += room;
    }
    places
}

fn row(out: &mut String, bar: &Layered, y: f64, width: f64, at: &dyn Fn(f64) -> f64) {
    let top = place(y + 17.0);
    let mut sum = 0.0;
    for ((value, tip), class) in bar.values.iter().zip(&bar.tips).zip(SERIES.iter().cycle()) {
        let from = at(sum);
        sum += value;
        let (left, length) = (place(from), place(at(sum) - from));
        let tip = escape(&format!("{}, {tip}", bar.label));
        let _ = write!(
            out,
            "<g><title>{tip}</title><rect x=\"{left}\" y=\"{top}\" width=\"{length}\" \
             height=\"12\" class=\"{class} bar\"/></g>"
        );
    }
    text(out, 2.0, y + 13.0, "on", &bar.label);
    text(out, width - 2.0, y + 13.0, "on end number", &bar.text);
}

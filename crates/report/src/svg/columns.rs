//! Upright bars of many tests: a panel for each, as many next to each other as the width holds.

use std::fmt::Write;

use crate::svg::{class, legend, open, place, text};
use crate::text::escape;
use crate::view::chart::{Bar, Test, ticks};

/// The least width of a panel.
const PANEL_MIN: f64 = 230.0;
/// The height of the bars' field, and of what stands above and below it.
const FIELD: f64 = 92.0;
const TITLE: f64 = 20.0;
const FOOT: f64 = 30.0;
/// Room for the labels of the axis.
const LABELS: f64 = 56.0;
/// Between two panels.
const GUTTER: f64 = 12.0;
/// Marks of an axis.
const MARKS: usize = 3;

pub(super) fn draw(alt: &str, sides: &[String], tests: &[Test], width: f64) -> String {
    let places = legend::places(sides, width);
    let top = legend::height(&places);
    let columns = ((width / PANEL_MIN) as usize).clamp(1, tests.len().max(1));
    let panel = width / columns as f64;
    let row = TITLE + FIELD + FOOT;
    let rows = tests.len().div_ceil(columns);
    let mut out = open(alt, width, top + rows as f64 * row, "");
    legend::draw(&mut out, sides, &places);
    for (index, test) in tests.iter().enumerate() {
        let x = (index % columns) as f64 * panel;
        let y = top + (index / columns) as f64 * row;
        one(&mut out, test, (x, y), panel - GUTTER);
    }
    out.push_str("</svg>");
    out
}

fn one(out: &mut String, test: &Test, (x, y): (f64, f64), width: f64) {
    text(out, x, y + 13.0, "on", &test.axis.naming_unit(&test.title));
    let (left, right, bottom) = (x + LABELS, x + width, y + TITLE + FIELD);
    let up = |value: f64| bottom - test.axis.share(value) * FIELD;
    let mut lines = String::new();
    for tick in ticks(&test.axis, MARKS) {
        let level = up(tick.at);
        let _ = write!(lines, "M{} {}H{}", place(left), place(level), place(right));
        text(out, left - 4.0, level + 4.0, "end", tick.short());
    }
    let _ = write!(out, "<path d=\"{lines}\" class=\"grid\"/>");
    let room = (right - left) / test.groups.len().max(1) as f64;
    for (index, (label, bars)) in test.groups.iter().enumerate() {
        let from = left + index as f64 * room;
        let bar = (room * 0.8 / bars.len().max(1) as f64).min(26.0);
        let first = from + (room - bar * bars.len() as f64) / 2.0;
        for (side, found) in bars.iter().enumerate() {
            if let Some(found) = found {
                column(out, found, first + side as f64 * bar, bar, bottom, &up);
            }
        }
        text(out, from + room / 2.0, bottom + 13.0, "mid", label);
    }
}

fn column(out: &mut String, bar: &Bar, x: f64, width: f64, bottom: f64, up: &dyn Fn(f64) -> f64) {
    let tip = escape(&format!("{}: {}", bar.label, bar.text));
    let (left, top, wide) = (place(x), place(up(bar.value)), place(width - 1.0));
    let high = place(bottom - up(bar.value));
    let _ = write!(
        out,
        "<g><title>{tip}</title><rect x=\"{left}\" y=\"{top}\" width=\"{wide}\" \
         height=\"{high}\" class=\"{} bar\"/>",
        class(bar.hue)
    );
    if let Some((low, high)) = bar.interval {
        let (x, low, high) = (place(x + width / 2.0 - 0.5), place(up(low)), place(up(high)));
        let whisker = format!("M{x} {low}V{high}M{x} {low}m-3 0h6M{x} {high}m-3 0h6");
        let _ = write!(
            out,
            "<path d=\"{whisker}\" class=\"halo\"/><path d=\"{whisker}\" class=\"error\"/>"
        );
    }
    out.push_str("</g>");
}

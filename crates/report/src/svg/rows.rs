//! The axis below rows of bars: its grid behind them, its labels below.

use std::fmt::Write;

use crate::chart::{Axis, Tick, ticks};
use crate::svg::{place, text};

/// Room below the last row for the labels.
pub(super) const FOOT: f64 = 26.0;
/// Wider pictures have room for more labels.
const WIDE: f64 = 500.0;

/// Lines behind the bars, from `top` to the labels of a picture of this `height`.
pub(super) fn grid(
    out: &mut String,
    axis: &Axis,
    (width, height): (f64, f64),
    top: f64,
    at: &dyn Fn(f64) -> f64,
) {
    let mut lines = String::new();
    for tick in marks(axis, width) {
        let _ = write!(lines, "M{} {}V{}", place(at(tick.at)), place(top), place(height - 20.0));
    }
    let _ = write!(out, "<path d=\"{lines}\" class=\"grid\"/>");
}

/// The labels, within the edges of the picture.
pub(super) fn labels(
    out: &mut String,
    axis: &Axis,
    (width, height): (f64, f64),
    at: &dyn Fn(f64) -> f64,
) {
    for tick in marks(axis, width) {
        let x = at(tick.at);
        let (x, class) = match () {
            () if x < 20.0 => (2.0, ""),
            () if x > width - 20.0 => (width - 2.0, "end"),
            () => (x, "mid"),
        };
        text(out, x, height - 6.0, class, &tick.label);
    }
}

fn marks(axis: &Axis, width: f64) -> Vec<Tick> {
    ticks(axis, if width > WIDE { 6 } else { 4 })
}

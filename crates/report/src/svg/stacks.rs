//! Bars in parts, as rows: the legend first, then the name and the sum above each bar.

use std::fmt::Write;

use crate::chart::{Axis, Layered};
use crate::html::escape;
use crate::svg::{SERIES, legend, open, place, rows, text};

const ROW: f64 = 34.0;

pub(super) fn draw(
    alt: &str,
    axis: &Axis,
    parts: &[String],
    bars: &[Layered],
    width: f64,
) -> String {
    let places = legend::places(parts, width);
    let top = legend::height(&places);
    let size = (width, top + bars.len() as f64 * ROW + rows::FOOT);
    let mut out = open(alt, size.0, size.1, "");
    let at = |value: f64| 2.0 + axis.share(value) * (width - 4.0);
    legend::draw(&mut out, parts, &places);
    rows::grid(&mut out, axis, size, top, &at);
    for (index, bar) in bars.iter().enumerate() {
        row(&mut out, bar, top + index as f64 * ROW, width, &at);
    }
    rows::labels(&mut out, axis, size, &at);
    out.push_str("</svg>");
    out
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

//! Bars in parts, as rows: the legend first, then the name and the sum above each bar.

use std::fmt::Write;

use crate::svg::{SERIES, legend, open, place, rows};
use crate::text::escape;
use crate::view::chart::{Axis, Layered};

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
    let names: Vec<Vec<String>> =
        bars.iter().map(|bar| rows::wrapped(&bar.label, &bar.text, width)).collect();
    let more: f64 = names.iter().map(|lines| rows::more(lines)).sum();
    let size = (width, top + bars.len() as f64 * ROW + more + rows::FOOT);
    let mut out = open(alt, size.0, size.1, "");
    let at = |value: f64| 2.0 + axis.share(value) * (width - 4.0);
    legend::draw(&mut out, parts, &places);
    rows::grid(&mut out, axis, size, top, &at);
    let mut y = top;
    for (bar, lines) in bars.iter().zip(&names) {
        y += rows::name(&mut out, lines, &bar.text, y, width);
        row(&mut out, bar, y, &at);
        y += ROW;
    }
    rows::labels(&mut out, axis, size, &at);
    out.push_str("</svg>");
    out
}

fn row(out: &mut String, bar: &Layered, y: f64, at: &dyn Fn(f64) -> f64) {
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
}

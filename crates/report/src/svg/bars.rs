//! Bars as rows: the name and the number above, the bar and its interval below.

use std::fmt::Write;

use crate::svg::{class, open, place, rows};
use crate::text::escape;
use crate::view::chart::{Axis, Bar};

const ROW: f64 = 34.0;

pub(super) fn draw(alt: &str, axis: &Axis, bars: &[Bar], width: f64) -> String {
    let names: Vec<Vec<String>> =
        bars.iter().map(|bar| rows::wrapped(&bar.label, &bar.text, width)).collect();
    let more: f64 = names.iter().map(|lines| rows::more(lines)).sum();
    let size = (width, bars.len() as f64 * ROW + more + rows::FOOT);
    let mut out = open(alt, size.0, size.1, "");
    let at = |value: f64| 2.0 + axis.share(value) * (width - 4.0);
    rows::grid(&mut out, axis, size, 0.0, &at);
    let mut y = 0.0;
    for (bar, lines) in bars.iter().zip(&names) {
        y += ROW + row(&mut out, bar, lines, y, width, &at);
    }
    rows::labels(&mut out, axis, size, &at);
    out.push_str("</svg>");
    out
}

/// Draws a bar; gives the room that it takes beyond that of a row.
fn row(
    out: &mut String,
    bar: &Bar,
    lines: &[String],
    y: f64,
    width: f64,
    at: &dyn Fn(f64) -> f64,
) -> f64 {
    let class = class(bar.hue);
    let kind = if bar.is_suspect { "doubt" } else { "bar" };
    let length = place(at(bar.value) - 2.0);
    let tip = escape(&format!("{}: {}", bar.label, bar.text));
    let more = rows::more(lines);
    let _ = write!(
        out,
        "<g><title>{tip}</title><rect x=\"2\" y=\"{}\" width=\"{length}\" height=\"12\" \
         class=\"{class} {kind}\"/>",
        place(y + more + 17.0),
    );
    if let Some((low, high)) = bar.interval {
        let (low, high, y) = (place(at(low)), place(at(high)), place(y + more + 23.0));
        let whisker = format!("M{low} {y}H{high}M{low} {y}m0 -4v8M{high} {y}m0 -4v8");
        let _ = write!(out, "<path d=\"{whisker}\" class=\"error\"/>");
    }
    rows::name(out, lines, &bar.text, y, width);
    out.push_str("</g>");
    more
}

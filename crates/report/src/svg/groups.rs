//! Bars in groups, as rows: the legend first, then the name above the bars of each group.

use std::fmt::Write;

use crate::svg::{class, legend, open, place, rows, text};
use crate::text::escape;
use crate::view::chart::{Axis, Bar};

const NAME: f64 = 17.0;
const BAR: f64 = 14.0;
const GAP: f64 = 6.0;
/// Room for the numbers to the right of the bars.
const NUMBERS: f64 = 74.0;

pub(super) fn draw(
    alt: &str,
    axis: &Axis,
    sides: &[String],
    groups: &[(String, Vec<Option<Bar>>)],
    width: f64,
) -> String {
    let places = legend::places(sides, width);
    let top = legend::height(&places);
    let group = NAME + BAR * sides.len() as f64 + GAP;
    let names: Vec<Vec<String>> =
        groups.iter().map(|(label, _)| rows::wrapped(label, "", width)).collect();
    let more: f64 = names.iter().map(|lines| rows::more(lines)).sum();
    let size = (width, top + groups.len() as f64 * group + more + rows::FOOT);
    let mut out = open(alt, size.0, size.1, "");
    let at = |value: f64| 2.0 + axis.share(value) * (width - NUMBERS - 4.0);
    legend::draw(&mut out, sides, &places);
    rows::grid(&mut out, axis, size, top, &at);
    let mut next = top;
    for ((_, bars), lines) in groups.iter().zip(&names) {
        let y = next + rows::name(&mut out, lines, "", next, width);
        next = y + group;
        for (side, found) in bars.iter().enumerate() {
            let y = y + NAME + side as f64 * BAR;
            match found {
                Some(found) => bar(&mut out, found, y, width, &at),
                None => text(&mut out, width - 2.0, y + 10.0, "on end", "none"),
            }
        }
    }
    rows::labels(&mut out, axis, size, &at);
    out.push_str("</svg>");
    out
}

fn bar(out: &mut String, bar: &Bar, y: f64, width: f64, at: &dyn Fn(f64) -> f64) {
    let tip = escape(&format!("{}: {}", bar.label, bar.text));
    let _ = write!(
        out,
        "<g><title>{tip}</title><rect x=\"2\" y=\"{}\" width=\"{}\" height=\"11\" \
         class=\"{} bar\"/>",
        place(y),
        place(at(bar.value) - 2.0),
        class(bar.hue)
    );
    if let Some((low, high)) = bar.interval {
        let (low, high, y) = (place(at(low)), place(at(high)), place(y + 5.5));
        let whisker = format!("M{low} {y}H{high}M{low} {y}m0 -4v8M{high} {y}m0 -4v8");
        let _ = write!(
            out,
            "<path d=\"{whisker}\" class=\"halo\"/><path d=\"{whisker}\" class=\"error\"/>"
        );
    }
    text(out, width - 2.0, y + 10.0, "on end number", &bar.text);
    out.push_str("</g>");
}

//! Bars as rows: the name and the number above, the bar and its interval below.

use std::fmt::Write;

use crate::chart::{Axis, Bar};
use crate::html::escape;
use crate::svg::{class, open, place, rows, text};

const ROW: f64 = 34.0;
/// Room that a character takes at most, on average.
const CHARACTER: f64 = 6.2;

pub(super) fn draw(alt: &str, axis: &Axis, bars: &[Bar], width: f64) -> String {
    let size = (width, bars.len() as f64 * ROW + rows::FOOT);
    let mut out = open(alt, size.0, size.1, "");
    let at = |value: f64| 2.0 + axis.share(value) * (width - 4.0);
    rows::grid(&mut out, axis, size, 0.0, &at);
    for (index, bar) in bars.iter().enumerate() {
        row(&mut out, bar, index as f64 * ROW, width, &at);
    }
    rows::labels(&mut out, axis, size, &at);
    out.push_str("</svg>");
    out
}

fn row(out: &mut String, bar: &Bar, y: f64, width: f64, at: &dyn Fn(f64) -> f64) {
    let class = class(bar.hue);
    let kind = if bar.is_suspect { "doubt" } else { "bar" };
    let length = place(at(bar.value) - 2.0);
    let tip = escape(&format!("{}: {}", bar.label, bar.text));
    let _ = write!(
        out,
        "<g><title>{tip}</title><rect x=\"2\" y=\"{}\" width=\"{length}\" height=\"12\" \
         class=\"{class} {kind}\"/>",
        place(y + 17.0),
    );
    if let Some((low, high)) = bar.interval {
        let (low, high, y) = (place(at(low)), place(at(high)), place(y + 23.0));
        let whisker = format!("M{low} {y}H{high}M{low} {y}m0 -4v8M{high} {y}m0 -4v8");
        let _ = write!(out, "<path d=\"{whisker}\" class=\"error\"/>");
    }
    let room = ((width - 10.0) / CHARACTER) as usize;
    let room = room.saturating_sub(bar.text.chars().count());
    text(out, 2.0, y + 13.0, "on", &shortened(&bar.label, room));
    text(out, width - 2.0, y + 13.0, "on end number", &bar.text);
    out.push_str("</g>");
}

fn shortened(label: &str, room: usize) -> String {
    if label.chars().count() <= room {
        return label.to_owned();
    }
    let mut text: String = label.chars().take(room.saturating_sub(1)).collect();
    text.push('…');
    text
}

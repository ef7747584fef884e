//! What happened when: a row for each stretch that was watched, over one axis of time.

use std::fmt::Write;

use crate::svg::{open, place, rows, text};
use crate::text::escape;
use crate::view::chart::{Axis, TimelineRow};

const TRACK: f64 = 20.0;
const NAME: f64 = 17.0;
const GAP: f64 = 8.0;
/// Room on the left for the grade.
const GRADE: f64 = 96.0;
/// The least that a time is wide, so that it can be seen.
const LEAST: f64 = 1.5;

pub(super) fn draw(
    alt: &str,
    axis: &Axis,
    grade: &str,
    timeline: &[TimelineRow],
    width: f64,
) -> String {
    let left = if grade.is_empty() { 2.0 } else { GRADE };
    let names: Vec<Vec<String>> =
        timeline.iter().map(|row| rows::wrapped(&row.label, &row.text, width - left)).collect();
    let more: f64 = names.iter().map(|lines| rows::more(lines)).sum();
    let each = NAME + TRACK + GAP;
    let height = (timeline.len() as f64 * each + more).max(70.0) + rows::FOOT;
    let mut out = open(alt, width, height, "");
    if !grade.is_empty() {
        text(&mut out, 2.0, 14.0, "", "grade");
        text(&mut out, 2.0, 66.0, "on letter", grade);
    }
    let at = |value: f64| left + axis.share(value) * (width - left - 4.0);
    let mut y = 0.0;
    for (row, lines) in timeline.iter().zip(&names) {
        let _ = write!(out, "<g transform=\"translate({} 0)\">", place(left - 2.0));
        let more = rows::name(&mut out, lines, &row.text, y, width - left + 2.0);
        out.push_str("</g>");
        track(&mut out, row, y + more + NAME, &at);
        y += each + more;
    }
    labels(&mut out, axis, (width, height), &at);
    out.push_str("</svg>");
    out
}

fn track(out: &mut String, row: &TimelineRow, y: f64, at: &dyn Fn(f64) -> f64) {
    let (left, right) = (at(0.0), at(row.length));
    let _ = write!(
        out,
        "<rect x=\"{}\" y=\"{}\" width=\"{}\" height=\"{TRACK}\" class=\"track\"/>",
        place(left),
        place(y),
        place(right - left)
    );
    for (from, to, is_bad, tip) in &row.times {
        let x = at(*from);
        let wide = (at(*to) - x).max(LEAST);
        let x = x.min(right - wide).max(left);
        let (class, top, high) = match is_bad {
            true => ("warning bar", y, TRACK),
            false => ("other bar", y + TRACK * 0.7, TRACK * 0.3),
        };
        let _ = write!(
            out,
            "<g><title>{}</title><rect x=\"{}\" y=\"{}\" width=\"{}\" height=\"{}\" \
             class=\"{class}\"/></g>",
            escape(tip),
            place(x),
            place(top),
            place(wide),
            place(high)
        );
    }
}

fn labels(out: &mut String, axis: &Axis, (width, height): (f64, f64), at: &dyn Fn(f64) -> f64) {
    for tick in crate::view::chart::ticks(axis, if width > 500.0 { 8 } else { 4 }) {
        let x = at(tick.at);
        let _ =
            write!(out, "<path d=\"M{} {}v4\" class=\"axis\"/>", place(x), place(height - 24.0));
        let (x, class) = if x > width - 24.0 { (width - 2.0, "end") } else { (x, "mid") };
        text(out, x, height - 8.0, class, &tick.label);
    }
}

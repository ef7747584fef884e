//! Ratios as rows on one logarithmic axis: the name, the interval, the change in words.

use std::fmt::Write;

use crate::svg::{open, place, text};
use crate::text::escape;
use drivelab_core::comparison::Cell;

const WIDTH: f64 = 900.0;
const ROW: f64 = 17.0;
/// Where the axis begins and ends; names stand on its left, numbers on its right.
const PLOT: (f64, f64) = (250.0, 660.0);
/// Characters that fit on the left.
const NAME_CHARACTERS: usize = 40;
/// Changes that may be labelled, as ratios.
const TICKS: [f64; 13] = [0.1, 0.2, 0.33, 0.5, 0.67, 0.8, 0.9, 1.0, 1.1, 1.25, 1.5, 2.0, 5.0];
/// Labels are at least so far apart.
const TICK_ROOM: f64 = 44.0;

/// All cells of a comparison in one picture. `band`: what counts as unchanged, where that is one
/// and the same for all; `reach`: the largest logarithm of a ratio to each side.
pub fn forest(cells: &[&Cell], names: &[String], band: Option<(f64, f64)>, reach: f64) -> String {
    let height = cells.len() as f64 * ROW + 30.0;
    let bottom = height - 24.0;
    let middle = f64::midpoint(PLOT.0, PLOT.1);
    let at = |ratio: f64| {
        let share = (ratio.ln() / reach).clamp(-1.0, 1.0);
        let share = if share.is_nan() { 0.0 } else { share };
        middle + share * (PLOT.1 - PLOT.0) / 2.0
    };
    let mut out = open("Each cell's ratio of after to before", WIDTH, height, " class=\"forest\"");
    if let Some((low, high)) = band {
        let (left, right) = (at(low), at(high));
        let _ = write!(
            out,
            "<rect x=\"{}\" y=\"0\" width=\"{}\" height=\"{}\" class=\"unchanged\"/>",
            place(left),
            place(right - left),
            place(bottom)
        );
    }
    let _ = write!(out, "<path d=\"M{} 0V{}\" class=\"axis\"/>", place(middle), place(bottom));
    axis(&mut out, &at, reach, bottom);
    for (index, (cell, name)) in cells.iter().zip(names).enumerate() {
        row(&mut out, cell, name, index as f64 * ROW, &at);
    }
    out.push_str("</svg>");
    out
}

fn axis(out: &mut String, at: &dyn Fn(f64) -> f64, reach: f64, bottom: f64) {
    let mut last = f64::NEG_INFINITY;
    // "Unchanged" is always labelled; the others where there is room beside it.
    let middle = at(1.0);
    for ratio in TICKS.iter().filter(|ratio| ratio.ln().abs() <= reach) {
        let x = at(*ratio);
        let is_middle = *ratio == 1.0;
        if !is_middle && (x - last < TICK_ROOM || (x - middle).abs() < TICK_ROOM) {
            continue;
        }
        last = x;
        let _ = write!(out, "<path d=\"M{} {}v5\" class=\"axis\"/>", place(x), place(bottom));
        let label =
            if is_middle { "same".to_owned() } else { format!("{:+.0} %", 100.0 * (ratio - 1.0)) };
        text(out, x, bottom + 17.0, "mid", &label);
    }
}

fn row(out: &mut String, cell: &Cell, name: &str, y: f64, at: &dyn Fn(f64) -> f64) {
    let Some(ratio) = cell.ratio else { return };
    let class = match cell.word() {
        "slower" => "warning",
        "faster" => "read",
        "negligible" | "size unsettled" => "write",
        _ => "other",
    };
    let (change, _) = crate::view::comparison::change(cell);
    let middle = y + ROW / 2.0;
    let _ =
        write!(out, "<g><title>{}</title>", escape(&format!("{name}: {} {change}", cell.word())));
    let shown: String = match name.chars().count() > NAME_CHARACTERS {
        true => name.chars().take(NAME_CHARACTERS - 1).chain(['…']).collect(),
        false => name.to_owned(),
    };
    text(out, PLOT.0 - 12.0, middle + 4.0, "on end", &shown);
    if let (Some(low), Some(high)) = (ratio.low, ratio.high) {
        let (low, high, middle) = (place(at(low)), place(at(high)), place(middle));
        let whisker =
            format!("M{low} {middle}H{high}M{low} {middle}m0 -3v6M{high} {middle}m0 -3v6");
        let _ = write!(out, "<path d=\"{whisker}\" class=\"line {class}\"/>");
    }
    let filled = if cell.word() == "cannot tell" { "hollow" } else { "dot" };
    let _ = write!(
        out,
        "<circle cx=\"{}\" cy=\"{}\" r=\"3.4\" class=\"{filled} {class}\"/>",
        place(at(ratio.value)),
        place(middle)
    );
    text(out, PLOT.1 + 14.0, middle + 4.0, &format!("on {class}"), cell.word());
    text(out, WIDTH - 2.0, middle + 4.0, "on end", &change);
    out.push_str("</g>");
}

//! A heat map: names on the left, or above on a phone, and a field for each ratio.
//!
//! The number and its mark say everything; the colour only helps to find it.

use std::fmt::Write;

use drivelab_core::comparison::Cell;
use drivelab_core::findings::{HeatMap, HeatRow};

use crate::svg::{open, place, text};
use crate::text::escape;
use crate::view::comparison::change;
use crate::view::heat::{entry, strength};

/// Narrower pictures have the names above the fields.
const BESIDE_MIN: f64 = 600.0;
const NAME: f64 = 250.0;
const FIELD: f64 = 28.0;
const GAP: f64 = 2.0;
const HEAD: f64 = 32.0;
/// Room above the fields of a row whose name stands there.
const ABOVE: f64 = 18.0;

/// Where everything goes.
struct Frame {
    left: f64,
    above: f64,
    column: f64,
    width: f64,
    /// The title says what all rows are compared with.
    is_by_said: bool,
}

/// The map as a picture of this width.
pub fn heat(map: &HeatMap, width: u32) -> String {
    let width = f64::from(width);
    let is_beside = width >= BESIDE_MIN;
    let left = if is_beside { NAME } else { 0.0 };
    let above = if is_beside { 0.0 } else { ABOVE };
    let column = (width - left) / map.columns.len().max(1) as f64;
    let is_said =
        |row: &HeatRow| row.against == map.rows[0].against && map.title.contains(&row.against);
    let frame = Frame { left, above, column, width, is_by_said: map.rows.iter().all(is_said) };
    let row_height = FIELD + GAP + above;
    let height = HEAD + map.rows.len() as f64 * row_height + 2.0;
    let mut out = open(&map.title, width, height, " class=\"heat\"");
    for (index, name) in map.columns.iter().enumerate() {
        let middle = left + (index as f64 + 0.5) * column;
        let (first, second) = name.split_once(' ').unwrap_or(("", name));
        text(&mut out, middle, 12.0, "mid", first);
        text(&mut out, middle, 25.0, "mid", second);
    }
    for (index, row) in map.rows.iter().enumerate() {
        draw(&mut out, &frame, map, row, HEAD + index as f64 * row_height);
    }
    out.push_str("</svg>");
    out
}

fn draw(out: &mut String, frame: &Frame, map: &HeatMap, row: &HeatRow, y: f64) {
    let by = (!frame.is_by_said).then(|| format!("by {}", row.against));
    let is_beside = frame.above == 0.0;
    let baseline = match (is_beside, &by) {
        (true, Some(_)) => 12.0,
        (true, None) => FIELD / 2.0 + 4.0,
        (false, _) => 13.0,
    };
    text(out, 0.0, y + baseline, "on", &row.name);
    if let Some(by) = by {
        let (x, y, class) =
            if is_beside { (0.0, y + 25.0, "") } else { (frame.width, y + 13.0, "end") };
        text(out, x, y, class, &by);
    }
    let top = y + frame.above;
    for index in 0..map.columns.len() {
        let x = frame.left + index as f64 * frame.column;
        match row.cells.get(index).and_then(Option::as_ref) {
            Some(cell) => field(out, frame, row, &map.columns[index], cell, (x, top)),
            None => {
                let middle = x + frame.column / 2.0;
                text(out, middle, top + FIELD / 2.0 + 4.0, "mid", "·");
            }
        }
    }
}

fn field(
    out: &mut String,
    frame: &Frame,
    row: &HeatRow,
    column: &str,
    cell: &Cell,
    (x, y): (f64, f64),
) {
    let word = cell.word();
    let class = match word {
        "slower" => "warning",
        "faster" => "read",
        _ => "other",
    };
    let (says, _) = change(cell);
    let tip = escape(&format!("{column}, {}: {word} {says}", row.name));
    let _ = write!(out, "<g><title>{tip}</title>");
    let (left, width) = (place(x + GAP), place(frame.column - 2.0 * GAP));
    let (top, height) = (place(y), place(FIELD));
    let shape = match word {
        "slower" | "faster" => {
            format!("class=\"{class} level\" fill-opacity=\"{:.2}\"", strength(cell))
        }
        "cannot tell" | "size unsettled" | "suspect" | "no noise" => {
            "class=\"other unsure\"".to_owned()
        }
        _ => "class=\"other same\"".to_owned(),
    };
    let _ = write!(
        out,
        "<rect x=\"{left}\" y=\"{top}\" width=\"{width}\" height=\"{height}\" rx=\"3\" {shape}/>"
    );
    let class = if matches!(word, "slower" | "faster") { "on mid number" } else { "on mid" };
    text(out, x + frame.column / 2.0, y + FIELD / 2.0 + 4.0, class, &entry(cell));
    out.push_str("</g>");
}

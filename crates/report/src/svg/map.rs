//! Numbered places in a plane of two logarithmic axes, with their names below.
//!
//! Names next to the places would cover each other; a number has room nearly anywhere.

use std::fmt::Write;

use crate::svg::{class, open, place, text};
use crate::text::escape;
use crate::view::chart::{Axis, Place, ticks};

const LEFT: f64 = 58.0;
const RIGHT: f64 = 14.0;
const HEAD: f64 = 25.0;
const FOOT: f64 = 38.0;
/// A name below the plot, and the least width of a column of them.
const NAME_ROW: f64 = 16.0;
const NAME_COLUMN_MIN: f64 = 330.0;
/// Height of the letters of a number, and the width of one.
const LETTER: (f64, f64) = (6.8, 11.0);
const DOT: f64 = 3.6;
/// How far from its place a number may stand.
const FAR: usize = 9;
const STEP: f64 = 6.0;

/// A rectangle that is taken: left, top, right, bottom.
type Box4 = (f64, f64, f64, f64);

struct Frame<'a> {
    x: &'a Axis,
    y: &'a Axis,
    width: f64,
    high: f64,
}

impl Frame<'_> {
    fn at(&self, (x, y): (f64, f64)) -> (f64, f64) {
        let wide = self.width - LEFT - RIGHT;
        (LEFT + self.x.share(x) * wide, HEAD + (1.0 - self.y.share(y)) * self.high)
    }

    fn right(&self) -> f64 {
        self.width - RIGHT
    }

    fn floor(&self) -> f64 {
        HEAD + self.high
    }

    fn holds(&self, it: &Box4) -> bool {
        it.0 >= LEFT && it.1 >= HEAD && it.2 <= self.right() && it.3 <= self.floor()
    }
}

pub(super) fn draw(
    alt: &str,
    (x, y): (&Axis, &Axis),
    places: &[Place],
    guides: &[(f64, String)],
    width: f64,
) -> String {
    let high = if width > 500.0 { 330.0 } else { 280.0 };
    let frame = Frame { x, y, width, high };
    let columns = ((width / NAME_COLUMN_MIN) as usize).max(1);
    let names = key(places, width / columns as f64);
    let rows: usize = names.iter().map(Vec::len).sum();
    let each = rows.div_ceil(columns).max(1);
    let mut out = String::new();
    axes(&mut out, &frame);
    let mut taken: Vec<Box4> = places.iter().map(|one| around(frame.at(one.at), DOT)).collect();
    taken.extend(places.iter().filter_map(|one| {
        let ((x, y), top) = (frame.at(one.at), frame.at((one.at.0, one.up_to?)).1);
        Some((x - 3.0, top - 1.0, x + 3.0, y))
    }));
    guides.iter().for_each(|guide| line(&mut out, &frame, guide, &mut taken));
    for (index, one) in places.iter().enumerate() {
        mark(&mut out, &frame, one, index + 1, &mut taken);
    }
    let deepest = list(&mut out, &frame, places, &names, (each, columns));
    out.push_str("</svg>");
    let height = frame.floor() + FOOT + deepest as f64 * NAME_ROW + 6.0;
    format!("{}{out}", open(alt, width, height, ""))
}

fn around((x, y): (f64, f64), reach: f64) -> Box4 {
    (x - reach, y - reach, x + reach, y + reach)
}

fn meets(a: &Box4, b: &Box4) -> bool {
    a.0 < b.2 && b.0 < a.2 && a.1 < b.3 && b.1 < a.3
}

fn axes(out: &mut String, frame: &Frame<'_>) {
    let mut grid = String::new();
    for tick in ticks(frame.y, 8) {
        let y = frame.at((frame.x.from, tick.at)).1;
        let _ = write!(grid, "M{} {}H{}", place(LEFT), place(y), place(frame.right()));
        text(out, LEFT - 5.0, y + 3.5, "end", tick.short());
    }
    for tick in ticks(frame.x, if frame.width > 500.0 { 8 } else { 5 }) {
        let x = frame.at((tick.at, frame.y.from)).0;
        let _ = write!(grid, "M{} {}V{}", place(x), place(HEAD), place(frame.floor()));
        text(out, x, frame.floor() + 15.0, "mid", tick.short());
    }
    let _ = write!(out, "<path d=\"{grid}\" class=\"grid\"/>");
    text(out, 2.0, 12.0, "name", &frame.y.name());
    text(out, frame.right(), frame.floor() + 31.0, "name end", &frame.x.name());
}

/// A line of constant rate × latency from edge to edge, and its name at its lower end, where few
/// places are.
fn line(
    out: &mut String,
    frame: &Frame<'_>,
    (product, name): &(f64, String),
    taken: &mut Vec<Box4>,
) {
    let from = frame.x.from.max(product / frame.y.to);
    let to = frame.x.to.min(product / frame.y.from);
    if from >= to {
        return;
    }
    let (a, b) = (frame.at((from, product / from)), frame.at((to, product / to)));
    let _ = write!(
        out,
        "<path d=\"M{} {}L{} {}\" class=\"other line guide\"/>",
        place(a.0),
        place(a.1),
        place(b.0),
        place(b.1)
    );
    let wide = name.chars().count() as f64 * LETTER.0;
    // Along the line from its lower end until there is room.
    for step in 0..20 {
        let share = 1.0 - f64::from(step) / 20.0;
        let (x, y) = (a.0 + (b.0 - a.0) * share, a.1 + (b.1 - a.1) * share);
        for (left, base) in [(x + 4.0, y - 3.0), (x - wide - 4.0, y + 11.0)] {
            let it = (left, base - 9.0, left + wide, base + 3.0);
            if frame.holds(&it) && !taken.iter().any(|other| meets(other, &it)) {
                taken.push(it);
                text(out, left, base, "", name);
                return;
            }
        }
    }
}

fn mark(out: &mut String, frame: &Frame<'_>, one: &Place, number: usize, taken: &mut Vec<Box4>) {
    let (x, y) = frame.at(one.at);
    let kind = if one.is_suspect { "hollow" } else { "dot" };
    let _ = write!(
        out,
        "<g class=\"{}\"><title>{}</title>",
        class(one.hue),
        escape(&format!("{number} {}", one.label))
    );
    if let Some(up_to) = one.up_to {
        let top = frame.at((one.at.0, up_to)).1;
        let (x, y, top) = (place(x), place(y), place(top));
        let _ = write!(out, "<path d=\"M{x} {y}V{top}m-3 0h6\" class=\"line\"/>");
    }
    let _ = write!(
        out,
        "<circle cx=\"{}\" cy=\"{}\" r=\"{DOT}\" class=\"{kind}\"/></g>",
        place(x),
        place(y)
    );
    let words = number.to_string();
    let wide = words.len() as f64 * LETTER.0;
    let free = candidates((x, y), wide)
        .find(|it| frame.holds(it) && !taken.iter().any(|other| meets(other, it)));
    if let Some(it) = free {
        let middle = (f64::midpoint(it.0, it.2), f64::midpoint(it.1, it.3));
        if (middle.0 - x).hypot(middle.1 - y) > 3.0 * STEP {
            let _ = write!(
                out,
                "<path d=\"M{} {}L{} {}\" class=\"axis\"/>",
                place(x),
                place(y),
                place(middle.0.clamp(it.0, it.2)),
                place(if middle.1 < y { it.3 } else { it.1 })
            );
        }
        text(out, it.0, it.3 - 2.0, "on", &words);
        taken.push(it);
    }
}

/// Where a number may stand, the nearest first.
fn candidates((x, y): (f64, f64), wide: f64) -> impl Iterator<Item = Box4> {
    (1..=FAR).flat_map(move |far| {
        (0..16).map(move |turn| {
            let angle = f64::from(turn) * std::f64::consts::TAU / 16.0;
            let reach = 5.0 + STEP * far as f64;
            let (cx, cy) = (x + (reach + wide / 2.0) * angle.cos(), y + reach * angle.sin());
            let high = LETTER.1 / 2.0;
            (cx - wide / 2.0 - 1.0, cy - high, cx + wide / 2.0 + 1.0, cy + high)
        })
    })
}

/// The names, in lines that fit their column.
fn key(places: &[Place], width: f64) -> Vec<Vec<String>> {
    let room = width - 34.0;
    places.iter().map(|one| super::rows::wrapped(&one.label, "", room)).collect()
}

/// Writes the names below the plot; gives the rows that the longest column takes.
fn list(
    out: &mut String,
    frame: &Frame<'_>,
    places: &[Place],
    names: &[Vec<String>],
    (each, columns): (usize, usize),
) -> usize {
    let top = frame.floor() + FOOT + 6.0;
    let wide = frame.width / columns as f64;
    let (mut column, mut row, mut deepest) = (0, 0, 0);
    for (index, (one, lines)) in places.iter().zip(names).enumerate() {
        if row > 0 && row + lines.len() > each && column + 1 < columns {
            (column, row) = (column + 1, 0);
        }
        let x = column as f64 * wide;
        let y = top + row as f64 * NAME_ROW;
        let _ = write!(
            out,
            "<circle cx=\"{}\" cy=\"{}\" r=\"{DOT}\" class=\"{} {}\"/>",
            place(x + 6.0),
            place(y + 4.0),
            class(one.hue),
            if one.is_suspect { "hollow" } else { "dot" }
        );
        text(out, x + 29.0, y + 8.0, "on end number", &(index + 1).to_string());
        for (line, words) in lines.iter().enumerate() {
            text(out, x + 34.0, y + 8.0 + line as f64 * NAME_ROW, "on", words);
        }
        row += lines.len();
        deepest = deepest.max(row);
    }
    deepest
}

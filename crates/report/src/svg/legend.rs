//! Patches of colour with the names of what they stand for, above bars.

use std::fmt::Write;

use crate::svg::{SERIES, dots, place, text};

const ROW: f64 = 18.0;
/// Room that a character of a name takes at most, and a patch with what lies around it.
const CHARACTER: f64 = 7.0;
const PATCH: f64 = 24.0;

/// Where each name begins; a row that is full is followed by another.
pub(super) fn places(names: &[String], width: f64) -> Vec<(f64, f64)> {
    let (mut x, mut y) = (2.0, 0.0);
    let mut places = Vec::with_capacity(names.len());
    for name in names {
        let room = PATCH + name.chars().count() as f64 * CHARACTER;
        if x > 2.0 && x + room > width {
            (x, y) = (2.0, y + ROW);
        }
        places.push((x, y));
        x += room;
    }
    places
}

/// The room that all rows take.
pub(super) fn height(places: &[(f64, f64)]) -> f64 {
    places.last().map_or(0.0, |(_, y)| y + ROW) + 4.0
}

pub(super) fn draw(out: &mut String, names: &[String], places: &[(f64, f64)]) {
    for ((name, (x, y)), class) in names.iter().zip(places).zip(SERIES.iter().cycle()) {
        let (left, top) = (place(*x), place(y + 4.0));
        let _ = write!(
            out,
            "<rect x=\"{left}\" y=\"{top}\" width=\"12\" height=\"10\" class=\"{class} bar\"/>"
        );
        text(out, x + 16.0, y + 13.0, "on", name);
    }
}

/// The same with the marks of a dot plot for patches.
pub(super) fn marks(out: &mut String, names: &[String], places: &[(f64, f64)]) {
    for (index, (name, (x, y))) in names.iter().zip(places).enumerate() {
        let _ = write!(out, "<g class=\"{}\">", SERIES[index % SERIES.len()]);
        dots::shape(out, index, x + 8.0, y + 9.0, "dot");
        out.push_str("</g>");
        text(out, x + 16.0, y + 13.0, "on", name);
    }
}

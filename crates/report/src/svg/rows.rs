//! The axis below rows of bars: its grid behind them, its labels below.

use std::fmt::Write;

use crate::svg::{place, text};
use crate::view::chart::{Axis, Tick, ticks};

/// Room below the last row for the labels.
pub(super) const FOOT: f64 = 26.0;
/// Wider pictures have room for more labels.
const WIDE: f64 = 500.0;

/// Lines behind the bars, from `top` to the labels of a picture of this `height`.
pub(super) fn grid(
    out: &mut String,
    axis: &Axis,
    (width, height): (f64, f64),
    top: f64,
    at: &dyn Fn(f64) -> f64,
) {
    let mut lines = String::new();
    for tick in marks(axis, width) {
        let _ = write!(lines, "M{} {}V{}", place(at(tick.at)), place(top), place(height - 20.0));
    }
    let _ = write!(out, "<path d=\"{lines}\" class=\"grid\"/>");
}

/// The labels, within the edges of the picture.
pub(super) fn labels(
    out: &mut String,
    axis: &Axis,
    (width, height): (f64, f64),
    at: &dyn Fn(f64) -> f64,
) {
    for tick in marks(axis, width) {
        let x = at(tick.at);
        let (x, class) = match () {
            () if x < 20.0 => (2.0, ""),
            () if x > width - 20.0 => (width - 2.0, "end"),
            () => (x, "mid"),
        };
        text(out, x, height - 6.0, class, &tick.label);
    }
}

fn marks(axis: &Axis, width: f64) -> Vec<Tick> {
    ticks(axis, if width > WIDE { 6 } else { 4 })
}

/// Room that a character takes at most, on average.
const CHARACTER: f64 = 6.2;
/// From one line of a name to the next.
pub(super) const LINE: f64 = 13.0;

/// A name in as many lines as it needs: none is wider than `width`, and the last leaves the room
/// that the number next to it takes.
pub(super) fn wrapped(label: &str, number: &str, width: f64) -> Vec<String> {
    let room = (((width - 4.0) / CHARACTER) as usize).max(1);
    let mut lines: Vec<String> = Vec::new();
    for word in label.split_whitespace() {
        let letters: Vec<char> = word.chars().collect();
        // Only a word that is wider than the picture is cut, and nothing of it is lost.
        for piece in letters.chunks(room) {
            let piece: String = piece.iter().collect();
            match lines.last_mut() {
                Some(line) if line.chars().count() + 1 + piece.chars().count() <= room => {
                    line.push(' ');
                    line.push_str(&piece);
                }
                _ => lines.push(piece),
            }
        }
    }
    let last = lines.last().map_or(0, |line| line.chars().count());
    if last > 0 && !number.is_empty() && last + 2 + number.chars().count() > room {
        lines.push(String::new());
    }
    if lines.is_empty() {
        lines.push(String::new());
    }
    lines
}

/// Writes a name into its lines, from `y` on, with the number next to the last of them; gives the
/// room that all but one line take.
pub(super) fn name(out: &mut String, lines: &[String], number: &str, y: f64, width: f64) -> f64 {
    for (index, line) in lines.iter().enumerate().filter(|(_, line)| !line.is_empty()) {
        text(out, 2.0, y + 13.0 + index as f64 * LINE, "on", line);
    }
    let more = more(lines);
    if !number.is_empty() {
        text(out, width - 2.0, y + 13.0 + more, "on end number", number);
    }
    more
}

/// The room that all lines but one take.
pub(super) fn more(lines: &[String]) -> f64 {
    lines.len().saturating_sub(1) as f64 * LINE
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn a_name_is_wrapped_and_never_cut() {
        let label = "names, 4 workers, one directory: open, stat and rename of what was created";
        let lines = wrapped(label, "18.4k IOPS ± 0.5 %, n 20", 360.0);
        assert_eq!(lines.join(" "), label);
        assert!(lines.iter().all(|line| line.chars().count() as f64 * CHARACTER <= 356.0));
        assert_eq!(wrapped("short", "1k IOPS", 360.0), ["short"]);
        let wide = "x".repeat(50);
        assert_eq!(wrapped(&wide, "18.4k IOPS ± 0.5 %, n 20", 360.0), [&wide, ""]);
        assert_eq!(wrapped(&"x".repeat(150), "", 360.0).concat(), "x".repeat(150));
        assert_eq!(wrapped("", "1k IOPS", 360.0), [""]);
    }
}

//! Ratios as rows on one logarithmic axis, on which faster is always right: of a latency it is the
//! inverse. The name, the interval, the values of both sides and the change in words.

use std::fmt::Write;

use crate::svg::{open, place, rows, text};
use crate::text::escape;
use crate::view::comparison::{both, change};
use drivelab_core::comparison::Cell;

/// Wider pictures have names and numbers next to the axis, narrower ones above it.
const BESIDE_MIN: f64 = 600.0;
const NAMES: f64 = 200.0;
const NUMBERS: f64 = 210.0;
const LINE: f64 = 13.0;
const TRACK: f64 = 14.0;
const GAP: f64 = 6.0;
const FOOT: f64 = 34.0;
/// The axis reaches at least, and at most, this factor to each side.
const LEAST: f64 = 1.12;
const MOST: f64 = 100.0;
/// Factors that may be labelled.
const TICKS: [f64; 11] = [1.05, 1.1, 1.2, 1.5, 2.0, 3.0, 5.0, 10.0, 20.0, 50.0, 100.0];
/// Room that a label takes.
const TICK_ROOM: f64 = 38.0;

struct Frame {
    width: f64,
    /// Where the axis begins and ends.
    plot: (f64, f64),
    reach: f64,
    is_beside: bool,
}

/// One row with the lines of its texts.
struct Row<'a> {
    cell: &'a Cell,
    name: &'a str,
    lines: Vec<String>,
    numbers: Vec<String>,
}

impl Frame {
    fn new(cells: &[&Cell], width: f64) -> Self {
        let farthest = cells.iter().flat_map(|cell| ends(cell)).flatten().map(f64::abs);
        let farthest = farthest.filter(|end| end.is_finite()).fold(LEAST.ln(), f64::max);
        let reach = (farthest * 1.04).min(MOST.ln());
        let is_beside = width >= BESIDE_MIN;
        let plot = match is_beside {
            true => (NAMES + 10.0, width - NUMBERS - 10.0),
            false => (8.0, width - 8.0),
        };
        Frame { width, plot, reach, is_beside }
    }

    fn at(&self, gain: f64) -> f64 {
        let share = (gain / self.reach).clamp(-1.0, 1.0);
        let share = if share.is_nan() { 0.0 } else { share };
        f64::midpoint(self.plot.0, self.plot.1) + share * (self.plot.1 - self.plot.0) / 2.0
    }

    fn row<'a>(&self, cell: &'a Cell, name: &'a str) -> Row<'a> {
        let (change, _) = change(cell);
        let values = both(cell);
        let what = format!("{} {change}", cell.word());
        let (lines, numbers) = match self.is_beside {
            true => {
                let numbers = [what, values].into_iter().filter(|it| !it.is_empty());
                (rows::wrapped(name, "", NAMES), numbers.collect())
            }
            false => {
                let numbers = if values.is_empty() { what } else { format!("{what}, {values}") };
                let lines = rows::wrapped(name, "", self.width);
                (lines, rows::wrapped(&numbers, "", self.width))
            }
        };
        Row { cell, name, lines, numbers }
    }

    fn height(&self, row: &Row<'_>) -> f64 {
        match self.is_beside {
            true => (row.lines.len().max(row.numbers.len()) as f64 * LINE).max(TRACK) + GAP,
            false => (row.lines.len() + row.numbers.len()) as f64 * LINE + TRACK + GAP,
        }
    }
}

/// How much better the ratio is, and the ends of its interval, as logarithms.
fn ends(cell: &Cell) -> [Option<f64>; 3] {
    let gain = |ratio: f64| if cell.metric.is_rate() { ratio.ln() } else { -ratio.ln() };
    let Some(ratio) = cell.ratio else { return [None; 3] };
    [Some(gain(ratio.value)), ratio.low.map(gain), ratio.high.map(gain)]
}

/// All cells of a comparison in one picture. `band`: what counts as unchanged, as a factor to
/// both sides, where that is one and the same for all.
pub fn forest(cells: &[&Cell], names: &[String], band: Option<f64>, width: u32) -> String {
    let frame = Frame::new(cells, f64::from(width));
    let all: Vec<Row<'_>> =
        cells.iter().zip(names).map(|(cell, name)| frame.row(cell, name)).collect();
    let bottom = all.iter().map(|row| frame.height(row)).sum::<f64>() + LINE;
    let alt = "Each cell's ratio of after to before, faster to the right";
    let mut out = open(alt, frame.width, bottom + FOOT, " class=\"forest\"");
    if let Some(band) = band {
        let (left, right) = (frame.at(-band.ln()), frame.at(band.ln()));
        let _ = write!(
            out,
            "<rect x=\"{}\" y=\"{LINE}\" width=\"{}\" height=\"{}\" class=\"unchanged\"/>",
            place(left),
            place(right - left),
            place(bottom - LINE)
        );
    }
    let middle = place(frame.at(0.0));
    let _ = write!(out, "<path d=\"M{middle} {LINE}V{}\" class=\"axis\"/>", place(bottom));
    text(&mut out, frame.plot.1, 10.0, "name end", "better →");
    text(&mut out, frame.plot.0, 10.0, "name", "← worse");
    let mut y = LINE;
    for row in &all {
        draw(&mut out, &frame, row, y);
        y += frame.height(row);
    }
    axis(&mut out, &frame, bottom);
    out.push_str("</svg>");
    out
}

fn axis(out: &mut String, frame: &Frame, bottom: f64) {
    let middle = frame.at(0.0);
    let mut labels = vec![(middle, "same".to_owned())];
    let mut last = middle;
    // The outermost first, so that the ticks reach as far as the data; then inwards what has room.
    let fitting: Vec<f64> = TICKS.into_iter().filter(|factor| factor.ln() <= frame.reach).collect();
    let mut chosen: Vec<f64> = Vec::new();
    for factor in fitting.iter().rev() {
        let x = frame.at(factor.ln());
        let is_first = chosen.is_empty();
        if x - middle >= TICK_ROOM && (is_first || last - x >= TICK_ROOM) {
            last = x;
            chosen.push(*factor);
        }
    }
    for factor in chosen {
        let label = format!("× {factor}");
        labels.push((frame.at(factor.ln()), label));
        labels.push((frame.at(-factor.ln()), format!("÷ {factor}")));
    }
    for (x, label) in labels {
        let _ = write!(out, "<path d=\"M{} {}v5\" class=\"axis\"/>", place(x), place(bottom));
        let class = match () {
            () if x + 16.0 > frame.width => "end",
            () if x < 16.0 => "",
            () => "mid",
        };
        text(out, x, bottom + 17.0, class, &label);
    }
    let right = frame.plot.1;
    text(out, right, bottom + 31.0, "name end", "times as fast as before");
}

fn draw(out: &mut String, frame: &Frame, row: &Row<'_>, y: f64) {
    let cell = row.cell;
    let class = match cell.word() {
        "slower" => "warning",
        "faster" => "read",
        "negligible" | "size unsettled" => "write",
        _ => "other",
    };
    let (change, _) = change(cell);
    let tip = escape(&format!("{}: {} {change}", row.name, cell.word()));
    let _ = write!(out, "<g><title>{tip}</title>");
    let mut base = y + 10.0;
    for line in &row.lines {
        text(out, 0.0, base, "on", line);
        base += LINE;
    }
    let words = format!("on {class}");
    let mut at = (0.0, base);
    if frame.is_beside {
        at = (frame.width - NUMBERS, y + 10.0);
    }
    for (index, line) in row.numbers.iter().enumerate() {
        text(out, at.0, at.1, if index == 0 { &words } else { "" }, line);
        at.1 += LINE;
    }
    let middle = match frame.is_beside {
        true => y + (frame.height(row) - GAP) / 2.0,
        false => y + frame.height(row) - GAP - TRACK / 2.0,
    };
    interval(out, frame, cell, middle, class);
    out.push_str("</g>");
}

fn interval(out: &mut String, frame: &Frame, cell: &Cell, middle: f64, class: &str) {
    let [Some(gain), low, high] = ends(cell) else { return };
    let y = place(middle);
    if let (Some(low), Some(high)) = (low, high) {
        let (from, to) = (place(frame.at(low)), place(frame.at(high)));
        let whisker = format!("M{from} {y}H{to}M{from} {y}m0 -3v6M{to} {y}m0 -3v6");
        let _ = write!(out, "<path d=\"{whisker}\" class=\"line {class}\"/>");
    }
    let kind = if cell.word() == "cannot tell" { "hollow" } else { "dot" };
    let x = place(frame.at(gain));
    let _ = write!(out, "<circle cx=\"{x}\" cy=\"{y}\" r=\"3.4\" class=\"{kind} {class}\"/>");
    let reaches = |side: f64| {
        let beyond = |end: &f64| end * side > frame.reach;
        [Some(gain), low, high].into_iter().flatten().any(|end| beyond(&end))
    };
    for side in [-1.0, 1.0] {
        if reaches(side) {
            let (x, back) = (place(frame.at(side * frame.reach)), place(-8.0 * side));
            let _ = write!(out, "<path d=\"M{x} {y}l{back} -5v10Z\" class=\"dot {class} arrow\"/>");
        }
    }
}

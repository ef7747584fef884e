//! The one renderer of charts: an inline SVG that takes its colours from the page.
//!
//! Inside HTML an SVG needs no namespace, so the page holds no address at all. Classes stand for
//! meanings (`read`, `write`, `warning`); the style sheet decides how they look in light and dark.

use std::fmt::Write;

use crate::chart::{Axis, Bar, Body, Chart, Hue, Line, Point, Span, ticks};
use crate::html::escape;

/// A chart of `width` user units; 360 fits a phone, 720 a page.
pub fn svg(chart: &Chart, width: u32) -> String {
    match &chart.body {
        Body::Lines { x, y, lines, points, spans } => {
            let frame = Frame::new(f64::from(width), x, y, lines);
            lines_svg(&chart.title, &frame, lines, points, spans)
        }
        Body::Bars { axis, bars } => bars_svg(&chart.title, axis, bars, f64::from(width)),
    }
}

/// Room for the labels of the vertical axis.
const LEFT: f64 = 58.0;
/// Height of a row of the legend.
const LEGEND_ROW: f64 = 15.0;

/// Where the plot lies inside the picture, in user units.
struct Frame<'axes> {
    width: f64,
    height: f64,
    left: f64,
    right: f64,
    top: f64,
    bottom: f64,
    x: &'axes Axis,
    y: &'axes Axis,
}

impl<'axes> Frame<'axes> {
    fn new(width: f64, x: &'axes Axis, y: &'axes Axis, lines: &[Line]) -> Self {
        // The legend stands above the plot, in as many rows as it takes.
        let rows = legend_places(lines, width).last().map_or(0.0, |(_, row)| row + 1.0);
        let top = 26.0 + LEGEND_ROW * rows;
        let height = if width > 500.0 { 274.0 } else { 204.0 } + top;
        Frame { width, height, left: LEFT, right: 12.0, top, bottom: 36.0, x, y }
    }

    fn x_at(&self, value: f64) -> f64 {
        self.left + self.x.share(value) * (self.width - self.left - self.right)
    }

    fn y_at(&self, value: f64) -> f64 {
        self.height - self.bottom - self.y.share(value) * (self.height - self.top - self.bottom)
    }
}

fn class(hue: Hue) -> &'static str {
    match hue {
        Hue::Read => "read",
        Hue::Write => "write",
        Hue::Other => "other",
        Hue::Warning => "warning",
    }
}

/// A coordinate with one decimal, and none where it is zero.
fn place(value: f64) -> String {
    let text = format!("{value:.1}");
    match text.strip_suffix(".0") {
        Some("-0") => "0".to_owned(),
        Some(whole) => whole.to_owned(),
        None => text,
    }
}

fn open(title: &str, width: f64, height: f64) -> String {
    let (width, height) = (place(width), place(height));
    let title = escape(title);
    format!("<svg role=\"img\" viewBox=\"0 0 {width} {height}\"><title>{title}</title>")
}

fn text(out: &mut String, x: f64, y: f64, class: &str, words: &str) {
    let (x, y, words) = (place(x), place(y), escape(words));
    let _ = write!(out, "<text x=\"{x}\" y=\"{y}\" class=\"{class}\">{words}</text>");
}

fn lines_svg(
    title: &str,
    frame: &Frame<'_>,
    lines: &[Line],
    points: &[Point],
    spans: &[Span],
) -> String {
    let mut out = open(title, frame.width, frame.height);
    draw_spans(&mut out, frame, spans);
    draw_axes(&mut out, frame);
    for line in lines {
        draw_line(&mut out, frame, line);
    }
    for point in points {
        let (x, y) = (frame.x_at(point.at.0), frame.y_at(point.at.1));
        let class = class(point.hue);
        let (cx, cy) = (place(x), place(y));
        let _ = write!(out, "<circle cx=\"{cx}\" cy=\"{cy}\" r=\"3\" class=\"{class} dot\">");
        let tip = format!("{} {}", point.label, crate::units::time(point.at.0));
        let _ = write!(out, "<title>{}</title></circle>", escape(&tip));
    }
    legend(&mut out, frame, lines);
    out.push_str("</svg>");
    out
}

fn draw_axes(out: &mut String, frame: &Frame<'_>) {
    let (right, floor) = (frame.width - frame.right, frame.height - frame.bottom);
    // A decade a line: on a log axis the lines are what one reads by.
    let rows = ticks(frame.y, if frame.y.is_log { 7 } else { 5 });
    let columns = ticks(frame.x, if frame.width > 500.0 { 8 } else { 5 });
    let mut grid = String::new();
    for tick in &rows {
        let y = place(frame.y_at(tick.at));
        let _ = write!(grid, "M{} {y}H{}", place(frame.left), place(right));
    }
    let mut marks = format!("M{} {}H{}", place(frame.left), place(floor), place(right));
    for tick in &columns {
        let _ = write!(marks, "M{} {}v4", place(frame.x_at(tick.at)), place(floor));
    }
    let _ = write!(out, "<path d=\"{grid}\" class=\"grid\"/><path d=\"{marks}\" class=\"axis\"/>");
    for tick in &rows {
        text(out, frame.left - 5.0, frame.y_at(tick.at) + 3.5, "end", &tick.label);
    }
    // A label at the very edge is turned inward instead of being cut off.
    for tick in &columns {
        let x = frame.x_at(tick.at);
        let class = if x > right - 12.0 { "end" } else { "mid" };
        let x = if class == "end" { right + 6.0 } else { x };
        text(out, x, floor + 16.0, class, &tick.label);
    }
    text(out, 2.0, 12.0, "name", &frame.y.quantity);
    text(out, right, frame.height - 4.0, "name end", &frame.x.quantity);
}

fn draw_line(out: &mut String, frame: &Frame<'_>, line: &Line) {
    let mut path = String::new();
    for piece in &line.pieces {
        // Steps from point to point are half as long to write as places. They are taken in tenths
        // from the rounded places, so that nothing adds up.
        let tenths = |value: f64| (value * 10.0).round() as i64;
        let mut before = None;
        for (x, y) in piece {
            let (x, y) = (tenths(frame.x_at(*x)), tenths(frame.y_at(*y)));
            let (command, from) = before.map_or(('M', (0, 0)), |before| ('l', before));
            let step = |to: i64, from: i64| place((to - from) as f64 / 10.0);
            let (dx, dy) = (step(x, from.0), step(y, from.1));
            let space = if dy.starts_with('-') { "" } else { " " };
            let _ = write!(path, "{command}{dx}{space}{dy}");
            before = Some((x, y));
        }
        // A path of one point draws nothing: a hair's breadth makes it a dot.
        if piece.len() == 1 {
            path.push_str("h0.1");
        }
    }
    let dash = if line.is_dashed { " dash" } else { "" };
    let _ = write!(out, "<path d=\"{path}\" class=\"{} line{dash}\"/>", class(line.hue));
}

fn draw_spans(out: &mut String, frame: &Frame<'_>, spans: &[Span]) {
    let height = frame.height - frame.top - frame.bottom;
    for span in spans {
        let (from, to) = (frame.x_at(span.from), frame.x_at(span.to));
        let _ = write!(
            out,
            "<rect x=\"{}\" y=\"{}\" width=\"{}\" height=\"{}\" class=\"{} span\"/>",
            place(from),
            place(frame.top),
            place((to - from).max(1.0)),
            place(height),
            class(span.hue)
        );
        if !span.word.is_empty() {
            let is_late = from > frame.width - 60.0;
            let (x, side) = if is_late { (to, " end") } else { (from + 2.0, "") };
            let class = format!("{} word{side}", class(span.hue));
            text(out, x, frame.top - 3.0, &class, &span.word);
        }
    }
}

/// Where each line's entry begins, and in which row; one line alone needs none.
fn legend_places(lines: &[Line], width: f64) -> Vec<(f64, f64)> {
    let (mut x, mut row) = (LEFT, 0.0);
    let mut places = Vec::new();
    for line in lines.iter().filter(|_| lines.len() > 1) {
        let room = 36.0 + 6.4 * line.label.chars().count() as f64;
        if x > LEFT && x + room > width {
            (x, row) = (LEFT, row + 1.0);
        }
        places.push((x, row));
        x += room;
    }
    places
}

fn legend(out: &mut String, frame: &Frame<'_>, lines: &[Line]) {
    for (line, (x, row)) in lines.iter().zip(legend_places(lines, frame.width)) {
        let (class, dash) = (class(line.hue), if line.is_dashed { " dash" } else { "" });
        let y = 25.0 + LEGEND_ROW * row;
        let (at, middle) = (place(x), place(y - 3.5));
        let _ = write!(out, "<path d=\"M{at} {middle}h16\" class=\"{class} line{dash}\"/>");
        text(out, x + 20.0, y, "", &line.label);
    }
}

/// Bars as rows: the name and the number above, the bar and its interval below.
fn bars_svg(title: &str, axis: &Axis, bars: &[Bar], width: f64) -> String {
    const ROW: f64 = 34.0;
    let height = bars.len() as f64 * ROW + 26.0;
    let plot = width - 4.0;
    let mut out = open(title, width, height);
    let at = |value: f64| 2.0 + axis.share(value) * plot;
    let mut grid = String::new();
    let marks = ticks(axis, if width > 500.0 { 6 } else { 4 });
    for tick in &marks {
        let _ = write!(grid, "M{} 0V{}", place(at(tick.at)), place(height - 20.0));
    }
    let _ = write!(out, "<path d=\"{grid}\" class=\"grid\"/>");
    for (index, bar) in bars.iter().enumerate() {
        let y = index as f64 * ROW;
        let class = class(bar.hue);
        let (length, tip) = (place(at(bar.value) - 2.0), format!("{}: {}", bar.label, bar.text));
        let _ = write!(
            out,
            "<rect x=\"2\" y=\"{}\" width=\"{length}\" height=\"12\" class=\"{class} bar\">\
             <title>{}</title></rect>",
            place(y + 17.0),
            escape(&tip)
        );
        if let Some((low, high)) = bar.interval {
            let (low, high, y) = (place(at(low)), place(at(high)), place(y + 23.0));
            let whisker = format!("M{low} {y}H{high}M{low} {y}m0 -4v8M{high} {y}m0 -4v8");
            let _ = write!(out, "<path d=\"{whisker}\" class=\"error\"/>");
        }
        let room = ((width - 6.0 * bar.text.chars().count() as f64) / 6.2) as usize;
        text(&mut out, 2.0, y + 13.0, "on", &shortened(&bar.label, room));
        text(&mut out, width - 2.0, y + 13.0, "on end number", &bar.text);
    }
    for tick in &marks {
        let x = at(tick.at);
        let (x, class) = match () {
            () if x < 20.0 => (2.0, ""),
            () if x > width - 20.0 => (width - 2.0, "end"),
            () => (x, "mid"),
        };
        text(&mut out, x, height - 6.0, class, &tick.label);
    }
    out.push_str("</svg>");
    out
}

fn shortened(label: &str, room: usize) -> String {
    if label.chars().count() <= room {
        return label.to_owned();
    }
    let mut text: String = label.chars().take(room.saturating_sub(1)).collect();
    text.push('…');
    text
}

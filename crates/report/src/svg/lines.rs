//! Curves in panels over one horizontal axis.
//!
//! Each plot is a picture of its own inside the picture, so that the script of the page can widen
//! the axis of time by changing its view box alone.

use std::fmt::Write;

use crate::svg::{class, open, place, text};
use crate::text::escape;
use crate::view::chart::{Axis, Field, Line, Panel, Span, Stop, Stroke, Unit, ticks};

/// Room for the labels of the vertical axis.
const LEFT: f64 = 58.0;
const RIGHT: f64 = 12.0;
/// Above a plot: its name, apart from the highest label of its axis.
const HEAD: f64 = 25.0;
/// Below the last plot: labels and the name of the axis.
const FOOT: f64 = 36.0;
/// Height of a row of the legend.
const LEGEND_ROW: f64 = 15.0;
/// Height of a row of words above the first plot.
const WORD_ROW: f64 = 12.0;
/// Room that a character of a word takes at most, on average.
const CHARACTER: f64 = 5.6;

/// Where the plots lie inside the picture, in user units.
pub(super) struct Frame<'chart> {
    width: f64,
    height: f64,
    x: &'chart Axis,
    plots: Vec<Plot<'chart>>,
    /// Where each word of the spans stands: its horizontal place, its row, its anchor.
    words: Vec<Option<Word>>,
}

struct Plot<'chart> {
    panel: &'chart Panel,
    /// Where its name stands.
    head: f64,
    top: f64,
    height: f64,
}

struct Word {
    x: f64,
    row: f64,
    is_end: bool,
}

impl<'chart> Frame<'chart> {
    pub(super) fn new(
        width: f64,
        x: &'chart Axis,
        panels: &'chart [Panel],
        spans: &[Span],
    ) -> Self {
        let mut frame = Frame { width, height: 0.0, x, plots: Vec::new(), words: Vec::new() };
        frame.words = frame.place_words(spans);
        let word_rows = frame.words.iter().flatten().map(|word| word.row + 1.0).fold(0.0, f64::max);
        let (alone, is_wide) = (panels.len() == 1, width > 500.0);
        let mut at = 0.0;
        for (index, panel) in panels.iter().enumerate() {
            let rows = legend_places(&panel.lines, width).last().map_or(0.0, |(_, row)| row + 1.0);
            let words = if index == 0 { word_rows } else { 0.0 };
            let top = at + HEAD + LEGEND_ROW * rows + WORD_ROW * words;
            let height = match (alone, panel.y.unit) {
                (true, _) => 176.0,
                (false, Unit::Celsius) => 46.0,
                (false, _) => 92.0,
            };
            let height = if is_wide { height * 1.3 } else { height };
            frame.plots.push(Plot { panel, head: at + 12.0, top, height });
            at = top + height + 8.0;
        }
        frame.height = at - 8.0 + FOOT;
        frame
    }

    fn plot_width(&self) -> f64 {
        self.width - LEFT - RIGHT
    }

    /// Within a plot.
    fn x_in(&self, value: f64) -> f64 {
        self.x.share(value) * self.plot_width()
    }

    /// Words side by side where there is room, else one row higher.
    fn place_words(&self, spans: &[Span]) -> Vec<Option<Word>> {
        let right = self.width - RIGHT;
        let mut taken: Vec<(f64, f64, f64)> = Vec::new();
        let mut words = Vec::new();
        for span in spans {
            if span.word.is_empty() {
                words.push(None);
                continue;
            }
            let room = CHARACTER * span.word.chars().count() as f64 + 6.0;
            let begin = LEFT + self.x_in(span.from);
            let is_end = begin + room > right;
            // The word of a single place stands next to it, on whichever side there is room.
            let is_left = span.from == span.to && begin - room >= LEFT;
            let (from, to) = match (is_end, is_left) {
                (true, true) => (begin - room, begin),
                (true, false) => (right - room, right),
                (false, _) => (begin, begin + room),
            };
            let meets = |row: f64| {
                let other = |(a, b, other): &(f64, f64, f64)| *other == row && *a < to && from < *b;
                taken.iter().any(other)
            };
            let mut row = 0.0;
            while meets(row) {
                row += 1.0;
            }
            taken.push((from, to, row));
            // Against the edge of the picture no gap is needed.
            let gap = if to < right { 2.0 } else { 0.0 };
            words.push(Some(Word { x: if is_end { to - gap } else { from + 2.0 }, row, is_end }));
        }
        words
    }
}

impl Plot<'_> {
    /// Within the plot; what lies beyond the axis lies beyond the plot.
    fn y_in(&self, value: f64) -> f64 {
        (1.0 - self.panel.y.share_beyond(value)) * self.height
    }

    fn floor(&self) -> f64 {
        self.top + self.height
    }
}

pub(super) fn draw(
    alt: &str,
    frame: &Frame<'_>,
    spans: &[Span],
    seams: &[f64],
    stops: &[Stop],
) -> String {
    let class = format!(" class=\"lines\" {}", axis_data("x", frame.x));
    let mut out = open(alt, frame.width, frame.height, &class);
    for plot in &frame.plots {
        axis(&mut out, frame, plot);
        open_plot(&mut out, frame, plot.top, plot.height, &axis_data("y", &plot.panel.y));
        shade(&mut out, frame, plot, spans);
        let marks: String = seams
            .iter()
            .map(|seam| format!("M{} 0V{}", place(frame.x_in(*seam)), place(plot.height)))
            .collect();
        if !marks.is_empty() {
            let _ = write!(out, "<path d=\"{marks}\" class=\"seam\"/>");
        }
        fields(&mut out, frame, plot);
        for line in &plot.panel.lines {
            curve(&mut out, frame, plot, line);
        }
        out.push_str("</svg>");
        plot.panel.lines.iter().for_each(|line| beyond(&mut out, frame, plot, line));
        points(&mut out, frame, plot);
        legend(&mut out, frame, plot);
    }
    words(&mut out, frame, spans);
    foot(&mut out, frame);
    hover(&mut out, frame, stops);
    out.push_str("</svg>");
    out
}

/// What the script needs to turn a place into a value: ends, scale, unit.
fn axis_data(name: &str, axis: &Axis) -> String {
    let unit = match axis.unit {
        Unit::Operations => 'o',
        Unit::Bandwidth => 'b',
        Unit::Nanoseconds => 'n',
        Unit::Seconds => 's',
        Unit::Share => 'p',
        Unit::Celsius => 'c',
        Unit::Factor => 'f',
        Unit::Bytes => 'y',
        Unit::Count => 'k',
    };
    let scale = if axis.is_log { "log" } else { "lin" };
    format!("data-{name}=\"{} {} {scale} {unit}\"", axis.from, axis.to)
}

fn open_plot(out: &mut String, frame: &Frame<'_>, top: f64, height: f64, more: &str) {
    let (left, top) = (place(LEFT), place(top));
    let (width, height) = (place(frame.plot_width()), place(height));
    let _ = write!(
        out,
        "<svg class=\"plot\" x=\"{left}\" y=\"{top}\" width=\"{width}\" height=\"{height}\" \
         viewBox=\"0 0 {width} {height}\" preserveAspectRatio=\"none\" {more}>"
    );
}

fn axis(out: &mut String, frame: &Frame<'_>, plot: &Plot<'_>) {
    let right = frame.width - RIGHT;
    // A decade a line: on a log axis the lines are what one reads by.
    let wanted = match (plot.panel.y.is_log, plot.height) {
        (true, height) if height > 150.0 => 7,
        (_, height) if height < 80.0 => 2,
        _ => 4,
    };
    let mut grid = String::new();
    for tick in ticks(&plot.panel.y, wanted) {
        let y = plot.top + plot.y_in(tick.at);
        let _ = write!(grid, "M{} {}H{}", place(LEFT), place(y), place(right));
        text(out, LEFT - 5.0, y + 3.5, "end", tick.short());
    }
    let _ = write!(
        out,
        "<path d=\"{grid}\" class=\"grid\"/><path d=\"M{} {}H{}\" class=\"axis\"/>",
        place(LEFT),
        place(plot.floor()),
        place(right)
    );
    text(out, 2.0, plot.head, "name", &plot.panel.y.name());
}

/// Ticks and name of the common axis, below the last plot.
fn foot(out: &mut String, frame: &Frame<'_>) {
    let right = frame.width - RIGHT;
    let floor = frame.plots.last().map_or(0.0, Plot::floor);
    out.push_str("<g class=\"ticks\">");
    for tick in ticks(frame.x, if frame.width > 500.0 { 8 } else { 5 }) {
        let x = LEFT + frame.x_in(tick.at);
        let _ = write!(out, "<path d=\"M{} {}v4\" class=\"axis\"/>", place(x), place(floor));
        // A label at the very edge is turned inward instead of being cut off.
        let (x, class) = if x > right - 12.0 { (right + 6.0, "end") } else { (x, "mid") };
        text(out, x, floor + 16.0, class, tick.short());
    }
    out.push_str("</g>");
    text(out, right, frame.height - 4.0, "name end", &frame.x.name());
}

/// Fields of one hue and strength as one shape each, because there may be thousands.
fn fields(out: &mut String, frame: &Frame<'_>, plot: &Plot<'_>) {
    let all = &plot.panel.fields;
    let mut kinds: Vec<_> = all.iter().map(|field| (field.strength, class(field.hue))).collect();
    kinds.sort_unstable();
    kinds.dedup();
    for (strength, hue) in kinds {
        let mut shape = String::new();
        let chosen = all.iter().filter(|it| it.strength == strength && class(it.hue) == hue);
        for field in joined(chosen.copied().collect()) {
            let (left, right) = (frame.x_in(field.x.0), frame.x_in(field.x.1));
            let (top, bottom) = (plot.y_in(field.y.1), plot.y_in(field.y.0));
            let wide = place((right - left).max(0.3));
            let _ = write!(
                shape,
                "M{} {}h{wide}v{}h-{wide}z",
                place(left),
                place(top),
                place(bottom - top)
            );
        }
        let _ = write!(out, "<path d=\"{shape}\" class=\"{hue} f{strength}\"/>");
    }
}

/// Fields that touch in a row, as one: a band over time is a few long shapes.
fn joined(mut fields: Vec<Field>) -> Vec<Field> {
    fields.sort_by(|a, b| a.y.0.total_cmp(&b.y.0).then(a.x.0.total_cmp(&b.x.0)));
    let mut joined: Vec<Field> = Vec::new();
    for field in fields {
        match joined.last_mut() {
            Some(last) if last.y == field.y && last.x.1 == field.x.0 => last.x.1 = field.x.1,
            _ => joined.push(field),
        }
    }
    joined
}

/// Arrows where a curve leaves the plot upwards: what is not shown is said to be there.
fn beyond(out: &mut String, frame: &Frame<'_>, plot: &Plot<'_>, line: &Line) {
    let mut last = f64::NEG_INFINITY;
    for (x, y) in line.pieces.iter().flatten() {
        let x = LEFT + frame.x_in(*x);
        if *y <= plot.panel.y.to * (1.0 + 1e-9) || x - last < 8.0 {
            continue;
        }
        last = x;
        let (at, top, hue) = (place(x), place(plot.top), class(line.hue));
        let _ = write!(out, "<path d=\"M{at} {top}l4 7h-8Z\" class=\"{hue} dot arrow\"/>");
    }
}

fn curve(out: &mut String, frame: &Frame<'_>, plot: &Plot<'_>, line: &Line) {
    if line.is_dots() {
        return dots(out, frame, plot, line);
    }
    let mut path = String::new();
    for piece in &line.pieces {
        // Steps from point to point are half as long to write as places. They are taken in tenths
        // from the rounded places, so that nothing adds up.
        let tenths = |value: f64| (value * 10.0).round() as i64;
        let mut before = None;
        for (x, y) in piece {
            let (x, y) = (tenths(frame.x_in(*x)), tenths(plot.y_in(*y)));
            let (command, from) = before.map_or(('M', (0, 0)), |before| ('l', before));
            let step = |to: i64, from: i64| place((to - from) as f64 / 10.0);
            let (dx, dy) = (step(x, from.0), step(y, from.1));
            let space = if dy.starts_with('-') { "" } else { " " };
            let _ = write!(path, "{command}{dx}{space}{dy}");
            before = Some((x, y));
        }
        // A path of one point draws nothing: with a line of no length it is a dot.
        if piece.len() == 1 {
            path.push_str("h0");
        }
    }
    let (hue, stroke) = (class(line.hue), stroke(line.stroke));
    let label = escape(&line.label);
    let _ = write!(out, "<path d=\"{path}\" class=\"{hue} line{stroke}\" data-label=\"{label}\"/>");
}

/// A dot for each point: lines of no length, which a stroke makes round or square.
fn dots(out: &mut String, frame: &Frame<'_>, plot: &Plot<'_>, line: &Line) {
    let mut path = String::new();
    for (x, y) in line.pieces.iter().flatten() {
        let _ = write!(path, "M{} {}h0", place(frame.x_in(*x)), place(plot.y_in(*y)));
    }
    let (hue, stroke, label) = (class(line.hue), stroke(line.stroke), escape(&line.label));
    let _ =
        write!(out, "<path d=\"{path}\" class=\"{hue} line few{stroke}\" data-label=\"{label}\"/>");
}

fn stroke(stroke: Stroke) -> &'static str {
    match stroke {
        Stroke::Solid => "",
        Stroke::Dashed => " dash",
        Stroke::Dotted => " dots",
        Stroke::DashDotted => " dashdot",
        Stroke::Points => " points",
    }
}

fn shade(out: &mut String, frame: &Frame<'_>, plot: &Plot<'_>, spans: &[Span]) {
    for span in spans {
        let (from, to) = (frame.x_in(span.from), frame.x_in(span.to));
        let _ = write!(
            out,
            "<rect x=\"{}\" y=\"0\" width=\"{}\" height=\"{}\" class=\"{} span\"/>",
            place(from),
            place((to - from).max(1.0)),
            place(plot.height),
            class(span.hue),
        );
    }
}

/// The words of what is shaded, above the first plot.
fn words(out: &mut String, frame: &Frame<'_>, spans: &[Span]) {
    let Some(first) = frame.plots.first() else { return };
    for (span, word) in spans.iter().zip(&frame.words) {
        let Some(word) = word else { continue };
        let class = format!("{} word{}", class(span.hue), if word.is_end { " end" } else { "" });
        let y = first.top - 3.0 - WORD_ROW * word.row;
        let _ = write!(
            out,
            "<g><title>{}</title>",
            escape(if span.tip.is_empty() { &span.word } else { &span.tip })
        );
        text(out, word.x, y, &class, &span.word);
        out.push_str("</g>");
    }
}

fn points(out: &mut String, frame: &Frame<'_>, plot: &Plot<'_>) {
    for point in &plot.panel.points {
        let (x, y) = (LEFT + frame.x_in(point.at.0), plot.top + plot.y_in(point.at.1));
        let _ = write!(
            out,
            "<circle cx=\"{}\" cy=\"{}\" r=\"2.6\" class=\"{} dot\"><title>{}</title></circle>",
            place(x),
            place(y),
            class(point.hue),
            escape(&point.label),
        );
    }
}

/// Invisible stretches that tell their values to the pointer, through all plots.
fn hover(out: &mut String, frame: &Frame<'_>, stops: &[Stop]) {
    let (Some(first), Some(last)) = (frame.plots.first(), frame.plots.last()) else { return };
    if stops.is_empty() {
        return;
    }
    let _ = write!(out, "<g class=\"stops\">");
    for stop in stops {
        let (from, to) = (frame.x_in(stop.from), frame.x_in(stop.to));
        let _ = write!(
            out,
            "<rect x=\"{}\" y=\"{}\" width=\"{}\" height=\"{}\"><title>{}</title></rect>",
            place(LEFT + from),
            place(first.top),
            place((to - from).max(0.5)),
            place(last.floor() - first.top),
            escape(&stop.tip)
        );
    }
    out.push_str("</g>");
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

fn legend(out: &mut String, frame: &Frame<'_>, plot: &Plot<'_>) {
    let lines = &plot.panel.lines;
    for (line, (x, row)) in lines.iter().zip(legend_places(lines, frame.width)) {
        let y = plot.head + 13.0 + LEGEND_ROW * row;
        let (at, middle) = (place(x), place(y - 3.5));
        let (hue, stroke) = (class(line.hue), stroke(line.stroke));
        let (at, length, few) = match line.is_dots() {
            true => (place(x + 8.0), 0, " few"),
            false => (at, 16, ""),
        };
        let _ = write!(
            out,
            "<g class=\"key\"><path d=\"M{at} {middle}h{length}\" \
             class=\"{hue} line{few}{stroke}\"/>"
        );
        text(out, x + 20.0, y, "", &line.label);
        out.push_str("</g>");
    }
}

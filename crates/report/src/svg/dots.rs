//! A dot plot: a mark of each side in rows, over logarithmic axes.

use std::fmt::Write;

use crate::svg::{class, legend, open, place, rows, text};
use crate::text::escape;
use crate::view::chart::{Axis, Bar, DotPanel};

/// The name of a row, and the room that each side takes below it.
const NAME: f64 = 17.0;
const SIDE: f64 = 7.0;
const GAP: f64 = 6.0;
/// Above the rows of a panel: the name of its axis.
const HEAD: f64 = 20.0;
/// How far a mark reaches from its middle.
const REACH: f64 = 4.0;

pub(super) fn draw(alt: &str, sides: &[String], panels: &[DotPanel], width: f64) -> String {
    let is_alone = sides.len() < 2;
    let places = if is_alone { Vec::new() } else { legend::places(sides, width) };
    let top = legend::height(&places);
    let row = NAME + SIDE * sides.len().max(1) as f64 + GAP;
    let mut drawn = Vec::new();
    let mut y = top;
    for panel in panels {
        let names: Vec<Vec<String>> = panel
            .rows
            .iter()
            .map(|(label, marks)| rows::wrapped(label, &number(is_alone, marks), width))
            .collect();
        let more: f64 = names.iter().map(|lines| rows::more(lines)).sum();
        let height = HEAD + panel.rows.len() as f64 * row + more + rows::FOOT;
        drawn.push((panel, names, y, height));
        y += height + GAP;
    }
    let mut out = open(alt, width, y, "");
    if !is_alone {
        legend::marks(&mut out, sides, &places);
    }
    for (panel, names, y, height) in drawn {
        panel_of(&mut out, panel, &names, (y, height), is_alone, (row, width));
    }
    out.push_str("</svg>");
    out
}

/// The number at the end of a row of one mark.
fn number(is_alone: bool, marks: &[Option<Bar>]) -> String {
    let first = marks.first().and_then(Option::as_ref).filter(|_| is_alone);
    first.map_or(String::new(), |bar| bar.text.clone())
}

fn panel_of(
    out: &mut String,
    panel: &DotPanel,
    names: &[Vec<String>],
    (top, height): (f64, f64),
    is_alone: bool,
    (row, width): (f64, f64),
) {
    let at = |value: f64| 2.0 + panel.axis.share(value) * (width - 4.0);
    heading(out, &panel.axis, top, width);
    let bottom = top + height;
    rows::grid(out, &panel.axis, (width, bottom), top + HEAD, &at);
    let mut y = top + HEAD;
    for ((_, marks), lines) in panel.rows.iter().zip(names) {
        let below = y + rows::name(out, lines, &number(is_alone, marks), y, width);
        for (side, found) in marks.iter().enumerate() {
            let middle = below + NAME + SIDE * (side as f64 + 0.5);
            if let Some(bar) = found {
                mark(out, bar, side, middle, &at);
            }
        }
        y = below + row;
    }
    rows::labels(out, &panel.axis, (width, bottom), &at);
}

fn heading(out: &mut String, axis: &Axis, top: f64, width: f64) {
    text(out, 2.0, top + 12.0, "name", &axis.name());
    text(out, width - 2.0, top + 12.0, "name end", "better →");
}

fn mark(out: &mut String, bar: &Bar, side: usize, y: f64, at: &dyn Fn(f64) -> f64) {
    let tip = escape(&format!("{}: {}", bar.label, bar.text));
    let _ = write!(out, "<g class=\"{}\"><title>{tip}</title>", class(bar.hue));
    if let Some((low, high)) = bar.interval {
        let (low, high, y) = (place(at(low)), place(at(high)), place(y));
        let whisker = format!("M{low} {y}H{high}M{low} {y}m0 -3v6M{high} {y}m0 -3v6");
        let _ = write!(out, "<path d=\"{whisker}\" class=\"line\"/>");
    }
    let kind = if bar.is_suspect { "hollow" } else { "dot" };
    shape(out, side, at(bar.value), y, kind);
    out.push_str("</g>");
}

/// A mark that its shape tells from others, for those who do not see its colour.
pub(super) fn shape(out: &mut String, side: usize, x: f64, y: f64, class: &str) {
    let r = REACH;
    let corners = match side % 4 {
        1 => [(-r, -r), (r, -r), (r, r), (-r, r)].to_vec(),
        2 => [(0.0, -r * 1.3), (r * 1.3, 0.0), (0.0, r * 1.3), (-r * 1.3, 0.0)].to_vec(),
        3 => [(0.0, -r * 1.2), (r * 1.2, r), (-r * 1.2, r)].to_vec(),
        _ => {
            let (x, y) = (place(x), place(y));
            let _ = write!(out, "<circle cx=\"{x}\" cy=\"{y}\" r=\"{r}\" class=\"{class}\"/>");
            return;
        }
    };
    let points: Vec<String> =
        corners.iter().map(|(dx, dy)| format!("{} {}", place(x + dx), place(y + dy))).collect();
    let _ = write!(out, "<path d=\"M{}Z\" class=\"{class}\"/>", points.join("L"));
}

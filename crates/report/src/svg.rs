//! The one renderer of charts: an inline SVG that takes its colours from the page.
//!
//! Inside HTML an SVG needs no namespace, so the page holds no address at all. Classes stand for
//! meanings (`read`, `write`, `warning`); the style sheet decides how they look in light and dark.

mod bars;
mod card;
mod claims;
mod columns;
mod dots;
mod forest;
mod groups;
mod heat;
mod layout;
mod legend;
mod lines;
mod map;
mod rows;
mod stacks;
mod timeline;

pub use card::card_svg;
pub use forest::forest;
pub use heat::heat;

use std::fmt::Write;

use crate::text::escape;
use crate::view::chart::{Body, Chart, Hue};

/// A chart of `width` user units; 360 fits a phone, 720 a page.
pub fn svg(chart: &Chart, width: u32) -> String {
    let alt = if chart.alt.is_empty() { &chart.title } else { &chart.alt };
    match &chart.body {
        Body::Lines { x, panels, spans, seams, stops } => {
            let frame = lines::Frame::new(f64::from(width), x, panels, spans);
            lines::draw(alt, &frame, spans, seams, stops)
        }
        Body::Bars { axis, bars } => bars::draw(alt, axis, bars, f64::from(width)),
        Body::Stacks { axis, parts, bars } => {
            stacks::draw(alt, axis, parts, bars, f64::from(width))
        }
        Body::Groups { axis, sides, groups } => {
            groups::draw(alt, axis, sides, groups, f64::from(width))
        }
        Body::Layout(layout) => layout::draw(alt, layout, f64::from(width)),
        Body::Columns { sides, tests } => columns::draw(alt, sides, tests, f64::from(width)),
        Body::Dots { sides, panels } => dots::draw(alt, sides, panels, f64::from(width)),
        Body::Map { x, y, places, guides } => {
            map::draw(alt, (x, y), places, guides, f64::from(width))
        }
        Body::Claims(bars) => claims::draw(alt, bars, f64::from(width)),
        Body::Timeline { axis, grade, rows } => {
            timeline::draw(alt, axis, grade, rows, f64::from(width))
        }
    }
}

/// Classes of curves that only their order tells apart.
const SERIES: [&str; 8] = ["s0", "s1", "s2", "s3", "s4", "s5", "s6", "s7"];

fn class(hue: Hue) -> &'static str {
    match hue {
        Hue::Read => "read",
        Hue::Write => "write",
        Hue::Other => "other",
        Hue::Warning => "warning",
        Hue::Series(place) => SERIES[usize::from(place) % SERIES.len()],
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

/// The beginning of a picture; `more` stands for further attributes.
fn open(alt: &str, width: f64, height: f64, more: &str) -> String {
    let (width, height, alt) = (place(width), place(height), escape(alt));
    format!("<svg role=\"img\" aria-label=\"{alt}\" viewBox=\"0 0 {width} {height}\"{more}>")
}

fn text(out: &mut String, x: f64, y: f64, class: &str, words: &str) {
    let (x, y, words) = (place(x), place(y), escape(words));
    let class = match class {
        "" => String::new(),
        class => format!(" class=\"{class}\""),
    };
    let _ = write!(out, "<text x=\"{x}\" y=\"{y}\"{class}>{words}</text>");
}

//! Claims as bars against their limits, each as a share of its own limit.

use std::fmt::Write;

use drivelab_core::claims::Answer;

use crate::svg::{open, place, rows, text};
use crate::text::escape;
use crate::view::chart::ClaimBar;

/// How far the axis reaches, in limits.
const REACH: f64 = 1.6;
const WORDS: f64 = 15.0;
const TRACK: f64 = 14.0;
const GAP: f64 = 10.0;
const TICKS: [(f64, &str); 4] =
    [(0.0, "0"), (0.5, "50 %"), (1.0, "100 % of the claim"), (1.5, "150 %")];

pub(super) fn draw(alt: &str, bars: &[ClaimBar], width: f64) -> String {
    let lines: Vec<[Vec<String>; 2]> = bars
        .iter()
        .map(|bar| [&bar.label, &bar.text].map(|words| rows::wrapped(words, "", width)))
        .collect();
    let high = |lines: &[Vec<String>; 2]| {
        lines.iter().map(Vec::len).sum::<usize>() as f64 * WORDS + TRACK + GAP
    };
    let height = lines.iter().map(high).sum::<f64>() + rows::FOOT;
    let mut out = open(alt, width, height, "");
    let at = |share: f64| 2.0 + share.clamp(0.0, REACH) / REACH * (width - 4.0);
    let mut y = 0.0;
    for (bar, lines) in bars.iter().zip(&lines) {
        let _ =
            write!(out, "<g><title>{}</title>", escape(&format!("{}: {}", bar.label, bar.text)));
        for (words, class) in lines.iter().zip(["on number", "on"]) {
            for line in words {
                y += WORDS;
                text(&mut out, 2.0, y - 3.0, class, line);
            }
        }
        track(&mut out, bar, y, &at);
        out.push_str("</g>");
        y += TRACK + GAP;
    }
    for (share, label) in TICKS {
        let x = at(share);
        let class = if share == 0.0 { "" } else { "mid" };
        let _ = write!(out, "<path d=\"M{} {}v5\" class=\"axis\"/>", place(x), place(y - 4.0));
        text(&mut out, x, y + 15.0, class, label);
    }
    out.push_str("</svg>");
    out
}

fn track(out: &mut String, bar: &ClaimBar, y: f64, at: &dyn Fn(f64) -> f64) {
    let (limit, end) = (at(1.0), at(REACH));
    let (from, to) = if bar.is_least { (limit, end) } else { (at(0.0), limit) };
    let _ = write!(
        out,
        "<rect x=\"{}\" y=\"{}\" width=\"{}\" height=\"{TRACK}\" class=\"allowed\"/>",
        place(from),
        place(y),
        place(to - from)
    );
    let class = match bar.answer {
        Answer::Met => "read bar",
        Answer::NotMet => "warning bar",
        Answer::CannotTell => "other doubt",
    };
    if let Some(share) = bar.share {
        let long = place(at(share) - at(0.0));
        let _ = write!(
            out,
            "<rect x=\"{}\" y=\"{}\" width=\"{long}\" height=\"8\" class=\"{class}\"/>",
            place(at(0.0)),
            place(y + 3.0)
        );
        let reach = bar.interval.map_or(share, |(_, high)| high.max(share));
        if let Some((low, high)) = bar.interval {
            let (low, high, y) = (place(at(low)), place(at(high)), place(y + 7.0));
            let whisker = format!("M{low} {y}H{high}M{low} {y}m0 -4v8M{high} {y}m0 -4v8");
            let _ = write!(
                out,
                "<path d=\"{whisker}\" class=\"halo\"/><path d=\"{whisker}\" class=\"error\"/>"
            );
        }
        if reach > REACH {
            let (x, y) = (place(end - 9.0), place(y + 1.0));
            let _ = write!(out, "<path d=\"M{x} {y}l9 6l-9 6Z\" class=\"s0 dot arrow\"/>");
        }
    }
    let _ = write!(
        out,
        "<path d=\"M{} {}v{}\" class=\"limit\"/>",
        place(limit),
        place(y - 2.0),
        place(TRACK + 4.0)
    );
}

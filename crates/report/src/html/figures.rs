//! The pictures of a page: the cells as bars, then each cell over time and as a distribution.

use drivelab_core::run::Run;
use drivelab_core::summary::Summary;
use std::fmt::Write;

use crate::chart::{Chart, Table, bars, latency_distribution, over_time};
use crate::html::escape;
use crate::svg::svg;

/// User units of a picture that fits a phone, and of one as wide as the page.
const NARROW: u32 = 360;
const WIDE: u32 = 720;
/// Up to so many streams each picture gets the width of the page.
const WIDE_STREAMS_MAX: usize = 2;
/// With more streams than this, pictures are thinned so that the page stays small.
const FINE_STREAMS_MAX: usize = 12;

pub(super) fn figures(out: &mut String, run: &Run, summary: &Summary) {
    let charts = bars(summary);
    let is_single = summary.cells.len() < 2;
    if !charts.is_empty() && !is_single {
        out.push_str("<section><h2>All cells</h2><div class=\"pair\">");
        for chart in &charts {
            figure(out, chart, false);
        }
        out.push_str("</div></section>\n");
    }
    let streams: usize = summary.cells.iter().map(|cell| cell.streams.len()).sum();
    let is_wide = streams <= WIDE_STREAMS_MAX;
    let columns = match (is_wide, streams) {
        (true, _) => 640,
        (false, few) if few <= FINE_STREAMS_MAX => 240,
        _ => 44,
    };
    if streams > 0 {
        out.push_str("<section><h2>Over time, and how latency is spread</h2>");
    }
    let mut is_first = true;
    for cell in &summary.cells {
        for (index, stream) in cell.streams.iter().enumerate() {
            let name = match stream.load.name.is_empty() {
                true => cell.name.clone(),
                false => format!("{}, {}", cell.name, stream.load.name),
            };
            let load = format!(
                "{} {}",
                crate::headline::sizes(&stream.load),
                crate::headline::depth(&stream.load)
            );
            let _ = write!(
                out,
                "<h3>{} <span class=\"faint\">{}</span></h3><div class=\"{}\">",
                escape(&name),
                escape(load.trim()),
                if is_wide { "stack" } else { "pair" }
            );
            let pictures = [
                over_time(run, cell, index, columns),
                latency_distribution(run, cell, index, columns.min(240)),
            ];
            for mut chart in pictures.into_iter().flatten() {
                // Said once it helps; said thirty times it is noise.
                if !is_first {
                    chart.note.clear();
                }
                figure(out, &chart, is_wide);
            }
            is_first = false;
            out.push_str("</div>\n");
        }
    }
    if streams > 0 {
        out.push_str("</section>\n");
    }
}

/// A picture, its caption, its numbers. A wide one is drawn twice: text that fits a page would be
/// too small on a phone.
fn figure(out: &mut String, chart: &Chart, is_wide: bool) {
    let _ = write!(out, "<figure><h4>{}</h4>", escape(&chart.title));
    match is_wide {
        true => {
            let (wide, narrow) = (svg(chart, WIDE), svg(chart, NARROW));
            let _ =
                write!(out, "<div class=\"wide\">{wide}</div><div class=\"narrow\">{narrow}</div>");
        }
        false => out.push_str(&svg(chart, NARROW)),
    }
    if !chart.note.is_empty() {
        let _ = write!(out, "<figcaption>{}</figcaption>", escape(&chart.note));
    }
    out.push_str("<details><summary>the numbers</summary>");
    table(out, &chart.table);
    out.push_str("</details></figure>");
}

fn table(out: &mut String, table: &Table) {
    out.push_str("<div class=\"scroll\"><table><tr>");
    for head in &table.heads {
        let _ = write!(out, "<th>{}", escape(head));
    }
    for row in &table.rows {
        out.push_str("<tr>");
        for cell in row {
            let _ = write!(out, "<td>{}", escape(cell));
        }
    }
    out.push_str("</table></div>");
}

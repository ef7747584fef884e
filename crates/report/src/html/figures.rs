//! The pictures of a page: the cells as bars, then each cell over time and as a distribution.

use drivelab_core::run::Run;
use drivelab_core::summary::{CellStream, CellSummary, Summary};
use std::fmt::Write;

use crate::svg::svg;
use crate::text::escape;
use crate::view::chart::{
    Chart, Table, bars, density, latency_distribution, map, over_time, parallel,
};
use crate::view::headline;

/// User units of a picture that fits a phone, and of one as wide as the page.
pub(super) const NARROW: u32 = 360;
pub(super) const WIDE: u32 = 720;
/// Up to this many streams each picture gets the width of the page.
const WIDE_STREAMS_MAX: usize = 2;
/// Up to this many bars a picture of them gets the width of the page.
const WIDE_BARS_MAX: usize = 40;
/// With more streams than this, pictures are thinned so that the page stays small.
const FINE_STREAMS_MAX: usize = 12;
/// Of more streams than that only this many, the most important, are drawn over time.
const OVER_TIME_MAX: usize = 6;
/// Of still more, the others are not drawn at all: their numbers stand in the tables.
const DRAWN_MAX: usize = 64;

/// What the files of parallel workers look like.
pub(super) fn layouts(out: &mut String, run: &Run) {
    let charts = parallel(run);
    if charts.is_empty() {
        return;
    }
    out.push_str("<section><h2>File layout</h2><div class=\"pair\">");
    charts.iter().for_each(|chart| figure(out, chart, false, 3));
    out.push_str("</div></section>\n");
}

/// What is seen first where no study has drawn its answer: all cells between rate and latency, or
/// of one load its latency over time.
pub(super) fn key_picture(out: &mut String, run: &Run, summary: &Summary) {
    let streams: usize = summary.cells.iter().map(|cell| cell.streams.len()).sum();
    let mut charts: Vec<Chart> = map(summary).into_iter().collect();
    if charts.is_empty() && streams <= WIDE_STREAMS_MAX {
        let of_cell = |cell: &CellSummary| -> Vec<Chart> {
            let named = |(at, stream)| {
                let chart = density(run, summary, cell, at)?;
                let name = headline::stream_name(cell, stream);
                let title =
                    if streams > 1 { format!("{}: {name}", chart.title) } else { chart.title };
                Some(Chart { title, ..chart })
            };
            cell.streams.iter().enumerate().filter_map(named).collect()
        };
        charts.extend(summary.cells.iter().flat_map(of_cell));
    }
    for chart in charts {
        out.push_str("<section>");
        figure(out, &chart, true, 2);
        out.push_str("</section>\n");
    }
}

pub(super) fn figures(out: &mut String, run: &Run, summary: &Summary) {
    let charts = bars(summary);
    let streams: usize = summary.cells.iter().map(|cell| cell.streams.len()).sum();
    if !charts.is_empty() && streams > 1 {
        // One alone has the width of the page, unless drawing it twice made the page too large.
        let is_wide = charts.len() == 1 && charts[0].table.rows.len() <= WIDE_BARS_MAX;
        let class = if is_wide { "stack" } else { "pair" };
        let _ = write!(out, "<section><h2>All cells</h2><div class=\"{class}\">");
        for (index, chart) in charts.iter().enumerate() {
            let mut chart = chart.clone();
            // Said once it helps; said twice it is noise.
            if index > 0 {
                chart.note.clear();
            }
            figure(out, &chart, is_wide, 3);
        }
        out.push_str("</div></section>\n");
    }
    let streams: Vec<(&CellSummary, usize)> = summary
        .cells
        .iter()
        .flat_map(|cell| (0..cell.streams.len()).map(move |index| (cell, index)))
        .collect();
    if streams.is_empty() {
        return;
    }
    let important = important(&streams);
    let is_wide = streams.len() <= WIDE_STREAMS_MAX;
    let columns = match (is_wide, streams.len()) {
        (true, _) => 640,
        (false, few) if few <= FINE_STREAMS_MAX => 150,
        _ => 24,
    };
    out.push_str("<section><h2>Over time, and how latency is spread</h2>");
    if important.len() < streams.len() {
        let _ = write!(
            out,
            "<p class=\"faint\">Of {} streams the {} most informative are drawn{}: suspect ones, \
             those with the longest gaps, then in order.</p>",
            streams.len(),
            important.len(),
            if streams.len() > DRAWN_MAX { "" } else { " over time" }
        );
    }
    let is_drawn = |place: &usize| streams.len() <= DRAWN_MAX || important.contains(place);
    let drawn = streams.iter().enumerate().filter(|(place, _)| is_drawn(place));
    for (count, (place, (cell, index))) in drawn.enumerate() {
        heading(out, cell, &cell.streams[*index], is_wide);
        let over_time = important
            .contains(&place)
            .then(|| over_time(run, summary, cell, *index, columns))
            .flatten();
        let pictures = [over_time, latency_distribution(run, cell, *index, columns.min(150))];
        for mut chart in pictures.into_iter().flatten() {
            if count > 0 {
                chart.note.clear();
            }
            figure(out, &chart, is_wide, 4);
        }
        out.push_str("</div>\n");
    }
    out.push_str("</section>\n");
}

/// Which streams are drawn over time: all of a few, else the most telling.
fn important(streams: &[(&CellSummary, usize)]) -> Vec<usize> {
    let mut places: Vec<usize> = (0..streams.len()).collect();
    places.sort_by_key(|place| {
        let (cell, index) = streams[*place];
        let longest = cell.streams[index].gap_ns_longest.unwrap_or(0);
        let has_gaps = cell.streams[index].gap_count.is_none_or(|count| count > 0);
        let gap = if has_gaps { longest } else { 0 };
        (cell.valid != Some(false), std::cmp::Reverse(gap), *place)
    });
    if streams.len() > FINE_STREAMS_MAX {
        places.truncate(OVER_TIME_MAX);
    }
    places
}

fn heading(out: &mut String, cell: &CellSummary, stream: &CellStream, is_wide: bool) {
    let name = headline::stream_name(cell, stream);
    let load = format!("{} {}", headline::sizes(&stream.load), headline::depth(&stream.load));
    let mark = match cell.valid {
        Some(false) => " <b class=\"badge bad\">suspect</b>",
        _ => "",
    };
    let _ = write!(
        out,
        "<h3>{} <span class=\"faint\">{}</span>{mark}</h3><div class=\"{}\">",
        escape(&name),
        escape(load.trim()),
        if is_wide { "stack" } else { "pair" }
    );
}

/// A picture, its caption, its numbers. A wide one is drawn twice: text that fits a page would be
/// too small on a phone.
pub(super) fn figure(out: &mut String, chart: &Chart, is_wide: bool, level: u8) {
    let title = escape(&chart.title);
    let _ = write!(out, "<figure><h{level}>{title}</h{level}>");
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

pub(super) fn table(out: &mut String, table: &Table) {
    out.push_str("<div class=\"scroll\" tabindex=\"0\"><table><tr>");
    for head in &table.heads {
        let _ = write!(out, "<th scope=\"col\">{}", escape(head));
    }
    for row in &table.rows {
        out.push_str("<tr>");
        for cell in row {
            let _ = write!(out, "<td>{}", escape(cell));
        }
    }
    out.push_str("</table></div>");
}

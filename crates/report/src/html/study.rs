//! What a study found besides its verdict: pictures, tables, a comparison, what it left out.

use drivelab_core::findings::{Figure, Findings, HeatMap, Picture, Table};
use std::fmt::Write;

use crate::html::table::{self, Set};
use crate::html::{comparison, figures, prose};
use crate::svg;
use crate::text::{Html, escape};
use crate::view::chart::{self, Body, Chart};
use crate::view::heat::{marks, numbers};
use crate::view::numbers::NUMBERS_MAX;
use crate::view::{self, block};

/// Longer words may be wrapped in a table, at a width that can still be read.
const WORDS_CHARACTERS: usize = 16;
/// Longer tables are opened by whoever wants them.
const ROWS_OPEN: usize = 30;

/// The picture that the verdict rests on, as wide as the page; where there is none, the
/// comparison.
pub(super) fn key_picture(out: &mut String, findings: &Findings) {
    findings.heat_maps.iter().for_each(|map| heat_map(out, map));
    let charts = chart::claims(&findings.claims)
        .into_iter()
        .chain(findings.timelines.iter().filter_map(chart::timeline))
        .chain(findings.dots.iter().filter_map(chart::dots))
        .chain(findings.stacks.iter().filter_map(chart::stack));
    for chart in charts {
        out.push_str("<section>");
        figures::figure(out, &chart, true, 2);
        out.push_str("</section>\n");
    }
    if let (None, Some(comparison)) = (findings.pictures.first(), &findings.comparison) {
        comparison::section(out, comparison, findings);
    }
    if let Some(first) = findings.pictures.first() {
        out.push_str("<section>");
        picture(out, first, true, 2);
        out.push_str("</section>\n");
    }
}

/// Whether a study has drawn its own answer.
pub(super) fn has_key_picture(findings: &Findings) -> bool {
    let Findings { heat_maps, claims, timelines, dots, stacks, pictures, comparison, .. } =
        findings;
    let is_empty = [heat_maps.is_empty(), claims.is_empty(), timelines.is_empty()];
    let is_empty = is_empty.into_iter().chain([dots.is_empty(), stacks.is_empty()]);
    !is_empty.chain([pictures.is_empty(), comparison.is_none()]).all(|empty| empty)
}

/// The other pictures, tables, the comparison, what does not apply, and where the run did
/// otherwise than its method.
pub(super) fn results(out: &mut String, findings: &Findings) {
    let others = findings.pictures.get(1..).unwrap_or_default();
    if !others.is_empty() {
        out.push_str("<section><h2>Further pictures</h2><div class=\"pair\">");
        others.iter().for_each(|one| picture(out, one, false, 3));
        out.push_str("</div></section>\n");
    }
    // The first screen has no room for more of them, nor for the whole of a long note.
    if findings.figures.len() > NUMBERS_MAX {
        figures(out, &findings.figures);
    }
    findings.tables.iter().for_each(|one| table(out, one));
    if let (Some(_), Some(comparison)) = (findings.pictures.first(), &findings.comparison) {
        comparison::section(out, comparison, findings);
    }
    let bars = chart::suites(&findings.bars);
    if !bars.is_empty() {
        out.push_str("<section><h2>Test by test</h2>");
        let of_suite = |chart: &&Chart| matches!(chart.body, Body::Columns { .. });
        bars.iter().filter(of_suite).for_each(|chart| figures::figure(out, chart, true, 3));
        let alone: Vec<&Chart> = bars.iter().filter(|chart| !of_suite(chart)).collect();
        if !alone.is_empty() {
            out.push_str("<div class=\"pair\">");
            alone.into_iter().for_each(|chart| figures::figure(out, chart, false, 3));
            out.push_str("</div>");
        }
        out.push_str("</section>\n");
    }
    let remarks = findings.not_applicable.iter();
    let remarks = remarks.map(|remark| {
        let (cell, text) = (escape(&remark.cell), prose(&remark.text));
        Html::around(format_args!("<b>{cell}</b>: {text}"))
    });
    list(out, "Not applicable", remarks.collect());
    let deviations = findings.deviations.iter().map(|deviation| prose(deviation));
    list(out, "Deviations from the method", deviations.collect());
}

fn picture(out: &mut String, picture: &Picture, is_wide: bool, level: u8) {
    match chart::picture(picture) {
        Some(chart) => figures::figure(out, &chart, is_wide, level),
        None => {
            let _ = write!(
                out,
                "<figure><h{level}>{}</h{level}><p class=\"faint\">No point was measured: \
                 nothing is drawn.</p></figure>",
                escape(&picture.title)
            );
        }
    }
}

/// A heat map, drawn for a page and for a phone, and its numbers.
fn heat_map(out: &mut String, map: &HeatMap) {
    let _ = write!(
        out,
        "<section><figure><h2>{}</h2><div class=\"wide\">{}</div><div class=\"narrow\">{}</div>\
         <figcaption>{} {}</figcaption><details><summary>the numbers</summary>",
        escape(&map.title),
        svg::heat(map, figures::WIDE),
        svg::heat(map, figures::NARROW),
        escape(&marks(map)),
        prose(&map.note),
    );
    figures::table(out, &numbers(map));
    out.push_str("</details></figure></section>\n");
}

fn figures(out: &mut String, figures: &[Figure]) {
    let table = view::study::figures(figures);
    out.push_str("<section><h2>All figures</h2>");
    table::begin(out, "");
    table::heads(out, &table);
    table::rows(out, &table, &[Set::Plain, Set::Strong, Set::Number, Set::Number, Set::Prose]);
    out.push_str("</section>\n");
}

fn table(out: &mut String, table: &Table) {
    let table = view::study::table(table);
    let sets: Vec<Set> = (0..table.heads.len()).map(|column| set(&table, column)).collect();
    let _ = write!(out, "<section><h2>{}</h2>", escape(&table.title));
    let is_long = table.rows.len() > ROWS_OPEN || table.is_wordy();
    if is_long {
        let _ = write!(out, "<details><summary>{} rows</summary>", table.rows.len());
    }
    table::begin(out, "");
    for (head, set) in table.heads.iter().zip(&sets) {
        let _ = write!(out, "<th scope=\"col\" class=\"{}\">{}", set.class(), escape(&head.name));
    }
    table::rows(out, &table, &sets);
    if is_long {
        out.push_str("</details>");
    }
    if !table.note.is_empty() {
        let _ = write!(out, "<p class=\"faint\">{}</p>", prose(&table.note));
    }
    out.push_str("</section>\n");
}

/// How a column is set: numbers to the right, short words in one line, others wrapped.
fn set(table: &block::Table, column: usize) -> Set {
    let is_long = |row: &Vec<String>| row[column].chars().count() > WORDS_CHARACTERS;
    match (table.heads[column].is_number, table.rows.iter().any(is_long)) {
        (true, _) => Set::Number,
        (false, true) => Set::Words,
        (false, false) => Set::Line,
    }
}

/// A section with a list.
fn list(out: &mut String, title: &str, items: Vec<Html>) {
    if items.is_empty() {
        return;
    }
    let _ = write!(out, "<section><h2>{title}</h2><ul>");
    for item in items {
        let _ = write!(out, "<li>{item}");
    }
    out.push_str("</ul></section>\n");
}

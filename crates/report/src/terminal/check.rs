//! The table of `drivelab check`: one line a cell, then the findings in words.

use drivelab_core::facts::Facts;
use drivelab_core::findings::Findings;
use drivelab_core::summary::Summary;

use crate::text::{Flush, columns, hanging, printable};
use crate::units;
use crate::view::header;
use crate::view::headline::{self, Row};

/// More lines of cells than that fill a screen; of them so many are shown.
const LINES_MAX: usize = 60;
const LINES_SHOWN: usize = 20;

/// Target, table of cells, Verdict, Suspect, Beware, Unknown, warnings.
pub fn check_table(summary: &Summary, findings: &Findings, facts: &Facts) -> String {
    let mut text = heading(summary, facts);
    text.push('\n');
    text.push_str(&cells(summary, findings));
    text.push('\n');
    text.push_str(&judgement(findings));
    if !summary.warnings.is_empty() {
        text.push('\n');
        text.push_str(&super::warnings(&summary.warnings));
    }
    text
}

/// What was concluded, each sentence a paragraph.
pub(super) fn judgement(findings: &Findings) -> String {
    let mut text = String::new();
    for (label, sentences) in header::judgement(findings) {
        for (index, sentence) in sentences.iter().enumerate() {
            let label = if index == 0 { label } else { "" };
            text.push_str(&hanging(label, &printable(sentence), 9));
        }
    }
    text
}

/// Who, what, on which target, and whether all of it was done.
pub(super) fn heading(summary: &Summary, facts: &Facts) -> String {
    let target = printable(&headline::target(&summary.target, facts));
    let mut text = format!("drivelab {}  ·  {target}\n", summary.version);
    let mut parts = vec![format!("run {}", summary.run), format!("seed {}", summary.seed)];
    parts.push(format!("state {}", header::state(summary)));
    parts.extend(summary.tag.clone());
    text.push_str(&printable(&parts.join("  ·  ")));
    text.push('\n');
    if let Some(reason) = header::incomplete(summary) {
        let words = format!("this run is incomplete: {reason}");
        text.push_str(&hanging("INCOMPLETE", &printable(&words), 12));
    }
    text
}

/// One line a cell; of very many the first, and those that are suspect.
pub(super) fn cells(summary: &Summary, findings: &Findings) -> String {
    let all: Vec<Row<'_>> = summary.cells.iter().flat_map(headline::rows).collect();
    if all.is_empty() {
        return "  no cell was measured\n".to_owned();
    }
    let most = if all.len() > LINES_MAX { LINES_SHOWN } else { all.len() };
    let is_shown = |at: usize, row: &Row<'_>| at < most || row.cell.valid == Some(false);
    let shown = all.iter().enumerate().filter(|(at, row)| is_shown(*at, row));
    let rows: Vec<Vec<String>> = shown.map(|(_, row)| line(row, findings)).collect();
    let (left, right) = (Flush::Left, Flush::Right);
    let ends = [left, right, left, right, left, left, right, left, right, left];
    let mut text = columns(&rows, &ends, 2);
    if rows.len() < all.len() {
        text.push_str(&format!("  and {} cells more in the report\n", all.len() - rows.len()));
    }
    text
}

fn line(row: &Row<'_>, findings: &Findings) -> Vec<String> {
    let mut remarks = Vec::new();
    if row.is_first {
        let of_cell = findings.remarks.iter().filter(|remark| remark.cell == row.cell.name);
        remarks.extend(of_cell.map(|remark| remark.text.clone()));
    }
    if row.is_first || row.cell.streams.len() > 1 {
        remarks.extend(row.remarks());
    }
    if remarks.is_empty() && row.is_first && row.cell.valid == Some(true) {
        remarks.push("valid".to_owned());
    }
    let (p99_label, p99, max_label, max) = match row.latency {
        Some(latency) => (
            "p99".to_owned(),
            latency.p99.map_or("too few".to_owned(), |p99| units::time(p99 as f64)),
            "max".to_owned(),
            units::time(latency.max as f64),
        ),
        None => Default::default(),
    };
    let remark = match remarks.is_empty() {
        true => String::new(),
        false => format!("▏{}", printable(&remarks.join("; "))),
    };
    vec![
        printable(&row.label),
        headline::sizes(row.load),
        headline::depth(row.load),
        row.rate(),
        row.half_width(),
        p99_label,
        p99,
        max_label,
        max,
        remark,
    ]
}

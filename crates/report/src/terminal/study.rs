//! The results of a study: its figures, cells and tables, then what they mean.

use drivelab_core::facts::Facts;
use drivelab_core::findings::{Figure, Findings, Remark};
use drivelab_core::gathering::Gathering;
use drivelab_core::summary::Summary;

use super::heat::{heat_map, heat_map_of_several};
use super::table::{table, table_of_several};
use super::{check, compare, curve};
use crate::text::{Flush, aligned, columns, columns_max, hanging, printable};
use crate::view::amounts;
use crate::view::study as view;

/// Columns that value, interval and the room between them take next to the name of a figure.
const VALUE_COLUMNS: usize = 46;

/// Target, figures, cells, heat maps, tables, comparison, what does not apply, Verdict, Suspect,
/// Beware, Unknown, deviations from the method, warnings.
pub fn study_table(summary: &Summary, findings: &Findings, facts: &Facts) -> String {
    let mut text = check::heading(summary, facts);
    let mut parts = vec![figures(&findings.figures)];
    if !summary.cells.is_empty() {
        parts.push(check::cells(summary, findings));
    }
    parts.extend(findings.heat_maps.iter().map(heat_map));
    parts.extend(findings.tables.iter().map(table));
    parts.extend(findings.comparison.as_ref().map(|it| compare::within(it, findings)));
    parts.push(not_applicable(&findings.not_applicable));
    parts.push(check::judgement(findings));
    parts.push(deviations(&findings.deviations));
    parts.push(super::closing(summary));
    for part in parts.iter().filter(|part| !part.is_empty()) {
        text.push('\n');
        text.push_str(part);
    }
    text
}

/// Several targets side by side: which runs, the tables, the comparison, what follows.
pub fn gathering_table(gathering: &Gathering) -> String {
    let mut text = hanging("", &printable(&gathering.question), 0);
    let mut rows = view::runs(gathering).rows;
    for row in &mut rows {
        row[0] = printable(&row[0]);
        row[1] = format!("run {}", row[1]);
    }
    // Of a sweep the table has a row for each.
    if gathering.sweep.is_none() {
        text.push_str(&columns(&rows, &[Flush::Left, Flush::Left, Flush::Left], 2));
    }
    let findings = &gathering.findings;
    let mut parts: Vec<String> = findings.heat_maps.iter().map(heat_map_of_several).collect();
    parts.extend(findings.tables.iter().map(table_of_several));
    if gathering.sweep.is_some() {
        parts.extend(findings.tables.iter().flat_map(curve::curves));
    }
    parts.extend(findings.comparison.as_ref().map(|it| compare::within(it, findings)));
    parts.push(check::judgement(findings));
    for part in parts.iter().filter(|part| !part.is_empty()) {
        text.push('\n');
        text.push_str(part);
    }
    text
}

/// Name, value and interval in columns; the note hangs next to them.
fn figures(figures: &[Figure]) -> String {
    // Longer names stand in a line of their own.
    let name_columns = columns_max().min(90) - VALUE_COLUMNS;
    let mut rows = Vec::with_capacity(figures.len());
    for figure in figures {
        let name = printable(&figure.name);
        rows.push(vec![
            if name.chars().count() > name_columns { String::new() } else { name },
            amounts::show(figure.estimate.value, figure.unit),
            amounts::margin(figure).unwrap_or_default(),
        ]);
    }
    let lines = aligned(&rows, &[Flush::Left, Flush::Right, Flush::Left], 2);
    let widest = lines.lines().map(|line| line.chars().count()).max().unwrap_or(0);
    let mut text = String::new();
    for (figure, line) in figures.iter().zip(lines.lines()) {
        if figure.name.chars().count() > name_columns {
            text.push_str(&hanging("  ", &printable(&figure.name), 2));
        }
        text.push_str(&hanging(line, &printable(&figure.note), widest + 2));
    }
    text
}

fn not_applicable(remarks: &[Remark]) -> String {
    let sentences = view::not_applicable(remarks);
    sentences.iter().map(|it| hanging("not applicable", &printable(it), 16)).collect()
}

fn deviations(deviations: &[String]) -> String {
    if deviations.is_empty() {
        return String::new();
    }
    let list = deviations.iter().map(|deviation| hanging("  -", &printable(deviation), 4));
    ["Deviations from the method\n".to_owned()].into_iter().chain(list).collect()
}

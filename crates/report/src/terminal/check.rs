//! The table of `drivelab check`: one line a cell, then the findings in words.

use drivelab_core::facts::Facts;
use drivelab_core::findings::Findings;
use drivelab_core::quantity::counted;
use drivelab_core::summary::Summary;

use crate::text::{Flush, columns_without, hanging, in_ascii_or, printable};
use crate::units;
use crate::view::card::{self, Card, Entry};
use crate::view::header;
use crate::view::headline::{self, Row};

/// More lines of cells than that fill a screen; of them so many are shown.
const LINES_MAX: usize = 60;
const LINES_SHOWN: usize = 20;
/// Columns that a narrow screen does without, the first of them first: max, then p99.
const WITHOUT: [&[usize]; 2] = [&[7, 8], &[5, 6]];
/// What stands above the lines of a card.
const STANDARD: &str = "  the loads of CrystalDiskMark (Q queue depth, T threads)\n";
const OWN: &str = "  drivelab's own\n";

/// Target, table of cells, Verdict, Suspect, Beware, Unknown, warnings.
pub fn check_table(summary: &Summary, findings: &Findings, facts: &Facts) -> String {
    let mut text = heading(summary, facts);
    text.push('\n');
    match card::card(summary, findings) {
        Some(card) => text.push_str(&side_by_side(&card)),
        None => text.push_str(&cells(summary, findings)),
    }
    text.push('\n');
    let uses = header::uses(findings);
    for (label, list) in &uses {
        for (index, one) in list.iter().enumerate() {
            let label = if index == 0 { *label } else { "" };
            text.push_str(&hanging(label, &printable(one), 12));
        }
    }
    if !uses.is_empty() {
        text.push('\n');
    }
    text.push_str(&judgement(findings));
    let closing = super::closing(summary);
    if !closing.is_empty() {
        text.push('\n');
        text.push_str(&closing);
    }
    text
}

/// The lines of a card in 80 columns: the four that everyone compares, then the others.
fn side_by_side(card: &Card) -> String {
    let line = |label: &str, read: [&str; 3], write: [&str; 3], p99: [&str; 2]| {
        let rate = |[rate, width, mark]: [&str; 3]| format!("{rate:>10} {width:<8}{mark:<2}");
        let text =
            format!("  {label:<12}  {} {} {:>8}  {:>9}", rate(read), rate(write), p99[0], p99[1]);
        format!("{}\n", text.trim_end())
    };
    let mut text = line("", ["read", "", ""], ["write", "", ""], ["p99 read", "p99 write"]);
    let mut was_standard = None;
    for one in &card.lines {
        if was_standard == Some(true) && !one.is_standard {
            text.push_str(&in_bytes(card));
        }
        if was_standard != Some(one.is_standard) {
            text.push_str(if one.is_standard { STANDARD } else { OWN });
            was_standard = Some(one.is_standard);
        }
        let marks = [&one.read, &one.write]
            .map(|it| it.as_ref().and_then(|it| it.note))
            .map(|number| number.map_or(String::new(), raised));
        let rate = |entry: &'_ Option<Entry>| {
            entry
                .as_ref()
                .map_or([String::new(), String::new()], |it| [it.rate.clone(), it.width.clone()])
        };
        let p99 = |entry: &Option<Entry>| entry.as_ref().map_or(String::new(), |it| it.p99.clone());
        let (read, write) = (rate(&one.read), rate(&one.write));
        text.push_str(&line(
            &printable(&one.label),
            [&read[0], &read[1], &marks[0]],
            [&write[0], &write[1], &marks[1]],
            [&p99(&one.read), &p99(&one.write)],
        ));
    }
    for (index, note) in card.notes.iter().enumerate() {
        text.push_str(&hanging(&format!("  {} ", raised(index + 1)), &printable(note), 4));
    }
    text
}

/// The standard lines that count operations, in bytes a second as reviews print them.
fn in_bytes(card: &Card) -> String {
    let side = |entry: &Option<Entry>, word: &str| {
        Some(format!("{} {word}", entry.as_ref()?.bandwidth.as_ref()?))
    };
    let told = card.lines.iter().filter(|line| line.is_standard).filter_map(|line| {
        let sides = [side(&line.read, "read"), side(&line.write, "write")];
        let sides: Vec<String> = sides.into_iter().flatten().collect();
        let label = line.label.split_whitespace().collect::<Vec<_>>().join(" ");
        (!sides.is_empty()).then(|| format!("{label} {}", sides.join(", ")))
    });
    let labels = ["  in bytes     "].into_iter().chain(std::iter::repeat(""));
    told.zip(labels).map(|(told, label)| hanging(label, &printable(&told), 16)).collect()
}

/// A number above the line, or behind a star where there is only ASCII.
fn raised(number: usize) -> String {
    in_ascii_or(format!("*{number}"), card::raised(number))
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
    let (at, rows): (Vec<usize>, Vec<Vec<String>>) =
        shown.map(|(at, row)| (at, line(row, findings))).unzip();
    let (left, right) = (Flush::Left, Flush::Right);
    let ends = [left, right, left, right, left, left, right, left, right, left];
    let (mut text, _) = columns_without(&rows, &ends, 2, &WITHOUT);
    let hidden = |(index, row): &(usize, &Row<'_>)| row.is_first && !at.contains(index);
    let hidden = all.iter().enumerate().filter(hidden).count();
    if rows.len() < all.len() {
        let cells = counted(hidden as u64, "more cell");
        text.push_str(&format!("  and {cells} in the report\n"));
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

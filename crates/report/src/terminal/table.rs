//! Tables of findings as text: in columns, or row by row where those are too wide.

use drivelab_core::findings::Table;

use crate::text::{Flush, aligned, columns_max, hanging, printable};
use crate::view::layouts::{bands, layouts};
use crate::view::{block, study as view};

/// Of longer tables the page has the rest.
const ROWS_SHOWN: usize = 60;
/// The widest line of a table of several targets.
pub(super) const NARROW: usize = 80;

/// Title, entries in columns, note. A table that is too wide for them is written row by row.
pub(super) fn table(table: &Table) -> String {
    let table = view::table(table);
    let in_lines = || match table.is_wordy() {
        true => hanging("", "  on the page of this run, and in its --json", 2),
        false => row_by_row(&table),
    };
    let text = fitting(&table, columns_max()).unwrap_or_else(in_lines);
    titled(&table, &text)
}

/// A table of several targets: one that is too wide is set another way before it is written row by
/// row.
pub(super) fn table_of_several(table: &Table) -> String {
    let table = view::table(table);
    titled(&table, &narrowed(&table))
}

/// Entries in columns, in narrower parts where the table is too wide.
pub(super) fn narrowed(table: &block::Table) -> String {
    let set = |parts: Vec<block::Table>| -> Option<String> {
        let parts: Option<Vec<String>> = parts.iter().map(|part| fitting(part, NARROW)).collect();
        parts.map(|parts| parts.join("\n"))
    };
    let fits = |part: &block::Table| fitting(part, NARROW).is_some();
    let in_bands = || bands(table, fits).and_then(set);
    let narrow = layouts(table).into_iter().find_map(set).or_else(in_bands);
    narrow.or_else(|| fitting(table, columns_max())).unwrap_or_else(|| row_by_row(table))
}

fn titled(table: &block::Table, entries: &str) -> String {
    let mut text = hanging("", &printable(&table.title), 0);
    text.push_str(entries);
    if !table.note.is_empty() {
        text.push_str(&hanging("  ", &printable(&table.note), 2));
    }
    text
}

/// Heads and entries in columns, if no line is wider.
fn fitting(table: &block::Table, width: usize) -> Option<String> {
    let flush = |is_number| if is_number { Flush::Right } else { Flush::Left };
    let flush: Vec<Flush> = table.heads.iter().map(|head| flush(head.is_number)).collect();
    let shown = table.rows.iter().take(ROWS_SHOWN);
    let rows: Vec<Vec<String>> =
        [clean(table.names())].into_iter().chain(shown.map(clean)).collect();
    let text = aligned(&rows, &flush, 2);
    let fits = text.lines().all(|line| line.chars().count() <= width);
    fits.then(|| text + &more(table))
}

fn row_by_row(table: &block::Table) -> String {
    let heads = clean(table.names());
    let shown = table.rows.iter().take(ROWS_SHOWN);
    let rows: String = shown.map(|row| in_words(&heads, &clean(row))).collect();
    rows + &more(table)
}

fn more(table: &block::Table) -> String {
    match table.rows.len().saturating_sub(ROWS_SHOWN) {
        0 => String::new(),
        more => format!("  and {more} more rows\n"),
    }
}

fn clean(row: impl AsRef<[String]>) -> Vec<String> {
    row.as_ref().iter().map(|one| printable(one)).collect()
}

/// A row as a list of its entries, each led by its head, wrapped.
pub(super) fn in_words(heads: &[String], row: &[String]) -> String {
    let parts: Vec<String> = heads
        .iter()
        .zip(row)
        .filter(|(_, entry)| !entry.is_empty())
        .map(|(head, entry)| format!("{head} {entry}").trim().to_owned())
        .collect();
    hanging("  -", &parts.join(" · "), 4)
}

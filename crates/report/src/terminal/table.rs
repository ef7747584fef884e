//! Tables of findings as text: in columns, or row by row where those are too wide.

use drivelab_core::findings::Table;

use crate::text::{COLUMNS, Flush, columns, hanging, printable};
use crate::view::study as view;

/// Of longer tables the page has the rest.
const ROWS_SHOWN: usize = 60;

/// Title, entries in columns, note. A table that is too wide for them is written row by row.
pub(super) fn table(table: &Table) -> String {
    let table = view::table(table);
    let clean =
        |row: &Vec<String>| -> Vec<String> { row.iter().map(|one| printable(one)).collect() };
    let heads = clean(&table.names());
    let all: Vec<Vec<String>> = table.rows.iter().take(ROWS_SHOWN).map(clean).collect();
    let mut text = hanging("", &printable(&table.title), 0);
    let flush = |is_number| if is_number { Flush::Right } else { Flush::Left };
    let flush: Vec<Flush> = table.heads.iter().map(|head| flush(head.is_number)).collect();
    let with_heads: Vec<Vec<String>> = [heads.clone()].into_iter().chain(all.clone()).collect();
    let aligned = columns(&with_heads, &flush, 2);
    match aligned.lines().all(|line| line.chars().count() <= COLUMNS) {
        true => text.push_str(&aligned),
        false => all.iter().for_each(|row| text.push_str(&in_words(&heads, row))),
    }
    if table.rows.len() > all.len() {
        text.push_str(&format!("  and {} rows more\n", table.rows.len() - all.len()));
    }
    if !table.note.is_empty() {
        text.push_str(&hanging("  ", &printable(&table.note), 2));
    }
    text
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

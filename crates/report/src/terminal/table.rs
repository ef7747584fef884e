//! Tables of findings as text: in columns, or row by row where those are too wide.

use drivelab_core::findings::Table;

use crate::text::{Flush, aligned, columns_max, hanging, pieces, printable, width};
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
    let width = columns_max();
    let text = fitting(&table, width).or_else(|| folded(&table, width)).unwrap_or_else(in_lines);
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

/// Narrower text columns than this are hard to read.
const TEXT_MIN: usize = 16;

/// The same with heads of several lines, and the widest column of words wrapped.
fn folded(table: &block::Table, columns: usize) -> Option<String> {
    let heads = clean(table.names());
    let rows: Vec<Vec<String>> = table.rows.iter().take(ROWS_SHOWN).map(clean).collect();
    let longest = |text: &str| pieces(text).iter().map(|it| width(it)).max().unwrap_or(0);
    let mut room: Vec<usize> = (0..heads.len())
        .map(|at| {
            let entries = rows.iter().filter_map(|row| row.get(at)).map(|entry| width(entry));
            entries.max().unwrap_or(0).max(longest(&heads[at]))
        })
        .collect();
    let over = (room.iter().map(|room| room + 2).sum::<usize>()).saturating_sub(columns);
    if over > 0 {
        let is_text = |at: &usize| !table.heads[*at].is_number;
        let widest = (0..heads.len()).filter(is_text).max_by_key(|at| room[*at])?;
        let entries = rows.iter().filter_map(|row| row.get(widest));
        let least = entries.map(|entry| longest(entry)).max().unwrap_or(0).max(TEXT_MIN);
        room[widest] = room[widest].checked_sub(over).filter(|left| *left >= least)?;
    }
    let flush = |is_number| if is_number { Flush::Right } else { Flush::Left };
    let flush: Vec<Flush> = table.heads.iter().map(|head| flush(head.is_number)).collect();
    let mut lines = in_lines(&heads, &room, true);
    lines.extend(rows.iter().flat_map(|row| in_lines(row, &room, false)));
    let text = aligned(&lines, &flush, 2);
    let fits = text.lines().all(|line| width(line) <= columns);
    fits.then(|| text + &more(table))
}

/// A row as lines, each entry wrapped within its room; a head stands on the row below it.
fn in_lines(row: &[String], room: &[usize], is_head: bool) -> Vec<Vec<String>> {
    let entries: Vec<Vec<String>> =
        row.iter().zip(room).map(|(entry, room)| wrapped(entry, *room)).collect();
    let most = entries.iter().map(Vec::len).max().unwrap_or(0);
    let line = |at: usize, entry: &Vec<String>| {
        let above = if is_head { most - entry.len() } else { 0 };
        at.checked_sub(above).and_then(|at| entry.get(at)).cloned().unwrap_or_default()
    };
    (0..most).map(|at| entries.iter().map(|entry| line(at, entry)).collect()).collect()
}

/// Words in lines, none wider than the room unless it is one word.
fn wrapped(text: &str, room: usize) -> Vec<String> {
    let mut lines = vec![String::new()];
    for word in pieces(text) {
        match lines.last_mut() {
            Some(line) if line.is_empty() => line.push_str(&word),
            Some(line) if width(line) + 1 + width(&word) <= room => {
                line.push(' ');
                line.push_str(&word);
            }
            _ => lines.push(word),
        }
    }
    lines
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

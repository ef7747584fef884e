//! A curve in a terminal: a bar from zero for each row of a table.

use drivelab_core::findings::{Entry, Table};

use crate::text::{Flush, columns, hanging, printable};
use crate::view::amounts;

/// Characters of the longest bar.
const LENGTH: f64 = 40.0;

/// For each column of numbers: its name, then a row with label, bar and number. Of fewer than two
/// numbers nothing is drawn.
pub(super) fn curves(table: &Table) -> Vec<String> {
    let numeric = |column: &usize| amounts::is_numeric(table, *column);
    (1..amounts::width(table)).filter(numeric).filter_map(|column| curve(table, column)).collect()
}

fn curve(table: &Table, column: usize) -> Option<String> {
    let value = |row: &Vec<Entry>| match row.get(column) {
        Some(Entry::Number(value)) if amounts::is_number(*value) => Some(value.max(0.0)),
        _ => None,
    };
    let known: Vec<f64> = table.rows.iter().filter_map(value).collect();
    let most = known.iter().copied().fold(0.0, f64::max);
    if known.len() < 2 || most <= 0.0 {
        return None;
    }
    let words = amounts::rows(table);
    let row = |(row, words): (&Vec<Entry>, &Vec<String>)| {
        let cell = |place: usize| words.get(place).map(|it| printable(it)).unwrap_or_default();
        let length = (value(row).unwrap_or(0.0) / most * LENGTH).round() as usize;
        vec![cell(0), "▇".repeat(length), cell(column)]
    };
    let rows: Vec<Vec<String>> = table.rows.iter().zip(&words).map(row).collect();
    let heads = amounts::heads(table);
    let name = |place: usize| heads.get(place).map(String::as_str).unwrap_or_default();
    let title = printable(&format!("{} by {}", name(column), name(0)));
    let flush = [Flush::Right, Flush::Left, Flush::Right];
    Some(hanging("", &title, 0) + &columns(&rows, &flush, 2))
}

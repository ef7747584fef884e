//! A heat map as a table of text.

use drivelab_core::findings::HeatMap;

use super::table::{NARROW, in_words, narrowed};
use crate::text::{Flush, aligned, columns_max, hanging, printable};
use crate::view::block::Table;
use crate::view::heat::marks;
use crate::view::study as view;

/// Title, ratios in columns, marks and note; where they are too wide, row by row.
pub(super) fn heat_map(map: &HeatMap) -> String {
    set(map, columns_max(), |table| {
        let names: Vec<String> = table.names().iter().map(|name| printable(name)).collect();
        let clean = |row: &Vec<String>| row.iter().map(|one| printable(one)).collect::<Vec<_>>();
        table.rows.iter().map(|row| in_words(&names, &clean(row))).collect()
    })
}

/// A map with a column for each target: in several parts where those are too wide.
pub(super) fn heat_map_of_several(map: &HeatMap) -> String {
    set(map, NARROW, narrowed)
}

fn set(map: &HeatMap, width: usize, otherwise: impl Fn(&Table) -> String) -> String {
    let mut text = hanging("", &printable(&map.title), 0);
    let table = view::heat_map(map);
    let names: Vec<String> = table.names().iter().map(|name| printable(name)).collect();
    let heads: Vec<(&str, &str)> = names.iter().map(|name| two_lines(name)).collect();
    let head = |part: fn(&(&str, &str)) -> String| heads.iter().map(part).collect();
    let rows: Vec<Vec<String>> =
        table.rows.iter().map(|row| row.iter().map(|one| printable(one)).collect()).collect();
    let mut flush = vec![Flush::Right; map.columns.len() + 1];
    flush[0] = Flush::Left;
    let all: Vec<Vec<String>> = [head(|it| it.0.to_owned()), head(|it| it.1.to_owned())]
        .into_iter()
        .chain(rows.iter().cloned())
        .collect();
    let text_columns = aligned(&all, &flush, 2);
    match text_columns.lines().all(|line| line.chars().count() <= width) {
        true => text.push_str(&text_columns),
        false => text.push_str(&otherwise(&table)),
    }
    // Of several maps in a row the last one says what they mean.
    if !map.note.is_empty() {
        text.push_str(&hanging("  ", &marks(map), 2));
        text.push_str(&hanging("  ", &printable(&map.note), 2));
    }
    text
}

/// The name of a column as two lines of its head.
fn two_lines(name: &str) -> (&str, &str) {
    name.split_once(' ').unwrap_or(("", name))
}

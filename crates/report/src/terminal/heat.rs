//! A heat map as a table of text.

use drivelab_core::findings::HeatMap;

use super::study::in_words;
use crate::text::{COLUMNS, Flush, columns, hanging, printable};
use crate::view::heat::{entry, marks};

/// Title, ratios in columns, marks and note; where they are too wide, row by row.
pub(super) fn heat_map(map: &HeatMap) -> String {
    let mut text = hanging("", &printable(&map.title), 0);
    let split = |name: &String| {
        let (first, second) = name.split_once(' ').unwrap_or(("", name));
        (printable(first), printable(second))
    };
    let heads: Vec<(String, String)> = map.columns.iter().map(split).collect();
    let head = |part: fn(&(String, String)) -> String| -> Vec<String> {
        std::iter::once(String::new()).chain(heads.iter().map(part)).collect()
    };
    let rows: Vec<Vec<String>> = map
        .rows
        .iter()
        .map(|row| {
            let cells = row.cells.iter().map(|cell| cell.as_ref().map_or("·".into(), entry));
            std::iter::once(printable(&row.name)).chain(cells).collect()
        })
        .collect();
    let mut flush = vec![Flush::Right; map.columns.len() + 1];
    flush[0] = Flush::Left;
    let all: Vec<Vec<String>> = [head(|it| it.0.clone()), head(|it| it.1.clone())]
        .into_iter()
        .chain(rows.iter().cloned())
        .collect();
    let aligned = columns(&all, &flush, 2);
    match aligned.lines().all(|line| line.chars().count() <= COLUMNS) {
        true => text.push_str(&aligned),
        false => {
            let names: Vec<String> = std::iter::once(String::new())
                .chain(map.columns.iter().map(|name| printable(name)))
                .collect();
            rows.iter().for_each(|row| text.push_str(&in_words(&names, row)));
        }
    }
    // Of several maps in a row the last one says what they mean.
    if !map.note.is_empty() {
        text.push_str(&hanging("  ", &marks(map), 2));
        text.push_str(&hanging("  ", &printable(&map.note), 2));
    }
    text
}

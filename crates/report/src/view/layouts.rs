//! Other ways to set a table that is too wide: nothing of it is lost, only its place changes.

use crate::view::amounts::NOTHING;
use crate::view::block::{Head, Table};

/// The table as it is, then the ways to set it in narrower parts, the ones best to read first.
/// The corner of a part says what its entries are.
pub(crate) fn layouts(table: &Table) -> Vec<Vec<Table>> {
    let mut all = vec![vec![table.clone()]];
    if is_distinct(table, 1) {
        all.push(vec![turned(table)]);
    } else if is_distinct(table, 2) {
        let by_entry: Vec<Table> =
            (2..table.heads.len()).map(|column| by_two_names(table, column)).collect();
        // Words of one column say little without those next to them.
        if table.heads[2..].iter().all(|head| head.is_number) {
            let the_other_way = by_entry.iter().map(turned).collect();
            all.extend([by_entry, the_other_way]);
        }
    }
    if table.heads.len() > 2 && !is_distinct(table, 1) {
        all.push(by_first_name(table));
    }
    all
}

/// The columns of a table in as many parts as it takes, each behind the columns that name the rows,
/// without the rows that have nothing in that part; `None` where not even one column fits behind
/// them.
pub(crate) fn bands(table: &Table, fits: impl Fn(&Table) -> bool) -> Option<Vec<Table>> {
    let names = if is_distinct(table, 1) { 1 } else { 2 };
    let has_any = |row: &[String], columns: &[usize]| {
        columns.iter().any(|column| !row[*column].is_empty() && row[*column] != NOTHING)
    };
    let part = |of: &[usize]| {
        let columns = || (0..names).chain(of.iter().copied());
        let row = |row: &Vec<String>| columns().map(|column| row[column].clone()).collect();
        Table {
            heads: columns().map(|column| table.heads[column].clone()).collect(),
            rows: table.rows.iter().filter(|row| has_any(row, of)).map(row).collect(),
            ..Table::default()
        }
    };
    let mut bands = Vec::new();
    let mut columns: Vec<usize> = Vec::new();
    for column in names..table.heads.len() {
        columns.push(column);
        if fits(&part(&columns)) {
            continue;
        }
        columns.pop();
        if columns.is_empty() || !fits(&part(&[column])) {
            return None;
        }
        bands.push(part(&columns));
        columns = vec![column];
    }
    if !columns.is_empty() {
        bands.push(part(&columns));
    }
    (!bands.is_empty()).then_some(bands)
}

/// Whether the first columns together name each row.
fn is_distinct(table: &Table, columns: usize) -> bool {
    let names: Vec<&[String]> = table.rows.iter().filter_map(|row| row.get(..columns)).collect();
    let is_first = |at: usize| !names[..at].contains(&names[at]);
    table.heads.len() > columns && names.len() == table.rows.len() && (0..names.len()).all(is_first)
}

/// Rows as columns.
fn turned(table: &Table) -> Table {
    let number = |row: &Vec<String>| Head { name: row[0].clone(), is_number: true };
    let row = |column: usize| {
        let entries = table.rows.iter().map(move |row| row[column].clone());
        std::iter::once(table.heads[column].name.clone()).chain(entries).collect()
    };
    Table {
        heads: table.heads[..1].iter().cloned().chain(table.rows.iter().map(number)).collect(),
        rows: (1..table.heads.len()).map(row).collect(),
        ..Table::default()
    }
}

/// The names of a column in their order, each once.
fn names(table: &Table, column: usize) -> Vec<&String> {
    let mut names: Vec<&String> = Vec::new();
    for row in &table.rows {
        if !names.contains(&&row[column]) {
            names.push(&row[column]);
        }
    }
    names
}

/// The entries of one column: a row for each name in the second column, a column for each in the
/// first.
fn by_two_names(table: &Table, column: usize) -> Table {
    let (columns, rows) = (names(table, 0), names(table, 1));
    let entry = |row: &String, column_name: &String| {
        let found = table.rows.iter().find(|it| it[0] == *column_name && it[1] == *row);
        found.map_or(String::new(), |it| it[column].clone())
    };
    let row = |row: &&String| {
        let entries = columns.iter().map(|name| entry(row, name));
        std::iter::once((*row).clone()).chain(entries).collect()
    };
    let head = |name: &&String| Head { name: (*name).clone(), is_number: true };
    let corner = Head { name: table.heads[column].name.clone(), is_number: false };
    Table {
        heads: std::iter::once(corner).chain(columns.iter().map(head)).collect(),
        rows: rows.iter().map(row).collect(),
        ..Table::default()
    }
}

/// A part for each name in the first column.
fn by_first_name(table: &Table) -> Vec<Table> {
    let part = |name: &String| {
        let mut heads = table.heads[1..].to_vec();
        if let Some(first) = heads.first_mut() {
            first.name.clone_from(name);
        }
        let own = table.rows.iter().filter(|row| row[0] == *name);
        Table { heads, rows: own.map(|row| row[1..].to_vec()).collect(), ..Table::default() }
    };
    names(table, 0).into_iter().map(part).collect()
}

#[cfg(test)]
mod tests {
    use super::*;

    fn table(heads: &[&str], rows: &[&[&str]]) -> Table {
        let head = |name: &&str| Head {
            name: name.trim_end_matches('#').into(),
            is_number: name.ends_with('#'),
        };
        let row = |row: &&[&str]| row.iter().map(|entry| (*entry).to_owned()).collect();
        Table {
            heads: heads.iter().map(head).collect(),
            rows: rows.iter().map(row).collect(),
            ..Table::default()
        }
    }

    fn lines(table: &Table) -> Vec<String> {
        let rows = [table.names()].into_iter().chain(table.rows.clone());
        rows.map(|row| row.join("|")).collect()
    }

    #[test]
    fn rows_that_one_name_tells_apart_become_columns() {
        let wide = table(&["target", "rate#", "mean#"], &[&["a", "1", "2"], &["b", "3", "4"]]);
        let [_, turned] = &layouts(&wide)[..] else { panic!("two ways") };
        assert_eq!(lines(&turned[0]), ["target|a|b", "rate|1|3", "mean|2|4"]);
    }

    #[test]
    fn rows_that_two_names_tell_apart_become_a_part_for_each_number() {
        let rows: [&[&str]; 3] =
            [&["a", "4", "1", "2"], &["b", "4", "3", "4"], &["a", "8", "5", "6"]];
        let ways = layouts(&table(&["target", "load", "rate#", "mean#"], &rows));
        let [_, by_entry, turned, by_target] = &ways[..] else { panic!("{ways:?}") };
        assert_eq!(lines(&by_entry[0]), ["rate|a|b", "4|1|3", "8|5|"]);
        assert_eq!(lines(&by_entry[1]), ["mean|a|b", "4|2|4", "8|6|"]);
        assert_eq!(lines(&turned[1]), ["mean|4|8", "a|2|6", "b|4|"]);
        assert_eq!(lines(&by_target[0]), ["a|rate|mean", "4|1|2", "8|5|6"]);
        assert_eq!(lines(&by_target[1]), ["b|rate|mean", "4|3|4"]);
        let words = layouts(&table(&["target", "load", "rate#", "word"], &rows));
        let [_, by_target] = &words[..] else { panic!("words stay beside each other: {words:?}") };
        assert_eq!(by_target.len(), 2);
    }

    #[test]
    fn columns_go_into_as_many_parts_as_it_takes() {
        let wide = table(&["", "a#", "b#", "c#"], &[&["one", "1", "2", "3"]]);
        let parts = bands(&wide, |part| part.heads.len() <= 3).unwrap();
        let said: Vec<Vec<String>> = parts.iter().map(lines).collect();
        assert_eq!(said, [vec!["|a|b", "one|1|2"], vec!["|c", "one|3"]]);
        assert!(bands(&wide, |part| part.heads.len() <= 1).is_none());
        let rows: [&[&str]; 2] = [&["a", "x", "1", "2"], &["a", "y", "3", "4"]];
        let two = table(&["target", "load", "b#", "c#"], &rows);
        let parts = bands(&two, |part| part.heads.len() <= 3).unwrap();
        assert_eq!(lines(&parts[1]), ["target|load|c", "a|x|2", "a|y|4"]);
    }

    #[test]
    fn a_row_stands_only_in_the_bands_that_have_something_of_it() {
        let rows: [&[&str]; 3] =
            [&["a", "stat", "7", NOTHING], &["a", "mkdir", NOTHING, "5"], &["b", "stat", "8", "9"]];
        let wide = table(&["target", "test", "1 worker", "2 workers"], &rows);
        let bands = bands(&wide, |part| part.heads.len() <= 3).expect("two bands");
        assert_eq!(lines(&bands[0]), ["target|test|1 worker", "a|stat|7", "b|stat|8"]);
        assert_eq!(lines(&bands[1]), ["target|test|2 workers", "a|mkdir|5", "b|stat|9"]);
    }
}

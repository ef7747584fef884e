//! Tables of several targets: their rows under each other, the target before each.

use super::short;
use drivelab_core::findings::{Entry, Head, Table};
use drivelab_core::gathering::Member;

/// The tables of one title that at least two targets have with the same heads.
pub fn merged(members: &[Member<'_>]) -> Vec<Table> {
    let mut titles: Vec<&str> = Vec::new();
    for table in members.iter().flat_map(tables) {
        if !titles.contains(&table.title.as_str()) {
            titles.push(&table.title);
        }
    }
    titles.iter().filter_map(|title| of_title(members, title)).collect()
}

fn tables<'a>(member: &Member<'a>) -> &'a [Table] {
    member.run.findings.as_ref().map_or(&[], |findings| &findings.tables)
}

fn of_title(members: &[Member<'_>], title: &str) -> Option<Table> {
    let first = members.iter().flat_map(tables).find(|table| table.title == title)?;
    let alike = |table: &&Table| table.title == title && table.heads == first.heads;
    let targets = short(&members.iter().map(|member| member.target).collect::<Vec<_>>());
    let owners: Vec<(&String, &Table)> = members
        .iter()
        .zip(&targets)
        .filter_map(|(member, target)| Some((target, tables(member).iter().find(alike)?)))
        .collect();
    if owners.len() < 2 || owners.iter().all(|(_, table)| is_rule(first, table)) {
        return None;
    }
    if owners.iter().all(|(_, table)| table.heads.len() == 2) || is_drawn(members, title) {
        return Some(Table { note: note(&owners), ..in_columns(first, &owners) });
    }
    let keys = keys(&owners);
    let rows = keys.iter().flat_map(|key| {
        owners.iter().flat_map(move |(target, table)| {
            let of_key = table.rows.iter().filter(move |row| row.first() == Some(*key));
            of_key.map(move |row| [&[Entry::Text((*target).clone())], &row[..]].concat())
        })
    });
    let head = Head { name: "target".into(), unit: None };
    Some(Table {
        title: title.into(),
        note: note(&owners),
        heads: [&[head], &first.heads[..]].concat(),
        rows: rows.collect(),
    })
}

/// What all say alike is said once, and so is what all end with; else each speaks of its own.
fn note(owners: &[(&String, &Table)]) -> String {
    let notes: Vec<&str> = owners.iter().map(|(_, table)| table.note.as_str()).collect();
    let ending = common_ending(&notes);
    let own = |ending: &str, between: &str| {
        let said = owners.iter().filter(|(_, table)| !table.note.is_empty());
        let said = said.map(|(target, table)| {
            format!("{target}: {}", &table.note[..table.note.len() - ending.len()])
        });
        said.collect::<Vec<_>>().join(between)
    };
    match ending {
        "" => own("", " "),
        same if notes.iter().all(|note| *note == same) => same.to_owned(),
        same => own(same, "; ") + same,
    }
}

/// What all of them have behind what each counts, from the colon on; empty: nothing.
fn common_ending<'a>(notes: &[&'a str]) -> &'a str {
    let Some((first, rest)) = notes.split_first() else { return "" };
    if rest.iter().all(|note| note == first) {
        return first;
    }
    let mut colons = first.match_indices(": ").map(|(at, _)| &first[at..]);
    colons.find(|ending| rest.iter().all(|note| note.ends_with(ending))).unwrap_or_default()
}

/// The first entries of all rows, each once.
fn keys<'a>(owners: &[(&String, &'a Table)]) -> Vec<&'a Entry> {
    let mut keys: Vec<&Entry> = Vec::new();
    for key in owners.iter().flat_map(|(_, table)| &table.rows).filter_map(|row| row.first()) {
        if !keys.contains(&key) {
            keys.push(key);
        }
    }
    keys
}

/// Whether the columns of a table are drawn as bars, too: then they are compared.
fn is_drawn(members: &[Member<'_>], title: &str) -> bool {
    let found = members.iter().filter_map(|member| member.run.findings.as_ref());
    found.flat_map(|found| &found.bars).any(|bars| bars.table == title)
}

/// A column for each target, and a row for each entry of theirs.
fn in_columns(first: &Table, owners: &[(&String, &Table)]) -> Table {
    let entry = |table: &Table, key: &Entry, column: usize| {
        let found = table.rows.iter().find(|row| row.first() == Some(key));
        found.and_then(|row| row.get(column)).cloned().unwrap_or(Entry::Nothing)
    };
    let name = |key: &Entry, column: usize| match key {
        Entry::Text(text) if first.heads.len() > 2 => {
            Entry::Text(format!("{}, {text}", first.heads[column].name))
        }
        key => key.clone(),
    };
    let row = |key: &Entry, column: usize| -> Vec<Entry> {
        let entries = owners.iter().map(|(_, table)| entry(table, key, column));
        std::iter::once(name(key, column)).chain(entries).collect()
    };
    let keys = keys(owners);
    let rows = (1..first.heads.len()).flat_map(|it| keys.iter().map(move |key| (key, it)));
    let is_empty = |row: &Vec<Entry>| row[1..].iter().all(|entry| *entry == Entry::Nothing);
    let head = |target: &str| Head { name: target.into(), unit: first.heads[1].unit };
    let targets = owners.iter().map(|(target, _)| head(target));
    Table {
        title: first.title.clone(),
        note: first.note.clone(),
        heads: std::iter::once(first.heads[0].clone()).chain(targets).collect(),
        rows: rows.map(|(key, column)| row(key, column)).filter(|row| !is_empty(row)).collect(),
    }
}

/// Whether a table says the same of every target but for one column, as rules do that mark which of
/// them holds.
fn is_rule(one: &Table, other: &Table) -> bool {
    let column = |table: &Table, at: usize| -> Vec<Option<Entry>> {
        table.rows.iter().map(|row| row.get(at).cloned()).collect()
    };
    let differs = |at: &usize| column(one, *at) != column(other, *at);
    (0..one.heads.len()).filter(differs).count() <= 1 && one.heads.len() > 2
}

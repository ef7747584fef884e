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
    let mut keys: Vec<&Entry> = Vec::new();
    for key in owners.iter().flat_map(|(_, table)| &table.rows).filter_map(|row| row.first()) {
        if !keys.contains(&key) {
            keys.push(key);
        }
    }
    let rows = keys.iter().flat_map(|key| {
        owners.iter().flat_map(move |(target, table)| {
            let of_key = table.rows.iter().filter(move |row| row.first() == Some(*key));
            of_key.map(move |row| [&[Entry::Text((*target).clone())], &row[..]].concat())
        })
    });
    let head = Head { name: "target".into(), unit: None };
    Some(Table {
        title: title.into(),
        note: first.note.clone(),
        heads: [&[head], &first.heads[..]].concat(),
        rows: rows.collect(),
    })
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

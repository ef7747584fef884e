//! Heat maps of several targets: one for each column of theirs, with a column for each target.

use super::short;
use drivelab_core::findings::{HeatMap, HeatRow};
use drivelab_core::gathering::Member;

/// The maps that at least two targets have, by the names of their rows and columns.
pub fn merged(members: &[Member<'_>]) -> Vec<HeatMap> {
    let maps = |member: &Member<'_>| -> Vec<HeatMap> {
        member.run.findings.as_ref().map_or_else(Vec::new, |found| found.heat_maps.clone())
    };
    let all: Vec<(&str, Vec<HeatMap>)> =
        members.iter().map(|member| (member.target, maps(member))).collect();
    let mut titles: Vec<&str> = Vec::new();
    for map in all.iter().flat_map(|(_, maps)| maps) {
        if !titles.contains(&map.title.as_str()) {
            titles.push(&map.title);
        }
    }
    let mut merged: Vec<HeatMap> = titles.iter().flat_map(|title| of_title(&all, title)).collect();
    // What is said of all of them is said once.
    let last = merged.len().saturating_sub(1);
    merged.iter_mut().take(last).for_each(|map| map.note.clear());
    merged
}

fn of_title(all: &[(&str, Vec<HeatMap>)], title: &str) -> Vec<HeatMap> {
    let owners: Vec<(&str, &HeatMap)> = all
        .iter()
        .filter_map(|(target, maps)| Some((*target, maps.iter().find(|map| map.title == title)?)))
        .collect();
    match owners.as_slice() {
        [(_, first), _, ..] => {
            first.columns.iter().filter_map(|column| of_column(&owners, first, column)).collect()
        }
        _ => Vec::new(),
    }
}

fn of_column(owners: &[(&str, &HeatMap)], first: &HeatMap, column: &str) -> Option<HeatMap> {
    let cells = |row: &HeatRow| {
        let of_owner = |(_, map): &(&str, &HeatMap)| {
            let place = map.columns.iter().position(|name| name == column)?;
            let alike = map.rows.iter().find(|it| it.name == row.name && it.against == row.against);
            alike?.cells.get(place).cloned().flatten()
        };
        owners.iter().map(of_owner).collect()
    };
    let rows: Vec<HeatRow> = first
        .rows
        .iter()
        .map(|row| HeatRow { cells: cells(row), ..row.clone() })
        .filter(|row| row.cells.iter().any(Option::is_some))
        .collect();
    (!rows.is_empty()).then(|| HeatMap {
        title: format!("{}: {column}", first.title),
        note: first.note.clone(),
        columns: short(&owners.iter().map(|(target, _)| *target).collect::<Vec<_>>()),
        rows,
    })
}

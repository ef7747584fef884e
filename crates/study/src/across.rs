//! One study on several targets: what its runs say side by side.

mod bars;
mod heat;
mod pictures;
mod prices;
mod stacks;
pub mod sweep;
mod tables;
pub mod values;

use crate::experiment::Study;
use drivelab_core::findings::{Entry, Figure, Findings, Head, Table, Unit};
use drivelab_core::gathering::Member;

/// Figures next to each other in one table; more do not fit a page.
const COLUMNS_MAX: usize = 4;

/// What follows from the runs of this study.
pub fn findings(study: &Study, members: &[Member<'_>]) -> Findings {
    let mut findings = study.across.map_or_else(Findings::default, |across| across(members));
    findings.verdict.extend((study.together)(members));
    let names = short(&members.iter().map(|member| member.target).collect::<Vec<_>>());
    for (member, name) in members.iter().zip(&names) {
        let found = member.run.findings.as_ref();
        let bad = |list: &[String], into: &mut Vec<String>| {
            into.extend(list.iter().map(|text| format!("{name}: {text}")));
        };
        match found {
            Some(found) => {
                if study.across.is_none() && !found.verdict.is_empty() {
                    bad(&[found.verdict.join(" ")], &mut findings.verdict);
                }
                bad(&found.suspect, &mut findings.suspect);
                bad(&found.beware, &mut findings.beware);
            }
            None => findings
                .unknown
                .push(format!("What {} does: its run did not finish.", member.target)),
        }
    }
    findings.tables.extend(side_by_side(members));
    findings.tables.extend(prices::of_members(study, members));
    // Prices stand next to each other already.
    let merged = tables::merged(members);
    findings.tables.extend(merged.into_iter().filter(|table| table.title != prices::TITLE));
    findings.stacks.extend(stacks::merged(members));
    findings.bars.extend(bars::merged(members));
    findings.pictures.extend(pictures::merged(members));
    findings.heat_maps.extend(heat::merged(members));
    // Runs may each have an answer of their own, and none to the question about all of them.
    let lacks_answer = study.across.is_some() && findings.verdict.is_empty();
    findings.no_answer = lacks_answer || members.iter().all(is_without_answer);
    findings
}

fn is_without_answer(member: &Member<'_>) -> bool {
    member.run.findings.as_ref().is_none_or(|findings| findings.no_answer)
}

fn figures<'a>(member: &Member<'a>) -> &'a [Figure] {
    member.run.findings.as_ref().map_or(&[], |findings| &findings.figures)
}

/// The figures that at least two targets have, a target a row.
fn side_by_side(members: &[Member<'_>]) -> Vec<Table> {
    let mut names: Vec<(&str, Unit)> = Vec::new();
    for figure in members.iter().flat_map(figures) {
        let known = (figure.name.as_str(), figure.unit);
        let owners = |member: &&Member<'_>| {
            figures(member).iter().any(|it| (it.name.as_str(), it.unit) == known)
        };
        if !names.contains(&known) && members.iter().filter(owners).count() >= 2 {
            names.push(known);
        }
    }
    let targets = short(&members.iter().map(|member| member.target).collect::<Vec<_>>());
    let chunks: Vec<&[(&str, Unit)]> = names.chunks(COLUMNS_MAX).collect();
    let title = |index: usize| match (index, chunks.len()) {
        (_, 1) => "Side by side".to_string(),
        (index, all) => format!("Side by side, {} of {all}", index + 1),
    };
    let table = |(index, columns): (usize, &&[(&str, Unit)])| Table {
        title: title(index),
        note: String::new(),
        heads: [Head { name: "target".into(), unit: None }]
            .into_iter()
            .chain(
                columns
                    .iter()
                    .map(|(name, unit)| Head { name: (*name).to_string(), unit: Some(*unit) }),
            )
            .collect(),
        rows: members.iter().zip(&targets).map(|(it, target)| row(it, target, columns)).collect(),
    };
    chunks.iter().enumerate().map(table).collect()
}

fn row(member: &Member<'_>, target: &str, columns: &[(&str, Unit)]) -> Vec<Entry> {
    let of = |(name, unit): &(&str, Unit)| {
        let found = figures(member).iter().find(|it| it.name == *name && it.unit == *unit);
        found.map_or(Entry::Nothing, |figure| Entry::Number(figure.estimate.value))
    };
    [Entry::Text(target.into())].into_iter().chain(columns.iter().map(of)).collect()
}

/// Names that fit a table: without what simulated drives are given, or without what all of them
/// are given, and of a path its end, where they still tell the targets apart.
#[must_use]
pub fn short(targets: &[&str]) -> Vec<String> {
    let cut = |target: &&str| -> String {
        match target.strip_prefix("sim:") {
            Some(drive) => drive.split(',').next().unwrap_or(drive).into(),
            None => target.trim_end_matches('/').rsplit('/').next().unwrap_or(target).into(),
        }
    };
    let all = || targets.iter().map(|target| (*target).to_string()).collect();
    let names: Vec<String> = targets.iter().map(cut).collect();
    let is_clear = |names: &Vec<String>| names.len() == targets.len() && are_clear(names);
    [names, without_shared(targets)].into_iter().find(is_clear).unwrap_or_else(all)
}

fn are_clear(names: &[String]) -> bool {
    let is_clear = |name: &String| names.iter().filter(|other| *other == name).count() == 1;
    names.iter().all(|name| is_clear(name) && !name.is_empty())
}

/// Simulated drives without what all of them are given; nothing where not all are simulated.
fn without_shared(targets: &[&str]) -> Vec<String> {
    let drives: Option<Vec<&str>> =
        targets.iter().map(|target| target.strip_prefix("sim:")).collect();
    let drives = drives.unwrap_or_default();
    let is_shared = |part: &str| drives.iter().all(|drive| drive.split(',').any(|it| it == part));
    let cut = |drive: &&str| {
        let parts = drive.split(',').enumerate();
        let own = parts.filter(|(place, part)| *place == 0 || !is_shared(part));
        own.map(|(_, part)| part).collect::<Vec<&str>>().join(",")
    };
    drives.iter().map(cut).collect()
}

#[cfg(test)]
mod tests;

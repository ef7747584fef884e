//! Pictures of several targets: one for each curve of theirs, with a curve for each target.

use super::short;
use drivelab_core::findings::{Line, LineKind, Picture};
use drivelab_core::gathering::Member;

/// The pictures that at least two targets have with the same axes.
pub fn merged(members: &[Member<'_>]) -> Vec<Picture> {
    let targets = short(&members.iter().map(|member| member.target).collect::<Vec<_>>());
    let mut titles: Vec<&str> = Vec::new();
    let mut merged = Vec::new();
    for first in members.iter().flat_map(pictures) {
        if titles.contains(&first.title.as_str()) {
            continue;
        }
        let alike = |it: &&Picture| it.title == first.title && it.x == first.x && it.y == first.y;
        let owners: Vec<(&str, &Picture)> = members
            .iter()
            .zip(&targets)
            .filter_map(|(member, target)| {
                Some((target.as_str(), pictures(member).iter().find(alike)?))
            })
            .collect();
        if owners.len() > 1 {
            titles.push(&first.title);
            merged.extend(of_title(&owners));
        }
    }
    merged
}

fn pictures<'a>(member: &Member<'a>) -> &'a [Picture] {
    member.run.findings.as_ref().map_or(&[], |findings| &findings.pictures)
}

fn measured(picture: &Picture) -> impl Iterator<Item = &Line> {
    picture.lines.iter().filter(|line| line.kind == LineKind::Measured)
}

/// One picture where each target has one curve. Of several curves each gets a picture, if more than
/// one target has it; the others stay together, each under its own name.
fn of_title(owners: &[(&str, &Picture)]) -> Vec<Picture> {
    let Some((_, first)) = owners.first() else { return Vec::new() };
    let drawn = |title: String, lines: Vec<Line>| {
        let (x, y) = (first.x.clone(), first.y.clone());
        Picture { title, note: String::new(), x, y, lines, marks: Vec::new() }
    };
    let all: Vec<(&str, &Line)> = owners
        .iter()
        .flat_map(|(target, picture)| measured(picture).map(move |line| (*target, line)))
        .collect();
    let named = |label: String, line: &Line| Line { label, ..line.clone() };
    if owners.iter().all(|(_, picture)| measured(picture).count() <= 1) {
        let lines = all.iter().map(|(target, line)| named((*target).into(), line)).collect();
        return vec![drawn(first.title.clone(), lines)];
    }
    let of_label = |label: &str| -> Vec<&(&str, &Line)> {
        all.iter().filter(|(_, line)| line.label == label).collect()
    };
    let mut labels: Vec<&str> = Vec::new();
    for (_, line) in &all {
        if !labels.contains(&line.label.as_str()) {
            labels.push(&line.label);
        }
    }
    let (shared, own): (Vec<&str>, Vec<&str>) =
        labels.into_iter().partition(|label| of_label(label).len() > 1);
    let of_one = |label: &str| {
        let lines = of_label(label);
        let lines = lines.iter().map(|(target, line)| named((*target).into(), line)).collect();
        drawn(format!("{}: {label}", first.title), lines)
    };
    let mut pictures: Vec<Picture> = shared.into_iter().map(of_one).collect();
    let rest: Vec<Line> = own
        .iter()
        .flat_map(|label| of_label(label))
        .map(|(target, line)| named(format!("{target}, {}", line.label), line))
        .collect();
    if !rest.is_empty() {
        pictures.push(drawn(first.title.clone(), rest));
    }
    pictures
}

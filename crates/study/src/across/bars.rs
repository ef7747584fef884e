//! Bars of several targets: one for each target where each has one for itself.

use super::short;
use drivelab_core::findings::{BarGroup, Bars};
use drivelab_core::gathering::Member;

/// The bars of one side that at least two targets have: a side for each target.
pub fn merged(members: &[Member<'_>]) -> Vec<Bars> {
    let mut titles: Vec<&str> = Vec::new();
    for bars in members.iter().flat_map(of_one_side) {
        if !titles.contains(&bars.title.as_str()) {
            titles.push(&bars.title);
        }
    }
    titles.into_iter().filter_map(|title| of_title(members, title)).collect()
}

fn of_one_side<'a>(member: &Member<'a>) -> impl Iterator<Item = &'a Bars> {
    let found = member.run.findings.as_ref().map_or(&[][..], |found| &found.bars);
    found.iter().filter(|bars| bars.sides.len() == 1)
}

fn of_title(members: &[Member<'_>], title: &str) -> Option<Bars> {
    let targets = short(&members.iter().map(|member| member.target).collect::<Vec<_>>());
    let mut owners: Vec<(&String, &Bars)> = Vec::new();
    for (target, member) in targets.iter().zip(members) {
        let own = of_one_side(member).find(|bars| bars.title == title);
        owners.extend(own.map(|bars| (target, bars)));
    }
    let (_, first) = owners.first().filter(|_| owners.len() > 1)?;
    let mut labels: Vec<&String> = Vec::new();
    for label in owners.iter().flat_map(|(_, bars)| &bars.groups).map(|group| &group.label) {
        if !labels.contains(&label) {
            labels.push(label);
        }
    }
    let value = |bars: &Bars, label: &String| {
        let group = bars.groups.iter().find(|group| group.label == *label)?;
        group.values.first().copied().flatten()
    };
    let group = |label: &String| BarGroup {
        label: label.clone(),
        values: owners.iter().map(|(_, bars)| value(bars, label)).collect(),
    };
    Some(Bars {
        sides: owners.iter().map(|(target, _)| (*target).clone()).collect(),
        groups: labels.into_iter().map(group).collect(),
        ..(*first).clone()
    })
}

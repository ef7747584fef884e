//! Stacks of several targets in one picture, as shares: their wholes may differ by decades.

use super::short;
use drivelab_core::findings::{Stack, StackBar, Unit};
use drivelab_core::gathering::Member;

/// More bars do not fit a page.
const BARS_MAX: usize = 24;

/// The stacks that at least two targets have: bar by bar, a target after the other.
pub fn merged(members: &[Member<'_>]) -> Vec<Stack> {
    let mut titles: Vec<&str> = Vec::new();
    for stack in members.iter().flat_map(stacks) {
        if !titles.contains(&stack.title.as_str()) {
            titles.push(&stack.title);
        }
    }
    titles.into_iter().filter_map(|title| of_title(members, title)).collect()
}

fn stacks<'a>(member: &Member<'a>) -> &'a [Stack] {
    member.run.findings.as_ref().map_or(&[], |findings| &findings.stacks)
}

fn of_title(members: &[Member<'_>], title: &str) -> Option<Stack> {
    let targets = short(&members.iter().map(|member| member.target).collect::<Vec<_>>());
    let mut owners: Vec<(&String, &Stack)> = Vec::new();
    for (target, member) in targets.iter().zip(members) {
        let own = stacks(member).iter().find(|stack| stack.title == title);
        owners.extend(own.map(|stack| (target, stack)));
    }
    let (_, first) = owners.first().filter(|_| owners.len() > 1)?;
    let mut parts: Vec<&String> = Vec::new();
    // A part that only a later target has stands where that one has it.
    for (_, stack) in &owners {
        let mut place = 0;
        for part in &stack.parts {
            match parts.iter().position(|known| *known == part) {
                Some(known) => place = known + 1,
                None => {
                    parts.insert(place, part);
                    place += 1;
                }
            }
        }
    }
    let each = (first.bars.len() * owners.len()).div_ceil(BARS_MAX).max(1);
    let labels = first.bars.iter().step_by(each).map(|bar| &bar.label);
    let bars = labels.flat_map(|label| {
        owners.iter().filter_map(|(target, stack)| shares(target, stack, label, &parts))
    });
    Some(Stack {
        title: format!("{title}, as shares"),
        note: "Each bar is the whole of an I/O on that drive; how long that is stands in the \
               tables."
            .into(),
        quantity: "share of the time of an I/O".into(),
        unit: Unit::Share,
        parts: parts.iter().map(|part| (*part).clone()).collect(),
        bars: bars.collect(),
    })
}

fn shares(target: &str, stack: &Stack, label: &str, parts: &[&String]) -> Option<StackBar> {
    let bar = stack.bars.iter().find(|bar| bar.label == label)?;
    let whole: f64 = bar.values.iter().sum();
    let share = |part: &&String| {
        let place = stack.parts.iter().position(|known| known == *part);
        place.and_then(|place| bar.values.get(place)).map_or(0.0, |value| value / whole)
    };
    let values = parts.iter().map(share).collect();
    (whole > 0.0).then(|| StackBar { label: format!("{label}, {target}"), values })
}

//! How often what was said was so.

use super::Tried;
use super::judged::{Class, Judged, Level};
use std::collections::BTreeMap;
use std::fmt::Write;

#[derive(Default)]
struct Counts {
    cases: usize,
    refused: usize,
    by_class: BTreeMap<Class, usize>,
}

fn of_class(counts: &Counts, class: Class) -> usize {
    counts.by_class.get(&class).copied().unwrap_or(0)
}

fn sentences(all: &[Tried]) -> impl Iterator<Item = (&Tried, &Judged)> {
    all.iter().flat_map(|tried| tried.judged.iter().map(move |judged| (tried, judged)))
}

/// A table by study, one by kind of sentence, and every wrong one with its seed.
pub fn table(all: &[Tried]) -> String {
    let mut text = by_study(all);
    text.push_str(&by_kind(all));
    text.push_str(&bounds(all));
    text.push_str(&wrong(all));
    text
}

fn by_study(all: &[Tried]) -> String {
    let mut studies: BTreeMap<&str, Counts> = BTreeMap::new();
    for tried in all {
        let counts = studies.entry(tried.case.study).or_default();
        counts.cases += 1;
        counts.refused += usize::from(tried.is_refused);
        for judged in &tried.judged {
            *counts.by_class.entry(judged.class).or_default() += 1;
        }
    }
    let mut text = "| study | cases | refused | right | wrong | honestly unknown | unknown though \
                    tellable |\n|:--|--:|--:|--:|--:|--:|--:|\n"
        .to_string();
    for (study, counts) in &studies {
        let of = |class| of_class(counts, class);
        writeln!(
            text,
            "| {study} | {} | {} | {} | {} | {} | {} |",
            counts.cases,
            counts.refused,
            of(Class::Right),
            of(Class::Wrong),
            of(Class::Unknown),
            of(Class::Tellable)
        )
        .expect("a string takes it");
    }
    text
}

fn by_kind(all: &[Tried]) -> String {
    let mut kinds: BTreeMap<(Level, &str), Counts> = BTreeMap::new();
    for (_, judged) in sentences(all) {
        let counts = kinds.entry((judged.level, judged.about)).or_default();
        *counts.by_class.entry(judged.class).or_default() += 1;
    }
    let mut text = "\n| sentence | level | right | wrong | honestly unknown | unknown though \
                    tellable |\n|:--|:--|--:|--:|--:|--:|\n"
        .to_string();
    for ((level, about), counts) in &kinds {
        let of = |class| of_class(counts, class);
        let word = match level {
            Level::Certain => "certain",
            Level::Alpha => "1 of 20",
            Level::Promise => "promise",
        };
        writeln!(
            text,
            "| {about} | {word} | {} | {} | {} | {} |",
            of(Class::Right),
            of(Class::Wrong),
            of(Class::Unknown),
            of(Class::Tellable)
        )
        .expect("a string takes it");
    }
    text
}

/// What the counts say of sentences that claim certainty, and of those at a level.
fn bounds(all: &[Tried]) -> String {
    let count = |level: Level, wanted: &[Class]| {
        sentences(all).filter(|(_, it)| it.level == level && wanted.contains(&it.class)).count()
    };
    let answered = [Class::Right, Class::Wrong];
    let mut text = String::new();
    for (level, words) in [
        (Level::Certain, "claim certainty"),
        (Level::Alpha, "are made at a level of 5 %"),
        (Level::Promise, "are promises of the program itself"),
    ] {
        let (n, wrong) = (count(level, &answered), count(level, &[Class::Wrong]));
        let bound = match wrong {
            0 if n > 0 => format!("; with 95 % no more than {:.2} % are", 300.0 / n as f64),
            _ => String::new(),
        };
        writeln!(text, "\n{n} sentences {words}: {wrong} wrong{bound}.").expect("a string");
    }
    text
}

/// Every wrong sentence with what replays it.
pub fn wrong(all: &[Tried]) -> String {
    let mut text = String::new();
    for (tried, judged) in sentences(all).filter(|(_, judged)| judged.class == Class::Wrong) {
        let cut: String = judged.said.chars().take(200).collect();
        writeln!(
            text,
            "- seed {}, {}, {}: \"{cut}\"; {}",
            tried.case.seed, tried.case.study, judged.about, judged.truth
        )
        .expect("a string takes it");
    }
    text
}

/// One case in full.
pub fn story(tried: &Tried) -> String {
    let case = &tried.case;
    let mut text = format!("seed {}: {}\n", case.seed, case.line());
    if let Some(profile) = &case.drive.profile {
        let head = "drawn.toml:";
        writeln!(text, "{head}\n{profile}").expect("a string takes it");
    }
    writeln!(text, "status {:?}, {:.1} s", tried.status, tried.took.as_secs_f64())
        .expect("a string takes it");
    tried.judged.iter().for_each(|judged| text.push_str(&judged.told()));
    text
}

//! How often what was said of planted devices was so.

use super::Tried;
use super::case::Kind;
use super::judged::{Class, Judged};
use std::collections::BTreeMap;
use std::fmt::Write;

/// A row for each kind of device and sentence, and every sentence that is not right.
pub fn table(all: &[Tried]) -> String {
    let mut rows: BTreeMap<(Kind, &str), Vec<&Judged>> = BTreeMap::new();
    for tried in all {
        for judged in &tried.judged {
            rows.entry((tried.case.kind, judged.about)).or_default().push(judged);
        }
    }
    let mut text = "| device, command | sentence | right | wrong | honestly unknown | unknown \
                    though tellable |\n|:--|:--|--:|--:|--:|--:|\n"
        .to_string();
    for ((kind, about), those) in &rows {
        let of = |class| those.iter().filter(|judged| judged.class == class).count();
        let counts = [Class::Right, Class::Wrong, Class::Unknown, Class::Tellable].map(of);
        let [right, wrong, unknown, tellable] = counts;
        let kind = kind.words();
        writeln!(text, "| {kind} | {about} | {right} | {wrong} | {unknown} | {tellable} |")
            .expect("a string takes it");
    }
    text.push_str(&remarkable(all));
    text
}

/// What was wrong, or not told though it could be, with what replays it.
pub fn remarkable(all: &[Tried]) -> String {
    let mut text = String::new();
    for tried in all {
        let is_bad = |judged: &&Judged| [Class::Wrong, Class::Tellable].contains(&judged.class);
        for judged in tried.judged.iter().filter(is_bad) {
            let (kind, seed) = (tried.case.kind, tried.case.seed);
            let cut: String = judged.said.chars().take(240).collect();
            let class = if judged.class == Class::Wrong { "wrong" } else { "not told" };
            let (about, truth) = (judged.about, &judged.truth);
            writeln!(text, "\n- {kind:?}, seed {seed}, {about}, {class}: \"{cut}\"; {truth}")
                .expect("a string takes it");
        }
    }
    text
}

/// One case in full.
pub fn story(tried: &Tried) -> String {
    let case = &tried.case;
    let mut counted = tried.counted.clone();
    counted.answered.clear();
    counted.idle.clear();
    let mut text = format!(
        "{:?}, seed {}: {}\n{:?}\nstatus {:?}, {:.1} s\n{counted:?}\n",
        case.kind,
        case.seed,
        case.line.join(" "),
        case.plant,
        tried.said.status,
        tried.took.as_secs_f64()
    );
    let parts = ["verdict", "beware", "suspect", "unknown"];
    let sentences = tried.said.sentences(&parts);
    sentences.iter().for_each(|it| writeln!(text, "    | {it}").expect("a string takes it"));
    tried.judged.iter().for_each(|judged| text.push_str(&judged.told()));
    text
}

//! What was published of a drive that is simulated here, to stand next to what it does.

use drivelab_core::findings::{Entry, Head, Table};
use drivelab_core::gathering::Member;
use drivelab_core::quantity::percent;

/// The title of the table.
pub const TITLE: &str = "Compared with published figures of this drive";

/// One published figure, and the same figure here.
#[derive(Debug, Clone, PartialEq)]
pub struct Held {
    /// Name of the figure.
    pub figure: String,
    /// As it is here, with its unit.
    pub here: String,
    /// As it was published, with its unit.
    pub published: String,
    /// That of here by the published one.
    pub ratio: f64,
    /// Whether it is as near as was declared.
    pub is_hit: bool,
    /// Whether the simulated drive was fitted to it.
    pub is_fitted: bool,
    /// Where it was published, in a letter or a few words.
    pub source: &'static str,
}

/// Why the run is not of the drive that the figures are about, if it is not: it began in another
/// state than theirs (`None`: any will do), or keys of its name changed the drive.
pub fn unlike(target: &str, state: &str, published_in: Option<&str>) -> Option<String> {
    let words = target.strip_prefix("sim:")?.split(',').skip(1).map(str::trim);
    let is_change = |word: &&str| !word.starts_with("state=") && !word.starts_with("seed=");
    let changed: Vec<&str> = words.filter(is_change).collect();
    let mut why: Vec<String> = Vec::new();
    why.extend(published_in.filter(|meant| *meant != state).map(|meant| {
        format!("it was fitted in state={meant}, and this run began in state={state}")
    }));
    if !changed.is_empty() {
        why.push(format!("it was changed by {}", changed.join(", ")));
    }
    (!why.is_empty()).then(|| format!("it is not the drive that was fitted: {}", why.join("; ")))
}

/// Which of several targets began in the state of their published figures, unasked.
pub fn began(members: &[Member<'_>]) -> Vec<String> {
    let is_so = |member: &&Member<'_>| {
        let begin = &member.run.begin;
        let meant = begin.facts.target.published_state.as_ref();
        let is_typed = member.target.split(',').any(|word| word.trim().starts_with("state="));
        meant.is_some() && meant == begin.state.as_ref() && !is_typed
    };
    let own: Vec<&Member<'_>> = members.iter().filter(is_so).collect();
    let Some(state) = own.first().and_then(|member| member.run.begin.state.as_deref()) else {
        return Vec::new();
    };
    let names: Vec<&str> = own.iter().map(|member| member.target).collect();
    let alike = own.iter().all(|member| member.run.begin.state.as_deref() == Some(state));
    let which = if alike { format!("state={state}, ") } else { String::new() };
    vec![format!(
        "Began in {which}the state taken for the published figures, unless state= says otherwise: \
         {}.",
        names.join(", ")
    )]
}

/// The table, and how many figures were met; where it is said why they cannot be compared with each
/// other (`unlike`), nothing is a hit or a miss. `rule` says what counts as a hit, beginning behind
/// a colon; `sources` is the rest of the note.
pub fn table(held: Vec<Held>, unlike: Option<&str>, rule: &str, sources: &str) -> Option<Table> {
    let (hits, all) = (held.iter().filter(|one| one.is_hit).count(), held.len());
    let told = match unlike {
        Some(why) => {
            format!("Not compared, because {why}. Otherwise the rule is: {rule}")
        }
        None => format!("{hits} of {all} hit: {rule}"),
    };
    let heads = ["figure", "here", "published", "off by", "", "of"];
    (all > 0).then(|| Table {
        title: TITLE.into(),
        note: format!(
            "{told} Figures marked as fitted could be used to fit the simulated drive, the others \
             are predictions. {sources}"
        ),
        heads: heads.map(|name| Head { name: name.into(), unit: None }).to_vec(),
        rows: held.into_iter().map(|one| row(one, unlike.is_none())).collect(),
    })
}

fn row(held: Held, is_judged: bool) -> Vec<Entry> {
    let sign = if held.ratio < 1.0 { "-" } else { "+" };
    let word = if held.is_hit { "hit" } else { "miss" };
    let fitted = if held.is_fitted { ", fitted" } else { "" };
    let judged = if is_judged { format!("{word}{fitted}") } else { "not comparable".into() };
    let off = format!("{sign}{}", percent((held.ratio - 1.0).abs()));
    let text = Entry::Text;
    vec![
        text(held.figure),
        text(held.here),
        text(held.published),
        text(off),
        text(judged),
        text(held.source.to_owned()),
    ]
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn only_the_drive_that_was_fitted_hits_or_misses() {
        let fragmented = Some("fragmented");
        let same = unlike("sim:ocz-core,state=fragmented,seed=3", "fragmented", fragmented);
        assert_eq!(same, None);
        let disk = unlike("sim:momentus-7200,state=filled", "filled", None);
        assert_eq!(disk, None, "a disk has no state");
        let why = unlike("sim:ocz-core", "fresh", fragmented).unwrap();
        let other = "it was fitted in state=fragmented, and this run began in state=fresh";
        assert!(why.starts_with("it is not the drive") && why.ends_with(other), "{why}");
        let why = unlike("sim:momentus-7200,capacity=8GiB", "fresh", None).unwrap();
        assert!(why.ends_with("it was changed by capacity=8GiB"), "{why}");
    }

    #[test]
    fn each_figure_has_its_word_only_beside_the_drive_it_is_of() {
        let one = |ratio: f64, is_hit, is_fitted| Held {
            figure: "reads".into(),
            here: "9".into(),
            published: "10".into(),
            ratio,
            is_hit,
            is_fitted,
            source: "A",
        };
        let held = || vec![one(0.9, false, false), one(1.02, true, true)];
        let text = |table: &Table, row: usize| {
            let entry = |entry: &Entry| match entry {
                Entry::Text(text) => text.clone(),
                other => format!("{other:?}"),
            };
            table.rows[row].iter().map(entry).collect::<Vec<_>>().join("|")
        };
        let judged = table(held(), None, "within 5 %.", "Source: A.").unwrap();
        assert_eq!(text(&judged, 0), "reads|9|10|-10 %|miss|A");
        assert_eq!(text(&judged, 1), "reads|9|10|+2.0 %|hit, fitted|A");
        assert!(judged.note.starts_with("1 of 2 hit: within 5 %. Figures marked"), "{judged:?}");
        let other = table(held(), Some("it is old"), "within 5 %.", "").unwrap();
        assert_eq!(text(&other, 0), "reads|9|10|-10 %|not comparable|A");
        let expected = "Not compared, because it is old. Otherwise";
        assert!(other.note.starts_with(expected), "{other:?}");
        assert_eq!(table(Vec::new(), None, "", ""), None);
    }
}

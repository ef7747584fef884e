//! "TRIM works", "is ignored": what the profile says.

use super::case::{Case, Said};
use super::judged::{Judged, Level};

/// A drive that lost this much has something to get back.
const LOST: f64 = 0.7;

/// What `trim` said.
pub fn judge(case: &Case, said: &Said, all: &mut Vec<Judged>) {
    if case.study != "trim" || said.json.is_none() {
        return;
    }
    let planted = &case.drive.planted;
    // Models that map blocks have no choice: what is trimmed need not be copied.
    let maps_blocks = ["log_block", "block_map"].contains(&planted.model);
    let drops = planted.honours_trim.or(maps_blocks.then_some(true));
    let truth = format!("{}, honours TRIM {drops:?}", planted.model);
    let find = |list: &str, word: &str| {
        said.sentences(list).into_iter().find(|it| it.contains(word)).map(String::from)
    };
    if let Some(words) = find("verdict", "TRIM works") {
        let is_right = drops == Some(true);
        all.push(Judged::held("TRIM", Level::Certain, is_right, words, truth));
    } else if let Some(words) = find("beware", "ignored") {
        let is_right = drops != Some(true);
        all.push(Judged::held("TRIM", Level::Certain, is_right, words, truth));
    } else if let Some(words) = find("unknown", "Whether TRIM works") {
        let rates = [said.figure("random write, fresh"), said.figure("random write, before TRIM")];
        let is_tellable = matches!(rates, [Some(fresh), Some(before)] if before < LOST * fresh)
            && drops.is_some();
        let truth = format!("{truth}; fresh and before: {rates:?}");
        all.push(Judged::open("TRIM", is_tellable, words, truth));
    }
}

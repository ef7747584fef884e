//! The length of the pieces that a drive serves apart, by what the profile has.

use super::case::{Case, Said};
use super::judged::{Judged, Level};

/// Keys of a profile that are lengths of such pieces.
const LENGTHS: [&str; 4] = ["map_unit_bytes", "page_bytes", "block_bytes", "stripe_bytes"];

/// What `patterns` said of them; of a drive whose profile is not drawn the lengths are not known.
pub fn judge(case: &Case, said: &Said, all: &mut Vec<Judged>) {
    let verdict = said.sentences("verdict");
    let Some(words) = verdict.iter().find(|it| it.contains("splits requests at")) else { return };
    if case.drive.profile.is_none() {
        return;
    }
    let value = |key: &str| case.drive.number(key);
    let planes = value("planes").unwrap_or(1);
    let lengths: Vec<u64> =
        LENGTHS.iter().filter_map(|key| value(key)).flat_map(|it| [it, it * planes]).collect();
    let is_it = |bytes: &u64| {
        words.contains(&format!("splits requests at multiples of {} KiB", bytes >> 10))
    };
    let is_right = lengths.iter().any(is_it);
    all.push(Judged::held("pieces", Level::Alpha, is_right, *words, format!("{lengths:?}")));
}

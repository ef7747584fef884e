//! "The cliff comes after": where the free blocks ran out, or, where the host's side is slower
//! than the first collections, where the rate no longer held; and causes, where one is named.

use super::case::{Case, Said};
use super::judged::{Judged, Level};
use drivelab_core::run::Run;

const OFF: f64 = 0.03;

/// Bytes that were written before and after the interval in which the drive first collected.
fn first_collection(run: &Run) -> Option<(f64, f64)> {
    let mut inside = run.steps.iter().flat_map(|step| &step.insides);
    let first = inside.find(|it| it.inside.collection_units > 0)?;
    let tallies = || run.steps.iter().flat_map(|step| &step.tallies);
    let until = |time: u64| -> u64 {
        let done = tallies().filter(|tally| tally.to <= time).flat_map(|tally| &tally.kinds);
        done.filter(|kind| kind.kind == drivelab_core::op::Action::Write).map(|it| it.bytes).sum()
    };
    Some((until(first.from) as f64, until(first.to) as f64))
}

/// Mean rates of the writes from this many bytes to this many.
fn rate_between(run: &Run, from: f64, to: f64) -> Option<f64> {
    let (mut done, mut operations, mut ns) = (0.0, 0.0, 0.0);
    for tally in run.steps.iter().flat_map(|step| &step.tallies) {
        for kind in &tally.kinds {
            if kind.kind == drivelab_core::op::Action::Write {
                done += kind.bytes as f64;
                if (from..to).contains(&done) {
                    operations += kind.ops as f64;
                    ns += (tally.to - tally.from) as f64;
                }
            }
        }
    }
    (ns > 0.0).then(|| operations / ns * 1e9)
}

/// The rate held from where the drive first collected to where the cliff is said to be, and not
/// behind it.
fn held_until(run: &Run, collected: f64, found: f64) -> bool {
    let rate = |from: f64, to: f64| rate_between(run, from, to);
    // Of what is written before, an SLC cache may have taken the first part.
    let before = rate(0.8 * collected, (1.0 - OFF) * collected);
    let (unseen, behind) =
        (rate(collected, found), rate(found * (1.0 + 0.005), found * (1.0 + OFF)));
    match (before, unseen, behind) {
        (Some(before), Some(unseen), Some(behind)) => {
            unseen > 0.93 * before && behind < 0.9 * before
        }
        _ => false,
    }
}

/// What `wsat` said of a cliff.
pub fn judge(case: &Case, said: &Said, all: &mut Vec<Judged>) {
    let Some(run) = said.run.as_ref().filter(|_| case.study == "wsat") else { return };
    let verdict = said.sentences("verdict");
    if let Some(words) = verdict.iter().find(|it| it.starts_with("It falls so early because")) {
        let (is_right, truth) = cause(case, words);
        all.push(Judged::held("cause", Level::Certain, is_right, *words, truth));
    }
    let Some(words) = verdict.iter().find(|words| words.starts_with("The write cliff")) else {
        return;
    };
    let Some(found) = said.figure("cliff after") else { return };
    if case.drive.planted.model != "flash" {
        let truth = format!("{} has no free blocks to run out of", case.drive.planted.model);
        let is_right = case.drive.planted.model != "volume" && case.drive.planted.model != "disk";
        all.push(Judged::held("cliff", Level::Certain, is_right, *words, truth));
        return;
    }
    let (is_right, truth) = match first_collection(run) {
        None => (false, "the drive never collected".into()),
        Some((from, to)) => (
            (from * (1.0 - OFF)..=to * (1.0 + OFF)).contains(&found)
                || found > to && held_until(run, to, found),
            format!("first collected between {from:.0} and {to:.0} bytes; said {found:.0}"),
        ),
    };
    all.push(Judged::held("cliff", Level::Certain, is_right, *words, truth));
}

/// Whether the cause that was named is one that this drive has.
fn cause(case: &Case, words: &str) -> (bool, String) {
    let planted = &case.drive.planted;
    let value = |key: &str| case.drive.number(key);
    // Pages that are programmed for less than they hold are used up as a whole.
    let programmed =
        |page: u64| page * value("planes").unwrap_or(1) * value("pages_per_program").unwrap_or(1);
    let page = value("page_bytes");
    let units = [value("map_unit_bytes"), page, page.map(programmed)];
    let is_right = if words.contains("a cache of about") {
        // The buffer of a flash drive is a cache too.
        matches!(planted.model, "flash" | "disk" | "array")
    } else if words.contains("takes up") {
        let is_it = |bytes: u64| words.contains(&format!("takes up {} KiB of flash", bytes >> 10));
        planted.model == "flash" && (units == [None; 3] || units.into_iter().flatten().any(is_it))
    } else if words.contains("rewrite a block") {
        matches!(planted.model, "log_block" | "block_map")
    } else {
        planted.model == "volume"
    };
    (
        is_right,
        format!(
            "{}, SLC cache {}, map unit, page and program {units:?}",
            planted.model, planted.has_slc
        ),
    )
}

//! "The cliff comes after": where the free blocks ran out; and causes, where one is named.

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

/// What `wsat` said of a cliff.
pub fn judge(case: &Case, said: &Said, all: &mut Vec<Judged>) {
    let Some(run) = said.run.as_ref().filter(|_| case.study == "wsat") else { return };
    let verdict = said.sentences("verdict");
    let has_cache = case.drive.planted.has_slc || case.drive.planted.model == "disk";
    if let Some(words) = verdict.iter().find(|words| words.contains("a cache was full")) {
        let truth = format!("{}, SLC cache {has_cache}", case.drive.planted.model);
        all.push(Judged::held("cause", Level::Certain, has_cache, *words, truth));
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
            (from * (1.0 - OFF)..=to * (1.0 + OFF)).contains(&found),
            format!("first collected between {from:.0} and {to:.0} bytes; said {found:.0}"),
        ),
    };
    all.push(Judged::held("cliff", Level::Certain, is_right, *words, truth));
}

//! "RAM answered so much": bytes that reached the drive, as its inside counts them.

use super::case::{Case, Said};
use super::judged::{Judged, Level};
use drivelab_core::op::Action;
use drivelab_core::run::{Run, StepRun};

/// What a share may be off.
const OFF: f64 = 0.03;

/// Bytes that a step asked for, and those that went to the drive and came from it.
fn shares(run: &Run, cell: &str) -> Vec<f64> {
    run.steps.iter().filter(|step| step.begin.name == cell).filter_map(share).collect()
}

fn share(step: &StepRun) -> Option<f64> {
    let kinds = || step.tallies.iter().flat_map(|tally| &tally.kinds);
    let of = |kind: Action| kinds().filter(|it| it.kind == kind).map(|it| it.bytes).sum::<u64>();
    let (read, written) = (of(Action::Read), of(Action::Write));
    let inside = || step.insides.iter().map(|it| it.inside);
    let reached = match read > 0 {
        true => inside().map(|it| it.drive_read_bytes).sum::<u64>(),
        false => inside().map(|it| it.drive_written_bytes).sum(),
    };
    let asked = if read > 0 { read } else { written };
    (asked > 0).then(|| reached as f64 / asked as f64)
}

/// What `modes` said of who answered.
pub fn judge(case: &Case, said: &Said, all: &mut Vec<Judged>) {
    let Some(run) = said.run.as_ref().filter(|_| case.study == "modes") else { return };
    if !case.drive.planted.has_page_cache {
        return;
    }
    let figures = said.json.as_ref().and_then(|json| json["findings"]["figures"].as_array());
    for figure in figures.into_iter().flatten() {
        let name = figure["name"].as_str().unwrap_or_default();
        let Some(cell) = name.strip_prefix("reached the drive: ") else { continue };
        let Some(found) = figure["estimate"]["value"].as_f64() else { continue };
        let known = shares(run, cell);
        if known.is_empty() {
            continue;
        }
        let truth = known.iter().sum::<f64>() / known.len() as f64;
        let is_right = (found - truth).abs() <= OFF + 0.05 * truth;
        let words = format!("{name}: {:.1} %", 100.0 * found);
        let truth = format!("{:.1} % by the inside", 100.0 * truth);
        all.push(Judged::held("RAM", Level::Certain, is_right, words, truth));
    }
}

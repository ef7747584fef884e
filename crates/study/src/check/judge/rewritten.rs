//! What reading in order costs where the data was overwritten at random.

use super::super::{REWRITTEN_READ, SEQUENTIAL_READ};
use crate::battery::{Outcome, outcome};
use crate::compare::{Side, compare};
use crate::experiment::control;
use drivelab_core::comparison::{Cell, Sample};
use drivelab_core::findings::{Findings, Remark};
use drivelab_core::plan::Step;
use drivelab_core::quantity::{bandwidth, percent};
use drivelab_core::sound::Sound;
use drivelab_core::summary::{CellSummary, Summary};

/// Rates that differ by less count as equal.
const BAND: f64 = 0.05;
/// Where less of the part was overwritten, little can be seen.
const OVERWRITTEN_MIN: f64 = 0.5;

/// Says how much slower, if both cells have numbers that can be believed.
pub(super) fn look(run: &Sound<'_>, summary: &Summary, findings: &mut Findings) {
    let Some(cell) = named(summary, REWRITTEN_READ) else { return };
    let share = overwritten(run);
    findings.remarks.push(Remark {
        cell: REWRITTEN_READ.into(),
        text: format!("{} of it overwritten at random", percent(share)),
    });
    let Some(compared) = compared(summary) else {
        findings.unknown.push(
            "Whether reading in order becomes slower where data was overwritten at random: not \
             both cells have numbers that can be believed."
                .into(),
        );
        return;
    };
    let rate = |cell: Option<&CellSummary>| {
        let stream = cell.and_then(|cell| cell.streams.first());
        let rate = stream.and_then(|stream| stream.total.bandwidth_bytes_per_s);
        bandwidth(rate.map_or(f64::NAN, |rate| rate.value))
    };
    let (ordered, scattered) = (rate(named(summary, SEQUENTIAL_READ)), rate(Some(cell)));
    let range = range(&compared);
    match outcome(&compared, BAND) {
        // What was hardly overwritten differs by noise alone.
        _ if share < OVERWRITTEN_MIN && !is_slower(&compared) => findings.want_more(format!(
            "How fast data overwritten at random is read in order: only {} of that part was \
             overwritten. Give a larger --budget or --time.",
            percent(share)
        )),
        Some(Outcome::Slower) => findings.verdict.push(format!(
            "Where data was overwritten at random, reading it in order gives {scattered}{range} \
             of the {ordered} of data written in order."
        )),
        Some(Outcome::Same) => findings.verdict.push(format!(
            "Data overwritten at random is read in order as fast as data written in order: \
             {scattered}{range} of it."
        )),
        Some(Outcome::Faster) => findings.unknown.push(format!(
            "Why data overwritten at random is read faster in order ({scattered}{range} of the \
             {ordered} of data written in order): that is not a property of flash. Repeat it."
        )),
        Some(Outcome::Open) | None => findings.unknown.push(format!(
            "Whether data overwritten at random is read more slowly in order: {scattered}{range} \
             of the {ordered} of data written in order. The noise is too large to tell."
        )),
    }
}

fn is_slower(cell: &Cell) -> bool {
    matches!(outcome(cell, BAND), Some(Outcome::Slower))
}

fn named<'a>(summary: &'a Summary, name: &str) -> Option<&'a CellSummary> {
    summary.cells.iter().find(|cell| cell.name == name)
}

/// The cell after random writes against the one without; neither may be suspect.
fn compared(summary: &Summary) -> Option<Cell> {
    let side = |name: &str, cell: &str| -> Option<Side> {
        let sample: Sample = control::sample(summary, cell, SEQUENTIAL_READ)?;
        let samples = vec![sample];
        Some(Side { name: name.into(), samples, facts: Vec::new(), is_by_run: false })
    };
    let ordered = side("written in order", SEQUENTIAL_READ)?;
    let scattered = side("overwritten at random", REWRITTEN_READ)?;
    let found = compare(&ordered, &scattered, Some(BAND)).ok()?;
    found.cells.into_iter().next().filter(|cell| cell.verdict.is_some())
}

/// `, 29 % (28 to 30 %)`.
fn range(cell: &Cell) -> String {
    let Some(ratio) = cell.ratio else { return String::new() };
    let value = percent(ratio.value);
    match (ratio.low, ratio.high) {
        (Some(low), Some(high)) => format!(", {value} ({} to {})", percent(low), percent(high)),
        _ => format!(", {value}"),
    }
}

/// The share of that part which random writes have gone over, by chance alone.
fn overwritten(run: &Sound<'_>) -> f64 {
    let stream = |name: &str| {
        let mut steps = run.steps.iter().filter(|step| step.begin.name == name);
        steps.find_map(|step| step.plan.streams.first().cloned())
    };
    let Some(part) = stream(REWRITTEN_READ) else { return 0.0 };
    let Some(length) = part.length.filter(|length| length.0 > 0) else { return 0.0 };
    let is_there = |step: &Step| {
        step.streams.first().is_some_and(|stream| {
            stream.offset == part.offset && stream.length == part.length && stream.mix.write > 0
        })
    };
    let there = run.written().filter(|(step, _)| is_there(step));
    let written: u64 = there.map(|(_, bytes)| bytes).sum();
    1.0 - (-(written as f64) / length.0 as f64).exp()
}

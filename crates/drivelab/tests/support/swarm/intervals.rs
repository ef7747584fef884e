//! An interval of reads: it holds what the same reads find on the same drive in the same state when
//! they take eight times as long. Writes change the drive that they measure, so that more of them
//! are no truth about the first; of them the interval of a plain run is compared with that of a run
//! eight times as long, on a drive that writing does not change.

use super::case::{Case, Said};
use super::judged::{Judged, Level};
use super::replay::{longer, seeded};
use drivelab_core::op::Action;
use drivelab_core::plan::{Role, Step};
use drivelab_core::run::{Run, StepRun};
use serde_json::Value;

const TIMES: u64 = 8;
/// Beyond the interval by so much of the value nobody would call it wrong: a longer measurement
/// has fewer ends.
const ROUNDING: f64 = 5e-4;

/// Writes whose last part differs from the whole by more than this went over a cliff.
const STEP: f64 = 0.1;
/// Reads of which the last part differs by more than this had used up a quota.
const QUOTA: f64 = 0.02;

/// The rate of the last half of a step.
fn last_part(step: &StepRun) -> Option<f64> {
    let middle = step.tallies.iter().map(|tally| tally.to).max()? / 2;
    let late = || step.tallies.iter().filter(|tally| tally.from >= middle);
    let ns = late().map(|tally| tally.to).max()?.checked_sub(middle)?;
    let operations: u64 = late().flat_map(|tally| &tally.kinds).map(|kind| kind.ops).sum();
    (ns > 0).then(|| operations as f64 / ns as f64 * 1e9)
}

fn rate(steps: &[&StepRun]) -> Option<f64> {
    let kinds = steps.iter().flat_map(|step| &step.tallies).flat_map(|tally| &tally.kinds);
    let operations: u64 = kinds.map(|kind| kind.ops).sum();
    let ns: u64 = steps.iter().map(|step| step.duration_ns()).sum();
    (operations > 0 && ns > 0).then(|| operations as f64 / ns as f64 * 1e9)
}

/// More of what goes in order goes elsewhere, such as to the inner zones of a disk.
fn is_in_order(step: &StepRun) -> bool {
    step.plan.streams.iter().any(|stream| stream.is_sequential())
}

fn only_reads(step: &StepRun) -> bool {
    let mut kinds = step.tallies.iter().flat_map(|tally| &tally.kinds);
    kinds.all(|kind| kind.kind == Action::Read || kind.ops == 0)
}

/// Cells of reads alone and the single step of a run, each with its interval.
fn claims(case: &Case, json: &Value) -> Vec<(String, f64, f64)> {
    let list = if case.study == "run" { "steps" } else { "cells" };
    let mut all = Vec::new();
    for whole in json[list].as_array().into_iter().flatten() {
        let streams = whole["streams"].as_array().map(Vec::as_slice);
        let (Some(name), Some([stream])) = (whole["name"].as_str(), streams) else { continue };
        let rate = &stream["total"]["iops"];
        if let (Some(low), Some(high)) = (rate["low"].as_f64(), rate["high"].as_f64()) {
            all.push((name.to_string(), low, high));
        }
    }
    all
}

/// The steps of a run in their order, those that the claims rest on each `TIMES` as long.
fn lengthened(case: &Case, run: &Run) -> Vec<Step> {
    let steps = run.steps.iter().map(|step| {
        let is_claimed = step.plan.role == Role::Measure && only_reads(step);
        match is_claimed || case.study == "run" {
            true => longer(&step.plan, TIMES),
            false => Step { repeat: 1, ..step.plan.clone() },
        }
    });
    steps.collect()
}

/// All intervals that can be decided.
pub fn judge(case: &Case, said: &Said, all: &mut Vec<Judged>) {
    let (Some(json), Some(run)) = (&said.json, &said.run) else { return };
    let of_name = |run: &Run, name: &str| -> Vec<usize> {
        let all = run.steps.iter().enumerate();
        all.filter(|(_, step)| step.begin.name == name).map(|(place, _)| place).collect()
    };
    let is_told = |step: &StepRun| (case.study == "run" || only_reads(step)) && !is_in_order(step);
    let mut claims = claims(case, json);
    claims.retain(|(name, _, _)| of_name(run, name).iter().all(|it| is_told(&run.steps[*it])));
    // A drive that writing changes is another one later.
    let planted = &case.drive.planted;
    let is_steady = matches!(planted.model, "disk" | "volume")
        || case.drive.target.contains("state=random-steady");
    claims.retain(|(name, _, _)| {
        is_steady || of_name(run, name).iter().all(|it| only_reads(&run.steps[*it]))
    });
    // A stall that is rarer than the time watched is in no repetition.
    if claims.is_empty() || case.drive.planted.stall.is_some() {
        return;
    }
    let Some(long) = seeded(case, run, lengthened(case, run), run.begin.seed) else { return };
    for (name, low, high) in claims {
        let steps: Vec<&StepRun> =
            of_name(&long, &name).into_iter().map(|it| &long.steps[it]).collect();
        let Some(truth) = rate(&steps) else { continue };
        let allowed = if steps.iter().all(|step| only_reads(step)) { QUOTA } else { STEP };
        let is_off = |step: &&StepRun| {
            last_part(step).is_none_or(|last| (last / truth).ln().abs() > allowed)
        };
        if steps.iter().any(is_off) {
            continue;
        }
        let is_right = low * (1.0 - ROUNDING) <= truth && truth <= high * (1.0 + ROUNDING);
        let said = format!("{name}: {low:.1} to {high:.1} IOPS");
        let found = format!("{truth:.1} IOPS in {TIMES} times the time");
        all.push(Judged::held("interval", Level::Alpha, is_right, said, found));
    }
}

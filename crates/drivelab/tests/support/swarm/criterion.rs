//! SNIA's steady state: ten more rounds stay within the criterion around the same average.

use super::case::{Case, Said};
use super::judged::{Judged, Level};
use super::replay::{iops, performed, replay};
use drivelab_core::plan::Step;

const ROUNDS: usize = 10;
/// Half of what SNIA lets the rounds of a window differ by.
const OFF: f64 = 0.10;

/// What the `pts-*` studies said of a steady state.
pub fn judge(case: &Case, said: &Said, all: &mut Vec<Judged>) {
    let Some(run) = said.run.as_ref().filter(|_| case.study.starts_with("pts")) else { return };
    let verdict = said.sentences("verdict");
    let Some(words) = verdict.into_iter().find(|it| it.starts_with("Steady by SNIA")) else {
        return;
    };
    let cell = "R/W 0/100 4 KiB";
    let Some(found) = said.figure(cell).filter(|_| case.study == "pts-iops") else { return };
    let Some(last) = run.steps.iter().rfind(|step| step.begin.name == cell) else { return };
    let round = &run.plans[last.begin.plan as usize].steps;
    let is_cell = |step: &&Step| step.name.starts_with("R/W");
    let round: Vec<Step> = round.iter().filter(is_cell).cloned().collect();
    let mut steps = performed(&run.steps[..=last.begin.step as usize]);
    let before = steps.len();
    steps.extend((0..ROUNDS).flat_map(|_| round.clone()));
    let Some(long) = replay(case, run, steps) else { return };
    let more = long.steps[before.min(long.steps.len())..].iter();
    let rates: Vec<f64> = more.filter(|step| step.begin.name == cell).map(iops).collect();
    if rates.is_empty() {
        return;
    }
    let mean = rates.iter().sum::<f64>() / rates.len() as f64;
    let is_right = (mean / found - 1.0).abs() <= OFF;
    let truth = format!("{} more rounds: {mean:.0} IOPS on average, said {found:.0}", rates.len());
    all.push(Judged::held("SNIA's steady state", Level::Certain, is_right, words, truth));
}

//! What may be judged of a run: the only way from measurements to verdicts.
//!
//! A judge is given a [`Sound`] and no [`Run`]. What the truth guard suspects, what drifts and what
//! did not come to its end has no numbers in it, so that no judge can rest on them, not even one
//! that forgets to ask. Their names and the reasons stay, so that a judge can say why it is silent.

use crate::op::Action;
use crate::plan::{Role, Step};
use crate::run::{Run, StepRun};
use crate::summary::streams::summarise_stream;
use crate::summary::{CellSummary, StepSummary, Summary, summarise};
use crate::truth;
use std::borrow::Cow;
use std::ops::Deref;

/// What a study makes of the reasons against a number.
#[derive(Debug, Clone, Copy)]
pub struct Rules {
    /// Steps of one name are rounds of a series that is meant to move, and no repetitions.
    pub is_series: bool,
    /// Whether this reason (its code) against this step (its name) is what the study measures, such
    /// as bytes that the page cache kept from the drive; then it says nothing against the number.
    pub is_finding: fn(name: &str, code: &str) -> bool,
}

impl Rules {
    /// Repetitions, and every reason speaks against its number.
    pub const STRICT: Rules = Rules { is_series: false, is_finding: |_, _| false };
    /// Rounds that are meant to move.
    pub const SERIES: Rules = Rules { is_series: true, ..Rules::STRICT };
}

/// A run of which only what may be judged has numbers.
#[derive(Debug, Clone)]
pub struct Sound<'run> {
    all: Cow<'run, Run>,
    rules: Rules,
    run: Run,
    summary: Summary,
}

impl<'run> Sound<'run> {
    /// What may be judged of `run`.
    pub fn of(run: &'run Run, rules: Rules) -> Self {
        Sound::made(Cow::Borrowed(run), rules)
    }

    /// What may be judged of a part of the run, such as what came after a break.
    pub fn part(&self, of: impl FnOnce(&Run) -> Run) -> Sound<'static> {
        Sound::made(Cow::Owned(of(&self.all)), self.rules)
    }

    fn made(all: Cow<'run, Run>, rules: Rules) -> Self {
        let mut summary = summarise(&all);
        summary.steps.iter_mut().for_each(|step| excuse_step(step, rules));
        summary.cells.iter_mut().for_each(|cell| excuse_cell(cell, &summary.steps, rules));
        for cell in summary.cells.iter_mut().filter(|cell| cell.against().is_some()) {
            cell.streams.clear();
            cell.valid = Some(false);
            for step in summary.steps.iter_mut().filter(|step| is_of(step, &cell.name)) {
                step.valid = Some(false);
            }
        }
        let kept_out = |step: &&mut StepSummary| {
            step.role == Role::Measure && (step.valid == Some(false) || step.incomplete.is_some())
        };
        summary.steps.iter_mut().filter(kept_out).for_each(|step| step.streams.clear());
        let run = stripped(&all, &summary.steps);
        Sound { all, rules, run, summary }
    }

    /// The numbers that may be judged.
    pub fn summary(&self) -> &Summary {
        &self.summary
    }

    /// The numbers that may be judged, without the run.
    pub fn into_summary(self) -> Summary {
        self.summary
    }

    /// What each step was to do and the bytes that it wrote, whatever speaks against its numbers:
    /// the drive has them.
    pub fn written(&self) -> impl Iterator<Item = (&Step, u64)> {
        self.all.steps.iter().map(|step| {
            let kinds = step.tallies.iter().flat_map(|tally| &tally.kinds);
            let writes = kinds.filter(|entry| entry.kind == Action::Write);
            (&step.plan, writes.map(|entry| entry.bytes).sum())
        })
    }

    /// Cells without numbers, each with the reasons.
    pub fn kept_out(&self) -> impl Iterator<Item = &CellSummary> {
        self.summary.cells.iter().filter(|cell| cell.valid == Some(false))
    }

    /// Why a cell has no numbers; `None`: it has some, or was not measured.
    pub fn why_kept_out(&self, name: &str) -> Option<String> {
        self.kept_out().find(|cell| cell.name == name).and_then(CellSummary::against)
    }
}

/// Whether nothing speaks against the numbers of a step, whatever its role: a round on the way to a
/// state is none of the cells that are judged, and what is suspect proves no state either.
pub fn stands(run: &Run, step: &StepRun) -> bool {
    let count = step.plan.streams.len() as u32;
    let streams: Vec<_> = (0..count).map(|stream| summarise_stream(step, stream)).collect();
    truth::judge(run, step, &streams).valid != Some(false)
}

/// The run as it may be judged.
impl Deref for Sound<'_> {
    type Target = Run;

    fn deref(&self) -> &Run {
        &self.run
    }
}

fn is_of(step: &StepSummary, name: &str) -> bool {
    step.role == Role::Measure && step.name == name
}

fn excuse_step(step: &mut StepSummary, rules: Rules) {
    let had = step.reasons.len();
    let (found, against) = std::mem::take(&mut step.reasons)
        .into_iter()
        .partition(|reason| (rules.is_finding)(&step.name, &reason.code));
    step.reasons = against;
    step.notes.extend::<Vec<_>>(found);
    if step.reasons.is_empty() && had > 0 {
        step.valid = None;
    }
}

fn excuse_cell(cell: &mut CellSummary, steps: &[StepSummary], rules: Rules) {
    let had = cell.reasons.len();
    cell.reasons.retain(|reason| !(rules.is_finding)(&cell.name, &reason.code));
    let is_doubted =
        steps.iter().any(|step| cell.steps.contains(&step.step) && step.valid == Some(false));
    if had > cell.reasons.len() && !is_doubted {
        cell.valid = None;
    }
    if rules.is_series {
        cell.drifts.clear();
    }
}

/// The run without the numbers of the steps that may not be judged.
fn stripped(run: &Run, steps: &[StepSummary]) -> Run {
    let strip = |step: (&StepRun, &StepSummary)| match step {
        (step, judged) if judged.streams.is_empty() && !step.plan.streams.is_empty() => {
            let mut end = step.end.clone();
            end.iter_mut().for_each(|end| end.inside = None);
            StepRun {
                begin: step.begin.clone(),
                plan: step.plan.clone(),
                tallies: Vec::new(),
                insides: Vec::new(),
                anatomy: None,
                requests: Vec::new(),
                end,
            }
        }
        (step, _) => step.clone(),
    };
    Run { steps: run.steps.iter().zip(steps).map(strip).collect(), ..run.clone_without_steps() }
}

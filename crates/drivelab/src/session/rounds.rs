//! Plans with a step that lasts until its rate is steady.

use crate::execute::{Execution, Stop};
use crate::ranks::broadcast;
use drivelab_core::plan::Plan;
use drivelab_core::queue::Trouble;
use drivelab_core::record::Warning;
use drivelab_core::rounds::{Part, Rounds, parts};
use drivelab_core::sound::stands;
use drivelab_io::ranks::Ranks;
use serde::Serialize;
use serde::de::DeserializeOwned;

/// Executes a plan. Where a step of it is done in rounds, the plan itself is recorded first, as it
/// was asked, and then each of its parts and rounds as a plan of its own.
pub fn run_plan(execution: &mut Execution<'_>, plan: &Plan) -> Result<(), Stop> {
    if !plan.steps.iter().any(|step| step.until.steady) {
        return execution.run_plan(plan);
    }
    execution.record_plan(plan);
    for part in parts(plan, execution.file_bytes) {
        match part {
            Part::Plain(part) => execution.run_plan(&part)?,
            Part::Rounds(frame, rounds) => {
                let rounds = rounds.on(execution.recorder.run());
                run_rounds(execution, &frame, rounds)?;
            }
        }
    }
    Ok(())
}

fn run_rounds(execution: &mut Execution<'_>, frame: &Plan, mut rounds: Rounds) -> Result<(), Stop> {
    // Of several ranks only rank 0 knows what all have done.
    let ranks = execution.ranks;
    while let Some(round) = as_rank_0(ranks, rounds.next())? {
        execution.run_plan(&Plan { steps: vec![round], ..frame.clone() })?;
        let run = execution.recorder.run();
        if let Some(done) = run.steps.last() {
            rounds.done(done, stands(run, done));
        }
    }
    if let Some(found) = as_rank_0(ranks, rounds.established())? {
        execution.establish(found);
    }
    if rounds.settled().is_err() {
        execution.recorder.warn(Warning {
            code: "not_steady".into(),
            text: format!("the load was {}.", rounds.in_words()),
            advice: "What follows was measured before the steady state; allow more time or bytes."
                .into(),
            step: None,
        });
    }
    Ok(())
}

/// The value of rank 0, at all of them.
fn as_rank_0<T: Serialize + DeserializeOwned>(ranks: Ranks, mine: T) -> Result<T, Stop> {
    match ranks.is_alone() {
        true => Ok(mine),
        false => {
            broadcast(ranks, &mine).map_err(|failure| Stop::Trouble(Trouble::failed(failure.text)))
        }
    }
}

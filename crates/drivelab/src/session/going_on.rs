//! A run that was broken off and goes on.

use super::{follow, run_plans};
use crate::execute::{Execution, Stop};
use crate::job::Inquiry;
use crate::store::reader::Kept;
use crate::target::ResolvedTarget;
use crate::wall_clock::WallTime;
use drivelab_core::record::{Resumed, Warning};
use drivelab_core::run::Run;

/// Brings a simulated drive to where the kept run left it, step by step as they were recorded,
/// and goes on from there.
pub fn simulate_again(
    execution: &mut Execution<'_>,
    kept: &Kept,
    inquiry: &mut dyn Inquiry,
) -> Result<(), Stop> {
    execution.kept_steps = kept.run.steps.len() as u32;
    let last = kept.run.plans.len();
    for (index, plan) in kept.run.plans.iter().enumerate() {
        let is_frame = plan.steps.iter().any(|step| step.until.steady)
            && !kept.run.steps.iter().any(|step| step.begin.plan as usize == index);
        match is_frame {
            true => execution.record_plan(plan),
            false => execution.run_plan(plan)?,
        }
        if index + 1 < last {
            execution.take_up_established(&kept.run);
        }
    }
    execution.take_up_established(&kept.run);
    let known = kept.run.established.iter().any(|(steps, _)| *steps == execution.steps_done());
    let next = match known {
        true => inquiry.next(execution.recorder.run()),
        false => follow(execution, inquiry),
    };
    next.map_or(Ok(()), |next| run_plans(execution, next, inquiry))
}

/// What can still be said of a real target that was released.
pub fn resumed(resolved: &ResolvedTarget, run: &Run) -> Resumed {
    let because = match resolved.creates() {
        true => "the scratch file was created again",
        false => "the drive was closed in between, so its state is unknown",
    };
    Resumed {
        at: Some(WallTime::now().rfc3339()),
        steps: run.steps.len() as u32,
        state: "unknown".into(),
        because: Some(because.into()),
    }
}

/// What a reader of the run must know of it.
pub fn broken_off(resumed: &Resumed) -> Warning {
    Warning {
        code: "resumed".into(),
        text: format!(
            "this run was interrupted after {} steps and resumed later: {}.",
            resumed.steps,
            resumed.because.as_deref().unwrap_or_default()
        ),
        advice: "The state that it needs was established again, and what must follow that state \
                 without a pause was repeated."
            .into(),
        step: None,
    }
}

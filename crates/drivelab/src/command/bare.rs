//! `drivelab bare`: the queues alone, without driver and recording; for the benchmarks.

use crate::cli::run::RunOptions;
use crate::descriptors::Descriptors;
use crate::load;
use crate::outcome::{Failure, Status};
use crate::ready::check_plan;
use crate::session;
use crate::target::{Missing, ResolvedTarget};
use crate::{print, store};
use drivelab_core::driver::Setup;
use drivelab_core::queue::Trouble;
use drivelab_core::units::Span;
use drivelab_io::clock::Clock;
use drivelab_io::facts::System;
use drivelab_io::guard::Intent;
use drivelab_io::opening::{OpenRequest, open_target};
use drivelab_io::{bare, cpus};
use std::rc::Rc;

/// Runs the bare loop of one stream and prints what it did.
pub fn bare(options: &RunOptions) -> Result<Status, Failure> {
    let [target] = options.operands.as_slice() else {
        return Err(Failure::usage("name one target that exists"));
    };
    let plan = load::plan_of(options, 1)?;
    let (step, interval) = (&plan.steps[0], plan.interval.0);
    let stream = &step.streams[0];
    let system = System::live();
    let missing = Missing::Refused { line: "bare", takes_size: false };
    let resolved = ResolvedTarget::take(&system, target, &plan, options.size, missing)?;
    check_plan(&plan, &resolved)?;
    let runs = store::directory(options.record.store.runs.as_deref())?;
    let intent = if stream.changes_data() { Intent::Write } else { Intent::Read };
    let mut request = OpenRequest::new(&resolved.path, intent, store::scratch_list(Some(&runs))?);
    request.erase.clone_from(&options.safety.erase);
    let opened = open_target(&system, &request).map_err(session::refused)?;
    let bytes = opened.bytes;
    let filesystem = resolved.facts.target.filesystem.as_ref();
    let descriptors = Descriptors {
        target: Some(Rc::new(opened)),
        memory_backed: filesystem.is_some_and(|found| found.memory_backed),
        ..Descriptors::default()
    };
    let failed = |trouble: Trouble| Failure::from(trouble);
    cpus::confine(&cpus::parse(&step.cpus).map_err(failed)?).map_err(failed)?;
    let setup = Setup {
        step: 0,
        stream_index: 0,
        worker: 0,
        stream: stream.clone(),
        until: step.until.clone(),
        ramp: Span(0),
        interval,
        cpus: step.cpus.clone(),
        seed: plan.seed,
        file_bytes: bytes,
    };
    // The target is held, and locked against others, until the loop has ended.
    let handle = descriptors.clone().opener()(&setup).map_err(failed)?;
    let (clock, _) = Clock::calibrate();
    let span = step.until.elapsed.unwrap_or(Span(10_000_000_000));
    let done = bare::run(stream, handle, clock, bytes, span.0).map_err(failed)?;
    drop(descriptors);
    print::json(&serde_json::json!({
        "ops": done.operations,
        "seconds": done.nanoseconds as f64 / 1e9,
    }))?;
    Ok(Status::Fine)
}

//! `drivelab check`: the main job.

use super::page;
use super::report::{Page, may_write, results};
use crate::aim::{Aim, Kind, Missing};
use crate::cli::CheckOptions;
use crate::outcome::{Failure, Status};
use crate::session::{self, Inquiry, Request};
use crate::{chance, print, store};
use drivelab_core::facts::Facts;
use drivelab_core::findings::Findings;
use drivelab_core::plan::Plan;
use drivelab_core::run::Run;
use drivelab_core::sound::{Rules, Sound};
use drivelab_io::facts::System;
use drivelab_report::units;
use drivelab_study::check;
use drivelab_study::experiment::Allowance;

/// Asks what the drive under the target can do, and what hurts.
pub fn check(options: &CheckOptions) -> Result<Status, Failure> {
    let system = System::live();
    let mut aim =
        Aim::look(&system, &options.target, Missing::Refused { line: "check", takes_size: false })?;
    let study = check::Options {
        seed: options.study.seed.unwrap_or_else(chance::seed),
        budget: options.study.budget,
        time: options.time,
        read_only: options.read_only,
        cpus: options.study.cpus.clone(),
    };
    if aim.kind == Kind::Directory {
        if options.read_only {
            return Err(Failure::usage("--read-only needs a file or device that holds data")
                .advise("Leave it out: a scratch file of drivelab's own is written here."));
        }
        aim.file_bytes = check::scratch_bytes(&study, &aim.facts).map_err(Failure::usage)?;
    }
    let mut inquiry = Check { options: study, facts: aim.facts.clone(), bytes: aim.file_bytes };
    let first = inquiry.next(&Run::default()).ok_or_else(|| {
        Failure::usage(format!("there is nothing to check on {}", options.target))
    })?;
    let total = aim.facts.target.filesystem.as_ref().and_then(|found| found.total_bytes);
    let mut request = Request {
        command: "check",
        target: &options.target,
        erase: options.study.safety.erase.clone(),
        keep: options.study.safety.keep,
        size: None,
        runs: store::directory(options.study.store.runs.as_deref())?,
        stuck_after: options.study.stuck_after,
        reserve_bytes: total.unwrap_or(0) / 10,
        warnings: Vec::new(),
        allowance: Some(Allowance { time: options.time, budget: options.study.budget }),
        study: None,
        kept: None,
    };
    if !options.study.dry_run {
        may_write(options.out.as_deref())?;
        page::can_be_made(options.out.as_deref(), options.study.json)?;
        session::ask_guard(&request, &system, &aim, &first)?;
    }
    session::check_plan(&first, &aim)?;
    if options.study.dry_run {
        return dry_run(options, &first, &aim);
    }
    announce(options, &inquiry);
    // A simulated drive does not mind the machine.
    if aim.kind != Kind::Simulated {
        request.warnings = super::doctor::concerns(&system, &options.target)?;
    }
    let ended = session::run(&request, &system, aim, first, &mut inquiry)?;
    let page = match &options.out {
        Some(path) => Page::At(path),
        None if options.study.json || ended.run.findings.is_none() => Page::None,
        None => Page::Default,
    };
    results(ended, options.study.json, page)
}

/// The first plan; the second is made for the bytes that the first really laid out.
fn dry_run(options: &CheckOptions, first: &Plan, aim: &Aim) -> Result<Status, Failure> {
    let status = super::run::dry_run(options.study.json, first, aim)?;
    if !options.study.json {
        print::text(&format!(
            "\n# then all cells, {} times each, in shuffled order: in all at most {} and {} \
             written\n",
            check::REPETITIONS,
            units::time(options.time.0 as f64),
            units::size(options.study.budget.0)
        ));
    }
    Ok(status)
}

/// What will be written, before it is: for a person who watches.
fn announce(options: &CheckOptions, inquiry: &Check) {
    if print::stderr_is_terminal() {
        print::error(&format!(
            "checking {}: up to {} s, at most {} written, seed {}",
            options.target,
            options.time.seconds(),
            if options.read_only { "0 B".into() } else { units::size(options.study.budget.0) },
            inquiry.options.seed
        ));
    }
}

/// The study as a run asks it.
struct Check {
    options: check::Options,
    facts: Facts,
    bytes: u64,
}

impl Inquiry for Check {
    fn next(&mut self, so_far: &Run) -> Option<Plan> {
        check::next(&self.options, &self.facts, self.bytes, so_far)
    }

    fn judge(&self, run: &Run) -> Option<Findings> {
        Some(check::judge(&Sound::of(run, Rules::STRICT)).closed())
    }
}

//! `drivelab accept`: claims of a data sheet against the drive.

use super::report::{Page, may_write, results_shown};
use super::run::{dry_run, read_toml};
use crate::aim::{Aim, Missing};
use crate::cli::accept::AcceptOptions;
use crate::outcome::{Failure, Status};
use crate::session::{self, Inquiry, Request};
use crate::{chance, forecast, print, store};
use drivelab_core::facts::Facts;
use drivelab_core::findings::Findings;
use drivelab_core::plan::Plan;
use drivelab_core::run::Run;
use drivelab_core::sound::Sound;
use drivelab_core::summary::Summary;
use drivelab_io::facts::System;
use drivelab_report::terminal::claims_table;
use drivelab_study::accept::{self, Claim, Spec};

/// Puts every claim to the target.
pub fn accept(options: &AcceptOptions) -> Result<Status, Failure> {
    let text = read_toml(&options.spec, "specification")?;
    let spec =
        accept::parse(&text, &options.spec).map_err(|error| Failure::usage(error.to_string()))?;
    let system = System::live();
    let study = accept::Options {
        seed: options.study.seed.unwrap_or_else(chance::seed),
        budget: options.study.budget,
        cpus: options.study.cpus.clone(),
    };
    let plan_for = |facts: &Facts, layout_bytes| {
        accept::plan(&study, &spec, facts, layout_bytes).map_err(Failure::usage)
    };
    let line = format!("accept {}", options.spec);
    let missing = Missing::unless_sized(options.size, &line);
    let facts = Aim::look(&system, &options.target, missing)?.facts;
    let fitting = plan_for(&facts, None)?;
    let aim = Aim::take(&system, &options.target, &fitting, options.size, missing)?;
    let plan = plan_for(&aim.facts, aim.creates().then_some(aim.file_bytes))?;
    let request = Request {
        command: "accept",
        target: &options.target,
        erase: options.study.safety.erase.clone(),
        keep: options.study.safety.keep,
        size: options.size,
        runs: store::directory(options.study.store.runs.as_deref())?,
        stuck_after: options.study.stuck_after,
        reserve_bytes: 0,
        warnings: Vec::new(),
        allowance: None,
        study: None,
        kept: None,
    };
    if !options.study.dry_run {
        may_write(options.out.as_deref())?;
        session::ask_guard(&request, &system, &aim, &plan)?;
    }
    session::check_plan(&plan, &aim)?;
    if options.study.dry_run {
        return dry_run(options.study.json, &plan, &aim);
    }
    announce(options, &spec, &plan, &aim);
    let mut inquiry = Acceptance { claims: spec.claims };
    let ended = session::run(&request, &system, aim, plan, &mut inquiry)?;
    let page = options.out.as_deref().map_or(Page::None, Page::At);
    results_shown(ended, options.study.json, page, |run, summary| {
        show(options.study.json, &inquiry.claims, run, summary)
    })
}

fn show(json: bool, claims: &[Claim], run: &Run, summary: &Summary) -> Result<(), Failure> {
    let facts = &run.begin.facts;
    let judged = accept::judged(claims, facts, Sound::of(run, accept::RULES).summary());
    if !json {
        print::text(&claims_table(summary, &judged, facts));
        return Ok(());
    }
    let failed =
        |error: serde_json::Error| Failure::invalid(format!("the results fit no JSON: {error}"));
    let mut object = serde_json::to_value(summary).map_err(failed)?;
    object["claims"] = serde_json::to_value(judged).map_err(failed)?;
    print::json(&object)
}

/// What will be written, before it is: for a person who watches.
fn announce(options: &AcceptOptions, spec: &Spec, plan: &Plan, aim: &Aim) {
    if print::stderr_is_terminal() {
        let cost = forecast::forecast(plan, aim.file_bytes).in_words();
        let (claims, target) = (spec.claims.len(), &options.target);
        print::error(&format!("{claims} claims on {target}: {cost}, seed {}", plan.seed));
    }
}

/// The study as a run asks it.
struct Acceptance {
    claims: Vec<Claim>,
}

impl Inquiry for Acceptance {
    fn next(&mut self, _so_far: &Run) -> Option<Plan> {
        None
    }

    fn judge(&self, run: &Run) -> Option<Findings> {
        Some(accept::judge(&self.claims, &Sound::of(run, accept::RULES)).closed())
    }
}

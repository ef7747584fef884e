//! `drivelab run`: one load, described by options or by a plan.

use crate::bounded;
use crate::cli::Terms;
use crate::cli::run::RunOptions;
use crate::command::own_plans;
use crate::entropy;
use crate::job::{Job, OnePlan};
use crate::load;
use crate::outcome::{Failure, Status};
use crate::ranks::{agree, same_plan};
use crate::shown::Shown;
use crate::target::Missing;
use clap::ArgMatches;
use clap::parser::ValueSource;
use drivelab_core::plan::Plan;
use drivelab_core::plan_text;
use drivelab_io::ranks::Ranks;
use std::path::Path;

/// Options that go with a plan; every other one describes a load, and the plan has one.
const WITH_PLAN: [&str; 18] = [
    "operands",
    "title",
    "erase",
    "keep",
    "size",
    "interval",
    "seed",
    "stuck_after",
    "out",
    "json",
    "dry_run",
    "runs",
    "help",
    "safety",
    "store",
    "tag",
    "feed",
    "openmetrics",
];

/// Names of the options that were typed.
pub fn given_options(matches: &ArgMatches) -> Vec<String> {
    let typed =
        |id: &&clap::Id| matches.value_source(id.as_str()) == Some(ValueSource::CommandLine);
    matches.ids().filter(typed).map(|id| id.as_str().to_string()).collect()
}

/// Runs one load, or prints what it would be.
pub fn run(ranks: Ranks, options: &RunOptions, given: &[String]) -> Result<Status, Failure> {
    let asked = plan_and_target(options, given)
        .and_then(|asked| load::refuse_misleading(&asked.0).map(|()| asked));
    let (mut plan, target) = agree(ranks, asked)?;
    same_plan(ranks, &mut plan, target)?;
    let record = &options.record;
    let terms = Terms {
        safety: &options.safety,
        store: &record.store,
        tag: record.called.tag.as_deref(),
        stuck_after: record.stuck_after,
        is_dry: record.dry_run,
        live: Some(&record.live),
    };
    let shown = Shown::plainly(record.json, record.out.as_deref());
    let mut job = Job::of_ranks(ranks, "run", target, &terms, shown)?;
    job.size = options.size;
    job.is_load = true;
    let resolved = job.take(&plan, Missing::unless_sized(options.size, "run"))?;
    let ready = job.ready(resolved, plan, OnePlan)?;
    if record.dry_run { ready.print() } else { ready.finish() }
}

fn plan_and_target<'a>(
    options: &'a RunOptions,
    given: &[String],
) -> Result<(Plan, &'a str), Failure> {
    let seed = options.record.seed;
    match options.operands.as_slice() {
        [target] if looks_like_plan(target) => {
            Err(Failure::usage(format!("{target} is a plan; name a target after it"))
                .advise(format!("Such as:  drivelab run {target} .")))
        }
        [name] if own_plans::text(name).is_some() => {
            Err(Failure::usage(format!("{name} is a plan of drivelab; name a target after it"))
                .advise(format!("Such as:  drivelab run {name} sim:textbook,capacity=1GiB")))
        }
        [target] => Ok((load::plan_of(options, seed.unwrap_or_else(entropy::seed))?, target)),
        [file, target] => {
            let load = given.iter().find(|id| {
                !WITH_PLAN.contains(&id.as_str()) && id.chars().all(|c| !c.is_uppercase())
            });
            if let Some(id) = load {
                let option = id.replace('_', "-");
                return Err(Failure::usage(format!(
                    "--{option} describes a load, and the plan {file} has its own; write it into \
                     the plan"
                )));
            }
            let mut plan = read_plan(file)?;
            match seed {
                Some(seed) => plan.seed = seed,
                None if plan.seed == 0 => plan.seed = entropy::seed(),
                None => {}
            }
            if let Some(title) = &options.what.title {
                plan.title.clone_from(title);
            }
            if let Some(interval) = options.record.interval {
                plan.interval.0 = interval;
            }
            Ok((plan, target))
        }
        _ => Err(Failure::usage("name one target, with at most one plan before it")),
    }
}

fn looks_like_plan(operand: &str) -> bool {
    let path = Path::new(operand);
    path.extension().is_some_and(|extension| extension == "toml") && path.is_file()
}

fn read_plan(file: &str) -> Result<Plan, Failure> {
    let text = match own_plans::text(file) {
        Some(text) => text.to_string(),
        None => read_toml(file, "plan")
            .map_err(|error| error.advise(format!("Built-in plans: {}", own_plans::names())))?,
    };
    plan_text::parse(&text, file).map_err(|error| Failure::usage(error.to_string()))
}

/// The text of a TOML file that people write: a plan, or claims.
pub fn read_toml(file: &str, what: &str) -> Result<String, Failure> {
    let bytes = bounded::bytes(file, bounded::TEXT_BYTES_MAX)
        .map_err(|error| Failure::usage(format!("cannot read the {what} {file}: {error}")))?;
    String::from_utf8(bytes).map_err(|error| {
        let at = error.utf8_error().valid_up_to();
        let line = error.as_bytes()[..at].iter().filter(|byte| **byte == b'\n').count() + 1;
        Failure::usage(format!("{file} line {line}: not UTF-8 text; a {what} is a TOML file"))
    })
}

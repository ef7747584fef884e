//! One study on several targets, one after the other, and what follows from all of them.

use super::{Prepared, announce, prepare};
use crate::cli::study::StudyCommandOptions;
use crate::outcome::{Failure, Status};
use crate::outputs::{Made, write_new};
use crate::results::results_shown;
use crate::shown::{Page, Shown};
use crate::{entropy, print};
use drivelab_core::findings::Findings;
use drivelab_core::gathering::{Gathered, Gathering, Member, Sweep};
use drivelab_core::run::Run;
use drivelab_core::summary::SCHEMA;
use drivelab_core::units::Span;
use drivelab_io::results;
use drivelab_report::{html, terminal};
use drivelab_study::across;
use drivelab_study::experiment::Study;
use std::collections::BTreeSet;
use std::path::PathBuf;

/// The least time of a study on one target.
const TIME_MIN: u64 = 10_000_000_000;

/// Does the study on each target. Everything that can be refused is refused before the first of
/// them is touched.
pub fn study(
    options: &StudyCommandOptions,
    study: Study,
    sweep: Option<Sweep>,
) -> Result<Status, Failure> {
    let targets = &options.targets;
    if targets.iter().collect::<BTreeSet<_>>().len() < targets.len() {
        return Err(Failure::usage("a target is named twice among those to compare")
            .advise("`drivelab study aa TARGET` measures one drive as if it were two."));
    }
    if options.dry_run && options.shown.json {
        return Err(Failure::usage(
            "--dry-run --json prints the plan of one target, not of several",
        )
        .advise("Leave out --json, or name one target."));
    }
    if options.live.feed.is_some() || options.live.openmetrics.is_some() {
        return Err(Failure::usage("--feed and --openmetrics are for a study of one target")
            .advise("Leave them out, or name one target."));
    }
    // Equal seeds: what differs is the target and not the order of the loads.
    let seed = options.seed.unwrap_or_else(entropy::seed);
    if let Some(time) = options.time.filter(|time| time.0 / (targets.len() as u64) < TIME_MIN) {
        return Err(Failure::usage(format!(
            "--time is for the whole line: {time} are less than 10 s for each of {} targets",
            targets.len()
        ))
        .advise(format!("Give at least --time {}s.", 10 * targets.len())));
    }
    if !options.dry_run {
        options.shown.shown().is_possible()?;
    }
    // Of each run its verdict is shown below; the rest is in its file.
    let silent =
        Shown { page: Page::None, card: None, as_markdown: false, ..options.shown.shown() };
    let prepared: Vec<Prepared<'_>> = targets
        .iter()
        .map(|target| prepare(&for_target(options, target), study, target, silent, Some(seed)))
        .collect::<Result<_, _>>()?;
    if options.dry_run {
        for (target, one) in targets.iter().zip(&prepared) {
            print::text(&format!("# {target}\n"));
            super::dry_run(one)?;
        }
        return Ok(Status::Fine);
    }
    let mut runs: Vec<(&str, Run)> = Vec::new();
    let mut worst = Status::Fine;
    for (target, one) in targets.iter().zip(prepared) {
        announce(&one);
        let (ended, _) = one.measure()?;
        let run = ended.run.clone();
        let silent = Shown { as_json: true, ..silent };
        let status = results_shown(ended, silent, |_, _| Ok(()))?;
        if !options.shown.json {
            print::text(&format!("{target}: run {}\n", run.begin.run));
            print::text(&terminal::alarms(&run.warnings));
        }
        worst = graver(worst, status);
        runs.push((target, run));
        if status.is_interruption() {
            break;
        }
    }
    let together = show(options, study, &runs, sweep)?;
    Ok(graver(worst, together))
}

/// The line with its reference behind the targets, where it is none of them.
pub fn with_reference(options: &StudyCommandOptions) -> Option<StudyCommandOptions> {
    let reference = options.reference.clone().filter(|it| !options.targets.contains(it))?;
    let targets = [&options.targets[..], &[reference]].concat();
    Some(StudyCommandOptions { targets, ..options.clone() })
}

/// A device takes the token of its own among several, which are joined by commas, and its share of
/// the time.
fn for_target(options: &StudyCommandOptions, target: &str) -> StudyCommandOptions {
    let mut own = options.clone();
    let place = options.targets.iter().position(|known| known == target).unwrap_or(0);
    if let Some(tokens) = options.safety.erase.as_deref().filter(|it| it.contains(',')) {
        own.safety.erase = tokens.split(',').nth(place).map(String::from);
    }
    own.time = options.time.map(|time| Span(time.0 / options.targets.len().max(1) as u64));
    own
}

/// No valid answer weighs more than a bad finding, and an interruption most.
fn graver(one: Status, other: Status) -> Status {
    let weight = |status: Status| match status {
        Status::Fine => 0,
        Status::Finding => 1,
        status if status.is_interruption() => 3,
        _ => 2,
    };
    if weight(other) > weight(one) { other } else { one }
}

fn show(
    options: &StudyCommandOptions,
    study: Study,
    runs: &[(&str, Run)],
    sweep: Option<Sweep>,
) -> Result<Status, Failure> {
    let members: Vec<Member<'_>> =
        runs.iter().map(|(target, run)| Member { target, run }).collect();
    let sweep = sweep.map(|sweep| {
        // An interruption leaves values without a run.
        let values = sweep.values.into_iter().take(members.len()).collect();
        Sweep { values, ..sweep }
    });
    let findings = match &sweep {
        Some(sweep) => across::sweep::findings(&study, &members, sweep),
        None => across::findings(&study, &members),
    };
    print(options, study, &members, findings, sweep)
}

/// Prints what is said of these runs together, and writes the page of it; of no runs only where
/// one was asked for.
pub fn print(
    options: &StudyCommandOptions,
    study: Study,
    members: &[Member<'_>],
    findings: Findings,
    sweep: Option<Sweep>,
) -> Result<Status, Failure> {
    let gathering = Gathering {
        schema: SCHEMA,
        study: study.name.into(),
        question: study.question.into(),
        sweep,
        runs: members.iter().map(Gathered::of).collect(),
        findings,
    };
    // The runs that it is made of have told what is bad of each.
    let status = if gathering.findings.no_answer { Status::Invalid } else { Status::Fine };
    match options.shown.json {
        true => print::json(&gathering)?,
        false if members.is_empty() => print::text(&terminal::gathering_table(&gathering)),
        false => print::text(&format!("\n{}", terminal::gathering_table(&gathering))),
    }
    let by_default = |first: &Member<'_>| {
        PathBuf::from(format!("drivelab-{}-{}.html", study.name, first.run.begin.run))
    };
    let path = match (&options.shown.out, options.shown.json, members.first()) {
        (Some(path), ..) => path.clone(),
        (None, false, Some(first)) => by_default(first),
        (None, ..) => return Ok(status),
    };
    write_new(&path, Made::Html, results::marked(html::gathering(&gathering)).as_bytes())?;
    if !options.shown.json {
        print::text(&format!("\nReport   {}\n", path.display()));
    }
    Ok(status)
}

//! `drivelab sim sweep`: a line of `study` whose targets are one drive with one parameter varied.

use crate::bounded;
use crate::cli::sim::SimSweepOptions;
use crate::cli::{Command, CommandLine};
use crate::command::study;
use crate::outcome::{Failure, Status};
use clap::Parser;
use drivelab_core::gathering::Sweep;
use drivelab_sim::target::{PREFIX, SimTarget};
use drivelab_study::across::values::values;
use drivelab_study::experiment::Study;
use std::ffi::OsString;

/// Each drive of a sweep is of this size where nobody says otherwise: a quick study of more of it
/// writes too little for an answer.
const CAPACITY: &str = "512MiB";

/// Sweeps a parameter.
pub fn sweep(options: &SimSweepOptions) -> Result<Status, Failure> {
    let study = study::named(&options.study)?;
    refuse(&study)?;
    let (key, values, steps) = values(&options.range).map_err(Failure::usage)?;
    let drive = drive(&options.profile, &key, &values[0])?;
    let targets: Vec<String> =
        values.iter().map(|value| format!("{drive},{key}={value}")).collect();
    for target in &targets {
        parsed(target).map_err(Failure::usage)?;
    }
    let sweep = Sweep { key, values, steps, drive };
    let line = CommandLine::try_parse_from(line(options, &study, &targets))
        .map_err(|error| Failure::usage(error.render().to_string()))?;
    match &line.command {
        Command::Study(options) => study::swept(options, sweep),
        _ => Err(Failure::usage("a sweep is a line of `study`")),
    }
}

/// A study that asks about several targets at once has no number for one of them.
fn refuse(study: &Study) -> Result<(), Failure> {
    if study.needs.targets < 2 && study.across.is_none() {
        return Ok(());
    }
    Err(Failure::usage(format!(
        "`{}` asks about several drives at once, and a sweep needs a figure of each",
        study.name
    ))
    .advise("Name another study, such as:  --study wsat"))
}

fn parsed(target: &str) -> Result<SimTarget, String> {
    let read = |file: &str| {
        bounded::text(file, bounded::TEXT_BYTES_MAX)
            .map_err(|error| format!("cannot read the profile {file}: {error}"))
    };
    let target = SimTarget::parse(target, read)?;
    target.check()?;
    Ok(target)
}

/// The drive without the parameter; small where nobody says how large and it can be made so.
fn drive(profile: &str, key: &str, value: &str) -> Result<String, Failure> {
    let name = profile.strip_prefix(PREFIX).unwrap_or(profile);
    let drive = format!("{PREFIX}{name}");
    let is_given = |wanted: &str| {
        name.split(',').skip(1).any(|word| word.split('=').next().map(str::trim) == Some(wanted))
    };
    if is_given(key) {
        return Err(Failure::usage(format!(
            "{key}= is varied, and PROFILE gives it a value too: leave it out of `{profile}`"
        )));
    }
    let small = format!("{drive},capacity={CAPACITY}");
    let as_it_is = parsed(&format!("{drive},{key}={value}")).map_err(Failure::usage)?;
    let least = 512 << 20;
    let is_large = as_it_is.bytes().is_some_and(|bytes| bytes > least);
    let can_shrink = || parsed(&format!("{small},{key}={value}")).is_ok();
    match key != "capacity" && !is_given("capacity") && is_large && can_shrink() {
        true => Ok(small),
        false => Ok(drive),
    }
}

/// The line of `study` that does it.
fn line(options: &SimSweepOptions, study: &Study, targets: &[String]) -> Vec<OsString> {
    let mut words: Vec<OsString> = ["drivelab", "study", study.name].map(OsString::from).to_vec();
    words.extend(targets.iter().map(OsString::from));
    words.push("--quick".into());
    words.extend(options.json.then(|| "--json".into()));
    words.extend(options.dry_run.then(|| "--dry-run".into()));
    if let Some(seed) = options.seed {
        words.extend(["--seed".into(), seed.to_string().into()]);
    }
    for (option, path) in [("--out", &options.out), ("--runs", &options.store.runs)] {
        if let Some(path) = path {
            words.extend([option.into(), path.into()]);
        }
    }
    words
}

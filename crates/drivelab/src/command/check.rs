//! `drivelab check`: the main job.

use super::study::Studied;
use crate::cli::CheckOptions;
use crate::job::Job;
use crate::outcome::{Failure, Status};
use crate::ready::Ready;
use crate::shown::Shown;
use crate::target::{Kind, Missing};
use crate::{entropy, print};
use drivelab_core::study::StudyOptions;
use drivelab_report::units;
use drivelab_study::check::{self, uses};

/// Asks what the drive under the target can do, and what hurts.
pub fn check(options: &CheckOptions) -> Result<Status, Failure> {
    let terms = options.study.terms();
    let uses = asked_for(&options.uses)?;
    let (as_json, as_markdown) = (options.study.json, options.markdown);
    let shown = Shown {
        as_json,
        as_markdown,
        card: options.card.as_deref(),
        is_redacted: options.redact,
        ..Shown::with_page(as_json || as_markdown, options.out.as_deref())
    };
    let mut job = Job::new("check", &options.target, &terms, shown)?;
    let mut resolved = job.look(Missing::Refused { line: "check", takes_size: false })?;
    if resolved.kind == Kind::Directory && options.read_only {
        return Err(Failure::usage("--read-only needs a file or device that holds data").advise(
            "Name a file on it, or its device; or leave --read-only out where a scratch file of \
                 drivelab's own may be written.",
        ));
    }
    let mut asked = StudyOptions {
        name: check::STUDY.name.into(),
        seed: options.study.seed.unwrap_or_else(entropy::seed),
        budget: options.study.budget,
        time: options.time,
        read_only: options.read_only,
        cpus: options.study.cpus.clone(),
        bytes: resolved.file_bytes,
        uses,
        ..StudyOptions::default()
    };
    if resolved.kind == Kind::Directory {
        asked.bytes = check::scratch_bytes(&asked, &resolved.facts).map_err(Failure::usage)?;
        resolved.file_bytes = asked.bytes;
    }
    let inquiry = Studied { study: check::STUDY, options: asked, facts: resolved.facts.clone() };
    let first = inquiry.first(&resolved)?;
    let total = resolved.facts.target.filesystem.as_ref().and_then(|found| found.total_bytes);
    job.reserve_bytes = total.unwrap_or(0) / 10;
    job.study = Some(inquiry.options.clone());
    let mut ready = job.ready(resolved, first, inquiry)?;
    if options.study.dry_run {
        return dry_run(options, &ready);
    }
    announce(options, &ready);
    super::doctor::note_concerns(&mut ready)?;
    ready.finish()
}

/// The uses that `--for` names.
fn asked_for(words: &[String]) -> Result<Vec<String>, Failure> {
    let mut names: Vec<String> = Vec::new();
    for word in words {
        let found =
            uses::named(word.trim()).map_err(|(text, line)| Failure::usage(text).advise(line))?;
        names.extend(found.into_iter().map(Into::into));
    }
    names.dedup();
    Ok(names)
}

/// The first plan; the second is made for the bytes that the first really laid out.
fn dry_run(options: &CheckOptions, ready: &Ready<'_, Studied>) -> Result<Status, Failure> {
    let status = ready.print()?;
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
fn announce(options: &CheckOptions, ready: &Ready<'_, Studied>) {
    if print::stderr_is_terminal() {
        print::error(&format!(
            "checking {}: up to {} s, at most {} written, seed {}",
            options.target,
            options.time.seconds(),
            if options.read_only { "0 B".into() } else { units::size(options.study.budget.0) },
            ready.inquiry().options.seed
        ));
    }
}

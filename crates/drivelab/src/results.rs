//! The results of a run: printed, written as a page, and said how it ended.

use crate::card::card;
use crate::documents::Results;
use crate::outcome::{Failure, Status};
use crate::outputs::{Made, write_new};
use crate::print;
use crate::session::Ended;
use crate::shown::{Page, Shown};
use drivelab_core::claims::JudgedClaim;
use drivelab_core::quantity::counted;
use drivelab_core::run::{Run, StepRun};
use drivelab_core::sound::Sound;
use drivelab_core::summary::{Summary, summarise};
use drivelab_io::results::marked;
use drivelab_report::{Screen, card_markdown, html, redacted, terminal};
use drivelab_study::experiment::Presentation;
use drivelab_study::{accept, registry};
use std::path::{Path, PathBuf};

/// Prints what a run found, writes its HTML where that was asked for, says how it ended, and
/// only then removes its scratch: a file system that hangs must not swallow the results.
pub fn results(ended: Ended, shown: Shown<'_>) -> Result<Status, Failure> {
    results_shown(ended, shown, |run, summary| {
        if shown.as_json {
            return print_json(run, summary);
        }
        match card_markdown(run, summary).filter(|_| shown.as_markdown) {
            // A line of Markdown that is broken where the screen ends is no line of a table.
            Some(card) if !shown.is_aside => print::verbatim(&card),
            card => say(shown, &card.unwrap_or_else(|| in_words(run, summary))),
        }
        Ok(())
    })
}

/// The same with results that `show` prints, as JSON or as text; of several ranks rank 0
/// does.
pub fn results_shown(
    ended: Ended,
    shown: Shown<'_>,
    show: impl FnOnce(&Run, &Summary) -> Result<(), Failure>,
) -> Result<Status, Failure> {
    if !ended.ranks.is_rank_0() {
        ended.open_target.close();
        return Ok(ended.status);
    }
    let clean = match shown.is_redacted.then(|| redacted(&ended.run)).transpose() {
        Ok(clean) => clean,
        Err(error) => {
            ended.open_target.close();
            return Err(Failure::invalid(error));
        }
    };
    let run = clean.as_ref().unwrap_or(&ended.run);
    let summary = summarise(run);
    let html = match shown.page {
        Page::None => None,
        Page::Default if run.findings.is_none() => None,
        Page::Default => Some(write_html(run, &summary, None)),
        Page::At(path) => Some(write_html(run, &summary, Some(path))),
    };
    // Of a study that was broken off nobody wants all tables: they are one line away.
    let is_broken_off = ended.status.is_interruption()
        && run.begin.study.is_some()
        && ended.path.is_some()
        && !shown.as_json;
    let card = shown.card.and_then(|path| write_card(run, &summary, path));
    if is_broken_off {
        say(shown, &broken_off(run, &summary));
    } else {
        show(run, &summary)?;
    }
    if !shown.as_json && !shown.as_markdown && !is_broken_off {
        let mut places = Vec::new();
        places.extend(html.iter().flatten().map(|path| format!("Report   {}", path.display())));
        places.extend(card.iter().flatten().map(|path| format!("Card     {}", path.display())));
        places.extend(ended.path.iter().map(|_| format!("Run      {}", run.begin.run)));
        places.extend(ended.open_target.kept().map(|path| format!("Kept     {}", path.display())));
        if !places.is_empty() {
            let in_one = places.join("      ");
            let fits = in_one.chars().count() <= Screen::current().columns;
            say(shown, &format!("\n{}\n", if fits { in_one } else { places.join("\n") }));
        }
    }
    if let Some(failure) = &ended.failure {
        print::failure(failure);
    } else if ended.status.is_interruption() && !is_broken_off {
        print::error("drivelab: interrupted; what was measured until then is kept");
    }
    if ended.stuck && drivelab_io::sensors::held_threads(&drivelab_io::facts::System::live()) > 0 {
        print::error("  The kernel holds this process until the operation comes back.");
    }
    ended.open_target.close();
    html.transpose()?;
    card.transpose()?;
    Ok(ended.status)
}

/// Prints text where it belongs.
fn say(shown: Shown<'_>, text: &str) {
    match shown.is_aside {
        true => print::error(text.trim_end()),
        false => print::text(text),
    }
}

/// What was measured until the interruption, where it is, and how to go on.
fn broken_off(run: &Run, summary: &Summary) -> String {
    let begin = &run.begin;
    let done = run.steps.iter().filter(|step| is_done(step)).count();
    let whole = summary.cells.iter().filter(|cell| cell.incomplete < cell.repetitions);
    let suspect = whole.clone().filter(|cell| cell.valid == Some(false)).count();
    let suspect = match suspect {
        0 => String::new(),
        count => format!(", {count} of them SUSPECT"),
    };
    let cells = counted(whole.count() as u64, "cell");
    format!(
        "Interrupted  after {}: {cells} measured so far{suspect}\n\
         Figures      drivelab runs {}\n\
         To go on     drivelab resume {}\n",
        counted(done as u64, "step"),
        begin.run,
        begin.run
    ) + match begin.arguments.iter().any(|word| word.starts_with("--erase")) {
        true => "             with --erase and the token that it prints, once more\n",
        false => "",
    }
}

fn is_done(step: &StepRun) -> bool {
    step.end.as_ref().is_some_and(|end| end.incomplete.is_none())
}

/// The results as text.
pub fn in_words(run: &Run, summary: &Summary) -> String {
    let facts = &run.begin.facts;
    match (&run.findings, presentation(run)) {
        (_, Some(Presentation::Claims)) => terminal::claims_table(summary, &claims(run), facts),
        (Some(findings), Some(Presentation::Findings)) => {
            terminal::study_table(summary, findings, facts)
        }
        (Some(findings), _) => terminal::check_table(summary, findings, facts),
        (None, _) => terminal::run_summary(summary, &run.begin),
    }
}

/// The results as one JSON object.
pub fn print_json(run: &Run, summary: &Summary) -> Result<(), Failure> {
    let is_of_claims = presentation(run) == Some(Presentation::Claims);
    print::json(&Results { summary, claims: is_of_claims.then(|| claims(run)) })
}

/// How the study of a run lays out its answer. A study that this drivelab does not know is like
/// most.
fn presentation(run: &Run) -> Option<Presentation> {
    let options = run.begin.study.as_ref()?;
    let known = registry::of_run(options).ok();
    Some(known.map_or(Presentation::Findings, |study| study.presentation))
}

/// What was said of each claim.
fn claims(run: &Run) -> Vec<JudgedClaim> {
    let claims = run.begin.study.as_ref().map(accept::claims).unwrap_or_default();
    let sound = Sound::of(run, accept::RULES);
    accept::judged(&claims, &run.begin.facts, sound.summary())
}

/// Writes the HTML to `out`, by default to `drivelab-ID.html` in the current directory. Only a
/// report is ever replaced: a typing error must not cost a file, let alone a device.
pub fn write_html(run: &Run, summary: &Summary, out: Option<&Path>) -> Result<PathBuf, Failure> {
    let name = || PathBuf::from(format!("drivelab-{}.html", run.begin.run));
    let path = out.map_or_else(name, Path::to_path_buf);
    write_new(&path, Made::Html, &page_of(run, summary))?;
    Ok(path)
}

/// Writes the card of a check; `None`: the run has none, for it was broken off.
fn write_card<'a>(
    run: &Run,
    summary: &Summary,
    path: &'a Path,
) -> Option<Result<&'a Path, Failure>> {
    let card = card(run, summary, path).transpose()?;
    Some(card.and_then(|card| write_new(path, Made::Card, &card)).map(|()| path))
}

/// The page of a run, with drivelab's mark.
pub fn page_of(run: &Run, summary: &Summary) -> Vec<u8> {
    marked(html::page(run, summary)).into_bytes()
}

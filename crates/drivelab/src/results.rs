//! The results of a run: printed, written as a page, and said how it ended.

use crate::outcome::{Failure, Status};
use crate::outputs::{Made, write_new};
use crate::print;
use crate::session::Ended;
use crate::shown::{Page, Shown};
use drivelab_core::claims::JudgedClaim;
use drivelab_core::run::Run;
use drivelab_core::sound::Sound;
use drivelab_core::summary::{Summary, summarise};
use drivelab_io::results::marked;
use drivelab_report::{html, terminal};
use drivelab_study::experiment::Presentation;
use drivelab_study::{accept, registry};
use std::path::{Path, PathBuf};

/// Prints what a run found, writes its HTML where that was asked for, says how it ended, and
/// only then removes its scratch: a file system that hangs must not swallow the results.
pub fn results(ended: Ended, shown: Shown<'_>) -> Result<Status, Failure> {
    results_shown(ended, shown, |run, summary| match shown.as_json {
        true => print_json(run, summary),
        false => {
            print::text(&in_words(run, summary));
            Ok(())
        }
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
    let summary = summarise(&ended.run);
    let html = match shown.page {
        Page::None => None,
        Page::Default if ended.run.findings.is_none() => None,
        Page::Default => Some(write_html(&ended.run, &summary, None)),
        Page::At(path) => Some(write_html(&ended.run, &summary, Some(path))),
    };
    show(&ended.run, &summary)?;
    if !shown.as_json {
        let mut places = Vec::new();
        places.extend(html.iter().flatten().map(|path| format!("Report   {}", path.display())));
        places.extend(ended.path.iter().map(|_| format!("Run      {}", ended.run.begin.run)));
        places.extend(ended.open_target.kept().map(|path| format!("Kept     {}", path.display())));
        if !places.is_empty() {
            print::text(&format!("\n{}\n", places.join("      ")));
        }
    }
    if let Some(failure) = &ended.failure {
        print::failure(failure);
    } else if ended.status.is_interruption() {
        print::error("drivelab: interrupted; what was measured until then is kept");
    }
    if ended.stuck && drivelab_io::sensors::held_threads(&drivelab_io::facts::System::live()) > 0 {
        print::error("  The kernel holds this process until the operation comes back.");
    }
    ended.open_target.close();
    html.transpose()?;
    Ok(ended.status)
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
    if presentation(run) != Some(Presentation::Claims) {
        return print::json(summary);
    }
    let failed =
        |error: serde_json::Error| Failure::invalid(format!("the results fit no JSON: {error}"));
    let mut object = serde_json::to_value(summary).map_err(failed)?;
    object["claims"] = serde_json::to_value(claims(run)).map_err(failed)?;
    print::json(&object)
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

/// The page of a run, with drivelab's mark.
pub fn page_of(run: &Run, summary: &Summary) -> Vec<u8> {
    marked(html::page(run, summary)).into_bytes()
}

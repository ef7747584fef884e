//! `drivelab report`, and the results at the end of every run.

use crate::cli::ReportOptions;
use crate::job::{Page, Shown};
use crate::outcome::{Failure, Status};
use crate::session::Ended;
use crate::{print, store};
use drivelab_core::claims::JudgedClaim;
use drivelab_core::run::Run;
use drivelab_core::sound::Sound;
use drivelab_core::summary::{Summary, summarise};
use drivelab_io::results::{self, There};
use drivelab_io::team::team;
use drivelab_report::{csv, html, markdown, redacted, terminal, xlsx};
use drivelab_study::experiment::Presentation;
use drivelab_study::{accept, registry};
use std::io::ErrorKind;
use std::path::{Path, PathBuf};

/// Shows a run again: as HTML, Markdown, CSV, a workbook or JSON, with or without the names in it.
pub fn report(options: &ReportOptions) -> Result<Status, Failure> {
    let directory = store::directory(options.store.runs.as_deref())?;
    let path = store::locate(&options.run, &directory)?;
    let mut run = store::reader::read(&path)?;
    if options.redact {
        run = redacted(&run).map_err(Failure::invalid)?;
    }
    let summary = summarise(&run);
    let out = options.out.as_deref();
    let others = [
        (Made::Markdown, options.markdown.as_deref()),
        (Made::Csv, options.csv.as_deref()),
        (Made::Workbook, options.xlsx.as_deref()),
    ];
    may_replace(out, Made::Html)?;
    for (made, path) in others {
        may_replace(path, made)?;
    }
    match options.json {
        true => as_json(&run, &summary)?,
        false => print::text(&in_words(&run, &summary)),
    }
    let mut places = Vec::new();
    let is_other = options.json || others.iter().any(|(_, path)| path.is_some());
    if out.is_some() || !is_other {
        let written = write_html(&run, &summary, out)?;
        places.push(format!("Report   {}", written.display()));
    }
    for (made, path) in others {
        let Some(path) = path else { continue };
        write_new(path, made, &rendered(made, &run, &summary)?)?;
        places.push(format!("{:<8} {}", made.label(), path.display()));
    }
    if !options.json && !places.is_empty() {
        print::text(&format!("\n{}\n", places.join("\n")));
    }
    Ok(Status::Fine)
}

/// A run as a file of this kind.
fn rendered(made: Made, run: &Run, summary: &Summary) -> Result<Vec<u8>, Failure> {
    Ok(match made {
        Made::Html => results::marked(html::page(run, summary)).into_bytes(),
        Made::Markdown => markdown(run, summary).into_bytes(),
        Made::Csv => csv(summary).into_bytes(),
        Made::Workbook => xlsx(run, summary).map_err(Failure::invalid)?,
    })
}

/// Prints what a run found, writes its HTML where that was asked for, says how it ended, and
/// only then removes its scratch: a file system that hangs must not swallow the results.
pub fn results(ended: Ended, shown: Shown<'_>) -> Result<Status, Failure> {
    results_shown(ended, shown, |run, summary| match shown.as_json {
        true => as_json(run, summary),
        false => {
            print::text(&in_words(run, summary));
            Ok(())
        }
    })
}

/// The same with results that `show` prints, as JSON or as text; of several processes the first
/// one does.
pub fn results_shown(
    ended: Ended,
    shown: Shown<'_>,
    show: impl FnOnce(&Run, &Summary) -> Result<(), Failure>,
) -> Result<Status, Failure> {
    if !team().leads() {
        ended.scene.close();
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
        places.extend(ended.scene.kept().map(|path| format!("Kept     {}", path.display())));
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
    ended.scene.close();
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
fn as_json(run: &Run, summary: &Summary) -> Result<(), Failure> {
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
    write_new(&path, Made::Html, &rendered(Made::Html, run, summary)?)?;
    Ok(path)
}

/// The kinds of files that a report can be.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub enum Made {
    Html,
    Markdown,
    Csv,
    Workbook,
}

impl Made {
    fn word(self) -> &'static str {
        match self {
            Made::Html => "report",
            Made::Markdown => "Markdown",
            Made::Csv => "CSV",
            Made::Workbook => "workbook",
        }
    }

    /// What stands before its path where the files are listed.
    fn label(self) -> &'static str {
        match self {
            Made::Html => "Report",
            Made::Markdown => "Markdown",
            Made::Csv => "CSV",
            Made::Workbook => "Workbook",
        }
    }

    fn option(self) -> &'static str {
        match self {
            Made::Html => "--out",
            Made::Markdown => "--markdown",
            Made::Csv => "--csv",
            Made::Workbook => "--xlsx",
        }
    }
}

/// Writes a file of its own, or in the place of one that drivelab made.
pub fn write_new(path: &Path, made: Made, bytes: &[u8]) -> Result<(), Failure> {
    if is_stdout(path) {
        print::bytes(bytes);
        return Ok(());
    }
    let list = store::results(None).ok();
    results::write(path, bytes, list.as_ref()).map_err(|error| match error.kind() {
        ErrorKind::AlreadyExists => foreign(path, made),
        _ => unwritable(path, made, &error),
    })
}

/// Refuses to replace anything but a report; asked before a run, and again when it is written.
pub fn may_write(out: Option<&Path>) -> Result<(), Failure> {
    may_replace(out, Made::Html)
}

fn may_replace(out: Option<&Path>, made: Made) -> Result<(), Failure> {
    let Some(path) = out.filter(|path| !is_stdout(path)) else { return Ok(()) };
    let list = store::results(None).ok();
    let there = results::look(path, list.as_ref());
    let there = there.map_err(|error| unwritable(path, made, &error))?;
    if matches!(there, There::Foreign | There::NoFile) {
        return Err(foreign(path, made));
    }
    results::try_out(path, there).map_err(|error| unwritable(path, made, &error))
}

fn is_stdout(path: &Path) -> bool {
    path == Path::new("/dev/stdout")
}

fn foreign(path: &Path, made: Made) -> Failure {
    let shown = path.display();
    let text = format!("refused: {shown} exists and is no {} as drivelab wrote it.", made.word());
    let advice = format!("Nothing was written. Name another file with {} FILE.", made.option());
    Failure::refused(text).advise(advice)
}

fn unwritable(path: &Path, made: Made, error: &std::io::Error) -> Failure {
    Failure::usage(format!("cannot write the {} {}: {error}", made.word(), path.display()))
        .advise(format!("Name another file with {} FILE.", made.option()))
}

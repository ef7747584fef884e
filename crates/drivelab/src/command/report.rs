//! `drivelab report`, and the results at the end of every run.

use crate::cli::ReportOptions;
use crate::outcome::{Failure, Status};
use crate::session::Ended;
use crate::{print, store};
use drivelab_core::run::Run;
use drivelab_core::summary::{Summary, summarise};
use drivelab_report::{html, terminal};
use std::path::{Path, PathBuf};

/// Writes the HTML of a run again, or prints it as JSON.
pub fn report(options: &ReportOptions) -> Result<Status, Failure> {
    let directory = store::directory(options.store.runs.as_deref())?;
    let path = store::locate(&options.run, &directory)?;
    let run = store::reader::read(&path)?;
    let summary = summarise(&run);
    if options.json {
        print::json(&summary)?;
        return Ok(Status::Fine);
    }
    print::text(&in_words(&run, &summary));
    let written = write_html(&run, &summary, options.out.as_deref())?;
    print::text(&format!("\nReport   {}\n", written.display()));
    Ok(Status::Fine)
}

/// Prints what a run found, writes its HTML where that was asked for, and says how it ended.
pub fn results(ended: &Ended, json: bool, out: Option<&Path>) -> Result<Status, Failure> {
    let summary = summarise(&ended.run);
    let html = out.map(|out| write_html(&ended.run, &summary, Some(out)));
    if json {
        print::json(&summary)?;
    } else {
        print::text(&in_words(&ended.run, &summary));
        let mut places = Vec::new();
        places.extend(html.iter().flatten().map(|path| format!("Report   {}", path.display())));
        places.extend(ended.path.iter().map(|_| format!("Run      {}", ended.run.begin.run)));
        print::text(&format!("\n{}\n", places.join("      ")));
    }
    if let Some(failure) = &ended.failure {
        print::error(&failure.to_string());
    } else if ended.status == Status::Interrupted {
        print::error("drivelab: interrupted; what was measured until then is kept");
    }
    html.transpose()?;
    Ok(ended.status)
}

/// The results as text.
pub fn in_words(run: &Run, summary: &Summary) -> String {
    match &run.findings {
        Some(findings) => terminal::check_table(summary, findings, &run.begin.facts),
        None => terminal::run_summary(summary),
    }
}

/// Writes the HTML to `out`, by default to `drivelab-ID.html` in the current directory.
pub fn write_html(run: &Run, summary: &Summary, out: Option<&Path>) -> Result<PathBuf, Failure> {
    let name = || PathBuf::from(format!("drivelab-{}.html", run.begin.run));
    let path = out.map_or_else(name, Path::to_path_buf);
    std::fs::write(&path, html::page(run, summary)).map_err(|error| {
        Failure::usage(format!("cannot write the report {}: {error}", path.display()))
            .advise("Name another file with --out FILE.")
    })?;
    Ok(path)
}

//! `drivelab report`, and the results at the end of every run.

use crate::cli::ReportOptions;
use crate::outcome::{Failure, Status};
use crate::session::Ended;
use crate::{print, store};
use drivelab_core::run::Run;
use drivelab_core::summary::{Summary, summarise};
use drivelab_report::{html, terminal};
use std::fs::File;
use std::io::{Read, Write};
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
    may_write(options.out.as_deref())?;
    print::text(&in_words(&run, &summary));
    let written = write_html(&run, &summary, options.out.as_deref())?;
    print::text(&format!("\nReport   {}\n", written.display()));
    Ok(Status::Fine)
}

/// How far a file is read to see whether it is a report.
const REPORT_BYTES_READ: u64 = 1 << 24;

/// Where the HTML of a run goes.
#[derive(Debug, Clone, Copy)]
pub enum Page<'a> {
    /// Nowhere.
    None,
    /// `drivelab-ID.html` in the current directory.
    Default,
    /// This file.
    At(&'a Path),
}

/// Prints what a run found, writes its HTML where that was asked for, says how it ended, and
/// only then removes its scratch: a file system that hangs must not swallow the results.
pub fn results(ended: Ended, json: bool, page: Page<'_>) -> Result<Status, Failure> {
    let summary = summarise(&ended.run);
    let html = match page {
        Page::None => None,
        Page::Default => Some(write_html(&ended.run, &summary, None)),
        Page::At(path) => Some(write_html(&ended.run, &summary, Some(path))),
    };
    if json {
        print::json(&summary)?;
    } else {
        print::text(&in_words(&ended.run, &summary));
        let mut places = Vec::new();
        places.extend(html.iter().flatten().map(|path| format!("Report   {}", path.display())));
        places.extend(ended.path.iter().map(|_| format!("Run      {}", ended.run.begin.run)));
        places.extend(ended.scene.kept().map(|path| format!("Kept     {}", path.display())));
        if !places.is_empty() {
            print::text(&format!("\n{}\n", places.join("      ")));
        }
    }
    if let Some(failure) = &ended.failure {
        print::error(&failure.to_string());
    } else if ended.status == Status::Interrupted {
        print::error("drivelab: interrupted; what was measured until then is kept");
    }
    if ended.stuck {
        print::error("  The kernel holds this process until the operation comes back.");
    }
    ended.scene.close();
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

/// Writes the HTML to `out`, by default to `drivelab-ID.html` in the current directory. Only a
/// report is ever replaced: a typing error must not cost a file, let alone a device.
pub fn write_html(run: &Run, summary: &Summary, out: Option<&Path>) -> Result<PathBuf, Failure> {
    let name = || PathBuf::from(format!("drivelab-{}.html", run.begin.run));
    let path = out.map_or_else(name, Path::to_path_buf);
    let failed = |error: std::io::Error| {
        Failure::usage(format!("cannot write the report {}: {error}", path.display()))
            .advise("Name another file with --out FILE.")
    };
    may_write(Some(&path))?;
    if std::fs::symlink_metadata(&path).is_ok() {
        std::fs::remove_file(&path).map_err(failed)?;
    }
    let page = html::page(run, summary);
    let mut file = File::create_new(&path).map_err(failed)?;
    file.write_all(page.as_bytes()).map_err(failed)?;
    Ok(path)
}

/// Refuses to replace anything but a report; asked before a run, and again when it is written.
pub fn may_write(out: Option<&Path>) -> Result<(), Failure> {
    let Some(path) = out.filter(|path| std::fs::symlink_metadata(path).is_ok()) else {
        return Ok(());
    };
    if is_report(path) {
        return Ok(());
    }
    let text = format!("refused: {} exists and is no report of drivelab.", path.display());
    Err(Failure::refused(text).advise("Nothing was written. Name another file with --out FILE."))
}

/// Whether this is a regular file that looks like every report.
fn is_report(path: &Path) -> bool {
    let mut begin = Vec::new();
    let is_file = std::fs::symlink_metadata(path).is_ok_and(|found| found.is_file());
    if !is_file
        || File::open(path)
            .and_then(|file| file.take(REPORT_BYTES_READ).read_to_end(&mut begin))
            .is_err()
    {
        return false;
    }
    let begin = String::from_utf8_lossy(&begin).to_lowercase();
    begin.starts_with("<!doctype html") && begin.contains("drivelab")
}

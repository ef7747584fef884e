//! `drivelab report`: a run that was made, once more.

use crate::card::card;
use crate::cli::ReportOptions;
use crate::outcome::{Failure, Status};
use crate::outputs::{Made, may_replace, may_write_card, write_new};
use crate::results::{in_words, page_of, print_json, write_html};
use crate::{print, store};
use drivelab_core::run::Run;
use drivelab_core::summary::{Summary, summarise};
use drivelab_report::{csv, histograms_csv, markdown, redacted, series_csv, xlsx};
use std::path::Path;

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
    let asked = [
        (Made::Markdown, options.markdown.as_deref()),
        (Made::Csv, options.csv.as_deref()),
        (Made::Series, options.series.as_deref()),
        (Made::Histograms, options.histograms.as_deref()),
        (Made::Workbook, options.xlsx.as_deref()),
        (Made::Card, options.card.as_deref()),
    ];
    let dashes = asked.iter().filter(|(_, path)| *path == Some(Path::new(DASH))).count();
    if dashes + usize::from(options.json) > 1 && dashes > 0 {
        return Err(Failure::usage("two of these outputs are to be printed on stdout")
            .advise("Name a file for all but one, such as:  --markdown run.md"));
    }
    let others = asked.map(|(made, path)| (made, path.map(or_stdout)));
    may_write_card(options.card.as_deref())?;
    may_replace(out, Made::Html)?;
    for (made, path) in others {
        may_replace(path, made)?;
    }
    match options.json {
        true => print_json(&run, &summary)?,
        false if dashes > 0 => {}
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
        write_new(path, made, &rendered(made, &run, &summary, path)?)?;
        places.push(format!("{:<8} {}", made.label(), path.display()));
    }
    if !options.json && dashes == 0 && !places.is_empty() {
        print::text(&format!("\n{}\n", places.join("\n")));
    }
    Ok(Status::Fine)
}

/// What is printed in place of the text.
const DASH: &str = "-";

fn or_stdout(path: &Path) -> &Path {
    if path == Path::new(DASH) { Path::new("/dev/stdout") } else { path }
}

/// A run as a file of this kind.
fn rendered(made: Made, run: &Run, summary: &Summary, path: &Path) -> Result<Vec<u8>, Failure> {
    Ok(match made {
        Made::Html => page_of(run, summary),
        Made::Markdown => markdown(run, summary).into_bytes(),
        Made::Csv => csv(summary).into_bytes(),
        Made::Series => series_csv(run, summary).into_bytes(),
        Made::Histograms => histograms_csv(run, summary).into_bytes(),
        Made::Workbook => xlsx(run, summary).map_err(Failure::invalid)?,
        Made::Feed | Made::Metrics => {
            return Err(Failure::usage("it is written while a run lasts"));
        }
        Made::Card => card(run, summary, path)?.ok_or_else(|| {
            Failure::usage(format!("{} has no card: only a check that ended has one", summary.run))
                .advise("Make one:  drivelab check --card card.svg")
        })?,
    })
}

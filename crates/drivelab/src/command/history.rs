//! `drivelab history`: one drive over all its runs.

use crate::cli::HistoryOptions;
use crate::outcome::{Failure, Status};
use crate::{print, store};
use drivelab_core::record::Begin;
use drivelab_core::summary::{SCHEMA, summarise};
use drivelab_io::facts::{System, gather};
use drivelab_report::terminal::history_table;
use drivelab_study::history::{Gathering, drive_of};
use std::collections::BTreeMap;
use std::path::{Path, PathBuf};

/// Follows the figures of one drive, or lists the drives of which runs are kept.
pub fn history(options: &HistoryOptions) -> Result<Status, Failure> {
    let directory = store::directory(options.store.runs.as_deref())?;
    let begun = begun(&directory)?;
    let Some(asked) = &options.drive else { return list(&begun, options.json) };
    let drive = drive_asked(asked, &begun).ok_or_else(|| {
        Failure::usage(format!("no run is kept here of a drive `{asked}`"))
            .advise("`drivelab history` lists the drives of which there are runs.")
    })?;
    let mut gathering = Gathering::of(&drive);
    for (path, begin) in begun.iter().filter(|(_, begin)| key(begin) == drive) {
        // A run that cannot be read in full is one that `drivelab runs` names.
        if let Ok(run) = store::reader::read(path) {
            gathering.take(begin, &summarise(&run));
        }
    }
    let history = gathering.finish();
    match options.json {
        true => print::json(&serde_json::json!({ "schema": SCHEMA, "history": history }))?,
        false => print::text(&history_table(&history)),
    }
    Ok(Status::Fine)
}

/// The first records of all runs that can be read, oldest first; of those that began in one second
/// the one that was written last comes last.
fn begun(directory: &Path) -> Result<Vec<(PathBuf, Begin)>, Failure> {
    let changed = |path: &Path| std::fs::metadata(path).and_then(|found| found.modified()).ok();
    let read = |id: String| {
        let path = directory.join(format!("{id}.jsonl"));
        let begin = store::reader::begin(&path).ok()?;
        Some((id.get(..15).map(String::from), changed(&path), path, begin))
    };
    let mut found: Vec<_> = store::ids(directory)?.into_iter().filter_map(read).collect();
    found.sort_by(|one, other| (&one.0, one.1).cmp(&(&other.0, other.1)));
    Ok(found.into_iter().map(|(_, _, path, begin)| (path, begin)).collect())
}

fn key(begin: &Begin) -> String {
    drive_of(&begin.facts, &begin.target)
}

/// The drive that was meant: by its name here, by a target as it was typed, or by a path on it.
fn drive_asked(asked: &str, begun: &[(PathBuf, Begin)]) -> Option<String> {
    let is_known = |drive: &str| begun.iter().any(|(_, begin)| key(begin) == drive);
    if is_known(asked) {
        return Some(asked.to_owned());
    }
    let below = Path::new(asked)
        .exists()
        .then(|| drive_of(&gather(&System::live(), Path::new(asked)), asked))
        .filter(|drive| is_known(drive));
    let typed = || begun.iter().rev().find(|(_, begin)| begin.target == asked);
    below.or_else(|| typed().map(|(_, begin)| key(begin)))
}

fn list(begun: &[(PathBuf, Begin)], as_json: bool) -> Result<Status, Failure> {
    let mut drives: BTreeMap<String, Vec<&Begin>> = BTreeMap::new();
    for (_, begin) in begun {
        drives.entry(key(begin)).or_default().push(begin);
    }
    let model =
        |begin: &Begin| begin.facts.target.devices.last().and_then(|device| device.model.clone());
    if as_json {
        let rows: Vec<_> = drives
            .iter()
            .map(|(drive, runs)| {
                let (first, last) = (runs[0], runs[runs.len() - 1]);
                serde_json::json!({
                    "drive": drive, "model": model(last), "runs": runs.len(),
                    "first": first.started_at, "last": last.started_at,
                })
            })
            .collect();
        print::json(&serde_json::json!({ "schema": SCHEMA, "drives": rows }))?;
        return Ok(Status::Fine);
    }
    if drives.is_empty() {
        print::text("no run is stored here yet; `drivelab check` makes one\n");
    }
    for (drive, runs) in &drives {
        let day = |begin: &Begin| begin.started_at.get(..10).unwrap_or_default().to_owned();
        let (first, last) = (day(runs[0]), day(runs[runs.len() - 1]));
        let model = model(runs[runs.len() - 1]).map_or(String::new(), |it| format!("  ({it})"));
        let line = format!("{drive}{model}  ·  {} runs, {first} to {last}\n", runs.len());
        print::text(&drivelab_report::harmless(&line));
    }
    Ok(Status::Fine)
}

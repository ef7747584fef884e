//! `drivelab history`: one drive over all its runs.

use crate::cli::HistoryOptions;
use crate::documents::{Drives, FollowedDrive, OneHistory};
use crate::outcome::{Failure, Status};
use crate::{print, store};
use drivelab_core::record::Begin;
use drivelab_core::summary::summarise;
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
        let Ok(run) = store::reader::read(path) else { continue };
        match run.end.as_ref().is_some_and(|end| end.complete) {
            true => gathering.take(begin, &summarise(&run)),
            false => gathering.leave_out(),
        }
    }
    let history = gathering.finish();
    match options.json {
        true => print::document(OneHistory { history })?,
        false => print::text(&history_table(&history)),
    }
    Ok(Status::Fine)
}

/// The first records of all runs that can be read, oldest first; of those that began in one second
/// the one that was written last comes last.
fn begun(directory: &Path) -> Result<Vec<(PathBuf, Begin)>, Failure> {
    let changed = |path: &Path| std::fs::metadata(path).and_then(|found| found.modified()).ok();
    let mut found = store::begun(directory)?;
    // To the second, as their names have it.
    found
        .sort_by_cached_key(|(path, begin)| (begin.run.get(..15).map(String::from), changed(path)));
    Ok(found)
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
    let node = Path::new("/dev").join(asked);
    let path = Some(Path::new(asked)).filter(|path| path.exists()).unwrap_or(&node);
    let below = path
        .exists()
        .then(|| drive_of(&gather(&System::live(), path), asked))
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
        let row = |(drive, runs): (&String, &Vec<&Begin>)| {
            let (first, last) = (runs[0], runs[runs.len() - 1]);
            FollowedDrive {
                drive: drive.clone(),
                model: model(last),
                runs: runs.len(),
                first: first.started_at.clone(),
                last: last.started_at.clone(),
            }
        };
        print::document(Drives { drives: drives.iter().map(row).collect() })?;
        return Ok(Status::Fine);
    }
    if drives.is_empty() {
        print::text("no run is stored here yet; `drivelab check` makes one\n");
    }
    for (drive, runs) in &drives {
        let day = |begin: &Begin| begin.started_at.get(..10).unwrap_or_default().to_owned();
        let (first, last) = (day(runs[0]), day(runs[runs.len() - 1]));
        // A serial number alone is not what the drive is called elsewhere.
        let last_run = runs[runs.len() - 1];
        let kernel_name = last_run.facts.target.devices.last().map(|device| device.name.clone());
        let model = model(last_run).or(kernel_name).map_or(String::new(), |it| format!("  ({it})"));
        let line = match runs.len() {
            1 => format!("{drive}{model}  ·  1 run, {first}\n"),
            count => format!("{drive}{model}  ·  {count} runs, {first} to {last}\n"),
        };
        print::text(&drivelab_report::harmless(&line));
    }
    Ok(Status::Fine)
}

//! `drivelab runs`: the history, or one run in full.

use crate::cli::{RunsAction, RunsOptions};
use crate::command::prune::prune;
use crate::documents::{KeptRun, RunList};
use crate::outcome::{Failure, Status};
use crate::results::{in_words, print_json};
use crate::{print, store};
use drivelab_core::plan::Role;
use drivelab_core::summary::summarise;
use drivelab_report::terminal::{RunRow, runs_table};
use std::path::Path;

/// Lists runs, or shows one.
pub fn runs(options: &RunsOptions) -> Result<Status, Failure> {
    if let Some(RunsAction::Prune(asked)) = &options.action {
        return prune(asked);
    }
    let directory = store::directory(options.store.runs.as_deref())?;
    if let Some(name) = &options.run {
        let run = store::reader::read(&store::locate(name, &directory)?)?;
        let summary = summarise(&run);
        match options.json {
            true => print_json(&run, &summary)?,
            false => print::text(&in_words(&run, &summary)),
        }
        return Ok(Status::Fine);
    }
    let rows = store::ids(&directory)?.into_iter().map(|id| row(&directory, &id));
    let rows: Vec<RunRow> = rows.filter(|row| is_asked_for(row, options.tag.as_deref())).collect();
    match options.json {
        true => print::document(RunList { runs: rows.iter().map(KeptRun::from).collect() })?,
        false => print::text(&runs_table(&rows)),
    }
    Ok(Status::Fine)
}

fn is_asked_for(row: &RunRow, tag: Option<&str>) -> bool {
    tag.is_none_or(|asked| row.tag.as_deref().is_some_and(|tag| tag.contains(asked)))
}

fn row(directory: &Path, id: &str) -> RunRow {
    match store::reader::read(&directory.join(format!("{id}.jsonl"))) {
        Ok(run) => {
            let measured = |step: &&drivelab_core::run::StepRun| {
                step.begin.role == Role::Measure && step.end.is_some()
            };
            RunRow {
                run: id.to_string(),
                started_at: run.begin.started_at.clone(),
                command: run.begin.command.clone(),
                target: run.begin.target.clone(),
                tag: run.begin.tag.clone(),
                complete: run.complete(),
                steps: run.steps.iter().filter(measured).count(),
                unreadable: None,
            }
        }
        Err(failure) => {
            RunRow { run: id.to_string(), unreadable: Some(failure.text), ..RunRow::default() }
        }
    }
}

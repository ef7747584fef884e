//! The file of `--saveRankPerformanceDetails`: what all tasks did together, and each of them.

use super::Options;
use super::plan::Phase;
use crate::parallel::number::scientific;
use crate::parallel::tasks::{self, between, earliest, latest, per_second};
use drivelab_core::run::Run;

/// Its columns; those without a phase are of what is not done here.
const COLUMNS: [(&str, Option<Phase>); 11] = [
    ("Directory creation", Some(Phase::DirectoryCreation)),
    ("Directory stat", Some(Phase::DirectoryStat)),
    ("Directory read", None),
    ("Directory rename", None),
    ("Directory removal", Some(Phase::DirectoryRemoval)),
    ("File creation", Some(Phase::FileCreation)),
    ("File stat", Some(Phase::FileStat)),
    ("File read", Some(Phase::FileRead)),
    ("File removal", Some(Phase::FileRemoval)),
    ("Tree creation", Some(Phase::TreeCreation)),
    ("Tree removal", Some(Phase::TreeRemoval)),
];
/// As many of them are of each task.
const OF_TASKS: usize = 9;

/// Items and seconds.
type Figures = (f64, f64);

/// What one phase of one iteration came to.
#[derive(Clone, Default)]
struct Done {
    all: Figures,
    tasks: Vec<Figures>,
}

/// The whole file: a row of all for each number of tasks, and behind it one of each task and
/// iteration.
pub fn text(options: &Options, run: &Run) -> String {
    let names: Vec<String> =
        COLUMNS.iter().map(|(name, _)| format!(",rate-{name},time-{name}")).collect();
    let mut out = format!("rank,items{}\n", names.concat());
    let made = options.made(run).map(|made| made.most);
    let items = made.unwrap_or(options.work.items_of_task());
    for (sweep, tasks) in (0..).zip(&options.work.sweeps) {
        let iterations: Vec<Vec<Option<Done>>> = (0..options.work.iterations)
            .map(|iteration| {
                let of = |phase| done(options, run, (sweep, iteration), phase);
                COLUMNS.iter().map(|(_, phase)| phase.and_then(of)).collect()
            })
            .collect();
        let slowest = |column: usize| {
            let all = iterations.iter().filter_map(|columns| columns[column].as_ref());
            all.map(|done| done.all).max_by(|a, b| a.1.total_cmp(&b.1))
        };
        let row: String = (0..COLUMNS.len()).map(|column| cells(slowest(column))).collect();
        out.push_str(&format!("all,{items}{row}\n"));
        for columns in &iterations {
            for task in 0..*tasks as usize {
                let of_task = |done: &Option<Done>| done.as_ref()?.tasks.get(task).copied();
                let row: String =
                    columns.iter().take(OF_TASKS).map(|done| cells(of_task(done))).collect();
                out.push_str(&format!("{task},{row}\n"));
            }
        }
    }
    out
}

fn cells(figures: Option<Figures>) -> String {
    match figures.filter(|(items, _)| *items > 0.0) {
        Some((items, seconds)) => {
            format!(",{},{}", scientific(per_second(items, seconds)), scientific(seconds))
        }
        None => ",,".to_owned(),
    }
}

fn done(options: &Options, run: &Run, at: (u32, u32), phase: Phase) -> Option<Done> {
    let mut sum: Option<Done> = None;
    for step in run.steps.iter().filter(|step| step.end.is_some()) {
        let key = options.keys.get(step.begin.plan_step as usize)?;
        if (key.sweep, key.iteration, key.phase) != (at.0, at.1, Some(phase)) {
            continue;
        }
        let sum = sum.get_or_insert_default();
        let tasks = tasks::of_step(step);
        sum.all.1 +=
            between(earliest(&tasks, |task| task.first), latest(&tasks, |task| task.closed));
        // A sync behind a phase is in the time of all alone.
        if !key.counts {
            continue;
        }
        sum.all.0 += tasks::operations(step) as f64;
        for (phase, task) in tasks::phases(step).iter().zip(&tasks) {
            let worker = phase.worker as usize;
            if sum.tasks.len() <= worker {
                sum.tasks.resize(worker + 1, (0.0, 0.0));
            }
            sum.tasks[worker].0 += phase.issued as f64;
            sum.tasks[worker].1 += task.seconds();
        }
    }
    sum
}

//! What Metarates prints: the rates of the fastest, the slowest and the mean task.

use super::{Options, Phase};
use crate::parallel::tasks::{self, Task, per_second};
use drivelab_core::run::Run;

/// The whole output.
pub fn text(options: &Options, run: &Run) -> String {
    let mut out = parameters(options);
    for (phase, done, unit) in [
        (Phase::Create, "created and closed", "creates"),
        (Phase::Stat, "stat'd", "stats"),
        (Phase::Utime, "utime'd", "utimes"),
    ] {
        let of_phase = |step: &&drivelab_core::run::StepRun| {
            options.keys.get(step.begin.plan_step as usize) == Some(&Some(phase))
        };
        let Some(step) = run.steps.iter().find(of_phase) else { continue };
        // Metarates prints nothing of a phase that did not come to its end.
        if tasks::operations(step) < options.files {
            continue;
        }
        let seconds: Vec<f64> = tasks::of_step(step).iter().map(Task::seconds).collect();
        if let Some(rates) = rates(options.of_task() as f64, &seconds, unit) {
            out.push_str(&format!(
                "\nrates at which files can be {done} with {} pes:\n{rates}\n",
                options.tasks
            ));
        }
    }
    out
}

fn parameters(options: &Options) -> String {
    let mut out = format!(
        "run parameters:\ndirname = {}\ntotal number of files used in tests = {}\n\
         number of files used per process in tests = {}\n",
        options.directory,
        options.files,
        options.of_task()
    );
    let mut say = |text: &str| {
        out.push_str(text);
        out.push('\n');
    };
    match options.unique {
        true => say("unique subdirectories will be used by each process"),
        false => say("a common directory will be used by all processes"),
    }
    match options.keep {
        true => say("test files will be kept between tests and at the end"),
        false => say("test files will be removed between tests and at the end"),
    }
    if options.creates {
        say("file creation rates will be measured");
        match options.sync {
            true => say("\tfsync will be called prior to close call"),
            false => say("\tfsync will not be called prior to close call"),
        }
    }
    if options.stats {
        say("file stat rates will be measured");
    }
    if options.utimes {
        say("file utime rates will be measured");
    }
    out
}

/// Files of a task over the seconds of each.
fn rates(files: f64, seconds: &[f64], unit: &str) -> Option<String> {
    let shortest = seconds.iter().copied().reduce(f64::min)?;
    let longest = seconds.iter().copied().reduce(f64::max)?;
    let count = seconds.len() as f64;
    let most = per_second(files, shortest);
    let least = per_second(files, longest);
    let mean = per_second(files * count, seconds.iter().sum());
    let total = least * count;
    Some(format!(
        "max rate = {most:.6} {unit} per second, min rate = {least:.6} {unit} per second \
         avg rate = {mean:.6} {unit} per second, total rate = {total:.6} {unit} per second"
    ))
}

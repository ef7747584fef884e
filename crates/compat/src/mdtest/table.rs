//! What mdtest 4.0.0 prints.

use super::Options;
use super::plan::Phase;
use crate::calendar::{began as beginning, now};
use crate::front::Host;
use crate::parallel::spread::Spread;
use crate::parallel::tasks::{self, between, earliest, latest, per_second};
use crate::parallel::volume;
use drivelab_core::run::Run;
use jiff::Timestamp;

const HEADING: &str = "   \
Operation                     Max            Min           Mean        Std Dev
   ---------                     ---            ---           ----        -------
";

/// The rows of directories; the one without a phase is of what is not done here.
const OF_DIRECTORIES: [(&str, Option<Phase>); 4] = [
    ("Directory creation", Some(Phase::DirectoryCreation)),
    ("Directory stat", Some(Phase::DirectoryStat)),
    ("Directory rename", None),
    ("Directory removal", Some(Phase::DirectoryRemoval)),
];
const OF_FILES: [(&str, Option<Phase>); 4] = [
    ("File creation", Some(Phase::FileCreation)),
    ("File stat", Some(Phase::FileStat)),
    ("File read", Some(Phase::FileRead)),
    ("File removal", Some(Phase::FileRemoval)),
];
const OF_TREES: [(&str, Option<Phase>); 2] =
    [("Tree creation", Some(Phase::TreeCreation)), ("Tree removal", Some(Phase::TreeRemoval))];

/// What is printed of a phase.
#[derive(Clone, Copy, PartialEq)]
enum Figure {
    Rate,
    Seconds,
}

/// The whole output.
pub fn text(options: &Options, run: &Run, host: &Host) -> String {
    let began = beginning(&run.begin, host);
    let most = options.work.sweeps.iter().copied().max().unwrap_or(1);
    let mut out = format!(
        "-- started at {} --\n\nmdtest-4.0.0 was launched with {most} total task(s) on 1 node(s)\n\
         Command line used: {}\n",
        in_numbers(began),
        options.line
    );
    if options.work.reads && options.settings.read_bytes == 0 {
        let warning = "WARNING: Read bytes is 0, thus, a read test will actually just open/close\n";
        out.push_str(&warning.repeat(most as usize));
    }
    out.push_str(&format!(
        "Path                : {}\nFS                  : {}\nNodemap: {}\n",
        options.settings.directory,
        match options.settings.dummy {
            true => volume::NOTHING.to_owned(),
            false => volume::in_words(&run.begin.facts.target),
        },
        "1".repeat(most as usize)
    ));
    for (sweep, tasks) in (0..).zip(&options.work.sweeps) {
        out.push_str(&options.counts(*tasks));
        if let Some(made) = options.made(run).filter(|made| made.was_stopped) {
            out.push_str(&format!(
                "Continue stonewall hit min: {} max: {} avg: {:.1} \n\n",
                made.fewest, made.farthest, made.mean
            ));
        }
        if !options.settings.prints_times || options.settings.prints_both {
            out.push_str(&table(options, run, sweep, Figure::Rate));
        }
        if options.settings.prints_times || options.settings.prints_both {
            out.push_str(&table(options, run, sweep, Figure::Seconds));
        }
    }
    out.push_str(&format!("-- finished at {} --\n\n", in_numbers(now(host))));
    out
}

impl Options {
    fn counts(&self, tasks: u32) -> String {
        let items = u64::from(tasks) * self.work.items_of_task();
        let what = match (self.work.directories, self.work.files) {
            (true, true) => "files/directories",
            (true, false) => "directories",
            _ => "files",
        };
        format!("{tasks} tasks, {items} {what}\n")
    }
}

fn table(options: &Options, run: &Run, sweep: u32, figure: Figure) -> String {
    let what = if figure == Figure::Rate { "rate" } else { "time" };
    let mut out = format!("\nSUMMARY {what}: (of {} iterations)\n", options.work.iterations);
    out.push_str(HEADING);
    let mut rows = Vec::new();
    if options.work.directories {
        rows.extend(OF_DIRECTORIES);
    }
    if options.work.files {
        rows.extend(OF_FILES);
    }
    rows.extend(OF_TREES);
    for (name, phase) in rows {
        let values = phase.map(|phase| values(options, run, sweep, phase, figure));
        let spread = values.as_deref().and_then(Spread::of);
        let (max, min, mean, deviation) = spread.map_or((0.0, 0.0, 0.0, 0.0), |spread| {
            (spread.max, spread.min, spread.mean, spread.sample_deviation())
        });
        out.push_str(&format!("   {name:<22}{max:15.3}{min:15.3}{mean:15.3}{deviation:15.3}\n"));
    }
    out
}

impl Options {
    /// The phase of files that a line with one of them has: items a second, seconds, and which
    /// steps of the run it is.
    pub fn measured(&self, run: &Run) -> Option<(f64, f64, Vec<u32>)> {
        let phases = OF_FILES.iter().filter_map(|(_, phase)| *phase);
        let figures = |phase, figure| values(self, run, 0, phase, figure);
        let phase = phases.into_iter().find(|phase| !figures(*phase, Figure::Rate).is_empty())?;
        let own = run.steps.iter().filter(|step| {
            let key = self.keys.get(step.begin.plan_step as usize);
            key.is_some_and(|key| key.phase == Some(phase) && key.counts)
        });
        let steps = own.map(|step| step.begin.step).collect();
        let first = |figure| figures(phase, figure).first().copied();
        Some((first(Figure::Rate)?, first(Figure::Seconds)?, steps))
    }
}

/// Of each iteration that was done.
fn values(options: &Options, run: &Run, sweep: u32, phase: Phase, figure: Figure) -> Vec<f64> {
    let mut sums: Vec<Option<(f64, f64)>> = vec![None; options.work.iterations as usize];
    for step in &run.steps {
        let Some(key) = options.keys.get(step.begin.plan_step as usize) else { continue };
        if (key.sweep, key.phase) != (sweep, Some(phase)) || step.end.is_none() {
            continue;
        }
        let of_step = tasks::of_step(step);
        let seconds =
            between(earliest(&of_step, |task| task.first), latest(&of_step, |task| task.closed));
        let operations = if key.counts { tasks::operations(step) as f64 } else { 0.0 };
        if let Some(sum) = sums.get_mut(key.iteration as usize) {
            let (before, until) = sum.unwrap_or((0.0, 0.0));
            *sum = Some((before + operations, until + seconds));
        }
    }
    let value = |(operations, seconds): (f64, f64)| match figure {
        Figure::Rate => per_second(operations, seconds),
        Figure::Seconds => seconds,
    };
    sums.into_iter().flatten().map(value).collect()
}

/// `11/22/2026 05:37:46`.
fn in_numbers(moment: Timestamp) -> String {
    moment.strftime("%m/%d/%Y %T").to_string()
}

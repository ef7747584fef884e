//! mdtest: its lines as a plan, its output from a run.
//!
//! Written from its manual page and from what 4.0.0 does and prints, watched by strace; no code of
//! it is used.

pub mod known;

mod check;
mod notes;
mod plan;
mod ranks;
mod settings;
mod table;
mod tree;

pub use check::Work;
pub use plan::{Key, Phase};
pub use settings::{FAILED, Settings, USAGE};
pub use tree::Tree;

use crate::front::{Asked, Existing, Host, Job, Output, OutputFile, Refusal, ResultFile, World};
use crate::front_end::FrontEnd;
use crate::option;
use crate::parallel::tasks;
use drivelab_core::run::Run;
use known::KNOWN;

/// Where meanings begin in the help.
const HELP_COLUMN: usize = 34;

/// A line, understood.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct Options {
    /// The line, as mdtest shows it.
    pub line: String,
    /// As it was typed.
    pub settings: Settings,
    /// What is done.
    pub work: Work,
    /// What each step of the plan is.
    pub keys: Vec<Key>,
}

/// mdtest among the tools.
pub(crate) const FRONT_END: FrontEnd = FrontEnd {
    names: &["mdtest"],
    failed: FAILED,
    example: "-n 5",
    parse: |_, args, world| Ok(parse(args, world)?.laid_out(output)),
    table: Some(known::table),
};

/// The line that these words are.
///
/// # Errors
/// What mdtest would refuse, in its words; what is not supported here, by name.
pub fn parse(args: &[String], world: &dyn World) -> Result<Asked<Options>, Refusal> {
    let (settings, mut said) = settings::line(args)?;
    let Some(settings) = settings else { return Ok(Asked::Text(help())) };
    let work = check::work(&settings, world)?;
    let quoted: String = args.iter().map(|word| format!(" '{word}'")).collect();
    let line = format!("mdtest{quoted}");
    let (plan, keys) = plan::plan(&line, &settings, &work, world.scale_time())?;
    said.extend(notes::of(&settings, &work, world));
    let (target, keeps) = (work.target.clone(), !work.removes);
    let results = status_file(&settings, &work).into_iter().chain(ranks_file(&settings)).collect();
    let job = Job { plan, target, keeps, notes: said, results };
    let options = Options { line, settings, work, keys };
    Ok(Asked::Run { job: Box::new(job), options: Box::new(options) })
}

/// What mdtest would have printed of this run.
pub fn output(options: &Options, run: &Run, host: &Host) -> Output {
    let made = options.made(run).map(|made| made.most);
    let written = made.zip(status_file(&options.settings, &options.work));
    let file = |(most, place): (u64, ResultFile)| OutputFile {
        place,
        bytes: most.to_string().into_bytes(),
        said: String::new(),
    };
    let ranks = ranks_file(&options.settings).map(|place| OutputFile {
        place,
        bytes: ranks::text(options, run).into_bytes(),
        said: String::new(),
    });
    let files = written.map(file).into_iter().chain(ranks).collect();
    Output { text: table::text(options, run, host), files, ..Output::default() }
}

/// Where it is noted how many items each task has made, if that is not known before.
fn status_file(settings: &Settings, work: &Work) -> Option<ResultFile> {
    let path = settings.status_file.clone().filter(|_| work.creates && settings.wall_s > 0)?;
    Some(ResultFile { path, existing: Existing::ReplaceOwn })
}

/// Where the results of each task go.
fn ranks_file(settings: &Settings) -> Option<ResultFile> {
    let path = settings.ranks_file.clone()?;
    Some(ResultFile { path, existing: Existing::ReplaceOwn })
}

/// What the tasks had made when their time was over, and what they made in the end.
struct Made {
    fewest: u64,
    farthest: u64,
    mean: f64,
    most: u64,
    was_stopped: bool,
}

impl Options {
    /// Of the phase that creates items, where it has a stonewall.
    fn made(&self, run: &Run) -> Option<Made> {
        let creates =
            |key: &Key| key.counts && key.phase.is_some_and(|phase| self.work.has_wall(phase));
        let of_run = run.steps.iter().find(|step| {
            self.keys.get(step.begin.plan_step as usize).is_some_and(creates) && step.end.is_some()
        });
        let phases = tasks::phases(of_run.filter(|_| self.settings.wall_s > 0)?);
        let until = |phase: &drivelab_core::tally::Phase| {
            phase.stonewall.map_or(phase.issued, |wall| wall.operations)
        };
        let all: Vec<u64> = phases.iter().map(until).collect();
        Some(Made {
            fewest: all.iter().copied().min()?,
            farthest: all.iter().copied().max()?,
            mean: all.iter().sum::<u64>() as f64 / all.len() as f64,
            most: phases.iter().map(|phase| phase.issued).max()?,
            was_stopped: phases.iter().any(|phase| phase.stonewall.is_some()),
        })
    }
}

fn help() -> String {
    let head = "Usage: mdtest [OPTIONS]\n\nOptions of mdtest, as drivelab understands them:\n";
    let rows = KNOWN.iter().map(|known| {
        (known.typed.to_owned(), format!("{}{}", known.meaning, known.care.in_brief()))
    });
    head.to_owned() + &option::help(HELP_COLUMN, rows)
}

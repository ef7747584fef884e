//! mdtest: its lines as a plan, its output from a run.
//!
//! Written from its manual page and from what 4.0.0 does and prints, watched by strace; no code of
//! it is used.

pub mod known;

mod check;
mod notes;
mod plan;
mod settings;
mod table;
mod tree;

pub use check::Work;
pub use plan::{Key, Phase};
pub use settings::{FAILED, Settings, USAGE};
pub use tree::Tree;

use crate::front::{Asked, Host, Job, Output, Refusal, World};
use crate::front_end::FrontEnd;
use crate::option;
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
    let job = Job { plan, target, keeps, notes: said, results: Vec::new() };
    let options = Options { line, settings, work, keys };
    Ok(Asked::Run { job: Box::new(job), options: Box::new(options) })
}

/// What mdtest would have printed of this run.
pub fn output(options: &Options, run: &Run, host: &Host) -> Output {
    Output { text: table::text(options, run, host), ..Output::default() }
}

fn help() -> String {
    let head = "Usage: mdtest [OPTIONS]\n\nOptions of mdtest, as drivelab understands them:\n";
    let rows = KNOWN.iter().map(|known| {
        (known.typed.to_owned(), format!("{}{}", known.meaning, known.care.in_brief()))
    });
    head.to_owned() + &option::help(HELP_COLUMN, rows)
}

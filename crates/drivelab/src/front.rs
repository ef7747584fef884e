//! The command lines of other tools, run on our own engine: `drivelab fio …`, or a link of that
//! name.

mod ended;
mod files;
mod iostat;
mod own;
mod world;

use crate::aim::Missing;
use crate::chance;
use crate::cli::{SafetyOptions, StoreOptions};
use crate::job::{self, Shown, Terms};
use crate::outcome::{Failure, Status};
use crate::session::Inquiry;
use crate::together::{self, agree};
use crate::{print, store};
use drivelab_compat::front::{Asked, Host, Job, Note, Output, Refusal};
use drivelab_compat::{fio, iometer, ior, iostat as statistics, iozone, mdtest, metarates};
use drivelab_core::findings::Findings;
use drivelab_core::plan::Plan;
use drivelab_core::record::Warning;
use drivelab_core::run::Run;
use drivelab_io::facts::System;
use drivelab_io::team::team;
use own::{Notes, Own};
use std::path::Path;
use world::RealWorld;

/// Tools whose lines are understood.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub enum Tool {
    /// fio.
    Fio,
    /// Iometer.
    Iometer,
    /// IOzone.
    Iozone,
    /// IOR.
    Ior,
    /// mdtest.
    Mdtest,
    /// Metarates.
    Metarates,
    /// iostat.
    Iostat,
}

/// What the results of a run look like in a tool's own layout.
type Layout<'a> = dyn Fn(&Run, &Host) -> Output + 'a;

impl Tool {
    /// The tool that a word names, as it is typed.
    fn of(word: &str) -> Option<Tool> {
        match word {
            "fio" => Some(Tool::Fio),
            "iometer" | "Iometer" => Some(Tool::Iometer),
            "iozone" | "IOzone" => Some(Tool::Iozone),
            "ior" | "IOR" => Some(Tool::Ior),
            "mdtest" => Some(Tool::Mdtest),
            "metarates" => Some(Tool::Metarates),
            "iostat" => Some(Tool::Iostat),
            _ => None,
        }
    }

    /// Its exit status where a run could not be done.
    fn failed(self) -> u8 {
        match self {
            Tool::Fio => fio::FAILED,
            Tool::Iometer => iometer::USAGE,
            Tool::Iozone => iozone::FAILED,
            Tool::Ior => ior::FAILED,
            Tool::Mdtest => mdtest::FAILED,
            Tool::Metarates => metarates::FAILED,
            Tool::Iostat => 1,
        }
    }
}

/// Runs the line of another tool, if this is one: called by its name through a link, or by the
/// first word. Gives the exit status.
pub fn attempt(words: &[String]) -> Option<u8> {
    let called = words.first().map(|word| Path::new(word).file_name().unwrap_or_default());
    let called = called.and_then(|name| name.to_str()).unwrap_or_default().to_string();
    let (tool, name, rest) = match Tool::of(&called) {
        Some(tool) => (tool, called, words.get(1..)?),
        None => {
            let name = words.get(1)?;
            (Tool::of(name)?, name.clone(), words.get(2..)?)
        }
    };
    drivelab_io::signal::install();
    Some(match run(tool, &name, rest) {
        Ok(0) if !print::is_heard() => {
            print::lost().iter().for_each(print::failure);
            tool.failed()
        }
        Ok(status) => status,
        Err(Ending { failure, status }) => {
            print::failure(&failure);
            status
        }
    })
}

/// How a line ends that was not run to its end.
struct Ending {
    failure: Failure,
    status: u8,
}

impl Ending {
    /// With the tool's own status, but for a refusal for safety and an interruption.
    fn of(tool: Tool, failure: Failure) -> Self {
        let status = match failure.status {
            Status::Refused => failure.status as u8,
            status if status.is_interruption() => status as u8,
            _ => tool.failed(),
        };
        Ending { failure, status }
    }
}

fn run(tool: Tool, name: &str, words: &[String]) -> Result<u8, Ending> {
    let failed = |failure| Ending::of(tool, failure);
    let (own, rest) = own::take(words).map_err(failed)?;
    let system = System::live();
    let world = RealWorld::new(system.clone(), &own);
    let refused = |refusal: Refusal| {
        let advice = Some(refusal.advice).filter(|advice| !advice.is_empty());
        let failure = Failure { status: Status::Usage, text: refusal.text, advice };
        Ending { failure, status: refusal.status }
    };
    let line = Line { tool, own: &own, world: &world };
    match tool {
        Tool::Fio => match fio::parse(&rest, &world).map_err(refused)? {
            Asked::Text(text) => say(&text),
            Asked::Run { job, options } => {
                line.run(*job, &|run, host| fio::output::output(&options, run, host))
            }
        },
        Tool::Iometer => match iometer::parse(&rest, &world).map_err(refused)? {
            Asked::Text(text) => say(&text),
            Asked::Run { job, options } => {
                line.run(*job, &|run, host| iometer::output(&options, run, host))
            }
        },
        Tool::Iozone => match iozone::parse(&rest, &world).map_err(refused)? {
            Asked::Text(text) => say(&text),
            Asked::Run { job, options } => {
                line.run(*job, &|run, host| iozone::output(&options, run, host))
            }
        },
        Tool::Ior => match ior::parse(name, &rest, &world).map_err(refused)? {
            Asked::Text(text) => say(&text),
            Asked::Run { job, options } => {
                line.run(*job, &|run, host| ior::output(&options, run, host))
            }
        },
        Tool::Mdtest => match mdtest::parse(&rest, &world).map_err(refused)? {
            Asked::Text(text) => say(&text),
            Asked::Run { job, options } => {
                line.run(*job, &|run, host| mdtest::output(&options, run, host))
            }
        },
        Tool::Metarates => match metarates::parse(&rest, &world).map_err(refused)? {
            Asked::Text(text) => say(&text),
            Asked::Run { job, options } => {
                line.run(*job, &|run, host| metarates::output(&options, run, host))
            }
        },
        Tool::Iostat => match statistics::parse(&rest, &world).map_err(refused)? {
            statistics::Asked::Text(text) => say(&text),
            statistics::Asked::Reports { options, notes } => {
                iostat::reports(&options, &notes, own.notes, &world)
            }
        },
    }
    .map_err(failed)
}

fn say(text: &str) -> Result<u8, Failure> {
    print::text(text);
    Ok(0)
}

/// A line that is to be run.
struct Line<'a> {
    tool: Tool,
    own: &'a Own,
    world: &'a RealWorld,
}

impl Line<'_> {
    fn run(&self, mut job: Job, layout: &Layout<'_>) -> Result<u8, Failure> {
        if job.plan.seed == 0 {
            job.plan.seed = chance::seed();
        }
        if self.own.notes != Notes::None {
            job.notes.iter().for_each(|note| print::error(&format!("note: {note}")));
        }
        if self.own.notes == Notes::Only {
            return Ok(0);
        }
        let runs = store::directory(self.own.runs.as_deref())?;
        let list = store::results(Some(&runs))?;
        // Results go where the first process is.
        let leads = team().leads();
        agree(if leads { files::check(&job, &list, self.own.dry_run) } else { Ok(()) })?;
        together::same_plan(&mut job.plan, &job.target)?;
        let safety = SafetyOptions { erase: self.own.erase.clone(), keep: job.keeps };
        let terms = Terms {
            safety: &safety,
            store: &StoreOptions { runs: Some(runs) },
            stuck_after: own::STUCK_AFTER,
            is_dry: self.own.dry_run,
        };
        let mut measured =
            job::Job::new(self.tool.word(), &job.target, &terms, Shown::plainly(false, None))?;
        measured.warnings = warnings(&job.notes);
        let aim = measured.take(&job.plan, Missing::Made)?;
        let told = Told { layout, world: self.world };
        let ready = measured.ready(aim, job.plan, told)?;
        if self.own.dry_run {
            return ready.print().map(|status| status as u8);
        }
        let (ended, _) = ready.measure()?;
        ended::show(self.tool, ended, layout, self.own.notes, (&self.world.host_now(), &list))
    }
}

impl Tool {
    /// The command's name in run files.
    fn word(self) -> &'static str {
        match self {
            Tool::Fio => "fio",
            Tool::Iometer => "iometer",
            Tool::Iozone => "iozone",
            Tool::Ior => "ior",
            Tool::Mdtest => "mdtest",
            Tool::Metarates => "metarates",
            Tool::Iostat => "iostat",
        }
    }
}

/// One plan, no conclusions, and what the layout finds to say of the run.
struct Told<'a> {
    layout: &'a Layout<'a>,
    world: &'a RealWorld,
}

impl Inquiry for Told<'_> {
    fn next(&mut self, _so_far: &Run) -> Option<Plan> {
        None
    }

    fn judge(&self, _run: &Run) -> Option<Findings> {
        None
    }

    fn remarks(&self, run: &Run) -> Vec<Warning> {
        warnings(&(self.layout)(run, &self.world.host_now()).notes)
    }
}

/// Notes are data of the run.
fn warnings(notes: &[Note]) -> Vec<Warning> {
    let warning = |note: &Note| Warning {
        code: note.code.to_string(),
        text: note.to_string(),
        advice: String::new(),
        step: None,
    };
    notes.iter().map(warning).collect()
}

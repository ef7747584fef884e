//! A tool as drivelab stands in for it: what a front end is to everything that goes through all of
//! them.

use crate::front::{Asked, Host, Job, Note, Output, Refusal, World};
use crate::iostat;
use drivelab_core::run::Run;

/// What the results of a run look like in a tool's own layout.
pub type Layout = dyn Fn(&Run, &Host) -> Output;

/// What a line comes to.
pub enum Answer {
    /// To print this and end with status 0.
    Text(String),
    /// To run this.
    Run {
        /// What to run.
        job: Box<Job>,
        /// What it prints of the run.
        layout: Box<Layout>,
    },
    /// To report what the kernel counts; nothing is issued.
    Reports {
        /// Which reports, and how often.
        options: Box<iostat::Options>,
        /// What their figures really say.
        notes: Vec<Note>,
    },
}

impl<Options: 'static> Asked<Options> {
    /// With the layout that goes with the options.
    pub(crate) fn laid_out(self, output: fn(&Options, &Run, &Host) -> Output) -> Answer {
        match self {
            Asked::Text(text) => Answer::Text(text),
            Asked::Run { job, options } => {
                let layout = Box::new(move |run: &Run, host: &Host| output(&options, run, host));
                Answer::Run { job, layout }
            }
        }
    }
}

/// Reads a line: the name that the tool was called by, the words behind it.
pub type Parse = fn(&str, &[String], &dyn World) -> Result<Answer, Refusal>;

/// A tool as drivelab stands in for it.
#[derive(Debug, Clone, Copy)]
pub struct FrontEnd {
    /// What it is called by; the first name is that of run files, corpora and sections.
    pub names: &'static [&'static str],
    /// Its exit status where a run could not be done.
    pub failed: u8,
    /// A short line without the name, which is understood wherever there are directories.
    pub example: &'static str,
    /// How its lines are read.
    pub parse: Parse,
    /// Its options in Markdown, where it has a table of them.
    pub table: Option<fn() -> String>,
}

impl FrontEnd {
    /// The command's name in run files.
    pub fn word(&self) -> &'static str {
        self.names.first().copied().unwrap_or_default()
    }
}

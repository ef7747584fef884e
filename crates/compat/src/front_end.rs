//! A tool as drivelab stands in for it: what a front end is to everything that goes through all of
//! them.

use crate::counters::Counters;
use crate::front::{Asked, Host, Job, Note, Output, Refusal, World};
use crate::suite::Suite;
use drivelab_core::run::Run;

pub use crate::front::Layout;

/// Reports of what the kernel counts, in a tool's own layout. The caller takes the samples.
pub trait Reports {
    /// Seconds between reports; absent: one report alone.
    fn interval_s(&self) -> Option<u64>;
    /// How many there are; absent with an interval: until interrupted.
    fn count(&self) -> Option<u64>;
    /// Whether the first sample is only what the next is compared with.
    fn skips_first(&self) -> bool;
    /// What comes before the first report.
    fn opening(&self, host: &Host) -> String;
    /// What stands between two reports.
    fn between(&self) -> &'static str;
    /// What was counted from `before` to `after`, which is `elapsed_s` seconds, or everything since
    /// the kernel started where there is nothing before.
    fn report(
        &self,
        host: &Host,
        before: Option<&Counters>,
        after: &Counters,
        elapsed_s: f64,
    ) -> String;
    /// What comes after the last report.
    fn closing(&self) -> &'static str;
}

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
    /// To run a suite of lines, each planned when the one before it is over.
    Suite(Box<dyn Suite>),
    /// To report what the kernel counts; nothing is issued.
    Reports {
        /// Which reports, and how often.
        reports: Box<dyn Reports>,
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

//! iostat: its command line, and reports in its layouts from what the kernel counts.
//!
//! It issues no I/O, so that there is no plan: the caller takes the samples at the times that
//! [`Options`] say, and [`report`] makes the text of each. Behaviour is that of sysstat 12.6.1 as
//! it was watched, and of 9 and 10 as their output is known.

mod catalogue;
mod columns;
mod figures;
mod line;
mod notes;
mod options;
mod print;
mod rows;

pub use catalogue::{entries, markdown};
pub use options::{Dates, Era, Group, Options, Partitions, Shown, Unit};
pub use print::{between, closing, opening, report};

use crate::counters::Counters;
use crate::front::{Host, Note, Refusal, World};
use crate::front_end::{Answer, FrontEnd, Reports};

/// What a line asks for.
#[derive(Debug, Clone, PartialEq)]
pub enum Asked {
    /// To print this and end with status 0.
    Text(String),
    /// Reports.
    Reports {
        /// Which, and how often.
        options: Box<Options>,
        /// What their figures really say.
        notes: Vec<Note>,
    },
}

/// iostat among the tools.
pub(crate) const FRONT_END: FrontEnd = FrontEnd {
    names: &["iostat"],
    failed: catalogue::USAGE,
    example: "-x",
    parse: |_, args, world| {
        Ok(match parse(args, world)? {
            Asked::Text(text) => Answer::Text(text),
            Asked::Reports { options, notes } => Answer::Reports { reports: options, notes },
        })
    },
    table: Some(markdown),
};

impl Reports for Options {
    fn interval_s(&self) -> Option<u64> {
        self.interval_s
    }

    fn count(&self) -> Option<u64> {
        self.count
    }

    fn skips_first(&self) -> bool {
        Options::skips_first(self)
    }

    fn opening(&self, host: &Host) -> String {
        opening(self, host)
    }

    fn between(&self) -> &'static str {
        between(self)
    }

    fn report(
        &self,
        host: &Host,
        before: Option<&Counters>,
        after: &Counters,
        elapsed_s: f64,
    ) -> String {
        report(self, host, before, after, elapsed_s)
    }

    fn closing(&self) -> &'static str {
        closing(self)
    }
}

/// Understands a line: the words after the program's name. `--layout 9|10|12`, also
/// called `--era`, is ours.
///
/// # Errors
/// What iostat says to a line that it does not take, and options that are not supported here.
pub fn parse(args: &[String], world: &dyn World) -> Result<Asked, Refusal> {
    let line = line::read(args, world)?;
    if line.version {
        let version = env!("CARGO_PKG_VERSION");
        let text = format!("drivelab {version}, in the layout of sysstat version 12.6.1\n");
        return Ok(Asked::Text(text));
    }
    let notes = notes::notes(&line.options, line.layout_typed.as_deref(), world);
    Ok(Asked::Reports { options: Box::new(line.options), notes })
}

/// What iostat prints to a line that it does not take, with what is wrong with it.
fn usage(advice: &str) -> Refusal {
    let names: Vec<String> = entries().map(|entry| format!("[ {} ]", entry.typed)).collect();
    let text = format!(
        "Usage: iostat [ options ] [ <interval> [ <count> ] ]\nOptions are:\n{}",
        names.join(" ")
    );
    Refusal::new(catalogue::USAGE, text, advice)
}

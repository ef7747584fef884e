//! What is asked of a target, whatever the command, and what follows its first plan.

use crate::live;
use crate::shown::Shown;
use crate::store::reader::Kept;
use drivelab_core::findings::Findings;
use drivelab_core::plan::Plan;
use drivelab_core::record::Warning;
use drivelab_core::run::Run;
use drivelab_core::study::{Established, StudyOptions};
use drivelab_core::units::{Size, Span};
use drivelab_io::facts::System;
use drivelab_io::ranks::Ranks;
use std::path::PathBuf;

/// What is asked of a target, whatever the command.
#[derive(Debug)]
pub struct Job<'a> {
    /// Those that share the work.
    pub ranks: Ranks,
    /// `run`, `check` …
    pub command: &'a str,
    /// The target as typed.
    pub target: &'a str,
    /// What followed `--erase`.
    pub erase: Option<String>,
    /// Keep the file that is created.
    pub keep: bool,
    /// Size of the file to create.
    pub size: Option<Size>,
    /// Directory of the run files.
    pub runs: PathBuf,
    /// What the run is called.
    pub tag: Option<String>,
    /// When an operation is called stuck.
    pub stuck_after: Span,
    /// Only say what would be done: nobody is asked, and nothing is touched.
    pub is_dry: bool,
    /// What is told of it while it lasts.
    pub live: live::Asked,
    /// How results are shown.
    pub shown: Shown<'a>,
    /// It is one load: what that needs of new files, and of files that ranks share, is added.
    pub is_load: bool,
    /// Bytes that must stay free on the file system.
    pub reserve_bytes: u64,
    /// What a reader must know before the first step.
    pub warnings: Vec<Warning>,
    /// The study that is done, for the run file.
    pub study: Option<StudyOptions>,
    /// The run that goes on, if this one is not new.
    pub kept: Option<Kept>,
    /// The machine.
    pub system: System,
}

/// What follows the first plan of a run, and what is concluded at its end.
pub trait Inquiry {
    /// The next plan, from the run so far; `None` ends the run.
    fn next(&mut self, so_far: &Run) -> Option<Plan>;
    /// A state that the run so far proves the drive to be in.
    fn established(&self, _so_far: &Run) -> Option<Established> {
        None
    }
    /// What a complete run says; `None` where nothing is concluded.
    fn judge(&self, run: &Run) -> Option<Findings>;
    /// What a reader must know that only the run could tell.
    fn remarks(&self, _run: &Run) -> Vec<Warning> {
        Vec::new()
    }
}

/// One plan and no conclusions.
#[derive(Debug)]
pub struct OnePlan;

impl Inquiry for OnePlan {
    fn next(&mut self, _so_far: &Run) -> Option<Plan> {
        None
    }

    fn judge(&self, _run: &Run) -> Option<Findings> {
        None
    }
}

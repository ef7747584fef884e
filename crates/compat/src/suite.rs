//! A suite: lines of other tools one after the other, whose results come together. Each is planned
//! when the one before it is over, for how much it works on is known only then.

use crate::front::{Job, Layout, Note, OutputFile, Refusal, ResultFile, World};
use drivelab_core::plan::Found;
use drivelab_core::run::Run;
use drivelab_core::summary::{StepSummary, summarise};
use std::fmt::Debug;

/// A suite, as a file asks for it.
pub trait Suite: Debug {
    /// Sets the directories of this time, which all processes must agree on.
    fn begin_at(&mut self, now_ms: u64);
    /// Where data goes: a directory that is empty, or is not there yet.
    fn data(&self) -> &str;
    /// Where results go: a directory that may hold other things.
    fn results(&self) -> &str;
    /// Directories in that of the data which are made before the first phase.
    fn directories(&self) -> Vec<String>;
    /// What it really measures.
    fn notes(&self) -> &[Note];
    /// The names of the phases, in their order.
    fn phases(&self) -> Vec<&'static str>;
    /// The line of a phase as it is shown, where it has one.
    fn shown(&self, phase: usize) -> Option<String>;
    /// What a phase is to do now; files that count as later changed from `changed_from_ns` on.
    ///
    /// # Errors
    /// Its line cannot be run here.
    fn begin(
        &self,
        phase: usize,
        world: &dyn World,
        changed_from_ns: u64,
    ) -> Result<Phase, Refusal>;
    /// What a phase came to.
    fn outcome(&self, done: Done) -> Outcome;
    /// What is printed before the first phase.
    fn heading(&self) -> String;
    /// What is printed of a phase.
    fn row(&self, outcome: &Outcome) -> String;
    /// What is printed of all.
    fn score(&self, outcomes: &[Outcome]) -> String;
    /// Why the result is not valid, in sentences; empty where it is.
    fn invalid(&self, outcomes: &[Outcome]) -> Vec<String>;
    /// A file of results.
    fn file(&self, name: &str) -> ResultFile;
    /// The files that say what was asked for.
    fn asked_files(&self) -> Vec<OutputFile>;
    /// The files that say what came of it so far.
    fn told_files(&self, outcomes: &[Outcome]) -> Vec<OutputFile>;
    /// Files that only carry a number from one phase to the next.
    fn passing_files(&self) -> Vec<String>;
}

/// What a phase is.
pub enum Phase {
    /// It is not to be run.
    Skipped,
    /// An empty file of this name, by whose time later files are known.
    Stamp(ResultFile),
    /// A run.
    Run(Box<Begun>),
}

/// How figures are taken from a run, with the numbers of the steps that they are of.
pub type Measure = dyn Fn(&Run) -> Option<(Figure, Vec<u32>)>;

/// A run that can begin.
pub struct Begun {
    /// What is to be done.
    pub job: Job,
    /// What its tool prints of it, where there is one.
    pub layout: Option<Box<Layout>>,
    /// What is measured.
    pub measure: Box<Measure>,
    /// The line, as it is shown.
    pub line: String,
}

/// What was measured of a phase.
#[derive(Debug, Clone, Copy, Default, PartialEq)]
pub struct Figure {
    /// In the unit of the phase.
    pub score: f64,
    /// Seconds.
    pub seconds: f64,
    /// What a find came to.
    pub found: Option<Found>,
}

/// A phase that is over.
#[derive(Debug, Clone, Default, PartialEq)]
pub struct Done {
    /// Its place among the phases.
    pub phase: usize,
    /// Its line; empty where it is none.
    pub line: String,
    /// What was measured, and the truth guard's word; absent where nothing was.
    pub measured: Option<(Figure, Word)>,
    /// When it began and ended, in milliseconds since 1970.
    pub between_ms: (u64, u64),
    /// Its run file.
    pub run: Option<String>,
}

/// The same, with what the suite says to it.
#[derive(Debug, Clone, PartialEq)]
pub struct Outcome {
    /// What was done.
    pub done: Done,
    /// Why the suite does not take it.
    pub against: Vec<String>,
}

impl Outcome {
    /// What was measured; zeros where nothing was.
    pub fn figure(&self) -> Figure {
        self.done.measured.as_ref().map(|(figure, _)| *figure).unwrap_or_default()
    }

    /// The truth guard's word.
    pub fn word(&self) -> Option<&Word> {
        self.done.measured.as_ref().map(|(_, word)| word)
    }
}

/// The truth guard's word on a result.
#[derive(Debug, Clone, PartialEq, Eq)]
pub enum Word {
    /// Nothing speaks against it.
    Valid,
    /// What speaks against it, in sentences.
    Suspect(Vec<String>),
    /// It could not be checked; why, where that is known.
    NotChecked(Option<String>),
}

impl Word {
    /// That on these steps of a run.
    pub fn of(run: &Run, steps: &[u32]) -> Word {
        let all = summarise(run).steps;
        let own: Vec<&StepSummary> = all.iter().filter(|it| steps.contains(&it.step)).collect();
        let suspect = own.iter().filter(|step| step.valid == Some(false));
        let against: Vec<String> =
            suspect.flat_map(|step| &step.reasons).map(|reason| reason.text.clone()).collect();
        if own.iter().any(|step| step.valid == Some(false)) {
            return Word::Suspect(against);
        }
        if !own.is_empty() && own.iter().all(|step| step.valid == Some(true)) {
            return Word::Valid;
        }
        let unchecked = own.iter().flat_map(|step| &step.unchecked).next();
        Word::NotChecked(unchecked.map(|reason| reason.text.clone()))
    }

    /// The word alone.
    pub fn word(&self) -> &'static str {
        match self {
            Word::Valid => "valid",
            Word::Suspect(_) => "suspect",
            Word::NotChecked(_) => "not checked",
        }
    }

    /// The word, and the first reason.
    pub fn in_full(&self) -> String {
        let reason = match self {
            Word::Valid => None,
            Word::Suspect(reasons) => reasons.first(),
            Word::NotChecked(reason) => reason.as_ref(),
        };
        match reason {
            Some(reason) => format!("{}: {}", self.word(), reason.trim_end_matches('.')),
            None => self.word().to_owned(),
        }
    }
}

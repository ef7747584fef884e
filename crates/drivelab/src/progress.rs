//! What is said while a run goes on, on stderr.
//!
//! On a terminal one line: which step, how far, how fast with its interval, what was written of the
//! budget, how long yet. It is redrawn when the testbed asks whether to go on, at most four times a
//! second; nothing ticks. Without a terminal there is a plain line for each cell that is done, once
//! the run has lasted so long that somebody may wait for it.

mod line;
mod running;

use drivelab_core::plan::{Role, Step};
use drivelab_core::run::Run;
use drivelab_core::summary::summarise_cell;
use drivelab_core::tally::Tally;
use drivelab_report::terminal::cell_line;
use running::Running;
use std::collections::HashMap;
use std::time::{Duration, Instant};

const REDRAWN_EVERY: Duration = Duration::from_millis(250);
/// What is over within this time needs no lines.
const QUIET_FOR: Duration = Duration::from_secs(2);
/// Commands of drivelab's own: who types a tool's line gets that tool's output.
const OWN: [&str; 4] = ["run", "check", "study", "accept"];

/// Bytes that a run may write, and has written.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub struct Allowance {
    /// Until the step that begins.
    pub written: u64,
    /// In all.
    pub budget: u64,
}

/// A step that begins, and what comes behind it.
#[derive(Debug, Clone, Copy)]
pub struct Beginning<'a> {
    /// Its number among the steps of its plan, from 1, and how many there are.
    pub position: (u64, u64),
    /// What is done.
    pub step: &'a Step,
    /// The steps of the plan that follow, repetitions one by one.
    pub rest: &'a [(u32, &'a Step)],
    /// Bytes of each data file.
    pub file_bytes: u64,
    /// What the line may write.
    pub allowance: Option<Allowance>,
    /// Time is virtual: it says nothing of how long anybody waits.
    pub is_virtual: bool,
}

/// What is said of a run that goes on.
#[derive(Debug)]
pub struct Progress {
    /// A terminal shows the line.
    is_drawn: bool,
    /// A log gets a line for each cell.
    is_told: bool,
    began: Instant,
    drawn: Option<Instant>,
    running: Running,
    /// How long steps of these names took here.
    took: HashMap<String, Duration>,
    /// Steps of the plan behind this one, by name.
    rest: Vec<(String, Option<Duration>)>,
}

impl Progress {
    /// For a run of this command.
    pub fn new(command: &str) -> Self {
        let capable = std::env::var_os("TERM").is_none_or(|term| term != "dumb");
        let is_drawn = crate::print::shows_progress() && capable;
        let is_told = !is_drawn && OWN.contains(&command) && crate::print::is_heard_on_stderr();
        Progress {
            is_drawn,
            is_told,
            began: Instant::now(),
            drawn: None,
            running: Running::default(),
            took: HashMap::new(),
            rest: Vec::new(),
        }
    }

    /// A step begins.
    pub fn begin(&mut self, beginning: Beginning<'_>) {
        self.running = Running::of(&beginning);
        let behind = |(_, step): &(u32, &Step)| {
            let known = running::expected(step).filter(|_| !beginning.is_virtual);
            (step.name.clone(), known)
        };
        self.rest = beginning.rest.iter().map(behind).collect();
        self.drawn = None;
        self.redraw();
    }

    /// Takes an interval into account.
    pub fn tally(&mut self, tally: &Tally) {
        if self.is_drawn {
            self.running.tally(tally);
        }
    }

    /// Redraws the line if it is time to.
    pub fn redraw(&mut self) {
        if !self.is_drawn || self.drawn.is_some_and(|drawn| drawn.elapsed() < REDRAWN_EVERY) {
            return;
        }
        self.drawn = Some(Instant::now());
        let line = self.line(self.running.began.elapsed());
        crate::print::progress(&line);
    }

    /// A step has ended, well or not: the line is taken away, and a cell that is done is told.
    pub fn end(&mut self, step: &Step, run: &Run) {
        let took = self.running.began.elapsed();
        self.took.insert(step.name.clone(), took);
        if self.is_drawn {
            crate::print::progress("");
            self.drawn = None;
        }
        let is_last = self.rest.iter().all(|(name, _)| *name != step.name);
        let is_cell = step.role == Role::Measure && step.act.is_none();
        if !(self.is_told && is_last && is_cell && self.began.elapsed() >= QUIET_FOR) {
            return;
        }
        if let Some(cell) = summarise_cell(run, &step.name) {
            let (number, count) = self.running.position;
            crate::print::told(&format!("{number}/{count} {}", cell_line(&cell)));
        }
    }

    fn line(&self, elapsed: Duration) -> String {
        let columns = crate::print::stderr_columns().saturating_sub(1);
        line::set(&self.running.parts(elapsed, self.left(elapsed)), columns)
    }

    /// How long the plan still takes; `None` where a step of it has no end in time and none of its
    /// name was done yet.
    fn left(&self, elapsed: Duration) -> Option<Duration> {
        let own = self.running.left(elapsed)?;
        let behind = |(name, expected): &(String, Option<Duration>)| {
            let is_same = *name == self.running.name;
            let alike = is_same.then_some(elapsed + own);
            expected.or_else(|| self.took.get(name).copied()).or(alike)
        };
        let behind: Option<Duration> = self.rest.iter().map(behind).sum();
        Some(own + behind?)
    }
}

#[cfg(test)]
mod tests;

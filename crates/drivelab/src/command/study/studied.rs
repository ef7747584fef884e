//! A study as a run asks it.

use super::quick;
use crate::job::Inquiry;
use crate::outcome::Failure;
use crate::target::ResolvedTarget;
use drivelab_core::facts::Facts;
use drivelab_core::findings::Findings;
use drivelab_core::plan::Plan;
use drivelab_core::quantity::size;
use drivelab_core::record::{Begin, Warning};
use drivelab_core::run::Run;
use drivelab_core::study::{Established, StudyOptions};
use drivelab_study::experiment::{Setting, Study};
use drivelab_study::registry;

/// A study, with all that it works with.
#[derive(Debug)]
pub struct Studied {
    /// Which one.
    pub study: Study,
    /// What it was asked for.
    pub options: StudyOptions,
    /// Target and machine.
    pub facts: Facts,
}

impl Studied {
    /// What it works with.
    pub fn setting(&self) -> Setting<'_> {
        Setting { options: &self.options, facts: &self.facts }
    }

    /// The first plan.
    ///
    /// # Errors
    /// Why there is none.
    pub fn first(&self, resolved: &ResolvedTarget) -> Result<Plan, Failure> {
        if let Some(text) = (self.study.objection)(&self.setting()) {
            return Err(Failure::usage(text));
        }
        let mut begin = Begin { facts: self.facts.clone(), ..Begin::default() };
        begin.state = resolved.simulated.as_ref().map(|simulated| simulated.state.word().into());
        let run = Run { begin, ..Run::default() };
        (self.study.next)(&self.setting(), &run).ok_or_else(|| {
            Failure::usage(format!(
                "`{}` can do nothing here within {} and {}",
                self.study.name,
                self.options.time,
                size(self.options.budget.0)
            ))
            .advise("Give a larger --time or --budget.")
        })
    }
}

impl Inquiry for Studied {
    fn next(&mut self, so_far: &Run) -> Option<Plan> {
        (self.study.next)(&self.setting(), so_far)
    }

    fn established(&self, so_far: &Run) -> Option<Established> {
        (self.study.established)(&self.setting(), so_far)
    }

    fn judge(&self, run: &Run) -> Option<Findings> {
        let mut findings = self.study.judged(&self.setting(), run);
        if findings.no_answer && findings.wants_more {
            findings.unknown.extend(quick::way_out(self));
        }
        Some(findings)
    }

    fn remarks(&self, run: &Run) -> Vec<Warning> {
        registry::remarks(&self.study, &self.setting(), run)
    }
}

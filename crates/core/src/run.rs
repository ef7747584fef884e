//! A run read back: records gathered under their steps.

pub mod claims;
pub mod comparison;
pub mod findings;
pub mod gathering;
pub mod health_log;
pub mod history;
pub mod ledger;
pub mod observed;
pub mod record;
pub mod uses;
pub mod verified;

use crate::anatomy::{Anatomy, Requests};
use crate::findings::Findings;
use crate::health_log::HealthReading;
use crate::inside::InsideInterval;
use crate::ledger::Ledger;
use crate::plan::{Act, Plan, Step};
use crate::record::{Begin, End, Record, Resumed, StepBegin, StepEnd, Warning};
use crate::study::Established;
use crate::tally::Tally;

/// A whole run.
#[derive(Debug, Clone, Default, PartialEq)]
pub struct Run {
    /// The surroundings.
    pub begin: Begin,
    /// The plans, in order.
    pub plans: Vec<Plan>,
    /// The executed steps, in order.
    pub steps: Vec<StepRun>,
    /// States that a study proved, each with the number of steps before it.
    pub established: Vec<(usize, Established)>,
    /// Where a run that was broken off went on.
    pub resumptions: Vec<Resumed>,
    /// What the drives below the target said of their health, in the order of time.
    pub health: Vec<HealthReading>,
    /// What a reader must know.
    pub warnings: Vec<Warning>,
    /// The latest conclusions.
    pub findings: Option<Findings>,
    /// The end; absent in a run that was killed.
    pub end: Option<End>,
}

/// One executed step.
#[derive(Debug, Clone, PartialEq)]
pub struct StepRun {
    /// How it began.
    pub begin: StepBegin,
    /// The step as planned.
    pub plan: Step,
    /// Intervals of all workers, in the order of their arrival.
    pub tallies: Vec<Tally>,
    /// What went on inside a simulated drive, in order of time.
    pub insides: Vec<InsideInterval>,
    /// Where the time of its I/Os went, if it was traced.
    pub anatomy: Option<Anatomy>,
    /// Its I/Os one by one, of the streams that keep them.
    pub requests: Vec<Requests>,
    /// How it ended; absent in a run that was killed.
    pub end: Option<StepEnd>,
}

impl StepRun {
    /// How long it took in nanoseconds, as far as its records say.
    pub fn duration_ns(&self) -> u64 {
        if let Some(Act::Idle(span)) = self.plan.act {
            return span.0;
        }
        if let Some(act_ns) = self.end.as_ref().and_then(|end| end.act_ns) {
            return act_ns;
        }
        let phases = || self.end.iter().flat_map(|end| &end.phases);
        let whole = phases()
            .map(|phase| phase.closed)
            .max()
            .zip(phases().map(|phase| phase.opened).min())
            .map(|(closed, opened)| closed.saturating_sub(opened));
        let recorded = || {
            let tallies = || self.tallies.iter();
            let to = tallies().map(|tally| tally.to).max()?;
            Some(to.saturating_sub(tallies().map(|tally| tally.from).min()?))
        };
        whole.or_else(recorded).unwrap_or(0)
    }
}

impl Run {
    /// Takes the next record. Records of a step that never began are an error.
    ///
    /// ```
    /// use drivelab_core::plan::{Plan, Step};
    /// use drivelab_core::record::{End, Record};
    /// use drivelab_core::run::Run;
    ///
    /// let mut run = Run::default();
    /// let plan = Plan { steps: vec![Step::default()], ..Plan::default() };
    /// run.push(Record::Plan { plan })?;
    /// assert!(run.push(Record::StepEnd(Box::default())).is_err(), "no step has begun");
    /// assert!(run.end.is_none(), "nobody has said that it is over");
    /// run.push(Record::End(End { complete: true, status: 0, reason: None }))?;
    /// assert!(run.complete());
    /// # Ok::<(), String>(())
    /// ```
    pub fn push(&mut self, record: Record) -> Result<(), String> {
        match record {
            Record::Begin(begin) => self.begin = *begin,
            Record::Plan { plan } => self.plans.push(plan),
            Record::StepBegin(begin) => {
                let plan = self
                    .plans
                    .get(begin.plan as usize)
                    .and_then(|plan| plan.steps.get(begin.plan_step as usize))
                    .ok_or_else(|| format!("step {} is in no plan of this run", begin.step))?
                    .clone();
                self.steps.push(StepRun {
                    begin,
                    plan,
                    tallies: Vec::new(),
                    insides: Vec::new(),
                    anatomy: None,
                    requests: Vec::new(),
                    end: None,
                });
            }
            Record::Tally(tally) => {
                let number = tally.step;
                self.step(number)?.tallies.push(*tally);
            }
            Record::Inside(interval) => {
                let number = interval.step;
                self.step(number)?.insides.push(*interval);
            }
            Record::Anatomy(anatomy) => {
                let number = anatomy.step;
                self.step(number)?.anatomy = Some(*anatomy);
            }
            Record::Requests(requests) => {
                let number = requests.step;
                self.step(number)?.requests.push(*requests);
            }
            Record::StepEnd(end) => {
                let number = end.step;
                self.step(number)?.end = Some(*end);
            }
            Record::Established(found) => self.established.push((self.steps.len(), found)),
            Record::Resumed(resumed) => self.resumptions.push(resumed),
            Record::Health(reading) => self.health.push(*reading),
            Record::Warning(warning) => self.warnings.push(warning),
            Record::Judged { findings } => self.findings = Some(*findings),
            Record::End(end) => self.end = Some(end),
        }
        Ok(())
    }

    /// Everything but the steps.
    pub(crate) fn clone_without_steps(&self) -> Run {
        Run {
            begin: self.begin.clone(),
            plans: self.plans.clone(),
            steps: Vec::new(),
            established: self.established.clone(),
            resumptions: self.resumptions.clone(),
            health: self.health.clone(),
            warnings: self.warnings.clone(),
            findings: self.findings.clone(),
            end: self.end.clone(),
        }
    }

    fn step(&mut self, number: u32) -> Result<&mut StepRun, String> {
        let known = self.steps.iter_mut().rev().find(|step| step.begin.step == number);
        known.ok_or_else(|| format!("a record of step {number} comes before its beginning"))
    }

    /// What the target has been through until now. A state that a study proved holds until a step
    /// changes it; a resumption says what is still known.
    pub fn ledger(&self) -> Ledger {
        let first = || Ledger::of(self.begin.state.as_deref().unwrap_or("unknown"));
        let mut ends = self.steps.iter().filter_map(|step| step.end.as_ref()?.ledger.clone());
        let mut ledger = ends.next_back().unwrap_or_else(first);
        let resumed = self.resumptions.last();
        if let Some(resumed) = resumed.filter(|last| last.steps as usize == self.steps.len()) {
            ledger.state.clone_from(&resumed.state);
        }
        if let Some((steps, found)) = self.established.last()
            && *steps == self.steps.len()
        {
            ledger.state.clone_from(&found.state);
        }
        ledger
    }

    /// Whether everything planned was done.
    pub fn complete(&self) -> bool {
        self.end.as_ref().is_some_and(|end| end.complete)
    }
}

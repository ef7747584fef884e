//! Executes a plan on a testbed: steps and repetitions in order, everything into the recorder.
//!
//! Nothing is computed here that a reader could compute later; what only this moment knows (the
//! state of the drive, what the kernel counted, why a step ended early) becomes a record.

mod find;
mod forward;
mod gather;
mod issued;
pub mod limits;
mod merge;
mod trouble;
pub use trouble::RATE_NOT_KEPT;

use crate::asked_drives::AskedDrives;
use crate::evidence::Evidence;
use crate::progress::{Beginning, Progress};
use crate::store::writer::Recorder;
use crate::target_actions::TargetActions;
use crate::tracer::{self, Traced, Tracer};
use drivelab_core::anatomy::{Anatomy, Requests};
use drivelab_core::defect::ended_by_defects;
use drivelab_core::driver::{Driver, drivers_of};
use drivelab_core::ledger::{Ledger, Moved};
use drivelab_core::passes::with_expected_passes;
use drivelab_core::plan::{Act, Plan, REQUESTS_MAX, SettingChange, Step};
use drivelab_core::queue::{Finished, Testbed, Trouble, TroubleKind};
use drivelab_core::record::{Record, StepBegin, StepEnd, Warning};
use drivelab_core::run::Run;
use drivelab_core::study::Established;
use drivelab_io::ranks::Ranks;
use forward::{Forward, Silent};
use issued::Issued;
use limits::Limits;
use std::collections::HashMap;
use std::time::{Duration, Instant};

/// Wrong stamps that a run file lists for one step.
const MISMATCHES_MAX: usize = 100;

/// Why execution did not reach the end of the plan.
#[derive(Debug, Clone, PartialEq, Eq)]
pub enum Stop {
    /// Ctrl-C or SIGTERM.
    Interrupted,
    /// The drive, the kernel or the request.
    Trouble(Trouble),
    /// Time or bytes of the whole line are used up; what was done until then is judged.
    Spent(String),
}

/// Executes plans one after another in one run.
pub struct Execution<'a> {
    /// Where drivers meet the drive.
    pub testbed: &'a mut dyn Testbed,
    /// Takes all records.
    pub recorder: &'a mut Recorder,
    /// Shows how far it is.
    pub progress: &'a mut Progress,
    /// What happens between steps, and what the kernel counts.
    pub target_actions: &'a mut TargetActions,
    /// Bytes of each data file.
    pub file_bytes: u64,
    /// What the drive has been through, and its state.
    pub ledger: Ledger,
    /// Plans so far.
    plans: u32,
    /// Steps so far.
    steps: u32,
    repetitions: HashMap<String, u32>,
    /// Steps that were recorded by an earlier process: they are simulated again and not recorded.
    pub kept_steps: u32,
    /// What all steps together may take, where the line says so.
    pub limits: Option<Limits>,
    /// Drives that are asked for their health between steps.
    pub asked_drives: AskedDrives,
    /// Those that share the work.
    pub(crate) ranks: Ranks,
    issued: Issued,
}

impl<'a> Execution<'a> {
    /// An execution that has done nothing yet.
    pub fn new(
        ranks: Ranks,
        testbed: &'a mut dyn Testbed,
        recorder: &'a mut Recorder,
        progress: &'a mut Progress,
        target_actions: &'a mut TargetActions,
        file_bytes: u64,
    ) -> Self {
        Execution {
            testbed,
            recorder,
            progress,
            target_actions,
            file_bytes,
            ledger: Ledger::default(),
            plans: 0,
            steps: 0,
            repetitions: HashMap::new(),
            kept_steps: 0,
            limits: None,
            asked_drives: AskedDrives::default(),
            ranks,
            issued: Issued::default(),
        }
    }

    /// Steps that were done, those of an earlier process included.
    pub fn steps_done(&self) -> usize {
        self.steps as usize
    }

    /// Goes on behind what an earlier process recorded of a real drive.
    pub fn take_up(&mut self, run: &Run) {
        self.plans = run.plans.len() as u32;
        self.steps = run.steps.len() as u32;
        for step in &run.steps {
            *self.repetitions.entry(step.begin.name.clone()).or_insert(0) += 1;
            self.limits.iter_mut().for_each(|limits| limits.spend(step));
        }
        let end = run.steps.last().and_then(|step| step.end.as_ref());
        self.issued = Issued::of(end.iter().flat_map(|end| &end.phases));
        self.ledger = self.recorder.run().ledger();
    }

    /// Asks these drives for their health, now and between steps; one of several ranks does.
    pub fn ask_drives(&mut self, drives: AskedDrives) {
        if self.ranks.is_rank_0() {
            self.asked_drives = drives;
            self.asked_drives.open(self.recorder);
        }
    }

    /// Asks them a last time, unless the run ended because one of them does not answer.
    pub fn ask_drives_last(&mut self, stop: Result<(), Stop>) -> Result<(), Stop> {
        let is_stuck =
            matches!(&stop, Err(Stop::Trouble(trouble)) if trouble.kind == TroubleKind::Stuck);
        if !is_stuck && self.target_actions.gone().is_none() {
            self.asked_drives.close(self.recorder);
        }
        stop
    }

    /// Takes note of a state that is proved, and records it.
    pub fn establish(&mut self, found: Established) {
        self.ledger.state.clone_from(&found.state);
        self.recorder.record(Record::Established(found));
    }

    /// The same where it was recorded before.
    pub fn take_up_established(&mut self, run: &Run) {
        let here = run.established.iter().rfind(|(steps, _)| *steps == self.steps as usize);
        if let Some((_, found)) = here {
            self.ledger.state.clone_from(&found.state);
        }
    }

    /// Records a plan that is executed in parts, which follow it.
    pub fn record_plan(&mut self, plan: &Plan) {
        if self.plans as usize >= self.recorder.run().plans.len() {
            self.recorder.record(Record::Plan { plan: plan.clone() });
        }
        self.plans += 1;
    }

    /// Executes `plan` to its end, or until something stops it.
    pub fn run_plan(&mut self, plan: &Plan) -> Result<(), Stop> {
        let is_new = self.plans as usize >= self.recorder.run().plans.len();
        if is_new {
            self.recorder.record(Record::Plan { plan: plan.clone() });
        }
        let executions: Vec<(u32, &Step)> = (0..)
            .zip(&plan.steps)
            .flat_map(|(index, step)| (0..step.repetitions()).map(move |_| (index, step)))
            .collect();
        for (position, (plan_step, step)) in executions.iter().enumerate() {
            self.progress.begin(Beginning {
                position: (position as u64 + 1, executions.len() as u64),
                step,
                rest: &executions[position + 1..],
                file_bytes: self.file_bytes,
                allowance: self.limits.as_ref().map(Limits::allowance),
                is_virtual: self.testbed.inside().is_some(),
            });
            let planned = with_expected_passes(plan, *plan_step as usize);
            let result = planned.map_or(Ok(()), |step| self.run_step(plan, *plan_step, &step));
            self.progress.end(step, self.recorder.run());
            result?;
        }
        self.plans += 1;
        Ok(())
    }

    fn run_step(&mut self, plan: &Plan, plan_step: u32, step: &Step) -> Result<(), Stop> {
        // Several ranks stop where they meet: one that stayed away would be waited for.
        if self.ranks.is_alone() && drivelab_io::signal::interrupted() {
            return Err(Stop::Interrupted);
        }
        let within = self.limits.as_ref().map(|limits| limits.within(step, self.file_bytes));
        // What was asked is recorded and looked at; how far it may go is the drivers' alone.
        let driven = within.transpose().map_err(Stop::Spent)?.unwrap_or_else(|| step.clone());
        let number = self.steps;
        self.steps += 1;
        let repetition = self.repetitions.entry(step.name.clone()).or_insert(0);
        *repetition += 1;
        if number < self.kept_steps {
            return self.simulate_again(plan, &driven, number);
        }
        let repetition = *repetition;
        self.record_begin(step, number, plan_step, repetition);
        let mut evidence = self.target_actions.look(step, number, plan.seed);
        let inside = self.testbed.inside();
        // Of several ranks rank 0 traces what it does itself. A simulated drive needs no tracer.
        let is_traced = step.trace && self.ranks.is_rank_0();
        let tracer = (is_traced && inside.is_none()).then(|| self.target_actions.trace(step));
        let begin = Instant::now();
        let mut end = StepEnd { step: number, ..StepEnd::default() };
        let result = ended_by_defects(|| match &step.act {
            Some(act) => {
                let act = self.testbed.act(act).unwrap_or_else(|| self.perform(act, &mut end));
                act.map(|change| end.set = change).map(|()| Vec::new())
            }
            None => self.run_streams(plan, &driven, number, &mut evidence),
        });
        let is_real = inside.is_none();
        end.act_ns = (is_real && step.act.is_some()).then(|| begin.elapsed().as_nanos() as u64);
        let opened = result.iter().flatten().map(|finished| finished.phase.opened).min();
        let strayed_ns = self.testbed.clock_strayed_ns();
        let mut evidence = Some(evidence);
        let mut look = |end: &mut StepEnd| {
            if let Some(evidence) = evidence.take() {
                (end.devices, end.observed) = evidence.end(opened.unwrap_or(0), strayed_ns);
            }
        };
        if self.ranks.is_alone() {
            look(&mut end);
        }
        // A simulated drive that contradicts itself is not asked what it counted.
        let is_defect = result.as_ref().is_err_and(|it| it.kind == TroubleKind::Defect);
        end.inside_total = if is_defect { None } else { self.testbed.inside() };
        end.inside = end.inside_total.zip(inside).map(|(now, before)| now.since(&before));
        let trace = tracer.map(Tracer::stop);
        let target = self.recorder.run().begin.facts.target.kind;
        let (stop, unissued) = match result {
            Ok(mut finished) => {
                self.keep(number, is_traced, trace, &mut finished);
                gather::gather(self.target_actions, finished, &mut end, target)
            }
            Err(trouble) => (Some(Stop::Trouble(self.of_the_drive(trouble))), 0),
        };
        let stop = stop.or_else(|| self.target_actions.still_there().err().map(Stop::Trouble));
        let stop = stop.or(drivelab_io::signal::interrupted().then_some(Stop::Interrupted));
        let stop = self.merge_ranks(step, &mut end, stop, unissued);
        // The others count too, and they are done only now.
        look(&mut end);
        let stop = stop.or_else(|| self.cut(step, &driven, &end).map(Stop::Spent));
        self.close_step(step, end, stop)
    }

    /// What failed, and that it failed because the drive is no longer there, if so.
    fn of_the_drive(&self, trouble: Trouble) -> Trouble {
        let has_failed = trouble.kind == TroubleKind::Failed;
        match has_failed.then(|| self.target_actions.gone_since()).flatten() {
            Some(name) => Trouble::failed(trouble::went_away(&name, &trouble.text)),
            None => trouble,
        }
    }

    /// Whether the line's time ended a step that was asked for otherwise.
    fn cut(&self, asked: &Step, driven: &Step, end: &StepEnd) -> Option<String> {
        let closed = end.phases.iter().map(|phase| phase.closed).max()?;
        let opened = end.phases.iter().map(|phase| phase.opened).min()?;
        self.limits.as_ref()?.cut(asked, driven, closed.saturating_sub(opened))
    }

    /// Records the end of a step, and what follows from it.
    fn close_step(
        &mut self,
        step: &Step,
        mut end: StepEnd,
        stop: Option<Stop>,
    ) -> Result<(), Stop> {
        let number = end.step;
        end.incomplete = stop.as_ref().map(|stop| match stop {
            Stop::Interrupted => "interrupted".to_string(),
            Stop::Trouble(trouble) => trouble.text.clone(),
            Stop::Spent(text) => text.clone(),
        });
        let tallies = self.recorder.run().steps.last().map_or(&[][..], |step| &step.tallies);
        let moved = Moved::of_step(step, tallies);
        self.ledger.after(step, self.file_bytes, moved, end.incomplete.is_none());
        end.ledger = Some(self.ledger.clone());
        self.recorder.record(Record::StepEnd(Box::new(end)));
        if let Some(step) = self.recorder.run().steps.last() {
            self.limits.iter_mut().for_each(|limits| limits.spend(step));
        }
        self.warn_of_step(number);
        if stop.is_none() {
            self.asked_drives.between_steps(self.recorder);
        }
        stop.map_or(Ok(()), Err)
    }

    fn record_begin(&mut self, step: &Step, number: u32, plan_step: u32, repetition: u32) {
        self.recorder.record(Record::StepBegin(StepBegin {
            step: number,
            plan_step,
            plan: self.plans,
            repetition,
            name: step.name.clone(),
            role: step.role,
            state: self.ledger.state.clone(),
            opened: self.target_actions.opened(step),
        }));
    }

    /// Brings a simulated drive to where a recorded step left it, and checks that it is there.
    fn simulate_again(&mut self, plan: &Plan, step: &Step, number: u32) -> Result<(), Stop> {
        ended_by_defects(|| match &step.act {
            Some(act) => self.testbed.act(act).map_or(Ok(()), |done| done.map(drop)),
            None => {
                let interval = plan.interval.0;
                self.testbed.watch_stages(false);
                let drivers = drivers_of(step, number, plan.seed, interval, self.file_bytes);
                drivers.and_then(|mut drivers| {
                    self.issued.bound(&mut drivers)?;
                    let mut sink = Silent { progress: self.progress };
                    self.issued = Issued::of_finished(&self.testbed.run(drivers, &mut sink)?);
                    Ok(())
                })
            }
        })
        .map_err(Stop::Trouble)?;
        if drivelab_io::signal::interrupted() {
            return Err(Stop::Interrupted);
        }
        let recorded = self.recorder.run().steps.get(number as usize);
        let end = recorded.and_then(|step| step.end.as_ref());
        if end.and_then(|end| end.inside_total) != self.testbed.inside() {
            return Err(Stop::Trouble(Trouble::usage(format!(
                "step {} (`{}`) differs from its recording: the drive's profile or drivelab itself \
                 has changed since, so this run cannot be resumed; start a new one",
                number + 1,
                step.name
            ))));
        }
        if let Some(ledger) = end.and_then(|end| end.ledger.clone()) {
            self.ledger = ledger;
        }
        if let Some(step) = recorded {
            self.limits.iter_mut().for_each(|limits| limits.spend(step));
        }
        Ok(())
    }

    fn run_streams(
        &mut self,
        plan: &Plan,
        step: &Step,
        number: u32,
        evidence: &mut Evidence,
    ) -> Result<Vec<Finished>, Trouble> {
        self.target_actions.settle_zones(step)?;
        let interval = plan.interval.0;
        let mut drivers = drivers_of(step, number, plan.seed, interval, self.file_bytes)?;
        let ranks = self.ranks;
        let simulated = self.testbed.inside().is_some();
        drivers.retain(|driver| match simulated {
            // Rank 0 has the drive.
            true => ranks.is_rank_0(),
            false => ranks.rank_of(driver.setup().worker, driver.stream().workers) == ranks.rank(),
        });
        self.issued.bound(&mut drivers)?;
        if step.trace && ranks.is_rank_0() {
            let room = tracer::ios_max(step) / drivers.len().max(1);
            drivers.iter_mut().for_each(|driver| driver.keep_stamps(room));
        } else {
            let kept = |driver: &&mut Driver| driver.stream().keep_requests;
            let room = REQUESTS_MAX / drivers.iter_mut().filter(kept).count().max(1);
            drivers.iter_mut().filter(kept).for_each(|driver| driver.keep_stamps(room));
        }
        let mut sink = Forward::new(ranks, self.recorder, self.progress, evidence, (step, number));
        self.testbed.watch_stages(step.trace && simulated);
        let finished = self.testbed.run(drivers, &mut sink)?;
        self.issued = Issued::of_finished(&finished);
        Ok(finished)
    }

    /// Records what drivers stamped: for a trace, or the I/Os that streams keep one by one.
    fn keep(
        &mut self,
        number: u32,
        is_traced: bool,
        trace: Option<Traced>,
        finished: &mut [Finished],
    ) {
        if is_traced {
            return self.take_apart(number, trace, finished);
        }
        let kept = finished.iter_mut().map(|finished| &mut finished.driver);
        for driver in kept.filter(|driver| driver.stream().keep_requests) {
            let (all, left_out) = driver.take_stamps();
            let setup = driver.setup();
            let (step, stream, worker) = (setup.step, setup.stream_index, setup.worker);
            let requests = Requests { step, stream, worker, all, left_out };
            self.recorder.record(Record::Requests(Box::new(requests)));
        }
    }

    /// Joins what the kernel's tracer saw with the drivers' own stamps; where there was none, a
    /// simulated drive has noted it.
    fn take_apart(&mut self, number: u32, trace: Option<Traced>, finished: &mut [Finished]) {
        let zero = self.recorder.run().begin.clock.monotonic_zero_ns.unwrap_or(0);
        let (mut stamps, mut unstamped) = (Vec::new(), 0);
        for driver in finished.iter_mut().map(|finished| &mut finished.driver) {
            let (own, without) = driver.take_stamps();
            stamps.extend(own);
            unstamped += without;
        }
        let anatomy = match trace {
            Some(trace) => trace.anatomy(number, zero, stamps),
            None => Anatomy {
                step: number,
                stages: self.testbed.take_stages(),
                stamped: stamps.len() as u64,
                ..Anatomy::default()
            },
        };
        self.recorder.record(Record::Anatomy(Box::new(Anatomy { unstamped, ..anatomy })));
    }

    fn perform(&mut self, act: &Act, end: &mut StepEnd) -> Result<Option<SettingChange>, Trouble> {
        match act {
            Act::Idle(span) => {
                let (ranks, progress) = (self.ranks, &mut *self.progress);
                let is_asked = || drivelab_io::signal::interrupted() || ranks.is_asked_to_stop();
                let span = Duration::from_nanos(span.0);
                self.target_actions.idle(span, is_asked, || progress.redraw());
                Ok(())
            }
            Act::DropCaches => self.target_actions.drop_caches(),
            Act::Allocate => self.target_actions.allocate(),
            Act::Trim { offset, length } => {
                let rest = self.file_bytes.saturating_sub(offset.0);
                let bytes = length.map_or(rest, |length| length.0);
                self.target_actions.trim(offset.0, bytes)
            }
            Act::Purge(purge) => self.target_actions.purge(*purge),
            Act::WriteCache(wanted) => self.target_actions.set_write_cache(*wanted),
            Act::Mkfs(kind) => self.target_actions.make_file_system(*kind),
            Act::Mount(wanted) => self.target_actions.mount(wanted),
            Act::Unmount => {
                end.places = self.target_actions.unmount()?;
                Ok(())
            }
            Act::Find(wanted) => {
                end.found = Some(self.find(wanted)?);
                Ok(())
            }
            Act::Queue { setting, value } => {
                return self.target_actions.set_queue(*setting, value).map(Some);
            }
        }
        .map(|()| None)
    }

    /// Turns what the step's own tallies say into warnings.
    fn warn_of_step(&mut self, number: u32) {
        let run = self.recorder.run();
        let Some(step) = run.steps.last() else { return };
        let warnings: Vec<Warning> = trouble::warnings_of(run, step, number);
        warnings.into_iter().for_each(|warning| self.recorder.warn(warning));
    }
}

#[cfg(test)]
pub mod tests;

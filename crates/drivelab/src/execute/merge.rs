//! The end of a step for several ranks: what each measured is merged at rank 0.

use super::{Execution, MISMATCHES_MAX, Stop, trouble};
use crate::outcome::{Failure, Status};
use crate::ranks::{broadcast, gather};
use drivelab_core::plan::{Role, Step};
use drivelab_core::queue::{Trouble, TroubleKind};
use drivelab_core::record::{Record, StepEnd, Warning};
use drivelab_core::tally::{Phase, Slow, Slowest, Tally};
use serde::{Deserialize, Serialize};

impl Execution<'_> {
    /// Puts what the others measured into `end` and the record of the step, and warns of what all
    /// together did not issue. One that failed ends it for all.
    pub(super) fn merge_ranks(
        &mut self,
        step: &Step,
        end: &mut StepEnd,
        stop: Option<Stop>,
        unissued: u64,
    ) -> Option<Stop> {
        let merged = match self.ranks.is_alone() {
            true => Ok((stop, unissued)),
            false => self.merge_results(end, stop, unissued),
        };
        let failed = |failure: Failure| Stop::Trouble(Trouble::failed(failure.text));
        let (stop, unissued) = merged.unwrap_or_else(|failure| (Some(failed(failure)), 0));
        // What fell due at the very end is one operation of a worker, and no backlog.
        let workers: u64 = step.streams.iter().map(|stream| u64::from(stream.workers)).sum();
        if unissued > workers.max(1) && stop.is_none() && !self.is_told_of(step) {
            self.recorder.warn(trouble::rate_not_kept(step, end.step, unissued));
        }
        stop
    }

    /// Whether an earlier repetition was warned of, or there is nothing in it that anybody reads.
    fn is_told_of(&self, step: &Step) -> bool {
        let run = self.recorder.run();
        let is_told = |warning: &Warning| {
            let number = warning.step.filter(|_| warning.code == trouble::RATE_NOT_KEPT);
            number.is_some_and(|number| {
                run.steps.iter().any(|it| it.begin.step == number && it.begin.name == step.name)
            })
        };
        step.role == Role::Prepare || run.warnings.iter().any(is_told)
    }

    fn merge_results(
        &mut self,
        end: &mut StepEnd,
        stop: Option<Stop>,
        mut unissued: u64,
    ) -> Result<(Option<Stop>, u64), Failure> {
        let ranks = self.ranks;
        if stop.is_some() {
            ranks.ask_to_stop();
        }
        let run = self.recorder.run();
        let zero_ns = ranks.to_rank_0_ns(run.begin.clock.monotonic_zero_ns.unwrap_or(0));
        let host = run.begin.facts.host.hostname.clone().unwrap_or_default();
        let own = run.steps.last().map(|step| step.tallies.clone()).unwrap_or_default();
        let tallies = if ranks.is_rank_0() { Vec::new() } else { own };
        let stop = stop.map(StopMessage::of);
        let mine = RankResult { host, zero_ns, tallies, end: end.clone(), stop, unissued };
        let all = gather(ranks, &mine)?;
        let mut first = mine.stop.clone().filter(|stop| !stop.is_consequence());
        for (rank, result) in all.into_iter().enumerate().skip(1) {
            let result = result.shifted(zero_ns);
            let reason = result.stop.clone().filter(|stop| !stop.is_consequence());
            first = first.or(reason.map(|stop| stop.at(rank, &result.host)));
            unissued += result.unissued;
            self.take_result(result, end);
        }
        if ranks.is_rank_0() {
            // As the drivers of one process are.
            end.phases.sort_by_key(|phase| (phase.stream, phase.worker));
            self.warn_of_machines(end);
        }
        let first = broadcast(ranks, &first.or(mine.stop))?;
        ranks.forget_stops();
        Ok((first.map(StopMessage::into_stop), unissued))
    }

    fn take_result(&mut self, result: RankResult, end: &mut StepEnd) {
        for tally in result.tallies {
            self.recorder.record(Record::Tally(Box::new(tally)));
        }
        let mut slowest = Slowest::new();
        end.slowest.iter().chain(&result.end.slowest).for_each(|slow| slowest.offer(*slow));
        end.slowest = slowest.sorted();
        end.phases.extend(result.end.phases);
        let room = MISMATCHES_MAX.saturating_sub(end.mismatches.len());
        end.mismatches.extend(result.end.mismatches.into_iter().take(room));
    }

    /// The kernel of the first machine counts nothing of what the others do.
    fn warn_of_machines(&mut self, end: &StepEnd) {
        let begin = &self.recorder.run().begin;
        let machines = begin.machines();
        if machines.len() < 2 || end.step > 0 {
            return;
        }
        let names: Vec<&str> = machines.into_iter().collect();
        let text = format!(
            "the work was done by {} processes on {}: the kernel's counters were read on the \
             machine of rank 0 only.",
            begin.processes.len(),
            names.join(", ")
        );
        self.recorder.warn(Warning {
            code: "several_machines".into(),
            text,
            advice: "Watch the drives of the other machines there, with `drivelab watch`.".into(),
            step: None,
        });
    }
}

/// What one rank measured in a step.
#[derive(Debug, Default, Serialize, Deserialize)]
struct RankResult {
    /// Its machine.
    host: String,
    /// CLOCK_MONOTONIC at time zero of its stamps, in that of rank 0.
    zero_ns: u64,
    /// Intervals of its workers.
    tallies: Vec<Tally>,
    /// What its drivers left behind.
    end: StepEnd,
    /// Why it ended early.
    stop: Option<StopMessage>,
    /// Operations that were due and not issued.
    unissued: u64,
}

impl RankResult {
    /// Takes its times to those of the rank whose time zero is at `zero_ns`.
    fn shifted(mut self, zero_ns: u64) -> Self {
        let by = self.zero_ns as i64 - zero_ns as i64;
        let shift = |time: &mut u64| *time = time.saturating_add_signed(by);
        for tally in &mut self.tallies {
            shift(&mut tally.from);
            shift(&mut tally.to);
            for gap in &mut tally.gaps {
                shift(&mut gap.from);
                shift(&mut gap.to);
            }
        }
        for phase in &mut self.end.phases {
            let Phase { opened, measured_from, first, last, closed, stonewall, .. } = phase;
            let stonewalled = stonewall.as_mut().map(|stonewall| &mut stonewall.at);
            let others = [opened, measured_from, first, last, closed];
            others.into_iter().chain(stonewalled).for_each(shift);
        }
        for Slow { issued, .. } in &mut self.end.slowest {
            shift(issued);
        }
        self
    }
}

/// Why a rank ended a step early.
#[derive(Debug, Clone, PartialEq, Eq, Serialize, Deserialize)]
struct StopMessage {
    /// The exit status that it comes to.
    status: u8,
    /// The reason; empty where it was interrupted.
    text: String,
    /// What kind of trouble it was, if it was one.
    kind: Option<TroubleKind>,
}

impl StopMessage {
    fn of(stop: Stop) -> Self {
        let message = |status: Status, text| StopMessage { status: status as u8, text, kind: None };
        match stop {
            Stop::Interrupted => message(Status::Interrupted, String::new()),
            Stop::Trouble(trouble) => {
                let kind = Some(trouble.kind);
                // The advice follows from the kind, and is added where it is said.
                let text = trouble.text.clone();
                StopMessage { kind, ..message(Failure::from(trouble).status, text) }
            }
            // Studies, which have limits, are done by one rank.
            Stop::Spent(text) => message(Status::Invalid, text),
        }
    }

    /// Another rank failed, which has the reason.
    fn is_consequence(&self) -> bool {
        self.kind == Some(TroubleKind::Elsewhere)
    }

    /// The same with the name of the rank that it is of.
    fn at(mut self, rank: usize, host: &str) -> Self {
        if !self.text.is_empty() {
            self.text = format!("process {rank} on {host}: {}", self.text);
        }
        self
    }

    fn into_stop(self) -> Stop {
        match self.kind {
            Some(kind) => Stop::Trouble(Trouble { kind, text: self.text }),
            None if self.status == Status::Interrupted as u8 => Stop::Interrupted,
            None => Stop::Spent(self.text),
        }
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn a_reason_is_told_from_its_consequence_by_its_kind() {
        let text = "another process could not begin";
        let of = |trouble| StopMessage::of(Stop::Trouble(trouble));
        assert!(of(Trouble::elsewhere(text)).is_consequence());
        assert!(!of(Trouble::failed(text)).is_consequence());
        let told = of(Trouble::usage("no")).at(1, "here").into_stop();
        assert_eq!(told, Stop::Trouble(Trouble::usage("process 1 on here: no")));
        let defect = Trouble::defect("it went back in time");
        let Stop::Trouble(told) = of(defect.clone()).at(1, "here").into_stop() else {
            panic!("a defect is trouble")
        };
        assert_eq!(told.kind, TroubleKind::Defect);
        assert_eq!(told.text, format!("process 1 on here: {}", defect.text));
        let interrupted = StopMessage::of(Stop::Interrupted).at(1, "here").into_stop();
        assert_eq!(interrupted, Stop::Interrupted);
    }
}

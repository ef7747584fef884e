//! The end of a step for several processes: what each measured comes together at the first one.

use super::{Execution, MISMATCHES_MAX, Stop, trouble};
use crate::outcome::{Failure, Status};
use crate::ranks::{RankResult, broadcast, gather, stop_message};
use drivelab_core::plan::Step;
use drivelab_core::queue::Trouble;
use drivelab_core::record::{Record, StepEnd, Warning};
use drivelab_core::tally::Slowest;
use drivelab_io::ranks::{Ranks, ranks};

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
        let ranks = ranks();
        let met = match ranks.is_alone() {
            true => Ok((stop, unissued)),
            false => self.merge_results(&ranks, end, stop, unissued),
        };
        let failed = |failure: Failure| Stop::Trouble(Trouble::failed(failure.text));
        let (stop, unissued) = met.unwrap_or_else(|failure| (Some(failed(failure)), 0));
        if unissued > 0 && stop.is_none() {
            self.recorder.warn(trouble::rate_not_kept(step, end.step, unissued));
        }
        stop
    }

    fn merge_results(
        &mut self,
        ranks: &Ranks,
        end: &mut StepEnd,
        stop: Option<Stop>,
        mut unissued: u64,
    ) -> Result<(Option<Stop>, u64), Failure> {
        if stop.is_some() {
            ranks.ask_to_stop();
        }
        let run = self.recorder.run();
        let zero_ns = ranks.to_rank_0_ns(run.begin.clock.monotonic_zero_ns.unwrap_or(0));
        let host = run.begin.facts.host.hostname.clone().unwrap_or_default();
        let own = run.steps.last().map(|step| step.tallies.clone()).unwrap_or_default();
        let tallies = if ranks.is_rank_0() { Vec::new() } else { own };
        let stopped = stop.as_ref().map(|stop| match stop {
            Stop::Interrupted => (Status::Interrupted as u8, String::new()),
            Stop::Trouble(trouble) => stop_message(trouble),
            // Studies, which have limits, are done by one process.
            Stop::Spent(text) => (Status::Invalid as u8, text.clone()),
        });
        let mine = RankResult { host, zero_ns, tallies, end: end.clone(), stop: stopped, unissued };
        let all = gather(ranks, &mine)?;
        let mut first = mine.stop.clone().filter(|(_, text)| !is_second_hand(text));
        for (rank, share) in all.into_iter().enumerate().skip(1) {
            let share = share.shifted(zero_ns);
            let reason = share.stop.clone().filter(|(_, text)| !is_second_hand(text));
            first = first.or(reason.map(|(kind, text)| (kind, said_by(rank, &share.host, &text))));
            unissued += share.unissued;
            self.take_share(share, end);
        }
        if ranks.is_rank_0() {
            // As the drivers of one process are.
            end.phases.sort_by_key(|phase| (phase.stream, phase.worker));
            self.warn_of_machines(end);
        }
        let first = broadcast(ranks, &first.or(mine.stop))?;
        ranks.forget_stops();
        let stop = first.map(|(kind, text)| match kind {
            kind if kind == Status::Interrupted as u8 => Stop::Interrupted,
            kind if kind == Status::Usage as u8 => Stop::Trouble(Trouble::usage(text)),
            _ => Stop::Trouble(Trouble::failed(text)),
        });
        Ok((stop, unissued))
    }

    fn take_share(&mut self, share: RankResult, end: &mut StepEnd) {
        for tally in share.tallies {
            self.recorder.record(Record::Tally(Box::new(tally)));
        }
        let mut slowest = Slowest::new();
        end.slowest.iter().chain(&share.end.slowest).for_each(|slow| slowest.offer(*slow));
        end.slowest = slowest.sorted();
        end.phases.extend(share.end.phases);
        let room = MISMATCHES_MAX.saturating_sub(end.mismatches.len());
        end.mismatches.extend(share.end.mismatches.into_iter().take(room));
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
            "the work was done by {} processes on {}: what the kernel counts was looked at on the \
             first one's machine alone.",
            begin.processes.len(),
            names.join(", ")
        );
        self.recorder.warn(Warning {
            code: "several_machines".into(),
            text,
            advice: "Watch the drives of the others there, with `drivelab watch`.".into(),
            step: None,
        });
    }
}

/// What a process says that stopped because another did.
fn is_second_hand(text: &str) -> bool {
    text == "another process could not begin"
}

fn said_by(rank: usize, host: &str, text: &str) -> String {
    match text.is_empty() {
        true => String::new(),
        false => format!("process {rank} on {host}: {text}"),
    }
}

//! The end of a step for several processes: what each measured comes together at the first one.

use super::{Execution, MISMATCHES_MAX, Stop};
use crate::outcome::Status;
use crate::together::{Share, gathered, heard, told};
use drivelab_core::queue::Trouble;
use drivelab_core::record::{Record, StepEnd, Warning};
use drivelab_core::tally::Slowest;
use drivelab_io::team::{Team, team};

impl Execution<'_> {
    /// Puts what the others measured into `end` and the record of the step. One that failed ends it
    /// for all.
    pub(super) fn meet(&mut self, end: &mut StepEnd, stop: Option<Stop>) -> Option<Stop> {
        let team = team();
        if team.is_alone() {
            return stop;
        }
        if stop.is_some() {
            team.ask_to_stop();
        }
        match self.come_together(&team, end, stop) {
            Ok(stop) => stop,
            Err(failure) => Some(Stop::Trouble(Trouble::failed(failure.text))),
        }
    }

    fn come_together(
        &mut self,
        team: &Team,
        end: &mut StepEnd,
        stop: Option<Stop>,
    ) -> Result<Option<Stop>, crate::outcome::Failure> {
        let run = self.recorder.run();
        let zero_ns = team.to_leader_ns(run.begin.clock.monotonic_zero_ns.unwrap_or(0));
        let host = run.begin.facts.host.hostname.clone().unwrap_or_default();
        let own = run.steps.last().map(|step| step.tallies.clone()).unwrap_or_default();
        let tallies = if team.leads() { Vec::new() } else { own };
        let stopped = stop.as_ref().map(|stop| match stop {
            Stop::Interrupted => (Status::Interrupted as u8, String::new()),
            Stop::Trouble(trouble) => told(trouble),
        });
        let mine = Share { host, zero_ns, tallies, end: end.clone(), stop: stopped };
        let all = gathered(team, &mine)?;
        let mut first = mine.stop.clone().filter(|(_, text)| !is_second_hand(text));
        let hosts: Vec<String> = all.iter().map(|share| share.host.clone()).collect();
        for (rank, share) in all.into_iter().enumerate().skip(1) {
            let share = share.shifted(zero_ns);
            let reason = share.stop.clone().filter(|(_, text)| !is_second_hand(text));
            first = first.or(reason.map(|(kind, text)| (kind, said_by(rank, &share.host, &text))));
            self.take_share(share, end);
        }
        if team.leads() {
            self.warn_of_hosts(&hosts, end);
        }
        let first = heard(team, &first.or(mine.stop))?;
        team.forget_stops();
        Ok(first.map(|(kind, text)| match kind {
            kind if kind == Status::Interrupted as u8 => Stop::Interrupted,
            kind if kind == Status::Usage as u8 => Stop::Trouble(Trouble::usage(text)),
            _ => Stop::Trouble(Trouble::failed(text)),
        }))
    }

    fn take_share(&mut self, share: Share, end: &mut StepEnd) {
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
    fn warn_of_hosts(&mut self, hosts: &[String], end: &StepEnd) {
        let mut names: Vec<&String> = hosts.iter().collect();
        names.sort();
        names.dedup();
        if names.len() > 1 && end.step == 0 {
            let names: Vec<&str> = names.into_iter().map(String::as_str).collect();
            self.recorder.warn(Warning {
                code: "several_machines".into(),
                text: format!(
                    "the work was done by {} processes on {}: what the kernel counts was looked \
                     at on the first one's machine alone.",
                    hosts.len(),
                    names.join(", ")
                ),
                advice: "Watch the drives of the others there, with `drivelab watch`.".into(),
                step: None,
            });
        }
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

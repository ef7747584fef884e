//! What the arm does next, and how long that takes.

use super::cache::Run;
use super::{Command, Disk, Job, Place};
use crate::drive::Ends;
use drivelab_core::inside::Cause;
use drivelab_core::op::{Action, Time};
use drivelab_core::stages::Stage;

#[derive(Debug, Clone, Copy)]
enum Choice {
    Command(usize),
    Run(usize),
}

impl Disk {
    /// The arm is free: gives it the next command.
    pub(super) fn pick(&mut self, now: Time, ends: &mut Ends) {
        self.progress(now);
        self.answer_what_was_passed(now, ends);
        match self.overdue(now).or_else(|| self.nearest(now)) {
            Some(Choice::Command(index)) => {
                let command = self.queue.remove(index);
                self.serve(now, &command, ends);
            }
            Some(Choice::Run(index)) => {
                let run = self.writes.begin(index);
                self.stop_reading_ahead(now);
                self.access(now, run.first, run.end, true);
                self.job = Job::Run;
            }
            None => {}
        }
    }

    fn answer_what_was_passed(&mut self, now: Time, ends: &mut Ends) {
        let mut index = 0;
        while index < self.queue.len() {
            let command = self.queue[index];
            let is_read = command.action == Action::Read && command.ready_at <= now;
            if is_read && self.reads.holds(command.first, command.end) {
                self.queue.remove(index);
                self.answer(now, &command, ends);
            } else {
                index += 1;
            }
        }
    }

    /// What the oldest command needs, when it has waited too long: the arm, or that a run of the
    /// write cache is written.
    fn overdue(&self, now: Time) -> Option<Choice> {
        let ready = self.queue.iter().enumerate().filter(|(_, command)| command.ready_at <= now);
        let oldest = ready.min_by_key(|(_, command)| command.arrived);
        let for_arm = oldest.map_or(Time::MAX, |(_, command)| command.arrived);
        let for_place = self.waiting.front().map(|command| command.arrived);
        let for_flush = self.flushes.first().map(|flush| flush.arrived);
        let for_cache = for_place.into_iter().chain(for_flush).min().unwrap_or(Time::MAX);
        if now.saturating_sub(for_arm.min(for_cache)) < self.parameters.age_limit_ns {
            return None;
        }
        match for_cache < for_arm {
            true => self.nearest_run(now).map(|(_, choice)| choice),
            false => oldest.map(|(index, _)| Choice::Command(index)),
        }
    }

    /// What is reached soonest: a command, or a run of the write cache when no command is ready or
    /// somebody waits for the write cache.
    fn nearest(&self, now: Time) -> Option<Choice> {
        let commands = self.queue.iter().enumerate();
        let best = commands
            .filter(|(_, command)| command.ready_at <= now)
            .map(|(index, command)| (self.cost_ns(command, now), Choice::Command(index)))
            .min_by_key(|(cost_ns, _)| *cost_ns);
        let is_urgent = !self.waiting.is_empty() || !self.flushes.is_empty();
        let run = match best {
            Some(_) if !is_urgent => None,
            _ => self.nearest_run(now),
        };
        run.into_iter().chain(best).min_by_key(|(cost_ns, _)| *cost_ns).map(|(_, choice)| choice)
    }

    /// The run of the write cache that is reached soonest, and when; of those that a flush waits
    /// for, where there are any.
    fn nearest_run(&self, now: Time) -> Option<(u64, Choice)> {
        let flushed = self.flushes.first().map_or(u64::MAX, |flush| flush.number);
        let is_ready = |run: &Run| run.ready_at <= now;
        let is_flushed = |run: &Run| is_ready(run) && run.number <= flushed;
        let only_flushed = self.writes.runs.iter().any(is_flushed);
        let runs = self.writes.runs.iter().enumerate();
        runs.filter(|(_, run)| if only_flushed { is_flushed(run) } else { is_ready(run) })
            .map(|(index, run)| {
                let (seek_ns, rotation_ns) = self.positioning_ns(&run.place, true, now);
                (seek_ns + rotation_ns, Choice::Run(index))
            })
            .min_by_key(|(cost_ns, _)| *cost_ns)
    }

    fn cost_ns(&self, command: &Command, now: Time) -> u64 {
        let is_write = command.action == Action::Write;
        if !is_write && self.is_passing(command) {
            return 0;
        }
        let from = match is_write {
            true => command.first,
            false => self.reads.missing_from(command.first, command.end),
        };
        let (seek_ns, rotation_ns) = self.positioning_ns(&self.geometry.place(from), is_write, now);
        seek_ns + rotation_ns
    }

    fn serve(&mut self, now: Time, command: &Command, ends: &mut Ends) {
        self.job = Job::Command;
        let is_write = command.action == Action::Write;
        if let Some(ahead) = self.read_ahead.filter(|_| !is_write && self.is_passing(command)) {
            self.read_on(ahead, command, ahead.from, ends);
            self.arm_free_at = self.arm_free_at.max(now);
            return;
        }
        self.stop_reading_ahead(now);
        let from = match is_write {
            true => command.first,
            false => self.reads.missing_from(command.first, command.end),
        };
        let [seek_ns, rotation_ns, transfer_ns] = self.access(now, from, command.end, is_write);
        let end = self.arm_free_at;
        let carried = if is_write { command.bytes } else { 0 };
        let link_ns = self.parameters.command_ns + self.carry_ns(carried);
        let queued_ns = (now - command.arrived).saturating_sub(link_ns);
        let waits = [
            (transfer_ns, Cause::Transfer),
            (link_ns, Cause::Link),
            (queued_ns, Cause::Queue),
            (rotation_ns, Cause::Rotation),
            (seek_ns, Cause::Seek),
        ];
        let cause = waits.iter().max_by_key(|(wait_ns, _)| *wait_ns).map_or(Cause::Seek, |w| w.1);
        let own = [
            (Stage::Seek, seek_ns),
            (Stage::Rotation, rotation_ns),
            (Stage::Transfer, transfer_ns),
            (Stage::Link, self.carry_ns(carried)),
        ];
        self.tell(command, end, &own, ends);
        ends.push(end, command.ticket, cause);
        if is_write {
            return;
        }
        self.inside.cached_read_units += from - command.first;
        if let Some(segment) = self.reads.take(from) {
            self.reads.extend(segment, command.end);
            self.read_ahead = Some(self.ahead_of(segment, from, command.end, end));
        }
    }

    /// The arm goes to `first` and stays until `end` has passed; returns seek, rotation, transfer.
    fn access(&mut self, now: Time, first: u64, end: u64, is_write: bool) -> [u64; 3] {
        let (seek_ns, rotation_ns) =
            self.positioning_ns(&self.geometry.place(first), is_write, now);
        let transfer_ns = self.geometry.pass_ns(first, end - first);
        let last = self.geometry.place(end - 1);
        (self.cylinder, self.head) = (last.cylinder, last.head);
        self.arm_free_at = now + seek_ns + rotation_ns + transfer_ns;
        self.stages.accesses += 1;
        self.stages.seek_ns += seek_ns;
        self.stages.rotation_ns += rotation_ns;
        self.stages.transfer_ns += transfer_ns;
        self.inside.host_busy_ns += self.arm_free_at - now;
        [seek_ns, rotation_ns, transfer_ns]
    }

    /// How long the arm moves to `place` from where it is at `now`, and how long it then waits.
    pub(super) fn positioning_ns(&self, place: &Place, is_write: bool, now: Time) -> (u64, u64) {
        let mut seek_ns = match place.cylinder.abs_diff(self.cylinder) {
            0 if place.head == self.head => 0,
            0 => self.parameters.head_switch_ns,
            distance => self.seek.ns(distance),
        };
        if is_write && seek_ns > 0 {
            seek_ns += self.parameters.settle_write_ns;
        }
        let rotation_ns = self.geometry.rotation_ns();
        let turn_ns = self.turn_ns(now + seek_ns);
        (seek_ns, (self.geometry.turn_ns(place) + rotation_ns - turn_ns) % rotation_ns)
    }
}

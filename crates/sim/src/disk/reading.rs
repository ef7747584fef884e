//! Reads from memory, and what the head passes while it reads ahead.

use super::{Command, Disk, Job, ReadAhead};
use crate::drive::Ends;
use drivelab_core::inside::Cause;
use drivelab_core::op::Time;
use drivelab_core::stages::Stage;

impl Disk {
    pub(super) fn receive_read(&mut self, command: Command, ends: &mut Ends) {
        if self.writes.holds(command.first, command.end) {
            self.answer(command.ready_at, &command, ends);
            return;
        }
        let is_alone = self.queue.is_empty() && self.writes.runs.is_empty();
        if is_alone && self.answer_while_reading_ahead(&command, ends) {
            return;
        }
        let is_ahead = self.is_passing(&command)
            && self.read_ahead.is_some_and(|ahead| {
                command.end > ahead.held && ahead.passed_at > command.ready_at
            });
        if !is_ahead && self.reads.holds(command.first, command.end) {
            self.answer(command.ready_at, &command, ends);
            if is_alone {
                self.read_ahead_again(&command);
            }
            return;
        }
        self.queue.push(command);
    }

    /// Answers a read from memory, at `at` or when the link is free.
    pub(super) fn answer(&mut self, at: Time, command: &Command, ends: &mut Ends) {
        self.inside.cached_read_units += command.end - command.first;
        if let Some(segment) = self.reads.find(command.first) {
            self.reads.touch(segment);
        }
        let end = self.carry(at, command.bytes);
        self.tell(command, end, &[(Stage::Link, self.carry_ns(command.bytes))], ends);
        ends.push(end, command.ticket, Cause::Link);
    }

    /// Answers a read that the head passes, or has passed, while it reads ahead.
    fn answer_while_reading_ahead(&mut self, command: &Command, ends: &mut Ends) -> bool {
        let Some(ahead) = self.read_ahead else {
            return false;
        };
        if self.reads.find(command.first) != Some(ahead.segment) {
            return false;
        }
        let runs_out_at =
            ahead.from_at + self.geometry.pass_ns(ahead.from, ahead.limit - ahead.from);
        if runs_out_at < command.ready_at {
            self.stop_reading_ahead(command.ready_at);
            return false;
        }
        let from = ahead.from.min(command.end);
        self.read_on(ahead, command, from, ends);
        true
    }

    /// The head reads on at least to the end of a read, which ends when that has passed.
    pub(super) fn read_on(
        &mut self,
        ahead: ReadAhead,
        command: &Command,
        own: u64,
        ends: &mut Ends,
    ) {
        let mut ahead = ahead;
        if command.end > ahead.from {
            let pass_ns = self.geometry.pass_ns(ahead.from, command.end - ahead.from);
            self.stages.transfer_ns += pass_ns;
            self.inside.host_busy_ns += pass_ns;
            ahead.held = ahead.from;
            ahead.from = command.end;
            ahead.passed_at = ahead.from_at + pass_ns;
            ahead.from_at = ahead.passed_at + self.gap_ns(ahead.from);
            self.arm_free_at = self.arm_free_at.max(ahead.passed_at);
            self.reads.extend(ahead.segment, command.end);
        }
        let window = command.end + self.reads.segment_sectors;
        ahead.limit = ahead.limit.max(window.min(self.sectors)).max(ahead.from);
        self.read_ahead = Some(ahead);
        self.reads.touch(ahead.segment);
        let passed_at = if command.end <= ahead.held { 0 } else { ahead.passed_at };
        if passed_at <= command.ready_at {
            self.answer(command.ready_at, command, ends);
            return;
        }
        let end = passed_at.max(command.ready_at + self.carry_ns(command.bytes));
        let own_ns = self.geometry.pass_ns(own, command.end - own);
        let queued_ns = (end - command.arrived).saturating_sub(own_ns + self.parameters.command_ns);
        let cause = if queued_ns > own_ns { Cause::Queue } else { Cause::Transfer };
        self.tell(command, end, &[(Stage::Transfer, own_ns)], ends);
        ends.push(end, command.ticket, cause);
    }

    /// Begins to read ahead again when a read from memory left less than half of a segment.
    fn read_ahead_again(&mut self, command: &Command) {
        let Some(segment) = self.reads.find(command.first) else {
            return;
        };
        let held = self.reads.end(segment);
        let has_enough = held >= command.end + self.reads.segment_sectors / 2;
        let is_idle = self.job == Job::None && self.arm_free_at <= command.ready_at;
        if has_enough
            || held < command.end
            || held >= self.sectors
            || !is_idle
            || self.read_ahead.is_some()
        {
            return;
        }
        let place = self.geometry.place(held);
        let (seek_ns, rotation_ns) = self.positioning_ns(&place, false, command.ready_at);
        self.read_ahead = Some(ReadAhead {
            segment,
            held,
            passed_at: command.ready_at,
            from: held,
            from_at: command.ready_at + seek_ns + rotation_ns,
            limit: (command.end + self.reads.segment_sectors).clamp(held, self.sectors),
        });
        (self.cylinder, self.head) = (place.cylinder, place.head);
    }

    fn gap_ns(&self, sector: u64) -> u64 {
        self.geometry.gap_ns(sector.min(self.sectors - 1))
    }

    /// Where reading ahead begins after a read up to `end` that has passed at `passed_at`.
    pub(super) fn ahead_of(
        &self,
        segment: usize,
        held: u64,
        end: u64,
        passed_at: Time,
    ) -> ReadAhead {
        let limit = (end + self.reads.segment_sectors).min(self.sectors).max(end);
        let from_at = passed_at + self.gap_ns(end);
        ReadAhead { segment, held, passed_at, from: end, from_at, limit }
    }

    /// Takes into the cache what the head has passed at `now`.
    pub(super) fn progress(&mut self, now: Time) {
        let Some(mut ahead) = self.read_ahead else {
            return;
        };
        let spent_ns = now.saturating_sub(ahead.from_at);
        let passed = self.geometry.passed_in(ahead.from, ahead.limit - ahead.from, spent_ns);
        if passed > 0 {
            let pass_ns = self.geometry.pass_ns(ahead.from, passed);
            self.inside.background_busy_ns += pass_ns;
            ahead.from += passed;
            ahead.passed_at = ahead.from_at + pass_ns;
            ahead.from_at = ahead.passed_at + self.gap_ns(ahead.from);
            ahead.held = ahead.from;
            self.reads.extend(ahead.segment, ahead.from);
        }
        let place = self.geometry.place(ahead.from.min(self.sectors - 1));
        (self.cylinder, self.head) = (place.cylinder, place.head);
        self.read_ahead = (ahead.from < ahead.limit).then_some(ahead);
    }

    pub(super) fn stop_reading_ahead(&mut self, now: Time) {
        self.progress(now);
        self.read_ahead = None;
    }

    /// Whether a read continues what the head reads ahead now.
    pub(super) fn is_passing(&self, command: &Command) -> bool {
        self.read_ahead.is_some_and(|ahead| self.reads.find(command.first) == Some(ahead.segment))
    }

    /// What was read of the sectors of a write is no longer true.
    pub(super) fn overwrite(&mut self, at: Time, command: &Command) {
        self.inside.host_units += command.end - command.first;
        let (first, end) = (command.first, command.end);
        if let Some(ahead) = self.read_ahead
            && (self.reads.overlaps(ahead.segment, first, end)
                || first < ahead.limit && ahead.from < end)
        {
            self.stop_reading_ahead(at);
        }
        self.reads.forget(first, end);
    }
}

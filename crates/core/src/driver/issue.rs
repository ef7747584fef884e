//! Issuing: closed loops, bursts, open loops, and the end of all of them.

use super::{AHEAD, Driver, Ending, Next, flush_of};
use crate::content::{self, Stamp};
use crate::op::{Action, Op, Time};
use crate::plan::Sync;
use crate::queue::{Queue, Trouble};
use crate::tally::Flight;

/// Operations of one hint: a processor has only so many requests to memory under way.
const HINTED: usize = 4;

impl Driver {
    /// Submits whatever is due, and says what it waits for.
    ///
    /// # Errors
    /// Whatever the queue refuses.
    #[inline]
    pub fn pump<Q: Queue + ?Sized>(&mut self, queue: &mut Q) -> Result<Next, Trouble> {
        if self.exhausted() {
            return self.wind_up(queue);
        }
        if self.arrivals.is_some() {
            return self.pump_open(queue);
        }
        if self.setup.stream.arrival.burst().is_some() || self.setup.stream.think_time().0 > 0 {
            return self.pump_bursts(queue);
        }
        while !self.free.is_empty() && !self.exhausted() {
            self.issue_next(queue, 0)?;
        }
        Ok(Next::Completion)
    }

    pub(super) fn pump_open<Q: Queue + ?Sized>(&mut self, queue: &mut Q) -> Result<Next, Trouble> {
        let now = queue.now();
        self.clock = self.clock.max(now);
        if self.exhausted() {
            return self.wind_up(queue);
        }
        if self.free.len() == self.flights.len() {
            self.busy_from = now;
        }
        if self.was_full && now > 0 {
            self.count_backlog(now - 1);
        }
        // Flushes and replies follow their cause at once; they are no arrivals of their own.
        while self.follows() && !self.free.is_empty() && !self.exhausted() {
            self.issue_next(queue, now)?;
        }
        self.was_full = false;
        while self.next_due <= now && self.next_due < self.end_at && !self.exhausted() {
            if self.free.is_empty() {
                self.was_full = true;
                self.count_backlog(now);
                return Ok(Next::Completion);
            }
            self.due_issued += 1;
            let due = self.next_due;
            let late = now - due;
            self.tally.late_ns_sum += late;
            self.tally.late_ns_max = self.tally.late_ns_max.max(late);
            self.issue_next(queue, due)?;
            if self.flush_pending && !self.free.is_empty() {
                self.issue_next(queue, now)?;
            }
            if let Some(arrivals) = &mut self.arrivals {
                self.next_due = self.opened + arrivals.next();
            }
        }
        if self.exhausted() {
            return self.wind_up(queue);
        }
        self.was_full = self.free.is_empty();
        Ok(Next::Wake(self.next_due.min(self.end_at)))
    }

    /// Operations that were due at `now` and had not found a free slot.
    pub(super) fn count_backlog(&mut self, now: Time) {
        let Some(ahead) = &mut self.due_ahead else { return };
        while self.ahead_due <= now.min(self.end_at - 1) {
            self.due_count += 1;
            self.ahead_due = self.opened + ahead.next();
        }
        let waiting = self.due_count.saturating_sub(self.due_issued);
        self.tally.backlog_max = self.tally.backlog_max.max(waiting);
    }

    pub(super) fn pump_bursts<Q: Queue + ?Sized>(
        &mut self,
        queue: &mut Q,
    ) -> Result<Next, Trouble> {
        // Flushes and replies belong to the burst that caused them, and count in none.
        while self.follows() && !self.free.is_empty() && !self.exhausted() {
            self.issue_next(queue, 0)?;
        }
        if self.in_flight() == 0 && self.burst_left == 0 {
            let now = queue.now();
            self.clock = self.clock.max(now);
            if self.exhausted() {
                return self.wind_up(queue);
            }
            if now < self.think_until {
                return Ok(Next::Wake(self.think_until.min(self.end_at)));
            }
            self.burst_left = self.setup.stream.arrival.burst().unwrap_or(self.setup.stream.depth);
        }
        while self.burst_left > 0 && !self.free.is_empty() && !self.exhausted() {
            self.burst_left -= 1;
            self.issue_next(queue, 0)?;
            if self.flush_pending && !self.free.is_empty() {
                self.issue_next(queue, 0)?;
            }
        }
        Ok(Next::Completion)
    }

    /// Whether a flush or a reply waits for a slot.
    pub(super) fn follows(&self) -> bool {
        self.flush_pending || !self.replies.is_empty()
    }

    /// No more operations may be issued (the closing flush apart).
    #[inline]
    pub(super) fn exhausted(&self) -> bool {
        self.clock >= self.end_at
            || self.issued >= self.operations_max
            || self.issued_bytes >= self.bytes_max
            || self.stopped
            || self.ending != Ending::Running
    }

    pub(super) fn wind_up<Q: Queue + ?Sized>(&mut self, queue: &mut Q) -> Result<Next, Trouble> {
        if self.in_flight() > 0 {
            return Ok(Next::Drain);
        }
        if self.flush_pending && self.failure.is_none() {
            // The last write called for it.
            self.flush_pending = false;
            let now = queue.now();
            self.submit(queue, flush_of(self.flush_file), 0, now, true)?;
            return Ok(Next::Drain);
        }
        let flush = self.setup.stream.sync == Sync::End && self.writes > 0;
        let begins = self.ending == Ending::Running;
        let next = if begins { 0 } else { self.flush_file + 1 };
        if flush && self.failure.is_none() && next < self.setup.stream.files_of_worker() {
            self.ending = Ending::Flushing;
            self.flush_file = next;
            let now = queue.now();
            self.submit(queue, flush_of(next), 0, now, true)?;
            return Ok(Next::Drain);
        }
        self.ending = Ending::Over;
        Ok(Next::Finished)
    }

    #[inline(always)]
    pub(super) fn issue_next<Q: Queue + ?Sized>(
        &mut self,
        queue: &mut Q,
        due: Time,
    ) -> Result<(), Trouble> {
        if self.flush_pending {
            self.flush_pending = false;
            return self.submit(queue, flush_of(self.flush_file), 0, due, true);
        }
        if let Some((op, pass)) = self.replies.pop_front() {
            return self.issue(queue, op, pass, due, true);
        }
        let (op, pass) = match queue.looks_ahead() {
            true => self.draw_ahead(queue),
            false => self.offsets.next(),
        };
        self.issue(queue, op, pass, due, false)
    }

    /// Draws as [`Offsets`](crate::offsets::Offsets) would, a few operations early.
    #[inline]
    fn draw_ahead<Q: Queue + ?Sized>(&mut self, queue: &mut Q) -> (Op, u64) {
        let half = AHEAD / 2;
        let ahead = &mut self.ahead;
        if ahead.at.is_multiple_of(half) {
            // The half that was just used up, or both at the very beginning.
            let (first, count) = match ahead.has_begun {
                true => ((ahead.at + half) % AHEAD, half),
                false => (0, AHEAD),
            };
            let places = first..first + count;
            self.offsets.fill(&mut ahead.ops[places.clone()], &mut ahead.passes[places]);
            if !ahead.has_begun {
                queue.hint(&ahead.ops[..half]);
                ahead.has_begun = true;
            }
        }
        let place = ahead.at;
        if place.is_multiple_of(HINTED) {
            let behind = (place + half) % AHEAD;
            queue.hint(&ahead.ops[behind..behind + HINTED]);
        }
        ahead.at = (place + 1) % AHEAD;
        (ahead.ops[place], ahead.passes[place])
    }

    #[inline(always)]
    pub(super) fn issue<Q: Queue + ?Sized>(
        &mut self,
        queue: &mut Q,
        op: Op,
        pass: u64,
        due: Time,
        is_reply: bool,
    ) -> Result<(), Trouble> {
        if self.issued_bytes >= self.pass_end {
            self.begin_pass(queue)?;
        }
        self.issued += 1;
        self.issued_bytes += u64::from(op.len);
        if op.action == Action::Write {
            self.writes += 1;
            if let Sync::Fsync(n) | Sync::Fdatasync(n) = self.setup.stream.sync {
                self.flush_pending = self.writes.is_multiple_of(u64::from(n));
                self.flush_file = op.file;
            }
            if queue.keeps_content() {
                self.fill(queue, op, pass);
            }
        }
        self.submit(queue, op, pass, due, is_reply)
    }

    /// Drops what is cached, as fio does between passes: what is in flight goes on meanwhile.
    #[cold]
    fn begin_pass<Q: Queue + ?Sized>(&mut self, queue: &mut Q) -> Result<(), Trouble> {
        self.pass_end = self.pass_end.saturating_add(self.offsets.region().bytes.max(1));
        queue.drop_cached()
    }

    #[inline]
    pub(super) fn fill<Q: Queue + ?Sized>(&mut self, queue: &mut Q, op: Op, pass: u64) {
        let Some(tag) = self.free.last() else { return };
        let buffer = &mut queue.buffer(*tag)[..op.len as usize];
        let stream = &self.setup.stream;
        if stream.stamp {
            let pass = stream.pass.unwrap_or(0) + pass;
            let stamp = Stamp { address: op.offset, seed: self.setup.seed, pass };
            content::stamp(self.unit, buffer, stamp);
        } else if stream.content != crate::plan::Content::Zero {
            content::make_unique(self.unit, buffer, op.offset, self.issued);
        }
    }

    #[inline(always)]
    pub(super) fn submit<Q: Queue + ?Sized>(
        &mut self,
        queue: &mut Q,
        op: Op,
        pass: u64,
        due: Time,
        is_reply: bool,
    ) -> Result<(), Trouble> {
        let Some(tag) = self.free.pop() else {
            return Err(Trouble::failed("no free slot for an operation (a defect of drivelab)"));
        };
        let depth = self.in_flight();
        self.flights[tag as usize] = Flight { op, pass, due, depth, is_reply };
        queue.submit(tag, op)
    }

    /// Operations in flight.
    #[inline]
    pub fn in_flight(&self) -> u32 {
        (self.flights.len() - self.free.len()) as u32
    }
}

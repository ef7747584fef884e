//! Issuing: closed loops, bursts, open loops, and the end of all of them.

use super::parts::{Bursts, Ending, Wear};
use super::{AHEAD, Driver, Next, flush_of};
use crate::content::{self, Stamp};
use crate::op::{Action, DataOp, Op, Time};
use crate::plan::{Content, Sync};
use crate::queue::{Queue, Trouble};
use crate::repeated;
use crate::tally::{DEPTH_LEVELS, Flight, Stonewalled};
use drivelab_stats::Random;

/// Operations of one hint: a processor has only this many requests to memory under way.
const HINTED: usize = 4;
/// How often a worker whose time is over looks for what the others have come to.
const AWAITS_NS: Time = 50_000;

impl Driver {
    /// Submits whatever is due, and says what it waits for.
    ///
    /// # Errors
    /// Whatever the queue refuses.
    #[inline(always)]
    pub fn pump<Q: Queue + ?Sized>(&mut self, queue: &mut Q) -> Result<Next, Trouble> {
        let before = self.in_flight();
        let next = self.pump_due(queue);
        let after = self.in_flight();
        // What goes together has one depth, as a drive sees it.
        let level = (after.max(1).ilog2() as usize).min(DEPTH_LEVELS - 1);
        self.book.tally.depth_levels[level] += u64::from(after.saturating_sub(before));
        next
    }

    #[inline(always)]
    fn pump_due<Q: Queue + ?Sized>(&mut self, queue: &mut Q) -> Result<Next, Trouble> {
        if self.is_exhausted() {
            return self.wind_up(queue);
        }
        if self.clock.is_ahead {
            let (now, opened) = (queue.now(), self.clock.opened);
            if now < opened {
                return Ok(Next::Wake(opened));
            }
            self.clock.is_ahead = false;
            if let Some(flow) = &mut self.flow {
                flow.join();
            }
        }
        if !self.is_unpaced {
            return self.pump_paced(queue);
        }
        while self.may_issue() {
            self.issue_next(queue, 0)?;
        }
        debug_assert!(self.in_flight() > 0, "it waits for a completion, and nothing is in flight");
        Ok(Next::Completion)
    }

    fn pump_paced<Q: Queue + ?Sized>(&mut self, queue: &mut Q) -> Result<Next, Trouble> {
        match () {
            () if self.open_loop.is_some() => self.pump_open(queue),
            () if self.bursts.is_some() => self.pump_bursts(queue),
            () if self.appends.is_some() => self.pump_appends(queue),
            () => self.pump_in_ratio(queue),
        }
    }

    fn pump_open<Q: Queue + ?Sized>(&mut self, queue: &mut Q) -> Result<Next, Trouble> {
        let now = queue.now();
        self.clock.now = self.clock.now.max(now);
        if self.is_exhausted() {
            return self.wind_up(queue);
        }
        let (is_idle, opened, end_at) =
            (self.slots.are_idle(), self.clock.opened, self.bounds.end_at);
        if let Some(open) = &mut self.open_loop {
            if is_idle {
                open.busy_from = now;
            }
            if open.was_full && now > 0 {
                let waiting = open.backlog(now - 1, opened, end_at);
                self.book.note_backlog(waiting);
            }
            open.was_full = false;
        }
        // Flushes and replies follow their cause at once; they are no arrivals of their own.
        while self.follows() && self.may_issue() {
            self.issue_next(queue, now)?;
        }
        while !self.is_exhausted() {
            let is_full = self.slots.are_full();
            let Some(open) = &mut self.open_loop else {
                return Err(Trouble::defect("an open loop lost its arrivals"));
            };
            let due = open.next_due;
            if due > now || due >= end_at {
                open.was_full = is_full;
                return Ok(Next::Wake(due.min(end_at)));
            }
            if is_full {
                open.was_full = true;
                let waiting = open.backlog(now, opened, end_at);
                self.book.note_backlog(waiting);
                return Ok(Next::Completion);
            }
            if let Some(flow) = &mut self.flow {
                if !flow.take() {
                    open.was_full = true;
                    let waiting = open.backlog(now, opened, end_at);
                    self.book.note_backlog(waiting);
                    return Ok(Next::Wake(flow.wait(now).min(end_at)));
                }
                flow.go_on(now);
            }
            open.take_due(opened);
            self.book.note_late(now - due);
            self.issue_next(queue, due)?;
            if self.flushes.is_pending && !self.slots.are_full() {
                self.issue_next(queue, now)?;
            }
        }
        self.wind_up(queue)
    }

    fn pump_bursts<Q: Queue + ?Sized>(&mut self, queue: &mut Q) -> Result<Next, Trouble> {
        // Flushes and replies belong to the burst that caused them, and count in none.
        while self.follows() && self.may_issue() {
            self.issue_next(queue, 0)?;
        }
        let end_at = self.bounds.end_at;
        if self.slots.are_idle()
            && let Some(bursts) = self.bursts.as_mut().filter(|bursts| bursts.left == 0)
        {
            let now = queue.now();
            self.clock.now = self.clock.now.max(now);
            if self.bounds.are_reached(self.clock.now) {
                return self.wind_up(queue);
            }
            if now < bursts.think_until {
                return Ok(Next::Wake(bursts.think_until.min(end_at)));
            }
            bursts.begin();
        }
        while self.may_issue() && self.bursts.as_ref().is_some_and(|bursts| bursts.left > 0) {
            if self.has_had_its_share(queue) {
                return self.look_again(queue);
            }
            self.bursts.as_mut().map(Bursts::take);
            self.issue_next(queue, 0)?;
            if self.flushes.is_pending && !self.slots.are_full() {
                self.issue_next(queue, 0)?;
            }
        }
        Ok(Next::Completion)
    }

    /// A closed loop that waits for others who have had less than their share.
    fn pump_in_ratio<Q: Queue + ?Sized>(&mut self, queue: &mut Q) -> Result<Next, Trouble> {
        while self.may_issue() {
            if !self.follows() && self.has_had_its_share(queue) {
                return self.look_again(queue);
            }
            self.issue_next(queue, 0)?;
        }
        Ok(Next::Completion)
    }

    /// Counts one more operation in its group, unless that would be more than its share.
    fn has_had_its_share<Q: Queue + ?Sized>(&mut self, queue: &Q) -> bool {
        let Some(flow) = &mut self.flow else { return false };
        let goes_on = flow.take();
        if goes_on && flow.waits() {
            flow.go_on(queue.now());
        }
        !goes_on
    }

    /// Comes back when others may have issued more.
    fn look_again<Q: Queue + ?Sized>(&mut self, queue: &mut Q) -> Result<Next, Trouble> {
        let now = queue.now();
        self.clock.now = self.clock.now.max(now);
        if self.is_exhausted() {
            return self.wind_up(queue);
        }
        let at = self.flow.as_mut().map_or(now, |flow| flow.wait(now));
        Ok(Next::Wake(at.min(self.bounds.end_at)))
    }

    /// A zone takes appends once it is empty, and is finished once they have all landed.
    fn pump_appends<Q: Queue + ?Sized>(&mut self, queue: &mut Q) -> Result<Next, Trouble> {
        while self.may_issue() {
            let Some(appends) = &mut self.appends else { break };
            let is_idle = self.slots.are_idle();
            if appends.is_alone && !is_idle {
                break;
            }
            let (op, pass) = appends.next.take().unwrap_or_else(|| self.offsets.next());
            let goes_alone = op.action().goes_along();
            if goes_alone && !is_idle {
                appends.next = Some((op, pass));
                break;
            }
            appends.is_alone = goes_alone;
            self.issue(queue, op, pass, 0, false)?;
        }
        Ok(Next::Completion)
    }

    /// Whether a flush or a reply waits for a slot.
    fn follows(&self) -> bool {
        self.flushes.is_pending || !self.slots.replies.is_empty()
    }

    /// A slot is free, and no bound is reached.
    #[inline]
    fn may_issue(&self) -> bool {
        !self.slots.are_full() && !self.is_exhausted()
    }

    /// No more operations may be issued (the closing flush apart).
    #[inline]
    fn is_exhausted(&self) -> bool {
        self.bounds.are_reached(self.clock.now)
    }

    /// Says how far it has come, and asks again soon what the others have come to.
    #[cold]
    fn await_others(&mut self, now: Time) -> Next {
        let (operations, at) = (self.bounds.issued, self.clock.last_data);
        if let Wear::Waits(known @ None) = &mut self.bounds.wear {
            *known = Some(Stonewalled { operations, at });
        }
        Next::Wake(now.saturating_add(AWAITS_NS))
    }

    fn wind_up<Q: Queue + ?Sized>(&mut self, queue: &mut Q) -> Result<Next, Trouble> {
        if let Some(flow) = &mut self.flow {
            flow.go_on(self.clock.now);
            flow.leave();
        }
        if let Some(what) = self.defect {
            return Err(Trouble::defect(what));
        }
        if self.in_flight() > 0 {
            return Ok(Next::Drain);
        }
        if self.bounds.awaits_others() {
            return Ok(self.await_others(queue.now()));
        }
        let flushes = &mut self.flushes;
        if flushes.is_pending && self.failure.is_none() {
            // The last write called for it.
            flushes.is_pending = false;
            let (flush, now) = (flush_of(flushes.file), queue.now());
            self.submit(queue, flush, 0, now, true)?;
            return Ok(Next::Drain);
        }
        let flush = self.setup.stream.sync == Sync::End && flushes.writes > 0;
        let begins = self.bounds.ending == Ending::Running;
        let next = if begins { 0 } else { flushes.file + 1 };
        if flush && self.failure.is_none() && next < self.setup.stream.files_of_worker() {
            self.bounds.ending = Ending::Flushing;
            flushes.file = next;
            let now = queue.now();
            self.submit(queue, flush_of(next), 0, now, true)?;
            return Ok(Next::Drain);
        }
        self.bounds.ending = Ending::Over;
        Ok(Next::Finished)
    }

    #[inline(always)]
    pub(super) fn issue_next<Q: Queue + ?Sized>(
        &mut self,
        queue: &mut Q,
        due: Time,
    ) -> Result<(), Trouble> {
        if self.flushes.is_pending {
            self.flushes.is_pending = false;
            return self.submit(queue, flush_of(self.flushes.file), 0, due, true);
        }
        if let Some((op, pass)) = self.slots.replies.pop_front() {
            return self.issue(queue, op, pass, due, true);
        }
        let (mut op, pass) = match queue.looks_ahead() {
            true => self.draw_ahead(queue),
            false => self.offsets.next(),
        };
        if let (Some(priorities), Op::Data(op)) = (&mut self.priorities, &mut op) {
            op.priority = priorities.next(op.action, op.len);
        }
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
        debug_assert!(ahead.has_begun && place < AHEAD, "nothing was drawn ahead yet");
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
        debug_assert!(!self.is_exhausted(), "an operation is issued beyond a bound: {op:?}");
        if self.bounds.issued_bytes >= self.bounds.pass_end {
            self.begin_pass(queue)?;
        }
        self.bounds.issued += 1;
        self.bounds.issued_bytes += u64::from(op.bytes());
        debug_assert!(
            !matches!(op, Op::Data(op) if op.offset + u64::from(op.len) > self.setup.file_bytes),
            "{op:?} ends beyond the file of {} bytes",
            self.setup.file_bytes
        );
        if let Op::Data(op) = op
            && op.action == Action::Write
        {
            self.flushes.writes += 1;
            if let Sync::Fsync(n) | Sync::Fdatasync(n) = self.setup.stream.sync {
                self.flushes.is_pending = self.flushes.writes.is_multiple_of(u64::from(n));
                self.flushes.file = op.file;
            }
            if queue.keeps_content() {
                self.fill(queue, op, pass)?;
            }
        }
        self.submit(queue, op, pass, due, is_reply)
    }

    /// Drops what is cached, as fio does between passes: what is in flight goes on meanwhile.
    #[cold]
    fn begin_pass<Q: Queue + ?Sized>(&mut self, queue: &mut Q) -> Result<(), Trouble> {
        let bounds = &mut self.bounds;
        bounds.pass_end = bounds.pass_end.saturating_add(self.offsets.region().bytes.max(1));
        queue.drop_cached()
    }

    #[inline]
    pub(super) fn fill<Q: Queue + ?Sized>(
        &mut self,
        queue: &mut Q,
        op: DataOp,
        pass: u64,
    ) -> Result<(), Trouble> {
        let Some(tag) = self.slots.next() else {
            return Err(Trouble::defect("no free slot for the data of a write"));
        };
        let buffer = &mut queue.buffer(tag)[..op.len as usize];
        let stream = &self.setup.stream;
        // What was read into it is not what is to be written.
        let is_as_written = self.slots.flight(tag).op.action() == Action::Write;
        if let Some(template) = self.blocks.template.get(..buffer.len()).filter(|_| !is_as_written)
        {
            buffer.copy_from_slice(template);
        }
        if stream.stamp {
            let pass = stream.pass.unwrap_or(0) + pass;
            let stamp = Stamp { address: op.offset, seed: self.setup.seed, pass };
            content::stamp(self.blocks.unit_bytes, buffer, stamp);
        } else if let Some(data) = &stream.data {
            if !data.offset_at.is_empty() {
                repeated::fill(data, buffer, op.offset);
            }
        } else if let Some(repeats) = &mut self.blocks.repeats {
            let unit_bytes = self.blocks.unit_bytes;
            let mut random = Random::new(repeats.number());
            content::prefill(stream.content, unit_bytes, buffer, &mut random);
        } else if !matches!(stream.content, Content::Zero | Content::Counting(_)) {
            content::make_unique(self.blocks.unit_bytes, buffer, op.offset, self.bounds.issued);
        }
        Ok(())
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
        let flight = Flight { op, pass, due, is_reply };
        let Some(tag) = self.slots.launch(flight) else {
            return Err(Trouble::defect("no free slot for an operation"));
        };
        queue.submit(tag, op)
    }

    /// Operations in flight.
    #[inline]
    pub fn in_flight(&self) -> u32 {
        self.slots.in_flight()
    }
}

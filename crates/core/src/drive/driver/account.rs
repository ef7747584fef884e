//! Accounting: what one completion means, and what it brings about.

use super::parts::Ending;
use super::{Driver, Failure, MISMATCHES_MAX};
use crate::anatomy::Stamped;
use crate::content::{self, Fault, Stamp};
use crate::op::{Action, DataOp, Done, Errno, Op, Time};
use crate::plan::{Content, Reply, SyncTiming};
use crate::repeated;
use crate::tally::{Flight, Gap, Slow};

impl Driver {
    /// Accounts one completion; `data` is the tag's buffer where [`Driver::wants_data`].
    #[inline]
    pub fn reap(&mut self, done: &Done, data: &[u8]) {
        let Some(depth) = self.slots.land(done.tag) else {
            return self.note_defect("a completion came of an operation that is not in flight");
        };
        let flight = *self.slots.flight(done.tag);
        debug_assert!(done.issued <= done.completed, "completed before it was issued: {done:?}");
        debug_assert!(done.issued >= self.clock.opened, "issued before the step began: {done:?}");
        let clock = &mut self.clock;
        clock.now = done.completed;
        if done.completed >= clock.boundary {
            self.close_interval(done.completed);
        }
        let clock = &mut self.clock;
        // The first to complete need not be the first issued.
        clock.first_issue = clock.first_issue.min(done.issued);
        let since = if clock.is_idle {
            let busy_from = self.open_loop.as_ref().map_or(Time::MAX, |open| open.busy_from);
            clock.last_completion.max(done.issued.min(busy_from))
        } else {
            clock.last_completion
        };
        let since_last = done.completed.saturating_sub(clock.last_completion);
        clock.last_completion = done.completed;
        clock.is_idle = self.slots.are_idle();
        let gap = done.completed.saturating_sub(since);
        let action = flight.op.action();
        if gap > self.book.tally.gap_ns_max || gap >= self.setup.stream.gap_over.0 {
            self.note_gap(Gap { from: since, to: done.completed }, action);
        }
        self.book.tally.in_flight_sum += u64::from(depth);
        let due = if self.open_loop.is_some() { flight.due } else { done.issued };
        let Some(kind) = self.book.kind_of(action) else {
            return self.note_defect("an operation completed of a kind that its stream has not");
        };
        kind.account(done, due);
        if let (Op::Data(op), false) = (flight.op, kind.priorities.is_empty()) {
            kind.account_priority(done, op.priority);
        }
        if let Some(held_ns) = &mut kind.held_ns {
            *held_ns += since_last;
        }
        let latency_ns = done.completed.saturating_sub(due);
        if !self.book.tally.ramp && self.book.slowest.admits(latency_ns) {
            self.keep_slow(&flight, done, latency_ns);
        }
        self.follow_up(&flight, action, done, data);
    }

    #[cold]
    fn note_gap(&mut self, gap: Gap, action: Action) {
        let stream = &self.setup.stream;
        if action == Action::Flush && stream.sync_timing == SyncTiming::Outside {
            // The measured time stands still.
            return;
        }
        self.book.note_gap(gap, stream.gap_over.0);
    }

    #[cold]
    pub(super) fn keep_slow(&mut self, flight: &Flight, done: &Done, latency_ns: u64) {
        self.book.slowest.offer(Slow {
            latency_ns,
            issued: done.issued,
            kind: flight.op.action(),
            place: flight.op.place(),
            stream: self.setup.stream_index,
            worker: self.setup.worker,
            cause: done.cause,
        });
    }

    /// What a completion brings about: failure, verification, reply, the end of a flush.
    #[inline]
    fn follow_up(&mut self, flight: &Flight, action: Action, done: &Done, data: &[u8]) {
        let op = flight.op;
        if done.result != Ok(op.bytes()) {
            return self.fall_short(op, done);
        }
        if action == Action::Flush {
            self.commit(done);
            return self.after_flush(done);
        }
        self.clock.last_data = done.completed;
        if self.is_plain {
            return;
        }
        if let Some(floor) = &mut self.floor
            && !floor.take(action, op.bytes(), done.completed)
        {
            self.stop();
        }
        match op {
            Op::Data(op) => self.follow_data(op, flight, done, data),
            Op::Name(op) => {
                let number = u64::from(op.name());
                self.keep_stamp(
                    DataOp { action: op.action, offset: number, ..DataOp::default() },
                    done,
                )
            }
        }
        self.rest(done.completed);
    }

    /// What a completed operation on data brings about.
    fn follow_data(&mut self, op: DataOp, flight: &Flight, done: &Done, data: &[u8]) {
        if op.action == Action::Write {
            self.flushes.commit_from = self.flushes.commit_from.min(done.issued);
        }
        self.keep_stamp(op, done);
        if self.setup.stream.verify && op.action == Action::Read {
            self.verify(op, flight, data);
        }
        if !flight.is_reply
            && let Some(reply) = self.setup.stream.reply
        {
            self.reply(reply, op, flight.pass);
        }
    }

    /// Keeps an I/O by itself; of one on a name its number stands for the offset.
    fn keep_stamp(&mut self, op: DataOp, done: &Done) {
        let Some(stamping) = self.stamping.as_mut().filter(|_| !self.book.tally.ramp) else {
            return;
        };
        let &Done { issued, submitted, completed, .. } = done;
        let DataOp { action, offset, len: bytes, priority, .. } = op;
        let priority = priority as u16;
        stamping.keep(Stamped { issued, submitted, completed, offset, bytes, action, priority });
    }

    /// Where a stream thinks, it does so when all has come back.
    fn rest(&mut self, completed: Time) {
        if let Some(bursts) = self.bursts.as_mut().filter(|_| self.clock.is_idle) {
            bursts.rest(completed);
        }
    }

    /// Accounts what a flush made durable, with the time of its writes.
    #[cold]
    fn commit(&mut self, done: &Done) {
        let from = std::mem::replace(&mut self.flushes.commit_from, Time::MAX);
        let kind = self.book.kind_of(Action::Flush);
        if from < done.completed
            && let Some(commit) = kind.and_then(|kind| kind.commit.as_mut())
        {
            commit.record(done.completed - from);
        }
    }

    pub(super) fn after_flush(&mut self, done: &Done) {
        self.rest(done.completed);
        let outside = self.setup.stream.sync_timing == SyncTiming::Outside;
        if outside && self.bounds.ending == Ending::Running {
            let (clock, flushes) = (&self.clock, &mut self.flushes);
            let from = done.issued.max(clock.measured_from);
            let span = done.completed.saturating_sub(from);
            if clock.last_data >= flushes.last {
                flushes.trailing_ns = 0;
            }
            flushes.trailing_ns += span;
            flushes.excluded_ns += span;
        }
        self.flushes.last = done.completed;
    }

    /// What did not move just what it was asked for.
    #[cold]
    fn fall_short(&mut self, op: Op, done: &Done) {
        match done.result {
            Err(errno) => self.fail(Some(errno), op, 0),
            Ok(moved) if moved < op.bytes() => self.fail(None, op, moved),
            Ok(_) => self.note_defect("an operation moved more bytes than it was asked for"),
        }
    }

    pub(super) fn fail(&mut self, errno: Option<Errno>, op: Op, moved: u32) {
        self.stop();
        self.failure.get_or_insert(Failure { errno, op, moved });
    }

    /// Replies wait until as many requests have completed as come before them.
    pub(super) fn reply(&mut self, reply: Reply, op: DataOp, pass: u64) {
        let stream = &self.setup.stream;
        let len = stream.reply_size.map_or(op.len, |size| size.0 as u32);
        let action = if op.action == Action::Read { Action::Write } else { Action::Read };
        let region = self.offsets.region();
        let next = op.offset + u64::from(op.len).next_multiple_of(region.slot_bytes);
        let offset = match reply {
            Reply::Same => op.offset,
            Reply::Next if next + u64::from(len) <= region.base + region.bytes => next,
            Reply::Next => region.base,
        };
        debug_assert!(
            offset + u64::from(len) <= region.base + region.bytes,
            "a reply leaves the region: {op:?}"
        );
        self.slots.hold((Op::Data(DataOp { action, offset, len, ..op }), pass));
        if self.slots.held() >= stream.reply_after.unwrap_or(1) as usize {
            self.slots.release();
        }
    }

    /// Who only reads expects one pass everywhere; a read that answers a write on the same address
    /// expects the pass of that write; any other read among writes cannot know.
    pub(super) fn verify(&mut self, op: DataOp, flight: &Flight, data: &[u8]) {
        let stream = &self.setup.stream;
        let writes = stream.mix.write > 0 || stream.reply.is_some();
        let answers = flight.is_reply && stream.reply == Some(Reply::Same);
        let pass_known = stream.pass.is_some() && (answers || !writes);
        let first = Stamp {
            address: op.offset,
            seed: self.setup.seed,
            pass: stream.pass.unwrap_or(0) + if answers { flight.pass } else { 0 },
        };
        let (tally, mismatches) = (&mut self.book.tally, &mut self.blocks.mismatches);
        let data = &data[..op.len as usize];
        let mut note = |expected: Stamp, fault: Fault| {
            tally.mismatched += 1;
            tally.unstamped += u64::from(matches!(fault, Fault::NoStamp | Fault::Zeros));
            if mismatches.len() < MISMATCHES_MAX {
                mismatches.push((op, expected.address, fault, expected));
            }
        };
        let count = if let Some(named) = &stream.data {
            repeated::check_all(named, data, op.offset, |address, byte| {
                note(Stamp { address, ..first }, Fault::Data(byte));
            })
        } else if let Content::Counting(number) = stream.content {
            let part = stream.part_of(self.setup.worker);
            content::check_counting((number, part), data, |at, fault| {
                note(Stamp { address: op.offset + at as u64, ..first }, fault);
            })
        } else {
            content::check_all(self.blocks.unit_bytes, data, first, pass_known, note)
        };
        debug_assert!(tally.mismatched <= tally.verified + count, "more wrong than were checked");
        tally.verified += count;
    }
}

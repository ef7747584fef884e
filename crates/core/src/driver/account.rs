//! Accounting: what one completion means, and what it brings about.

use super::{Driver, Ending, Failure, MISMATCHES_MAX};
use crate::anatomy::Stamped;
use crate::content::{self, Fault, Stamp};
use crate::op::{Action, Done, Errno, Op, Time};
use crate::plan::{Reply, SyncTiming};
use crate::tally::{Flight, Gap, Slow};

impl Driver {
    /// Accounts one completion; `data` is the tag's buffer where [`Driver::wants_data`].
    #[inline]
    pub fn reap(&mut self, done: &Done, data: &[u8]) {
        let flight = self.flights[done.tag as usize];
        self.free.push(done.tag);
        self.clock = done.completed;
        if done.completed >= self.boundary {
            self.close_interval(done.completed);
        }
        // The first to complete need not be the first issued.
        self.first_issue = self.first_issue.min(done.issued);
        let since = if self.idle {
            self.last_completion.max(done.issued.min(self.busy_from))
        } else {
            self.last_completion
        };
        self.last_completion = done.completed;
        self.idle = self.free.len() == self.flights.len();
        let gap = done.completed.saturating_sub(since);
        if gap > self.tally.gap_ns_max || gap >= self.setup.stream.gap_over.0 {
            self.note_gap(since, done.completed, flight.op.action);
        }
        self.tally.in_flight_sum += u64::from(flight.depth);
        let open = self.arrivals.is_some();
        let due = if open { flight.due } else { done.issued };
        let slot = self.slot_of[flight.op.action.index()];
        self.tally.kinds[slot as usize].account(done, due);
        let latency_ns = done.completed.saturating_sub(due);
        if !self.tally.ramp && self.slowest.admits(latency_ns) {
            self.keep_slow(&flight, done, latency_ns);
        }
        self.follow_up(&flight, done, data);
    }

    #[cold]
    pub(super) fn note_gap(&mut self, from: Time, to: Time, action: Action) {
        if action == Action::Flush && self.setup.stream.sync_timing == SyncTiming::Outside {
            // The measured time stands still.
            return;
        }
        self.tally.gap_ns_max = self.tally.gap_ns_max.max(to - from);
        if to - from >= self.setup.stream.gap_over.0 {
            self.tally.list_gap(Gap { from, to });
        }
    }

    #[cold]
    pub(super) fn keep_slow(&mut self, flight: &Flight, done: &Done, latency_ns: u64) {
        self.slowest.offer(Slow {
            latency_ns,
            issued: done.issued,
            kind: flight.op.action,
            offset: flight.op.offset,
            stream: self.setup.stream_index,
            worker: self.setup.worker,
            cause: done.cause,
        });
    }

    /// What a completion brings about: failure, verification, reply, the end of a flush.
    #[inline]
    pub(super) fn follow_up(&mut self, flight: &Flight, done: &Done, data: &[u8]) {
        let op = flight.op;
        match done.result {
            Err(errno) => return self.fail(Some(errno), op, 0),
            Ok(moved) if moved < op.len => return self.fail(None, op, moved),
            Ok(_) => {}
        }
        if op.action == Action::Flush {
            return self.after_flush(done);
        }
        self.last_data = done.completed;
        if self.plain {
            return;
        }
        if self.is_stamping && !self.tally.ramp {
            self.stamp(op, done);
        }
        if self.setup.stream.verify && op.action == Action::Read {
            self.verify(flight, data);
        }
        if !flight.is_reply
            && let Some(reply) = self.setup.stream.reply
        {
            self.reply(reply, flight);
        }
        if self.setup.stream.think_time().0 > 0 && self.idle {
            self.think_until = done.completed + self.setup.stream.think_time().0;
        }
    }

    /// Keeps the stamps of one I/O, without ever asking for memory.
    fn stamp(&mut self, op: Op, done: &Done) {
        if self.stamps.len() == self.stamps.capacity() {
            self.unstamped += 1;
            return;
        }
        self.stamps.push(Stamped {
            issued: done.issued,
            completed: done.completed,
            offset: op.offset,
            bytes: op.len,
            action: op.action,
        });
    }

    pub(super) fn after_flush(&mut self, done: &Done) {
        if self.setup.stream.think_time().0 > 0 && self.idle {
            self.think_until = done.completed + self.setup.stream.think_time().0;
        }
        let outside = self.setup.stream.sync_timing == SyncTiming::Outside;
        if outside && self.ending == Ending::Running {
            let from = done.issued.max(self.measured_from);
            let span = done.completed.saturating_sub(from);
            if self.last_data >= self.last_flush {
                self.trailing_ns = 0;
            }
            self.trailing_ns += span;
            self.excluded_ns += span;
        }
        self.last_flush = done.completed;
    }

    #[cold]
    pub(super) fn fail(&mut self, errno: Option<Errno>, op: Op, moved: u32) {
        self.stopped = true;
        self.failure.get_or_insert(Failure { errno, op, moved });
    }

    pub(super) fn reply(&mut self, reply: Reply, flight: &Flight) {
        let op = flight.op;
        let action = if op.action == Action::Read { Action::Write } else { Action::Read };
        let region = self.offsets.region();
        let next = op.offset + u64::from(op.len).next_multiple_of(region.slot_bytes);
        let offset = match reply {
            Reply::Same => op.offset,
            Reply::Next if next + u64::from(op.len) <= region.base + region.bytes => next,
            Reply::Next => region.base,
        };
        self.replies.push_back((Op { action, offset, ..op }, flight.pass));
    }

    /// Who only reads expects one pass everywhere; a read that answers a write on the same address
    /// expects the pass of that write; any other read among writes cannot know.
    pub(super) fn verify(&mut self, flight: &Flight, data: &[u8]) {
        let (stream, op) = (&self.setup.stream, flight.op);
        let writes = stream.mix.write > 0 || stream.reply.is_some();
        let answers = flight.is_reply && stream.reply == Some(Reply::Same);
        let pass_known = stream.pass.is_some() && (answers || !writes);
        let first = Stamp {
            address: op.offset,
            seed: self.setup.seed,
            pass: stream.pass.unwrap_or(0) + if answers { flight.pass } else { 0 },
        };
        let (tally, mismatches) = (&mut self.tally, &mut self.mismatches);
        let data = &data[..op.len as usize];
        let count = content::check_all(self.unit, data, first, pass_known, |expected, fault| {
            tally.mismatched += 1;
            tally.unstamped += u64::from(matches!(fault, Fault::NoStamp | Fault::Zeros));
            if mismatches.len() < MISMATCHES_MAX {
                mismatches.push((op, expected.address, fault, expected));
            }
        });
        tally.verified += count;
    }
}

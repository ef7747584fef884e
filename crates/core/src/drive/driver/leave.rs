//! Intervals, limits, and what a driver leaves behind.

use super::floor::Floor;
use super::parts::{Bounds, Ending, Wear};
use super::{Driver, Failure, SPARES, Setup};
use crate::anatomy::Stamped;
use crate::content::{Fault, Stamp};
use crate::flow::Member;
use crate::offsets::Offsets;
use crate::op::{DataOp, Op, Time};
use crate::plan::{Arrival, Files, Sharing, SyncTiming};
use crate::queue::Trouble;
use crate::tally::{Mismatch, Phase, Slow, Stonewalled, Tally};

impl Driver {
    #[cold]
    pub(super) fn close_interval(&mut self, completed: Time) {
        let (clock, book) = (&mut self.clock, &mut self.book);
        debug_assert!(completed >= clock.boundary, "an interval is closed before it has passed");
        let interval = self.setup.interval.0.max(1);
        let passed = (completed - clock.boundary) / interval;
        let edge = clock.boundary;
        // Without a spare the interval goes on: longer, but nothing is lost. The ramp must end.
        if let Some(mut next) = book.spare.pop() {
            next.clear(edge + passed * interval);
            next.ramp = false;
            book.tally.to = edge;
            debug_assert!(book.tally.from <= edge, "an interval ends before it began");
            let full = std::mem::replace(&mut book.tally, next);
            debug_assert!(book.ready.len() < book.ready.capacity(), "no room for an interval");
            book.ready.push_back(full);
        } else if book.tally.ramp {
            book.tally.clear(edge);
            book.tally.ramp = false;
        }
        clock.boundary = edge + (passed + 1) * interval;
        debug_assert!(completed < clock.boundary, "the interval that begins has passed as well");
    }

    /// The next full interval, oldest first; hand it back with [`Driver::recycle`].
    pub fn take_interval(&mut self) -> Option<Box<Tally>> {
        self.book.ready.pop_front()
    }

    /// Whether it could use tallies back.
    #[inline]
    pub fn lacks_spares(&self) -> bool {
        self.book.spare.len() < SPARES / 2
    }

    /// Takes an emptied tally back for reuse.
    pub fn recycle(&mut self, tally: Box<Tally>) {
        let of = (tally.step, tally.stream, tally.worker);
        if of != (self.setup.step, self.setup.stream_index, self.setup.worker) {
            return self.note_defect("a tally came back to a worker whose it is not");
        }
        self.book.spare.push(tally);
        debug_assert!(
            self.book.spare.len() <= SPARES,
            "more tallies came back than were handed over"
        );
    }

    /// Counts system calls that the queue made.
    #[inline]
    pub fn note_calls(&mut self, submit: u64, reap: u64) {
        self.book.tally.submit_calls += submit;
        self.book.tally.reap_calls += reap;
    }

    /// The last, partial interval and when the driver ran.
    pub fn finish(&mut self, now: Time) -> (Box<Tally>, Phase) {
        let next = self.book.spare.pop().unwrap_or_else(|| self.book.tally.clone());
        let mut last = std::mem::replace(&mut self.book.tally, next);
        last.to = self.clock.last_completion.max(last.from).min(now.max(last.from));
        let outside = self.setup.stream.sync_timing == SyncTiming::Outside;
        let mut closed = self.clock.last_data.max(self.clock.measured_from);
        let mut excluded_ns = self.flushes.excluded_ns;
        if !outside {
            closed = closed.max(self.flushes.last);
        } else if self.flushes.last > self.clock.last_data {
            // Flushes after the last data lie behind the window: nothing to take out of it.
            debug_assert!(self.flushes.trailing_ns <= excluded_ns, "a part is more than the whole");
            excluded_ns -= self.flushes.trailing_ns;
        }
        debug_assert!(last.from <= last.to, "the last interval ends before it began");
        debug_assert!(closed >= self.clock.opened, "the window closed before it opened");
        let phase = Phase {
            stream: self.setup.stream_index,
            worker: self.setup.worker,
            opened: self.clock.opened,
            measured_from: self.clock.measured_from,
            first: if self.clock.first_issue == Time::MAX {
                self.clock.opened
            } else {
                self.clock.first_issue
            },
            last: self.clock.last_data,
            closed: if (self.setup.stream.arrival.rate().is_some() || self.flow.is_some())
                && self.clock.now >= self.bounds.end_at
            {
                closed.max(self.bounds.end_at)
            } else {
                closed
            },
            excluded_ns,
            cpu_ns: None,
            system_cpu_ns: None,
            context_switches: None,
            page_faults: None,
            waited_ns: self.flow.as_ref().map_or(0, Member::waited_ns),
            issued: self.bounds.issued,
            stonewall: self.stonewalled(),
            below: self.floor.as_ref().and_then(Floor::below),
        };
        (last, phase)
    }

    fn stonewalled(&self) -> Option<Stonewalled> {
        match self.bounds.wear {
            Wear::Ends => None,
            Wear::Waits(stonewalled) => stonewalled,
            Wear::GoesOn(stonewalled, _) => Some(stonewalled),
        }
    }

    /// Operations it has come to, once it waits for those of the others or will do no more.
    pub fn has_come_to(&self) -> Option<u64> {
        match self.bounds.wear {
            Wear::Waits(Some(stonewalled)) => Some(stonewalled.operations),
            Wear::Waits(None) if self.bounds.is_spent() || self.bounds.is_stopped => {
                Some(self.bounds.issued)
            }
            _ => None,
        }
    }

    /// Lets it go on to as many operations as the one that did most.
    pub fn go_on_to(&mut self, operations: u64) {
        if let Wear::Waits(Some(stonewalled)) = self.bounds.wear {
            self.bounds.wear = Wear::GoesOn(stonewalled, operations);
            self.bounds.operations_max = self.bounds.operations_max.min(operations);
            self.bounds.end_at = Time::MAX;
        }
    }

    /// Lets it go on to what so many operations of the stream that it reads back wrote, at most.
    ///
    /// # Errors
    /// What is read back cannot be planned.
    pub fn issue_at_most(&mut self, operations: u64) -> Result<(), Trouble> {
        let setup = &self.setup;
        let offsets = Offsets::new(&setup.stream, setup.worker, setup.file_bytes, setup.base())?;
        let most = offsets.left_within(operations, u64::MAX).unwrap_or(operations);
        self.bounds.operations_max = self.bounds.operations_max.min(most);
        Ok(())
    }

    /// The operation that failed and ended the step, if one did.
    pub fn failure(&self) -> Option<Failure> {
        self.failure
    }

    /// The slowest I/Os, slowest first.
    pub fn slowest(&self) -> Vec<Slow> {
        self.book.slowest.sorted()
    }

    /// How many stamps were kept so far, and the latest of them.
    pub fn latest_stamp(&self) -> (usize, Option<Stamped>) {
        let stamps = self.stamping.as_ref().map_or(&[][..], |kept| &kept.stamps);
        (stamps.len(), stamps.last().copied())
    }

    /// The stamps that were kept one by one, and how many I/Os found no room.
    pub fn take_stamps(&mut self) -> (Vec<Stamped>, u64) {
        self.stamping.take().map_or((Vec::new(), 0), |kept| (kept.stamps, kept.unstamped))
    }

    /// Operations that were due before the end and never issued.
    pub fn unissued(&self) -> u64 {
        let Some(open) = self.open_loop.as_ref().filter(|_| !self.bounds.is_spent()) else {
            return 0;
        };
        let mut ahead = open.ahead.clone();
        let end = self.bounds.end_at.min(self.clock.now);
        let (mut due, mut count) = (open.ahead_due, open.due_count);
        debug_assert!(open.due_issued <= self.bounds.issued, "more were due than were issued");
        while due < end {
            count += 1;
            due = self.clock.opened + ahead.next();
        }
        count.saturating_sub(open.due_issued)
    }

    /// Wrong stamps, the first hundred, in words.
    pub fn mismatches(&self) -> Vec<Mismatch> {
        let describe = |(op, offset, fault, expected): &(DataOp, u64, Fault, Stamp)| Mismatch {
            offset: *offset,
            file: op.file,
            what: fault.describe(expected),
        };
        self.blocks.mismatches.iter().map(describe).collect()
    }

    /// The operations in flight, for the watchdog.
    pub fn in_flight_ops(&self) -> Vec<Op> {
        self.slots.ops().collect()
    }
}

/// How far a worker may go.
pub(super) fn bounds(setup: &Setup, offsets: &Offsets) -> Bounds {
    let (operations_max, bytes_max) = limits(setup, offsets);
    let region = offsets.region().bytes.max(1);
    let is_left_out = setup.stream.pattern.sequence().is_some_and(|sequence| sequence.restart);
    let pass = offsets.pass_operations().filter(|_| is_left_out);
    let pass_bytes = pass.map_or(region, |pass| pass * setup.stream.size_max().max(1));
    Bounds {
        operations_max,
        bytes_max,
        end_at: Time::MAX,
        pass_end: if setup.stream.drop_cached_each_pass { pass_bytes } else { u64::MAX },
        issued: 0,
        issued_bytes: 0,
        is_stopped: false,
        wear: if setup.until.wear_out { Wear::Waits(None) } else { Wear::Ends },
        ending: Ending::Running,
    }
}

/// Operations and bytes this worker may issue.
fn limits(setup: &Setup, offsets: &Offsets) -> (u64, u64) {
    let (until, stream) = (&setup.until, &setup.stream);
    let workers = u64::from(stream.workers.max(1));
    let share = |total: u64| total / workers + u64::from(u64::from(setup.worker) < total % workers);
    let mut operations = until.operations.map_or(u64::MAX, share);
    let mut bytes = until.bytes.map_or(u64::MAX, |bytes| {
        let size = stream.size_max().max(1);
        let is_of_one = stream.sizes.is_empty() && stream.reply_size.is_none();
        if is_of_one { share(bytes.0 / size) * size } else { share(bytes.0) }
    });
    let shared = stream.sharing() == Sharing::Shared && stream.files == Files::One;
    // Workers that all walk the same way issue the bytes of one pass together.
    let walks_all = shared && stream.is_sequential();
    let of_passes = |one: u64, passes: u64| {
        let total = one.saturating_mul(passes);
        if walks_all { share(total) } else { total }
    };
    if let Some(passes) = until.passes {
        match offsets.pass_operations() {
            Some(one) => operations = operations.min(of_passes(one, passes)),
            None => {
                let size = stream.size_max().max(1);
                let one = offsets.region().bytes / size * size;
                let one = if shared { share(one / size) * size } else { one };
                bytes = bytes.min(one.saturating_mul(passes));
            }
        }
    }
    if matches!(stream.arrival, Arrival::Trace { .. }) {
        // Times of a trace come once.
        operations = operations.min(offsets.pass_operations().unwrap_or(0));
    }
    let is_open = until.elapsed.is_none() && until.issued_by.is_none();
    if is_open && operations == u64::MAX && bytes == u64::MAX {
        operations = offsets.pass_operations().map_or(0, |one| of_passes(one, 1));
    }
    match offsets.left_within(operations, bytes) {
        Some(left) => (left, u64::MAX),
        None => (operations, bytes),
    }
}

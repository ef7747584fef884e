//! Intervals, limits, and what a driver leaves behind.

use super::{Driver, Failure, SPARES, Setup};
use crate::anatomy::Stamped;
use crate::content::{Fault, Stamp};
use crate::offsets::Offsets;
use crate::op::{Op, Tag, Time};
use crate::plan::{Arrival, Files, Sharing, SyncTiming};
use crate::tally::{Mismatch, Phase, Slow, Tally};

impl Driver {
    #[cold]
    pub(super) fn close_interval(&mut self, completed: Time) {
        let interval = self.setup.interval.0.max(1);
        let passed = (completed - self.boundary) / interval;
        let edge = self.boundary;
        // Without a spare the interval goes on: longer, but nothing is lost. The ramp must end.
        if let Some(mut next) = self.spare.pop() {
            next.clear(edge + passed * interval);
            next.ramp = false;
            self.tally.to = edge;
            let full = std::mem::replace(&mut self.tally, next);
            self.ready.push_back(full);
        } else if self.tally.ramp {
            self.tally.clear(edge);
            self.tally.ramp = false;
        }
        self.boundary = edge + (passed + 1) * interval;
    }

    /// The next full interval, oldest first; hand it back with [`Driver::recycle`].
    pub fn take_interval(&mut self) -> Option<Box<Tally>> {
        self.ready.pop_front()
    }

    /// Whether it could use tallies back.
    #[inline]
    pub fn lacks_spares(&self) -> bool {
        self.spare.len() < SPARES / 2
    }

    /// Takes an emptied tally back for reuse.
    pub fn recycle(&mut self, tally: Box<Tally>) {
        self.spare.push(tally);
    }

    /// Counts system calls that the queue made.
    #[inline]
    pub fn note_calls(&mut self, submit: u64, reap: u64) {
        self.tally.submit_calls += submit;
        self.tally.reap_calls += reap;
    }

    /// The last, partial interval and when the driver ran.
    pub fn finish(&mut self, now: Time) -> (Box<Tally>, Phase) {
        let next = self.spare.pop().unwrap_or_else(|| self.tally.clone());
        let mut last = std::mem::replace(&mut self.tally, next);
        last.to = self.last_completion.max(last.from).min(now.max(last.from));
        let outside = self.setup.stream.sync_timing == SyncTiming::Outside;
        let mut closed = self.last_data.max(self.measured_from);
        let mut excluded_ns = self.excluded_ns;
        if !outside {
            closed = closed.max(self.last_flush);
        } else if self.last_flush > self.last_data {
            // Flushes after the last data lie behind the window: nothing to take out of it.
            excluded_ns -= self.trailing_ns;
        }
        let phase = Phase {
            stream: self.setup.stream_index,
            worker: self.setup.worker,
            opened: self.opened,
            measured_from: self.measured_from,
            first: if self.first_issue == Time::MAX { self.opened } else { self.first_issue },
            last: self.last_data,
            closed: if self.setup.stream.arrival.rate().is_some() && self.clock >= self.end_at {
                closed.max(self.end_at)
            } else {
                closed
            },
            excluded_ns,
            cpu_ns: None,
            system_cpu_ns: None,
            context_switches: None,
            page_faults: None,
            issued: self.issued,
        };
        (last, phase)
    }

    /// The operation that failed and ended the step, if one did.
    pub fn failure(&self) -> Option<Failure> {
        self.failure
    }

    /// The slowest I/Os, slowest first.
    pub fn slowest(&self) -> Vec<Slow> {
        self.slowest.sorted()
    }

    /// The stamps that were kept one by one, and how many I/Os found no room.
    pub fn take_stamps(&mut self) -> (Vec<Stamped>, u64) {
        (std::mem::take(&mut self.stamps), self.unstamped)
    }

    /// Operations that were due before the end and never issued.
    pub fn unissued(&self) -> u64 {
        let Some(mut ahead) = self.due_ahead.clone() else { return 0 };
        if self.issued >= self.operations_max || self.issued_bytes >= self.bytes_max {
            return 0;
        }
        let end = self.end_at.min(self.clock);
        let (mut due, mut count) = (self.ahead_due, self.due_count);
        while due < end {
            count += 1;
            due = self.opened + ahead.next();
        }
        count.saturating_sub(self.due_issued)
    }

    /// Wrong stamps, the first hundred, in words.
    pub fn mismatches(&self) -> Vec<Mismatch> {
        let describe = |(op, offset, fault, expected): &(Op, u64, Fault, Stamp)| Mismatch {
            offset: *offset,
            file: op.file,
            what: fault.describe(expected),
        };
        self.mismatches.iter().map(describe).collect()
    }

    /// The oldest operation in flight, for the watchdog: its action and offset.
    pub fn in_flight_ops(&self) -> Vec<Op> {
        let is_free = |tag: usize| self.free.contains(&(tag as Tag));
        (0..self.flights.len()).filter(|tag| !is_free(*tag)).map(|t| self.flights[t].op).collect()
    }
}

/// Operations and bytes this worker may issue.
pub(super) fn limits(setup: &Setup, offsets: &Offsets) -> (u64, u64) {
    let (until, stream) = (&setup.until, &setup.stream);
    let workers = u64::from(stream.workers.max(1));
    let share = |total: u64| total / workers + u64::from(u64::from(setup.worker) < total % workers);
    let mut operations = until.operations.map_or(u64::MAX, share);
    let mut bytes = until.bytes.map_or(u64::MAX, |bytes| {
        let size = stream.size_max().max(1);
        if stream.sizes.is_empty() { share(bytes.0 / size) * size } else { share(bytes.0) }
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
    if until.elapsed.is_none() && operations == u64::MAX && bytes == u64::MAX {
        operations = offsets.pass_operations().map_or(0, |one| of_passes(one, 1));
    }
    match offsets.left_within(operations, bytes) {
        Some(left) => (left, u64::MAX),
        None => (operations, bytes),
    }
}

//! Writes that wait in the host while a drive without a queue of its own serves another one.

use crate::drive::{Ticket, Way};
use drivelab_core::inside::Cause;
use drivelab_core::op::{DataOp, Time};

/// A write that was not handed over yet.
#[derive(Debug, Clone, Copy)]
pub(super) struct Waiting {
    pub ticket: Ticket,
    pub op: DataOp,
    pub way: Way,
    pub arrived: Time,
}

/// Hands over one write at a time: the next address from the last one on, then the lowest again.
#[derive(Debug, Clone, Default)]
pub(super) struct Line {
    /// In order of arrival.
    waiting: Vec<Waiting>,
    /// Address of the write handed over last, when that was, its end, and what kept it.
    address: u64,
    handed_at: Time,
    busy_until: Time,
    kept_by: Cause,
}

impl Line {
    /// Whether a write that comes at `now` must wait.
    pub fn is_busy(&self, now: Time) -> bool {
        now < self.busy_until || !self.waiting.is_empty()
    }

    /// A write waits.
    pub fn join(&mut self, write: Waiting) {
        self.waiting.push(write);
    }

    /// When the next one is handed over.
    pub fn next_at(&self) -> Time {
        if self.waiting.is_empty() { Time::MAX } else { self.busy_until }
    }

    /// The next one, and what kept it.
    pub fn next(&mut self) -> Option<(Waiting, Cause)> {
        let order = |write: &Waiting| (self.has_passed(write), write.op.offset);
        let next = (0..self.waiting.len()).min_by_key(|index| order(&self.waiting[*index]))?;
        Some((self.waiting.remove(next), self.kept_by))
    }

    /// Whether the turn of a write comes in the next round. Of several that wait for one address
    /// all have their turn; what comes to it later has not, or it could keep the others waiting
    /// for ever.
    fn has_passed(&self, write: &Waiting) -> bool {
        let offset = write.op.offset;
        offset < self.address || (offset == self.address && write.arrived > self.handed_at)
    }

    /// A write was handed over at `at` that ends at `end` and was kept by `cause`.
    pub fn handed_over(&mut self, offset: u64, at: Time, end: Time, cause: Cause) {
        (self.address, self.handed_at) = (offset, at);
        (self.busy_until, self.kept_by) = (end, cause);
    }
}

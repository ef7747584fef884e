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
    /// End of the write handed over last, what kept it, and the first address behind its own.
    busy_until: Time,
    kept_by: Cause,
    next_address: u64,
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
        let order = |write: &Waiting| (write.op.offset < self.next_address, write.op.offset);
        let next = (0..self.waiting.len()).min_by_key(|index| order(&self.waiting[*index]))?;
        Some((self.waiting.remove(next), self.kept_by))
    }

    /// A write was handed over that ends at `end` and was kept by `cause`.
    pub fn handed_over(&mut self, offset: u64, end: Time, cause: Cause) {
        (self.busy_until, self.kept_by, self.next_address) = (end, cause, offset + 1);
    }
}

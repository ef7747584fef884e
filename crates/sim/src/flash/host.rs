//! The way of a command into a drive and of its data over the link.

use super::drive::FlashDrive;
use super::parameters::transfer_ns;
use drivelab_core::op::{Action, DataOp, Time};
use std::cmp::Reverse;

/// Bytes of an operation that go over the link.
fn moved_bytes(op: &DataOp) -> u64 {
    match op.action {
        Action::Read | Action::Write => u64::from(op.len),
        _ => 0,
    }
}

impl FlashDrive {
    /// The controller takes a command that arrived at `at`.
    #[inline]
    pub(super) fn firmware(&mut self, at: Time, own_ns: u64) -> Time {
        self.firmware_free_at = self.firmware_free_at.max(at) + own_ns;
        self.firmware_free_at
    }

    /// When the drive takes a command of `now`, where it takes only this many at a time, or this
    /// many bytes of them.
    #[inline]
    pub(super) fn admit(&mut self, now: Time, op: &DataOp) -> Time {
        let now = match self.parameters.queue_depth {
            0 => now,
            depth => self.admit_one(now, depth as usize),
        };
        match &mut self.credits {
            None => now,
            Some(credits) => credits.admit(now, moved_bytes(op)),
        }
    }

    fn admit_one(&mut self, now: Time, depth: usize) -> Time {
        while self.taken.peek().is_some_and(|Reverse(end)| *end <= now) {
            self.taken.pop();
        }
        match self.taken.len() >= depth {
            true => self.taken.pop().map_or(now, |Reverse(end)| end),
            false => now,
        }
    }

    /// A command that was taken ends at `end`.
    #[inline]
    pub(super) fn note_taken(&mut self, end: Time, op: &DataOp) {
        if self.parameters.queue_depth > 0 {
            self.taken.push(Reverse(end));
        }
        if let Some(credits) = &mut self.credits {
            credits.take(end, moved_bytes(op));
        }
    }

    #[inline]
    fn link_ns(&mut self, bytes: u32) -> u64 {
        if self.link_transfer.0 != bytes {
            let moved_ns = transfer_ns(u64::from(bytes), self.parameters.link_bytes_per_s);
            self.link_transfer = (bytes, moved_ns);
        }
        self.link_transfer.1
    }

    /// Data enters over the link from `at` on.
    #[inline]
    pub(super) fn link_in(&mut self, at: Time, bytes: u32) -> Time {
        let moved_ns = self.link_ns(bytes);
        let free_at = match self.parameters.link_is_half_duplex {
            true => &mut self.link_out_free_at,
            false => &mut self.link_in_free_at,
        };
        *free_at = (*free_at).max(at) + moved_ns;
        *free_at
    }

    /// Data that is `ready` leaves over the link, which was asked for at `at`.
    #[inline]
    pub(super) fn link_out(&mut self, at: Time, ready: Time, bytes: u32) -> Time {
        let moved_ns = self.link_ns(bytes);
        let start = self.link_out_free_at.max(at);
        self.link_out_free_at = start + moved_ns;
        ready.max(start) + moved_ns
    }
}

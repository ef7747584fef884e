//! Flow control of the host link: so many bytes of reads and writes are under way at a time.

use drivelab_core::op::Time;
use std::cmp::Reverse;
use std::collections::BinaryHeap;

/// Credits for bytes: an operation holds them from when it is taken until it ends.
#[derive(Debug, Clone)]
pub(super) struct Credits {
    bytes: u64,
    under_way: u64,
    /// Ends of what is under way, with the bytes that each gives back.
    ends: BinaryHeap<Reverse<(Time, u64)>>,
    /// When the latest operation was taken: they keep their order.
    taken_at: Time,
}

impl Credits {
    /// `None`: without a bound.
    pub(super) fn new(bytes: u64) -> Option<Self> {
        (bytes > 0).then(|| Credits { bytes, under_way: 0, ends: BinaryHeap::new(), taken_at: 0 })
    }

    /// When an operation of `now` that moves `bytes` is taken. One that needs more than all credits
    /// goes alone.
    pub(super) fn admit(&mut self, now: Time, bytes: u64) -> Time {
        let mut at = self.taken_at.max(now);
        while let Some(Reverse((end, given))) = self.ends.peek().copied()
            && (end <= at || self.under_way + bytes > self.bytes)
        {
            self.ends.pop();
            self.under_way -= given;
            at = at.max(end);
        }
        self.taken_at = at;
        at
    }

    /// An operation that was taken ends at `end`.
    pub(super) fn take(&mut self, end: Time, bytes: u64) {
        self.under_way += bytes;
        self.ends.push(Reverse((end, bytes)));
    }

    /// Forgets what was under way.
    pub(super) fn clear(&mut self) {
        self.ends.clear();
        (self.under_way, self.taken_at) = (0, 0);
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn operations_wait_in_order_until_so_many_bytes_have_ended() {
        let mut credits = Credits::new(100).unwrap();
        for (now, bytes, taken_at) in [
            (0, 60, 0),
            (5, 40, 5),
            // The first ends at 1000, and gives back what two of 30 need.
            (6, 30, 1000),
            (7, 30, 1000),
            // It would fit, but came later.
            (8, 10, 1005),
            // More than all: when all others have ended.
            (2000, 500, 2005),
            (2001, 1, 3005),
        ] {
            assert_eq!(credits.admit(now, bytes), taken_at, "{bytes} at {now}");
            credits.take(taken_at + 1000, bytes);
        }
        credits.clear();
        assert_eq!(credits.admit(0, 100), 0);
    }
}

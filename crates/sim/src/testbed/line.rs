//! Operations of a worker whose calls wait: the kernel does them one after the other.
//!
//! What `io_submit` is given for the page cache it does before it returns, each operation when the
//! one before it is done (`fs/aio.c` calls `read_iter`, which waits for the page). The model lets
//! an operation be reaped when it is done; the kernel, when the whole batch is.

use crate::drive::Ticket;
use drivelab_core::op::{Action, DataOp};
use std::collections::VecDeque;

/// The operations of one worker, of which one at a time is done.
#[derive(Debug, Default)]
pub(super) struct Line {
    done_now: Option<Ticket>,
    waiting: VecDeque<(Ticket, DataOp)>,
}

impl Line {
    /// Whether it may be begun at once; otherwise it waits here. A flush is left to a thread of
    /// the kernel.
    pub(super) fn admits(&mut self, ticket: Ticket, op: &DataOp) -> bool {
        if op.action == Action::Flush {
            return true;
        }
        if self.done_now.is_some() {
            self.waiting.push_back((ticket, *op));
            return false;
        }
        self.done_now = Some(ticket);
        true
    }

    /// What is to be begun now that `ticket` has ended.
    pub(super) fn after(&mut self, ticket: Ticket) -> Option<(Ticket, DataOp)> {
        if self.done_now != Some(ticket) {
            return None;
        }
        let next = self.waiting.pop_front();
        self.done_now = next.map(|(ticket, _)| ticket);
        next
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn one_at_a_time_in_order_and_flushes_beside_them() {
        let read = |at| DataOp { action: Action::Read, offset: at, len: 4096, ..DataOp::default() };
        let flush = DataOp { action: Action::Flush, ..DataOp::default() };
        let mut line = Line::default();
        assert!(line.admits(0, &read(0)));
        assert!(!line.admits(1, &read(1)) && !line.admits(2, &read(2)));
        assert!(line.admits(3, &flush));
        assert_eq!(line.after(3), None, "the flush was not in its way");
        assert_eq!(line.after(0), Some((1, read(1))));
        assert_eq!(line.after(1), Some((2, read(2))));
        assert_eq!(line.after(2), None);
        assert!(line.admits(4, &read(4)));
    }
}

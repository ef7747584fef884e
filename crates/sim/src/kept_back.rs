//! Operations that something in front of a drive keeps back until their time.

use crate::drive::{Drive, Ends, Ticket, Way};
use drivelab_core::inside::Cause;
use drivelab_core::op::{DataOp, Time};

/// Operations, and when each goes to the drive.
#[derive(Debug, Default)]
pub(crate) struct KeptBack {
    until: Ends,
    /// By ticket.
    operations: Vec<(DataOp, Way)>,
}

impl KeptBack {
    /// Keeps an operation back until `until`.
    pub fn keep(&mut self, until: Time, ticket: Ticket, op: &DataOp, way: Way) {
        if self.operations.len() <= ticket as usize {
            self.operations.resize(ticket as usize + 1, Default::default());
        }
        self.operations[ticket as usize] = (*op, way);
        self.until.push(until, ticket, Cause::default());
    }

    /// The next time at which one is let go, or the drive has something to do.
    pub fn next_event(&self, drive: &dyn Drive) -> Time {
        self.until.next_at().min(drive.next_event())
    }

    /// Brings the drive to `now`; each operation goes to it at its own time.
    pub fn advance(&mut self, drive: &mut dyn Drive, now: Time, ends: &mut Ends) {
        loop {
            let at = self.next_event(drive);
            if at > now {
                return;
            }
            if drive.next_event() <= at {
                drive.advance(at, ends);
            }
            while let Some(let_go) = self.until.pop(at) {
                let (op, way) = self.operations[let_go.ticket as usize];
                drive.submit_by(at, let_go.ticket, &op, way, ends);
            }
        }
    }
}

//! Pauses in which the controller saves its map: each time the host has written so much, it takes
//! nothing up for a while. What was taken up before goes on.

use super::parameters::Parameters;
use drivelab_core::op::{Action, DataOp, Time};

/// When the map is saved.
#[derive(Debug, Clone)]
pub struct Checkpoints {
    every_bytes: u64,
    takes_ns: u64,
    /// Bytes written since the last one.
    written: u64,
    /// When the last one is over.
    over_at: Time,
}

impl Checkpoints {
    /// `None` where a drive makes none.
    pub fn new(parameters: &Parameters) -> Option<Self> {
        (parameters.checkpoint_bytes > 0).then_some(Checkpoints {
            every_bytes: parameters.checkpoint_bytes,
            takes_ns: parameters.checkpoint_ns,
            written: 0,
            over_at: 0,
        })
    }

    /// When an operation that comes at `at` is taken up.
    pub fn over_at(&self, at: Time) -> Time {
        self.over_at.max(at)
    }

    /// An operation ends at `end`: where enough was written, the map is saved then.
    pub fn served(&mut self, op: &DataOp, end: Time) {
        if op.action != Action::Write {
            return;
        }
        self.written += u64::from(op.len);
        if self.written >= self.every_bytes {
            self.written %= self.every_bytes;
            self.over_at = self.over_at.max(end) + self.takes_ns;
        }
    }
}

//! Where a mix of reads and writes has written, to be read back.

use super::Offsets;
use crate::op::{Action, Op};

/// The operations of a mix, of which the writes alone are left, as reads.
#[derive(Debug, Clone)]
pub(super) struct Written(Box<Offsets>);

impl Written {
    /// Of the mix that `all` draws; some of it must be writes.
    pub(super) fn new(all: Offsets) -> Self {
        Written(Box::new(all))
    }

    /// The next place, in the order of the writes.
    pub(super) fn next(&mut self) -> (Op, u64) {
        loop {
            let (op, pass) = self.0.next();
            if op.action() == Action::Write {
                return (op.with(Action::Read), pass);
            }
        }
    }

    /// Operations of one pass of the mix.
    pub(super) fn pass_operations(&self) -> Option<u64> {
        self.0.pass_operations()
    }

    /// Writes of the mix before it reaches one of these bounds.
    pub(super) fn within(&self, operations: u64, bytes: u64) -> u64 {
        let mut all = self.0.clone();
        let (mut drawn, mut moved, mut written) = (0, 0, 0);
        while drawn < operations && moved < bytes {
            let (op, _) = all.next();
            drawn += 1;
            moved += u64::from(op.bytes());
            written += u64::from(op.action() == Action::Write);
        }
        written
    }
}

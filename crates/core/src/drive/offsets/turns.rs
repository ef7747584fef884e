//! Several files of one worker, one operation each in turn.

use super::Offsets;
use crate::op::Op;

/// A generator for each file.
#[derive(Debug, Clone)]
pub(super) struct Turns {
    each: Vec<Offsets>,
    at: usize,
}

impl Turns {
    /// Files that are used in turn, in this order.
    pub(super) fn new(mut each: Vec<Offsets>) -> Self {
        for (file, offsets) in (0..).zip(&mut each) {
            offsets.file = file;
        }
        Turns { each, at: 0 }
    }

    /// The next operation of the file whose turn it is.
    pub(super) fn next(&mut self) -> (Op, u64) {
        let at = self.at;
        self.at = (at + 1) % self.each.len();
        let (op, pass) = self.each[at].next();
        debug_assert!(
            matches!(op, Op::Data(op) if op.file as usize == at),
            "an operation goes to the file of another turn"
        );
        (op, pass)
    }

    /// Operations of one pass over all files.
    pub(super) fn pass_operations(&self) -> Option<u64> {
        self.each.iter().map(Offsets::pass_operations).sum()
    }
}

//! Each address trimmed, and then written.

use super::Offsets;
use crate::op::{Action, Op};

/// The trims, and the write that is still due.
#[derive(Debug, Clone)]
pub(super) struct Pairs {
    trims: Box<Offsets>,
    due: Option<(Op, u64)>,
}

impl Pairs {
    /// A write behind each of these trims.
    pub(super) fn new(trims: Offsets) -> Self {
        Pairs { trims: Box::new(trims), due: None }
    }

    /// A trim, or the write of what was trimmed just before.
    pub(super) fn next(&mut self) -> (Op, u64) {
        if let Some(write) = self.due.take() {
            return write;
        }
        let (trim, pass) = self.trims.next();
        debug_assert!(trim.action() == Action::Trim, "a pair begins with a trim: {trim:?}");
        self.due = Some((trim.with(Action::Write), pass));
        (trim, pass)
    }

    /// Operations of one pass: two for each address.
    pub(super) fn pass_operations(&self) -> Option<u64> {
        self.trims.pass_operations().map(|trims| 2 * trims)
    }
}

//! What a step is, from what it holds.

use super::{Act, Step, Stream};

impl Step {
    /// Whether it can change what the target stores.
    pub fn changes_data(&self) -> bool {
        matches!(self.act, Some(Act::Trim { .. } | Act::Purge(_) | Act::Mkfs(_)))
            || self.streams.iter().any(Stream::changes_data)
    }

    /// How often it is done; an absent or zero `repeat` means once.
    pub fn repetitions(&self) -> u32 {
        self.repeat.max(1)
    }
}

//! The null engine: completes at once, with two clock readings for each operation. What it
//! reaches is the generator's own ceiling.

use crate::buffer::Buffers;
use crate::clock::Clock;
use crate::engine::{Calls, Engine, sleep_until};
use drivelab_core::inside::Cause;
use drivelab_core::op::{Done, Op, Tag, Time};
use drivelab_core::queue::{Queue, Trouble};

/// A queue without a drive.
#[derive(Debug)]
pub struct Null {
    clock: Clock,
    buffers: Buffers,
    pending: Vec<(Tag, u32)>,
}

impl Null {
    /// A queue with a buffer for each tag.
    pub fn new(clock: Clock, buffers: Buffers) -> Self {
        let pending = Vec::with_capacity(buffers.count());
        Null { clock, buffers, pending }
    }
}

impl Queue for Null {
    fn now(&self) -> Time {
        self.clock.now()
    }

    fn buffer(&mut self, tag: Tag) -> &mut [u8] {
        self.buffers.slice(tag)
    }

    #[inline]
    fn submit(&mut self, tag: Tag, op: Op) -> Result<(), Trouble> {
        debug_assert!(self.pending.len() < self.pending.capacity(), "more than there are slots");
        self.pending.push((tag, op.bytes()));
        Ok(())
    }
}

impl Engine for Null {
    #[inline]
    fn wait(
        &mut self,
        _least: u32,
        until: Option<Time>,
        done: &mut Vec<Done>,
    ) -> Result<Calls, Trouble> {
        if self.pending.is_empty()
            && let Some(until) = until
        {
            sleep_until(&self.clock, until);
        }
        for (tag, len) in self.pending.drain(..) {
            let issued = self.clock.now();
            let completed = self.clock.now();
            done.push(Done {
                tag,
                issued,
                submitted: issued,
                completed,
                result: Ok(len),
                cause: Cause::Unknown,
            });
        }
        Ok(Calls::default())
    }
}

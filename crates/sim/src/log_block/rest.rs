//! What an early drive does while the host rests.

use super::LogBlockDrive;
use drivelab_core::op::Time;

impl LogBlockDrive {
    /// Writes out what the buffer holds, once the host has rested for long enough before `now`.
    pub(super) fn flush_in_rest(&mut self, now: Time) {
        let from = self.busy_until + self.parameters.idle_flush_ns;
        if self.parameters.idle_flush_ns > 0 && now > from {
            let held = self.buffer.take_all();
            self.write_out(held, from);
        }
    }
}

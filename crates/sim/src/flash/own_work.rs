//! What a drive does of its own before an operation reaches it: most of it in a rest of the host,
//! some of it by the clock.

use super::drive::FlashDrive;
use drivelab_core::op::{Action, Time};

impl FlashDrive {
    /// Makes up for the time before `now`.
    pub(super) fn catch_up(&mut self, now: Time) {
        if self.parameters.idle_flush_ns > 0 {
            self.flush_in_rest(now);
        }
        if self.slc.is_some() {
            self.fold_in_rest(now);
        }
        if self.parameters.idle_collection_blocks > 0 {
            self.collect_in_rest(now);
        }
        if self.parameters.relocation_ns > 0 {
            self.flash.relocate(now, self.host_units);
        }
    }

    /// The same, and what an operation that comes at `now` brings about.
    pub(super) fn prepare(&mut self, now: Time, action: Action) {
        self.catch_up(now);
        if self.parameters.write_group_bytes > 0 && action == Action::Read {
            self.close_group(now);
        }
        if self.map_saves.is_some() && action == Action::Write {
            self.save_map(now, self.host_units);
        }
    }

    /// Programs what the buffer holds, once the host has rested for long enough before `now`.
    fn flush_in_rest(&mut self, now: Time) {
        let from = self.busy_until + self.parameters.idle_flush_ns;
        // Once a rest, however often somebody looks.
        if now > from && from > self.flushed_at {
            self.flushed_at = from;
            self.close_group(from);
        }
    }
}

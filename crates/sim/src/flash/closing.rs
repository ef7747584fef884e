//! A write group that is closed when a read comes, or the host rests: what is missing of it stays
//! empty, so that a write alone among reads costs as much of the flash as a whole group.

use super::drive::{FlashDrive, Reached};
use super::ftl::{Ftl, Medium};
use crate::memory::NONE;
use drivelab_core::inside::Cause;
use drivelab_core::op::Time;

impl FlashDrive {
    /// Sends what is held on its way to the flash, and leaves the rest of its write group, or
    /// program, empty.
    #[cold]
    pub(super) fn close_group(&mut self, at: Time) {
        let reached = self.drain(Reached { at, cause: Cause::Link });
        self.flash.now = reached.at;
        let units = self.parameters.write_group_bytes / self.parameters.map_unit_bytes;
        let program_units = self.ftl.layout().program_units;
        self.ftl.close_group(&mut self.flash, program_units.max(units as u32));
        self.give_back();
    }
}

impl Ftl {
    /// Leaves what is missing of a group of `units` of the host's block empty.
    fn close_group<M: Medium>(&mut self, medium: &mut M, units: u32) {
        let mut left_units: u64 = 0;
        while self.host.block != NONE
            && self.host.next < self.host.end
            && !self.by_block.split(self.host.next).1.is_multiple_of(units)
        {
            let unit = self.host.next;
            self.host.next += 1;
            self.reverse.set(unit, NONE);
            left_units += 1;
            if self.programs.split(unit + 1).1 == 0 {
                medium.host_program(unit);
            }
        }
        self.counts.padding_units += left_units;
        // Collection keeps pace as for units that hold something; afterwards, because its copies
        // may go to the same block and open another group.
        for _ in 0..left_units {
            self.keep_pace(medium);
        }
    }
}

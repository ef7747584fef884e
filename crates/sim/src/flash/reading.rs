//! Reads: from memory, or from the cells, and over the link.

use super::drive::{FlashDrive, Reached};
use crate::memory::NONE;
use drivelab_core::inside::Cause;
use drivelab_core::op::{DataOp, Time};
use drivelab_core::stages::Stage;

/// The unit of a read that was there last: when, when its place on the flash was known, and what
/// the flash itself took of the time from there on.
#[derive(Debug, Clone, Copy)]
struct LastUnit {
    at: Time,
    map_at: Time,
    own_ns: u64,
}

impl LastUnit {
    #[inline(always)]
    fn or_later<const WATCHED: bool>(&mut self, at: Time, map_at: Time, own_ns: u64) {
        if WATCHED && at > self.at {
            *self = LastUnit { at, map_at, own_ns };
        }
    }
}

impl FlashDrive {
    /// A read of one unit by a drive without memories.
    #[inline]
    fn read_one<const WATCHED: bool>(&mut self, now: Time, op: &DataOp, logical: u32) -> Reached {
        let asked = now + self.parameters.command_ns;
        self.reach::<WATCHED>(asked, Stage::Command, self.parameters.command_ns);
        let own_ns = self.parameters.firmware_read_ns + self.parameters.firmware_unit_ns;
        let at = self.firmware(asked, own_ns);
        self.reach::<WATCHED>(at, Stage::Controller, own_ns);
        let unit = self.ftl.locate(logical);
        let mut reached = Reached { at, cause: Cause::Link };
        if unit == NONE {
            self.unmapped_read_units += 1;
        } else if self.buffer.holds(logical, at) {
            self.cached_read_units += 1;
        } else {
            self.flash_read_units += 1;
            let own_ns = if WATCHED { self.sensing_ns(at, unit) } else { 0 };
            let (sensed_at, cause) = self.sense(at, unit);
            reached = reached.or_later(sensed_at, cause);
            self.reach::<WATCHED>(sensed_at, Stage::Flash, own_ns);
        }
        self.leave::<WATCHED>(at, reached, op.len)
    }

    /// The data of a read that came to the controller at `at` leaves over the link.
    #[inline]
    fn leave<const WATCHED: bool>(&mut self, at: Time, reached: Reached, bytes: u32) -> Reached {
        let left_at = self.link_out(at, reached.at, bytes);
        self.reach::<WATCHED>(left_at, Stage::Link, self.link_transfer.1);
        Reached { at: left_at, ..reached }
    }

    #[inline]
    pub(super) fn read<const WATCHED: bool>(&mut self, now: Time, op: &DataOp) -> Reached {
        let (first, end) = self.units(op);
        if end - first == 1 && self.is_plain {
            return self.read_one::<WATCHED>(now, op, first);
        }
        self.read_many::<WATCHED>(now, op, first, end)
    }

    #[inline(never)]
    fn read_many<const WATCHED: bool>(
        &mut self,
        now: Time,
        op: &DataOp,
        first: u32,
        end: u32,
    ) -> Reached {
        let asked = now + self.parameters.command_ns;
        self.reach::<WATCHED>(asked, Stage::Command, self.parameters.command_ns);
        let units_ns = self.parameters.firmware_unit_ns * u64::from(end - first);
        let pieces_ns = self.pieces_ns(asked, first, end);
        let own_ns = self.parameters.firmware_read_ns + units_ns + pieces_ns;
        let at = self.firmware(asked, own_ns);
        self.reach::<WATCHED>(at, Stage::Controller, own_ns);
        let mut last = LastUnit { at, map_at: at, own_ns: 0 };
        let mut reached = Reached { at, cause: Cause::Link };
        let (mut page, mut left_at, mut sensing_ns) = (NONE, at, 0);
        let page_units = self.ftl.layout().page_units;
        for logical in first..end {
            let mut from = at;
            if !self.is_plain {
                if let Some(ready_at) = self.find_in_memory(at, logical) {
                    self.count_in_memory(logical);
                    reached = reached.or_later(ready_at, Cause::Flash);
                    // It was read ahead, or is being: what is left of that.
                    last.or_later::<WATCHED>(ready_at, at, ready_at.saturating_sub(at));
                    continue;
                }
                from = self.look_up(at, logical, false);
                reached = reached.or_later(from, Cause::Map);
                last.or_later::<WATCHED>(from, from, 0);
            }
            let unit = self.ftl.locate(logical);
            if unit == NONE {
                self.unmapped_read_units += 1;
                continue;
            }
            if self.buffer.holds(logical, at) {
                self.cached_read_units += 1;
                continue;
            }
            self.flash_read_units += 1;
            // Units of one page, one after the other, are sensed together.
            if page_units > 1 && unit / page_units == page {
                left_at = self.flash.host_transfer(from, unit, left_at);
                reached = reached.or_later(left_at, reached.cause);
                sensing_ns += self.flash.timing().unit_transfer_ns;
                last.or_later::<WATCHED>(left_at, from, sensing_ns);
                if !self.is_plain {
                    self.keep_read(logical, left_at);
                }
                continue;
            }
            page = unit / page_units;
            sensing_ns = if WATCHED { self.sensing_ns(from, unit) } else { 0 };
            let (sensed_at, cause) = self.sense(from, unit);
            left_at = sensed_at;
            reached = reached.or_later(sensed_at, cause);
            last.or_later::<WATCHED>(left_at, from, sensing_ns);
            if !self.is_plain {
                self.keep_read(logical, left_at);
            }
        }
        if !self.is_plain {
            self.read_ahead(at, first, end);
        }
        self.reach::<WATCHED>(last.map_at, Stage::Map, u64::MAX);
        self.reach::<WATCHED>(last.at, Stage::Flash, last.own_ns);
        self.leave::<WATCHED>(at, reached, op.len)
    }

    /// How often the page around `unit` is sensed: more than once where the block is worn or the
    /// data is old.
    fn tries(&self, at: Time, unit: u32) -> u32 {
        let Some(retries) = &self.retries else { return 1 };
        let block = self.ftl.block_of(unit);
        let written_s = self.flash.written_at_s.get(block as usize).copied();
        retries.tries(at, self.ftl.erases_of(block), written_s.unwrap_or(0))
    }

    /// What it takes to sense the page around `unit` and move that, where nothing is in the way.
    #[cold]
    pub(super) fn sensing_ns(&self, at: Time, unit: u32) -> u64 {
        let timing = self.flash.timing();
        u64::from(self.tries(at, unit)) * timing.read_ns + timing.unit_transfer_ns
    }

    /// Reads the page around `unit`.
    #[inline(always)]
    pub(super) fn sense(&mut self, at: Time, unit: u32) -> (Time, Cause) {
        match self.senses_plainly {
            true => self.flash.host_read(at, unit, 1),
            false => self.sense_with_care(at, unit),
        }
    }

    /// The same where pages are sensed more than once, or dies are taken for long.
    #[inline(never)]
    fn sense_with_care(&mut self, at: Time, unit: u32) -> (Time, Cause) {
        let tries = self.tries(at, unit);
        match self.flash.has_pauses() {
            true => self.flash.host_read_behind_pause(at, unit, tries),
            false => self.flash.host_read(at, unit, tries),
        }
    }
}

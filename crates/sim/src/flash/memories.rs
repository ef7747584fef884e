//! What a drive keeps in its memory next to the write buffer: units that wait to be combined, data
//! read ahead, a part of the map.

use super::drive::{FlashDrive, Reached};
use super::map_cache::Look;
use crate::memory::NONE;
use drivelab_core::inside::Cause;
use drivelab_core::op::Time;

impl FlashDrive {
    /// When a unit is there that waits to be combined or was read ahead.
    pub(super) fn find_in_memory(&mut self, at: Time, logical: u32) -> Option<Time> {
        if self.combining.as_ref().is_some_and(|combining| combining.holds(logical)) {
            return Some(at);
        }
        let prefetch = self.prefetch.as_ref().filter(|prefetch| prefetch.held() > 0);
        if let Some(ready_at) = prefetch.and_then(|prefetch| prefetch.ready_at(logical)) {
            return Some(ready_at);
        }
        self.read_cache.as_mut()?.ready_at(logical)
    }

    /// A unit was read from memory. What was never written, or was trimmed, is read ahead as well,
    /// and is no data there either.
    #[inline]
    pub(super) fn count_in_memory(&mut self, logical: u32) {
        let waits = self.combining.as_ref().is_some_and(|combining| combining.holds(logical));
        match waits || self.ftl.locate(logical) != NONE {
            true => self.cached_read_units += 1,
            false => self.unmapped_read_units += 1,
        }
    }

    /// Keeps a unit that was read for further reads.
    pub(super) fn keep_read(&mut self, logical: u32, ready_at: Time) {
        if let Some(read_cache) = &mut self.read_cache {
            read_cache.keep(logical, ready_at);
        }
    }

    /// Forgets a unit that changes.
    pub(super) fn drop_from_memory(&mut self, logical: u32) {
        if let Some(combining) = &mut self.combining {
            combining.drop(logical);
        }
        self.drop_read_ahead(logical);
    }

    fn drop_read_ahead(&mut self, logical: u32) {
        if let Some(read_cache) = &mut self.read_cache {
            read_cache.drop(logical);
        }
        if let Some(prefetch) = self.prefetch.as_mut().filter(|prefetch| prefetch.held() > 0) {
            prefetch.drop(logical);
        }
    }

    /// Looks up a unit in the map; returns when its entry is known.
    pub(super) fn look_up(&mut self, at: Time, logical: u32, changes: bool) -> Time {
        match self.look_for_page(at, logical, changes) {
            None => at,
            Some(page) => self.flash.map_read(at, page),
        }
    }

    /// The page of the map that must be read for a unit, if any; the one that gives way for it is
    /// programmed.
    fn look_for_page(&mut self, at: Time, logical: u32, changes: bool) -> Option<u32> {
        let Look::Miss { read, program } = self.map_cache.as_mut()?.look(logical, changes) else {
            return None;
        };
        if let Some(page) = program {
            let page_units = self.ftl.layout().page_units;
            self.ftl.counts_mut().map_units += u64::from(page_units);
            self.flash.map_program(at, page, page_units);
        }
        Some(read)
    }

    /// Collection has moved units: their entries of the map change behind the host's back.
    pub(super) fn map_moves(&mut self, at: Time) {
        let mut moved = std::mem::take(&mut self.flash.moved);
        for logical in moved.drain(..) {
            if let Some(page) = self.look_for_page(at, logical, true) {
                self.flash.map_read_behind(at, page);
            }
        }
        self.flash.moved = moved;
    }

    /// Follows streams of sequential reads, and reads ahead of them where there is room.
    pub(super) fn read_ahead(&mut self, at: Time, first: u32, end: u32) {
        let Some(prefetch) = &mut self.prefetch else { return };
        let Some((stream, ahead)) = prefetch.follow(first, end) else { return };
        let page_units = self.ftl.layout().page_units;
        let (mut page, mut ready_at) = (NONE, at);
        for logical in ahead.start..ahead.end.min(self.ftl.layout().logical_units) {
            let held = self.prefetch.as_ref().map_or(0, |prefetch| prefetch.held());
            if !self.buffer.has_room(held + 1, at) {
                return;
            }
            let from = self.look_up(at, logical, false);
            let unit = self.ftl.locate(logical);
            if unit == NONE || self.buffer.holds(logical, at) {
                (page, ready_at) = (NONE, from);
            } else if unit / page_units != page {
                page = unit / page_units;
                ready_at = self.sense(from, unit).0;
            } else {
                ready_at = self.flash.host_transfer(from, unit, ready_at);
            }
            if let Some(prefetch) = &mut self.prefetch {
                prefetch.add(stream, ready_at);
            }
        }
    }

    /// Brings a written unit to its place: at once, or when it has waited for its neighbours.
    pub(super) fn place_by_rules(&mut self, reached: Reached, logical: u32) -> Reached {
        let known_at = self.look_up(reached.at, logical, true);
        let reached = reached.or_later(known_at, Cause::Map);
        self.drop_read_ahead(logical);
        #[cfg(test)]
        self.note_version(logical);
        let Some(combining) = &mut self.combining else {
            return self.place_beside_reads(reached, logical);
        };
        match combining.put(logical) {
            Some(group) => group
                .logical_units()
                .fold(reached, |reached, logical| self.place_beside_reads(reached, logical)),
            None => reached,
        }
    }

    fn place_beside_reads(&mut self, reached: Reached, logical: u32) -> Reached {
        if let Some(prefetch) = self.prefetch.as_mut().filter(|prefetch| prefetch.held() > 0)
            && !self.buffer.has_room(prefetch.held() + 1, reached.at)
        {
            prefetch.give_room();
        }
        #[cfg(test)]
        let version = self.recall_version(logical);
        let reached = self.place::<false>(reached, logical);
        #[cfg(test)]
        {
            self.ftl.contents.0 = version;
        }
        reached
    }

    /// Sends everything that waits to be combined on its way to the flash.
    pub(super) fn drain(&mut self, mut reached: Reached) -> Reached {
        while let Some(group) = self.combining.as_mut().and_then(|combining| combining.oldest()) {
            for logical in group.logical_units() {
                reached = self.place_beside_reads(reached, logical);
            }
        }
        reached
    }

    /// Share of the buffer that is taken. A unit that is still on the link has its place already,
    /// and what was read ahead gives way for it only when it arrives: that is still all of it.
    pub(super) fn buffer_fill(&self, now: Time) -> f64 {
        let waiting = self.combining.as_ref().map_or(0, |combining| combining.held());
        let read_ahead = self.prefetch.as_ref().map_or(0, |prefetch| prefetch.held());
        let units = self.parameters.buffer_bytes / self.parameters.map_unit_bytes;
        let taken = self.buffer.taken(now) + waiting + read_ahead;
        (taken as f64 / units as f64).min(1.0)
    }

    #[cfg(test)]
    fn note_version(&mut self, logical: u32) {
        let version = self.ftl.contents.0;
        if let Some(combining) = &mut self.combining {
            combining.versions.insert(logical, version);
        }
    }

    /// Makes the version that waited the one that is written; returns the one that was.
    #[cfg(test)]
    pub(super) fn recall_version(&mut self, logical: u32) -> u32 {
        let version = self.ftl.contents.0;
        if let Some(version) =
            self.combining.as_ref().and_then(|combining| combining.versions.get(&logical))
        {
            self.ftl.contents.0 = *version;
        }
        version
    }
}

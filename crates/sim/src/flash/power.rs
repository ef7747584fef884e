//! What a power cut takes away.

use super::blocks::BlockState;
use super::buffer::Place;
use super::drive::FlashDrive;
use super::ftl::{Ftl, Timeless};
use super::map_cache::MapCache;
use crate::memory::NONE;
use drivelab_core::op::Time;

impl FlashDrive {
    /// The power fails at `now` and comes back: what was in the buffer and is not on the flash is
    /// lost unless the drive protects it, and what it replaced comes back. The flash keeps what it
    /// holds. A block is not erased before what replaced its data is on the flash, and copies of
    /// collection are on it before their source is erased; neither is booked as a wait.
    pub fn power_cut(&mut self, now: Time) {
        self.catch_up(now);
        if self.parameters.power_loss_protection {
            while let Some(group) = self.combining.as_mut().and_then(|held| held.oldest()) {
                for logical in group.logical_units() {
                    self.keep(logical);
                }
            }
        } else {
            // The newest first: what each replaced may have been lost with it.
            for place in self.buffer.unfinished(now) {
                self.ftl.take_back(&place);
            }
        }
        self.ftl.restart();
        if let Some(combining) = &mut self.combining {
            combining.clear();
        }
        if let Some(prefetch) = &mut self.prefetch {
            prefetch.clear();
        }
        if let Some(read_cache) = &mut self.read_cache {
            read_cache.clear();
        }
        if self.map_cache.is_some() {
            let (bytes, page_bytes) = (self.parameters.map_cache_bytes, self.parameters.page_bytes);
            let logical_units = self.ftl.layout().logical_units;
            self.map_cache = Some(MapCache::new(bytes, page_bytes, logical_units));
        }
        self.buffer.clear();
        self.flash.cut();
        self.taken.clear();
        if let Some(credits) = &mut self.credits {
            credits.clear();
        }
        (self.firmware_free_at, self.link_in_free_at, self.link_out_free_at) = (now, now, now);
    }

    /// Writes a protected unit on the last of the power.
    fn keep(&mut self, logical: u32) {
        #[cfg(test)]
        self.recall_version(logical);
        self.ftl.write(&mut Timeless, logical);
    }
}

impl Ftl {
    /// Undoes a write whose program did not end.
    fn take_back(&mut self, place: &Place) {
        if self.locate(place.logical) != place.unit || place.unit == NONE {
            // Trimmed since, or copied by collection, which had it on the flash.
            return;
        }
        let old_unit = place.old_unit;
        if old_unit == NONE {
            return self.trim(place.logical);
        }
        if self.erased_since(old_unit, place.erasures) || self.is_passed(old_unit) {
            // Held back by the firmware: it takes a new place in the map.
            #[cfg(test)]
            {
                self.contents.0 = place.old_version;
            }
            self.write(&mut Timeless, place.logical);
            return;
        }
        self.invalidate(place.unit);
        let block = self.by_block.divide(old_unit);
        self.forward.set(place.logical, old_unit);
        self.blocks.valid[block as usize] += 1;
        self.collector.fell(block, self.blocks.valid[block as usize]);
    }

    /// Begins again with what is on the flash: an open program is left as it is, a block that was
    /// being emptied is a closed one again.
    fn restart(&mut self) {
        self.pad(&mut Timeless);
        if let Some(scan) = self.scan.take() {
            self.blocks.state[scan.block as usize] = BlockState::Closed;
            self.collector.closed(&self.blocks, scan.block);
        }
    }
}

//! The part of the map that fits the controller's memory.
//!
//! Translation pages lie on flash of their own, which the user's data does not compete for.

use crate::memory::NONE;

const USED: u8 = 1;
const CHANGED: u8 = 2;

/// Bytes of an entry of the map.
const ENTRY_BYTES: u64 = 4;

/// Translation pages in memory; one that was not used for a round of the hand gives way.
#[derive(Debug, Clone)]
pub struct MapCache {
    /// Logical units of a translation page.
    page_entries: u32,
    /// Which translation page lies in which slot, and in which slot each page lies.
    slots: Vec<u32>,
    slot_of: Vec<u32>,
    flags: Vec<u8>,
    hand: usize,
}

/// What a look at the map costs.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub enum Look {
    /// No flash operation: the page is in the cache.
    Hit,
    /// A translation page is read, and perhaps one that was changed is programmed.
    Miss {
        /// The page that is read.
        read: u32,
        /// The page that is programmed.
        program: Option<u32>,
    },
}

impl MapCache {
    /// `bytes` for the map of `logical_units`, in translation pages of `page_bytes`.
    pub fn new(bytes: u64, page_bytes: u64, logical_units: u32) -> Self {
        let page_entries = u32::try_from(page_bytes / ENTRY_BYTES).unwrap_or(u32::MAX).max(1);
        let pages = logical_units.div_ceil(page_entries) as usize;
        let slots = usize::try_from(bytes / page_bytes).unwrap_or(usize::MAX).clamp(1, pages);
        MapCache {
            page_entries,
            slots: vec![NONE; slots],
            slot_of: vec![NONE; pages],
            flags: vec![0; slots],
            hand: 0,
        }
    }

    /// Looks up a logical unit; `changes`: its entry becomes another.
    pub fn look(&mut self, logical: u32, changes: bool) -> Look {
        let page = logical / self.page_entries;
        let flags = if changes { USED | CHANGED } else { USED };
        let slot = self.slot_of[page as usize];
        if slot != NONE {
            self.flags[slot as usize] |= flags;
            return Look::Hit;
        }
        while self.flags[self.hand] & USED != 0 {
            self.flags[self.hand] &= !USED;
            self.advance();
        }
        let (slot, gone) = (self.hand, self.slots[self.hand]);
        self.advance();
        let program = (gone != NONE && self.flags[slot] & CHANGED != 0).then_some(gone);
        if gone != NONE {
            self.slot_of[gone as usize] = NONE;
        }
        self.slots[slot] = page;
        self.slot_of[page as usize] = slot as u32;
        self.flags[slot] = flags;
        Look::Miss { read: page, program }
    }

    fn advance(&mut self) {
        self.hand += 1;
        if self.hand == self.slots.len() {
            self.hand = 0;
        }
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn changed_pages_are_programmed_when_they_give_way() {
        let mut cache = MapCache::new(2 * 4096, 4096, 10 * 1024);
        assert_eq!(cache.look(0, true), Look::Miss { read: 0, program: None });
        assert_eq!(cache.look(1023, false), Look::Hit);
        assert_eq!(cache.look(1024, false), Look::Miss { read: 1, program: None });
        assert_eq!(cache.look(2048, false), Look::Miss { read: 2, program: Some(0) });
        // Page 1 was not used since the hand passed it.
        assert_eq!(cache.look(3072, false), Look::Miss { read: 3, program: None });
        assert_eq!(cache.look(2050, false), Look::Hit);
    }

    #[test]
    fn a_map_that_fits_is_read_once() {
        let mut cache = MapCache::new(1 << 30, 4096, 10 * 1024);
        let misses = (0..40 * 1024).filter(|unit| cache.look(unit % 10_240, true) != Look::Hit);
        assert_eq!(misses.count(), 10);
    }
}

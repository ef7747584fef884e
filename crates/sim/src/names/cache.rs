//! The blocks of names that the host keeps: the longest unused one goes first, and changed ones
//! stay until they are at their places.

use super::hash::Keyed;
use std::collections::{BTreeMap, HashMap, HashSet};

#[derive(Debug, Clone, Copy)]
struct Kept {
    /// When it was used, in uses of all.
    used: u64,
    is_changed: bool,
}

/// The cache.
#[derive(Debug, Default)]
pub(super) struct Cache {
    blocks_max: usize,
    kept: HashMap<u64, Kept, Keyed>,
    /// Those that may go, by their use.
    order: BTreeMap<u64, u64>,
    uses: u64,
    /// Blocks that were here, and must be read to be here again.
    gone: HashSet<u64, Keyed>,
}

impl Cache {
    pub fn new(blocks_max: usize) -> Self {
        Cache { blocks_max, ..Cache::default() }
    }

    /// Whether a block must be read from the drive; else it is used, or made in memory: what was
    /// never used is empty.
    pub fn must_read(&mut self, block: u64) -> bool {
        if self.gone.contains(&block) {
            return true;
        }
        self.take_in(block);
        false
    }

    /// A block is here, and used.
    pub fn take_in(&mut self, block: u64) {
        self.uses += 1;
        self.gone.remove(&block);
        let new = Kept { used: self.uses, is_changed: false };
        let kept = self.kept.entry(block).or_insert(new);
        if !kept.is_changed {
            self.order.remove(&kept.used);
            kept.used = self.uses;
            self.order.insert(kept.used, block);
        }
        self.shrink();
    }

    /// A block has changed, and stays.
    pub fn change(&mut self, block: u64) {
        self.uses += 1;
        self.gone.remove(&block);
        let kept = self.kept.entry(block).or_insert(Kept { used: self.uses, is_changed: true });
        if !kept.is_changed {
            self.order.remove(&kept.used);
            kept.is_changed = true;
        }
        self.shrink();
    }

    /// It is at its place, and may go.
    pub fn settle(&mut self, block: u64) {
        self.uses += 1;
        if let Some(kept) = self.kept.get_mut(&block).filter(|kept| kept.is_changed) {
            *kept = Kept { used: self.uses, is_changed: false };
            self.order.insert(kept.used, block);
            self.shrink();
        }
    }

    /// Nobody needs it any longer, here or on the drive.
    pub fn forget(&mut self, block: u64) {
        if let Some(kept) = self.kept.remove(&block) {
            self.order.remove(&kept.used);
        }
        self.gone.remove(&block);
    }

    /// Everything that has not changed goes.
    pub fn drop_all(&mut self) {
        let going = std::mem::take(&mut self.order);
        for block in going.into_values() {
            self.kept.remove(&block);
            self.gone.insert(block);
        }
    }

    fn shrink(&mut self) {
        while self.kept.len() > self.blocks_max
            && let Some((_, block)) = self.order.pop_first()
        {
            self.kept.remove(&block);
            self.gone.insert(block);
        }
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn the_longest_unused_goes_and_what_has_changed_stays() {
        let mut cache = Cache::new(2);
        assert!(![1, 2].map(|block| cache.must_read(block)).contains(&true), "made in memory");
        assert!(!cache.must_read(1));
        assert!(!cache.must_read(3), "in the place of 2");
        assert!(cache.must_read(2));
        assert!(!cache.must_read(1));
        cache.change(4);
        cache.change(5);
        assert!(cache.must_read(1) && cache.must_read(3), "two changed ones fill it");
        assert!(!cache.must_read(4));
        cache.settle(5);
        cache.take_in(1);
        assert!(cache.must_read(5), "it was at its place, and made room");
    }

    #[test]
    fn nothing_stays_where_there_is_no_room() {
        let mut cache = Cache::new(0);
        assert!(!cache.must_read(7));
        assert!(cache.must_read(7));
        cache.take_in(7);
        assert!(cache.must_read(7));
    }

    #[test]
    fn dropping_leaves_what_has_changed() {
        let mut cache = Cache::new(9);
        cache.take_in(1);
        cache.change(2);
        cache.drop_all();
        assert!(cache.must_read(1) && !cache.must_read(2));
        cache.forget(2);
        assert!(!cache.must_read(2), "what is made again is empty");
    }
}

//! Units that were read before and may be wanted again: sets of a few places, the one used longest
//! ago gives way.

use crate::memory::NONE;
use drivelab_core::op::Time;

/// Places of a set.
const WAYS: usize = 8;

#[derive(Debug, Clone, Copy)]
struct Place {
    logical: u32,
    /// When it was last used, as a number that grows.
    used: u64,
    /// When it came from the flash.
    ready_at: Time,
}

const EMPTY: Place = Place { logical: NONE, used: 0, ready_at: 0 };

/// The cache.
#[derive(Debug, Clone)]
pub struct ReadCache {
    places: Vec<Place>,
    uses: u64,
}

impl ReadCache {
    /// A cache of `units`, rounded up to whole sets.
    pub fn new(units: usize) -> Self {
        ReadCache { places: vec![EMPTY; units.max(1).next_multiple_of(WAYS)], uses: 0 }
    }

    fn set(&mut self, logical: u32) -> &mut [Place] {
        let sets = (self.places.len() / WAYS) as u64;
        let hash = u64::from(logical.wrapping_mul(0x9e37_79b1));
        let first = ((hash * sets) >> 32) as usize * WAYS;
        &mut self.places[first..first + WAYS]
    }

    /// When a unit is there; `None`: it is not.
    pub fn ready_at(&mut self, logical: u32) -> Option<Time> {
        self.uses += 1;
        let used = self.uses;
        let place = self.set(logical).iter_mut().find(|place| place.logical == logical)?;
        place.used = used;
        Some(place.ready_at)
    }

    /// A unit was read.
    pub fn keep(&mut self, logical: u32, ready_at: Time) {
        self.uses += 1;
        let kept = Place { logical, used: self.uses, ready_at };
        let set = self.set(logical);
        let own = set.iter().position(|place| place.logical == logical);
        let oldest = (0..WAYS).min_by_key(|way| set[*way].used);
        if let Some(way) = own.or(oldest) {
            set[way] = kept;
        }
    }

    /// A unit was written or trimmed.
    pub fn drop(&mut self, logical: u32) {
        if let Some(place) = self.set(logical).iter_mut().find(|place| place.logical == logical) {
            *place = EMPTY;
        }
    }

    /// Forgets everything.
    pub fn clear(&mut self) {
        self.places.fill(EMPTY);
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn what_was_used_longest_ago_gives_way() {
        let mut cache = ReadCache::new(8);
        (0..8).for_each(|unit| cache.keep(unit, 100 + u64::from(unit)));
        assert_eq!((cache.ready_at(0), cache.ready_at(7)), (Some(100), Some(107)));
        cache.keep(8, 1);
        assert_eq!((cache.ready_at(1), cache.ready_at(0)), (None, Some(100)));
        cache.drop(0);
        cache.keep(9, 1);
        assert_eq!(
            (cache.ready_at(0), cache.ready_at(2), cache.ready_at(9)),
            (None, Some(102), Some(1))
        );
        cache.clear();
        assert_eq!(cache.ready_at(9), None);
    }
}

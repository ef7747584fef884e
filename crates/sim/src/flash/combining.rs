//! Units that wait in the buffer for their neighbours and for being written again.

use std::collections::{BTreeMap, VecDeque};

/// Most units of a group.
const GROUP_UNITS_MAX: u32 = 64;

/// Held units, in groups of neighbours that fill one program.
#[derive(Debug, Clone)]
pub struct Combining {
    units: usize,
    group_units: u32,
    /// Which units of each group are held, and when the group was begun.
    groups: BTreeMap<u32, (u64, u64)>,
    /// Groups in the order in which they were begun; may hold some that have gone.
    order: VecDeque<(u32, u64)>,
    begun: u64,
    held: usize,
    /// What was written to each, for tests.
    #[cfg(test)]
    pub(super) versions: BTreeMap<u32, u32>,
}

/// Units of one group that go to the flash together.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub struct Group {
    /// Its first logical unit.
    pub first: u32,
    /// Which of its units were held: bit by bit, the first is the lowest.
    pub held: u64,
}

impl Group {
    /// The logical units that were held, in order.
    pub fn logical_units(self) -> impl Iterator<Item = u32> {
        (0..u64::BITS).filter(move |bit| self.held >> bit & 1 == 1).map(move |bit| self.first + bit)
    }
}

impl Combining {
    /// Room for `units`, whose neighbours fill a program of `program_units`.
    pub fn new(units: usize, program_units: u32) -> Self {
        Combining {
            units,
            group_units: program_units.clamp(1, GROUP_UNITS_MAX),
            groups: BTreeMap::new(),
            order: VecDeque::new(),
            begun: 0,
            held: 0,
            #[cfg(test)]
            versions: BTreeMap::new(),
        }
    }

    fn place(&self, logical: u32) -> (u32, u64) {
        (logical / self.group_units, 1 << (logical % self.group_units))
    }

    /// Units that are held.
    pub fn held(&self) -> usize {
        self.held
    }

    /// Whether a unit is held.
    pub fn holds(&self, logical: u32) -> bool {
        let (group, bit) = self.place(logical);
        self.groups.get(&group).is_some_and(|(held, _)| held & bit != 0)
    }

    /// Holds a unit; says what must go to the flash: its group when that is complete, or the oldest
    /// one where there is no room.
    pub fn put(&mut self, logical: u32) -> Option<Group> {
        let (group, bit) = self.place(logical);
        let begun = self.begun;
        let (held, _) = self.groups.entry(group).or_insert_with(|| {
            self.order.push_back((group, begun));
            (0, begun)
        });
        if *held == 0 {
            self.begun += 1;
        }
        if *held & bit == 0 {
            *held |= bit;
            self.held += 1;
        }
        if held.count_ones() == self.group_units {
            return self.take(group);
        }
        if self.held > self.units { self.oldest() } else { None }
    }

    /// Drops a unit.
    pub fn drop(&mut self, logical: u32) {
        let (group, bit) = self.place(logical);
        let Some((held, _)) = self.groups.get_mut(&group) else { return };
        if *held & bit != 0 {
            *held &= !bit;
            self.held -= 1;
        }
        if *held == 0 {
            self.groups.remove(&group);
        }
    }

    fn take(&mut self, group: u32) -> Option<Group> {
        let (held, _) = self.groups.remove(&group)?;
        self.held -= held.count_ones() as usize;
        Some(Group { first: group * self.group_units, held })
    }

    /// Takes the group that was begun first.
    pub fn oldest(&mut self) -> Option<Group> {
        loop {
            let (group, begun) = self.order.pop_front()?;
            if self.groups.get(&group).is_some_and(|(_, at)| *at == begun) {
                return self.take(group);
            }
        }
    }

    /// Forgets everything.
    pub fn clear(&mut self) {
        self.groups.clear();
        self.order.clear();
        self.held = 0;
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn groups_go_when_they_are_complete_or_room_is_needed() {
        let mut combining = Combining::new(4, 2);
        assert_eq!(combining.put(0), None);
        assert_eq!(combining.put(0), None);
        assert_eq!((combining.held(), combining.holds(0), combining.holds(1)), (1, true, false));
        assert_eq!(combining.put(1), Some(Group { first: 0, held: 3 }));
        for logical in [11, 20, 30, 40] {
            assert_eq!(combining.put(logical), None);
        }
        combining.drop(20);
        assert_eq!(combining.put(50), None);
        let oldest = combining.put(60).unwrap();
        assert_eq!(oldest.logical_units().collect::<Vec<_>>(), [11]);
        assert_eq!(combining.oldest(), Some(Group { first: 30, held: 1 }));
        assert_eq!((combining.held(), combining.holds(11)), (3, false));
    }
}

//! Erase blocks: how much of each is valid, how often it was erased, which are free.
//!
//! "Block" is what is erased together: with several dies in step, a superblock.

use crate::memory::numbers;
use std::cmp::Reverse;
use std::collections::{BinaryHeap, VecDeque};

/// What a block is doing.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
#[repr(u8)]
pub enum BlockState {
    /// Erased.
    Free,
    /// Being filled.
    Open,
    /// Full.
    Closed,
    /// Being emptied.
    Victim,
    /// Not used any more.
    Bad,
}

/// Division by a number that is known beforehand, exact for all 32-bit numbers. Lemire, Kaser and
/// Kurz, Software: Practice and Experience 2019.
#[derive(Debug, Clone, Copy)]
pub struct Divisor {
    inverse: u64,
    divisor: u32,
}

impl Divisor {
    /// Division by `divisor`, which is at least 1.
    pub fn new(divisor: u32) -> Self {
        Divisor { inverse: (u64::MAX / u64::from(divisor.max(1))).wrapping_add(1), divisor }
    }

    /// The quotient.
    #[inline]
    pub fn divide(self, number: u32) -> u32 {
        if self.divisor <= 1 {
            return number;
        }
        ((u128::from(self.inverse) * u128::from(number)) >> 64) as u32
    }

    /// The quotient and the remainder.
    #[inline]
    pub fn split(self, number: u32) -> (u32, u32) {
        let quotient = self.divide(number);
        (quotient, number - quotient * self.divisor)
    }
}

/// All blocks of a drive.
#[derive(Debug, Clone)]
pub struct Blocks {
    /// Valid units by block.
    pub valid: Vec<u32>,
    /// Erases by block.
    pub erases: Vec<u32>,
    /// What each is doing.
    pub state: Vec<BlockState>,
    /// How often the data in it was copied by collection: its temperature.
    pub generation: Vec<u8>,
    /// When it was closed, in blocks closed before.
    pub closed_at: Vec<u32>,
    closures: u32,
    /// Erases of all blocks together, and where that stood when each was last erased.
    pub erasures: u32,
    /// See `erasures`.
    pub erased_at: Vec<u32>,
    /// Free blocks, and lists of them: one for all, or one for each die, on which they lie in turn.
    free: u32,
    lists: Vec<FreeBlocks>,
    levels_wear: bool,
}

/// Free blocks of the drive, or of one die.
#[derive(Debug, Clone, Default)]
struct FreeBlocks {
    by_age: VecDeque<u32>,
    by_wear: BinaryHeap<Reverse<(u32, u32)>>,
}

impl FreeBlocks {
    fn count(&self) -> usize {
        self.by_age.len() + self.by_wear.len()
    }
}

impl Blocks {
    /// `count` free blocks in `lists` lists. `levels_wear`: the least worn is opened first, else
    /// the one that was erased first.
    pub fn new(count: u32, lists: u32, levels_wear: bool) -> Self {
        let all = count as usize;
        let mut blocks = Blocks {
            valid: numbers(all, 0),
            erases: vec![0; all],
            state: vec![BlockState::Free; all],
            generation: vec![0; all],
            closed_at: vec![0; all],
            closures: 0,
            erasures: 0,
            erased_at: vec![0; all],
            free: 0,
            lists: vec![FreeBlocks::default(); lists.max(1) as usize],
            levels_wear,
        };
        (0..count).for_each(|block| blocks.release(block));
        blocks
    }

    /// Number of blocks.
    pub fn count(&self) -> u32 {
        self.valid.len() as u32
    }

    /// Free blocks.
    #[inline]
    pub fn free(&self) -> u32 {
        self.free
    }

    /// Whether a list has a free block.
    pub fn has_free(&self, list: u32) -> bool {
        self.lists[list as usize].count() > 0
    }

    /// Takes a free block to be filled, of the list that has most.
    pub fn open(&mut self, generation: u8) -> Option<u32> {
        let lists = 0..self.lists.len();
        let list = lists.min_by_key(|list| Reverse(self.lists[*list].count()))?;
        self.open_of(list as u32, generation)
    }

    /// Takes a free block of one list to be filled.
    pub fn open_of(&mut self, list: u32, generation: u8) -> Option<u32> {
        let free = &mut self.lists[list as usize];
        let block = if self.levels_wear {
            free.by_wear.pop().map(|Reverse((_, block))| block)
        } else {
            free.by_age.pop_front()
        }?;
        Some(self.begin(block, generation))
    }

    /// Takes the most worn free block to be filled.
    pub fn open_most_worn(&mut self, generation: u8) -> Option<u32> {
        let erases = &self.erases;
        let entries = self.lists.iter().flat_map(|free| {
            let by_age = free.by_age.iter().map(|block| (erases[*block as usize], *block));
            by_age.chain(free.by_wear.iter().map(|Reverse(entry)| *entry))
        });
        let (_, block) = entries.max()?;
        let list = self.list_of(block);
        list.by_age.retain(|free| *free != block);
        list.by_wear.retain(|Reverse((_, free))| *free != block);
        Some(self.begin(block, generation))
    }

    fn list_of(&mut self, block: u32) -> &mut FreeBlocks {
        let list = block as usize % self.lists.len();
        &mut self.lists[list]
    }

    fn begin(&mut self, block: u32, generation: u8) -> u32 {
        let at = block as usize;
        self.free -= 1;
        self.state[at] = BlockState::Open;
        self.generation[at] = generation;
        self.valid[at] = 0;
        block
    }

    /// A block is full.
    pub fn close(&mut self, block: u32) {
        self.state[block as usize] = BlockState::Closed;
        self.closed_at[block as usize] = self.closures;
        self.closures = self.closures.wrapping_add(1);
    }

    /// A block was erased.
    pub fn erase(&mut self, block: u32) {
        self.note_erase(block);
        self.release(block);
    }

    /// A block was erased for the last time.
    pub fn retire(&mut self, block: u32) {
        self.note_erase(block);
        self.state[block as usize] = BlockState::Bad;
    }

    fn note_erase(&mut self, block: u32) {
        self.erasures += 1;
        self.erased_at[block as usize] = self.erasures;
        self.erases[block as usize] += 1;
    }

    /// Wears every block by `erases`.
    pub fn age_all(&mut self, erases: u32) {
        self.erases.iter_mut().for_each(|count| *count += erases);
        for free in &mut self.lists {
            let aged = free.by_wear.drain().map(|Reverse((count, block))| (count + erases, block));
            free.by_wear = aged.map(Reverse).collect();
        }
    }

    fn release(&mut self, block: u32) {
        let at = block as usize;
        self.state[at] = BlockState::Free;
        self.valid[at] = 0;
        self.free += 1;
        let (levels_wear, erases) = (self.levels_wear, self.erases[at]);
        let free = self.list_of(block);
        match levels_wear {
            true => free.by_wear.push(Reverse((erases, block))),
            false => free.by_age.push_back(block),
        }
    }

    /// Blocks closed since this one was.
    pub fn age(&self, block: u32) -> u32 {
        self.closures.wrapping_sub(self.closed_at[block as usize])
    }

    /// Fewest, mean and most erases of usable blocks.
    pub fn wear(&self) -> (u32, f64, u32) {
        let usable = || {
            let all = self.erases.iter().zip(&self.state);
            all.filter(|(_, state)| **state != BlockState::Bad).map(|(erases, _)| *erases)
        };
        let sum: u64 = usable().map(u64::from).sum();
        let count = usable().count().max(1);
        (usable().min().unwrap_or(0), sum as f64 / count as f64, usable().max().unwrap_or(0))
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn division_is_exact() {
        for divisor in [1, 2, 3, 7, 128, 255, 256, 1_000_003, u32::MAX] {
            let by = Divisor::new(divisor);
            for number in [0, 1, 2, 127, 128, 65_535, 1_000_002, 1_000_003, u32::MAX - 1, u32::MAX]
            {
                assert_eq!(by.split(number), (number / divisor, number % divisor));
            }
        }
    }

    #[test]
    fn the_least_worn_block_is_opened_first_where_wear_is_levelled() {
        for (levels, expected) in [(true, 1), (false, 1)] {
            let mut blocks = Blocks::new(2, 1, levels);
            let first = blocks.open(0).unwrap();
            assert_eq!(first, 0);
            blocks.close(first);
            blocks.erase(first);
            assert_eq!(blocks.open(0), Some(expected));
        }
        let mut blocks = Blocks::new(3, 1, true);
        for _ in 0..3 {
            let block = blocks.open(0).unwrap();
            blocks.erase(block);
        }
        assert_eq!(blocks.wear(), (1, 1.0, 1));
    }
}

//! Where the data of a drive lies that was placed in a state: computed when it is looked at, so
//! that a state of a large drive need not be written down.

use super::ftl::Ftl;
use crate::memory::NONE;
use drivelab_stats::Permutation;

/// Units of one entry of the directory.
const SPAN_UNITS: u32 = 512;
/// Units of one word of the bits.
const WORD_UNITS: u32 = 64;

/// Which units of the flash hold data: a bit each, and their number before each span.
#[derive(Debug, Clone, PartialEq, Eq)]
pub(super) struct Valid {
    words: Vec<u64>,
    before: Vec<u32>,
}

impl Valid {
    /// With a bit for each unit.
    pub(super) fn new(words: Vec<u64>) -> Self {
        let mut before = Vec::with_capacity(words.len() / 8 + 2);
        let mut sum = 0;
        for span in words.chunks((SPAN_UNITS / WORD_UNITS) as usize) {
            before.push(sum);
            sum += span.iter().map(|word| word.count_ones()).sum::<u32>();
        }
        before.push(sum);
        Valid { words, before }
    }

    /// Units that hold data.
    pub(super) fn count(&self) -> u32 {
        self.before.last().copied().unwrap_or(0)
    }

    /// What [`Valid::bytes`] gave.
    pub(super) fn read(bytes: &[u8]) -> Option<Self> {
        let (words, rest) = bytes.as_chunks::<8>();
        rest.is_empty().then(|| Valid::new(words.iter().copied().map(u64::from_le_bytes).collect()))
    }

    /// The bits, eight a byte.
    pub(super) fn bytes(&self) -> Vec<u8> {
        self.words.iter().flat_map(|word| word.to_le_bytes()).collect()
    }

    pub(super) fn words(&self) -> &[u64] {
        &self.words
    }

    /// Units from one to another that hold data.
    pub(super) fn count_in(&self, first: u32, end: u32) -> u32 {
        self.count_before(end) - self.count_before(first)
    }

    fn count_before(&self, unit: u32) -> u32 {
        let (at, span) = ((unit / WORD_UNITS) as usize, (unit / SPAN_UNITS) as usize);
        let first = span * (SPAN_UNITS / WORD_UNITS) as usize;
        let whole: u32 = self.words[first..at].iter().map(|word| word.count_ones()).sum();
        let part = match unit % WORD_UNITS {
            0 => 0,
            bits => (self.words[at] & ((1 << bits) - 1)).count_ones(),
        };
        self.before[span] + whole + part
    }

    /// Units before `unit` that hold data, if it holds some itself.
    #[inline]
    fn rank(&self, unit: u32) -> Option<u32> {
        let word = self.words.get((unit / WORD_UNITS) as usize)?;
        if word >> (unit % WORD_UNITS) & 1 == 0 {
            return None;
        }
        Some(self.count_before(unit))
    }

    /// The units that hold data, in order.
    fn each(&self, mut visit: impl FnMut(u32)) {
        for (at, word) in self.words.iter().enumerate() {
            let mut left = *word;
            while left != 0 {
                visit(at as u32 * WORD_UNITS + left.trailing_zeros());
                left &= left - 1;
            }
        }
    }

    /// The unit that holds data with this many before it.
    #[inline]
    fn select(&self, rank: u32) -> u32 {
        let span = self.before.partition_point(|before| *before <= rank) - 1;
        let mut left = rank - self.before[span];
        let mut at = span * (SPAN_UNITS / WORD_UNITS) as usize;
        loop {
            let here = self.words[at].count_ones();
            if left < here {
                break;
            }
            left -= here;
            at += 1;
        }
        let mut word = self.words[at];
        for _ in 0..left {
            word &= word - 1;
        }
        at as u32 * WORD_UNITS + word.trailing_zeros()
    }
}

/// Where data was placed: which units hold some, and whose.
#[derive(Debug, Clone)]
pub(super) struct Origin {
    /// `None`: the first units, all of them.
    valid: Option<Valid>,
    /// Logical units in the order of their places; `None`: their own.
    order: Option<Permutation>,
    units: u32,
}

impl Origin {
    pub(super) fn new(valid: Option<Valid>, order: Option<Permutation>, units: u32) -> Self {
        Origin { valid, order, units }
    }

    /// The logical unit that was placed in a unit; [`NONE`]: none was.
    fn logical_at(&self, unit: u32) -> u32 {
        let index = match &self.valid {
            Some(valid) => valid.rank(unit),
            None => (unit < self.units).then_some(unit),
        };
        match (index, &self.order) {
            (None, _) => NONE,
            (Some(index), None) => index,
            (Some(index), Some(order)) => order.at(u64::from(index)) as u32,
        }
    }

    /// Each logical unit and where it was placed, in the order of places.
    fn each_placed(&self, mut visit: impl FnMut(u32, u32)) {
        let mut index = 0;
        let mut next = |unit| {
            let at = |order: &Permutation| order.at(u64::from(index)) as u32;
            visit(self.order.as_ref().map_or(index, at), unit);
            index += 1;
        };
        match &self.valid {
            None => (0..self.units).for_each(next),
            Some(valid) => valid.each(&mut next),
        }
    }

    /// Where a logical unit was placed: all were.
    fn unit_of(&self, logical: u32) -> u32 {
        let index = match &self.order {
            Some(order) => order.index_of(u64::from(logical)) as u32,
            None => logical,
        };
        self.valid.as_ref().map_or(index, |valid| valid.select(index))
    }
}

/// A map of at most this many units is written at once: a look into it is several times as quick as
/// the computation.
const WRITTEN_DOWN_MAX: u32 = 1 << 26;
/// Entries of the map that are asked of the memory before the first of them is written.
const WAITING: usize = 16;

impl Ftl {
    /// Writes down where everything was placed, where the drive is not too large for that.
    pub(super) fn write_down(&mut self) {
        if self.layout().logical_units > WRITTEN_DOWN_MAX {
            return;
        }
        let Some(origin) = self.origin.take() else { return };
        let mut waiting = [(NONE, NONE); WAITING];
        let mut slot = 0;
        origin.each_placed(|logical, unit| {
            self.forward.prefetch(logical);
            let (logical, unit) = std::mem::replace(&mut waiting[slot], (logical, unit));
            slot = (slot + 1) % WAITING;
            self.write_down_one(logical, unit);
        });
        waiting.into_iter().for_each(|(logical, unit)| self.write_down_one(logical, unit));
    }

    fn write_down_one(&mut self, logical: u32, unit: u32) {
        if logical != NONE {
            self.forward.set(logical, unit);
            self.reverse.set(unit, logical);
        }
    }

    /// Where a logical unit lies that was not written since the drive was made.
    #[inline(never)]
    pub(super) fn placed_unit(&self, logical: u32) -> u32 {
        self.origin.as_ref().map_or(NONE, |origin| origin.unit_of(logical))
    }

    /// Whose data lies in a unit that was not programmed since the drive was made.
    #[inline(never)]
    pub(super) fn placed_logical(&self, unit: u32) -> u32 {
        self.origin.as_ref().map_or(NONE, |origin| origin.logical_at(unit))
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn places_and_their_owners_find_each_other() {
        let mut random = drivelab_stats::Random::new(3);
        let words: Vec<u64> = (0..100).map(|_| random.next_u64() & random.next_u64()).collect();
        let valid = Valid::new(words);
        let units = valid.count();
        let order = Permutation::new(u64::from(units), 9);
        for order in [None, Some(order)] {
            let origin = Origin::new(Some(valid.clone()), order, units);
            let mut seen = 0;
            for unit in 0..6400 + 10 {
                let logical = origin.logical_at(unit);
                if logical != NONE {
                    seen += 1;
                    assert_eq!(origin.unit_of(logical), unit);
                }
            }
            assert_eq!(seen, units);
            let mut unit_before = None;
            origin.each_placed(|logical, unit| {
                assert!(unit_before < Some(unit));
                unit_before = Some(unit);
                assert_eq!(origin.logical_at(unit), logical);
                seen -= 1;
            });
            assert_eq!(seen, 0);
        }
    }
}

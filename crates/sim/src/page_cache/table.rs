//! A sparse table by page number. Neighbours lie together: a file is read and written in runs.

/// Entries of a chunk: as many as a word has bits.
const CHUNK: u64 = 64;

#[derive(Debug)]
struct Chunk<T> {
    /// A bit for each entry that is there.
    present: u64,
    entries: [T; CHUNK as usize],
}

/// Values by number.
#[derive(Debug)]
pub(super) struct Table<T> {
    /// Each in its place, as far as numbers were ever there: eight bytes for 64 pages.
    chunks: Vec<Option<Box<Chunk<T>>>>,
    len: usize,
}

fn place(number: u64) -> (usize, usize, u64) {
    ((number / CHUNK) as usize, (number % CHUNK) as usize, 1 << (number % CHUNK))
}

impl<T: Copy + Default> Table<T> {
    pub fn new() -> Self {
        Table { chunks: Vec::new(), len: 0 }
    }

    /// Entries that are there.
    pub fn len(&self) -> usize {
        self.len
    }

    fn chunk(&self, at: usize) -> Option<&Chunk<T>> {
        self.chunks.get(at)?.as_deref()
    }

    pub fn get(&self, number: u64) -> Option<&T> {
        let (chunk, index, bit) = place(number);
        let chunk = self.chunk(chunk)?;
        (chunk.present & bit > 0).then(|| &chunk.entries[index])
    }

    pub fn get_mut(&mut self, number: u64) -> Option<&mut T> {
        let (chunk, index, bit) = place(number);
        let chunk = self.chunks.get_mut(chunk)?.as_deref_mut()?;
        (chunk.present & bit > 0).then(|| &mut chunk.entries[index])
    }

    pub fn insert(&mut self, number: u64, value: T) {
        let (chunk, index, bit) = place(number);
        if chunk >= self.chunks.len() {
            self.chunks.resize_with(chunk + 1, || None);
        }
        let chunk = self.chunks[chunk].get_or_insert_with(|| {
            Box::new(Chunk { present: 0, entries: [T::default(); CHUNK as usize] })
        });
        self.len += usize::from(chunk.present & bit == 0);
        chunk.present |= bit;
        chunk.entries[index] = value;
    }

    pub fn remove(&mut self, number: u64) {
        let (chunk, _, bit) = place(number);
        let Some(slot) = self.chunks.get_mut(chunk) else { return };
        let Some(held) = slot.as_deref_mut() else { return };
        self.len -= usize::from(held.present & bit > 0);
        held.present &= !bit;
        if held.present == 0 {
            *slot = None;
        }
    }

    /// Drops what does not hold.
    pub fn retain(&mut self, holds: impl Fn(&T) -> bool) {
        self.len = 0;
        for slot in &mut self.chunks {
            let Some(chunk) = slot.as_deref_mut() else { continue };
            for (index, entry) in chunk.entries.iter().enumerate() {
                if !holds(entry) {
                    chunk.present &= !(1 << index);
                }
            }
            self.len += chunk.present.count_ones() as usize;
            if chunk.present == 0 {
                *slot = None;
            }
        }
    }

    /// The first number from `from` on, and before `end`, that is not there.
    pub fn absent_from(&self, from: u64, end: u64) -> u64 {
        let mut at = from;
        while at < end {
            let present = self.chunk(place(at).0).map_or(0, |chunk| chunk.present);
            let run = u64::from((present >> (at % CHUNK)).trailing_ones());
            at += run;
            if run == 0 || !at.is_multiple_of(CHUNK) {
                break;
            }
        }
        at.min(end)
    }

    /// What is there of `first..end`, ascending.
    pub fn range(&self, first: u64, end: u64) -> impl Iterator<Item = (u64, &T)> {
        let behind = end.max(first).div_ceil(CHUNK).min(self.chunks.len() as u64) as usize;
        let begin = place(first).0.min(behind);
        let chunks = (begin as u64..).zip(&self.chunks[begin..behind]);
        let held = chunks.filter_map(|(chunk, held)| Some((chunk, held.as_deref()?)));
        held.flat_map(move |(chunk, held)| {
            let numbered = (chunk * CHUNK..).zip(&held.entries);
            numbered.filter(move |(number, _)| {
                (first..end).contains(number) && held.present & (1 << (number % CHUNK)) > 0
            })
        })
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use drivelab_stats::Random;
    use std::collections::BTreeMap;

    #[test]
    fn it_is_a_map() {
        let (mut table, mut map) = (Table::<u64>::new(), BTreeMap::new());
        let mut random = Random::new(3);
        for step in 0..20_000_u64 {
            let number = random.below(400);
            match random.below(5) {
                0..3 => {
                    table.insert(number, step);
                    map.insert(number, step);
                }
                3 => {
                    table.remove(number);
                    map.remove(&number);
                }
                _ if step % 997 == 0 => {
                    table.retain(|value| value % 3 > 0);
                    map.retain(|_, value| *value % 3 > 0);
                }
                _ => {}
            }
            if let Some(value) = table.get_mut(number) {
                *value += 1;
                *map.get_mut(&number).unwrap() += 1;
            }
            assert_eq!((table.len(), table.get(number)), (map.len(), map.get(&number)));
            let end = number + random.below(200);
            let absent = (number..end).find(|at| !map.contains_key(at)).unwrap_or(end);
            assert_eq!(table.absent_from(number, end), absent);
            let held: Vec<(u64, u64)> = map.range(number..end).map(|(at, it)| (*at, *it)).collect();
            let found: Vec<(u64, u64)> =
                table.range(number, end).map(|(at, it)| (at, *it)).collect();
            assert_eq!(found, held);
        }
    }
}

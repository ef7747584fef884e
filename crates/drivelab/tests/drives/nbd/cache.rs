//! The volatile cache: what it holds, and when it writes that down.

use drivelab_stats::Random;
use std::collections::{BTreeMap, VecDeque};
use std::fs::File;
use std::io;
use std::os::unix::fs::FileExt;

pub const BLOCK: usize = 4096;
pub const SECTOR: usize = 512;

/// What the drive makes of flushes, and of what was not flushed.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum Mode {
    /// A flush writes the cache down, FUA the blocks of its write.
    Honest,
    /// Flush and FUA are answered, and nothing is done.
    Lying,
    /// Honest, and some blocks are written down before they are flushed, in any order.
    Holed,
    /// Honest, and of some blocks a part of the sectors is written down before they are flushed.
    Torn,
}

impl Mode {
    pub fn named(name: &str) -> Option<Mode> {
        match name {
            "honest" => Some(Mode::Honest),
            "lying" => Some(Mode::Lying),
            "holed" => Some(Mode::Holed),
            "torn" => Some(Mode::Torn),
            _ => None,
        }
    }

    /// What is written down as a whole or not at all.
    fn cell_bytes(self) -> usize {
        if self == Mode::Torn { SECTOR } else { BLOCK }
    }
}

/// Of four writes one is torn, of ten three have a block written down early.
const TORN_OF: u64 = 4;
const HOLED_OF_TEN: u64 = 3;

pub struct Cache {
    medium: File,
    bytes: u64,
    mode: Mode,
    random: Random,
    capacity: u64,
    /// What is newer than the medium, by the number of its cell.
    cells: BTreeMap<u64, Vec<u8>>,
    /// Their numbers as they came, some of which have gone meanwhile.
    order: VecDeque<u64>,
}

impl Cache {
    pub fn new(medium: File, mode: Mode, seed: u64, capacity: u64) -> io::Result<Cache> {
        let bytes = medium.metadata()?.len();
        let (random, cells) = (Random::new(seed), BTreeMap::new());
        Ok(Cache { medium, bytes, mode, random, capacity, cells, order: VecDeque::new() })
    }

    pub fn bytes(&self) -> u64 {
        self.bytes
    }

    pub fn read(&self, offset: u64, length: usize) -> io::Result<Vec<u8>> {
        let mut data = vec![0; length];
        self.medium.read_exact_at(&mut data, offset)?;
        let size = self.mode.cell_bytes();
        let end = offset + length as u64;
        for (number, cell) in self.cells.range(self.numbers(offset, length)) {
            let begin = number * size as u64;
            let (from, to) = (begin.max(offset), (begin + size as u64).min(end));
            let inside = (from - begin) as usize..(to - begin) as usize;
            data[(from - offset) as usize..(to - offset) as usize].copy_from_slice(&cell[inside]);
        }
        Ok(data)
    }

    pub fn write(&mut self, offset: u64, data: &[u8], is_durable: bool) -> io::Result<()> {
        let numbers = self.numbers(offset, data.len());
        let size = self.mode.cell_bytes();
        let end = offset + data.len() as u64;
        for number in numbers.clone() {
            let begin = number * size as u64;
            let (from, to) = (begin.max(offset), (begin + size as u64).min(end));
            let whole = size.min((self.bytes - begin) as usize);
            let mut cell = self.read(begin, whole)?;
            let piece = &data[(from - offset) as usize..(to - offset) as usize];
            cell[(from - begin) as usize..(to - begin) as usize].copy_from_slice(piece);
            if self.cells.insert(number, cell).is_none() {
                self.order.push_back(number);
            }
        }
        if is_durable && self.mode != Mode::Lying {
            return self.write_down(numbers.collect());
        }
        let early = match self.mode {
            Mode::Honest | Mode::Lying => Vec::new(),
            Mode::Holed => self.any_block(),
            Mode::Torn => self.part_of(numbers.collect()),
        };
        self.write_down(early)?;
        self.write_oldest_down()
    }

    pub fn zero(&mut self, offset: u64, length: u32, is_durable: bool) -> io::Result<()> {
        let (mut at, end) = (offset, offset + u64::from(length));
        while at < end {
            let piece = (end - at).min(1 << 20);
            self.write(at, &vec![0; piece as usize], is_durable)?;
            at += piece;
        }
        Ok(())
    }

    pub fn flush(&mut self) -> io::Result<()> {
        if self.mode == Mode::Lying {
            return Ok(());
        }
        self.write_down(self.cells.keys().copied().collect())
    }

    fn numbers(&self, offset: u64, length: usize) -> std::ops::Range<u64> {
        let size = self.mode.cell_bytes() as u64;
        offset / size..(offset + length as u64).div_ceil(size)
    }

    /// A file that the process has written outlives it, so that nothing need be synced here.
    fn write_down(&mut self, numbers: Vec<u64>) -> io::Result<()> {
        for number in numbers {
            if let Some(cell) = self.cells.remove(&number) {
                self.medium.write_all_at(&cell, number * self.mode.cell_bytes() as u64)?;
            }
        }
        if self.cells.is_empty() {
            self.order.clear();
        }
        Ok(())
    }

    fn write_oldest_down(&mut self) -> io::Result<()> {
        while (self.cells.len() * self.mode.cell_bytes()) as u64 > self.capacity {
            let Some(oldest) = self.order.pop_front() else { break };
            self.write_down(vec![oldest])?;
        }
        Ok(())
    }

    fn any_block(&mut self) -> Vec<u64> {
        if self.cells.is_empty() || self.random.below(10) >= HOLED_OF_TEN {
            return Vec::new();
        }
        let one = self.random.below(self.cells.len() as u64) as usize;
        self.cells.keys().nth(one).copied().into_iter().collect()
    }

    /// Neither none nor all of these.
    fn part_of(&mut self, numbers: Vec<u64>) -> Vec<u64> {
        if numbers.len() < 2 || self.random.below(TORN_OF) > 0 {
            return Vec::new();
        }
        let kept = self.random.below(numbers.len() as u64) as usize;
        let gone =
            (kept + 1 + self.random.below(numbers.len() as u64 - 1) as usize) % numbers.len();
        let mut is_early = |at| at == kept || (at != gone && self.random.below(2) == 0);
        numbers.iter().enumerate().filter(|(at, _)| is_early(*at)).map(|(_, it)| *it).collect()
    }
}

//! Whether an open device holds data where no signature says so: a few of its blocks are read.

use rustix::io::Errno;
use std::fmt;
use std::os::fd::AsFd;
use std::time::{Duration, Instant};

const BLOCK_BYTES: u64 = 4096;
const BLOCKS: u64 = 64;
/// A slow drive is not looked at for longer than this.
const PATIENCE: Duration = Duration::from_secs(2);

/// Blocks that were looked at.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub(super) struct Sampled {
    /// Those that do not hold one byte throughout, as erased flash and zeros do.
    with_data: u64,
    seen: u64,
}

impl Sampled {
    /// Reads blocks that are spread over all of it, the same at each look.
    pub(super) fn of(open: &impl AsFd, bytes: u64) -> Sampled {
        let blocks = bytes / BLOCK_BYTES;
        let begin = Instant::now();
        let mut sampled = Sampled { with_data: 0, seen: 0 };
        let mut block = vec![0; BLOCK_BYTES as usize];
        for index in 0..BLOCKS.min(blocks) {
            let place = place(index, blocks) * BLOCK_BYTES;
            let read = loop {
                match rustix::io::pread(open, &mut block[..], place) {
                    Err(Errno::INTR) => {}
                    other => break other,
                }
            };
            if read == Ok(block.len()) {
                sampled.seen += 1;
                sampled.with_data += u64::from(block.iter().any(|byte| *byte != block[0]));
            }
            if begin.elapsed() > PATIENCE {
                break;
            }
        }
        sampled
    }
}

/// The place of a block among this many: each new one falls into the widest gaps (multiples of the
/// golden section); of few, each once.
fn place(index: u64, blocks: u64) -> u64 {
    if blocks <= BLOCKS {
        return index;
    }
    let turn = index.wrapping_mul(0x9e37_79b9_7f4a_7c15);
    ((u128::from(turn) * u128::from(blocks)) >> 64) as u64
}

impl fmt::Display for Sampled {
    fn fmt(&self, formatter: &mut fmt::Formatter<'_>) -> fmt::Result {
        match (self.with_data, self.seen) {
            (_, 0) => write!(formatter, "none of its blocks could be sampled"),
            (0, seen) => write!(formatter, "none of {seen} sampled blocks holds data"),
            (1, seen) => write!(formatter, "1 of {seen} sampled blocks holds data"),
            (some, seen) => write!(formatter, "{some} of {seen} sampled blocks hold data"),
        }
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use std::os::unix::fs::FileExt;

    #[test]
    fn data_is_found_wherever_it_lies() {
        let file = tempfile::tempfile().expect("a file");
        let said = |bytes| Sampled::of(&file, bytes).to_string();
        let size = 64 << 20;
        file.set_len(size).expect("its size");
        assert_eq!(said(size), "none of 64 sampled blocks holds data");
        assert_eq!(said(3 * 4096), "none of 3 sampled blocks holds data");
        assert_eq!(said(100), "none of its blocks could be sampled");
        file.write_all_at(&vec![0xff; 32 << 20], 0).expect("erased flash");
        assert_eq!(said(size), "none of 64 sampled blocks holds data");
        let noise: Vec<u8> = (0..16 << 20).map(|at: u32| (at >> 4) as u8).collect();
        file.write_all_at(&noise, 40 << 20).expect("data");
        let found = Sampled::of(&file, size);
        assert_eq!(found, Sampled { with_data: 16, seen: 64 }, "a quarter of it");
    }

    #[test]
    fn places_are_spread_and_within() {
        for blocks in [65, 1000, 1 << 40] {
            let mut places: Vec<u64> = (0..BLOCKS).map(|index| place(index, blocks)).collect();
            places.sort_unstable();
            assert!(places.iter().all(|place| *place < blocks));
            let widest = places.windows(2).map(|pair| pair[1] - pair[0]).max().expect("gaps");
            assert!(widest as f64 <= 3.0 * blocks as f64 / 64.0 + 1.0, "{blocks}: {widest}");
        }
    }
}

//! Each block once a pass in random order, requests of several sizes cut to what is free.

use super::free::Free;
use super::{Draw, Region, region};
use crate::plan::Stream;
use crate::queue::Trouble;
use crate::units::Size;
use drivelab_stats::Random;

/// A map of 1 GiB.
const WORDS_MAX: u64 = 1 << 27;

/// Blocks of the smallest request, or of a grid of its own, and which of them are still free.
#[derive(Debug, Clone)]
pub(super) struct Mapped {
    region: Region,
    sizes: Draw<u32>,
    free: Free,
}

impl Mapped {
    /// The map of the region of a worker.
    ///
    /// # Errors
    /// A region of too many blocks.
    pub(super) fn new(stream: &Stream, whole: Region) -> Result<Self, Trouble> {
        let grid = stream.alignment().max(1);
        let region = region::region(whole.base, whole.bytes, grid, grid);
        if Free::words(region.slots) > WORDS_MAX {
            return Err(Trouble::usage(format!(
                "a map of {} blocks of {} takes more than 1 GiB of memory; use pattern uniform, or \
                 a larger smallest size",
                region.slots,
                Size(grid)
            )));
        }
        let free = Free::new(region.slots);
        Ok(Mapped { region, sizes: Draw::of_sizes(&stream.weighted_sizes()), free })
    }

    /// Where the next operation goes, and its bytes: a random block, or the first free one behind
    /// it; of a size that fits in the region, as far as blocks are free.
    pub(super) fn next(
        &mut self,
        (address_random, size_random): (&mut Random, &mut Random),
        pass: &mut u64,
    ) -> (u64, u32) {
        let grid = self.region.slot_bytes;
        let first = self.free.at_or_after(address_random.below(self.region.slots));
        let len = self.sizes.within(self.region.bytes - first * grid, size_random);
        let (taken, is_over) = self.free.take(first, u64::from(len).div_ceil(grid));
        *pass += u64::from(is_over);
        let len = u64::from(len).min(taken * grid) as u32;
        debug_assert!((first * grid + u64::from(len)) <= self.region.bytes, "beyond the region");
        (self.region.base + first * grid, len)
    }
}

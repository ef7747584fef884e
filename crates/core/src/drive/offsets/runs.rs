//! Runs of consecutive operations, each run at a new address.

use super::Region;
use drivelab_stats::Random;

/// Runs of one length.
#[derive(Debug, Clone)]
pub(super) struct Runs {
    length: u64,
    /// Operations until the next new place.
    left: u64,
    position: u64,
}

impl Runs {
    /// Of this many operations.
    pub(super) fn new(length: u64) -> Self {
        Runs { length: length.max(1), left: 0, position: 0 }
    }

    /// Where the next operation of `len` bytes goes. One that would end behind the region goes to
    /// a new place too, and counts in its run.
    pub(super) fn next(&mut self, region: Region, len: u32, random: &mut Random) -> u64 {
        if self.left == 0 {
            self.left = self.length;
            self.position = random.below(region.slots) * region.slot_bytes;
        } else if self.position + u64::from(len) > region.bytes {
            self.position = random.below(region.slots) * region.slot_bytes;
        }
        self.left -= 1;
        debug_assert!(
            self.position + u64::from(len) <= region.bytes,
            "{len} bytes of a run reach beyond the region"
        );
        let offset = region.base + self.position;
        self.position = (self.position + u64::from(len)).next_multiple_of(region.slot_bytes);
        offset
    }
}

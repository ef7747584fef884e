//! What a simulated drive knows of itself: the truth next to what was measured from outside.

pub use crate::cause::Cause;
use crate::op::Time;
use crate::units::is_default;
use schemars::JsonSchema;
use serde::{Deserialize, Serialize};

/// What went on inside a simulated drive since it was made (counts), and how it stands (levels).
/// Counts of flash are in mapping units; what a drive does not have stays 0.
#[derive(Debug, Clone, Copy, PartialEq, Default, Serialize, Deserialize, JsonSchema)]
#[serde(default)]
pub struct Inside {
    /// Units that the host wrote.
    #[serde(skip_serializing_if = "is_default")]
    pub host_units: u64,
    /// Of those, units that reached the flash: the rest was overwritten in the buffer.
    #[serde(skip_serializing_if = "is_default")]
    pub programmed_host_units: u64,
    /// Units copied by collection.
    #[serde(skip_serializing_if = "is_default")]
    pub collection_units: u64,
    /// Units copied by merges of log blocks.
    #[serde(skip_serializing_if = "is_default")]
    pub merge_units: u64,
    /// Units copied by wear levelling.
    #[serde(skip_serializing_if = "is_default")]
    pub wear_units: u64,
    /// Units left empty to complete a program.
    #[serde(skip_serializing_if = "is_default")]
    pub padding_units: u64,
    /// Units programmed for the map.
    #[serde(skip_serializing_if = "is_default")]
    pub map_units: u64,
    /// Units moved out of the SLC cache.
    #[serde(skip_serializing_if = "is_default")]
    pub fold_units: u64,
    /// Units read from the flash for the host.
    #[serde(skip_serializing_if = "is_default")]
    pub flash_read_units: u64,
    /// Units of host reads that a buffer or cache answered.
    #[serde(skip_serializing_if = "is_default")]
    pub cached_read_units: u64,
    /// Units of host reads that were never written.
    #[serde(skip_serializing_if = "is_default")]
    pub unmapped_read_units: u64,
    /// Nanoseconds that reads took longer because the map is in pieces.
    #[serde(skip_serializing_if = "is_default")]
    pub fragmentation_ns: u64,
    /// Share of its time that a read spends on that now.
    #[serde(skip_serializing_if = "is_nought")]
    pub fragmentation: f64,
    /// Nanoseconds that operations waited because the drive was too warm.
    #[serde(skip_serializing_if = "is_default")]
    pub throttled_ns: u64,
    /// How warm it is now, as a share of the warmth at which it slows down.
    #[serde(skip_serializing_if = "is_nought")]
    pub warmth: f64,
    /// Bytes that were read from the drive, where a page cache stands before it.
    #[serde(skip_serializing_if = "is_default")]
    pub drive_read_bytes: u64,
    /// Bytes that were written to the drive, where a page cache stands before it.
    #[serde(skip_serializing_if = "is_default")]
    pub drive_written_bytes: u64,
    /// Nanoseconds that all reads of the drive together took, where a page cache stands before it:
    /// by the time, how many were in flight there.
    #[serde(skip_serializing_if = "is_default")]
    pub drive_read_ns: u64,
    /// Bytes in the page cache of the host that are not on the drive now.
    #[serde(skip_serializing_if = "is_default")]
    pub dirty_bytes: u64,
    /// Blocks erased (superblocks, where several dies are erased together).
    #[serde(skip_serializing_if = "is_default")]
    pub erases: u64,
    /// Fewest erases of a block.
    #[serde(skip_serializing_if = "is_default")]
    pub erases_min: u64,
    /// Most erases of a block.
    #[serde(skip_serializing_if = "is_default")]
    pub erases_max: u64,
    /// Erases by block, mean.
    #[serde(skip_serializing_if = "is_nought")]
    pub erases_mean: f64,
    /// Erased blocks that are free now.
    #[serde(skip_serializing_if = "is_default")]
    pub free_blocks: u64,
    /// Share of the write buffer that is full now.
    #[serde(skip_serializing_if = "is_nought")]
    pub buffer_fill: f64,
    /// Share of the SLC cache that is full now.
    #[serde(skip_serializing_if = "is_nought")]
    pub slc_fill: f64,
    /// Nanoseconds that all dies (or arms) together were busy for the host.
    #[serde(skip_serializing_if = "is_default")]
    pub host_busy_ns: u64,
    /// Nanoseconds that all dies together were busy in the background.
    #[serde(skip_serializing_if = "is_default")]
    pub background_busy_ns: u64,
    /// Dies, or arms.
    #[serde(skip_serializing_if = "is_default")]
    pub servers: u64,
    /// Credits left in a token bucket.
    #[serde(skip_serializing_if = "is_nought")]
    pub credits: f64,
}

/// One interval of a simulated drive.
#[derive(Debug, Clone, Copy, PartialEq, Default, Serialize, Deserialize)]
pub struct InsideInterval {
    /// Number of the executed step.
    pub step: u32,
    /// Beginning.
    pub from: Time,
    /// End.
    pub to: Time,
    /// Counts of the interval, and levels at its end.
    pub inside: Inside,
}

fn is_nought(level: &f64) -> bool {
    *level == 0.0
}

impl Inside {
    /// All units programmed.
    pub fn programmed_units(&self) -> u64 {
        self.programmed_host_units
            + self.collection_units
            + self.merge_units
            + self.wear_units
            + self.padding_units
            + self.map_units
            + self.fold_units
    }

    /// Units programmed by unit written; `None` before anything was written, or without flash.
    pub fn write_amplification(&self) -> Option<f64> {
        let programmed = self.programmed_units();
        (self.host_units > 0 && programmed > 0).then(|| programmed as f64 / self.host_units as f64)
    }

    /// Counts since `earlier`; levels as they are now.
    pub fn since(&self, earlier: &Inside) -> Inside {
        self.with(earlier, u64::saturating_sub)
    }

    /// Counts of both; levels of this.
    pub fn plus(&self, other: &Inside) -> Inside {
        self.with(other, u64::saturating_add)
    }

    fn with(&self, other: &Inside, change: fn(u64, u64) -> u64) -> Inside {
        let (mut changed, mut other) = (*self, *other);
        for (own, other) in changed.counts_mut().into_iter().zip(other.counts_mut()) {
            *own = change(*own, *other);
        }
        changed
    }

    fn counts_mut(&mut self) -> [&mut u64; 19] {
        [
            &mut self.host_units,
            &mut self.programmed_host_units,
            &mut self.collection_units,
            &mut self.merge_units,
            &mut self.wear_units,
            &mut self.padding_units,
            &mut self.map_units,
            &mut self.fold_units,
            &mut self.flash_read_units,
            &mut self.cached_read_units,
            &mut self.unmapped_read_units,
            &mut self.fragmentation_ns,
            &mut self.throttled_ns,
            &mut self.drive_read_bytes,
            &mut self.drive_written_bytes,
            &mut self.drive_read_ns,
            &mut self.erases,
            &mut self.host_busy_ns,
            &mut self.background_busy_ns,
        ]
    }

    /// Share of the time that dies or arms were busy, over `span_ns`; `None` without any.
    pub fn utilisation(&self, span_ns: Time) -> Option<f64> {
        let all = self.servers as f64 * span_ns as f64;
        (all > 0.0).then(|| (self.host_busy_ns + self.background_busy_ns) as f64 / all)
    }
}

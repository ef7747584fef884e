//! The layout of parallel files: segments of blocks of transfers.

/// One worker's part of a file of segments.
#[derive(Debug, Clone, Copy)]
pub(super) struct Layout {
    pub(super) transfers: u64,
    pub(super) per_block: u64,
    pub(super) transfer_bytes: u64,
    pub(super) segment_bytes: u64,
    pub(super) start: u64,
}

impl Layout {
    /// Where in the region the transfer of this number lies.
    pub(super) fn place(&self, number: u64) -> u64 {
        debug_assert!(number < self.transfers, "beyond the last transfer of a layout");
        let (segment, transfer) = (number / self.per_block, number % self.per_block);
        segment * self.segment_bytes + self.start + transfer * self.transfer_bytes
    }
}

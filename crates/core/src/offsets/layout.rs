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

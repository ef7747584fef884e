//! The zones of a drive that takes writes only in order.

use crate::units::Size;

/// Zones as a stream uses them: each is emptied, then written from its first byte on, then full.
///
/// Offsets of the stream are of what zones hold: behind the last byte of one comes the first byte
/// of the next, whatever lies between the two on the drive.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub struct Zoned {
    /// Bytes from the start of one zone to that of the next.
    pub size: Size,
    /// Bytes that a zone holds; all of it if absent.
    pub capacity: Option<Size>,
    /// Bytes written to a zone before it is finished; it is filled if absent.
    pub finish_after: Option<Size>,
}

impl Zoned {
    /// Bytes of a zone that this stream uses.
    pub fn used(&self) -> u64 {
        self.finish_after.or(self.capacity).unwrap_or(self.size).0
    }

    /// Bytes that a zone holds.
    pub fn holds(&self) -> u64 {
        self.capacity.unwrap_or(self.size).0
    }
}

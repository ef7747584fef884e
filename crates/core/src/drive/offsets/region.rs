//! The part of a file that one worker uses.

use crate::plan::{Files, Pattern, Sharing, Stream};
use crate::quantity::counted;
use crate::queue::Trouble;

/// The part of a file that one worker uses, in slots of the offset grid.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub struct Region {
    /// First byte of slot 0.
    pub base: u64,
    /// Bytes from one slot to the next.
    pub slot_bytes: u64,
    /// Number of slots; the last one holds a whole request.
    pub slots: u64,
    /// Bytes of the whole region, holes included.
    pub bytes: u64,
}

/// The slots of a region of `bytes` at `base` for requests of at most `size_max`.
pub(super) fn region(base: u64, bytes: u64, slot_bytes: u64, size_max: u64) -> Region {
    let slots =
        if bytes < size_max || slot_bytes == 0 { 0 } else { (bytes - size_max) / slot_bytes + 1 };
    Region { base, slot_bytes, slots, bytes }
}

/// The region of the worker whose part this is.
pub(super) fn worker_region(
    stream: &Stream,
    worker: u32,
    file_bytes: u64,
) -> Result<Region, Trouble> {
    if stream.is_metadata() {
        return Ok(Region { base: 0, slot_bytes: 1, slots: 1, bytes: 1 });
    }
    let (size_max, align) = (stream.size_max(), stream.alignment().max(1));
    let slot_bytes = match (stream.sizes.is_empty(), &stream.pattern) {
        (true, Pattern::Sequential(_) | Pattern::Permutation) => {
            stream.size.0.next_multiple_of(align)
        }
        _ => align,
    };
    let own_offset = stream.offset_each.0.saturating_mul(u64::from(worker));
    let offset = stream.offset.0.saturating_add(own_offset);
    let available = file_bytes.saturating_sub(offset);
    let bytes = stream.length.map_or(available, |length| length.0.min(available));
    let bytes = bytes.saturating_sub(stream.shift.0);
    let whole = region(offset + stream.shift.0, bytes, slot_bytes, size_max);
    let workers = u64::from(stream.workers.max(1));
    let own = match (stream.sharing(), stream.files) {
        (Sharing::Disjoint, Files::One) if !matches!(stream.pattern, Pattern::Segments { .. }) => {
            let worker = u64::from(worker);
            // Where requests are longer than the grid, a share must hold them whole: shares are
            // cut from the bytes, and the last one keeps what is left over.
            let parts = if slot_bytes < size_max { bytes / slot_bytes } else { whole.slots };
            let first = share_start(parts, worker, workers) * slot_bytes;
            let end = match worker + 1 == workers {
                true => bytes,
                false => share_start(parts, worker + 1, workers) * slot_bytes,
            };
            debug_assert!(first <= end && end <= bytes, "a share lies outside of the whole");
            region(whole.base + first, end.saturating_sub(first), slot_bytes, size_max)
        }
        _ => whole,
    };
    if own.slots == 0 {
        return Err(Trouble::usage(format!(
            "the region of {bytes} bytes is too small for {} with requests of {size_max} bytes; \
             choose a larger file, a smaller size or fewer workers",
            counted(workers, "worker")
        )));
    }
    debug_assert!(own.base >= whole.base, "the region of a worker begins before that of all");
    debug_assert!(
        own.base + own.bytes <= (whole.base + whole.bytes).max(own.base),
        "the region of a worker ends beyond that of all"
    );
    Ok(own)
}

/// Where the share of `part` of `parts` begins.
pub(super) fn share_start(total: u64, part: u64, parts: u64) -> u64 {
    (u128::from(total) * u128::from(part) / u128::from(parts)) as u64
}

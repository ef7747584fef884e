//! Patterns that say where the next operation goes, and leave its kind and size to others.

use super::layout::Layout;
use super::region::Region;
use super::runs::Runs;
use super::skewed::Skewed;
use super::zones::Zones;
use drivelab_stats::{Permutation, Random, Zipf};
use std::sync::Arc;

/// One walk over the region of a worker.
#[derive(Debug, Clone)]
pub(super) enum Address {
    /// `first`: where each pass begins, if each begins at the same place.
    Stride {
        stride: i64,
        first: Option<u64>,
        start: u64,
        position: u64,
    },
    /// `least`: bytes of the smallest request, behind which a pass is over.
    Onward {
        position: u64,
        least: u64,
    },
    Uniform,
    Permutation {
        order: Permutation,
        next: u64,
        first: u64,
        step: u64,
    },
    SemiRandom {
        share: f64,
        position: u64,
    },
    Runs(Runs),
    Zipf {
        popularity: Zipf,
        scatter: Permutation,
    },
    Skewed(Skewed),
    Zones(Zones),
    Segments {
        layout: Layout,
        next: u64,
    },
    Replay {
        offsets: Arc<[u64]>,
        next: usize,
        first: usize,
        step: usize,
    },
}

impl Address {
    /// The offset in bytes of the next request of `len` bytes; counts a pass where one is over.
    #[inline(always)]
    pub(super) fn next(
        &mut self,
        region: Region,
        len: u32,
        random: &mut Random,
        pass: &mut u64,
    ) -> u64 {
        let slot = match self {
            Address::Stride { stride, first, start, position } => {
                stride_next((*stride, *first), (start, position), region, pass)
            }
            Address::Onward { position, least } => {
                return onward(position, region, (len, *least), pass);
            }
            Address::Uniform => random.below(region.slots),
            Address::Permutation { order, next, first, step } => {
                debug_assert!(*next < region.slots, "beyond the last of a permutation");
                let slot = order.at(*next);
                *next += *step;
                if *next >= region.slots {
                    *next = *first;
                    *pass += 1;
                }
                slot
            }
            Address::SemiRandom { share, position } => {
                if random.unit_f64() < *share {
                    *position = random.below(region.slots) * region.slot_bytes;
                }
                return onward(position, region, (len, 0), pass);
            }
            Address::Zipf { popularity, scatter } => scatter.at(popularity.sample(random)),
            Address::Runs(runs) => return runs.next(region, len, random),
            Address::Skewed(skewed) => skewed.next(random),
            Address::Zones(zones) => zones.next(random),
            Address::Segments { layout, next } => {
                let place = layout.place(*next);
                debug_assert!(
                    place + layout.transfer_bytes <= region.bytes,
                    "a segment reaches beyond the region"
                );
                *next += 1;
                if *next == layout.transfers {
                    *next = 0;
                    *pass += 1;
                }
                return region.base + place;
            }
            Address::Replay { offsets, next, first, step } => {
                let offset = offsets[*next];
                *next += *step;
                if *next >= offsets.len() {
                    *next = *first;
                    *pass += 1;
                }
                return region.base + offset;
            }
        };
        debug_assert!(slot < region.slots, "slot {slot} of {}", region.slots);
        debug_assert!(
            slot * region.slot_bytes + u64::from(len) <= region.bytes,
            "{len} bytes at slot {slot} reach beyond the region"
        );
        region.base + slot * region.slot_bytes
    }
}

/// Continues at the end of the previous request, rounded up to the grid; wraps where it must, and
/// where not even a request of `least` bytes is left.
pub(super) fn onward(
    position: &mut u64,
    region: Region,
    (len, least): (u32, u64),
    pass: &mut u64,
) -> u64 {
    if *position + u64::from(len) > region.bytes {
        *position = 0;
        *pass += 1;
    }
    debug_assert!(*position + u64::from(len) <= region.bytes, "longer than the whole region");
    debug_assert!(position.is_multiple_of(region.slot_bytes), "{position} is off the grid");
    let offset = region.base + *position;
    *position = (*position + u64::from(len)).next_multiple_of(region.slot_bytes);
    if *position + least > region.bytes {
        *position = 0;
        *pass += 1;
    }
    offset
}

/// The slot that a stride is at, behind which it steps on; `first`: where each pass begins, if each
/// begins at the same place.
#[inline(always)]
fn stride_next(
    (stride, first): (i64, Option<u64>),
    (start, position): (&mut u64, &mut u64),
    region: Region,
    pass: &mut u64,
) -> u64 {
    debug_assert!(*position < region.slots, "a stride left its region");
    let slot = if stride < 0 { region.slots - 1 - *position } else { *position };
    if advance_stride(stride, region.slots, start, position) {
        *pass += 1;
    } else if let Some(first) = first.filter(|_| *start > 0) {
        (*start, *position) = (0, first);
        *pass += 1;
    }
    slot
}

/// Steps to the next slot; at the end restarts one slot further on, until all were visited (the
/// order of IOzone's strided read). True when a pass is over.
fn advance_stride(stride: i64, slots: u64, start: &mut u64, position: &mut u64) -> bool {
    let step = stride.unsigned_abs();
    if step == 0 {
        *start += 1;
        let over = *start >= slots;
        if over {
            *start = 0;
        }
        return over;
    }
    *position += step;
    if *position < slots {
        return false;
    }
    *start += 1;
    let over = *start >= step.min(slots);
    if over {
        *start = 0;
    }
    *position = *start;
    over
}

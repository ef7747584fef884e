//! Reads, writes and trims that have places, or sizes, of their own.

use super::address::onward;
use super::region::region;
use super::{Draw, Region};
use crate::defect::defect;
use crate::op::Action;
use crate::plan::{Pattern, Stream};
use crate::queue::Trouble;
use drivelab_stats::Random;

/// A lane for each kind, in index order.
#[derive(Debug, Clone)]
pub(super) struct Lanes {
    lanes: [Lane; 3],
    is_random: bool,
}

#[derive(Debug, Clone)]
struct Lane {
    region: Region,
    sizes: Draw<u32>,
    position: u64,
}

const KINDS: [Action; 3] = [Action::Read, Action::Write, Action::Trim];

impl Lanes {
    /// The lanes in the region `whole` of a worker, where the stream wants any.
    pub(super) fn of(stream: &Stream, whole: Region) -> Result<Option<Self>, Trouble> {
        let by_kind = stream.sizes.iter().any(|entry| entry.kind.is_some());
        if !by_kind && !stream.is_each_kind_in_order() {
            return Ok(None);
        }
        let weight_of = |kind| match kind {
            Action::Read => stream.mix.read,
            Action::Write => stream.mix.write,
            _ => stream.mix.trim,
        };
        let lane = |kind| -> Result<Lane, Trouble> {
            let sizes: Vec<(u64, u32)> = stream
                .weighted_sizes()
                .iter()
                .filter(|entry| entry.kind.is_none_or(|of| of == kind) && entry.weight > 0)
                .map(|entry| (u64::from(entry.weight), entry.size.0 as u32))
                .collect();
            let least = sizes.iter().map(|(_, bytes)| u64::from(*bytes)).min();
            let most = sizes.iter().map(|(_, bytes)| u64::from(*bytes)).max();
            let own = match (least, most) {
                (Some(least), Some(most)) => {
                    let grid = stream.align.map_or(least, |align| align.0).max(1);
                    region(whole.base, whole.bytes, grid, most)
                }
                _ => whole,
            };
            if weight_of(kind) > 0 && (own.slots == 0 || sizes.is_empty()) {
                return Err(Trouble::usage(format!(
                    "the {}s have no size, or one larger than their region of {} bytes",
                    kind.word(),
                    whole.bytes
                )));
            }
            Ok(Lane { region: own, sizes: Draw::new(sizes), position: 0 })
        };
        let lanes = [lane(KINDS[0])?, lane(KINDS[1])?, lane(KINDS[2])?];
        Ok(Some(Lanes { lanes, is_random: stream.pattern == Pattern::Uniform }))
    }

    /// Where the next operation of this kind goes, and its bytes.
    pub(super) fn next(
        &mut self,
        action: Action,
        (address_random, size_random): (&mut Random, &mut Random),
        pass: &mut u64,
    ) -> (u64, u32) {
        let Some(lane) = self.lanes.get_mut(action.index()) else {
            defect("an operation of this kind has no lane")
        };
        debug_assert!(lane.region.slots > 0, "a lane without a place was drawn");
        let len = lane.sizes.next(size_random);
        if self.is_random {
            debug_assert!(u64::from(len) <= lane.region.bytes, "no room for {len} bytes");
            let slot = address_random.below(lane.region.slots);
            return (lane.region.base + slot * lane.region.slot_bytes, len);
        }
        (onward(&mut lane.position, lane.region, len, pass), len)
    }
}

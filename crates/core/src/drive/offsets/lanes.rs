//! Reads, writes and trims that have places, or sizes, of their own.

use super::address::onward;
use super::region::region;
use super::{Draw, Region};
use crate::defect::defect;
use crate::op::Action;
use crate::plan::{Jump, Pattern, Stream};
use crate::queue::Trouble;
use drivelab_stats::Random;

/// A lane for each kind, in index order.
#[derive(Debug, Clone)]
pub(super) struct Lanes {
    lanes: [Lane; 3],
}

#[derive(Debug, Clone)]
struct Lane {
    region: Region,
    sizes: Draw<u32>,
    least: u64,
    position: u64,
    /// How often it jumps.
    share: f64,
}

const KINDS: [Action; 3] = [Action::Read, Action::Write, Action::Trim];

impl Lanes {
    /// The lanes in the region `whole` of a worker, where the stream wants any.
    pub(super) fn of(stream: &Stream, whole: Region) -> Result<Option<Self>, Trouble> {
        let by_kind = stream.sizes.iter().any(|entry| entry.kind.is_some());
        let shares = match stream.pattern {
            Pattern::SemiRandom(Jump::Shares(shares)) => Some(shares.each()),
            Pattern::Uniform => Some([1.0; 3]),
            _ => None,
        };
        let is_semi_random = matches!(stream.pattern, Pattern::SemiRandom(Jump::Shares(_)));
        if !by_kind && !stream.is_each_kind_in_order() && !is_semi_random {
            return Ok(None);
        }
        let shares = shares.unwrap_or_default();
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
            let share = shares.get(kind.index()).copied().unwrap_or_default();
            let (sizes, least) = (Draw::new(sizes), least.unwrap_or_default());
            Ok(Lane { region: own, sizes, least, position: 0, share })
        };
        let lanes = [lane(KINDS[0])?, lane(KINDS[1])?, lane(KINDS[2])?];
        Ok(Some(Lanes { lanes }))
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
        // Neither who always jumps nor who never does draws for it.
        if lane.share >= 1.0 || (lane.share > 0.0 && address_random.unit_f64() < lane.share) {
            lane.position = address_random.below(lane.region.slots) * lane.region.slot_bytes;
        }
        let len = lane.sizes.within(lane.region.bytes - lane.position, size_random);
        debug_assert!(u64::from(len) <= lane.region.bytes, "no room for {len} bytes");
        (onward(&mut lane.position, lane.region, (len, lane.least), pass), len)
    }
}

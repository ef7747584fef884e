//! Did the drive's link carry what was measured?
//!
//! A simulated drive is not asked: its link is part of it, and it cannot do more.

use super::{BYTES_MIN, Case};
use crate::link;
use crate::op::Action;
use crate::quantity::bandwidth;

/// What clocks of others, and a speed in round numbers, may be off by.
const TOLERANCE: f64 = 0.01;

impl Case<'_> {
    /// A rate above what the link carries is none of the drive's.
    pub(super) fn link(&mut self) {
        let Some(link) = link::of(self.facts).filter(|_| self.is_direct()) else { return };
        let Some(seconds) = self.measured_seconds() else { return };
        // What was in flight when the measured time began may have crossed the link before.
        let before: u64 = self
            .data_streams()
            .map(|stream| u64::from(stream.depth) * u64::from(stream.workers) * stream.size_max())
            .sum();
        let moved = |kind: Action| -> u64 {
            let moving = self.streams.iter().filter(|it| it.load.engine.moves_data());
            let kinds = moving.filter_map(|stream| stream.kinds.get(&kind));
            kinds.map(|kind| kind.rates.bytes).sum()
        };
        let (read, written) = (moved(Action::Read), moved(Action::Write));
        let rate = link.rate;
        let ways = match rate.one_way {
            true => vec![("moved", read + written, rate.read_bytes_per_s)],
            false => vec![
                ("read", read, rate.read_bytes_per_s),
                ("written", written, rate.write_bytes_per_s),
            ],
        };
        for (word, bytes, most) in ways {
            let carried = bytes.saturating_sub(before) as f64 / seconds;
            if bytes >= BYTES_MIN && carried > (1.0 + TOLERANCE) * most as f64 {
                let text = format!(
                    "{} were {word}, and the link, {}, carries {} at most: memory or a cache \
                     before the link answered, or the link is not what the kernel says",
                    bandwidth(bytes as f64 / seconds),
                    link.name,
                    bandwidth(most as f64)
                );
                self.suspect("faster_than_link", text);
            }
        }
    }

    /// From the first stream's measured time to the end of the last one's.
    fn measured_seconds(&self) -> Option<f64> {
        let windows = self.streams.iter().filter_map(|stream| {
            let from = stream.measured_from_ns? as f64 / 1e9;
            Some((from, from + stream.seconds?))
        });
        let (from, to) = windows.reduce(|(from, to), (next, end)| (from.min(next), to.max(end)))?;
        (to > from).then_some(to - from)
    }
}

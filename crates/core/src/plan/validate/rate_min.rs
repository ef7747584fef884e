//! Refuses least rates that say nothing, or that nobody can keep.

use super::{HOUR, Problems};
use crate::plan::{Rate, RateMin, Step, Until};
use crate::units::Span;

/// The shortest window: in a shorter one a rate is a matter of single operations.
const EVERY_MIN: Span = Span(1_000_000);

/// One bound.
pub(super) fn validate_rate_min(
    rate_min: &RateMin,
    until: &Until,
    step: &Step,
    problems: &mut Problems,
) {
    problems.need(rate_min.of != Rate::Latency, "until", || {
        "`rate_min` is of operations or bytes, and a latency is neither".to_string()
    });
    problems.need(rate_min.least() != [0; 3], "until", || {
        "`rate_min` asks for no rate; give `read`, `write` or `trim`, or leave it out".to_string()
    });
    let hours = Span(24 * HOUR.0);
    problems.need((EVERY_MIN..=hours).contains(&rate_min.every), "until", || {
        format!(
            "`every` of {} in `rate_min` is out of range; use {EVERY_MIN} to {hours}",
            rate_min.every
        )
    });
    problems.need(rate_min.after <= hours, "until", || {
        format!("`after` of {} in `rate_min` is out of range; use at most {hours}", rate_min.after)
    });
    let moves_data = step.streams.iter().all(|stream| !stream.is_metadata());
    problems.need(moves_data, "until", || {
        "`rate_min` is of reads, writes and trims, and metadata actions are none of them"
            .to_string()
    });
    problems.need(!until.wear_out && !until.steady, "until", || {
        "`rate_min` ends a worker early, and `wear_out` and `steady` go on to what all have done; \
         leave out one of them"
            .to_string()
    });
}

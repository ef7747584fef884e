//! What follows from each request having its place in an order.

use super::Problems;
use crate::plan::{Files, Pattern, Sequence, Sharing, Stream, Window};
use crate::units::Size;

/// What follows from each request having its place in an order.
pub(super) fn validate_orders(stream: &Stream, problems: &mut Problems) {
    let mixed = stream.size_min() != stream.request_max();
    let restarts = stream.pattern.sequence().is_some_and(|sequence| sequence.restart);
    let is_plain = (stream.stride().is_none() || restarts)
        && !(stream.stamp || stream.verify || stream.is_each_kind_in_order());
    problems.need(begin_of(stream).is_none() || is_plain, "begin", || {
        "a first pass that begins elsewhere has no stride, no marks and one order for all kinds; \
         leave `begin` out"
            .to_string()
    });
    problems.need(stream.sizes.is_empty() || stream.stride().is_none(), "stride", || {
        "a stride counts blocks of one size; use `size`, or leave the stride out".to_string()
    });
    let needs_one_size = matches!(stream.pattern, Pattern::Permutation | Pattern::Segments { .. });
    problems.need(!mixed || !needs_one_size, "sizes", || {
        format!("{} order needs requests of one size; use `size`", stream.pattern.name().word())
    });
    let overlaps = stream.align.is_some_and(|align| align.0 < stream.request_max());
    problems.need(!overlaps || stream.pattern != Pattern::Permutation, "align", || {
        "in permutation order blocks must not overlap; use align of at least the size".to_string()
    });
    if let Some(window) = stream.window {
        windowed(stream, window, problems);
    }
    if stream.pattern == Pattern::RandomMap {
        mapped(stream, problems);
    }
    if let Pattern::Segments { block, .. } = stream.pattern {
        let size = stream.request_max().max(1);
        problems.need(block.0 > 0 && block.0.is_multiple_of(size), "block", || {
            format!(
                "block {block} is not a multiple of the size {}; use a multiple of it",
                Size(size)
            )
        });
    }
}

/// What begins again in each part is an order without much state.
fn windowed(stream: &Stream, window: Window, problems: &mut Problems) {
    let is_plain = match &stream.pattern {
        Pattern::Sequential(sequence) => *sequence == Sequence::default(),
        Pattern::Uniform | Pattern::Permutation => true,
        _ => false,
    };
    problems.need(is_plain && stream.zoned.is_none(), "window", || {
        "a window goes with sequential, uniform and permutation order, from their first block on; \
         leave the rest out"
            .to_string()
    });
    let is_whole = window.size.0 >= stream.size_max() && window.moved() > 0 && window.step() > 0;
    problems.need(is_whole, "window", || {
        format!(
            "a window of {} has no room for requests of {}, or never moves on; use a `size` at \
             least as large, and more than 0 for `bytes` and `step`",
            window.size,
            Size(stream.size_max())
        )
    });
}

/// One map has one grid, and one worker.
fn mapped(stream: &Stream, problems: &mut Problems) {
    let is_aligned = stream.align.is_none_or(|align| align.0 <= stream.size_min());
    problems.need(is_aligned, "align", || {
        "in random-map order `align` is the block of the map; use at most the smallest size"
            .to_string()
    });
    let by_kind = stream.sizes.iter().any(|entry| entry.kind.is_some());
    problems.need(!by_kind, "sizes", || {
        "in random-map order all kinds have the same sizes; leave `kind` out".to_string()
    });
    let is_split =
        stream.workers > 1 && stream.files == Files::One && stream.sharing() == Sharing::Shared;
    problems.need(!is_split, "regions", || {
        "workers do not share a random map; use disjoint or whole".to_string()
    });
}

pub(super) fn begin_of(stream: &Stream) -> Option<Size> {
    stream.pattern.sequence().and_then(|sequence| sequence.begin)
}

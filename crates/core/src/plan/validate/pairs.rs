//! Refuses trims before writes where there are none, and advice that nobody takes.

use super::Problems;
use crate::plan::{IoMode, Pattern, Stream};

/// Streams that trim each address before they write it, or tell the kernel of their order.
pub(super) fn validate_pairs(stream: &Stream, problems: &mut Problems) {
    problems.need(!stream.advise || stream.io == IoMode::Buffered, "advise", || {
        "advice is for what goes through the page cache; use io = \"buffered\", or leave it out"
            .to_string()
    });
    let is_cached = stream.io == IoMode::Buffered && !stream.is_metadata();
    problems.need(!stream.drop_cached_each_pass || is_cached, "drop_cached_each_pass", || {
        "only buffered data is cached; use io = \"buffered\", or leave it out".to_string()
    });
    let is_of_pairs = stream.mix.read == 0 && stream.mix.write == stream.mix.trim;
    let in_pairs = is_of_pairs
        && !matches!(stream.pattern, Pattern::Names(_) | Pattern::Trace(_))
        && !(stream.stamp
            || stream.verify
            || stream.is_each_kind_in_order()
            || stream.writes_in_order)
        && stream.sizes.iter().all(|entry| entry.kind.is_none());
    problems.need(in_pairs || !stream.trim_first, "trim_first", || {
        "`trim_first` is for as many trims as writes (mix = { write = 50, trim = 50 }) of the same \
         sizes, without stamps, and not for traces or names"
            .to_string()
    });
}

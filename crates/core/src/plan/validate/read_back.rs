//! Refuses to read back what nobody knows to have been written.

use super::Problems;
use crate::plan::{Mix, Pattern, Stream, Until};

/// Streams that read where a mix has written.
pub(super) fn validate_read_back(stream: &Stream, until: &Until, problems: &mut Problems) {
    let Some(written) = stream.read_back else { return };
    problems.need(written.write > 0 && written.trim == 0, "read_back", || {
        "what is read back is a mix with writes and without trims".to_string()
    });
    problems.need(stream.mix == Mix { write: 0, trim: 0, ..stream.mix }, "read_back", || {
        "what reads back only reads; leave writes and trims to the stream before it".to_string()
    });
    let is_drawn = !matches!(stream.pattern, Pattern::Names(_) | Pattern::Trace(_));
    problems.need(is_drawn && stream.reply.is_none(), "read_back", || {
        "names, traces and replies are not read back; drop `read_back`".to_string()
    });
    problems.need(stream.order.is_some(), "read_back", || {
        "what is read back has the order of what was written; give both the same `order`"
            .to_string()
    });
    let is_exact = until.elapsed.is_none() && until.level.is_none() && !until.steady;
    problems.need(is_exact, "read_back", || {
        "only operations, bytes or passes tell what was written; end it by one of them".to_string()
    });
}

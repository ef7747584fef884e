//! What replies must fulfil.

use super::Problems;
use crate::plan::{Reply, Stream};
use crate::units::Size;

/// More requests before their replies than this are taken for a typing error.
const AFTER_MAX: u32 = 65_536;

/// What a reply has of its own.
pub(super) fn validate_replies(stream: &Stream, problems: &mut Problems) {
    for (key, is_given) in
        [("reply_size", stream.reply_size.is_some()), ("reply_after", stream.reply_after.is_some())]
    {
        problems.need(!is_given || stream.reply.is_some(), key, || {
            format!("`{key}` applies to replies, and there are none; add `reply` or remove it")
        });
        // Reads would look for stamps of another length, or of an older pass.
        problems.need(!is_given || !stream.verify, key, || {
            format!("with `{key}` a read does not know what it will find; remove it or verify")
        });
    }
    problems.need(stream.reply_size != Some(Size(0)), "reply_size", || {
        "a reply of 0 bytes moves nothing; remove `reply` if there is none".to_string()
    });
    let is_same = stream.reply == Some(Reply::Same);
    let fits = stream.reply_size.is_none_or(|size| size.0 <= stream.size_min());
    problems.need(!is_same || fits, "reply_size", || {
        "a reply at the same address would reach beyond its request; use at most the (smallest) \
         `size`, or reply = \"next\""
            .to_string()
    });
    let count = stream.reply_after;
    problems.need(count.is_none_or(|n| (1..=AFTER_MAX).contains(&n)), "reply_after", || {
        format!("reply_after counts requests; use 1 to {AFTER_MAX}")
    });
}

//! Refuses to read back what nobody knows to have been written.

use super::Problems;
use crate::plan::{Mix, Pattern, Step, Stream, Until};

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
    let is_open = until.elapsed.is_some() || until.level.is_some() || until.steady;
    let is_exact = !is_open || until.issued_by.is_some();
    problems.need(is_exact, "read_back", || {
        "only operations, bytes, passes or `issued_by` tell what was written; end it by one of them"
            .to_string()
    });
}

/// Streams that read back as far as one of the step before wrote.
pub(super) fn validate_issued(earlier: &[Step], step: &Step, problems: &mut Problems) {
    for (index, stream) in step.streams.iter().enumerate() {
        problems.stream = Some(index);
        let Some(number) = step.until_of(stream).issued_by else { continue };
        let before = earlier.last().filter(|before| before.repetitions() == 1);
        let issuer = before.and_then(|before| before.streams.get(number as usize));
        let is_known = issuer.is_some_and(|issuer| wrote_what_is_read(issuer, stream));
        problems.need(is_known && step.repetitions() == 1, "issued_by", || {
            format!(
                "stream {number}, counted from 0, of the step before must write what this one \
                 reads, in the same order and with as many workers, and both steps have one \
                 repetition; name such a stream"
            )
        });
    }
}

fn wrote_what_is_read(writer: &Stream, reader: &Stream) -> bool {
    let writes = writer.mix.write > 0 && !writer.is_metadata();
    writes
        && !reader.changes_data()
        && writer.has_region_of(reader)
        && writer.workers == reader.workers
        && (&writer.pattern, writer.order, writer.size)
            == (&reader.pattern, reader.order, reader.size)
}

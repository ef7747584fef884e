//! What is checked must be told from everything else, and known to the one who reads it.

use super::Problems;
use crate::plan::{Content, Data, Dedupe, Reply, STAMP_UNIT_BYTES, Stream};

/// A stamp takes 40 bytes and must leave some content to check.
const STAMPED_UNIT_MIN: usize = 64;

pub(super) fn checks(stream: &Stream, problems: &mut Problems) {
    let reads = stream.mix.read > 0 || stream.reply.is_some();
    let writes = stream.mix.write > 0 || stream.reply.is_some();
    if let Some(data) = &stream.data {
        repeated(stream, data, problems);
    }
    if let Some(dedupe) = stream.dedupe {
        repeats(stream, dedupe, problems);
    }
    let stamps = (stream.stamp || stream.verify) && stream.data.is_none();
    problems.need(!stream.verify || reads, "verify", || {
        "verify checks what is read, and nothing is; add reads or remove verify".to_string()
    });
    problems.need(!stream.stamp || writes, "stamp", || {
        "stamp marks what is written, and nothing is; add writes or remove stamp".to_string()
    });
    problems.need(!stamps || stream.engine.moves_data(), "verify", || {
        format!(
            "the {} engine moves no data, so there is nothing to stamp or verify",
            stream.engine.word()
        )
    });
    problems.need(!stamps || stream.content != Content::Zero, "content", || {
        "blocks of zeros leave no room for stamps; use other content or no stamps".to_string()
    });
    let counts = matches!(stream.content, Content::Counting(_));
    problems.need(!counts || !stream.stamp, "stamp", || {
        "words that count up leave no room for stamps; remove `stamp`".to_string()
    });
    let unit = if stamps && !counts && stream.size_min() > 0 {
        stream.stamp_unit_bytes()
    } else {
        STAMP_UNIT_BYTES
    };
    problems.need(unit >= STAMPED_UNIT_MIN, "size", || {
        format!(
            "size, align and shift have only {unit} bytes in common, too few for a stamp; use \
             multiples of {STAMPED_UNIT_MIN} or no stamps"
        )
    });
    problems.need(stream.pass.is_none() || stamps, "pass", || {
        "`pass` numbers stamps, and there are none; add stamp or verify".to_string()
    });
    let knows = !writes || stream.reply == Some(Reply::Same);
    problems.need(knows || !(stream.verify && stream.pass.is_some()), "pass", || {
        "while it writes, nobody knows which pass a read will find; verify in a step of its own, \
         or leave `pass` out to check address, seed and checksum only"
            .to_string()
    });
}

/// Bytes of one's own stand instead of everything else that blocks may hold.
fn repeated(stream: &Stream, data: &Data, problems: &mut Problems) {
    if let Err(text) = data.check() {
        problems.need(false, "data", || text);
    }
    let is_used = stream.mix.write > 0 || stream.reply.is_some() || stream.verify;
    problems.need(is_used, "data", || {
        "`data` is what is written, or what `verify` expects; add one of them or remove it".into()
    });
    problems.need(stream.engine.moves_data() || !stream.verify, "verify", || {
        format!("the {} engine moves no data, so there is nothing to verify", stream.engine.word())
    });
    let is_alone = !stream.stamp && stream.content == Content::Random;
    problems.need(is_alone, "data", || {
        "`data` is all that blocks hold; remove it, or `stamp` and `content`".to_string()
    });
}

/// Requests that repeat others hold what follows from a number alone.
fn repeats(stream: &Stream, dedupe: Dedupe, problems: &mut Problems) {
    let has_room = !stream.stamp
        && !stream.verify
        && stream.data.is_none()
        && matches!(stream.content, Content::Random | Content::Compressible(_));
    problems.need(has_room && !stream.is_metadata(), "dedupe", || {
        "blocks that repeat others carry no stamps and nothing of their own; remove `dedupe`, or \
         `stamp`, `verify`, `data` and `content`"
            .to_string()
    });
    let writes = stream.mix.write > 0 || stream.reply.is_some();
    problems.need(writes, "dedupe", || {
        "`dedupe` is about writes, and there are none; remove it or add writes".to_string()
    });
    problems.need(dedupe.percent <= 100, "dedupe", || {
        format!("{} of a hundred blocks cannot repeat others; use at most 100", dedupe.percent)
    });
    problems.need(dedupe.of != Some(0), "dedupe", || {
        "a set of 0 requests has nothing to repeat; use more, or remove `of`".to_string()
    });
}

//! What a drive has been through in a run, and the state it is in, in the words of the contract.
//!
//! A state is known only from what the run itself did to the whole target, or from what a study
//! proved and recorded; whatever else changes blocks makes it unknown.

use crate::op::Action;
use crate::plan::{Act, Files, Pattern, Role, Sharing, Step, Stream};
use crate::tally::Tally;
use serde::{Deserialize, Serialize};

/// State and history of the target after a step.
#[derive(Debug, Clone, PartialEq, Eq, Serialize, Deserialize)]
pub struct Ledger {
    /// `fresh`, `filled` … `unknown`.
    pub state: String,
    /// Bytes that the run wrote.
    pub written_bytes: u64,
    /// Bytes that the run wrote since it last purged or trimmed the whole target; all of them
    /// where it never did.
    pub written_since_erase_bytes: u64,
    /// Times that the whole target was purged or trimmed.
    pub erases: u32,
    /// Time that the drive was left alone on purpose, in nanoseconds.
    pub idle_ns: u64,
}

impl Default for Ledger {
    fn default() -> Self {
        Ledger::of("unknown")
    }
}

/// Bytes that a step moved to the target.
#[derive(Debug, Clone, Copy, Default, PartialEq, Eq)]
pub struct Moved {
    /// Written.
    pub written_bytes: u64,
    /// Discarded by operations of streams.
    pub trimmed_bytes: u64,
}

impl Moved {
    /// What the tallies of a step say.
    pub fn of<'a>(tallies: impl IntoIterator<Item = &'a Tally> + Clone) -> Self {
        let of = |kind: Action| {
            let kinds = tallies.clone().into_iter().flat_map(|tally| &tally.kinds);
            kinds.filter(|tally| tally.kind == kind).map(|tally| tally.bytes).sum()
        };
        Moved { written_bytes: of(Action::Write), trimmed_bytes: of(Action::Trim) }
    }

    /// The same without what engines did that move no data: they wrote none.
    pub fn of_step(step: &Step, tallies: &[Tally]) -> Self {
        let changes_files = |tally: &&Tally| {
            let stream = step.streams.get(tally.stream as usize);
            stream.is_some_and(|stream| stream.engine.traits().changes_files)
        };
        Moved::of(tallies.iter().filter(|tally| !changes_files(tally)))
    }
}

impl Ledger {
    /// A state that is known from the beginning.
    pub fn of(state: &str) -> Self {
        Ledger {
            state: state.into(),
            written_bytes: 0,
            written_since_erase_bytes: 0,
            erases: 0,
            idle_ns: 0,
        }
    }

    /// Takes in a step. Only what covers the whole target makes a state known; what changes a
    /// part of it makes a known state unknown.
    pub fn after(&mut self, step: &Step, file_bytes: u64, moved: Moved, complete: bool) {
        match &step.act {
            Some(Act::Trim { offset, length }) => {
                let all = offset.0 == 0 && length.is_none_or(|length| length.0 >= file_bytes);
                self.erased(all && complete, "trimmed");
            }
            Some(Act::Purge(_)) => self.erased(complete, "fresh"),
            Some(Act::Idle(span)) => self.idle_ns += span.0,
            Some(Act::Mkfs(_)) => self.state = "unknown".into(),
            Some(
                Act::DropCaches
                | Act::Allocate
                | Act::WriteCache(_)
                | Act::Mount(_)
                | Act::Unmount
                | Act::Queue { .. }
                | Act::Find(_),
            )
            | None => {}
        }
        self.written_bytes += moved.written_bytes;
        self.written_since_erase_bytes += moved.written_bytes;
        debug_assert!(self.written_since_erase_bytes <= self.written_bytes, "a part is the more");
        if trims_all(step, file_bytes, moved.trimmed_bytes) && complete {
            self.erased(true, "trimmed");
            return;
        }
        if let Some(word) = self.word_after(step, file_bytes, moved.written_bytes, complete) {
            self.state = word.into();
        }
    }

    fn erased(&mut self, whole: bool, word: &str) {
        self.state = if whole { word } else { "unknown" }.into();
        if whole {
            debug_assert!(word != "unknown", "what was erased whole is known");
            self.erases += 1;
            self.written_since_erase_bytes = 0;
        }
    }

    /// The state that the streams of a step leave behind; `None`: the one that was.
    fn word_after(
        &self,
        step: &Step,
        file_bytes: u64,
        written_bytes: u64,
        complete: bool,
    ) -> Option<&'static str> {
        let writers: Vec<&Stream> =
            step.streams.iter().filter(|stream| changes_blocks(stream)).collect();
        match writers.as_slice() {
            [] => None,
            // A file that was set aside, punched or cut holds what nobody wrote.
            writers if writers.iter().any(|it| it.engine.traits().changes_files) => Some("unknown"),
            _ if step.role == Role::Torture => Some("tortured"),
            [stream] if complete && covers(step, stream, file_bytes, written_bytes) => {
                Some(if stream.is_sequential() { "filled" } else { "random-filled" })
            }
            // Overwriting in order leaves a filled target filled, however far it came.
            writers if writers.iter().all(|stream| in_order(stream)) && self.state == "filled" => {
                None
            }
            // More of what brought the state about.
            writers
                if writers.iter().all(|stream| stays_steady(stream))
                    && self.state == "random-steady" =>
            {
                None
            }
            _ => Some("unknown"),
        }
    }
}

/// Whether a step of one stream discarded every block, in order.
fn trims_all(step: &Step, file_bytes: u64, trimmed_bytes: u64) -> bool {
    let [stream] = step.streams.as_slice() else { return false };
    let only = stream.mix.read == 0 && stream.mix.write == 0 && stream.reply.is_none();
    only && stream.is_sequential()
        && stream.offset.0 == 0
        && stream.workers == 1
        && file_bytes > 0
        && trimmed_bytes >= file_bytes / stream.size_max().max(1) * stream.size_max()
        && file_bytes.is_multiple_of(stream.size_max().max(1))
}

/// Uniform random overwrites leave a drive in its steady state there.
fn stays_steady(stream: &Stream) -> bool {
    let is_random = stream.pattern == Pattern::Uniform && !stream.writes_in_order;
    is_random && stream.mix.trim == 0 && stream.length.is_none()
}

fn changes_blocks(stream: &Stream) -> bool {
    !stream.is_metadata() && stream.changes_data()
}

fn only_writes(stream: &Stream) -> bool {
    stream.mix.read == 0 && stream.mix.trim == 0 && stream.reply.is_none()
}

fn in_order(stream: &Stream) -> bool {
    stream.is_sequential()
        && stream.stride().unwrap_or(1) == 1
        && stream.mix.trim == 0
        && stream.sizes.is_empty()
}

/// Whether the stream wrote every block of the target at least once: its order visits each block
/// once a pass, and it wrote a whole pass.
fn covers(step: &Step, stream: &Stream, file_bytes: u64, written_bytes: u64) -> bool {
    let whole = stream.offset.0 == 0
        && stream.offset_each.0 == 0
        && stream.shift.0 == 0
        && stream.length.is_none_or(|length| length.0 >= file_bytes)
        && stream.alignment() <= stream.size_min()
        && (stream.first_file, stream.files_of_worker()) == (0, 1)
        && (stream.sharing() != Sharing::Whole || stream.workers == 1)
        && stream.window.is_none()
        && stream.until.is_none();
    let by_pass = in_order(stream) || stream.pattern == Pattern::Permutation;
    let each_all = stream.files == Files::Each
        || stream.workers == 1
        || stream.sharing() == Sharing::Disjoint
        || stream.pattern == Pattern::Permutation;
    // With another bound than passes, workers could wrap around before the others are through.
    let bounded = step.until.passes.is_some() || stream.workers == 1;
    let files = if stream.files == Files::Each { u64::from(stream.workers) } else { 1 };
    let pass_bytes = file_bytes / stream.size_max().max(1) * stream.size_max() * files;
    let passed = pass_bytes > 0 && written_bytes >= pass_bytes;
    whole && by_pass && each_all && bounded && passed && only_writes(stream)
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::plan::{Engine, IoMode, Mix, Purge, Until};
    use crate::units::{Size, Span};

    const BYTES: u64 = 1 << 20;

    fn writes(pattern: Pattern, until: Until) -> Step {
        let stream = Stream { pattern, mix: Mix::WRITE, ..Stream::default() };
        Step { until, streams: vec![stream], ..Step::default() }
    }

    fn written(bytes: u64) -> Moved {
        Moved { written_bytes: bytes, ..Moved::default() }
    }

    fn after(steps: &[Step]) -> String {
        let mut ledger = Ledger::default();
        for step in steps {
            let bytes = if step.until.passes.is_some() { BYTES } else { BYTES / 2 };
            ledger.after(step, BYTES, written(bytes), true);
        }
        ledger.state
    }

    #[test]
    fn only_what_covers_all_makes_a_state() {
        let pass = || Until { passes: Some(1), ..Until::default() };
        let time = || Until { elapsed: Some(Span(1)), ..Until::default() };
        let fill = || writes(Pattern::SEQUENTIAL, pass());
        assert_eq!(after(&[]), "unknown");
        assert_eq!(after(&[fill()]), "filled");
        assert_eq!(after(&[writes(Pattern::Permutation, pass())]), "random-filled");
        assert_eq!(after(&[writes(Pattern::Uniform, pass())]), "unknown");
        assert_eq!(after(&[writes(Pattern::SEQUENTIAL, time())]), "unknown");
        assert_eq!(after(&[fill(), writes(Pattern::SEQUENTIAL, time())]), "filled");
        assert_eq!(after(&[fill(), writes(Pattern::Uniform, time())]), "unknown");
        let mut part = fill();
        part.streams[0].length = Some(Size(4096));
        assert_eq!(after(&[part]), "unknown");
        let mut cut = fill();
        (cut.streams[0].engine, cut.streams[0].io) = (Engine::Ftruncate, IoMode::Buffered);
        assert_eq!(after(&[cut.clone()]), "unknown");
        assert_eq!(after(&[fill(), cut]), "unknown");
        let mut reads = fill();
        reads.streams[0].mix = Mix::READ;
        assert_eq!(after(&[fill(), reads]), "filled");
        let trim =
            |length| Step { act: Some(Act::Trim { offset: Size(0), length }), ..Step::default() };
        assert_eq!(after(&[fill(), trim(None)]), "trimmed");
        assert_eq!(after(&[fill(), trim(Some(Size(4096)))]), "unknown");
        let mut ledger = Ledger::of("random-steady");
        ledger.after(&writes(Pattern::Uniform, time()), BYTES, written(BYTES / 2), true);
        assert_eq!(ledger.state, "random-steady");
        let mut in_order = writes(Pattern::Uniform, time());
        in_order.streams[0].mix.read = 99;
        in_order.streams[0].writes_in_order = true;
        ledger.after(&in_order, BYTES, written(BYTES / 2), true);
        assert_eq!(ledger.state, "unknown", "its writes are not at random");
        ledger.after(&fill(), BYTES, written(BYTES), true);
        assert_eq!(ledger.state, "filled");
        let mut ledger = Ledger::default();
        ledger.after(&fill(), BYTES, written(BYTES), false);
        assert_eq!(ledger.state, "unknown");
    }
    #[test]
    fn what_was_erased_counts_from_there() {
        let pass = Until { passes: Some(1), ..Until::default() };
        let mut ledger = Ledger::of("fresh");
        ledger.after(&writes(Pattern::SEQUENTIAL, pass.clone()), BYTES, written(BYTES), true);
        let mut trims = writes(Pattern::SEQUENTIAL, pass);
        trims.streams[0].mix = Mix { read: 0, write: 0, trim: 100 };
        let part = Moved { trimmed_bytes: BYTES / 2, ..Moved::default() };
        ledger.after(&trims, BYTES, part, true);
        assert_eq!((ledger.state.as_str(), ledger.erases), ("unknown", 0));
        let all = Moved { trimmed_bytes: BYTES, ..Moved::default() };
        ledger.after(&trims, BYTES, all, true);
        assert_eq!((ledger.state.as_str(), ledger.erases), ("trimmed", 1));
        assert_eq!((ledger.written_bytes, ledger.written_since_erase_bytes), (BYTES, 0));
        let purge = Step { act: Some(Act::Purge(Purge::NvmeFormat)), ..Step::default() };
        ledger.after(&purge, BYTES, Moved::default(), true);
        assert_eq!((ledger.state.as_str(), ledger.erases), ("fresh", 2));
    }
}

//! What is known of the drive's state before a step, in the words of the contract.

use drivelab_core::plan::{Act, Files, PatternName, Role, Sharing, Step, Stream};

/// The state of the drive, as far as this run brought it about; `unknown` until then.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub struct DriveState {
    word: &'static str,
}

impl Default for DriveState {
    fn default() -> Self {
        DriveState { word: "unknown" }
    }
}

impl DriveState {
    /// A state that is known from the beginning.
    pub fn of(word: &'static str) -> Self {
        DriveState { word }
    }

    /// `filled`, `trimmed` … `unknown`.
    pub fn word(self) -> &'static str {
        self.word
    }

    /// The state after a step. Only what covers the whole target makes a state known; what
    /// changes a part of it makes a known state unknown.
    pub fn after(&mut self, step: &Step, file_bytes: u64, written_bytes: u64, complete: bool) {
        if let Some(Act::Trim { offset, length }) = &step.act {
            let all = offset.0 == 0 && length.is_none_or(|length| length.0 >= file_bytes);
            self.word = if all && complete { "trimmed" } else { "unknown" };
        }
        let writers: Vec<&Stream> =
            step.streams.iter().filter(|stream| changes_blocks(stream)).collect();
        self.word = match writers.as_slice() {
            [] => self.word,
            _ if step.role == Role::Torture => "tortured",
            [stream] if complete && covers(step, stream, file_bytes, written_bytes) => {
                match stream.pattern {
                    PatternName::Sequential => "filled",
                    _ => "random-filled",
                }
            }
            // Overwriting in order leaves a filled target filled, however far it came.
            writers if writers.iter().all(|stream| in_order(stream)) && self.word == "filled" => {
                "filled"
            }
            // More of what brought the state about.
            writers
                if writers.iter().all(|stream| stays_steady(stream))
                    && self.word == "random-steady" =>
            {
                "random-steady"
            }
            _ => "unknown",
        };
    }
}

/// Uniform random overwrites leave a drive in its steady state there.
fn stays_steady(stream: &Stream) -> bool {
    stream.pattern == PatternName::Uniform && stream.mix.trim == 0 && stream.length.is_none()
}

fn changes_blocks(stream: &Stream) -> bool {
    stream.pattern != PatternName::Names && stream.changes_data()
}

fn only_writes(stream: &Stream) -> bool {
    stream.mix.read == 0 && stream.mix.trim == 0 && stream.reply.is_none()
}

fn in_order(stream: &Stream) -> bool {
    stream.pattern == PatternName::Sequential
        && stream.stride.unwrap_or(1) == 1
        && stream.mix.trim == 0
        && stream.sizes.is_empty()
}

/// Whether the stream wrote every block of the target at least once: its order visits each block
/// once a pass, and it wrote a whole pass.
fn covers(step: &Step, stream: &Stream, file_bytes: u64, written_bytes: u64) -> bool {
    let whole = stream.offset.0 == 0
        && stream.shift.0 == 0
        && stream.length.is_none_or(|length| length.0 >= file_bytes)
        && stream.alignment() <= stream.size_min();
    let by_pass = in_order(stream) || stream.pattern == PatternName::Permutation;
    let each_all = stream.files == Files::Each
        || stream.workers == 1
        || stream.sharing() == Sharing::Disjoint
        || stream.pattern == PatternName::Permutation;
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
    use drivelab_core::plan::{Mix, Until};
    use drivelab_core::units::{Size, Span};

    const BYTES: u64 = 1 << 20;

    fn writes(pattern: PatternName, until: Until) -> Step {
        let stream = Stream { pattern, mix: Mix::WRITE, ..Stream::default() };
        Step { until, streams: vec![stream], ..Step::default() }
    }

    fn after(steps: &[Step]) -> &'static str {
        let mut state = DriveState::default();
        for step in steps {
            let bytes = if step.until.passes.is_some() { BYTES } else { BYTES / 2 };
            state.after(step, BYTES, bytes, true);
        }
        state.word()
    }

    #[test]
    fn only_what_covers_all_makes_a_state() {
        let pass = || Until { passes: Some(1), ..Until::default() };
        let time = || Until { elapsed: Some(Span(1)), ..Until::default() };
        let fill = || writes(PatternName::Sequential, pass());
        assert_eq!(after(&[]), "unknown");
        assert_eq!(after(&[fill()]), "filled");
        assert_eq!(after(&[writes(PatternName::Permutation, pass())]), "random-filled");
        assert_eq!(after(&[writes(PatternName::Uniform, pass())]), "unknown");
        assert_eq!(after(&[writes(PatternName::Sequential, time())]), "unknown");
        assert_eq!(after(&[fill(), writes(PatternName::Sequential, time())]), "filled");
        assert_eq!(after(&[fill(), writes(PatternName::Uniform, time())]), "unknown");
        let mut part = fill();
        part.streams[0].length = Some(Size(4096));
        assert_eq!(after(&[part]), "unknown");
        let mut reads = fill();
        reads.streams[0].mix = Mix::READ;
        assert_eq!(after(&[fill(), reads]), "filled");
        let trim =
            |length| Step { act: Some(Act::Trim { offset: Size(0), length }), ..Step::default() };
        assert_eq!(after(&[fill(), trim(None)]), "trimmed");
        assert_eq!(after(&[fill(), trim(Some(Size(4096)))]), "unknown");
        let mut state = DriveState::of("random-steady");
        state.after(&writes(PatternName::Uniform, time()), BYTES, BYTES / 2, true);
        assert_eq!(state.word(), "random-steady");
        state.after(&fill(), BYTES, BYTES, true);
        assert_eq!(state.word(), "filled");
        let mut state = DriveState::default();
        state.after(&fill(), BYTES, BYTES, false);
        assert_eq!(state.word(), "unknown");
    }
}

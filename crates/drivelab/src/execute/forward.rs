//! Where the intervals of a step go while it runs, and what its processes tell each other.

use crate::evidence::Evidence;
use crate::progress::Progress;
use crate::store::writer::Recorder;
use drivelab_core::inside::InsideInterval;
use drivelab_core::plan::Step;
use drivelab_core::queue::Sink;
use drivelab_core::record::Record;
use drivelab_core::tally::Tally;
use drivelab_core::team::Word;
use drivelab_io::team::team;

/// Lets a step that was recorded before run by.
pub(super) struct Silent<'a> {
    pub(super) progress: &'a mut Progress,
}

impl Sink for Silent<'_> {
    fn tally(&mut self, tally: &Tally) {
        self.progress.tally(tally);
    }

    fn go_on(&mut self) -> bool {
        self.progress.redraw();
        !drivelab_io::signal::interrupted()
    }
}

/// Hands tallies to the recorder and the progress line, looks around, and asks for Ctrl-C.
pub(super) struct Forward<'a> {
    recorder: &'a mut Recorder,
    progress: &'a mut Progress,
    evidence: &'a mut Evidence,
    /// Number of the executed step: what was said of an earlier one comes too late.
    step: u32,
    others: u32,
}

impl<'a> Forward<'a> {
    pub(super) fn new(
        recorder: &'a mut Recorder,
        progress: &'a mut Progress,
        evidence: &'a mut Evidence,
        step: &Step,
        number: u32,
    ) -> Self {
        let streams = || step.streams.iter();
        let walls = streams().any(|stream| stream.until.as_ref().unwrap_or(&step.until).stonewall);
        let others = match walls || streams().any(|stream| stream.background) {
            true => team().size() - 1,
            false => 0,
        };
        Forward { recorder, progress, evidence, step: number, others }
    }
}

impl Sink for Forward<'_> {
    fn tally(&mut self, tally: &Tally) {
        self.progress.tally(tally);
        self.recorder.record(Record::Tally(Box::new(tally.clone())));
    }

    fn inside(&mut self, interval: &InsideInterval) {
        self.recorder.record(Record::Inside(Box::new(*interval)));
    }

    fn go_on(&mut self) -> bool {
        self.progress.redraw();
        self.evidence.sense();
        !drivelab_io::signal::interrupted() && !team().is_asked_to_stop()
    }

    fn others(&self) -> u32 {
        self.others
    }

    fn tell(&mut self, word: Word) {
        if self.others > 0 {
            team().tell(&bytes_of(self.step, word));
        }
    }

    fn heard(&mut self) -> Option<Word> {
        loop {
            match word_of(&team().told()?) {
                Some((step, word)) if step == self.step => return Some(word),
                _ => {}
            }
        }
    }
}

/// A word of a step: the step's number, and the stream whose wall it is.
fn bytes_of(step: u32, word: Word) -> Vec<u8> {
    let mut bytes = step.to_le_bytes().to_vec();
    if let Word::Wall(stream) = word {
        bytes.extend(stream.to_le_bytes());
    }
    bytes
}

fn word_of(bytes: &[u8]) -> Option<(u32, Word)> {
    let (step, stream) = bytes.split_first_chunk()?;
    let word = match stream.first_chunk() {
        Some(stream) => Word::Wall(u32::from_le_bytes(*stream)),
        None => Word::Over,
    };
    Some((u32::from_le_bytes(*step), word))
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn words_are_read_as_they_were_said() {
        for word in [Word::Over, Word::Wall(0), Word::Wall(70_000)] {
            assert_eq!(word_of(&bytes_of(9, word)), Some((9, word)));
        }
        assert_eq!(word_of(&[1, 2]), None);
    }
}

//! Where the intervals of a step go while it runs, and what its processes tell each other.

use crate::evidence::Evidence;
use crate::progress::Progress;
use crate::store::writer::Recorder;
use drivelab_core::inside::InsideInterval;
use drivelab_core::level::Did;
use drivelab_core::plan::Step;
use drivelab_core::queue::Sink;
use drivelab_core::record::Record;
use drivelab_core::tally::Tally;
use drivelab_core::team::{Company, Word};
use drivelab_io::team::team;
use std::time::{Duration, Instant};

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
    company: Company,
    /// Time zero of the stamps, in CLOCK_MONOTONIC of the first process.
    zero_ns: u64,
    ending: Ending,
}

/// After so long it is said that the end is held up by I/O. Signals that are repeated within 2 s
/// are one wish, so that a Ctrl-C that follows the sentence is another.
const ENDS_WITHIN: Duration = Duration::from_secs(3);

/// An end that was asked for, and does not come.
#[derive(Default)]
struct Ending {
    since: Option<Instant>,
    is_said: bool,
}

impl Ending {
    /// Says once what is waited for.
    fn look(&mut self) {
        let since = *self.since.get_or_insert_with(Instant::now);
        if !self.is_said && since.elapsed() >= ENDS_WITHIN {
            self.is_said = true;
            crate::print::error(
                "drivelab: the step ends when its I/O has come back, and some has not yet; Ctrl-C \
                 stops waiting",
            );
        }
    }
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
        let bounds = || streams().map(|stream| stream.until.as_ref().unwrap_or(&step.until));
        let matters = streams().any(|stream| stream.background)
            || bounds().any(|until| until.stonewall || until.level.is_some());
        let company = match matters {
            true => Company { others: team().size() - 1, leads: team().leads() },
            false => Company::NONE,
        };
        let zero_ns = recorder.run().begin.clock.monotonic_zero_ns.unwrap_or(0);
        let zero_ns = team().to_leader_ns(zero_ns);
        let ending = Ending::default();
        Forward { recorder, progress, evidence, step: number, company, zero_ns, ending }
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
        if drivelab_io::signal::interrupted() {
            self.ending.look();
            return false;
        }
        !team().is_asked_to_stop()
    }

    fn company(&self) -> Company {
        self.company
    }

    fn tell(&mut self, word: Word) {
        if self.company.others > 0
            && let Ok(bytes) = serde_json::to_vec(&(self.step, shifted(word, self.zero_ns as i64)))
        {
            team().tell(&bytes);
        }
    }

    fn heard(&mut self) -> Option<Word> {
        loop {
            match serde_json::from_slice::<(u32, Word)>(&team().told()?) {
                Ok((step, word)) if step == self.step => {
                    return Some(shifted(word, -(self.zero_ns as i64)));
                }
                // Of a step that is over.
                _ => {}
            }
        }
    }
}

/// The times of a word, so much later.
fn shifted(word: Word, by_ns: i64) -> Word {
    let shift = |time: u64| time.saturating_add_signed(by_ns);
    match word {
        Word::Did(did) => Word::Did(Did { from: shift(did.from), to: shift(did.to), ..did }),
        word => word,
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn times_are_told_by_the_clock_of_the_first_process() {
        let did = Did { worker: (1, 2), ramp: false, from: 5, to: 9, ops: 3, bytes: 4 };
        let told = shifted(Word::Did(did), 1000);
        assert_eq!(told, Word::Did(Did { from: 1005, to: 1009, ..did }));
        assert_eq!(shifted(told, -1000), Word::Did(did));
        assert_eq!(shifted(Word::Wall(7), 1000), Word::Wall(7));
    }
}

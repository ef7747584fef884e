//! Where the intervals of a step go while it runs, and what its ranks send each other.

use crate::evidence::Evidence;
use crate::progress::Progress;
use crate::store::writer::Recorder;
use drivelab_core::endings::{EndingMessage, OtherRanks};
use drivelab_core::inside::InsideInterval;
use drivelab_core::level::WorkerInterval;
use drivelab_core::plan::Step;
use drivelab_core::queue::Sink;
use drivelab_core::record::Record;
use drivelab_core::tally::Tally;
use drivelab_io::ranks::Ranks;
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
    ranks: Ranks,
    recorder: &'a mut Recorder,
    progress: &'a mut Progress,
    evidence: &'a mut Evidence,
    /// Number of the executed step: what was sent of an earlier one comes too late.
    step: u32,
    other_ranks: OtherRanks,
    /// Time zero of the stamps, in CLOCK_MONOTONIC of rank 0.
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
        ranks: Ranks,
        recorder: &'a mut Recorder,
        progress: &'a mut Progress,
        evidence: &'a mut Evidence,
        (step, number): (&Step, u32),
    ) -> Self {
        let streams = || step.streams.iter();
        let bounds = || streams().map(|stream| stream.until.as_ref().unwrap_or(&step.until));
        let matters = streams().any(|stream| stream.background)
            || bounds().any(|until| {
                until.stonewall || until.wear_out || until.ends_all || until.level.is_some()
            });
        let other_ranks = match matters {
            true => OtherRanks { count: ranks.size() - 1, is_rank_0: ranks.is_rank_0() },
            false => OtherRanks::NONE,
        };
        let zero_ns = recorder.run().begin.clock.monotonic_zero_ns.unwrap_or(0);
        let zero_ns = ranks.to_rank_0_ns(zero_ns);
        let ending = Ending::default();
        Forward { ranks, recorder, progress, evidence, step: number, other_ranks, zero_ns, ending }
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
        !self.ranks.is_asked_to_stop()
    }

    fn other_ranks(&self) -> OtherRanks {
        self.other_ranks
    }

    fn send(&mut self, message: EndingMessage) {
        if self.other_ranks.count > 0
            && let Ok(bytes) =
                serde_json::to_vec(&(self.step, shifted(message, self.zero_ns as i64)))
        {
            self.ranks.send(&bytes);
        }
    }

    fn receive(&mut self) -> Option<EndingMessage> {
        loop {
            match serde_json::from_slice::<(u32, EndingMessage)>(&self.ranks.receive()?) {
                Ok((step, message)) if step == self.step => {
                    return Some(shifted(message, -(self.zero_ns as i64)));
                }
                // Of a step that is over.
                _ => {}
            }
        }
    }
}

/// The times of a message, so much later.
fn shifted(message: EndingMessage, by_ns: i64) -> EndingMessage {
    let shift = |time: u64| time.saturating_add_signed(by_ns);
    match message {
        EndingMessage::Progress(interval) => EndingMessage::Progress(WorkerInterval {
            from: shift(interval.from),
            to: shift(interval.to),
            ..interval
        }),
        message => message,
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn times_are_sent_by_the_clock_of_rank_0() {
        let interval = WorkerInterval {
            worker: (1, 2),
            ramp: false,
            from: 5,
            to: 9,
            ops: 3,
            bytes: 4,
            data: [3, 12],
        };
        let sent = shifted(EndingMessage::Progress(interval), 1000);
        assert_eq!(
            sent,
            EndingMessage::Progress(WorkerInterval { from: 1005, to: 1009, ..interval })
        );
        assert_eq!(shifted(sent, -1000), EndingMessage::Progress(interval));
        assert_eq!(shifted(EndingMessage::Stonewall(7), 1000), EndingMessage::Stonewall(7));
    }
}

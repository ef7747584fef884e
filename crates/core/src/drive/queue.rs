//! The only seam between an experiment and a drive: two traits.
//!
//! A driver may read time, fill a buffer it does not own, and submit; it cannot wait. A testbed is
//! how drivers meet a drive: real ones wait in threads, virtual ones advance a clock in a loop.

use crate::driver::Driver;
use crate::endings::{EndingMessage, OtherRanks};
use crate::facts::Facts;
use crate::inside::{Inside, InsideInterval};
use crate::op::{Op, Tag, Time};
use crate::plan::{Act, SettingChange};
use crate::stages::KindStages;
use crate::tally::{Phase, Tally};

pub use crate::trouble::{Trouble, TroubleKind};

/// Where operations go.
pub trait Queue {
    /// The present, in nanoseconds since the testbed began.
    fn now(&self) -> Time;
    /// The memory of this tag, at least as long as the stream's largest request.
    fn buffer(&mut self, tag: Tag) -> &mut [u8];
    /// Takes the operation; never waits. It is issued when the testbed next waits, or earlier
    /// when the submission batch is full.
    fn submit(&mut self, tag: Tag, op: Op) -> Result<(), Trouble>;
    /// Whether [`Queue::hint`] does anything.
    #[inline]
    fn looks_ahead(&self) -> bool {
        false
    }
    /// What comes next, for a simulator that asks for memory ahead of time.
    fn hint(&mut self, _ops: &[Op]) {}
    /// Lets go of the clean pages that the page cache holds of this worker's files; operations in
    /// flight go on.
    ///
    /// # Errors
    /// The kernel refuses it.
    fn drop_cached(&mut self) -> Result<(), Trouble> {
        Ok(())
    }
    /// Whether what is written is kept; a simulated drive keeps no data, and some engines move
    /// none.
    #[inline]
    fn keeps_content(&self) -> bool {
        true
    }
}

/// How drivers meet a drive.
pub trait Testbed {
    /// What is known of target and machine.
    fn facts(&self) -> &Facts;
    /// Runs all drivers to their end, handing over tallies as intervals pass, and returns a phase
    /// for each driver in order.
    fn run(&mut self, drivers: Vec<Driver>, sink: &mut dyn Sink) -> Result<Vec<Finished>, Trouble>;
    /// Does in virtual time what a step without streams asks for; `None`: time is real, and the
    /// caller acts. What was set is handed back.
    fn act(&mut self, _act: &Act) -> Option<Result<Option<SettingChange>, Trouble>> {
        None
    }
    /// What went on inside a simulated drive since it was made.
    fn inside(&mut self) -> Option<Inside> {
        None
    }
    /// A simulated drive notes from here on by stage, or no longer, where the time of those I/Os
    /// goes whose stamps are kept. It does nothing otherwise.
    fn watch_stages(&mut self, _is_watched: bool) {}
    /// Takes what was noted since it was last taken.
    fn take_stages(&mut self) -> Vec<KindStages> {
        Vec::new()
    }
    /// How far the clock of the stamps strayed from the kernel's during the latest run, in
    /// nanoseconds; `None` in virtual time.
    fn clock_strayed_ns(&self) -> Option<i64> {
        None
    }
}

/// What a driver leaves behind.
#[derive(Debug)]
pub struct Finished {
    /// The driver, with its slowest I/Os and mismatches.
    pub driver: Driver,
    /// When it ran.
    pub phase: Phase,
}

/// Takes tallies as they are handed over, and says whether to go on.
pub trait Sink {
    /// One worker's interval has passed.
    fn tally(&mut self, tally: &Tally);
    /// What went on inside a simulated drive in one interval.
    fn inside(&mut self, _interval: &InsideInterval) {}
    /// Asked several times a second; `false` ends the step early and marks it.
    fn go_on(&mut self) -> bool {
        true
    }
    /// The other ranks whose workers matter to those here, or the other way round: then
    /// [`Sink::receive`] is asked every millisecond.
    fn other_ranks(&self) -> OtherRanks {
        OtherRanks::NONE
    }
    /// Sends to the other ranks.
    fn send(&mut self, _message: EndingMessage) {}
    /// The next that another rank has sent in this step.
    fn receive(&mut self) -> Option<EndingMessage> {
        None
    }
}

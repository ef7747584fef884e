//! A drive that stands still again and again, for times that are known: what `stutter` says of
//! freezes can be compared with the truth.

use crate::drive::{Drive, Ends, Ticket, Way, handed_on};
use crate::kept_back::KeptBack;
use drivelab_core::inside::Inside;
use drivelab_core::op::{DataOp, Time};
use drivelab_core::units::Span;
use drivelab_stats::Domain;
use std::fmt;

/// How often a drive stands still, and for how long.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub struct Stalls {
    /// From the beginning of one stall to that of the next, in nanoseconds.
    pub period_ns: u64,
    /// How long each lasts, in nanoseconds.
    pub length_ns: u64,
}

impl Stalls {
    /// Understands `5s:300ms`: every 5 s for 300 ms.
    ///
    /// # Errors
    /// What is wrong and the way out, in a sentence.
    pub fn parse(text: &str) -> Result<Self, String> {
        let form = || format!("stall={text}: give PERIOD:LENGTH, such as 5s:300ms");
        let (period, length) = text.split_once(':').ok_or_else(form)?;
        let span = |text: &str| -> Result<u64, String> {
            let span: Span = text.parse().map_err(|error| format!("{}: {error}", form()))?;
            Ok(span.0)
        };
        let stalls = Stalls { period_ns: span(period)?, length_ns: span(length)? };
        match stalls.length_ns > 0 && stalls.length_ns < stalls.period_ns {
            true => Ok(stalls),
            false => Err(format!("{}; a stall is shorter than its period", form())),
        }
    }

    /// The end of the stall that lasts at `now` where one began at `phase`, else `now`.
    fn free(self, now: Time, phase: Time) -> Time {
        let into = (now + self.period_ns - phase) % self.period_ns;
        if into < self.length_ns { now + self.length_ns - into } else { now }
    }
}

/// The drive. What arrives in a stall is taken up when it ends.
pub struct Stalling {
    drive: Box<dyn Drive>,
    stalls: Stalls,
    /// When the first stall begins.
    phase: Time,
    kept: KeptBack,
}

impl fmt::Debug for Stalling {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.debug_struct("Stalling").field("stalls", &self.stalls).finish_non_exhaustive()
    }
}

impl Stalling {
    /// `drive` with stalls, the first of them at a time that the seed draws.
    pub fn new(drive: Box<dyn Drive>, stalls: Stalls, seed: u64) -> Self {
        let phase = Domain::Stalls.seed(seed, 0) % stalls.period_ns;
        Stalling { drive, stalls, phase, kept: KeptBack::default() }
    }
}

impl Drive for Stalling {
    fn bytes(&self) -> u64 {
        self.drive.bytes()
    }

    fn submit_by(&mut self, now: Time, ticket: Ticket, op: &DataOp, way: Way, ends: &mut Ends) {
        let from = self.stalls.free(now, self.phase);
        if from == now {
            return self.drive.submit_by(now, ticket, op, way, ends);
        }
        self.kept.keep(from, ticket, op, way);
    }

    fn next_event(&self) -> Time {
        self.kept.next_event(&*self.drive)
    }

    fn advance(&mut self, now: Time, ends: &mut Ends) {
        self.kept.advance(&mut *self.drive, now, ends);
    }

    handed_on!();

    fn purge(&mut self, now: Time) -> bool {
        self.drive.purge(now)
    }

    fn inside(&mut self, now: Time) -> Inside {
        self.drive.inside(now)
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use drivelab_core::inside::Cause;

    /// Takes 1000 ns for everything.
    struct Even;

    impl Drive for Even {
        fn bytes(&self) -> u64 {
            1 << 20
        }

        fn submit_by(&mut self, now: Time, ticket: Ticket, _: &DataOp, _: Way, ends: &mut Ends) {
            ends.push(now + 1000, ticket, Cause::Flash);
        }

        fn inside(&mut self, _now: Time) -> Inside {
            Inside::default()
        }
    }

    #[test]
    fn operations_in_a_stall_wait_for_its_end() {
        let stalls = Stalls::parse("1ms:100us").unwrap();
        let mut drive = Stalling::new(Box::new(Even), stalls, 1);
        drive.phase = 300_000;
        for (now, end) in [
            (0, 1000),
            (299_999, 300_999),
            (300_000, 401_000),
            (399_999, 401_000),
            (400_000, 401_000),
            (1_350_000, 1_401_000),
        ] {
            let mut ends = Ends::default();
            drive.submit_by(now, 3, &DataOp::default(), Way::default(), &mut ends);
            while ends.is_empty() {
                let at = drive.next_event();
                drive.advance(at, &mut ends);
            }
            assert_eq!(ends.next_at(), end, "{now}");
            assert_eq!(drive.next_event(), Time::MAX);
        }
    }

    #[test]
    fn a_stall_that_never_ends_is_refused() {
        for text in ["5s", "5s:5s", "1s:0s", "5s:many", "300ms:5s"] {
            assert!(Stalls::parse(text).unwrap_err().contains("such as 5s:300ms"), "{text}");
        }
    }
}

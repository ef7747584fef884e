//! A drive whose map falls into pieces as it is written over: each read then takes longer by a
//! share that is known. What a study says of such a drive can be compared with the truth.
//!
//! Until the host has written `passes` times the drive's bytes nothing happens; from there the
//! share grows in proportion to what is written, until one more pass makes it whole. A trim of all,
//! if the drive honours it, and a purge make the map new.

use crate::drive::{Drive, End, Ends, Ticket, Way};
use drivelab_core::inside::{Cause, Inside};
use drivelab_core::op::{Action, DataOp, Op, Time};

/// How far a map falls into pieces, and when.
#[derive(Debug, Clone, Copy, PartialEq)]
pub struct Fragmentation {
    /// Share of its rate that a reader at depth 1 loses in the end.
    pub loss: f64,
    /// Passes of writes before it begins.
    pub passes: f64,
}

impl Fragmentation {
    /// Passes of writes before it begins, where nothing says it.
    pub const PASSES: f64 = 1.0;
    /// Beyond this a read would take twenty times as long.
    pub const LOSS_MAX: f64 = 0.95;

    /// Share of its time that a read spends on the map after this many passes.
    fn share(&self, passes: f64) -> f64 {
        self.loss * (passes - self.passes).clamp(0.0, 1.0)
    }
}

/// A drive behind a map that falls into pieces.
#[derive(Debug)]
pub struct Fragmented<D> {
    drive: D,
    how: Fragmentation,
    honours_trim: bool,
    /// Ends on the side of the drive.
    far_ends: Ends,
    /// Of each ticket: when it was submitted, if it reads.
    reads: Vec<Option<Time>>,
    written_bytes: u64,
    /// Trimmed since the last write.
    trimmed_bytes: u64,
    extra_ns: u64,
}

impl<D: Drive> Fragmented<D> {
    /// `drive` behind such a map.
    pub fn new(drive: D, how: Fragmentation, honours_trim: bool) -> Self {
        Fragmented {
            drive,
            how,
            honours_trim,
            far_ends: Ends::default(),
            reads: Vec::new(),
            written_bytes: 0,
            trimmed_bytes: 0,
            extra_ns: 0,
        }
    }

    fn share(&self) -> f64 {
        self.how.share(self.written_bytes as f64 / self.drive.bytes().max(1) as f64)
    }

    fn account(&mut self, op: &DataOp) {
        match op.action {
            Action::Write => {
                self.written_bytes += u64::from(op.len);
                self.trimmed_bytes = 0;
            }
            Action::Trim if self.honours_trim => {
                self.trimmed_bytes += u64::from(op.len);
                if self.trimmed_bytes >= self.drive.bytes() {
                    self.written_bytes = 0;
                }
            }
            _ => {}
        }
    }

    /// An operation of the drive has ended: a read goes on for as long as the map takes.
    fn ended(&mut self, end: End, ends: &mut Ends) {
        let since = self.reads.get_mut(end.ticket as usize).and_then(Option::take);
        let share = self.share();
        let Some(since) = since.filter(|_| share > 0.0) else {
            return ends.push(end.at, end.ticket, end.cause);
        };
        let own_ns = end.at.saturating_sub(since);
        let extra_ns = (own_ns as f64 * share / (1.0 - share)).round() as u64;
        self.extra_ns += extra_ns;
        let cause = if extra_ns > own_ns { Cause::Map } else { end.cause };
        ends.push(end.at + extra_ns, end.ticket, cause);
    }
}

impl<D: Drive> Drive for Fragmented<D> {
    fn bytes(&self) -> u64 {
        self.drive.bytes()
    }

    fn submit_by(&mut self, now: Time, ticket: Ticket, op: &DataOp, way: Way, ends: &mut Ends) {
        self.advance(now, ends);
        self.account(op);
        if self.reads.len() <= ticket as usize {
            self.reads.resize(ticket as usize + 1, None);
        }
        self.reads[ticket as usize] = (op.action == Action::Read).then_some(now);
        self.drive.submit_by(now, ticket, op, way, &mut self.far_ends);
    }

    fn next_event(&self) -> Time {
        self.far_ends.next_at().min(self.drive.next_event())
    }

    fn advance(&mut self, now: Time, ends: &mut Ends) {
        loop {
            let at = self.next_event();
            if at > now {
                return;
            }
            if self.drive.next_event() <= at {
                self.drive.advance(at, &mut self.far_ends);
            }
            while let Some(end) = self.far_ends.pop(at) {
                self.ended(end, ends);
            }
        }
    }

    fn hint(&mut self, ops: &[Op]) {
        self.drive.hint(ops);
    }

    fn forget_pages(&mut self) {
        self.drive.forget_pages();
    }

    fn purge(&mut self, now: Time) -> bool {
        let is_purged = self.drive.purge(now);
        if is_purged {
            self.written_bytes = 0;
        }
        is_purged
    }

    fn inside(&mut self, now: Time) -> Inside {
        Inside {
            fragmentation_ns: self.extra_ns,
            fragmentation: self.share(),
            ..self.drive.inside(now)
        }
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    /// Takes 1000 ns for everything.
    #[derive(Debug)]
    struct Even;

    impl Drive for Even {
        fn bytes(&self) -> u64 {
            1 << 20
        }

        fn submit_by(&mut self, now: Time, ticket: Ticket, _: &DataOp, _: Way, ends: &mut Ends) {
            ends.push(now + 1000, ticket, Cause::Flash);
        }

        fn purge(&mut self, _now: Time) -> bool {
            true
        }

        fn inside(&mut self, _now: Time) -> Inside {
            Inside::default()
        }
    }

    struct Host {
        drive: Fragmented<Even>,
        now: Time,
    }

    impl Host {
        fn does(&mut self, action: Action, len: u32) -> Time {
            let (began, mut ends) = (self.now, Ends::default());
            let op = DataOp { action, len, ..DataOp::default() };
            self.drive.submit_by(self.now, 0, &op, Way::default(), &mut ends);
            while ends.is_empty() {
                self.now = self.drive.next_event();
                self.drive.advance(self.now, &mut ends);
            }
            self.now = ends.next_at();
            self.now - began
        }
    }

    #[test]
    fn reads_take_longer_by_the_share_that_was_planted() {
        let how = Fragmentation { loss: 0.2, passes: 2.0 };
        let mut host = Host { drive: Fragmented::new(Even, how, true), now: 0 };
        let pass = |host: &mut Host| host.does(Action::Write, 1 << 20);
        assert_eq!(host.does(Action::Read, 4096), 1000);
        pass(&mut host);
        pass(&mut host);
        assert_eq!(host.does(Action::Read, 4096), 1000, "not before its passes");
        host.does(Action::Write, 1 << 19);
        assert_eq!(host.drive.share(), 0.1);
        assert_eq!(host.does(Action::Read, 4096), 1111, "0.9 of the rate");
        assert_eq!(pass(&mut host), 1000, "writes never");
        assert_eq!(host.does(Action::Read, 4096), 1250, "0.8 of the rate");
        assert_eq!(host.drive.inside(host.now).fragmentation_ns, 361);
        host.does(Action::Trim, 1 << 20);
        assert_eq!(host.does(Action::Read, 4096), 1000, "a trim of all makes the map new");
        let mut deaf = Host { drive: Fragmented::new(Even, how, false), now: 0 };
        for _ in 0..4 {
            pass(&mut deaf);
        }
        deaf.does(Action::Trim, 1 << 20);
        assert_eq!(deaf.does(Action::Read, 4096), 1250);
        assert!(deaf.drive.purge(deaf.now));
        assert_eq!(deaf.does(Action::Read, 4096), 1000);
    }
}

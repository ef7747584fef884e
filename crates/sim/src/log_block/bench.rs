//! A closed loop for the tests: keeps a number of operations in flight and notes what came back.

use crate::drive::{Drive, Ends};
use drivelab_core::inside::Cause;
use drivelab_core::op::{Action, DataOp, Time};

/// What came back.
#[derive(Debug, Clone, PartialEq, Eq, Default)]
pub(crate) struct Run {
    /// In order of submission.
    pub latencies_ns: Vec<u64>,
    pub causes: Vec<Cause>,
    /// When the last operation ended.
    pub end: Time,
}

impl Run {
    pub fn mean_ms(&self) -> f64 {
        let sum: u64 = self.latencies_ns.iter().sum();
        sum as f64 / self.latencies_ns.len() as f64 / 1e6
    }

    pub fn max_ms(&self) -> f64 {
        self.latencies_ns.iter().max().map_or(0.0, |max| *max as f64 / 1e6)
    }

    pub fn iops(&self) -> f64 {
        self.latencies_ns.len() as f64 * 1e9 / self.end as f64
    }
}

/// Submits `count` operations, `depth` at once, from time 0 on.
pub(crate) fn run(
    drive: &mut impl Drive,
    depth: u32,
    count: usize,
    mut next: impl FnMut() -> DataOp,
) -> Run {
    let mut ends = Ends::default();
    let mut run = Run { latencies_ns: vec![0; count], causes: vec![Cause::Unknown; count], end: 0 };
    let mut of_ticket = vec![(0_usize, 0); depth as usize];
    let mut submitted = 0;
    let mut now = 0;
    let mut idle: Vec<u32> = (0..depth).rev().collect();
    loop {
        while submitted < count {
            let Some(ticket) = idle.pop() else { break };
            of_ticket[ticket as usize] = (submitted, now);
            drive.submit(now, ticket, &next(), &mut ends);
            submitted += 1;
        }
        if ends.is_empty() && drive.next_event() == Time::MAX {
            return run;
        }
        now = ends.next_at().min(drive.next_event());
        drive.advance(now, &mut ends);
        while let Some(end) = ends.pop(now) {
            let (index, since) = of_ticket[end.ticket as usize];
            run.latencies_ns[index] = end.at - since;
            run.causes[index] = end.cause;
            run.end = end.at;
            idle.push(end.ticket);
        }
    }
}

pub(crate) fn write(offset: u64, len: u32) -> DataOp {
    DataOp { action: Action::Write, offset, len, ..DataOp::default() }
}

pub(crate) fn read(offset: u64, len: u32) -> DataOp {
    DataOp { action: Action::Read, offset, len, ..DataOp::default() }
}

pub(crate) fn trim(offset: u64, len: u32) -> DataOp {
    DataOp { action: Action::Trim, offset, len, ..DataOp::default() }
}

pub(crate) fn flush() -> DataOp {
    DataOp { action: Action::Flush, ..DataOp::default() }
}

/// Submits one operation at `now`; returns its end and cause.
pub(crate) fn one(drive: &mut impl Drive, now: Time, op: DataOp) -> (Time, Cause) {
    let mut ends = Ends::default();
    drive.submit(now, 0, &op, &mut ends);
    ends.pop(Time::MAX).map_or((Time::MAX, Cause::Unknown), |end| (end.at, end.cause))
}

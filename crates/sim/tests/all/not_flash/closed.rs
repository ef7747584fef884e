//! A closed loop over a drive, and what is drawn for it.

use drivelab_core::inside::Cause;
use drivelab_core::op::{Action, DataOp, SECOND, Time};
use drivelab_sim::drive::{Drive, Ends, Ticket};
use drivelab_stats::Random;

pub const KIB: u64 = 1 << 10;
pub const MIB: u64 = 1 << 20;
pub const GIB: u64 = 1 << 30;

/// One operation that ended.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub struct Done {
    pub begin: Time,
    pub end: Time,
    pub cause: Cause,
}

impl Done {
    pub fn ns(&self) -> u64 {
        self.end - self.begin
    }
}

/// Keeps `depth` operations in flight until `count` have ended; in order of their ends.
pub fn closed_loop<D: Drive>(
    drive: &mut D,
    depth: usize,
    count: usize,
    mut draw: impl FnMut(usize) -> DataOp,
) -> Vec<Done> {
    let mut ends = Ends::default();
    let mut begins = vec![0; depth];
    let mut done = Vec::with_capacity(count);
    let mut issued = 0;
    for ticket in 0..depth.min(count) {
        drive.submit(0, ticket as Ticket, &draw(issued), &mut ends);
        issued += 1;
    }
    while done.len() < count {
        let now = ends.next_at().min(drive.next_event());
        assert_ne!(now, Time::MAX, "the drive has forgotten an operation");
        drive.advance(now, &mut ends);
        while let Some(end) = ends.pop(now) {
            assert_eq!(end.at, now, "an end in the past");
            let ticket = end.ticket as usize;
            done.push(Done { begin: begins[ticket], end: now, cause: end.cause });
            if issued < count {
                begins[ticket] = now;
                drive.submit(now, end.ticket, &draw(issued), &mut ends);
                issued += 1;
            }
        }
    }
    assert!(ends.is_empty());
    done
}

pub fn span_ns(done: &[Done]) -> Time {
    done.last().unwrap().end
}

pub fn iops(done: &[Done]) -> f64 {
    done.len() as f64 * SECOND as f64 / span_ns(done) as f64
}

pub fn mean_ns(done: &[Done]) -> f64 {
    done.iter().map(|done| done.ns() as f64).sum::<f64>() / done.len() as f64
}

pub fn max_ns(done: &[Done]) -> u64 {
    done.iter().map(Done::ns).max().unwrap()
}

pub fn op(action: Action, offset: u64, len: u64) -> DataOp {
    DataOp { action, offset, len: len as u32, ..DataOp::default() }
}

/// Uniform 4 KiB operations over `bytes`.
pub fn random(action: Action, bytes: u64, seed: u64) -> impl FnMut(usize) -> DataOp {
    let mut random = Random::new(seed);
    move |_| op(action, random.below(bytes / 4_096) * 4_096, 4_096)
}

pub fn sequential(action: Action, from: u64, len: u64) -> impl FnMut(usize) -> DataOp {
    move |index| op(action, from + index as u64 * len, len)
}

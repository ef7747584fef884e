//! What every simulated drive is: it takes operations at a virtual time and says when they end.

use drivelab_core::inside::{Cause, Inside};
use drivelab_core::op::{Op, Time};
use std::cmp::Reverse;
use std::collections::BinaryHeap;

/// Names an operation in flight; below 2²⁰.
pub type Ticket = u32;

const TICKET_BITS: u32 = 20;
const CAUSE_BITS: u32 = 8;
const SEQUENCE_SHIFT: u32 = TICKET_BITS + CAUSE_BITS;

/// Whether an operation goes through the page cache of the host.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Default)]
pub enum Route {
    /// Past it.
    #[default]
    Direct,
    /// Through it, by a system call.
    Buffered,
    /// Through it, by loads and stores on a mapping.
    Mapped,
}

/// How an operation is asked for.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Default)]
pub struct Way {
    /// Past the page cache or through it.
    pub route: Route,
    /// A write must be durable when it ends (FUA, O_DSYNC).
    pub is_durable: bool,
    /// Who asks: each has a read-ahead of its own.
    pub reader: u32,
}

/// A drive in virtual time. Pure: equal operations at equal times give equal ends.
pub trait Drive {
    /// Bytes a host can address.
    fn bytes(&self) -> u64;

    /// Takes an operation at `now`, which never goes back. Its end goes to `ends`, at once or in a
    /// later [`Drive::advance`].
    fn submit(&mut self, now: Time, ticket: Ticket, op: &Op, ends: &mut Ends);

    /// The same for an operation that goes another way than past every cache.
    fn submit_by(&mut self, now: Time, ticket: Ticket, op: &Op, _way: Way, ends: &mut Ends) {
        self.submit(now, ticket, op, ends);
    }

    /// Lets go of the clean pages that the host keeps.
    fn forget_pages(&mut self) {}

    /// The next time at which [`Drive::advance`] has something to do; `Time::MAX`: never.
    fn next_event(&self) -> Time {
        Time::MAX
    }

    /// Brings the drive to `now`.
    fn advance(&mut self, _now: Time, _ends: &mut Ends) {}

    /// Operations that will be submitted soon.
    fn hint(&mut self, _ops: &[Op]) {}

    /// What went on inside since the drive was made, and how full it is at `now`.
    fn inside(&mut self, now: Time) -> Inside;
}

/// Operations that end at known times, earliest first; of equal times the one submitted first.
#[derive(Debug, Default)]
pub struct Ends {
    heap: BinaryHeap<Reverse<u128>>,
    sequence: u64,
}

/// One end.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub struct End {
    /// When.
    pub at: Time,
    /// Of which operation.
    pub ticket: Ticket,
    /// What it waited for longest.
    pub cause: Cause,
}

impl Ends {
    /// Adds an end.
    #[inline]
    pub fn push(&mut self, at: Time, ticket: Ticket, cause: Cause) {
        debug_assert!(ticket < 1 << TICKET_BITS);
        let low = self.sequence << SEQUENCE_SHIFT
            | u64::from(ticket) << CAUSE_BITS
            | u64::from(cause as u8);
        self.sequence += 1;
        self.heap.push(Reverse(u128::from(at) << 64 | u128::from(low)));
    }

    /// The earliest time; `Time::MAX` when nothing is in flight.
    #[inline]
    pub fn next_at(&self) -> Time {
        self.heap.peek().map_or(Time::MAX, |Reverse(entry)| (entry >> 64) as Time)
    }

    /// Takes the earliest end that is not after `now`.
    #[inline]
    pub fn pop(&mut self, now: Time) -> Option<End> {
        if self.next_at() > now {
            return None;
        }
        let Reverse(entry) = self.heap.pop()?;
        let low = entry as u64;
        Some(End {
            at: (entry >> 64) as Time,
            ticket: (low >> CAUSE_BITS) as Ticket & ((1 << TICKET_BITS) - 1),
            cause: Cause::of(low as u8),
        })
    }

    /// Operations in flight.
    pub fn len(&self) -> usize {
        self.heap.len()
    }

    /// Whether nothing is in flight.
    pub fn is_empty(&self) -> bool {
        self.heap.is_empty()
    }
}

//! What every simulated drive is: it takes operations at a virtual time and says when they end.

use drivelab_core::inside::{Cause, Inside};
use drivelab_core::op::{Op, Time};
use std::hint::select_unpredictable;

/// Names an operation in flight; below 2²⁰.
pub type Ticket = u32;

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
    fn submit_by(&mut self, now: Time, ticket: Ticket, op: &Op, way: Way, ends: &mut Ends);

    /// The same for an operation that goes past every cache of the host.
    #[inline]
    fn submit(&mut self, now: Time, ticket: Ticket, op: &Op, ends: &mut Ends) {
        self.submit_by(now, ticket, op, Way::default(), ends);
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

/// Operations that end at known times, earliest first; of equal times the lowest ticket.
///
/// A tournament: each ticket has a leaf, each node above holds the earlier of the two ends below
/// it. A change is one way to the top without a branch that depends on the times.
#[derive(Debug)]
pub struct Ends {
    /// The earliest of all at 1, the leaves behind.
    nodes: Vec<Node>,
    leaves: usize,
    causes: Vec<Cause>,
    count: usize,
    /// A ticket that has ended and still has its leaf, see [`Ends::take`].
    vacant: Option<Ticket>,
}

impl Default for Ends {
    fn default() -> Self {
        let (nodes, causes) = (vec![NEVER; 4], vec![Cause::Unknown; 2]);
        Ends { nodes, leaves: 2, causes, count: 0, vacant: None }
    }
}

/// The earliest end below a node, and whose it is.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
struct Node {
    at: Time,
    ticket: Ticket,
}

const NEVER: Node = Node { at: Time::MAX, ticket: 0 };

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
    /// Adds an end. A ticket can end once at a time.
    #[inline]
    pub fn push(&mut self, at: Time, ticket: Ticket, cause: Cause) {
        if ticket as usize >= self.leaves {
            self.grow(ticket as usize + 1);
        }
        if self.vacant.take_if(|vacant| *vacant == ticket).is_none() {
            self.settle();
            debug_assert!(
                self.nodes[self.leaves + ticket as usize].at == Time::MAX,
                "{ticket} ends twice"
            );
        }
        self.causes[ticket as usize] = cause;
        self.count += 1;
        self.set(ticket as usize, Node { at, ticket });
    }

    #[inline(always)]
    fn set(&mut self, ticket: usize, end: Node) {
        let nodes = self.nodes.as_mut_slice();
        // Changes no index, and spares each a comparison: the number of nodes is a power of two.
        let mask = nodes.len() - 1;
        let mut at = self.leaves + ticket;
        let mut first = end;
        nodes[at & mask] = first;
        while at > 1 {
            let other = nodes[(at ^ 1) & mask];
            // Of equal times the one on the left.
            let is_on_right = (at & 1) as Time;
            let is_first = other.at < first.at.saturating_add(is_on_right);
            first.at = select_unpredictable(is_first, other.at, first.at);
            first.ticket = select_unpredictable(is_first, other.ticket, first.ticket);
            at >>= 1;
            nodes[at & mask] = first;
        }
    }

    #[cold]
    fn grow(&mut self, tickets: usize) {
        let held = self.nodes.split_off(self.leaves);
        self.leaves = tickets.next_power_of_two();
        self.causes.resize(self.leaves, Cause::Unknown);
        self.nodes = vec![NEVER; 2 * self.leaves];
        for (ticket, end) in held.into_iter().enumerate() {
            self.set(ticket, end);
        }
    }

    /// The earliest time; `Time::MAX` when nothing is in flight.
    #[inline]
    pub fn next_at(&self) -> Time {
        debug_assert!(self.vacant.is_none());
        self.nodes[1].at
    }

    /// Takes the earliest end that is not after `now`.
    #[inline]
    pub fn pop(&mut self, now: Time) -> Option<End> {
        let end = self.take(now);
        self.settle();
        end
    }

    /// The same for a caller that will most likely push the same ticket next, which then costs one
    /// way to the top instead of two. Unless it does, [`Ends::settle`] must come before anything
    /// else is asked.
    #[inline]
    pub fn take(&mut self, now: Time) -> Option<End> {
        debug_assert!(self.vacant.is_none());
        let Node { at, ticket } = self.nodes[1];
        if at > now || at == Time::MAX {
            return None;
        }
        self.count -= 1;
        self.vacant = Some(ticket);
        Some(End { at, ticket, cause: self.causes[ticket as usize] })
    }

    /// Removes what was taken and not pushed again.
    #[inline]
    pub fn settle(&mut self) {
        if let Some(ticket) = self.vacant.take() {
            self.set(ticket as usize, NEVER);
        }
    }

    /// Operations in flight.
    pub fn len(&self) -> usize {
        self.count
    }

    /// Whether nothing is in flight.
    pub fn is_empty(&self) -> bool {
        self.count == 0
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn ends_come_in_order_of_time_then_of_tickets() {
        let mut ends = Ends::default();
        let mut random = drivelab_stats::Random::new(3);
        let mut expected = Vec::new();
        for ticket in 0..500 {
            let at = 1 + random.below(100);
            ends.push(at, ticket, Cause::Flash);
            expected.push((at, ticket));
        }
        expected.sort();
        assert_eq!(
            (ends.len(), ends.next_at(), ends.pop(expected[0].0 - 1)),
            (500, expected[0].0, None)
        );
        let found: Vec<(Time, Ticket)> =
            std::iter::from_fn(|| ends.pop(Time::MAX)).map(|end| (end.at, end.ticket)).collect();
        assert_eq!(found, expected);
        assert!(ends.is_empty() && ends.next_at() == Time::MAX);
        for ticket in 0..3 {
            ends.push(10 + u64::from(ticket), ticket, Cause::Flash);
        }
        assert_eq!(ends.take(20).map(|end| end.ticket), Some(0));
        ends.push(15, 0, Cause::Flash);
        assert_eq!(ends.take(20).map(|end| end.ticket), Some(1));
        ends.push(11, 3, Cause::Flash);
        assert_eq!((ends.len(), ends.next_at()), (3, 11));
        assert_eq!(ends.take(20).map(|end| end.ticket), Some(3));
        ends.settle();
        assert_eq!((ends.len(), ends.next_at()), (2, 12));
    }
}

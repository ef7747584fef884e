//! Operations in flight, in the order in which they end.

use drivelab_core::inside::Cause;
use drivelab_core::op::Time;
use drivelab_core::stages::{Stage, Staged};
use std::hint::select_unpredictable;

/// Names an operation in flight; below 2²⁰.
pub type Ticket = u32;

/// One end.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub struct End {
    /// Time at which the operation ends.
    pub at: Time,
    /// Of which operation.
    pub ticket: Ticket,
    /// What it waited for longest.
    pub cause: Cause,
}

/// Operations that end at known times, earliest first; of equal times the lowest ticket.
///
/// A tournament: each ticket has a leaf, each node above holds the lesser of the two keys below it.
/// A change is one way to the top without a branch that depends on the times. A key is the time
/// since `base` above the ticket, in one number.
///
/// ```
/// use drivelab_core::inside::Cause;
/// use drivelab_sim::ends::Ends;
///
/// let mut ends = Ends::default();
/// ends.push(300, 0, Cause::Flash);
/// ends.push(200, 1, Cause::Collection);
/// assert_eq!(ends.next_at(), 200);
/// assert!(ends.pop(100).is_none(), "nothing has ended yet");
/// assert_eq!(ends.pop(200).expect("one has").cause, Cause::Collection);
/// ```
#[derive(Debug)]
pub struct Ends {
    /// The least of all at 1, the leaves behind.
    keys: Vec<u64>,
    leaves: usize,
    /// Bits of a key that hold the ticket.
    ticket_bits: u32,
    base: Time,
    /// Of each ticket in flight: its end in full, and what it waits for.
    ends: Vec<(Time, Cause)>,
    count: usize,
    /// A ticket that has ended and still has its leaf, see [`Ends::take`].
    vacant: Option<Ticket>,
    /// Where the time of each ticket went, where that is asked for.
    staged: Option<Vec<Option<Staged>>>,
}

/// The key of a ticket that is not in flight.
const NEVER: u64 = u64::MAX;

impl Default for Ends {
    fn default() -> Self {
        Ends {
            keys: vec![NEVER; 4],
            leaves: 2,
            ticket_bits: 1,
            base: 0,
            ends: vec![(0, Cause::Unknown); 2],
            count: 0,
            vacant: None,
            staged: None,
        }
    }
}

impl Ends {
    /// From here on it is noted where the time of operations goes, or no longer.
    pub fn keep_stages(&mut self, is_kept: bool) {
        self.staged = is_kept.then(Vec::new);
    }

    /// Whether that is noted.
    #[inline]
    pub fn keeps_stages(&self) -> bool {
        self.staged.is_some()
    }

    /// An operation that took `total_ns` spent `own` in these stages, as far as that goes, and
    /// waited for the rest. Nothing where nobody asks.
    #[inline]
    pub fn tell(&mut self, ticket: Ticket, total_ns: u64, own: &[(Stage, u64)]) {
        if self.staged.is_some() {
            self.tell_staged(ticket, Staged::of(total_ns, own));
        }
    }

    /// The same for stages that were added up already.
    #[cold]
    pub fn tell_staged(&mut self, ticket: Ticket, told: Staged) {
        let Some(staged) = &mut self.staged else { return };
        if staged.len() <= ticket as usize {
            staged.resize(ticket as usize + 1, None);
        }
        staged[ticket as usize] = Some(told);
    }

    /// What was told of an operation that has ended.
    pub fn take_staged(&mut self, ticket: Ticket) -> Option<Staged> {
        self.staged.as_mut()?.get_mut(ticket as usize)?.take()
    }

    /// Adds an end. A ticket can end once at a time.
    #[inline]
    pub fn push(&mut self, at: Time, ticket: Ticket, cause: Cause) {
        if ticket as usize >= self.leaves {
            self.grow(ticket as usize + 1);
        }
        if self.vacant.take_if(|vacant| *vacant == ticket).is_none() {
            self.settle();
            debug_assert!(self.keys[self.leaves + ticket as usize] == NEVER, "{ticket} ends twice");
        }
        self.ends[ticket as usize] = (at, cause);
        self.count += 1;
        if at < self.base {
            self.rebase(at);
        }
        self.set(ticket as usize, self.key(at, ticket));
    }

    /// Time since the base that keys can tell; what is later has the key of this time.
    #[inline]
    fn span(&self) -> u64 {
        (u64::MAX >> self.ticket_bits) - 1
    }

    #[inline]
    fn key(&self, at: Time, ticket: Ticket) -> u64 {
        debug_assert!(at >= self.base, "{at} lies before all that is in flight");
        (at - self.base).min(self.span()) << self.ticket_bits | u64::from(ticket)
    }

    #[inline(always)]
    fn set(&mut self, ticket: usize, key: u64) {
        self.lift(ticket, key);
        let first = self.keys[1];
        if first >= self.span() << self.ticket_bits && first != NEVER {
            self.rebase(Time::MAX);
        }
    }

    #[inline(always)]
    fn lift(&mut self, ticket: usize, key: u64) {
        let keys = self.keys.as_mut_slice();
        // Changes no index, and spares each a comparison: the number of keys is a power of two.
        let mask = keys.len() - 1;
        let mut at = self.leaves + ticket;
        let mut first = key;
        keys[at & mask] = first;
        while at > 1 {
            let other = keys[(at ^ 1) & mask];
            first = select_unpredictable(other < first, other, first);
            at >>= 1;
            keys[at & mask] = first;
        }
    }

    /// Counts time from the earliest end, or `at` where that is earlier.
    #[cold]
    fn rebase(&mut self, at: Time) {
        let leaves = self.keys[self.leaves..].iter().zip(0..);
        let in_flight: Vec<usize> =
            leaves.filter(|(key, _)| **key != NEVER).map(|(_, ticket)| ticket).collect();
        let earliest = in_flight.iter().map(|ticket| self.ends[*ticket].0).min();
        debug_assert!(in_flight.len() <= self.ends.len(), "more are in flight than there are");
        self.base = earliest.unwrap_or(at).min(at);
        self.keys.fill(NEVER);
        for ticket in in_flight {
            self.lift(ticket, self.key(self.ends[ticket].0, ticket as Ticket));
        }
    }

    #[cold]
    fn grow(&mut self, tickets: usize) {
        let held = self.keys.split_off(self.leaves);
        self.leaves = tickets.next_power_of_two();
        self.ticket_bits = self.leaves.trailing_zeros();
        self.ends.resize(self.leaves, (0, Cause::Unknown));
        self.keys = vec![NEVER; 2 * self.leaves];
        debug_assert!(held.len() < self.leaves, "there was room for it");
        self.keys[self.leaves..][..held.len()].copy_from_slice(&held);
        self.rebase(Time::MAX);
    }

    /// The earliest time; `Time::MAX` when nothing is in flight.
    #[inline]
    pub fn next_at(&self) -> Time {
        debug_assert!(self.vacant.is_none());
        match self.keys[1] {
            NEVER => Time::MAX,
            key => self.base + (key >> self.ticket_bits),
        }
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
        let at = self.next_at();
        if at > now || at == Time::MAX {
            return None;
        }
        let ticket = self.keys[1] as Ticket & (self.leaves - 1) as Ticket;
        self.count -= 1;
        self.vacant = Some(ticket);
        Some(End { at, ticket, cause: self.ends[ticket as usize].1 })
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

    /// Ends further apart than a key can tell, against a sorted list.
    #[test]
    fn times_of_centuries_stay_in_order() {
        let mut random = drivelab_stats::Random::new(5);
        for tickets in [3_u32, 40, 5000] {
            let (mut ends, mut expected) = (Ends::default(), Vec::new());
            for round in 0..4 * tickets {
                let ticket = round % tickets;
                if round >= tickets {
                    expected.sort_unstable();
                    let (at, first): (Time, Ticket) = expected.remove(0);
                    let end = ends.pop(Time::MAX - 1).expect("one is in flight");
                    assert_eq!((end.at, end.ticket), (at, first));
                    let again = random.next_u64() >> random.below(63);
                    ends.push(again, first, Cause::Flash);
                    expected.push((again, first));
                    continue;
                }
                let at = random.next_u64() >> random.below(63) >> 1;
                ends.push(at, ticket, Cause::Flash);
                expected.push((at, ticket));
            }
            expected.sort_unstable();
            for (at, ticket) in expected {
                assert_eq!(ends.next_at(), at);
                assert_eq!(ends.pop(at).map(|end| end.ticket), Some(ticket));
            }
            assert!(ends.is_empty());
        }
    }
}

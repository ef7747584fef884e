//! The write buffer: room that is given back when its units are on the flash.

use crate::memory::prefetch;
use drivelab_core::inside::Cause;
use drivelab_core::op::Time;

/// Not on the flash yet, and no program of it booked.
const PENDING: Time = Time::MAX;
/// Places ahead of the next for which memory is asked.
const PLACES_AHEAD: usize = 4;

/// A place for one unit.
#[derive(Debug, Clone, Copy)]
pub struct Place {
    /// When it is free again.
    pub free_at: Time,
    /// What its program waited for.
    cause: Cause,
    /// The logical unit in it.
    pub logical: u32,
    /// Where that unit goes.
    pub unit: u32,
    /// Where it lay before.
    pub old_unit: u32,
    /// Erases of the whole drive when it was taken.
    pub erasures: u32,
    /// What it replaced, for tests.
    #[cfg(test)]
    pub old_version: u32,
}

const EMPTY: Place = Place {
    free_at: 0,
    cause: Cause::Unknown,
    logical: u32::MAX,
    unit: u32::MAX,
    old_unit: u32::MAX,
    erasures: 0,
    #[cfg(test)]
    old_version: 0,
};

/// A ring of unit-sized places, taken and given back in order.
#[derive(Debug, Clone)]
pub struct Buffer {
    places: Vec<Place>,
    next: usize,
    /// Places taken whose program is not booked.
    pending: usize,
    /// End of the last program that was booked.
    last_end: Time,
    /// By a hash of the logical unit, the one that came last and its place.
    index: Vec<(u32, u32)>,
}

impl Buffer {
    /// A buffer of `units`.
    pub fn new(units: u32) -> Self {
        let places = units.max(1) as usize;
        Buffer {
            places: vec![EMPTY; places],
            next: 0,
            pending: 0,
            last_end: 0,
            index: vec![(u32::MAX, 0); (places * 2).next_power_of_two()],
        }
    }

    /// Takes a place for `logical` at `at` or when one is free; says when, and why not before.
    #[inline]
    pub fn take(&mut self, at: Time, logical: u32) -> (Time, Cause) {
        let slot = self.slot(logical);
        self.index[slot] = (logical, self.next as u32);
        prefetch(&self.places, self.next + PLACES_AHEAD);
        let place = &mut self.places[self.next];
        let (free_at, cause) = (place.free_at, place.cause);
        *place = Place { free_at: PENDING, logical, ..EMPTY };
        self.pending += 1;
        self.next += 1;
        if self.next == self.places.len() {
            self.next = 0;
        }
        if free_at > at { (free_at, cause) } else { (at, Cause::Unknown) }
    }

    /// Where the unit that took the last place goes and where it lay, so that a power cut can be
    /// undone. `erasures`: of the whole drive.
    #[inline]
    pub fn placed(&mut self, unit: u32, old_unit: u32, erasures: u32) {
        let last = if self.next == 0 { self.places.len() } else { self.next } - 1;
        let place = &mut self.places[last];
        (place.unit, place.old_unit, place.erasures) = (unit, old_unit, erasures);
    }

    /// What the unit that took the last place replaced, for tests.
    #[cfg(test)]
    pub fn replaced(&mut self, old_version: u32) {
        let last = if self.next == 0 { self.places.len() } else { self.next } - 1;
        self.places[last].old_version = old_version;
    }

    /// The program of all pending places is booked.
    #[inline]
    pub fn booked(&mut self, end: Time, cause: Cause) {
        let mut place = self.next;
        for _ in 0..self.pending {
            place = if place == 0 { self.places.len() - 1 } else { place - 1 };
            self.places[place].free_at = end;
            self.places[place].cause = cause;
        }
        self.pending = 0;
        self.last_end = self.last_end.max(end);
    }

    /// Whether `logical` is still in the buffer at `at`.
    #[inline]
    pub fn holds(&self, logical: u32, at: Time) -> bool {
        let (latest, place) = self.index[self.slot(logical)];
        if latest != logical {
            return false;
        }
        let place = &self.places[place as usize];
        place.logical == logical && place.free_at > at
    }

    /// A logical unit will be looked for soon.
    #[inline]
    pub fn prefetch(&self, logical: u32) {
        prefetch(&self.index, self.slot(logical));
    }

    /// When everything that is booked is on the flash.
    pub fn empty_at(&self, now: Time) -> Time {
        self.last_end.max(now)
    }

    /// Whether `units` more than are taken have room at `at`.
    #[inline]
    pub fn has_room(&self, units: usize, at: Time) -> bool {
        // Places are given back in order: where the last of them is free, all are.
        let count = self.places.len();
        units == 0 || (units <= count && self.places[(self.next + units - 1) % count].free_at <= at)
    }

    /// Places that are taken at `now`.
    pub fn taken(&self, now: Time) -> usize {
        self.places.iter().filter(|place| place.free_at > now).count()
    }

    /// Places whose units are not on the flash at `now`, newest first.
    pub fn unfinished(&self, now: Time) -> Vec<Place> {
        let count = self.places.len();
        (1..=count)
            .map(|step| self.places[(self.next + count - step) % count])
            .filter(|place| place.free_at > now)
            .collect()
    }

    /// Forgets everything.
    pub fn clear(&mut self) {
        self.places.fill(EMPTY);
        (self.pending, self.last_end) = (0, 0);
    }

    #[inline]
    fn slot(&self, logical: u32) -> usize {
        let hash = logical.wrapping_mul(0x9e37_79b1);
        (hash >> 7) as usize & (self.index.len() - 1)
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn a_full_buffer_waits_for_its_oldest_program() {
        let mut buffer = Buffer::new(2);
        assert_eq!(buffer.take(5, 1), (5, Cause::Unknown));
        buffer.booked(100, Cause::Collection);
        assert_eq!(buffer.take(6, 2).0, 6);
        buffer.placed(40, 30, 3);
        buffer.booked(200, Cause::Flash);
        assert!(buffer.holds(1, 99) && !buffer.holds(1, 100) && buffer.holds(2, 100));
        assert_eq!((buffer.taken(50), buffer.taken(150)), (2, 1));
        assert!(!buffer.has_room(1, 50) && buffer.has_room(1, 150));
        assert!(!buffer.has_room(2, 150) && buffer.has_room(2, 200) && !buffer.has_room(3, 200));
        assert_eq!(buffer.take(7, 3), (100, Cause::Collection));
        assert!(!buffer.holds(1, 50) && buffer.holds(3, 1_000_000));
        let unfinished = buffer.unfinished(150);
        assert_eq!(unfinished.iter().map(|place| place.logical).collect::<Vec<_>>(), [3, 2]);
        assert_eq!((unfinished[1].unit, unfinished[1].old_unit), (40, 30));
        buffer.booked(300, Cause::Flash);
        assert_eq!((buffer.empty_at(0), buffer.taken(300)), (300, 0));
    }
}

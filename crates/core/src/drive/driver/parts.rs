//! What a driver is made of: small states, each of one subject.

use super::{AHEAD, MISMATCHES_MAX, SPARES, Setup, kept};
use crate::anatomy::Stamped;
use crate::arrival::Arrivals;
use crate::content::{Fault, Stamp};
use crate::drive::priorities;
use crate::op::{Action, DataOp, Op, Tag, Time};
use crate::plan::{Arrival, Stream};
use crate::repeats::Repeats;
use crate::tally::{Flight, Gap, Slowest, Stonewalled, Tally};
use std::collections::VecDeque;

/// An open loop: operations come when they are due, whatever became of those before.
#[derive(Debug)]
pub(super) struct OpenLoop {
    arrivals: Arrivals,
    /// When the next operation is due.
    pub next_due: Time,
    /// The same arrivals once more, for what is due and waits.
    pub ahead: Arrivals,
    /// When the first operation is due that is not counted yet.
    pub ahead_due: Time,
    /// Operations that were due, as far as they are counted.
    pub due_count: u64,
    pub due_issued: u64,
    /// No slot was free when it last looked.
    pub was_full: bool,
    /// When the first of the operations in flight was submitted after a rest.
    pub busy_from: Time,
}

impl OpenLoop {
    pub fn new(arrivals: Arrivals) -> Self {
        OpenLoop {
            ahead: arrivals.clone(),
            arrivals,
            next_due: 0,
            ahead_due: 0,
            due_count: 0,
            due_issued: 0,
            was_full: false,
            busy_from: Time::MAX,
        }
    }

    pub fn open(&mut self, at: Time) {
        self.next_due = at + self.arrivals.next();
        self.ahead_due = at + self.ahead.next();
    }

    /// Takes the operation that is due, and looks for the one after it.
    pub fn take_due(&mut self, opened: Time) {
        self.due_issued += 1;
        let due = self.next_due;
        self.next_due = opened + self.arrivals.next();
        debug_assert!(self.next_due >= due, "arrivals come in order of time");
    }

    /// Operations that are due at `now` and have not found a free slot.
    pub fn backlog(&mut self, now: Time, opened: Time, end_at: Time) -> u64 {
        while self.ahead_due <= now.min(end_at - 1) {
            self.due_count += 1;
            self.ahead_due = opened + self.ahead.next();
        }
        self.due_count.saturating_sub(self.due_issued)
    }
}

/// A closed loop with rests: this many operations, then the time to think.
#[derive(Debug)]
pub(super) struct Bursts {
    /// Operations of one burst.
    length: u32,
    think: Time,
    /// Operations of this burst that were not issued yet.
    pub left: u32,
    pub think_until: Time,
}

impl Bursts {
    /// Those of a stream; `None` where it submits whenever a slot is free.
    pub fn of(stream: &Stream) -> Option<Self> {
        let Arrival::Closed { burst, think } = stream.arrival else { return None };
        (burst.is_some() || think.is_some()).then(|| Bursts {
            length: burst.unwrap_or(stream.depth),
            think: think.map_or(0, |think| think.time.0),
            left: 0,
            think_until: 0,
        })
    }

    pub fn begin(&mut self) {
        debug_assert!(self.left == 0, "a burst begins where the last one has been issued");
        self.left = self.length;
    }

    /// One operation of the burst, if one is left.
    pub fn take(&mut self) -> bool {
        let is_left = self.left > 0;
        self.left -= u32::from(is_left);
        is_left
    }

    /// All has come back at `now`.
    pub fn rest(&mut self, now: Time) {
        if self.think > 0 {
            debug_assert!(now + self.think >= self.think_until, "no rest ends before the last one");
            self.think_until = now + self.think;
        }
    }
}

/// Appends to zones: those of one go together, what empties or finishes it goes alone.
#[derive(Debug, Default)]
pub(super) struct Appends {
    /// The next operation, which waits until nothing is in flight.
    pub next: Option<(Op, u64)>,
    /// What is in flight must end before anything else begins.
    pub is_alone: bool,
}

/// Flushes among the operations, and at the end.
#[derive(Debug)]
pub(super) struct Flushes {
    /// Writes issued.
    pub writes: u64,
    /// A flush is due before the next operation.
    pub is_pending: bool,
    /// The file of that flush, or that is flushed last at the end.
    pub file: u32,
    /// When the last one completed.
    pub last: Time,
    /// Time of flushes that does not count.
    pub excluded_ns: u64,
    /// The part of `excluded_ns` since the last data I/O.
    pub trailing_ns: u64,
    /// When the first write since the last flush was issued.
    pub commit_from: Time,
}

impl Flushes {
    pub fn new() -> Self {
        Flushes {
            writes: 0,
            is_pending: false,
            file: 0,
            last: 0,
            excluded_ns: 0,
            trailing_ns: 0,
            commit_from: Time::MAX,
        }
    }
}

#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub(super) enum Ending {
    Running,
    Flushing,
    Over,
}

/// How far it may go, and how far it has come.
#[derive(Debug)]
pub(super) struct Bounds {
    pub operations_max: u64,
    pub bytes_max: u64,
    pub end_at: Time,
    /// Bytes issued at which the next pass begins, where cached pages are dropped before each.
    pub pass_end: u64,
    /// Operations issued.
    pub issued: u64,
    pub issued_bytes: u64,
    /// It was told to stop, or an operation failed.
    pub is_stopped: bool,
    /// Operations that the others have come to, where its own time is not the end.
    pub wear: Wear,
    pub ending: Ending,
}

/// What becomes of a worker whose time is over.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub(super) enum Wear {
    /// It ends.
    Ends,
    /// It waits until all have come so far.
    Waits(Option<Stonewalled>),
    /// It goes on to this many operations.
    GoesOn(Stonewalled, u64),
}

impl Bounds {
    /// No more operations may be issued (the closing flush apart).
    #[inline]
    pub fn are_reached(&self, now: Time) -> bool {
        now >= self.end_at || self.is_spent() || self.is_stopped || self.ending != Ending::Running
    }

    /// Its time is over, it has more to do, and how much of that is not known yet.
    #[inline]
    pub fn awaits_others(&self) -> bool {
        matches!(self.wear, Wear::Waits(_))
            && !self.is_spent()
            && !self.is_stopped
            && self.ending == Ending::Running
    }

    /// All operations or bytes were issued.
    #[inline]
    pub fn is_spent(&self) -> bool {
        self.issued >= self.operations_max || self.issued_bytes >= self.bytes_max
    }
}

/// What is in flight, and what follows it.
#[derive(Debug)]
pub(super) struct Slots {
    free: Vec<Tag>,
    flights: Vec<Flight>,
    /// How many were in flight when the one in this slot took off, itself included; 0 once it has
    /// landed. Apart from the flights: a flight that has just been written to in part is slow to
    /// read as a whole.
    depths: Vec<u32>,
    /// Replies whose cause has completed, with their pass.
    pub replies: VecDeque<(Op, u64)>,
    /// Those that wait for further requests.
    held: Vec<(Op, u64)>,
}

impl Slots {
    /// `after`: requests that come before the first reply.
    pub fn new(depth: u32, after: u32) -> Self {
        Slots {
            free: (0..depth).rev().collect(),
            flights: vec![Flight::default(); depth as usize],
            depths: vec![0; depth as usize],
            // New requests wait for all replies: no more than this can come together.
            replies: VecDeque::with_capacity(depth as usize + after as usize),
            held: Vec::with_capacity(after as usize),
        }
    }

    /// A reply that waits for further requests.
    pub fn hold(&mut self, reply: (Op, u64)) {
        self.held.push(reply);
    }

    /// Replies that wait for further requests.
    pub fn held(&self) -> usize {
        self.held.len()
    }

    /// Those that waited are due, in the order of their requests.
    pub fn release(&mut self) {
        debug_assert!(
            self.replies.len() + self.held.len() <= self.replies.capacity(),
            "the loop that is measured would allocate"
        );
        self.replies.extend(self.held.drain(..));
    }

    #[inline]
    pub fn count(&self) -> usize {
        self.flights.len()
    }

    /// Nothing more fits in.
    #[inline]
    pub fn are_full(&self) -> bool {
        self.free.is_empty()
    }

    /// Nothing is in flight.
    #[inline]
    pub fn are_idle(&self) -> bool {
        self.free.len() == self.flights.len()
    }

    #[inline]
    pub fn in_flight(&self) -> u32 {
        (self.flights.len() - self.free.len()) as u32
    }

    /// The tag that the next operation will have.
    #[inline]
    pub fn next(&self) -> Option<Tag> {
        self.free.last().copied()
    }

    /// Puts a flight into a free slot; how many are in flight then is its depth.
    #[inline(always)]
    pub fn launch(&mut self, flight: Flight) -> Option<Tag> {
        let tag = self.free.pop()?;
        let depth = self.in_flight();
        let (slot, slot_depth) = (&mut self.flights[tag as usize], &mut self.depths[tag as usize]);
        debug_assert!(*slot_depth == 0, "slot {tag} is free and has a flight");
        *slot = flight;
        *slot_depth = depth;
        Some(tag)
    }

    /// Frees the slot of a flight, which can still be looked at there, and returns its depth;
    /// `None` if nothing is in flight under this tag.
    #[inline(always)]
    pub fn land(&mut self, tag: Tag) -> Option<u32> {
        let depth = std::mem::take(self.depths.get_mut(tag as usize)?);
        if depth == 0 {
            return None;
        }
        self.free.push(tag);
        debug_assert!(self.free.len() <= self.flights.len(), "more slots are free than there are");
        debug_assert!(depth as usize <= self.flights.len(), "deeper than the slots");
        Some(depth)
    }

    /// The flight that is or was last under `tag`.
    #[inline(always)]
    pub fn flight(&self, tag: Tag) -> &Flight {
        &self.flights[tag as usize]
    }

    /// The operations in flight.
    pub fn ops(&self) -> impl Iterator<Item = Op> {
        let flown = self.flights.iter().zip(&self.depths).filter(|(_, depth)| **depth > 0);
        flown.map(|(flight, _)| flight.op)
    }
}

/// Times that it has seen, and those it waits for.
#[derive(Debug)]
pub(super) struct Clockwork {
    /// It is opened for a time to come.
    pub is_ahead: bool,
    pub opened: Time,
    /// The ramp ends.
    pub measured_from: Time,
    /// The latest time that it knows of.
    pub now: Time,
    /// The interval ends.
    pub boundary: Time,
    pub first_issue: Time,
    pub last_completion: Time,
    pub last_data: Time,
    /// Nothing was in flight after the last completion.
    pub is_idle: bool,
}

impl Clockwork {
    pub fn new() -> Self {
        Clockwork {
            is_ahead: false,
            opened: 0,
            measured_from: 0,
            now: 0,
            boundary: Time::MAX,
            first_issue: Time::MAX,
            last_completion: 0,
            last_data: 0,
            is_idle: true,
        }
    }
}

/// Stamps of single I/Os; their memory is there before the first of them.
#[derive(Debug)]
pub(super) struct Stamping {
    pub stamps: Vec<Stamped>,
    /// I/Os that found no room.
    pub unstamped: u64,
}

impl Stamping {
    pub fn new(room: usize) -> Self {
        // Written once, so that no first use of a page falls into a measurement.
        let mut stamps = vec![Stamped { issued: 1, ..Stamped::default() }; room];
        stamps.clear();
        Stamping { stamps, unstamped: 0 }
    }

    /// Keeps one, without ever asking for memory.
    pub fn keep(&mut self, stamp: Stamped) {
        if self.stamps.len() == self.stamps.capacity() {
            self.unstamped += 1;
            return;
        }
        self.stamps.push(stamp);
    }
}

/// What blocks hold, and where they held something else.
#[derive(Debug)]
pub(super) struct Blocks {
    /// Bytes of data with one stamp.
    pub unit_bytes: usize,
    /// What a buffer held before anything was read into it, where reads and writes share it.
    pub template: Vec<u8>,
    /// Which written blocks repeat others, where some do.
    pub repeats: Option<Repeats>,
    /// Operation, address, what was wrong and what was expected.
    pub mismatches: Vec<(DataOp, u64, Fault, Stamp)>,
}

impl Blocks {
    pub fn new(setup: &Setup) -> Self {
        let unit_bytes = setup.stream.stamp_unit_bytes();
        debug_assert!(unit_bytes > 0, "a unit without a byte has no stamp");
        let mismatches = Vec::with_capacity(MISMATCHES_MAX);
        let place = (setup.step, setup.stream_index, setup.worker);
        let repeats = setup.stream.dedupe.map(|dedupe| Repeats::new(dedupe, setup.seed, place));
        Blocks { unit_bytes, template: Vec::new(), repeats, mismatches }
    }
}

/// What is kept of completions.
#[derive(Debug)]
pub(super) struct Book {
    /// The interval that runs.
    pub tally: Box<Tally>,
    #[expect(clippy::vec_box, reason = "tallies pass from hand to hand as they are")]
    pub spare: Vec<Box<Tally>>,
    /// Intervals that have passed, oldest first.
    pub ready: VecDeque<Box<Tally>>,
    pub slowest: Slowest,
    /// Where a tally has each kind.
    slot_of: [u8; Action::ALL.len()],
}

impl Book {
    pub fn new(setup: &Setup) -> Self {
        let stream = &setup.stream;
        let (kinds, keep) = (stream.kinds(), kept(stream));
        let tally = || {
            let (stream, worker) = (setup.stream_index, setup.worker);
            let mut tally = Box::new(Tally::new(setup.step, stream, worker, &kinds, keep));
            for kind in &mut tally.kinds {
                kind.keep_priorities(&priorities::numbers(&setup.stream, kind.kind), keep);
            }
            tally.prefault();
            tally
        };
        let mut slot_of = [u8::MAX; Action::ALL.len()];
        for (slot, kind) in (0u8..).zip(&kinds) {
            slot_of[kind.index()] = slot;
        }
        Book {
            tally: tally(),
            spare: (0..SPARES).map(|_| tally()).collect(),
            ready: VecDeque::with_capacity(SPARES + 2),
            slowest: Slowest::new(),
            slot_of,
        }
    }

    /// Where the running tally has this kind; `None` if the stream does not issue it.
    #[inline(always)]
    pub fn kind_of(&mut self, action: Action) -> Option<&mut crate::tally::KindTally> {
        let slot = self.slot_of[action.index()];
        self.tally.kinds.get_mut(usize::from(slot))
    }

    #[cold]
    pub fn note_gap(&mut self, gap: Gap, listed_from: Time) {
        debug_assert!(gap.from <= gap.to, "a gap ends before it began");
        let length = gap.to - gap.from;
        self.tally.gap_ns_max = self.tally.gap_ns_max.max(length);
        if length >= listed_from {
            self.tally.list_gap(gap);
        }
    }

    /// This many operations were due and waited for a slot.
    pub fn note_backlog(&mut self, waiting: u64) {
        self.tally.backlog_max = self.tally.backlog_max.max(waiting);
    }

    /// An operation that was issued so long after it was due.
    pub fn note_late(&mut self, late_ns: u64) {
        self.tally.late_ns_sum += late_ns;
        self.tally.late_ns_max = self.tally.late_ns_max.max(late_ns);
    }
}

/// Operations drawn ahead, a ring of two halves.
#[derive(Debug, Default)]
pub(super) struct Ahead {
    pub ops: [Op; AHEAD],
    pub passes: [u64; AHEAD],
    pub at: usize,
    pub has_begun: bool,
}

//! What the watching thread may know of a worker that sits in a system call.

#[cfg(all(test, loom))]
mod models;

use drivelab_core::op::{Action, Op, Place, Time};
#[cfg(all(test, loom))]
use loom::sync::atomic::{AtomicBool, AtomicU64, Ordering, fence};
#[cfg(not(all(test, loom)))]
use std::sync::atomic::{AtomicBool, AtomicU64, Ordering, fence};

/// Stands where an operation on data has no name; names are smaller.
const NO_NAME: u64 = u64::MAX;
/// Stands where a worker waits for nothing; times are smaller.
const NOT_WAITING: u64 = u64::MAX;
/// Stands where a worker was not told how far to go on; numbers of operations are smaller.
const NOT_TOLD: u64 = u64::MAX;

/// Shared between a worker and the thread that watches it; plain stores, no locks.
#[derive(Debug)]
pub struct Pulse {
    stop: AtomicBool,
    /// How many operations the worker goes on to, which waits for those of the others.
    goal: AtomicU64,
    /// When the worker, which waits for I/O, was last alive. One word for both: apart, the time of
    /// an earlier wait could be taken for that of this one.
    waits_since: AtomicU64,
    begun: Begun,
}

/// The operation that was begun last. Its parts belong together: the turn is odd while they change,
/// and who finds it changed has read nothing.
#[derive(Debug)]
struct Begun {
    turn: AtomicU64,
    action: AtomicU64,
    /// The offset, or the pass of a name.
    at: AtomicU64,
    /// The name, or [`NO_NAME`] for data.
    name: AtomicU64,
}

impl Begun {
    fn new() -> Self {
        Begun {
            turn: AtomicU64::new(0),
            action: AtomicU64::new(0),
            at: AtomicU64::new(0),
            name: AtomicU64::new(NO_NAME),
        }
    }

    /// Called by one thread only.
    #[inline]
    fn set(&self, action: Action, at: u64, name: u64) {
        let turn = self.turn.load(Ordering::Relaxed);
        debug_assert!(turn.is_multiple_of(2), "two threads tell what one worker does");
        self.turn.store(turn + 1, Ordering::Relaxed);
        fence(Ordering::Release);
        self.action.store(action.index() as u64, Ordering::Relaxed);
        self.at.store(at, Ordering::Relaxed);
        self.name.store(name, Ordering::Relaxed);
        self.turn.store(turn + 2, Ordering::Release);
    }

    /// `None` while it changes.
    fn get(&self) -> Option<(Action, Place)> {
        let before = self.turn.load(Ordering::Acquire);
        let action = self.action.load(Ordering::Relaxed);
        let at = self.at.load(Ordering::Relaxed);
        let name = self.name.load(Ordering::Relaxed);
        fence(Ordering::Acquire);
        if before % 2 == 1 || self.turn.load(Ordering::Relaxed) != before {
            return None;
        }
        let place = match u32::try_from(name) {
            Ok(name) => Place::Name { name, pass: at },
            Err(_) => Place::Data { offset: at },
        };
        Some((*Action::ALL.get(action as usize)?, place))
    }
}

impl Default for Pulse {
    fn default() -> Self {
        Pulse {
            stop: AtomicBool::new(false),
            goal: AtomicU64::new(NOT_TOLD),
            waits_since: AtomicU64::new(NOT_WAITING),
            begun: Begun::new(),
        }
    }
}

impl Pulse {
    /// The worker is about to do `op` in a call that may not return.
    #[inline]
    pub fn begin(&self, op: &Op) {
        match op {
            Op::Data(op) => self.begun.set(op.action, op.offset, NO_NAME),
            Op::Name(op) => self.begun.set(op.action, op.pass, u64::from(op.name())),
        }
    }

    /// The worker was alive at `now`, and has operations in flight or not.
    #[inline]
    pub fn alive(&self, now: Time, waiting: bool) {
        debug_assert!(now != NOT_WAITING, "a time that stands for none");
        self.waits_since.store(if waiting { now } else { NOT_WAITING }, Ordering::Relaxed);
    }

    /// Asks the worker to stop issuing.
    pub fn stop(&self) {
        self.stop.store(true, Ordering::Relaxed);
    }

    /// Whether the worker was asked to stop.
    #[inline]
    pub fn stopping(&self) -> bool {
        self.stop.load(Ordering::Relaxed)
    }

    /// Lets the worker go on to as many operations as the one that did most.
    pub fn go_on_to(&self, operations: u64) {
        debug_assert!(operations != NOT_TOLD, "a number that stands for none");
        self.goal.store(operations, Ordering::Relaxed);
    }

    /// How many operations the worker was told to go on to.
    pub fn goal(&self) -> Option<u64> {
        Some(self.goal.load(Ordering::Relaxed)).filter(|operations| *operations != NOT_TOLD)
    }

    /// How long the worker has waited for an operation, and which one it began last; `None` if it
    /// waits for nothing, or begins one just now.
    pub fn waiting_since(&self, now: Time) -> Option<(Time, Action, Place)> {
        let since = self.waits_since.load(Ordering::Relaxed);
        let (action, place) = self.begun.get().filter(|_| since != NOT_WAITING)?;
        Some((now.saturating_sub(since), action, place))
    }
}

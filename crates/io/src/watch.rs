//! What the watching thread may know of a worker that sits in a system call.

use drivelab_core::op::{Action, Op, Time};
use std::sync::atomic::{AtomicBool, AtomicU64, Ordering::Relaxed};

/// Shared between a worker and the thread that watches it; plain stores, no locks.
#[derive(Debug, Default)]
pub struct Pulse {
    stop: AtomicBool,
    last_seen: AtomicU64,
    waiting: AtomicBool,
    offset: AtomicU64,
    action: AtomicU64,
}

impl Pulse {
    /// The worker is about to do `op` in a call that may not return.
    #[inline]
    pub fn begin(&self, op: &Op) {
        self.offset.store(op.offset, Relaxed);
        self.action.store(op.action.index() as u64, Relaxed);
    }

    /// The worker was alive at `now`, and has operations in flight or not.
    #[inline]
    pub fn alive(&self, now: Time, waiting: bool) {
        self.last_seen.store(now, Relaxed);
        self.waiting.store(waiting, Relaxed);
    }

    /// Asks the worker to stop issuing.
    pub fn stop(&self) {
        self.stop.store(true, Relaxed);
    }

    /// Whether the worker was asked to stop.
    #[inline]
    pub fn stopping(&self) -> bool {
        self.stop.load(Relaxed)
    }

    /// How long the worker has waited for an operation, and which one it began last.
    pub fn waiting_since(&self, now: Time) -> Option<(Time, Action, u64)> {
        if !self.waiting.load(Relaxed) {
            return None;
        }
        let action = Action::ALL.get(self.action.load(Relaxed) as usize).copied()?;
        let waited = now.saturating_sub(self.last_seen.load(Relaxed));
        Some((waited, action, self.offset.load(Relaxed)))
    }
}

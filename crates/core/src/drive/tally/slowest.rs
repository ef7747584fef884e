//! The slowest I/Os, each by itself.

use crate::inside::Cause;
use crate::op::{Action, Place, Time};
use schemars::JsonSchema;
use serde::{Deserialize, Serialize};

/// One slow I/O.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Serialize, Deserialize, JsonSchema)]
pub struct Slow {
    /// Service time, or response time in an open loop.
    pub latency_ns: u64,
    /// When it was issued.
    pub issued: Time,
    /// Its kind.
    pub kind: Action,
    /// Where it went; runs of before give the pass of a name as an offset.
    #[serde(flatten)]
    pub place: Place,
    /// Stream within the step.
    pub stream: u32,
    /// Worker within the stream.
    pub worker: u32,
    /// What it waited for longest; absent on real drives, which do not tell.
    #[serde(default, skip_serializing_if = "Cause::is_unknown")]
    pub cause: Cause,
}

/// The slowest I/Os seen so far, at most [`Slowest::LIMIT`].
#[derive(Debug, Clone, Default)]
pub struct Slowest {
    entries: Vec<Slow>,
    /// One of at least this latency enters: 0 until the list is full.
    admitted_ns: u64,
}

impl Slowest {
    /// How many are kept.
    pub const LIMIT: usize = 100;

    /// An empty list with its memory ready.
    pub fn new() -> Self {
        Slowest { entries: Vec::with_capacity(Slowest::LIMIT), admitted_ns: 0 }
    }

    /// Whether an I/O of this latency would enter the list.
    #[inline]
    pub fn admits(&self, latency_ns: u64) -> bool {
        latency_ns >= self.admitted_ns
    }

    /// Keeps `slow` if it is among the slowest.
    pub fn offer(&mut self, slow: Slow) {
        debug_assert!(self.entries.len() <= Slowest::LIMIT, "more are kept than the limit");
        if self.entries.len() < Slowest::LIMIT {
            self.entries.push(slow);
        } else if slow.latency_ns >= self.admitted_ns
            && let Some(least) = self.entries.iter_mut().min_by_key(|entry| entry.latency_ns)
        {
            *least = slow;
        }
        if self.entries.len() == Slowest::LIMIT {
            let least = self.entries.iter().map(|entry| entry.latency_ns).min();
            self.admitted_ns = least.unwrap_or(0) + 1;
        }
    }

    /// The entries, slowest first.
    pub fn sorted(&self) -> Vec<Slow> {
        let mut entries = self.entries.clone();
        entries.sort_by_key(|entry| (std::cmp::Reverse(entry.latency_ns), entry.issued));
        entries
    }
}

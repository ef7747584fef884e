//! The way of one operation through the drive, as it is walked: what each stage took.

use drivelab_core::op::Time;
use drivelab_core::stages::{Stage, Staged};

/// How far an operation has come, and what its stages took.
#[derive(Debug, Clone, Copy, Default)]
pub(super) struct Path {
    until: Time,
    staged: Staged,
}

impl Path {
    /// An operation that is submitted at `now`.
    pub(super) fn begin(&mut self, now: Time) {
        *self = Path { until: now, staged: Staged::default() };
    }

    /// It has come to `at`, through a stage that takes `own_ns` of an operation alone: the rest of
    /// the time it waited for others.
    pub(super) fn reach(&mut self, at: Time, stage: Stage, own_ns: u64) {
        let passed_ns = at.saturating_sub(self.until);
        let own_ns = own_ns.min(passed_ns);
        self.staged.0[stage as usize] += own_ns;
        self.staged.0[Stage::Queue as usize] += passed_ns - own_ns;
        self.until = self.until.max(at);
    }

    /// All of it.
    pub(super) fn staged(&self) -> Staged {
        self.staged
    }
}

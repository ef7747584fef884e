//! The least rates of a worker: what it does in each window, and which window fell short.

use crate::op::{Action, SECOND, Time};
use crate::plan::{BelowRate, Rate, RateMin};

/// What a worker must keep up, and how it does.
#[derive(Debug)]
pub(super) struct Floor {
    of: Rate,
    every: Time,
    after: Time,
    /// The first window begins no earlier.
    from: Time,
    sides: [Side; 3],
    below: Option<BelowRate>,
}

/// One kind of operation.
#[derive(Debug, Clone, Copy, Default)]
struct Side {
    least: u64,
    done: u64,
    /// When the window began, and what was done until then.
    window: Option<(Time, u64)>,
}

impl Floor {
    pub fn new(asked: &RateMin) -> Self {
        Floor {
            of: asked.of,
            every: asked.every.0.max(1),
            after: asked.after.0,
            from: Time::MAX,
            sides: asked.least().map(|least| Side { least, ..Side::default() }),
            below: None,
        }
    }

    /// What is measured begins at this time.
    pub fn open(&mut self, measured_from: Time) {
        self.from = measured_from.saturating_add(self.after);
    }

    /// Takes in a completion; false where a rate that must be kept was not.
    pub fn take(&mut self, action: Action, bytes: u32, now: Time) -> bool {
        if let Some(place) = RateMin::KINDS.iter().position(|kind| *kind == action) {
            self.sides[place].done += match self.of {
                Rate::Bytes => u64::from(bytes),
                Rate::Operations | Rate::Latency => 1,
            };
        }
        if now < self.from {
            return true;
        }
        let every = self.every;
        let fallen = self.sides.map(|side| side.fallen(now, every));
        for (side, fallen) in self.sides.iter_mut().zip(fallen) {
            let is_over = side.window.is_none_or(|(from, _)| now.saturating_sub(from) >= every);
            if side.done > 0 && is_over && fallen.is_none() {
                side.window = Some((now, side.done));
            }
        }
        if fallen != [None; 3] && self.below.is_none() {
            let [read, write, trim] = fallen;
            self.below = Some(BelowRate { read, write, trim });
        }
        self.below.is_none()
    }

    /// The rates that were not kept.
    pub fn below(&self) -> Option<BelowRate> {
        self.below
    }
}

impl Side {
    /// The rate of a window that is over, where that is too low.
    fn fallen(self, now: Time, every: Time) -> Option<u64> {
        let (from, before) = self.window.filter(|_| self.least > 0)?;
        let span = now.saturating_sub(from);
        if span < every {
            return None;
        }
        let done = u128::from(self.done - before);
        // In whole milliseconds, as fio counts: a window lasts to a completion after its end, and
        // a rate that is kept to the nanosecond would fall short by one operation.
        let rate = done * 1000 / u128::from((span / (SECOND / 1000)).max(1));
        let rate = u64::try_from(rate).unwrap_or(u64::MAX);
        (rate < self.least).then_some(rate)
    }
}

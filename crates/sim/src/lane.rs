//! The timeline of one resource: a foreground lane, and background work that fills its gaps.
//!
//! Background work (collection, folding, erasing) is a debt in nanoseconds. It is worked off while
//! the foreground rests, gives way at the end of the operation that is running, and is forced only
//! when it exceeds what the spare blocks allow. A single lane on which background work is booked in
//! the future leaves holes that nothing can fill.

use drivelab_core::op::Time;

/// One die, channel or arm.
#[derive(Debug, Clone, Copy, Default)]
pub struct Lane {
    /// End of the last foreground operation, or of the background work forced before it.
    free_at: Time,
    /// Background work not yet done.
    debt_ns: u64,
}

/// How background work behaves on a lane.
#[derive(Debug, Clone, Copy)]
pub struct Background {
    /// Length of one background operation: what a foreground operation waits for at most.
    pub operation_ns: u64,
    /// Debt from which on background work goes before the foreground.
    pub debt_max_ns: u64,
    /// A running operation can be suspended in this time; `None`: it must end first.
    pub suspend_ns: Option<u64>,
}

/// When an operation was served, and what kept it.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub struct Slot {
    /// Its beginning.
    pub start: Time,
    /// Its end.
    pub end: Time,
    /// Wait for other foreground operations.
    pub queued_ns: u64,
    /// Wait for background work.
    pub background_ns: u64,
}

impl Lane {
    /// Books `duration_ns` from `at` on. `can_suspend`: it may interrupt background work where
    /// the flash can.
    #[inline]
    pub fn book(
        &mut self,
        at: Time,
        duration_ns: u64,
        can_suspend: bool,
        background: &Background,
    ) -> Slot {
        let mut start = self.free_at.max(at);
        let queued_ns = start - at;
        let mut background_ns = 0;
        if self.debt_ns > 0 {
            background_ns = self.give_way(at, can_suspend, background);
            start += background_ns;
        }
        self.free_at = start + duration_ns;
        Slot { start, end: self.free_at, queued_ns, background_ns }
    }

    /// Works off the debt as far as the lane rested before `at`; returns for how long an operation
    /// that comes now must wait for the background.
    #[inline]
    fn give_way(&mut self, at: Time, can_suspend: bool, background: &Background) -> u64 {
        let mut wait_ns = 0;
        if at > self.free_at {
            let rested_ns = at - self.free_at;
            if rested_ns >= self.debt_ns {
                self.debt_ns = 0;
                return 0;
            }
            self.debt_ns -= rested_ns;
            // Whole operations remain, and the rest of the one that is running.
            let running_ns = self.debt_ns % background.operation_ns.max(1);
            match background.suspend_ns.filter(|suspend_ns| can_suspend && *suspend_ns < running_ns)
            {
                Some(suspend_ns) => wait_ns = suspend_ns,
                None => {
                    wait_ns = running_ns;
                    self.debt_ns -= running_ns;
                }
            }
        }
        let forced_ns = self.debt_ns.saturating_sub(background.debt_max_ns);
        self.debt_ns -= forced_ns;
        wait_ns + forced_ns
    }

    /// Adds background work.
    #[inline]
    pub fn owe(&mut self, at: Time, duration_ns: u64) {
        // Debt cannot be worked off before it was made. No branch: whether a die rests is a toss.
        let rested_ns = at.saturating_sub(self.free_at);
        self.debt_ns = self.debt_ns.saturating_sub(rested_ns) + duration_ns;
        self.free_at = self.free_at.max(at);
    }

    /// End of the last foreground operation.
    pub fn free_at(&self) -> Time {
        self.free_at
    }

    /// When all that is booked and owed would be done, if nothing else came.
    pub fn settled_at(&self, now: Time) -> Time {
        match self.debt_ns {
            0 => self.free_at.max(now),
            debt_ns => (self.free_at + debt_ns).max(now),
        }
    }

    /// Background work not yet done at `now`.
    pub fn debt_ns(&self, now: Time) -> u64 {
        self.debt_ns.saturating_sub(now.saturating_sub(self.free_at))
    }
}

/// What lanes have worked for the foreground and in the background until now: never less than was
/// told before.
#[derive(Debug, Clone, Copy, Default)]
pub struct Worked {
    booked_ns: [u64; 2],
    told_ns: [u64; 2],
    /// Of what lies ahead, the part of the foreground.
    share: f64,
}

impl Worked {
    /// Of what was booked on all `lanes`, foreground and background, what does not lie ahead of
    /// `now`. What does is taken to be made up like the latest bookings.
    pub fn until(&mut self, now: Time, booked_ns: [u64; 2], lanes: &[Lane]) -> [u64; 2] {
        let ahead_ns: u64 = lanes.iter().map(|lane| lane.free_at.saturating_sub(now)).sum();
        let new = [0, 1].map(|kind| booked_ns[kind].saturating_sub(self.booked_ns[kind]));
        let (all, ahead) = ((new[0] + new[1]) as f64, ahead_ns as f64);
        let old = (ahead - all).max(0.0);
        if all > 0.0 {
            self.share = (self.share * old + new[0] as f64) / (old + all);
        }
        let first_ns = ((ahead * self.share) as u64).min(ahead_ns);
        for (kind, ahead_ns) in [first_ns, ahead_ns - first_ns].into_iter().enumerate() {
            let worked_ns = booked_ns[kind].saturating_sub(ahead_ns);
            self.told_ns[kind] = self.told_ns[kind].max(worked_ns);
        }
        self.booked_ns = booked_ns;
        self.told_ns
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    const BACKGROUND: Background =
        Background { operation_ns: 200, debt_max_ns: 1_000, suspend_ns: None };

    #[test]
    fn the_foreground_is_served_in_order() {
        let mut lane = Lane::default();
        assert_eq!(lane.book(10, 100, false, &BACKGROUND).end, 110);
        let second = lane.book(20, 100, false, &BACKGROUND);
        assert_eq!((second.start, second.end, second.queued_ns), (110, 210, 90));
        assert_eq!(lane.book(500, 1, false, &BACKGROUND).start, 500);
    }

    #[test]
    fn background_work_fills_gaps_and_ends_the_operation_it_is_in() {
        let mut lane = Lane::default();
        lane.owe(0, 500);
        // 150 ns were rested: 350 remain, of which 150 belong to the operation that is running.
        let slot = lane.book(150, 10, false, &BACKGROUND);
        assert_eq!((slot.start, slot.background_ns), (300, 150));
        assert_eq!(lane.debt_ns(310), 200);
        assert_eq!(lane.book(10_000, 10, false, &BACKGROUND).start, 10_000);
    }

    #[test]
    fn a_read_suspends_where_the_flash_can() {
        let mut lane = Lane::default();
        let background = Background { suspend_ns: Some(20), ..BACKGROUND };
        lane.owe(0, 500);
        assert_eq!(lane.book(150, 10, true, &background).start, 170);
        assert_eq!(lane.debt_ns(180), 350);
    }

    #[test]
    fn too_much_debt_is_forced_and_nothing_is_lost() {
        let mut lane = Lane::default();
        let mut end = 0;
        for _ in 0..100 {
            lane.owe(0, 150);
            end = lane.book(0, 100, false, &BACKGROUND).end;
        }
        // All foreground work, all background work but the debt that is allowed.
        assert_eq!(end, 100 * 100 + 100 * 150 - 1_000);
        assert_eq!(lane.settled_at(end), 100 * 250);
    }

    #[test]
    fn debt_is_not_worked_off_before_it_was_made() {
        let mut lane = Lane::default();
        lane.owe(1_000, 400);
        assert_eq!(lane.debt_ns(1_100), 300);
        lane.owe(10_000, 400);
        assert_eq!(lane.debt_ns(10_100), 300);
    }

    #[test]
    fn what_lies_ahead_was_not_worked_yet() {
        let (mut lane, mut worked) = (Lane::default(), Worked::default());
        lane.book(0, 100, false, &BACKGROUND);
        lane.book(0, 100, false, &BACKGROUND);
        assert_eq!(worked.until(50, [200, 0], &[lane]), [50, 0]);
        assert_eq!(worked.until(150, [200, 0], &[lane]), [150, 0]);
        assert_eq!(worked.until(250, [200, 0], &[lane]), [200, 0]);
        // A hole until 400: what was told stays told.
        lane.book(400, 100, false, &BACKGROUND);
        assert_eq!(worked.until(260, [300, 0], &[lane]), [200, 0]);
        assert_eq!(worked.until(450, [300, 0], &[lane]), [250, 0]);
        // Half of what comes now is background work that could wait no longer.
        lane.owe(500, 1_100);
        lane.book(500, 100, false, &BACKGROUND);
        assert_eq!(worked.until(550, [400, 100], &[lane]), [325, 25]);
        assert_eq!(worked.until(700, [400, 100], &[lane]), [400, 100]);
    }
}

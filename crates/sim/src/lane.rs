//! The timeline of one resource: a foreground lane, and background work that fills its gaps.
//!
//! Background work (collection, folding, erasing) is a debt in nanoseconds. It is worked off while
//! the foreground rests, gives way at the end of the operation that is running, and is forced only
//! when it exceeds what the spare blocks allow. A single lane on which background work is booked in
//! the future leaves holes that nothing can fill.
//!
//! Programs are handed out one at a time, however many wait in a buffer: reads that have gathered
//! go in front of the next one, together, and what is booked behind them moves back. So neither
//! waits for more than one program, or one gathering of reads, of the other.

use drivelab_core::op::Time;

/// One die, channel or arm.
#[derive(Debug, Clone, Copy, Default)]
pub struct Lane {
    /// End of the last foreground operation, or of the background work forced before it.
    free_at: Time,
    /// Background work not yet done.
    debt_ns: u64,
    /// The latest reads that were let in together.
    reads_from: Time,
    reads_until: Time,
    /// Length of the latest other operation: what is booked is taken to be of such steps.
    step_ns: u64,
}

/// How background work behaves on a lane.
#[derive(Debug, Clone, Copy)]
pub struct Background {
    /// Length of one background operation: what a foreground operation waits for at most.
    pub operation_ns: u64,
    /// Debt from which on background work goes before the foreground.
    pub debt_max_ns: u64,
    /// A running operation can be suspended for a read in this time; `None`: it must end first.
    pub suspend_ns: Option<u64>,
}

/// When an operation was served, and what kept it.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub struct Slot {
    /// Its beginning.
    pub start: Time,
    /// Time at which the service ends.
    pub end: Time,
    /// Wait for other foreground operations.
    pub queued_ns: u64,
    /// Wait for background work.
    pub background_ns: u64,
}

impl Lane {
    /// Books `duration_ns` from `at` on, behind all that is booked.
    #[inline]
    pub fn book(&mut self, at: Time, duration_ns: u64, background: &Background) -> Slot {
        let mut start = self.free_at.max(at);
        let queued_ns = start - at;
        let mut background_ns = 0;
        if self.debt_ns > 0 {
            background_ns = self.give_way(at, None, background);
            let forced_ns = self.debt_ns.saturating_sub(background.debt_max_ns);
            self.debt_ns -= forced_ns;
            background_ns += forced_ns;
            start += background_ns;
        }
        debug_assert!(start >= at && start >= self.free_at, "booked into what is booked");
        debug_assert!(self.debt_ns <= background.debt_max_ns, "more is owed than is allowed");
        self.step_ns = duration_ns;
        self.free_at = start + duration_ns;
        Slot { start, end: self.free_at, queued_ns, background_ns }
    }

    /// Books a read of `duration_ns`: it goes in front of all programs but the one that runs, and
    /// suspends that one and background work where the flash can.
    #[inline]
    pub fn read(&mut self, at: Time, duration_ns: u64, background: &Background) -> Slot {
        if at >= self.free_at {
            let mut background_ns = 0;
            if self.debt_ns > 0 {
                background_ns = self.give_way(at, background.suspend_ns, background);
            }
            debug_assert!(
                background_ns <= background.operation_ns,
                "a read waits for more than one operation of the background"
            );
            let start = at + background_ns;
            (self.reads_from, self.reads_until) = (start, start + duration_ns);
            self.free_at = self.reads_until;
            return Slot { start, end: self.free_at, queued_ns: 0, background_ns };
        }
        self.read_between(at, duration_ns, background.suspend_ns)
    }

    fn read_between(&mut self, at: Time, duration_ns: u64, suspend_ns: Option<u64>) -> Slot {
        let behind_ns = self.free_at - self.reads_until.min(self.free_at);
        // A program that was suspended stays so for as long as it would have taken.
        let stays = suspend_ns.is_some() && self.reads_until - self.reads_from < self.step_ns;
        let start = if at <= self.reads_from || (at < self.reads_until && (behind_ns == 0 || stays))
        {
            // They have not begun, or nothing but reads waits.
            self.reads_until
        } else if at < self.reads_until {
            self.reads_from = self.reads_until + behind_ns.min(self.step_ns);
            self.reads_from
        } else {
            let rest_ns = (self.free_at - at) % self.step_ns.max(1);
            let suspend_ns = suspend_ns.filter(|suspend_ns| *suspend_ns < rest_ns);
            // What is suspended stands still while it stops.
            self.free_at += suspend_ns.unwrap_or(0);
            self.reads_from = at + suspend_ns.unwrap_or(rest_ns);
            self.reads_from
        };
        debug_assert!(start >= at, "a read begins before it came");
        self.reads_until = start + duration_ns;
        self.free_at += duration_ns;
        debug_assert!(self.reads_from <= self.reads_until, "reads end before they begin");
        Slot { start, end: self.reads_until, queued_ns: start - at, background_ns: 0 }
    }

    /// Books one operation that is unlike the programs around it. Where it can be suspended it is a
    /// step like them; else what is let in must be kept from it by its times.
    pub fn occupy(&mut self, at: Time, duration_ns: u64, background: &Background) -> Slot {
        let step_ns = self.step_ns;
        let slot = self.book(at, duration_ns, background);
        if background.suspend_ns.is_none() {
            self.step_ns = step_ns;
        }
        slot
    }

    /// Moves what is booked back by `duration_ns`, for what was let in before it.
    pub fn delay(&mut self, duration_ns: u64) {
        self.free_at += duration_ns;
    }

    /// Works off the debt as far as the lane rested before `at`; returns for how long an operation
    /// that comes now must wait for the background: what is left of one operation, or its
    /// suspension.
    #[inline]
    fn give_way(&mut self, at: Time, suspend_ns: Option<u64>, background: &Background) -> u64 {
        if at <= self.free_at {
            return 0;
        }
        let rested_ns = at - self.free_at;
        if rested_ns >= self.debt_ns {
            self.debt_ns = 0;
            return 0;
        }
        debug_assert!(rested_ns < self.debt_ns, "more is worked off than is owed");
        self.debt_ns -= rested_ns;
        // Whole operations remain, and the rest of the one that is running.
        let running_ns = self.debt_ns % background.operation_ns.max(1);
        match suspend_ns.filter(|suspend_ns| *suspend_ns < running_ns) {
            Some(suspend_ns) => suspend_ns,
            None => {
                self.debt_ns -= running_ns;
                running_ns
            }
        }
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
            debug_assert!(worked_ns <= booked_ns[kind], "more was worked than was booked");
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
        assert_eq!(lane.book(10, 100, &BACKGROUND).end, 110);
        let second = lane.book(20, 100, &BACKGROUND);
        assert_eq!((second.start, second.end, second.queued_ns), (110, 210, 90));
        assert_eq!(lane.book(500, 1, &BACKGROUND).start, 500);
    }

    #[test]
    fn a_read_waits_for_one_program_however_many_are_booked() {
        for programs in [1, 2, 10, 100] {
            let mut lane = Lane::default();
            for _ in 0..programs {
                lane.book(0, 200, &BACKGROUND);
            }
            // Two gather behind the one that runs; the third comes when they are served already.
            let ends = [30, 90, 215].map(|at| lane.read(at, 10, &BACKGROUND).end);
            let third = if programs == 1 { 230 } else { 430 };
            assert_eq!(ends, [210, 220, third]);
            // Nothing is lost: what is booked next comes behind all of it.
            assert_eq!(lane.book(0, 200, &BACKGROUND).end, 200 * (programs + 1) + 30);
        }
    }

    #[test]
    fn reads_without_end_leave_each_program_its_turn() {
        let mut lane = Lane::default();
        for _ in 0..100 {
            lane.book(0, 200, &BACKGROUND);
        }
        // Four in flight: each comes when the one before it in its place has ended.
        let mut ends = [0; 4];
        let (mut longest, mut served) = (0, 0);
        while ends[0] < 10_000 {
            let at = ends[0];
            let slot = lane.read(at, 10, &BACKGROUND);
            longest = longest.max(slot.end - at);
            served += 1;
            ends[0] = slot.end;
            ends.sort_unstable();
        }
        // A program, then four reads.
        assert!((160..=176).contains(&served), "{served}");
        assert!(longest <= 2 * 200 + 4 * 10, "{longest}");
        assert!(lane.free_at() >= 20_000 + 10 * served);
    }

    #[test]
    fn a_read_does_not_pay_for_room() {
        let mut lane = Lane::default();
        lane.owe(0, 5_000);
        let slot = lane.read(100, 10, &BACKGROUND);
        // The rest of one operation, not all that is beyond the allowance.
        assert_eq!((slot.start, slot.background_ns), (200, 100));
        assert_eq!(lane.book(210, 100, &BACKGROUND).background_ns, 3_800);
    }

    #[test]
    fn background_work_fills_gaps_and_ends_the_operation_it_is_in() {
        let mut lane = Lane::default();
        lane.owe(0, 500);
        // 150 ns were rested: 350 remain, of which 150 belong to the operation that is running.
        let slot = lane.book(150, 10, &BACKGROUND);
        assert_eq!((slot.start, slot.background_ns), (300, 150));
        assert_eq!(lane.debt_ns(310), 200);
        assert_eq!(lane.book(10_000, 10, &BACKGROUND).start, 10_000);
    }

    #[test]
    fn a_read_suspends_where_the_flash_can() {
        let mut lane = Lane::default();
        let background = Background { suspend_ns: Some(20), ..BACKGROUND };
        lane.owe(0, 500);
        assert_eq!(lane.read(150, 10, &background).start, 170);
        assert_eq!(lane.debt_ns(180), 350);
    }

    #[test]
    fn a_read_suspends_the_program_that_runs_where_the_flash_can() {
        let background = Background { suspend_ns: Some(20), ..BACKGROUND };
        let mut lane = Lane::default();
        for _ in 0..3 {
            lane.book(0, 200, &background);
        }
        // The second comes while the first is served, and follows it.
        let ends = [30, 55].map(|at| lane.read(at, 10, &background).end);
        assert_eq!(ends, [60, 70]);
        // 170 of the first program remain until 240. What is about to end is not suspended.
        assert_eq!(lane.read(225, 10, &background).end, 250);
        assert_eq!(lane.book(0, 200, &background).end, 3 * 200 + 20 + 3 * 10 + 200);
    }

    #[test]
    fn reads_without_end_suspend_a_program_no_longer_than_it_takes() {
        let background = Background { suspend_ns: Some(20), ..BACKGROUND };
        let mut lane = Lane::default();
        for _ in 0..100 {
            lane.book(0, 200, &background);
        }
        let (mut at, mut read_ns) = (0, 0);
        while at < 10_000 {
            // The next comes while this one is served.
            at = lane.read(at, 10, &background).end - 1;
            read_ns += 10;
        }
        assert!((4_000..=5_200).contains(&read_ns), "{read_ns}");
    }

    #[test]
    fn too_much_debt_is_forced_and_nothing_is_lost() {
        let mut lane = Lane::default();
        let mut end = 0;
        for _ in 0..100 {
            lane.owe(0, 150);
            end = lane.book(0, 100, &BACKGROUND).end;
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
        lane.book(0, 100, &BACKGROUND);
        lane.book(0, 100, &BACKGROUND);
        assert_eq!(worked.until(50, [200, 0], &[lane]), [50, 0]);
        assert_eq!(worked.until(150, [200, 0], &[lane]), [150, 0]);
        assert_eq!(worked.until(250, [200, 0], &[lane]), [200, 0]);
        // A hole until 400: what was told stays told.
        lane.book(400, 100, &BACKGROUND);
        assert_eq!(worked.until(260, [300, 0], &[lane]), [200, 0]);
        assert_eq!(worked.until(450, [300, 0], &[lane]), [250, 0]);
        // Half of what comes now is background work that could wait no longer.
        lane.owe(500, 1_100);
        lane.book(500, 100, &BACKGROUND);
        assert_eq!(worked.until(550, [400, 100], &[lane]), [325, 25]);
        assert_eq!(worked.until(700, [400, 100], &[lane]), [400, 100]);
    }
}

//! What keeps a die from the host as one operation that cannot be put off: a block that the drive
//! moves for itself, and the erase of its part of a block.

use super::blocks::Divisor;
use super::layout::Layout;
use super::medium::Flash;
use super::parameters::Parameters;
use drivelab_core::inside::Cause;
use drivelab_core::op::Time;
use std::collections::VecDeque;

/// When a die is taken, and for what.
#[derive(Debug, Clone, Copy)]
struct Window {
    from: Time,
    until: Time,
    cause: Cause,
}

/// Pauses of all dies.
#[derive(Debug, Clone)]
pub(super) struct Pauses {
    /// By die, in order: those that are not known to be over.
    windows: Vec<VecDeque<Window>>,
    relocation_ns: u64,
    interval_ns: Time,
    next_at: Time,
    interval_units: u64,
    next_units: u64,
    /// Relocations so far: the dies have their turns.
    relocations: u64,
    /// By block, whether each die erases its part when it first writes there; empty: all together.
    is_erased_late: Vec<bool>,
    by_block: Divisor,
}

impl Pauses {
    /// `None`: no die is ever taken.
    pub(super) fn new(parameters: &Parameters, layout: &Layout) -> Option<Box<Self>> {
        let blocks = if parameters.erases_by_die { layout.blocks as usize } else { 0 };
        (parameters.erases_by_die || parameters.relocation_ns > 0).then(|| {
            Box::new(Pauses {
                windows: vec![VecDeque::new(); parameters.dies() as usize],
                relocation_ns: parameters.relocation_ns,
                interval_ns: parameters.relocation_interval_ns,
                next_at: parameters.relocation_interval_ns,
                interval_units: parameters.relocation_interval_units,
                next_units: parameters.relocation_interval_units,
                relocations: 0,
                is_erased_late: vec![false; blocks],
                by_block: Divisor::new(layout.block_units),
            })
        })
    }

    /// The dies of a block that was emptied erase it when they write to it; `false`: now.
    pub(super) fn puts_off_erase(&mut self, block: u32) -> bool {
        match self.is_erased_late.get_mut(block as usize) {
            Some(is_late) => {
                *is_late = true;
                true
            }
            None => false,
        }
    }

    /// Whether a die must erase before a program, its first in the block of `unit`.
    pub(super) fn erases_before(&self, unit: u32) -> bool {
        let block = self.by_block.divide(unit) as usize;
        self.is_erased_late.get(block).copied().unwrap_or(false)
    }

    /// When a read that comes to `die` at `at` is let through, and what kept it.
    fn let_through(&mut self, die: usize, at: Time) -> (Time, Option<Cause>) {
        let windows = &mut self.windows[die];
        let (mut from, mut cause) = (at, None);
        while windows.front().is_some_and(|window| window.until <= at) {
            windows.pop_front();
        }
        for window in windows.iter().take_while(|window| window.from <= at) {
            (from, cause) = (window.until, Some(window.cause));
        }
        (from, cause)
    }

    /// What is let in before a pause moves it back.
    fn move_back(&mut self, die: usize, at: Time, duration_ns: u64) {
        for window in self.windows[die].iter_mut().filter(|window| window.from > at) {
            window.from += duration_ns;
            window.until += duration_ns;
        }
    }

    /// What an operation that came at `at` and began at `start` waited for, if a pause was most of
    /// it.
    pub(super) fn cause_of(&self, die: usize, at: Time, start: Time) -> Option<Cause> {
        let waited = |window: &Window| {
            (window.until.min(start).saturating_sub(window.from.max(at)), window.cause)
        };
        let longest = self.windows[die].iter().map(waited).max_by_key(|(ns, _)| *ns)?;
        (2 * longest.0 > start - at).then_some(longest.1)
    }

    /// Forgets what was under way.
    pub(super) fn cut(&mut self) {
        self.windows.iter_mut().for_each(VecDeque::clear);
    }
}

impl Flash {
    /// Takes a die for `own_ns` as soon as what is booked there is done.
    pub(super) fn pause(&mut self, die: usize, at: Time, own_ns: u64, cause: Cause) {
        let slot = self.occupy(die, at, own_ns);
        if let Some(pauses) = &mut self.pauses {
            let windows = &mut pauses.windows[die];
            while windows.front().is_some_and(|window| window.until <= at) {
                windows.pop_front();
            }
            windows.push_back(Window { from: slot.start, until: slot.end, cause });
        }
    }

    /// Relocations that were due by `now`, when the host had written so many units.
    pub(super) fn relocate(&mut self, now: Time, host_units: u64) {
        let Some(pauses) = &mut self.pauses else { return };
        let (dies, own_ns) = (pauses.windows.len() as u64, pauses.relocation_ns);
        let mut due: Vec<Time> = Vec::new();
        if pauses.interval_ns > 0 && pauses.next_at <= now {
            let count = 1 + (now - pauses.next_at) / pauses.interval_ns;
            // What lies back further than two rounds is over, whatever came before it.
            let passed = count.saturating_sub(2 * dies);
            pauses.relocations += passed;
            self.background_busy_ns += passed * own_ns;
            let at = |number: u64| pauses.next_at + number * pauses.interval_ns;
            due.extend((passed..count).map(at));
            pauses.next_at += count * pauses.interval_ns;
        }
        while pauses.interval_units > 0 && pauses.next_units <= host_units {
            pauses.next_units += pauses.interval_units;
            due.push(now);
        }
        let first = pauses.relocations;
        pauses.relocations += due.len() as u64;
        for (number, at) in (first..).zip(due) {
            self.pause((number % dies) as usize, at, own_ns, Cause::Relocation);
        }
    }

    /// When a read can reach a die: behind the pause that it meets, unless it can suspend that.
    pub(super) fn behind_pause(
        &mut self,
        die: usize,
        at: Time,
        own_ns: u64,
    ) -> (Time, Option<Cause>) {
        let can_suspend = self.timing().suspend_ns.is_some();
        let is_taken = self.is_taken(die, at);
        match &mut self.pauses {
            Some(pauses) if is_taken && !can_suspend => {
                let through = pauses.let_through(die, at);
                pauses.move_back(die, through.0, own_ns);
                through
            }
            _ => (at, None),
        }
    }
}

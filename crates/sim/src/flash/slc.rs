//! The SLC cache: cells that hold one bit while there is room, and are folded into dense ones.
//!
//! An overlay of the map: a program in the cache lies where it would lie in dense cells, takes less
//! time, and is paid for later, when its valid units are read and programmed once more.

use super::drive::FlashDrive;
use super::parameters::{Parameters, WhenFull};
use crate::memory::NONE;
use drivelab_core::inside::Cause;
use drivelab_core::op::Time;
use std::collections::VecDeque;

/// Units that were programmed one after the other.
#[derive(Debug, Clone, Copy)]
struct Run {
    first: u32,
    end: u32,
    /// Erases of the whole drive when it was begun.
    erasures: u32,
}

/// The cache.
#[derive(Debug, Clone)]
pub struct Slc {
    fixed_units: u64,
    /// Units of cache for each unit of unused cells.
    share: f64,
    total_units: u64,
    program_units: u32,
    /// One program of a die in the cache.
    program_ns: u64,
    idle_ns: Time,
    when_full: WhenFull,
    runs: VecDeque<Run>,
    /// Units in it, valid or not.
    held: u64,
    /// When the host was last served.
    busy_until: Time,
    /// Until when a rest was used.
    rested_until: Time,
}

impl Slc {
    /// The cache of a drive of `total_units`; `None` where it has none.
    pub fn new(parameters: &Parameters, total_units: u64, program_units: u32) -> Option<Self> {
        let fixed_units = parameters.slc_static_bytes / parameters.map_unit_bytes;
        let share = parameters.slc_dynamic_share / f64::from(parameters.bits_per_cell);
        (fixed_units > 0 || share > 0.0).then(|| Slc {
            fixed_units,
            share,
            total_units,
            program_units,
            program_ns: parameters.slc_program_ns * u64::from(parameters.pages_per_program),
            idle_ns: parameters.slc_idle_ns,
            when_full: parameters.slc_when_full,
            runs: VecDeque::new(),
            held: 0,
            busy_until: 0,
            rested_until: 0,
        })
    }

    /// Units that fit while `mapped` units of the drive hold data.
    fn capacity(&self, mapped: u32) -> u64 {
        let dense = u64::from(mapped).saturating_sub(self.held);
        self.fixed_units + (self.total_units.saturating_sub(dense) as f64 * self.share) as u64
    }

    /// Share of it that is full.
    pub fn fill(&self, mapped: u32) -> f64 {
        self.held as f64 / self.capacity(mapped).max(1) as f64
    }

    fn has_room(&self, mapped: u32) -> bool {
        self.held + u64::from(self.program_units) <= self.capacity(mapped)
    }

    /// The host is served until `at`.
    #[inline]
    pub fn served(&mut self, at: Time) {
        self.busy_until = self.busy_until.max(at);
    }

    fn push(&mut self, first: u32, end: u32, erasures: u32) {
        self.held += u64::from(end - first);
        match self.runs.back_mut() {
            Some(run) if run.end == first && run.erasures == erasures => run.end = end,
            _ => self.runs.push_back(Run { first, end, erasures }),
        }
    }

    /// Takes the units of the oldest program.
    fn pop(&mut self) -> Option<Run> {
        let program_units = self.program_units;
        let run = self.runs.front_mut()?;
        let chunk = Run { end: run.end.min(run.first + program_units), ..*run };
        run.first = chunk.end;
        if run.first == run.end {
            self.runs.pop_front();
        }
        self.held -= u64::from(chunk.end - chunk.first);
        Some(chunk)
    }
}

impl FlashDrive {
    /// Makes room in the cache as far as its rule asks, and says how long the next program of the
    /// host takes.
    pub(super) fn prepare_slc(&mut self, at: Time) {
        let mapped = self.ftl.mapped_units();
        let dense_ns = self.flash.timing().program_ns;
        loop {
            let Some(slc) = &self.slc else { return };
            let is_in_the_way = match slc.when_full {
                WhenFull::Direct => slc.held > slc.capacity(mapped),
                WhenFull::Fold => !slc.has_room(mapped),
            };
            if !is_in_the_way || slc.runs.is_empty() {
                break;
            }
            self.fold_oldest(at);
        }
        if let Some(slc) = &self.slc {
            let takes = slc.has_room(mapped);
            self.flash.host_program_ns = if takes { slc.program_ns } else { dense_ns };
            self.flash.is_slc = takes;
        }
    }

    /// Notes a program of the host that ended with unit `last`.
    pub(super) fn note_slc(&mut self, last: u32) {
        let erasures = self.ftl.erasures();
        if let Some(slc) = &mut self.slc
            && self.flash.is_slc
        {
            slc.push(last + 1 - slc.program_units, last + 1, erasures);
        }
    }

    /// Folds the oldest program of the cache; returns the time that its die owes for it.
    fn fold_oldest(&mut self, at: Time) -> u64 {
        let Some(run) = self.slc.as_mut().and_then(Slc::pop) else { return 0 };
        let die = self.flash.die_of(run.first);
        let (mut units, mut pages, mut page) = (0, 0, NONE);
        let page_units = self.ftl.layout().page_units;
        if !self.ftl.erased_since(run.first, run.erasures) {
            for unit in (run.first..run.end).filter(|unit| self.ftl.is_valid(*unit)) {
                units += 1;
                if unit / page_units != page {
                    page = unit / page_units;
                    pages += 1;
                }
            }
        }
        self.ftl.counts_mut().fold_units += u64::from(units);
        self.flash.owe_copies(at, die, pages, units, Cause::Fold)
    }

    /// Uses the rest of the host before `now` to empty the cache.
    pub(super) fn fold_in_rest(&mut self, now: Time) {
        let Some(slc) = &mut self.slc else { return };
        let from = (slc.busy_until + slc.idle_ns).max(slc.rested_until);
        if now <= from || slc.runs.is_empty() {
            return;
        }
        slc.rested_until = now;
        let rested_ns = now - from;
        // What is owed already comes first. The programs in the cache go round the dies: when one
        // has no time left, the others have little.
        let mut used_ns = self.flash.debts_ns(from);
        while let Some(run) = self.slc.as_ref().and_then(|slc| slc.runs.front()) {
            let die = self.flash.die_of(run.first);
            if used_ns[die] >= rested_ns {
                break;
            }
            used_ns[die] += self.fold_oldest(from);
        }
    }
}

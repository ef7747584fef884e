//! Page mapping: where each unit lies, and how room is made. Knows nothing of time: what it does
//! to the flash goes to a [`Medium`].

use super::blocks::{BlockState, Blocks, Divisor};
use super::check::check;
use super::collector::{Collector, Policy};
use super::layout::Layout;
use crate::memory::{NONE, Table};
use drivelab_core::inside::Inside;
use drivelab_stats::Random;

/// Flash as the translation layer sees it. Units of one program lie on one die.
pub trait Medium {
    /// The program with the units up to `last` is complete, written by the host.
    fn host_program(&mut self, last: u32);
    /// The same, written by collection or wear levelling.
    fn background_program(&mut self, last: u32);
    /// One flash page around `unit` is read to be copied.
    fn background_read(&mut self, unit: u32);
    /// A block is erased.
    fn erase(&mut self, block: u32);
}

/// Flash that takes no time: to bring a drive into a state.
#[derive(Debug, Clone, Copy, Default)]
pub struct Timeless;

impl Medium for Timeless {
    fn host_program(&mut self, _last: u32) {}
    fn background_program(&mut self, _last: u32) {}
    fn background_read(&mut self, _unit: u32) {}
    fn erase(&mut self, _block: u32) {}
}

/// A block that is being filled.
#[derive(Debug, Clone, Copy)]
pub(super) struct Frontier {
    pub(super) block: u32,
    /// Next unit, counted over the whole drive.
    pub(super) next: u32,
    /// First unit behind the block.
    pub(super) end: u32,
}

/// A block that is being emptied.
#[derive(Debug, Clone, Copy)]
pub(super) struct Scan {
    pub(super) block: u32,
    next: u32,
    end: u32,
    /// Units whose scanning one host write pays for, times `step`.
    credit: u64,
    step: u64,
    page_read: u32,
    for_wear: bool,
}

/// The translation layer.
#[derive(Debug, Clone)]
pub struct Ftl {
    pub(super) layout: Layout,
    pub(super) forward: Table,
    pub(super) reverse: Table,
    pub(super) by_block: Divisor,
    by_page: Divisor,
    programs: Divisor,
    pub(super) blocks: Blocks,
    pub(super) host: Frontier,
    pub(super) copies: Vec<Frontier>,
    /// For cold data that is moved to worn blocks.
    pub(super) cold: Frontier,
    pub(super) collector: Collector,
    pub(super) scan: Option<Scan>,
    erases_until_wear_check: u32,
    /// Worn blocks that may still be taken out of use.
    retirable_blocks: u32,
    /// Units that hold data.
    pub(super) mapped: u32,
    pub(super) counts: Inside,
    /// What lies in each unit, for tests: what is written next, and what was.
    #[cfg(test)]
    pub(super) contents: (u32, Vec<u32>),
}

/// Erases between two looks at the spread of wear.
const WEAR_CHECK_ERASES: u32 = 8;
/// Units ahead of the scan for which memory is asked.
const SCAN_AHEAD: u32 = 16;

/// Choices that may fall on a full block before all blocks are looked at.
const CHOICES_MAX: u32 = 64;

/// The frontier of cold data that is moved; the others are numbered from the host's on.
const COLD: usize = usize::MAX;

const NO_FRONTIER: Frontier = Frontier { block: NONE, next: 0, end: 0 };

impl Ftl {
    /// A fresh drive.
    ///
    /// # Errors
    /// A layout that leaves no room to collect, in a sentence.
    pub fn new(layout: Layout) -> Result<Self, String> {
        check(&layout)?;
        let units = layout.blocks * layout.block_units;
        let random = Random::new(drivelab_stats::derive(layout.seed, 0x63_6f6c_6c65, 0));
        Ok(Ftl {
            forward: Table::new(layout.logical_units as usize),
            reverse: Table::new(units as usize),
            by_block: Divisor::new(layout.block_units),
            by_page: Divisor::new(layout.page_units),
            programs: Divisor::new(layout.program_units),
            blocks: Blocks::new(layout.blocks, layout.levels_wear),
            host: NO_FRONTIER,
            copies: vec![NO_FRONTIER; layout.collection_frontiers as usize],
            cold: NO_FRONTIER,
            collector: Collector::new(layout.policy, layout.choices, layout.block_units, random),
            scan: None,
            erases_until_wear_check: WEAR_CHECK_ERASES,
            retirable_blocks: layout.retirable_blocks(),
            mapped: 0,
            counts: Inside::default(),
            #[cfg(test)]
            contents: (0, vec![0; units as usize]),
            layout,
        })
    }

    /// What it was made from.
    pub fn layout(&self) -> &Layout {
        &self.layout
    }

    /// Units that hold data.
    pub fn mapped_units(&self) -> u32 {
        self.mapped
    }

    /// Free blocks.
    pub fn free_blocks(&self) -> u32 {
        self.blocks.free()
    }

    /// Where a logical unit lies; [`NONE`]: nowhere.
    #[inline]
    pub fn locate(&self, logical: u32) -> u32 {
        self.forward.get(logical)
    }

    /// A logical unit will be looked at soon.
    #[inline]
    pub fn prefetch(&self, logical: u32) {
        self.forward.prefetch(logical);
    }

    /// Counts and levels.
    pub fn inside(&self) -> Inside {
        let (least, mean, most) = self.blocks.wear();
        Inside {
            erases_min: u64::from(least),
            erases_max: u64::from(most),
            erases_mean: mean,
            free_blocks: u64::from(self.blocks.free()),
            ..self.counts
        }
    }

    /// Whether a unit holds data that counts.
    pub(super) fn is_valid(&self, unit: u32) -> bool {
        let logical = self.reverse.get(unit);
        logical != NONE && self.forward.get(logical) == unit
    }

    /// What lies in a logical unit, for tests.
    #[cfg(test)]
    pub(super) fn version(&self, logical: u32) -> Option<u32> {
        let unit = self.forward.get(logical);
        (unit != NONE).then(|| self.contents.1[unit as usize])
    }

    /// Erases of the whole drive.
    #[inline]
    pub(super) fn erasures(&self) -> u32 {
        self.blocks.erasures
    }

    /// Whether the block of `unit` was erased since the drive had seen so many erases.
    pub(super) fn erased_since(&self, unit: u32, erasures: u32) -> bool {
        self.blocks.erased_at[self.by_block.divide(unit) as usize] > erasures
    }

    /// Erases of the block of `unit`.
    pub(super) fn erases_of(&self, unit: u32) -> u32 {
        self.blocks.erases[self.by_block.divide(unit) as usize]
    }

    /// Worn blocks that were taken out of use.
    pub fn retired_blocks(&self) -> u32 {
        self.layout.retirable_blocks() - self.retirable_blocks
    }

    /// Wears every block by `erases`, as years of use would.
    pub fn age(&mut self, erases: u32) {
        self.blocks.age_all(erases);
    }

    /// Counts, without the levels, which take a look at every block.
    pub fn counts_mut(&mut self) -> &mut Inside {
        &mut self.counts
    }

    /// Writes one logical unit to the host frontier, and lets collection keep pace.
    #[inline]
    pub fn write<M: Medium>(&mut self, medium: &mut M, logical: u32) -> u32 {
        if self.host.next == self.host.end {
            self.open_host(medium);
        }
        let unit = self.host.next;
        self.host.next += 1;
        self.counts.programmed_host_units += 1;
        #[cfg(test)]
        {
            self.contents.1[unit as usize] = self.contents.0;
        }
        self.map(logical, unit);
        if self.programs.split(unit + 1).1 == 0 {
            medium.host_program(unit);
        }
        self.keep_pace(medium);
        unit
    }

    #[inline]
    pub(super) fn map(&mut self, logical: u32, unit: u32) {
        let old = self.forward.get(logical);
        self.forward.set(logical, unit);
        self.reverse.set(unit, logical);
        self.blocks.valid[self.by_block.divide(unit) as usize] += 1;
        if old == NONE {
            self.mapped += 1;
        } else {
            self.invalidate(old);
        }
    }

    #[inline]
    pub(super) fn invalidate(&mut self, unit: u32) {
        let block = self.by_block.divide(unit);
        let valid = &mut self.blocks.valid[block as usize];
        *valid -= 1;
        self.collector.fell(block, *valid);
    }

    /// Drops a logical unit: nothing is copied for it any more.
    pub fn trim(&mut self, logical: u32) {
        let old = self.forward.get(logical);
        if old != NONE {
            self.forward.set(logical, NONE);
            self.mapped -= 1;
            self.invalidate(old);
        }
    }

    /// Leaves the rest of the host's program empty, so that all that was written is on the flash.
    pub fn pad<M: Medium>(&mut self, medium: &mut M) {
        let rest = self.host.next % self.layout.program_units;
        if self.host.block == NONE || rest == 0 || self.host.next == self.host.end {
            return;
        }
        for unit in self.host.next..self.host.next - rest + self.layout.program_units {
            self.reverse.set(unit, NONE);
            self.counts.padding_units += 1;
            self.host.next = unit + 1;
        }
        medium.host_program(self.host.next - 1);
    }

    fn open_host<M: Medium>(&mut self, medium: &mut M) {
        self.close(self.host);
        self.host = NO_FRONTIER;
        // The last free blocks belong to collection.
        while self.blocks.free() <= self.layout.low_blocks {
            if !self.collect_now(medium) {
                break;
            }
        }
        // Copies among host writes may have opened one.
        if self.host.next == self.host.end {
            self.close(self.host);
            self.host = self.open(0);
        }
    }

    pub(super) fn close(&mut self, frontier: Frontier) {
        if frontier.block != NONE {
            self.blocks.close(frontier.block);
            self.collector.closed(&self.blocks, frontier.block);
        }
    }

    pub(super) fn open(&mut self, generation: u8) -> Frontier {
        self.open_in(generation, Blocks::open)
    }

    fn open_in(&mut self, generation: u8, choose: fn(&mut Blocks, u8) -> Option<u32>) -> Frontier {
        let Some(block) = choose(&mut self.blocks, generation) else {
            unreachable!("`check` keeps more blocks free than collection can hold open")
        };
        let first = block * self.layout.block_units;
        Frontier { block, next: first, end: first + self.layout.block_units }
    }

    /// Lets one host write pay for its share of collection.
    #[inline]
    fn keep_pace<M: Medium>(&mut self, medium: &mut M) {
        if !self.layout.paces {
            return;
        }
        if self.scan.is_none() {
            if self.blocks.free() >= self.layout.high_blocks {
                return;
            }
            self.begin_scan();
        }
        let Some(scan) = &mut self.scan else { return };
        scan.credit += u64::from(self.layout.block_units);
        while let Some(scan) = &mut self.scan {
            if scan.credit < scan.step {
                return;
            }
            scan.credit -= scan.step;
            self.scan_unit(medium);
        }
    }

    /// Empties one block at once; `false`: there is none that has anything to give.
    fn collect_now<M: Medium>(&mut self, medium: &mut M) -> bool {
        if self.scan.is_none() {
            self.begin_scan();
        }
        let began = self.scan.is_some();
        while self.scan.is_some() {
            self.scan_unit(medium);
        }
        began
    }

    fn begin_scan(&mut self) {
        let cold = self.coldest_if_uneven();
        let Some(block) = cold.or_else(|| self.victim_with_gain()) else { return };
        let given = self.layout.block_units - self.blocks.valid[block as usize];
        // Levelling wear frees little; its copies are still spread over some host writes.
        let step = if cold.is_some() { given.max(self.layout.block_units / 8) } else { given };
        self.blocks.state[block as usize] = BlockState::Victim;
        let first = block * self.layout.block_units;
        self.scan = Some(Scan {
            block,
            next: first,
            end: first + self.layout.block_units,
            credit: 0,
            step: u64::from(step.max(1)),
            page_read: NONE,
            for_wear: cold.is_some(),
        });
    }

    /// The choice of the collector. Copying a full block gains nothing, so another one is taken,
    /// unless the policy leaves it to chance.
    fn victim_with_gain(&mut self) -> Option<u32> {
        if matches!(self.layout.policy, Policy::Random | Policy::DChoices) {
            return self.collector.choose(&self.blocks);
        }
        let full = self.layout.block_units;
        for _ in 0..CHOICES_MAX {
            let block = self.collector.choose(&self.blocks)?;
            if self.blocks.valid[block as usize] < full {
                return Some(block);
            }
            self.collector.closed(&self.blocks, block);
        }
        let closed = |block: &u32| self.blocks.state[*block as usize] == BlockState::Closed;
        (0..self.blocks.count())
            .filter(closed)
            .min_by_key(|block| (self.blocks.valid[*block as usize], *block))
            .filter(|block| self.blocks.valid[*block as usize] < full)
    }

    /// The least worn closed block, where wear is too uneven.
    fn coldest_if_uneven(&mut self) -> Option<u32> {
        let limit = self.layout.wear_difference_max?;
        if self.erases_until_wear_check > 0 {
            return None;
        }
        self.erases_until_wear_check = WEAR_CHECK_ERASES;
        let (least, _, most) = self.blocks.wear();
        let closed = |block: &u32| self.blocks.state[*block as usize] == BlockState::Closed;
        (most - least > limit)
            .then(|| (0..self.blocks.count()).filter(closed))?
            .min_by_key(|block| (self.blocks.erases[*block as usize], *block))
    }

    /// Looks at the next unit of the victim, and copies it if it is valid.
    #[inline]
    fn scan_unit<M: Medium>(&mut self, medium: &mut M) {
        let Some(scan) = &mut self.scan else { return };
        let unit = scan.next;
        scan.next += 1;
        let (for_wear, is_last) = (scan.for_wear, scan.next == scan.end);
        if unit + SCAN_AHEAD < scan.end {
            let ahead = self.reverse.get(unit + SCAN_AHEAD);
            self.forward.prefetch(ahead);
        }
        let logical = self.reverse.get(unit);
        if logical != NONE && self.forward.get(logical) == unit {
            let page = self.by_page.divide(unit);
            if scan.page_read != page {
                scan.page_read = page;
                medium.background_read(unit);
            }
            let victim = scan.block as usize;
            let generation = self.blocks.generation[victim].saturating_add(1);
            self.blocks.valid[victim] -= 1;
            let stream = match for_wear {
                true => COLD,
                false => (generation as usize).min(self.copies.len()),
            };
            self.copy(medium, logical, generation, stream);
            if for_wear {
                self.counts.wear_units += 1;
            } else {
                self.counts.collection_units += 1;
            }
        }
        if is_last {
            self.end_scan(medium);
        }
    }

    fn end_scan<M: Medium>(&mut self, medium: &mut M) {
        let Some(scan) = self.scan.take() else { return };
        debug_assert_eq!(self.blocks.valid[scan.block as usize], 0);
        medium.erase(scan.block);
        self.counts.erases += 1;
        let endurance = self.layout.endurance_cycles;
        let is_worn = endurance > 0 && self.blocks.erases[scan.block as usize] + 1 >= endurance;
        // Collection must not lose the blocks that it needs to go on.
        let can_spare = self.retirable_blocks > 0 && self.blocks.free() >= self.layout.low_blocks;
        if is_worn && can_spare {
            self.retirable_blocks -= 1;
            self.blocks.retire(scan.block);
        } else {
            self.blocks.erase(scan.block);
        }
        self.erases_until_wear_check = self.erases_until_wear_check.saturating_sub(1);
        #[cfg(debug_assertions)]
        self.assert_consistent_sometimes();
    }

    /// Moves a valid unit to the frontier of its temperature.
    fn copy<M: Medium>(&mut self, medium: &mut M, logical: u32, generation: u8, stream: usize) {
        if self.frontier(stream).next == self.frontier(stream).end {
            let full = *self.frontier(stream);
            self.close(full);
            let opened = match stream {
                // What stays for long goes where least is left to be worn.
                COLD => self.open_in(generation, Blocks::open_most_worn),
                _ => self.open(if stream == 0 { 0 } else { generation }),
            };
            *self.frontier(stream) = opened;
        }
        let frontier = self.frontier(stream);
        let (unit, block) = (frontier.next, frontier.block);
        frontier.next += 1;
        #[cfg(test)]
        {
            let old = self.forward.get(logical) as usize;
            self.contents.1[unit as usize] = self.contents.1[old];
        }
        self.blocks.valid[block as usize] += 1;
        self.forward.set(logical, unit);
        self.reverse.set(unit, logical);
        if self.programs.split(unit + 1).1 == 0 {
            // A program that holds data of the host too is awaited like one of the host.
            match stream {
                0 => medium.host_program(unit),
                _ => medium.background_program(unit),
            }
        }
    }

    /// The host's frontier is the first; copies have their own behind it, if any.
    #[inline]
    fn frontier(&mut self, stream: usize) -> &mut Frontier {
        match stream {
            0 => &mut self.host,
            COLD => &mut self.cold,
            _ => &mut self.copies[stream - 1],
        }
    }
}

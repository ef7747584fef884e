//! Making room: which block is emptied when, and where its data goes.

use super::blocks::{BlockState, Blocks};
use super::collector::Policy;
use super::drive::FlashDrive;
use super::ftl::{Ftl, Medium};
use super::medium::Flash;
use crate::memory::NONE;
use drivelab_core::op::Time;

/// Units ahead of the scan whose present place is asked for, and whose names are.
const SCAN_AHEAD: u32 = 16;
const NAMES_AHEAD: u32 = 48;
/// The frontier of cold data that is moved; the others are numbered from the host's on.
pub(super) const COLD: usize = usize::MAX;
/// Erases between two looks at the spread of wear.
pub(super) const WEAR_CHECK_ERASES: u32 = 8;

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

impl Ftl {
    /// Lets one host write pay for its share of collection.
    #[inline]
    pub(super) fn keep_pace<M: Medium>(&mut self, medium: &mut M) {
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
        let mut count = 0;
        while scan.credit >= scan.step {
            scan.credit -= scan.step;
            count += 1;
        }
        if count > 0 {
            self.scan_units(medium, count);
        }
    }

    /// Empties one block at once; `false`: there is none that has anything to give.
    pub(super) fn collect_now<M: Medium>(&mut self, medium: &mut M) -> bool {
        if self.scan.is_none() {
            self.begin_scan();
        }
        let began = self.scan.is_some();
        while self.scan.is_some() {
            self.scan_units(medium, self.layout.block_units);
        }
        began
    }

    /// Whether a unit lies in the block that is being emptied, where that was looked at already.
    pub(super) fn is_passed(&self, unit: u32) -> bool {
        self.scan.is_some_and(|scan| self.by_block.divide(unit) == scan.block && unit < scan.next)
    }

    fn begin_scan(&mut self) {
        let cold = self.coldest_if_uneven();
        let Some(block) = cold.or_else(|| self.victim()) else { return };
        let given = self.layout.block_units - self.blocks.valid[block as usize];
        // Levelling wear frees little; its copies are still spread over some host writes.
        let step = if cold.is_some() { given.max(self.layout.block_units / 8) } else { given };
        self.blocks.state[block as usize] = BlockState::Victim;
        let first = block * self.layout.block_units;
        let end = first + self.layout.block_units;
        (first..end.min(first + NAMES_AHEAD)).for_each(|unit| self.reverse.prefetch(unit));
        for unit in first..end.min(first + SCAN_AHEAD) {
            self.forward.prefetch(self.reverse.get(unit));
        }
        self.scan = Some(Scan {
            block,
            next: first,
            end,
            credit: 0,
            step: u64::from(step.max(1)),
            page_read: NONE,
            for_wear: cold.is_some(),
        });
    }

    /// The choice of the collector. A block that is wholly valid is taken too where age or chance
    /// decides: its copies go behind all others, and the next oldest follows at once. Policies that
    /// look for gain find none where the best block has none.
    fn victim(&mut self) -> Option<u32> {
        let block = self.collector.choose(&self.blocks)?;
        let is_full = self.blocks.valid[block as usize] == self.layout.block_units;
        let looks_for_gain = matches!(self.layout.policy, Policy::Greedy | Policy::CostBenefit);
        (!is_full || !looks_for_gain).then_some(block)
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

    /// Looks at the next units of the victim, `count` at most, and copies those that are valid.
    fn scan_units<M: Medium>(&mut self, medium: &mut M, count: u32) {
        let Some(scan) = &self.scan else { return };
        let Scan { block, next, end, for_wear, mut page_read, .. } = *scan;
        let behind = end.min(next.saturating_add(count));
        let generation = self.blocks.generation[block as usize].saturating_add(1);
        let stream = match for_wear {
            true => COLD,
            false => (generation as usize).min(self.copies.len()),
        };
        let mut copied = 0;
        for unit in next..behind {
            if unit + SCAN_AHEAD < end {
                self.reverse.prefetch(unit + NAMES_AHEAD);
                let ahead = self.reverse.get(unit + SCAN_AHEAD);
                self.forward.prefetch(ahead);
            }
            let logical = self.valid_in(unit);
            if logical == NONE {
                continue;
            }
            let page = self.by_page.divide(unit);
            if page_read != page {
                page_read = page;
                medium.background_read(unit);
            }
            self.copy(medium, logical, generation, stream);
            copied += 1;
        }
        self.blocks.valid[block as usize] -= copied;
        match for_wear {
            true => self.counts.wear_units += u64::from(copied),
            false => self.counts.collection_units += u64::from(copied),
        }
        if behind == end {
            self.end_scan(medium);
        } else if let Some(scan) = &mut self.scan {
            (scan.next, scan.page_read) = (behind, page_read);
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
    #[inline]
    fn copy<M: Medium>(&mut self, medium: &mut M, logical: u32, generation: u8, stream: usize) {
        if self.frontier(stream).next == self.frontier(stream).end
            && (stream != 0 || !self.takes_stripe(medium))
        {
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
            let old = self.locate(logical) as usize;
            self.contents.1[unit as usize] = self.contents.1[old];
        }
        self.blocks.valid[block as usize] += 1;
        self.forward.set(logical, unit);
        self.reverse.set(unit, logical);
        medium.moved(logical);
        if self.programs.split(unit + 1).1 == 0 {
            // A program that holds data of the host too is awaited like one of the host.
            match stream {
                0 => medium.host_program(unit),
                _ => medium.background_program(unit),
            }
        }
    }
}

impl FlashDrive {
    /// Uses the rest of the host before `now` to have more blocks free than writes alone would.
    pub(super) fn collect_in_rest(&mut self, now: Time) {
        let idle_ns = self.parameters.idle_collection_ns;
        let from = (self.busy_until + idle_ns).max(self.collected_until);
        if now <= from {
            return;
        }
        self.collected_until = now;
        self.flash.now = from;
        let is_done = |flash: &Flash| flash.debts_ns(from).into_iter().max() >= Some(now - from);
        while self.ftl.free_blocks() < self.parameters.idle_collection_blocks
            && !is_done(&self.flash)
            && self.ftl.collect_now(&mut self.flash)
        {}
        // Copies among what the host wrote may have completed a program of its own.
        self.give_back();
        if self.flash.notes_moves {
            self.map_moves(from);
        }
    }
}

//! A drive with plain block mapping: the first flash drives, without a log.
//!
//! A page that was never programmed since its block was erased can be appended. An overwrite
//! costs the whole block: it is read, erased and programmed again, in place or into a replacement
//! block, which stays open as long as the host goes forward in it.

use crate::drive::{Drive, Ends, Ticket, Way};
use crate::log_block::Waits;
use crate::log_block::array::{Array, Work};
use crate::log_block::content::{Content, Spot};
use crate::log_block::flash::{Dies, Flash};
use crate::log_block::layout::{Bits, Layout, Piece, all_sectors, pieces};
use crate::log_block::parameters::check_shape;
use crate::memory::NONE;
use drivelab_core::inside::Inside;
use drivelab_core::op::{Action, DataOp, Time};
use drivelab_stats::{self as stats, Random};
use std::collections::VecDeque;

mod parameters;
#[cfg(test)]
mod tests;

pub use parameters::{Overwrite, Parameters};

/// A replacement block that is being written.
#[derive(Debug, Clone, Copy)]
struct Open {
    /// Group and logical block in it.
    group: usize,
    owner: u32,
    block: u32,
    /// Pages below this one are in the replacement block.
    next: u32,
}

/// The blocks of one group of dies.
#[derive(Debug, Clone)]
struct Group {
    dies: Dies,
    first_block: u32,
    /// Physical block of each logical block; [`NONE`]: none.
    data: Vec<u32>,
    /// By physical block: pages programmed since its erase, as a high-water mark.
    rows: Vec<u32>,
    erases: Vec<u32>,
    free: VecDeque<u32>,
    mapped: Bits,
}

impl Group {
    fn new(parameters: &Parameters, layout: Layout, index: u32) -> Self {
        let blocks = match parameters.overwrite {
            Overwrite::InPlace => layout.group_blocks(),
            Overwrite::Replacement => layout.group_blocks() + 1,
        };
        let pages = u64::from(layout.group_blocks()) * u64::from(layout.block_pages);
        Group {
            dies: Dies { first: index * parameters.block_dies, count: parameters.block_dies },
            first_block: index * blocks,
            data: vec![NONE; layout.group_blocks() as usize],
            rows: vec![0; blocks as usize],
            erases: vec![0; blocks as usize],
            free: (index * blocks..(index + 1) * blocks).collect(),
            mapped: Bits::new(pages),
        }
    }

    fn row(&mut self, block: u32) -> &mut u32 {
        &mut self.rows[(block - self.first_block) as usize]
    }

    /// A page can be programmed once, and none after a later one of its block.
    fn use_row(&mut self, (block, slot): Spot) {
        let row = self.row(block);
        debug_assert!(slot >= *row, "page {slot} of block {block} is not erased: {row}");
        *row = slot + 1;
    }

    fn erase(&mut self, flash: &mut Flash, block: u32, pages: u32, at: Time) -> Time {
        *self.row(block) = 0;
        self.erases[(block - self.first_block) as usize] += 1;
        flash.erase(self.dies, block, pages, at)
    }
}

/// A drive whose mapping knows blocks only.
#[derive(Debug, Clone)]
pub struct BlockMapDrive {
    parameters: Parameters,
    seed: u64,
    layout: Layout,
    flash: Flash,
    groups: Vec<Group>,
    open: Option<Open>,
}

impl BlockMapDrive {
    /// A drive as it leaves the factory: nothing is written.
    ///
    /// # Errors
    /// Names the parameter that cannot be, and why, in one sentence.
    pub fn new(parameters: Parameters, seed: u64) -> Result<Self, String> {
        let timing = parameters.timing();
        timing.check()?;
        check_shape(
            parameters.user_bytes,
            parameters.page_bytes,
            parameters.pages_per_block,
            parameters.dies,
            parameters.block_dies,
        )?;
        let layout = Layout {
            pages: parameters.user_bytes / u64::from(parameters.page_bytes),
            block_pages: parameters.pages_per_block * parameters.block_dies,
            groups: parameters.dies / parameters.block_dies,
        };
        Ok(BlockMapDrive {
            seed,
            layout,
            flash: Flash::new(Array::new(timing)),
            groups: new_groups(&parameters, layout),
            open: None,
            parameters,
        })
    }

    /// What it is made of.
    pub fn parameters(&self) -> &Parameters {
        &self.parameters
    }

    /// Writes everything once, in order, without time.
    pub fn fill(&mut self) {
        self.open = None;
        self.groups = new_groups(&self.parameters, self.layout);
        for (index, group) in self.groups.iter_mut().enumerate() {
            let pages = self.layout.group_pages(index as u32);
            for page in 0..pages {
                group.mapped.set(page, true);
            }
            for block in 0..pages.div_ceil(self.layout.block_pages) {
                let first = block * self.layout.block_pages;
                if let Some(physical) = group.free.pop_front() {
                    group.data[block as usize] = physical;
                    *group.row(physical) = (pages - first).min(self.layout.block_pages);
                }
            }
        }
        self.restart();
    }

    /// Overwrites a page at random without time, so that a replacement block is open where the
    /// firmware has one: all that there is to be fragmented.
    pub fn fragment(&mut self, seed: u64) {
        let page = Random::new(stats::derive(self.seed, seed, 0)).below(self.layout.pages) as u32;
        let mask = all_sectors(self.parameters.page_bytes);
        self.flash.array.is_timeless = true;
        self.stage(page, mask);
        let piece = Piece { page, mask, bytes: self.parameters.page_bytes };
        self.write_block(&[piece], 0, &mut Waits::default());
        self.restart();
    }

    /// Keeps versions of all sectors from now on, for tests. Costs memory and time.
    pub fn keep_versions(&mut self) {
        self.flash.content = Some(Content::new(self.parameters.page_bytes));
    }

    /// The number of the write (1: the first since [`BlockMapDrive::keep_versions`]) that a read of
    /// a sector of 512 bytes finds; 0: an earlier one. `None`: never written, or trimmed.
    pub fn version(&self, sector: u64) -> Option<u64> {
        let content = self.flash.content.as_ref()?;
        let page_sectors = u64::from(self.parameters.page_bytes / 512);
        let (group, local) = self.layout.place((sector / page_sectors) as u32);
        let spot = self.spot(group, local)?;
        Some(content.flash(spot, (sector % page_sectors) as usize))
    }

    fn restart(&mut self) {
        self.flash.array = Array::new(self.flash.array.timing);
        self.flash.inside = Inside::default();
        self.groups.iter_mut().for_each(|group| group.erases.fill(0));
    }

    fn stage(&mut self, page: u32, mask: u64) {
        if let Some(content) = &mut self.flash.content {
            content.stage(page, mask);
        }
    }

    /// Where a mapped page is.
    fn spot(&self, group: usize, local: u32) -> Option<Spot> {
        if !self.groups[group].mapped.get(local) {
            return None;
        }
        let (owner, slot) = (local / self.layout.block_pages, local % self.layout.block_pages);
        match self.open {
            Some(open) if (open.group, open.owner) == (group, owner) && slot < open.next => {
                Some((open.block, slot))
            }
            _ => Some((self.groups[group].data[owner as usize], slot)),
        }
    }

    fn write(&mut self, op: &DataOp, at: Time, waits: &mut Waits) -> Time {
        if let Some(content) = &mut self.flash.content {
            content.next_version();
        }
        let mut arrived = at;
        let mut end = at;
        let mut block: Vec<Piece> = Vec::new();
        for piece in pieces(op.offset, op.len, self.parameters.page_bytes) {
            let block_of = |piece: &Piece| piece.page / self.layout.block_pages;
            if block.last().is_some_and(|last| block_of(last) != block_of(&piece)) {
                end = end.max(self.write_block(&block, arrived, waits));
                block.clear();
            }
            let moved = self.flash.array.link(arrived, piece.bytes);
            waits.link_ns += moved - arrived;
            arrived = moved;
            self.flash.inside.host_units += 1;
            self.stage(piece.page, piece.mask);
            block.push(piece);
        }
        if block.is_empty() { end } else { end.max(self.write_block(&block, arrived, waits)) }
    }

    /// Writes pages of one logical block, in order of address; returns the end.
    fn write_block(&mut self, block: &[Piece], at: Time, waits: &mut Waits) -> Time {
        let (index, first) = self.layout.place(block[0].page);
        let (owner, slot) = (first / self.layout.block_pages, first % self.layout.block_pages);
        let group = &mut self.groups[index];
        if group.data[owner as usize] == NONE {
            group.data[owner as usize] = group.free.pop_front().unwrap_or(NONE);
        }
        let data = group.data[owner as usize];
        if self.parameters.overwrite == Overwrite::InPlace && slot < *group.row(data) {
            return self.rewrite(block, at, waits);
        }
        let mut ready = at;
        let mut end = at;
        for piece in block {
            let (to, merged_at) = self.make_room(piece.page, ready);
            waits.merge_ns += merged_at - ready;
            ready = merged_at;
            end = end.max(self.program(*piece, to, ready, waits));
        }
        end
    }

    fn program(&mut self, piece: Piece, to: Spot, at: Time, waits: &mut Waits) -> Time {
        let (index, local) = self.layout.place(piece.page);
        let is_whole = piece.mask == all_sectors(self.parameters.page_bytes);
        let from = if is_whole { None } else { self.old_spot(index, local, to) };
        let group = &mut self.groups[index];
        group.use_row(to);
        group.mapped.set(local, true);
        let step = self.flash.program(group.dies, piece.page, piece.mask, from, to, at);
        waits.queue_ns += step.queued_ns;
        waits.flash_ns += step.end - at - step.queued_ns;
        step.end
    }

    /// Where a page was before `to` was chosen for it.
    fn old_spot(&self, index: usize, local: u32, to: Spot) -> Option<Spot> {
        let group = &self.groups[index];
        let data = group.data[(local / self.layout.block_pages) as usize];
        (group.mapped.get(local) && data != to.0).then_some((data, to.1))
    }

    /// Reads a block, erases it, programs all of it.
    fn rewrite(&mut self, block: &[Piece], at: Time, waits: &mut Waits) -> Time {
        let (index, first) = self.layout.place(block[0].page);
        let pages = self.layout.block_pages;
        let owner = first / pages;
        let data = self.groups[index].data[owner as usize];
        let dies = self.groups[index].dies;
        let first_page = block[0].page - first % pages;
        let all = all_sectors(self.parameters.page_bytes);
        let bytes = self.parameters.page_bytes;
        let new = |slot: u32| block.iter().find(|piece| piece.page == first_page + slot);
        let is_old = |group: &Group, slot: u32| group.mapped.get(owner * pages + slot);
        let mut read_at = at;
        for slot in 0..pages {
            let mask = new(slot).map_or(0, |piece| piece.mask);
            if mask == all || !is_old(&self.groups[index], slot) {
                continue;
            }
            let step = self.flash.array.read(dies.of(slot), at, bytes, Work::Upkeep);
            read_at = read_at.max(step.end);
            if let Some(content) = &mut self.flash.content {
                content.lift(first_page + slot, mask, Some((data, slot)));
            }
        }
        let group = &mut self.groups[index];
        let erased_at = group.erase(&mut self.flash, data, pages, read_at);
        let mut end = erased_at;
        for slot in 0..pages {
            let is_new = new(slot).is_some();
            if !is_new && !is_old(group, slot) {
                continue;
            }
            group.use_row((data, slot));
            group.mapped.set(owner * pages + slot, true);
            if let Some(content) = &mut self.flash.content {
                content.program(first_page + slot, all, None, (data, slot));
            }
            let inside = &mut self.flash.inside;
            inside.programmed_host_units += u64::from(is_new);
            inside.merge_units += u64::from(!is_new);
            let work = if is_new { Work::Host } else { Work::Upkeep };
            end = end.max(self.flash.array.program(dies.of(slot), erased_at, work).end);
        }
        waits.merge_ns += end - at;
        end
    }

    /// Where `page` can be programmed, and when what had to be copied before it is.
    fn make_room(&mut self, page: u32, at: Time) -> (Spot, Time) {
        let (index, local) = self.layout.place(page);
        let (owner, slot) = (local / self.layout.block_pages, local % self.layout.block_pages);
        let mut ready = at;
        if let Some(open) = self.open
            && ((open.group, open.owner) != (index, owner) || slot < open.next)
        {
            ready = self.close(open, ready);
        }
        let data = self.groups[index].data[owner as usize];
        if self.open.is_none() && slot >= *self.groups[index].row(data) {
            return ((data, slot), ready);
        }
        let group = &mut self.groups[index];
        let mut open = match self.open {
            Some(open) => open,
            None => {
                Open { group: index, owner, block: group.free.pop_front().unwrap_or(NONE), next: 0 }
            }
        };
        ready = self.copy_up_to(&mut open, slot, ready);
        open.next = slot + 1;
        self.open = Some(open);
        ((open.block, slot), ready)
    }

    /// Copies pages into the replacement block, up to but without `slot`.
    fn copy_up_to(&mut self, open: &mut Open, slot: u32, at: Time) -> Time {
        let group = &mut self.groups[open.group];
        let data = group.data[open.owner as usize];
        let mut end = at;
        for between in open.next..slot {
            if group.mapped.get(open.owner * self.layout.block_pages + between) {
                group.use_row((open.block, between));
                let (from, to) = ((data, between), (open.block, between));
                end = end.max(self.flash.copy(group.dies, from, to, at));
            }
        }
        open.next = slot;
        end
    }

    /// Completes a replacement block and erases the old one.
    fn close(&mut self, mut open: Open, at: Time) -> Time {
        let pages = self.layout.block_pages;
        let copied_at = self.copy_up_to(&mut open, pages, at);
        self.open = None;
        let group = &mut self.groups[open.group];
        let old = std::mem::replace(&mut group.data[open.owner as usize], open.block);
        group.free.push_back(old);
        group.erase(&mut self.flash, old, pages, copied_at)
    }

    fn read(&mut self, op: &DataOp, at: Time, waits: &mut Waits) -> Time {
        let mut end = at;
        for piece in pieces(op.offset, op.len, self.parameters.page_bytes) {
            let (index, local) = self.layout.place(piece.page);
            let mut ready = at;
            if let Some(spot) = self.spot(index, local) {
                self.flash.inside.flash_read_units += 1;
                let die = self.groups[index].dies.of(spot.1);
                let step = self.flash.array.read(die, at, piece.bytes, Work::Host);
                waits.queue_ns += step.queued_ns;
                waits.flash_ns += step.end - at - step.queued_ns;
                ready = step.end;
            } else {
                self.flash.inside.unmapped_read_units += 1;
            }
            let moved = self.flash.array.link(ready, piece.bytes);
            waits.link_ns += moved - ready;
            end = end.max(moved);
        }
        end
    }

    /// Forgets the pages that are covered completely.
    fn trim(&mut self, op: &DataOp) {
        let all = all_sectors(self.parameters.page_bytes);
        for piece in pieces(op.offset, op.len, self.parameters.page_bytes) {
            if piece.mask == all {
                let (index, local) = self.layout.place(piece.page);
                self.groups[index].mapped.set(local, false);
            }
        }
    }
}

fn new_groups(parameters: &Parameters, layout: Layout) -> Vec<Group> {
    (0..layout.groups).map(|index| Group::new(parameters, layout, index)).collect()
}

impl Drive for BlockMapDrive {
    fn bytes(&self) -> u64 {
        self.parameters.user_bytes
    }

    fn submit_by(&mut self, now: Time, ticket: Ticket, op: &DataOp, _way: Way, ends: &mut Ends) {
        let mut waits = Waits::default();
        let (start, kept_by) = self.flash.array.begin(now);
        waits.begin(start - now, self.parameters.command_ns, kept_by);
        let end = match op.action {
            Action::Read => self.read(op, start, &mut waits),
            Action::Write => self.write(op, start, &mut waits),
            Action::Trim => {
                self.trim(op);
                start
            }
            _ => start,
        };
        let cause = waits.longest();
        self.flash.array.finish(end, cause);
        if ends.keeps_stages() {
            let own = waits.stages(end - now, self.parameters.command_ns);
            ends.tell(ticket, end - now, &own);
        }
        ends.push(end, ticket, cause);
    }

    fn inside(&mut self, now: Time) -> Inside {
        let mut inside = self.flash.inside;
        crate::log_block::count_erases(
            &mut inside,
            self.groups.iter().flat_map(|group| &group.erases),
        );
        inside.free_blocks = self.groups.iter().map(|group| group.free.len() as u64).sum();
        let [host_busy_ns, background_busy_ns] = self.flash.array.worked_ns(now);
        (inside.host_busy_ns, inside.background_busy_ns) = (host_busy_ns, background_busy_ns);
        inside.servers = u64::from(self.parameters.dies);
        inside
    }
}

//! Page mapping: where each unit lies, and how room is made. Knows nothing of time: what it does
//! to the flash goes to a [`Medium`].

use super::allocation::Allocation;
use super::blocks::{Blocks, Divisor};
use super::check::check;
use super::collection::{COLD, Scan, WEAR_CHECK_ERASES};
use super::collector::Collector;
use super::layout::Layout;
use super::origin::Origin;
use crate::memory::{NONE, Table, UNTOUCHED, prefetch};
use drivelab_core::inside::Inside;
use drivelab_core::op::Time;
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
    /// A logical unit was copied to another place.
    fn moved(&mut self, _logical: u32) {}
    /// When a die has done all it has to do.
    fn settled_at(&self, _die: u32) -> Time {
        0
    }
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

/// The translation layer.
#[derive(Debug, Clone)]
pub struct Ftl {
    pub(super) layout: Layout,
    pub(super) forward: Table,
    pub(super) reverse: Table,
    /// Where data lies that both tables do not know of.
    pub(super) origin: Option<Box<Origin>>,
    pub(super) by_block: Divisor,
    pub(super) by_page: Divisor,
    pub(super) programs: Divisor,
    pub(super) blocks: Blocks,
    pub(super) host: Frontier,
    pub(super) copies: Vec<Frontier>,
    /// Where dies have blocks of their own: what of them is being filled.
    pub(super) allocation: Option<Box<Allocation>>,
    /// For cold data that is moved to worn blocks.
    pub(super) cold: Frontier,
    pub(super) collector: Collector,
    pub(super) scan: Option<Scan>,
    pub(super) erases_until_wear_check: u32,
    /// Worn blocks that may still be taken out of use.
    pub(super) retirable_blocks: u32,
    /// Units that hold data.
    pub(super) mapped: u32,
    pub(super) counts: Inside,
    /// What lies in each unit, for tests: what is written next, and what was.
    #[cfg(test)]
    pub(super) contents: (u32, Vec<u32>),
}

pub(super) const NO_FRONTIER: Frontier = Frontier { block: NONE, next: 0, end: 0 };

impl Ftl {
    /// A fresh drive.
    ///
    /// # Errors
    /// A layout that leaves no room to collect, in a sentence.
    ///
    /// ```
    /// use drivelab_sim::flash::{Ftl, Parameters, Timeless};
    /// use drivelab_sim::profile::{Profile, TomlValue};
    ///
    /// let mut profile = Profile::embedded("textbook")?;
    /// profile.set("user_bytes", TomlValue::Integer(64 << 20))?;
    /// let parameters: Parameters = profile.section("parameters")?;
    /// let mut ftl = Ftl::new(parameters.layout(1)?)?;
    /// ftl.fill();
    /// let filled = ftl.inside();
    /// for unit in 0..ftl.layout().logical_units {
    ///     ftl.write(&mut Timeless, unit);
    /// }
    /// // In order, whole blocks become free, and nothing has to be moved.
    /// assert_eq!(ftl.inside().since(&filled).collection_units, 0);
    /// # Ok::<(), String>(())
    /// ```
    pub fn new(layout: Layout) -> Result<Self, String> {
        check(&layout)?;
        let units = layout.blocks * layout.block_units;
        let random = Random::new(drivelab_stats::Domain::Collection.seed(layout.seed, 0));
        Ok(Ftl {
            forward: Table::new(layout.logical_units as usize),
            reverse: Table::new(units as usize),
            origin: None,
            by_block: Divisor::new(layout.block_units),
            by_page: Divisor::new(layout.page_units),
            programs: Divisor::new(layout.program_units),
            blocks: Blocks::new(layout.blocks, layout.allocation_dies, layout.levels_wear),
            host: NO_FRONTIER,
            copies: vec![NO_FRONTIER; layout.collection_frontiers as usize],
            allocation: Allocation::new(&layout),
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
        match self.forward.get(logical) {
            UNTOUCHED => self.placed_unit(logical),
            unit => unit,
        }
    }

    /// A logical unit will be looked at soon.
    #[inline]
    pub fn prefetch(&self, logical: u32) {
        self.forward.prefetch(logical);
    }

    /// The same, when its place has been asked for before: what its block holds will change.
    #[inline]
    pub fn prefetch_block(&self, logical: u32) {
        let unit = self.forward.get(logical);
        prefetch(&self.blocks.valid, self.by_block.divide(unit) as usize);
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
        self.valid_in(unit) != NONE
    }

    /// The logical unit whose data in `unit` counts, or [`NONE`].
    #[inline]
    pub(super) fn valid_in(&self, unit: u32) -> u32 {
        let logical = self.reverse.get(unit);
        if logical == UNTOUCHED {
            // What was placed there and never written since lies there still.
            let placed = self.placed_logical(unit);
            let is_there = |at: u32| at == UNTOUCHED || at == unit;
            return match placed != NONE && is_there(self.forward.get(placed)) {
                true => placed,
                false => NONE,
            };
        }
        if logical != NONE && self.forward.get(logical) == unit { logical } else { NONE }
    }

    /// What lies in a logical unit, for tests.
    #[cfg(test)]
    pub(super) fn version(&self, logical: u32) -> Option<u32> {
        let unit = self.locate(logical);
        (unit != NONE).then(|| self.contents.1[unit as usize])
    }

    /// Erases of the whole drive.
    #[inline]
    pub(super) fn erasures(&self) -> u32 {
        self.blocks.erasures
    }

    /// Whether the block of `unit` was erased since the drive had seen this many erases.
    pub(super) fn erased_since(&self, unit: u32, erasures: u32) -> bool {
        self.blocks.erased_at[self.by_block.divide(unit) as usize] > erasures
    }

    /// The block of a unit.
    #[inline]
    pub(super) fn block_of(&self, unit: u32) -> u32 {
        self.by_block.divide(unit)
    }

    /// Erases of a block.
    pub(super) fn erases_of(&self, block: u32) -> u32 {
        self.blocks.erases[block as usize]
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
        self.map(logical, unit, self.host.block);
        if self.programs.split(unit + 1).1 == 0 {
            medium.host_program(unit);
        }
        self.keep_pace(medium);
        unit
    }

    #[inline]
    pub(super) fn map(&mut self, logical: u32, unit: u32, block: u32) {
        let old = self.locate(logical);
        self.forward.set(logical, unit);
        self.reverse.set(unit, logical);
        self.blocks.valid[block as usize] += 1;
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
        let old = self.locate(logical);
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
        if self.allocation.is_some() {
            return self.open_stripe(medium);
        }
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

    pub(super) fn open_in(
        &mut self,
        generation: u8,
        choose: fn(&mut Blocks, u8) -> Option<u32>,
    ) -> Frontier {
        let Some(block) = choose(&mut self.blocks, generation) else {
            unreachable!("`check` keeps more blocks free than collection can hold open")
        };
        let first = block * self.layout.block_units;
        Frontier { block, next: first, end: first + self.layout.block_units }
    }

    /// The host's frontier is the first; copies have their own behind it, if any.
    #[inline]
    pub(super) fn frontier(&mut self, stream: usize) -> &mut Frontier {
        match stream {
            0 => &mut self.host,
            COLD => &mut self.cold,
            _ => &mut self.copies[stream - 1],
        }
    }
}

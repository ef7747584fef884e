//! The translation of one group of dies: data blocks, log blocks and where each page is newest.

use super::content::Spot;
use super::flash::{Dies, Flash};
use super::layout::Bits;
use super::parameters::{Associativity, Parameters};
use crate::memory::NONE;
use drivelab_core::op::Time;
use std::collections::{BTreeMap, VecDeque};

/// An open or full log block. Its place in the log is its age.
#[derive(Debug, Clone)]
pub(super) struct Log {
    pub block: u32,
    /// The logical block it serves; [`NONE`]: any.
    pub owner: u32,
    /// Pages in the order in which they were written; [`NONE`]: left empty.
    pub pages: Vec<u32>,
    /// Page `i` of the owner is in slot `i`, so far.
    pub is_in_order: bool,
}

/// What must happen before a page can be written.
#[derive(Debug, Clone, Copy)]
pub(super) enum Need {
    /// The log block at this age goes back to its owner.
    MergeLog(usize),
    /// The sequential log block goes back to its owner.
    MergeSequential,
    /// The next page of the oldest log block goes back to its owner.
    DrainPage,
    /// The oldest log block goes back as a whole.
    DrainLog,
}

/// Where a page is to be written.
#[derive(Debug, Clone, Copy)]
enum Target {
    Data,
    Log(usize),
    Sequential,
}

/// Blocks and pages are numbered within the group, physical blocks over the whole drive.
#[derive(Debug, Clone)]
pub(crate) struct Group {
    pub(super) dies: Dies,
    /// Pages of a block.
    pub(super) pages: u32,
    associativity: Associativity,
    is_merge_paced: bool,
    /// Log blocks that it may use, the sequential one included.
    log_blocks: usize,
    first_block: u32,
    /// Physical block of each logical block; [`NONE`]: none.
    pub(super) data: Vec<u32>,
    /// By physical block: pages programmed since its erase, as a high-water mark.
    rows: Vec<u32>,
    /// By physical block.
    pub(super) erases: Vec<u32>,
    pub(super) free: VecDeque<u32>,
    /// Pages that were written, and not trimmed since.
    pub(super) mapped: Bits,
    /// Pages whose newest copy is in a log block other than the sequential one.
    pub(super) newest: BTreeMap<u32, Spot>,
    /// Oldest first.
    pub(super) logs: VecDeque<Log>,
    pub(super) sequential: Option<Log>,
    /// Pages of the oldest log block that have gone back.
    pub(super) drained: u32,
    /// End of the latest merge.
    pub(super) merged_at: Time,
    /// Erases after which a block is moved so that wear stays even; 0: never.
    wear_swap_erases: u32,
    /// Erases since that was done last, and whose block is the next.
    pub(super) unlevelled_erases: u32,
    pub(super) next_swapped: u32,
}

impl Group {
    pub fn new(parameters: &Parameters, index: u32, logical_blocks: u32) -> Self {
        let groups = parameters.dies / parameters.block_dies;
        let log_blocks = parameters.log_blocks / groups;
        let blocks = logical_blocks + log_blocks + 1;
        let pages = parameters.logical_block_pages();
        let first_block = index * blocks;
        Group {
            dies: Dies { first: index * parameters.block_dies, count: parameters.block_dies },
            pages,
            associativity: parameters.associativity,
            is_merge_paced: parameters.is_merge_paced,
            log_blocks: log_blocks as usize,
            first_block,
            data: vec![NONE; logical_blocks as usize],
            rows: vec![0; blocks as usize],
            erases: vec![0; blocks as usize],
            free: (first_block..first_block + blocks).collect(),
            mapped: Bits::new(u64::from(logical_blocks) * u64::from(pages)),
            newest: BTreeMap::new(),
            logs: VecDeque::new(),
            sequential: None,
            drained: 0,
            merged_at: 0,
            wear_swap_erases: parameters.wear_swap_erases,
            unlevelled_erases: 0,
            next_swapped: 0,
        }
    }

    /// Where the newest copy of a mapped page is.
    pub fn spot(&self, page: u32) -> Option<Spot> {
        if !self.mapped.get(page) {
            return None;
        }
        if let Some(spot) = self.newest.get(&page) {
            return Some(*spot);
        }
        let (owner, slot) = (page / self.pages, page % self.pages);
        match &self.sequential {
            Some(log) if log.owner == owner && slot < log.pages.len() as u32 => {
                Some((log.block, slot))
            }
            _ => Some((self.data[owner as usize], slot)),
        }
    }

    /// Leaves the rest of the row of `row_pages` that the log stands in empty; says how many pages.
    pub fn close_row(&mut self, row_pages: u32) -> u32 {
        let Some(log) = self.logs.back_mut() else { return 0 };
        let missing = (row_pages - log.pages.len() as u32 % row_pages) % row_pages;
        log.pages.extend((0..missing).map(|_| NONE));
        missing
    }

    /// Whether a block should be moved so that wear stays even.
    pub(super) fn is_swap_due(&self) -> bool {
        self.wear_swap_erases > 0 && self.unlevelled_erases >= self.wear_swap_erases
    }

    /// Whether every log block is in use.
    pub fn is_log_used(&self) -> bool {
        self.logs.len() >= self.log_blocks_any()
    }

    /// Writes after which merges come at the rate that they keep. A logical block that was merged
    /// is merged again after a random wait for its next write and a fixed stay in the log: the
    /// longer the stay next to the wait, the longer blocks that began together remain so.
    pub fn settling_writes(&self) -> u64 {
        if self.associativity == Associativity::Block {
            return 0;
        }
        let stay = self.log_blocks as u64 * u64::from(self.pages);
        let cycles = 1 + stay.div_ceil(self.data.len() as u64);
        stay * (2 + cycles * cycles / 3).min(64)
    }

    /// Log blocks without the sequential one.
    fn log_blocks_any(&self) -> usize {
        match self.associativity {
            Associativity::Block => self.log_blocks,
            Associativity::Full => self.log_blocks - 1,
        }
    }

    /// Forgets a page.
    pub fn trim(&mut self, page: u32) {
        self.mapped.set(page, false);
        self.newest.remove(&page);
    }

    /// The next page of `page_count` mapped, as written once in order.
    pub fn fill(&mut self, page_count: u32) {
        for block in 0..page_count.div_ceil(self.pages) {
            let first = block * self.pages;
            let pages = (page_count - first).min(self.pages);
            if let Some(physical) = self.free.pop_front() {
                self.data[block as usize] = physical;
                self.rows[(physical - self.first_block) as usize] = pages;
            }
            for page in first..first + pages {
                self.mapped.set(page, true);
            }
        }
    }

    /// Forgets erases and merges: time begins again.
    pub fn restart(&mut self) {
        self.erases.fill(0);
        self.merged_at = 0;
    }

    /// Writes `mask` of a page, all of it if `is_whole`; `key` names it in the content. Returns
    /// when the merges that it needed ended, how long it waited for its die, and its end.
    pub fn write(
        &mut self,
        flash: &mut Flash,
        page: u32,
        key: u32,
        mask: u64,
        is_whole: bool,
        at: Time,
    ) -> Written {
        let mut ready = at;
        let target = loop {
            match self.target(page) {
                Ok(target) => break target,
                Err(need) => {
                    ready = self.make_room(flash, need, ready);
                    ready = self.level_wear(flash, ready);
                }
            }
        };
        if ready > at {
            self.merged_at = self.merged_at.max(ready);
        }
        let old = if is_whole { None } else { self.spot(page) };
        let slot = page % self.pages;
        let spot = match target {
            Target::Data => (self.data[(page / self.pages) as usize], slot),
            Target::Sequential => (self.push_sequential(page), slot),
            Target::Log(age) => {
                let log = &mut self.logs[age];
                log.is_in_order &= log.owner != NONE && log.pages.len() as u32 == slot;
                log.pages.push(page);
                (log.block, log.pages.len() as u32 - 1)
            }
        };
        if let Target::Log(_) = target {
            self.newest.insert(page, spot);
        } else {
            self.newest.remove(&page);
        }
        self.mapped.set(page, true);
        self.use_row(spot);
        let step = flash.program(self.dies, key, mask, old, spot, ready);
        Written { merged_at: ready, queued_ns: step.queued_ns, end: step.end }
    }

    fn push_sequential(&mut self, page: u32) -> u32 {
        self.sequential.as_mut().map_or(NONE, |log| {
            log.pages.push(page);
            log.block
        })
    }

    /// A page can be programmed once, and none after a later one of its block.
    pub(super) fn use_row(&mut self, (block, slot): Spot) {
        let row = &mut self.rows[(block - self.first_block) as usize];
        debug_assert!(slot >= *row, "page {slot} of block {block} is not erased: {row}");
        *row = slot + 1;
    }

    fn row(&self, block: u32) -> u32 {
        self.rows[(block - self.first_block) as usize]
    }

    /// Where a page can go now, or what must happen first.
    fn target(&mut self, page: u32) -> Result<Target, Need> {
        let (owner, slot) = (page / self.pages, page % self.pages);
        if self.data[owner as usize] == NONE {
            self.data[owner as usize] = self.take_free();
        }
        let data = self.data[owner as usize];
        if slot >= self.row(data) {
            return Ok(Target::Data);
        }
        match self.associativity {
            Associativity::Block => self.target_of_owner(owner),
            Associativity::Full => self.target_of_any(owner, slot),
        }
    }

    fn target_of_owner(&mut self, owner: u32) -> Result<Target, Need> {
        if let Some(age) = self.logs.iter().position(|log| log.owner == owner) {
            let is_full = self.logs[age].pages.len() as u32 == self.pages;
            return if is_full { Err(Need::MergeLog(age)) } else { Ok(Target::Log(age)) };
        }
        if self.logs.len() >= self.log_blocks_any() {
            return Err(Need::MergeLog(0));
        }
        Ok(Target::Log(self.open(owner)))
    }

    fn target_of_any(&mut self, owner: u32, slot: u32) -> Result<Target, Need> {
        let next = self.sequential.as_ref().map(|log| (log.owner, log.pages.len() as u32));
        if next == Some((owner, slot)) && slot > 0 {
            return Ok(Target::Sequential);
        }
        if slot == 0 {
            if next.is_some() {
                return Err(Need::MergeSequential);
            }
            let block = self.take_free();
            self.sequential = Some(Log { block, owner, pages: Vec::new(), is_in_order: true });
            return Ok(Target::Sequential);
        }
        let is_used = self.is_log_used();
        match self.logs.back().map(|log| log.pages.len() as u32) {
            Some(filled) if filled < self.pages => {
                let is_behind = self.is_merge_paced && is_used && self.drained <= filled;
                if is_behind { Err(Need::DrainPage) } else { Ok(Target::Log(self.logs.len() - 1)) }
            }
            _ if is_used => Err(Need::DrainLog),
            _ => {
                self.open(NONE);
                self.target_of_any(owner, slot)
            }
        }
    }

    fn open(&mut self, owner: u32) -> usize {
        let block = self.take_free();
        self.logs.push_back(Log { block, owner, pages: Vec::new(), is_in_order: true });
        self.logs.len() - 1
    }

    /// An erased block. There is one: the group has a block for each logical block, each log
    /// block and one merge.
    pub(super) fn take_free(&mut self) -> u32 {
        debug_assert!(!self.free.is_empty(), "no block is free");
        self.free.pop_front().unwrap_or(NONE)
    }

    /// Erases a block; returns the end.
    pub(super) fn erase(&mut self, flash: &mut Flash, block: u32, at: Time) -> Time {
        let index = (block - self.first_block) as usize;
        self.rows[index] = 0;
        self.erases[index] += 1;
        self.unlevelled_erases += 1;
        self.free.push_back(block);
        flash.erase(self.dies, block, self.pages, at)
    }
}

/// How a page was written.
#[derive(Debug, Clone, Copy)]
pub(crate) struct Written {
    /// End of the merges before it; when it came, if there were none.
    pub merged_at: Time,
    /// Wait for its die.
    pub queued_ns: u64,
    /// Time at which the page is written.
    pub end: Time,
}

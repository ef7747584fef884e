//! A drive with log blocks: early consumer firmware, whose random writes end in merges.
//!
//! Data blocks map logical to physical blocks; an overwrite is appended to one of a few log
//! blocks. When none is free, one is merged, in the foreground of the write that needs it: by
//! switching (written completely in order: one erase), partially (in order so far: copy the rest,
//! one erase) or in full (copy each page from its newest place, two erases).
//!
//! The drive is made of groups of `block_dies` dies, each with its own part of the log. What early
//! firmware does is decided by geometry, flash timing, mapping and buffer alone.

pub(crate) mod array;
#[cfg(test)]
pub(crate) mod bench;
mod buffer;
#[cfg(test)]
mod calibration;
pub(crate) mod content;
pub(crate) mod flash;
mod group;
pub(crate) mod layout;
mod line;
mod merge;
pub(crate) mod parameters;
mod rest;
#[cfg(test)]
mod tests;

use crate::drive::{Drive, Ends, Ticket, Way};
use array::{Array, Work};
use buffer::{Buffer, Held};
use content::Content;
use drivelab_core::inside::{Cause, Inside};
use drivelab_core::op::{Action, DataOp, Time};
use drivelab_core::stages::Stage;
use drivelab_stats::{self as stats, Random};
use flash::Flash;
use group::Group;
use layout::{Layout, Piece, all_sectors, pieces};
use line::{Line, Waiting};
pub use parameters::{Associativity, BufferFlush, HostOrder, Parameters};
use std::collections::VecDeque;

/// A drive whose overwrites go to log blocks.
#[derive(Debug, Clone)]
pub struct LogBlockDrive {
    parameters: Parameters,
    seed: u64,
    layout: Layout,
    flash: Flash,
    groups: Vec<Group>,
    buffer: Buffer,
    /// Ends of the merges of the flush under way: between two of them the controller looks at what
    /// waits, and reads go first.
    gaps: VecDeque<Time>,
    /// Writes that the host has not handed over.
    line: Line,
    /// When the host last had an answer.
    busy_until: Time,
}

/// Where the time of an operation went.
#[derive(Debug, Clone, Copy, Default)]
pub(crate) struct Waits {
    pub link_ns: u64,
    pub buffer_ns: u64,
    pub flash_ns: u64,
    pub queue_ns: u64,
    pub merge_ns: u64,
}

impl Waits {
    /// What it waited for longest.
    pub fn longest(&self) -> Cause {
        let mut longest = (self.link_ns, Cause::Link);
        for wait in [
            (self.flash_ns, Cause::Flash),
            (self.buffer_ns, Cause::Buffer),
            (self.queue_ns, Cause::Queue),
            (self.merge_ns, Cause::Merge),
        ] {
            if wait.0 > longest.0 {
                longest = wait;
            }
        }
        longest.1
    }

    /// What it spent where. Pages that were served at the same time count in proportion, so that
    /// all of it is no more than the whole.
    pub fn stages(&self, total_ns: u64, command_ns: u64) -> [(Stage, u64); 5] {
        let command_ns = command_ns.min(self.link_ns);
        let sums = [
            (Stage::Command, command_ns),
            (Stage::Link, self.link_ns - command_ns),
            (Stage::Flash, self.flash_ns),
            (Stage::Buffer, self.buffer_ns),
            (Stage::Merge, self.merge_ns),
        ];
        let all_ns = sums.iter().map(|(_, ns)| ns).sum::<u64>() + self.queue_ns;
        if all_ns <= total_ns {
            return sums;
        }
        let part = |ns: u64| (u128::from(ns) * u128::from(total_ns) / u128::from(all_ns)) as u64;
        sums.map(|(stage, ns)| (stage, part(ns)))
    }

    /// The wait until a command was understood, which takes `command_ns`.
    pub fn begin(&mut self, wait_ns: u64, command_ns: u64, kept_by: Option<Cause>) {
        let command_ns = command_ns.min(wait_ns);
        self.link_ns += command_ns;
        self.add(wait_ns - command_ns, kept_by.unwrap_or_default(), Cause::Queue);
    }

    /// A wait for an operation or buffer that was itself kept by `cause`.
    pub fn add(&mut self, wait_ns: u64, cause: Cause, otherwise: Cause) {
        match (cause, otherwise) {
            (Cause::Merge, _) => self.merge_ns += wait_ns,
            (_, Cause::Buffer) => self.buffer_ns += wait_ns,
            _ => self.queue_ns += wait_ns,
        }
    }
}

impl LogBlockDrive {
    /// A drive as it leaves the factory: nothing is written.
    ///
    /// # Errors
    /// Names the parameter that cannot be, and why, in one sentence.
    pub fn new(parameters: Parameters, seed: u64) -> Result<Self, String> {
        parameters.check()?;
        let layout = Layout {
            pages: parameters.user_bytes / u64::from(parameters.page_bytes),
            block_pages: parameters.logical_block_pages(),
            groups: parameters.dies / parameters.block_dies,
        };
        let page_bytes = u64::from(parameters.page_bytes);
        let buffer = Buffer::new(
            parameters.buffer_flush,
            (parameters.buffer_bytes / page_bytes) as u32,
            parameters.row_pages(),
            all_sectors(parameters.page_bytes),
        );
        Ok(LogBlockDrive {
            seed,
            flash: Flash::new(Array::new(parameters.timing())),
            groups: new_groups(&parameters, layout),
            layout,
            buffer,
            gaps: VecDeque::new(),
            line: Line::default(),
            busy_until: 0,
            parameters,
        })
    }

    /// What it is made of.
    pub fn parameters(&self) -> &Parameters {
        &self.parameters
    }

    /// Writes everything once, in order, without time: all blocks are data blocks, the log is
    /// empty, the buffer too.
    pub fn fill(&mut self) {
        self.groups = new_groups(&self.parameters, self.layout);
        self.buffer.take_all();
        for (index, group) in self.groups.iter_mut().enumerate() {
            group.fill(self.layout.group_pages(index as u32));
        }
        self.restart();
    }

    /// Writes pages at random without time until all log blocks are used, and, where a log block
    /// takes pages of any block, until merges come at the rate that they keep. A log that is large
    /// next to the drive may never be used up.
    pub fn fragment(&mut self, seed: u64) {
        let mut random = Random::new(stats::derive(self.seed, seed, 0));
        let mut left: u64 = self.groups.iter().map(Group::settling_writes).sum();
        self.flash.array.is_timeless = true;
        let held = self.buffer.take_all();
        self.write_out(held, 0);
        let mask = all_sectors(self.parameters.page_bytes);
        let mut patience = 64 * u64::from(self.parameters.log_blocks);
        while left > 0 || (patience > 0 && !self.groups.iter().all(Group::is_log_used)) {
            let page = random.below(self.layout.pages) as u32;
            let (index, local) = self.layout.place(page);
            self.stage(page, mask);
            self.groups[index].write(&mut self.flash, local, page, mask, true, 0);
            match left {
                0 => patience -= 1,
                _ => left -= 1,
            }
        }
        self.restart();
    }

    /// Keeps versions of all sectors from now on, for tests. Costs memory and time.
    pub fn keep_versions(&mut self) {
        self.flash.content = Some(Content::new(self.parameters.page_bytes));
    }

    /// The number of the write (1: the first since [`LogBlockDrive::keep_versions`]) that a read of
    /// a sector of 512 bytes finds; 0: an earlier one. `None`: never written, or trimmed.
    pub fn version(&self, sector: u64) -> Option<u64> {
        let content = self.flash.content.as_ref()?;
        let page_sectors = u64::from(self.parameters.page_bytes / 512);
        let page = (sector / page_sectors) as u32;
        let sector = (sector % page_sectors) as usize;
        if self.buffer.sectors(page) >> sector & 1 == 1 {
            return Some(content.staged(page, sector));
        }
        let (index, local) = self.layout.place(page);
        self.groups[index].spot(local).map(|spot| content.flash(spot, sector))
    }

    fn restart(&mut self) {
        self.flash.array = Array::new(self.flash.array.timing);
        self.flash.inside = Inside::default();
        self.groups.iter_mut().for_each(Group::restart);
        self.buffer.restart();
        self.gaps.clear();
        self.line = Line::default();
        self.busy_until = 0;
    }

    fn stage(&mut self, page: u32, mask: u64) {
        if let Some(content) = &mut self.flash.content {
            content.stage(page, mask);
        }
    }

    fn write(&mut self, op: &DataOp, at: Time, waits: &mut Waits) -> Time {
        if let Some(content) = &mut self.flash.content {
            content.next_version();
        }
        let mut end = at;
        let mut ready = at;
        for piece in pieces(op.offset, op.len, self.parameters.page_bytes) {
            self.flash.inside.host_units += 1;
            if self.parameters.buffer_flush == BufferFlush::None {
                let arrived = self.flash.array.link(ready, piece.bytes);
                waits.link_ns += arrived - ready;
                ready = arrived;
                self.stage(piece.page, piece.mask);
                end = end.max(self.write_page((piece.page, piece.mask), arrived, waits));
            } else {
                ready = self.take_in(piece, ready, waits);
                end = end.max(ready);
            }
        }
        end
    }

    /// Writes a page that the controller holds to the flash; returns the end.
    fn write_page(&mut self, (page, mask): Held, at: Time, waits: &mut Waits) -> Time {
        let (index, local) = self.layout.place(page);
        let is_whole = mask == all_sectors(self.parameters.page_bytes);
        let kept_until = self.groups[index].merged_at;
        let written = self.groups[index].write(&mut self.flash, local, page, mask, is_whole, at);
        let merge_ns = written.merged_at - at;
        let queue_ns = written.queued_ns;
        waits.merge_ns += merge_ns;
        let cause = if at < kept_until { Cause::Merge } else { Cause::Queue };
        waits.add(queue_ns, cause, Cause::Queue);
        waits.flash_ns += written.end - at - merge_ns - queue_ns;
        written.end
    }

    /// Takes a page into the buffer; returns when it is there.
    fn take_in(&mut self, piece: Piece, at: Time, waits: &mut Waits) -> Time {
        let leaving = self.buffer.before(piece.page);
        self.write_out(leaving, at);
        let mut ready = at;
        if self.buffer.sectors(piece.page) == 0 {
            while !self.buffer.has_room(ready) {
                let Some((until, cause)) = self.buffer.next_room() else {
                    let leaving = self.buffer.for_room();
                    self.write_out(leaving, ready);
                    continue;
                };
                waits.add(until - ready, cause, Cause::Buffer);
                ready = until;
            }
        }
        let arrived = self.flash.array.link(ready, piece.bytes);
        waits.link_ns += arrived - ready;
        self.stage(piece.page, piece.mask);
        let mut leaving = self.buffer.take_in(piece.page, piece.mask);
        if self.parameters.buffer_flush == BufferFlush::Row {
            let (layout, row_pages) = (self.layout, self.parameters.row_pages() as usize);
            let (index, _) = layout.place(piece.page);
            leaving = self.buffer.take_row(row_pages, |page| layout.place(page).0 == index);
        }
        self.write_out(leaving, arrived);
        arrived
    }

    /// Writes pages out of the buffer, which are freed together.
    fn write_out(&mut self, held: Vec<Held>, at: Time) {
        if held.is_empty() {
            return;
        }
        let pages = held.len() as u32;
        let mut waits = Waits::default();
        let mut end = at;
        self.next_gap(at);
        for page in held {
            let written_at = self.write_page(page, at, &mut waits);
            // Merges of other groups share the channels: only in order is a gap a gap.
            if written_at > end && !self.flash.array.is_timeless {
                self.gaps.push_back(written_at);
            }
            end = end.max(written_at);
        }
        if self.parameters.buffer_flush == BufferFlush::Row {
            let row_pages = self.parameters.row_pages();
            let left: u32 = self.groups.iter_mut().map(|group| group.close_row(row_pages)).sum();
            self.flash.inside.padding_units += u64::from(left);
        }
        self.buffer.leave(end, pages, waits.longest());
    }

    /// The next gap between two merges from `now` on.
    fn next_gap(&mut self, now: Time) -> Option<Time> {
        while self.gaps.front().is_some_and(|gap| *gap < now) {
            self.gaps.pop_front();
        }
        self.gaps.front().copied()
    }

    /// `is_let_in`: it was taken in a gap, and is served there.
    fn read(&mut self, op: &DataOp, at: Time, is_let_in: bool, waits: &mut Waits) -> Time {
        let mut end = at;
        if self.parameters.buffer_flush == BufferFlush::Row {
            let held = self.buffer.take_all();
            self.write_out(held, at);
        }
        let gap = if is_let_in { Some(at) } else { self.next_gap(at) };
        for piece in pieces(op.offset, op.len, self.parameters.page_bytes) {
            let (index, local) = self.layout.place(piece.page);
            let spot = self.groups[index].spot(local);
            let mut ready = at;
            let mut is_between = is_let_in;
            if piece.mask & !self.buffer.sectors(piece.page) == 0 {
                self.flash.inside.cached_read_units += 1;
            } else if let Some(spot) = spot {
                self.flash.inside.flash_read_units += 1;
                let group = &self.groups[index];
                let die = group.dies.of(spot.1);
                let cause = if at < group.merged_at { Cause::Merge } else { Cause::Queue };
                let array = &mut self.flash.array;
                let step = match gap.filter(|gap| array.is_taken_beyond(die, *gap)) {
                    Some(gap) => {
                        is_between = true;
                        array.read_between(die, at, gap, piece.bytes)
                    }
                    None => array.read(die, at, piece.bytes, Work::Host),
                };
                waits.add(step.queued_ns, cause, Cause::Queue);
                waits.flash_ns += step.end - at - step.queued_ns;
                ready = step.end;
            } else {
                self.flash.inside.unmapped_read_units += 1;
            }
            let moved = match is_between {
                true => self.flash.array.link_between(ready, piece.bytes),
                false => self.flash.array.link(ready, piece.bytes),
            };
            waits.link_ns += moved - ready;
            end = end.max(moved);
        }
        end
    }

    /// Whether the host hands it over by its address.
    fn is_sorted(&self, op: &DataOp) -> bool {
        self.parameters.host_order == HostOrder::Ascending && op.action == Action::Write
    }

    /// Serves a command from `now` on; `kept_by`: by what, if it waited in the host.
    fn serve(&mut self, now: Time, command: &Waiting, kept_by: Option<Cause>, ends: &mut Ends) {
        let Waiting { ticket, op, way, arrived } = command;
        let mut waits = Waits::default();
        self.flush_in_rest(now);
        // One command at a time, but for a read in the gap between two merges of a flush.
        let gap = self
            .next_gap(now)
            .filter(|gap| op.action == Action::Read && self.flash.array.taken_at(now) > *gap);
        let (start, queued_by) = match gap {
            Some(gap) => (gap + self.parameters.command_ns, Some(Cause::Merge)),
            None => self.flash.array.begin(now),
        };
        waits.begin(start - arrived, self.parameters.command_ns, kept_by.or(queued_by));
        let end = match op.action {
            Action::Read => self.read(op, start, gap.is_some(), &mut waits),
            Action::Write => {
                let end = self.write(op, start, &mut waits);
                if way.is_durable { self.empty_buffer(end, &mut waits) } else { end }
            }
            Action::Trim => {
                self.trim(op);
                start
            }
            _ => self.empty_buffer(start, &mut waits),
        };
        let cause = waits.longest();
        self.busy_until = self.busy_until.max(end);
        if gap.is_none() {
            self.flash.array.finish(end, cause);
        }
        if self.is_sorted(op) {
            self.line.handed_over(op.offset, now, end, cause);
        }
        if ends.keeps_stages() {
            let own = waits.stages(end - arrived, self.parameters.command_ns);
            ends.tell(*ticket, end - arrived, &own);
        }
        ends.push(end, *ticket, cause);
    }

    /// Forgets the pages that are covered completely.
    fn trim(&mut self, op: &DataOp) {
        let all = all_sectors(self.parameters.page_bytes);
        for piece in pieces(op.offset, op.len, self.parameters.page_bytes) {
            if piece.mask == all {
                self.buffer.discard(piece.page);
                if let Some(content) = &mut self.flash.content {
                    content.drop_staged(piece.page);
                }
                let (index, local) = self.layout.place(piece.page);
                self.groups[index].trim(local);
            }
        }
    }

    /// Writes out what the buffer holds; returns when the flash has it.
    fn empty_buffer(&mut self, start: Time, waits: &mut Waits) -> Time {
        let held = self.buffer.take_all();
        self.write_out(held, start);
        let end = self.buffer.all_left().map_or(start, |end| end.max(start));
        waits.add(end - start, Cause::Buffer, Cause::Buffer);
        end
    }
}

/// Enters the spread of erases by block.
pub(crate) fn count_erases<'a>(inside: &mut Inside, erases: impl Iterator<Item = &'a u32> + Clone) {
    let counts = || erases.clone().map(|erases| u64::from(*erases));
    inside.erases_min = counts().min().unwrap_or(0);
    inside.erases_max = counts().max().unwrap_or(0);
    inside.erases_mean = counts().sum::<u64>() as f64 / counts().count().max(1) as f64;
}

fn new_groups(parameters: &Parameters, layout: Layout) -> Vec<Group> {
    let blocks = layout.group_blocks();
    (0..layout.groups).map(|index| Group::new(parameters, index, blocks)).collect()
}

impl Drive for LogBlockDrive {
    fn bytes(&self) -> u64 {
        self.parameters.user_bytes
    }

    fn submit_by(&mut self, now: Time, ticket: Ticket, op: &DataOp, way: Way, ends: &mut Ends) {
        let command = Waiting { ticket, op: *op, way, arrived: now };
        if self.is_sorted(op) && self.line.is_busy(now) {
            return self.line.join(command);
        }
        self.serve(now, &command, None, ends);
    }

    fn next_event(&self) -> Time {
        self.line.next_at()
    }

    fn advance(&mut self, now: Time, ends: &mut Ends) {
        while let at = self.line.next_at()
            && at <= now
            && let Some((command, kept_by)) = self.line.next()
        {
            self.serve(at.max(command.arrived), &command, Some(kept_by), ends);
        }
    }

    fn inside(&mut self, now: Time) -> Inside {
        self.flush_in_rest(now);
        let mut inside = self.flash.inside;
        count_erases(&mut inside, self.groups.iter().flat_map(|group| &group.erases));
        inside.free_blocks = self.groups.iter().map(|group| group.free.len() as u64).sum();
        inside.buffer_fill = self.buffer.fill(now);
        let [host_busy_ns, background_busy_ns] = self.flash.array.worked_ns(now);
        (inside.host_busy_ns, inside.background_busy_ns) = (host_busy_ns, background_busy_ns);
        inside.servers = u64::from(self.parameters.dies);
        inside
    }
}

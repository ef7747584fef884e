//! A page-mapped flash drive from the host link to the cells.

use super::buffer::Buffer;
use super::combining::Combining;
use super::credits::Credits;
use super::ftl::Ftl;
use super::map_cache::MapCache;
use super::map_saves::MapSaves;
use super::medium::Flash;
use super::parameters::Parameters;
use super::path::Path;
use super::pauses::Pauses;
use super::prefetch::Prefetch;
use super::read_cache::ReadCache;
use super::retries::Retries;
use super::slc::Slc;
use crate::drive::{Drive, Ends, Ticket, Way};
use crate::memory::NONE;
use drivelab_core::inside::{Cause, Inside};
use drivelab_core::op::{Action, DataOp, Op, Time};
use drivelab_core::stages::Stage;
use std::cmp::Reverse;
use std::collections::BinaryHeap;

/// A page-mapped flash drive.
#[derive(Debug, Clone)]
pub struct FlashDrive {
    pub(super) parameters: Parameters,
    pub(super) ftl: Ftl,
    pub(super) flash: Flash,
    pub(super) buffer: Buffer,
    /// Whether it has none of the following.
    pub(super) is_plain: bool,
    /// Whether it is plain, completes writes early, takes any number of commands and does nothing
    /// while the host rests, and nobody asks where the time of its operations goes.
    is_simple: bool,
    /// The way of the operation that is being served, where somebody asks.
    path: Option<Box<Path>>,
    pub(super) combining: Option<Combining>,
    pub(super) prefetch: Option<Prefetch>,
    pub(super) read_cache: Option<ReadCache>,
    pub(super) map_cache: Option<MapCache>,
    pub(super) map_saves: Option<MapSaves>,
    pub(super) slc: Option<Slc>,
    /// Ends of the commands that the drive has taken, where it takes only this many.
    pub(super) taken: BinaryHeap<Reverse<Time>>,
    /// What is under way on the link, where that has a bound.
    pub(super) credits: Option<Credits>,
    /// How often a page is sensed, where that is not always once.
    pub(super) retries: Option<Retries>,
    /// Whether a page is always sensed once, and no die is ever taken for long.
    pub(super) senses_plainly: bool,
    /// When the host was last served, and until when its rest was used.
    pub(super) busy_until: Time,
    pub(super) collected_until: Time,
    /// Since when the host rested when the buffer was last flushed for that.
    pub(super) flushed_at: Time,
    unit_shift: u32,
    /// Logical units of the last operations that were hinted at, a ring, and where it goes on.
    hinted: [u32; HINTED],
    hinted_next: usize,
    /// Bytes of the last transfer over the link, and the time for them: most are alike.
    pub(super) link_transfer: (u32, u64),
    /// When the controller and the two ways of the link are free again.
    pub(super) firmware_free_at: Time,
    pub(super) link_in_free_at: Time,
    pub(super) link_out_free_at: Time,
    pub(super) cached_read_units: u64,
    pub(super) unmapped_read_units: u64,
    pub(super) flash_read_units: u64,
    pub(super) host_units: u64,
}

/// Whether writes complete early, any number of commands is taken, a rest of the host is let pass,
/// no block is moved by the clock, and neither reads close write groups nor tables are saved.
fn is_simple(parameters: &Parameters) -> bool {
    parameters.early_completion
        && parameters.queue_depth == 0
        && parameters.write_group_bytes == 0
        && parameters.map_save_units == 0
        && parameters.idle_collection_blocks == 0
        && parameters.idle_flush_ns == 0
        && parameters.relocation_ns == 0
        && parameters.link_credit_bytes == 0
}

/// Operations between the two stages of a hint.
const HINTED: usize = 8;

/// A time, and what led to it.
#[derive(Debug, Clone, Copy)]
pub(super) struct Reached {
    pub(super) at: Time,
    pub(super) cause: Cause,
}

impl Reached {
    /// The later of the two.
    #[inline]
    pub(super) fn or_later(self, at: Time, cause: Cause) -> Self {
        if at > self.at { Reached { at, cause } } else { self }
    }
}

impl FlashDrive {
    /// A fresh drive.
    ///
    /// # Errors
    /// What is wrong with the parameters, in a sentence.
    pub fn new(parameters: Parameters, seed: u64) -> Result<Self, String> {
        let layout = parameters.layout(seed)?;
        let units_of =
            |bytes: u64| u32::try_from(bytes / parameters.map_unit_bytes).unwrap_or(u32::MAX);
        let combining_units = units_of(parameters.combining_bytes);
        let buffer = Buffer::new(units_of(parameters.buffer_bytes) - combining_units);
        let combining = (combining_units > 0)
            .then(|| Combining::new(combining_units as usize, layout.program_units));
        let window_units = units_of(parameters.prefetch_bytes);
        let prefetch =
            (window_units > 0).then(|| Prefetch::new(parameters.prefetch_streams, window_units));
        let cached_units = units_of(parameters.read_cache_bytes) as usize;
        let read_cache = (cached_units > 0).then(|| ReadCache::new(cached_units));
        let map_cache = (parameters.map_cache_bytes > 0).then(|| {
            MapCache::new(parameters.map_cache_bytes, parameters.page_bytes, layout.logical_units)
        });
        let total_units = u64::from(layout.blocks) * u64::from(layout.block_units);
        let slc = Slc::new(&parameters, total_units, layout.program_units);
        let is_plain = combining.is_none()
            && prefetch.is_none()
            && read_cache.is_none()
            && map_cache.is_none()
            && slc.is_none()
            && parameters.firmware_copy_unit_ns == 0;
        let is_simple = is_plain && is_simple(&parameters);
        let mut flash = Flash::new(parameters.timing(), &layout);
        flash.notes_moves = map_cache.is_some();
        flash.take_pauses(Pauses::new(&parameters, &layout));
        let retries = Retries::new(&parameters);
        if retries.as_ref().is_some_and(Retries::knows_age) {
            flash.written_at_s = vec![NONE; layout.blocks as usize];
        }
        let senses_plainly = retries.is_none() && !flash.has_pauses();
        let mut ftl = Ftl::new(layout)?;
        ftl.age(parameters.worn_cycles);
        Ok(FlashDrive {
            ftl,
            flash,
            buffer,
            is_plain,
            is_simple,
            path: None,
            combining,
            prefetch,
            read_cache,
            map_cache,
            map_saves: MapSaves::new(&parameters),
            slc,
            taken: BinaryHeap::new(),
            credits: Credits::new(parameters.link_credit_bytes),
            senses_plainly,
            retries,
            busy_until: 0,
            collected_until: 0,
            flushed_at: 0,
            unit_shift: parameters.map_unit_bytes.trailing_zeros(),
            hinted: [0; HINTED],
            hinted_next: 0,
            link_transfer: (0, 0),
            firmware_free_at: 0,
            link_in_free_at: 0,
            link_out_free_at: 0,
            cached_read_units: 0,
            unmapped_read_units: 0,
            flash_read_units: 0,
            host_units: 0,
            parameters,
        })
    }

    /// What it is made of.
    pub fn parameters(&self) -> &Parameters {
        &self.parameters
    }

    /// The translation layer.
    pub fn ftl(&self) -> &Ftl {
        &self.ftl
    }

    /// The logical units that `op` touches: first, and first behind.
    #[inline]
    pub(super) fn units(&self, op: &DataOp) -> (u32, u32) {
        let first = (op.offset >> self.unit_shift) as u32;
        let last = (op.offset + u64::from(op.len).max(1) - 1) >> self.unit_shift;
        (first, (last as u32 + 1).min(self.ftl.layout().logical_units))
    }

    /// Notes, where `WATCHED`, that the operation has come to `at`, see [`Path::reach`].
    #[inline(always)]
    pub(super) fn reach<const WATCHED: bool>(&mut self, at: Time, stage: Stage, own_ns: u64) {
        if WATCHED && let Some(path) = &mut self.path {
            path.reach(at, stage, own_ns);
        }
    }

    fn write<const WATCHED: bool>(&mut self, now: Time, op: &DataOp) -> Reached {
        let (first, end) = self.units(op);
        let asked = now + self.parameters.command_ns;
        self.reach::<WATCHED>(asked, Stage::Command, self.parameters.command_ns);
        let arrived = self.link_in(asked, op.len);
        self.reach::<WATCHED>(arrived, Stage::Link, self.link_transfer.1);
        let unit_ns = self.parameters.firmware_unit_ns + self.parameters.firmware_write_unit_ns;
        let own_ns = self.parameters.firmware_write_ns + unit_ns * u64::from(end - first);
        let at = self.firmware(arrived, own_ns);
        self.reach::<WATCHED>(at, Stage::Controller, own_ns);
        let mut reached = Reached { at, cause: Cause::Link };
        let unit_mask = self.parameters.map_unit_bytes - 1;
        let is_whole = (op.offset | u64::from(op.len)) & unit_mask == 0;
        if end - first == 1 && is_whole && self.is_plain {
            self.host_units += 1;
            reached = self.place::<true>(reached, first);
            self.reach::<WATCHED>(reached.at, Stage::Buffer, u64::MAX);
            return reached;
        }
        let behind = op.offset + u64::from(op.len);
        for logical in first..end {
            let is_part = (logical == first && op.offset & unit_mask != 0)
                || (logical + 1 == end && behind & unit_mask != 0);
            if is_part {
                let unit = self.ftl.locate(logical);
                let is_known = WATCHED && unit != NONE;
                let own_ns = if is_known { self.sensing_ns(reached.at, unit) } else { 0 };
                let read_at = self.read_to_modify(reached.at, logical);
                reached = reached.or_later(read_at, Cause::Flash);
                self.reach::<WATCHED>(reached.at, Stage::Flash, own_ns);
            }
            self.host_units += 1;
            reached = match self.is_plain {
                true => self.place::<true>(reached, logical),
                false => self.place_by_rules(reached, logical),
            };
            self.reach::<WATCHED>(reached.at, Stage::Buffer, u64::MAX);
        }
        reached
    }

    /// Takes a place in the buffer for a unit, which is then on its way to the flash. `PLAIN`: the
    /// drive has no memories next to the buffer.
    #[inline]
    pub(super) fn place<const PLAIN: bool>(&mut self, reached: Reached, logical: u32) -> Reached {
        let (place_at, cause) = self.buffer.take(reached.at, logical);
        let reached = reached.or_later(place_at, full_buffer(cause));
        self.flash.now = reached.at;
        if !PLAIN && self.slc.is_some() {
            self.prepare_slc(reached.at);
        }
        let (old_unit, erasures) = (self.ftl.locate(logical), self.ftl.erasures());
        #[cfg(test)]
        self.buffer.replaced(self.ftl.version(logical).unwrap_or(0));
        let copied = self.ftl.counts.collection_units;
        let unit = self.ftl.write(&mut self.flash, logical);
        if !PLAIN {
            self.pay_for_copies(copied);
        }
        self.buffer.placed(unit, old_unit, erasures);
        self.give_back();
        if !PLAIN && self.flash.notes_moves {
            self.map_moves(reached.at);
        }
        reached
    }

    /// Places of the units whose program was booked will be free when it ends.
    #[inline]
    pub(super) fn give_back(&mut self) {
        if let Some(programmed) = self.flash.programmed.take() {
            self.buffer.booked(programmed.end, programmed.cause);
            if self.slc.is_some() {
                self.note_slc(programmed.last);
            }
        }
    }

    /// Reads what a write replaces in part.
    #[cold]
    fn read_to_modify(&mut self, at: Time, logical: u32) -> Time {
        let unit = self.ftl.locate(logical);
        let is_held = self.combining.as_ref().is_some_and(|combining| combining.holds(logical));
        if unit == NONE || is_held || self.buffer.holds(logical, at) {
            return at;
        }
        self.sense(at, unit).0
    }

    /// Waits until everything written is on the flash.
    fn write_through(&mut self, reached: Reached) -> Reached {
        let reached = self.drain(reached);
        self.flash.now = reached.at;
        self.ftl.pad(&mut self.flash);
        self.give_back();
        let reached = reached.or_later(self.buffer.empty_at(reached.at), Cause::Flash);
        let timing = self.flash.timing();
        let own_ns = timing.program_transfer_ns + self.flash.host_took_ns;
        self.reach::<true>(reached.at, Stage::Flash, own_ns);
        reached
    }

    fn flush(&mut self, now: Time) -> Reached {
        let asked = now + self.parameters.command_ns;
        let at = self.firmware(asked, self.parameters.firmware_write_ns);
        self.reach::<true>(asked, Stage::Command, self.parameters.command_ns);
        self.reach::<true>(at, Stage::Controller, self.parameters.firmware_write_ns);
        let reached = Reached { at, cause: Cause::Link };
        match self.parameters.power_loss_protection {
            true => reached,
            false => self.write_through(reached),
        }
    }

    fn trim(&mut self, now: Time, op: &DataOp) -> Reached {
        let (first, end) = self.units(op);
        let asked = now + self.parameters.command_ns;
        let at = self.firmware(asked, self.parameters.firmware_write_ns);
        self.reach::<true>(asked, Stage::Command, self.parameters.command_ns);
        self.reach::<true>(at, Stage::Controller, self.parameters.firmware_write_ns);
        let mask = self.parameters.map_unit_bytes - 1;
        if self.parameters.honours_trim {
            // Units that are trimmed in part stay.
            let first = first + u32::from(op.offset & mask != 0);
            let whole = (op.offset + u64::from(op.len)) & mask == 0;
            for logical in first..if whole { end } else { end - 1 } {
                if !self.is_plain {
                    self.drop_from_memory(logical);
                    self.look_up(at, logical, true);
                }
                self.ftl.trim(logical);
            }
        }
        Reached { at, cause: Cause::Link }
    }

    /// Serves an operation; `is_durable`: a write is on the flash, or protected, when it ends.
    #[inline(always)]
    fn serve<const WATCHED: bool>(&mut self, now: Time, op: &DataOp, is_durable: bool) -> Reached {
        let now = self.admit(now, op);
        self.reach::<WATCHED>(now, Stage::Queue, 0);
        self.prepare(now, op.action);
        let mut reached = match op.action {
            Action::Write => self.write::<WATCHED>(now, op),
            Action::Trim => self.trim(now, op),
            Action::Flush => self.flush(now),
            _ => self.read::<WATCHED>(now, op),
        };
        if op.action == Action::Write {
            let early = self.parameters.early_completion;
            if !early || (is_durable && !self.parameters.power_loss_protection) {
                reached = self.write_through(reached);
            }
        }
        self.note_taken(reached.at, op);
        if let Some(slc) = &mut self.slc {
            slc.served(reached.at);
        }
        self.busy_until = self.busy_until.max(reached.at);
        reached
    }

    #[inline(never)]
    fn serve_unwatched(&mut self, now: Time, op: &DataOp, is_durable: bool) -> Reached {
        self.serve::<false>(now, op, is_durable)
    }

    #[cold]
    fn serve_watched(
        &mut self,
        now: Time,
        ticket: Ticket,
        (op, is_durable): (&DataOp, bool),
        ends: &mut Ends,
    ) -> Reached {
        if let Some(path) = &mut self.path {
            path.begin(now);
        }
        let reached = self.serve::<true>(now, op, is_durable);
        if let Some(path) = &self.path {
            ends.tell_staged(ticket, path.staged());
        }
        reached
    }

    /// The translation layer, to bring it into a state.
    pub fn ftl_mut(&mut self) -> &mut Ftl {
        &mut self.ftl
    }
}

/// What a write that found no place waited for.
fn full_buffer(cause: Cause) -> Cause {
    match cause {
        Cause::Collection | Cause::Fold | Cause::Wear => cause,
        _ => Cause::Buffer,
    }
}

impl Drive for FlashDrive {
    fn bytes(&self) -> u64 {
        u64::from(self.ftl.layout().logical_units) << self.unit_shift
    }

    #[inline]
    fn submit_by(&mut self, now: Time, ticket: Ticket, op: &DataOp, way: Way, ends: &mut Ends) {
        let reached = match op.action {
            Action::Read if self.is_simple => self.read::<false>(now, op),
            Action::Write if self.is_simple && !way.is_durable => self.write::<false>(now, op),
            _ if self.path.is_none() => self.serve_unwatched(now, op, way.is_durable),
            _ => self.serve_watched(now, ticket, (op, way.is_durable), ends),
        };
        ends.push(reached.at, ticket, reached.cause);
    }

    #[inline]
    fn hint(&mut self, ops: &[Op]) {
        for op in ops {
            let Op::Data(op) = op else { continue };
            let logical = (op.offset >> self.unit_shift) as u32;
            self.ftl.prefetch(logical);
            self.buffer.prefetch(logical);
            // The place that was asked for some operations ago is there now, and names its block.
            let earlier = &mut self.hinted[self.hinted_next % HINTED];
            self.hinted_next += 1;
            if op.action == Action::Write {
                self.ftl.prefetch_block(*earlier);
            }
            *earlier = logical.min(self.ftl.layout().logical_units - 1);
        }
    }

    /// Blocks that hold nothing any more are erased when they are needed.
    fn purge(&mut self, _now: Time) -> bool {
        for logical in 0..self.ftl.layout().logical_units {
            if !self.is_plain {
                self.drop_from_memory(logical);
            }
            self.ftl.trim(logical);
        }
        true
    }

    fn watch_stages(&mut self, is_watched: bool) {
        self.path = is_watched.then(Box::default);
        self.is_simple = self.is_plain && is_simple(&self.parameters) && !is_watched;
    }

    fn inside(&mut self, now: Time) -> Inside {
        self.catch_up(now);
        let mapped = self.ftl.mapped_units();
        let [host_busy_ns, background_busy_ns] = self.flash.worked_ns(now);
        Inside {
            slc_fill: self.slc.as_ref().map_or(0.0, |slc| slc.fill(mapped)),
            host_units: self.host_units,
            flash_read_units: self.flash_read_units,
            cached_read_units: self.cached_read_units,
            unmapped_read_units: self.unmapped_read_units,
            buffer_fill: self.buffer_fill(now),
            host_busy_ns,
            background_busy_ns,
            servers: u64::from(self.flash.timing().dies),
            ..self.ftl.inside()
        }
    }
}

//! Dies and channels in virtual time.

use super::blocks::Divisor;
use super::ftl::Medium;
use super::layout::Layout;
use super::pauses::Pauses;
use crate::lane::{Background, Lane, Slot, Worked};
use drivelab_core::inside::Cause;
use drivelab_core::op::Time;

/// What the flash is made of and how long it takes.
#[derive(Debug, Clone)]
pub struct Timing {
    /// Channels.
    pub channels: u32,
    /// Dies on all channels together.
    pub dies: u32,
    /// Sensing one page.
    pub read_ns: u64,
    /// One program on one die; on average, where rows differ.
    pub program_ns: u64,
    /// Program times of even and odd rows of a block, where they differ.
    pub rows_ns: Option<[u64; 2]>,
    /// Erasing one block, on all its dies at once, or the part of it on one die.
    pub erase_ns: u64,
    /// Moving one flash page over a channel, to be copied.
    pub page_transfer_ns: u64,
    /// Moving one map unit over a channel, for the host.
    pub unit_transfer_ns: u64,
    /// Moving the units of one program over a channel.
    pub program_transfer_ns: u64,
    /// A read can suspend background work, or the program that runs, in this time.
    pub suspend_ns: Option<u64>,
    /// Background work of one die that the spare blocks allow to be put off.
    pub debt_max_ns: u64,
}

/// A program that was booked.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub struct Programmed {
    /// When its units are on the flash.
    pub end: Time,
    /// What it waited for longest.
    pub cause: Cause,
    /// Its last unit.
    pub last: u32,
}

/// All dies and channels.
#[derive(Debug, Clone)]
pub struct Flash {
    timing: Timing,
    program_units: u32,
    dies: Vec<Lane>,
    /// What the background work of each die is for.
    debt_causes: Vec<Cause>,
    channels: Vec<Lane>,
    die_background: Background,
    channel_background: Background,
    /// See [`Layout`].
    allocation_dies: u32,
    stripe_units: u32,
    by_block: Divisor,
    by_program: Divisor,
    by_dies: Divisor,
    by_channels: Divisor,
    /// Programs that go to one die before another has its turn.
    by_turn: Divisor,
    /// Die and channel of each program of a block.
    places: Vec<(u16, u16)>,
    /// When what the translation layer asks for happens.
    pub now: Time,
    /// The latest program of the host.
    pub programmed: Option<Programmed>,
    /// How long the programs of the host take now: less where cells hold one bit.
    pub host_program_ns: u64,
    /// Whether they go to the SLC cache.
    pub is_slc: bool,
    /// How long the latest one takes.
    pub host_took_ns: u64,
    /// Whether copies change a map that lies on flash itself.
    pub notes_moves: bool,
    /// Logical units that were copied, where that matters.
    pub moved: Vec<u32>,
    /// When each block was last programmed, in seconds, where that matters; `NONE`: before.
    pub written_at_s: Vec<u32>,
    /// Time that dies worked for the host, or will.
    host_busy_ns: u64,
    worked: Worked,
    /// Time that dies worked, or will, in the background.
    pub(super) background_busy_ns: u64,
    /// What takes a die for long, where something does.
    pub(super) pauses: Option<Box<Pauses>>,
    /// Whether rows are alike and nothing takes a die.
    is_plain: bool,
}

impl Flash {
    /// Flash at rest. A block spans all dies, stripe after stripe, or lies on one of them, in turn.
    pub fn new(timing: Timing, layout: &Layout) -> Self {
        let program_units = layout.program_units;
        let block_units = layout.block_units * layout.allocation_dies.max(1);
        let programs_in_turn = match layout.allocation_dies {
            0 => layout.stripe_units / program_units.max(1),
            _ => layout.block_units / program_units.max(1),
        };
        let die_background = Background {
            operation_ns: timing.program_ns,
            debt_max_ns: timing.debt_max_ns,
            suspend_ns: timing.suspend_ns,
        };
        let dies_by_channel = u64::from(timing.dies / timing.channels.max(1)).max(1);
        let channel_background = Background {
            operation_ns: timing.page_transfer_ns,
            // As many copies wait for the bus as for the dies behind it.
            debt_max_ns: timing.debt_max_ns * dies_by_channel * timing.program_transfer_ns * 2
                / timing.program_ns.max(1),
            suspend_ns: None,
        };
        let places = (0..block_units / program_units.max(1))
            .map(|program| program / programs_in_turn.max(1) % timing.dies.max(1))
            .map(|die| (die as u16, (die % timing.channels.max(1)) as u16))
            .collect();
        Flash {
            places,
            program_units,
            dies: vec![Lane::default(); timing.dies as usize],
            debt_causes: vec![Cause::Collection; timing.dies as usize],
            channels: vec![Lane::default(); timing.channels as usize],
            die_background,
            channel_background,
            allocation_dies: layout.allocation_dies,
            stripe_units: layout.stripe_units,
            by_block: Divisor::new(block_units),
            by_program: Divisor::new(program_units),
            by_dies: Divisor::new(timing.dies),
            by_channels: Divisor::new(timing.channels),
            by_turn: Divisor::new(programs_in_turn.max(1)),
            now: 0,
            programmed: None,
            host_program_ns: timing.program_ns,
            is_slc: false,
            host_took_ns: timing.program_ns,
            notes_moves: false,
            moved: Vec::new(),
            written_at_s: Vec::new(),
            host_busy_ns: 0,
            worked: Worked::default(),
            background_busy_ns: 0,
            pauses: None,
            is_plain: timing.rows_ns.is_none(),
            timing,
        }
    }

    /// How long things take.
    pub fn timing(&self) -> &Timing {
        &self.timing
    }

    /// Dies are taken for long now and then.
    pub(super) fn take_pauses(&mut self, pauses: Option<Box<Pauses>>) {
        self.is_plain &= pauses.is_none();
        self.pauses = pauses;
    }

    /// Whether dies are.
    #[inline]
    pub(super) fn has_pauses(&self) -> bool {
        self.pauses.is_some()
    }

    /// Whether something is booked on a die at `at`.
    pub(super) fn is_taken(&self, die: usize, at: Time) -> bool {
        self.dies[die].free_at() > at
    }

    /// Takes a die for the drive itself, behind what is booked there.
    pub(super) fn occupy(&mut self, die: usize, at: Time, own_ns: u64) -> Slot {
        self.background_busy_ns += own_ns;
        self.dies[die].occupy(at, own_ns, &self.die_background)
    }

    #[inline]
    fn place(&self, unit: u32) -> (usize, usize) {
        let (_, within) = self.by_block.split(unit);
        let (die, channel) = self.places[self.by_program.divide(within) as usize];
        (usize::from(die), usize::from(channel))
    }

    /// How long the program up to `last` takes where rows differ, else `alike_ns`; before it, its
    /// die erases its part of the block where it has not.
    #[cold]
    fn uneven_ns(&mut self, die: usize, last: u32, alike_ns: u64, is_slc: bool) -> u64 {
        let (_, within) = self.by_block.split(last);
        let (_, program) = self.by_turn.split(self.by_program.divide(within));
        let is_late = self.pauses.as_ref().is_some_and(|pauses| pauses.erases_before(last));
        if is_late && program == 0 && self.is_first_turn(within) {
            self.pause(die, self.now, self.timing.erase_ns, Cause::Collection);
        }
        match self.timing.rows_ns {
            Some(rows_ns) if !is_slc => self.row_ns(last, rows_ns),
            _ => alike_ns,
        }
    }

    /// Whether a unit of a block lies in the first stripe of its die.
    fn is_first_turn(&self, within: u32) -> bool {
        let stripe = self.by_turn.divide(self.by_program.divide(within));
        self.allocation_dies > 0 || stripe < self.timing.dies
    }

    /// How long the program of the row of `last` takes, where rows differ.
    fn row_ns(&self, last: u32, rows_ns: [u64; 2]) -> u64 {
        let (_, within) = self.by_block.split(last);
        let row = self.by_dies.divide(self.by_program.divide(within));
        rows_ns[row as usize % rows_ns.len()]
    }

    /// A block was programmed: what it holds is as old as its last program.
    #[inline]
    fn note_age(&mut self, last: u32) {
        if !self.written_at_s.is_empty() {
            let block = self.by_block.divide(last) as usize;
            self.written_at_s[block] = (self.now / 1_000_000_000) as u32;
        }
    }

    /// Whether a unit lies behind another: next to it, or as the first of the next die in turn.
    pub fn lies_behind(&self, unit: u32, before: u32) -> bool {
        let is_next = unit == before.wrapping_add(1);
        if self.allocation_dies == 0 || !unit.is_multiple_of(self.stripe_units) {
            return is_next;
        }
        let next_die = (self.die_of(before) + 1) % self.dies.len();
        self.die_of(unit) == next_die
    }

    /// The die that holds a unit.
    pub fn die_of(&self, unit: u32) -> usize {
        self.place(unit).0
    }

    /// Reads a unit from the flash page around it; returns when its data has left the channel.
    /// `tries`: how often it is sensed.
    #[inline(always)]
    pub fn host_read(&mut self, at: Time, unit: u32, tries: u32) -> (Time, Cause) {
        let (die, channel) = self.place(unit);
        let sense_ns = u64::from(tries) * self.timing.read_ns;
        self.read(at, die, channel, sense_ns, self.timing.unit_transfer_ns)
    }

    /// Moves one more unit of a page that was sensed, after the one that has left at `left_at`.
    #[inline]
    pub fn host_transfer(&mut self, at: Time, unit: u32, left_at: Time) -> Time {
        let (_, channel) = self.place(unit);
        let transfer_ns = self.timing.unit_transfer_ns;
        let bus = self.channels[channel].read(at, transfer_ns, &self.channel_background);
        bus.start.max(left_at) + transfer_ns
    }

    /// Reads a page of the map, which lies on any die.
    pub fn map_read(&mut self, at: Time, page: u32) -> Time {
        let (_, die) = self.by_dies.split(page);
        let (_, channel) = self.by_channels.split(die);
        let (die, channel) = (die as usize, channel as usize);
        let (sense_ns, transfer_ns) = (self.timing.read_ns, self.timing.page_transfer_ns);
        match self.has_pauses() {
            true => self.read_behind_pause(at, die, channel, sense_ns, transfer_ns).0,
            false => self.read(at, die, channel, sense_ns, transfer_ns).0,
        }
    }

    #[inline(always)]
    fn read(
        &mut self,
        at: Time,
        die: usize,
        channel: usize,
        sense_ns: u64,
        transfer_ns: u64,
    ) -> (Time, Cause) {
        let slot = self.dies[die].read(at, sense_ns, &self.die_background);
        self.leave(at, die, channel, &slot, transfer_ns)
    }

    /// The same as [`Flash::host_read`] where dies are taken for long.
    #[cold]
    pub(super) fn host_read_behind_pause(
        &mut self,
        at: Time,
        unit: u32,
        tries: u32,
    ) -> (Time, Cause) {
        let (die, channel) = self.place(unit);
        let sense_ns = u64::from(tries) * self.timing.read_ns;
        self.read_behind_pause(at, die, channel, sense_ns, self.timing.unit_transfer_ns)
    }

    fn read_behind_pause(
        &mut self,
        at: Time,
        die: usize,
        channel: usize,
        sense_ns: u64,
        transfer_ns: u64,
    ) -> (Time, Cause) {
        let (from, kept_by) = self.behind_pause(die, at, sense_ns);
        let slot = self.dies[die].read(from, sense_ns, &self.die_background);
        let (end, cause) = self.leave(at, die, channel, &slot, transfer_ns);
        let is_longest = from - at > sense_ns && from - at >= slot.queued_ns;
        (end, kept_by.filter(|_| is_longest).unwrap_or(cause))
    }

    /// What was sensed at `slot`, and asked for at `at`, leaves over its channel.
    #[inline(always)]
    fn leave(
        &mut self,
        at: Time,
        die: usize,
        channel: usize,
        slot: &Slot,
        transfer_ns: u64,
    ) -> (Time, Cause) {
        let sense_ns = slot.end - slot.start;
        self.host_busy_ns += sense_ns;
        // The bus is booked from the request on: a booking in the future would leave a hole. Data
        // on its way to be programmed waits like programs do.
        let bus = self.channels[channel].read(at, transfer_ns, &self.channel_background);
        let end = slot.end.max(bus.start) + transfer_ns;
        (end, cause_of(slot, sense_ns, self.debt_causes[die]))
    }

    /// Reads a page of the map in the background.
    pub fn map_read_behind(&mut self, at: Time, page: u32) {
        let (_, die) = self.by_dies.split(page);
        self.owe_copies(at, die as usize, 1, 0, Cause::Map);
    }

    /// Programs a page of the map in the background, as its share of a program.
    pub fn map_program(&mut self, at: Time, page: u32, page_units: u32) {
        let (_, die) = self.by_dies.split(page);
        self.owe_copies(at, die as usize, 0, page_units, Cause::Map);
    }

    /// Owes the copying of `units` in `pages` that lie on `die`, back to that die; returns the time
    /// of the die.
    pub fn owe_copies(
        &mut self,
        at: Time,
        die: usize,
        pages: u32,
        units: u32,
        cause: Cause,
    ) -> u64 {
        let share = |whole_ns: u64| whole_ns * u64::from(units) / u64::from(self.program_units);
        let (pages, program_ns) = (u64::from(pages), share(self.timing.program_ns));
        let moved_ns =
            pages * self.timing.page_transfer_ns + share(self.timing.program_transfer_ns);
        let (_, channel) = self.by_channels.split(die as u32);
        self.channels[channel as usize].owe(at, moved_ns);
        let owed_ns = pages * self.timing.read_ns + program_ns;
        self.dies[die].owe(at, owed_ns);
        self.debt_causes[die] = cause;
        self.background_busy_ns += owed_ns;
        owed_ns
    }

    /// Time that dies worked until `now`, for the host and in the background.
    pub fn worked_ns(&mut self, now: Time) -> [u64; 2] {
        let owed_ns: u64 = self.debts_ns(now).iter().sum();
        let booked_ns = [self.host_busy_ns, self.background_busy_ns - owed_ns];
        self.worked.until(now, booked_ns, &self.dies)
    }

    /// Background work not yet done, of each die.
    pub fn debts_ns(&self, now: Time) -> Vec<u64> {
        self.dies.iter().map(|die| die.debt_ns(now)).collect()
    }

    /// Forgets what was under way: a power cut.
    pub fn cut(&mut self) {
        self.dies.fill(Lane::default());
        self.channels.fill(Lane::default());
        self.programmed = None;
        if let Some(pauses) = &mut self.pauses {
            pauses.cut();
        }
    }
}

fn cause_of(slot: &Slot, own_ns: u64, background: Cause) -> Cause {
    match () {
        () if slot.background_ns > own_ns && slot.background_ns >= slot.queued_ns => background,
        () if slot.queued_ns > own_ns => Cause::Queue,
        () => Cause::Flash,
    }
}

impl Medium for Flash {
    #[inline]
    fn host_program(&mut self, last: u32) {
        let (die, channel) = self.place(last);
        self.note_age(last);
        let transfer_ns = self.timing.program_transfer_ns;
        let bus = self.channels[channel].book(self.now, transfer_ns, &self.channel_background);
        let program_ns = match self.is_plain {
            true => self.host_program_ns,
            false => self.uneven_ns(die, last, self.host_program_ns, self.is_slc),
        };
        self.host_took_ns = program_ns;
        let slot = self.dies[die].book(bus.end, program_ns, &self.die_background);
        self.host_busy_ns += program_ns;
        let mut cause = cause_of(&slot, program_ns, self.debt_causes[die]);
        if cause == Cause::Queue
            && let Some(pauses) = &self.pauses
        {
            cause = pauses.cause_of(die, bus.end, slot.start).unwrap_or(cause);
        }
        self.programmed = Some(Programmed { end: slot.end, cause, last });
    }

    #[inline]
    fn background_program(&mut self, last: u32) {
        let (die, channel) = self.place(last);
        self.note_age(last);
        self.channels[channel].owe(self.now, self.timing.program_transfer_ns);
        let program_ns = match self.is_plain {
            true => self.timing.program_ns,
            false => self.uneven_ns(die, last, self.timing.program_ns, false),
        };
        self.dies[die].owe(self.now, program_ns);
        self.debt_causes[die] = Cause::Collection;
        self.background_busy_ns += program_ns;
    }

    #[inline]
    fn background_read(&mut self, unit: u32) {
        let (die, channel) = self.place(unit);
        self.channels[channel].owe(self.now, self.timing.page_transfer_ns);
        self.dies[die].owe(self.now, self.timing.read_ns);
        self.background_busy_ns += self.timing.read_ns;
    }

    #[inline]
    fn moved(&mut self, logical: u32) {
        if self.notes_moves {
            self.moved.push(logical);
        }
    }

    fn settled_at(&self, die: u32) -> Time {
        self.dies[die as usize].settled_at(self.now)
    }

    fn erase(&mut self, block: u32) {
        if self.pauses.as_mut().is_some_and(|pauses| pauses.puts_off_erase(block)) {
            return;
        }
        if self.allocation_dies > 0 {
            let die = (block % self.allocation_dies) as usize;
            self.dies[die].owe(self.now, self.timing.erase_ns);
            self.debt_causes[die] = Cause::Collection;
            self.background_busy_ns += self.timing.erase_ns;
            return;
        }
        for die in &mut self.dies {
            die.owe(self.now, self.timing.erase_ns);
        }
        self.background_busy_ns += self.timing.erase_ns * self.dies.len() as u64;
    }
}

//! A disk with heads: one arm, rotation, zones, a track cache and native command queueing.
//!
//! The arm serves one command at a time and picks the next when it is free, the one that is
//! reached soonest; hence ends come from [`Drive::advance`] and a later command can overtake. The
//! turn of the medium is a function of virtual time alone. After a read the head reads on, which
//! is free to give up; what it passes is found in the cache. Writes end when their data are in the
//! write cache, where there is one, and reach the medium in the order the arm likes best.
//!
//! Not modelled: defects and remapping, thermal recalibration, writes smaller than a sector,
//! reads that begin in the middle of the wanted run (zero-latency reads), reads of which only a
//! part is in the write cache (they go to the medium).

mod arm;
mod cache;
mod geometry;
mod parameters;
mod reading;
mod seek;

pub use geometry::{Geometry, Place, SECTOR_BYTES};
pub use parameters::DiskParameters;
pub use seek::SeekCurve;

use crate::drive::{Drive, Ends, Ticket, Way};
use cache::{ReadCache, WriteCache};
use drivelab_core::inside::{Cause, Inside};
use drivelab_core::op::{Action, DataOp, Time};
use drivelab_core::stages::Stage;
use drivelab_stats::Random;
use std::collections::VecDeque;

/// A disk.
#[derive(Debug, Clone)]
pub struct Disk {
    parameters: DiskParameters,
    geometry: Geometry,
    seek: SeekCurve,
    sectors: u64,
    /// Turn of the medium at time 0.
    phase_ns: u64,
    cylinder: u64,
    head: u64,
    arm_free_at: Time,
    job: Job,
    read_ahead: Option<ReadAhead>,
    /// Commands in the drive that wait for the arm, in order of arrival.
    queue: Vec<Command>,
    /// Commands for which the queue of the drive has no place.
    outside: VecDeque<Command>,
    /// Writes in the drive that wait for a place in the write cache.
    waiting: VecDeque<Command>,
    flushes: Vec<Flush>,
    reads: ReadCache,
    writes: WriteCache,
    controller_free_at: Time,
    link_free_at: Time,
    next_at: Time,
    stages: Stages,
    inside: Inside,
}

/// Where the time of the arm went, and how long commands waited for it, since the disk was made.
#[derive(Debug, Clone, Copy, Default, PartialEq, Eq)]
pub struct Stages {
    /// Accesses of the medium.
    pub accesses: u64,
    /// Moving, switching heads and settling.
    pub seek_ns: u64,
    /// Waiting for the sector to come round.
    pub rotation_ns: u64,
    /// The sectors passing, with switches of track between them.
    pub transfer_ns: u64,
}

#[derive(Debug, Clone, Copy, PartialEq, Eq)]
enum Job {
    None,
    /// A command of the host.
    Command,
    /// A run of the write cache.
    Run,
}

#[derive(Debug, Clone, Copy)]
struct Command {
    ticket: Ticket,
    action: Action,
    first: u64,
    end: u64,
    bytes: u64,
    arrived: Time,
    ready_at: Time,
    /// A write goes to the medium past the cache.
    is_durable: bool,
}

#[derive(Debug, Clone, Copy)]
struct Flush {
    ticket: Ticket,
    number: u64,
    arrived: Time,
}

/// The head reads on from `from`, which passes at `from_at`, up to `limit`.
#[derive(Debug, Clone, Copy)]
struct ReadAhead {
    segment: usize,
    /// Sectors of the segment before this one are in the cache already, the rest up to `from` at
    /// `passed_at`.
    held: u64,
    passed_at: Time,
    from: u64,
    from_at: Time,
    limit: u64,
}

impl Disk {
    /// A disk at rest over cylinder 0; the seed turns the medium.
    ///
    /// # Errors
    /// Names the parameter that is out of range and its constraint.
    pub fn new(parameters: DiskParameters, seed: u64) -> Result<Self, String> {
        parameters.validate()?;
        let geometry = Geometry::new(&parameters.shape())?;
        let seek = SeekCurve::new(
            geometry.cylinders(),
            parameters.seek_track_ns,
            parameters.seek_average_ns,
            parameters.seek_full_ns,
        )?;
        let segments = parameters.read_cache_segments;
        let segment_sectors = parameters.read_cache_bytes / SECTOR_BYTES / segments.max(1);
        Ok(Self {
            sectors: parameters.user_bytes.div_ceil(SECTOR_BYTES),
            phase_ns: Random::new(seed).below(geometry.rotation_ns()),
            reads: ReadCache::new(segments as usize, segment_sectors),
            writes: WriteCache::new(
                parameters.write_cache_bytes,
                parameters.write_cache_runs as usize,
            ),
            parameters,
            geometry,
            seek,
            cylinder: 0,
            head: 0,
            arm_free_at: 0,
            job: Job::None,
            read_ahead: None,
            queue: Vec::new(),
            outside: VecDeque::new(),
            waiting: VecDeque::new(),
            flushes: Vec::new(),
            controller_free_at: 0,
            link_free_at: 0,
            next_at: Time::MAX,
            stages: Stages::default(),
            inside: Inside { servers: 1, ..Inside::default() },
        })
    }

    /// Where its sectors lie.
    pub fn geometry(&self) -> &Geometry {
        &self.geometry
    }

    /// How long its arm moves.
    pub fn seek(&self) -> &SeekCurve {
        &self.seek
    }

    /// Where the time of the arm went.
    pub fn stages(&self) -> Stages {
        self.stages
    }

    /// The turn of the medium, in nanoseconds after its mark.
    pub fn turn_ns(&self, now: Time) -> u64 {
        let rotation_ns = self.geometry.rotation_ns();
        (now % rotation_ns + self.phase_ns) % rotation_ns
    }

    /// Where the time of a command went that ends at `end`: its own time, and waits.
    fn tell(&self, command: &Command, end: Time, own: &[(Stage, u64)], ends: &mut Ends) {
        let (ticket, total_ns) = (command.ticket, end - command.arrived);
        let mut all = [(Stage::Command, self.parameters.command_ns); 5];
        let count = own.len().min(all.len() - 1);
        all[1..=count].copy_from_slice(&own[..count]);
        ends.tell(ticket, total_ns, &all[..=count]);
    }

    /// Commands that occupy a place in the queue of the drive.
    fn held_commands(&self) -> usize {
        self.queue.len() + self.waiting.len() + usize::from(self.job == Job::Command)
    }

    /// The link carries `bytes` from `at` on, after what it carries already.
    fn carry(&mut self, at: Time, bytes: u64) -> Time {
        self.link_free_at = self.link_free_at.max(at) + self.carry_ns(bytes);
        self.link_free_at
    }

    fn carry_ns(&self, bytes: u64) -> u64 {
        (bytes * 1_000_000_000).div_ceil(self.parameters.link_bytes_per_s)
    }

    fn receive(&mut self, now: Time, mut command: Command, ends: &mut Ends) {
        command.ready_at = self.controller_free_at.max(now) + self.parameters.command_ns;
        self.controller_free_at = command.ready_at;
        match command.action {
            Action::Read => self.receive_read(command, ends),
            Action::Write
                if command.is_durable || !self.writes.can_hold(command.first, command.end) =>
            {
                command.ready_at = self.carry(command.ready_at, command.bytes);
                self.overwrite(command.ready_at, &command);
                self.queue.push(command);
            }
            Action::Write => {
                let has_room = self.writes.has_room(command.first, command.end);
                if has_room && self.waiting.is_empty() {
                    self.accept_write(command.ready_at, &command, ends);
                } else {
                    self.waiting.push_back(command);
                }
            }
            Action::Flush if self.writes.bytes() > 0 => {
                let number = self.writes.newest();
                let Command { ticket, arrived, .. } = command;
                self.flushes.push(Flush { ticket, number, arrived });
            }
            _ => {
                self.tell(&command, command.ready_at, &[], ends);
                ends.push(command.ready_at, command.ticket, Cause::Link);
            }
        }
    }

    fn accept_write(&mut self, at: Time, command: &Command, ends: &mut Ends) {
        let carried_at = self.carry(at, command.bytes);
        self.overwrite(at, command);
        let place = self.geometry.place(command.first);
        self.writes.add(command.first, command.end, carried_at, place);
        let own_ns = self.parameters.command_ns + self.carry_ns(command.bytes);
        let waited_ns = (carried_at - command.arrived).saturating_sub(own_ns);
        let cause = if waited_ns > own_ns { Cause::Buffer } else { Cause::Link };
        let for_place_ns = at.saturating_sub(command.ready_at);
        let own = [(Stage::Link, self.carry_ns(command.bytes)), (Stage::Buffer, for_place_ns)];
        self.tell(command, carried_at, &own, ends);
        ends.push(carried_at, command.ticket, cause);
    }

    /// What the arm did is done.
    fn finish(&mut self, now: Time, ends: &mut Ends) {
        if self.job == Job::Run {
            self.writes.written();
            while let Some(&command) = self.waiting.front()
                && self.writes.has_room(command.first, command.end)
            {
                self.waiting.pop_front();
                self.accept_write(now, &command, ends);
            }
            let writes = &self.writes;
            self.flushes.retain(|flush| {
                let is_done = writes.is_written(flush.number);
                if is_done {
                    let waited_ns = now - flush.arrived;
                    ends.tell(flush.ticket, waited_ns, &[(Stage::Buffer, waited_ns)]);
                    ends.push(now, flush.ticket, Cause::Buffer);
                }
                !is_done
            });
        }
        self.job = Job::None;
    }

    fn admit(&mut self, now: Time, ends: &mut Ends) {
        while self.held_commands() < self.parameters.queue_depth as usize
            && let Some(command) = self.outside.pop_front()
        {
            self.receive(now, command, ends);
        }
    }

    fn schedule(&mut self) {
        self.next_at = if self.job != Job::None {
            self.arm_free_at
        } else {
            let commands = self.queue.iter().map(|command| command.ready_at);
            let runs = self.writes.runs.iter().map(|run| run.ready_at);
            commands.chain(runs).min().map_or(Time::MAX, |ready_at| ready_at.max(self.arm_free_at))
        };
    }
}

impl Drive for Disk {
    fn bytes(&self) -> u64 {
        self.parameters.user_bytes
    }

    fn submit_by(&mut self, now: Time, ticket: Ticket, op: &DataOp, way: Way, ends: &mut Ends) {
        self.advance(now, ends);
        let bytes = u64::from(op.len);
        let first = (op.offset / SECTOR_BYTES).min(self.sectors - 1);
        let end = (op.offset + bytes).div_ceil(SECTOR_BYTES).clamp(first + 1, self.sectors);
        let command = Command {
            ticket,
            action: op.action,
            first,
            end,
            bytes,
            arrived: now,
            ready_at: now,
            is_durable: way.is_durable,
        };
        self.outside.push_back(command);
        self.admit(now, ends);
        self.schedule();
    }

    fn next_event(&self) -> Time {
        self.next_at
    }

    fn advance(&mut self, now: Time, ends: &mut Ends) {
        while self.next_at <= now {
            let at = self.next_at;
            if self.job != Job::None {
                self.finish(at, ends);
                self.admit(at, ends);
            }
            if self.arm_free_at <= at {
                self.pick(at, ends);
                self.admit(at, ends);
            }
            self.schedule();
        }
    }

    fn inside(&mut self, now: Time) -> Inside {
        let mut inside = self.inside;
        let not_yet_ns = self.arm_free_at.saturating_sub(now);
        inside.host_busy_ns = inside.host_busy_ns.saturating_sub(not_yet_ns);
        if self.parameters.write_cache_bytes > 0 {
            inside.buffer_fill =
                self.writes.bytes() as f64 / self.parameters.write_cache_bytes as f64;
        }
        inside
    }
}

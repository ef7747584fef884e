//! An array of drives behind a controller: stripes, mirrors, parity, and a write cache.
//!
//! An operation is split into rows of strips. A write to a part of a row of a parity array first
//! reads what the new parity needs; while it does, other writes to the row wait. With a write
//! cache, writes end when their data are in it; they go to the members in the background, whole
//! rows first, in order of their place.
//!
//! Not modelled: a failed member, rebuilding, read-ahead of the controller (the members have their
//! own), a read cache that takes in and throws out (it is cold or warm), trim (it ends and does
//! nothing).

mod cache;
mod jobs;
mod layout;
mod slots;

pub use layout::{Layout, Level, MemberOp, Range, WritePlan};

use crate::disk::{Disk, DiskParameters};
use crate::drive::{Drive, Ends, Ticket, Way};
use cache::RowCache;
use drivelab_core::facts::CacheState;
use drivelab_core::inside::{Cause, Inside};
use drivelab_core::op::{Action, DataOp, Time};
use drivelab_stats::derive;
use jobs::{Job, Member, Request};
use serde::{Deserialize, Serialize};
use slots::Slots;
use std::collections::{BTreeMap, VecDeque};

/// The parameters of an array.
#[derive(Debug, Clone, PartialEq, Serialize, Deserialize)]
#[serde(deny_unknown_fields)]
pub struct ArrayParameters {
    /// How data are spread.
    pub level: Level,
    /// Drives.
    pub members: u64,
    /// Neighbouring bytes on one member.
    pub strip_bytes: u64,
    /// Time of the controller for each command.
    pub command_ns: u64,
    /// Rate of the host's link, in each direction.
    pub link_bytes_per_s: u64,
    /// Memory for writes that end before they reach the members; 0: none end before.
    pub write_cache_bytes: u64,
    /// The write cache survives a power cut: a flush has nothing to wait for.
    pub write_cache_protected: bool,
    /// How long data may stay in the write cache while it is less than half full.
    pub destage_delay_ns: u64,
    /// Rows that the write cache writes to the members at the same time.
    pub destage_rows: u64,
    /// Warm: reads of the first `write_cache_bytes` of the volume are answered by the controller's
    /// memory, for ever, as after long use of this part alone. Cold: it answers none but what was
    /// just written.
    #[serde(default)]
    pub cache_state: CacheState,
}

impl ArrayParameters {
    /// Whether every value is in its range.
    ///
    /// # Errors
    /// Names the first that is not, and its constraint.
    pub fn validate(&self) -> Result<(), String> {
        let least = if self.level == Level::Parity { 3 } else { 2 };
        for (name, value, least, most) in [
            ("members", self.members, least, 256),
            ("strip_bytes", self.strip_bytes, 4_096, 1 << 30),
            ("command_ns", self.command_ns, 0, 100_000_000),
            ("link_bytes_per_s", self.link_bytes_per_s, 1_000, 1 << 50),
            ("write_cache_bytes", self.write_cache_bytes, 0, 1 << 44),
            ("destage_delay_ns", self.destage_delay_ns, 0, 600_000_000_000),
            ("destage_rows", self.destage_rows, 1, 4_096),
        ] {
            if value < least || value > most {
                return Err(format!("{name} must be from {least} to {most}; it is {value}"));
            }
        }
        if self.level == Level::Mirror && !self.members.is_multiple_of(2) {
            return Err(format!(
                "members must be even where level is mirror; it is {}",
                self.members
            ));
        }
        if self.cache_state == CacheState::Warm && self.write_cache_bytes == 0 {
            return Err("cache_state must be cold where write_cache_bytes is 0".into());
        }
        if !self.strip_bytes.is_multiple_of(4_096) {
            return Err(format!(
                "strip_bytes must be a multiple of 4096; it is {}",
                self.strip_bytes
            ));
        }
        Ok(())
    }
}

/// Operations that the members were given, since the array was made.
#[derive(Debug, Clone, Copy, Default, PartialEq, Eq)]
pub struct MemberOps {
    /// Reads, for the host and for parity.
    pub reads: u64,
    /// Of those, reads that only parity needs.
    pub parity_reads: u64,
    /// Writes.
    pub writes: u64,
}

/// An array of drives.
#[derive(Debug)]
pub struct Array<D> {
    parameters: ArrayParameters,
    layout: Layout,
    members: Vec<Member<D>>,
    requests: Slots<Request>,
    jobs: Slots<Job>,
    /// The job of each operation on a member.
    calls: Slots<u32>,
    /// Requests on their way through the controller.
    arriving: Ends,
    /// Rows in which parity is being changed, each with the jobs that wait for it.
    locked: BTreeMap<u64, VecDeque<u32>>,
    cache: RowCache,
    /// Writes that wait for a place in the cache.
    waiting: VecDeque<u32>,
    /// Flushes that wait until the cache is empty.
    draining: Vec<u32>,
    destaging: u64,
    controller_free_at: Time,
    link_in_free_at: Time,
    link_out_free_at: Time,
    next_at: Time,
    member_ops: MemberOps,
    inside: Inside,
}

impl Array<Disk> {
    /// An array of equal disks whose media turn independently.
    ///
    /// # Errors
    /// Names the parameter that is out of range and its constraint.
    pub fn of_disks(
        parameters: ArrayParameters,
        member: &DiskParameters,
        seed: u64,
    ) -> Result<Self, String> {
        parameters.validate()?;
        let members = (0..parameters.members)
            .map(|index| Disk::new(member.clone(), derive(seed, 0, index)))
            .collect::<Result<Vec<Disk>, String>>()?;
        Array::new(parameters, members)
    }
}

impl<D: Drive> Array<D> {
    /// An array of the given drives.
    ///
    /// # Errors
    /// Names the parameter that is out of range and its constraint.
    pub fn new(parameters: ArrayParameters, members: Vec<D>) -> Result<Self, String> {
        parameters.validate()?;
        if members.len() as u64 != parameters.members {
            return Err(format!(
                "members must be the number of drives; it is {}, and there are {}",
                parameters.members,
                members.len()
            ));
        }
        let member_bytes = members.iter().map(Drive::bytes).min().unwrap_or(0);
        if member_bytes < parameters.strip_bytes {
            return Err(format!(
                "strip_bytes must not exceed the bytes of a member, {member_bytes}; it is {}",
                parameters.strip_bytes
            ));
        }
        let layout =
            Layout::new(parameters.level, parameters.members, parameters.strip_bytes, member_bytes);
        Ok(Self {
            cache: RowCache::new(
                parameters.write_cache_bytes,
                layout.row_bytes(),
                parameters.destage_delay_ns,
            ),
            parameters,
            layout,
            members: members.into_iter().map(Member::new).collect(),
            requests: Slots::new(),
            jobs: Slots::new(),
            calls: Slots::new(),
            arriving: Ends::default(),
            locked: BTreeMap::new(),
            waiting: VecDeque::new(),
            draining: Vec::new(),
            destaging: 0,
            controller_free_at: 0,
            link_in_free_at: 0,
            link_out_free_at: 0,
            next_at: Time::MAX,
            member_ops: MemberOps::default(),
            inside: Inside::default(),
        })
    }

    /// Operations that the members were given.
    pub fn member_ops(&self) -> MemberOps {
        self.member_ops
    }

    /// The drives.
    pub fn members(&self) -> impl Iterator<Item = &D> {
        self.members.iter().map(|member| &member.drive)
    }

    fn carry_ns(&self, bytes: u32) -> u64 {
        (u64::from(bytes) * 1_000_000_000).div_ceil(self.parameters.link_bytes_per_s)
    }

    /// A request has come through the controller.
    pub(super) fn start(&mut self, now: Time, number: u32, ends: &mut Ends) {
        let Some(&mut Request { op, .. }) = self.requests.get_mut(number) else {
            return;
        };
        let bytes = u64::from(op.len);
        match op.action {
            Action::Read => self.start_read(now, number, &op, ends),
            Action::Write if bytes > 0 => {
                self.inside.host_units += bytes.div_ceil(512);
                if self.parameters.write_cache_bytes == 0 || !self.cache.can_hold(bytes) {
                    self.start_write(now, number, &op);
                } else {
                    self.waiting.push_back(number);
                    self.fill_cache(now, ends);
                }
            }
            Action::Flush if self.parameters.write_cache_bytes == 0 => {
                self.flush_members(now, number);
            }
            Action::Flush if !self.parameters.write_cache_protected => {
                self.draining.push(number);
                self.after_drain(now);
            }
            _ => self.end_request(now, number, Cause::Link, ends),
        }
    }

    fn start_read(&mut self, now: Time, number: u32, op: &DataOp, ends: &mut Ends) {
        let rows: Vec<(u64, Range)> = self.layout.rows(op.offset, u64::from(op.len)).collect();
        let is_warm = self.parameters.cache_state == CacheState::Warm
            && op.offset + u64::from(op.len) <= self.parameters.write_cache_bytes;
        if is_warm || rows.iter().all(|(row, range)| self.cache.holds(*row, *range)) {
            self.inside.cached_read_units += u64::from(op.len).div_ceil(512);
            self.end_request(now, number, Cause::Link, ends);
            return;
        }
        let mut reads = Vec::new();
        for (row, range) in rows {
            let members = &self.members;
            reads.extend(self.layout.reads(row, range, |first, second| {
                let busy = |op: &MemberOp| {
                    let member = &members[op.member];
                    (member.in_flight, member.last_end.abs_diff(op.offset))
                };
                if busy(&second) < busy(&first) { second } else { first }
            }));
        }
        self.start_job(now, Job::reads(number, reads));
    }

    fn start_write(&mut self, now: Time, number: u32, op: &DataOp) {
        let rows: Vec<(u64, Range)> = self.layout.rows(op.offset, u64::from(op.len)).collect();
        if let Some(request) = self.requests.get_mut(number) {
            request.jobs_left = rows.len();
        }
        for (row, range) in rows {
            let plan = self.layout.write_plan(row, &[range]);
            self.start_job(now, Job::writes(Some(number), row, plan));
        }
    }

    /// Takes waiting writes into the cache as far as there is room.
    fn fill_cache(&mut self, now: Time, ends: &mut Ends) {
        while self.draining.is_empty()
            && let Some(&number) = self.waiting.front()
            && let Some(&mut Request { op, ready_at, .. }) = self.requests.get_mut(number)
            && self.cache.has_room(u64::from(op.len))
        {
            self.waiting.pop_front();
            for (row, range) in self.layout.rows(op.offset, u64::from(op.len)) {
                self.cache.add(now, row, range);
            }
            let waited = now - ready_at > self.parameters.command_ns + self.carry_ns(op.len);
            let cause = if waited { Cause::Buffer } else { Cause::Link };
            self.end_request(now, number, cause, ends);
        }
    }

    /// Writes rows of the cache to the members.
    fn destage(&mut self, now: Time) {
        let all = !self.draining.is_empty();
        while self.destaging < self.parameters.destage_rows
            && let Some((row, ranges)) = self.cache.take(now, all)
        {
            self.destaging += 1;
            let plan = self.layout.write_plan(row, &ranges);
            let mut job = Job::writes(None, row, plan);
            job.cache_bytes = ranges.iter().map(|range| range.hi - range.lo).sum();
            self.start_job(now, job);
        }
    }

    /// Flushes that waited for the cache go on to the members when it is empty.
    fn after_drain(&mut self, now: Time) {
        if self.cache.bytes() == 0 {
            for number in std::mem::take(&mut self.draining) {
                self.flush_members(now, number);
            }
        }
    }

    fn schedule(&mut self) {
        let mut next_at = self.arriving.next_at();
        for member in &self.members {
            next_at = next_at.min(member.next_event());
        }
        if self.destaging < self.parameters.destage_rows
            && let Some(due_at) = self.cache.due_at()
        {
            next_at = next_at.min(due_at);
        }
        self.next_at = next_at;
    }
}

impl<D: Drive> Drive for Array<D> {
    fn bytes(&self) -> u64 {
        self.layout.bytes()
    }

    fn submit_by(&mut self, now: Time, ticket: Ticket, op: &DataOp, way: Way, ends: &mut Ends) {
        self.advance(now, ends);
        let mut ready_at = self.controller_free_at.max(now) + self.parameters.command_ns;
        self.controller_free_at = ready_at;
        if op.action == Action::Write {
            ready_at = self.link_in_free_at.max(ready_at) + self.carry_ns(op.len);
            self.link_in_free_at = ready_at;
        }
        let number = self.requests.put(Request {
            ticket,
            op: *op,
            is_durable: way.is_durable && op.action == Action::Write,
            arrived: now,
            ready_at,
            jobs_left: 1,
            ..Request::default()
        });
        self.arriving.push(ready_at, number, Cause::Unknown);
        self.next_at = self.next_at.min(ready_at);
        self.advance(now, ends);
    }

    fn next_event(&self) -> Time {
        self.next_at
    }

    fn advance(&mut self, now: Time, ends: &mut Ends) {
        while self.next_at <= now {
            let at = self.next_at;
            for index in 0..self.members.len() {
                while let Some(end) = self.members[index].pop(at) {
                    self.member_ended(at, end.ticket, end.cause, ends);
                }
            }
            while let Some(arrival) = self.arriving.pop(at) {
                self.start(at, arrival.ticket, ends);
            }
            self.destage(at);
            self.schedule();
        }
    }

    fn inside(&mut self, now: Time) -> Inside {
        let mut inside = self.inside;
        for member in &mut self.members {
            let own = member.drive.inside(now);
            inside.servers += own.servers;
            inside.host_busy_ns += own.host_busy_ns;
            inside.background_busy_ns += own.background_busy_ns;
        }
        if self.parameters.write_cache_bytes > 0 {
            inside.buffer_fill =
                self.cache.bytes() as f64 / self.parameters.write_cache_bytes as f64;
        }
        inside
    }
}

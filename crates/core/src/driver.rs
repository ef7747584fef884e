//! The step machine: turns one worker's share of a stream into operations, and accounts them.
//!
//! It reads time and submits through [`Queue`]; it never waits, so it runs on real and on virtual
//! drives alike. Between the first and the last operation it allocates nothing.

use crate::arrival::Arrivals;
use crate::content::{self, Fault, Stamp};
use crate::offsets::Offsets;
use crate::op::{Action, Done, Errno, Op, Tag, Time};
use crate::plan::{Engine, PatternName, Reply, Step, Stream, Sync, SyncTiming};
use crate::queue::{Queue, Trouble};
use crate::tally::{Flight, Gap, Keep, Mismatch, Phase, Slow, Slowest, Tally};
use crate::units::Span;
use drivelab_stats::{Random, derive};
use std::collections::VecDeque;

/// Wrong stamps that are described one by one; later ones only count.
const MISMATCHES_MAX: usize = 100;
/// Tallies a driver can fill before one is given back.
const SPARES: usize = 4;

const FLUSH: Op = Op { action: Action::Flush, file: 0, to: 0, offset: 0, len: 0 };

/// What a driver wants next.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub enum Next {
    /// A completion.
    Completion,
    /// To be called again at this time, or at a completion before it.
    Wake(Time),
    /// The completions still in flight; it will issue nothing more until then.
    Drain,
    /// Nothing: all is done.
    Finished,
}

/// An operation that failed, and ended the step.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub struct Failure {
    /// The error, or none for a short transfer.
    pub errno: Option<Errno>,
    /// The operation.
    pub op: Op,
    /// Bytes moved before it failed.
    pub moved: u32,
}

/// What decides the operations of one worker.
#[derive(Debug, Clone)]
pub struct Setup {
    /// Number of the executed step.
    pub step: u32,
    /// Stream within the step.
    pub stream_index: u32,
    /// Worker within the stream.
    pub worker: u32,
    /// The stream.
    pub stream: Stream,
    /// When it ends.
    pub until: crate::plan::Until,
    /// Left out of the measurement.
    pub ramp: Span,
    /// Recording interval.
    pub interval: Span,
    /// CPUs the worker may use.
    pub cpus: String,
    /// Seed of the plan: stamps carry it.
    pub seed: u64,
    /// Bytes of one file.
    pub file_bytes: u64,
}

#[derive(Debug, Clone, Copy, PartialEq, Eq)]
enum Ending {
    Running,
    Flushing,
    Over,
}

/// One worker of one stream in one step.
#[derive(Debug)]
pub struct Driver {
    setup: Setup,
    offsets: Offsets,
    unit: usize,
    arrivals: Option<Arrivals>,
    due_ahead: Option<Arrivals>,
    next_due: Time,
    ahead_due: Time,
    due_count: u64,
    due_issued: u64,
    /// Open loop: no slot was free when it last looked.
    was_full: bool,
    /// Open loop: when the first of the operations in flight was submitted after a rest.
    busy_from: Time,
    operations_max: u64,
    bytes_max: u64,
    free: Vec<Tag>,
    flights: Vec<Flight>,
    replies: VecDeque<(Op, u64)>,
    issued: u64,
    issued_bytes: u64,
    writes: u64,
    flush_pending: bool,
    burst_left: u32,
    think_until: Time,
    opened: Time,
    measured_from: Time,
    end_at: Time,
    clock: Time,
    boundary: Time,
    last_completion: Time,
    last_data: Time,
    last_flush: Time,
    /// The part of `excluded_ns` since the last data I/O.
    trailing_ns: u64,
    first_issue: Time,
    idle: bool,
    stopped: bool,
    ending: Ending,
    excluded_ns: u64,
    slot_of: [u8; 11],
    tally: Box<Tally>,
    #[expect(clippy::vec_box, reason = "tallies pass from hand to hand as they are")]
    spare: Vec<Box<Tally>>,
    ready: VecDeque<Box<Tally>>,
    slowest: Slowest,
    mismatches: Vec<(Op, u64, Fault, Stamp)>,
    failure: Option<Failure>,
    /// Completions bring nothing about: no verification, no reply, no think time.
    plain: bool,
}

/// All drivers of one executed step: streams in order, workers in order.
///
/// # Errors
/// A stream that does not fit a file of `file_bytes`.
pub fn drivers_of(
    step: &Step,
    number: u32,
    seed: u64,
    interval: Span,
    file_bytes: u64,
) -> Result<Vec<Driver>, Trouble> {
    let mut drivers = Vec::new();
    for (stream_index, stream) in (0..).zip(&step.streams) {
        for worker in 0..stream.workers.max(1) {
            drivers.push(Driver::new(Setup {
                step: number,
                stream_index,
                worker,
                stream: stream.clone(),
                until: step.until.clone(),
                ramp: step.ramp,
                interval,
                cpus: step.cpus.clone(),
                seed,
                file_bytes,
            })?);
        }
    }
    Ok(drivers)
}

impl Driver {
    /// A driver ready to be opened.
    ///
    /// # Errors
    /// A stream that does not fit the file.
    pub fn new(setup: Setup) -> Result<Self, Trouble> {
        let stream = &setup.stream;
        let depth = stream.depth.max(1);
        let base = derive(setup.seed, u64::from(setup.step), u64::from(setup.stream_index));
        // Addresses of all workers of a stream share a key where they split one order.
        let offsets = Offsets::new(stream, setup.worker, setup.file_bytes, base)?;
        let arrivals = stream.rate.map(|rate| {
            let seed = derive(base, 0x61_7272_6976, u64::from(setup.worker));
            Arrivals::new(rate, stream.poisson, setup.worker, stream.workers, seed)
        });
        let keep = Keep {
            submit: matches!(stream.engine, Engine::IoUring | Engine::Libaio)
                && stream.pattern != PatternName::Names,
            response: stream.rate.is_some(),
        };
        let kinds = stream.kinds();
        let mut slot_of = [0; 11];
        for (slot, kind) in (0u8..).zip(&kinds) {
            slot_of[kind.index()] = slot;
        }
        let tally = || {
            let (stream, worker) = (setup.stream_index, setup.worker);
            let mut tally = Box::new(Tally::new(setup.step, stream, worker, &kinds, keep));
            tally.prefault();
            tally
        };
        let (operations_max, bytes_max) = limits(&setup, &offsets);
        Ok(Driver {
            unit: content::unit_bytes(stream),
            due_ahead: arrivals.clone(),
            arrivals,
            next_due: 0,
            ahead_due: 0,
            due_count: 0,
            due_issued: 0,
            was_full: false,
            busy_from: Time::MAX,
            operations_max,
            bytes_max,
            free: (0..depth).rev().collect(),
            flights: vec![Flight::default(); depth as usize],
            replies: VecDeque::with_capacity(depth as usize),
            issued: 0,
            issued_bytes: 0,
            writes: 0,
            flush_pending: false,
            burst_left: 0,
            think_until: 0,
            opened: 0,
            measured_from: 0,
            end_at: Time::MAX,
            clock: 0,
            boundary: Time::MAX,
            last_completion: 0,
            last_data: 0,
            last_flush: 0,
            trailing_ns: 0,
            first_issue: Time::MAX,
            idle: true,
            stopped: false,
            ending: Ending::Running,
            excluded_ns: 0,
            slot_of,
            tally: tally(),
            spare: (0..SPARES).map(|_| tally()).collect(),
            ready: VecDeque::with_capacity(SPARES + 2),
            slowest: Slowest::new(),
            mismatches: Vec::with_capacity(MISMATCHES_MAX),
            failure: None,
            plain: !stream.verify && stream.reply.is_none() && stream.think.0 == 0,
            offsets,
            setup,
        })
    }

    /// What it was made from.
    pub fn setup(&self) -> &Setup {
        &self.setup
    }

    /// The stream it serves.
    pub fn stream(&self) -> &Stream {
        &self.setup.stream
    }

    /// Memory a tag needs, in bytes.
    pub fn buffer_bytes(&self) -> usize {
        usize::try_from(self.setup.stream.size_max()).unwrap_or(usize::MAX)
    }

    /// Whether [`Driver::reap`] looks at the data.
    pub fn wants_data(&self) -> bool {
        self.setup.stream.verify
    }

    /// Begins at `at`, the same instant for all drivers of a step.
    pub fn open(&mut self, at: Time) {
        let setup = &self.setup;
        self.opened = at;
        self.clock = at;
        self.measured_from = at + setup.ramp.0;
        self.end_at = setup
            .until
            .elapsed
            .map_or(Time::MAX, |elapsed| self.measured_from.saturating_add(elapsed.0));
        self.boundary = if setup.ramp.0 > 0 {
            self.measured_from
        } else {
            self.measured_from + setup.interval.0
        };
        self.last_completion = at;
        self.think_until = if setup.stream.think_first { at + setup.stream.think.0 } else { at };
        self.tally.clear(at);
        self.tally.ramp = setup.ramp.0 > 0;
        if let Some(arrivals) = &mut self.arrivals {
            self.next_due = at + arrivals.next();
        }
        if let Some(ahead) = &mut self.due_ahead {
            self.ahead_due = at + ahead.next();
        }
    }

    /// Fills the buffers of all tags before time runs.
    pub fn prefill<Q: Queue + ?Sized>(&mut self, queue: &mut Q) {
        if self.setup.stream.pattern == PatternName::Names {
            return;
        }
        let seed = derive(self.setup.seed, 0x63_6f6e_7465, u64::from(self.setup.worker));
        let (step, stream) = (u64::from(self.setup.step), u64::from(self.setup.stream_index));
        let mut random = Random::new(derive(seed, step, stream));
        for tag in 0..self.flights.len() {
            let buffer = queue.buffer(tag as Tag);
            content::prefill(self.setup.stream.content, self.unit, buffer, &mut random);
        }
    }

    /// Stops issuing; what is in flight still counts.
    pub fn stop(&mut self) {
        self.stopped = true;
    }

    /// Submits whatever is due, and says what it waits for.
    ///
    /// # Errors
    /// Whatever the queue refuses.
    #[inline]
    pub fn pump<Q: Queue + ?Sized>(&mut self, queue: &mut Q) -> Result<Next, Trouble> {
        if self.exhausted() {
            return self.wind_up(queue);
        }
        if self.arrivals.is_some() {
            return self.pump_open(queue);
        }
        if self.setup.stream.burst.is_some() || self.setup.stream.think.0 > 0 {
            return self.pump_bursts(queue);
        }
        while !self.free.is_empty() && !self.exhausted() {
            self.issue_next(queue, 0)?;
        }
        Ok(Next::Completion)
    }

    fn pump_open<Q: Queue + ?Sized>(&mut self, queue: &mut Q) -> Result<Next, Trouble> {
        let now = queue.now();
        self.clock = self.clock.max(now);
        if self.exhausted() {
            return self.wind_up(queue);
        }
        if self.free.len() == self.flights.len() {
            self.busy_from = now;
        }
        if self.was_full && now > 0 {
            self.count_backlog(now - 1);
        }
        // Flushes and replies follow their cause at once; they are no arrivals of their own.
        while self.follows() && !self.free.is_empty() && !self.exhausted() {
            self.issue_next(queue, now)?;
        }
        self.was_full = false;
        while self.next_due <= now && self.next_due < self.end_at && !self.exhausted() {
            if self.free.is_empty() {
                self.was_full = true;
                self.count_backlog(now);
                return Ok(Next::Completion);
            }
            self.due_issued += 1;
            let due = self.next_due;
            let late = now - due;
            self.tally.late_ns_sum += late;
            self.tally.late_ns_max = self.tally.late_ns_max.max(late);
            self.issue_next(queue, due)?;
            if self.flush_pending && !self.free.is_empty() {
                self.issue_next(queue, now)?;
            }
            if let Some(arrivals) = &mut self.arrivals {
                self.next_due = self.opened + arrivals.next();
            }
        }
        if self.exhausted() {
            return self.wind_up(queue);
        }
        self.was_full = self.free.is_empty();
        Ok(Next::Wake(self.next_due.min(self.end_at)))
    }

    /// Operations that were due at `now` and had not found a free slot.
    fn count_backlog(&mut self, now: Time) {
        let Some(ahead) = &mut self.due_ahead else { return };
        while self.ahead_due <= now.min(self.end_at - 1) {
            self.due_count += 1;
            self.ahead_due = self.opened + ahead.next();
        }
        let waiting = self.due_count.saturating_sub(self.due_issued);
        self.tally.backlog_max = self.tally.backlog_max.max(waiting);
    }

    fn pump_bursts<Q: Queue + ?Sized>(&mut self, queue: &mut Q) -> Result<Next, Trouble> {
        // Flushes and replies belong to the burst that caused them, and count in none.
        while self.follows() && !self.free.is_empty() && !self.exhausted() {
            self.issue_next(queue, 0)?;
        }
        if self.in_flight() == 0 && self.burst_left == 0 {
            let now = queue.now();
            self.clock = self.clock.max(now);
            if self.exhausted() {
                return self.wind_up(queue);
            }
            if now < self.think_until {
                return Ok(Next::Wake(self.think_until.min(self.end_at)));
            }
            self.burst_left = self.setup.stream.burst.unwrap_or(self.setup.stream.depth);
        }
        while self.burst_left > 0 && !self.free.is_empty() && !self.exhausted() {
            self.burst_left -= 1;
            self.issue_next(queue, 0)?;
            if self.flush_pending && !self.free.is_empty() {
                self.issue_next(queue, 0)?;
            }
        }
        Ok(Next::Completion)
    }

    /// Whether a flush or a reply waits for a slot.
    fn follows(&self) -> bool {
        self.flush_pending || !self.replies.is_empty()
    }

    /// No more operations may be issued (the closing flush apart).
    #[inline]
    fn exhausted(&self) -> bool {
        self.clock >= self.end_at
            || self.issued >= self.operations_max
            || self.issued_bytes >= self.bytes_max
            || self.stopped
            || self.ending != Ending::Running
    }

    fn wind_up<Q: Queue + ?Sized>(&mut self, queue: &mut Q) -> Result<Next, Trouble> {
        if self.in_flight() > 0 {
            return Ok(Next::Drain);
        }
        if self.flush_pending && self.failure.is_none() {
            // The last write called for it.
            self.flush_pending = false;
            let now = queue.now();
            self.submit(queue, FLUSH, 0, now, true)?;
            return Ok(Next::Drain);
        }
        let flush = self.setup.stream.sync == Sync::End && self.writes > 0;
        if self.ending == Ending::Running && flush && self.failure.is_none() {
            self.ending = Ending::Flushing;
            let now = queue.now();
            self.submit(queue, FLUSH, 0, now, true)?;
            return Ok(Next::Drain);
        }
        self.ending = Ending::Over;
        Ok(Next::Finished)
    }

    #[inline]
    fn issue_next<Q: Queue + ?Sized>(&mut self, queue: &mut Q, due: Time) -> Result<(), Trouble> {
        if self.flush_pending {
            self.flush_pending = false;
            return self.submit(queue, FLUSH, 0, due, true);
        }
        if let Some((op, pass)) = self.replies.pop_front() {
            return self.issue(queue, op, pass, due, true);
        }
        let (op, pass) = self.offsets.next();
        self.issue(queue, op, pass, due, false)
    }

    #[inline]
    fn issue<Q: Queue + ?Sized>(
        &mut self,
        queue: &mut Q,
        op: Op,
        pass: u64,
        due: Time,
        is_reply: bool,
    ) -> Result<(), Trouble> {
        self.issued += 1;
        self.issued_bytes += u64::from(op.len);
        if op.action == Action::Write {
            self.writes += 1;
            if let Sync::Fsync(n) | Sync::Fdatasync(n) = self.setup.stream.sync {
                self.flush_pending = self.writes.is_multiple_of(u64::from(n));
            }
            self.fill(queue, op, pass);
        }
        self.submit(queue, op, pass, due, is_reply)
    }

    #[inline]
    fn fill<Q: Queue + ?Sized>(&mut self, queue: &mut Q, op: Op, pass: u64) {
        let Some(tag) = self.free.last() else { return };
        let buffer = &mut queue.buffer(*tag)[..op.len as usize];
        let stream = &self.setup.stream;
        if stream.stamp {
            let pass = stream.pass.unwrap_or(0) + pass;
            let stamp = Stamp { address: op.offset, seed: self.setup.seed, pass };
            content::stamp(self.unit, buffer, stamp);
        } else if stream.content != crate::plan::Content::Zero {
            content::make_unique(self.unit, buffer, op.offset, self.issued);
        }
    }

    #[inline]
    fn submit<Q: Queue + ?Sized>(
        &mut self,
        queue: &mut Q,
        op: Op,
        pass: u64,
        due: Time,
        is_reply: bool,
    ) -> Result<(), Trouble> {
        let Some(tag) = self.free.pop() else {
            return Err(Trouble::failed("no free slot for an operation (a defect of drivelab)"));
        };
        let depth = self.in_flight();
        self.flights[tag as usize] = Flight { op, pass, due, depth, is_reply };
        queue.submit(tag, op)
    }

    /// Operations in flight.
    #[inline]
    pub fn in_flight(&self) -> u32 {
        (self.flights.len() - self.free.len()) as u32
    }

    /// Accounts one completion; `data` is the tag's buffer where [`Driver::wants_data`].
    #[inline]
    pub fn reap(&mut self, done: &Done, data: &[u8]) {
        let flight = self.flights[done.tag as usize];
        self.free.push(done.tag);
        self.clock = done.completed;
        if done.completed >= self.boundary {
            self.close_interval(done.completed);
        }
        // The first to complete need not be the first issued.
        self.first_issue = self.first_issue.min(done.issued);
        let since = if self.idle {
            self.last_completion.max(done.issued.min(self.busy_from))
        } else {
            self.last_completion
        };
        self.last_completion = done.completed;
        self.idle = self.free.len() == self.flights.len();
        let gap = done.completed.saturating_sub(since);
        if gap > self.tally.gap_ns_max {
            self.tally.gap_ns_max = gap;
            self.note_gap(since, done.completed);
        } else if gap >= self.setup.stream.gap_over.0 {
            self.note_gap(since, done.completed);
        }
        self.tally.in_flight_sum += u64::from(flight.depth);
        let open = self.arrivals.is_some();
        let due = if open { flight.due } else { done.issued };
        let slot = self.slot_of[flight.op.action.index()];
        self.tally.kinds[slot as usize].account(done, due);
        let latency_ns = done.completed.saturating_sub(due);
        if !self.tally.ramp && self.slowest.admits(latency_ns) {
            self.keep_slow(&flight, done.issued, latency_ns);
        }
        self.follow_up(&flight, done, data);
    }

    #[cold]
    fn note_gap(&mut self, from: Time, to: Time) {
        if to - from >= self.setup.stream.gap_over.0 {
            self.tally.list_gap(Gap { from, to });
        }
    }

    #[cold]
    fn keep_slow(&mut self, flight: &Flight, issued: Time, latency_ns: u64) {
        self.slowest.offer(Slow {
            latency_ns,
            issued,
            kind: flight.op.action,
            offset: flight.op.offset,
            stream: self.setup.stream_index,
            worker: self.setup.worker,
        });
    }

    /// What a completion brings about: failure, verification, reply, the end of a flush.
    #[inline]
    fn follow_up(&mut self, flight: &Flight, done: &Done, data: &[u8]) {
        let op = flight.op;
        match done.result {
            Err(errno) => return self.fail(Some(errno), op, 0),
            Ok(moved) if moved < op.len => return self.fail(None, op, moved),
            Ok(_) => {}
        }
        if op.action == Action::Flush {
            return self.after_flush(done);
        }
        self.last_data = done.completed;
        if self.plain {
            return;
        }
        if self.setup.stream.verify && op.action == Action::Read {
            self.verify(flight, data);
        }
        if !flight.is_reply
            && let Some(reply) = self.setup.stream.reply
        {
            self.reply(reply, flight);
        }
        if self.setup.stream.think.0 > 0 && self.idle {
            self.think_until = done.completed + self.setup.stream.think.0;
        }
    }

    fn after_flush(&mut self, done: &Done) {
        if self.setup.stream.think.0 > 0 && self.idle {
            self.think_until = done.completed + self.setup.stream.think.0;
        }
        let outside = self.setup.stream.sync_timing == SyncTiming::Outside;
        if outside && self.ending == Ending::Running {
            let from = done.issued.max(self.measured_from);
            let span = done.completed.saturating_sub(from);
            if self.last_data >= self.last_flush {
                self.trailing_ns = 0;
            }
            self.trailing_ns += span;
            self.excluded_ns += span;
        }
        self.last_flush = done.completed;
    }

    #[cold]
    fn fail(&mut self, errno: Option<Errno>, op: Op, moved: u32) {
        self.stopped = true;
        self.failure.get_or_insert(Failure { errno, op, moved });
    }

    fn reply(&mut self, reply: Reply, flight: &Flight) {
        let op = flight.op;
        let action = if op.action == Action::Read { Action::Write } else { Action::Read };
        let region = self.offsets.region();
        let next = op.offset + u64::from(op.len).next_multiple_of(region.slot_bytes);
        let offset = match reply {
            Reply::Same => op.offset,
            Reply::Next if next + u64::from(op.len) <= region.base + region.bytes => next,
            Reply::Next => region.base,
        };
        self.replies.push_back((Op { action, offset, ..op }, flight.pass));
    }

    /// Who only reads expects one pass everywhere; a read that answers a write on the same address
    /// expects the pass of that write; any other read among writes cannot know.
    fn verify(&mut self, flight: &Flight, data: &[u8]) {
        let (stream, op) = (&self.setup.stream, flight.op);
        let writes = stream.mix.write > 0 || stream.reply.is_some();
        let answers = flight.is_reply && stream.reply == Some(Reply::Same);
        let pass_known = stream.pass.is_some() && (answers || !writes);
        for (index, unit) in data[..op.len as usize].chunks_exact(self.unit).enumerate() {
            let expected = Stamp {
                address: op.offset + (index * self.unit) as u64,
                seed: self.setup.seed,
                pass: stream.pass.unwrap_or(0) + if answers { flight.pass } else { 0 },
            };
            self.tally.verified += 1;
            if let Err(fault) = content::check(unit, &expected, pass_known) {
                self.tally.mismatched += 1;
                if self.mismatches.len() < MISMATCHES_MAX {
                    self.mismatches.push((op, expected.address, fault, expected));
                }
            }
        }
    }

    #[cold]
    fn close_interval(&mut self, completed: Time) {
        let interval = self.setup.interval.0.max(1);
        let passed = (completed - self.boundary) / interval;
        let edge = self.boundary;
        // Without a spare the interval goes on: longer, but nothing is lost. The ramp must end.
        if let Some(mut next) = self.spare.pop() {
            next.clear(edge + passed * interval);
            next.ramp = false;
            self.tally.to = edge;
            let full = std::mem::replace(&mut self.tally, next);
            self.ready.push_back(full);
        } else if self.tally.ramp {
            self.tally.clear(edge);
            self.tally.ramp = false;
        }
        self.boundary = edge + (passed + 1) * interval;
    }

    /// The next full interval, oldest first; hand it back with [`Driver::recycle`].
    pub fn take_interval(&mut self) -> Option<Box<Tally>> {
        self.ready.pop_front()
    }

    /// Whether it could use tallies back.
    #[inline]
    pub fn lacks_spares(&self) -> bool {
        self.spare.len() < SPARES / 2
    }

    /// Takes an emptied tally back for reuse.
    pub fn recycle(&mut self, tally: Box<Tally>) {
        self.spare.push(tally);
    }

    /// Counts system calls that the queue made.
    #[inline]
    pub fn note_calls(&mut self, submit: u64, reap: u64) {
        self.tally.submit_calls += submit;
        self.tally.reap_calls += reap;
    }

    /// The last, partial interval and when the driver ran.
    pub fn finish(&mut self, now: Time) -> (Box<Tally>, Phase) {
        let next = self.spare.pop().unwrap_or_else(|| self.tally.clone());
        let mut last = std::mem::replace(&mut self.tally, next);
        last.to = self.last_completion.max(last.from).min(now.max(last.from));
        let outside = self.setup.stream.sync_timing == SyncTiming::Outside;
        let mut closed = self.last_data.max(self.measured_from);
        let mut excluded_ns = self.excluded_ns;
        if !outside {
            closed = closed.max(self.last_flush);
        } else if self.last_flush > self.last_data {
            // Flushes after the last data lie behind the window: nothing to take out of it.
            excluded_ns -= self.trailing_ns;
        }
        let phase = Phase {
            stream: self.setup.stream_index,
            worker: self.setup.worker,
            opened: self.opened,
            measured_from: self.measured_from,
            first: if self.first_issue == Time::MAX { self.opened } else { self.first_issue },
            last: self.last_data,
            closed: if self.setup.stream.rate.is_some() && self.clock >= self.end_at {
                closed.max(self.end_at)
            } else {
                closed
            },
            excluded_ns,
            cpu_ns: None,
            context_switches: None,
            issued: self.issued,
        };
        (last, phase)
    }

    /// The operation that failed and ended the step, if one did.
    pub fn failure(&self) -> Option<Failure> {
        self.failure
    }

    /// The slowest I/Os, slowest first.
    pub fn slowest(&self) -> Vec<Slow> {
        self.slowest.sorted()
    }

    /// Operations that were due before the end and never issued.
    pub fn unissued(&self) -> u64 {
        let Some(mut ahead) = self.due_ahead.clone() else { return 0 };
        if self.issued >= self.operations_max || self.issued_bytes >= self.bytes_max {
            return 0;
        }
        let end = self.end_at.min(self.clock);
        let (mut due, mut count) = (self.ahead_due, self.due_count);
        while due < end {
            count += 1;
            due = self.opened + ahead.next();
        }
        count.saturating_sub(self.due_issued)
    }

    /// Wrong stamps, the first hundred, in words.
    pub fn mismatches(&self) -> Vec<Mismatch> {
        let describe = |(op, offset, fault, expected): &(Op, u64, Fault, Stamp)| Mismatch {
            offset: *offset,
            file: op.file,
            what: fault.describe(expected),
        };
        self.mismatches.iter().map(describe).collect()
    }

    /// The oldest operation in flight, for the watchdog: its action and offset.
    pub fn in_flight_ops(&self) -> Vec<Op> {
        let is_free = |tag: usize| self.free.contains(&(tag as Tag));
        (0..self.flights.len()).filter(|tag| !is_free(*tag)).map(|t| self.flights[t].op).collect()
    }
}

/// Operations and bytes this worker may issue.
fn limits(setup: &Setup, offsets: &Offsets) -> (u64, u64) {
    let (until, stream) = (&setup.until, &setup.stream);
    let workers = u64::from(stream.workers.max(1));
    let share = |total: u64| total / workers + u64::from(u64::from(setup.worker) < total % workers);
    let mut operations = until.operations.map_or(u64::MAX, share);
    let mut bytes = until.bytes.map_or(u64::MAX, |bytes| {
        let size = stream.size_max().max(1);
        if stream.sizes.is_empty() { share(bytes.0 / size) * size } else { share(bytes.0) }
    });
    if let Some(passes) = until.passes {
        match offsets.pass_operations() {
            Some(one) => operations = operations.min(one.saturating_mul(passes)),
            None => {
                let shared = stream.sharing() == crate::plan::Sharing::Shared
                    && stream.files == crate::plan::Files::One;
                let size = stream.size_max().max(1);
                let one = offsets.region().bytes / size * size;
                let one = if shared { share(one / size) * size } else { one };
                bytes = bytes.min(one.saturating_mul(passes));
            }
        }
    }
    if until.elapsed.is_none() && operations == u64::MAX && bytes == u64::MAX {
        operations = offsets.pass_operations().unwrap_or(0);
    }
    (operations, bytes)
}

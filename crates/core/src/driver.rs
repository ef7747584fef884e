//! The step machine: turns one worker's share of a stream into operations, and accounts them.
//!
//! It reads time and submits through [`Queue`]; it never waits, so it runs on real and on virtual
//! drives alike. Between the first and the last operation it allocates nothing.

mod account;
mod issue;
mod leave;

use crate::anatomy::Stamped;
use crate::arrival::Arrivals;
use crate::content::{self, Fault, Stamp};
use crate::offsets::Offsets;
use crate::op::{Action, Errno, Op, Tag, Time};
use crate::plan::{Engine, Step, Stream};
use crate::queue::{Queue, Trouble};
use crate::tally::{Flight, Keep, Slowest, Tally};
use crate::units::Span;
use drivelab_stats::{Domain, Random, derive};
use std::collections::VecDeque;

/// Wrong stamps that are described one by one; later ones only count.
const MISMATCHES_MAX: usize = 100;
/// Tallies a driver can fill before one is given back.
const SPARES: usize = 4;

/// Operations drawn ahead for a queue that looks ahead.
const AHEAD: usize = 32;

/// The flush of one of the worker's files.
fn flush_of(file: u32) -> Op {
    Op { action: Action::Flush, file, ..Op::default() }
}

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

impl Setup {
    /// What everything random of it derives from.
    fn base(&self) -> u64 {
        match self.stream.order {
            Some(order) => Domain::PlanOrder.seed(order, 0),
            None => derive(self.seed, u64::from(self.step), u64::from(self.stream_index)),
        }
    }
}

#[derive(Debug, Clone, Copy, PartialEq, Eq)]
enum Ending {
    Running,
    Flushing,
    Over,
}

/// Operations drawn ahead, a ring of two halves.
#[derive(Debug, Default)]
struct Ahead {
    ops: [Op; AHEAD],
    passes: [u64; AHEAD],
    at: usize,
    has_begun: bool,
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
    /// Bytes issued at which the next pass begins, where cached pages are dropped before each.
    pass_end: u64,
    free: Vec<Tag>,
    flights: Vec<Flight>,
    replies: VecDeque<(Op, u64)>,
    issued: u64,
    issued_bytes: u64,
    writes: u64,
    flush_pending: bool,
    /// The file whose flush is pending, or that is flushed last at the end.
    flush_file: u32,
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
    ahead: Ahead,
    tally: Box<Tally>,
    #[expect(clippy::vec_box, reason = "tallies pass from hand to hand as they are")]
    spare: Vec<Box<Tally>>,
    ready: VecDeque<Box<Tally>>,
    slowest: Slowest,
    mismatches: Vec<(Op, u64, Fault, Stamp)>,
    failure: Option<Failure>,
    /// Stamps of single I/Os, where they are wanted; its memory is there before the first I/O.
    stamps: Vec<Stamped>,
    /// I/Os that found no room in it.
    unstamped: u64,
    is_stamping: bool,
    /// Completions bring nothing about: no verification, reply, think time or stamp of their own.
    plain: bool,
}

/// All drivers of one executed step: streams in order, workers in order.
///
/// # Errors
/// A stream that does not fit a file of `file_bytes`.
///
/// ```
/// use drivelab_core::driver::drivers_of;
/// use drivelab_core::plan::{Step, Stream};
/// use drivelab_core::units::{Size, Span};
///
/// let stream = Stream { workers: 3, size: Size(4096), depth: 1, ..Stream::default() };
/// let step = Step { streams: vec![stream], ..Step::default() };
/// let drivers = drivers_of(&step, 0, 42, Span(1_000_000_000), 1 << 20)?;
/// assert_eq!(drivers.len(), 3);
/// assert_eq!(drivers[2].setup().worker, 2);
/// assert!(drivers_of(&step, 0, 42, Span(1_000_000_000), 4096).is_err(), "too small for three");
/// # Ok::<(), drivelab_core::queue::Trouble>(())
/// ```
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
                until: step.until_of(stream).clone(),
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

/// Where a tally of these kinds has each of them.
fn slots(kinds: &[Action]) -> [u8; 11] {
    let mut slot_of = [0; 11];
    for (slot, kind) in (0u8..).zip(kinds) {
        slot_of[kind.index()] = slot;
    }
    slot_of
}

/// The times that a tally of this stream keeps besides the latency.
fn kept(stream: &Stream) -> Keep {
    Keep {
        submit: matches!(stream.engine, Engine::IoUring | Engine::Libaio) && !stream.is_metadata(),
        response: stream.is_open(),
    }
}

impl Driver {
    /// A driver ready to be opened.
    ///
    /// # Errors
    /// A stream that does not fit the file.
    pub fn new(setup: Setup) -> Result<Self, Trouble> {
        let (stream, depth, base) = (&setup.stream, setup.stream.depth.max(1), setup.base());
        // Addresses of all workers of a stream share a key where they split one order.
        let offsets = Offsets::new(stream, setup.worker, setup.file_bytes, base)?;
        let arrivals = Arrivals::of(stream, setup.worker, base);
        let keep = kept(stream);
        let kinds = stream.kinds();
        let tally = || {
            let (stream, worker) = (setup.stream_index, setup.worker);
            let mut tally = Box::new(Tally::new(setup.step, stream, worker, &kinds, keep));
            tally.prefault();
            tally
        };
        let (operations_max, bytes_max) = leave::limits(&setup, &offsets);
        let pass_bytes = offsets.region().bytes.max(1);
        Ok(Driver {
            unit: stream.stamp_unit_bytes(),
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
            flush_file: 0,
            pass_end: if stream.drop_cached_each_pass { pass_bytes } else { u64::MAX },
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
            slot_of: slots(&kinds),
            ahead: Ahead::default(),
            tally: tally(),
            spare: (0..SPARES).map(|_| tally()).collect(),
            ready: VecDeque::with_capacity(SPARES + 2),
            slowest: Slowest::new(),
            mismatches: Vec::with_capacity(MISMATCHES_MAX),
            failure: None,
            stamps: Vec::new(),
            unstamped: 0,
            is_stamping: false,
            plain: !stream.verify && stream.reply.is_none() && stream.think_time().0 == 0,
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
        self.think_until = if setup.stream.arrival.think().is_some_and(|think| think.first) {
            at + setup.stream.think_time().0
        } else {
            at
        };
        self.tally.clear(at);
        self.tally.ramp = setup.ramp.0 > 0;
        if let Some(arrivals) = &mut self.arrivals {
            self.next_due = at + arrivals.next();
        }
        if let Some(ahead) = &mut self.due_ahead {
            self.ahead_due = at + ahead.next();
        }
    }

    /// Keeps the stamps of the first `room` I/Os after the ramp, one by one.
    pub fn keep_stamps(&mut self, room: usize) {
        // Written once, so that no first use of a page falls into a measurement.
        self.stamps = vec![Stamped { issued: 1, ..Stamped::default() }; room];
        self.stamps.clear();
        self.is_stamping = true;
        self.plain = false;
    }

    /// Leaves submit latencies out: in virtual time a submitting call takes none.
    pub fn without_submit_latency(&mut self) {
        for tally in self.spare.iter_mut().chain([&mut self.tally]) {
            tally.kinds.iter_mut().for_each(|kind| kind.submit = None);
        }
    }

    /// Fills the buffers of all tags before time runs.
    pub fn prefill<Q: Queue + ?Sized>(&mut self, queue: &mut Q) {
        if self.setup.stream.is_metadata() {
            return;
        }
        let seed = Domain::Content.seed(self.setup.seed, u64::from(self.setup.worker));
        let (step, stream) = (u64::from(self.setup.step), u64::from(self.setup.stream_index));
        let mut random = Random::new(derive(seed, step, stream));
        for tag in 0..self.flights.len() {
            let buffer = queue.buffer(tag as Tag);
            content::prefill(self.setup.stream.content, self.unit, buffer, &mut random);
        }
    }

    /// Bytes of the operation in flight under `tag`.
    #[inline]
    pub fn length_of(&self, tag: Tag) -> u32 {
        self.flights[tag as usize].op.len
    }

    /// Stops issuing; what is in flight still counts.
    pub fn stop(&mut self) {
        self.stopped = true;
    }
}

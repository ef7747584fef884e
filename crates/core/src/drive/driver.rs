//! The step machine: turns one worker's share of a stream into operations, and accounts them.
//!
//! It reads time and submits through [`Queue`]; it never waits, so it runs on real and on virtual
//! drives alike. Between the first and the last operation it allocates nothing.

mod account;
mod floor;
mod issue;
mod leave;
mod parts;
#[cfg(test)]
mod tests;

use crate::arrival::Arrivals;
use crate::content;
use crate::drive::priorities::Priorities;
use crate::flow::{Group, Member};
use crate::offsets::Offsets;
use crate::op::{Action, DataOp, Errno, Op, Tag, Time};
use crate::plan::{Content, Step, Stream};
use crate::queue::{Queue, Trouble};
use crate::repeated;
use crate::tally::Keep;
use crate::units::Span;
use drivelab_stats::{Domain, Random, derive};
use floor::Floor;
use parts::{
    Ahead, Appends, Blocks, Book, Bounds, Bursts, Clockwork, Flushes, OpenLoop, Slots, Stamping,
};
use std::collections::BTreeMap;
use std::sync::Arc;

/// Wrong stamps that are described one by one; later ones only count.
const MISMATCHES_MAX: usize = 100;
/// Tallies a driver can fill before one is given back.
const SPARES: usize = 4;

/// Operations drawn ahead for a queue that looks ahead.
const AHEAD: usize = 32;

/// The flush of one of the worker's files.
fn flush_of(file: u32) -> Op {
    Op::Data(DataOp { action: Action::Flush, file, ..DataOp::default() })
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

/// One worker of one stream in one step.
#[derive(Debug)]
pub struct Driver {
    setup: Setup,
    offsets: Offsets,
    ahead: Ahead,
    /// Absent in a closed loop.
    open_loop: Option<OpenLoop>,
    /// Absent where it submits whenever a slot is free.
    bursts: Option<Bursts>,
    /// Absent where nothing is appended to zones.
    appends: Option<Appends>,
    /// Absent where it keeps no ratio to others.
    flow: Option<Member>,
    /// Absent where it may be as slow as it is.
    floor: Option<Floor>,
    /// It submits whenever a slot is free, and waits for nothing else: none of these four.
    is_unpaced: bool,
    /// Absent where all requests have the priority of their thread.
    priorities: Option<Priorities>,
    flushes: Flushes,
    bounds: Bounds,
    slots: Slots,
    clock: Clockwork,
    /// Absent where no stamps of single I/Os are wanted.
    stamping: Option<Stamping>,
    blocks: Blocks,
    book: Book,
    failure: Option<Failure>,
    /// Something that cannot be was seen while a completion was accounted.
    defect: Option<&'static str>,
    /// Completions bring nothing about: no verification, reply, think time, least rate or stamp of
    /// their own.
    is_plain: bool,
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
    let mut groups: BTreeMap<u32, Arc<Group>> = BTreeMap::new();
    for (stream_index, stream) in (0..).zip(&step.streams) {
        for worker in 0..stream.workers.max(1) {
            let mut driver = Driver::new(Setup {
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
            })?;
            if let Some(flow) = stream.flow {
                driver.keep_ratio(Member::new(
                    flow,
                    Arc::clone(groups.entry(flow.group).or_default()),
                ));
            }
            drivers.push(driver);
        }
    }
    Ok(drivers)
}

/// The times that a tally of this stream keeps besides the latency.
fn kept(stream: &Stream) -> Keep {
    Keep {
        submit: stream.engine.is_asynchronous() && !stream.is_metadata(),
        completion: stream.keep_completion
            && stream.engine.is_asynchronous()
            && !stream.is_metadata(),
        response: stream.is_open(),
        held: stream.takes_turns(),
        commit: stream.commits(),
    }
}

impl Driver {
    /// A driver ready to be opened.
    ///
    /// # Errors
    /// A stream that does not fit the file.
    pub fn new(setup: Setup) -> Result<Self, Trouble> {
        let (stream, base) = (&setup.stream, setup.base());
        // Addresses of all workers of a stream share a key where they split one order.
        let offsets = Offsets::new(stream, setup.worker, setup.file_bytes, base)?;
        let open_loop = Arrivals::of(stream, setup.worker, base).map(OpenLoop::new);
        let (bursts, appends) = (Bursts::of(stream), stream.zone_append.then(Appends::default));
        Ok(Driver {
            is_unpaced: open_loop.is_none() && bursts.is_none() && appends.is_none(),
            open_loop,
            bursts,
            appends,
            flow: None,
            priorities: Priorities::of(stream, setup.worker, base),
            floor: setup.until.rate_min.as_ref().map(Floor::new),
            flushes: Flushes::new(),
            bounds: leave::bounds(&setup, &offsets),
            slots: Slots::new(stream.depth.max(1), stream.reply_after.unwrap_or(1)),
            clock: Clockwork::new(),
            stamping: None,
            blocks: Blocks::new(&setup),
            book: Book::new(&setup),
            failure: None,
            defect: None,
            is_plain: !stream.verify
                && stream.reply.is_none()
                && stream.arrival.think().is_none()
                && !stream.commits()
                && setup.until.rate_min.is_none(),
            ahead: Ahead::default(),
            offsets,
            setup,
        })
    }

    /// Has no more than its share in what a group issues, from its beginning on.
    fn keep_ratio(&mut self, mut member: Member) {
        // Who begins with the step is waited for from the first operation on.
        if self.setup.stream.start_after.0 == 0 {
            member.join();
        }
        self.flow = Some(member);
        self.is_unpaced = false;
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
        usize::try_from(self.setup.stream.memory_max()).unwrap_or(usize::MAX)
    }

    /// Whether [`Driver::reap`] looks at the data.
    pub fn wants_data(&self) -> bool {
        self.setup.stream.verify
    }

    /// Begins at `at`, the same instant for all drivers of a step.
    pub fn open(&mut self, at: Time) {
        debug_assert!(self.bounds.issued == 0, "a driver is opened once");
        let (setup, clock) = (&self.setup, &mut self.clock);
        let at = at.saturating_add(setup.stream.start_after.0);
        clock.is_ahead = setup.stream.start_after.0 > 0;
        clock.opened = at;
        clock.now = at;
        clock.measured_from = at + setup.ramp.0;
        self.bounds.end_at = setup
            .until
            .elapsed
            .map_or(Time::MAX, |elapsed| clock.measured_from.saturating_add(elapsed.0));
        clock.boundary = if setup.ramp.0 > 0 {
            clock.measured_from
        } else {
            clock.measured_from + setup.interval.0
        };
        clock.last_completion = at;
        if let Some(floor) = &mut self.floor {
            floor.open(clock.measured_from);
        }
        let first_think = setup.stream.arrival.think().filter(|think| think.first);
        if let Some(bursts) = &mut self.bursts {
            bursts.think_until = at + first_think.map_or(0, |think| think.time.0);
        }
        self.book.tally.clear(at);
        self.book.tally.ramp = setup.ramp.0 > 0;
        if let Some(open) = &mut self.open_loop {
            open.open(at);
        }
    }

    /// Keeps the stamps of the first `room` I/Os after the ramp, one by one.
    pub fn keep_stamps(&mut self, room: usize) {
        self.stamping = Some(Stamping::new(room));
        self.is_plain = false;
    }

    /// Leaves submit latencies out: in virtual time a submitting call takes none.
    pub fn without_submit_latency(&mut self) {
        let book = &mut self.book;
        for tally in book.spare.iter_mut().chain([&mut book.tally]) {
            tally.kinds.iter_mut().for_each(|kind| (kind.submit, kind.completion) = (None, None));
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
        let of = &self.setup.stream;
        for tag in 0..self.slots.count() {
            let buffer = queue.buffer(tag as Tag);
            if let Some(data) = &of.data {
                repeated::fill(data, buffer, 0);
            } else if let Content::Counting(first) = of.content {
                content::count_up(first, of.part_of(self.setup.worker), buffer);
            } else {
                content::prefill(of.content, self.blocks.unit_bytes, buffer, &mut random);
            }
        }
        let (reads, writes) = (of.mix.read > 0, of.mix.write > 0);
        if of.engine.moves_data() && (reads && writes || of.reply.is_some()) {
            self.blocks.template = queue.buffer(0).to_vec();
        }
    }

    /// Bytes of the operation in flight under `tag`.
    #[inline]
    pub fn length_of(&self, tag: Tag) -> u32 {
        self.slots.flight(tag).op.bytes()
    }

    /// Stops issuing; what is in flight still counts.
    pub fn stop(&mut self) {
        self.bounds.is_stopped = true;
    }

    /// Ends the step as a defect: what was counted so far cannot be trusted.
    #[cold]
    fn note_defect(&mut self, what: &'static str) {
        self.defect.get_or_insert(what);
        self.stop();
    }
}

//! Where drivers meet a simulated drive: one loop that advances a virtual clock to the earliest
//! thing that happens.

mod acts;
mod line;
mod watched;

use crate::drive::{Drive, End, Ends, Route, Ticket, Way};
use drivelab_core::defect::ended_by_defects;
use drivelab_core::driver::{Driver, Next};
use drivelab_core::endings::{Endings, OtherRanks};
use drivelab_core::facts::Facts;
use drivelab_core::inside::{Inside, InsideInterval};
use drivelab_core::op::{Done, Errno, Op, Tag, Time};
use drivelab_core::plan::{Act, IoMode, QueueSetting, SettingChange, Stream, Sync};
use drivelab_core::queue::{Finished, Queue, Sink, Testbed, Trouble};
use drivelab_core::stages::KindStages;
use line::Line;
use std::collections::BTreeMap;
use watched::Watched;

/// Events between two questions whether to go on.
const EVENTS_PER_QUESTION: u32 = 4096;

/// A simulated drive and its virtual clock, which goes on between steps.
///
/// ```
/// use drivelab_core::facts::Facts;
/// use drivelab_core::plan::Act;
/// use drivelab_core::queue::Testbed;
/// use drivelab_core::units::Span;
/// use drivelab_sim::disk::{Disk, DiskParameters};
/// use drivelab_sim::profile::Profile;
/// use drivelab_sim::testbed::SimTestbed;
///
/// let parameters: DiskParameters = Profile::embedded("momentus-7200")?.section("parameters")?;
/// let mut bed = SimTestbed::new(Disk::new(parameters, 1)?, Facts::default());
/// // An hour of rest passes at once.
/// bed.act(&Act::Idle(Span(3_600_000_000_000))).expect("time is virtual").expect("it may rest");
/// # Ok::<(), String>(())
/// ```
#[derive(Debug)]
pub struct SimTestbed<D> {
    facts: Facts,
    drive: D,
    ends: Ends,
    now: Time,
    /// Files that were opened: each worker of each step has one of its own.
    opened: u32,
    /// Operations come through the file system of the host.
    is_mounted: bool,
    /// Settings of the queue in front of it that were changed.
    queue: BTreeMap<QueueSetting, String>,
    /// Where the time of operations goes, where somebody asks.
    watched: Option<Watched>,
}

/// The way of one worker to the drive.
struct Lead<'a, D> {
    now: Time,
    drive: &'a mut D,
    ends: &'a mut Ends,
    issued: &'a mut [Time],
    first_ticket: Ticket,
    way: Way,
    has_names: bool,
    line: Option<&'a mut Line>,
    buffer: &'a mut [u8],
}

impl<D: Drive> Queue for Lead<'_, D> {
    #[inline]
    fn now(&self) -> Time {
        self.now
    }

    #[inline]
    fn buffer(&mut self, _tag: Tag) -> &mut [u8] {
        self.buffer
    }

    #[inline(always)]
    fn submit(&mut self, tag: Tag, op: Op) -> Result<(), Trouble> {
        // By reference: a copy of each operation is what a simulated drive would feel.
        let Op::Data(op) = &op else { return self.submit_name(tag, op) };
        let ticket = self.first_ticket + tag;
        self.issued[ticket as usize] = self.now;
        if let Some(line) = &mut self.line
            && !line.admits(ticket, op)
        {
            return Ok(());
        }
        self.drive.submit_by(self.now, ticket, op, self.way, self.ends);
        Ok(())
    }

    #[inline]
    fn looks_ahead(&self) -> bool {
        true
    }

    #[inline]
    fn hint(&mut self, ops: &[Op]) {
        self.drive.hint(ops);
    }

    fn drop_cached(&mut self) -> Result<(), Trouble> {
        self.drive.forget_pages();
        Ok(())
    }

    #[inline]
    fn keeps_content(&self) -> bool {
        false
    }
}

impl<D: Drive> Lead<'_, D> {
    #[cold]
    fn submit_name(&mut self, tag: Tag, op: Op) -> Result<(), Trouble> {
        let Op::Name(name) = &op else { return Err(op.misplaced("names")) };
        if !self.has_names {
            return Err(op.misplaced("data"));
        }
        let ticket = self.first_ticket + tag;
        self.issued[ticket as usize] = self.now;
        self.drive.submit_name(self.now, ticket, name, self.way, self.ends);
        Ok(())
    }
}

struct Worker {
    driver: Driver,
    has_names: bool,
    first_ticket: Ticket,
    way: Way,
    /// Where its calls wait, as those of libaio through the page cache do.
    line: Option<Box<Line>>,
    wake: Time,
    finished: bool,
}

/// Everything of one step while it runs.
struct Step {
    workers: Vec<Worker>,
    /// Which worker a ticket belongs to.
    worker_of: Vec<u32>,
    issued: Vec<Time>,
    buffer: Vec<u8>,
    finished: usize,
    /// Something was handed over that may end a worker.
    is_watched: bool,
    number: u32,
    interval_ns: u64,
    interval_from: Time,
    inside_from: Inside,
}

impl Step {
    /// Stamps that the worker of a ticket has kept so far.
    fn stamps_of(&self, ticket: Ticket) -> usize {
        self.workers[self.worker_of[ticket as usize] as usize].driver.latest_stamp().0
    }
}

impl<D: Drive> SimTestbed<D> {
    /// A drive at virtual time zero.
    pub fn new(drive: D, facts: Facts) -> Self {
        let (ends, queue) = (Ends::default(), BTreeMap::new());
        let watched = None;
        SimTestbed { facts, drive, ends, now: 0, opened: 0, is_mounted: false, queue, watched }
    }

    /// The drive.
    pub fn drive(&self) -> &D {
        &self.drive
    }

    /// The present.
    pub fn now(&self) -> Time {
        self.now
    }

    fn begin(&mut self, drivers: Vec<Driver>) -> Step {
        let mut step = Step {
            workers: Vec::with_capacity(drivers.len()),
            worker_of: Vec::new(),
            issued: Vec::new(),
            buffer: vec![0; drivers.iter().map(Driver::buffer_bytes).max().unwrap_or(0)],
            finished: 0,
            is_watched: false,
            number: drivers.first().map_or(0, |driver| driver.setup().step),
            interval_ns: drivers.first().map_or(0, |driver| driver.setup().interval.0).max(1),
            interval_from: self.now,
            inside_from: self.drive.inside(self.now),
        };
        for (index, mut driver) in drivers.into_iter().enumerate() {
            let first_ticket = step.issued.len() as Ticket;
            let tickets = step.issued.len() + driver.stream().depth.max(1) as usize;
            step.issued.resize(tickets, 0);
            step.worker_of.resize(tickets, index as u32);
            driver.without_submit_latency();
            driver.open(self.now);
            let way = way_of(driver.stream(), self.opened);
            self.opened += 1;
            let wake = self.now;
            let waits = driver.stream().engine.traits().waits_when_buffered;
            let has_names = self.drive.open_names(way.reader, driver.setup());
            let is_line = waits && way.route == Route::Buffered && !has_names;
            let line = is_line.then(Box::default);
            step.workers.push(Worker {
                driver,
                has_names,
                first_ticket,
                way,
                line,
                wake,
                finished: false,
            });
        }
        step
    }

    /// Lets the workers submit what is due; returns when the next wants to be asked.
    #[inline(always)]
    fn pump(
        &mut self,
        step: &mut Step,
        endings: &mut Endings,
        sink: &mut dyn Sink,
    ) -> Result<Time, Trouble> {
        let mut wake = Time::MAX;
        for (index, worker) in step.workers.iter_mut().enumerate() {
            if worker.wake <= self.now {
                let mut lead = Lead {
                    now: self.now,
                    drive: &mut self.drive,
                    ends: &mut self.ends,
                    issued: &mut step.issued,
                    first_ticket: worker.first_ticket,
                    way: worker.way,
                    has_names: worker.has_names,
                    line: worker.line.as_deref_mut(),
                    buffer: &mut step.buffer,
                };
                worker.wake = match worker.driver.pump(&mut lead)? {
                    Next::Wake(at) => at,
                    Next::Completion | Next::Drain => Time::MAX,
                    Next::Finished => {
                        worker.finished = true;
                        step.finished += 1;
                        debug_assert!(
                            worker.driver.in_flight() == 0,
                            "it left something in flight"
                        );
                        debug_assert!(step.finished <= step.worker_of.len(), "finished twice");
                        Time::MAX
                    }
                };
                while let Some(tally) = worker.driver.take_interval() {
                    sink.tally(&tally);
                    step.is_watched |= endings.take(&tally);
                    worker.driver.recycle(tally);
                }
                if let Some(operations) = worker.driver.has_come_to() {
                    endings.note_way(index, Some(operations));
                    step.is_watched = true;
                }
            }
            wake = wake.min(worker.wake);
        }
        self.ends.settle();
        Ok(wake)
    }

    /// Hands one end to the worker that waits for it, and returns that.
    #[inline(always)]
    fn reap(step: &mut Step, end: End, failure: Option<Errno>) -> &mut Worker {
        let index = step.worker_of[end.ticket as usize] as usize;
        let worker = &mut step.workers[index];
        let issued = step.issued[end.ticket as usize];
        debug_assert!(issued <= end.at, "{end:?} ended before it was issued at {issued}");
        debug_assert!(!worker.finished, "{end:?} came for a worker that has finished");
        let tag = end.ticket - worker.first_ticket;
        let len = worker.driver.length_of(tag);
        worker.driver.reap(
            &Done {
                tag,
                issued,
                submitted: issued,
                completed: end.at,
                result: failure.map_or(Ok(len), Err),
                cause: end.cause,
            },
            &[],
        );
        worker.wake = end.at;
        worker
    }

    /// Hands over what went on inside, at the end of each interval.
    fn look_inside(&mut self, step: &mut Step, sink: &mut dyn Sink) {
        let now = self.drive.inside(self.now);
        if self.now > step.interval_from {
            sink.inside(&InsideInterval {
                step: step.number,
                from: step.interval_from,
                to: self.now,
                inside: now.since(&step.inside_from),
            });
        }
        debug_assert!(self.now >= step.interval_from, "an interval ends before it began");
        step.interval_from = self.now;
        step.inside_from = now;
    }

    /// Runs until every driver has finished.
    fn advance<const WATCHED: bool>(
        &mut self,
        step: &mut Step,
        sink: &mut dyn Sink,
    ) -> Result<(), Trouble> {
        let mut endings =
            Endings::new(step.workers.iter().map(|worker| &worker.driver), OtherRanks::NONE);
        let mut finished = 0;
        let mut events = 0;
        loop {
            let wake = self.pump(step, &mut endings, sink)?;
            if step.finished > finished || step.is_watched {
                let has_ended = step.finished > finished;
                finished = step.finished;
                step.is_watched = false;
                let go_on = endings.to_go_on();
                for (index, operations) in &go_on {
                    let worker = &mut step.workers[*index];
                    worker.driver.go_on_to(*operations);
                    worker.wake = if worker.finished { Time::MAX } else { self.now };
                }
                let stopped = endings.to_stop(|index| step.workers[index].finished);
                for index in &stopped {
                    step.workers[*index].driver.stop();
                    step.workers[*index].wake = self.now;
                }
                if finished == step.workers.len() {
                    return Ok(());
                }
                if has_ended || !stopped.is_empty() || !go_on.is_empty() {
                    continue;
                }
            }
            events += 1;
            if events % EVENTS_PER_QUESTION == 0 && !sink.go_on() {
                for worker in &mut step.workers {
                    worker.driver.stop();
                    worker.wake = if worker.finished { Time::MAX } else { self.now };
                }
                continue;
            }
            self.go_to_next::<WATCHED>(step, sink, wake)?;
        }
    }

    /// Moves the clock to the next thing that happens, and lets it happen; `wake`: when the next
    /// worker wants to be asked.
    #[inline]
    fn go_to_next<const WATCHED: bool>(
        &mut self,
        step: &mut Step,
        sink: &mut dyn Sink,
        wake: Time,
    ) -> Result<(), Trouble> {
        let next = wake.min(self.ends.next_at()).min(self.drive.next_event());
        if next == Time::MAX {
            return Err(Trouble::defect(
                "no operation is in flight on the simulated drive and none is due",
            ));
        }
        debug_assert!(next >= self.now || wake <= self.now, "time goes back to {next}");
        self.now = self.now.max(next);
        if self.now >= step.interval_from + step.interval_ns {
            self.look_inside(step, sink);
        }
        if self.drive.next_event() <= self.now {
            self.drive.advance(self.now, &mut self.ends);
        }
        // One at a time: what ends at once is answered one by one.
        if let Some(end) = self.ends.take(self.now) {
            debug_assert!(end.at <= self.now, "{end:?} is told before it has happened");
            let before = if WATCHED { step.stamps_of(end.ticket) } else { 0 };
            let failure = self.drive.failure_of(end.ticket);
            let worker = Self::reap(step, end, failure);
            if WATCHED && let Some(watched) = &mut self.watched {
                watched.note(&worker.driver, before, self.ends.take_staged(end.ticket));
            }
            if let Some(line) = &mut worker.line
                && let Some((ticket, op)) = line.after(end.ticket)
            {
                self.ends.settle();
                self.drive.submit_by(self.now, ticket, &op, worker.way, &mut self.ends);
            }
        }
        Ok(())
    }
}

impl<D: Drive> Testbed for SimTestbed<D> {
    fn facts(&self) -> &Facts {
        &self.facts
    }

    fn run(&mut self, drivers: Vec<Driver>, sink: &mut dyn Sink) -> Result<Vec<Finished>, Trouble> {
        let mut step = self.begin(drivers);
        ended_by_defects(|| match self.watched {
            None => self.advance::<false>(&mut step, sink),
            Some(_) => self.advance::<true>(&mut step, sink),
        })?;
        self.look_inside(&mut step, sink);
        let now = self.now;
        let leave = |mut worker: Worker| {
            while let Some(tally) = worker.driver.take_interval() {
                sink.tally(&tally);
                worker.driver.recycle(tally);
            }
            let (last, phase) = worker.driver.finish(now);
            if last.ops() > 0 || last.error_count() > 0 {
                sink.tally(&last);
            }
            Finished { driver: worker.driver, phase }
        };
        Ok(step.workers.into_iter().map(leave).collect())
    }

    fn act(&mut self, act: &Act) -> Option<Result<Option<SettingChange>, Trouble>> {
        match act {
            Act::Purge(_) => return Some(self.purge().map(|()| None)),
            Act::Queue { setting, value } => {
                return Some(self.set_queue(*setting, value).map(Some));
            }
            Act::WriteCache(_) => {
                let text = "a simulated drive has no command that sets its write cache; choose \
                            another profile, or set its buffer in the target's name";
                return Some(Err(Trouble::usage(text)));
            }
            Act::Idle(span) => self.pass(self.now + span.0),
            Act::DropCaches => self.drop_caches(),
            Act::Mkfs(_) | Act::Allocate | Act::Find(_) => {}
            Act::Mount(_) => self.mount(true),
            Act::Unmount => self.mount(false),
            // The file lets go of its blocks, and the drive is not told.
            Act::Trim { .. } if self.is_mounted => {}
            Act::Trim { offset, length } => {
                let rest = self.drive.bytes().saturating_sub(offset.0);
                self.trim(offset.0, length.map_or(rest, |length| length.0.min(rest)));
            }
        }
        Some(Ok(None))
    }

    fn inside(&mut self) -> Option<Inside> {
        Some(self.drive.inside(self.now))
    }

    fn watch_stages(&mut self, is_watched: bool) {
        self.watched = is_watched.then(|| Watched::new(&self.facts));
        self.ends.keep_stages(is_watched);
        self.drive.watch_stages(is_watched);
    }

    fn take_stages(&mut self) -> Vec<KindStages> {
        self.watched.as_mut().map_or_else(Vec::new, Watched::take)
    }
}

/// How worker number `reader` of a stream goes to the drive.
fn way_of(stream: &Stream, reader: u32) -> Way {
    let traits = stream.engine.traits();
    let route = match stream.io {
        _ if traits.is_mapping => Route::Mapped,
        IoMode::Direct if !traits.is_through_page_cache => Route::Direct,
        IoMode::Direct | IoMode::Buffered => Route::Buffered,
    };
    Way { route, is_durable: stream.sync == Sync::Dsync, reader }
}

//! Drivers on a real kernel: one thread a worker, one thread that watches and collects.

use crate::buffer::Buffers;
use crate::channel::{Receiver, RecvTimeoutError, SyncSender, sync_channel};
use crate::clock::Clock;
use crate::cpus;
use crate::engine::{Engine, Opened};
use crate::facts as machine;
use crate::names::{Held, Names, NamesRing, Owner};
use crate::null::Null;
use crate::queues::{Place, WithQueue, on_queue};
use crate::ranks::Ranks;
use crate::sync::SyncQueue;
use crate::threads;
use crate::watch::Pulse;
use crate::worker::{self, Command, Message};
use drivelab_core::defect::ended_by_defects;
use drivelab_core::driver::{Driver, Setup};
use drivelab_core::endings::{EndingMessage, Endings};
use drivelab_core::facts::Facts;
use drivelab_core::op::Time;
use drivelab_core::queue::{Finished, Sink, Testbed, Trouble, TroubleKind};
use drivelab_core::units::Span;
use std::os::fd::OwnedFd;
use std::sync::Arc;
use std::time::Duration;

/// What a worker works on.
#[derive(Debug)]
pub enum Handle {
    /// An open file or device.
    Data {
        /// The open file.
        opened: Opened,
        /// It was opened non-blocking, so that io_uring serves it inline.
        nonblocking: bool,
    },
    /// An open directory of ours.
    Directory(OwnedFd),
    /// An open directory among whose names are ours, and which those are.
    Spelt(OwnedFd, Held),
    /// Nothing at all, for the null engine.
    Nothing,
}

/// Opens what a worker works on, by the guard's leave.
pub type Opener = Box<dyn Fn(&Setup) -> Result<Handle, Trouble>>;

/// A real kernel and a target.
pub struct RealTestbed {
    facts: Facts,
    clock: Clock,
    /// How far the clock strayed in the latest run.
    strayed_ns: Option<i64>,
    opener: Opener,
    /// An operation that takes longer than this is called stuck.
    pub stuck_after: Span,
    /// Those that share the work.
    pub ranks: Ranks,
}

impl std::fmt::Debug for RealTestbed {
    fn fmt(&self, f: &mut std::fmt::Formatter<'_>) -> std::fmt::Result {
        f.debug_struct("RealTestbed").field("clock", &self.clock).finish_non_exhaustive()
    }
}

/// How long a device that a control group limits is left alone before a step. The kernel counts its
/// budget from the first request of a slice (`throtl_slice`, at most 100 ms), which ends at most
/// two slices after the last one: what our own looks at the blocks left over would be spent within
/// the step, up to 200 ms of it (block/blk-throttle.c).
const BUDGET_FORGOTTEN: Duration = Duration::from_millis(250);

/// Lets the budget of a limit run out that was opened before the step, where there is a limit.
fn begin_with_no_budget() {
    if !machine::io_limits(&machine::System::live()).is_empty() {
        std::thread::sleep(BUDGET_FORGOTTEN);
    }
}

/// The watching thread's view of one worker.
struct Member {
    pulse: Arc<Pulse>,
    commands: SyncSender<Command>,
    finished: Option<Finished>,
}

impl RealTestbed {
    /// A testbed on whatever `opener` opens, of one rank alone.
    pub fn new(facts: Facts, clock: Clock, opener: Opener) -> Self {
        RealTestbed {
            facts,
            clock,
            strayed_ns: None,
            opener,
            stuck_after: Span(120_000_000_000),
            ranks: Ranks::ALONE,
        }
    }

    /// The clock of all stamps.
    pub fn clock(&self) -> &Clock {
        &self.clock
    }

    fn spawn(
        &self,
        index: usize,
        driver: Driver,
        messages: &SyncSender<(usize, Message)>,
    ) -> Result<Member, Trouble> {
        let handle = match driver.stream().engine.reaches_target() {
            true => (self.opener)(driver.setup())?,
            false => Handle::Nothing,
        };
        let cpus = cpus::parse(&driver.setup().cpus)?;
        let own: Vec<usize> = match cpus.len() {
            0 => Vec::new(),
            count => vec![cpus[index % count]],
        };
        let pulse = Arc::new(Pulse::default());
        let (commands, orders) = sync_channel(16);
        let (messages, clock, watched) = (messages.clone(), self.clock, pulse.clone());
        let stuck_after_ns = self.stuck_after.0;
        let work = move || {
            // A worker that unwinds must end the step: silent, it would hold it up for ever.
            let attempt = ended_by_defects(|| {
                cpus::confine(&own)?;
                if let Some(thread) = &driver.stream().thread {
                    threads::apply(thread)?;
                }
                let (messages, orders) = (&messages, &orders);
                let context =
                    worker::WorkerContext { index, messages, orders, clock, stuck_after_ns };
                start(driver, handle, clock, &watched, &context)
            });
            let message = match attempt {
                Ok(finished) => Message::Finished(Box::new(finished)),
                Err(Trouble { kind: TroubleKind::Defect, text }) => {
                    let text = format!("worker {index}: {text}");
                    Message::Failed(Trouble { kind: TroubleKind::Defect, text })
                }
                Err(trouble) => Message::Failed(trouble),
            };
            let _ = messages.send((index, message));
        };
        std::thread::Builder::new()
            .name(format!("worker {index}"))
            .spawn(work)
            .map_err(|error| Trouble::failed(format!("cannot start a worker: {error}")))?;
        Ok(Member { pulse, commands, finished: None })
    }
}

/// Builds the queue that the stream asks for and runs the driver on it.
fn start(
    driver: Driver,
    handle: Handle,
    clock: Clock,
    pulse: &Arc<Pulse>,
    context: &worker::WorkerContext<'_>,
) -> Result<Finished, Trouble> {
    let stream = driver.stream().clone();
    let setup = driver.setup();
    // Streams of one step may have workers of the same number.
    let owner = Owner::new(setup.step, setup.stream_index, setup.worker);
    let depth = stream.depth.max(1) as usize;
    let buffers = Buffers::new(depth, driver.buffer_bytes())?;
    let (opened, nonblocking) = match handle {
        Handle::Directory(directory) => {
            let names = Names::new(&stream, owner, directory)?;
            // One at a time is a call, whatever the engine.
            if stream.engine.traits().is_ring && depth > 1 {
                let queue = NamesRing::new(&stream, names, clock, buffers)?;
                return worker::run(driver, queue, pulse, context);
            }
            let queue = SyncQueue::new(names, clock, buffers, pulse.clone());
            return worker::run(driver, queue, pulse, context);
        }
        Handle::Spelt(directory, held) => {
            let names = Names::new(&stream, owner, directory)?.noting(&stream, &held);
            let queue = SyncQueue::new(names, clock, buffers, pulse.clone());
            return worker::run(driver, queue, pulse, context);
        }
        Handle::Nothing => return worker::run(driver, Null::new(clock, buffers), pulse, context),
        Handle::Data { opened, nonblocking } => (opened, nonblocking),
    };
    let place = Place { opened, nonblocking, clock, buffers, pulse: pulse.clone() };
    on_queue(&stream, place, Worker { driver, pulse, context })
}

/// A worker that waits for its queue.
struct Worker<'a> {
    driver: Driver,
    pulse: &'a Pulse,
    context: &'a worker::WorkerContext<'a>,
}

impl WithQueue for Worker<'_> {
    type Out = Finished;

    fn run<E: Engine + 'static>(self, queue: E) -> Result<Finished, Trouble> {
        worker::run(self.driver, queue, self.pulse, self.context)
    }
}

/// CPUs that some worker was given for itself.
fn measuring_cpus(drivers: &[Driver]) -> Result<Vec<usize>, Trouble> {
    let mut all = Vec::new();
    for driver in drivers {
        all.extend(cpus::parse(&driver.setup().cpus)?);
    }
    Ok(all)
}

impl Testbed for RealTestbed {
    fn facts(&self) -> &Facts {
        &self.facts
    }

    fn clock_strayed_ns(&self) -> Option<i64> {
        self.strayed_ns
    }

    fn run(&mut self, drivers: Vec<Driver>, sink: &mut dyn Sink) -> Result<Vec<Finished>, Trouble> {
        self.clock = self.clock.anchored_anew();
        self.strayed_ns = None;
        let ahead_ns = self.clock.ahead_ns();
        let mut endings = Endings::new(&drivers, sink.other_ranks());
        let count = drivers.len();
        let (sender, messages) = sync_channel(count * 16 + 16);
        let mut members = Vec::with_capacity(count);
        let measuring = measuring_cpus(&drivers)?;
        let ready = self.make_ready(drivers, &sender, &messages, &mut members);
        let start = if self.ranks.is_alone() {
            ready.map(|()| None)
        } else {
            // All ranks meet here, whatever became of this one.
            let start = self.ranks.start_barrier(ready.is_ok());
            ready.and(start).and_then(|start| match start {
                Some(start) => Ok(Some(start.saturating_sub(self.clock.monotonic_zero()))),
                None => Err(Trouble::elsewhere("another process could not begin")),
            })
        };
        let start = start.inspect_err(|_| members.iter().for_each(Member::abort))?;
        if members.is_empty() {
            // Background streams of other ranks wait for nobody here.
            sink.send(EndingMessage::ForegroundOver);
            return Ok(Vec::new());
        }
        // Not earlier: workers that may run anywhere take over this thread's CPUs.
        let _aside = cpus::stand_aside(&measuring);
        let begin = start.unwrap_or_else(|| self.clock.now() + 200_000);
        for member in &members {
            let _ = member.commands.send(Command::Start(begin));
        }
        let watch =
            Watch { clock: self.clock, stuck_after_ns: self.stuck_after.0, messages: &messages };
        watch.collect(&mut members, &mut endings, sink)?;
        self.strayed_ns = Some(self.clock.ahead_ns() - ahead_ns);
        Ok(members.into_iter().filter_map(|member| member.finished).collect())
    }
}

impl RealTestbed {
    /// Starts a thread for each driver, and waits until all could begin.
    fn make_ready(
        &self,
        drivers: Vec<Driver>,
        sender: &SyncSender<(usize, Message)>,
        messages: &Receiver<(usize, Message)>,
        members: &mut Vec<Member>,
    ) -> Result<(), Trouble> {
        for (index, driver) in drivers.into_iter().enumerate() {
            members.push(self.spawn(index, driver, sender)?);
        }
        self.await_ready(members, messages)?;
        begin_with_no_budget();
        Ok(())
    }

    /// Waits until every worker has its queue and buffers.
    fn await_ready(
        &self,
        members: &[Member],
        messages: &Receiver<(usize, Message)>,
    ) -> Result<(), Trouble> {
        for _ in members {
            let trouble = match messages.recv_timeout(Duration::from_nanos(self.stuck_after.0)) {
                Ok((_, Message::Ready)) => continue,
                Ok((_, Message::Failed(trouble))) => trouble,
                Ok(_) => Trouble::defect("a worker began before it was told to"),
                Err(_) => Trouble::stuck("a worker could not be set up in time"),
            };
            members.iter().for_each(Member::abort);
            return Err(trouble);
        }
        Ok(())
    }
}

impl Member {
    fn abort(&self) {
        let _ = self.commands.try_send(Command::Abort);
    }
}

/// The watching thread's loop.
struct Watch<'a> {
    clock: Clock,
    stuck_after_ns: Time,
    messages: &'a Receiver<(usize, Message)>,
}

impl Watch<'_> {
    fn collect(
        &self,
        members: &mut [Member],
        endings: &mut Endings,
        sink: &mut dyn Sink,
    ) -> Result<(), Trouble> {
        let mut failed = None;
        let mut running = members.len();
        let listens = sink.other_ranks().count > 0;
        let patience = Duration::from_millis(if listens { 1 } else { 50 });
        while running > 0 || endings.judges_others() {
            match self.messages.recv_timeout(patience) {
                Ok((index, Message::Tally(tally))) => {
                    sink.tally(&tally);
                    endings.take(&tally);
                    endings.to_report(&tally).into_iter().for_each(|message| sink.send(message));
                    worker::give_back(&members[index].commands, tally);
                }
                Ok((index, Message::Finished(finished))) => {
                    debug_assert!(members[index].finished.is_none(), "worker {index} ends twice");
                    running -= 1;
                    if finished.driver.failure().is_some() {
                        members.iter().for_each(|member| member.pulse.stop());
                    }
                    endings.note_way(index, finished.driver.has_come_to());
                    members[index].finished = Some(*finished);
                }
                Ok((index, Message::CameTo(operations))) => {
                    endings.note_way(index, Some(operations));
                }
                Ok((_, Message::Failed(trouble))) => {
                    running -= 1;
                    members.iter().for_each(|member| member.pulse.stop());
                    failed.get_or_insert(trouble);
                }
                Ok((_, Message::Ready)) | Err(RecvTimeoutError::Timeout) => {}
                Err(RecvTimeoutError::Disconnected) => {
                    return Err(Trouble::defect("a worker ended without a message"));
                }
            }
            if listens {
                let messages = endings.to_send(|index| members[index].finished.is_some());
                messages.into_iter().for_each(|message| sink.send(message));
                while let Some(message) = sink.receive() {
                    endings.receive(message);
                }
            }
            for (index, operations) in endings.to_go_on() {
                members[index].pulse.go_on_to(operations);
            }
            for index in endings.to_stop(|index| members[index].finished.is_some()) {
                members[index].pulse.stop();
            }
            if !sink.go_on() {
                members.iter().for_each(|member| member.pulse.stop());
                if running == 0 {
                    break;
                }
            }
            self.look_for_stuck(members)?;
            if running > 0 && crate::signal::impatient() {
                return Err(Trouble::stuck("interrupted again: I/O in flight was not waited for"));
            }
        }
        failed.map_or(Ok(()), Err)
    }

    fn look_for_stuck(&self, members: &[Member]) -> Result<(), Trouble> {
        let now = self.clock.now();
        for (index, member) in members.iter().enumerate() {
            if member.finished.is_some() {
                continue;
            }
            // A second of grace lets an asynchronous worker name the operation itself.
            let limit = self.stuck_after_ns + 1_000_000_000;
            if let Some((waited, action, place)) = member.pulse.waiting_since(now)
                && waited > limit
            {
                return Err(Trouble::stuck(format!(
                    "worker {index}: a {} {place} has not completed for {:.0} s; the drive or its \
                     driver hangs. See the kernel log (dmesg)",
                    action.word(),
                    waited as f64 / 1e9
                )));
            }
        }
        Ok(())
    }
}

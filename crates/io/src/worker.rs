//! A measuring thread: pump, wait, reap. Between its first and last I/O it allocates, locks,
//! prints and writes nothing, but hands over an interval.

use crate::channel::{Receiver, SyncSender, TrySendError};
use crate::clock::Clock;
use crate::engine::Engine;
use crate::watch::Pulse;
use drivelab_core::driver::{Driver, Next};
use drivelab_core::op::{Done, Time};
use drivelab_core::quantity::counted;
use drivelab_core::queue::{Finished, Trouble};
use drivelab_core::tally::{Phase, Tally};

/// What the watching thread tells a worker.
#[derive(Debug)]
pub enum Command {
    /// Begin at this instant.
    Start(Time),
    /// Leave without having begun.
    Abort,
    /// An emptied tally to use again.
    Recycle(Box<Tally>),
}

/// What a worker tells the watching thread.
#[derive(Debug)]
pub enum Message {
    /// Queue and buffers are there.
    Ready,
    /// An interval has passed.
    Tally(Box<Tally>),
    /// Its time is over, and it waits for the others after this many operations.
    CameTo(u64),
    /// Done.
    Finished(Box<Finished>),
    /// Could not begin or go on.
    Failed(Trouble),
}

/// What a worker is given of its step.
#[derive(Debug)]
pub struct WorkerContext<'a> {
    /// Its number within the step.
    pub index: usize,
    /// To the watching thread.
    pub messages: &'a SyncSender<(usize, Message)>,
    /// From the watching thread.
    pub orders: &'a Receiver<Command>,
    /// The clock of all stamps.
    pub clock: Clock,
    /// An operation that takes longer than this is called stuck.
    pub stuck_after_ns: Time,
}

/// What this thread has cost so far.
#[derive(Debug)]
struct Usage {
    cpu_ns: u64,
    system_cpu_ns: u64,
    context_switches: u64,
    major_faults: u64,
    minor_faults: u64,
}

impl Usage {
    /// Writes down what it cost since `earlier`.
    fn since(&self, earlier: &Usage, phase: &mut Phase) {
        let cpu_ns = self.cpu_ns - earlier.cpu_ns;
        phase.cpu_ns = Some(cpu_ns);
        // Two clocks of the kernel, of which this one is the coarser.
        let system_cpu_ns = self.system_cpu_ns.saturating_sub(earlier.system_cpu_ns);
        phase.system_cpu_ns = Some(system_cpu_ns.min(cpu_ns));
        phase.context_switches = Some(self.context_switches - earlier.context_switches);
        let major_faults = self.major_faults - earlier.major_faults;
        phase.page_faults = Some((major_faults, self.minor_faults - earlier.minor_faults));
    }
}

fn usage() -> Usage {
    // SAFETY: an all-zero rusage is a valid one to fill in, and getrusage fills it.
    let usage = unsafe {
        let mut usage: libc::rusage = std::mem::zeroed();
        libc::getrusage(libc::RUSAGE_THREAD, &mut usage);
        usage
    };
    let spent = rustix::time::clock_gettime(rustix::time::ClockId::ThreadCPUTime);
    let system = usage.ru_stime;
    Usage {
        cpu_ns: spent.tv_sec as u64 * 1_000_000_000 + spent.tv_nsec as u64,
        system_cpu_ns: system.tv_sec as u64 * 1_000_000_000 + system.tv_usec as u64 * 1_000,
        context_switches: (usage.ru_nvcsw + usage.ru_nivcsw) as u64,
        major_faults: usage.ru_majflt as u64,
        minor_faults: usage.ru_minflt as u64,
    }
}

/// Runs a driver on its queue to the end.
///
/// # Errors
/// The queue fails, or an operation does not come back.
pub fn run<E: Engine>(
    mut driver: Driver,
    mut engine: E,
    pulse: &Pulse,
    context: &WorkerContext<'_>,
) -> Result<Finished, Trouble> {
    // SAFETY: PR_SET_TIMERSLACK changes only how late timers of this thread may fire.
    unsafe { libc::prctl(libc::PR_SET_TIMERSLACK, 1) };
    driver.prefill(&mut engine);
    let mut done: Vec<Done> = Vec::with_capacity(driver.stream().depth.max(1) as usize);
    let _ = context.messages.send((context.index, Message::Ready));
    let begin = loop {
        match context.orders.recv() {
            Ok(Command::Start(begin)) => break begin,
            Ok(Command::Recycle(_)) => {}
            Ok(Command::Abort) | Err(_) => return Err(Trouble::failed("the step was called off")),
        }
    };
    crate::engine::sleep_until(&context.clock, begin);
    driver.open(begin);
    let before = usage();
    let result = pump_and_reap(&mut driver, &mut engine, pulse, context, &mut done);
    let after = usage();
    let (last, mut phase) = driver.finish(context.clock.now());
    after.since(&before, &mut phase);
    hand_over(&mut driver, context);
    if last.ops() > 0 || last.error_count() > 0 {
        let _ = context.messages.send((context.index, Message::Tally(last)));
    }
    result?;
    Ok(Finished { driver, phase })
}

fn pump_and_reap<E: Engine>(
    driver: &mut Driver,
    engine: &mut E,
    pulse: &Pulse,
    context: &WorkerContext<'_>,
    done: &mut Vec<Done>,
) -> Result<(), Trouble> {
    let least = driver.stream().batch_complete.unwrap_or(1).max(1);
    let data = driver.wants_data();
    let begun = context.clock.now();
    let (mut last_seen, mut has_told) = (begun, false);
    pulse.alive(last_seen, true);
    loop {
        let (least, until) = match driver.pump(engine)? {
            Next::Completion | Next::Drain => (least.min(driver.in_flight()), None),
            Next::Wake(at) => (1, Some(at)),
            Next::Finished => break,
        };
        done.clear();
        let calls = engine.wait(least, until, done)?;
        debug_assert!(done.len() <= driver.in_flight() as usize, "more came back than was sent");
        driver.note_calls(calls.submit, calls.reap);
        for one in done.iter() {
            let data: &[u8] = if data { engine.buffer(one.tag) } else { &[] };
            driver.reap(one, data);
        }
        match done.last() {
            Some(one) => {
                debug_assert!(one.completed >= begun, "completed before the step: {one:?}");
                last_seen = one.completed;
                pulse.alive(last_seen, true);
            }
            None => {
                look_around(driver, pulse, context, &mut last_seen)?;
                await_others(driver, pulse, context, &mut has_told);
            }
        }
        hand_over(driver, context);
        if pulse.stopping() {
            driver.stop();
        }
    }
    Ok(())
}

/// Of a worker whose time is over: says once how far it has come, and goes on when it may.
#[cold]
fn await_others(
    driver: &mut Driver,
    pulse: &Pulse,
    context: &WorkerContext<'_>,
    has_told: &mut bool,
) {
    let Some(operations) = driver.has_come_to() else { return };
    if !std::mem::replace(has_told, true) {
        let _ = context.messages.send((context.index, Message::CameTo(operations)));
    }
    if let Some(goal) = pulse.goal() {
        driver.go_on_to(goal);
    }
}

/// Nothing completed: either nothing is in flight, or something is slow, or stuck.
#[cold]
fn look_around(
    driver: &Driver,
    pulse: &Pulse,
    context: &WorkerContext<'_>,
    last_seen: &mut Time,
) -> Result<(), Trouble> {
    let now = context.clock.now();
    if driver.in_flight() == 0 {
        *last_seen = now;
        pulse.alive(now, false);
        return Ok(());
    }
    if let Some(op) = driver.in_flight_ops().first() {
        pulse.begin(op);
    }
    if now.saturating_sub(*last_seen) <= context.stuck_after_ns {
        return Ok(());
    }
    let ops = driver.in_flight_ops();
    let named: Vec<String> =
        ops.iter().take(3).map(|op| format!("{} {}", op.action().word(), op.place())).collect();
    Err(Trouble::stuck(format!(
        "no completion for {:.0} s with {} in flight ({}): the drive or its driver hangs; see the \
         kernel log (dmesg)",
        (now - *last_seen) as f64 / 1e9,
        counted(ops.len() as u64, "operation"),
        named.join(", ")
    )))
}

/// Whose full intervals are handed over, and whose emptied ones come back.
pub(crate) trait Intervals {
    fn take_interval(&mut self) -> Option<Box<Tally>>;
    fn lacks_spares(&self) -> bool;
    fn recycle(&mut self, tally: Box<Tally>);
}

impl Intervals for Driver {
    #[inline]
    fn take_interval(&mut self) -> Option<Box<Tally>> {
        Driver::take_interval(self)
    }

    #[inline]
    fn lacks_spares(&self) -> bool {
        Driver::lacks_spares(self)
    }

    fn recycle(&mut self, tally: Box<Tally>) {
        Driver::recycle(self, tally);
    }
}

/// Gives a worker a tally back, without ever waiting for it.
pub(crate) fn give_back(commands: &SyncSender<Command>, tally: Box<Tally>) {
    let sent = commands.try_send(Command::Recycle(tally));
    debug_assert!(
        !matches!(sent, Err(TrySendError::Full(_))),
        "a worker has more tallies than room"
    );
}

/// Hands full intervals over and takes emptied ones back.
#[inline]
pub(crate) fn hand_over(driver: &mut impl Intervals, context: &WorkerContext<'_>) {
    while let Some(tally) = driver.take_interval() {
        let _ = context.messages.send((context.index, Message::Tally(tally)));
    }
    if driver.lacks_spares() {
        while let Ok(Command::Recycle(tally)) = context.orders.try_recv() {
            driver.recycle(tally);
        }
    }
}

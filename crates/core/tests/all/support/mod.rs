//! What the tests of patterns and drivers share: streams in a few words, and a testbed whose drive
//! each test writes itself.

use drivelab_core::driver::{Driver, Next, drivers_of};
use drivelab_core::endings::{Endings, OtherRanks};
use drivelab_core::op::{Action, DataOp, Done, Errno, NameOp, Op, Tag, Time};
use drivelab_core::plan::{Mix, Pattern, Step, Stream, Until};
use drivelab_core::queue::{Finished, Queue, Sink, Trouble};
use drivelab_core::tally::Tally;
use drivelab_core::units::{Size, Span};
use std::cmp::Reverse;
use std::collections::BinaryHeap;

pub const KIB: u64 = 1 << 10;
pub const MIB: u64 = 1 << 20;
pub const MICROSECOND: Time = 1_000;
pub const MILLISECOND: Time = 1_000_000;
pub const SECOND: Time = 1_000_000_000;
pub const SEED: u64 = 42;

/// A stream of 4 KiB reads at depth 1.
pub fn reads(pattern: Pattern) -> Stream {
    Stream { pattern, mix: Mix::READ, size: Size(4096), depth: 1, workers: 1, ..Stream::default() }
}

/// The same with writes.
pub fn writes(pattern: Pattern) -> Stream {
    Stream { mix: Mix::WRITE, ..reads(pattern) }
}

pub fn operations(count: u64) -> Until {
    Until { operations: Some(count), ..Until::default() }
}

pub fn elapsed(time: Time) -> Until {
    Until { elapsed: Some(Span(time)), ..Until::default() }
}

pub fn passes(count: u64) -> Until {
    Until { passes: Some(count), ..Until::default() }
}

pub fn step(until: Until, streams: Vec<Stream>) -> Step {
    Step { name: "test".into(), until, streams, ..Step::default() }
}

/// Drivers of executed step 0 on files of `file_bytes`, with intervals of a second.
pub fn drivers(step: &Step, file_bytes: u64) -> Vec<Driver> {
    drivers_of(step, 0, SEED, Span(SECOND), file_bytes).unwrap()
}

/// What answers operations.
pub trait Drive {
    /// When and how `op`, submitted at `now`, completes.
    fn serve(&mut self, now: Time, op: &DataOp, buffer: &mut [u8]) -> (Time, Result<u32, Errno>);
}

impl<F: FnMut(Time, &DataOp, &mut [u8]) -> (Time, Result<u32, Errno>)> Drive for F {
    fn serve(&mut self, now: Time, op: &DataOp, buffer: &mut [u8]) -> (Time, Result<u32, Errno>) {
        self(now, op, buffer)
    }
}

/// A drive without limits on what it does at once: each operation takes the same time.
pub fn constant(latency: Time) -> impl Drive {
    move |now: Time, op: &DataOp, _: &mut [u8]| (now + latency, Ok(op.len))
}

/// A drive that does one operation after the other, each as long as `latency` says by number.
pub fn serial(mut latency: impl FnMut(u64) -> Time) -> impl Drive {
    let (mut free_at, mut count) = (0, 0);
    move |now: Time, op: &DataOp, _: &mut [u8]| {
        free_at = now.max(free_at) + latency(count);
        count += 1;
        (free_at, Ok(op.len))
    }
}

/// Bytes in memory; reads and writes take a microsecond.
pub struct Memory(pub Vec<u8>);

impl Drive for Memory {
    fn serve(&mut self, now: Time, op: &DataOp, buffer: &mut [u8]) -> (Time, Result<u32, Errno>) {
        let range = op.offset as usize..op.offset as usize + op.len as usize;
        match op.action {
            Action::Read => buffer[..op.len as usize].copy_from_slice(&self.0[range]),
            Action::Write => self.0[range].copy_from_slice(&buffer[..op.len as usize]),
            Action::Trim => self.0[range].fill(0),
            _ => {}
        }
        (now + MICROSECOND, Ok(op.len))
    }
}

/// One operation as it was submitted, and when it completed.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub struct Issue {
    pub at: Time,
    pub completed: Time,
    pub stream: u32,
    pub worker: u32,
    pub op: DataOp,
    /// In flight of this worker, itself included.
    pub depth: u32,
}

/// Keeps every tally.
#[derive(Default)]
pub struct Kept {
    pub tallies: Vec<Tally>,
    /// Says no from this call of `go_on` on.
    pub patience: Option<u64>,
}

impl Sink for Kept {
    fn tally(&mut self, tally: &Tally) {
        self.tallies.push(tally.clone());
    }

    fn go_on(&mut self) -> bool {
        let Some(left) = &mut self.patience else { return true };
        *left = left.saturating_sub(1);
        *left > 0
    }
}

impl Kept {
    pub fn ops(&self, kind: Action) -> u64 {
        let kinds = self.tallies.iter().flat_map(|tally| &tally.kinds);
        kinds.filter(|tally| tally.kind == kind).map(|tally| tally.ops).sum()
    }

    /// Everything outside of the ramp in one tally.
    pub fn measured(&self) -> Tally {
        let mut tallies = self.tallies.iter().filter(|tally| !tally.ramp);
        let mut all = tallies.next().expect("an interval outside of the ramp").clone();
        tallies.for_each(|tally| all.merge(tally));
        all
    }
}

struct ScriptedQueue {
    now: Time,
    buffers: Vec<Vec<u8>>,
    submitted: Vec<(Tag, Op)>,
}

impl Queue for ScriptedQueue {
    fn now(&self) -> Time {
        self.now
    }

    fn buffer(&mut self, tag: Tag) -> &mut [u8] {
        &mut self.buffers[tag as usize]
    }

    fn submit(&mut self, tag: Tag, op: Op) -> Result<(), Trouble> {
        self.submitted.push((tag, op));
        Ok(())
    }
}

struct Worker {
    driver: Driver,
    queue: ScriptedQueue,
    wake: Option<Time>,
    finished_at: Option<Time>,
    flying: u32,
}

/// What a run left behind.
pub struct Outcome {
    pub issues: Vec<Issue>,
    /// The operations on names, in order.
    pub names: Vec<NameOp>,
    pub finished: Vec<Finished>,
    pub sink: Kept,
}

impl Outcome {
    /// The operations of one worker of the first stream, in order.
    pub fn ops_of(&self, worker: u32) -> Vec<DataOp> {
        let mine = self.issues.iter().filter(|issue| issue.worker == worker && issue.stream == 0);
        mine.map(|issue| issue.op).collect()
    }
}

/// Runs drivers on a scripted drive in virtual time, handing tallies back at once.
pub fn run(drivers: Vec<Driver>, drive: impl Drive) -> Outcome {
    run_with(drivers, drive, Kept::default(), true)
}

/// The same; without `recycle` no tally ever comes back.
pub fn run_with(
    drivers: Vec<Driver>,
    mut drive: impl Drive,
    mut sink: Kept,
    recycle: bool,
) -> Outcome {
    let mut endings = Endings::new(&drivers, OtherRanks::NONE);
    let (mut issues, mut names) = (Vec::new(), Vec::new());
    let mut workers: Vec<Worker> = drivers.into_iter().map(opened).collect();
    let mut completions = BinaryHeap::new();
    let mut now = 0;
    loop {
        for (index, worker) in workers.iter_mut().enumerate() {
            if worker.finished_at.is_some() || worker.wake.is_none_or(|wake| wake > now) {
                continue;
            }
            worker.queue.now = now;
            let next = worker.driver.pump(&mut worker.queue).unwrap();
            let submitted = std::mem::take(&mut worker.queue.submitted);
            for (tag, op) in submitted {
                let op = seen(op, &mut names);
                let buffer = worker.queue.buffer(tag);
                let (completed, result) = drive.serve(now, &op, buffer);
                worker.flying += 1;
                let (setup, depth) = (worker.driver.setup(), worker.flying);
                let (stream, worker) = (setup.stream_index, setup.worker);
                completions.push(Reverse((completed, issues.len(), index, tag, now, result)));
                issues.push(Issue { at: now, completed, stream, worker, op, depth });
            }
            worker.wake = match next {
                Next::Wake(at) => Some(at.max(now)),
                Next::Completion | Next::Drain => None,
                Next::Finished => {
                    worker.finished_at = Some(now);
                    None
                }
            };
            hand_over(worker, &mut endings, &mut sink, recycle);
        }
        go_on_or_stop(&mut endings, &mut workers, now);
        if workers.iter().all(|worker| worker.finished_at.is_some()) {
            break;
        }
        if sink.patience.is_some() && !sink.go_on() {
            sink.patience = None;
            for worker in &mut workers {
                worker.driver.stop();
                worker.wake = Some(now);
            }
        }
        let waiting = |it: &Worker| it.wake.filter(|_| it.finished_at.is_none());
        let wake = workers.iter().filter_map(waiting).min();
        let completion = completions.peek().map(|Reverse(entry): &Reverse<Entry>| entry.0);
        now = wake.into_iter().chain(completion).min().expect("one in flight or due").max(now);
        while completions.peek().is_some_and(|Reverse(entry)| entry.0 <= now) {
            let Some(Reverse(entry)) = completions.pop() else { break };
            let (completed, _, index, tag, issued, result) = entry;
            let done = Done::simple(tag, issued, completed, result);
            let worker = &mut workers[index];
            worker.flying -= 1;
            worker.driver.reap(&done, &worker.queue.buffers[tag as usize]);
            worker.wake = Some(now);
        }
    }
    let finished = workers.into_iter().map(|worker| leave(worker, &mut sink)).collect();
    Outcome { issues, names, finished, sink }
}

/// What the drive sees of an operation: of one on a name, that it came and what it is.
fn seen(op: Op, names: &mut Vec<NameOp>) -> DataOp {
    match op {
        Op::Data(op) => op,
        Op::Name(op) => {
            names.push(op);
            DataOp { action: op.action, ..DataOp::default() }
        }
    }
}

type Entry = (Time, usize, usize, Tag, Time, Result<u32, Errno>);

fn opened(mut driver: Driver) -> Worker {
    let depth = driver.stream().depth.max(1) as usize;
    let buffers = vec![vec![0; driver.buffer_bytes()]; depth];
    let mut queue = ScriptedQueue { now: 0, buffers, submitted: Vec::new() };
    driver.prefill(&mut queue);
    driver.open(0);
    Worker { driver, queue, wake: Some(0), finished_at: None, flying: 0 }
}

fn go_on_or_stop(endings: &mut Endings, workers: &mut [Worker], now: Time) {
    for (index, worker) in workers.iter().enumerate() {
        endings.note_way(index, worker.driver.has_come_to());
    }
    for (index, operations) in endings.to_go_on() {
        workers[index].driver.go_on_to(operations);
        workers[index].wake = Some(now);
    }
    for index in endings.to_stop(|index| workers[index].finished_at.is_some()) {
        workers[index].driver.stop();
        workers[index].wake = Some(now);
    }
}

fn hand_over(worker: &mut Worker, endings: &mut Endings, sink: &mut Kept, recycle: bool) {
    while let Some(tally) = worker.driver.take_interval() {
        endings.take(&tally);
        sink.tally(&tally);
        if recycle {
            worker.driver.recycle(tally);
        }
    }
}

fn leave(mut worker: Worker, sink: &mut Kept) -> Finished {
    hand_over(&mut worker, &mut Endings::new([], OtherRanks::NONE), sink, true);
    let (last, phase) = worker.driver.finish(worker.finished_at.unwrap_or(0));
    if last.ops() > 0 || last.error_count() > 0 {
        sink.tally(&last);
    }
    Finished { driver: worker.driver, phase }
}

/// The operations of each worker for this many of each.
pub fn ops(stream: &Stream, file_bytes: u64, each: u64) -> Vec<Vec<DataOp>> {
    let workers = stream.workers;
    let step = step(operations(each * u64::from(workers)), vec![stream.clone()]);
    let outcome = run(drivers(&step, file_bytes), constant(MICROSECOND));
    (0..workers).map(|worker| outcome.ops_of(worker)).collect()
}

/// The operations of one pass of each worker.
pub fn one_pass(stream: &Stream, file_bytes: u64) -> Vec<Vec<DataOp>> {
    let step = step(passes(1), vec![stream.clone()]);
    let outcome = run(drivers(&step, file_bytes), constant(MICROSECOND));
    (0..stream.workers).map(|worker| outcome.ops_of(worker)).collect()
}

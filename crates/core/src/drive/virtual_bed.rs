//! A testbed in virtual time: every operation takes the same time on one of a few servers.
//!
//! It proves the seam that real and simulated drives stand behind, and every test of a driver
//! that needs exact times runs on it.

use crate::defect::defect;
use crate::driver::{Driver, Next};
use crate::endings::{Endings, OtherRanks};
use crate::facts::Facts;
use crate::op::{Done, Op, Tag, Time};
use crate::queue::{Finished, Queue, Sink, Testbed, Trouble};
use std::cmp::Reverse;
use std::collections::BinaryHeap;

/// Fixed service time, a fixed number of servers, first come first served.
///
/// ```
/// use drivelab_core::driver::drivers_of;
/// use drivelab_core::op::Place;
/// use drivelab_core::plan::{Step, Stream, Until};
/// use drivelab_core::queue::{Sink, Testbed};
/// use drivelab_core::tally::Tally;
/// use drivelab_core::units::{Size, Span};
/// use drivelab_core::virtual_bed::VirtualTestbed;
///
/// struct Nobody;
/// impl Sink for Nobody {
///     fn tally(&mut self, _: &Tally) {}
/// }
///
/// let stream = Stream { size: Size(4096), depth: 1, ..Stream::default() };
/// let until = Until { operations: Some(3), ..Until::default() };
/// let step = Step { until, streams: vec![stream], ..Step::default() };
/// let mut bed = VirtualTestbed::new(500, 1);
/// bed.keep_log = true;
/// let finished = bed.run(drivers_of(&step, 0, 1, Span(1_000_000_000), 1 << 20)?, &mut Nobody)?;
/// let places: Vec<Place> = bed.log.iter().map(|(_, _, op)| op.place()).collect();
/// let in_order = [0, 4096, 8192].map(|offset| Place::Data { offset });
/// assert_eq!(places, in_order, "a stream is sequential unless it says otherwise");
/// assert_eq!(finished[0].phase.closed, 1500);
/// # Ok::<(), drivelab_core::queue::Trouble>(())
/// ```
#[derive(Debug, Default)]
pub struct VirtualTestbed {
    facts: Facts,
    latency_ns: Time,
    servers_free_at: Vec<Time>,
    now: Time,
    /// Every operation in the order of submission, with its stream and worker; for tests.
    pub log: Vec<(u32, u32, Op)>,
    /// Whether to keep `log`.
    pub keep_log: bool,
}

#[derive(Debug)]
struct VirtualQueue {
    now: Time,
    buffers: Vec<Vec<u8>>,
    submitted: Vec<(Tag, Op)>,
}

impl Queue for VirtualQueue {
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

/// A worker with its queue and what it last asked for.
#[derive(Debug)]
struct Worker {
    driver: Driver,
    queue: VirtualQueue,
    wake: Option<Time>,
    finished: bool,
}

impl VirtualTestbed {
    /// `servers` servers that need `latency_ns` for each operation.
    pub fn new(latency_ns: Time, servers: usize) -> Self {
        let servers_free_at = vec![0; servers.max(1)];
        VirtualTestbed { latency_ns, servers_free_at, ..VirtualTestbed::default() }
    }

    /// Books the earliest free server.
    fn serve(&mut self) -> Time {
        let latency_ns = self.latency_ns;
        let Some(server) = self.servers_free_at.iter_mut().min() else {
            defect("a drive without a server was asked")
        };
        *server = (*server).max(self.now) + latency_ns;
        *server
    }

    /// Takes an operation of a worker; returns when it completes.
    fn take(&mut self, worker: &Worker, tag: Tag, op: Op) -> Time {
        if self.keep_log {
            let setup = worker.driver.setup();
            self.log.push((setup.stream_index, setup.worker, op));
        }
        let completed = self.serve();
        debug_assert!(completed >= self.now, "it completed before it was issued");
        debug_assert!((tag as usize) < worker.queue.buffers.len(), "no slot {tag}");
        completed
    }

    fn worker(&self, driver: Driver) -> Worker {
        let depth = driver.stream().depth.max(1) as usize;
        let queue = VirtualQueue {
            now: self.now,
            buffers: vec![vec![0; driver.buffer_bytes()]; depth],
            submitted: Vec::with_capacity(depth),
        };
        Worker { driver, queue, wake: Some(self.now), finished: false }
    }
}

impl Testbed for VirtualTestbed {
    fn facts(&self) -> &Facts {
        &self.facts
    }

    fn run(&mut self, drivers: Vec<Driver>, sink: &mut dyn Sink) -> Result<Vec<Finished>, Trouble> {
        let mut endings = Endings::new(&drivers, OtherRanks::NONE);
        let mut workers: Vec<Worker> = drivers.into_iter().map(|d| self.worker(d)).collect();
        for worker in &mut workers {
            worker.driver.prefill(&mut worker.queue);
            worker.driver.open(self.now);
        }
        let mut completions = BinaryHeap::new();
        let mut sequence = 0u64;
        let mut called_off = false;
        loop {
            for (index, worker) in workers.iter_mut().enumerate() {
                if worker.finished || worker.wake.is_none_or(|wake| wake > self.now) {
                    continue;
                }
                worker.queue.now = self.now;
                let next = worker.driver.pump(&mut worker.queue)?;
                for (tag, op) in std::mem::take(&mut worker.queue.submitted) {
                    let (completed, bytes) = (self.take(worker, tag, op), op.bytes());
                    sequence += 1;
                    completions.push(Reverse((completed, sequence, index, tag, self.now, bytes)));
                }
                worker.wake = match next {
                    Next::Wake(at) => Some(at),
                    Next::Completion | Next::Drain => None,
                    Next::Finished => {
                        worker.finished = true;
                        None
                    }
                };
                hand_over(&mut worker.driver, &mut endings, sink);
            }
            self.go_on(&mut endings, &mut workers);
            let done = |worker: &Worker| worker.finished;
            for index in endings.to_stop(|index| done(&workers[index])) {
                workers[index].driver.stop();
                workers[index].wake = Some(self.now);
            }
            if workers.iter().all(done) {
                break;
            }
            if !called_off && !sink.go_on() {
                called_off = true;
                for worker in &mut workers {
                    worker.driver.stop();
                    worker.wake = Some(self.now);
                }
            }
            let wakes = workers.iter().filter(|worker| !worker.finished);
            let wake = wakes.filter_map(|worker| worker.wake).min();
            let completion = completions.peek().map(|Reverse(entry)| entry.0);
            let Some(next) = wake.into_iter().chain(completion).min() else {
                return Err(Trouble::defect("no operation is in flight and none is due"));
            };
            self.now = self.now.max(next);
            while let Some(Reverse((completed, _, index, tag, issued, len))) =
                completions.peek().copied()
            {
                if completed > self.now {
                    break;
                }
                completions.pop();
                let done = Done::simple(tag, issued, completed, Ok(len));
                let worker = &mut workers[index];
                worker.driver.reap(&done, worker.queue.buffer(tag));
                worker.wake = Some(self.now);
            }
        }
        Ok(workers.into_iter().map(|worker| self.leave(worker, sink)).collect())
    }
}

impl VirtualTestbed {
    /// Lets those go on that waited for how far the others have come.
    fn go_on(&self, endings: &mut Endings, workers: &mut [Worker]) {
        for (index, worker) in workers.iter().enumerate() {
            endings.note_way(index, worker.driver.has_come_to());
        }
        for (index, operations) in endings.to_go_on() {
            workers[index].driver.go_on_to(operations);
            workers[index].wake = Some(self.now);
        }
    }
}

fn hand_over(driver: &mut Driver, endings: &mut Endings, sink: &mut dyn Sink) {
    while let Some(tally) = driver.take_interval() {
        sink.tally(&tally);
        endings.take(&tally);
        driver.recycle(tally);
    }
}

impl VirtualTestbed {
    fn leave(&self, mut worker: Worker, sink: &mut dyn Sink) -> Finished {
        while let Some(tally) = worker.driver.take_interval() {
            sink.tally(&tally);
            worker.driver.recycle(tally);
        }
        let (last, phase) = worker.driver.finish(self.now);
        if last.ops() > 0 || last.error_count() > 0 {
            sink.tally(&last);
        }
        Finished { driver: worker.driver, phase }
    }
}

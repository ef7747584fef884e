//! Every order of the threads that hand tallies to and fro, and that pass records to a file.

use crate::channel::{Outbox, sync_channel};
use crate::clock::Clock;
use crate::worker::{Command, Intervals, Message, WorkerContext, give_back, hand_over};
use drivelab_core::tally::{Keep, Tally};
use loom::thread;
use std::collections::VecDeque;

/// Preemptions of one execution: almost every error of this kind needs two at most.
const PREEMPTIONS: usize = 3;

fn model(run: impl Fn() + Sync + Send + 'static) {
    let mut builder = loom::model::Builder::new();
    builder.preemption_bound = Some(PREEMPTIONS);
    builder.check(run);
}

/// What a driver does with its tallies, and nothing else: one runs, and one is spare.
struct Book {
    running: Box<Tally>,
    spare: Vec<Box<Tally>>,
    ready: VecDeque<Box<Tally>>,
}

fn tally() -> Box<Tally> {
    Box::new(Tally::new(0, 0, 0, &[], Keep::default()))
}

impl Book {
    fn new() -> Self {
        Book { running: tally(), spare: vec![tally()], ready: VecDeque::new() }
    }

    /// An operation, and the end of the interval it was in.
    fn account(&mut self) {
        self.running.in_flight_sum += 1;
        if let Some(mut next) = self.spare.pop() {
            next.clear(0);
            self.ready.push_back(std::mem::replace(&mut self.running, next));
        }
    }
}

impl Intervals for Book {
    fn take_interval(&mut self) -> Option<Box<Tally>> {
        self.ready.pop_front()
    }

    fn lacks_spares(&self) -> bool {
        self.spare.is_empty()
    }

    fn recycle(&mut self, tally: Box<Tally>) {
        self.spare.push(tally);
    }
}

/// No operation is lost, no tally is lost, and nobody waits for ever, however slow either one is.
#[test]
fn loom_tallies_go_to_and_fro() {
    const OPERATIONS: u64 = 3;
    const LAST: u64 = 1;
    let (clock, _) = Clock::calibrate();
    model(move || {
        let (sender, messages) = sync_channel(1);
        let (commands, orders) = sync_channel(2);
        let worker = thread::spawn(move || {
            let (messages, orders) = (&sender, &orders);
            let context = WorkerContext { index: 0, messages, orders, clock, stuck_after_ns: 0 };
            let mut book = Book::new();
            for _ in 0..OPERATIONS {
                book.account();
                hand_over(&mut book, &context);
            }
            let mut last = std::mem::replace(&mut book.running, tally());
            last.to = LAST;
            assert!(sender.send((0, Message::Tally(last))).is_ok(), "somebody listens");
            // What is spare here, and what is on its way.
            let mut left = book.spare.len();
            while let Ok(Command::Recycle(_)) = orders.recv() {
                left += 1;
            }
            left
        });
        let (mut counted, mut kept) = (0, 0);
        while let Ok((_, message)) = messages.recv() {
            let Message::Tally(tally) = message else { panic!("only tallies are sent") };
            counted += tally.in_flight_sum;
            if tally.to == LAST {
                kept += 1;
                break;
            }
            give_back(&commands, tally);
        }
        drop(commands);
        let left = worker.join().expect("the worker ends");
        assert_eq!((counted, left + kept), (OPERATIONS, 2));
    });
}

/// All records arrive in their order, though the queue is shorter than they are many.
#[test]
fn loom_records_arrive_in_order() {
    model(|| {
        let (sender, records) = sync_channel(1);
        let writer = thread::spawn(move || {
            let mut written = Vec::new();
            while let Ok(record) = records.recv() {
                written.push(record);
            }
            written
        });
        let mut outbox = Outbox::new(sender);
        (0..3).for_each(|record| outbox.pass(record));
        outbox.close();
        assert_eq!(writer.join().expect("the writer ends"), [0, 1, 2]);
    });
}

/// A writer that gives up ends nothing: whoever passes records on is not held up.
#[test]
fn loom_a_writer_that_gives_up_holds_nobody_up() {
    model(|| {
        let (sender, records) = sync_channel(1);
        let writer = thread::spawn(move || records.recv().expect("the first"));
        let mut outbox = Outbox::new(sender);
        (0..3).for_each(|record| outbox.pass(record));
        assert_eq!(writer.join().expect("the writer ends"), 0);
        outbox.pass(3);
        assert!(!outbox.is_open(), "it has noticed");
    });
}

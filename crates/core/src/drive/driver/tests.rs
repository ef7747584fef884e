//! Defects that are planted: the step ends, and says what was seen.

use super::*;
use crate::op::{Done, NameOp};
use crate::plan::{Mix, Names, Pattern, Until};
use crate::queue::TroubleKind;
use crate::tally::{Flight, Tally};
use crate::units::Size;

/// Takes everything and keeps the tags.
#[derive(Default)]
struct Taken {
    tags: Vec<Tag>,
    buffer: Vec<u8>,
}

impl Queue for Taken {
    fn now(&self) -> Time {
        0
    }

    fn buffer(&mut self, _: Tag) -> &mut [u8] {
        &mut self.buffer
    }

    fn submit(&mut self, tag: Tag, _: Op) -> Result<(), Trouble> {
        self.tags.push(tag);
        Ok(())
    }
}

/// Reads, of which two are in flight.
fn begun() -> (Driver, Taken) {
    let stream = Stream { mix: Mix::READ, size: Size(4096), depth: 2, ..Stream::default() };
    let until = Until { operations: Some(9), ..Until::default() };
    let step = Step { until, streams: vec![stream], ..Step::default() };
    let mut drivers = drivers_of(&step, 0, 1, Span(1_000_000_000), 1 << 20).expect("it fits");
    let (mut driver, mut queue) = (drivers.remove(0), Taken::default());
    driver.open(0);
    assert_eq!(driver.pump(&mut queue), Ok(Next::Completion));
    assert_eq!(queue.tags, [0, 1]);
    (driver, queue)
}

fn done(tag: Tag, moved: u32) -> Done {
    Done::simple(tag, 0, 100, Ok(moved))
}

#[track_caller]
fn assert_defect(mut driver: Driver, mut queue: Taken, what: &str) {
    let trouble = driver.pump(&mut queue).expect_err("a defect");
    assert_eq!(trouble.kind, TroubleKind::Defect);
    assert_eq!(trouble.text, format!("{what} (a defect of drivelab)"));
}

#[test]
fn what_is_not_in_flight_cannot_come_back() {
    let what = "a completion came of an operation that is not in flight";
    let (mut driver, queue) = begun();
    driver.reap(&done(1, 4096), &[]);
    driver.reap(&done(1, 4096), &[]);
    assert_eq!(driver.book.tally.ops(), 1, "counted once");
    assert_defect(driver, queue, what);
    let (mut driver, queue) = begun();
    driver.reap(&done(7, 4096), &[]);
    assert_defect(driver, queue, what);
}

#[test]
fn nothing_moves_more_than_it_was_asked_for() {
    let (mut driver, queue) = begun();
    driver.reap(&done(0, 4097), &[]);
    assert_defect(driver, queue, "an operation moved more bytes than it was asked for");
}

#[test]
fn a_kind_that_the_stream_has_not_is_not_counted_as_another() {
    let (mut driver, queue) = begun();
    let write = DataOp { action: Action::Write, len: 4096, ..DataOp::default() };
    assert!(driver.slots.land(0).is_some());
    let flight = Flight { op: write.into(), ..Flight::default() };
    assert_eq!(driver.slots.launch(flight), Some(0));
    driver.reap(&done(0, 4096), &[]);
    assert_eq!(driver.book.tally.ops(), 0);
    assert_defect(driver, queue, "an operation completed of a kind that its stream has not");
}

#[test]
fn a_tally_of_another_worker_is_not_used_again() {
    let (mut driver, queue) = begun();
    let keep = Keep::default();
    driver.recycle(Box::new(Tally::new(0, 0, 1, &[Action::Read], keep)));
    assert_defect(driver, queue, "a tally came back to a worker whose it is not");
}

#[test]
fn more_than_the_slots_hold_is_not_submitted() {
    let (mut driver, mut queue) = begun();
    let trouble = driver.submit(&mut queue, Op::default(), 0, 0, false).expect_err("no slot");
    assert_eq!(trouble.kind, TroubleKind::Defect);
    assert_eq!(queue.tags.len(), 2);
}

#[test]
fn a_queue_takes_what_it_is_for() {
    let name = NameOp::new(Action::Unlink, 0);
    let trouble = DataOp::try_from(Op::Name(name)).expect_err("no data");
    assert_eq!(trouble.text, "`unlink` went to a queue of data (a defect of drivelab)");
    let trouble = NameOp::try_from(Op::default()).expect_err("no name");
    assert_eq!(trouble.kind, TroubleKind::Defect);
}

#[test]
fn the_time_that_a_kind_had_is_its_calls_and_what_the_worker_waited_for() {
    let names =
        Names { actions: vec![Action::Create, Action::Unlink], names: Some(2), ..Names::default() };
    let stream = Stream { pattern: Pattern::Names(names), ..Stream::default() };
    let until = Until { passes: Some(1), ..Until::default() };
    let step = Step { until, streams: vec![stream], ..Step::default() };
    let mut driver = drivers_of(&step, 0, 1, Span(1_000_000_000), 0).expect("it fits").remove(0);
    let mut queue = Taken::default();
    driver.open(1000);
    // Each call takes 100 ns; before the second one the worker waits for a CPU.
    for (issued, completed) in [(1000, 1100), (1900, 2000), (2000, 2100), (2100, 2200)] {
        assert_eq!(driver.pump(&mut queue), Ok(Next::Completion));
        driver.reap(&Done::simple(0, issued, completed, Ok(0)), &[]);
    }
    let of = |kind| {
        let tally = driver.book.tally.kinds.iter().find(|tally| tally.kind == kind).unwrap();
        (tally.ops, tally.service.sum(), tally.held_ns)
    };
    assert_eq!(of(Action::Create), (2, 200, Some(1000)));
    assert_eq!(of(Action::Unlink), (2, 200, Some(200)));
}

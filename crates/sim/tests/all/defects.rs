//! Drives that do what none can: the step ends as a defect, and nothing is measured.

use drivelab_core::defect::defect;
use drivelab_core::driver::drivers_of;
use drivelab_core::facts::Facts;
use drivelab_core::inside::{Cause, Inside};
use drivelab_core::op::{DataOp, Time};
use drivelab_core::plan::{Mix, Step, Stream, Until};
use drivelab_core::queue::{Sink, Testbed, Trouble, TroubleKind};
use drivelab_core::tally::Tally;
use drivelab_core::units::{Size, Span};
use drivelab_sim::drive::{Drive, Ticket, Way};
use drivelab_sim::ends::Ends;
use drivelab_sim::testbed::SimTestbed;

/// A drive that is wrong in a way of its own.
struct Wrong(fn(Time, Ticket, &mut Ends));

impl Drive for Wrong {
    fn bytes(&self) -> u64 {
        1 << 20
    }

    fn submit_by(&mut self, now: Time, ticket: Ticket, _: &DataOp, _: Way, ends: &mut Ends) {
        (self.0)(now, ticket, ends);
    }

    fn inside(&mut self, _: Time) -> Inside {
        Inside::default()
    }
}

#[derive(Default)]
struct Counted(u64);

impl Sink for Counted {
    fn tally(&mut self, tally: &Tally) {
        self.0 += tally.ops();
    }
}

/// One read at depth 2 on such a drive.
fn trouble_of(wrong: fn(Time, Ticket, &mut Ends)) -> Trouble {
    let stream = Stream { mix: Mix::READ, size: Size(4096), depth: 2, ..Stream::default() };
    let until = Until { operations: Some(1), ..Until::default() };
    let step = Step { until, streams: vec![stream], ..Step::default() };
    let drivers = drivers_of(&step, 0, 1, Span(1_000_000_000), 1 << 20).unwrap();
    let mut counted = Counted::default();
    let trouble = SimTestbed::new(Wrong(wrong), Facts::default()).run(drivers, &mut counted);
    assert_eq!(counted.0, 0, "nothing of it is handed over");
    trouble.unwrap_err()
}

#[test]
fn an_end_of_what_was_never_begun_ends_the_step() {
    let trouble = trouble_of(|now, ticket, ends| ends.push(now + 5, ticket + 1, Cause::Flash));
    assert_eq!(trouble.kind, TroubleKind::Defect);
    assert!(trouble.text.starts_with("a completion came of an operation that is not in flight"));
}

#[test]
fn an_operation_that_never_ends_ends_the_step() {
    let trouble = trouble_of(|_, _, _| {});
    assert_eq!(trouble.kind, TroubleKind::Defect);
    assert!(trouble.text.starts_with("no operation is in flight on the simulated drive"));
}

#[test]
fn a_drive_that_sees_what_cannot_be_ends_the_step() {
    let trouble = trouble_of(|_, _, _| defect("a block was erased twice"));
    assert_eq!(trouble.kind, TroubleKind::Defect);
    assert_eq!(trouble.text, "a block was erased twice (a defect of drivelab)");
}

//! The real testbed: hand-over of intervals, ends, and what goes wrong in workers.

use crate::conformance_support::*;
use drivelab_core::driver::{Setup, drivers_of};
use drivelab_core::facts::Facts;
use drivelab_core::op::Action;
use drivelab_core::plan::{Arrival, Engine, Mix, Pattern, Step, Stream, Until};
use drivelab_core::queue::{Testbed, Trouble, TroubleKind};
use drivelab_core::units::{Size, Span};
use drivelab_io::testbed::{Handle, Opener, RealTestbed};
use std::time::{Duration, Instant};

fn null(depth: u32, workers: u32) -> Stream {
    Stream {
        engine: Engine::Null,
        pattern: Pattern::Uniform,
        mix: Mix::READ,
        size: Size(4096),
        depth,
        workers,
        ..Stream::default()
    }
}

fn on_nothing() -> RealTestbed {
    let opener: Opener = Box::new(|_: &Setup| Ok(Handle::Nothing));
    RealTestbed::new(Facts::default(), clock(), opener)
}

#[test]
fn a_million_operations_of_the_null_engine_add_up() {
    for depth in [1, 32] {
        let mut sum = Sum::default();
        let all = drivers(null(depth, 2), operations(1_000_000), Span(10_000_000), MIB);
        let finished = on_nothing().run(all, &mut sum).unwrap();
        let total = sum.total();
        assert_eq!(total.bytes(), 4096 * 1_000_000);
        let service = &total.kinds[0].service;
        assert_eq!((total.ops(), service.count()), (1_000_000, 1_000_000));
        let cells: u64 = service.iter_nonzero().map(|(_, _, count)| count).sum();
        assert_eq!(cells, 1_000_000);
        let (least, most) = service.iter_nonzero().fold((0, 0), |(least, most), (low, high, n)| {
            (least + u128::from(low) * u128::from(n), most + u128::from(high) * u128::from(n))
        });
        assert!((least..=most).contains(&service.sum()), "{least} {} {most}", service.sum());
        for quantile in [0.5, 0.9, 0.99, 0.999, 0.9999] {
            let value = service.value_at_quantile(quantile);
            let above = service.count_above(value) as f64 / 1e6;
            assert!(above <= 1.0 - quantile + 1e-9, "{quantile}: {above} lie above {value}");
        }
        let slowest = finished.iter().flat_map(|one| one.driver.slowest());
        assert_eq!(slowest.map(|slow| slow.latency_ns).max(), Some(service.max()));
    }
}

#[test]
fn a_slow_sink_and_short_intervals_lose_nothing_and_hang_nothing() {
    let begin = Instant::now();
    let mut sum = Sum { slowness: Duration::from_millis(60), ..Sum::default() };
    let until = elapsed(Span(600_000_000));
    let all = drivers(null(4, 4), until, Span(10_000_000), MIB);
    let finished = on_nothing().run(all, &mut sum).unwrap();
    let issued: u64 = finished.iter().map(|one| one.phase.issued).sum();
    assert_eq!(sum.total().ops(), issued);
    assert!(sum.intervals >= 8, "{}", sum.intervals);
    for one in finished {
        let measured = one.phase.closed - one.phase.measured_from;
        assert!(measured >= 600_000_000, "{measured}");
    }
    assert!(begin.elapsed() < Duration::from_secs(60));
}

#[test]
fn a_worker_that_panics_is_a_trouble_and_no_hang() {
    // Without a share for any kind there is nothing to draw from: validation refuses such plans.
    let broken = Stream { mix: Mix::default(), ..null(1, 1) };
    let step = Step {
        name: "test".into(),
        until: elapsed(Span(60_000_000_000)),
        streams: vec![null(1, 1), broken],
        ..Step::default()
    };
    let begin = Instant::now();
    let all = drivers_of(&step, 0, SEED, Span(100_000_000), MIB).unwrap();
    let trouble = on_nothing().run(all, &mut Sum::default()).unwrap_err();
    assert_eq!(trouble.kind, TroubleKind::Defect);
    let is_named = trouble.text.starts_with("worker ") && trouble.text.contains("a defect of");
    assert!(is_named, "{trouble}");
    assert!(begin.elapsed() < Duration::from_secs(30), "the other worker was stopped");
}

#[test]
fn a_target_that_cannot_be_opened_ends_the_step_before_it_begins() {
    let opener: Opener = Box::new(|setup: &Setup| match setup.worker {
        0 | 1 => Ok(Handle::Nothing),
        _ => Err(Trouble::usage("it is gone")),
    });
    let mut testbed = RealTestbed::new(Facts::default(), clock(), opener);
    let psync = Stream { engine: Engine::Psync, ..null(1, 3) };
    let all = drivers(psync, operations(10), Span(100_000_000), MIB);
    let trouble = testbed.run(all, &mut Sum::default()).unwrap_err();
    assert_eq!(trouble.text, "it is gone");
    let all = drivers(null(1, 3), operations(10), Span(100_000_000), MIB);
    let mut sum = Sum::default();
    testbed.run(all, &mut sum).unwrap();
    assert_eq!(sum.ops(Action::Read), 10, "the testbed can be used again");
}

#[test]
fn an_engine_that_cannot_be_set_up_says_what_to_do() {
    let place = tmpfs();
    let stream = Stream { depth: 40_000, ..IO_URING.stream(Pattern::Uniform, Mix::READ) };
    let all = drivers(stream, operations(10), Span(100_000_000), TARGET_BYTES);
    let result = testbed(&place.path, false, None).run(all, &mut Sum::default());
    let trouble = result.unwrap_err();
    assert_eq!(trouble.kind, TroubleKind::Usage);
    assert!(trouble.text.contains("depth"), "{trouble}");
    let stream = Stream { ..null(1, 1) };
    let step = Step {
        name: "test".into(),
        until: operations(10),
        cpus: "4000".into(),
        streams: vec![stream],
        ..Step::default()
    };
    let all = drivers_of(&step, 0, SEED, Span(100_000_000), MIB).unwrap();
    let trouble = on_nothing().run(all, &mut Sum::default()).unwrap_err();
    assert!(trouble.text.contains("4000"), "{trouble}");
}

#[test]
fn a_failure_of_one_worker_ends_the_others_and_is_kept() {
    let place = tmpfs();
    let inside = PSYNC.stream(Pattern::Uniform, Mix::READ);
    let inside = Stream { length: Some(Size(MIB)), ..inside };
    let outside = Stream { offset: Size(TARGET_BYTES), length: Some(Size(MIB)), ..inside.clone() };
    let step = Step {
        name: "test".into(),
        until: elapsed(Span(60_000_000_000)),
        streams: vec![inside, outside],
        ..Step::default()
    };
    let begin = Instant::now();
    let all = drivers_of(&step, 0, SEED, Span(100_000_000), 2 * TARGET_BYTES).unwrap();
    let mut sum = Sum::default();
    let finished = testbed(&place.path, false, None).run(all, &mut sum).unwrap();
    assert!(begin.elapsed() < Duration::from_secs(30));
    assert_eq!(finished.len(), 2);
    assert_eq!(finished[0].driver.failure(), None);
    let failure = finished[1].driver.failure().unwrap();
    assert_eq!((failure.errno, failure.moved), (None, 0), "a short transfer");
}

#[test]
fn background_streams_and_stonewalls_end_with_the_others() {
    let front = Stream { name: "front".into(), ..null(1, 1) };
    let behind = Stream { name: "behind".into(), background: true, ..null(2, 2) };
    let until = Until { operations: Some(1000), ..Until::default() };
    let mut step = Step {
        name: "test".into(),
        until,
        streams: vec![front, Stream { arrival: Arrival::paced(1.0), ..behind }],
        ..Step::default()
    };
    let begin = Instant::now();
    let all = drivers_of(&step, 0, SEED, Span(100_000_000), MIB).unwrap();
    let finished = on_nothing().run(all, &mut Sum::default()).unwrap();
    assert_eq!(finished[0].phase.issued, 1000);
    // Paced at one a second they would need 500 s.
    assert!(finished[1].phase.issued + finished[2].phase.issued < 100);
    step.streams = vec![Stream { arrival: Arrival::paced(1.0), ..null(1, 1) }, null(1, 1)];
    step.until = Until { operations: Some(100), stonewall: true, ..elapsed(Span(2_000_000_000)) };
    let all = drivers_of(&step, 0, SEED, Span(100_000_000), MIB).unwrap();
    let finished = on_nothing().run(all, &mut Sum::default()).unwrap();
    assert!(finished[0].phase.issued >= 2, "the wall is of its own stream");
    assert!(begin.elapsed() < Duration::from_secs(60));
}

#[test]
fn time_goes_on_between_steps() {
    let mut testbed = on_nothing();
    let mut last = 0;
    for _ in 0..3 {
        let all = drivers(null(1, 2), operations(100), Span(100_000_000), MIB);
        let finished = testbed.run(all, &mut Sum::default()).unwrap();
        for one in finished {
            assert!(one.phase.opened >= last && one.phase.closed >= one.phase.opened);
            last = last.max(one.phase.opened);
        }
    }
}

//! Streams that end when their rate has become level: on drives whose rate settles, and on those
//! that never do.

use crate::support;
use crate::support::{
    MIB, MILLISECOND, Outcome, SECOND, drivers, elapsed, reads, run, serial, step,
};
use drivelab_core::level::{Watch, WorkerInterval};
use drivelab_core::op::{DataOp, Time};
use drivelab_core::plan::{Level, Pattern, Rate, Step, Stream, Unevenness, Until};
use drivelab_core::units::{Size, Span};

fn level(by: Unevenness, limit: f64, window_s: u64) -> Level {
    Level {
        of: Rate::Operations,
        by,
        limit,
        percent: true,
        window: Span(window_s * SECOND),
        every: Span(SECOND),
        after: Span(0),
        group: Some(0),
    }
}

fn watched(level: Level, cap_s: u64) -> Step {
    let until = Until { level: Some(level), ..elapsed(cap_s * SECOND) };
    step(until, vec![reads(Pattern::Uniform)])
}

/// Slower from operation to operation, until from the 2000th on each takes 5 ms: after 6 s.
fn settling(count: u64) -> Time {
    (1 + count / 500).min(5) * MILLISECOND
}

/// Fast and slow in turn, by hundreds.
fn noisy(count: u64) -> Time {
    (1 + (count / 300) % 2 * 4) * MILLISECOND
}

fn last_s(outcome: &Outcome) -> f64 {
    outcome.issues.iter().map(|issue| issue.completed).max().unwrap() as f64 / SECOND as f64
}

#[test]
fn a_rate_that_settles_ends_the_stream_when_the_window_is_level() {
    for by in [Unevenness::Deviation, Unevenness::Slope] {
        let outcome = run(drivers(&watched(level(by, 1.0, 5), 3600), MIB), serial(settling));
        // Level from the sixth second on, and so until the eleventh has passed.
        let end_s = last_s(&outcome);
        assert!((10.0..11.2).contains(&end_s), "{by:?}: {end_s} s");
    }
}

#[test]
fn it_is_judged_by_the_same_seconds_afterwards() {
    let level = level(Unevenness::Deviation, 1.0, 5);
    let outcome = run(drivers(&watched(level, 3600), MIB), serial(settling));
    let mut watch = Watch::new(level, vec![(0, 0)]);
    outcome.sink.tallies.iter().for_each(|tally| watch.take(WorkerInterval::of(tally)));
    assert!(watch.is_level(|_| false));
    let found = watch.outcome();
    assert_eq!(found.seconds.len(), 5);
    assert!(found.seconds.iter().all(|second| second[0].abs_diff(200) <= 1), "{found:?}");
    assert!(found.judgement.criterion < 1.0);
}

#[test]
fn noise_is_never_level_and_the_runtime_ends_it() {
    for (by, limit) in [(Unevenness::Deviation, 1.0), (Unevenness::Slope, 0.0)] {
        let outcome = run(drivers(&watched(level(by, limit, 3), 20), MIB), serial(noisy));
        assert!((last_s(&outcome) - 20.0).abs() < 0.1, "{by:?}: {} s", last_s(&outcome));
    }
}

#[test]
fn the_first_window_begins_after_the_ramp_and_the_time_after_it() {
    let level = Level { after: Span(4 * SECOND), ..level(Unevenness::Deviation, 5.0, 3) };
    let step = Step { ramp: Span(2 * SECOND), ..watched(level, 3600) };
    let outcome = run(drivers(&step, MIB), serial(|_| MILLISECOND));
    assert!((last_s(&outcome) - 9.0).abs() < 0.01, "{} s", last_s(&outcome));
}

/// Two streams on drives of their own, one that is level at once and one that settles later.
fn two(group: [Option<u32>; 2]) -> Outcome {
    let stream = |group| {
        let level = Level { group, ..level(Unevenness::Deviation, 1.0, 4) };
        let until = Some(Until { level: Some(level), ..elapsed(3600 * SECOND) });
        Stream { until, ..reads(Pattern::SEQUENTIAL) }
    };
    let streams = group.map(stream).into_iter().enumerate();
    let streams = streams.map(|(at, stream)| Stream { size: Size([4096, 8192][at]), ..stream });
    let step = step(Until::default(), streams.collect());
    let (mut fast, mut slow) = (serial(|_| 2 * MILLISECOND), serial(settling));
    run(drivers(&step, MIB), move |now: Time, op: &DataOp, buffer: &mut [u8]| match op.len {
        4096 => support::Drive::serve(&mut fast, now, op, buffer),
        _ => support::Drive::serve(&mut slow, now, op, buffer),
    })
}

fn ends_s(outcome: &Outcome) -> [f64; 2] {
    [0, 1].map(|stream| {
        let its = outcome.issues.iter().filter(|issue| issue.stream == stream);
        its.map(|issue| issue.completed).max().unwrap() as f64 / SECOND as f64
    })
}

#[test]
fn groups_end_together_and_others_each_by_itself() {
    let [fast, slow] = ends_s(&two([None, None]));
    assert!((fast - 4.0).abs() < 0.1, "{fast}");
    assert!(slow > 9.0, "{slow}");
    let [fast, slow] = ends_s(&two([Some(1), Some(1)]));
    assert!((fast - slow).abs() < 0.1 && fast > 8.0, "{fast} {slow}");
}

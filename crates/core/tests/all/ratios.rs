//! Streams that keep their operations in a ratio, on a drive in virtual time.

use crate::support::*;
use drivelab_core::driver::drivers_of;
use drivelab_core::plan::{Arrival, Flow, Pattern, Step, Stream, Until};
use drivelab_core::units::Span;

const FILE: u64 = 1 << 20;

fn of(weight: u32, group: u32) -> Stream {
    let flow = Some(Flow { weight, group, pause: Span(0) });
    Stream { name: format!("{weight} of {group}"), flow, ..reads(Pattern::Uniform) }
}

/// Operations of each stream until a time.
fn counts(issues: &[Issue], streams: usize) -> Vec<u64> {
    let mut counts = vec![0; streams];
    issues.iter().for_each(|issue| counts[issue.stream as usize] += 1);
    counts
}

fn issues(streams: Vec<Stream>, elapsed: u64) -> Vec<Issue> {
    outcome(streams, elapsed).issues
}

fn outcome(streams: Vec<Stream>, elapsed: u64) -> Outcome {
    let until = Until { elapsed: Some(Span(elapsed)), ..Until::default() };
    let step = Step { until, streams, ..Step::default() };
    let drivers = drivers_of(&step, 0, SEED, Span(SECOND), FILE).unwrap();
    run(drivers, constant(50 * MICROSECOND))
}

fn assert_ratio(counts: &[u64], weights: &[u64]) {
    let (all, weighed): (u64, u64) = (counts.iter().sum(), weights.iter().sum());
    for (count, weight) in counts.iter().zip(weights) {
        // One more than its share is what lets anyone go on at all.
        assert!(count.abs_diff(all * weight / weighed) <= weighed, "{counts:?} for {weights:?}");
    }
}

#[test]
fn streams_of_a_group_issue_in_the_ratio_of_their_weights() {
    let deep = |stream: Stream| Stream { depth: 8, ..stream };
    let streams = vec![deep(of(1, 1)), deep(of(5, 1)), deep(of(10, 1))];
    let counts = counts(&issues(streams, SECOND / 4), 3);
    assert!(counts[2] > 1_000, "{counts:?}");
    assert_ratio(&counts, &[1, 5, 10]);
}

#[test]
fn each_worker_has_the_weight_of_its_stream_and_groups_know_nothing_of_each_other() {
    let two = Stream { workers: 2, ..of(1, 1) };
    let free = of(1, 2);
    let counts = counts(&issues(vec![two, of(4, 1), free], SECOND / 4), 3);
    assert_ratio(&counts[..2], &[2, 4]);
    // Alone in its group it is never held: 50 µs each for a quarter of a second.
    assert_eq!(counts[2], 5_000, "{counts:?}");
}

#[test]
fn a_rate_bounds_those_that_keep_a_ratio_to_it() {
    let slow = Stream { arrival: Arrival::paced(1_000.0), ..of(1, 0) };
    let fast = Stream { depth: 16, ..of(8, 0) };
    let counts = counts(&issues(vec![slow, fast], SECOND), 2);
    assert!(counts[0].abs_diff(1_000) <= 1, "{counts:?}");
    assert_ratio(&counts, &[1, 8]);
    let bursts =
        Stream { depth: 4, arrival: Arrival::thinking(Some(4), Span(4 * 1_000_000)), ..of(1, 0) };
    let fast = Stream { depth: 16, ..of(8, 0) };
    let counts = crate::ratios::counts(&issues(vec![bursts, fast], SECOND), 2);
    assert!(counts[0] > 900 && counts[0] < 1_000, "{counts:?}");
    assert_ratio(&counts, &[1, 8]);
}

#[test]
fn who_has_ended_holds_nobody_and_who_begins_later_is_waited_for_from_then_on() {
    let ends = |at: u64, stream: Stream| Stream {
        until: Some(Until { elapsed: Some(Span(at)), ..Until::default() }),
        ..stream
    };
    let half = SECOND / 2;
    let three = vec![of(1, 0), of(2, 0), ends(half, of(3, 0))];
    let all = issues(three, SECOND);
    let (first, second): (Vec<Issue>, Vec<Issue>) =
        all.into_iter().partition(|issue| issue.at < half);
    assert_ratio(&counts(&first, 3), &[1, 2, 3]);
    let later = counts(&second, 3);
    assert_ratio(&later[..2], &[1, 2]);
    assert!(later[0] > 4_000, "faster than with the third: {later:?}");
    let late = Stream { start_after: Span(half), ..of(1, 0) };
    let all = issues(vec![of(1, 0), late], SECOND);
    let before = all.iter().filter(|issue| issue.at < half).count();
    assert_eq!(before, 10_000, "nobody waits for who has not begun");
}

#[test]
fn bounds_and_flushes_are_what_they_are_without_a_ratio() {
    let counted = |stream: Stream| Stream {
        until: Some(Until { operations: Some(700), ..Until::default() }),
        ..stream
    };
    let streams = vec![counted(of(1, 0)), counted(of(9, 0))];
    let all = issues(streams, SECOND);
    assert_eq!(counts(&all, 2), [700, 700]);
}

/// A worker that stands still holds the other one: that is no freeze of the drive, no slow request,
/// and no time that the other one did not have.
#[test]
fn waiting_for_others_is_told_and_taken_for_nothing_else() {
    let rests = Stream { arrival: Arrival::thinking(None, Span(SECOND / 4)), ..of(1, 0) };
    let outcome = outcome(vec![rests, of(1, 0)], 2 * SECOND);
    let phases: Vec<_> = outcome.finished.iter().map(|finished| finished.phase).collect();
    assert_eq!(phases[0].waited_ns, 0, "nobody is slower");
    let waited = phases[1].waited_ns;
    assert!(waited > 2 * SECOND - 20 * MILLISECOND && waited < 2 * SECOND, "{waited}");
    assert_eq!(phases[0].closed, 2 * SECOND, "it waits to the end, and has had that time");
    assert!(phases[1].closed >= 2 * SECOND, "{:?}", phases[1]);
    let held = outcome.sink.tallies.iter().filter(|tally| tally.stream == 1);
    for tally in held {
        assert_eq!((tally.gap_ns_max, tally.gaps.len()), (50 * MICROSECOND, 0), "{tally:?}");
        let slowest = tally.kinds.iter().map(|kind| kind.service.max()).max();
        assert_eq!(slowest, Some(50 * MICROSECOND));
    }
}

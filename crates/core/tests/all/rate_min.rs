//! Workers that must keep a rate, and end where they do not.

use crate::support::*;
use drivelab_core::op::{Action, DataOp, Time};
use drivelab_core::plan::{BelowRate, Mix, Pattern, Rate, RateMin, Stream, Until};
use drivelab_core::units::Span;

/// Reads of 100 µs, one after the other: 10,000 a second.
const LATENCY: Time = 100 * MICROSECOND;

fn least(read: u64) -> RateMin {
    RateMin {
        of: Rate::Operations,
        read,
        write: 0,
        trim: 0,
        every: Span(SECOND),
        after: Span(2 * SECOND),
    }
}

fn until(rate_min: RateMin) -> Until {
    Until { rate_min: Some(rate_min), ..elapsed(6 * SECOND) }
}

/// When it ended, and what was too little.
fn ended(rate_min: RateMin, stream: Stream, drive: impl Drive) -> (Time, Option<BelowRate>) {
    let outcome = run(drivers(&step(until(rate_min), vec![stream]), MIB), drive);
    let phase = &outcome.finished[0].phase;
    (phase.last, phase.below)
}

#[test]
fn a_worker_that_is_too_slow_ends_with_the_first_whole_window() {
    let below = |read| Some(BelowRate { read: Some(read), ..BelowRate::default() });
    let stream = || reads(Pattern::Uniform);
    assert_eq!(ended(least(10_001), stream(), constant(LATENCY)), (3 * SECOND, below(10_000)));
    assert_eq!(ended(least(10_000), stream(), constant(LATENCY)), (6 * SECOND, None));
    let bytes = RateMin { of: Rate::Bytes, read: 40_960_001, ..least(0) };
    assert_eq!(ended(bytes, stream(), constant(LATENCY)), (3 * SECOND, below(40_960_000)));
    let bytes = RateMin { read: 40_960_000, ..bytes };
    assert_eq!(ended(bytes, stream(), constant(LATENCY)).1, None);
    let at_once = RateMin { every: Span(SECOND / 10), after: Span(0), ..least(10_001) };
    // A window begins with the first completion.
    let end = SECOND / 10 + LATENCY;
    assert_eq!(ended(at_once, stream(), constant(LATENCY)), (end, below(10_000)));
}

#[test]
fn a_rate_that_is_kept_but_for_nanoseconds_is_kept() {
    // 999.997 a second: a window lasts to the thousandth completion, three microseconds more.
    let drive = || constant(1_000 * MICROSECOND + 3);
    assert_eq!(ended(least(1_000), reads(Pattern::Uniform), drive()).1, None);
    let below = Some(BelowRate { read: Some(1_000), ..BelowRate::default() });
    assert_eq!(ended(least(1_001), reads(Pattern::Uniform), drive()).1, below);
}

#[test]
fn a_drive_that_becomes_slow_is_told_by_the_window_in_which_it_does() {
    let drive = |now: Time, op: &DataOp, _: &mut [u8]| {
        let latency = if now < 4 * SECOND + SECOND / 2 { LATENCY } else { 2 * LATENCY };
        (now + latency, Ok(op.len))
    };
    let (end, below) = ended(least(9_000), reads(Pattern::Uniform), drive);
    assert_eq!(end, 5 * SECOND);
    let read = below.unwrap().read.unwrap();
    assert!((7_499..=7_501).contains(&read), "{read}");
}

#[test]
fn who_keeps_the_rate_goes_on_and_what_is_not_done_is_not_looked_at() {
    let slow = |now: Time, op: &DataOp, _: &mut [u8]| {
        let latency = if op.action == Action::Write { 10 * LATENCY } else { LATENCY };
        (now + latency, Ok(op.len))
    };
    let rate_min = RateMin { write: 5_000, trim: 5_000, ..least(5_000) };
    let streams = vec![reads(Pattern::Uniform), writes(Pattern::Uniform)];
    let outcome = run(drivers(&step(until(rate_min), streams), MIB), slow);
    let of = |stream: usize| &outcome.finished[stream].phase;
    assert_eq!((of(0).last, of(0).below), (6 * SECOND, None));
    let below = BelowRate { write: Some(1_000), ..BelowRate::default() };
    assert_eq!((of(1).last, of(1).below), (3 * SECOND, Some(below)));
    // Both kinds of one worker are told.
    let mixed = Stream { mix: Mix { read: 50, write: 50, trim: 0 }, ..reads(Pattern::Uniform) };
    let (end, below) = ended(rate_min, mixed, constant(LATENCY * 4));
    assert!((3 * SECOND..3 * SECOND + SECOND / 100).contains(&end), "{end}");
    let rates = below.unwrap().rates();
    assert!(rates[0].is_some() && rates[1].is_some() && rates[2].is_none(), "{rates:?}");
}

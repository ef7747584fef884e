//! Streams that begin later, end all others, leave places out, or jump by kind.

use crate::support::*;
use drivelab_core::op::{Action, Time};
use drivelab_core::plan::{Jump, KindShares, Mix, Pattern, Sequence, Stream, Until};
use drivelab_core::units::{Size, Span};

const LATENCY: Time = 100 * MICROSECOND;

#[test]
fn a_stream_that_begins_later_is_measured_from_then() {
    let late = Stream { start_after: Span(3 * SECOND / 2), ..reads(Pattern::Uniform) };
    let paced = Stream {
        arrival: drivelab_core::plan::Arrival::paced(1000.0),
        start_after: Span(SECOND / 2),
        ..writes(Pattern::Uniform)
    };
    let step = step(elapsed(SECOND), vec![reads(Pattern::Uniform), late, paced]);
    let outcome = run(drivers(&step, MIB), constant(LATENCY));
    for (stream, begin, count) in
        [(0, 0, 10_000), (1, 3 * SECOND / 2, 10_000), (2, SECOND / 2, 1000)]
    {
        let own: Vec<_> = outcome.issues.iter().filter(|it| it.stream == stream).collect();
        assert_eq!((own[0].at, own.len()), (begin, count), "stream {stream}");
        let phase = &outcome.finished[stream as usize].phase;
        assert_eq!((phase.opened, phase.closed), (begin, begin + SECOND), "stream {stream}");
    }
}

#[test]
fn the_first_of_such_a_stream_that_ends_stops_all_others() {
    let until = Until { ends_all: true, ..operations(100) };
    let first = Stream { until: Some(until), ..reads(Pattern::SEQUENTIAL) };
    let other = Stream { workers: 2, ..writes(Pattern::Uniform) };
    let outcome = run(drivers(&step(operations(2000), vec![first, other]), MIB), constant(LATENCY));
    let of = |stream| outcome.issues.iter().filter(|it| it.stream == stream).count();
    assert_eq!(of(0), 100);
    assert!((198..=204).contains(&of(1)), "{}", of(1));
}

fn slots(pattern: Sequence, count: u64) -> Vec<u64> {
    let stream = reads(Pattern::Sequential(pattern));
    let step = step(operations(count), vec![stream]);
    let outcome = run(drivers(&step, 16 * 4096), constant(LATENCY));
    outcome.issues.iter().map(|it| it.op.offset / 4096).collect()
}

#[test]
fn a_stride_that_restarts_leaves_the_same_places_out() {
    let every_third = Sequence { stride: Some(3), restart: true, ..Sequence::default() };
    assert_eq!(slots(every_third, 8), [0, 3, 6, 9, 12, 15, 0, 3]);
    let back = Sequence { stride: Some(-5), begin: Some(Size(4096)), ..every_third };
    assert_eq!(slots(back, 5), [14, 9, 4, 14, 9]);
    // Without it the places that were left out come in the next round.
    let all = Sequence { restart: false, ..every_third };
    assert_eq!(slots(all, 8), [0, 3, 6, 9, 12, 15, 1, 4]);
}

#[test]
fn each_kind_jumps_by_its_own_share() {
    let shares = KindShares { read: 0.0, write: 0.25, trim: 0.0 };
    let stream = Stream {
        mix: Mix { read: 50, write: 50, trim: 0 },
        ..reads(Pattern::SemiRandom(Jump::Shares(shares)))
    };
    let step = step(operations(20_000), vec![stream]);
    let outcome = run(drivers(&step, 64 * MIB), constant(LATENCY));
    let jumps = |kind: Action| {
        let own: Vec<u64> = outcome
            .issues
            .iter()
            .filter(|it| it.op.action == kind)
            .map(|it| it.op.offset)
            .collect();
        let jumps = own.windows(2).filter(|pair| pair[0] + 4096 != pair[1]).count();
        jumps as f64 / (own.len() - 1) as f64
    };
    assert_eq!(jumps(Action::Read), 0.0);
    assert!((jumps(Action::Write) - 0.25).abs() < 0.02, "{}", jumps(Action::Write));
}

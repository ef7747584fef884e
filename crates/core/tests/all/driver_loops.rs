//! Closed and open loops on the virtual testbed: exact counts, rates and times.

use crate::support;
use crate::support::*;
use drivelab_core::op::{Action, DataOp, Op, Place, Time};
use drivelab_core::plan::{
    Arrival, Mix, Pattern, Reply, Sharing, Step, Stream, Sync, SyncTiming, Think, Until,
};
use drivelab_core::queue::{Finished, Testbed};
use drivelab_core::units::{Size, Span};
use drivelab_core::virtual_bed::VirtualTestbed;

const LATENCY: Time = 100 * MICROSECOND;

fn on_virtual(step: &Step, servers: usize) -> (Vec<Finished>, Kept, Vec<(u32, u32, Op)>) {
    let mut bed = VirtualTestbed::new(LATENCY, servers);
    bed.keep_log = true;
    let mut sink = Kept::default();
    let finished = bed.run(drivers(step, 64 * MIB), &mut sink).unwrap();
    (finished, sink, bed.log)
}

#[test]
fn a_closed_loop_reaches_exactly_what_depth_and_servers_allow() {
    for (depth, servers, workers) in [(1, 4, 1), (2, 4, 1), (4, 4, 1), (32, 4, 1), (8, 4, 2)] {
        let stream = Stream { depth, workers, ..reads(Pattern::Uniform) };
        let (finished, sink, _) = on_virtual(&step(elapsed(SECOND), vec![stream]), servers);
        let all = sink.measured();
        let busy = u64::from(depth * workers).min(servers as u64);
        let queueing = u64::from(depth * workers).div_ceil(servers as u64).max(1);
        // 10,000 rounds fit, and what was in flight at the end still counts.
        let drained = u64::from(depth * workers).saturating_sub(busy);
        assert_eq!(all.ops(), busy * 10_000 + drained, "depth {depth}, {workers} worker(s)");
        let service = &all.kinds[0].service;
        assert_eq!(service.max(), queueing * LATENCY);
        assert_eq!(service.min(), LATENCY);
        let close = finished.iter().map(|one| one.phase.closed).max().unwrap();
        assert_eq!(close, SECOND + drained.div_ceil(busy) * LATENCY);
        let little = service.sum() as f64 / close as f64;
        assert!((little / f64::from(depth * workers) - 1.0).abs() < 0.002, "{little}");
        assert!(all.in_flight_sum <= u64::from(depth) * all.ops());
    }
}

#[test]
fn depth_is_never_exceeded_and_always_reached() {
    for engine_depth in [1, 3, 16] {
        let stream = Stream {
            depth: engine_depth,
            workers: 2,
            mix: Mix { read: 50, write: 50, trim: 0 },
            sync: Sync::Fsync(3),
            reply: Some(Reply::Same),
            ..reads(Pattern::Uniform)
        };
        let mut count = 0;
        let jitter = move |now: Time, op: &DataOp, _: &mut [u8]| {
            count += 1;
            (now + 1000 + count * 7919 % 50_000, Ok(op.len))
        };
        let outcome = run(drivers(&step(operations(4000), vec![stream]), MIB), jitter);
        let deepest = outcome.issues.iter().map(|issue| issue.depth).max();
        assert_eq!(deepest, Some(engine_depth));
    }
}

#[test]
fn bounds_are_exact_over_workers() {
    let stream = |workers| Stream { workers, depth: 4, ..reads(Pattern::Uniform) };
    for workers in [1, 3, 7] {
        let (_, sink, log) = on_virtual(&step(operations(1000), vec![stream(workers)]), 8);
        assert_eq!((sink.measured().ops(), log.len()), (1000, 1000));
        let most = (0..workers).map(|w| log.iter().filter(|e| e.1 == w).count()).max();
        assert_eq!(most, Some(1000usize.div_ceil(workers as usize)), "divided before the start");
        let bytes = Until { bytes: Some(Size(1000 * 4096)), ..Until::default() };
        let (_, sink, _) = on_virtual(&step(bytes, vec![stream(workers)]), 8);
        assert_eq!(sink.measured().bytes(), 1000 * 4096);
        for pattern in [Pattern::Uniform, Pattern::SEQUENTIAL, Pattern::Permutation] {
            let stream =
                Stream { pattern: pattern.clone(), length: Some(Size(MIB)), ..stream(workers) };
            let (_, sink, _) = on_virtual(&step(passes(3), vec![stream]), 8);
            assert_eq!(sink.measured().bytes(), 3 * MIB, "{pattern:?} {workers}");
        }
        // All from the same beginning, and still the bytes of the region together.
        let regions = Some(Sharing::Shared);
        let together = Stream { regions, length: Some(Size(MIB)), ..stream(workers) };
        let together = Stream { pattern: Pattern::SEQUENTIAL, ..together };
        let (_, sink, log) = on_virtual(&step(passes(3), vec![together]), 8);
        let first = Place::Data { offset: 0 };
        assert_eq!(sink.measured().bytes(), 3 * MIB, "shared, {workers}");
        assert_eq!(
            log.iter().filter(|(_, _, op)| op.place() == first).count() % workers as usize,
            0
        );
    }
}

#[test]
fn fewer_operations_than_workers_are_not_multiplied() {
    let stream = Stream { workers: 5, ..reads(Pattern::Uniform) };
    let (_, sink, log) = on_virtual(&step(operations(3), vec![stream]), 8);
    assert_eq!((sink.measured().ops(), log.len()), (3, 3));
}

#[test]
fn the_bound_reached_first_ends_the_stream() {
    let until = Until {
        elapsed: Some(Span(SECOND)),
        operations: Some(500),
        bytes: Some(Size(100 * 4096)),
        ..Until::default()
    };
    let (_, sink, _) = on_virtual(&step(until.clone(), vec![reads(Pattern::Uniform)]), 1);
    assert_eq!(sink.measured().ops(), 100);
    let until = Until { elapsed: Some(Span(MILLISECOND)), ..until };
    let (_, sink, _) = on_virtual(&step(until, vec![reads(Pattern::Uniform)]), 1);
    assert_eq!(sink.measured().ops(), 10);
}

#[test]
fn the_ramp_is_recorded_and_left_out() {
    let stream = Stream { depth: 2, ..reads(Pattern::Uniform) };
    let step = Step { ramp: Span(SECOND / 2), ..step(elapsed(SECOND), vec![stream]) };
    let (finished, sink, log) = on_virtual(&step, 2);
    let ramp: u64 = sink.tallies.iter().filter(|tally| tally.ramp).map(|tally| tally.ops()).sum();
    // Completions at 100 µs, 200 µs … : those before the end of the ramp belong to it.
    assert_eq!(ramp, 2 * 4999);
    assert_eq!(sink.measured().ops(), 2 * 10_001);
    assert_eq!(log.len() as u64, 2 * 15_000);
    let phase = finished[0].phase;
    assert_eq!((phase.measured_from, phase.closed), (SECOND / 2, 3 * SECOND / 2));
    assert_eq!(phase.issued, 2 * 15_000);
    assert!(finished[0].driver.slowest().iter().all(|slow| slow.issued + LATENCY >= SECOND / 2));
}

#[test]
fn bursts_wait_for_all_and_then_think() {
    for (think_first, reply) in [(false, None), (true, None), (false, Some(Reply::Same))] {
        let stream = Stream {
            depth: 4,
            reply,
            arrival: Arrival::Closed {
                burst: Some(3),
                think: Some(Think { time: Span(MILLISECOND), first: think_first }),
            },
            ..reads(Pattern::Uniform)
        };
        let per_burst = if reply.is_some() { 6 } else { 3 };
        let outcome = run(
            drivers(&step(operations(5 * per_burst), vec![stream]), MIB),
            serial(|_| 100 * MICROSECOND),
        );
        let mut start = if think_first { MILLISECOND } else { 0 };
        for burst in outcome.issues.chunks(per_burst as usize) {
            assert!(burst[..3].iter().all(|issue| issue.at == start), "{start}: {burst:?}");
            let end = burst.iter().map(|issue| issue.completed).max().unwrap();
            assert_eq!(end, start + per_burst * 100 * MICROSECOND);
            start = end + MILLISECOND;
        }
        assert_eq!(outcome.issues.len() as u64, 5 * per_burst);
    }
}

#[test]
fn a_flush_belongs_to_its_burst_and_counts_in_none() {
    let stream = Stream {
        depth: 4,
        sync: Sync::Fsync(2),
        arrival: Arrival::thinking(Some(4), Span(MILLISECOND)),
        ..writes(Pattern::SEQUENTIAL)
    };
    let outcome =
        run(drivers(&step(operations(12), vec![stream]), MIB), constant(100 * MICROSECOND));
    let flushes = outcome.issues.iter().filter(|i| i.op.action == Action::Flush).count();
    assert_eq!((outcome.issues.len() - flushes, flushes), (12, 6));
    let mut bursts: Vec<Vec<&Issue>> = vec![Vec::new()];
    for issue in &outcome.issues {
        let last = bursts.last_mut().unwrap();
        if last.last().is_some_and(|before| issue.at >= before.completed + MILLISECOND) {
            bursts.push(vec![issue]);
        } else {
            last.push(issue);
        }
    }
    assert_eq!(bursts.iter().map(Vec::len).collect::<Vec<_>>(), [6, 6, 6]);
}

#[test]
fn think_time_follows_every_operation_without_a_burst() {
    let stream = Stream {
        sync: Sync::Fsync(1),
        arrival: Arrival::thinking(None, Span(MILLISECOND)),
        ..writes(Pattern::SEQUENTIAL)
    };
    let outcome =
        run(drivers(&step(operations(3), vec![stream]), MIB), constant(100 * MICROSECOND));
    let got: Vec<(Action, Time)> =
        outcome.issues.iter().map(|i| (i.op.action, i.at / MICROSECOND)).collect();
    use Action::{Flush, Write};
    let expected =
        [(Write, 0), (Flush, 100), (Write, 1200), (Flush, 1300), (Write, 2400), (Flush, 2500)];
    assert_eq!(got, expected);
}

#[test]
fn fixed_arrivals_come_on_time_and_interleave_over_workers() {
    let stream =
        Stream { workers: 2, depth: 8, arrival: Arrival::paced(1000.0), ..reads(Pattern::Uniform) };
    let outcome =
        run(drivers(&step(elapsed(SECOND), vec![stream]), MIB), constant(100 * MICROSECOND));
    let times: Vec<Time> = outcome.issues.iter().map(|issue| issue.at).collect();
    assert_eq!(times, (0..1000).map(|index| index * MILLISECOND).collect::<Vec<Time>>());
    let all = outcome.sink.measured();
    let response = all.kinds[0].response.as_ref().unwrap();
    assert_eq!((response.min(), response.max()), (100 * MICROSECOND, 100 * MICROSECOND));
    assert_eq!((all.late_ns_sum, all.backlog_max), (0, 0));
    for one in &outcome.finished {
        assert_eq!((one.driver.unissued(), one.phase.closed), (0, SECOND));
    }
}

#[test]
fn poisson_arrivals_have_exponential_gaps_of_the_right_mean() {
    let stream = Stream {
        workers: 2,
        depth: 64,
        arrival: Arrival::Open { rate: 2000.0, poisson: true },
        ..reads(Pattern::Uniform)
    };
    let outcome =
        run(drivers(&step(elapsed(50 * SECOND), vec![stream]), MIB), constant(MICROSECOND));
    for worker in 0..2 {
        let mine = outcome.issues.iter().filter(|issue| issue.worker == worker);
        let times: Vec<Time> = mine.map(|issue| issue.at).collect();
        let gaps: Vec<f64> = times.windows(2).map(|p| (p[1] - p[0]) as f64).collect();
        let mean = gaps.iter().sum::<f64>() / gaps.len() as f64;
        assert!((mean / 1e6 - 1.0).abs() < 0.025, "{mean}");
        for factor in [0.5, 1.0, 2.0, 4.0f64] {
            let above = gaps.iter().filter(|gap| **gap > factor * 1e6).count() as f64;
            let share = above / gaps.len() as f64;
            assert!((share - (-factor).exp()).abs() < 0.012, "{factor}: {share}");
        }
        let correlation: f64 =
            gaps.windows(2).map(|p| (p[0] / mean - 1.0) * (p[1] / mean - 1.0)).sum::<f64>()
                / gaps.len() as f64;
        assert!(correlation.abs() < 0.025, "{correlation}");
    }
}

#[test]
fn response_counts_from_the_due_time_and_service_from_the_issue() {
    // One at a time, each 1 ms, but the fourth takes 5 ms; one is due every 2 ms.
    let stream = Stream { arrival: Arrival::paced(500.0), ..reads(Pattern::Uniform) };
    let step = step(operations(10), vec![stream]);
    let latency = |number| if number == 3 { 5 * MILLISECOND } else { MILLISECOND };
    let outcome = run(drivers(&step, MIB), serial(latency));
    let due: Vec<Time> = (0..10).map(|index| index * 2 * MILLISECOND).collect();
    // Due at 6 and done at 11; those due at 8 and 10 wait for it, the one due at 12 for them.
    let completed = [1, 3, 5, 11, 12, 13, 14, 15, 17, 19].map(|at| at * MILLISECOND);
    let got: Vec<Time> = outcome.issues.iter().map(|issue| issue.completed).collect();
    assert_eq!(got, completed);
    let all = outcome.sink.measured();
    let response = all.kinds[0].response.as_ref().unwrap();
    let expected: u64 = completed.iter().zip(&due).map(|(end, due)| end - due).sum();
    assert_eq!(response.sum(), u128::from(expected));
    assert_eq!(all.kinds[0].service.sum(), u128::from(14 * MILLISECOND));
    let late: u64 = outcome.issues.iter().zip(&due).map(|(issue, due)| issue.at - due).sum();
    assert_eq!(all.late_ns_sum, late);
    assert_eq!(all.late_ns_max, 3 * MILLISECOND);
    assert_eq!(all.backlog_max, 2, "those due at 8 and 10, just before 11");
    let slowest = outcome.finished[0].driver.slowest();
    assert_eq!(slowest[0].latency_ns, 5 * MILLISECOND, "the slowest are by response");
}

#[test]
fn what_was_due_and_never_issued_is_counted_exactly() {
    // 1000 a second are asked for; 100 are possible.
    let stream = Stream { arrival: Arrival::paced(1000.0), ..reads(Pattern::Uniform) };
    let run_until = |until, patience| {
        let sink = Kept { patience, ..Kept::default() };
        let drivers = drivers(&step(until, vec![stream.clone()]), MIB);
        run_with(drivers, serial(|_| 10 * MILLISECOND), sink, true)
    };
    let outcome = run_until(elapsed(SECOND), None);
    let driver = &outcome.finished[0].driver;
    assert_eq!((outcome.issues.len(), driver.unissued()), (100, 900));
    // At 990 ms the hundredth begins, 990 others of 991 … stand before it minus the 99 done.
    assert_eq!(outcome.sink.measured().backlog_max, 891);
    let outcome = run_until(operations(50), None);
    assert_eq!(outcome.finished[0].driver.unissued(), 0, "all that was asked for was issued");
    let outcome = run_until(elapsed(SECOND), Some(20));
    let stopped_at = outcome.issues.last().unwrap().completed;
    let (issued, unissued) = (outcome.issues.len() as u64, outcome.finished[0].driver.unissued());
    assert!(stopped_at < SECOND && issued < 40, "stopped early: {issued}");
    assert_eq!(issued + unissued, stopped_at / MILLISECOND, "due before it stopped");
}

#[test]
fn an_open_loop_with_replies_keeps_its_rate_of_arrivals() {
    let stream = Stream {
        depth: 8,
        reply: Some(Reply::Same),
        arrival: Arrival::paced(1000.0),
        ..reads(Pattern::Uniform)
    };
    let outcome = run(drivers(&step(elapsed(SECOND / 10), vec![stream]), MIB), constant(LATENCY));
    assert_eq!(outcome.sink.ops(Action::Read), 100);
    assert_eq!(outcome.sink.ops(Action::Write), 100);
    assert_eq!(outcome.finished[0].driver.unissued(), 0);
}

#[test]
fn an_open_loop_that_ends_by_operations_closes_at_the_last_one() {
    let stream =
        Stream { depth: 8, workers: 2, arrival: Arrival::paced(1000.0), ..reads(Pattern::Uniform) };
    let (finished, _, _) = on_virtual(&step(operations(5), vec![stream]), 8);
    assert_eq!(finished[0].phase.closed, 4 * MILLISECOND + LATENCY);
    assert_eq!(finished[1].phase.closed, 3 * MILLISECOND + LATENCY);
}

#[test]
fn every_nth_write_is_followed_by_a_flush_the_last_one_too() {
    for (sync, depth, expected) in [
        (Sync::Fsync(1), 1, 100),
        (Sync::Fsync(10), 1, 10),
        (Sync::Fdatasync(10), 4, 10),
        (Sync::Fsync(7), 4, 14),
        (Sync::Fsync(101), 1, 0),
        (Sync::End, 4, 1),
        (Sync::Dsync, 4, 0),
    ] {
        let stream = Stream { sync, depth, ..writes(Pattern::Uniform) };
        let (finished, sink, log) = on_virtual(&step(operations(100), vec![stream]), 4);
        assert_eq!(sink.ops(Action::Flush), expected, "{sync}");
        assert_eq!(sink.ops(Action::Write), 100, "{sync}");
        assert_eq!(finished[0].phase.issued, 100, "a flush is no operation of the plan");
        let Sync::Fsync(n) = sync else { continue };
        let mut since = 0;
        for (_, _, op) in log {
            match op.action() {
                Action::Flush => assert_eq!(std::mem::take(&mut since), n, "{sync}"),
                _ => since += 1,
            }
        }
    }
}

#[test]
fn reads_bring_no_flush() {
    let stream = Stream {
        sync: Sync::Fsync(1),
        mix: Mix { read: 50, write: 50, trim: 0 },
        ..reads(Pattern::Uniform)
    };
    let (_, sink, _) = on_virtual(&step(operations(1000), vec![stream]), 4);
    assert_eq!(sink.ops(Action::Flush), sink.ops(Action::Write));
    assert_eq!(sink.ops(Action::Read) + sink.ops(Action::Write), 1000);
}

#[test]
fn the_time_of_a_flush_counts_or_is_taken_out() {
    let run = |sync, sync_timing, ramp| {
        let stream = Stream { sync, sync_timing, ..writes(Pattern::Uniform) };
        let until = if ramp > 0 { elapsed(9 * LATENCY) } else { operations(10) };
        let step = Step { ramp: Span(ramp), ..step(until, vec![stream]) };
        let (finished, _, _) = on_virtual(&step, 1);
        let phase = finished[0].phase;
        (phase.last / LATENCY, phase.closed / LATENCY, phase.excluded_ns / LATENCY)
    };
    assert_eq!(run(Sync::End, SyncTiming::Inside, 0), (10, 11, 0));
    assert_eq!(run(Sync::End, SyncTiming::Outside, 0), (10, 10, 0));
    assert_eq!(run(Sync::Fsync(5), SyncTiming::Inside, 0), (11, 12, 0));
    // The flush after the last write is outside of the window anyway, the first one is taken out.
    let (last, closed, excluded) = run(Sync::Fsync(5), SyncTiming::Outside, 0);
    assert_eq!((last, closed, closed - excluded), (11, 11, 10));
    // Write and flush take turns; the ramp ends amid the second flush.
    let ramp = 3 * LATENCY + LATENCY / 2;
    let stream = Stream {
        sync: Sync::Fsync(1),
        sync_timing: SyncTiming::Outside,
        ..writes(Pattern::Uniform)
    };
    let step = Step { ramp: Span(ramp), ..step(elapsed(2 * LATENCY), vec![stream]) };
    let (finished, _, _) = on_virtual(&step, 1);
    let phase = finished[0].phase;
    // From 3.5: half a flush, a write to 5, a flush that begins in the window.
    assert_eq!(phase.last, 5 * LATENCY);
    assert_eq!(phase.closed, 5 * LATENCY);
    assert_eq!(phase.excluded_ns, LATENCY / 2);
}

#[test]
fn the_closing_flush_of_an_open_loop_has_an_honest_response() {
    let stream = Stream {
        depth: 2,
        sync: Sync::End,
        arrival: Arrival::paced(1000.0),
        ..writes(Pattern::Uniform)
    };
    let (_, sink, _) = on_virtual(&step(elapsed(SECOND), vec![stream]), 2);
    let all = sink.measured();
    let flush = all.kinds.iter().find(|tally| tally.kind == Action::Flush).unwrap();
    assert_eq!(flush.response.as_ref().unwrap().max(), LATENCY);
}

#[test]
fn a_background_stream_ends_with_the_others() {
    let front = Stream { name: "front".into(), ..reads(Pattern::Uniform) };
    let behind = Stream { name: "behind".into(), background: true, ..writes(Pattern::Uniform) };
    let step = step(
        operations(100),
        vec![front, Stream { arrival: Arrival::thinking(None, Span(MICROSECOND)), ..behind }],
    );
    let outcome = run(drivers(&step, MIB), constant(LATENCY));
    let last = |stream| {
        outcome.issues.iter().filter(|i| i.stream == stream).map(|i| i.completed).max().unwrap()
    };
    assert_eq!(last(0), 100 * LATENCY);
    assert!(last(1) <= last(0) + LATENCY, "{} {}", last(0), last(1));
    let both = |stream| outcome.issues.iter().filter(|i| i.stream == stream).count();
    assert_eq!(both(0), 100);
    assert!((98..=100).contains(&both(1)), "{}", both(1));
}

#[test]
fn a_stonewall_stops_the_other_workers_of_its_stream_only() {
    let walled = Stream { workers: 3, ..reads(Pattern::SEQUENTIAL) };
    let free = Stream { ..writes(Pattern::Uniform) };
    let until = Until { operations: Some(90), stonewall: true, ..Until::default() };
    // The last third of the file, where the third worker is, is ten times as fast.
    let drive = |now: Time, op: &DataOp, _: &mut [u8]| {
        (now + if op.offset > 2 * MIB / 3 { 1 } else { 10 } * LATENCY, Ok(op.len))
    };
    let outcome = run(drivers(&step(until, vec![walled, free]), MIB), drive);
    let of = |stream, worker| {
        outcome.issues.iter().filter(|i| i.stream == stream && i.worker == worker).count()
    };
    // 30 fast ones take as long as 3 slow ones; the others have just issued their fourth.
    assert_eq!([of(0, 0), of(0, 1), of(0, 2)], [4, 4, 30]);
    assert_eq!(of(1, 0), 90, "the other stream goes on");
}

#[test]
fn a_sink_that_says_no_ends_the_step_and_loses_nothing() {
    let stream = Stream { depth: 4, workers: 2, ..reads(Pattern::Uniform) };
    let step = step(elapsed(100 * SECOND), vec![stream]);
    let mut bed = VirtualTestbed::new(LATENCY, 8);
    let mut sink = Kept { patience: Some(50), ..Kept::default() };
    let finished = bed.run(drivers(&step, MIB), &mut sink).unwrap();
    let issued: u64 = finished.iter().map(|one| one.phase.issued).sum();
    assert_eq!(sink.measured().ops(), issued);
    assert!(issued < 1000, "{issued}");
    // A worker that rests until a far due time is called too.
    let lazy = Stream { arrival: Arrival::paced(0.01), ..reads(Pattern::Uniform) };
    let step = support::step(elapsed(1000 * SECOND), vec![lazy]);
    let mut sink = Kept { patience: Some(2), ..Kept::default() };
    let finished = bed.run(drivers(&step, MIB), &mut sink).unwrap();
    assert_eq!(finished[0].phase.issued, 1);
}

#[test]
fn both_testbeds_agree() {
    let stream = Stream {
        depth: 5,
        workers: 3,
        mix: Mix { read: 70, write: 30, trim: 0 },
        ..reads(Pattern::Zipf { theta: None })
    };
    let step = step(operations(3000), vec![stream]);
    let (finished, sink, log) = on_virtual(&step, 4);
    let mut servers = [0; 4];
    let four = move |now: Time, op: &DataOp, _: &mut [u8]| {
        let server = servers.iter_mut().min().unwrap();
        *server = (*server).max(now) + LATENCY;
        (*server, Ok(op.len))
    };
    let outcome = run(drivers(&step, 64 * MIB), four);
    let ours: Vec<(u32, u32, Op)> =
        outcome.issues.iter().map(|i| (i.stream, i.worker, Op::Data(i.op))).collect();
    assert_eq!(ours, log);
    assert_eq!(outcome.sink.measured(), sink.measured());
    for (ours, theirs) in outcome.finished.iter().zip(&finished) {
        assert_eq!(ours.phase, theirs.phase);
    }
}

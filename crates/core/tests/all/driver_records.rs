//! What a driver records: gaps, intervals, failures, stamps, percentiles.

use crate::support::*;
use drivelab_core::driver::drivers_of;
use drivelab_core::op::{Action, DataOp, Errno, Place, Time};
use drivelab_core::plan::{Arrival, Mix, Pattern, Reply, Step, Stream};
use drivelab_core::tally::{Gap, Tally};
use drivelab_core::units::{Size, Span};
use drivelab_stats::Random;

fn at(offset: u64) -> Place {
    Place::Data { offset }
}

/// Answers in 200 µs, but nothing completes inside a stall; a stalled operation ends with it.
fn stalling(stalls: Vec<(Time, Time)>) -> impl Drive {
    move |now: Time, op: &DataOp, _: &mut [u8]| {
        let completed = now + 200 * MICROSECOND;
        let stall = stalls.iter().find(|(from, to)| (*from..*to).contains(&completed));
        (stall.map_or(completed, |(_, to)| *to), Ok(op.len))
    }
}

#[test]
fn planted_stalls_are_found_with_their_exact_ends() {
    let stalls: Vec<(Time, Time)> = (1..4)
        .map(|second| {
            let from = second * SECOND + 100 * MICROSECOND;
            (from, from + 750 * MILLISECOND + 100 * MICROSECOND)
        })
        .collect();
    for depth in [1, 4] {
        let stream = Stream { depth, gap_over: Span(100 * MILLISECOND), ..reads(Pattern::Uniform) };
        let step = step(elapsed(5 * SECOND), vec![stream]);
        let outcome = run(drivers(&step, MIB), stalling(stalls.clone()));
        let all = outcome.sink.measured();
        let expected: Vec<Gap> = stalls
            .iter()
            .map(|(from, to)| Gap { from: from - 100 * MICROSECOND, to: *to })
            .collect();
        assert_eq!(all.gaps, expected, "depth {depth}");
        assert_eq!(all.gap_ns_max, 750 * MILLISECOND + 200 * MICROSECOND);
        assert_eq!(all.kinds[0].service.max(), 750 * MILLISECOND + 200 * MICROSECOND);
    }
}

#[test]
fn rest_without_io_in_flight_is_no_gap() {
    // Due every 300 ms, done in 1 ms: the drive rests, it does not stall.
    let stream =
        Stream { depth: 4, arrival: Arrival::paced(10.0 / 3.0), ..reads(Pattern::Uniform) };
    let outcome =
        run(drivers(&step(elapsed(6 * SECOND), vec![stream]), MIB), constant(MILLISECOND));
    let all = outcome.sink.measured();
    assert_eq!((all.gaps.len(), all.gap_ns_max), (0, MILLISECOND));
    let stream =
        Stream { arrival: Arrival::thinking(None, Span(SECOND / 2)), ..reads(Pattern::Uniform) };
    let outcome = run(drivers(&step(operations(6), vec![stream]), MIB), constant(MILLISECOND));
    assert_eq!(outcome.sink.measured().gap_ns_max, MILLISECOND);
}

#[test]
fn a_gap_after_a_rest_begins_with_the_first_operation() {
    // Due at 0, 50 and 100 ms; the last two overtake the first, which takes 300 ms.
    let stream = Stream { depth: 4, arrival: Arrival::paced(20.0), ..reads(Pattern::Uniform) };
    let mut count = 0;
    let drive = move |now: Time, op: &DataOp, _: &mut [u8]| {
        count += 1;
        (now + if count == 1 { 300 * MILLISECOND } else { 120 * MILLISECOND }, Ok(op.len))
    };
    let outcome = run(drivers(&step(operations(3), vec![stream]), MIB), drive);
    let all = outcome.sink.measured();
    let gap = |from, to| Gap { from: from * MILLISECOND, to: to * MILLISECOND };
    assert_eq!(all.gaps, [gap(0, 170)], "170 to 220 and 220 to 300 are below 100 ms");
}

#[test]
fn gaps_beyond_the_list_are_counted() {
    let stream = Stream { gap_over: Span(MILLISECOND), ..reads(Pattern::Uniform) };
    let step = step(operations(5000), vec![stream]);
    let drivers = drivers_of(&step, 0, SEED, Span(60 * SECOND), MIB).unwrap();
    let outcome = run(drivers, constant(2 * MILLISECOND));
    let all = outcome.sink.measured();
    assert_eq!(all.gaps.len() as u64 + all.gaps_unlisted, 5000);
}

#[test]
fn intervals_tile_the_time_and_hold_all_operations() {
    for interval in [10 * MILLISECOND, 33 * MILLISECOND, SECOND] {
        for recycle in [true, false] {
            let stream = Stream { depth: 3, workers: 2, ..reads(Pattern::Uniform) };
            let step =
                Step { ramp: Span(25 * MILLISECOND), ..step(elapsed(2 * SECOND), vec![stream]) };
            let drivers = drivers_of(&step, 0, SEED, Span(interval), MIB).unwrap();
            let mut random = Random::new(5);
            let drive = move |now: Time, op: &DataOp, _: &mut [u8]| {
                let tail = if random.below(500) == 0 { 30 * MILLISECOND } else { 0 };
                (now + 100_000 + random.below(100_000) + tail, Ok(op.len))
            };
            let outcome = run_with(drivers, drive, Kept::default(), recycle);
            let what = format!("interval {interval}, recycle {recycle}");
            for worker in 0..2 {
                assert_tiled(&outcome, worker, interval, &what);
            }
        }
    }
}

fn assert_tiled(outcome: &Outcome, worker: u32, interval: Time, what: &str) {
    let mine: Vec<_> = outcome.sink.tallies.iter().filter(|tally| tally.worker == worker).collect();
    let (ramp, measured): (Vec<&Tally>, Vec<&Tally>) = mine.iter().partition(|t| t.ramp);
    assert_eq!((ramp.len(), ramp[0].from, ramp[0].to), (1, 0, 25 * MILLISECOND), "{what}");
    let mut at = 25 * MILLISECOND;
    for tally in &measured {
        // Where nothing completed for whole intervals there is no tally.
        assert!(tally.from >= at && (tally.from - at).is_multiple_of(interval), "{what}");
        assert!((tally.from - 25 * MILLISECOND).is_multiple_of(interval), "{what}");
        at = tally.to;
    }
    for tally in &measured[..measured.len() - 1] {
        assert!((tally.to - tally.from).is_multiple_of(interval) && tally.to > tally.from);
    }
    let issues = outcome.issues.iter().filter(|issue| issue.worker == worker);
    let completed: Vec<Time> = issues.map(|issue| issue.completed).collect();
    let total: u64 = mine.iter().map(|tally| tally.ops()).sum();
    assert_eq!(total, completed.len() as u64, "{what}: nothing is lost");
    for tally in &mine {
        let is_last = tally.to == mine.last().unwrap().to;
        let inside =
            |at: &&Time| (tally.from..tally.to).contains(at) || is_last && **at == tally.to;
        let count = completed.iter().filter(inside).count() as u64;
        assert_eq!(tally.ops(), count, "{what}: {} to {}", tally.from, tally.to);
    }
    assert_eq!(at, *completed.iter().max().unwrap());
}

#[test]
fn an_error_ends_the_step_and_is_named() {
    let stream = Stream { depth: 4, ..reads(Pattern::SEQUENTIAL) };
    let step = step(elapsed(SECOND), vec![stream]);
    let drive = |now: Time, op: &DataOp, _: &mut [u8]| {
        let result = if op.offset == 40 * 4096 { Err(Errno(5)) } else { Ok(op.len) };
        (now + 100 * MICROSECOND, result)
    };
    let outcome = run(drivers(&step, MIB), drive);
    let failure = outcome.finished[0].driver.failure().unwrap();
    assert_eq!((failure.errno, failure.op.place()), (Some(Errno(5)), at(40 * 4096)));
    let all = outcome.sink.measured();
    assert_eq!(all.kinds[0].errors, [(Errno(5), 1)]);
    assert_eq!(all.ops() + 1, outcome.issues.len() as u64, "what was in flight still counts");
    assert!(outcome.issues.len() <= 44 + 4, "nothing is issued after it");
}

#[test]
fn a_failure_brings_no_closing_flush_that_hides_it() {
    let stream = Stream { sync: drivelab_core::plan::Sync::End, ..writes(Pattern::SEQUENTIAL) };
    let drive = |now: Time, op: &DataOp, _: &mut [u8]| {
        let full = op.action == Action::Write && op.offset >= 10 * 4096;
        (now + 1000, if full { Err(Errno(28)) } else { Ok(op.len) })
    };
    let outcome = run(drivers(&step(elapsed(SECOND), vec![stream]), MIB), drive);
    assert_eq!(outcome.finished[0].driver.failure().unwrap().errno, Some(Errno(28)));
    assert_eq!(outcome.sink.ops(Action::Flush), 0);
}

#[test]
fn a_short_transfer_is_a_failure() {
    let drive = |now: Time, op: &DataOp, _: &mut [u8]| {
        (now + 1000, Ok(if op.offset == 8192 { 512 } else { op.len }))
    };
    let outcome =
        run(drivers(&step(elapsed(SECOND), vec![reads(Pattern::SEQUENTIAL)]), MIB), drive);
    let failure = outcome.finished[0].driver.failure().unwrap();
    assert_eq!((failure.errno, failure.op.place(), failure.moved), (None, at(8192), 512));
}

/// Fills memory with stamped blocks, `count` passes.
fn stamped(pattern: Pattern, count: u64, file_bytes: u64) -> Vec<u8> {
    let stream = Stream { stamp: true, depth: 4, workers: 2, ..writes(pattern) };
    let mut memory = Memory(vec![0; file_bytes as usize]);
    run(
        drivers(&step(passes(count), vec![stream]), file_bytes),
        |now: Time, op: &DataOp, data: &mut [u8]| memory.serve(now, op, data),
    );
    memory.0
}

/// Reads everything once, and says which stamps were wrong.
fn verified(memory: Vec<u8>, stream: Stream) -> (u64, Vec<(u64, String)>) {
    let bytes = memory.len() as u64;
    let stream = Stream { verify: true, ..stream };
    let outcome = run(drivers(&step(passes(1), vec![stream]), bytes), Memory(memory));
    let all = outcome.sink.measured();
    let list: Vec<(u64, String)> = outcome
        .finished
        .iter()
        .flat_map(|one| one.driver.mismatches())
        .map(|mismatch| (mismatch.offset, mismatch.what))
        .collect();
    assert_eq!(all.mismatched.min(100), list.len() as u64, "the first hundred are described");
    (all.verified, list)
}

#[test]
fn what_was_written_is_verified_in_any_order_and_size() {
    let memory = stamped(Pattern::Permutation, 2, MIB);
    for (pattern, size) in [(Pattern::SEQUENTIAL, 65536), (Pattern::Permutation, 4096)] {
        let stream = Stream { pass: Some(1), size: Size(size), depth: 3, ..reads(pattern) };
        assert_eq!(verified(memory.clone(), stream), (256, vec![]));
    }
    let never = Stream { pass: Some(0), ..reads(Pattern::SEQUENTIAL) };
    assert_eq!(verified(memory, never).1.len(), 100, "a wrong pass is found everywhere");
}

#[test]
fn a_flipped_bit_is_located() {
    let mut memory = stamped(Pattern::SEQUENTIAL, 1, MIB);
    memory[77 * 4096 + 1234] ^= 0x10;
    let (count, wrong) = verified(memory, reads(Pattern::SEQUENTIAL));
    assert_eq!(count, 256);
    assert_eq!(wrong.len(), 1);
    assert_eq!(wrong[0].0, 77 * 4096);
    assert!(wrong[0].1.contains("checksum"), "{wrong:?}");
}

#[test]
fn two_swapped_blocks_are_located_within_larger_requests() {
    let mut memory = stamped(Pattern::Permutation, 1, MIB);
    let (one, two) = (10 * 4096, 201 * 4096);
    let (low, high) = memory.split_at_mut(two);
    low[one..one + 4096].swap_with_slice(&mut high[..4096]);
    let stream = Stream { size: Size(65536), ..reads(Pattern::SEQUENTIAL) };
    let (_, wrong) = verified(memory, stream);
    let places: Vec<u64> = wrong.iter().map(|one| one.0).collect();
    assert_eq!(places, [one as u64, two as u64]);
    assert!(wrong[0].1.contains(&two.to_string()), "{wrong:?}");
}

#[test]
fn a_lost_overwrite_is_located() {
    for pattern in [Pattern::SEQUENTIAL, Pattern::Permutation] {
        let before = stamped(pattern.clone(), 1, MIB);
        let mut memory = stamped(pattern.clone(), 2, MIB);
        let lost = 123 * 4096;
        memory[lost..lost + 4096].copy_from_slice(&before[lost..lost + 4096]);
        let stream = Stream { pass: Some(1), ..reads(Pattern::Permutation) };
        let (_, wrong) = verified(memory, stream);
        assert_eq!(wrong.len(), 1, "{wrong:?}");
        assert_eq!(wrong[0].0, lost as u64);
        assert!(wrong[0].1.contains("lost overwrite"), "{wrong:?}");
    }
}

#[test]
fn a_read_that_answers_a_write_expects_the_pass_of_that_write() {
    let stream = Stream {
        stamp: true,
        verify: true,
        pass: Some(5),
        reply: Some(Reply::Same),
        ..writes(Pattern::SEQUENTIAL)
    };
    let until = operations(3 * 2 * 256);
    let verify = |keeps: fn(u64) -> bool| {
        let mut memory = Memory(vec![0; MIB as usize]);
        let mut writes = 0;
        let drive = move |now: Time, op: &DataOp, data: &mut [u8]| {
            if op.action == Action::Write {
                writes += 1;
                if !keeps(writes) {
                    return (now + 1000, Ok(op.len));
                }
            }
            memory.serve(now, op, data)
        };
        let outcome = run(drivers(&step(until.clone(), vec![stream.clone()]), MIB), drive);
        (outcome.sink.measured().verified, outcome.finished[0].driver.mismatches())
    };
    assert_eq!(verify(|_| true), (768, vec![]));
    let (_, wrong) = verify(|number| number != 300);
    assert_eq!(wrong.len(), 1);
    assert_eq!(wrong[0].offset, 43 * 4096);
    assert_eq!(wrong[0].what, "lost overwrite: pass 5 instead of 6");
}

#[test]
fn reads_among_overwrites_are_checked_for_all_but_the_pass() {
    let stream = Stream {
        stamp: true,
        verify: true,
        pass: Some(0),
        mix: Mix { read: 50, write: 50, trim: 0 },
        ..writes(Pattern::Permutation)
    };
    let memory = Memory(stamped(Pattern::SEQUENTIAL, 1, MIB));
    let outcome = run(drivers(&step(passes(4), vec![stream]), MIB), memory);
    let all = outcome.sink.measured();
    assert!(all.verified > 400);
    assert_eq!(all.mismatched, 0, "{:?}", outcome.finished[0].driver.mismatches());
}

#[test]
fn percentiles_of_a_million_operations_agree_with_the_exact_sort() {
    let stream = Stream { depth: 8, workers: 2, ..reads(Pattern::Uniform) };
    let mut random = Random::new(11);
    let drive = move |now: Time, op: &DataOp, _: &mut [u8]| {
        // From 1 µs to seconds: a body, a slope and a tail.
        let latency = match random.below(1000) {
            0 => random.exponential(50e6),
            1..100 => random.exponential(2e6),
            _ => 80_000.0 + random.exponential(20_000.0),
        };
        (now + 1000 + latency as Time, Ok(op.len))
    };
    let outcome = run(drivers(&step(operations(1_000_000), vec![stream]), MIB), drive);
    let mut exact: Vec<u64> = outcome.issues.iter().map(|i| i.completed - i.at).collect();
    exact.sort_unstable();
    let all = outcome.sink.measured();
    let service = &all.kinds[0].service;
    assert_eq!(service.count(), 1_000_000);
    assert_eq!((service.min(), service.max()), (exact[0], exact[999_999]));
    assert_eq!(service.sum(), exact.iter().map(|one| u128::from(*one)).sum::<u128>());
    for share in [1usize, 10, 100, 250_000, 500_000, 900_000, 990_000, 999_000, 999_900, 999_990] {
        let truth = exact[share - 1] as f64;
        let got = service.value_at_quantile(share as f64 / 1e6) as f64;
        assert!((got / truth - 1.0).abs() <= 0.001, "rank {share}: {got} instead of {truth}");
    }
    let mut slowest: Vec<u64> = outcome
        .finished
        .iter()
        .flat_map(|one| one.driver.slowest())
        .map(|slow| slow.latency_ns)
        .collect();
    slowest.sort_unstable_by_key(|latency| std::cmp::Reverse(*latency));
    let hundred: Vec<u64> = exact.iter().rev().take(100).copied().collect();
    assert_eq!(slowest[..100], hundred);
}

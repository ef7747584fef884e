//! Rates of kinds that do not have the whole of the measured time.

use super::*;
use crate::plan::{Names, Pattern, Sync, SyncTiming};

/// What the kinds of one repetition took: count and latency in milliseconds.
fn names(kinds: [(Action, u64, u64); 2]) -> Bench {
    let stream = Stream {
        workers: 2,
        pattern: Pattern::Names(Names {
            actions: kinds.map(|(kind, ..)| kind).to_vec(),
            ..Names::default()
        }),
        ..Stream::default()
    };
    let mut bench = Bench::new(stream);
    for _ in 0..2 {
        bench.begin();
        let step = bench.run.steps.len() as u32 - 1;
        let mut all = Tally::new(step, 0, 0, &kinds.map(|(kind, ..)| kind), KEEP);
        all.to = 2 * SECOND;
        for (entry, (_, count, milliseconds)) in all.kinds.iter_mut().zip(kinds) {
            entry.ops = count;
            entry.service.record_n(milliseconds * SECOND / 1000, count);
        }
        bench.tally(all).end(vec![phase(0, 0, 2 * SECOND)]);
    }
    bench
}

#[test]
fn actions_that_follow_each_other_count_by_their_own_part_of_the_time() {
    // Two workers: 100 creates of 10 ms are half a second of both, 500 stats of 1 ms a quarter.
    let summary = names([(Action::Create, 100, 10), (Action::Stat, 500, 1)]).summary();
    for (kind, rate) in [(Action::Create, 200.0), (Action::Stat, 2000.0)] {
        near(summary.steps[0].streams[0].kinds[&kind].rates.iops.unwrap().value, rate);
        let cell = &summary.cells[0].streams[0].kinds[&kind].rates;
        near(cell.iops.unwrap().value, rate);
        assert_eq!(cell.iops.unwrap().n, 2);
    }
}

#[test]
fn where_the_time_of_each_kind_is_known_waiting_between_calls_counts() {
    // Two workers on one CPU: the calls took half a second of both, their turn one and a half.
    let mut bench = names([(Action::Create, 100, 10), (Action::Stat, 500, 1)]);
    for tally in bench.run.steps.iter_mut().flat_map(|step| &mut step.tallies) {
        for (entry, held_ns) in tally.kinds.iter_mut().zip([3 * SECOND, SECOND]) {
            entry.held_ns = Some(held_ns);
        }
    }
    let summary = bench.summary();
    for (kind, rate) in [(Action::Create, 100.0 / 1.5), (Action::Stat, 1000.0)] {
        near(summary.steps[0].streams[0].kinds[&kind].rates.iops.unwrap().value, rate);
    }
}

#[test]
fn a_repetition_that_ended_before_an_action_says_nothing_of_its_rate() {
    let mut bench = names([(Action::Create, 100, 10), (Action::Stat, 500, 1)]);
    bench.run.steps[1].tallies[0].kinds[1] =
        Tally::new(1, 0, 0, &[Action::Stat], KEEP).kinds.remove(0);
    let cell = &bench.summary().cells[0].streams[0];
    near(cell.kinds[&Action::Create].rates.iops.unwrap().value, 200.0);
    let stat = cell.kinds[&Action::Stat].rates.iops.unwrap();
    assert_eq!((stat.value.round(), stat.n), (2000.0, 1), "not 500 by the time of all");
}

#[test]
fn a_flush_outside_of_the_measured_time_has_a_latency_and_no_rate_and_is_in_no_depth() {
    for (timing, depth) in [(SyncTiming::Outside, 0.5), (SyncTiming::Inside, 1.5)] {
        let writes = Stream { mix: Mix::WRITE, sync: Sync::End, ..Stream::default() };
        let mut bench = Bench::new(Stream { sync_timing: timing, ..writes });
        let mut all = Tally::new(0, 0, 0, &[Action::Write, Action::Flush], KEEP);
        all.to = SECOND;
        (all.kinds[0].ops, all.kinds[1].ops) = (500, 1);
        all.kinds[0].service.record_n(SECOND / 1000, 500);
        all.kinds[1].service.record(SECOND);
        bench.begin().tally(all).end(vec![phase(0, 0, SECOND)]);
        let stream = &bench.summary().steps[0].streams[0];
        let flush = &stream.kinds[&Action::Flush];
        assert_eq!(flush.rates.iops.is_some(), timing == SyncTiming::Inside);
        assert_eq!((flush.rates.ops, flush.service_ns.unwrap().max), (1, SECOND));
        near(stream.depth_reached.unwrap(), depth);
    }
}

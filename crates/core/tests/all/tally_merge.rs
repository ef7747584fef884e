//! Merging the tallies of workers equals the tally of the union.

use drivelab_core::inside::Cause;
use drivelab_core::op::{Action, Done, Errno};
use drivelab_core::tally::{Gap, Keep, Tally};
use drivelab_stats::Histogram;
use proptest::prelude::*;

const KINDS: [Action; 3] = [Action::Read, Action::Write, Action::Flush];

/// One completion: worker, kind, due, issued after it, submitted after that, completed after that,
/// and the result.
type Event = (usize, usize, u64, u64, u64, u64, Result<u32, i32>);

fn event() -> impl Strategy<Value = Event> {
    let result = prop_oneof![9 => (1u32..1 << 20).prop_map(Ok), 1 => (1i32..12).prop_map(Err)];
    (0usize..4, 0usize..3, 0u64..1 << 40, 0u64..1 << 30, 0u64..1 << 20, 0u64..1 << 43, result)
}

fn empty(worker: usize) -> Tally {
    Tally::new(
        3,
        1,
        worker as u32,
        &KINDS,
        Keep { submit: true, completion: true, response: true, ..Keep::default() },
    )
}

fn account(tally: &mut Tally, event: &Event) {
    let (_, kind, due, late, submit, service, result) = *event;
    let issued = due + late;
    let completed = issued + submit + service;
    let result = result.map_err(Errno);
    let done = Done {
        tag: 0,
        issued,
        submitted: issued + submit,
        completed,
        result,
        cause: Cause::Unknown,
    };
    tally.kinds[kind].account(&done, due);
    tally.from = if tally.to == 0 { due } else { tally.from.min(due) };
    tally.to = tally.to.max(completed);
    tally.in_flight_sum += service % 64;
    tally.submit_calls += 1;
    tally.reap_calls += submit % 3;
    tally.late_ns_sum += late;
    tally.late_ns_max = tally.late_ns_max.max(late);
    tally.backlog_max = tally.backlog_max.max(late % 1000);
    tally.gap_ns_max = tally.gap_ns_max.max(service);
    if service % 5 == 0 {
        tally.list_gap(Gap { from: issued, to: completed });
    }
    tally.verified += 2;
    tally.mismatched += service % 2;
}

/// Lists in one order, as their own order says nothing.
fn in_order(mut tally: Tally) -> Tally {
    tally.gaps.sort_by_key(|gap| (gap.from, gap.to));
    for kind in &mut tally.kinds {
        kind.errors.sort();
    }
    tally
}

proptest! {
    #[test]
    fn merging_equals_the_union(
        events in prop::collection::vec(event(), 1..300),
        split in 1usize..5,
    ) {
        let mut union = empty(0);
        let mut parts: Vec<Tally> = (0..split).map(|_| empty(0)).collect();
        for event in &events {
            account(&mut union, event);
            account(&mut parts[event.0 % split], event);
        }
        for kind in &union.kinds {
            let sum = |of: &Option<Histogram>| of.as_ref().map_or(0, Histogram::sum);
            let both = sum(&kind.submit) + sum(&kind.completion);
            prop_assert_eq!(both, kind.service.sum(), "each has its own parts");
        }
        let used = parts.into_iter().filter(|part| part.to > 0);
        let merged = used.reduce(|mut all, part| { all.merge(&part); all }).unwrap();
        prop_assert_eq!(in_order(merged), in_order(union));
    }

    #[test]
    fn merging_knows_no_order(events in prop::collection::vec(event(), 2..100)) {
        let part = |worker: usize| {
            let mut tally = empty(0);
            events.iter().filter(|e| e.0 % 2 == worker).for_each(|e| account(&mut tally, e));
            tally
        };
        let (mut one, mut two) = (part(0), part(1));
        prop_assume!(one.to > 0 && two.to > 0);
        let first = one.clone();
        one.merge(&two);
        two.merge(&first);
        prop_assert_eq!(in_order(one), in_order(two));
    }

    #[test]
    fn a_tally_survives_its_record(events in prop::collection::vec(event(), 1..50)) {
        let mut tally = empty(2);
        events.iter().for_each(|event| account(&mut tally, event));
        let text = serde_json::to_string(&tally).unwrap();
        prop_assert_eq!(serde_json::from_str::<Tally>(&text).unwrap(), tally);
    }
}

#[test]
fn a_cleared_tally_is_an_empty_one() {
    let mut tally = empty(0);
    account(&mut tally, &(0, 1, 5, 6, 7, 10, Ok(4096)));
    account(&mut tally, &(0, 2, 5, 6, 7, 10, Err(5)));
    tally.ramp = false;
    tally.clear(9);
    let mut fresh = empty(0);
    fresh.clear(9);
    assert_eq!(tally, fresh);
}

#[test]
fn more_error_numbers_than_are_told_apart_lose_no_count() {
    let mut tally = empty(0);
    for number in 1..=40 {
        account(&mut tally, &(0, 0, 1, 1, 1, 1, Err(number)));
    }
    assert_eq!(tally.error_count(), 40);
    let mut merged = empty(0);
    merged.merge(&tally);
    merged.merge(&tally);
    assert_eq!(merged.error_count(), 80);
}

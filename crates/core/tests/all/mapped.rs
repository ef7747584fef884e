//! Requests of several sizes that visit each block once: a map in random order, and in order.

use crate::support::{SEED, reads};
use drivelab_core::offsets::Offsets;
use drivelab_core::op::{Action, DataOp};
use drivelab_core::plan::{Pattern, Stream, WeightedSize};
use drivelab_core::units::Size;

fn sizes(of: &[(u64, u32)]) -> Vec<WeightedSize> {
    let entry = |(bytes, weight): &(u64, u32)| WeightedSize {
        size: Size(*bytes),
        weight: *weight,
        kind: None,
    };
    of.iter().map(entry).collect()
}

/// The requests of one pass of the first worker.
fn pass(offsets: &mut Offsets, number: u64) -> Vec<DataOp> {
    let mut all = Vec::new();
    let mut bytes = 0;
    while bytes < BYTES {
        let (op, pass) = offsets.next();
        assert_eq!(pass, number, "a pass goes on to its last request");
        let op = DataOp::try_from(op).unwrap();
        bytes += u64::from(op.len);
        all.push(op);
    }
    all
}

const BYTES: u64 = 4 << 20;

/// How often each 512 bytes were visited.
fn visits(ops: &[DataOp]) -> Vec<u32> {
    let mut counts = vec![0; (BYTES / 512) as usize];
    for op in ops {
        let first = (op.offset / 512) as usize;
        counts[first..first + (op.len / 512) as usize].iter_mut().for_each(|count| *count += 1);
    }
    counts
}

#[test]
fn a_map_of_sizes_visits_each_block_once_a_pass() {
    for (of, align) in [
        (vec![(512, 1), (1024, 1), (4096, 2)], None),
        (vec![(4096, 9), (65536, 1)], None),
        (vec![(1536, 1), (3072, 1)], Some(Size(512))),
    ] {
        let pattern = Pattern::RandomMap;
        let stream = Stream { sizes: sizes(&of), align, ..reads(pattern) };
        let mut offsets = Offsets::new(&stream, 0, BYTES, SEED).unwrap();
        let mut firsts = Vec::new();
        for number in 0..4 {
            let ops = pass(&mut offsets, number);
            assert!(visits(&ops).iter().all(|count| *count == 1), "{of:?}, pass {number}");
            firsts.push(ops[0].offset);
            assert!(!ops.is_sorted_by_key(|op| op.offset), "in random order");
        }
        firsts.dedup();
        assert!(firsts.len() > 1, "each pass has an order of its own");
    }
}

/// Means of what fio 3.33 issues in a pass over 4 MiB, of 25 seeds each, with their standard
/// errors of 0.3 to 2 %.
#[test]
fn a_pass_of_a_map_has_as_many_requests_as_one_of_fio() {
    let range = |low: u64, high: u64| (1..=high / low).map(|times| (low * times, 1)).collect();
    let several: [(Vec<(u64, u32)>, f64); 4] = [
        (range(512, 4096), 2413.0),
        (vec![(512, 25), (1024, 25), (2048, 25), (4096, 25)], 3016.2),
        (vec![(4096, 60), (65536, 40)], 276.8),
        (range(4096, 65536), 172.3),
    ];
    for (of, mean) in several {
        let stream = Stream { sizes: sizes(&of), ..reads(Pattern::RandomMap) };
        let counts = (0..50).map(|seed| {
            let mut offsets = Offsets::new(&stream, 0, BYTES, SEED + seed).unwrap();
            pass(&mut offsets, 0).len() as f64
        });
        let ours = counts.sum::<f64>() / 50.0;
        assert!((ours / mean - 1.0).abs() < 0.05, "{of:?}: {ours}, not {mean}");
    }
}

#[test]
fn in_order_the_last_request_of_a_pass_ends_where_the_region_does() {
    let of = sizes(&[(512, 1), (1024, 1), (4096, 5)]);
    let reads_and_writes = of.iter().flat_map(|entry| {
        [Action::Read, Action::Write].map(|kind| WeightedSize { kind: Some(kind), ..*entry })
    });
    for sizes in [of.clone(), reads_and_writes.collect()] {
        let stream = Stream { sizes, ..reads(Pattern::SEQUENTIAL) };
        let mut offsets = Offsets::new(&stream, 0, BYTES, SEED).unwrap();
        for number in 0..3 {
            let ops = pass(&mut offsets, number);
            assert!(visits(&ops).iter().all(|count| *count == 1), "pass {number}");
            assert!(ops.is_sorted_by_key(|op| op.offset));
        }
    }
}

#[test]
fn a_map_that_takes_too_much_memory_is_refused() {
    let stream = Stream { sizes: sizes(&[(512, 1), (1024, 1)]), ..reads(Pattern::RandomMap) };
    let refused = Offsets::new(&stream, 0, 1 << 44, SEED).map(|_| ()).unwrap_err();
    assert!(refused.text.contains("more than 1 GiB of memory"), "{refused}");
}

//! Streams that keep to a part of their region before they move on.

use crate::support::{SEED, reads};
use drivelab_core::offsets::Offsets;
use drivelab_core::op::DataOp;
use drivelab_core::plan::{Pattern, Sharing, Stream, Window};
use drivelab_core::units::Size;
use std::collections::BTreeSet;

const BLOCK: u64 = 4096;

/// Blocks of the first operations, with their passes.
fn blocks(stream: &Stream, worker: u32, file_blocks: u64, count: usize) -> Vec<(u64, u64)> {
    let mut offsets = Offsets::new(stream, worker, file_blocks * BLOCK, SEED).unwrap();
    let next = || {
        let (op, pass) = offsets.next();
        (DataOp::try_from(op).unwrap().offset / BLOCK, pass)
    };
    std::iter::repeat_with(next).take(count).collect()
}

fn of(pattern: Pattern, [size, bytes, step]: [u64; 3]) -> Stream {
    let [size, bytes, step] = [size, bytes, step].map(|blocks| Size(blocks * BLOCK));
    Stream { window: Some(Window { size, bytes: Some(bytes), step: Some(step) }), ..reads(pattern) }
}

/// Each part in turn, whatever the order within; each block of it once a turn where there is one.
#[test]
fn a_stream_keeps_to_a_part_and_moves_on() {
    let orders = [Pattern::SEQUENTIAL, Pattern::Permutation, Pattern::Uniform];
    let shapes = [[16, 16, 16], [16, 8, 16], [16, 16, 20], [4, 12, 8], [1, 1, 1], [1, 4, 2]];
    for (pattern, shape) in orders.iter().flat_map(|it| shapes.map(|shape| (it, shape))) {
        let [size, moved, step] = shape;
        let stream = Stream { offset: Size(8 * BLOCK), ..of(pattern.clone(), shape) };
        let count = (128 - size) / step + 1;
        let one_pass = count * moved;
        let found = blocks(&stream, 0, 136, 3 * one_pass as usize);
        let mut orders = BTreeSet::new();
        for (number, turn) in (0..).zip(found.chunks(moved as usize)) {
            let first = 8 + number % count * step;
            let inside = |(block, _): &(u64, u64)| (first..first + size).contains(block);
            assert!(turn.iter().all(inside), "{pattern:?}, {shape:?}, turn {number}: {turn:?}");
            assert!(turn.iter().all(|(_, pass)| *pass == number / count), "{shape:?}: {turn:?}");
            let places: Vec<u64> = turn.iter().map(|(block, _)| block - first).collect();
            for once in places.chunks(size as usize).filter(|_| *pattern != Pattern::Uniform) {
                let distinct: BTreeSet<_> = once.iter().collect();
                assert_eq!(distinct.len(), once.len(), "{pattern:?}, {shape:?}: {places:?}");
            }
            if *pattern == Pattern::SEQUENTIAL {
                assert!(places[0] == 0 && places[..size.min(moved) as usize].is_sorted());
            }
            orders.insert(places);
        }
        let is_random = *pattern != Pattern::SEQUENTIAL;
        assert_eq!(orders.len() > 1, is_random && size > 1, "{pattern:?}, {shape:?}");
    }
}

#[test]
fn workers_share_each_part_where_they_share_the_region() {
    let shape = [16, 16, 16];
    let shared = |workers| Stream {
        workers,
        regions: Some(Sharing::Shared),
        ..of(Pattern::Permutation, shape)
    };
    let mut all: Vec<u64> = (0..4)
        .flat_map(|worker| blocks(&shared(4), worker, 64, 4))
        .map(|(block, _)| block)
        .collect();
    all.sort_unstable();
    assert!(all.iter().all(|block| *block < 16), "all in the first part: {all:?}");
}

#[test]
fn workers_that_share_a_part_split_each_of_them() {
    let regions = Some(Sharing::Shared);
    let stream = Stream { workers: 4, regions, ..of(Pattern::Permutation, [16, 4, 16]) };
    let own: Vec<_> = (0..4).map(|worker| blocks(&stream, worker, 64, 16)).collect();
    for part in 0..4 {
        let turns = own.iter().flat_map(|own| &own[4 * part..4 * part + 4]);
        let all: BTreeSet<u64> = turns.map(|(block, _)| *block).collect();
        let first = 16 * part as u64;
        assert_eq!(all, (first..first + 16).collect(), "each block of part {part} once");
    }
}

#[test]
fn a_region_without_a_whole_part_is_refused() {
    let stream = of(Pattern::SEQUENTIAL, [16, 16, 16]);
    let refused = Offsets::new(&stream, 0, 15 * BLOCK, SEED).map(|_| ()).unwrap_err();
    assert!(refused.text.contains("holds no window of 64KiB"), "{refused}");
}

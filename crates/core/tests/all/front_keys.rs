//! What plans of other tools' lines need: files by name, orders that steps share, places of each
//! kind, bounds of a stream's own.

use crate::support::*;
use drivelab_core::driver::drivers_of;
use drivelab_core::facts::TargetKind;
use drivelab_core::op::{Action, DataOp};
use drivelab_core::plan::{
    Files, Mix, Names, Pattern, Plan, PlanFile, Sequence, Sharing, Step, Stream, Sync, WeightedSize,
};
use drivelab_core::units::{Size, Span};
use drivelab_core::validate::{Geometry, validate};
use std::collections::{BTreeMap, BTreeSet};

const FILE: u64 = 16 * 4096;

fn ops_of(step: &Step, number: u32) -> Vec<Issue> {
    let drivers = drivers_of(step, number, SEED, Span(SECOND), FILE).unwrap();
    run(drivers, constant(MICROSECOND)).issues
}

fn of_worker(issues: &[Issue], stream: u32, worker: u32) -> Vec<DataOp> {
    let own = issues.iter().filter(|issue| (issue.stream, issue.worker) == (stream, worker));
    own.map(|issue| issue.op).collect()
}

fn offsets(ops: &[DataOp]) -> Vec<u64> {
    ops.iter().map(|op| op.offset).collect()
}

#[test]
fn each_worker_goes_over_the_whole_region() {
    for pattern in [Pattern::SEQUENTIAL, Pattern::Permutation] {
        let stream = Stream { workers: 3, regions: Some(Sharing::Whole), ..reads(pattern.clone()) };
        let issues = ops_of(&step(passes(2), vec![stream]), 0);
        let mut orders = BTreeSet::new();
        for worker in 0..3 {
            let own = offsets(&of_worker(&issues, 0, worker));
            assert_eq!(own.len(), 32, "two passes of 16 blocks");
            for pass in own.chunks(16) {
                let seen: BTreeSet<u64> = pass.iter().copied().collect();
                assert_eq!(seen.len(), 16, "{pattern:?}: every block once a pass");
            }
            orders.insert(own);
        }
        let different = if pattern == Pattern::Permutation { 3 } else { 1 };
        assert_eq!(orders.len(), different, "{pattern:?}");
    }
    // Bytes are of all together.
    let bytes = Size(3 * 8 * 4096);
    let until = drivelab_core::plan::Until { bytes: Some(bytes), ..Default::default() };
    let stream = Stream { workers: 3, regions: Some(Sharing::Whole), ..reads(Pattern::SEQUENTIAL) };
    let issues = ops_of(&step(until, vec![stream]), 0);
    assert_eq!(issues.len(), 24);
    assert_eq!(offsets(&of_worker(&issues, 0, 2))[0], 0);
}

#[test]
fn one_order_is_the_same_in_every_step() {
    let permuted = |order| Stream { order, ..reads(Pattern::Permutation) };
    let of = |order, number| {
        offsets(&of_worker(&ops_of(&step(passes(1), vec![permuted(order)]), number), 0, 0))
    };
    assert_ne!(of(None, 0), of(None, 1), "without an order each step draws its own");
    assert_eq!(of(Some(7), 0), of(Some(7), 5));
    assert_ne!(of(Some(7), 0), of(Some(8), 0));
}

#[test]
fn files_take_turns_and_are_all_flushed() {
    let stream = Stream { files_in_turn: Some(3), sync: Sync::End, ..writes(Pattern::Permutation) };
    let issues = ops_of(&step(passes(1), vec![stream.clone()]), 0);
    let data: Vec<DataOp> =
        issues.iter().map(|issue| issue.op).filter(|op| op.action == Action::Write).collect();
    assert_eq!(data.len(), 3 * 16);
    for (index, op) in data.iter().enumerate() {
        assert_eq!(op.file as usize, index % 3, "in turn");
    }
    let mut of_file: BTreeMap<u32, Vec<u64>> = BTreeMap::new();
    data.iter().for_each(|op| of_file.entry(op.file).or_default().push(op.offset));
    let orders: BTreeSet<&Vec<u64>> = of_file.values().collect();
    assert_eq!(orders.len(), 3, "each file has an order of its own");
    for own in of_file.values() {
        assert_eq!(own.iter().collect::<BTreeSet<_>>().len(), 16);
    }
    let flushed: Vec<u32> = issues
        .iter()
        .map(|issue| issue.op)
        .filter(|op| op.action == Action::Flush)
        .map(|op| op.file)
        .collect();
    assert_eq!(flushed, [0, 1, 2]);
    let every = Stream { sync: Sync::Fsync(1), ..stream };
    let issues = ops_of(&step(operations(5), vec![every]), 0);
    let pairs: Vec<(Action, u32)> =
        issues.iter().map(|issue| (issue.op.action, issue.op.file)).collect();
    assert_eq!(pairs[0], (Action::Write, 0));
    for pair in pairs.chunks(2).filter(|pair| pair.len() == 2) {
        assert_eq!(pair[1], (Action::Flush, pair[0].1), "the file that was written");
    }
}

#[test]
fn each_kind_goes_on_behind_its_own_last_one() {
    let mix = Mix { read: 50, write: 50, trim: 0 };
    let stream = Stream {
        mix,
        regions: Some(Sharing::Whole),
        ..reads(Pattern::Sequential(Sequence { each_kind_in_order: true, ..Sequence::default() }))
    };
    let ops = of_worker(&ops_of(&step(operations(24), vec![stream]), 0), 0, 0);
    for kind in [Action::Read, Action::Write] {
        let own: Vec<DataOp> = ops.iter().copied().filter(|op| op.action == kind).collect();
        let expected: Vec<u64> = (0..own.len() as u64).map(|index| index % 16 * 4096).collect();
        assert!(own.len() > 4, "both kinds are there");
        assert_eq!(offsets(&own), expected, "{kind:?}");
    }
}

#[test]
fn each_address_is_trimmed_and_then_written() {
    for pattern in [Pattern::SEQUENTIAL, Pattern::Permutation, Pattern::Uniform] {
        let mix = Mix { read: 0, write: 50, trim: 50 };
        let stream = Stream { mix, trim_first: true, ..reads(pattern.clone()) };
        let trims = Stream { mix: Mix { read: 0, write: 0, trim: 100 }, ..reads(pattern.clone()) };
        let pairs = of_worker(&ops_of(&step(operations(40), vec![stream]), 0), 0, 0);
        let alone = of_worker(&ops_of(&step(operations(20), vec![trims]), 0), 0, 0);
        assert_eq!((pairs.len(), alone.len()), (40, 20));
        for (pair, trim) in pairs.chunks(2).zip(alone) {
            assert_eq!(pair[0], trim, "{pattern:?}: the order is that of the trims alone");
            assert_eq!(pair[1], DataOp { action: Action::Write, ..trim }, "{pattern:?}");
        }
    }
}

#[test]
fn each_kind_has_sizes_of_its_own() {
    let size = |bytes, kind| WeightedSize { size: Size(bytes), weight: 1, kind };
    let in_order =
        Pattern::Sequential(Sequence { each_kind_in_order: true, ..Sequence::default() });
    for pattern in [in_order, Pattern::Uniform] {
        let stream = Stream {
            mix: Mix { read: 50, write: 50, trim: 0 },
            sizes: vec![size(4096, Some(Action::Read)), size(16_384, Some(Action::Write))],
            regions: Some(Sharing::Whole),
            ..reads(pattern.clone())
        };
        let ops = of_worker(&ops_of(&step(operations(200), vec![stream]), 0), 0, 0);
        for op in ops {
            let len = if op.action == Action::Read { 4096 } else { 16_384 };
            assert_eq!(op.len, len);
            assert!(op.offset.is_multiple_of(u64::from(len)), "{pattern:?}: on its own grid");
            assert!(op.offset + u64::from(len) <= FILE);
        }
    }
}

#[test]
fn neighbours_swap_their_parts() {
    let segments = |neighbour| Stream {
        workers: 4,
        neighbour,
        ..reads(Pattern::Segments { block: Size(8192), segments: Some(2) })
    };
    let of = |neighbour, worker| {
        let issues = ops_of(&step(passes(1), vec![segments(neighbour)]), 0);
        offsets(&of_worker(&issues, 0, worker))
    };
    for worker in 0..4 {
        assert_eq!(of(1, worker), of(0, (worker + 1) % 4));
    }
    let each = Stream { files: Files::Each, first_file: 2, neighbour: 1, ..segments(1) };
    assert_eq!((each.first_file_of(0), each.first_file_of(3)), (3, 2));
    assert_eq!(each.files_needed(), 6);
}

#[test]
fn workers_begin_so_far_from_each_other() {
    let stream = Stream {
        workers: 4,
        length: Some(Size(4 * 4096)),
        offset_each: Size(4 * 4096),
        regions: Some(Sharing::Whole),
        ..writes(Pattern::SEQUENTIAL)
    };
    let issues = ops_of(&step(passes(1), vec![stream]), 0);
    let seen: BTreeSet<u64> = issues.iter().map(|issue| issue.op.offset).collect();
    assert_eq!((issues.len(), seen.len()), (16, 16), "together they cover the file once");
}

#[test]
fn streams_end_by_bounds_of_their_own() {
    let of = |count| Stream { until: Some(operations(count)), ..reads(Pattern::Uniform) };
    let issues = ops_of(&step(operations(1000), vec![of(3), of(5)]), 0);
    assert_eq!(of_worker(&issues, 0, 0).len(), 3);
    assert_eq!(of_worker(&issues, 1, 0).len(), 5);
}

fn problems(plan: &Plan) -> String {
    let geometry = Geometry {
        kind: TargetKind::Directory,
        file_bytes: Some(FILE),
        logical_block_bytes: 512,
        lacks_page_cache: false,
        memory_bytes: None,
    };
    match validate(plan, &geometry) {
        Ok(()) => String::new(),
        Err(all) => all.iter().map(|problem| problem.text.clone() + "\n").collect(),
    }
}

#[test]
fn files_that_do_not_fit_are_refused() {
    let file = |name: &str, blocks: u64| PlanFile {
        name: name.into(),
        size: Size(blocks * 4096),
        grows: false,
    };
    let with = |files: Vec<PlanFile>, stream: Stream| Plan {
        files,
        steps: vec![step(operations(1), vec![stream])],
        ..Plan::default()
    };
    let plain = || reads(Pattern::Uniform);
    let two = || vec![file("a", 16), file("b/c", 4)];
    assert_eq!(problems(&with(two(), plain())), "");
    let second = Stream { first_file: 1, length: Some(Size(8 * 4096)), ..plain() };
    assert!(problems(&with(two(), second)).contains("beyond the end"), "of its own file");
    let third = Stream { first_file: 2, ..plain() };
    assert!(problems(&with(two(), third.clone())).contains("uses 3 files"));
    assert!(problems(&with(Vec::new(), third)).contains("names none"));
    let each = Stream { files: Files::Each, workers: 3, ..plain() };
    assert!(problems(&with(two(), each)).contains("uses 3 files"));
    for name in ["", "/etc/passwd", "../x", "a/../b", "a//b", "a/", "x\0y"] {
        let text = problems(&with(vec![file(name, 1)], plain()));
        assert!(text.contains("not the name of a file below"), "{name:?}: {text}");
    }
    assert!(problems(&with(vec![file("a", 1), file("a", 1)], plain())).contains("twice"));
    assert!(problems(&with(vec![file("a", 0)], plain())).contains("no size"));
    let far = Stream { neighbour: 1, ..plain() };
    assert!(problems(&with(two(), far)).contains("neighbour"));
}

#[test]
fn names_that_are_spelt_lead_nowhere_else() {
    let names = |form: &str, workers, names| Plan {
        steps: vec![step(
            passes(1),
            vec![Stream {
                workers,
                ..reads(Pattern::Names(Names {
                    actions: vec![Action::Create],
                    names: Some(names),
                    form: Some(form.into()),
                    ..Names::default()
                }))
            }],
        )],
        ..Plan::default()
    };
    assert_eq!(problems(&names("n{worker}f{name}", 4, 10)), "");
    assert_eq!(problems(&names("{worker}/n{worker}f{name}", 4, 10)), "");
    for form in ["../f{name}", "/tmp/{name}", "", "{rank}f{name}", "a/./{name}"] {
        assert!(problems(&names(form, 1, 10)).contains("spells no names"), "{form}");
    }
    assert!(problems(&names("f{name}", 2, 10)).contains("{worker}"));
    assert!(problems(&names("f{worker}", 2, 10)).contains("{name}"));
    assert_eq!(problems(&names("{worker}", 2, 1)), "", "one directory each");
}

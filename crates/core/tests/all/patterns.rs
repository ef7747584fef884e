//! Each pattern against what its name promises, by reasoning that does not look at its code.

use crate::support::*;
use drivelab_core::op::{Action, DataOp, NameOp};
use drivelab_core::plan::{
    Files, Jump, Mix, Names, Pattern, Sequence, Sharing, Stream, WeightedSize, Zone,
};
use drivelab_core::units::{Size, Span};

fn offsets(ops: &[DataOp]) -> Vec<u64> {
    ops.iter().map(|op| op.offset).collect()
}

/// Every byte of the file is in exactly this many requests of all workers.
fn assert_covered(all: &[Vec<DataOp>], file_bytes: u64, times: u32, unit: u64) {
    let mut seen = vec![0; (file_bytes / unit) as usize];
    for op in all.iter().flatten() {
        assert!(op.offset.is_multiple_of(unit) && u64::from(op.len).is_multiple_of(unit));
        for block in op.offset / unit..(op.offset + u64::from(op.len)) / unit {
            seen[block as usize] += 1;
        }
    }
    assert!(seen.iter().all(|count| *count == times), "{seen:?}");
}

#[test]
fn sequential_goes_through_the_file_and_begins_anew() {
    let all = ops(&reads(Pattern::SEQUENTIAL), 10 * 4096 + 100, 25);
    let expected: Vec<u64> = (0..25).map(|index| index % 10 * 4096).collect();
    assert_eq!(offsets(&all[0]), expected);
}

#[test]
fn a_first_pass_begins_anywhere_and_goes_round_the_whole_region() {
    let begin = Some(Size(7 * 4096));
    let stream = Stream { ..reads(Pattern::Sequential(Sequence { begin, ..Sequence::default() })) };
    let expected: Vec<u64> = (0..25).map(|index| (7 + index) % 10 * 4096).collect();
    assert_eq!(offsets(&ops(&stream, 10 * 4096, 25)[0]), expected);
    assert_covered(&one_pass(&stream, 10 * 4096), 10 * 4096, 1, 4096);
    let grid = Stream { align: Some(Size(16384)), ..stream.clone() };
    assert_eq!(offsets(&ops(&grid, 10 * 4096, 3)[0]), [16384, 32768, 0], "on its grid");
}

#[test]
fn workers_of_a_sequential_stream_have_their_own_part_and_cover_all() {
    for workers in [1, 2, 3, 7] {
        let stream = Stream { workers, ..reads(Pattern::SEQUENTIAL) };
        let all = one_pass(&stream, 100 * 4096);
        assert_covered(&all, 100 * 4096, 1, 4096);
        for own in &all {
            assert!(own.windows(2).all(|pair| pair[1].offset == pair[0].offset + 4096));
        }
    }
}

#[test]
fn backward_and_in_place() {
    let stream = Stream {
        ..reads(Pattern::Sequential(Sequence { stride: Some(-1), ..Sequence::default() }))
    };
    let expected: Vec<u64> = (0..20).map(|index| (9 - index % 10) * 4096).collect();
    assert_eq!(offsets(&ops(&stream, 10 * 4096, 20)[0]), expected);
    let stream = Stream {
        ..reads(Pattern::Sequential(Sequence { stride: Some(0), ..Sequence::default() }))
    };
    assert_eq!(offsets(&ops(&stream, 10 * 4096, 20)[0]), [0; 20]);
    assert_eq!(one_pass(&stream, 10 * 4096)[0].len(), 10, "IOzone's record rewrite: n times");
}

#[test]
fn a_stride_wraps_to_record_1_then_2_until_all_records_were_read() {
    // IOzone's default stride is 17 records.
    for (records, stride) in [(100, 17), (100, 7), (17, 17), (10, 17), (1, 17), (18, 17), (64, 2)] {
        let stream = Stream {
            ..reads(Pattern::Sequential(Sequence { stride: Some(stride), ..Sequence::default() }))
        };
        let got = offsets(&one_pass(&stream, records * 4096)[0]);
        let mut expected = Vec::new();
        for start in 0..records.min(stride as u64) {
            expected.extend((start..records).step_by(stride as usize).map(|record| record * 4096));
        }
        assert_eq!(got, expected, "{records} records, stride {stride}");
        let stream = Stream {
            pattern: Pattern::Sequential(Sequence { stride: Some(-stride), ..Sequence::default() }),
            ..stream
        };
        let mirrored: Vec<u64> = expected.iter().map(|at| (records - 1) * 4096 - at).collect();
        assert_eq!(offsets(&one_pass(&stream, records * 4096)[0]), mirrored);
    }
}

#[test]
fn a_permutation_visits_every_block_once_a_pass_over_all_workers() {
    for (workers, regions) in
        [(1, None), (3, Some(Sharing::Shared)), (3, Some(Sharing::Disjoint)), (5, None)]
    {
        let stream = Stream { workers, regions, ..writes(Pattern::Permutation) };
        let all = one_pass(&stream, 1000 * 4096);
        assert_covered(&all, 1000 * 4096, 1, 4096);
        let step = step(passes(3), vec![stream]);
        let outcome = run(drivers(&step, 1000 * 4096), constant(MICROSECOND));
        let thrice: Vec<Vec<DataOp>> = (0..workers).map(|worker| outcome.ops_of(worker)).collect();
        assert_covered(&thrice, 1000 * 4096, 3, 4096);
        let first_third = &thrice[0][..all[0].len()];
        assert_eq!(first_third, all[0], "a pass is the same as a whole run of one pass");
    }
}

#[test]
fn a_permutation_is_not_an_order() {
    let all = one_pass(&writes(Pattern::Permutation), 4096 * 4096);
    let ascending = all[0].windows(2).filter(|pair| pair[1].offset > pair[0].offset).count();
    assert!((1900..2200).contains(&ascending), "{ascending} of 4095 steps go up");
    let next = all[0].windows(2).filter(|pair| pair[1].offset == pair[0].offset + 4096).count();
    assert!(next < 12, "{next} neighbours follow each other; 1 is expected");
}

#[test]
fn all_patterns_stay_inside_the_region_and_on_the_grid() {
    let sizes =
        [4096, 65536].map(|size| WeightedSize { size: Size(size), weight: 1, kind: None }).to_vec();
    for pattern in [
        Pattern::SEQUENTIAL,
        Pattern::Uniform,
        Pattern::SemiRandom(Jump::Share(None)),
        Pattern::Zipf { theta: None },
        Pattern::HotZones(vec![Zone { addresses: 0.2, accesses: 0.8 }]),
        Pattern::Permutation,
    ] {
        for (align, shift, mixed) in [
            (None, 0, false),
            (Some(512), 0, true),
            (Some(16384), 512, false),
            (Some(4096), 1536, true),
        ] {
            if pattern == Pattern::Permutation && (mixed || align == Some(512)) {
                continue;
            }
            for regions in [Sharing::Shared, Sharing::Disjoint] {
                let stream = Stream {
                    align: align.map(Size),
                    shift: Size(shift),
                    sizes: if mixed { sizes.clone() } else { Vec::new() },
                    offset: Size(MIB),
                    length: Some(Size(2 * MIB)),
                    regions: Some(regions),
                    workers: 3,
                    ..reads(pattern.clone())
                };
                let grid = align.unwrap_or(4096);
                let all = ops(&stream, 8 * MIB, 2000);
                let what = format!("{pattern:?} {align:?} {shift} {mixed} {regions:?}");
                for op in all.iter().flatten() {
                    assert!(op.offset >= MIB + shift, "{what}: {op:?}");
                    assert!(op.offset + u64::from(op.len) <= 3 * MIB, "{what}: {op:?}");
                    assert!((op.offset - shift).is_multiple_of(grid), "{what}: {op:?}");
                }
                if regions == Sharing::Disjoint {
                    assert_disjoint(&all, &what);
                }
            }
        }
    }
}

/// No byte is touched by two workers.
fn assert_disjoint(all: &[Vec<DataOp>], what: &str) {
    let spans: Vec<(u64, u64)> = all
        .iter()
        .map(|own| {
            let first = own.iter().map(|op| op.offset).min().unwrap();
            (first, own.iter().map(|op| op.offset + u64::from(op.len)).max().unwrap())
        })
        .collect();
    for pair in spans.windows(2) {
        assert!(pair[0].1 <= pair[1].0, "{what}: {spans:?}");
    }
}

#[test]
fn mixed_sizes_in_sequence_use_the_whole_region() {
    let sizes = [4096, 131_072]
        .map(|size| WeightedSize { size: Size(size), weight: 1, kind: None })
        .to_vec();
    let stream = Stream { sizes, ..reads(Pattern::SEQUENTIAL) };
    for workers in [1, 2] {
        let all = ops(&Stream { workers, ..stream.clone() }, 2 * MIB, 5000);
        let mut touched = vec![false; 512];
        for op in all.iter().flatten() {
            for block in op.offset / 4096..(op.offset + u64::from(op.len)) / 4096 {
                touched[block as usize] = true;
            }
        }
        assert!(touched.iter().all(|it| *it), "{workers} worker(s)");
        for own in &all {
            let follows =
                |pair: &[DataOp]| pair[1].offset == pair[0].offset + u64::from(pair[0].len);
            let wraps = own.windows(2).filter(|pair| !follows(pair)).count();
            let bytes: u64 = own.iter().map(|op| u64::from(op.len)).sum();
            let region = 2 * MIB / u64::from(workers);
            assert!(wraps as u64 <= bytes / (region - 131_072) + 1, "{wraps} wraps");
        }
    }
}

#[test]
fn sizes_and_kinds_come_in_the_shares_asked_for() {
    let weighted = |size, weight| WeightedSize { size: Size(size), weight, kind: None };
    let stream = Stream {
        sizes: vec![weighted(4096, 70), weighted(8192, 20), weighted(65536, 10)],
        mix: Mix { read: 60, write: 30, trim: 10 },
        ..reads(Pattern::Uniform)
    };
    let all = ops(&stream, 64 * MIB, 100_000);
    let share = |test: &dyn Fn(&DataOp) -> bool| {
        all[0].iter().filter(|op| test(op)).count() as f64 / all[0].len() as f64
    };
    // 5 standard deviations of a share of 100,000 draws are at most 0.008.
    for (size, expected) in [(4096, 0.7), (8192, 0.2), (65536, 0.1)] {
        assert!((share(&|op| op.len == size) - expected).abs() < 0.008);
    }
    for (kind, expected) in [(Action::Read, 0.6), (Action::Write, 0.3), (Action::Trim, 0.1)] {
        assert!((share(&|op| op.action == kind) - expected).abs() < 0.008);
    }
    // The draws are independent of each other.
    let both = share(&|op| op.len == 4096 && op.action == Action::Read);
    assert!((both - 0.42).abs() < 0.008, "{both}");
}

#[test]
fn uniform_takes_each_block_equally_often() {
    let all = ops(&reads(Pattern::Uniform), 100 * 4096, 100_000);
    let mut seen = [0u32; 100];
    all[0].iter().for_each(|op| seen[(op.offset / 4096) as usize] += 1);
    let chi_squared: f64 = seen.iter().map(|n| (f64::from(*n) - 1000.0).powi(2) / 1000.0).sum();
    // 99 degrees of freedom: above 148.2 with probability 0.001, below 61 with the same.
    assert!((55.0..160.0).contains(&chi_squared), "{chi_squared}");
}

#[test]
fn semi_random_jumps_with_the_given_probability_and_else_goes_on() {
    for share in [0.0, 0.1, 0.5, 1.0] {
        let stream = Stream { ..reads(Pattern::SemiRandom(Jump::Share(Some(share)))) };
        let blocks = 1 << 16;
        let all = ops(&stream, blocks * 4096, 50_000);
        let goes_on =
            |pair: &&[DataOp]| pair[1].offset == (pair[0].offset + 4096) % (blocks * 4096);
        let jumps = all[0].windows(2).filter(|pair| !goes_on(pair)).count() as f64 / 49_999.0;
        assert!((jumps - share).abs() < 0.011, "{jumps} instead of {share}");
        if share == 1.0 {
            let mean = all[0].iter().map(|op| op.offset as f64).sum::<f64>() / 50_000.0;
            let middle = (blocks * 4096) as f64 / 2.0;
            assert!((mean / middle - 1.0).abs() < 0.02, "jumps go everywhere alike");
        }
    }
}

#[test]
fn zipf_popularity_follows_the_law_and_is_scattered() {
    for theta in [0.5, 1.0, 1.5] {
        let stream = Stream { ..reads(Pattern::Zipf { theta: Some(theta) }) };
        let (blocks, draws) = (1000u64, 200_000);
        let all = ops(&stream, blocks * 4096, draws);
        let mut seen = vec![0u64; blocks as usize];
        all[0].iter().for_each(|op| seen[(op.offset / 4096) as usize] += 1);
        let hottest = (0..seen.len()).max_by_key(|block| seen[*block]).unwrap();
        let mut ranked = seen.clone();
        ranked.sort_unstable_by_key(|count| std::cmp::Reverse(*count));
        let norm: f64 = (1..=blocks).map(|rank| (rank as f64).powf(-theta)).sum();
        for rank in [1usize, 2, 3, 5, 10] {
            let expected = draws as f64 * (rank as f64).powf(-theta) / norm;
            let got = ranked[rank - 1] as f64;
            let tolerance = 5.0 * expected.sqrt() + 0.05 * expected;
            assert!(
                (got - expected).abs() < tolerance,
                "theta {theta} rank {rank}: {got} {expected}"
            );
        }
        // Two of the three hottest side by side would be chance of 1 in 250.
        let mut hot: Vec<usize> = (0..seen.len()).collect();
        hot.sort_unstable_by_key(|block| std::cmp::Reverse(seen[*block]));
        assert!(hot[1].abs_diff(hottest) > 1 && hot[2].abs_diff(hottest) > 1, "{:?}", &hot[..3]);
    }
}

#[test]
fn workers_that_share_a_zipf_region_share_its_hot_blocks() {
    let hottest = |regions| {
        let stream =
            Stream { workers: 2, regions: Some(regions), ..reads(Pattern::Zipf { theta: None }) };
        let all = ops(&stream, 1000 * 4096, 20_000);
        all.map_hottest()
    };
    let shared = hottest(Sharing::Shared);
    assert_eq!(shared[0], shared[1]);
    let disjoint = hottest(Sharing::Disjoint);
    assert_ne!(disjoint[0], disjoint[1]);
}

trait Hottest {
    fn map_hottest(&self) -> Vec<u64>;
}

impl Hottest for Vec<Vec<DataOp>> {
    fn map_hottest(&self) -> Vec<u64> {
        let hottest = |own: &Vec<DataOp>| {
            let mut seen = std::collections::BTreeMap::new();
            own.iter().for_each(|op| *seen.entry(op.offset).or_insert(0) += 1);
            seen.into_iter().max_by_key(|entry| entry.1).unwrap().0
        };
        self.iter().map(hottest).collect()
    }
}

#[test]
fn hot_zones_get_their_shares_of_addresses_and_accesses() {
    let stream = Stream {
        ..reads(Pattern::HotZones(vec![
            Zone { addresses: 0.1, accesses: 0.5 },
            Zone { addresses: 0.2, accesses: 0.0 },
            Zone { addresses: 0.3, accesses: 0.3 },
        ]))
    };
    let all = ops(&stream, 1000 * 4096, 100_000);
    let share = |from: u64, to: u64| {
        let inside = |op: &&DataOp| (from..to).contains(&(op.offset / 4096));
        all[0].iter().filter(inside).count() as f64 / 1e5
    };
    for (from, to, expected) in [(0, 100, 0.5), (100, 300, 0.0), (300, 600, 0.3), (600, 1000, 0.2)]
    {
        let got = share(from, to);
        assert!((got - expected).abs() < 0.008, "blocks {from}..{to}: {got} instead of {expected}");
    }
    assert_eq!(share(100, 300), 0.0, "a zone without accesses is never touched");
    let within = share(0, 50);
    assert!((within - 0.25).abs() < 0.008, "inside a zone all blocks are alike: {within}");
}

#[test]
fn segments_of_all_workers_tile_the_file_as_ior_lays_them_out() {
    // i·np·b + rank·b + j·t
    let (block, segments, workers, transfer) = (16 * KIB, 5, 3, 4 * KIB);
    let stream = Stream {
        workers,
        ..writes(Pattern::Segments { block: Size(block), segments: Some(segments) })
    };
    let bytes = block * segments * u64::from(workers);
    let all = one_pass(&stream, bytes);
    assert_covered(&all, bytes, 1, 4096);
    for (rank, own) in (0u64..).zip(&all) {
        let mut expected = Vec::new();
        for i in 0..segments {
            for j in 0..block / transfer {
                expected.push(i * u64::from(workers) * block + rank * block + j * transfer);
            }
        }
        assert_eq!(offsets(own), expected);
    }
    // N-N: each worker in a file of its own is plainly sequential.
    let own_files = Stream { files: Files::Each, ..stream };
    for own in one_pass(&own_files, block * segments) {
        let expected: Vec<u64> = (0..block * segments / transfer).map(|j| j * transfer).collect();
        assert_eq!(offsets(&own), expected);
    }
}

#[test]
fn segments_take_a_size_from_a_list_of_one() {
    let stream = Stream {
        sizes: vec![WeightedSize { size: Size(8192), weight: 1, kind: None }],
        ..writes(Pattern::Segments { block: Size(16384), segments: Some(2) })
    };
    assert_covered(&one_pass(&stream, 32768), 32768, 1, 4096);
}

#[test]
fn a_replay_is_literal_and_split_over_workers() {
    let list: Vec<u64> = [7u64, 3, 3, 9, 0, 1, 8].map(|block| block * 4096).to_vec();
    let stream = Stream { ..reads(Pattern::Replay(list.iter().copied().map(Size).collect())) };
    let twice: Vec<u64> = list.iter().chain(&list).copied().collect();
    assert_eq!(offsets(&ops(&stream, MIB, 14)[0]), twice);
    let all = one_pass(&Stream { workers: 3, ..stream }, MIB);
    assert_eq!(offsets(&all[0]), [7 * 4096, 9 * 4096, 8 * 4096]);
    assert_eq!(offsets(&all[1]), [3 * 4096, 0]);
    assert_eq!(offsets(&all[2]), [3 * 4096, 4096]);
}

#[test]
fn a_replay_outside_of_the_region_is_refused() {
    let stream =
        Stream { shift: Size(512), ..reads(Pattern::Replay(vec![Size(0), Size(MIB - 4096)])) };
    let step = step(operations(4), vec![stream]);
    let drivers = drivelab_core::driver::drivers_of(&step, 0, SEED, Span(SECOND), MIB);
    assert!(drivers.is_err_and(|trouble| trouble.text.contains("1044480")));
}

#[test]
fn names_take_each_action_on_all_names_before_the_next() {
    use Action::{Create, Rename, Stat, Unlink};
    let stream = Stream {
        ..reads(Pattern::Names(Names {
            actions: vec![Create, Stat, Rename, Rename, Rename, Unlink],
            names: Some(3),
            ..Names::default()
        }))
    };
    let outcome =
        run(drivers(&step(passes(2), vec![stream]), 0), |now: u64, _: &DataOp, _: &mut [u8]| {
            (now + 1000, Ok(0))
        });
    let told = |op: &NameOp| (op.action, op.name(), op.is_second_form(), op.pass);
    let got: Vec<(Action, u32, bool, u64)> = outcome.names.iter().map(told).collect();
    let mut expected = Vec::new();
    for pass in 0..2 {
        let (first, second) = (false, true);
        let forms = [
            (Create, first),
            (Stat, first),
            (Rename, second),
            (Rename, first),
            (Rename, second),
            (Unlink, second),
        ];
        for (action, form) in forms {
            expected.extend((0..3).map(|name| (action, name, form, pass)));
        }
    }
    assert_eq!(got, expected);
}

#[test]
fn equal_plans_and_seeds_give_equal_operations_and_others_do_not() {
    let stream = |pattern: &Pattern| Stream {
        workers: 2,
        mix: Mix { read: 50, write: 50, trim: 0 },
        ..reads(pattern.clone())
    };
    for pattern in [
        Pattern::Uniform,
        Pattern::Permutation,
        Pattern::SemiRandom(Jump::Share(None)),
        Pattern::Zipf { theta: None },
        Pattern::HotZones(vec![Zone { addresses: 0.5, accesses: 0.9 }]),
    ] {
        let step = step(operations(400), vec![stream(&pattern), stream(&pattern)]);
        let of = |number: u32, seed: u64, stream: u32, worker: u32| {
            let drivers =
                drivelab_core::driver::drivers_of(&step, number, seed, Span(SECOND), 64 * MIB);
            let outcome = run(drivers.unwrap(), constant(MICROSECOND));
            let mine = |i: &&Issue| i.stream == stream && i.worker == worker;
            outcome.issues.iter().filter(mine).map(|i| i.op).collect::<Vec<DataOp>>()
        };
        let first = of(0, 1, 0, 0);
        assert_eq!(first, of(0, 1, 0, 0), "{pattern:?}");
        for other in [of(1, 1, 0, 0), of(0, 2, 0, 0), of(0, 1, 1, 0), of(0, 1, 0, 1)] {
            let equal = first.iter().zip(&other).filter(|(a, b)| a.offset == b.offset).count();
            assert!(equal < 50, "{pattern:?}: {equal} of 200 offsets are equal");
        }
    }
}

#[test]
fn what_happens_in_time_does_not_change_what_is_issued() {
    let stream = Stream { depth: 4, ..reads(Pattern::Uniform) };
    let step = step(operations(500), vec![stream]);
    let fast = run(drivers(&step, 64 * MIB), constant(MICROSECOND));
    let slow = run(drivers(&step, 64 * MIB), serial(|number| 1000 + number * 7919 % 100_000));
    assert_eq!(fast.ops_of(0), slow.ops_of(0));
}

#[test]
fn writes_in_order_go_on_whatever_is_read_between_them() {
    let mix = Mix { read: 90, write: 10, trim: 0 };
    let stream = Stream { mix, writes_in_order: true, ..reads(Pattern::Uniform) };
    let all = ops(&stream, 10 * 4096 + 100, 2000).remove(0);
    let (writes, reads): (Vec<DataOp>, Vec<DataOp>) =
        all.into_iter().partition(|op| op.action == Action::Write);
    assert!((140..=260).contains(&writes.len()), "{}", writes.len());
    let expected: Vec<u64> = (0..writes.len() as u64).map(|index| index % 10 * 4096).collect();
    assert_eq!(offsets(&writes), expected);
    let mut seen = [0u32; 10];
    reads.iter().for_each(|op| seen[(op.offset / 4096) as usize] += 1);
    assert!(seen.iter().all(|count| (100..=260).contains(count)), "{seen:?}");
}

//! IOzone's, IOR's and Metarates' lines: what is issued, by strace, against tables that say what
//! those tools do. The tables were written from what is known of the tools, not from the front
//! ends.

use crate::issued::{Issued, Kind, Place};

const KIB: u64 = 1024;
const DRIVELAB: &str = env!("CARGO_BIN_EXE_drivelab");

fn after(line: &str) -> Place {
    let words: Vec<&str> = line.split(' ').collect();
    let place = Place::after(&[DRIVELAB], &words);
    assert_eq!(place.status, 0, "{line}\n{}", place.stderr);
    place
}

/// Reads and writes of one worker, without syncs.
fn moves(own: &[Issued]) -> Vec<(Kind, u64, u64)> {
    own.iter()
        .filter(|one| matches!(one.kind, Kind::Read | Kind::Write))
        .map(|one| (one.kind, one.offset, one.bytes))
        .collect()
}

/// Requests of `bytes` at these records, of one kind.
fn at(kind: Kind, records: impl IntoIterator<Item = u64>, bytes: u64) -> Vec<(Kind, u64, u64)> {
    records.into_iter().map(|record| (kind, record * bytes, bytes)).collect()
}

/// Every 17th record, then those behind them, until each was read.
fn strided(records: u64) -> Vec<u64> {
    (0..17).flat_map(|first| (first..records).step_by(17)).collect()
}

#[test]
fn iozone_goes_through_its_thirteen_tests() {
    let place = after("iozone -s 4096 -r 64");
    let (records, bytes) = (64, 64 * KIB);
    let tests: Vec<Vec<(Kind, u64, u64)>> =
        place.in_order().iter().map(|own| moves(own)).filter(|own| !own.is_empty()).collect();
    assert_eq!(tests.len(), 13, "{:?}", tests.iter().map(Vec::len).collect::<Vec<_>>());
    let in_order = |kind| at(kind, 0..records, bytes);
    let (read, write) = (Kind::Read, Kind::Write);
    let expected = [
        ("write", 0, in_order(write)),
        ("rewrite", 1, in_order(write)),
        ("read", 2, in_order(read)),
        ("reread", 3, in_order(read)),
        ("backward read", 6, at(read, (0..records).rev(), bytes)),
        ("record rewrite", 7, at(write, (0..records).map(|_| 0), bytes)),
        ("strided read", 8, at(read, strided(records), bytes)),
        ("fwrite", 9, in_order(write)),
        ("frewrite", 10, in_order(write)),
        ("fread", 11, in_order(read)),
        ("freread", 12, in_order(read)),
    ];
    for (name, test, expected) in expected {
        assert_eq!(tests[test], expected, "{name}");
    }
    // Each record once, in one order for reads and writes.
    let offsets = |test: usize| tests[test].iter().map(|one| one.1).collect::<Vec<_>>();
    let mut sorted = offsets(4);
    assert_ne!(sorted, (0..records).map(|record| record * bytes).collect::<Vec<_>>());
    assert_eq!(offsets(4), offsets(5), "random read and random write");
    sorted.sort_unstable();
    assert_eq!(sorted, (0..records).map(|record| record * bytes).collect::<Vec<_>>());
    assert!(place.sizes.is_empty(), "iozone.tmp is removed: {:?}", place.sizes);
    // And in every run.
    let again = after("iozone -s 4096 -r 64 -i 0 -i 2");
    let random: Vec<Vec<u64>> =
        again.in_order().iter().map(|own| moves(own).iter().map(|one| one.1).collect()).collect();
    assert!(random.contains(&offsets(4)), "the same order in another run");
}

#[test]
fn iozone_without_retests_and_with_the_file_kept() {
    let place = after("iozone -i 0 -i 1 -i 2 -e -+n -r 4 -s 64 -w -f kept");
    let tests: Vec<Vec<(Kind, u64, u64)>> =
        place.in_order().iter().map(|own| moves(own)).filter(|own| !own.is_empty()).collect();
    let kinds: Vec<Kind> = tests.iter().map(|test| test[0].0).collect();
    assert_eq!(kinds, [Kind::Write, Kind::Read, Kind::Read, Kind::Write]);
    assert!(tests.iter().all(|test| test.len() == 16));
    assert_eq!(place.sizes.get("kept"), Some(&(64 * KIB)));
    let syncs = place.in_order().concat().iter().filter(|one| one.kind == Kind::Sync).count();
    assert!(syncs >= 2, "each write test is synced: {syncs}");
}

#[test]
fn ior_alone_writes_and_reads_its_blocks() {
    let place = after("ior -a POSIX -b 64k -t 16k -s 3 -F -i 2 -k");
    let transfers = at(Kind::Write, 0..12, 16 * KIB);
    let reads = at(Kind::Read, 0..12, 16 * KIB);
    let tests: Vec<Vec<(Kind, u64, u64)>> =
        place.in_order().iter().map(|own| moves(own)).filter(|own| !own.is_empty()).collect();
    assert_eq!(tests, [transfers.clone(), reads.clone(), transfers, reads]);
    assert_eq!(place.sizes.get("testFile.00000000"), Some(&(192 * KIB)));
}

mod several {
    use super::*;
    use std::collections::{BTreeMap, BTreeSet};

    fn under_mpirun(ranks: u64, line: &str, directories: &[&str]) -> Place {
        let ranks = ranks.to_string();
        let mpirun = ["mpirun", "--oversubscribe", "-np", &ranks];
        let words: Vec<&str> = line.split(' ').collect();
        let place = Place::below(&mpirun, &[DRIVELAB], &words, directories);
        assert_eq!(place.status, 0, "{line}\n{}", place.stderr);
        place
    }

    /// Offsets of one kind in each file, in the order of their worker.
    fn by_worker(place: &Place, kind: Kind) -> BTreeSet<(String, Vec<u64>)> {
        let of = |own: &Vec<Issued>| {
            let own: Vec<&Issued> = own.iter().filter(|one| one.kind == kind).collect();
            let file = own.first()?.file.clone();
            Some((file, own.iter().map(|one| one.offset).collect()))
        };
        place.in_order().iter().filter_map(of).collect()
    }

    #[test]
    fn ior_lays_segments_of_blocks_of_all_ranks() {
        let (ranks, segments, block, transfer) = (4, 2, 64 * KIB, 16 * KIB);
        let place = under_mpirun(ranks, "ior -a POSIX -b 64k -t 16k -s 2", &[]);
        let offsets = |rank: u64| -> Vec<u64> {
            (0..segments)
                .flat_map(|segment| {
                    let begin = (segment * ranks + rank) * block;
                    (0..block / transfer).map(move |step| begin + step * transfer)
                })
                .collect()
        };
        let expected: BTreeSet<(String, Vec<u64>)> =
            (0..ranks).map(|rank| ("testFile".to_string(), offsets(rank))).collect();
        assert_eq!(by_worker(&place, Kind::Write), expected);
        assert_eq!(by_worker(&place, Kind::Read), expected);
    }

    #[test]
    fn ior_gives_each_rank_a_file() {
        let place = under_mpirun(2, "ior -a POSIX -b 64k -t 32k -s 2 -F", &[]);
        let offsets: Vec<u64> = (0..4).map(|step| step * 32 * KIB).collect();
        let expected: BTreeSet<(String, Vec<u64>)> =
            (0..2).map(|rank| (format!("testFile.{rank:08}"), offsets.clone())).collect();
        assert_eq!(by_worker(&place, Kind::Write), expected);
        assert_eq!(by_worker(&place, Kind::Read), expected);
    }

    #[test]
    fn ior_goes_through_random_segments_one_by_one() {
        let place = under_mpirun(2, "ior -a POSIX -w -z -b 64k -t 16k -s 3", &[]);
        let own = by_worker(&place, Kind::Write);
        let mut all = BTreeSet::new();
        for (_, offsets) in &own {
            let records: Vec<u64> = offsets.iter().map(|offset| offset / (16 * KIB)).collect();
            let segments: Vec<u64> = records.iter().map(|record| record / 8).collect();
            assert_eq!(segments, [0, 0, 0, 0, 1, 1, 1, 1, 2, 2, 2, 2]);
            all.extend(records);
        }
        assert_eq!((own.len(), all), (2, (0..24).collect()), "each record once");
    }

    #[test]
    fn a_dummy_leaves_nothing_and_touches_nothing() {
        let ior = "ior -a DUMMY -b 64k -t 16k -s 3 -F --dummy.delay-create=1000";
        let mdtest = "mdtest -a DUMMY -I 20 -d not/there";
        for line in [ior, mdtest] {
            let place = under_mpirun(2, line, &[]);
            assert!(place.stderr.contains("no drive was measured"), "{}", place.stderr);
            assert!(place.in_order().concat().is_empty(), "{line}");
            assert!(place.sizes.is_empty(), "{line}: {:?}", place.sizes);
        }
    }

    #[test]
    fn metarates_creates_looks_at_and_sets_times_of_its_names() {
        let (ranks, each) = (2, 4);
        let line = "metarates -d junk -n 8 -C -U -S";
        let place = under_mpirun(ranks, line, &["junk"]);
        let mut counted: BTreeMap<(Kind, String), u64> = BTreeMap::new();
        for one in place.in_order().concat() {
            *counted.entry((one.kind, one.file)).or_insert(0) += 1;
        }
        for rank in 0..ranks {
            for name in 0..each {
                let name = format!("junk/n{rank}f{name}");
                let count = |kind| counted.get(&(kind, name.clone())).copied().unwrap_or(0);
                // Once in each test's own right, and removed behind each.
                assert_eq!(count(Kind::Create), 3, "{name}");
                assert_eq!(count(Kind::Stat), 1, "{name}");
                assert_eq!(count(Kind::Utime), 1, "{name}");
                assert_eq!(count(Kind::Unlink), 3, "{name}");
            }
        }
        let names: BTreeSet<&String> = counted
            .keys()
            .filter(|(kind, _)| *kind == Kind::Create)
            .map(|(_, name)| name)
            .collect();
        assert_eq!(names.len() as u64, ranks * each, "{names:?}");
        assert!(place.sizes.is_empty());
    }

    #[test]
    fn metarates_gives_each_rank_a_directory() {
        let place = under_mpirun(2, "metarates -d junk -n 6 -C -u", &["junk"]);
        let all = place.in_order().concat();
        let of = |kind| -> BTreeSet<String> {
            all.iter().filter(|one| one.kind == kind).map(|one| one.file.clone()).collect()
        };
        let names = |rank: u32| (0..3).map(move |name| format!("junk/{rank}/n{rank}f{name}"));
        let expected: BTreeSet<String> = (0..2).flat_map(names).collect();
        assert_eq!(of(Kind::Create), expected);
        let directories: BTreeSet<String> = ["junk/0", "junk/1"].map(String::from).into();
        assert_eq!(of(Kind::MakeDirectory), directories);
    }
}

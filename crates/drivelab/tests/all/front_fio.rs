//! fio's lines on our engine against fio itself: the same files, sizes, operations and shares; in
//! order where there is one, the same set where there is a map of blocks.

use crate::issued::{Issued, Kind, Place};
use std::collections::{BTreeMap, BTreeSet};

/// What both did with a line.
fn both(line: &str) -> (Place, Place) {
    let words: Vec<&str> = line.split(' ').collect();
    let theirs = Place::after(&["fio"], &words);
    let ours = Place::after(&[env!("CARGO_BIN_EXE_drivelab"), "fio"], &words);
    assert_eq!(theirs.status, 0, "fio {line}: {}", theirs.stderr);
    assert_eq!(ours.status, 0, "drivelab fio {line}: {}", ours.stderr);
    assert_eq!(ours.sizes, theirs.sizes, "{line}: files and their sizes");
    (ours, theirs)
}

fn sums(all: &[Issued]) -> BTreeMap<(Kind, String), (u64, u64)> {
    let mut sums = BTreeMap::new();
    for one in all {
        let sum = sums.entry((one.kind, one.file.clone())).or_insert((0, 0));
        *sum = (sum.0 + 1, sum.1 + one.bytes);
    }
    sums
}

/// The same operations on the same places, each thread in the same order.
fn same_order(line: &str) {
    let (ours, theirs) = both(line);
    alike(line, ours.data(), theirs.data());
}

/// The same operations on the same places, in whatever order.
fn same_set(line: &str) {
    let (ours, theirs) = both(line);
    let set = |place: &Place| {
        let mut all: Vec<Issued> = place.data().into_iter().flatten().collect();
        all.sort();
        all
    };
    alike(line, vec![set(&ours)], vec![set(&theirs)]);
}

/// Equal, or the first place where they are not.
fn alike(line: &str, ours: Vec<Vec<Issued>>, theirs: Vec<Vec<Issued>>) {
    let lengths = |all: &[Vec<Issued>]| all.iter().map(Vec::len).collect::<Vec<_>>();
    for (thread, (ours, theirs)) in ours.iter().zip(&theirs).enumerate() {
        let other = ours.iter().zip(theirs).position(|(one, other)| one != other);
        if let Some(at) = other {
            let near = at.saturating_sub(2)..at + 3;
            let ours = &ours[near.start..near.end.min(ours.len())];
            let theirs = &theirs[near.start..near.end.min(theirs.len())];
            panic!("{line}: thread {thread}, operation {at}:\n ours {ours:?}\n fio {theirs:?}");
        }
    }
    assert_eq!(lengths(&ours), lengths(&theirs), "{line}: operations of each thread");
}

#[test]
fn sequential_lines_issue_the_same_operations_in_the_same_order() {
    for line in [
        "--name=a --rw=read --bs=128k --size=1m",
        "--name=a --rw=write --bs=16k --size=60000",
        "--name=a --rw=write --bs=4k --size=64k --offset=16k",
        "--name=a --rw=write --bs=16k --size=64k --io_size=160k",
        "--name=a --rw=write --bs=16k --size=64k --io_size=32k",
        "--name=a --rw=read --bs=16k --size=64k --loops=3",
        "--name=a --rw=write --bs=8k --size=96k --nrfiles=3",
        "--name=a --rw=read --bs=8k --size=64k --filename=x:y",
        "--name=a --rw=write --bs=8k --size=1m --number_ios=10",
        "--name=a --rw=write --bs=32k --size=64k --numjobs=3 --filename=one \
         --offset_increment=64k",
        "--name=a --rw=read --bs=16k --size=64k --numjobs=2",
        "--name=a --rw=write --bs=4k --size=64k --end_fsync=1",
        "--bs=8k --size=64k --name=a --rw=write --name=b --stonewall --rw=read",
        "--name=a --rw=write --bs=4k --size=64k --direct=1",
        "--name=a --rw=read --bs=4k --size=64k --filesize=32k --nrfiles=2",
        "--name=a --rw=read:8k --bs=4k --size=64k --loops=2",
        "--name=a --rw=write:12k --bs=4k --size=60k",
        "--name=a --rw=read --bs=4k-8k --size=64k",
        "--name=a --rw=write --bs=4k-8k --size=64k",
        "--name=a --rw=write --size=64k --fileoffset=8k --nr_files=2",
    ] {
        same_order(line);
    }
}

/// fio ends without a sync where the last write called for one; here it is done, with a note.
#[test]
fn syncs_follow_so_many_writes_and_the_last_ones() {
    for line in [
        "--name=a --rw=write --bs=4k --size=64k --fsync=4",
        "--name=a --rw=write --bs=4k --size=64k --fdatasync=8",
        "--name=a --rw=write --bs=4k --size=64k --fsync=5",
    ] {
        let (ours, theirs) = both(line);
        let mut own = ours.data();
        if !line.ends_with("=5") {
            let last = own[0].pop().unwrap();
            assert!(matches!(last.kind, Kind::Sync | Kind::DataSync), "{line}");
            assert!(ours.stderr.contains("the last writes are synced too"), "{}", ours.stderr);
        }
        alike(line, own, theirs.data());
    }
}

#[test]
fn maps_of_blocks_visit_the_same_places_once() {
    for line in [
        "--name=a --rw=randread --bs=4k --size=1m",
        "--name=a --rw=randwrite --bs=16k --size=1m",
        "--name=a --rw=randwrite --bs=8k --size=256k --loops=2",
        "--name=a --rw=randread --bs=4k --size=256k --numjobs=3 --filename=one",
        "--name=a --rw=randwrite --bs=4k --size=256k --numjobs=2",
        "--name=a --rw=randread --bs=8k --size=96k --nrfiles=3",
        "--name=a --rw=randwrite --bs=4k --size=128k --verify=md5",
        "--name=a --rw=write --bs=16k --size=256k --verify=crc32c",
    ] {
        same_set(line);
    }
}

#[test]
fn what_was_written_at_random_is_read_back_in_that_order() {
    let (ours, _) = both("--name=a --rw=randwrite --bs=4k --size=128k --verify=crc32c");
    let all: Vec<Issued> = ours.data().into_iter().flatten().collect();
    let of = |kind| -> Vec<u64> {
        all.iter().filter(|one| one.kind == kind).map(|one| one.offset).collect()
    };
    assert_eq!(of(Kind::Write).len(), 32);
    assert_eq!(of(Kind::Read), of(Kind::Write));
}

#[test]
fn mixes_go_on_behind_their_own_last_one_and_keep_their_shares() {
    for (line, share) in [
        ("--name=a --rw=rw --bs=4k --size=8m --rwmixread=70", 0.7),
        ("--name=a --rw=randrw --bs=4k --size=8m --rwmixread=30", 0.3),
        ("--name=a --rw=rw --bs=4k,16k --size=8m", 0.5),
    ] {
        let (ours, theirs) = both(line);
        let bytes =
            |place: &Place| -> u64 { place.data().iter().flatten().map(|one| one.bytes).sum() };
        let drift = bytes(&ours).abs_diff(bytes(&theirs));
        assert!(drift <= 16_384, "{line}: {} and {}", bytes(&ours), bytes(&theirs));
        for place in [&ours, &theirs] {
            let all: Vec<Issued> = place.data().into_iter().flatten().collect();
            let reads = all.iter().filter(|one| one.kind == Kind::Read).count() as f64;
            let found = reads / all.len() as f64;
            // Three standard deviations of this many draws, and a little.
            let sigma = (share * (1.0 - share) / all.len() as f64).sqrt();
            assert!((found - share).abs() < 4.0 * sigma + 0.005, "{line}: {found}");
            if line.contains("rw=rw") {
                for kind in [Kind::Read, Kind::Write] {
                    let own: Vec<&Issued> = all.iter().filter(|one| one.kind == kind).collect();
                    assert!(
                        own.windows(2).all(|pair| pair[1].offset == pair[0].offset + pair[0].bytes)
                    );
                    assert_eq!(own[0].offset, 0);
                }
            }
        }
    }
}

#[test]
fn draws_with_repetition_have_the_same_distribution() {
    let line = "--name=a --rw=randread --bs=4k --size=8m --norandommap";
    let (ours, theirs) = both(line);
    for place in [&ours, &theirs] {
        let all: Vec<Issued> = place.data().into_iter().flatten().collect();
        assert_eq!(all.len(), 2048);
        let different: BTreeSet<u64> = all.iter().map(|one| one.offset).collect();
        let share = different.len() as f64 / 2048.0;
        // 1 - 1/e of the blocks, with a standard deviation of 0.7 % of them.
        assert!((share - 0.632).abs() < 0.03, "{share}");
    }
    let line = "--name=a --rw=randread --bs=4k --size=8m --random_distribution=zoned:80/10:20/90";
    let (ours, theirs) = both(line);
    for place in [&ours, &theirs] {
        let all: Vec<Issued> = place.data().into_iter().flatten().collect();
        let hot = all.iter().filter(|one| one.offset < 8 * 1024 * 1024 / 10).count() as f64;
        let share = hot / all.len() as f64;
        assert!((share - 0.8).abs() < 0.04, "{share}");
    }
}

#[test]
fn sizes_are_drawn_by_the_same_shares() {
    for (sizes, shares) in [
        ("--bssplit=4k/50:16k/30:64k/20", [(4096, 0.5), (16_384, 0.3), (65_536, 0.2)]),
        // A number up to the largest size, rounded up to a multiple of the smallest.
        ("--bsrange=4k-10k", [(4096, 0.4), (8192, 0.4), (10_240, 0.2)]),
    ] {
        let (ours, theirs) = both(&format!("--name=a --rw=write --size=16m {sizes}"));
        for place in [&ours, &theirs] {
            let all: Vec<Issued> = place.data().into_iter().flatten().collect();
            for (bytes, share) in shares {
                let found = all.iter().filter(|one| one.bytes == bytes).count() as f64;
                let found = found / all.len() as f64;
                let sigma = (share * (1.0f64 - share) / all.len() as f64).sqrt();
                assert!((found - share).abs() < 4.0 * sigma + 0.01, "{sizes} {bytes}: {found}");
            }
        }
    }
}

#[test]
fn a_job_file_is_the_same_as_its_words() {
    let file = "[global]\nbs=8k\nsize=64k\n; a comment\n[one]\nrw=write\n[two]\nstonewall\n\
                rw=read\nnumjobs=2\n";
    let theirs = Place::with_file("jobs.fio", file).after_here(&["fio"], &["jobs.fio"]);
    let ours = Place::with_file("jobs.fio", file)
        .after_here(&[env!("CARGO_BIN_EXE_drivelab"), "fio"], &["jobs.fio"]);
    assert_eq!((ours.status, theirs.status), (0, 0), "{}", ours.stderr);
    assert_eq!(ours.sizes, theirs.sizes);
    assert_eq!(sums(&ours.data().concat()), sums(&theirs.data().concat()));
}

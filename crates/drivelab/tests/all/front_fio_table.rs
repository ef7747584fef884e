//! The table of fio's options is held to what both programs issue: a row called *same* issues the
//! same, and what differs from fio has a row that says so. A difference that is gone fails here
//! too, so that its row is put right.

use crate::issued::{Issued, Kind, Place};
use drivelab_compat::fio::known::find;
use drivelab_compat::option::Care;
use std::collections::BTreeSet;

fn after(program: &[&str], line: &str) -> Place {
    let words: Vec<&str> = line.split(' ').collect();
    Place::after(program, &words)
}

fn both(line: &str) -> (Place, Place) {
    (after(&[env!("CARGO_BIN_EXE_drivelab"), "fio"], line), after(&["fio"], line))
}

/// Reads and writes of all threads, sorted.
fn moved(place: &Place) -> Vec<Issued> {
    let is_moved = |one: &Issued| matches!(one.kind, Kind::Read | Kind::Write);
    let mut all: Vec<Issued> = place.data().into_iter().flatten().filter(is_moved).collect();
    all.sort();
    all
}

/// Bytes of different 512-byte sectors that were touched.
fn covered(place: &Place) -> u64 {
    let sectors = |one: &Issued| one.offset / 512..(one.offset + one.bytes) / 512;
    let touched: BTreeSet<u64> = moved(place).iter().flat_map(sectors).collect();
    touched.len() as u64 * 512
}

fn bytes(place: &Place) -> u64 {
    moved(place).iter().map(|one| one.bytes).sum()
}

fn syncs(place: &Place) -> usize {
    let is_sync = |one: &&Issued| matches!(one.kind, Kind::Sync | Kind::DataSync);
    place.data().iter().flatten().filter(is_sync).count()
}

fn is_called_same(option: &str) -> bool {
    find(option).unwrap_or_else(|| panic!("no row of {option}")).care == Care::Same
}

/// Options whose requests are the same as fio's, each by a line that has something of it to show.
#[test]
fn rows_called_same_issue_the_same() {
    for (option, line) in [
        ("offset", "--name=a --rw=write --bs=4k --size=2m --offset=25%"),
        (
            "offset_increment",
            "--name=a --rw=read --bs=4k --size=2m --numjobs=2 --offset_increment=1m --filename=x",
        ),
        (
            "offset_align",
            "--name=a --rw=write --bs=4k --filesize=2m --size=1m --offset=33% --offset_align=8k",
        ),
        ("io_size", "--name=a --rw=randread --bs=4k --size=1m --io_size=3m"),
        ("number_ios", "--name=a --rw=read --bs=4k --size=1m --number_ios=10 --loops=2"),
        ("nrfiles", "--name=a --rw=read --bs=4k --size=1m --nrfiles=3"),
        ("numjobs", "--name=a --rw=randread --bs=4k --size=1m --numjobs=2 --filename=same"),
        ("fallocate", "--name=a --rw=write --bs=4k --size=1m --fallocate=none"),
        ("overwrite", "--name=a --rw=write --bs=4k --size=1m --overwrite=1"),
        ("unlink", "--name=a --rw=write --bs=4k --size=1m --unlink=1"),
        ("thinktime", "--name=a --rw=read --bs=4k --size=1m --thinktime=10 --thinktime_blocks=8"),
        (
            "rate_process",
            "--name=a --rw=randread --bs=4k --size=1m --rate_iops=4000 --rate_process=poisson",
        ),
    ] {
        let (ours, theirs) = both(line);
        assert_eq!((ours.status, theirs.status), (0, 0), "{line}: {}", ours.stderr);
        assert!(moved(&ours) == moved(&theirs), "{line}: {:?}", moved(&theirs).first());
        assert_eq!(ours.sizes, theirs.sizes, "{line}");
        let care = find(option).map(|known| known.care);
        assert!(matches!(care, Some(Care::Same | Care::InPart(_))), "{option}");
    }
}

/// fio takes these; the row of the option says that not all is taken here.
#[test]
fn what_is_refused_of_an_option_is_in_its_row() {
    for (option, line) in [
        ("rw", "--name=a --rw=rw:4k --bs=4k --size=1m"),
        ("ba", "--name=a --rw=randread --bs=4k --size=1m --ba=2k"),
        ("filesize", "--name=a --rw=read --bs=4k --nrfiles=3 --filesize=256k-1m"),
        ("size", "--name=a --rw=read --bs=4k --size=1m-2m"),
        ("end_fsync", "--name=a --rw=write --bs=4k --size=1m --fsync=10 --end_fsync=1"),
        ("fdatasync", "--name=a --rw=write --bs=4k --size=1m --fsync=10 --fdatasync=3"),
    ] {
        let (ours, theirs) = both(line);
        assert_eq!((ours.status, theirs.status), (1, 0), "{line}: {}", ours.stderr);
        assert!(moved(&ours).is_empty(), "{line}");
        assert!(!is_called_same(option), "{option} is called same");
    }
}

/// With a map of blocks all of the file is read once, in sizes that are cut to what is free; drawn
/// with repetition, a part of it is missed.
#[test]
fn what_is_drawn_with_repetition_is_in_its_row() {
    for line in [
        "--name=a --rw=randread --bssplit=4k/50:16k/50 --size=2m",
        "--name=a --rw=randwrite --bsrange=4k-16k --size=2m",
        "--name=a --rw=write --bsrange=4k-64k --size=1m",
    ] {
        let (ours, theirs) = both(line);
        assert_eq!((ours.status, theirs.status), (0, 0), "{line}: {}", ours.stderr);
        assert_eq!((covered(&ours), bytes(&ours)), (covered(&theirs), bytes(&theirs)), "{line}");
        assert_eq!(covered(&ours), bytes(&ours), "{line}: each byte once");
    }
    for (option, line) in [
        ("bssplit", "--name=a --rw=randread --bssplit=4k/50:16k/50 --size=2m --rate=1g"),
        ("bsrange", "--name=a --rw=randrw --bsrange=4k-16k,8k-16k --size=2m"),
    ] {
        let (ours, theirs) = both(line);
        assert_eq!((ours.status, theirs.status), (0, 0), "{line}: {}", ours.stderr);
        assert!(covered(&ours) < covered(&theirs), "{line}: {}", covered(&ours));
        assert!(!is_called_same(option), "{option} is called same");
        assert!(ours.stderr.contains("drawn with repetition"), "{line}: {}", ours.stderr);
    }
    let line = "--name=a --rw=randread --percentage_random=50 --bs=4k --size=2m";
    let (ours, theirs) = both(line);
    assert!(covered(&ours) < covered(&theirs), "{} {}", covered(&ours), covered(&theirs));
    assert!(!is_called_same("percentage_random"));
}

#[test]
fn the_end_of_a_file_and_syncs_of_mixes_are_in_their_rows() {
    // Whose size is said ends there, wherever a job begins in it.
    let (ours, theirs) = both("--name=a --rw=write --bs=4k --filesize=1m --offset=256k");
    assert!(moved(&ours) == moved(&theirs));
    assert_eq!((ours.sizes["a.0.0"], theirs.sizes["a.0.0"]), (1 << 20, 1 << 20));
    for option in ["fsync", "fdatasync"] {
        let (ours, theirs) = both(&format!("--name=a --rw=randrw --bs=4k --size=1m --{option}=10"));
        assert!(syncs(&ours) < syncs(&theirs), "{option}: {} {}", syncs(&ours), syncs(&theirs));
        assert!(!is_called_same(option));
    }
    // Of files of its own each job's is as large here as that of the last job has to be.
    let (ours, theirs) =
        both("--name=a --rw=read --bs=4k --size=2m --numjobs=2 --offset_increment=1m");
    assert!(moved(&ours) == moved(&theirs));
    assert_eq!((ours.sizes["a.0.0"], theirs.sizes["a.0.0"]), (3 << 20, 2 << 20));
    assert!(!is_called_same("offset_increment"));
    // An offset in bytes is where it was said, in fio.
    let line = "--name=a --rw=write --bs=4k --size=2m --offset=1000 --offset_align=8k";
    let (ours, theirs) = both(line);
    let first = |place: &Place| moved(place)[0].offset;
    assert_eq!((first(&ours), first(&theirs)), (0, 1000));
    assert!(!is_called_same("offset_align"));
    assert!(!is_called_same("bsrange") && !is_called_same("bssplit"));
}

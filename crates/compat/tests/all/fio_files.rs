//! What a line of fio is told of its files, where that is true and nowhere else.

use crate::pretended::{Pretended, words};
use drivelab_compat::fio;
use drivelab_compat::front::{Asked, Job};

fn job(line: &str) -> Job {
    match fio::parse(&words(&format!("fio {line}")), &Pretended::default()) {
        Ok(Asked::Run { job, .. }) => *job,
        other => panic!("{line}: {other:?}"),
    }
}

/// The notes of that code.
fn told(line: &str, code: &str) -> Vec<String> {
    let notes = job(line).notes;
    notes.iter().filter(|note| note.code == code).map(|note| note.to_string()).collect()
}

#[test]
fn writes_that_make_their_file_are_said() {
    for (line, words) in [
        ("--name=a --directory=/mnt/a --rw=write --size=1g", "a.0.0 does not exist yet"),
        ("--name=a --directory=/mnt/a --rw=randwrite --size=1g", "set aside before the job where"),
        (
            "--name=a --directory=/mnt/a --rw=randwrite --size=1g --fallocate=none",
            "find a place for each block",
        ),
        // It is there, and too small.
        (
            "--name=a --filename=/mnt/a/there --rw=write --size=2g",
            "there has 1 GiB of the 2 GiB that it needs",
        ),
        // What one job reads is laid out; what the other one writes is not.
        (
            "--directory=/mnt/a --size=1g --name=a --rw=read --name=b --rw=write",
            "b.0.0 does not exist yet",
        ),
    ] {
        let notes = told(line, "writes_make_the_file");
        let [note] = notes.as_slice() else { panic!("{line}: {notes:?}") };
        assert!(note.contains(words) && note.starts_with("rw="), "{line}: {note}");
    }
}

#[test]
fn files_that_are_there_or_laid_out_are_not_called_new() {
    for line in [
        "--name=a --filename=/mnt/a/there --rw=write --size=1g",
        "--name=a --directory=/mnt/a --rw=read --size=1g",
        "--name=a --directory=/mnt/a --rw=randrw --size=1g",
        "--name=a --directory=/mnt/a --rw=write --size=1g --overwrite=1",
        "--name=a --filename=/dev/nvme1n1 --rw=write --size=1g",
        "--name=a --filename=sim:nvme-tlc,page_cache=1GiB --rw=write --size=1g",
        "--name=a --directory=/mnt/a --rw=write --size=1g --ioengine=null",
        // Another job of the line reads it, so it is laid out for both.
        "--filename=/mnt/a/f --size=1g --name=a --rw=write --name=b --rw=read --stonewall",
    ] {
        assert_eq!(told(line, "writes_make_the_file"), [""; 0], "{line}");
    }
    // The second job comes to a file that the first one has made.
    let twice = "--filename=/mnt/a/f --size=1g --name=a --rw=write --name=b --rw=randwrite \
                 --stonewall";
    let notes = told(twice, "writes_make_the_file");
    assert!(matches!(notes.as_slice(), [note] if note.starts_with("rw=write:")), "{notes:?}");
}

#[test]
fn jobs_that_share_a_file_are_told_of_a_directory() {
    let line = "--name=a --filename=/mnt/a/f --rw=randread --size=1g --numjobs=8";
    let notes = told(line, "jobs_share_a_file");
    let [note] = notes.as_slice() else { panic!("{notes:?}") };
    assert!(
        note.contains("the 8 jobs of numjobs=8 use this one file and access the same bytes. "),
        "{note}"
    );
    let writers = told(&line.replace("randread", "randwrite"), "jobs_share_a_file");
    assert!(
        matches!(writers.as_slice(), [note] if note.contains("same bytes: where a file system")),
        "{writers:?}"
    );
    assert_eq!(job(line).plan.files.len(), 1);
    let parts = told(&format!("{line} --offset_increment=1g"), "jobs_share_a_file");
    assert!(
        matches!(parts.as_slice(), [note] if note.contains("positions of their own")),
        "{parts:?}"
    );
    for line in [
        "--name=a --filename=/mnt/a/f --rw=randread --size=1g",
        "--name=a --directory=/mnt/a --rw=randread --size=1g --numjobs=8",
        "--name=a --filename=/dev/nvme1n1 --rw=randread --size=1g --numjobs=8",
        "--name=a --filename=sim:nvme-tlc,page_cache=1GiB --rw=randread --size=1g --numjobs=8",
        "--name=a --filename=/mnt/a/f --rw=randread --size=1g --numjobs=8 --ioengine=null",
    ] {
        assert_eq!(told(line, "jobs_share_a_file"), [""; 0], "{line}");
    }
}

#[test]
fn a_page_cache_is_that_of_the_machine_that_has_it() {
    let line = "--name=a --filename=sim:nvme-tlc,page_cache=1GiB --rw=read --size=1g";
    let notes = told(line, "in_page_cache");
    let [note] = notes.as_slice() else { panic!("{notes:?}") };
    assert!(note.contains("simulated host") && note.contains("direct=1"), "{note}");
    let notes = told("--name=a --directory=/mnt/a --rw=read --size=1m", "in_page_cache");
    assert!(notes.iter().all(|note| note.contains("memory of this machine")), "{notes:?}");
}

#[test]
fn files_that_must_be_there_are_looked_for() {
    let of = |line: &str| fio::parse(&words(&format!("fio {line}")), &Pretended::default());
    let there = "--name=a --filename=/mnt/a/there --rw=read --size=1g";
    for is_taken in [
        format!("{there} --allow_file_create=0"),
        "--name=a --filename=/mnt/a/new --rw=read --size=1g --allow_file_create=1".into(),
        // What fio makes by name it makes in spite of it.
        "--name=a --directory=/mnt/a --ioengine=filecreate --filesize=4k --allow_file_create=0"
            .into(),
    ] {
        assert!(matches!(of(&is_taken), Ok(Asked::Run { .. })), "{is_taken}");
    }
    for (line, why) in [
        ("--name=a --filename=/mnt/a/new --rw=read --size=1g", "/mnt/a/new is not there"),
        ("--name=a --filename=/mnt/a/new --rw=write --size=1g", "/mnt/a/new is not there"),
        ("--name=a --filename=/mnt/a/there --rw=read --size=2g", "there has 1073741824 bytes"),
    ] {
        let refusal = of(&format!("{line} --allow_file_create=0")).unwrap_err();
        assert_eq!(
            refusal.text, "fio: allow_file_create=0, and a file would have to be made",
            "{line}"
        );
        assert!(refusal.advice.contains(why), "{line}: {}", refusal.advice);
        assert_eq!(refusal.status, 1, "{line}");
    }
}

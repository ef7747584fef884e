//! Bytes that a line of fio names: what drivelab writes fio finds right, and the other way round.

use crate::fio_lines::{OURS, THEIRS, WRONG, jobs};
use std::path::Path;
use std::process::Command;

/// The errors of the jobs of a line.
fn errors(program: &[&str], line: &str, home: &Path) -> Vec<u64> {
    let jobs = jobs(program, &format!("--size=256k --filename=bytes {line}"), home);
    jobs.iter().map(|job| job["error"].as_u64().unwrap()).collect()
}

fn flip(file: &Path, at: u64) {
    use std::os::unix::fs::FileExt;
    let file = std::fs::File::options().read(true).write(true).open(file).unwrap();
    let mut byte = [0];
    file.read_exact_at(&mut byte, at).unwrap();
    file.write_all_at(&[byte[0] ^ 4], at).unwrap();
}

#[test]
fn each_tool_finds_the_other_ones_bytes_right_and_a_changed_one_wrong() {
    let home = tempfile::tempdir().unwrap();
    let home = home.path();
    let file = home.join("bytes");
    let patterns = ["\"abcd\"-120xdeadface", "%o", "\"ab\"%o", "0x123", "70000"];
    let loads = [
        ("--rw=write --bs=4k", "--rw=read --bs=4k"),
        ("--rw=randwrite --bs=8k --ioengine=libaio --iodepth=8", "--rw=randread --bs=8k"),
    ];
    for (pattern, (write, read)) in patterns.iter().flat_map(|it| loads.map(|load| (it, load))) {
        for (writer, reader) in [(&OURS[..], &THEIRS[..]), (&THEIRS, &OURS), (&OURS, &OURS)] {
            let _ = std::fs::remove_file(&file);
            let bytes = format!("--verify=pattern --verify_pattern={pattern}");
            let line = format!("--name=w {write} {bytes} --do_verify=0");
            assert_eq!(errors(writer, &line, home), [0], "{line}");
            let line = format!("--name=r {read} {bytes}");
            assert_eq!(errors(reader, &line, home), [0], "{line}, written by {writer:?}");
            flip(&file, 70_001);
            assert_eq!(errors(reader, &line, home), [WRONG], "{line}, with one bit changed");
        }
    }
}

/// The offset of each part stands in it; a mix reads into the buffers that it writes from.
#[test]
fn what_a_mix_writes_holds_the_offset_of_each_part() {
    let home = tempfile::tempdir().unwrap();
    let of_parts = "--verify=pattern --verify_pattern=\"x\"%o --verify_pattern_interval=512";
    for load in ["--rw=randrw --rwmixread=50 --ioengine=libaio --iodepth=4", "--rw=write"] {
        let line = format!("--name=w {load} --bs=4k {of_parts}");
        assert_eq!(errors(&OURS, &line, home.path()), [0], "{line}");
    }
    let bytes = std::fs::read(home.path().join("bytes")).unwrap();
    for (part, at) in bytes.chunks(512).zip((0_u64..).step_by(512)) {
        assert_eq!((part[0], &part[1..9]), (b'x', &at.to_le_bytes()[..]), "at {at}");
        assert_eq!(part[9], b'x', "at {at}");
    }
}

#[test]
fn only_what_would_be_written_is_looked_at() {
    let home = tempfile::tempdir().unwrap();
    let file = home.path().join("bytes");
    for verify in ["--verify=crc32c", "--verify=pattern --verify_pattern=0x1234"] {
        // The guard keeps off a file that somebody has changed.
        let _ = std::fs::remove_file(&file);
        let write = format!("--rw=randwrite --bs=4k {verify}");
        assert_eq!(errors(&OURS, &format!("--name=w {write}"), home.path()), [0]);
        let before = std::fs::read(&file).unwrap();
        let only = format!("--name=v {write} --verify_only");
        assert_eq!(errors(&OURS, &only, home.path()), [0], "{only}");
        assert!(std::fs::read(&file).unwrap() == before, "{only} writes nothing");
        flip(&file, 5000);
        assert_eq!(errors(&OURS, &only, home.path()), [WRONG], "{only}");
    }
}

/// Another order in one line: what is written by chance is found by who knows the blocks.
#[test]
fn a_job_of_a_line_has_an_order_of_its_own_and_blocks_are_checked_all_the_same() {
    let home = tempfile::tempdir().unwrap();
    let checked = "--rw=randwrite --bs=4k --verify=crc32c";
    let mangle = "--name=m --stonewall --rw=randwrite --bs=4k --randrepeat=0 --number_ios=1";
    let again = "--name=v --stonewall --rw=randread --bs=4k --verify=crc32c";
    let line = format!("--name=w {checked} {mangle} --verify=0 {again}");
    assert_eq!(errors(&OURS, &line, home.path()), [0, 0, WRONG]);
    let seeded = format!("--name=w {checked} --randseed=7");
    assert_eq!(errors(&OURS, &seeded, home.path()), [0]);
    let by_chance = "--name=r --rw=randread --bs=4k --verify=crc32c --randrepeat=0";
    assert_eq!(errors(&OURS, by_chance, home.path()), [0], "of a line with another seed");
}

/// Nobody knows who wrote bytes that a line names: they are said to be wrong, and not to be
/// another's than what was written.
#[test]
fn bytes_that_nobody_wrote_are_not_said_to_have_been_written() {
    let home = tempfile::tempdir().unwrap();
    std::fs::write(home.path().join("bytes"), vec![7; 256 << 10]).unwrap();
    let line = "--name=r --rw=read --bs=4k --size=256k --filename=bytes --verify=pattern";
    let mut command = Command::new(OURS[0]);
    command.arg("fio").args(line.split(' ')).arg("--verify_pattern=0x1234");
    command.current_dir(home.path()).env("XDG_DATA_HOME", home.path().join("home"));
    let output = command.env("DRIVELAB_NOTES", "stderr").output().unwrap();
    let said = String::from_utf8_lossy(&output.stderr);
    assert!(said.contains("64 of 64 blocks read do not hold the bytes that they should"), "{said}");
    assert!(said.contains("64 blocks of it are not as expected"), "{said}");
    assert!(!said.contains("not what was written"), "{said}");
}

//! Logs that are stored compressed: fio reads drivelab's, and drivelab reads fio's.

use crate::fio_lines::{OURS, THEIRS, place, printed};
use std::path::Path;

/// The lines of a stored log, as a program prints them.
fn inflated(program: &[&str], log: &str, place: &Path) -> String {
    printed(program, &format!("--inflate-log={log}"), place)
}

#[test]
fn each_program_reads_the_logs_that_the_other_one_stored() {
    let common = "--name=a --size=2m --bs=4k --ioengine=libaio --direct=1 --write_lat_log=l \
                  --log_store_compressed=1 --log_compression=16k";
    for (more, lines, columns) in [
        ("--rw=write --log_offset=1", Some(512), 6),
        ("--rw=randread --prioclass=1 --prio=2", Some(512), 5),
        ("--rw=randrw --log_prio=1 --cmdprio_percentage=40 --log_offset=1", Some(512), 6),
        ("--rw=write --log_avg_msec=20 --rate=4m", None, 5),
        ("--rw=write --numjobs=2 --per_job_logs=0 --log_offset=1", Some(1024), 6),
    ] {
        let line = format!("{common} {more}");
        let log = if more.contains("per_job") { "l_clat.log.fz" } else { "l_clat.1.log.fz" };
        for program in [&OURS[..], &THEIRS] {
            let place = place();
            printed(program, &line, place.path());
            assert!(!place.path().join(log.trim_end_matches(".fz")).exists(), "{line}");
            let [ours, theirs] = [&OURS[..], &THEIRS].map(|it| inflated(it, log, place.path()));
            assert_eq!(ours, theirs, "{program:?} {line}");
            let found = theirs.lines().count();
            assert!(lines.map_or(found > 5, |lines| found == lines), "{program:?} {line}: {found}");
            assert!(theirs.lines().all(|it| it.split(", ").count() == columns), "{line}");
        }
    }
}

#[test]
fn a_stored_log_has_the_lines_of_one_that_is_text() {
    let line = "--name=a --ioengine=null --size=8m --bs=128k --rw=write --write_bw_log=l \
                --log_offset=1";
    let place = place();
    printed(&OURS, &format!("{line} --log_store_compressed=1"), place.path());
    printed(&OURS, line, place.path());
    let text = std::fs::read_to_string(place.path().join("l_bw.1.log")).unwrap();
    // Their times and rates are those of two runs.
    let fixed = |text: &str| -> Vec<String> {
        let rest = |line: &str| line.split(", ").skip(2).collect::<Vec<_>>().join(" ");
        text.lines().map(rest).collect()
    };
    let stored = inflated(&OURS, "l_bw.1.log.fz", place.path());
    assert_eq!(fixed(&stored), fixed(&text));
    assert_eq!(fixed(&stored)[63], "1 131072 8257536 0");
}

#[test]
fn what_cannot_be_stored_or_read_is_refused() {
    let place = place();
    std::fs::write(place.path().join("l_bw.1.log.fz"), "somebody's").unwrap();
    let line = "--name=a --ioengine=null --size=1m --rw=read --write_bw_log=l \
                --log_store_compressed=1";
    for (line, says) in [
        (line.to_owned(), "l_bw.1.log.fz exists"),
        (format!("{line} --log_issue_time=1 --log_offset=1"), "log_store_compressed with"),
        ("--inflate-log=l_bw.1.log.fz".to_owned(), "not a stored log"),
        ("--inflate-log=nothing.fz".to_owned(), "failed inflating log nothing.fz"),
    ] {
        let output = std::process::Command::new(OURS[0])
            .args(&OURS[1..])
            .args(line.split_whitespace())
            .current_dir(place.path())
            .env("XDG_DATA_HOME", place.path().join("home"))
            .output()
            .unwrap();
        let said = String::from_utf8(output.stderr).unwrap();
        assert!(!output.status.success() && said.contains(says), "{line}: {said}");
    }
    let kept = std::fs::read_to_string(place.path().join("l_bw.1.log.fz")).unwrap();
    assert_eq!(kept, "somebody's");
}

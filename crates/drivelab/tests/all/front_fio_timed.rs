//! Lines of fio that time or another job ends: what they wrote until then is read back.

use crate::fio_lines::{OURS, WRONG, jobs};
use serde_json::Value;

fn ios(job: &Value, kind: &str) -> u64 {
    job[kind]["total_ios"].as_u64().unwrap()
}

#[test]
fn what_was_written_until_the_time_ended_is_read_back_and_no_more() {
    let home = tempfile::tempdir().unwrap();
    let line = "--name=w --filename=f --size=64m --bs=4k --verify=crc32c --runtime=1 --rate_iops";
    for own in [
        "=900 --rw=write",
        "=900 --rw=randwrite",
        "=900 --rw=randwrite --norandommap --numjobs=2 --group_reporting",
        "=500,400 --rw=randrw --ioengine=libaio --iodepth=8",
    ] {
        let found = jobs(&OURS, &format!("{line}{own}"), home.path());
        let (read, written) = (ios(&found[0], "read"), ios(&found[0], "write"));
        let mixed = if own.contains("randrw") { read - written } else { 0 };
        assert_eq!(found[0]["error"], 0, "{own}");
        assert!((300..=1800).contains(&written), "{own}: {written}");
        assert!(mixed == 0 || (350..=650).contains(&mixed), "{own}: {read} and {written}");
        assert_eq!(read, written + mixed, "{own}");
    }
    // Whole passes are read back once.
    let line = "--name=w --filename=f --size=1m --bs=4k --verify=crc32c --runtime=1 --time_based";
    for own in [" --rw=write", " --rw=randwrite --ioengine=libaio --iodepth=4"] {
        let found = jobs(&OURS, &format!("{line}{own}"), home.path());
        assert_eq!((ios(&found[0], "read"), &found[0]["error"]), (256, &0.into()), "{own}");
        assert!(ios(&found[0], "write") > 256, "{own}");
    }
}

#[test]
fn what_another_job_wrote_over_it_meanwhile_is_found() {
    let home = tempfile::tempdir().unwrap();
    let timed = "--name=w --filename=f --size=64m --bs=4k --rw=write --verify=crc32c --runtime=2 \
                 --rate_iops=1000";
    // One second later sixteen blocks are overwritten, or sixteen that it does not come to.
    let over = "--name=x --filename=f --size=64k --bs=4k --rw=write --startdelay=1";
    let error =
        |own: &str| jobs(&OURS, &format!("{timed} {over}{own}"), home.path())[0]["error"].clone();
    assert_eq!(error(""), WRONG);
    assert_eq!(error(" --offset=32m"), 0);
}

#[test]
fn a_job_that_another_one_ends_is_read_back() {
    let home = tempfile::tempdir().unwrap();
    let line = "--exitall --bs=4k --verify=crc32c --name=a --filename=f --rw=randwrite --size=64m \
                --rate_iops=500 --name=b --filename=g --rw=write --size=1m --rate_iops=500";
    let found = jobs(&OURS, line, home.path());
    assert_eq!((ios(&found[1], "read"), ios(&found[1], "write")), (256, 256));
    let (read, written) = (ios(&found[0], "read"), ios(&found[0], "write"));
    assert!((150..=300).contains(&written), "{written}");
    assert_eq!((read, &found[0]["error"]), (written, &0.into()));
}

#[test]
fn what_is_left_after_submission_is_a_latency_of_its_own() {
    let home = tempfile::tempdir().unwrap();
    let line = "--name=a --filename=f --size=8m --bs=4k --rw=randread --direct=1 --iodepth=8 \
                --slat_percentiles=1 --lat_percentiles=1 --clat_percentiles=1 --ioengine=";
    for (engine, is_apart) in [("libaio", true), ("io_uring", true), ("psync", false)] {
        let found = &jobs(&OURS, &format!("{line}{engine}"), home.path())[0]["read"];
        let of = |kind: &str, key: &str| found[kind][key].as_f64().unwrap_or(0.0);
        let count = if is_apart { 2048.0 } else { 0.0 };
        assert_eq!((of("lat_ns", "N"), of("slat_ns", "N")), (2048.0, count), "{engine}");
        let sum = of("slat_ns", "mean") + of("clat_ns", "mean");
        assert!((sum - of("lat_ns", "mean")).abs() < 1.0, "{engine}: {found}");
        // Of one request: submission and the rest are the whole.
        assert!(of("clat_ns", "min") + of("slat_ns", "min") <= of("lat_ns", "min"), "{found}");
        assert!(of("clat_ns", "max") <= of("lat_ns", "max"), "{engine}");
        assert!(of("clat_ns", "max") + of("slat_ns", "max") >= of("lat_ns", "max"), "{found}");
    }
}

#[test]
fn the_null_engine_looks_at_nothing() {
    let home = tempfile::tempdir().unwrap();
    let line = "--name=n --ioengine=null --rw=randwrite --size=1m --bs=4k --verify=crc32c";
    let found = jobs(&OURS, line, home.path());
    assert_eq!((ios(&found[0], "read"), ios(&found[0], "write")), (256, 256));
    assert_eq!(found[0]["error"], 0);
}

//! Snapshots of what the terminal shows. `UPDATE_EXPECT=1 cargo test` rewrites them.

use crate::sample;
use drivelab_core::facts::{Facts, FilesystemFacts};
use drivelab_core::findings::Findings;
use drivelab_core::record::{Begin, DeviceCounters, ProcessFacts};
use drivelab_core::run::Run;
use drivelab_core::summary::summarise;
use drivelab_report::terminal::{RunRow, check_table, device_list, facts, run_summary, runs_table};
use expect_test::expect;

#[test]
fn the_table_of_a_check() {
    let run = sample::check_run();
    let table = check_table(&summarise(&run), &sample::findings(), &run.begin.facts);
    expect![[r#"
        drivelab 0.1.0  ·  /home/ann/data (ext4 on /dev/nvme0n1p2, Samsung SSD 990 PRO 2TB, 2.00 TB, firmware 4B2QJXD7)
        run 20261120-150312-7f3a  ·  seed 7391  ·  state unknown

          sequential read   128 KiB  qd32   5.77 GB/s  ± 1.3 %  p99  6.32 ms
          sequential write  128 KiB  qd32   3.86 GB/s  ± 1.9 %  p99  7.19 ms
              ▏in the SLC cache: no knee seen
          random read         4 KiB  qd32   820k IOPS  ± 0.8 %  p99   321 µs
          random write        4 KiB  qd32   644k IOPS  ± 0.7 %  p99   414 µs
          read latency        4 KiB  qd1   14.6k IOPS  ± 1.3 %  p99   583 µs
          write latency       4 KiB  qd1   56.5k IOPS  ± 1.1 %  p99   152 µs
          durable write       4 KiB  qd1   2.24k IOPS  ± 1.5 %  p99  3.67 ms
          mix 70/30           4 KiB  qd32   575k IOPS  ± 0.4 %
            of it reads       4 KiB  qd32   403k IOPS  ± 0.4 %  p99   477 µs
            of it writes      4 KiB  qd32   173k IOPS  ± 0.4 %  p99   474 µs
          stutter             4 KiB  qd16   482k IOPS  ± 0.2 %  p99   264 µs
              ▏5 gaps over 100 ms, longest 142 ms

        Verdict  Fast and even: 912,000 random reads a second, 99 % of them within
                 0.4 ms. Good for a desktop and for databases that group their commits.
        Beware   Each durable commit costs 0.8 ms: about 1,300 a second, whatever the
                 IOPS say.
        Unknown  Sustained writes: the cache never filled. `drivelab study wsat` would
                 write 600 GB to find out.

        Warning  The cell ended after 1.2 s, too soon for an interval. Give it more
                 bytes with --budget.
    "#]].assert_eq(&table);
}

#[test]
fn a_killed_check_says_so_first() {
    let run = sample::killed_run();
    let table = check_table(&summarise(&run), &Findings::default(), &Facts::default());
    expect![[r#"
        drivelab 0.1.0  ·  /home/ann/data
        run 20261120-150312-7f3a  ·  seed 7391  ·  state unknown
        INCOMPLETE  this run is incomplete: it has no end record, so it was killed or is
                    still running

          sequential read   128 KiB  qd32  5.72 GB/s  ± 1.8 %      p99  6.09 ms
          sequential write  128 KiB  qd32  3.81 GB/s  no interval  p99  7.65 ms
          random read         4 KiB  qd32  828k IOPS  ± 1.5 %      p99   328 µs
          random write        4 KiB  qd32  640k IOPS  ± 0.8 %      p99   414 µs
              ▏INCOMPLETE; 4 errors

    "#]]
    .assert_eq(&table);
}

#[test]
fn a_check_of_nothing_has_no_table() {
    let table = check_table(&summarise(&Run::default()), &Findings::default(), &Facts::default());
    assert!(table.contains("no cell was measured"), "{table}");
}

#[test]
fn the_summary_of_a_run() {
    expect![[r#"
        drivelab 0.1.0  ·  /home/ann/data
        run 20261120-150312-7f3a  ·  seed 7391  ·  state unknown

        mix · repetition 1
          io_uring, direct, sync none, 4 KiB, qd32 at 600k IOPS, measured for 27.0 s
            read   404k IOPS  ± 0.3 % (403.3k to 405.4k IOPS, n 18)  ·  1.66 GB/s  ·  10,917,288 I/Os, 44.7 GB, 0 errors
            write  173k IOPS  ± 0.3 % (172.82k to 173.75k IOPS, n 18)  ·  710 MB/s  ·  4,678,763 I/Os, 19.2 GB, 0 errors
            total  578k IOPS  ± 0.3 % (576.1k to 579.2k IOPS, n 18)  ·  2.37 GB/s  ·  15,596,051 I/Os, 63.9 GB, 0 errors
                                min     mean      p50      p99    p99.9      max
            read submit      600 ns  1.05 µs  1.05 µs  1.49 µs  1.50 µs  1.50 µs
            read service    23.1 µs  56.4 µs  47.2 µs   467 µs   635 µs   879 µs
            read response   23.1 µs  58.9 µs  47.2 µs   480 µs  2.30 ms  2.30 ms
            write submit     600 ns  1.05 µs  1.05 µs  1.49 µs  1.50 µs  1.50 µs
            write service   22.3 µs  56.7 µs  47.2 µs   478 µs   645 µs   945 µs
            write response  22.3 µs  59.1 µs  47.2 µs   490 µs  2.30 ms  2.30 ms
            depth reached 32.6 of 32 per worker  ·  1.13 µs of CPU time per I/O  ·  4.00 I/Os per submitting call
            1 gap over 100 ms without a completion, longest first: 752 ms at 12.0 s of the measurement
            issued 240 ns late on average, 91.0 µs at most; backlog at most 3 I/Os
          kernel  nvme0n1: 17,324,174 reads (66.1 GiB), 0 writes (0 B), 0 flushes, busy 1.99 s
    "#]].assert_eq(&run_summary(&summarise(&sample::single_run()), &Begin::default()));
}

#[test]
fn the_summary_of_repetitions_and_errors() {
    let mut run = sample::run_of(&sample::check_loads()[6..7], 3, 20);
    run.steps[2].tallies[9].kinds[0].errors = vec![(drivelab_core::op::Errno(5), 2)];
    run.warnings.push(sample::warning());
    expect![[r#"
        drivelab 0.1.0  ·  /home/ann/data
        run 20261120-150312-7f3a  ·  seed 7391  ·  state unknown

        durable write · repetition 1
          psync, direct, sync fsync:1, 4 KiB, qd1, measured for 1.80 s
            write  2.21k IOPS  no interval  ·  9.04 MB/s  ·  3,974 I/Os, 16.3 MB, 0 errors
                   too short: with fewer than 20 intervals their dependence on each
                   other cannot be estimated
            flush  2.21k IOPS  no interval  ·  3,974 I/Os, 0 errors
                   too short: with fewer than 20 intervals their dependence on each
                   other cannot be estimated
                              min    mean     p50     p90      p99    p99.9      max
            write service  195 µs  444 µs  380 µs  487 µs  3.61 ms  5.03 ms  5.66 ms
            flush service  207 µs  448 µs  379 µs  490 µs  3.58 ms  5.22 ms  5.83 ms
            depth reached 1.97 of 1 per worker  ·  1.13 µs of CPU time per I/O  ·  3.98 I/Os per submitting call
            no gap over 100 ms without a completion
          kernel  nvme0n1: 8,808 reads (34.4 MiB), 0 writes (0 B), 0 flushes, busy 1.99 s

        durable write · repetition 2
          psync, direct, sync fsync:1, 4 KiB, qd1, measured for 1.80 s
            write  2.22k IOPS  no interval  ·  9.11 MB/s  ·  4,003 I/Os, 16.4 MB, 0 errors
                   too short: with fewer than 20 intervals their dependence on each
                   other cannot be estimated
            flush  2.22k IOPS  no interval  ·  4,003 I/Os, 0 errors
                   too short: with fewer than 20 intervals their dependence on each
                   other cannot be estimated
                              min    mean     p50     p90      p99    p99.9      max
            write service  209 µs  465 µs  385 µs  495 µs  3.94 ms  5.07 ms  5.69 ms
            flush service  186 µs  450 µs  384 µs  489 µs  3.83 ms  5.11 ms  5.43 ms
            depth reached 2.03 of 1 per worker  ·  1.13 µs of CPU time per I/O  ·  3.98 I/Os per submitting call
            no gap over 100 ms without a completion
          kernel  nvme0n1: 8,916 reads (34.8 MiB), 0 writes (0 B), 0 flushes, busy 1.99 s

        durable write · repetition 3
          psync, direct, sync fsync:1, 4 KiB, qd1, measured for 1.80 s
            write  2.25k IOPS  no interval  ·  9.22 MB/s  ·  4,052 I/Os, 16.6 MB, 2 errors
                   too short: with fewer than 20 intervals their dependence on each
                   other cannot be estimated
            flush  2.25k IOPS  no interval  ·  4,052 I/Os, 0 errors
                   too short: with fewer than 20 intervals their dependence on each
                   other cannot be estimated
                              min    mean     p50     p90      p99    p99.9      max
            write service  188 µs  467 µs  383 µs  492 µs  3.93 ms  4.89 ms  5.70 ms
            flush service  208 µs  448 µs  381 µs  483 µs  3.68 ms  5.18 ms  6.14 ms
            depth reached 2.06 of 1 per worker  ·  1.13 µs of CPU time per I/O  ·  3.97 I/Os per submitting call
            no gap over 100 ms without a completion
            write failed 2 times with EIO (input/output error: the drive failed the request)
          kernel  nvme0n1: 8,996 reads (35.1 MiB), 0 writes (0 B), 0 flushes, busy 1.99 s

        durable write · over 3 repetitions
            write  2.23k IOPS  ± 2.4 % (2.17k to 2.28k IOPS, n 3)  ·  9.12 MB/s  ·  12,029 I/Os, 49.3 MB, 2 errors
                   mean 458 µs ± 7.0 %  ·  p50 383 µs ± 1.5 %  ·  p99 3.81 ms ± 12 %
            flush  2.23k IOPS  ± 2.4 % (2.17k to 2.28k IOPS, n 3)  ·  12,029 I/Os, 0 errors
                   mean 449 µs ± 0.7 %  ·  p50 381 µs ± 1.5 %  ·  p99 3.68 ms ± 8.3 %

        Warning  The cell ended after 1.2 s, too soon for an interval. Give it more
                 bytes with --budget.
    "#]].assert_eq(&run_summary(&summarise(&run), &run.begin));
}

#[test]
fn facts_say_what_is_unknown() {
    expect![[r#"
        target
          path              /home/ann/data
          kind              directory
          free              812 GB (812,345,678,901 bytes)
        file system
          kind              ext4
          source            /dev/nvme0n1p2
          mounted at        /home
          options           rw,relatime
          size              1.90 TB (1,900,000,000,000 bytes)
          free              812 GB (812,345,678,901 bytes)
          direct I/O aligns memory to 4 bytes, offsets to 512 bytes
        partition nvme0n1p2
          size              1.90 TB (1,900,000,000,000 bytes)
          signatures        ext4
          mounted at        /home
          unknown           model, serial, firmware, transport, link, logical sector,
                            physical sector, rotational, scheduler, queue requests,
                            largest request, read-ahead, rq_affinity, write cache
                            (kernel), discard, NUMA node
        disk nvme0n1
          model             Samsung SSD 990 PRO 2TB
          serial            S7KHNJ0W123456
          firmware          4B2QJXD7
          size              2.00 TB (2,000,398,934,016 bytes)
          transport         nvme
          link              16.0 GT/s PCIe x4
          rotational        no
          scheduler         none
          signatures        gpt
          unknown           logical sector, physical sector, queue requests, largest
                            request, read-ahead, rq_affinity, write cache (kernel),
                            discard, NUMA node
        machine
          kernel            6.12.9-amd64
          CPU               AMD Ryzen 7 7840U
          CPUs allowed      16
          CPUs online       16
          memory            32 GiB
          unknown           name, governor, clock source, virtualisation
    "#]]
    .assert_eq(&facts(&sample::check_run().begin.facts));
}

#[test]
fn devices_and_file_systems() {
    let memory = FilesystemFacts {
        kind: "tmpfs".to_owned(),
        source: "tmpfs".to_owned(),
        mount_point: "/tmp".to_owned(),
        free_bytes: Some(8_000_000_000),
        hazard: Some("It lives in memory: no drive is measured here.".to_owned()),
        ..FilesystemFacts::default()
    };
    let mut devices = sample::devices();
    devices.reverse();
    devices[0].model = Some("990 PRO 2TB".to_owned());
    expect![[r#"
        device               size  layer      rotates  transport  model
            in use
        /dev/nvme0n1      2.00 TB  disk       no       nvme       990 PRO 2TB
            holds gpt
          /dev/nvme0n1p2  1.90 TB  partition
              mounted at /home; holds ext4
        Not shown in this width: firmware, serial; --json has all.

        mounted at  kind      free       of  source
        /tmp        tmpfs  8.00 GB  unknown  tmpfs
        Beware   /tmp: It lives in memory: no drive is measured here.
    "#]]
    .assert_eq(&device_list(&devices, &[memory]));
}

#[test]
fn the_history() {
    let row = |run: &str, complete: bool| RunRow {
        run: run.to_owned(),
        started_at: "2026-11-20 15:03".to_owned(),
        command: "check".to_owned(),
        target: "/home/ann/data".to_owned(),
        tag: None,
        complete,
        steps: 27,
        unreadable: None,
    };
    let broken = RunRow { unreadable: Some("line 3 is no record".to_owned()), ..row("x", false) };
    let rows = [row("20261120-150312-7f3a", true), row("20261119-090000-0001", false), broken];
    expect![[r#"
        run                   command  steps  state
            target
        20261120-150312-7f3a  check       27  complete
            /home/ann/data
        20261119-090000-0001  check       27  INCOMPLETE
            /home/ann/data
        x                     check       27  unreadable: line 3 is no record
            /home/ann/data
    "#]]
    .assert_eq(&runs_table(&rows));
    assert!(runs_table(&[]).contains("drivelab check"));
}

#[test]
fn nothing_is_wider_than_it_must_be_and_nothing_steers_the_terminal() {
    let mut run = sample::check_run();
    for step in &mut run.steps {
        step.begin.name.push_str("\u{1b}[2J");
    }
    run.begin.target.push('\u{7}');
    let summary = summarise(&run);
    for text in [
        check_table(&summary, &sample::findings(), &run.begin.facts),
        run_summary(&summary, &run.begin),
        facts(&run.begin.facts),
    ] {
        assert!(!text.contains(['\u{1b}', '\u{7}']));
        assert!(text.lines().all(|line| line.trim_end() == line), "{text}");
        assert!(!text.contains("NaN") && !text.contains("inf"));
    }
}

#[test]
fn processes_have_a_line_and_notes_are_no_warnings() {
    let mut run = sample::single_run();
    let summary = summarise(&run);
    assert!(!run_summary(&summary, &run.begin).contains("processes"));
    run.begin.processes = (0..4)
        .map(|rank| ProcessFacts {
            rank,
            host: "ann".into(),
            clock_ahead_ns: 30,
            clock_skew_ns: u64::from(rank) * 400,
        })
        .collect();
    run.warnings = vec![sample::warning(), sample::warning()];
    (run.warnings[0].step, run.warnings[0].advice) = (None, String::new());
    let text = run_summary(&summarise(&run), &run.begin);
    assert!(text.contains("\n4 processes on 1 machine; clocks agree within 1.20 µs\n"), "{text}");
    let (warnings, notes) = (text.find("Warning  The cell"), text.find("Note     The cell"));
    assert!(warnings.unwrap() < notes.unwrap(), "{text}");
}

#[test]
fn a_device_that_is_not_counted_has_no_zeros() {
    let run = sample::single_run();
    let mut summary = summarise(&run);
    assert!(run_summary(&summary, &run.begin).contains(" flushes, busy "));
    for device in &mut summary.steps[0].devices {
        *device = DeviceCounters { name: "loop0".into(), uncounted: true, ..Default::default() };
    }
    let told = run_summary(&summary, &run.begin);
    assert!(told.contains("loop0: no counters, because accounting is off"), "{told}");
    assert!(!told.contains(" flushes, busy "), "zeros that nobody counted");
}

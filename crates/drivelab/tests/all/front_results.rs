//! Where the results of other tools' lines go: looked at before anything is run.

use crate::cli_user;
use crate::cli_user::User;
use std::os::unix::fs::PermissionsExt;

const LINE: [&str; 5] = ["fio", "--name=a", "--size=64k", "--rw=write", "--notes=none"];

fn with<'a>(more: &[&'a str]) -> Vec<&'a str> {
    LINE.iter().chain(more).copied().collect()
}

/// An .icf of one worker that reads for a second.
const ICF: &str = "Version 1.1.0 \n'TEST SETUP =\n'Run Time\n'\thours      minutes    seconds\n\
    \t0          0          1\n'END test setup\n'ACCESS SPECIFICATIONS =\n\
    'Access specification name,default assignment\n\treads,ALL\n\
    'size,% of size,% reads,% random,delay,burst,align,reply\n\t4096,100,100,0,0,1,0,0\n\
    'END access specifications\nVersion 1.1.0 \n";

#[test]
fn what_cannot_be_written_is_refused_before_anything_is_run() {
    let user = User::new();
    user.write("thesis", "My thesis\n");
    user.write("a_bw.1.log", "My thesis\n");
    user.write("x.icf", ICF);
    let ior = ["ior", "-b", "64k", "-t", "4k", "-O", "summaryFile=thesis"];
    let iozone = ["iozone", "-i", "0", "-s", "64", "-b", "thesis"];
    let iometer = ["iometer", "/c", "x.icf", "/r", "thesis", "--target", "sim:x25-m"];
    let logs = ["--write_bw_log=a", "--log_avg_msec=100"];
    let foreign = "is not as drivelab wrote it";
    for (line, status, says) in [
        (with(&["--output=thesis"]), 3, foreign),
        (with(&["--output=thesis", "--output-format=json", "--dry-run"]), 3, foreign),
        (with(&logs), 3, foreign),
        (ior.to_vec(), 3, foreign),
        (iozone.to_vec(), 3, foreign),
        (iometer.to_vec(), 3, foreign),
        (with(&["--output=none/out"]), 1, "none/out: No such file or directory"),
        (with(&["--output=thesis/out"]), 1, "thesis/out: Not a directory"),
        (with(&["--output="]), 1, "No such file or directory"),
        (with(&["--output=."]), 1, "it is not a regular file"),
        (with(&["--output=./a.0.0"]), 1, "the line's own data goes there"),
    ] {
        let said = user.types(&line).status(status);
        assert_eq!(said.out, "", "{}", said.line);
        assert!(said.err.contains(says), "{}: {}", said.line, said.err);
        assert!(said.err.contains("Nothing was run"), "{}: {}", said.line, said.err);
    }
    assert_eq!(user.listing(), ["a_bw.1.log", "thesis", "x.icf"], "something was left behind");
    assert_eq!(std::fs::read(user.work().join("thesis")).unwrap(), b"My thesis\n");
    assert!(!user.runs().exists(), "a refused run was recorded");
}

#[test]
fn a_directory_that_takes_no_file_is_noticed_in_time() {
    let user = User::new();
    let kept = user.work().join("kept");
    std::fs::create_dir(&kept).unwrap();
    std::fs::set_permissions(&kept, std::fs::Permissions::from_mode(0o555)).unwrap();
    if std::fs::write(kept.join("a"), "").is_ok() {
        // Root may; where nothing can be made is this then.
        user.types(&with(&["--output=/proc/self/out"])).status(1);
    } else {
        let said = user.types(&with(&["--output=kept/out"])).status(1);
        assert!(said.err.contains("Permission denied"), "{}", said.err);
    }
    assert!(!user.runs().exists(), "a refused run was recorded");
}

#[test]
fn results_of_other_lines_are_replaced_as_fio_does() {
    let user = User::new();
    let first = ["--output=out", "--output-format=json", "--write_bw_log=l", "--log_avg_msec=10"];
    user.types(&with(&first)).fine();
    let read = || std::fs::read_to_string(user.work().join("out")).unwrap();
    assert!(read().starts_with("{\n  \"fio version\""));
    for (more, begin) in [
        (["--output=out", "--minimal"], "3;fio-3.33;a;"),
        (["--output=out", "--name=b"], "a: (g=0): rw=write"),
        (["--output=out", "--terse-version=2 --minimal"], "2;a;0;0;"),
        (["--output=out", "--output-format=json+"], "{\n  \"fio version\""),
    ] {
        let words: Vec<&str> = more.iter().flat_map(|word| word.split(' ')).collect();
        let mut line = with(&words);
        if words.contains(&"--name=b") {
            line.extend(["--size=64k", "--rw=read"]);
        }
        let said = user.types(&line).fine();
        assert_eq!(said.out, "", "{}", said.line);
        assert!(read().starts_with(begin), "{}: {}", said.line, read());
    }
}

#[test]
fn a_log_without_an_interval_has_a_line_for_each_request() {
    let user = User::new();
    let line = "fio --name=a --ioengine=null --filesize=1M --write_bw_log=t --write_lat_log=t \
                --per_job_logs=0 --log_offset=1";
    for rw in ["write", "randread", "randtrim"] {
        let rw_option = format!("--rw={rw}");
        let words: Vec<&str> = line.split_whitespace().chain([rw_option.as_str()]).collect();
        user.types(&words).fine();
        let direction = ["randread", "write", "randtrim"].iter().position(|it| *it == rw).unwrap();
        for log in ["t_bw.log", "t_lat.log", "t_clat.log"] {
            let text = std::fs::read_to_string(user.work().join(log)).unwrap();
            let rows: Vec<Vec<u64>> = text
                .lines()
                .map(|line| line.split(", ").map(|it| it.parse().unwrap()).collect())
                .collect();
            assert!(rows.iter().all(|row| row[2] == direction as u64 && row[3] == 4096), "{text}");
            let mut offsets: Vec<u64> = rows.iter().map(|row| row[4]).collect();
            let is_in_order = offsets.is_sorted();
            offsets.sort_unstable();
            assert_eq!(offsets, (0..256).map(|at| at * 4096).collect::<Vec<_>>(), "{rw} {log}");
            assert_eq!(is_in_order, rw == "write", "{rw} {log}");
            assert!(rows.is_sorted_by_key(|row| row[0]), "times go on: {text}");
        }
        // A call that is the I/O has no time of submission.
        assert_eq!(std::fs::read(user.work().join("t_slat.log")).unwrap(), b"", "{rw}");
    }
    // Means of intervals say of no single place.
    let words = "fio --name=a --ioengine=null --size=1M --write_bw_log=m --log_avg_msec=10 \
                 --log_offset=1 --time_based --runtime=1";
    user.types(&words.split_whitespace().collect::<Vec<_>>()).fine();
    let text = std::fs::read_to_string(user.work().join("m_bw.1.log")).unwrap();
    assert!(
        text.lines().count() > 20 && text.lines().all(|it| it.ends_with(", 0, 0, 0")),
        "{text}"
    );
}

/// What a job prints into a file beside it.
fn written(user: &User, line: &str, file: &str) -> String {
    user.types(&line.split_whitespace().collect::<Vec<_>>()).fine();
    std::fs::read_to_string(user.work().join(file)).unwrap()
}

#[test]
fn logs_have_the_columns_that_are_asked_for() {
    let user = User::new();
    let null = "fio --name=a --ioengine=null --filesize=64k --rw=randread --log_offset=1";
    let line = format!("{null} --write_lat_log=l --log_prio=1 --log_issue_time=1");
    let rows = written(&user, &line, "l_clat.1.log");
    let row: Vec<&str> = rows.lines().next().unwrap().split(", ").collect();
    assert_eq!((row.len(), row[5]), (7, "0x0000"), "{rows}");
    assert!(row[6].parse::<u64>().is_ok(), "when it was issued: {rows}");
    let line = format!(
        "{null} --time_based --runtime=1 --write_lat_log=w --log_avg_msec=100 \
         --log_window_value=both"
    );
    for row in written(&user, &line, "w_lat.1.log").lines() {
        let row: Vec<u64> = row.split(", ").map(|it| it.parse().unwrap()).collect();
        assert_eq!(row.len(), 7, "{row:?}");
        assert!(row[1] <= row[2], "no mean is above the largest: {row:?}");
        assert_eq!(row[3..], [0, 0, 0, 0]);
    }
}

#[test]
fn an_iolog_lists_what_was_issued_and_lfsr_comes_to_each_block_once() {
    let user = User::new();
    let line = "fio --name=a --ioengine=null --filename=f --filesize=64k --rw=randread \
                --norandommap=1 --random_generator=lfsr --write_iolog=io.log";
    let text = written(&user, line, "io.log");
    let lines: Vec<&str> = text.lines().collect();
    assert_eq!(lines[..3], ["fio version 3 iolog", "0 f add", "0 f open"]);
    assert!(lines.last().is_some_and(|line| line.ends_with(" f close")), "{text}");
    let offset = |line: &&str| -> u64 {
        let words: Vec<&str> = line.split(' ').collect();
        assert_eq!((words[1], words[2], words[4]), ("f", "read", "4096"), "{line}");
        words[3].parse().unwrap()
    };
    let mut offsets: Vec<u64> = lines[3..lines.len() - 1].iter().map(offset).collect();
    offsets.sort_unstable();
    assert_eq!(offsets, (0..16).map(|at| at * 4096).collect::<Vec<_>>());
    let several = "fio --name=a --ioengine=null --size=64k --numjobs=2 --write_iolog=io.log";
    let said = user.types(&several.split_whitespace().collect::<Vec<_>>());
    assert!(said.err.contains("write_iolog of several jobs or files"), "{}", said.err);
}

#[test]
fn where_results_are_is_said_only_where_it_is_true() {
    let user = User::new();
    user.write("x.icf", ICF);
    let line = ["iometer", "/c", "x.icf", "/r", "out.csv", "--target", "sim:x25-m"];
    assert_eq!(user.types(&line).fine().out, "Results of 1 test are in out.csv.\n");
    let ior = ["ior", "-b", "64k", "-t", "4k", "-O", "summaryFile=out.txt"];
    assert_eq!(user.types(&ior).fine().out, "Writing output to out.txt\n");
    // A place that is lost while the line runs: the results themselves are printed.
    std::fs::create_dir(user.work().join("d")).unwrap();
    let ior = ["ior", "-b", "64k", "-t", "4k", "-O", "summaryFile=d/out.txt", "-d", "1", "-i", "2"];
    let child = user.starts(&ior);
    std::thread::sleep(std::time::Duration::from_millis(700));
    std::fs::remove_dir(user.work().join("d")).unwrap();
    let said = cli_user::Said::of(&ior, child.wait_with_output().unwrap());
    assert!(said.out.starts_with("IOR-4.0.0"), "{}", said.out);
    assert!(!said.out.contains("Writing output to"), "{}", said.out);
    assert!(said.err.contains("the results cannot be written to d/out.txt"), "{}", said.err);
}

#[test]
fn results_that_another_program_wrote_for_another_job_are_foreign() {
    let user = User::new();
    user.types(&with(&["--output=out"])).fine();
    // A copy is not what was written.
    std::fs::copy(user.work().join("out"), user.work().join("copy")).unwrap();
    let other = ["fio", "--name=b", "--size=64k", "--rw=read", "--notes=none"];
    let to = |path: &'static str| [&other[..], &[path]].concat();
    let said = user.types(&to("--output=copy")).status(3);
    assert!(said.err.contains("is not as drivelab wrote it"), "{}", said.err);
    user.types(&to("--output=out")).fine();
    user.types(&with(&["--output=out"])).fine();
    user.types(&with(&["--output=copy"])).status(3);
    let list = user.runs().with_file_name("results.jsonl");
    assert!(std::fs::read_to_string(list).unwrap().lines().count() < 20);
}

//! Data of other people: what drivelab did not make, or what somebody changed since.

use crate::cli_user::User;
use std::os::unix::fs::PermissionsExt;
use std::path::Path;
use std::process::Command;
use std::time::{Duration, Instant};

const QUICK: [&str; 9] =
    ["run", ".", "--size", "8MiB", "--io", "buffered", "--operations", "300", "--json"];

/// Starts a run on a new file `data.bin`, and kills it while it measures.
fn killed(user: &User) -> std::path::PathBuf {
    let line =
        ["run", "data.bin", "--size", "8MiB", "--rw", "randwrite", "--io", "buffered", "--runtime"];
    let mut child = user.starts(&[&line[..], &["60"]].concat());
    let begin = Instant::now();
    let path = user.work().join("data.bin");
    while std::fs::read(&path).map_or(true, |bytes| bytes.iter().all(|byte| *byte == 0)) {
        assert!(begin.elapsed() < Duration::from_secs(60), "it does not write");
        std::thread::sleep(Duration::from_millis(20));
    }
    // Long enough that its first word would be too old.
    std::thread::sleep(Duration::from_millis(3500));
    child.kill().unwrap();
    child.wait().unwrap();
    assert!(path.exists());
    path
}

#[test]
fn what_a_killed_run_left_is_removed_unless_somebody_wrote_to_it() {
    let user = User::new();
    let path = killed(&user);
    let said = user.types(&QUICK).fine();
    assert!(said.err.contains("removed") && said.err.contains("data.bin"), "{}", said.err);
    assert!(!path.exists());

    let path = killed(&user);
    std::thread::sleep(Duration::from_millis(3100));
    let precious = vec![b'p'; 8 << 20];
    use std::os::unix::fs::FileExt;
    let open = std::fs::File::options().write(true).open(&path).unwrap();
    open.write_all_at(&precious, 0).unwrap();
    let said = user.types(&QUICK).fine();
    assert!(said.err.contains("data.bin as it is"), "{}", said.err);
    assert!(said.err.contains("it was changed after its run was killed"), "{}", said.err);
    assert_eq!(std::fs::read(&path).unwrap(), precious);
    // Named once, it is nobody's business any more.
    assert_eq!(user.types(&QUICK).fine().err, "");
    user.types(&["doctor", "--clean"]).fine();
    user.types(&["run", "data.bin", "--rw", "write", "--operations", "1"]).status(3);
    assert_eq!(std::fs::read(&path).unwrap(), precious);
}

#[test]
fn another_size_is_somebody_elses() {
    let user = User::new();
    let path = killed(&user);
    // At once: its time alone would not tell.
    std::fs::write(&path, "letters").unwrap();
    let said = user.types(&QUICK).fine();
    assert!(said.err.contains("data.bin as it is"), "{}", said.err);
    assert_eq!(std::fs::read(&path).unwrap(), b"letters");
}

/// Without HOME and XDG_DATA_HOME.
fn homeless(user: &User, line: &[&str]) -> (Option<i32>, String) {
    let mut command = Command::new(env!("CARGO_BIN_EXE_drivelab"));
    command.args(line).current_dir(user.work()).env_remove("HOME").env_remove("XDG_DATA_HOME");
    let output = command.output().unwrap();
    (output.status.code(), String::from_utf8(output.stderr).unwrap())
}

#[test]
fn a_file_that_is_no_ledger_is_not_written() {
    let user = User::new();
    let precious = "{\"event\":\"wedding\",\"day\":1}\n";
    for name in ["scratch.jsonl", "runs/scratch.jsonl", "letters"] {
        std::fs::create_dir_all(user.work().join("runs")).unwrap();
        user.write(name, precious);
    }
    let line = [&QUICK[..], &["--runs", "runs"]].concat();
    let (status, said) = homeless(&user, &line);
    assert_eq!(status, Some(3), "{said}");
    assert!(said.contains("is not drivelab's list of its own files"), "{said}");
    // Nor is a link followed.
    let ledger = user.work().join("runs/scratch.jsonl");
    std::fs::remove_file(&ledger).unwrap();
    std::fs::write(user.work().join("empty"), "").unwrap();
    for behind in ["../letters", "../empty", "../none"] {
        let _ = std::fs::remove_file(&ledger);
        std::os::unix::fs::symlink(behind, &ledger).unwrap();
        let (status, said) = homeless(&user, &line);
        assert_eq!(status, Some(3), "{said}");
        assert!(said.contains("symbolic link"), "{said}");
    }
    std::fs::remove_file(&ledger).unwrap();
    assert_eq!(homeless(&user, &line).0, Some(0));
    let read = |name: &str| std::fs::read_to_string(user.work().join(name)).unwrap();
    assert_eq!((&*read("scratch.jsonl"), &*read("letters")), (precious, precious));
    assert_eq!(read("empty"), "");
    assert!(!user.work().join("none").exists());
    // In its usual place too.
    std::fs::create_dir_all(user.runs()).unwrap();
    std::fs::write(user.runs().with_file_name("scratch.jsonl"), precious).unwrap();
    user.types(&QUICK).refused(3, "is not drivelab's list of its own files");
}

#[test]
fn results_replace_only_what_drivelab_wrote_and_nobody_changed() {
    let user = User::new();
    user.types(&["run", "sim:textbook,capacity=256MiB,state=filled", "--operations", "500"]).fine();
    let page = "<!DOCTYPE html><html><body>My notes on drivelab</body></html>";
    user.write("notes.html", page);
    let foreign = "exists and is not an unchanged report of drivelab";
    user.types(&["report", "--out", "notes.html"]).refused(3, foreign);
    assert_eq!(std::fs::read_to_string(user.work().join("notes.html")).unwrap(), page);
    // A page is known wherever it was taken; one that was edited is not.
    user.types(&["report", "--out", "page.html"]).fine();
    std::fs::copy(user.work().join("page.html"), user.work().join("copy.html")).unwrap();
    user.types(&["report", "--out", "copy.html"]).fine();
    let text = std::fs::read_to_string(user.work().join("page.html")).unwrap();
    user.write("page.html", text.replacen("<body", "<!-- mine --><body", 1));
    user.types(&["report", "--out", "page.html"]).refused(3, foreign);
    // A table that somebody annotated, with its length kept too.
    user.types(&["report", "--csv", "cells.csv"]).fine();
    user.types(&["report", "--csv", "cells.csv"]).fine();
    let text = std::fs::read_to_string(user.work().join("cells.csv")).unwrap();
    user.write("cells.csv", format!("{text}# a note of mine\n"));
    user.types(&["report", "--csv", "cells.csv"]).refused(3, "is not an unchanged CSV of drivelab");
    user.types(&["report", "--xlsx", "book.xlsx"]).fine();
    user.types(&["report", "--xlsx", "book.xlsx"]).fine();
}

#[test]
fn what_only_looks_like_results_of_a_tool_stays() {
    let user = User::new();
    let log = "1, 2, 3, 4, 5\n6, 7, 8, 9, 10\n";
    let json = "{\n  \"fio version\" : \"fio-3.33\",\n  \"jobs\" : []\n}\n";
    let summary = "IOR-4.0.0: MPI Coordinated Test of Parallel I/O\n";
    user.write("l_bw.1.log", log);
    user.write("out", json);
    user.write("summary", summary);
    let fio = ["fio", "--name=a", "--size=64k", "--rw=write", "--notes=none"];
    for more in [
        &["--write_bw_log=l", "--log_avg_msec=10"][..],
        &["--output=out", "--output-format=json"],
        &["--output=out"],
    ] {
        let said = user.types(&[&fio[..], more].concat()).status(3);
        assert!(said.err.contains("is not as drivelab wrote it"), "{}", said.err);
    }
    let said = user.types(&["ior", "-b", "64k", "-t", "4k", "-O", "summaryFile=summary"]).status(3);
    assert!(said.err.contains("Nothing was run"), "{}", said.err);
    let read = |name: &str| std::fs::read_to_string(user.work().join(name)).unwrap();
    assert_eq!([read("l_bw.1.log"), read("out"), read("summary")], [log, json, summary]);
    assert!(!user.runs().exists(), "a refused run was recorded");
}

#[test]
fn an_empty_file_is_filled_and_its_mode_kept() {
    let user = User::new();
    user.types(&["run", "sim:textbook,capacity=256MiB,state=filled", "--operations", "500"]).fine();
    let mode = |path: &Path| std::fs::metadata(path).unwrap().permissions().mode() & 0o777;
    let secret = |name: &str| {
        let path = user.write(name, "");
        std::fs::set_permissions(&path, std::fs::Permissions::from_mode(0o600)).unwrap();
        path
    };
    let [page, output] = [secret("page.html"), secret("output")];
    user.types(&["report", "--out", "page.html"]).fine();
    user.types(&["report", "--out", "page.html"]).fine();
    user.types(&["fio", "--name=a", "--size=64k", "--rw=write", "--output=output"]).status(0);
    for path in [&page, &output] {
        assert_eq!(mode(path), 0o600, "{}", path.display());
        assert!(std::fs::metadata(path).unwrap().len() > 0);
    }
    assert_eq!(mode(&user.last_run()), 0o600, "a run file holds serial numbers");
    // What is read through a pipe arrives there.
    let said = user.types(&["report", "--json", "--csv", "/dev/stdout"]).fine();
    assert!(said.out.contains("cell,"), "{}", said.out);
}

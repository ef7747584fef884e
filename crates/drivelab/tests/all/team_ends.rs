//! However one of several processes ends, all end, soon and with its reason, and nothing is left
//! behind.

use crate::support::binary::RunFile;
use crate::support::launched::{Group, Launcher, PATIENCE, kill, names_in, twins};
use crate::support::machine::{Mount, require_root};
use crate::support::shared_plan::{EACH, PASS, STAMP, gone, plan, says, step, sums, whole_plan};
use std::io::Write;
use std::time::Duration;

/// Far less than the runs that are ended in the middle would last.
const SOON: Duration = Duration::from_secs(15);
/// A load that lasts until it is ended.
const LONG: [&str; 8] =
    ["--rw", "write", "--runtime", "100s", "--size", "4MiB", "--io", "buffered"];
/// A load of a moment.
const SHORT: [&str; 8] =
    ["--rw", "write", "--runtime", "100ms", "--size", "1MiB", "--io", "buffered"];

/// The end of a run that did not reach it, and its only run file.
#[track_caller]
fn broken_off(launcher: &Launcher, status: u8, reason: &str) -> RunFile {
    let file = launcher.only_run();
    let end = file.run.end.clone().expect("an end");
    let said = end.reason.clone().unwrap_or_default();
    assert!(!end.complete && end.status == status && said.contains(reason), "{end:?}");
    file
}

#[test]
fn an_interrupt_ends_all_and_keeps_what_was_measured() {
    let mut launcher = Launcher::new();
    launcher.be_patient();
    let line = [&["run", ".", "--workers", "4"], &LONG[..]].concat();
    let running = launcher.start(4, &line);
    for rank in 0..4 {
        launcher.measuring(rank);
    }
    std::thread::sleep(Duration::from_millis(300));
    kill("INT", running.id());
    let outcome = launcher.end_of(running);
    assert_ne!(outcome.status, Some(0));
    assert!(outcome.took < SOON, "{outcome:?}");
    says(&outcome, &["interrupted; what was measured until then is kept"]);
    let run = broken_off(&launcher, 130, "interrupted").run;
    assert_eq!(run.steps[0].end.as_ref().expect("an end").phases.len(), 4);
    assert!(sums(&run.steps[0])[0] > 0);
    gone(&launcher, &[]);
}

#[test]
fn a_signal_to_one_process_ends_all_of_them() {
    let launcher = Launcher::new();
    let idle = "[[steps]]\nname = \"rest\"\nact = { idle = \"100s\" }\nrole = \"idle\"\n";
    let steps = [step("write", PASS, &format!("{EACH}\n{STAMP}")), idle.into()].concat();
    let long = [&["run", ".", "--workers", "2"], &LONG[..]].concat();
    launcher.write("idle.toml", plan(&steps));
    for (line, rests) in [(&long[..], false), (&["run", "idle.toml", "."], true)] {
        let mut running = launcher.start(2, line);
        let other = match rests {
            false => launcher.measuring(1),
            true => {
                running.wait_for(PATIENCE, |_| launcher.run_files().len() == 2);
                std::thread::sleep(Duration::from_secs(1));
                launcher.processes()[1].1
            }
        };
        kill("TERM", other);
        let outcome = launcher.end_of(running).expect_status(130);
        assert!(outcome.took < SOON, "{outcome:?}");
        says(&outcome, &["interrupted; what was measured until then is kept"]);
        gone(&launcher, &["idle.toml"]);
    }
    assert_eq!(launcher.run_files().len(), 2);
    for file in launcher.run_files() {
        let end = RunFile::read(&file).run.end.expect("an end");
        assert_eq!((end.complete, end.status), (false, 130));
    }
}

#[test]
fn a_killed_process_ends_all_and_what_it_left_is_removed_later() {
    let mut launcher = Launcher::new();
    launcher.be_patient();
    let line = [&["run", ".", "--workers", "4"], &LONG[..]].concat();
    // The first process has made the scratch: no other one removes it.
    let running = launcher.start(4, &line);
    kill("KILL", launcher.measuring(0));
    let outcome = launcher.end_of(running);
    assert!(outcome.status != Some(0) && outcome.took < SOON, "{outcome:?}");
    assert_eq!(launcher.run_files().len(), 1);
    assert!(launcher.only_run().run.end.is_none(), "it was killed");
    let left = launcher.listing();
    assert!(left.len() == 1 && left[0].starts_with("drivelab-scratch-"), "{left:?}");
    let next = launcher.run(2, &[&["run", "."], &SHORT[..]].concat()).expect_status(0);
    says(&next, &[&left[0]]);
    // The others wrote on until they were stopped, and signed for the first one meanwhile.
    says(&next, &["removed", "left by a run that was killed"]);
    gone(&launcher, &[]);
    // Any other one is missed by the first, which tidies up before it is killed itself.
    let running = launcher.start(4, &line);
    kill("KILL", launcher.measuring(3));
    let outcome = launcher.end_of(running);
    assert!(outcome.status != Some(0) && outcome.took < SOON, "{outcome:?}");
    says(&outcome, &["interrupted, and process 3 no longer answers"]);
    gone(&launcher, &[]);
    let ends = launcher.run_files().into_iter().map(|file| RunFile::read(&file).run.end);
    let reasons: Vec<String> = ends.flatten().filter_map(|end| end.reason).collect();
    assert_eq!(reasons, ["interrupted, and process 3 no longer answers"]);
}

#[test]
fn a_target_that_one_process_does_not_find_is_refused_by_its_number() {
    let launcher = Launcher::new();
    let [first, second] = ["first", "second"].map(|name| {
        let path = launcher.work().join(name);
        std::fs::create_dir(&path).expect("a directory");
        path
    });
    std::fs::create_dir(first.join("data")).expect("a directory");
    launcher.write("whole.toml", whole_plan());
    std::fs::copy(launcher.work().join("whole.toml"), first.join("own.toml")).expect("a plan");
    let load = [&["run", "data", "--workers", "2"], &SHORT[..]].concat();
    let nothing = "process 1: there is no file or directory `data`";
    let other = "process 1 finds nothing at data, and rank 0 finds a directory";
    let no_plan = "cannot read the plan own.toml: No such file or directory";
    let lines: [(&[&str], bool, &str); 4] = [
        (&load, false, other),
        (&["run", "../whole.toml", "data"], false, nothing),
        (&["run", "own.toml", "data"], false, &format!("process 1: {no_plan}")),
        // The first one has no file of that name: then the others must not wait for it.
        (&["run", "own.toml", "data"], true, no_plan),
    ];
    for (line, is_reversed, reason) in lines {
        let mut directories = [&first, &second];
        if is_reversed {
            directories.reverse();
        }
        let groups = directories.map(|directory| Group { ranks: 1, directory, line });
        let outcome = launcher.run_groups(&groups).expect_status(2);
        says(&outcome, &[reason]);
        assert_eq!(outcome.stdout, "");
    }
    assert_eq!(names_in(&first), ["data", "own.toml"]);
    assert_eq!(names_in(&first.join("data")), [""; 0]);
    assert_eq!(names_in(&second), [""; 0]);
    assert_eq!(launcher.run_files(), [""; 0].map(std::path::PathBuf::from));
}

#[test]
fn other_words_on_one_process_are_refused() {
    let launcher = Launcher::new();
    let line = [&["run", "."], &SHORT[..]].concat();
    for other in ["run . --rw randread --size 1MiB", "run . --bogus", "list", "fio --name=x"] {
        let words: Vec<&str> = other.split(' ').collect();
        for lines in [[&line, &words], [&words, &line]] {
            let directory = launcher.work();
            let groups = lines.map(|line| Group { ranks: 1, directory, line });
            let outcome = launcher.run_groups(&groups).expect_status(2);
            let told = format!("drivelab {}", lines[1].join(" "));
            says(&outcome, &["process 1 was started with other arguments than rank 0", &told]);
        }
    }
    gone(&launcher, &[]);
}

#[test]
fn another_build_of_the_same_version_is_refused() {
    let mut launcher = Launcher::new();
    let other = launcher.data().join("other");
    std::fs::create_dir(&other).expect("a directory");
    let other = other.join("drivelab");
    std::fs::copy(env!("CARGO_BIN_EXE_drivelab"), &other).expect("a copy of the program");
    let line = [&["run", "."], &SHORT[..]].concat();
    let directory = launcher.work().to_path_buf();
    let groups =
        [&directory, &directory].map(|directory| Group { ranks: 1, directory, line: &line });
    launcher.program_of_the_last = Some(other.clone());
    launcher.run_groups(&groups).expect_status(0);
    // Bytes behind its end change nothing of what a program does.
    let mut file = std::fs::OpenOptions::new().append(true).open(&other).expect("the copy");
    file.write_all(b"another").expect("more bytes");
    drop(file);
    let outcome = launcher.run_groups(&groups).expect_status(2);
    says(&outcome, &["process 1 is another build of drivelab", "than rank 0"]);
    gone(&launcher, &[]);
}

#[test]
fn what_one_process_must_do_alone_is_refused_with_the_way_out() {
    let launcher = Launcher::new();
    let lines = [
        ("check .", "this command runs in one process"),
        ("study wsat .", "this command runs in one process"),
        ("runs", "this command runs in one process"),
    ];
    for (line, reason) in lines {
        let line: Vec<&str> = line.split(' ').collect();
        let outcome = launcher.run(2, &line).expect_status(2);
        says(&outcome, &[reason, "and several were started"]);
        let advice = "Run without mpirun";
        assert!(outcome.stderr.contains(advice), "{}", outcome.stderr);
        assert_eq!(outcome.stdout, "");
    }
    gone(&launcher, &[]);
}

#[test]
fn the_files_of_others_stay_as_they_are() {
    let launcher = Launcher::new();
    let precious = b"precious".repeat(1 << 17);
    let foreign = launcher.write("a3", &precious);
    let line = [&["run", "a3", "--workers", "2"], &SHORT[..]].concat();
    says(&launcher.run(2, &line).expect_status(3), &["a3"]);
    // The last process meets it; what the others have made until then is gone.
    launcher.write("write.toml", plan(&step("write", PASS, &format!("{EACH}\n{STAMP}"))));
    let outcome = launcher.run(4, &["run", "write.toml", "."]).expect_status(3);
    says(&outcome, &["process 3: ", "a3"]);
    assert_eq!(std::fs::read(foreign).expect("a3"), precious);
    gone(&launcher, &["a3", "write.toml"]);
}

#[test]
fn a_file_of_the_same_name_and_number_elsewhere_is_not_the_same() {
    require_root("a_file_of_the_same_name_and_number_elsewhere_is_not_the_same");
    let launcher = Launcher::new();
    let mounts = twins();
    let precious = b"precious".repeat(1 << 17);
    std::fs::write(mounts[1].join("shared.dat"), &precious).expect("a file");
    // The first one will make a file of that number.
    launcher.write("shared.toml", {
        let file = "[[files]]\nname = \"shared.dat\"\nsize = \"1MiB\"\n";
        let stream = "mix = { write = 100 }\nlength = \"1MiB\"";
        format!("seed = 1\n{file}{}", step("write", PASS, stream))
    });
    let plan = launcher.path("shared.toml");
    let line = ["run", &plan, "."];
    let groups =
        mounts.each_ref().map(|mount| Group { ranks: 1, directory: mount.path(), line: &line });
    let outcome = launcher.run_groups(&groups).expect_status(3);
    says(&outcome, &["process 1: ", "shared.dat is not the same here"]);
    assert_eq!(std::fs::read(mounts[1].join("shared.dat")).expect("a file"), precious);
    assert_eq!(names_in(mounts[0].path()), ["probe"]);
    gone(&launcher, &["shared.toml"]);
}

#[test]
fn a_file_system_that_is_full_for_some_ends_all() {
    require_root("a_file_system_that_is_full_for_some_ends_all");
    let launcher = Launcher::new();
    // Each of the two files would fit.
    let full = Mount::tmpfs(4);
    let link = launcher.work().join("full");
    std::os::unix::fs::symlink(full.path(), &link).expect("a link");
    let files = ["a", "b", "full/c", "full/d"];
    let files = files.map(|name| format!("[[files]]\nname = \"{name}\"\nsize = \"3MiB\"\n"));
    let stream = "files = \"each\"\nlength = \"3MiB\"\nmix = { write = 100 }";
    let until = "{ elapsed = \"100s\" }";
    launcher
        .write("full.toml", format!("seed = 1\n{}{}", files.concat(), step("w", until, stream)));
    let outcome = launcher.run(4, &["run", "full.toml", "."]).expect_status(4);
    assert!(outcome.took < SOON, "{outcome:?}");
    says(&outcome, &["process ", " a write of 65536 bytes at offset ", "the file system is full"]);
    let run = broken_off(&launcher, 4, "the file system is full").run;
    assert_eq!(run.steps[0].end.as_ref().expect("an end").phases.len(), 4, "all were heard");
    gone(&launcher, &["full", "full.toml"]);
    assert_eq!(names_in(full.path()), [""; 0]);
}

#[test]
fn a_file_that_becomes_smaller_under_one_process_ends_all() {
    let launcher = Launcher::new();
    let read = step("read", "{ elapsed = \"100s\" }", &format!("{EACH}\npattern = \"uniform\""));
    launcher.write("read.toml", plan(&read));
    let running = launcher.start(4, &["run", "read.toml", "."]);
    for rank in 0..4 {
        launcher.measuring(rank);
    }
    let file = std::fs::File::options().write(true).open(launcher.work().join("a2"));
    file.expect("a2").set_len(4096).expect("a2");
    let outcome = launcher.end_of(running).expect_status(4);
    assert!(outcome.took < SOON, "{outcome:?}");
    says(&outcome, &["process 2 on ", "the target ends there or became smaller"]);
    broken_off(&launcher, 4, "the target ends there or became smaller");
    gone(&launcher, &["read.toml"]);
}

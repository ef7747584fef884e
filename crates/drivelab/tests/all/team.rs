//! One run by several processes that mpirun started: nothing of what they measure is lost, and one
//! of them speaks.

use crate::support::binary::RunFile;
use crate::support::launched::{Group, Launcher, names_in};
use crate::support::neighbours::not_judged;
use crate::support::shared_plan::{
    EACH, PASS, SHARED, STAMP, VERIFY, assert_aligned, gone, plan, says, step, sums, whole_plan,
};
use drivelab_core::run::Run;
use std::collections::BTreeMap;
use std::path::Path;

/// A load of a moment.
const SHORT: [&str; 8] =
    ["--rw", "write", "--runtime", "100ms", "--size", "1MiB", "--io", "buffered"];

fn assert_processes(run: &Run, ranks: u32) {
    let host = run.begin.facts.host.hostname.clone().expect("a name");
    let known: Vec<(u32, &str)> =
        run.begin.processes.iter().map(|process| (process.rank, process.host.as_str())).collect();
    assert_eq!(known, (0..ranks).map(|rank| (rank, host.as_str())).collect::<Vec<_>>());
    for process in &run.begin.processes {
        // On one machine all have one clock, and what was measured of it must allow for that.
        let ahead_ns = process.clock_ahead_ns.unsigned_abs();
        assert!(ahead_ns <= process.clock_skew_ns, "{process:?}");
        assert_eq!(process.clock_skew_ns == 0, process.rank == 0, "{process:?}");
    }
}

#[test]
fn nothing_is_lost_and_all_is_as_in_one_process() {
    let mut plans = Vec::new();
    for ranks in [1, 2, 4] {
        let launcher = Launcher::new();
        launcher.write("whole.toml", whole_plan());
        let line = ["run", "whole.toml", ".", "--json"];
        let outcome = match ranks {
            1 => launcher.run_alone(&line, &[]),
            ranks => launcher.run(ranks, &line),
        };
        let json = outcome.expect_status(0).json();
        let run = launcher.only_run().run;
        assert_eq!(run.steps.len(), 4);
        let mebibytes = 4 << 20;
        for (index, step) in run.steps.iter().enumerate() {
            let verified = if index < 2 { 0 } else { mebibytes / 4096 };
            assert_eq!(sums(step), [64, mebibytes, 64, verified, 0], "{ranks}: {step:?}");
            assert_aligned(step, 4);
            let stream = &json["steps"][index]["streams"][0];
            assert_eq!(
                (&stream["total"]["ops"], &stream["verified"]),
                (&64.into(), &verified.into())
            );
        }
        assert_processes(&run, if ranks == 1 { 0 } else { ranks });
        assert_eq!(run.warnings, [], "{ranks}");
        gone(&launcher, &["whole.toml"]);
        plans.push(run.plans);
    }
    assert!(plans.iter().all(|plan| *plan == plans[0]), "{plans:?}");
}

#[test]
fn the_same_program_takes_the_library_of_another_mpi() {
    let mpich = "mpirun.mpich";
    if std::process::Command::new(mpich).arg("--version").output().is_err() {
        not_judged("the_same_program_takes_the_library_of_another_mpi", "mpich is not here");
        return;
    }
    let launcher = Launcher::by(mpich.into());
    launcher.write("whole.toml", whole_plan());
    launcher.run(2, &["run", "whole.toml", "."]).expect_status(0);
    let run = launcher.only_run().run;
    assert_processes(&run, 2);
    for step in &run.steps {
        assert_eq!(sums(step)[..2], [64, 4 << 20], "{step:?}");
    }
    gone(&launcher, &["whole.toml"]);
}

#[test]
fn what_is_wrong_is_found_by_the_process_that_reads_it() {
    let launcher = Launcher::new();
    launcher.write("write.toml", plan(&step("write", PASS, &format!("{EACH}\n{STAMP}"))));
    launcher.run(4, &["run", "write.toml", ".", "--keep"]).expect_status(0);
    let kept = ["a0", "a1", "a2", "a3", "all"];
    assert_eq!(launcher.listing(), [&kept[..], &["write.toml"]].concat());
    let mut bytes = std::fs::read(launcher.work().join("a0")).expect("a0");
    bytes[70_000] ^= 1;
    // The same inode: another one would not be drivelab's.
    let file = std::fs::File::options().write(true).open(launcher.work().join("a0"));
    std::os::unix::fs::FileExt::write_all_at(&file.expect("a0"), &bytes, 0).expect("a0");
    launcher.write("read.toml", plan(&step("read", PASS, &format!("{EACH}\n{VERIFY}"))));
    let outcome = launcher.run(4, &["run", "read.toml", "."]).expect_status(4);
    says(&outcome, &["blocks read are not what was written"]);
    let runs = launcher.run_files().into_iter().map(|file| RunFile::read(&file).run);
    let run = runs.into_iter().find(|run| run.steps[0].plan.name == "read").expect("a run");
    let found: Vec<u32> = run.steps[0]
        .tallies
        .iter()
        .filter(|tally| tally.mismatched > 0)
        .map(|tally| tally.worker)
        .collect();
    assert_eq!(found, [3], "the neighbour before the first worker is the last");
    let mismatches = &run.steps[0].end.as_ref().expect("an end").mismatches;
    assert_eq!(mismatches.iter().map(|one| one.offset).collect::<Vec<_>>(), [70_000 / 4096 * 4096]);
    assert_eq!(launcher.listing(), [&kept[..], &["read.toml", "write.toml"]].concat());
}

#[test]
fn scratch_without_a_name_is_shared_written_once_and_removed() {
    let launcher = Launcher::new();
    let load = ["run", ".", "--rw", "randrw", "--size", "4MiB", "--operations", "1001"];
    let more = ["--workers", "4", "--io", "buffered", "--json", "--out", "page.html"];
    let outcome = launcher.run(4, &[&load[..], &more].concat()).expect_status(0);
    let total = outcome.json()["steps"][2]["streams"][0]["total"].clone();
    assert_eq!(total["ops"], 1001, "{total}");
    let run = launcher.only_run().run;
    let step = run.steps.last().expect("a step");
    assert_eq!(sums(step)[..3], [1001, 1001 * 4096, 1001]);
    assert_aligned(step, 4);
    assert_eq!(sums(&run.steps[0])[1], 4 << 20, "laid out once");
    gone(&launcher, &["page.html"]);
    let page = std::fs::read_to_string(launcher.work().join("page.html")).expect("a page");
    assert_eq!(page.matches("</html>").count(), 1);
}

#[test]
fn a_file_that_is_kept_is_ours_for_all_of_the_next_team() {
    let launcher = Launcher::new();
    let load = ["run", "kept.dat", "--bs", "64k", "--passes", "1", "--seed", "7"];
    let load = [&load[..], &["--io", "buffered", "--workers", "4", "--json"]].concat();
    let write = ["--rw", "write", "--stamp", "--keep", "--size", "4MiB"];
    for _ in 0..2 {
        launcher.run(2, &[&load[..], &write].concat()).expect_status(0);
        assert_eq!(launcher.listing(), ["kept.dat"]);
    }
    let json = launcher.run(4, &[&load[..], &["--rw", "read", "--verify"]].concat());
    let json = json.expect_status(0).json();
    let stream = &json["steps"][0]["streams"][0];
    assert_eq!((&stream["verified"], &stream["mismatched"]), (&1024.into(), &0.into()));
    assert_eq!(launcher.listing(), ["kept.dat"]);
    // All have written to it when the one that opened it notes how it was left.
    for ranks in [4, 1, 2] {
        launcher.run(ranks, &[&load[..], &write].concat()).expect_status(0);
    }
    let path = launcher.work().join("kept.dat");
    let file = std::fs::File::options().write(true).open(&path).expect("the file");
    std::os::unix::fs::FileExt::write_all_at(&file, b"precious", 0).expect("the file");
    let outcome = launcher.run(2, &[&load[..], &write].concat()).expect_status(3);
    says(&outcome, &["kept.dat was made by drivelab and was changed since"]);
    assert_eq!(std::fs::read(path).expect("the file")[..8], *b"precious");
}

#[test]
fn each_notes_how_the_files_were_left_that_it_opened() {
    let launcher = Launcher::new();
    launcher.write("write.toml", plan(&step("write", PASS, &format!("{EACH}\n{STAMP}"))));
    // Shared by all, opened by one.
    let shared = step("write all", PASS, &format!("{SHARED}\n{STAMP}"));
    launcher.write("shared.toml", plan(&shared));
    for (ranks, name) in [(4, "write"), (4, "write"), (2, "shared"), (4, "shared"), (1, "write")] {
        let name = format!("{name}.toml");
        launcher.run(ranks, &["run", &name, ".", "--keep"]).expect_status(0);
    }
    let entries = launcher.ledger();
    let last = |name: &str| {
        let mut lines = entries.lines().filter(|line| line.contains(&format!("/{name}\"")));
        lines.next_back().unwrap_or_default().to_owned()
    };
    for name in ["a0", "a1", "a2", "a3", "all"] {
        assert!(last(name).contains("\"left\":{\"bytes\":"), "{name}: {entries}");
    }
    // That of the last process.
    let file = std::fs::File::options().write(true).open(launcher.work().join("a3"));
    std::os::unix::fs::FileExt::write_all_at(&file.expect("a3"), b"x", 9).expect("a3");
    let outcome = launcher.run(4, &["run", "write.toml", ".", "--keep"]).expect_status(3);
    says(&outcome, &["process 3: ", "a3 was made by drivelab and was changed since"]);
}

#[test]
fn two_streams_stand_as_in_one_process() {
    let launcher = Launcher::new();
    let stream = |name: &str, more: &str| {
        format!(
            "[[steps.streams]]\nname = \"{name}\"\nmix = {{ write = 100 }}\nio = \"buffered\"\n\
             workers = 2\nsize = \"64k\"\nfiles = \"each\"\nlength = \"1MiB\"\n{more}"
        )
    };
    let head = format!("[[steps]]\nname = \"both\"\nuntil = {PASS}\n");
    launcher.write(
        "two.toml",
        plan(&[head, stream("one", ""), stream("other", "first_file = 2\n")].concat()),
    );
    launcher.run(2, &["run", "two.toml", "."]).expect_status(0);
    let run = launcher.only_run().run;
    let phases = &run.steps[0].end.as_ref().expect("an end").phases;
    let order: Vec<(u32, u32)> = phases.iter().map(|phase| (phase.stream, phase.worker)).collect();
    assert_eq!(order, [(0, 0), (0, 1), (1, 0), (1, 1)]);
    assert_eq!(sums(&run.steps[0])[..3], [64, 4 << 20, 64]);
}

#[test]
fn holes_that_another_process_finds_are_told() {
    let launcher = Launcher::new();
    let first = "mix = { write = 100 }\nlength = \"1MiB\"";
    let all = format!("{SHARED}\nmix = {{ write = 100 }}");
    let steps = [step("write", PASS, first), step("write all", PASS, &all)];
    launcher.write("write.toml", plan(&steps.concat()));
    launcher.run(4, &["run", "write.toml", ".", "--keep"]).expect_status(0);
    launcher.write("read.toml", plan(&step("read", PASS, EACH)));
    let outcome = launcher.run(4, &["run", "read.toml", ".", "--json"]).expect_status(0);
    let warnings = outcome.json()["warnings"].as_array().expect("warnings").clone();
    assert_eq!(warnings.len(), 1, "{warnings:?}");
    assert_eq!(warnings[0]["code"], "file_has_holes");
    let text = warnings[0]["text"].as_str().expect("a text");
    assert!(text.contains("a1 is not fully allocated"), "{text}");
}

#[test]
fn the_line_of_another_tool_is_shared_too() {
    let line = "fio --name=job --directory=. --rw=write --bs=64k --size=1m --numjobs=4";
    let line: Vec<&str> = line.split(' ').collect();
    let mut before: Option<(Vec<String>, Vec<String>)> = None;
    for ranks in [1, 4] {
        let launcher = Launcher::new();
        let outcome = match ranks {
            1 => launcher.run_alone(&line, &[]),
            ranks => launcher.run(ranks, &line),
        };
        let outcome = outcome.expect_status(0);
        let run = launcher.only_run().run;
        assert_eq!(sums(run.steps.last().expect("a step"))[..3], [64, 4 << 20, 64]);
        let notes = outcome.stderr.lines().filter(|line| line.starts_with("note: direct=0"));
        let mut known = launcher.listing();
        // How many lines follow depends on how long it took.
        known.extend(outcome.stdout.lines().next().map(String::from));
        assert_eq!(outcome.stdout.matches("job: (groupid=0, jobs=1)").count(), 4);
        let known = (known, notes.map(String::from).collect());
        assert_eq!(before.get_or_insert_with(|| known.clone()), &known, "{ranks}");
        assert_eq!(launcher.listing().len(), 4);
    }
}

#[test]
fn names_that_are_spelt_are_made_by_all_and_removed_by_one() {
    let launcher = Launcher::new();
    let step = |action: &str, more: &str| {
        format!(
            "[[steps]]\nname = \"{action}\"\nuntil = {PASS}\n[[steps.streams]]\n\
             pattern = \"names\"\nengine = \"psync\"\nactions = [\"{action}\"]\nnames = 25\n\
             workers = 4\nform = \"n{{worker}}f{{name}}\"\n{more}\n"
        )
    };
    let steps = [step("create", ""), step("stat", "neighbour = 1"), step("open", "")];
    launcher.write("names.toml", format!("seed = 1\n{}", steps.concat()));
    launcher.run(4, &["run", "names.toml", "."]).expect_status(0);
    let run = launcher.only_run().run;
    assert_eq!(run.steps.iter().map(|step| sums(step)[0]).collect::<Vec<_>>(), [100; 3]);
    gone(&launcher, &["names.toml"]);
    // Somebody's file of such a name, which only the last process would have met.
    launcher.write("n3f7", b"precious");
    let outcome = launcher.run(4, &["run", "names.toml", "."]).expect_status(3);
    says(&outcome, &["n3f7 exists already"]);
    assert_eq!(launcher.listing(), ["n3f7", "names.toml"]);
    // A directory of that name elsewhere is not the same.
    let [first, second] = [launcher.path("first"), launcher.path("second")];
    for directory in [&first, &second] {
        std::fs::create_dir_all(Path::new(directory).join("x")).expect("a directory");
    }
    std::fs::write(Path::new(&second).join("x/n3f7"), b"precious").expect("a file");
    let plan = launcher.path("names.toml");
    let line = ["run", &plan, "x"];
    let groups = [&first, &second].map(|directory| Group {
        ranks: 2,
        directory: Path::new(directory),
        line: &line,
    });
    let outcome = launcher.run_groups(&groups).expect_status(3);
    says(
        &outcome,
        &["process 2: ", "x is not the same here as for the process that opened it first"],
    );
    assert_eq!(names_in(&Path::new(&second).join("x")), ["n3f7"]);
}

#[test]
fn a_program_that_was_started_otherwise_runs_as_ever_or_says_why_not() {
    let launcher = Launcher::new();
    let line = [&["run", "."], &SHORT[..]].concat();
    launcher.run_alone(&line, &[]).expect_status(0);
    assert_eq!(launcher.only_run().run.begin.processes, []);
    for name in ["OMPI_COMM_WORLD_SIZE", "PMI_SIZE", "SLURM_STEP_NUM_TASKS"] {
        launcher.run_alone(&line, &[(name, "1")]).expect_status(0);
    }
    // A launcher that says how many there are is believed before one that only numbers them, and
    // one alone needs no MPI.
    let alone = [("PMIX_RANK", "0"), ("SLURM_STEP_NUM_TASKS", "1"), ("DRIVELAB_MPI", "/no/mpi")];
    launcher.run_alone(&line, &alone).expect_status(0);
    let name = "SLURM_STEP_NUM_TASKS";
    let outcome = launcher.run_alone(&line, &[(name, "2")]).expect_status(2);
    says(&outcome, &["a launcher has started 2 processes", name, "each would run alone"]);
    for (library, why) in [
        ("/no/libmpi.so", "cannot open shared object file"),
        ("libc.so.6", "it has no MPI_Get_library_version"),
    ] {
        let named = [("OMPI_COMM_WORLD_SIZE", "2"), ("DRIVELAB_MPI", library)];
        let outcome = launcher.run_alone(&line, &named).expect_status(2);
        says(&outcome, &[&format!("DRIVELAB_MPI names {library}, which cannot be used"), why]);
    }
    gone(&launcher, &[]);
}

#[test]
fn what_none_of_them_could_issue_is_counted_once() {
    let launcher = Launcher::new();
    let load = ["run", ".", "--rw", "randread", "--size", "4MiB", "--io", "buffered"];
    let rate = ["--rate", "400000000", "--runtime", "250ms", "--workers", "2", "--json"];
    let json = launcher.run(2, &[&load[..], &rate].concat()).expect_status(0).json();
    let warnings = json["warnings"].as_array().expect("warnings");
    let texts: BTreeMap<&str, &str> = warnings
        .iter()
        .filter_map(|warning| Some((warning["code"].as_str()?, warning["text"].as_str()?)))
        .collect();
    assert_eq!((warnings.len(), texts.len()), (1, 1), "{warnings:?}");
    let text = texts["rate_not_kept"];
    let unissued: u64 = text
        .split_whitespace()
        .find_map(|word| word.parse().ok().filter(|count| *count != 400_000_000))
        .expect("a count");
    let steps = json["steps"].as_array().expect("steps");
    let issued = steps.last().expect("a step")["streams"][0]["total"]["ops"].as_u64();
    let due = unissued + issued.expect("operations");
    assert!((90_000_000..=110_000_000).contains(&due), "{due} of both were due");
}

//! IO500 as one line: its phases, its score, and what is left of it.

use crate::cli_user::User;
use crate::support::launched::{Launcher, kill, names_in};
use std::path::Path;
use std::time::Duration;

/// Files of each process of both kinds.
const FILES: u64 = 1200;

fn config(more: &str) -> String {
    format!(
        "[global]\ndatadir = data\nresultdir = results\n[ior-easy]\ntransferSize = 64k\nblockSize \
         = 1m\n[ior-hard]\nsegmentCount = 20\n[mdtest-easy]\nn = {FILES}\n[mdtest-hard]\nn = \
         {FILES}\n{more}"
    )
}

/// Numbers of files whose name holds what is looked for.
fn matching() -> u64 {
    (0..FILES).filter(|number| number.to_string().contains("01")).count() as u64
}

/// The score of a row, by the name of its phase.
fn score_of(out: &str, name: &str) -> f64 {
    let row = out.lines().find(|row| row.split_whitespace().nth(1) == Some(name));
    let word = row.and_then(|row| row.split_whitespace().nth(2)).expect("a row");
    word.parse().expect("a number")
}

fn pair<'a>(text: &'a str, section: &str, key: &str) -> &'a str {
    let own = text.split(&format!("[{section}]\n")).nth(1).expect("a section");
    let own = own.split("\n[").next().unwrap_or(own);
    let line = own.lines().find(|line| line.split('=').next().map(str::trim) == Some(key));
    line.and_then(|line| line.split_once(" = ")).map(|(_, value)| value).expect("a key")
}

#[test]
fn the_suite_ends_with_its_score_on_two_processes() {
    let launcher = Launcher::new();
    launcher.write("c.ini", config("[find]\nnproc = 2\n"));
    let line = ["io500", "c.ini", "--scale-time", "0.001", "--timestamp=one"];
    let outcome = launcher.run(2, &line).expect_status(0);
    let out = &outcome.stdout;
    let rows: Vec<&str> = out.lines().filter(|row| row.starts_with("[RESULT]")).collect();
    assert_eq!(rows.len(), 12, "{out}");
    assert!(rows.iter().all(|row| row.contains("  guard: ")), "{out}");
    let score = |names: &[&str]| -> f64 {
        let product: f64 = names.iter().map(|name| score_of(out, name)).product();
        product.powf(1.0 / names.len() as f64)
    };
    let bandwidth = score(&["ior-easy-write", "ior-hard-write", "ior-easy-read", "ior-hard-read"]);
    let names = score(&[
        "mdtest-easy-write",
        "mdtest-hard-write",
        "find",
        "mdtest-easy-stat",
        "mdtest-hard-stat",
        "mdtest-easy-delete",
        "mdtest-hard-read",
        "mdtest-hard-delete",
    ]);
    let row = out.lines().find(|row| row.starts_with("[SCORE ]")).expect("a score");
    assert!(row.ends_with(" [INVALID]"), "{row}");
    let total: f64 = row
        .split("TOTAL ")
        .nth(1)
        .and_then(|rest| rest.split(' ').next())
        .and_then(|word| word.parse().ok())
        .expect("a number");
    let expected = (bandwidth * names).sqrt();
    assert!((total / expected - 1.0).abs() < 0.01, "{total} {expected}");
    let note = "note: [INVALID] --scale-time makes the stonewall one of 0.3 s.\n";
    assert!(outcome.stderr.contains(note), "{}", outcome.stderr);
    assert_eq!(outcome.stderr.matches("--scale-time makes").count(), 1, "{}", outcome.stderr);
    assert_eq!(launcher.run_files().len(), 12);
    let results = launcher.work().join("results/one");
    let text = |name: &str| std::fs::read_to_string(results.join(name)).expect(name);
    let result = text("result.txt");
    assert_eq!(pair(&result, "run", "procs"), "2");
    assert_eq!(pair(&result, "find", "found"), (2 * matching()).to_string());
    // Two files of ior-easy, one of ior-hard, and all of mdtest.
    assert_eq!(pair(&result, "find", "total-files"), (3 + 4 * FILES).to_string());
    assert_eq!(
        pair(&result, "ior-easy-read", "score"),
        format!("{:.6}", score_of(out, "ior-easy-read"))
    );
    let ior = text("ior-easy-write.txt");
    let said = ior.lines().find(|line| line.starts_with("write ")).expect("IOR's own");
    let word = said.split_whitespace().nth(1).expect("a bandwidth");
    let mebibytes: f64 = word.parse().expect("a number");
    // Without decimals above 3600 MiB/s.
    let apart = (score_of(out, "ior-easy-write") - mebibytes / 1024.0).abs();
    assert!(apart < 1e-3, "{said}");
    let summary = text("result_summary.txt");
    let bare: String = out
        .lines()
        .take(15)
        .map(|row| row.split("  guard").next().unwrap_or(row).to_owned() + "\n")
        .collect();
    assert_eq!(summary, bare);
    assert_eq!(launcher.listing(), ["c.ini", "results"], "no data is left");
    assert!(names_in(&results).iter().all(|name| !name.ends_with(".stonewall")));
    assert_eq!(names_in(&results).len(), 4 + 1 + 11 + 4, "{:?}", names_in(&results));
}

#[test]
fn one_process_does_the_same_and_a_dry_run_touches_nothing() {
    let user = User::new();
    user.write("c.ini", config("[mdtest-easy-stat]\nrun = FALSE\n"));
    let line = ["io500", "c.ini", "--scale-time=0.001", "--notes=none"];
    let dry = user.types(&[&line[..], &["--dry-run"]].concat()).fine();
    assert!(dry.out.contains("[find]\nfind data/"), "{}", dry.out);
    assert_eq!(user.listing(), ["c.ini"]);
    let said = user.types(&line).fine();
    let skipped = said.out.lines().find(|row| row.contains("mdtest-easy-stat")).unwrap();
    assert!(skipped.contains("0.000000 kIOPS : time 0.000 seconds [INVALID]"), "{skipped}");
    assert!(said.out.contains("[SCORE ]") && said.err.is_empty(), "{}\n{}", said.out, said.err);
    assert_eq!(user.listing(), ["c.ini", "results"]);
}

#[test]
fn what_is_not_drivelabs_is_refused_before_anything_is_made() {
    let user = User::new();
    let plain = "timestamp-datadir = FALSE\ntimestamp-resultdir = FALSE\n";
    user.write("c.ini", config(&format!("[global]\n{plain}")));
    std::fs::create_dir(user.work().join("data")).unwrap();
    user.write("data/thesis", "My thesis\n");
    let said = user.types(&["io500", "c.ini"]).status(3);
    assert!(said.err.contains("refused: data is not empty"), "{}", said.err);
    assert_eq!(user.listing(), ["c.ini", "data"], "nothing was made");
    std::fs::remove_file(user.work().join("data/thesis")).unwrap();
    std::fs::create_dir(user.work().join("results")).unwrap();
    user.write("results/result.txt", "My thesis\n");
    let said = user.types(&["io500", "c.ini"]).status(3);
    assert!(said.err.contains("results/result.txt exists and is not as drivelab wrote it"));
    assert_eq!(names_in(&user.work().join("results")), ["result.txt"]);
    assert_eq!(names_in(&user.work().join("data")), Vec::<String>::new());
    user.write("in.ini", "[global]\ndatadir = data\nresultdir = data/r\ntimestamp-datadir = 0\n");
    let said = user.types(&["io500", "in.ini"]).status(1);
    assert!(said.err.contains("lie in one another"), "{}", said.err);
    assert!(!user.runs().exists(), "a refused run was recorded");
}

#[test]
fn an_interrupt_leaves_results_and_no_file_of_data() {
    let mut launcher = Launcher::new();
    launcher.be_patient();
    let small = "[ior-easy]\ntransferSize = 4k\nblockSize = 1m\n";
    launcher.write("c.ini", format!("[global]\ndatadir = data\nresultdir = results\n{small}"));
    let running = launcher.start(2, &["io500", "c.ini", "--scale-time=0.01", "--timestamp=one"]);
    let tree = launcher.work().join("data/one/mdtest-easy/test-dir.0-0");
    let begin = std::time::Instant::now();
    while !tree.exists() && begin.elapsed() < Duration::from_secs(20) {
        std::thread::sleep(Duration::from_millis(10));
    }
    launcher.measuring(1);
    kill("INT", running.id());
    let outcome = launcher.end_of(running);
    assert_ne!(outcome.status, Some(0));
    assert!(outcome.stderr.contains("interrupted in mdtest-easy-write"), "{}", outcome.stderr);
    // Names that process 0 made are gone, those of another one stay, and are told.
    let data = launcher.work().join("data/one");
    for said in ["data/one stays", "rm -r data/one\n"] {
        assert_eq!(outcome.stderr.contains(said), data.exists(), "{said}: {}", outcome.stderr);
    }
    if data.exists() {
        assert_eq!(names_in(&data), ["mdtest-easy"], "IOR's files are gone");
    }
    let summary = launcher.work().join("results/one/result_summary.txt");
    let summary = std::fs::read_to_string(summary).expect("it is kept");
    assert!(summary.contains("ior-easy-write") && !summary.contains("SCORE"), "{summary}");
    assert!(!Path::new(&launcher.work().join("results/one/ior-easy.stonewall")).exists());
}

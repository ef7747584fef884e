//! The page of every study, of a check, a run, an acceptance and a comparison, as a browser shows
//! it: what is drawn is whole, and nothing covers anything else.

use super::browser::{Case, Scheme, rendered};
use super::{WINDOWS, faults};
use crate::cli_user::User;
use crate::support::machine::is_unavailable;
use std::path::Path;
use std::sync::Mutex;
use std::thread;

/// A drive that is measured in a moment, and its like.
const DRIVE: &str = "sim:x25-e,capacity=256MiB";
const OTHER: &str = "sim:textbook,capacity=256MiB,seed=2";
/// One that freezes.
const SLOW: &str = "sim:ocz-core,capacity=512MiB";

/// Each page by its name, with the words that make it.
const PAGES: [(&str, &[&str]); 26] = [
    ("aa", &["study", "aa", DRIVE, "--quick"]),
    ("wsat", &["study", "wsat", DRIVE, "--quick"]),
    ("trim", &["study", "trim", DRIVE, "--quick"]),
    ("pts-iops", &["study", "pts-iops", DRIVE, "--quick"]),
    ("pts-tp", &["study", "pts-tp", DRIVE, "--quick"]),
    ("pts-lat", &["study", "pts-lat", DRIVE, "--quick"]),
    ("rank", &["study", "rank", DRIVE, OTHER, SLOW, "--quick"]),
    ("patterns", &["study", "patterns", DRIVE, "--quick"]),
    ("mix", &["study", "mix", DRIVE, "--quick"]),
    ("under", &["study", "under", DRIVE, "--quick"]),
    ("steady", &["study", "steady", DRIVE, "--quick"]),
    ("fs", &["study", "fs", DRIVE, "--quick", "--time", "30s"]),
    ("stride", &["study", "stride", DRIVE, "--quick"]),
    ("stutter", &["study", "stutter", SLOW, "--quick"]),
    ("apps", &["study", "apps", "sim:x25-e,capacity=1GiB", "--quick"]),
    ("modes", &["study", "modes", DRIVE, "--quick"]),
    ("endurance", &["study", "endurance", OTHER, "--quick"]),
    ("files", &["study", "files", DRIVE, "--quick"]),
    ("ior", &["study", "ior", DRIVE, "--quick"]),
    ("meta", &["study", "meta", DRIVE, "--quick"]),
    ("torture", &["study", "torture", DRIVE, "--quick"]),
    ("anatomy", &["study", "anatomy", DRIVE, "--quick"]),
    ("tune", &["study", "tune", DRIVE, "--quick"]),
    ("check", &["check", DRIVE, "--time", "20s"]),
    ("run", &["run", DRIVE, "--rw", "randrw", "--depth", "8", "--runtime", "8"]),
    ("accept", &["accept", "claims.toml", "sim:x25-e,capacity=256MiB,state=filled"]),
];

/// A run of `study zones` on a zoned null_blk of the emulated machine, of whose slowest I/Os two a
/// step were kept: no such drive is here.
const ZONES: &str = concat!(env!("CARGO_MANIFEST_DIR"), "/tests/all/rendered/zones.jsonl");

/// Claims of which one is kept, one by far, and one not.
const CLAIMS: &str = r#"
[[claim]]
name = "reads"
metric = "iops"
at_least = 1000
rw = "randread"
seconds = 2
[[claim]]
name = "writes"
metric = "iops"
at_least = 1000000
rw = "randwrite"
seconds = 2
[[claim]]
name = "slowest"
metric = "p99_ns"
at_most = 100000000
rw = "randread"
seconds = 2
"#;

/// Every page, made on as many processors as there are.
fn made() -> Vec<(String, String)> {
    let waiting = Mutex::new(PAGES.iter().rev().collect::<Vec<_>>());
    let done = Mutex::new(Vec::new());
    let take = || waiting.lock().unwrap().pop();
    thread::scope(|scope| {
        for _ in 0..thread::available_parallelism().map_or(2, usize::from) {
            scope.spawn(|| {
                while let Some((name, words)) = take() {
                    let page = page(name, words);
                    done.lock().unwrap().push(((*name).to_owned(), page));
                }
            });
        }
    });
    let mut pages = done.into_inner().unwrap();
    pages.push(("compare".to_owned(), compared()));
    pages.push(("zones".to_owned(), reported(ZONES)));
    pages
}

fn reported(run: &str) -> String {
    let user = User::new();
    let said = user.types(&["report", run, "--out", "page.html"]);
    let read = std::fs::read_to_string(user.work().join("page.html"));
    read.unwrap_or_else(|_| panic!("{run}: no page\n{}\n{}", said.out, said.err))
}

fn page(name: &str, words: &[&str]) -> String {
    let user = User::new();
    user.write("claims.toml", CLAIMS);
    let said = user.types(&[words, &["--seed", "7", "--out", "page.html"]].concat());
    let read = std::fs::read_to_string(user.work().join("page.html"));
    read.unwrap_or_else(|_| panic!("{name}: no page\n{}\n{}", said.out, said.err))
}

/// A check of one drive against that of another.
fn compared() -> String {
    let user = User::new();
    for (target, runs) in [(DRIVE, "before"), (OTHER, "after")] {
        user.types(&["check", target, "--time", "20s", "--seed", "7", "--json", "--runs", runs]);
    }
    let run = |runs: &str| {
        let mut found = std::fs::read_dir(user.work().join(runs)).unwrap();
        found.next().unwrap().unwrap().path().to_str().unwrap().to_owned()
    };
    let said = user.types(&["compare", &run("before"), &run("after"), "--out", "page.html"]).fine();
    let read = std::fs::read_to_string(user.work().join("page.html"));
    read.unwrap_or_else(|_| panic!("compare: no page\n{}\n{}", said.out, said.err))
}

#[test]
fn every_page_of_every_study_is_whole() {
    // Without Chromium it fails, unless tests/unavailable.txt lists it with its reason.
    if is_unavailable("every_page_of_every_study_is_whole") {
        return;
    }
    let user = User::new();
    let listed = user.types(&["study", "--help"]).fine().out;
    let (_, listed) = listed.split_once("Studies, each").unwrap();
    let (listed, _) = listed.split_once("Examples:").unwrap();
    for line in listed.lines().skip(1) {
        let name = line.strip_prefix("  ").filter(|line| !line.starts_with(' '));
        let name = name.and_then(|line| line.split(' ').next()).filter(|name| !name.is_empty());
        let is_drawn = |name| name == "zones" || PAGES.iter().any(|(known, _)| *known == name);
        assert!(name.is_none_or(is_drawn), "{line}: a study without a page in this test");
    }
    let pages = made();
    for (name, page) in &pages {
        // Left in the target directory, to be looked at.
        let file = format!("study-{name}.html");
        std::fs::write(Path::new(env!("CARGO_TARGET_TMPDIR")).join(file), page).unwrap();
    }
    let mut all = Vec::new();
    for scheme in [Scheme::Light, Scheme::Dark] {
        for some in pages.chunks(9) {
            let cases: Vec<Case<'_>> = some
                .iter()
                .flat_map(|(name, page)| {
                    WINDOWS.map(|(width, height)| Case {
                        name: format!("{name} {width}"),
                        page,
                        width,
                        height,
                    })
                })
                .collect();
            let results = rendered(&cases, scheme);
            for case in &cases {
                let result = &results[&case.name];
                let found = faults(case.page, result, (case.width, case.height), scheme);
                // How much fits the first screen is a question for the pages of samples.
                let found = found.into_iter().filter(|fault| {
                    !fault.starts_with("verdict: it ends") && !fault.starts_with("numbers: ")
                });
                all.extend(found.map(|fault| format!("{} {scheme:?}: {fault}", case.name)));
                assert!(result["texts"].as_u64().unwrap() > 15, "{}: {result}", case.name);
                assert!(result["pictures"].as_u64().unwrap() > 0, "{}: no picture", case.name);
            }
        }
    }
    assert!(all.is_empty(), "{} faults:\n{}", all.len(), all.join("\n"));
}

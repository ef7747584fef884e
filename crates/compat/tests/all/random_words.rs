//! No line of words makes a front end panic, and no plan comes out that core would refuse.

use crate::mpi_world::{Still, assert_sound, corpus, host, launched};
use drivelab_compat::TOOLS;
use drivelab_compat::front::{Found, Host};
use drivelab_compat::front_end::{Answer, FrontEnd};
use drivelab_core::run::Run;

/// SplitMix64: the same words in every run.
struct Random(u64);

impl Random {
    fn below(&mut self, limit: usize) -> usize {
        self.0 = self.0.wrapping_add(0x9E37_79B9_7F4A_7C15);
        let mut mixed = self.0;
        mixed = (mixed ^ (mixed >> 30)).wrapping_mul(0xBF58_476D_1CE4_E5B9);
        mixed = (mixed ^ (mixed >> 27)).wrapping_mul(0x94D0_49BB_1331_11EB);
        ((mixed ^ (mixed >> 31)) % limit as u64) as usize
    }

    fn of<'a>(&mut self, words: &[&'a str]) -> &'a str {
        words[self.below(words.len())]
    }
}

const ODD: [&str; 46] = [
    "",
    "-",
    "--",
    "---",
    "=",
    "-=",
    "@",
    "/",
    "//",
    ".",
    "..",
    "a@b",
    "{worker}",
    "{name}",
    "0",
    "1",
    "2",
    "3",
    "-1",
    "64",
    "4k",
    "64k",
    "1m",
    "1g",
    "99999999999t",
    "4096",
    "4097",
    "4294967295",
    "4294967296",
    "9223372036854775807",
    "18446744073709551615",
    "18446744073709551616",
    "0x10",
    "1e9",
    "NaN",
    "\u{2013}u",
    "\u{2013}",
    "é",
    "-é",
    "\u{0}",
    "sim:x25-e",
    "/dev/nvme0n1",
    "old",
    "/mnt/fs/x",
    "two.ior",
    "workstation.icf",
];

/// Words of the corpora, halves of them, odd ones, and letters run together.
fn words(random: &mut Random, known: &[&str]) -> Vec<String> {
    (0..random.below(9))
        .map(|_| match random.below(11) {
            0 => ODD[random.below(ODD.len())].to_owned(),
            1 => format!("-{}{}", random.of(known).trim_start_matches('-'), random.of(&ODD)),
            2 => format!("--{}={}", random.of(known).trim_start_matches('-'), random.of(&ODD)),
            3 => random.of(known).chars().take(random.below(6)).collect(),
            4 => format!("{}={},{}", random.of(known), random.of(&ODD), random.of(known)),
            5 => {
                let letters = "bBtsFiCzZQXNwWrRkKeEYDdTmuovOfhnILcSUyx";
                let all: Vec<char> = letters.chars().collect();
                format!("-{}", all[random.below(all.len())])
            }
            6 => valued(random, known),
            _ => random.of(known).to_owned(),
        })
        .collect()
}

/// A name with a value, and another value in its place.
fn valued(random: &mut Random, known: &[&str]) -> String {
    let name = random.of(known).split('=').next().unwrap_or_default();
    match random.below(2) {
        0 => format!("{name}={}", random.of(&ODD)),
        _ => format!("{name}={}", random.of(known).rsplit('=').next().unwrap_or_default()),
    }
}

/// Tools whose plans core may refuse for their amounts.
const AMOUNTS: [&str; 3] = ["fio", "iozone", "iometer"];

/// Whether it came to a plan, or to reports.
fn answered(tool: &FrontEnd, called: &str, line: &[String], world: &Still) -> bool {
    match (tool.parse)(called, line, world) {
        Err(refusal) => {
            assert!(refusal.status != 0 && !refusal.text.is_empty(), "{line:?}");
            false
        }
        Ok(Answer::Text(text)) => {
            // fio --parse-only has nothing to say of a line that is well.
            assert!(!text.is_empty() || tool.word() == "fio", "{line:?}");
            false
        }
        Ok(Answer::Run { job, layout }) => {
            assert!(!job.plan.steps.is_empty() && !job.target.is_empty(), "{line:?}");
            if job.plan.steps.len() < 2000 && !AMOUNTS.contains(&tool.word()) {
                assert_sound(&job);
            }
            drop(layout(&Run::default(), &Host::default()));
            true
        }
        Ok(Answer::Suite(mut suite)) => {
            suite.begin_at(host().now_ms);
            assert!(suite.notes().iter().all(|note| !note.text.is_empty()), "{line:?}");
            assert!(suite.shown(5).is_none_or(|shown| shown.contains(suite.data())), "{line:?}");
            assert!(!suite.score(&[]).contains("NaN"), "{line:?}");
            true
        }
        Ok(Answer::Reports { notes, .. }) => {
            assert!(notes.iter().all(|note| !note.text.is_empty()), "{line:?}");
            true
        }
    }
}

/// The lines of a tool's corpus, but for those that name files which are not here.
fn lines(tool: &FrontEnd) -> Vec<Vec<String>> {
    let path = format!("{}/tests/corpus/{}.txt", env!("CARGO_MANIFEST_DIR"), tool.word());
    let text = std::fs::read_to_string(&path).expect(&path);
    let is_here = |line: &&str| tool.word() != "iometer" || line.contains("work");
    corpus(&text).filter(is_here).map(|line| launched(line).2).collect()
}

fn tried(tool: &FrontEnd, seed: u64) {
    let lines = lines(tool);
    let known: Vec<&str> = lines.iter().flatten().map(String::as_str).collect();
    let mut random = Random(seed);
    let mut plans = 0;
    for turn in 0..20_000 {
        let ranks = 1 + random.below(9) as u32;
        let mut world =
            Still::scaled(ranks, 1 + random.below(3) as u64, 1 + random.below(3) as u64);
        let icf = include_str!("../corpus/iometer/workstation.icf");
        world.texts.insert("workstation.icf".to_owned(), icf.to_owned());
        world.found.insert("/dev/sdb".to_owned(), Found::Device { bytes: 1 << 40 });
        let line = if turn % 2 == 0 {
            words(&mut random, &known)
        } else {
            // A line of the corpus with a word exchanged, or one too many.
            let mut line = lines[random.below(lines.len())].clone();
            let at = random.below(line.len() + 1);
            let word = if random.below(2) == 0 { random.of(&known) } else { random.of(&ODD) };
            match line.get_mut(at) {
                Some(place) if random.below(3) > 0 => word.clone_into(place),
                _ => line.insert(at, word.to_owned()),
            }
            line
        };
        let called = tool.names[random.below(tool.names.len())];
        plans += u32::from(answered(tool, called, &line, &world));
    }
    assert!(plans > 200, "{}: only {plans} of all lines came to a plan", tool.word());
}

#[test]
fn no_line_of_any_tool_panics() {
    std::thread::scope(|scope| {
        for (seed, tool) in (1..).zip(TOOLS) {
            scope.spawn(move || tried(tool, seed));
        }
    });
}

//! A grade of `stutter`: the same within one step in a run ten times as long.

use super::case::{Case, Said};
use super::judged::{Judged, Level};
use super::replay::{longer, performed, replay};
use drivelab_core::op::Action;
use drivelab_core::run::{Run, StepRun};
use std::time::Duration;

const BESIDE: &str = "reader with a writer";
const TIMES: u64 = 10;
/// A case that took longer is not done again ten times as long.
const SLOW: Duration = Duration::from_secs(8);
const LETTERS: &str = "ABCDEF";

/// Waits of the reader: how many there were of each length, and the time in which they were seen.
#[derive(Debug, Default)]
struct Waits {
    seconds: f64,
    noticed: u64,
    freezes: u64,
    frozen_s: f64,
    longest_s: f64,
}

fn add(waits: &mut Waits, step: &StepRun) {
    // A writer that has come to its end leaves the reader alone.
    let ends = step.tallies.iter().filter(|tally| tally.stream == 1 && tally.kinds[0].ops > 0);
    let writer = ends.map(|tally| tally.to).max().unwrap_or(u64::MAX);
    let beside = || step.tallies.iter().filter(|it| it.stream == 0 && it.to <= writer);
    let Some(from) = beside().map(|tally| tally.from).min() else { return };
    waits.seconds +=
        beside().map(|tally| tally.to).max().unwrap_or(from).abs_diff(from) as f64 / 1e9;
    let kinds = beside().flat_map(|tally| &tally.kinds);
    for kind in kinds.filter(|kind| kind.kind == Action::Read) {
        let waited = &kind.service;
        let seconds = |ns: u64| ns as f64 / 1e9;
        waits.longest_s = waits.longest_s.max(seconds(waited.max()));
        waits.noticed += waited.count_above(10_000_000);
        waits.freezes += waited.count_above(100_000_000);
        for (from, to, count) in waited.iter_nonzero().filter(|(from, _, _)| *from >= 100_000_000) {
            waits.frozen_s += seconds(from.midpoint(to)) * count as f64;
        }
    }
}

fn grade(waits: &Waits) -> usize {
    let a_minute = 60.0 * waits.freezes as f64 / waits.seconds;
    let share = waits.frozen_s / waits.seconds;
    match () {
        () if share >= 0.1 => 5,
        () if share >= 0.03 => 4,
        () if share >= 0.01 || a_minute >= 10.0 => 3,
        () if a_minute >= 1.0 => 2,
        () if waits.noticed > 0 => 1,
        () => 0,
    }
}

fn of_run(run: &Run, named: &str) -> Waits {
    let mut waits = Waits::default();
    run.steps.iter().filter(|step| step.begin.name == named).for_each(|it| add(&mut waits, it));
    waits
}

/// The letter in a sentence such as "Grade B: your machine …".
fn letter(words: &str) -> Option<usize> {
    LETTERS.find(words.strip_prefix("Grade ")?.chars().next()?)
}

/// What `stutter` said.
pub fn judge(case: &Case, said: &Said, all: &mut Vec<Judged>) {
    let Some(run) = said.run.as_ref().filter(|_| case.study == "stutter") else { return };
    let sentences = ["verdict", "beware"].map(|list| said.sentences(list)).concat();
    let found = sentences.into_iter().find_map(|words| Some((letter(words)?, words)));
    let watched = of_run(run, BESIDE);
    let Some((found, words)) = found else {
        let said = said.sentences("unknown").join(" ");
        let is_tellable = watched.seconds >= 180.0;
        all.push(Judged::open("grade", is_tellable, said, format!("{watched:?}")));
        return;
    };
    if said.took > SLOW {
        return;
    }
    let mut steps = performed(&run.steps);
    for step in steps.iter_mut().filter(|step| step.name == BESIDE) {
        *step = longer(step, TIMES);
    }
    let Some(long) = replay(case, run, steps) else { return };
    let waits = of_run(&long, BESIDE);
    let truth = grade(&waits);
    let shown = format!("{} in a run ten times as long: {waits:?}", &LETTERS[truth..=truth]);
    let is_right = found.abs_diff(truth) <= 1;
    all.push(Judged::held("grade", Level::Certain, is_right, words, shown));
}

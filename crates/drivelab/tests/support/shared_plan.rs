//! Plans that a team of processes shares, and what their runs did.

use super::binary::Outcome;
use super::launched::Launcher;
use drivelab_core::run::StepRun;

pub const PASS: &str = "{ passes = 1 }";
pub const EACH: &str = "files = \"each\"\nlength = \"1MiB\"";
pub const SHARED: &str =
    "first_file = 4\npattern = \"segments\"\nblock = \"256k\"\nsegments = 4\nlength = \"4MiB\"";
pub const STAMP: &str = "mix = { write = 100 }\nstamp = true";
pub const VERIFY: &str = "neighbour = 1\nverify = true";

/// A plan for the files `a0` … `a3` of 1 MiB and `all` of 4 MiB, with these steps.
pub fn plan(steps: &str) -> String {
    let each = (0..4).map(|file| format!("[[files]]\nname = \"a{file}\"\nsize = \"1MiB\"\n"));
    let all = "[[files]]\nname = \"all\"\nsize = \"4MiB\"\n";
    format!("seed = 3\n{}{all}{steps}", each.collect::<String>())
}

pub fn step(name: &str, until: &str, stream: &str) -> String {
    format!(
        "[[steps]]\nname = \"{name}\"\nuntil = {until}\n[[steps.streams]]\nio = \"buffered\"\n\
         workers = 4\nsize = \"64k\"\n{stream}\n"
    )
}

/// Each writes a file of its own and its part of one file, and then reads those of its neighbour.
pub fn whole_plan() -> String {
    let step = |name, what, how| step(name, PASS, &format!("{what}\n{how}"));
    plan(
        &[
            step("write each", EACH, STAMP),
            step("write shared", SHARED, STAMP),
            step("read each", EACH, VERIFY),
            step("read shared", SHARED, VERIFY),
        ]
        .concat(),
    )
}

/// What a step did: operations, bytes, latencies recorded, blocks verified, blocks mismatched.
pub fn sums(step: &StepRun) -> [u64; 5] {
    let mut sums = [0; 5];
    for tally in &step.tallies {
        for kind in &tally.kinds {
            assert_eq!(kind.errors, []);
            let own = [kind.ops, kind.bytes, kind.service.count()];
            sums.iter_mut().zip(own).for_each(|(sum, own)| *sum += own);
        }
        sums[3] += tally.verified;
        sums[4] += tally.mismatched;
    }
    sums
}

/// This many workers of one stream began together, and all that they issued was done.
pub fn assert_aligned(step: &StepRun, workers: u32) {
    let phases = &step.end.as_ref().expect("an end").phases;
    let known: Vec<(u32, u32)> = phases.iter().map(|phase| (phase.stream, phase.worker)).collect();
    assert_eq!(known, (0..workers).map(|worker| (0, worker)).collect::<Vec<_>>());
    for phase in phases {
        assert_eq!(phase.opened, phases[0].opened, "one moment for all: {phases:?}");
        assert!(phase.opened <= phase.first && phase.first <= phase.last, "{phase:?}");
        assert!(phase.last - phase.opened < 20_000_000_000, "{phase:?}");
    }
    let issued: u64 = phases.iter().map(|phase| phase.issued).sum();
    assert_eq!(issued, sums(step)[0]);
}

/// Nothing is left of a run but these names.
#[track_caller]
pub fn gone(launcher: &Launcher, left: &[&str]) {
    assert_eq!(launcher.listing(), left);
    assert_eq!(launcher.ledger(), "", "scratch that nobody removed");
}

/// One sentence on stderr, with these words in it.
#[track_caller]
pub fn says(outcome: &Outcome, words: &[&str]) {
    outcome.expect_plain_words();
    let told = outcome.stderr.lines().filter(|line| line.starts_with("drivelab: "));
    let told: Vec<&str> = told.collect();
    assert_eq!(told.len(), 1, "one sentence: {}", outcome.stderr);
    for word in words {
        assert!(told[0].contains(word), "`{word}` is not in: {}", told[0]);
    }
}

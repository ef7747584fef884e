//! What one process decides for all: walls, background streams, rounds until steady, scratch
//! directories; and a simulated drive, which only one of them has.

use crate::support::launched::Launcher;
use crate::support::shared_plan::{EACH, gone, plan, step, sums};
use drivelab_core::level::outcome;
use drivelab_core::op::SECOND;
use drivelab_core::run::StepRun;

/// Runs in this many processes; one is without mpirun.
#[track_caller]
fn run_by(launcher: &Launcher, ranks: u32, line: &[&str]) {
    let outcome = match ranks {
        1 => launcher.run_alone(line, &[]),
        ranks => launcher.run(ranks, line),
    };
    outcome.expect_status(0);
}

/// Operations of each worker of a stream.
fn issued(step: &StepRun, stream: u32) -> Vec<u64> {
    let phases = &step.end.as_ref().expect("an end").phases;
    phases.iter().filter(|phase| phase.stream == stream).map(|phase| phase.issued).collect()
}

#[test]
fn the_first_worker_that_ends_stops_those_of_other_processes() {
    for (ranks, wall) in [(1, true), (2, true), (4, true), (4, false)] {
        let launcher = Launcher::new();
        // The first worker has one more to do than the others, 200 ms after their last.
        let until = format!("{{ operations = 21, stonewall = {wall} }}");
        let load =
            format!("{EACH}\nmix = {{ write = 100 }}\nthink = \"200ms\"\nengine = \"psync\"");
        launcher.write("wall.toml", plan(&step("read", &until, &load)));
        run_by(&launcher, ranks, &["run", "wall.toml", "."]);
        let run = launcher.only_run().run;
        let issued = issued(&run.steps[0], 0);
        match wall {
            // Whoever is a moment behind does not begin its last.
            true => assert!(issued.iter().all(|ops| [4, 5].contains(ops)), "{ranks}: {issued:?}"),
            false => assert_eq!(issued, [6, 5, 5, 5], "{ranks}"),
        }
        gone(&launcher, &["wall.toml"]);
    }
}

#[test]
fn background_streams_last_as_long_as_the_foreground_of_another_process() {
    for ranks in [1, 2, 4] {
        let launcher = Launcher::new();
        // One worker in front, with the first process, for about 2 s; three others behind, which
        // would go on for 100 s.
        let front = "[[steps.streams]]\nio = \"buffered\"\nsize = \"64k\"\nfirst_file = 4\n\
                     until = { operations = 21 }\nthink = \"100ms\"\nengine = \"psync\"\n\
                     mix = { write = 100 }\n";
        let write = "mix = { write = 100 }\nengine = \"psync\"";
        let behind = format!("{EACH}\n{write}\nbackground = true\nthink = \"10ms\"");
        let steps = step("both", "{ elapsed = \"100s\" }", &behind) + front;
        launcher.write("behind.toml", plan(&steps));
        run_by(&launcher, ranks, &["run", "behind.toml", "."]);
        let run = launcher.only_run().run;
        let step = &run.steps[0];
        assert_eq!(issued(step, 1), [21], "{ranks}");
        let phases = &step.end.as_ref().expect("an end").phases;
        let front = phases.iter().find(|phase| phase.stream == 1).expect("the front");
        for phase in phases.iter().filter(|phase| phase.stream == 0) {
            let (shortest, longest) = (front.last - SECOND / 5, front.last + 2 * SECOND);
            assert!((shortest..longest).contains(&phase.last), "{ranks}: {phase:?} {front:?}");
        }
        gone(&launcher, &["behind.toml"]);
    }
}

/// Workers that are judged each by itself, or all together, at 50 operations a second at most.
#[test]
fn a_level_rate_ends_workers_of_all_processes() {
    for (ranks, group) in
        [(1, ""), (4, ""), (1, ", group = 0"), (2, ", group = 0"), (4, ", group = 0")]
    {
        let launcher = Launcher::new();
        let until = format!(
            "{{ elapsed = \"60s\", level = {{ limit = 50.0, percent = true, window = \"2s\", \
             of = \"operations\", by = \"deviation\"{group} }} }}"
        );
        let paced = "mix = { write = 100 }\nthink = \"20ms\"\nengine = \"psync\"";
        let load = format!("{EACH}\n{paced}");
        launcher.write("level.toml", plan(&step("level", &until, &load)));
        run_by(&launcher, ranks, &["run", "level.toml", "."]);
        let run = launcher.only_run().run;
        let step = &run.steps[0];
        let phases = &step.end.as_ref().expect("an end").phases;
        let took: Vec<u64> = phases.iter().map(|phase| phase.last - phase.opened).collect();
        assert!(took.iter().all(|ns| (2 * SECOND..20 * SECOND).contains(ns)), "{ranks}: {took:?}");
        if !group.is_empty() {
            let apart = took.iter().max().zip(took.iter().min()).map(|(most, least)| most - least);
            assert!(apart.is_some_and(|ns| ns < SECOND / 2), "{ranks}: {took:?}");
            let level = step.plan.until.level.expect("a level");
            let workers = (0..4).map(|worker| (0, worker)).collect();
            let found = outcome(&step.tallies, level, workers);
            assert!(found.attained && found.seconds.len() == 2, "{found:?}");
            // All four are in it: 50 a second each at most, and none is left out.
            let least = found.seconds.iter().map(|[ops, ..]| *ops).min();
            assert!(least.is_some_and(|ops| (101..=200).contains(&ops)), "{found:?}");
        }
        gone(&launcher, &["level.toml"]);
    }
}

#[test]
fn rounds_are_decided_by_what_all_have_done() {
    let mut counts = Vec::new();
    for ranks in [1, 2] {
        let launcher = Launcher::new();
        // One pass is too short for the proof, so that the number of rounds is known.
        let load = format!("{EACH}\nmix = {{ write = 100 }}");
        let until = "{ steady = true, passes = 1 }";
        let role = "role = \"precondition\"\n[[steps.streams]]";
        let fill = step("fill", until, &load).replace("[[steps.streams]]", role);
        launcher.write("rounds.toml", plan(&fill));
        run_by(&launcher, ranks, &["run", "rounds.toml", "."]);
        let run = launcher.only_run().run;
        let codes: Vec<&str> = run.warnings.iter().map(|warning| warning.code.as_str()).collect();
        assert_eq!(codes, ["not_steady"], "{ranks}");
        counts.push(run.steps.iter().map(|step| sums(step)[1]).collect::<Vec<_>>());
        gone(&launcher, &["rounds.toml"]);
    }
    assert_eq!(counts[0].iter().sum::<u64>(), 4 << 20, "{counts:?}");
    assert_eq!(counts[0], counts[1]);
}

#[test]
fn names_of_our_own_are_made_by_all_in_what_one_has_made() {
    for (ranks, directories) in [(2, "one"), (4, "one"), (4, "each")] {
        let launcher = Launcher::new();
        launcher.write(
            "names.toml",
            format!(
                "seed = 1\n[[steps]]\nname = \"names\"\nuntil = {{ passes = 3 }}\n\
                 [[steps.streams]]\npattern = \"names\"\nengine = \"psync\"\nworkers = 4\n\
                 names = 25\nactions = [\"create\", \"stat\", \"unlink\"]\n\
                 directories = \"{directories}\"\n"
            ),
        );
        run_by(&launcher, ranks, &["run", "names.toml", "."]);
        let run = launcher.only_run().run;
        assert_eq!(sums(&run.steps[0])[0], 4 * 3 * 25 * 3, "{ranks} {directories}");
        assert_eq!(issued(&run.steps[0], 0), [225; 4]);
        gone(&launcher, &["names.toml"]);
    }
}

#[test]
fn a_simulated_drive_is_what_it_is_in_one_process() {
    let mut tallies = Vec::new();
    for ranks in [1, 4] {
        let launcher = Launcher::new();
        let load = ["run", "sim:x25-e", "--rw", "randwrite", "--runtime", "200ms"];
        let line = [&load[..], &["--workers", "4", "--seed", "7"]].concat();
        run_by(&launcher, ranks, &line);
        let run = launcher.only_run().run;
        let codes: Vec<&str> = run.warnings.iter().map(|warning| warning.code.as_str()).collect();
        assert_eq!(codes.contains(&"simulated_in_one"), ranks > 1, "{codes:?}");
        tallies.push(run.steps.into_iter().map(|step| step.tallies).collect::<Vec<_>>());
        gone(&launcher, &[]);
    }
    assert!(!tallies[0].is_empty());
    assert_eq!(tallies[0], tallies[1]);
}

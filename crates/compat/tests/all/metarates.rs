//! Metarates: what its lines mean, and what is printed of a run.

use crate::mpi_world::*;
use drivelab_compat::front::{Asked, Found, Job, Refusal, Treatment};
use drivelab_compat::metarates::{Options, Phase, output, parse};
use drivelab_core::plan::Sync;
use expect_test::expect_file;

fn asked(line: &str, world: &Still) -> Result<(Job, Options), Refusal> {
    match parse(&words(line), world)? {
        Asked::Run { job, options } => Ok((*job, *options)),
        Asked::Text(text) => panic!("{text}"),
    }
}

fn job(line: &str, ranks: u32) -> (Job, Options) {
    asked(line, &Still::with(ranks)).unwrap_or_else(|refusal| panic!("{line}: {refusal:?}"))
}

fn names(job: &Job) -> Vec<&str> {
    job.plan.steps.iter().map(|step| step.name.as_str()).collect()
}

#[test]
fn tests_come_in_their_own_order() {
    let (job, options) = job("-d junk -n 40 -C -U -S -u", 2);
    assert_eq!(
        names(&job),
        [
            "make directories",
            "create",
            "unlink",
            "create for all",
            "create for all",
            "stat",
            "unlink",
            "create for all",
            "create for all",
            "utime",
            "unlink"
        ]
    );
    let phases: Vec<Phase> = options.keys.iter().flatten().copied().collect();
    assert_eq!(phases, [Phase::Create, Phase::Stat, Phase::Utime]);
    assert!(job.notes.iter().any(|note| note.code == "fixed_order"));
    let forms: Vec<&str> = job
        .plan
        .steps
        .iter()
        .map(|step| step.streams[0].names().unwrap().form.as_deref().unwrap())
        .take(5)
        .collect();
    assert_eq!(
        forms,
        [
            "{name}",
            "{worker}/n{worker}f{name}",
            "{worker}/n{worker}f{name}",
            "0/n0f{name}",
            "1/n1f{name}"
        ]
    );
    assert!(
        job.plan.steps[1..].iter().all(|step| step.streams[0].names().unwrap().names == Some(20))
    );
}

#[test]
fn options_reach_the_plan() {
    let (kept, _) = job("-d junk -n 40 -C -U -S -k", 2);
    assert_eq!(names(&kept), ["create", "stat", "utime"]);
    assert!(kept.keeps);
    let (one, _) = job("-d junk -n 40 -S -k", 2);
    assert_eq!(names(&one), ["create for all", "create for all", "stat"]);
    let synced = job("-d junk -n 40 -C -s", 2).0;
    assert_eq!(synced.plan.steps[0].streams[0].sync, Sync::Fsync(1));
    // Whole shares of all tasks, however small.
    let scaled = |numerator, denominator| {
        asked("-d junk -n 1000 -C", &Still::scaled(4, numerator, denominator)).unwrap().1.files
    };
    assert_eq!((scaled(1, 3), scaled(1, 9999), scaled(2, 1)), (332, 4, 2000));
}

#[test]
fn directories_that_are_there_are_left_alone() {
    let mut world = Still::with(3);
    for (path, expected) in [("0", 2), ("2", 1), ("1", 0)] {
        world.found.insert(format!("junk/{path}"), Found::Directory);
        let (job, _) = asked("-d junk -n 9 -C -u", &world).unwrap();
        let made = names(&job).iter().filter(|name| **name == "make directories").count();
        assert_eq!(made, expected);
    }
}

#[test]
fn a_dash_of_a_word_processor_is_a_hyphen() {
    let (with, options) = job("-d junk -n 4 -C -S \u{2013}u", 2);
    assert!(options.unique);
    let note = with.notes.iter().find(|note| note.code == "typographic_dash").unwrap();
    assert_eq!((note.about.as_str(), note.treatment), ("\u{2013}u", Treatment::Approximated));
    assert!(job("-d junk -n 4 -C -S -u", 2).0.notes.iter().all(|it| it.code != note.code));
}

fn printed(line: &str, ranks: u32, seconds: &[u64]) -> String {
    printed_of(line, ranks, seconds, 1)
}

/// What is printed where each task has come to one part of this many of its files.
fn printed_of(line: &str, ranks: u32, seconds: &[u64], parts: u64) -> String {
    let (job, options) = job(line, ranks);
    let run = run(&job, |_, step| {
        let workers = step.streams[0].workers as usize;
        let ops = u64::from(step.streams[0].names().unwrap().names.unwrap()) / parts;
        let did = |seconds: &u64| Did {
            opened: 0,
            first: 10,
            closed: 10 + seconds * 1_000_000,
            ops,
            bytes: 0,
        };
        seconds.iter().take(workers).map(did).collect()
    });
    output(&options, &run, &host()).text
}

#[test]
fn of_a_phase_that_was_cut_short_no_rate_is_printed() {
    let text = printed_of("-d junk -n 4000 -C -S", 4, &[1, 2, 4, 5], 2);
    assert!(text.contains("file creation rates will be measured"));
    assert!(!text.contains("per second"), "{text}");
}

#[test]
fn the_slowest_task_decides_the_total() {
    let text = printed("-d junk -n 4000 -C -U -S -u -s", 4, &[1, 2, 4, 5]);
    expect_file!["../printed/metarates.txt"].assert_eq(&text);
    // 1000 files each in 1, 2, 4 and 5 seconds.
    assert!(text.contains(
        "max rate = 1000.000000 creates per second, min rate = 200.000000 creates per second avg \
         rate = 333.333333 creates per second, total rate = 800.000000 creates per second"
    ));
    let kept = printed("-d junk -n 4000 -S -k", 4, &[1, 1, 1, 1]);
    assert!(
        kept.contains("kept") && kept.contains("a common directory") && kept.contains("stat'd")
    );
    assert!(!kept.contains("creates per second") && !kept.contains("utime"));
}

#[test]
fn a_run_that_broke_off_is_printed_as_far_as_it_went() {
    let (job, options) = job("-d junk -n 4000 -C -S", 4);
    let mut whole = run(&job, |_, step| {
        vec![
            Did { opened: 0, first: 0, closed: 0, ops: 1, bytes: 0 };
            step.streams[0].workers as usize
        ]
    });
    while let Some(last) = whole.steps.last_mut() {
        last.end = None;
        let text = output(&options, &whole, &host()).text;
        assert!(text.starts_with("run parameters:\n"), "{text}");
        assert!(!text.contains("NaN") && !text.contains("inf"), "{text}");
        whole.steps.pop();
    }
}

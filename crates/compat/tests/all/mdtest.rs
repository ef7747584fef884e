//! mdtest: what its lines mean, and what is printed of a run.

use crate::mpi_world::*;
use drivelab_compat::front::{Asked, Job, Refusal, Treatment};
use drivelab_compat::mdtest::known::KNOWN;
use drivelab_compat::mdtest::{Options, Phase, output, parse};
use drivelab_compat::option::Care;
use drivelab_core::op::Action;
use drivelab_core::plan::{Stream, Sync, numbered};
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

fn streams(line: &str, ranks: u32, phase: Phase) -> Vec<Stream> {
    let (job, options) = job(line, ranks);
    let steps = job.plan.steps.iter().zip(&options.keys);
    let own = steps.filter(|(_, key)| key.phase == Some(phase));
    own.flat_map(|(step, _)| step.streams.clone()).collect()
}

#[test]
fn phases_come_in_the_order_of_mdtest() {
    let phases = |line: &str| -> Vec<Phase> {
        job(line, 2).1.keys.iter().filter_map(|key| key.phase).collect()
    };
    use Phase as P;
    let all = [
        P::TreeCreation,
        P::DirectoryCreation,
        P::DirectoryStat,
        P::DirectoryRemoval,
        P::FileCreation,
        P::FileStat,
        P::FileRead,
        P::FileRemoval,
        P::TreeRemoval,
    ];
    assert_eq!(phases("-n 2"), all);
    assert_eq!(phases("-n 2 -D -F"), all);
    assert_eq!(phases("-n 2 -C -E -F"), [P::TreeCreation, P::FileCreation, P::FileRead]);
    assert_eq!(
        phases("-n 2 -r -C -D"),
        [P::TreeCreation, P::DirectoryCreation, P::DirectoryRemoval, P::TreeRemoval]
    );
}

#[test]
fn each_phase_goes_to_the_names_of_a_task_further_on() {
    // As strace showed it of five tasks.
    let shift = |phase, ranks| streams("-n 1 -N 1", ranks, phase)[0].neighbour;
    assert_eq!(shift(Phase::FileCreation, 5), 0);
    assert_eq!(shift(Phase::FileStat, 5), 1);
    assert_eq!(shift(Phase::FileRead, 5), 2);
    assert_eq!(shift(Phase::FileRemoval, 5), 3);
    assert_eq!(shift(Phase::DirectoryStat, 5), 1);
    assert_eq!(shift(Phase::DirectoryRemoval, 5), 3);
    assert_eq!((shift(Phase::FileRead, 2), shift(Phase::FileRemoval, 2)), (0, 1));
    let far = streams("-n 1 -N 18446744073709551615", 4, Phase::FileRemoval);
    assert_eq!(far[0].neighbour, 1);
}

#[test]
fn options_reach_the_plan() {
    let create = |line: &str| streams(line, 2, Phase::FileCreation)[0].clone();
    let usual = create("-n 7 -F");
    assert_eq!((usual.workers, usual.names().unwrap().names, usual.sync), (2, Some(7), Sync::None));
    assert_eq!(
        usual.names().unwrap().form.as_deref(),
        Some("out/test-dir.0-0/mdtest_tree.0/file.mdtest.{worker}.{name}")
    );
    assert_eq!(create("-n 7 -F -y -w 4k").sync, Sync::Fsync(1));
    assert_eq!(create("-n 7 -F -w 4k").names().unwrap().name_bytes.0, 4096);
    assert_eq!(
        streams("-n 7 -w 4k -e 1k", 1, Phase::FileRead)[0].names().unwrap().name_bytes.0,
        1024
    );
    let own = create("-n 7 -F -u -d /mnt/fs");
    assert_eq!(
        own.names().unwrap().form.as_deref(),
        Some("test-dir.0-0/mdtest_tree.{worker}.0/file.mdtest.{worker}.{name}")
    );
    let one = streams("-n 7 -c -F", 2, Phase::FileCreation);
    let shape: Vec<(u32, &str, &[Action])> = one
        .iter()
        .map(|it| {
            (
                it.workers,
                it.names().unwrap().form.as_deref().unwrap(),
                it.names().unwrap().actions.as_slice(),
            )
        })
        .collect();
    assert_eq!(
        shape,
        [
            (1, "out/test-dir.0-0/mdtest_tree.0/file.mdtest.0.{name}", &[Action::Create][..]),
            (1, "out/test-dir.0-0/mdtest_tree.0/file.mdtest.1.{name}", &[Action::Create]),
            (2, "out/test-dir.0-0/mdtest_tree.0/file.mdtest.{worker}.{name}", &[Action::Open]),
        ]
    );
    let several = streams("-n 300 -I 100 -F", 1, Phase::FileStat);
    let forms: Vec<&str> =
        several.iter().map(|it| it.names().unwrap().form.as_deref().unwrap()).collect();
    assert_eq!(
        forms,
        [0, 1, 2]
            .map(|at| format!("out/test-dir.0-{at}/mdtest_tree.0/file.mdtest.{{worker}}.{{name}}"))
    );
    let tree = streams("-I 5 -z 1 -b 2 -F", 1, Phase::FileCreation);
    let forms: Vec<_> = tree
        .iter()
        .filter_map(|it| it.names().unwrap().form.as_deref()?.split("file").nth(1))
        .collect();
    let numbers =
        ["name", "name+5", "name+10"].map(|from| format!(".mdtest.{{worker}}.{{{from}}}"));
    assert_eq!(forms, numbers, "they go on from directory to directory");
    let many = streams("-I 2147483647 -z 1 -b 2 -F", 1, Phase::FileCreation);
    let last = many[2].names().unwrap().form.as_deref().unwrap();
    assert_eq!(numbered(last).map(|(_, first, _)| first), Some(2 * 2_147_483_647));
    assert!(job("-n 2 -C", 1).0.keeps && !job("-n 2", 1).0.keeps);
}

#[test]
fn items_are_counted_as_mdtest_counts_them() {
    let counted = |line: &str| {
        let (_, options) = asked(line, &Still::with(1)).unwrap();
        (options.work.names, options.work.tree.with_items(), options.work.items_of_task())
    };
    assert_eq!(counted("-n 700 -z 1 -b 2"), (233, 3, 699));
    assert_eq!(counted("-n 700 -z 1 -b 2 -L"), (350, 2, 700));
    assert_eq!(counted("-I 70 -z 2 -b 2"), (70, 7, 490));
    assert_eq!(counted("-n 400 -I 100 -z 1 -b 2"), (100, 3, 1200));
    assert_eq!(counted("-I 5 -z 3 -b 1 -L"), (5, 1, 5));
    let scaled = asked("-n 1000", &Still::scaled(4, 1, 3)).unwrap().1;
    assert_eq!(scaled.work.names, 333);
    assert_eq!(asked("-n 1000", &Still::scaled(4, 1, 99_999)).unwrap().1.work.names, 1);
}

#[test]
fn every_option_is_done_or_said_or_refused_by_name() {
    for known in KNOWN {
        let name = known.name();
        let value = match name {
            _ if known.is_flag() => "",
            "-a" => "POSIX",
            "-d" => "/mnt/fs",
            "-z" => "0",
            "-I" => "3",
            _ => "1",
        };
        let line = format!("-n 3 -w 1 {name} {value}");
        let line = match name {
            "-T" | "-E" | "-r" => line + " -C",
            "-W" => line + " -C -F",
            "-X" | "--verify-read" => line + " -e 1 -G 1",
            _ => line,
        };
        let answer = asked(&line, &Still::with(2));
        match known.care {
            Care::Same | Care::InPart(_) | Care::Near(_) => {
                drop(answer.unwrap_or_else(|why| panic!("{line}: {why:?}")))
            }
            Care::Ignored(why) => {
                let (job, _) = answer.unwrap();
                let is_it = |note: &&drivelab_compat::front::Note| {
                    note.treatment == Treatment::Ignored && note.text.contains(why)
                };
                assert!(job.notes.iter().any(|note| is_it(&note)), "{line}");
            }
            Care::Unsupported { .. } => {
                let refusal = answer.map(|_| ()).unwrap_err();
                assert!(refusal.text.starts_with(name), "{line}: {}", refusal.text);
            }
        }
    }
    let Asked::Text(help) = parse(&words("-n 1 -h"), &Still::with(1)).unwrap() else {
        panic!("no help");
    };
    assert!(help.contains("-N N                              stride"), "{help}");
    assert!(help.contains("(refused)") && help.contains("(without effect)"));
}

#[test]
fn names_that_do_not_fit_are_refused() {
    let mut world = Still::with(1);
    let long = "d".repeat(190);
    let refusal = asked(&format!("-n 1 -d {long}"), &world).map(|_| ()).unwrap_err();
    assert!(refusal.text.contains("200 bytes"), "{}", refusal.text);
    // Braces would be places of numbers.
    assert!(asked("-n 1 -d {worker}", &world).is_err());
    world.found.insert("{worker}".into(), drivelab_compat::front::Found::Directory);
    let (job, _) = asked("-n 1 -d {worker}", &world).unwrap();
    assert_eq!(job.target, "{worker}");
    assert_eq!(asked("-n 1 -d /mnt/fs///", &world).unwrap().0.target, "/mnt/fs");
}

fn printed(line: &str, ranks: u32) -> String {
    let (job, options) = job(line, ranks);
    let run = run(&job, |at, step| {
        let stream = match step.streams.first() {
            Some(stream) => stream,
            None => return Vec::new(),
        };
        let ops = u64::from(stream.names().unwrap().names.unwrap());
        // Later tasks and later steps take longer.
        let did = |task: u64| Did {
            opened: 0,
            first: 5 + task,
            closed: 5 + ops * 10 + task * 20 + at as u64,
            ops,
            bytes: 0,
        };
        (0..u64::from(stream.workers)).map(did).collect()
    });
    output(&options, &run, &host()).text
}

#[test]
fn the_table_is_that_of_mdtest() {
    expect_file!["../printed/mdtest.txt"].assert_eq(&printed("-n 5 -d /tmp/md -i 2", 2));
}

#[test]
fn files_alone_have_rates_and_times() {
    let text = printed("-n 500 -F -P -u -N 1 -w 1 -e 1", 4);
    expect_file!["../printed/mdtest-files.txt"].assert_eq(&text);
    let times = printed("-n 500 -F -Z", 4);
    assert!(times.contains("SUMMARY time") && !times.contains("SUMMARY rate"), "{times}");
}

#[test]
fn numbers_of_tasks_have_a_table_each() {
    let text = printed("-n 500 -D -l 4 -s 3", 4);
    expect_file!["../printed/mdtest-sweep.txt"].assert_eq(&text);
}

#[test]
fn what_was_not_done_is_0() {
    let text = printed("-n 5 -C", 1);
    let of = |name: &str| {
        let line = text.lines().find(|line| line.trim_start().starts_with(name)).unwrap();
        line.split_whitespace().nth(2).unwrap().parse::<f64>().unwrap()
    };
    assert!(of("File creation") > 0.0 && of("Tree creation") > 0.0);
    for name in ["Directory stat", "Directory rename", "File read", "File removal", "Tree removal"]
    {
        assert!(of(name) == 0.0, "{name}");
    }
}

#[test]
fn a_run_that_broke_off_is_printed_as_far_as_it_went() {
    let (job, options) = job("-n 5 -i 3 -c", 2);
    let whole = run(&job, |_, step| {
        let workers = step.streams[0].workers as usize;
        vec![Did { opened: 0, first: 0, closed: 0, ops: 5, bytes: 0 }; workers]
    });
    for kept in 0..whole.steps.len() {
        let mut broken = whole.clone();
        broken.steps.truncate(kept);
        if let Some(last) = broken.steps.last_mut() {
            last.end = None;
        }
        let text = output(&options, &broken, &host()).text;
        assert!(!text.contains("NaN") && !text.contains("inf"), "{text}");
    }
}

//! mdtest without I/O, its stonewall with both kinds of items, and its file of each task's results.

use crate::mpi_world::*;
use drivelab_compat::front::{Asked, Job, Refusal};
use drivelab_compat::mdtest::{Options, Phase, output, parse};
use drivelab_core::plan::Engine;

fn asked(line: &str, status: Option<&str>) -> Result<(Job, Options), Refusal> {
    let mut world = Still::with(2);
    world.texts.extend(status.map(|text| ("wall".to_owned(), text.to_owned())));
    let (_, _, args) = launched(line);
    match parse(&args, &world)? {
        Asked::Run { job, options } => Ok((*job, *options)),
        Asked::Text(text) => panic!("{text}"),
    }
}

fn job(line: &str) -> (Job, Options) {
    asked(line, None).unwrap_or_else(|refusal| panic!("{line}: {refusal:?}"))
}

#[test]
fn a_dummy_makes_no_name_and_needs_no_directory() {
    for line in ["-I 20 -C -W 1 -x wall", "-I 20 -T -v", "-I 20 -D -v", "-n 4 -u -y -Y -w 9 -e 9"] {
        let (job, _) = job(&format!("mdtest -a DUMMY {line} -d not/there/at/all"));
        let streams: Vec<_> = job.plan.steps.iter().flat_map(|step| &step.streams).collect();
        assert!(
            !streams.is_empty() && streams.iter().all(|it| it.engine == Engine::Null),
            "{line}"
        );
        assert_eq!((job.target.as_str(), job.notes[0].code), (".", "no_drive"), "{line}");
        assert!(!job.notes.iter().any(|note| note.code == "no_fsync"), "{line}");
        assert_sound(&job);
    }
    let wrong = asked("mdtest -a DUMMY -n 5 -G 1 -e 5 -w 5 -X", None).unwrap_err();
    assert!(wrong.text.contains("what was never written"), "{}", wrong.text);
}

#[test]
fn a_wall_of_both_kinds_is_one_of_files() {
    let (job, options) = job("mdtest -n 9 -C -W 1 -x wall");
    let walled = |phase| {
        let mut keyed = job.plan.steps.iter().zip(&options.keys);
        keyed.find(|(_, key)| key.phase == Some(phase)).unwrap().0.until.wear_out
    };
    assert!(walled(Phase::FileCreation) && !walled(Phase::DirectoryCreation));
    let run = run(&job, |at, _| match options.keys[at].phase {
        Some(Phase::FileCreation) => {
            vec![Did { opened: 0, first: 0, closed: 9, ops: 5, bytes: 0 }; 2]
        }
        _ => vec![Did { opened: 0, first: 0, closed: 9, ops: 9, bytes: 0 }; 2],
    });
    assert_eq!(output(&options, &run, &host()).files[0].bytes, b"5", "of files, not directories");
    // The file says nothing of directories, of which there may be more.
    assert!(
        asked("mdtest -n 9 -T -d /mnt/fs -x wall", Some("5"))
            .unwrap_err()
            .text
            .contains("files alone")
    );
    assert!(asked("mdtest -n 9 -T -d /mnt/fs -x wall", Some("9")).is_ok());
    assert!(asked("mdtest -I 20 -T -d /mnt/fs -x wall", Some("20")).is_ok());
}

#[test]
fn each_task_has_a_row_of_its_own() {
    let (job, options) =
        job("mdtest -n 3 -F -C -i 2 -d /mnt/fs --saveRankPerformanceDetails=ranks.csv");
    assert_eq!(job.results[0].path, "ranks.csv");
    let run = run(&job, |at, _| match (options.keys[at].phase, options.keys[at].iteration) {
        (Some(Phase::FileCreation), iteration) => {
            let slow = 1000 * (1 + u64::from(iteration));
            let of = |closed| Did { opened: 0, first: 0, closed, ops: 3, bytes: 0 };
            vec![of(slow), of(500)]
        }
        _ => vec![Did { opened: 0, first: 0, closed: 10, ops: 1, bytes: 0 }],
    });
    let output = output(&options, &run, &host());
    let text = std::str::from_utf8(&output.files[0].bytes).unwrap();
    let rows: Vec<&str> = text.lines().collect();
    assert_eq!(rows[0].split(',').count(), 24);
    assert!(rows[0].starts_with("rank,items,rate-Directory creation,time-Directory creation,"));
    // The slower iteration, as mdtest 4.1 has it: 6 files in 2 ms, and the tree.
    let all = "all,3,,,,,,,,,,,3.0000000000e+03,2.0000000000e-03,,,,,,,1.0000000000e+05,\
               1.0000000000e-05,,";
    assert_eq!(rows[1], all);
    let task = |task: u32, cells: &str| format!("{task},,,,,,,,,,,,{cells},,,,,,");
    assert_eq!(
        rows[2..],
        [
            task(0, "3.0000000000e+03,1.0000000000e-03"),
            task(1, "6.0000000000e+03,5.0000000000e-04"),
            task(0, "1.5000000000e+03,2.0000000000e-03"),
            task(1, "6.0000000000e+03,5.0000000000e-04"),
        ]
    );
}

//! mdtest's lines that go on where an earlier one ended: its stonewall, and names that were left.

use crate::mpi_world::*;
use drivelab_compat::front::{Asked, Job, Refusal};
use drivelab_compat::mdtest::{Options, Phase, output, parse};
use drivelab_core::op::Action;
use drivelab_core::plan::{Content, Names, Step};
use drivelab_core::tally::Stonewalled;
use drivelab_core::units::Span;

/// As IO500 types it.
const HARD: &str = "mdtest -n 1000000 -t -F -P -w 3901 -e 3901 -N 1 -G 27 -d /mnt/fs -x /tmp/hard";

fn asked(line: &str, status: Option<&str>) -> Result<(Job, Options), Refusal> {
    let mut world = Still::with(2);
    world.texts.extend(status.map(|text| ("/tmp/hard".to_owned(), text.to_owned())));
    let (_, _, args) = launched(line);
    match parse(&args, &world)? {
        Asked::Run { job, options } => Ok((*job, *options)),
        Asked::Text(text) => panic!("{text}"),
    }
}

/// The steps of a phase.
fn steps<'a>(job: &'a Job, options: &Options, phase: Phase) -> Vec<&'a Step> {
    let keyed = job.plan.steps.iter().zip(&options.keys);
    keyed.filter(|(_, key)| key.phase == Some(phase)).map(|(step, _)| step).collect()
}

fn names(step: &Step) -> &Names {
    step.streams[0].names().unwrap()
}

#[test]
fn all_go_on_to_what_the_fastest_made() {
    let (job, options) = asked(&format!("{HARD} -C -Y -W 300"), None).unwrap();
    let made = steps(&job, &options, Phase::FileCreation);
    assert_eq!(made.len(), 2, "items, and the sync in their time");
    assert_eq!(made[0].until.elapsed, Some(Span(300_000_000_000)));
    assert!(made[0].until.wear_out && !made[1].until.wear_out);
    assert_eq!(made[0].streams[0].content, Content::Counting(27));
    assert_eq!(names(made[1]).actions, [Action::Flush]);
    assert!(names(made[1]).of_directories && job.keeps);
    assert_eq!(job.results[0].path, "/tmp/hard");
    assert_sound(&job);
    let text = |line: &str| asked(line, None).unwrap_err().text;
    assert!(text("mdtest -n 5 -F -W 1").contains("together with other phases"));
    assert!(text("mdtest -n 5 -C -i 2 -W 1").contains("together with other phases"));
    assert!(text("mdtest -n 5 -C -F -z 1 -b 2 -W 1").contains("several directories"));
    // Without items there is nothing to be stopped, and mdtest takes it.
    assert!(asked("mdtest -a POSIX -W 2", None).is_ok());
}

#[test]
fn later_lines_go_as_far_as_the_status_file_says() {
    for (line, phase, action) in [
        ("-T", Phase::FileStat, Action::Stat),
        ("-E", Phase::FileRead, Action::Open),
        ("-r", Phase::FileRemoval, Action::Unlink),
    ] {
        let (job, options) = asked(&format!("{HARD} {line}"), Some("28169")).unwrap();
        let of = names(steps(&job, &options, phase)[0]);
        assert_eq!((of.names, &of.actions[..], of.existing), (Some(28_169), &[action][..], true));
        assert!(steps(&job, &options, Phase::TreeCreation).is_empty());
        let removes = steps(&job, &options, Phase::TreeRemoval).len();
        assert_eq!((removes, job.keeps), if line == "-r" { (1, false) } else { (0, true) });
        assert!(job.results.is_empty(), "it is read, and not written");
        assert_sound(&job);
        // Where it says nothing, what the line says holds.
        let (job, options) = asked(&format!("{HARD} {line}"), None).unwrap();
        assert_eq!(names(steps(&job, &options, phase)[0]).names, Some(1_000_000));
    }
    let (job, options) = asked(&format!("{HARD} -E -X"), Some("5")).unwrap();
    let read = &steps(&job, &options, Phase::FileRead)[0].streams[0];
    assert!(read.verify && read.content == Content::Counting(27) && read.neighbour == 0);
    assert_sound(&job);
    let refused = |line: &str| asked(line, Some("5")).unwrap_err().text;
    assert!(refused("mdtest -n 9 -E -X").contains("-X needs to know"));
    assert!(refused("mdtest -n 9 -T -d sim:x25-e").contains("a simulated drive keeps none"));
    assert!(refused("mdtest -n 9 -T -d /mnt/fs/nothing").contains("Unable to find"));
}

#[test]
fn the_status_file_holds_what_mdtests_holds() {
    let (job, options) = asked(&format!("{HARD} -C -W 1"), None).unwrap();
    let mut run = run(&job, |at, _| match options.keys[at].phase {
        Some(Phase::FileCreation) => {
            vec![Did { opened: 0, first: 0, closed: 1_077_000, ops: 28_169, bytes: 0 }; 2]
        }
        _ => vec![Did { opened: 0, first: 0, closed: 10, ops: 1, bytes: 0 }],
    });
    for phase in run.steps.iter_mut().flat_map(|step| &mut step.end).flat_map(|end| &mut end.phases)
    {
        if phase.issued > 1 {
            let operations = if phase.worker == 0 { 28_169 } else { 27_047 };
            phase.stonewall = Some(Stonewalled { operations, at: phase.closed });
        }
    }
    let output = output(&options, &run, &host());
    assert_eq!(output.files[0].bytes, b"28169", "without an end of the line");
    // mdtest 4.1 printed so of such a run.
    let told = "2 tasks, 2000000 files\nContinue stonewall hit min: 27047 max: 28169 avg: 27608.0 \
                \n\n\nSUMMARY rate";
    assert!(output.text.contains(told), "{}", output.text);
    let rate = output.text.lines().find(|line| line.contains("File creation")).unwrap();
    assert!(rate.contains("52310.121"), "{rate}");
}

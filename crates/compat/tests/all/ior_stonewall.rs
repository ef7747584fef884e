//! IOR's stonewall that is worn out: how far tasks go, what the files of it say, what is printed.

use crate::mpi_world::*;
use drivelab_compat::front::{Asked, Existing, Found, Job, Refusal};
use drivelab_compat::ior::{Options, output, parse};
use drivelab_core::plan::{Content, Pattern, Stream};
use drivelab_core::run::Run;
use drivelab_core::tally::Stonewalled;
use drivelab_core::units::{Size, Span};

fn asked(line: &str, world: &Still) -> Result<(Job, Options), Refusal> {
    let (_, program, args) = launched(line);
    match parse(&program, &args, world)? {
        Asked::Run { job, options } => Ok((*job, *options)),
        Asked::Text(text) => panic!("{text}"),
    }
}

/// As IO500 types them, with less to do.
const EASY: &str = "ior -C -Q 1 -g -G 271 -k -e -o /scratch/easy \
                    -O stoneWallingStatusFile=/tmp/wall \
                    -O saveRankPerformanceDetailsCSV=/tmp/ranks.csv -t 2m -b 9920000m -F -a POSIX";
const HARD: &str = "ior -C -Q 1 -g -G 27 -k -e -o /scratch/hard \
                    -O stoneWallingStatusFile=/tmp/wall -t 47008 -b 47008 -s 10000000 -a POSIX";
const WRITES: &str = "-w -D 300 -O stoneWallingWearOut=1";

fn with_status(status: &str) -> Still {
    let mut world = Still::with(2);
    world.texts.insert("/tmp/wall".into(), status.into());
    for rank in 0..2 {
        world.found.insert(format!("/scratch/easy.{rank:08}"), Found::File { bytes: 555 << 21 });
    }
    world.found.insert("/scratch/hard".into(), Found::File { bytes: 2 * 2935 * 47_008 });
    world
}

fn stream(job: &Job) -> &Stream {
    let step = job.plan.steps.iter().find(|step| !step.streams.is_empty()).unwrap();
    &step.streams[0]
}

#[test]
fn all_go_on_to_what_the_farthest_has_done() {
    for line in [EASY, HARD] {
        let (job, _) = asked(&format!("{line} {WRITES}"), &Still::with(2)).unwrap();
        let step = job.plan.steps.last().unwrap();
        assert_eq!(step.until.elapsed, Some(Span(300_000_000_000)));
        assert!(step.until.wear_out && step.until.passes == Some(1));
        assert!(job.plan.files.iter().all(|file| file.grows), "as long as what is written");
        let places: Vec<&str> = job.results.iter().map(|result| result.path.as_str()).collect();
        let expected: &[&str] =
            if line == EASY { &["/tmp/wall", "/tmp/ranks.csv"] } else { &["/tmp/wall"] };
        assert_eq!(places, expected);
        assert!(job.results.iter().all(|result| result.existing == Existing::ReplaceOwn));
        assert_sound(&job);
    }
    let (job, _) = asked("ior -w -E -k -o old -b 1m", &Still::with(2)).unwrap();
    assert!(!job.plan.files[0].grows, "-E leaves what is there");
}

#[test]
fn a_later_line_reads_as_far_as_the_status_file_says() {
    let (job, _) = asked(&format!("{EASY} -r -R"), &with_status("555")).unwrap();
    let read = stream(&job);
    assert_eq!((read.length, read.content), (Some(Size(555 << 21)), Content::Counting(271)));
    assert!(read.verify && job.plan.files.iter().all(|file| file.size == Size(555 << 21)));
    let (job, _) = asked(&format!("{HARD} -r -R"), &with_status("2935")).unwrap();
    let block = Pattern::Segments { block: Size(47_008), segments: Some(2935) };
    assert_eq!(stream(&job).pattern, block);
    assert_sound(&job);
    let text = |line: &str, status: &str| asked(line, &with_status(status)).unwrap_err().text;
    assert!(text(&format!("{EASY} -r"), "556").contains("hit EOF prematurely"));
    // Of a status that says nothing all is read, as in IOR.
    for status in ["", "0", "x"] {
        assert!(text(&format!("{EASY} -r"), status).contains("hit EOF prematurely"), "{status}");
    }
    let line = "ior -r -b 8k -t 4k -o /scratch/hard -O stoneWallingStatusFile=/tmp/wall -s 9";
    assert!(text(line, "3").contains("end within a block of 2"));
    assert!(text(&format!("{line} -z -s 1"), "1").contains("-z with a status file"));
    let (job, _) = asked(line, &with_status("99")).unwrap();
    assert!(job.notes.iter().all(|note| note.code != "no_status"), "99 are more than there are");
}

#[test]
fn a_status_file_alone_is_refused_in_iors_words() {
    let text = |line: &str| asked(line, &Still::with(2)).unwrap_err().text;
    assert!(text("ior -w -D 1 -O stoneWallingStatusFile=s").contains("only sensible for a write"));
    let both = text("ior -w -r -D 1 -O stoneWallingWearOut=1,stoneWallingStatusFile=s");
    assert!(both.contains("writing and reading in one line"), "{both}");
}

fn of_step(run: &mut Run, change: impl Fn(u32) -> Option<Stonewalled>) {
    for step in &mut run.steps {
        for phase in step.end.iter_mut().flat_map(|end| &mut end.phases) {
            phase.stonewall =
                change(phase.worker).map(|wall| Stonewalled { at: phase.first + wall.at, ..wall });
        }
    }
}

#[test]
fn the_files_hold_what_iors_hold() {
    let (job, options) = asked(&format!("{EASY} {WRITES}"), &Still::with(2)).unwrap();
    // IOR 4.1 printed of such a run: min 477, max 555, and 555 into the status file.
    let did = |closed| Did { opened: 0, first: 0, closed, ops: 555, bytes: 555 << 21 };
    let mut run = run(&job, |at, _| match job.plan.steps[at].streams.len() {
        0 => Vec::new(),
        _ => vec![did(1_000_000), did(1_562_216)],
    });
    of_step(&mut run, |worker| {
        let operations = if worker == 0 { 555 } else { 477 };
        Some(Stonewalled { operations, at: 1_003_000_000 })
    });
    let output = output(&options, &run, &host());
    let texts: Vec<&str> =
        output.files.iter().map(|file| std::str::from_utf8(&file.bytes).unwrap()).collect();
    assert_eq!(texts[0], "555", "as many as each task has written, without an end of the line");
    assert_eq!(
        texts[1],
        "access,rank,runtime-with-openclose,runtime,throughput-withopenclose,throughput\n\
         write,0,1.0000000000e+00,1.0000000000e+00,1.1639193600e+09,1.1639193600e+09\n\
         write,1,1.5622160000e+00,1.5622160000e+00,7.4504380956e+08,7.4504380956e+08\n"
    );
    let wall = "stonewalling pairs accessed min: 477 max: 555 -- min data: 0.9 GiB mean data: 1.0 \
                GiB time: 1.0s\n";
    assert!(output.text.contains(wall), "{}", output.text);
    assert!(output.text.contains("Stat() of aggregate file size      = 2327838720\n"));
    let row = output.text.lines().rfind(|line| line.starts_with("write")).unwrap();
    // The mean of 516 transfers in 1.003 s; IOR printed 1028.85 of 1.00309 s.
    assert!(row.contains("      1.00       1028.91"), "{row}");
}

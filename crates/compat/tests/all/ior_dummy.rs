//! IOR without I/O, and its random orders over several segments: what is planned and printed.

use crate::mpi_world::*;
use drivelab_compat::front::{Asked, Found, Job, Refusal};
use drivelab_compat::ior::{Options, output, parse};
use drivelab_core::offsets::Offsets;
use drivelab_core::op::DataOp;
use drivelab_core::plan::{Engine, Pattern, Stream};
use drivelab_core::units::{Size, Span};
use std::collections::BTreeSet;

const KIB: u64 = 1024;

fn asked(line: &str, world: &Still) -> Result<(Job, Options), Refusal> {
    let (_, program, args) = launched(line);
    match parse(&program, &args, world)? {
        Asked::Run { job, options } => Ok((*job, *options)),
        Asked::Text(text) => panic!("{text}"),
    }
}

fn job(line: &str) -> (Job, Options) {
    asked(line, &Still::with(2)).unwrap_or_else(|refusal| panic!("{line}: {refusal:?}"))
}

fn refused(line: &str) -> String {
    asked(line, &Still::with(2)).unwrap_err().text
}

fn streams(job: &Job) -> Vec<&Stream> {
    job.plan.steps.iter().flat_map(|step| &step.streams).collect()
}

fn codes(job: &Job) -> Vec<&str> {
    job.notes.iter().map(|note| note.code).collect()
}

/// The transfers of a task, in their order.
fn records(stream: &Stream, worker: u32) -> Vec<u64> {
    let mut all = Offsets::new(stream, worker, stream.length.unwrap().0, 7).unwrap();
    let next = |_| DataOp::try_from(all.next().0).unwrap().offset / stream.size.0;
    let count = Offsets::new(stream, worker, stream.length.unwrap().0, 7).unwrap();
    (0..count.pass_operations().unwrap()).map(next).collect()
}

#[test]
fn a_dummy_moves_as_much_as_it_would_and_touches_nothing() {
    for line in ["-s 15 -t 1000 -b 1000", "-F -s 15 -t 1000 -b 1000", "-z -t 1000 -b 15000"] {
        let (job, _) = job(&format!("ior -a DUMMY {line} -o nowhere/f"));
        assert!(job.plan.files.is_empty() && job.target == ".", "{line}");
        assert_eq!(streams(&job).len(), 2, "{line}: a write and a read");
        for stream in streams(&job) {
            assert_eq!((stream.engine, stream.workers), (Engine::Null, 2));
            assert_eq!([0, 1].map(|task| records(stream, task).len()), [15, 15], "{line}");
        }
        assert!(codes(&job).contains(&"no_drive") && !codes(&job).contains(&"no_fsync"), "{line}");
        assert_sound(&job);
    }
    assert!(refused("ior -a DUMMY -w -W").contains("check what was never written"));
    assert!(refused("ior -a DUMMY --dummy.delay-close=5").contains("dummy.delay-close"));
    assert!(refused("IOR -a DUMMY").contains("not compiled with DUMMY"));
    // A file that is there is none of its own.
    let (_, options) = job("ior -a DUMMY -w -o old");
    assert_eq!(options.overwritten, [Vec::<String>::new()]);
}

#[test]
fn what_a_dummy_prints_has_no_file_in_it() {
    let (job, options) = job("ior -a DUMMY -w -t 1m -b 1m --dummy.delay-create=1000");
    assert_eq!(streams(&job)[0].start_after, Span(1_000_000));
    // Opened when the wait of a create is over, which began a millisecond before.
    let did = Did { opened: 1000, first: 1100, closed: 1300, ops: 1, bytes: 1 << 20 };
    let run = run(&job, |_, _| vec![did; 2]);
    let text = output(&options, &run, &host()).text;
    assert!(text.contains("api                 : DUMMY\n"), "{text}");
    assert!(text.contains("FS                  : 0.0 GiB   Used FS: 0.0%   Inodes: 0.0 Mi"));
    assert!(text.contains("Stat() of aggregate file size      = 0\n"), "{text}");
    let row = text.lines().find(|line| line.starts_with("write ")).unwrap();
    let cells: Vec<&str> = row.split_whitespace().collect();
    assert_eq!((cells[6], cells[7], cells[9]), ("0.001100", "0.000200", "0.001300"), "{row}");
    let last = text.lines().rfind(|line| line.starts_with("write ")).unwrap();
    assert!(last.ends_with("DUMMY      0"), "{last}");
}

#[test]
fn waits_of_transfers_are_in_their_time() {
    let (job, options) = job("ior -a DUMMY -w -t 1m -b 2m --dummy.delay-xfer=100");
    let think = streams(&job)[0].arrival.think().unwrap();
    assert_eq!((think.time, think.first), (Span(100_000), true));
    let did = Did { opened: 0, first: 100, closed: 200, ops: 2, bytes: 2 << 20 };
    let text = output(&options, &run(&job, |_, _| vec![did; 2]), &host()).text;
    let row = text.lines().find(|line| line.starts_with("write ")).unwrap();
    assert_eq!(row.split_whitespace().nth(7), Some("0.000200"), "{row}");
    // On files there is nothing that would wait.
    let plain = asked("ior -w --dummy.delay-xfer=100", &Still::with(2)).unwrap().0;
    assert_eq!(streams(&plain)[0].arrival.think(), None);
}

#[test]
fn a_script_goes_from_files_to_none_and_options_behind_it_hold() {
    let mut world = Still::with(2);
    let script = "IOR START\napi=posix\nwriteFile =1\nfilePerProc=1\nkeepFile=1\n\
                  transferSize=10k\nblockSize=20k\nrun\n--dummy.delay-create=1000\n\
                  useo_direct=0\napi=dummy\n  ior stop\n";
    world.texts.insert("both.ior".into(), script.into());
    let (job, options) = asked("ior -f both.ior -o /tmp/own", &world).unwrap();
    let names: Vec<&str> = job.plan.files.iter().map(|file| file.name.as_str()).collect();
    assert_eq!(names, ["own.00000000", "own.00000001"]);
    let engines: Vec<Engine> = streams(&job).iter().map(|stream| stream.engine).collect();
    assert_eq!(engines, [Engine::Psync, Engine::Null]);
    assert_eq!(streams(&job)[1].start_after, Span(1_000_000));
    assert_eq!((job.target.as_str(), job.keeps, options.tests.len()), ("/tmp", true, 2));
    let acts = job.plan.steps.iter().filter(|step| step.act.is_some()).count();
    assert_eq!(acts, 1, "blocks of old files are given back once, before files are written");
    assert_sound(&job);
    // In 2.10.3 they do not hold.
    assert!(asked("IOR -f two.ior -o /tmp/own", &Still::with(2)).unwrap().0.target == "/mnt/fs");
}

#[test]
fn results_in_a_file_leave_the_warnings_on_the_terminal() {
    let (job, options) =
        job("ior -a DUMMY -w -t 1m -b 1m -O summaryFormat=JSON -O summaryFile=OUT.json");
    let did = Did { opened: 0, first: 0, closed: 10, ops: 1, bytes: 1 << 20 };
    let output = output(&options, &run(&job, |_, _| vec![did; 2]), &host());
    assert!(output.text.starts_with("WARNING: Expected aggregate"), "{}", output.text);
    let json: serde_json::Value = serde_json::from_slice(&output.files[0].bytes).unwrap();
    assert_eq!(json["tests"][0]["Capacity"], "0.0 GiB");
    assert_eq!(json["summary"][0]["API"], "DUMMY");
}

#[test]
fn random_segments_follow_each_other() {
    let (shared, _) = job("ior -w -z -t 16k -b 64k -s 3");
    let of = |task| records(streams(&shared)[0], task);
    let segments = |records: Vec<u64>, each: u64| -> Vec<u64> {
        records.into_iter().map(|record| record / each).collect()
    };
    for task in 0..2 {
        assert_eq!(segments(of(task), 8), [0, 0, 0, 0, 1, 1, 1, 1, 2, 2, 2, 2]);
    }
    let all: BTreeSet<u64> = of(0).into_iter().chain(of(1)).collect();
    assert_eq!(all, (0..24).collect(), "each transfer once, and by one of them");
    assert_ne!(of(0)[..4], [0, 1, 2, 3]);
    let (each, _) = job("ior -w -z -F -t 16k -b 64k -s 3");
    let own = records(streams(&each)[0], 1);
    assert_eq!(segments(own.clone(), 4), [0, 0, 0, 0, 1, 1, 1, 1, 2, 2, 2, 2]);
    assert_eq!(own.into_iter().collect::<BTreeSet<u64>>(), (0..12).collect());
    assert!(codes(&each).contains(&"order_of_segments"));
    assert!(refused("ior -z -F -t 16k -b 64k -s 3 -o sim:x25-e").contains("on a drive"));
}

#[test]
fn twice_random_draws_blocks_of_the_file_that_is_there() {
    let line = "ior -r -k -t 256k -b 1m -s 30 -o old";
    let (drawn, options) = job(&format!("{line} -z -z"));
    let stream = streams(&drawn)[0];
    assert_eq!(stream.length, Some(Size(16 * MIB)), "as large as the file is, and not the line");
    for task in 0..2 {
        let records = records(stream, task);
        assert_eq!(records.len(), 120);
        for block in records.chunks(4) {
            let first = block[0];
            assert!(first.is_multiple_of(4), "{block:?}");
            assert_eq!(block, [first, first + 1, first + 2, first + 3]);
        }
        let places: BTreeSet<u64> = records.iter().map(|record| record / 4).collect();
        assert!((8..=16).contains(&places.len()), "{places:?}");
    }
    assert_eq!((options.there, codes(&drawn)[0]), (vec![Some(16 * MIB)], "drawn_blocks"));
    // Blocks of one transfer are drawn without a list.
    let (single, _) = job("ior -r -k -t 4k -b 4k -s 10000000 -D 1 -z -z -o old");
    assert_eq!(streams(&single)[0].pattern, Pattern::Uniform);
    assert_eq!(single.plan.steps[0].until.operations, Some(20_000_000));
    assert_sound(&single);
    for (line, words) in [
        ("ior -w -z -z -b 64k -t 16k", "with writing"),
        ("ior -r -R -G 5 -z -z -b 64k -t 16k -o old", "-W or -R"),
        ("ior -r -z -z -b 64k -t 16k -s 20000 -o old", "65536 transfers"),
        ("ior -r -z -z -b 64k -t 16k -o short", "no whole block"),
        ("ior -r -z -z -b 64k -t 16k -o gone", "No such file"),
        ("ior -r -z -z -b 64k -t 16k -o sim:x25-e", "on a drive"),
    ] {
        assert!(refused(line).contains(words), "{line}: {}", refused(line));
    }
    let mut world = Still::with(2);
    world.found.insert("old.00000001".into(), Found::File { bytes: 64 * KIB });
    world.found.insert("old.00000000".into(), Found::File { bytes: 192 * KIB });
    let (each, _) = asked("ior -r -k -F -z -z -b 64k -t 16k -o old", &world).unwrap();
    assert_eq!(streams(&each)[0].length, Some(Size(64 * KIB)), "as small as the smallest");
}

#[test]
fn a_cell_too_long_for_its_column_stands_apart() {
    let (job, options) = job("ior -a DUMMY -w -t 2m -b 9920000m -F");
    let did = Did { opened: 0, first: 0, closed: 10, ops: 1, bytes: 2 << 20 };
    let text = output(&options, &run(&job, |_, _| vec![did; 2]), &host()).text;
    assert!(text.contains(" 10158080000 2048.00    "), "{text}");
}

//! IOR: what its lines mean, and what is printed of a run.

use crate::mpi_world::*;
use drivelab_compat::front::{Asked, Found, Job, Output, Refusal, Treatment};
use drivelab_compat::ior::known::{Having, KNOWN};
use drivelab_compat::ior::{Access, Era, Options, output, parse};
use drivelab_compat::option::Care;
use drivelab_core::offsets::Offsets;
use drivelab_core::op::DataOp;
use drivelab_core::plan::{Content, IoMode, Stream, Sync};
use drivelab_core::tally::Mismatch;
use expect_test::expect_file;

fn asked(line: &str, world: &Still) -> Result<(Job, Options), Refusal> {
    let (_, program, args) = launched(line);
    match parse(&program, &args, world)? {
        Asked::Run { job, options } => Ok((*job, *options)),
        Asked::Text(text) => panic!("{text}"),
    }
}

fn job(line: &str, ranks: u32) -> (Job, Options) {
    asked(line, &Still::with(ranks)).unwrap_or_else(|refusal| panic!("{line}: {refusal:?}"))
}

fn stream(line: &str, ranks: u32, access: Access) -> Stream {
    let (job, options) = job(line, ranks);
    let at = options.keys.iter().position(|key| key.access == access).unwrap();
    job.plan.steps[at].streams[0].clone()
}

/// The offsets of a task, as our own generator has them.
fn offsets(stream: &Stream, worker: u32) -> Vec<u64> {
    let mut all = Offsets::new(stream, worker, stream.length.unwrap().0, 7).unwrap();
    let count = all.pass_operations().unwrap();
    (0..count).map(|_| all.next()).map(|(op, _)| DataOp::try_from(op).unwrap().offset).collect()
}

#[test]
fn tasks_go_where_ior_goes() {
    // Both as strace showed them of 2.10.3 and 4.0.0.
    for program in ["IOR", "ior"] {
        let line = format!("{program} -b 8k -t 4k -s 2");
        for access in [Access::Write, Access::Read] {
            let shared = stream(&line, 2, access);
            assert_eq!(offsets(&shared, 0), [0, 4096, 16384, 20480], "{program}");
            assert_eq!(offsets(&shared, 1), [8192, 12288, 24576, 28672], "{program}");
        }
        let each = stream(&(line + " -F"), 2, Access::Write);
        assert_eq!(offsets(&each, 1), [0, 4096, 8192, 12288]);
        assert_eq!((each.first_file_of(0), each.first_file_of(1)), (0, 1));
    }
    let random = stream("IOR -z -F -b 16k -t 4k -s 2", 2, Access::Write);
    let mut sorted = offsets(&random, 1);
    sorted.sort_unstable();
    assert_eq!(sorted, (0..8).map(|block| block * 4096).collect::<Vec<u64>>());
    // 4.x reads in the order in which it wrote, 2.10.3 in another one.
    let orders =
        |line: &str| [Access::Write, Access::Read].map(|access| stream(line, 2, access).order);
    assert_eq!(orders("ior -z -F -b 64k -t 4k"), [Some(1), Some(1)]);
    assert_eq!(orders("IOR -z -F -b 64k -t 4k"), [None, None]);
}

#[test]
fn reads_are_shifted_by_nodes() {
    let shift = |line: &str, ranks| stream(line, ranks, Access::Read).neighbour;
    // All tasks of one node: IOR comes back to the task itself.
    for line in ["IOR -C -F", "ior -C -F", "ior -C -Q 3 -F", "ior -C"] {
        assert_eq!(shift(line, 4), 0, "{line}");
    }
    // 4.x counts those that stand by.
    assert_eq!(shift("ior -C -F -N 3", 4), 1);
    assert_eq!(shift("ior -C -Q 2 -F -N 3", 4), 2);
    assert_eq!(shift("IOR -C -F -N 3", 4), 0);
    let check = |line: &str| stream(line, 4, Access::CheckWrite).neighbour;
    assert_eq!(check("ior -C -F -N 3 -w -W"), 2);
    assert_eq!(check("IOR -C -F -w -W"), 0);
    for ranks in 2..9 {
        let drawn = shift("ior -Z -F", ranks);
        assert!(drawn > 0 && drawn < ranks);
    }
    assert_eq!(shift("ior -Z -F", 1), 0);
    let (job, _) = job("ior -Z -X -7 -F -i 40", 9);
    let drawn: std::collections::BTreeSet<u32> =
        job.plan.steps.iter().flat_map(|step| &step.streams).map(|it| it.neighbour).collect();
    assert!(drawn.len() > 4, "a negative seed draws anew: {drawn:?}");
}

#[test]
fn options_reach_the_plan() {
    let write = |line: &str| stream(line, 2, Access::Write);
    assert_eq!(write("ior -e").sync, Sync::End);
    assert_eq!(write("ior -Y").sync, Sync::Fsync(1));
    assert_eq!(write("ior -Y -e").sync, Sync::Fsync(1));
    assert_eq!(write("ior").sync, Sync::None);
    for line in ["IOR -B", "ior -B", "ior --posix.odirect", "ior -O useO_DIRECT=1"] {
        assert_eq!(write(line).io, IoMode::Direct, "{line}");
    }
    assert_eq!(write("ior").io, IoMode::Buffered);
    // The data is IOR's own, so that either tool checks what the other wrote.
    assert!(!write("ior -w -W").stamp && write("IOR -w -W").stamp && write("IOR -G 64").stamp);
    assert_eq!(write("ior -G 271").content, Content::Counting(271));
    let read = stream("ior -w -r -R -G 271", 2, Access::Read);
    assert_eq!((read.content, read.pass), (Content::Counting(271), None));
    assert!(stream("ior -w -r -R", 1, Access::Read).verify);
    assert!(!stream("IOR -w -r -R", 1, Access::Read).verify);
    assert!(stream("IOR -w -r -R", 1, Access::CheckRead).verify);
    let names = |line: &str| -> Vec<String> {
        job(line, 2).0.plan.files.iter().map(|file| file.name.clone()).collect()
    };
    assert_eq!(names("ior -F"), ["testFile.00000000", "testFile.00000001"]);
    assert_eq!(names("ior -o ./x"), ["x"]);
    assert_eq!(names("ior -o /x -m -i 2"), ["x.0", "x.1"]);
    assert_eq!(names("ior -F -m -i 2 -o sub/x")[2], "x.00000000.1");
    let keeps = |line: &str| job(line, 2).0.keeps;
    assert!(keeps("ior -k") && keeps("ior -r -o old -b 1m") && keeps("ior -K -w -W"));
    assert!(!keeps("ior") && !keeps("ior -K"));
    let removes =
        |line: &str| job(line, 2).0.plan.steps.iter().filter(|step| step.name == "remove").count();
    assert_eq!(removes("ior -i 3"), 3);
    assert_eq!(removes("ior -i 3 -E"), 0);
    assert_eq!(removes("ior -i 3 -m"), 3);
    assert_eq!(removes("ior -i 3 -m -k"), 1);
}

#[test]
fn sizes_are_scaled_in_segments_and_then_in_transfers() {
    let scaled = |line: &str, numerator, denominator| {
        let (_, options) = asked(line, &Still::scaled(4, numerator, denominator)).unwrap();
        (options.tests[0].block_bytes, options.tests[0].segments)
    };
    let article = "IOR -b 64k -F -s 200000 -t 4k";
    assert_eq!(scaled(article, 1, 1), (65_536, 200_000));
    assert_eq!(scaled(article, 1, 1000), (65_536, 200));
    assert_eq!(scaled(article, 1, 400_000), (32_768, 1));
    assert_eq!(scaled(article, 1, u64::MAX), (4096, 1));
    assert_eq!(scaled(article, 2, 1), (65_536, 400_000));
    assert_eq!(scaled("ior -b 1g -t 1m", 1, 1024), (1 << 20, 1));
    assert_eq!(scaled("ior -b 1g -t 1m", 1, 3), (341 << 20, 1));
}

#[test]
fn every_option_is_done_or_said_or_refused_by_name() {
    for era in [Era::Old, Era::New] {
        let program = if era == Era::Old { "IOR" } else { "ior" };
        for known in KNOWN {
            let usual = match known.own.name {
                "api" => "POSIX",
                "testFile" => "x",
                "blockSize" | "transferSize" => "64k",
                "dataPacketType" => "random",
                "summaryFormat" => "JSON",
                _ => "1",
            };
            // On a line of its own -R needs what 4.x wants with it, and so does a status file.
            let with = match known.own.name {
                "checkRead" => "-G 1 -w",
                "stoneWallingStatusFile" => "-w -O stoneWallingWearOut=1",
                _ => "-w -W -k -b 64k -t 4k",
            };
            let is_own = known.own.having != Having::New || era == Era::New;
            let mut lines = Vec::new();
            for typed in known.typed_in(era) {
                let name = typed.split(' ').next().unwrap();
                let value = if known.is_flag() { "" } else { usual };
                lines.push(format!("{program} {with} {name} {value}"));
            }
            if is_own {
                lines
                    .push(format!("{program} {with} -O {}={usual}", known.own.name.to_uppercase()));
            }
            for line in lines {
                // -D contradicts the checks.
                let line = if known.own.name == "deadlineForStonewalling" {
                    line.replace("-W ", "")
                } else {
                    line
                };
                let answer = asked(&line, &Still::with(2));
                match known.care {
                    Care::Same | Care::InPart(_) | Care::Near(_) => {
                        drop(answer.unwrap_or_else(|why| panic!("{line}: {why:?}")))
                    }
                    Care::Ignored(reason) => {
                        let (job, _) = answer.unwrap();
                        let said = job.notes.iter().any(|note| {
                            note.treatment == Treatment::Ignored && note.text.contains(reason)
                        });
                        assert!(said || known.own.name == "setAlignment", "{line}");
                    }
                    Care::Unsupported { .. } => {
                        let refusal = answer.map(|_| ()).unwrap_err();
                        assert!(refusal.text.contains(known.own.name), "{line}: {}", refusal.text);
                    }
                }
            }
        }
    }
}

#[test]
fn help_lists_what_there_is() {
    for program in ["IOR", "/usr/bin/ior"] {
        let Asked::Text(text) = parse(program, &words("-b 4k -h -t x"), &Still::with(1)).unwrap()
        else {
            panic!("no help");
        };
        assert!(text.contains("-b N                    blockSize: bytes of"), "{text}");
        let refused =
            text.lines().find(|line| line.trim_start().starts_with("-T N")).expect("a line of -T");
        assert!(refused.ends_with("no repetition begins (refused)"), "{refused}");
        assert_eq!(text.contains("--posix.odirect"), program != "IOR");
    }
}

#[test]
fn files_to_read_must_be_there() {
    let mut world = Still::with(2);
    let line = "ior -r -F -o x -b 1m -t 1m -s 2";
    assert!(asked(line, &world).unwrap_err().text.contains("No such file"));
    world.found.insert("x.00000000".into(), Found::File { bytes: 2 << 20 });
    world.found.insert("x.00000001".into(), Found::File { bytes: (2 << 20) - 1 });
    assert!(asked(line, &world).unwrap_err().text.contains("hit EOF prematurely"));
    world.found.insert("x.00000001".into(), Found::File { bytes: 3 << 20 });
    assert_eq!(asked(line, &world).unwrap().0.plan.steps.len(), 1);
}

/// Microseconds in which the tasks did a repetition.
fn took(tasks: &[(u64, u64, u64)], bytes: u64) -> Vec<Did> {
    let did = |(opened, first, closed): &(u64, u64, u64)| Did {
        opened: *opened,
        first: *first,
        closed: *closed,
        ops: 1,
        bytes,
    };
    tasks.iter().map(did).collect()
}

fn printed(line: &str, ranks: u32, of: impl Fn(usize) -> Vec<Did>) -> Output {
    let (job, options) = job(line, ranks);
    output(&options, &run(&job, |at, _| of(at)), &host())
}

#[test]
fn the_article_is_printed_as_it_was() {
    let line = "./IOR -a POSIX -b 1M -F -i 10 -s 14000 -t 256k -v -w";
    const TIMES: [u64; 10] = [
        282_904_010,
        283_286_119,
        283_150_307,
        283_150_307,
        283_150_307,
        282_904_010,
        283_150_307,
        283_150_307,
        283_150_307,
        283_286_119,
    ];
    let output = printed(line, 4, |at| {
        // Every other step gives the blocks of old files back.
        let took_us = TIMES[at / 2];
        took(&[(0, 0, took_us); 4], 14_680_064_000)
    });
    let shown = |begins: &str| {
        let line = output.text.lines().find(|line| line.starts_with(begins)).unwrap();
        line.split_whitespace().collect::<Vec<_>>().join(" ")
    };
    assert_eq!(
        shown("write"),
        "write 197.95 197.68 197.79 0.09 0.06 0.06 0.06 0.00 283.12821 4 4 10 1 0 1 0 0 14000 \
         1048576 262144 58720256000 -1 POSIX EXCEL"
    );
    assert_eq!(shown("Max Write"), "Max Write: 197.95 MiB/sec (207.56 MB/sec)");
}

/// A write, then twice as fast a read, of two tasks that open, begin and end one after the other.
fn two_tasks(at: usize, bytes: u64) -> Vec<Did> {
    match at % 3 {
        0 => Vec::new(),
        1 => took(&[(0, 100, 2000), (50, 200, 4100)], bytes),
        _ => took(&[(0, 100, 1000), (50, 200, 2050)], bytes),
    }
}

#[test]
fn the_old_program_prints_little_without_v() {
    let output = printed("IOR -b 64k -t 4k -F -s 20 -i 2", 2, |at| two_tasks(at, 1_310_720));
    expect_file!["../printed/ior-old.txt"].assert_eq(&output.text);
}

#[test]
fn the_old_program_prints_every_repetition_with_vv() {
    let line = "IOR -b 64k -t 32k -s 2 -e -C -vv -w -W -r -R -A 7";
    let (job, _) = job(line, 2);
    let names: Vec<String> = job.plan.steps.iter().map(|step| step.name.clone()).collect();
    assert_eq!(names, ["remove", "write", "check write", "read", "check read"]);
    let output = printed(line, 2, |at| match at {
        0 => Vec::new(),
        1 => took(&[(0, 100, 2_000_000), (50, 200, 4_100_000)], 131_072),
        _ => took(&[(0, 3, 20), (1, 4, 35)], 131_072),
    });
    expect_file!["../printed/ior-old-vv.txt"].assert_eq(&output.text);
}

#[test]
fn the_new_program_prints_its_table() {
    let output = printed("ior -b 64k -t 4k -F -s 20 -i 2", 2, |at| two_tasks(at, 1_310_720));
    expect_file!["../printed/ior-new.txt"].assert_eq(&output.text);
}

#[test]
fn the_new_program_says_more_with_v() {
    let line = "ior -b 64k -t 4k -Z -X 3 -Q 2 -vv -i 1 -w -W -r -D 0 -A 5 -z -F";
    let output = printed(line, 2, |at| match at {
        0 => Vec::new(),
        _ => took(&[(0, 3, 20), (1, 4, 35)], 65_536),
    });
    expect_file!["../printed/ior-new-vv.txt"].assert_eq(&output.text);
}

#[test]
fn a_stonewall_is_told() {
    for (line, expected) in [
        ("ior -w -b 8g -t 1m -D 1", expect_file!["../printed/ior-stonewall-new.txt"]),
        ("IOR -w -b 8g -t 1m -D 1", expect_file!["../printed/ior-stonewall-old.txt"]),
    ] {
        let output = printed(line, 1, |at| match at {
            0 => Vec::new(),
            _ => took(&[(0, 3, 1_000_000)], 1_000 << 20),
        });
        let told: String = output
            .text
            .lines()
            .filter(|line| {
                line.contains("WARN") || line.contains("onewall") || line.starts_with("write")
            })
            .map(|line| format!("{line}\n"))
            .collect();
        expected.assert_eq(&told);
    }
}

#[test]
fn values_are_separated_by_commas() {
    let line = "ior -b 64k -t 4k -F -s 20 -i 2 -O summaryFormat=csv";
    let output = printed(line, 2, |at| two_tasks(at, 1_310_720));
    expect_file!["../printed/ior-new-csv.txt"].assert_eq(&output.text);
}

/// Keys of 4.0.0 without a space in them.
const PARAMETERS: &str = "testID refnum api platform testFileName deadlineForStonewall \
    stoneWallingWearOut maxTimeDuration outlierThreshold options dryRun nodes memoryPerTask \
    memoryPerNode tasksPerNode repetitions multiFile interTestDelay fsync fsyncperwrite \
    useExistingTestFile uniqueDir singleXferAttempt readFile writeFile filePerProc reorderTasks \
    reorderTasksRandom reorderTasksRandomSeed randomOffset checkWrite checkRead dataPacketType \
    keepFile keepFileWithError warningAsErrors verbose setTimeStampSignature/incompressibleSeed \
    collective segmentCount transferSize blockSize";

#[test]
fn files_that_are_overwritten_are_warned_of() {
    let warned = |line: &str, there: &[&str], script: &str| -> Vec<String> {
        let mut world = Still::with(2);
        let file = |path: &&str| ((*path).to_owned(), Found::File { bytes: 4 << 20 });
        world.found.extend(there.iter().map(file));
        world.texts.insert("s".into(), script.to_owned());
        let (_, options) = asked(line, &world).unwrap();
        options.overwritten.into_iter().map(|paths| paths.join(" ")).collect()
    };
    assert_eq!(warned("ior -w", &["testFile"], ""), ["testFile"]);
    assert_eq!(warned("ior -w", &[], ""), [""]);
    assert_eq!(warned("ior -r", &["testFile"], ""), [""]);
    let each = "testFile.00000001";
    assert_eq!(warned("ior -w -F", &[each], ""), [each]);
    assert_eq!(warned("ior -w -m -i 2", &["testFile.0"], ""), [""]);
    assert_eq!(warned("ior -w -m -i 2", &["testFile"], ""), ["testFile"]);
    let script = |keeps: u8| {
        format!("IOR START\nreadFile=0\nwriteFile=1\nkeepFile={keeps}\nRUN\nRUN\nIOR STOP")
    };
    assert_eq!(warned("ior -f s", &[], &script(1)), ["", "testFile"]);
    assert_eq!(warned("ior -f s", &["testFile"], &script(0)), ["testFile", ""]);
    let (job, mut options) = job("ior -b 64k -t 4k -w -k", 1);
    options.overwritten = vec![vec!["testFile".to_owned()]];
    let run = run(&job, |_, _| took(&[(0, 0, 20)], 65_536));
    let text = output(&options, &run, &host()).text;
    let says = "Results: \n\
                WARNING: The file \"testFile\" exists already and will be overwritten\n\n\
                access    bw(MiB/s)";
    assert!(text.contains(says), "{text}");
}

#[test]
fn json_has_the_keys_of_the_program() {
    let line = "ior -b 64k -t 4k -O summaryFormat=JSON -O summaryFile=out.json -v -W -w";
    let output = printed(line, 1, |at| match at {
        0 => Vec::new(),
        _ => took(&[(0, 0, 20)], 65_536),
    });
    assert_eq!(output.text, "");
    let [file] = output.files.as_slice() else { panic!("{:?}", output.files) };
    assert_eq!(file.said, "Writing output to out.json\n");
    assert_eq!(file.place.path, "out.json");
    let takes = |is_own| file.place.existing.takes(&file.bytes, is_own);
    assert!(takes(true) && !takes(false), "what it looks like proves nothing");
    assert!(file.bytes.starts_with(b"{\n  \"Version\": "));
    let text = String::from_utf8(file.bytes.clone()).unwrap();
    let value: serde_json::Value = serde_json::from_str(&text).unwrap();
    assert_eq!(value["summary"][0]["bwMaxMIB"], 3125.0);
    // The order in which 4.0.0 has them, each one.
    let parameters = value["tests"][0]["Parameters"].as_object().unwrap();
    let mut missing: Vec<&str> = PARAMETERS.split(' ').collect();
    missing.retain(|key| !parameters.contains_key(*key));
    assert!(missing.is_empty(), "{missing:?}");
    let in_order = PARAMETERS.split(' ').map(|key| text.find(&format!("\"{key}\": ")).unwrap());
    assert!(in_order.is_sorted());
    assert_eq!(value["tests"][0]["Inodes"], "unknown");
    assert_eq!(value["tests"][0]["Results"].as_array().unwrap().len(), 1);
    expect_file!["../printed/ior-new-json.txt"].assert_eq(&text);
}

#[test]
fn scripts_print_their_tests_one_after_the_other() {
    let lines = |program: &str| -> Vec<String> {
        let line = format!("{program} -f two.ior");
        let output = printed(&line, 1, |at| two_tasks(at, 1 << 20));
        output.text.lines().map(String::from).collect()
    };
    let count = |lines: &[String], begins: &str| {
        lines.iter().filter(|line| line.starts_with(begins)).count()
    };
    let (old, new) = (lines("IOR"), lines("ior"));
    assert_eq!(
        (count(&old, "IOR-2.10.3"), count(&old, "Max Write"), count(&old, "write")),
        (2, 2, 2)
    );
    assert_eq!((count(&new, "IOR-4.0.0"), count(&new, "TestID"), count(&new, "write")), (1, 2, 8));
}

#[test]
fn a_run_that_broke_off_is_printed_as_far_as_it_went() {
    for program in ["IOR", "ior", "ior -O summaryFormat=JSON", "ior -O summaryFormat=CSV"] {
        let (job, options) = job(&format!("{program} -i 3 -vv"), 2);
        let whole = run(&job, |at, _| two_tasks(at, 1 << 20));
        for kept in 0..whole.steps.len() {
            let mut broken = whole.clone();
            broken.steps.truncate(kept);
            if let Some(last) = broken.steps.last_mut() {
                last.end = None;
            }
            let text = output(&options, &broken, &host()).text;
            assert!(!text.contains("NaN") && !text.contains("inf "), "{text}");
        }
        assert!(!output(&options, &Default::default(), &host()).text.is_empty());
    }
}

#[test]
fn mismatches_leave_the_layout_alone() {
    let (job, options) = job("ior -w -W -r -b 64k -t 4k", 1);
    let mut run = run(&job, |_, _| took(&[(0, 3, 20)], 65_536));
    let before = output(&options, &run, &host());
    let end = run.steps[2].end.as_mut().unwrap();
    end.mismatches.push(Mismatch { offset: 0, file: 0, what: "zeros".into() });
    assert_eq!(output(&options, &run, &host()), before);
}

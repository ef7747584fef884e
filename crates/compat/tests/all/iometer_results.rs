//! Files of results: their layout in both eras, and figures from a run made by hand.

use drivelab_compat::front::{Asked, Existing, Found, Host, Output, Scale, World};
use drivelab_compat::iometer::{self, Options};
use drivelab_core::op::{Action, Errno};
use drivelab_core::plan::Plan;
use drivelab_core::record::{Begin, StepBegin, StepEnd};
use drivelab_core::run::{Run, StepRun};
use drivelab_core::tally::{Keep, Phase, Tally};
use expect_test::expect;

const SECOND: u64 = 1_000_000_000;
const HEADER_1_1_0: &str = "\
'Target Type,Target Name,Access Specification Name,# Managers,# Workers,# Disks,\
IOps,Read IOps,Write IOps,MiBps (Binary),Read MiBps (Binary),Write MiBps (Binary),MBps (Decimal),\
Read MBps (Decimal),Write MBps (Decimal),Transactions per Second,Connections per Second,\
Average Response Time,Average Read Response Time,Average Write Response Time,\
Average Transaction Time,Average Connection Time,Maximum Response Time,\
Maximum Read Response Time,Maximum Write Response Time,Maximum Transaction Time,\
Maximum Connection Time,Errors,Read Errors,Write Errors,Bytes Read,Bytes Written,Read I/Os,\
Write I/Os,Connections,Transactions per Connection,Total Raw Read Response Time,\
Total Raw Write Response Time,Total Raw Transaction Time,Total Raw Connection Time,\
Maximum Raw Read Response Time,Maximum Raw Write Response Time,Maximum Raw Transaction Time,\
Maximum Raw Connection Time,Total Raw Run Time,Starting Sector,Maximum Size,Queue Depth,\
% CPU Utilization,% User Time,% Privileged Time,% DPC Time,% Interrupt Time,Processor Speed,\
Interrupts per Second,CPU Effectiveness,Packets/Second,Packet Errors,\
Segments Retransmitted/Second,0 to 50 uS,50 to 100 uS,100 to 200 uS,200 to 500 uS,0.5 to 1 mS,\
1 to 2 mS,2 to 5 mS,5 to 10 mS,10 to 15 mS,15 to 20 mS,20 to 30 mS,30 to 50 mS,50 to 100 mS,\
100 to 200 mS,200 to 500 mS,0.5 to 1 S,1 to 2 s,2 to 4.7 s,4.7 to 5 s,5 to 10 s, >= 10 s";
const HEADER_DATED: &str = "\
'Target Type,Target Name,Access Specification Name,# Managers,# Workers,# Disks,\
IOps,Read IOps,Write IOps,MBps,Read MBps,Write MBps,Transactions per Second,\
Connections per Second,Average Response Time,Average Read Response Time,\
Average Write Response Time,Average Transaction Time,Average Connection Time,\
Maximum Response Time,Maximum Read Response Time,Maximum Write Response Time,\
Maximum Transaction Time,Maximum Connection Time,Errors,Read Errors,Write Errors,Bytes Read,\
Bytes Written,Read I/Os,Write I/Os,Connections,Transactions per Connection,\
Total Raw Read Response Time,Total Raw Write Response Time,Total Raw Transaction Time,\
Total Raw Connection Time,Maximum Raw Read Response Time,Maximum Raw Write Response Time,\
Maximum Raw Transaction Time,Maximum Raw Connection Time,Total Raw Run Time,Starting Sector,\
Maximum Size,Queue Depth,% CPU Utilization,% User Time,% Privileged Time,% DPC Time,\
% Interrupt Time,Processor Speed,Interrupts per Second,CPU Effectiveness,Packets/Second,\
Packet Errors,Segments Retransmitted/Second";

/// One file, and one drive.
struct Only<'a>(&'a str);

impl World for Only<'_> {
    fn found(&self, _: &str) -> Found {
        Found::Device { bytes: 1 << 36 }
    }
    fn text(&self, _: &str) -> Result<String, String> {
        Ok(self.0.to_owned())
    }
    fn variable(&self, _: &str) -> Option<String> {
        None
    }
    fn host(&self) -> Host {
        host()
    }
    fn ranks(&self) -> u32 {
        1
    }
    fn scale(&self) -> Scale {
        Scale::WHOLE
    }
}

fn host() -> Host {
    Host { name: "lab".into(), cpus: 2, now_ms: 1_709_251_200_000, ..Host::default() }
}

fn understood(text: &str) -> (Plan, Options) {
    let words = ["x.icf", "out.csv", "--target", "/dev/sdb"].map(String::from);
    match iometer::parse(&words, &Only(text)).unwrap() {
        Asked::Run { job, options } => (job.plan, *options),
        Asked::Text(text) => panic!("{text}"),
    }
}

/// A run of `plan` in which each worker of each stream does what `works` says: action, bytes of
/// all I/Os, and their latencies.
fn run_of(plan: &Plan, works: &[&[(Action, u64, &[u64])]]) -> Run {
    let mut run = Run { plans: vec![plan.clone()], ..Run::default() };
    run.begin = Begin { started_at: "2024-02-29T23:59:50Z".into(), ..Begin::default() };
    let mut works = works.iter().cycle();
    for (step, planned) in (0..).zip(&plan.steps) {
        let begin = u64::from(step) * 20 * SECOND + SECOND;
        let (mut tallies, mut phases) = (Vec::new(), Vec::new());
        for (stream, load) in (0..).zip(&planned.streams) {
            for worker in 0..load.workers {
                let keep = Keep { submit: true, ..Keep::default() };
                let mut tally = Tally::new(step, stream, worker, &load.kinds(), keep);
                let mut ramp = tally.clone();
                ramp.ramp = true;
                for (action, bytes, latencies) in *works.next().unwrap() {
                    for tally in [&mut tally, &mut ramp] {
                        let mut kinds = tally.kinds.iter_mut();
                        let kind = kinds.find(|kind| kind.kind == *action).unwrap();
                        kind.ops += latencies.len() as u64;
                        kind.bytes += bytes;
                        latencies.iter().for_each(|latency| kind.service.record(*latency));
                    }
                }
                tallies.extend([ramp, tally]);
                let (measured_from, closed) = (begin + SECOND, begin + 11 * SECOND);
                let phase = Phase { stream, worker, measured_from, closed, ..Phase::default() };
                phases.push(phase);
            }
        }
        run.steps.push(StepRun {
            begin: StepBegin {
                step,
                plan_step: step,
                plan: 0,
                repetition: 1,
                name: planned.name.clone(),
                role: planned.role,
                state: "unknown".into(),
                opened: Vec::new(),
            },
            plan: planned.clone(),
            tallies,
            insides: Vec::new(),
            anatomy: None,
            requests: Vec::new(),
            end: Some(StepEnd { step, phases, ..StepEnd::default() }),
        });
    }
    run
}

fn file(version: &str, setup: &str, lines: &str, workers: usize) -> String {
    let worker = |number| {
        format!(
            "'Worker\n\tWorker {number}\n'Worker type\n\tDISK\n'Default target settings for \
             worker\n'Number of outstanding IOs,test connection rate,transactions per \
             connection\n\t8,DISABLED,1\n'Disk maximum size,starting sector\n\t2048,64\n'End \
             default target settings for worker\n'Assigned access specs\n\t4K\n'End assigned \
             access specs\n'Target assignments\n'Target\n\t1: \"ACME, SSD\"\n'End target\n'End \
             target assignments\n'End worker\n"
        )
    };
    let workers: String = (1..=workers).map(worker).collect();
    format!(
        "Version {version} \n'TEST SETUP\n'Test Description\n\tnew, drive\n'Run Time\n\t0 0 \
         10\n{setup}'END test setup\n'ACCESS SPECIFICATIONS\n'Access specification name,default \
         assignment\n\t4K,ALL\n'size,% of size,% reads,% random,delay,burst,align,reply\n\
         {lines}'END access specifications\n'MANAGER LIST\n'Manager ID, manager name\n\t1,X\n\
         {workers}'End manager\n'END manager list\n"
    )
}

fn results(text: &str, works: &[&[(Action, u64, &[u64])]]) -> (Output, Vec<String>) {
    let (plan, options) = understood(text);
    let output = iometer::output(&options, &run_of(&plan, works), &host());
    let [file] = output.files.as_slice() else { panic!("{output:?}") };
    let lines = String::from_utf8(file.bytes.clone()).unwrap();
    let lines = lines.lines().map(String::from).collect();
    (output, lines)
}

/// The value of a column of a row, by the names of both.
fn cell<'a>(lines: &'a [String], row: &str, column: &str) -> &'a str {
    let header = lines.iter().find(|line| line.starts_with("'Target Type")).unwrap();
    let at = header.split(',').position(|name| name == column).unwrap();
    let row = lines.iter().find(|line| line.starts_with(row)).unwrap();
    row.split(',').nth(at).unwrap()
}

const MIXED: &[(Action, u64, &[u64])] = &[
    (Action::Read, 30 * 4096, &[40_000, 51_000, 99_000]),
    (Action::Write, 10 * 4096, &[20 * SECOND]),
];

#[test]
fn the_headers_are_those_of_both_eras() {
    for (version, header, columns) in [
        ("1.1.0", HEADER_1_1_0, 80),
        ("2006.07.27", HEADER_DATED, 56),
        ("20100207", HEADER_DATED, 56),
    ] {
        let text = file(version, "", "\t4096,100,75,100,0,1,0,0\n", 1);
        let (output, lines) = results(&text, &[MIXED]);
        let header_at = lines.iter().position(|line| line == header).unwrap();
        assert_eq!(lines[header_at - 1], "'Results");
        for line in &lines[header_at..lines.len() - 2] {
            assert_eq!(line.split(',').count(), columns, "{line}");
        }
        let place = &output.files[0].place;
        assert_eq!(place.path, "out.csv");
        let begin = b"'Test Type,Test Description".to_vec();
        assert!(output.files[0].bytes.starts_with(&begin));
        assert_eq!(place.existing, Existing::AppendAfter(begin));
        let said = output.files[0].said.as_str();
        let printed = (output.text.as_str(), said, output.status);
        assert_eq!(printed, ("", "Results of 1 test are in out.csv.\n", 0));
    }
}

#[test]
fn a_file_of_results_has_the_layout_that_its_readers_expect() {
    let text = file("1.1.0", "", "\t4096,60,75,100,0,1,0,0\n\t8192,40,75,100,0,1,0,0\n", 1);
    let (_, lines) = results(&text, &[MIXED]);
    let shown: Vec<&str> = lines.iter().map(|line| &line[..line.len().min(84)]).collect();
    expect![[r#"
        'Test Type,Test Description
        0,new  drive
        'Version
        1.1.0 
        'Time Stamp
        2024-02-29 23:59:50:000
        'Access specifications
        'Access specification name,default assignment
        4K,1
        'size,% of size,% reads,% random,delay,burst,align,reply
        4096,60,75,100,0,1,0,0
        8192,40,75,100,0,1,0,0
        'End access specifications
        'Results
        'Target Type,Target Name,Access Specification Name,# Managers,# Workers,# Disks,IOps
        ALL,All,4K,1,1,1,0.400000,0.300000,0.100000,0.015625,0.011719,0.003906,0.016384,0.01
        MANAGER,lab,,,1,1,0.400000,0.300000,0.100000,0.015625,0.011719,0.003906,0.016384,0.0
        PROCESSOR,CPU 0,,,,,,,,,,,,,,,,,,,,,,,,,,,,,,,,,,,,,,,,,,,,,,,,,,,,,,,,,,,,,,,,,,,,,
        PROCESSOR,CPU 1,,,,,,,,,,,,,,,,,,,,,,,,,,,,,,,,,,,,,,,,,,,,,,,,,,,,,,,,,,,,,,,,,,,,,
        WORKER,Worker 1,4K,,,1,0.400000,0.300000,0.100000,0.015625,0.011719,0.003906,0.01638
        DISK,1: "ACME  SSD",,,,,0.400000,0.300000,0.100000,0.015625,0.011719,0.003906,0.0163
        'Time Stamp
        2024-03-01 00:00:02:000
    "#]]
    .assert_eq(&(shown.join("\n") + "\n"));
}

#[test]
fn figures_are_those_of_the_measured_window() {
    let text = file("1.1.0", "", "\t4096,100,75,100,0,1,0,0\n", 2);
    let reads: &[(Action, u64, &[u64])] = &[(Action::Read, 4 * 4096, &[1_100_000; 4])];
    let (_, lines) = results(&text, &[MIXED, reads]);
    let all = |column| cell(&lines, "ALL", column);
    assert_eq!((all("# Workers"), all("# Disks"), all("Queue Depth")), ("2", "2", "8"));
    assert_eq!(
        (all("IOps"), all("Read IOps"), all("Write IOps")),
        ("0.800000", "0.700000", "0.100000")
    );
    assert_eq!((all("Bytes Read"), all("Bytes Written")), ("139264", "40960"));
    assert_eq!((all("Read I/Os"), all("Write I/Os"), all("Errors")), ("7", "1", "0"));
    assert_eq!(all("MBps (Decimal)"), "0.018022");
    assert_eq!(all("MiBps (Binary)"), "0.017188");
    // (40 000 + 51 000 + 99 000 + 4 · 1 100 000 + 20 s) ÷ 8, in milliseconds.
    assert_eq!(all("Average Response Time"), "2500.573750");
    assert_eq!(all("Average Read Response Time"), "0.655714");
    assert_eq!(all("Average Write Response Time"), "20000.000000");
    assert_eq!(all("Maximum Read Response Time"), "1.100000");
    assert_eq!(all("Maximum Transaction Time"), "20000.000000");
    assert_eq!(all("Transactions per Second"), "0.800000");
    assert_eq!(all("Average Transaction Time"), all("Average Response Time"));
    assert_eq!((all("Connections per Second"), all("Connections")), ("0.000000", "0"));
    assert_eq!(all("Total Raw Read Response Time"), "4590000");
    assert_eq!(all("Total Raw Run Time"), "10000000000");
    assert_eq!((all("Starting Sector"), all("Maximum Size")), ("64", "2048"));
    assert_eq!((all("% CPU Utilization"), all("CPU Effectiveness")), ("", ""));
    let bins =
        ["0 to 50 uS", "50 to 100 uS", "100 to 200 uS", "0.5 to 1 mS", "1 to 2 mS", " >= 10 s"];
    assert_eq!(bins.map(all), ["1", "2", "0", "0", "4", "1"]);
    assert_eq!(cell(&lines, "WORKER,Worker 2", "Read I/Os"), "4");
    assert_eq!(cell(&lines, "WORKER,Worker 2", "Average Write Response Time"), "0.000000");
    let disks: Vec<&String> = lines.iter().filter(|line| line.starts_with("DISK,")).collect();
    assert_eq!(disks.len(), 2);
}

#[test]
fn a_request_and_its_reply_are_one_transaction() {
    let text = file("2006.07.27", "", "\t4096,100,100,0,0,1,0,4096\n", 1);
    let echo: &[(Action, u64, &[u64])] = &[
        (Action::Read, 8192, &[1_000_000, 3_000_000]),
        (Action::Write, 8192, &[4_000_000, 2_000_000]),
    ];
    let (_, lines) = results(&text, &[echo]);
    let all = |column| cell(&lines, "ALL", column);
    assert_eq!((all("IOps"), all("Transactions per Second")), ("0.400000", "0.200000"));
    assert_eq!(all("Average Response Time"), "2.500000");
    assert_eq!(all("Average Transaction Time"), "5.000000");
    assert_eq!(all("Maximum Transaction Time"), "7.000000");
    assert_eq!(all("MBps"), "0.001563");
}

#[test]
fn record_results_leaves_rows_out() {
    for (record, rows) in [
        ("ALL", &["ALL", "MANAGER", "PROCESSOR", "PROCESSOR", "WORKER", "DISK"][..]),
        ("NONE", &["ALL", "MANAGER", "PROCESSOR", "PROCESSOR", "WORKER", "DISK"]),
        ("NO_TARGETS", &["ALL", "MANAGER", "PROCESSOR", "PROCESSOR", "WORKER"]),
        ("NO_WORKERS", &["ALL", "MANAGER", "PROCESSOR", "PROCESSOR"]),
        ("NO_MANAGERS", &["ALL"]),
    ] {
        let setup = format!("'Record Results\n\t{record}\n");
        let text = file("1.1.0", &setup, "\t4096,100,75,100,0,1,0,0\n", 1);
        let (_, lines) = results(&text, &[MIXED]);
        let kinds = ["ALL,", "MANAGER,", "PROCESSOR,", "WORKER,", "DISK,"];
        let is_row = |line: &&String| kinds.iter().any(|kind| line.starts_with(kind));
        let found: Vec<&str> =
            lines.iter().filter(is_row).map(|line| line.split(',').next().unwrap()).collect();
        assert_eq!(found, rows, "{record}");
    }
}

#[test]
fn a_series_has_one_head_and_a_stamp_behind_each_test() {
    let setup = "'Queue Depth Cycling\n\t1 4 2 EXPONENTIAL\n'Test Type\n\tCYCLE_OUTSTANDING_IOS\n";
    let text = file("20100207", setup, "\t4096,100,75,100,0,1,0,0\n", 1);
    let (output, lines) = results(&text, &[MIXED]);
    assert!(output.files[0].said.starts_with("Results of 3 tests are in"));
    let count = |begin: &str| lines.iter().filter(|line| line.starts_with(begin)).count();
    assert_eq!((count("'Test Type"), count("'Version"), count("'Time Stamp")), (1, 1, 4));
    assert_eq!((count("'Access specifications"), count("'Results"), count("ALL,")), (3, 3, 3));
    assert_eq!(lines[1], "6,new  drive");
    let queue = HEADER_DATED.split(',').position(|name| name == "Queue Depth").unwrap();
    let depths: Vec<&str> = lines
        .iter()
        .filter(|line| line.starts_with("ALL,"))
        .map(|line| line.split(',').nth(queue).unwrap())
        .collect();
    assert_eq!(depths, ["1", "2", "4"]);
    // Readers find the next test two lines behind a stamp.
    let stamps = (0..lines.len()).filter(|at| lines[*at] == "'Time Stamp");
    let after: Vec<&str> = stamps.map(|at| lines.get(at + 2).map_or("", String::as_str)).collect();
    assert_eq!(
        after,
        ["'Access specifications", "'Access specifications", "'Access specifications", ""]
    );
}

#[test]
fn errors_and_unfinished_steps_are_as_they_are() {
    let text = file("1.1.0", "", "\t4096,100,75,100,0,1,0,0\n", 1);
    let (plan, options) = understood(&text);
    let mut run = run_of(&plan, &[MIXED]);
    for tally in &mut run.steps[0].tallies {
        for kind in &mut tally.kinds {
            kind.errors.push((Errno(5), if kind.kind == Action::Read { 2 } else { 1 }));
        }
    }
    let text = |run: &Run| {
        let output = iometer::output(&options, run, &host());
        String::from_utf8(output.files[0].bytes.clone()).unwrap()
    };
    let lines: Vec<String> = text(&run).lines().map(String::from).collect();
    let errors = ["Errors", "Read Errors", "Write Errors"].map(|name| cell(&lines, "ALL", name));
    assert_eq!(errors, ["3", "2", "1"]);
    run.steps[0].end = None;
    assert_eq!(text(&run).lines().count(), 6, "a head, and no test");
}

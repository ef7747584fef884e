use super::*;
use crate::experiment::sample::play;
use crate::modes::STUDY;
use drivelab_core::facts::{Facts, SimulatedFacts, TargetKind};
use drivelab_core::inside::Inside;
use drivelab_core::record::DeviceCounters;
use drivelab_core::study::{Scale, StudyOptions};
use drivelab_core::units::{Size, Span};

/// What was measured: operations a second, reads in flight at the drive and the share of reads that
/// reached it; of direct I/O and buffered at depth 64, and of direct I/O one at a time.
#[derive(Clone, Copy)]
struct Drive {
    direct: (f64, f64),
    buffered: (f64, f64),
    alone: f64,
    reached: f64,
}

/// The puzzle of the article: one at a time through the page cache, many past it.
const SERIAL: Drive =
    Drive { direct: (100_000.0, 45.0), buffered: (11_000.0, 0.95), alone: 12_000.0, reached: 1.0 };

fn options() -> StudyOptions {
    StudyOptions {
        name: "modes".into(),
        article: true,
        scale: Scale::Quick,
        seed: 7,
        budget: Size(10 << 30),
        time: Span(300_000_000_000),
        delta: 0.05,
        bytes: 256 << 20,
        ..StudyOptions::default()
    }
}

fn facts() -> Facts {
    let mut facts = Facts::default();
    facts.target.kind = TargetKind::Simulated;
    let page_cache_bytes = Some(64 << 20);
    facts.target.simulated = Some(SimulatedFacts { page_cache_bytes, ..SimulatedFacts::default() });
    facts
}

fn played(drive: Drive, facts: &Facts) -> Findings {
    let options = options();
    let setting = Setting { options: &options, facts };
    let is = |name: &str, end: &str| name.ends_with(end);
    // A little more or less in each repetition.
    let about = |value: f64, at: u32| value * (1.0 + f64::from(at % 3) * 0.002);
    let rate = |name: &str, at: u32| match name {
        name if is(name, "qd64, direct") => about(drive.direct.0, at),
        name if is(name, "qd64, buffered") => about(drive.buffered.0, at),
        _ => about(drive.alone, at),
    };
    let mut run = play(&STUDY, &setting, "fresh", &rate);
    run.begin.facts = facts.clone();
    for step in &mut run.steps {
        let kinds = || step.tallies.iter().flat_map(|tally| &tally.kinds);
        let of = |kind: Action| kinds().filter(move |it| it.kind == kind).map(|it| it.bytes).sum();
        let (asked, written): (u64, u64) = (of(Action::Read), of(Action::Write));
        let in_flight = match &step.begin.name {
            name if is(name, "qd64, direct") => drive.direct.1,
            name if is(name, "qd64, buffered") => drive.buffered.1,
            _ => 0.95,
        };
        let drive_read_ns = (in_flight * step.duration_ns() as f64) as u64;
        let drive_read_bytes = (asked as f64 * drive.reached) as u64;
        let end = step.end.as_mut().unwrap();
        end.inside = Some(Inside {
            drive_read_bytes,
            drive_read_ns,
            drive_written_bytes: written,
            ..Inside::default()
        });
        end.devices = vec![DeviceCounters {
            name: "sda".into(),
            read_bytes: drive_read_bytes,
            written_bytes: written,
            queue_ms: drive_read_ns / 1_000_000 + 500,
            write_ms: 500,
            uncounted: facts.target.devices.iter().any(|it| it.layer == "uncounted"),
            ..DeviceCounters::default()
        }];
    }
    STUDY.judged(&setting, &run)
}

fn said(drive: Drive) -> (String, String) {
    let findings = played(drive, &facts());
    (findings.verdict.join(" "), findings.unknown.join(" "))
}

#[test]
fn the_puzzle_is_answered_by_what_was_in_flight() {
    let findings = played(SERIAL, &facts());
    let verdict = findings.verdict.join(" ");
    assert!(verdict.contains("0.11 × what direct I/O does (slower)"), "{verdict}");
    assert!(verdict.contains("one after the other: 0.95 in flight"), "{verdict}");
    assert!(verdict.contains("with direct I/O 45"), "{verdict}");
    assert!(verdict.contains("worth 8.3"), "{verdict}");
    assert_eq!(findings.unknown, [""; 0]);
    let table = &findings.tables[0];
    let rows: Vec<_> = table.rows.iter().map(|row| format!("{:?}", row[0])).collect();
    let expected = ["reads, direct", "reads, buffered", "writes, direct", "writes, buffered"];
    assert_eq!(rows, expected.map(|name| format!("Text({name:?})")));
    let Entry::Number(reads) = table.rows[0][1] else { panic!("{table:?}") };
    assert!((reads / 70_000.0 - 1.0).abs() < 0.01, "{reads}");
}

/// Each clause of the answer is planted false on its own: then it is not said, and what speaks
/// against it is.
#[test]
fn where_the_cause_does_not_hold_it_is_not_said() {
    let plants = [
        (Drive { buffered: (11_000.0, 30.0), ..SERIAL }, "it is not that operations went"),
        (Drive { buffered: (11_000.0, 0.1), reached: 0.1, ..SERIAL }, "no read was in flight"),
        (Drive { alone: 100_000.0, ..SERIAL }, "is not shown to be any faster"),
        (Drive { direct: (100_000.0, 1.1), ..SERIAL }, "had no more reads in flight"),
    ];
    for (drive, against) in plants {
        let (verdict, unknown) = said(drive);
        assert!(verdict.contains("(slower)"), "{verdict}");
        assert!(!verdict.contains("one after the other"), "{against}: {verdict}");
        assert!(unknown.contains(against), "{against}: {unknown}");
    }
}

#[test]
fn buffered_that_is_not_slower_asks_for_no_cause() {
    let (verdict, unknown) = said(Drive { buffered: (100_000.0, 0.95), ..SERIAL });
    assert!(verdict.contains("(equivalent)") && !verdict.contains("after the other"), "{verdict}");
    assert_eq!(unknown, "");
    let fast = Drive { buffered: (900_000.0, 0.5), reached: 0.04, ..SERIAL };
    let (verdict, _) = said(fast);
    assert!(verdict.contains("RAM answered 96 % (at least 96 %) of the reads."), "{verdict}");
    let (verdict, unknown) = said(Drive { reached: 1.0, ..fast });
    assert!(!verdict.contains("RAM answered"), "{verdict}");
    assert!(unknown.contains("Why buffered I/O is faster"), "{unknown}");
}

#[test]
fn a_real_drive_is_counted_by_the_kernel_or_not_at_all() {
    let mut facts = Facts::default();
    facts.target.kind = TargetKind::BlockDevice;
    let device = |layer: &str| drivelab_core::facts::DeviceFacts {
        name: "sda".into(),
        layer: layer.into(),
        ..Default::default()
    };
    facts.target.devices = vec![device("disk")];
    let verdict = played(SERIAL, &facts).verdict.join(" ");
    assert!(verdict.contains("one after the other"), "{verdict}");
    facts.target.devices = vec![device("uncounted")];
    let findings = played(SERIAL, &facts);
    let unknown = findings.unknown.join(" ");
    assert!(unknown.contains("the reads in flight at this drive are not counted"), "{unknown}");
    assert!(!findings.verdict.join(" ").contains("one after the other"));
}

use super::*;
use crate::experiment::sample::play;
use crate::modes::{SETTLE, STUDY, WARM_UP};
use drivelab_core::facts::{Facts, FilesystemFacts, SimulatedFacts, TargetKind};
use drivelab_core::inside::Inside;
use drivelab_core::study::{Scale, StudyOptions};
use drivelab_core::units::{Size, Span};

fn options() -> StudyOptions {
    StudyOptions {
        name: "modes".into(),
        scale: Scale::Quick,
        seed: 7,
        budget: Size(10 << 30),
        time: Span(300_000_000_000),
        delta: 0.05,
        bytes: 256 << 20,
        ..StudyOptions::default()
    }
}

fn simulated(page_cache_bytes: Option<u64>) -> Facts {
    let mut facts = Facts::default();
    facts.target.kind = TargetKind::Simulated;
    facts.target.simulated = Some(SimulatedFacts { page_cache_bytes, ..SimulatedFacts::default() });
    facts
}

/// A run in which the drive moved this share of what a step asked for.
fn found(facts: &Facts, share: &dyn Fn(&str, u32) -> f64) -> (Findings, Run) {
    let options = options();
    let setting = Setting { options: &options, facts };
    let mut run = play(&STUDY, &setting, "fresh", &|_, _| 10_000.0);
    run.begin.facts = facts.clone();
    for step in &mut run.steps {
        let kinds = step.tallies.iter().flat_map(|tally| &tally.kinds);
        let asked: u64 = kinds.map(|entry| entry.bytes).sum();
        let bytes = (asked as f64 * share(&step.begin.name, step.begin.repetition)) as u64;
        let end = step.end.as_mut().unwrap();
        let inside =
            Inside { drive_read_bytes: bytes, drive_written_bytes: bytes, ..Inside::default() };
        (end.inside, end.inside_total) = (Some(inside), Some(inside));
    }
    (STUDY.judged(&setting, &run), run)
}

/// A little more or less in each repetition.
fn about(share: f64, repetition: u32) -> f64 {
    share + f64::from(repetition % 3) * 0.001
}

#[test]
fn what_memory_answered_is_what_did_not_reach_the_drive() {
    let kept = |name: &str, repetition: u32| {
        let is_cached = name.ends_with(", buffered");
        about(if is_cached { 0.04 } else { 1.0 }, repetition)
    };
    let (findings, run) = found(&simulated(Some(1 << 30)), &kept);
    let verdict = findings.verdict.join(" ");
    assert!(verdict.contains("Buffered random read qd1: 96 % (96 % to 96 %) was"), "{verdict}");
    assert!(verdict.contains("Buffered random write qd32: 96 %"), "{verdict}");
    assert!(verdict.contains("reached the drive whole, in all 8 cells"), "{verdict}");
    assert_eq!(findings.beware, [""; 0]);
    assert_eq!(findings.comparison.unwrap().cells.len(), 4);
    assert_eq!(findings.tables[0].rows.len(), 12);
    let names: Vec<&str> = run.steps.iter().map(|step| step.begin.name.as_str()).collect();
    for (at, name) in names.iter().enumerate().filter(|(_, name)| name.starts_with("random")) {
        let before = if name.ends_with("read qd1, buffered") { WARM_UP } else { SETTLE };
        if !name.ends_with("read qd32, buffered") {
            assert_eq!(names[at - 1], before, "before {name}");
        }
    }
    let count = |wanted: &str| names.iter().filter(|name| **name == wanted).count();
    assert_eq!(count("random read qd1, direct"), 5);
}

#[test]
fn where_the_drive_answers_nothing_is_said_of_memory() {
    let (findings, _) = found(&simulated(Some(16 << 20)), &|_, repetition| about(1.0, repetition));
    let verdict = findings.verdict.join(" ");
    assert!(!verdict.contains("answered by RAM"), "{verdict}");
    assert!(verdict.contains("Buffered random read qd32: the drive answered"), "{verdict}");
    assert!(!findings.no_answer);
}

#[test]
fn a_mode_that_lies_is_a_bad_finding() {
    let lies = |name: &str, repetition: u32| {
        about(if name == "random write qd1, buffered + dsync" { 0.3 } else { 1.0 }, repetition)
    };
    let (findings, _) = found(&simulated(Some(1 << 30)), &lies);
    let beware = findings.beware.join(" ");
    assert!(beware.contains("random write qd1, buffered + dsync did not reach"), "{beware}");
    assert!(!findings.verdict.join(" ").contains("reached the drive whole"));
}

/// A run on sda, of which the kernel counts nothing or what was asked for.
fn on_device(is_counted: bool, devices: &[(&str, &str)]) -> Findings {
    let mut facts = Facts::default();
    facts.target.kind = TargetKind::BlockDevice;
    facts.target.devices = devices
        .iter()
        .map(|(name, layer)| DeviceFacts {
            name: (*name).into(),
            layer: (*layer).into(),
            ..DeviceFacts::default()
        })
        .collect();
    let options = options();
    let setting = Setting { options: &options, facts: &facts };
    let mut run = play(&STUDY, &setting, "unknown", &|_, _| 10_000.0);
    run.begin.facts = facts.clone();
    for step in &mut run.steps {
        let kinds = step.tallies.iter().flat_map(|tally| &tally.kinds);
        let asked: u64 = kinds.map(|entry| entry.bytes).sum();
        let count = |(name, _): &(&str, &str)| {
            let uncounted = *name == "sda" && !is_counted;
            let moved = if uncounted { 0 } else { asked };
            DeviceCounters {
                name: (*name).into(),
                read_bytes: moved,
                written_bytes: moved,
                uncounted,
                ..DeviceCounters::default()
            }
        };
        step.end.as_mut().unwrap().devices = devices.iter().map(count).collect();
    }
    STUDY.judged(&setting, &run)
}

#[test]
fn a_device_that_is_not_counted_is_no_evidence_that_memory_answered() {
    let findings = on_device(false, &[("sda", "disk")]);
    let verdict = findings.verdict.join(" ");
    assert!(!verdict.contains("RAM") && !verdict.contains("reached the drive"), "{verdict}");
    assert_eq!(findings.beware, [""; 0]);
    let unknown = findings.unknown.join(" ");
    assert!(findings.no_answer && unknown.contains("accounting is off on sda"), "{unknown}");
    let counted = on_device(true, &[("sda", "disk")]);
    assert!(counted.verdict.join(" ").contains("reached the drive whole"), "{counted:?}");
    // Below a layer that is counted the disk may not be, and above one that is not it may.
    for devices in [[("dm-0", "lvm"), ("sda", "disk")], [("sda", "lvm"), ("sdb", "disk")]] {
        let findings = on_device(false, &devices);
        assert!(findings.verdict.join(" ").contains("reached the drive whole"), "{findings:?}");
        assert_eq!(findings.beware, [""; 0]);
    }
}

#[test]
fn what_a_target_cannot_serve_is_listed() {
    let (findings, _) = found(&simulated(None), &|_, _| 1.0);
    assert!(findings.no_answer);
    assert_eq!(findings.not_applicable.len(), 2, "{:?}", findings.not_applicable);
    assert!(findings.unknown[0].contains("page_cache=1GiB"), "{:?}", findings.unknown);
    let mut memory = Facts::default();
    memory.target.filesystem =
        Some(FilesystemFacts { direct_io_align: Some((0, 0)), ..FilesystemFacts::default() });
    let (findings, _) = found(&memory, &|_, _| 1.0);
    assert!(findings.not_applicable[0].text.contains("no direct I/O"));
}

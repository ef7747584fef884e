use super::super::STUDY;
use super::*;
use crate::experiment::sample::play;
use drivelab_core::facts::{Facts, TargetKind};
use drivelab_core::study::{Emptying, Scale, StudyOptions};
use drivelab_core::units::{Size, Span};

const MIB: u64 = 1 << 20;

fn options() -> StudyOptions {
    StudyOptions {
        name: "trim".into(),
        scale: Scale::Quick,
        seed: 7,
        budget: Size(10 << 30),
        time: Span(300_000_000_000),
        delta: 0.05,
        emptying: Emptying::Discard,
        bytes: 256 * MIB,
        ..StudyOptions::default()
    }
}

fn findings(rate: &dyn Fn(&str, u32) -> f64) -> Findings {
    let mut facts = Facts::default();
    facts.target.kind = TargetKind::Simulated;
    let options = options();
    let setting = Setting { options: &options, facts: &facts };
    STUDY.judged(&setting, &play(&STUDY, &setting, "fresh", rate))
}

/// A tenth of a percent up or down, alike in no two cells.
fn noise(name: &str, repetition: u32) -> f64 {
    let name: u32 = name.bytes().map(u32::from).sum();
    1.0 + f64::from((repetition * 7 + name * 3) % 5) / 1000.0
}

/// A drive that TRIM makes ten times as fast.
fn works(name: &str, repetition: u32) -> f64 {
    let is_slow = [WRITE_BEFORE, READ_BEFORE, ROUND].contains(&name);
    noise(name, repetition) * if is_slow { 1000.0 } else { 10_000.0 }
}

#[test]
fn a_cell_that_drifts_is_suspect() {
    let found = findings(&works);
    assert!(found.verdict[0].starts_with("TRIM works"), "{found:?}");
    assert_eq!(found.suspect, [""; 0]);
    let drifting = |name: &str, repetition: u32| {
        let moved = if name == READ_BEFORE { 0.01 * f64::from(repetition) } else { 0.0 };
        works(name, repetition) * (1.0 - moved)
    };
    let found = findings(&drifting);
    let moved = found.unknown.iter().filter(|it| it.contains("it changed by -")).count();
    assert_eq!((found.suspect.len(), moved), (0, 1), "less than three bands: {found:?}");
    let drifting = |name: &str, repetition: u32| {
        let moved = if name == READ_BEFORE { 0.03 * f64::from(repetition) } else { 0.0 };
        works(name, repetition) * (1.0 - moved)
    };
    let found = findings(&drifting);
    assert!(found.suspect[0].starts_with("random read, before TRIM: "), "{found:?}");
    assert_eq!(found.suspect.len(), 1, "{found:?}");
    assert!(!found.verdict[0].contains("reads at"), "{found:?}");
}

#[test]
fn a_rate_that_falls_all_the_time_after_the_trim_is_no_answer() {
    let filling = |name: &str, repetition: u32| {
        let moved = if name == WRITE_AFTER { 0.03 * f64::from(repetition) } else { 0.0 };
        works(name, repetition) * (1.0 - moved)
    };
    let found = findings(&filling);
    assert!(found.suspect[0].starts_with("random write, after TRIM: "), "{found:?}");
    assert!(!found.verdict.concat().contains("random writes run"), "{found:?}");
}

#[test]
fn faster_reads_prove_nothing_where_writes_got_nothing_back() {
    let odd = |name: &str, repetition: u32| {
        let is_fast = name == READ_AFTER || name == FRESH;
        noise(name, repetition) * if is_fast { 10_000.0 } else { 1000.0 }
    };
    let found = findings(&odd);
    assert!(found.no_answer && found.beware.is_empty(), "{found:?}");
    assert!(!found.verdict.concat().contains("TRIM works"), "{found:?}");
    assert!(found.unknown[0].contains("are inconsistent"), "{found:?}");
    // Nor where they had lost nothing: a disk that has written out its cache reads faster, too.
    let quiet = |name: &str, repetition: u32| {
        noise(name, repetition) * if name == READ_AFTER { 1900.0 } else { 1000.0 }
    };
    let found = findings(&quiet);
    assert!(found.no_answer && !found.verdict.concat().contains("TRIM works"), "{found:?}");
    assert!(found.unknown[0].contains("had lost nothing"), "{found:?}");
}

#[test]
fn a_time_in_which_nothing_would_be_trimmed_is_refused_on_a_real_drive() {
    let of = |kind, seconds: u64| {
        let mut facts = Facts::default();
        facts.target.kind = kind;
        let options = StudyOptions { time: Span(seconds * 1_000_000_000), ..options() };
        let setting = Setting { options: &options, facts: &facts };
        crate::trim::too_short(&setting)
    };
    let why = of(TargetKind::BlockDevice, 1).unwrap();
    assert!(why.starts_with("1s is too short for `trim`"), "{why}");
    assert_eq!(of(TargetKind::BlockDevice, 300), None);
    assert_eq!(of(TargetKind::Simulated, 1), None);
}

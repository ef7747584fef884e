use super::super::IOPS;
use super::*;
use crate::experiment::sample::play;
use drivelab_core::facts::{Facts, TargetKind};
use drivelab_core::study::{Emptying, StudyOptions};
use drivelab_core::units::{Size, Span};

const MIB: u64 = 1 << 20;

fn findings(rate: &dyn Fn(&str, u32) -> f64) -> Findings {
    let mut facts = Facts::default();
    facts.target.kind = TargetKind::Simulated;
    let options = StudyOptions {
        name: "pts-iops".into(),
        scale: Scale::Quick,
        seed: 7,
        budget: Size(10 << 30),
        time: Span(300_000_000_000),
        delta: 0.05,
        emptying: Emptying::Discard,
        bytes: 256 * MIB,
        ..StudyOptions::default()
    };
    let setting = Setting { options: &options, facts: &facts };
    IOPS.judged(&setting, &play(&IOPS, &setting, "fresh", rate))
}

/// A tenth of a percent up or down, alike in no two cells.
fn noise(name: &str, repetition: u32) -> f64 {
    let name: u32 = name.bytes().map(u32::from).sum();
    1.0 + f64::from((repetition * 7 + name * 3) % 5) / 1000.0
}

/// The rate in a round, falling by a percent in each of the first six where `falls`: the first one
/// uses up what may be spare, and the window begins behind it.
fn rate(name: &str, round: u32, falls: bool) -> f64 {
    let moved = if falls { 0.01 * f64::from(round.min(6)) } else { 0.0 };
    10_000.0 * noise(name, round) * (1.0 - moved)
}

#[test]
fn a_drift_of_all_reads_is_found() {
    let found = findings(&|name, round| rate(name, round, false));
    assert!(found.verdict[0].starts_with("Steady by SNIA's criterion"), "{found:?}");
    assert_eq!(found.suspect, [""; 0]);
    let unknown = found.unknown.join(" ");
    assert!(unknown.contains("did not drift together by 2.0 %"), "{unknown}");
    assert!(!unknown.contains("has settled"), "{unknown}");
    let found = findings(&|name, round| rate(name, round, name.contains("R/W 100/0")));
    assert!(found.verdict[0].starts_with("Steady by SNIA's criterion"), "{found:?}");
    let unknown = found.unknown.join(" ");
    let says = "only read, after precondition 128 KiB, was stable: it changed by -4.";
    assert!(unknown.contains(says), "{unknown}");
    assert!(!found.unknown.iter().any(|text| text.contains("did not drift")));
}

#[test]
fn what_writes_may_still_be_settling() {
    let found = findings(&|name, round| rate(name, round, !name.contains("R/W 100/0")));
    assert_eq!(found.suspect, [""; 0]);
    let unknown = found.unknown.join(" ");
    let says = "mean over all cells that write still changed by 4.";
    assert!(unknown.contains(says), "{unknown}");
}

#[test]
fn one_cell_alone_is_below_what_five_values_tell() {
    let found = findings(&|name, round| rate(name, round, name == "R/W 0/100 64 KiB"));
    assert_eq!(found.suspect, [""; 0]);
    assert!(found.unknown.iter().any(|text| text.contains("Whether single cells drifted")));
}

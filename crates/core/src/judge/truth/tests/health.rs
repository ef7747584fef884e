//! What a drive counted of itself around a step.

use super::*;
use crate::facts::{SelfTestFacts, WearFacts};
use crate::health_log::{DriveReading, HealthReading};

fn reading(steps: u32, wear: WearFacts) -> HealthReading {
    let drives = vec![DriveReading { device: "nvme0n1".into(), wear, kernel_written_bytes: None }];
    HealthReading { steps, opens: steps == 0, drives }
}

/// Reasons and notes of an honest read between two readings, the later one after so many steps.
fn said(before: WearFacts, after: WearFacts, steps: u32) -> (Vec<String>, Vec<String>) {
    let mut run = Evidence::reads().run();
    run.health = vec![reading(0, before), reading(steps, after)];
    let step = summarise(&run).steps.remove(0);
    let texts = |reasons: Vec<Reason>| reasons.into_iter().map(|reason| reason.text).collect();
    (texts(step.reasons), texts(step.notes))
}

#[test]
fn what_the_drive_counted_within_a_step_makes_it_suspect() {
    let clean = WearFacts { media_errors: Some(7), error_entries: Some(1), ..Default::default() };
    assert_eq!(said(clean.clone(), clean.clone(), 1), (vec![], vec![]));
    let failed = WearFacts { media_errors: Some(9), ..clean.clone() };
    let (reasons, notes) = said(clean.clone(), failed.clone(), 1);
    assert_eq!(reasons, ["nvme0n1 failed 2 times to read or write data, by its own count"]);
    assert_eq!(notes, [""; 0]);
    let (reasons, _) = said(clean.clone(), failed, 3);
    let words = "nvme0n1 failed 2 times to read or write data in steps 1 to 3, by its own count";
    assert_eq!(reasons, [words]);
    let noted = WearFacts { error_entries: Some(2), ..clean.clone() };
    let (reasons, notes) = said(clean, noted, 1);
    assert_eq!(reasons, [""; 0]);
    assert_eq!(notes, ["nvme0n1 noted 1 error in its log, by its own count"]);
}

#[test]
fn a_drive_that_tests_itself_is_not_measured_alone() {
    let test = SelfTestFacts { is_running: true, ..SelfTestFacts::default() };
    let testing = WearFacts { self_test: Some(test), ..WearFacts::default() };
    let idle = WearFacts::default;
    for (before, after) in [(testing.clone(), idle()), (idle(), testing.clone())] {
        assert_eq!(said(before, after, 1).0, ["nvme0n1 tested itself"]);
    }
    let ended = WearFacts { self_test: Some(SelfTestFacts::default()), ..idle() };
    assert_eq!(said(ended.clone(), ended, 1).0, [""; 0]);
}

#[test]
fn a_drive_that_warned_before_is_named_and_its_number_stands() {
    let worn = WearFacts { critical_warning: 0b100, ..Default::default() };
    let (reasons, notes) = said(worn.clone(), worn.clone(), 1);
    assert_eq!(reasons, [""; 0]);
    let words = "nvme0n1 warned of itself already before this was measured: its reliability is \
                 degraded by media or internal errors";
    assert_eq!(notes, [words]);
    let (reasons, _) = said(WearFacts::default(), worn, 1);
    assert_eq!(reasons.len(), 1, "{reasons:?}");
}

/// A drive's count of what hosts wrote against the kernel's, read at the same ends: a note.
#[test]
fn a_drive_that_counted_other_bytes_than_the_kernel_is_noted() {
    let noted = |units: u64, sent: [Option<u64>; 2]| {
        let mut run = Evidence::reads().run();
        let wear = |units: u64| WearFacts {
            written_bytes: Some(units * 512_000),
            written_unit_bytes: Some(512_000),
            ..WearFacts::default()
        };
        run.health = vec![reading(0, wear(5)), reading(1, wear(5 + units))];
        for (reading, sent) in run.health.iter_mut().zip(sent) {
            reading.drives[0].kernel_written_bytes = sent;
        }
        let step = summarise(&run).steps.remove(0);
        assert_eq!(step.reasons, [], "the number stands");
        step.notes.into_iter().map(|note| note.code).collect::<Vec<_>>()
    };
    let bytes = |all: [u64; 2]| all.map(Some);
    assert_eq!(noted(100, bytes([9, 9 + 51_200_000])), [""; 0]);
    assert_eq!(noted(100, bytes([9, 9 + 10_000_000])), ["counted_more"]);
    assert_eq!(noted(100, bytes([9, 9 + 90_000_000])), ["counted_less"]);
    assert_eq!(noted(100, [None, Some(90_000_000)]), [""; 0], "not of the same ends");
    assert_eq!(noted(100, bytes([9, 8])), [""; 0], "counted anew");
}

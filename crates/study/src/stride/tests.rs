use super::*;
use crate::experiment::sample::play;
use drivelab_core::facts::{Facts, TargetKind};
use drivelab_core::findings::Findings;
use drivelab_core::study::StudyOptions;

fn asked() -> StudyOptions {
    StudyOptions {
        name: "stride".into(),
        scale: Scale::Quick,
        seed: 7,
        budget: Size(64 << 30),
        time: Span(300 * SECOND_NS),
        delta: 0.05,
        bytes: 1 << 30,
        ..StudyOptions::default()
    }
}

fn array() -> Facts {
    let mut facts = Facts::default();
    facts.target.kind = TargetKind::BlockDevice;
    facts.target.path = "/dev/md7".into();
    facts
}

/// What is said where a stride has this factor, with a noise of so large a part.
fn said(noise: f64, factor: impl Fn(&str) -> f64) -> Findings {
    let (options, facts) = (asked(), array());
    let setting = Setting { options: &options, facts: &facts };
    assert_eq!(objection(&setting), None);
    let rate = |name: &str, repetition: u32| {
        let noise = 1.0 + noise * (f64::from((repetition * 5 + name.len() as u32) % 7) / 3.0 - 1.0);
        20_000.0 * noise * name.rsplit_once("stride ").map_or(1.0, |(_, stride)| factor(stride))
    };
    let run = play(&STUDY, &setting, "unknown", &rate);
    STUDY.judged(&setting, &run)
}

/// The rate of an array, by the members that serve a stride.
fn of_array(strip_kib: u64, members: u64) -> impl Fn(&str) -> f64 {
    move |stride: &str| {
        let bytes = stride.parse::<Size>().expect("a size").0;
        let strip = strip_kib << 10;
        let served = if bytes.is_multiple_of(strip) { divisor(bytes / strip, members) } else { 1 };
        1.0 / served as f64
    }
}

fn divisor(a: u64, b: u64) -> u64 {
    if b == 0 { a } else { divisor(b, a % b) }
}

#[test]
fn the_row_of_an_array_is_found_or_a_part_of_it() {
    for (strip_kib, members, found) in [
        (64, 4, "256 KiB"),
        (128, 8, "1 MiB"),
        (64, 6, "384 KiB"),
        (64, 5, "320 KiB"),
        (16, 12, "192 KiB"),
        // 27 of 9: their strips are no stride here, but three of them meet on three members.
        (64, 9, "192 KiB"),
        // Longer than what was tried.
        (256, 8, "1 MiB"),
    ] {
        let said = said(0.005, of_array(strip_kib, members));
        let row = format!("multiples of {found} are slowed");
        assert!(said.verdict.len() > 1, "{strip_kib} × {members}: {said:?}");
        assert!(said.verdict[1].contains(&row), "{strip_kib} × {members}: {:?}", said.verdict);
        assert!(said.beware.is_empty() && !said.no_answer, "{said:?}");
    }
    // No stride that is tried meets on fewer than 11 or 13 members.
    for members in [11, 13] {
        let said = said(0.005, of_array(64, members));
        assert!(said.verdict[0].starts_with("No stride slows"), "{:?}", said.verdict);
    }
}

#[test]
fn a_stride_that_meets_alone_has_no_row() {
    let found = said(0.005, |stride| if stride == "256 KiB" { 0.25 } else { 1.0 });
    assert!(found.verdict[0].contains("most of all 256 KiB, to 0.25"), "{:?}", found.verdict);
    assert_eq!(found.verdict.len(), 1, "multiples of it are not slowed");
    assert!(found.unknown[0].contains("not the multiples of one"), "{:?}", found.unknown);
}

#[test]
fn where_every_stride_costs_no_strip_is_blamed() {
    let found = said(0.005, |_| 0.5);
    assert!(found.verdict[1].contains("not what the strips of an array do"), "{:?}", found.verdict);
}

#[test]
fn where_no_stride_costs_none_is_named() {
    let found = said(0.005, |_| 1.0);
    assert!(found.verdict[0].starts_with("No stride slows"), "{:?}", found.verdict);
    assert!(found.beware.is_empty() && found.unknown.is_empty(), "{:?}", found.unknown);
    // A stride that is faster is no harm.
    let found = said(0.005, |stride| if stride == "64 KiB" { 2.0 } else { 1.0 });
    assert!(found.verdict[0].starts_with("No stride slows"), "{:?}", found.verdict);
}

#[test]
fn noise_decides_nothing() {
    let found = said(0.3, |stride| if stride == "64 KiB" { 0.9 } else { 1.0 });
    assert!(!found.unknown.is_empty(), "{found:?}");
    assert!(!found.verdict.join(" ").contains("come back"), "{:?}", found.verdict);
}

#[test]
fn strides_need_records_enough_and_files_are_refused() {
    assert_eq!(strides(1 << 30).last(), Some(&(1 << 20)));
    assert_eq!(strides(4 << 30).last(), Some(&(4 << 20)));
    assert_eq!(strides(u64::MAX).last(), Some(&(16 << 20)));
    assert!(strides(1 << 20).is_empty());
    let (options, mut facts) = (asked(), array());
    facts.target.kind = TargetKind::File;
    let setting = Setting { options: &options, facts: &facts };
    assert!(
        objection(&setting).is_some_and(|text| text.contains("drivelab study stride /dev/md0"))
    );
}

use super::*;
use crate::endurance::STUDY;
use crate::experiment::sample::play;
use drivelab_core::facts::{DeviceFacts, Facts, SimulatedFacts, TargetKind};
use drivelab_core::op::Action;
use drivelab_core::study::{Scale, StudyOptions};
use drivelab_core::units::{Size, Span};

const BYTES: u64 = 256 << 20;
const FLASH: FlashFacts =
    FlashFacts { bytes: 2 * BYTES, unit_bytes: 4096, cycles_left: 1000, cells: None };

fn options(rated: Option<u64>, per_day: Option<u64>) -> StudyOptions {
    StudyOptions {
        name: "endurance".into(),
        scale: Scale::Default,
        seed: 7,
        budget: Size(100 * BYTES),
        time: Span(3_600_000_000_000),
        delta: 0.05,
        bytes: BYTES,
        rated: rated.map(Size),
        per_day: per_day.map(Size),
        ..StudyOptions::default()
    }
}

/// A simulated drive that programs `factor` units for each of the host, and erases as often as
/// `erases` times that.
fn simulated(factor: &dyn Fn(&str, u32) -> f64, erases: f64, most: f64) -> Findings {
    of_drive(&|_| 10_000.0, factor, erases, most)
}

/// The same at this many operations a second, by name of the step.
fn of_drive(
    rate: &dyn Fn(&str) -> f64,
    factor: &dyn Fn(&str, u32) -> f64,
    erases: f64,
    most: f64,
) -> Findings {
    let mut facts = Facts::default();
    facts.target.kind = TargetKind::Simulated;
    facts.target.simulated =
        Some(SimulatedFacts { flash: Some(FLASH), ..SimulatedFacts::default() });
    let options = options(None, Some(BYTES));
    let setting = Setting { options: &options, facts: &facts };
    let mut run = play(&STUDY, &setting, "fresh", &|name, _| rate(name));
    let mut total = Inside::default();
    for step in &mut run.steps {
        let kinds = step.tallies.iter().flat_map(|tally| &tally.kinds);
        let written = kinds.filter(|entry| entry.kind == Action::Write);
        let host_units = written.map(|entry| entry.bytes).sum::<u64>() / FLASH.unit_bytes;
        let factor = factor(&step.begin.name, step.begin.repetition);
        let programmed = (host_units as f64 * factor) as u64;
        let inside = Inside {
            host_units,
            programmed_host_units: host_units.min(programmed),
            collection_units: programmed.saturating_sub(host_units),
            ..Inside::default()
        };
        total = total.plus(&inside);
        total.erases_mean += erases * (programmed * FLASH.unit_bytes) as f64 / FLASH.bytes as f64;
        total.erases_max = (total.erases_mean * most) as u64;
        let end = step.end.as_mut().unwrap();
        (end.inside, end.inside_total) = (Some(inside), Some(total));
    }
    STUDY.judged(&setting, &run)
}

fn figure(findings: &Findings, name: &str) -> Estimate {
    findings.figures.iter().find(|figure| figure.name == name).unwrap().estimate
}

/// Three bytes of flash for each at random, and hardly more than one in order.
fn planted(name: &str, repetition: u32) -> f64 {
    let noise = f64::from(repetition % 3) * 0.01;
    if name == ORDER { 1.0 + noise } else { 3.0 + noise }
}

#[test]
fn days_follow_from_what_the_flash_did() {
    let findings = simulated(&planted, 1.0, 1.1);
    let random = figure(&findings, "write amplification, random write, 4 KiB");
    assert!((random.value - 3.01).abs() < 0.01, "{random:?}");
    let days = figure(&findings, "days of life, random write, 4 KiB");
    // Twice the drive's bytes of flash, a thousand times, at three bytes for one a day.
    assert!((days.value - 2000.0 / random.value).abs() < 1e-6, "{days:?}");
    assert!(days.low.unwrap() < days.value && days.value < days.high.unwrap());
    let ordered = figure(&findings, "days of life, sequential write, 128 KiB");
    assert!(ordered.value > 2.9 * days.value, "{ordered:?}");
    assert!(findings.verdict[1].contains("3.01 bytes of flash"), "{:?}", findings.verdict);
    assert_eq!((findings.suspect.len(), findings.beware.len()), (0, 0), "{findings:?}");
    assert!(findings.unknown.join(" ").contains("without power"));
}

#[test]
fn counts_that_contradict_each_other_are_suspect() {
    let findings = simulated(&planted, 0.5, 1.1);
    assert_eq!(findings.suspect.len(), 2, "{:?}", findings.suspect);
    let findings = simulated(&planted, 1.0, 2.0);
    assert!(findings.beware[0].contains("Wear is uneven"), "{:?}", findings.beware);
}

fn real(wear: Option<WearFacts>, rated: Option<u64>) -> Findings {
    let mut facts = Facts::default();
    facts.target.kind = TargetKind::BlockDevice;
    facts.target.devices =
        vec![DeviceFacts { layer: "disk".into(), wear, ..DeviceFacts::default() }];
    let options = options(rated, Some(1_000_000_000_000));
    let setting = Setting { options: &options, facts: &facts };
    let run = play(&STUDY, &setting, "unknown", &|_, _| 10_000.0);
    assert!(run.steps.iter().all(|step| step.plan.streams.is_empty()), "nothing is written");
    STUDY.judged(&setting, &run)
}

#[test]
fn a_real_drive_is_believed_as_far_as_it_tells() {
    const TB: u64 = 1_000_000_000_000;
    let wear = |used_percent, written_bytes| {
        Some(WearFacts {
            used_percent: Some(used_percent),
            written_bytes: Some(written_bytes),
            ..WearFacts::default()
        })
    };
    let found = real(wear(5, 30 * TB), None);
    assert!((figure(&found, "days of the promise").value - 570.0).abs() < 1e-6);
    assert!(found.verdict[0].contains("of which 30.0 TB are written"), "{:?}", found.verdict);
    assert_eq!(found.not_applicable[0].cell, "write amplification");
    let found = real(None, Some(600 * TB));
    assert!((figure(&found, "days of the promise").value - 600.0).abs() < 1e-6);
    for (wear, says) in
        [(None, "does not report"), (wear(0, TB), "from which nothing can be concluded")]
    {
        let found = real(wear, None);
        assert!(found.no_answer);
        assert!(found.unknown.join(" ").contains(says), "{:?}", found.unknown);
    }
    let mut ata = wear(5, 30 * TB);
    let change = ata.as_mut().expect("wear");
    (change.used_from, change.failing) = (Some("SMART attribute 177".into()), Some(true));
    let found = real(ata, None);
    let used = found.figures.iter().find(|it| it.name == "used of its rated endurance");
    assert_eq!(used.expect("a figure").note, "after 30.0 TB written; by SMART attribute 177");
    assert!(found.beware[0].contains("it says of itself that it fails"), "{:?}", found.beware);
    let disk = real(Some(WearFacts { failing: Some(false), ..WearFacts::default() }), None);
    assert!(disk.unknown.join(" ").contains("it counts no part"), "{:?}", disk.unknown);
    let found = real(wear(100, 600 * TB), None);
    assert!(found.beware[0].contains("promises nothing more"), "{:?}", found.beware);
}

#[test]
fn the_rating_of_a_larger_drive_promises_nothing_of_this_one() {
    let mut facts = Facts::default();
    facts.target.kind = TargetKind::Simulated;
    facts.target.simulated =
        Some(SimulatedFacts { flash: Some(FLASH), ..SimulatedFacts::default() });
    let of = |rated: u64| {
        let options = options(Some(rated), Some(BYTES));
        let mut findings = Findings::default();
        promise(&Setting { options: &options, facts: &facts }, BYTES as f64, &mut findings);
        (findings.verdict.len(), findings.beware.len())
    };
    let cells = FLASH.bytes * u64::from(FLASH.cycles_left);
    assert_eq!(of(cells), (1, 0));
    assert_eq!(of(cells + 1), (0, 1));
}

#[test]
fn what_programs_and_erases_tell_apart_is_no_verdict() {
    let uneven = simulated(&|_, _| 3.0, 0.75, 1.2);
    assert_eq!(uneven.verdict, Vec::<String>::new());
    assert!(uneven.no_answer && uneven.suspect.len() == 2, "{uneven:?}");
    assert!(!uneven.figures.iter().any(|it| it.name.starts_with("write amplification")));
}

/// A part that is rewritten again and again is another load than the whole drive in order.
#[test]
fn a_turn_that_the_time_ended_says_nothing_of_writes_in_order() {
    // 2,048 requests make a turn, and a quarter of the time is left for it.
    let slow = |name: &str| if name.starts_with("sequential") { 1.0 } else { 10_000.0 };
    let findings = of_drive(&slow, &planted, 1.0, 1.1);
    let names: Vec<&str> = findings.figures.iter().map(|figure| figure.name.as_str()).collect();
    assert!(!names.iter().any(|name| name.contains("sequential")), "{names:?}");
    assert!(figure(&findings, "write amplification, random write, 4 KiB").value > 2.9);
    let unknown = findings.unknown.join(" ");
    assert!(unknown.contains("rewritten sequentially. Give a larger --time"), "{unknown}");
}

#[test]
fn a_promise_is_divided_by_a_day_less_what_a_known_drive_counts() {
    const TB: u64 = 1_000_000_000_000;
    let of = |written: Option<u64>, rated: Option<u64>| {
        let mut facts = Facts::default();
        let wear =
            written.map(|bytes| WearFacts { written_bytes: Some(bytes), ..WearFacts::default() });
        facts.target.devices =
            vec![DeviceFacts { layer: "disk".into(), wear, ..DeviceFacts::default() }];
        let options = options(rated, Some(2 * TB));
        by_promise(&Setting { options: &options, facts: &facts })
    };
    let days = |found: &Findings| found.figures.first().map(|it| it.estimate.value);
    let unused = of(None, Some(600 * TB)).unwrap();
    assert_eq!(days(&unused), Some(300.0));
    assert!(unused.verdict[0].contains("if nothing of it is written yet"), "{unused:?}");
    assert_eq!(days(&of(Some(400 * TB), Some(600 * TB)).unwrap()), Some(100.0));
    let used_up = of(Some(600 * TB), Some(600 * TB)).unwrap();
    assert_eq!((days(&used_up), used_up.verdict.len()), (None, 0));
    assert!(used_up.beware[0].contains("is used up"), "{used_up:?}");
    assert!(of(None, None).is_err_and(|text| text.contains("give both")));
}

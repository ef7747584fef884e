use super::*;
use crate::experiment::sample::play;
use drivelab_core::facts::{DeviceFacts, Facts, TargetKind, ZoneFacts};
use drivelab_core::findings::Findings;
use drivelab_core::op::{Action, Op};
use drivelab_core::study::StudyOptions;

const MIB: u64 = 1 << 20;

/// A drive of zones of 16 MiB that hold 12, of which that many can be open.
pub fn zoned(bytes: u64, open_max: u32) -> Facts {
    let mut facts = Facts::default();
    facts.target.kind = TargetKind::BlockDevice;
    facts.target.path = "/dev/nvme7n1".into();
    let zones = ZoneFacts {
        model: "host-managed".into(),
        zone_bytes: Some(16 * MIB),
        zones: u32::try_from(bytes / (16 * MIB)).ok(),
        open_max: Some(open_max),
        active_max: Some(0),
        capacity_bytes: Some(12 * MIB),
        ordered_from_bytes: Some(32 * MIB),
        conventional: Some(2),
        ..ZoneFacts::default()
    };
    facts.target.devices = vec![DeviceFacts { zones: Some(zones), ..DeviceFacts::default() }];
    facts
}

fn asked(bytes: u64) -> StudyOptions {
    StudyOptions {
        name: "zones".into(),
        scale: Scale::Quick,
        seed: 7,
        budget: Size(64 << 30),
        time: Span(300 * SECOND_NS),
        delta: 0.05,
        bytes,
        ..StudyOptions::default()
    }
}

/// What is said of a drive whose zones serve `each` requests a second, and all of them `most`, with
/// a noise of so large a part; resets take 2 ms and finishes 5 ms.
fn said(open_max: u32, each: f64, most: f64, noise: f64) -> Findings {
    let (options, facts) = (asked(4 << 30), zoned(4 << 30, open_max));
    let setting = Setting { options: &options, facts: &facts };
    assert_eq!(objection(&setting), None);
    let rate = |name: &str, repetition: u32| {
        let noise = 1.0 + noise * (f64::from((repetition * 5 + name.len() as u32) % 7) / 3.0 - 1.0);
        let open = name.strip_prefix("write, ").and_then(|rest| rest.split(' ').next());
        let open = open.and_then(|open| open.parse::<f64>().ok());
        let full = name == format!("{TURN}, reset");
        match (open, full) {
            (Some(open), _) => (open * each).min(most) * noise,
            (None, true) => 500.0,
            (None, false) if name.ends_with("finish") => 200.0,
            (None, false) => 10_000.0 * noise,
        }
    };
    STUDY.judged(&setting, &play(&STUDY, &setting, "unknown", &rate))
}

#[test]
fn planted_gains_are_found_and_no_others() {
    for (each, most, best) in [
        (1000.0, 8000.0, "8 zones write 8.0"),
        (1000.0, 4000.0, "zones write 4.0"),
        (1000.0, 1300.0, "zones write 1.3"),
    ] {
        let said = said(8, each, most, 0.005);
        assert!(said.verdict[0].starts_with("Several zones at once write faster"), "{said:?}");
        assert!(said.verdict[0].contains(best), "{best}: {:?}", said.verdict);
        assert!(!said.no_answer && said.unknown.is_empty(), "{:?}", said.unknown);
    }
    for most in [1000.0, 1010.0] {
        let said = said(8, 1000.0, most, 0.003);
        let none = "Several zones at once write no faster than one by 5.0 % or more: 2, 4, 8 were";
        assert!(said.verdict[0].starts_with(none), "{:?}", said.verdict);
    }
    let said = said(8, 1000.0, 1100.0, 0.5);
    assert!(!said.verdict.iter().any(|it| it.contains("at once")), "{:?}", said.verdict);
    assert!(said.unknown[0].starts_with("Whether 2, 4, 8 zones at once"), "{:?}", said.unknown);
}

#[test]
fn resets_and_finishes_are_told_of_full_zones_only() {
    let said = said(8, 1000.0, 8000.0, 0.005);
    let sentence = "Emptying a full zone takes 2.00 ms, finishing one that holds one request takes \
                    5.00 ms.";
    assert_eq!(said.verdict[1], sentence);
    // Without a fill before it nobody knows how full a zone was.
    let (options, facts) = (asked(4 << 30), zoned(4 << 30, 8));
    let setting = Setting { options: &options, facts: &facts };
    let mut run = play(&STUDY, &setting, "unknown", &|_, _| 1000.0);
    run.steps.retain(|step| step.begin.name != loads::FILL);
    let said = STUDY.judged(&setting, &run);
    assert!(!said.verdict.iter().any(|it| it.contains("Emptying")), "{:?}", said.verdict);
    assert!(said.unknown.iter().any(|it| it.starts_with("What resets and finishes cost")));
}

#[test]
fn a_drive_with_one_open_zone_is_not_compared() {
    let said = said(1, 1000.0, 1000.0, 0.005);
    assert!(said.unknown[0].starts_with("Whether more zones at once write faster: one can be"));
    assert_eq!(said.verdict.len(), 1, "{:?}", said.verdict);
}

#[test]
fn what_has_no_zones_in_order_is_refused() {
    let options = asked(4 << 30);
    let said = |facts: &Facts| objection(&Setting { options: &options, facts });
    let mut facts = zoned(4 << 30, 8);
    assert_eq!(said(&facts), None);
    let zones = |facts: &mut Facts, change: fn(&mut ZoneFacts)| {
        facts.target.devices[0].zones.iter_mut().for_each(change);
    };
    zones(&mut facts, |it| it.capacity_bytes = None);
    assert!(said(&facts).is_some_and(|it| it.contains("run as root")));
    zones(&mut facts, |it| it.model = "host-aware".into());
    assert!(said(&facts).is_some_and(|it| it.contains("is not one")));
    assert!(said(&Facts::default()).is_some_and(|it| it.contains("is not one")));
}

#[test]
fn plans_stay_on_the_zones_that_are_used() {
    let (options, facts) = (asked(4 << 30), zoned(4 << 30, 6));
    let setting = Setting { options: &options, facts: &facts };
    let shape = shape(&setting).unwrap();
    assert_eq!((shape.from, shape.used(), shape.opens()), (32 * MIB, 16, vec![1, 2, 4, 6]));
    let steps = next(&setting, &Run::default()).unwrap().steps;
    for step in &steps {
        for driver in
            drivelab_core::driver::drivers_of(step, 0, 7, Span(SECOND_NS), 4 << 30).unwrap()
        {
            let stream = driver.stream();
            assert!(stream.workers <= 6 && stream.offset.0 == 32 * MIB, "{step:?}");
        }
    }
    // One turn: each zone is reset, written once and finished, in this order.
    let turn = steps.iter().find(|step| step.name == TURN).unwrap();
    let mut bed = drivelab_core::virtual_bed::VirtualTestbed::new(1000, 1);
    bed.keep_log = true;
    let drivers = drivelab_core::driver::drivers_of(turn, 0, 7, Span(SECOND_NS), 4 << 30).unwrap();
    drivelab_core::queue::Testbed::run(&mut bed, drivers, &mut Nobody).unwrap();
    let expected = (0..16).flat_map(|zone| {
        let start = 32 * MIB + zone * 16 * MIB;
        [(Action::Reset, start, 0), (Action::Write, start, 131_072), (Action::Finish, start, 0)]
    });
    let done = bed.log.iter().map(|(_, _, op)| match op {
        Op::Data(op) => (op.action, op.offset, op.len),
        Op::Name(_) => unreachable!("no names"),
    });
    assert!(done.eq(expected), "{:?}", bed.log);
}

struct Nobody;

impl drivelab_core::queue::Sink for Nobody {
    fn tally(&mut self, _: &drivelab_core::tally::Tally) {}
}

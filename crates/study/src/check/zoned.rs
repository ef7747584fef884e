//! `check` on a drive whose zones take writes only in order: the cells that it can serve.

use super::{
    MEBIBYTE, RANDOM_READ, RANDOM_READ_ALONE, SEQUENTIAL_READ, SEQUENTIAL_READ_ALONE,
    SEQUENTIAL_WRITE_ALONE,
};
use crate::experiment::Setting;
use crate::zones::Shape;
use drivelab_core::facts::Facts;
use drivelab_core::findings::Findings;
use drivelab_core::plan::{Plan, Stream};
use drivelab_core::quantity::{counted, size};
use drivelab_core::units::Size;

/// Cells that need no write out of order.
const CELLS: [&str; 5] = [
    SEQUENTIAL_READ,
    SEQUENTIAL_READ_ALONE,
    SEQUENTIAL_WRITE_ALONE,
    RANDOM_READ,
    RANDOM_READ_ALONE,
];
/// Zones that are written while others are read.
const ZONES_MIN: u64 = 2;

/// The zones of the target, where it takes writes only in order.
pub(super) fn shape(facts: &Facts, bytes: u64) -> Option<Shape> {
    let zones = facts.target.devices.first()?.zones.as_ref()?;
    Shape::of(zones, bytes).filter(|_| is_zoned(facts))
}

fn is_zoned(facts: &Facts) -> bool {
    let zones = facts.target.devices.first().and_then(|device| device.zones.as_ref());
    facts.target.kind.is_drive() && zones.is_some_and(|zones| zones.needs_order())
}

/// Whether a drive of zones can serve a cell.
pub(super) fn is_served(name: &str) -> bool {
    CELLS.contains(&name)
}

/// Why `check` cannot write the zones of this drive.
pub(super) fn objection(setting: &Setting<'_>) -> Option<String> {
    let facts = setting.facts;
    if setting.options.read_only || !is_zoned(facts) {
        return None;
    }
    let path = &facts.target.path;
    let Some(shape) = shape(facts, setting.bytes()) else {
        return Some(format!(
            "what the zones of {path} hold is not known; run as root, who may ask the drive, or \
             use --read-only"
        ));
    };
    let holds = shape.zoned.holds();
    if !holds.is_multiple_of(MEBIBYTE) || shape.zones < ZONES_MIN {
        return Some(format!(
            "{path} has {} that hold {} each, and check needs at least two that hold whole \
             mebibytes; use --read-only, or drivelab study zones {path}",
            counted(shape.zones, "zone"),
            size(holds)
        ));
    }
    let needed = 2 * ZONES_MIN * holds;
    (setting.options.budget.0 < needed).then(|| {
        format!(
            "a budget of {} is too small for zones that hold {}; give at least --budget {}",
            setting.options.budget,
            size(holds),
            Size(needed)
        )
    })
}

/// Zones that are laid out: as many as the bytes fill, two at least.
pub(super) fn zones(shape: &Shape, bytes: u64) -> u64 {
    (bytes / shape.zoned.holds().max(1)).clamp(ZONES_MIN, shape.zones.max(ZONES_MIN))
}

/// The layout over this many zones.
pub(super) fn laid_out(shape: &Shape, zones: u64, plan: &mut Plan) {
    for stream in plan.steps.iter_mut().flat_map(|step| &mut step.streams) {
        stream.depth = 1;
        stream.workers = shape.open_max.min(u32::try_from(zones).unwrap_or(u32::MAX)).max(1);
        over(shape, 0, zones, stream);
    }
}

/// Cells over this many zones: reads have the first half, and writes the others.
pub(super) fn placed(shape: &Shape, zones: u64, plan: &mut Plan) {
    let half = zones / 2;
    for stream in plan.steps.iter_mut().flat_map(|step| &mut step.streams) {
        match stream.mix.write > 0 {
            true => over(shape, half, zones - half, stream),
            false => over(shape, 0, half, stream),
        }
    }
}

fn over(shape: &Shape, first: u64, zones: u64, stream: &mut Stream) {
    let size = shape.zoned.size.0;
    stream.zoned = Some(shape.zoned);
    stream.offset = Size(shape.from + first * size);
    stream.length = Some(Size(zones * size));
}

/// What is not known of such a drive.
pub(super) fn told(facts: &Facts, findings: &mut Findings) {
    if is_zoned(facts) {
        findings.unknown.push(format!(
            "How it takes random writes, mixes and commits: its zones take writes only in order, \
             so these were not tried. What its zones cost: drivelab study zones {}.",
            facts.target.path
        ));
    }
}

#[cfg(test)]
mod tests {
    use super::super::STUDY;
    use super::*;
    use crate::experiment::sample::play;
    use crate::experiment::tests::options;
    use crate::zones::tests::zoned;
    use drivelab_core::facts::ZoneFacts;
    use drivelab_core::study::StudyOptions;
    use std::collections::BTreeSet;

    const BYTES: u64 = 4 << 30;

    fn asked() -> StudyOptions {
        StudyOptions { bytes: BYTES, budget: Size(1 << 30), ..options("check") }
    }

    #[test]
    fn what_zones_can_serve_is_measured_and_the_rest_is_said_not_to_be_known() {
        let (options, facts) = (asked(), zoned(BYTES, 8));
        let setting = Setting { options: &options, facts: &facts };
        assert_eq!((STUDY.objection)(&setting), None);
        let mut run = play(&STUDY, &setting, "unknown", &|_, _| 1000.0);
        run.begin.facts = facts.clone();
        let measured = run.steps.iter().filter(|step| step.begin.name != "layout");
        let names: BTreeSet<&str> = measured.map(|step| step.begin.name.as_str()).collect();
        assert_eq!(names, BTreeSet::from(CELLS));
        let (mut read, mut written) = (BTreeSet::new(), BTreeSet::new());
        for step in run.steps.iter().filter(|step| step.begin.name != "layout") {
            let stream = &step.plan.streams[0];
            let place = (stream.offset.0, stream.length.map_or(0, |length| length.0));
            assert!(stream.zoned.is_some(), "{stream:?}");
            if stream.mix.write > 0 {
                written.insert(place)
            } else {
                read.insert(place)
            };
        }
        // 256 MiB are 21 zones of 12, from the third one on: ten are read, eleven written.
        let zone = 16 << 20;
        assert_eq!(read, BTreeSet::from([(2 * zone, 10 * zone)]));
        assert_eq!(written, BTreeSet::from([(12 * zone, 11 * zone)]));
        let findings = STUDY.judged(&setting, &run);
        let is_said = |it: &String| it.starts_with("How it takes random writes, mixes and commits");
        assert!(findings.unknown.iter().any(is_said), "{:?}", findings.unknown);
        let ordinary = crate::experiment::tests::simulated();
        let mut findings = Findings::default();
        told(&ordinary, &mut findings);
        assert!(findings.unknown.is_empty(), "{:?}", findings.unknown);
    }

    #[test]
    fn what_cannot_be_checked_is_refused_with_the_way_out() {
        let said = |options: &StudyOptions, change: fn(&mut ZoneFacts)| {
            let mut facts = zoned(BYTES, 8);
            facts.target.devices[0].zones.iter_mut().for_each(change);
            (STUDY.objection)(&Setting { options, facts: &facts }).unwrap_or_default()
        };
        let options = asked();
        assert_eq!(said(&options, |_| {}), "");
        assert!(said(&options, |it| it.capacity_bytes = None).contains("run as root"));
        let odd = said(&options, |it| it.capacity_bytes = Some(4096));
        assert!(odd.contains("whole mebibytes; use --read-only"), "{odd}");
        let late = said(&options, |it| it.ordered_from_bytes = Some(BYTES - 1));
        assert!(late.contains("has 0 zones that hold 12 MiB each"), "{late}");
        let small = StudyOptions { budget: Size(32 << 20), ..asked() };
        assert!(said(&small, |_| {}).contains("give at least --budget 48MiB"));
        let reads = StudyOptions { read_only: true, ..small };
        assert_eq!(said(&reads, |it| it.capacity_bytes = None), "");
    }
}

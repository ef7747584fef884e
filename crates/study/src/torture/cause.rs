//! Why: what a simulated drive tells of its insides, before against after.

use crate::experiment::order::is_complete;
use drivelab_core::inside::Inside;
use drivelab_core::plan::Role;
use drivelab_core::quantity::{digits, percent};
use drivelab_core::run::{Run, StepRun};

/// Below this share of the time, or of a unit by unit, a difference explains nothing.
const WORTH: f64 = 0.01;

/// A count of the inside.
type Count = fn(&Inside) -> u64;

/// What went on in the measured steps of one side.
#[derive(Debug, Clone, Copy, Default, PartialEq)]
struct Told {
    reads: Inside,
    reads_ns: u64,
    writes: Inside,
}

fn told(run: &Run, is_mine: impl Fn(&str) -> bool) -> Option<Told> {
    let mut told = Told::default();
    let is_counted = |step: &&StepRun| {
        step.begin.role == Role::Measure && is_complete(step) && is_mine(&step.begin.name)
    };
    let mut is_known = false;
    for step in run.steps.iter().filter(is_counted) {
        let Some(inside) = step.end.as_ref().and_then(|end| end.inside) else { continue };
        is_known = true;
        if step.plan.streams.iter().any(|stream| stream.mix.write > 0) {
            told.writes = told.writes.plus(&inside);
        } else {
            told.reads = told.reads.plus(&inside);
            told.reads_ns += step.duration_ns();
        }
    }
    is_known.then_some(told)
}

/// The share of reading time that went into a map in pieces.
fn fragmentation(told: &Told) -> f64 {
    told.reads.fragmentation_ns as f64 / told.reads_ns.max(1) as f64
}

fn by_unit(units: u64, told: &Told) -> f64 {
    units as f64 / told.writes.host_units.max(1) as f64
}

/// What differs inside, the reads first; `None`: the drive tells nothing.
pub fn sentences(
    run: &Run,
    before: impl Fn(&str) -> bool,
    after: impl Fn(&str) -> bool,
) -> Option<Vec<String>> {
    let (before, after) = (told(run, before)?, told(run, after)?);
    let mut all = Vec::new();
    let (was, is) = (fragmentation(&before), fragmentation(&after));
    if (is - was).abs() > WORTH {
        all.push(format!(
            "Cause of what reads lost: the map is in pieces. Reads spent {} of their time on it, \
             {} before the torture.",
            percent(is),
            percent(was)
        ));
    }
    let copies: [(&str, Count); 5] = [
        ("collection", |inside| inside.collection_units),
        ("merges of log blocks", |inside| inside.merge_units),
        ("wear levelling", |inside| inside.wear_units),
        ("folding of the SLC cache", |inside| inside.fold_units),
        ("the map", |inside| inside.map_units),
    ];
    for (what, units) in copies {
        let (was, is) =
            (by_unit(units(&before.writes), &before), by_unit(units(&after.writes), &after));
        if (is - was).abs() > WORTH {
            let amplification =
                |told: &Told| told.writes.write_amplification().map_or("unknown".into(), digits);
            all.push(format!(
                "If writes changed, this explains it: {what} programmed {} units for each unit \
                 written, {} before the torture; write amplification {}, {} before.",
                digits(is),
                digits(was),
                amplification(&after),
                amplification(&before)
            ));
        }
    }
    if all.is_empty() {
        all.push(
            "Inside the drive no counter differs between before and after: no copies, no merges, \
             no map in pieces."
                .into(),
        );
    }
    Some(all)
}

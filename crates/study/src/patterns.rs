//! `patterns`: which access pattern does the controller love or hate?
//!
//! Da Zhou's ten patterns, each compared with what it is a variant of: reads and writes, at random
//! and in order, of the smallest requests, one at a time. And reads across boundaries at
//! which the drive may split requests, such as the stripes of an array.

mod cell;
mod judge;
mod slides;
mod words;

use crate::experiment::budget::{Left, STEP_NS_MIN, too_short, whole};
use crate::experiment::order::{is_broken, missing, shuffle, since_break};
use crate::experiment::published;
use crate::experiment::{
    Allowance, Needs, OwnOption, Setting, Study, impossible, loads, region, too_small,
};
use cell::{Cell, LARGE_BYTES, Pattern, beginning, cells, listing, sizes, stream};
use drivelab_core::facts::TargetKind;
use drivelab_core::plan::{IoMode, Plan, Role, Step, Until};
use drivelab_core::run::Run;
use drivelab_core::study::Scale;
use drivelab_core::units::{Size, Span};
use drivelab_stats::Domain;
use std::collections::HashMap;

/// The study.
pub const STUDY: Study = Study {
    name: "patterns",
    question: "Which access pattern does the controller love or hate?",
    needs: Needs { begins_as_published: true, ..Needs::PLAIN },
    allowance,
    objection,
    next,
    judge: judge::judge,
    together: published::began,
    options: &[OwnOption::Absolute],
    ..Study::PLAIN
};

const SECOND_NS: u64 = 1_000_000_000;
/// What is left out of a step is at most so much for each operation that it may issue.
const RAMP_NS_EACH: u64 = 500;
/// They lie on the widest grid of the patterns.
const PLACE_GRID: u64 = 65_536;
/// A list may take this many times as long as another step: its second time needs the first one
/// whole.
const LIST_TIMES: u64 = 4;
/// Fewer bytes than this would leave steps of a few milliseconds.
const BUDGET_MIN: u64 = 256 << 20;

fn repetitions(scale: Scale) -> u64 {
    match scale {
        Scale::Quick => 5,
        Scale::Default => 6,
        Scale::Full => 10,
    }
}

fn longest_ns(scale: Scale) -> u64 {
    match scale {
        Scale::Quick => 2 * SECOND_NS,
        Scale::Default => 3 * SECOND_NS,
        Scale::Full => 10 * SECOND_NS,
    }
}

fn allowance(scale: Scale, bytes: u64) -> Allowance {
    region::allowance(scale, bytes, [5, 60, 8 * 60])
}

fn objection(setting: &Setting<'_>) -> Option<String> {
    let options = setting.options;
    let steps = repetitions(options.scale) * possible(setting).iter().map(weight).sum::<u64>();
    impossible(setting)
        .or_else(|| too_short(setting, steps))
        .or_else(|| too_small(setting, Size(BUDGET_MIN)))
}

/// Bytes of the smallest requests: 512 where the target takes them, else 4 KiB.
fn unit(setting: &Setting<'_>) -> u64 {
    let target = &setting.facts.target;
    let sector = target.devices.first().and_then(|device| device.logical_block_bytes);
    let align = target.filesystem.as_ref().and_then(|found| found.direct_io_align);
    let block = match target.kind {
        TargetKind::BlockDevice => sector,
        _ => align.map_or(sector, |(_, offset)| Some(offset).filter(|offset| *offset > 0)),
    };
    if block.unwrap_or(512) <= 512 { 512 } else { LARGE_BYTES }
}

/// How much of the time a step may take, in that of others.
fn weight(cell: &Cell) -> u64 {
    if cell.listed().is_some() { LIST_TIMES } else { 1 }
}

fn is_possible(setting: &Setting<'_>, cell: Cell) -> bool {
    match cell.pattern {
        Pattern::Burst(_) | Pattern::BurstDelay(..) => loads::base(setting).io == IoMode::Direct,
        // Where the parts of a file lie is up to its file system.
        Pattern::Apart(_) | Pattern::Across(..) => setting.is_drive(),
        _ => true,
    }
}

/// The cells of this target.
fn possible(setting: &Setting<'_>) -> Vec<Cell> {
    let (scale, unit) = (setting.options.scale, unit(setting));
    let mut all = cells(scale, unit);
    if setting.options.absolute {
        all.extend(sizes(scale, unit));
    }
    all.into_iter().filter(|cell| is_possible(setting, *cell)).collect()
}

fn next(setting: &Setting<'_>, run: &Run) -> Option<Plan> {
    region::next(setting, run, |left, bytes| {
        let all = schedule(setting, run, left, bytes);
        let mut rest = missing(all.clone(), run);
        let cut = is_broken(run) && since_break(run).is_empty();
        if let Some(first) = rest.first().and_then(|step| before(&all, step)).filter(|_| cut) {
            rest.insert(0, first);
        }
        rest
    })
}

/// What must be done once more where the drive was closed just before this step.
fn before(all: &[Step], step: &Step) -> Option<Step> {
    let second = all.windows(2).find(|pair| pair[1] == *step)?;
    let is_list = |step: &Step| step.streams.first().and_then(|stream| stream.order);
    (is_list(step).is_some() && is_list(&second[0]) == is_list(step)).then(|| second[0].clone())
}

/// Everything that is measured, in its order: each round has all cells once, shuffled again.
fn schedule(setting: &Setting<'_>, run: &Run, left: &Left, bytes: u64) -> Vec<Step> {
    let options = setting.options;
    let (n, all) = (repetitions(options.scale), possible(setting));
    let weights: HashMap<String, u64> = all.iter().map(|it| (it.name(), weight(it))).collect();
    let measured = run.steps.iter().filter(|step| step.begin.role == Role::Measure);
    let measured: u64 = measured.filter_map(|step| weights.get(&step.begin.name)).sum();
    let missing = (n * weights.values().sum::<u64>()).saturating_sub(measured).max(1);
    let each_ns = left.each(setting, missing, longest_ns(options.scale)).max(STEP_NS_MIN);
    let writing = all.iter().filter(|cell| cell.changes_data()).count() as u64;
    let write_bytes = left.bytes / (2 * n * writing.max(1));
    // What comes right before another cell is not drawn by itself.
    let drawn: Vec<Cell> =
        all.iter().filter(|it| !matches!(it.pattern, Pattern::First(_))).copied().collect();
    let mut steps = Vec::new();
    for round in 0..n {
        let mut cells = drawn.clone();
        shuffle(&mut cells, options.seed, round);
        let first = first_byte(options.seed, round, n, bytes);
        let place = Place { first, region_bytes: bytes, round };
        let cells = cells.into_iter().flat_map(|cell| cell.before().into_iter().chain([cell]));
        steps.extend(cells.map(|cell| step(setting, cell, each_ns, write_bytes, place)));
    }
    steps
}

/// Where the steps of a round work.
#[derive(Debug, Clone, Copy)]
struct Place {
    /// Where those begin that go in order.
    first: u64,
    region_bytes: u64,
    round: u64,
}

/// Where the cells that go in order begin in a round: over all rounds evenly all over the region,
/// in an order that is drawn.
fn first_byte(seed: u64, round: u64, rounds: u64, region_bytes: u64) -> u64 {
    let mut places: Vec<u64> = (0..rounds).collect();
    shuffle(&mut places, seed, Domain::RoundPlaces as u64);
    let half = region_bytes / (2 * rounds);
    (2 * places[round as usize] + 1) * half / PLACE_GRID * PLACE_GRID
}

fn step(setting: &Setting<'_>, cell: Cell, each_ns: u64, write_bytes: u64, place: Place) -> Step {
    let stream = stream(setting, cell, unit(setting), place.region_bytes);
    let stream = beginning(stream, cell, place.first);
    let stream = listing(stream, cell, setting.options.seed, place.round);
    let size = stream.size.0;
    // Of a reply half is written, of a mix its share; half of the budget allows for chance.
    let issued = cell.changes_data().then(|| {
        let share = match cell.pattern {
            Pattern::Mixed(share, _) => u64::from(share),
            Pattern::Reply | Pattern::WriteRead(_) => 500,
            _ => 1000,
        };
        whole(write_bytes.saturating_mul(1000) / share, size)
    });
    if let Some(count) = cell.listed() {
        let until = Until {
            elapsed: Some(Span(each_ns * LIST_TIMES)),
            operations: Some(u64::from(count)),
            bytes: issued,
            ..Until::default()
        };
        return loads::step(setting, &cell.name(), Role::Measure, until, stream);
    }
    let ramp_max = issued.map_or(u64::MAX, |bytes| bytes.0 / size * RAMP_NS_EACH);
    let ramp = (each_ns / 10).min(ramp_max);
    let until = Until { elapsed: Some(Span(each_ns - ramp)), bytes: issued, ..Until::default() };
    let step = loads::step(setting, &cell.name(), Role::Measure, until, stream);
    Step { ramp: Span(ramp), ..step }
}

#[cfg(test)]
mod tests;

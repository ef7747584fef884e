//! `stutter`: will a machine with this drive freeze?
//!
//! The drive is filled and written at random for a while, because an empty one has no reason to
//! pause. Then one reader, one operation at a time, works next to random writes, and every time in
//! which it waits is kept: a person feels the longest of them, not the mean. Around it stand the
//! loads by which the early flash drives were shown to freeze: random writes of several sizes,
//! shares of sequence and depths.

mod cells;
mod curves;
mod freezes;
mod grade;
mod judge;
mod published;
mod ratios;

use crate::experiment::budget::{Left, between_ns, whole};
use crate::experiment::order::shuffle;
use crate::experiment::used::{self, BUDGET_MIN, aged, left_then};
use crate::experiment::{Allowance, Setting, Study, impossible, loads, too_small};
use cells::Cell;
use drivelab_core::plan::{Arrival, Plan, Role, Step, Until};
use drivelab_core::run::Run;
use drivelab_core::study::Scale;
use drivelab_core::units::{Size, Span};

/// The study.
pub const STUDY: Study = Study {
    name: "stutter",
    question: "Will a machine with this drive freeze, how often and for how long?",
    allowance,
    objection,
    next,
    judge: judge::judge,
    together: ratios::sentences,
    priced: &[cells::RANDOM],
    ..Study::PLAIN
};

/// Each cell is measured so often, in rounds.
const ROUNDS: u64 = 5;
const SECOND_NS: u64 = 1_000_000_000;
/// The step with the reader may write this many times as much as the others.
const READER_PARTS: u64 = 6;
/// What of its bytes the writer next to it is to need: an operation is as long as it is.
const WRITER_SHARE: f64 = 0.95;
/// The reader next to the writer is watched for this long in each round: what all rounds together
/// take to rule a freeze a minute out, and a little more.
const READER_NS: u64 = 37 * SECOND_NS;
/// It may take this part of what time is left; the other loads share the rest.
const READER_SHARE: f64 = 0.8;
/// A deep queue is watched for this many times as long as one operation takes to get through it.
const TURNS: f64 = 6.0;
/// And runs for this many of those before it is watched.
const TURNS_RAMP: f64 = 1.5;
/// Before every cell its load runs for this part of its time and bytes, unwatched: the drive still
/// works on what the cell before left it.
const SETTLE_PART: f64 = 0.25;
/// The reader next to the writer settles for this part of the time that it is watched: what a cache
/// still holds of loads a hundred times as heavy would freeze it, and the grade is of it alone.
const READER_SETTLE_PART: f64 = 0.2;

fn allowance(scale: Scale, bytes: u64) -> Allowance {
    let (minutes, budget) = match scale {
        Scale::Quick => (7, 10 << 30),
        Scale::Default => (60, bytes.saturating_mul(4)),
        Scale::Full => (6 * 60, bytes.saturating_mul(8)),
    };
    Allowance { time: Span(minutes * 60 * SECOND_NS), budget: Size(budget) }
}

/// How long the reader next to the writer is watched in all, where the time allows it.
fn reader_seconds(scale: Scale) -> f64 {
    let each = if scale == Scale::Full { 180 * SECOND_NS } else { READER_NS };
    (ROUNDS * each) as f64 / 1e9
}

fn objection(setting: &Setting<'_>) -> Option<String> {
    impossible(setting).or_else(|| too_small(setting, Size(BUDGET_MIN)))
}

fn next(setting: &Setting<'_>, run: &Run) -> Option<Plan> {
    used::next(setting, run, schedule)
}

/// Everything that is measured, in its order.
fn schedule(setting: &Setting<'_>, region: u64, run: &Run) -> Vec<Step> {
    let rate = aged(run).1;
    let all = cells::cells(setting);
    let left = left_then(setting, run);
    let parts: u64 = all.iter().map(|cell| cell.writes() * ROUNDS).sum();
    let part_bytes = left.bytes / parts.max(1);
    let wanted: Vec<Times> =
        all.iter().map(|cell| Times::of(setting.options.scale, cell, rate)).collect();
    let times = Times::fitted(&all, wanted, &left, between_ns(setting));
    let mut steps = Vec::new();
    for round in 0..ROUNDS {
        let mut order: Vec<usize> = (0..all.len()).collect();
        shuffle(&mut order, setting.options.seed, round);
        let one = |index: usize| {
            let bytes = part_bytes * all[index].writes();
            let times = times[index];
            settled(setting, &all[index], &Bounds { region, bytes, times, rate })
        };
        steps.extend(order.into_iter().flat_map(one));
    }
    steps
}

/// How long a load runs before its cell begins and before it is watched, how long it is watched,
/// and how long its queue takes to empty, in nanoseconds.
#[derive(Debug, Clone, Copy)]
struct Times {
    settle: f64,
    ramp: f64,
    watched: f64,
    drain: f64,
}

impl Times {
    /// Long enough for a deep queue to turn over.
    fn of(scale: Scale, cell: &Cell, rate: Option<f64>) -> Self {
        let base = match scale {
            Scale::Quick => 3 * SECOND_NS,
            Scale::Default => 12 * SECOND_NS,
            Scale::Full => 60 * SECOND_NS,
        } as f64;
        let watched = match cell.has_reader_and_writer() {
            true => reader_seconds(scale) * SECOND_NS as f64 / ROUNDS as f64,
            false => base,
        };
        let settle = match cell.has_reader_and_writer() {
            true => (watched * READER_SETTLE_PART).max(base * SETTLE_PART),
            false if cell.is_in_order() => base,
            false => base * SETTLE_PART,
        };
        let turn = rate.map_or(0.0, |rate| f64::from(cell.depth) / rate * 1e9);
        Times {
            settle,
            // A ramp for its own sake would only cost time where nothing queues.
            ramp: if cell.depth > 1 { TURNS_RAMP * turn } else { 0.0 },
            watched: watched.max(TURNS * turn),
            drain: 2.0 * turn,
        }
    }

    /// What of it the time allows: first the reader, whose grade needs its time, then the rest.
    fn fitted(cells: &[Cell], wanted: Vec<Times>, left: &Left, between_ns: u64) -> Vec<Times> {
        let is_reader: Vec<bool> = cells.iter().map(Cell::has_reader_and_writer).collect();
        let lost: f64 = wanted.iter().map(|it| it.drain + 2.0 * between_ns as f64).sum();
        let available = (left.time_ns as f64 / ROUNDS as f64 - lost).max(0.0);
        let sum = |of_reader: bool| -> f64 {
            let those = wanted.iter().zip(&is_reader).filter(|(_, is)| **is == of_reader);
            those.map(|(it, _)| it.settle + it.ramp + it.watched).sum()
        };
        let (reader, others) = (sum(true), sum(false));
        let for_reader = reader.min((READER_SHARE * available).max(available - others));
        let shares = [for_reader / reader.max(1.0), (available - for_reader) / others.max(1.0)];
        let [for_reader, for_others] = shares.map(|share| share.clamp(0.0, 1.0));
        let each = wanted.into_iter().zip(is_reader);
        each.map(|(it, is)| it.shortened(if is { for_reader } else { for_others })).collect()
    }

    fn shortened(self, share: f64) -> Self {
        let Times { settle, ramp, watched, drain } = self;
        Times { settle: settle * share, ramp: ramp * share, watched: watched * share, drain }
    }
}

/// What bounds a cell.
struct Bounds {
    region: u64,
    bytes: u64,
    times: Times,
    rate: Option<f64>,
}

/// The load of a cell unwatched, and the cell.
fn settled(setting: &Setting<'_>, cell: &Cell, bounds: &Bounds) -> [Step; 2] {
    let Bounds { region, bytes, times, rate } = bounds;
    // The writer next to the reader goes at one rate from the beginning to the end.
    let settle_part = match cell.has_reader_and_writer() {
        true => times.settle / (times.settle + times.ramp + times.watched).max(1.0),
        false => SETTLE_PART,
    };
    let settle_bytes = (*bytes as f64 * settle_part) as u64;
    let mut streams = cell.streams(setting, *region);
    if cell.has_reader_and_writer() {
        // Both streams must last as long as the step, or the reader would be alone in the end.
        let seconds = (times.settle + times.ramp + times.watched).max(1.0) / 1e9;
        let affordable = WRITER_SHARE * *bytes as f64 / 4096.0 / seconds;
        if rate.is_none_or(|rate| rate > affordable) {
            let rest = Span((1e9 / affordable.max(1e-3)) as u64);
            streams[1].arrival = Arrival::thinking(None, rest);
        }
    }
    let one = |name: &str, role, elapsed: f64, bytes: u64| {
        let timed = Until { elapsed: Some(Span((elapsed as u64).max(1))), ..Until::default() };
        let bytes = (cell.writes() > 0).then(|| whole(bytes, cell.size));
        let bounded = Until { bytes, ..timed.clone() };
        let mut streams = streams.clone();
        // The reader writes nothing: only its time ends it.
        let until = if cell.has_reader_and_writer() {
            streams[1].until = Some(bounded);
            timed
        } else {
            bounded
        };
        let first = loads::step(setting, name, role, until, streams[0].clone());
        Step { streams, ..first }
    };
    let before = one(&cell.settling(), Role::Prepare, times.settle, settle_bytes);
    let cell = one(&cell.name, Role::Measure, times.watched, bytes - settle_bytes);
    [before, Step { ramp: Span(times.ramp as u64), ..cell }]
}

//! A stream over time: one point an interval, all workers together.

use crate::op::{Action, Time};
use crate::run::StepRun;
use crate::summary::seconds;
use crate::tally::{KindTally, Tally};
use drivelab_stats::{Histogram, OverTime, over_time, supported_quantile};
use serde::Serialize;

/// An interval shorter than this share of the usual length is partial.
const WHOLE: f64 = 0.99;
/// A tally longer than this many usual lengths covers several intervals.
const SEVERAL: f64 = 1.5;

/// One interval of a stream.
#[derive(Debug, Clone, Default, PartialEq, Serialize)]
pub struct Point {
    /// Beginning, in nanoseconds since the testbed began.
    pub from: Time,
    /// End.
    pub to: Time,
    /// Part of the ramp: not in any result.
    pub ramp: bool,
    /// Cut off, or not covered by all workers: not in the interval of a rate.
    pub partial: bool,
    /// Completions without error; a share where a tally covers several intervals.
    pub ops: f64,
    /// Bytes they moved, likewise.
    pub bytes: f64,
    /// Completions without error a second.
    pub ops_per_s: f64,
    /// Bytes a second.
    pub bytes_per_s: f64,
    /// Completions with error.
    pub errors: u64,
    /// Mean service time in nanoseconds.
    pub mean: Option<f64>,
    /// Median service time in nanoseconds, where the sample supports it.
    pub p50: Option<u64>,
    /// 99th percentile of service times in nanoseconds, where the sample supports it.
    pub p99: Option<u64>,
    /// 99.9th percentile of service times in nanoseconds, where the sample supports it.
    pub p99_9: Option<u64>,
    /// Largest service time in nanoseconds.
    pub max: Option<u64>,
}

/// One slot of the common grid with what fell into it.
struct Slot {
    from: Time,
    to: Time,
    ramp: bool,
    partial: bool,
    ops: f64,
    bytes: f64,
    errors: u64,
    service: Option<Histogram>,
}

impl Slot {
    fn new(from: Time, to: Time, ramp: bool) -> Self {
        let service = None;
        Slot { from, to, ramp, partial: false, ops: 0.0, bytes: 0.0, errors: 0, service }
    }

    fn length(&self) -> f64 {
        (self.to - self.from) as f64
    }
}

/// The intervals of one stream in order of time, ramp included and marked; of one kind, or of all
/// kinds but flush.
pub fn series(step: &StepRun, stream: u32, kind: Option<Action>) -> Vec<Point> {
    slots(step, stream, kind, true).into_iter().map(point).collect()
}

fn point(slot: Slot) -> Point {
    let service = slot.service.as_ref().filter(|service| !service.is_empty());
    let quantile = |share| service.and_then(|service| supported_quantile(service, share));
    Point {
        from: slot.from,
        to: slot.to,
        ramp: slot.ramp,
        partial: slot.partial,
        ops: slot.ops,
        bytes: slot.bytes,
        ops_per_s: slot.ops / seconds(slot.to - slot.from),
        bytes_per_s: slot.bytes / seconds(slot.to - slot.from),
        errors: slot.errors,
        mean: service.and_then(Histogram::mean),
        p50: quantile(0.5),
        p99: quantile(0.99),
        p99_9: quantile(0.999),
        max: service.map(Histogram::max),
    }
}

/// Operations and bytes a second over the whole intervals outside of the ramp, each with its
/// interval or the reason why there is none; and where the intervals begin.
pub(super) fn rates_over_time(
    step: &StepRun,
    stream: u32,
    kind: Option<Action>,
) -> (Option<OverTime>, Option<OverTime>, Vec<Time>) {
    let mut slots = slots(step, stream, kind, false);
    slots.retain(|slot| !slot.ramp && !slot.partial);
    let rates = |count: fn(&Slot) -> f64| -> Vec<f64> {
        slots.iter().map(|slot| count(slot) / seconds(slot.to - slot.from)).collect()
    };
    let begins = slots.iter().map(|slot| slot.from).collect();
    (over_time(&rates(|slot| slot.ops)), over_time(&rates(|slot| slot.bytes)), begins)
}

fn slots(step: &StepRun, stream: u32, kind: Option<Action>, latencies: bool) -> Vec<Slot> {
    let of_stream = |tally: &&Tally| tally.stream == stream && tally.to > tally.from;
    let tallies: Vec<&Tally> = step.tallies.iter().filter(of_stream).collect();
    let Some(length) = usual_length(&tallies) else { return Vec::new() };
    let (mut slots, led) = grid(&tallies, length);
    for tally in &tallies {
        place(&mut slots, led, tally, kind, length, latencies);
    }
    mark_partial(&mut slots, &tallies, length);
    slots
}

/// The upper median: only the last interval, and the one at the end of the ramp, are shorter.
fn usual_length(tallies: &[&Tally]) -> Option<Time> {
    let mut lengths: Vec<Time> = tallies.iter().map(|tally| tally.to - tally.from).collect();
    lengths.sort_unstable();
    lengths.get(lengths.len() / 2).copied()
}

/// The intervals of the worker that has the most. Where it has none because nothing completed, and
/// after its end, they are filled up: a stall must count as zero, not vanish. Also how many there
/// are until its end.
fn grid(tallies: &[&Tally], length: Time) -> (Vec<Slot>, usize) {
    let mut counts = std::collections::BTreeMap::new();
    for tally in tallies {
        *counts.entry(tally.worker).or_insert(0_u32) += 1;
    }
    let most = counts.iter().max_by_key(|(worker, count)| (**count, std::cmp::Reverse(**worker)));
    let leader = most.map_or(0, |(worker, _)| *worker);
    let mut known: Vec<&Tally> =
        tallies.iter().copied().filter(|tally| tally.worker == leader).collect();
    known.sort_by_key(|tally| tally.from);
    let mut slots: Vec<Slot> = Vec::with_capacity(known.len());
    for tally in known {
        let at = slots.last().map_or(tally.from, |slot| slot.to);
        fill(&mut slots, at, tally.from, length);
        slots.push(Slot::new(tally.from, tally.to, tally.ramp));
    }
    let led = slots.len();
    let end = tallies.iter().map(|tally| tally.to).max().unwrap_or(0);
    let at = slots.last().map_or(end, |slot| slot.to);
    fill(&mut slots, at, end, length);
    (slots, led)
}

/// Empty slots from `at` to `end`. A rest of 1 % is another reading of the same border.
fn fill(slots: &mut Vec<Slot>, mut at: Time, end: Time, length: Time) {
    while end.saturating_sub(at) as f64 > length as f64 * (1.0 - WHOLE) {
        let to = at.saturating_add(length).min(end);
        slots.push(Slot::new(at, to, false));
        at = to;
    }
}

fn place(
    slots: &mut [Slot],
    led: usize,
    tally: &Tally,
    kind: Option<Action>,
    length: Time,
    latencies: bool,
) {
    let wanted = |entry: &&KindTally| match kind {
        Some(kind) => entry.kind == kind,
        None => !entry.kind.goes_along(),
    };
    let sum = |count: fn(&KindTally) -> u64| -> u64 {
        tally.kinds.iter().filter(wanted).map(count).sum()
    };
    let (ops, bytes) = (sum(|entry| entry.ops) as f64, sum(|entry| entry.bytes) as f64);
    let middle = tally.from + (tally.to - tally.from) / 2;
    let home = slots.partition_point(|slot| slot.to <= middle).min(slots.len() - 1);
    let span = (tally.to - tally.from) as f64;
    let within =
        |slot: &Slot| slot.to.min(tally.to).saturating_sub(slot.from.max(tally.from)) as f64;
    // At the end every worker has another border.
    let is_cut = home + 1 >= led && within(&slots[home]) < span * WHOLE;
    if span > length as f64 * SEVERAL || is_cut {
        // When inside its span things completed is not known.
        let known: f64 = slots.iter().map(within).sum();
        for slot in slots.iter_mut() {
            let shared = within(slot) / known.max(1.0);
            slot.ops += ops * shared;
            slot.bytes += bytes * shared;
        }
    } else {
        slots[home].ops += ops;
        slots[home].bytes += bytes;
    }
    slots[home].errors += sum(KindTally::error_count);
    if latencies {
        let into = slots[home].service.get_or_insert_with(Histogram::thin);
        tally.kinds.iter().filter(wanted).for_each(|entry| into.merge(&entry.service));
    }
}

/// Short intervals, and a last one in which some worker had already ended.
fn mark_partial(slots: &mut [Slot], tallies: &[&Tally], length: Time) {
    for slot in slots.iter_mut() {
        slot.partial = slot.length() < length as f64 * WHOLE;
    }
    let workers: std::collections::BTreeSet<u32> =
        tallies.iter().map(|tally| tally.worker).collect();
    let ends = workers.into_iter().filter_map(|worker| {
        tallies.iter().filter(|tally| tally.worker == worker).map(|tally| tally.to).max()
    });
    let first_end = ends.min().unwrap_or(0);
    if let Some(last) = slots.last_mut() {
        let missing = last.to.saturating_sub(first_end) as f64;
        last.partial |= missing > length as f64 * (1.0 - WHOLE) && first_end > last.from;
    }
}

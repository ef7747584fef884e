//! What is done about an early fall: a rest, and then the same writes again; and, in the end, the
//! same load in other sizes.

use super::falling::{Low, READS, READS_RESTED, RESTED, SMALLEST};
use super::shown::{OPERATIONS_MIN, REST, sized};
use crate::experiment::budget::{Left, whole};
use crate::experiment::{Setting, loads, rounds};
use drivelab_core::plan::{Act, Mix, Plan, Role, Step, Until};
use drivelab_core::run::StepRun;
use drivelab_core::units::{Size, Span};

/// Part of the time, and of the bytes, that is kept for the sizes.
const KEPT: u64 = 6;
const READS_MOST: u64 = 20_000;
/// Reads after the rest, by the writes before the fall: few, so that they use up little of what the
/// rest brought back, and enough to be counted.
const RESTED_READS: (f64, u64) = (0.05, 256);
const SECOND_NS: u64 = 1_000_000_000;
/// Of the bytes of the first fall, what is written after the rest at most.
const AGAIN: f64 = 1.4;
/// Bytes of the largest size that is tried.
const LARGEST: u64 = 16 << 20;
/// Most bytes in flight.
const IN_FLIGHT: u64 = 32 << 20;
const DEPTH: u64 = 32;

/// What is left for everything else while the sizes are still to be tried.
pub fn without_kept(setting: &Setting<'_>, left: &Left) -> Left {
    let options = setting.options;
    Left {
        time_ns: left.time_ns.saturating_sub(options.time.0 / KEPT),
        bytes: left.bytes.saturating_sub((options.budget.0 / KEPT).min(setting.bytes() / 4)),
    }
}

/// Reads, a rest, a few reads, and the writes of before once more.
pub fn rest(setting: &Setting<'_>, low: &Low, left: &Left) -> Option<Plan> {
    let most_ns = left.time_ns / 8;
    let rest_ns = ((2.0 * low.refill_ns()) as u64).max(2 * SECOND_NS).min(most_ns);
    let again_ns = 3.0 * low.fast_ns() + 0.4 * low.refill_ns();
    let bytes = whole(((AGAIN * low.bytes) as u64).min(left.bytes / 2), SMALLEST);
    if rest_ns < SECOND_NS || bytes.0 < (low.bytes * 0.5) as u64 {
        return None;
    }
    let reads = Until {
        operations: Some(READS_MOST),
        elapsed: Some(Span((left.time_ns / 30).clamp(1, 10 * SECOND_NS))),
        ..Until::default()
    };
    let again = Until {
        bytes: Some(bytes),
        elapsed: Some(Span((again_ns as u64).max(SECOND_NS).min(left.time_ns / 4))),
        ..Until::default()
    };
    let few = (RESTED_READS.0 * low.bytes / SMALLEST as f64) as u64;
    let reads_rested = Until { operations: Some(few.clamp(RESTED_READS.1, READS_MOST)), ..reads };
    let load = |mix| loads::random(setting, mix, DEPTH as u32);
    let steps = vec![
        loads::step(setting, READS, Role::Precondition, reads, load(Mix::READ)),
        Step {
            name: REST.into(),
            role: Role::Idle,
            act: Some(Act::Idle(Span(rest_ns))),
            ..Step::default()
        },
        loads::step(setting, READS_RESTED, Role::Precondition, reads_rested, load(Mix::READ)),
        loads::step(setting, RESTED, Role::Precondition, again, load(Mix::WRITE)),
    ];
    let least = if setting.is_simulated() { 10_000_000 } else { 100_000_000 };
    let interval = ((low.fast_ns() / 25.0) as u64).clamp(least, SECOND_NS);
    Some(loads::plan(setting, interval, steps))
}

/// Every size that fits, and the first one again: the drive must not have moved meanwhile.
pub fn sizes(setting: &Setting<'_>, left: &Left) -> Option<Plan> {
    let doubled = std::iter::successors(Some(SMALLEST), |bytes| Some(bytes * 2));
    let all: Vec<u64> = doubled.take_while(|bytes| *bytes <= LARGEST).collect();
    let each = (setting.bytes() / 32).min(left.bytes / (all.len() as u64 + 2));
    let fit: Vec<u64> = all.into_iter().filter(|bytes| bytes * OPERATIONS_MIN <= each).collect();
    if fit.len() < 3 {
        return None;
    }
    let share = left.each(setting, fit.len() as u64 + 1, 10 * SECOND_NS);
    let one = |bytes: u64, name: String| {
        let depth = (IN_FLIGHT / bytes).clamp(1, DEPTH) as u32;
        let mut stream = loads::random(setting, Mix::WRITE, depth);
        stream.size = Size(bytes);
        let until = Until {
            bytes: Some(whole(each, bytes)),
            elapsed: Some(Span(share.max(1))),
            ..Until::default()
        };
        loads::step(setting, &name, Role::Precondition, until, stream)
    };
    let mut steps: Vec<Step> = fit.iter().map(|bytes| one(*bytes, sized(*bytes))).collect();
    steps.push(one(SMALLEST, format!("{}, again", sized(SMALLEST))));
    let least = if setting.is_simulated() { 10_000_000 } else { 100_000_000 };
    (share >= SECOND_NS / 10).then(|| loads::plan(setting, (share / 40).max(least), steps))
}

/// Whether a step of this name was begun.
pub fn is_tried(steps: &[StepRun], name: &str) -> bool {
    steps.iter().any(|step| step.begin.name == name)
}

/// Whether the sizes were begun.
pub fn are_sizes_tried(steps: &[StepRun]) -> bool {
    is_tried(steps, &sized(SMALLEST))
}

/// The least time that either part takes.
pub fn has_time(setting: &Setting<'_>, left: &Left) -> bool {
    left.time_ns >= 4 * SECOND_NS && left.bytes >= rounds::round_bytes(setting) / 4
}

//! `stride`: do reads with a stride meet on one part of the drive?
//!
//! Strided reads take one record each time a fixed number of bytes has passed. An array puts strip
//! after strip on its members in turn: where the stride is a multiple of the strips of all of them,
//! every record lies on the same member, and the others have nothing to do. Random reads at
//! multiples of each stride are compared with random reads anywhere, so that only the places differ
//! and not their order.

mod judge;

use crate::battery;
use crate::experiment::budget::{Left, STEP_NS_MIN, too_short};
use crate::experiment::order::{in_rounds, missing};
use crate::experiment::{
    Allowance, Needs, Setting, Study, impossible, loads, longest_ns, region, repetitions, too_small,
};
use drivelab_core::plan::{IoMode, Mix, Plan, Role, Step, Stream, Until};
use drivelab_core::quantity::size;
use drivelab_core::run::Run;
use drivelab_core::study::Scale;
use drivelab_core::units::{Size, Span};

/// The study.
pub const STUDY: Study = Study {
    name: "stride",
    question: "Do reads with a stride meet on one part of the drive?",
    allowance,
    objection,
    next,
    judge: judge::judge,
    needs: Needs { simulated_times: battery::SIMULATED_TIMES, ..Needs::PLAIN },
    ..Study::PLAIN
};

const SECOND_NS: u64 = 1_000_000_000;
const KIBIBYTE: u64 = 1 << 10;
/// Bytes of a record.
const RECORD_BYTES: u64 = 4 * KIBIBYTE;
/// Records outstanding: enough to keep each of sixteen members busy.
const DEPTH: u32 = 64;
/// A stride with fewer records than this in the part that is measured would be read from caches.
const RECORDS_MIN: u64 = 1024;
/// The longest stride, however large the part.
const STRIDE_MAX: u64 = 16 << 20;
/// Fewer bytes than this leave two or three strides.
const BUDGET_MIN: u64 = 1 << 30;
/// In virtual time a step ends with this many operations, which are enough: a fast drive needs far
/// fewer seconds for them than a slow one.
const VIRTUAL_OPERATIONS: u64 = 8_192;
/// The time it may take for them.
const VIRTUAL_NS: u64 = 20 * SECOND_NS;
/// 17 records of 4 KiB, IOzone's default, and the example of the IT168 article.
const ODD: [u64; 2] = [68 * KIBIBYTE, 200 * KIBIBYTE];
/// Strips are powers of two. Their doubles, and three, five and seven times as many, are the rows
/// of two to eight members, and share a divisor with those of 9, 10, 12, 14, 15 and 16.
const FAMILIES: [u64; 4] = [1, 3, 5, 7];
/// The shortest stride of a family has this many bytes for each of its parts.
const STRIP_MIN: u64 = 16 * KIBIBYTE;

/// Reads of records that lie anywhere, or on multiples of this many bytes.
fn name(stride: Option<u64>) -> String {
    match stride {
        Some(bytes) => format!("random read 4K qd{DEPTH}, stride {}", size(bytes)),
        None => format!("random read 4K qd{DEPTH}, anywhere"),
    }
}

/// The strides of which the measured part holds enough records, shortest first.
fn strides(bytes: u64) -> Vec<u64> {
    let most = STRIDE_MAX.min(bytes / RECORDS_MIN);
    let doubles = |parts| std::iter::successors(Some(parts * STRIP_MIN), |it| Some(2 * it));
    let family = |parts: u64| doubles(parts).take_while(|stride| *stride <= most);
    let others = ODD.into_iter().filter(|stride| *stride <= most);
    let mut all: Vec<u64> = FAMILIES.into_iter().flat_map(family).chain(others).collect();
    all.sort_unstable();
    all
}

fn allowance(scale: Scale, bytes: u64) -> Allowance {
    let (minutes, budget) = match scale {
        Scale::Quick => (5, 10 << 30),
        Scale::Default => (20, bytes.saturating_mul(4).clamp(10 << 30, 128 << 30)),
        Scale::Full => (120, bytes.saturating_mul(6).max(10 << 30)),
    };
    Allowance { time: Span(minutes * 60 * SECOND_NS), budget: Size(budget) }
}

fn objection(setting: &Setting<'_>) -> Option<String> {
    let path = &setting.facts.target.path;
    if !setting.is_drive() {
        return Some(format!(
            "`stride` asks where records lie on a drive, and where the parts of {path} lie is up \
             to its file system; name the block device, as in drivelab study stride /dev/md0"
        ));
    }
    if loads::base(setting).io != IoMode::Direct {
        return Some(format!(
            "{path} takes no direct I/O, and buffered reads are one at a time; name a drive that \
             takes several at once"
        ));
    }
    let steps =
        (strides(setting.bytes()).len() as u64 + 1) * repetitions(setting.options.scale) as u64;
    impossible(setting)
        .or_else(|| too_short(setting, steps))
        .or_else(|| too_small(setting, Size(BUDGET_MIN)))
}

fn next(setting: &Setting<'_>, run: &Run) -> Option<Plan> {
    region::next(setting, run, |left, bytes| missing(schedule(setting, left, bytes), run))
}

/// All strides and the reads anywhere once a round, each round in an order of its own.
fn schedule(setting: &Setting<'_>, left: &Left, bytes: u64) -> Vec<Step> {
    let rounds = repetitions(setting.options.scale);
    let all: Vec<Option<u64>> =
        std::iter::once(None).chain(strides(bytes).into_iter().map(Some)).collect();
    let most_ns = if setting.is_simulated() { VIRTUAL_NS } else { 2 * longest_ns(setting, 1) };
    let operations = setting.is_simulated().then_some(VIRTUAL_OPERATIONS);
    // A tenth is left for what is under way at the end of each step.
    let fair_ns = left.each(setting, (rounds * all.len()) as u64, u64::MAX) / 10 * 9;
    let each_ns = fair_ns.min(most_ns).max(STEP_NS_MIN);
    let step = |stride: Option<u64>| {
        // What ends by operations would end within it on a fast drive.
        let ramp = Span(if setting.is_simulated() { 0 } else { each_ns / 10 });
        let elapsed = Some(Span(each_ns - ramp.0));
        let until = Until { elapsed, operations, ..Until::default() };
        let stream = Stream {
            size: Size(RECORD_BYTES),
            align: stride.map(Size),
            length: Some(Size(bytes)),
            ..loads::random(setting, Mix::READ, DEPTH)
        };
        let step = loads::step(setting, &name(stride), Role::Measure, until, stream);
        Step { ramp, ..step }
    };
    in_rounds(&all, rounds as u64, setting.options.seed).map(step).collect()
}

#[cfg(test)]
mod tests;

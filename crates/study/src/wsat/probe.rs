//! What is done about an early fall: a rest, and then the same writes again; and, in the end, the
//! same load in other sizes.

use super::{Left, Setting, loads, rounds};
use crate::experiment::budget::whole;
use crate::experiment::falls::{Fall, history};
use crate::experiment::order::since_break;
use drivelab_core::op::Action;
use drivelab_core::plan::{Act, Mix, Plan, Role, Step, Until};
use drivelab_core::quantity::size;
use drivelab_core::run::{Run, StepRun};
use drivelab_core::units::{Size, Span};

/// Reads while the rate is low.
pub const READS: &str = "random read, after the fall";
const REST: &str = "rest after the fall";
/// Writes behind that rest.
pub const RESTED: &str = "random write, after the rest";
/// Part of the time, and of the bytes, that is kept for the sizes.
const KEPT: u64 = 6;
const READS_MOST: u64 = 20_000;
const SECOND_NS: u64 = 1_000_000_000;
/// Of the bytes of the first fall, what is written after the rest at most.
const AGAIN: f64 = 1.4;
/// Bytes of the sizes that are tried.
const SMALLEST: u64 = 4096;
const LARGEST: u64 = 16 << 20;
/// Most bytes in flight.
const IN_FLIGHT: u64 = 32 << 20;
const DEPTH: u64 = 32;
/// A size is worth trying if so many operations of it fit.
const OPERATIONS_MIN: u64 = 8;

/// What was written until the first fall, and how fast it went on.
#[derive(Debug, Clone, Copy, PartialEq)]
pub struct Low {
    /// Bytes until the fall.
    pub bytes: f64,
    /// Operations a second until then.
    pub before: f64,
    /// The median behind it.
    pub after: f64,
    /// It fell at once.
    pub is_sharp: bool,
}

impl Low {
    /// The rate behind a fall; the steps are those of the writes until the rest.
    pub fn of(fall: &Fall, writes: &[&StepRun]) -> Option<Low> {
        let behind = history(writes).into_iter();
        let mut rates: Vec<f64> = behind
            .filter(|at| !at.is_partial && at.bytes > fall.bytes && at.rate < 0.9 * fall.before)
            .map(|at| at.rate)
            .collect();
        rates.sort_by(f64::total_cmp);
        let after = rates.get(rates.len() / 2).copied().filter(|rate| *rate > 0.0)?;
        let is_sharp = fall.is_sharp;
        Some(Low { bytes: fall.bytes, before: fall.before, after, is_sharp })
    }

    /// The time to write those bytes at the lower rate.
    fn refill_ns(&self) -> f64 {
        self.bytes / SMALLEST as f64 / self.after * 1e9
    }

    fn fast_ns(&self) -> f64 {
        self.bytes / SMALLEST as f64 / self.before * 1e9
    }
}

/// What is left for everything else while the sizes are still to be tried.
pub fn without_kept(setting: &Setting<'_>, left: &Left) -> Left {
    let options = setting.options;
    Left {
        time_ns: left.time_ns.saturating_sub(options.time.0 / KEPT),
        bytes: left.bytes.saturating_sub((options.budget.0 / KEPT).min(setting.bytes() / 4)),
    }
}

/// Reads, a rest, and the writes of before once more.
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
    let load = |mix| loads::random(setting, mix, DEPTH as u32);
    let steps = vec![
        loads::step(setting, READS, Role::Precondition, reads, load(Mix::READ)),
        Step {
            name: REST.into(),
            role: Role::Idle,
            act: Some(Act::Idle(Span(rest_ns))),
            ..Step::default()
        },
        loads::step(setting, RESTED, Role::Precondition, again, load(Mix::WRITE)),
    ];
    let least = if setting.is_simulated() { 10_000_000 } else { 100_000_000 };
    let interval = ((low.fast_ns() / 25.0) as u64).clamp(least, SECOND_NS);
    Some(loads::plan(setting, interval, steps))
}

fn sized(bytes: u64) -> String {
    format!("random write of {}, for its size", size(bytes))
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

/// What reads, rest and sizes showed.
#[derive(Debug, Clone, PartialEq)]
pub struct Shown {
    pub low: Low,
    /// Reads a second while writes were slow.
    pub reads: Option<f64>,
    pub rested: Option<Rested>,
    /// Bytes of a write, and such writes a second.
    pub sizes: Vec<(u64, f64)>,
    /// The first size came at another rate when all had been tried.
    pub has_moved: bool,
}

/// The writes after the rest.
#[derive(Debug, Clone, Copy, PartialEq)]
pub struct Rested {
    pub rest_ns: u64,
    /// Operations a second until they fell again.
    pub rate: f64,
    /// Bytes until then.
    pub bytes: f64,
    /// They did fall.
    pub is_end_seen: bool,
}

impl Shown {
    /// What a run shows of the causes of its first fall.
    pub fn of(run: &Run, low: Low) -> Shown {
        let steps = since_break(run);
        let found = |name: &str| steps.iter().find(|step| step.begin.name == name);
        let reads = found(READS).and_then(|step| rate(step, Action::Read, SMALLEST));
        let rest_ns = found(REST).map_or(0, StepRun::duration_ns);
        let rested = found(RESTED).and_then(|step| Rested::of(step, rest_ns, &low));
        let (sizes, has_moved) = sizes_of(steps);
        Shown { low, reads, rested, sizes, has_moved }
    }
}

impl Rested {
    /// How fast it was and for how long; between the two levels lies their geometric mean.
    fn of(step: &StepRun, rest_ns: u64, low: &Low) -> Option<Rested> {
        let middle = (low.before * low.after).sqrt();
        let all: Vec<_> = history(&[step]).into_iter().filter(|at| !at.is_partial).collect();
        let slow = all.windows(2).position(|two| two.iter().all(|at| at.rate < middle));
        let fast = &all[..slow.unwrap_or(all.len())];
        let mut rates: Vec<f64> = fast.iter().map(|at| at.rate).collect();
        rates.sort_by(f64::total_cmp);
        let rate = rates.get(rates.len() / 2).copied();
        let bytes = fast.last().map_or(0.0, |at| at.bytes);
        let is_end_seen = slow.is_some();
        let first = all.first()?.rate;
        Some(Rested { rest_ns, rate: rate.unwrap_or(first), bytes, is_end_seen })
    }
}

/// Operations a second over the later half of a step, once whatever came before has left it.
fn rate(step: &StepRun, kind: Action, bytes: u64) -> Option<f64> {
    let all = drivelab_core::summary::series(step, 0, Some(kind));
    let from = match all.len() {
        0..8 => 0,
        count => count / 2,
    };
    let seconds: f64 = all[from..].iter().map(|at| (at.to - at.from) as f64 / 1e9).sum();
    let spans = all[from..].iter().map(|at| at.bytes_per_s * (at.to - at.from) as f64 / 1e9);
    let operations = spans.sum::<f64>() / bytes as f64;
    (seconds > 0.0 && operations >= OPERATIONS_MIN as f64 / 2.0).then(|| operations / seconds)
}

/// The rate of each size up to the first one that has none, and whether the drive moved meanwhile.
fn sizes_of(steps: &[StepRun]) -> (Vec<(u64, f64)>, bool) {
    let found = |name: &str| steps.iter().find(|step| step.begin.name == name);
    let of = |bytes: u64| {
        let step = found(&sized(bytes))?;
        Some((bytes, rate(step, Action::Write, bytes)?))
    };
    let doubled = std::iter::successors(Some(SMALLEST), |bytes| Some(bytes * 2));
    let all: Vec<(u64, f64)> = doubled.map_while(of).take(64).collect();
    let again = found(&format!("{}, again", sized(SMALLEST)));
    let again = again.and_then(|step| rate(step, Action::Write, SMALLEST));
    let is_alike = match (all.first(), again) {
        (Some((_, first)), Some(again)) => (2.0 / 3.0..=1.5).contains(&(again / first)),
        _ => false,
    };
    (all, !is_alike)
}

/// The steps before the rest.
pub fn before_rest(steps: &[StepRun]) -> &[StepRun] {
    let at = steps.iter().position(|step| step.begin.name == READS);
    &steps[..at.unwrap_or(steps.len())]
}

/// The least time that either part takes.
pub fn has_time(setting: &Setting<'_>, left: &Left) -> bool {
    left.time_ns >= 4 * SECOND_NS && left.bytes >= rounds::round_bytes(setting) / 4
}

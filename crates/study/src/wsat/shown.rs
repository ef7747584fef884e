//! What reads, a rest and other sizes showed of the level behind the first fall.

use super::falling::{Low, READS, READS_RESTED, RESTED, SMALLEST};
use crate::experiment::falls::history;
use crate::experiment::order::since_break;
use drivelab_core::op::Action;
use drivelab_core::quantity::size;
use drivelab_core::run::{Run, StepRun};

/// Between the reads and the writes behind the fall.
pub const REST: &str = "rest after the fall";
/// A size is worth trying if this many operations of it fit.
pub const OPERATIONS_MIN: u64 = 8;

/// The name of the step that writes so much at once.
pub fn sized(bytes: u64) -> String {
    format!("random write of {}, for its size", size(bytes))
}

/// What reads, rest and sizes showed.
#[derive(Debug, Clone, PartialEq)]
pub struct Shown {
    pub low: Low,
    /// Reads a second while writes were slow.
    pub reads: Option<f64>,
    /// Reads a second right after the rest.
    pub reads_rested: Option<f64>,
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
    /// What a run shows of the causes of its first fall, if anything.
    pub fn of(run: &Run, low: Low) -> Option<Shown> {
        let steps = since_break(run);
        let found = |name: &str| steps.iter().find(|step| step.begin.name == name);
        let reads_in = |name| found(name).and_then(|step| rate(step, Action::Read, SMALLEST));
        let (reads, reads_rested) = (reads_in(READS), reads_in(READS_RESTED));
        let rest_ns = found(REST).map_or(0, StepRun::duration_ns);
        let rested = found(RESTED).and_then(|step| Rested::of(step, rest_ns, &low));
        let (sizes, has_moved) = sizes_of(steps);
        let is_any = reads.is_some() || rested.is_some() || !sizes.is_empty();
        is_any.then_some(Shown { low, reads, reads_rested, rested, sizes, has_moved })
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

impl Shown {
    /// How many times as fast as before the rest reads were after it.
    pub fn reads_gained(&self) -> Option<f64> {
        Some(self.reads_rested? / self.reads?)
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

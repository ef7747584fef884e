//! Where the random writes of a drive fell, which of their steps count for that, and how fast it
//! was before and behind its first fall.

use crate::experiment::falls::{self, Fall, history};
use crate::experiment::rounds::{self, ROUND};
use crate::experiment::{Setting, loads};
use drivelab_core::run::{Run, StepRun};
use drivelab_stats::steady::Holder;

/// The first writes, by which the drive is known as it was.
pub const FIRST: &str = "first random write";
/// Rounds from the empty drive to its cliff.
pub const TO_CLIFF: &str = "random write, from empty";
/// What is measured once the drive has settled.
pub const STEADY: &str = "steady random write";
/// Reads while the rate is low.
pub const READS: &str = "random read, after the fall";
/// Writes behind a rest after that.
pub const READS_RESTED: &str = "random read, after the rest";
pub const RESTED: &str = "random write, after the rest";
/// Bytes of those writes.
pub const SMALLEST: u64 = 4096;
/// Part of the drive that the first writes cover.
const FIRST_PART: u64 = 16;
/// Before this share of its capacity no empty flash drive has to collect.
const CACHE_END: f64 = 0.9;

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
    pub fn refill_ns(&self) -> f64 {
        self.bytes / SMALLEST as f64 / self.after * 1e9
    }

    /// The time that they took.
    pub fn fast_ns(&self) -> f64 {
        self.bytes / SMALLEST as f64 / self.before * 1e9
    }
}

/// Whether the drive was written in order behind its cliff.
pub fn is_refilled(steps: &[StepRun]) -> bool {
    let first = steps.iter().position(|step| step.begin.name == FIRST).unwrap_or(0);
    steps[first..].iter().any(|step| step.begin.name == loads::FILL)
}

/// Bytes of the first writes.
pub fn first_bytes(setting: &Setting<'_>) -> u64 {
    (setting.bytes() / FIRST_PART).min(rounds::round_bytes(setting))
}

/// The rate behind the first fall of a drive that was certainly empty, if that came early.
pub fn early(setting: &Setting<'_>, run: &Run, steps: &[StepRun]) -> Option<Low> {
    if !setting.is_drive() || loads::not_purged(setting, run).is_some() {
        return None;
    }
    let fall = falls_of(setting, steps).into_iter().next()?;
    let names = [FIRST, TO_CLIFF, ROUND, STEADY];
    let writes: Vec<&StepRun> = before_rest(steps)
        .iter()
        .filter(|step| names.contains(&step.begin.name.as_str()))
        .collect();
    let is_asked = fall.bytes > 0.0 && !may_be_cliff(setting, &fall);
    Low::of(&fall, &writes).filter(|_| is_asked)
}

/// Whether spare flash that is used up may be behind a fall of an empty drive.
pub fn may_be_cliff(setting: &Setting<'_>, fall: &Fall) -> bool {
    !is_early(setting, fall) && rounds::holder(setting) == Holder::Spare
}

/// No emptied flash drive has to collect so early.
pub fn is_early(setting: &Setting<'_>, fall: &Fall) -> bool {
    fall.bytes < CACHE_END * setting.bytes() as f64
}

/// Where the random writes fell from the first one on, until the drive was written in order or
/// had settled.
pub fn falls_of(setting: &Setting<'_>, steps: &[StepRun]) -> Vec<Fall> {
    let names: &[&str] =
        match is_refilled(steps) || steps.iter().any(|it| it.begin.name == TO_CLIFF) {
            true => &[FIRST, TO_CLIFF, RESTED],
            false => &[FIRST, ROUND, STEADY, RESTED],
        };
    let writes: Vec<&StepRun> =
        steps.iter().filter(|step| names.contains(&step.begin.name.as_str())).collect();
    // What a rest brought back counts by its bytes, and falls by itself.
    let mut known = falls::history(&writes);
    let of_rest = writes.iter().filter(|step| step.begin.name == RESTED);
    let rested: usize = of_rest.map(|step| falls::history(&[step]).len()).sum();
    let before: Vec<&StepRun> =
        writes.iter().copied().take_while(|step| step.begin.name != RESTED).collect();
    let at = falls::history(&before).len();
    known.drain(at..(at + rested).min(known.len()));
    let bytes = setting.bytes() as f64;
    let first = first_bytes(setting) as f64;
    falls::falls(&known, first, bytes, CACHE_END * bytes)
}

/// The steps before the rest.
fn before_rest(steps: &[StepRun]) -> &[StepRun] {
    let at = steps.iter().position(|step| step.begin.name == READS);
    &steps[..at.unwrap_or(steps.len())]
}

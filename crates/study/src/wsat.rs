//! `wsat`: when does the write cliff come, and what is left after it?
//!
//! The drive is emptied and then written at random until it falls over its cliff: the write
//! saturation test of SNIA's specification. It does not end there, nor after four capacities, but
//! when the drive has settled by proof. To get there soon it is written in order first: at random
//! it takes eight capacities until nearly every block was met, and what was not is spare flash.

mod cause;
mod judge;
mod probe;

use crate::experiment::budget::{Left, written};
use crate::experiment::falls::{self, Fall};
use crate::experiment::order::{done, since_break};
use crate::experiment::rounds::{self, ROUND};
use crate::experiment::{Allowance, Setting, Study, impossible, loads, too_small};
use drivelab_core::plan::{Act, Plan, Role, Step};
use drivelab_core::rounds::is_filled;
use drivelab_core::run::{Run, StepRun};
use drivelab_core::sound::Rules;
use drivelab_core::study::Scale;
use drivelab_core::units::{Size, Span};
use drivelab_stats::steady::{Holder, TURN_ROUNDS};
use probe::{Low, RESTED};

/// The study.
pub const STUDY: Study = Study {
    name: "wsat",
    question: "When does the write cliff come, and what is left after it?",
    allowance,
    objection,
    next,
    established: rounds::established,
    rules: Rules::SERIES,
    judge: judge::judge,
    ..Study::PLAIN
};

/// The first writes, by which the drive is known as it was.
const FIRST: &str = "first random write";
/// Rounds from the empty drive to its cliff.
const TO_CLIFF: &str = "random write, from empty";
/// What is measured once the drive has settled.
const STEADY: &str = "steady random write";
const WATCHED: usize = 5;
const SECOND_NS: u64 = 1_000_000_000;
/// A drive that was emptied is left alone for so long: it erases.
const REST_NS: u64 = 10 * SECOND_NS;
/// Part of the drive that the first writes cover.
const FIRST_PART: u64 = 16;
/// An emptied drive that has not fallen after so many capacities falls no more at once.
const TO_CLIFF_TURNS: u64 = 2;
/// Before this share of its capacity no empty flash drive has to collect.
const CACHE_END: f64 = 0.9;

fn allowance(scale: Scale, bytes: u64) -> Allowance {
    let (minutes, budget) = match scale {
        Scale::Quick => (5, 10 << 30),
        Scale::Default => (60, bytes.saturating_mul(16)),
        Scale::Full => (24 * 60, bytes.saturating_mul(24)),
    };
    Allowance { time: Span(minutes * 60 * SECOND_NS), budget: Size(budget) }
}

fn objection(setting: &Setting<'_>) -> Option<String> {
    let least = if setting.is_drive() { 0 } else { setting.bytes() } + (64 << 20);
    impossible(setting).or_else(|| too_small(setting, Size(least)))
}

fn next(setting: &Setting<'_>, run: &Run) -> Option<Plan> {
    let left = Left::of(setting, run);
    let steps = since_break(run);
    let interval = rounds::interval_ns(setting, steps);
    if !setting.is_drive() && run.ledger().state != "filled" && done(steps, FIRST) == 0 {
        // Blocks of a file that were never written are found on the way, which is slow.
        let is_tried = steps.iter().any(|step| step.begin.name == loads::FILL);
        let fill = loads::fill(setting, 1, &left);
        return (!is_tried && left.bytes >= setting.bytes())
            .then(|| loads::plan(setting, interval, vec![fill]));
    }
    if done(steps, FIRST) == 0 {
        let is_tried = steps.iter().any(|step| step.begin.name == FIRST);
        let first = first_steps(setting, run, &left);
        return (!is_tried && has_room(setting, &left))
            .then(|| loads::plan(setting, interval, first));
    }
    let low = early(setting, run, steps);
    if let Some(low) = &low
        && !probe::is_tried(steps, probe::READS)
        && !is_refilled(steps)
        && probe::has_time(setting, &left)
        && let Some(rest) = probe::rest(setting, low, &probe::without_kept(setting, &left))
    {
        return Some(rest);
    }
    let asks = low.is_some() && probe::is_tried(steps, probe::RESTED);
    if !asks || probe::are_sizes_tried(steps) {
        return onward(setting, run, &left);
    }
    let sizes = || probe::sizes(setting, &left).filter(|_| probe::has_time(setting, &left));
    onward(setting, run, &probe::without_kept(setting, &left)).or_else(sizes)
}

/// The way from the first writes to the steady state.
fn onward(setting: &Setting<'_>, run: &Run, left: &Left) -> Option<Plan> {
    let steps = since_break(run);
    let interval = rounds::interval_ns(setting, steps);
    let round = |name, left: &Left| {
        let bytes = rounds::round_bytes(setting);
        let round = rounds::write_step(setting, name, Role::Precondition, bytes, left);
        loads::plan(setting, interval, vec![round])
    };
    if !has_room(setting, left) {
        return None;
    }
    match stage(setting, run, left) {
        Stage::ToCliff => Some(round(TO_CLIFF, left)),
        Stage::Fill => Some(loads::plan(setting, interval, vec![loads::fill(setting, 1, left)])),
        Stage::Settle => Some(round(ROUND, left)),
        Stage::Watch(watched) => {
            let share = Left { time_ns: left.time_ns / (WATCHED - watched) as u64, ..*left };
            let bytes = rounds::round_bytes(setting);
            let watch = rounds::write_step(setting, STEADY, Role::Measure, bytes, &share);
            let rest = vec![watch; WATCHED - watched];
            let rest = within(rest, left);
            (!rest.is_empty()).then(|| loads::plan(setting, interval, rest))
        }
        Stage::Over => None,
    }
}

/// What comes behind the first writes.
enum Stage {
    ToCliff,
    Fill,
    Settle,
    /// So many rounds were watched.
    Watch(usize),
    Over,
}

fn stage(setting: &Setting<'_>, run: &Run, left: &Left) -> Stage {
    let steps = since_break(run);
    let is_tried = |name: &str| steps.iter().any(|step| step.begin.name == name);
    let watched = done(steps, STEADY);
    if watched > 0 || is_tried(STEADY) {
        return if watched < WATCHED { Stage::Watch(watched) } else { Stage::Over };
    }
    // A round that the clock cut short is the last one.
    let is_short = |name| done(steps, name) > rounds::rates(setting, steps, name).len();
    if is_tried(ROUND) {
        let is_settled = rounds::is_whole(setting) && rounds::settled(setting, run).is_ok();
        return match (is_settled, is_short(ROUND)) {
            (true, _) => Stage::Watch(0),
            (false, true) => Stage::Over,
            (false, false) => Stage::Settle,
        };
    }
    let first = steps.iter().find(|step| step.begin.name == FIRST);
    let began = first.map_or("unknown", |step| step.begin.state.as_str());
    let has_cliff = setting.is_drive()
        && rounds::holder(setting) == Holder::Spare
        && !(is_filled(began) || began == "tortured");
    if !has_cliff || is_refilled(steps) {
        return Stage::Settle;
    }
    if is_short(TO_CLIFF) {
        return Stage::Over;
    }
    let most = TO_CLIFF_TURNS.saturating_mul(setting.bytes());
    let is_seen = falls_of(setting, steps).last().is_some_and(|fall| !is_early(setting, fall));
    if !is_seen && written(&of_names(steps, &[FIRST, TO_CLIFF, RESTED])) < most {
        return Stage::ToCliff;
    }
    // Two turns and the fill, or nothing is proved in the end.
    let needed = setting.bytes() + 2 * TURN_ROUNDS as u64 * rounds::round_bytes(setting);
    match rounds::is_whole(setting) && left.bytes >= needed {
        true => Stage::Fill,
        false => Stage::Over,
    }
}

/// Whether the drive was written in order behind its cliff.
fn is_refilled(steps: &[StepRun]) -> bool {
    let first = steps.iter().position(|step| step.begin.name == FIRST).unwrap_or(0);
    steps[first..].iter().any(|step| step.begin.name == loads::FILL)
}

fn of_names(steps: &[StepRun], names: &[&str]) -> Vec<StepRun> {
    steps.iter().filter(|step| names.contains(&step.begin.name.as_str())).cloned().collect()
}

/// Bytes of the first writes.
fn first_bytes(setting: &Setting<'_>) -> u64 {
    (setting.bytes() / FIRST_PART).min(rounds::round_bytes(setting))
}

/// The rate behind the first fall of a drive that was certainly empty, if that came early.
fn early(setting: &Setting<'_>, run: &Run, steps: &[StepRun]) -> Option<Low> {
    if !setting.is_drive() || loads::not_purged(setting, run).is_some() {
        return None;
    }
    let fall = falls_of(setting, steps).into_iter().next()?;
    let names = [FIRST, TO_CLIFF, ROUND, STEADY];
    let writes: Vec<&StepRun> = probe::before_rest(steps)
        .iter()
        .filter(|step| names.contains(&step.begin.name.as_str()))
        .collect();
    let is_asked = fall.bytes > 0.0 && !may_be_cliff(setting, &fall);
    Low::of(&fall, &writes).filter(|_| is_asked)
}

/// Whether spare flash that is used up may be behind a fall of an empty drive.
fn may_be_cliff(setting: &Setting<'_>, fall: &Fall) -> bool {
    !is_early(setting, fall) && rounds::holder(setting) == Holder::Spare
}

/// No emptied flash drive has to collect so early.
fn is_early(setting: &Setting<'_>, fall: &Fall) -> bool {
    fall.bytes < CACHE_END * setting.bytes() as f64
}

/// Where the random writes fell from the first one on, until the drive was written in order or
/// had settled.
fn falls_of(setting: &Setting<'_>, steps: &[StepRun]) -> Vec<Fall> {
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

/// As many steps as the bytes that are left allow.
fn within(steps: Vec<Step>, left: &Left) -> Vec<Step> {
    let mut bytes = left.bytes;
    let fits = |step: &Step| {
        let needed = step.until.bytes.map_or(0, |bytes| bytes.0);
        let fits = needed <= bytes;
        bytes = bytes.saturating_sub(needed);
        fits
    };
    steps.into_iter().take_while(fits).collect()
}

fn has_room(setting: &Setting<'_>, left: &Left) -> bool {
    left.bytes >= rounds::round_bytes(setting) && left.time_ns >= SECOND_NS
}

/// Empties a drive, fills a file, and writes the first random blocks.
fn first_steps(setting: &Setting<'_>, run: &Run, left: &Left) -> Vec<Step> {
    let mut steps = Vec::new();
    match setting.is_drive() {
        true if loads::is_empty(setting, run) => {}
        true => {
            steps.extend(loads::empty(setting));
            if !steps.is_empty() && !setting.is_simulated() {
                let rest = Act::Idle(Span(REST_NS.min(left.time_ns / 10).max(1)));
                let act = Some(rest);
                let name = "rest".into();
                steps.push(Step { name, role: Role::Idle, act, ..Step::default() });
            }
        }
        false => {}
    }
    steps.push(rounds::write_step(setting, FIRST, Role::Measure, first_bytes(setting), left));
    steps
}

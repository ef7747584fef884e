//! `wsat`: when does the write cliff come, and what is left after it?
//!
//! The drive is emptied and then written at random until it falls over its cliff: the write
//! saturation test of SNIA's specification. It does not end there, nor after four capacities, but
//! when the drive has settled by proof. To get there soon it is written in order first: at random
//! it takes eight capacities until nearly every block was met, and what was not is spare flash.

mod cause;
mod falling;
mod judge;
mod probe;
mod shown;

use crate::experiment::budget::{Left, written};
use crate::experiment::order::{done, since_break};
use crate::experiment::rounds::{self, ROUND};
use crate::experiment::{Allowance, Setting, Study, Swept, impossible, loads, too_small};
use drivelab_core::plan::{Act, Plan, Role, Step};
use drivelab_core::rounds::is_filled;
use drivelab_core::run::{Run, StepRun};
use drivelab_core::sound::Rules;
use drivelab_core::study::Scale;
use drivelab_core::units::{Size, Span};
use drivelab_stats::steady::{Holder, TURN_ROUNDS};
use falling::{FIRST, READS, RESTED, STEADY, TO_CLIFF};
use falling::{early, falls_of, first_bytes, is_early, is_refilled};

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
    swept: Swept { figures: &["steady state"], amplified: Some(STEADY) },
    ..Study::PLAIN
};

const WATCHED: usize = 5;
const SECOND_NS: u64 = 1_000_000_000;
/// A drive that was emptied is left alone for so long: it erases.
const REST_NS: u64 = 10 * SECOND_NS;
/// An emptied drive that has not fallen after this many capacities is filled and settled, so that
/// something is proved of it …
const TO_CLIFF_TURNS: u64 = 2;
/// … unless the budget has room for both: some drives, with much spare flash or a map of logs, fall
/// later. Behind this many they fall no more at once.
const TO_CLIFF_TURNS_MAX: u64 = 6;

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
        && !probe::is_tried(steps, READS)
        && !is_refilled(steps)
        && probe::has_time(setting, &left)
        && let Some(rest) = probe::rest(setting, low, &probe::without_kept(setting, &left))
    {
        return Some(rest);
    }
    let asks = low.is_some() && probe::is_tried(steps, RESTED);
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
    /// This many rounds were watched.
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
    // Two turns and the fill, or nothing is proved in the end.
    let round_bytes = rounds::round_bytes(setting);
    let needed = setting.bytes() + 2 * TURN_ROUNDS as u64 * round_bytes;
    let is_roomy = left.bytes >= needed + WATCHED as u64 * round_bytes + round_bytes;
    let turns = if is_roomy { TO_CLIFF_TURNS_MAX } else { TO_CLIFF_TURNS };
    let most = turns.saturating_mul(setting.bytes());
    let is_seen = falls_of(setting, steps).last().is_some_and(|fall| !is_early(setting, fall));
    if !is_seen && written(&of_names(steps, &[FIRST, TO_CLIFF, RESTED])) < most {
        return Stage::ToCliff;
    }
    match rounds::is_whole(setting) && left.bytes >= needed {
        true => Stage::Fill,
        false => Stage::Over,
    }
}

fn of_names(steps: &[StepRun], names: &[&str]) -> Vec<StepRun> {
    steps.iter().filter(|step| names.contains(&step.begin.name.as_str())).cloned().collect()
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

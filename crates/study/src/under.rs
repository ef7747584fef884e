//! `under`: what does a drive still do while something else uses it, and what does that get?
//!
//! The other load is an open loop: it comes at its own rate, whatever the drive makes of it. The
//! measured loads run alone and next to it, the other load alone too.

mod judge;
mod neighbour;

use crate::experiment::budget::{Left, STEP_NS_MIN, too_short, whole};
use crate::experiment::order::{in_rounds, missing};
use crate::experiment::{
    Allowance, Needs, OwnOption, Setting, Study, impossible, loads, longest_ns, region,
    repetitions, too_small,
};
use drivelab_core::plan::{Mix, Plan, Role, Step, Stream, Until};
use drivelab_core::run::{Run, StepRun};
use drivelab_core::study::Scale;
use drivelab_core::units::{Size, Span};

/// The study.
pub const STUDY: Study = Study {
    name: "under",
    question: "What does a drive still do under another load, and what does that load get?",
    needs: Needs { begins_as_published: true, ..Needs::PLAIN },
    allowance,
    objection,
    next,
    judge: judge::judge,
    options: &[OwnOption::Load],
    ..Study::PLAIN
};

/// What is measured: name, share of reads in percent, operations in flight; all of 4 KiB at random.
const LOADS: [(&str, u32, u32); 2] = [("random read qd1", 100, 1), ("random 70/30 qd64", 70, 64)];
const REQUEST_BYTES: u64 = 4096;
/// A budget of less would leave steps of a few milliseconds.
const BUDGET_MIN: u64 = 256 << 20;
const GRAIN: u64 = 1 << 20;

/// One load, or both.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
enum Cell {
    /// A measured one by itself.
    Alone(usize),
    /// The same next to the other load.
    Beside(usize),
    /// The other load by itself.
    Neighbour,
}

impl Cell {
    const ALL: [Cell; 5] =
        [Cell::Alone(0), Cell::Beside(0), Cell::Alone(1), Cell::Beside(1), Cell::Neighbour];

    fn name(self, setting: &Setting<'_>) -> String {
        let other = setting.options.under.load.word();
        match self {
            Cell::Alone(at) => format!("{} alone", LOADS[at].0),
            Cell::Beside(at) => format!("{} with {other}", LOADS[at].0),
            Cell::Neighbour => format!("{other} alone"),
        }
    }
}

fn allowance(scale: Scale, bytes: u64) -> Allowance {
    region::allowance(scale, bytes, [5, 20, 2 * 60])
}

fn objection(setting: &Setting<'_>) -> Option<String> {
    // Each cell is run once before it is measured.
    let steps = 2 * repetitions(setting.options.scale) * Cell::ALL.len();
    impossible(setting)
        .or_else(|| too_short(setting, steps as u64))
        .or_else(|| too_small(setting, Size(BUDGET_MIN)))
}

fn next(setting: &Setting<'_>, run: &Run) -> Option<Plan> {
    region::next(setting, run, |left, bytes| missing(schedule(setting, run, left, bytes), run))
}

/// Each round has all cells once, shuffled again.
fn schedule(setting: &Setting<'_>, run: &Run, left: &Left, region: u64) -> Vec<Step> {
    let rounds = repetitions(setting.options.scale);
    let all = rounds * Cell::ALL.len();
    let is_measured = |step: &&StepRun| step.begin.role == Role::Measure;
    let missing = all.saturating_sub(run.steps.iter().filter(is_measured).count()).max(1);
    let each_ns = left.each(setting, 2 * missing as u64, longest_ns(setting, 1)).max(STEP_NS_MIN);
    let bytes = left.bytes / (4 * missing as u64);
    let both = |cell| {
        let step = one(setting, cell, region, [each_ns, bytes]);
        [loads::running_in(&step), step]
    };
    in_rounds(&Cell::ALL, rounds as u64, setting.options.seed).flat_map(both).collect()
}

/// The measured load has the first half of the region, the other one the second.
fn one(setting: &Setting<'_>, cell: Cell, region: u64, [each_ns, bytes]: [u64; 2]) -> Step {
    let half = region / 2 / GRAIN * GRAIN;
    let neighbours = || neighbour::streams(setting, half, region - half);
    let measured = |at: usize| {
        let (_, read, depth) = LOADS[at];
        let mix = Mix { read, write: 100 - read, trim: 0 };
        let stream = loads::random(setting, mix, depth);
        Stream { name: neighbour::MEASURED.into(), length: Some(Size(half)), ..stream }
    };
    // It may write so much: a step ends before that, or the neighbour would be gone from it.
    let written_per_s = neighbours().iter().map(neighbour::written_per_s).sum::<f64>();
    let each_ns = match cell {
        Cell::Alone(_) => each_ns,
        _ => each_ns.min((0.8e9 * bytes as f64 / written_per_s.max(1.0)) as u64),
    };
    let elapsed = Some(Span(each_ns));
    let waiting = |stream: Stream| {
        let most = Some(whole(bytes, stream.size.0));
        let until = Some(Until { elapsed, bytes: most, ..Until::default() });
        Stream { background: true, until, ..stream }
    };
    let streams: Vec<Stream> = match cell {
        Cell::Alone(at) => vec![measured(at)],
        Cell::Beside(at) => {
            std::iter::once(measured(at)).chain(neighbours().into_iter().map(waiting)).collect()
        }
        Cell::Neighbour => neighbours(),
    };
    let writes = streams.first().is_some_and(|stream| stream.mix.write > 0);
    let until =
        Until { elapsed, bytes: writes.then(|| whole(bytes, REQUEST_BYTES)), ..Until::default() };
    let name = cell.name(setting);
    let step = loads::step(setting, &name, Role::Measure, until, Stream::default());
    Step { streams, ..step }
}

#[cfg(test)]
mod tests;

//! `mix`: what does one write among reads cost the readers?
//!
//! Reads alone and writes alone say what a mix of them should reach if each took its own time and
//! nothing else. What is missing from that was lost to each other (Da Zhou's 99/1 test).

mod cost;
mod judge;
mod slide;

use crate::experiment::budget::{Left, STEP_NS_MIN, too_short, whole};
use crate::experiment::order::{in_rounds, missing};
use crate::experiment::{
    Allowance, Needs, Setting, Study, impossible, loads, published, region, too_small,
};
use drivelab_core::plan::{Mix, Pattern, Plan, Role, Step, Stream, Until};
use drivelab_core::run::Run;
use drivelab_core::study::Scale;
use drivelab_core::units::{Size, Span};

/// The study.
pub const STUDY: Study = Study {
    name: "mix",
    question: "What does one write among reads cost the readers?",
    needs: Needs { begins_as_published: true, ..Needs::PLAIN },
    allowance,
    objection,
    next,
    judge: judge::judge,
    together: published::began,
    ..Study::PLAIN
};

const SECOND_NS: u64 = 1_000_000_000;
const REQUEST_BYTES: u64 = 4096;
/// Parts in a thousand that are writes.
const SHARES: [u32; 6] = [1, 10, 50, 100, 300, 500];
const SHARES_QUICK: [u32; 2] = [10, 100];
/// The share that the verdict speaks of, as in Da Zhou's test.
const HEADLINE: u32 = 10;
/// What is left out of a step is at most so much for each operation that it may issue: however
/// fast the drive is, something remains.
const RAMP_NS_EACH: u64 = 500;

/// In which order the writes go; reads are always random.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
enum Order {
    Random,
    Sequential,
}

impl Order {
    const ALL: [Order; 2] = [Order::Random, Order::Sequential];

    fn word(self) -> &'static str {
        match self {
            Order::Random => "random",
            Order::Sequential => "sequential",
        }
    }
}

/// One load.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
enum Load {
    Reads,
    Writes(Order),
    /// This many writes in a thousand.
    Mixed(u32, Order),
}

/// One load at one depth.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
struct Cell {
    load: Load,
    depth: u32,
}

impl Cell {
    fn name(self) -> String {
        let depth = self.depth;
        match self.load {
            Load::Reads => format!("reads alone qd{depth}"),
            Load::Writes(order) => format!("{} writes alone qd{depth}", order.word()),
            Load::Mixed(share, order) => {
                format!("{} % {} writes qd{depth}", f64::from(share) / 10.0, order.word())
            }
        }
    }

    /// Writes in a thousand operations.
    fn share(self) -> u32 {
        match self.load {
            Load::Reads => 0,
            Load::Writes(_) => 1000,
            Load::Mixed(share, _) => share,
        }
    }
}

fn shares(scale: Scale) -> &'static [u32] {
    if scale == Scale::Quick { &SHARES_QUICK } else { &SHARES }
}

fn depths(scale: Scale) -> &'static [u32] {
    if scale == Scale::Full { &[1, 32] } else { &[1] }
}

/// All cells in the order they are read.
fn cells(scale: Scale) -> Vec<Cell> {
    let mut cells = Vec::new();
    for depth in depths(scale) {
        let cell = |load| Cell { load, depth: *depth };
        cells.push(cell(Load::Reads));
        for order in Order::ALL {
            cells.push(cell(Load::Writes(order)));
            cells.extend(shares(scale).iter().map(|share| cell(Load::Mixed(*share, order))));
        }
    }
    cells
}

fn repetitions(scale: Scale) -> u64 {
    match scale {
        Scale::Quick => 6,
        Scale::Default => 10,
        Scale::Full => 12,
    }
}

fn longest_ns(scale: Scale) -> u64 {
    match scale {
        Scale::Quick => 4 * SECOND_NS,
        Scale::Default => 10 * SECOND_NS,
        Scale::Full => 30 * SECOND_NS,
    }
}

fn allowance(scale: Scale, bytes: u64) -> Allowance {
    region::allowance(scale, bytes, [5, 40, 6 * 60])
}

/// Fewer bytes than this would leave steps of a few milliseconds.
const BUDGET_MIN: u64 = 256 << 20;

fn objection(setting: &Setting<'_>) -> Option<String> {
    let options = setting.options;
    let steps = repetitions(options.scale) * cells(options.scale).len() as u64;
    impossible(setting)
        .or_else(|| too_short(setting, steps))
        .or_else(|| too_small(setting, Size(BUDGET_MIN)))
}

fn next(setting: &Setting<'_>, run: &Run) -> Option<Plan> {
    region::next(setting, run, |left, bytes| missing(schedule(setting, run, left, bytes), run))
}

/// Everything that is measured, in its order: each round has all cells once, shuffled again.
fn schedule(setting: &Setting<'_>, run: &Run, left: &Left, bytes: u64) -> Vec<Step> {
    let options = setting.options;
    let (n, all) = (repetitions(options.scale), cells(options.scale));
    let measured = run.steps.iter().filter(|step| step.begin.role == Role::Measure).count();
    let missing = (n * all.len() as u64).saturating_sub(measured as u64).max(1);
    let each_ns = left.each(setting, missing, longest_ns(options.scale)).max(STEP_NS_MIN);
    let writing = all.iter().filter(|cell| cell.load != Load::Reads).count() as u64;
    // How many of a mix are writes is drawn: half of the budget allows for that.
    let write_bytes = left.bytes / (2 * n * writing);
    in_rounds(&all, n, options.seed)
        .map(|cell| step(setting, cell, each_ns, write_bytes, bytes))
        .collect()
}

fn step(
    setting: &Setting<'_>,
    cell: Cell,
    each_ns: u64,
    write_bytes: u64,
    region_bytes: u64,
) -> Step {
    let share = cell.share();
    let issued = (share > 0)
        .then(|| whole(write_bytes.saturating_mul(1000) / u64::from(share), REQUEST_BYTES));
    let ramp_max = issued.map_or(u64::MAX, |bytes| bytes.0 / REQUEST_BYTES * RAMP_NS_EACH);
    let ramp = (each_ns / 10).min(ramp_max);
    let until = Until { elapsed: Some(Span(each_ns - ramp)), bytes: issued, ..Until::default() };
    let stream = Stream { length: Some(Size(region_bytes)), ..load(setting, cell) };
    let step = loads::step(setting, &cell.name(), Role::Measure, until, stream);
    Step { ramp: Span(ramp), ..step }
}

fn load(setting: &Setting<'_>, cell: Cell) -> Stream {
    let share = cell.share();
    let random = |mix| loads::random(setting, mix, cell.depth);
    let mixed = Mix { read: 1000 - share, write: share, trim: 0 };
    match cell.load {
        Load::Reads => random(Mix::READ),
        Load::Writes(Order::Random) => random(Mix::WRITE),
        Load::Writes(Order::Sequential) => {
            Stream { pattern: Pattern::SEQUENTIAL, ..random(Mix::WRITE) }
        }
        Load::Mixed(_, Order::Random) => random(mixed),
        Load::Mixed(_, Order::Sequential) => Stream { writes_in_order: true, ..random(mixed) },
    }
}

#[cfg(test)]
mod tests;

//! `anatomy`: where an I/O spends its time between the program and the drive.
//!
//! Each cell is measured as it is and with the kernel's tracer watching, in blocks of ABBA, so that
//! what the tracing costs is known. What the tracer saw is joined with the program's own stamps,
//! so that all parts are those of the same I/Os.

mod judge;
mod parts;
mod staged;
#[cfg(test)]
mod tests;

use crate::experiment::budget::{Left, whole};
use crate::experiment::order::{done, missing, shuffle, since_break};
use crate::experiment::{Allowance, Setting, Study, impossible, loads, narrow};
use drivelab_core::facts::TargetKind;
use drivelab_core::op::Action;
use drivelab_core::plan::{IoMode, Mix, Plan, Role, Step, Until};
use drivelab_core::run::Run;
use drivelab_core::study::Scale;
use drivelab_core::units::{Size, Span};

/// The study.
pub const STUDY: Study = Study {
    name: "anatomy",
    question: "Where does an I/O spend its time: submitted, queued, in the device, waking?",
    allowance,
    objection,
    next,
    judge: judge::judge,
    ..Study::PLAIN
};

const SECOND_NS: u64 = 1_000_000_000;
/// Bytes of a request.
const REQUEST_BYTES: u64 = 4096;
/// I/Os of one step: all of them have their stamps kept, one by one.
const OPERATIONS: u64 = 1 << 16;
const KINDS: [Action; 2] = [Action::Read, Action::Write];
const QUICK_DEPTHS: [u32; 2] = [1, 32];
const DEPTHS: [u32; 7] = [1, 2, 4, 8, 16, 32, 64];

/// Whether the tracer watches.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
enum Side {
    Untraced,
    Traced,
}

/// One kind at one depth.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
struct Cell {
    kind: Action,
    depth: u32,
}

impl Cell {
    fn name(self) -> String {
        format!("random {} qd{}", self.kind.word(), self.depth)
    }

    /// In a sentence.
    fn words(self) -> String {
        format!("random {} of 4 KiB at depth {}", self.kind.word(), self.depth)
    }

    fn of(self, side: Side) -> String {
        match side {
            Side::Untraced => self.name(),
            Side::Traced => format!("{}, traced", self.name()),
        }
    }
}

fn cells(setting: &Setting<'_>) -> Vec<Cell> {
    let depths: &[u32] = match setting.options.scale {
        Scale::Quick => &QUICK_DEPTHS,
        _ => &DEPTHS,
    };
    let of = |kind| depths.iter().map(move |depth| Cell { kind, depth: *depth });
    KINDS.into_iter().flat_map(of).collect()
}

/// Blocks of four: two repetitions of each side.
fn rounds(scale: Scale) -> u64 {
    match scale {
        Scale::Quick | Scale::Default => 3,
        Scale::Full => 6,
    }
}

fn longest_ns(scale: Scale) -> u64 {
    match scale {
        Scale::Quick => 3 * SECOND_NS / 2,
        Scale::Default => 2 * SECOND_NS,
        Scale::Full => 5 * SECOND_NS,
    }
}

fn allowance(scale: Scale, bytes: u64) -> Allowance {
    let (minutes, budget) = match scale {
        Scale::Quick => (4, 10 << 30),
        Scale::Default => (12, bytes.saturating_add(24 << 30)),
        Scale::Full => (45, bytes.saturating_add(48 << 30)),
    };
    Allowance { time: Span(minutes * 60 * SECOND_NS), budget: Size(budget) }
}

fn objection(setting: &Setting<'_>) -> Option<String> {
    let target = &setting.facts.target;
    let path = &target.path;
    if target.kind == TargetKind::Nothing || (target.devices.is_empty() && !setting.is_simulated())
    {
        let kind = target.filesystem.as_ref().map_or("no drive", |found| found.kind.as_str());
        return Some(format!(
            "`anatomy` follows I/O to a block device, and there is none below {path} ({kind}); \
             name a file on a drive, or a block device"
        ));
    }
    if loads::base(setting).io == IoMode::Buffered {
        return Some(format!(
            "{path} lies on a file system without direct I/O, so the page cache stands between \
             program and drive; name a file on another one, or a block device"
        ));
    }
    impossible(setting).or_else(|| narrow::objection(setting, 1))
}

/// Why the tracer said nothing, if it did not.
fn refusal(run: &Run) -> Option<&str> {
    run.steps.iter().find_map(|step| step.anatomy.as_ref()?.refused.as_deref())
}

fn sides(setting: &Setting<'_>, run: &Run) -> &'static [Side] {
    match setting.is_simulated() || refusal(run).is_some() {
        true => &[Side::Untraced],
        false => &[Side::Untraced, Side::Traced],
    }
}

fn is_filled(run: &Run) -> bool {
    let state = run.ledger().state;
    ["filled", "random-filled", "random-steady"].contains(&state.as_str())
        || done(since_break(run), loads::FILL) > 0
}

fn next(setting: &Setting<'_>, run: &Run) -> Option<Plan> {
    narrow::next(setting, run, 1, next_of)
}

fn next_of(setting: &Setting<'_>, run: &Run) -> Option<Plan> {
    let left = Left::of(setting, run);
    if !is_filled(run) {
        // A fill that the clock cut short is none.
        let is_tried = since_break(run).iter().any(|step| step.begin.name == loads::FILL);
        let half = Left { time_ns: left.time_ns / 2, ..left };
        let fill = loads::fill(setting, 1, &half);
        return (!is_tried).then(|| loads::plan(setting, SECOND_NS, vec![fill]));
    }
    // One round at a time: the first one shows whether there is anything to trace with.
    let mut schedule = Vec::new();
    for round in 0..rounds(setting.options.scale) {
        schedule.extend(block(setting, &left, run, round));
        let rest = missing(schedule.clone(), run);
        if !rest.is_empty() {
            let has_room = left.time_ns > 0 && left.bytes >= REQUEST_BYTES;
            return has_room.then(|| loads::plan(setting, SECOND_NS / 10, rest));
        }
    }
    None
}

/// Every cell as it is and traced, twice, the sides of neighbours turned around.
fn block(setting: &Setting<'_>, left: &Left, run: &Run, round: u64) -> Vec<Step> {
    let sides = sides(setting, run);
    let rounds = rounds(setting.options.scale);
    let mut cells = cells(setting);
    let all = cells.len() as u64 * rounds * 2 * sides.len() as u64;
    let measured = run.steps.iter().filter(|step| step.begin.role == Role::Measure).count() as u64;
    let missing = all.saturating_sub(measured).max(1);
    let each_ns = left.each(setting, missing, longest_ns(setting.options.scale));
    let writes_each = left.bytes / missing;
    shuffle(&mut cells, setting.options.seed, round);
    let of_cell = |(place, cell): (usize, Cell)| {
        let mut order: Vec<Side> = sides.to_vec();
        if !(place as u64 + round).is_multiple_of(2) {
            order.reverse();
        }
        let back: Vec<Side> = order.iter().rev().copied().collect();
        order.extend(back);
        order.into_iter().map(move |side| (cell, side))
    };
    let order = cells.into_iter().enumerate().flat_map(of_cell);
    order.map(|(cell, side)| one(setting, cell, side, each_ns, writes_each)).collect()
}

fn one(setting: &Setting<'_>, cell: Cell, side: Side, each_ns: u64, writes_each: u64) -> Step {
    let mix = if cell.kind == Action::Read { Mix::READ } else { Mix::WRITE };
    let bytes = (cell.kind == Action::Write).then(|| whole(writes_each, REQUEST_BYTES));
    let until = Until {
        elapsed: Some(Span(each_ns.max(SECOND_NS / 20))),
        operations: Some(OPERATIONS),
        bytes,
        ..Until::default()
    };
    let stream = loads::random(setting, mix, cell.depth);
    let step = loads::step(setting, &cell.of(side), Role::Measure, until, stream);
    // A simulated drive is not slower for telling where the time goes.
    Step { trace: side == Side::Traced || setting.is_simulated(), ..step }
}

//! `zones`: how does a zoned drive write, and what do its zones cost?
//!
//! Zones are written in order, one worker a zone. More zones open at once may be faster, up to what
//! the drive keeps open. A full zone must be reset before it is written again, and a zone that is
//! not to be filled is finished: both are commands, and their times are measured.

mod judge;

use crate::experiment::budget::{Left, STEP_NS_MIN, too_short};
use crate::experiment::order::{in_rounds, missing};
use crate::experiment::{Allowance, Setting, Study, loads, longest_ns, repetitions, too_small};
use drivelab_core::facts::ZoneFacts;
use drivelab_core::plan::{Mix, Pattern, Plan, Role, Step, Stream, Until, Zoned};
use drivelab_core::quantity::counted;
use drivelab_core::run::Run;
use drivelab_core::study::Scale;
use drivelab_core::units::{Size, Span};

/// The study.
pub const STUDY: Study = Study {
    name: "zones",
    question: "How does a zoned drive write, and what do its zones cost?",
    allowance,
    objection,
    next,
    judge: judge::judge,
    ..Study::PLAIN
};

const SECOND_NS: u64 = 1_000_000_000;
/// Bytes of a write, or the largest power of two below it that zones hold a whole number of.
const REQUEST_BYTES: u64 = 128 << 10;
const SMALL_BYTES: u64 = 4096;
/// No more zones than this are opened at once.
const OPEN_MAX: u32 = 16;
/// Zones that are filled, read and reset in each round, where the drive has that many.
const ZONES: u64 = 16;
/// Reads outstanding.
const DEPTH: u32 = 32;

/// Reads of 4 KiB at random, of full zones.
const READ: &str = "random read 4K qd32";
/// Resets of full zones, and finishes of zones that hold one request.
const TURN: &str = "reset and finish";

/// Writes to this many zones at once.
fn name(open: u32) -> String {
    format!("write, {} open", counted(u64::from(open), "zone"))
}

/// The zones of a drive that the study can use.
#[derive(Debug, Clone, Copy)]
pub(crate) struct Shape {
    /// Their size and what they hold.
    pub zoned: Zoned,
    /// First byte of the first zone that is used.
    pub from: u64,
    /// How many there are from there on.
    pub zones: u64,
    /// Most that are open at once.
    pub open_max: u32,
}

impl Shape {
    /// The zones of a target of that many bytes; `None` where what they hold is not known.
    pub fn of(zones: &ZoneFacts, bytes: u64) -> Option<Shape> {
        let (size, capacity) = (zones.zone_bytes.filter(|it| *it > 0)?, zones.capacity_bytes?);
        let from = zones.ordered_from_bytes?;
        let zoned = Zoned {
            size: Size(size),
            capacity: (capacity < size).then_some(Size(capacity)),
            finish_after: None,
        };
        let open_max = zones.open_at_once().unwrap_or(OPEN_MAX).clamp(1, OPEN_MAX);
        let zones = bytes.saturating_sub(from) / size;
        Some(Shape { zoned, from, zones, open_max })
    }

    /// Zones that are used: each worker has at least two of its own.
    fn used(&self) -> u64 {
        self.zones.min(ZONES.max(2 * u64::from(self.open_max)))
    }

    /// How many zones are open at once in the cells, fewest first: powers of two, and the most.
    fn opens(&self) -> Vec<u32> {
        let most = self.open_max.min(u32::try_from(self.used() / 2).unwrap_or(u32::MAX)).max(1);
        let mut all: Vec<u32> = std::iter::successors(Some(1), |open| Some(2 * open))
            .take_while(|open| *open < most)
            .collect();
        all.push(most);
        all
    }

    /// Bytes of a write.
    fn request(&self) -> u64 {
        REQUEST_BYTES.min(1 << self.zoned.holds().trailing_zeros())
    }
}

fn shape(setting: &Setting<'_>) -> Option<Shape> {
    let device = setting.facts.target.devices.first()?;
    Shape::of(device.zones.as_ref()?, setting.bytes())
}

fn allowance(scale: Scale, bytes: u64) -> Allowance {
    let (minutes, budget) = match scale {
        Scale::Quick => (5, 128 << 30),
        Scale::Default => (20, bytes.saturating_mul(2).clamp(128 << 30, 512 << 30)),
        Scale::Full => (120, bytes.saturating_mul(4).max(128 << 30)),
    };
    Allowance { time: Span(minutes * 60 * SECOND_NS), budget: Size(budget) }
}

fn objection(setting: &Setting<'_>) -> Option<String> {
    let path = &setting.facts.target.path;
    let device = setting.facts.target.devices.first();
    let zones = device.and_then(|device| device.zones.as_ref());
    let Some(zones) = zones.filter(|zones| setting.is_drive() && zones.needs_order()) else {
        return Some(format!(
            "`zones` needs a drive whose zones take writes only in order, and {path} is not one; \
             `drivelab list` shows which are"
        ));
    };
    let Some(shape) = Shape::of(zones, setting.bytes()) else {
        return Some(format!(
            "what the zones of {path} hold is not known; run as root, who may ask the drive"
        ));
    };
    if shape.zones < 2 {
        return Some(format!(
            "{path} has {} to write in order, and `zones` needs at least two",
            counted(shape.zones, "zone")
        ));
    }
    let rounds = repetitions(setting.options.scale) as u64;
    let options = setting.options;
    let small = (options.delta <= 0.0 || options.delta >= 0.5)
        .then(|| "the band must lie between 0 and 50 %, such as --band 5%".to_string());
    small
        .or_else(|| too_short(setting, rounds * (shape.opens().len() as u64 + 3)))
        .or_else(|| too_small(setting, Size(2 * rounds * filled(&shape))))
}

/// Bytes that a fill of all used zones writes.
fn filled(shape: &Shape) -> u64 {
    shape.used() * shape.zoned.holds()
}

fn next(setting: &Setting<'_>, run: &Run) -> Option<Plan> {
    let (left, shape) = (Left::of(setting, run), shape(setting)?);
    if left.time_ns == 0 {
        return None;
    }
    let steps = missing(schedule(setting, &left, &shape), run);
    (!steps.is_empty()).then(|| loads::plan(setting, SECOND_NS / 4, steps))
}

/// Rounds of all cells, each in an order of its own; what needs full zones follows their fill.
fn schedule(setting: &Setting<'_>, left: &Left, shape: &Shape) -> Vec<Step> {
    let rounds = repetitions(setting.options.scale) as u64;
    let opens = shape.opens();
    let cells = opens.len() as u64;
    // Half of the time is for the fills, which take as long as they take.
    let each_ns = left.each(setting, 2 * rounds * (cells + 2), longest_ns(setting, 1));
    let each_ns = each_ns.max(STEP_NS_MIN);
    let budget = left.bytes.saturating_sub(rounds * filled(shape)) / (2 * rounds * cells.max(1));
    let mut steps = Vec::new();
    for (at, open) in in_rounds(&opens, rounds, setting.options.seed).enumerate() {
        steps.push(write(setting, shape, open, each_ns, budget));
        if (at + 1) % opens.len() == 0 {
            steps.push(fill(setting, shape, left));
            steps.push(read(setting, shape, each_ns));
            steps.push(turn(setting, shape));
        }
    }
    steps
}

/// A stream over the zones that are used.
fn over(setting: &Setting<'_>, shape: &Shape, mix: Mix, size: u64) -> Stream {
    Stream {
        mix,
        size: Size(size),
        zoned: Some(shape.zoned),
        offset: Size(shape.from),
        length: Some(Size(shape.used() * shape.zoned.size.0)),
        ..loads::base(setting)
    }
}

fn write(setting: &Setting<'_>, shape: &Shape, open: u32, each_ns: u64, bytes: u64) -> Step {
    let size = shape.request();
    let stream = Stream { workers: open, ..over(setting, shape, Mix::WRITE, size) };
    let ramp = Span(each_ns / 10);
    let bytes = Some(Size((bytes / size).max(u64::from(open)) * size));
    let until = Until { elapsed: Some(Span(each_ns - ramp.0)), bytes, ..Until::default() };
    let step = loads::step(setting, &name(open), Role::Measure, until, stream);
    Step { ramp, ..step }
}

fn fill(setting: &Setting<'_>, shape: &Shape, left: &Left) -> Step {
    let workers = shape.opens().last().copied().unwrap_or(1);
    let stream = Stream { workers, ..over(setting, shape, Mix::WRITE, shape.request()) };
    let elapsed = Some(Span((left.time_ns / 4).max(1)));
    let until = Until { passes: Some(1), elapsed, ..Until::default() };
    loads::step(setting, loads::FILL, Role::Prepare, until, stream)
}

fn read(setting: &Setting<'_>, shape: &Shape, each_ns: u64) -> Step {
    let ramp = Span(each_ns / 10);
    let until = Until { elapsed: Some(Span(each_ns - ramp.0)), ..Until::default() };
    let stream = over(setting, shape, Mix::READ, SMALL_BYTES);
    let stream = Stream { pattern: Pattern::Uniform, depth: DEPTH, ..stream };
    let step = loads::step(setting, READ, Role::Measure, until, stream);
    Step { ramp, ..step }
}

/// Each zone is reset, written with one request, and finished.
fn turn(setting: &Setting<'_>, shape: &Shape) -> Step {
    let size = shape.request();
    let zoned = Zoned { finish_after: Some(Size(size)), ..shape.zoned };
    let stream = Stream { zoned: Some(zoned), ..over(setting, shape, Mix::WRITE, size) };
    let elapsed = Some(Span(60 * SECOND_NS));
    let until = Until { passes: Some(1), elapsed, ..Until::default() };
    loads::step(setting, TURN, Role::Measure, until, stream)
}

#[cfg(test)]
pub(crate) mod tests;

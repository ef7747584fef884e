//! The part of the target that studies of small requests measure: written once in order, so that
//! reads find data, and then at random, so that the first random writes are not the only cheap
//! ones.

use super::budget::Left;
use super::order::{is_complete, since_break};
use super::{Allowance, Setting, loads};
use drivelab_core::findings::Findings;
use drivelab_core::ledger::Moved;
use drivelab_core::plan::{Mix, Plan, Role, Step, Until};
use drivelab_core::quantity::size;
use drivelab_core::run::{Run, StepRun};
use drivelab_core::study::Scale;
use drivelab_core::units::{Size, Span};

/// The step that overwrites the region at random.
pub const WARM_UP: &str = "warm-up, random write";
const GRAIN: u64 = 1 << 20;
const SECOND_NS: u64 = 1_000_000_000;
/// A fill that came no further leaves nothing to measure on.
const BYTES_MIN: u64 = 16 << 20;
/// States in which all of the target holds data, and those in which it was overwritten at random.
const WRITTEN: [&str; 2] = ["filled", "random-filled"];
const USED: [&str; 4] = ["random-steady", "fragmented", "tortured", "aged"];

/// Most bytes of the region: as much as can be prepared in a part of the time.
fn most(scale: Scale) -> u64 {
    match scale {
        Scale::Quick => 1 << 30,
        Scale::Default => 16 << 30,
        Scale::Full => u64::MAX,
    }
}

/// Bytes that are to be written: of a quarter of the budget.
fn wanted(setting: &Setting<'_>) -> u64 {
    let part = (setting.options.budget.0 / 4).min(most(setting.options.scale));
    setting.bytes().min(part.max(BYTES_MIN) / GRAIN * GRAIN)
}

fn began_as<'a>(run: &'a Run, states: &[&str]) -> Option<&'a str> {
    run.begin.state.as_deref().filter(|state| states.contains(state))
}

/// Whether the target holds data everywhere from the beginning.
pub fn began_full(run: &Run) -> bool {
    began_as(run, &WRITTEN).or(began_as(run, &USED)).is_some()
}

/// Whether it had been overwritten at random when it began.
pub fn began_used(run: &Run) -> bool {
    began_as(run, &USED).is_some()
}

/// Bytes from the beginning of the target that hold data; `None` where they are still to be
/// written, or too few were.
pub fn bytes(setting: &Setting<'_>, run: &Run) -> Option<u64> {
    if began_full(run) {
        return Some(setting.bytes());
    }
    let fill = last(run, loads::FILL).filter(|step| is_complete(step))?;
    let written = Moved::of(&fill.tallies).written_bytes.min(wanted(setting));
    let whole = if written == setting.bytes() { written } else { written / GRAIN * GRAIN };
    (whole >= BYTES_MIN).then_some(whole)
}

fn last<'a>(run: &'a Run, name: &str) -> Option<&'a StepRun> {
    since_break(run).iter().rfind(|step| step.begin.name == name)
}

/// How much such a study may use: this many minutes by scale, and a few times the drive's bytes.
pub fn allowance(scale: Scale, bytes: u64, minutes: [u64; 3]) -> Allowance {
    let [quick, default, full] = minutes;
    let (minutes, budget) = match scale {
        Scale::Quick => (quick, 10 << 30),
        Scale::Default => (default, bytes.saturating_mul(4).min(256 << 30)),
        Scale::Full => (full, bytes.saturating_mul(6)),
    };
    Allowance { time: Span(minutes * 60 * SECOND_NS), budget: Size(budget.max(10 << 30)) }
}

/// What such a study does next: what prepares its part of the target, and then what `missing` says
/// of this part, by what is left. `None`: nothing, or no time for it.
pub fn next(
    setting: &Setting<'_>,
    run: &Run,
    missing: impl FnOnce(&Left, u64) -> Vec<Step>,
) -> Option<Plan> {
    let left = Left::of(setting, run);
    if left.time_ns == 0 {
        return None;
    }
    if let Some(step) = preparation(setting, run, &left) {
        return Some(loads::plan(setting, SECOND_NS, vec![step]));
    }
    let steps = missing(&left, bytes(setting, run)?);
    (!steps.is_empty()).then(|| loads::plan(setting, SECOND_NS / 4, steps))
}

/// What is missing before anything can be measured; `None`: nothing, or nothing that helps.
pub fn preparation(setting: &Setting<'_>, run: &Run, left: &Left) -> Option<Step> {
    let Some(bytes) = bytes(setting, run) else {
        let mut fill = loads::fill(setting, 1, left);
        fill.streams[0].length = Some(Size(wanted(setting)));
        fill.until.elapsed = Some(Span((left.time_ns / 4).max(1)));
        return last(run, loads::FILL).is_none().then_some(fill);
    };
    if last(run, WARM_UP).is_some() || began_as(run, &USED).is_some() {
        return None;
    }
    let until = Until {
        bytes: Some(Size((bytes.min(left.bytes / 4) / GRAIN).max(1) * GRAIN)),
        elapsed: Some(Span((left.time_ns / 6).max(1))),
        ..Until::default()
    };
    let mut stream = loads::random(setting, Mix::WRITE, 32);
    stream.length = Some(Size(bytes));
    Some(loads::step(setting, WARM_UP, Role::Precondition, until, stream))
}

/// Says in which state was measured, and on what part.
pub fn told(setting: &Setting<'_>, run: &Run, findings: &mut Findings) {
    let Some(bytes) = bytes(setting, run) else { return };
    if bytes < setting.bytes() {
        findings.deviations.push(format!(
            "Measured on the first {} of {}, which were written for it; how the drive behaves \
             when all of it is full is not seen.",
            size(bytes),
            size(setting.bytes())
        ));
    }
    if let Some(warm_up) = last(run, WARM_UP) {
        let written = Moved::of(&warm_up.tallies).written_bytes;
        if written < bytes {
            findings.deviations.push(format!(
                "Only {} of random writes came before the measurement, {:.2} times the part \
                 measured: within the time allowed the drive may not have settled.",
                size(written),
                written as f64 / bytes as f64
            ));
        }
    }
}

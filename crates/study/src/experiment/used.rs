//! A drive as use leaves it: filled, and then written at random for a while. An empty flash drive
//! has nothing to collect, and answers reads of what it never got without looking.

use super::budget::{Left, whole, written};
use super::order::{missing, since_break, unbroken};
use super::{Setting, loads};
use drivelab_core::findings::Findings;
use drivelab_core::plan::{Mix, Plan, Role, Step, Stream, Until};
use drivelab_core::quantity::{percent, size};
use drivelab_core::run::{Run, StepRun};
use drivelab_core::study::Scale;
use drivelab_core::units::{Size, Span};

/// The step of random writes.
pub const AGE: &str = "random write, to age";
/// The fill and the random writes behind it each take at most this part of bytes and time.
const PART: u64 = 4;
/// The least budget that leaves something to fill and to measure.
pub const BUDGET_MIN: u64 = PART * 64 * MEBIBYTE;
const MEBIBYTE: u64 = 1 << 20;
const SECOND_NS: u64 = 1_000_000_000;
/// States of a simulated drive in which every block holds data.
const FULL: [&str; 5] = ["filled", "random-filled", "random-steady", "fragmented", "aged"];

/// How far the drive has come.
#[derive(Debug, Clone, PartialEq)]
pub enum Used {
    /// This is still to be done.
    Not(Plan),
    /// This many bytes from the beginning hold data and were used: what is measured lies there.
    Until(u64),
    /// It was tried and came to nothing.
    Never,
}

/// What is still to be done until the drive is as use leaves it.
pub fn used(setting: &Setting<'_>, run: &Run) -> Used {
    let left = Left::of(setting, run);
    let is_tried = |name: &str| since_break(run).iter().any(|step| step.begin.name == name);
    match region(setting, run) {
        None if is_tried(loads::FILL) => Used::Never,
        None => Used::Not(loads::plan(setting, SECOND_NS, vec![fill(setting, &left)])),
        Some(bytes) if is_tried(AGE) => Used::Until(bytes),
        Some(bytes) => Used::Not(loads::plan(setting, SECOND_NS, vec![age(setting, bytes, &left)])),
    }
}

/// The next plan of a study of a drive in use: what makes it one, then what is missing of a
/// schedule on the bytes that were used.
pub fn next(
    setting: &Setting<'_>,
    run: &Run,
    schedule: impl Fn(&Setting<'_>, u64, &Run) -> Vec<Step>,
) -> Option<Plan> {
    if Left::of(setting, run).time_ns < SECOND_NS {
        return None;
    }
    let region = match used(setting, run) {
        Used::Not(plan) => return Some(plan),
        Used::Until(region) => region,
        Used::Never => return None,
    };
    // As it is judged: after a break all of it again.
    let rest = missing(schedule(setting, region, run), &unbroken(run));
    (!rest.is_empty()).then(|| loads::plan(setting, SECOND_NS / 4, rest))
}

/// Bytes from the beginning that hold data; `None`: they are still to be written.
fn region(setting: &Setting<'_>, run: &Run) -> Option<u64> {
    let steps = since_break(run);
    let is_fill = |step: &&StepRun| step.begin.name == loads::FILL;
    let filled: Vec<StepRun> = steps.iter().filter(is_fill).cloned().collect();
    let bytes = written(&filled);
    let began_full = run.begin.state.as_deref().is_some_and(|state| FULL.contains(&state));
    match bytes {
        0 if began_full && setting.is_simulated() => Some(setting.bytes()),
        bytes if bytes >= setting.bytes() => Some(setting.bytes()),
        bytes if bytes >= MEBIBYTE => Some(bytes / MEBIBYTE * MEBIBYTE),
        _ => None,
    }
}

/// Writes as much of the target in order as a part of time and bytes allows.
fn fill(setting: &Setting<'_>, left: &Left) -> Step {
    let mut fill = loads::fill(setting, 1, left);
    fill.until.elapsed = Some(Span((left.time_ns / PART).max(1)));
    let most = left.bytes / PART;
    if setting.bytes() > most {
        fill.streams[0].length = Some(whole(most, MEBIBYTE));
        fill.streams[0].size = Size(MEBIBYTE);
    }
    fill
}

/// Writes the region once at random, or as much of it as a part of time and bytes allows.
fn age(setting: &Setting<'_>, region: u64, left: &Left) -> Step {
    let longest = match setting.options.scale {
        Scale::Quick => 30 * SECOND_NS,
        Scale::Default => 300 * SECOND_NS,
        Scale::Full => 3600 * SECOND_NS,
    };
    let until = Until {
        bytes: Some(whole(region.min(left.bytes / PART), 4096)),
        elapsed: Some(Span(longest.min(left.time_ns / PART).max(1))),
        ..Until::default()
    };
    let stream = within(setting, region, loads::random(setting, Mix::WRITE, 32));
    loads::step(setting, AGE, Role::Precondition, until, stream)
}

/// The stream, on the first bytes of the target.
pub fn within(setting: &Setting<'_>, region: u64, stream: Stream) -> Stream {
    let length = (region < setting.bytes()).then_some(Size(region));
    Stream { length, ..stream }
}

/// Bytes that were written at random before anything was measured, and operations a second of it.
pub fn aged(run: &Run) -> (u64, Option<f64>) {
    let is_age = |step: &&StepRun| step.begin.name == AGE;
    let Some(step) = since_break(run).iter().rfind(is_age) else { return (0, None) };
    let bytes = written(std::slice::from_ref(step));
    let ns = step.duration_ns();
    (bytes, (ns > 0 && bytes > 0).then(|| bytes as f64 / 4096.0 / ns as f64 * 1e9))
}

/// What was left when the drive had been used, so that a study that goes on measures as before.
pub fn left_then(setting: &Setting<'_>, run: &Run) -> Left {
    let steps = since_break(run);
    let is_before = |step: &StepRun| [loads::FILL, AGE].contains(&step.begin.name.as_str());
    let until = steps.iter().position(|step| !is_before(step)).unwrap_or(steps.len());
    let before = run.steps.len() - steps.len() + until;
    Left::of(setting, &Run { steps: run.steps[..before].to_vec(), ..Run::default() })
}

/// Says how far the drive was from one in long use.
pub fn say(setting: &Setting<'_>, run: &Run, findings: &mut Findings) {
    let Some(region) = region(setting, run) else { return };
    let whole = setting.bytes();
    if region < whole {
        findings.want_more(format!(
            "How a full drive does: {} of {} were filled and written, and a drive with room left \
             has less reason to pause. Give a larger --budget and --time.",
            size(region),
            size(whole)
        ));
    }
    let (bytes, _) = aged(run);
    if bytes < region {
        findings.want_more(format!(
            "How a drive does after longer use: {} of random writes, {} of what was filled, came \
             before the measurement. Give a larger --budget or --time, or --full.",
            size(bytes),
            small(bytes as f64 / region as f64)
        ));
    }
    if !setting.is_drive() {
        findings.deviations.push(
            "A file, not a drive: the file system and what else uses the drive are part of every \
             figure."
                .into(),
        );
    }
}

/// A share that is more than nothing.
fn small(share: f64) -> String {
    if share < 0.001 { "less than 0.1 %".into() } else { percent(share) }
}

//! `fs --stripe-width`: ext4 made plain and made with stripes in turn, and the same loads on both.
//!
//! What ext4 is told of an array changes where it puts files, and nothing else. Each round makes
//! both file systems, one after the other, the other way about in the next round, so that both
//! meet the same drive; each begins with a file that has no blocks yet.

use super::judge::told;
use super::{FILE_BYTES_MIN, IN_ORDER_BYTES, PARTS, act};
use crate::compare::{Side, compare};
use crate::experiment::budget::Left;
use crate::experiment::order::{done, shuffle, since_break};
use crate::experiment::{Setting, control, loads};
use drivelab_core::facts::TargetKind;
use drivelab_core::findings::Findings;
use drivelab_core::plan::{
    Act, FileSystem, Mix, Mount, Plan, Role, Step, Stream, Stripe, Sync, Until,
};
use drivelab_core::quantity::{percent, size};
use drivelab_core::run::Run;
use drivelab_core::sound::Sound;
use drivelab_core::study::Scale;
use drivelab_core::units::{Size, Span};
use drivelab_stats::Verdict;

const SECOND_NS: u64 = 1_000_000_000;
const MEBIBYTE: u64 = 1 << 20;
const ROUNDS: usize = 5;
/// The file is written three times in each of ten file systems, at most.
const BUDGET_PART: u64 = 40;
const FIRST: &str = "first write";
const LOADS: [(&str, bool, bool); 4] = [
    ("sequential write", false, true),
    ("sequential read", true, true),
    ("random write", false, false),
    ("random read", true, false),
];
const SIDES: [&str; 2] = ["plain", "striped"];
/// Outstanding requests.
const DEPTH: u32 = 32;

/// Why stripes cannot be compared here, if they were asked for.
pub fn objection(setting: &Setting<'_>) -> Option<String> {
    let asked = &setting.options.file_system;
    let stripe = asked.stripe?;
    if setting.facts.target.kind != TargetKind::BlockDevice {
        return Some(
            "--stripe-width needs a block device: ext4 is made on it, with the stripes and without"
                .into(),
        );
    }
    if asked.make != Some(FileSystem::Ext4) {
        return Some(
            "--stripe-width is an option for ext4; xfs takes `mkfs.xfs -d su=,sw=`, which `fs` \
             does not compare; give --mkfs ext4"
                .into(),
        );
    }
    if stripe.stride.is_some_and(|stride| !stripe.stripe_width.is_multiple_of(stride)) {
        return Some(format!(
            "a stripe width of {} blocks is not a multiple of a stride of {}: it is the stride \
             times the members that hold data, such as --stride 16 --stripe-width 32 for two",
            stripe.stripe_width,
            stripe.stride.unwrap_or(0)
        ));
    }
    if setting.options.protocol.is_some() {
        return Some(
            "--protocol changes the loads of a file against its device, and --stripe-width \
             compares two file systems; give one of them"
                .into(),
        );
    }
    (file_bytes(setting) < FILE_BYTES_MIN).then(|| {
        format!(
            "there is room for a file of {} here, and --stripe-width needs {}; name a larger \
             device, or give a larger --budget",
            size(file_bytes(setting)),
            size(FILE_BYTES_MIN)
        )
    })
}

fn file_bytes(setting: &Setting<'_>) -> u64 {
    let part = setting.options.budget.0 / BUDGET_PART;
    let grain = PARTS * MEBIBYTE;
    super::file_bytes(setting).min(part) / grain * grain
}

fn name(load: &str, side: &str) -> String {
    format!("{load}, {side}")
}

/// The next round: both file systems with all loads in each.
pub fn next(setting: &Setting<'_>, run: &Run, stripe: Stripe) -> Option<Plan> {
    let steps = since_break(run);
    let left = Left::of(setting, run);
    let all = || SIDES.iter().flat_map(|side| LOADS.iter().map(|load| name(load.0, side)));
    let round = all().map(|name| done(steps, &name)).min().unwrap_or(0);
    if round >= ROUNDS || left.time_ns < SECOND_NS {
        return None;
    }
    let tried = steps.iter().filter(|step| step.begin.name == name(FIRST, SIDES[0])).count();
    if tried > round {
        // What could not be done will not be the next time.
        return None;
    }
    let each_ns = each_ns(setting, &left);
    let mut sides = SIDES;
    if !(setting.options.seed ^ round as u64).is_multiple_of(2) {
        sides.reverse();
    }
    let of_side = |side: &str| one_side(setting, stripe, side, round, each_ns);
    Some(loads::plan(setting, SECOND_NS / 10, sides.into_iter().flat_map(of_side).collect()))
}

/// By what was asked and not by what is left: a study that goes on measures as before.
fn each_ns(setting: &Setting<'_>, left: &Left) -> u64 {
    let longest = match setting.options.scale {
        Scale::Quick => 2 * SECOND_NS,
        Scale::Default => 10 * SECOND_NS,
        Scale::Full => 60 * SECOND_NS,
    };
    let half = Left { time_ns: setting.options.time.0 / 2, bytes: left.bytes };
    let count = (ROUNDS * SIDES.len() * (LOADS.len() + 1)) as u64;
    half.each(setting, count, longest).max(SECOND_NS / 20)
}

/// Makes the file system of one side, and measures in it.
fn one_side(
    setting: &Setting<'_>,
    stripe: Stripe,
    side: &str,
    round: usize,
    each_ns: u64,
) -> Vec<Step> {
    let kind = if side == SIDES[0] { FileSystem::Ext4 } else { FileSystem::Ext4Striped(stripe) };
    let bytes = Size(file_bytes(setting));
    let mount = Mount { files: 1, bytes, directory: None };
    let mut steps = vec![act("mkfs", Act::Mkfs(kind)), act("mount", Act::Mount(mount))];
    let base = || {
        let here = loads::base(setting);
        let (engine, io) = (here.engine, here.io);
        Stream { engine, io, length: Some(bytes), stamp: false, ..Stream::default() }
    };
    let in_order =
        |mix: Mix| loads::deep(Stream { mix, size: Size(IN_ORDER_BYTES), ..base() }, DEPTH);
    let first = Stream { sync: Sync::End, ..in_order(Mix::WRITE) };
    let until = Until { passes: Some(1), ..Until::default() };
    steps.push(loads::step(setting, &name(FIRST, side), Role::Measure, until, first));
    let mut loads_here = LOADS;
    shuffle(&mut loads_here, setting.options.seed, round as u64);
    for (load, is_read, is_in_order) in loads_here {
        let mix = if is_read { Mix::READ } else { Mix::WRITE };
        let stream = match is_in_order {
            true => in_order(mix),
            false => Stream { length: Some(bytes), ..loads::random(setting, mix, DEPTH) },
        };
        let until = Until {
            elapsed: Some(Span(each_ns)),
            bytes: (!is_read).then_some(bytes),
            ..Until::default()
        };
        steps.push(loads::step(setting, &name(load, side), Role::Measure, until, stream));
    }
    steps.push(act("unmount", Act::Unmount));
    steps
}

/// What a run says.
pub fn judge(setting: &Setting<'_>, run: &Sound<'_>, stripe: Stripe) -> Findings {
    let summary = run.summary();
    let all: Vec<&str> = std::iter::once(FIRST).chain(LOADS.iter().map(|load| load.0)).collect();
    let order = all.iter().flat_map(|load| SIDES.map(|side| name(load, side))).collect();
    let mut findings = Findings { order, ..Findings::default() };
    let side = |side: &str| {
        let sample = |load: &&str| control::sample(summary, &name(load, side), load);
        let samples = all.iter().filter_map(sample).collect();
        Side { name: format!("ext4, {side}"), samples, facts: Vec::new(), is_by_run: false }
    };
    let said = match stripe.stride {
        Some(stride) => format!("stride={stride},stripe_width={}", stripe.stripe_width),
        None => format!("stripe_width={}", stripe.stripe_width),
    };
    let (before, after) = (side(SIDES[0]), side(SIDES[1]));
    let delta = setting.options.delta;
    match compare(&before, &after, Some(delta)) {
        Ok(comparison) => {
            let answers: Vec<String> =
                comparison.cells.iter().filter_map(|cell| told(cell, delta)).collect();
            let is_open = |verdict| matches!(verdict, None | Some(Verdict::Inconclusive));
            let open: Vec<&str> = comparison
                .cells
                .iter()
                .filter(|cell| is_open(cell.verdict))
                .map(|cell| cell.name.as_str())
                .collect();
            findings.no_answer = answers.is_empty();
            if !answers.is_empty() {
                findings.verdict.push(format!(
                    "Ext4 made with `-E {said}`, against ext4 made without, on this device: {} \
                     (equivalent: within {}).",
                    answers.join(", "),
                    percent(delta)
                ));
            }
            if !open.is_empty() {
                findings.want_more(format!(
                    "What stripes change for {}: the noise is too large to tell, or the figure is \
                     suspect; a larger --time gives longer steps.",
                    open.join(", ")
                ));
            }
            findings.comparison = Some(comparison);
        }
        Err(why) => {
            findings.no_answer = true;
            findings.want_more(format!("What stripes change: {why}. Give a larger --time."));
        }
    }
    findings.deviations.push(format!(
        "Both were made {ROUNDS} times without discarding the device, each with one file of {}: \
         what stripes do to many small files was not measured.",
        size(file_bytes(setting))
    ));
    findings
}

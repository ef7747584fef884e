//! `tune`: does a setting of the kernel's queue in front of this drive matter here?
//!
//! Each value of each setting is held against what is set now, one setting at a time, in rounds: in
//! each the values come in an order of their own, and what is set now comes twice. Everything is
//! set back behind each value, and noted before it is changed (`io/settings`).

mod judge;
#[cfg(test)]
mod tests;

use crate::experiment::budget::{Left, STEP_NS_MIN, between_ns, too_short, whole};
use crate::experiment::order::{done, shuffle};
use crate::experiment::{
    Allowance, Setting, Study, impossible, loads, longest_ns, region, repetitions, too_small,
};
use drivelab_core::facts::{DeviceFacts, TargetKind};
use drivelab_core::plan::{
    Act, Engine, IoMode, Mix, Pattern, Plan, QueueSetting, Role, Step, Stream, Until,
};
use drivelab_core::run::Run;
use drivelab_core::study::Scale;
use drivelab_core::units::{Size, Span};

/// The study.
pub const STUDY: Study = Study {
    name: "tune",
    question: "Does a setting of the kernel's queue in front of this drive matter here?",
    allowance,
    objection,
    next,
    judge: judge::judge,
    ..Study::PLAIN
};

const SECOND_NS: u64 = 1_000_000_000;
/// In virtual time a step takes this part of its time.
const VIRTUAL_PART: u64 = 10;
/// Times that what is set now is measured in a round.
const TWICE: usize = 2;
/// Fewer bytes than this would leave steps of a few milliseconds.
const BUDGET_MIN: u64 = 256 << 20;
/// Between two values a simulated drive rests; a real one does while the queue is set.
const REST: Span = Span(200_000_000);
/// Values of `rq_affinity` (kernel document `Documentation/block/queue-sysfs.rst`).
const AFFINITIES: [&str; 3] = ["0", "1", "2"];
/// None, the kernel's usual one, and one of a whole mebibyte.
const READ_AHEADS: [&str; 3] = ["0", "128", "1024"];

/// What is issued, in the order it runs in: writes last, so that no reader pays for them.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
enum Load {
    Buffered,
    ReadDeep,
    ReadOne,
    WriteDeep,
}

impl Load {
    const ALL: [Load; 4] = [Load::Buffered, Load::ReadDeep, Load::ReadOne, Load::WriteDeep];

    fn word(self) -> &'static str {
        match self {
            Load::Buffered => "buffered sequential read 128K",
            Load::ReadDeep => "random read 4K qd32",
            Load::ReadOne => "random read 4K qd1",
            Load::WriteDeep => "random write 4K qd32",
        }
    }

    /// Reading ahead happens in the page cache alone.
    fn is_touched_by(self, setting: QueueSetting) -> bool {
        setting != QueueSetting::ReadAheadKb || self == Load::Buffered
    }
}

/// A value of a setting that is not what is set now.
#[derive(Debug, Clone, PartialEq, Eq)]
struct Variant {
    setting: QueueSetting,
    value: String,
}

impl Variant {
    fn words(&self) -> String {
        format!("{} {}", self.setting.word(), self.value)
    }

    fn cell(&self, load: Load) -> String {
        format!("{}, {}", load.word(), self.words())
    }
}

/// The device whose queue is set: the nearest to the target, of a partition its disk.
fn device<'a>(setting: &Setting<'a>) -> Option<&'a DeviceFacts> {
    setting.facts.target.devices.iter().find(|device| device.layer != "partition")
}

/// What is set now.
fn present(setting: &Setting<'_>, what: QueueSetting) -> Option<String> {
    if setting.is_simulated() {
        return Some(what.simulated()[0].into());
    }
    let device = device(setting)?;
    match what {
        QueueSetting::Scheduler => device.scheduler.clone(),
        QueueSetting::RqAffinity => device.rq_affinity.map(|it| it.to_string()),
        QueueSetting::ReadAheadKb => device.read_ahead_kib.map(|it| it.to_string()),
    }
}

/// What it could be, what is set now among it.
fn offered(setting: &Setting<'_>, what: QueueSetting) -> Vec<String> {
    let words = |all: &[&str]| all.iter().map(|word| (*word).to_string()).collect();
    match (setting.is_simulated(), what) {
        (true, what) => words(what.simulated()),
        (false, QueueSetting::Scheduler) => {
            device(setting).map_or(Vec::new(), |device| device.schedulers.clone())
        }
        (false, QueueSetting::RqAffinity) => words(&AFFINITIES),
        (false, QueueSetting::ReadAheadKb) => words(&READ_AHEADS),
    }
}

/// Why a setting cannot be looked at here.
fn why_not(setting: &Setting<'_>, what: QueueSetting) -> Option<String> {
    let target = &setting.facts.target;
    let filesystem = target.filesystem.as_ref().map(|found| found.kind.as_str());
    let Some(now) = present(setting, what) else {
        return Some("this device has no such setting".into());
    };
    match what {
        QueueSetting::ReadAheadKb if !loads(setting).contains(&Load::Buffered) => {
            Some("it acts on buffered reads alone, which this host does not have".into())
        }
        QueueSetting::ReadAheadKb if filesystem == Some("btrfs") => {
            Some("btrfs reads ahead by a setting of its own".into())
        }
        _ if offered(setting, what).iter().all(|value| *value == now) => {
            Some(format!("the kernel offers nothing but `{now}` here"))
        }
        _ => None,
    }
}

fn variants(setting: &Setting<'_>) -> Vec<Variant> {
    let of = |what: QueueSetting| {
        let now = present(setting, what);
        let others = offered(setting, what).into_iter().filter(move |it| Some(it) != now.as_ref());
        others.map(move |value| Variant { setting: what, value })
    };
    let all = QueueSetting::ALL.into_iter().filter(|what| why_not(setting, *what).is_none());
    all.flat_map(of).collect()
}

/// What this target can serve.
fn loads(setting: &Setting<'_>) -> Vec<Load> {
    let simulated = setting.facts.target.simulated;
    let has_pages = simulated.is_none_or(|known| known.page_cache_bytes.is_some());
    Load::ALL.into_iter().filter(|load| has_pages || *load != Load::Buffered).collect()
}

fn allowance(scale: Scale, bytes: u64) -> Allowance {
    let (minutes, budget) = match scale {
        Scale::Quick => (5, 10 << 30),
        Scale::Default => (30, bytes.saturating_mul(4).min(64 << 30)),
        Scale::Full => (180, bytes.saturating_mul(6)),
    };
    Allowance { time: Span(minutes * 60 * SECOND_NS), budget: Size(budget.max(10 << 30)) }
}

fn objection(setting: &Setting<'_>) -> Option<String> {
    let target = &setting.facts.target;
    let path = &target.path;
    let kind = target.filesystem.as_ref().map_or("no drive", |found| found.kind.as_str());
    let is_nothing = target.kind == TargetKind::Nothing;
    if is_nothing || (device(setting).is_none() && !setting.is_simulated()) {
        return Some(format!(
            "`tune` sets the queue of a block device, and there is none below {path} ({kind}); \
             name a file on a drive, or a block device"
        ));
    }
    if let Some(device) = device(setting).filter(|it| it.queue_settable == Some(false)) {
        return Some(format!(
            "the settings of {} cannot be changed by this user: run as root, and in a container \
             where /sys is not read-only",
            device.name
        ));
    }
    if loads::base(setting).io == IoMode::Buffered {
        return Some(format!(
            "{path} lies on a file system without direct I/O, so the page cache stands between \
             program and drive; name a file on another one, or a block device"
        ));
    }
    if variants(setting).is_empty() {
        let name = device(setting).map_or(path, |device| &device.name);
        return Some(format!(
            "there is nothing to choose: the kernel offers one value of each setting of {name}; \
             name the drive below it"
        ));
    }
    impossible(setting)
        .or_else(|| too_small(setting, Size(BUDGET_MIN)))
        .or_else(|| too_short(setting, all_steps(setting) as u64))
}

/// One value of a round, or what is set now, with the loads it is measured by.
type Group = (Option<Variant>, Vec<Load>);

/// One round in its order.
fn round(setting: &Setting<'_>, number: usize) -> Vec<Group> {
    let loads = loads(setting);
    let touched = |variant: &Variant| {
        let all = loads.iter().copied();
        all.filter(|load| load.is_touched_by(variant.setting)).collect::<Vec<_>>()
    };
    let all = variants(setting).into_iter();
    let mut groups: Vec<Group> =
        all.map(|variant| (Some(variant.clone()), touched(&variant))).collect();
    groups.extend(vec![(None, loads.clone()); TWICE]);
    shuffle(&mut groups, setting.options.seed, number as u64);
    groups
}

fn name_of(variant: Option<&Variant>, load: Load) -> String {
    variant.map_or(load.word().into(), |variant| variant.cell(load))
}

/// The settings of which there is something to choose.
fn chosen(setting: &Setting<'_>) -> Vec<QueueSetting> {
    let all = variants(setting);
    QueueSetting::ALL.into_iter().filter(|what| all.iter().any(|it| it.setting == *what)).collect()
}

/// Measured steps and acts of all rounds.
fn all_steps(setting: &Setting<'_>) -> usize {
    let rounds = repetitions(setting.options.scale);
    let steps: usize = round(setting, 0)
        .iter()
        .map(|(variant, loads)| loads.len() + acts(setting, variant, loads))
        .sum();
    steps * rounds
}

fn acts(setting: &Setting<'_>, variant: &Option<Variant>, loads: &[Load]) -> usize {
    let sets = if variant.is_some() { 2 } else { chosen(setting).len() };
    sets + usize::from(loads.contains(&Load::Buffered))
}

fn next(setting: &Setting<'_>, run: &Run) -> Option<Plan> {
    let left = Left::of(setting, run);
    if let Some(step) = region::preparation(setting, run, &left) {
        return Some(loads::plan(setting, SECOND_NS, vec![step]));
    }
    let bytes = region::bytes(setting, run)?;
    let rest: Vec<Vec<Group>> = missing(setting, run);
    let groups = rest.first()?;
    let count = |of: &dyn Fn(&Group) -> usize| rest.iter().flatten().map(of).sum::<usize>() as u64;
    let measured = count(&|(_, loads)| loads.len());
    let acted = count(&|(variant, loads)| acts(setting, variant, loads));
    let writes = count(&|(_, loads)| usize::from(loads.contains(&Load::WriteDeep)));
    let between = acted.saturating_mul(between_ns(setting));
    let time_ns = left.time_ns.saturating_sub(between);
    let each_ns =
        Left { time_ns, ..left }.each(setting, measured, longest_ns(setting, VIRTUAL_PART));
    let share = Share { each_ns, bytes: left.bytes / writes.max(1), region: bytes };
    if each_ns < STEP_NS_MIN / 2 || share.bytes < 4096 {
        return None;
    }
    let steps = groups.iter().flat_map(|group| steps(setting, group, &share)).collect();
    Some(loads::plan(setting, each_ns / 4, steps))
}

/// Of each round what was not measured yet, without those of which nothing is missing.
fn missing(setting: &Setting<'_>, run: &Run) -> Vec<Vec<Group>> {
    let mut known: std::collections::BTreeMap<String, usize> = std::collections::BTreeMap::new();
    let mut rounds = Vec::new();
    for number in 0..repetitions(setting.options.scale) {
        let mut groups = round(setting, number);
        for (variant, loads) in &mut groups {
            loads.retain(|load| {
                let name = name_of(variant.as_ref(), *load);
                let left = known.entry(name.clone()).or_insert_with(|| done(&run.steps, &name));
                let is_done = *left > 0;
                *left = left.saturating_sub(1);
                !is_done
            });
        }
        groups.retain(|(_, loads)| !loads.is_empty());
        rounds.push(groups);
    }
    rounds.retain(|groups| !groups.is_empty());
    rounds
}

/// What one measured step may take.
struct Share {
    each_ns: u64,
    bytes: u64,
    region: u64,
}

fn act(name: String, act: Act) -> Step {
    Step { name, role: Role::Prepare, act: Some(act), ..Step::default() }
}

/// The value is set, everything measured, and set back.
fn steps(setting: &Setting<'_>, (variant, loads): &Group, share: &Share) -> Vec<Step> {
    let set = |value: &str, what: QueueSetting| {
        let words = format!("set {} {value}", what.word());
        act(words, Act::Queue { setting: what, value: value.into() })
    };
    let mut steps = Vec::new();
    if setting.is_simulated() {
        steps.push(act("rest".into(), Act::Idle(REST)));
    }
    match variant {
        Some(variant) => steps.push(set(&variant.value, variant.setting)),
        // What is set now is set like any other value: both sides begin alike, and a run that goes
        // on measures what it measured before.
        None => steps.extend(
            chosen(setting)
                .into_iter()
                .filter_map(|what| Some(set(&present(setting, what)?, what))),
        ),
    }
    for load in loads {
        if *load == Load::Buffered {
            steps.push(act("drop caches".into(), Act::DropCaches));
        }
        steps.push(one(setting, variant.as_ref(), *load, share));
    }
    let now = variant.as_ref().and_then(|variant| present(setting, variant.setting));
    steps.extend(variant.as_ref().zip(now).map(|(variant, now)| set(&now, variant.setting)));
    steps
}

fn one(setting: &Setting<'_>, variant: Option<&Variant>, load: Load, share: &Share) -> Step {
    let stream = match load {
        Load::Buffered => Stream {
            engine: Engine::Psync,
            io: IoMode::Buffered,
            pattern: Pattern::SEQUENTIAL,
            size: Size(128 << 10),
            ..Stream::default()
        },
        Load::ReadDeep => loads::random(setting, Mix::READ, 32),
        Load::ReadOne => loads::random(setting, Mix::READ, 1),
        Load::WriteDeep => loads::random(setting, Mix::WRITE, 32),
    };
    let bytes = (load == Load::WriteDeep).then(|| whole(share.bytes, stream.size.0));
    let until = Until {
        elapsed: Some(Span(share.each_ns)),
        bytes,
        // What was read once lies in memory.
        passes: (load == Load::Buffered).then_some(1),
        ..Until::default()
    };
    let stream = Stream { length: Some(Size(share.region)), ..stream };
    loads::step(setting, &name_of(variant, load), Role::Measure, until, stream)
}

//! Loads that several studies use.

use super::Setting;
use super::budget::Left;
use drivelab_core::plan::{
    Act, Engine, Interval, IoMode, Mix, Pattern, Plan, Role, Step, Stream, Sync, Until,
};
use drivelab_core::run::Run;
use drivelab_core::study::Emptying;
use drivelab_core::units::{Size, Span};

/// The step that writes the whole target once, in order.
pub const FILL: &str = "fill";
/// The step that empties the drive.
pub const EMPTY: &str = "empty";
const MEBIBYTE: u64 = 1 << 20;
/// Requests of a quick fill.
const FILL_BYTES: u64 = MEBIBYTE;
const FILL_DEPTH: u32 = 8;

/// Direct wherever the file system does not say that it cannot.
pub fn base(setting: &Setting<'_>) -> Stream {
    let filesystem = setting.facts.target.filesystem.as_ref();
    let is_direct = filesystem.and_then(|found| found.direct_io_align) != Some((0, 0));
    let (engine, io) = match is_direct {
        true => (Engine::IoUring, IoMode::Direct),
        false => (Engine::Psync, IoMode::Buffered),
    };
    Stream { engine, io, ..Stream::default() }
}

/// As deep as asked where I/O is asynchronous.
pub fn deep(base: Stream, depth: u32) -> Stream {
    let depth = if base.io == IoMode::Direct { depth } else { 1 };
    Stream { depth, ..base }
}

/// Random requests of 4 KiB.
pub fn random(setting: &Setting<'_>, mix: Mix, depth: u32) -> Stream {
    deep(Stream { pattern: Pattern::Uniform, mix, ..base(setting) }, depth)
}

/// A plan of steps, with intervals of this length.
pub fn plan(setting: &Setting<'_>, interval_ns: u64, steps: Vec<Step>) -> Plan {
    let interval = Interval(Span(interval_ns.clamp(10_000_000, 60_000_000_000)));
    let title = format!("study {}", setting.options.name);
    Plan { title, seed: setting.options.seed, interval, steps, ..Plan::default() }
}

/// One step of one stream, done once.
pub fn step(setting: &Setting<'_>, name: &str, role: Role, until: Until, stream: Stream) -> Step {
    Step {
        name: name.into(),
        role,
        until,
        repeat: 1,
        cpus: setting.options.cpus.clone(),
        streams: vec![stream],
        ..Step::default()
    }
}

/// As many writes as a step will measure, to go before it unmeasured.
///
/// What came before let the drive rest: its buffer takes the first writes at its own speed.
/// `None`: the step writes nothing.
#[must_use]
pub fn settling(step: &Step) -> Option<Step> {
    let writes = step.streams.iter().any(|stream| stream.mix.write > 0);
    writes.then(|| running_in(step))
}

/// The same load as a step, to go before it unmeasured: what came before leaves traces in a drive.
#[must_use]
pub fn running_in(step: &Step) -> Step {
    Step { name: "settling".into(), role: Role::Prepare, ..step.clone() }
}

/// Writes all of the target in order, stamped, once or more often.
pub fn fill(setting: &Setting<'_>, passes: u64, left: &Left) -> Step {
    let bytes = setting.bytes();
    let size = 1 << bytes.trailing_zeros().min(FILL_BYTES.trailing_zeros());
    let stream = Stream {
        mix: Mix::WRITE,
        size: Size(size),
        sync: Sync::End,
        stamp: true,
        length: Some(Size(bytes)),
        ..deep(base(setting), FILL_DEPTH)
    };
    let until = Until {
        passes: Some(passes),
        elapsed: Some(Span(left.time_ns.max(1))),
        ..Until::default()
    };
    step(setting, FILL, Role::Prepare, until, stream)
}

/// Empties the drive as it was asked for; `None`: it is to be taken as it is, or is a file.
pub fn empty(setting: &Setting<'_>) -> Option<Step> {
    let act = match setting.options.emptying {
        Emptying::None => return None,
        _ if !setting.is_drive() => return None,
        Emptying::Discard => Act::Trim { offset: Size(0), length: None },
        Emptying::Purge(purge) => Act::Purge(purge),
    };
    Some(Step { name: EMPTY.into(), role: Role::Prepare, act: Some(act), ..Step::default() })
}

/// Whether the drive is as empty as this study can make it.
pub fn is_empty(setting: &Setting<'_>, run: &Run) -> bool {
    let ledger = run.ledger();
    let is_discarded = setting.options.emptying == Emptying::Discard;
    ledger.state == "fresh" || (ledger.state == "trimmed" && is_discarded)
}

/// How the drive was emptied where that is not by a purge of its own, in a sentence.
pub fn not_purged(setting: &Setting<'_>, run: &Run) -> Option<String> {
    let mut acts = run.steps.iter().filter(|step| step.begin.name == EMPTY);
    match acts.next_back().and_then(|step| step.plan.act.clone()) {
        Some(Act::Purge(_)) => None,
        Some(_) => {
            Some("The whole drive was discarded, not purged by a command of its own.".into())
        }
        None if run.begin.state.as_deref() == Some("fresh") || !setting.is_drive() => None,
        None => {
            Some("The drive was not purged: the study began in the state it was found in.".into())
        }
    }
}

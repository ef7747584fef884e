//! The truth guard: whether a measured number is the drive's, judged from what was seen around it.
//!
//! A suspicion is a reason why the number may not be what it is called; a note is worth knowing
//! and takes nothing from the number; what could not be looked at is listed as unchecked. Pure:
//! everything comes from the run.

mod below;
mod device;
mod health;
mod link;
mod load;
mod machine;

use crate::facts::{Facts, TargetKind};
use crate::inside::Inside;
use crate::observed::Observed;
use crate::op::Action;
use crate::plan::{Content, IoMode, Step, Stream};
use crate::quantity::{percent, size};
use crate::record::{DeviceCounters, StepEnd};
use crate::run::{Run, StepRun};
use crate::summary::{Reason, StreamSummary};
use crate::tally::{KindTally, Tally};
use crate::verified::Verified;

/// Fewer bytes than this prove nothing about where they came from.
const BYTES_MIN: u64 = 1 << 20;
/// Shorter steps prove nothing about CPU time, quotas or depths.
const SPAN_NS_MIN: u64 = 200_000_000;
/// Of the bytes that were asked for, this much may be missing on the device, or in excess.
const BYTES_TOLERANCE: f64 = 0.02;
/// Of what is read from a simulated drive, this much may never have been written.
const UNMAPPED_SHARE: f64 = 0.02;
/// I/O of others is told from this share of our own on.
const OTHERS_SHARE: f64 = 0.01;

/// What the truth guard says of one step.
#[derive(Debug, Clone, Default, PartialEq)]
pub struct Judgement {
    /// `Some(false)`: suspect. `None`: nothing speaks against it, and nothing could be checked
    /// that would speak for it.
    pub valid: Option<bool>,
    /// Why it is suspect.
    pub reasons: Vec<Reason>,
    /// What a reader should know.
    pub notes: Vec<Reason>,
    /// What could not be checked, and why.
    pub unchecked: Vec<Reason>,
}

/// Judges one step of `run`; `streams` are its numbers.
pub fn judge(run: &Run, step: &StepRun, streams: &[StreamSummary]) -> Judgement {
    let mut judgement = Judgement::default();
    let incomplete = match &step.end {
        Some(end) => end.incomplete.clone(),
        None => Some("the run ended inside this step".to_owned()),
    };
    if let Some(text) = incomplete {
        judgement.reasons.push(reason("incomplete", text));
    }
    if let Some(end) = step.end.as_ref().filter(|_| touches_a_target(step, run))
        && let Some(observed) = &end.observed
    {
        let facts = &run.begin.facts;
        let mut case = Case { run, facts, step, streams, end, observed, judgement: &mut judgement };
        // A cause before what it brings about: the first reason is the one that is told.
        case.machine();
        case.health();
        case.device();
        case.link();
        case.load();
        case.below();
    }
    if let Some(inside) = step.end.as_ref().and_then(|end| end.inside.as_ref()) {
        simulated(inside, step, &mut judgement);
    }
    if let Some(text) = moves_no_data(&step.plan) {
        judgement.notes.push(reason("moves_no_data", text));
    }
    if let Some(text) = ended_early(step) {
        judgement.reasons.push(reason("ended_early", text));
    }
    let verified = Verified::of(run, step);
    if let Some(text) = verified.objection() {
        let code = if verified.wrong() > 0 { "mismatches" } else { "not_verified" };
        judgement.reasons.push(reason(code, text));
    }
    if !judgement.reasons.is_empty() {
        judgement.valid = Some(false);
    }
    judgement
}

/// A simulated drive tells everything; the lies it can be made to tell are to read what was never
/// written, which needs no flash, and to let a page cache answer for it.
fn simulated(inside: &Inside, step: &StepRun, judgement: &mut Judgement) {
    judgement.valid = Some(true);
    if step.plan.streams.iter().any(|stream| stream.io == IoMode::Buffered) {
        cached(inside, step, judgement);
    }
    let read = inside.unmapped_read_units + inside.flash_read_units + inside.cached_read_units;
    if inside.unmapped_read_units as f64 > UNMAPPED_SHARE * read as f64 {
        let share = percent(inside.unmapped_read_units as f64 / read.max(1) as f64);
        let text = format!(
            "{share} of what was read was never written or was trimmed, and was answered without \
             the flash; write it first, or give the drive a state such as state=filled"
        );
        judgement.reasons.push(reason("unwritten_blocks", text));
    }
}

/// What a page cache kept from a simulated drive.
fn cached(inside: &Inside, step: &StepRun, judgement: &mut Judgement) {
    let asked = |kind: Action| -> u64 {
        let kinds = step.tallies.iter().flat_map(|tally| &tally.kinds);
        kinds.filter(|tally| tally.kind == kind).map(|tally| tally.bytes).sum()
    };
    let short = |drive: u64, asked: u64| {
        (asked >= BYTES_MIN && (drive as f64) < (1.0 - BYTES_TOLERANCE) * asked as f64).then(|| {
            format!("{} of {} ({})", size(drive), size(asked), percent(drive as f64 / asked as f64))
        })
    };
    if let Some(share) = short(inside.drive_read_bytes, asked(Action::Read)) {
        let text = format!(
            "the drive delivered {share} that was read: the page cache answered the rest; read \
             more than it holds, or use direct I/O"
        );
        judgement.reasons.push(reason("not_from_device", text));
    }
    if let Some(share) = short(inside.drive_written_bytes, asked(Action::Write)) {
        let text = format!(
            "the drive took {share} that was written: the rest is still in the page cache, or was \
             overwritten there; use direct I/O, or count an fsync at the end"
        );
        judgement.reasons.push(reason("not_on_device", text));
    }
}

/// What is said where some workers of a stream were ended by `rate_min`: those that go on are
/// another load.
fn ended_early(step: &StepRun) -> Option<String> {
    let phases = || step.end.iter().flat_map(|end| &end.phases);
    (0..step.plan.streams.len() as u32).find_map(|stream| {
        let workers = phases().filter(|phase| phase.stream == stream).count();
        let ended = phases().filter(|it| it.stream == stream && it.below.is_some()).count();
        (ended > 0 && workers > 1).then(|| {
            format!(
                "`rate_min` ended {ended} of {workers} workers: the rate is of a load that changed \
                 while it was measured; look at a single worker, or ask for less"
            )
        })
    })
}

/// What is said of engines whose operations change a file alone.
fn moves_no_data(step: &Step) -> Option<String> {
    let changes = |stream: &&Stream| stream.reaches_target() && !stream.moves_data();
    let engine = step.streams.iter().find(changes)?.engine;
    Some(format!(
        "{} moves no data: its bytes are those that requests name to the file system, and its \
         times are the file system's",
        engine.word()
    ))
}

fn touches_a_target(step: &StepRun, run: &Run) -> bool {
    run.begin.facts.target.kind != TargetKind::Nothing
        && step.plan.streams.iter().any(|stream| stream.engine.moves_data())
}

fn reason(code: &str, text: impl Into<String>) -> Reason {
    Reason { code: code.to_owned(), text: text.into() }
}

/// One step with all its evidence.
struct Case<'a> {
    run: &'a Run,
    facts: &'a Facts,
    step: &'a StepRun,
    streams: &'a [StreamSummary],
    end: &'a StepEnd,
    observed: &'a Observed,
    judgement: &'a mut Judgement,
}

impl Case<'_> {
    fn suspect(&mut self, code: &str, text: impl Into<String>) {
        self.judgement.reasons.push(reason(code, text));
    }

    fn note(&mut self, code: &str, text: impl Into<String>) {
        self.judgement.notes.push(reason(code, text));
    }

    fn unchecked(&mut self, code: &str, text: impl Into<String>) {
        self.judgement.unchecked.push(reason(code, text));
    }

    fn plan(&self) -> &Step {
        &self.step.plan
    }

    /// Streams that move data on the target.
    fn data_streams(&self) -> impl Iterator<Item = &Stream> {
        self.step.plan.streams.iter().filter(|stream| stream.moves_data())
    }

    /// What was moved of one kind in the whole step, ramp included.
    fn moved(&self, kind: Action) -> impl Iterator<Item = &KindTally> {
        let changes_files = |tally: &&Tally| {
            let stream = self.plan().streams.get(tally.stream as usize);
            stream.is_some_and(|stream| stream.engine.traits().changes_files)
        };
        let tallies = self.step.tallies.iter().filter(move |tally| !changes_files(tally));
        tallies.flat_map(|tally| &tally.kinds).filter(move |tally| tally.kind == kind)
    }

    /// Bytes of one kind in the whole step, ramp included.
    fn bytes(&self, kind: Action) -> u64 {
        self.moved(kind).map(|tally| tally.bytes).sum()
    }

    /// Operations of one kind in the whole step, ramp included.
    fn operations(&self, kind: Action) -> u64 {
        self.moved(kind).map(|tally| tally.ops).sum()
    }

    /// The block device right under the target or its file system, and what it did.
    fn top_device(&self) -> Option<&DeviceCounters> {
        let name = &self.facts.target.devices.first()?.name;
        self.end.devices.iter().find(|device| device.name == *name)
    }

    /// The same, where the kernel counts what it does: zeros of another are no evidence.
    fn counted_top_device(&self) -> Option<&DeviceCounters> {
        self.top_device().filter(|device| !device.uncounted)
    }

    /// Some of the I/O goes past the block layer, whose counters say nothing of it.
    fn passes_by_block_layer(&self) -> bool {
        self.data_streams().any(|stream| stream.engine.traits().is_passthrough)
    }

    /// Whether every data stream bypasses the page cache.
    fn is_direct(&self) -> bool {
        self.data_streams().all(|stream| stream.io == IoMode::Direct && !is_mapped(stream))
    }

    /// The target answers from memory, in the thread that asks: its work is our CPU time.
    fn answers_inline(&self) -> bool {
        let filesystem = self.facts.target.filesystem.as_ref();
        filesystem.is_some_and(|found| found.memory_backed) || self.is_memory_device()
    }

    fn is_memory_device(&self) -> bool {
        let devices = &self.facts.target.devices;
        devices.first().is_some_and(|device| {
            device.layer == "zram" || device.transport.as_deref() == Some("memory")
        })
    }

    /// Something below compresses what is written.
    fn compressing_layer(&self) -> Option<String> {
        let target = &self.facts.target;
        let filesystem = target.filesystem.as_ref().filter(|found| found.compressing);
        let by_filesystem = filesystem.map(|found| format!("the file system ({})", found.kind));
        let device = target.devices.iter().find(|device| device.layer == "zram");
        by_filesystem.or_else(|| device.map(|device| device.name.clone()))
    }

    /// The most compressible content that the step writes, or that this run wrote before it reads.
    fn content(&self) -> Option<Content> {
        let so_far =
            self.run.steps.iter().take_while(|step| step.begin.step < self.step.begin.step);
        let earlier = so_far.flat_map(|step| &step.plan.streams);
        let written = earlier
            .chain(&self.plan().streams)
            .filter(|stream| stream.mix.write > 0 && stream.moves_data());
        let of = |stream: &Stream| match stream.data {
            Some(_) => Content::Compressible(100),
            None => stream.content,
        };
        written.map(of).max_by_key(|content| compressible_percent(*content))
    }

    /// From the first worker's beginning to the last one's end, in nanoseconds: setting up counts
    /// in the span, and is no load.
    fn active_ns(&self) -> u64 {
        let from = self.end.phases.iter().map(|phase| phase.opened).min().unwrap_or(0);
        let to = self.end.phases.iter().map(|phase| phase.closed).max().unwrap_or(0);
        to.saturating_sub(from)
    }

    fn is_long_enough(&self) -> bool {
        self.active_ns() >= SPAN_NS_MIN
    }
}

fn is_mapped(stream: &Stream) -> bool {
    stream.engine.traits().is_mapping
}

fn compressible_percent(content: Content) -> u32 {
    match content {
        Content::Zero => 100,
        Content::Compressible(percent) => percent,
        // What gzip -1 saves of it.
        Content::Counting(_) => 81,
        Content::Random => 0,
    }
}

#[cfg(test)]
mod tests;

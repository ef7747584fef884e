//! `fs`: what does the file system take?
//!
//! The same loads on the same blocks of the same drive, once by the device and once by a file that
//! lies there. Files are laid out first, their places are asked of the file system, and both sides
//! take turns. What lays out is no result; the first write into new space is one of its own.

mod jobs;
mod judge;
mod stripe;

use crate::experiment::budget::{Left, too_short, whole, written};
use crate::experiment::order::{done, shuffle, since_break};
use crate::experiment::{Allowance, OwnOption, Setting, Study, impossible, loads, too_small};
use drivelab_core::facts::TargetKind;
use drivelab_core::plan::{
    Act, FileSystem, Files, Mix, Mount, Pattern, Plan, Role, Sharing, Step, Stream, Sync, Until,
};
use drivelab_core::quantity::size;
use drivelab_core::run::{Run, StepRun};
use drivelab_core::study::Scale;
use drivelab_core::units::{Size, Span};

/// The study.
pub const STUDY: Study = Study {
    name: "fs",
    question: "What does the file system take?",
    allowance,
    objection,
    next,
    judge: |setting, run| match setting.options.file_system.stripe {
        Some(stripe) => stripe::judge(setting, run, stripe),
        None => judge::judge(setting, run),
    },
    options: &[OwnOption::Mkfs, OwnOption::Mount, OwnOption::StripeWidth, OwnOption::Protocol],
    ..Study::PLAIN
};

const SECOND_NS: u64 = 1_000_000_000;
const MEBIBYTE: u64 = 1 << 20;
const REPETITIONS: usize = 5;
/// Requests of sequential loads.
const IN_ORDER_BYTES: u64 = 128 << 10;
/// Writes outstanding while the file is aged.
const AGE_DEPTH: u32 = 32;
/// The first file has at most this part of the budget: its bytes are written six times to lay out
/// files and for the first time, and half of the budget is for other loads.
const BUDGET_PART: u64 = 16;
/// With less the loads that write would measure the buffer of any drive.
const BUDGET_MIN: u64 = 1 << 30;
/// The first file is made of four parts: in three of them it is overwritten and read, the last is
/// released and written for the first time, again and again.
const PARTS: u64 = 4;
/// The least first file.
const FILE_BYTES_MIN: u64 = 12 * MEBIBYTE;
/// `mkfs.xfs` makes none on less.
const XFS_BYTES_MIN: u64 = 300 * MEBIBYTE;
/// A file in smaller pieces than this part of it has no place of its own that could be measured.
const PIECE_PART: u64 = 64;

/// A write into new space that the clock cuts says nothing: it may take this many times as long.
const FIRST_PART: u64 = 4;

const MKFS: &str = "mkfs";
const MOUNT: &str = "mount";
const UNMOUNT: &str = "unmount";
const LAYOUT: &str = "layout";
const LAYOUT_OTHERS: &str = "layout, other files";
const AGE: &str = "random write, to age";
const LET_GO: &str = "release blocks";
const FIRST_WRITE: &str = "first write";
/// The same bytes once more, now that they have their blocks.
const AGAIN: &str = "write again";

/// What is issued.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
enum Load {
    InOrder,
    AtRandom,
    First,
}

/// Which way it goes.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
enum Way {
    Raw,
    File,
    FileEach,
}

#[derive(Debug, Clone, Copy, PartialEq, Eq)]
struct Cell {
    name: &'static str,
    load: Load,
    is_read: bool,
    way: Way,
}

const fn cell(name: &'static str, load: Load, is_read: bool, way: Way) -> Cell {
    Cell { name, load, is_read, way }
}

const CELLS: [Cell; 12] = [
    cell("sequential read, raw", Load::InOrder, true, Way::Raw),
    cell("sequential read, file", Load::InOrder, true, Way::File),
    cell("sequential write, raw", Load::InOrder, false, Way::Raw),
    cell("sequential write, file", Load::InOrder, false, Way::File),
    cell("random read, raw", Load::AtRandom, true, Way::Raw),
    cell("random read, file", Load::AtRandom, true, Way::File),
    cell("random read, a file each", Load::AtRandom, true, Way::FileEach),
    cell("random write, raw", Load::AtRandom, false, Way::Raw),
    cell("random write, file", Load::AtRandom, false, Way::File),
    cell("random write, a file each", Load::AtRandom, false, Way::FileEach),
    cell(FIRST_WRITE, Load::First, false, Way::File),
    cell(AGAIN, Load::First, false, Way::File),
];

/// Each is done once before it is measured.
const STEPS: u64 = (2 * CELLS.len() * REPETITIONS) as u64;

/// The bytes that both sides work on.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
struct Region {
    in_file: u64,
    /// `None`: not known, and nothing can be measured there.
    on_device: Option<u64>,
    bytes: u64,
    /// The other files were laid out wholly: holes are read without the drive.
    has_others: bool,
}

/// What can be measured here, in the order it is to be read.
fn cells(setting: &Setting<'_>, region: &Region) -> Vec<Cell> {
    let fits = |cell: &&Cell| match cell.way {
        Way::Raw => region.on_device.is_some() && (cell.is_read || writes_raw(setting)),
        Way::File => true,
        Way::FileEach => region.has_others,
    };
    CELLS.iter().filter(fits).copied().collect()
}

/// Whether the device may be written past the file system: only where that is ours.
fn writes_raw(setting: &Setting<'_>) -> bool {
    setting.options.file_system.directory.is_none()
}

fn allowance(scale: Scale, bytes: u64) -> Allowance {
    let (minutes, budget) = match scale {
        Scale::Quick => (5, 10 << 30),
        Scale::Default => (30, bytes.saturating_mul(8).clamp(BUDGET_MIN, 128 << 30)),
        Scale::Full => (6 * 60, bytes.saturating_mul(8).max(BUDGET_MIN)),
    };
    Allowance { time: Span(minutes * 60 * SECOND_NS), budget: Size(budget) }
}

/// Bytes of each file: all of them leave room for one more. The first is written wholly, of the
/// others a quarter.
fn file_bytes(setting: &Setting<'_>) -> u64 {
    let most = match setting.options.scale {
        Scale::Quick => 1 << 30,
        Scale::Default => 16 << 30,
        Scale::Full => u64::MAX,
    };
    let room = setting.bytes() / u64::from(jobs::of(setting).workers + 1);
    let grain = PARTS * MEBIBYTE;
    room.min(setting.options.budget.0 / BUDGET_PART).min(most) / grain * grain
}

fn objection(setting: &Setting<'_>) -> Option<String> {
    let asked = &setting.options.file_system;
    let target = &setting.facts.target;
    let path = &target.path;
    let text = match target.kind {
        TargetKind::BlockDevice if asked.make.is_none() && asked.directory.is_none() => format!(
            "`fs` needs to know which file system: add --mkfs xfs or --mkfs ext4, which erases \
             {path}, or --mount DIR for a directory in the one that is on it"
        ),
        TargetKind::BlockDevice if asked.make.is_some() && asked.directory.is_some() => {
            "--mkfs makes a file system and --mount uses an existing one; give one of them".into()
        }
        TargetKind::Simulated if asked.directory.is_some() => {
            "--mount is for a directory in a file system on a block device; leave it out for a \
             simulated drive"
                .into()
        }
        TargetKind::BlockDevice | TargetKind::Simulated => String::new(),
        _ if asked.make.is_some() => format!(
            "--mkfs makes a file system on a block device, and {path} is not one; name the device, \
             or use the existing file system: drivelab study fs {} --mount {path}",
            device_below(setting)
        ),
        _ => format!(
            "`fs` compares a file system with its device: name the device, as in drivelab study fs \
             {} --mount {path}",
            device_below(setting)
        ),
    };
    let is_small = asked.make == Some(FileSystem::Xfs)
        && target.kind == TargetKind::BlockDevice
        && setting.bytes() < XFS_BYTES_MIN;
    let small = is_small.then(|| {
        format!(
            "mkfs.xfs makes no file system on less than {}, and {path} has {}; give --mkfs ext4 or \
             a larger device",
            size(XFS_BYTES_MIN),
            size(setting.bytes())
        )
    });
    (!text.is_empty())
        .then_some(text)
        .or_else(|| stripe::objection(setting))
        .or_else(|| impossible(setting))
        .or(small)
        .or_else(|| too_small(setting, Size(BUDGET_MIN)))
        .or_else(|| too_short(setting, STEPS))
        .or_else(|| {
            (file_bytes(setting) < FILE_BYTES_MIN).then(|| {
                format!(
                    "there is room for files of {} here, and `fs` needs {}; name a larger device, \
                     or free some space",
                    size(file_bytes(setting)),
                    size(FILE_BYTES_MIN)
                )
            })
        })
}

/// The device that a file or directory lies on, as far as that is known.
fn device_below(setting: &Setting<'_>) -> String {
    let first = setting.facts.target.devices.first();
    first.map_or("DEVICE".into(), |device| format!("/dev/{}", device.name.replace('!', "/")))
}

fn next(setting: &Setting<'_>, run: &Run) -> Option<Plan> {
    let left = Left::of(setting, run);
    let next = match setting.options.file_system.stripe {
        Some(stripe) => stripe::next(setting, run, stripe),
        None => next_of(setting, run),
    };
    next.filter(|plan| most_written(plan) <= left.bytes)
}

/// The bytes that a plan writes at most.
fn most_written(plan: &Plan) -> u64 {
    let of_step = |step: &Step| -> u64 {
        let passes = step.until.passes.unwrap_or(1);
        let of_stream = |stream: &Stream| {
            let files = if stream.files == Files::Each { u64::from(stream.workers) } else { 1 };
            let all = stream.length.map_or(0, |length| length.0) * files * passes;
            let bytes = step.until.bytes.map_or(all, |bytes| bytes.0);
            if stream.changes_data() { bytes } else { 0 }
        };
        step.streams.iter().map(of_stream).sum()
    };
    plan.steps.iter().map(of_step).sum()
}

fn next_of(setting: &Setting<'_>, run: &Run) -> Option<Plan> {
    let steps = since_break(run);
    let left = Left::of(setting, run);
    if left.time_ns < SECOND_NS {
        return None;
    }
    if done(steps, UNMOUNT) == 0 {
        let is_tried = steps.iter().any(|step| step.begin.name == MOUNT);
        return (!is_tried).then(|| loads::plan(setting, SECOND_NS, prepared(setting, &left)));
    }
    let region = region(setting, steps);
    let in_order = |cell: &Cell| cell.load != Load::AtRandom;
    if let Some(plan) = round(setting, run, &region, in_order) {
        return Some(plan);
    }
    if !steps.iter().any(|step| step.begin.name == AGE) {
        return Some(loads::plan(setting, SECOND_NS, aged(setting, &left)));
    }
    round(setting, run, &region, |cell| cell.load == Load::AtRandom)
}

/// The next round of these cells, if any is missing.
fn round(
    setting: &Setting<'_>,
    run: &Run,
    region: &Region,
    is_due: impl Fn(&Cell) -> bool,
) -> Option<Plan> {
    let due: Vec<Cell> = cells(setting, region).into_iter().filter(is_due).collect();
    // As it is judged: after a break all of it again.
    let steps = since_break(run);
    let missing = |round: usize| -> Vec<Cell> {
        due.iter().filter(|cell| done(steps, cell.name) <= round).copied().collect()
    };
    let mut rounds = (0..REPETITIONS).map(|round| (round, missing(round)));
    let (round, cells) = rounds.find(|(_, cells)| !cells.is_empty())?;
    Some(loads::plan(setting, SECOND_NS / 10, turn(setting, region, round, &cells)))
}

/// Where the first file lies: its largest piece, without the part that is written first.
fn region(setting: &Setting<'_>, steps: &[StepRun]) -> Region {
    let used = file_bytes(setting) / PARTS * (PARTS - 1);
    let grain = IN_ORDER_BYTES;
    if setting.is_simulated() {
        let bytes = used / grain * grain;
        return Region { in_file: 0, on_device: Some(0), bytes, has_others: false };
    }
    let part = file_bytes(setting) / PARTS;
    let is_others = |step: &&StepRun| step.begin.name == LAYOUT_OTHERS;
    let others = steps.iter().rfind(is_others).map_or(0, |it| written(std::slice::from_ref(it)));
    let has_others = others >= part * u64::from(jobs::of(setting).workers);
    let unmounted = steps.iter().rfind(|step| step.begin.name == UNMOUNT && step.end.is_some());
    let places = unmounted.and_then(|step| step.end.as_ref()).map(|end| &end.places);
    let first = places.and_then(|places| places.first()).into_iter().flatten();
    let inside = first.filter(|piece| piece.offset < used).map(|piece| Region {
        in_file: piece.offset,
        on_device: Some(piece.on_disk),
        bytes: piece.bytes.min(used - piece.offset) / grain * grain,
        has_others,
    });
    let largest = inside.max_by_key(|region| region.bytes);
    let largest = largest.filter(|region| region.bytes >= (used / PIECE_PART).max(grain));
    let bytes = used / grain * grain;
    largest.unwrap_or(Region { in_file: 0, on_device: None, bytes, has_others })
}

fn act(name: &str, act: Act) -> Step {
    Step { name: name.into(), role: Role::Prepare, act: Some(act), repeat: 1, ..Step::default() }
}

fn mount(setting: &Setting<'_>) -> Step {
    let files = if setting.is_simulated() { 1 } else { jobs::of(setting).workers };
    let directory = setting.options.file_system.directory.clone();
    act(MOUNT, Act::Mount(Mount { files, bytes: Size(file_bytes(setting)), directory }))
}

/// Makes the file system and lays out its files.
fn prepared(setting: &Setting<'_>, left: &Left) -> Vec<Step> {
    let part = file_bytes(setting) / PARTS;
    let fill = |name: &str, bytes: u64, workers: u32| {
        let mut fill = loads::fill(setting, 1, left);
        fill.name = name.into();
        fill.until.elapsed = Some(Span((left.time_ns / 4).max(1)));
        let stream = &mut fill.streams[0];
        (stream.length, stream.size) = (Some(Size(bytes)), Size(MEBIBYTE));
        // A stamp tells the address in the file, which is another on the device.
        stream.stamp = false;
        if workers > 1 {
            (stream.files, stream.workers, stream.depth) = (Files::Each, workers, 2);
        }
        fill
    };
    let mut steps = Vec::new();
    steps.extend(setting.options.file_system.make.map(|make| act(MKFS, Act::Mkfs(make))));
    steps.push(mount(setting));
    steps.push(fill(LAYOUT, PARTS * part, 1));
    if !setting.is_simulated() {
        steps.push(fill(LAYOUT_OTHERS, part, jobs::of(setting).workers));
    }
    steps.push(act(UNMOUNT, Act::Unmount));
    steps
}

/// Writes over what both sides work on at random: use does not leave it as written in order.
fn aged(setting: &Setting<'_>, left: &Left) -> Vec<Step> {
    let part = file_bytes(setting) / PARTS;
    let age = Stream {
        length: Some(Size((PARTS - 1) * part)),
        ..loads::random(setting, Mix::WRITE, AGE_DEPTH)
    };
    let until = Until {
        bytes: Some(Size((PARTS - 1) * part)),
        elapsed: Some(Span((left.time_ns / 8).max(1))),
        ..Until::default()
    };
    let age = loads::step(setting, AGE, Role::Precondition, until, age);
    vec![mount(setting), age, act(UNMOUNT, Act::Unmount)]
}

/// One round: both sides, and the other way about in the next.
fn turn(setting: &Setting<'_>, region: &Region, round: usize, missing: &[Cell]) -> Vec<Step> {
    let seed = setting.options.seed;
    let mut cells = missing.to_vec();
    shuffle(&mut cells, seed, round as u64);
    // Both of these are done together.
    let has_first = cells.iter().any(|cell| cell.name == FIRST_WRITE);
    cells.retain(|cell| cell.name != AGAIN || !has_first);
    let (raw, files): (Vec<Cell>, Vec<Cell>) =
        cells.into_iter().partition(|cell| cell.way == Way::Raw);
    let group = |cells: Vec<Cell>| -> Vec<Step> {
        cells.into_iter().flat_map(|cell| measured(setting, region, cell)).collect()
    };
    let raw = group(raw);
    let mut mounted = Vec::new();
    if !files.is_empty() {
        mounted.push(mount(setting));
        mounted.extend(group(files));
        mounted.push(act(UNMOUNT, Act::Unmount));
    }
    match (seed ^ round as u64).is_multiple_of(2) {
        true => [raw, mounted].concat(),
        false => [mounted, raw].concat(),
    }
}

/// A cell with what must come before it.
fn measured(setting: &Setting<'_>, region: &Region, cell: Cell) -> Vec<Step> {
    let longest = match setting.options.scale {
        Scale::Quick => SECOND_NS,
        Scale::Default => 10 * SECOND_NS,
        Scale::Full => 60 * SECOND_NS,
    };
    let longest = if setting.is_simulated() { longest / 5 } else { longest };
    // By what was asked and not by what is left: a study that goes on measures as before.
    let options = setting.options;
    let half = Left { time_ns: options.time.0 / 2, bytes: options.budget.0 };
    let each_ns = half.each(setting, STEPS, longest).max(SECOND_NS / 20);
    let stream = stream(setting, region, cell);
    let elapsed = Some(Span(each_ns));
    let writes = |cell: &&Cell| !cell.is_read && cell.load != Load::First;
    let writers = CELLS.iter().filter(writes).count();
    let share = options.budget.0 / 2 / (2 * writers * REPETITIONS) as u64;
    let limited = |cell: &Cell, stream: &Stream| Until {
        elapsed,
        bytes: (!cell.is_read).then(|| whole(share, stream.size.0)),
        ..Until::default()
    };
    let step = |name: &str, role, until, stream| loads::step(setting, name, role, until, stream);
    if cell.load == Load::First {
        let (offset, length) = (stream.offset, stream.length);
        let longest = Some(Span(each_ns.saturating_mul(FIRST_PART)));
        let once = Until { passes: Some(1), elapsed: longest, ..Until::default() };
        let write = |name: &str, role| step(name, role, once.clone(), stream.clone());
        return vec![
            loads::running_in(&write(FIRST_WRITE, Role::Measure)),
            act(LET_GO, Act::Trim { offset, length }),
            write(FIRST_WRITE, Role::Measure),
            write(AGAIN, Role::Measure),
        ];
    }
    let until = limited(&cell, &stream);
    let measured = step(cell.name, Role::Measure, until, stream);
    vec![loads::running_in(&measured), measured]
}

fn stream(setting: &Setting<'_>, region: &Region, cell: Cell) -> Stream {
    let jobs = jobs::of(setting);
    let part = file_bytes(setting) / PARTS;
    let grain = IN_ORDER_BYTES;
    let (offset, length) = match (cell.load, cell.way) {
        (Load::First, _) => ((PARTS - 1) * part, part),
        (_, Way::Raw) => (region.on_device.unwrap_or(0), region.bytes),
        (_, Way::File) => (region.in_file, region.bytes),
        (_, Way::FileEach) => (0, part.min(region.bytes / u64::from(jobs.workers)) / grain * grain),
    };
    let mix = if cell.is_read { Mix::READ } else { Mix::WRITE };
    let base =
        Stream { offset: Size(offset), length: Some(Size(length)), mix, ..Stream::default() };
    let here = loads::base(setting);
    let base = Stream { engine: here.engine, io: here.io, ..base };
    match cell.load {
        Load::InOrder => loads::deep(Stream { size: Size(grain), ..base }, jobs.in_order),
        Load::First => {
            loads::deep(Stream { size: Size(grain), sync: Sync::End, ..base }, jobs.in_order)
        }
        Load::AtRandom => {
            let is_shared = cell.way != Way::FileEach;
            let stream = Stream {
                pattern: Pattern::Uniform,
                workers: jobs.workers,
                files: if is_shared { Files::One } else { Files::Each },
                regions: is_shared.then_some(Sharing::Shared),
                ..base
            };
            loads::deep(stream, jobs.depth)
        }
    }
}

#[cfg(test)]
mod tests;

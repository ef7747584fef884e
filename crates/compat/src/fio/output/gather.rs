//! From a run to the figures that are printed of it.

mod moved;

use super::figures::{
    Block, Disk, Failure, OF_OPERATION, Percentiles, Report, Spread, Timed, per_second,
};
use super::latency::timed;
use super::samples::{self, Course};
use super::steady::Steady;
use crate::fio::{Line, Section, Unified};
use crate::front::Host;
use drivelab_core::anatomy::Requests;
use drivelab_core::op::Action;
use drivelab_core::plan::{BelowRate, RateMin, Role, Stream, Sync};
use drivelab_core::run::{Run, StepRun};
use drivelab_core::tally::{DEPTH_LEVELS, Phase, Tally};
use drivelab_core::verified::Verified;
use drivelab_stats::Histogram;
use moved::Moved;

/// Kinds that have a direction, in fio's order.
pub const KINDS: [Action; 3] = [Action::Read, Action::Write, Action::Trim];
/// A queue counts as full from this share of its depth on: between a completion and the next
/// submission there is always a place free.
const FULL_SHARE: f64 = 0.9;

/// One worker of one stream of an executed step.
pub struct Part<'a> {
    /// Its stream.
    pub stream: &'a Stream,
    /// Its measured intervals.
    pub tallies: Vec<&'a Tally>,
    /// Its requests one by one, where they were kept.
    pub requests: Option<&'a Requests>,
    /// When it ran; absent where the run was broken off.
    pub phase: Option<&'a Phase>,
    /// Length of its intervals in nanoseconds.
    pub interval_ns: u64,
    /// What checking the data of its step came to.
    pub verified: Verified,
    /// The rates that it was to keep.
    pub rate_min: Option<RateMin>,
}

/// A clone of a job, with the step in which it reads back what it wrote.
pub struct Clone<'a> {
    /// The job.
    pub section: &'a Section,
    /// Its number among those of the job.
    pub worker: u32,
    /// What it did, in order.
    pub parts: Vec<Part<'a>>,
}

/// The last execution of step `index` of the first plan.
pub fn executed(run: &Run, index: usize) -> Option<&StepRun> {
    let is_it = |step: &&StepRun| step.begin.plan == 0 && step.begin.plan_step as usize == index;
    run.steps.iter().rev().find(is_it)
}

fn part<'a>(run: &'a Run, index: usize, stream: u32, worker: u32) -> Option<Part<'a>> {
    let step = executed(run, index)?;
    let planned = step.plan.streams.get(stream as usize)?;
    let is_its = |tally: &&Tally| tally.stream == stream && tally.worker == worker && !tally.ramp;
    let mut tallies: Vec<&Tally> = step.tallies.iter().filter(is_its).collect();
    tallies.sort_by_key(|tally| tally.from);
    let mut phases = step.end.iter().flat_map(|end| &end.phases);
    let phase = phases.find(|phase| phase.stream == stream && phase.worker == worker);
    let interval_ns = run.plans.first().map_or(0, |plan| plan.interval.0.0);
    let verified = Verified::of(run, step);
    let mut requests = step.requests.iter();
    let requests = requests.find(|it| it.stream == stream && it.worker == worker);
    let rate_min = step.plan.until_of(planned).rate_min;
    Some(Part { stream: planned, tallies, requests, phase, interval_ns, verified, rate_min })
}

/// All clones of all jobs, in fio's order.
pub fn clones<'a>(line: &'a Line, run: &'a Run) -> Vec<Clone<'a>> {
    let of_section = |section: &'a Section| {
        (0..section.clones.max(1)).map(move |worker| {
            let own = part(run, section.step, section.stream, worker);
            let verify = section.verify.and_then(|(step, stream)| part(run, step, stream, worker));
            Clone { section, worker, parts: own.into_iter().chain(verify).collect() }
        })
    };
    line.sections.iter().flat_map(of_section).collect()
}

impl Part<'_> {
    /// Nanoseconds of its measured window.
    pub fn window_ns(&self) -> u64 {
        match self.phase {
            Some(phase) => {
                phase.closed.saturating_sub(phase.measured_from).saturating_sub(phase.excluded_ns)
            }
            None => {
                let to = self.tallies.iter().map(|tally| tally.to).max().unwrap_or(0);
                to.saturating_sub(self.from())
            }
        }
    }

    /// When its measured window began.
    pub fn from(&self) -> u64 {
        let first = self.tallies.iter().map(|tally| tally.from).min();
        self.phase.map(|phase| phase.measured_from).or(first).unwrap_or(0)
    }

    fn closed(&self) -> u64 {
        let last = self.tallies.iter().map(|tally| tally.to).max();
        self.phase.map(|phase| phase.closed).or(last).unwrap_or(0)
    }

    /// The window in milliseconds; none that did anything is empty.
    fn runtime_ms(&self) -> u64 {
        ((self.window_ns() + 500_000) / 1_000_000).max(1)
    }

    /// The rates that it was to keep, and those that it did not.
    pub fn below(&self) -> Option<(RateMin, BelowRate)> {
        self.rate_min.zip(self.phase.and_then(|phase| phase.below))
    }

    fn course(&self, section: &Section, direction: Action) -> Course {
        let of = |tally: &Tally| {
            let found = tally.kinds.iter().find(|entry| section.counts(entry.kind, direction));
            found.map_or((0, 0), |entry| section.counted(entry))
        };
        samples::course(&self.tallies, of, self.interval_ns, self.closed())
    }

    /// Blocks of its own that are not as expected, whatever that says.
    pub fn mismatched(&self) -> u64 {
        self.sum(|tally| tally.mismatched)
    }

    fn sum(&self, count: fn(&Tally) -> u64) -> u64 {
        self.tallies.iter().map(|tally| count(tally)).sum()
    }
}

/// Everything that fio would print.
pub fn report(line: &Line, run: &Run, host: &Host) -> Report {
    let clones = clones(line, run);
    let mut blocks: Vec<Block> =
        jobs_together(&clones).into_iter().map(|some| block(some, run, host)).collect();
    let done = run.steps.iter().filter(|step| step.begin.role != Role::Prepare);
    let elapsed_ns: u64 = done.map(StepRun::duration_ns).sum();
    for block in &mut blocks {
        block.elapsed_s = elapsed_ns / 1_000_000_000 + 1;
    }
    shares(&mut blocks);
    let said = Some(super::notes::said(line, run));
    let global = line.global.clone();
    Report { now_ms: host.now_ms, global, blocks, disks: disks(line, run), said }
}

/// The clones of each block: one that is reported with its group joins the block before it.
fn jobs_together<'a, 'b>(clones: &'b [Clone<'a>]) -> Vec<&'b [Clone<'a>]> {
    let joins = |before: &Clone<'_>, one: &Clone<'_>| {
        one.section.group_reporting && before.section.group == one.section.group
    };
    clones.chunk_by(joins).collect()
}

fn block(clones: &[Clone<'_>], run: &Run, host: &Host) -> Block {
    // fio names the first and lists the options of the last.
    let (first, last) = match (clones.first(), clones.last()) {
        (Some(first), Some(last)) => (first.section, last.section),
        _ => return Block::default(),
    };
    let percentiles = percentiles(first);
    let moved = KINDS.map(|kind| {
        let mut all = Moved::default();
        clones.iter().for_each(|clone| all.merge(&Moved::of(clone, kind)));
        all
    });
    let mut mixed = Moved::default();
    moved.iter().for_each(|moved| mixed.merge(moved));
    let sync = flushes(clones, &percentiles);
    let [read, write, trim] = [0, 1, 2].map(|at: usize| moved[at].operations);
    let issued = match first.unified {
        Unified::Mixed => [mixed.operations, 0, 0, sync.count],
        _ => [read, write, trim, sync.count],
    };
    // Operations on names have no part in it, and there are no requests besides.
    let spread = match first.without.completion || first.names.is_some() {
        true => Spread::default(),
        false => mixed.latencies.spread(mixed.operations),
    };
    let block = Block {
        name: first.name.clone(),
        description: first.description.clone(),
        options: last.given.clone(),
        group: first.group,
        jobs: clones.len() as u32,
        error: clones.iter().find_map(failure),
        counts_errors: first.counts_errors,
        errors: clones.iter().flat_map(|clone| &clone.parts).map(errors).sum(),
        process: host.process,
        unified: first.unified,
        sides: [0, 1, 2].map(|at: usize| moved[at].side(first, &percentiles)),
        mixed: mixed.side(first, &percentiles),
        sync,
        spread,
        issued,
        depth: last.iodepth,
        is_decimal: first.kb_base == 1000,
        is_bits: first.unit_base == 1,
        steady: Steady::of(clones, run),
        percentiles,
        ..Block::default()
    };
    costs(queues(block, clones), clones)
}

fn percentiles(section: &Section) -> Percentiles {
    let mut list = section.percentiles.clone();
    list.sort_by(f64::total_cmp);
    Percentiles {
        list,
        submission: section.slat_percentiles && !section.without.submission,
        completion: section.clat_percentiles && !section.without.completion,
        total: section.lat_percentiles && !section.without.total,
    }
}

fn flushes(clones: &[Clone<'_>], percentiles: &Percentiles) -> Timed {
    let mut all = Histogram::new();
    // The sync at the end is none of its requests for fio, though its time is of the job.
    let is_at_end = |part: &&Part<'_>| part.stream.sync == Sync::End;
    let parts = clones.iter().flat_map(|clone| &clone.parts).filter(|part| !is_at_end(part));
    for entry in parts.flat_map(|part| &part.tallies).flat_map(|tally| &tally.kinds) {
        if entry.kind == Action::Flush {
            all.merge(&entry.service);
        }
    }
    timed(&all, percentiles, true)
}

/// What fio says of a block that is not what was written (EILSEQ).
const NOT_WHAT_WAS_WRITTEN: i32 = 84;
/// What is said of blocks that cannot be checked, since their header is not drivelab's
/// (EOPNOTSUPP).
const NOT_VERIFIED: i32 = 95;

/// What fio says of a job whose rate fell below the least (EIO).
const TOO_SLOW: i32 = 5;

/// The first error of a clone; blocks that are not what was written are one too.
pub fn failure(clone: &Clone<'_>) -> Option<Failure> {
    let tallies = || clone.parts.iter().flat_map(|part| &part.tallies);
    let errors = tallies().flat_map(|tally| &tally.kinds).flat_map(|kind| &kind.errors);
    let checked = || clone.parts.iter().filter(|part| part.mismatched() > 0);
    let wrong = checked().find(|part| part.verified.wrong() > 0).map(|_| NOT_WHAT_WAS_WRITTEN);
    let foreign = checked().next().map(|_| NOT_VERIFIED);
    let below = clone.parts.iter().any(|part| part.below().is_some()).then_some(TOO_SLOW);
    let of_requests = errors.map(|(errno, _)| errno.0).next().or(wrong).or(foreign);
    let function = if of_requests.is_some() { OF_OPERATION } else { "check_min_rate" };
    let errno = of_requests.or(below)?;
    let words = std::io::Error::from_raw_os_error(errno).to_string();
    let words = words.split(" (os error").next().unwrap_or_default().to_owned();
    Some(Failure { errno, function, words })
}

fn errors(part: &Part<'_>) -> u64 {
    part.sum(Tally::error_count)
}

/// Fills in how many operations were in flight and how many a call carried: means, each in the
/// place where it lies.
fn queues(mut block: Block, clones: &[Clone<'_>]) -> Block {
    let parts = || clones.iter().flat_map(|clone| &clone.parts);
    let issued = |part: &Part<'_>| part.sum(Tally::ops) + errors(part);
    let all: u64 = parts().map(issued).sum();
    for part in parts() {
        let share = issued(part) as f64 * 100.0 / all.max(1) as f64;
        for (place, of_part) in block.depths.iter_mut().zip(depths(part)) {
            *place += share * of_part;
        }
        // One call can reap what others had waited for, and none carries more than the depth.
        let a_call = |calls: u64| match calls {
            0 => 1.0,
            calls => (issued(part) as f64 / calls as f64).min(f64::from(part.stream.depth.max(1))),
        };
        block.submitted[call_place(a_call(part.sum(|tally| tally.submit_calls)))] += share;
        block.completed[call_place(a_call(part.sum(|tally| tally.reap_calls)))] += share;
    }
    block
}

/// Mean operations in flight of a worker, by Little's law; full where it is nearly so.
pub fn depth_reached(part: &Part<'_>) -> f64 {
    let kinds = part.tallies.iter().flat_map(|tally| &tally.kinds);
    let spent_ns: u128 = kinds.map(|kind| kind.service.sum()).sum();
    let mean = spent_ns as f64 / part.window_ns().max(1) as f64;
    let depth = f64::from(part.stream.depth.max(1));
    if mean >= FULL_SHARE * depth { depth } else { mean }
}

/// The shares of the requests that were submitted as the first, second or third, and so on of those
/// in flight; of runs that did not count them, their mean.
fn depths(part: &Part<'_>) -> [f64; DEPTH_LEVELS] {
    let mut levels = [0.0; DEPTH_LEVELS];
    for tally in &part.tallies {
        for (level, count) in levels.iter_mut().zip(tally.depth_levels) {
            *level += count as f64;
        }
    }
    let all: f64 = levels.iter().sum();
    if all > 0.0 {
        return levels.map(|count| count / all);
    }
    let reached = depth_reached(part).round().max(1.0) as u64;
    levels[(reached.ilog2() as usize).min(DEPTH_LEVELS - 1)] = 1.0;
    levels
}

fn call_place(a_call: f64) -> usize {
    let bounds = [0.0, 4.0, 8.0, 16.0, 32.0, 64.0];
    bounds.iter().position(|bound| a_call <= *bound).unwrap_or(6)
}

/// Fills in what the jobs cost.
fn costs(mut block: Block, clones: &[Clone<'_>]) -> Block {
    let parts = || clones.iter().flat_map(|clone| &clone.parts);
    let phases = || parts().filter_map(|part| part.phase);
    block.job_runtime_ms = parts().map(|part| part.window_ns()).sum::<u64>() / 1_000_000;
    // What was counted covers the ramp too.
    let whole_ns: u64 = phases().map(|phase| phase.closed.saturating_sub(phase.opened)).sum();
    let percent = |ns: u64| ns as f64 * 100.0 / whole_ns.max(1) as f64;
    let cpu_ns: u64 = phases().filter_map(|phase| phase.cpu_ns).sum();
    // Where the two are not told apart, all of it is the kernel's.
    let system = |phase: &Phase| phase.system_cpu_ns.or(phase.cpu_ns);
    let system_ns: u64 = phases().filter_map(system).sum();
    block.system_percent = percent(system_ns);
    block.user_percent = percent(cpu_ns.saturating_sub(system_ns));
    block.switches = phases().filter_map(|phase| phase.context_switches).sum();
    let faults = || phases().filter_map(|phase| phase.page_faults);
    block.faults = (faults().map(|it| it.0).sum(), faults().map(|it| it.1).sum());
    block
}

/// Fills in the share that each block has in its group's rate.
fn shares(blocks: &mut [Block]) {
    let sides = |block: &Block| {
        let [read, write, trim] = &block.sides;
        [read, write, trim, &block.mixed].map(|side| (block.group, side.bytes, side.runtime_ms))
    };
    let all: Vec<[(u32, u64, u64); 4]> = blocks.iter().map(sides).collect();
    let share = |group: u32, at: usize, mean: f64| {
        let its = || all.iter().map(|sides| sides[at]).filter(|side| side.0 == group);
        let runtime_ms = its().map(|side| side.2).max().unwrap_or(0);
        let bytes: u64 = its().map(|side| side.1).sum();
        if per_second(bytes, runtime_ms) == 0 {
            return 0.0;
        }
        let kib_per_s = bytes as f64 * 1000.0 / runtime_ms as f64 / 1024.0;
        (mean * 100.0 / kib_per_s).min(100.0)
    };
    for block in blocks {
        let group = block.group;
        for (at, side) in block.sides.iter_mut().chain([&mut block.mixed]).enumerate() {
            side.share_percent = share(group, at, side.bandwidth.mean);
        }
    }
}

/// What the kernel counted of the drives below, over the steps of all jobs.
fn disks(line: &Line, run: &Run) -> Vec<Disk> {
    let shown = line.sections.iter().filter(|section| section.shows_disks());
    let mut indices: Vec<usize> = shown.map(|section| section.step).collect();
    indices.extend(line.sections.iter().filter_map(|section| Some(section.verify?.0)));
    indices.sort_unstable();
    indices.dedup();
    let steps = || indices.iter().filter_map(|index| executed(run, *index));
    let span_ms = steps().map(span_ns).sum::<u64>() as f64 / 1e6;
    let mut disks: Vec<(Disk, u64)> = Vec::new();
    for device in steps().filter_map(|step| step.end.as_ref()).flat_map(|end| &end.devices) {
        let at = disks.iter().position(|(disk, _)| disk.name == device.name);
        let at = at.unwrap_or_else(|| {
            disks.push((Disk { name: device.name.clone(), ..Disk::default() }, 0));
            disks.len() - 1
        });
        let (disk, busy_ms) = &mut disks[at];
        *busy_ms += device.busy_ms;
        let read_merges = device.merges.saturating_sub(device.write_merges);
        let read_ms = device.queue_ms.saturating_sub(device.write_ms);
        for (sum, more) in [
            (&mut disk.operations, [device.reads, device.writes]),
            (&mut disk.merges, [read_merges, device.write_merges]),
            (&mut disk.ticks, [read_ms, device.write_ms]),
        ] {
            sum.iter_mut().zip(more).for_each(|(sum, more)| *sum += more);
        }
        disk.in_queue += device.queue_ms;
    }
    let used = |(disk, busy_ms): (Disk, u64)| Disk {
        used_percent: (busy_ms as f64 * 100.0 / span_ms.max(1.0)).min(100.0),
        ..disk
    };
    disks.into_iter().map(used).collect()
}

/// The time between the two looks at the counters of a step, in nanoseconds.
fn span_ns(step: &StepRun) -> u64 {
    let observed = step.end.as_ref().and_then(|end| end.observed.as_ref());
    observed.map_or_else(|| step.duration_ns(), |observed| observed.span_ns)
}

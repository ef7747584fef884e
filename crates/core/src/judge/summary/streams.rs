//! One stream of one step: its window, its rates, its latencies.

use crate::op::{Action, Time};
use crate::plan::{IoPriority, Stream, SyncTiming};
use crate::quantity::{operations, time};
use crate::run::{Run, StepRun};
use crate::summary::gaps::stream_gaps;
use crate::summary::series::rates_over_time;
use crate::summary::{
    ErrorCount, KindSummary, Latency, Lateness, Load, PrioritySummary, Rates, Reason,
    SLOWEST_SHOWN, StreamSummary,
};
use crate::tally::{KindTally, Phase, PriorityTally, Slow, Tally};
use drivelab_stats::{Estimate, Histogram, NoInterval, OverTime};
use std::collections::BTreeMap;

/// The measured window of one stream.
#[derive(Debug, Clone, Copy, PartialEq)]
pub struct Window {
    /// The first worker's measurement began.
    pub from: Time,
    /// The last worker's closed.
    pub to: Time,
    /// Taken out of it, in nanoseconds: the mean over workers of what each took out.
    pub excluded_ns: f64,
}

impl Window {
    /// Its length in seconds; `None` when nothing is left.
    pub fn seconds(&self) -> Option<f64> {
        let length_ns = self.to.saturating_sub(self.from) as f64 - self.excluded_ns;
        (length_ns > 0.0).then_some(length_ns / 1e9)
    }
}

/// Which of the three latencies.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub enum LatencyKind {
    /// Issued → submitting call returned.
    Submit,
    /// Issued → completed.
    Service,
    /// Due → completed.
    Response,
    /// Of flushes: first write since the last flush issued → flush completed.
    Commit,
}

/// The measured window of one stream: from its workers' phases, or where the step never ended,
/// from their tallies outside of the ramp. `None` when nothing was measured.
pub fn window(step: &StepRun, stream: u32) -> Option<Window> {
    let phases = phases(step, stream);
    if phases.is_empty() {
        return Some(Window {
            from: measured(step, stream).map(|tally| tally.from).min()?,
            to: measured(step, stream).map(|tally| tally.to).max()?,
            excluded_ns: 0.0,
        });
    }
    let excluded_sum: f64 = phases.iter().map(|phase| phase.excluded_ns as f64).sum();
    Some(Window {
        from: phases.iter().map(|phase| phase.measured_from).min()?,
        to: phases.iter().map(|phase| phase.closed).max()?,
        excluded_ns: excluded_sum / phases.len() as f64,
    })
}

/// All latencies of one kind in the measured window of one stream, workers and intervals merged;
/// `None` when that latency was not kept.
pub fn histogram(
    step: &StepRun,
    stream: u32,
    kind: Action,
    latency: LatencyKind,
) -> Option<Histogram> {
    let mut merged: Option<Histogram> = None;
    for tally in measured(step, stream) {
        for entry in tally.kinds.iter().filter(|entry| entry.kind == kind) {
            let part = match latency {
                LatencyKind::Submit => entry.submit.as_ref(),
                LatencyKind::Service => Some(&entry.service),
                LatencyKind::Response => entry.response.as_ref(),
                LatencyKind::Commit => entry.commit.as_ref(),
            };
            if let Some(part) = part {
                merged.get_or_insert_with(Histogram::new).merge(part);
            }
        }
    }
    // A copy takes the memory of what it holds.
    merged.clone()
}

/// The same over several executed steps, named by their numbers: those that a cell rests on.
pub fn cell_histogram(
    run: &Run,
    steps: &[u32],
    stream: u32,
    kind: Action,
    latency: LatencyKind,
) -> Option<Histogram> {
    let mut merged: Option<Histogram> = None;
    for step in run.steps.iter().filter(|step| steps.contains(&step.begin.step)) {
        if let Some(part) = histogram(step, stream, kind, latency) {
            match &mut merged {
                Some(merged) => merged.merge(&part),
                None => merged = Some(part),
            }
        }
    }
    merged
}

/// Tallies of one stream outside of the ramp.
pub(super) fn measured(step: &StepRun, stream: u32) -> impl Iterator<Item = &Tally> {
    step.tallies.iter().filter(move |tally| tally.stream == stream && !tally.ramp)
}

fn phases(step: &StepRun, stream: u32) -> Vec<&Phase> {
    let all = step.end.iter().flat_map(|end| &end.phases);
    all.filter(|phase| phase.stream == stream).collect()
}

/// Share of their time that workers of a group waited for the others.
fn waited_share(plan: &Stream, phases: &[&Phase]) -> Option<f64> {
    let sum = |of: fn(&Phase) -> u64| phases.iter().map(|phase| of(phase)).sum::<u64>() as f64;
    let all = sum(|phase| phase.closed.saturating_sub(phase.opened));
    plan.flow.and_then(|_| ratio(sum(|phase| phase.waited_ns), all))
}

/// Mean operations in flight of one worker, by Little's law: time spent in operations ÷ time.
/// What was in flight when each was submitted would say less: within a batch it counts up from 1.
fn depth_reached(step: &StepRun, stream: u32, seconds: Option<f64>) -> Option<f64> {
    let plan = &step.plan.streams[stream as usize];
    let counts = |entry: &&KindTally| !is_outside(plan, entry.kind);
    let kinds = measured(step, stream).flat_map(|tally| &tally.kinds).filter(counts);
    let spent_ns: u128 = kinds.map(|kind| kind.service.sum()).sum();
    let workers = f64::from(plan.workers.max(1));
    seconds
        .filter(|seconds| *seconds > 0.0 && spent_ns > 0)
        .map(|seconds| spent_ns as f64 / (seconds * 1e9 * workers))
}

/// The part of the time that a kind had which takes turns with others. Runs from before this was
/// kept tell only the time within its calls, of which each worker has as many as the depth says.
fn own_seconds(stream: &Stream, held_ns: Option<u64>, spent_ns: u128) -> Option<f64> {
    let workers = f64::from(stream.workers.max(1));
    let all_ns = match held_ns {
        Some(held_ns) => held_ns as f64,
        None => spent_ns as f64 / f64::from(stream.depth.max(1)),
    };
    (all_ns > 0.0).then(|| all_ns / workers / 1e9)
}

/// Whether the measured time stands still for such an operation.
fn is_outside(stream: &Stream, kind: Action) -> bool {
    kind == Action::Flush && stream.sync_timing == SyncTiming::Outside
}

pub(crate) fn summarise_stream(step: &StepRun, stream: u32) -> StreamSummary {
    let plan = &step.plan.streams[stream as usize];
    let window = window(step, stream);
    let seconds = window.and_then(|window| window.seconds());
    let kinds = kinds(step, stream, seconds);
    let sum = |count: fn(&Tally) -> u64| -> u64 { measured(step, stream).map(count).sum() };
    let largest = |count: fn(&Tally) -> u64| measured(step, stream).map(count).max();
    let completions = sum(|tally| tally.ops() + tally.error_count());
    let per_completion = |total: u64| ratio(total as f64, completions as f64);
    let open = plan.is_open();
    StreamSummary {
        load: Load::of(plan),
        measured_from_ns: window.map(|window| window.from),
        seconds,
        total: total(step, stream, &kinds, seconds),
        kinds,
        engine_cpu_ns_per_op: cpu_ns_per_op(plan, &phases(step, stream)),
        depth_reached: depth_reached(step, stream, seconds),
        waited_share: waited_share(plan, &phases(step, stream)),
        gaps: stream_gaps(step, stream),
        slowest: slowest(step, stream, window),
        backlog: if open { largest(|tally| tally.backlog_max) } else { None },
        lateness: per_completion(sum(|tally| tally.late_ns_sum)).filter(|_| open).map(|mean_ns| {
            Lateness { mean_ns, max_ns: largest(|tally| tally.late_ns_max).unwrap_or(0) }
        }),
        verified: sum(|tally| tally.verified),
        mismatched: sum(|tally| tally.mismatched),
        unstamped: sum(|tally| tally.unstamped),
        ops_per_submit_call: ratio(completions as f64, sum(|tally| tally.submit_calls) as f64),
    }
}

fn kinds(step: &StepRun, stream: u32, seconds: Option<f64>) -> BTreeMap<Action, KindSummary> {
    let issued = |entry: &&KindTally| entry.ops > 0 || !entry.errors.is_empty();
    let of_stream = step.tallies.iter().filter(|tally| tally.stream == stream);
    let mut found: Vec<Action> = of_stream
        .flat_map(|tally| tally.kinds.iter().filter(issued).map(|entry| entry.kind))
        .collect();
    found.sort();
    found.dedup();
    found.into_iter().map(|kind| (kind, summarise_kind(step, stream, kind, seconds))).collect()
}

fn summarise_kind(step: &StepRun, stream: u32, kind: Action, seconds: Option<f64>) -> KindSummary {
    let entries = || {
        measured(step, stream)
            .flat_map(|tally| &tally.kinds)
            .filter(move |entry| entry.kind == kind)
    };
    let latency = |which| histogram(step, stream, kind, which).as_ref().and_then(Latency::of);
    let mut by_errno = BTreeMap::new();
    for (errno, count) in entries().flat_map(|entry| &entry.errors) {
        *by_errno.entry(*errno).or_insert(0) += count;
    }
    let mut errors_by_errno: Vec<ErrorCount> =
        by_errno.into_iter().map(|(errno, count)| ErrorCount { errno, count }).collect();
    errors_by_errno.sort_by_key(|entry| std::cmp::Reverse(entry.count));
    let mut rates = Rates {
        ops: entries().map(|entry| entry.ops).sum(),
        bytes: entries().map(|entry| entry.bytes).sum(),
        errors: errors_by_errno.iter().map(|entry| entry.count).sum(),
        ..Rates::default()
    };
    let plan = &step.plan.streams[stream as usize];
    let spent_ns: u128 = entries().map(|entry| entry.service.sum()).sum();
    let held_ns = entries().filter_map(|entry| entry.held_ns).reduce(|sum, more| sum + more);
    let seconds = match kind {
        Action::Flush if is_outside(plan, kind) => None,
        _ if plan.takes_turns() => own_seconds(plan, held_ns, spent_ns),
        _ => seconds,
    };
    rate(&mut rates, step, stream, Some(kind), seconds);
    KindSummary {
        seconds,
        rates,
        errors_by_errno,
        submit_ns: latency(LatencyKind::Submit),
        service_ns: latency(LatencyKind::Service),
        response_ns: latency(LatencyKind::Response),
        commit_ns: latency(LatencyKind::Commit),
        priorities: priorities(step, stream, kind),
    }
}

/// The latencies of each priority in the measured window; none of those that no request had.
fn priorities(step: &StepRun, stream: u32, kind: Action) -> Vec<PrioritySummary> {
    let mut all = Vec::new();
    let entries = measured(step, stream).flat_map(|tally| &tally.kinds);
    entries
        .filter(|entry| entry.kind == kind)
        .for_each(|entry| PriorityTally::add_all(&mut all, &entry.priorities));
    let summary = |one: &PriorityTally| {
        let service_ns = Latency::of(&one.service)?;
        Some(PrioritySummary { priority: IoPriority::of_number(one.number), service_ns })
    };
    all.iter().filter_map(summary).collect()
}

fn total(
    step: &StepRun,
    stream: u32,
    kinds: &BTreeMap<Action, KindSummary>,
    seconds: Option<f64>,
) -> Rates {
    let mut total = Rates::default();
    let mut counted = kinds.iter().filter(|(kind, _)| !kind.goes_along());
    // One kind alone is the total; its batch means need not be formed twice.
    if let (Some((_, only)), None) = (counted.next(), counted.next()) {
        return only.rates.clone();
    }
    for (_, kind) in kinds.iter().filter(|(kind, _)| !kind.goes_along()) {
        total.ops += kind.rates.ops;
        total.bytes += kind.rates.bytes;
        total.errors += kind.rates.errors;
    }
    rate(&mut total, step, stream, None, seconds);
    total
}

/// Fills in the rates of a window of `seconds`, with the interval that its seconds give, or the
/// reason why they give none.
fn rate(
    rates: &mut Rates,
    step: &StepRun,
    stream: u32,
    kind: Option<Action>,
    seconds: Option<f64>,
) {
    let Some(seconds) = seconds else { return };
    let turns = kind.is_some() && step.plan.streams[stream as usize].takes_turns();
    let (ops, bytes, begins) =
        if turns { Default::default() } else { rates_over_time(step, stream, kind) };
    rates.iops = Some(over_window(rates.ops as f64 / seconds, ops));
    let from = window(step, stream).map_or(0, |window| window.from);
    let why = ops.and_then(|ops| ops.why);
    rates.no_interval = why.map(|why| {
        no_interval(why, begins.len(), |at| {
            begins.get(at).map_or(0.0, |begin| begin.saturating_sub(from) as f64)
        })
    });
    let moves_data = match kind {
        Some(kind) => !kind.is_metadata() && !kind.goes_along(),
        None => rates.bytes > 0,
    };
    if moves_data {
        rates.bandwidth_bytes_per_s = Some(over_window(rates.bytes as f64 / seconds, bytes));
    }
}

/// The rate of the whole window with the share that its intervals reach to each side.
fn over_window(value: f64, intervals: Option<OverTime>) -> Estimate {
    let known = intervals.map(|it| it.estimate);
    let share = known.and_then(|it| Some((it.high? / it.value).ln()));
    match (share, known) {
        (Some(share), Some(known)) => Estimate::on_logarithm(value, value * share, known.n),
        _ => Estimate::point(value, 1),
    }
}

/// Why a rate has no interval, in words; `when` is the time of an interval in nanoseconds.
fn no_interval(why: NoInterval, intervals: usize, when: impl Fn(usize) -> f64) -> Reason {
    let (code, text) = match why {
        NoInterval::TooShort { .. } => (
            "too_short",
            "too short: with fewer than 20 intervals their dependence on each other cannot be \
             estimated"
                .into(),
        ),
        NoInterval::Equal => ("equal", "all intervals have the same rate".to_owned()),
        NoInterval::Depends { worth } => (
            "depends",
            format!(
                "too short for its autocorrelation: its {intervals} intervals depend on each other \
                 and are worth {worth:.0} independent ones"
            ),
        ),
        NoInterval::Rare { values } => (
            "rare",
            format!(
                "{values} of {intervals} intervals are of another kind, such as stalls, and decide \
                 the mean; they are too few to tell how often they occur"
            ),
        ),
        NoInterval::Step { at, before, after } => (
            "step",
            format!(
                "a step at {}: {} before it, {} from there on; the mean of both describes neither",
                time(when(at)),
                operations(before),
                operations(after)
            ),
        ),
        NoInterval::Trend { from, to } => (
            "trend",
            format!("it drifted from {} to {} throughout", operations(from), operations(to)),
        ),
        NoInterval::Changes => {
            ("changes", "its level changed several times, and not in a pattern that recurs".into())
        }
        NoInterval::NotRepeatable => {
            ("not_repeatable", "its intervals differ too much for an interval of their mean".into())
        }
    };
    Reason { code: code.into(), text }
}

/// The slowest I/Os that completed in the window.
fn slowest(step: &StepRun, stream: u32, window: Option<Window>) -> Vec<Slow> {
    let (Some(end), Some(window)) = (&step.end, window) else { return Vec::new() };
    let in_window = |slow: &&Slow| slow.issued.saturating_add(slow.latency_ns) >= window.from;
    let of_stream = end.slowest.iter().filter(|slow| slow.stream == stream);
    of_stream.filter(in_window).take(SLOWEST_SHOWN).copied().collect()
}

/// Unknown for one worker is unknown for all.
fn cpu_ns_per_op(plan: &Stream, phases: &[&Phase]) -> Option<f64> {
    let spun_ns = |phase: &Phase| plan.flow.map_or(0, |flow| flow.spun_ns(phase.waited_ns));
    let own_ns = |phase: &&Phase| Some(phase.cpu_ns?.saturating_sub(spun_ns(phase)));
    let cpu_ns: Option<Vec<u64>> = phases.iter().map(own_ns).collect();
    let issued: u64 = phases.iter().map(|phase| phase.issued).sum();
    ratio(cpu_ns?.iter().sum::<u64>() as f64, issued as f64)
}

/// `None` instead of a division by zero.
fn ratio(total: f64, count: f64) -> Option<f64> {
    (count > 0.0).then(|| total / count)
}

//! Times in which a whole stream stood still, from the gaps of its workers.
//!
//! A worker lists its own gaps. The stream stands still only while every worker does: that is the
//! intersection of the lists, where a worker that has not begun or has ended counts as still.

use crate::op::Time;
use crate::run::StepRun;
use crate::summary::Gaps;
use crate::tally::{Gap, Tally};
use std::collections::BTreeMap;

/// More gaps than this are counted, not listed.
const LISTED_MAX: usize = 1_000;

/// The times without a completion of one stream, outside of the ramp.
pub fn stream_gaps(step: &StepRun, stream: u32) -> Gaps {
    let over_ns = step.plan.streams.get(stream as usize).map_or(0, |stream| stream.gap_over.0);
    let mut workers: BTreeMap<u32, Vec<&Tally>> = BTreeMap::new();
    for tally in step.tallies.iter().filter(|tally| tally.stream == stream) {
        workers.entry(tally.worker).or_default().push(tally);
    }
    let measured = || workers.values().flatten().filter(|tally| !tally.ramp);
    let unlisted: u64 = measured().map(|tally| tally.gaps_unlisted).sum();
    let alone = workers.len() == 1;
    let mut still = still_of_all(step, stream, &workers);
    still.retain(|gap| gap.to > gap.from && gap.to - gap.from >= over_ns);
    let listed = still.len() as u64;
    let longest_listed = still.iter().map(|gap| gap.to - gap.from).max();
    let longest_alone = measured().map(|tally| tally.gap_ns_max).max().filter(|gap| *gap > 0);
    let (count, longest_ns) = match (alone, unlisted) {
        (true, _) => (Some(listed + unlisted), longest_alone.max(longest_listed)),
        (false, 0) => (Some(listed), longest_listed),
        (false, _) => (None, None),
    };
    if still.len() > LISTED_MAX {
        still.sort_by_key(|gap| std::cmp::Reverse(gap.to - gap.from));
        still.truncate(LISTED_MAX);
        still.sort_by_key(|gap| gap.from);
    }
    Gaps { over_ns, count, longest_ns, list: still }
}

/// The intersection over all workers, in order of time.
fn still_of_all(step: &StepRun, stream: u32, workers: &BTreeMap<u32, Vec<&Tally>>) -> Vec<Gap> {
    let mut lists = workers.iter().map(|(worker, tallies)| {
        let mut gaps: Vec<Gap> = tallies
            .iter()
            .filter(|tally| !tally.ramp)
            .flat_map(|tally| tally.gaps.iter().copied())
            .collect();
        gaps.sort_by_key(|gap| (gap.from, gap.to));
        (gaps, active(step, stream, *worker, tallies))
    });
    let Some((first_gaps, first_active)) = lists.next() else { return Vec::new() };
    let rest: Vec<_> = lists.collect();
    if rest.is_empty() {
        return first_gaps;
    }
    let all = || std::iter::once(first_active).chain(rest.iter().map(|(_, active)| *active));
    let begin = all().map(|(from, _)| from).min().unwrap_or(0);
    let end = all().map(|(_, to)| to).max().unwrap_or(0);
    let mut still = with_absence(first_gaps, first_active, begin, end);
    for (gaps, active) in rest {
        still = intersect(&still, &with_absence(gaps, active, begin, end));
    }
    still
}

/// From the first submission to the last completion of a worker, as far as known.
fn active(step: &StepRun, stream: u32, worker: u32, tallies: &[&Tally]) -> (Time, Time) {
    let phases = step.end.iter().flat_map(|end| &end.phases);
    match phases.into_iter().find(|phase| phase.stream == stream && phase.worker == worker) {
        Some(phase) => (phase.first, phase.last),
        None => (
            tallies.iter().map(|tally| tally.from).min().unwrap_or(0),
            tallies.iter().map(|tally| tally.to).max().unwrap_or(0),
        ),
    }
}

fn with_absence(mut gaps: Vec<Gap>, active: (Time, Time), begin: Time, end: Time) -> Vec<Gap> {
    if active.0 > begin {
        gaps.insert(0, Gap { from: begin, to: active.0 });
    }
    if active.1 < end {
        gaps.push(Gap { from: active.1, to: end });
    }
    gaps
}

/// Both lists are in order of time. Gaps that only touch stay apart: something completed there.
fn intersect(left: &[Gap], right: &[Gap]) -> Vec<Gap> {
    let (mut i, mut j) = (0, 0);
    let mut both = Vec::new();
    while let (Some(a), Some(b)) = (left.get(i), right.get(j)) {
        let gap = Gap { from: a.from.max(b.from), to: a.to.min(b.to) };
        if gap.from < gap.to {
            both.push(gap);
        }
        if a.to <= b.to {
            i += 1;
        }
        if b.to <= a.to {
            j += 1;
        }
    }
    both
}

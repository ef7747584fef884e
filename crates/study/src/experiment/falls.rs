//! Writes one after the other, and where their rate falls.

use drivelab_core::op::Action;
use drivelab_core::run::StepRun;
use drivelab_core::summary::series;

/// One interval of a history of writes.
#[derive(Debug, Clone, Copy, PartialEq)]
pub struct Written {
    /// Bytes written until its end.
    pub bytes: f64,
    /// Operations a second in it.
    pub rate: f64,
    /// Its length.
    pub seconds: f64,
    /// It was cut off by the end of a step.
    pub is_partial: bool,
}

/// The writes of these steps one after the other, interval by interval.
pub fn history(steps: &[&StepRun]) -> Vec<Written> {
    let mut bytes = 0.0;
    let mut all = Vec::new();
    for step in steps {
        for point in series(step, 0, Some(Action::Write)) {
            let seconds = (point.to - point.from) as f64 / 1e9;
            bytes += point.bytes_per_s * seconds;
            all.push(Written { bytes, rate: point.ops_per_s, seconds, is_partial: point.partial });
        }
    }
    all
}

/// A last point of less than this of the others' bytes is not drawn.
const LEAST_PART: f64 = 0.25;

/// A history for the eye, a point for each `width` bytes. Between two rounds the queue runs empty
/// for a moment: the last interval of the one is slow, the first of the other fast, and together
/// they are neither, so rounds of a multiple of `width` meet within a point.
pub fn smoothed(history: &[Written], width: f64) -> Vec<(f64, f64)> {
    let bin = |at: &Written| (at.bytes / width + 0.5) as u64;
    let mut bins: Vec<&[Written]> = history.chunk_by(|a, b| bin(a) == bin(b)).collect();
    // While the queue runs empty at the end, the rate is not that of the load.
    let end = |bin: &[Written]| bin.last().map_or(0.0, |at| at.bytes);
    if let [.., before, last] = bins[..]
        && end(last) - end(before) < LEAST_PART * width
    {
        bins.pop();
    }
    let of_bin = |all: &[Written]| {
        let seconds: f64 = all.iter().map(|at| at.seconds).sum();
        let operations: f64 = all.iter().map(|at| at.rate * at.seconds).sum();
        let last = all.last().filter(|_| seconds > 0.0)?;
        Some((last.bytes, operations / seconds))
    };
    bins.into_iter().filter_map(of_bin).collect()
}

/// Where a history falls.
#[derive(Debug, Clone, Copy, PartialEq)]
pub struct Fall {
    /// Bytes written until then.
    pub bytes: f64,
    /// The rate before, in operations a second.
    pub before: f64,
    /// It falls at once. A drive that has to collect from one block to the next does; where
    /// something else bounds the rate, collection begins unseen and the rate falls little by
    /// little, later.
    pub is_sharp: bool,
}

/// A fall counts from this share of the rate before on …
pub const FALLEN: f64 = 0.90;
/// … if it lasts this many intervals, most of those that follow on the first: a drive that begins
/// to collect is fast again in between …
const LASTING: usize = 5;
/// … not counting those in which nothing came to its end, where usually this many operations do: a
/// drive that stalls, however long, has not become slower …
const STALLED_OPERATIONS: f64 = 4.0;
/// … and begins where the rate was last above this share.
const EDGE: f64 = 0.95;
/// It is sharp if the median of this share of the drive behind the edge …
const SHARP_PART: f64 = 0.04;
/// … is below this share of the rate before. An emptied drive that was written at random has
/// lost at least a fifth of its blocks' content where it must collect: the first copies cost more.
const SHARP: f64 = 0.85;

/// The first lasting fall below the rate of the first `first_bytes`, on a drive of this many bytes.
pub fn fall(history: &[Written], first_bytes: f64, drive_bytes: f64) -> Option<Fall> {
    falls(history, first_bytes, drive_bytes, 0.0).into_iter().next()
}

/// Lasting falls one below the other, up to the first one that comes after `until` bytes. What
/// follows on an earlier one is compared with the level behind it.
pub fn falls(history: &[Written], first_bytes: f64, drive_bytes: f64, until: f64) -> Vec<Fall> {
    let history: Vec<Written> = history.iter().filter(|at| !at.is_partial).copied().collect();
    let mut all: Vec<Fall> = Vec::new();
    let mut from = 0;
    while let Some((edge, fallen, before)) = next_fall(&history[from..], first_bytes) {
        let at = edge.map_or(0.0, |edge| history[from + edge].bytes);
        let after = |it: &&Written| it.bytes > at && it.bytes <= at + SHARP_PART * drive_bytes;
        let rates = history.iter().filter(after).map(|it| it.rate).collect();
        let is_sharp = median(rates).is_some_and(|rate| rate < SHARP * before);
        all.push(Fall { bytes: at, before, is_sharp });
        if at > until {
            break;
        }
        from += fallen + LASTING;
    }
    all
}

/// The edge and the beginning of the first lasting fall, and the rate before it.
fn next_fall(history: &[Written], first_bytes: f64) -> Option<(Option<usize>, usize, f64)> {
    let begin = history.first()?.bytes;
    let is_first = |at: &&Written| at.bytes - begin <= first_bytes;
    let mut first: Vec<f64> = history.iter().take_while(is_first).map(|at| at.rate).collect();
    if first.len() < LASTING {
        first = history.iter().take(LASTING).map(|at| at.rate).collect();
    }
    let before = median(first)?;
    let is_low = |at: &Written| at.rate < FALLEN * before;
    let is_stall = |at: &Written| at.rate == 0.0 && before * at.seconds >= STALLED_OPERATIONS;
    let lasts = |from: usize| {
        let moving = history[from..].iter().filter(|at| !is_stall(at));
        let low = moving.take(2 * LASTING - 1).filter(|at| is_low(at)).count();
        is_low(&history[from]) && !is_stall(&history[from]) && low >= LASTING
    };
    let fallen = (0..history.len()).find(|from| lasts(*from))?;
    let edge = history[..fallen].iter().rposition(|at| at.rate >= EDGE * before);
    Some((edge, fallen, before))
}

fn median(mut values: Vec<f64>) -> Option<f64> {
    values.sort_by(f64::total_cmp);
    values.get(values.len() / 2).copied()
}

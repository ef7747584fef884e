//! What a reader of the layouts must know: figures that rest on something else than in fio.

use super::figures::Said;
use super::gather::{self, Clone, KINDS, Part};
use super::latency::{SUBMISSION_SHARE, submission_share};
use crate::fio::Line;
use crate::front::{Note, Treatment};
use drivelab_core::op::Action;
use drivelab_core::run::Run;
use drivelab_core::summary::summarise;
use drivelab_core::verified::Verified;
use drivelab_stats::Histogram;

/// The interval in which fio samples rates, in nanoseconds.
const FIO_INTERVAL_NS: u64 = 500_000_000;

/// What the printed figures rest on, where that is not what fio's do.
pub fn notes(line: &Line, run: &Run) -> Vec<Note> {
    let clones = gather::clones(line, run);
    let about = [
        completion(&clones),
        depths(&clones),
        rates(&clones),
        processor(&clones),
        mismatches(&clones),
        cut_logs(&clones),
    ];
    about.into_iter().flatten().collect()
}

/// What drivelab says of a run in JSON: the same as in its run file.
pub fn said(line: &Line, run: &Run) -> Said {
    let mut all: Vec<String> = run.warnings.iter().map(|warning| warning.text.clone()).collect();
    for note in notes(line, run).iter().map(Note::to_string) {
        if !all.contains(&note) {
            all.push(note);
        }
    }
    let steps = summarise(run).steps;
    let suspect = steps.iter().filter(|step| step.valid == Some(false)).flat_map(|step| {
        step.reasons.iter().map(|reason| format!("{}: {}", step.name, reason.text))
    });
    Said { run: run.begin.run.clone(), suspect: suspect.collect(), notes: all }
}

fn note(code: &'static str, text: impl Into<String>) -> Option<Note> {
    Some(Note::new(code, "", Treatment::Approximated, text))
}

/// Requests that have no line in a log that has one for each.
fn cut_logs(clones: &[Clone<'_>]) -> Option<Note> {
    let kept = || clones.iter().flat_map(|clone| &clone.parts).filter_map(|part| part.requests);
    let left_out: u64 = kept().map(|requests| requests.left_out).sum();
    let lines: u64 = kept().map(|requests| requests.all.len() as u64).sum();
    if left_out == 0 {
        return None;
    }
    note(
        "log_cut",
        format!(
            "logs have a line each for the first {lines} requests, and none for the {left_out} \
             after them: no more are kept; log_avg_msec has lines for all of the time"
        ),
    )
}

/// How completion latencies were found.
fn completion(clones: &[Clone<'_>]) -> Option<Note> {
    let is_kept = |clone: &&Clone<'_>| clone.parts.iter().all(|part| part.stream.keep_completion);
    let shown = clones.iter().filter(|clone| !clone.section.without.completion && !is_kept(clone));
    let shares: Vec<f64> = shown.flat_map(submission_shares).collect();
    let least = shares.iter().copied().reduce(f64::min)?;
    let most = shares.iter().copied().reduce(f64::max)?;
    let mut ways = Vec::new();
    if least <= SUBMISSION_SHARE {
        ways.push(
            "take each latency for that of the whole (lat) less the mean submission, and are off \
             by as much as submissions differ",
        );
    }
    if most > SUBMISSION_SHARE {
        ways.push(
            "where slat is more than half of lat, pair the longest operations with the longest \
             submissions",
        );
    }
    let [low, high] = [least, most].map(|share| format!("{:.2}", share * 100.0));
    let share = if low == high { low } else { format!("{low} to {high}") };
    note(
        "clat_from_service",
        format!(
            "The mean of clat is exact: lat less slat, which is {share} % of lat. Which \
             submission belongs to which completion is not kept: percentiles, buckets, extremes \
             and deviation of clat {}.",
            ways.join("; ")
        ),
    )
}

/// Share of submission in the time of each direction of a clone that tells them apart.
fn submission_shares(clone: &Clone<'_>) -> Vec<f64> {
    let share = |kind: &Action| {
        let tallies = clone.parts.iter().flat_map(|part| &part.tallies);
        let (mut total, mut submission) = (Histogram::new(), Histogram::new());
        for entry in tallies.flat_map(|tally| &tally.kinds).filter(|entry| entry.kind == *kind) {
            submission.merge(entry.submit.as_ref()?);
            total.merge(&entry.service);
        }
        (!total.is_empty()).then(|| submission_share(&total, &submission))
    };
    KINDS.iter().filter_map(share).collect()
}

fn depths(clones: &[Clone<'_>]) -> Option<Note> {
    let parts = || clones.iter().flat_map(|clone| &clone.parts);
    let is_queued = |part: &&Part<'_>| part.stream.depth > 1;
    if !parts().any(|part| is_queued(&part)) {
        return None;
    }
    let reached: Vec<String> = parts()
        .filter(is_queued)
        .map(|part| format!("{:.1}", gather::depth_reached(part)))
        .collect();
    let first = reached.iter().take(8).cloned().collect::<Vec<_>>().join(", ");
    note(
        "io_depths_mean",
        format!(
            "submit and complete show where the mean of each job's calls lies, not how often each \
             number was there; IO depths count requests where the run did. In flight on average, \
             job by job: {first}."
        ),
    )
}

fn rates(clones: &[Clone<'_>]) -> Option<Note> {
    let mut parts = clones.iter().flat_map(|clone| &clone.parts);
    let interval_ns = parts.next()?.interval_ns;
    if interval_ns == FIO_INTERVAL_NS {
        return None;
    }
    note(
        "samples_by_interval",
        format!(
            "The lines bw and iops rest on intervals of {} ms; fio's rest on 500 ms.",
            interval_ns / 1_000_000
        ),
    )
}

fn processor(clones: &[Clone<'_>]) -> Option<Note> {
    let phases = || clones.iter().flat_map(|clone| &clone.parts).filter_map(|part| part.phase);
    if phases().all(|phase| phase.cpu_ns.is_none()) {
        return note(
            "cpu_unknown",
            "Processor time is unknown: the zeros of cpu are not a measurement.",
        );
    }
    if phases().all(|phase| phase.system_cpu_ns.is_some()) {
        return None;
    }
    note(
        "cpu_not_told_apart",
        "User and kernel time are not distinguished: cpu shows all of it as sys.",
    )
}

/// What fio would not have read.
fn mismatches(clones: &[Clone<'_>]) -> Option<Note> {
    let parts = || clones.iter().flat_map(|clone| &clone.parts).filter(|p| p.mismatched() > 0);
    let is_wrong = |part: &&Part<'_>| part.verified.wrong() > 0;
    let wrong = match parts().filter(is_wrong).map(Part::mismatched).sum::<u64>() {
        0 if parts().next().is_some() => {
            return note(
                "not_verified",
                "Nothing was verified: no block has a stamp of drivelab, which does not read the \
                 headers that fio writes. Whether the data is intact cannot be determined.",
            );
        }
        0 => return None,
        1 => "one block of it is".to_owned(),
        count => format!("{count} blocks of it are"),
    };
    // Who wrote bytes that the line names is not known.
    let is_named = |part: &Part<'_>| matches!(part.verified, Verified::Unlike { .. });
    let what = if parts().any(is_named) { "as expected" } else { "what was written" };
    note(
        "mismatches_counted",
        format!(
            "All was read, and {wrong} not {what}; a job of fio ends at the first such \
             block, and its figures are of what it had read by then."
        ),
    )
}

//! The logs of the course of time: a line for each interval and direction.

use super::gather::{Clone, KINDS, Part};
use super::samples::per_second_of;
use crate::fio::{Log, Logged, Section};
use crate::front::{Existing, OutputFile, ResultFile};
use drivelab_core::op::Action;
use drivelab_core::tally::Tally;
use drivelab_stats::Histogram;

/// The files of all logs that the jobs ask for.
pub fn files(clones: &[Clone<'_>]) -> Vec<OutputFile> {
    let mut files: Vec<OutputFile> = Vec::new();
    for (number, clone) in (1..).zip(clones) {
        for log in &clone.section.logs {
            let path = path_of(log, number);
            let text = lines(log, clone);
            // Jobs that share a log follow each other in it.
            match files.iter_mut().find(|file| file.place.path == path) {
                Some(file) => file.bytes.extend(text.into_bytes()),
                None => {
                    let (place, said) = (place(path), String::new());
                    files.push(OutputFile { place, bytes: text.into_bytes(), said });
                }
            }
        }
    }
    files
}

/// Where the logs of all jobs will be.
pub fn places(sections: &[Section]) -> Vec<ResultFile> {
    let clones = sections.iter().flat_map(|section| (0..section.clones).map(move |_| section));
    let mut places: Vec<ResultFile> = Vec::new();
    for (number, section) in (1..).zip(clones) {
        for path in section.logs.iter().map(|log| path_of(log, number)) {
            if !places.iter().any(|known| known.path == path) {
                places.push(place(path));
            }
        }
    }
    places
}

/// A log takes the place of another one that drivelab wrote.
fn place(path: String) -> ResultFile {
    ResultFile { path, existing: Existing::ReplaceOwn }
}

fn path_of(log: &Log, number: u32) -> String {
    let word = match log.logged {
        Logged::Bandwidth => "bw",
        Logged::Iops => "iops",
        Logged::Latency => "lat",
        Logged::CompletionLatency => "clat",
        Logged::SubmissionLatency => "slat",
    };
    match log.per_job {
        true => format!("{}_{word}.{number}.log", log.prefix),
        false => format!("{}_{word}.log", log.prefix),
    }
}

/// What one direction did in one line's time.
#[derive(Debug, Clone, Copy, Default)]
struct Sum {
    operations: u64,
    bytes: u64,
    total_ns: u128,
    submission_ns: u128,
    submissions: u64,
}

/// Milliseconds since the beginning, value, direction, and zeros for size and priority.
fn lines(log: &Log, clone: &Clone<'_>) -> String {
    let mut text = String::new();
    let Some(begin) = clone.parts.iter().map(Part::from).min() else { return text };
    for part in &clone.parts {
        let every_ns = (log.every_ms * 1_000_000).max(part.interval_ns).max(1);
        let number = |tally: &Tally| tally.to.saturating_sub(begin + 1) / every_ns;
        let mut before_ms = None;
        for some in part.tallies.chunk_by(|one, next| number(one) == number(next)) {
            let span = |tally: &&Tally| tally.to.saturating_sub(tally.from);
            let span_ns: u64 = some.iter().map(span).sum();
            let end = some.iter().map(|tally| tally.to).max().unwrap_or(begin);
            let at_ms = (end.saturating_sub(begin) + 500_000) / 1_000_000;
            let is_rate = matches!(log.logged, Logged::Bandwidth | Logged::Iops);
            // Rates of an interval that was cut off are no samples.
            if is_rate && span_ns < every_ns {
                continue;
            }
            // What was in flight at the end would have a second line of the same time.
            if before_ms.replace(at_ms) == Some(at_ms) {
                continue;
            }
            for (direction, kind) in KINDS.iter().enumerate() {
                let sum = sum(some, *kind);
                if let Some(value) = value(log.logged, sum, span_ns) {
                    text.push_str(&format!("{at_ms}, {value}, {direction}, 0, 0\n"));
                }
            }
        }
    }
    text
}

fn sum(tallies: &[&Tally], kind: Action) -> Sum {
    let mut sum = Sum::default();
    for entry in tallies.iter().flat_map(|tally| &tally.kinds).filter(|entry| entry.kind == kind) {
        sum.operations += entry.ops;
        sum.bytes += entry.bytes;
        sum.total_ns += entry.service.sum();
        sum.submission_ns += entry.submit.as_ref().map_or(0, Histogram::sum);
        sum.submissions += entry.submit.as_ref().map_or(0, Histogram::count);
    }
    sum
}

/// The value of a line; `None` where there is none.
fn value(logged: Logged, sum: Sum, span_ns: u64) -> Option<u64> {
    if sum.operations == 0 {
        return None;
    }
    let a_second = |amount: u64| per_second_of(amount, span_ns);
    let mean = |ns: u128, count: u64| u64::try_from(ns / u128::from(count.max(1))).ok();
    match logged {
        Logged::Bandwidth => Some(a_second(sum.bytes) >> 10),
        Logged::Iops => Some(a_second(sum.operations)),
        Logged::Latency => mean(sum.total_ns, sum.operations),
        Logged::CompletionLatency => {
            mean(sum.total_ns.saturating_sub(sum.submission_ns), sum.operations)
        }
        Logged::SubmissionLatency if sum.submissions > 0 => {
            mean(sum.submission_ns, sum.submissions)
        }
        Logged::SubmissionLatency => None,
    }
}

//! The logs of the course of time: a line for each interval and direction.

use super::gather::{Clone, KINDS, Part};
use super::packed::{self, Record};
use super::samples::per_second_of;
use crate::fio::settings::{LogLines, Window};
use crate::fio::{Log, Logged, Section};
use crate::front::{Existing, OutputFile, ResultFile};
use drivelab_core::anatomy::Stamped;
use drivelab_core::op::Action;
use drivelab_core::plan::Engine;
use drivelab_core::tally::Tally;
use drivelab_stats::Histogram;

/// The files of all logs that the jobs ask for.
pub fn files(clones: &[Clone<'_>]) -> Vec<OutputFile> {
    let mut files: Vec<OutputFile> = Vec::new();
    for (number, clone) in (1..).zip(clones) {
        for log in &clone.section.logs {
            let path = path_of(log, number);
            let lines = lines(log, clone);
            let bytes = match log.lines.packed {
                true => packed::pack(&lines.iter().map(|line| line.record).collect::<Vec<_>>()),
                false => text(&lines).into_bytes(),
            };
            // Jobs that share a log follow each other in it.
            match files.iter_mut().find(|file| file.place.path == path) {
                Some(file) => file.bytes.extend(bytes),
                None => files.push(OutputFile { place: place(path), bytes, said: String::new() }),
            }
        }
        if let Some((path, name)) = &clone.section.iolog {
            let bytes = iolog(name, clone).into_bytes();
            files.push(OutputFile { place: place(path.clone()), bytes, said: String::new() });
        }
    }
    files
}

/// What was issued, as fio reads it to issue it again (version 3): microseconds since the
/// beginning, file, action, offset, bytes.
fn iolog(name: &str, clone: &Clone<'_>) -> String {
    let mut text = format!("fio version 3 iolog\n0 {name} add\n0 {name} open\n");
    let begin = clone.parts.iter().map(Part::from).min().unwrap_or_default();
    let mut last_us = 0;
    let requests = clone.parts.iter().flat_map(|part| part.requests).flat_map(|one| &one.all);
    let mut issued: Vec<&Stamped> = requests.collect();
    issued.sort_by_key(|it| it.issued);
    for it in issued {
        let action = match it.action {
            Action::Read => "read",
            Action::Write => "write",
            Action::Trim => "trim",
            _ => continue,
        };
        last_us = it.issued.saturating_sub(begin) / 1000;
        text.push_str(&format!("{last_us} {name} {action} {} {}\n", it.offset, it.bytes));
    }
    text + &format!("{last_us} {name} close\n")
}

/// Where the logs of all jobs will be.
pub fn places(sections: &[Section]) -> Vec<ResultFile> {
    let clones = sections.iter().flat_map(|section| (0..section.clones).map(move |_| section));
    let mut places: Vec<ResultFile> = Vec::new();
    for (number, section) in (1..).zip(clones) {
        let iolog = section.iolog.iter().map(|(path, _)| path.clone());
        for path in section.logs.iter().map(|log| path_of(log, number)).chain(iolog) {
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
    let suffix = if log.lines.packed { packed::SUFFIX } else { "" };
    match log.per_job {
        true => format!("{}_{word}.{number}.log{suffix}", log.prefix),
        false => format!("{}_{word}.log{suffix}", log.prefix),
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

/// A line of a log, with what compressed ones have no place for.
#[derive(Debug, Clone, Copy, Default)]
struct Line {
    record: Record,
    /// The largest value, where its mean stands before it.
    largest: Option<u64>,
    /// When the request was issued, where lines say that.
    issued: Option<u64>,
}

fn text(lines: &[Line]) -> String {
    let mut text = String::new();
    for line in lines {
        line.record.line(line.largest, line.issued, &mut text);
    }
    text
}

/// A line for each request.
fn single(log: &Log, clone: &Clone<'_>) -> Vec<Line> {
    let mut lines = Vec::new();
    let Some(begin) = clone.parts.iter().map(Part::from).min() else { return lines };
    for part in &clone.parts {
        for it in part.requests.iter().flat_map(|requests| &requests.all) {
            let is_it = |kind: &Action| clone.section.counts(it.action, *kind);
            let Some(direction) = KINDS.iter().position(is_it) else { continue };
            // Of operations on names fio notes how long each took.
            if clone.section.names.is_some() && log.logged != Logged::CompletionLatency {
                continue;
            }
            let Some(value) = value_of(log.logged, it, part.stream.engine) else { continue };
            let at_ms = it.completed.saturating_sub(begin) / 1_000_000;
            let issued = match log.logged {
                Logged::CompletionLatency | Logged::SubmissionLatency => it.issued - begin,
                Logged::Bandwidth | Logged::Iops | Logged::Latency => 0,
            };
            let offset = if clone.section.names.is_some() { 0 } else { it.offset };
            let own = if it.priority > 0 { it.priority } else { log.lines.priority };
            let record = Record {
                at_ms,
                value,
                direction: direction as u32,
                bytes: u64::from(it.bytes),
                ..ending(&log.lines, own, offset)
            };
            let issued = log.lines.with_issue.then_some(issued);
            lines.push(Line { record, largest: None, issued });
        }
    }
    lines
}

/// The offset and the priority of a line, as far as they were asked for. Means have no priority; of
/// others a mark says whether it is realtime.
fn ending(lines: &LogLines, priority: u16, offset: u64) -> Record {
    let priority = if lines.every_ms == 0 { priority } else { 0 };
    Record {
        priority: (priority, lines.with_priority),
        offset: lines.with_offset.then_some(offset),
        ..Record::default()
    }
}

/// The value of a request's line; `None` where it has none: a call that is the I/O itself has no
/// time of submission.
fn value_of(logged: Logged, it: &Stamped, engine: Engine) -> Option<u64> {
    let submission_ns = match engine.is_asynchronous() {
        true => it.submitted.saturating_sub(it.issued),
        false => 0,
    };
    let total_ns = it.completed.saturating_sub(it.issued);
    let completion_ns = total_ns.saturating_sub(submission_ns);
    match logged {
        Logged::Bandwidth => Some(u64::from(it.bytes) * 1_000_000 / completion_ns.max(1)),
        Logged::Iops => Some(1),
        Logged::Latency => Some(total_ns),
        Logged::CompletionLatency => Some(completion_ns),
        Logged::SubmissionLatency => engine.is_asynchronous().then_some(submission_ns),
    }
}

/// A line for each interval and direction, with zeros for size, offset and the time of issue; or
/// one for each request.
fn lines(log: &Log, clone: &Clone<'_>) -> Vec<Line> {
    if log.lines.every_ms == 0 {
        return single(log, clone);
    }
    let rest = ending(&log.lines, 0, 0);
    let mut lines = Vec::new();
    let is_of_requests = matches!(log.logged, Logged::Latency | Logged::SubmissionLatency);
    if is_of_requests && clone.section.names.is_some() {
        return lines;
    }
    let Some(begin) = clone.parts.iter().map(Part::from).min() else { return lines };
    for part in &clone.parts {
        let every_ns = (log.lines.every_ms * 1_000_000).max(part.interval_ns).max(1);
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
                let sum = sum(some, clone.section, *kind);
                let Some(mean) = value(log.logged, sum, span_ns) else { continue };
                let largest = largest(log.logged, some, |it| clone.section.counts(it, *kind));
                let largest = largest.unwrap_or(mean);
                let (value, largest) = match log.lines.window {
                    Window::Average => (mean, None),
                    Window::Maximum => (largest, None),
                    Window::Both => (mean, Some(largest)),
                };
                let record = Record { at_ms, value, direction: direction as u32, ..rest };
                let issued = log.lines.with_issue.then_some(0);
                lines.push(Line { record, largest, issued });
            }
        }
    }
    lines
}

fn sum(tallies: &[&Tally], section: &Section, direction: Action) -> Sum {
    let mut sum = Sum::default();
    let entries = tallies.iter().flat_map(|tally| &tally.kinds);
    for entry in entries.filter(|entry| section.counts(entry.kind, direction)) {
        sum.operations += entry.ops;
        sum.bytes += section.counted(entry).0;
        sum.total_ns += entry.service.sum();
        sum.submission_ns += entry.submit.as_ref().map_or(0, Histogram::sum);
        sum.submissions += entry.submit.as_ref().map_or(0, Histogram::count);
    }
    sum
}

/// The largest latency of a line, of completions that were not kept that of the whole request; a
/// rate has but one.
fn largest(logged: Logged, tallies: &[&Tally], is_it: impl Fn(Action) -> bool) -> Option<u64> {
    let entries = tallies.iter().flat_map(|tally| &tally.kinds).filter(|entry| is_it(entry.kind));
    match logged {
        Logged::Bandwidth | Logged::Iops => None,
        Logged::Latency => entries.map(|entry| entry.service.max()).max(),
        Logged::CompletionLatency => {
            entries.map(|entry| entry.completion.as_ref().unwrap_or(&entry.service).max()).max()
        }
        Logged::SubmissionLatency => {
            entries.filter_map(|entry| entry.submit.as_ref()).map(Histogram::max).max()
        }
    }
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

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn a_line_ends_as_it_was_asked() {
        let plain = LogLines::default();
        let prio = LogLines { with_priority: true, ..plain };
        let all = LogLines { with_offset: true, with_issue: true, ..plain };
        let of = |lines: LogLines| {
            let record = ending(&lines, lines.priority, 8192);
            text(&[Line { record, largest: None, issued: lines.with_issue.then_some(77) }])
        };
        // As fio 3.33 writes it with prioclass=1 and prio=2.
        let realtime = LogLines { priority: 0x2002, ..plain };
        let shown = LogLines { with_priority: true, ..realtime };
        assert_eq!([of(realtime), of(shown)], ["0, 0, 0, 0, 1\n", "0, 0, 0, 0, 0x2002\n"]);
        assert_eq!(of(LogLines { every_ms: 100, ..shown }), "0, 0, 0, 0, 0x0000\n");
        assert_eq!([of(plain), of(prio)], ["0, 0, 0, 0, 0\n", "0, 0, 0, 0, 0x0000\n"]);
        assert_eq!(of(all), "0, 0, 0, 0, 8192, 0, 77\n");
    }

    #[test]
    fn each_request_has_the_values_that_fio_gives_it() {
        let it = Stamped {
            issued: 1_000,
            submitted: 2_000,
            completed: 66_536,
            offset: 8192,
            bytes: 8192,
            action: Action::Write,
            priority: 0,
        };
        // fio 3.33 wrote 126936 for 8192 bytes in 64,536 ns of completion.
        let all = [
            Logged::Bandwidth,
            Logged::Iops,
            Logged::Latency,
            Logged::CompletionLatency,
            Logged::SubmissionLatency,
        ];
        let of = |engine| all.map(|logged| value_of(logged, &it, engine));
        let times = [Some(126_936), Some(1), Some(65_536), Some(64_536), Some(1_000)];
        assert_eq!(of(Engine::IoUring), times);
        let whole = [Some(125_000), Some(1), Some(65_536), Some(65_536), None];
        assert_eq!(of(Engine::Psync), whole);
    }
}

//! `drivelab watch`: what the kernel counts on the devices of targets, interval by interval: full
//! screen on a terminal, as lines elsewhere.

mod draw;
mod followed;
mod screen;
mod traced;

use crate::cli::watch::WatchOptions;
use crate::documents::Document;
use crate::outcome::{Failure, Status};
use crate::{print, store};
use drivelab_core::quantity::{bandwidth, digits, operations, percent, size, time};
use drivelab_io::counters::{self, DeviceCounters};
use drivelab_io::facts::{self, DeviceNumber, System};
use drivelab_report::Screen;
use schemars::JsonSchema;
use serde::Serialize;
use std::path::Path;
use std::time::{Duration, Instant};
use traced::{Latencies, Traced};

/// Shorter intervals say more of the kernel's ticks than of the device, longer ones of nothing.
const SHORTEST: Duration = Duration::from_millis(100);
const LONGEST: Duration = Duration::from_secs(3600);
/// The heads are said again after this many lines.
const LINES: usize = 20;
/// Ctrl-C is seen within this time.
const NAP: Duration = Duration::from_millis(50);

/// What one kind of request did in one interval; absent where there was none.
#[derive(Debug, Clone, Default, PartialEq, Serialize, JsonSchema)]
pub struct Flow {
    per_second: f64,
    bytes_per_second: f64,
    merged_per_second: f64,
    mean_bytes: Option<f64>,
    /// From queued to completed, in the kernel's queue and the device together; absent too where
    /// all of them took less than the millisecond that the kernel counts.
    mean_ns: Option<f64>,
    /// What the drive took for each, from its driver to its end; absent without `--trace`, and
    /// where none was seen from end to end.
    #[serde(skip_serializing_if = "Option::is_none")]
    served: Option<Latencies>,
}

/// One device in one interval.
#[derive(Debug, Clone, Default, PartialEq, Serialize, JsonSchema)]
#[schemars(rename = "WatchLine")]
pub struct Line {
    /// Seconds since the beginning, at the end of the interval.
    at_seconds: f64,
    device: String,
    /// Whether the kernel counts it: else the zeros say nothing.
    counted: bool,
    read: Flow,
    write: Flow,
    discard: Flow,
    flush: Flow,
    /// Requests in the queue and the device, on average.
    queue: f64,
    /// Share of the time in which at least one was in flight.
    busy: f64,
    /// Events that found no room in the tracer's buffers: then there are no percentiles.
    #[serde(skip_serializing_if = "Option::is_none")]
    events_lost: Option<u64>,
}

/// Prints lines until the count is reached or Ctrl-C comes.
pub fn watch(options: &WatchOptions) -> Result<Status, Failure> {
    let every = Duration::from_nanos(options.every.0);
    if !(SHORTEST..=LONGEST).contains(&every) {
        return Err(Failure::usage(format!("--every {} is out of range", options.every))
            .advise("Give 100ms to 1h: the kernel counts in ticks of some milliseconds."));
    }
    let system = System::live();
    let mut devices = Vec::new();
    for target in &options.targets {
        devices.extend(devices_of(&system, target)?);
    }
    devices.dedup();
    let mut traced = options.trace.then(|| Traced::begin(&system, &devices)).transpose();
    let traced = traced.as_mut().map_err(|why| untraced(why))?;
    if !options.json && !options.plain && options.count.is_none() && print::has_screen() {
        let runs = store::directory(None).ok();
        return screen::run(&screen::Watched { system, devices, every, runs }, traced.as_mut());
    }
    let count = || counters::snapshot(&system, &devices).map_err(|error| unreadable(&error));
    let (begin, mut before) = (Instant::now(), count()?);
    let (mut since, mut printed) = (begin, 0);
    for number in 1..=options.count.unwrap_or(u64::MAX) {
        if !print::is_heard() {
            break;
        }
        if !sleep_until(begin + every * u32::try_from(number).unwrap_or(u32::MAX)) {
            return Ok(Status::interruption());
        }
        let (now, at) = (count()?, Instant::now());
        let span = at - since;
        let counted = now.since(&before).devices;
        let mut lines: Vec<Line> =
            counted.iter().map(|device| line(device, span, at - begin)).collect();
        if let Some(traced) = traced.as_mut() {
            traced.add_to(&mut lines).map_err(|why| untraced(&why))?;
        }
        for line in lines {
            match options.json {
                false => print::text(&table(&line, printed, options.trace)),
                true => print::line(Document::of(line))?,
            }
            printed += 1;
        }
        (before, since) = (now, at);
    }
    Ok(Status::Fine)
}

/// The devices below a target that the kernel counts.
fn devices_of(system: &System, target: &str) -> Result<Vec<DeviceNumber>, Failure> {
    let path = Path::new(target);
    if !path.exists() {
        return Err(Failure::usage(format!("{target} is not there"))
            .advise("`drivelab list` shows which drives are."));
    }
    let devices = facts::devices_below(system, path);
    let counted = counters::devices(system, &devices).map_err(|error| unreadable(&error))?;
    if counted.is_empty() {
        return Err(Failure::usage(format!(
            "there is no block device below {target}, so the kernel keeps no I/O counters for it"
        ))
        .advise("Name a directory on a drive, or a device; `drivelab list` shows them."));
    }
    Ok(devices)
}

fn untraced(why: &str) -> Failure {
    Failure::invalid(format!("no percentiles: {why}"))
        .advise("Without --trace the kernel's counters give rates and means.")
}

fn unreadable(error: &std::io::Error) -> Failure {
    Failure::invalid(format!("the kernel's counters cannot be read: {error}"))
}

/// Whether it came so far without Ctrl-C.
fn sleep_until(due: Instant) -> bool {
    while !drivelab_io::signal::interrupted() {
        let left = due.saturating_duration_since(Instant::now());
        if left.is_zero() {
            return true;
        }
        std::thread::sleep(left.min(NAP));
    }
    false
}

/// What was counted in `span`, as rates and means.
fn line(device: &DeviceCounters, span: Duration, at: Duration) -> Line {
    let seconds = span.as_secs_f64().max(f64::MIN_POSITIVE);
    let flow = |ops: u64, bytes: u64, merges: u64, time_ms: u64| {
        let each = |total: f64| (ops > 0).then(|| total / ops as f64);
        Flow {
            per_second: ops as f64 / seconds,
            bytes_per_second: bytes as f64 / seconds,
            merged_per_second: merges as f64 / seconds,
            mean_bytes: each(bytes as f64).filter(|bytes| *bytes > 0.0),
            mean_ns: each(time_ms as f64 * 1e6).filter(|ns| *ns > 0.0),
            served: None,
        }
    };
    let d = device;
    Line {
        at_seconds: at.as_secs_f64(),
        device: d.name.clone(),
        counted: !d.is_uncounted(),
        read: flow(d.read_ops, d.read_bytes, d.read_merges, d.read_time_ms),
        write: flow(d.write_ops, d.write_bytes, d.write_merges, d.write_time_ms),
        discard: flow(d.discard_ops, d.discard_bytes, d.discard_merges, d.discard_time_ms),
        flush: flow(d.flush_ops, 0, 0, d.flush_time_ms),
        queue: d.queue_time_ms as f64 / (seconds * 1e3),
        // The kernel books a tick at a time, and may book one more than there were.
        busy: (d.busy_time_ms as f64 / (seconds * 1e3)).min(1.0),
        events_lost: None,
    }
}

impl Flow {
    /// How long a request takes, in few characters: on average, or of 100 the one that takes the
    /// longest.
    fn takes(&self, is_traced: bool) -> String {
        let ns = match is_traced {
            true => self.served.as_ref().and_then(|it| it.p99_ns()).map(|ns| ns as f64),
            false => self.mean_ns,
        };
        ns.map_or_else(|| "–".to_owned(), time)
    }
}

/// What stands above how long a request takes.
fn takes(is_traced: bool) -> &'static str {
    if is_traced { "p99" } else { "wait" }
}

/// A line of the table, with the heads where they are due.
fn table(line: &Line, printed: usize, is_traced: bool) -> String {
    let wait = takes(is_traced);
    let heads = [
        "device", "reads", "rate", "size", wait, "writes", "rate", "size", wait, "flushes",
        "queue", "busy",
    ];
    let of = |flow: &Flow| {
        let nothing = || "–".to_string();
        [
            operations(flow.per_second),
            bandwidth(flow.bytes_per_second),
            flow.mean_bytes.map_or_else(nothing, |bytes| size(bytes as u64)),
            flow.takes(is_traced),
        ]
    };
    let [reads, read_rate, read_size, read_wait] = of(&line.read);
    let [writes, write_rate, write_size, write_wait] = of(&line.write);
    let cells = [
        line.device.clone(),
        reads,
        read_rate,
        read_size,
        read_wait,
        writes,
        write_rate,
        write_size,
        write_wait,
        operations(line.flush.per_second),
        digits(line.queue),
        percent(line.busy),
    ];
    if !line.counted {
        let name = &line.device;
        return format!("{name:<10} no counters: its queue/iostats is 0, or it never had I/O\n");
    }
    let head = match printed.is_multiple_of(LINES) {
        true => row(&heads.map(String::from)),
        false => String::new(),
    };
    head + &row(&cells)
}

/// Characters of each column of a line.
const WIDTHS: [usize; 12] = [9, 10, 9, 8, 8, 10, 9, 8, 8, 10, 7, 7];
/// Columns that a narrow screen does without, the first of them first: the sizes, which rate and
/// number tell, the flushes, the queue.
const WITHOUT: [&[usize]; 3] = [&[3, 7], &[9], &[10]];

/// A line of the columns that fit.
fn row(cells: &[String; 12]) -> String {
    let most = Screen::current().columns;
    let mut gone: Vec<usize> = Vec::new();
    let width = |gone: &[usize]| -> usize {
        let kept = WIDTHS.iter().enumerate().filter(|(at, _)| !gone.contains(at));
        kept.map(|(_, width)| width + 1).sum::<usize>() - 1
    };
    for columns in WITHOUT {
        if width(&gone) > most {
            gone.extend(columns);
        }
    }
    let mut text = String::new();
    for (at, (cell, width)) in cells.iter().zip(WIDTHS).enumerate() {
        match at {
            0 => text += &format!("{cell:<width$}"),
            _ if gone.contains(&at) => {}
            _ => text += &format!(" {cell:>width$}"),
        }
    }
    text.truncate(text.trim_end().len());
    text + "\n"
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn counts_become_rates_and_means() {
        let device = DeviceCounters {
            name: "sda".into(),
            read_ops: 1000,
            read_bytes: 4_096_000,
            read_time_ms: 500,
            write_merges: 6,
            flush_ops: 2,
            flush_time_ms: 8,
            queue_time_ms: 508,
            busy_time_ms: 2004,
            ..DeviceCounters::default()
        };
        let line = line(&device, Duration::from_secs(2), Duration::from_secs(6));
        assert_eq!((line.read.per_second, line.read.bytes_per_second), (500.0, 2_048_000.0));
        assert_eq!((line.read.mean_bytes, line.read.mean_ns), (Some(4096.0), Some(500_000.0)));
        assert_eq!((line.write.per_second, line.write.merged_per_second), (0.0, 3.0));
        assert_eq!((line.write.mean_bytes, line.write.mean_ns), (None, None), "none was there");
        assert_eq!((line.flush.mean_bytes, line.flush.mean_ns), (None, Some(4e6)));
        assert_eq!((line.queue, line.busy, line.at_seconds), (0.254, 1.0, 6.0));
        let text = table(&line, 0, false);
        assert_eq!(text.lines().count(), 2, "{text}");
        assert_eq!(table(&line, 1, false).lines().count(), 1);
        assert!(text.contains("500 IOPS"), "{text}");
        assert!(!text.contains("4 KiB") && text.contains('–'), "80 columns have no sizes: {text}");
        assert!(text.lines().all(|line| line.chars().count() <= 80), "{text}");
        Screen::of(Some(131), false).set();
        let wide = table(&line, 0, false);
        assert!(wide.contains("4 KiB") && wide.contains("flushes"), "{wide}");
    }
}

//! The layout for people.

use super::figures::{BOUNDS, Block, Disk, Report, Samples, Side, Spread, Timed};
use super::groups::{self, Total};
use super::scale::{Step, date, short};
use super::steady;
use crate::fio::Line;
use std::fmt::{self, Write};

/// Columns that a line of percentiles may fill after its indent.
const PERCENTILE_COLUMNS: usize = 73;

/// Rates above this many KiB a second are printed in MiB.
const MEBI: f64 = 1_048_576.0;
/// Engines that have one operation in flight, whatever is asked for.
const SYNCHRONOUS: [&str; 9] =
    ["sync", "psync", "vsync", "pvsync", "pvsync2", "mmap", "splice", "falloc", "ftruncate"];

/// What fio prints before any result.
pub fn preamble(line: &Line, to: &mut String) -> fmt::Result {
    for section in &line.sections {
        let [read, write, trim] = section.sizes.map(|(least, most)| {
            let size = |bytes| short(bytes, 4, Step::Binary, "B");
            format!("{}-{}", size(least), size(most))
        });
        writeln!(
            to,
            "{}: (g={}): rw={}, bs=(R) {read}, (W) {write}, (T) {trim}, ioengine={}, iodepth={}",
            section.name, section.group, section.rw, section.ioengine, section.iodepth
        )?;
        if section.clones > 1 {
            writeln!(to, "...")?;
        }
    }
    writeln!(to, "{}", super::VERSION)?;
    writeln!(to, "Starting {}", started(line))?;
    for section in &line.sections {
        let Some((times, files, bytes)) = section.laid_out else { continue };
        let mib = bytes >> 20;
        for _ in 0..times {
            match files {
                1 => writeln!(to, "{}: Laying out IO file (1 file / {mib}MiB)", section.name)?,
                _ => writeln!(
                    to,
                    "{}: Laying out IO files ({files} files / total {mib}MiB)",
                    section.name
                )?,
            }
        }
    }
    let capped = line
        .sections
        .iter()
        .filter(|section| section.iodepth > 1 && SYNCHRONOUS.contains(&section.ioengine.as_str()));
    for _ in 0..capped.map(|section| section.clones).sum() {
        writeln!(
            to,
            "note: both iodepth >= 1 and synchronous I/O engine are selected, queue depth will be \
             capped at 1"
        )?;
    }
    Ok(())
}

/// How many threads and processes there are, in words.
fn started(line: &Line) -> String {
    let count = |thread: bool| -> u32 {
        let alike = line.sections.iter().filter(|section| section.thread == thread);
        alike.map(|section| section.clones).sum()
    };
    let words = |count: u32, one: &str, many: &str| match count {
        0 => None,
        1 => Some(format!("1 {one}")),
        _ => Some(format!("{count} {many}")),
    };
    let threads = words(count(true), "thread", "threads");
    let processes = words(count(false), "process", "processes");
    let both: Vec<String> = threads.into_iter().chain(processes).collect();
    both.join(" and ")
}

/// All results.
pub fn results(report: &Report, to: &mut String) -> fmt::Result {
    writeln!(to)?;
    for block in &report.blocks {
        job(block, report.now_ms / 1000, to)?;
    }
    for group in groups::of(&report.blocks) {
        writeln!(to, "\nRun status group {} (all jobs):", group.number)?;
        for (word, total) in &group.totals {
            status(word, total, to)?;
        }
    }
    if !report.disks.is_empty() {
        writeln!(to, "\nDisk stats (read/write):")?;
    }
    report.disks.iter().try_for_each(|disk| below(disk, to))
}

fn job(block: &Block, now_s: u64, to: &mut String) -> fmt::Result {
    write!(to, "{}: (groupid={}, jobs={}): ", block.name, block.group, block.jobs)?;
    match &block.error {
        None => write!(to, "err= 0: ")?,
        Some(failure) => write!(
            to,
            "err={:2} ({}, func={}, error={}): ",
            failure.errno,
            super::PLACE,
            failure.function,
            failure.words
        )?,
    }
    writeln!(to, "pid={}: {}", block.process, date(now_s))?;
    if let Some(description) = &block.description {
        writeln!(to, "  Description  : [{description}]")?;
    }
    for (word, side) in block.shown() {
        direction(block, word, side, to)?;
    }
    spread(&block.spread, to)?;
    if block.sync.count > 0 {
        writeln!(to, "  fsync/fdatasync/sync_file_range:")?;
        latency("sync", &block.sync, to)?;
        percentiles("sync", &block.sync, to)?;
    }
    writeln!(
        to,
        "  cpu          : usr={:.2}%, sys={:.2}%, ctx={}, majf={}, minf={}",
        block.user_percent, block.system_percent, block.switches, block.faults.0, block.faults.1
    )?;
    shares("  IO depths    : ", ["1", "2", "4", "8", "16", "32", ">=64"], &block.depths, to)?;
    let bounds = ["0", "4", "8", "16", "32", "64", ">=64"];
    shares("     submit    : ", bounds, &block.submitted, to)?;
    shares("     complete  : ", bounds, &block.completed, to)?;
    let [reads, writes, trims, syncs] = block.issued;
    writeln!(
        to,
        "     issued rwts: total={reads},{writes},{trims},{syncs} short=0,0,0,0 dropped=0,0,0,0"
    )?;
    if block.counts_errors {
        let (errno, words) = block.first_error();
        writeln!(to, "     errors    : total={}, first_error={errno}/<{words}>", block.errors)?;
    }
    writeln!(to, "     latency   : target=0, window=0, percentile=100.00%, depth={}", block.depth)?;
    block.steady.iter().try_for_each(|found| steady::line(block, found, to))
}

fn direction(block: &Block, word: &str, side: &Side, to: &mut String) -> fmt::Result {
    if side.operations == 0 || side.runtime_ms == 0 {
        return Ok(());
    }
    let rate = rates(side.bytes_per_s(), block);
    let iops = short(side.operations_per_s() as u64, 4, Step::Decimal, "");
    let (first, _) = steps(block.is_decimal);
    let bytes = short(side.bytes, 4, first, "B");
    let zones = if word == "write" { "; 0 zone resets" } else { "" };
    let (one, other) = rate;
    writeln!(
        to,
        "  {word}: IOPS={iops}, BW={one} ({other})({bytes}/{}msec){zones}",
        side.runtime_ms
    )?;
    latency("slat", &side.submission, to)?;
    latency("clat", &side.completion, to)?;
    latency(" lat", &side.total, to)?;
    let word = if block.percentiles.total { "lat" } else { "clat" };
    for one in &side.priorities {
        latency(&format!("{word} prio {one}"), &one.timed, to)?;
    }
    percentiles("slat", &side.submission, to)?;
    percentiles("clat", &side.completion, to)?;
    percentiles("lat", &side.total, to)?;
    let all = side.priorities.iter().map(|one| one.timed.count).sum::<u64>().max(1) as f64;
    for one in &side.priorities {
        let share = one.timed.count as f64 * 100.0 / all;
        let of = format!("{word} prio {one} ({share:.2}% of IOs)");
        percentiles(&of, &one.timed, to)?;
    }
    bandwidth(side, block.is_decimal, to)?;
    let Samples { count, min, max, mean, deviation } = side.iops;
    if count > 0 {
        writeln!(
            to,
            "   iops        : min={min:5}, max={max:5}, avg={mean:5.2}, stdev={deviation:5.2}, \
             samples={count}"
        )?;
    }
    Ok(())
}

fn bandwidth(side: &Side, is_decimal: bool, to: &mut String) -> fmt::Result {
    let Samples { count, mut min, mut max, mut mean, mut deviation } = side.bandwidth;
    if count == 0 {
        return Ok(());
    }
    let (kilo, mega, divisor) = if is_decimal { ("kB", "MB", 1000) } else { ("KiB", "MiB", 1024) };
    let mut unit = kilo;
    if mean > MEBI {
        unit = mega;
        (min, max) = (min / divisor, max / divisor);
        (mean, deviation) = (mean / divisor as f64, deviation / divisor as f64);
    }
    writeln!(
        to,
        "   bw ({unit:>5}/s): min={min:5}, max={max:5}, per={:.2}%, avg={mean:5.2}, \
         stdev={deviation:5.2}, samples={count}",
        side.share_percent
    )
}

/// The unit in which latencies from `least` on are printed, and its nanoseconds: what is small, and
/// what hardly differs, is not rounded away.
fn unit_of(least: u64, most: u64, deviation: f64) -> (&'static str, u64) {
    let fits =
        |unit: u64| least / unit > 2000 && most / unit > 99_999 && deviation / unit as f64 > 1000.0;
    match (fits(1), fits(1000)) {
        (true, true) => ("msec", 1_000_000),
        (true, false) => ("usec", 1000),
        _ => ("nsec", 1),
    }
}

fn latency(word: &str, timed: &Timed, to: &mut String) -> fmt::Result {
    if timed.count == 0 {
        return Ok(());
    }
    let (unit, ns) = unit_of(timed.min, timed.max, timed.deviation);
    let figure = |value: u64| short(value / ns, 6, Step::Decimal, "");
    writeln!(
        to,
        "    {word} ({unit}): min={}, max={}, avg={:5.2}, stdev={:5.2}",
        figure(timed.min),
        figure(timed.max),
        timed.mean / ns as f64,
        timed.deviation / ns as f64
    )
}

fn percentiles(word: &str, timed: &Timed, to: &mut String) -> fmt::Result {
    let (Some(first), Some(last)) = (timed.percentiles.first(), timed.percentiles.last()) else {
        return Ok(());
    };
    let (unit, ns) = unit_of(first.1, last.1, f64::INFINITY);
    writeln!(to, "    {word} percentiles ({unit}):")?;
    let scaled = |value: u64| value.div_ceil(ns);
    let width = scaled(last.1).to_string().len().max(5);
    let precision = super::precision_of(timed.percentiles.iter().map(|entry| entry.0));
    let in_line = PERCENTILE_COLUMNS / (precision + 10 + width);
    for (at, (percent, value)) in timed.percentiles.iter().enumerate() {
        if at % in_line == 0 {
            write!(to, "     | ")?;
        }
        write!(to, "{percent:w$.precision$}th=[{:width$}]", scaled(*value), w = precision + 3)?;
        let is_last = at + 1 == timed.percentiles.len();
        match (is_last, (at + 1) % in_line == 0) {
            (true, _) => writeln!(to)?,
            (false, true) => writeln!(to, ",")?,
            (false, false) => write!(to, ", ")?,
        }
    }
    Ok(())
}

fn spread(spread: &Spread, to: &mut String) -> fmt::Result {
    let bounds: Vec<String> = BOUNDS.iter().map(u64::to_string).collect();
    let long: Vec<String> =
        bounds.iter().cloned().chain(["2000".into(), ">=2000".into()]).collect();
    for (unit, bounds, shares) in [
        ("nsec", &bounds, &spread.ns[..]),
        ("usec", &bounds, &spread.us[..]),
        ("msec", &long, &spread.ms[..]),
    ] {
        let shown = bounds.iter().zip(shares).filter(|(_, share)| **share > 0.0);
        let words: Vec<String> =
            shown.map(|(bound, share)| format!("{bound}={:.2}%", share.max(0.01))).collect();
        for some in words.chunks(5) {
            writeln!(to, "  lat ({unit})   : {}", some.join(", "))?;
        }
    }
    Ok(())
}

fn shares(head: &str, bounds: [&str; 7], shares: &[f64; 7], to: &mut String) -> fmt::Result {
    let word = |(bound, share): (&str, &f64)| {
        let share = if *share > 0.0 { share.max(0.1) } else { 0.0 };
        format!("{bound}={share:.1}%")
    };
    let words: Vec<String> = bounds.into_iter().zip(shares).map(word).collect();
    writeln!(to, "{head}{}", words.join(", "))
}

/// A rate in the unit of the job, and in the other.
fn rates(bytes_per_s: u64, block: &Block) -> (String, String) {
    let (amount, unit) = match block.is_bits {
        true => (bytes_per_s.saturating_mul(8), "bit/s"),
        false => (bytes_per_s, "B/s"),
    };
    let (first, second) = steps(block.is_decimal);
    let word = |step| if amount == 0 { "0".to_owned() } else { short(amount, 4, step, unit) };
    (word(first), word(second))
}

/// How sizes are shortened, and how they are next to it in brackets.
fn steps(is_decimal: bool) -> (Step, Step) {
    if is_decimal { (Step::Decimal, Step::Binary) } else { (Step::Binary, Step::Decimal) }
}

fn status(word: &str, total: &Total<'_>, to: &mut String) -> fmt::Result {
    let (all, all_other) = rates(total.bytes_per_s, total.style);
    let (least, least_other) = rates(total.bytes_per_s_min, total.style);
    let (most, most_other) = rates(total.bytes_per_s_max, total.style);
    let (first, second) = steps(total.style.is_decimal);
    let bytes = |step| short(total.bytes, 4, step, "B");
    writeln!(
        to,
        "{:>7}: bw={all} ({all_other}), {least}-{most} ({least_other}-{most_other}), \
         io={} ({}), run={}-{}msec",
        word.to_uppercase(),
        bytes(first),
        bytes(second),
        total.runtime_ms_min,
        total.runtime_ms_max
    )
}

fn below(disk: &Disk, to: &mut String) -> fmt::Result {
    let [reads, writes] = disk.operations;
    let [read_merges, write_merges] = disk.merges;
    let [read_ticks, write_ticks] = disk.ticks;
    writeln!(
        to,
        "  {}: ios={reads}/{writes}, merge={read_merges}/{write_merges}, \
         ticks={read_ticks}/{write_ticks}, in_queue={}, util={:.2}%",
        disk.name, disk.in_queue, disk.used_percent
    )
}

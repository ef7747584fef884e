//! The layout of semicolons, versions 2 to 5.

use super::figures::{Block, Disk, Percentiles, Report, Samples, Side, Timed};
use super::groups;
use std::fmt::{self, Write};

/// Percentiles that have a field.
const PERCENTILE_FIELDS: usize = 20;

/// A line for each block.
pub fn results(report: &Report, version: u8, to: &mut String) -> fmt::Result {
    report.blocks.iter().try_for_each(|block| job(report, block, version, to))
}

fn job(report: &Report, block: &Block, version: u8, to: &mut String) -> fmt::Result {
    write!(to, "{version};")?;
    if version > 2 {
        write!(to, "{};", super::VERSION)?;
    }
    let errno = block.error.as_ref().map_or(0, |failure| failure.errno);
    write!(to, "{};{};{errno}", block.name, block.group)?;
    // Version 3 has no trims, and no other has a field fewer.
    for (word, side) in
        block.shown().into_iter().filter(|(word, _)| version != 3 || *word != "trim")
    {
        let all = groups::kib_per_s(&report.blocks, block.group, word);
        let share = share_percent(side.bandwidth.mean, all);
        direction(side, &block.percentiles, share, version, to)?;
    }
    write!(
        to,
        ";{:.6}%;{:.6}%;{};{};{}",
        block.user_percent, block.system_percent, block.switches, block.faults.0, block.faults.1
    )?;
    for share in block.depths {
        let share = if share > 0.0 { share.max(0.1) } else { 0.0 };
        write!(to, ";{share:.1}%")?;
    }
    spread(block, to)?;
    if version > 2 {
        report.disks.iter().try_for_each(|disk| below(disk, to))?;
    }
    if block.counts_errors {
        write!(to, ";{};{}", block.errors, block.first_error().0)?;
    }
    match &block.description {
        Some(description) if version == 2 => write!(to, "\n;{description}")?,
        Some(description) => write!(to, ";{description}")?,
        None => {}
    }
    writeln!(to)
}

/// Share of the group's rate in percent, of which fio takes only the whole KiB a second here.
fn share_percent(mean: f64, all_kib_per_s: u64) -> f64 {
    match all_kib_per_s {
        0 => 0.0,
        all => (mean * 100.0 / all as f64).min(100.0),
    }
}

fn direction(
    side: &Side,
    percentiles: &Percentiles,
    share_percent: f64,
    version: u8,
    to: &mut String,
) -> fmt::Result {
    write!(
        to,
        ";{};{};{};{}",
        side.bytes >> 10,
        side.bytes_per_s() >> 10,
        side.operations_per_s() as u64,
        side.runtime_ms
    )?;
    latency(&side.submission, to)?;
    latency(&side.completion, to)?;
    // Those of the total latency go before those of its second part.
    let latency_shown = match percentiles.total {
        true => &side.total,
        false => &side.completion,
    };
    let shown = percentiles.total || percentiles.completion;
    for at in 0..PERCENTILE_FIELDS {
        let value = latency_shown.percentiles.get(at).map_or(0, |entry| entry.1);
        match percentiles.list.get(at).filter(|_| shown) {
            Some(percent) => write!(to, ";{percent:.6}%={}", value / 1000)?,
            None => write!(to, ";0%=0")?,
        }
    }
    latency(&side.total, to)?;
    let Samples { count, min, max, mean, deviation } = side.bandwidth;
    write!(to, ";{min};{max};{share_percent:.6}%;{mean:.6};{deviation:.6}")?;
    if version == 5 {
        write!(to, ";{count}")?;
        let Samples { count, min, max, mean, deviation } = side.iops;
        write!(to, ";{min};{max};{mean:.6};{deviation:.6};{count}")?;
    }
    Ok(())
}

fn latency(timed: &Timed, to: &mut String) -> fmt::Result {
    write!(
        to,
        ";{};{};{:.6};{:.6}",
        timed.min / 1000,
        timed.max / 1000,
        timed.mean / 1000.0,
        timed.deviation / 1000.0
    )
}

/// Shares below each bound; what is below a microsecond counts below two.
fn spread(block: &Block, to: &mut String) -> fmt::Result {
    let mut us = block.spread.us;
    us[0] += block.spread.ns.iter().sum::<f64>();
    for share in us.into_iter().chain(block.spread.ms) {
        let share = if share > 0.0 { share.max(0.01) } else { 0.0 };
        write!(to, ";{share:.2}%")?;
    }
    Ok(())
}

fn below(disk: &Disk, to: &mut String) -> fmt::Result {
    let [reads, writes] = disk.operations;
    let [read_merges, write_merges] = disk.merges;
    let [read_ticks, write_ticks] = disk.ticks;
    write!(
        to,
        ";{};{reads};{writes};{read_merges};{write_merges};{read_ticks};{write_ticks};{};{:.2}%",
        disk.name, disk.in_queue, disk.used_percent
    )
}

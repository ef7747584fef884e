//! The lines that stand for a check: the same load reading and writing, side by side.

use drivelab_core::facts::{Facts, TargetKind};
use drivelab_core::findings::Findings;
use drivelab_core::op::Action;
use drivelab_core::plan::Sync;
use drivelab_core::run::Run;
use drivelab_core::summary::{CellSummary, Rates, Summary};
use drivelab_stats::Estimate;

use crate::units;
use crate::view::block::{Block, Table};
use crate::view::{document, header, headline};

/// All lines, and what must be known next to some of their numbers.
pub(crate) struct Card {
    pub(crate) lines: Vec<Line>,
    /// Numbered from 1.
    pub(crate) notes: Vec<String>,
}

/// One load.
pub(crate) struct Line {
    pub(crate) label: String,
    /// One of the four that everyone compares.
    pub(crate) is_standard: bool,
    pub(crate) read: Option<Entry>,
    pub(crate) write: Option<Entry>,
}

/// What one kind of operation did.
pub(crate) struct Entry {
    pub(crate) rate: String,
    /// Half its interval, or the word that stands there instead.
    pub(crate) width: String,
    /// The same in bytes a second, where `rate` counts operations.
    pub(crate) bandwidth: Option<String>,
    pub(crate) p99: String,
    /// Which of the notes belongs to it.
    pub(crate) note: Option<usize>,
    pub(crate) is_suspect: bool,
}

impl Entry {
    /// The rate with its interval: `6.98 GB/s ± 0.3 %`.
    pub(crate) fn rate_with_width(&self) -> String {
        format!("{} {}", self.rate, self.width)
    }

    /// The number of its note as it stands behind a word.
    pub(crate) fn mark(&self) -> String {
        self.note.map(raised).unwrap_or_default()
    }
}

/// A number above the line.
pub(crate) fn raised(number: usize) -> String {
    let digit = |c: char| c.to_digit(10).and_then(|at| "⁰¹²³⁴⁵⁶⁷⁸⁹".chars().nth(at as usize));
    number.to_string().chars().filter_map(digit).collect()
}

/// The lines that a study put together; `None`: it has none, or nothing of them was measured.
pub(crate) fn card(summary: &Summary, findings: &Findings) -> Option<Card> {
    let mut notes = Vec::new();
    let lines = findings.rows.iter().filter_map(|row| {
        let cell = |name: &Option<String>| {
            let name = name.as_ref()?;
            summary.cells.iter().find(|cell| cell.name == *name)
        };
        let (read, write) = (cell(&row.read), cell(&row.write));
        let is_mix = row.read == row.write;
        let line = Line {
            label: row.label.clone(),
            is_standard: row.is_standard,
            read: read.and_then(|of| entry(of, Action::Read, !is_mix, findings, &mut notes)),
            write: write.and_then(|of| entry(of, Action::Write, true, findings, &mut notes)),
        };
        (line.read.is_some() || line.write.is_some()).then_some(line)
    });
    let lines: Vec<Line> = lines.collect();
    (!lines.is_empty()).then_some(Card { lines, notes })
}

/// What a cell did of one kind. Of a cell with two kinds the second tells what is to be known.
fn entry(
    cell: &CellSummary,
    action: Action,
    tells: bool,
    findings: &Findings,
    notes: &mut Vec<String>,
) -> Option<Entry> {
    let stream = cell.streams.first()?;
    let kind = stream.kinds.get(&action)?;
    let row = headline::rows(cell).into_iter().next()?;
    let rate = match row.in_bytes() {
        true => kind.rates.bandwidth_bytes_per_s,
        false => kind.rates.iops,
    };
    let is_suspect = cell.valid == Some(false);
    let mut told: Vec<String> = Vec::new();
    if tells {
        told.extend(row.remarks());
        let of_cell = findings.remarks.iter().filter(|remark| remark.cell == cell.name);
        told.extend(of_cell.map(|remark| remark.text.clone()));
    }
    told.extend(rate.as_ref().and_then(|rate| without_interval(rate, &kind.rates)));
    let timed = match (stream.load.sync, action) {
        // A durable write is over with its flush.
        (Sync::Fsync(1), Action::Write) => stream.kinds.get(&Action::Flush).unwrap_or(kind),
        _ => kind,
    };
    let latency = headline::latency(timed);
    Some(Entry {
        rate: match (row.in_bytes(), rate) {
            (_, None) => units::UNKNOWN.to_owned(),
            (true, Some(rate)) => units::bandwidth(rate.value),
            (false, Some(rate)) => units::operations(rate.value),
        },
        width: match (is_suspect, rate) {
            (true, _) => "SUSPECT".to_owned(),
            (false, None) => String::new(),
            (false, Some(rate)) => short_width(&rate, &kind.rates),
        },
        bandwidth: (kind.rates.bandwidth_bytes_per_s)
            .filter(|_| !row.in_bytes())
            .map(|rate| units::bandwidth(rate.value)),
        p99: latency.map_or_else(String::new, |latency| {
            latency.p99.map_or("too few".to_owned(), |p99| units::time(p99 as f64))
        }),
        note: numbered(told, notes),
        is_suspect,
    })
}

/// Half the width of an interval in few characters. On a simulated drive all repetitions can be
/// equal to the nanosecond: then there is none, and nothing to doubt.
fn short_width(rate: &Estimate, rates: &Rates) -> String {
    if are_equal(rate, rates) {
        return "equal".to_owned();
    }
    match units::half_width(rate) {
        none if rate.low.is_none() || none == "no interval" => "± ?".to_owned(),
        wide if wide.starts_with('×') => wide.replace("× or ÷ ", "×/÷ "),
        plain => plain,
    }
}

fn are_equal(rate: &Estimate, rates: &Rates) -> bool {
    rate.low.is_none() && rate.n > 1 && rates.no_interval.is_none()
}

/// Why a rate has no interval.
fn without_interval(rate: &Estimate, rates: &Rates) -> Option<String> {
    if rate.low.is_some() || are_equal(rate, rates) {
        return None;
    }
    Some(match &rates.no_interval {
        Some(why) => format!("no interval: {}", why.text),
        None => "no interval: one repetition".to_owned(),
    })
}

/// The number of a note; what is said twice is said once.
fn numbered(told: Vec<String>, notes: &mut Vec<String>) -> Option<usize> {
    if told.is_empty() {
        return None;
    }
    let note = told.join("; ");
    let known = notes.iter().position(|one| *one == note);
    Some(
        1 + known.unwrap_or_else(|| {
            notes.push(note);
            notes.len() - 1
        }),
    )
}

/// What was measured, in few words that name no owner: model, firmware, capacity.
pub(crate) fn drive(summary: &Summary, facts: &Facts) -> String {
    let known = &facts.target;
    if known.kind == TargetKind::Simulated {
        // The name of a profile of one's own may be a path.
        let name = summary.target.split(',').next().unwrap_or_default();
        let name = name.rsplit('/').next().unwrap_or_default();
        let size = known.bytes.map(units::capacity).unwrap_or_default();
        return format!("{name}, simulated {size}").trim_end().to_owned();
    }
    let disk = known.devices.iter().find(|device| device.model.is_some()).or(known.devices.last());
    let mut parts = Vec::new();
    if let Some(disk) = disk {
        parts.push(disk.model.clone().unwrap_or_else(|| disk.layer.clone()));
        parts.extend(disk.firmware.as_ref().map(|firmware| format!("firmware {firmware}")));
        parts.extend(disk.bytes.map(units::capacity));
    }
    parts.extend(known.filesystem.as_ref().map(|found| found.kind.clone()));
    parts.retain(|part| !part.is_empty());
    match parts.is_empty() {
        true => "an unknown drive".to_owned(),
        false => parts.join(", "),
    }
}

/// Whether its numbers may be believed, in few words; capitals where there is doubt.
pub(crate) fn word(summary: &Summary, card: &Card) -> String {
    let entries = card.lines.iter().filter(|line| line.is_standard);
    let mut entries = entries.flat_map(|line| line.read.iter().chain(&line.write));
    let word = match (summary.complete, entries.any(|entry| entry.is_suspect)) {
        (false, _) => "INCOMPLETE",
        (true, true) => "SUSPECT",
        (true, false) if summary.cells.iter().all(|cell| cell.valid == Some(true)) => "valid",
        (true, false) => "not suspect",
    };
    let is_judged = summary.cells.iter().filter(|cell| cell.valid != Some(false));
    match is_judged.map(|cell| cell.suspect).sum::<u32>() {
        0 => word.to_owned(),
        1 => format!("{word}, 1 suspect repetition left out"),
        count => format!("{word}, {count} suspect repetitions left out"),
    }
}

/// When, in which state, and by what: `state unknown · 2026-11-25 · drivelab 0.1.0 · valid`.
pub(crate) fn circumstances(summary: &Summary, card: &Card) -> String {
    let date = summary.started_at.split('T').next().unwrap_or_default();
    format!(
        "state {} · {date} · drivelab {} · {}",
        header::state(summary),
        summary.version,
        word(summary, card)
    )
}

/// The card as blocks, for issues and forums; `None` where there are no such lines.
pub(crate) fn blocks(run: &Run, summary: &Summary) -> Option<Vec<Block>> {
    let findings = summary.findings.clone().unwrap_or_default();
    let card = card(summary, &findings)?;
    let mut table = Table::headed(["", "read#", "write#", "p99 read#", "p99 write#"]);
    table.rows = card.lines.iter().map(row).collect();
    let mut blocks = vec![
        Block::Heading(3, drive(summary, &run.begin.facts)),
        Block::Words(circumstances(summary, &card)),
        Block::Table(table),
    ];
    let note = |(index, text): (usize, &String)| format!("{} {text}", raised(index + 1));
    let notes: Vec<String> = card.notes.iter().enumerate().map(note).collect();
    if !notes.is_empty() {
        blocks.push(Block::List(notes));
    }
    blocks.extend(document::judgement(summary, &findings));
    Some(blocks)
}

fn row(line: &Line) -> Vec<String> {
    let rate = |entry: &Option<Entry>| {
        let rate = entry.as_ref().map(|it| format!("{} {}", it.rate_with_width(), it.mark()));
        rate.map_or_else(String::new, |text| text.trim_end().to_owned())
    };
    let p99 = |entry: &Option<Entry>| entry.as_ref().map_or_else(String::new, |it| it.p99.clone());
    let label = line.label.split_whitespace().collect::<Vec<_>>().join(" ");
    vec![label, rate(&line.read), rate(&line.write), p99(&line.read), p99(&line.write)]
}

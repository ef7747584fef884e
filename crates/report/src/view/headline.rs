//! Which numbers stand for a cell: one row for a stream of one kind, three for a mix.

use drivelab_core::facts::{Facts, TargetKind};
use drivelab_core::findings::Findings;
use drivelab_core::op::Action;
use drivelab_core::plan::{PatternName, Role, Sync};
use drivelab_core::record::Begin;
use drivelab_core::summary::{CellKind, CellStream, CellSummary, Latency, Load, Rates};
use drivelab_stats::Estimate;

use crate::units;

/// From this request size on, bytes a second say more than operations a second.
const LARGE_BYTES: u64 = 32 << 10;

/// What stands before the name of a kind that is part of a mix.
const PART: &str = "  of it ";

/// One line of a table of cells.
pub(crate) struct Row<'summary> {
    pub(crate) cell: &'summary CellSummary,
    pub(crate) load: &'summary Load,
    /// Name of the cell, or the part of a mix.
    pub(crate) label: String,
    /// The first row of its cell; only that one carries remarks.
    pub(crate) is_first: bool,
    pub(crate) rates: &'summary Rates,
    /// `None` in the row that sums up a mix.
    pub(crate) latency: Option<Latency>,
    /// Reads or writes, for the hue of a chart; `None` for a mix and the rest.
    pub(crate) kind: Option<Action>,
}

/// The rows of one cell.
pub(crate) fn rows(cell: &CellSummary) -> Vec<Row<'_>> {
    let mut rows = Vec::new();
    for stream in &cell.streams {
        let name = stream_name(cell, stream);
        let mut row = |label: String, rates, latency, kind| {
            let is_first = rows.is_empty();
            let load = &stream.load;
            rows.push(Row { cell, load, label, is_first, rates, latency, kind });
        };
        match headline_kind(stream) {
            Some((action, kind)) => row(name, &kind.rates, latency(kind), Some(action)),
            None => {
                row(name, &stream.total, None, None);
                for (action, kind) in data_kinds(stream) {
                    let label = format!("{PART}{}s", action.word());
                    row(label, &kind.rates, latency(kind), Some(*action));
                }
            }
        }
    }
    rows
}

/// What a stream of a cell is called: one that is alone, or called like its cell, like its cell.
pub(crate) fn stream_name(cell: &CellSummary, stream: &CellStream) -> String {
    let own = stream.load.name.as_str();
    match cell.streams.len() == 1 || own.is_empty() || own == cell.name {
        true => cell.name.clone(),
        false => format!("{}, {own}", cell.name),
    }
}

fn data_kinds(stream: &CellStream) -> impl Iterator<Item = (&Action, &CellKind)> {
    stream.kinds.iter().filter(|(action, _)| !action.goes_along())
}

/// The kind a stream is about: flush where each write is to be durable, else its only kind.
fn headline_kind(stream: &CellStream) -> Option<(Action, &CellKind)> {
    if matches!(stream.load.sync, Sync::Fsync(1) | Sync::Fdatasync(1))
        && let Some(flush) = stream.kinds.get(&Action::Flush)
    {
        return Some((Action::Flush, flush));
    }
    let mut kinds = data_kinds(stream);
    match (kinds.next(), kinds.next()) {
        (Some((action, kind)), None) => Some((*action, kind)),
        _ => None,
    }
}

/// Of flushes that of the whole commit, else response times where there are any, else service
/// times, over all repetitions.
pub(crate) fn latency(kind: &CellKind) -> Option<Latency> {
    kind.merged.commit_ns.or(kind.merged.response_ns).or(kind.merged.service_ns)
}

impl Row<'_> {
    /// Its name without what only a table needs: `random read`, or `reads` for a part of a mix.
    pub(crate) fn short_label(&self) -> &str {
        self.label.strip_prefix(PART).unwrap_or(&self.label)
    }

    /// Name, size and load in one line, for where no columns tell them apart.
    pub(crate) fn plain_label(&self) -> String {
        let label = match self.label.starts_with(PART) {
            true => format!("{}: {}", self.cell.name, self.short_label()),
            false => self.label.clone(),
        };
        // What a name says already is not said again; some tools' kB are 1024 bytes.
        let words = format!(" {} ", label.replace(',', " "));
        let says = |part: &str| {
            [part, &part.replace("KiB", "kB")].iter().any(|it| words.contains(&format!(" {it} ")))
        };
        let more = [sizes(self.load), depth(self.load)];
        let more = more.into_iter().filter(|part| !part.is_empty() && !says(part));
        let known: Vec<String> = [label.clone()].into_iter().chain(more).collect();
        known.join(" ")
    }

    /// The same, led by what makes the number doubtful.
    pub(crate) fn full_label(&self) -> String {
        format!("{}{}", self.mark(), self.plain_label())
    }

    /// What makes the number doubtful, with a space behind it; else empty.
    pub(crate) fn mark(&self) -> &'static str {
        match (self.is_incomplete(), self.cell.valid) {
            (true, _) => "INCOMPLETE ",
            (false, Some(false)) => "SUSPECT ",
            (false, _) => "",
        }
    }

    /// Whether it stands for a whole stream, not for a part of a mix.
    pub(crate) fn is_whole(&self) -> bool {
        !self.label.starts_with(PART)
    }

    /// The kind of operation that a rate counts; empty for several kinds together.
    pub(crate) fn kind_word(&self) -> &'static str {
        self.kind.map_or("", Action::word)
    }

    /// Whether no repetition came to its end.
    fn is_incomplete(&self) -> bool {
        self.cell.incomplete > 0 && self.cell.incomplete >= self.cell.repetitions
    }

    /// Whether bytes a second are the headline.
    pub(crate) fn in_bytes(&self) -> bool {
        let large = self.load.size_bytes_max >= LARGE_BYTES;
        let along = self.load.pattern == PatternName::Sequential && self.load.size_bytes_max > 4096;
        (large || along) && self.rates.bandwidth_bytes_per_s.is_some()
    }

    /// The headline rate with its unit, or why there is none.
    pub(crate) fn rate(&self) -> String {
        match (self.in_bytes(), self.rates.bandwidth_bytes_per_s, self.rates.iops) {
            (true, Some(rate), _) => units::bandwidth(rate.value),
            (_, _, Some(rate)) => units::operations(rate.value),
            _ => without_rate(self.kind, self.rates).to_owned(),
        }
    }

    /// Half the width of its interval.
    pub(crate) fn half_width(&self) -> String {
        let rate = match self.in_bytes() {
            true => self.rates.bandwidth_bytes_per_s,
            false => self.rates.iops,
        };
        rate.map_or_else(String::new, |rate| units::half_width(&rate))
    }

    /// Half the width of its interval and what it rests on: `± 0.6 %, n 5`.
    pub(crate) fn margin(&self) -> String {
        let rate = match self.in_bytes() {
            true => self.rates.bandwidth_bytes_per_s,
            false => self.rates.iops,
        };
        rate.as_ref().map_or_else(String::new, margin)
    }

    /// What must be known next to the number, apart from findings.
    pub(crate) fn remarks(&self) -> Vec<String> {
        let mut remarks = Vec::new();
        let cell = self.cell;
        if cell.valid == Some(false) {
            // That it is incomplete is said below, in a word of its own.
            let told = cell.reasons.iter().filter(|reason| reason.code != "incomplete");
            let codes: Vec<String> = told.map(|reason| reason.code.replace('_', " ")).collect();
            if !codes.is_empty() {
                remarks.push(format!("SUSPECT: {}", codes.join(", ")));
            }
        }
        if self.is_incomplete() {
            remarks.push("INCOMPLETE".to_owned());
        } else if cell.incomplete > 0 {
            remarks.push(format!("{} incomplete left out", cell.incomplete));
        }
        if cell.suspect > 0 {
            remarks.push(format!("{} suspect left out", cell.suspect));
        }
        let stream = cell.streams.iter().find(|stream| std::ptr::eq(&stream.load, self.load));
        let errors: u64 =
            stream.map_or(0, |stream| stream.kinds.values().map(|kind| kind.rates.errors).sum());
        if errors > 0 {
            remarks.push(units::counted(errors, "error"));
        }
        if let Some((stream, gaps)) = stream.and_then(|stream| Some((stream, stream.gap_count?)))
            && gaps > 0
        {
            let over = units::time(stream.gap_over_ns as f64);
            let longest = stream.gap_ns_longest.map_or_else(String::new, |longest| {
                format!(", longest {}", units::time(longest as f64))
            });
            remarks.push(format!("{} over {over}{longest}", units::counted(gaps, "gap")));
        }
        remarks
    }
}

/// Whether the findings say already why something is suspect.
pub(crate) fn is_said(findings: &Findings, why: &str) -> bool {
    findings.suspect.iter().any(|sentence| sentence.contains(why))
}

/// What stands where a rate would: flushes may come where nothing is measured.
pub(crate) fn without_rate(kind: Option<Action>, rates: &Rates) -> &'static str {
    match kind == Some(Action::Flush) && rates.ops > 0 {
        true => "outside of the measured time",
        false => units::UNKNOWN,
    }
}

/// What a step is for, in a word.
pub(crate) fn role_word(role: Role) -> &'static str {
    match role {
        Role::Prepare => "prepare",
        Role::Precondition => "precondition",
        Role::Torture => "torture",
        Role::Measure => "measure",
        Role::Idle => "idle",
    }
}

/// Half the width of an interval and what it rests on.
pub(crate) fn margin(rate: &Estimate) -> String {
    match rate.relative_half_width() {
        Some(_) => format!("{}, n {}", units::half_width(rate), rate.n),
        None => units::half_width(rate),
    }
}

/// The truth guard's word for a cell or step.
pub(crate) fn truth_word(valid: Option<bool>) -> &'static str {
    match valid {
        Some(true) => "valid",
        Some(false) => "SUSPECT",
        None => "not checked",
    }
}

/// `4 KiB`, or `512 B to 64 KiB` for several; empty for metadata.
pub(crate) fn sizes(load: &Load) -> String {
    match (load.pattern, load.size_bytes_min == load.size_bytes_max) {
        (PatternName::Names, _) => String::new(),
        (_, true) => units::size(load.size_bytes_max),
        (_, false) => {
            format!("{} to {}", units::size(load.size_bytes_min), units::size(load.size_bytes_max))
        }
    }
}

/// `qd32`, `2 × qd32` for two workers, with the rate in an open loop.
pub(crate) fn depth(load: &Load) -> String {
    let depth = match load.workers {
        0 | 1 => format!("qd{}", load.depth),
        workers => format!("{workers} × qd{}", load.depth),
    };
    match load.rate {
        Some(rate) => format!("{depth} at {}", units::operations(rate)),
        None => depth,
    }
}

/// `4 processes on 1 machine; clocks agree within 1.2 µs`; `None` where one process did it all.
pub(crate) fn processes(begin: &Begin) -> Option<String> {
    if begin.processes.len() < 2 {
        return None;
    }
    let machines = begin.machines().len();
    let noun = if machines == 1 { "machine" } else { "machines" };
    let skew = begin.processes.iter().map(|process| process.clock_skew_ns).max();
    let clocks = match (begin.clock.source.as_str(), skew) {
        ("virtual", _) | (_, None) => String::new(),
        (_, Some(skew)) => format!("; clocks agree within {}", units::time(skew as f64)),
    };
    Some(format!("{} processes on {machines} {noun}{clocks}", begin.processes.len()))
}

/// The target in one line: path, file system, device, model, firmware.
pub(crate) fn target(target: &str, facts: &Facts) -> String {
    let known = &facts.target;
    let mut parts = Vec::new();
    let device = known.devices.first();
    match (&known.filesystem, device) {
        (Some(filesystem), _) => {
            let source =
                device.map_or(filesystem.source.clone(), |device| format!("/dev/{}", device.name));
            parts.push(format!("{} on {source}", filesystem.kind));
        }
        (None, Some(device)) if known.kind == TargetKind::BlockDevice => {
            parts.push(device.layer.clone());
        }
        _ => {}
    }
    let disk = known.devices.iter().find(|device| device.model.is_some()).or(known.devices.last());
    if let Some(disk) = disk {
        parts.extend(disk.model.clone());
        // A loop device lies on a larger disk; it is its own size that counts.
        let own = known.bytes.filter(|_| known.kind == TargetKind::BlockDevice);
        let top = device.filter(|device| device.layer == "loop").and_then(|device| device.bytes);
        parts.extend(own.or(top).or(disk.bytes).map(units::capacity));
        parts.extend(disk.firmware.as_ref().map(|firmware| format!("firmware {firmware}")));
    }
    if known.kind == TargetKind::Simulated {
        parts.push("simulated".to_owned());
        parts.extend(known.bytes.map(units::capacity));
    }
    if known.kind == TargetKind::Nothing {
        parts.push("no drive".to_owned());
    }
    parts.retain(|part| !part.is_empty());
    match parts.is_empty() {
        true => target.to_owned(),
        false => format!("{target} ({})", parts.join(", ")),
    }
}

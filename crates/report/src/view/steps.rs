//! What is known of each executed step and its streams, in words.

use drivelab_core::op::{Action, Place};
use drivelab_core::plan::{IoPriority, Role};
use drivelab_core::record::DeviceCounters;
use drivelab_core::summary::{
    CellKind, CellSummary, DriveSummary, KindSummary, Latency, LatencyEstimates, Rates, Reason,
    StepSummary, StreamSummary,
};
use drivelab_core::tally::{Gap, Mismatch, Slow};
use drivelab_stats::Estimate;

use crate::view::amounts::NOTHING;
use crate::view::block::Table;
use crate::view::headline;
use crate::{errno, units};

/// Gaps named; the run file and the page have more.
const GAPS_NAMED: usize = 5;

/// Its name, which repetition it is, and what it is for, if not for a result.
pub(crate) fn title(step: &StepSummary) -> String {
    let title = format!("{} · repetition {}", step.name, step.repetition);
    match step.role {
        Role::Measure => title,
        role => format!("{title} · {} step, not a result", headline::role_word(role)),
    }
}

/// What is said of a step as a whole: a word, and the sentence under it. First what the truth guard
/// says (each suspicion and note in words, what it could not check by name), then what a simulated
/// drive did meanwhile.
pub(crate) fn said(step: &StepSummary) -> Vec<(&'static str, String)> {
    let suspicions = step.reasons.iter().filter(|reason| reason.code != "incomplete");
    let mut said: Vec<_> = suspicions.map(|reason| ("SUSPECT", reason.text.clone())).collect();
    if step.valid == Some(true) {
        let sentence = match step.drive {
            None if is_disturbed(step) => "the device moved what was asked for",
            None => "the device moved what was asked for, and nothing disturbed it",
            Some(_) => "simulated: nothing else was there to disturb it",
        };
        said.push(("valid", sentence.to_owned()));
    }
    said.extend(step.notes.iter().map(|note| ("note", note.text.clone())));
    if step.role == Role::Measure && !step.unchecked.is_empty() {
        let name = |reason: &Reason| reason.code.replace('_', " ");
        let names: Vec<String> = step.unchecked.iter().map(name).collect();
        said.push(("not checked", names.join(", ")));
    }
    let inside = step.drive.as_ref().map(inside).filter(|words| !words.is_empty());
    said.extend(inside.map(|words| ("inside", words)));
    said
}

/// Whether a note tells of something that may have held the load up.
fn is_disturbed(step: &StepSummary) -> bool {
    let codes = step.notes.iter().map(|note| note.code.as_str());
    codes.into_iter().any(|code| ["pressure", "steal", "rate_not_kept"].contains(&code))
}

/// What a simulated drive did meanwhile, in words.
fn inside(drive: &DriveSummary) -> String {
    let mut parts = Vec::new();
    if let Some(amplification) = drive.write_amplification {
        let over = match drive.passes {
            Some(passes) if passes >= 1.0 => " over the last pass".to_owned(),
            Some(passes) => format!(" over {} of a pass", units::percent(passes)),
            None => String::new(),
        };
        parts.push(format!("write amplification {amplification:.4}{over}"));
    }
    let counts = &drive.inside;
    let host = counts.host_units.max(1) as f64;
    for (word, units_made) in [
        ("collection", counts.collection_units),
        ("merges", counts.merge_units),
        ("folding", counts.fold_units),
        ("wear levelling", counts.wear_units),
        ("padding", counts.padding_units),
        ("map", counts.map_units),
    ] {
        if units_made > 0 && counts.host_units > 0 {
            parts.push(format!("{word} {} by unit", units::digits(units_made as f64 / host)));
        }
    }
    if counts.erases > 0 {
        let (least, most) = (counts.erases_min, counts.erases_max);
        parts.push(format!("{} erases, {least} to {most} a block", units::count(counts.erases)));
    }
    if counts.drive_read_bytes + counts.drive_written_bytes > 0 {
        let (read, written) = (counts.drive_read_bytes, counts.drive_written_bytes);
        let (read, written) = (units::capacity(read), units::capacity(written));
        parts.push(format!("below the page cache {read} read, {written} written"));
    }
    if let Some(busy) = drive.utilisation {
        parts.push(format!("dies busy {}", units::percent(busy)));
    }
    if let Some(days) = drive.lifetime_days {
        parts.push(format!("at this pace the cells last {}", units::days(days)));
    }
    parts.join("  ·  ")
}

/// What the kernel counted on each device, a sentence each.
pub(crate) fn kernel(step: &StepSummary) -> Vec<String> {
    let leaves_out = step.streams.iter().any(|one| one.load.engine.traits().is_passthrough);
    let rest = if leaves_out { ", without the commands of io_uring_cmd" } else { "" };
    let words = |device: &DeviceCounters| {
        if device.uncounted {
            return format!(
                "{}: no counters, because accounting is off (queue/iostats is 0) or its driver \
                 does not count",
                device.name
            );
        }
        format!(
            "{}: {} reads ({}), {} writes ({}), {} {}, busy {}{rest}",
            device.name,
            units::count(device.reads),
            units::size(device.read_bytes),
            units::count(device.writes),
            units::size(device.written_bytes),
            units::count(device.flushes),
            if device.flushes == 1 { "flush" } else { "flushes" },
            units::time(device.busy_ms as f64 * 1e6),
        )
    };
    step.devices.iter().map(words).collect()
}

/// Where something else was read than had been written, a sentence each.
pub(crate) fn wrong_data(step: &StepSummary) -> Vec<String> {
    let words = |it: &Mismatch| format!("at offset {} of file {}: {}", it.offset, it.file, it.what);
    step.mismatches.iter().map(words).collect()
}

/// How a stream issued what: engine, sizes, depth, and for how long.
pub(crate) fn load(stream: &StreamSummary) -> String {
    let load = &stream.load;
    let mut parts = vec![load.name.clone()];
    match load.is_of_names() {
        true if load.depth <= 1 => parts.push("one call after the other".to_owned()),
        true => parts.push(load.engine.word().to_owned()),
        false => {
            parts.push(load.engine.word().to_owned());
            parts.push(load.io.word().to_owned());
            parts.push(format!("sync {}", load.sync));
        }
    }
    parts.push(headline::sizes(load));
    parts.push(headline::depth(load));
    parts.extend(load.zone_bytes.map(|zone| match load.zone_used_bytes {
        Some(used) => format!("over the first {} of each {}", units::size(used), units::size(zone)),
        None => format!("over zones of {}", units::size(zone)),
    }));
    let window = load.window_bytes.zip(load.window_moved_bytes).zip(load.window_step_bytes);
    parts.extend(window.map(|((within, moved), step)| {
        format!(
            "within {}, moving on by {} after {}",
            units::size(within),
            units::size(step),
            units::size(moved)
        )
    }));
    parts.extend(
        load.flow.map(|flow| format!("held to weight {} in group {}", flow.weight, flow.group)),
    );
    parts.extend(load.zone_append.then(|| "by zone append".to_owned()));
    parts.push(match stream.seconds {
        Some(seconds) => format!("measured for {}", units::time(seconds * 1e9)),
        None => "nothing measured".to_owned(),
    });
    parts.retain(|part| !part.is_empty());
    parts.join(", ")
}

/// A rate in words.
pub(crate) struct Rate {
    /// The kind, or `total`.
    pub(crate) label: &'static str,
    /// `912 k/s  ± 0.6 % (906 to 917 k/s, n 30)  ·  3.73 GB/s  ·  9,120,334 I/Os, 0 errors`.
    pub(crate) words: String,
    /// Why there is no interval, where one could be expected.
    pub(crate) no_interval: Option<String>,
}

/// The rates of a stream: of each kind, and of all together where they are several.
pub(crate) fn rates(stream: &StreamSummary) -> Vec<Rate> {
    let kinds = stream.kinds.iter().map(|(action, kind)| rate(action.word(), &kind.rates));
    let total = (data_kinds(stream) > 1).then(|| rate("total", &stream.total));
    kinds.chain(total).collect()
}

fn data_kinds(stream: &StreamSummary) -> usize {
    stream.kinds.keys().filter(|kind| !kind.goes_along()).count()
}

/// Fewer flushes, resets or finishes come with other operations and are no load.
const ALONG_MIN: u64 = 10;
/// An interval narrower than this share is not printed by its ends.
const ENDS_MIN: f64 = 0.0001;

/// The rate of one kind, or of all together.
pub(crate) fn rate(label: &'static str, rates: &Rates) -> Rate {
    let is_flush = label == Action::Flush.word();
    let goes_along = Action::ALL.iter().any(|it| it.goes_along() && it.word() == label);
    let mut parts = vec![match &rates.iops {
        Some(_) if goes_along && rates.ops < ALONG_MIN => "too few for a rate".to_owned(),
        Some(iops) => with_interval(iops),
        None if is_flush && rates.ops > 0 => {
            headline::without_rate(Some(Action::Flush), rates).to_owned()
        }
        None => "rate unknown".to_owned(),
    }];
    parts.extend(rates.bandwidth_bytes_per_s.map(|rate| units::bandwidth(rate.value)));
    let mut counts = vec![units::counted(rates.ops, "I/O")];
    if rates.bytes > 0 {
        counts.push(units::capacity(rates.bytes));
    }
    counts.push(units::counted(rates.errors, "error"));
    parts.push(counts.join(", "));
    let no_interval = rates.no_interval.as_ref().map(|why| why.text.clone());
    Rate { label, words: parts.join("  ·  "), no_interval }
}

fn with_interval(iops: &Estimate) -> String {
    let rate = units::operations(iops.value);
    if iops.relative_half_width().is_some_and(|half| half < ENDS_MIN) {
        return format!("{rate}  {} (n {})", units::half_width(iops), iops.n);
    }
    match units::interval(iops, units::operations_scale(iops.value)) {
        Some(interval) => {
            format!("{rate}  {} ({interval}, n {})", units::half_width(iops), iops.n)
        }
        None => format!("{rate}  no interval"),
    }
}

/// The latencies of a stream by kind; no rows where nothing was timed.
pub(crate) fn latencies(stream: &StreamSummary) -> Table {
    let mut table =
        Table::headed(["", "min#", "mean#", "p50#", "p90#", "p99#", "p99.9#", "p99.99#", "max#"]);
    for (action, kind) in &stream.kinds {
        for (name, latency) in [
            ("submit", kind.submit_ns),
            ("service", kind.service_ns),
            ("response", kind.response_ns),
        ] {
            if let Some(latency) = latency {
                table.rows.push(latency_row(format!("{} {name}", action.word()), &latency));
            }
        }
        // One alone has what the whole has.
        for one in kind.priorities.iter().filter(|_| kind.priorities.len() > 1) {
            let priority = one.priority.map_or_else(|| "no priority".to_owned(), IoPriority::words);
            table.rows.push(latency_row(format!("{}, {priority}", action.word()), &one.service_ns));
        }
        if let Some(latency) = kind.commit_ns {
            table.rows.push(latency_row("write + flush".to_owned(), &latency));
        }
    }
    if table.rows.iter().flatten().any(|entry| entry == NOTHING) {
        table.note = format!("{NOTHING} more I/Os are needed for this percentile");
    }
    table
}

fn latency_row(label: String, latency: &Latency) -> Vec<String> {
    let whole = |value: u64| units::time(value as f64);
    let percentile = |value: Option<u64>| value.map_or(NOTHING.to_owned(), whole);
    vec![
        label,
        whole(latency.min),
        units::time(latency.mean),
        percentile(latency.p50),
        percentile(latency.p90),
        percentile(latency.p99),
        percentile(latency.p99_9),
        percentile(latency.p99_99),
        whole(latency.max),
    ]
}

/// Where most of a slow operation's time went, as far as that is known.
///
/// In an open loop its time begins when it should have been issued. What is longer than every
/// service of its kind passed before that.
fn waited_longest(stream: &StreamSummary, slow: &Slow) -> String {
    let service = stream.kinds.get(&slow.kind).and_then(|kind| kind.service_ns.as_ref());
    let before_ns = service.map_or(0, |service| slow.latency_ns.saturating_sub(service.max));
    match (before_ns > slow.latency_ns / 2, slow.cause.is_unknown()) {
        (true, _) => {
            format!(", of which at least {} before it was issued", units::time(before_ns as f64))
        }
        (false, true) => String::new(),
        (false, false) => format!(", longest in: {}", slow.cause.words()),
    }
}

/// What else is known of a stream, a line each: what it cost, gaps, the slowest operation, errors,
/// lateness, stamps.
pub(crate) fn details(stream: &StreamSummary) -> Vec<String> {
    let mut lines = Vec::new();
    let mut cost = Vec::new();
    if let Some(depth) = stream.depth_reached {
        let reached = units::digits(depth);
        cost.push(format!("depth reached {reached} of {} per worker", stream.load.depth));
    }
    if let Some(waited) = stream.waited_share {
        cost.push(format!("{} of the time spent waiting for its group", units::percent(waited)));
    }
    if let Some(cpu) = stream.engine_cpu_ns_per_op {
        cost.push(format!("{} of CPU time per I/O", units::time(cpu)));
    }
    if let Some(batch) = stream.ops_per_submit_call {
        cost.push(format!("{} I/Os per submitting call", units::digits(batch)));
    }
    if !cost.is_empty() {
        lines.push(cost.join("  ·  "));
    }
    lines.push(gaps(stream));
    if let Some(slow) = stream.slowest.first() {
        let (latency, kind) = (units::time(slow.latency_ns as f64), slow.kind.word());
        let cause = waited_longest(stream, slow);
        let place = match slow.place {
            Place::Name { name, pass } => format!("on name {name} in pass {}", pass + 1),
            // Older runs wrote the pass of a name there.
            Place::Data { offset } if stream.load.is_of_names() => {
                format!("in pass {}", offset + 1)
            }
            Place::Data { offset } => format!("at offset {}", units::size(offset)),
        };
        lines.push(format!("slowest: {kind} of {latency} {place}{cause}"));
    }
    for (action, kind) in &stream.kinds {
        lines.extend(errors(*action, kind));
    }
    if let (Some(backlog), Some(late)) = (stream.backlog, stream.lateness) {
        lines.push(format!(
            "issued {} late on average, {} at most; backlog at most {}",
            units::time(late.mean_ns),
            units::time(late.max_ns as f64),
            units::counted(backlog, "I/O"),
        ));
    }
    if stream.verified > 0 {
        let (checked, wrong) = (units::count(stream.verified), units::count(stream.mismatched));
        lines.push(format!("{checked} stamps checked, {wrong} wrong"));
    }
    lines
}

fn gaps(stream: &StreamSummary) -> String {
    let gaps = &stream.gaps;
    let over = units::time(gaps.over_ns as f64);
    let length = |gap: &Gap| gap.to - gap.from;
    match gaps.count {
        None => format!("gaps over {over} without a completion: too many to list"),
        Some(0) => match gaps.longest_ns {
            Some(longest) => format!(
                "no gap over {over} without a completion; the longest {}",
                units::time(longest as f64)
            ),
            None => format!("no gap over {over} without a completion"),
        },
        Some(count) => {
            let mut longest: Vec<&Gap> = gaps.list.iter().collect();
            longest.sort_by_key(|gap| std::cmp::Reverse(length(gap)));
            let shown: Vec<String> = longest
                .iter()
                .take(GAPS_NAMED)
                .map(|gap| {
                    let began = stream.measured_from_ns.unwrap_or(0) as f64;
                    let at = units::digits((gap.from as f64 - began) / 1e9);
                    format!("{} at {at} s", units::time(length(gap) as f64))
                })
                .collect();
            format!(
                "{} over {over} without a completion, longest first: {} of the measurement",
                units::counted(count, "gap"),
                shown.join(", ")
            )
        }
    }
}

fn errors(action: Action, kind: &KindSummary) -> Vec<String> {
    let by_errno = kind.errors_by_errno.iter();
    by_errno
        .map(|entry| {
            let (name, meaning) = (errno::name(entry.errno.0), errno::meaning(entry.errno.0));
            let meaning = if meaning.is_empty() { String::new() } else { format!(" ({meaning})") };
            let count = units::count(entry.count);
            format!("{} failed {count} times with {name}{meaning}", action.word())
        })
        .collect()
}

/// The name of a cell with how often it was repeated.
pub(crate) fn cell_title(cell: &CellSummary) -> String {
    let mut text = format!("{} · over {} repetitions", cell.name, cell.repetitions);
    for (count, word) in [(cell.incomplete, "incomplete"), (cell.suspect, "suspect")] {
        if count > 0 {
            text.push_str(&format!(" ({count} {word} left out)"));
        }
    }
    text
}

/// Latencies over the repetitions of a cell: `mean 41.0 µs ± 0.4 %`; empty where there are none.
pub(crate) fn repeated_latencies(kind: &CellKind) -> Vec<String> {
    repeated(kind.response_ns.as_ref().or(kind.service_ns.as_ref()))
}

/// The same of commits, from the write to the end of its flush.
pub(crate) fn repeated_commits(kind: &CellKind) -> Vec<String> {
    repeated(kind.commit_ns.as_ref())
}

fn repeated(latency: Option<&LatencyEstimates>) -> Vec<String> {
    let figures = latency.map_or(Vec::new(), |latency| {
        [("mean", latency.mean), ("p50", latency.p50), ("p99", latency.p99)].to_vec()
    });
    let words = |(name, figure): (&str, Option<Estimate>)| {
        let figure = figure?;
        let half = units::half_width(&figure);
        Some(format!("{name} {} {half}", units::time(figure.value)))
    };
    figures.into_iter().filter_map(words).collect()
}

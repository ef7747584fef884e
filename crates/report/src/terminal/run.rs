//! The result of `drivelab run`: everything known of each stream, clearly.

use drivelab_core::op::Action;
use drivelab_core::plan::Role;
use drivelab_core::record::Begin;
use drivelab_core::summary::{
    CellSummary, DriveSummary, KindSummary, Latency, Rates, Reason, StepSummary, StreamSummary,
    Summary,
};
use drivelab_core::tally::Gap;
use drivelab_stats::Estimate;
use std::fmt::Write;

use crate::text::{Flush, columns, hanging, printable};
use crate::view::headline;
use crate::{errno, units};

/// Gaps and slow I/Os shown here; the run file and the report have more.
const SHOWN: usize = 5;
/// Repetitions of one preparing step shown here, the last ones.
const PREPARING_SHOWN: usize = 2;

/// Who shared the work, every step, every stream, every kind; then repetitions together; then
/// warnings.
pub fn run_summary(summary: &Summary, begin: &Begin) -> String {
    let mut text = super::check::heading(summary, &drivelab_core::facts::Facts::default());
    if let Some(line) = headline::processes(begin) {
        let _ = writeln!(text, "{line}");
    }
    let is_round = |one: &StepSummary, next: &StepSummary| {
        one.name == next.name && one.role != Role::Measure && next.role != Role::Measure
    };
    for rounds in summary.steps.chunk_by(is_round) {
        let left_out = rounds.len().saturating_sub(PREPARING_SHOWN);
        if let (Some(first), 1..) = (rounds.first(), left_out) {
            let _ = write!(
                text,
                "\n{} · repetitions 1 to {left_out}, {} steps, are in the report and --json\n",
                printable(&first.name),
                headline::role_word(first.role)
            );
        }
        for step in &rounds[left_out..] {
            text.push('\n');
            text.push_str(&step_text(step));
        }
    }
    let repeated: Vec<_> = summary.cells.iter().filter(|cell| cell.repetitions > 1).collect();
    for cell in repeated {
        text.push('\n');
        text.push_str(&cell_text(cell));
    }
    if summary.steps.is_empty() {
        text.push_str("\nno step was begun\n");
    }
    if !summary.warnings.is_empty() {
        text.push('\n');
        text.push_str(&super::warnings(&summary.warnings));
    }
    text
}

fn step_text(step: &StepSummary) -> String {
    let mut text = format!("{} · repetition {}", printable(&step.name), step.repetition);
    if step.role != Role::Measure {
        let _ = write!(text, " · {} step, no result", headline::role_word(step.role));
    }
    text.push('\n');
    if let Some(reason) = &step.incomplete {
        let words = format!("this step is incomplete: {reason}");
        text.push_str(&hanging("  INCOMPLETE", &printable(&words), 14));
    }
    for stream in &step.streams {
        text.push_str(&stream_text(stream));
    }
    text.push_str(&truth(step));
    if let Some(inside) = step.drive.as_ref().map(inside).filter(|words| !words.is_empty()) {
        text.push_str(&hanging("  inside", &inside, 14));
    }
    for device in &step.devices {
        let _ = writeln!(
            text,
            "  kernel  {}: {} reads ({}), {} writes ({}), {} flushes, busy {}",
            printable(&device.name),
            units::count(device.reads),
            units::size(device.read_bytes),
            units::count(device.writes),
            units::size(device.written_bytes),
            units::count(device.flushes),
            units::time(device.busy_ms as f64 * 1e6),
        );
    }
    for mismatch in step.mismatches.iter().take(SHOWN) {
        let words =
            format!("at offset {} of file {}: {}", mismatch.offset, mismatch.file, mismatch.what);
        text.push_str(&hanging("  wrong data", &printable(&words), 14));
    }
    text
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
        parts.push(format!("behind the page cache {read} read, {written} written"));
    }
    if let Some(busy) = drive.utilisation {
        parts.push(format!("dies busy {}", units::percent(busy)));
    }
    if let Some(days) = drive.lifetime_days {
        parts.push(format!("at this pace the cells last {}", units::days(days)));
    }
    parts.join("  ·  ")
}

/// What the truth guard says: each suspicion and note in words, what it could not check by name.
fn truth(step: &StepSummary) -> String {
    let mut text = String::new();
    let said = |reason: &&Reason| reason.code != "incomplete";
    for reason in step.reasons.iter().filter(said) {
        text.push_str(&hanging("  SUSPECT", &printable(&reason.text), 14));
    }
    if step.valid == Some(true) {
        text.push_str(match step.drive {
            None if is_disturbed(step) => "  valid       the device moved what was asked for\n",
            None => "  valid       the device moved what was asked for, and nothing disturbed it\n",
            Some(_) => "  valid       simulated: nothing else was there to disturb it\n",
        });
    }
    for note in &step.notes {
        text.push_str(&hanging("  note", &printable(&note.text), 14));
    }
    if step.role == Role::Measure && !step.unchecked.is_empty() {
        let names: Vec<String> =
            step.unchecked.iter().map(|reason| reason.code.replace('_', " ")).collect();
        text.push_str(&hanging("  not checked", &names.join(", "), 14));
    }
    text
}

/// Whether a note tells of something that may have held the load up.
fn is_disturbed(step: &StepSummary) -> bool {
    let codes = step.notes.iter().map(|note| note.code.as_str());
    codes.into_iter().any(|code| ["pressure", "steal", "rate_not_kept"].contains(&code))
}

fn stream_text(stream: &StreamSummary) -> String {
    let load = &stream.load;
    let mut parts = Vec::new();
    if !load.name.is_empty() {
        parts.push(printable(&load.name));
    }
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
    parts.push(match stream.seconds {
        Some(seconds) => format!("measured for {}", units::time(seconds * 1e9)),
        None => "nothing measured".to_owned(),
    });
    parts.retain(|part| !part.is_empty());
    let mut text = format!("  {}\n", parts.join(", "));
    for (action, kind) in &stream.kinds {
        text.push_str(&rate_line(action.word(), &kind.rates));
    }
    if data_kinds(stream) > 1 {
        text.push_str(&rate_line("total", &stream.total));
    }
    text.push_str(&latencies(stream));
    text.push_str(&details(stream));
    text
}

fn data_kinds(stream: &StreamSummary) -> usize {
    stream.kinds.keys().filter(|kind| **kind != Action::Flush).count()
}

/// `read 912 k/s ± 0.6 % (906 to 917 k/s, n 30), 3.73 GB/s; 9,120,334 I/Os, 34.8 GiB, 0 errors`.
fn rate_line(label: &str, rates: &Rates) -> String {
    let mut text = format!("    {label:<6} ");
    match &rates.iops {
        Some(iops) => text.push_str(&with_interval(iops)),
        None if label == "flush" && rates.ops > 0 => {
            text.push_str(headline::without_rate(Some(Action::Flush), rates));
        }
        None => text.push_str("rate unknown"),
    }
    if let Some(bandwidth) = &rates.bandwidth_bytes_per_s {
        let _ = write!(text, "  ·  {}", units::bandwidth(bandwidth.value));
    }
    let _ = write!(text, "  ·  {} I/Os", units::count(rates.ops));
    if rates.bytes > 0 {
        let _ = write!(text, ", {}", units::capacity(rates.bytes));
    }
    let noun = if rates.errors == 1 { "error" } else { "errors" };
    let _ = writeln!(text, ", {} {noun}", units::count(rates.errors));
    if let Some(why) = &rates.no_interval {
        text.push_str(&hanging("", &printable(&why.text), 11));
    }
    text
}

fn with_interval(iops: &Estimate) -> String {
    let rate = units::operations(iops.value);
    match units::interval(iops, units::operations_scale(iops.value)) {
        Some(interval) => {
            format!("{rate}  {} ({interval}, n {})", units::half_width(iops), iops.n)
        }
        None => format!("{rate}  no interval"),
    }
}

fn latencies(stream: &StreamSummary) -> String {
    let heads = ["", "min", "mean", "p50", "p90", "p99", "p99.9", "p99.99", "max"];
    let mut rows = vec![heads.map(str::to_owned).to_vec()];
    for (action, kind) in &stream.kinds {
        for (name, latency) in [
            ("submit", kind.submit_ns),
            ("service", kind.service_ns),
            ("response", kind.response_ns),
        ] {
            if let Some(latency) = latency {
                rows.push(latency_row(format!("{} {name}", action.word()), &latency));
            }
        }
    }
    if rows.len() == 1 {
        return String::new();
    }
    let mut flush = vec![Flush::Right; heads.len()];
    flush[0] = Flush::Left;
    let mut text = columns(&rows, &flush, 4);
    if rows.iter().flatten().any(|cell| cell == "–") {
        text.push_str("    – more I/Os are needed for this percentile\n");
    }
    text
}

fn latency_row(label: String, latency: &Latency) -> Vec<String> {
    let whole = |value: u64| units::time(value as f64);
    let percentile = |value: Option<u64>| value.map_or("–".to_owned(), whole);
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

fn details(stream: &StreamSummary) -> String {
    let mut text = String::new();
    let mut line = |words: String| {
        let _ = writeln!(text, "    {words}");
    };
    let mut cost = Vec::new();
    if let Some(depth) = stream.depth_reached {
        let reached = units::digits(depth);
        cost.push(format!("depth reached {reached} of {} per worker", stream.load.depth));
    }
    if let Some(cpu) = stream.engine_cpu_ns_per_op {
        cost.push(format!("{} of CPU time per I/O", units::time(cpu)));
    }
    if let Some(batch) = stream.ops_per_submit_call {
        cost.push(format!("{} I/Os per submitting call", units::digits(batch)));
    }
    if !cost.is_empty() {
        line(cost.join("  ·  "));
    }
    line(gaps(stream));
    if let Some(slow) = stream.slowest.first() {
        let (latency, kind) = (units::time(slow.latency_ns as f64), slow.kind.word());
        let cause = match slow.cause.is_unknown() {
            true => String::new(),
            false => format!(", longest in: {}", slow.cause.words()),
        };
        // An operation on a name has no offset; what stands there is the pass.
        let place = match stream.load.is_of_names() {
            true => format!("in pass {}", slow.offset + 1),
            false => format!("at offset {}", units::size(slow.offset)),
        };
        line(format!("slowest: {kind} of {latency} {place}{cause}"));
    }
    for (action, kind) in &stream.kinds {
        errors(*action, kind).into_iter().for_each(&mut line);
    }
    if let (Some(backlog), Some(late)) = (stream.backlog, stream.lateness) {
        line(format!(
            "issued {} late on average, {} at most; backlog at most {} I/Os",
            units::time(late.mean_ns),
            units::time(late.max_ns as f64),
            units::count(backlog),
        ));
    }
    if stream.verified > 0 {
        let (checked, wrong) = (units::count(stream.verified), units::count(stream.mismatched));
        line(format!("{checked} stamps checked, {wrong} wrong"));
    }
    text
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
                .take(SHOWN)
                .map(|gap| {
                    let began = stream.measured_from_ns.unwrap_or(0) as f64;
                    let at = units::digits((gap.from as f64 - began) / 1e9);
                    format!("{} at {at} s", units::time(length(gap) as f64))
                })
                .collect();
            let noun = if count == 1 { "gap" } else { "gaps" };
            format!(
                "{} {noun} over {over} without a completion, longest first: {} of the measurement",
                units::count(count),
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

/// The repetitions of one cell together.
fn cell_text(cell: &CellSummary) -> String {
    let mut text = format!("{} · over {} repetitions", printable(&cell.name), cell.repetitions);
    for (count, word) in [(cell.incomplete, "incomplete"), (cell.suspect, "suspect")] {
        if count > 0 {
            let _ = write!(text, " ({count} {word} left out)");
        }
    }
    text.push('\n');
    for stream in &cell.streams {
        for (action, kind) in &stream.kinds {
            text.push_str(&rate_line(action.word(), &kind.rates));
            let latency = kind.response_ns.as_ref().or(kind.service_ns.as_ref());
            let figures = latency.map_or(Vec::new(), |latency| {
                [("mean", latency.mean), ("p50", latency.p50), ("p99", latency.p99)].to_vec()
            });
            let shown: Vec<String> = figures
                .into_iter()
                .filter_map(|(name, figure)| {
                    let figure = figure?;
                    let half = units::half_width(&figure);
                    Some(format!("{name} {} {half}", units::time(figure.value)))
                })
                .collect();
            if !shown.is_empty() {
                let _ = writeln!(text, "           {}", shown.join("  ·  "));
            }
        }
    }
    text
}

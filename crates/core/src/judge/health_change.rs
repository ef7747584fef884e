//! What changed in what drives say of themselves while a run went on.

mod host_bytes;

pub(crate) use host_bytes::disagreement;

use crate::facts::{CRITICAL_WARNINGS, ErrorEntry, WearFacts};
use crate::health_log::{HealthReading, Span, whole};
use crate::quantity::counted;
use schemars::JsonSchema;
use serde::Serialize;

/// An interval of a write amplification wider than this, high by low, tells nothing.
const RATIO_MAX: f64 = 1.5;

/// What one drive counted of itself while a run went on, by its own logs.
#[derive(Debug, Clone, Default, PartialEq, Serialize, JsonSchema)]
pub struct HealthChange {
    /// Kernel name.
    pub device: String,
    /// Bytes that hosts wrote to it; all of them, not only this run.
    pub written_bytes: Option<u64>,
    /// Bytes that this kernel sent it to write meanwhile; null where that is not known of the same
    /// ends.
    pub kernel_written_bytes: Option<u64>,
    /// Bytes that hosts read from it.
    pub read_bytes: Option<u64>,
    /// The unit in which it counts what hosts wrote: `written_bytes` may be off by this.
    pub written_unit_bytes: Option<u64>,
    /// Bytes that it wrote to its flash.
    pub flash_written_bytes: Option<u64>,
    /// The unit in which it counts these.
    pub flash_written_unit_bytes: Option<u64>,
    /// Where it tells this.
    pub flash_written_from: Option<String>,
    /// Bytes to flash by byte of hosts.
    pub write_amplification: Option<WriteAmplification>,
    /// Degrees Celsius at the first reading and at the last.
    pub temperature_c: Option<(i32, i32)>,
    /// Percent of its rated endurance that it counted as used, first and last.
    pub used_percent: Option<(u32, u32)>,
    /// What it noted of errors in its log, the newest first; no more than it keeps of them.
    pub errors: Vec<ErrorEntry>,
    /// What else it counted, in sentences; empty: nothing that it counts.
    pub events: Vec<HealthEvent>,
}

/// Bytes to flash by byte of hosts, with what the drive's units leave open.
#[derive(Debug, Clone, Copy, PartialEq, Serialize, JsonSchema)]
pub struct WriteAmplification {
    /// By the counts as they are.
    pub value: f64,
    /// The least that it can be.
    pub low: f64,
    /// The most.
    pub high: f64,
}

/// Something that a drive counted of itself.
#[derive(Debug, Clone, PartialEq, Eq, Serialize, JsonSchema)]
pub struct HealthEvent {
    /// A word for machines.
    pub code: String,
    /// What happened, in words that follow the drive's name.
    pub text: String,
    /// Whether a number measured meanwhile may not be what the drive usually gives.
    pub is_suspicious: bool,
}

/// What each drive counted over a whole run, in the order in which they were met.
pub fn changes(readings: &[HealthReading]) -> Vec<HealthChange> {
    let mut devices: Vec<(&str, Vec<Span<'_>>)> = Vec::new();
    for span in whole(readings) {
        match devices.iter_mut().find(|(device, _)| *device == span.device) {
            Some((_, spans)) => spans.push(span),
            None => devices.push((span.device, vec![span])),
        }
    }
    devices.into_iter().filter_map(|(_, spans)| change(&spans)).collect()
}

fn change(spans: &[Span<'_>]) -> Option<HealthChange> {
    let (first, last) = (spans.first()?, spans.last()?);
    let total = |of: fn(&WearFacts) -> Option<u64>| -> Option<u64> {
        let grown = spans.iter().map(|span| of(span.after)?.checked_sub(of(span.before)?));
        grown.reduce(|all, next| all?.checked_add(next?)).flatten()
    };
    let written_bytes = total(|wear| wear.written_bytes);
    let flash_written_bytes = total(|wear| wear.flash_written_bytes);
    let unit = |of: fn(&WearFacts) -> Option<u64>| of(last.after)?.checked_mul(spans.len() as u64);
    let written = written_bytes.zip(unit(|wear| wear.written_unit_bytes));
    let flash = flash_written_bytes.zip(unit(|wear| wear.flash_written_unit_bytes));
    let both = |of: fn(&WearFacts) -> Option<u32>| of(first.before).zip(of(last.after));
    Some(HealthChange {
        device: first.device.to_owned(),
        written_bytes,
        read_bytes: total(|wear| wear.read_bytes),
        written_unit_bytes: last.after.written_unit_bytes,
        flash_written_bytes,
        flash_written_unit_bytes: last.after.flash_written_unit_bytes,
        flash_written_from: last.after.flash_written_from.clone(),
        write_amplification: flash
            .zip(written)
            .and_then(|(flash, host)| amplification(flash, host)),
        temperature_c: first.before.temperature_c.zip(last.after.temperature_c),
        used_percent: both(|wear| wear.used_percent),
        errors: spans.iter().rev().flat_map(new_errors).cloned().collect(),
        kernel_written_bytes: kernel_written_bytes(spans),
        events: spans.iter().flat_map(all_events).collect(),
    })
}

fn kernel_written_bytes(spans: &[Span<'_>]) -> Option<u64> {
    let sent = spans.iter().map(|span| span.kernel_written_bytes);
    sent.reduce(|all, next| all?.checked_add(next?)).flatten()
}

fn all_events(span: &Span<'_>) -> impl Iterator<Item = HealthEvent> {
    events(span).into_iter().chain(disagreement(span, ""))
}

/// Counts with their units; `None` where these leave too much open.
fn amplification(flash: (u64, u64), host: (u64, u64)) -> Option<WriteAmplification> {
    let ((flash, flash_unit), (host, host_unit)) = (flash, host);
    let ratio = |flash: u64, host: u64| flash as f64 / host as f64;
    let least = host.checked_sub(host_unit).filter(|least| *least > 0)?;
    let found = WriteAmplification {
        value: ratio(flash, host),
        low: ratio(flash.saturating_sub(flash_unit), host.saturating_add(host_unit)),
        high: ratio(flash.saturating_add(flash_unit), least),
    };
    (found.low > 0.0 && found.high / found.low <= RATIO_MAX).then_some(found)
}

/// A count that a drive keeps of itself, and what is said where it has grown.
struct Counter {
    code: &'static str,
    of: fn(&WearFacts) -> Option<u64>,
    /// What stands before the count, what is counted, and what follows.
    words: (&'static str, &'static str, &'static str),
    is_suspicious: bool,
}

const fn counter(
    code: &'static str,
    of: fn(&WearFacts) -> Option<u64>,
    words: (&'static str, &'static str, &'static str),
) -> Counter {
    Counter { code, of, words, is_suspicious: true }
}

const ERROR_ENTRIES: &str = "error_entries";

const COUNTERS: [Counter; 13] = [
    counter("media_errors", |it| it.media_errors, ("failed", "time", " to read or write data")),
    counter("reallocated", |it| it.reallocated_sectors, ("replaced", "sector", "")),
    counter("pending", |it| it.pending_sectors, ("could not read", "sector", "")),
    counter(
        "unreadable",
        |it| it.unreadable_sectors,
        ("could not read", "sector", " in a scan of its own"),
    ),
    counter(
        "link_errors",
        |it| it.link_errors,
        ("had", "transfer", " damaged on the way: look at cable and connector"),
    ),
    counter(
        "throttled",
        |it| it.throttled_times,
        ("slowed itself down", "time", " because of its temperature"),
    ),
    counter(
        "throttled_time",
        |it| it.throttled_s,
        ("was slowed down for", "second", " by its temperature"),
    ),
    counter(
        "hot",
        |it| it.warm_minutes.map(u64::from),
        ("was above its warning temperature for", "minute", ""),
    ),
    counter(
        "too_hot",
        |it| it.hot_minutes.map(u64::from),
        ("was above its critical temperature for", "minute", ""),
    ),
    counter("power_lost", |it| it.unsafe_shutdowns, ("lost its power", "time", " without notice")),
    counter("power_cycles", |it| it.power_cycles, ("was turned on", "time", "")),
    Counter {
        is_suspicious: false,
        ..counter("bad_blocks", |it| it.bad_blocks, ("gave up", "block", " of its flash"))
    },
    Counter {
        is_suspicious: false,
        ..counter(ERROR_ENTRIES, |it| it.error_entries, ("noted", "error", " in its log"))
    },
];

/// Entries of its error log that came between two readings, the newest first: no more than it
/// counted.
fn new_errors<'run>(span: &Span<'run>) -> impl Iterator<Item = &'run ErrorEntry> {
    let (before, after) = (span.before, span.after);
    let counted = after.error_entries.zip(before.error_entries);
    let grown = counted.and_then(|(after, before)| after.checked_sub(before)).unwrap_or(0);
    let is_new = |entry: &&ErrorEntry| before.errors.iter().all(|it| it.number != entry.number);
    after.errors.iter().filter(is_new).take(usize::try_from(grown).unwrap_or(usize::MAX))
}

/// The newest of these in words; nothing where the drive keeps none.
fn newest_error(span: &Span<'_>, count: u64) -> String {
    let before = if count == 1 { ": " } else { ", the newest: " };
    let newest = new_errors(span).next();
    newest.map(|entry| format!("{before}{}", entry.words())).unwrap_or_default()
}

/// What a drive counted between two readings.
pub fn events(span: &Span<'_>) -> Vec<HealthEvent> {
    let (before, after) = (span.before, span.after);
    let grown = |counter: &Counter| {
        let count = (counter.of)(after)?.checked_sub((counter.of)(before)?)?;
        let (first, what, rest) = counter.words;
        let amount = match (count, what) {
            (1, "time") => "once".to_owned(),
            _ => counted(count, what),
        };
        let newest = match counter.code {
            ERROR_ENTRIES => newest_error(span, count),
            _ => String::new(),
        };
        let text = format!("{first} {amount}{rest}{newest}");
        (count > 0).then(|| event(counter.code, text, counter.is_suspicious))
    };
    let mut found: Vec<HealthEvent> = COUNTERS.iter().filter_map(grown).collect();
    let news = after.critical_warning & !before.critical_warning;
    for (bit, words) in CRITICAL_WARNINGS.iter().enumerate() {
        if news >> bit & 1 == 1 {
            found.push(event("warns", format!("began to warn: {words}"), true));
        }
    }
    if after.failing == Some(true) && before.failing == Some(false) {
        found.push(event("fails", "began to say of itself that it fails".to_owned(), true));
    }
    found
}

fn event(code: &str, text: String, is_suspicious: bool) -> HealthEvent {
    HealthEvent { code: code.to_owned(), text, is_suspicious }
}

#[cfg(test)]
mod tests;

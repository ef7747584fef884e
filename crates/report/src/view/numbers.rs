//! The few big numbers that a run comes to.

use drivelab_core::findings::{Figure, Findings};
use drivelab_core::summary::{Latency, Summary};

use crate::units;
use crate::view::amounts;
use crate::view::headline::{self, Row};

/// More would be no headline.
pub(crate) const NUMBERS_MAX: usize = 6;
/// Of more streams than that only the rates are shown.
const STREAMS_FEW: usize = 3;

/// A big number with what belongs to it.
pub(crate) struct Number {
    pub(crate) label: String,
    pub(crate) value: String,
    /// The kind of operation that is counted, where the value is a rate of operations of one kind.
    pub(crate) of: &'static str,
    /// How sure it is, and what it rests on.
    pub(crate) small: Vec<String>,
}

/// At most six: what a study rests on; else of a single stream its rate and latencies, of a few the
/// first of them for each, of many their rates.
pub(crate) fn numbers(summary: &Summary, findings: &Findings) -> Vec<Number> {
    let rows: Vec<Row<'_>> = summary.cells.iter().flat_map(headline::rows).collect();
    let streams: Vec<&[Row<'_>]> = rows.chunk_by(|_, next| !next.is_whole()).collect();
    match (findings.figures.as_slice(), streams.as_slice()) {
        ([], []) => Vec::new(),
        ([], streams) if summary.cells.len() == 1 && streams.len() <= STREAMS_FEW => {
            let each = NUMBERS_MAX / streams.len();
            streams.iter().flat_map(|rows| of_stream(rows, each)).collect()
        }
        ([], many) => {
            many.iter().filter_map(|rows| rows.first()).take(NUMBERS_MAX).map(one_of_many).collect()
        }
        (figures, _) => figures.iter().take(NUMBERS_MAX).map(of_study).collect(),
    }
}

fn one_of_many(row: &Row<'_>) -> Number {
    let p99 = row.latency.and_then(|latency| latency.p99);
    let mut small = vec![row.margin()];
    small.extend(p99.map(|p99| format!("p99 {}", units::time(p99 as f64))));
    Number { label: row.full_label(), value: row.rate(), of: row.kind_word(), small }
}

fn of_study(figure: &Figure) -> Number {
    let margin = amounts::margin(figure).map(|margin| format!("{margin}, n {}", figure.estimate.n));
    let note = Some(figure.note.clone()).filter(|note| !note.is_empty());
    Number {
        label: figure.name.clone(),
        value: amounts::show(figure.estimate.value, figure.unit),
        of: "",
        small: margin.into_iter().chain(note).collect(),
    }
}

/// The first `count` numbers of a stream: its rate, its latencies, its other rate. Of a
/// mix the rates together and the latencies of each kind.
fn of_stream(rows: &[Row<'_>], count: usize) -> Vec<Number> {
    let Some((whole, parts)) = rows.split_first() else { return Vec::new() };
    let label = |row: &Row<'_>, what: &str| {
        let mark = whole.mark();
        format!("{mark}{}: {what}", row.short_label())
    };
    let why = whole.rates.no_interval.as_ref().map(|why| why.text.clone());
    let small = std::iter::once(whole.margin()).chain(why).collect();
    let rate =
        Number { label: label(whole, "rate"), value: whole.rate(), of: whole.kind_word(), small };
    let (what, other) = match whole.in_bytes() {
        true => ("operations", whole.rates.iops.map(|rate| (units::operations(rate.value), rate))),
        false => {
            let bandwidth = whole.rates.bandwidth_bytes_per_s;
            ("bandwidth", bandwidth.map(|rate| (units::bandwidth(rate.value), rate)))
        }
    };
    let other = other.map(|(value, rate)| Number {
        label: label(whole, what),
        value,
        of: whole.kind_word(),
        small: vec![headline::margin(&rate)],
    });
    let latencies = |row: &Row<'_>, most: usize| -> Vec<Number> {
        let label = |what: &str| label(row, what);
        let all = row.latency.iter().flat_map(|latency| latency_numbers(&label, latency));
        all.take(most).collect()
    };
    let mut numbers = vec![rate];
    if count == NUMBERS_MAX {
        numbers.extend(other);
    }
    match parts {
        [] => numbers.extend(latencies(whole, NUMBERS_MAX)),
        parts => {
            let each = count.saturating_sub(numbers.len()) / parts.len();
            numbers.extend(parts.iter().flat_map(|part| latencies(part, each.max(1))));
        }
    }
    numbers.truncate(count);
    numbers
}

fn latency_numbers(label: &dyn Fn(&str) -> String, latency: &Latency) -> Vec<Number> {
    let of = format!("of {}", units::counted(latency.count, "I/O"));
    let number = |what: &str, value: Option<u64>| {
        let value = value?;
        Some(Number {
            label: label(what),
            value: units::time(value as f64),
            of: "",
            small: vec![of.clone()],
        })
    };
    [
        number("median latency", latency.p50),
        number("p99", latency.p99),
        number("p99.9", latency.p99_9),
        number("slowest", Some(latency.max)),
    ]
    .into_iter()
    .flatten()
    .collect()
}

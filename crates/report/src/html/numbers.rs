//! The few big numbers of the first screen.

use drivelab_core::findings::{Figure, Findings};
use drivelab_core::summary::{Latency, Summary};
use std::fmt::Write;

use crate::headline::{self, Row};
use crate::html::escape;
use crate::{amounts, units};

/// More would be no headline.
pub(super) const NUMBERS_MAX: usize = 6;

/// A big number with what belongs to it.
struct Number {
    label: String,
    value: String,
    small: Vec<String>,
}

/// At most six: what a study rests on; else of a single cell its rate and latencies, of many cells
/// their rates.
pub(super) fn numbers(out: &mut String, summary: &Summary, findings: &Findings) {
    let rows: Vec<Row<'_>> = summary.cells.iter().flat_map(headline::rows).collect();
    let firsts: Vec<&Row<'_>> = rows.iter().filter(|row| row.is_first).collect();
    let numbers: Vec<Number> = match (findings.figures.as_slice(), firsts.as_slice()) {
        ([], []) => return,
        ([], [_]) => rows.iter().flat_map(single).take(NUMBERS_MAX).collect(),
        ([], many) => many.iter().take(NUMBERS_MAX).map(|row| one_of_many(row)).collect(),
        (figures, _) => figures.iter().take(NUMBERS_MAX).map(of_study).collect(),
    };
    out.push_str("<div class=\"numbers\">");
    for number in numbers {
        let _ = write!(
            out,
            "<div><span>{}</span><strong>{}</strong>",
            marked(&number.label),
            escape(&number.value)
        );
        for small in &number.small {
            let _ = write!(out, "<small>{}</small>", escape(small));
        }
        out.push_str("</div>");
    }
    out.push_str("</div>");
}

/// A label whose leading mark of doubt stands out.
fn marked(label: &str) -> String {
    for mark in ["SUSPECT", "INCOMPLETE"] {
        if let Some(rest) = label.strip_prefix(mark) {
            return format!("<b class=\"warn\">{mark}</b>{}", escape(rest));
        }
    }
    escape(label)
}

fn one_of_many(row: &Row<'_>) -> Number {
    let p99 = row.latency.and_then(|latency| latency.p99);
    let mut small = vec![row.margin()];
    small.extend(p99.map(|p99| format!("p99 {}", units::time(p99 as f64))));
    Number { label: row.full_label(), value: row.rate(), small }
}

fn of_study(figure: &Figure) -> Number {
    let margin = amounts::margin(figure).map(|margin| format!("{margin}, n {}", figure.estimate.n));
    let note = Some(figure.note.clone()).filter(|note| !note.is_empty());
    Number {
        label: figure.name.clone(),
        value: amounts::show(figure.estimate.value, figure.unit),
        small: margin.into_iter().chain(note).collect(),
    }
}

/// Of a mix the rates together and the latencies of each kind; else everything.
fn single(row: &Row<'_>) -> Vec<Number> {
    let label = |what: &str| format!("{}: {what}", row.short_label());
    let latencies = row.latency.map(|latency| latency_numbers(&label, &latency));
    if !row.is_first {
        return latencies.into_iter().flatten().take(2).collect();
    }
    let mut numbers =
        vec![Number { label: label("rate"), value: row.rate(), small: vec![row.margin()] }];
    let (what, other) = match row.in_bytes() {
        true => ("operations", row.rates.iops.map(|rate| (units::operations(rate.value), rate))),
        false => {
            let bandwidth = row.rates.bandwidth_bytes_per_s;
            ("bandwidth", bandwidth.map(|rate| (units::bandwidth(rate.value), rate)))
        }
    };
    numbers.extend(other.map(|(value, rate)| Number {
        label: label(what),
        value,
        small: vec![headline::margin(&rate)],
    }));
    numbers.extend(latencies.into_iter().flatten());
    numbers
}

fn latency_numbers(label: &dyn Fn(&str) -> String, latency: &Latency) -> Vec<Number> {
    let of = format!("of {} I/Os", units::count(latency.count));
    let number = |what: &str, value: Option<u64>| {
        let value = value?;
        Some(Number {
            label: label(what),
            value: units::time(value as f64),
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

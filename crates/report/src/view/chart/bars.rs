//! All cells as bars with error bars.

use drivelab_core::op::Action;
use drivelab_core::summary::Summary;
use drivelab_stats::Estimate;

use crate::units;
use crate::view::chart::{Axis, Bar, Body, Chart, Hue, Table, Unit};
use crate::view::headline::{self, Row};

/// This many bars are read out; the table has all.
const SAID_MAX: usize = 12;

/// The meaning of a kind.
pub(crate) fn hue(kind: Option<Action>) -> Hue {
    match kind {
        Some(Action::Read) => Hue::Read,
        Some(Action::Write) => Hue::Write,
        _ => Hue::Other,
    }
}

/// The cells as bars with error bars; one chart of bandwidth, one of IOPS,
/// those without cells left out.
pub fn bars(summary: &Summary) -> Vec<Chart> {
    let rows: Vec<Row<'_>> = summary.cells.iter().flat_map(headline::rows).collect();
    let (large, small): (Vec<_>, Vec<_>) = rows.into_iter().partition(Row::in_bytes);
    [(large, Unit::Bandwidth, "Bandwidth"), (small, Unit::Operations, "IOPS")]
        .into_iter()
        .filter_map(|(rows, unit, title)| bar_chart(&rows, unit, title))
        .collect()
}

/// What an axis of rates measures.
pub(super) fn quantity(unit: Unit) -> &'static str {
    match unit {
        Unit::Bandwidth => "bytes per second",
        _ => "IOPS",
    }
}

fn bar_chart(rows: &[Row<'_>], unit: Unit, title: &str) -> Option<Chart> {
    let bars: Vec<Bar> = rows.iter().filter_map(|row| bar(row, unit)).collect();
    let reach = |bar: &Bar| bar.interval.map_or(bar.value, |(_, high)| high.max(bar.value));
    let top = bars.iter().map(reach).filter(|value| value.is_finite()).fold(0.0, f64::max);
    if bars.is_empty() {
        return None;
    }
    let heads = ["cell", "rate", "95 % interval", "n", "truth"].map(str::to_owned).to_vec();
    let table_rows = rows.iter().filter_map(|row| bar_numbers(row, unit)).collect();
    let mut said: Vec<String> =
        bars.iter().map(|bar| format!("{} {}", bar.label, bar.text)).take(SAID_MAX).collect();
    if bars.len() > SAID_MAX {
        said.push(format!("and {} more in the table below", bars.len() - SAID_MAX));
    }
    let mut note = "Longer is faster. The thin line is the 95 % interval of the mean; where it is \
                    missing, the data support none. n counts the independent repeats."
        .to_owned();
    if bars.iter().any(|bar| bar.is_suspect) {
        note.push_str(" Hollow bars are suspect: the number may not be the drive's.");
    }
    Some(Chart {
        title: title.to_owned(),
        note,
        alt: format!("{title}, as bars: {}.", said.join("; ")),
        body: Body::Bars {
            axis: Axis {
                quantity: quantity(unit).to_owned(),
                unit,
                is_log: false,
                from: 0.0,
                to: if top > 0.0 { top } else { 1.0 },
            },
            bars,
        },
        table: Table { heads, rows: table_rows },
    })
}

fn estimate(row: &Row<'_>, unit: Unit) -> Option<Estimate> {
    match unit {
        Unit::Bandwidth => row.rates.bandwidth_bytes_per_s,
        _ => row.rates.iops,
    }
}

fn bar(row: &Row<'_>, unit: Unit) -> Option<Bar> {
    let estimate = estimate(row, unit).filter(|estimate| estimate.value.is_finite())?;
    Some(Bar {
        label: row.full_label(),
        value: estimate.value,
        interval: estimate.low.zip(estimate.high),
        text: format!("{} {}, n {}", row.rate(), units::half_width(&estimate), estimate.n),
        is_suspect: row.cell.valid == Some(false),
        hue: hue(row.kind),
    })
}

fn bar_numbers(row: &Row<'_>, unit: Unit) -> Option<Vec<String>> {
    let estimate = estimate(row, unit)?;
    let scale = match unit {
        Unit::Bandwidth => units::bandwidth_scale(estimate.value),
        _ => units::operations_scale(estimate.value),
    };
    let interval = units::interval(&estimate, scale).unwrap_or_else(|| "none".to_owned());
    let truth = headline::truth_word(row.cell.valid).to_owned();
    Some(vec![row.plain_label(), row.rate(), interval, estimate.n.to_string(), truth])
}

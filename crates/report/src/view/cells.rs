//! The numbers of all cells, and of every executed step.

use drivelab_core::findings::Findings;
use drivelab_core::summary::{StepSummary, Summary};

use crate::view::amounts::NOTHING;
use crate::view::block::Table;
use crate::view::headline::{self, Row};
use crate::{errno, units};

/// What must be known to read the table of cells.
const NOTE: &str = "Latencies are those of all repetitions together, from the due time in an open \
                    loop. – stands where the sample is too small for the percentile. Intervals \
                    are at 95 %, n is the number of independent repeats.";

/// One row for each cell, three for a mix.
pub(crate) fn cells(summary: &Summary, findings: &Findings) -> Table {
    let mut table = Table::headed([
        "cell",
        "size#",
        "load",
        "rate#",
        "95 % interval#",
        "n#",
        "mean#",
        "p50#",
        "p99#",
        "p99.9#",
        "max#",
        "truth",
        "remarks",
    ]);
    let rows = summary.cells.iter().flat_map(headline::rows);
    table.rows = rows.map(|row| cell_row(&row, findings)).collect();
    NOTE.clone_into(&mut table.note);
    table
}

fn cell_row(row: &Row<'_>, findings: &Findings) -> Vec<String> {
    let rate = match row.in_bytes() {
        true => {
            row.rates.bandwidth_bytes_per_s.map(|rate| (rate, units::bandwidth_scale(rate.value)))
        }
        false => row.rates.iops.map(|rate| (rate, units::operations_scale(rate.value))),
    };
    let interval = rate.and_then(|(rate, scale)| units::interval(&rate, scale));
    let whole = |value: Option<u64>| value.map_or(NOTHING.to_owned(), |ns| units::time(ns as f64));
    let latencies = match &row.latency {
        Some(latency) => [
            units::time(latency.mean),
            whole(latency.p50),
            whole(latency.p99),
            whole(latency.p99_9),
            units::time(latency.max as f64),
        ],
        None => Default::default(),
    };
    let mut remarks = Vec::new();
    if row.is_first {
        let of_cell = findings.remarks.iter().filter(|remark| remark.cell == row.cell.name);
        remarks.extend(of_cell.map(|remark| remark.text.clone()));
        remarks.extend(row.remarks());
    }
    let mut entries = vec![
        row.label.trim().to_owned(),
        headline::sizes(row.load),
        headline::depth(row.load),
        row.rate(),
        interval.unwrap_or_else(|| "none".to_owned()),
        rate.map_or(0, |(rate, _)| rate.n).to_string(),
    ];
    entries.extend(latencies);
    entries.push(match row.is_first {
        true => headline::truth_word(row.cell.valid).to_owned(),
        false => String::new(),
    });
    entries.push(remarks.join("; "));
    entries
}

/// One row for each executed step, stream and kind; `None` where none was begun.
pub(crate) fn steps(summary: &Summary) -> Option<Table> {
    let mut table = Table::headed([
        "step",
        "role",
        "repetition#",
        "kind",
        "truth",
        "I/Os#",
        "rate#",
        "bandwidth#",
        "depth reached#",
        "CPU per I/O#",
        "remarks",
    ]);
    table.title = match summary.steps.len() {
        0 => return None,
        1 => "The executed step".to_owned(),
        many => format!("All {many} executed steps, each repetition alone"),
    };
    table.rows = summary.steps.iter().flat_map(step_rows).collect();
    Some(table)
}

fn step_rows(step: &StepSummary) -> Vec<Vec<String>> {
    let mut rows = Vec::new();
    for stream in &step.streams {
        for (action, kind) in &stream.kinds {
            let number = |value: Option<String>| value.unwrap_or_else(|| units::UNKNOWN.to_owned());
            let bandwidth = kind.rates.bandwidth_bytes_per_s;
            let iops = kind.rates.iops.map(|rate| units::operations(rate.value));
            let none = || headline::without_rate(Some(*action), &kind.rates).to_owned();
            let mut remarks: Vec<String> =
                step.incomplete.iter().map(|reason| format!("incomplete: {reason}")).collect();
            let told = step.reasons.iter().filter(|reason| reason.code != "incomplete");
            remarks.extend(told.map(|reason| reason.text.clone()));
            remarks.extend(kind.errors_by_errno.iter().map(|entry| {
                format!("{} × {}", units::count(entry.count), errno::name(entry.errno.0))
            }));
            rows.push(vec![
                step.name.clone(),
                headline::role_word(step.role).to_owned(),
                step.repetition.to_string(),
                action.word().to_owned(),
                headline::truth_word(step.valid).to_owned(),
                units::count(kind.rates.ops),
                iops.unwrap_or_else(none),
                bandwidth.map_or(String::new(), |rate| units::bandwidth(rate.value)),
                number(stream.depth_reached.map(units::digits)),
                number(stream.engine_cpu_ns_per_op.map(units::time)),
                remarks.join("; "),
            ]);
        }
    }
    rows
}

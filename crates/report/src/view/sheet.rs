//! The numbers of a run as rows and columns, for programs that calculate.
//!
//! Units stand in the names of the columns; what is not known is empty, never zero.

use drivelab_core::op::Action;
use drivelab_core::summary::{
    CellKind, CellStream, CellSummary, KindSummary, Latency, Load, Rates, StepSummary,
    StreamSummary, Summary,
};
use drivelab_stats::Estimate;
use serde::Serialize;

use crate::view::headline;

/// One value of a row.
#[derive(Debug, Clone, PartialEq)]
pub(crate) enum Value {
    Text(String),
    Number(f64),
    Whole(u64),
    Empty,
}

/// A named column's value.
pub(crate) type Field = (String, Value);

/// Rows that all have the same columns.
#[derive(Debug, Clone, PartialEq)]
pub(crate) struct Sheet {
    pub(crate) heads: Vec<String>,
    pub(crate) rows: Vec<Vec<Value>>,
}

impl Sheet {
    fn of(rows: Vec<Vec<Field>>, heads: Vec<String>) -> Sheet {
        let values = |row: Vec<Field>| row.into_iter().map(|(_, value)| value).collect();
        Sheet { heads, rows: rows.into_iter().map(values).collect() }
    }

    /// Rows under the names that `model` has, which a run without any row has too.
    pub(crate) fn with_heads_of(rows: Vec<Vec<Field>>, model: Vec<Field>) -> Sheet {
        Sheet::of(rows, model.into_iter().map(|(name, _)| name).collect())
    }
}

pub(crate) fn text(value: impl Into<String>) -> Value {
    Value::Text(value.into())
}

pub(crate) fn number(value: Option<f64>) -> Value {
    value.filter(|value| value.is_finite()).map_or(Value::Empty, Value::Number)
}

pub(crate) fn whole(value: Option<u64>) -> Value {
    value.map_or(Value::Empty, Value::Whole)
}

/// The word that the format has for a choice.
fn word(choice: &impl Serialize) -> Value {
    match serde_json::to_value(choice) {
        Ok(serde_json::Value::String(word)) => Value::Text(word),
        _ => Value::Empty,
    }
}

pub(crate) fn field(name: &str, value: Value) -> Field {
    (name.to_owned(), value)
}

/// One row for each cell, stream and kind.
pub(crate) fn cells(summary: &Summary) -> Sheet {
    let mut rows = Vec::new();
    for cell in &summary.cells {
        for stream in &cell.streams {
            for (action, kind) in &stream.kinds {
                rows.push(cell_row(summary, cell, stream, *action, kind));
            }
        }
    }
    // An empty run has the same columns.
    let stream = empty_stream();
    let cell = empty_cell();
    let model = cell_row(summary, &cell, &stream, Action::Read, &CellKind::default());
    Sheet::with_heads_of(rows, model)
}

fn empty_cell() -> CellSummary {
    CellSummary {
        name: String::new(),
        repetitions: 0,
        incomplete: 0,
        suspect: 0,
        steps: Vec::new(),
        state: String::new(),
        valid: None,
        reasons: Vec::new(),
        drifts: Vec::new(),
        notes: Vec::new(),
        unchecked: Vec::new(),
        streams: Vec::new(),
    }
}

fn empty_stream() -> CellStream {
    CellStream {
        load: Load::of(&drivelab_core::plan::Stream::default()),
        seconds: 0.0,
        kinds: std::collections::BTreeMap::new(),
        total: Rates::default(),
        engine_cpu_ns_per_op: None,
        depth_reached: None,
        gap_count: None,
        gap_ns_longest: None,
        gap_over_ns: 0,
    }
}

fn cell_row(
    summary: &Summary,
    cell: &CellSummary,
    stream: &CellStream,
    action: Action,
    kind: &CellKind,
) -> Vec<Field> {
    let reasons: Vec<&str> = cell.reasons.iter().map(|reason| reason.code.as_str()).collect();
    let unchecked: Vec<&str> = cell.unchecked.iter().map(|reason| reason.code.as_str()).collect();
    let mut row = vec![
        field("drivelab_run", text(&summary.run)),
        field("cell", text(&cell.name)),
        field("stream", text(&stream.load.name)),
        field("kind", text(action.word())),
        field("truth", text(headline::truth_word(cell.valid).to_lowercase())),
        field("reasons", text(reasons.join(" "))),
        field("unchecked", text(unchecked.join(" "))),
        field("state", text(&cell.state)),
        field("repetitions", Value::Whole(u64::from(cell.repetitions))),
        field("incomplete_repetitions", Value::Whole(u64::from(cell.incomplete))),
        field("suspect_repetitions_left_out", Value::Whole(u64::from(cell.suspect))),
    ];
    row.extend(load(&stream.load));
    row.push(field("measured_s", number(Some(stream.seconds))));
    row.extend(rates(&kind.rates));
    for (name, latency) in [
        ("submit", kind.merged.submit_ns),
        ("service", kind.merged.service_ns),
        ("response", kind.merged.response_ns),
    ] {
        row.extend(latencies(name, latency));
    }
    row.push(field("depth_reached", number(stream.depth_reached.map(|depth| depth.value))));
    let cpu = stream.engine_cpu_ns_per_op.map(|cpu| cpu.value);
    row.push(field("cpu_ns_per_operation", number(cpu)));
    row.push(field("gaps", whole(stream.gap_count)));
    row.push(field("gap_longest_ns", whole(stream.gap_ns_longest)));
    row.push(field("gap_over_ns", Value::Whole(stream.gap_over_ns)));
    row
}

fn load(load: &Load) -> Vec<Field> {
    vec![
        field("engine", text(load.engine.word())),
        field("io", text(load.io.word())),
        field("sync", text(load.sync.to_string())),
        field("pattern", word(&load.pattern)),
        field("size_min_bytes", Value::Whole(load.size_bytes_min)),
        field("size_max_bytes", Value::Whole(load.size_bytes_max)),
        field("depth_per_worker", Value::Whole(u64::from(load.depth))),
        field("workers", Value::Whole(u64::from(load.workers))),
        field("rate_asked_per_s", number(load.rate)),
    ]
}

fn rates(rates: &Rates) -> Vec<Field> {
    let mut row = vec![
        field("operations", Value::Whole(rates.ops)),
        field("bytes", Value::Whole(rates.bytes)),
        field("errors", Value::Whole(rates.errors)),
    ];
    row.extend(estimate("iops", "per_s", rates.iops));
    row.extend(estimate("bandwidth", "bytes_per_s", rates.bandwidth_bytes_per_s));
    row
}

/// The value, the ends of its 95 % interval, and what it rests on.
fn estimate(name: &str, unit: &str, estimate: Option<Estimate>) -> Vec<Field> {
    vec![
        (format!("{name}_{unit}"), number(estimate.map(|one| one.value))),
        (format!("{name}_low95_{unit}"), number(estimate.and_then(|one| one.low))),
        (format!("{name}_high95_{unit}"), number(estimate.and_then(|one| one.high))),
        (format!("{name}_n"), whole(estimate.map(|one| one.n))),
    ]
}

fn latencies(name: &str, latency: Option<Latency>) -> Vec<Field> {
    let of = |pick: fn(&Latency) -> Option<u64>| whole(latency.as_ref().and_then(pick));
    vec![
        (format!("{name}_min_ns"), of(|one| Some(one.min))),
        (format!("{name}_mean_ns"), number(latency.map(|one| one.mean))),
        (format!("{name}_p50_ns"), of(|one| one.p50)),
        (format!("{name}_p90_ns"), of(|one| one.p90)),
        (format!("{name}_p99_ns"), of(|one| one.p99)),
        (format!("{name}_p99_9_ns"), of(|one| one.p99_9)),
        (format!("{name}_p99_99_ns"), of(|one| one.p99_99)),
        (format!("{name}_max_ns"), of(|one| Some(one.max))),
    ]
}

/// One row for each executed step, stream and kind.
pub(crate) fn steps(summary: &Summary) -> Sheet {
    let mut rows = Vec::new();
    for step in &summary.steps {
        for stream in &step.streams {
            for (action, kind) in &stream.kinds {
                rows.push(step_row(step, stream, *action, kind));
            }
        }
    }
    let heads = rows.first().map_or_else(
        || vec!["step".to_owned()],
        |row| row.iter().map(|(name, _)| name.clone()).collect(),
    );
    Sheet::of(rows, heads)
}

fn step_row(
    step: &StepSummary,
    stream: &StreamSummary,
    action: Action,
    kind: &KindSummary,
) -> Vec<Field> {
    let reasons: Vec<&str> = step.reasons.iter().map(|reason| reason.text.as_str()).collect();
    let mut row = vec![
        field("step", Value::Whole(u64::from(step.step))),
        field("name", text(&step.name)),
        field("role", text(headline::role_word(step.role))),
        field("repetition", Value::Whole(u64::from(step.repetition))),
        field("stream", text(&stream.load.name)),
        field("kind", text(action.word())),
        field("truth", text(headline::truth_word(step.valid).to_lowercase())),
        field("reasons", text(reasons.join("; "))),
        field("incomplete", text(step.incomplete.clone().unwrap_or_default())),
        field("measured_s", number(stream.seconds)),
    ];
    row.extend(rates(&kind.rates));
    for (name, latency) in
        [("submit", kind.submit_ns), ("service", kind.service_ns), ("response", kind.response_ns)]
    {
        row.extend(latencies(name, latency));
    }
    row.push(field("depth_reached", number(stream.depth_reached)));
    row.push(field("cpu_ns_per_operation", number(stream.engine_cpu_ns_per_op)));
    row
}

//! What rose or fell over the repetitions of a cell.

use crate::comparison::Metric;
use crate::op::Action;
use crate::quantity::{operations, time};
use crate::summary::{CellSummary, KindSummary, StepSummary};
use drivelab_stats::drift;
use schemars::JsonSchema;
use serde::Serialize;

/// A figure of a cell that did not stand still while it was repeated.
#[derive(Debug, Clone, PartialEq, Serialize, JsonSchema)]
pub struct Drifting {
    /// Which stream of the cell, from 0.
    pub stream: u32,
    /// Which kind of I/O.
    pub kind: Action,
    /// Its rate; of an open loop, whose rate was given, its mean latency.
    pub metric: Metric,
    /// Last by first, along the slope over all repetitions.
    pub ratio: f64,
    /// How likely chance alone would order the repetitions so.
    pub p: f64,
    /// A sentence.
    pub text: String,
}

impl CellSummary {
    /// Why its numbers must not be judged: it is suspect, or it drifts. `None`: they may be.
    pub fn against(&self) -> Option<String> {
        let suspect = self.reasons.iter().filter(|_| self.valid == Some(false));
        let texts: Vec<&str> = suspect
            .map(|reason| reason.text.as_str())
            .chain(self.drifts.iter().map(|drift| drift.text.as_str()))
            .collect();
        (self.valid == Some(false) || !texts.is_empty()).then(|| texts.join("; "))
    }
}

/// The figure of each repetition, in the order in which they were measured.
fn values(steps: &[&StepSummary], stream: usize, kind: Action, metric: Metric) -> Vec<f64> {
    let of = |kind: &KindSummary| match metric {
        Metric::Iops => kind.rates.iops.map(|iops| iops.value),
        _ => kind.response_ns.as_ref().map(|latency| latency.mean),
    };
    let value = |step: &&StepSummary| of(step.streams.get(stream)?.kinds.get(&kind)?);
    steps.iter().filter_map(value).collect()
}

/// What drifts in the repetitions that a cell rests on.
pub(super) fn drifts(steps: &[&StepSummary]) -> Vec<Drifting> {
    let Some(first) = steps.first() else { return Vec::new() };
    let mut found = Vec::new();
    for (stream, summary) in first.streams.iter().enumerate() {
        let metric = if summary.load.rate.is_some() { Metric::MeanNs } else { Metric::Iops };
        for kind in summary.kinds.keys().copied().filter(|kind| !kind.goes_along()) {
            let values = values(steps, stream, kind, metric);
            let Some(drift) = drift(&values, metric.delta()) else { continue };
            let stream = stream as u32;
            let text = sentence(kind, metric, &values);
            found.push(Drifting { stream, kind, metric, ratio: drift.ratio, p: drift.p, text });
        }
    }
    found
}

fn sentence(kind: Action, metric: Metric, values: &[f64]) -> String {
    let shown = |value: Option<&f64>| {
        let value = value.copied().unwrap_or(f64::NAN);
        if metric == Metric::Iops { operations(value) } else { time(value) }
    };
    let what = if metric == Metric::Iops { "rate" } else { "mean latency" };
    format!(
        "the {} {what} drifted from {} to {} over {} repetitions: their mean mixes different \
         states",
        kind.word(),
        shown(values.first()),
        shown(values.last()),
        values.len()
    )
}

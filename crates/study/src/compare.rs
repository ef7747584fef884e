//! `compare`: are two results different? Faster, slower, equivalent, or cannot tell.
//!
//! Every cell that both sides measured is one question of one family, whose p-values are adjusted
//! together. A cell that was suspect on either side is listed and not judged.

mod columns;
mod gate;
#[cfg(test)]
mod tests;

pub use columns::columns;
pub use gate::{Gate, Passed};

use drivelab_core::comparison::{Cell, Comparison, Metric, Sample};
use drivelab_core::facts::{DeviceFacts, Facts, TargetKind};
use drivelab_core::op::Action;
use drivelab_core::run::Run;
use drivelab_core::summary::{
    CellKind, CellStream, CellSummary, KindSummary, Latency, LatencyKind, StepSummary, Summary,
    cell_histogram,
};
use drivelab_stats::{Histogram, NoAnswer, Pair, centred, centred_at, judge_ordered};
use std::collections::BTreeSet;

/// Which latency of a kind is compared.
#[derive(Debug, Clone, Copy, PartialEq)]
enum Timed {
    /// That of the operation.
    Operation,
    /// From the first write to the end of the flush.
    Commit,
}

/// The figure of each repetition, moved so that their geometric mean is that of the cell: all
/// operations by all time, or what the latencies of all repetitions together give.
fn values(metric: Metric, of: Timed, each: &[&KindSummary], cell: Option<&CellKind>) -> Vec<f64> {
    let timed = |kind: &&KindSummary| kind.seconds.map(|time| (kind.rates.ops as f64, time));
    let latency = |kind: &KindSummary| match of {
        Timed::Operation => kind.response_ns.or(kind.service_ns),
        Timed::Commit => kind.commit_ns,
    };
    if metric == Metric::Iops {
        let rates: Vec<f64> = each.iter().filter_map(|kind| Some(kind.rates.iops?.value)).collect();
        let counts: Vec<(f64, f64)> = each.iter().filter_map(timed).collect();
        return match counts.len() == rates.len() {
            true => centred(&counts).unwrap_or(rates),
            false => rates,
        };
    }
    let figure = |latency: &Latency| match metric {
        Metric::P50Ns => latency.p50.map(|ns| ns as f64),
        Metric::P99Ns => latency.p99.map(|ns| ns as f64),
        Metric::P999Ns => latency.p99_9.map(|ns| ns as f64),
        Metric::MeanNs => Some(latency.mean),
        Metric::Iops | Metric::Numbers => None,
    };
    let values: Vec<f64> = each.iter().filter_map(|kind| figure(&latency(kind)?)).collect();
    let merged = cell.and_then(|cell| match of {
        Timed::Operation => cell.merged.response_ns.or(cell.merged.service_ns),
        Timed::Commit => cell.merged.commit_ns,
    });
    let centre = merged.and_then(|merged| figure(&merged));
    centre.and_then(|centre| centred_at(&values, centre).ok()).unwrap_or(values)
}

/// Whether other measurements came between most repetitions of a cell.
fn is_interleaved(cell: &CellSummary, summary: &Summary) -> bool {
    let between = |pair: &[u32]| {
        let other = |step: &StepSummary| {
            (pair[0] + 1..pair[1]).contains(&step.step) && step.name != cell.name
        };
        summary.steps.iter().any(other)
    };
    let pairs = cell.steps.windows(2);
    let apart = pairs.clone().filter(|pair| between(pair)).count();
    2 * apart > pairs.len()
}

/// One side of a comparison.
#[derive(Debug, Clone, PartialEq)]
pub struct Side {
    /// How it was called.
    pub name: String,
    /// What it measured.
    pub samples: Vec<Sample>,
    /// What describes the drive and the machine; the same keys on both sides.
    pub facts: NamedFacts,
    /// Whether each value is a run of its own.
    pub is_by_run: bool,
}

impl Side {
    /// A side of numbers: what several files say of one column belongs together.
    pub fn of_numbers(name: &str, files: &[Vec<Sample>]) -> Self {
        let mut samples: Vec<Sample> = Vec::new();
        for sample in files.iter().flatten() {
            match samples.iter_mut().find(|known| known.name == sample.name) {
                Some(known) => known.values.extend(&sample.values),
                None => samples.push(sample.clone()),
            }
        }
        Side { name: name.into(), samples, facts: Vec::new(), is_by_run: false }
    }

    /// A side whose every part is one run of its own, such as the output of another tool.
    pub fn of_parts(name: &str, parts: &[Vec<Sample>]) -> Self {
        let samples = if parts.len() > 1 { by_run(parts) } else { parts.concat() };
        Side { name: name.into(), samples, facts: Vec::new(), is_by_run: parts.len() > 1 }
    }

    /// A side of runs. Of one run, the repetitions are the values; of several, or where the other
    /// side has several (`is_by_run`), each run is one value, for only runs were made again.
    ///
    /// # Errors
    /// No run.
    pub fn of_runs(
        name: &str,
        runs: &[(Summary, Facts)],
        metrics: &[Metric],
        is_by_run: bool,
    ) -> Result<Self, String> {
        if runs.is_empty() {
            return Err(format!("{name} names no run"));
        }
        let each: Vec<Vec<Sample>> =
            runs.iter().map(|(summary, _)| samples(summary, metrics)).collect();
        let is_by_run = is_by_run || runs.len() > 1;
        let samples = if is_by_run { by_run(&each) } else { each.concat() };
        let facts = runs.iter().map(|(_, facts)| comparable_facts(facts)).reduce(joined);
        Ok(Side { name: name.into(), samples, facts: facts.unwrap_or_default(), is_by_run })
    }
}

/// The facts of two runs of one side: both values where they differ.
fn joined(one: NamedFacts, other: NamedFacts) -> NamedFacts {
    let both = one.into_iter().zip(other);
    both.map(|((name, one), (_, other))| match one.split(" and ").any(|known| known == other) {
        true => (name, one),
        false => (name, format!("{one} and {other}")),
    })
    .collect()
}

/// What describes the drive and the machine.
type NamedFacts = Vec<(&'static str, String)>;

/// The values of the repetitions of each cell of a run.
fn samples(summary: &Summary, metrics: &[Metric]) -> Vec<Sample> {
    summary.cells.iter().flat_map(|cell| cell_samples(cell, summary, metrics)).collect()
}

/// What the commits of a stream of a cell are called.
fn commit_name(cell: &CellSummary, stream: &CellStream) -> String {
    match (cell.streams.len(), stream.load.name.as_str()) {
        (1, _) | (_, "") => format!("{}, write + flush", cell.name),
        (_, stream) => format!("{}, {stream}, write + flush", cell.name),
    }
}

/// The values of the repetitions of one cell.
pub(crate) fn cell_samples(
    cell: &CellSummary,
    summary: &Summary,
    metrics: &[Metric],
) -> Vec<Sample> {
    let steps: Vec<&StepSummary> =
        summary.steps.iter().filter(|step| cell.steps.contains(&step.step)).collect();
    let is_ordered = !is_interleaved(cell, summary);
    let mut found = Vec::new();
    for (index, stream) in cell.streams.iter().enumerate() {
        for kind in stream.kinds.keys().copied() {
            // How many flushes there are follows from the writes; how long they take does not.
            let is_asked = |metric: &&Metric| !kind.goes_along() || **metric != Metric::Iops;
            for metric in metrics.iter().filter(is_asked) {
                let each: Vec<&KindSummary> = steps
                    .iter()
                    .filter_map(|step| step.streams.get(index)?.kinds.get(&kind))
                    .collect();
                let name = sample_name(cell, stream, kind);
                let commit = commit_name(cell, stream);
                for (name, of) in [(name, Timed::Operation), (commit, Timed::Commit)] {
                    // A commit has latencies only: its rate is that of the flushes.
                    if of == Timed::Commit && *metric == Metric::Iops {
                        continue;
                    }
                    let values = values(*metric, of, &each, stream.kinds.get(&kind));
                    let suspect = cell.against();
                    found.push(Sample { name, metric: *metric, values, is_ordered, suspect });
                }
            }
        }
    }
    found.retain(|sample| !sample.values.is_empty());
    found
}

/// The latencies of every cell that is compared, over its repetitions that count, under the name
/// of its sample.
pub fn cell_latencies(run: &Run, summary: &Summary) -> Vec<(String, Histogram)> {
    let mut found = Vec::new();
    for cell in &summary.cells {
        for (index, stream) in cell.streams.iter().enumerate() {
            for kind in stream.kinds.keys().copied() {
                let of = |latency| cell_histogram(run, &cell.steps, index as u32, kind, latency);
                let response = of(LatencyKind::Response).filter(|found| !found.is_empty());
                let merged = response.or_else(|| of(LatencyKind::Service));
                found.extend(merged.map(|merged| (sample_name(cell, stream, kind), merged)));
            }
        }
    }
    found
}

/// What a kind of a stream of a cell is called: like its cell where there is but one.
fn sample_name(cell: &CellSummary, stream: &CellStream, kind: Action) -> String {
    let is_only = cell.streams.len() == 1 && stream.kinds.len() == 1;
    match (is_only, stream.load.name.as_str()) {
        (true, _) => cell.name.clone(),
        (false, "") => format!("{}, {}", cell.name, kind.word()),
        (false, stream) => format!("{}, {stream}, {}", cell.name, kind.word()),
    }
}

/// One value for each run: the geometric mean of its repetitions.
fn by_run(runs: &[Vec<Sample>]) -> Vec<Sample> {
    let mut all: Vec<Sample> = Vec::new();
    for sample in runs.iter().flatten() {
        let logs: f64 = sample.values.iter().map(|value| value.ln()).sum();
        let value = (logs / sample.values.len() as f64).exp();
        let same = |known: &&mut Sample| known.name == sample.name && known.metric == sample.metric;
        match all.iter_mut().find(same) {
            Some(known) => {
                known.values.push(value);
                known.suspect = known.suspect.take().or_else(|| sample.suspect.clone());
            }
            None => all.push(Sample { values: vec![value], is_ordered: false, ..sample.clone() }),
        }
    }
    all
}

/// What must be alike for a difference to be one of what was changed on purpose.
pub(crate) fn comparable_facts(facts: &Facts) -> NamedFacts {
    let target = &facts.target;
    let drive = target.devices.last();
    let text = |value: Option<String>| value.unwrap_or_else(|| UNKNOWN.into());
    let of_drive = |of: fn(&DeviceFacts) -> Option<String>| text(drive.and_then(of));
    let simulated = (target.kind == TargetKind::Simulated).then(|| target.path.clone());
    vec![
        ("simulated drive", text(simulated)),
        ("drive", of_drive(|drive| drive.model.clone())),
        ("serial number", of_drive(|drive| drive.serial.clone())),
        ("firmware", of_drive(|drive| drive.firmware.clone())),
        ("file system", text(target.filesystem.as_ref().map(|it| it.kind.clone()))),
        ("kernel", text(facts.host.kernel.clone())),
        ("CPU", text(facts.host.cpu_model.clone())),
    ]
}

/// Says that a fact is not known.
const UNKNOWN: &str = "unknown";

/// Compares two sides. `delta` replaces the thresholds of the metrics.
///
/// # Errors
/// No cell in common, or values that nothing can be said of.
pub fn compare(before: &Side, after: &Side, delta: Option<f64>) -> Result<Comparison, String> {
    let both: Vec<(&Sample, &Sample)> =
        before.samples.iter().filter_map(|sample| Some((sample, same(after, sample)?))).collect();
    if both.is_empty() {
        return Err(format!(
            "{} and {} have no cell in common, so there is nothing to compare: {} against {}\n\
             Drives are compared under one load: type the same for both. \
             What one drive does under several loads stands in `drivelab report RUN`.",
            before.name,
            after.name,
            names(&before.samples),
            names(&after.samples)
        ));
    }
    let is_sound =
        |pair: &&(&Sample, &Sample)| pair.0.suspect.is_none() && pair.1.suspect.is_none();
    let sound: Vec<&(&Sample, &Sample)> = both.iter().filter(is_sound).collect();
    let family: Vec<(Pair<'_>, bool)> = sound
        .iter()
        .map(|(before, after)| {
            let delta = delta.unwrap_or_else(|| before.metric.delta());
            let pair = Pair { before: &before.values, after: &after.values, delta };
            (pair, before.is_ordered || after.is_ordered)
        })
        .collect();
    let judged = judge_ordered(&family).map_err(|why| unusable(&sound, why))?;
    let mut cells: Vec<Cell> = sound
        .iter()
        .zip(judged)
        .map(|((before, after), judged)| Cell {
            verdict: Some(judged.verdict),
            ratio: Some(judged.ratio),
            p_adjusted: judged.p_adjusted,
            needs_n: judged.needs_n,
            open: judged.open,
            ..cell(before, after)
        })
        .collect();
    cells.sort_by(|a, b| a.gain().total_cmp(&b.gain()).then_with(|| a.name.cmp(&b.name)));
    cells.extend(both.iter().filter(|pair| !is_sound(pair)).map(|pair| cell(pair.0, pair.1)));
    Ok(Comparison {
        before: before.name.clone(),
        after: after.name.clone(),
        cells,
        only_before: lonely(before, after),
        only_after: lonely(after, before),
        differences: differences(before, after),
        is_by_run: before.is_by_run || after.is_by_run,
        delta,
    })
}

fn cell(before: &Sample, after: &Sample) -> Cell {
    Cell {
        name: before.name.clone(),
        metric: before.metric,
        verdict: None,
        ratio: None,
        p_adjusted: None,
        needs_n: None,
        open: None,
        values: centre(&before.values).zip(centre(&after.values)),
        n: (before.values.len(), after.values.len()),
        suspect: before.suspect.clone().or_else(|| after.suspect.clone()),
    }
}

/// The figure of all values together: their geometric mean, see [`Sample`].
fn centre(values: &[f64]) -> Option<f64> {
    let logs: f64 = values.iter().map(|value| value.ln()).sum();
    let centre = (logs / values.len() as f64).exp();
    (centre.is_finite() && centre > 0.0).then_some(centre)
}

fn same<'a>(side: &'a Side, sample: &Sample) -> Option<&'a Sample> {
    side.samples.iter().find(|other| other.name == sample.name && other.metric == sample.metric)
}

fn lonely(side: &Side, other: &Side) -> Vec<String> {
    let lonely = side.samples.iter().filter(|sample| same(other, sample).is_none());
    let is_one = |sample: &Sample| side.samples.iter().all(|it| it.metric == sample.metric);
    let called = |sample: &Sample| match is_one(sample) {
        true => sample.name.clone(),
        false => format!("{}, {}", sample.name, sample.metric.words()),
    };
    lonely.map(called).collect::<BTreeSet<_>>().into_iter().collect()
}

fn names(samples: &[Sample]) -> String {
    let names: BTreeSet<&str> = samples.iter().map(|sample| sample.name.as_str()).collect();
    let shown: Vec<&str> = names.iter().copied().take(3).collect();
    let more = if names.len() > shown.len() { " …" } else { "" };
    if shown.is_empty() {
        "no measured cell at all".into()
    } else {
        format!("{}{more}", shown.join(", "))
    }
}

/// The first cell whose values cannot be compared.
fn unusable(pairs: &[&(&Sample, &Sample)], why: NoAnswer) -> String {
    let is_bad = |values: &[f64]| {
        values.is_empty() || !values.iter().all(|value| value.is_finite() && *value > 0.0)
    };
    let bad = pairs.iter().find(|pair| is_bad(&pair.0.values) || is_bad(&pair.1.values));
    let name = bad.map_or("a cell", |pair| pair.0.name.as_str());
    format!("{name} cannot be compared: {why}")
}

fn differences(before: &Side, after: &Side) -> Vec<String> {
    let known = |value: &String| value != UNKNOWN;
    let pairs = before.facts.iter().zip(&after.facts);
    pairs
        .filter(|(x, y)| x.1 != y.1 && known(&x.1) && known(&y.1))
        .map(|(x, y)| format!("{}: {} before, {} after", x.0, x.1, y.1))
        .collect()
}

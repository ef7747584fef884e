//! Cells: what the repetitions of one name say together.

use crate::findings::Findings;
use crate::op::Action;
use crate::plan::Role;
use crate::quantity::{bandwidth, operations};
use crate::run::Run;
use crate::summary::drifts::drifts;
use crate::summary::streams::{LatencyKind, cell_histogram};
use crate::summary::{
    CellKind, CellStream, CellSummary, Latency, LatencyEstimates, MergedLatency, Rates, Reason,
    StepSummary, StreamSummary, summarise_step,
};
use drivelab_stats::{Estimate, centred_at};
use std::collections::{BTreeMap, BTreeSet};

/// Repetitions without suspicion that a cell needs before it may leave the suspect ones out; they
/// must be the larger part too.
const CLEAN_NEEDED: usize = 3;

/// Rates of operations of at least so many bytes are told in bytes.
const TOLD_IN_BYTES: f64 = (32 << 10) as f64;

/// What a cell rests on: its complete repetitions, or all if none is complete. Suspect ones are
/// left out where at least [`CLEAN_NEEDED`] others stand, more than were suspect. Blocks that are
/// not what was written are the drive's own doing: nothing of them is left out.
fn split<'steps>(
    all: &[&'steps StepSummary],
) -> (Vec<&'steps StepSummary>, Vec<&'steps StepSummary>) {
    let complete: Vec<&StepSummary> =
        all.iter().copied().filter(|step| step.incomplete.is_none()).collect();
    let ended = if complete.is_empty() { all.to_vec() } else { complete };
    let (suspect, clean): (Vec<&StepSummary>, Vec<&StepSummary>) =
        ended.iter().partition(|step| step.valid == Some(false));
    let mismatched = suspect.iter().flat_map(|step| &step.reasons);
    let is_corrupt = mismatched.into_iter().any(|reason| reason.code == "mismatches");
    match !is_corrupt && clean.len() >= CLEAN_NEEDED && clean.len() > suspect.len() {
        true => (clean, suspect),
        false => (ended, Vec::new()),
    }
}

/// One cell for each name of a measuring step with streams, in order of first appearance.
pub(super) fn cells(run: &Run, steps: &[StepSummary]) -> Vec<CellSummary> {
    let mut seen = BTreeSet::new();
    let measured = |step: &&StepSummary| step.role == Role::Measure && !step.streams.is_empty();
    let first = steps.iter().filter(measured).filter(|step| seen.insert(&step.name));
    first.map(|step| cell(run, steps, &step.name)).collect()
}

/// The numbers of one cell, from the steps of its name so far; `None` where none was measured.
pub fn summarise_cell(run: &Run, name: &str) -> Option<CellSummary> {
    let is_of_it = |at: &usize| run.steps[*at].begin.name == name;
    let of_it = (0..run.steps.len()).filter(is_of_it);
    let steps: Vec<StepSummary> = of_it.map(|at| summarise_step(run, at)).collect();
    cells(run, &steps).pop()
}

fn cell(run: &Run, steps: &[StepSummary], name: &str) -> CellSummary {
    let all: Vec<&StepSummary> =
        steps.iter().filter(|step| step.role == Role::Measure && step.name == name).collect();
    let (used, suspect) = split(&all);
    let width = used.iter().map(|step| step.streams.len()).max().unwrap_or(0);
    let numbers: Vec<u32> = used.iter().map(|step| step.step).collect();
    let notes = each_once(&used, |step| &step.notes);
    let streams = (0..width).filter_map(|stream| cell_stream(run, &numbers, &used, stream));
    CellSummary {
        name: name.to_owned(),
        repetitions: used.len() as u32,
        incomplete: all.iter().filter(|step| step.incomplete.is_some()).count() as u32,
        suspect: suspect.len() as u32,
        steps: numbers.clone(),
        state: all.first().map_or_else(String::new, |step| step.state.clone()),
        valid: together(&used),
        reasons: each_once(&used, |step| &step.reasons),
        drifts: drifts(&used),
        notes: left_out(&suspect, used.len()).into_iter().chain(notes).collect(),
        unchecked: each_once(&used, |step| &step.unchecked),
        streams: streams.collect(),
    }
}

/// One suspect repetition makes the cell suspect; it is valid only if all are.
fn together(steps: &[&StepSummary]) -> Option<bool> {
    if steps.iter().any(|step| step.valid == Some(false)) {
        return Some(false);
    }
    steps.iter().all(|step| step.valid == Some(true)).then_some(true)
}

/// Each code once, with the words of its first repetition and how many have it.
fn each_once(steps: &[&StepSummary], of: fn(&StepSummary) -> &Vec<Reason>) -> Vec<Reason> {
    let mut found: Vec<(Reason, usize)> = Vec::new();
    for reason in steps.iter().flat_map(|step| of(step)) {
        match found.iter_mut().find(|(known, _)| known.code == reason.code) {
            Some((_, count)) => *count += 1,
            None => found.push((reason.clone(), 1)),
        }
    }
    let all = steps.len();
    let with_count = |(mut reason, count): (Reason, usize)| {
        if all > 1 && count < all {
            reason.text = format!("{} ({count} of {all} repetitions)", reason.text);
        }
        reason
    };
    found.into_iter().map(with_count).collect()
}

/// The repetitions that a cell does not rest on, with what spoke against them.
fn left_out(suspect: &[&StepSummary], used: usize) -> Option<Reason> {
    let against = each_once(suspect, |step| &step.reasons);
    let texts: Vec<&str> = against.iter().map(|reason| reason.text.as_str()).collect();
    let (count, all) = (suspect.len(), suspect.len() + used);
    let verb = if count == 1 { "was" } else { "were" };
    (count > 0).then(|| Reason {
        code: "suspect_left_out".to_owned(),
        text: format!(
            "{count} of {all} repetitions {verb} suspect and left out: {}",
            texts.join("; ")
        ),
    })
}

fn cell_stream(
    run: &Run,
    numbers: &[u32],
    steps: &[&StepSummary],
    stream: usize,
) -> Option<CellStream> {
    let repeats: Vec<&StreamSummary> =
        steps.iter().filter_map(|step| step.streams.get(stream)).collect();
    let first = repeats.first()?;
    let found: BTreeSet<Action> =
        repeats.iter().flat_map(|repeat| repeat.kinds.keys().copied()).collect();
    let kinds = found
        .into_iter()
        .map(|kind| (kind, cell_kind(&repeats, kind, merged(run, numbers, stream as u32, kind))));
    let gap_counts: Option<Vec<u64>> = repeats.iter().map(|repeat| repeat.gaps.count).collect();
    Some(CellStream {
        load: first.load.clone(),
        seconds: repeats.iter().filter_map(|repeat| repeat.seconds).sum(),
        kinds: kinds.collect::<BTreeMap<_, _>>(),
        total: rates(&repeats, |repeat| Some((&repeat.total, repeat.seconds))),
        engine_cpu_ns_per_op: mean(&repeats, |repeat| repeat.engine_cpu_ns_per_op),
        depth_reached: mean(&repeats, |repeat| repeat.depth_reached),
        gap_count: gap_counts.map(|counts| counts.iter().sum()),
        gap_ns_longest: repeats.iter().filter_map(|repeat| repeat.gaps.longest_ns).max(),
        gap_over_ns: first.gaps.over_ns,
    })
}

fn merged(run: &Run, steps: &[u32], stream: u32, kind: Action) -> MergedLatency {
    let latency =
        |which| cell_histogram(run, steps, stream, kind, which).as_ref().and_then(Latency::of);
    MergedLatency {
        submit_ns: latency(LatencyKind::Submit),
        service_ns: latency(LatencyKind::Service),
        response_ns: latency(LatencyKind::Response),
        commit_ns: latency(LatencyKind::Commit),
    }
}

fn cell_kind(repeats: &[&StreamSummary], kind: Action, merged: MergedLatency) -> CellKind {
    let of = |which: fn(&crate::summary::KindSummary) -> Option<Latency>,
              of_all: fn(&MergedLatency) -> Option<Latency>| {
        let each: Option<Vec<Latency>> =
            repeats.iter().map(|repeat| repeat.kinds.get(&kind).and_then(which)).collect();
        each.map(|each| estimates(&each, of_all(&merged)))
    };
    CellKind {
        rates: rates(repeats, |repeat| {
            let kind = repeat.kinds.get(&kind)?;
            Some((&kind.rates, kind.seconds))
        }),
        submit_ns: of(|kind| kind.submit_ns, |merged| merged.submit_ns),
        service_ns: of(|kind| kind.service_ns, |merged| merged.service_ns),
        response_ns: of(|kind| kind.response_ns, |merged| merged.response_ns),
        commit_ns: of(|kind| kind.commit_ns, |merged| merged.commit_ns),
        merged,
    }
}

/// Sums of the counts; rates as total count by total time with the interval of the repeats, or
/// for a single repetition the one from within it.
fn rates<'a>(
    repeats: &[&'a StreamSummary],
    of: impl Fn(&'a StreamSummary) -> Option<(&'a Rates, Option<f64>)>,
) -> Rates {
    let each: Vec<(Rates, Option<f64>)> = repeats
        .iter()
        .map(|repeat| match of(repeat) {
            Some((rates, seconds)) => (rates.clone(), seconds),
            // Its turn did not come: the time was that of the actions before it.
            None if repeat.load.is_of_names() => (Rates::default(), None),
            None => (Rates::default(), repeat.seconds),
        })
        .collect();
    if let [(only, _)] = each.as_slice() {
        return only.clone();
    }
    let timed = |count: fn(&Rates) -> u64| -> Vec<(f64, f64)> {
        each.iter().filter_map(|(rates, time)| Some((count(rates) as f64, (*time)?))).collect()
    };
    let moves_data = each.iter().any(|(rates, _)| rates.bandwidth_bytes_per_s.is_some());
    let ops = timed(|rates| rates.ops);
    let iops =
        Estimate::rate_of(&ops).filter(|_| each.iter().any(|(rates, _)| rates.iops.is_some()));
    let no_interval = iops.as_ref().and_then(|iops| {
        let bytes = timed(|rates| rates.bytes);
        not_repeatable(&ops, &bytes, iops)
    });
    Rates {
        no_interval,
        ops: each.iter().map(|(rates, _)| rates.ops).sum(),
        bytes: each.iter().map(|(rates, _)| rates.bytes).sum(),
        errors: each.iter().map(|(rates, _)| rates.errors).sum(),
        iops,
        bandwidth_bytes_per_s: Estimate::rate_of(&timed(|rates| rates.bytes))
            .filter(|_| moves_data),
    }
}

/// That the repetitions differ too much for an interval, and between what they lie: in bytes where
/// the operations are large.
fn not_repeatable(ops: &[(f64, f64)], bytes: &[(f64, f64)], iops: &Estimate) -> Option<Reason> {
    let per_s = |counts: &[(f64, f64)]| -> Vec<f64> {
        counts.iter().map(|(count, seconds)| count / seconds).collect()
    };
    let rates = per_s(ops);
    Estimate::is_not_repeatable(&rates, iops).then(|| {
        let total = |counts: &[(f64, f64)]| counts.iter().map(|(count, _)| count).sum::<f64>();
        let is_large = total(bytes) >= TOLD_IN_BYTES * total(ops);
        let (told, written): (_, fn(f64) -> String) = match is_large {
            true => (per_s(bytes), bandwidth),
            false => (rates, operations),
        };
        let low = told.iter().copied().fold(f64::INFINITY, f64::min);
        let high = told.iter().copied().fold(0.0, f64::max);
        Reason {
            code: "not_repeatable".into(),
            text: format!(
                "not repeatable: {} repetitions from {} to {}",
                told.len(),
                written(low),
                written(high)
            ),
        }
    })
}

/// The figures of all I/Os of all repetitions, `merged`, each with the spread of the repetitions.
fn estimates(each: &[Latency], merged: Option<Latency>) -> LatencyEstimates {
    let over = |figure: fn(&Latency) -> Option<f64>| {
        let centre = merged.as_ref().and_then(figure)?;
        let values: Option<Vec<f64>> = each.iter().map(figure).collect();
        let centred = values.and_then(|values| centred_at(&values, centre).ok());
        let spread = centred.and_then(|values| Estimate::centre_of(&values));
        Some(Estimate {
            value: centre,
            ..spread.unwrap_or(Estimate::point(centre, each.len() as u64))
        })
    };
    let extreme = |figure: fn(&Latency) -> u64| {
        merged.as_ref().map(|merged| Estimate::point(figure(merged) as f64, each.len() as u64))
    };
    LatencyEstimates {
        min: extreme(|latency| latency.min),
        mean: over(|latency| Some(latency.mean)),
        max: extreme(|latency| latency.max),
        p50: over(|latency| latency.p50.map(|value| value as f64)),
        p90: over(|latency| latency.p90.map(|value| value as f64)),
        p99: over(|latency| latency.p99.map(|value| value as f64)),
        p99_9: over(|latency| latency.p99_9.map(|value| value as f64)),
        p99_99: over(|latency| latency.p99_99.map(|value| value as f64)),
    }
}

/// The mean over repetitions; `None` when one of them does not know.
fn mean(
    repeats: &[&StreamSummary],
    figure: impl Fn(&StreamSummary) -> Option<f64>,
) -> Option<Estimate> {
    let values: Option<Vec<f64>> = repeats.iter().map(|repeat| figure(repeat)).collect();
    Estimate::positive_mean_of(&values?)
}

/// Cells in the order a study wants them read; without one, as they first ran.
pub(super) fn in_order(
    mut cells: Vec<CellSummary>,
    findings: Option<&Findings>,
) -> Vec<CellSummary> {
    if let Some(findings) = findings {
        let place = |cell: &CellSummary| findings.order.iter().position(|name| *name == cell.name);
        cells.sort_by_key(|cell| place(cell).unwrap_or(usize::MAX));
    }
    cells
}

//! What a run recorded interval by interval, and its latency histograms, as rows and columns.

use drivelab_core::run::{Run, StepRun};
use drivelab_core::summary::{LatencyKind, Point, StepSummary, StreamSummary, Summary};
use drivelab_core::summary::{histogram, series};

use crate::view::headline;
use crate::view::sheet::{Field, Sheet, Value, field, number, text, whole};

/// One row for each interval of each step, stream and kind, in order of time.
pub(crate) fn intervals(run: &Run, summary: &Summary) -> Sheet {
    let mut rows = Vec::new();
    for (step, planned) in measured(run, summary) {
        for (index, stream) in (0_u32..).zip(&step.streams) {
            for action in stream.kinds.keys() {
                let labels = labels(summary, step, stream, action.word());
                let points = series(planned, index, Some(*action));
                let with_point = |point: &Point| [labels.clone(), interval(point)].concat();
                rows.extend(points.iter().map(with_point));
            }
        }
    }
    let model = [own_labels(summary), interval(&Point::default())].concat();
    Sheet::with_heads_of(rows, model)
}

/// One row for each bucket that holds values, of each histogram of each step, stream and kind.
pub(crate) fn buckets(run: &Run, summary: &Summary) -> Sheet {
    let mut rows = Vec::new();
    for (step, planned) in measured(run, summary) {
        for (index, stream) in (0_u32..).zip(&step.streams) {
            for action in stream.kinds.keys() {
                let labels = labels(summary, step, stream, action.word());
                for (name, which) in [
                    ("submit", LatencyKind::Submit),
                    ("service", LatencyKind::Service),
                    ("response", LatencyKind::Response),
                    ("commit", LatencyKind::Commit),
                ] {
                    let Some(found) = histogram(planned, index, *action, which) else { continue };
                    let one = |cell| [labels.clone(), bucket(name, cell)].concat();
                    rows.extend(found.iter_nonzero().map(one));
                }
            }
        }
    }
    Sheet::with_heads_of(rows, [own_labels(summary), bucket("", (0, 0, 0))].concat())
}

/// The executed steps that have streams, with what was recorded of them.
fn measured<'a>(
    run: &'a Run,
    summary: &'a Summary,
) -> impl Iterator<Item = (&'a StepSummary, &'a StepRun)> {
    let recorded = |step: &StepSummary| run.steps.iter().find(|of| of.begin.step == step.step);
    summary.steps.iter().filter_map(move |step| Some((step, recorded(step)?)))
}

fn labels(summary: &Summary, step: &StepSummary, stream: &StreamSummary, kind: &str) -> Vec<Field> {
    vec![
        field("drivelab_run", text(&summary.run)),
        field("step", Value::Whole(u64::from(step.step))),
        field("cell", text(&step.name)),
        field("role", text(headline::role_word(step.role))),
        field("repetition", Value::Whole(u64::from(step.repetition))),
        field("truth", text(headline::truth_word(step.valid).to_lowercase())),
        field("stream", text(&stream.load.name)),
        field("kind", text(kind)),
    ]
}

/// The names of the columns of [`labels`], for a run in which nothing was measured.
fn own_labels(summary: &Summary) -> Vec<Field> {
    let names = ["drivelab_run", "step", "cell", "role", "repetition", "truth", "stream", "kind"];
    let value = |name| field(name, text(if name == "drivelab_run" { &summary.run } else { "" }));
    names.into_iter().map(value).collect()
}

fn interval(point: &Point) -> Vec<Field> {
    vec![
        field("from_ns", Value::Whole(point.from)),
        field("to_ns", Value::Whole(point.to)),
        field("ramp", Value::Whole(u64::from(point.ramp))),
        field("partial", Value::Whole(u64::from(point.partial))),
        field("operations", number(Some(point.ops))),
        field("bytes", number(Some(point.bytes))),
        field("errors", Value::Whole(point.errors)),
        field("iops_per_s", number(Some(point.ops_per_s))),
        field("bandwidth_bytes_per_s", number(Some(point.bytes_per_s))),
        field("service_mean_ns", number(point.mean)),
        field("service_p50_ns", whole(point.p50)),
        field("service_p99_ns", whole(point.p99)),
        field("service_p99_9_ns", whole(point.p99_9)),
        field("service_max_ns", whole(point.max)),
    ]
}

fn bucket(name: &str, (low, high, count): (u64, u64, u64)) -> Vec<Field> {
    vec![
        field("latency", text(name)),
        field("low_ns", Value::Whole(low)),
        field("high_ns", Value::Whole(high)),
        field("count", Value::Whole(count)),
    ]
}

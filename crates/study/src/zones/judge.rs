//! What the cells say: how many zones at once write fastest, and what a reset and a finish cost.

use super::{READ, Shape, TURN, name, shape};
use crate::compare::{Side, compare};
use crate::experiment::order::since_break;
use crate::experiment::{Setting, control, loads};
use drivelab_core::comparison::{Comparison, Sample};
use drivelab_core::findings::{Axis, Figure, Findings, Line, LineKind, Picture, Unit};
use drivelab_core::ledger::Moved;
use drivelab_core::op::Action;
use drivelab_core::quantity::{counted, digits, percent, size, time};
use drivelab_core::run::StepRun;
use drivelab_core::sound::Sound;
use drivelab_core::summary::{StepSummary, Summary};
use drivelab_stats::{Estimate, Ratio, Verdict};

pub fn judge(setting: &Setting<'_>, run: &Sound<'_>) -> Findings {
    let summary = run.summary();
    let Some(shape) = shape(setting) else {
        return Findings { no_answer: true, ..Findings::default() };
    };
    let opens = shape.opens();
    let order = opens.iter().map(|open| name(*open)).chain([READ.into(), TURN.into()]).collect();
    let mut findings = Findings { order, ..Findings::default() };
    let cells: Vec<(String, Vec<f64>)> =
        opens.iter().map(|open| (name(*open), control::values(summary, &name(*open)))).collect();
    control::drift(&cells, control::DRIFT, &mut findings);
    rates(summary, &shape, &mut findings);
    at_once(setting, summary, &opens, &mut findings);
    turns(run, summary, &mut findings);
    findings.pictures.extend(picture(summary, &shape));
    told(setting, &shape, &mut findings);
    findings
}

/// Bytes a second of a write cell.
fn bandwidth(summary: &Summary, shape: &Shape, open: u32) -> Option<Estimate> {
    let bytes = shape.request() as f64;
    let values = control::values(summary, &name(open));
    Estimate::positive_mean_of(&values.iter().map(|rate| rate * bytes).collect::<Vec<_>>())
}

fn rates(summary: &Summary, shape: &Shape, findings: &mut Findings) {
    for open in shape.opens() {
        findings.figures.extend(bandwidth(summary, shape, open).map(|estimate| Figure {
            name: name(open),
            estimate,
            unit: Unit::BytesPerS,
            note: "resets included".into(),
        }));
    }
    let reads = Estimate::positive_mean_of(&control::values(summary, READ));
    findings.figures.extend(reads.map(|estimate| Figure {
        name: READ.into(),
        estimate,
        unit: Unit::Iops,
        note: "of full zones".into(),
    }));
}

/// The name of a comparison.
fn words(open: u32) -> String {
    format!("{} at once", counted(u64::from(open), "zone"))
}

/// Several zones at once against one, each in its own comparison.
fn compared(
    setting: &Setting<'_>,
    summary: &Summary,
    one: u32,
    more: &[u32],
) -> Result<Comparison, String> {
    let sample = |open: u32, of: u32| -> Option<Sample> {
        control::sample(summary, &name(open), "")?;
        control::sample(summary, &name(of), &words(open))
    };
    let side = |label: &str, of: &dyn Fn(u32) -> u32| Side {
        name: label.into(),
        samples: more.iter().filter_map(|open| sample(*open, of(*open))).collect(),
        facts: Vec::new(),
        is_by_run: false,
    };
    let (before, after) = (side("one zone", &|_| one), side("several", &|open| open));
    compare(&before, &after, Some(setting.options.delta))
}

/// Whether more zones at once write faster, and which most of all.
fn at_once(setting: &Setting<'_>, summary: &Summary, opens: &[u32], findings: &mut Findings) {
    let [one, more @ ..] = opens else { return };
    if more.is_empty() {
        findings.unknown.push("Whether more zones at once write faster: one can be open.".into());
        return;
    }
    let comparison = match compared(setting, summary, *one, more) {
        Ok(comparison) => comparison,
        Err(why) => {
            findings.no_answer = true;
            findings.want_more(format!(
                "Whether more zones at once write faster: {why}. Give a larger --time or --budget."
            ));
            return;
        }
    };
    let known = |open: &u32| {
        let cell = comparison.cells.iter().find(|cell| cell.name == words(*open))?;
        Some((*open, cell.verdict?, cell.ratio?))
    };
    let judged: Vec<(u32, Verdict, Ratio)> = more.iter().filter_map(known).collect();
    if judged.is_empty() {
        findings.no_answer = true;
        findings.want_more(
            "Whether several zones at once write faster than one: too few repetitions were sound. \
             Give a larger --time or --budget."
                .into(),
        );
    }
    conclude(setting, &judged, findings);
    findings.comparison = Some(comparison);
}

fn conclude(setting: &Setting<'_>, judged: &[(u32, Verdict, Ratio)], findings: &mut Findings) {
    use Verdict as V;
    let named = |which: &dyn Fn(V) -> bool| -> String {
        let all = judged.iter().filter(|(_, verdict, _)| which(*verdict));
        all.map(|(open, ..)| open.to_string()).collect::<Vec<_>>().join(", ")
    };
    let undecided = named(&|it| matches!(it, V::Inconclusive | V::ChangedMaybeRelevant));
    let band = percent(setting.options.delta);
    let faster =
        judged.iter().filter(|(_, verdict, ratio)| *verdict == V::Changed && ratio.value > 1.0);
    match faster.max_by(|a, b| a.2.value.total_cmp(&b.2.value)) {
        Some((open, _, ratio)) => findings.verdict.push(format!(
            "Several zones at once write faster than one: {} write {} times{} as fast.",
            counted(u64::from(*open), "zone"),
            digits(ratio.value),
            interval(ratio)
        )),
        None if undecided.is_empty() && !judged.is_empty() => findings.verdict.push(format!(
            "Several zones at once write no faster than one by {band} or more: {} were tried.",
            named(&|_| true)
        )),
        None => {}
    }
    if !undecided.is_empty() {
        findings.unknown.push(format!(
            "Whether {undecided} zones at once write faster than one by {band} or more: the noise \
             is too large to tell. A larger scale repeats more often."
        ));
    }
}

fn interval(ratio: &Ratio) -> String {
    match (ratio.low, ratio.high) {
        (Some(low), Some(high)) => format!(" [{}, {}]", digits(low), digits(high)),
        _ => String::new(),
    }
}

/// The median of each sound repetition whose zones had all been filled before.
fn medians(run: &Sound<'_>, summary: &Summary, action: Action) -> Vec<f64> {
    let steps = since_break(run);
    let was_full = |step: &&StepSummary| {
        let at = steps.iter().position(|known| known.begin.step == step.step);
        let before = at.map_or(&[][..], |at| &steps[..at]);
        before.iter().rfind(|known| known.begin.name != READ).is_some_and(is_filled)
    };
    let median = |step: &StepSummary| {
        let kind = step.streams.first()?.kinds.get(&action)?;
        kind.service_ns?.p50.map(|ns| ns as f64)
    };
    control::sound(summary, TURN).filter(was_full).filter_map(median).collect()
}

/// Whether a step is the fill, and filled all zones.
fn is_filled(step: &StepRun) -> bool {
    let stream = step.plan.streams.first().filter(|_| step.begin.name == loads::FILL);
    let zoned = stream.and_then(|stream| Some((stream.zoned?, stream.length?.0)));
    zoned.is_some_and(|(zoned, length)| {
        Moved::of(&step.tallies).written_bytes >= length / zoned.size.0.max(1) * zoned.holds()
    })
}

/// What a reset of a full zone, and the finish of a nearly empty one, take.
fn turns(run: &Sound<'_>, summary: &Summary, findings: &mut Findings) {
    let of = |action| Estimate::positive_mean_of(&medians(run, summary, action));
    let (reset, finish) = (of(Action::Reset), of(Action::Finish));
    let mut said = Vec::new();
    for (estimate, label, what) in [
        (&reset, "reset of a full zone", "emptying a full zone"),
        (
            &finish,
            "finish of a zone that holds one request",
            "finishing one that holds one request",
        ),
    ] {
        let Some(estimate) = estimate else { continue };
        said.push(format!("{what} takes {}", time(estimate.value)));
        findings.figures.push(Figure {
            name: label.into(),
            estimate: *estimate,
            unit: Unit::Ns,
            note: "median".into(),
        });
    }
    match said.as_slice() {
        [] => findings.want_more(
            "What resets and finishes cost: no repetition began with all zones full and was sound. \
             Give a larger --time or --budget."
                .into(),
        ),
        all => {
            let sentence = all.join(", ");
            findings.verdict.push(format!("{}.", crate::experiment::capital(&sentence)));
        }
    }
}

fn picture(summary: &Summary, shape: &Shape) -> Option<Picture> {
    let at = |open: &u32| Some((f64::from(*open), bandwidth(summary, shape, *open)?.value));
    let points: Vec<(f64, f64)> = shape.opens().iter().filter_map(at).collect();
    (points.len() > 1).then(|| Picture {
        title: "Writes by zones open at once".into(),
        note: format!(
            "One worker a zone, requests of {}; each point is the mean of its rounds.",
            size(shape.request())
        ),
        x: Axis { quantity: "zones open".into(), unit: Unit::Count },
        y: Axis { quantity: "rate".into(), unit: Unit::BytesPerS },
        lines: vec![Line { label: "write".into(), kind: LineKind::Measured, points }],
        marks: Vec::new(),
    })
}

/// On what was measured, and what the rates hold.
fn told(setting: &Setting<'_>, shape: &Shape, findings: &mut Findings) {
    if shape.used() < shape.zones {
        findings.deviations.push(format!(
            "Measured on {} of {}, from byte {} on; how the others behave is not seen.",
            shape.used(),
            counted(shape.zones, "zone"),
            shape.from
        ));
    }
    let limit = setting.facts.target.devices.first().and_then(|it| it.zones.as_ref());
    let most = limit.and_then(|zones| zones.open_at_once());
    let tried = shape.opens().last().copied().unwrap_or(1);
    if let Some(most) = most.filter(|most| *most > tried) {
        findings.deviations.push(format!(
            "The drive keeps {most} zones open; no more than {tried} were tried at once."
        ));
    }
}

//! `aa`: is the laboratory itself honest? One drive in one state is measured as if it were two.
//!
//! Every cell is measured on side A and on side B, in an order that is shuffled in each round,
//! and the sides are compared by the machinery that all comparisons use. Nothing was changed
//! between them: a difference that it finds is one that it would also find where there is none.

use crate::compare::{Side, compare};
use crate::experiment::budget::{Left, at_least, whole};
use crate::experiment::order::{is_broken, missing, shuffle, since_break};
use crate::experiment::{Allowance, Setting, Study, control, impossible, loads};
use drivelab_core::comparison::Comparison;
use drivelab_core::findings::{Entry, Figure, Findings, Head, Table, Unit};
use drivelab_core::plan::{Mix, Pattern, Plan, Role, Step, Stream, Until};
use drivelab_core::quantity::percent;
use drivelab_core::run::Run;
use drivelab_core::sound::Sound;
use drivelab_core::study::Scale;
use drivelab_core::summary::Summary;
use drivelab_core::units::{Size, Span};
use drivelab_stats::{Description, Estimate, Verdict, repetitions_to_detect};

/// The study.
pub const STUDY: Study = Study {
    name: "aa",
    question: "Is drivelab honest here: does it find differences where there are none?",
    allowance,
    objection,
    next,
    judge,
    quick_cost: Some("fills the target once"),
    ..Study::PLAIN
};

const CELLS: [&str; 4] =
    ["random read qd1", "random read qd32", "sequential read", "sequential write"];
const SIDES: [&str; 2] = ["A", "B"];
const SECOND_NS: u64 = 1_000_000_000;
/// What the fill may take of the bytes.
const FILL_SHARE: u64 = 2;

fn repetitions(scale: Scale) -> u64 {
    match scale {
        Scale::Quick => 6,
        Scale::Default => 10,
        Scale::Full => 30,
    }
}

fn longest_ns(scale: Scale) -> u64 {
    match scale {
        Scale::Quick => 3 * SECOND_NS / 2,
        Scale::Default => 3 * SECOND_NS,
        Scale::Full => 10 * SECOND_NS,
    }
}

fn allowance(scale: Scale, bytes: u64) -> Allowance {
    let minutes = [(Scale::Quick, 4), (Scale::Default, 10), (Scale::Full, 60)];
    let minutes = minutes.iter().find(|(known, _)| *known == scale).map_or(10, |(_, it)| *it);
    let budget = if scale == Scale::Quick { 10 << 30 } else { bytes.saturating_mul(4) };
    Allowance { time: Span(minutes * 60 * SECOND_NS), budget: Size(budget) }
}

fn objection(setting: &Setting<'_>) -> Option<String> {
    let fill = setting.bytes();
    let budget = setting.options.budget;
    let needed = fill.saturating_mul(FILL_SHARE);
    impossible(setting).or_else(|| {
        (needed > budget.0).then(|| {
            format!(
                "`aa` fills the target first and writes as much again: {0} in all, more than the \
                 budget of {budget}; give --budget {0}, or a smaller --size where it makes a file",
                at_least(needed)
            )
        })
    })
}

fn next(setting: &Setting<'_>, run: &Run) -> Option<Plan> {
    let left = Left::of(setting, run);
    let steps = since_break(run);
    if run.ledger().state != "filled" {
        // A fill that the clock cut short is none.
        let is_tried = steps.iter().any(|step| step.begin.name == loads::FILL);
        let fill = loads::fill(setting, 1, &left);
        return (!is_tried).then(|| loads::plan(setting, SECOND_NS, vec![fill]));
    }
    let rest = missing(schedule(setting, &left, run), run);
    (!rest.is_empty() && left.time_ns > 0).then(|| loads::plan(setting, SECOND_NS / 10, rest))
}

/// Everything that is measured, in its order.
fn schedule(setting: &Setting<'_>, left: &Left, run: &Run) -> Vec<Step> {
    let options = setting.options;
    let n = repetitions(options.scale);
    let all = n * (CELLS.len() * SIDES.len()) as u64 + control::COUNT;
    let measured = run.steps.iter().filter(|step| step.begin.role == Role::Measure).count();
    let missing = all.saturating_sub(measured as u64).max(1);
    let each_ns = left.each(setting, missing, longest_ns(options.scale)).max(SECOND_NS / 20);
    let write_bytes = left.bytes / (2 * n);
    let mut steps = control::steps(setting, 0, each_ns);
    for round in 0..n {
        if round == n / 2 {
            steps.extend(control::steps(setting, 1, each_ns));
        }
        let mut cells: Vec<(&str, &str)> =
            SIDES.iter().flat_map(|side| CELLS.map(|cell| (cell, *side))).collect();
        shuffle(&mut cells, options.seed, round);
        steps.extend(
            cells.into_iter().map(|(cell, side)| one(setting, cell, side, each_ns, write_bytes)),
        );
    }
    steps.extend(control::steps(setting, 2, each_ns));
    steps
}

fn one(setting: &Setting<'_>, cell: &str, side: &str, each_ns: u64, write_bytes: u64) -> Step {
    let sequential = |mix| Stream {
        pattern: Pattern::SEQUENTIAL,
        size: Size(128 << 10),
        mix,
        ..loads::deep(loads::base(setting), 32)
    };
    let stream = match cell {
        "random read qd1" => loads::random(setting, Mix::READ, 1),
        "random read qd32" => loads::random(setting, Mix::READ, 32),
        "sequential read" => sequential(Mix::READ),
        _ => sequential(Mix::WRITE),
    };
    let bytes = (stream.mix.write > 0).then(|| whole(write_bytes, stream.size.0));
    let until = Until { elapsed: Some(Span(each_ns)), bytes, ..Until::default() };
    loads::step(setting, &format!("{cell} {side}"), Role::Measure, until, stream)
}

fn judge(setting: &Setting<'_>, run: &Sound<'_>) -> Findings {
    let summary = run.summary();
    let mut findings = Findings::default();
    for cell in CELLS {
        findings.order.extend(SIDES.map(|side| format!("{cell} {side}")));
    }
    if is_broken(run) {
        findings.unknown.push(
            "Whether drive and machine were stable: the run was interrupted, and resumed under \
             conditions that may differ."
                .into(),
        );
    } else {
        control::look(summary, &mut findings);
    }
    let drifting: Vec<(String, Vec<f64>)> =
        CELLS.iter().map(|cell| ((*cell).to_string(), in_order(summary, cell))).collect();
    control::drift(&drifting, 0.0, &mut findings);
    let [a, b] = SIDES.map(|side| side_of(summary, side));
    match compare(&a, &b, Some(setting.options.delta)) {
        Ok(comparison) => conclude(setting, summary, &comparison, &mut findings),
        Err(why) => {
            findings.no_answer = true;
            findings.unknown.push(format!("Whether the laboratory is honest here: {why}."));
        }
    }
    findings
}

fn side_of(summary: &Summary, side: &str) -> Side {
    let sample = |cell: &&str| control::sample(summary, &format!("{cell} {side}"), cell);
    let samples = CELLS.iter().filter_map(sample).collect();
    Side { name: format!("side {side}"), samples, facts: Vec::new(), is_by_run: false }
}

/// The values of both sides of a cell in the order they were measured.
fn in_order(summary: &Summary, cell: &str) -> Vec<f64> {
    let names = SIDES.map(|side| format!("{cell} {side}"));
    let sound = summary.steps.iter().filter(|step| {
        names.contains(&step.name) && step.valid != Some(false) && step.incomplete.is_none()
    });
    sound.filter_map(|step| Some(step.streams.first()?.total.iops?.value)).collect()
}

fn conclude(
    setting: &Setting<'_>,
    summary: &Summary,
    comparison: &Comparison,
    findings: &mut Findings,
) {
    let judged: Vec<Verdict> = comparison.cells.iter().filter_map(|cell| cell.verdict).collect();
    let count = |wanted: Verdict| judged.iter().filter(|verdict| **verdict == wanted).count();
    let changed = count(Verdict::Changed) + count(Verdict::ChangedMaybeRelevant);
    let same =
        count(Verdict::Equivalent) + count(Verdict::Identical) + count(Verdict::ChangedNegligible);
    let all = judged.len();
    let band = percent(setting.options.delta);
    let found = (all > 0).then(|| Figure {
        name: "cells found different".into(),
        estimate: Estimate::point(changed as f64, all as u64),
        unit: Unit::Count,
        note: format!("of {all}; at most one family in twenty may have any"),
    });
    findings.figures.extend(found);
    findings.tables.push(noise(setting, summary));
    match (all, changed) {
        (0, _) => {
            findings.no_answer = true;
            findings.unknown.push(
                "Whether the laboratory is honest here: every cell was \
                                   suspect, so nothing was compared."
                    .into(),
            );
        }
        (_, 0) if same == all => findings.verdict.push(format!(
            "Nothing was changed between the sides, and nothing was found changed: all {all} cells \
             are the same within {band}."
        )),
        (_, 0) if same == 0 => {
            findings.no_answer = true;
            findings.unknown.push(format!(
                "Whether the laboratory is honest here: nothing was found changed, but the noise \
                 is too large to show for any of the {all} cells that it is the same within \
                 {band}. `drivelab doctor` shows what disturbs."
            ));
        }
        (_, 0) => findings.verdict.push(format!(
            "Nothing was changed between the sides, and nothing was found changed: {same} of {all} \
             cells are the same within {band}, for the rest the noise here is too large to tell."
        )),
        _ => findings.beware.push(format!(
            "{changed} of {all} cells were found different although nothing was changed between \
             the sides. If this happens more than once in twenty runs, something here is unstable, \
             and differences of this size mean nothing on this machine."
        )),
    }
    if !findings.suspect.is_empty() && changed == 0 && all > 0 {
        findings.verdict.push(
            "What is suspect below affects both sides alike, because their order is shuffled."
                .into(),
        );
    }
    findings.comparison = Some(comparison.clone());
}

/// The noise of each cell, and the smallest change that this many repetitions would find.
fn noise(setting: &Setting<'_>, summary: &Summary) -> Table {
    let head = |name: &str, unit| Head { name: name.into(), unit };
    let heads = vec![
        head("cell", None),
        head("mean", Some(Unit::Iops)),
        head("spread of one repetition", Some(Unit::Share)),
        head("detects from", Some(Unit::Share)),
    ];
    let n = repetitions(setting.options.scale);
    let row = |cell: &&str| {
        let values = in_order(summary, cell);
        let mut row = vec![Entry::Text((*cell).to_string())];
        match Description::of(&values).ok().filter(|it| it.mean > 0.0) {
            Some(it) => {
                let cv = it.deviation.unwrap_or(0.0) / it.mean;
                row.extend([it.mean, cv, found_from(cv, n)].map(Entry::Number));
            }
            None => row.extend([Entry::Nothing, Entry::Nothing, Entry::Nothing]),
        }
        row
    };
    Table {
        title: "How fine this laboratory is here".into(),
        note: format!(
            "The last column is the smallest change that {n} repetitions a side would show with a \
             power of 80 %."
        ),
        heads,
        rows: CELLS.iter().map(row).collect(),
    }
}

/// The smallest change that `n` repetitions a side show with a power of 80 %, at the share of the
/// level of 5 % that each cell of the family has.
fn found_from(cv: f64, n: u64) -> f64 {
    let alpha = 0.05 / CELLS.len() as f64;
    let (mut low, mut high) = (0.0, 10.0);
    for _ in 0..50 {
        let middle = f64::midpoint(low, high);
        match repetitions_to_detect(cv, middle, alpha) <= n {
            true => high = middle,
            false => low = middle,
        }
    }
    high
}

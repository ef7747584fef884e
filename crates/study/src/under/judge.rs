//! What the neighbour costs, and what it got.

use super::neighbour::{self, MEASURED};
use super::{Cell, LOADS};
use crate::compare::{Side, compare};
use crate::experiment::{Setting, control, region};
use drivelab_core::comparison::{Comparison, Metric, Sample};
use drivelab_core::findings::{Entry, Figure, Findings, Head, Table, Unit};
use drivelab_core::quantity::{digits, operations, percent, time};
use drivelab_core::sound::Sound;
use drivelab_core::summary::{CellStream, CellSummary, StepSummary, Summary};
use drivelab_stats::{Counts, Estimate, jackknife_difference};

/// With less than this of what it asks for, it did not get its rate.
const KEPT: f64 = 0.98;

pub fn judge(setting: &Setting<'_>, run: &Sound<'_>) -> Findings {
    let summary = run.summary();
    let order = Cell::ALL.iter().map(|cell| cell.name(setting)).collect();
    let mut findings = Findings { order, ..Findings::default() };
    let comparison = compared(setting, summary);
    findings.no_answer = comparison.is_none();
    for at in 0..LOADS.len() {
        cost(setting, summary, at, comparison.as_ref(), &mut findings);
    }
    if findings.no_answer {
        findings.want_more(
            "What the other load costs: no load has valid numbers both alone and with it. Give a \
             larger --time or --budget."
                .into(),
        );
    } else {
        got(setting, summary, &mut findings);
    }
    findings.tables.push(costs_table(setting, summary));
    findings.tables.push(got_table(setting, summary));
    findings.comparison = comparison;
    findings.deviations.push(format!("{}.", neighbour::source(setting.options.under.load)));
    region::told(setting, run, &mut findings);
    findings
}

fn cell<'a>(summary: &'a Summary, name: &str) -> Option<&'a CellSummary> {
    summary.cells.iter().find(|cell| cell.name == name && cell.valid != Some(false))
}

fn measured<'a>(setting: &Setting<'_>, summary: &'a Summary, of: Cell) -> Option<&'a CellStream> {
    cell(summary, &of.name(setting))?.streams.iter().find(|stream| stream.load.name == MEASURED)
}

fn compared(setting: &Setting<'_>, summary: &Summary) -> Option<Comparison> {
    let side = |name: &str, of: fn(usize) -> Cell| {
        let sample = |at: usize| {
            let values = control::centred(summary, &of(at).name(setting));
            (!values.is_empty()).then(|| Sample {
                name: LOADS[at].0.into(),
                metric: Metric::Iops,
                values,
                is_ordered: false,
                suspect: None,
            })
        };
        let samples: Vec<Sample> = (0..LOADS.len()).filter_map(sample).collect();
        Side { name: name.into(), samples, facts: Vec::new(), is_by_run: false }
    };
    let other = format!("with {}", setting.options.under.load.word());
    let (alone, beside) = (side("alone", Cell::Alone), side(&other, Cell::Beside));
    let found = compare(&alone, &beside, Some(setting.options.delta)).ok()?;
    found.cells.iter().any(|cell| cell.ratio.is_some()).then_some(found)
}

/// What one measured load loses.
fn cost(
    setting: &Setting<'_>,
    summary: &Summary,
    at: usize,
    comparison: Option<&Comparison>,
    findings: &mut Findings,
) {
    let of = |cell| measured(setting, summary, cell)?.total.iops;
    let (Some(alone), Some(beside)) = (of(Cell::Alone(at)), of(Cell::Beside(at))) else { return };
    let found = comparison.and_then(|it| it.cells.iter().find(|cell| cell.name == LOADS[at].0));
    let (Some(found), load) = (found, setting.options.under.load.word()) else { return };
    let Some(ratio) = found.ratio else { return };
    let left = format!(
        "With {load} running, {} does {}, alone {}: {} is left ({}).",
        LOADS[at].0,
        operations(beside.value),
        operations(alone.value),
        percent(ratio.value),
        found.word()
    );
    if found.word() == "cannot tell" {
        findings.want_more(format!("{left} A larger --time or scale measures longer."));
        return;
    }
    findings.verdict.push(left);
    if found.word() != "slower" {
        return;
    }
    if let Some(each) = taken(setting, summary, at) {
        let (own, lost) = (LOADS[at].0, digits(each.value));
        findings
            .verdict
            .push(format!("{own} lost {lost} operations for each operation of {load}."));
        findings.figures.push(Figure {
            name: format!("lost by {} to each operation of the other load", LOADS[at].0),
            estimate: each,
            unit: Unit::Factor,
            note: String::new(),
        });
    }
}

/// Operations that one of the neighbour's cost: what is missing next to it by what it did.
fn taken(setting: &Setting<'_>, summary: &Summary, at: usize) -> Option<Estimate> {
    let counts = |cell: Cell| -> Vec<Counts> {
        let name = cell.name(setting);
        let one = |step: &StepSummary| {
            let (own, others): (Vec<_>, Vec<_>) =
                step.streams.iter().partition(|stream| stream.load.name == MEASURED);
            let own = own.first()?;
            let others: u64 = others.iter().map(|stream| stream.total.ops).sum();
            Some(vec![own.seconds?, own.total.ops as f64, others as f64])
        };
        control::sound(summary, &name).filter_map(one).collect()
    };
    let (alone, beside) = (counts(Cell::Alone(at)), counts(Cell::Beside(at)));
    let figure = |sums: &[Counts]| {
        let (alone, beside) = (&sums[0], &sums[1]);
        (alone[1] / alone[0] * beside[0] - beside[1]) / beside[2]
    };
    jackknife_difference(&[&alone, &beside], figure).ok()
}

/// What the neighbour got in a cell: operations a second, and its pages from when they were due.
fn served(setting: &Setting<'_>, summary: &Summary, of: Cell) -> Option<Served> {
    let cell = cell(summary, &of.name(setting))?;
    let others = || cell.streams.iter().filter(|stream| stream.load.name != MEASURED);
    let rates: Vec<f64> = others().filter_map(|stream| Some(stream.total.iops?.value)).collect();
    let pages = others().find(|stream| stream.load.name == neighbour::PAGES)?;
    let responses = pages.kinds.values().filter_map(|kind| kind.merged.response_ns);
    let (mut count, mut sum, mut p99) = (0, 0.0, None);
    for response in responses {
        count += response.count;
        sum += response.mean * response.count as f64;
        p99 = p99.max(response.p99);
    }
    (!rates.is_empty()).then(|| Served {
        rate: rates.iter().sum(),
        mean_ns: (count > 0).then(|| sum / count as f64),
        p99_ns: p99.map(|ns| ns as f64),
    })
}

struct Served {
    rate: f64,
    mean_ns: Option<f64>,
    p99_ns: Option<f64>,
}

/// What the neighbour got, alone and next to the deepest load.
fn got(setting: &Setting<'_>, summary: &Summary, findings: &mut Findings) {
    let (asked, load) = (neighbour::rate(setting), setting.options.under.load.word());
    let Some(alone) = served(setting, summary, Cell::Neighbour) else {
        findings.want_more(format!(
            "What {load} got by itself: it has no valid numbers. Give a larger --time."
        ));
        return;
    };
    if alone.rate < KEPT * asked {
        findings.verdict.push(format!(
            "{load} does not get its rate even alone: {} of {} asked for. A smaller one: --load \
             {load}:RATE.",
            operations(alone.rate),
            operations(asked)
        ));
    }
    for (at, (name, ..)) in LOADS.iter().enumerate() {
        let Some(beside) = served(setting, summary, Cell::Beside(at)) else { continue };
        let waits = match (beside.mean_ns, alone.mean_ns) {
            (Some(beside), Some(alone)) => format!(
                "; a page of it took {} from when it was due, alone {} (a mean each, without \
                 interval)",
                time(beside),
                time(alone)
            ),
            _ => String::new(),
        };
        findings.verdict.push(format!(
            "With {}, {load} got {} of {} asked for{waits}.",
            name,
            operations(beside.rate),
            operations(asked)
        ));
    }
}

fn head(name: &str, unit: Option<Unit>) -> Head {
    Head { name: name.into(), unit }
}

fn number(value: Option<f64>) -> Entry {
    value.map_or(Entry::Nothing, Entry::Number)
}

fn costs_table(setting: &Setting<'_>, summary: &Summary) -> Table {
    let row = |at: usize| {
        let rate = |cell| Some(measured(setting, summary, cell)?.total.iops?.value);
        let mean = |cell| {
            let kinds = &measured(setting, summary, cell)?.kinds;
            Some(kinds.values().next()?.merged.service_ns?.mean)
        };
        let (alone, beside) = (Cell::Alone(at), Cell::Beside(at));
        let left = rate(beside).zip(rate(alone)).map(|(beside, alone)| beside / alone);
        vec![
            Entry::Text(LOADS[at].0.into()),
            number(rate(alone)),
            number(rate(beside)),
            number(left),
            number(mean(alone)),
            number(mean(beside)),
        ]
    };
    Table {
        title: "What the other load costs".into(),
        note: "4 KiB at random. The mean is of reads.".into(),
        heads: vec![
            head("load", None),
            head("alone", Some(Unit::Iops)),
            head("with it", Some(Unit::Iops)),
            head("left", Some(Unit::Share)),
            head("alone, mean", Some(Unit::Ns)),
            head("with it, mean", Some(Unit::Ns)),
        ],
        rows: (0..LOADS.len()).map(row).collect(),
    }
}

fn got_table(setting: &Setting<'_>, summary: &Summary) -> Table {
    let row = |cell: Cell| {
        let served = served(setting, summary, cell);
        let of = |get: fn(&Served) -> Option<f64>| number(served.as_ref().and_then(get));
        vec![
            Entry::Text(match cell {
                Cell::Beside(at) => format!("with {}", LOADS[at].0),
                _ => "alone".into(),
            }),
            Entry::Number(neighbour::rate(setting)),
            of(|it| Some(it.rate)),
            of(|it| it.mean_ns),
            of(|it| it.p99_ns),
        ]
    };
    Table {
        title: "What it got".into(),
        note: "Operations of all kinds, flushes not counted; mean and p99 are of its pages, from \
               when they were due, p99 that of the slower kind."
            .into(),
        heads: vec![
            head(setting.options.under.load.word(), None),
            head("asked for", Some(Unit::Iops)),
            head("got", Some(Unit::Iops)),
            head("mean", Some(Unit::Ns)),
            head("p99", Some(Unit::Ns)),
        ],
        rows: [Cell::Neighbour, Cell::Beside(0), Cell::Beside(1)].map(row).into(),
    }
}

//! What the mixes say, compared with reads and writes alone.

use super::cost::{self, Cost, Grade, Repetition};
use super::slide;
use super::{Cell, HEADLINE, Load, Order, cells, depths};
use crate::experiment::capital;
use crate::experiment::order::is_broken;
use crate::experiment::{Setting, control, region};
use drivelab_core::findings::{
    Axis, Entry, Figure, Findings, Head, Line, LineKind, Picture, Remark, Table, Unit,
};
use drivelab_core::op::Action;
use drivelab_core::quantity::{digits, percent};
use drivelab_core::sound::Sound;
use drivelab_core::summary::{StepSummary, Summary};
use drivelab_stats::Estimate;

/// Where the whole interval of F is above this, writes hold readers up, however little it costs.
const HOLDS_UP: f64 = 1.5;

/// One mix and what it says; `None` where it says nothing.
pub(super) struct Known {
    pub cell: Cell,
    pub share: u32,
    pub order: Order,
    pub cost: Option<Cost>,
    pub rate: Option<f64>,
}

pub fn judge(setting: &Setting<'_>, run: &Sound<'_>) -> Findings {
    let summary = run.summary();
    let all = cells(setting.options.scale);
    let order = all.iter().map(|cell| cell.name()).collect();
    let mut findings = Findings { order, ..Findings::default() };
    let known = known(summary, &all);
    alone(summary, setting, &mut findings);
    conclude(setting, &known, &mut findings);
    figures(summary, &known, &mut findings);
    findings.pictures.extend(
        depths(setting.options.scale).iter().filter_map(|depth| picture(summary, &known, *depth)),
    );
    findings.tables.extend(slide::tables(run, summary, &known));
    findings.tables.push(table(setting, &known));
    region::told(setting, run, &mut findings);
    if is_broken(run) {
        findings.unknown.push(
            "Whether drive and machine were stable: the run was interrupted, and resumed under \
             conditions that may differ."
                .into(),
        );
    }
    findings
}

fn known(summary: &Summary, all: &[Cell]) -> Vec<Known> {
    let mut known = Vec::new();
    for cell in all {
        let Load::Mixed(share, order) = cell.load else { continue };
        let of = |load| repetitions(summary, Cell { load, ..*cell });
        let mixed = of(cell.load);
        // One repetition, or one that holds all the writes there were, says nothing.
        let cost = cost::of(&of(Load::Reads), &of(Load::Writes(order)), &mixed)
            .ok()
            .filter(|cost| cost.efficiency.low.is_some());
        let rate = mean_rate(summary, *cell).map(|rate| rate.value);
        known.push(Known { cell: *cell, share, order, cost, rate });
    }
    known
}

/// What every sound repetition of a cell counted.
fn repetitions(summary: &Summary, cell: Cell) -> Vec<Repetition> {
    let name = cell.name();
    let counts = |step: &StepSummary| {
        let stream = step.streams.first()?;
        let kind = |action| stream.kinds.get(&action);
        let done = |action| kind(action).map_or(0, |kind| kind.rates.ops) as f64;
        let reads = kind(Action::Read).and_then(|kind| kind.service_ns);
        let read_ns = reads.map_or(0.0, |latency| latency.mean * latency.count as f64);
        Some(vec![stream.seconds?, done(Action::Read), done(Action::Write), read_ns])
    };
    control::sound(summary, &name).filter_map(counts).collect()
}

pub(super) fn mean_rate(summary: &Summary, cell: Cell) -> Option<Estimate> {
    let counts = repetitions(summary, cell);
    let rates: Vec<(f64, f64)> = counts.iter().map(|it| (it[1] + it[2], it[0])).collect();
    Estimate::rate_of(&rates)
}

/// Reads and writes alone: whether they stood still while everything else ran.
fn alone(summary: &Summary, setting: &Setting<'_>, findings: &mut Findings) {
    let mut cells = Vec::new();
    for depth in depths(setting.options.scale) {
        for load in [Load::Reads, Load::Writes(Order::Random), Load::Writes(Order::Sequential)] {
            let name = Cell { load, depth: *depth }.name();
            let values = control::values(summary, &name);
            cells.push((name, values));
        }
    }
    control::drift(&cells, 0.0, findings);
}

fn conclude(setting: &Setting<'_>, known: &[Known], findings: &mut Findings) {
    let delta = setting.options.delta;
    let headline = |order| {
        let is_it = |it: &&Known| {
            it.share == HEADLINE && it.order == order && it.cell.depth == depths_first(setting)
        };
        known.iter().find(is_it)
    };
    for order in Order::ALL {
        let Some(it) = headline(order) else { continue };
        let Some(cost) = &it.cost else {
            findings.want_more(format!(
                "What {} writes cost the readers at {}: too few writes happened, or too few \
                 repetitions were valid. A larger scale or --time measures longer.",
                order.word(),
                name_of(it.share)
            ));
            continue;
        };
        said(order, it.share, cost, delta, findings);
    }
    others(known, delta, findings);
    let is_settled = |cost: &Cost| cost.grade(delta) != Grade::Unsettled;
    findings.no_answer = !known.iter().filter_map(|it| it.cost.as_ref()).any(is_settled);
}

fn depths_first(setting: &Setting<'_>) -> u32 {
    depths(setting.options.scale)[0]
}

fn name_of(share: u32) -> String {
    format!("{} %", f64::from(share) / 10.0)
}

/// `38.6 [34.1, 43.0]`.
fn with_ends(estimate: &Estimate) -> String {
    match (estimate.low, estimate.high) {
        (Some(low), Some(high)) => {
            format!("{} [{}, {}]", digits(estimate.value), digits(low), digits(high))
        }
        _ => digits(estimate.value),
    }
}

/// What is said of the mix that the verdict rests on.
fn said(order: Order, share: u32, cost: &Cost, delta: f64, findings: &mut Findings) {
    let (word, share) = (order.word(), name_of(share));
    let reached = format!(
        "{} of the rate of reads alone is left where {} was expected",
        percent(cost.real.value),
        percent(cost.ideal.value)
    );
    let alone = with_ends(&cost.alone);
    let costs = match &cost.cost {
        Some(each) => format!(
            "at {share} of {word} writes, one write takes as long as {} reads, and alone it takes \
             {alone}: {reached}",
            with_ends(each)
        ),
        None => format!(
            "at {share} of {word} writes, one write takes no measurable time from the reads, and \
             alone it takes as long as {alone} of them: {reached}"
        ),
    };
    let factor = match &cost.factor {
        Some(factor) => format!("F = {}", with_ends(factor)),
        None => "The interval of F includes 0".into(),
    };
    match cost.grade(delta) {
        Grade::Bad => findings.beware.push(format!(
            "Writes block readers far beyond their own time: {costs}. {factor}; more than {} is \
             bad. Keep {word} writes away from reads that must be quick, or write in batches.",
            cost::BAD
        )),
        Grade::Felt => findings.verdict.push(format!(
            "Reads and writes disturb each other: {costs}. {factor}, and 1 would be no \
             interference."
        )),
        Grade::Cheaper => findings.verdict.push(format!(
            "Writes among reads are cheaper than one after the other, as where a buffer takes \
             them: {costs}. {factor}."
        )),
        Grade::None if cost.factor.and_then(|it| it.low).is_some_and(|low| low > HOLDS_UP) => {
            findings.verdict.push(format!(
                "{} writes hold readers up, though too little to matter at this share: {costs}, \
                 within {}. {factor}.",
                capital(word),
                percent(delta)
            ));
        }
        Grade::None => findings.verdict.push(format!(
            "{} writes do not disturb reads beyond their own time: {costs}, within {}.",
            capital(word),
            percent(delta)
        )),
        Grade::Unsettled => findings.want_more(format!(
            "Whether {word} writes disturb reads at {share}: {reached}, and the noise allows both \
             answers (efficiency {}). A larger scale or --time measures longer.",
            with_ends(&cost.efficiency)
        )),
    }
}

/// The worst of the other mixes, those that the verdict does not speak of.
fn others(known: &[Known], delta: f64, findings: &mut Findings) {
    let felt: Vec<(&Known, &Cost)> = known
        .iter()
        .filter(|it| it.share != HEADLINE || it.cell.depth != known[0].cell.depth)
        .filter_map(|it| Some((it, it.cost.as_ref()?)))
        .filter(|(_, cost)| matches!(cost.grade(delta), Grade::Felt | Grade::Bad))
        .collect();
    let least = |all: &[(&Known, &Cost)]| {
        let by = |it: &&(&Known, &Cost)| it.1.efficiency.value;
        all.iter().min_by(|a, b| by(a).total_cmp(&by(b))).map(|it| describe(it.0, it.1))
    };
    let all = known.len().saturating_sub(Order::ALL.len());
    let bad: Vec<(&Known, &Cost)> =
        felt.iter().filter(|it| it.1.grade(delta) == Grade::Bad).copied().collect();
    if let Some(worst) = least(&bad) {
        findings.beware.push(format!(
            "Of the {all} other mixes {} have an F above {}; most is lost with {worst}.",
            bad.len(),
            cost::BAD
        ));
    } else if let Some(worst) = least(&felt) {
        findings.verdict.push(format!(
            "Of the {all} other mixes {} fall short of what was expected; most is lost with \
             {worst}.",
            felt.len()
        ));
    }
}

fn describe(it: &Known, cost: &Cost) -> String {
    let left = format!(
        "{}: {} of the rate of reads alone is left where {} was expected",
        it.cell.name(),
        percent(cost.real.value),
        percent(cost.ideal.value)
    );
    match (&cost.cost, &cost.factor) {
        (Some(each), Some(factor)) => format!(
            "{left}, and one write costs {} reads (F = {})",
            digits(each.value),
            with_ends(factor)
        ),
        _ => left,
    }
}

fn figures(summary: &Summary, known: &[Known], findings: &mut Findings) {
    let Some(first) = known.first() else { return };
    let depth = first.cell.depth;
    let alone = |load| {
        let cell = Cell { load, depth };
        mean_rate(summary, cell).map(|estimate| Figure {
            name: cell.name(),
            estimate,
            unit: Unit::Iops,
            note: String::new(),
        })
    };
    findings.figures.extend(alone(Load::Reads));
    findings.figures.extend(alone(Load::Writes(Order::Random)));
    for it in known.iter().filter(|it| it.share == HEADLINE && it.cell.depth == depth) {
        let Some(cost) = &it.cost else { continue };
        let (share, word) = (name_of(it.share), it.order.word());
        let named = [
            (
                "rate left",
                Some(cost.real),
                Unit::Share,
                format!("ideal {}", percent(cost.ideal.value)),
            ),
            ("efficiency", Some(cost.efficiency), Unit::Share, "real by ideal".into()),
            (
                "one write costs",
                cost.cost,
                Unit::Factor,
                format!("reads; alone {}", digits(cost.alone.value)),
            ),
            ("interference F", cost.factor, Unit::Factor, "1: none".into()),
        ];
        let told = |(name, estimate, unit, note)| {
            let name = format!("{name}, {share} {word} writes");
            Some(Figure { name, estimate: estimate?, unit, note })
        };
        findings.figures.extend(named.into_iter().filter_map(told));
    }
    findings.figures.extend(alone(Load::Writes(Order::Sequential)));
    let nothing = known.iter().filter(|it| it.cost.is_none() && it.rate.is_some());
    findings.not_applicable.extend(nothing.map(|it| Remark {
        cell: it.cell.name(),
        text: "too few writes or valid repetitions to tell what one costs".into(),
    }));
}

/// The rate over the share of writes, measured and ideal.
fn picture(summary: &Summary, known: &[Known], depth: u32) -> Option<Picture> {
    let reads = mean_rate(summary, Cell { load: Load::Reads, depth })?.value;
    let mut lines = Vec::new();
    for order in Order::ALL {
        let own: Vec<(f64, &Cost)> = known
            .iter()
            .filter(|it| it.order == order && it.cell.depth == depth)
            .filter_map(|it| Some((f64::from(it.share) / 1000.0, it.cost.as_ref()?)))
            .collect();
        let through = |part: fn(&Cost) -> f64| {
            let rest = own.iter().map(|(share, cost)| (*share, part(cost) * reads));
            std::iter::once((0.0, reads)).chain(rest).collect()
        };
        let word = order.word();
        let line = |label: String, kind, points| Line { label, kind, points };
        lines.push(line(
            format!("{word} writes"),
            LineKind::Measured,
            through(|cost| cost.real.value),
        ));
        lines.push(line(
            format!("{word} writes, ideal"),
            LineKind::Fit,
            through(|cost| cost.ideal.value),
        ));
    }
    Some(Picture {
        title: format!("Reads and writes together, depth {depth}"),
        note: "The ideal is what remains if every operation takes the time that it takes alone; \
               what lies below it was lost to interference."
            .into(),
        x: Axis { quantity: "share of writes".into(), unit: Unit::Share },
        y: Axis { quantity: "rate of all operations".into(), unit: Unit::Iops },
        lines,
        marks: Vec::new(),
    })
}

fn table(setting: &Setting<'_>, known: &[Known]) -> Table {
    let head = |name: &str, unit| Head { name: name.into(), unit };
    let factor = Some(Unit::Factor);
    let row = |it: &Known| {
        let number = |value: Option<f64>| value.map_or(Entry::Nothing, Entry::Number);
        let part = |part: fn(&Cost) -> Option<Estimate>| it.cost.as_ref().and_then(part);
        let of = |it: fn(&Cost) -> Option<Estimate>| number(part(it).map(|it| it.value));
        let ends = |it: fn(&Cost) -> Option<Estimate>| match part(it) {
            Some(Estimate { low: Some(low), high: Some(high), .. }) => {
                Entry::Text(format!("{} to {}", digits(low), digits(high)))
            }
            _ => Entry::Nothing,
        };
        vec![
            Entry::Text(it.cell.name()),
            of(|cost| Some(cost.real)),
            of(|cost| Some(cost.ideal)),
            of(|cost| Some(cost.efficiency)),
            of(|cost| cost.cost),
            of(|cost| cost.factor),
            ends(|cost| cost.factor),
            of(|cost| Some(cost.reads_slower)),
        ]
    };
    let bound = match setting.options.scale {
        drivelab_core::study::Scale::Full => {
            " At depth 32 the ideal is a bound for one unit of work at a time; a drive that works \
             on many at once may be above it."
        }
        _ => "",
    };
    Table {
        title: "What a write costs among reads".into(),
        note: format!(
            "w is the share of writes that happened, k the time of a write alone in reads alone \
             (of the same order and depth). Ideal = 1 ÷ ((1 − w) + w·k), by the rate of reads \
             alone; efficiency = real ÷ ideal; a write costs ((reads alone ÷ real) − (1 − w)) ÷ w \
             reads; F = that ÷ k, and 1 means no interference; neither is given where its interval \
             includes 0. The last column is the time of a read by that of one alone. Intervals \
             are 95 % each, by leaving out one repetition at a time of every cell that the figure \
             rests on. A mix counts as disturbed where the whole interval of its efficiency lies \
             below {}.{bound}",
            percent(1.0 - setting.options.delta)
        ),
        heads: vec![
            head("mix", None),
            head("real", Some(Unit::Share)),
            head("ideal", Some(Unit::Share)),
            head("efficiency", Some(Unit::Share)),
            head("write costs", factor),
            head("F", factor),
            head("F's interval", None),
            head("read takes", factor),
        ],
        rows: known.iter().map(row).collect(),
    }
}

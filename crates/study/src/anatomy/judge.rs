//! What the parts say.

use super::parts::{self, Parts, kind_of, sound};
use super::staged::{self, Staged};
use super::{Cell, Side, cells, refusal};
use crate::compare::{self, compare};
use crate::experiment::{Setting, control, narrow};
use drivelab_core::anatomy::Segment;
use drivelab_core::comparison::{Comparison, Metric, Sample};
use drivelab_core::findings::{
    Entry, Figure, Findings, Head, Remark, Stack, StackBar, Table, Unit,
};
use drivelab_core::inside::Cause;
use drivelab_core::quantity::{count, counted, percent, time};
use drivelab_core::run::Run;
use drivelab_core::sound::Sound;
use drivelab_core::summary::{StepSummary, Summary};
use drivelab_core::units::Size;
use drivelab_stats::{Estimate, Ratio, supported_quantile};
use std::collections::BTreeMap;

/// From this share of the time on, waiting in the kernel's queue is worth a sentence.
const QUEUE_SHARE: f64 = 0.10;
/// This many slow I/Os are needed to say what made them slow.
const SLOW_MIN: usize = 10;

pub fn judge(setting: &Setting<'_>, run: &Sound<'_>) -> Findings {
    let Some(options) = narrow::narrowed(setting, 1) else { return judge_of(setting, run) };
    let mut findings = judge_of(&Setting { options: &options, facts: setting.facts }, run);
    findings.want_more(format!(
        "How a full drive does: only the first {} of {} were filled and used. Give a larger \
         --budget.",
        Size(options.bytes),
        Size(setting.bytes())
    ));
    findings
}

fn judge_of(setting: &Setting<'_>, run: &Sound<'_>) -> Findings {
    let summary = run.summary();
    let mut findings = Findings::default();
    let cells = cells(setting);
    findings.order = cells
        .iter()
        .flat_map(|cell| [cell.of(Side::Untraced), cell.of(Side::Traced)])
        .filter(|name| summary.cells.iter().any(|cell| cell.name == *name))
        .collect();
    let series: Vec<(String, Vec<f64>)> = cells
        .iter()
        .map(|cell| cell.of(Side::Untraced))
        .map(|name| (name.clone(), control::values(summary, &name)))
        .collect();
    control::drift(&series, 0.0, &mut findings);
    if setting.is_simulated() {
        simulated(&cells, run, summary, &mut findings);
    } else if let Some(why) = refusal(run) {
        untraced(why, &cells, summary, &mut findings);
    } else {
        traced(setting, run, &cells, summary, &mut findings);
    }
    if findings.figures.is_empty() && findings.unknown.is_empty() {
        findings.no_answer = true;
        findings.want_more(
            "Where I/Os spend their time: no load was measured. Give a larger --time.".into(),
        );
    }
    findings
}

fn traced(
    setting: &Setting<'_>,
    run: &Run,
    cells: &[Cell],
    summary: &Summary,
    findings: &mut Findings,
) {
    let found: Vec<Parts> = cells
        .iter()
        .filter_map(|cell| parts::of(run, summary, *cell, &mut findings.suspect))
        .collect();
    if found.is_empty() {
        findings.no_answer = true;
        findings
            .unknown
            .push("Where I/Os spend their time: no valid measurement could be broken down.".into());
        return;
    }
    for parts in &found {
        figures(parts, findings);
    }
    for kind in super::KINDS {
        let of_kind: Vec<&Parts> = found.iter().filter(|parts| parts.cell.kind == kind).collect();
        shallow(&of_kind, findings);
        queueing(&of_kind, findings);
        slow(&of_kind, findings);
    }
    findings.stacks.push(stack(
        "Where the time goes",
        "Means of the same I/Os, from the program's call until the program has the result.",
        &found,
        Parts::mean_ns,
    ));
    let tails: Vec<Parts> =
        found.iter().filter(|parts| parts.slow.len() >= SLOW_MIN).cloned().collect();
    if !tails.is_empty() {
        findings.stacks.push(stack(
            "Where the time of the slowest goes",
            "The slowest thousandth of each repetition: what is long here makes the tail.",
            &tails,
            Parts::slow_mean_ns,
        ));
    }
    findings.tables.push(table(&found));
    tax(setting, cells, summary, findings);
    dropped(run, findings);
}

fn estimate(parts: &Parts, of: impl Fn(&[f64; 4]) -> f64) -> Option<Estimate> {
    Estimate::positive_mean_of(&parts.means.iter().map(of).collect::<Vec<f64>>())
}

/// The whole and the device's part of the shallowest cell of each kind come first.
fn figures(parts: &Parts, findings: &mut Findings) {
    if parts.cell.depth > 1 {
        return;
    }
    let name = parts.cell.name();
    let device = Segment::Device as usize;
    let wanted = [
        (format!("{name}: mean"), estimate(parts, |means| means.iter().sum()), Unit::Ns),
        (format!("{name}: in the device"), estimate(parts, |means| means[device]), Unit::Ns),
    ];
    for (name, estimate, unit) in wanted {
        let Some(estimate) = estimate else { continue };
        let note = "traced; mean of repetitions".into();
        findings.figures.push(Figure { name, estimate, unit, note });
    }
}

/// The parts in words.
fn words(means: &[f64; 4]) -> String {
    let [submit, queue, device, wake_up] = means.map(time);
    format!(
        "{submit} submitting, {queue} in the kernel's queue, {device} in the device and {wake_up} \
         on the way back"
    )
}

fn shallow(of_kind: &[&Parts], findings: &mut Findings) {
    let Some(parts) = of_kind.first() else { return };
    let means = parts.mean_ns();
    findings.verdict.push(format!(
        "A {} takes {} on average: {}.",
        parts.cell.words(),
        time(means.iter().sum()),
        words(&means)
    ));
}

/// From which depth on I/Os wait before the driver's door.
fn queueing(of_kind: &[&Parts], findings: &mut Findings) {
    let share = |parts: &Parts| {
        let means = parts.mean_ns();
        means[Segment::Queue as usize] / means.iter().sum::<f64>().max(1.0)
    };
    let (Some(first), Some(last)) = (of_kind.first(), of_kind.last()) else { return };
    let word = first.cell.kind.word();
    match of_kind.iter().find(|parts| share(parts) >= QUEUE_SHARE) {
        Some(parts) => findings.verdict.push(format!(
            "From depth {} on random {word}s wait in the kernel's queue: {} of their time there, \
             {} at depth {}. The device is not given more at once.",
            parts.cell.depth,
            percent(share(parts)),
            percent(share(last)),
            last.cell.depth
        )),
        None if first.cell.depth == last.cell.depth => {}
        None => findings.verdict.push(format!(
            "Random {word}s hardly wait in the kernel's queue up to depth {}: at most {} of their \
             time.",
            last.cell.depth,
            percent(of_kind.iter().map(|parts| share(parts)).fold(0.0, f64::max))
        )),
    }
}

/// What the slowest of each depth have in common.
fn slow(of_kind: &[&Parts], findings: &mut Findings) {
    for parts in of_kind {
        if parts.slow.len() < SLOW_MIN {
            findings.unknown.push(format!(
                "What makes the slowest of {} slow: {} are too few; a longer run would tell \
                 (--full).",
                parts.cell.name(),
                counted(parts.all.total.count(), "I/O")
            ));
            continue;
        }
        let (means, usual) = (parts.slow_mean_ns(), parts.mean_ns());
        let gained: [f64; 4] = std::array::from_fn(|part| (means[part] - usual[part]).max(0.0));
        let most = (0..4).max_by(|a, b| gained[*a].total_cmp(&gained[*b])).unwrap_or(0);
        findings.remarks.push(Remark {
            cell: parts.cell.of(Side::Traced),
            text: format!(
                "slowest 0.1 %: {} of what they take beyond the mean is {}",
                percent(gained[most] / gained.iter().sum::<f64>().max(1.0)),
                Segment::ALL[most].word()
            ),
        });
    }
}

fn stack(title: &str, note: &str, found: &[Parts], of: fn(&Parts) -> [f64; 4]) -> Stack {
    let bar = |parts: &Parts| StackBar { label: parts.cell.name(), values: of(parts).to_vec() };
    Stack {
        title: title.into(),
        note: note.into(),
        quantity: "time of an I/O".into(),
        unit: Unit::Ns,
        parts: Segment::ALL.map(|segment| segment.word().to_string()).to_vec(),
        bars: found.iter().map(bar).collect(),
    }
}

fn head(name: &str, unit: Option<Unit>) -> Head {
    Head { name: name.into(), unit }
}

fn table(found: &[Parts]) -> Table {
    let ns = Some(Unit::Ns);
    let heads = vec![
        head("cell", None),
        head("part", None),
        head("mean", ns),
        head("p50", ns),
        head("p99", ns),
        head("p99.9", ns),
        head("mean of the slowest 0.1 %", ns),
    ];
    let mut rows = Vec::new();
    for parts in found {
        let slow = parts.slow_mean_ns();
        let all = Segment::ALL.iter().map(|segment| segment.word()).chain(["all"]);
        let histograms = parts.all.segments.iter().chain([&parts.all.total]);
        let slow = slow.into_iter().chain([slow.iter().sum()]);
        for ((word, histogram), slow) in all.zip(histograms).zip(slow) {
            let quantile = |share| match supported_quantile(histogram, share) {
                Some(ns) => Entry::Number(ns as f64),
                None => Entry::Nothing,
            };
            rows.push(vec![
                Entry::Text(parts.cell.name()),
                Entry::Text(word.into()),
                histogram.mean().map_or(Entry::Nothing, Entry::Number),
                quantile(0.5),
                quantile(0.99),
                quantile(0.999),
                if parts.slow.is_empty() { Entry::Nothing } else { Entry::Number(slow) },
            ]);
        }
    }
    Table {
        title: "Parts of the same I/Os".into(),
        note: "Means add up to the whole; percentiles do not, because what is slow in one part \
               need not be slow in another."
            .into(),
        heads,
        rows,
    }
}

/// Mean latencies of the sound repetitions of a cell.
fn mean_latencies(summary: &Summary, cell: Cell, side: Side) -> Vec<f64> {
    let name = cell.of(side);
    let is_sound = |step: &&StepSummary| {
        step.name == name && step.valid != Some(false) && step.incomplete.is_none()
    };
    let mean = |step: &StepSummary| Some(kind_of(step, cell)?.service_ns.as_ref()?.mean);
    summary.steps.iter().filter(is_sound).filter_map(mean).collect()
}

/// What the tracing itself costs: each cell with and without it.
fn tax(setting: &Setting<'_>, cells: &[Cell], summary: &Summary, findings: &mut Findings) {
    let side = |side: Side, name: &str| compare::Side {
        name: name.into(),
        samples: cells
            .iter()
            .map(|cell| Sample {
                name: cell.name(),
                metric: Metric::MeanNs,
                values: mean_latencies(summary, *cell, side),
                is_ordered: false,
                suspect: None,
            })
            .filter(|sample| !sample.values.is_empty())
            .collect(),
        facts: Vec::new(),
        is_by_run: false,
    };
    let (before, after) = (side(Side::Untraced, "untraced"), side(Side::Traced, "traced"));
    let Ok(comparison) = compare(&before, &after, Some(setting.options.delta)) else {
        findings.unknown.push("What the tracing costs: one of the two sides has no values.".into());
        return;
    };
    let ratio = |comparison: &Comparison, cell: &Cell| {
        let name = cell.name();
        comparison.cells.iter().find(|known| known.name == name)?.ratio
    };
    for (cell, ratio) in cells.iter().filter_map(|cell| Some((cell, ratio(&comparison, cell)?))) {
        if cell.depth == 1 || cells.len() <= 4 {
            findings.figures.push(tax_figure(*cell, ratio, &comparison));
        }
    }
    let slower = comparison.cells.iter().filter(|cell| cell.is_slower()).count();
    if slower > 0 {
        findings.unknown.push(format!(
            "How long the parts of {slower} of {} cells are without a tracer: tracing makes these \
             I/Os longer by more than {} (the comparison has each), and it is unknown which part.",
            comparison.cells.len(),
            percent(setting.options.delta)
        ));
    }
    findings.comparison = Some(comparison);
}

fn tax_figure(cell: Cell, ratio: Ratio, comparison: &Comparison) -> Figure {
    let name = cell.name();
    let known = comparison.cells.iter().find(|known| known.name == name);
    let less_one = |value: f64| value - 1.0;
    Figure {
        name: format!("{name}: tracing tax"),
        estimate: Estimate {
            value: ratio.value - 1.0,
            low: ratio.low.map(less_one),
            high: ratio.high.map(less_one),
            n: known.map_or(0, |known| known.n.1 as u64),
        },
        unit: Unit::Share,
        note: "of the mean, traced against untraced".into(),
    }
}

/// What could not be broken down.
fn dropped(run: &Run, findings: &mut Findings) {
    let anatomies = || run.steps.iter().filter_map(|step| step.anatomy.as_ref());
    let sum = |of: fn(&drivelab_core::anatomy::Anatomy) -> u64| anatomies().map(of).sum::<u64>();
    let stamped = sum(|anatomy| anatomy.stamped);
    let counts = [
        ("shared their sectors with another in flight", sum(|anatomy| anatomy.ambiguous)),
        ("lack an event", sum(|anatomy| anatomy.unpaired)),
        ("lie nowhere on the disk, or in several places", sum(|anatomy| anatomy.unmapped)),
    ];
    for (why, dropped) in counts.into_iter().filter(|(_, dropped)| *dropped > 0) {
        findings.deviations.push(format!(
            "{} of {} I/Os were left out because they {why}.",
            count(dropped),
            count(stamped)
        ));
    }
    let missed = sum(|anatomy| anatomy.missed);
    if missed > 0 || anatomies().any(|anatomy| anatomy.missed_more) {
        findings
            .deviations
            .push(format!("The kernel overwrote {} events before they were read.", count(missed)));
    }
}

fn mean(values: &[f64]) -> Entry {
    match values.len() {
        0 => Entry::Nothing,
        count => Entry::Number(values.iter().sum::<f64>() / count as f64),
    }
}

/// Without a tracer: the program's own stamps, and the kernel's sums.
fn untraced(why: &str, cells: &[Cell], summary: &Summary, findings: &mut Findings) {
    let ns = Some(Unit::Ns);
    let mut rows = Vec::new();
    for cell in cells {
        let of = |read: &dyn Fn(&StepSummary) -> Option<f64>| {
            sound(summary, *cell).filter_map(read).collect::<Vec<f64>>()
        };
        let submit = of(&|step| Some(kind_of(step, *cell)?.submit_ns.as_ref()?.mean));
        let total = of(&|step| Some(kind_of(step, *cell)?.service_ns.as_ref()?.mean));
        // The kernel counts whole milliseconds, over thousands of requests.
        let below = of(&|step| {
            let device = step.devices.iter().find(|device| device.reads + device.writes > 0)?;
            let requests = (device.reads + device.writes) as f64;
            Some(device.queue_ms as f64 * 1e6 / requests)
        });
        if total.is_empty() {
            continue;
        }
        rows.push(vec![Entry::Text(cell.name()), mean(&total), mean(&submit), mean(&below)]);
    }
    findings.no_answer = rows.is_empty();
    findings.tables.push(Table {
        title: "What the kernel's counters show".into(),
        note: "Means. The last column is from the kernel's counters, from queued to completed: it \
               covers the kernel's queue and the device together."
            .into(),
        heads: vec![
            head("cell", None),
            head("whole I/O", ns),
            head("in the submitting call", ns),
            head("queue and device", ns),
        ],
        rows,
    });
    if findings.no_answer {
        return findings
            .unknown
            .push("Where I/Os spend their time: no load has valid numbers.".into());
    }
    findings.verdict.push(
        "The time of an I/O is known as a whole, in the submitting call, and below it in queue \
         and device together."
            .into(),
    );
    findings.unknown.push(format!("How queue and device share the rest: {why}."));
}

/// A simulated drive has no kernel above it; it knows what its own I/Os waited for.
fn simulated(cells: &[Cell], run: &Run, summary: &Summary, findings: &mut Findings) {
    for part in [Segment::Submit, Segment::Queue, Segment::WakeUp] {
        findings.not_applicable.push(Remark {
            cell: part.word().into(),
            text: "a simulated drive has no kernel above it: all of an I/O's time is the device's"
                .into(),
        });
    }
    let found: Vec<Staged> =
        cells.iter().filter_map(|cell| staged::of(run, summary, *cell)).collect();
    for staged in &found {
        let (cause, _) = slowest_cause(summary, staged.cell);
        findings.figures.push(Figure {
            name: format!("{}: in the device", staged.cell.name()),
            estimate: staged.whole,
            unit: Unit::Ns,
            note: format!("the slowest waited for: {cause}"),
        });
        if staged.cell.depth == 1 {
            findings.verdict.push(staged.words());
        }
    }
    findings.no_answer = found.is_empty();
    findings.stacks.extend(staged::stack(&found));
    findings.tables.extend(staged::table(cells, &found));
    let row = |staged: &Staged| {
        let (cause, share) = slowest_cause(summary, staged.cell);
        vec![
            Entry::Text(staged.cell.name()),
            Entry::Number(staged.whole.value),
            Entry::Text(cause.into()),
            share.map_or(Entry::Nothing, Entry::Number),
        ]
    };
    findings.tables.push(Table {
        title: "What the slowest I/Os waited for".into(),
        note: "As the drive itself reports, the slowest of each repetition.".into(),
        heads: vec![
            head("cell", None),
            head("mean", Some(Unit::Ns)),
            head("the slowest waited for", None),
            head("of them", Some(Unit::Share)),
        ],
        rows: found.iter().map(row).collect(),
    });
}

/// What most of the slowest waited for, and how many of them.
fn slowest_cause(summary: &Summary, cell: Cell) -> (&'static str, Option<f64>) {
    let mut counts: BTreeMap<&'static str, u64> = BTreeMap::new();
    for slow in sound(summary, cell).flat_map(|step| &step.streams).flat_map(|it| &it.slowest) {
        *counts.entry(slow.cause.words()).or_insert(0) += 1;
    }
    let all: u64 = counts.values().sum();
    let most = counts.into_iter().max_by_key(|(_, count)| *count);
    most.map_or((Cause::Unknown.words(), None), |(words, count)| {
        (words, Some(count as f64 / all as f64))
    })
}

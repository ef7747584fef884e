//! `rank`: which of several drives is the fastest, in what, and by how much?
//!
//! The same few loads on each target: random and sequential, reads and writes, one at a time and
//! many at once. One target alone gives its profile; several are put in order by `across`.
//!
//! Each write comes after a rest, so that all repetitions find the same cache. Sequential writes
//! follow on the fill. Then the drive rests longer, and is read. Random writes come last: what a
//! cache has still to write back at random takes a disk's time from what follows, for as long as a
//! minute.

mod deviations;
mod links;
mod members;
mod places;

use crate::compare::{Side, compare};
use crate::experiment::budget::{Left, whole, written};
use crate::experiment::order::{in_rounds, missing, since_break};
use crate::experiment::{Allowance, Needs, Setting, Study, control, impossible, loads, region};
use drivelab_core::comparison::{Comparison, Metric, Sample};
use drivelab_core::facts::CacheState;
use drivelab_core::findings::{DotPanel, DotRow, Dots, Entry, Figure, Findings, Head, Table, Unit};
use drivelab_core::gathering::Member;
use drivelab_core::plan::{Act, Engine, Mix, Pattern, Plan, Role, Step, Stream, Until};
use drivelab_core::quantity::{digits, percent, time};
use drivelab_core::run::{Run, StepRun};
use drivelab_core::sound::{Rules, Sound};
use drivelab_core::study::Scale;
use drivelab_core::summary::{CellSummary, Summary};
use drivelab_core::units::{Size, Span};
use drivelab_stats::{Description, Estimate};

/// The study.
pub const STUDY: Study = Study {
    name: "rank",
    question: "Which of several drives is the fastest, in what, and by how much?",
    allowance,
    objection,
    next,
    judge,
    across: Some(across),
    quick_cost: Some("10 GiB written on each"),
    needs: Needs { targets: 2, ..Needs::PLAIN },
    priced: &["random read qd32", "random write qd32"],
    ..Study::PLAIN
};

/// The loads: name, share of reads in percent, bytes of a request, operations in flight. One at a
/// time it is pread and pwrite, as most programs do it.
const CELLS: [(&str, u32, u64, u32); 7] = [
    ("random read qd1", 100, 4 << 10, 1),
    ("random write qd1", 0, 4 << 10, 1),
    ("random read qd32", 100, 4 << 10, 32),
    ("random write qd32", 0, 4 << 10, 32),
    ("random 70/30 qd64", 70, 4 << 10, 64),
    ("sequential read", 100, 128 << 10, 32),
    ("sequential write", 0, 128 << 10, 32),
];
/// Their names.
const NAMES: [&str; CELLS.len()] = {
    let mut names = [""; CELLS.len()];
    let mut at = 0;
    while at < names.len() {
        names[at] = CELLS[at].0;
        at += 1;
    }
    names
};
const REPETITIONS: u64 = 5;
const SECOND_NS: u64 = 1_000_000_000;
/// Of the time that is left, at most this part for the long rest, and for each of the short ones.
const LONG_PART: u64 = 40;
const SHORT_PART: u64 = 150;
/// All rests together take at most this part.
const REST_PART: u64 = 5;
/// In which a cache writes back what it took.
const REST_NS: u64 = 10 * SECOND_NS;
/// Targets that differ by less over all loads share a place.
const BAND: f64 = 0.05;
/// What of the bytes the fill may take.
const FILL_SHARE: u64 = 2;
const GRAIN: u64 = 1 << 20;
/// A fill that came no further leaves nothing to measure on.
const FILLED_MIN: u64 = 16 << 20;

fn allowance(scale: Scale, bytes: u64) -> Allowance {
    let (minutes, budget) = match scale {
        Scale::Quick => (4, 10 << 30),
        Scale::Default => (15, bytes.saturating_mul(3)),
        Scale::Full => (120, bytes.saturating_mul(8)),
    };
    Allowance { time: Span(minutes * 60 * SECOND_NS), budget: Size(budget) }
}

fn objection(setting: &Setting<'_>) -> Option<String> {
    impossible(setting)
}

/// The bytes that are to be filled: all of the target where the budget allows it.
fn wanted_bytes(setting: &Setting<'_>) -> u64 {
    let affordable = setting.options.budget.0 / FILL_SHARE / GRAIN * GRAIN;
    setting.bytes().min(affordable)
}

/// The bytes that were filled, which all loads use: a fill that its time ended leaves less than was
/// wanted, and what lies behind it would be answered without the drive. `None`: too few. A target
/// that began full is used whole.
fn region_bytes(setting: &Setting<'_>, run: &Run) -> Option<u64> {
    if region::began_full(run) {
        return Some(setting.bytes());
    }
    let steps = since_break(run);
    let fills: Vec<StepRun> =
        steps.iter().filter(|step| step.begin.name == loads::FILL).cloned().collect();
    let filled = written(&fills).min(wanted_bytes(setting));
    let whole = if filled == setting.bytes() { filled } else { filled / GRAIN * GRAIN };
    (whole >= FILLED_MIN).then_some(whole)
}

fn next(setting: &Setting<'_>, run: &Run) -> Option<Plan> {
    let left = Left::of(setting, run);
    let steps = since_break(run);
    let is_filled = steps.iter().any(|step| step.begin.name == loads::FILL);
    if !is_filled && !region::began_full(run) {
        let mut fill = loads::fill(setting, 1, &left);
        fill.streams[0].length = Some(Size(wanted_bytes(setting)));
        fill.until.elapsed = Some(Span((left.time_ns / 2).max(1)));
        return Some(loads::plan(setting, SECOND_NS, vec![fill]));
    }
    let region = region_bytes(setting, run)?;
    let rest = missing(schedule(setting, &left, run, region), run);
    (!rest.is_empty() && left.time_ns > SECOND_NS)
        .then(|| loads::plan(setting, SECOND_NS / 10, rest))
}

fn schedule(setting: &Setting<'_>, left: &Left, run: &Run, region: u64) -> Vec<Step> {
    let writers = CELLS.iter().filter(|cell| cell.1 < 100).count() as u64;
    let all = REPETITIONS * (CELLS.len() as u64 + writers);
    let is_known = |step: &&StepRun| !matches!(step.begin.role, Role::Precondition | Role::Idle);
    let measured = run.steps.iter().filter(is_known).count() as u64;
    let longest = match setting.options.scale {
        Scale::Quick => 2 * SECOND_NS,
        Scale::Default => 5 * SECOND_NS,
        Scale::Full => 60 * SECOND_NS,
    };
    // A part of the time is for the rests.
    let missing = all.saturating_sub(measured).max(1);
    let each_ns = left.each(setting, missing + missing.div_ceil(REST_PART), longest);
    let each_ns = each_ns.max(SECOND_NS / 20);
    let write_bytes = left.bytes / (2 * writers * REPETITIONS);
    let of = |is_here: fn(&(&str, u32, u64, u32)) -> bool| {
        CELLS.into_iter().filter(is_here).collect::<Vec<_>>()
    };
    let in_order = of(|cell| cell.1 == 0 && !cell.0.starts_with("random"));
    let reads = of(|cell| cell.1 == 100);
    let at_random = of(|cell| cell.1 < 100 && cell.0.starts_with("random"));
    let mut steps = Vec::new();
    for (part, rests) in [(&in_order, true), (&reads, false), (&at_random, true)] {
        steps.extend((part == &reads).then(|| rest(REST_NS, left.time_ns / LONG_PART)));
        for cell in in_rounds(part, REPETITIONS, setting.options.seed) {
            steps.extend(rests.then(|| rest(REST_NS / 4, left.time_ns / SHORT_PART)));
            let step = one(setting, cell, region, [each_ns, write_bytes]);
            steps.extend(loads::settling(&step));
            steps.push(step);
        }
    }
    steps
}

/// Leaves the drive alone, so that its cache can write back what it took.
fn rest(wanted_ns: u64, most_ns: u64) -> Step {
    let span = Span(wanted_ns.min(most_ns).max(1));
    Step { name: "rest".into(), role: Role::Idle, act: Some(Act::Idle(span)), ..Step::default() }
}

fn one(
    setting: &Setting<'_>,
    (name, reads, size, depth): (&str, u32, u64, u32),
    region: u64,
    [each_ns, write_bytes]: [u64; 2],
) -> Step {
    let is_random = name.starts_with("random");
    let pattern = if is_random { Pattern::Uniform } else { Pattern::SEQUENTIAL };
    let mix = Mix { read: reads, write: 100 - reads, trim: 0 };
    let length = Some(Size(region));
    let base = match (loads::base(setting), depth) {
        (base, 1) => Stream { engine: Engine::Psync, ..base },
        (base, _) => base,
    };
    let stream = loads::deep(Stream { pattern, mix, size: Size(size), length, ..base }, depth);
    let bytes = (mix.write > 0).then(|| whole(write_bytes * 100 / u64::from(mix.write), size));
    let until = Until { elapsed: Some(Span(each_ns)), bytes, ..Until::default() };
    loads::step(setting, name, Role::Measure, until, stream)
}

fn judge(setting: &Setting<'_>, run: &Sound<'_>) -> Findings {
    let summary = run.summary();
    let order = CELLS.iter().map(|cell| cell.0.to_string()).collect();
    let mut findings = Findings { order, ..Findings::default() };
    for (name, _, size, depth) in CELLS {
        let Some(cell) = summary.cells.iter().find(|cell| cell.name == name) else { continue };
        figures(cell, size, depth, &mut findings.figures);
    }
    let is_sound = |cell: &(&str, u32, u64, u32)| rate(summary, cell.0).is_some();
    findings.no_answer = !CELLS.iter().any(is_sound);
    if findings.no_answer {
        findings.want_more(
            "How fast this target is: no load of it has valid numbers. More --time or --budget \
             measures more of them."
                .into(),
        );
    }
    for cell in ["random read qd1", "random write qd1"] {
        if let Some(mean) = latency(summary, cell) {
            findings.verdict.push(format!("A {cell} takes {} on average.", time(mean.value)));
        }
    }
    let counted: Vec<_> = summary.steps.iter().flat_map(|step| &step.devices).collect();
    members::shares(&run.begin.facts, &counted, &mut findings);
    findings.deviations = deviations::of(setting, run);
    findings
}

fn figures(cell: &CellSummary, size: u64, depth: u32, figures: &mut Vec<Figure>) {
    let Some(stream) = cell.streams.first() else { return };
    let (estimate, unit) = match size > 4096 {
        true => (stream.total.bandwidth_bytes_per_s, Unit::BytesPerS),
        false => (stream.total.iops, Unit::Iops),
    };
    let figure =
        |name: String, estimate, unit| Figure { name, estimate, unit, note: String::new() };
    figures.extend(estimate.map(|it| figure(cell.name.clone(), it, unit)));
    if depth == 1 {
        let mean = mean_latency(cell);
        figures.extend(mean.map(|it| figure(format!("{}, mean", cell.name), it, Unit::Ns)));
    }
}

fn mean_latency(cell: &CellSummary) -> Option<Estimate> {
    let kinds = &cell.streams.first()?.kinds;
    kinds.values().next()?.service_ns.as_ref()?.mean
}

fn latency(summary: &Summary, name: &str) -> Option<Estimate> {
    mean_latency(summary.cells.iter().find(|cell| cell.name == name)?)
}

/// Puts the members in order.
///
/// Each load is compared with the fastest target of that load; the place is by the geometric mean
/// of those ratios over the loads that all sound members have.
fn across(members: &[Member<'_>]) -> Findings {
    let mut findings = Findings::default();
    let summaries: Vec<(&str, Summary)> = members
        .iter()
        .map(|member| (member.target, Sound::of(member.run, Rules::STRICT).into_summary()))
        .collect();
    let sound: Vec<(&str, &Summary)> =
        summaries.iter().map(|(target, it)| (*target, it)).filter(|it| has_all(it.1)).collect();
    for (target, _) in summaries.iter().filter(|(_, it)| !has_all(it)) {
        findings
            .unknown
            .push(format!("The place of {target}: not all of its loads have valid numbers."));
    }
    let mut places: Vec<(&str, &Summary, f64)> =
        sound.iter().map(|(target, it)| (*target, *it, slowness(it, &sound))).collect();
    places.sort_by(|one, other| one.2.total_cmp(&other.2));
    let Some((first, best, _)) = places.first().copied() else { return findings };
    let Ok(comparison) = against(first, best, &places[1..]) else { return findings };
    findings.verdict = in_order(&places, &comparison);
    let all: Vec<(&str, &Summary)> = places.iter().map(|place| (place.0, place.1)).collect();
    findings.verdict.extend(places::beside(&all));
    findings.tables.push(table(&places));
    findings.tables.push(places::table(&all));
    findings.tables.push(latencies(&places));
    findings.tables.extend(links::table(members, &all));
    findings.deviations.extend(members.iter().filter_map(array_cache));
    findings.deviations.extend(deviations::of_caches(members.iter().map(|member| member.run)));
    findings.dots = vec![dots(&all)];
    findings.comparison = Some(comparison);
    findings
}

/// All loads of all members, a mark each: the rates of large requests have an axis of their own.
fn dots(all: &[(&str, &Summary)]) -> Dots {
    let value = |summary: &Summary, name: &str, is_large: bool| {
        let cell = summary.cells.iter().find(|cell| cell.name == name)?;
        let total = &cell.streams.first().filter(|_| cell.valid != Some(false))?.total;
        if is_large { total.bandwidth_bytes_per_s } else { total.iops }
    };
    let panel = |is_large: bool, quantity: &str, unit| {
        let of_panel = CELLS.iter().filter(|cell| (cell.2 > 4096) == is_large);
        let row = |(name, ..): &(&str, u32, u64, u32)| DotRow {
            label: (*name).into(),
            values: all.iter().map(|(_, summary)| value(summary, name, is_large)).collect(),
        };
        DotPanel { quantity: quantity.into(), unit, rows: of_panel.map(row).collect() }
    };
    Dots {
        title: "Every load of every drive".into(),
        note:
            "A mark is a rate with its 95 % interval, on a logarithmic axis: equal distances are \
               equal ratios. Further to the right is faster."
                .into(),
        sides: all.iter().map(|(target, _)| (*target).to_string()).collect(),
        panels: vec![
            panel(false, "requests of 4 KiB, IOPS", Unit::Iops),
            panel(true, "requests of 128 KiB, bytes per second", Unit::BytesPerS),
        ],
    }
}

/// What a simulated array's cache held.
fn array_cache(member: &Member<'_>) -> Option<String> {
    let target = member.target;
    Some(match member.run.begin.facts.target.simulated?.array_cache? {
        CacheState::Cold => format!(
            "{target}: the array's memory was cold, and answered only reads of what had just been \
             written; cache_state=warm in its name makes it hold the beginning of the volume."
        ),
        CacheState::Warm => format!(
            "{target}: the array's memory was warm (cache_state=warm): it answered the reads of \
             the beginning of the volume."
        ),
    })
}

fn rate(summary: &Summary, name: &str) -> Option<f64> {
    let cell = summary.cells.iter().find(|cell| cell.name == name)?;
    let rate = cell.streams.first()?.total.iops?.value;
    (cell.valid != Some(false) && rate > 0.0).then_some(rate)
}

fn has_all(summary: &Summary) -> bool {
    CELLS.iter().all(|cell| rate(summary, cell.0).is_some())
}

/// How many times slower than the fastest of each load, as a geometric mean.
fn slowness(summary: &Summary, sound: &[(&str, &Summary)]) -> f64 {
    let of_cell = |(name, ..): &(&str, u32, u64, u32)| {
        let rates = sound.iter().filter_map(|(_, summary)| rate(summary, name));
        let fastest = rates.fold(f64::MIN_POSITIVE, f64::max);
        rate(summary, name).map(|rate| (fastest / rate).ln())
    };
    let logs: Vec<f64> = CELLS.iter().filter_map(of_cell).collect();
    (logs.iter().sum::<f64>() / logs.len().max(1) as f64).exp()
}

/// How many times slower one target is than another over these loads: the geometric mean of the
/// ratios, with its 95 % interval from the spread of the repetitions (delta method, normal).
fn slower_by(one: &Summary, other: &Summary, names: &[&str]) -> (f64, f64, f64) {
    let logs = |summary: &Summary, name: &str| -> (f64, f64) {
        let logs: Vec<f64> = control::centred(summary, name).iter().map(|rate| rate.ln()).collect();
        let found = Description::of(&logs).ok();
        let mean = found.as_ref().map_or(0.0, |found| found.mean);
        let deviation = found.and_then(|found| found.deviation).unwrap_or(0.0);
        (mean, deviation * deviation / logs.len().max(1) as f64)
    };
    let (mut sum, mut variance) = (0.0, 0.0);
    for name in names {
        let (fast, slow) = (logs(one, name), logs(other, name));
        sum += fast.0 - slow.0;
        variance += fast.1 + slow.1;
    }
    let count = names.len() as f64;
    let (middle, reach) = (sum / count, 1.96 * variance.sqrt() / count);
    (middle.exp(), (middle - reach).exp(), (middle + reach).exp())
}

/// Every load of every other target against the same of the first.
fn against(
    first: &str,
    best: &Summary,
    others: &[(&str, &Summary, f64)],
) -> Result<Comparison, String> {
    let sample = |name: &str, cell: &str, summary: &Summary| Sample {
        name: name.into(),
        metric: Metric::Iops,
        values: control::centred(summary, cell),
        is_ordered: false,
        suspect: None,
    };
    let side = |name: &str, samples| Side {
        name: name.into(),
        samples,
        facts: Vec::new(),
        is_by_run: false,
    };
    let (mut before, mut after) = (Vec::new(), Vec::new());
    for (target, summary, _) in others {
        for (cell, ..) in CELLS {
            let name = cell_of(target, cell);
            before.push(sample(&name, cell, best));
            after.push(sample(&name, cell, summary));
        }
    }
    compare(&side(first, before), &side("the others", after), None)
}

fn cell_of(target: &str, cell: &str) -> String {
    format!("{target} · {cell}")
}

fn in_order(places: &[(&str, &Summary, f64)], comparison: &Comparison) -> Vec<String> {
    let mut order = places.first().map_or_else(String::new, |place| place.0.to_string());
    let mut apart = Vec::new();
    for pair in places.windows(2) {
        let [(faster, one, _), (slower, other, _)] = pair else { continue };
        let (ratio, low, high) = slower_by(one, other, &NAMES);
        let is_open = low <= 1.0 + BAND;
        order.push_str(&format!(" {} {slower}", if is_open { "≈" } else { ">" }));
        let interval = format!("{} to {}", digits(low), digits(high));
        apart.push(match is_open {
            false => format!(
                "{slower} is {} times slower than {faster} over all loads ({interval}).",
                digits(ratio)
            ),
            true => format!(
                "Whether {slower} is slower than {faster} by more than {} over all loads cannot be \
                 determined: {interval} times.",
                percent(BAND)
            ),
        });
    }
    let mut verdict = vec![format!("From the fastest to the slowest: {order}.")];
    verdict.extend(apart);
    let open = comparison.cells.iter().filter(|cell| cell.word() == "cannot tell").count();
    if open > 0 {
        verdict.push(format!(
            "In {open} of {} comparisons with {} the noise is too large to tell.",
            comparison.cells.len(),
            comparison.before
        ));
    }
    verdict
}

fn table(places: &[(&str, &Summary, f64)]) -> Table {
    let head = |name: &str, unit| Head { name: name.into(), unit };
    let all: Vec<(&str, &Summary)> = places.iter().map(|place| (place.0, place.1)).collect();
    let order = places::order(&all, &NAMES);
    let row = |(target, _, slowness): &(&str, &Summary, f64)| {
        let of_all = order.iter().find(|((one, _), _)| one == target).map_or(0, |(_, at)| *at);
        let is_shared = order.iter().filter(|(_, at)| *at == of_all).count() > 1;
        let place = format!("{of_all}{}", if is_shared { " =" } else { "" });
        vec![Entry::Text(place), Entry::Text((*target).to_string()), Entry::Number(*slowness)]
    };
    Table {
        title: "Places".into(),
        note: "How many times slower than the fastest target of each load, as a geometric mean \
               over the loads: the place goes by it. Targets that cannot be distinguished by more \
               than 5 % share a place (=)."
            .into(),
        heads: vec![head("place", None), head("target", None), head("slower", Some(Unit::Factor))],
        rows: places.iter().map(row).collect(),
    }
}

fn latencies(places: &[(&str, &Summary, f64)]) -> Table {
    let head = |name: &str, unit| Head { name: name.into(), unit };
    let names = ["random read qd1", "random write qd1"];
    let least = |name: &str| {
        let means = places.iter().filter_map(|place| latency(place.1, name));
        means.map(|mean| mean.value).fold(f64::INFINITY, f64::min)
    };
    let row = |place: &(&str, &Summary, f64)| {
        let mut row = vec![Entry::Text(place.0.to_string())];
        for name in names {
            let mean = latency(place.1, name).map(|mean| mean.value);
            row.push(mean.map_or(Entry::Nothing, Entry::Number));
            row.push(mean.map_or(Entry::Nothing, |mean| Entry::Number(mean / least(name))));
        }
        row
    };
    Table {
        title: "One operation at a time".into(),
        note: "Mean latency, and how many times that of the quickest.".into(),
        heads: vec![
            head("target", None),
            head("read", Some(Unit::Ns)),
            head("by the quickest", Some(Unit::Factor)),
            head("write", Some(Unit::Ns)),
            head("by the quickest", Some(Unit::Factor)),
        ],
        rows: places.iter().map(row).collect(),
    }
}

//! Each pattern against what it is a variant of.

use super::cell::{Base, Cell, Pattern};
use super::{possible, slides, unit, words};
use crate::experiment::order::is_broken;
use crate::experiment::{Setting, control, region};
use drivelab_core::comparison::{Cell as Heat, Metric};
use drivelab_core::findings::{Figure, Findings, HeatMap, HeatRow, Remark, Unit};
use drivelab_core::op::Action;
use drivelab_core::quantity::{percent, size};
use drivelab_core::sound::Sound;
use drivelab_core::summary::{StepSummary, Summary};
use drivelab_stats::{Estimate, Pair, judge as compared};
use std::collections::HashMap;

/// What one repetition of a cell says.
#[derive(Debug, Clone, Copy)]
pub(super) struct Repetition {
    /// Mean latency of an operation, pauses left out.
    pub latency: f64,
    /// Time by operations, pauses included.
    pub each: f64,
    /// Share of operations that were writes.
    pub writes: f64,
    /// Operations, and the seconds in which they were done.
    pub done: f64,
    pub seconds: f64,
    /// Reads, and the nanoseconds that they took together.
    pub reads: (f64, f64),
}

pub(super) type Measured = HashMap<Cell, Vec<Repetition>>;

/// One ratio to be judged: where it stands, and the values on both sides.
struct Held {
    cell: Cell,
    row: String,
    column: Base,
    before: Vec<f64>,
    after: Vec<f64>,
}

pub(super) fn judge(setting: &Setting<'_>, run: &Sound<'_>) -> Findings {
    let summary = run.summary();
    let all = possible(setting);
    let order = all.iter().map(|cell| cell.name()).collect();
    let mut findings = Findings { order, ..Findings::default() };
    let measured: Measured = all.iter().map(|cell| (*cell, measured(summary, *cell))).collect();
    let plain = |base: &Base| Cell::of(Pattern::Plain, *base);
    let drifting: Vec<(String, Vec<f64>)> = Base::ALL
        .iter()
        .map(|base| (plain(base).name(), control::values(summary, &plain(base).name())))
        .collect();
    control::drift(&drifting, 0.0, &mut findings);
    figures(setting, &measured, &mut findings);
    let judged = judged(setting, &all, &measured);
    words::conclude(setting, &judged, &mut findings);
    match setting.options.absolute {
        true => slides::tell(setting, run, &measured, &mut findings),
        false => findings.heat_maps.extend(map(setting, &judged)),
    }
    lists(summary, &all, &measured, &mut findings);
    not_applicable(setting, &mut findings);
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

/// What is sound of a cell, in the order of its rounds; of a list only rounds in which its second
/// time went no further than the first.
fn measured(summary: &Summary, cell: Cell) -> Vec<Repetition> {
    let Some(count) = cell.listed() else {
        return control::sound(summary, &cell.name()).filter_map(counts).collect();
    };
    let of = |pattern| Cell::of(pattern, cell.base).name();
    let names = (of(Pattern::First(count)), of(Pattern::Second(count)));
    let is_sound = |step: &StepSummary| step.valid != Some(false) && step.incomplete.is_none();
    let is_pair = |pair: &&[StepSummary]| {
        (&pair[0].name, &pair[1].name) == (&names.0, &names.1) && pair.iter().all(is_sound)
    };
    let pairs = summary.steps.windows(2).filter(is_pair);
    let both = pairs.filter_map(|pair| Some((counts(&pair[0])?, counts(&pair[1])?)));
    let whole = both.filter(|(first, second)| second.done <= first.done);
    let is_first = matches!(cell.pattern, Pattern::First(_));
    whole.map(|(first, second)| if is_first { first } else { second }).collect()
}

/// What one step counted.
fn counts(step: &StepSummary) -> Option<Repetition> {
    let stream = step.streams.first()?;
    let (mut spent, mut done, mut reads) = (0.0, 0.0, (0.0, 0.0));
    for (action, kind) in &stream.kinds {
        let Some(latency) = kind.service_ns else { continue };
        let (count, took) = (latency.count as f64, latency.mean * latency.count as f64);
        (spent, done) = (spent + took, done + count);
        if *action == Action::Read {
            reads = (count, took);
        }
    }
    let seconds = stream.seconds?;
    let (each, writes) = (seconds * 1e9 / done, (done - reads.0) / done);
    let found = Repetition { latency: spent / done, each, writes, done, seconds, reads };
    (done > 0.0 && found.latency > 0.0).then_some(found)
}

/// Says of lists how far the drive came.
fn lists(summary: &Summary, all: &[Cell], measured: &Measured, findings: &mut Findings) {
    for cell in all.iter().filter(|cell| matches!(cell.pattern, Pattern::Second(_))) {
        let count = u64::from(cell.listed().unwrap_or(0));
        let found = measured.get(cell).map_or(&[][..], |it| it);
        let least = found.iter().map(|one| one.done as u64).min();
        if least.is_none() && control::sound(summary, &cell.name()).next().is_some() {
            findings.not_applicable.push(Remark {
                cell: cell.name(),
                text: "the first time did not come to the end of the list in the time of a step, \
                       and the second went beyond it"
                    .into(),
            });
        }
        if let Some(least) = least.filter(|least| *least < count) {
            findings.deviations.push(format!(
                "{}: of the {count} addresses only the first {least} were accessed in the time of \
                 a step.",
                cell.name()
            ));
        }
    }
}

/// One over what each repetition took: a rate of service.
fn rates(measured: &Measured, cell: Cell, time: fn(&Repetition) -> f64) -> Vec<f64> {
    measured.get(&cell).into_iter().flatten().map(|one| 1e9 / time(one)).collect()
}

/// What a row is compared with, in words for the map.
pub(super) fn against(pattern: Pattern, unit: u64) -> String {
    match pattern {
        Pattern::Plain | Pattern::Large | Pattern::Sized(_) => format!("{} requests", size(unit)),
        Pattern::Shifted(_) => "4 KiB on their grid".into(),
        Pattern::BurstDelay(count, _) => format!("bursts of {count}"),
        Pattern::Burst(_) => "one at a time".into(),
        Pattern::Reply | Pattern::WriteRead(_) | Pattern::SemiRandom(_) | Pattern::Mixed(..) => {
            "the sum of both alone".into()
        }
        Pattern::Grid(_) => format!("grid of {}", size(unit)),
        Pattern::Delay(_) => "no pause".into(),
        Pattern::Replay(_) => "new addresses".into(),
        Pattern::First(_) | Pattern::Second(_) => "their first time".into(),
        Pattern::Apart(grid) | Pattern::Across(_, grid) => {
            format!("the same at multiples of {}", size(grid))
        }
    }
}

/// Both sides of a cell; `None` where it is what others are compared with.
fn sides(measured: &Measured, cell: Cell) -> Option<(Vec<f64>, Vec<f64>)> {
    let latency = |one: &Repetition| one.latency;
    let of = |pattern| rates(measured, Cell::of(pattern, cell.base), latency);
    let after = of(cell.pattern);
    let before = match cell.pattern {
        Pattern::Plain | Pattern::Apart(_) | Pattern::Sized(_) | Pattern::First(_) => return None,
        Pattern::Large | Pattern::Grid(_) | Pattern::Delay(_) | Pattern::Replay(_) => {
            of(Pattern::Plain)
        }
        Pattern::Shifted(_) => of(Pattern::Large),
        Pattern::Second(count) => of(Pattern::First(count)),
        Pattern::BurstDelay(count, _) => of(Pattern::Burst(count)),
        Pattern::Across(_, grid) => of(Pattern::Apart(grid)),
        Pattern::Burst(_) => {
            let each = |one: &Repetition| one.each;
            let plain = rates(measured, Cell::of(Pattern::Plain, cell.base), each);
            return Some((plain, rates(measured, cell, each)));
        }
        _ => ideal(measured, cell),
    };
    Some((before, after))
}

/// The rate that a pattern of two parts would have if each operation took what it takes alone:
/// `1 ÷ ((1 − p) · T + p · T')`, round by round.
fn ideal(measured: &Measured, cell: Cell) -> Vec<f64> {
    let plain = |base| measured.get(&Cell::of(Pattern::Plain, base)).map_or(&[][..], |it| it);
    let reads = plain(Base::RandomRead);
    let writes = match cell.pattern {
        Pattern::Mixed(_, true) => plain(Base::SequentialWrite),
        _ => plain(Base::RandomWrite),
    };
    let (first, second) = match cell.pattern {
        Pattern::SemiRandom(_) => (plain(cell.base), plain(cell.base.random())),
        _ => (reads, writes),
    };
    let own = measured.get(&cell).into_iter().flatten();
    first
        .iter()
        .zip(second)
        .zip(own)
        .map(|((first, second), own)| {
            let share = match cell.pattern {
                Pattern::SemiRandom(share) => f64::from(share) / 100.0,
                _ => own.writes,
            };
            1e9 / ((1.0 - share) * first.latency + share * second.latency)
        })
        .collect()
}

/// Every ratio, judged as one family.
fn judged(setting: &Setting<'_>, all: &[Cell], measured: &Measured) -> Vec<(Cell, Base, Heat)> {
    let mut held: Vec<Held> = Vec::new();
    let of = |base| {
        let cell = Cell::of(Pattern::Plain, base);
        (cell, rates(measured, cell, |one| one.latency))
    };
    for (row, pairs) in ORDERS {
        for (before, after) in pairs {
            let ((_, before), (cell, after_rates)) = (of(before), of(after));
            let row = row.to_string();
            held.push(Held { cell, row, column: after, before, after: after_rates });
        }
    }
    for cell in all {
        let Some((before, after)) = sides(measured, *cell) else { continue };
        let row = cell.pattern.words();
        held.push(Held { cell: *cell, row, column: cell.base, before, after });
    }
    held.retain(|it| !it.before.is_empty() && !it.after.is_empty());
    let delta = setting.options.delta;
    let family: Vec<Pair<'_>> =
        held.iter().map(|it| Pair { before: &it.before, after: &it.after, delta }).collect();
    let Ok(found) = compared(&family) else { return Vec::new() };
    let heat = |(it, found): (Held, drivelab_stats::Judged)| {
        let heat = Heat {
            name: it.row,
            metric: Metric::Iops,
            verdict: Some(found.verdict),
            ratio: Some(found.ratio),
            p_adjusted: found.p_adjusted,
            needs_n: found.needs_n,
            open: found.open,
            values: None,
            n: (it.before.len(), it.after.len()),
            suspect: None,
        };
        (it.cell, it.column, heat)
    };
    held.into_iter().zip(found).map(heat).collect()
}

/// Rows that hold the plain cells against each other: before and after.
pub(super) const IN_ORDER: &str = "in order";
pub(super) const WRITES: &str = "writes";
const ORDERS: [(&str, [(Base, Base); 2]); 2] = [
    (
        IN_ORDER,
        [(Base::RandomRead, Base::SequentialRead), (Base::RandomWrite, Base::SequentialWrite)],
    ),
    (
        WRITES,
        [(Base::RandomRead, Base::RandomWrite), (Base::SequentialRead, Base::SequentialWrite)],
    ),
];

fn map(setting: &Setting<'_>, judged: &[(Cell, Base, Heat)]) -> Option<HeatMap> {
    let mut rows: Vec<HeatRow> = Vec::new();
    for (cell, column, heat) in judged {
        let place = Base::ALL.iter().position(|base| base == column)?;
        if rows.last().is_none_or(|row| row.name != heat.name) {
            let against = match heat.name.as_str() {
                IN_ORDER => "the same at random".into(),
                WRITES => "reads".into(),
                _ => against(cell.pattern, unit(setting)),
            };
            rows.push(HeatRow { name: heat.name.clone(), against, cells: vec![None; 4] });
        }
        if let Some(row) = rows.last_mut() {
            row.cells[place] = Some(heat.clone());
        }
    }
    (!rows.is_empty()).then(|| HeatMap {
        title: "What each pattern does to the rate".into(),
        note: format!(
            "Each ratio is the rate of service (1 ÷ mean latency; pauses do not count; of bursts \
             operations ÷ time) by that of its reference, for requests of {}. Below 1 the pattern \
             is slower. Where two loads meet, 1 is what they would reach if every operation took \
             the time that it takes alone. Only what lies wholly outside {} is coloured.",
            size(unit(setting)),
            percent(setting.options.delta)
        ),
        columns: Base::ALL.map(|base| base.words().to_string()).to_vec(),
        rows,
    })
}

fn figures(setting: &Setting<'_>, measured: &Measured, findings: &mut Findings) {
    for base in Base::ALL {
        let cell = Cell::of(Pattern::Plain, base);
        let rate = match setting.options.absolute {
            true => slides::rate(measured, cell),
            false => Estimate::positive_mean_of(&rates(measured, cell, |one| one.latency)),
        };
        findings.figures.extend(rate.map(|estimate| Figure {
            name: base.words().into(),
            estimate,
            unit: Unit::Iops,
            note: format!("{}, one at a time", size(unit(setting))),
        }));
    }
}

fn not_applicable(setting: &Setting<'_>, findings: &mut Findings) {
    let mut remark = |cell: &str, text: &str| {
        findings.not_applicable.push(Remark { cell: cell.into(), text: text.into() });
    };
    if unit(setting) > 512 {
        remark(
            "requests of 512 B, grids and shifts below 4 KiB",
            "the target takes no direct I/O of 512 B; everything was measured with 4 KiB",
        );
    }
    let is_deep = |cell: &Cell| matches!(cell.pattern, Pattern::Burst(_));
    if !possible(setting).iter().any(is_deep) {
        remark("bursts", "the target takes no direct I/O, and buffered I/O is one at a time");
    }
    if !setting.is_drive() {
        remark("8 KiB across …", "where the parts of a file lie is up to its file system");
    }
}

//! The table, and why buffered is slower, from what was in flight at the drive.

use super::{Cell, DEPTH, READS, cells, load_name};
use crate::compare::{Side, compare};
use crate::experiment::order::is_complete;
use crate::experiment::{Setting, control};
use crate::modes::judge::{TOLERANCE, not_applicable, reached};
use crate::modes::{Mode, region};
use drivelab_core::comparison::{Comparison, Metric, Sample};
use drivelab_core::findings::{Entry, Findings, Head, Table, Unit};
use drivelab_core::op::Action;
use drivelab_core::quantity::{digits, operations, percent, size};
use drivelab_core::run::{Run, StepRun};
use drivelab_core::sound::Sound;
use drivelab_core::summary::{CellKind, Summary};
use drivelab_stats::{Estimate, Pair, Verdict};

/// Fewer than this at a time are one after the other.
const SERIAL_MAX: f64 = 2.0;
/// With less than this, most of the time no read was waited for.
const WAITED_MIN: f64 = 0.5;

pub fn judge(setting: &Setting<'_>, run: &Sound<'_>) -> Findings {
    let cells = cells(setting);
    let order = cells.iter().map(|cell| cell.name()).collect();
    let mut findings = Findings { order, ..Findings::default() };
    not_applicable(setting, &mut findings);
    let seen: Vec<Seen> = cells.iter().map(|cell| Seen::of(*cell, run)).collect();
    findings.tables.push(rates_table(&seen));
    findings.tables.push(drive_table(&seen));
    findings.comparison = compared(setting, &seen);
    findings.no_answer = findings.comparison.is_none();
    if findings.no_answer {
        findings.unknown.push(
            "Whether direct or buffered I/O is faster: not both of them have valid numbers here."
                .into(),
        );
    }
    answer(&seen, &mut findings);
    findings.deviations.push(format!(
        "On {} of the target, by libaio, 4 KiB. Memory was written back and dropped before each \
         cell; the load then ran once unmeasured.",
        size(region(setting))
    ));
    findings
}

/// What was seen of one cell.
struct Seen {
    cell: Cell,
    /// Operations a second of each sound repetition.
    rates: Vec<f64>,
    /// Of all of them, of reads and of writes.
    rate: Option<Estimate>,
    kinds: [Option<f64>; 2],
    /// Reads in flight at the drive.
    in_flight: Option<Estimate>,
    /// Bytes that the drive read, and wrote, by bytes that were asked for.
    reached: [Option<Estimate>; 2],
}

impl Seen {
    fn of(cell: Cell, run: &Sound<'_>) -> Seen {
        let (summary, name): (&Summary, String) = (run.summary(), cell.name());
        let known = summary.cells.iter().find(|known| known.name == name);
        let stream = known.and_then(|known| known.streams.first());
        let of_kind = |kind| {
            let found: &CellKind = stream?.kinds.get(&kind)?;
            found.rates.iops.map(|iops| iops.value)
        };
        let steps = || run.steps.iter().filter(|step| step.begin.name == name && is_complete(step));
        let mean = |of: &dyn Fn(&StepRun) -> Option<f64>| {
            let values: Vec<f64> = steps().filter_map(of).collect();
            let low = |it: Estimate| it.low.map(|low| low.max(0.0));
            Estimate::mean_of(&values).map(|it| Estimate { low: low(it), ..it })
        };
        Seen {
            cell,
            rates: control::centred(summary, &name),
            rate: stream.and_then(|stream| stream.total.iops),
            kinds: [of_kind(Action::Read), of_kind(Action::Write)],
            in_flight: mean(&|step| reads_in_flight(run, step)),
            reached: [Action::Read, Action::Write]
                .map(|kind| mean(&|step| reached(run, step, kind))),
        }
    }
}

/// Reads in flight at the drive, on average: the time that all of them took there, by the time that
/// passed. `None`: nobody counted.
fn reads_in_flight(run: &Run, step: &StepRun) -> Option<f64> {
    let end = step.end.as_ref()?;
    let target = &run.begin.facts.target;
    let reads_ns = match target.simulated {
        Some(known) => end.inside.filter(|_| known.page_cache_bytes.is_some())?.drive_read_ns,
        None => {
            let top = &target.devices.first()?.name;
            let found = end.devices.iter().find(|it| it.name == *top && !it.uncounted)?;
            found.queue_ms.saturating_sub(found.write_ms) * 1_000_000
        }
    };
    let span_ns = step.duration_ns();
    (span_ns > 0 && !step.tallies.is_empty()).then(|| reads_ns as f64 / span_ns as f64)
}

/// The article's own: reads and writes in either mode; of several targets each is a column.
fn rates_table(seen: &[Seen]) -> Table {
    let deep = || seen.iter().filter(|seen| seen.cell.depth == DEPTH);
    let row = |at: usize, kind: &str, seen: &Seen| {
        let value = seen.kinds[at].map_or(Entry::Nothing, Entry::Number);
        vec![Entry::Text(format!("{kind}, {}", seen.cell.mode.word())), value]
    };
    let kinds = ["reads", "writes"].into_iter().enumerate();
    let rows = kinds.flat_map(|(at, kind)| deep().map(move |seen| row(at, kind, seen)));
    Table {
        title: "Direct and buffered".into(),
        note: format!("{READS} % reads, 4 KiB at random, {DEPTH} in flight by libaio, one worker."),
        heads: vec![head("mode", None), head("rate", Some(Unit::Iops))],
        rows: rows.collect(),
    }
}

/// The evidence.
fn drive_table(seen: &[Seen]) -> Table {
    let number = |it: Option<Estimate>| it.map_or(Entry::Nothing, |it| Entry::Number(it.value));
    let row = |seen: &Seen| {
        vec![
            Entry::Text(format!("{}, qd{}", seen.cell.mode.word(), seen.cell.depth)),
            number(seen.rate),
            number(seen.in_flight),
            number(seen.reached[0]),
            number(seen.reached[1]),
        ]
    };
    Table {
        title: "At the drive".into(),
        note: "Reads in flight at the drive: the time that all of them took there, divided by the \
               time that passed. What did not reach it was answered by RAM, or not yet written \
               back; more than 100 % is read-ahead, or late write-back."
            .into(),
        heads: vec![
            head("load", None),
            head("all", Some(Unit::Iops)),
            head("reads in flight", Some(Unit::Count)),
            head("reads reached", Some(Unit::Share)),
            head("writes reached", Some(Unit::Share)),
        ],
        rows: seen.iter().map(row).collect(),
    }
}

fn head(name: &str, unit: Option<Unit>) -> Head {
    Head { name: name.into(), unit }
}

fn compared(setting: &Setting<'_>, seen: &[Seen]) -> Option<Comparison> {
    let side = |mode: Mode| {
        let all = seen.iter().filter(|seen| seen.cell.mode == mode && !seen.rates.is_empty());
        let samples = all.map(|seen| Sample {
            name: load_name(seen.cell.depth),
            metric: Metric::Iops,
            values: seen.rates.clone(),
            is_ordered: false,
            suspect: None,
        });
        let samples: Vec<_> = samples.collect();
        Side { name: mode.word().into(), samples, facts: Vec::new(), is_by_run: false }
    };
    let found =
        compare(&side(Mode::Direct), &side(Mode::Buffered), Some(setting.options.delta)).ok()?;
    found.cells.iter().any(|cell| cell.name == load_name(DEPTH)).then_some(found)
}

/// Which is faster, and why as far as it was seen.
fn answer(seen: &[Seen], findings: &mut Findings) {
    let of = |mode, depth| seen.iter().find(|it| it.cell == Cell { mode, depth });
    let (Some(direct), Some(buffered)) = (of(Mode::Direct, DEPTH), of(Mode::Buffered, DEPTH))
    else {
        return;
    };
    let name = load_name(DEPTH);
    let cells = findings.comparison.iter().flat_map(|it| &it.cells);
    let Some(cell) = cells.clone().find(|cell| cell.name == name) else { return };
    let (Some(ratio), word) = (cell.ratio, cell.word()) else { return };
    let rate = |seen: &Seen| seen.rate.map_or_else(String::new, |it| operations(it.value));
    let said = format!(
        "At depth {DEPTH} buffered I/O does {} × what direct I/O does ({word}): {} against {}.",
        digits(ratio.value),
        rate(buffered),
        rate(direct)
    );
    match word {
        "cannot tell" => findings.unknown.push(said),
        _ => findings.verdict.push(said),
    }
    match word {
        "slower" => match why_slower(direct, buffered, of(Mode::Direct, 1)) {
            Ok(text) => findings.verdict.push(text),
            Err(text) => findings.unknown.push(format!("Why buffered I/O is slower: {text}")),
        },
        "faster" => match by_memory(buffered) {
            Some(text) => findings.verdict.push(text),
            None => findings.unknown.push(
                "Why buffered I/O is faster: RAM is not known to have kept reads or writes from \
                 the drive."
                    .into(),
            ),
        },
        _ => {}
    }
}

/// That the depth was lost above the drive, if it was; otherwise what speaks against it.
fn why_slower(direct: &Seen, buffered: &Seen, alone: Option<&Seen>) -> Result<String, String> {
    let (Some(many), Some(few)) = (direct.in_flight, buffered.in_flight) else {
        return Err("the reads in flight at this drive are not counted.".into());
    };
    let most = few.high.unwrap_or(few.value);
    if most >= SERIAL_MAX {
        return Err(format!(
            "it is not that operations went one after the other: {} reads were in flight at the \
             drive on average, with direct I/O {}.",
            digits(few.value),
            digits(many.value)
        ));
    }
    if few.value < WAITED_MIN {
        return Err(format!(
            "for most of the time no read was in flight at the drive ({} on average): what \
             operations waited for was something else, such as writing back.",
            digits(few.value)
        ));
    }
    let pays = alone.and_then(|alone| gain(&alone.rates, &direct.rates));
    let Some((gain, alone)) = pays.zip(alone.and_then(|alone| alone.rate)) else {
        return Err(
            "direct I/O is not shown to be any faster with more than one operation in flight, so \
             the lost depth does not explain it."
                .into(),
        );
    };
    let least = many.low.unwrap_or(many.value);
    if least < SERIAL_MAX * few.value {
        return Err(format!(
            "direct I/O had no more reads in flight at the drive: {} against {}.",
            digits(many.value),
            digits(few.value)
        ));
    }
    Ok(format!(
        "Buffered reads went one after the other: {} in flight at the drive on average, with \
         direct I/O {}, of {DEPTH} operations that were asked for. libaio waits for each page in \
         the call that submits it, so the depth is lost. Depth is worth {} × here: direct I/O one \
         at a time does {}.",
        digits(few.value),
        digits(many.value),
        digits(gain),
        operations(alone.value)
    ))
}

/// How many times as fast a depth is as one at a time, where it is faster.
fn gain(alone: &[f64], deep: &[f64]) -> Option<f64> {
    let pair = Pair { before: alone, after: deep, delta: 0.05 };
    let judged = drivelab_stats::judge(&[pair]).ok()?;
    let found = judged.first()?;
    let is_real = matches!(found.verdict, Verdict::Changed | Verdict::Degenerate);
    (is_real && found.ratio.value > 1.0).then_some(found.ratio.value)
}

/// That RAM answered, if it did.
fn by_memory(buffered: &Seen) -> Option<String> {
    let kept = |reached: Option<Estimate>| {
        let reached = reached?;
        let least = 1.0 - reached.high.unwrap_or(reached.value);
        let mean = (1.0 - reached.value).clamp(0.0, 1.0);
        (least > TOLERANCE).then(|| format!("{} (at least {})", percent(mean), percent(least)))
    };
    let read = kept(buffered.reached[0]).map(|share| format!("answered {share} of the reads"));
    let written = kept(buffered.reached[1])
        .map(|share| format!("had {share} of the writes that had not reached the drive yet"));
    let said: Vec<String> = read.into_iter().chain(written).collect();
    (!said.is_empty()).then(|| format!("RAM {}.", said.join(" and ")))
}

#[cfg(test)]
mod tests;

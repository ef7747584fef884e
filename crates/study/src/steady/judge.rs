//! What a run of `steady` says.

use super::{
    AT_RANDOM, Cell, FILES, IN_ORDER, Load, SETTLED_LOAD, at_random, files, has_files, in_order,
    passes, protocol,
};
use crate::compare::{Side, compare};
use crate::experiment::capital;
use crate::experiment::order::{since_break, unbroken};
use crate::experiment::rounds::{self, ROUND};
use crate::experiment::{Setting, control, loads, narrow};
use drivelab_core::comparison::Comparison;
use drivelab_core::facts::TargetKind;
use drivelab_core::findings::{Figure, Findings, Remark, Unit};
use drivelab_core::quantity::{bandwidth, operations, percent, size};
use drivelab_core::rounds::why_not;
use drivelab_core::run::Run;
use drivelab_core::sound::Sound;
use drivelab_core::summary::{CellSummary, Rates, Summary};
use drivelab_stats::Verdict;

/// What is compared at equal outstanding I/O: what is said, before, after.
type Pair = (&'static str, &'static str, &'static str);
const PAIRS: [Pair; 3] = [
    ("random read, workers by depth", AT_RANDOM[5].name, AT_RANDOM[6].name),
    ("random write, workers by depth", AT_RANDOM[7].name, AT_RANDOM[8].name),
    ("random read, a file each by one file", FILES[0].name, FILES[1].name),
];
const PROTOCOL_PAIRS: [Pair; 1] =
    [("random read, a file each by one file", protocol::FILES[0].name, protocol::FILES[1].name)];

pub fn judge(setting: &Setting<'_>, run: &Sound<'_>) -> Findings {
    let Some(options) = narrow::narrowed(setting, files(setting)) else {
        return judge_of(setting, run, false);
    };
    let narrowed = Setting { options: &options, facts: setting.facts };
    let mut findings = judge_of(&narrowed, run, true);
    findings.want_more(format!(
        "How a full drive does: only the first {} of {} were written and used. A flash drive has \
         as much spare flash as is unused, a disk seeks less there. Give a larger --budget.",
        size(options.bytes),
        size(setting.bytes())
    ));
    findings
}

/// `is_part`: only the first bytes of the drive were written.
fn judge_of(setting: &Setting<'_>, run: &Sound<'_>, is_part: bool) -> Findings {
    let all = run.steps.len();
    let run = &run.part(unbroken);
    let summary = run.summary();
    let cells: Vec<Cell> = in_order(setting).into_iter().chain(at_random(setting)).collect();
    let order = cells.iter().map(|cell| cell.name.to_string()).collect();
    let mut findings = Findings { order, ..Findings::default() };
    for cell in &cells {
        let known = summary.cells.iter().find(|known| known.name == cell.name);
        findings.figures.extend(known.and_then(|known| figure(cell, known)));
    }
    findings.no_answer = findings.figures.is_empty();
    if findings.no_answer {
        findings.want_more(
            "What is left in the steady state: no load has a valid measurement. Give a larger \
             --time or --budget."
                .into(),
        );
    }
    let state = state(setting, run, summary, &mut findings);
    broken(summary, &mut findings);
    headline(setting, summary, state == State::Strayed, &mut findings);
    held_against(setting, summary, &mut findings);
    if protocol::is_asked(setting) {
        findings.tables.extend(protocol::beside(run, summary, state.unproved(is_part)));
        findings.deviations.push(protocol::DEVIATION.into());
    }
    deviations(setting, run, &mut findings);
    if run.steps.len() < all {
        findings.deviations.push(
            "The run was broken off: figures and verdict are of what was measured since it went \
             on; the table of all cells has what came before as well."
                .into(),
        );
    }
    findings
}

fn figure(cell: &Cell, known: &CellSummary) -> Option<Figure> {
    let total = &known.streams.first()?.total;
    let (estimate, unit) = match cell.load {
        Load::InOrder(_) => (total.bandwidth_bytes_per_s, Unit::BytesPerS),
        _ => (total.iops, Unit::Iops),
    };
    let estimate = estimate.filter(|_| known.valid != Some(false) && !is_broken(total))?;
    let note = format!("drive {}", known.state);
    Some(Figure { name: cell.name.into(), estimate, unit, note })
}

/// Repetitions that lie further apart than this do not have one rate.
const APART: f64 = 0.5;

/// Whether the rate had two levels while it was measured: one number would be of neither.
fn is_broken(total: &Rates) -> bool {
    total.no_interval.as_ref().is_some_and(|why| why.code == "step") || apart(total).is_some()
}

/// Half the width of an interval that is too wide for one rate.
fn apart(total: &Rates) -> Option<f64> {
    total.iops?.relative_half_width().filter(|half| *half > APART)
}

/// The cells that had two levels.
fn broken(summary: &Summary, findings: &mut Findings) {
    for cell in summary.cells.iter().filter(|cell| cell.valid != Some(false)) {
        let Some(stream) = cell.streams.first().filter(|it| is_broken(&it.total)) else { continue };
        let why = match (&stream.total.no_interval, apart(&stream.total)) {
            (Some(why), _) => why.text.clone(),
            (None, half) => format!(
                "its repetitions differ by \u{b1} {} of their mean, as where credits, heat or a \
                 cache ran out in between",
                percent(half.unwrap_or_default())
            ),
        };
        findings
            .unknown
            .push(format!("How fast `{}` is: there is no single rate; {why}.", cell.name));
    }
}

/// How far the same load, measured once the drive had settled, is off the level that it had
/// settled at, if it left the band.
fn strayed(setting: &Setting<'_>, summary: &Summary, level: f64) -> Option<f64> {
    let cell = summary.cells.iter().find(|cell| cell.name == SETTLED_LOAD)?;
    let total = &cell.streams.first()?.total;
    let apart = total.iops.filter(|_| cell.valid != Some(false))?.value / level - 1.0;
    (is_broken(total) || apart.abs() > setting.options.delta).then_some(apart)
}

/// In what state the random loads were measured.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
enum State {
    Steady,
    /// It had settled, and the same load then ran at another level.
    Strayed,
    NotShown,
}

impl State {
    /// Why figures of the steady state of the whole drive cannot be compared with these.
    fn unproved(self, is_part: bool) -> Option<String> {
        let why = match (self, is_part) {
            (State::Steady, false) => return None,
            (State::Steady, true) => "only the first part of the drive was written",
            _ => "it was not shown that the drive had reached the steady state that they describe",
        };
        Some(why.into())
    }
}

/// Whether the random loads met the steady state.
fn state(setting: &Setting<'_>, run: &Run, summary: &Summary, findings: &mut Findings) -> State {
    let mut state = State::NotShown;
    let rates = rounds::rates(setting, since_break(run), ROUND);
    match (rounds::settled(setting, run), rounds::is_whole(setting)) {
        (Ok(_), true) if findings.no_answer => {}
        (Ok(settled), true) => match strayed(setting, summary, settled.mean) {
            None => {
                state = State::Steady;
                findings.verdict.push(format!(
                    "The drive was in its steady state of random writes: {}.",
                    rounds::evidence(&settled, rates.len())
                ));
            }
            Some(apart) => {
                state = State::Strayed;
                not_settled(findings);
                findings.want_more(format!(
                    "What the random loads do in the steady state: after {} rounds it seemed to be \
                     {}, and the same load went {} away from it while it was measured. Give a \
                     larger --time or --budget.",
                    rates.len(),
                    operations(settled.mean),
                    percent(apart.abs())
                ));
            }
        },
        (Err(why), true) => {
            not_settled(findings);
            findings.want_more(format!(
                "What the random loads do in the steady state: it was not reached; {}. What was \
                 measured may be faster than it will be. Give a larger --time or --budget.",
                why_not(why, rates.len())
            ));
        }
        (_, false) => {
            not_settled(findings);
            findings.want_more(
                "What the random loads do in the steady state: the bytes are too few to write the \
                 drive over twice. Give a larger --budget."
                    .into(),
            );
        }
    }
    let title = "Random preconditioning, and SNIA's window";
    let picture = rounds::window_picture(title, &rates, rates.len(), Unit::Iops);
    findings.pictures.extend(picture.filter(|_| rounds::is_whole(setting)));
    state
}

/// What is left in the steady state was asked, and is not answered.
fn not_settled(findings: &mut Findings) {
    findings.no_answer = true;
    findings.verdict.push(
        "It was not shown that the drive had reached the steady state when the \
                           random loads ran."
            .into(),
    );
}

fn headline(setting: &Setting<'_>, summary: &Summary, strays: bool, findings: &mut Findings) {
    let total = |name: &str| {
        let cell = summary.cells.iter().find(|cell| cell.name == name)?;
        let total = &cell.streams.first()?.total;
        Some(total).filter(|total| cell.valid != Some(false) && !is_broken(total))
    };
    let rate = |name: &str| Some(operations(total(name)?.iops?.value));
    let speed = |name: &str| Some(bandwidth(total(name)?.bandwidth_bytes_per_s?.value));
    let in_order = (speed(IN_ORDER[0].name), speed(IN_ORDER[1].name));
    if let (Some(read), Some(write)) = in_order {
        findings.verdict.push(format!("Sequentially it reads {read} and writes {write}."));
    }
    // A mean over the change would be the rate of nothing.
    let (reads, writes) = match protocol::is_asked(setting) {
        true => (protocol::AT_RANDOM[0].name, protocol::AT_RANDOM[1].name),
        false => ("random read qd32", SETTLED_LOAD),
    };
    let random = (rate(reads), rate(writes).filter(|_| !strays));
    if let (Some(read), Some(write)) = random {
        findings.verdict.push(format!("At random it reads {read} and writes {write}."));
    }
}

fn side(summary: &Summary, pairs: &[Pair], name: &str, of: impl Fn(&Pair) -> String) -> Side {
    let sample = |pair: &Pair| control::sample(summary, &of(pair), pair.0);
    let samples = pairs.iter().filter_map(sample).collect();
    Side { name: name.into(), samples, facts: Vec::new(), is_by_run: false }
}

fn held_against(setting: &Setting<'_>, summary: &Summary, findings: &mut Findings) {
    let pairs: &[Pair] = if protocol::is_asked(setting) { &PROTOCOL_PAIRS } else { &PAIRS };
    let before = side(summary, pairs, "depth, one file", |pair| pair.1.into());
    let after = side(summary, pairs, "workers, a file each", |pair| pair.2.into());
    let Ok(comparison) = compare(&before, &after, Some(setting.options.delta)) else { return };
    comparison.cells.iter().for_each(|cell| findings.verdict.extend(said(&comparison, cell)));
    findings.comparison = Some(comparison);
}

fn said(comparison: &Comparison, cell: &drivelab_core::comparison::Cell) -> Option<String> {
    let ratio = cell.ratio?.value;
    let (what, by) = cell.name.split_once(", ")?;
    let (one, other) = match by.starts_with("workers") {
        true => ("eight workers with one operation each", "one worker with eight in flight"),
        false => ("four workers with a file each", "four workers in one file"),
    };
    let apart = percent((ratio - 1.0).abs());
    match cell.verdict? {
        Verdict::Changed | Verdict::ChangedMaybeRelevant => Some(format!(
            "{}: {one} reach {apart} {} than {other}.",
            capital(what),
            if ratio < 1.0 { "less" } else { "more" }
        )),
        Verdict::Equivalent | Verdict::ChangedNegligible | Verdict::Identical => Some(format!(
            "{}: {one} reach the same as {other}, within {}.",
            capital(what),
            percent(comparison.delta.unwrap_or(0.05))
        )),
        Verdict::Degenerate | Verdict::Inconclusive => None,
    }
}

fn deviations(setting: &Setting<'_>, run: &Run, findings: &mut Findings) {
    if !has_files(setting) {
        let text = match setting.facts.target.kind {
            TargetKind::Simulated => "a simulated drive has no files",
            _ => "one target is one file; name a directory",
        };
        let cell = if protocol::is_asked(setting) { protocol::FILES[1] } else { FILES[1] };
        findings.not_applicable.push(Remark { cell: cell.name.into(), text: text.to_string() });
    } else {
        findings.deviations.push(
            "Only the first file was written at random; the others were written sequentially."
                .into(),
        );
    }
    if passes(setting) < super::PASSES {
        findings.deviations.push(
            "Everything was written once sequentially instead of twice: the budget was not enough."
                .into(),
        );
    }
    if setting.is_drive() {
        findings.deviations.extend(loads::not_purged(setting, run));
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::experiment::sample::play;
    use crate::experiment::tests::{options, simulated};
    use crate::steady::STUDY;
    use drivelab_core::summary::{Reason, summarise};
    use drivelab_core::units::{Size, Span};

    /// What is said where the load that had settled runs at this rate as a cell.
    fn told(rate: f64) -> Findings {
        played(rate, |setting, run| STUDY.judged(setting, run))
    }

    fn played<T>(rate: f64, look: impl Fn(&Setting<'_>, &Run) -> T) -> T {
        let mut options = options("steady");
        options.bytes = 256 << 20;
        options.budget = Size(64 << 30);
        options.time = Span(3_600_000_000_000);
        let facts = simulated();
        let setting = Setting { options: &options, facts: &facts };
        let of = |name: &str, _| if name == SETTLED_LOAD { rate } else { 10_000.0 };
        let run = play(&STUDY, &setting, "fresh", &of);
        look(&setting, &run)
    }

    #[test]
    fn a_load_that_leaves_its_level_revokes_that_it_had_settled() {
        let is_settled = |findings: &Findings| {
            findings.verdict.iter().any(|text| text.starts_with("The drive was in its steady"))
        };
        let stays = told(10_100.0);
        assert!(is_settled(&stays) && !stays.no_answer, "{stays:?}");
        for rate in [5_000.0, 12_000.0] {
            let strays = told(rate);
            assert!(!is_settled(&strays) && strays.no_answer, "{strays:?}");
            assert!(!strays.verdict.concat().contains("At random it"), "{strays:?}");
            assert!(strays.unknown.concat().contains("it seemed to be 10.0k IOPS"), "{strays:?}");
        }
    }

    #[test]
    fn of_two_levels_no_single_rate_is_said() {
        let (apart, findings) = played(10_000.0, |setting, run| {
            let mut summary = summarise(run);
            let mut cells = summary.cells.iter_mut();
            let cell = cells.find(|cell| cell.name == SETTLED_LOAD).unwrap();
            let text = "a step at 2.00 s: 12.0k IOPS before it, 8.00k IOPS from there on".into();
            cell.streams[0].total.no_interval = Some(Reason { code: "step".into(), text });
            let mut findings = Findings::default();
            broken(&summary, &mut findings);
            headline(setting, &summary, false, &mut findings);
            (strayed(setting, &summary, 10_000.0), findings)
        });
        assert!(apart.is_some(), "the mean is that of the level by chance");
        assert!(!findings.verdict.concat().contains("At random it"), "{findings:?}");
        let expected = "How fast `random write qd32` is: there is no single rate; a step at 2.00 s";
        assert!(findings.unknown[0].starts_with(expected), "{findings:?}");
    }
}

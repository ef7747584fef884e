//! What a run of `fs` says.

use super::{
    AGAIN, AGE, CELLS, Cell, FIRST_WRITE, LAYOUT, Load, PARTS, Region, Way, cells, file_bytes,
    jobs, region, writes_raw,
};
use crate::compare::{Side, compare};
use crate::experiment::budget::written;
use crate::experiment::order::{done, is_broken, since_break, unbroken};
use crate::experiment::{Setting, control};
use crate::set_up::advise;
use drivelab_core::comparison::{self, Comparison};
use drivelab_core::facts::TargetKind;
use drivelab_core::findings::{Entry, Figure, Findings, Head, Remark, Table, Unit};
use drivelab_core::fitness::{Check, Severity};
use drivelab_core::quantity::{percent, size};
use drivelab_core::run::{Run, StepRun};
use drivelab_core::sound::Sound;
use drivelab_core::summary::{CellSummary, Summary};
use drivelab_stats::{Ratio, Verdict};

/// What is compared: what is said of it, before, after.
const PAIRS: [(&str, &str, &str); 7] = [
    ("sequential read", CELLS[0].name, CELLS[1].name),
    ("sequential write", CELLS[2].name, CELLS[3].name),
    ("random read", CELLS[4].name, CELLS[5].name),
    ("random write", CELLS[7].name, CELLS[8].name),
    ("random read, a file each", CELLS[5].name, CELLS[6].name),
    ("random write, a file each", CELLS[8].name, CELLS[9].name),
    ("first write", AGAIN, FIRST_WRITE),
];
/// The first of them are the answer: the device against the file.
const ANSWERS: usize = 4;

pub fn judge(setting: &Setting<'_>, run: &Sound<'_>) -> Findings {
    let was_broken_off = is_broken(run);
    let run = &run.part(unbroken);
    let summary = run.summary();
    let region = region(setting, since_break(run));
    let cells = cells(setting, &region);
    let is_first_whole = is_first_whole(setting, run);
    let order = cells.iter().map(|cell| cell.name.to_string()).collect();
    let mut findings = Findings { order, ..Findings::default() };
    let cells: Vec<Cell> =
        cells.into_iter().filter(|cell| cell.load != Load::First || is_first_whole).collect();
    for cell in &cells {
        let known = summary.cells.iter().find(|known| known.name == cell.name);
        findings.figures.extend(known.and_then(|known| figure(cell, known)));
    }
    match has_file_system(setting) {
        true => held_against(setting, summary, is_first_whole, &mut findings),
        false => {
            findings.no_answer = true;
            findings.unknown.push(
                "What a file system takes: this simulated drive has none, and both sides are the \
                 same drive. Give it one, as in file_system_ns=2000,journal=4KiB, or name a device."
                    .into(),
            );
        }
    }
    findings.figures.extend(layout(summary));
    stood_still(summary, &cells, &mut findings);
    not_measured(setting, run, &region, &mut findings);
    set_up(setting, &mut findings);
    if was_broken_off {
        findings.deviations.push(
            "The study was broken off and went on later, on a file system made again: the figures \
             and the comparison are of what came after that. The table of cells counts all \
             repetitions."
                .into(),
        );
    }
    deviations(setting, run, &region, &mut findings);
    findings
}

/// Whether there is a file system between the two sides.
fn has_file_system(setting: &Setting<'_>) -> bool {
    let simulated = setting.facts.target.simulated;
    !setting.is_simulated() || simulated.is_some_and(|known| known.has_file_system)
}

fn figure(cell: &Cell, known: &CellSummary) -> Option<Figure> {
    let total = &known.streams.first()?.total;
    let (estimate, unit) = match cell.load {
        Load::AtRandom => (total.iops, Unit::Iops),
        _ => (total.bandwidth_bytes_per_s, Unit::BytesPerS),
    };
    let estimate = estimate.filter(|_| known.valid != Some(false))?;
    let note = match cell.load {
        Load::First if cell.name == FIRST_WRITE => "into new space, its fsync counted".into(),
        Load::First => "over the same bytes, its fsync counted".into(),
        _ => String::new(),
    };
    Some(Figure { name: cell.name.into(), estimate, unit, note })
}

/// How fast the first file was laid out: for itself, and not compared.
fn layout(summary: &Summary) -> Option<Figure> {
    let step = summary.steps.iter().rfind(|step| step.name == LAYOUT)?;
    let estimate = step.streams.first()?.total.bandwidth_bytes_per_s?;
    let note = "one pass over the empty file, with its fsync; part of no result".into();
    Some(Figure { name: LAYOUT.into(), estimate, unit: Unit::BytesPerS, note })
}

/// What the file system is called in a sentence.
fn name(setting: &Setting<'_>) -> String {
    let mounted = setting.facts.target.filesystem.as_ref().map(|found| found.kind.clone());
    let made = setting.options.file_system.make.map(|make| make.word().to_string());
    match (setting.is_simulated(), made.or(mounted)) {
        (false, Some(kind)) => format!("the file system ({kind})"),
        _ => "the file system".into(),
    }
}

/// Whether all of the first writes went to their end: behind one that the clock ended, the next
/// write meets new space too.
fn is_first_whole(setting: &Setting<'_>, run: &Run) -> bool {
    let bytes = file_bytes(setting) / PARTS;
    let mut writes = run.steps.iter().filter(|step| step.begin.name == FIRST_WRITE);
    writes.all(|step| written(std::slice::from_ref(step)) >= bytes)
}

fn held_against(
    setting: &Setting<'_>,
    summary: &Summary,
    is_first_whole: bool,
    findings: &mut Findings,
) {
    let side = |name: &str, of: fn(&(&str, &str, &'static str)) -> String| {
        let sample = |pair: &(&'static str, &'static str, &'static str)| {
            control::sample(summary, &of(pair), pair.0)
        };
        let pairs = PAIRS.iter().filter(|pair| is_first_whole || pair.2 != FIRST_WRITE);
        let samples = pairs.filter_map(sample).collect();
        Side { name: name.into(), samples, facts: Vec::new(), is_by_run: false }
    };
    let before = side("raw, one file, overwriting", |pair| pair.1.into());
    let after = side("file, a file each, first write", |pair| pair.2.into());
    match compare(&before, &after, Some(setting.options.delta)) {
        Ok(comparison) => {
            conclude(setting, &comparison, findings);
            findings.comparison = Some(comparison);
        }
        Err(_) => {
            findings.no_answer = true;
            findings.want_more(format!(
                "What {} takes: no load has valid results on both sides. {}",
                name(setting),
                way_out(summary)
            ));
        }
    }
    if !is_first_whole {
        findings.want_more(format!(
            "What writing into new space costs: the time of a step was not enough for {}. Give a \
             larger --time.",
            size(file_bytes(setting) / PARTS)
        ));
    }
}

/// What brings valid results: more time where they are merely too few.
fn way_out(summary: &Summary) -> &'static str {
    match summary.cells.iter().any(|cell| cell.valid == Some(false)) {
        true => "What makes them suspect stands next to each; more time does not change it.",
        false => "Give a larger --time or --budget.",
    }
}

fn conclude(setting: &Setting<'_>, comparison: &Comparison, findings: &mut Findings) {
    let of =
        |(what, _, _): &(&str, &str, &str)| comparison.cells.iter().find(|cell| cell.name == *what);
    let delta = comparison.delta.unwrap_or(setting.options.delta);
    let told = |pairs: &[(&str, &str, &str)]| -> Vec<String> {
        pairs.iter().filter_map(of).filter_map(|cell| told(cell, delta)).collect()
    };
    let (answers, others) = PAIRS.split_at(ANSWERS);
    let (files, first) = others.split_at(2);
    let band = percent(delta);
    let name = name(setting);
    let answers_told = told(answers);
    if !answers_told.is_empty() {
        let is_slower = |cell: &comparison::Cell| {
            let is_open = cell.verdict == Some(Verdict::ChangedMaybeRelevant) && cell.gain() < 0.0;
            let is_exact = cell.verdict == Some(Verdict::Degenerate);
            cell.is_slower() || is_open || (is_exact && cell.gain() < (1.0 - delta).ln())
        };
        let slower = answers.iter().filter_map(of).any(is_slower);
        let head = match slower {
            true => format!("{}{} takes, against", name[..1].to_uppercase(), &name[1..]),
            false => format!("A file in {name}, against"),
        };
        findings.verdict.push(format!(
            "{head} the same blocks of the bare device: {} (equivalent: within {band}).",
            answers_told.join(", ")
        ));
    }
    // Without a raw side, what files say of each other is still an answer.
    let is_judged =
        |pair| of(pair).and_then(|cell| cell.verdict).is_some_and(|it| it != Verdict::Inconclusive);
    findings.no_answer = !answers.iter().chain(files).any(is_judged);
    let (files, first) = (told(files), told(first));
    if !files.is_empty() {
        findings.verdict.push(format!(
            "{} workers with a file each, against all in one file: {}.",
            jobs::of(setting).in_words,
            files.join(", ").replace(", a file each", "")
        ));
    }
    if !first.is_empty() {
        findings.verdict.push(format!(
            "Writing into new space, sequentially and with one fsync, against overwriting it: {}.",
            first.join(", ")
        ));
    }
    for cell in comparison.cells.iter().filter(|cell| cell.verdict == Some(Verdict::Inconclusive)) {
        let more = cell.needs_n.map_or(String::new(), |n| format!(" (about {n} repetitions)"));
        findings.want_more(format!(
            "{}: its noise is too large to tell{}; more time for each step would{more}: --full, or \
             a larger --time.",
            cell.name,
            cell.ratio.as_ref().map_or(String::new(), |ratio| format!(", {}", change(ratio)))
        ));
    }
}

/// One load in a few words; `None`: nothing can be said of it.
pub(super) fn told(cell: &comparison::Cell, delta: f64) -> Option<String> {
    let (ratio, verdict) = (cell.ratio.as_ref()?, cell.verdict?);
    Some(match verdict {
        Verdict::Changed => format!("{} {}", cell.name, change(ratio)),
        Verdict::ChangedMaybeRelevant => {
            format!("{} {}, its size unsettled", cell.name, change(ratio))
        }
        Verdict::ChangedNegligible => format!("{} {}, negligible", cell.name, change(ratio)),
        Verdict::Equivalent | Verdict::Identical => format!("{} equivalent", cell.name),
        Verdict::Degenerate if (ratio.value - 1.0).abs() < delta => {
            format!("{} equivalent", cell.name)
        }
        Verdict::Degenerate => format!("{} {} without noise", cell.name, change(ratio)),
        Verdict::Inconclusive => return None,
    })
}

/// A ratio as a change with its interval: `-9.1 % [-9.6 %, -8.7 %]`.
fn change(ratio: &Ratio) -> String {
    let signed = |ratio: f64| {
        let sign = if ratio >= 1.0 { "+" } else { "" };
        format!("{sign}{}", percent(ratio - 1.0))
    };
    match (ratio.low, ratio.high) {
        (Some(low), Some(high)) => {
            format!("{} [{}, {}]", signed(ratio.value), signed(low), signed(high))
        }
        _ => signed(ratio.value),
    }
}

fn stood_still(summary: &Summary, cells: &[Cell], findings: &mut Findings) {
    let values = |cell: &Cell| (cell.name.to_string(), control::values(summary, cell.name));
    let raw: Vec<_> = cells.iter().filter(|cell| cell.way == Way::Raw).map(values).collect();
    // Both sides take turns, so what drifts drifts on both; it is said where it is large.
    control::drift(&raw, 5.0 * control::DRIFT, findings);
}

/// How the drive was, and should be, set up.
fn set_up(setting: &Setting<'_>, findings: &mut Findings) {
    let advice = advise(&setting.facts.target);
    if advice.is_empty() {
        return;
    }
    let misaligned =
        |check: &&Check| check.name == "partition start" && check.severity == Severity::Warning;
    let beware = advice
        .iter()
        .filter(misaligned)
        .map(|check| format!("{}. {}", check.found, check.advice.as_deref().unwrap_or_default()));
    findings.beware.extend(beware);
    let head = |name: &str| Head { name: name.into(), unit: None };
    let row = |check: Check| {
        let advice = check.advice.map_or(Entry::Nothing, Entry::Text);
        vec![Entry::Text(check.name), Entry::Text(check.found), advice]
    };
    findings.tables.push(Table {
        title: "Set-up".into(),
        note: "Text only: drivelab never runs any of it.".into(),
        heads: vec![head("what"), head("found"), head("advice")],
        rows: advice.into_iter().map(row).collect(),
    });
}

/// What this target cannot serve.
fn not_measured(setting: &Setting<'_>, run: &Run, region: &Region, findings: &mut Findings) {
    let mut lacks = |cell: &str, text: &str| {
        findings.not_applicable.push(Remark { cell: cell.into(), text: text.into() });
    };
    if setting.is_simulated() {
        lacks("a file each", "a simulated drive has no files; name a block device");
        return;
    }
    if done(since_break(run), super::UNMOUNT) == 0 {
        return;
    }
    if region.on_device.is_none() {
        lacks(
            "raw",
            "the file system does not report where the file lies, the file is in pieces too small \
             to be measured, or the device did not hold there what the file holds",
        );
    }
    if !region.has_others {
        lacks("a file each", "the time was not enough to lay out the other files");
    }
    if region.on_device.is_some() && !writes_raw(setting) {
        lacks(
            "sequential write, raw; random write, raw",
            "the device is mounted, so drivelab does not write it; --mkfs on a free device \
             measures it",
        );
    }
}

fn deviations(setting: &Setting<'_>, run: &Run, region: &Region, findings: &mut Findings) {
    let mut say = |text: String| findings.deviations.push(text);
    if setting.is_simulated() {
        say("A simulated drive knows a file system only as the time that a worker spends on each \
             operation and the writes of a journal, as far as its name says so (file_system_ns=, \
             journal=); layout and first write are overwrites there."
            .into());
    } else if region.on_device.is_some() {
        say(format!(
            "Both sides worked on {} of the first file's {}: its largest piece on the device.",
            size(region.bytes),
            size(file_bytes(setting))
        ));
        say("Only the first file was written at random before; the others were written \
             sequentially."
            .into());
    }
    if done(&run.steps, AGE) > 0 {
        let aged: Vec<StepRun> =
            run.steps.iter().filter(|step| step.begin.name == AGE).cloned().collect();
        say(format!(
            "Sequential loads ran on a file written sequentially, random loads on one of {} that \
             had {} of random writes, and no more: the steady state is the question of `steady`.",
            size(file_bytes(setting)),
            size(written(&aged))
        ));
    }
    if setting.options.protocol.is_some() {
        say(jobs::DEVIATION.into());
    }
    let is_made = setting.options.file_system.make.is_some();
    if is_made && setting.facts.target.kind == TargetKind::BlockDevice {
        say("The file system was made without discarding the device, and whole from the \
             beginning: nothing of it is initialised while loads run."
            .into());
    }
}

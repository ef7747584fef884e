//! `meta`: how many names a second can be made, found, changed and removed?
//!
//! Each worker does one thing to all of its names before it does the next, in one directory for all
//! or in one each; then the same with an fsync of each new file, which is what durable names cost.

use crate::battery::names::{Names, WORKERS, batched, group};
use crate::battery::{self, Cell, Group, Outcome, names};
use crate::compare::{Side, compare};
use crate::experiment::budget::Left;
use crate::experiment::{Allowance, Needs, Setting, Study};
use drivelab_core::comparison::Sample;
use drivelab_core::findings::{Figure, Findings, Remark, Unit};
use drivelab_core::op::Action;
use drivelab_core::plan::{Files, Plan};
use drivelab_core::quantity::{operations, percent};
use drivelab_core::run::Run;
use drivelab_core::sound::Sound;
use drivelab_core::study::Scale;
use drivelab_core::summary::Summary;
use drivelab_core::units::{Size, Span};
use drivelab_stats::{Estimate, Verdict};

/// The study.
pub const STUDY: Study = Study {
    name: "meta",
    question: "How many files a second can be created, looked up, changed and removed?",
    allowance,
    objection,
    next,
    judge,
    quick_cost: Some("up to 20,000 names"),
    needs: Needs { files: 0, ..Needs::PLAIN },
    ..Study::PLAIN
};

const SECOND_NS: u64 = 1_000_000_000;
/// In this order, so that a load removes what it made.
const ACTIONS: [Action; 6] =
    [Action::Create, Action::Open, Action::Stat, Action::Utime, Action::Rename, Action::Unlink];
/// Names in flight where they go in batches, and what is done to them, by one worker.
const BATCH: u32 = 32;
const BATCHED: [Action; 3] = [Action::Create, Action::Stat, Action::Unlink];
/// Of this many names one is made durable, and one is a directory.
const DURABLE_PART: u32 = 100;
const DIRECTORY_PART: u32 = 20;
/// Fewer names say nothing, and leave nothing to the parts.
const NAMES_MIN: u32 = 400;
/// A load of six actions may take as long as this many cells …
const LOAD_CELLS: u64 = 4;
/// … and a name through all of them takes so long, on the safe side.
const ROUND_TRIP_NS: u64 = 400_000;

fn rounds(scale: Scale) -> u64 {
    match scale {
        Scale::Quick => 5,
        Scale::Default | Scale::Full => 10,
    }
}

/// Names of all workers together.
fn names(scale: Scale) -> u32 {
    match scale {
        Scale::Quick => 20_000,
        Scale::Default => 100_000,
        Scale::Full => 1_000_000,
    }
}

fn allowance(scale: Scale, _bytes: u64) -> Allowance {
    let minutes = match scale {
        Scale::Quick => 5,
        Scale::Default => 60,
        Scale::Full => 24 * 60,
    };
    Allowance { time: Span(minutes * 60 * SECOND_NS), budget: Size(10 << 30) }
}

fn objection(setting: &Setting<'_>) -> Option<String> {
    if !battery::has_names(setting) {
        return Some(
            "`meta` needs a directory, because names are the file system's, or a simulated drive, \
             which has a model of one. Name one, such as `drivelab study meta .`"
                .into(),
        );
    }
    let too_short = setting.options.time.0 < 10 * SECOND_NS;
    too_short
        .then(|| format!("{} is too short for any study; give at least 10s", setting.options.time))
}

/// Whether names can go in batches here.
fn is_batched(setting: &Setting<'_>) -> bool {
    setting.facts.host.names_by_ring == Some(true)
}

fn groups(setting: &Setting<'_>, cell_ns: Option<u64>) -> Vec<Group> {
    let most = names(setting.options.scale).min(battery::names_most(setting));
    // So few that all actions come to their turn in the time of a load.
    let fit = cell_ns.map_or(u64::MAX, |ns| LOAD_CELLS * ns / ROUND_TRIP_NS);
    let count = most.min(u32::try_from(fit).unwrap_or(u32::MAX)).max(NAMES_MIN);
    let mut all = Vec::new();
    for workers in WORKERS {
        for directories in [Files::One, Files::Each] {
            if workers == 1 && directories == Files::Each {
                continue;
            }
            let of = |count| Names { count, workers, directories };
            all.push(group(of(count), "names", &ACTIONS, &ACTIONS));
            let durable = [Action::Create, Action::Flush, Action::Unlink];
            let few = of(count / DURABLE_PART);
            all.push(group(few, "durable names", &durable, &durable[1..2]));
            let few = of(count / DIRECTORY_PART);
            all.push(group(few, "directories", &[Action::Mkdir], &[Action::Mkdir]));
        }
    }
    if is_batched(setting) {
        let names = Names { count, workers: 1, directories: Files::One };
        all.push(batched(names, "names in batches", &BATCHED, BATCH));
    }
    // One worker has one directory, and its place is next to several that share one.
    for cell in all.iter_mut().flat_map(|group| &mut group.cells) {
        if cell.column == 1 && !cell.row.contains(',') {
            cell.row.push_str(", one directory");
        }
    }
    // Six actions need more time than one.
    for load in all.iter_mut().flat_map(|group| &mut group.loads) {
        load.until.elapsed = cell_ns.map(|ns| Span(2 * LOAD_CELLS * ns));
    }
    all
}

fn next(setting: &Setting<'_>, run: &Run) -> Option<Plan> {
    let left = Left::of(setting, run);
    let rounds = rounds(setting.options.scale);
    battery::rest(setting, run, &left, rounds, |ns| groups(setting, ns))
}

fn judge(setting: &Setting<'_>, run: &Sound<'_>) -> Findings {
    let summary = run.summary();
    let groups = groups(setting, None);
    let cells = battery::cells(&groups);
    let mut findings = Findings::default();
    let head =
        |workers| if workers == 1 { "1 worker".into() } else { format!("{workers} workers") };
    let table = battery::matrix(summary, "Metadata operations a second", &cells, head);
    findings.tables.push(table);
    rates(summary, &cells, &mut findings);
    if findings.figures.is_empty() {
        findings.no_answer = true;
        findings.unknown.push("How fast names are: nothing could be measured.".into());
        return findings;
    }
    directories(setting, summary, &cells, &mut findings);
    batches(setting, summary, &cells, &mut findings);
    findings.deviations.push(
        "Names were created just before they were looked up: lookups are answered from memory, as \
         in Metarates. Only what fsync covers is on the drive for certain."
            .into(),
    );
    let cpus = setting.facts.host.cpus_online.filter(|_| !setting.is_simulated());
    let most = WORKERS.into_iter().max().unwrap_or(1);
    if let Some(cpus) = cpus.filter(|cpus| *cpus < most) {
        findings.deviations.push(format!(
            "{most} workers shared {cpus} CPUs, and waiting for one counts: where a call never \
             waits for the drive, as stat does, their rate is that of the CPUs."
        ));
    }
    if setting.is_simulated() {
        findings.deviations.push(
            "The file system is a model: what a call costs a CPU is a parameter of it, and only \
             what waits for the drive (fsync, and what left the cache) tells drives apart."
                .into(),
        );
    }
    findings
}

fn rates(summary: &Summary, cells: &[&Cell], findings: &mut Findings) {
    let best = |action: Action| {
        let mine = cells.iter().filter(|cell| cell.action == action);
        let told = mine.filter_map(|cell| Some((*cell, battery::estimate(summary, cell, "")?)));
        // One whose repetitions are too far apart for an interval is the best only where all are.
        told.max_by(|a, b| {
            let rank = |it: &(&Cell, Estimate)| (it.1.low.is_some(), it.1.value);
            let (one, other) = (rank(a), rank(b));
            one.0.cmp(&other.0).then(one.1.total_cmp(&other.1))
        })
    };
    let mut told = Vec::new();
    for action in ACTIONS.into_iter().chain([Action::Mkdir, Action::Flush]) {
        let Some((cell, estimate)) = best(action) else { continue };
        findings.figures.push(Figure {
            name: cell.name.clone(),
            estimate,
            unit: Unit::Iops,
            note: "the best way found".into(),
        });
        told.push((action, estimate));
    }
    let parts: Vec<String> = told
        .iter()
        .filter_map(|(action, it)| {
            let word = match action {
                Action::Create => "made",
                Action::Stat => "found",
                Action::Rename => "renamed",
                Action::Unlink => "removed",
                Action::Flush => "made durable one by one (fsync)",
                _ => return None,
            };
            Some(format!("{word} {}", operations(it.value)))
        })
        .collect();
    if !parts.is_empty() {
        findings.verdict.push(format!("Names at best: {}.", parts.join(", ")));
    }
}

/// Whether directories of their own help the workers.
fn directories(setting: &Setting<'_>, summary: &Summary, cells: &[&Cell], findings: &mut Findings) {
    let places = [", one directory", ", a directory each"];
    let [one, each] = places.map(|place| {
        let mine = cells.iter().filter(|cell| cell.name.ends_with(place));
        let sample = |cell: &&Cell| {
            let name = cell.name.trim_end_matches(place).to_string();
            Some(Sample { name, ..battery::sample(summary, cell, "")? })
        };
        let samples = mine.filter_map(sample).collect();
        let name = place.trim_start_matches(", ").into();
        Side { name, samples, facts: Vec::new(), is_by_run: false }
    });
    let Ok(comparison) = compare(&one, &each, Some(setting.options.delta)) else { return };
    let of = |wanted: Outcome| {
        let is_so = |cell: &&drivelab_core::comparison::Cell| {
            battery::outcome(cell, setting.options.delta) == Some(wanted)
        };
        comparison.cells.iter().filter(is_so).collect::<Vec<_>>()
    };
    let (faster, slower) = (of(Outcome::Faster), of(Outcome::Slower));
    let band = percent(setting.options.delta);
    let judged = comparison.cells.iter().filter(|cell| cell.verdict.is_some()).count();
    let same = of(Outcome::Same).len();
    let open = judged - same - faster.len() - slower.len();
    match (faster.last(), slower.len()) {
        _ if judged == 0 => {}
        (Some(most), others) => findings.verdict.push(format!(
            "A directory for each worker makes {} of {judged} cells faster by more than {band}, \
             most of all {} ({}); {others} slower.",
            faster.len(),
            most.name,
            battery::change(most)
        )),
        (None, 0) if same == 0 => {}
        (None, 0) => findings.verdict.push(format!(
            "Where each worker has a directory of its own, {same} of {judged} cells are the same \
             within {band}."
        )),
        (None, others) => findings.verdict.push(format!(
            "Where each worker has a directory of its own, {others} of {judged} cells are slower \
             by more than {band}, {same} are the same."
        )),
    }
    if open > 0 {
        findings.unknown.push(format!(
            "What a directory for each worker changes in {open} of {judged} cells: the noise is \
             too large to tell. {}",
            battery::advice(setting.options.scale, comparison.cells.iter())
        ));
    }
    findings.comparison = Some(comparison);
}

/// Whether batches through io_uring help one worker.
fn batches(setting: &Setting<'_>, summary: &Summary, cells: &[&Cell], findings: &mut Findings) {
    if !is_batched(setting) {
        findings.not_applicable.push(Remark {
            cell: "names in batches".into(),
            text: match setting.is_simulated() {
                true => "a simulated host has no io_uring for names".into(),
                false => "the kernel offers no io_uring for names here".into(),
            },
        });
        return;
    }
    let end = format!(", {BATCH} in flight");
    let sides = [false, true].map(|is_batch| {
        let name = if is_batch { "batches of 32 by io_uring" } else { "one call after the other" };
        let sample = |action: &Action| {
            let is_it = |cell: &&&Cell| {
                let plain = cell.name.strip_suffix(&end);
                cell.action == *action
                    && plain.is_some() == is_batch
                    && plain.unwrap_or(&cell.name).ends_with(", 1 worker")
            };
            let sample = battery::sample(summary, cells.iter().find(is_it)?, "")?;
            Some(Sample { name: names::words(*action).into(), ..sample })
        };
        let samples = BATCHED.iter().filter_map(sample).collect();
        Side { name: name.into(), samples, facts: Vec::new(), is_by_run: false }
    });
    let Ok(comparison) = compare(&sides[0], &sides[1], Some(setting.options.delta)) else {
        return;
    };
    let (open, told): (Vec<_>, Vec<_>) = comparison
        .cells
        .iter()
        .filter(|cell| cell.verdict.is_some())
        .partition(|cell| cell.verdict == Some(Verdict::Inconclusive));
    let what = format!("of {BATCH} by io_uring against one call after the other, 1 worker");
    if !told.is_empty() {
        let told: Vec<String> = told
            .iter()
            .map(|cell| format!("{} {} ({})", cell.name, cell.word(), battery::change(cell)))
            .collect();
        findings.verdict.push(format!("Batches {what}: {}.", told.join(", ")));
    }
    if !open.is_empty() {
        let names: Vec<&str> = open.iter().map(|cell| cell.name.as_str()).collect();
        findings.unknown.push(format!(
            "What batches {what} change: for {} the noise is too large to tell.",
            names.join(", ")
        ));
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::experiment::sample::play;
    use crate::experiment::tests::options;
    use drivelab_core::facts::{Facts, TargetKind};

    #[test]
    fn rates_of_more_workers_than_cpus_are_called_bounds() {
        let says = |cpus: u32, kind: TargetKind| {
            let mut facts = Facts::default();
            (facts.target.kind, facts.host.cpus_online) = (kind, Some(cpus));
            let options = options("meta");
            let setting = Setting { options: &options, facts: &facts };
            let run = play(&STUDY, &setting, "unknown", &|_, _| 1000.0);
            let found = STUDY.judged(&setting, &run).deviations;
            found.iter().any(|text| text.starts_with("4 workers shared 2 CPUs"))
        };
        assert!(says(2, TargetKind::Directory));
        assert!(!says(4, TargetKind::Directory));
        assert!(!says(2, TargetKind::Simulated), "its CPUs are not counted");
    }
}

//! `ior`: what do parallel writers and readers get, each with a file of its own or all in one?
//!
//! The loads are IOR's: four workers, segments of blocks moved in transfers. On a device a file is
//! a region.

use crate::battery::ior::{LARGE, Layout, Owner, SMALL, group, has_one_file};
use crate::battery::{self, Cell, Group, MEBIBYTE, Outcome, Shape, WORKERS, outcome};
use crate::compare::{Side, compare};
use crate::experiment::budget::Left;
use crate::experiment::{Allowance, Needs, Setting, Study, impossible};
use drivelab_core::comparison::{Comparison, Sample};
use drivelab_core::findings::{Entry, Findings, Head, Table, Unit};
use drivelab_core::plan::{Plan, Until};
use drivelab_core::quantity::{half_width, percent};
use drivelab_core::run::Run;
use drivelab_core::sound::Sound;
use drivelab_core::study::Scale;
use drivelab_core::summary::Summary;
use drivelab_core::units::{Size, Span};
use drivelab_stats::{Description, Estimate};

/// The study.
pub const STUDY: Study = Study {
    name: "ior",
    question: "What do parallel workers get, with a file each (N-N) or all in one (N-1)?",
    allowance,
    objection,
    next,
    judge,
    needs: Needs {
        files: battery::WORKERS,
        simulated_times: battery::SIMULATED_TIMES,
        ..Needs::PLAIN
    },
    written_bytes: |setting| Some(written_bytes(setting)),
    ..Study::PLAIN
};

const SECOND_NS: u64 = 1_000_000_000;
/// Bytes of all workers together are a multiple of this, and at least this many.
const GRAIN: u64 = 4 * MEBIBYTE;

fn rounds(scale: Scale) -> u64 {
    match scale {
        Scale::Quick => 5,
        Scale::Default | Scale::Full => 10,
    }
}

fn allowance(scale: Scale, bytes: u64) -> Allowance {
    let (minutes, budget) = match scale {
        Scale::Quick => (5, 10 << 30),
        Scale::Default => (30, 80 << 30),
        Scale::Full => (7 * 24 * 60, bytes.saturating_mul(u64::from(WORKERS) * 42)),
    };
    Allowance { time: Span(minutes * 60 * SECOND_NS), budget: Size(budget) }
}

/// Bytes of the file in which all work, and of all files together.
fn bytes(setting: &Setting<'_>) -> u64 {
    let most = match (setting.options.scale, setting.is_simulated()) {
        (Scale::Full, _) => u64::MAX,
        (_, true) => 512 * MEBIBYTE,
        (Scale::Quick, _) => 256 * MEBIBYTE,
        (Scale::Default, _) => 1024 * MEBIBYTE,
    };
    // Twice two layouts a round, and each once before.
    let affordable = setting.options.budget.0 / (4 * rounds(setting.options.scale) + 2);
    most.min(affordable).min(setting.bytes()) / GRAIN * GRAIN
}

fn groups(setting: &Setting<'_>, cell_ns: Option<u64>) -> Vec<Group> {
    let shape = Shape { cell_ns, ..Shape::of(setting, 0) };
    let bytes = bytes(setting);
    let of =
        |layout: &Layout| Owner::BOTH.map(|owner| group(setting, &shape, layout, owner, bytes));
    [of(&SMALL), of(&LARGE)].concat()
}

/// Most bytes that all rounds write, and the files of both owners before them.
pub fn written_bytes(setting: &Setting<'_>) -> u64 {
    let rounds = rounds(setting.options.scale);
    2 * bytes(setting) + rounds * battery::written_bytes(&groups(setting, None))
}

fn objection(setting: &Setting<'_>) -> Option<String> {
    impossible(setting).or_else(|| {
        (bytes(setting) < 4 * GRAIN).then(|| {
            format!(
                "a budget of {} is too small for `ior`; give at least --budget {}",
                setting.options.budget,
                Size(4 * GRAIN * (4 * rounds(setting.options.scale) + 2))
            )
        })
    })
}

fn next(setting: &Setting<'_>, run: &Run) -> Option<Plan> {
    let left = Left::of(setting, run);
    if let Some(plan) = prepare(setting, run) {
        return plan;
    }
    battery::rest(setting, run, &left, rounds(setting.options.scale), |cell_ns| {
        groups(setting, cell_ns)
    })
}

/// Writes all files once, so that reads read what was written; `Some(None)`: that could not be
/// done.
fn prepare(setting: &Setting<'_>, run: &Run) -> Option<Option<Plan>> {
    use crate::experiment::loads::{FILL, plan, step};
    use crate::experiment::order::{done, since_break};
    use drivelab_core::plan::Role;
    let steps = since_break(run);
    if done(steps, FILL) > 0 {
        return None;
    }
    if steps.iter().any(|step| step.begin.name == FILL) {
        return Some(None);
    }
    // One file of all bytes holds the regions of a device; files of workers are filled besides.
    let mut all = Vec::new();
    let owners: &[Owner] =
        if setting.is_drive() || has_one_file(setting) { &[Owner::Each] } else { &Owner::BOTH };
    for owner in owners {
        let shape = Shape::of(setting, 0);
        let mix = drivelab_core::plan::Mix::WRITE;
        let stream = battery::ior::stream(setting, &shape, &LARGE, *owner, bytes(setting), mix);
        let stream = drivelab_core::plan::Stream { sync: drivelab_core::plan::Sync::End, ..stream };
        let until = Until { passes: Some(1), ..Until::default() };
        all.push(step(setting, FILL, Role::Prepare, until, stream));
    }
    Some(Some(plan(setting, SECOND_NS, all)))
}

fn judge(setting: &Setting<'_>, run: &Sound<'_>) -> Findings {
    let summary = run.summary();
    let groups = groups(setting, None);
    let cells = battery::cells(&groups);
    let mut findings = Findings {
        order: cells.iter().map(|cell| cell.name.clone()).collect(),
        ..Findings::default()
    };
    findings.tables.push(spread(summary, &cells));
    if setting.is_drive() || has_one_file(setting) {
        findings.deviations.push(
            "There is one file or device here: a file of a worker's own is a region of it.".into(),
        );
    }
    let [each, all] = sides(summary, &cells);
    match compare(&each, &all, Some(setting.options.delta)) {
        Ok(comparison) => conclude(setting, comparison, &mut findings),
        Err(_) => {
            findings.no_answer = true;
            findings.want_more(
                "What parallel workers get: too little was measured. Give more --time.".into(),
            );
        }
    }
    findings
}

/// Each cell with a file of its own on one side, with one file for all on the other.
fn sides(summary: &Summary, cells: &[&Cell]) -> [Side; 2] {
    Owner::BOTH.map(|owner| {
        let mine = cells.iter().filter(|cell| cell.row.ends_with(owner.words()));
        let sample = |cell: &&Cell| {
            let name = cell.name.trim_end_matches(owner.words()).trim_end().to_string();
            Some(Sample { name, ..battery::sample(summary, cell, "")? })
        };
        let samples = mine.filter_map(sample).collect();
        Side { name: owner.words().into(), samples, facts: Vec::new(), is_by_run: false }
    })
}

fn conclude(setting: &Setting<'_>, comparison: Comparison, findings: &mut Findings) {
    let band = percent(setting.options.delta);
    let (mut slower, mut faster, mut same, mut open) = (Vec::new(), Vec::new(), 0, 0);
    for cell in &comparison.cells {
        match outcome(cell, setting.options.delta) {
            Some(Outcome::Slower) => slower.push(cell),
            Some(Outcome::Faster) => faster.push(cell),
            Some(Outcome::Same) => same += 1,
            Some(Outcome::Open) => open += 1,
            None => {}
        }
    }
    let judged = slower.len() + faster.len() + same + open;
    if judged > 0 && same == judged {
        findings.verdict.push(format!(
            "It does not matter whether each has a file or all have one: all {judged} cells are \
             the same within {band}."
        ));
    } else if judged == 0 {
        findings.no_answer = true;
        findings.unknown.push("What parallel workers get: every cell was suspect.".into());
    } else if slower.is_empty() && open == 0 {
        findings.verdict.push(format!(
            "One file for all is no slower than a file each: none of {judged} cells loses more \
             than {band}."
        ));
    } else if slower.is_empty() {
        if same > 0 {
            findings.verdict.push(format!(
                "In {same} of {judged} cells one file for all is the same as a file each, within \
                 {band}."
            ));
        }
        findings.no_answer = open == judged;
        findings.unknown.push(format!(
            "Whether one file for all costs anything: in {open} of {judged} cells the noise is \
             too large to tell. {}",
            battery::advice(setting.options.scale, comparison.cells.iter())
        ));
    }
    for (cells, word) in [(slower, "slower"), (faster, "faster")] {
        for cell in cells {
            findings.verdict.push(format!(
                "{}: one file for all is {word} than a file each ({}).",
                cell.name,
                battery::change(cell)
            ));
        }
    }
    findings.comparison = Some(comparison);
}

/// The table that IOR prints, with an interval.
fn spread(summary: &Summary, cells: &[&Cell]) -> Table {
    let head = |name: &str, unit| Head { name: name.into(), unit };
    let rate = Some(Unit::BytesPerS);
    let row = |cell: &&Cell| {
        let scale = cell.column as f64;
        let values: Vec<f64> =
            battery::values(summary, cell, "").into_iter().map(|value| value * scale).collect();
        let mut row = vec![Entry::Text(cell.name.clone())];
        let Ok(it) = Description::of(&values) else {
            row.extend([Entry::Nothing, Entry::Nothing, Entry::Nothing, Entry::Nothing]);
            row.push(Entry::Nothing);
            return row;
        };
        let most = values.iter().copied().fold(f64::MIN, f64::max);
        let least = values.iter().copied().fold(f64::MAX, f64::min);
        row.extend([most, least, it.mean].map(Entry::Number));
        row.push(it.deviation.map_or(Entry::Nothing, Entry::Number));
        let half = Estimate::positive_mean_of(&values).map(|it| half_width(&it));
        row.push(half.map_or(Entry::Nothing, Entry::Text));
        row
    };
    Table {
        title: "All workers together".into(),
        note:
            "N-N: a file for each worker. N-1: one file, in which the blocks of the workers take \
               turns. The mean is that of the repetitions, as IOR prints it; above stands all \
               bytes by all time."
                .into(),
        heads: vec![
            head("load", None),
            head("most", rate),
            head("least", rate),
            head("mean", rate),
            head("deviation", rate),
            head("95 % interval of the mean", None),
        ],
        rows: cells.iter().map(row).collect(),
    }
}

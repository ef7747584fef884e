//! `files`: how fast is a file written and read in each of thirteen ways?
//!
//! The tests are `IOzone`'s, with its record sizes, and four of them with small records counted in
//! operations. Whatever the ways, reading and writing in order is the measure: each other way is
//! compared with it.

use crate::battery::iozone::{self, Test};
use crate::battery::{self, Cell, Group, MEBIBYTE, Outcome, Shape, outcome};
use crate::compare::{Side, compare};
use crate::experiment::budget::Left;
use crate::experiment::order::{done, since_break};
use crate::experiment::{Allowance, Needs, Setting, Study, impossible, loads};
use drivelab_core::comparison::{Comparison, Sample};
use drivelab_core::findings::{Findings, Remark, Table};
use drivelab_core::op::Action;
use drivelab_core::plan::Plan;
use drivelab_core::quantity::{percent, size};
use drivelab_core::run::Run;
use drivelab_core::sound::Sound;
use drivelab_core::study::Scale;
use drivelab_core::summary::Summary;
use drivelab_core::units::{Size, Span};

/// The study.
pub const STUDY: Study = Study {
    name: "files",
    question: "How fast is a file written and read in each of thirteen ways?",
    allowance,
    objection,
    next,
    judge,
    needs: Needs { page_cache, simulated_times: battery::SIMULATED_TIMES, ..Needs::PLAIN },
    written_bytes: |setting| Some(written_bytes(setting)),
    ..Study::PLAIN
};

/// A full one works on more than the cache of any machine holds.
fn page_cache(scale: Scale) -> Option<u64> {
    Some(if scale == Scale::Full { 8 << 30 } else { 128 << 20 })
}

const SECOND_NS: u64 = 1_000_000_000;
/// A file has at least this many bytes: two of the largest records.
const FILE_BYTES_MIN: u64 = 32 * MEBIBYTE;

fn rounds(scale: Scale) -> u64 {
    match scale {
        Scale::Quick => 5,
        Scale::Default | Scale::Full => 10,
    }
}

fn allowance(scale: Scale, bytes: u64) -> Allowance {
    let (minutes, budget) = match scale {
        Scale::Quick => (5, 10 << 30),
        Scale::Default => (60, 100 << 30),
        Scale::Full => (7 * 24 * 60, 330 * bytes.min(16 << 30)),
    };
    Allowance { time: Span(minutes * 60 * SECOND_NS), budget: Size(budget) }
}

/// Record sizes of both kinds.
fn records(scale: Scale) -> (Vec<u64>, Vec<u64>) {
    match scale {
        Scale::Quick => (vec![iozone::LARGE[0], iozone::LARGE[3]], vec![4 << 10, 64 << 10]),
        _ => (iozone::LARGE.to_vec(), iozone::SMALL.to_vec()),
    }
}

/// Bytes of the file: what the budget has room for, in all rounds and once before.
fn file_bytes(setting: &Setting<'_>) -> u64 {
    let options = setting.options;
    let most = match (options.scale, setting.is_simulated()) {
        (Scale::Full, _) => 16 << 30,
        (_, true) => 256 * MEBIBYTE,
        (Scale::Quick, _) => 128 * MEBIBYTE,
        (Scale::Default, _) => 512 * MEBIBYTE,
    };
    let unit = Shape::of(setting, MEBIBYTE);
    let passes = battery::written_bytes(&groups_of(setting, &unit)) / MEBIBYTE;
    let affordable = options.budget.0 / (passes * rounds(options.scale) + 1);
    let whole = |bytes: u64| bytes / FILE_BYTES_MIN * FILE_BYTES_MIN;
    whole(most.min(affordable).min(setting.bytes()))
}

fn groups_of(setting: &Setting<'_>, shape: &Shape) -> Vec<Group> {
    let (large, small) = records(setting.options.scale);
    let throughput =
        large.iter().map(|record| iozone::throughput(setting, shape, *record, &Test::ALL));
    let operations =
        small.iter().map(|record| iozone::operations(shape, *record, &Test::OPERATIONS));
    throughput.chain(operations).collect()
}

fn groups(setting: &Setting<'_>, cell_ns: Option<u64>) -> Vec<Group> {
    groups_of(setting, &Shape { cell_ns, ..Shape::of(setting, file_bytes(setting)) })
}

/// Most bytes that all rounds write, and the fill before them.
pub fn written_bytes(setting: &Setting<'_>) -> u64 {
    let rounds = rounds(setting.options.scale);
    file_bytes(setting) + rounds * battery::written_bytes(&groups(setting, None))
}

fn objection(setting: &Setting<'_>) -> Option<String> {
    impossible(setting).or_else(|| {
        (file_bytes(setting) < FILE_BYTES_MIN).then(|| {
            format!(
                "a budget of {} is too small for `files`: each byte of its file is written many \
                 times; give a larger --budget",
                setting.options.budget
            )
        })
    })
}

fn next(setting: &Setting<'_>, run: &Run) -> Option<Plan> {
    let left = Left::of(setting, run);
    if done(since_break(run), loads::FILL) == 0 {
        let is_tried = since_break(run).iter().any(|step| step.begin.name == loads::FILL);
        let fill = battery::fill(setting, loads::FILL, file_bytes(setting));
        return (!is_tried).then(|| loads::plan(setting, SECOND_NS, vec![fill]));
    }
    battery::rest(setting, run, &left, rounds(setting.options.scale), |cell_ns| {
        groups(setting, cell_ns)
    })
}

fn judge(setting: &Setting<'_>, run: &Sound<'_>) -> Findings {
    let summary = run.summary();
    let groups = groups(setting, None);
    let order = battery::cells(&groups).iter().map(|cell| cell.name.clone()).collect();
    let mut findings = Findings { order, ..Findings::default() };
    findings.tables = matrices(summary, &groups);
    let shape = Shape::of(setting, 0);
    if !shape.has_cache {
        let text = "this simulated drive has no page cache; add page_cache=128MiB to the target";
        let cells = iozone::without_cache(&records(setting.options.scale).0).into_iter();
        findings.not_applicable = cells.map(|cell| Remark { cell, text: text.into() }).collect();
    }
    findings.deviations = deviations(setting, &shape);
    let [order, other] = sides(summary, &groups);
    match compare(&order, &other, Some(setting.options.delta)) {
        Ok(comparison) => conclude(setting, comparison, &mut findings),
        Err(_) => {
            findings.no_answer = true;
            findings.want_more(
                "How fast this file is: too few cells could be measured. Give more --time.".into(),
            );
        }
    }
    findings
}

/// Where this is not what the suite does.
fn deviations(setting: &Setting<'_>, shape: &Shape) -> Vec<String> {
    let mut all = vec![format!(
        "The file has {}; the suite asks for twice the memory of the host. So that memory does \
         not answer, {}.",
        size(file_bytes(setting)),
        match shape.is_cached {
            true => "the cache is dropped before reads, and writes count their fsync",
            false =>
                "all but the tests of the C library bypass the page cache; before those the cache \
                 is dropped, or their fsync counts",
        }
    )];
    if !battery::allocates(setting) {
        all.push(
            "No blocks are allocated here: write and fwrite overwrite, as rewrite and frewrite do."
                .into(),
        );
    }
    all
}

/// The way that each other way is compared with.
fn measure_of(cell: &Cell) -> Option<String> {
    let row = cell.row.as_str();
    let (test, kind) = match row.strip_suffix(" IOPS") {
        Some(test) => (test, " IOPS"),
        None => (row, ""),
    };
    let measure = match (test, kind, cell.action) {
        ("read" | "rewrite", _, _) | ("write", " IOPS", _) => return None,
        (_, " IOPS", Action::Write) => "write",
        (_, _, Action::Write) => "rewrite",
        _ => "read",
    };
    Some(format!("{measure}{kind} {}", size(cell.column)))
}

/// Each cell under its own name on the one side, what it is compared with under the same name on
/// the other.
fn sides(summary: &Summary, groups: &[Group]) -> [Side; 2] {
    let cells = battery::cells(groups);
    let mut samples: [Vec<Sample>; 2] = Default::default();
    for cell in &cells {
        let Some(name) = measure_of(cell) else { continue };
        let measure = cells.iter().find(|known| known.name == name);
        let of = |cell: &Cell| battery::sample(summary, cell, "");
        if let Some((order, other)) = measure.and_then(|it| of(it)).zip(of(cell)) {
            samples[0].push(Sample { name: cell.name.clone(), ..order });
            samples[1].push(other);
        }
    }
    let [order, other] = samples;
    let side = |name: &str, samples| Side {
        name: name.into(),
        samples,
        facts: Vec::new(),
        is_by_run: false,
    };
    [side("sequential, over existing data", order), side("each other way", other)]
}

fn conclude(setting: &Setting<'_>, comparison: Comparison, findings: &mut Findings) {
    let delta = setting.options.delta;
    let band = percent(delta);
    let of = |wanted: Outcome| {
        comparison.cells.iter().filter(move |cell| outcome(cell, delta) == Some(wanted))
    };
    let count = |wanted: Outcome| of(wanted).count();
    let [slower, faster, same, open] =
        [Outcome::Slower, Outcome::Faster, Outcome::Same, Outcome::Open].map(count);
    let judged = slower + faster + same + open;
    let worst = of(Outcome::Slower).min_by(|a, b| a.gain().total_cmp(&b.gain()));
    if judged == 0 {
        findings.no_answer = true;
        findings.unknown.push("How fast this file is: every cell was suspect.".into());
    } else if let Some(worst) = worst {
        findings.verdict.push(format!(
            "The way matters: {slower} of {judged} cells are slower than sequential reading or \
             writing by more than {band}, most of all {} ({}); {faster} are faster, {same} the \
             same within {band}.",
            worst.name,
            battery::change(worst)
        ));
    } else if same == judged {
        findings.verdict.push(format!(
            "Every way is as fast as sequential reading or writing: all {judged} cells are the \
             same within {band}."
        ));
    } else if open < judged {
        let rest = match open {
            0 => String::new(),
            open => format!("; {open} inconclusive"),
        };
        findings.verdict.push(format!(
            "Compared with sequential reading or writing, {same} of {judged} cells are the same \
             within {band}, {faster} are faster{rest}."
        ));
    } else {
        findings.no_answer = true;
    }
    if let Some(first) = of(Outcome::Open).next() {
        findings.unknown.push(format!(
            "In {open} cells the noise is too large to tell by how much they differ, such as {}. \
             {}",
            first.name,
            battery::advice(setting.options.scale, comparison.cells.iter())
        ));
    }
    findings.comparison = Some(comparison);
}

/// Rows of tests, columns of record sizes.
fn matrices(summary: &Summary, groups: &[Group]) -> Vec<Table> {
    let cells = battery::cells(groups);
    let (small, large): (Vec<&Cell>, Vec<&Cell>) =
        cells.into_iter().partition(|cell| cell.row.ends_with("IOPS"));
    vec![
        battery::matrix(summary, "Bandwidth by record size", &large, size),
        battery::matrix(summary, "IOPS by record size", &small, size),
    ]
}

#[cfg(test)]
mod tests;

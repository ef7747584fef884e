//! What a TRIM did, from what was measured before and after it.

use super::{FRESH, READ_AFTER, READ_BEFORE, TRIM, WRITE_AFTER, WRITE_BEFORE};
use crate::compare::{Side, compare};
use crate::experiment::order::{since_break, unbroken};
use crate::experiment::rounds::{self, ROUND};
use crate::experiment::{Setting, control};
use drivelab_core::comparison::Cell;
use drivelab_core::findings::{Axis, Figure, Findings, Line, LineKind, Picture, Remark, Unit};
use drivelab_core::op::Action;
use drivelab_core::quantity::{operations, percent, size, time};
use drivelab_core::run::Run;
use drivelab_core::sound::Sound;
use drivelab_core::summary::{CellSummary, Latency, Summary};
use drivelab_stats::Estimate;

const WRITES: &str = "random write";
const READS: &str = "random read, depth 1";
/// A drive that lost less than this of its rate has nothing that TRIM could give back.
const FELL: f64 = 0.20;

/// Reasons that say of a read that no flash was read.
const NOTHING_READ: [&str; 3] = ["unwritten_blocks", "not_from_device", "not_on_disk"];
/// TRIM is called ignored where less than this share of what was lost came back.
const BACK: f64 = 0.25;

pub fn judge(setting: &Setting<'_>, run: &Sound<'_>) -> Findings {
    let run = &run.part(unbroken);
    let summary = run.summary();
    let order = [FRESH, WRITE_BEFORE, WRITE_AFTER, READ_BEFORE, READ_AFTER, TRIM];
    let mut findings = Findings { order: order.map(String::from).to_vec(), ..Findings::default() };
    let (before, after) = (
        side(summary, "before", &[WRITE_BEFORE, READ_BEFORE]),
        side(summary, "after", &[WRITE_AFTER, READ_AFTER]),
    );
    match compare(&before, &after, Some(setting.options.delta)) {
        Ok(comparison) => {
            let cell = |name: &str| comparison.cells.iter().find(|cell| cell.name == name);
            let loss = Loss::of(summary, &rounds::rates(setting, &run.steps, ROUND));
            conclude(cell(WRITES), cell(READS), &loss, &mut findings);
            gave_back(summary, &mut findings);
            findings.comparison = Some(comparison);
        }
        Err(_) => {
            findings.no_answer = true;
            findings.want_more(
                "Whether TRIM works: it was not measured before and after. Give a larger --time \
                 or --budget."
                    .into(),
            );
        }
    }
    read_nothing(run, &mut findings);
    cost(summary, &mut findings);
    drifted(summary, &mut findings);
    preparation(setting, run, &mut findings);
    findings
}

/// One side, under names that both have.
fn side(summary: &Summary, name: &str, cells: &[&str; 2]) -> Side {
    let cells = cells.iter().zip([WRITES, READS]);
    let samples = cells.filter_map(|(cell, word)| control::sample(summary, cell, word)).collect();
    Side { name: name.into(), samples, facts: Vec::new(), is_by_run: false }
}

/// Reads of what was trimmed find nothing to read: a drive that tells so has no rate there.
fn read_nothing(run: &Sound<'_>, findings: &mut Findings) {
    let is_nothing = |cell: &&CellSummary| {
        let codes = cell.reasons.iter().map(|reason| reason.code.as_str());
        cell.name == READ_AFTER && codes.clone().any(|code| NOTHING_READ.contains(&code))
    };
    if run.kept_out().find(is_nothing).is_some() {
        findings.not_applicable.push(Remark {
            cell: READ_AFTER.into(),
            text: "reads of trimmed blocks are answered without the flash, so their rate is not \
                   compared"
                .into(),
        });
    }
}

/// What could have come back, and what did.
struct Loss {
    /// The rate that the drive had before it fell, by its rate before the TRIM; 1: none was seen.
    fell_by: f64,
}

impl Loss {
    /// From the fresh drive where it was measured, else from the first round.
    fn of(summary: &Summary, rounds: &[f64]) -> Self {
        let before = rate(summary, WRITE_BEFORE).map(|estimate| estimate.value);
        let fresh = rate(summary, FRESH).map(|estimate| estimate.value);
        let reference = fresh.or(rounds.first().copied()).unwrap_or(f64::NAN);
        let fell_by = before.map_or(1.0, |before| reference / before);
        Loss { fell_by: if fell_by.is_finite() { fell_by } else { 1.0 } }
    }

    fn is_seen(&self) -> bool {
        self.fell_by > 1.0 / (1.0 - FELL)
    }

    /// The largest share of the loss that came back, as far as the interval of the ratio allows.
    fn back_at_most(&self, writes: &Cell) -> Option<f64> {
        let high = writes.ratio?.high.or(writes.ratio.map(|ratio| ratio.value))?;
        self.is_seen().then(|| (high - 1.0) / (self.fell_by - 1.0))
    }
}

fn conclude(writes: Option<&Cell>, reads: Option<&Cell>, loss: &Loss, findings: &mut Findings) {
    let judged = |cell: Option<&'_ Cell>| cell.filter(|cell| cell.verdict.is_some()).cloned();
    let (writes, reads) = (judged(writes), judged(reads));
    let word = |cell: &Option<Cell>| cell.as_ref().map_or("missing", Cell::word);
    let told = |what: &str, cell: &Option<Cell>| {
        let ratio = cell.as_ref()?.ratio?;
        Some(format!("{what} at {:.2} × what it was", ratio.value))
    };
    let told = [told("random writes run", &writes), told("reads at depth 1", &reads)];
    let told: Vec<String> = told.into_iter().flatten().collect();
    if told.is_empty() {
        findings.no_answer = true;
        findings.unknown.push(
            "Whether TRIM works: what was measured before and after it is suspect or drifted, and \
             the loads were kept out."
                .into(),
        );
        return;
    }
    let figures = format!("after it {}", told.join(", "));
    let back = writes.as_ref().and_then(|writes| loss.back_at_most(writes));
    // Reads also get faster where the machine had more time for them, or a drive had written out
    // what its cache held: by themselves they prove nothing.
    let is_something_back = back.is_some_and(|back| back >= BACK);
    let faster = word(&writes) == "faster" || (word(&reads) == "faster" && is_something_back);
    match back {
        _ if faster => findings.verdict.push(format!("TRIM works: {figures}.")),
        Some(back) if back < BACK && !["size unsettled", "faster"].contains(&word(&reads)) => {
            findings.beware.push(format!(
                "TRIM is accepted and ignored: {figures}. Random writes had fallen to {} of what \
                 they were, and at most {} of that loss came back.",
                percent(1.0 / loss.fell_by),
                percent(back.max(0.0))
            ));
        }
        _ => {
            findings.no_answer = true;
            let why = match (loss.is_seen(), &writes) {
                (true, Some(_)) if !is_something_back && word(&reads) == "faster" => {
                    "reads that became faster while random writes regained nothing are \
                     inconsistent; repeat on a quiet machine"
                }
                (true, Some(_)) => {
                    "the noise is too large to tell; a larger scale repeats more often"
                }
                (true, None) => "random writes, which had slowed down, were kept out",
                _ => "random writes had lost nothing that it could have given back",
            };
            findings.unknown.push(format!("Whether TRIM works: {figures}, and {why}."));
        }
    }
    if word(&writes) == "slower" {
        findings.beware.push(
            "Random writes are slower after the TRIM: something below, such as a file or a thin \
             volume, has to find room for them again."
                .into(),
        );
    }
}

/// The rate of a cell as its own row has it: all operations by all time.
fn rate(summary: &Summary, name: &str) -> Option<Estimate> {
    summary.cells.iter().find(|cell| cell.name == name)?.streams.first()?.total.iops
}

/// How much of what was lost came back.
fn gave_back(summary: &Summary, findings: &mut Findings) {
    let [fresh, before, after] = [FRESH, WRITE_BEFORE, WRITE_AFTER].map(|name| rate(summary, name));
    let figures = [("fresh", fresh), ("before TRIM", before), ("after TRIM", after)];
    for (name, estimate) in figures {
        findings.figures.extend(estimate.map(|estimate| Figure {
            name: format!("random write, {name}"),
            estimate,
            unit: Unit::Iops,
            note: String::new(),
        }));
    }
    let (Some(before), Some(after)) = (before, after) else { return };
    let Some(fresh) = fresh else {
        findings.not_applicable.push(Remark {
            cell: FRESH.into(),
            text: "the drive was not fresh, so what the TRIM left proves nothing; --purge NAME \
                   makes it fresh"
                .into(),
        });
        return;
    };
    let share = after.value / fresh.value;
    findings.figures.push(Figure {
        name: "of fresh".into(),
        estimate: Estimate::point(share, after.n),
        unit: Unit::Share,
        note: format!("{} before the TRIM", percent(before.value / fresh.value)),
    });
    if before.value < (1.0 - FELL) * fresh.value {
        findings.verdict.push(format!(
            "It writes {} at random after the TRIM, {} of what it did when it was fresh; settled, \
             it was {}.",
            operations(after.value),
            percent(share),
            percent(before.value / fresh.value)
        ));
    }
}

/// Whether a cell that was repeated in one state kept its rate. Writes to a drive that was just
/// emptied are left out: that they become slower is what the drive does when it fills.
fn drifted(summary: &Summary, findings: &mut Findings) {
    let cells = [READ_BEFORE, WRITE_BEFORE, READ_AFTER];
    let cells = cells.map(|name| (name.to_string(), control::values(summary, name)));
    control::drift(&cells, control::DRIFT, findings);
}

/// What the TRIM of everything took.
fn cost(summary: &Summary, findings: &mut Findings) {
    let mut steps = summary.steps.iter().filter(|step| step.name == TRIM);
    let Some(stream) = steps.next_back().and_then(|step| step.streams.first()) else { return };
    let Some(kind) = stream.kinds.get(&Action::Trim) else { return };
    let Some(latency): Option<Latency> = kind.service_ns else { return };
    let piece = stream.load.size_bytes_max;
    findings.figures.push(Figure {
        name: format!("TRIM of {}", size(piece)),
        estimate: Estimate::point(latency.mean, latency.count),
        unit: Unit::Ns,
        note: format!("at most {}", time(latency.max as f64)),
    });
    let whole = latency.mean * latency.count as f64;
    findings.verdict.push(format!(
        "Trimming all of it takes {} in {} pieces, {} each at most.",
        time(whole),
        latency.count,
        time(latency.max as f64)
    ));
}

/// How the steady state before it was reached, or that it was not.
fn preparation(setting: &Setting<'_>, run: &Run, findings: &mut Findings) {
    let steps = since_break(run);
    let known = rounds::rates(setting, steps, ROUND);
    let state = steps.iter().find(|step| step.begin.name == WRITE_BEFORE);
    let state = state.map_or("unknown", |step| step.begin.state.as_str());
    if state != "random-steady" && !findings.no_answer {
        findings.unknown.push(format!(
            "What TRIM gives back to a drive in its steady state: {} rounds of random writes did \
             not bring it there within the time and bytes allowed.",
            known.len()
        ));
    }
    if known.len() >= 2 {
        findings.pictures.push(Picture {
            title: "On the way to the steady state".into(),
            note: "Each round writes an eighth of the drive at random, or less where the budget \
                   is smaller."
                .into(),
            x: Axis { quantity: "round".into(), unit: Unit::Count },
            y: Axis { quantity: "rate".into(), unit: Unit::Iops },
            lines: vec![Line {
                label: "random write".into(),
                kind: LineKind::Measured,
                points: (1..).map(f64::from).zip(known).collect(),
            }],
            marks: Vec::new(),
        });
    }
}

#[cfg(test)]
mod tests;

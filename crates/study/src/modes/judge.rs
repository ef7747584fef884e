//! Who answered, from what was asked for and what reached the drive.

use super::{Cell, Mode, cells, region, why_not};
use crate::compare::{Side, compare};
use crate::experiment::Setting;
use crate::experiment::order::is_complete;
use drivelab_core::comparison::{Comparison, Metric, Sample};
use drivelab_core::facts::{DeviceFacts, TargetFacts};
use drivelab_core::findings::{Entry, Figure, Findings, Head, Remark, Table, Unit};
use drivelab_core::op::Action;
use drivelab_core::quantity::{digits, operations, percent, size};
use drivelab_core::record::{DeviceCounters, StepEnd};
use drivelab_core::run::{Run, StepRun};
use drivelab_core::sound::Sound;
use drivelab_core::summary::{StepSummary, Summary};
use drivelab_stats::{Estimate, centred};

/// Bytes that reached the drive may be off by this share without anybody having kept any back.
pub(super) const TOLERANCE: f64 = 0.02;
/// What others call suspect is what this study measures.
const MEASURED_HERE: [&str; 3] = ["not_from_device", "not_on_device", "not_on_disk"];
/// How deep the device works is nobody's promise but that of direct I/O without dsync.
const OF_DIRECT_ONLY: [&str; 2] = ["depth_not_reached", "depth_not_in_device"];

pub fn judge(setting: &Setting<'_>, run: &Sound<'_>) -> Findings {
    let summary = run.summary();
    let cells = cells(setting);
    let mut findings =
        Findings { order: cells.iter().map(Cell::name).collect(), ..Findings::default() };
    let seen: Vec<Seen> = cells.iter().map(|cell| Seen::of(*cell, summary, run)).collect();
    not_applicable(setting, &mut findings);
    if let Some(bytes) = setting.facts.target.simulated.and_then(|it| it.page_cache_bytes) {
        findings.deviations.push(format!(
            "The simulated host has a page cache of {}; page_cache=SIZE in the target sets another \
             size.",
            size(bytes)
        ));
    }
    findings.remarks.extend(seen.iter().filter(|seen| seen.is_by_memory()).map(|seen| Remark {
        cell: seen.cell.name(),
        text: "RAM may answer here: that is the finding".into(),
    }));
    figures(&seen, &mut findings);
    findings.tables.push(truth_table(setting, &seen));
    let comparison = compared(setting, &seen);
    for kind in [Action::Read, Action::Write] {
        buffered(kind, &seen, comparison.as_ref(), &mut findings);
    }
    kept_back(&seen, &mut findings);
    durable(&seen, &mut findings);
    findings.comparison = comparison;
    if seen.iter().all(|seen| seen.rates.is_empty()) {
        findings.no_answer = true;
        findings.want_more(
            "Who answered: no cell was measured within the time and bytes allowed. Give a larger \
             --time or --budget."
                .into(),
        );
    } else if seen.iter().all(|seen| seen.reached.is_none()) {
        findings.no_answer = true;
        findings.unknown.push(match uncounted(run) {
            Some(name) => format!(
                "Who answered: accounting is off on {name} (its queue/iostats is 0, or its driver \
                 does not count). If it is the switch: echo 1 > \
                 /sys/class/block/{name}/queue/iostats"
            ),
            None => "Who answered: below this target no device is known whose bytes are counted. \
                     Name a directory on a drive, a block device, or sim:NAME,page_cache=1GiB."
                .into(),
        });
    }
    findings
}

/// A device below the target that the kernel does not count.
fn uncounted(run: &Run) -> Option<&str> {
    let ends = run.steps.iter().filter_map(|step| step.end.as_ref());
    let mut devices = ends.flat_map(|end| &end.devices);
    devices.find(|device| device.uncounted).map(|device| device.name.as_str())
}

/// What was seen of one cell.
struct Seen {
    cell: Cell,
    /// One value of each sound repetition; their geometric mean is `rate`.
    rates: Vec<f64>,
    rate: Option<Estimate>,
    /// Bytes that the drive moved by bytes that were asked for.
    reached: Option<Estimate>,
    /// The flags in force.
    opened: String,
}

impl Seen {
    fn of(cell: Cell, summary: &Summary, run: &Run) -> Seen {
        let name = cell.name();
        let sound: Vec<&StepSummary> = summary
            .steps
            .iter()
            .filter(|step| step.name == name && step.incomplete.is_none())
            .filter(|step| step.valid != Some(false))
            .collect();
        // All that was done by all the time it took, as in the lines of the report.
        let in_time = |step: &&StepSummary| {
            let stream = step.streams.first()?;
            Some((stream.total.ops as f64, stream.seconds?))
        };
        let done: Vec<(f64, f64)> = sound.iter().filter_map(in_time).collect();
        let each = || done.iter().map(|(operations, seconds)| operations / seconds).collect();
        let rates: Vec<f64> = centred(&done).unwrap_or_else(|_| each());
        let steps = || run.steps.iter().filter(|step| step.begin.name == name && is_complete(step));
        let is_used = |step: &&StepRun| sound.iter().any(|known| known.step == step.begin.step);
        let reached: Vec<f64> =
            steps().filter(is_used).filter_map(|step| reached(run, step, cell.kind)).collect();
        let opened = steps().find_map(|step| step.begin.opened.first().cloned());
        Seen {
            cell,
            rate: Estimate::rate_of(&done),
            reached: Estimate::mean_of(&reached)
                .map(|it| Estimate { low: it.low.map(|low| low.max(0.0)), ..it }),
            rates,
            opened: opened.unwrap_or_default(),
        }
    }

    /// Whether memory answered where it may.
    fn is_by_memory(&self) -> bool {
        let least = self.by_memory().map_or(0.0, |(least, ..)| least);
        self.cell.mode == Mode::Buffered && least > TOLERANCE
    }

    /// The share that memory answered, with the ends of its interval: least, mean, most.
    fn by_memory(&self) -> Option<(f64, f64, f64)> {
        let reached = self.reached?;
        let kept = |share: f64| (1.0 - share).clamp(0.0, 1.0);
        let (low, high) =
            (reached.low.unwrap_or(reached.value), reached.high.unwrap_or(reached.value));
        Some((kept(high), kept(reached.value), kept(low)))
    }
}

/// That bytes did not reach the drive is what is asked here, and no doubt.
pub fn is_finding(name: &str, code: &str) -> bool {
    let is_direct = name.ends_with(&format!(", {}", Mode::Direct.word()));
    MEASURED_HERE.contains(&code) || (!is_direct && OF_DIRECT_ONLY.contains(&code))
}

/// Bytes that the drive moved by bytes that were asked for.
pub(super) fn reached(run: &Run, step: &StepRun, kind: Action) -> Option<f64> {
    let kinds = step.tallies.iter().flat_map(|tally| &tally.kinds);
    let asked: u64 = kinds.filter(|entry| entry.kind == kind).map(|entry| entry.bytes).sum();
    let end = step.end.as_ref()?;
    let target = &run.begin.facts.target;
    let moved = match target.simulated {
        // Without a page cache nothing is counted before the drive: there is nothing between.
        Some(known) => {
            let inside = end.inside.filter(|_| known.page_cache_bytes.is_some())?;
            if kind == Action::Read { inside.drive_read_bytes } else { inside.drive_written_bytes }
        }
        // Memory can answer at the top and once more above the disks below it.
        None => {
            let top = &target.devices.first()?.name;
            let above = counted(target, end, kind, &|it| it.name == *top);
            let disks = counted(target, end, kind, &|it| it.layer == "disk");
            above.into_iter().chain(disks).min()?
        }
    };
    (asked > 0).then(|| moved as f64 / asked as f64)
}

/// What the kernel counted on these devices together; `None` where it does not count all of them,
/// whose zeros are no evidence that memory answered.
fn counted(
    target: &TargetFacts,
    end: &StepEnd,
    kind: Action,
    wanted: &dyn Fn(&DeviceFacts) -> bool,
) -> Option<u64> {
    let names = target.devices.iter().filter(|it| wanted(it)).map(|it| &it.name);
    let found = names.filter_map(|name| end.devices.iter().find(|it| it.name == *name));
    let bytes = |it: &DeviceCounters| {
        let bytes = if kind == Action::Read { it.read_bytes } else { it.written_bytes };
        (!it.uncounted).then_some(bytes)
    };
    let all: Vec<u64> = found.map(bytes).collect::<Option<_>>()?;
    all.into_iter().reduce(|sum, bytes| sum + bytes)
}

pub(super) fn not_applicable(setting: &Setting<'_>, findings: &mut Findings) {
    for mode in Mode::ALL {
        findings.not_applicable.extend(why_not(setting, mode).map(|text| Remark {
            cell: format!("all cells that are {}", mode.word()),
            text: text.into(),
        }));
    }
}

fn figures(seen: &[Seen], findings: &mut Findings) {
    for seen in seen {
        findings.figures.extend(seen.reached.map(|estimate| Figure {
            name: format!("reached the drive: {}", seen.cell.name()),
            estimate,
            unit: Unit::Share,
            note: String::new(),
        }));
    }
}

fn truth_table(setting: &Setting<'_>, seen: &[Seen]) -> Table {
    let head = |name: &str, unit| Head { name: name.into(), unit };
    let row = |seen: &Seen| {
        let number = |value: Option<f64>| value.map_or(Entry::Nothing, Entry::Number);
        let reached = seen.reached;
        vec![
            Entry::Text(seen.cell.name()),
            Entry::Text(if seen.opened.is_empty() { "-".into() } else { seen.opened.clone() }),
            number(seen.rate.map(|rate| rate.value)),
            number(reached.map(|share| share.value)),
            number(reached.and_then(|share| share.low)),
            number(reached.and_then(|share| share.high)),
        ]
    };
    Table {
        title: "What was asked for and what reached the drive".into(),
        note: format!(
            "On {} of the target. Buffered reads find what one pass over it left in memory; before \
             every cell memory was written back and dropped. More than 100 %: read-ahead, journal.",
            size(region(setting))
        ),
        heads: vec![
            head("cell", None),
            head("flags in force", None),
            head("rate", Some(Unit::Iops)),
            head("reached the drive", Some(Unit::Share)),
            head("at least", Some(Unit::Share)),
            head("at most", Some(Unit::Share)),
        ],
        rows: seen.iter().map(row).collect(),
    }
}

/// Buffered compared with direct.
fn compared(setting: &Setting<'_>, seen: &[Seen]) -> Option<Comparison> {
    let side = |mode: Mode| {
        let all = seen.iter().filter(|seen| seen.cell.mode == mode && !seen.rates.is_empty());
        let samples = all.map(|seen| Sample {
            name: name_of(seen.cell.kind, seen.cell.depth),
            metric: Metric::Iops,
            values: seen.rates.clone(),
            is_ordered: false,
            suspect: None,
        });
        Side {
            name: mode.word().into(),
            samples: samples.collect(),
            facts: Vec::new(),
            is_by_run: false,
        }
    };
    compare(&side(Mode::Direct), &side(Mode::Buffered), Some(setting.options.delta)).ok()
}

fn name_of(kind: Action, depth: u32) -> String {
    format!("random {} qd{depth}", kind.word())
}

/// Who answered buffered I/O, and how much faster that was.
fn buffered(kind: Action, seen: &[Seen], comparison: Option<&Comparison>, findings: &mut Findings) {
    let all = seen.iter().filter(|seen| seen.cell.kind == kind && seen.cell.mode == Mode::Buffered);
    for seen in all {
        let Some((least, mean, most)) = seen.by_memory() else { continue };
        let name = name_of(kind, seen.cell.depth);
        let against = comparison.and_then(|it| it.cells.iter().find(|cell| cell.name == name));
        let ratio = against.and_then(|cell| cell.ratio);
        let rate = match (ratio, against) {
            (Some(ratio), Some(cell)) => {
                format!(
                    "; its rate is {} × that of direct I/O ({})",
                    digits(ratio.value),
                    cell.word()
                )
            }
            _ => String::new(),
        };
        let share = format!("{} ({} to {})", percent(mean), percent(least), percent(most));
        let text = match kind {
            Action::Read => format!("Buffered {name}: {share} was answered by RAM"),
            _ => format!("Buffered {name}: {share} had only reached RAM when it was answered"),
        };
        if least > TOLERANCE {
            findings.verdict.push(format!("{text}{rate}."));
        } else if most <= TOLERANCE {
            findings.verdict.push(format!(
                "Buffered {name}: the drive answered, RAM at most {}{rate}.",
                percent(most)
            ));
        } else {
            findings.unknown.push(format!(
                "Who answered buffered {name}: {share} by RAM, which may be nothing. A larger \
                 scale repeats more often."
            ));
        }
    }
}

/// Modes that must reach the drive, and do or do not.
fn kept_back(seen: &[Seen], findings: &mut Findings) {
    let bound = |seen: &&Seen| seen.cell.mode != Mode::Buffered;
    let known: Vec<(&Seen, (f64, f64, f64))> =
        seen.iter().filter(bound).filter_map(|seen| Some((seen, seen.by_memory()?))).collect();
    let kept: Vec<_> = known.iter().filter(|(_, (least, ..))| *least > TOLERANCE).collect();
    for (seen, (least, mean, _)) in &kept {
        findings.beware.push(format!(
            "{} did not reach the drive as it must: {} (at least {}) of its bytes were kept back \
             above it.",
            seen.cell.name(),
            percent(*mean),
            percent(*least)
        ));
    }
    let reached = known.iter().filter(|(_, (.., most))| *most <= TOLERANCE).count();
    if kept.is_empty() && !known.is_empty() && reached == known.len() {
        let what = if known.iter().any(|(seen, _)| !seen.cell.mode.is_direct()) {
            "Direct I/O and writes with dsync"
        } else {
            "Direct I/O"
        };
        findings
            .verdict
            .push(format!("{what} reached the drive whole, in all {} cells.", known.len()));
    }
}

/// What durability costs.
fn durable(seen: &[Seen], findings: &mut Findings) {
    let of = |mode: Mode| {
        seen.iter().find(|seen| {
            (seen.cell.kind, seen.cell.depth, seen.cell.mode) == (Action::Write, 1, mode)
        })
    };
    let rate = |mode: Mode| of(mode).and_then(|seen| seen.rate);
    let words: Vec<String> = Mode::ALL
        .into_iter()
        .filter_map(|mode| Some(format!("{} {}", mode.word(), operations(rate(mode)?.value))))
        .collect();
    if words.len() > 1 {
        findings.verdict.push(format!("Random writes, one at a time: {}.", words.join(", ")));
    }
}

#[cfg(test)]
mod tests;

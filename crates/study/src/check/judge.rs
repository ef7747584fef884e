//! What the cells of `check` mean, in sentences that carry their figures.

mod freezes;
mod known;
mod rewritten;
#[cfg(test)]
mod tests;

use super::{
    CELLS, FSYNC, RANDOM_READ, RANDOM_READ_ALONE, RANDOM_WRITE, RANDOM_WRITE_ALONE,
    SEQUENTIAL_READ, SEQUENTIAL_READ_ALONE, SEQUENTIAL_WRITE, SEQUENTIAL_WRITE_ALONE, STUTTER,
    classes, rows, uses,
};
use crate::experiment::capital;
use crate::experiment::link;
use drivelab_core::facts::{Bound, Facts, TargetKind, WearFacts};
use drivelab_core::findings::{Findings, Remark};
use drivelab_core::op::Action;
use drivelab_core::plan::{IoMode, Role};
use drivelab_core::quantity;
use drivelab_core::run::{Run, StepRun};
use drivelab_core::sound::Sound;
use drivelab_core::study::StudyOptions;
use drivelab_core::summary::{CellKind, CellSummary, Rates, Summary, Suspicion, suspicions};
use drivelab_core::uses::Grade;
use freezes::Freezes;

/// The cells that the verdict stands on: if one is suspect, there is no valid answer.
const HEADLINE: [&str; 8] = [
    SEQUENTIAL_READ,
    SEQUENTIAL_WRITE,
    SEQUENTIAL_READ_ALONE,
    SEQUENTIAL_WRITE_ALONE,
    RANDOM_READ,
    RANDOM_WRITE,
    RANDOM_READ_ALONE,
    RANDOM_WRITE_ALONE,
];
/// Repetitions that differ by more than this are said not to agree (half width of the interval).
const SPREAD_BEWARE: f64 = 0.15;
/// No flash answers faster than this.
const FLASH_NS_MIN: f64 = 8_000.0;
/// A tail this many times the median, and above a millisecond, is worth a warning.
const TAIL_BEWARE: f64 = 20.0;
/// A write cell whose last third is slower than its first by this much has met a knee.
const KNEE: f64 = 0.7;

/// Judges a run of `check`.
pub fn judge(options: &StudyOptions, run: &Sound<'_>) -> Findings {
    let summary = run.summary();
    let order = CELLS.iter().map(|cell| (*cell).to_string()).collect();
    let mut findings = Findings { order, rows: rows(), ..Findings::default() };
    let judged = Judged { summary, facts: &run.begin.facts };
    let freezes = Freezes::of(run, summary);
    judged.suspects(&mut findings);
    judged.uses(options, &freezes, &mut findings);
    judged.warnings(&mut findings);
    judged.verdict(&mut findings);
    rewritten::look(run, summary, &mut findings);
    judged.commits(&mut findings);
    judged.freezes(&freezes, &mut findings);
    judged.tails(&mut findings);
    judged.spread(&mut findings);
    judged.surroundings(&mut findings);
    judged.writes(run, &mut findings);
    judged.not_asked(run, &mut findings);
    super::zoned::told(&run.begin.facts, &mut findings);
    findings
}

struct Judged<'a> {
    summary: &'a Summary,
    facts: &'a Facts,
}

impl Judged<'_> {
    fn cell(&self, name: &str) -> Option<&CellSummary> {
        self.summary.cells.iter().find(|cell| cell.name == name)
    }

    fn kind(&self, name: &str, kind: Action) -> Option<&CellKind> {
        self.cell(name)?.streams.first()?.kinds.get(&kind)
    }

    fn bandwidth(&self, name: &str, kind: Action) -> Option<f64> {
        self.kind(name, kind)?.rates.bandwidth_bytes_per_s.map(|estimate| estimate.value)
    }

    /// Which cells the truth guard does not believe, one sentence for each reason.
    fn suspects(&self, findings: &mut Findings) {
        let cells = CELLS.iter().filter_map(|name| self.cell(name));
        findings.suspect.extend(suspicions(cells).iter().map(|one| self.told_of(one)));
        let headline: Vec<&CellSummary> =
            HEADLINE.iter().filter_map(|name| self.cell(name)).collect();
        findings.no_answer =
            !headline.is_empty() && headline.iter().any(|cell| cell.valid == Some(false));
    }

    /// One reason in the words of its first cell, which hold for the others only where theirs are
    /// the same.
    fn told_of(&self, suspicion: &Suspicion<'_>) -> String {
        let (same, other) = suspicion.names();
        let which = match same.len() {
            all if all == self.summary.cells.len() => "all cells".to_string(),
            _ => same.join(", "),
        };
        let likewise = match other.is_empty() {
            true => String::new(),
            false => format!(" Likewise, with figures of their own: {}.", other.join(", ")),
        };
        let text = suspicion.text().trim_end_matches('.');
        format!("{}: {text}.{likewise}", capital(&which))
    }

    /// What it is good for, and what its figures are like. Only what was asked for by name and is
    /// poor, or not known, decides how the command ends.
    fn uses(&self, options: &StudyOptions, freezes: &Freezes, findings: &mut Findings) {
        findings.uses = uses::judged(&options.uses, |asked| self.known(asked, freezes));
        let class = classes::class(self.read_figures());
        if class.name.as_deref() == Some(classes::CLOUD) {
            findings.unknown.push(format!(
                "Whether these rates last: a volume of a cloud may spend credits that it saved \
                 up, for as long as an hour. `drivelab run {} --rw randread --depth 32 --runtime \
                 1h` shows whether its rate falls.",
                self.facts.target.path
            ));
        }
        findings.class = Some(class);
        let asked = |grade| findings.uses.iter().any(|one| one.asked && one.grade == grade);
        let (is_poor, is_open) = (asked(Grade::Poor), asked(Grade::NotKnown));
        findings.bad = Some(is_poor || freezes.is_certain());
        findings.no_answer |= is_open;
    }

    /// What the drive says of its own health, however fast it is.
    fn warnings(&self, findings: &mut Findings) {
        let worn = self.facts.target.devices.iter().filter_map(|device| device.wear.as_ref());
        let mut words: Vec<String> = worn.flat_map(WearFacts::warnings).collect();
        words.dedup();
        if !words.is_empty() {
            findings.bad = Some(true);
            findings.beware.push(format!("The drive itself warns: {}.", words.join("; ")));
        }
    }

    /// What no line of the table says.
    fn verdict(&self, findings: &mut Findings) {
        let of_link = link::said(
            self.facts,
            self.bandwidth(SEQUENTIAL_READ, Action::Read),
            self.bandwidth(SEQUENTIAL_WRITE, Action::Write),
        );
        findings.verdict.extend(of_link);
        let alone = self.kind(RANDOM_READ_ALONE, Action::Read);
        if let Some(latency) = alone.and_then(|kind| kind.merged.service_ns.as_ref()) {
            let doubt = match latency.mean < FLASH_NS_MIN {
                true => ": no flash answers that fast, memory or a cache did",
                false => "",
            };
            findings.verdict.push(format!(
                "One random 4 KiB read at a time takes {} on average{}{doubt}.",
                quantity::time(latency.mean),
                self.mark(RANDOM_READ_ALONE)
            ));
        }
    }

    /// A word behind a number that is none of what was measured.
    fn mark(&self, name: &str) -> &'static str {
        let total = self.cell(name).and_then(|cell| cell.streams.first());
        match total.and_then(|stream| range(&stream.total)) {
            Some(_) => " (not repeatable)",
            None => "",
        }
    }

    fn commits(&self, findings: &mut Findings) {
        let write = self.kind(FSYNC, Action::Write).and_then(mean);
        let flush = self.kind(FSYNC, Action::Flush).and_then(mean);
        let (Some(write), Some(flush)) = (write, flush) else { return };
        let whole = self.kind(FSYNC, Action::Flush).and_then(|kind| kind.merged.commit_ns);
        let commit_ns = whole.map_or(write + flush, |commit| commit.mean);
        // What the table says, where it says it: between two commits time passes as well.
        let rate = self.kind(FSYNC, Action::Write).and_then(|kind| kind.rates.iops);
        let rate = rate.map_or(1e9 / commit_ns, |rate| rate.value);
        let text = "p99 of write and fsync together".into();
        findings.remarks.push(Remark { cell: FSYNC.into(), text });
        findings.verdict.push(format!(
            "Each durable commit (4 KiB and fsync) takes {} on average{}: {} a second from one \
             writer, whatever the IOPS say.",
            quantity::time(commit_ns),
            self.mark(FSYNC),
            quantity::digits(rate)
        ));
    }

    fn freezes(&self, freezes: &Freezes, findings: &mut Findings) {
        let Some(text) = freezes.told() else { return };
        if let Some(share) = freezes.busy.filter(|_| !freezes.is_certain()) {
            findings.unknown.push(format!(
                "Whether it stutters: {text}, but some task waited for a CPU {} of that time: it \
                 may have been this machine. Measure again while nothing else runs.",
                quantity::percent(share)
            ));
        } else if freezes.is_certain() {
            findings.beware.push(format!("It stutters: {text}. A person would feel this."));
        } else if !freezes.is_long_enough() {
            findings.want_more(format!(
                "Stutter: {text}, which is too short a look. Raise --budget for a longer one."
            ));
        } else {
            findings.verdict.push(match self.other_gaps() {
                None => format!("No stutter: {text}."),
                Some(others) => format!("Writes do not stutter: {text}. But {others}."),
            });
        }
        if let Some(text) = freezes.remark() {
            findings.remarks.push(Remark { cell: STUTTER.into(), text });
        }
    }

    /// Times without a completion in cells that are not of small random writes.
    fn other_gaps(&self) -> Option<String> {
        let cells = self.summary.cells.iter().filter(|cell| {
            cell.valid != Some(false) && !freezes::WRITING.contains(&cell.name.as_str())
        });
        let gaps = cells.filter_map(|cell| {
            let stream = cell.streams.first().filter(|stream| stream.gap_count > Some(0))?;
            Some((stream.gap_ns_longest?, stream.gap_count?, cell.name.as_str()))
        });
        let (longest, count, name) = gaps.max()?;
        let counted = quantity::counted(count, "gap");
        let over = quantity::time(super::FREEZE_NS as f64);
        let longest = quantity::time(longest as f64);
        Some(format!(
            "`{name}` had {counted} over {over} without a completion, the longest {longest}"
        ))
    }

    fn tails(&self, findings: &mut Findings) {
        for (name, kind) in [(RANDOM_READ_ALONE, Action::Read), (RANDOM_WRITE_ALONE, Action::Write)]
        {
            let latency = self.kind(name, kind).and_then(|kind| kind.merged.service_ns.as_ref());
            let Some(latency) = latency else { continue };
            let (Some(median), Some(tail)) = (latency.p50, latency.p99_9) else { continue };
            if tail as f64 > TAIL_BEWARE * median as f64 && tail > 1_000_000 {
                findings.beware.push(format!(
                    "One {} in a thousand takes {} or more, {} times the median of {}.",
                    kind.word(),
                    quantity::time(tail as f64),
                    quantity::digits(tail as f64 / median.max(1) as f64),
                    quantity::time(median as f64)
                ));
            }
        }
    }

    /// Repetitions that do not agree, which may be this machine's noise.
    fn spread(&self, findings: &mut Findings) {
        let spread = |name: &&str| {
            let rates = &self.cell(name)?.streams.first()?.total;
            if let Some(range) = range(rates) {
                return Some(format!("{name}, {range}"));
            }
            let iops = rates.iops?;
            let half = iops.relative_half_width().filter(|half| *half > SPREAD_BEWARE)?;
            Some(format!("{name} ± {}", quantity::percent(half)))
        };
        let cells: Vec<String> = CELLS.iter().filter_map(spread).collect();
        if !cells.is_empty() {
            let why = match self.facts.target.kind == TargetKind::Simulated {
                true => "The drive is uneven",
                false => {
                    "The drive is uneven, or something else was running; repeat on a quiet machine"
                }
            };
            findings.unknown.push(format!(
                "How fast exactly: repetitions differ by more than {} of the mean ({}). {why}.",
                quantity::percent(SPREAD_BEWARE),
                cells.join("; ")
            ));
        }
    }

    /// Whether the page cache was in between.
    fn is_buffered(&self) -> bool {
        let mut streams = self.summary.cells.iter().flat_map(|cell| &cell.streams);
        streams.any(|stream| stream.load.io == IoMode::Buffered)
    }

    fn surroundings(&self, findings: &mut Findings) {
        let filesystem = self.facts.target.filesystem.as_ref();
        if let Some(hazard) = filesystem.and_then(|fs| fs.hazard.as_ref()) {
            findings.beware.push(hazard.clone());
        }
        if self.is_buffered() {
            findings.unknown.push(
                "The drive itself: this file system cannot bypass the page cache (O_DIRECT), so \
                 memory answered at least in part. Check a directory on another file system, or \
                 the device."
                    .into(),
            );
        }
    }

    /// How far the write cells got, and whether a cache filled.
    fn writes(&self, run: &Sound<'_>, findings: &mut Findings) {
        let written: u64 = run.written().map(|(_, bytes)| bytes).sum();
        let mut knees = Vec::new();
        for name in CELLS {
            let steps: Vec<&StepRun> =
                run.steps.iter().filter(|step| step.begin.name == name).collect();
            if !steps.iter().any(|step| step.plan.changes_data()) {
                continue;
            }
            let cell = self.cell(name);
            let counts =
                |step: &&StepRun| cell.is_some_and(|cell| cell.steps.contains(&step.begin.step));
            let ratio = knee(steps.into_iter().filter(counts));
            if ratio.is_some_and(|ratio| ratio < KNEE) {
                knees.push(name);
            }
            let is_measured = cell.is_some_and(|cell| !cell.streams.is_empty());
            let is_known_to_last = self.has_quota() && ratio.is_none_or(|ratio| ratio >= KNEE);
            if is_measured && !is_known_to_last {
                let text = write_remark(ratio, written);
                findings.remarks.push(Remark { cell: name.into(), text });
            }
        }
        if written == 0 {
            findings.unknown.push("Writes: nothing was written.".into());
        } else if knees.is_empty() {
            findings.unknown.push(format!(
                "Sustained writes: no write cliff in the {} written. `drivelab study wsat` finds \
                 whether one comes, where, and what is left then.",
                quantity::capacity(written)
            ));
        } else {
            findings.beware.push(format!(
                "Writes slow down as they go on ({}): the figures above are for a short while.",
                knees.join(", ")
            ));
        }
    }

    /// A volume whose operator says that its rate is always the same: no cache fills there.
    fn has_quota(&self) -> bool {
        self.facts.target.simulated.is_some_and(|known| known.bound == Bound::Quota)
    }

    fn not_asked(&self, run: &Run, findings: &mut Findings) {
        let is_durable = self.cell(FSYNC).is_some_and(|cell| cell.valid != Some(false));
        if is_durable && self.facts.target.kind != TargetKind::Simulated {
            findings.unknown.push(
                "Durability: whether what an fsync confirmed survives a power cut. How long it \
                 takes does not show that; a cache that is not protected can answer as fast."
                    .into(),
            );
        }
        let measured: u64 = run
            .steps
            .iter()
            .filter(|step| step.begin.role == Role::Measure)
            .filter_map(|step| step.plan.streams.first())
            .filter_map(|stream| Some(stream.offset.0 + stream.length?.0))
            .max()
            .unwrap_or(0);
        // Of a simulated drive that is known of all of it.
        let is_simulated = self.facts.target.kind == TargetKind::Simulated;
        let is_steady = run.steps.first().is_some_and(|step| step.begin.state == "random-steady");
        if !(is_simulated && is_steady) {
            findings.unknown.push(format!(
                "The whole drive: the cells used {} of it, in the state it was found in. Whether \
                 the figures hold on a full and aged drive is not known.",
                quantity::size(measured)
            ));
        }
    }
}

/// What is said of a cell that writes: whether it slowed down as it went on, by the ratio of
/// [`knee`]; `None`: nobody could see that.
fn write_remark(ratio: Option<f64>, written: u64) -> String {
    match ratio {
        Some(ratio) if ratio < KNEE => {
            format!("slowed to {} while it ran", quantity::percent(ratio))
        }
        Some(_) => format!(
            "maybe in the drive's cache: no slowdown seen in {} written",
            quantity::capacity(written)
        ),
        None => "maybe in the drive's cache: too short to see a slowdown".to_owned(),
    }
}

/// How far repetitions lie apart that are not repeatable.
fn range(rates: &Rates) -> Option<&str> {
    let why = rates.no_interval.as_ref().filter(|why| why.code == "not_repeatable")?;
    Some(why.text.split_once(": ").map_or(why.text.as_str(), |(_, range)| range))
}

fn mean(kind: &CellKind) -> Option<f64> {
    kind.merged.service_ns.as_ref().map(|latency| latency.mean)
}

/// Rate of the last third of a step ÷ rate of its first third, the median over its repetitions.
fn knee<'run>(steps: impl Iterator<Item = &'run StepRun>) -> Option<f64> {
    let mut ratios: Vec<f64> = steps
        .filter_map(|step| {
            let points = drivelab_core::summary::series(step, 0, None);
            let whole: Vec<f64> =
                points.iter().filter(|p| !p.ramp && !p.partial).map(|p| p.ops_per_s).collect();
            let third = whole.len() / 3;
            let sum = |part: &[f64]| part.iter().sum::<f64>();
            (third >= 3 && sum(&whole[..third]) > 0.0)
                .then(|| sum(&whole[whole.len() - third..]) / sum(&whole[..third]))
        })
        .collect();
    ratios.sort_by(f64::total_cmp);
    ratios.get(ratios.len() / 2).copied()
}

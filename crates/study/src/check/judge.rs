//! What the cells of `check` mean, in sentences that carry their figures.

mod scattered;

use super::{CELLS, FREEZE_NS};
use crate::experiment::{link, waited};
use drivelab_core::facts::Facts;
use drivelab_core::findings::{Findings, Remark};
use drivelab_core::op::Action;
use drivelab_core::plan::{IoMode, Role};
use drivelab_core::quantity;
use drivelab_core::run::{Run, StepRun};
use drivelab_core::sound::Sound;
use drivelab_core::summary::{CellKind, CellSummary, Rates, Summary, Suspicion, suspicions};

/// The cells that the verdict stands on: if one is suspect, there is no valid answer.
const HEADLINE: [&str; 5] =
    ["sequential read", "sequential write", "random read", "random write", "random read qd1"];
/// Fewer seconds of small random writes than this do not show that a drive never freezes.
const STUTTER_SECONDS_MIN: f64 = 10.0;
/// A durable commit dearer than this is worth a warning.
const COMMIT_NS_BEWARE: f64 = 500_000.0;
/// Repetitions that differ by more than this are worth a warning (half width of the interval).
const SPREAD_BEWARE: f64 = 0.15;
/// A tail this many times the median, and above a millisecond, is worth a warning.
const TAIL_BEWARE: f64 = 20.0;
/// A write cell whose last third is slower than its first by this much has met a knee.
const KNEE: f64 = 0.7;

/// Judges a run of `check`.
pub fn judge(run: &Sound<'_>) -> Findings {
    let summary = run.summary();
    let order = CELLS.iter().map(|cell| (*cell).to_string()).collect();
    let mut findings = Findings { order, ..Findings::default() };
    let judged = Judged { summary, facts: &run.begin.facts };
    judged.suspects(&mut findings);
    judged.verdict(&mut findings);
    scattered::look(run, summary, &mut findings);
    judged.commits(&mut findings);
    judged.freezes(run, &mut findings);
    judged.tails(&mut findings);
    judged.spread(&mut findings);
    judged.surroundings(&mut findings);
    judged.writes(run, &mut findings);
    judged.not_asked(run, &mut findings);
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

    fn iops(&self, name: &str, kind: Action) -> Option<f64> {
        self.kind(name, kind)?.rates.iops.map(|estimate| estimate.value)
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

    /// What it can do: large transfers, small ones deep, small ones one at a time.
    fn verdict(&self, findings: &mut Findings) {
        let rate = |name: &str, kind: Action| self.bandwidth(name, kind).map(quantity::bandwidth);
        let large = self.pair(["sequential read", "sequential write"], rate);
        if let Some(large) = large {
            findings.verdict.push(format!("Large transfers in a row: {large}."));
        }
        let of_link = link::said(
            self.facts,
            self.bandwidth("sequential read", Action::Read),
            self.bandwidth("sequential write", Action::Write),
        );
        findings.verdict.extend(of_link);
        let rate = |name: &str, kind: Action| self.iops(name, kind).map(quantity::operations);
        if let Some(small) = self.pair(["random read", "random write"], rate) {
            findings.verdict.push(format!("Scattered 4 KiB transfers, many at once: {small}."));
        }
        let alone = self.kind("random read qd1", Action::Read);
        if let Some(latency) = alone.and_then(|kind| kind.merged.service_ns.as_ref()) {
            findings.verdict.push(format!(
                "One scattered 4 KiB read at a time takes {} on average{}: {}.",
                quantity::time(latency.mean),
                self.mark("random read qd1"),
                class(latency.mean)
            ));
        }
    }

    /// A word behind a number that is not believed, or that is none of what was measured.
    fn mark(&self, name: &str) -> &'static str {
        let Some(cell) = self.cell(name) else { return "" };
        let total = cell.streams.first().map(|stream| &stream.total);
        match total.and_then(range) {
            _ if cell.valid == Some(false) => " (suspect)",
            Some(_) => " (not repeatable)",
            None => "",
        }
    }

    /// What reading and writing do, as far as both were measured.
    fn pair(
        &self,
        [read, write]: [&str; 2],
        rate: impl Fn(&str, Action) -> Option<String>,
    ) -> Option<String> {
        let said = |word: &str, name: &str, kind| {
            Some(format!("{word} {}{}", rate(name, kind)?, self.mark(name)))
        };
        let both = [said("reads", read, Action::Read), said("writes", write, Action::Write)];
        let known: Vec<String> = both.into_iter().flatten().collect();
        (!known.is_empty()).then(|| known.join(", "))
    }

    fn commits(&self, findings: &mut Findings) {
        let write = self.kind("fsync", Action::Write).and_then(mean);
        let flush = self.kind("fsync", Action::Flush).and_then(mean);
        let (Some(write), Some(flush)) = (write, flush) else { return };
        let commit_ns = write + flush;
        let text = format!(
            "each durable commit (4 KiB and fsync) costs {}: about {} a second from one writer, \
             whatever the IOPS say",
            quantity::time(commit_ns),
            quantity::digits(1e9 / commit_ns)
        );
        if commit_ns > COMMIT_NS_BEWARE {
            findings.beware.push(format!("{}.", capital(&text)));
        } else {
            findings.verdict.push(format!("{}.", capital(&text)));
        }
    }

    fn freezes(&self, run: &Run, findings: &mut Findings) {
        let Some(stream) = self.cell("stutter").and_then(|cell| cell.streams.first()) else {
            return;
        };
        let (Some(longest), seconds) = (stream.gap_ns_longest, stream.seconds) else { return };
        let count = stream.gap_count.unwrap_or(0);
        let text = format!(
            "under small random writes the longest time without a completion was {}, with {count} \
             freeze{} over {} ms in {} s",
            quantity::time(longest as f64),
            if count == 1 { "" } else { "s" },
            FREEZE_NS / 1_000_000,
            quantity::digits(seconds)
        );
        let busy = waited::busy(run.steps.iter().filter(|step| step.begin.name == "stutter"));
        if let Some(share) = busy.filter(|_| longest >= FREEZE_NS) {
            findings.unknown.push(format!(
                "Whether it stutters: {text}, but some task waited for a CPU {} of that time: it \
                 may have been this machine. Measure again while nothing else runs.",
                quantity::percent(share)
            ));
        } else if longest >= FREEZE_NS {
            findings.beware.push(format!("It stutters: {text}. A person would feel this."));
        } else if seconds < STUTTER_SECONDS_MIN {
            findings.want_more(format!(
                "Stutter: {text}, which is too short a look. Raise --budget for a longer one."
            ));
        } else {
            let mark = self.mark("stutter");
            findings.verdict.push(format!("No stutter: {text}{mark}."));
        }
        let remark = format!(
            "longest freeze {}, {count} over {} ms",
            quantity::time(longest as f64),
            FREEZE_NS / 1_000_000
        );
        findings.remarks.push(Remark { cell: "stutter".into(), text: remark });
    }

    fn tails(&self, findings: &mut Findings) {
        for (name, kind) in [("random read qd1", Action::Read), ("random write qd1", Action::Write)]
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

    /// Repetitions that do not agree: the headline is then only a range.
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
            findings.beware.push(format!(
                "The repetitions do not agree within {} of the mean: {}. The drive \
                 is uneven, or something else was running; repeat on a quiet machine.",
                quantity::percent(SPREAD_BEWARE),
                cells.join("; ")
            ));
        }
    }

    fn surroundings(&self, findings: &mut Findings) {
        let filesystem = self.facts.target.filesystem.as_ref();
        if let Some(hazard) = filesystem.and_then(|fs| fs.hazard.as_ref()) {
            findings.beware.push(hazard.clone());
        }
        let buffered = self
            .summary
            .cells
            .iter()
            .flat_map(|cell| &cell.streams)
            .any(|stream| stream.load.io == IoMode::Buffered);
        if buffered {
            findings.unknown.push(
                "The drive itself: this file system cannot bypass the page cache (O_DIRECT), so \
                 memory answered at least in part. Check a directory on another file system, or \
                 the device."
                    .into(),
            );
        }
    }

    /// How far the write cells got, and whether a cache filled.
    fn writes(&self, run: &Run, findings: &mut Findings) {
        let mut written = 0;
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
            let rates = cell.and_then(|cell| cell.streams.first()).map(|stream| &stream.total);
            let remark = write_remark(ratio, rates);
            if let Some(text) = remark.filter(|_| name != "stutter") {
                findings.remarks.push(Remark { cell: name.into(), text });
            }
        }
        for step in run.steps.iter().filter(|step| step.plan.changes_data()) {
            let kinds = step.tallies.iter().flat_map(|tally| &tally.kinds);
            written += kinds.filter(|k| k.kind == Action::Write).map(|k| k.bytes).sum::<u64>();
        }
        if written == 0 {
            findings.unknown.push("Writes: nothing was written.".into());
        } else if knees.is_empty() {
            findings.unknown.push(format!(
                "Sustained writes: {} were written in all and no write cliff was reached, so \
                 nothing is said of what happens after more.",
                quantity::capacity(written)
            ));
        } else {
            findings.beware.push(format!(
                "Writes slow down as they go on ({}): the figures above are for a short while.",
                knees.join(", ")
            ));
        }
    }

    fn not_asked(&self, run: &Run, findings: &mut Findings) {
        let measured: u64 = run
            .steps
            .iter()
            .filter(|step| step.begin.role == Role::Measure)
            .filter_map(|step| step.plan.streams.first())
            .filter_map(|stream| Some(stream.offset.0 + stream.length?.0))
            .max()
            .unwrap_or(0);
        findings.unknown.push(format!(
            "The whole drive: the cells used {} of it, in the state it was found in. Whether the \
             figures hold on a full and aged drive is not known.",
            quantity::size(measured)
        ));
    }
}

/// What is said beside a cell that writes: whether it slowed down as it went on, by the ratio of
/// [`knee`], and why it has no interval.
fn write_remark(ratio: Option<f64>, rates: Option<&Rates>) -> Option<String> {
    if let Some(ratio) = ratio.filter(|ratio| *ratio < KNEE) {
        return Some(format!("slowed to {} while it ran", quantity::percent(ratio)));
    }
    let rates = rates?;
    Some(match (rates.iops.filter(|rate| rate.low.is_none()), range(rates)) {
        (_, Some(range)) => format!("{range}; no knee seen"),
        // On a simulated drive repetitions can be equal to the nanosecond.
        (Some(rate), _) if rate.n > 1 => "equal repetitions, no interval; no knee seen".into(),
        (None, _) if rates.iops.is_some() => "no knee seen: maybe in the drive's cache".into(),
        _ => "too short for an interval".into(),
    })
}

/// How far repetitions lie apart that are not repeatable.
fn range(rates: &Rates) -> Option<&str> {
    let why = rates.no_interval.as_ref().filter(|why| why.code == "not_repeatable")?;
    Some(why.text.split_once(": ").map_or(why.text.as_str(), |(_, range)| range))
}

fn mean(kind: &CellKind) -> Option<f64> {
    kind.merged.service_ns.as_ref().map(|latency| latency.mean)
}

/// What a mean read latency at queue depth 1 is typical of; orders of magnitude, not marketing.
fn class(mean_ns: f64) -> &'static str {
    match mean_ns {
        ns if ns < 8_000.0 => "no flash answers that fast; memory or a cache did",
        ns if ns < 40_000.0 => "as a very fast drive, or a cache in front of it",
        ns if ns < 150_000.0 => "as a local NVMe or good SATA solid-state drive",
        ns if ns < 1_500_000.0 => "as networked storage, a cloud volume or a busy drive",
        ns if ns < 30_000_000.0 => "as a hard disk, or slow networked storage",
        _ => "slower than a hard disk",
    }
}

fn capital(text: &str) -> String {
    let mut letters = text.chars();
    letters.next().map_or(String::new(), |first| first.to_uppercase().chain(letters).collect())
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

#[cfg(test)]
mod tests {
    use super::*;
    use drivelab_core::summary::{Reason, summarise};
    use drivelab_stats::Estimate;

    #[test]
    fn repetitions_that_differ_are_not_called_equal() {
        let iops = |low| Estimate { value: 859.0, low, high: low.map(|low| 1.2 * low), n: 5 };
        let text = "not repeatable: 5 repetitions from 490 /s to 2.44 k/s".to_string();
        let why = Reason { code: "not_repeatable".into(), text };
        let rates = Rates { iops: Some(iops(None)), no_interval: Some(why), ..Rates::default() };
        let said = write_remark(None, Some(&rates)).unwrap();
        assert_eq!(said, "5 repetitions from 490 /s to 2.44 k/s; no knee seen");
        assert_eq!(range(&rates), Some("5 repetitions from 490 /s to 2.44 k/s"));
        let equal = Rates { no_interval: None, ..rates.clone() };
        assert!(write_remark(Some(0.9), Some(&equal)).unwrap().starts_with("equal repetitions"));
        let sure = Rates { iops: Some(iops(Some(800.0))), ..equal };
        assert!(write_remark(None, Some(&sure)).unwrap().starts_with("no knee seen"));
        assert_eq!(
            write_remark(None, Some(&Rates::default())).unwrap(),
            "too short for an interval"
        );
        assert_eq!(write_remark(Some(0.1), None).unwrap(), "slowed to 10 % while it ran");
    }

    #[test]
    fn the_figures_of_one_cell_are_not_told_of_another() {
        let (summary, facts) = (summarise(&Run::default()), Facts::default());
        let told = |cells: &[(&str, &str)]| {
            let suspicion = Suspicion { cells: cells.to_vec() };
            Judged { summary: &summary, facts: &facts }.told_of(&suspicion)
        };
        let deep = ("random write", "32 were asked for");
        assert_eq!(told(&[deep, ("fsync", deep.1)]), "Random write, fsync: 32 were asked for.");
        assert_eq!(
            told(&[deep, ("stutter", "8 were asked for")]),
            "Random write: 32 were asked for. Likewise, with figures of their own: stutter."
        );
    }
}

//! What a performance test of SNIA's specification reports.

use super::matrix::{self, Section, Test};
use super::{ROUNDS_MAX, range, rounds_done, spare_bytes, spare_used, steady_round, written_until};
use crate::experiment::order::{is_complete, unbroken};
use crate::experiment::rounds::{window_picture, window_table};
use crate::experiment::{Setting, cache, control, loads};
use drivelab_core::facts::TargetKind;
use drivelab_core::findings::{
    Axis, Entry, Figure, Findings, Head, Line, LineKind, Picture, Remark, Table, Unit,
};
use drivelab_core::op::Action;
use drivelab_core::quantity::{bandwidth, digits, operations, percent, size, time};
use drivelab_core::run::{Run, StepRun};
use drivelab_core::sound::Sound;
use drivelab_core::study::{Emptying, Profile, Scale};
use drivelab_core::summary::Summary;
use drivelab_stats::steady::{WINDOW_ROUNDS, Window};
use drivelab_stats::{Estimate, trend};

pub fn judge(test: Test, setting: &Setting<'_>, run: &Sound<'_>) -> Findings {
    let run = &run.part(unbroken);
    let summary = run.summary();
    let steps = &run.steps;
    let mut findings = Findings::default();
    for section in test.sections(setting) {
        findings.order.extend(section.cells.iter().map(|cell| cell.name.clone()));
        let is_client = setting.options.profile == Profile::Client;
        Told { test, setting, steps, section: &section, is_client }.tell(&mut findings);
    }
    let tracked: Vec<String> =
        test.sections(setting).into_iter().flat_map(|section| section.tracked).collect();
    findings.no_answer |= run.kept_out().any(|cell| tracked.contains(&cell.name));
    histogram(test, summary, &mut findings);
    if let Some((cell, text)) = matrix::not_applicable(test, setting) {
        findings.not_applicable.push(Remark { cell, text });
    }
    findings.no_answer |= findings.verdict.is_empty();
    deviations(test, setting, run, &mut findings);
    findings
}

fn unit(test: Test) -> Unit {
    match test {
        Test::Iops => Unit::Iops,
        Test::Throughput => Unit::BytesPerS,
        Test::Latency => Unit::Ns,
    }
}

fn in_words(test: Test, value: f64) -> String {
    match test {
        Test::Iops => operations(value),
        Test::Throughput => bandwidth(value),
        Test::Latency => time(value),
    }
}

struct Told<'a> {
    test: Test,
    setting: &'a Setting<'a>,
    steps: &'a [StepRun],
    section: &'a Section,
    is_client: bool,
}

impl Told<'_> {
    fn values(&self, name: &str) -> Vec<f64> {
        let mut values = matrix::values(self.test, self.steps, name);
        values.truncate(rounds_done(self.section, self.steps));
        values
    }

    fn tell(&self, findings: &mut Findings) {
        let rounds = rounds_done(self.section, self.steps);
        if rounds < WINDOW_ROUNDS {
            findings.no_answer = true;
            findings.want_more(format!(
                "The steady state after {}: only {} done, and a window has {WINDOW_ROUNDS}. Give a \
                 larger --time or --budget.",
                self.section.precondition(),
                if rounds == 1 {
                    "1 whole round was".into()
                } else {
                    format!("{rounds} whole rounds were")
                }
            ));
            return;
        }
        let steady = steady_round(self.test, self.section, self.setting, self.steps);
        // Where it is never steady, the window is the last one (2.0.2, definition of the window).
        let last = steady.unwrap_or(rounds);
        self.tracked(findings, last, steady.is_some());
        self.convergence(findings);
        if rounds > WINDOW_ROUNDS {
            let text = format!("all {rounds} rounds");
            let remark =
                |cell: &matrix::Cell| Remark { cell: cell.name.clone(), text: text.clone() };
            findings.remarks.extend(self.section.cells.iter().map(remark));
        }
        match self.test {
            Test::Throughput => self.rows(findings, last),
            Test::Iops | Test::Latency => self.matrix(findings, last),
        }
    }

    /// The mean over the window, of a cell.
    fn in_window(&self, name: &str, last: usize) -> Option<Estimate> {
        let values = self.values(name);
        Estimate::positive_mean_of(values.get(last.checked_sub(WINDOW_ROUNDS)?..last)?)
    }

    fn tracked(&self, findings: &mut Findings, last: usize, is_steady: bool) {
        let note = if is_steady { "" } else { "steady state NOT ACHIEVED" };
        let mut words = Vec::new();
        for name in &self.section.tracked {
            let Some(estimate) = self.in_window(name, last) else { continue };
            words.push(format!("{name} {}", in_words(self.test, estimate.value)));
            // The cell of that name is over all rounds.
            findings.figures.push(Figure {
                name: format!("{name}, measurement window"),
                estimate,
                unit: unit(self.test),
                note: note.into(),
            });
            let values = self.values(name);
            let title = format!("Steady state of {name}");
            findings.pictures.extend(window_picture(
                &title,
                &values[..last],
                last,
                unit(self.test),
            ));
            if let Ok(window) = Window::of(&values[last - WINDOW_ROUNDS..last], last - 4) {
                findings.tables.push(window_table(&title, &window, unit(self.test)));
            }
        }
        let first = last + 1 - WINDOW_ROUNDS;
        let cells = words.join(", ");
        let profile = if self.is_client { " (client profile)" } else { "" };
        match is_steady {
            true => findings.verdict.push(format!(
                "Steady by SNIA's criterion in rounds {first} to {last}{profile}: {cells}."
            )),
            false if words.is_empty() => {}
            false => {
                let is_open = last < ROUNDS_MAX;
                findings.wants_more |= is_open;
                let more = if is_open { " Give a larger --time or --budget." } else { "" };
                findings.unknown.push(format!(
                    "Steady state NOT ACHIEVED in {last} rounds, of {ROUNDS_MAX} that are allowed; \
                     the last five give {cells}.{more}"
                ));
            }
        }
        match is_steady {
            true => self.drifted(findings, last),
            false => {
                findings.no_answer = true;
                self.spared(findings);
            }
        }
    }

    /// Whether a window could not count because the drive may have had spare flash left.
    fn spared(&self, findings: &mut Findings) {
        let (test, section) = (self.test, self.section);
        if spare_used(test, section, self.setting, self.steps).is_some() {
            return;
        }
        let rounds = rounds_done(section, self.steps);
        findings.want_more(format!(
            "The steady state after {}: {} were written since it began, and before {} a drive may \
             have spare flash left, where a rate that the host or the link bounds is level and \
             proves nothing. Give a larger --budget and --time.",
            section.precondition(),
            size(written_until(section, self.steps, rounds)),
            size(spare_bytes(test, self.setting) as u64)
        ));
    }

    /// Whether the cells of the window drifted. Five values that rise throughout have a p of
    /// 0.028, so with Holm over the cells none alone could ever be found: what is tested is the
    /// geometric mean of those that only read, which move with drive and machine, and of those
    /// that write, which also move with the state that SNIA's criterion lets move.
    fn drifted(&self, findings: &mut Findings, last: usize) {
        let after = self.section.precondition();
        if let Some(reads) = self.rounds_together(last, |cell| cell.writes == 0) {
            let known = findings.unknown.len();
            let name = format!("the mean over all cells that only read, after {after},");
            control::drift(&[(name, reads)], control::DRIFT, findings);
            if findings.unknown.len() == known {
                findings.unknown.push(format!(
                    "Whether single cells drifted after {after}: the window has five values of \
                     each, too few to tell. Those that only read did not drift together by {} or \
                     more. `drivelab study aa` repeats a few cells often enough.",
                    percent(control::DRIFT)
                ));
            }
        }
        let Some(writes) = self.rounds_together(last, |cell| cell.writes > 0) else { return };
        let Ok(window) = Window::of(&writes, 1) else { return };
        let share = window.slope_excursion / window.mean;
        if trend(&writes).is_ok_and(|found| found.p <= 0.05) && share > control::DRIFT {
            findings.unknown.push(format!(
                "Whether the state after {after} has settled: SNIA's criterion is met, but the \
                 mean over all cells that write still changed by {} over the five rounds of the \
                 window. `drivelab study wsat` asks for a proof.",
                percent(share)
            ));
        }
    }

    /// The geometric mean of these cells in each round of the window.
    fn rounds_together(&self, last: usize, wanted: fn(&matrix::Cell) -> bool) -> Option<Vec<f64>> {
        let cells = self.section.cells.iter().filter(|cell| wanted(cell));
        let cells: Vec<Vec<f64>> = cells.map(|cell| self.values(&cell.name)).collect();
        let round_mean = |round: usize| {
            let logs: f64 = cells.iter().map(|values| values[round].ln()).sum();
            (logs / cells.len() as f64).exp()
        };
        (!cells.is_empty()).then(|| (last - WINDOW_ROUNDS..last).map(round_mean).collect())
    }

    fn convergence(&self, findings: &mut Findings) {
        let line = |name: &String| Line {
            label: name.clone(),
            kind: LineKind::Measured,
            points: (1..)
                .map(f64::from)
                .zip(self.values(name))
                .filter(|point| point.1.is_finite())
                .collect(),
        };
        let unit = unit(self.test);
        findings.pictures.push(Picture {
            title: format!("Convergence after {}", self.section.precondition()),
            note: "All rounds of the cells that decide whether the state is steady.".into(),
            x: Axis { quantity: "round".into(), unit: Unit::Count },
            y: Axis { quantity: self.test.quantity().into(), unit },
            lines: self.section.tracked.iter().map(line).collect(),
            marks: Vec::new(),
        });
    }

    /// Sizes downwards, mixes across: the table that the specification asks for.
    fn matrix(&self, findings: &mut Findings, last: usize) {
        let mut mixes: Vec<u32> = self.section.cells.iter().map(|cell| cell.writes).collect();
        mixes.dedup();
        let mut sizes: Vec<u64> = self.section.cells.iter().map(|cell| cell.size).collect();
        sizes.sort_unstable_by(|a, b| b.cmp(a));
        sizes.dedup();
        let unit = unit(self.test);
        let mut heads = vec![Head { name: "size".into(), unit: None }];
        heads.extend(mixes.iter().map(|writes| Head {
            name: format!("R/W {}/{writes}", 100 - writes),
            unit: Some(unit),
        }));
        let cell_of = |writes: u32, bytes: u64| {
            self.section.cells.iter().find(|cell| cell.writes == writes && cell.size == bytes)
        };
        let entry = |writes: u32, bytes: u64| {
            let estimate = cell_of(writes, bytes).and_then(|cell| self.in_window(&cell.name, last));
            estimate.map_or(Entry::Nothing, |estimate| Entry::Number(estimate.value))
        };
        let row = |bytes: &u64| {
            let mut row = vec![Entry::Text(size(*bytes))];
            row.extend(mixes.iter().map(|writes| entry(*writes, *bytes)));
            row
        };
        findings.tables.insert(
            0,
            Table {
                title: format!("Means over the measurement window: {}", self.test.quantity()),
                note: String::new(),
                heads,
                rows: sizes.iter().map(row).collect(),
            },
        );
    }

    fn rows(&self, findings: &mut Findings, last: usize) {
        let row = |cell: &matrix::Cell| {
            let estimate = self.in_window(&cell.name, last);
            let value = estimate.map_or(Entry::Nothing, |it| Entry::Number(it.value));
            vec![Entry::Text(cell.name.clone()), value]
        };
        let rows: Vec<Vec<Entry>> = self.section.cells.iter().map(row).collect();
        let title = "Means over the measurement window: bytes a second";
        match findings.tables.iter_mut().find(|table| table.title == title) {
            Some(table) => table.rows.extend(rows),
            None => findings.tables.insert(
                0,
                Table {
                    title: title.into(),
                    note: String::new(),
                    heads: vec![
                        Head { name: "cell".into(), unit: None },
                        Head { name: "mean".into(), unit: Some(Unit::BytesPerS) },
                    ],
                    rows,
                },
            ),
        }
    }
}

/// The distribution of response times that the latency test ends with.
fn histogram(test: Test, summary: &Summary, findings: &mut Findings) {
    if test != Test::Latency {
        return;
    }
    let cell = summary.cells.iter().find(|cell| cell.name.starts_with("histogram"));
    let kind = cell.and_then(|cell| cell.streams.first()?.kinds.get(&Action::Write));
    let Some(latency) = kind.and_then(|kind| kind.service_ns.clone()) else { return };
    let figure = |name: &str, estimate: Option<Estimate>| {
        estimate.map(|estimate| Figure {
            name: format!("random write 4 KiB, {name}"),
            estimate,
            unit: Unit::Ns,
            note: String::new(),
        })
    };
    findings.figures.extend(
        [
            figure("p99.9", latency.p99_9),
            figure("p99.99", latency.p99_99),
            figure("slowest", latency.max),
        ]
        .into_iter()
        .flatten(),
    );
}

/// How long the cells of all rounds took, in seconds.
fn cell_seconds(test: Test, setting: &Setting<'_>, steps: &[StepRun]) -> Vec<f64> {
    let names: Vec<String> = test
        .sections(setting)
        .into_iter()
        .flat_map(|section| section.cells.into_iter().map(|cell| cell.name))
        .collect();
    let of_round =
        steps.iter().filter(|step| names.contains(&step.begin.name) && is_complete(step));
    of_round.map(|step| step.duration_ns() as f64 / 1e9).collect()
}

/// Preconditionings that followed on something else than an empty drive, and all of them.
fn unpurged(test: Test, setting: &Setting<'_>, steps: &[StepRun]) -> (usize, usize) {
    let names: Vec<String> =
        test.sections(setting).iter().map(matrix::Section::precondition).collect();
    let all: Vec<usize> =
        (0..steps.len()).filter(|index| names.contains(&steps[*index].begin.name)).collect();
    let before = |index: usize| {
        steps[..index].iter().rfind(|step| step.begin.name != cache::SET).map(|it| &it.begin.name)
    };
    let is_unpurged = |index: &&usize| before(**index).is_some_and(|name| name != loads::EMPTY);
    let unpurged = all.iter().filter(is_unpurged).count();
    (if setting.is_drive() { unpurged } else { 0 }, all.len())
}

fn deviations(test: Test, setting: &Setting<'_>, run: &Run, findings: &mut Findings) {
    let mut all = Vec::new();
    let scale = setting.options.scale;
    let lengths = cell_seconds(test, setting, &run.steps);
    let shortest = lengths.iter().copied().fold(f64::INFINITY, f64::min);
    let longest = lengths.iter().copied().fold(0.0, f64::max);
    let last = run.steps.iter().rfind(|step| step.begin.name.starts_with("histogram"));
    let histogram = last.map(|step| step.duration_ns() as f64 / 1e9);
    let is_short = |seconds: f64, asked: f64| seconds < 0.99 * asked;
    if is_short(shortest, 60.0) || histogram.is_some_and(|seconds| is_short(seconds, 1200.0)) {
        all.push("PTS-derived, not PTS.".to_string());
    }
    if is_short(shortest, 60.0) && shortest.is_finite() {
        let (least, most) = (digits(shortest), digits(longest));
        let range = if least == most { least } else { format!("{least} to {most}") };
        all.push(format!("Cells of {range} s instead of 60 s."));
    }
    if let Some(seconds) = histogram.filter(|seconds| is_short(*seconds, 1200.0)) {
        all.push(format!("A histogram of {} s instead of 20 minutes.", digits(seconds)));
    }
    if scale == Scale::Quick && test == Test::Iops {
        let workers = match setting.options.profile {
            Profile::Enterprise => ", one worker instead of four",
            Profile::Client => "",
        };
        all.push(format!("Three mixes and three sizes instead of seven and eight{workers}."));
    }
    let range = range(setting);
    let asked = match setting.options.profile {
        Profile::Enterprise => setting.bytes(),
        Profile::Client => setting.bytes() / 4 * 3,
    };
    // Rounded to whole MiB.
    if range + (1 << 20) <= asked {
        all.push(format!("The active range is {} of {}.", size(range), size(setting.bytes())));
    }
    let (unpurged, all_of_them) = unpurged(test, setting, &run.steps);
    match loads::not_purged(setting, run) {
        Some(text) => all.push(text),
        None if unpurged > 0 => all.push(format!(
            "{unpurged} of {all_of_them} preconditionings did not begin on a purged drive."
        )),
        None => {}
    }
    if setting.options.emptying != Emptying::None && setting.is_drive() {
        let was_emptied = run.steps.iter().any(|step| step.begin.name == loads::EMPTY);
        let is_simulated = setting.facts.target.kind == TargetKind::Simulated;
        match (was_emptied, is_simulated, setting.options.emptying) {
            (false, ..) => all.push("The drive was fresh, and nothing was purged.".into()),
            (true, true, Emptying::Purge(_)) => {
                all.push("A simulated drive is emptied in the same way by every purge.".into());
            }
            _ => {}
        }
    }
    if !setting.is_drive() {
        all.push("A file on a file system, not a drive.".into());
    }
    if test != Test::Throughput {
        all.push("Preconditioning by one worker with 32 operations in flight.".into());
    }
    all.extend(cache::deviation(setting, run, setting.options.profile.write_cache()));
    findings.deviations = all;
}

#[cfg(test)]
mod tests;

//! `history`: the same cell over all runs of one drive, and the runs from which it changed.
//!
//! A value of a run is the centre of its valid repetitions, as in `compare`. A change is a split of
//! the series at which the two sides differ by more than the band of the metric and by more than
//! chance: Student's p-value on logarithms, times the splits that were possible, times the lines
//! that are looked at (Bonferroni), is at most 5 %.

use crate::compare::{cell_samples, comparable_facts};
use drivelab_core::comparison::{Metric, Sample};
use drivelab_core::facts::{Facts, TargetKind};
use drivelab_core::history::{Change, History, Line, Point};
use drivelab_core::record::Begin;
use drivelab_core::summary::{CellSummary, Summary};
use drivelab_core::units::Size;
use drivelab_stats::changes;

/// Probability of a change that is none, over all lines of a history.
const LEVEL: f64 = 0.05;
/// Runs below which nothing is said of changes: two levels of two runs each.
pub const RUNS_MIN: usize = 4;
/// What is followed of each cell.
const METRICS: [Metric; 2] = [Metric::Iops, Metric::P99Ns];

/// What identifies the drive under a run: its serial number, else name and size, else the target.
pub fn drive_of(facts: &Facts, target: &str) -> String {
    let simulated = facts.target.kind == TargetKind::Simulated;
    let known = || facts.target.devices.iter().rev().filter(|_| !simulated);
    let named = known().find(|device| device.serial.is_some());
    let sized = || known().find(|device| device.bytes.is_some());
    let Some(drive) = named.or_else(sized).or_else(|| known().next()) else {
        return target.to_owned();
    };
    match (&drive.serial, drive.bytes) {
        (Some(serial), _) if !serial.trim().is_empty() => serial.trim().to_owned(),
        (_, Some(bytes)) => format!("{}:{bytes}", drive.name),
        _ => drive.name.clone(),
    }
}

/// Runs of one drive, put together one by one.
#[derive(Debug)]
pub struct Gathering(History);

impl Gathering {
    /// Of a drive of which no run was read yet.
    pub fn of(drive: &str) -> Self {
        Gathering(History { drive: drive.to_owned(), ..History::default() })
    }

    /// Leaves a run out that did not come to its end: its cells may lack repetitions, or all of a
    /// state that the study would have made.
    pub fn leave_out(&mut self) {
        self.0.incomplete += 1;
    }

    /// Takes the next run, in order of time.
    pub fn take(&mut self, begin: &Begin, summary: &Summary) {
        self.0.runs += 1;
        let command = match &begin.study {
            Some(study) if begin.command == "study" => format!("study {}", study.name),
            _ => begin.command.clone(),
        };
        let on = part_of(&begin.facts);
        // What changes files alone says nothing of a drive.
        let is_of_drive = |cell: &&CellSummary| {
            cell.streams.iter().all(|stream| !stream.load.engine.traits().changes_files)
        };
        for cell in summary.cells.iter().filter(is_of_drive) {
            let load = load_of(begin, cell);
            for sample in cell_samples(cell, summary, &METRICS) {
                let line = self.line([&command, &on, &load], cell, &sample);
                if sample.suspect.is_some() {
                    line.suspect += 1;
                    self.0.suspect += 1;
                    continue;
                }
                let logs: f64 = sample.values.iter().map(|value| value.ln()).sum();
                let value = (logs / sample.values.len() as f64).exp();
                if value.is_finite() {
                    line.points.push(Point {
                        run: begin.run.clone(),
                        started_at: begin.started_at.clone(),
                        tag: begin.tag.clone(),
                        value,
                        facts: comparable_facts(&begin.facts),
                    });
                }
            }
        }
    }

    fn line(
        &mut self,
        [command, on, load]: [&str; 3],
        cell: &CellSummary,
        of: &Sample,
    ) -> &mut Line {
        let is_same = |line: &Line| {
            line.command == command
                && line.on == on
                && line.cell == of.name
                && line.state == cell.state
                && line.metric == of.metric
                && line.load == load
        };
        let lines = &mut self.0.lines;
        let at = lines.iter().position(is_same).unwrap_or_else(|| {
            lines.push(Line {
                command: command.to_owned(),
                on: on.to_owned(),
                cell: of.name.clone(),
                state: cell.state.clone(),
                metric: of.metric,
                points: Vec::new(),
                suspect: 0,
                changes: Vec::new(),
                load: load.to_owned(),
            });
            lines.len() - 1
        });
        &mut lines[at]
    }

    /// Drops what was measured once, and looks for changes in the rest.
    pub fn finish(self) -> History {
        let mut history = self.0;
        history.lines.retain(|line| line.points.len() > 1);
        let is_long = |line: &&Line| line.points.len() >= RUNS_MIN;
        let tested = history.lines.iter().filter(is_long).count();
        for line in &mut history.lines {
            line.changes = changes_of(&line.points, line.metric, tested);
        }
        history
    }
}

/// What of the drive a run used: figures of a partition, a volume or a file system are not those of
/// the drive below it.
fn part_of(facts: &Facts) -> String {
    let target = &facts.target;
    match (target.kind, &target.filesystem, target.devices.first()) {
        (TargetKind::File | TargetKind::Directory, Some(system), _) => {
            format!("files on {} at {}", system.kind, system.mount_point)
        }
        (TargetKind::BlockDevice, _, Some(top)) if target.devices.len() > 1 => match top.bytes {
            Some(bytes) => format!("{} of {}", top.layer, Size(bytes)),
            None => format!("{} {}", top.layer, top.name),
        },
        _ => String::new(),
    }
}

/// What was asked of the drive, so that only equal questions meet.
fn load_of(begin: &Begin, cell: &CellSummary) -> String {
    let asked: Vec<String> =
        cell.streams.iter().map(|stream| format!("{:?}", stream.load)).collect();
    let scale = begin.study.as_ref().map(|study| format!("{:?}", study.scale));
    format!("{} {asked:?} {scale:?}", begin.facts.target.kind as u32)
}

fn changes_of(points: &[Point], metric: Metric, lines: usize) -> Vec<Change> {
    let logs: Vec<f64> = points.iter().map(|point| point.value.ln()).collect();
    if logs.len() < RUNS_MIN || logs.iter().any(|value| !value.is_finite()) {
        return Vec::new();
    }
    let tests = lines.max(1) as f64;
    let found = changes(&logs, LEVEL / tests).unwrap_or_default();
    let borders: Vec<usize> =
        [0].into_iter().chain(found.iter().map(|it| it.at)).chain([logs.len()]).collect();
    let level =
        |from: usize, to: usize| (logs[from..to].iter().sum::<f64>() / (to - from) as f64).exp();
    let one = |(index, change): (usize, &drivelab_stats::ChangePoint)| {
        let (from, at, to) = (borders[index], change.at, borders[index + 2]);
        let (before, after) = (level(from, at), level(at, to));
        let moved = (after / before).ln().abs();
        let is_large = moved > (1.0 + metric.delta()).ln();
        is_large.then(|| Change {
            at,
            run: points[at].run.clone(),
            started_at: points[at].started_at.clone(),
            before,
            after,
            p_adjusted: change.p.map(|p| (p * tests).min(1.0)),
            differences: differences(&points[at - 1], &points[at]),
        })
    };
    found.iter().enumerate().filter_map(one).collect()
}

fn differences(before: &Point, after: &Point) -> Vec<String> {
    let pairs = before.facts.iter().zip(&after.facts);
    pairs
        .filter(|(before, after)| before.1 != after.1)
        .map(|(before, after)| format!("{} {} → {}", before.0, before.1, after.1))
        .collect()
}

#[cfg(test)]
mod tests {
    use super::*;
    use drivelab_stats::Random;

    fn points(values: impl IntoIterator<Item = f64>) -> Vec<Point> {
        let point = |(index, value): (usize, f64)| Point {
            run: format!("run {index}"),
            started_at: format!("2026-11-{:02}T12:00:00Z", index % 28 + 1),
            tag: None,
            value,
            facts: vec![("firmware", if index < 12 { "4B2" } else { "5B2" }.to_string())],
        };
        values.into_iter().enumerate().map(point).collect()
    }

    /// Sum of uniform draws: near enough to a normal value of mean 0 and deviation 1.
    fn noise(random: &mut Random) -> f64 {
        (0..12).map(|_| random.below(1 << 20) as f64 / f64::from(1 << 20)).sum::<f64>() - 6.0
    }

    #[test]
    fn a_fall_is_found_at_its_run_with_the_fact_that_changed() {
        let mut random = Random::new(7);
        let value = |index: usize, random: &mut Random| {
            let level = if index < 12 { 80_000.0 } else { 70_000.0 };
            level * (0.01 * noise(random)).exp()
        };
        let series: Vec<f64> = (0..24).map(|index| value(index, &mut random)).collect();
        let found = changes_of(&points(series), Metric::Iops, 20);
        assert_eq!(found.len(), 1, "{found:?}");
        assert_eq!((found[0].at, found[0].run.as_str()), (12, "run 12"));
        assert!((found[0].after / found[0].before - 0.875).abs() < 0.01);
        assert_eq!(found[0].differences, ["firmware 4B2 → 5B2"]);
    }

    #[test]
    fn noise_alone_is_a_change_in_fewer_than_one_history_of_twenty() {
        let mut random = Random::new(11);
        let mut wrong = 0;
        for _ in 0..400 {
            let series: Vec<f64> =
                (0..20).map(|_| 5_000.0 * (0.08 * noise(&mut random)).exp()).collect();
            wrong += usize::from(!changes_of(&points(series), Metric::Iops, 1).is_empty());
        }
        assert!(wrong <= 20, "{wrong} of 400");
    }

    #[test]
    fn a_change_within_the_band_is_not_reported() {
        let series = (0..20).map(|index| if index < 10 { 100.0 } else { 104.0 });
        assert_eq!(changes_of(&points(series), Metric::Iops, 1), []);
        let series = (0..20).map(|index| if index < 10 { 100.0 } else { 106.0 });
        assert_eq!(changes_of(&points(series), Metric::Iops, 1).len(), 1);
    }
}

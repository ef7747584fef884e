//! What IOR measures of a step: from the earliest beginning of a task to the latest end of one.

use super::{Access, Options, Test};
use crate::parallel::spread::Spread;
use crate::parallel::tasks::{self, between, earliest, latest, per_second};
use drivelab_core::op::Time;
use drivelab_core::run::{Run, StepRun};

/// Bytes of a mebibyte.
pub const MEBIBYTE: f64 = 1_048_576.0;

/// One step of the run that is printed.
#[derive(Debug, Clone, PartialEq)]
pub struct Result {
    /// Index of the test.
    pub test: usize,
    /// Repetition, from 0.
    pub repetition: u32,
    /// What it did.
    pub access: Access,
    /// When it began, in nanoseconds since the testbed began.
    pub began: Time,
    /// Bytes that were moved.
    pub bytes: u64,
    /// Seconds from the earliest beginning to the last first operation.
    pub open_s: f64,
    /// Seconds from the earliest first operation to the latest end.
    pub transfer_s: f64,
    /// Seconds from the earliest end to the latest.
    pub close_s: f64,
    /// Seconds of all of it.
    pub total_s: f64,
    /// Seconds of the fastest task, from its first operation to its end.
    pub fastest_s: f64,
    /// The tasks one by one.
    pub tasks: Vec<OfTask>,
}

/// What one task did.
#[derive(Debug, Clone, Copy, PartialEq)]
pub struct OfTask {
    /// Seconds with opening and closing.
    pub whole_s: f64,
    /// Seconds without.
    pub transfer_s: f64,
    /// Bytes that it moved.
    pub bytes: u64,
    /// Transfers until its time was over, and seconds; all where it was done before.
    pub walled: (u64, f64),
}

/// What the tasks had come to when their time was over.
#[derive(Debug, Clone, Copy, PartialEq)]
pub struct Wall {
    /// Fewest transfers of a task.
    pub min: u64,
    /// Most.
    pub max: u64,
    /// Bytes of a task, on the mean.
    pub mean_bytes: f64,
    /// Seconds of the slowest.
    pub seconds: f64,
}

impl Result {
    /// MiB a second.
    pub fn bandwidth(&self) -> f64 {
        per_second(self.bytes as f64 / MEBIBYTE, self.total_s)
    }

    /// Transfers a second while data was moved, as 4.x has it.
    pub fn iops(&self, test: &Test) -> f64 {
        per_second(self.transfers(test), self.transfer_s)
    }

    /// Transfers a second of the whole time.
    pub fn operations(&self, test: &Test) -> f64 {
        per_second(self.transfers(test), self.total_s)
    }

    /// The same as 2.10.3 has it, which leaves out the segments.
    pub fn operations_without_segments(&self, test: &Test) -> f64 {
        let of_task = test.block_bytes as f64 / test.settings.transfer_bytes as f64;
        per_second(f64::from(test.tasks) * of_task, self.total_s)
    }

    /// What the tasks had come to when their time was over; absent where it had no bound, or all
    /// ended there.
    pub fn wall(&self, test: &Test) -> Option<Wall> {
        let of = |task: &OfTask| task.walled;
        let transfers = || self.tasks.iter().map(|task| of(task).0);
        let is_worn_out = test.settings.wear_out && test.settings.deadline_s > 0;
        let mean = transfers().sum::<u64>() as f64 / self.tasks.len().max(1) as f64;
        Some(Wall {
            min: transfers().min().filter(|_| is_worn_out)?,
            max: transfers().max()?,
            mean_bytes: mean * test.settings.transfer_bytes as f64,
            seconds: self.tasks.iter().map(|task| of(task).1).reduce(f64::max)?,
        })
    }

    /// Transfers of the task that did most.
    pub fn farthest(&self, test: &Test) -> u64 {
        let most = self.tasks.iter().map(|task| task.bytes).max().unwrap_or(0);
        most / test.settings.transfer_bytes.max(1)
    }

    /// Seconds of a transfer as 4.0 has it: of the fastest task, and without the segments; where
    /// less was moved than was asked for, of what was moved.
    pub fn latency_s(&self, test: &Test) -> f64 {
        let moved = self.transfers(test) / self.tasks.len().max(1) as f64;
        if (test.settings.wear_out || test.reach.is_some()) && moved > 0.0 {
            return self.fastest_s / moved;
        }
        self.fastest_s * test.settings.transfer_bytes as f64 / test.block_bytes as f64
    }

    fn transfers(&self, test: &Test) -> f64 {
        self.bytes as f64 / test.settings.transfer_bytes as f64
    }
}

/// The results in the order of the run, without what came in between and what did not end.
pub fn results(options: &Options, run: &Run) -> Vec<Result> {
    run.steps.iter().filter_map(|step| result(options, step)).collect()
}

impl Options {
    /// The first step that was timed: MiB a second, seconds, and which step of the run it is.
    pub fn measured(&self, run: &Run) -> Option<(f64, f64, u32)> {
        run.steps.iter().find_map(|step| {
            let found = result(self, step)?;
            let is_timed = matches!(found.access, Access::Write | Access::Read);
            let is_done = step.end.as_ref().is_some_and(|end| end.incomplete.is_none());
            (is_timed && is_done).then(|| (found.bandwidth(), found.total_s, step.begin.step))
        })
    }
}

fn result(options: &Options, step: &StepRun) -> Option<Result> {
    let key = options.keys.get(step.begin.plan_step as usize)?;
    if key.access == Access::Between || options.tests.get(key.test as usize).is_none() {
        return None;
    }
    let tasks = tasks_of(options.tests.get(key.test as usize)?, step);
    let opened = earliest(&tasks, |task| task.opened);
    let closed = latest(&tasks, |task| task.closed);
    let fastest = tasks.iter().map(tasks::Task::seconds).reduce(f64::min)?;
    Some(Result {
        test: key.test as usize,
        repetition: key.repetition,
        access: key.access,
        began: opened,
        bytes: tasks::bytes_moved(step),
        open_s: between(opened, latest(&tasks, |task| task.first)),
        transfer_s: between(earliest(&tasks, |task| task.first), closed),
        close_s: between(earliest(&tasks, |task| task.closed), closed),
        total_s: between(opened, closed),
        fastest_s: fastest,
        tasks: of_tasks(options.tests.get(key.test as usize)?, step, &tasks),
    })
}

/// The tasks of a step, in their order; the waits of an interface of waits are in their times.
fn tasks_of(test: &Test, step: &StepRun) -> Vec<tasks::Task> {
    let mut tasks = tasks::of_step(step);
    if !test.settings.is_dummy() {
        return tasks;
    }
    let phases = tasks::phases(step);
    for (task, phase) in tasks.iter_mut().zip(&phases) {
        let stream = step.plan.streams.get(phase.stream as usize);
        let waits = stream.is_some_and(|stream| stream.arrival.think().is_some());
        let before = stream.map_or(0, |stream| stream.start_after.0);
        if waits {
            task.first = phase.opened;
        }
        task.opened = if before > 0 { phase.opened.saturating_sub(before) } else { task.first };
    }
    tasks
}

fn of_tasks(test: &Test, step: &StepRun, tasks: &[tasks::Task]) -> Vec<OfTask> {
    let phases = tasks::phases(step);
    let one = |(phase, task): (&drivelab_core::tally::Phase, &tasks::Task)| {
        let stopped = phase.stonewall.map(|wall| (wall.operations, between(task.first, wall.at)));
        OfTask {
            whole_s: between(task.opened, task.closed),
            transfer_s: between(task.first, task.closed),
            bytes: phase.issued.saturating_mul(test.settings.transfer_bytes),
            walled: stopped.unwrap_or((phase.issued, task.seconds())),
        }
    };
    phases.iter().zip(tasks).map(one).collect()
}

/// The results of one kind of access in one test.
fn of(results: &[Result], test: usize, access: Access) -> impl Iterator<Item = &Result> {
    results.iter().filter(move |result| result.test == test && result.access == access)
}

/// Figures over the repetitions of one kind of access in one test.
#[derive(Debug, Clone, Copy, PartialEq)]
pub struct Overall {
    /// MiB a second.
    pub bandwidth: Spread,
    /// Operations a second, as this era counts them.
    pub operations: Spread,
    /// Mean seconds of a repetition.
    pub mean_s: f64,
    /// Bytes of the last repetition.
    pub bytes: u64,
    /// Repetitions.
    pub count: usize,
}

/// Summed up; `None` without a repetition.
pub fn overall(
    results: &[Result],
    options: &Options,
    test: usize,
    access: Access,
) -> Option<Overall> {
    let asked = options.tests.get(test)?;
    let own: Vec<&Result> = of(results, test, access).collect();
    let values = |figure: &dyn Fn(&Result) -> f64| -> Vec<f64> {
        own.iter().map(|result| figure(result)).collect()
    };
    let is_old = options.era == super::Era::Old;
    let operations = values(&|result| match is_old {
        true => result.operations_without_segments(asked),
        false => result.operations(asked),
    });
    Some(Overall {
        bandwidth: Spread::of(&values(&Result::bandwidth))?,
        operations: Spread::of(&operations)?,
        mean_s: Spread::of(&values(&|result| result.total_s))?.mean,
        bytes: own.last()?.bytes,
        count: own.len(),
    })
}

/// Seconds until the time of the tasks was over, and MiB a second of a task until then, each on the
/// mean of the repetitions.
pub fn walls(
    results: &[Result],
    options: &Options,
    test: usize,
    access: Access,
) -> Option<(String, String)> {
    let asked = options.tests.get(test)?;
    let walls: Vec<Wall> =
        of(results, test, access).filter_map(|result| result.wall(asked)).collect();
    let count = walls.first().map(|_| walls.len() as f64)?;
    let seconds = walls.iter().map(|wall| wall.seconds).sum::<f64>() / count;
    let rate = |wall: &Wall| per_second(wall.mean_bytes / MEBIBYTE, wall.seconds);
    let rates = walls.iter().map(rate).sum::<f64>() / count;
    Some((format!("{seconds:.2}"), format!("{rates:.2}")))
}

/// A number of ten places at most: six decimals below 1, two below 3600, then none.
pub fn number(value: f64) -> String {
    match value {
        _ if value < 1.0 => format!("{value:.6}"),
        _ if value < 3600.0 => format!("{value:.2}"),
        _ => format!("{value:.0}"),
    }
}

/// Bytes as IOR says them: `4096 bytes`, `1 MiB`, `54.69 GiB`.
pub fn in_words(bytes: u64) -> String {
    let units = [("TiB", 40), ("GiB", 30), ("MiB", 20)];
    match units.iter().find(|(_, bits)| bytes >> bits > 0) {
        None => format!("{bytes} bytes"),
        Some((name, bits)) if bytes.is_multiple_of(1 << bits) => {
            format!("{} {name}", bytes >> bits)
        }
        Some((name, bits)) => format!("{:.2} {name}", bytes as f64 / (1u64 << bits) as f64),
    }
}

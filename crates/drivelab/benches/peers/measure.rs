//! One timed run of one program, and several of them put together.

use std::process::Command;
use std::time::Instant;

/// Ticks in which the kernel reports CPU time, per second (USER_HZ, 100 on every Linux).
const TICKS_PER_SECOND: f64 = 100.0;

/// What one run did.
#[derive(Clone, Copy, Debug)]
pub struct Sample {
    /// Operations per second in the measured window, by the program's own account.
    pub iops: f64,
    /// CPU time of the whole process, kernel workers of io_uring included, per operation; `None`
    /// where the program does not say how many operations it did.
    pub cpu_ns: Option<f64>,
}

/// CPU seconds of all children that were waited for (`cutime` and `cstime`).
fn cpu_seconds_of_children() -> f64 {
    let text = std::fs::read_to_string("/proc/self/stat").expect("/proc/self/stat");
    let fields: Vec<&str> = text.rsplit(')').next().expect("fields").split_whitespace().collect();
    let ticks = |index: usize| fields[index].parse::<f64>().expect("ticks");
    // Fields 16 and 17 of proc(5); the first after the name is field 3.
    (ticks(13) + ticks(14)) / TICKS_PER_SECOND
}

/// Runs a program on one CPU; `operations_and_iops` reads its output.
pub fn run(
    cpu: usize,
    mut command: Command,
    operations_and_iops: impl Fn(&str) -> Option<(Option<f64>, f64)>,
) -> Sample {
    let mut pinned = Command::new("taskset");
    pinned.arg("--cpu-list").arg(cpu.to_string()).arg(command.get_program());
    pinned.args(command.get_args());
    for (key, value) in command.get_envs() {
        pinned.env(key, value.unwrap_or_default());
    }
    command = pinned;
    let before = cpu_seconds_of_children();
    let begin = Instant::now();
    let output = command.output().expect("taskset starts");
    let cpu_seconds = cpu_seconds_of_children() - before;
    let text = String::from_utf8_lossy(&output.stdout);
    let said = String::from_utf8_lossy(&output.stderr);
    let read = operations_and_iops(&text);
    let (operations, iops) = read.filter(|_| output.status.success()).unwrap_or_else(|| {
        panic!("{command:?}: {} after {:?}\n{text}\n{said}", output.status, begin.elapsed())
    });
    Sample { iops, cpu_ns: operations.map(|count| cpu_seconds * 1e9 / count) }
}

/// Median, smallest and largest.
#[derive(Clone, Copy, Debug, PartialEq)]
pub struct Spread {
    pub median: f64,
    pub low: f64,
    pub high: f64,
}

impl Spread {
    /// Of at least one value.
    pub fn of(values: impl IntoIterator<Item = f64>) -> Spread {
        let mut sorted: Vec<f64> = values.into_iter().collect();
        sorted.sort_by(f64::total_cmp);
        let middle = sorted.len() / 2;
        let median = match sorted.len() % 2 {
            0 => (sorted[middle - 1] + sorted[middle]) / 2.0,
            _ => sorted[middle],
        };
        Spread { median, low: sorted[0], high: sorted[sorted.len() - 1] }
    }
}

/// All runs of one contestant, in rounds.
#[derive(Clone, Debug)]
pub struct Measured {
    /// Who, with the settings.
    pub name: String,
    /// One for each round.
    pub samples: Vec<Sample>,
}

impl Measured {
    /// Operations per second over the rounds.
    pub fn iops(&self) -> Spread {
        Spread::of(self.samples.iter().map(|sample| sample.iops))
    }

    /// CPU nanoseconds per operation over the rounds, where known.
    pub fn cpu_ns(&self) -> Option<Spread> {
        let known: Option<Vec<f64>> = self.samples.iter().map(|sample| sample.cpu_ns).collect();
        known.map(Spread::of)
    }

    /// How often this one is faster, round by round: neighbours in time share their conditions.
    pub fn ratio_to(&self, other: &Measured) -> Spread {
        let pairs = self.samples.iter().zip(&other.samples);
        Spread::of(pairs.map(|(mine, theirs)| mine.iops / theirs.iops))
    }
}

//! The step that runs: how far it is, and how fast.

use super::line::Part;
use super::{Allowance, Beginning};
use crate::forecast;
use drivelab_core::op::Action;
use drivelab_core::plan::{Act, Role, Step, Stream};
use drivelab_core::tally::Tally;
use drivelab_report::units;
use drivelab_stats::{Estimate, Histogram, over_time};
use std::time::{Duration, Instant};

const BAR_CELLS: usize = 8;
/// Levels of the sparkline.
const LEVELS: [char; 8] = ['▁', '▂', '▃', '▄', '▅', '▆', '▇', '█'];
/// Intervals in it.
const SPARKS: usize = 16;
/// The mean is not computed of more intervals than that: the line is no result.
const INTERVALS_MAX: usize = 4096;
/// Before this part of its work is done nobody can say how long a step takes.
const PART_MIN: f64 = 0.02;

/// How much a step has to do where time does not end it.
#[derive(Debug, Clone, Copy, PartialEq)]
enum Work {
    Bytes(u64),
    Operations(u64),
}

/// The step that runs.
#[derive(Debug)]
pub struct Running {
    pub name: String,
    pub position: (u64, u64),
    pub began: Instant,
    role: Role,
    expected: Option<Duration>,
    is_virtual: bool,
    work: Option<Work>,
    allowance: Option<Allowance>,
    /// Streams that the end of the step does not wait for.
    background: Vec<bool>,
    /// Times of the testbed, ramp included.
    from: Option<u64>,
    to: u64,
    done: Sum,
    written: u64,
    /// Operations a second in each interval behind the ramp.
    rates: Vec<f64>,
    mean: Option<Estimate>,
    latest: Option<(f64, Option<u64>)>,
    counted: Counted,
}

#[derive(Debug, Clone, Copy, Default)]
struct Sum {
    operations: u64,
    bytes: u64,
}

/// Tallies of one interval, gathered over workers.
#[derive(Debug, Default)]
struct Counted {
    from: u64,
    to: u64,
    ramp: bool,
    operations: u64,
    bytes: u64,
    service: Option<Histogram>,
}

impl Default for Running {
    fn default() -> Self {
        Running {
            name: String::new(),
            position: (0, 0),
            began: Instant::now(),
            role: Role::default(),
            expected: None,
            is_virtual: false,
            work: None,
            allowance: None,
            background: Vec::new(),
            from: None,
            to: 0,
            done: Sum::default(),
            written: 0,
            rates: Vec::new(),
            mean: None,
            latest: None,
            counted: Counted::default(),
        }
    }
}

impl Running {
    pub fn of(beginning: &Beginning<'_>) -> Self {
        let step = beginning.step;
        Running {
            name: step.name.clone(),
            position: beginning.position,
            role: step.role,
            expected: expected(step),
            is_virtual: beginning.is_virtual,
            work: work(step, beginning.file_bytes),
            allowance: beginning.allowance,
            background: step.streams.iter().map(|stream| stream.background).collect(),
            ..Running::default()
        }
    }

    pub fn tally(&mut self, tally: &Tally) {
        if tally.from >= self.counted.to && self.counted.to > 0 {
            self.close_interval();
        }
        self.from = Some(self.from.map_or(tally.from, |from| from.min(tally.from)));
        self.to = self.to.max(tally.to);
        let is_background = self.background.get(tally.stream as usize).copied().unwrap_or(false);
        for kind in &tally.kinds {
            if kind.kind == Action::Write {
                self.written += kind.bytes;
            }
            if !kind.kind.goes_along() && !is_background {
                self.done.operations += kind.ops;
                self.done.bytes += kind.bytes;
            }
        }
        if !is_background {
            self.counted.add(tally);
        }
    }

    fn close_interval(&mut self) {
        let counted = std::mem::take(&mut self.counted);
        let seconds = counted.to.saturating_sub(counted.from) as f64 / 1e9;
        if seconds <= 0.0 {
            return;
        }
        let p99 = counted.service.as_ref();
        let p99 = p99.and_then(|service| drivelab_stats::supported_quantile(service, 0.99));
        self.latest = Some((counted.bytes as f64 / seconds, p99));
        if counted.ramp {
            return;
        }
        self.rates.push(counted.operations as f64 / seconds);
        if self.rates.len() <= INTERVALS_MAX {
            self.mean = over_time(&self.rates).map(|found| found.estimate);
        }
    }

    /// The part of the step that is done.
    fn share(&self, elapsed: Duration) -> Option<f64> {
        let by_time = self.expected.map(|expected| {
            let passed = match (self.is_virtual, self.from) {
                (true, Some(from)) => self.to.saturating_sub(from) as f64 / 1e9,
                (true, None) => 0.0,
                (false, _) => elapsed.as_secs_f64(),
            };
            passed / expected.as_secs_f64().max(1e-9)
        });
        let of = |done: u64, all: u64| done as f64 / all.max(1) as f64;
        let by_work = self.work.map(|work| match work {
            Work::Bytes(all) => of(self.done.bytes, all),
            Work::Operations(all) => of(self.done.operations, all),
        });
        // Whichever comes first ends it.
        by_time.into_iter().chain(by_work).reduce(f64::max).map(|share| share.clamp(0.0, 1.0))
    }

    /// How long it still takes.
    pub fn left(&self, elapsed: Duration) -> Option<Duration> {
        let share = self.share(elapsed)?;
        let by_work = (share >= PART_MIN).then(|| elapsed.mul_f64((1.0 - share) / share));
        match self.expected.filter(|_| !self.is_virtual) {
            Some(expected) => {
                let by_time = expected.saturating_sub(elapsed);
                Some(by_work.filter(|_| self.work.is_some()).map_or(by_time, |it| it.min(by_time)))
            }
            None => by_work,
        }
    }

    /// What the line may say, from the left.
    pub fn parts(&self, elapsed: Duration, left: Option<Duration>) -> Vec<Part> {
        let (number, count) = self.position;
        let role = match self.role {
            Role::Prepare | Role::Precondition => "preparing: ",
            Role::Torture => "torture: ",
            Role::Measure | Role::Idle => "",
        };
        let mut parts = vec![Part::kept(format!("{number}/{count} {role}{}", self.name))];
        if let Some(share) = self.share(elapsed) {
            let full = ((share * BAR_CELLS as f64) as usize).min(BAR_CELLS);
            let bar = format!("[{}{}]", "▇".repeat(full), "▁".repeat(BAR_CELLS - full));
            parts.push(Part::dropped(3, bar));
            parts.push(Part::kept(format!("{:.0} %", (share * 100.0).floor())));
        }
        if let Some(mean) = self.mean {
            let half = mean.relative_half_width().map(units::percent);
            let half = half.map_or(String::new(), |half| format!(" ± {half}"));
            parts.push(Part::kept(format!("{}{half}", units::operations(mean.value))));
        }
        if let Some((bandwidth, p99)) = self.latest {
            if bandwidth > 0.0 {
                parts.push(Part::dropped(2, units::bandwidth(bandwidth)));
            }
            let p99 = p99.map(|p99| format!("p99 {}", units::time(p99 as f64)));
            parts.extend(p99.map(|text| Part::dropped(1, text)));
        }
        if self.rates.len() > 1 {
            parts.push(Part::dropped(0, sparkline(&self.rates)));
        }
        if let Some(Allowance { written, budget }) = self.allowance {
            let now = units::size(written + self.written);
            parts.push(Part::dropped(4, format!("{now} of {} written", units::size(budget))));
        }
        let time = left.map(|left| format!("{} left", clock(left)));
        parts.push(Part::kept(time.unwrap_or_else(|| clock(elapsed))));
        parts
    }
}

impl Counted {
    fn add(&mut self, tally: &Tally) {
        self.from = if self.to == 0 { tally.from } else { self.from.min(tally.from) };
        self.to = self.to.max(tally.to);
        self.ramp |= tally.ramp;
        for kind in tally.kinds.iter().filter(|kind| !kind.kind.goes_along()) {
            self.operations += kind.ops;
            self.bytes += kind.bytes;
            self.service.get_or_insert_with(Histogram::new).merge(&kind.service);
        }
    }
}

/// How long a step takes, if its plan says so.
pub fn expected(step: &Step) -> Option<Duration> {
    match (&step.act, step.elapsed()) {
        (Some(Act::Idle(span)), _) => Some(Duration::from_nanos(span.0)),
        (Some(_), _) => Some(Duration::ZERO),
        (None, Some(elapsed)) => Some(Duration::from_nanos(elapsed.0 + step.ramp.0)),
        (None, None) => None,
    }
}

/// The work that ends a step, where each stream that it waits for has such an end.
fn work(step: &Step, file_bytes: u64) -> Option<Work> {
    let streams = || step.streams.iter().filter(|stream| !stream.background);
    let operations = |stream: &Stream| step.until_of(stream).operations;
    let by_operations: Option<u64> = streams().map(operations).sum();
    let by_bytes = |stream: &Stream| {
        let until = step.until_of(stream);
        let is_bounded = until.bytes.is_some() || until.passes.is_some();
        is_bounded.then(|| forecast::issued_bytes(step, stream, file_bytes)).flatten()
    };
    let by_bytes: Option<u64> = streams().map(by_bytes).sum();
    let some = |amount: Option<u64>| amount.filter(|amount| *amount > 0);
    some(by_operations).map(Work::Operations).or(some(by_bytes).map(Work::Bytes))
}

/// The latest rates from zero to the highest of them.
fn sparkline(rates: &[f64]) -> String {
    let shown = &rates[rates.len().saturating_sub(SPARKS)..];
    let most = shown.iter().copied().fold(f64::MIN_POSITIVE, f64::max);
    let level = |rate: &f64| LEVELS[((rate / most * 7.0).round() as usize).min(7)];
    shown.iter().map(level).collect()
}

/// Minutes and seconds: `1:12`, from an hour on `1:02:33`.
fn clock(span: Duration) -> String {
    let seconds = span.as_secs_f64().ceil() as u64;
    match seconds {
        0..3600 => format!("{}:{:02}", seconds / 60, seconds % 60),
        _ => format!("{}:{:02}:{:02}", seconds / 3600, seconds / 60 % 60, seconds % 60),
    }
}

//! How long a fixed piece of a load's work takes, and how much of that is waiting for the drive.

use super::loads::App;
use crate::experiment::control;
use drivelab_core::findings::{Entry, Head, Table, Unit};
use drivelab_core::plan::{Arrival, Stream};
use drivelab_core::run::Run;
use drivelab_core::summary::{StepSummary, StreamSummary, Summary};
use drivelab_stats::Estimate;

/// What each repetition got done, as pieces of work, and in how many seconds.
pub struct Worked {
    /// Rests and set times included.
    pub whole: Vec<(f64, f64)>,
    /// Waiting for the drive only.
    pub waiting: Vec<(f64, f64)>,
}

/// The work of a load in all of its repetitions; `None`: it has no sound numbers.
pub fn worked(summary: &Summary, run: &Run, app: App) -> Option<Worked> {
    let cell = summary.cells.iter().find(|cell| cell.name == app.name())?;
    if cell.valid == Some(false) || cell.streams.is_empty() {
        return None;
    }
    let mut worked = Worked { whole: Vec::new(), waiting: Vec::new() };
    for step in control::sound(summary, app.name()) {
        let (works, whole, waiting) = of_step(step, run, app)?;
        worked.whole.push((works, whole));
        worked.waiting.push((works, waiting));
    }
    (!worked.whole.is_empty()).then_some(worked)
}

/// Pieces of work of one repetition, its seconds, and its seconds of waiting.
fn of_step(step: &StepSummary, run: &Run, app: App) -> Option<(f64, f64, f64)> {
    let planned = run.steps.iter().find(|it| it.begin.step == step.step)?;
    let (mut longest, mut waits, mut seconds) = (0.0_f64, 0.0, 0.0);
    for (index, operations) in app.work() {
        let stream = step.streams.get(index)?;
        let done = stream.total.ops as f64;
        seconds = stream.seconds.filter(|_| done > 0.0)?;
        let alone = operations as f64 * seconds / done;
        longest = longest.max(alone);
        waits += match has_rests(planned.plan.streams.get(index)?) {
            true => operations as f64 * mean_ns(stream)? / 1e9,
            false => alone,
        };
    }
    let works = seconds / longest;
    (longest > 0.0 && waits > 0.0).then_some((works, seconds, works * waits))
}

/// Whether it is not always as busy as the drive lets it be.
fn has_rests(stream: &Stream) -> bool {
    match &stream.arrival {
        Arrival::Closed { think, .. } => think.is_some(),
        Arrival::Open { .. } | Arrival::Trace { .. } => true,
    }
}

/// How long one of its requests takes from when it was issued.
fn mean_ns(stream: &StreamSummary) -> Option<f64> {
    let kinds = stream.kinds.iter().filter(|(action, _)| !action.goes_along());
    let sums = kinds.filter_map(|(_, kind)| kind.service_ns).fold((0.0, 0.0), |sum, it| {
        let count = it.count as f64;
        (sum.0 + count, sum.1 + count * it.mean)
    });
    (sums.0 > 0.0).then(|| sums.1 / sums.0)
}

/// Nanoseconds of one piece of work.
fn taken(worked: &[(f64, f64)]) -> Option<Estimate> {
    let rate = Estimate::rate_of(worked).filter(|rate| rate.value > 0.0)?;
    let [low, high] = [rate.high, rate.low].map(|rate| rate.map(|rate| 1e9 / rate));
    Some(Estimate { value: 1e9 / rate.value, low, high, n: rate.n })
}

/// How long one piece of a load's work takes, rests included.
pub fn time_of(summary: &Summary, run: &Run, app: App) -> Option<Estimate> {
    taken(&worked(summary, run, app)?.whole)
}

/// The time of each load's work, of those that have sound numbers.
pub fn table(summary: &Summary, run: &Run) -> Table {
    let head = |name: &str, unit| Head { name: name.into(), unit: Some(unit) };
    let number = |value: Option<f64>| value.map_or(Entry::Nothing, Entry::Number);
    let row = |app: &App| {
        let worked = worked(summary, run, *app)?;
        let requests = app.work().iter().map(|(_, count)| count).sum::<u64>();
        let mut row = vec![Entry::Text(app.name().into()), Entry::Number(requests as f64)];
        for time in [taken(&worked.whole)?, taken(&worked.waiting)?] {
            row.push(Entry::Number(time.value));
            row.push(number(time.relative_half_width()));
        }
        Some(row)
    };
    Table {
        title: "How long a fixed piece of work takes".into(),
        note: "Time: at the rate that was measured, until the last stream is done, rests and set \
               times included. Waiting: of a load that rests, what its requests took one by one, \
               added up; of any other, all of its time."
            .into(),
        heads: vec![
            Head { name: "load".into(), unit: None },
            head("requests", Unit::Count),
            head("time", Unit::Ns),
            head("±", Unit::Share),
            head("waiting", Unit::Ns),
            head("± ", Unit::Share),
        ],
        rows: App::ALL.iter().filter_map(row).collect(),
    }
}

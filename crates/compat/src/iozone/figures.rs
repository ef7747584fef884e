//! What the records of a run say of each test, in IOzone's units.

use super::line::Unit;
use super::options::{Cell, Options, Table, Throughput};
use super::test::{Load, Test};
use drivelab_core::op::Action;
use drivelab_core::run::{Run, StepRun};
use drivelab_core::tally::Phase;

/// What one process did in one test.
#[derive(Debug, Clone, Copy, Default, PartialEq, Eq)]
pub(super) struct Child {
    /// Reads and writes that came back.
    pub(super) ops: u64,
    /// Bytes they moved.
    pub(super) bytes: u64,
    /// Time from the first operation to the end.
    pub(super) elapsed_ns: u64,
}

impl Child {
    /// kB or operations a second; 0 where nothing was done.
    pub(super) fn rate(&self, unit: Unit) -> f64 {
        match self.elapsed_ns {
            0 => 0.0,
            elapsed_ns => self.amount(unit) * 1e9 / elapsed_ns as f64,
        }
    }

    /// kB or operations.
    pub(super) fn amount(&self, unit: Unit) -> f64 {
        match unit {
            Unit::KilobytesPerSecond => self.bytes as f64 / 1024.0,
            _ => self.ops as f64,
        }
    }

    /// The value in the table: a whole number, cut off.
    pub(super) fn value(&self, unit: Unit) -> u64 {
        let per_second = |amount: u64| {
            let a_second = u128::from(amount) * 1_000_000_000;
            a_second.checked_div(u128::from(self.elapsed_ns)).unwrap_or(0)
        };
        let value = match unit {
            Unit::KilobytesPerSecond => per_second(self.bytes) >> 10,
            Unit::OperationsPerSecond => per_second(self.ops),
            Unit::MicrosecondsPerOperation => {
                u128::from(self.elapsed_ns / 1000).checked_div(u128::from(self.ops)).unwrap_or(0)
            }
        };
        u64::try_from(value).unwrap_or(u64::MAX)
    }
}

/// The value of a test in the table: 0 where it was left out as a retest, `None` where it did not
/// come to its end.
pub(super) fn value(
    options: &Options,
    table: &Table,
    run: &Run,
    test: Test,
    cell: Cell,
) -> Option<u64> {
    if !table.runs(test) {
        return Some(0);
    }
    let step = finished(run, &Table::step(test, cell))?;
    Some(child(step, (0, 0), options.only_service).value(options.unit))
}

/// What each process did under a load, and the rate that all had together.
pub(super) fn children(
    options: &Options,
    throughput: &Throughput,
    run: &Run,
    load: Load,
    count: u32,
) -> Option<(Vec<Child>, f64)> {
    let step = finished(run, &Throughput::step(load, count))?;
    let own = |at: (u32, u32)| child(step, at, options.only_service);
    let children = match load {
        Load::Mixed => mixed(throughput, count, own),
        _ => (0..count).map(|worker| own((0, worker))).collect(),
    };
    let total = children.iter().fold(Child::default(), |sum, child| Child {
        ops: sum.ops + child.ops,
        bytes: sum.bytes + child.bytes,
        elapsed_ns: together_ns(step),
    });
    Some((children, total.rate(options.unit)))
}

/// The processes of the mix by their numbers in IOzone: every other one reads, or with `-+p` the
/// first ones.
fn mixed(throughput: &Throughput, count: u32, own: impl Fn((u32, u32)) -> Child) -> Vec<Child> {
    let readers = throughput.readers(count);
    let writers = u32::from(readers > 0);
    let (mut reader, mut writer) = (0..readers, 0..count - readers.min(count));
    (0..count)
        .map(|number| {
            let reads = match throughput.read_percent {
                Some(_) => number < readers,
                None => number.is_multiple_of(2),
            };
            let next = if reads { reader.next() } else { writer.next() };
            own((if reads { 0 } else { writers }, next.unwrap_or(0)))
        })
        .collect()
}

/// The step of that name, if it came to its end.
fn finished<'a>(run: &'a Run, name: &str) -> Option<&'a StepRun> {
    let step = run.steps.iter().find(|step| step.begin.name == name)?;
    let end = step.end.as_ref()?;
    end.incomplete.is_none().then_some(step)
}

/// What a worker did; with think time only the time inside of its operations counts.
fn child(step: &StepRun, (stream, worker): (u32, u32), only_service: bool) -> Child {
    let mut child = Child::default();
    let mut service_ns = 0u128;
    let own = step.tallies.iter().filter(|tally| tally.stream == stream && tally.worker == worker);
    let moving = |action: Action| matches!(action, Action::Read | Action::Write);
    for kind in own.flat_map(|tally| &tally.kinds) {
        if moving(kind.kind) {
            child.ops += kind.ops;
            child.bytes += kind.bytes;
            service_ns += kind.service.sum();
        }
    }
    let phases = step.end.iter().flat_map(|end| &end.phases);
    let phase = phases.filter(|phase| phase.stream == stream).find(|phase| phase.worker == worker);
    child.elapsed_ns = match only_service {
        true => u64::try_from(service_ns).unwrap_or(u64::MAX),
        false => phase.map_or(0, own_ns),
    };
    child
}

/// From the first operation to the end of one worker, without what was taken out.
fn own_ns(phase: &Phase) -> u64 {
    phase.closed.saturating_sub(phase.first).saturating_sub(phase.excluded_ns)
}

/// From the common beginning to the end of the last worker.
fn together_ns(step: &StepRun) -> u64 {
    let phases = || step.end.iter().flat_map(|end| &end.phases);
    let from = phases().map(|phase| phase.measured_from).min().unwrap_or(0);
    phases().map(|phase| phase.closed).max().unwrap_or(0).saturating_sub(from)
}

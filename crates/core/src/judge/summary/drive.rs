//! What a simulated drive did inside during a step.

use crate::inside::Inside;
use crate::lifetime::days_of_cells;
use crate::op::{Action, Time};
use crate::run::{Run, StepRun};
use crate::summary::DriveSummary;

const DAY_NS: f64 = 86_400e9;

pub(super) fn summarise_drive(run: &Run, step: &StepRun) -> Option<DriveSummary> {
    let end = step.end.as_ref()?;
    let inside = end.inside?;
    let (last, passes) = last_pass(run, step, &inside);
    let span_ns = match (step.insides.first(), step.insides.last()) {
        (Some(first), Some(last)) => last.to - first.from,
        _ => 0,
    };
    Some(DriveSummary {
        write_amplification: last.write_amplification(),
        passes,
        write_amplification_total: end.inside_total.and_then(|total| total.write_amplification()),
        utilisation: inside.utilisation(span_ns),
        lifetime_days: lifetime_days(run, &inside, last.write_amplification(), span_ns),
        inside,
    })
}

fn lifetime_days(
    run: &Run,
    inside: &Inside,
    write_amplification: Option<f64>,
    span_ns: Time,
) -> Option<f64> {
    let flash = run.begin.facts.target.simulated?.flash.filter(|flash| flash.cycles_left > 0)?;
    let days = span_ns as f64 / DAY_NS;
    let bytes = inside.host_units as f64 * flash.unit_bytes as f64;
    let cycles = f64::from(flash.cycles_left);
    days_of_cells(flash.bytes as f64, cycles, write_amplification?, bytes / days)
}

/// The counts of the last intervals in which the drive's bytes were written once, and how many
/// passes they are; all of the step where it wrote less.
fn last_pass(run: &Run, step: &StepRun, whole: &Inside) -> (Inside, Option<f64>) {
    let kinds = step.tallies.iter().flat_map(|tally| &tally.kinds);
    let written: u64 = kinds.filter(|kind| kind.kind == Action::Write).map(|kind| kind.bytes).sum();
    // Behind a page cache the drive has seen other bytes than the host has written.
    let is_cached =
        run.begin.facts.target.simulated.is_some_and(|known| known.page_cache_bytes.is_some());
    let written = if is_cached { whole.drive_written_bytes } else { written };
    let Some(bytes) = run.begin.facts.target.bytes.filter(|bytes| *bytes > 0) else {
        return (*whole, None);
    };
    if whole.host_units == 0 || written == 0 {
        return (*whole, None);
    }
    // Units are counted, bytes are known: what one unit stands for follows.
    let pass_units = bytes as f64 * whole.host_units as f64 / written as f64;
    let mut sum = Inside::default();
    for interval in step.insides.iter().rev() {
        sum = sum.plus(&interval.inside);
        if sum.host_units as f64 >= pass_units {
            return (sum, Some(sum.host_units as f64 / pass_units));
        }
    }
    (*whole, Some(whole.host_units as f64 / pass_units))
}

//! What a drive took for each request, from the kernel's tracer: percentiles, where counters have
//! a mean alone.

use super::{Flow, Line};
use drivelab_core::op::Action;
use drivelab_core::trace::block::Trace;
use drivelab_core::trace::served::served;
use drivelab_io::counters;
use drivelab_io::facts::{DeviceNumber, System};
use drivelab_io::tracing::Tracing;
use drivelab_stats::{Histogram, supported_quantile};
use schemars::JsonSchema;
use serde::Serialize;

/// Events of one device that are kept between two looks: two a request.
const EVENTS_MAX: u64 = 200_000;

/// How long the drive took for the requests of one kind, from its driver to their end.
#[derive(Debug, Clone, Default, PartialEq, Serialize, JsonSchema)]
pub struct Latencies {
    /// Requests that were seen from end to end.
    count: u64,
    p50_ns: Option<u64>,
    p99_ns: Option<u64>,
    p99_9_ns: Option<u64>,
    max_ns: u64,
}

impl Latencies {
    /// 99 of 100 took less; `None`: there were too few to tell.
    pub fn p99_ns(&self) -> Option<u64> {
        self.p99_ns
    }
}

/// Devices that are traced while somebody watches.
pub struct Traced {
    devices: Vec<(String, Tracing)>,
}

impl Traced {
    /// Begins with all of these that have requests of their own; a device of devices has none.
    ///
    /// # Errors
    /// Why not one of them can be traced, and the way out.
    pub fn begin(system: &System, devices: &[DeviceNumber]) -> Result<Traced, String> {
        let mut traced = Vec::new();
        for number in devices {
            let named = counters::devices(system, &[*number]).map_err(|error| error.to_string())?;
            let Some(name) = named.into_iter().next().map(|device| device.name) else { continue };
            let tracing = Tracing::of_drive(system, *number, EVENTS_MAX)?;
            tracing.start()?;
            traced.push((name, tracing));
        }
        Ok(Traced { devices: traced })
    }

    /// Adds to these lines what was seen since the last time.
    ///
    /// # Errors
    /// The kernel refuses.
    pub fn add_to(&mut self, lines: &mut [Line]) -> Result<(), String> {
        for (name, tracing) in &mut self.devices {
            let trace = tracing.stop()?;
            tracing.start()?;
            if let Some(line) = lines.iter_mut().find(|line| line.device == *name) {
                add(&trace, line);
            }
        }
        Ok(())
    }
}

/// Percentiles of a part that chance did not choose would say nothing: where events were lost
/// there are none.
fn add(trace: &Trace, line: &mut Line) {
    line.events_lost = Some(trace.missed).filter(|missed| *missed > 0 || trace.missed_more);
    if line.events_lost.is_some() {
        return;
    }
    let all = served(trace);
    let flows: [(Action, &mut Flow); 3] = [
        (Action::Read, &mut line.read),
        (Action::Write, &mut line.write),
        (Action::Trim, &mut line.discard),
    ];
    for (action, flow) in flows {
        let mut histogram = Histogram::thin();
        all.iter().filter(|one| one.action == action).for_each(|one| histogram.record(one.ns));
        flow.served = (!histogram.is_empty()).then(|| Latencies {
            count: histogram.count(),
            p50_ns: supported_quantile(&histogram, 0.5),
            p99_ns: supported_quantile(&histogram, 0.99),
            p99_9_ns: supported_quantile(&histogram, 0.999),
            max_ns: histogram.max(),
        });
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use drivelab_core::trace::block::{BlockEvent, Point};

    /// 1,000 reads one after the other, of which ten take a hundred times as long.
    fn trace() -> Trace {
        let mut trace = Trace::default();
        for number in 0..1000_u64 {
            let at = number * 1_000_000;
            let ns = if number % 100 == 7 { 900_000 } else { 9_000 };
            for (point, at) in [(Point::Issue, at), (Point::Complete, at + ns)] {
                let (sector, action) = (number * 8, Some(Action::Read));
                let event = BlockEvent { at, point, device: 1, sector, sectors: 8, action };
                trace.events.push(event);
            }
        }
        trace
    }

    #[test]
    fn the_tail_is_seen_and_nothing_is_where_nothing_was() {
        let mut line = Line::default();
        add(&trace(), &mut line);
        let seen = line.read.served.clone().expect("reads");
        assert_eq!((seen.count, seen.max_ns), (1000, 900_000));
        assert!(seen.p50_ns.is_some_and(|ns| (8_900..9_200).contains(&ns)), "{seen:?}");
        // Ten of 1,000 lie at or above it: the largest of the short ones, or the long ones.
        assert!(seen.p99_ns.is_some(), "{seen:?}");
        assert_eq!(seen.p99_9_ns, None, "a thousand are too few for that");
        assert_eq!((line.write.served, line.events_lost), (None, None));
    }

    #[test]
    fn what_was_lost_leaves_no_percentiles() {
        let mut line = Line::default();
        add(&Trace { missed: 3, ..trace() }, &mut line);
        assert_eq!((line.read.served, line.events_lost), (None, Some(3)));
    }
}

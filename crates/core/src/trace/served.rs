//! How long a drive took for each request of a trace.

use super::block::{Point, Trace};
use crate::op::{Action, Time};
use std::collections::HashMap;

/// One request, from its hand-over to the driver until the drive was done with it.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub struct Served {
    /// What it did.
    pub action: Action,
    /// How long it took, in nanoseconds.
    pub ns: Time,
}

/// The requests that the trace saw from end to end, in the order in which they ended. A request
/// that a drive ends in parts ends with its first one here; one that was taken back begins anew.
pub fn served(trace: &Trace) -> Vec<Served> {
    let mut open: HashMap<(u32, u64, u32), Time> = HashMap::new();
    let mut all = Vec::new();
    for event in &trace.events {
        let Some(action) = event.action else { continue };
        let key = (event.device, event.sector, action as u32);
        match event.point {
            Point::Issue => drop(open.insert(key, event.at)),
            Point::Requeue => drop(open.remove(&key)),
            Point::Complete => all.extend(
                open.remove(&key)
                    .map(|begin| Served { action, ns: event.at.saturating_sub(begin) }),
            ),
            _ => {}
        }
    }
    all
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::trace::block::BlockEvent;

    fn event(at: Time, point: Point, sector: u64, action: Action) -> BlockEvent {
        BlockEvent { at, point, device: 8 << 20, sector, sectors: 8, action: Some(action) }
    }

    #[test]
    fn a_request_takes_from_its_issue_to_its_end() {
        let (read, write) = (Action::Read, Action::Write);
        let events = vec![
            // Issued before the trace began.
            event(5, Point::Complete, 8, read),
            event(10, Point::Queue, 16, read),
            event(20, Point::Issue, 16, read),
            event(21, Point::Issue, 16, write),
            event(30, Point::Issue, 24, read),
            event(35, Point::Requeue, 24, read),
            event(50, Point::Issue, 24, read),
            event(60, Point::Complete, 24, read),
            event(120, Point::Complete, 16, read),
            event(221, Point::Complete, 16, write),
            // Still under way when it ended.
            event(230, Point::Issue, 32, write),
        ];
        let trace = Trace { events, ..Trace::default() };
        let all: Vec<(Action, Time)> =
            served(&trace).iter().map(|one| (one.action, one.ns)).collect();
        assert_eq!(all, [(read, 10), (read, 100), (write, 200)]);
    }
}

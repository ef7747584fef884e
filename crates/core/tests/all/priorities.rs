//! Requests that have a priority of their own: which have it, and what is kept of them.

use crate::support::*;
use drivelab_core::op::{Action, DataOp, Time};
use drivelab_core::plan::{
    Engine, IoClass, IoPriority, Mix, Pattern, RequestPriority, Stream, ThreadSettings,
};
use drivelab_core::tally::KindTally;

const REALTIME: u32 = 0x2000;
const IDLE: u32 = 0x6003;

fn stream() -> Stream {
    let idle = IoPriority { class: IoClass::Idle, level: 3, hint: 0 };
    let urgent = IoPriority { class: IoClass::Realtime, ..IoPriority::default() };
    let of = |action, percent| RequestPriority { action, size: None, percent, priority: urgent };
    Stream {
        engine: Engine::Libaio,
        mix: Mix { read: 50, write: 40, trim: 10 },
        thread: Some(ThreadSettings { io_priority: Some(idle), ..ThreadSettings::default() }),
        request_priorities: vec![of(Action::Read, 30), of(Action::Write, 100)],
        ..reads(Pattern::Uniform)
    }
}

/// Each priority has a time of its own, so that a request in the wrong place would be seen.
fn time_of(op: &DataOp) -> Time {
    match op.priority {
        REALTIME => 100 * MICROSECOND,
        IDLE => 500 * MICROSECOND,
        _ => 1,
    }
}

fn figures(kind: &KindTally) -> Vec<(u16, u64, u64, u64)> {
    let one = |it: &drivelab_core::tally::PriorityTally| {
        let all = &it.service;
        (it.number, all.count(), all.min(), all.max())
    };
    kind.priorities.iter().map(one).collect()
}

#[test]
fn each_priority_has_the_latencies_of_its_requests_alone() {
    let step = step(operations(20_000), vec![stream()]);
    let outcome = run(drivers(&step, 64 * MIB), |now: Time, op: &DataOp, _: &mut [u8]| {
        (now + time_of(op), Ok(op.len))
    });
    let all = outcome.sink.measured();
    let kind = |action| all.kinds.iter().find(|kind| kind.kind == action).unwrap();
    let (reads, writes, trims) = (kind(Action::Read), kind(Action::Write), kind(Action::Trim));
    let (urgent_ns, idle_ns) = (100 * MICROSECOND, 500 * MICROSECOND);
    let [(0x6003, idle, ..), (0x2000, urgent, ..)] = figures(reads)[..] else {
        panic!("{:?}", figures(reads))
    };
    assert_eq!(
        figures(reads),
        [(0x6003, idle, idle_ns, idle_ns), (0x2000, urgent, urgent_ns, urgent_ns)]
    );
    assert_eq!(idle + urgent, reads.ops);
    let share = urgent as f64 / reads.ops as f64;
    assert!((share - 0.3).abs() < 0.02, "{share}");
    // All writes have one of their own; what none has is there without a value.
    assert_eq!(figures(writes), [(0x6003, 0, 0, 0), (0x2000, writes.ops, urgent_ns, urgent_ns)]);
    assert!(trims.priorities.is_empty() && trims.service.min() == idle_ns);
}

#[test]
fn the_order_of_the_others_does_not_depend_on_priorities() {
    let with = stream();
    let without = Stream { request_priorities: Vec::new(), ..stream() };
    let of = |stream: &Stream| {
        let plain = |op: DataOp| DataOp { priority: 0, ..op };
        let all = ops(stream, 64 * MIB, 1000).into_iter();
        all.map(|one| one.into_iter().map(plain).collect()).collect::<Vec<Vec<DataOp>>>()
    };
    assert_eq!(of(&with), of(&without));
}

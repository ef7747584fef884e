//! Requests with priorities of their own.

use super::*;

#[test]
fn priorities_of_requests_that_cannot_be_are_refused() {
    let one = |action, size: Option<u64>, percent| RequestPriority {
        action,
        size: size.map(Size),
        percent,
        ..RequestPriority::default()
    };
    let of = |list: &[RequestPriority]| {
        let request_priorities = list.to_vec();
        with(|s| (s.engine, s.request_priorities) = (Engine::Libaio, request_priorities))
    };
    let (read, write) = (Action::Read, Action::Write);
    accepted(&of(&[one(read, Some(4096), 60), one(read, Some(4096), 40), one(write, None, 100)]));
    let key = "request_priorities";
    refused(&of(&[one(read, None, 60), one(read, None, 41)]), key, "more than 100 percent");
    refused(&of(&[one(read, None, 1), one(read, Some(4096), 1)]), key, "have a `size`");
    refused(&of(&[one(Action::Trim, None, 1)]), key, "only reads and writes");
    refused(&of(&vec![one(read, None, 0); 257]), key, "use fewer");
    let mut plan = of(&[one(read, None, 5)]);
    plan.steps[0].streams[0].workers = 513;
    refused(&plan, key, "more than 512");
    let with_priority = |level, hint| {
        let priority = IoPriority { level, hint, ..IoPriority::default() };
        of(&[RequestPriority { priority, ..one(read, None, 5) }])
    };
    refused(&with_priority(8, 0), key, "level 8");
    refused(&with_priority(0, 1024), key, "hint 1024");
    let mut plan = of(&[one(read, None, 5)]);
    plan.steps[0].streams[0].engine = Engine::Psync;
    refused(&plan, key, "io_uring and libaio");
    let simulated = Geometry { kind: TargetKind::Simulated, ..geometry() };
    let problems = validate(&of(&[one(read, None, 5)]), &simulated).expect_err("no scheduler");
    assert!(problems.iter().any(|problem| problem.key == key), "{problems:?}");
}

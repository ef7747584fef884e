//! Every order in which the stores of a worker can reach the thread that watches it.

use super::Pulse;
use drivelab_core::op::{Action, DataOp, NameOp, Op, Place};
use loom::sync::Arc;
use loom::thread;

fn data(action: Action, offset: u64) -> Op {
    DataOp { action, offset, ..DataOp::default() }.into()
}

/// What is told was begun: never the offset of one operation with the action of another.
#[test]
fn loom_what_a_worker_does_is_told_whole() {
    loom::model(|| {
        let pulse = Arc::new(Pulse::default());
        pulse.alive(10, true);
        let worker = pulse.clone();
        let work = thread::spawn(move || {
            worker.begin(&data(Action::Write, 4096));
            worker.begin(&NameOp::new(Action::Stat, 7).into());
        });
        if let Some((waited, action, place)) = pulse.waiting_since(15) {
            assert_eq!(waited, 5);
            let all = [
                (Action::Read, Place::Data { offset: 0 }),
                (Action::Write, Place::Data { offset: 4096 }),
                (Action::Stat, Place::Name { name: 7, pass: 0 }),
            ];
            assert!(all.contains(&(action, place)), "{action:?} {place:?}");
        }
        work.join().expect("the worker ends");
        let last = (5, Action::Stat, Place::Name { name: 7, pass: 0 });
        assert_eq!(pulse.waiting_since(15), Some(last), "nothing is hidden from a worker at rest");
    });
}

/// A worker that rested long and has just begun to wait is not called stuck.
#[test]
fn loom_a_rest_is_no_wait() {
    loom::model(|| {
        let pulse = Arc::new(Pulse::default());
        pulse.alive(1, false);
        let worker = pulse.clone();
        let work = thread::spawn(move || worker.alive(1_000, true));
        let waited = pulse.waiting_since(1_001).map(|(waited, ..)| waited);
        assert!(waited.is_none_or(|waited| waited == 1), "{waited:?}");
        work.join().expect("the worker ends");
    });
}

/// A worker that was asked to stop stops.
#[test]
fn loom_a_stop_arrives() {
    loom::model(|| {
        let pulse = Arc::new(Pulse::default());
        let worker = pulse.clone();
        let work = thread::spawn(move || {
            while !worker.stopping() {
                thread::yield_now();
            }
        });
        pulse.stop();
        work.join().expect("the worker ends");
    });
}

//! Replies: where they go, how long they are, and when they come.

use crate::support::*;
use drivelab_core::op::{Action, DataOp};
use drivelab_core::plan::{Mix, Pattern, Reply, Stream};
use drivelab_core::units::Size;

#[test]
fn a_reply_goes_the_other_way_at_the_same_or_the_next_address() {
    for (reply, distance) in [(Reply::Same, 0), (Reply::Next, 4096)] {
        let stream = Stream { reply: Some(reply), ..reads(Pattern::SEQUENTIAL) };
        let got = ops(&stream, 4 * 4096, 16);
        for pair in got[0].chunks(2) {
            assert_eq!(pair[0].action, Action::Read);
            assert_eq!(pair[1].action, Action::Write);
            assert_eq!(pair[1].offset, (pair[0].offset + distance) % (4 * 4096), "{reply:?}");
            assert_eq!(pair[1].len, pair[0].len);
        }
        let primaries: Vec<u64> = got[0].iter().step_by(2).map(|op| op.offset / 4096).collect();
        assert_eq!(primaries, [0, 1, 2, 3, 0, 1, 2, 3]);
    }
}

#[test]
fn a_reply_may_have_another_size_than_its_request() {
    for (bytes, distance) in [(512, 4096), (3 * 4096, 4096)] {
        let pattern = Pattern::strided(1 + 3);
        let stream =
            Stream { reply: Some(Reply::Next), reply_size: Some(Size(bytes)), ..reads(pattern) };
        let got = ops(&stream, 16 * 4096, 16);
        for pair in got[0].chunks(2) {
            assert_eq!((pair[0].action, pair[0].len), (Action::Read, 4096));
            assert_eq!((pair[1].action, u64::from(pair[1].len)), (Action::Write, bytes));
            let next = (pair[0].offset + distance) % (16 * 4096);
            let fits = next + bytes <= 16 * 4096;
            assert_eq!(pair[1].offset, if fits { next } else { 0 });
        }
    }
}

#[test]
fn replies_wait_for_as_many_requests_as_come_before_them() {
    let stream = Stream {
        mix: Mix { read: 0, write: 100, trim: 0 },
        reply: Some(Reply::Same),
        reply_after: Some(3),
        ..reads(Pattern::Uniform)
    };
    let got = ops(&stream, 64 * 4096, 18);
    for group in got[0].chunks(6) {
        let (writes, answers) = group.split_at(3);
        assert!(writes.iter().all(|op| op.action == Action::Write), "{group:?}");
        assert!(answers.iter().all(|op| op.action == Action::Read), "{group:?}");
        let places = |ops: &[DataOp]| ops.iter().map(|op| op.offset).collect::<Vec<u64>>();
        assert_eq!(places(writes), places(answers), "in their order");
    }
}

#[test]
fn replies_of_a_deep_queue_find_their_room_made() {
    // In a debug build the driver asserts that the room was made before the measured loop.
    for (depth, after) in [(1, 16), (8, 3), (32, 31), (7, 2)] {
        let stream = Stream {
            depth,
            reply: Some(Reply::Same),
            reply_after: Some(after),
            ..reads(Pattern::Uniform)
        };
        let got = ops(&stream, 64 * 4096, 640);
        let writes = got[0].iter().filter(|op| op.action == Action::Write).count();
        assert!(writes + (depth + after) as usize >= 320, "{depth} {after}: {writes}");
    }
}

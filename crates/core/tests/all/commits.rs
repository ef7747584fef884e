//! What a commit takes: its writes and the flush behind them.

use crate::support::*;
use drivelab_core::op::{Action, Time};
use drivelab_core::plan::{Mix, Pattern, Stream, Sync};
use drivelab_core::queue::Testbed;
use drivelab_core::virtual_bed::VirtualTestbed;

const LATENCY: Time = 100 * MICROSECOND;

#[test]
fn a_commit_lasts_from_its_first_write_to_the_end_of_its_flush() {
    // One operation after the other, each of one latency: n writes and the flush.
    for (sync, depth, mix, commits, latency) in [
        (Sync::Fsync(1), 1, Mix::WRITE, 100, Some(2 * LATENCY)),
        (Sync::Fdatasync(10), 1, Mix::WRITE, 10, Some(11 * LATENCY)),
        // With several under way nobody knows which write waits for which flush.
        (Sync::Fsync(1), 2, Mix::WRITE, 100, None),
        (Sync::End, 1, Mix::WRITE, 1, None),
        // A read that comes in between belongs to none: shorter or longer, by whole latencies.
        (Sync::Fsync(1), 1, Mix { read: 50, write: 50, trim: 0 }, 0, Some(2 * LATENCY)),
    ] {
        let stream = Stream { sync, depth, mix, ..writes(Pattern::Uniform) };
        let mut sink = Kept::default();
        let step = step(operations(100), vec![stream]);
        VirtualTestbed::new(LATENCY, 1).run(drivers(&step, 64 * MIB), &mut sink).unwrap();
        let all = sink.measured();
        let flush = all.kinds.iter().find(|tally| tally.kind == Action::Flush).unwrap();
        let commit = flush.commit.as_ref();
        assert!(commits == 0 || flush.ops == commits, "{sync}");
        assert_eq!(commit.map(|all| all.min()), latency, "{sync}");
        assert_eq!(commit.map(|all| all.count()), latency.map(|_| flush.ops), "{sync}");
    }
}

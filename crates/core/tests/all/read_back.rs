//! Mixes that are read back: the same places in the same order, and wrong blocks are found.

use crate::support::{Drive, MIB, Memory, Outcome, drivers, elapsed, operations, reads, run, step};
use drivelab_core::op::{Action, DataOp, Time};
use drivelab_core::plan::{
    Files, Jump, Mix, Pattern, Sequence, Sharing, Step, Stream, Until, WeightedSize,
};
use drivelab_core::units::Size;

const MIX: Mix = Mix { read: 70, write: 30, trim: 0 };

fn mixed(pattern: Pattern) -> Stream {
    Stream { mix: MIX, order: Some(3), regions: Some(Sharing::Whole), ..reads(pattern) }
}

fn back(stream: &Stream) -> Stream {
    Stream { mix: Mix::READ, read_back: Some(stream.mix), ..stream.clone() }
}

fn done(until: &Until, stream: Stream) -> Outcome {
    let latency = |now: Time, op: &DataOp, _: &mut [u8]| (now + 1000, Ok(op.len));
    run(drivers(&step(until.clone(), vec![stream]), MIB), latency)
}

fn places(ops: Vec<DataOp>, action: Action) -> Vec<(u32, u64, u32)> {
    let its = ops.into_iter().filter(|op| op.action == action);
    its.map(|op| (op.file, op.offset, op.len)).collect()
}

/// Mixes of all orders that are drawn.
fn mixes() -> Vec<Stream> {
    use Pattern::{Permutation, Uniform};
    let sizes = |kind| [4096, 8192].map(|size| WeightedSize { size: Size(size), weight: 1, kind });
    let mut streams = vec![
        Stream {
            pattern: Pattern::Sequential(Sequence {
                each_kind_in_order: true,
                ..Sequence::default()
            }),
            ..mixed(Pattern::SEQUENTIAL)
        },
        Stream { files_in_turn: Some(3), ..mixed(Permutation) },
        Stream { workers: 3, files: Files::Each, depth: 8, ..mixed(Permutation) },
        Stream { sizes: sizes(None).to_vec(), ..mixed(Uniform) },
        Stream {
            sizes: [sizes(Some(Action::Read)), sizes(Some(Action::Write))].concat(),
            ..mixed(Uniform)
        },
        Stream { depth: 4, pattern: Pattern::SemiRandom(Jump::Share(Some(0.3))), ..mixed(Uniform) },
    ];
    let hot = Pattern::HotZones(Vec::new());
    let zipf = Pattern::Zipf { theta: None };
    streams.extend([Pattern::SEQUENTIAL, Permutation, Uniform, zipf, hot].map(mixed));
    streams
}

#[test]
fn only_what_was_written_is_read_in_the_order_of_the_writes() {
    let bounds = [
        operations(500),
        operations(1),
        Until { bytes: Some(Size(MIB)), ..Until::default() },
        Until { bytes: Some(Size(3 * MIB)), operations: Some(700), ..Until::default() },
    ];
    for stream in mixes() {
        for until in &bounds {
            let written = done(until, stream.clone());
            let read = done(until, back(&stream));
            for worker in 0..stream.workers {
                let wanted = places(written.ops_of(worker), Action::Write);
                let found = read.ops_of(worker);
                assert!(found.iter().all(|op| op.action == Action::Read));
                assert_eq!(places(found, Action::Read), wanted, "{stream:?} {until:?}");
            }
        }
    }
}

#[test]
fn what_time_ended_is_read_back_as_far_as_each_worker_came() {
    let alone = mixes().into_iter().map(|stream| Stream { mix: Mix::WRITE, ..stream });
    for stream in mixes().into_iter().chain(alone) {
        // The second half of the file is slow, so that workers come to different ends.
        let drive = |now: Time, op: &DataOp, _: &mut [u8]| {
            (now + if op.offset > MIB / 2 { 5000 } else { 1000 }, Ok(op.len))
        };
        let written = run(drivers(&step(elapsed(700_000), vec![stream.clone()]), MIB), drive);
        let reads = match stream.mix == Mix::WRITE {
            true => Stream { mix: Mix::READ, ..stream.clone() },
            false => back(&stream),
        };
        let until = Until { issued_by: Some(0), ..elapsed(700_000_000) };
        let mut readers = drivers(&step(until, vec![reads]), MIB);
        for (reader, finished) in readers.iter_mut().zip(&written.finished) {
            assert_eq!(reader.setup().worker, finished.phase.worker);
            reader.issue_at_most(finished.phase.issued).unwrap();
        }
        let read = run(readers, drive);
        for worker in 0..stream.workers {
            let wanted = places(written.ops_of(worker), Action::Write);
            assert!(wanted.len() > 20, "{stream:?}");
            assert_eq!(places(read.ops_of(worker), Action::Read), wanted, "{stream:?}");
        }
    }
}

/// Loses every 50th write.
struct Forgetful {
    memory: Memory,
    writes: u64,
    forgets: bool,
}

impl Drive for Forgetful {
    fn serve(
        &mut self,
        now: Time,
        op: &DataOp,
        buffer: &mut [u8],
    ) -> (Time, Result<u32, drivelab_core::op::Errno>) {
        self.writes += u64::from(op.action == Action::Write);
        let is_lost = op.action == Action::Write && self.writes.is_multiple_of(50);
        match is_lost && self.forgets {
            true => (now + 1000, Ok(op.len)),
            false => self.memory.serve(now, op, buffer),
        }
    }
}

#[test]
fn lost_writes_of_a_mix_are_found_and_nothing_else_is_complained_of() {
    for (pattern, forgets) in
        [(Pattern::Permutation, false), (Pattern::Uniform, false), (Pattern::Permutation, true)]
    {
        let stream = Stream { stamp: true, depth: 4, ..mixed(pattern.clone()) };
        let verify = Stream { stamp: false, verify: true, ..back(&stream) };
        let bytes = Until { bytes: Some(Size(MIB)), ..Until::default() };
        let memory = Memory(vec![0; MIB as usize]);
        let mut drive = Forgetful { memory, writes: 0, forgets };
        let serve = |drive: &mut Forgetful, step: &Step| {
            run(drivers(step, MIB), |now: Time, op: &DataOp, buffer: &mut [u8]| {
                drive.serve(now, op, buffer)
            })
        };
        let written = serve(&mut drive, &step(bytes.clone(), vec![stream]));
        let read = serve(&mut drive, &step(bytes, vec![verify]));
        let all = read.sink.measured();
        let writes = written.sink.ops(Action::Write);
        assert!((40..120).contains(&writes), "{writes}");
        assert_eq!(all.verified, writes);
        assert_eq!(all.mismatched, if forgets { writes / 50 } else { 0 }, "{pattern:?}");
    }
}

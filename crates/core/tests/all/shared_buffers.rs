//! Reads and writes share buffers: what is written holds what the stream says, and not what was
//! read before.

use crate::support::{Drive, Memory, drivers, operations, run, step, writes};
use drivelab_core::content;
use drivelab_core::op::{Action, DataOp};
use drivelab_core::plan::{Content, Data, Mix, Pattern, Stream};

const BYTES: usize = 1 << 20;

/// What blocks hold that a mix has written where every byte was `before`.
fn written(stream: Stream, before: u8) -> Vec<Vec<u8>> {
    let mut memory = Memory(vec![before; BYTES]);
    let mix = Mix { read: 80, write: 20, trim: 0 };
    let stream = Stream { mix, depth: 4, ..stream };
    let mut places = Vec::new();
    run(
        drivers(&step(operations(1000), vec![stream]), BYTES as u64),
        |now, op: &DataOp, buffer: &mut [u8]| {
            if op.action == Action::Write {
                places.push(op.offset as usize);
            }
            memory.serve(now, op, buffer)
        },
    );
    places.sort_unstable();
    places.dedup();
    assert!(places.len() > 50, "{} writes", places.len());
    places.into_iter().map(|at| memory.0[at..at + 4096].to_vec()).collect()
}

fn zeros(block: &[u8]) -> usize {
    block.iter().filter(|byte| **byte == 0).count()
}

#[test]
fn a_mix_writes_what_it_says_whatever_it_reads() {
    let of = |content| Stream { content, ..writes(Pattern::Uniform) };
    for block in written(of(Content::Random), 0) {
        assert!(zeros(&block) < 60, "random bytes, not zeros that were read");
    }
    for block in written(of(Content::Zero), 7) {
        assert_eq!(zeros(&block), 4096);
    }
    for block in written(of(Content::Compressible(50)), 7) {
        assert!((2048..2100).contains(&zeros(&block)), "{}", zeros(&block));
    }
    for block in written(of(Content::Counting(3)), 7) {
        assert_eq!(
            content::check_counting((3, 0), &block, |at, fault| panic!("{at} {fault:?}")),
            1
        );
    }
    let data = Some(Data { hex: b"abc".to_vec(), ..Data::default() });
    for block in written(Stream { data, ..writes(Pattern::Uniform) }, 7) {
        assert_eq!(&block[..4], b"abca");
    }
    for block in written(Stream { stamp: true, ..of(Content::Random) }, 0) {
        assert!(zeros(&block) < 90, "{}", zeros(&block));
    }
}

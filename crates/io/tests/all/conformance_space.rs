//! The engines that change a file and move no data.

use crate::conformance_support::*;
use drivelab_core::op::Action;
use drivelab_core::plan::{Engine, IoMode, Mix, Pattern, Stream};
use drivelab_core::queue::Testbed;
use drivelab_core::units::{Size, Span};
use std::os::unix::fs::MetadataExt;

const BYTES: u64 = 1 << 20;

fn stream(engine: Engine, mix: Mix) -> Stream {
    let (io, pattern) = (IoMode::Buffered, Pattern::Permutation);
    Stream { engine, io, mix, pattern, size: Size(4096), ..Stream::default() }
}

#[test]
fn room_is_set_aside_and_given_back_and_the_end_moves() {
    let directory = tempfile::tempdir().unwrap();
    let path = directory.path().join("f");
    let file = std::fs::File::create(&path).unwrap();
    file.set_len(BYTES).unwrap();
    let pass = |engine, mix| {
        let drivers = drivers(stream(engine, mix), passes(1), Span(100_000_000), BYTES);
        let mut sum = Sum::default();
        let finished = testbed(&path, false, Some(BYTES)).run(drivers, &mut sum).unwrap();
        assert_eq!(finished[0].driver.failure(), None, "{engine:?} {mix:?}");
        let kind = [(mix.read, Action::Read), (mix.write, Action::Write), (mix.trim, Action::Trim)];
        let kind = kind.into_iter().find(|(weight, _)| *weight > 0).unwrap().1;
        assert_eq!(sum.ops(kind), BYTES / 4096, "{engine:?} {mix:?}");
        let found = std::fs::metadata(&path).unwrap();
        (found.len(), found.blocks() * 512)
    };
    let trim = Mix { read: 0, write: 0, trim: 100 };
    for mix in [Mix::READ, Mix::WRITE] {
        let (length, blocks) = pass(Engine::Falloc, mix);
        assert!((length, blocks >= BYTES) == (BYTES, true), "{mix:?}: {blocks}");
        let (length, blocks) = pass(Engine::Falloc, trim);
        assert!((length, blocks < BYTES / 4) == (BYTES, true), "{mix:?}: {blocks}");
    }
    // Only writes let a file grow.
    file.set_len(0).unwrap();
    assert_eq!(pass(Engine::Falloc, Mix::READ).0, 0);
    assert_eq!(pass(Engine::Falloc, Mix::WRITE).0, BYTES);
    let (length, _) = pass(Engine::Ftruncate, Mix::WRITE);
    assert!(length < BYTES && length.is_multiple_of(4096), "{length}");
}

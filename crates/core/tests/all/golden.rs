//! Same seed, same operations and due times, for ever: the first thousand of each pattern.
//!
//! `UPDATE_GOLDEN=1 cargo test -p drivelab-core --test all golden` rewrites the files; a change
//! there means that stored plans no longer reproduce their runs.

use crate::support::*;
use drivelab_core::op::Action;
use drivelab_core::op::Op;
use drivelab_core::plan::{
    Arrival, Files, Jump, Mix, Names, Pattern, Reply, Sequence, Sharing, Stream, WeightedSize, Zone,
};
use drivelab_core::units::Size;
use std::fmt::Write;

const COUNT: u64 = 1000;
const FILE_BYTES: u64 = 64 * MIB + 4096;

fn golden_path(name: &str) -> std::path::PathBuf {
    std::path::Path::new(env!("CARGO_MANIFEST_DIR")).join("tests/golden").join(name)
}

fn compare(name: &str, text: &str) {
    let path = golden_path(name);
    if std::env::var_os("UPDATE_GOLDEN").is_some() {
        assert!(std::env::var_os("CI").is_none(), "golden files are not rewritten in CI");
        std::fs::write(&path, text).unwrap();
        return;
    }
    let stored = std::fs::read_to_string(&path)
        .unwrap_or_else(|error| panic!("{}: {error}", path.display()));
    for (number, (now, then)) in (1..).zip(text.lines().zip(stored.lines())) {
        assert_eq!(now, then, "{name}, line {number}");
    }
    assert_eq!(text.len(), stored.len(), "{name}");
}

/// Sixteen operations a line: first letter of the action, offset, and the length where it changed.
fn op_text(ops: &[Op]) -> String {
    let (mut text, mut len) = (String::new(), 0);
    for (index, op) in ops.iter().enumerate() {
        text.push_str(&op.action().word()[..1]);
        match op {
            Op::Name(op) => {
                let _ =
                    write!(text, "{}/{}.{}", op.pass, op.name(), u32::from(op.is_second_form()));
            }
            Op::Data(op) => {
                let _ = write!(text, "{}", op.offset);
                if op.len != len {
                    let _ = write!(text, "+{}", op.len);
                    len = op.len;
                }
            }
        }
        text.push(if index % 16 == 15 { '\n' } else { ' ' });
    }
    text.truncate(text.trim_end().len());
    text.push('\n');
    text
}

/// The first thousand operations of each worker.
fn check_ops(name: &str, stream: Stream) {
    let until = operations(COUNT * u64::from(stream.workers));
    let workers = stream.workers;
    let outcome = run(drivers(&step(until, vec![stream]), FILE_BYTES), constant(MICROSECOND));
    let mut text = String::new();
    for worker in 0..workers {
        let ops: Vec<Op> = match outcome.names.is_empty() {
            true => outcome.ops_of(worker).into_iter().map(Op::Data).collect(),
            false => outcome.names.iter().copied().map(Op::Name).collect(),
        };
        assert_eq!(ops.len() as u64, COUNT);
        let _ = writeln!(text, "worker {worker}");
        text.push_str(&op_text(&ops));
    }
    compare(&format!("{name}.txt"), &text);
}

#[test]
fn strides() {
    let strided = |stride, blocks: u64| Stream {
        length: Some(Size(blocks * 4096)),
        ..reads(Pattern::Sequential(Sequence { stride: Some(stride), ..Sequence::default() }))
    };
    check_ops("sequential", reads(Pattern::SEQUENTIAL));
    check_ops("sequential-3-workers", Stream { workers: 3, ..reads(Pattern::SEQUENTIAL) });
    check_ops("backward", strided(-1, 300));
    check_ops("in-place", strided(0, 300));
    check_ops("stride-17", strided(17, 300));
    check_ops("stride-minus-17", strided(-17, 300));
}

#[test]
fn random_orders() {
    check_ops("uniform", Stream { workers: 2, ..reads(Pattern::Uniform) });
    let permutation = Stream { workers: 3, ..writes(Pattern::Permutation) };
    check_ops("permutation-shared", permutation.clone());
    let disjoint = Stream { regions: Some(Sharing::Disjoint), ..permutation };
    check_ops("permutation-disjoint", disjoint);
    let semi_random = Stream { ..reads(Pattern::SemiRandom(Jump::Share(Some(0.3)))) };
    check_ops("semi-random", semi_random);
}

#[test]
fn skewed_popularity() {
    for (name, theta) in [("zipf-0.5", 0.5), ("zipf-1", 1.0), ("zipf-1.2", 1.2)] {
        check_ops(name, Stream { workers: 2, ..reads(Pattern::Zipf { theta: Some(theta) }) });
    }
    let zones =
        vec![Zone { addresses: 0.1, accesses: 0.6 }, Zone { addresses: 0.4, accesses: 0.3 }];
    check_ops("hot-zones", Stream { ..reads(Pattern::HotZones(zones)) });
}

#[test]
fn layouts_and_lists() {
    let segments = Stream {
        workers: 3,
        ..writes(Pattern::Segments { block: Size(16 * KIB), segments: Some(100) })
    };
    check_ops("segments-shared-file", segments.clone());
    check_ops("segments-file-each", Stream { files: Files::Each, ..segments });
    let offsets = (0..777).map(|index| Size(index * index % 16_000 * 4096)).collect();
    check_ops("replay", Stream { workers: 2, ..reads(Pattern::Replay(offsets)) });
}

#[test]
fn names() {
    use Action::{Create, Open, Rename, Stat, Unlink, Utime};
    let stream = Stream {
        ..reads(Pattern::Names(Names {
            actions: vec![Create, Open, Stat, Utime, Rename, Unlink],
            names: Some(50),
            ..Names::default()
        }))
    };
    check_ops("names", stream);
}

#[test]
fn sizes_kinds_and_grids() {
    let weighted = |size, weight| WeightedSize { size: Size(size), weight, kind: None };
    let sizes = vec![weighted(512, 1), weighted(4096, 6), weighted(131_072, 3)];
    let mix = Mix { read: 70, write: 25, trim: 5 };
    let uniform = Stream { sizes: sizes.clone(), mix, ..reads(Pattern::Uniform) };
    check_ops("mixed-uniform", uniform);
    let sequential = Stream { sizes, mix, workers: 2, ..reads(Pattern::SEQUENTIAL) };
    check_ops("mixed-sequential", sequential);
    let shifted = Stream {
        align: Some(Size(16 * KIB)),
        shift: Size(512),
        offset: Size(MIB),
        length: Some(Size(32 * MIB)),
        ..reads(Pattern::Uniform)
    };
    check_ops("align-shift-uniform", shifted.clone());
    check_ops("align-shift-sequential", Stream { pattern: Pattern::SEQUENTIAL, ..shifted });
}

#[test]
fn replies() {
    let stream = Stream { length: Some(Size(100 * 4096)), ..reads(Pattern::Uniform) };
    check_ops("reply-same", Stream { reply: Some(Reply::Same), ..stream.clone() });
    check_ops("reply-next", Stream { reply: Some(Reply::Next), depth: 3, ..stream.clone() });
    let next = Stream { reply: Some(Reply::Next), ..stream };
    check_ops("reply-longer", Stream { reply_size: Some(Size(64 * KIB)), ..next.clone() });
    check_ops("reply-after", Stream { reply_after: Some(4), depth: 2, ..next });
}

/// The first thousand due times of each worker, in nanoseconds after the step began.
fn check_arrivals(name: &str, rate: f64, poisson: bool, workers: u32) {
    let stream = Stream {
        workers,
        depth: 64,
        arrival: Arrival::Open { rate, poisson },
        ..reads(Pattern::Uniform)
    };
    let until = operations(COUNT * u64::from(workers));
    let outcome = run(drivers(&step(until, vec![stream]), FILE_BYTES), constant(MICROSECOND));
    let mut text = String::new();
    for worker in 0..workers {
        let _ = writeln!(text, "worker {worker}");
        let mine = outcome.issues.iter().filter(|issue| issue.worker == worker);
        for (index, issue) in mine.enumerate() {
            let end = if index % 10 == 9 { '\n' } else { ' ' };
            let _ = write!(text, "{}{end}", issue.at);
        }
    }
    compare(&format!("{name}.txt"), &text);
}

#[test]
fn arrivals() {
    check_arrivals("arrivals-fixed", 3000.0, false, 1);
    check_arrivals("arrivals-fixed-3-workers", 1000.0, false, 3);
    check_arrivals("arrivals-poisson", 3000.0, true, 1);
    check_arrivals("arrivals-poisson-3-workers", 1000.0, true, 3);
}

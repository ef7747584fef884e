//! Document 002: a PBlaze5 C916 behind XFS.

use super::Published::Over;
use super::Tolerance::Share;
use super::{Document, Load, Role, predicted};
use crate::load::{Bench, KIB, random, virtual_seconds};
use drivelab_core::plan::{Mix, Stream};

pub const DOCUMENT: Document = Document {
    name: "002",
    title: "XFS as an example: what to mind when an NVMe SSD is tested (PBlaze5 C916, 3.2 TB)",
    left_out: "sequential 128 KiB and XFS against the raw drive: charts without numbers",
    loads: &[READS, WRITES],
};

const READS: Load = Load {
    profile: "pblaze5-c916",
    state: "random-filled",
    state_source: "three hours of random writes first",
    load: "random 4 KiB reads, eight workers of depth 64",
    figures: &[predicted("4K, last sentence", "reads/s", Over(850e3), Share(0.1))
        .of_role(Role::Fitted("read_ns"))],
    measure: |target| eight_of_64(&mut Bench::of(target)?, Mix::READ, 1),
};

/// The placed state owes nothing; a drive that has written for hours does, up to what its free
/// blocks allow. Ten seconds bring that about and are not counted.
const WRITES: Load = Load {
    profile: "pblaze5-c916",
    state: "steady",
    state_source: "\"the steady state\"",
    load: "random 4 KiB writes, eight workers of depth 64, after ten seconds of them",
    figures: &[predicted("4K, last sentence", "writes/s", Over(200e3), Share(0.1))
        .of_role(Role::Fitted("program_ns"))
        .expecting(
            200e3,
            500e3,
            "about 64 TLC dies of 57 MB/s each give 3.6 GB/s of programs, by an amplification of \
             about 2 and the copies' reads",
        )],
    measure: |target| {
        let mut bench = Bench::of(target)?;
        eight_of_64(&mut bench, Mix::WRITE, 10)?;
        eight_of_64(&mut bench, Mix::WRITE, 20)
    },
};

fn eight_of_64(bench: &mut Bench, mix: Mix, seconds: u64) -> Result<Vec<f64>, String> {
    let stream = Stream { workers: 8, ..random(mix, 4 * KIB, 64) };
    Ok(vec![bench.run(stream, virtual_seconds(seconds))?.iops()])
}

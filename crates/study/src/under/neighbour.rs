//! What else uses the drive: models of loads, each at a fixed rate, and where their numbers come
//! from.

use crate::experiment::{Setting, loads};
use drivelab_core::plan::{Arrival, Mix, Pattern, Stream, Sync};
use drivelab_core::study::Neighbour;
use drivelab_core::units::Size;

/// The stream that is measured.
pub const MEASURED: &str = "measured";
/// The neighbour's streams.
pub const PAGES: &str = "pages";
pub const LOG: &str = "log";

/// Bytes of a page of InnoDB, and of what a commit appends to its log: a block of a file system.
const PAGE_BYTES: u64 = 16 << 10;
const LOG_BYTES: u64 = 4 << 10;
/// `oltp_read_write` of sysbench: 10 point selects and 4 of ranges, 2 updates, a delete and an
/// insert, then a commit.
const READS: u32 = 14;
const WRITES: u32 = 4;
const COMMITS: u32 = 1;
/// A commit of a table that is loaded, by pages: one for each MiB.
const PAGES_PER_COMMIT: u32 = 64;
/// Operations of the neighbour that may wait at a time.
const DEPTH: u32 = 64;
/// A part of the log's own; it goes round.
const LOG_REGION: u64 = 8 << 20;

/// What it asks for in operations a second, where nobody says another rate.
pub fn rate(setting: &Setting<'_>) -> f64 {
    let own = match setting.options.under.load {
        Neighbour::Oltp => 500,
        Neighbour::Import => 1000,
    };
    f64::from(setting.options.under.rate.unwrap_or(own))
}

/// What it is, and where its numbers come from.
pub fn source(load: Neighbour) -> &'static str {
    match load {
        Neighbour::Oltp => {
            "oltp: 16 KiB pages at random, 14 reads to 4 writes, and a sequential 4 KiB write with \
             fdatasync for each 18 of them, at random times. Reads and writes: statements of a \
             transaction of sysbench's oltp_read_write; page and commit: defaults of InnoDB; that \
             no page is found in memory, and the rate: our choice"
        }
        Neighbour::Import => {
            "import: 16 KiB pages written sequentially, and a sequential 4 KiB write with \
             fdatasync for each 64 of them, at random times. Page and order: InnoDB, which fills \
             the pages of a table that is loaded by its key one after the other; the commits and \
             the rate: our choice"
        }
    }
}

/// Bytes that one of its streams asks to write in a second.
pub fn written_per_s(stream: &Stream) -> f64 {
    let Arrival::Open { rate, .. } = stream.arrival else { return 0.0 };
    rate * stream.size.0 as f64 * f64::from(stream.mix.write) / stream.mix.total() as f64
}

/// Its streams, from `offset` on.
pub fn streams(setting: &Setting<'_>, offset: u64, length: u64) -> Vec<Stream> {
    let log_bytes = LOG_REGION.min(length / 2) / PAGE_BYTES * PAGE_BYTES;
    let (mix, pattern, commits) = match setting.options.under.load {
        Neighbour::Oltp => (
            Mix { read: READS, write: WRITES, trim: 0 },
            Pattern::Uniform,
            f64::from(COMMITS) / f64::from(READS + WRITES + COMMITS),
        ),
        Neighbour::Import => {
            (Mix::WRITE, Pattern::SEQUENTIAL, 1.0 / f64::from(PAGES_PER_COMMIT + 1))
        }
    };
    let rate = rate(setting);
    let open = |rate: f64| Arrival::Open { rate, poisson: true };
    let base = || loads::deep(loads::base(setting), DEPTH);
    vec![
        Stream {
            name: PAGES.into(),
            mix,
            pattern,
            size: Size(PAGE_BYTES),
            offset: Size(offset),
            length: Some(Size((length - log_bytes) / PAGE_BYTES * PAGE_BYTES)),
            arrival: open(rate * (1.0 - commits)),
            ..base()
        },
        Stream {
            name: LOG.into(),
            mix: Mix::WRITE,
            pattern: Pattern::SEQUENTIAL,
            size: Size(LOG_BYTES),
            sync: Sync::Fdatasync(1),
            offset: Size(offset + length - log_bytes),
            length: Some(Size(log_bytes)),
            arrival: open(rate * commits),
            ..base()
        },
    ]
}

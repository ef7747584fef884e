//! Document 003: AnandTech of 8 September 2008, and its translation.

use super::Published::{Over, Value};
use super::Tolerance::{Factor, Order, Share};
use super::{Document, Figure, Load, Role, predicted};
use crate::load::{Bench, KIB, operations, random, sequential, virtual_seconds};
use crate::measures::{latency_ms, mostly_sequential};
use drivelab_core::plan::{Jump, Mix, Pattern, Stream};
use drivelab_core::units::Size;

pub const DOCUMENT: Document = Document {
    name: "003",
    title: "why MLC drives stutter (AnandTech, 8 September 2008, page 8; translation by IT168)",
    left_out: "\"26 times\", \"25.9 times\" and \"2700 times\" are quotients of the table; PCMark \
               and SYSmark are whole machines",
    loads: &[
        OCZ,
        SAMSUNG,
        INTEL,
        DISK,
        OCZ_ORDER,
        OCZ_MOSTLY,
        SAMSUNG_MOSTLY,
        OCZ_SIZES,
        OCZ_FOUR,
        OCZ_DEEP,
        OCZ_BESIDE,
    ],
};

const TABLE: &str = "first table (AnandTech, page 8)";
const NOT_SAID: &str = "not said";
const RANDOM_WRITES: &str = "random 4 KiB writes, depth 1, three minutes";
/// MB/s is IOPS times 4 KiB; the mean is the reciprocal of the rate at depth 1.
const OF_THE_RATE: Role = Role::Restates("the rate");

/// A row of the table: IOPS, MiB/s, mean and longest ms.
const fn row(iops: f64, mib: f64, mean: f64, longest: f64, by: &'static str) -> [Figure; 4] {
    [
        predicted(TABLE, "IOPS", Value(iops), Share(0.1)).of_role(Role::Fitted(by)),
        predicted(TABLE, "MiB/s", Value(mib), Share(0.1)).of_role(OF_THE_RATE),
        predicted(TABLE, "mean ms", Value(mean), Share(0.1)).of_role(OF_THE_RATE),
        predicted(TABLE, "longest ms", Value(longest), Factor(2.0)),
    ]
}

const fn random_writes(
    profile: &'static str,
    state: &'static str,
    state_source: &'static str,
    figures: &'static [Figure],
) -> Load {
    Load { profile, state, state_source, load: RANDOM_WRITES, figures, measure: three_minutes }
}

const OCZ_ROW: [Figure; 4] = {
    let [iops, mib, mean, longest] = row(4.06, 0.016, 244.0, 991.0, "program_ns");
    [iops, mib, mean, longest.of_role(Role::Fitted("block_dies"))]
};
const OCZ: Load = random_writes("ocz-core", "fragmented", NOT_SAID, &OCZ_ROW);
const SAMSUNG: Load = random_writes(
    "samsung-slc",
    "fragmented",
    NOT_SAID,
    &row(109.0, 0.43, 9.17, 83.2, "log_blocks"),
);
const INTEL: Load = random_writes(
    "x25-m",
    "fragmented",
    "\"full\" in the source",
    &row(11_171.0, 43.6, 0.089, 94.2, "channel_bytes_per_s"),
);
const DISK: Load =
    random_writes("momentus-7200", "", "", &row(106.9, 0.42, 9.4, 76.5, "write_cache_runs"));

const OCZ_ORDER: Load = Load {
    profile: "ocz-core",
    state: "fragmented",
    state_source: NOT_SAID,
    load: "sequential 4 KiB writes, depth 1, after a minute of the same",
    figures: &[predicted("by share of sequence", "mean ms", Value(0.36), Share(0.1))
        .of_role(Role::Fitted("command_ns"))],
    measure: |target| {
        let mut bench = Bench::of(target)?;
        // What was written before still fills the log, and must be merged first.
        let stream =
            |first: u64| Stream { offset: Size(first), ..sequential(Mix::WRITE, 4 * KIB, 1) };
        let before = bench.run(stream(0), virtual_seconds(60))?;
        let after = bench.run(stream(before.bytes), virtual_seconds(60))?;
        Ok(vec![latency_ms(&after)?])
    },
};

const MOSTLY: &str = "4 KiB writes, 90 % sequential, depth 1";

const OCZ_MOSTLY: Load = Load {
    profile: "ocz-core",
    state: "fragmented",
    state_source: NOT_SAID,
    load: MOSTLY,
    figures: &[
        predicted("by share of sequence", "mean ms", Value(25.8), Share(0.1)).expecting(
            22.5,
            28.0,
            "each random write costs one full merge and 3 ms for the log block that the \
             sequential stream loses, the others 0.36 ms",
        ),
        predicted("by share of sequence", "longest ms", Value(983.0), Factor(2.0)).expecting(
            700.0,
            1000.0,
            "the buffer is written in groups of four, each of which may merge",
        ),
    ],
    measure: |target| {
        let mut bench = Bench::of(target)?;
        let stream = mostly_sequential(bench.bytes(), 20_000);
        let outcome = bench.run(stream, operations(20_000))?;
        Ok(vec![latency_ms(&outcome)?, outcome.all.max() as f64 / 1e6])
    },
};

const SAMSUNG_MOSTLY: Load = Load {
    profile: "samsung-slc",
    state: "fragmented",
    state_source: NOT_SAID,
    load: MOSTLY,
    figures: &[predicted("by share of sequence, \"13 times\"", "mean ms", Value(1.98), Share(0.1))
        .expecting(
            1.5,
            2.4,
            "as Iometer, going on behind each random place: ten writes of a run touch 2.1 rows of \
         eight pages, and each row costs as much of the log as a random write; rows of one block \
         are merged together, hence less",
        )],
    measure: |target| {
        let pattern = Pattern::SemiRandom(Jump::Share(Some(0.1)));
        let stream = Stream { pattern, ..random(Mix::WRITE, 4 * KIB, 1) };
        Ok(vec![latency_ms(&Bench::of(target)?.run(stream, operations(50_000))?)?])
    },
};

const SIZES_WHY: &str = "one merge a request whatever its size, and up to 8 ms of programs";

const fn flat(what: &'static str) -> Figure {
    predicted("by size, \"whatever the size\"", what, Value(1.0), Share(0.1))
        .expecting(0.95, 1.15, SIZES_WHY)
}

const OCZ_SIZES: Load = Load {
    profile: "ocz-core",
    state: "fragmented",
    state_source: NOT_SAID,
    load: "random writes, depth 1, mean by that of 4 KiB",
    figures: &[
        flat("8 KiB"),
        flat("16 KiB"),
        flat("32 KiB"),
        flat("64 KiB"),
        flat("128 KiB"),
        predicted("by size", "128 KiB by the longest mean of the others", Over(1.0), Order),
    ],
    measure: |target| {
        let mean = |size: u64| {
            let mut bench = Bench::of(target)?;
            latency_ms(&bench.run(random(Mix::WRITE, size * KIB, 1), operations(2_000))?)
        };
        let single = mean(4)?;
        let sizes = [8, 16, 32, 64, 128];
        let ratios: Result<Vec<f64>, String> =
            sizes.into_iter().map(|size| Ok(mean(size)? / single)).collect();
        let mut ratios = ratios?;
        let longest = ratios[..4].iter().copied().fold(1.0, f64::max);
        ratios.push(ratios[4] / longest);
        Ok(ratios)
    },
};

const OCZ_FOUR: Load = Load {
    profile: "ocz-core",
    state: "fragmented",
    state_source: NOT_SAID,
    load: "random 4 KiB writes, depth 4",
    figures: &[predicted("by depth", "longest s", Over(2.0), Order).expecting(
        2.0,
        4.0,
        "a round of eight writes is two flushes of four merges; what just missed its turn waits \
         for one more",
    )],
    measure: |target| {
        let mut bench = Bench::of(target)?;
        let outcome = bench.run(random(Mix::WRITE, 4 * KIB, 4), virtual_seconds(180))?;
        Ok(vec![outcome.all.max() as f64 / 1e9])
    },
};

const OCZ_DEEP: Load = Load {
    profile: "ocz-core",
    state: "fragmented",
    state_source: NOT_SAID,
    load: "random 4 KiB writes, depth 64",
    figures: &[
        predicted("by depth", "mean s", Value(15.0), Share(0.1)).expecting(
            14.2,
            17.4,
            "Little's law: 64 times the latency at depth 1",
        ),
        predicted("by depth", "longest s", Value(30.0), Factor(2.0)).expecting(
            28.0,
            38.0,
            "the host hands over by address: what waits longest waits a whole round, which is \
             twice the mean, and a tenth more or two by chance",
        ),
    ],
    measure: |target| {
        let mut bench = Bench::of(target)?;
        let outcome = bench.run(random(Mix::WRITE, 4 * KIB, 64), operations(3_000))?;
        Ok(vec![latency_ms(&outcome)? / 1e3, outcome.all.max() as f64 / 1e9])
    },
};

const OCZ_BESIDE: Load = Load {
    profile: "ocz-core",
    state: "fragmented",
    state_source: NOT_SAID,
    load: "random 4 KiB reads with random 4 KiB writes, depth 1 each, three minutes",
    figures: &[predicted("last paragraph", "longest read ms", Value(250.0), Factor(2.0))],
    measure: |target| {
        let streams = [Mix::READ, Mix::WRITE].map(|mix| random(mix, 4 * KIB, 1));
        let outcome = Bench::of(target)?.run_together(streams.to_vec(), virtual_seconds(180))?;
        Ok(vec![outcome.reads.max() as f64 / 1e6])
    },
};

/// Rate, bandwidth, mean and longest of random writes over the time that was measured.
fn three_minutes(target: &str) -> Result<Vec<f64>, String> {
    let mut bench = Bench::of(target)?;
    let outcome = bench.run(random(Mix::WRITE, 4 * KIB, 1), virtual_seconds(180))?;
    let longest_ms = outcome.all.max() as f64 / 1e6;
    let mib = outcome.iops() / 256.0;
    Ok(vec![outcome.iops(), mib, latency_ms(&outcome)?, longest_ms])
}

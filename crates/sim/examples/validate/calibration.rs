//! The rows that profiles may be tuned on.

use crate::load::{Bench, KIB, MIB, random, sequential, virtual_seconds};
use crate::measures::{fill_rates, latency_ms, mib_per_s};
use crate::page::{Table, difference, number};
use crate::rows::{Group, Score, Verdict, written};
use drivelab_core::plan::{Mix, Stream};
use drivelab_core::units::Size;

/// How near is near enough.
enum Tolerance {
    /// This share, either way.
    Within(f64),
    /// This factor, either way.
    Factor(f64),
}

struct Figure {
    what: &'static str,
    published: f64,
    tolerance: Tolerance,
}

impl Figure {
    fn is_met(&self, found: f64) -> bool {
        match self.tolerance {
            Tolerance::Within(share) => (found / self.published - 1.0).abs() <= share,
            Tolerance::Factor(factor) => {
                found <= self.published * factor && found >= self.published / factor
            }
        }
    }

    fn published(&self) -> String {
        written(self.published)
    }

    fn tolerance(&self) -> String {
        match self.tolerance {
            Tolerance::Within(share) => format!("{:.0} %", 100.0 * share),
            Tolerance::Factor(factor) => format!("factor {factor}"),
        }
    }
}

const fn within(what: &'static str, published: f64, share: f64) -> Figure {
    Figure { what, published, tolerance: Tolerance::Within(share) }
}

const RANDOM_WRITES: &str = "random 4 KiB writes, depth 1, three minutes";

const GROUPS: &[Group<Figure>] = &[
    Group {
        profile: "ocz-core",
        load: RANDOM_WRITES,
        figures: &[
            within("IOPS", 4.06, 0.1),
            within("mean ms", 244.0, 0.1),
            within("longest ms", 991.0, 0.1),
        ],
        measure: || three_minutes("ocz-core,state=fragmented"),
    },
    Group {
        profile: "ocz-core",
        load: "sequential 4 KiB writes, depth 1, after a minute of the same",
        figures: &[within("mean ms", 0.36, 0.1)],
        measure: || {
            let mut bench = Bench::of("ocz-core,state=fragmented")?;
            // What was written before still fills the log, and must be merged first.
            let stream =
                |first: u64| Stream { offset: Size(first), ..sequential(Mix::WRITE, 4 * KIB, 1) };
            let before = bench.run(stream(0), virtual_seconds(60))?;
            let after = bench.run(stream(before.bytes), virtual_seconds(60))?;
            Ok(vec![latency_ms(&after)?])
        },
    },
    Group {
        profile: "samsung-slc",
        load: RANDOM_WRITES,
        figures: &[
            within("IOPS", 109.0, 0.1),
            within("mean ms", 9.17, 0.1),
            within("longest ms", 83.2, 0.1),
        ],
        measure: || three_minutes("samsung-slc,state=fragmented"),
    },
    Group {
        profile: "x25-m",
        load: RANDOM_WRITES,
        figures: &[
            within("IOPS", 11_171.0, 0.1),
            within("mean ms", 0.089, 0.1),
            Figure { what: "longest ms", published: 94.2, tolerance: Tolerance::Factor(2.0) },
        ],
        measure: || three_minutes("x25-m,state=fragmented"),
    },
    Group {
        profile: "momentus-7200",
        load: RANDOM_WRITES,
        figures: &[
            within("IOPS", 106.9, 0.1),
            within("mean ms", 9.4, 0.1),
            within("longest ms", 76.5, 0.1),
        ],
        measure: || three_minutes("momentus-7200"),
    },
    Group {
        profile: "x25-e",
        load: "sequential 256 KiB, four workers",
        figures: &[within("written MiB/s", 197.79, 0.03), within("read MiB/s", 241.56, 0.03)],
        measure: four_workers,
    },
    Group {
        profile: "pqi",
        load: "random 4 KiB, depth 1",
        figures: &[within("reads/s", 3360.0, 0.05), within("writes/s", 190.3, 0.05)],
        measure: || reads_and_writes("pqi,state=fragmented"),
    },
    Group {
        profile: "pqi",
        load: "random 4 KiB, 1 % writes, depth 1",
        figures: &[within("both, a second", 2441.968, 0.05)],
        measure: || {
            let mix = Mix { read: 99, write: 1, trim: 0 };
            let mut bench = Bench::of("pqi,state=fragmented")?;
            Ok(vec![bench.run(random(mix, 4 * KIB, 1), virtual_seconds(120))?.iops()])
        },
    },
    Group {
        profile: "zhou-intel",
        load: "random 4 KiB, depth 1",
        figures: &[within("reads/s", 11_753.65, 0.05), within("writes/s", 4954.68, 0.05)],
        measure: || reads_and_writes("zhou-intel,state=fragmented"),
    },
    Group {
        profile: "pblaze5-c916",
        load: "random 4 KiB reads, eight workers of depth 64 (published: over 850,000)",
        figures: &[within("reads/s", 850e3, 0.1)],
        measure: || {
            let mut bench = Bench::of("pblaze5-c916,state=filled")?;
            let stream = Stream { workers: 8, ..random(Mix::READ, 4 * KIB, 64) };
            Ok(vec![bench.run(stream, virtual_seconds(1))?.iops()])
        },
    },
    Group {
        profile: "nvme-tlc",
        load: "filled from fresh in order, 128 KiB, depth 32 (Samsung 980 Pro 1 TB)",
        figures: &[
            within("MB/s at first", 4000.0, 0.1),
            within("GB until it falls", 113.0, 0.1),
            within("MB/s then", 1500.0, 0.1),
        ],
        measure: || fill_rates("nvme-tlc", 150),
    },
    Group {
        profile: "nvme-qlc",
        load: "filled from fresh in order, 128 KiB, depth 32 (Intel 660p 1 TB)",
        figures: &[
            within("MB/s at first", 1800.0, 0.2),
            within("GB until it falls", 140.0, 0.2),
            within("MB/s then", 100.0, 0.2),
        ],
        measure: || fill_rates("nvme-qlc", 200),
    },
    Group {
        profile: "essd",
        load: "random 4 KiB, half reads, depth 64",
        figures: &[within("IOPS", 4930.0, 0.05)],
        measure: || {
            let mix = Mix { read: 50, write: 50, trim: 0 };
            let mut bench = Bench::of("essd")?;
            Ok(vec![bench.run(random(mix, 4 * KIB, 64), virtual_seconds(60))?.iops()])
        },
    },
];

/// Rate, mean and longest of random writes over the time that was measured.
fn three_minutes(target: &str) -> Result<Vec<f64>, String> {
    let mut bench = Bench::of(target)?;
    let outcome = bench.run(random(Mix::WRITE, 4 * KIB, 1), virtual_seconds(180))?;
    let longest_ms = outcome.all.max() as f64 / 1e6;
    Ok(vec![outcome.iops(), latency_ms(&outcome)?, longest_ms])
}

fn reads_and_writes(target: &str) -> Result<Vec<f64>, String> {
    [Mix::READ, Mix::WRITE]
        .map(|mix| Ok(Bench::of(target)?.run(random(mix, 4 * KIB, 1), virtual_seconds(60))?.iops()))
        .into_iter()
        .collect()
}

fn four_workers() -> Result<Vec<f64>, String> {
    let mut bench = Bench::of("x25-e,state=filled")?;
    [Mix::WRITE, Mix::READ]
        .map(|mix| {
            let workers = Stream { workers: 4, ..sequential(mix, 256 * KIB, 1) };
            let bounded = Stream { length: Some(Size(8192 * MIB)), ..workers };
            Ok(mib_per_s(&bench.run(bounded, virtual_seconds(30))?))
        })
        .into_iter()
        .collect()
}

/// The calibration rows.
pub fn section() -> Result<String, String> {
    let mut table =
        Table::new(&["profile", "load", "figure", "published", "simulated", "tolerance", "met"]);
    let mut score = Score::default();
    for group in GROUPS {
        let judge = |figure: &Figure, found: f64| Verdict {
            holds: figure.is_met(found),
            cells: vec![
                figure.what.to_owned(),
                figure.published(),
                format!("{} ({})", number(found), difference(found, figure.published)),
                figure.tolerance(),
                if figure.is_met(found) { "yes" } else { "**no**" }.to_owned(),
            ],
        };
        let absent = |figure: &Figure, error: &str| {
            vec![
                figure.what.to_owned(),
                figure.published(),
                error.to_owned(),
                figure.tolerance(),
                "unknown".to_owned(),
            ]
        };
        group.add_to(&mut table, &mut score, judge, absent);
    }
    Ok(format!(
        "### Calibration rows\n\nThe only figures that a profile may be tuned on. Met: {}, not \
         met: {}, not there: {}.\n\n{}",
        score.held,
        score.failed,
        score.absent,
        table.text()
    ))
}

//! Predictions: each band and its reason were written before the first run, and stay where they are
//! when they fail. Nothing is tuned on these figures.

use crate::load::{Bench, KIB, MIB, operations, random, sequential, virtual_seconds};
use crate::measures::{changed_by_torture, latency_ms, mib_per_s};
use crate::page::{Table, number};
use crate::rows::{Group, Score, Verdict, range};
use drivelab_core::plan::{Jump, Mix, Pattern, Stream};
use drivelab_core::units::Size;
use drivelab_stats::Random;

struct Figure {
    what: &'static str,
    /// The published figure, or the range it may lie in.
    published: (f64, f64),
    /// What was expected of the simulated drive.
    band: (f64, f64),
    why: &'static str,
}

impl Figure {
    fn is_in_band(&self, found: f64) -> bool {
        (self.band.0..=self.band.1).contains(&found)
    }

    /// The published range reaches into the band, or the other way round.
    fn is_published_in_band(&self) -> bool {
        self.published.0 <= self.band.1 && self.published.1 >= self.band.0
    }

    /// A figure that is only known to be at least so much must be reached, too.
    fn is_hit(&self, found: f64) -> bool {
        let reached = !self.published.1.is_infinite() || found >= self.published.0;
        self.is_in_band(found) && self.is_published_in_band() && reached
    }
}

const SIZES_WHY: &str = "one merge a request whatever its size, and up to 8 ms of programs";
const MIX_30: Mix = Mix { read: 70, write: 30, trim: 0 };

/// Drives whose maps hold a page each, or a block.
const FLASH: &[Group<Figure>] = &[
    Group {
        profile: "ocz-core",
        load: "4 KiB writes, 90 % sequential, depth 1",
        figures: &[
            Figure {
                what: "mean ms",
                published: (25.8, 25.8),
                band: (22.5, 28.0),
                why: "each random write costs one full merge and 3 ms for the log block that the \
                      sequential stream loses, the others 0.36 ms",
            },
            Figure {
                what: "longest ms",
                published: (983.0, 983.0),
                band: (700.0, 1000.0),
                why: "the buffer is written in groups of four, each of which may merge",
            },
        ],
        measure: || {
            let mut bench = Bench::of("ocz-core,state=fragmented")?;
            let stream = mostly_sequential(bench.bytes(), 20_000);
            let outcome = bench.run(stream, operations(20_000))?;
            Ok(vec![latency_ms(&outcome)?, outcome.all.max() as f64 / 1e6])
        },
    },
    Group {
        profile: "ocz-core",
        load: "random 4 KiB writes, depth 64",
        figures: &[
            Figure {
                what: "mean s",
                published: (15.0, 15.0),
                band: (14.2, 17.4),
                why: "Little's law: 64 times the latency at depth 1",
            },
            Figure {
                what: "longest s",
                published: (30.0, 30.0),
                band: (28.0, 38.0),
                why: "the host hands over by address: what waits longest waits a whole round, \
                      which is twice the mean, and a tenth more or two by chance",
            },
        ],
        measure: || queued("ocz-core,state=fragmented", 64),
    },
    Group {
        profile: "ocz-core",
        load: "the same with a drive that gets them in the order of arrival (host_order=in_turn)",
        figures: &[
            Figure {
                what: "mean s",
                published: (15.0, 15.0),
                band: (14.2, 17.4),
                why: "Little's law: 64 times the latency at depth 1",
            },
            Figure {
                what: "longest s",
                published: (30.0, 30.0),
                band: (16.0, 18.0),
                why: "nothing waits longer than the queue is long: expected to be missed",
            },
        ],
        measure: || queued("ocz-core,host_order=in_turn,state=fragmented", 64),
    },
    Group {
        profile: "ocz-core",
        load: "random 4 KiB writes, depth 4",
        figures: &[Figure {
            what: "longest s",
            published: (2.0, f64::INFINITY),
            band: (2.0, 4.0),
            why: "a round of eight writes is two flushes of four merges; what just missed its turn \
                  waits for one more",
        }],
        measure: || Ok(queued("ocz-core,state=fragmented", 4)?[1..].to_vec()),
    },
    Group {
        profile: "ocz-core",
        load: "random writes, depth 1, mean latency by that of 4 KiB (published: about flat)",
        figures: &[
            Figure { what: "8 KiB", published: (0.9, 1.1), band: (0.95, 1.15), why: SIZES_WHY },
            Figure { what: "16 KiB", published: (0.9, 1.1), band: (0.95, 1.15), why: SIZES_WHY },
            Figure { what: "32 KiB", published: (0.9, 1.1), band: (0.95, 1.15), why: SIZES_WHY },
            Figure { what: "64 KiB", published: (0.9, 1.1), band: (0.95, 1.15), why: SIZES_WHY },
            Figure { what: "128 KiB", published: (0.9, 1.1), band: (0.95, 1.15), why: SIZES_WHY },
        ],
        measure: || {
            let mean = |size: u64| {
                let mut bench = Bench::of("ocz-core,state=fragmented")?;
                latency_ms(&bench.run(random(Mix::WRITE, size, 1), operations(2_000))?)
            };
            let single = mean(4 * KIB)?;
            let sizes = [8, 16, 32, 64, 128];
            sizes.into_iter().map(|size| Ok(mean(size * KIB)? / single)).collect()
        },
    },
    Group {
        profile: "samsung-slc",
        load: "4 KiB writes, 90 % sequential, depth 1",
        figures: &[Figure {
            what: "mean ms",
            published: (1.98, 1.98),
            band: (1.1, 1.6),
            why: "a tenth of the random writes' cost and little for the others; published is only \
                  that the OCZ Core was 13 times slower: expected to be missed",
        }],
        measure: || {
            let mut bench = Bench::of("samsung-slc,state=fragmented")?;
            let stream = mostly_sequential(bench.bytes(), 50_000);
            Ok(vec![latency_ms(&bench.run(stream, operations(50_000))?)?])
        },
    },
    Group {
        profile: "samsung-slc",
        load: "the same, going on behind each random place as Iometer does",
        figures: &[Figure {
            what: "mean ms",
            published: (1.98, 1.98),
            band: (1.5, 2.4),
            why: "ten writes of a run touch 2.1 rows of eight pages, and each row costs as much of \
                  the log as a random write; rows of one block are merged together, hence less",
        }],
        measure: || {
            let mut bench = Bench::of("samsung-slc,state=fragmented")?;
            let pattern = Pattern::SemiRandom(Jump::Share(Some(0.1)));
            let stream = Stream { pattern, ..random(Mix::WRITE, 4 * KIB, 1) };
            Ok(vec![latency_ms(&bench.run(stream, operations(50_000))?)?])
        },
    },
    Group {
        profile: "pqi",
        load: "random 4 KiB, 10 % writes, depth 1; published is what follows if a write costs as \
               much as at 1 %",
        figures: &[Figure {
            what: "both, a second",
            published: (706.0, 706.0),
            band: (600.0, 840.0),
            why: "a write is followed by a read nine times of ten, so rows stay half empty as at \
                  1 %",
        }],
        measure: || {
            let mix = Mix { read: 90, write: 10, trim: 0 };
            let mut bench = Bench::of("pqi,state=fragmented")?;
            Ok(vec![bench.run(random(mix, 4 * KIB, 1), virtual_seconds(120))?.iops()])
        },
    },
    Group {
        profile: "pqi",
        load: "random 4 KiB, 1 % writes, depth 1, by reads alone, without rows \
               (buffer_group_bytes=4096)",
        figures: &[Figure {
            what: "share",
            published: (0.727, 0.727),
            band: (0.84, 0.87),
            why: "the sum of costs, as merges are paid in full by the write itself: expected to be \
                  missed",
        }],
        measure: || one_percent_writes("pqi,buffer_group_bytes=4096,state=fragmented"),
    },
    Group {
        profile: "zhou-intel",
        load: "random 4 KiB, 1 % writes, depth 1, by reads alone",
        figures: &[Figure {
            what: "share",
            published: (0.698, 0.698),
            band: (0.93, 0.995),
            why: "one read in a hundred waits for a program at most; the published cost of a write \
                  is 19 times its own and has no mechanism here: expected to be missed",
        }],
        measure: || one_percent_writes("zhou-intel,state=fragmented"),
    },
    Group {
        profile: "x25-m",
        load: "written in order, 128 KiB, after half a pass at random, by a drive filled in order",
        figures: &[Figure {
            what: "share of the bandwidth",
            published: (0.5, 0.5),
            band: (0.3, 0.8),
            why: "blocks that were holed by random writes are still half valid when their turn \
                  comes, and are copied once",
        }],
        measure: || {
            let write = |state: &str| {
                let mut bench = Bench::of(&format!("x25-m,state={state}"))?;
                let eighth = bench.bytes() / 8 / (128 * KIB);
                let stream = sequential(Mix::WRITE, 128 * KIB, 4);
                Ok::<f64, String>(mib_per_s(&bench.run(stream, operations(eighth))?))
            };
            Ok(vec![write("fragmented")? / write("filled")?])
        },
    },
    Group {
        profile: "x25-e",
        load: "after a torture (half a pass at random), change in %",
        figures: &[
            Figure {
                what: "random 4 MiB reads",
                published: (-15.0, -13.0),
                band: (-20.0, 0.0),
                why: "a record lies unevenly on the dies, but the link is near its limit and hides \
                      part of that",
            },
            Figure {
                what: "sequential 256 KiB reads, four workers",
                published: (-2.0, 2.0),
                band: (-6.0, 1.0),
                why: "four records in flight even out what one alone would lose; the link decides",
            },
            Figure {
                what: "random 32 KiB writes",
                published: (-10.82, -10.82),
                band: (-45.0, -3.0),
                why: "the drive filled in order still has its spare, the other must collect",
            },
            Figure {
                what: "random 32 KiB reads",
                published: (14.26, 14.26),
                band: (-10.0, 1.0),
                why: "nothing in the model makes reads faster after a torture: expected to be \
                      missed",
            },
            Figure {
                what: "sequential 256 KiB writes, four workers",
                published: (-2.0, 2.0),
                band: (-45.0, -5.0),
                why: "holed blocks are copied once while they are overwritten: expected to be \
                      missed",
            },
        ],
        measure: || {
            let four = |mix| Stream { workers: 4, ..sequential(mix, 256 * KIB, 1) };
            [
                random(Mix::READ, 4 * MIB, 1),
                four(Mix::READ),
                random(Mix::WRITE, 32 * KIB, 1),
                random(Mix::READ, 32 * KIB, 1),
                four(Mix::WRITE),
            ]
            .into_iter()
            .map(|stream| changed_by_torture("x25-e", &stream))
            .collect()
        },
    },
    Group {
        profile: "pblaze5-c916",
        load: "random 4 KiB writes, eight workers of depth 64, steady",
        figures: &[Figure {
            what: "writes/s",
            published: (200e3, f64::INFINITY),
            band: (200e3, 500e3),
            why: "about 64 TLC dies of 57 MB/s each give 3.6 GB/s of programs, by an amplification \
                  of about 2 and the copies' reads",
        }],
        measure: || {
            let mut bench = Bench::of("pblaze5-c916,state=steady")?;
            let stream = Stream { workers: 8, ..random(Mix::WRITE, 4 * KIB, 64) };
            Ok(vec![bench.run(stream, virtual_seconds(20))?.iops()])
        },
    },
];

/// Disks, arrays, volumes, and all kinds together.
const OTHERS: &[Group<Figure>] = &[
    Group {
        profile: "sas-raid10",
        load: "random 4 KiB, 70 % reads, depth 64",
        figures: &[
            Figure {
                what: "reads/s",
                published: (935.0, 935.0),
                band: (850.0, 1600.0),
                why: "eight disks of about 280 a second with a queue, 1.3 accesses by operation as \
                      each write reaches two of them",
            },
            Figure {
                what: "writes/s",
                published: (400.0, 400.0),
                band: (360.0, 690.0),
                why: "three by seven of the reads",
            },
        ],
        measure: || {
            let mut bench = Bench::of("sas-raid10,state=filled")?;
            let outcome = bench.run(random(MIX_30, 4 * KIB, 64), operations(400_000))?;
            let by_second = |count: u64| count as f64 / outcome.seconds;
            Ok(vec![by_second(outcome.reads.count()), by_second(outcome.writes.count())])
        },
    },
    Group {
        profile: "sas-raid5",
        load: "random 4 KiB reads, depth 1",
        figures: &[Figure {
            what: "reads/s",
            published: (180.0, 220.0),
            band: (120.0, 190.0),
            why: "3.8 ms for the arm, 3 ms for half a turn, 0.2 ms for the disk's controller",
        }],
        measure: || {
            let mut bench = Bench::of("sas-raid5,state=filled")?;
            Ok(vec![bench.run(random(Mix::READ, 4 * KIB, 1), operations(20_000))?.iops()])
        },
    },
    Group {
        profile: "sas-raid5",
        load: "sequential 1 MiB reads, depth 32",
        figures: &[Figure {
            what: "MB/s",
            published: (1000.0, f64::INFINITY),
            band: (900.0, 1200.0),
            why: "eight disks of 148 MB/s in the outermost zone, seven eighths of it data",
        }],
        measure: || {
            let mut bench = Bench::of("sas-raid5,state=filled")?;
            let outcome = bench.run(sequential(Mix::READ, MIB, 32), operations(20_000))?;
            Ok(vec![mib_per_s(&outcome) * 1.048_576])
        },
    },
    Group {
        profile: "san",
        load: "mean of random 4 KiB reads, depth 1; the local disks (sas-raid10) take so many \
               times as long",
        figures: &[Figure {
            what: "ratio",
            published: (5.0, 5.0),
            band: (1.1, 1.6),
            why: "15,000 turns against 10,000, and a network of 0.2 ms; that a database finds much \
                  in the cache of a SAN is not part of it: expected to be missed",
        }],
        measure: || Ok(vec![read_ms("sas-raid10")? / read_ms("san")?]),
    },
    Group {
        profile: "sata-mlc",
        load: "mean of random 4 KiB reads, depth 1; the SAN takes so many times as long",
        figures: &[Figure {
            what: "ratio",
            published: (3.0, 3.0),
            band: (20.0, 60.0),
            why: "an arm and half a turn, 5.6 ms, against 0.1 to 0.25 ms: expected to be missed",
        }],
        measure: || Ok(vec![read_ms("san")? / read_ms("sata-mlc")?]),
    },
    Group {
        profile: "nvme-tlc",
        load: "random 4 KiB, 70 % reads, depth 64: NVMe > SATA > SAN > ESSD > disks",
        figures: &[Figure {
            what: "neighbours in this order, of 4",
            published: (4.0, 4.0),
            band: (4.0, 4.0),
            why: "flash is far ahead; 16 disks of 15,000 turns are just above the limiter of the \
                  ESSD, and that far above eight of 10,000",
        }],
        measure: || {
            let targets = [
                "nvme-tlc,state=steady",
                "sata-mlc,state=steady",
                "san,state=filled",
                "essd,state=filled",
                "sas-raid10,state=filled",
            ];
            let rates: Result<Vec<f64>, String> = targets
                .iter()
                .map(|target| {
                    let stream = random(MIX_30, 4 * KIB, 64);
                    Ok(Bench::of(target)?.run(stream, operations(400_000))?.iops())
                })
                .collect();
            Ok(vec![rates?.windows(2).filter(|pair| pair[0] > pair[1]).count() as f64])
        },
    },
];

/// One write of ten goes anywhere, the others follow each other, whatever lies between them.
fn mostly_sequential(bytes: u64, count: u64) -> Stream {
    let pages = bytes / (4 * KIB);
    let (mut random_place, mut next) = (Random::new(11), 0);
    let offsets = (0..count).map(|_| {
        let page = if random_place.below(10) == 0 {
            random_place.below(pages)
        } else {
            next += 1;
            (next - 1) % pages
        };
        Size(page * 4 * KIB)
    });
    let offsets = offsets.collect();
    Stream { pattern: Pattern::Replay(offsets), ..random(Mix::WRITE, 4 * KIB, 1) }
}

/// Mean and longest seconds of random writes at a depth.
fn queued(target: &str, depth: u32) -> Result<Vec<f64>, String> {
    let outcome = Bench::of(target)?.run(random(Mix::WRITE, 4 * KIB, depth), operations(3_000))?;
    Ok(vec![latency_ms(&outcome)? / 1e3, outcome.all.max() as f64 / 1e9])
}

fn one_percent_writes(target: &str) -> Result<Vec<f64>, String> {
    let rate = |mix: Mix, count: u64| {
        let outcome = Bench::of(target)?.run(random(mix, 4 * KIB, 1), operations(count))?;
        Ok::<f64, String>(outcome.iops())
    };
    let mixed = rate(Mix { read: 99, write: 1, trim: 0 }, 200_000)?;
    Ok(vec![mixed / rate(Mix::READ, 20_000)?])
}

fn read_ms(target: &str) -> Result<f64, String> {
    let mut bench = Bench::of(&format!("{target},state=filled"))?;
    latency_ms(&bench.run(random(Mix::READ, 4 * KIB, 1), operations(20_000))?)
}

fn cells(figure: &Figure, simulated: String, word: &str) -> Vec<String> {
    vec![
        figure.what.to_owned(),
        range(figure.published.0, figure.published.1),
        range(figure.band.0, figure.band.1),
        simulated,
        word.to_owned(),
        figure.why.to_owned(),
    ]
}

/// The predictions.
pub fn section() -> Result<String, String> {
    let mut table = Table::new(&[
        "profile",
        "load",
        "figure",
        "published",
        "band",
        "simulated",
        "",
        "why this band",
    ]);
    let mut score = Score::default();
    let judge = |figure: &Figure, found: f64| {
        let word = match (figure.is_hit(found), figure.is_in_band(found)) {
            (true, _) => "hit",
            (false, true) => "**miss**",
            (false, false) => "**miss, beyond its band**",
        };
        Verdict { holds: figure.is_hit(found), cells: cells(figure, number(found), word) }
    };
    let absent = |figure: &Figure, error: &str| cells(figure, error.to_owned(), "unknown");
    for group in FLASH.iter().chain(OTHERS) {
        group.add_to(&mut table, &mut score, judge, absent);
    }
    Ok(format!(
        "### Predictions\n\nBands were written down before the first run of each and stay as they \
         are. A hit: simulated and published both lie in the band. Hits: {}, misses: {}, not \
         there: {}.\n\n{}",
        score.held,
        score.failed,
        score.absent,
        table.text()
    ))
}

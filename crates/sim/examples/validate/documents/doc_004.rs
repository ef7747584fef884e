//! Document 004: SSD, SAN and SAS disks compared.

use super::Published::{Over, Range, Value};
use super::Tolerance::{Order, Share};
use super::{Document, Figure, Load, Role, predicted};
use crate::load::{Bench, KIB, MIB, operations, random, sequential, virtual_seconds};
use crate::measures::{latency_ms, mib_per_s};
use drivelab_core::plan::{Engine, IoMode, Mix, Stream};
use drivelab_core::units::Size;

pub const DOCUMENT: Document = Document {
    name: "004",
    title: "SSD, SAN and SAS disks compared (a blog)",
    left_out: "rates of the NVMe and SATA drives: no model is named, so only their order is held; \
               slat; divisions of lifetimes",
    loads: &[
        NVME_SATA,
        SATA_SAN,
        SAN_ESSD,
        ESSD_SAS,
        SAN_BY_SSD,
        SAS_BY_SAN,
        ESSD,
        ESSD_BUFFERED,
        RAID10,
        RAID5,
        RAID5_ORDER,
        DISK_READ,
        AHCI_READ,
        NVME_READ,
    ],
};

const RANKING: &str = "summary: NVMe > SATA > SAN > ESSD > HDD, ESSD before the SAS RAID10";
const MIX_30: Mix = Mix { read: 70, write: 30, trim: 0 };
const HALF: Mix = Mix { read: 50, write: 50, trim: 0 };
/// The file of the article's lines, or the drive where that is smaller.
const FILE: u64 = 1000 * 1024 * MIB;

/// Two neighbours of the ranking, by 70 % reads at depth 64 as in the article's lines, each over
/// the article's 1000 GB or all of it.
const fn neighbours(
    profile: &'static str,
    figures: &'static [Figure],
    measure: fn(&str) -> Result<Vec<f64>, String>,
) -> Load {
    Load {
        profile,
        state: "",
        state_source: "",
        load: "random 4 KiB, 70 % reads, depth 64, over 1000 GiB or the whole drive",
        figures,
        measure,
    }
}

const fn before(what: &'static str) -> Figure {
    predicted(RANKING, what, Over(1.0), Order)
}

const NVME: &str = "nvme-tlc,state=steady";
const SATA: &str = "sata-mlc,state=steady";
const SAN: &str = "san,state=filled";
const CLOUD: &str = "essd,state=filled";
const SAS: &str = "sas-raid10,state=filled";

const NVME_SATA: Load = neighbours("nvme-tlc", &[before("NVMe by SATA")], |_| ratio(NVME, SATA));
const SATA_SAN: Load = neighbours("sata-mlc", &[before("SATA by SAN")], |_| ratio(SATA, SAN));
const SAN_ESSD: Load = neighbours("san", &[before("SAN by ESSD")], |_| ratio(SAN, CLOUD));
const ESSD_SAS: Load = neighbours("essd", &[before("ESSD by SAS RAID10")], |_| ratio(CLOUD, SAS));

fn ratio(fast: &str, slow: &str) -> Result<Vec<f64>, String> {
    let rate = |target: &str| {
        let mut bench = Bench::of(target)?;
        let file = Some(Size(FILE.min(bench.bytes())));
        let stream = Stream { length: file, ..random(MIX_30, 4 * KIB, 64) };
        Ok::<f64, String>(bench.run(stream, virtual_seconds(60))?.iops())
    };
    Ok(vec![rate(fast)? / rate(slow)?])
}

/// The article's first line: random writes.
const LINE: &str = "mean of random 4 KiB writes, depth 64, 1000 GiB or the whole drive";

const SAN_BY_SSD: Load = Load {
    profile: "san",
    state: "filled",
    state_source: "not said",
    load: LINE,
    figures: &[predicted("\"ssd:san:sas is about 1:3:15\"", "SAN by SATA", Value(3.0), Share(0.1))],
    measure: |target| Ok(vec![written_ms(target)? / written_ms(SATA)?]),
};

const SAS_BY_SAN: Load = Load {
    profile: "sas-raid10",
    state: "filled",
    state_source: "not said",
    load: LINE,
    figures: &[predicted("\"ssd:san:sas is about 1:3:15\"", "SAS by SAN", Value(5.0), Share(0.1))
        .expecting(
            1.1,
            1.6,
            "15,000 turns against 10,000, and a network of 0.2 ms, of reads at depth 1; that a \
             database finds much in the cache of a SAN is not part of it: expected to be missed",
        )],
    measure: |target| Ok(vec![written_ms(target)? / written_ms(SAN)?]),
};

fn written_ms(target: &str) -> Result<f64, String> {
    let mut bench = Bench::of(target)?;
    let file = Some(Size(FILE.min(bench.bytes())));
    let stream = Stream { length: file, ..random(Mix::WRITE, 4 * KIB, 64) };
    latency_ms(&bench.run(stream, virtual_seconds(60))?)
}

const TABLE: &str = "table of direct and buffered";

const ESSD: Load = Load {
    profile: "essd",
    state: "",
    state_source: "",
    load: "random 4 KiB, half reads, depth 64, direct",
    figures: &[
        predicted(TABLE, "column 2, operations/s", Value(4927.0), Share(0.1))
            .of_role(Role::Fitted("iops_slack_per_mille")),
        predicted(TABLE, "column 3, operations/s", Value(4913.0), Share(0.1))
            .of_role(Role::Restates("column 2: both are direct")),
    ],
    measure: |target| {
        let mut bench = Bench::of(target)?;
        let rate = bench.run(random(HALF, 4 * KIB, 64), virtual_seconds(60))?.iops();
        Ok(vec![rate, rate])
    },
};

const ESSD_BUFFERED: Load = Load {
    profile: "essd",
    state: "",
    state_source: "",
    load: "random 4 KiB, half reads, depth 64, through a page cache of 1 GiB, 4 GiB",
    figures: &[predicted(
        TABLE,
        "columns 1 and 4, operations/s",
        Range(3971.0, 4299.0),
        Share(0.1),
    )],
    measure: |target| {
        let mut bench = Bench::of(&format!("{target},page_cache=1GiB"))?;
        let buffered = Stream {
            engine: Engine::Libaio,
            io: IoMode::Buffered,
            length: Some(Size(4096 * MIB)),
            ..random(HALF, 4 * KIB, 64)
        };
        Ok(vec![bench.run(buffered, virtual_seconds(60))?.iops()])
    },
};

const RAID10: Load = Load {
    profile: "sas-raid10",
    state: "filled",
    state_source: "not said",
    load: "random 4 KiB, 70 % reads, depth 64",
    figures: &[
        predicted("HDD", "reads/s", Value(935.0), Share(0.1))
            .of_role(Role::Fitted("members"))
            .expecting(
                850.0,
                1600.0,
                "eight disks of about 280 a second with a queue, 1.3 accesses by operation as \
                 each write reaches two of them",
            ),
        predicted("HDD", "writes/s", Value(400.0), Share(0.1))
            .of_role(Role::Restates("the reads: three by seven of them"))
            .expecting(360.0, 690.0, "three by seven of the reads"),
    ],
    measure: |target| {
        let mut bench = Bench::of(target)?;
        let outcome = bench.run(random(MIX_30, 4 * KIB, 64), operations(400_000))?;
        let by_second = |count: u64| count as f64 / outcome.seconds;
        Ok(vec![by_second(outcome.reads.count()), by_second(outcome.writes.count())])
    },
};

const RAID5: Load = Load {
    profile: "sas-raid5",
    state: "filled",
    state_source: "not said",
    load: "random 4 KiB reads, depth 1",
    figures: &[predicted("HDD, \"about 200\"", "reads/s", Value(200.0), Share(0.1)).expecting(
        120.0,
        190.0,
        "3.8 ms for the arm, 3 ms for half a turn, 0.2 ms for the disk's controller",
    )],
    measure: |target| {
        Ok(vec![Bench::of(target)?.run(random(Mix::READ, 4 * KIB, 1), operations(20_000))?.iops()])
    },
};

const RAID5_ORDER: Load = Load {
    profile: "sas-raid5",
    state: "filled",
    state_source: "not said",
    load: "sequential 1 MiB reads, depth 32",
    figures: &[predicted("HDD, \"1 GB/s and more\"", "MB/s", Over(1000.0), Share(0.1)).expecting(
        900.0,
        1200.0,
        "eight disks of 148 MB/s in the outermost zone, seven eighths of it data",
    )],
    measure: |target| {
        let outcome = Bench::of(target)?.run(sequential(Mix::READ, MIB, 32), operations(20_000))?;
        Ok(vec![mib_per_s(&outcome) * 1.048_576])
    },
};

/// What the bars of blktrace say of one read of a kind of drive.
const fn one_read(profile: &'static str, state: &'static str, figures: &'static [Figure]) -> Load {
    Load {
        profile,
        state,
        state_source: "not said",
        load: "random 4 KiB reads, depth 1",
        figures,
        measure: |target| {
            let mut bench = Bench::of(target)?;
            let outcome = bench.run(random(Mix::READ, 4 * KIB, 1), operations(20_000))?;
            Ok(vec![1e3 * latency_ms(&outcome)?])
        },
    }
}

const BARS: &str = "bars of blktrace";
const DISK_READ: Load = one_read(
    "momentus-7200",
    "filled",
    &[predicted(BARS, "disk, mean µs", Value(14_000.0), Share(0.1))],
);
const AHCI_READ: Load =
    one_read("sata-mlc", "filled", &[predicted(BARS, "AHCI, mean µs", Value(125.0), Share(0.1))]);
const NVME_READ: Load =
    one_read("nvme-tlc", "filled", &[predicted(BARS, "NVMe, mean µs", Value(111.0), Share(0.1))]);

//! The published rows that the profiles are tuned on, each with its tolerance, and their shape.
//! Rows that are predictions are not here.

use super::bench::{Run, read, run, write};
use super::{LogBlockDrive, Parameters};
use drivelab_core::op::DataOp;
use drivelab_stats::Random;
use serde::Deserialize;

const OCZ_CORE: &str = include_str!("../../../../profiles/ocz-core.toml");
const ZHOU_OCZ: &str = include_str!("../../../../profiles/zhou-ocz.toml");
const SAMSUNG_SLC: &str = include_str!("../../../../profiles/samsung-slc.toml");
const PQI: &str = include_str!("../../../../profiles/pqi.toml");

fn parameters(profile: &str) -> Parameters {
    let mut table: toml::Table = profile.parse().unwrap();
    assert_eq!(table["kind"].as_str(), Some("log_block"));
    let mut fitted = 0;
    let mut values = toml::Table::new();
    for (name, entry) in table["parameters"].as_table_mut().unwrap() {
        let status = entry["status"].as_str().unwrap();
        assert!(["spec", "measured", "fitted", "guess"].contains(&status), "{name}: {status}");
        assert!(!entry["source"].as_str().unwrap().is_empty(), "{name}");
        fitted += usize::from(status == "fitted");
        values.insert(name.clone(), entry["value"].clone());
    }
    assert!(fitted <= 3, "{fitted} fitted parameters");
    Parameters::deserialize(values).unwrap()
}

fn filled(profile: &str) -> LogBlockDrive {
    let mut drive = LogBlockDrive::new(parameters(profile), 1).unwrap();
    drive.fill();
    drive
}

fn used(profile: &str) -> LogBlockDrive {
    let mut drive = filled(profile);
    drive.fragment(1);
    drive
}

/// 4 KiB operations at random places of the whole drive.
fn random(
    drive: &LogBlockDrive,
    seed: u64,
    op: fn(u64, u32) -> DataOp,
) -> impl FnMut() -> DataOp + use<> {
    let places = drive.parameters().user_bytes / 4_096;
    let mut random = Random::new(seed);
    move || op(random.below(places) * 4_096, 4_096)
}

fn sequential(first: u64) -> impl FnMut() -> DataOp {
    let mut offset = first;
    move || {
        offset += 4_096;
        write(offset - 4_096, 4_096)
    }
}

fn assert_within(what: &str, is: f64, published: f64, tolerance: f64) {
    let off = is / published - 1.0;
    println!("{what}: {is:.4}, published {published}, off by {:+.2} %", off * 100.0);
    assert!(off.abs() <= tolerance, "{what}: {is} is not within {tolerance} of {published}");
}

fn random_writes(profile: &str, count: usize) -> Run {
    let mut drive = used(profile);
    let next = random(&drive, 7, write);
    let run = run(&mut drive, 1, count, next);
    println!("longest {:.1} ms", run.max_ms());
    run
}

/// AnandTech, 8 September 2008, page 8: 4.06 IOPS, 244 ms.
#[test]
fn ocz_core_4k_random_write() {
    let run = random_writes(OCZ_CORE, 2_000);
    assert_within("OCZ Core 4K random write, ms", run.mean_ms(), 244.0, 0.1);
    assert_within("OCZ Core 4K random write, IOPS", run.iops(), 4.06, 0.1);
}

/// AnandTech, 8 September 2008: 0.36 ms.
#[test]
fn ocz_core_4k_sequential_write() {
    let mut drive = filled(OCZ_CORE);
    let run = run(&mut drive, 1, 100_000, sequential(0));
    assert_within("OCZ Core 4K sequential write, ms", run.mean_ms(), 0.36, 0.1);
}

/// AnandTech, 8 September 2008, page 8: 109 IOPS, 9.17 ms.
#[test]
fn samsung_slc_4k_random_write() {
    let run = random_writes(SAMSUNG_SLC, 10_000);
    assert_within("Samsung SLC 4K random write, ms", run.mean_ms(), 9.17, 0.1);
    assert_within("Samsung SLC 4K random write, IOPS", run.iops(), 109.0, 0.1);
}

/// Da Zhou's thesis slides: 3360.4 reads and 190.28 writes a second.
#[test]
fn pqi_4k_random_read_and_write() {
    let mut drive = used(PQI);
    let next = random(&drive, 7, read);
    let reads = run(&mut drive, 1, 10_000, next);
    assert_within("PQI 4K random read, IOPS", reads.iops(), 3360.4, 0.05);
    let writes = random_writes(PQI, 10_000);
    assert_within("PQI 4K random write, IOPS", writes.iops(), 190.28, 0.05);
}

/// Nothing was published in numbers: its shape only.
#[test]
fn zhou_ocz_writes_through() {
    let mut drive = used(ZHOU_OCZ);
    let next = random(&drive, 7, write);
    let run = run(&mut drive, 1, 100, next);
    let merges = run.latencies_ns.iter().filter(|ns| **ns > 100_000_000).count();
    assert!(merges > 90, "{merges} of 100 random writes wait for a merge");
}

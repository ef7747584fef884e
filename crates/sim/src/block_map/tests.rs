//! Exact costs of plain block mapping, and its oracle.

use super::*;
use crate::log_block::bench::{one, read, run, trim, write};
use drivelab_core::inside::Cause;
use std::collections::BTreeMap;

const PAGE: u64 = 4_096;
const PAGES: u64 = 128;
const CHANNEL_NS: u64 = 100_000;
const LINK_NS: u64 = 10_000;
const COMMAND_NS: u64 = 100_000;
const READ_NS: u64 = 50_000;
const PROGRAM_NS: u64 = 700_000;
const ERASE_NS: u64 = 3_000_000;
const COPY_NS: u64 = READ_NS + 2 * CHANNEL_NS + PROGRAM_NS;
const WRITE_NS: u64 = COMMAND_NS + LINK_NS + CHANNEL_NS + PROGRAM_NS;

/// Blocks of 512 KiB on one die.
fn small(overwrite: Overwrite) -> Parameters {
    Parameters {
        user_bytes: 16 * PAGES * PAGE,
        page_bytes: PAGE as u32,
        pages_per_block: PAGES as u32,
        channels: 1,
        dies: 1,
        block_dies: 1,
        read_ns: READ_NS,
        program_ns: PROGRAM_NS,
        erase_ns: ERASE_NS,
        channel_bytes_per_s: 40_960_000,
        link_bytes_per_s: 409_600_000,
        command_ns: COMMAND_NS,
        queue_depth: 1,
        copies_per_channel: 1,
        overwrite,
    }
}

fn filled(overwrite: Overwrite) -> BlockMapDrive {
    let mut drive = BlockMapDrive::new(small(overwrite), 1).unwrap();
    drive.fill();
    drive
}

fn page(block: u64, page: u64) -> DataOp {
    write((block * PAGES + page) * PAGE, PAGE as u32)
}

fn in_turn(drive: &mut BlockMapDrive, now: &mut Time, ops: &[DataOp]) -> Vec<u64> {
    ops.iter()
        .map(|op| {
            let since = std::mem::replace(now, one(drive, *now, *op).0);
            *now - since
        })
        .collect()
}

#[test]
fn overwriting_4_kib_of_512_kib_programs_128_times_as_much() {
    for (count, place) in [(1, 0), (1, 77), (1, 127), (500, 31)] {
        let mut drive = filled(Overwrite::InPlace);
        let mut random = Random::new(place);
        let result = run(&mut drive, 1, count, || page(random.below(16), place));
        let inside = drive.inside(result.end);
        assert_eq!(inside.host_units, count as u64);
        assert_eq!(inside.programmed_units(), 128 * count as u64);
        assert_eq!(inside.write_amplification(), Some(128.0));
        assert_eq!(inside.erases, count as u64);
    }
}

#[test]
fn an_overwrite_in_place_reads_erases_and_programs_the_block() {
    let mut drive = filled(Overwrite::InPlace);
    let (end, cause) = one(&mut drive, 0, page(3, 77));
    let read_ns = 127 * (READ_NS + CHANNEL_NS);
    let program_ns = 128 * (CHANNEL_NS + PROGRAM_NS);
    assert_eq!(end, COMMAND_NS + LINK_NS + read_ns + ERASE_NS + program_ns);
    assert_eq!(cause, Cause::Merge);
    assert_eq!(drive.inside(end).free_blocks, 0);
    // A whole block needs nothing of the old one.
    let (again, _) = one(&mut drive, end, write(0, (PAGES * PAGE) as u32));
    assert_eq!(again - end, COMMAND_NS + PAGES * LINK_NS + ERASE_NS + program_ns);
}

#[test]
fn going_forward_in_a_replacement_block_merges_nothing() {
    let mut drive = filled(Overwrite::Replacement);
    let mut now = 0;
    let forward: Vec<DataOp> = (0..PAGES).map(|slot| page(3, slot)).collect();
    assert_eq!(in_turn(&mut drive, &mut now, &forward), vec![WRITE_NS; PAGES as usize]);
    assert_eq!(in_turn(&mut drive, &mut now, &[page(4, 0)]), [WRITE_NS + ERASE_NS]);
    let inside = drive.inside(now);
    assert_eq!((inside.merge_units, inside.erases), (0, 1));
    assert_eq!(inside.write_amplification(), Some(1.0));
}

#[test]
fn a_replacement_block_copies_what_is_before_and_then_what_is_after() {
    let mut drive = filled(Overwrite::Replacement);
    let mut now = 0;
    let took = in_turn(&mut drive, &mut now, &[page(3, 10), page(3, 12), page(3, 12), page(4, 0)]);
    assert_eq!(took[0], WRITE_NS + 10 * COPY_NS);
    assert_eq!(took[1], WRITE_NS + COPY_NS);
    // Back: the rest is copied, the old block erased, and the next replacement begins.
    assert_eq!(took[2], WRITE_NS + 115 * COPY_NS + ERASE_NS + 12 * COPY_NS);
    assert_eq!(took[3], WRITE_NS + 115 * COPY_NS + ERASE_NS);
    let inside = drive.inside(now);
    assert_eq!(inside.host_units, 4);
    // Three overwritten pages of two whole blocks, and the first page of a third.
    assert_eq!(inside.programmed_units(), 2 * 128 + 1);
    assert_eq!(inside.erases, 2);
}

#[test]
fn erased_pages_are_appended_on_a_new_drive() {
    for overwrite in [Overwrite::InPlace, Overwrite::Replacement] {
        let mut drive = BlockMapDrive::new(small(overwrite), 1).unwrap();
        let mut now = 0;
        let ops: Vec<DataOp> = (0..16).flat_map(|block| [page(block, 3), page(block, 9)]).collect();
        assert_eq!(in_turn(&mut drive, &mut now, &ops), vec![WRITE_NS; 32]);
        assert_eq!(drive.inside(now).erases, 0);
    }
}

#[test]
fn trim_makes_overwrites_cheaper() {
    for overwrite in [Overwrite::InPlace, Overwrite::Replacement] {
        let mut drive = filled(overwrite);
        let mut now = 0;
        in_turn(&mut drive, &mut now, &[trim(0, (100 * PAGE) as u32)]);
        in_turn(&mut drive, &mut now, &[page(0, 127), page(5, 127)]);
        let of_first = 28;
        assert_eq!(drive.inside(now).programmed_units(), of_first + 128, "{overwrite:?}");
        let (_, cause) = one(&mut drive, now, read(0, PAGE as u32));
        assert_eq!((cause, drive.inside(now).unmapped_read_units), (Cause::Link, 1));
    }
}

#[test]
fn conditioning_takes_no_time_and_leaves_no_counts() {
    for overwrite in [Overwrite::InPlace, Overwrite::Replacement] {
        let mut drive = filled(overwrite);
        drive.fragment(3);
        let inside = drive.inside(0);
        assert_eq!((inside.host_units, inside.programmed_units(), inside.erases), (0, 0, 0));
        assert_eq!((inside.erases_max, inside.host_busy_ns, inside.background_busy_ns), (0, 0, 0));
        let (end, _) = one(&mut drive, 0, read(0, PAGE as u32));
        assert_eq!(end, COMMAND_NS + READ_NS + CHANNEL_NS + LINK_NS);
    }
}

#[test]
fn parameters_that_cannot_be_are_named() {
    let refusal = |change: fn(&mut Parameters)| {
        let mut parameters = small(Overwrite::InPlace);
        change(&mut parameters);
        BlockMapDrive::new(parameters, 1).unwrap_err()
    };
    assert!(refusal(|p| p.page_bytes = 1).starts_with("page_bytes"));
    assert!(refusal(|p| p.user_bytes = 1).starts_with("user_bytes"));
    assert!(refusal(|p| p.block_dies = 3).starts_with("block_dies"));
    assert!(refusal(|p| p.queue_depth = 0).starts_with("queue_depth"));
}

fn drawn(random: &mut Random) -> Parameters {
    let page_bytes = 512 << random.below(5);
    let block_dies = 1 << random.below(3);
    let overwrite = if random.below(2) == 0 { Overwrite::InPlace } else { Overwrite::Replacement };
    Parameters {
        user_bytes: (20 + random.below(400)) * u64::from(page_bytes),
        page_bytes,
        pages_per_block: 1 + random.below(9) as u32,
        channels: 1 + random.below(3) as u32,
        dies: block_dies * (1 + random.below(3) as u32),
        block_dies,
        queue_depth: 1 + random.below(4) as u32,
        copies_per_channel: 1 + random.below(3) as u32,
        ..small(overwrite)
    }
}

fn drawn_op(random: &mut Random, sectors: u64, page_bytes: u64) -> DataOp {
    let len = 1 + random.below(40).min(sectors - 1);
    let first = random.below(sectors - len + 1);
    match random.below(10) {
        0..=6 => write(first * 512, (len * 512) as u32),
        7 | 8 => read(first * 512, (len * 512) as u32),
        _ => {
            let page = first * 512 / page_bytes;
            trim(page * page_bytes, page_bytes as u32)
        }
    }
}

fn check(seed: u64) {
    let mut random = Random::new(seed);
    let parameters = drawn(&mut random);
    let sectors = parameters.user_bytes / 512;
    let page_bytes = u64::from(parameters.page_bytes);
    let mut drive = BlockMapDrive::new(parameters.clone(), seed).unwrap();
    drive.keep_versions();
    if random.below(2) == 0 {
        drive.fill();
        drive.fragment(seed);
    }
    let mut truth: BTreeMap<u64, u64> = BTreeMap::new();
    let (mut now, mut writes) = (0, 0);
    for step in 0..300 {
        let op = drawn_op(&mut random, sectors, page_bytes);
        let range = op.offset / 512..(op.offset + u64::from(op.len)) / 512;
        match op.action {
            Action::Write => {
                writes += 1;
                truth.extend(range.map(|sector| (sector, writes)));
            }
            Action::Trim => truth.retain(|sector, _| !range.contains(sector)),
            _ => {}
        }
        now = one(&mut drive, now, op).0;
        for sector in 0..sectors.min(if step % 30 == 29 { u64::MAX } else { 20 }) {
            // A page that was written in part holds version 0 in its other sectors.
            assert_eq!(
                drive.version(sector).unwrap_or(0),
                truth.get(&sector).copied().unwrap_or(0),
                "seed {seed}, step {step}, sector {sector}: {parameters:?}"
            );
        }
    }
    let mut again = drive.clone();
    let op = drawn_op(&mut random, sectors, page_bytes);
    assert_eq!(one(&mut drive, now, op), one(&mut again, now, op), "seed {seed}");
}

#[test]
fn a_swarm_of_drives_reads_what_it_wrote() {
    for seed in 0..200 {
        check(seed);
    }
    println!("seeds 0 to 199");
}

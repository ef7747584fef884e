//! Exact costs, invariants and what must never depend on anything but the seed.

use super::bench::{flush, one, read, run, trim, write};
use super::{Associativity, BufferFlush, HostOrder, LogBlockDrive, Parameters};
use crate::drive::{Drive, Ends, Way};
use drivelab_core::inside::Cause;
use drivelab_core::op::{DataOp, Time};
use drivelab_stats::Random;

mod costs;
mod faults;
mod mechanisms;
mod oracle;

const PAGE: u64 = 4_096;
const PAGES: u64 = 16;

/// One die, 16 pages a block, no buffer, times that are told apart in a sum.
fn small() -> Parameters {
    Parameters {
        user_bytes: 64 * PAGES * PAGE,
        page_bytes: PAGE as u32,
        pages_per_block: PAGES as u32,
        channels: 1,
        dies: 1,
        block_dies: 1,
        read_ns: 50_000,
        program_ns: 700_000,
        erase_ns: 3_000_000,
        channel_bytes_per_s: 40_960_000,
        link_bytes_per_s: 409_600_000,
        command_ns: 100_000,
        queue_depth: 1,
        copies_per_channel: 1,
        log_blocks: 4,
        associativity: Associativity::Block,
        is_merge_paced: false,
        buffer_flush: BufferFlush::None,
        buffer_bytes: 0,
        buffer_group_bytes: 0,
        host_order: HostOrder::InTurn,
        wear_swap_erases: 0,
        idle_flush_ns: 0,
    }
}

/// What a page takes on a channel of [`small`].
const CHANNEL_NS: u64 = 100_000;
/// What a page takes on the link of [`small`].
const LINK_NS: u64 = 10_000;
const COMMAND_NS: u64 = 100_000;
const READ_NS: u64 = 50_000;
const PROGRAM_NS: u64 = 700_000;
const ERASE_NS: u64 = 3_000_000;
const COPY_NS: u64 = READ_NS + 2 * CHANNEL_NS + PROGRAM_NS;
/// A 4 KiB write that needs no merge.
const WRITE_NS: u64 = COMMAND_NS + LINK_NS + CHANNEL_NS + PROGRAM_NS;

fn filled(parameters: Parameters) -> LogBlockDrive {
    let mut drive = LogBlockDrive::new(parameters, 1).unwrap();
    drive.fill();
    drive
}

/// Writes page `page` of block `block`.
fn page(block: u64, page: u64) -> DataOp {
    write((block * PAGES + page) * PAGE, PAGE as u32)
}

/// Submits operations one after the other; returns how long each took.
fn in_turn(drive: &mut impl Drive, now: &mut Time, ops: &[DataOp]) -> Vec<u64> {
    ops.iter()
        .map(|op| {
            let (end, _) = one(drive, *now, *op);
            let took = end - *now;
            *now = end;
            took
        })
        .collect()
}

/// Random 4 KiB operations, half of them writes.
fn half_and_half(pages: u64, seed: u64) -> impl FnMut() -> DataOp {
    let mut random = Random::new(seed);
    move || {
        let op = if random.below(2) == 0 { read } else { write };
        op(random.below(pages) * PAGE, PAGE as u32)
    }
}

/// Drives of both kinds, with and without buffers, paced or not.
fn several() -> Vec<Parameters> {
    let wide = Parameters { channels: 2, dies: 8, block_dies: 4, log_blocks: 8, ..small() };
    let buffered = |buffer_flush, buffer_group_bytes| Parameters {
        buffer_flush,
        buffer_bytes: 4 * PAGE,
        buffer_group_bytes,
        ..wide.clone()
    };
    vec![
        small(),
        wide.clone(),
        Parameters { associativity: Associativity::Full, ..wide.clone() },
        Parameters {
            associativity: Associativity::Full,
            is_merge_paced: true,
            queue_depth: 32,
            copies_per_channel: 2,
            ..wide.clone()
        },
        buffered(BufferFlush::Full, 0),
        buffered(BufferFlush::Neighbour, 0),
        buffered(BufferFlush::Aligned, 2 * PAGE as u32),
        Parameters {
            associativity: Associativity::Full,
            is_merge_paced: true,
            log_blocks: 6,
            ..buffered(BufferFlush::Row, 2 * PAGE as u32)
        },
        Parameters { host_order: HostOrder::Ascending, ..wide.clone() },
    ]
}

#[test]
fn equal_seeds_give_equal_runs_and_other_seeds_others() {
    for parameters in several() {
        let pages = parameters.user_bytes / PAGE;
        let once = |seed| {
            let mut drive = LogBlockDrive::new(parameters.clone(), seed).unwrap();
            drive.fill();
            drive.fragment(3);
            let result = run(&mut drive, 4, 500, half_and_half(pages, 5));
            let inside = drive.inside(result.end);
            (result, inside)
        };
        assert_eq!(once(1), once(1));
        assert_ne!(once(1).0, once(2).0, "fragmentation does not depend on the seed");
    }
}

/// Mean in flight = rate x mean latency, when the rate is counted between the first and last end.
#[test]
fn littles_law_holds() {
    for parameters in several() {
        for depth in [1, 2, 8, 32] {
            let mut drive = filled(parameters.clone());
            drive.fragment(1);
            let pages = parameters.user_bytes / PAGE;
            let result = run(&mut drive, depth, 4_000, half_and_half(pages, 9));
            let in_flight = result.iops() * result.mean_ms() / 1e3;
            let off = in_flight / f64::from(depth) - 1.0;
            // The tail, when nothing more is submitted, is at most depth of 4,000 operations.
            assert!(off.abs() < 0.02, "{in_flight} in flight instead of {depth}: {parameters:?}");
        }
    }
}

#[test]
fn a_drive_without_a_queue_gains_nothing_from_depth() {
    let mut one_at_once = filled(several()[1].clone());
    let mut many_at_once = one_at_once.clone();
    let pages = 64 * PAGES;
    let shallow = run(&mut one_at_once, 1, 1_000, half_and_half(pages, 5));
    let deep = run(&mut many_at_once, 64, 1_000, half_and_half(pages, 5));
    assert_eq!(shallow.end, deep.end);
    let mut parameters = several()[1].clone();
    parameters.queue_depth = 32;
    let mut with_queue = filled(parameters);
    let queued = run(&mut with_queue, 64, 1_000, half_and_half(pages, 5));
    assert!(queued.end < deep.end, "{} and {}", queued.end, deep.end);
}

#[test]
fn conditioning_takes_no_time_and_leaves_no_counts() {
    for parameters in several() {
        let mut drive = filled(parameters.clone());
        let fresh = drive.inside(0);
        assert_eq!((fresh.erases, fresh.host_units, fresh.merge_units), (0, 0, 0));
        let groups = u64::from(parameters.dies / parameters.block_dies);
        assert_eq!(fresh.free_blocks, u64::from(parameters.log_blocks) + groups);
        drive.fragment(1);
        let inside = drive.inside(0);
        assert_eq!(inside.erases_max, 0);
        assert_eq!((inside.host_units, inside.programmed_units(), inside.erases), (0, 0, 0));
        assert_eq!((inside.host_busy_ns, inside.background_busy_ns), (0, 0));
        assert!(inside.free_blocks < fresh.free_blocks, "the log is not used");
        let (end, _) = one(&mut drive, 0, read(0, PAGE as u32));
        assert_eq!(end, COMMAND_NS + READ_NS + CHANNEL_NS + LINK_NS);
    }
}

/// A logical block is merged once by cycle: the wait for its next write and the stay in the log.
#[test]
fn a_shared_log_merges_as_often_as_renewal_theory_says() {
    let parameters = Parameters {
        associativity: Associativity::Full,
        user_bytes: 256 * PAGES * PAGE,
        log_blocks: 34,
        ..small()
    };
    let mut drive = filled(parameters);
    drive.fragment(1);
    let mut random = Random::new(4);
    // Never the first page of a block, which goes to the sequential log block.
    run(&mut drive, 1, 60_000, || page(random.below(256), 1 + random.below(PAGES - 1)));
    let inside = drive.inside(0);
    let merges = inside.merge_units as f64 / PAGES as f64 / inside.host_units as f64;
    // 33 log blocks next to the sequential one; a page stays while 32 to 33 of them are filled.
    let stay = 32.5 * PAGES as f64 / 256.0;
    let expected = 1.0 / (1.0 + stay);
    let off = merges / expected - 1.0;
    assert!(off.abs() < 0.03, "{merges} merges a write instead of {expected}");
}

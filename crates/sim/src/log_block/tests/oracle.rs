//! Random drives under random operations: every read finds what was written last.

use super::*;
use std::collections::BTreeMap;

/// Draws a drive; small enough that merges of every kind come all the time.
fn drawn(random: &mut Random) -> Parameters {
    let page_bytes = 512 << random.below(5);
    let block_dies = 1 << random.below(3);
    let groups = 1 + random.below(3) as u32;
    let associativity =
        if random.below(2) == 0 { Associativity::Block } else { Associativity::Full };
    let is_full = associativity == Associativity::Full;
    let is_merge_paced = is_full && random.below(2) == 0;
    let least = if is_merge_paced { 3 } else { 1 + u32::from(is_full) };
    let buffer_flush =
        [BufferFlush::None, BufferFlush::Full, BufferFlush::Neighbour, BufferFlush::Aligned]
            [random.below(4) as usize];
    let buffer_pages =
        if buffer_flush == BufferFlush::None { 0 } else { 1 + random.below(8) as u32 };
    let group_pages = 1 + random.below(u64::from(buffer_pages.max(1))) as u32;
    let is_aligned = buffer_flush == BufferFlush::Aligned;
    // A log that takes any page can be written in rows; each page is one, or two are.
    let is_row = is_full && buffer_flush == BufferFlush::Full && random.below(2) == 0;
    let pages_per_block = 1 + random.below(9) as u32;
    let row_pages =
        if buffer_pages > 1 && (pages_per_block * block_dies).is_multiple_of(2) { 2 } else { 1 };
    let group_pages = if is_row { row_pages } else { group_pages };
    let buffer_flush = if is_row { BufferFlush::Row } else { buffer_flush };
    Parameters {
        user_bytes: (20 + random.below(400)) * u64::from(page_bytes),
        page_bytes,
        pages_per_block,
        channels: 1 + random.below(3) as u32,
        dies: block_dies * groups,
        block_dies,
        queue_depth: 1 + random.below(4) as u32,
        copies_per_channel: 1 + random.below(3) as u32,
        log_blocks: groups * (least + random.below(4) as u32),
        associativity,
        is_merge_paced,
        buffer_flush,
        buffer_bytes: u64::from(buffer_pages * page_bytes),
        buffer_group_bytes: if is_aligned || is_row { group_pages * page_bytes } else { 0 },
        wear_swap_erases: random.below(2) as u32 * (1 + random.below(9) as u32),
        idle_flush_ns: random.below(2) * 1_000_000,
        ..small()
    }
}

fn drawn_op(random: &mut Random, bytes: u64, is_forward: bool, next: &mut u64) -> DataOp {
    let sectors = bytes / 512;
    let longest = if random.below(4) == 0 { 80 } else { 16 };
    let len = 1 + random.below(longest).min(sectors - 1);
    let first = random.below(sectors - len + 1);
    let (offset, len) = (first * 512, (len * 512) as u32);
    match random.below(20) {
        0..=11 if is_forward => {
            let len = 4_096.min(bytes - *next) as u32;
            let op = write(*next, len);
            *next = (*next + u64::from(len)) % bytes;
            op
        }
        0..=11 => write(offset, len),
        12..=17 => read(offset, len),
        18 => trim(offset, len),
        _ => flush(),
    }
}

/// The truth: the latest write of each sector; nothing where it was trimmed since.
#[derive(Default)]
struct Truth {
    versions: BTreeMap<u64, u64>,
    writes: u64,
}

impl Truth {
    fn note(&mut self, op: &DataOp, page_bytes: u64) {
        let sectors = |from: u64, to: u64| from / 512..to / 512;
        let end = op.offset + u64::from(op.len);
        match op.action {
            drivelab_core::op::Action::Write => {
                self.writes += 1;
                for sector in sectors(op.offset, end) {
                    self.versions.insert(sector, self.writes);
                }
            }
            // Whole pages only.
            drivelab_core::op::Action::Trim => {
                let first = op.offset.div_ceil(page_bytes) * page_bytes;
                for sector in sectors(first, end / page_bytes * page_bytes) {
                    self.versions.remove(&sector);
                }
            }
            _ => {}
        }
    }
}

fn check(seed: u64) {
    let mut random = Random::new(seed);
    let parameters = drawn(&mut random);
    let (bytes, page_bytes) = (parameters.user_bytes, u64::from(parameters.page_bytes));
    let mut drive = LogBlockDrive::new(parameters.clone(), seed).unwrap();
    drive.keep_versions();
    match random.below(3) {
        0 => drive.fill(),
        1 => {
            drive.fill();
            drive.fragment(seed);
        }
        _ => {}
    }
    let is_forward = random.below(3) == 0;
    let mut truth = Truth::default();
    let (mut now, mut next) = (0, 0);
    for step in 0..600 {
        let op = drawn_op(&mut random, bytes, is_forward, &mut next);
        truth.note(&op, page_bytes);
        let (end, _) = one(&mut drive, now, op);
        assert!(end >= now, "seed {seed}, step {step}");
        now = if random.below(3) == 0 { now + random.below(1_000_000) } else { now.max(end) };
        let looks = if step % 50 == 49 { bytes / 512 } else { 20 };
        for look in 0..looks {
            let sector = if looks == 20 { random.below(bytes / 512) } else { look };
            let expected = truth.versions.get(&sector).copied();
            // A page that was written in part holds version 0 in its other sectors.
            assert_eq!(
                drive.version(sector).unwrap_or(0),
                expected.unwrap_or(0),
                "seed {seed}, step {step}, sector {sector}: {parameters:?}"
            );
        }
    }
    check_inside(&mut drive, now, seed);
}

fn check_inside(drive: &mut LogBlockDrive, now: Time, seed: u64) {
    let inside = drive.inside(now);
    assert!(inside.programmed_host_units <= inside.host_units, "seed {seed}: {inside:?}");
    assert!(inside.erases_max <= inside.erases, "seed {seed}: {inside:?}");
    assert!(inside.buffer_fill <= 1.0, "seed {seed}: {inside:?}");
    let groups = u64::from(drive.parameters().dies / drive.parameters().block_dies);
    assert!(inside.free_blocks >= groups, "seed {seed}: a merge has no block: {inside:?}");
}

#[test]
fn a_swarm_of_drives_reads_what_it_wrote() {
    for seed in 0..300 {
        check(seed);
    }
    println!("seeds 0 to 299");
}

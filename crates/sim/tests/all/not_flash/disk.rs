//! Disks.

use super::closed::*;
use drivelab_core::op::{Action, DataOp, SECOND, Time};
use drivelab_sim::disk::{Disk, DiskParameters, SECTOR_BYTES};
use drivelab_sim::drive::{Drive, Ends, Way};
use drivelab_stats::Random;

/// A disk without any cache.
pub fn plain_disk() -> DiskParameters {
    DiskParameters {
        user_bytes: 100 * GIB,
        heads: 4,
        zones: 10,
        rotation_rpm: 7_200,
        outer_bytes_per_s: 80_000_000,
        inner_bytes_per_s: 40_000_000,
        seek_track_ns: 1_000_000,
        seek_average_ns: 9_000_000,
        seek_full_ns: 18_000_000,
        head_switch_ns: 800_000,
        settle_write_ns: 500_000,
        command_ns: 20_000,
        link_bytes_per_s: 150_000_000,
        queue_depth: 32,
        age_limit_ns: SECOND,
        read_cache_bytes: 0,
        read_cache_segments: 0,
        write_cache_bytes: 0,
        write_cache_runs: 0,
    }
}

pub fn cached_disk() -> DiskParameters {
    DiskParameters {
        read_cache_bytes: 8 * MIB,
        read_cache_segments: 16,
        write_cache_bytes: 2 * MIB,
        write_cache_runs: 16,
        ..plain_disk()
    }
}

pub fn disk(parameters: DiskParameters) -> Disk {
    Disk::new(parameters, 42).unwrap()
}

#[test]
fn at_depth_1_an_access_is_command_seek_rotation_and_transfer() {
    let mut drive = disk(plain_disk());
    let model = drive.clone();
    let mut place_draw = random(Action::Read, 100 * GIB, 1);
    let mut kind = Random::new(2);
    let mut ops: Vec<DataOp> = Vec::new();
    for index in 0..2_000 {
        let action = if kind.below(2) == 0 { Action::Read } else { Action::Write };
        ops.push(DataOp { action, ..place_draw(index) });
    }
    let done = closed_loop(&mut drive, 1, ops.len(), |index| ops[index]);
    let (mut cylinder, mut head) = (0, 0);
    for (op, done) in ops.iter().zip(&done) {
        let first = op.offset / SECTOR_BYTES;
        let place = model.geometry().place(first);
        let is_write = op.action == Action::Write;
        // 4 KiB over a link of 150 MB/s, rounded up.
        let mut at = done.begin + 20_000 + if is_write { 27_307 } else { 0 };
        let mut moved_ns = match place.cylinder.abs_diff(cylinder) {
            0 if place.head == head => 0,
            0 => 800_000,
            distance => model.seek().ns(distance),
        };
        if is_write && moved_ns > 0 {
            moved_ns += 500_000;
        }
        at += moved_ns;
        let turn_ns = model.geometry().rotation_ns();
        at += (model.geometry().turn_ns(&place) + turn_ns - model.turn_ns(at)) % turn_ns;
        at += model.geometry().pass_ns(first, 8);
        assert_eq!(done.end, at);
        let last = model.geometry().place(first + 7);
        (cylinder, head) = (last.cylinder, last.head);
    }
    let stages = drive.stages();
    let in_link: u64 =
        ops.iter().map(|op| 20_000 + if op.action == Action::Write { 27_307 } else { 0 }).sum();
    let all = in_link + stages.seek_ns + stages.rotation_ns + stages.transfer_ns;
    assert_eq!(all, span_ns(&done));
    assert_eq!(stages.accesses, 2_000);
}

#[test]
fn random_reads_wait_half_a_turn_on_average() {
    let mut drive = disk(plain_disk());
    closed_loop(&mut drive, 1, 40_000, random(Action::Read, 100 * GIB, 3));
    let mean_ns = drive.stages().rotation_ns as f64 / drive.stages().accesses as f64;
    let half_ns = drive.geometry().rotation_ns() as f64 / 2.0;
    assert!((mean_ns / half_ns - 1.0).abs() < 0.02, "{mean_ns} {half_ns}");
    // The average seek of the data sheet is that over a third of the cylinders; the average over
    // random places is close to it.
    let seek_ns = drive.stages().seek_ns as f64 / drive.stages().accesses as f64;
    assert!((seek_ns / 9e6 - 1.0).abs() < 0.1, "{seek_ns}");
}

#[test]
fn a_deeper_queue_gives_more_and_the_arm_is_never_idle() {
    let mut iops_before = 0.0;
    for depth in [1, 4, 8, 16, 32] {
        let mut drive = disk(plain_disk());
        let done = closed_loop(&mut drive, depth, 5_000, random(Action::Read, 100 * GIB, 4));
        let iops = iops(&done);
        assert!(iops > iops_before * 1.05, "depth {depth}: {iops} after {iops_before}");
        iops_before = iops;
        if depth > 1 {
            let busy_ns = drive.inside(span_ns(&done)).host_busy_ns as f64;
            assert!(busy_ns / span_ns(&done) as f64 > 0.995);
        }
    }
}

#[test]
fn nobody_waits_beyond_the_age_limit() {
    // One command far away, and always 31 near each other: the nearest would always win.
    let starve = |far: Action, parameters: DiskParameters| {
        let mut drive = disk(parameters);
        let mut random = Random::new(5);
        let done = closed_loop(&mut drive, 32, 20_000, |index| {
            let near = op(Action::Read, random.below(4_096) * 4_096, 4_096);
            match index % 1_000 {
                30 | 31 => op(far, 90 * GIB + (index as u64) * MIB, 4_096),
                _ => near,
            }
        });
        max_ns(&done)
    };
    let worst_access_ns = 18_000_000 + 8_333_333 + 1_000_000;
    // A write to a full cache waits for two accesses: its own place is made by another.
    let cached = DiskParameters { write_cache_bytes: MIB, write_cache_runs: 1, ..plain_disk() };
    for (far, parameters) in [(Action::Read, plain_disk()), (Action::Write, cached)] {
        let limit_ns = 300_000_000;
        let with = |age_limit_ns| DiskParameters { age_limit_ns, ..parameters.clone() };
        let limited_ns = starve(far, with(limit_ns));
        assert!(limited_ns <= limit_ns + 3 * worst_access_ns, "{far:?}: {limited_ns}");
        let free_ns = starve(far, with(1_000 * SECOND));
        assert!(free_ns > 2 * SECOND, "{far:?}: {free_ns}");
    }
}

#[test]
fn commands_beyond_the_queue_of_the_drive_wait_outside_it() {
    let run = |queue_depth, depth| {
        let mut drive = disk(DiskParameters { queue_depth, ..plain_disk() });
        iops(&closed_loop(&mut drive, depth, 3_000, random(Action::Read, 100 * GIB, 6)))
    };
    assert!((run(1, 64) / run(1, 1) - 1.0).abs() < 0.03, "no choice, no gain");
    assert!((run(8, 64) / run(8, 8) - 1.0).abs() < 0.03);
}

/// Bytes a second of a sequential run of `count` operations.
pub fn rate(parameters: DiskParameters, action: Action, from: u64, len: u64, depth: usize) -> f64 {
    let mut drive = disk(parameters);
    let count = (64 * MIB / len) as usize;
    let done = closed_loop(&mut drive, depth, count, sequential(action, from, len));
    (64 * MIB) as f64 * 1e9 / span_ns(&done) as f64
}

/// What a disk sustains where a track has this many sectors: a track in a turn and a switch.
pub fn sustained(parameters: &DiskParameters, from: u64) -> f64 {
    let drive = disk(parameters.clone());
    let sectors = 64 * MIB / SECTOR_BYTES;
    let pass_ns = drive.geometry().pass_ns(from / SECTOR_BYTES, sectors);
    (64 * MIB) as f64 * 1e9 / pass_ns as f64
}

#[test]
fn sequential_reads_run_at_the_rate_of_the_medium_and_the_outer_zone_is_faster() {
    let parameters = cached_disk();
    let mut outer_to_inner = Vec::new();
    for from in [0, 50 * GIB, 99 * GIB] {
        let expected = sustained(&parameters, from);
        for (len, depth) in [(4 * KIB, 1), (64 * KIB, 1), (1024 * KIB, 1), (64 * KIB, 8)] {
            let seen = rate(parameters.clone(), Action::Read, from, len, depth);
            let ratio = seen / expected;
            assert!((0.97..1.001).contains(&ratio), "{from} {len} {depth}: {seen} {expected}");
        }
        outer_to_inner.push(expected);
    }
    assert!(outer_to_inner[0] > 1.2 * outer_to_inner[1]);
    assert!(outer_to_inner[1] > 1.2 * outer_to_inner[2]);
    // Without memory each read of a sequence misses its turn.
    let missed = rate(plain_disk(), Action::Read, 0, 64 * KIB, 1);
    assert!(missed < 64.0 * 1024.0 * 1e9 / 8_333_333.0, "{missed}");
}

#[test]
fn sequential_writes_run_at_the_rate_of_the_medium_with_a_write_cache_only() {
    let expected = sustained(&plain_disk(), 0);
    let seen = rate(cached_disk(), Action::Write, 0, 64 * KIB, 1);
    assert!((0.97..1.05).contains(&(seen / expected)), "{seen} {expected}");
    assert!(rate(plain_disk(), Action::Write, 0, 64 * KIB, 1) < expected / 5.0);
}

#[test]
fn a_slow_reader_finds_what_was_read_ahead() {
    let mut drive = disk(cached_disk());
    let mut ends = Ends::default();
    let mut now = 0;
    let mut worst_ns = 0;
    for index in 0..4_000_u64 {
        drive.submit(now, 0, &op(Action::Read, index * 16 * KIB, 16 * KIB), &mut ends);
        let end = loop {
            let at = ends.next_at().min(drive.next_event());
            drive.advance(at, &mut ends);
            if let Some(end) = ends.pop(at) {
                break end;
            }
        };
        if index > 0 {
            worst_ns = worst_ns.max(end.at - now);
        }
        // About 16 MB/s.
        now = end.at + 1_000_000;
    }
    assert!(worst_ns < 1_000_000, "{worst_ns}");
    assert!(drive.inside(now).cached_read_units > 3_990 * 32);
}

#[test]
fn a_flush_waits_for_the_write_cache() {
    let mut drive = disk(cached_disk());
    let mut ends = Ends::default();
    let mut draw = random(Action::Write, 100 * GIB, 7);
    for ticket in 0..8 {
        drive.submit(0, ticket, &draw(0), &mut ends);
    }
    drive.submit(5_000_000, 8, &op(Action::Flush, 0, 0), &mut ends);
    let mut last = (0, 0);
    let mut writes_end_by = 0;
    for _ in 0..9 {
        let end = loop {
            let at = ends.next_at().min(drive.next_event());
            drive.advance(at, &mut ends);
            if let Some(end) = ends.pop(at) {
                break end;
            }
        };
        last = (end.ticket, end.at);
        if end.ticket < 8 {
            writes_end_by = end.at;
        }
    }
    assert!(writes_end_by < 2_000_000, "writes end in the cache: {writes_end_by}");
    assert_eq!(last.0, 8);
    assert_eq!(drive.stages().accesses, 8);
    assert_eq!(drive.inside(last.1).buffer_fill, 0.0);
    assert!(drive.stages().seek_ns + drive.stages().rotation_ns > 40_000_000);
    assert_eq!(drive.next_event(), Time::MAX);
}

#[test]
fn a_durable_write_is_on_the_medium_when_it_ends() {
    let cached = DiskParameters { write_cache_bytes: MIB, write_cache_runs: 16, ..plain_disk() };
    let write_ns = |is_durable: bool| {
        let (mut disk, mut ends) = (Disk::new(cached.clone(), 1).unwrap(), Ends::default());
        let op = DataOp { action: Action::Write, offset: GIB, len: 4096, ..DataOp::default() };
        disk.submit_by(0, 0, &op, Way { is_durable, ..Way::default() }, &mut ends);
        while ends.is_empty() {
            disk.advance(disk.next_event(), &mut ends);
        }
        ends.next_at()
    };
    // Whatever the turn of the medium, a seek over a gigabyte takes longer than the link.
    assert!(write_ns(true) > write_ns(false) + 500_000, "{} {}", write_ns(true), write_ns(false));
}

//! Disks, arrays, networks and volumes against what follows from their parameters.

mod array;
mod closed;
mod disk;
mod profiles;
mod volume;

use array::{Fixed, array, network};
use closed::*;
use disk::{cached_disk, plain_disk};
use drivelab_core::inside::Cause;
use drivelab_core::op::{Action, DataOp};
use drivelab_sim::array::{Array, ArrayParameters, Level};
use drivelab_sim::disk::{Disk, DiskParameters};
use drivelab_sim::drive::{Drive, Ends, Ticket};
use drivelab_sim::network::{Network, NetworkParameters};
use drivelab_sim::volume::{Volume, VolumeParameters};
use drivelab_stats::Random;
use volume::gp2;

#[test]
fn everything_obeys_littles_law_and_the_seed_alone_decides() {
    fn prove<D: Drive>(name: &str, make: impl Fn(u64) -> D) {
        let run = |seed: u64, depth: usize| {
            let mut drive = make(seed);
            let bytes = drive.bytes();
            let mut kind = Random::new(8);
            let mut place = random(Action::Read, bytes, 9);
            closed_loop(&mut drive, depth, 12_000, |index| {
                let action = if kind.below(3) == 0 { Action::Write } else { Action::Read };
                DataOp { action, ..place(index) }
            })
        };
        for depth in [1, 7, 64] {
            let done = run(1, depth);
            // All but the last few are in flight all the time.
            let law = depth as f64 / iops(&done) * 1e9;
            let off = (mean_ns(&done) / law - 1.0).abs();
            assert!(off < 0.01, "{name} {depth}: {} {law}", mean_ns(&done));
            assert!(done.iter().all(|done| done.cause != Cause::Unknown));
        }
        assert_eq!(run(1, 7), run(1, 7), "{name}");
        assert_ne!(run(1, 7), run(2, 7), "{name}");
    }
    prove("plain", |seed| Disk::new(plain_disk(), seed).unwrap());
    prove("cached", |seed| Disk::new(cached_disk(), seed).unwrap());
    for level in [Level::Stripe, Level::Mirror, Level::Parity] {
        prove("array", |seed| Array::of_disks(array(level, 4), &plain_disk(), seed).unwrap());
        let parameters = ArrayParameters { write_cache_bytes: 8 * MIB, ..array(level, 4) };
        prove("cached array", |seed| {
            let array = Array::of_disks(parameters.clone(), &plain_disk(), seed).unwrap();
            Network::new(network(), array, seed).unwrap()
        });
    }
    prove("volume", |seed| {
        Volume::new(VolumeParameters { jitter_ns: 100_000, ..gp2(100) }, seed).unwrap()
    });
}

#[test]
fn what_is_out_of_range_is_named() {
    for (parameters, name) in [
        (DiskParameters { rotation_rpm: 0, ..plain_disk() }, "rotation_rpm"),
        (DiskParameters { inner_bytes_per_s: 90_000_000, ..plain_disk() }, "inner_bytes_per_s"),
        (DiskParameters { seek_average_ns: 90_000_000, ..plain_disk() }, "seek_average_ns"),
        (DiskParameters { link_bytes_per_s: 1_000, ..plain_disk() }, "link_bytes_per_s"),
        (DiskParameters { write_cache_runs: 4, ..plain_disk() }, "write_cache_runs"),
        (DiskParameters { read_cache_bytes: 4_096, ..plain_disk() }, "read_cache_segments"),
        (DiskParameters { user_bytes: MIB, zones: 1, ..plain_disk() }, "user_bytes"),
    ] {
        let error = Disk::new(parameters, 0).unwrap_err();
        assert!(error.contains(name), "{error}");
    }
    let error = Array::of_disks(array(Level::Mirror, 5), &plain_disk(), 0).unwrap_err();
    assert!(error.contains("members must be even"), "{error}");
    let error = Array::of_disks(array(Level::Parity, 2), &plain_disk(), 0).unwrap_err();
    assert!(error.contains("members"), "{error}");
    let error = Volume::new(VolumeParameters { iops_burst: 0, ..gp2(1) }, 0).unwrap_err();
    assert!(error.contains("credits_max"), "{error}");
    let small = NetworkParameters { to_drive_bytes_per_s: 0, ..network() };
    assert!(Network::new(small, Fixed::default(), 0).unwrap_err().contains("to_drive"));
}

/// Any operations at any times: each ends once, not before it came, and nothing is left over.
fn swarm<D: Drive>(seed: u64, mut drive: D) {
    let mut random = Random::new(seed);
    let (bytes, mut ends, mut now) = (drive.bytes(), Ends::default(), 0);
    let mut begins = [None; 256];
    let pause_ns = 1 << random.below(28);
    let mut free: Vec<Ticket> = (0..1 + random.below(256) as Ticket).collect();
    let (mut issued, mut ended) = (0, 0);
    while ended < 3_000 {
        let at = ends.next_at().min(drive.next_event());
        let come_at = now + random.below(pause_ns);
        if issued < 3_000 && !free.is_empty() && come_at < at {
            now = come_at;
            let ticket = free.swap_remove(random.below(free.len() as u64) as usize);
            begins[ticket as usize] = Some(now);
            drive.submit(now, ticket, &swarm_op(&mut random, bytes, issued), &mut ends);
            issued += 1;
        } else {
            assert_ne!(at, u64::MAX, "{seed}: {issued} issued, {ended} ended");
            now = now.max(at);
            drive.advance(now, &mut ends);
        }
        while let Some(end) = ends.pop(now) {
            let began_at = begins[end.ticket as usize].take();
            assert!(began_at.is_some_and(|began_at| began_at <= end.at), "{seed}");
            free.push(end.ticket);
            ended += 1;
        }
    }
    while drive.next_event() < u64::MAX {
        drive.advance(drive.next_event(), &mut ends);
    }
    assert!(ends.is_empty());
    let inside = drive.inside(u64::MAX);
    assert!(inside.buffer_fill == 0.0, "{seed}: {}", inside.buffer_fill);
}

fn swarm_op(random: &mut Random, bytes: u64, issued: u64) -> DataOp {
    let len = 512 << random.below(12);
    let near = issued * 4_096 % (bytes / 2);
    let offset = match random.below(3) {
        0 => near,
        1 => random.below(64) * 4_096,
        _ => random.below((bytes - len) / 512) * 512,
    };
    match random.below(40) {
        0 => op(Action::Flush, 0, 0),
        1 => op(Action::Trim, offset, len),
        draw if draw < 20 => op(Action::Read, offset, len),
        _ => op(Action::Write, offset, len),
    }
}

#[test]
fn whatever_is_asked_ends_once() {
    for seed in 0..20 {
        let mut random = Random::new(seed);
        let disk = DiskParameters {
            user_bytes: (1 + random.below(20)) * GIB,
            heads: 1 + random.below(6),
            zones: 1 + random.below(20),
            queue_depth: 1 + random.below(40),
            read_cache_segments: 8 * random.below(2),
            read_cache_bytes: 0,
            write_cache_runs: 12 * random.below(2),
            write_cache_bytes: 0,
            ..plain_disk()
        };
        let disk = DiskParameters {
            read_cache_bytes: disk.read_cache_segments * (64 * KIB),
            write_cache_bytes: disk.write_cache_runs * (64 * KIB),
            ..disk
        };
        swarm(seed, Disk::new(disk.clone(), seed).unwrap());
        let levels = [Level::Stripe, Level::Mirror, Level::Parity];
        let parameters = ArrayParameters {
            strip_bytes: 4_096 << random.below(8),
            write_cache_bytes: (8 * MIB) * random.below(2),
            write_cache_protected: random.below(2) == 0,
            destage_rows: 1 + random.below(8),
            ..array(levels[random.below(3) as usize], 2 * (2 + random.below(3)))
        };
        let array = Array::of_disks(parameters, &disk, seed).unwrap();
        swarm(seed, Network::new(network(), array, seed).unwrap());
        swarm(seed, Volume::new(gp2(1 + random.below(2_000)), seed).unwrap());
    }
}

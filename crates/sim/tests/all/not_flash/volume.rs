//! Cloud volumes.

use super::closed::*;
use drivelab_core::op::{Action, SECOND};
use drivelab_sim::drive::Drive;
use drivelab_sim::volume::{Volume, VolumeParameters};

pub fn gp2(gib: u64) -> VolumeParameters {
    VolumeParameters {
        user_bytes: gib * GIB,
        iops_base: 0,
        iops_per_gib: 3,
        iops_min: 100,
        iops_max: 16_000,
        iops_slack_per_mille: 0,
        iops_burst: 3_000,
        credits_max: 5_400_000,
        credits_initial: 5_400_000,
        bandwidth_bytes_per_s: 128 * MIB,
        bandwidth_burst_bytes: 256 * KIB,
        io_unit_bytes: 256 * KIB,
        read_ns: 1_000_000,
        write_ns: 1_000_000,
        jitter_ns: 0,
    }
}

/// Operations that end in each second.
pub fn by_second(done: &[Done], first_ns: u64) -> Vec<u64> {
    let mut counts = vec![0; (span_ns(done) / SECOND + 1) as usize];
    for done in done {
        counts[((done.end - first_ns) / SECOND) as usize] += 1;
    }
    counts
}

#[test]
fn the_credits_of_gp2_end_in_the_second_they_must() {
    let mut drive = Volume::new(gp2(100), 1).unwrap();
    assert_eq!(drive.inside(0).credits, 5_400_000.0);
    let count = 2_000 * 3_000 + 100 * 300 + 1;
    let done = closed_loop(&mut drive, 16, count, random(Action::Read, 100 * GIB, 15));
    let counts = by_second(&done, 1_000_000);
    for (second, &count) in counts.iter().enumerate().take(2_100) {
        let expected = if second < 2_000 { 3_000 } else { 300 };
        // An operation takes a whole token: the last before the knee waits for the rest of its own.
        let slack = u64::from([0, 1_999, 2_000].contains(&second));
        assert!(count.abs_diff(expected) <= slack, "{second}: {count}");
    }
    assert!(drive.inside(span_ns(&done)).credits < 1.0);
    // A pause earns 300 credits a second.
    let later = span_ns(&done) + 600 * SECOND;
    assert!((drive.inside(later).credits - 180_000.0).abs() < 2.0);
}

#[test]
fn volumes_without_a_burst_are_flat() {
    let gp3 = VolumeParameters {
        iops_base: 3_000,
        iops_per_gib: 0,
        iops_burst: 0,
        credits_max: 0,
        credits_initial: 0,
        bandwidth_bytes_per_s: 125 * MIB,
        ..gp2(100)
    };
    let mut drive = Volume::new(gp3.clone(), 1).unwrap();
    let done = closed_loop(&mut drive, 64, 300_001, random(Action::Write, 100 * GIB, 16));
    let counts = by_second(&done, 1_000_000);
    assert!(counts[1..100].iter().all(|&count| count == 3_000));
    assert_eq!(drive.inside(span_ns(&done)).credits, 0.0);
    // 128 KiB operations: bytes are the limit, 1000 a second.
    let mut drive = Volume::new(gp3.clone(), 1).unwrap();
    let done = closed_loop(&mut drive, 64, 20_000, sequential(Action::Read, 0, 128 * KIB));
    assert!(by_second(&done, 1_000_000)[1..19].iter().all(|&count| count == 1_000));
    // 512 KiB count as two, but bytes are the limit still.
    let wide = VolumeParameters { bandwidth_bytes_per_s: 100 * GIB, ..gp3 };
    let mut drive = Volume::new(wide, 1).unwrap();
    let done = closed_loop(&mut drive, 64, 15_000, sequential(Action::Read, 0, 512 * KIB));
    assert!(by_second(&done, 1_000_000)[1..9].iter().all(|&count| count == 1_500));
    // A volume whose base exceeds the burst has no credits to spend.
    let large = Volume::new(gp2(2_000), 1).unwrap().inside(0);
    assert_eq!(large.credits, 0.0);
    assert_eq!((gp2(10).iops(), gp2(2_000).iops(), gp2(9_000).iops()), (100, 6_000, 16_000));
}

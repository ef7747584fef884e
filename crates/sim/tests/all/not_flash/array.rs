//! Arrays and networks.

use super::closed::*;
use super::disk::{disk, plain_disk};
use drivelab_core::facts::CacheState;
use drivelab_core::inside::{Cause, Inside};
use drivelab_core::op::{Action, DataOp, SECOND, Time};
use drivelab_sim::array::{Array, ArrayParameters, Level};
use drivelab_sim::drive::{Drive, Ends, Ticket, Way};
use drivelab_sim::network::{Network, NetworkParameters};

pub fn array(level: Level, members: u64) -> ArrayParameters {
    ArrayParameters {
        level,
        members,
        strip_bytes: 64 * KIB,
        command_ns: 20_000,
        link_bytes_per_s: 1_000_000_000,
        write_cache_bytes: 0,
        write_cache_protected: true,
        destage_delay_ns: SECOND,
        destage_rows: 8,
        cache_state: CacheState::Cold,
    }
}

pub fn network() -> NetworkParameters {
    NetworkParameters {
        round_trip_ns: 200_000,
        jitter_ns: 50_000,
        to_drive_bytes_per_s: 400_000_000,
        from_drive_bytes_per_s: 800_000_000,
    }
}

/// A drive that takes the same time for everything, as many at once as there are.
#[derive(Debug, Default)]
pub struct Fixed {
    ns: u64,
    taken: [u64; 11],
}

impl Drive for Fixed {
    fn bytes(&self) -> u64 {
        GIB
    }

    fn submit_by(&mut self, now: Time, ticket: Ticket, op: &DataOp, _way: Way, ends: &mut Ends) {
        assert!(op.offset + u64::from(op.len) <= GIB);
        self.taken[op.action.index()] += 1;
        ends.push(now + self.ns, ticket, Cause::Flash);
    }

    fn inside(&mut self, _now: Time) -> Inside {
        Inside { servers: 1, ..Inside::default() }
    }
}

pub fn fixed_array(parameters: ArrayParameters) -> Array<Fixed> {
    let members = (0..parameters.members).map(|_| Fixed { ns: 1_000_000, ..Fixed::default() });
    let members = members.collect();
    Array::new(parameters, members).unwrap()
}

#[test]
fn a_small_write_on_parity_is_two_reads_then_two_writes() {
    let mut drive = fixed_array(array(Level::Parity, 5));
    let bytes = drive.bytes();
    let done = closed_loop(&mut drive, 1, 1_000, random(Action::Write, bytes, 10));
    let ops = drive.member_ops();
    assert_eq!((ops.reads, ops.parity_reads, ops.writes), (2_000, 2_000, 2_000));
    let taken: u64 = drive.members().map(|member| member.taken[Action::Read.index()]).sum();
    assert_eq!(taken, 2_000);
    // Controller 20 µs, 4 KiB over 1 GB/s, then two rounds of 1 ms.
    assert!(done.iter().all(|done| done.ns() == 20_000 + 4_096 + 2_000_000));
    let mut drive = fixed_array(array(Level::Parity, 5));
    closed_loop(&mut drive, 1, 1_000, random(Action::Read, bytes, 10));
    assert_eq!((drive.member_ops().reads, drive.member_ops().writes), (1_000, 0));
}

#[test]
fn whole_rows_need_no_reads_and_most_of_a_row_needs_the_rest() {
    let row = 4 * 64 * KIB;
    let mut drive = fixed_array(array(Level::Parity, 5));
    let done = closed_loop(&mut drive, 1, 100, sequential(Action::Write, 0, row));
    let ops = drive.member_ops();
    assert_eq!((ops.reads, ops.writes), (0, 500));
    assert!(done.iter().all(|done| done.ns() == 20_000 + row + 1_000_000));
    let mut drive = fixed_array(array(Level::Parity, 5));
    closed_loop(&mut drive, 1, 100, |index| op(Action::Write, index as u64 * row, 3 * 64 * KIB));
    assert_eq!((drive.member_ops().reads, drive.member_ops().writes), (100, 400));
}

#[test]
fn writes_to_one_row_of_parity_follow_each_other() {
    let mut drive = fixed_array(array(Level::Parity, 5));
    let done =
        closed_loop(&mut drive, 4, 4, |index| op(Action::Write, index as u64 * 4_096, 4_096));
    assert!(span_ns(&done) > 8_000_000, "{}", span_ns(&done));
    let mut drive = fixed_array(array(Level::Parity, 5));
    let row = 4 * 64 * KIB;
    let done = closed_loop(&mut drive, 4, 4, |index| op(Action::Write, index as u64 * row, 4_096));
    assert!(span_ns(&done) < 2_200_000, "{}", span_ns(&done));
}

#[test]
fn reads_of_a_mirror_use_both_members_and_writes_go_to_both() {
    let mut drive = fixed_array(array(Level::Mirror, 4));
    let bytes = drive.bytes();
    assert_eq!(bytes, 2 * GIB);
    closed_loop(&mut drive, 8, 8_000, random(Action::Read, bytes, 11));
    for member in drive.members() {
        let taken = member.taken[Action::Read.index()];
        assert!((1_800..2_200).contains(&taken), "{taken}");
    }
    closed_loop(&mut fixed_array(array(Level::Mirror, 4)), 1, 1, |_| op(Action::Flush, 0, 0));
    let mut drive = fixed_array(array(Level::Mirror, 4));
    closed_loop(&mut drive, 8, 1_000, random(Action::Write, bytes, 12));
    assert_eq!(drive.member_ops().writes, 2_000);
    // Two disks answer nearly twice as many random reads as one.
    let one = iops(&closed_loop(&mut disk(plain_disk()), 8, 4_000, random(Action::Read, GIB, 13)));
    let mut pair = Array::of_disks(array(Level::Mirror, 2), &plain_disk(), 1).unwrap();
    let two = iops(&closed_loop(&mut pair, 16, 4_000, random(Action::Read, GIB, 13)));
    assert!((1.8..2.2).contains(&(two / one)), "{one} {two}");
}

#[test]
fn the_controller_cache_joins_small_sequential_writes_into_whole_rows() {
    let parameters = ArrayParameters {
        write_cache_bytes: 16 * MIB,
        write_cache_protected: false,
        ..array(Level::Parity, 5)
    };
    let mut drive = fixed_array(parameters);
    let row = 4 * 64 * KIB;
    let count = 10 * row / 4_096;
    let done = closed_loop(&mut drive, 1, count as usize, sequential(Action::Write, 0, 4_096));
    assert!(done.iter().all(|done| done.ns() == 20_000 + 4_096), "early completion");
    let mut ends = Ends::default();
    let now = span_ns(&done);
    drive.submit(now, 0, &op(Action::Flush, 0, 0), &mut ends);
    while ends.is_empty() {
        let at = drive.next_event();
        drive.advance(at, &mut ends);
    }
    assert_eq!((drive.member_ops().reads, drive.member_ops().writes), (0, 50));
    let flushes: u64 = drive.members().map(|member| member.taken[Action::Flush.index()]).sum();
    assert_eq!(flushes, 5);
}

#[test]
fn a_full_controller_cache_makes_writes_wait_for_the_members() {
    let parameters = ArrayParameters { write_cache_bytes: MIB, ..array(Level::Parity, 5) };
    let mut drive = fixed_array(parameters);
    let bytes = drive.bytes();
    let done = closed_loop(&mut drive, 64, 20_000, random(Action::Write, bytes, 14));
    // Eight rows at a time, two rounds of 1 ms each.
    let iops = iops(&done[1_000..]);
    assert!((3_900.0..4_400.0).contains(&iops), "{iops}");
    assert!(done.iter().filter(|done| done.cause == Cause::Buffer).count() > 15_000);
}

#[test]
fn a_network_adds_its_round_trip_and_its_rates() {
    let still = NetworkParameters { jitter_ns: 0, ..network() };
    let fixed = Fixed { ns: 50_000, ..Fixed::default() };
    let mut drive = Network::new(still, fixed, 1).unwrap();
    let done = closed_loop(&mut drive, 1, 10, sequential(Action::Read, 0, 80_000));
    assert!(done.iter().all(|done| done.ns() == 200_000 + 50_000 + 100_000));
    let done =
        closed_loop(&mut Network::new(network(), Fixed::default(), 1).unwrap(), 1, 1, |_| {
            op(Action::Write, 0, 80_000)
        });
    assert!((400_000..450_001).contains(&done[0].ns()));
    // Many at once: the rate of the direction is the bound.
    let mut drive = Network::new(network(), Fixed::default(), 1).unwrap();
    let done = closed_loop(&mut drive, 64, 5_000, |_| op(Action::Read, 0, 80_000));
    assert!((iops(&done) / 10_000.0 - 1.0).abs() < 0.01, "{}", iops(&done));
    assert!(done.iter().all(|done| done.cause == Cause::Network));
}

#[test]
fn a_durable_write_waits_for_what_the_controller_would_lose() {
    let durable = Way { is_durable: true, ..Way::default() };
    for (cache_bytes, is_protected, flushes, rounds) in
        [(0, false, 5, 3), (MIB, true, 0, 0), (MIB, false, 5, 3)]
    {
        let parameters = ArrayParameters {
            write_cache_bytes: cache_bytes,
            write_cache_protected: is_protected,
            ..array(Level::Parity, 5)
        };
        let mut drive = fixed_array(parameters);
        let mut ends = Ends::default();
        drive.submit_by(0, 0, &op(Action::Write, 0, 4_096), durable, &mut ends);
        let mut now = 0;
        let end = loop {
            if let Some(end) = ends.pop(now) {
                break end;
            }
            now = now.max(ends.next_at().min(drive.next_event()));
            drive.advance(now, &mut ends);
        };
        let taken: u64 = drive.members().map(|member| member.taken[Action::Flush.index()]).sum();
        assert_eq!(taken, flushes, "{cache_bytes} {is_protected}");
        // Controller and link, then reads, writes and flushes of 1 ms each.
        assert_eq!(end.at, 20_000 + 4_096 + rounds * 1_000_000, "{cache_bytes} {is_protected}");
    }
}

//! A stonewall that is worn out: all workers of a stream go on to what the farthest has done.

use crate::support::{MIB, SECOND, drivers, run, step};
use drivelab_core::content::{Fault, check_counting, count_up};
use drivelab_core::endings::{EndingMessage, Endings, OtherRanks};
use drivelab_core::op::{DataOp, Time};
use drivelab_core::plan::{Content, Mix, Pattern, Stream, Until};
use drivelab_core::queue::Finished;
use drivelab_core::units::{Size, Span};

const FAST: Time = 1_000_000;

fn walled(workers: u32) -> Stream {
    Stream {
        workers,
        pattern: Pattern::SEQUENTIAL,
        mix: Mix::WRITE,
        size: Size(4096),
        ..Stream::default()
    }
}

fn until(elapsed: Time) -> Until {
    let (elapsed, passes) = (Some(Span(elapsed)), Some(1));
    Until { elapsed, passes, wear_out: true, ..Until::default() }
}

/// The last third of the file is slow, which begins within the first block of the third worker.
fn drive(now: Time, op: &DataOp, _: &mut [u8]) -> (Time, Result<u32, drivelab_core::op::Errno>) {
    (now + if op.offset > 2 * MIB / 3 { 4 } else { 1 } * FAST, Ok(op.len))
}

#[test]
fn the_slow_go_on_to_what_the_fast_have_done() {
    let outcome = run(drivers(&step(until(20 * FAST), vec![walled(3)]), MIB), drive);
    let of = |worker| outcome.issues.iter().filter(|issue| issue.worker == worker).count();
    assert_eq!([of(0), of(1), of(2)], [20, 20, 20]);
    let walls: Vec<(u64, u64, bool)> = outcome
        .finished
        .iter()
        .map(|Finished { phase, .. }| {
            let wall = phase.stonewall.unwrap();
            (wall.operations, phase.issued, wall.at >= 20 * FAST)
        })
        .collect();
    assert_eq!(walls, [(20, 20, true), (20, 20, true), (6, 20, true)]);
    let last = outcome.finished.iter().map(|one| one.phase.closed).max().unwrap();
    assert!((76 * FAST..=79 * FAST).contains(&last), "{last}: the wear is in the time");
}

#[test]
fn who_has_done_all_is_the_farthest_there_can_be() {
    // 85 blocks each: the fast are done before the time is over.
    let outcome = run(drivers(&step(until(100 * FAST), vec![walled(3)]), MIB), drive);
    let walls: Vec<(Option<u64>, u64)> = outcome
        .finished
        .iter()
        .map(|Finished { phase, .. }| (phase.stonewall.map(|wall| wall.operations), phase.issued))
        .collect();
    assert_eq!(walls, [(None, 85), (None, 85), (Some(26), 85)]);
    let all = run(drivers(&step(until(10 * SECOND), vec![walled(3)]), MIB), drive);
    let issued: Vec<u64> = all.finished.iter().map(|one| one.phase.issued).collect();
    assert_eq!(issued, [85, 85, 86], "all of it");
    assert!(all.finished.iter().all(|one| one.phase.stonewall.is_none()));
}

#[test]
fn ranks_tell_each_other_how_far_they_have_come() {
    let all = drivers(&step(until(SECOND), vec![walled(2)]), MIB);
    let of = |rank: usize| OtherRanks { count: 1, is_rank_0: rank == 0 };
    let mut ranks: Vec<Endings> =
        (0..2).map(|rank| Endings::new(&all[rank..=rank], of(rank))).collect();
    ranks[0].note_way(0, Some(7));
    assert_eq!(ranks[0].to_go_on(), [], "the other one is still at work");
    let sent = ranks[0].to_send(|_| false);
    assert_eq!(sent, [EndingMessage::CameTo((0, 0), 7)]);
    assert_eq!(ranks[0].to_send(|_| false), [], "once");
    sent.into_iter().for_each(|message| ranks[1].receive(message));
    ranks[1].note_way(0, Some(3));
    assert_eq!(ranks[1].to_go_on(), [(0, 7)]);
    assert_eq!(ranks[1].to_go_on(), [], "each is named once");
    let sent = ranks[1].to_send(|_| false);
    sent.into_iter().for_each(|message| ranks[0].receive(message));
    assert_eq!(ranks[0].to_go_on(), [(0, 7)]);
}

#[test]
fn what_counts_up_is_what_ior_writes() {
    // IOR 4.1 wrote so with -G 271, and with -G -2 by the third task.
    let mut buffer = [0; 20];
    count_up(271, 1, &mut buffer);
    assert_eq!(u64::from_le_bytes(buffer[..8].try_into().unwrap()), 0x1_0000_010f);
    assert_eq!(u64::from_le_bytes(buffer[8..16].try_into().unwrap()), 0x1_0000_0110);
    assert_eq!(buffer[16..], [16, 17, 18, 19], "of a word that is not whole its places");
    count_up(-2, 2, &mut buffer);
    assert_eq!(u64::from_le_bytes(buffer[..8].try_into().unwrap()), 0xffff_ffff_ffff_fffe);
    let mut large = vec![0; 47_008];
    count_up(27, 3, &mut large);
    let faults = |data: &[u8], worker| {
        let mut found = Vec::new();
        let count = check_counting((27, worker), data, |at, fault| found.push((at, fault)));
        (count, found)
    };
    assert_eq!(faults(&large, 3), (12, vec![]));
    assert_eq!(faults(&large, 2).1.len(), 12, "of another task");
    large[47_007] ^= 1;
    let (_, found) = faults(&large, 3);
    let (expected, number) = (0x3_0000_170e, 0x0100_0003_0000_170e);
    assert_eq!(found, [(45_056, Fault::Number { found: number, expected })]);
}

#[test]
fn counted_content_is_written_and_checked() {
    let written = Stream { content: Content::Counting(5), ..walled(2) };
    let once = Until { passes: Some(1), ..Until::default() };
    let mut kept = vec![0; MIB as usize];
    let store = |now: Time, op: &DataOp, buffer: &mut [u8]| {
        let at = op.offset as usize..(op.offset + u64::from(op.len)) as usize;
        kept[at].copy_from_slice(&buffer[..op.len as usize]);
        (now + FAST, Ok(op.len))
    };
    run(drivers(&step(once.clone(), vec![written.clone()]), MIB), store);
    assert_eq!(kept[..8], [5, 0, 0, 0, 0, 0, 0, 0]);
    assert_eq!(kept[MIB as usize / 2..][..8], [5, 0, 0, 0, 1, 0, 0, 0]);
    kept[9] ^= 4;
    let load = |now: Time, op: &DataOp, buffer: &mut [u8]| {
        let at = op.offset as usize..(op.offset + u64::from(op.len)) as usize;
        buffer[..op.len as usize].copy_from_slice(&kept[at]);
        (now + FAST, Ok(op.len))
    };
    let read = Stream { mix: Mix::READ, verify: true, ..written };
    let outcome = run(drivers(&step(once, vec![read]), MIB), load);
    let measured = outcome.sink.measured();
    assert_eq!((measured.verified, measured.mismatched), (256, 1));
}

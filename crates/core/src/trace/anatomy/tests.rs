use super::{Anatomy, Piece, Segment, Stamped, dissect};
use crate::op::{Action, Time};
use crate::trace::block::{BlockEvent, Point, Trace};
use crate::trace::tests::{DEVICE, large, plain, queued};

const PLAIN: &str = include_str!("../../../tests/captured/plain-ios");
const QUEUED: &str = include_str!("../../../tests/captured/queued-ios");
const LARGE: &str = include_str!("../../../tests/captured/large-ios");
const WHOLE: [Piece; 1] = [Piece { offset: 0, bytes: 1 << 40, on_disk: 0 }];

/// What the program that was traced noted of its own I/Os.
fn noted(text: &str) -> Vec<Stamped> {
    let io = |line: &str| {
        let numbers: Vec<u64> =
            line.split(' ').map(|number| number.parse().expect("a number")).collect();
        Stamped {
            issued: numbers[0],
            submitted: numbers[0],
            completed: numbers[1],
            offset: numbers[2],
            bytes: numbers[3] as u32,
            ..Stamped::default()
        }
    };
    text.lines().map(io).collect()
}

fn means(anatomy: &Anatomy) -> [f64; 4] {
    let kind = &anatomy.kinds[0];
    std::array::from_fn(|part| kind.segments[part].mean().expect("I/Os"))
}

fn share(anatomy: &Anatomy, segment: Segment) -> f64 {
    let means = means(anatomy);
    means[segment as usize] / means.iter().sum::<f64>()
}

fn assert_all_paired(anatomy: &Anatomy, ios: u64) {
    assert_eq!(anatomy.dissected(), ios, "{anatomy:?}");
    assert_eq!((anatomy.ambiguous, anatomy.unpaired, anatomy.unmapped), (0, 0, 0));
    let total: u128 = anatomy.kinds[0].total.sum();
    assert!(u128::from(anatomy.kinds[0].unaccounted_ns) * 100 <= total, "parts are the whole");
}

#[test]
fn captured_reads_fall_into_their_parts() {
    let anatomy = dissect(&plain(), 0, DEVICE, noted(PLAIN), &WHOLE);
    assert_all_paired(&anatomy, 40);
    assert!(share(&anatomy, Segment::Queue) < 0.2, "{:?}", means(&anatomy));
    assert_eq!(anatomy.kinds[0].slowest.len(), 20);
    let slowest = anatomy.kinds[0].slowest[0];
    assert_eq!(slowest.total_ns, anatomy.kinds[0].total.max());
    assert_eq!(slowest.segments_ns.iter().sum::<u64>(), slowest.total_ns);
    // By hand from the text of both files: the first read.
    let first = noted(PLAIN)[0];
    let events: Vec<Time> = plain().events[..4].iter().map(|event| event.at).collect();
    let alone = dissect(&plain(), 0, DEVICE, vec![first], &WHOLE);
    let expected = [
        events[0] - first.issued,
        events[2] - events[0],
        events[3] - events[2],
        first.completed - events[3],
    ];
    assert_eq!(alone.kinds[0].slowest[0].segments_ns, expected);
}

/// The same capture with a delay planted before the driver's door, and one behind it.
#[test]
fn a_planted_delay_falls_into_its_own_part() {
    const DELAY: Time = 3_000_000;
    let (before, ios) = (dissect(&plain(), 0, DEVICE, noted(PLAIN), &WHOLE), noted(PLAIN));
    let plants = [
        (Segment::Submit, Point::Queue),
        (Segment::Queue, Point::Issue),
        (Segment::Device, Point::Complete),
    ];
    for (segment, first_late) in plants {
        let mut trace = plain();
        // One at a time: everything from that point on of each I/O, and of all behind it, is late.
        for (number, events) in trace.events.chunks_mut(4).enumerate() {
            for event in events {
                let is_late = event.point >= first_late;
                event.at += DELAY * (number as u64 + u64::from(is_late));
            }
        }
        let late = |(number, io): (usize, &Stamped)| Stamped {
            issued: io.issued + DELAY * number as u64,
            completed: io.completed + DELAY * (number as u64 + 1),
            ..*io
        };
        let ios: Vec<Stamped> = ios.iter().enumerate().map(late).collect();
        let after = dissect(&trace, 0, DEVICE, ios, &WHOLE);
        assert_all_paired(&after, 40);
        for (part, (after, before)) in means(&after).iter().zip(means(&before)).enumerate() {
            let planted = if part == segment as usize { DELAY as f64 } else { 0.0 };
            assert!((after - before - planted).abs() < 1.0, "{segment:?}: part {part}");
        }
    }
}

/// 16 readers and 4 requests: three quarters of them wait before the driver's door.
#[test]
fn a_captured_queue_is_found_in_the_queue() {
    let anatomy = dissect(&queued(), 0, DEVICE, noted(QUEUED), &WHOLE);
    assert_all_paired(&anatomy, 80);
    assert!(share(&anatomy, Segment::Queue) > 0.5, "{:?}", means(&anatomy));
    let ios = noted(QUEUED);
    let span = ios.iter().map(|io| io.completed).max().unwrap_or(0) - ios[0].issued;
    let in_device = anatomy.kinds[0].segments[Segment::Device as usize].sum() as f64 / span as f64;
    assert!(in_device <= 4.0, "{in_device} in the device on average, of 4 requests");
}

#[test]
fn a_read_that_was_cut_is_done_when_all_of_it_is() {
    let anatomy = dissect(&large(), 0, DEVICE, noted(LARGE), &WHOLE);
    assert_all_paired(&anatomy, 3);
    assert!(anatomy.splits >= 3);
    assert!(share(&anatomy, Segment::Device) > 0.5, "{:?}", means(&anatomy));
}

fn event(at: Time, point: Point, sector: u64, sectors: u32) -> BlockEvent {
    BlockEvent { at, point, device: 1, sector, sectors, action: Some(Action::Read) }
}

fn io(issued: Time, completed: Time, offset: u64, bytes: u32) -> Stamped {
    Stamped { issued, submitted: issued, completed, offset, bytes, ..Stamped::default() }
}

fn taken(mut events: Vec<BlockEvent>, ios: Vec<Stamped>) -> Anatomy {
    events.sort_by_key(|event| event.at);
    dissect(&Trace { events, ..Trace::default() }, 0, 1, ios, &WHOLE)
}

#[test]
fn merged_ios_share_their_request() {
    let anatomy = taken(
        vec![
            event(10, Point::Queue, 0, 8),
            event(20, Point::Queue, 8, 8),
            event(21, Point::Merge, 8, 8),
            event(30, Point::Issue, 0, 16),
            event(90, Point::Complete, 0, 16),
        ],
        vec![io(1, 100, 0, 4096), io(2, 110, 4096, 4096)],
    );
    let slowest: Vec<[u64; 4]> = anatomy.kinds[0].slowest.iter().map(|io| io.segments_ns).collect();
    assert_eq!(slowest, [[18, 10, 60, 20], [9, 20, 60, 10]]);
    assert_eq!((anatomy.merges, anatomy.unpaired), (1, 0));
}

#[test]
fn a_request_that_was_taken_back_is_issued_when_it_is_issued_again() {
    let anatomy = taken(
        vec![
            event(10, Point::Queue, 0, 8),
            event(20, Point::Issue, 0, 8),
            event(25, Point::Requeue, 0, 8),
            event(60, Point::Issue, 0, 8),
            // Done in two parts.
            event(80, Point::Complete, 0, 4),
            event(90, Point::Complete, 4, 4),
        ],
        vec![io(1, 100, 0, 4096)],
    );
    assert_eq!(anatomy.kinds[0].slowest[0].segments_ns, [9, 50, 30, 10]);
    assert_eq!(anatomy.requeues, 1);
}

#[test]
fn two_on_one_sector_are_dropped_and_counted() {
    let events = || {
        [10, 12].into_iter().flat_map(|at| {
            [(0, Point::Queue), (5, Point::Issue), (20, Point::Complete)]
                .map(|(later, point)| event(at + later, point, 0, 8))
        })
    };
    let anatomy = taken(events().collect(), vec![io(1, 100, 0, 4096), io(2, 90, 0, 4096)]);
    assert_eq!((anatomy.ambiguous, anatomy.dissected()), (2, 0));
    // Overlapping without the same beginning.
    let anatomy = taken(events().collect(), vec![io(1, 100, 0, 4096), io(2, 90, 2048, 4096)]);
    assert_eq!((anatomy.ambiguous, anatomy.dissected()), (2, 0));
    // One after the other, the second at the very end of the first.
    let later = events().map(|event| BlockEvent { at: event.at + 1000, ..event });
    let first = events().take(3);
    let anatomy = taken(
        first.chain(later.take(3)).collect(),
        vec![io(1, 1000, 0, 4096), io(1000, 2000, 0, 4096)],
    );
    assert_eq!((anatomy.ambiguous, anatomy.dissected()), (0, 2));
}

#[test]
fn what_the_trace_lacks_is_dropped_and_counted() {
    let events = vec![event(10, Point::Queue, 0, 8), event(30, Point::Complete, 0, 8)];
    let anatomy = taken(events, vec![io(1, 100, 0, 4096)]);
    assert_eq!((anatomy.unpaired, anatomy.dissected()), (1, 0));
    let write = vec![Stamped { action: Action::Write, ..io(1, 100, 0, 4096) }];
    let of_a_read = [10, 20, 30].into_iter().zip([Point::Queue, Point::Issue, Point::Complete]);
    let anatomy = taken(of_a_read.map(|(at, point)| event(at, point, 0, 8)).collect(), write);
    assert_eq!((anatomy.unpaired, anatomy.dissected()), (1, 0), "a read's events are no write's");
}

#[test]
fn a_target_in_pieces_is_found_on_the_disk() {
    let pieces = [
        Piece { offset: 0, bytes: 8192, on_disk: 1 << 20 },
        Piece { offset: 8192, bytes: 8192, on_disk: 4 << 20 },
    ];
    let at = (4 << 20) / 512 + 8;
    let points = [Point::Queue, Point::Issue, Point::Complete].into_iter();
    let events = points.zip([10, 20, 30]).map(|(point, time)| event(time, point, at, 8)).collect();
    let trace = Trace { events, ..Trace::default() };
    // The second lies in both pieces.
    let ios = vec![io(5, 50, 12288, 4096), io(60, 90, 4096, 8192)];
    let anatomy = dissect(&trace, 0, 1, ios, &pieces);
    assert_eq!((anatomy.dissected(), anatomy.unmapped), (1, 1));
}

/// A trace whose clock is off makes the parts more than the whole, and that is seen.
#[test]
fn clocks_that_disagree_show() {
    let mut trace = plain();
    trace.events.iter_mut().for_each(|event| event.at -= 20_000);
    let ios: Vec<Stamped> = noted(PLAIN);
    let anatomy = dissect(&trace, 0, DEVICE, ios, &WHOLE);
    let off = anatomy.kinds.first().map_or(u64::MAX, |kind| kind.unaccounted_ns);
    assert!(anatomy.unpaired + anatomy.ambiguous > 0 || off > 40 * 1000, "{anatomy:?}");
}

use super::block::{BlockEvent, Decoder, Point, Trace};
use super::format::{Format, PageLayout};
use super::page::{Missed, read};
use crate::op::Action;

const HEADER_PAGE: &str = include_str!("../../tests/captured/header_page");
/// Linux 6.18 on x86-64, 4 KiB reads, one at a time, of a loop device.
const PLAIN: &[u8] = include_bytes!("../../tests/captured/plain-cpu1");
const LARGE: &[u8] = include_bytes!("../../tests/captured/large-cpu0");
const QUEUED: [&[u8]; 2] = [
    include_bytes!("../../tests/captured/queued-cpu0"),
    include_bytes!("../../tests/captured/queued-cpu1"),
];
/// Where they were captured: the loop device 7:0.
pub const DEVICE: u32 = 7 << 20;

fn formats() -> Vec<String> {
    let directory = concat!(env!("CARGO_MANIFEST_DIR"), "/tests/captured/formats");
    let read = |(name, _): (&str, Point)| {
        std::fs::read_to_string(format!("{directory}/{name}.format")).expect("a captured format")
    };
    Point::EVENTS.map(read).to_vec()
}

fn trace(cpus: &[&[u8]]) -> Trace {
    let decoder = Decoder::new(HEADER_PAGE, &formats()).expect("layouts");
    let mut trace = Trace::default();
    for pages in cpus {
        decoder.read(pages, 4096, &mut trace).expect("sound pages");
    }
    trace.sort();
    trace
}

/// Reads one at a time.
pub fn plain() -> Trace {
    trace(&[PLAIN])
}

/// Reads of 4 MiB, one at a time.
pub fn large() -> Trace {
    trace(&[LARGE])
}

/// 16 readers of a device whose scheduler has 4 requests.
pub fn queued() -> Trace {
    trace(&QUEUED)
}

fn count(trace: &Trace, point: Point) -> usize {
    trace.events.iter().filter(|event| event.point == point).count()
}

#[test]
fn every_read_has_its_four_events_in_order() {
    let trace = plain();
    assert_eq!((trace.missed, trace.missed_more), (0, false));
    assert_eq!(trace.events.len(), 160);
    for io in trace.events.chunks(4) {
        let points: Vec<Point> = io.iter().map(|event| event.point).collect();
        assert_eq!(points, [Point::Queue, Point::Request, Point::Issue, Point::Complete]);
        for event in io {
            assert_eq!((event.device, event.sector), (DEVICE, io[0].sector), "{event:?}");
            assert_eq!((event.sectors, event.action), (8, Some(Action::Read)), "{event:?}");
        }
        assert!(io.windows(2).all(|pair| pair[0].at <= pair[1].at), "{io:?}");
    }
}

/// The same capture as the kernel printed it: the text has microseconds only.
#[test]
fn a_scheduler_and_splits_are_seen() {
    let queued = queued();
    for point in [Point::Queue, Point::Request, Point::Insert, Point::Issue, Point::Complete] {
        assert_eq!(count(&queued, point), 80, "{point:?}");
    }
    let large = large();
    assert_eq!(
        count(&large, Point::Split),
        count(&large, Point::Issue) - count(&large, Point::Queue)
    );
    assert!(count(&large, Point::Split) >= 3, "4 MiB are more than a request holds");
}

fn header(begin: u64, commit: u64) -> Vec<u8> {
    [begin.to_le_bytes(), commit.to_le_bytes()].concat()
}

fn event(kind: u32, delta: u32, words: &[u32]) -> Vec<u8> {
    let first = std::iter::once((delta << 5) | kind);
    first.chain(words.iter().copied()).flat_map(u32::to_le_bytes).collect()
}

/// What a page of these events says, and what is missing before it.
fn walked(begin: u64, marks: u64, body: &[u8], behind: &[u8]) -> (Vec<(u64, Vec<u8>)>, Missed) {
    let layout = PageLayout::parse(HEADER_PAGE).expect("a layout");
    let page = [&header(begin, body.len() as u64 | marks), body, behind].concat();
    let mut seen = Vec::new();
    let missed = read(&layout, &page, &mut |at, data| seen.push((at, data.to_vec())));
    (seen, missed.expect("a sound page"))
}

#[test]
fn times_lengths_and_filling_are_read() {
    let body = [
        event(1, 10, &[7]),
        // 2^27 ns and more do not fit an event.
        event(30, 5, &[2]),
        event(2, 0, &[8, 9]),
        // A longer event says its length, itself included.
        event(0, 3, &[12, 1, 2]),
        // One that was taken back: its time has passed.
        event(29, 4, &[8, 0]),
        event(1, 1, &[5]),
        event(31, 100, &[1]),
        event(1, 0, &[6]),
        event(29, 0, &[]),
        vec![0xff; 20],
    ]
    .concat();
    let (seen, missed) = walked(1000, 0, &body, &[]);
    let extended = 1010 + (2 << 27) + 5;
    let times: Vec<u64> = seen.iter().map(|(at, _)| *at).collect();
    assert_eq!(times, [1010, extended, extended + 3, extended + 8, (1 << 27) + 100], "{seen:?}");
    let lengths: Vec<usize> = seen.iter().map(|(_, data)| data.len()).collect();
    assert_eq!(lengths, [4, 8, 8, 4, 4]);
    assert_eq!(missed, Missed::Nothing);
    let (seen, _) = walked(3 << 59, 0, &[event(31, 7, &[0]), event(1, 1, &[0])].concat(), &[]);
    assert_eq!(seen[0].0, (3 << 59) + 8, "the page knows the highest bits");
}

#[test]
fn what_was_overwritten_is_counted() {
    let body = event(1, 0, &[7]);
    let (_, missed) = walked(0, 1 << 31, &body, &[]);
    assert_eq!(missed, Missed::Unknown);
    let (_, missed) = walked(0, 3 << 30, &body, &41u64.to_le_bytes());
    assert_eq!(missed, Missed::Events(41));
}

#[test]
fn a_page_that_contradicts_itself_is_refused() {
    let layout = PageLayout::parse(HEADER_PAGE).expect("a layout");
    let fails = |page: &[u8]| read(&layout, page, &mut |_, _| {}).is_err();
    assert!(fails(&[0; 15]), "shorter than its header");
    assert!(fails(&header(0, 8)), "claims what is not there");
    for body in [event(5, 1, &[1]), event(0, 1, &[]), event(0, 1, &[0]), event(30, 1, &[])] {
        assert!(fails(&[header(0, body.len() as u64), body.clone()].concat()), "{body:?}");
    }
}

#[test]
fn layouts_that_lack_something_are_named() {
    assert!(Format::parse("ID: 5\n").is_err());
    assert!(Format::parse("name: x\nID: y\n").is_err());
    let [first, ..] = &formats()[..] else { panic!("formats") };
    let older = first.replace("nr_sector", "nr_bytes");
    let error = Decoder::new(HEADER_PAGE, &[older]).expect_err("an unknown layout");
    assert_eq!(error, "this kernel's block_bio_queue has no field `nr_sector`");
    let error = Decoder::new(HEADER_PAGE, std::slice::from_ref(first)).expect_err("too few");
    assert_eq!(error, "this kernel traces no Issue of block devices");
    assert!(Decoder::new("", &formats()).is_err());
}

/// `rwbs` had 8 bytes before it had 10, and moved: the format file says where it is.
#[test]
fn another_layout_reads_the_same() {
    let text = "name: block_bio_queue\nID: 9\nformat:\n\
                \tfield:unsigned short common_type;\toffset:0;\tsize:2;\tsigned:0;\n\n\
                \tfield:char rwbs[8];\toffset:2;\tsize:8;\tsigned:0;\n\
                \tfield:dev_t dev;\toffset:10;\tsize:4;\tsigned:0;\n\
                \tfield:sector_t sector;\toffset:14;\tsize:4;\tsigned:0;\n\
                \tfield:unsigned int nr_sector;\toffset:18;\tsize:2;\tsigned:0;\n";
    let mut formats = formats();
    formats[0] = text.into();
    let decoder = Decoder::new(HEADER_PAGE, &formats).expect("layouts");
    let mut data = vec![9, 0];
    data.extend(b"FWFS\0\0\0\0");
    data.extend([0, 0, 0x70, 0, 0x10, 0, 0, 0, 8, 0, 0, 0, 0, 0]);
    let words: Vec<u32> = data
        .chunks(4)
        .map(|word| u32::from_le_bytes([word[0], word[1], word[2], word[3]]))
        .collect();
    let body = event(words.len() as u32, 2, &words);
    let page = [header(40, body.len() as u64), body].concat();
    let mut trace = Trace::default();
    decoder.read(&page, 4096, &mut trace).expect("a sound page");
    let expected = BlockEvent {
        at: 42,
        point: Point::Queue,
        device: DEVICE,
        sector: 16,
        sectors: 8,
        action: Some(Action::Write),
    };
    assert_eq!(trace.events, [expected]);
}

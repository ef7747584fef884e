//! Traces, as fio and blktrace write them, and what is wrong with others.

use drivelab_compat::trace::{Place, parse};
use drivelab_core::op::Action;
use drivelab_core::plan::Request;

fn request(at_ns: u64, action: Action, offset: u64, bytes: u32) -> Request {
    Request { at_ns, action, offset, bytes }
}

fn wrong(data: &[u8]) -> (Place, String) {
    let error = parse(data).unwrap_err();
    assert!(error.to_string().ends_with(&error.text));
    (error.place, error.text)
}

#[test]
fn version_3_has_a_time_before_each_line() {
    // As fio 3.36 wrote it, but for the name.
    let text = "fio version 3 iolog\n0 disk add\n12 disk open\n878 disk write 0 16384\n\
                888 disk read 16384 4096\n891 disk datasync 0 0\n900 disk trim 65536 8192\n\
                10001677 disk close\n";
    let trace = parse(text.as_bytes()).unwrap();
    assert_eq!((trace.format, trace.is_timed), ("fio iolog, version 3", true));
    let expected = [
        request(0, Action::Write, 0, 16384),
        request(10_000, Action::Read, 16384, 4096),
        request(13_000, Action::Flush, 0, 0),
        request(22_000, Action::Trim, 65536, 8192),
    ];
    assert_eq!(trace.requests, expected);
    assert_eq!((trace.end(), trace.count(Action::Read)), (65536 + 8192, 1));
}

#[test]
fn version_2_has_waits_or_no_times_at_all() {
    let text = "fio version 2 iolog\n/dev/sdb add\n/dev/sdb open\n/dev/sdb read 0 4096\n\
                /dev/sdb wait 1500 0\n/dev/sdb write 8192 512\n/dev/sdb close\n";
    let trace = parse(text.as_bytes()).unwrap();
    let expected =
        [request(0, Action::Read, 0, 4096), request(1_500_000, Action::Write, 8192, 512)];
    assert_eq!((trace.requests.as_slice(), trace.is_timed), (&expected[..], true));
    let untimed = parse(b"fio version 2 iolog\nf read 0 1\nf read 4 2\n").unwrap();
    assert!(!untimed.is_timed);
    assert_eq!(untimed.requests[1], request(0, Action::Read, 4, 2));
}

#[test]
fn errors_of_an_iolog_name_their_line() {
    for (lines, line, says) in [
        ("fio version 1 iolog\n", 1, "only versions 2 and 3"),
        ("fio version 2 iolog\n", 1, "without a request"),
        ("fio version 2 iolog\nf read 0\n", 2, "an offset and a length"),
        ("fio version 2 iolog\n\nf read 0 x\n", 3, "`x` is not a length"),
        ("fio version 2 iolog\nf read 0 0\n", 2, "a length of 1 byte"),
        ("fio version 2 iolog\nf read 0 4294967296\n", 2, "to 4 GiB"),
        ("fio version 2 iolog\nf read 18446744073709551615 9\n", 2, "a length of 1 byte"),
        ("fio version 2 iolog\nf leap 0 1\n", 2, "`leap` is not an action"),
        ("fio version 2 iolog\nf\n", 2, "a file and an action"),
        ("fio version 2 iolog\nf read 0 1\ng read 0 1\n", 3, "`g` after `f`"),
        ("fio version 3 iolog\nf read 0 1\n", 2, "`f` is not a time"),
        ("fio version 3 iolog\n5 f wait 7\n", 2, "no `wait`"),
        ("fio version 3 iolog\n18446744073709551615 f read 0 1\n", 2, "beyond all years"),
    ] {
        let (place, text) = wrong(lines.as_bytes());
        assert!(place == Place::Line(line) && text.contains(says), "{lines:?}: {place:?} {text}");
    }
    assert_eq!(wrong(b"fio version 2 iolog\nf read 0 1\n\xff").0, Place::Line(3));
}

struct Event {
    time: u64,
    sector: u64,
    bytes: u32,
    action: u32,
    device: u32,
    payload: &'static [u8],
}

const READ: u32 = 1 << 16;
const WRITE: u32 = 1 << 17;
const FLUSH: u32 = 1 << 18;
const QUEUE: u32 = (1 << 20) | 1;
const ISSUE: u32 = (1 << 22) | 7;
const COMPLETE: u32 = (1 << 23) | 8;
const NOTIFY: u32 = 1 << 26;
const DISCARD: u32 = 1 << 29;

impl Event {
    fn of(time: u64, sector: u64, bytes: u32, action: u32) -> Self {
        Event { time, sector, bytes, action, device: (8 << 20) | 16, payload: &[] }
    }

    /// As struct blk_io_trace lies in memory.
    fn written(&self, is_big_endian: bool) -> Vec<u8> {
        let mut out = Vec::new();
        let mut put = |bytes: &[u8]| match is_big_endian {
            true => out.extend(bytes.iter().rev()),
            false => out.extend(bytes),
        };
        put(&0x6561_7407u32.to_le_bytes());
        put(&1u32.to_le_bytes());
        put(&self.time.to_le_bytes());
        put(&self.sector.to_le_bytes());
        for number in [self.bytes, self.action, 4711, self.device, 0] {
            put(&number.to_le_bytes());
        }
        put(&0u16.to_le_bytes());
        put(&(self.payload.len() as u16).to_le_bytes());
        out.extend(self.payload);
        out
    }
}

#[test]
fn queued_requests_of_a_blktrace_are_taken_in_either_byte_order() {
    for is_big_endian in [false, true] {
        let message = Event { payload: b"fio", ..Event::of(1, 0, 0, NOTIFY | 2) };
        let from_group = Event { payload: &[0; 8], ..Event::of(900, 8, 4096, READ | QUEUE | 256) };
        let events = [
            message,
            Event::of(2000, 100, 512, WRITE | QUEUE),
            from_group,
            Event::of(2100, 100, 512, WRITE | ISSUE),
            Event::of(2200, 100, 512, WRITE | COMPLETE),
            Event::of(2300, 0, 0, WRITE | FLUSH | QUEUE),
            Event::of(2400, 16, 1 << 20, WRITE | DISCARD | QUEUE),
        ];
        let data: Vec<u8> = events.iter().flat_map(|event| event.written(is_big_endian)).collect();
        let trace = parse(&data).unwrap();
        let expected = [
            request(0, Action::Read, 4096, 4096),
            request(1100, Action::Write, 51200, 512),
            request(1400, Action::Flush, 0, 0),
            request(1500, Action::Trim, 8192, 1 << 20),
        ];
        assert_eq!(trace.requests, expected, "in the order of time");
        assert_eq!((trace.format, trace.is_timed), ("blktrace", true));
    }
}

#[test]
fn a_blktrace_of_issued_requests_alone_will_do() {
    let events = [Event::of(5, 1, 512, READ | ISSUE), Event::of(9, 1, 512, READ | COMPLETE)];
    let data: Vec<u8> = events.iter().flat_map(|event| event.written(false)).collect();
    assert_eq!(parse(&data).unwrap().requests, [request(0, Action::Read, 512, 512)]);
}

#[test]
fn errors_of_a_blktrace_name_their_byte() {
    let one = Event::of(5, 1, 512, READ | QUEUE).written(false);
    let then = |more: &[u8]| [&one[..], more].concat();
    let elsewhere = Event { device: (8 << 20) | 32, ..Event::of(6, 1, 512, READ | QUEUE) };
    let far = Event::of(6, u64::MAX, 512, READ | QUEUE);
    for (data, byte, says) in [
        (then(&one[..20]), 48, "breaks off within an event"),
        (then(b"fio!"), 48, "no event begins here"),
        (then(&elsewhere.written(false)), 48, "device 8:32 after 8:16"),
        (then(&far.written(false)), 48, "beyond any device"),
        (Event::of(5, 1, 512, READ | COMPLETE).written(false), 48, "without a queued or issued"),
        (vec![0x06, 0x74, 0x61, 0x65], 0, "version 6 of blktrace"),
        (b"what is this".to_vec(), 0, "neither an iolog of fio"),
        (Vec::new(), 0, "neither an iolog of fio"),
    ] {
        let (place, text) = wrong(&data);
        assert!(place == Place::Byte(byte) && text.contains(says), "{place:?} {text}");
    }
    let mut long = one.clone();
    long[46] = 9;
    assert!(wrong(&long).1.contains("announces more"));
}

/// Random reads and writes of fio 3.33 on a loop device, recorded by fio and, at the same time, by
/// the block tracer of Linux 6.18: its own records, of two processors in one stream.
#[test]
fn what_the_kernel_recorded_is_what_fio_says_it_issued() {
    let kernel = parse(include_bytes!("../data/kernel.blktrace")).unwrap();
    let fio = parse(include_bytes!("../data/same_load.iolog")).unwrap();
    assert_eq!((kernel.requests.len(), fio.requests.len()), (32, 32));
    for (one, other) in kernel.requests.iter().zip(&fio.requests) {
        let place = |request: &Request| (request.action, request.offset, request.bytes);
        assert_eq!(place(one), place(other));
    }
    // fio stamps before it submits, the kernel where the queue begins.
    let span = |requests: &[Request]| requests[31].at_ns as f64;
    let ratio = span(&kernel.requests) / span(&fio.requests);
    assert!((0.9..1.1).contains(&ratio), "{ratio}");
}

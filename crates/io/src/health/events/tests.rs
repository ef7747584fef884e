//! The log of events, of scripted drives.

use super::*;
use crate::passthrough::fake::Fake;

/// 2026-11-01 in milliseconds since 1970.
const NOVEMBER: u64 = 1_793_491_200_000;

fn put(bytes: &mut [u8], at: usize, value: u64, count: usize) {
    bytes[at..at + count].copy_from_slice(&value.to_le_bytes()[..count]);
}

/// An event of this kind with data of its maker in front of its own.
pub fn event_of(kind: u8, at_ms: Option<u64>, data: &[u8]) -> Vec<u8> {
    let mut event = vec![0; 24];
    (event[0], event[1], event[2]) = (kind, 1, 21);
    if let Some(at_ms) = at_ms {
        put(&mut event, 6, at_ms, 6);
        event[12] = 0b10;
    }
    put(&mut event, 20, 3, 2);
    put(&mut event, 22, data.len() as u64 + 3, 2);
    [&event[..], &[0xee; 3], data].concat()
}

/// A log with these events.
pub fn log_of(events: &[Vec<u8>]) -> Vec<u8> {
    let mut log = vec![0; HEAD_BYTES];
    log[0] = 0x0d;
    put(&mut log, 4, events.len() as u64, 4);
    put(&mut log, 18, 492, 2);
    put(&mut log, 20, NOVEMBER, 6);
    log[26] = 0b10;
    put(&mut log, 28, 4321, 8);
    put(&mut log, 44, 17, 8);
    log.extend(events.concat());
    let all = log.len() as u64;
    put(&mut log, 8, all, 8);
    log
}

/// Events of each kind, the newest first, as drives keep them.
pub fn several() -> Vec<Vec<u8>> {
    let at = |number: u64| Some(NOVEMBER - number * 3_600_000);
    vec![
        event_of(0x01, at(1), &[0; 512]),
        event_of(0x05, at(2), &[0x0a, 0, 0, 0]),
        event_of(0x0d, at(3), &[5, 1]),
        event_of(0x04, at(4), b"1.1     "),
        event_of(0x04, at(5), b"1.1     "),
        event_of(0x02, at(6), b"1.0     1.1     \x03\x02\0\0\0\0"),
        event_of(0x0a, at(7), &[0xff, 0xff, 3, 0, 0, 0, 0, 0]),
        event_of(0x07, at(8), &[1, 0, 0, 0, 0, 0, 0, 0]),
    ]
}

#[test]
fn each_event_has_its_words_and_the_newest_come_first() {
    let read = read(&log_of(&several())).unwrap();
    assert_eq!((read.kept, read.power_cycles, read.power_on_hours), (8, 17, 4321));
    assert_eq!((read.asked_at_ms, read.is_whole), (Some(NOVEMBER), true));
    let words: Vec<&str> = read.newest.iter().map(|event| event.what.as_str()).collect();
    let expected = [
        "an error of media or data",
        "its temperature crossed a threshold",
        "turned on or reset, firmware 1.1",
        "firmware 1.1 was put in place; it had 1.0",
        "a sanitize failed",
        "a format of namespace 1 began",
    ];
    assert_eq!(words, expected);
    assert_eq!(read.newest[0].at_ms, Some(NOVEMBER - 2 * 3_600_000));
    let starts = read.counts.iter().find(|it| it.kind == EventKind::PowerOnOrReset);
    assert_eq!(starts.map(|it| it.count), Some(2));
    let mut turned = several();
    turned.reverse();
    let turned = super::read(&log_of(&turned)).unwrap();
    assert_eq!(turned.newest[0], read.newest[0], "the oldest event stood first");
}

#[test]
fn a_firmware_that_awaits_a_reset_was_taken() {
    let said = |kind: u8, code: u8| {
        let data = [&b"1.0     1.1     "[..], &[1, 2, kind, code, 0, 0]].concat();
        read(&log_of(&[event_of(2, None, &data)])).unwrap().newest[0].what.clone()
    };
    assert_eq!(said(0, 0), "firmware 1.1 was put in place; it had 1.0");
    for code in [0x0b, 0x10, 0x11] {
        let words = "firmware 1.1 was put in place and awaits a reset; it had 1.0";
        assert_eq!(said(1, code), words);
    }
    assert_eq!(said(1, 0x13), "firmware 1.1 was not taken (NVMe status 113h)");
}

#[test]
fn what_is_verified_has_not_failed() {
    let read = read(&log_of(&[event_of(0x0e, None, &[0; 8])])).unwrap();
    assert_eq!(read.newest[0].what, "what a sanitize left was read to verify it");
    assert_eq!(read.counts[0].kind.words(), ("media verification", "media verifications"));
}

#[test]
fn a_time_that_no_host_set_is_not_known() {
    let read = read(&log_of(&[event_of(0x05, None, &[1, 0])])).unwrap();
    assert_eq!((read.newest[0].at_ms, read.newest.len()), (None, 1));
}

#[test]
fn what_is_cut_off_is_said_and_another_page_is_none() {
    let whole = log_of(&several());
    for length in HEAD_BYTES..whole.len() {
        let read = read(&whole[..length]).unwrap();
        assert!(!read.is_whole && read.kept == 8, "{length}");
    }
    assert_eq!(read(&whole[..HEAD_BYTES - 1]), None);
    let mut other = whole;
    other[0] = 0x02;
    assert_eq!(read(&other), None);
    let mut endless = log_of(&[vec![0; 24]]);
    endless[4] = 9;
    assert_eq!(read(&endless).unwrap().newest, []);
}

fn drive() -> Fake {
    let mut fake = Fake::nvme(1);
    fake.controller[261] = 0x10;
    fake.controller[77] = 1;
    let events: Vec<Vec<u8>> = std::iter::repeat_with(several).take(8).flatten().collect();
    fake.log_pages.insert(0x0d, log_of(&events));
    fake
}

/// What was asked for: bytes, action, offset.
fn asked(fake: &Fake) -> Vec<(u32, u32, u64)> {
    let logs = fake.admin.iter().filter(|command| command.opcode == GET_LOG_PAGE);
    let asked = logs.zip(&fake.offsets).map(|(command, offset)| {
        assert_eq!(command.dword_10 & 0xff, 0x0d);
        ((command.dword_10 >> 16) * 4 + 4, command.dword_10 >> 8 & 0xff, *offset)
    });
    asked.collect()
}

#[test]
fn a_context_is_established_read_in_pieces_and_released() {
    let mut fake = drive();
    let all = fake.log_pages[&0x0d].len() as u64;
    let read = of_drive(&mut fake).unwrap().unwrap();
    assert_eq!((read.kept, read.is_whole, fake.has_context), (64, true, false));
    let asked = asked(&fake);
    assert_eq!(asked[0], (512, 1, 0));
    assert_eq!(asked.last(), Some(&(512, 2, 0)));
    let pieces = &asked[1..asked.len() - 1];
    assert!(pieces.iter().all(|(bytes, action, _)| *bytes <= 8192 && *action == 0), "{asked:?}");
    let ends = pieces.iter().fold(512, |end, (bytes, _, offset)| {
        assert_eq!(*offset, end);
        end + u64::from(*bytes)
    });
    assert_eq!(ends, all.next_multiple_of(4));
}

#[test]
fn a_context_of_somebody_else_is_left_alone() {
    let mut fake = drive();
    fake.has_context = true;
    let trouble = of_drive(&mut fake).unwrap_err();
    assert!(trouble.text.contains("left alone"), "{trouble}");
    assert!(fake.has_context);
    assert_eq!(asked(&fake).len(), 1);
}

#[test]
fn a_context_is_released_where_reading_fails() {
    let mut fake = drive();
    fake.statuses.insert(0xfe, 0x4004);
    let trouble = of_drive(&mut fake).unwrap_err();
    assert!(trouble.text.contains("004h"), "{trouble}");
    assert!(!fake.has_context);
}

#[test]
fn a_drive_that_keeps_none_is_not_asked() {
    let mut fake = Fake::nvme(1);
    assert_eq!(of_drive(&mut fake).unwrap(), None);
    assert_eq!(asked(&fake), []);
}

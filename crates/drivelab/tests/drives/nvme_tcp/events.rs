//! The log of events of the scripted drive (page 0Dh), which is read in a context.

use super::{Answer, Command, Drive, INVALID_FIELD, SEQUENCE_ERROR, done, failed, page, put};

/// 2026-11-01 in milliseconds since 1970: the drive's clock.
const NOW: u64 = 1_793_491_200_000;
const HOUR: u64 = 3_600_000;
/// Reads of more than a piece.
const STARTS: u64 = 900;

/// Actions 0 to 2: read, establish a context and read, release the context.
pub fn asked(drive: &mut Drive, command: &Command) -> Option<Answer> {
    if !drive.script.has_events() {
        return failed(0x109);
    }
    let bytes = (usize::from(command.u16_at(42)) + 1) * 4;
    match (command.u32_at(40) >> 8 & 0x7f, drive.has_context) {
        (0, true) | (1, false) => {
            drive.has_context = true;
            let log = log();
            let at = usize::try_from(command.u64_at(48)).unwrap();
            let Some(rest) = log.get(at..) else { return failed(INVALID_FIELD) };
            let mut piece = rest.to_vec();
            piece.resize(bytes, 0);
            page(piece)
        }
        (0 | 1, _) => failed(SEQUENCE_ERROR),
        (2, _) => {
            drive.has_context = false;
            done(0)
        }
        _ => failed(INVALID_FIELD),
    }
}

/// What happened to it, the newest first.
fn log() -> Vec<u8> {
    let at = |hours: u64| NOW - hours * HOUR;
    let mut events = vec![
        event(0x05, at(1), &[0x0a, 0, 0, 0, 0, 0, 0, 0]),
        event(0x0d, at(2), &[4, 1]),
        event(0x02, at(30), b"0.9     1.0     \x03\x02\0\0\0\0"),
        event(0x08, at(50), &[1, 0, 0, 0, 0, 0, 0, 0, 0, 0, 0, 0]),
        event(0x07, at(51), &[1, 0, 0, 0, 0, 0, 0, 0, 0, 0, 0, 0]),
    ];
    let start = [b"1.0     ".as_slice(), &[0; 36]].concat();
    events.extend((0..STARTS).map(|number| event(0x04, at(60 + number), &start)));
    let mut log = vec![0; 512];
    log[0] = 0x0d;
    put(&mut log, 4, &u32::try_from(events.len()).unwrap().to_le_bytes());
    let all = 512 + events.iter().map(Vec::len).sum::<usize>() as u64;
    put(&mut log, 8, &all.to_le_bytes());
    log[16] = 3;
    put(&mut log, 18, &492u16.to_le_bytes());
    put(&mut log, 20, &stamp(NOW));
    put(&mut log, 28, &1234u64.to_le_bytes());
    put(&mut log, 44, &77u64.to_le_bytes());
    put(&mut log, 56, format!("{:20}", "DLSCRIPT01").as_bytes());
    put(&mut log, 76, format!("{:40}", "drivelab scripted drive").as_bytes());
    for kind in [0x02, 0x04, 0x05, 0x07, 0x08, 0x0d] {
        log[480 + kind / 8] |= 1 << (kind % 8);
    }
    log.extend(events.concat());
    log
}

/// A time that a host had set.
fn stamp(at_ms: u64) -> [u8; 8] {
    let mut stamp = at_ms.to_le_bytes();
    stamp[6] = 0b10;
    stamp
}

fn event(kind: u8, at_ms: u64, data: &[u8]) -> Vec<u8> {
    let mut event = vec![0; 24];
    (event[0], event[1], event[2]) = (kind, 1, 21);
    put(&mut event, 4, &1u16.to_le_bytes());
    put(&mut event, 6, &stamp(at_ms));
    put(&mut event, 22, &u16::try_from(data.len()).unwrap().to_le_bytes());
    event.extend(data);
    event
}

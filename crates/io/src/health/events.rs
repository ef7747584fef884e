//! What happened to an NVMe drive: its persistent event log, page 0Dh (NVM Express Base
//! Specification 2.0c, 5.16.1.14).
//!
//! The log stays as it was when a context was established for reading it, and there is one at a
//! time. One that somebody else established is left alone; our own is released in any case.

use super::little;
use crate::passthrough::line::{AdminCommand, Line};
use crate::passthrough::not_sent;
use crate::passthrough::nvme::{Controller, QUICK_MS};
use drivelab_core::events::{DriveEvent, EventCount, EventKind, EventLog};
use drivelab_core::queue::Trouble;
use std::collections::BTreeMap;

const GET_LOG_PAGE: u8 = 0x02;
const PAGE: u32 = 0x0d;
/// The log is one of the whole drive.
const ALL_NAMESPACES: u32 = 0xffff_ffff;
const STATUS_MASK: u16 = 0x7ff;
/// Commands came in the wrong order: there is a context already.
const SEQUENCE_ERROR: u16 = 0x00c;

/// A firmware commit that succeeded and takes effect with a reset.
const AWAITS_RESET_OF_PCI: u64 = 0x10b;
const AWAITS_RESET_OF_SUBSYSTEM: u64 = 0x110;
const AWAITS_RESET_OF_CONTROLLER: u64 = 0x111;

/// What is done to the context (bits 9:8 of command dword 10).
#[derive(Clone, Copy)]
enum Action {
    Read = 0,
    Establish = 1,
    Release = 2,
}

/// Bytes of the header, and of each event's, in front of which their lengths do not count.
const HEAD_BYTES: usize = 512;
const HEAD_UNCOUNTED: usize = 20;
const EVENT_UNCOUNTED: usize = 3;
/// No event has less than this in its header.
const EVENT_HEAD_MIN: usize = 24;
/// Asked for with one command at most.
const PIECE_BYTES: usize = 16 << 10;
/// Logs have some hundred KiB; more than this is not read.
const LOG_BYTES_MAX: usize = 4 << 20;
/// Events that are told.
const NEWEST_MAX: usize = 8;

/// Asks a drive that keeps such a log; `None`: it keeps none.
pub(crate) fn of_drive(line: &mut dyn Line) -> Result<Option<EventLog>, Trouble> {
    let controller = Controller::read(line)?;
    if !controller.keeps_events() {
        return Ok(None);
    }
    let mut log = vec![0; HEAD_BYTES];
    match send(line, Action::Establish, 0, &mut log)? {
        0 => {}
        SEQUENCE_ERROR => {
            return Err(Trouble::failed(
                "another program reads its log of events just now, which was left alone",
            ));
        }
        status => return Err(refused(status)),
    }
    let piece = PIECE_BYTES.min(controller.transfer_max());
    let rest = read_rest(line, piece, &mut log);
    // Nothing comes with it, but a drive that took its length at its word finds room.
    let released = send(line, Action::Release, 0, &mut [0; HEAD_BYTES]);
    rest?;
    match released? {
        0 => Ok(read(&log)),
        status => Err(refused(status)),
    }
}

fn read_rest(line: &mut dyn Line, piece: usize, log: &mut Vec<u8>) -> Result<(), Trouble> {
    let all = little(log, 8, 8).min(LOG_BYTES_MAX as u64) as usize;
    while log.len() < all {
        let offset = log.len();
        log.resize(offset + piece.min(all - offset).next_multiple_of(4), 0);
        match send(line, Action::Read, offset as u64, &mut log[offset..])? {
            0 => {}
            status => return Err(refused(status)),
        }
    }
    Ok(())
}

fn send(line: &mut dyn Line, action: Action, offset: u64, data: &mut [u8]) -> Result<u16, Trouble> {
    // Bits 31:16 of dword 10 say how many dwords are wanted, less one.
    let dwords = data.len() as u32 / 4 - 1;
    let command = AdminCommand {
        opcode: GET_LOG_PAGE,
        namespace: ALL_NAMESPACES,
        dword_10: dwords << 16 | (action as u32) << 8 | PAGE,
        timeout_ms: QUICK_MS,
    };
    let status = line.log_from(command, offset, data);
    status.map(|status| status & STATUS_MASK).map_err(|error| not_sent("Get Log Page 0Dh", error))
}

fn refused(status: u16) -> Trouble {
    Trouble::failed(format!("Get Log Page 0Dh ended with NVMe status {status:03x}h"))
}

/// What the log tells, as far as it came; `None`: it is another one.
pub fn read(log: &[u8]) -> Option<EventLog> {
    if log.len() < HEAD_BYTES || u32::from(log[0]) != PAGE {
        return None;
    }
    let kept = little(log, 4, 4);
    let (mut events, mut seen) = (Vec::new(), 0);
    let mut rest = log.get(HEAD_UNCOUNTED + little(log, 18, 2) as usize..).unwrap_or_default();
    while seen < kept
        && let Some((event, behind)) = event(rest)
    {
        (seen, rest) = (seen + 1, behind);
        events.extend(event);
    }
    let mut counts: BTreeMap<EventKind, u64> = BTreeMap::new();
    events.iter().for_each(|event| *counts.entry(event.kind).or_default() += 1);
    Some(EventLog {
        kept,
        power_cycles: little(log, 44, 8),
        power_on_hours: little(log, 28, 8),
        asked_at_ms: moment(log, 20),
        is_whole: seen == kept,
        counts: counts.into_iter().map(|(kind, count)| EventCount { kind, count }).collect(),
        newest: newest(events),
    })
}

/// The newest events, the newest first. Drives differ in which end of the log is the newest; two
/// times that are known tell.
fn newest(mut events: Vec<DriveEvent>) -> Vec<DriveEvent> {
    let mut known = events.iter().filter_map(|event| event.at_ms);
    let (first, last) = (known.next(), known.next_back());
    if first.zip(last).is_some_and(|(first, last)| first < last) {
        events.reverse();
    }
    let mut has_start = false;
    events.retain(|event| {
        let is_start = event.kind == EventKind::PowerOnOrReset;
        !(is_start && std::mem::replace(&mut has_start, true))
    });
    events.truncate(NEWEST_MAX);
    events
}

/// The first event of these bytes, where it is of a kind that matters, and what follows it; `None`
/// where no whole one comes any more.
fn event(log: &[u8]) -> Option<(Option<DriveEvent>, &[u8])> {
    let head_bytes = usize::from(*log.get(2)?) + EVENT_UNCOUNTED;
    if head_bytes < EVENT_HEAD_MIN {
        return None;
    }
    let (of_maker, all) = (little(log, 20, 2) as usize, little(log, 22, 2) as usize);
    let whole = log.get(..head_bytes + all)?;
    let data = whole.get(head_bytes + of_maker..).unwrap_or_default();
    let told =
        told(log[0], data).map(|(kind, what)| DriveEvent { kind, at_ms: moment(log, 6), what });
    Some((told, &log[whole.len()..]))
}

/// A timestamp (5.27.1.14): milliseconds since 1970 where a host had set it, else since a reset,
/// which tells nothing.
fn moment(log: &[u8], at: usize) -> Option<u64> {
    let is_set = little(log, at + 6, 1) >> 1 & 0b111 == 1;
    is_set.then(|| little(log, at, 6))
}

fn told(kind: u8, data: &[u8]) -> Option<(EventKind, String)> {
    let namespace = || match little(data, 0, 4) {
        0xffff_ffff => "all namespaces".to_owned(),
        number => format!("namespace {number}"),
    };
    Some(match kind {
        0x02 => {
            let (old, new) = (text(data, 0), text(data, 8));
            // The type of the status comes before its code.
            let words = match little(data, 18, 1) << 8 | little(data, 19, 1) {
                0 => format!("firmware {new} was put in place; it had {old}"),
                AWAITS_RESET_OF_PCI | AWAITS_RESET_OF_SUBSYSTEM | AWAITS_RESET_OF_CONTROLLER => {
                    format!("firmware {new} was put in place and awaits a reset; it had {old}")
                }
                status => format!("firmware {new} was not taken (NVMe status {status:03x}h)"),
            };
            (EventKind::FirmwareCommit, words)
        }
        0x04 => {
            (EventKind::PowerOnOrReset, format!("turned on or reset, firmware {}", text(data, 0)))
        }
        0x05 => (EventKind::HardwareError, hardware(little(data, 0, 2)).to_owned()),
        0x06 => (EventKind::NamespaceChange, "a namespace was made, changed or deleted".to_owned()),
        0x07 => (EventKind::FormatStart, format!("a format of {} began", namespace())),
        0x08 => (EventKind::FormatEnd, format!("a format of {} ended", namespace())),
        0x09 => (EventKind::SanitizeStart, "a sanitize began".to_owned()),
        0x0a => {
            // Bits 2:0 of the sanitize status, as in log page 81h.
            let words = match little(data, 2, 2) & 0b111 {
                3 => "a sanitize failed",
                _ => "a sanitize ended",
            };
            (EventKind::SanitizeEnd, words.to_owned())
        }
        0x0d => (EventKind::ThermalExcursion, "its temperature crossed a threshold".to_owned()),
        0x0e => {
            let words = "what a sanitize left was read to verify it";
            (EventKind::MediaVerification, words.to_owned())
        }
        _ => return None,
    })
}

/// Codes of hardware errors.
fn hardware(code: u64) -> &'static str {
    match code {
        0x01 => "a PCIe error that was corrected",
        0x02 => "a PCIe error that was not corrected",
        0x03 => "a fatal PCIe error",
        0x04 => "its PCIe link changed",
        0x05 => "its PCIe link went away",
        0x06 => "it warned of itself",
        0x07 => "an endurance group warned of itself",
        0x08 => "power went away without notice",
        0x09 => "its controller failed",
        0x0a => "an error of media or data",
        0x0b => "its controller was not ready in time",
        _ => "an error of its hardware",
    }
}

/// Printable characters of a revision of firmware.
fn text(data: &[u8], at: usize) -> String {
    let bytes = data.iter().skip(at).take(8);
    let text: String = bytes.map(|byte| char::from(*byte)).filter(char::is_ascii_graphic).collect();
    if text.is_empty() { "unknown".to_owned() } else { text }
}

#[cfg(test)]
pub mod tests;

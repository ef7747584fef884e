//! Pages of the ring buffer: packed events, each with the time since the one before it.
//!
//! An event begins with 4 bytes: 5 bits of type, 27 bits of time. Types 1 to 28 are the length of
//! the data in words, 0 says that the length follows, and the rest is time and filling.

use super::format::PageLayout;
use crate::op::Time;

const PADDING: u32 = 29;
const TIME_EXTEND: u32 = 30;
const TIME_STAMP: u32 = 31;
const TYPE_BITS: u32 = 5;
const DELTA_BITS: u32 = 27;
/// Bytes of a word; an event is a whole number of them.
const WORD: usize = 4;
/// An absolute time has no more bits; those above come from the page.
const STAMP_BITS: u32 = 59;
/// The bytes of events in `commit`; what lies above are marks.
const COMMIT_MASK: u64 = (1 << 27) - 1;
/// Events were overwritten before they were read.
const MISSED: u64 = 1 << 31;
/// How many stands behind the last event.
const MISSED_COUNTED: u64 = 1 << 30;

/// What was overwritten between the page before and this one.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub enum Missed {
    /// No event was overwritten.
    Nothing,
    /// This many events.
    Events(u64),
    /// The kernel does not say how many.
    Unknown,
}

/// Hands each event of a page over, with its time, and says what was lost before it.
///
/// # Errors
/// A page that contradicts itself; what stood before the contradiction was handed over.
pub fn read(
    layout: &PageLayout,
    page: &[u8],
    each: &mut impl FnMut(Time, &[u8]),
) -> Result<Missed, String> {
    let header = || layout.timestamp.number(page).zip(layout.commit.number(page));
    let (begin, commit) = header().ok_or("a page of the trace is shorter than its header")?;
    let data = page.get(layout.data_offset..).unwrap_or(&[]);
    let used = (commit & COMMIT_MASK) as usize;
    let events = data.get(..used).ok_or_else(|| {
        format!("a page of the trace claims {used} bytes of events in {}", data.len())
    })?;
    walk(begin, events, each)?;
    let counted = data.get(used..used + 8).and_then(|bytes| bytes.try_into().ok());
    Ok(match (commit & MISSED != 0, commit & MISSED_COUNTED != 0, counted) {
        (false, _, _) => Missed::Nothing,
        (true, true, Some(bytes)) => Missed::Events(u64::from_le_bytes(bytes)),
        _ => Missed::Unknown,
    })
}

fn word(bytes: &[u8], at: usize) -> Option<u32> {
    bytes.get(at..at + WORD)?.try_into().ok().map(u32::from_le_bytes)
}

fn walk(begin: Time, events: &[u8], each: &mut impl FnMut(Time, &[u8])) -> Result<(), String> {
    const CUT: &str = "a page of the trace ends within an event";
    let (mut now, mut at) = (begin, 0);
    while at < events.len() {
        let header = word(events, at).ok_or(CUT)?;
        let (kind, delta) = (header & ((1 << TYPE_BITS) - 1), u64::from(header >> TYPE_BITS));
        at += WORD;
        if kind == PADDING && delta == 0 {
            // Nothing but filling up to the end of the page.
            return Ok(());
        }
        match kind {
            TIME_EXTEND | TIME_STAMP => {
                let high = u64::from(word(events, at).ok_or(CUT)?);
                let time = (high << DELTA_BITS) | delta;
                now = match kind {
                    TIME_EXTEND => now.wrapping_add(time),
                    _ => (now >> STAMP_BITS << STAMP_BITS) | time,
                };
                at += WORD;
            }
            0 | PADDING => {
                // The length counts itself.
                let length = word(events, at).ok_or(CUT)? as usize;
                let end = at.checked_add(length).filter(|end| *end <= events.len()).ok_or(CUT)?;
                now = now.wrapping_add(delta);
                let data = events.get(at + WORD..end).ok_or(CUT)?;
                if kind == 0 {
                    each(now, data);
                }
                at = end;
            }
            words => {
                let end = at + words as usize * WORD;
                now = now.wrapping_add(delta);
                each(now, events.get(at..end).ok_or(CUT)?);
                at = end;
            }
        }
    }
    Ok(())
}

//! Binary traces of Linux (`struct blk_io_trace` of linux/blktrace_api.h, version 7).
//!
//! Each event has 48 bytes and as many more as it says. Replayed is what was queued (Q), as
//! programs asked for it; where a trace holds no such event, what was issued to the driver (D).

use super::{Place, Trace, TraceError};
use drivelab_core::op::Action;
use drivelab_core::plan::Request;

/// `0x65617400` with the version in its last byte.
const MAGIC: u32 = 0x6561_7400;
const VERSION: u32 = 7;
const EVENT_BYTES: usize = 48;
const SECTOR_BYTES: u64 = 512;

const QUEUED: u32 = 1;
const ISSUED: u32 = 7;
/// The event came from a control group.
const CGROUP: u32 = 1 << 8;

const WRITE: u32 = 1 << 1;
const FLUSH: u32 = 1 << 2;
/// Commands that are no reads or writes, and messages.
const NOT_DATA: u32 = (1 << 9) | (1 << 10);
const DISCARD: u32 = 1 << 13;

/// Whether a number of four bytes is the magic one, and of another byte order.
fn magic(data: &[u8]) -> Option<(u32, bool)> {
    let bytes: [u8; 4] = data.get(..4)?.try_into().ok()?;
    let orders = [(u32::from_le_bytes(bytes), false), (u32::from_be_bytes(bytes), true)];
    orders.into_iter().find(|(number, _)| number & !0xff == MAGIC)
}

pub fn is_one(data: &[u8]) -> bool {
    magic(data).is_some()
}

/// Numbers of an event, in the byte order of the machine that wrote it.
struct Event<'a> {
    bytes: &'a [u8],
    is_big_endian: bool,
}

impl Event<'_> {
    fn number<const N: usize>(&self, place: usize) -> u64 {
        let mut bytes = [0; 8];
        let found = &self.bytes[place..place + N];
        match self.is_big_endian {
            true => bytes[8 - N..].copy_from_slice(found),
            false => bytes[..N].copy_from_slice(found),
        }
        if self.is_big_endian { u64::from_be_bytes(bytes) } else { u64::from_le_bytes(bytes) }
    }

    fn time_ns(&self) -> u64 {
        self.number::<8>(8)
    }

    fn sector(&self) -> u64 {
        self.number::<8>(16)
    }

    fn bytes_moved(&self) -> u32 {
        self.number::<4>(24) as u32
    }

    fn action(&self) -> u32 {
        self.number::<4>(28) as u32
    }

    fn device(&self) -> u32 {
        self.number::<4>(36) as u32
    }

    fn payload_bytes(&self) -> usize {
        self.number::<2>(46) as usize
    }
}

pub fn parse(data: &[u8]) -> Result<Trace, TraceError> {
    let (mut queued, mut issued) = (Requests::default(), Requests::default());
    let mut place = 0;
    while place < data.len() {
        let event = event_at(data, place)?;
        let what = event.action() & 0xffff & !CGROUP;
        let classes = event.action() >> 16;
        let into = match what {
            QUEUED if classes & NOT_DATA == 0 => Some(&mut queued),
            ISSUED if classes & NOT_DATA == 0 => Some(&mut issued),
            _ => None,
        };
        if let Some(into) = into {
            into.take(&event, classes, place)?;
        }
        place += EVENT_BYTES + event.payload_bytes();
    }
    let requests = if queued.all.is_empty() { issued.all } else { queued.all };
    match requests.is_empty() {
        true => Err(at(data.len(), "ends without a queued or issued request".into())),
        false => Ok(Trace { format: "blktrace", requests, is_timed: true, file: None }),
    }
}

fn event_at(data: &[u8], place: usize) -> Result<Event<'_>, TraceError> {
    let rest = &data[place..];
    let Some((magic, is_big_endian)) = magic(rest) else {
        return Err(at(place, "no event begins here: the magic number is missing".into()));
    };
    if magic & 0xff != VERSION {
        let version = magic & 0xff;
        return Err(at(place, format!("version {version} of blktrace; only {VERSION} is known")));
    }
    let Some(bytes) = rest.get(..EVENT_BYTES) else {
        return Err(at(place, format!("breaks off within an event of {EVENT_BYTES} bytes")));
    };
    let event = Event { bytes, is_big_endian };
    if rest.len() < EVENT_BYTES + event.payload_bytes() {
        return Err(at(place, "breaks off after an event that announces more".into()));
    }
    Ok(event)
}

#[derive(Default)]
struct Requests {
    all: Vec<Request>,
    device: Option<u32>,
}

impl Requests {
    fn take(&mut self, event: &Event<'_>, classes: u32, place: usize) -> Result<(), TraceError> {
        let bytes = event.bytes_moved();
        let action = match () {
            () if bytes == 0 && classes & FLUSH == 0 => return Ok(()),
            () if bytes == 0 => Action::Flush,
            () if classes & DISCARD != 0 => Action::Trim,
            () if classes & WRITE != 0 => Action::Write,
            () => Action::Read,
        };
        let device = event.device();
        let known = *self.device.get_or_insert(device);
        if known != device {
            let [one, other] = [known, device].map(|it| format!("{}:{}", it >> 20, it & 0xf_ffff));
            return Err(at(
                place,
                format!("device {other} after {one}: a trace of one device is replayed; split it"),
            ));
        }
        let offset = if action == Action::Flush {
            Some(0)
        } else {
            event.sector().checked_mul(SECTOR_BYTES)
        };
        let is_inside = |offset: &u64| offset.checked_add(u64::from(bytes)).is_some();
        let Some(offset) = offset.filter(is_inside) else {
            return Err(at(place, format!("sector {} lies beyond any device", event.sector())));
        };
        self.all.push(Request { at_ns: event.time_ns(), action, offset, bytes });
        Ok(())
    }
}

fn at(byte: usize, text: String) -> TraceError {
    TraceError { place: Place::Byte(byte), text }
}

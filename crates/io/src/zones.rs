//! Zones of a block device: what they hold, and the calls that empty and fill them
//! (`linux/blkzoned.h`).

use crate::errno::last_errno;
use drivelab_core::facts::ZoneFacts;
use drivelab_core::observed::Extents;
use drivelab_core::op::Errno;
use std::os::fd::{AsFd, AsRawFd};

/// `_IOWR(0x12, 130, struct blk_zone_report)`.
const BLKREPORTZONE: libc::Ioctl = 0xc010_1282_u32 as libc::Ioctl;
/// `_IOW(0x12, 131, struct blk_zone_range)`.
const BLKRESETZONE: libc::Ioctl = 0x4010_1283;
/// `_IOR(0x12, 132, __u32)`: sectors of a zone; 0: it has none.
const BLKGETZONESZ: libc::Ioctl = 0x8004_1284_u32 as libc::Ioctl;
/// `_IOW(0x12, 136, struct blk_zone_range)`.
const BLKFINISHZONE: libc::Ioctl = 0x4010_1288;

/// The unit of all numbers in these calls.
const SECTOR: u64 = 512;
/// Zones that one report tells.
const BATCH: usize = 256;
/// More zones than this are not looked at: a report of the largest drive of today has 100,000.
const ZONES_MAX: usize = 1 << 20;
/// The report has a capacity of its own for each zone (`BLK_ZONE_REP_CAPACITY`).
const HAS_CAPACITY: u32 = 1;

/// How a zone takes writes.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub enum State {
    /// Anywhere: a conventional zone.
    Anywhere,
    /// Nothing was written since it was reset.
    Empty,
    /// Written up to its write pointer: open or closed.
    Partly,
    /// Written to its end, or finished.
    Full,
    /// No longer: read-only, offline, or a state that is not known here.
    Never,
}

/// One zone, in bytes.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub struct Zone {
    /// First byte.
    pub start: u64,
    /// Bytes to the start of the next.
    pub bytes: u64,
    /// Bytes that it holds.
    pub capacity: u64,
    /// Bytes before its write pointer.
    pub written: u64,
    /// How it takes writes.
    pub state: State,
}

/// `struct blk_zone`.
#[repr(C)]
#[derive(Debug, Clone, Copy, Default)]
struct RawZone {
    start: u64,
    len: u64,
    wp: u64,
    kind: u8,
    condition: u8,
    non_sequential: u8,
    reset: u8,
    reserved: [u8; 4],
    capacity: u64,
    reserved_more: [u8; 24],
}

/// `struct blk_zone_report` with its zones.
#[repr(C)]
struct Report {
    sector: u64,
    zones: u32,
    flags: u32,
    list: [RawZone; BATCH],
}

const _: () = assert!(size_of::<RawZone>() == 64);

/// Bytes of a zone of this open device; `None` where it has none, or is no device.
pub fn zone_bytes(device: impl AsFd) -> Option<u64> {
    let mut sectors: u32 = 0;
    let raw = device.as_fd().as_raw_fd();
    // SAFETY: the kernel writes one u32 to `sectors`, which outlives the call.
    let status = unsafe { libc::ioctl(raw, BLKGETZONESZ, &raw mut sectors) };
    (status == 0 && sectors > 0).then(|| u64::from(sectors) * SECTOR)
}

/// The zones of an open device from the one that holds byte `from`, to that before byte `to`.
///
/// # Errors
/// As the kernel says.
pub fn report(device: impl AsFd, from: u64, to: u64) -> Result<Vec<Zone>, Errno> {
    let raw = device.as_fd().as_raw_fd();
    let mut found: Vec<Zone> = Vec::new();
    let mut at = from;
    let mut report =
        Box::new(Report { sector: 0, zones: 0, flags: 0, list: [RawZone::default(); BATCH] });
    while at < to && found.len() < ZONES_MAX {
        (report.sector, report.zones, report.flags) = (at / SECTOR, BATCH as u32, 0);
        // SAFETY: the kernel writes at most `zones` entries behind the header, and there is room
        // for BATCH of them; it keeps no pointer.
        let status = unsafe { libc::ioctl(raw, BLKREPORTZONE, &raw mut *report) };
        if status != 0 {
            return Err(last_errno());
        }
        let count = (report.zones as usize).min(BATCH);
        let has_capacity = report.flags & HAS_CAPACITY != 0;
        let zones = report.list[..count].iter().map(|zone| zone_of(zone, has_capacity));
        found.extend(zones.filter(|zone| zone.start < to));
        let end = report.list[..count].last().map(|zone| (zone.start + zone.len) * SECTOR);
        match end {
            Some(end) if end > at => at = end,
            _ => break,
        }
    }
    Ok(found)
}

fn zone_of(raw: &RawZone, has_capacity: bool) -> Zone {
    const CONVENTIONAL: u8 = 1;
    let state = match (raw.kind, raw.condition) {
        (CONVENTIONAL, _) => State::Anywhere,
        (_, 1) => State::Empty,
        (_, 2..=4) => State::Partly,
        (_, 0xe) => State::Full,
        _ => State::Never,
    };
    let capacity = if has_capacity { raw.capacity } else { raw.len };
    // A full zone's pointer is not valid: it holds all that it can.
    let written = match state {
        State::Empty => 0,
        State::Partly => raw.wp.saturating_sub(raw.start).min(capacity),
        State::Full | State::Anywhere | State::Never => capacity,
    };
    Zone {
        start: raw.start * SECTOR,
        bytes: raw.len * SECTOR,
        capacity: capacity * SECTOR,
        written: written * SECTOR,
        state,
    }
}

/// Empties the zone of `bytes` at byte `start`.
///
/// # Errors
/// As the kernel says.
pub fn reset(device: impl AsFd, start: u64, bytes: u64) -> Result<(), Errno> {
    on_range(device, BLKRESETZONE, start, bytes)
}

/// Declares the zone of `bytes` at byte `start` full.
///
/// # Errors
/// As the kernel says.
pub fn finish(device: impl AsFd, start: u64, bytes: u64) -> Result<(), Errno> {
    on_range(device, BLKFINISHZONE, start, bytes)
}

fn on_range(device: impl AsFd, request: libc::Ioctl, start: u64, bytes: u64) -> Result<(), Errno> {
    let range = [start / SECTOR, bytes / SECTOR];
    let raw = device.as_fd().as_raw_fd();
    // SAFETY: the kernel reads two u64 from the pointer and keeps nothing.
    let status = unsafe { libc::ioctl(raw, request, range.as_ptr()) };
    if status == 0 { Ok(()) } else { Err(last_errno()) }
}

/// Finishes the zones from byte `from` to byte `to` that are partly written, so that they no
/// longer count among those that a drive keeps open; what they hold stays. Says how many.
///
/// # Errors
/// As the kernel says.
pub fn finish_partly_written(device: impl AsFd, from: u64, to: u64) -> Result<u32, Errno> {
    let device = device.as_fd();
    let mut count = 0;
    let zones = report(device, from, to)?;
    for zone in zones.iter().filter(|zone| zone.state == State::Partly) {
        finish(device, zone.start, zone.bytes)?;
        count += 1;
    }
    Ok(count)
}

/// What was written of a region of zones, as their write pointers say; `None` where there are no
/// zones.
pub fn extents(device: impl AsFd, first: u64, length: u64) -> Option<Extents> {
    let device = device.as_fd();
    zone_bytes(device)?;
    let end = first.saturating_add(length);
    let zones = report(device, first, end).ok().filter(|zones| !zones.is_empty())?;
    let mut found = Extents { zones: zones.len() as u64, ..Extents::default() };
    for zone in &zones {
        let within =
            |bytes: u64| (zone.start + bytes).min(end).saturating_sub(zone.start.max(first));
        found.written_bytes += within(zone.written);
        found.unwritten_bytes += within(zone.capacity) - within(zone.written);
    }
    Some(found)
}

/// Completes what is known of zones by asking the open device.
pub fn complete(device: impl AsFd, bytes: u64, facts: &mut ZoneFacts) -> Result<(), Errno> {
    let zones = report(device, 0, bytes)?;
    let count = |state| zones.iter().filter(|zone| zone.state == state).count() as u64;
    let ordered = || zones.iter().filter(|zone| zone.state != State::Anywhere);
    // The last zone of a drive may be smaller than the others.
    let whole = |zone: &&Zone| facts.zone_bytes.is_none_or(|bytes| zone.bytes == bytes);
    facts.capacity_bytes = ordered().filter(whole).map(|zone| zone.capacity).min();
    facts.ordered_from_bytes = ordered().map(|zone| zone.start).min();
    facts.conventional = Some(count(State::Anywhere));
    facts.empty = Some(count(State::Empty));
    facts.partly_written = Some(count(State::Partly));
    facts.full = Some(count(State::Full));
    facts.unusable = Some(count(State::Never));
    Ok(())
}

#[cfg(test)]
mod tests {
    use super::*;

    fn raw(kind: u8, condition: u8, wp: u64) -> RawZone {
        RawZone { start: 100, len: 80, wp, kind, condition, capacity: 60, ..RawZone::default() }
    }

    #[test]
    fn a_zone_holds_what_lies_before_its_pointer_and_never_more_than_its_capacity() {
        let of = |kind, condition, wp| {
            let zone = zone_of(&raw(kind, condition, wp), true);
            assert_eq!((zone.start, zone.bytes, zone.capacity), (51_200, 40_960, 30_720));
            (zone.state, zone.written / SECTOR)
        };
        assert_eq!(of(1, 0, u64::MAX), (State::Anywhere, 60));
        assert_eq!(of(2, 1, 100), (State::Empty, 0));
        for condition in [2, 3, 4] {
            assert_eq!(of(2, condition, 107), (State::Partly, 7));
            assert_eq!(
                of(3, condition, 200),
                (State::Partly, 60),
                "a pointer beyond what it holds"
            );
            assert_eq!(of(2, condition, 0), (State::Partly, 0), "a pointer before its start");
        }
        // Of a full zone the pointer is not valid.
        assert_eq!(of(2, 0xe, u64::MAX), (State::Full, 60));
        assert_eq!(of(2, 0xd, 100), (State::Never, 60));
        assert_eq!(of(2, 0xf, 100), (State::Never, 60));
    }

    #[test]
    fn a_kernel_that_tells_no_capacity_means_the_whole_zone() {
        assert_eq!(zone_of(&raw(2, 0xe, 0), false).capacity, 80 * SECTOR);
    }

    #[test]
    fn a_file_has_no_zones() {
        let file = tempfile::tempfile().expect("a file");
        assert_eq!(zone_bytes(&file), None);
        assert_eq!(extents(&file, 0, 4096), None);
        assert!(report(&file, 0, 4096).is_err() && reset(&file, 0, 4096).is_err());
    }
}

//! How a file system maps a region of a file: written, allocated only, or not at all.
//!
//! Source: kernel document `Documentation/filesystems/fiemap.rst`.

use drivelab_core::anatomy::Piece;
use drivelab_core::observed::Extents;
use std::os::fd::{AsFd, AsRawFd};

/// `_IOWR('f', 11, struct fiemap)` of linux/fs.h; the structure has 32 bytes.
const FS_IOC_FIEMAP: libc::Ioctl = 0xC020_660B_u32 as libc::Ioctl;
const EXTENT_LAST: u32 = 0x1;
const EXTENT_UNWRITTEN: u32 = 0x800;
const EXTENT_SHARED: u32 = 0x2000;
/// Not there yet, encoded, encrypted, unaligned, or inside metadata: no place of its own.
const EXTENT_ELSEWHERE: u32 = 0x2 | 0x4 | 0x8 | 0x80 | 0x100 | 0x200 | 0x400;

/// Extents fetched by one call.
const BATCH: usize = 256;
/// A file in more pieces than this is not mapped to its end.
const EXTENTS_MAX: u64 = 1 << 20;

#[repr(C)]
#[derive(Clone, Copy, Default)]
struct Extent {
    logical: u64,
    physical: u64,
    length: u64,
    reserved: [u64; 2],
    flags: u32,
    reserved_too: [u32; 3],
}

#[repr(C)]
struct Request {
    start: u64,
    length: u64,
    flags: u32,
    mapped_extents: u32,
    extent_count: u32,
    reserved: u32,
    extents: [Extent; BATCH],
}

/// The extents of `length` bytes from `start`; `None` where the file system does not tell, or the
/// file is in too many pieces.
pub fn of(file: impl AsFd, start: u64, length: u64) -> Option<Extents> {
    let end = start.checked_add(length)?;
    let mut found = Extents::default();
    let mut covered = start;
    let mut places = Vec::new();
    loop {
        let batch = fetch(&file, covered, end - covered)?;
        for extent in &batch {
            let from = extent.logical.max(covered);
            let to = extent.logical.saturating_add(extent.length).min(end);
            found.hole_bytes += from.saturating_sub(covered);
            let bytes = to.saturating_sub(from);
            match extent.flags & EXTENT_UNWRITTEN {
                0 => found.written_bytes += bytes,
                _ => found.unwritten_bytes += bytes,
            }
            if extent.flags & (EXTENT_UNWRITTEN | EXTENT_ELSEWHERE) == 0 {
                let at = extent.physical.saturating_add(from - extent.logical);
                places.push((at, at.saturating_add(bytes)));
                if extent.flags & EXTENT_SHARED != 0 {
                    found.shared_bytes += bytes;
                }
            }
            covered = covered.max(to);
            found.count += 1;
        }
        let last = batch.last().is_none_or(|extent| extent.flags & EXTENT_LAST != 0);
        if last || covered >= end {
            found.hole_bytes += end - covered;
            found.repeated_bytes = repeated(places);
            return Some(found);
        }
        if found.count > EXTENTS_MAX {
            return None;
        }
    }
}

/// Bytes of places, each from one end to the other, that lie on places before them.
fn repeated(mut places: Vec<(u64, u64)>) -> u64 {
    places.sort_unstable();
    let (mut repeated, mut end) = (0, 0);
    for (from, to) in places {
        repeated += end.min(to).saturating_sub(from);
        end = end.max(to);
    }
    repeated
}

/// Where the first `length` bytes lie on the file system's device, neighbours put together; `None`
/// where the file system does not tell, or the file is in too many pieces.
pub fn pieces(file: impl AsFd, length: u64) -> Option<Vec<Piece>> {
    let mut found: Vec<Piece> = Vec::new();
    let mut covered = 0;
    while covered < length {
        let batch = fetch(&file, covered, length - covered)?;
        for extent in &batch {
            covered = covered.max(extent.logical.saturating_add(extent.length));
            if extent.flags & EXTENT_ELSEWHERE != 0 {
                continue;
            }
            let (offset, bytes) = (extent.logical, extent.length);
            let joins = |last: &&mut Piece| {
                last.offset + last.bytes == offset && last.on_disk + last.bytes == extent.physical
            };
            match found.last_mut().filter(joins) {
                Some(last) => last.bytes += bytes,
                None => found.push(Piece { offset, bytes, on_disk: extent.physical }),
            }
        }
        if batch.last().is_none_or(|extent| extent.flags & EXTENT_LAST != 0) {
            break;
        }
        if found.len() as u64 > EXTENTS_MAX {
            return None;
        }
    }
    Some(found)
}

fn fetch(file: &impl AsFd, start: u64, length: u64) -> Option<Vec<Extent>> {
    let mut request = Box::new(Request {
        start,
        length,
        flags: 0,
        mapped_extents: 0,
        extent_count: BATCH as u32,
        reserved: 0,
        extents: [Extent::default(); BATCH],
    });
    let descriptor = file.as_fd().as_raw_fd();
    // SAFETY: the kernel writes at most `extent_count` extents behind the header, and there is
    // room for BATCH of them; it keeps no pointer.
    let status = unsafe { libc::ioctl(descriptor, FS_IOC_FIEMAP, &mut *request) };
    let mapped = request.mapped_extents as usize;
    (status == 0).then(|| request.extents[..mapped.min(BATCH)].to_vec())
}

#[cfg(test)]
mod tests {
    use super::*;
    use std::os::unix::fs::FileExt;

    #[test]
    fn what_lies_on_the_same_blocks_is_counted_once_more_each_time() {
        assert_eq!(repeated(vec![]), 0);
        assert_eq!(repeated(vec![(0, 10), (10, 20), (40, 50)]), 0);
        assert_eq!(repeated(vec![(100, 200); 5]), 400);
        assert_eq!(repeated(vec![(0, 100), (20, 30), (90, 110), (105, 106)]), 10 + 10 + 1);
    }

    #[test]
    fn holes_written_and_unwritten_bytes_are_told_apart() {
        let file = tempfile::tempfile().expect("a file");
        file.set_len(3 << 20).expect("room");
        file.write_all_at(&[7; 1 << 20], 1 << 20).expect("a written part");
        file.sync_all().expect("on the drive");
        let Some(found) = of(&file, 0, 3 << 20) else {
            // tmpfs and overlayfs have no FIEMAP; then nothing may be claimed.
            let kind = rustix::fs::fstatfs(&file).expect("statfs").f_type;
            assert!([0x0102_1994, 0x794c_7630].contains(&kind), "file system {kind:x}");
            return;
        };
        assert_eq!((found.written_bytes, found.hole_bytes), (1 << 20, 2 << 20), "{found:?}");
        rustix::fs::fallocate(&file, rustix::fs::FallocateFlags::empty(), 0, 3 << 20)
            .expect("room");
        let found = of(&file, 0, 3 << 20).expect("the same file system");
        assert_eq!((found.written_bytes, found.unwritten_bytes), (1 << 20, 2 << 20), "{found:?}");
        let part = of(&file, 1 << 20, 1 << 20).expect("the same file system");
        assert_eq!((part.written_bytes, part.unwritten_bytes, part.hole_bytes), (1 << 20, 0, 0));
    }
}

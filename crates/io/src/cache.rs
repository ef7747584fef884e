//! What the page cache holds of one file or device: counted, or written back and dropped.

use rustix::fs::{Advice, fadvise, fsync};
use std::io;
use std::os::fd::{AsFd, AsRawFd};

/// Writes dirty pages of this file back, then lets go of its clean ones (`posix_fadvise(2)`,
/// `POSIX_FADV_DONTNEED`). Pages that are mapped or locked by others stay.
///
/// # Errors
/// As `fsync(2)` and `posix_fadvise(2)` say.
pub fn drop_cached(file: impl AsFd) -> io::Result<()> {
    fsync(&file)?;
    drop_clean(file)
}

/// Writes dirty pages of this file back and waits for that, without asking the drive to empty its
/// own cache; then lets go of its clean ones.
///
/// # Errors
/// As `sync_file_range(2)` and `posix_fadvise(2)` say.
pub fn write_back(file: impl AsFd) -> io::Result<()> {
    let flags = libc::SYNC_FILE_RANGE_WAIT_BEFORE
        | libc::SYNC_FILE_RANGE_WRITE
        | libc::SYNC_FILE_RANGE_WAIT_AFTER;
    // SAFETY: no memory is handed over; 0 bytes mean all up to the end.
    let status = unsafe { libc::sync_file_range(file.as_fd().as_raw_fd(), 0, 0, flags) };
    match status {
        0 => drop_clean(file),
        _ => Err(io::Error::last_os_error()),
    }
}

/// Lets go of its clean pages, and of no dirty ones (`POSIX_FADV_DONTNEED`).
///
/// # Errors
/// As `posix_fadvise(2)` says.
pub fn drop_clean(file: impl AsFd) -> io::Result<()> {
    fadvise(&file, 0, None, Advice::DontNeed)?;
    Ok(())
}

/// `cachestat(2)` (Linux 6.5): the number is the same on all machines but Alpha.
const SYS_CACHESTAT: libc::c_long = 451;

/// Bytes of a part of a file or device that the page cache holds; `None` where the kernel does not
/// tell.
pub fn cached_bytes(file: impl AsFd, offset: u64, length: u64) -> Option<u64> {
    /// `struct cachestat` of linux/mman.h: pages in the cache, dirty, written back, evicted,
    /// evicted recently.
    #[repr(C)]
    #[derive(Default)]
    struct Pages([u64; 5]);
    let descriptor = file.as_fd().as_raw_fd();
    let range = [offset, length];
    let mut pages = Pages::default();
    // A length of 0 would mean all to the end.
    if length == 0 {
        return Some(0);
    }
    // SAFETY: the kernel reads two numbers from `range` and writes five to `pages`; both outlive
    // the call.
    let status = unsafe {
        libc::syscall(SYS_CACHESTAT, descriptor, range.as_ptr(), &raw mut pages, 0 as libc::c_uint)
    };
    let held = pages.0[0].saturating_mul(rustix::param::page_size() as u64);
    (status == 0).then(|| held.min(length))
}

#[cfg(test)]
mod tests {
    use super::*;
    use std::os::unix::fs::FileExt;

    #[test]
    fn what_is_in_memory_is_counted() {
        // A file on a disk, as far as this directory lies on one.
        let file = tempfile::tempfile_in(".").expect("a file");
        file.write_all_at(&[7; 1 << 20], 0).expect("written");
        let Some(held) = cached_bytes(&file, 0, 1 << 20) else { return };
        assert_eq!(held, 1 << 20);
        assert_eq!(cached_bytes(&file, 0, 1 << 16), Some(1 << 16));
        drop_cached(&file).expect("dropped");
        let rest = cached_bytes(&file, 0, 1 << 20).expect("it told before");
        let kind = rustix::fs::fstatfs(&file).expect("statfs").f_type;
        assert!(rest == 0 || kind == 0x0102_1994, "{rest} bytes stay on {kind:x}");
    }
}

//! Discards a range of an open target: BLKDISCARD on devices, a punched hole in files.

use crate::engine::{Opened, errno, last_errno};
use drivelab_core::op::Errno;
use rustix::fs::{FallocateFlags, fallocate};

/// `_IO(0x12, 119)` of linux/fs.h.
const BLKDISCARD: libc::Ioctl = 0x1277;

/// Discards `length` bytes at `offset`. The target was opened for writing by the guard's leave.
pub fn discard(opened: &Opened, offset: u64, length: u64) -> Result<(), Errno> {
    if !opened.is_device {
        let flags = FallocateFlags::PUNCH_HOLE | FallocateFlags::KEEP_SIZE;
        return fallocate(&opened.descriptor, flags, offset, length).map_err(errno);
    }
    let range = [offset, length];
    // SAFETY: BLKDISCARD reads two u64 from the pointer and keeps nothing.
    let status = unsafe { libc::ioctl(opened.raw(), BLKDISCARD, range.as_ptr()) };
    if status == 0 { Ok(()) } else { Err(last_errno()) }
}

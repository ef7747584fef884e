//! Discards a range of an open target: BLKDISCARD on devices, a punched hole in files.

use crate::errno::{errno, last_errno};
use drivelab_core::op::Errno;
use rustix::fs::{FallocateFlags, fallocate};
use std::os::fd::{AsFd, AsRawFd};

/// `_IO(0x12, 119)` of linux/fs.h.
const BLKDISCARD: libc::Ioctl = 0x1277;

/// Discards `length` bytes at `offset`. The target was opened for writing by the guard's leave.
///
/// # Errors
/// As the kernel says.
pub fn discard(target: impl AsFd, is_device: bool, offset: u64, length: u64) -> Result<(), Errno> {
    if !is_device {
        let flags = FallocateFlags::PUNCH_HOLE | FallocateFlags::KEEP_SIZE;
        return fallocate(target, flags, offset, length).map_err(errno);
    }
    let range = [offset, length];
    let descriptor = target.as_fd().as_raw_fd();
    // SAFETY: BLKDISCARD reads two u64 from the pointer and keeps nothing.
    let status = unsafe { libc::ioctl(descriptor, BLKDISCARD, range.as_ptr()) };
    if status == 0 { Ok(()) } else { Err(last_errno()) }
}

/// Has the file system set aside all blocks of a file of `bytes`, unwritten. One that cannot finds
/// them when they are written, as it would without being asked.
///
/// # Errors
/// As `fallocate(2)` says.
pub fn allocate(target: impl AsFd, bytes: u64) -> Result<(), Errno> {
    use rustix::io::Errno as Known;
    match fallocate(target, FallocateFlags::empty(), 0, bytes) {
        Err(Known::OPNOTSUPP | Known::NOSYS | Known::NODEV) => Ok(()),
        done => done.map_err(errno),
    }
}

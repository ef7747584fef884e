//! Which inode it is: names, and numbers alone, prove nothing.

use std::io;
use std::os::fd::AsFd;
use std::path::Path;

use rustix::fs::{AtFlags, Mode, OFlags, StatxFlags};
use serde::{Deserialize, Serialize};

/// What tells one inode from every other that ever was: numbers are used again, births are not.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Hash, Serialize, Deserialize)]
pub struct Identity {
    /// `st_dev` of the file system; on btrfs the number of the subvolume, by which a file is not
    /// one of the same number and birth in a snapshot.
    pub device: u64,
    /// Inode number.
    pub inode: u64,
    /// Time of birth as seconds and nanoseconds; `None` where the file system keeps none.
    pub birth: Option<(i64, u32)>,
}

impl Identity {
    /// Of an open file.
    ///
    /// # Errors
    /// As `statx(2)` says.
    pub fn of(descriptor: impl AsFd) -> io::Result<Identity> {
        Identity::read(descriptor, Path::new(""), AtFlags::EMPTY_PATH)
    }

    /// Of a name in a directory, without following a symbolic link.
    ///
    /// # Errors
    /// As `statx(2)` says.
    pub fn at(directory: impl AsFd, name: &Path) -> io::Result<Identity> {
        Identity::read(directory, name, AtFlags::SYMLINK_NOFOLLOW)
    }

    fn read(directory: impl AsFd, name: &Path, flags: AtFlags) -> io::Result<Identity> {
        let wanted = StatxFlags::BASIC_STATS | StatxFlags::BTIME;
        let statx = rustix::fs::statx(&directory, name, flags, wanted)?;
        let number = rustix::fs::makedev(statx.stx_dev_major, statx.stx_dev_minor);
        let subvolume = match flags.contains(AtFlags::EMPTY_PATH) {
            true => subvolume_of(directory)?,
            false => {
                let flags = OFlags::PATH | OFlags::NOFOLLOW | OFlags::CLOEXEC;
                subvolume_of(rustix::fs::openat(directory, name, flags, Mode::empty())?)?
            }
        };
        let born = StatxFlags::from_bits_retain(statx.stx_mask).contains(StatxFlags::BTIME);
        Ok(Identity {
            device: subvolume.unwrap_or(number),
            inode: statx.stx_ino,
            birth: born.then_some((statx.stx_btime.tv_sec, statx.stx_btime.tv_nsec)),
        })
    }
}

/// On btrfs, what tells a subvolume from all others, also after it was mounted again: its file
/// system's ID in statfs(2) has the subvolume mixed in, and `st_dev` is dealt again at each mount.
fn subvolume_of(descriptor: impl AsFd) -> io::Result<Option<u64>> {
    const BTRFS: u64 = 0x9123_683e;
    // Other file systems are told by their device.
    let kind = rustix::fs::fstatfs(&descriptor)?.f_type as u64;
    if kind != BTRFS {
        return Ok(None);
    }
    let found = rustix::fs::fstatvfs(&descriptor)?;
    Ok(Some(found.f_fsid))
}

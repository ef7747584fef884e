//! All loop devices, what they stand on, and taking hold of that.

use std::io;
use std::os::fd::{AsFd, AsRawFd, OwnedFd};
use std::path::{Path, PathBuf};

use rustix::fs::{AtFlags, CWD, FlockOperation, OFlags, StatxFlags};
use rustix::io::Errno;

use super::refusal::Refusal;
use super::{processes, reopen};
use crate::facts::{self, Mount, Tree};
use crate::identity::Identity;
use crate::loop_device::{Backing, asked};
use crate::system::{DeviceNumber, System, open_readable, read_text};

/// One attached loop device.
#[derive(Debug, Clone)]
pub(super) struct LoopDevice {
    pub(super) number: DeviceNumber,
    /// `/dev/loop3`.
    pub(super) node: String,
    /// The backing path as sysfs shows it, perhaps of another mount namespace.
    pub(super) path: PathBuf,
    pub(super) backing: Backing,
}

impl LoopDevice {
    /// All attached loop devices.
    pub(super) fn all(system: &System, tree: &Tree, mounts: &[Mount]) -> Vec<LoopDevice> {
        let names = tree.disks().into_iter().filter(|name| name.starts_with("loop"));
        names.filter_map(|name| LoopDevice::read(system, tree, mounts, &name)).collect()
    }

    fn read(system: &System, tree: &Tree, mounts: &[Mount], name: &str) -> Option<LoopDevice> {
        let number = tree.number_of(name)?;
        let file = tree.directory(number)?.join("loop/backing_file");
        let shown = read_text(&file)?;
        let path = PathBuf::from(shown.strip_suffix(" (deleted)").unwrap_or(&shown));
        let node = format!("/dev/{name}");
        let served =
            facts::mount_by_text(mounts, &path).is_some_and(|mount| facts::is_served(&mount.kind));
        let deleted = shown.ends_with(" (deleted)");
        let backing = if served {
            Backing::Elsewhere
        } else if let Some(backing) = asked(system, name, number) {
            backing
        } else if deleted {
            // No name leads to it any more: no target can be this file.
            Backing::Elsewhere
        } else if read_text(&file).is_none() {
            // Detached while we looked.
            return None;
        } else {
            by_path(system, &path)
        };
        Some(LoopDevice { number, node, path, backing })
    }

    pub(super) fn as_use(&self) -> super::occupied::Use {
        super::occupied::Use {
            code: "backs_loop",
            phrase: format!("is in use by {}, which is built on it", self.node),
            advice: format!("Detach it first: losetup -d {}", self.node),
        }
    }
}

fn by_path(system: &System, path: &Path) -> Backing {
    if let Some(number) = facts::block_number_of(system, path) {
        return Backing::Device(number);
    }
    identity_of(path).map_or(Backing::Unknown, Backing::File)
}

/// The inode of a path, from what the kernel knows without asking a server.
pub(super) fn identity_of(path: &Path) -> Option<Identity> {
    let wanted = StatxFlags::BASIC_STATS;
    let statx = rustix::fs::statx(CWD, path, AtFlags::STATX_DONT_SYNC, wanted).ok()?;
    let device = rustix::fs::makedev(statx.stx_dev_major, statx.stx_dev_minor);
    Some(Identity { device, inode: statx.stx_ino, birth: None })
}

const BLKROGET: libc::Ioctl = 0x125e;

/// Whether the kernel refuses writes to an open block device.
pub(super) fn is_read_only(open: &impl AsFd) -> io::Result<bool> {
    let mut value: libc::c_int = 0;
    // SAFETY: the descriptor is open, and BLKROGET writes one `int` to `value`, which outlives
    // the call.
    let answer = unsafe { libc::ioctl(open.as_fd().as_raw_fd(), BLKROGET, &raw mut value) };
    match answer {
        0 => Ok(value != 0),
        _ => Err(io::Error::last_os_error()),
    }
}

/// Takes hold of what a loop device stands on for as long as it is written: a device exclusively,
/// a file by `flock`, so that no other run starts below this one. Empty for other devices.
///
/// # Errors
/// A refusal when someone else has it.
pub(crate) fn hold_backing(
    system: &System,
    label: &str,
    number: DeviceNumber,
) -> Result<Vec<OwnedFd>, Refusal> {
    let tree = Tree::new(system);
    let own = tree.parent(number).unwrap_or(number);
    let mounts = facts::mounts(system).map_err(|error| {
        super::failed("the mounted file systems cannot be read".to_owned(), &error)
    })?;
    let loops = LoopDevice::all(system, &tree, &mounts);
    let Some(device) = loops.into_iter().find(|device| device.number == own) else {
        return Ok(Vec::new());
    };
    match device.backing {
        Backing::Device(below) => {
            let Ok(open) = open_readable(&device.path) else { return Ok(Vec::new()) };
            let stat = rustix::fs::fstat(&open).map_err(|error| cannot(label, error))?;
            if DeviceNumber::from_raw(stat.st_rdev) != below {
                return Ok(Vec::new());
            }
            match reopen(&open, OFlags::RDONLY | OFlags::NONBLOCK | OFlags::EXCL) {
                Ok(held) => Ok(vec![held]),
                Err(error) if error.raw_os_error() == Some(libc::EBUSY) => {
                    let below_label =
                        format!("{}, on which {label} is built,", device.path.display());
                    Err(super::occupied::busy_refusal(system, &below_label, below))
                }
                Err(error) => Err(super::failed(format!("what {label} is built on"), &error)),
            }
        }
        Backing::File(identity) => hold_file(&device.path, identity, label),
        Backing::Elsewhere | Backing::Unknown => Ok(Vec::new()),
    }
}

fn cannot(label: &str, error: Errno) -> Refusal {
    super::failed(format!("what {label} is built on cannot be examined"), &error.into())
}

fn hold_file(path: &Path, identity: Identity, label: &str) -> Result<Vec<OwnedFd>, Refusal> {
    // Not readable or not visible here: the loop device itself is held, that must do.
    let Ok(open) = open_readable(path) else { return Ok(Vec::new()) };
    let found = Identity::of(&open).map_err(|error| {
        super::failed(format!("what {label} is built on cannot be examined"), &error)
    })?;
    if (found.device, found.inode) != (identity.device, identity.inode) {
        return Ok(Vec::new());
    }
    let taken = rustix::fs::flock(&open, FlockOperation::NonBlockingLockExclusive);
    if taken == Err(Errno::WOULDBLOCK) || processes::is_record_locked(&open) {
        return Err(Refusal::safety(
            "backing_in_use",
            format!("{label} is built on {}, which another program has locked.", path.display()),
        )
        .advise(
            "Nothing was written. A virtual machine or another run may use it: end that first.",
        ));
    }
    Ok(vec![open])
}

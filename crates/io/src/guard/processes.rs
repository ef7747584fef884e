//! Which processes have a device open, as far as `/proc` lets us see.

use std::fmt;
use std::os::fd::{AsFd, AsRawFd};
use std::path::Path;

use rustix::fs::{AtFlags, CWD, FileType, StatxFlags};

use crate::system::{DeviceNumber, System, names_in, read_text};

/// A process that has the device open.
#[derive(Debug, Clone, PartialEq, Eq)]
pub(super) struct Process {
    id: u32,
    name: String,
    /// Open for writing.
    pub(super) writes: bool,
}

impl fmt::Display for Process {
    fn fmt(&self, formatter: &mut fmt::Formatter<'_>) -> fmt::Result {
        write!(formatter, "{} (process {})", self.name, self.id)
    }
}

/// The identifiers of all processes but this one.
fn others(system: &System) -> impl Iterator<Item = u32> {
    let names = names_in(&system.procfs);
    let own = std::process::id();
    names.into_iter().filter_map(|name| name.parse().ok()).filter(move |id| *id != own)
}

/// All other processes that have one of the devices open, through whatever node.
pub(super) fn with_device_open(system: &System, numbers: &[DeviceNumber]) -> Vec<Process> {
    let mut found = Vec::new();
    for id in others(system) {
        let directory = system.procfs.join(id.to_string());
        let descriptors = names_in(&directory.join("fd"));
        let opened: Vec<String> = descriptors
            .into_iter()
            .filter(|name| {
                device_of(&directory.join("fd").join(name)).is_some_and(|n| numbers.contains(&n))
            })
            .collect();
        if opened.is_empty() {
            continue;
        }
        let writes = opened.iter().any(|name| writes(&directory.join("fdinfo").join(name)));
        let name = read_text(&directory.join("comm")).unwrap_or_else(|| "a process".to_owned());
        found.push(Process { id, name, writes });
    }
    found
}

/// The block device behind a `/proc/PID/fd/N`, without asking any server for attributes.
fn device_of(link: &Path) -> Option<DeviceNumber> {
    // Sockets, pipes and anonymous inodes have targets that are no paths.
    std::fs::read_link(link).ok().filter(|target| target.is_absolute())?;
    let flags = AtFlags::STATX_DONT_SYNC;
    let statx = rustix::fs::statx(CWD, link, flags, StatxFlags::TYPE).ok()?;
    let is_block = FileType::from_raw_mode(statx.stx_mode.into()) == FileType::BlockDevice;
    is_block.then_some(DeviceNumber { major: statx.stx_rdev_major, minor: statx.stx_rdev_minor })
}

/// `flags:` of a fdinfo file, in octal; the two lowest bits are the access mode.
fn writes(fdinfo: &Path) -> bool {
    let text = read_text(fdinfo).unwrap_or_default();
    let flags = text.lines().find_map(|line| line.strip_prefix("flags:"));
    let flags = flags.and_then(|octal| u32::from_str_radix(octal.trim(), 8).ok());
    // O_PATH descriptors cannot write; an unreadable one may.
    flags.is_none_or(|flags| flags & 0o3 != 0 && flags & libc::O_PATH.unsigned_abs() == 0)
}

/// A process in whose mount namespace the device is mounted, and where.
pub(super) fn mounted_elsewhere(
    system: &System,
    number: DeviceNumber,
) -> Option<(Process, String)> {
    let mut seen = Vec::new();
    for id in others(system) {
        let directory = system.procfs.join(id.to_string());
        let namespace = std::fs::read_link(directory.join("ns/mnt")).ok();
        if namespace.is_none() || seen.contains(&namespace) {
            continue;
        }
        seen.push(namespace);
        let Ok(bytes) = std::fs::read(directory.join("mountinfo")) else { continue };
        let Ok(mounts) = crate::facts::parse_mounts(&bytes) else { continue };
        if let Some(mount) = mounts.into_iter().find(|mount| mount.number == number) {
            let name = read_text(&directory.join("comm")).unwrap_or_default();
            let process = Process { id, name, writes: true };
            return Some((process, mount.mount_point.display().to_string()));
        }
    }
    None
}

/// Whether someone holds a record lock on an open file, as virtual machines do on their images.
pub(super) fn is_record_locked(open: &impl AsFd) -> bool {
    // SAFETY: plain integers, for which all zero bytes are a value (`l_pid` must be 0 for OFD).
    let mut query: libc::flock = unsafe { std::mem::zeroed() };
    query.l_type = libc::F_WRLCK as libc::c_short;
    query.l_whence = libc::SEEK_SET as libc::c_short;
    // SAFETY: the descriptor is open, and the kernel reads and writes one `struct flock`, which
    // outlives the call.
    let answer =
        unsafe { libc::fcntl(open.as_fd().as_raw_fd(), libc::F_OFD_GETLK, &raw mut query) };
    answer == 0 && i32::from(query.l_type) != libc::F_UNLCK
}

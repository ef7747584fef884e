//! Removes scratch, never following a link and never entering another mount.

use std::collections::HashMap;
use std::ffi::{CStr, CString};
use std::io;
use std::os::fd::{AsFd, AsRawFd, OwnedFd};
use std::path::{Path, PathBuf};

use rustix::fs::{AtFlags, Dir, FileType, FlockOperation, Mode, OFlags, ResolveFlags};
use rustix::io::Errno;

use super::{Entry, Identity, Left, ScratchKind, ScratchList};

/// What became of the scratch of runs that were killed.
#[derive(Debug, Clone, Default, PartialEq, Eq)]
pub struct Leftovers {
    /// Removed now.
    pub removed: Vec<PathBuf>,
    /// In use by a run that is still there.
    pub in_use: Vec<PathBuf>,
    /// Left where it is, and why.
    pub left: Vec<(PathBuf, String)>,
    /// Not to be seen now, and why; it may come back.
    pub away: Vec<(PathBuf, String)>,
}

/// Removes the scratch that runs which were killed left behind: what stands in the list without
/// `keep`, has the same inode, birth and size, changed no later than the last sign of life, and is
/// locked by no run. What is there and is not so is left, and no longer looked after.
///
/// # Errors
/// When the list cannot be read or written.
pub fn remove_leftovers(list: &ScratchList) -> io::Result<Leftovers> {
    let mut leftovers = Leftovers::default();
    let here = crate::system::machine();
    let is_here = |entry: &Entry| entry.machine.is_none() || entry.machine == here;
    for entry in list.entries()?.into_iter().filter(|entry| !entry.keep && is_here(entry)) {
        let path = entry.path();
        match remove_leftover(&path, &entry, list) {
            Ok(Outcome::Removed) => leftovers.removed.push(path),
            Ok(Outcome::InUse) => leftovers.in_use.push(path),
            Ok(Outcome::Gone) => {}
            Ok(Outcome::Away(reason)) => leftovers.away.push((path, reason.to_owned())),
            Ok(Outcome::Left(reason)) => leftovers.left.push((path, reason.to_owned())),
            Err(error) => leftovers.left.push((path, error.to_string())),
        }
    }
    Ok(leftovers)
}

/// Removes files of ours that were kept and are still as a run of drivelab left them, of those that
/// `is_meant` names. All others stay, and so does what a run works on.
///
/// # Errors
/// When the list cannot be read or written.
pub fn remove_kept(
    list: &ScratchList,
    is_meant: impl Fn(&Path) -> bool,
) -> io::Result<Vec<PathBuf>> {
    let mut removed = Vec::new();
    let mut last: HashMap<Identity, Entry> = HashMap::new();
    for entry in list.entries()? {
        last.insert(entry.identity, entry);
    }
    let meant =
        |entry: &&Entry| entry.keep && entry.kind == ScratchKind::File && is_meant(&entry.path());
    for entry in last.values().filter(meant) {
        let path = entry.path();
        let (Some(directory), Some(name)) = (path.parent(), path.file_name()) else { continue };
        let name = Path::new(name);
        let flags = OFlags::PATH | OFlags::DIRECTORY | OFlags::CLOEXEC;
        let Ok(parent) = rustix::fs::open(directory, flags, Mode::empty()) else { continue };
        let flags = OFlags::RDONLY | OFlags::CLOEXEC | OFlags::NOFOLLOW | OFlags::NONBLOCK;
        let Ok(open) = rustix::fs::openat(&parent, name, flags, Mode::empty()) else { continue };
        let is_ours = entry.identity.birth.is_some() && Identity::of(&open)? == entry.identity;
        let is_free = rustix::fs::flock(&open, FlockOperation::NonBlockingLockExclusive).is_ok();
        let is_left = entry.left.is_some() && Left::of(&open)? == entry.left;
        if is_ours && is_free && is_left {
            remove_named(&parent, name, entry)?;
            list.forget(entry.identity)?;
            removed.push(path);
        }
    }
    removed.sort();
    Ok(removed)
}

enum Outcome {
    Removed,
    InUse,
    Gone,
    Left(&'static str),
    Away(&'static str),
}

fn remove_leftover(path: &Path, entry: &Entry, list: &ScratchList) -> io::Result<Outcome> {
    let (Some(directory), Some(name)) = (path.parent(), path.file_name()) else {
        return Ok(Outcome::Left("it has no directory"));
    };
    let name = Path::new(name);
    let flags = OFlags::PATH | OFlags::DIRECTORY | OFlags::CLOEXEC;
    let parent = match rustix::fs::open(directory, flags, Mode::empty()) {
        // Perhaps a file system that is not mounted now: it may come back.
        Err(Errno::NOENT | Errno::NOTDIR) => return Ok(Outcome::Away("its directory is not here")),
        other => other?,
    };
    match Identity::at(&parent, name) {
        Ok(found) if found == entry.identity => {}
        Ok(found) if found.device == entry.identity.device => {
            list.forget(entry.identity)?;
            return Ok(Outcome::Left("another file has its name: not ours"));
        }
        Ok(_) => return Ok(Outcome::Away("another file has its name: not ours")),
        Err(error) if error.kind() == io::ErrorKind::NotFound => {
            // On its own file system and without it: it was moved away or removed by hand.
            if Identity::of(&parent)?.device == entry.identity.device {
                list.forget(entry.identity)?;
                return Ok(Outcome::Gone);
            }
            return Ok(Outcome::Away("its file system is not mounted now"));
        }
        Err(error) => return Err(error),
    }
    let flags = OFlags::RDONLY | OFlags::CLOEXEC | OFlags::NOFOLLOW | OFlags::NONBLOCK;
    let open = rustix::fs::openat(&parent, name, flags, Mode::empty())?;
    if Identity::of(&open)? != entry.identity {
        return Ok(Outcome::Left("another file has its name: not ours"));
    }
    match rustix::fs::flock(&open, FlockOperation::NonBlockingLockExclusive) {
        Err(Errno::WOULDBLOCK) => return Ok(Outcome::InUse),
        other => other?,
    }
    if let Err(reason) = entry.as_killed(&open)? {
        list.forget(entry.identity)?;
        return Ok(Outcome::Left(reason));
    }
    remove_named(&parent, name, entry)?;
    list.forget(entry.identity)?;
    Ok(Outcome::Removed)
}

/// Removes what an entry describes; its identity has been compared by the caller.
pub(super) fn remove_named(parent: &OwnedFd, name: &Path, entry: &Entry) -> io::Result<()> {
    match entry.kind {
        ScratchKind::File => Ok(rustix::fs::unlinkat(parent, name, AtFlags::empty())?),
        ScratchKind::Directory => {
            let flags = OFlags::RDONLY | OFlags::DIRECTORY | OFlags::NOFOLLOW | OFlags::CLOEXEC;
            let open = rustix::fs::openat(parent, name, flags, Mode::empty())?;
            if Identity::of(&open)? != entry.identity {
                return Err(io::Error::other("the path changed while it was removed"));
            }
            empty(open)?;
            Ok(rustix::fs::unlinkat(parent, name, AtFlags::REMOVEDIR)?)
        }
    }
}

/// What is in a directory, but for itself and the one above: names, and whether each is one.
fn listed(directory: &OwnedFd) -> io::Result<Vec<(CString, bool)>> {
    let mut names = Vec::new();
    let mut entries = Dir::read_from(directory)?;
    while let Some(entry) = entries.read() {
        let entry = entry?;
        let name = entry.file_name();
        if name == c"." || name == c".." {
            continue;
        }
        // Ask for the type where the directory does not tell it: never guess from an error.
        let kind = match entry.file_type() {
            FileType::Unknown => {
                let stat = rustix::fs::statat(directory, name, AtFlags::SYMLINK_NOFOLLOW)?;
                FileType::from_raw_mode(stat.st_mode)
            }
            known => known,
        };
        names.push((name.to_owned(), kind == FileType::Directory));
    }
    Ok(names)
}

/// Removes everything in a directory, as far as its own mount goes.
fn empty(directory: OwnedFd) -> io::Result<()> {
    for (name, is_directory) in listed(&directory)? {
        if is_directory {
            empty(child(&directory, &name)?)?;
            rustix::fs::unlinkat(&directory, &name, AtFlags::REMOVEDIR)?;
        } else {
            rustix::fs::unlinkat(&directory, &name, AtFlags::empty())?;
        }
    }
    Ok(())
}

/// Whether something below a directory is as `is_meant` says; what is mounted there is an error.
pub(super) fn any_below(
    directory: impl AsFd,
    is_meant: &impl Fn(&Left) -> bool,
) -> io::Result<bool> {
    let flags = OFlags::RDONLY | OFlags::DIRECTORY | OFlags::CLOEXEC;
    let directory = rustix::fs::openat(directory, c".", flags, Mode::empty())?;
    for (name, is_directory) in listed(&directory)? {
        let flags = OFlags::PATH | OFlags::NOFOLLOW | OFlags::CLOEXEC;
        let open = rustix::fs::openat(&directory, &name, flags, Mode::empty())?;
        if Left::of(open)?.is_some_and(|left| is_meant(&left))
            || is_directory && any_below(child(&directory, &name)?, is_meant)?
        {
            return Ok(true);
        }
    }
    Ok(false)
}

/// Opens a directory in a directory, and nothing that is mounted there: not another file system,
/// and not another part of the same one (a bind mount), which has the same device number.
fn child(directory: &OwnedFd, name: &CStr) -> io::Result<OwnedFd> {
    let flags = OFlags::RDONLY | OFlags::DIRECTORY | OFlags::NOFOLLOW | OFlags::CLOEXEC;
    let within = ResolveFlags::NO_XDEV | ResolveFlags::NO_SYMLINKS | ResolveFlags::BENEATH;
    match rustix::fs::openat2(directory, name, flags, Mode::empty(), within) {
        Err(Errno::XDEV) => Err(mounted(name)),
        // A kernel before 5.6, or a filter of system calls: ask the kernel which mount it is on.
        Err(Errno::NOSYS | Errno::PERM | Errno::INVAL) => {
            let child = rustix::fs::openat(directory, name, flags, Mode::empty())?;
            match mount_of(&child)? == mount_of(directory)? {
                true => Ok(child),
                false => Err(mounted(name)),
            }
        }
        other => Ok(other?),
    }
}

fn mounted(name: &CStr) -> io::Error {
    let shown = name.to_string_lossy();
    io::Error::other(format!("{shown} is mounted in the scratch directory: unmount it"))
}

/// The number of the mount that a descriptor is on (proc(5), `fdinfo`).
fn mount_of(descriptor: &OwnedFd) -> io::Result<u64> {
    let path = format!("/proc/self/fdinfo/{}", descriptor.as_raw_fd());
    let text = std::fs::read_to_string(path)?;
    let number = text.lines().find_map(|line| line.strip_prefix("mnt_id:")?.trim().parse().ok());
    number.ok_or_else(|| io::Error::other("the kernel does not show what is mounted where"))
}

//! Removes scratch, never following a link and never entering another file system.

use std::ffi::CStr;
use std::io;
use std::os::fd::{AsFd, OwnedFd};
use std::path::{Path, PathBuf};

use rustix::fs::{AtFlags, Dir, FileType, FlockOperation, Mode, OFlags};
use rustix::io::Errno;

use super::{Entry, Identity, Ledger, ScratchKind};

/// What became of the scratch of runs that were killed.
#[derive(Debug, Clone, Default, PartialEq, Eq)]
pub struct Leftovers {
    /// Removed now.
    pub removed: Vec<PathBuf>,
    /// In use by a run that is still there.
    pub in_use: Vec<PathBuf>,
    /// Left where it is, and why.
    pub left: Vec<(PathBuf, String)>,
}

/// Removes the scratch that runs which were killed left behind: what stands in the ledger without
/// `keep`, has the same inode and birth, and is locked by no run.
///
/// # Errors
/// When the ledger cannot be read or written.
pub fn remove_leftovers(ledger: &Ledger) -> io::Result<Leftovers> {
    let mut leftovers = Leftovers::default();
    for entry in ledger.entries()?.into_iter().filter(|entry| !entry.keep) {
        let path = entry.path();
        match remove_leftover(&path, &entry, ledger) {
            Ok(Outcome::Removed) => leftovers.removed.push(path),
            Ok(Outcome::InUse) => leftovers.in_use.push(path),
            Ok(Outcome::Gone) => {}
            Ok(Outcome::Left(reason)) => leftovers.left.push((path, reason.to_owned())),
            Err(error) => leftovers.left.push((path, error.to_string())),
        }
    }
    Ok(leftovers)
}

enum Outcome {
    Removed,
    InUse,
    Gone,
    Left(&'static str),
}

fn remove_leftover(path: &Path, entry: &Entry, ledger: &Ledger) -> io::Result<Outcome> {
    let (Some(directory), Some(name)) = (path.parent(), path.file_name()) else {
        return Ok(Outcome::Left("it has no directory"));
    };
    let name = Path::new(name);
    let flags = OFlags::PATH | OFlags::DIRECTORY | OFlags::CLOEXEC;
    let parent = match rustix::fs::open(directory, flags, Mode::empty()) {
        // Perhaps a file system that is not mounted now: it may come back.
        Err(Errno::NOENT | Errno::NOTDIR) => return Ok(Outcome::Left("its directory is not here")),
        other => other?,
    };
    match Identity::at(&parent, name) {
        Ok(found) if found == entry.identity => {}
        Ok(found) if found.device == entry.identity.device => {
            ledger.forget(entry.identity)?;
            return Ok(Outcome::Left("another file has its name: not ours"));
        }
        Ok(_) => return Ok(Outcome::Left("another file has its name: not ours")),
        Err(error) if error.kind() == io::ErrorKind::NotFound => {
            // On its own file system and without it: it was moved away or removed by hand.
            if Identity::of(&parent)?.device == entry.identity.device {
                ledger.forget(entry.identity)?;
                return Ok(Outcome::Gone);
            }
            return Ok(Outcome::Left("its file system is not mounted now"));
        }
        Err(error) => return Err(error),
    }
    if entry.identity.birth.is_none() {
        return Ok(Outcome::Left(
            "its file system keeps no time of birth, so that it cannot be proved ours: \
             remove it by hand",
        ));
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
    remove_named(&parent, name, entry)?;
    ledger.forget(entry.identity)?;
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
            empty(open, entry.identity.device)?;
            Ok(rustix::fs::unlinkat(parent, name, AtFlags::REMOVEDIR)?)
        }
    }
}

/// Removes everything in a directory that lies on file system `device`.
fn empty(directory: OwnedFd, device: u64) -> io::Result<()> {
    let mut entries = Dir::read_from(&directory)?;
    while let Some(entry) = entries.read() {
        let entry = entry?;
        let name = entry.file_name();
        if name == c"." || name == c".." {
            continue;
        }
        // Ask for the type where the directory does not tell it: never guess from an error.
        let kind = match entry.file_type() {
            FileType::Unknown => {
                let stat = rustix::fs::statat(&directory, name, AtFlags::SYMLINK_NOFOLLOW)?;
                FileType::from_raw_mode(stat.st_mode)
            }
            known => known,
        };
        if kind == FileType::Directory {
            empty_child(&directory, name, device)?;
            rustix::fs::unlinkat(&directory, name, AtFlags::REMOVEDIR)?;
        } else {
            rustix::fs::unlinkat(&directory, name, AtFlags::empty())?;
        }
    }
    Ok(())
}

fn empty_child(directory: impl AsFd, name: &CStr, device: u64) -> io::Result<()> {
    let flags = OFlags::RDONLY | OFlags::DIRECTORY | OFlags::NOFOLLOW | OFlags::CLOEXEC;
    let child = rustix::fs::openat(directory, name, flags, Mode::empty())?;
    if Identity::of(&child)?.device != device {
        return Err(io::Error::other(format!(
            "{} is another file system, mounted in the scratch directory: unmount it",
            name.to_string_lossy()
        )));
    }
    empty(child, device)
}

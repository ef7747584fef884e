//! Scratch directories for names: made by one rank, and joined by the others.

use std::io;
use std::os::fd::{AsFd, BorrowedFd, OwnedFd};
use std::path::{Path, PathBuf};

use rustix::fs::{AtFlags, CWD, Mode as Permissions, OFlags};
use rustix::io::Errno;

use super::create::{cannot_create, no_list, refuse_kernel_directories, unique_name};
use super::named::{Mark, join_one};
use super::{OpenRequest, lock};
use crate::guard::{self, Refusal};
use crate::scratch::life::Joined;
use crate::scratch::{Scratch, ScratchKind, ScratchList};
use crate::system::System;

/// A directory of our own for names: removed with everything in it when this is dropped.
#[derive(Debug)]
pub struct ScratchDirectory {
    // Declared first: removed while it is still locked.
    scratch: Option<Scratch>,
    path: PathBuf,
    pinned: OwnedFd,
    #[expect(dead_code, reason = "held until the directory is released")]
    shared: Option<Joined>,
}

impl ScratchDirectory {
    /// Path of the directory.
    pub fn path(&self) -> &Path {
        &self.path
    }

    /// The open directory, for `openat` and its like.
    pub fn descriptor(&self) -> BorrowedFd<'_> {
        self.pinned.as_fd()
    }

    /// What it is, for the ranks that [`join_directory`].
    ///
    /// # Errors
    /// As `fstat(2)` says.
    pub fn mark(&self) -> io::Result<Mark> {
        Mark::of(&self.pinned)
    }

    /// Removes it and everything in it now; one that another rank made stays for that to remove.
    ///
    /// # Errors
    /// When something in it cannot be removed, or another file system is mounted in it.
    pub fn close(mut self) -> io::Result<()> {
        match self.scratch.take() {
            Some(scratch) => scratch.remove(),
            None => Ok(()),
        }
    }
}

/// Makes a scratch directory in the existing directory `request.path`, for metadata actions.
///
/// # Errors
/// A [`Refusal`] when the path is no directory, or nothing can be made in it.
pub fn open_directory(system: &System, request: &OpenRequest) -> Result<ScratchDirectory, Refusal> {
    let shown = request.path.display();
    let Some(witness) = guard::witness(&request.path)? else {
        return Err(guard::cannot_open(&request.path, Errno::NOENT.into()));
    };
    let stat = rustix::fs::fstat(&witness)
        .map_err(|error| guard::cannot_open(&request.path, error.into()))?;
    if rustix::fs::FileType::from_raw_mode(stat.st_mode) != rustix::fs::FileType::Directory {
        return Err(Refusal::usage("wrong_kind", format!("{shown} is not a directory."))
            .advise("Metadata actions need a directory to make names in."));
    }
    refuse_kernel_directories(system, request, &request.path)?;
    let list = ScratchList::at(&request.scratch_list);
    let path = request.path.join(unique_name());
    rustix::fs::mkdir(&path, Permissions::RWXU).map_err(|error| cannot_create(&path, error))?;
    let flags = OFlags::RDONLY | OFlags::DIRECTORY | OFlags::NOFOLLOW | OFlags::CLOEXEC;
    let opened = rustix::fs::open(&path, flags, Permissions::empty())
        .map_err(|error| guard::cannot_open(&path, error.into()))
        .and_then(|pinned| {
            lock(&pinned, &path, true)?;
            let kind = ScratchKind::Directory;
            let scratch = Scratch::adopt(kind, &path, &pinned, &list, request.keep, None)
                .map_err(|error| no_list(&list, &error))?;
            Ok((pinned, scratch))
        });
    match opened {
        Ok((pinned, scratch)) => {
            Ok(ScratchDirectory { scratch: Some(scratch), path, pinned, shared: None })
        }
        Err(refusal) => {
            // Empty, and made a moment ago; a directory with anything in it stays.
            let _ = rustix::fs::unlinkat(CWD, &path, AtFlags::REMOVEDIR);
            Err(refusal)
        }
    }
}

/// Opens the scratch directory that another rank has made, and removes it.
///
/// # Errors
/// A [`Refusal`] when it is not here, or is another one here.
pub fn join_directory(path: &Path, known: Mark, list: &Path) -> Result<ScratchDirectory, Refusal> {
    let pinned = join_one(path, known, rustix::fs::FileType::Directory)?;
    let list = ScratchList::at(list);
    let shared = Joined::begin(&list, &pinned).map_err(|error| no_list(&list, &error))?;
    Ok(ScratchDirectory { scratch: None, path: path.to_owned(), pinned, shared })
}

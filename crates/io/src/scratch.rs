//! What drivelab made and may therefore overwrite and remove: the list, and the guards that
//! remove scratch at the end, after a panic, or, for a run that was killed, later.
//!
//! The list is a file of JSON lines: `made` and `gone`; the last one of an inode holds. An inode
//! is ours if its device, number and time of birth stand there; a name proves nothing. A file that
//! stays is ours only as long as it is as drivelab left it ([`Left`]). What a killed run left is
//! ours if it did not change later than the last sign of life of that run ([`life`]); where there
//! is none, it is nobody's to remove or overwrite.
//! Writers and readers hold a `flock`, and a line torn by a crash is passed over. A file that is no
//! list is neither written nor read as one, and no link is followed to it.

mod left;
pub mod life;
mod list;
mod removal;

use std::ffi::OsString;
use std::fs::{File, Metadata};
use std::io::{self, Write};
use std::os::fd::{AsFd, OwnedFd};
use std::os::unix::ffi::{OsStrExt, OsStringExt};
use std::os::unix::fs::MetadataExt;
use std::path::{Path, PathBuf};

use rustix::fs::{FlockOperation, Mode, OFlags};
use rustix::io::Errno;
use serde::{Deserialize, Serialize};

use crate::identity::Identity;
use list::{append, read, text_of};

pub use left::Left;
pub use removal::{Leftovers, remove_kept, remove_leftovers};

/// From this many bytes on a list is looked at for lines that are past.
const LONG_BYTES: u64 = 1 << 16;

/// File or directory.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Serialize, Deserialize)]
#[serde(rename_all = "snake_case")]
pub enum ScratchKind {
    /// A regular file.
    File,
    /// A directory with everything in it.
    Directory,
}

/// One thing that drivelab made.
#[derive(Debug, Clone, PartialEq, Eq, Serialize, Deserialize)]
pub struct Entry {
    /// File or directory.
    pub kind: ScratchKind,
    /// Where it was made, as text.
    pub path: String,
    /// The bytes of the path, if it is not UTF-8.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub path_bytes: Option<Vec<u8>>,
    /// The inode.
    #[serde(flatten)]
    pub identity: Identity,
    /// The user asked to keep it: it is ours, but no leftover.
    pub keep: bool,
    /// How it was left by the last run that wrote to it; `None`: that run is still there, was
    /// killed, or was one of a drivelab that did not note it yet.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub left: Option<Left>,
    /// Length in bytes that its run gave it.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub bytes: Option<u64>,
    /// The process that works on it, if one does or was killed while it did.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub life: Option<String>,
    /// Which machine wrote the line: others may share the list, and have other drives.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub machine: Option<String>,
    /// The last sign of life of that process.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub seen: Option<left::Stamp>,
}

impl Entry {
    /// An entry for an inode at an absolute path.
    pub fn new(kind: ScratchKind, path: &Path, identity: Identity, keep: bool) -> Entry {
        let bytes = path.as_os_str().as_bytes();
        let path_bytes = path.to_str().is_none().then(|| bytes.to_vec());
        let path = path.to_string_lossy().into_owned();
        let (left, bytes, life, seen) = (None, None, None, None);
        let machine = crate::system::machine();
        Entry { kind, path, path_bytes, identity, keep, left, bytes, life, machine, seen }
    }

    /// The path, exact.
    pub fn path(&self) -> PathBuf {
        match &self.path_bytes {
            Some(bytes) => PathBuf::from(OsString::from_vec(bytes.clone())),
            None => PathBuf::from(&self.path),
        }
    }
}

/// One line.
#[derive(Debug, Serialize, Deserialize)]
#[serde(tag = "event", rename_all = "snake_case")]
enum Line {
    Made(Entry),
    Gone(Identity),
    Alive {
        /// Of which process.
        life: String,
        /// Time of the sign of life.
        at: left::Stamp,
    },
}

/// The list of what is ours.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct ScratchList {
    path: PathBuf,
}

impl ScratchList {
    /// The list at `path` (`$XDG_DATA_HOME/drivelab/scratch.jsonl`); need not exist.
    pub fn at(path: impl Into<PathBuf>) -> ScratchList {
        ScratchList { path: path.into() }
    }

    /// Path of the scratch file.
    pub fn path(&self) -> &Path {
        &self.path
    }

    /// Notes that something was made; it is on stable storage when this returns.
    ///
    /// # Errors
    /// When the list cannot be created or written.
    pub fn record(&self, entry: &Entry) -> io::Result<()> {
        self.append_all(&[Line::Made(entry.clone())])
    }

    /// Appends lines, and writes the list again where most of it is past.
    fn append_all(&self, lines: &[Line]) -> io::Result<()> {
        self.append_with(lines, File::sync_data)
    }

    /// The same for what may be lost with the machine, and costs no drive anything.
    fn append_unsynced(&self, lines: &[Line]) -> io::Result<()> {
        self.append_with(lines, |_| Ok(()))
    }

    fn append_with(
        &self,
        lines: &[Line],
        settle: impl FnOnce(&File) -> io::Result<()>,
    ) -> io::Result<()> {
        if lines.is_empty() {
            return Ok(());
        }
        let mut file = self.open_locked()?;
        append(&mut file, lines)?;
        settle(&file)?;
        if file.metadata()?.len() > LONG_BYTES {
            // What was to be said is said; the next one tries again.
            let _ = self.condense(&mut file);
        }
        Ok(())
    }

    /// Puts a list that says the same in fewer lines in the place of a long one.
    fn condense(&self, file: &mut File) -> io::Result<()> {
        let lines: Vec<Line> = read(file)?.into_iter().map(Line::Made).collect();
        let text = text_of(&lines)?;
        if file.metadata()?.len() < 4 * text.len() as u64 {
            return Ok(());
        }
        let path = &self.path;
        let new = path.with_extension("new");
        // What a crash left of the last time is a list too; anything else stays.
        match list::open(&new, false) {
            Ok(_) => std::fs::remove_file(&new)?,
            Err(error) if error.kind() == io::ErrorKind::NotFound => {}
            Err(error) => return Err(error),
        }
        let mut condensed = list::open(&new, true)?;
        condensed.write_all(&text)?;
        condensed.sync_data()?;
        std::fs::rename(&new, path)
    }

    /// Notes that something is gone. With nothing left the list is emptied.
    ///
    /// # Errors
    /// When the list cannot be read or written.
    pub fn forget(&self, identity: Identity) -> io::Result<()> {
        let mut file = self.open_locked()?;
        append(&mut file, &[Line::Gone(identity)])?;
        if read(&mut file)?.is_empty() {
            file.set_len(0)?;
        }
        Ok(())
    }

    /// Everything that was made and is not known to be gone.
    ///
    /// # Errors
    /// When the list exists and cannot be read.
    pub fn entries(&self) -> io::Result<Vec<Entry>> {
        let mut file = match list::open(&self.path, false) {
            Err(error) if error.kind() == io::ErrorKind::NotFound => return Ok(Vec::new()),
            other => other?,
        };
        lock(&file, FlockOperation::LockShared)?;
        read(&mut file)
    }

    /// The entry of an inode. Without a time of birth nothing is ours for longer than the run
    /// that made it, for its number may have been used again.
    ///
    /// # Errors
    /// When the list exists and cannot be read.
    pub fn ours(&self, identity: Identity) -> io::Result<Option<Entry>> {
        match identity.birth {
            Some(_) => self.find(identity),
            None => Ok(None),
        }
    }

    /// The entry of an inode that a descriptor has kept alive since it was made.
    fn find(&self, identity: Identity) -> io::Result<Option<Entry>> {
        Ok(self.entries()?.into_iter().rev().find(|entry| entry.identity == identity))
    }

    fn open_locked(&self) -> io::Result<File> {
        if let Some(directory) = self.path.parent() {
            std::fs::create_dir_all(directory)?;
        }
        loop {
            let file = list::open(&self.path, true)?;
            lock(&file, FlockOperation::LockExclusive)?;
            // While it waited, another may have put a shorter one in its place.
            let number = |found: &Metadata| (found.dev(), found.ino());
            match std::fs::symlink_metadata(&self.path) {
                Ok(found) if number(&found) == number(&file.metadata()?) => return Ok(file),
                Err(error) if error.kind() != io::ErrorKind::NotFound => return Err(error),
                _ => {}
            }
        }
    }
}

fn lock(file: &File, operation: FlockOperation) -> io::Result<()> {
    loop {
        match rustix::fs::flock(file, operation) {
            Err(Errno::INTR) => {}
            other => return Ok(other?),
        }
    }
}

/// A file or directory that is removed when this is dropped.
#[derive(Debug)]
pub struct Scratch {
    parent: OwnedFd,
    name: PathBuf,
    entry: Entry,
    list: ScratchList,
    done: bool,
}

impl Scratch {
    /// Takes charge of an inode that was just made, or found to be ours, at `path`. It is written
    /// into the list, with the length that it will have. The caller keeps `inode` open for as
    /// long as this lives, so that its number is not used again meanwhile.
    ///
    /// # Errors
    /// When its directory cannot be opened, the inode is not at `path`, or the list cannot be
    /// written. A new inode must then be removed by the caller.
    pub fn adopt(
        kind: ScratchKind,
        path: &Path,
        inode: impl AsFd,
        list: &ScratchList,
        keep: bool,
        bytes: Option<u64>,
    ) -> io::Result<Scratch> {
        let path = std::path::absolute(path)?;
        let (Some(directory), Some(name)) = (path.parent(), path.file_name()) else {
            return Err(io::Error::other("scratch needs a directory and a name"));
        };
        let flags = OFlags::PATH | OFlags::DIRECTORY | OFlags::CLOEXEC;
        let parent = rustix::fs::open(directory, flags, Mode::empty())?;
        let name = PathBuf::from(name);
        let identity = Identity::of(inode)?;
        if Identity::at(&parent, &name)? != identity {
            return Err(io::Error::other("the path changed while scratch was made"));
        }
        let entry = Entry { bytes, ..Entry::new(kind, &path, identity, keep) };
        list.record(&entry.alive())?;
        life::begin(list, &entry);
        Ok(Scratch { parent, name, entry, list: list.clone(), done: false })
    }

    /// Path of the scratch file.
    pub fn path(&self) -> PathBuf {
        self.entry.path()
    }

    /// What the list has of it, if it stays.
    pub fn kept(&self) -> Option<&Entry> {
        Some(&self.entry).filter(|entry| entry.keep)
    }

    /// Removes it now, unless it is to be kept, if the same inode is still at its path. That it is
    /// ours needs no list: this run has made it, or taken it over, and held it since.
    ///
    /// # Errors
    /// When it cannot be removed or the list cannot be written.
    pub fn remove(mut self) -> io::Result<()> {
        self.remove_once()
    }

    fn remove_once(&mut self) -> io::Result<()> {
        if std::mem::replace(&mut self.done, true) || self.entry.keep {
            return Ok(());
        }
        let identity = self.entry.identity;
        // Signs go on as long as something of this run may be left.
        let removed = self.remove_named(identity);
        if removed.is_ok() {
            life::end(identity);
        }
        removed
    }

    fn remove_named(&self, identity: Identity) -> io::Result<()> {
        match Identity::at(&self.parent, &self.name) {
            Ok(found) if found == identity => {
                removal::remove_named(&self.parent, &self.name, &self.entry)?;
                self.list.forget(identity)
            }
            // Someone put something else there: not ours to remove.
            Ok(_) => Ok(()),
            Err(error) if error.kind() == io::ErrorKind::NotFound => self.list.forget(identity),
            Err(error) => Err(error),
        }
    }
}

impl Drop for Scratch {
    fn drop(&mut self) {
        // Nobody is left to tell; `remove` reports, and leftovers are found at the next start.
        let _ = self.remove_once();
    }
}

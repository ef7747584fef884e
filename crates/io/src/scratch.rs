//! What drivelab made and may therefore overwrite and remove: the ledger, and the guards that
//! remove scratch at the end, after a panic, or, for a run that was killed, later.
//!
//! The ledger is a file of JSON lines: `made` and `gone`; the last one of an inode holds. An inode
//! is ours if its device, number and time of birth stand there; a name proves nothing. A file that
//! stays is ours only as long as it is as drivelab left it ([`Left`]). Where nothing says how it
//! was left, because its run was killed or an earlier drivelab wrote the line, birth alone decides.
//! Writers and readers hold a `flock`, and a line torn by a crash is passed over.

mod left;
mod removal;

use std::ffi::OsString;
use std::fs::{File, Metadata};
use std::io::{self, Read, Seek, SeekFrom, Write};
use std::os::fd::{AsFd, OwnedFd};
use std::os::unix::ffi::{OsStrExt, OsStringExt};
use std::os::unix::fs::{MetadataExt, OpenOptionsExt};
use std::path::{Path, PathBuf};

use rustix::fs::{AtFlags, FlockOperation, Mode, OFlags, StatxFlags};
use rustix::io::Errno;
use serde::{Deserialize, Serialize};

pub use left::Left;
pub use removal::{Leftovers, remove_leftovers};

/// From so many bytes on a ledger is looked at for lines that are past.
const LONG_BYTES: u64 = 1 << 16;

/// What tells one inode from every other that ever was: numbers are used again, births are not.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Hash, Serialize, Deserialize)]
pub struct Identity {
    /// `st_dev` of the file system.
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
        let statx = rustix::fs::statx(directory, name, flags, wanted)?;
        let born = StatxFlags::from_bits_retain(statx.stx_mask).contains(StatxFlags::BTIME);
        Ok(Identity {
            device: rustix::fs::makedev(statx.stx_dev_major, statx.stx_dev_minor),
            inode: statx.stx_ino,
            birth: born.then_some((statx.stx_btime.tv_sec, statx.stx_btime.tv_nsec)),
        })
    }
}

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
}

impl Entry {
    /// An entry for an inode at an absolute path.
    pub fn new(kind: ScratchKind, path: &Path, identity: Identity, keep: bool) -> Entry {
        let bytes = path.as_os_str().as_bytes();
        let path_bytes = path.to_str().is_none().then(|| bytes.to_vec());
        let path = path.to_string_lossy().into_owned();
        Entry { kind, path, path_bytes, identity, keep, left: None }
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
}

/// The list of what is ours.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct Ledger {
    path: PathBuf,
}

impl Ledger {
    /// The ledger at `path` (`$XDG_DATA_HOME/drivelab/scratch.jsonl`); need not exist.
    pub fn at(path: impl Into<PathBuf>) -> Ledger {
        Ledger { path: path.into() }
    }

    /// Where it is.
    pub fn path(&self) -> &Path {
        &self.path
    }

    /// Notes that something was made; it is on stable storage when this returns.
    ///
    /// # Errors
    /// When the ledger cannot be created or written.
    pub fn record(&self, entry: &Entry) -> io::Result<()> {
        self.append_all(&[Line::Made(entry.clone())])
    }

    /// Appends lines, and writes the ledger anew where most of it is past.
    fn append_all(&self, lines: &[Line]) -> io::Result<()> {
        if lines.is_empty() {
            return Ok(());
        }
        let mut file = self.open_locked()?;
        append(&mut file, lines)?;
        file.sync_data()?;
        if file.metadata()?.len() > LONG_BYTES {
            // What was to be said is said; the next one tries again.
            let _ = self.condense(&mut file);
        }
        Ok(())
    }

    /// Puts a ledger that says the same in fewer lines in the place of a long one.
    fn condense(&self, file: &mut File) -> io::Result<()> {
        let lines: Vec<Line> = read(file)?.into_iter().map(Line::Made).collect();
        let text = text_of(&lines)?;
        if file.metadata()?.len() < 4 * text.len() as u64 {
            return Ok(());
        }
        let path = self.path.canonicalize()?;
        let new = path.with_extension("new");
        match std::fs::remove_file(&new) {
            Err(error) if error.kind() != io::ErrorKind::NotFound => return Err(error),
            _ => {}
        }
        let mut condensed = open(&new)?;
        condensed.write_all(&text)?;
        condensed.sync_data()?;
        std::fs::rename(&new, path)
    }

    /// Notes that something is gone. With nothing left the ledger is emptied.
    ///
    /// # Errors
    /// When the ledger cannot be read or written.
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
    /// When the ledger exists and cannot be read.
    pub fn entries(&self) -> io::Result<Vec<Entry>> {
        let mut file = match File::open(&self.path) {
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
    /// When the ledger exists and cannot be read.
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
            let file = open(&self.path)?;
            lock(&file, FlockOperation::LockExclusive)?;
            // While it waited, another may have put a shorter one in its place.
            let number = |found: &Metadata| (found.dev(), found.ino());
            match std::fs::metadata(&self.path) {
                Ok(found) if number(&found) == number(&file.metadata()?) => return Ok(file),
                Err(error) if error.kind() != io::ErrorKind::NotFound => return Err(error),
                _ => {}
            }
        }
    }
}

/// The program's own list, never a target.
fn open(path: &Path) -> io::Result<File> {
    let mut options = File::options();
    options.read(true).append(true).create(true).mode(0o600);
    options.open(path)
}

fn lock(file: &File, operation: FlockOperation) -> io::Result<()> {
    loop {
        match rustix::fs::flock(file, operation) {
            Err(Errno::INTR) => {}
            other => return Ok(other?),
        }
    }
}

fn text_of(lines: &[Line]) -> io::Result<Vec<u8>> {
    let mut text = Vec::new();
    for line in lines {
        serde_json::to_writer(&mut text, line).map_err(io::Error::other)?;
        text.push(b'\n');
    }
    Ok(text)
}

/// Appends lines, after ending one that a crash left open.
fn append(file: &mut File, lines: &[Line]) -> io::Result<()> {
    let mut text = text_of(lines)?;
    if file.seek(SeekFrom::End(0))? > 0 {
        file.seek(SeekFrom::End(-1))?;
        let mut last = [0];
        file.read_exact(&mut last)?;
        if last != *b"\n" {
            text.insert(0, b'\n');
        }
    }
    file.write_all(&text)
}

fn read(file: &mut File) -> io::Result<Vec<Entry>> {
    let mut bytes = Vec::new();
    file.seek(SeekFrom::Start(0))?;
    file.read_to_end(&mut bytes)?;
    let mut entries: Vec<Entry> = Vec::new();
    for line in bytes.split(|byte| *byte == b'\n') {
        match serde_json::from_slice(line) {
            Ok(Line::Made(entry)) => {
                entries.retain(|known| known.identity != entry.identity);
                entries.push(entry);
            }
            Ok(Line::Gone(identity)) => entries.retain(|known| known.identity != identity),
            Err(_) => {}
        }
    }
    Ok(entries)
}

/// A file or directory that is removed when this is dropped.
#[derive(Debug)]
pub struct Scratch {
    parent: OwnedFd,
    name: PathBuf,
    entry: Entry,
    ledger: Ledger,
    done: bool,
}

impl Scratch {
    /// Takes charge of an inode that was just made, or found to be ours, at `path`. It is written
    /// into the ledger. The caller keeps `inode` open for as long as this lives, so that its number
    /// is not used again meanwhile.
    ///
    /// # Errors
    /// When its directory cannot be opened, the inode is not at `path`, or the ledger cannot be
    /// written. A new inode must then be removed by the caller.
    pub fn adopt(
        kind: ScratchKind,
        path: &Path,
        inode: impl AsFd,
        ledger: &Ledger,
        keep: bool,
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
        let entry = Entry::new(kind, &path, identity, keep);
        if ledger.find(identity)?.as_ref() != Some(&entry) {
            ledger.record(&entry)?;
        }
        Ok(Scratch { parent, name, entry, ledger: ledger.clone(), done: false })
    }

    /// Where it is.
    pub fn path(&self) -> PathBuf {
        self.entry.path()
    }

    /// What the ledger has of it, if it stays.
    pub fn kept(&self) -> Option<&Entry> {
        Some(&self.entry).filter(|entry| entry.keep)
    }

    /// Removes it now, unless it is to be kept. Nothing is removed that is not in the ledger with
    /// the same inode and birth.
    ///
    /// # Errors
    /// When it cannot be removed or the ledger cannot be written.
    pub fn remove(mut self) -> io::Result<()> {
        self.remove_once()
    }

    fn remove_once(&mut self) -> io::Result<()> {
        if std::mem::replace(&mut self.done, true) || self.entry.keep {
            return Ok(());
        }
        let identity = self.entry.identity;
        if self.ledger.find(identity)?.is_none() {
            return Ok(());
        }
        match Identity::at(&self.parent, &self.name) {
            Ok(found) if found == identity => {
                removal::remove_named(&self.parent, &self.name, &self.entry)?;
                self.ledger.forget(identity)
            }
            // Someone put something else there: not ours to remove.
            Ok(_) => Ok(()),
            Err(error) if error.kind() == io::ErrorKind::NotFound => self.ledger.forget(identity),
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

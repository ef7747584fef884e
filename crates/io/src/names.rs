//! Metadata: create, open, stat, utime, rename, unlink, mkdir and fsync on names in our own
//! directory.

use crate::errno::errno;
use crate::names::held::Noting;
use crate::sync::Mover;
use drivelab_core::content::count_up;
use drivelab_core::defect::defect;
use drivelab_core::op::{Action, Errno, NameOp};
use drivelab_core::plan::{Content, Stream, Sync};
use drivelab_core::queue::Trouble;
use rustix::fs::{AtFlags, Mode, OFlags, Timestamps, mkdirat, openat, renameat, statat, unlinkat};
use rustix::fs::{UTIME_NOW, utimensat};
use std::ffi::CStr;
use std::os::fd::OwnedFd;

mod held;
mod ring;
mod spelling;

pub use held::Held;
pub use ring::{NamesRing, is_offered as is_offered_by_ring};
pub(crate) use spelling::Spelling;

/// Longest name in bytes, with its NUL.
const NAME_BYTES: usize = 256;

/// A name with its NUL, built without allocating.
#[derive(Debug, Clone, Copy)]
struct Name {
    text: [u8; NAME_BYTES],
}

impl Name {
    /// `f<step>-<worker>-<pass>-<name><form>`.
    fn new(kind: u8, owner: Owner, pass: u64, name: u32, is_second_form: bool) -> Name {
        let mut text = [0; NAME_BYTES];
        let mut at = 0;
        let mut put = |byte: u8| {
            text[at] = byte;
            at += 1;
        };
        put(kind);
        digits(u64::from(owner.step), &mut put);
        put(b'-');
        digits(u64::from(owner.worker), &mut put);
        put(b'-');
        digits(pass, &mut put);
        put(b'-');
        digits(u64::from(name), &mut put);
        put(if is_second_form { b'b' } else { b'a' });
        Name { text }
    }

    fn c_str(&self) -> &CStr {
        match CStr::from_bytes_until_nul(&self.text) {
            Ok(name) => name,
            Err(_) => defect("a name fills all of its memory and has no end"),
        }
    }
}

fn digits(number: u64, put: &mut impl FnMut(u8)) {
    let mut place = 1;
    while number / place >= 10 {
        place *= 10;
    }
    while place > 0 {
        put(b'0' + (number / place % 10) as u8);
        place /= 10;
    }
}

/// Whose names they are: repetitions and workers never meet each other's.
#[derive(Debug, Clone, Copy)]
pub struct Owner {
    /// Number of the executed step.
    pub step: u32,
    /// Stream and worker within the step, as one number.
    pub worker: u32,
}

impl Owner {
    /// A worker of a stream of a step.
    pub fn new(step: u32, stream: u32, worker: u32) -> Self {
        Owner { step, worker: (stream << 16) + worker }
    }

    /// The number of the worker within its stream.
    fn in_stream(self) -> u32 {
        self.worker & 0xffff
    }
}

/// Works on names in one open directory.
#[derive(Debug)]
pub struct Names {
    directory: OwnedFd,
    owner: Owner,
    /// Names that the plan spells.
    spelling: Option<Spelling>,
    of_directories: bool,
    /// Create is followed by an fsync before the close.
    syncs: bool,
    /// What create writes, and as many bytes as open reads.
    content: Vec<u8>,
    /// What open must find, where that is checked.
    expected: Option<Vec<u8>>,
    /// Without `create` in the stream, names are made beforehand and kept over all passes.
    standing: bool,
    unlinks: bool,
    /// Where it is told which spelt names were made.
    noting: Option<Noting>,
}

impl Names {
    /// On an open directory of ours. Names that the stream expects to exist are made here.
    ///
    /// # Errors
    /// A name cannot be made.
    pub fn new(stream: &Stream, owner: Owner, directory: OwnedFd) -> Result<Self, Trouble> {
        let of =
            stream.names().ok_or_else(|| Trouble::defect("a stream of data was given names"))?;
        let creates = of.actions.contains(&Action::Create);
        let part = stream.part_of(owner.in_stream());
        let spelling = of.form.as_ref().map(|form| Spelling::new(form, part));
        let bytes = usize::try_from(of.name_bytes.0).unwrap_or(0);
        let mut content = vec![0; bytes];
        if let Content::Counting(first) = stream.content {
            count_up(first, part, &mut content);
        }
        let mut names = Names {
            directory,
            owner,
            expected: stream.verify.then(|| content.clone()),
            syncs: stream.sync == Sync::Fsync(1),
            of_directories: of.of_directories,
            content,
            standing: !creates && spelling.is_none(),
            spelling,
            unlinks: of.actions.contains(&Action::Unlink),
            noting: None,
        };
        let needed = of.actions.iter().any(|a| !matches!(a, Action::Create | Action::Mkdir));
        if names.standing && needed {
            if names.unlinks || of.actions.contains(&Action::Rename) {
                return Err(Trouble::usage(
                    "rename and unlink need names that the stream itself makes; add create to \
                     its actions",
                ));
            }
            for name in 0..of.count() {
                let op = NameOp::new(Action::Create, name);
                names.perform(&op).map_err(|error| {
                    let error = std::io::Error::from_raw_os_error(error.0);
                    Trouble::failed(format!("cannot make the names to work on: {error}"))
                })?;
            }
        }
        Ok(names)
    }

    /// The same, which tells `held` what it made and removed of the names that `stream` spells.
    pub fn noting(mut self, stream: &Stream, held: &Held) -> Self {
        let part = stream.part_of(self.owner.in_stream());
        let form = stream.names().and_then(|of| of.form.as_ref());
        self.noting = form.map(|form| Noting::new(held, form, part));
        self
    }

    /// The name of an operation, and of a rename the one it had before.
    fn names_of(&self, op: &NameOp) -> (Name, Name) {
        let pass = if self.standing { 0 } else { op.pass };
        if op.action == Action::Mkdir {
            let name = Name::new(b'd', self.owner, op.pass, op.name(), false);
            return (name, name);
        }
        let name = Name::new(b'f', self.owner, pass, op.name(), op.is_second_form());
        let old = match op.action {
            Action::Rename => Name::new(b'f', self.owner, pass, op.name(), !op.is_second_form()),
            _ => name,
        };
        (name, old)
    }

    fn perform(&mut self, op: &NameOp) -> Result<u32, Errno> {
        if let Some(spelling) = &self.spelling {
            let name = spelling.name(op.name());
            return self.perform_on(op, &name, &name);
        }
        let (name, old) = self.names_of(op);
        self.perform_on(op, &name, &old)
    }

    fn perform_on(&mut self, op: &NameOp, name: &Name, old: &Name) -> Result<u32, Errno> {
        let name = name.c_str();
        let directory = &self.directory;
        match op.action {
            Action::Create => {
                let flags = OFlags::CREATE | OFlags::EXCL | OFlags::WRONLY | OFlags::CLOEXEC;
                let made = openat(directory, name, flags, Mode::from_raw_mode(0o600));
                if let (Ok(_), Some(noting)) = (&made, &self.noting) {
                    noting.made(op.name());
                }
                made.and_then(|file| fill(file, &self.content, self.syncs))
            }
            Action::Open => {
                let flags = OFlags::RDONLY | OFlags::CLOEXEC;
                let opened = openat(directory, name, flags, Mode::empty());
                opened.and_then(|file| empty(file, &mut self.content)).and_then(|()| {
                    let is_right = self.expected.as_ref().is_none_or(|it| *it == self.content);
                    if is_right { Ok(()) } else { Err(rustix::io::Errno::BADMSG) }
                })
            }
            Action::Stat => statat(directory, name, AtFlags::empty()).map(drop),
            Action::Utime => {
                let now = rustix::fs::Timespec { tv_sec: 0, tv_nsec: UTIME_NOW };
                let times = Timestamps { last_access: now, last_modification: now };
                utimensat(directory, name, &times, AtFlags::empty())
            }
            Action::Rename => renameat(directory, old.c_str(), directory, name),
            Action::Unlink => {
                let of_directory = AtFlags::REMOVEDIR;
                let flags = if self.of_directories { of_directory } else { AtFlags::empty() };
                let removed = unlinkat(directory, name, flags);
                if let (Ok(()), Some(noting)) = (removed, &self.noting) {
                    noting.removed(op.name());
                }
                removed
            }
            Action::Mkdir => {
                let made = mkdirat(directory, name, Mode::from_raw_mode(0o700));
                if let (Ok(()), Some(noting)) = (made, &self.noting) {
                    noting.made(op.name());
                }
                made
            }
            // All that was done to the names in it: its whole file system.
            Action::Flush if self.of_directories => {
                let flags = OFlags::RDONLY | OFlags::DIRECTORY | OFlags::CLOEXEC;
                openat(directory, name, flags, Mode::empty()).and_then(rustix::fs::syncfs)
            }
            Action::Flush => {
                let flags = OFlags::RDONLY | OFlags::CLOEXEC;
                openat(directory, name, flags, Mode::empty()).and_then(rustix::fs::fsync)
            }
            Action::Read | Action::Write | Action::Trim | Action::Reset | Action::Finish => {
                return Err(Errno(libc::EINVAL));
            }
        }
        .map(|()| 0)
        .map_err(errno)
    }
}

/// Writes what a new file holds, and makes it durable if that is wanted, before it is closed.
fn fill(file: OwnedFd, content: &[u8], syncs: bool) -> rustix::io::Result<()> {
    let mut rest = content;
    while !rest.is_empty() {
        let written = rustix::io::write(&file, rest)?;
        debug_assert!(written <= rest.len(), "more was written than there was");
        rest = &rest[written..];
    }
    if syncs { rustix::fs::fsync(&file) } else { Ok(()) }
}

/// Reads as much of a file as `into` takes, before it is closed.
fn empty(file: OwnedFd, into: &mut [u8]) -> rustix::io::Result<()> {
    let mut at = 0;
    while at < into.len() {
        match rustix::io::read(&file, &mut into[at..])? {
            0 => return Err(rustix::io::Errno::NODATA),
            bytes => at += bytes,
        }
    }
    Ok(())
}

impl Mover for Names {
    type Op = NameOp;

    fn transfer(&mut self, op: &NameOp, _data: &mut [u8]) -> Result<u32, Errno> {
        self.perform(op)
    }
}

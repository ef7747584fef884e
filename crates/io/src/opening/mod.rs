//! The one place that opens a target for writing, discarding or formatting.
//!
//! Everything goes through [`open_target`] (and [`open_directory`] for names): the guard is asked,
//! the inode is pinned before that and reopened through its own descriptor afterwards, so that no
//! change of a name in between can lead elsewhere. A test forbids any other opening for writing.

mod commands;
mod create;
mod directory;
mod leave;
mod name_directory;
mod named;
mod spelt;

use std::cell::RefCell;
use std::io;
use std::os::fd::{AsFd, BorrowedFd, OwnedFd};
use std::path::{Path, PathBuf};

use drivelab_core::facts::TargetKind;
use drivelab_core::plan::{Pattern, Stream};
use rustix::fs::{FlockOperation, OFlags};
use rustix::io::Errno;

pub use directory::{ScratchDirectory, join_directory, open_directory};
pub use name_directory::{NameDirectory, open_names};
pub use named::{Mark, NamedFile, Part, Seen};
pub use spelt::SpeltNames;

use crate::facts;
use crate::guard::{self, Approval, Intent, Refusal, Subject};
use crate::scratch::life::Joined;
use crate::scratch::{Entry, Scratch, ScratchList};
use crate::system::{DeviceNumber, System};

/// Offset alignment assumed where neither device nor file system tells one.
const BLOCK_BYTES_ASSUMED: u32 = 512;

/// What is to be opened, and for what.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct OpenRequest {
    /// Device, file, directory, or a path that does not exist yet.
    pub path: PathBuf,
    /// What will be done.
    pub intent: Intent,
    /// Bytes of each file: needed for scratch; for what exists at most its size.
    pub size: Option<u64>,
    /// Number of files: scratch files in a directory, or `PATH`, `PATH.1`, `PATH.2` …
    pub files: u32,
    /// Scratch is not removed at the end; it stays ours.
    pub keep: bool,
    /// What followed `--erase`.
    pub erase: Option<String>,
    /// `$XDG_DATA_HOME/drivelab/scratch.jsonl`.
    pub scratch_list: PathBuf,
    /// Bytes that must stay free on the file system after scratch is filled.
    pub reserve_bytes: u64,
    /// The files by name, in a directory; then `size` and `files` are not used.
    pub named: Vec<NamedFile>,
    /// What this rank has to do with a device.
    pub part: Part,
}

impl OpenRequest {
    /// One file or device, nothing kept, no consent.
    pub fn new(path: impl Into<PathBuf>, intent: Intent, scratch_list: impl Into<PathBuf>) -> Self {
        OpenRequest {
            path: path.into(),
            intent,
            size: None,
            files: 1,
            keep: false,
            erase: None,
            scratch_list: scratch_list.into(),
            reserve_bytes: 0,
            named: Vec::new(),
            part: Part::Opens,
        }
    }
}

/// The order of reads, as posix_fadvise(2) takes it.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub enum Advice {
    /// `POSIX_FADV_SEQUENTIAL`: the kernel reads twice as far ahead.
    InOrder,
    /// `POSIX_FADV_RANDOM`: it does not read ahead.
    AtRandom,
}

impl Advice {
    /// What a stream wants the kernel to be told; `None`: nothing.
    pub fn of(stream: &Stream) -> Option<Self> {
        stream.advise.then_some(match stream.pattern {
            Pattern::Sequential(_) | Pattern::Segments { .. } => Advice::InOrder,
            _ => Advice::AtRandom,
        })
    }
}

/// How a descriptor is to be opened for an engine.
#[derive(Debug, Clone, Copy, Default, PartialEq, Eq)]
pub struct Mode {
    /// For writing too.
    pub write: bool,
    /// `O_DIRECT`: past the page cache.
    pub direct: bool,
    /// `O_DSYNC`: each write is durable when it returns.
    pub dsync: bool,
    /// `O_NONBLOCK`: no waiting where the file system supports that.
    pub nonblock: bool,
    /// What the kernel is told of the order of reads.
    pub advice: Option<Advice>,
}

/// One file of a target.
#[derive(Debug)]
pub struct TargetFile {
    /// Path of the target.
    pub path: PathBuf,
    /// Made by this run: it holds nothing but a hole, and must be written before it is read.
    pub created: bool,
    /// Bytes of it to use.
    pub bytes: u64,
    /// Whether descriptors for writing are given out.
    pub writable: bool,
    /// Another rank has opened it first: it acts on it as a whole, and removes it.
    pub joined: bool,
    /// Signs for that process while this one works on it.
    #[expect(dead_code, reason = "held until the target ends")]
    shared: Option<Joined>,
    /// What the list has of it, if it is ours, may be written and stays.
    stays: Option<Entry>,
    /// Open and locked as long as the target lives.
    pinned: OwnedFd,
}

/// An open target. Dropping it removes its scratch and releases device and locks, also when a
/// panic unwinds; [`Target::close`] does the same and reports what failed. Either notes how the
/// files that stay were left, but for a panic.
#[derive(Debug)]
pub struct Target {
    /// Device, or file (also for scratch files in a directory).
    pub kind: TargetKind,
    /// The path as given.
    pub path: PathBuf,
    /// Bytes of each file, or of the device; of named files those of the largest.
    pub bytes: u64,
    /// Smallest unit of direct I/O in bytes: the device's logical sector; for a file the offset
    /// alignment that `STATX_DIOALIGN` tells, or 512 where nothing does.
    pub logical_block_bytes: u32,
    /// Whether descriptors for writing are given out.
    pub writable: bool,
    /// The guard's approval.
    pub approval: Approval,
    // Declared before the descriptors, so that scratch is removed while it is still locked.
    scratch: Vec<Scratch>,
    files: Vec<TargetFile>,
    /// Where each of the plan's files stands among `files`, where not all of them are open here.
    places: Option<Vec<Option<usize>>>,
    /// Where it is noted how files were left; `None` where none are written.
    list: Option<ScratchList>,
    /// Holds the device against everyone else.
    exclusive: RefCell<Option<OwnedFd>>,
    /// Holds what is below a loop device, and is never looked at.
    _backing: Vec<OwnedFd>,
}

impl Target {
    /// The files, or the one device.
    pub fn files(&self) -> &[TargetFile] {
        &self.files
    }

    /// The files that are open here, each with its index among the plan's.
    pub fn open_files(&self) -> impl Iterator<Item = (usize, &TargetFile)> {
        let count = self.places.as_ref().map_or(self.files.len(), Vec::len);
        (0..count).filter_map(|index| Some((index, self.file(index)?)))
    }

    /// The plan's file of this index, if it is open here.
    pub fn file(&self, index: usize) -> Option<&TargetFile> {
        match &self.places {
            None => self.files.get(index),
            Some(places) => places.get(index).copied().flatten().and_then(|at| self.files.get(at)),
        }
    }

    /// A new descriptor of the very inode that was approved; engines may have different flags.
    ///
    /// # Errors
    /// When there is no such file, when writing was not approved, or when the file system cannot
    /// do what `mode` asks for: then the message names it and says what to do.
    pub fn descriptor(&self, file_index: usize, mode: Mode) -> io::Result<OwnedFd> {
        let file = self.file(file_index).ok_or_else(|| {
            let count = self.files.len();
            io::Error::new(
                io::ErrorKind::InvalidInput,
                format!("file {file_index} of a target that has {count}"),
            )
        })?;
        if mode.write && !(self.writable && file.writable) {
            return Err(io::Error::new(
                io::ErrorKind::PermissionDenied,
                format!("{} was opened for reading only", file.path.display()),
            ));
        }
        let mut flags = if mode.write { OFlags::RDWR } else { OFlags::RDONLY };
        flags.set(OFlags::DIRECT, mode.direct);
        flags.set(OFlags::DSYNC, mode.dsync);
        flags.set(OFlags::NONBLOCK, mode.nonblock);
        let descriptor =
            guard::reopen(&file.pinned, flags).map_err(|error| self.explain(file, mode, error))?;
        if let Some(advice) = mode.advice {
            let advice = match advice {
                Advice::InOrder => rustix::fs::Advice::Sequential,
                Advice::AtRandom => rustix::fs::Advice::Random,
            };
            rustix::fs::fadvise(&descriptor, 0, None, advice)?;
        }
        Ok(descriptor)
    }

    /// Lets a tool such as `mkfs` take the device, which it wants to hold exclusively itself; the
    /// lock against other runs of drivelab stays. Only after [`Intent::Format`] was approved.
    pub fn release_exclusive(&self) {
        self.exclusive.borrow_mut().take();
    }

    /// Takes the device back after [`Target::release_exclusive`]. It must be the same, free, and
    /// bear the file system `made`.
    ///
    /// # Errors
    /// A [`Refusal`] when somebody took it, or it holds something else.
    pub fn hold_again(&self, system: &System, made: &str) -> Result<(), Refusal> {
        let (Subject::Device(number), Some(file)) = (&self.approval.subject, self.files.first())
        else {
            return Ok(());
        };
        let held = guard::patiently(|| hold_device(&file.pinned, &self.approval, *number, system))?;
        guard::confirm_made(system, &self.approval, &held, made)?;
        *self.exclusive.borrow_mut() = Some(held);
        Ok(())
    }

    /// The descriptor that pins a file; for questions to the kernel (size, extents), not for I/O.
    pub fn pinned(&self, file_index: usize) -> Option<BorrowedFd<'_>> {
        self.file(file_index).map(|file| file.pinned.as_fd())
    }

    fn explain(&self, file: &TargetFile, mode: Mode, error: io::Error) -> io::Error {
        let shown = file.path.display();
        if mode.direct && error.raw_os_error() == Some(Errno::INVAL.raw_os_error()) {
            let system = System::live();
            let kind = facts::filesystem(&system, &file.path).map(|facts| facts.kind);
            let kind = kind.unwrap_or_else(|| "its file system".to_owned());
            return io::Error::new(
                io::ErrorKind::Unsupported,
                format!("{shown}: {kind} does not support direct I/O here; use --io buffered"),
            );
        }
        io::Error::new(error.kind(), format!("{shown} cannot be opened: {error}"))
    }
}

/// Opens a target after the guard has said yes. The one function that does.
///
/// A directory gets `files` scratch files of `size` bytes; a path that does not exist is created;
/// an existing file is opened for reading, and for writing if it is ours; a block device is
/// opened, for anything but reading exclusively and with its token. A file is extended to `size`
/// if it is ours, and never written or shortened here: laying it out is the caller's business.
/// The target is locked (`flock`) against other runs, shared for reads.
///
/// # Errors
/// A [`Refusal`]: for safety (exit status 3; a second run on one target too), for usage (2), or
/// because something failed (4).
pub fn open_target(system: &System, request: &OpenRequest) -> Result<Target, Refusal> {
    open_target_observed(system, request, || {})
}

/// [`open_target`] with something that happens after the guard's first look and before the
/// device is held: the moment that tests must be able to hit.
#[doc(hidden)]
pub fn open_target_observed(
    system: &System,
    request: &OpenRequest,
    between: impl FnOnce(),
) -> Result<Target, Refusal> {
    if request.files == 0 {
        return Err(Refusal::usage("wrong_kind", "0 files were asked for.".to_owned())
            .advise("At least one file is needed."));
    }
    let list = ScratchList::at(&request.scratch_list);
    let Some(witness) = guard::witness(&request.path)? else {
        return create::files(system, request, &list);
    };
    let kind = rustix::fs::fstat(&witness)
        .map(|stat| rustix::fs::FileType::from_raw_mode(stat.st_mode))
        .map_err(|error| guard::cannot_open(&request.path, error.into()))?;
    if kind == rustix::fs::FileType::BlockDevice {
        return open_device(system, request, &witness, &list, between);
    }
    if kind == rustix::fs::FileType::Directory && request.intent != Intent::Format {
        return match request.named.is_empty() {
            true => create::files_in_directory(system, request, &list),
            false => named::files(system, request, &list),
        };
    }
    let consent = request.erase.as_deref();
    let path = &request.path;
    let approval = guard::assess_open(system, path, &witness, request.intent, consent, &list)?;
    between();
    create::existing_files(system, request, approval, &witness, &list)
}

fn open_device(
    system: &System,
    request: &OpenRequest,
    witness: &OwnedFd,
    list: &ScratchList,
    between: impl FnOnce(),
) -> Result<Target, Refusal> {
    let path = &request.path;
    let shown = path.display();
    if request.files > 1 {
        return Err(Refusal::usage("wrong_kind", format!("{shown} is a device: it is one file."))
            .advise("Ask for one file, or give a directory."));
    }
    // Who joins has it for reading, and no lock, until it is known to be what another has opened.
    let joins = request.part == Part::Joins;
    let intent = if joins { Intent::Read } else { request.intent };
    let destroys = intent.destroys();
    let readable = OFlags::RDONLY | OFlags::NONBLOCK;
    let pinned =
        guard::reopen(witness, readable).map_err(|error| guard::cannot_open(path, error))?;
    if !joins {
        lock(&pinned, path, destroys)?;
    }
    let consent = request.erase.as_deref();
    let approval = guard::assess_open(system, path, &pinned, intent, consent, list)?;
    between();
    let (mut exclusive, mut backing) = (None, Vec::new());
    if let (true, Subject::Device(number)) = (destroys, &approval.subject) {
        let held = guard::patiently(|| hold_device(&pinned, &approval, *number, system))?;
        guard::confirm(system, &approval, &held, consent)?;
        exclusive = Some(held);
        let label = &approval.label;
        backing.extend(guard::patiently(|| guard::hold_backing(system, label, *number))?);
    }
    let bytes = bounded(request, device_bytes(&pinned, &approval.label)?, &approval.label)?;
    let logical = rustix::fs::ioctl_blksszget(&pinned).unwrap_or(BLOCK_BYTES_ASSUMED);
    Ok(Target {
        kind: TargetKind::BlockDevice,
        path: path.clone(),
        bytes,
        logical_block_bytes: logical,
        writable: destroys,
        approval,
        scratch: Vec::new(),
        files: vec![TargetFile {
            path: path.clone(),
            created: false,
            bytes,
            writable: destroys,
            joined: joins,
            shared: None,
            stays: None,
            pinned,
        }],
        exclusive: RefCell::new(exclusive),
        list: None,
        places: None,
        _backing: backing,
    })
}

/// The exclusive descriptor that a written device is held by, of the pinned inode.
fn hold_device(
    pinned: &OwnedFd,
    approval: &Approval,
    number: DeviceNumber,
    system: &System,
) -> Result<OwnedFd, Refusal> {
    let flags = OFlags::RDWR | OFlags::EXCL | OFlags::NONBLOCK;
    guard::reopen(pinned, flags).map_err(|error| match error.raw_os_error() {
        Some(libc::EBUSY) => guard::busy(system, &approval.label, number),
        _ => guard::cannot_open(&approval.path, error),
    })
}

fn device_bytes(pinned: &OwnedFd, label: &str) -> Result<u64, Refusal> {
    let bytes = rustix::fs::seek(pinned, rustix::fs::SeekFrom::End(0)).map_err(|error| {
        guard::failed(format!("the size of {label} cannot be read"), &error.into())
    })?;
    match bytes {
        0 => Err(Refusal::usage("no_size", format!("{label} has no size."))
            .advise("There is no medium, or nothing is attached: for a loop device, losetup.")),
        _ => Ok(bytes),
    }
}

/// The bytes to use of something that has `available`: all, or what was asked for.
fn bounded(request: &OpenRequest, available: u64, label: &str) -> Result<u64, Refusal> {
    match request.size {
        Some(size) if size > available => Err(Refusal::usage(
            "too_small",
            format!("{label} has {available} bytes, fewer than the {size} that were asked for."),
        )
        .advise("Give a smaller --size, or leave it out.")),
        Some(0) => Err(Refusal::usage("too_small", "a size of 0 was asked for.".to_owned())
            .advise("Give a --size above 0.")),
        Some(size) => Ok(size),
        None => Ok(available),
    }
}

/// Locks an inode for the life of its descriptor: alone for writes, shared for reads.
fn lock(descriptor: &OwnedFd, path: &Path, alone: bool) -> Result<(), Refusal> {
    let operation = match alone {
        true => FlockOperation::NonBlockingLockExclusive,
        false => FlockOperation::NonBlockingLockShared,
    };
    guard::patiently(|| {
        match rustix::io::retry_on_intr(|| rustix::fs::flock(descriptor, operation)) {
            Ok(()) => Ok(()),
            Err(Errno::WOULDBLOCK) => {
                Err(Refusal::safety("locked", format!("another run is using {}.", path.display()))
                    .advise(
                        "Nothing was written. One run per target at a time: wait for it to end.",
                    ))
            }
            // NFS without a lock daemon and some FUSE servers have no locks at all.
            Err(Errno::NOLCK | Errno::NOSYS | Errno::OPNOTSUPP) => Ok(()),
            Err(error) => {
                Err(guard::failed(format!("{} cannot be locked", path.display()), &error.into()))
            }
        }
    })
}

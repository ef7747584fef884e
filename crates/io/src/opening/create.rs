//! Scratch files: made, locked, written into the list, and sized.

use std::cell::RefCell;
use std::io;
use std::os::fd::OwnedFd;
use std::path::{Path, PathBuf};
use std::sync::atomic::{AtomicU32, Ordering};
use std::time::{SystemTime, UNIX_EPOCH};

use drivelab_core::facts::TargetKind;
use rustix::fs::{CWD, Mode as Permissions, OFlags};
use rustix::io::Errno;

use super::{BLOCK_BYTES_ASSUMED, OpenRequest, Target, TargetFile, bounded, lock};
use crate::facts;
use crate::guard::{self, Approval, Intent, Refusal, Subject, capacity};
use crate::identity::Identity;
use crate::scratch::{Entry, Scratch, ScratchKind, ScratchList};
use crate::system::System;

/// Distinguishes scratch made by one process within one tick of the clock.
static SERIAL: AtomicU32 = AtomicU32::new(0);

/// Creates `PATH`, `PATH.1` … which do not exist.
pub(super) fn files(
    system: &System,
    request: &OpenRequest,
    list: &ScratchList,
) -> Result<Target, Refusal> {
    if request.intent == Intent::Format {
        return Err(guard::cannot_open(&request.path, Errno::NOENT.into()));
    }
    let directory = parent(&request.path);
    if !directory.is_dir() {
        return Err(Refusal::usage("missing", format!("{} does not exist.", directory.display()))
            .advise(format!(
                "Make it first (mkdir -p {}), or name another.",
                directory.display()
            )));
    }
    refuse_kernel_directories(system, request, &directory)?;
    let approval = Approval {
        path: request.path.clone(),
        subject: Subject::Absent,
        token: None,
        label: request.path.display().to_string(),
    };
    make(request, list, approval, numbered(&request.path, request.files))
}

/// Creates scratch files in an existing directory.
pub(super) fn files_in_directory(
    system: &System,
    request: &OpenRequest,
    list: &ScratchList,
) -> Result<Target, Refusal> {
    refuse_kernel_directories(system, request, &request.path)?;
    let consent = request.erase.as_deref();
    let approval = guard::assess(system, &request.path, request.intent, consent, list)?;
    let stem = unique_name();
    let names = (0..request.files).map(|index| request.path.join(format!("{stem}-{index}.dat")));
    make(request, list, approval, names.collect())
}

/// Opens an existing file, and the numbered ones after it.
pub(super) fn existing_files(
    system: &System,
    request: &OpenRequest,
    approval: Approval,
    witness: &OwnedFd,
    list: &ScratchList,
) -> Result<Target, Refusal> {
    let mut target = empty(request, approval.clone(), request.intent.destroys());
    let path = request.path.clone();
    open_existing(request, &approval, witness, path, false, list, &mut target)?;
    for path in numbered(&request.path, request.files).into_iter().skip(1) {
        match guard::witness(&path)? {
            Some(witness) => {
                let consent = request.erase.as_deref();
                let intent = request.intent;
                let approval = guard::assess_open(system, &path, &witness, intent, consent, list)?;
                open_existing(request, &approval, &witness, path, false, list, &mut target)?;
            }
            None => {
                return Err(Refusal::usage(
                    "missing",
                    format!("{} does not exist, though others of the set do.", path.display()),
                )
                .advise("Ask for as many files as there are, or name a new set."));
            }
        }
    }
    finish(target)
}

fn no_file(path: &Path) -> Refusal {
    Refusal::usage("wrong_kind", format!("{} is not a file.", path.display()))
        .advise("Name regular files.")
}

/// Opens one existing file: foreign ones for reading, ours as asked. Scratch of a run that was
/// killed is removed at the end of this one, as that would have done, and so is one that begins
/// empty: it stays or goes as if this run had made it. Reached through a link it is not at this
/// path, and stays.
pub(super) fn open_existing(
    request: &OpenRequest,
    approval: &Approval,
    witness: &OwnedFd,
    path: PathBuf,
    begins_empty: bool,
    list: &ScratchList,
    target: &mut Target,
) -> Result<(), Refusal> {
    let Subject::File { identity, kept } = approval.subject else { return Err(no_file(&path)) };
    let destroys = request.intent.destroys();
    // Never open for writing what is not proved ours, whatever the caller thinks it approved.
    if destroys && kept.is_none() {
        return Err(guard::failed(
            format!("{} was not approved", path.display()),
            &io::Error::other("not ours"),
        ));
    }
    let flags = if destroys { OFlags::RDWR } else { OFlags::RDONLY };
    let pinned = guard::reopen(witness, flags | OFlags::NONBLOCK)
        .map_err(|error| guard::cannot_open(&path, error))?;
    lock(&pinned, &path, destroys)?;
    let again = Identity::of(&pinned).map_err(|error| guard::cannot_open(&path, error))?;
    if again != identity {
        return Err(Refusal::safety(
            "changed",
            format!("{} became another file while it was opened.", path.display()),
        )
        .advise("Nothing was written. Try again, or name a path that nobody else uses."));
    }
    let mut own = match destroys {
        // Now that no other run has it: what the guard saw may be past.
        true => Some(guard::own_file(&path.display().to_string(), &pinned, identity, list)?),
        false => None,
    };
    let bytes = match (&mut own, begins_empty) {
        (Some(entry), true) => {
            resize(&pinned, &path, 0, entry, list)?;
            request.size.unwrap_or(0)
        }
        (own, _) => bytes_to_use(request, own.as_mut(), &pinned, &path, list)?,
    };
    target.bytes = match target.files.is_empty() {
        true => bytes,
        false => target.bytes.min(bytes),
    };
    let begins_anew = begins_empty && !request.keep;
    if let Some(entry) = own.take_if(|entry| !entry.keep || begins_anew) {
        let length = Some(length(&pinned, &path)?);
        match Scratch::adopt(entry.kind, &path, &pinned, list, request.keep, length) {
            Ok(scratch) => {
                own = scratch.kept().cloned();
                target.scratch.push(scratch);
            }
            Err(_) => own = Some(entry).filter(|entry| entry.keep),
        }
    }
    target.files.push(TargetFile {
        path,
        created: false,
        bytes,
        writable: destroys,
        joined: false,
        shared: None,
        stays: own,
        pinned,
    });
    Ok(())
}

/// The bytes of an existing file that are used, of one of ours as many as are asked for.
fn bytes_to_use(
    request: &OpenRequest,
    own: Option<&mut Entry>,
    pinned: &OwnedFd,
    path: &Path,
    list: &ScratchList,
) -> Result<u64, Refusal> {
    let mut bytes = length(pinned, path)?;
    if let (Some(entry), Some(size)) = (own, request.size)
        && size > bytes
    {
        check_room(request, &parent(path), size - bytes)?;
        resize(pinned, path, size, entry, list)?;
        bytes = size;
    }
    if bytes == 0 {
        return Err(Refusal::usage("too_small", format!("{} is empty.", path.display()))
            .advise("Give another file, or a --size if it is drivelab's own."));
    }
    bounded(request, bytes, &path.display().to_string())
}

/// Makes a file of ours longer, or empty. The list knows first that it is not as it was left.
fn resize(
    pinned: &OwnedFd,
    path: &Path,
    size: u64,
    entry: &mut Entry,
    list: &ScratchList,
) -> Result<(), Refusal> {
    if entry.left.is_some() {
        (entry.left, entry.bytes) = (None, Some(size).filter(|size| *size > 0));
        list.take(std::slice::from_ref(entry)).map_err(|error| no_list(list, &error))?;
    }
    grow(pinned, path, size)
}

fn make(
    request: &OpenRequest,
    list: &ScratchList,
    approval: Approval,
    paths: Vec<PathBuf>,
) -> Result<Target, Refusal> {
    let size = match request.size {
        Some(size) if size > 0 => size,
        Some(_) => {
            return Err(Refusal::usage("too_small", "a size of 0 was asked for.".to_owned())
                .advise("Give a --size above 0."));
        }
        None => {
            return Err(Refusal::usage(
                "no_size",
                format!("{} has no file to use, and no size was given.", request.path.display()),
            )
            .advise("To create one, add:  --size 1g"));
        }
    };
    let total = size.saturating_mul(u64::from(request.files));
    let directory = paths.first().map_or_else(PathBuf::new, |path| parent(path));
    check_room(request, &directory, total)?;
    // What was made before an error is removed by the drop of this target.
    let mut target = empty(request, approval, true);
    for path in paths {
        make_file(&path, size, false, request, list, &mut target)?;
    }
    target.bytes = size;
    finish(target)
}

/// Creates one file of `bytes`, locks it and writes it into the list, in this order: nothing in
/// the list is ever unlocked while its run lives.
pub(super) fn make_file(
    path: &Path,
    bytes: u64,
    grows: bool,
    request: &OpenRequest,
    list: &ScratchList,
    target: &mut Target,
) -> Result<(), Refusal> {
    let flags = OFlags::RDWR | OFlags::CREATE | OFlags::EXCL | OFlags::CLOEXEC | OFlags::NOFOLLOW;
    let pinned = rustix::fs::open(path, flags, Permissions::RUSR | Permissions::WUSR)
        .map_err(|error| cannot_create(path, error))?;
    let adopted = lock(&pinned, path, true).and_then(|()| {
        let length = (!grows).then_some(bytes);
        Scratch::adopt(ScratchKind::File, path, &pinned, list, request.keep, length)
            .map_err(|error| no_list(list, &error))
    });
    let stays = match adopted {
        Ok(scratch) => {
            let stays = scratch.kept().cloned();
            target.scratch.push(scratch);
            stays
        }
        Err(refusal) => {
            // Made a moment ago with O_EXCL and still held: removed if it still stands there.
            let same = Identity::at(CWD, path).ok() == Identity::of(&pinned).ok();
            if same {
                let _ = rustix::fs::unlink(path);
            }
            return Err(refusal);
        }
    };
    let grown = if grows { Ok(()) } else { grow(&pinned, path, bytes) };
    let path = path.to_path_buf();
    target.files.push(TargetFile {
        path,
        created: true,
        bytes,
        writable: true,
        joined: false,
        shared: None,
        stays,
        pinned,
    });
    grown
}

pub(super) fn no_list(list: &ScratchList, error: &io::Error) -> Refusal {
    if error.kind() == io::ErrorKind::InvalidData {
        return guard::foreign_list(list, error);
    }
    Refusal::usage(
        "no_ledger",
        format!(
            "scratch cannot be written into {}, by which it would be found after a crash: {error}.",
            list.path().display()
        ),
    )
    .advise("Make that directory writable, or set XDG_DATA_HOME to one that is.")
}

pub(super) fn cannot_create(path: &Path, error: Errno) -> Refusal {
    let shown = path.display();
    match error {
        Errno::EXIST => Refusal::safety(
            "foreign_file",
            format!("{shown} exists already and is not part of an own set of files."),
        )
        .advise("Nothing was written. Give a path that does not exist."),
        Errno::NOSPC | Errno::DQUOT => {
            Refusal::usage("no_space", format!("{shown} cannot be created: {error}."))
                .advise("Free some space, or give another directory.")
        }
        // Of a name that is not there, its directory decides.
        Errno::ACCESS | Errno::PERM => Refusal::usage(
            "not_permitted",
            format!("No file can be made in {}: {error}.", directory_of(path).display()),
        )
        .advise("Name a directory in which you may write, such as one in your home."),
        Errno::ROFS => Refusal::usage(
            "read_only",
            format!("No file can be made in {}: {error}.", directory_of(path).display()),
        )
        .advise("Name a directory on a file system that can be written."),
        _ => guard::cannot_open(path, error.into()),
    }
}

fn directory_of(path: &Path) -> &Path {
    let parent = path.parent().unwrap_or(path);
    if parent.as_os_str().is_empty() { Path::new(".") } else { parent }
}

/// Sets the length; nothing is written or preallocated.
fn grow(file: &OwnedFd, path: &Path, size: u64) -> Result<(), Refusal> {
    rustix::fs::ftruncate(file, size).map_err(|error| match error {
        Errno::FBIG | Errno::INVAL => Refusal::usage(
            "too_small",
            format!("{}: its file system holds no file of {size} bytes.", path.display()),
        )
        .advise("Give a smaller --size, or more files with --files."),
        Errno::NOSPC | Errno::DQUOT => {
            Refusal::usage("no_space", format!("{} cannot grow: {error}.", path.display()))
                .advise("Free some space, or give a smaller --size.")
        }
        _ => guard::failed(format!("{} cannot be sized", path.display()), &error.into()),
    })
}

/// Refuses what would leave less free than the reserve.
pub(super) fn check_room(
    request: &OpenRequest,
    directory: &Path,
    wanted: u64,
) -> Result<(), Refusal> {
    let free = facts::free_bytes_of(directory).map_err(|error| {
        guard::failed(format!("the free space of {} cannot be read", directory.display()), &error)
    })?;
    let Some(free) = free else { return Ok(()) };
    let usable = free.saturating_sub(request.reserve_bytes);
    if wanted <= usable {
        return Ok(());
    }
    let reserve = match request.reserve_bytes {
        0 => String::new(),
        bytes => format!(" ({} are left free)", capacity(bytes)),
    };
    Err(Refusal::usage(
        "no_space",
        format!(
            "{} has room for {}{reserve}, and {} are needed.",
            directory.display(),
            capacity(usable),
            capacity(wanted)
        ),
    )
    .advise("Give a smaller --size, free some space, or name another directory."))
}

/// `/dev`, `/proc` and `/sys` hold no files: a name that is missing there is a device misspelt.
pub(super) fn refuse_kernel_directories(
    system: &System,
    request: &OpenRequest,
    directory: &Path,
) -> Result<(), Refusal> {
    let shown = request.path.display();
    let mount = facts::mount_of(system, directory);
    let of_kernel = mount.is_some_and(|mount| {
        let kinds = [
            "devtmpfs",
            "devpts",
            "proc",
            "sysfs",
            "cgroup",
            "cgroup2",
            "debugfs",
            "tracefs",
            "configfs",
            "securityfs",
            "bpf",
            "efivarfs",
            "mqueue",
            "binfmt_misc",
            "pstore",
        ];
        kinds.contains(&mount.kind.as_str()) || mount.mount_point == Path::new("/dev")
    });
    if !of_kernel {
        return Ok(());
    }
    let sentence = match request.path.exists() {
        true => format!("{shown} holds no ordinary files."),
        false => format!("{shown} does not exist."),
    };
    Err(Refusal::usage("missing", sentence)
        .advise("`drivelab list` shows the devices and file systems that can be measured here."))
}

pub(super) fn empty(request: &OpenRequest, approval: Approval, writable: bool) -> Target {
    Target {
        kind: TargetKind::File,
        path: request.path.clone(),
        bytes: 0,
        logical_block_bytes: BLOCK_BYTES_ASSUMED,
        writable,
        approval,
        scratch: Vec::new(),
        files: Vec::new(),
        places: None,
        list: Some(ScratchList::at(&request.scratch_list)),
        exclusive: RefCell::new(None),
        _backing: Vec::new(),
    }
}

/// Fills in what the file system says about direct I/O. From here on files are written.
pub(super) fn finish(mut target: Target) -> Result<Target, Refusal> {
    let told = target.files.first().and_then(|file| facts::direct_io_align(&file.path));
    target.logical_block_bytes = match told {
        Some((_, offset)) if offset > 0 => offset,
        _ => BLOCK_BYTES_ASSUMED,
    };
    target.take()?;
    Ok(target)
}

fn length(file: &OwnedFd, path: &Path) -> Result<u64, Refusal> {
    let stat = rustix::fs::fstat(file).map_err(|error| guard::cannot_open(path, error.into()))?;
    Ok(u64::try_from(stat.st_size).unwrap_or(0))
}

/// `PATH`, `PATH.1`, `PATH.2` …
fn numbered(path: &Path, files: u32) -> Vec<PathBuf> {
    let mut paths = vec![path.to_path_buf()];
    for index in 1..files {
        let mut name = path.as_os_str().to_owned();
        name.push(format!(".{index}"));
        paths.push(PathBuf::from(name));
    }
    paths
}

/// The directory that a path stands in.
fn parent(path: &Path) -> PathBuf {
    match path.parent() {
        Some(directory) if !directory.as_os_str().is_empty() => directory.to_path_buf(),
        _ => PathBuf::from("."),
    }
}

/// A name that no other scratch has.
pub(super) fn unique_name() -> String {
    let since = SystemTime::now().duration_since(UNIX_EPOCH).unwrap_or_default();
    let serial = SERIAL.fetch_add(1, Ordering::Relaxed);
    format!("drivelab-scratch-{}-{:x}-{serial}", std::process::id(), since.as_nanos())
}

//! Decides whether a target may be read, written, discarded or formatted.
//!
//! Reading needs nothing. Writing a block device needs that nobody uses it, under any name, and
//! the exact token that the refusal prints. A file is written only if the list proves it ours,
//! and as drivelab left it.
//! There is no way to switch any of this off. Opening is the business of [`crate::opening`].

mod backing;
mod medium;
mod occupied;
mod own;
mod processes;
mod refusal;
mod sampled;
mod token;

use std::io;
use std::os::fd::{AsFd, AsRawFd, OwnedFd};
use std::path::{Path, PathBuf};
use std::time::Duration;

use rustix::fs::{FileType, Mode, OFlags};
use rustix::io::Errno;

pub(crate) use backing::hold_backing;
pub(crate) use occupied::busy_refusal as busy;
pub use own::foreign_list;
pub(crate) use own::{as_left, own_entries, own_file};
pub use refusal::{Kind, Refusal};
pub(crate) use refusal::{capacity, failed};

use crate::identity::Identity;
use crate::scratch::ScratchList;
use crate::system::{DeviceNumber, System};
use occupied::MachineUses;

/// What is going to be done to the target.
#[derive(Debug, Clone, Copy, Default, PartialEq, Eq)]
pub enum Intent {
    /// Nothing is changed.
    #[default]
    Read,
    /// Data is overwritten.
    Write,
    /// Data is trimmed.
    Discard,
    /// A file system is made.
    Format,
}

impl Intent {
    /// Whether data is lost.
    pub fn destroys(self) -> bool {
        self != Intent::Read
    }
}

/// What the path turned out to be; descriptions of inodes, not of names.
#[derive(Debug, Clone, PartialEq, Eq)]
pub enum Subject {
    /// A block device by number.
    Device(DeviceNumber),
    /// An existing file; `kept` is the list's `keep` if it is ours.
    File {
        /// Its inode.
        identity: Identity,
        /// `None`: foreign; otherwise ours, and whether it is to be kept.
        kept: Option<bool>,
    },
    /// A directory, for scratch in it.
    Directory(Identity),
    /// Nothing yet: a file can be created there.
    Absent,
}

/// The guard's yes, and what it rests on.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct Approval {
    /// The path as given.
    pub path: PathBuf,
    /// What was approved: device, file or directory.
    pub subject: Subject,
    /// The token that names the device and what is on it; `None` for anything but devices.
    pub token: Option<String>,
    /// The target in a few words, for messages: `/dev/sdb (WDC WD40EFRX, 4.0 TB)`.
    pub label: String,
}

/// Decides. `consent` is what followed `--erase`; `list` says which files are ours.
///
/// Nothing is written. The device is opened for reading only, and to see whether another process
/// or the kernel holds it, exclusively for a moment.
///
/// # Errors
/// A [`Refusal`] for safety (exit status 3), for usage (2), or when an answer could not be found
/// out (4): what cannot be seen to be free is not approved.
pub fn assess(
    system: &System,
    path: &Path,
    intent: Intent,
    consent: Option<&str>,
    list: &ScratchList,
) -> Result<Approval, Refusal> {
    let Some(witness) = witness(path)? else {
        return Ok(Approval {
            path: path.to_path_buf(),
            subject: Subject::Absent,
            token: None,
            label: path.display().to_string(),
        });
    };
    assess_open(system, path, &witness, intent, consent, list)
}

/// An `O_PATH` descriptor of what the path names: opens nothing, so that no tape is rewound and
/// no watchdog is armed; `None` when nothing is there.
pub(crate) fn witness(path: &Path) -> Result<Option<OwnedFd>, Refusal> {
    match rustix::fs::open(path, OFlags::PATH | OFlags::CLOEXEC, Mode::empty()) {
        Ok(descriptor) => Ok(Some(descriptor)),
        Err(Errno::NOENT) if path.is_symlink() => Err(Refusal::usage(
            "dangling",
            format!("{} is a dangling symbolic link.", path.display()),
        )
        .advise("Remove it, or name the file itself.")),
        Err(Errno::NOENT) => Ok(None),
        Err(error) => Err(cannot_open(path, error.into())),
    }
}

/// Tries again for a moment while something is held: udev, blkid and losetup look at devices for
/// a few milliseconds, and nobody should be refused for that.
pub(crate) fn patiently<T>(mut attempt: impl FnMut() -> Result<T, Refusal>) -> Result<T, Refusal> {
    const PATIENCE: Duration = Duration::from_millis(600);
    const PAUSE: Duration = Duration::from_millis(50);
    let passing = ["held", "written_elsewhere", "backing_in_use", "locked"];
    let mut waited = Duration::ZERO;
    loop {
        match attempt() {
            Err(refusal) if passing.contains(&refusal.code) && waited < PATIENCE => {
                std::thread::sleep(PAUSE);
                waited += PAUSE;
            }
            outcome => return outcome,
        }
    }
}

/// What gives the right to use what may not be opened.
fn way_in(path: &Path) -> &'static str {
    match std::fs::metadata(path) {
        Ok(found) if found.is_dir() => {
            "You may not write there. Name a directory of your own, such as your home."
        }
        Ok(found) if found.is_file() => {
            "You may not use this file. Name one of your own, or ask its owner."
        }
        Err(error) if error.kind() == io::ErrorKind::PermissionDenied => {
            "You may not enter a directory above it. Name a directory of your own, such as your \
             home."
        }
        _ if rustix::process::geteuid().is_root() => {
            "Even root may not here: a container or a policy withholds it. Name a directory on it \
             in which you may write."
        }
        _ => {
            "Run as root, or as a member of the group that owns it (often `disk`). Without that \
             right, name a directory on it in which you may write."
        }
    }
}

/// A usage refusal for an error of opening.
pub(crate) fn cannot_open(path: &Path, error: io::Error) -> Refusal {
    let shown = path.display();
    match error.raw_os_error().map(Errno::from_raw_os_error) {
        Some(Errno::ACCESS | Errno::PERM) => {
            Refusal::usage("not_permitted", format!("{shown} may not be opened: {error}."))
                .advise(way_in(path))
        }
        Some(Errno::ROFS) => Refusal::usage("read_only", format!("{shown} is read-only: {error}."))
            .advise("Only reads are possible there."),
        Some(Errno::NOENT | Errno::NOTDIR) => {
            Refusal::usage("missing", format!("{shown} does not exist."))
                .advise("`drivelab list` shows what can be measured here.")
        }
        Some(Errno::NXIO | Errno::NODEV | Errno::NOMEDIUM) => {
            Refusal::usage("missing", format!("{shown}: there is no such device or no medium."))
                .advise("`drivelab list` shows what can be measured here.")
        }
        _ => failed(format!("{shown} cannot be opened"), &error),
    }
}

/// A second descriptor of the very inode that another holds, whatever became of its name.
pub(crate) fn reopen(descriptor: &impl AsFd, flags: OFlags) -> io::Result<OwnedFd> {
    let path = format!("/proc/self/fd/{}", descriptor.as_fd().as_raw_fd());
    Ok(rustix::fs::open(path, flags | OFlags::CLOEXEC | OFlags::NOCTTY, Mode::empty())?)
}

/// [`assess`] for an inode that is already pinned.
pub(crate) fn assess_open(
    system: &System,
    path: &Path,
    witness: &OwnedFd,
    intent: Intent,
    consent: Option<&str>,
    list: &ScratchList,
) -> Result<Approval, Refusal> {
    let stat = rustix::fs::fstat(witness).map_err(|error| cannot_open(path, error.into()))?;
    match FileType::from_raw_mode(stat.st_mode) {
        FileType::BlockDevice => {
            let number = DeviceNumber::from_raw(stat.st_rdev);
            assess_device(system, path, witness, number, intent, consent)
        }
        FileType::RegularFile => assess_file(system, path, witness, intent, list),
        FileType::Directory if intent == Intent::Format => Err(no_format(path)),
        FileType::Directory => {
            let identity = Identity::of(witness).map_err(|error| cannot_open(path, error))?;
            Ok(Approval {
                path: path.to_path_buf(),
                subject: Subject::Directory(identity),
                token: None,
                label: path.display().to_string(),
            })
        }
        other => Err(Refusal::usage(
            "wrong_kind",
            format!("{} is {}, not a drive.", path.display(), in_words(other)),
        )
        .advise("Give a directory, a file or a block device; `drivelab list` shows the drives.")),
    }
}

fn in_words(kind: FileType) -> &'static str {
    match kind {
        FileType::CharacterDevice => "a character device",
        FileType::Fifo => "a pipe",
        FileType::Socket => "a socket",
        _ => "of a kind that holds no data",
    }
}

fn no_format(path: &Path) -> Refusal {
    Refusal::usage("wrong_kind", format!("{} is not a block device.", path.display()))
        .advise("Only a block device can be formatted; to use an existing file system: --mount DIR")
}

fn assess_file(
    system: &System,
    path: &Path,
    witness: &OwnedFd,
    intent: Intent,
    list: &ScratchList,
) -> Result<Approval, Refusal> {
    if intent == Intent::Format {
        return Err(no_format(path));
    }
    let identity = Identity::of(witness).map_err(|error| cannot_open(path, error))?;
    let label = path.display().to_string();
    if intent.destroys() {
        MachineUses::gather(system)?.check_file(&label, identity)?;
    }
    let kept = match own_file(&label, witness, identity, list) {
        Ok(entry) => Some(entry.keep),
        Err(refusal) if intent.destroys() || refusal.kind == Kind::Failed => return Err(refusal),
        Err(_) => None,
    };
    let subject = Subject::File { identity, kept };
    Ok(Approval { path: path.to_path_buf(), subject, token: None, label })
}

fn assess_device(
    system: &System,
    path: &Path,
    witness: &OwnedFd,
    number: DeviceNumber,
    intent: Intent,
    consent: Option<&str>,
) -> Result<Approval, Refusal> {
    let readable = OFlags::RDONLY | OFlags::NONBLOCK;
    let open = reopen(witness, readable).map_err(|error| cannot_open(path, error))?;
    let label = token::label(system, path, number);
    if !intent.destroys() {
        let subject = Subject::Device(number);
        return Ok(Approval { path: path.to_path_buf(), subject, token: None, label });
    }
    patiently(|| {
        let uses = MachineUses::gather(system)?;
        uses.check_device(&label, number)?;
        uses.check_exclusive(&label, number, &open)?;
        uses.check_writers(&label, number)
    })?;
    check_writable(&label, &open)?;
    let token = token::of_open_device(system, &label, number, &open)?;
    token::compare(&label, &token, consent, &open)?;
    Ok(Approval {
        path: path.to_path_buf(),
        subject: Subject::Device(number),
        token: Some(token.text),
        label,
    })
}

/// Asks the open descriptor whether the kernel lets the device be written (`BLKROGET`).
fn check_writable(label: &str, open: &OwnedFd) -> Result<(), Refusal> {
    match backing::is_read_only(open) {
        Ok(false) => Ok(()),
        Ok(true) => Err(Refusal::usage("read_only", format!("{label} is read-only.")).advise(
            "Nothing was written. If that is not the drive's own switch: \
                     blockdev --setrw DEVICE",
        )),
        Err(error) => Err(failed(format!("{label} does not say whether it is read-only"), &error)),
    }
}

/// Looks again, on the descriptor that holds the device exclusively: same device, same content,
/// still nobody on it. `consent` must equal the token of now, not the one of before.
pub(crate) fn confirm(
    system: &System,
    approval: &Approval,
    exclusive: &OwnedFd,
    consent: Option<&str>,
) -> Result<(), Refusal> {
    let Some(token) = token_now(system, approval, exclusive)? else { return Ok(()) };
    token::compare(&approval.label, &token, consent, exclusive)
}

/// [`confirm`] for a device on which a file system was made since the approval.
pub(crate) fn confirm_made(
    system: &System,
    approval: &Approval,
    exclusive: &OwnedFd,
    made: &str,
) -> Result<(), Refusal> {
    let Some(token) = token_now(system, approval, exclusive)? else { return Ok(()) };
    let approved = approval.token.as_deref().unwrap_or_default();
    match token.is_of(approved) && token.signatures.iter().any(|found| found == made) {
        true => Ok(()),
        false => Err(Refusal::safety(
            "changed",
            format!("{} does not hold the {made} that was made on it.", approval.label),
        )
        .advise("Nothing more was written. Look at what else uses the device, then try again.")),
    }
}

/// The token of now, of a device that is still the one that was approved, and free.
fn token_now(
    system: &System,
    approval: &Approval,
    exclusive: &OwnedFd,
) -> Result<Option<token::Token>, Refusal> {
    let Subject::Device(number) = approval.subject else { return Ok(None) };
    let label = &approval.label;
    let stat = rustix::fs::fstat(exclusive)
        .map_err(|error| failed(format!("{label} cannot be examined"), &error.into()))?;
    let is_block = FileType::from_raw_mode(stat.st_mode) == FileType::BlockDevice;
    if !is_block || DeviceNumber::from_raw(stat.st_rdev) != number {
        return Err(Refusal::safety(
            "changed",
            format!("{label} became another device while it was opened."),
        )
        .advise("Nothing was written. Look at what changes the device nodes, then try again."));
    }
    patiently(|| MachineUses::gather(system)?.check_device(label, number))?;
    token::of_open_device(system, label, number, exclusive).map(Some)
}

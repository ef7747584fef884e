//! Where the kernel describes a machine, and how its small files and numbers are read.
//!
//! The roots are parameters, so that captured trees of other machines can be tested.

use std::fmt;
use std::io;
use std::os::fd::OwnedFd;
use std::path::{Path, PathBuf};

use rustix::fs::{FileType, Mode, OFlags};

/// Where the kernel's own descriptions are found: `/sys`, `/proc` and `/dev`, or captured copies.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct System {
    /// Root of sysfs.
    pub sysfs: PathBuf,
    /// Root of procfs.
    pub procfs: PathBuf,
    /// Root of the device nodes.
    pub dev: PathBuf,
}

impl System {
    /// This machine, now.
    pub fn live() -> System {
        System { sysfs: "/sys".into(), procfs: "/proc".into(), dev: "/dev".into() }
    }

    /// A captured tree with `sys`, `proc` and `dev` in `root`.
    pub fn captured(root: &Path) -> System {
        System { sysfs: root.join("sys"), procfs: root.join("proc"), dev: root.join("dev") }
    }

    /// Whether the roots are this machine's own, so that paths may be opened.
    pub fn is_live(&self) -> bool {
        *self == System::live()
    }

    /// The node of a block device by its name in sysfs.
    pub(crate) fn node(&self, name: &str) -> PathBuf {
        self.dev.join(name.replace('!', "/"))
    }

    /// That node, opened for asking.
    ///
    /// # Errors
    /// As `open(2)` says, or it is the node of another device.
    pub(crate) fn open_node(&self, name: &str, number: DeviceNumber) -> io::Result<OwnedFd> {
        let open = open_readable(&self.node(name))?;
        // The node's name proves nothing: ask the open descriptor what it is.
        let stat = rustix::fs::fstat(&open)?;
        let is_block = FileType::from_raw_mode(stat.st_mode) == FileType::BlockDevice;
        match is_block && DeviceNumber::from_raw(stat.st_rdev) == number {
            true => Ok(open),
            false => Err(io::Error::other("the node belongs to another device")),
        }
    }
}

/// The number by which the kernel knows a block device, whatever its nodes are called.
#[derive(Debug, Clone, Copy, PartialEq, Eq, PartialOrd, Ord, Hash)]
pub struct DeviceNumber {
    /// Driver.
    pub major: u32,
    /// Device of that driver.
    pub minor: u32,
}

impl DeviceNumber {
    /// From the `st_dev` or `st_rdev` of a `stat`.
    pub fn from_raw(raw: u64) -> DeviceNumber {
        DeviceNumber { major: rustix::fs::major(raw), minor: rustix::fs::minor(raw) }
    }

    /// From `major:minor` as sysfs and mountinfo write it.
    pub fn parse(text: &str) -> Option<DeviceNumber> {
        let (major, minor) = text.trim().split_once(':')?;
        Some(DeviceNumber { major: major.parse().ok()?, minor: minor.parse().ok()? })
    }
}

impl fmt::Display for DeviceNumber {
    fn fmt(&self, formatter: &mut fmt::Formatter<'_>) -> fmt::Result {
        write!(formatter, "{}:{}", self.major, self.minor)
    }
}

/// Opens a node for reading without waiting for media and without changing anything.
///
/// # Errors
/// As `open(2)` says.
pub(crate) fn open_readable(path: &Path) -> io::Result<OwnedFd> {
    let flags = OFlags::RDONLY | OFlags::CLOEXEC | OFlags::NONBLOCK | OFlags::NOCTTY;
    Ok(rustix::fs::open(path, flags, Mode::empty())?)
}

/// A number that the kernel makes at each start (`Documentation/admin-guide/sysctl/kernel.rst`).
pub(crate) fn boot(system: &System) -> Option<String> {
    read_text(&system.procfs.join("sys/kernel/random/boot_id"))
}

/// What tells this machine from others that share a home with it (machine-id(5)), or its name.
pub(crate) fn machine() -> Option<String> {
    let known = || read_text(Path::new("/proc/sys/kernel/hostname"));
    read_text(Path::new("/etc/machine-id")).or_else(known)
}

/// The text of a small kernel file without its trailing newline; `None` when it is absent, not
/// readable or empty.
pub(crate) fn read_text(path: &Path) -> Option<String> {
    let bytes = std::fs::read(path).ok()?;
    let text = String::from_utf8_lossy(&bytes).trim_matches([' ', '\n', '\0', '\t']).to_owned();
    (!text.is_empty()).then_some(text)
}

/// The number in a small kernel file.
pub(crate) fn read_number<T: std::str::FromStr>(path: &Path) -> Option<T> {
    read_text(path)?.parse().ok()
}

/// The names in a directory, sorted by kernel name so that `sda10` follows `sda9`.
pub(crate) fn names_in(directory: &Path) -> Vec<String> {
    let mut names: Vec<String> = std::fs::read_dir(directory)
        .into_iter()
        .flatten()
        .filter_map(|entry| entry.ok()?.file_name().into_string().ok())
        .collect();
    names.sort_by_cached_key(|name| natural_key(name));
    names
}

/// Splits trailing digits off, so that numbers sort as numbers.
fn natural_key(name: &str) -> (String, u64, String) {
    let stem = name.trim_end_matches(|character: char| character.is_ascii_digit());
    let number = name[stem.len()..].parse().unwrap_or(0);
    (stem.to_owned(), number, name.to_owned())
}

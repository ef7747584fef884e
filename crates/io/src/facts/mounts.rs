//! What is mounted where, and what is swapped to, by device number rather than by name.
//!
//! Format: kernel document `Documentation/filesystems/proc.rst`, section 3.5.

use std::ffi::OsString;
use std::io;
use std::os::unix::ffi::OsStringExt;
use std::path::{Path, PathBuf};

use rustix::fs::{AtFlags, CWD, StatxFlags};

use crate::system::{DeviceNumber, System};

/// One line of mountinfo.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct Mount {
    /// The kernel's number of this mount.
    pub id: u64,
    /// Device number of the superblock; of no block device for btrfs, tmpfs, NFS and the like.
    pub number: DeviceNumber,
    /// The directory of the file system that is mounted (not `/` for bind mounts, subvolumes).
    pub root: PathBuf,
    /// Where it is mounted.
    pub mount_point: PathBuf,
    /// Options of this mount.
    pub options: String,
    /// `ext4`, `nfs4`, `fuse.sshfs` …
    pub kind: String,
    /// `/dev/sda1`, `server:/export`, `tmpfs` …
    pub source: String,
    /// Options of the file system.
    pub super_options: String,
}

impl Mount {
    /// Both lists of options, joined by a comma.
    pub fn all_options(&self) -> String {
        match self.super_options.is_empty() {
            true => self.options.clone(),
            false => format!("{},{}", self.options, self.super_options),
        }
    }

    /// The value of one option of the file system (`upperdir=/x`).
    pub(crate) fn option(&self, name: &str) -> Option<&str> {
        let mut options = self.super_options.split(',').chain(self.options.split(','));
        options.find_map(|option| option.strip_prefix(name)?.strip_prefix('='))
    }
}

/// One swap area.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct Swap {
    /// The device or file.
    pub path: PathBuf,
    /// A swap file, not a device.
    pub is_file: bool,
}

/// Reads mountinfo; a line that does not have the documented form is an error, because a mount
/// that is overlooked could be a mounted target.
pub(super) fn read(system: &System) -> io::Result<Vec<Mount>> {
    parse(&std::fs::read(system.procfs.join("self/mountinfo"))?)
}

pub(crate) fn parse(bytes: &[u8]) -> io::Result<Vec<Mount>> {
    let lines = bytes.split(|byte| *byte == b'\n').filter(|line| !line.is_empty());
    lines
        .map(|line| {
            mount(line).ok_or_else(|| {
                let text = String::from_utf8_lossy(line);
                io::Error::new(io::ErrorKind::InvalidData, format!("mountinfo line: {text}"))
            })
        })
        .collect()
}

fn mount(line: &[u8]) -> Option<Mount> {
    let mut fields = line.split(|byte| *byte == b' ');
    let id = text(fields.next()?).parse().ok()?;
    let _parent = fields.next()?;
    let number = DeviceNumber::parse(&text(fields.next()?))?;
    let root = path(fields.next()?);
    let mount_point = path(fields.next()?);
    let options = text(fields.next()?);
    // Any number of optional fields (`shared:1`) up to a lone dash.
    fields.find(|field| *field == b"-")?;
    let kind = text(fields.next()?);
    let source = text(fields.next().unwrap_or_default());
    let super_options = text(fields.next().unwrap_or_default());
    Some(Mount { id, number, root, mount_point, options, kind, source, super_options })
}

/// Undoes the octal escapes (`\040`) of mountinfo and `/proc/swaps`.
fn unescape(field: &[u8]) -> Vec<u8> {
    let mut plain = Vec::with_capacity(field.len());
    let mut rest = field;
    while let Some((first, tail)) = rest.split_first() {
        let digits = tail.get(..3).filter(|d| d.iter().all(|digit| (b'0'..=b'7').contains(digit)));
        match (first, digits) {
            (b'\\', Some(digits)) => {
                let value = digits.iter().fold(0u32, |sum, d| sum * 8 + u32::from(d - b'0'));
                plain.push(u8::try_from(value).unwrap_or(b'?'));
                rest = &tail[3..];
            }
            _ => {
                plain.push(*first);
                rest = tail;
            }
        }
    }
    plain
}

fn text(field: &[u8]) -> String {
    String::from_utf8_lossy(&unescape(field)).into_owned()
}

fn path(field: &[u8]) -> PathBuf {
    PathBuf::from(OsString::from_vec(unescape(field)))
}

/// Reads `/proc/swaps`.
pub(super) fn swaps(system: &System) -> io::Result<Vec<Swap>> {
    let bytes = match std::fs::read(system.procfs.join("swaps")) {
        Err(error) if error.kind() == io::ErrorKind::NotFound => return Ok(Vec::new()),
        other => other?,
    };
    let lines = bytes.split(|byte| *byte == b'\n').skip(1).filter(|line| !line.is_empty());
    Ok(lines
        .filter_map(|line| {
            let mut fields =
                line.split(|byte| byte.is_ascii_whitespace()).filter(|field| !field.is_empty());
            let path = path(fields.next()?);
            // A deleted swap file is shown as `/x\040(deleted)` and the type follows as usual.
            let is_file = fields.next()? == b"file";
            Some(Swap { path, is_file })
        })
        .collect())
}

/// The mount that holds `path`, or the nearest directory above it that exists.
///
/// By mount id where the kernel tells it (5.8 and later); otherwise, and in captured trees, the
/// last mounted of the longest mount points that are above the path.
pub(super) fn holding<'a>(system: &System, mounts: &'a [Mount], path: &Path) -> Option<&'a Mount> {
    let mut absolute = path.to_path_buf();
    if system.is_live() {
        let existing = nearest_existing(path)?;
        let flags = AtFlags::STATX_DONT_SYNC;
        if let Ok(statx) = rustix::fs::statx(CWD, &existing, flags, StatxFlags::MNT_ID)
            && StatxFlags::from_bits_retain(statx.stx_mask).contains(StatxFlags::MNT_ID)
            && let Some(mount) = mounts.iter().find(|mount| mount.id == statx.stx_mnt_id)
        {
            return Some(mount);
        }
        absolute = std::fs::canonicalize(&existing).ok()?;
    }
    by_text(mounts, &absolute)
}

/// The last mounted of the longest mount points above an absolute path.
pub(super) fn by_text<'a>(mounts: &'a [Mount], path: &Path) -> Option<&'a Mount> {
    let above = mounts.iter().filter(|mount| path.starts_with(&mount.mount_point));
    above.max_by_key(|mount| mount.mount_point.components().count())
}

/// `path`, or the nearest directory above it that exists.
pub(crate) fn nearest_existing(path: &Path) -> Option<PathBuf> {
    let absolute = std::path::absolute(path).ok()?;
    absolute.ancestors().find(|ancestor| ancestor.exists()).map(Path::to_path_buf)
}

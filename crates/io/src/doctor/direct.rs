//! Whether the target bypasses the page cache: asked of a regular file that is already there.

use crate::facts::direct_io_align;
use crate::system::{System, names_in};
use drivelab_core::facts::{TargetFacts, TargetKind};
use drivelab_core::fitness::Direct;
use rustix::fs::{Mode, OFlags};
use rustix::io::Errno;
use std::os::unix::fs::MetadataExt;
use std::path::{Path, PathBuf};

/// Entries of a directory that are looked at for a file to ask.
const ENTRIES_MAX: usize = 256;

/// Asks the target itself, or a regular file on the same file system: the kernel answers for files
/// only. Nothing is read from it.
pub fn direct(system: &System, path: &Path, target: &TargetFacts) -> Direct {
    if target.kind == TargetKind::BlockDevice {
        // The block layer serves O_DIRECT for every block device.
        let sector = target.devices.first().and_then(|device| device.logical_block_bytes);
        return Direct::Works { align: sector.map(|bytes| (bytes, bytes)) };
    }
    if !system.is_live() {
        return match target.filesystem.as_ref().and_then(|found| found.direct_io_align) {
            None => Direct::NotAsked,
            Some((0, 0)) => Direct::Refused,
            align => Direct::Works { align },
        };
    }
    let Ok(found) = std::fs::metadata(path) else { return Direct::NotAsked };
    let asked = match found.is_dir() {
        true => file_nearby(path, found.dev(), target),
        false => Some(path.to_path_buf()),
    };
    asked.map_or(Direct::NotAsked, |file| ask(&file))
}

fn ask(file: &Path) -> Direct {
    match direct_io_align(file) {
        Some((0, 0)) => return Direct::Refused,
        Some(align) => return Direct::Works { align: Some(align) },
        None => {}
    }
    let flags = OFlags::RDONLY | OFlags::DIRECT | OFlags::CLOEXEC | OFlags::NOFOLLOW;
    match rustix::fs::open(file, flags | OFlags::NONBLOCK | OFlags::NOCTTY, Mode::empty()) {
        Ok(_) => Direct::Works { align: None },
        Err(Errno::INVAL) => Direct::Refused,
        Err(_) => Direct::NotAsked,
    }
}

/// A regular file of the file system `device` in the directory, else at its mount point.
fn file_nearby(directory: &Path, device: u64, target: &TargetFacts) -> Option<PathBuf> {
    let mount_point = target.filesystem.as_ref().map(|found| PathBuf::from(&found.mount_point));
    let mut places = vec![directory.to_path_buf()];
    places.extend(mount_point);
    places.extend(["/etc", "/usr/bin"].map(PathBuf::from));
    let is_fit = |path: &PathBuf| {
        let found = std::fs::symlink_metadata(path);
        found.is_ok_and(|found| found.is_file() && found.dev() == device)
    };
    places.iter().find_map(|place| {
        let names = names_in(place).into_iter().take(ENTRIES_MAX);
        names.map(|name| place.join(name)).find(is_fit)
    })
}

//! Where the bytes of a target lie on a disk that can be traced.

use crate::extents;
use crate::facts::Tree;
use crate::system::{DeviceNumber, System};
use drivelab_core::anatomy::Piece;
use rustix::fs::FileType;
use std::os::fd::AsFd;

/// A disk, and the target on it.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct Place {
    /// The whole disk.
    pub disk: DeviceNumber,
    /// Its name.
    pub name: String,
    /// The target's bytes, in order.
    pub pieces: Vec<Piece>,
}

/// Finds the disk below an open file or device of `bytes` bytes.
///
/// # Errors
/// A sentence: why its I/O cannot be followed to one disk, and what to name instead.
pub fn place_of(system: &System, target: impl AsFd, bytes: u64) -> Result<Place, String> {
    let stat = rustix::fs::fstat(&target).map_err(|error| format!("the target: {error}"))?;
    let is_device = FileType::from_raw_mode(stat.st_mode) == FileType::BlockDevice;
    let number = DeviceNumber::from_raw(if is_device { stat.st_rdev } else { stat.st_dev });
    let tree = Tree::new(system);
    let name = tree
        .name(number)
        .ok_or("there is no block device below this target; name a file on a drive, or a device")?;
    let (disk, start) = match tree.parent(number) {
        None => (number, 0),
        Some(disk) => (disk, tree.extent(number).map_or(0, |(start, _)| start)),
    };
    let disk_name = tree.name(disk).unwrap_or_default();
    let has_requests = tree.directory(disk).is_some_and(|path| path.join("mq").exists());
    if !has_requests {
        let members = tree.members(disk);
        let instead = if members.is_empty() { "another drive".into() } else { members.join(", ") };
        return Err(format!(
            "{name} passes I/O on without requests of its own (dm, md, zram), so where it waits \
             cannot be seen; name {instead}"
        ));
    }
    let whole = Piece { offset: 0, bytes, on_disk: start };
    let pieces = match is_device {
        true => vec![whole],
        false => extents::pieces(target, bytes)
            .ok_or("the file system does not say where the file lies; name its block device")?
            .into_iter()
            .map(|piece| Piece { on_disk: piece.on_disk + start, ..piece })
            .collect(),
    };
    Ok(Place { disk, name: disk_name, pieces })
}

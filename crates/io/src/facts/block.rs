//! The tree of block devices as sysfs shows it: who is part of, built on, or below whom.
//!
//! Layout: kernel document `Documentation/ABI/stable/sysfs-block` and
//! `Documentation/admin-guide/sysfs-rules.rst`: devices are reached through `/sys/dev/block/M:m`
//! and `/sys/class/block/NAME`, both links into `/sys/devices`.

use std::path::{Path, PathBuf};

use crate::system::{DeviceNumber, System, names_in, read_number, read_text};

/// A view of the block devices below one sysfs root.
#[derive(Debug, Clone)]
pub(crate) struct Tree {
    sysfs: PathBuf,
}

impl Tree {
    pub(crate) fn new(system: &System) -> Tree {
        Tree { sysfs: system.sysfs.clone() }
    }

    /// The real directory of a device.
    pub(crate) fn directory(&self, number: DeviceNumber) -> Option<PathBuf> {
        std::fs::canonicalize(self.sysfs.join("dev/block").join(number.to_string())).ok()
    }

    /// The kernel's name of a device.
    pub(crate) fn name(&self, number: DeviceNumber) -> Option<String> {
        Some(self.directory(number)?.file_name()?.to_string_lossy().into_owned())
    }

    /// The number of a device by kernel name (`sda1`; `cciss/c0d0` is `cciss!c0d0` in sysfs).
    pub(crate) fn number_of(&self, name: &str) -> Option<DeviceNumber> {
        let name = name.replace('/', "!");
        let path = self.sysfs.join("class/block").join(name).join("dev");
        DeviceNumber::parse(&read_text(&path)?)
    }

    /// The number of a device-mapper device by its own name (`vg-data`).
    pub(crate) fn number_of_mapped(&self, mapped: &str) -> Option<DeviceNumber> {
        names_in(&self.sysfs.join("class/block")).iter().find_map(|name| {
            let file = self.sysfs.join("class/block").join(name).join("dm/name");
            (read_text(&file)? == mapped).then(|| self.number_of(name))?
        })
    }

    /// Every device that is no partition, sorted.
    pub(crate) fn disks(&self) -> Vec<String> {
        let class = self.sysfs.join("class/block");
        let mut names = names_in(&class);
        names.retain(|name| {
            let directory = class.join(name);
            !directory.join("partition").exists() && read_text(&directory.join("hidden")) != one()
        });
        names
    }

    /// The partitions of a whole disk.
    pub(crate) fn partitions(&self, number: DeviceNumber) -> Vec<DeviceNumber> {
        let Some(directory) = self.directory(number) else { return Vec::new() };
        let is_partition = |name: &String| directory.join(name).join("partition").exists();
        let names = names_in(&directory);
        names.iter().filter(|name| is_partition(name)).filter_map(|n| self.number_of(n)).collect()
    }

    /// The whole disk of a partition.
    pub(crate) fn parent(&self, number: DeviceNumber) -> Option<DeviceNumber> {
        let directory = self.directory(number)?;
        if !directory.join("partition").exists() {
            return None;
        }
        DeviceNumber::parse(&read_text(&directory.parent()?.join("dev"))?)
    }

    /// The number in `partition`: 1 to 4 are primary in a DOS table, 5 and up logical.
    pub(crate) fn partition_index(&self, number: DeviceNumber) -> Option<u32> {
        read_number(&self.directory(number)?.join("partition"))
    }

    /// First byte and length in bytes on the parent disk.
    pub(crate) fn extent(&self, number: DeviceNumber) -> Option<(u64, u64)> {
        let directory = self.directory(number)?;
        let start: u64 = read_number(&directory.join("start"))?;
        let sectors: u64 = read_number(&directory.join("size"))?;
        Some((start.checked_mul(512)?, sectors.checked_mul(512)?))
    }

    /// The name that a drive has in all the world and under all its kernel names.
    pub(crate) fn world_wide_name(&self, disk: DeviceNumber) -> Option<String> {
        let directory = self.directory(disk)?;
        read_text(&directory.join("wwid")).or_else(|| read_text(&directory.join("device/wwid")))
    }

    /// Sectors of 512 bytes of a whole disk.
    pub(crate) fn sectors(&self, disk: DeviceNumber) -> Option<u64> {
        read_number(&self.directory(disk)?.join("size"))
    }

    /// Devices built on this very device (not on its partitions).
    pub(crate) fn holders(&self, number: DeviceNumber) -> Vec<String> {
        self.directory(number).map(|path| names_in(&path.join("holders"))).unwrap_or_default()
    }

    /// Devices this one is built on.
    pub(crate) fn members(&self, number: DeviceNumber) -> Vec<String> {
        self.directory(number).map(|path| names_in(&path.join("slaves"))).unwrap_or_default()
    }

    /// The directory whose `queue` and `device` describe the drive: for a partition its disk's.
    pub(crate) fn disk_directory(&self, number: DeviceNumber) -> Option<PathBuf> {
        let directory = self.directory(number)?;
        match directory.join("partition").exists() {
            true => directory.parent().map(Path::to_path_buf),
            false => Some(directory),
        }
    }
}

fn one() -> Option<String> {
    Some("1".to_owned())
}

//! A drive's volatile write cache, turned on or off for a while.

use super::record::{Change, Record};
use super::{Held, Way};
use crate::facts::{Tree, device_of_sysfs};
use crate::passthrough::line::Kernel;
use crate::system::{DeviceNumber, System};
use crate::tunable::Tunable;
use crate::write_cache::{Nvme, Scsi, file_of, meaning, word_for};
use drivelab_core::facts::{DeviceFacts, WriteCache};
use drivelab_core::plan::Switch;
use drivelab_core::queue::Trouble;
use rustix::fs::{FileType, fstat};
use std::os::fd::BorrowedFd;
use std::path::{Path, PathBuf};

/// Sets a cache and reads it back. `note` is told what it was before anything is changed; the
/// answer is that word, or `None` where nothing had to be changed.
fn change(
    cache: &mut dyn Tunable,
    is_nvme: bool,
    wanted: Switch,
    note: &mut dyn FnMut(&str) -> Result<(), Trouble>,
) -> Result<Option<String>, Trouble> {
    let before = cache.read()?;
    let goal = if wanted == Switch::On { WriteCache::On } else { WriteCache::Off };
    match meaning(&before, is_nvme) {
        Some(found) if found == goal => return Ok(None),
        Some(WriteCache::Absent) if goal == WriteCache::Off => return Ok(None),
        Some(WriteCache::Absent) => {
            return Err(Trouble::usage(
                "it has no volatile write cache that could be on; leave --write-cache on out",
            ));
        }
        Some(_) => {}
        None => {
            return Err(Trouble::failed(format!(
                "its write cache is `{before}`, which is not a known mode; leave --write-cache out"
            )));
        }
    }
    note(&before)?;
    let set = cache.write(word_for(&before, wanted, is_nvme)).and_then(|()| cache.read());
    match set {
        Ok(now) if meaning(&now, is_nvme) == Some(goal) => Ok(Some(before)),
        Ok(now) => Err(back(
            cache,
            &before,
            &format!(
                "it took the command to turn its write cache {} and still says `{now}`; leave \
             --write-cache out",
                wanted.word()
            ),
        )),
        Err(trouble) => Err(back(cache, &before, &trouble.text)),
    }
}

/// Why a change failed, with what became of the attempt to undo it.
fn back(cache: &mut dyn Tunable, before: &str, text: &str) -> Trouble {
    let is_back = cache.write(before).is_ok() && cache.read().is_ok_and(|now| now == before);
    let further = if is_back { "" } else { "; whether it is what it was is not known" };
    Trouble::failed(format!("{text}{further}"))
}

/// Turns the write cache of the drive behind `device` on or off, with a note in the directory
/// `records` beforehand. `None`: it was so already.
///
/// # Errors
/// The device is no whole drive, or one whose cache cannot be set, or it did not take it.
pub fn set(
    system: &System,
    records: &Path,
    device: BorrowedFd<'_>,
    wanted: Switch,
) -> Result<Option<Held>, Trouble> {
    let stat = fstat(device)
        .map_err(|error| Trouble::failed(format!("its setting is unknown: {error}")))?;
    let is_block = FileType::from_raw_mode(stat.st_mode) == FileType::BlockDevice;
    let number = DeviceNumber::from_raw(stat.st_rdev);
    let facts = device_of_sysfs(system, number).filter(|_| is_block);
    let facts = facts.ok_or_else(|| Trouble::usage("it is not a block device; name a drive"))?;
    let file = reach(system, number, &facts)?;
    let mut record = None;
    let mut note = |before: &str| {
        let change = Change::of(&facts, number, None, before);
        record = Some(Record::make(records, change).map_err(|error| {
            let path = records.display();
            Trouble::failed(format!("what it was cannot be noted in {path}: {error}"))
        })?);
        Ok(())
    };
    let mut kernel = Kernel::new(device);
    let changed = match &file {
        Some(file) => change(&mut Scsi(file.clone()), false, wanted, &mut note),
        None => change(&mut Nvme(&mut kernel), true, wanted, &mut note),
    };
    let named = |trouble: Trouble| Trouble {
        text: format!("the write cache of {} stays as it is: {}", facts.name, trouble.text),
        ..trouble
    };
    let Some(_) = changed.map_err(named)? else { return Ok(None) };
    let way = match file {
        Some(file) => Way::Scsi(file),
        None => {
            let device = device.try_clone_to_owned();
            Way::Nvme(device.map_err(|error| Trouble::failed(error.to_string()))?)
        }
    };
    Ok(record.map(|record| Held::new(way, record)))
}

/// The file to set it by; `None`: it is set by NVMe commands.
fn reach(
    system: &System,
    number: DeviceNumber,
    facts: &DeviceFacts,
) -> Result<Option<PathBuf>, Trouble> {
    let tree = Tree::new(system);
    let file = tree.disk_directory(number).and_then(|disk| file_of(&disk));
    match (facts.layer.as_str(), file) {
        ("disk", Some(file)) => Ok(Some(file)),
        ("disk", None) if facts.name.starts_with("nvme") => Ok(None),
        (layer, _) => Err(Trouble::usage(format!(
            "{} ({layer}) has no write cache that can be queried; name an NVMe, SATA or SAS drive \
             as a whole, or leave --write-cache out",
            facts.name
        ))),
    }
}

/// The way to the cache of a drive that a killed run left changed.
pub(crate) fn way_to(
    system: &System,
    number: DeviceNumber,
    facts: &DeviceFacts,
) -> Result<Way, String> {
    match reach(system, number, facts).map_err(|trouble| trouble.text)? {
        Some(file) => Ok(Way::Scsi(file)),
        None => {
            let device = system.open_node(&facts.name, number);
            Ok(Way::Nvme(device.map_err(|error| format!("{error}; run as root"))?))
        }
    }
}

#[cfg(test)]
mod tests;

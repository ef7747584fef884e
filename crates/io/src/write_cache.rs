//! A drive's volatile write cache: what the drive says of it, and turning it on or off for a while.
//!
//! NVMe drives are asked by commands (Identify Controller VWC, feature 06h of the base
//! specification); for SCSI and ATA drives the kernel asks and shows it as `cache_type` of
//! `scsi_disk` (its ABI document `sysfs-class-scsi_disk`), and what is written there it sends to
//! the drive. `queue/write_cache` is neither: it only decides whether the kernel sends flushes.
//!
//! A change is noted beforehand, see [`crate::settings`]. Like the purges, the NVMe commands were
//! never run on a drive by their author.

use crate::facts::{DeviceNumber, System, Tree, device_of_sysfs, names_in, open_readable};
use crate::purge::line::{AdminCommand, Kernel, Line};
use crate::purge::nvme::{Controller, QUICK_MS};
use crate::settings::record::{Change, Record};
use crate::settings::{Dial, Held, Way};
use drivelab_core::facts::{DeviceFacts, WriteCache};
use drivelab_core::plan::Switch;
use drivelab_core::queue::Trouble;
use rustix::fs::{FileType, fstat};
use std::io;
use std::os::fd::{BorrowedFd, OwnedFd};
use std::path::{Path, PathBuf};

const SET_FEATURES: u8 = 0x09;
const GET_FEATURES: u8 = 0x0a;
/// Feature identifier: volatile write cache; WCE is bit 0 of its value.
const VOLATILE_WRITE_CACHE: u32 = 0x06;
const STATUS_MASK: u16 = 0x7ff;

/// By the kernel's `cache_type`.
pub(crate) struct Scsi(pub(crate) PathBuf);

impl Dial for Scsi {
    fn read(&mut self) -> Result<String, Trouble> {
        crate::facts::read_text(&self.0).ok_or_else(|| {
            Trouble::failed(format!("its write cache cannot be read in {}", self.0.display()))
        })
    }

    fn write(&mut self, word: &str) -> Result<(), Trouble> {
        std::fs::write(&self.0, word).map_err(|error| {
            let advice = match error.kind() {
                io::ErrorKind::PermissionDenied => "run as root",
                _ => "this drive may not let it be changed; leave --write-cache out",
            };
            let path = self.0.display();
            Trouble::failed(format!("`{word}` cannot be written to {path} ({error}); {advice}"))
        })
    }
}

/// By commands.
pub(crate) struct Nvme<'a>(pub(crate) &'a mut dyn Line);

impl Nvme<'_> {
    fn feature(&mut self, name: &str, opcode: u8, dword_11: u32) -> Result<u32, Trouble> {
        let command = AdminCommand {
            opcode,
            namespace: 0,
            dword_10: VOLATILE_WRITE_CACHE,
            timeout_ms: QUICK_MS,
        };
        let answer = self.0.feature(command, dword_11).map_err(|error| {
            let reason = io::Error::from_raw_os_error(error.0);
            Trouble::failed(format!("the kernel did not send {name} 06h ({reason}); run as root"))
        })?;
        match answer {
            (0, value) => Ok(value),
            (status, _) => Err(Trouble::failed(format!(
                "{name} 06h ended with NVMe status {:03x}h: the drive does not take it; leave \
                 --write-cache out",
                status & STATUS_MASK
            ))),
        }
    }
}

impl Dial for Nvme<'_> {
    fn read(&mut self) -> Result<String, Trouble> {
        if !Controller::read(self.0)?.has_write_cache() {
            return Ok(WriteCache::Absent.word().into());
        }
        let is_on = self.feature("Get Features", GET_FEATURES, 0)? & 1 == 1;
        Ok(if is_on { WriteCache::On } else { WriteCache::Off }.word().into())
    }

    fn write(&mut self, word: &str) -> Result<(), Trouble> {
        let value = u32::from(word == WriteCache::On.word());
        self.feature("Set Features", SET_FEATURES, value).map(|_| ())
    }
}

/// What a word of either bus means; SCSI's `none` is a drive that caches nothing it writes.
fn meaning(word: &str, is_nvme: bool) -> Option<WriteCache> {
    match (word, is_nvme) {
        ("on", true) => Some(WriteCache::On),
        ("off", true) => Some(WriteCache::Off),
        ("none", true) => Some(WriteCache::Absent),
        ("write back" | "write back, no read (daft)", false) => Some(WriteCache::On),
        ("write through" | "none", false) => Some(WriteCache::Off),
        _ => None,
    }
}

/// The word to set, with what it says of reads left as it is.
fn word_for(now: &str, wanted: Switch, is_nvme: bool) -> &'static str {
    let caches_reads = !["none", "write back, no read (daft)"].contains(&now);
    match (is_nvme, wanted, caches_reads) {
        (true, wanted, _) => wanted.word(),
        (false, Switch::On, true) => "write back",
        (false, Switch::On, false) => "write back, no read (daft)",
        (false, Switch::Off, true) => "write through",
        (false, Switch::Off, false) => "none",
    }
}

/// The file in which the kernel shows the cache of a SCSI or ATA drive.
fn file_of(disk: &Path) -> Option<PathBuf> {
    let directory = disk.join("device/scsi_disk");
    let name = names_in(&directory).into_iter().next()?;
    Some(directory.join(name).join("cache_type"))
}

/// What the kernel knows from a SCSI or ATA drive; needs no privilege.
pub(crate) fn of_sysfs(disk: &Path) -> Option<WriteCache> {
    meaning(&Scsi(file_of(disk)?).read().ok()?, false)
}

/// What an NVMe drive says.
pub(crate) fn of_nvme(line: &mut dyn Line) -> Result<WriteCache, Trouble> {
    let word = Nvme(line).read()?;
    meaning(&word, true).ok_or_else(|| Trouble::failed("its write cache is not known"))
}

/// Sets a cache and reads it back. `note` is told what it was before anything is changed; the
/// answer is that word, or `None` where nothing had to be changed.
fn change(
    cache: &mut dyn Dial,
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
                "its write cache is `{before}`, which says nothing known; leave --write-cache out"
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
fn back(cache: &mut dyn Dial, before: &str, text: &str) -> Trouble {
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
        .map_err(|error| Trouble::failed(format!("what it is is unknown: {error}")))?;
    let is_block = FileType::from_raw_mode(stat.st_mode) == FileType::BlockDevice;
    let number = DeviceNumber::from_raw(stat.st_rdev);
    let facts = device_of_sysfs(system, number).filter(|_| is_block);
    let facts = facts.ok_or_else(|| Trouble::usage("it is no block device; name a drive"))?;
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
            "{} ({layer}) has no write cache that can be asked for; name an NVMe, SATA or SAS \
             drive as a whole, or leave --write-cache out",
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
            let device = node(system, facts, number);
            Ok(Way::Nvme(device.map_err(|error| format!("{error}; run as root"))?))
        }
    }
}

/// The node of a drive, opened for asking.
pub(crate) fn node(
    system: &System,
    facts: &DeviceFacts,
    number: DeviceNumber,
) -> io::Result<OwnedFd> {
    let descriptor = open_readable(&system.dev.join(facts.name.replace('!', "/")))?;
    match fstat(&descriptor) {
        Ok(stat) if DeviceNumber::from_raw(stat.st_rdev) == number => Ok(descriptor),
        _ => Err(io::Error::other("the node belongs to another device")),
    }
}

#[cfg(test)]
mod tests;

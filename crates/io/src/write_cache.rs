//! A drive's volatile write cache in the words of either bus: what the drive says, what sets it.
//!
//! NVMe drives are asked by commands (Identify Controller VWC, feature 06h of the base
//! specification); for SCSI and ATA drives the kernel asks and shows it as `cache_type` of
//! `scsi_disk` (its ABI document `sysfs-class-scsi_disk`), and what is written there it sends to
//! the drive. `queue/write_cache` is neither: it only decides whether the kernel sends flushes.
//!
//! A change is noted beforehand, see [`crate::settings::write_cache`]. The NVMe
//! commands are tried on an emulated drive (docs/HARDWARE.md).

use crate::passthrough::line::{AdminCommand, Line};
use crate::passthrough::nvme::{Controller, QUICK_MS};
use crate::system::{names_in, read_text};
use crate::tunable::Tunable;
use drivelab_core::facts::WriteCache;
use drivelab_core::plan::Switch;
use drivelab_core::queue::Trouble;
use std::io;
use std::path::{Path, PathBuf};

pub(crate) const SET_FEATURES: u8 = 0x09;
pub(crate) const GET_FEATURES: u8 = 0x0a;
/// Feature identifier: volatile write cache; WCE is bit 0 of its value.
const VOLATILE_WRITE_CACHE: u32 = 0x06;
const STATUS_MASK: u16 = 0x7ff;

/// By the kernel's `cache_type`.
pub(crate) struct Scsi(pub(crate) PathBuf);

impl Tunable for Scsi {
    fn read(&mut self) -> Result<String, Trouble> {
        read_text(&self.0).ok_or_else(|| {
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
        let answer = self.0.feature(command, dword_11, &mut []).map_err(|error| {
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

impl Tunable for Nvme<'_> {
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
pub(crate) fn meaning(word: &str, is_nvme: bool) -> Option<WriteCache> {
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
pub(crate) fn word_for(now: &str, wanted: Switch, is_nvme: bool) -> &'static str {
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
pub(crate) fn file_of(disk: &Path) -> Option<PathBuf> {
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

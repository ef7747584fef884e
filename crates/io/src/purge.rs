//! Commands that make a drive forget all it holds.
//!
//! Written after the specifications (NVM Express Base 2.0 and NVM Command Set 1.0, ATA Command
//! Set 4, SCSI / ATA Translation 4) and the kernel's headers. Every command's bytes and every
//! decision are tested against scripted drives, in unit tests and through the drivers of a kernel
//! (docs/HARDWARE.md), none of it on a real drive. So nothing here happens unless somebody asks
//! for it by name.
//!
//! One file each for the three commands (`format`, `sanitize`, `ata`).

mod ata;
mod format;
mod sanitize;
mod security;

use crate::facts::device_of_sysfs;
use crate::passthrough::effects::Effects;
use crate::passthrough::line::{Kernel, Line};
use crate::passthrough::not_sent;
use crate::passthrough::nvme::Controller;
use crate::system::{DeviceNumber, System};
use drivelab_core::facts::DeviceFacts;
use drivelab_core::plan::Purge;
use drivelab_core::queue::{Trouble, TroubleKind};
use rustix::fs::{FileType, fstat};
use std::os::fd::BorrowedFd;

pub use security::PASSWORD;

/// Refuses a command that is not on the drive's own list of those that it knows, where it has one,
/// although Identify Controller says that it knows it.
fn refuse_unlisted(
    line: &mut dyn Line,
    controller: &Controller,
    opcode: u8,
    name: &str,
) -> Result<(), Trouble> {
    match Effects::read(line, controller) {
        Some(list) if !list.has(opcode) => Err(Trouble::usage(format!(
            "the drive's own list of its commands (log 05h) does not have {name}"
        ))),
        _ => Ok(()),
    }
}

/// What else empties a drive.
const WAY_OUT: &str = "To empty it by discarding instead: --purge discard";

/// Sends the command to the drive behind `device` and waits for its end. What the page cache holds
/// of the device is written back before and dropped after.
///
/// # Errors
/// The device is not a whole drive, the drive does not know the command or is in no state for it
/// (nothing has changed then), or it failed; the text says which, and what to do next.
pub fn purge(device: BorrowedFd<'_>, purge: Purge) -> Result<(), Trouble> {
    purge_telling(device, purge, &mut |_| {})
}

/// As [`purge`], and tells how far it is and what the user must know meanwhile, a sentence each.
///
/// # Errors
/// As [`purge`].
pub fn purge_telling(
    device: BorrowedFd<'_>,
    purge: Purge,
    tell: &mut dyn FnMut(&str),
) -> Result<(), Trouble> {
    let name = whole_drive(device, purge)?;
    let done = purge_by(&mut Kernel::new(device), purge, tell);
    done.map_err(|Trouble { kind, text }| Trouble {
        kind,
        text: format!("{} of {name}: {text}", purge.word()),
    })
}

/// Whether the drive behind `device` knows the command and is in a state for it: asks, and changes
/// nothing.
///
/// # Errors
/// It does not, or cannot be asked; the text says why, and what to do instead.
pub fn is_possible(device: BorrowedFd<'_>, purge: Purge) -> Result<(), Trouble> {
    let name = whole_drive(device, purge)?;
    let line = &mut Kernel::new(device);
    let known = match purge {
        Purge::NvmeFormat => format::is_known(line),
        Purge::NvmeSanitize => sanitize::is_known(line),
        Purge::AtaSecureErase => ata::is_ready(line),
    };
    known.map_err(advised).map_err(|Trouble { kind, text }| Trouble {
        kind,
        text: format!("{} of {name}: {text}", purge.word()),
    })
}

fn purge_by(line: &mut dyn Line, purge: Purge, tell: &mut dyn FnMut(&str)) -> Result<(), Trouble> {
    // Pages that are still dirty would be written into the emptied drive.
    let done = drop_pages(line).and_then(|()| match purge {
        Purge::NvmeFormat => format::format(line),
        Purge::NvmeSanitize => sanitize::sanitize(line, tell),
        Purge::AtaSecureErase => ata::secure_erase(line, tell),
    });
    done.and_then(|()| drop_pages(line)).map_err(advised)
}

/// What the drive was not asked for, or cannot do, can be had by discarding.
fn advised(trouble: Trouble) -> Trouble {
    match trouble.kind {
        TroubleKind::Usage => Trouble { text: format!("{trouble}. {WAY_OUT}"), ..trouble },
        _ => trouble,
    }
}

fn drop_pages(line: &mut dyn Line) -> Result<(), Trouble> {
    line.drop_pages().map_err(|error| not_sent("dropping its cached pages (BLKFLSBUF)", error))
}

/// The name of the device, if its commands reach one whole drive and nothing else.
fn whole_drive(device: BorrowedFd<'_>, purge: Purge) -> Result<String, Trouble> {
    let word = purge.word();
    let stat = fstat(device)
        .map_err(|error| Trouble::failed(format!("the target of {word} is unknown: {error}")))?;
    if FileType::from_raw_mode(stat.st_mode) != FileType::BlockDevice {
        return Err(Trouble::usage(format!("{word} needs a drive, not a file; name a device")));
    }
    let number = DeviceNumber::from_raw(stat.st_rdev);
    let facts = device_of_sysfs(&System::live(), number).ok_or_else(|| {
        Trouble::usage(format!(
            "device {number} is not in sysfs, so whether it is a whole drive is unknown. \
             {WAY_OUT}"
        ))
    })?;
    reaches_one_drive(&facts, purge)?;
    Ok(facts.name)
}

/// Partitions and mapped devices hand commands down to whole drives, and those would be emptied
/// beyond what the guard has looked at. A loop device says itself that it knows no such command.
fn reaches_one_drive(facts: &DeviceFacts, purge: Purge) -> Result<(), Trouble> {
    let (name, word) = (&facts.name, purge.word());
    match facts.layer.as_str() {
        "disk" | "loop" => Ok(()),
        "partition" => Err(Trouble::usage(format!(
            "{name} is a partition, and {word} would empty the whole drive; name the drive. \
             {WAY_OUT}"
        ))),
        layer => Err(Trouble::usage(format!(
            "{name} is not a drive but a layer above others ({layer}), and {word} needs a drive; \
             name the drive. {WAY_OUT}"
        ))),
    }
}

/// `trouble`, with a further sentence; never less than a failure, because something was begun.
fn failed_after_begin(trouble: Trouble, further: &str) -> Trouble {
    let kind = match trouble.kind {
        TroubleKind::Stuck => TroubleKind::Stuck,
        TroubleKind::Failed | TroubleKind::Usage | TroubleKind::Elsewhere => TroubleKind::Failed,
        TroubleKind::Interrupted => TroubleKind::Interrupted,
        TroubleKind::Defect => TroubleKind::Defect,
    };
    Trouble { kind, text: format!("{}; {further}", trouble.text) }
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::passthrough::fake::Fake;
    use drivelab_core::op::Errno;
    use std::os::fd::AsFd;

    fn facts(layer: &str) -> DeviceFacts {
        DeviceFacts { name: "x1".into(), layer: layer.into(), ..DeviceFacts::default() }
    }

    #[test]
    fn only_a_whole_drive_is_purged() {
        for (purge, word) in Purge::ALL {
            assert!(reaches_one_drive(&facts("disk"), purge).is_ok());
            for layer in ["partition", "lvm", "crypt", "dm", "md", "bcache", "zram", "optical", ""]
            {
                let trouble = reaches_one_drive(&facts(layer), purge).unwrap_err();
                assert_eq!(trouble.kind, TroubleKind::Usage);
                assert!(trouble.text.contains(word) && trouble.text.contains(WAY_OUT));
                assert!(trouble.text.starts_with("x1 is "));
            }
        }
    }

    #[test]
    fn a_drive_that_cannot_is_told_once_what_else_empties_it() {
        for (purge, word) in Purge::ALL {
            let mut fake = Fake::nvme(1);
            fake.error = Some(Errno(libc::EINVAL));
            let trouble = purge_by(&mut fake, purge, &mut |_| {}).unwrap_err();
            assert_eq!(trouble.kind, TroubleKind::Usage, "{word}");
            assert!(trouble.text.ends_with(WAY_OUT), "{word}: {trouble}");
            assert_eq!(trouble.text.matches("discard").count(), 2, "{word}: {trouble}");
        }
    }

    #[test]
    fn a_file_is_no_drive() {
        let file = tempfile::tempfile().unwrap();
        for (purge, _) in Purge::ALL {
            let trouble = super::purge(file.as_fd(), purge).unwrap_err();
            assert_eq!(trouble.kind, TroubleKind::Usage);
            assert!(trouble.text.contains("not a file"), "{trouble}");
        }
    }

    #[test]
    fn pages_are_dropped_before_and_after_a_success() {
        let mut fake = Fake::nvme(1);
        purge_by(&mut fake, Purge::NvmeFormat, &mut |_| {}).unwrap();
        assert_eq!(fake.dropped_after, [0, 3]);
        let mut fake = Fake::nvme(1);
        fake.controller[256] = 0;
        purge_by(&mut fake, Purge::NvmeFormat, &mut |_| {}).unwrap_err();
        assert_eq!(fake.dropped_after, [0]);
    }
}

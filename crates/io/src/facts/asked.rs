//! What a drive answers when it is asked itself: its sleep, its write cache, its health. Only root
//! may ask.

use std::os::fd::AsFd;
use std::path::Path;

use drivelab_core::events::EventLog;
use drivelab_core::facts::{DeviceFacts, WearFacts};
use drivelab_core::queue::Trouble;

use super::{Tree, namespace};
use crate::health::{self, SelfTest, Speaks};
use crate::passthrough::line::Kernel;
use crate::passthrough::nvme::Controller;
use crate::system::{DeviceNumber, System, read_number, read_text};
use crate::write_cache;

/// What root would be told.
const AS_ROOT: &str = "run as root to see its warnings, life used, bytes written, hours, \
                       temperature and errors";

/// Whether becoming root would be no help.
pub(super) fn is_root() -> bool {
    rustix::process::geteuid().is_root()
}

/// Asks a whole disk.
pub(super) fn ask(
    system: &System,
    tree: &Tree,
    number: DeviceNumber,
    facts: &mut DeviceFacts,
    unknown: &mut Vec<String>,
) {
    let Some(disk) = tree.disk_directory(number).filter(|_| facts.layer == "disk") else { return };
    let is_nvme = facts.name.starts_with("nvme");
    let whom = match is_nvme {
        true => Ok(None),
        false => speaks(&disk, facts).map(Some),
    };
    let whom = match whom {
        Ok(whom) => whom,
        Err(reason) => return facts.wear_unknown = Some(reason.to_owned()),
    };
    let node = match system.open_node(&facts.name, number) {
        Ok(node) => node,
        Err(error) => {
            let (reason, wanting) = match is_root() {
                true => (error.to_string(), error.to_string()),
                false => ("run as root to ask it".to_owned(), AS_ROOT.to_owned()),
            };
            let what = if is_nvme { "write cache and wear" } else { "wear" };
            unknown
                .push(format!("What {} reports of its {what} is unknown: {reason}.", facts.name));
            facts.wear_unknown = Some(wanting);
            return;
        }
    };
    let mut line = Kernel::new(node.as_fd());
    let wear = match whom {
        None => {
            let controller = ask_nvme(&mut line, facts, unknown);
            health::of_nvme(&mut line, controller.as_ref())
        }
        Some(speaks) => health::of_scsi_layer(&mut line, speaks),
    };
    keep(wear, facts, unknown);
}

/// What an NVMe drive says of its sleep and its cache.
fn ask_nvme(
    line: &mut Kernel<'_>,
    facts: &mut DeviceFacts,
    unknown: &mut Vec<String>,
) -> Option<Controller> {
    let controller = Controller::read(line);
    match &controller {
        Ok(controller) => facts.sleeps_us = Some(controller.sleeps_us()),
        Err(trouble) => unknown.push(sentence(&facts.name, "sleep", &reason(trouble))),
    }
    if let Ok(controller) = &controller {
        let known = facts.nvme.get_or_insert_default();
        if let Err(trouble) = namespace::ask(line, controller, known) {
            unknown.push(sentence(&facts.name, "namespace", &reason(&trouble)));
        }
    }
    match write_cache::of_nvme(line) {
        Ok(cache) => facts.drive_write_cache = Some(cache),
        Err(trouble) => unknown.push(sentence(&facts.name, "write cache", &reason(&trouble))),
    }
    controller.ok()
}

/// Asks a drive again that told of its health before, as `known` has it; `None` where it does not
/// answer, or is another drive now.
pub(super) fn again(
    system: &System,
    tree: &Tree,
    number: DeviceNumber,
    known: &DeviceFacts,
) -> Option<WearFacts> {
    let before = known.wear.as_ref()?;
    let node = system.open_node(&known.name, number).ok()?;
    let mut line = Kernel::new(node.as_fd());
    let now = match known.name.starts_with("nvme") {
        true => health::again(&mut line, before),
        false => {
            let disk = tree.disk_directory(number)?;
            health::again_of_scsi_layer(&mut line, speaks(&disk, known).ok()?)
        }
    };
    now.ok().filter(|now| now.names == before.names)
}

/// What an NVMe drive that told of its health keeps of what happened to it; other drives and those
/// that do not answer keep nothing that could be read.
pub(super) fn events(
    system: &System,
    number: DeviceNumber,
    known: &DeviceFacts,
) -> Result<Option<EventLog>, String> {
    if !known.name.starts_with("nvme") || known.layer != "disk" || known.wear.is_none() {
        return Ok(None);
    }
    let node = system.open_node(&known.name, number).map_err(|error| error.to_string())?;
    health::events_of(&mut Kernel::new(node.as_fd())).map_err(|trouble| reason(&trouble))
}

/// Has a drive test itself.
pub(super) fn start_self_test(
    system: &System,
    tree: &Tree,
    number: DeviceNumber,
    known: &DeviceFacts,
    test: SelfTest,
) -> Result<(), Trouble> {
    let name = &known.name;
    let speaks = match (known.name.starts_with("nvme"), tree.disk_directory(number)) {
        (true, _) => None,
        (false, Some(disk)) => {
            Some(speaks(&disk, known).map_err(|reason| Trouble::usage(reason.to_owned()))?)
        }
        (false, None) => return Err(Trouble::failed(format!("{name} went away"))),
    };
    let node = system
        .open_node(name, number)
        .map_err(|error| Trouble::failed(format!("{name} cannot be opened: {error}")))?;
    health::start_self_test(&mut Kernel::new(node.as_fd()), speaks, test)
}

fn keep(wear: Result<WearFacts, Trouble>, facts: &mut DeviceFacts, unknown: &mut Vec<String>) {
    match wear {
        Ok(found) => facts.wear = Some(found),
        Err(trouble) => {
            let reason = reason(&trouble);
            unknown.push(sentence(&facts.name, "wear", &reason));
            facts.wear_unknown = Some(reason);
        }
    }
}

fn sentence(name: &str, what: &str, reason: &str) -> String {
    format!("What {name} reports of its {what} is unknown: {reason}.")
}

/// What follows the first semicolon is advice to those who wanted to purge it.
fn reason(trouble: &Trouble) -> String {
    trouble.text.split("; ").next().unwrap_or_default().to_owned()
}

/// How to speak with a disk that is no NVMe drive, or why there is no way.
fn speaks(disk: &Path, facts: &DeviceFacts) -> Result<Speaks, &'static str> {
    if !facts.name.starts_with("sd") {
        return Err("a drive on this bus has no log of its health that could be read");
    }
    let is_removable = read_number::<u8>(&disk.join("removable")) == Some(1);
    let vendor = read_text(&disk.join("device/vendor"));
    match (facts.transport.as_deref(), vendor.as_deref()) {
        // Sticks and card readers forget themselves over commands that they do not know; udev asks
        // what is not removable only, too.
        (Some("usb"), _) if is_removable => Err("it is a removable drive, which is not asked"),
        (Some("usb"), _) => Ok(Speaks::Bridge),
        (Some("sata"), _) | (_, Some("ATA")) => Ok(Speaks::Ata),
        _ => Ok(Speaks::Scsi),
    }
}

//! What a write cache was before drivelab changed it: one file a drive, locked while the run that
//! changed it lives.

use super::{node, reach, restore};
use crate::facts::{DeviceNumber, System, Tree, device_of_sysfs, names_in};
use drivelab_core::facts::DeviceFacts;
use rustix::fs::{FlockOperation, flock};
use serde::{Deserialize, Serialize};
use std::fs::File;
use std::io::{self, Read, Write};
use std::os::fd::{AsFd, OwnedFd};
use std::path::{Path, PathBuf};

/// Whose cache was changed, and what it was.
#[derive(Debug, Clone, PartialEq, Eq, Serialize, Deserialize)]
pub struct Change {
    /// Kernel name at that time.
    name: String,
    /// `major:minor` at that time.
    number: String,
    model: Option<String>,
    serial: Option<String>,
    bytes: Option<u64>,
    /// The word of its bus.
    pub before: String,
}

impl Change {
    pub fn of(facts: &DeviceFacts, number: DeviceNumber, before: &str) -> Self {
        Change {
            name: facts.name.clone(),
            number: number.to_string(),
            model: facts.model.clone(),
            serial: facts.serial.clone(),
            bytes: facts.bytes,
            before: before.into(),
        }
    }

    /// Whether `facts` are of the same drive: names may have been dealt anew since.
    fn is_of(&self, facts: &DeviceFacts) -> bool {
        let same = self.model == facts.model && self.serial == facts.serial;
        same && self.bytes == facts.bytes && (self.serial.is_some() || self.name == facts.name)
    }
}

/// The note of a change that is in force.
#[derive(Debug)]
pub struct Record {
    path: PathBuf,
    /// Holds the lock.
    file: File,
    /// What stands in it.
    pub change: Change,
}

impl Record {
    /// Notes a change; it is on stable storage when this returns. A note of the same drive that a
    /// killed run left stays: what the cache was before *that* is what it has to become again.
    pub fn make(directory: &Path, change: Change) -> io::Result<Record> {
        std::fs::create_dir_all(directory)?;
        let path = directory.join(format!("{}.json", change.name.replace('/', "!")));
        let (mut file, known) = open(&path, true)?;
        if let Some(known) = known.filter(|known| is_same(known, &change)) {
            return Ok(Record { path, file, change: known });
        }
        file.set_len(0)?;
        file.write_all(serde_json::to_string(&change)?.as_bytes())?;
        file.sync_all()?;
        File::open(directory)?.sync_all()?;
        Ok(Record { path, file, change })
    }

    /// The change is undone.
    pub fn remove(self) {
        // What cannot be removed is put back once more, which changes nothing.
        drop(std::fs::remove_file(&self.path));
        drop(self.file);
    }
}

fn is_same(known: &Change, change: &Change) -> bool {
    (&known.model, &known.serial, known.bytes) == (&change.model, &change.serial, change.bytes)
}

/// Opens and locks a note; an error if another run holds it.
fn open(path: &Path, create: bool) -> io::Result<(File, Option<Change>)> {
    let mut options = File::options();
    // Our own note, never a target.
    let mut file = options.read(true).append(true).create(create).open(path)?;
    flock(&file, FlockOperation::NonBlockingLockExclusive)
        .map_err(|_| io::Error::new(io::ErrorKind::WouldBlock, "another run holds it"))?;
    let mut text = String::new();
    file.read_to_string(&mut text)?;
    Ok((file, serde_json::from_str(&text).ok()))
}

/// Puts back what runs that were killed have left changed; one sentence for each.
pub fn leftovers(system: &System, directory: &Path) -> Vec<String> {
    let mut said = Vec::new();
    for name in names_in(directory) {
        let path = directory.join(name);
        match open(&path, false) {
            Ok((file, Some(change))) => said.push(undo(system, Record { path, file, change })),
            // Torn before anything was changed.
            Ok((_, None)) => drop(std::fs::remove_file(&path)),
            // A run that is still there.
            Err(_) => {}
        }
    }
    said
}

fn undo(system: &System, record: Record) -> String {
    let Change { name, before, .. } = record.change.clone();
    match try_to_undo(system, &record.change) {
        Ok(()) => {
            record.remove();
            format!("the write cache of {name} is `{before}` again, which a killed run had changed")
        }
        Err(reason) => format!(
            "the write cache of {name} was `{before}` before a run that was killed changed it, and \
             it cannot be put back: {reason}. Set it by hand and remove {}",
            record.path.display()
        ),
    }
}

fn try_to_undo(system: &System, change: &Change) -> Result<(), String> {
    let tree = Tree::new(system);
    let numbers = tree.disks().into_iter().filter_map(|name| tree.number_of(&name));
    let mut drives = numbers.filter_map(|number| Some((number, device_of_sysfs(system, number)?)));
    let (number, facts) =
        drives.find(|(_, facts)| change.is_of(facts)).ok_or("the drive is not here")?;
    let file = reach(system, number, &facts).map_err(|trouble| trouble.text)?;
    // The kernel's file needs no descriptor, and a captured tree has no nodes.
    let device: OwnedFd = match &file {
        Some(_) => File::open("/dev/null").map_err(|error| error.to_string())?.into(),
        None => node(system, &facts, number).map_err(|error| format!("{error}; run as root"))?,
    };
    restore(device.as_fd(), file, &change.before).map_err(|trouble| trouble.text)
}

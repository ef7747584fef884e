//! What a setting was before drivelab changed it: one file for each setting of a drive, locked
//! while the run that changed it lives.

use super::queue::Place;
use super::{Held, Way, write_cache};
use crate::facts::{Tree, device_of_sysfs};
use crate::system::{DeviceNumber, System, boot, machine, names_in};
use drivelab_core::facts::DeviceFacts;
use drivelab_core::plan::QueueSetting;
use rustix::fs::{FlockOperation, flock};
use serde::{Deserialize, Serialize};
use std::collections::BTreeMap;
use std::fs::File;
use std::io::{self, Read, Write};
use std::path::{Path, PathBuf};

/// Whose setting was changed, and what it was.
#[derive(Debug, Clone, PartialEq, Eq, Serialize, Deserialize)]
pub struct Change {
    /// Kernel name at that time.
    name: String,
    /// `major:minor` at that time.
    number: String,
    model: Option<String>,
    serial: Option<String>,
    /// Namespaces of one drive have its model and serial in common.
    #[serde(default)]
    world_wide_name: Option<String>,
    #[serde(default)]
    namespace: Option<u32>,
    bytes: Option<u64>,
    /// Which start of the machine it was: a queue is new after each.
    #[serde(default)]
    boot: Option<String>,
    /// Which machine it was: others may share this directory.
    #[serde(default)]
    machine: Option<String>,
    /// Name of a mapped device, level of an array.
    #[serde(default)]
    layer_name: Option<String>,
    /// Which setting of the kernel's queue; `None`: the drive's write cache.
    #[serde(default)]
    queue: Option<QueueSetting>,
    /// The word of who takes it.
    pub before: String,
    /// What has to be put back behind it: files of the same directory, and what they said.
    #[serde(default)]
    pub beside: BTreeMap<String, String>,
}

impl Change {
    pub fn of(
        facts: &DeviceFacts,
        number: DeviceNumber,
        queue: Option<QueueSetting>,
        before: &str,
    ) -> Self {
        Change {
            name: facts.name.clone(),
            number: number.to_string(),
            model: facts.model.clone(),
            serial: facts.serial.clone(),
            world_wide_name: facts.world_wide_name.clone(),
            namespace: facts.namespace,
            bytes: facts.bytes,
            boot: None,
            machine: machine(),
            layer_name: facts.layer_name.clone(),
            queue,
            before: before.into(),
            beside: BTreeMap::new(),
        }
    }

    /// The same, with what has to be put back behind it.
    pub fn with(self, beside: BTreeMap<String, String>) -> Self {
        Change { beside, ..self }
    }

    /// The same, noted in this start of the machine.
    pub fn in_boot_of(self, system: &System) -> Self {
        Change { boot: boot(system), ..self }
    }

    /// Whether the queue it speaks of is no more: what it is set to now is somebody else's.
    fn is_past(&self, system: &System) -> bool {
        let now = boot(system);
        self.queue.is_some() && self.boot.is_some() && now.is_some() && self.boot != now
    }

    /// Whether it is a setting of another machine.
    fn is_elsewhere(&self) -> bool {
        self.machine.is_some() && self.machine != machine()
    }

    /// What was changed.
    pub fn words(&self) -> String {
        let what = self.queue.map_or("the write cache", QueueSetting::word);
        format!("{what} of {}", self.name)
    }

    /// The name of its note.
    fn file_name(&self) -> String {
        let queue = self.queue.map_or(String::new(), |setting| format!(".{}", setting.word()));
        let letters =
            |id: &String| id.chars().filter(char::is_ascii_alphanumeric).take(8).collect();
        let of: String = self.machine.as_ref().map(letters).unwrap_or_default();
        let of = if of.is_empty() { of } else { format!(".{of}") };
        format!("{}{queue}{of}.json", self.name.replace('/', "!"))
    }

    /// Whether `facts` are of the same drive: names may have been dealt again since.
    fn is_of(&self, facts: &DeviceFacts) -> bool {
        // Notes of earlier versions have neither of these two.
        let named = |noted: &Option<String>, now: &Option<String>| noted.is_none() || noted == now;
        let same = self.model == facts.model
            && self.serial == facts.serial
            && (self.namespace.is_none() || self.namespace == facts.namespace)
            && named(&self.world_wide_name, &facts.world_wide_name)
            && self.layer_name == facts.layer_name;
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
    /// killed run left stays: what it was before *that* is what it has to become again.
    pub fn make(directory: &Path, change: Change) -> io::Result<Record> {
        std::fs::create_dir_all(directory)?;
        let path = directory.join(change.file_name());
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
    let names = |of: &Change| {
        (of.model.clone(), of.serial.clone(), of.world_wide_name.clone(), of.namespace, of.bytes)
    };
    names(known) == names(change)
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

/// What runs that were killed have left changed, and nothing has put back yet; one sentence for
/// each.
pub fn unrestored(system: &System, directory: &Path) -> Vec<String> {
    let left = names_in(directory).into_iter().filter_map(|name| {
        let (_, change) = open(&directory.join(name), false).ok()?;
        let change = change.filter(|change| !change.is_elsewhere() && !change.is_past(system))?;
        Some(format!("{} was `{}` before", change.words(), change.before))
    });
    left.collect()
}

/// What became of a setting that a killed run had left changed.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct Leftover {
    /// One sentence.
    pub text: String,
    /// Whether it is again what it was.
    pub is_restored: bool,
}

/// Puts back what runs that were killed have left changed.
pub fn leftovers(system: &System, directory: &Path) -> Vec<Leftover> {
    let mut said = Vec::new();
    for name in names_in(directory) {
        let path = directory.join(name);
        match open(&path, false) {
            // That one puts it back.
            Ok((_, Some(change))) if change.is_elsewhere() => {}
            Ok((_, Some(change))) if change.is_past(system) => drop(std::fs::remove_file(&path)),
            Ok((file, Some(change))) => said.push(undo(system, Record { path, file, change })),
            // Torn before anything was changed.
            Ok((_, None)) => drop(std::fs::remove_file(&path)),
            // A run that is still there.
            Err(_) => {}
        }
    }
    said
}

fn undo(system: &System, record: Record) -> Leftover {
    let (words, before) = (record.change.words(), record.change.before.clone());
    let path = record.path.clone();
    let restored = way_to(system, &record.change)
        .and_then(|way| Held::new(way, record).restore().map_err(|trouble| trouble.text));
    let text = match &restored {
        Ok(()) => format!("{words} is `{before}` again, which a killed run had changed"),
        Err(reason) => by_hand(&words, &before, reason, &path),
    };
    Leftover { text, is_restored: restored.is_ok() }
}

fn by_hand(words: &str, before: &str, reason: &str, path: &Path) -> String {
    format!(
        "{words} was `{before}` before a run that was killed changed it, and it cannot be put \
         back: {reason}. Set it by hand and remove {}",
        path.display()
    )
}

fn way_to(system: &System, change: &Change) -> Result<Way, String> {
    let tree = Tree::new(system);
    let numbers = tree.disks().into_iter().filter_map(|name| tree.number_of(&name));
    let drives = numbers.filter_map(|number| Some((number, device_of_sysfs(system, number)?)));
    let mut found: Vec<_> = drives.filter(|(_, facts)| change.is_of(facts)).collect();
    if found.len() > 1 {
        // Drives that nothing tells apart but what they are called now.
        found.retain(|(_, facts)| facts.name == change.name);
    }
    let (number, facts) = found.pop().ok_or("the drive is not here")?;
    match change.queue {
        Some(setting) => {
            let found = Place::of(system, number, setting);
            let (place, ..) = found.ok_or("it has no queue")?;
            Ok(Way::Queue(place))
        }
        None => write_cache::way_to(system, number, &facts),
    }
}

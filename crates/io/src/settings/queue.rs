//! Settings of the kernel's queue: files in `/sys/block/NAME/queue`, whose meaning is in the kernel
//! document `Documentation/ABI/stable/sysfs-block`.
//!
//! Another scheduler has settings of its own and deals the queue's slots again; those are noted and
//! put back with it.

use super::record::{Change, Record};
use super::{Held, Way};
use crate::facts::{Tree, active_of, device_of_sysfs};
use crate::system::{DeviceNumber, System, names_in, read_text};
use crate::tunable::Tunable;
use drivelab_core::facts::DeviceFacts;
use drivelab_core::plan::{QueueSetting, SettingChange};
use drivelab_core::queue::Trouble;
use std::collections::BTreeMap;
use std::io;
use std::path::{Path, PathBuf};

/// What the kernel sets again when the scheduler changes, besides the scheduler's own settings.
const BESIDE: [&str; 2] = ["nr_requests", "wbt_lat_usec"];
/// The settings of the scheduler that is in force.
const OF_SCHEDULER: &str = "iosched";

/// One setting of one queue.
#[derive(Debug, Clone)]
pub(crate) struct Place {
    queue: PathBuf,
    setting: QueueSetting,
}

impl Place {
    /// The queue of a device, of a partition that of its disk, with the facts of the device it
    /// belongs to.
    pub(crate) fn of(
        system: &System,
        number: DeviceNumber,
        setting: QueueSetting,
    ) -> Option<(Place, DeviceNumber, DeviceFacts)> {
        let tree = Tree::new(system);
        let disk = tree.disk_directory(number)?;
        let number = DeviceNumber::parse(&read_text(&disk.join("dev"))?)?;
        let facts = device_of_sysfs(system, number)?;
        Some((Place { queue: disk.join("queue"), setting }, number, facts))
    }

    fn file(&self) -> PathBuf {
        self.queue.join(self.setting.word())
    }

    /// What goes with the setting and is changed by changing it.
    fn beside(&self) -> BTreeMap<String, String> {
        if self.setting != QueueSetting::Scheduler {
            return BTreeMap::new();
        }
        let own = names_in(&self.queue.join(OF_SCHEDULER)).into_iter();
        let own = own.map(|name| format!("{OF_SCHEDULER}/{name}"));
        let all = BESIDE.into_iter().map(String::from).chain(own);
        all.filter_map(|name| Some((name.clone(), read_text(&self.queue.join(name))?))).collect()
    }

    /// Puts those back that are not what they were.
    pub(crate) fn put_beside(&self, beside: &BTreeMap<String, String>) -> Result<(), Trouble> {
        // Slots first: the scheduler reckons settings of its own from them.
        let (own, of_queue): (Vec<_>, Vec<_>) =
            beside.iter().partition(|(name, _)| name.starts_with(OF_SCHEDULER));
        let now = |name: &str| read_text(&self.queue.join(name));
        for (name, before) in of_queue.into_iter().chain(own) {
            if now(name).as_ref() != Some(before) {
                // Whether it was taken is seen below.
                drop(write(&self.queue.join(name), before));
            }
        }
        match beside.iter().find(|(name, before)| now(name).as_ref() != Some(*before)) {
            None => Ok(()),
            Some((name, before)) => Err(Trouble::failed(format!(
                "{} says `{}` where it said `{before}`",
                self.queue.join(name).display(),
                now(name).unwrap_or_else(|| "nothing".into())
            ))),
        }
    }
}

impl Tunable for Place {
    fn read(&mut self) -> Result<String, Trouble> {
        let file = self.file();
        read_text(&file).map(|text| active_of(&text)).ok_or_else(|| {
            Trouble::usage(format!(
                "this device has no {}: {} cannot be read; leave it out",
                self.setting.word(),
                file.display()
            ))
        })
    }

    fn write(&mut self, word: &str) -> Result<(), Trouble> {
        let file = self.file();
        write(&file, word).map_err(|error| {
            let advice = match error.kind() {
                io::ErrorKind::PermissionDenied => "run as root",
                io::ErrorKind::ReadOnlyFilesystem => "run where /sys is not read-only",
                _ => "the kernel does not accept it here; choose another value",
            };
            let path = file.display();
            Trouble::usage(format!("`{word}` cannot be written to {path} ({error}); {advice}"))
        })
    }
}

/// The only way into a file of the kernel here.
fn write(file: &Path, word: &str) -> io::Result<()> {
    std::fs::write(file, word)
}

/// Sets one setting of the queue in front of the device `number`, and reads it back. A note in the
/// directory `records` comes first; `held` keeps what has to be put back.
///
/// # Errors
/// There is no such setting, the kernel refuses, or it took the value and says another. What must
/// be put back stays in `held`.
pub fn set(
    system: &System,
    records: &Path,
    number: DeviceNumber,
    (setting, value): (QueueSetting, &str),
    held: &mut Option<Held>,
) -> Result<SettingChange, Trouble> {
    let found = Place::of(system, number, setting);
    let (mut place, number, facts) = found.ok_or_else(|| {
        let word = setting.word();
        Trouble::usage(format!("{word} is set on a block device, and {number} is none known here"))
    })?;
    let named = |trouble: Trouble| Trouble {
        text: format!("{} of {} stays as it is: {}", setting.word(), facts.name, trouble.text),
        ..trouble
    };
    let before = place.read().map_err(named)?;
    let change = |after: String| SettingChange {
        device: facts.name.clone(),
        setting,
        before: before.clone(),
        after,
    };
    if held.as_ref().is_some_and(|held| held.record.change.before == value) {
        let name = facts.name.clone();
        held.take().map_or(Ok(()), Held::restore).map_err(|trouble| Trouble {
            text: format!("{} of {name} could not be set back: {}", setting.word(), trouble.text),
            ..trouble
        })?;
        return place.read().map(change);
    }
    if before == value {
        return Ok(change(before.clone()));
    }
    let is_first = held.is_none();
    if is_first {
        let note = Change::of(&facts, number, Some(setting), &before)
            .with(place.beside())
            .in_boot_of(system);
        let record = Record::make(records, note).map_err(|error| {
            let path = records.display();
            named(Trouble::failed(format!(
                "what it was cannot be noted in {path}: {error}; wait for that run, or make this \
                 writable"
            )))
        })?;
        *held = Some(Held::new(Way::Queue(place.clone()), record));
    }
    if let Err(trouble) = place.write(value) {
        // Nothing to put back where nothing was taken.
        let is_as_before = is_first && place.read().is_ok_and(|now| now == before);
        if let Some(held) = held.take_if(|_| is_as_before) {
            held.record.remove();
        }
        return Err(named(trouble));
    }
    match place.read().map_err(named)? {
        after if after == value => Ok(change(after)),
        after => Err(Trouble::usage(format!(
            "{} of {} was set to `{value}`, and the kernel says `{after}`; choose another value",
            setting.word(),
            facts.name
        ))),
    }
}

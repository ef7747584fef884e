//! What happens to the target between steps.

mod mounted;

use crate::descriptors::Descriptors;
use crate::evidence::{Evidence, Sources};
use crate::tracer::Tracer;
use drivelab_core::anatomy::Piece;
use drivelab_core::facts::{DeviceFacts, TargetKind};
use drivelab_core::op::Errno;
use drivelab_core::plan::{FileSystem, Mount, Purge, QueueSetting, SettingChange, Step, Switch};
use drivelab_core::queue::Trouble;
use drivelab_io::facts::{DeviceNumber, System, is_there, name_of};
use drivelab_io::opening::{Mode, TargetFile};
use drivelab_io::settings::{self, Held};
use drivelab_io::zones;
use mounted::Files;
use std::collections::BTreeMap;
use std::fs::File;
use std::os::fd::{AsFd, BorrowedFd};
use std::os::unix::fs::MetadataExt;
use std::path::PathBuf;
use std::time::{Duration, Instant};

/// Where changed settings are noted, next to the list of scratch.
pub const SETTINGS: &str = "settings";

/// How long the kernel may take from the first refusal until a drive is no longer listed.
const TAKES_AWAY: Duration = Duration::from_secs(2);
const LOOK_EVERY: Duration = Duration::from_millis(10);

/// The target between steps. Without one (null engine, names only, virtual testbed) nothing
/// happens and nothing is counted.
pub struct TargetActions {
    system: System,
    sources: Sources,
    descriptors: Descriptors,
    /// The device nearest to the target, whose queue can be set.
    nearest: Option<DeviceNumber>,
    /// All devices below the target that were there at the beginning, with their names.
    watched: Vec<(DeviceNumber, String)>,
    /// Where settings are noted before they are changed.
    records: PathBuf,
    /// The write cache that is not what it was.
    cache: Option<Held>,
    /// The settings of the kernel's queue that are not what they were.
    queue: BTreeMap<QueueSetting, Option<Held>>,
    /// The file system on the device, where one is used.
    files: Files,
}

/// Whether something is gone now or will be in a moment.
pub fn is_taken_away(is_gone: impl Fn() -> bool) -> bool {
    let begin = Instant::now();
    while !is_gone() {
        if begin.elapsed() >= TAKES_AWAY {
            return false;
        }
        std::thread::sleep(LOOK_EVERY);
    }
    true
}

impl TargetActions {
    /// Acts on the target of `descriptors` and counts on the devices `watched`; notes next to the
    /// list of scratch, `scratch_list`, what must be put back.
    pub fn new(
        system: System,
        watched: Vec<DeviceNumber>,
        descriptors: Descriptors,
        scratch_list: PathBuf,
    ) -> Self {
        let nearest = watched.first().copied();
        let named =
            |number: &DeviceNumber| (*number, name_of(&system, *number).unwrap_or_default());
        let known =
            watched.iter().filter(|number| is_there(&system, **number)).map(named).collect();
        let sources = Sources::new(system.clone(), watched);
        let records = scratch_list.with_file_name(SETTINGS);
        let files = Files::new(system.clone(), scratch_list);
        let queue = BTreeMap::new();
        TargetActions {
            system,
            sources,
            descriptors,
            nearest,
            watched: known,
            records,
            cache: None,
            queue,
            files,
        }
    }

    /// Watches a device that was there when it was looked at, though it may have gone since.
    pub fn watch(&mut self, seen: &DeviceFacts) {
        let number =
            DeviceNumber::parse(&seen.number).filter(|_| seen.bytes.is_some_and(|it| it > 0));
        let Some(number) = number else { return };
        if self.watched.iter().all(|(watched, _)| *watched != number) {
            self.watched.push((number, seen.name.clone()));
        }
    }

    /// Makes a file system on the device.
    pub fn make_file_system(&mut self, kind: FileSystem) -> Result<(), Trouble> {
        self.files.make(&self.descriptors, kind)
    }

    /// Everything goes to files in a file system from here on.
    pub fn mount(&mut self, wanted: &Mount) -> Result<(), Trouble> {
        self.files.mount(&self.descriptors, wanted)
    }

    /// Everything goes to the device from here on; says where the files lie on it.
    pub fn unmount(&mut self) -> Result<Vec<Vec<Piece>>, Trouble> {
        self.files.unmount(&self.descriptors)
    }

    /// Looks around, just before `step` begins.
    pub fn look(&self, step: &Step, number: u32, seed: u64) -> Evidence {
        self.sources.begin(&self.descriptors, step, number, seed)
    }

    /// Has the kernel's tracer watch the target while `step` runs.
    pub fn trace(&self, step: &Step) -> Tracer {
        Tracer::begin(&self.system, &self.descriptors, step)
    }

    /// The flags in force on the files of a step, one entry a stream.
    pub fn opened(&self, step: &Step) -> Vec<String> {
        step.streams.iter().map(|stream| self.descriptors.flags_in_force(stream)).collect()
    }

    /// Waits, calling `tick` several times a second; ends early where that is asked.
    pub fn idle(&self, span: Duration, is_asked: impl Fn() -> bool, mut tick: impl FnMut()) {
        let begin = Instant::now();
        while begin.elapsed() < span && !is_asked() {
            let left = span.saturating_sub(begin.elapsed());
            std::thread::sleep(left.min(Duration::from_millis(250)));
            tick();
        }
    }

    /// Writes back and drops the page cache of the target's files.
    pub fn drop_caches(&self) -> Result<(), Trouble> {
        let Some(target) = self.descriptors.at() else { return Ok(()) };
        for (index, _) in target.open_files() {
            target
                .descriptor(index, Mode::default())
                .and_then(drivelab_io::cache::drop_cached)
                .map_err(|error| {
                    let path = target.path.display();
                    Trouble::failed(format!("the cache of {path} cannot be dropped: {error}"))
                })?;
        }
        Ok(())
    }

    /// Discards a range of every file that may be written.
    pub fn trim(&self, offset: u64, bytes: u64) -> Result<(), Trouble> {
        self.on_each_file("discarded", |file, is_device, _| {
            drivelab_io::trim::discard(file, is_device, offset, bytes)
        })
    }

    /// Has the file system set aside the blocks of every file that may be written. One that cannot
    /// do that leaves them to be found when they are written, as it would without being asked.
    pub fn allocate(&self) -> Result<(), Trouble> {
        self.on_each_file("set aside", |file, is_device, bytes| {
            if is_device { Ok(()) } else { drivelab_io::trim::allocate(file, bytes) }
        })
    }

    /// Finishes the zones that a step will write and that are partly written: a drive keeps only so
    /// many open, and these would count among them.
    pub fn settle_zones(&self, step: &Step) -> Result<(), Trouble> {
        let Some(target) = self.descriptors.at() else { return Ok(()) };
        for stream in step.streams.iter().filter(|stream| stream.writes_zones()) {
            let failed = |error: std::io::Error| {
                let path = target.path.display();
                Trouble::failed(format!("zones of {path} cannot be finished: {error}"))
            };
            let mode = Mode { write: true, ..Mode::default() };
            let device = target.descriptor(0, mode).map_err(failed)?;
            let to = stream.length.map_or(target.bytes, |it| stream.offset.0.saturating_add(it.0));
            zones::finish_partly_written(device, stream.offset.0, to)
                .map_err(|errno| failed(std::io::Error::from_raw_os_error(errno.0)))?;
        }
        Ok(())
    }

    fn on_each_file(
        &self,
        what: &str,
        act: impl Fn(BorrowedFd<'_>, bool, u64) -> Result<(), Errno>,
    ) -> Result<(), Trouble> {
        let Some(target) = self.descriptors.at() else { return Ok(()) };
        let is_device = target.kind == TargetKind::BlockDevice;
        let ours = |(_, file): &(usize, &TargetFile)| file.writable && !file.joined;
        for (index, file) in target.open_files().filter(ours) {
            let failed = |error: String| {
                let path = file.path.display();
                Trouble::failed(format!("blocks of {path} cannot be {what}: {error}"))
            };
            let descriptor = target
                .descriptor(index, Mode { write: true, ..Mode::default() })
                .map_err(|error| failed(error.to_string()))?;
            act(descriptor.as_fd(), is_device, file.bytes)
                .map_err(|e| failed(std::io::Error::from_raw_os_error(e.0).to_string()))?;
        }
        Ok(())
    }

    /// Has the drive forget everything.
    pub fn purge(&self, purge: Purge) -> Result<(), Trouble> {
        let Some(target) = &self.descriptors.target else { return Ok(()) };
        let mode = Mode { write: true, ..Mode::default() };
        let device = target.descriptor(0, mode).map_err(|error| {
            let path = target.path.display();
            Trouble::failed(format!("{path} cannot be opened for {}: {error}", purge.word()))
        })?;
        let mut tell = |sentence: &str| crate::print::error(&format!("drivelab: {sentence}"));
        drivelab_io::purge::purge_telling(device.as_fd(), purge, &mut tell)
    }

    /// Turns the drive's volatile write cache on or off until this is dropped.
    pub fn set_write_cache(&mut self, wanted: Switch) -> Result<(), Trouble> {
        let Some(target) = &self.descriptors.target else {
            return Err(Trouble::usage("there is no drive whose write cache could be set"));
        };
        let mode = Mode { write: true, ..Mode::default() };
        let device = target.descriptor(0, mode).map_err(|error| {
            let path = target.path.display();
            Trouble::failed(format!("{path} cannot be opened for its write cache: {error}"))
        })?;
        // One note a drive: what it was before all changes.
        self.cache.take().map_or(Ok(()), Held::restore)?;
        self.cache =
            settings::write_cache::set(&self.system, &self.records, device.as_fd(), wanted)?;
        Ok(())
    }

    /// Sets the kernel's queue in front of the target until this is dropped.
    pub fn set_queue(
        &mut self,
        setting: QueueSetting,
        value: &str,
    ) -> Result<SettingChange, Trouble> {
        let Some(nearest) = self.nearest else {
            return Err(Trouble::usage(format!(
                "there is no block device below the target whose {} could be set; name a file on \
                 a drive, or a block device",
                setting.word()
            )));
        };
        let held = self.queue.entry(setting).or_default();
        settings::queue::set(&self.system, &self.records, nearest, (setting, value), held)
    }

    /// The first of the devices below the target that is no longer there.
    pub fn gone(&self) -> Option<String> {
        self.watched.iter().find(|(number, _)| !is_there(&self.system, *number)).map(|(_, name)| {
            match name.is_empty() {
                true => "below the target".into(),
                false => name.clone(),
            }
        })
    }

    /// The same after something failed: the kernel refuses a drive before it takes it away.
    pub fn gone_since(&self) -> Option<String> {
        (!self.watched.is_empty() && is_taken_away(|| self.gone().is_some()))
            .then(|| self.gone())
            .flatten()
    }

    /// Whether the target's files still have a name; one that was removed meanwhile is measured to
    /// the end, but no one can look at it again.
    pub fn still_there(&self) -> Result<(), Trouble> {
        let Some(target) = self.descriptors.at() else { return Ok(()) };
        for (index, file) in target.open_files() {
            let pinned = target.pinned(index).and_then(|pinned| pinned.try_clone_to_owned().ok());
            let found = pinned.and_then(|pinned| File::from(pinned).metadata().ok());
            if target.kind == TargetKind::File && found.is_none_or(|found| found.nlink() == 0) {
                return Err(Trouble::failed(format!(
                    "{} was removed while it was measured; run again on a file that stays",
                    file.path.display()
                )));
            }
        }
        Ok(())
    }
}

impl Drop for TargetActions {
    /// However the run ends: done, stopped, failed, or in a panic.
    fn drop(&mut self) {
        self.files.end(&self.descriptors);
        let queue = std::mem::take(&mut self.queue).into_values().flatten();
        for held in queue.chain(self.cache.take()) {
            let name = held.name.clone();
            if let Err(trouble) = held.restore() {
                crate::print::error(&format!(
                    "drivelab: {name} could not be set back: {trouble}. The next run tries again"
                ));
            }
        }
    }
}

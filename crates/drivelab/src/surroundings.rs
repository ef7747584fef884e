//! What happens to the target between steps, and what the kernel counts meanwhile.

use crate::opener::Site;
use drivelab_core::content::UNIT_BYTES;
use drivelab_core::facts::TargetKind;
use drivelab_core::plan::{Engine, PatternName, Role, Step, Stream};
use drivelab_core::queue::Trouble;
use drivelab_core::record::{DeviceCounters, Warning};
use drivelab_io::counters::{self, Snapshot};
use drivelab_io::engine::Opened;
use drivelab_io::facts::{DeviceNumber, System};
use drivelab_io::target::{Mode, Target};
use drivelab_stats::{Random, derive};
use std::fs::File;
use std::os::unix::fs::{FileExt, MetadataExt};
use std::time::{Duration, Instant};

/// Blocks that are looked at before a read step.
const SAMPLES: u64 = 64;

/// Direct I/O wants memory that begins at a multiple of this.
const MEMORY_ALIGN: usize = 4096;

/// The target between steps. Without one (null engine, names only, virtual testbed) nothing
/// happens and nothing is counted.
pub struct Surroundings {
    system: System,
    watched: Vec<DeviceNumber>,
    site: Site,
}

impl Surroundings {
    /// Acts on the target of `site` and counts on the devices `watched`.
    pub fn new(system: System, watched: Vec<DeviceNumber>, site: Site) -> Self {
        Surroundings { system, watched, site }
    }

    /// What the kernel has counted up to now.
    pub fn count(&self) -> Snapshot {
        counters::snapshot(&self.system, &self.watched).unwrap_or_default()
    }

    /// What the kernel has counted since `earlier`.
    pub fn counted_since(&self, earlier: &Snapshot) -> Vec<DeviceCounters> {
        let difference = self.count().since(earlier);
        let record = |device: counters::DeviceCounters| DeviceCounters {
            name: device.name,
            reads: device.read_ops,
            read_bytes: device.read_bytes,
            writes: device.write_ops,
            written_bytes: device.write_bytes,
            discarded_bytes: device.discard_bytes,
            flushes: device.flush_ops,
            busy_ms: device.busy_time_ms,
        };
        difference.devices.into_iter().map(record).collect()
    }

    /// The flags in force on the files of a step, one entry a stream.
    pub fn opened(&self, step: &Step) -> Vec<String> {
        step.streams.iter().map(|stream| self.site.flags_in_force(stream)).collect()
    }

    /// Waits, calling `tick` several times a second; ends early on Ctrl-C.
    pub fn idle(&self, span: Duration, mut tick: impl FnMut()) {
        let begin = Instant::now();
        while begin.elapsed() < span && !drivelab_io::signal::interrupted() {
            let left = span.saturating_sub(begin.elapsed());
            std::thread::sleep(left.min(Duration::from_millis(250)));
            tick();
        }
    }

    /// Writes back and drops the page cache of the target's files.
    pub fn drop_caches(&self) -> Result<(), Trouble> {
        let Some(target) = &self.site.target else { return Ok(()) };
        for index in 0..target.files().len() {
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

    /// Discards a range of every file.
    pub fn trim(&self, offset: u64, bytes: u64) -> Result<(), Trouble> {
        let Some(target) = &self.site.target else { return Ok(()) };
        for index in 0..target.files().len() {
            let failed = |error: String| {
                let path = target.path.display();
                Trouble::failed(format!("{bytes} bytes of {path} cannot be discarded: {error}"))
            };
            let opened = Opened {
                descriptor: target
                    .descriptor(index, Mode { write: true, ..Mode::default() })
                    .map_err(|error| failed(error.to_string()))?,
                is_device: target.kind == TargetKind::BlockDevice,
                data_only: false,
                bytes: target.bytes,
            };
            drivelab_io::trim::discard(&opened, offset, bytes)
                .map_err(|e| failed(std::io::Error::from_raw_os_error(e.0).to_string()))?;
        }
        Ok(())
    }

    /// Whether the target's files still have a name; one that was removed meanwhile is measured to
    /// the end, but no one can look at it again.
    pub fn still_there(&self) -> Result<(), Trouble> {
        let Some(target) = &self.site.target else { return Ok(()) };
        for (index, file) in target.files().iter().enumerate() {
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

    /// Looks at a few blocks before a read step: what was never written, or was trimmed, can be
    /// answered without the drive. Past the page cache where possible, so that nothing is warmed.
    pub fn sample_stamps(&self, step: &Step, number: u32, seed: u64) -> Option<Warning> {
        let reads = |stream: &&Stream| {
            stream.mix.read > 0
                && stream.pattern != PatternName::Names
                && stream.engine != Engine::Null
        };
        let stream = step.streams.iter().find(reads).filter(|_| step.role == Role::Measure)?;
        let target = self.site.target.as_ref()?;
        let first = stream.offset.0;
        let length = stream.length.map_or(target.bytes.saturating_sub(first), |length| length.0);
        let seed = derive(seed, 0x73_616d_706c, u64::from(number));
        let found = sample(target, first, length, &mut Random::new(seed))?;
        (found.zeros > 0).then(|| Warning {
            code: "reads_of_unwritten_blocks".into(),
            text: format!(
                "{} of {} blocks sampled before `{}` hold only zeros: never written, trimmed, or \
                 a hole, which can be read without the drive.",
                found.zeros, found.seen, step.name
            ),
            advice: "Write the whole region first, then read it.".into(),
            step: Some(number),
        })
    }
}

/// What a few blocks of a target hold.
struct Sample {
    seen: u64,
    zeros: u64,
}

/// Reads random blocks past the page cache; `None` where that is not possible.
fn sample(target: &Target, first: u64, length: u64, random: &mut Random) -> Option<Sample> {
    let unit = UNIT_BYTES as u64;
    let mode = Mode { direct: true, ..Mode::default() };
    let file = File::from(target.descriptor(0, mode).ok()?);
    let mut memory = vec![0; UNIT_BYTES + MEMORY_ALIGN];
    let start = memory.as_ptr().align_offset(MEMORY_ALIGN).min(MEMORY_ALIGN);
    let block = &mut memory[start..start + UNIT_BYTES];
    let mut sample = Sample { seen: 0, zeros: 0 };
    for _ in 0..SAMPLES.min(length / unit) {
        let address = (first / unit + random.below(length / unit)) * unit;
        if file.read_exact_at(block, address).is_ok() {
            sample.seen += 1;
            sample.zeros += u64::from(block.iter().all(|byte| *byte == 0));
        }
    }
    (sample.seen > 0).then_some(sample)
}

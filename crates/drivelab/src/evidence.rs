//! What is seen around a step: looked at before it, sampled while it runs, counted after it.

use crate::descriptors::Descriptors;
use drivelab_core::content::is_stamped;
use drivelab_core::facts::TargetKind;
use drivelab_core::observed::{
    BlockSample, Counted, CpuThrottle, IoLimit, Observed, PressureSpan, ProcessBytes, Temperature,
};
use drivelab_core::op::Time;
use drivelab_core::plan::{Files, IoMode, Role, STAMP_UNIT_BYTES, Step, Stream, Zoned};
use drivelab_core::record::DeviceCounters;
use drivelab_io::counters::{self, Snapshot};
use drivelab_io::facts::{self, DeviceNumber, System};
use drivelab_io::opening::{Mode, Target};
use drivelab_io::{cache, extents, sensors, zones};
use drivelab_stats::{Domain, Random};
use std::fs::File;
use std::os::unix::fs::FileExt;
use std::time::{Duration, Instant};

/// Blocks that are looked at before a step that reads.
const SAMPLES: u64 = 64;
/// A slow drive is not looked at for longer than this.
const SAMPLING_MAX: Duration = Duration::from_millis(500);
/// Direct I/O wants memory that begins at a multiple of this.
const MEMORY_ALIGN: usize = 4096;
/// Sensors are read this often while a step runs: reading them can disturb a drive.
const SENSE_EVERY: Duration = Duration::from_secs(1);
/// More looks at the counters than this are put together in pairs, again and again: a run of a day
/// stays as small as one of an hour.
const LOOKS_MAX: usize = 2400;

/// Where evidence comes from.
#[derive(Debug, Clone)]
pub struct Sources {
    system: System,
    watched: Vec<DeviceNumber>,
}

/// Evidence of one step, still open.
pub struct Evidence {
    sources: Sources,
    is_looking: bool,
    counted: Snapshot,
    since: Instant,
    stolen: Option<(u64, u64)>,
    throttled: Option<CpuThrottle>,
    links: Vec<(String, String)>,
    sensed: Option<Instant>,
    looked: (Time, Vec<counters::DeviceCounters>),
    /// Seconds between looks at the counters.
    cadence: u32,
    observed: Observed,
}

impl Sources {
    /// Looks at `watched` devices of `system`.
    pub fn new(system: System, watched: Vec<DeviceNumber>) -> Self {
        Sources { system, watched }
    }

    /// Looks at everything once, just before `step` begins.
    pub fn begin(
        &self,
        descriptors: &Descriptors,
        step: &Step,
        number: u32,
        seed: u64,
    ) -> Evidence {
        let is_looking = descriptors.at().is_some() || !descriptors.directories.is_empty();
        let mut observed = Observed::default();
        if is_looking {
            let target = descriptors.at();
            if let Some((target, stream)) = target.as_deref().zip(moving_stream(step)) {
                observed.extents = mapped(target, stream);
                let is_one = step.streams.len() == 1 && !uses_several_files(stream);
                observed.region_bytes = is_one.then(|| region(target, stream).1);
                observed.cached_bytes = cached(target, stream);
            }
            // Last: it is read past the page cache, and what was there is counted before.
            if let Some((target, stream)) = target.as_deref().zip(reading_stream(step)) {
                let seed = Domain::Sample.seed(seed, u64::from(number));
                observed.blocks = sample(target, stream, &mut Random::new(seed));
            }
            observed.io_limits = self.io_limits();
        }
        Evidence {
            is_looking,
            counted: counters::snapshot(&self.system, &self.watched).unwrap_or_default(),
            since: Instant::now(),
            stolen: sensors::stolen_and_all(&self.system),
            throttled: facts::cpu_throttled(&self.system),
            links: sensors::links(&self.system, &self.watched),
            sensed: None,
            looked: (0, counters::devices(&self.system, &self.watched).unwrap_or_default()),
            cadence: 1,
            observed,
            sources: self.clone(),
        }
    }

    fn io_limits(&self) -> Vec<IoLimit> {
        let numbers: Vec<String> = self.watched.iter().map(ToString::to_string).collect();
        let limits = facts::io_limits(&self.system).into_iter();
        limits.filter(|limit| numbers.contains(&limit.device)).collect()
    }
}

impl Evidence {
    /// Called several times a second while the step runs; looks about once a second.
    pub fn sense(&mut self) {
        let is_due = self.sensed.is_none_or(|last| last.elapsed() >= SENSE_EVERY);
        if !self.is_looking || !is_due {
            return;
        }
        self.sensed = Some(Instant::now());
        let at = self.since.elapsed().as_nanos() as Time;
        let system = &self.sources.system;
        let readings = sensors::temperatures(system, &self.sources.watched);
        let readings = readings.into_iter().map(|reading| Temperature { at, ..reading });
        self.observed.temperatures.extend(readings);
        self.look(at);
        let system = &self.sources.system;
        let workers = sensors::io_workers(system);
        self.observed.io_workers = Some(self.observed.io_workers.unwrap_or(0).max(workers));
    }

    /// What was counted since the last look, where one is due.
    fn look(&mut self, at: Time) {
        let least = u64::from(self.cadence) * SENSE_EVERY.as_nanos() as Time * 3 / 4;
        if at < self.looked.0 + least {
            return;
        }
        let now = counters::devices(&self.sources.system, &self.sources.watched);
        let Ok(now) = now else { return };
        let (from, before) = std::mem::replace(&mut self.looked, (at, now));
        for device in &self.looked.1 {
            let Some(before) = before.iter().find(|it| it.number == device.number) else {
                continue;
            };
            let since = device.since(before);
            if !since.is_uncounted() {
                self.observed.counted.push(counted(&since, from, at));
            }
        }
        if self.observed.counted.len() > LOOKS_MAX {
            let all = std::mem::take(&mut self.observed.counted);
            self.observed.counted = Counted::in_pairs(all);
            self.cadence *= 2;
        }
    }

    /// Counts once more. `opened` is the beginning of the step on the clock of its stamps.
    pub fn end(
        mut self,
        opened: Time,
        strayed: Option<i64>,
    ) -> (Vec<DeviceCounters>, Option<Observed>) {
        if self.is_looking {
            self.look(self.since.elapsed().as_nanos() as Time);
        }
        let system = &self.sources.system;
        let now = counters::snapshot(system, &self.sources.watched).unwrap_or_default();
        let span_ns = self.since.elapsed().as_nanos() as u64;
        let counted = now.since(&self.counted);
        let devices = counted.devices.into_iter().map(device_record).collect();
        if !self.is_looking {
            return (devices, None);
        }
        let mut observed = std::mem::take(&mut self.observed);
        observed.span_ns = span_ns;
        observed.process = counted.process.map(|process| ProcessBytes {
            read_bytes: process.device_read_bytes,
            written_bytes: process.device_write_bytes,
        });
        let pressure = counted.pressure.into_iter();
        observed.pressure = pressure
            .map(|span| PressureSpan {
                resource: span.resource,
                some_us: span.some_us,
                full_us: span.full_us,
            })
            .collect();
        observed.cpu_throttled =
            facts::cpu_throttled(system).zip(self.throttled).map(|(now, before)| CpuThrottle {
                periods: now.periods.saturating_sub(before.periods),
                stopped_us: now.stopped_us.saturating_sub(before.stopped_us),
            });
        observed.steal_share =
            sensors::stolen_and_all(system).zip(self.stolen).map(|(now, before)| {
                let all = now.1.saturating_sub(before.1).max(1);
                now.0.saturating_sub(before.0) as f64 / all as f64
            });
        observed.link_changes =
            sensors::changed(&self.links, &sensors::links(system, &self.sources.watched));
        observed.clock_strayed_ns = strayed;
        for reading in &mut observed.temperatures {
            reading.at += opened;
        }
        for look in &mut observed.counted {
            (look.from, look.to) = (look.from + opened, look.to + opened);
        }
        (devices, Some(observed))
    }
}

fn counted(device: &counters::DeviceCounters, from: Time, to: Time) -> Counted {
    Counted {
        device: device.name.clone(),
        from,
        to,
        reads: device.read_ops,
        read_bytes: device.read_bytes,
        read_ms: device.read_time_ms,
        writes: device.write_ops,
        written_bytes: device.write_bytes,
        write_ms: device.write_time_ms,
        busy_ms: device.busy_time_ms,
    }
}

fn device_record(device: counters::DeviceCounters) -> DeviceCounters {
    DeviceCounters {
        reads: device.read_ops,
        read_bytes: device.read_bytes,
        writes: device.write_ops,
        written_bytes: device.write_bytes,
        discarded_bytes: device.discard_bytes,
        flushes: device.flush_ops,
        busy_ms: device.busy_time_ms,
        merges: device.read_merges + device.write_merges,
        queue_ms: device.read_time_ms + device.write_time_ms,
        write_merges: device.write_merges,
        write_ms: device.write_time_ms,
        uncounted: device.is_uncounted(),
        number: device.number,
        name: device.name,
    }
}

/// The first stream that moves data, of a step whose numbers count.
fn moving_stream(step: &Step) -> Option<&Stream> {
    let moves = |stream: &&Stream| stream.moves_data();
    step.streams.iter().find(moves).filter(|_| step.role == Role::Measure)
}

/// The first stream that reads data, of a step whose numbers count.
fn reading_stream(step: &Step) -> Option<&Stream> {
    let reads = |stream: &&Stream| stream.mix.read > 0 && stream.moves_data();
    step.streams.iter().find(reads).filter(|_| step.role == Role::Measure)
}

fn uses_several_files(stream: &Stream) -> bool {
    stream.files == Files::Each || stream.files_of_worker() > 1
}

/// What the page cache holds of the region before it is read through it.
fn cached(target: &Target, stream: &Stream) -> Option<u64> {
    let is_cached = stream.io == IoMode::Buffered || stream.engine.traits().is_mapping;
    if stream.mix.read == 0 || !is_cached || uses_several_files(stream) {
        return None;
    }
    let file = target.descriptor(first_file(stream), Mode::default()).ok()?;
    let (first, length) = region(target, stream);
    cache::cached_bytes(file, first, length)
}

/// The file of the stream's first worker.
fn first_file(stream: &Stream) -> usize {
    stream.first_file_of(0) as usize
}

fn region(target: &Target, stream: &Stream) -> (u64, u64) {
    let first = stream.offset.0;
    let bytes = target.file(first_file(stream)).map_or(target.bytes, |file| file.bytes);
    let rest = bytes.saturating_sub(first);
    (first, stream.length.map_or(rest, |length| length.0.min(rest)))
}

/// Reads random blocks past the page cache, so that nothing is warmed; `None` where that is not
/// possible.
fn sample(target: &Target, stream: &Stream, random: &mut Random) -> Option<BlockSample> {
    let unit = STAMP_UNIT_BYTES as u64;
    let (first, length) = region(target, stream);
    let mode = Mode { direct: true, ..Mode::default() };
    let file = File::from(target.descriptor(first_file(stream), mode).ok()?);
    let mut memory = vec![0; STAMP_UNIT_BYTES + MEMORY_ALIGN];
    let start = memory.as_ptr().align_offset(MEMORY_ALIGN).min(MEMORY_ALIGN);
    let block = &mut memory[start..start + STAMP_UNIT_BYTES];
    let mut sample = BlockSample::default();
    let begin = Instant::now();
    for _ in 0..SAMPLES.min(length / unit) {
        let address = match stream.zoned {
            Some(zoned) => address_in(zoned, first, length, unit, random),
            None => (first / unit + random.below(length / unit)) * unit,
        };
        if file.read_exact_at(block, address).is_ok() {
            let is_repeated = block.iter().all(|byte| *byte == block[0]);
            sample.seen += 1;
            sample.zeros += u64::from(is_repeated && block[0] == 0);
            sample.repeated += u64::from(is_repeated && block[0] != 0);
            sample.stamped += u64::from(is_stamped(block, address));
        }
        if begin.elapsed() > SAMPLING_MAX {
            break;
        }
    }
    (sample.seen > 0).then_some(sample)
}

/// A random block that a zone of the region holds.
fn address_in(zoned: Zoned, first: u64, length: u64, unit: u64, random: &mut Random) -> u64 {
    let zone = random.below((length / zoned.size.0.max(1)).max(1));
    first + zone * zoned.size.0 + random.below((zoned.holds() / unit).max(1)) * unit
}

/// How the file system maps the region, or what its zones hold, where that is told.
fn mapped(target: &Target, stream: &Stream) -> Option<drivelab_core::observed::Extents> {
    if uses_several_files(stream) {
        return None;
    }
    let file = target.descriptor(first_file(stream), Mode::default()).ok()?;
    let (first, length) = region(target, stream);
    match target.kind {
        TargetKind::File => extents::of(file, first, length),
        TargetKind::BlockDevice => zones::extents(file, first, length),
        _ => None,
    }
}

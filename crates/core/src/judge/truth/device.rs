//! Did the bytes reach the device, and were they ours alone?

use super::{BYTES_MIN, BYTES_TOLERANCE, Case, OTHERS_SHARE, compressible_percent};
use crate::op::Action;
use crate::plan::{Content, Data, Files, IoMode, Pattern, Stream, Sync};
use crate::quantity::{counted, percent, size};
use crate::record::DeviceCounters;
use crate::run::StepRun;
use crate::verified::Verified;

/// From this share of sampled blocks on, zeros are no chance.
const ZEROS_SHARE: f64 = 0.02;
/// Far more than a journal takes for an operation that is made durable, and for all others.
const JOURNAL_BYTES_EACH: u64 = 64 << 10;
const JOURNAL_BYTES: u64 = 16 << 20;
/// A device that moved more than this of what was asked for did not work for us alone.
const SHARED: f64 = 1.1;
/// Requests per operation outside of this were split or merged on the way.
const REQUESTS_PER_OPERATION: (f64, f64) = (0.9, 1.1);

impl Case<'_> {
    /// Everything about bytes.
    pub(super) fn device(&mut self) {
        self.never_written();
        self.compressible();
        if self.run.begin.machines().len() > 1 {
            return self.unchecked(
                "device_bytes",
                "whether the bytes reached a drive: several machines moved them, and only the \
                 first one's kernel counters were read",
            );
        }
        if self.passes_by_block_layer() {
            return self.past_block_layer();
        }
        let Some(device) = self.top_device().cloned() else {
            if self.data_streams().next().is_some() {
                self.unchecked(
                    "device_bytes",
                    "whether the bytes reached a drive: no block device is known below the target",
                );
            }
            return;
        };
        if device.uncounted {
            return self.uncounted(&device);
        }
        self.reads_reached(&device);
        self.writes_reached(&device);
        self.reached_the_disks(&device);
        self.others(&device);
        self.others_beside(&device);
        self.requests(&device);
        // What others moved explains these; that we caused them would be a guess.
        if self.judgement.reasons.iter().any(|reason| reason.code == "other_io") {
            let guesses = ["read_more", "wrote_more", "split", "merged"];
            self.judgement.notes.retain(|note| !guesses.contains(&note.code.as_str()));
        }
    }

    /// Counters that leave out what was handed to the drive itself say nothing of it.
    fn past_block_layer(&mut self) {
        self.unchecked(
            "device_bytes",
            "whether the bytes reached the drive, and whether others used it: the kernel's \
             counters leave out commands that io_uring_cmd hands to the drive itself",
        );
        self.note(
            "past_block_layer",
            "io_uring_cmd hands commands to the drive itself, and the kernel's counters leave \
             these out (unless queue/iostats_passthrough is 1, which newer kernels have): nothing \
             was checked against them",
        );
    }

    /// Zeros of a device that counts nothing say nothing; what lies below it may be counted.
    fn uncounted(&mut self, device: &DeviceCounters) {
        let name = &device.name;
        self.unchecked(
            "device_bytes",
            format!(
                "whether the bytes reached {name}, and whether others used it: the kernel keeps no \
                 I/O counters for it"
            ),
        );
        self.note(
            "uncounted",
            format!(
                "the kernel keeps no I/O counters for {name} (its queue/iostats is 0, or its \
                 driver does not count), so it is unknown where the bytes came from or went; if \
                 iostats is 0: echo 1 > /sys/class/block/{name}/queue/iostats"
            ),
        );
        self.reached_the_disks(device);
    }

    fn never_written(&mut self) {
        if self.bytes(Action::Read) == 0 || self.content() == Some(Content::Zero) {
            return;
        }
        // What the step before did not write is not read.
        let step = &self.step.plan;
        if self.data_streams().all(|stream| step.until_of(stream).issued_by.is_some()) {
            return;
        }
        if self.has_read_what_was_written() {
            return;
        }
        if let Some(extents) = self.observed.extents {
            let all = extents.unwritten_bytes + extents.hole_bytes + extents.written_bytes;
            // What was written into a file and is not on the drive yet is in the page cache.
            let cached = self.observed.cached_bytes.filter(|_| extents.zones == 0);
            let unwritten_bytes = extents.unwritten_bytes.saturating_sub(cached.unwrap_or(0));
            let untouched = unwritten_bytes + extents.hole_bytes;
            let share = untouched as f64 / all.max(1) as f64;
            if share > ZEROS_SHARE {
                let what = match extents.zones {
                    0 => format!(
                        "{} holes, {} allocated only",
                        size(extents.hole_bytes),
                        size(unwritten_bytes)
                    ),
                    zones => format!(
                        "{} behind the write pointers of {}",
                        size(untouched),
                        counted(zones, "zone")
                    ),
                };
                let text = format!(
                    "{} of the region was never written ({what}): such reads need no drive; write \
                     the whole region first",
                    percent(share)
                );
                return self.suspect("unwritten_extents", text);
            }
        }
        let Some(blocks) = self.observed.blocks else {
            return self.unchecked(
                "unwritten_blocks",
                "whether the region was written: its blocks could not be read past the cache",
            );
        };
        let is_many = |count: u64| count as f64 > ZEROS_SHARE * blocks.seen as f64;
        if is_many(blocks.zeros + blocks.repeated) {
            let what = if blocks.repeated > 0 { "one byte value throughout" } else { "only zeros" };
            let text = format!(
                "{} of {} blocks sampled before the step hold {what}: never written, trimmed, or a \
                 hole, which can be read without the drive; write the whole region first",
                blocks.zeros + blocks.repeated,
                blocks.seen
            );
            self.suspect("unwritten_blocks", text);
        } else if is_many(blocks.seen - blocks.stamped) && self.has_laid_stamps() {
            let text = format!(
                "{} of {} blocks sampled before the step no longer carry the stamp that this run \
                 wrote there: trimmed, or overwritten by somebody else",
                blocks.seen - blocks.stamped,
                blocks.seen
            );
            self.suspect("lost_stamps", text);
        }
    }

    /// Whether all that was read held what was once written there, and that is not zeros.
    fn has_read_what_was_written(&self) -> bool {
        let is_checked = |stream: &Stream| {
            let is_of_zeros = |data: &Data| data.hex.iter().all(|byte| *byte == 0);
            stream.verify && !stream.data.as_ref().is_some_and(is_of_zeros)
        };
        let mut reading = self.data_streams().filter(|stream| stream.mix.read > 0);
        let is_right = matches!(Verified::of(self.run, self.step), Verified::Right(_));
        is_right && reading.all(is_checked)
    }

    /// Whether earlier steps of this run stamped the whole region that is read, and none wrote
    /// anything else since. What was trimmed still counts: such a read is not of data.
    fn has_laid_stamps(&self) -> bool {
        let Some(read) = self.data_streams().find(|stream| stream.mix.read > 0) else {
            return false;
        };
        let mut laid = false;
        let before = |step: &&StepRun| step.begin.step < self.step.begin.step;
        for step in self.run.steps.iter().filter(before) {
            for (number, stream) in step.plan.streams.iter().enumerate() {
                if stream.mix.write > 0 && stream.engine.moves_data() {
                    laid = stream.stamp && fills(step, number as u32, stream, read);
                }
            }
        }
        laid
    }

    fn compressible(&mut self) {
        let Some(layer) = self.compressing_layer() else { return };
        let touches = self.bytes(Action::Read) + self.bytes(Action::Write) > 0;
        let share = self.content().map_or(0, compressible_percent);
        if touches && share > 0 {
            let text = format!(
                "{share} % of the content is compressible and {layer} compresses: fewer bytes are \
                 stored than are counted; use random content"
            );
            self.suspect("compressible", text);
        }
    }

    fn reads_reached(&mut self, device: &DeviceCounters) {
        let asked = self.bytes(Action::Read);
        if asked < BYTES_MIN {
            if asked > 0 {
                self.unchecked("device_reads", "where reads came from: less than 1 MiB was read");
            }
            return;
        }
        let share = device.read_bytes as f64 / asked as f64;
        if share < 1.0 - BYTES_TOLERANCE {
            let text = format!(
                "{} delivered {} of {} read ({}): memory, holes or blocks never written answered \
                 the rest",
                device.name,
                size(device.read_bytes),
                size(asked),
                percent(share)
            );
            return self.suspect("not_from_device", text);
        }
        if let Some((code, text)) = self.answered_by_memory(device) {
            return self.suspect(code, text);
        }
        if self.judgement.valid.is_none() {
            self.judgement.valid = Some(true);
        }
        let excess = device.read_bytes.saturating_sub(asked);
        if share > 1.0 + BYTES_TOLERANCE && excess > BYTES_MIN {
            let text = format!(
                "{} read {} for {} asked ({}): read-ahead, metadata or a layer above it",
                device.name,
                size(device.read_bytes),
                size(asked),
                percent(share)
            );
            self.note("read_more", text);
        }
    }

    fn writes_reached(&mut self, device: &DeviceCounters) {
        let asked = self.bytes(Action::Write);
        if asked < BYTES_MIN {
            if asked > 0 {
                self.unchecked("device_writes", "where writes went: less than 1 MiB was written");
            }
            return;
        }
        let share = device.written_bytes as f64 / asked as f64;
        if share < 1.0 - BYTES_TOLERANCE {
            let text = format!(
                "{} took {} of {} written ({}): the rest is still in memory, or needed no room; \
                 use direct I/O, or count an fsync at the end",
                device.name,
                size(device.written_bytes),
                size(asked),
                percent(share)
            );
            return self.suspect("not_on_device", text);
        }
        if self.judgement.valid.is_none() {
            self.judgement.valid = Some(true);
        }
        let excess = device.written_bytes.saturating_sub(asked);
        if share > 1.0 + BYTES_TOLERANCE && excess > BYTES_MIN && !self.is_exclusive() {
            let text = format!(
                "{} wrote {} for {} asked ({}): a journal, metadata, a layer above it, or other \
                 programs, whose writes cannot be told from these",
                device.name,
                size(device.written_bytes),
                size(asked),
                percent(share)
            );
            self.note("wrote_more", text);
        }
    }

    /// Below a layer (loop, LVM, RAID) memory can answer once more: the disks at the bottom count.
    fn reached_the_disks(&mut self, top: &DeviceCounters) {
        let devices = &self.facts.target.devices;
        let is_disk = |name: &str| devices.iter().any(|d| d.name == name && d.layer == "disk");
        let below = self.end.devices.iter().filter(|d| is_disk(&d.name) && d.name != top.name);
        let (mut names, mut read, mut written) = (Vec::new(), 0, 0);
        let mut uncounted = Vec::new();
        for disk in below {
            if disk.uncounted {
                uncounted.push(disk.name.clone());
            }
            names.push(disk.name.clone());
            read += disk.read_bytes;
            written += disk.written_bytes;
        }
        if !uncounted.is_empty() && top.uncounted {
            return;
        }
        if !uncounted.is_empty() {
            let text = format!(
                "whether the bytes reached {}: the kernel keeps no I/O counters for it",
                uncounted.join(", ")
            );
            return self.unchecked("disk_bytes", text);
        }
        if names.is_empty() || self.judgement.reasons.iter().any(|r| r.code.ends_with("_device")) {
            return;
        }
        let names = names.join(", ");
        for (word, asked, moved) in [
            ("read", self.bytes(Action::Read), read),
            ("written", self.bytes(Action::Write), written),
        ] {
            let share = moved as f64 / asked.max(1) as f64;
            if asked >= BYTES_MIN && share < 1.0 - BYTES_TOLERANCE {
                let text = format!(
                    "{} of {} {word} through {} reached {names} ({}): memory above the disk \
                     answered the rest",
                    size(moved),
                    size(asked),
                    top.name,
                    percent(share)
                );
                self.suspect("not_on_disk", text);
            } else if asked >= BYTES_MIN && self.judgement.valid.is_none() {
                self.judgement.valid = Some(true);
            }
        }
    }

    /// Nothing but our own operations writes on behalf of this step: no journal, no page cache.
    fn is_exclusive(&self) -> bool {
        let plain = self.data_streams().all(|stream| {
            stream.sync == Sync::None && stream.io == IoMode::Direct && stream.mix.trim == 0
        });
        let only_data = self.data_streams().count() == self.plan().streams.len();
        self.is_direct() && plain && only_data
    }

    /// Other I/O on the same device, told from our own by what the kernel booked on us.
    fn others(&mut self, device: &DeviceCounters) {
        if self.data_streams().next().is_none() {
            return self.unchecked(
                "other_io",
                "other I/O on the device: a file system writes metadata later, from its own \
                 threads, and does not attribute it",
            );
        }
        let (read, written) = (self.bytes(Action::Read), self.bytes(Action::Write));
        let booked = self.observed.process.unwrap_or_default();
        let strange_reads = device.read_bytes.saturating_sub(booked.read_bytes.max(read));
        let strange_writes = device.written_bytes.saturating_sub(booked.written_bytes.max(written));
        // A file system writes for itself next to our writes and changes; where we only read, it
        // does not.
        let changes = self.plan().streams.iter().any(|it| it.engine.traits().changes_files);
        let only_reads = written == 0 && self.is_direct() && !changes;
        let journal = match self.is_exclusive() || only_reads {
            true => 0,
            false => self.journal_bytes_max(),
        };
        if self.observed.process.is_none() && !self.is_direct() {
            return self.unchecked(
                "other_io",
                "other I/O on the device: the kernel does not report the I/O of this process",
            );
        }
        // No more of it than was written can be a journal's.
        self.judge_others(device, strange_reads + strange_writes, journal.min(strange_writes), "");
    }

    /// More than a file system writes for itself on our behalf: a journal takes some blocks for
    /// each operation that is made durable, and gathers those of all others.
    fn journal_bytes_max(&self) -> u64 {
        if !self.is_direct() || self.data_streams().count() < self.plan().streams.len() {
            return u64::MAX;
        }
        let writes = match self.data_streams().any(|stream| stream.sync != Sync::None) {
            true => self.operations(Action::Write),
            false => 0,
        };
        let durable = writes + self.operations(Action::Trim);
        (durable * JOURNAL_BYTES_EACH).saturating_add(JOURNAL_BYTES)
    }

    /// Other I/O on the rest of the disk that holds our partition.
    fn others_beside(&mut self, top: &DeviceCounters) {
        let devices = &self.facts.target.devices;
        let [first, second, ..] = devices.as_slice() else { return };
        if first.layer != "partition" || second.layer != "disk" {
            return;
        }
        let mut counted = self.end.devices.iter().filter(|device| !device.uncounted);
        let Some(disk) = counted.find(|device| device.name == second.name) else { return };
        let moved = |device: &DeviceCounters| device.read_bytes + device.written_bytes;
        let strange = moved(disk).saturating_sub(moved(top));
        let disk = disk.clone();
        self.judge_others(&disk, strange, 0, ", outside of the measured partition");
    }

    /// `strange` bytes are not this program's; so many of them may be a journal's on its behalf.
    fn judge_others(&mut self, device: &DeviceCounters, strange: u64, journal: u64, place: &str) {
        let own = self.bytes(Action::Read) + self.bytes(Action::Write);
        let others = strange - journal;
        if others > BYTES_MIN && others as f64 > OTHERS_SHARE * own as f64 {
            let moved = match journal {
                0 => size(others),
                _ => format!(
                    "at least {} (of {}, of which a journal explains at most {})",
                    size(others),
                    size(strange),
                    size(journal)
                ),
            };
            let text = format!(
                "others moved {moved} on {}{place} while this step moved {}: the drive was shared; \
                 measure when nothing else uses it",
                device.name,
                size(own)
            );
            self.suspect("other_io", text);
        }
    }

    /// Requests that the kernel cut or put together: the drive saw others than were asked for.
    fn requests(&mut self, device: &DeviceCounters) {
        let operations = self.operations(Action::Read) + self.operations(Action::Write);
        let is_cached = self.judgement.reasons.iter().any(|r| r.code.ends_with("_device"));
        // Where it moved more than was asked for, requests of others are among them.
        let own = self.bytes(Action::Read) + self.bytes(Action::Write);
        let is_shared = (device.read_bytes + device.written_bytes) as f64 > SHARED * own as f64;
        if operations < 1000 || !self.is_direct() || is_cached || is_shared {
            return;
        }
        let requests = 1.0 / self.operations_per_request(device);
        let words = format!("{requests:.2} requests for each operation");
        if requests > REQUESTS_PER_OPERATION.1 && self.is_exclusive() {
            self.note("split", format!("{} saw {words}: they were split", device.name));
        } else if requests < REQUESTS_PER_OPERATION.0 && device.merges > 0 {
            self.note("merged", format!("{} saw {words}: neighbours were merged", device.name));
        }
    }

    /// Operations that one request of the device carries on average.
    pub(super) fn operations_per_request(&self, device: &DeviceCounters) -> f64 {
        let operations = self.operations(Action::Read) + self.operations(Action::Write);
        operations as f64 / (device.reads + device.writes).max(1) as f64
    }
}

/// Whether `stream` wrote every block that `read` can reach.
fn fills(step: &StepRun, number: u32, stream: &Stream, read: &Stream) -> bool {
    let in_order = match &stream.pattern {
        Pattern::Sequential(sequence) => sequence.stride.is_none(),
        pattern => *pattern == Pattern::Permutation,
    };
    let end = |stream: &Stream| {
        stream.length.map_or(u64::MAX, |length| stream.offset.0.saturating_add(length.0))
    };
    let covers = stream.offset.0 <= read.offset.0
        && end(stream) >= end(read)
        && stream.window.is_none()
        && stream.files == Files::One
        && read.files == Files::One;
    let tallies = step.tallies.iter().filter(|tally| tally.stream == number);
    let kinds = tallies.flat_map(|tally| &tally.kinds);
    let wrote: u64 = kinds.filter(|kind| kind.kind == Action::Write).map(|kind| kind.bytes).sum();
    let is_whole = match stream.length {
        Some(length) => wrote >= length.0,
        None => {
            let ended = step.end.as_ref().is_some_and(|end| end.incomplete.is_none());
            ended && step.plan.until.passes.is_some_and(|passes| passes > 0)
        }
    };
    in_order && covers && is_whole
}

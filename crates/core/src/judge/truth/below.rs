//! Does what lies below the target answer as a drive would: blocks of its own, behind no memory?

use super::{BYTES_TOLERANCE, Case};
use crate::facts::Backing;
use crate::op::Action;
use crate::plan::{Files, IoMode, Stream};
use crate::quantity::{count, percent, size};
use crate::record::DeviceCounters;

/// Of a region, this much may be shared, lie on the same blocks, or be in memory beforehand.
const SHARE_MAX: f64 = 0.02;
/// Disks of 2005 had caches of this size, and no drive has less: what is asked for again and again
/// in a region this small needs no platter and no flash.
const SMALL_REGION: u64 = 8 << 20;
/// A region is asked for again and again from this many times on.
const TIMES: u64 = 2;

impl Case<'_> {
    /// What the file system and the layers below it make of the region.
    pub(super) fn below(&mut self) {
        self.shared_blocks();
        self.small_region();
        self.in_memory();
    }

    /// Blocks that the region has several times, or has together with other files.
    fn shared_blocks(&mut self) {
        let Some(extents) = self.observed.extents else { return };
        let share = |bytes: u64| bytes as f64 / extents.written_bytes.max(1) as f64;
        if self.bytes(Action::Read) > 0 && share(extents.repeated_bytes) > SHARE_MAX {
            let own = extents.written_bytes - extents.repeated_bytes;
            let text = format!(
                "{} of the region lie on {} of the drive: the file has the same blocks again and \
                 again (cloned ranges or deduplication), which a cache answers after the first \
                 time; write the whole region first",
                size(extents.written_bytes),
                size(own)
            );
            self.suspect("repeated_extents", text);
        }
        if self.bytes(Action::Write) > 0 && share(extents.shared_bytes) > SHARE_MAX {
            let text = format!(
                "{} of the region ({}) is shared with another file or a snapshot: the file system \
                 put what was written there elsewhere and changed its maps; measure a file that \
                 shares nothing",
                size(extents.shared_bytes),
                percent(share(extents.shared_bytes))
            );
            self.suspect("shared_extents", text);
        }
    }

    fn small_region(&mut self) {
        let Some(region) = self.observed.region_bytes.filter(|bytes| *bytes > 0) else { return };
        let moved = self.bytes(Action::Read) + self.bytes(Action::Write);
        if self.top_device().is_some() && region <= SMALL_REGION && moved > TIMES * region {
            let text = format!(
                "the region of {} was accessed {} times over: it fits the cache of any drive, \
                 which may have answered instead of the medium; use a larger region",
                size(region),
                count(moved / region)
            );
            self.note("small_region", text);
        }
    }

    /// A loop device whose file no drive holds, or none that can be seen.
    fn in_memory(&mut self) {
        let devices = &self.facts.target.devices;
        let of = |kind: Backing| devices.iter().find(|device| device.backing == Some(kind));
        if let Some(device) = of(Backing::Memory) {
            let text = format!(
                "{} is backed by a file in memory: the rate is that of memory and of the loop \
                 driver, not of a drive",
                device.name
            );
            self.note("in_memory", text);
            if !self.judgement.unchecked.iter().any(|one| one.code == "device_bytes") {
                let text = "whether the bytes reached a drive: there is none below the target";
                self.unchecked("device_bytes", text);
            }
            // What reached the loop device reached no drive: nothing speaks for the number.
            self.judgement.valid = None;
        } else if let Some(device) = of(Backing::Served).or_else(|| of(Backing::Unknown)) {
            let text = format!(
                "whether the bytes reached a drive: what holds the file below {} is a program, a \
                 server, or cannot be seen",
                device.name
            );
            self.unchecked("disk_bytes", text);
        }
    }

    /// Reads through the page cache that memory answered although the device moved as many bytes
    /// as were read: read-ahead brings more than is asked for. The code and the reason.
    pub(super) fn answered_by_memory(
        &self,
        device: &DeviceCounters,
    ) -> Option<(&'static str, String)> {
        let mut cached = self.data_streams().filter(|stream| stream.mix.read > 0);
        if cached.all(|stream| stream.io == IoMode::Direct && !super::is_mapped(stream)) {
            return None;
        }
        let region = self.observed.region_bytes.unwrap_or(0);
        let held = self.observed.cached_bytes.unwrap_or(0);
        if held as f64 > SHARE_MAX * region as f64 {
            let text = format!(
                "{} of the {} that were read from were in memory before the step, and excess \
                 read-ahead hides how much of them was used; drop the cache first, or use direct \
                 I/O",
                size(held),
                size(region)
            );
            return Some(("cached_before", text));
        }
        let asked = self.operations(Action::Read);
        let requests = device.reads + device.merges.saturating_sub(device.write_merges);
        let share = requests as f64 / asked.max(1) as f64;
        let is_random = self.data_streams().filter(|one| one.mix.read > 0).all(jumps);
        (is_random && share < 1.0 - BYTES_TOLERANCE).then(|| {
            let text = format!(
                "{} got {} requests for {} reads ({}): read-ahead or memory answered the rest, \
                 though enough bytes were moved; use direct I/O",
                device.name,
                count(requests),
                count(asked),
                percent(share)
            );
            ("not_from_device", text)
        })
    }
}

/// Hardly ever goes on where it was: a request serves one operation.
fn jumps(stream: &Stream) -> bool {
    use crate::plan::PatternName::{
        Bell, HotZones, Permutation, RandomMap, SelfSimilar, Uniform, Zipf,
    };
    let pattern = stream.pattern.name();
    stream.files == Files::One
        && [Uniform, Permutation, RandomMap, Zipf, SelfSimilar, Bell, HotZones].contains(&pattern)
}
